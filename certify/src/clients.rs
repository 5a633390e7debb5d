//! The machine alone as far as clients may call it: its own faults in calls that the abstractions allow, and its counts.
//!
//! In: a lock-step that meets states and calls. Out: faults of the machine itself, and how many states and steps there are. A machine may do
//! without end, or wrongly, what no client can ask it to do.
//! Never here: whether a call is allowed (`simulation`).

use crate::manifest::Counts;
use crate::player::{Ids, Results, Truth};
use crate::simulation::Simulation;
use bombus_oracle::exec::{Finding, Kind};
use std::collections::{BTreeSet, HashSet};

/// What was met of the machine alone: in one valuation of the constants, and in all before.
#[derive(Default)]
pub struct Alone {
    pub counts: Counts,
    states: HashSet<u32>,
    steps: HashSet<(u32, usize, Ids, Results, u32)>,
}

impl Simulation<'_> {
    /// The first states, and what goes wrong before them.
    pub(crate) fn begin_alone(&mut self, initial: u64, whole: bool, findings: &[Finding]) {
        let Some(alone) = &mut self.alone else { return };
        alone.counts.valuations += 1;
        alone.counts.initial += initial;
        let asked = |kind: Kind| kind != Kind::Assertion || self.asked.assertions;
        let wrong: Vec<_> = findings.iter().filter(|f| asked(f.kind)).collect();
        wrong.into_iter().for_each(|f| self.fault(f.kind, None, format!("{} {}", f.why, f.place)));
        if !whole {
            let words = "the initialisation leaves a variable without a value".to_string();
            self.fault(Kind::WellDefinedness, None, words);
        }
    }

    /// Invariant and assertions of the machine itself.
    pub(crate) fn look_alone(&mut self, c: u32) {
        if self.alone.as_mut().is_none_or(|alone| !alone.states.insert(c)) {
            return;
        }
        self.clauses_alone(c);
    }

    /// Which of its clauses a state of the machine breaks.
    pub(crate) fn clauses_alone(&mut self, c: u32) {
        let state = self.concretes.state(c);
        for (kind, condition, label) in self.clauses.clone() {
            match self.own.truth(&self.values, condition, &state) {
                Truth::Holds => {}
                Truth::False => self.fault(kind, None, format!("{label} is false; {}", self.shown(c))),
                Truth::Undefined(why) => {
                    self.fault(Kind::WellDefinedness, None, format!("{why} in {label}; {}", self.shown(c)));
                }
                Truth::Open(why) => self.open.enter(&format!("{} {label}: {why}", kind.word()), String::new),
            }
        }
    }

    /// What goes wrong in a call.
    pub(crate) fn call_alone(&mut self, e: usize, c: u32, params: &Ids) {
        let state = self.concretes.state(c);
        let moves = self.own.moves(&mut self.values, self.events[e].own.step, &state, Some(params));
        for f in &moves.findings {
            if f.kind != Kind::Assertion || self.asked.assertions {
                self.fault(f.kind, Some(e), format!("{} {}; {}", f.why, f.place, self.shown(c)));
            }
        }
        if let Some(why) = moves.undefined.as_ref().filter(|_| self.asked.strict_guards) {
            self.fault(Kind::WellDefinedness, Some(e), format!("{why} in a guard; {}", self.shown(c)));
        }
    }

    pub(crate) fn step_alone(&mut self, c: u32, e: usize, params: &Ids, results: &Results, next: u32) {
        if let Some(alone) = &mut self.alone {
            alone.steps.insert((c, e, params.clone(), results.clone(), next));
        }
    }

    /// A state in which no call does anything.
    pub(crate) fn quiet_alone(&mut self, c: u32) {
        if self.alone.is_some() && self.asked.deadlock {
            self.fault(Kind::Deadlock, None, format!("no operation is enabled; {}", self.shown(c)));
        }
    }

    /// The states and steps of one valuation are counted.
    pub(crate) fn count_alone(&mut self) {
        let Some(alone) = &mut self.alone else { return };
        alone.counts.states += std::mem::take(&mut alone.states).len() as u64;
        let mut enabled = BTreeSet::new();
        for (c, e, ..) in std::mem::take(&mut alone.steps) {
            alone.counts.transitions += 1;
            let count = alone.counts.events.entry(self.events[e].name.to_string()).or_default();
            count.1 += 1;
            count.0 += u64::from(enabled.insert((c, e)));
        }
    }
}
