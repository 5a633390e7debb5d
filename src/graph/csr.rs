//! Compressed rows: all edges of a node in one place, in a fixed order.
//!
//! In: edges between ids of the visited set. Out: rows by node, forward, and backward on demand.
//! Never here: what an edge means.
//!
//! The edges of a node are ordered by event, target and label. Targets stand in an array of their own, four
//! bytes each, because searches read nothing else most of the time; event and label are one small number,
//! for the pairs of them that occur are few.

use super::instance::{Catalogue, Instance};
use super::narrow::{Narrow, Width};
use bombus_kernels::memory::prefetch;
use bombus_system::EventId;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

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

impl Edge {
    pub(super) fn instance(&self) -> Instance {
        Instance { event: self.event, label: self.label }
    }
}

/// Rows of edges: those of node `n` stand at `offsets[n]..offsets[n + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    offsets: Offsets,
    /// The other end of each edge.
    ends: Vec<u32>,
    /// The instance of each edge, by its place in `instances`.
    kinds: Narrow,
    /// The instances that occur, ascending.
    instances: Vec<Instance>,
}

impl Csr {
    /// Bytes to reserve for an edge: its end and its kind, and as much for the catalogue of instances.
    pub(super) const EDGE_BYTES: usize = 16;

    /// Rows from logs in any order whose sources and targets are nodes below `nodes`.
    ///
    /// Each thread fills the rows of a range of nodes, reading all logs: it writes to memory of its
    /// own, and reading in order is cheap.
    pub fn new(nodes: usize, logs: &[Vec<Edge>]) -> Csr {
        let catalogue = Catalogue::new(logs);
        let offsets = offsets(nodes, logs);
        let mut ends = vec![0; offsets[nodes] as usize];
        let kinds = match catalogue.len() {
            0..=0x100 => Narrow::Byte(filled(&offsets, &mut ends, &catalogue, logs)),
            0x101..=0x1_0000 => Narrow::Short(filled(&offsets, &mut ends, &catalogue, logs)),
            _ => Narrow::Word(filled(&offsets, &mut ends, &catalogue, logs)),
        };
        Csr { offsets: Offsets::new(offsets), ends, kinds, instances: catalogue.into_all() }
    }

    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn edges(&self) -> usize {
        self.ends.len()
    }

    /// The indices of a node's edges, for `edge`.
    #[inline]
    pub fn row(&self, node: NodeId) -> Range<usize> {
        self.offsets.at(node.0 as usize)..self.offsets.at(node.0 as usize + 1)
    }

    /// Event, label and other end of an edge.
    pub fn edge(&self, at: usize) -> (EventId, u64, NodeId) {
        let Instance { event, label } = self.instances[self.kind(at) as usize];
        (event, label, self.end(at))
    }

    /// The other end of an edge.
    #[inline]
    pub fn end(&self, at: usize) -> NodeId {
        NodeId(self.ends[at])
    }

    /// The other ends of consecutive edges.
    #[inline]
    pub fn ends(&self, row: Range<usize>) -> &[u32] {
        &self.ends[row]
    }

    /// The place of an edge's event and label in `instances`.
    #[inline]
    pub fn kind(&self, at: usize) -> u32 {
        self.kinds.at(at)
    }

    /// The pairs of event and label that occur, ascending.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The edges of a node: event and other end.
    pub fn from(&self, node: NodeId) -> impl Iterator<Item = (EventId, NodeId)> {
        self.row(node).map(|at| (self.edge(at).0, self.end(at)))
    }

    /// Asks for the place of a node's row ahead of its use.
    #[inline]
    pub fn prefetch_offset(&self, node: NodeId) {
        match &self.offsets {
            Offsets::Short(offsets) => prefetch(&offsets[node.0 as usize]),
            Offsets::Long(offsets) => prefetch(&offsets[node.0 as usize]),
        }
    }

