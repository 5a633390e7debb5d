//! The product of graph and automaton, never built: nodes are numbers, edges are regenerated.
//!
//! In: a graph, an alphabet, an automaton. Out: the successors of a node, and whether a path may stop
//! there. Never here: search order, components.

use super::alphabet::Alphabet;
use super::atoms::Truth;
use super::automaton::Automaton;
use super::path::End;
use super::view::{Edge, Graph, State};

/// The nodes of a control have consecutive numbers, in the order of the states.
///
/// PERF: controls that no search for components enters leave the pages of their numbers untouched, and the
/// others do not share cache lines with them.
pub(super) struct Product<'a, G> {
    pub graph: &'a G,
    alphabet: &'a Alphabet,
    pub automaton: &'a Automaton,
    states: u32,
    /// 2^63 / `states`, rounded up: a multiplication instead of a division.
    reciprocal: u64,
    /// Something in graph or automaton is unknown.
    unsure: bool,
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
    used: u32,
}

/// A node whose successors are being enumerated.
///
/// PERF: what is needed again for every successor is kept here, so that a step costs one look-up of a
/// letter per transition of the graph; a search keeps one of these and parks the others as cursors.
pub(super) struct Active {
    pub node: u32,
    control: u32,
    class: u32,
    first: u64,
    /// The transition that comes next, and the end of them.
    edge: u64,
    end: u64,
    /// Moves left for the transition before `edge`.
    at: u32,
    stop: u32,
    used: u32,
    target: State,
}

/// States with more transitions than this are wide.
const WIDE: u64 = 24;

impl Active {
    /// Whether it would take long to find a successor again by going through all of them.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.end - self.first > WIDE
    }
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
        let states = graph.states() as u32;
        Product {
            graph,
            alphabet,
            automaton,
            states,
            reciprocal: (1 << 63) / u64::from(states.max(1)) + 1,
            unsure: !graph.is_complete() || automaton.any_unsure(),
        }
    }

    /// All node numbers are below this.
    pub fn size(&self) -> u64 {
        self.graph.states() as u64 * u64::from(self.automaton.controls)
    }

    #[inline]
    pub fn node(&self, state: State, control: u32) -> u32 {
        control * self.states + state.0
    }

    #[inline]
    pub fn control(&self, node: u32) -> u32 {
        // Exact, for the product of two numbers below 2^31 is below 2^63.
        ((u128::from(node) * u128::from(self.reciprocal)) >> 63) as u32
    }

    #[inline]
    pub fn state(&self, node: u32) -> State {
        State(node - self.control(node) * self.states)
    }

    /// The order among nodes that are equally near: by state, then by control.
    pub fn rank(&self, node: u32) -> (State, u32) {
        let control = self.control(node);
        (State(node - control * self.states), control)
    }

    /// Whether an accepting cycle may pass through `node`, as far as the automaton tells.
    #[inline]
    pub fn is_cyclic(&self, node: u32) -> bool {
        self.automaton.is_cyclic(self.control(node))
    }

    /// Asks for what `prefetch_row` and `visit` read first.
    #[inline]
    pub fn prefetch_offset(&self, node: u32) {
        let state = self.state(node);
        self.graph.prefetch_offset(state);
        self.alphabet.prefetch(state);
    }

    /// Asks for the transitions behind `node`.
    #[inline]
    pub fn prefetch_row(&self, node: u32) {
        self.graph.prefetch_row(self.state(node));
    }

    pub fn initial(&self) -> impl Iterator<Item = u32> + '_ {
        self.graph.initial().iter().map(|&s| self.node(s, self.automaton.initial))
    }

    #[inline]
    pub fn visit(&self, node: u32) -> Visit {
        let control = self.control(node);
        let state = State(node - control * self.states);
        let class = self.alphabet.class(state);
        if self.automaton.is_discharged(control, class) {
            return Visit { stop: Some(End::Open), unsure: false };
        }
        if self.graph.is_deadlock(state) {
            let ends = self.automaton.ends(control, class);
            let stop = (ends == Truth::True).then_some(End::Deadlock);
            return Visit { stop, unsure: ends == Truth::Unknown };
        }
        let unsure = self.unsure
            && (!self.graph.is_expanded(state)
                || self.graph.edges(state).any(|e| {
                    self.automaton.is_unsure(control, self.alphabet.letter(self.graph, class, Edge(e)))
                }));
        Visit { stop: None, unsure }
    }

    /// Starts or resumes the enumeration of successors.
    #[inline]
    pub fn activate(&self, node: u32, cursor: Cursor) -> Active {
        let control = self.control(node);
        let state = State(node - control * self.states);
        let edges = self.graph.edges(state);
        let mut active = Active {
            node,
            control,
            class: self.alphabet.class(state),
            first: edges.start,
            edge: edges.start + u64::from(cursor.edge),
            end: edges.end,
            at: 0,
            stop: 0,
            used: cursor.used,
            target: state,
        };
        if cursor.edge > 0 {
            active.edge -= 1;
            self.begin(&mut active);
            active.at += cursor.used;
            active.used = cursor.used;
        }
        active
    }

    /// Parks the enumeration.
    #[inline]
    pub fn park(&self, active: &Active) -> Cursor {
        Cursor { edge: (active.edge - active.first) as u32, used: active.used }
    }

    #[inline]
    fn begin(&self, active: &mut Active) {
        let edge = Edge(active.edge);
        let letter = self.alphabet.letter(self.graph, active.class, edge);
        (active.at, active.stop) = self.automaton.range(active.control, letter);
        active.used = 0;
        active.target = self.graph.target(edge);
        active.edge += 1;
    }

    /// The next successor.
    #[inline]
    pub fn advance(&self, active: &mut Active) -> Option<Step> {
        while active.at == active.stop {
            if active.edge == active.end {
                return None;
            }
            self.begin(active);
        }
        let m = self.automaton.move_at(active.at);
        active.at += 1;
        active.used += 1;
        Some(Step {
            edge: Edge(active.edge - 1),
            node: self.node(active.target, m.control),
            postponed: m.postponed,
        })
    }

    /// The nodes of the transitions that lie ahead, if the automaton stays where it is.
    #[inline]
    pub fn ahead(&self, active: &Active) -> impl Iterator<Item = u32> {
        let control = active.control;
        (active.edge..active.end).map(move |e| self.node(self.graph.target(Edge(e)), control))
    }

    /// The transitions of `state` that leave `control` for another one, and where they lead.
    #[inline]
    pub fn exits(&self, state: State, control: u32) -> impl Iterator<Item = u32> {
        let class = self.alphabet.class(state);
        self.graph.edges(state).flat_map(move |e| {
            let (at, stop) = self.automaton.range(control, self.alphabet.letter(self.graph, class, Edge(e)));
            let others = (at..stop).map(|m| self.automaton.move_at(m).control).filter(move |c| *c != control);
            others.map(move |c| self.node(self.graph.target(Edge(e)), c))
        })
    }

    /// All successors of `node`, in order.
    #[inline]
    pub fn successors(&self, node: u32) -> impl Iterator<Item = Step> + '_ {
        let mut active = self.activate(node, Cursor::default());
        std::iter::from_fn(move || self.advance(&mut active))
    }
}
