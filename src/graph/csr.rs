//! Compressed rows: all edges of a node in one place, in a fixed order.
//!
//! In: edges between ids of the visited set. Out: rows by node, forward, and backward on demand.
//! Never here: what an edge means.
//!
//! Nodes are numbered by the fingerprint of their state, the edges of a node are ordered by event,
//! label and target: the graph is the same for any number of workers.

use crate::system::{EventId, System};
use bombus_kernels::hash;
use bombus_kernels::visited::Visited;

/// A node of a frozen graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A transition as a worker logs it; source and target are ids of the visited set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub source: u32,
    pub event: EventId,
    pub label: u64,
    pub target: u32,
}

/// Rows of edges: those of node `n` stand at `offsets[n]..offsets[n + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    offsets: Vec<u64>,
    ends: Vec<u32>,
    events: Vec<u32>,
    labels: Vec<u64>,
}

impl Csr {
    /// Rows from edges in any order whose sources and targets are nodes below `nodes`.
    pub fn new(nodes: usize, edges: &[Edge]) -> Csr {
        let mut offsets = vec![0u64; nodes + 1];
        for edge in edges {
            offsets[edge.source as usize + 1] += 1;
        }
        for n in 0..nodes {
            offsets[n + 1] += offsets[n];
        }
        let mut next = offsets.clone();
        let mut rows = vec![(0u32, 0u64, 0u32); edges.len()];
        for edge in edges {
            let at = &mut next[edge.source as usize];
            rows[*at as usize] = (edge.event.0, edge.label, edge.target);
            *at += 1;
        }
        for row in offsets.windows(2) {
            rows[row[0] as usize..row[1] as usize].sort_unstable();
        }
        Csr {
            offsets,
            ends: rows.iter().map(|row| row.2).collect(),
            events: rows.iter().map(|row| row.0).collect(),
            labels: rows.iter().map(|row| row.1).collect(),
        }
    }

    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn edges(&self) -> usize {
        self.ends.len()
    }

    /// The indices of a node's edges, for `edge`.
    pub fn row(&self, node: NodeId) -> std::ops::Range<usize> {
        self.offsets[node.0 as usize] as usize..self.offsets[node.0 as usize + 1] as usize
    }

    /// Event, label and other end of an edge.
    pub fn edge(&self, at: usize) -> (EventId, u64, NodeId) {
        (EventId(self.events[at]), self.labels[at], NodeId(self.ends[at]))
    }

    /// The edges of a node: event and other end.
    pub fn from(&self, node: NodeId) -> impl Iterator<Item = (EventId, NodeId)> {
        let row = self.row(node);
        self.events[row.clone()].iter().zip(&self.ends[row]).map(|(e, n)| (EventId(*e), NodeId(*n)))
    }

    /// The same edges, found by their targets.
    pub fn reversed(&self) -> Csr {
        let turned: Vec<Edge> = (0..self.nodes() as u32)
            .flat_map(|n| self.row(NodeId(n)).map(move |at| (n, at)))
            .map(|(n, at)| {
                let (event, label, target) = self.edge(at);
                Edge { source: target.0, event, label, target: n }
            })
            .collect();
        Csr::new(self.nodes(), &turned)
    }
}

/// A frozen graph with its states.
pub struct Graph {
    pub forward: Csr,
    /// Ascending.
    pub initial: Vec<NodeId>,
    words: usize,
    /// The id in the visited set of each node.
    ids: Vec<u32>,
    visited: Visited,
}

impl Graph {
    /// Freezes the logs. The visited set goes along, for it knows the states.
    pub(crate) fn freeze<S: System>(
        system: &S,
        visited: Visited,
        initial: Vec<u32>,
        logs: Vec<Vec<Edge>>,
    ) -> Graph {
        const NO_NODE: u32 = u32::MAX;
        let mut used = vec![false; visited.bound() as usize];
        for &id in initial.iter().chain(logs.iter().flatten().map(|edge| &edge.target)) {
            used[id as usize] = true;
        }
        let words = system.words();
        let mut scratch = system.worker();
        let mut state = vec![0; words];
        let mut order: Vec<(u128, u32)> = Vec::new();
        for id in (0..visited.bound()).filter(|id| used[*id as usize]) {
            // Without stored states (hash mode) nodes keep the order of their ids.
            let print = match visited.state(id, &mut state) {
                true => system.fingerprint(&mut scratch, &state).unwrap_or_else(|| hash::words(&state)),
                false => id as u128,
            };
            order.push((print, id));
        }
        order.sort_unstable();
        let mut node_of = vec![NO_NODE; used.len()];
        for (node, (_, id)) in order.iter().enumerate() {
            node_of[*id as usize] = node as u32;
        }
        let mut edges: Vec<Edge> = Vec::new();
        for log in logs {
            edges.extend(log.into_iter().map(|edge| Edge {
                source: node_of[edge.source as usize],
                target: node_of[edge.target as usize],
                ..edge
            }));
        }
        let mut initial: Vec<NodeId> = initial.iter().map(|id| NodeId(node_of[*id as usize])).collect();
        initial.sort_unstable();
        let forward = Csr::new(order.len(), &edges);
        Graph { forward, initial, words, ids: order.into_iter().map(|(_, id)| id).collect(), visited }
    }

    pub fn nodes(&self) -> usize {
        self.ids.len()
    }

    /// The words of a node's state; `None` if only hashes were stored.
    pub fn state(&self, node: NodeId) -> Option<Vec<u64>> {
        let mut state = vec![0; self.words];
        self.visited.state(self.ids[node.0 as usize], &mut state).then_some(state)
    }

    /// Writes the words of a node's state to `out`; `false` if only hashes were stored.
    pub fn read_state(&self, node: NodeId, out: &mut [u64]) -> bool {
        self.visited.state(self.ids[node.0 as usize], out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(source: u32, event: u32, target: u32) -> Edge {
        Edge { source, event: EventId(event), label: 0, target }
    }

    #[test]
    fn rows_hold_the_edges_of_their_node_in_a_fixed_order() {
        let one = Csr::new(3, &[edge(0, 1, 2), edge(2, 0, 0), edge(0, 0, 1)]);
        let two = Csr::new(3, &[edge(0, 0, 1), edge(0, 1, 2), edge(2, 0, 0)]);
        assert_eq!(one, two);
        let from: Vec<_> = one.from(NodeId(0)).collect();
        assert_eq!(from, [(EventId(0), NodeId(1)), (EventId(1), NodeId(2))]);
        assert_eq!(one.from(NodeId(1)).count(), 0);
    }

    #[test]
    fn turning_a_graph_twice_gives_it_back() {
        let graph = Csr::new(4, &[edge(0, 1, 2), edge(2, 0, 0), edge(0, 0, 1), edge(3, 0, 3)]);
        assert_eq!(graph.reversed().reversed(), graph);
        let back: Vec<_> = graph.reversed().from(NodeId(2)).collect();
        assert_eq!(back, [(EventId(1), NodeId(0))]);
    }
}
