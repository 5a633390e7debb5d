//! Compressed rows: all edges of a node in one place, in a fixed order.
//!
//! In: edges between ids of the visited set. Out: rows by node, forward, and backward on demand.
//! Never here: what an edge means.
//!
//! Nodes are numbered by the fingerprint of their state, the edges of a node are ordered by event,
//! target and label: the graph is the same for any number of workers.

use crate::system::{EventId, System};
use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_kernels::visited::Visited;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

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
    rows: Vec<Row>,
}

/// An edge without its source; the derived order is the order within a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    event: u32,
    end: u32,
    label: u64,
}

impl Csr {
    /// Rows from logs in any order whose sources and targets are nodes below `nodes`.
    ///
    /// Each thread fills the rows of a range of nodes, reading all logs: it writes to memory of its
    /// own, and reading in order is cheap.
    pub fn new(nodes: usize, logs: &[Vec<Edge>]) -> Csr {
        let degrees: Vec<AtomicU32> = (0..nodes).map(|_| AtomicU32::new(0)).collect();
        logs.par_iter().flat_map(|log| log.par_iter()).for_each(|edge| {
            degrees[edge.source as usize].fetch_add(1, Relaxed);
        });
        let mut offsets = vec![0u64; nodes + 1];
        for (n, degree) in degrees.into_iter().enumerate() {
            offsets[n + 1] = u64::from(degree.into_inner());
        }
        for n in 0..nodes {
            offsets[n + 1] += offsets[n];
        }
        let total = offsets[nodes] as usize;
        let mut rows = vec![Row::default(); total];
        let threads = rayon::current_num_threads().clamp(1, total / 10_000 + 1);
        rayon::scope(|scope| {
            let mut rest = &mut rows[..];
            let mut first = 0;
            for part in 1..=threads {
                // The nodes whose rows end before this share of the edges.
                let bound = (total * part / threads) as u64;
                let last =
                    if part == threads { nodes } else { offsets.partition_point(|o| *o < bound).min(nodes) };
                let last = last.max(first);
                let (own, others) = rest.split_at_mut((offsets[last] - offsets[first]) as usize);
                rest = others;
                let (offsets, range) = (&offsets, first..last);
                scope.spawn(move |_| fill(own, range, offsets, logs));
                first = last;
            }
        });
        Csr { offsets, rows }
    }

    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn edges(&self) -> usize {
        self.rows.len()
    }

    /// The indices of a node's edges, for `edge`.
    pub fn row(&self, node: NodeId) -> std::ops::Range<usize> {
        self.offsets[node.0 as usize] as usize..self.offsets[node.0 as usize + 1] as usize
    }

    /// Event, label and other end of an edge.
    pub fn edge(&self, at: usize) -> (EventId, u64, NodeId) {
        let row = self.rows[at];
        (EventId(row.event), row.label, NodeId(row.end))
    }

    /// The edges of a node: event and other end.
    pub fn from(&self, node: NodeId) -> impl Iterator<Item = (EventId, NodeId)> {
        self.rows[self.row(node)].iter().map(|row| (EventId(row.event), NodeId(row.end)))
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
        Csr::new(self.nodes(), &[turned])
    }
}

/// Fills and sorts the rows of the nodes in `range`, which begin at `offsets[range.start]`.
fn fill(rows: &mut [Row], range: std::ops::Range<usize>, offsets: &[u64], logs: &[Vec<Edge>]) {
    let start = offsets[range.start];
    let mut next: Vec<u64> = offsets[range.clone()].iter().map(|offset| offset - start).collect();
    for edge in logs.iter().flatten().filter(|edge| range.contains(&(edge.source as usize))) {
        let at = &mut next[edge.source as usize - range.start];
        rows[*at as usize] = Row { event: edge.event.0, end: edge.target, label: edge.label };
        *at += 1;
    }
    for node in range {
        rows[(offsets[node] - start) as usize..(offsets[node + 1] - start) as usize].sort_unstable();
    }
}

