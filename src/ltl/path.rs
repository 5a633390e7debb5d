//! Paths through the graph: finite ones, lassos, and prefixes that refute a formula already.
//!
//! In: built by the searches. Out: what a counterexample is made of. Never here: formulas.

use super::view::{Edge, Graph, State};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last state has no successor.
    Deadlock,
    /// The last transition leads back to this position.
    Loop(usize),
    /// Whatever follows, the formula is already refuted.
    Open,
}

/// States in order and the transitions taken there. A lasso has as many transitions as states, any
/// other path one less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub states: Vec<State>,
    pub edges: Vec<Edge>,
    pub end: End,
}

impl Path {
    /// Position by position: the state and the transition taken there, if any.
    pub fn steps(&self) -> impl Iterator<Item = (State, Option<Edge>)> + '_ {
        self.states.iter().enumerate().map(|(i, &s)| (s, self.edges.get(i).copied()))
    }

    /// The same infinite path with the loop entered `times` rounds later.
    pub fn unrolled(&self, times: usize) -> Path {
        let End::Loop(entry) = self.end else { return self.clone() };
        let mut path = self.clone();
        for _ in 0..times {
            path.states.extend_from_slice(&self.states[entry..]);
            path.edges.extend_from_slice(&self.edges[entry..]);
        }
        path.end = End::Loop(entry + times * (self.states.len() - entry));
        path
    }

    /// The same infinite path with the shortest loop, entered as early as possible.
    pub fn reduced(mut self) -> Path {
        let End::Loop(mut entry) = self.end else { return self };
        let round: Vec<(State, Edge)> =
            self.states[entry..].iter().copied().zip(self.edges[entry..].iter().copied()).collect();
        let len = round.len();
        let period = (1..=len)
            .find(|p| len.is_multiple_of(*p) && (*p..len).all(|i| round[i] == round[i - p]))
            .unwrap_or(len);
        let mut end = entry + period;
        // A step before the loop that the loop repeats at its end belongs to the loop.
        while entry > 0
            && (self.states[entry - 1], self.edges[entry - 1]) == (self.states[end - 1], self.edges[end - 1])
        {
            entry -= 1;
            end -= 1;
        }
        self.states.truncate(end);
        self.edges.truncate(end);
        self.end = End::Loop(entry);
        self
    }

    /// Why this is not a maximal path of the graph (or a prefix of one), if it is not.
    pub fn fault<G: Graph>(&self, graph: &G) -> Option<String> {
        let (Some(first), Some(&last)) = (self.states.first(), self.states.last()) else {
            return Some("the path is empty".into());
        };
        if !graph.initial().contains(first) {
            return Some("the path does not start in an initial state".into());
        }
        let back = match self.end {
            End::Loop(entry) if entry >= self.states.len() => return Some("the loop has no entry".into()),
            End::Loop(entry) => Some(self.states[entry]),
            End::Deadlock if !graph.is_deadlock(last) => return Some("the last state is no deadlock".into()),
            End::Deadlock | End::Open => None,
        };
        let targets: Vec<State> = self.states[1..].iter().copied().chain(back).collect();
        if targets.len() != self.edges.len() {
            return Some("the number of transitions is wrong".into());
        }
        for (i, (edge, target)) in self.edges.iter().zip(targets).enumerate() {
            if !graph.edges(self.states[i]).contains(&edge.0) || graph.target(*edge) != target {
                return Some(format!("there is no such transition at position {i}"));
            }
        }
        None
    }
}
