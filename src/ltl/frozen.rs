//! The frozen graph of an exploration, seen by temporal logic.
//!
//! In: the graph and what is known about its completeness. Out: an implementation of `view::Graph`.
//! Never here: freezing, states as words.

use super::bits::Bits;
use super::view::{self, Edge, State};
use crate::graph::{self, NodeId};
use crate::system::EventId;
use std::ops::Range;

/// A graph whose node `n` is the state `n` here.
pub struct Frozen<'a> {
    graph: &'a graph::Graph,
    initial: Vec<State>,
    /// The states all of whose transitions are there.
    expanded: Expanded,
}

enum Expanded {
    All,
    These(Bits),
}

impl<'a> Frozen<'a> {
    /// The graph of a run that saw everything.
    pub fn complete(graph: &'a graph::Graph) -> Self {
        Frozen::new(graph, Expanded::All)
    }

    /// The graph of a run that was cut short; `expanded` holds the nodes whose successors were all
    /// computed. Without that knowledge give an empty set: then paths are still real, but nothing is
    /// concluded from a missing transition.
    pub fn partial(graph: &'a graph::Graph, expanded: Bits) -> Self {
        Frozen::new(graph, Expanded::These(expanded))
    }

    fn new(graph: &'a graph::Graph, expanded: Expanded) -> Self {
        let mut initial: Vec<State> = graph.initial.iter().map(|n| State(n.0)).collect();
        initial.sort_unstable();
        initial.dedup();
        Frozen { graph, initial, expanded }
    }

    /// The node of a state, to ask the graph for its words.
    pub fn node(&self, state: State) -> NodeId {
        NodeId(state.0)
    }
}

impl view::Graph for Frozen<'_> {
    fn states(&self) -> usize {
        self.graph.forward.nodes()
    }

    fn transitions(&self) -> u64 {
        self.graph.forward.edges() as u64
    }

    fn initial(&self) -> &[State] {
        &self.initial
    }

    #[inline]
    fn edges(&self, state: State) -> Range<u64> {
        let row = self.graph.forward.row(NodeId(state.0));
        row.start as u64..row.end as u64
    }

    #[inline]
    fn target(&self, edge: Edge) -> State {
        State(self.graph.forward.edge(edge.index()).2.0)
    }

    #[inline]
    fn event(&self, edge: Edge) -> EventId {
        self.graph.forward.edge(edge.index()).0
    }

    #[inline]
    fn label(&self, edge: Edge) -> u64 {
        self.graph.forward.edge(edge.index()).1
    }

    #[inline]
    fn is_expanded(&self, state: State) -> bool {
        match &self.expanded {
            Expanded::All => true,
            Expanded::These(states) => states.contains(state.index()),
        }
    }

    fn is_complete(&self) -> bool {
        matches!(self.expanded, Expanded::All)
    }
}
