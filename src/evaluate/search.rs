//! Plain breadth-first exploration with the reference interpreter.
//!
//! In: a machine, a budget, options. Out: counts, findings with shortest traces, coverage, and every
//! reason why the exploration is not complete.
//! Never here: threads, reductions. States are found in a fixed order, so that every figure and the
//! trace shown depend on the model alone.

use crate::operation::Steps;
use crate::setup::Broken;
use crate::{Error, ErrorKind, Interpreter, SOME_STEPS, State, Transition};
use bombus_analyse::data_independence::Opaque;
use bombus_base::budget::{Budget, Stop};
pub use bombus_base::finding::FindingKind;
use bombus_base::hash::HashMap;
use bombus_lang::typed::{Machine, Pred};
use bombus_lang::value::Value;
use bombus_lang::value::digest::SetDigest;
use std::cell::OnceCell;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub struct SearchOptions {
    pub check_invariant: bool,
    pub check_deadlock: bool,
    pub check_assertions: bool,
    /// A predicate to look for instead of the machine's GOAL.
    pub goal: Option<Pred>,
    /// An undefined guard is a finding.
    pub strict_wd: bool,
    /// Explore everything, whatever is found.
    pub keep_going: bool,
    pub max_states: Option<u64>,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            check_invariant: true,
            check_deadlock: true,
            check_assertions: true,
            goal: None,
            strict_wd: false,
            keep_going: false,
            max_states: None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: FindingKind,
    /// Which conjunct, assertion or expression, in words.
    pub property: String,
    /// Where it was found: an index into `Exploration::states`.
    pub state: Option<usize>,
    /// The event during which it happened: an index into `Machine::events`.
    pub event: Option<usize>,
    /// The error behind it, with its place.
    pub error: Option<Error>,
}

/// States and transitions of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// States in which the event is enabled.
    pub states: u64,
    pub transitions: u64,
}

/// How a state was first reached.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The state before and the transition from it; none for an initial state.
    pub from: Option<(usize, Transition)>,
    pub depth: u32,
}

#[derive(Clone, Debug)]
pub struct TraceStep {
    pub event: String,
    pub params: Vec<(String, String)>,
    pub results: Vec<(String, String)>,
    /// Values after the step; constants in the first one.
    pub state: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default)]
pub struct Exploration {
    /// Initialised states in the order in which they were found.
    pub states: Vec<State>,
    pub origins: Vec<Origin>,
    pub transitions: u64,
    /// Valuations of the constants; 0 when the machine has neither constants nor properties.
    pub constants: u64,
    pub initial: u64,
    pub depth: u32,
    /// Counted as ProB does: valuations are states, set-up and initialisation are transitions.
    pub prob_states: u64,
    pub prob_transitions: u64,
    pub coverage: Vec<Coverage>,
    /// In the order of discovery; with `keep_going` all of them, else at most one.
    pub findings: Vec<Finding>,
    /// How often each kind was found.
    pub found: HashMap<FindingKind, u64>,
    /// Each reason once.
    pub incomplete: Vec<String>,
    /// Choices that were sampled although nothing else is missing, each once.
    pub sampled: BTreeSet<String>,
    /// How often a guard was undefined, by event.
    pub undefined_guards: Vec<u64>,
    pub digest: SetDigest,
}

impl Exploration {
    pub fn count(&self, kind: FindingKind) -> u64 {
        self.found.get(&kind).copied().unwrap_or(0)
    }

    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    /// The states of a shortest path to a state, by their numbers.
    pub fn path(&self, state: usize) -> Vec<usize> {
        let mut path = vec![state];
        while let Some((before, _)) = &self.origins[path[path.len() - 1]].from {
            path.push(*before);
        }
        path.reverse();
        path
    }

