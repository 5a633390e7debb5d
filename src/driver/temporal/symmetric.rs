//! Formulas under symmetry: which of them may be decided on orbits, and executions out of paths of orbits.
//!
//! In: formulas; then a path in a graph whose nodes are orbits. Out: what in a formula tells states of one
//! orbit apart; a path of states that go through these orbits, a loop included. Never here: canonical forms.
//!
//! A permutation of elements maps transitions to transitions of the same event, so orbits and states
//! satisfy the same formulas over events and over predicates that name no interchangeable element. What is
//! named in a predicate is no longer interchangeable, so only the rest of a formula is looked at here.
//!
//! A loop of orbits comes back to the orbit it began in, but not to the state. Going on, it comes back to
//! the state in the end, since the permutation between the two has a power that does nothing.

use super::Logic;
use crate::explore::{Step, Trace};
use crate::graph::Graph;
use crate::ltl::ctl_parse::{Ctl, CtlKind, Temporal};
use crate::ltl::formula::{Atom, Formula, Kind};
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path};
use crate::ltl::view::Graph as _;
use crate::program::{Program, Worker};
use crate::system::{EventId, Finding, Orbits, Precision, Sink, System};
use std::collections::HashSet;

const ARGUMENTS: &str = "an argument of an operation may name a single element of a symmetric set";
const QUANTIFIER: &str = "a quantifier goes through the single elements of a set";
const INSTANCES: &str = "fairness of each choice of arguments speaks of single elements";
const CHANGE: &str = "the states before and after a step are renamed each in its own way";
const NUMBER: &str = "how many steps there are, and which lead to the same state, is not preserved";

/// Why a formula may not be decided on orbits; none if it may.
pub(super) fn obstacle(formula: &Logic) -> Option<&'static str> {
    match formula {
        Logic::Ltl(f) => in_ltl(f),
        Logic::Ctl(f) => in_ctl(f),
    }
}

fn in_ltl(formula: &Formula) -> Option<&'static str> {
    match &formula.kind {
        Kind::Constant(_) => None,
        Kind::Atom(atom) => in_atom(atom),
        Kind::Unary(_, f) => in_ltl(f),
        Kind::Binary(_, f, g) => in_ltl(f).or_else(|| in_ltl(g)),
        Kind::Quantified { .. } => Some(QUANTIFIER),
        Kind::Fair(_, _) if formula.features().fairness_of_instances => Some(INSTANCES),
        Kind::Fair(_, f) => in_ltl(f),
    }
}

fn in_ctl(formula: &Ctl) -> Option<&'static str> {
    match &formula.kind {
        CtlKind::Constant(_) => None,
        CtlKind::Atom(atom) => in_atom(atom),
        CtlKind::Not(f) => in_ctl(f),
        CtlKind::And(f, g) | CtlKind::Or(f, g) | CtlKind::Implies(f, g) => in_ctl(f).or_else(|| in_ctl(g)),
        CtlKind::Path(_, temporal) => match temporal {
            Temporal::Next(Some(pattern), _) if !pattern.is_plain() => Some(ARGUMENTS),
            Temporal::Next(_, f) | Temporal::Finally(f) | Temporal::Globally(f) => in_ctl(f),
            Temporal::Until(f, g) => in_ctl(f).or_else(|| in_ctl(g)),
        },
    }
}

fn in_atom(atom: &Atom) -> Option<&'static str> {
    match atom {
        Atom::Predicate(_) | Atom::Goal | Atom::Deadlock => None,
        Atom::Enabled(_)
        | Atom::Executed(_)
        | Atom::NoneEnabled(_)
        | Atom::AtMostOne(_)
        | Atom::ExactlyOne(_) => atom.patterns().iter().any(|p| !p.is_plain()).then_some(ARGUMENTS),
        Atom::Change(..) => Some(CHANGE),
        Atom::Sink | Atom::NonDet | Atom::DetOutput | Atom::StateError | Atom::Current => Some(NUMBER),
    }
}

/// A path as an execution.
pub struct Execution {
    /// With the state that closes a loop.
    pub trace: Trace,
    /// For each state of the trace but a closing one, its position on the path.
    pub positions: Vec<usize>,
    pub loop_start: Option<usize>,
}

/// States that may be met on the way round a loop before it is given up.
const MOST_MET: usize = 200_000;

