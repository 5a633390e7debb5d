//! Places for the nodes of a graph: rows by distance from the roots, few crossings, no overlap.
//!
//! In: the number of nodes, edges, roots, the width of each node. Out: the middle of each node, and the size of all.
//! Never here: what the nodes mean, colours, text.

use std::collections::VecDeque;

/// Where the nodes stand.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub width: f64,
    pub height: f64,
}

/// From one row to the next.
const ROW: f64 = 84.0;
/// Between two nodes of a row.
const GAP: f64 = 24.0;
/// Rows are about this much wider than the whole is high.
const SHAPE: f64 = 1.6;
/// How often rows are ordered by the places of their neighbours.
const SWEEPS: usize = 8;

impl Layers {
    pub fn place(widths: &[f64], edges: &[(usize, usize)], roots: &[usize]) -> Layers {
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); widths.len()];
        for (a, b) in edges.iter().filter(|(a, b)| a != b) {
            near[*a].push(*b);
            near[*b].push(*a);
        }
        let depth = depths(widths.len(), edges, roots);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth.iter().max().map_or(0, |d| d + 1)];
        depth.iter().enumerate().for_each(|(n, d)| rows[*d].push(n));
        let mut rank = vec![0.0; widths.len()];
        settle_ranks(&rows, &mut rank);
        for sweep in 0..SWEEPS {
            order(&mut rows, &mut rank, &near, &depth, sweep % 2 == 0);
        }
        let rows = fold(rows, widths);
        spread(&rows, widths, &near)
    }
}

/// The distance of each node from the roots; what they do not reach begins a tree of its own.
fn depths(count: usize, edges: &[(usize, usize)], roots: &[usize]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    edges.iter().for_each(|(a, b)| next[*a].push(*b));
    let mut depth = vec![usize::MAX; count];
    let mut open: VecDeque<usize> = VecDeque::new();
    let others = 0..count;
    for root in roots.iter().copied().chain([usize::MAX]).chain(others) {
        if root == usize::MAX {
            // The roots go down together; each of the rest alone.
            walk(&next, &mut depth, &mut open);
        } else if depth[root] == usize::MAX {
            depth[root] = 0;
            open.push_back(root);
            if !roots.contains(&root) {
                walk(&next, &mut depth, &mut open);
            }
        }
    }
    depth
}

fn walk(next: &[Vec<usize>], depth: &mut [usize], open: &mut VecDeque<usize>) {
    while let Some(n) = open.pop_front() {
        for m in &next[n] {
            if depth[*m] == usize::MAX {
                depth[*m] = depth[n] + 1;
                open.push_back(*m);
            }
        }
    }
}

fn settle_ranks(rows: &[Vec<usize>], rank: &mut [f64]) {
    for row in rows {
        for (i, n) in row.iter().enumerate() {
            rank[*n] = (i as f64 + 0.5) / row.len() as f64;
        }
    }
}

