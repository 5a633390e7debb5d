//! The product of graph and automaton, never built: nodes are numbers, edges are regenerated.
//!
//! In: a graph, an alphabet, an automaton. Out: the successors of a node, and whether a path may stop
//! there. Never here: search order, components.

use super::alphabet::Alphabet;
use super::atoms::Truth;
use super::automaton::Automaton;
use super::path::End;
use super::view::{Edge, Graph, State};

pub(super) struct Product<'a, G> {
    pub graph: &'a G,
    alphabet: &'a Alphabet,
    pub automaton: &'a Automaton,
}

/// A transition of the product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub edge: Edge,
    pub node: u32,
    pub postponed: u64,
}

/// Where the enumeration of a node's successors stands; small, because search stacks are made of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    /// Transitions of the state that were begun.
    edge: u32,
    /// Moves of the automaton that were used up for the last of them.
    at: u32,
}

/// What a node is for a search.
pub(super) struct Visit {
    /// A path may stop here: the obligations are met.
    pub stop: Option<End>,
    /// Something unknown was met: an unexpanded state, an unevaluated atom.
    pub unsure: bool,
}

impl<'a, G: Graph> Product<'a, G> {
    pub fn new(graph: &'a G, alphabet: &'a Alphabet, automaton: &'a Automaton) -> Self {
        Product { graph, alphabet, automaton }
    }

    /// All node numbers are below this.
    pub fn size(&self) -> u64 {
        self.graph.states() as u64 * u64::from(self.automaton.controls)
    }

    #[inline]
    fn node(&self, state: State, control: u32) -> u32 {
        state.0 * self.automaton.controls + control
    }

    #[inline]
    pub fn state(&self, node: u32) -> State {
        State(node / self.automaton.controls)
    }

    pub fn initial(&self) -> impl Iterator<Item = u32> + '_ {
        self.graph.initial().iter().map(|&s| self.node(s, self.automaton.initial))
    }

    pub fn visit(&self, node: u32) -> Visit {
        let state = self.state(node);
        let control = node % self.automaton.controls;
        let class = self.alphabet.class(state);
        if self.automaton.is_discharged(control, class) {
            return Visit { stop: Some(End::Open), unsure: false };
        }
        if self.graph.is_deadlock(state) {
            let ends = self.automaton.ends(control, class);
            let stop = (ends == Truth::True).then_some(End::Deadlock);
            return Visit { stop, unsure: ends == Truth::Unknown };
        }
        let unsure = !self.graph.is_expanded(state)
            || self.graph.edges(state).any(|e| {
                self.automaton.is_unsure(control, self.alphabet.letter(self.graph, class, Edge(e)))
            });
        Visit { stop: None, unsure }
    }

    /// The next successor of `node`.
    #[inline]
    pub fn next(&self, node: u32, cursor: &mut Cursor) -> Option<Step> {
        let (state, control) = (self.state(node), node % self.automaton.controls);
        let class = self.alphabet.class(state);
        let edges = self.graph.edges(state);
        loop {
            if cursor.edge > 0 {
                let edge = Edge(edges.start + u64::from(cursor.edge) - 1);
                let moves = self.automaton.moves(control, self.alphabet.letter(self.graph, class, edge));
                if let Some(m) = moves.get(cursor.at as usize) {
                    cursor.at += 1;
                    let node = self.node(self.graph.target(edge), m.control);
                    return Some(Step { edge, node, postponed: m.postponed });
                }
            }
            if edges.start + u64::from(cursor.edge) >= edges.end {
                return None;
            }
            cursor.edge += 1;
            cursor.at = 0;
        }
    }

    /// All successors of `node`, in order.
    pub fn successors(&self, node: u32) -> impl Iterator<Item = Step> + '_ {
        let mut cursor = Cursor::default();
        std::iter::from_fn(move || self.next(node, &mut cursor))
    }
}