/// What the workers of an exploration wrote down; all ids are those of the visited set.
pub struct Log {
    pub edges: Vec<Vec<Edge>>,
    /// The states all of whose transitions are among `edges`.
    pub expanded: Vec<Vec<u32>>,
    pub initial: Vec<u32>,
    /// Whether every initial state was found.
    pub all_initial: bool,
    /// The states that stand for their orbits, if the visited set knows orbits and not states.
    pub representatives: Vec<Representatives>,
}

/// States that stand for their orbits, as a worker found them.
#[derive(Default)]
pub struct Representatives {
    /// The id of each in the visited set, and the fingerprint of its orbit.
    pub prints: Vec<(u32, u128)>,
    /// Their words, side by side.
    pub words: Vec<u64>,
}

/// A frozen graph with its states.
pub struct Graph {
    pub forward: Csr,
    /// Ascending.
    pub initial: Vec<NodeId>,
    pub all_initial: bool,
    /// The nodes that may have more transitions than are here, ascending.
    pub open: Vec<NodeId>,
    words: usize,
    /// The id in the visited set of each node.
    ids: Vec<u32>,
    visited: Visited,
    /// The words of the state that stands for each node, where nodes are orbits.
    representatives: Option<Vec<u64>>,
}

impl Graph {
    /// Freezes the logs. The visited set goes along, for it knows the states. `None` if the memory
    /// for it would go beyond the limit.
    pub(crate) fn freeze<S: System>(system: &S, visited: Visited, meter: &Meter, log: Log) -> Option<Graph> {
        let Log { edges: mut logs, expanded, initial, all_initial, representatives } = log;
        let total: usize = logs.iter().map(Vec::len).sum();
        let bound = visited.bound() as usize;
        // Rows and offsets, and what is needed on the way: print, id, node and mark of each state.
        meter.claim((total * size_of::<Row>() + bound * (8 + 32 + 4 + 2)) as u64).ok()?;
        let marks = || -> Vec<AtomicBool> { (0..bound).map(|_| AtomicBool::new(false)).collect() };
        let used = marks();
        logs.par_iter().flat_map(|log| log.par_iter()).for_each(|edge| {
            let mark = &used[edge.target as usize];
            if !mark.load(Relaxed) {
                mark.store(true, Relaxed);
            }
        });
        initial.iter().for_each(|id| used[*id as usize].store(true, Relaxed));
        let complete = marks();
        expanded.par_iter().flatten().for_each(|id| complete[*id as usize].store(true, Relaxed));
        let words = system.words();
        let ids: Vec<u32> = (0..bound as u32).filter(|id| used[*id as usize].load(Relaxed)).collect();
        let orbits = !representatives.is_empty();
        let print_of_orbit: HashMap<u32, u128> =
            representatives.iter().flat_map(|part| part.prints.iter().copied()).collect();
        let mut order: Vec<(u128, u32)> = ids
            .par_iter()
            .with_min_len(1024)
            .map_init(
                || (system.worker(), vec![0; words]),
                |(scratch, state), &id| {
                    if orbits {
                        return (print_of_orbit[&id], id);
                    }
                    // Without stored states (hash mode) nodes keep the order of their ids.
                    let print = match visited.state(id, state) {
                        true => system.fingerprint(scratch, state).unwrap_or_else(|| hash::words(state)),
                        false => id as u128,
                    };
                    (print, id)
                },
            )
            .collect();
        order.par_sort_unstable();
        let node_of: Vec<AtomicU32> = (0..bound).map(|_| AtomicU32::new(u32::MAX)).collect();
        order.par_iter().enumerate().for_each(|(node, (_, id))| {
            node_of[*id as usize].store(node as u32, Relaxed);
        });
        let node_of = |id: u32| node_of[id as usize].load(Relaxed);
        logs.par_iter_mut().flat_map(|log| log.par_iter_mut()).for_each(|edge| {
            edge.source = node_of(edge.source);
            edge.target = node_of(edge.target);
        });
        let mut initial: Vec<NodeId> = initial.iter().map(|id| NodeId(node_of(*id))).collect();
        initial.sort_unstable();
        let open = (0..order.len() as u32)
            .filter(|node| !complete[order[*node as usize].1 as usize].load(Relaxed))
            .map(NodeId)
            .collect();
        let forward = Csr::new(order.len(), &logs);
        let representatives = orbits.then(|| {
            let mut all = vec![0; order.len() * words];
            for part in &representatives {
                for ((id, _), state) in part.prints.iter().zip(part.words.chunks_exact(words)) {
                    // What was found and led nowhere that is kept has no node.
                    if let Some(own) = all.chunks_exact_mut(words).nth(node_of(*id) as usize) {
                        own.copy_from_slice(state);
                    }
                }
            }
            all
        });
        let ids = order.into_iter().map(|(_, id)| id).collect();
        Some(Graph { forward, initial, all_initial, open, words, ids, visited, representatives })
    }