    /// Asks for a node's row ahead of its use.
    #[inline]
    pub fn prefetch_row(&self, node: NodeId) {
        let first = self.offsets.at(node.0 as usize);
        self.ends.get(first).into_iter().for_each(prefetch);
        self.kinds.prefetch(first);
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

/// Where rows begin, in half the bytes as long as that is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Offsets {
    Short(Vec<u32>),
    Long(Vec<u64>),
}

impl Offsets {
    fn new(offsets: Vec<u64>) -> Self {
        match offsets.last() {
            Some(&last) if last > u64::from(u32::MAX) => Offsets::Long(offsets),
            _ => Offsets::Short(offsets.par_iter().map(|offset| *offset as u32).collect()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Offsets::Short(offsets) => offsets.len(),
            Offsets::Long(offsets) => offsets.len(),
        }
    }

    #[inline(always)]
    fn at(&self, node: usize) -> usize {
        match self {
            Offsets::Short(offsets) => offsets[node] as usize,
            Offsets::Long(offsets) => offsets[node] as usize,
        }
    }
}

/// Edges that one thread looks at in a row.
const PART: usize = 1 << 14;

/// Where the row of each node begins, and the end of all.
fn offsets(nodes: usize, logs: &[Vec<Edge>]) -> Vec<u64> {
    let degrees: Vec<AtomicU32> = (0..nodes).into_par_iter().map(|_| AtomicU32::new(0)).collect();
    logs.par_iter().flat_map(|log| log.par_chunks(PART)).for_each(|edges| {
        // PERF: a worker logs the edges of a state together, so that few additions are enough.
        for run in edges.chunk_by(|a, b| a.source == b.source) {
            degrees[run[0].source as usize].fetch_add(run.len() as u32, Relaxed);
        }
    });
    let mut sum = 0;
    let mut offsets = Vec::with_capacity(nodes + 1);
    for degree in degrees {
        offsets.push(sum);
        sum += u64::from(degree.into_inner());
    }
    offsets.push(sum);
    offsets
}

/// Fills the rows: their ends, and the kinds that are given back.
fn filled<K: Width>(offsets: &[u64], ends: &mut [u32], catalogue: &Catalogue, logs: &[Vec<Edge>]) -> Vec<K> {
    let (nodes, total) = (offsets.len() - 1, ends.len());
    let mut kinds = vec![K::default(); total];
    let threads = rayon::current_num_threads().clamp(1, total / 10_000 + 1);
    rayon::scope(|scope| {
        let (mut ends, mut kinds) = (ends, &mut kinds[..]);
        let mut first = 0;
        for part in 1..=threads {
            // The nodes whose rows end before this share of the edges.
            let bound = (total * part / threads) as u64;
            let last =
                if part == threads { nodes } else { offsets.partition_point(|o| *o < bound).min(nodes) };
            let last = last.max(first);
            let len = (offsets[last] - offsets[first]) as usize;
            let (own_ends, other_ends) = ends.split_at_mut(len);
            let (own_kinds, other_kinds) = kinds.split_at_mut(len);
            (ends, kinds) = (other_ends, other_kinds);
            let share = Share { nodes: first..last, ends: own_ends, kinds: own_kinds };
            scope.spawn(move |_| share.fill(offsets, catalogue, logs));
            first = last;
        }
    });
    kinds
}

/// The rows of some nodes, to be filled by one thread.
struct Share<'a, K> {
    nodes: Range<usize>,
    ends: &'a mut [u32],
    kinds: &'a mut [K],
}

impl<K: Width> Share<'_, K> {
    fn fill(self, offsets: &[u64], catalogue: &Catalogue, logs: &[Vec<Edge>]) {
        let Share { nodes, ends, kinds } = self;
        let start = offsets[nodes.start];
        let mut next: Vec<u64> = offsets[nodes.clone()].iter().map(|offset| offset - start).collect();
        for edge in logs.iter().flatten().filter(|edge| nodes.contains(&(edge.source as usize))) {
            let at = &mut next[edge.source as usize - nodes.start];
            ends[*at as usize] = edge.target;
            kinds[*at as usize] = K::narrowed(catalogue.place(edge.instance()));
            *at += 1;
        }
        let mut row = Vec::new();
        for node in nodes {
            let range = (offsets[node] - start) as usize..(offsets[node + 1] - start) as usize;
            let (ends, kinds) = (&mut ends[range.clone()], &mut kinds[range]);
            let order = |(end, kind): (&u32, &K)| (catalogue.event(kind.number()), *end, kind.number());
            if ends.iter().zip(kinds.iter()).is_sorted_by_key(order) {
                continue;
            }
            row.clear();
            row.extend(ends.iter().zip(kinds.iter()).map(order));
            row.sort_unstable();
            for (i, (_, end, kind)) in row.iter().enumerate() {
                (ends[i], kinds[i]) = (*end, K::narrowed(*kind));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_kernels::hash;

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
    #[test]
    fn labels_and_events_survive_whatever_their_number() {
        // One, a few, many and very many labels per event: each is looked up in another way.
        for labels in [1u64, 5, 300, 70_000] {
            let log: Vec<Edge> = (0..80_000u64)
                .map(|n| Edge {
                    source: (n % 50) as u32,
                    event: EventId((n % 3) as u32 * 2),
                    label: (n * 7919 % labels) << 40,
                    target: (n % 49) as u32,
                })
                .collect();
            let graph = Csr::new(50, std::slice::from_ref(&log));
            let mut wanted: Vec<_> =
                log.iter().map(|e| (e.source, e.event, NodeId(e.target), e.label)).collect();
            wanted.sort();
            let found: Vec<_> = (0..50)
                .flat_map(|n| graph.row(NodeId(n)).map(move |at| (n, at)))
                .map(|(n, at)| (n, graph.edge(at)))
                .map(|(n, (event, label, end))| (n, event, end, label))
                .collect();
            assert_eq!(found, wanted, "{labels} labels");
            assert!(graph.instances().is_sorted_by(|a, b| a < b));
        }
    }
    #[test]
    fn offsets_beyond_a_word_are_kept_long() {
        for last in [7, u64::from(u32::MAX), u64::from(u32::MAX) + 1, 1 << 40] {
            let offsets = Offsets::new(vec![0, 5, last]);
            assert_eq!((offsets.len(), offsets.at(1), offsets.at(2)), (3, 5, last as usize));
        }
    }
}