/// An execution through the orbits of a path; an error says why none was found.
pub fn unfold(program: &Program, graph: &Graph, frozen: &Frozen, path: &Path) -> Result<Execution, String> {
    let Some(orbits) = program.orbits() else { return Err("there are no orbits".into()) };
    let mut guide = Guide { program, orbits, worker: program.replay_worker() };
    let mut wanted = Vec::new();
    for state in &path.states {
        let words = graph.state(frozen.node(*state)).ok_or("an orbit has no state")?;
        wanted.push(guide.identity(&words)?);
    }
    let event = |position: usize| frozen.event(path.edges[position]);
    let first = guide.next(None, &wanted[0])?.into_iter().next().ok_or("no initial state is in the orbit")?;
    let mut trace = vec![Step { event: None, label: 0, ..first }];
    let straight = match path.end {
        End::Loop(entry) => entry + 1,
        End::Deadlock | End::Open => path.states.len(),
    };
    for position in 1..straight {
        let from = Some((&trace[position - 1].state[..], event(position - 1)));
        let step = guide.next(from, &wanted[position])?.into_iter().next();
        trace.push(step.ok_or("no transition leads to the next orbit")?);
    }
    let mut positions: Vec<usize> = (0..straight).collect();
    let End::Loop(entry) = path.end else {
        return Ok(Execution { trace, positions, loop_start: None });
    };
    let round = guide.round(trace[entry].state.clone(), entry, &wanted, event)?;
    positions.extend(round.iter().map(|(_, position)| *position));
    positions.pop();
    trace.extend(round.into_iter().map(|(step, _)| step));
    Ok(Execution { trace, positions, loop_start: Some(entry) })
}

/// Finds transitions by the orbits they lead to.
struct Guide<'p, 'm> {
    program: &'p Program<'m>,
    orbits: Box<dyn Orbits + 'p>,
    worker: Worker<'m>,
}

impl Guide<'_, '_> {
    fn identity(&mut self, state: &[u64]) -> Result<Vec<u64>, String> {
        let mut identity = vec![0; self.orbits.words()];
        match self.orbits.identity(state, &mut identity) {
            Precision::Exact => Ok(identity),
            Precision::Approximate => Err("orbits are told apart only approximately".into()),
        }
    }

    /// The transitions of an event from a state into an orbit, or the initial states in it; the least
    /// first, one for each target.
    fn next(&mut self, from: Option<(&[u64], EventId)>, wanted: &[u64]) -> Result<Vec<Step>, String> {
        let mut edges = Edges { only: from.map(|(_, event)| event), steps: Vec::new() };
        match from {
            None => self.program.initial(&mut self.worker, &mut edges),
            Some((state, _)) => self.program.successors(&mut self.worker, state, &mut edges),
        }
        let mut found = Vec::new();
        for step in edges.steps {
            if self.identity(&step.state)? == wanted {
                // Words that stand for values of a pool are not the same in every run.
                let print = self.program.fingerprint(&mut self.worker, &step.state);
                found.push((step.label, print, step));
            }
        }
        found.sort_by(|a, b| (a.0, a.1, &a.2.state).cmp(&(b.0, b.1, &b.2.state)));
        let mut seen = HashSet::new();
        found.retain(|(_, _, step)| seen.insert(step.state.clone()));
        Ok(found.into_iter().map(|(_, _, step)| step).collect())
    }

    /// The shortest way from a state at the entry of a loop of orbits to itself, each step with its
    /// position on the path.
    fn round(
        &mut self,
        start: Vec<u64>,
        entry: usize,
        wanted: &[Vec<u64>],
        event: impl Fn(usize) -> EventId,
    ) -> Result<Vec<(Step, usize)>, String> {
        // Each state that was met, its position, and where it was met from.
        let mut met: Vec<(Step, usize, usize)> =
            vec![(Step { event: None, label: 0, state: start.clone() }, entry, 0)];
        let mut seen = HashSet::new();
        let mut at = 0;
        while at < met.len() {
            if met.len() > MOST_MET {
                return Err("the loop of orbits takes too long to close as a loop of states".into());
            }
            let (state, position) = (met[at].0.state.clone(), met[at].1);
            let next = if position + 1 < wanted.len() { position + 1 } else { entry };
            for step in self.next(Some((&state, event(position))), &wanted[next])? {
                let closes = next == entry && step.state == start;
                if closes {
                    let mut way = vec![(step, entry)];
                    let mut back = at;
                    while back != 0 {
                        way.push((met[back].0.clone(), met[back].1));
                        back = met[back].2;
                    }
                    way.reverse();
                    return Ok(way);
                }
                if seen.insert((next, step.state.clone())) {
                    met.push((step, next, at));
                }
            }
            at += 1;
        }
        Err("a loop of orbits does not close".into())
    }
}

/// Collects transitions.
struct Edges {
    /// Those of one event alone.
    only: Option<EventId>,
    steps: Vec<Step>,
}

impl Sink for Edges {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        if self.only.is_none_or(|only| only == event) {
            self.steps.push(Step { event: Some(event), label, state: target.to_vec() });
        }
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
