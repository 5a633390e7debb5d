//! Small graphs written as text, and random ones, for the tests of this module.
//!
//! A transition is written `0 -a-> 1`, or `0 -a(2)-> 1` with an argument; a predicate is a letter that
//! stands for a set of states. The argument of a transition is its label.

use super::atoms::{Atoms, Bound, Extent, Faults, Special, Truth};
use super::bits::Bits;
use super::check::{Checker, Engine, Verdict};
use super::formula::{Change, Pattern, Text};
use super::parse::parse_ltl;
use super::token::Place;
use super::view::{Arc, Edge, Explicit, Graph, State};
use bombus_base::budget::Budget;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::span::{FileId, Span};
pub use bombus_kernels::random::Random;
use bombus_system::EventId;
use std::collections::BTreeMap;

pub const HERE: Place = Place { file: FileId(0), offset: 0 };

pub struct World {
    pub graph: Explicit,
    pub events: Vec<String>,
    pub propositions: BTreeMap<String, Vec<u32>>,
    /// States in which no predicate and no argument can be evaluated.
    pub undefined: Vec<u32>,
}

impl World {
    /// Transitions separated by `;` (a lone number is a state), initial state 0, and sets of states:
    /// `World::new("0 -a-> 1; 1 -b-> 1", &[("p", &[1])])`.
    pub fn new(transitions: &str, propositions: &[(&str, &[u32])]) -> Self {
        World::starting(&[0], transitions, propositions)
    }

    pub fn starting(initial: &[u32], transitions: &str, propositions: &[(&str, &[u32])]) -> Self {
        let mut events: Vec<String> = Vec::new();
        let mut arcs = Vec::new();
        let mut states = 0;
        for part in transitions.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let Some((source, rest)) = part.split_once(" -") else {
                states = states.max(part.parse::<u32>().unwrap() + 1);
                continue;
            };
            let (action, target) = rest.split_once("-> ").unwrap();
            let (name, label) = match action.split_once('(') {
                Some((name, label)) => (name, label.trim_end_matches(')').parse().unwrap()),
                None => (action, 0),
            };
            let event = events.iter().position(|e| e == name).unwrap_or_else(|| {
                events.push(name.to_string());
                events.len() - 1
            });
            let (source, target): (u32, u32) =
                (source.trim().parse().unwrap(), target.trim().parse().unwrap());
            states = states.max(source + 1).max(target + 1);
            arcs.push(Arc { source, event: event as u32, label, target });
        }
        World {
            graph: Explicit::new(states as usize, initial, arcs),
            events,
            propositions: propositions.iter().map(|(name, set)| (name.to_string(), set.to_vec())).collect(),
            undefined: Vec::new(),
        }
    }

    pub fn check(&self, formula: &str) -> Verdict {
        self.check_by(Engine::Automaton, formula)
    }

    pub fn check_by(&self, engine: Engine, formula: &str) -> Verdict {
        let parsed = parse_ltl(formula, HERE).unwrap_or_else(|f| panic!("{formula}: {}", f[0].message));
        let budget = Budget::unlimited();
        let mut checker = Checker::new(&self.graph, self, &budget).with_engine(engine);
        checker.check(&parsed.formula).unwrap_or_else(|f| panic!("{formula}: {}", f[0].message))
    }

    /// Both engines give this word.
    pub fn expect(&self, formula: &str, word: &str) {
        for engine in [Engine::Automaton, Engine::Tableau] {
            assert_eq!(self.check_by(engine, formula).word(), word, "{formula} by {engine:?}");
        }
    }

    fn unknown(&self, state: usize) -> bool {
        self.undefined.contains(&(state as u32))
    }

    fn truth(&self, name: &str, state: usize) -> Truth {
        if self.unknown(state) {
            return Truth::Unknown;
        }
        self.propositions[name].contains(&(state as u32)).into()
    }
}

impl Atoms for World {
    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn predicate(&self, predicate: &Text, _bound: &[Bound]) -> Result<Extent, Faults> {
        if !self.propositions.contains_key(&predicate.text) {
            return Err(vec![Diagnostic::error(predicate.span, "unknown identifier")]);
        }
        Ok(Extent::from_fn(self.graph.states(), |s| self.truth(&predicate.text, s)))
    }

    fn matching(&self, event: EventId, pattern: &Pattern, bound: &[Bound]) -> Result<Extent, Faults> {
        let argument = pattern.arguments[0].as_ref().expect("plain patterns are not asked for");
        let value = bound.iter().find(|b| b.variable == argument.text).map_or(&argument.text, |b| &b.shown);
        let label: u64 = value.parse().map_err(|_| vec![Diagnostic::error(argument.span, "not a number")])?;
        let mut all = vec![Truth::False; self.graph.transitions() as usize];
        for s in 0..self.graph.states() {
            for edge in self.graph.edges(State(s as u32)).map(Edge) {
                all[edge.index()] = match self.graph.event(edge) == event {
                    true if self.unknown(s) => Truth::Unknown,
                    of_event => (of_event && self.graph.label(edge) == label).into(),
                };
            }
        }
        Ok(Extent::from_fn(all.len(), |e| all[e]))
    }

    fn change(&self, change: Change, text: &Text, _bound: &[Bound]) -> Result<Extent, Faults> {
        let mut all = vec![Truth::False; self.graph.transitions() as usize];
        for s in 0..self.graph.states() {
            for e in self.graph.edges(State(s as u32)) {
                let (before, after) =
                    (self.truth(&text.text, s), self.truth(&text.text, self.graph.target(Edge(e)).index()));
                all[e as usize] = match change {
                    _ if before == Truth::Unknown || after == Truth::Unknown => Truth::Unknown,
                    Change::Unchanged => (before == after).into(),
                    Change::Changed => (before != after).into(),
                    Change::Increasing => (before < after).into(),
                    Change::Decreasing | Change::BeforeAfter => (before > after).into(),
                };
            }
        }
        Ok(Extent::from_fn(all.len(), |e| all[e]))
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        match (which, self.propositions.get("goal")) {
            (Special::Goal, Some(set)) => {
                Ok(Extent::known(Bits::from_fn(self.graph.states(), |s| set.contains(&(s as u32)))))
            }
            _ => Err(vec![Diagnostic::error(at, "the machine has no such thing")]),
        }
    }

    fn solutions(&self, variable: &str, domain: &Text, _bound: &[Bound]) -> Result<Vec<Bound>, Faults> {
        let numbers = domain.text.split(',').map(|n| n.trim().parse::<u32>());
        numbers
            .map(|n| match n {
                Ok(n) => Ok(Bound { variable: variable.into(), value: n, shown: n.to_string() }),
                Err(_) => Err(vec![Diagnostic::error(domain.span, "not a number")]),
            })
            .collect()
    }
}