/// Orders each row by the mean place of the neighbours in the rows before it, or after it.
fn order(rows: &mut [Vec<usize>], rank: &mut [f64], near: &[Vec<usize>], depth: &[usize], down: bool) {
    for i in 0..rows.len() {
        let at = if down { i } else { rows.len() - 1 - i };
        let wanted = |n: usize| {
            let side: Vec<f64> = near[n]
                .iter()
                .filter(|m| if down { depth[**m] < at } else { depth[**m] > at })
                .map(|m| rank[*m])
                .collect();
            if side.is_empty() { rank[n] } else { side.iter().sum::<f64>() / side.len() as f64 }
        };
        let mut keyed: Vec<(f64, usize)> = rows[at].iter().map(|n| (wanted(*n), *n)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        rows[at] = keyed.into_iter().map(|(_, n)| n).collect();
        for (i, n) in rows[at].iter().enumerate() {
            rank[*n] = (i as f64 + 0.5) / rows[at].len() as f64;
        }
    }
}

/// Rows that would make the picture much wider than high are folded into several.
fn fold(rows: Vec<Vec<usize>>, widths: &[f64]) -> Vec<Vec<usize>> {
    let area: f64 = widths.iter().map(|w| (w + GAP) * ROW).sum();
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let limit = (area * SHAPE).sqrt().max(900.0).max(widest + GAP);
    let mut folded = Vec::new();
    for row in rows {
        let length: f64 = row.iter().map(|n| widths[*n] + GAP).sum();
        let parts = (length / limit).ceil().max(1.0);
        let share = length / parts + widest + GAP;
        let (mut part, mut used) = (Vec::new(), 0.0);
        for n in row {
            if used + widths[n] + GAP > share && !part.is_empty() {
                folded.push(std::mem::take(&mut part));
                used = 0.0;
            }
            used += widths[n] + GAP;
            part.push(n);
        }
        folded.push(part);
    }
    folded
}

/// Puts each row as near to its neighbours as its order and the widths allow.
fn spread(rows: &[Vec<usize>], widths: &[f64], near: &[Vec<usize>]) -> Layers {
    let mut x = vec![0.0; widths.len()];
    let mut y = vec![0.0; widths.len()];
    for (i, row) in rows.iter().enumerate() {
        let length: f64 = row.iter().map(|n| widths[*n] + GAP).sum();
        let mut at = -length / 2.0;
        for n in row {
            x[*n] = at + (widths[*n] + GAP) / 2.0;
            at += widths[*n] + GAP;
            y[*n] = ROW * (i as f64 + 0.5);
        }
    }
    for _ in 0..4 {
        for row in rows {
            let wanted: Vec<f64> = row.iter().map(|n| mean_of(&near[*n], &x).unwrap_or(x[*n])).collect();
            keep_apart(row, &wanted, widths, &mut x);
        }
    }
    let left = (0..x.len()).map(|n| x[n] - widths[n] / 2.0).fold(f64::INFINITY, f64::min);
    let right = (0..x.len()).map(|n| x[n] + widths[n] / 2.0).fold(f64::NEG_INFINITY, f64::max);
    if x.is_empty() {
        return Layers::default();
    }
    x.iter_mut().for_each(|x| *x += GAP - left);
    Layers { x, y, width: right - left + 2.0 * GAP, height: ROW * rows.len() as f64 }
}

fn mean_of(nodes: &[usize], x: &[f64]) -> Option<f64> {
    (!nodes.is_empty()).then(|| nodes.iter().map(|n| x[*n]).sum::<f64>() / nodes.len() as f64)
}

/// Places a row in its order, each node as near to where it is wanted as its left neighbour allows; then the whole
/// row is moved so that it is wanted no more to the left than to the right.
fn keep_apart(row: &[usize], wanted: &[f64], widths: &[f64], x: &mut [f64]) {
    let mut free = f64::NEG_INFINITY;
    for (n, want) in row.iter().zip(wanted) {
        let half = (widths[*n] + GAP) / 2.0;
        x[*n] = want.max(free + half);
        free = x[*n] + half;
    }
    let drift: f64 = row.iter().zip(wanted).map(|(n, want)| x[*n] - want).sum();
    let drift = drift / row.len().max(1) as f64;
    row.iter().for_each(|n| x[*n] -= drift);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_row_do_not_overlap_and_rows_follow_the_distance_from_the_root() {
        // A binary tree of 63 nodes with some edges back.
        let mut edges: Vec<(usize, usize)> = (1..63).map(|n| ((n - 1) / 2, n)).collect();
        edges.extend([(40, 0), (62, 3), (7, 7)]);
        let widths: Vec<f64> = (0..63).map(|n| 40.0 + f64::from(n % 5) * 10.0).collect();
        let layers = Layers::place(&widths, &edges, &[0]);
        for a in 0..63 {
            assert!(layers.x[a] - widths[a] / 2.0 >= 0.0 && layers.x[a] + widths[a] / 2.0 <= layers.width);
            for b in 0..a {
                let apart = (layers.x[a] - layers.x[b]).abs() >= (widths[a] + widths[b]) / 2.0;
                assert!(layers.y[a] != layers.y[b] || apart, "{a} and {b} overlap");
            }
            assert!(a == 0 || layers.y[a] > layers.y[(a - 1) / 2]);
        }
    }

    #[test]
    fn nodes_that_no_root_reaches_have_a_place_too() {
        let layers = Layers::place(&[10.0; 4], &[(2, 3)], &[0]);
        assert_eq!(layers.y[1], layers.y[0]);
        assert!(layers.y[3] > layers.y[2]);
        assert!(Layers::place(&[], &[], &[]).x.is_empty());
    }
}
