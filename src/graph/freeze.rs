//! Freezing: the logs of an exploration become a graph that does not depend on who logged what.
//!
//! In: logs over ids of the visited set. Out: a graph whose nodes are numbered by the fingerprints of their
//! states. Never here: how rows are kept.

use super::csr::{Csr, Edge, NodeId};
use bombus_base::hash::HashMap;
use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_kernels::visited::Visited;
use bombus_system::{EventId, System};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Edges or states that one thread looks at in a row.
const PART: usize = 1 << 14;

/// What the workers of an exploration wrote down; all ids are those of the visited set.
#[derive(Default)]
pub struct Log {
    pub edges: Vec<Vec<Edge>>,
    /// The states all of whose transitions are among `edges`.
    pub expanded: Vec<Vec<u32>>,
    pub initial: Vec<u32>,
    /// Whether every initial state was found.
    pub all_initial: bool,
    /// The states that stand for their orbits, if the visited set knows orbits and not states.
    pub representatives: Vec<Representatives>,
    /// Edges to states of other machines, in a search on several.
    pub crossing: Vec<Vec<Crossing>>,
}

/// An edge to a state that stands on another machine and is known by its fingerprint here.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    pub source: u32,
    pub event: EventId,
    pub label: u64,
    pub print: u128,
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
    states: States,
    /// The nodes below this have their states here. The others are known only as ends of edges: they have no transitions here,
    /// and are open.
    told: usize,
    /// Whether a node stands for all states of an orbit.
    orbits: bool,
}

/// Where the words of the nodes' states are.
enum States {
    /// In the visited set, under the id of each node.
    Stored { ids: Vec<u32>, visited: Box<Visited> },
    /// Side by side, in the order of the nodes.
    Listed(Vec<u64>),
}

impl Graph {
    /// Freezes the logs. The visited set goes along, for it knows the states. `None` if the memory
    /// for it would go beyond the limit.
    pub fn freeze<S: System>(system: &S, visited: Visited, meter: &Meter, log: Log) -> Option<Graph> {
        let Log { edges: mut logs, expanded, initial, all_initial, representatives, .. } = log;
        let total: usize = logs.iter().map(Vec::len).sum();
        let bound = visited.bound() as usize;
        // Rows and offsets, and what is needed on the way: print, id, node and mark of each state.
        meter.claim((total * Csr::EDGE_BYTES + bound * (8 + 32 + 4 + 2)) as u64).ok()?;
        let marks =
            || -> Vec<AtomicBool> { (0..bound).into_par_iter().map(|_| AtomicBool::new(false)).collect() };
        let used = marks();
        logs.par_iter().flat_map(|log| log.par_iter().with_min_len(PART)).for_each(|edge| {
            let mark = &used[edge.target as usize];
            if !mark.load(Relaxed) {
                mark.store(true, Relaxed);
            }
        });
        initial.iter().for_each(|id| used[*id as usize].store(true, Relaxed));
        let complete = marks();
        expanded
            .par_iter()
            .flat_map(|ids| ids.par_iter().with_min_len(PART))
            .for_each(|id| complete[*id as usize].store(true, Relaxed));
        let words = system.words();
        let ids: Vec<u32> = (0..bound as u32)
            .into_par_iter()
            .with_min_len(PART)
            .filter(|id| used[*id as usize].load(Relaxed))
            .collect();
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
        let node_of: Vec<AtomicU32> = (0..bound).into_par_iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        order.par_iter().enumerate().for_each(|(node, (_, id))| {
            node_of[*id as usize].store(node as u32, Relaxed);
        });
        let node_of = |id: u32| node_of[id as usize].load(Relaxed);
        logs.par_iter_mut().flat_map(|log| log.par_chunks_mut(PART)).for_each(|edges| {
            for run in edges.chunk_by_mut(|a, b| a.source == b.source) {
                let source = node_of(run[0].source);
                for edge in run {
                    edge.source = source;
                    edge.target = node_of(edge.target);
                }
            }
        });
        let mut initial: Vec<NodeId> = initial.iter().map(|id| NodeId(node_of(*id))).collect();
        initial.sort_unstable();
        let open = (0..order.len() as u32)
            .into_par_iter()
            .with_min_len(PART)
            .filter(|node| !complete[order[*node as usize].1 as usize].load(Relaxed))
            .map(NodeId)
            .collect();
        let forward = Csr::new(order.len(), &logs);
        let states = if orbits {
            let mut all = vec![0; order.len() * words];
            for part in &representatives {
                for ((id, _), state) in part.prints.iter().zip(part.words.chunks_exact(words)) {
                    // What was found and led nowhere that is kept has no node.
                    if let Some(own) = all.chunks_exact_mut(words).nth(node_of(*id) as usize) {
                        own.copy_from_slice(state);
                    }
                }
            }
            States::Listed(all)
        } else {
            let ids = order.into_par_iter().map(|(_, id)| id).collect();
            States::Stored { ids, visited: Box::new(visited) }
        };
        let told = forward.nodes();
        Some(Graph { forward, initial, all_initial, open, words, states, told, orbits })
    }

    /// A part of a graph: nodes whose states stand in the visited set under `ids`, and behind them nodes that are only ends
    /// of edges. All states that are here have all their transitions.
    pub fn part(
        forward: Csr,
        (initial, all_initial): (Vec<NodeId>, bool),
        (words, ids, visited): (usize, Vec<u32>, Visited),
    ) -> Graph {
        let told = ids.len();
        let open = (told as u32..forward.nodes() as u32).map(NodeId).collect();
        let states = States::Stored { ids, visited: Box::new(visited) };
        Graph { forward, initial, all_initial, open, words, states, told, orbits: false }
    }

    /// A graph from parts that were put together elsewhere; `words` for each state of the first `told` nodes, `orbits` if a
    /// node stands for all states of an orbit.
    pub fn assembled(
        forward: Csr,
        (initial, all_initial): (Vec<NodeId>, bool),
        open: Vec<NodeId>,
        (words, told, states): (usize, usize, Vec<u64>),
        orbits: bool,
    ) -> Graph {
        assert_eq!(states.len(), told * words, "every node that is told has a state");
        Graph { forward, initial, all_initial, open, words, states: States::Listed(states), told, orbits }
    }

    /// How many nodes have their states here; they are the first ones.
    pub fn told(&self) -> usize {
        self.told
    }

    /// Whether the state of a node is here.
    #[inline]
    pub fn is_told(&self, node: NodeId) -> bool {
        (node.0 as usize) < self.told
    }

    pub fn nodes(&self) -> usize {
        self.forward.nodes()
    }

    /// The words of a node's state; `None` if only hashes were stored or the state is elsewhere.
    pub fn state(&self, node: NodeId) -> Option<Vec<u64>> {
        let mut state = vec![0; self.words];
        self.read_state(node, &mut state).then_some(state)
    }

    /// Whether a node stands for all states of an orbit.
    pub fn has_orbits(&self) -> bool {
        self.orbits
    }

    /// Writes the words of a node's state to `out`; `false` if only hashes were stored or the state is elsewhere.
    pub fn read_state(&self, node: NodeId, out: &mut [u64]) -> bool {
        if !self.is_told(node) {
            return false;
        }
        match &self.states {
            States::Stored { ids, visited } => visited.state(ids[node.0 as usize], out),
            States::Listed(states) => {
                out.copy_from_slice(&states[node.0 as usize * self.words..][..self.words]);
                true
            }
        }
    }
}