    pub fn nodes(&self) -> usize {
        self.ids.len()
    }

    /// The words of a node's state; `None` if only hashes were stored.
    pub fn state(&self, node: NodeId) -> Option<Vec<u64>> {
        let mut state = vec![0; self.words];
        self.read_state(node, &mut state).then_some(state)
    }

    /// Whether a node stands for all states of an orbit.
    pub fn has_orbits(&self) -> bool {
        self.representatives.is_some()
    }

    /// Writes the words of a node's state to `out`; `false` if only hashes were stored.
    pub fn read_state(&self, node: NodeId, out: &mut [u64]) -> bool {
        let Some(states) = &self.representatives else {
            return self.visited.state(self.ids[node.0 as usize], out);
        };
        out.copy_from_slice(&states[node.0 as usize * self.words..][..self.words]);
        true
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
        let one = Csr::new(3, &[vec![edge(0, 1, 2), edge(2, 0, 0)], vec![edge(0, 0, 1)]]);
        let two = Csr::new(3, &[vec![edge(0, 0, 1), edge(0, 1, 2), edge(2, 0, 0)]]);
        assert_eq!(one, two);
        let from: Vec<_> = one.from(NodeId(0)).collect();
        assert_eq!(from, [(EventId(0), NodeId(1)), (EventId(1), NodeId(2))]);
        assert_eq!(one.from(NodeId(1)).count(), 0);
    }

    #[test]
    fn a_graph_filled_by_many_threads_has_the_rows_of_one_filled_edge_by_edge() {
        let nodes = 5000;
        let random = |n: u64, below: u64| (hash::words(&[n]) % below as u128) as u32;
        let edges: Vec<Edge> =
            (0..80_000).map(|n| edge(random(3 * n, nodes), n as u32 % 7, random(3 * n + 1, nodes))).collect();
        let logs: Vec<Vec<Edge>> = edges.chunks(30_000).map(<[Edge]>::to_vec).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        let graph = pool.install(|| Csr::new(nodes as usize, &logs));
        assert_eq!(graph.edges(), edges.len());
        let mut rows = vec![Vec::new(); nodes as usize];
        for edge in &edges {
            rows[edge.source as usize].push((edge.event, NodeId(edge.target)));
        }
        for (node, mut row) in rows.into_iter().enumerate() {
            row.sort();
            assert_eq!(graph.from(NodeId(node as u32)).collect::<Vec<_>>(), row);
        }
    }

    #[test]
    fn turning_a_graph_twice_gives_it_back() {
        let graph = Csr::new(4, &[vec![edge(0, 1, 2), edge(2, 0, 0), edge(0, 0, 1), edge(3, 0, 3)]]);
        assert_eq!(graph.reversed().reversed(), graph);
        let back: Vec<_> = graph.reversed().from(NodeId(2)).collect();
        assert_eq!(back, [(EventId(1), NodeId(0))]);
    }
}
