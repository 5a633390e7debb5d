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
    states: Divisor,
    /// States from this one on have no class.
    told: usize,
    jumps: Jumps,
    /// Something in graph or automaton is unknown.
    unsure: bool,
}

/// Divides by a fixed number: a multiplication instead of a division, three times for each edge.
struct Divisor {
    by: u32,
    /// 2^63 divided by it, at most 1 too large.
    reciprocal: u64,
}

impl Divisor {
    fn new(by: u32) -> Self {
        Divisor { by, reciprocal: (1 << 63) / u64::from(by.max(1)) + 1 }
    }

    /// Exact for numbers below 2^31: the reciprocal is too large by at most 1, so the quotient is by less than
    /// 2^31 / 2^63, and a fraction stays 1 / `by` away from the next quotient.
    #[inline]
    fn quotient(&self, n: u32) -> u32 {
        ((u128::from(n) * u128::from(self.reciprocal)) >> 63) as u32
    }
}

/// Where the moves of the automaton stand for a control, a class of states and a transition.
///
/// PERF: one look-up for each transition instead of three that wait for each other, as long as the table is
/// small enough to stay near.
enum Jumps {
    /// For each control and class a row of so many ranges, one for each instance; 0 if all have the same.
    Table {
        span: usize,
        ranges: Vec<(u32, u32)>,
    },
    Letters,
}

const MAX_JUMPS: usize = 1 << 15;

impl Jumps {
    fn new<G: Graph>(graph: &G, alphabet: &Alphabet, automaton: &Automaton) -> Self {
        let classes = alphabet.classes();
        let Some(span) = alphabet.span_of_instances(graph) else { return Jumps::Letters };
        if graph.instances() == 0 || automaton.controls as usize * classes * span.max(1) > MAX_JUMPS {
            return Jumps::Letters;
        }
        let mut ranges = Vec::new();
        for control in 0..automaton.controls {
            for class in 0..classes as u32 {
                let instances = 0..span.max(1) as u32;
                let letters = instances.map(|instance| alphabet.letter_of(class, instance));
                ranges.extend(letters.map(|l| l.map_or((0, 0), |letter| automaton.range(control, letter))));
            }
        }
        Jumps::Table { span, ranges }
    }

    /// Where the row of a control and a class begins.
    #[inline(always)]
    fn row(&self, alphabet: &Alphabet, control: u32, class: u32) -> usize {
        match self {
            Jumps::Table { span, .. } => {
                (control as usize * alphabet.classes() + class as usize) * (*span).max(1)
            }
            Jumps::Letters => 0,
        }
    }
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
    /// Its row of `Jumps`.
    row: usize,
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
        Product {
            graph,
            alphabet,
            automaton,
            states: Divisor::new(graph.states() as u32),
            told: graph.told(),
            jumps: Jumps::new(graph, alphabet, automaton),
            unsure: !graph.is_complete() || automaton.any_unsure(),
        }
    }

    /// All node numbers are below this.
    pub fn size(&self) -> u64 {
        self.graph.states() as u64 * u64::from(self.automaton.controls)
    }

    /// The numbers of all nodes that are reached from a cyclic one are below this.
    pub fn searched(&self) -> u64 {
        self.graph.states() as u64 * u64::from(self.automaton.searched)
    }

    #[inline]
    pub fn node(&self, state: State, control: u32) -> u32 {
        control * self.states.by + state.0
    }

    #[inline]
    pub fn control(&self, node: u32) -> u32 {
        self.states.quotient(node)
    }

    #[inline]
    pub fn state(&self, node: u32) -> State {
        State(node - self.control(node) * self.states.by)
    }

    /// The order among nodes that are equally near: by state, then by control.
    pub fn rank(&self, node: u32) -> (State, u32) {
        let control = self.control(node);
        (State(node - control * self.states.by), self.automaton.rank(control))
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

    #[inline(always)]
    pub fn visit(&self, node: u32) -> Visit {
        let control = self.control(node);
        let state = State(node - control * self.states.by);
        if state.index() >= self.told {
            return Visit { stop: None, unsure: true };
        }
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
    #[inline(always)]
    pub fn activate(&self, node: u32, cursor: Cursor) -> Active {
        let control = self.control(node);
        let state = State(node - control * self.states.by);
        let edges = self.graph.edges(state);
        let class = self.alphabet.class(state);
        let mut active = Active {
            node,
            control,
            class,
            row: self.jumps.row(self.alphabet, control, class),
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
    #[inline(always)]
    pub fn park(&self, active: &Active) -> Cursor {
        Cursor { edge: (active.edge - active.first) as u32, used: active.used }
    }

    /// The moves of the automaton for a transition.
    #[inline(always)]
    fn moves(&self, control: u32, class: u32, row: usize, edge: Edge) -> (u32, u32) {
        match &self.jumps {
            Jumps::Table { span: 0, ranges } => ranges[row],
            Jumps::Table { ranges, .. } => ranges[row + self.graph.instance(edge) as usize],
            Jumps::Letters => self.automaton.range(control, self.alphabet.letter(self.graph, class, edge)),
        }
    }

    #[inline(always)]
    fn begin(&self, active: &mut Active) {
        let edge = Edge(active.edge);
        (active.at, active.stop) = self.moves(active.control, active.class, active.row, edge);
        active.used = 0;
        active.target = self.graph.target(edge);
        active.edge += 1;
    }

    /// The next successor.
    #[inline(always)]
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

    /// Asks for where the rows of the successors begin, and tells their nodes if the automaton stays where
    /// it is.
    #[inline]
    pub fn ahead(&self, active: &Active, mut tell: impl FnMut(u32)) {
        for target in (active.edge..active.end).map(|e| self.graph.target(Edge(e))) {
            self.graph.prefetch_offset(target);
            tell(self.node(target, active.control));
        }
    }

    /// Tells where the transitions of `state` lead that leave `control` for another one.
    #[inline]
    pub fn exits(&self, state: State, control: u32, mut tell: impl FnMut(u32)) {
        let class = self.alphabet.class(state);
        let row = self.jumps.row(self.alphabet, control, class);
        for e in self.graph.edges(state).map(Edge) {
            let (at, stop) = self.moves(control, class, row, e);
            for other in (at..stop).map(|m| self.automaton.move_at(m).control).filter(|c| *c != control) {
                tell(self.node(self.graph.target(e), other));
            }
        }
    }

    /// All successors of `node`, in order.
    #[inline]
    pub fn successors(&self, node: u32) -> impl Iterator<Item = Step> + '_ {
        let mut active = self.activate(node, Cursor::default());
        std::iter::from_fn(move || self.advance(&mut active))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_by_multiplication_is_the_quotient() {
        const MOST: u32 = (1 << 31) - 1;
        let mut divisors: Vec<u32> = (1..2000).chain((0..31).map(|bit| 1 << bit)).collect();
        divisors.extend([3 << 20, 1_048_575, 1_048_577, 1_000_003, MOST / 2, MOST / 3, MOST - 1, MOST]);
        for by in divisors {
            let divisor = Divisor::new(by);
            let multiples = (0..40).chain(MOST / by - (MOST / by).min(40)..=MOST / by);
            for n in multiples.filter_map(|k| by.checked_mul(k)) {
                for n in [n.saturating_sub(1), n, n + 1].into_iter().filter(|n| *n <= MOST) {
                    assert_eq!(divisor.quotient(n), n / by, "{n} / {by}");
                }
            }
        }
    }
}
