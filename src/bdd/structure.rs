//! The reached states and learned steps as a graph: what comes before a set, and single steps from single states.
//!
//! In: a search that has come to its end. Out: sets of predecessors, facts about states, successors one by one.
//! Never here: formulas.

use super::claim::Fact;
use super::diagram::{Halted, Set};
use super::learn::{Heard, Learner};
use super::orbit::Orbits;
use super::xi::Xi;
use bombus_system::{EventId, System};

pub struct Structure<'a, 's, S: System> {
    pub learner: &'a Learner<'s, S>,
    /// The states, all of whose steps are known.
    pub states: Set,
    pub initial: Set,
    /// The states without a step.
    pub dead: Set,
    /// By proposition: the states in which it holds.
    pub propositions: Vec<Set>,
    /// With a symmetry under which a state stands for its orbit: then a step into the orbit of a state leads to it.
    pub quotient: Option<Quotient<'a>>,
}

/// Who knows the images of kept states.
pub enum Quotient<'a> {
    Orbits(&'a Orbits),
    Xi(&'a Xi),
}

/// One step from a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub event: EventId,
    pub label: u64,
    pub instance: u32,
    pub target: Vec<u64>,
}

impl<'a, 's, S: System> Structure<'a, 's, S> {
    pub fn new(
        learner: &'a Learner<'s, S>,
        states: Set,
        initial: Set,
        propositions: Vec<Set>,
    ) -> Halted<Self> {
        let mut dead = states.clone();
        for step in &learner.steps {
            dead = dead.without(&step.enabled)?;
        }
        Ok(Structure { learner, states, initial, dead, propositions, quotient: None })
    }

    /// The states from which one of some instances leads into a set, and no others.
    pub fn before(&self, instances: impl Fn(usize) -> bool, set: &Set) -> Halted<Set> {
        let closed = match &self.quotient {
            Some(Quotient::Orbits(orbits)) => &orbits.close(set, None, self.learner.diagrams)?,
            Some(Quotient::Xi(xi)) => &xi.images(set)?,
            None => set,
        };
        let mut all = Vec::new();
        for (_, step) in self.learner.steps.iter().enumerate().filter(|(i, _)| instances(*i)) {
            self.learner.diagrams.check()?;
            all.push(step.preimage(closed)?);
        }
        self.learner.diagrams.union(all)?.and(&self.states)
    }

    /// The states in which one of some instances is enabled.
    pub fn enabled(&self, instances: impl Fn(usize) -> bool) -> Halted<Set> {
        let steps = self.learner.steps.iter().enumerate().filter(|(i, _)| instances(*i));
        let all = self.learner.diagrams.union(steps.map(|(_, s)| s.enabled.clone()).collect())?;
        all.and(&self.states)
    }

    /// The states with a fact.
    pub fn fact(&self, fact: &Fact) -> Halted<Set> {
        match fact {
            Fact::Holds(n) => Ok(self.propositions[*n].and(&self.states)?),
            Fact::Enabled(instances) => self.enabled(|i| instances.contains(&(i as u32))),
            Fact::Deadlock => Ok(self.dead.clone()),
            Fact::Initial => Ok(self.initial.clone()),
            Fact::Sink => {
                let mut rest = self.states.clone();
                for step in &self.learner.steps {
                    rest = rest.without(&step.moving(self.learner.encoding, self.learner.diagrams)?)?;
                }
                Ok(rest)
            }
        }
    }

    /// A single state as a set.
    pub fn single(&self, state: &[u64]) -> Halted<Set> {
        let (encoding, diagrams) = (self.learner.encoding, self.learner.diagrams);
        let at = encoding.assignment(state);
        diagrams.cube(encoding.current.iter().map(|v| (*v, at[*v as usize])))
    }

    pub fn has(&self, set: &Set, state: &[u64]) -> bool {
        set.has(&self.learner.encoding.assignment(state))
    }

    /// All steps from a state, in the order of events and labels.
    pub fn edges(&self, worker: &mut S::Worker, state: &[u64]) -> Vec<Edge> {
        let system = self.learner.system;
        let mut heard = Heard::default();
        heard.look_at(Some(state));
        system.successors(worker, state, &mut heard);
        let edge = |(event, label, target): &(EventId, u64, Vec<u64>)| {
            let instance = system.instance(*event, *label)?.0;
            Some(Edge { event: *event, label: *label, instance, target: target.clone() })
        };
        let mut edges: Vec<Edge> = heard.edges().iter().filter_map(edge).collect();
        edges.sort_unstable();
        edges
    }
}

/// The states from which one can come into `to` by states of `through`, ring by ring: the first ring is `to`, each later
/// one holds what is new. `before` gives predecessors; `enough` ends the search early.
pub fn rings(
    through: &Set,
    to: &Set,
    before: impl Fn(&Set) -> Halted<Set>,
    enough: impl Fn(&Set) -> Halted<bool>,
) -> Halted<Vec<Set>> {
    let mut all = to.clone();
    let mut rings = vec![to.clone()];
    loop {
        let last = &rings[rings.len() - 1];
        if last.is_empty() || enough(last)? {
            return Ok(rings);
        }
        let next = before(last)?.and(through)?.without(&all)?;
        all = all.or(&next)?;
        rings.push(next);
    }
}

/// The same states as one set.
pub fn until(through: &Set, to: &Set, before: impl Fn(&Set) -> Halted<Set>) -> Halted<Set> {
    let mut all = to.clone();
    let mut last = to.clone();
    while !last.is_empty() {
        last = before(&last)?.and(through)?.without(&all)?;
        all = all.or(&last)?;
    }
    Ok(all)
}

/// The largest subset all of whose members belong to `ends` or have a successor in it.
pub fn always(inside: &Set, ends: &Set, before: impl Fn(&Set) -> Halted<Set>) -> Halted<Set> {
    let mut kept = inside.clone();
    loop {
        let next = before(&kept)?.or(ends)?.and(&kept)?;
        if next == kept {
            return Ok(kept);
        }
        kept = next;
    }
}
