//! Assertions about constants alone: checked once for each valuation, most of them before the search.
//!
//! In: the valuations, each with its first initial state. Out: findings, and what is left for later.
//! An assertion that takes more than a fixed number of steps is put off until the search has ended, so that it
//! does not keep states from being visited. Steps are counted, not time: what is put off is the same in
//! every run. What was put off and not decided in the end makes the verdict incomplete.

use crate::system::{Program, Worker};
use bombus_base::budget::{Budget, Stop};
use bombus_base::hash::HashSet;
use bombus_evaluate::{Error, ErrorKind, Interpreter, SOME_STEPS, State};
use bombus_lang::value::Value;
use bombus_system::{EventId, Finding, FindingKind, Sink, System};
use std::collections::{BTreeMap, BTreeSet};

/// Steps that all of them together may take before the search.
const TOGETHER: u32 = 4 * SOME_STEPS;

/// What the look at constants and initial states left behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statics {
    /// Assertions that were put off, with the state whose constants they speak of.
    waiting: Vec<(usize, State)>,
    /// Kinds of findings that were told in this look: they count once (see `base::finding`).
    told: BTreeSet<FindingKind>,
    /// The first state whose constants showed a finding.
    shown: BTreeMap<Finding, State>,
    /// Steps that were taken so far.
    steps: u32,
    /// Assertions that hold, with the values of the constants they read, where these are not all constants.
    held: HashSet<(usize, Vec<Value>)>,
}

/// What assertions that were put off turned out to be.
#[derive(Clone, Debug, Default)]
pub struct Late {
    pub findings: Vec<Finding>,
    /// Kinds that no look had counted before.
    pub kinds: BTreeSet<FindingKind>,
    /// Numbers of the texts that say what could not be decided.
    pub reasons: Vec<u32>,
    /// The run had to end first.
    pub stop: Option<Stop>,
}

impl<'m> Program<'m> {
    /// Tells which assertions about constants alone a valuation breaks; `state` has its constants.
    pub(crate) fn check_statics(&self, worker: &Worker<'m>, state: &State, heard: &mut Heard) {
        heard.state = Some(state.clone());
        for i in self.static_assertions() {
            let pred = &self.machine.assertions[i].pred;
            let key = self.part_that_counts(i, state).map(|values| (i, values));
            if key.as_ref().is_some_and(|key| heard.looked.held.contains(key)) {
                continue;
            }
            let steps = SOME_STEPS.min(TOGETHER - heard.looked.steps);
            let (holds, taken) = worker.interpreter.eval_pred_within(pred, state, steps);
            heard.looked.steps += taken;
            match holds {
                Ok(true) => heard.looked.held.extend(key),
                Ok(false) => heard.finding(broken(i)),
                Err(e) if e.kind() == ErrorKind::Impatient => heard.looked.waiting.push((i, state.clone())),
                Err(e) => {
                    self.tell(&e, None, heard);
                    // Out of time, each of the others would only go on to its next look at the clock.
                    if e.is_stop() {
                        break;
                    }
                }
            }
        }
        heard.state = None;
    }

    /// The values of the constants that an assertion reads; `None` if it reads all, for then no two valuations have the same.
    fn part_that_counts(&self, assertion: usize, state: &State) -> Option<Vec<Value>> {
        let read = &self.read_by_statics[assertion];
        (read.len() < state.constants.len())
            .then(|| read.iter().map(|at| state.constants[*at].clone()).collect())
    }

    /// Keeps what the look at constants and initial states left behind.
    pub(crate) fn keep_statics(&self, mut looked: Statics) {
        looked.held = HashSet::default();
        *self.looked.lock() = Some(looked);
    }

    fn static_assertions(&self) -> impl Iterator<Item = usize> {
        let all = if self.options.skip_assertions { 0 } else { self.machine.assertions.len() };
        (0..all).filter(|i| self.statics[*i])
    }

    /// What the look at constants and initial states left behind. A search that was saved and resumed did not take
    /// that look. It is taken here, and what it tells has been told; no limit may cut it short, or assertions
    /// would be forgotten.
    fn looked(&self) -> Statics {
        let known = || self.looked.lock().clone();
        known().unwrap_or_else(|| {
            self.initial(&mut self.worker_with(&Budget::unlimited()), &mut Late::default());
            known().unwrap_or_default()
        })
    }

    /// Decides the assertions that were put off; without `keep_going`, up to the first that is broken.
    pub fn late_assertions(&self, keep_going: bool, budget: &Budget) -> Late {
        let mut late = Late::default();
        if self.static_assertions().next().is_none() {
            return late;
        }
        let mut looked = self.looked();
        let told = looked.told.clone();
        let interpreter = Interpreter::new(self.machine, budget);
        for (i, state) in std::mem::take(&mut looked.waiting) {
            let holds = match budget.check() {
                Ok(()) => interpreter.eval_pred(&self.machine.assertions[i].pred, Some(&state)),
                Err(stop) => Err(Error::stopped(stop)),
            };
            let mut heard = Heard { sink: &mut late, state: Some(state), looked: &mut looked };
            match holds {
                Ok(true) => {}
                Ok(false) => heard.finding(broken(i)),
                Err(e) => match e.kind() {
                    ErrorKind::Stopped(stop) => {
                        late.stop = Some(stop);
                        break;
                    }
                    _ => self.tell(&e, None, &mut heard),
                },
            }
            if !keep_going && !late.findings.is_empty() {
                break;
            }
        }
        self.keep_statics(looked);
        late.kinds = late.findings.iter().map(|f| f.kind).filter(|k| !told.contains(k)).collect();
        late
    }

    /// The state with the first constants that showed this finding about constants alone.
    pub fn shown_by_constants(&self, finding: &Finding) -> Option<State> {
        self.static_assertions().next()?;
        self.looked().shown.get(finding).cloned()
    }
}

fn broken(assertion: usize) -> Finding {
    Finding { kind: FindingKind::Assertion, property: assertion as u32, event: None }
}

/// Hands on what is told while the constants and the initial states are looked at, and remembers it.
pub(crate) struct Heard<'h> {
    pub(crate) sink: &'h mut dyn Sink,
    /// The state whose constants are spoken of.
    pub(crate) state: Option<State>,
    pub(crate) looked: &'h mut Statics,
}

impl Sink for Heard<'_> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.sink.edge(event, label, target);
    }

    fn finding(&mut self, finding: Finding) {
        self.looked.told.insert(finding.kind);
        if let Some(state) = &self.state {
            self.looked.shown.entry(finding.clone()).or_insert_with(|| state.clone());
        }
        self.sink.finding(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.sink.incomplete(reason);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.sink.undefined_guard(event);
    }
}

impl Sink for Late {
    fn edge(&mut self, _: EventId, _: u64, _: &[u64]) {}

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.reasons.push(reason);
    }

    fn undefined_guard(&mut self, _: EventId) {}
}
