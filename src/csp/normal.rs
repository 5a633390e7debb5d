//! The normal form of a specification: a deterministic graph of sets of states.
//!
//! In: a table. Out: nodes with the events after which they are left, the least sets of events that must be
//! accepted, and whether they diverge. Never here: the implementation that is compared with them.

use super::component::Table;
use super::explicit::divergent;
use super::term::{ENDED, TAU, TICK};
use bombus_base::budget::Budget;
use bombus_base::hash::HashMap;

/// One node: what is known after some trace.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Events with the nodes they lead to, sorted.
    pub next: Vec<(u32, u32)>,
    /// Least acceptances: each is a sorted set of events, none contains another.
    pub acceptances: Vec<Vec<u32>>,
    pub divergent: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Normal {
    pub nodes: Vec<Node>,
}

impl Normal {
    /// The normal form, or `None` if a limit was reached.
    pub fn new(table: &Table, budget: &Budget) -> Option<Normal> {
        let diverges = divergent(table);
        let mut numbers: HashMap<Box<[u32]>, u32> = HashMap::default();
        let start = closure(table, &[0]);
        let mut sets: Vec<Box<[u32]>> = vec![start.clone()];
        numbers.insert(start, 0);
        let mut nodes = Vec::new();
        let mut at = 0;
        while at < sets.len() {
            if at % 64 == 0 && budget.check().is_err() {
                return None;
            }
            if budget.max_states.is_some_and(|most| sets.len() as u64 > most) {
                return None;
            }
            let set = sets[at].clone();
            let mut node = Node {
                divergent: set.iter().any(|s| diverges[*s as usize]),
                acceptances: least(set.iter().filter_map(|s| acceptance(table, *s)).collect()),
                next: Vec::new(),
            };
            let mut moves: Vec<(u32, u32)> =
                set.iter().flat_map(|s| table.edges(*s)).filter(|(e, _)| visible(*e)).copied().collect();
            moves.sort_unstable();
            moves.dedup();
            for same in moves.chunk_by(|a, b| a.0 == b.0) {
                let targets: Vec<u32> = same.iter().map(|(_, to)| *to).collect();
                let target = closure(table, &targets);
                let next = sets.len() as u32;
                let number = *numbers.entry(target.clone()).or_insert(next);
                if number == next {
                    sets.push(target);
                }
                node.next.push((same[0].0, number));
            }
            nodes.push(node);
            at += 1;
        }
        Some(Normal { nodes })
    }

    pub fn after(&self, node: u32, event: u32) -> Option<u32> {
        let next = &self.nodes[node as usize].next;
        next.binary_search_by_key(&event, |(e, _)| *e).ok().map(|i| next[i].1)
    }

    /// A shortest trace to a node for which a condition holds, with the node.
    pub fn shortest(
        &self,
        wanted: impl Fn(&Node) -> bool,
        beyond: impl Fn(&Node) -> bool,
    ) -> Option<(Vec<u32>, u32)> {
        let mut from: Vec<Option<(u32, u32)>> = vec![None; self.nodes.len()];
        let mut seen = vec![false; self.nodes.len()];
        let mut queue = std::collections::VecDeque::from([0u32]);
        seen[0] = true;
        while let Some(node) = queue.pop_front() {
            let here = &self.nodes[node as usize];
            if wanted(here) {
                let mut trace = Vec::new();
                let mut at = node;
                while let Some((before, event)) = from[at as usize] {
                    trace.push(event);
                    at = before;
                }
                trace.reverse();
                return Some((trace, node));
            }
            if !beyond(here) {
                continue;
            }
            for (event, to) in &here.next {
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    from[*to as usize] = Some((node, *event));
                    queue.push_back(*to);
                }
            }
        }
        None
    }
}

fn visible(event: u32) -> bool {
    event != TAU && event != ENDED
}

/// The states that can be reached by τ, sorted.
fn closure(table: &Table, from: &[u32]) -> Box<[u32]> {
    let mut seen: bombus_base::hash::HashSet<u32> = from.iter().copied().collect();
    let mut open: Vec<u32> = seen.iter().copied().collect();
    while let Some(state) = open.pop() {
        for (_, to) in table.of_event(state, TAU) {
            if seen.insert(*to) {
                open.push(*to);
            }
        }
    }
    let mut all: Vec<u32> = seen.into_iter().collect();
    all.sort_unstable();
    all.into()
}

/// What a state insists on: ✓ alone if it can do that, else all its events if it is stable.
fn acceptance(table: &Table, state: u32) -> Option<Vec<u32>> {
    acceptance_of(table.edges(state).iter().map(|(e, _)| *e))
}

/// The same for a state that is given by its events.
pub fn acceptance_of(events: impl Iterator<Item = u32>) -> Option<Vec<u32>> {
    let mut all: Vec<u32> = events.filter(|e| *e != ENDED).collect();
    if all.contains(&TICK) {
        return Some(vec![TICK]);
    }
    if all.contains(&TAU) {
        return None;
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

pub fn subset(a: &[u32], b: &[u32]) -> bool {
    a.iter().all(|e| b.binary_search(e).is_ok())
}

/// Those sets that contain no other.
pub(super) fn least(mut sets: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    sets.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    sets.dedup();
    let mut out: Vec<Vec<u32>> = Vec::new();
    for set in sets {
        if !out.iter().any(|small| subset(small, &set)) {
            out.push(set);
        }
    }
    out
}
