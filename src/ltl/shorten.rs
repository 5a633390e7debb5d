//! Shorter lassos: breadth-first search over prefixes, and over loops behind each of them.
//!
//! In: the product, its accepting components, a first lasso. Out: a lasso that is no longer. Without fairness the loop
//! behind an entry is a shortest one; with fairness each entry has the loop that meets its duties one after the other.
//! Prefix and loop together are then as short as any in the product, unless the search gives up: its work is bounded.
//! A control reads a state when it leaves it, so that a path of the product may go round once more than the path of the
//! graph has to: paths that are a little longer in the product are tried too, and compared without such rounds.
//! Never here: whether there is a lasso at all (`check`).

use super::bits::Bits;
use super::component::Components;
use super::fairness::Judge;
use super::lasso::{path_of, round_trip};
use super::path::{End, Path};
use super::product::{Product, Step};
use super::view::Graph;
use bombus_base::budget::{Budget, Stop};
use bombus_base::hash::{HashMap, HashSet};

/// So much longer than the best path of the graph may a path of the product be that is tried.
const ROUNDS: usize = 4;

/// Nodes that all searches together may look behind.
const WORK: usize = 1 << 20;

/// The accepting part of a product.
pub(super) struct Accepting<'a, G> {
    pub components: &'a Components,
    pub nodes: &'a Bits,
    pub judge: &'a Judge<'a, G>,
}

impl<G: Graph> Accepting<'_, G> {
    fn contains(&self, node: u32) -> bool {
        // Only nodes behind a cyclic control have a bit.
        (node as usize) < self.nodes.len() && self.nodes.contains(node as usize)
    }

    /// Whether untils are all that a loop has to meet.
    fn is_unfair(&self) -> bool {
        self.judge.assumption.constraints.is_empty() && !self.judge.every()
    }
}

/// A lasso, or a path that may stop, that is no longer than `first`.
pub(super) fn shorten<G: Graph>(
    product: &Product<'_, G>,
    accepting: &Accepting<'_, G>,
    first: Path,
    budget: &Budget,
) -> Result<Path, Stop> {
    let rounds = ROUNDS.min(product.automaton.controls as usize);
    let mut best = first.reduced();
    let mut work = 0;
    let waits = |from: u32, step: &Step| product.state(from) == product.state(step.node);
    let is_wait =
        |known: (usize, Option<(u32, Step)>)| known.1.is_some_and(|(from, step)| waits(from, &step));
    let mut before: Ways = HashMap::new();
    let mut layer: Vec<u32> = product.initial().collect();
    layer.sort_by_key(|n| product.rank(*n));
    layer.dedup();
    before.extend(layer.iter().map(|n| (*n, (0, None))));
    let mut depth = 0;
    // A loop takes one step at least.
    while depth < best.edges.len() + rounds && !layer.is_empty() && work < WORK {
        budget.check()?;
        let mut next = Vec::new();
        for &node in &layer {
            work += 1;
            let visit = product.visit(node);
            if let Some(end) = visit.stop {
                let (start, steps) = way(&before, node);
                let path = path_of(product, start, &steps, end);
                if path.edges.len() < best.edges.len() {
                    best = path;
                }
                continue;
            }
            // A shorter path may have been found in this very layer.
            let left = (best.edges.len() + rounds).saturating_sub(depth);
            if left > 0
                && accepting.contains(node)
                && let Some(round) = smallest_loop(product, accepting, node, left, &mut work)
            {
                let (start, mut steps) = way(&before, node);
                steps.extend(round);
                let mut path = path_of(product, start, &steps, End::Loop(depth));
                path.states.pop();
                let path = path.reduced();
                if path.edges.len() < best.edges.len() {
                    best = path;
                }
            }
            for step in product.successors(node) {
                let latest = (depth + 1, Some((node, step)));
                // A wait in the last state of a way may belong to the loop: of ways of one length it is taken, and of
                // waits the first, which a loop tries first too.
                match before.get(&step.node) {
                    None => {
                        next.push(step.node);
                        before.insert(step.node, latest);
                    }
                    Some(known) if known.0 == depth + 1 && waits(node, &step) && !is_wait(*known) => {
                        before.insert(step.node, latest);
                    }
                    Some(_) => {}
                }
            }
        }
        next.sort_by_key(|n| product.rank(*n));
        layer = next;
        depth += 1;
    }
    Ok(best)
}

/// For each node how many steps a search took there, and the last of them.
type Ways = HashMap<u32, (usize, Option<(u32, Step)>)>;

/// The steps that a search took to a node, and where it began.
fn way(before: &Ways, node: u32) -> (u32, Vec<Step>) {
    let mut steps = Vec::new();
    let mut here = node;
    while let Some((_, Some((earlier, step)))) = before.get(&here) {
        steps.push(*step);
        here = *earlier;
    }
    steps.reverse();
    (here, steps)
}

/// A loop of at most `most` steps from a node to itself that puts nothing off for ever.
fn smallest_loop<G: Graph>(
    product: &Product<'_, G>,
    accepting: &Accepting<'_, G>,
    start: u32,
    most: usize,
    work: &mut usize,
) -> Option<Vec<Step>> {
    if !accepting.is_unfair() {
        let round = round_trip(product, accepting.components, accepting.judge, start);
        *work += round.len();
        return (round.len() <= most).then_some(round);
    }
    // A node with the untils that every step so far put off.
    let mut seen: HashSet<(u32, u64)> = HashSet::new();
    let mut found: Vec<(u32, u64, usize, Option<Step>)> = vec![(start, !0, 0, None)];
    let mut at = 0;
    let mut end = 1;
    for _ in 0..most {
        while at < end {
            let (node, postponed, _, _) = found[at];
            *work += 1;
            if *work >= WORK {
                return None;
            }
            for step in product.successors(node).filter(|s| accepting.components.together(start, s.node)) {
                let left = postponed & step.postponed;
                if step.node == start && left == 0 {
                    let mut round = vec![step];
                    let mut back = at;
                    while let (_, _, earlier, Some(step)) = found[back] {
                        round.push(step);
                        back = earlier;
                    }
                    round.reverse();
                    return Some(round);
                }
                if seen.insert((step.node, left)) {
                    found.push((step.node, left, at, Some(step)));
                }
            }
            at += 1;
        }
        end = found.len();
    }
    None
}
