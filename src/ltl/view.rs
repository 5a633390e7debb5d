//! The graph as temporal logic sees it: numbered states, numbered transitions, nothing of B.
//!
//! In: the frozen graph of an exploration, or a graph written by hand. Out: the trait that every
//! algorithm here runs on. Never here: what a state contains.

use bombus_system::EventId;
use std::ops::Range;

/// A state, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(pub u32);

/// A transition, numbered from 0; those of one source are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge(pub u64);

impl State {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Edge {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A finite labelled graph. All answers are fixed once the graph is frozen.
pub trait Graph: Sync {
    fn states(&self) -> usize;

    /// Number of transitions.
    fn transitions(&self) -> u64;

    /// Where paths start: the initialised states, each once.
    fn initial(&self) -> &[State];

    /// The transitions that leave `state`.
    fn edges(&self, state: State) -> Range<u64>;

    fn target(&self, edge: Edge) -> State;

    fn event(&self, edge: Edge) -> EventId;

    /// Tells apart transitions of one event with different arguments or results.
    fn label(&self, edge: Edge) -> u64;

    /// How many pairs of event and label occur.
    fn instances(&self) -> usize;

    /// The pair of event and label of a transition, numbered from 0.
    fn instance(&self, edge: Edge) -> u32;

    /// The event of such a pair.
    fn event_of(&self, instance: u32) -> EventId;

    /// Whether all transitions of `state` are there. A state that is not expanded may have some of
    /// its transitions or none; it is never taken for a deadlock.
    fn is_expanded(&self, state: State) -> bool;

    /// How many states are told: of the others, which come last, nothing is known but that transitions lead there. They have no
    /// transitions here, and are not expanded.
    fn told(&self) -> usize {
        self.states()
    }

    /// Whether the graph holds every initial state and every transition of every reachable state.
    fn is_complete(&self) -> bool;

    /// Asks for the place where the transitions of `state` begin, ahead of its use.
    fn prefetch_offset(&self, _: State) {}

    /// Asks for the transitions of `state`, ahead of their use.
    fn prefetch_row(&self, _: State) {}

    /// Known to have no successor.
    fn is_deadlock(&self, state: State) -> bool {
        self.edges(state).is_empty() && self.is_expanded(state)
    }
}

/// A transition of a graph written by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arc {
    pub source: u32,
    pub event: u32,
    pub label: u64,
    pub target: u32,
}

/// A small graph given transition by transition; tests and experiments are written with it.
#[derive(Clone, Debug)]
pub struct Explicit {
    initial: Vec<State>,
    first: Vec<u64>,
    arcs: Vec<Arc>,
    /// Events and labels that occur, ascending.
    instances: Vec<(u32, u64)>,
    open: Vec<bool>,
    told: usize,
}

impl Explicit {
    /// Transitions are sorted by source, event, label and target; equal ones are kept once.
    pub fn new(states: usize, initial: &[u32], mut arcs: Vec<Arc>) -> Self {
        arcs.sort_unstable();
        arcs.dedup();
        let mut first = vec![0u64; states + 1];
        for arc in &arcs {
            first[arc.source as usize + 1] += 1;
        }
        for s in 0..states {
            first[s + 1] += first[s];
        }
        let mut instances: Vec<(u32, u64)> = arcs.iter().map(|arc| (arc.event, arc.label)).collect();
        instances.sort_unstable();
        instances.dedup();
        Explicit {
            initial: initial.iter().map(|&s| State(s)).collect(),
            first,
            arcs,
            instances,
            open: vec![false; states],
            told: states,
        }
    }

    /// The same graph in which `state` counts as not (fully) expanded.
    pub fn with_open(mut self, state: u32) -> Self {
        self.open[state as usize] = true;
        self
    }

    /// The same graph in which nothing is known of the states from this one on, which have no transitions.
    #[cfg(test)]
    pub fn with_told(mut self, told: usize) -> Self {
        self.told = told;
        self.open[told..].fill(true);
        self
    }
}

impl Graph for Explicit {
    fn states(&self) -> usize {
        self.open.len()
    }

    fn told(&self) -> usize {
        self.told
    }

    fn transitions(&self) -> u64 {
        self.arcs.len() as u64
    }

    fn initial(&self) -> &[State] {
        &self.initial
    }

    #[inline]
    fn edges(&self, state: State) -> Range<u64> {
        self.first[state.index()]..self.first[state.index() + 1]
    }

    #[inline]
    fn target(&self, edge: Edge) -> State {
        State(self.arcs[edge.index()].target)
    }

    #[inline]
    fn event(&self, edge: Edge) -> EventId {
        EventId(self.arcs[edge.index()].event)
    }

    fn label(&self, edge: Edge) -> u64 {
        self.arcs[edge.index()].label
    }

    fn instances(&self) -> usize {
        self.instances.len()
    }

    fn instance(&self, edge: Edge) -> u32 {
        let Arc { event, label, .. } = self.arcs[edge.index()];
        self.instances.binary_search(&(event, label)).expect("every transition was counted") as u32
    }

    fn event_of(&self, instance: u32) -> EventId {
        EventId(self.instances[instance as usize].0)
    }

    #[inline]
    fn is_expanded(&self, state: State) -> bool {
        !self.open[state.index()]
    }

    fn is_complete(&self) -> bool {
        !self.open.contains(&true)
    }
}