    /// The steps that lead to a state, from the set-up on.
    pub fn trace(&self, machine: &Machine, state: usize) -> Vec<TraceStep> {
        let path = self.path(state);
        let mut steps = Vec::new();
        let named = |vars: &[bombus_lang::typed::VarId], values: &[Value]| -> Vec<(String, String)> {
            vars.iter()
                .zip(values)
                .map(|(v, x)| {
                    let decl = machine.var(*v);
                    (decl.name.to_string(), x.show(machine, &decl.ty))
                })
                .collect()
        };
        for (i, at) in path.iter().enumerate() {
            let state = &self.states[*at];
            if i == 0 && !machine.constants.is_empty() {
                steps.push(TraceStep {
                    event: "$setup_constants".to_string(),
                    params: Vec::new(),
                    results: Vec::new(),
                    state: named(&machine.constants, &state.constants),
                });
            }
            let (event, params, results) = match &self.origins[*at].from {
                None => ("$initialise_machine".to_string(), Vec::new(), Vec::new()),
                Some((_, t)) => {
                    let op = machine.op(machine.events[t.event]);
                    (op.name.to_string(), named(&op.params, &t.params), named(&op.results, &t.results))
                }
            };
            steps.push(TraceStep {
                event,
                params,
                results,
                state: named(&machine.variables, &state.variables),
            });
        }
        steps
    }
}

/// Explores the whole state space, or up to the first finding.
pub fn explore(machine: &Machine, budget: &Budget, options: &SearchOptions) -> Exploration {
    let mut search = Search {
        interpreter: Interpreter::new(machine, budget),
        machine,
        options,
        result: Exploration {
            coverage: vec![Coverage::default(); machine.events.len()],
            undefined_guards: vec![0; machine.events.len()],
            ..Exploration::default()
        },
        index: HashMap::new(),
        reasons: BTreeSet::new(),
        out_of_scope: 0,
        numbers: HashMap::new(),
        seen: BTreeSet::new(),
        statics: machine.assertions.iter().map(|_| false).collect(),
        waiting: Vec::new(),
        static_steps: 0,
        told: BTreeSet::new(),
    };
    // What opaque choices may not show is asked of the machine's own predicates only.
    if options.goal.is_some() {
        search.interpreter.opaque = OnceCell::from(Opaque::default());
    }
    for (i, clause) in machine.assertions.iter().enumerate() {
        search.statics[i] = search.interpreter.is_static(clause);
    }
    if let Err(e) = search.run().and_then(|()| search.check_waiting()) {
        let reason = match e.kind() {
            ErrorKind::Stopped(Stop::Time) => "time limit reached".to_string(),
            ErrorKind::Stopped(Stop::Interrupted) => "interrupted".to_string(),
            _ => e.message().to_string(),
        };
        search.reason(reason);
    }
    if search.out_of_scope > 0 {
        search.reason(format!("SCOPE left {} states without their successors", search.out_of_scope));
    }
    let mut result = search.result;
    result.prob_states = result.states.len() as u64 + result.constants;
    result.prob_transitions = result.transitions + result.constants + result.initial;
    result
}

struct Search<'m> {
    interpreter: Interpreter<'m>,
    machine: &'m Machine,
    options: &'m SearchOptions,
    result: Exploration,
    index: HashMap<State, usize>,
    reasons: BTreeSet<String>,
    /// States that SCOPE keeps from being expanded.
    out_of_scope: u64,
    /// Numbers of the valuations, by the address of the list that all their states share.
    numbers: HashMap<usize, u64>,
    statics: Vec<bool>,
    /// Assertions about constants alone that were put off until the search has ended, each with a state, and the
    /// steps that such assertions took.
    waiting: Vec<(usize, usize)>,
    static_steps: u32,
    /// Kinds found in the look at constants and initial states.
    told: BTreeSet<FindingKind>,
    /// Kinds found in this look at a state (see `base::finding`).
    seen: BTreeSet<FindingKind>,
}

/// Whether the search goes on after a finding.
type Going = bool;

