//! The frozen graph of an exploration, seen by temporal logic.
//!
//! In: the graph. Out: an implementation of `view::Graph`.
//! Never here: freezing, states as words.

use super::bits::Bits;
use super::view::{self, Edge, State};
use bombus_graph::{self as graph, NodeId};
use bombus_system::EventId;
use std::ops::Range;

/// A graph whose node `n` is the state `n` here.
pub struct Frozen<'a> {
    graph: &'a graph::Graph,
    initial: Vec<State>,
    /// The states that may have more transitions; absent if there is none.
    open: Option<Bits>,
}

impl<'a> Frozen<'a> {
    /// The graph with what it knows about itself: some states may lack transitions.
    pub fn new(graph: &'a graph::Graph) -> Self {
        let mut initial: Vec<State> = graph.initial.iter().map(|n| State(n.0)).collect();
        initial.sort_unstable();
        initial.dedup();
        let open = (!graph.open.is_empty()).then(|| {
            let mut bits = Bits::new(graph.nodes());
            graph.open.iter().for_each(|n| {
                bits.insert(n.0 as usize);
            });
            bits
        });
        Frozen { graph, initial, open }
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

    #[inline]
    fn told(&self) -> usize {
        self.graph.told()
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
        State(self.graph.forward.end(edge.index()).0)
    }

    #[inline]
    fn event(&self, edge: Edge) -> EventId {
        self.event_of(self.instance(edge))
    }

    #[inline]
    fn label(&self, edge: Edge) -> u64 {
        self.graph.forward.edge(edge.index()).1
    }

    fn instances(&self) -> usize {
        self.graph.forward.instances().len()
    }

    #[inline]
    fn instance(&self, edge: Edge) -> u32 {
        self.graph.forward.kind(edge.index())
    }

    #[inline]
    fn event_of(&self, instance: u32) -> EventId {
        self.graph.forward.instances()[instance as usize].event
    }

    #[inline]
    fn is_expanded(&self, state: State) -> bool {
        self.open.as_ref().is_none_or(|open| !open.contains(state.index()))
    }

    #[inline]
    fn prefetch_offset(&self, state: State) {
        self.graph.forward.prefetch_offset(NodeId(state.0));
    }

    #[inline]
    fn prefetch_row(&self, state: State) {
        self.graph.forward.prefetch_row(NodeId(state.0));
    }

    fn is_complete(&self) -> bool {
        self.open.is_none() && self.graph.all_initial
    }
}
