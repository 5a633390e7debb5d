//! The order of the variables: what is read together stands together.
//!
//! In: the fields, which of them each step reads, bits that vary in a sample of states. Out: all atoms from the top
//! down. Fields are ordered by the FORCE heuristic of Aloul, Markov and Sakallah: each field moves to the middle of
//! the steps that read it until the steps do not get narrower. High bits of numbers that never varied come first, where
//! they cost one node each. Never here: diagrams.

use super::encoding::{Atom, atoms_of};
use bombus_system::{BitField, Footprints};

/// How the bits of several fields are interleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// All bits of a field, then the next field.
    FieldByField,
    /// The first bit of all fields, then the second.
    BitByBit,
}

impl Arrangement {
    pub fn word(self) -> &'static str {
        match self {
            Arrangement::FieldByField => "field by field",
            Arrangement::BitByBit => "bit by bit",
        }
    }
}

/// Bits of a number of which the high ones may never vary.
const WIDE: u16 = 9;

/// Rounds of FORCE at most, and without gain.
const ROUNDS: usize = 300;
const IDLE: usize = 20;

/// The atoms from the top down. `varied` are the bits that differ between states of a sample.
pub fn order(
    footprints: &Footprints,
    one_hot: &[bool],
    varied: &[u64],
    arrangement: Arrangement,
) -> Vec<Atom> {
    let fields = &footprints.fields;
    let placed = force(fields.len(), &hyperedges(footprints));
    let is_varied = |bit: u32| varied[bit as usize / 64] >> (bit % 64) & 1 != 0;
    // Only of wide numbers: a bit of a set or of a code may vary later than any sample.
    let varies = |f: &BitField, index: u32| {
        f.codes.is_some() || f.width < WIDE || (index..u32::from(f.width)).any(|i| is_varied(f.offset + i))
    };
    let (mut still, mut moving) = (Vec::new(), Vec::new());
    for (place, field) in placed.iter().enumerate() {
        let f = &fields[*field];
        let n = atoms_of(f, one_hot[*field]);
        // High bits decide most, so they come first.
        for (rank, index) in (0..n).rev().enumerate() {
            let atom = Atom { field: *field as u32, index };
            let key = match arrangement {
                Arrangement::FieldByField => (place, rank),
                Arrangement::BitByBit => (n as usize - rank, place),
            };
            let list = if varies(f, index) { &mut moving } else { &mut still };
            list.push((key, atom));
        }
    }
    if arrangement == Arrangement::BitByBit {
        moving.sort_by_key(|(key, _)| (std::cmp::Reverse(key.0), key.1));
    }
    still.into_iter().chain(moving).map(|(_, atom)| atom).collect()
}

/// By step: the fields it reads.
fn hyperedges(footprints: &Footprints) -> Vec<Vec<usize>> {
    let in_mask = |f: &BitField, mask: &[u64]| {
        (f.offset..f.offset + u32::from(f.width)).any(|i| mask[i as usize / 64] >> (i % 64) & 1 != 0)
    };
    let common = &footprints.common;
    let of = |mask: &[u64]| -> Vec<usize> {
        let fields = footprints.fields.iter().enumerate();
        fields.filter(|(_, f)| in_mask(f, mask) && !in_mask(f, common)).map(|(i, _)| i).collect()
    };
    footprints.instances.iter().map(|i| of(&i.reads)).filter(|e| e.len() > 1).collect()
}

/// An order of `n` vertices in which the edges are narrow: the better one of two, from the order that is there and from
/// one by distance.
pub fn force(n: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let there = improved((0..n).collect(), edges);
    let by_distance = improved(by_distance(n, edges), edges);
    if span(edges, &places(&by_distance)) < span(edges, &places(&there)) { by_distance } else { there }
}

/// By vertex: its place in an order.
fn places(order: &[usize]) -> Vec<f64> {
    let mut place = vec![0.0; order.len()];
    order.iter().enumerate().for_each(|(at, v)| place[*v] = at as f64);
    place
}

/// The vertices by their distance from one at the rim, part by part.
fn by_distance(n: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (i, edge) in edges.iter().enumerate() {
        edge.iter().for_each(|v| of[*v].push(i));
    }
    let from = |start: usize| {
        let (mut met, mut used) = (vec![false; n], vec![false; edges.len()]);
        let mut order = vec![start];
        met[start] = true;
        let mut at = 0;
        while at < order.len() {
            for e in &of[order[at]] {
                if !std::mem::replace(&mut used[*e], true) {
                    let new = edges[*e].iter().copied().filter(|v| !std::mem::replace(&mut met[*v], true));
                    order.extend(new);
                }
            }
            at += 1;
        }
        order
    };
    let mut placed = vec![false; n];
    let mut order = Vec::with_capacity(n);
    for v in 0..n {
        if !placed[v] {
            let rim = from(v).last().copied().unwrap_or(v);
            let part = from(rim);
            part.iter().for_each(|v| placed[*v] = true);
            order.extend(part);
        }
    }
    order
}

/// FORCE from a given order.
fn improved(start: Vec<usize>, edges: &[Vec<usize>]) -> Vec<usize> {
    let n = start.len();
    let mut place = places(&start);
    let mut best = start;
    let mut least = span(edges, &place);
    let mut idle = 0;
    for _ in 0..ROUNDS {
        let (mut sum, mut count) = (vec![0.0; n], vec![0u32; n]);
        for edge in edges {
            let middle = edge.iter().map(|v| place[*v]).sum::<f64>() / edge.len() as f64;
            for v in edge {
                sum[*v] += middle;
                count[*v] += 1;
            }
        }
        let target = |v: usize| if count[v] == 0 { place[v] } else { sum[v] / f64::from(count[v]) };
        let mut order: Vec<(f64, usize)> = (0..n).map(|v| (target(v), v)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (at, (_, v)) in order.iter().enumerate() {
            place[*v] = at as f64;
        }
        let now = span(edges, &place);
        idle += 1;
        if now < least {
            (least, idle) = (now, 0);
            best = order.into_iter().map(|(_, v)| v).collect();
        }
        if idle >= IDLE {
            break;
        }
    }
    best
}

/// The sum of the widths of all edges.
fn span(edges: &[Vec<usize>], place: &[f64]) -> f64 {
    let width = |edge: &Vec<usize>| {
        let places = edge.iter().map(|v| place[*v]);
        places.clone().fold(f64::MIN, f64::max) - places.fold(f64::MAX, f64::min)
    };
    edges.iter().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn force_puts_a_ring_of_pairs_into_a_narrow_order() {
        // Vertex i and the vertices n + i and n + i + 1 belong together, all around. Laid flat, a ring of 2n vertices
        // has two arms, so that an edge spans at least two vertices and in a good order not many more than five.
        for n in [5, 12, 32, 100] {
            let edges: Vec<Vec<usize>> = (0..n).map(|i| vec![i, n + i, n + (i + 1) % n]).collect();
            let width = span(&edges, &places(&force(2 * n, &edges))) / n as f64;
            assert!(width < 5.5, "{n} pairs: an edge spans {width} vertices");
        }
    }

    #[test]
    fn an_order_by_distance_has_every_vertex_once() {
        let edges = vec![vec![0, 3], vec![3, 5], vec![1, 4]];
        let mut order = by_distance(7, &edges);
        order.sort_unstable();
        assert_eq!(order, (0..7).collect::<Vec<_>>());
    }
}