impl Search<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let constants = self.interpreter.constants()?;
        self.note_incomplete(&constants.incomplete);
        self.result.sampled.extend(constants.sampled.iter().map(ToString::to_string));
        for e in &constants.errors {
            if !self.finding(kind_of(e), e.message().to_string(), None, None, Some(e.clone())) {
                return Ok(());
            }
        }
        if constants.values.is_empty() {
            if constants.errors.is_empty() && constants.incomplete.is_empty() {
                let words = "no valuation of the constants satisfies PROPERTIES";
                self.finding(FindingKind::Properties, words.to_string(), None, None, None);
            }
            return Ok(());
        }
        if self.machine.has_setup() {
            self.result.constants = constants.values.len() as u64;
        }
        for (number, valuation) in constants.values.iter().enumerate() {
            self.numbers.insert(valuation.as_ptr() as usize, number as u64);
        }
        let mut frontier = Vec::new();
        for valuation in &constants.values {
            let initial = self.interpreter.initial_states(valuation)?;
            self.note_incomplete(&initial.incomplete);
            self.result.sampled.extend(initial.sampled.iter().map(ToString::to_string));
            for e in &initial.errors {
                if !self.finding(kind_of(e), e.message().to_string(), None, None, Some(e.clone())) {
                    return Ok(());
                }
            }
            if initial.values.is_empty() && initial.errors.is_empty() && initial.incomplete.is_empty() {
                let words = "INITIALISATION has no outcome";
                if !self.finding(FindingKind::Properties, words.to_string(), None, None, None) {
                    return Ok(());
                }
            }
            self.result.initial += initial.values.len() as u64;
            for (i, state) in initial.values.into_iter().enumerate() {
                let (at, new) = self.insert(state, None);
                if new {
                    frontier.push(at);
                }
                if i == 0 && !self.check_statics(at)? {
                    return Ok(());
                }
            }
        }
        self.told.clone_from(&self.seen);
        for at in frontier.clone() {
            if !self.check(at)? {
                return Ok(());
            }
        }
        while !frontier.is_empty() {
            let mut next = Vec::new();
            for at in frontier {
                if self.options.max_states.is_some_and(|m| self.result.states.len() as u64 >= m) {
                    self.reason("the limit on states was reached".to_string());
                    return Ok(());
                }
                if !self.expand(at, &mut next)? {
                    return Ok(());
                }
            }
            // All steps of this level come before the states of the next one: what is found in a step has a shorter
            // trace than what is found in a state one level further.
            for to in &next {
                if !self.check(*to)? {
                    return Ok(());
                }
            }
            frontier = next;
        }
        Ok(())
    }

    fn expand(&mut self, at: usize, next: &mut Vec<usize>) -> Result<Going, Error> {
        self.seen.clear();
        self.interpreter.budget.check().map_err(Error::stopped)?;
        let state = self.result.states[at].clone();
        let mut env = self.interpreter.env(Some(&state));
        let mut scoped = true;
        if let Some(scope) = &self.machine.scope {
            match self.interpreter.holds(&mut env, scope) {
                Ok(true) => {}
                Ok(false) => {
                    self.out_of_scope += 1;
                    return Ok(true);
                }
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => {
                    self.reason(format!("SCOPE: {}", e.message()));
                    scoped = false;
                }
            }
        }
        let steps = self.interpreter.transitions_in(&mut env, &state)?;
        // Where something is said of the events already, nobody knows whether the state is a deadlock.
        let strictly = self.options.strict_wd && !steps.undefined_guards.is_empty();
        let quiet = steps.transitions.is_empty() && steps.errors.is_empty() && steps.incomplete.is_empty();
        let quiet = quiet && scoped && !strictly;
        if !self.note_steps(at, &steps) {
            return Ok(false);
        }
        self.result.transitions += steps.transitions.len() as u64;
        let mut last = None;
        for t in &steps.transitions {
            let coverage = &mut self.result.coverage[t.event];
            coverage.transitions += 1;
            if last != Some(t.event) {
                coverage.states += 1;
                last = Some(t.event);
            }
        }
        if quiet && self.options.check_deadlock {
            let words = "no operation is enabled".to_string();
            return Ok(self.finding(FindingKind::Deadlock, words, Some(at), None, None));
        }
        for t in steps.transitions {
            let target = t.target.clone();
            let (to, new) = self.insert(target, Some((at, t)));
            if new {
                next.push(to);
            }
        }
        Ok(true)
    }

    fn note_steps(&mut self, at: usize, steps: &Steps) -> Going {
        for (event, e) in &steps.incomplete {
            let name = &self.machine.op(self.machine.events[*event]).name;
            self.reason(format!("{name}: {}", e.reason(self.machine)));
        }
        for (event, e) in &steps.sampled {
            let name = &self.machine.op(self.machine.events[*event]).name;
            self.result.sampled.insert(format!("{name}: {}", e.message()));
        }
        let mut last = None;
        for (event, e) in &steps.undefined_guards {
            // Counted are states, not the values for which the guard is undefined.
            if last != Some(*event) {
                self.result.undefined_guards[*event] += 1;
                last = Some(*event);
            }
            if self.options.strict_wd
                && !self.finding(kind_of(e), e.message().to_string(), Some(at), Some(*event), Some(e.clone()))
            {
                return false;
            }
        }
        // One error per event and kind is enough to tell what is wrong in this state.
        let mut told: Vec<(usize, FindingKind)> = Vec::new();
        for (event, e) in &steps.errors {
            let kind = kind_of(e);
            if told.contains(&(*event, kind)) {
                continue;
            }
            told.push((*event, kind));
            if !self.finding(kind, e.message().to_string(), Some(at), Some(*event), Some(e.clone())) {
                return false;
            }
        }
        true
    }

    fn insert(&mut self, state: State, from: Option<(usize, Transition)>) -> (usize, bool) {
        if let Some(at) = self.index.get(&state) {
            return (*at, false);
        }
        let at = self.result.states.len();
        let depth = from.as_ref().map_or(0, |(before, _)| self.result.origins[*before].depth + 1);
        self.result.depth = self.result.depth.max(depth);
        // The number of the valuation stands for the constants, which may be large.
        let number = self.numbers.get(&(state.constants.as_ptr() as usize)).copied().unwrap_or(0);
        let mut bytes = number.to_le_bytes().to_vec();
        state.variables.iter().for_each(|v| v.encode(&mut bytes));
        self.result.digest.add(&bytes);
        self.result.origins.push(Origin { from, depth });
        self.result.states.push(state.clone());
        self.index.insert(state, at);
        (at, true)
    }

    /// Checks the assertions about constants alone in the first state of a valuation. Those that take many steps
    /// wait until the search has ended, so that they do not keep states from being visited.
    fn check_statics(&mut self, at: usize) -> Result<Going, Error> {
        if !self.options.check_assertions {
            return Ok(true);
        }
        let state = self.result.states[at].clone();
        for i in (0..self.machine.assertions.len()).filter(|i| self.statics[*i]).collect::<Vec<_>>() {
            let pred = &self.machine.assertions[i].pred;
            let steps = SOME_STEPS.min(4 * SOME_STEPS - self.static_steps);
            let (holds, taken) = self.interpreter.eval_pred_within(pred, &state, steps);
            self.static_steps += taken;
            if holds.as_ref().is_err_and(|e| e.kind() == ErrorKind::Impatient) {
                self.waiting.push((i, at));
            } else if !self.note_static(i, at, holds)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks the assertions that were put off. They belong to the look at constants and initial states.
    fn check_waiting(&mut self) -> Result<(), Error> {
        if !self.options.keep_going && !self.result.findings.is_empty() {
            return Ok(());
        }
        self.seen.clone_from(&self.told);
        for (i, at) in std::mem::take(&mut self.waiting) {
            self.interpreter.look()?;
            let state = self.result.states[at].clone();
            let holds = self.interpreter.eval_pred(&self.machine.assertions[i].pred, Some(&state));
            if !self.note_static(i, at, holds)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Notes whether an assertion about constants alone holds in a state.
    fn note_static(&mut self, i: usize, at: usize, holds: Result<bool, Error>) -> Result<Going, Error> {
        let text = &self.machine.assertions[i].text;
        Ok(match holds {
            Ok(true) => true,
            Ok(false) => self.finding(FindingKind::Assertion, text.clone(), Some(at), None, None),
            Err(e) if e.is_stop() => return Err(e),
            Err(e) if e.is_finding() => {
                let words = format!("{} in {text}", e.message());
                self.finding(kind_of(&e), words, Some(at), None, Some(e))
            }
            Err(e) => {
                self.reason(e.reason(self.machine));
                true
            }
        })
    }

    fn check(&mut self, at: usize) -> Result<Going, Error> {
        self.seen.clear();
        let state = self.result.states[at].clone();
        let mut env = self.interpreter.env(Some(&state));
        let check_assertions = self.options.check_assertions;
        let statics = &self.statics;
        let broken: Broken = self.interpreter.check_in(&mut env, &|_, clause| {
            let at = self.machine.assertions.iter().position(|c| std::ptr::eq(c, clause));
            check_assertions && at.is_none_or(|i| !statics[i])
        })?;
        for e in &broken.incomplete {
            self.reason(e.reason(self.machine));
        }
        if self.options.check_invariant {
            for i in &broken.invariant {
                let text = self.machine.invariant[*i].text.clone();
                if !self.finding(FindingKind::Invariant, text, Some(at), None, None) {
                    return Ok(false);
                }
            }
        }
        for i in &broken.assertions {
            let text = self.machine.assertions[*i].text.clone();
            if !self.finding(FindingKind::Assertion, text, Some(at), None, None) {
                return Ok(false);
            }
        }
        for (assertion, i, e) in &broken.undefined {
            if !assertion && !self.options.check_invariant {
                continue;
            }
            let clauses = if *assertion { &self.machine.assertions } else { &self.machine.invariant };
            let words = format!("{} in {}", e.message(), clauses[*i].text);
            if !self.finding(kind_of(e), words, Some(at), None, Some(e.clone())) {
                return Ok(false);
            }
        }
        let goal = self.options.goal.as_ref().or(self.machine.goal.as_ref());
        if let Some(goal) = goal {
            match self.interpreter.holds(&mut env, goal) {
                Ok(false) => {}
                Ok(true) => {
                    return Ok(self.finding(
                        FindingKind::Goal,
                        "the goal is reached".to_string(),
                        Some(at),
                        None,
                        None,
                    ));
                }
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => self.reason(format!("goal: {}", e.message())),
            }
        }
        Ok(true)
    }

    fn note_incomplete(&mut self, errors: &[Error]) {
        for e in errors {
            self.reason(e.reason(self.machine));
        }
    }

    fn reason(&mut self, reason: String) {
        if self.reasons.insert(reason.clone()) {
            self.result.incomplete.push(reason);
        }
    }

    fn finding(
        &mut self,
        kind: FindingKind,
        property: String,
        state: Option<usize>,
        event: Option<usize>,
        error: Option<Error>,
    ) -> Going {
        if self.seen.insert(kind) {
            *self.result.found.entry(kind).or_default() += 1;
        }
        // Every kind keeps its first finding; counting goes on without keeping all of them.
        // The same words about two events are two findings.
        let same =
            |f: &Finding| f.kind == kind && f.property == property && (error.is_none() || f.event == event);
        if !self.result.findings.iter().any(same) {
            self.result.findings.push(Finding { kind, property, state, event, error });
        }
        self.options.keep_going
    }
}

pub fn kind_of(e: &Error) -> FindingKind {
    match e.kind() {
        ErrorKind::Precondition => FindingKind::Precondition,
        ErrorKind::Assertion => FindingKind::Assertion,
        ErrorKind::Refinement => FindingKind::Refinement,
        ErrorKind::Variant => FindingKind::Variant,
        _ => FindingKind::WellDefinedness,
    }
}
