//! Random walks through a model, on all cores: what is too large to be explored is at least tried.
//!
//! In: a model, how many walks, how long, a seed. Out: an `Outcome` with the findings of a check, the coverage of the
//! walks, and a ledger that says that nothing was verified. A walk depends on the seed and its number alone, so the
//! result is the same for any number of workers: the finding that is shown is that of the walk with the least number.
//! Never here: the compiled engine; a walk is made on values.

use super::{Failure, Rejected, STACK, judge, load, scope_of, warnings_of};
use crate::base::Span;
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::finding::FindingKind;
use crate::base::hash::HashSet;
use crate::base::text::one_line;
use crate::evaluate::search::kind_of;
use crate::evaluate::{Constants, Error, Interpreter, State, Transition};
use crate::explain::{Explainer, Explanation, Finding};
use crate::lang::typed::{Machine, OpId, VarId};
use crate::lang::value::Value;
use crate::model::LoadOptions;
use crate::report::{
    Counts, EventCoverage, INITIALISE, Ledger, Outcome, Reductions, SETUP_CONSTANTS, Seconds, TraceStep,
    Violation,
};
use bombus_kernels::hash::mix;
use bombus_kernels::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The word for this way of looking at a model.
pub const ENGINE: &str = "simulate";
/// So many walks are made to their ends before a finding ends the simulation.
const BLOCK: u64 = 256;
/// Distinct states are counted up to this many for each worker; beyond, the count is a lower bound.
const COUNTED: usize = 2_000_000;

/// What is asked of a simulation.
#[derive(Clone, Debug)]
pub struct SimulateOptions {
    pub loading: LoadOptions,
    pub walks: u64,
    /// The most steps of one walk.
    pub steps: u64,
    pub seed: u64,
    pub workers: usize,
    pub no_deadlock: bool,
    pub no_invariant: bool,
    pub no_assertions: bool,
    /// All walks are made, whatever is found.
    pub keep_going: bool,
}

/// What is wrong at the end of a walk.
struct Fault {
    kind: FindingKind,
    property: String,
    event: Option<usize>,
    error: Option<Error>,
}

/// A walk that found something.
struct Found {
    walk: u64,
    first: State,
    steps: Vec<Transition>,
    fault: Fault,
}

/// What one worker saw.
#[derive(Default)]
struct Seen {
    walks: u64,
    steps: u64,
    longest: u64,
    deadlocks: u64,
    states: HashSet<State>,
    overfull: bool,
    /// For each event, states in which it was enabled and steps that were taken, with repetitions.
    events: Vec<(u64, u64)>,
    found: BTreeMap<FindingKind, u64>,
    first: Option<Found>,
    missing: BTreeSet<String>,
}

/// Walks through a model at random.
pub fn simulate(path: &Path, options: &SimulateOptions, budget: &Budget) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let (model, sources, diagnostics) = load(path, &options.loading)?;
    let machine = &model.machine;
    let load_seconds = started.elapsed().as_secs_f64();
    let setting_up = Instant::now();
    let interpreter = Interpreter::new(machine, budget);
    let mut ledger = Ledger::default();
    let beginnings = beginnings(&interpreter, &mut ledger).map_err(|message| Rejected {
        sources: sources.clone(),
        diagnostics: vec![Diagnostic::plain(message)],
    })?;
    let setup_seconds = setting_up.elapsed().as_secs_f64();
    let seen = walk_all(machine, options, budget, &beginnings);
    ledger.enter(format!(
        "a simulation: {} walks of at most {} steps (seed {}) see a part of the states",
        seen.walks, options.steps, options.seed
    ));
    seen.missing.iter().for_each(|reason| ledger.enter(reason.clone()));
    let mut warnings = warnings_of(&sources, &diagnostics);
    if seen.overfull {
        warnings.push("there are more states than were counted".to_string());
    }
    for d in diagnostics.iter().filter(|d| d.approximates) {
        ledger.enter_stand_in(d.message.clone());
    }
    let (violation, why) = match &seen.first {
        None => (None, Explanation::default()),
        Some(found) => violation(machine, &sources, found).map(|(v, why)| (Some(v), why))?,
    };
    let coverage = |(op, (states, steps)): (&OpId, &(u64, u64))| EventCoverage {
        name: machine.op(*op).name.to_string(),
        states: *states,
        transitions: *steps,
    };
    Ok(Outcome {
        file: path.display().to_string(),
        machine: machine.name.to_string(),
        scope: scope_of(machine),
        ledger,
        violation,
        why,
        others: Vec::new(),
        found: seen.found.iter().map(|(kind, n)| (kind.word().to_string(), *n)).collect(),
        warnings,
        counts: Counts {
            states: seen.states.len() as u64,
            transitions: seen.steps,
            constants: if machine.constants.is_empty() { 0 } else { beginnings.constants },
            initial: beginnings.states.len() as u64,
            depth: seen.longest,
            ..Counts::default()
        },
        figures: vec![("walks", seen.walks), ("steps", seen.steps), ("deadlocks", seen.deadlocks)],
        events: machine.events.iter().zip(&seen.events).map(coverage).collect(),
        temporal: Vec::new(),
        goal: None,
        asserts: None,
        digest: String::new(),
        engine: ENGINE,
        reductions: Reductions::default(),
        workers: options.workers,
        seconds: Seconds {
            load: load_seconds,
            setup: setup_seconds,
            explore: setting_up.elapsed().as_secs_f64() - setup_seconds,
            temporal: 0.0,
        },
        time_shares: None,
        peak_memory_bytes: peak_resident_bytes(),
        details: Vec::new(),
        symbolic: None,
        machines: Vec::new(),
        interrupted: budget.check() == Err(Stop::Interrupted),
    })
}

/// Where walks begin.
struct Beginnings {
    constants: u64,
    states: Vec<State>,
}

fn beginnings(interpreter: &Interpreter, ledger: &mut Ledger) -> Result<Beginnings, String> {
    let found = interpreter.constants().map_err(|e| e.to_string())?;
    found.errors.iter().chain(&found.incomplete).for_each(|e| ledger.enter(e.to_string()));
    let mut states = Vec::new();
    for valuation in &found.values {
        let initial = interpreter.initial_states(valuation as &Constants).map_err(|e| e.to_string())?;
        initial.errors.iter().chain(&initial.incomplete).for_each(|e| ledger.enter(e.to_string()));
        states.extend(initial.values);
    }
    if states.is_empty() {
        return Err("no initial state is known, so there is nowhere to begin; `bombus check` says why".into());
    }
    Ok(Beginnings { constants: found.values.len() as u64, states })
}

/// Makes the walks block by block: which walks are made depends on what they find, never on who is fast.
fn walk_all(machine: &Machine, options: &SimulateOptions, budget: &Budget, from: &Beginnings) -> Seen {
    let mut all = Seen { events: vec![(0, 0); machine.events.len()], ..Seen::default() };
    let mut made = 0;
    while made < options.walks && budget.check().is_ok() {
        let block = made..(made + BLOCK).min(options.walks);
        made = block.end;
        let next = AtomicU64::new(block.start);
        let work = || {
            let mut walker = Walker {
                interpreter: Interpreter::new(machine, budget),
                options,
                seen: Seen { events: vec![(0, 0); machine.events.len()], ..Seen::default() },
            };
            loop {
                let number = next.fetch_add(1, Ordering::SeqCst);
                if number >= block.end || budget.check().is_err() {
                    return walker.seen;
                }
                if let Some(found) = walker.walk(number, &from.states)
                    && walker.seen.first.as_ref().is_none_or(|f| f.walk > number)
                {
                    walker.seen.first = Some(found);
                }
            }
        };
        let workers = options.workers.clamp(1, BLOCK as usize);
        all = std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
            let threads: Vec<_> = (0..workers).filter_map(start).collect();
            threads.into_iter().map(|thread| thread.join()).fold(all, |all, seen| match seen {
                Ok(seen) => all.merge(seen),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        });
        if all.first.is_some() && !options.keep_going {
            break;
        }
    }
    if let Err(stop) = budget.check() {
        all.missing.insert(Error::stopped(stop).message().to_string());
    }
    all
}

impl Seen {
    fn merge(mut self, other: Seen) -> Seen {
        self.walks += other.walks;
        self.steps += other.steps;
        self.longest = self.longest.max(other.longest);
        self.deadlocks += other.deadlocks;
        self.overfull |= other.overfull;
        self.states.extend(other.states);
        for (mine, theirs) in self.events.iter_mut().zip(&other.events) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
        for (kind, n) in other.found {
            *self.found.entry(kind).or_default() += n;
        }
        self.missing.extend(other.missing);
        self.first = match (self.first, other.first) {
            (Some(a), Some(b)) => Some(if a.walk < b.walk { a } else { b }),
            (a, b) => a.or(b),
        };
        self
    }
}

/// One worker, with the walks it made.
struct Walker<'m> {
    interpreter: Interpreter<'m>,
    options: &'m SimulateOptions,
    seen: Seen,
}

impl Walker<'_> {
    /// Makes the walk with a number; what it found, with the path that shows it.
    fn walk(&mut self, number: u64, from: &[State]) -> Option<Found> {
        let mut random = Random(mix(mix(self.options.seed).wrapping_add(number)));
        let first = from[random.below(from.len() as u64) as usize].clone();
        let mut state = first.clone();
        let mut steps = Vec::new();
        self.seen.walks += 1;
        loop {
            let (fault, next) = self.look(&state, &mut random);
            if let Some(fault) = fault {
                *self.seen.found.entry(fault.kind).or_default() += 1;
                return Some(Found { walk: number, first, steps, fault });
            }
            let next = next.filter(|_| (steps.len() as u64) < self.options.steps)?;
            state = next.target.clone();
            self.seen.events[next.event].1 += 1;
            self.seen.steps += 1;
            steps.push(next);
            self.seen.longest = self.seen.longest.max(steps.len() as u64);
        }
    }

    /// What is wrong in a state, and a step from it.
    fn look(&mut self, state: &State, random: &mut Random) -> (Option<Fault>, Option<Transition>) {
        if self.seen.states.len() < COUNTED {
            self.seen.states.insert(state.clone());
        } else {
            self.seen.overfull |= !self.seen.states.contains(state);
        }
        match self.broken(state) {
            Ok(None) => {}
            Ok(fault) => return (fault, None),
            Err(e) => {
                self.seen.missing.insert(e.message().to_string());
                return (None, None);
            }
        }
        let machine = self.interpreter.machine();
        if let Some(scope) = &machine.scope
            && !self.interpreter.eval_pred(scope, Some(state)).unwrap_or(false)
        {
            return (None, None);
        }
        let steps = match self.interpreter.transitions(state) {
            Ok(steps) => steps,
            Err(e) => {
                self.seen.missing.insert(e.message().to_string());
                return (None, None);
            }
        };
        for (event, e) in &steps.incomplete {
            let name = &machine.op(machine.events[*event]).name;
            self.seen.missing.insert(format!("{name}: {}", e.message()));
        }
        let mut last = None;
        for t in steps.transitions.iter().filter(|t| last.replace(t.event) != Some(t.event)) {
            self.seen.events[t.event].0 += 1;
        }
        if let Some((event, e)) = steps.errors.first() {
            let fault = Fault {
                kind: kind_of(e),
                property: e.message().into(),
                event: Some(*event),
                error: Some(e.clone()),
            };
            return (Some(fault), None);
        }
        if steps.transitions.is_empty() && steps.incomplete.is_empty() {
            self.seen.deadlocks += 1;
            let property = "no operation is enabled".to_string();
            let fault = Fault { kind: FindingKind::Deadlock, property, event: None, error: None };
            return ((!self.options.no_deadlock).then_some(fault), None);
        }
        let n = random.below(steps.transitions.len().max(1) as u64) as usize;
        (None, steps.transitions.into_iter().nth(n))
    }

    fn broken(&self, state: &State) -> Result<Option<Fault>, Error> {
        let machine = self.interpreter.machine();
        let broken = self.interpreter.check_state(state, true)?;
        let plain = |kind, property: String| Some(Fault { kind, property, event: None, error: None });
        if !self.options.no_invariant && !broken.invariant.is_empty() {
            let texts: Vec<&str> =
                broken.invariant.iter().map(|i| machine.invariant[*i].text.as_str()).collect();
            return Ok(plain(FindingKind::Invariant, texts.join(" & ")));
        }
        if let Some(i) = broken.assertions.first().filter(|_| !self.options.no_assertions) {
            return Ok(plain(FindingKind::Assertion, machine.assertions[*i].text.clone()));
        }
        for (assertion, i, e) in broken.undefined {
            let (left_out, clauses) = if assertion {
                (self.options.no_assertions, &machine.assertions)
            } else {
                (self.options.no_invariant, &machine.invariant)
            };
            if !left_out {
                let property = format!("{} in {}", e.message(), clauses[i].text);
                return Ok(Some(Fault { kind: kind_of(&e), property, event: None, error: Some(e) }));
            }
        }
        if let Some(e) = broken.incomplete.into_iter().next() {
            return Err(e);
        }
        if let Some(goal) = &machine.goal
            && self.interpreter.eval_pred(goal, Some(state))?
        {
            return Ok(plain(FindingKind::Goal, "the goal is reached".into()));
        }
        Ok(None)
    }
}

/// The finding with its trace, confirmed by the judge.
fn violation(
    machine: &Machine,
    sources: &Sources,
    found: &Found,
) -> Result<(Violation, Explanation), String> {
    let last = found.steps.last().map_or(&found.first, |t| &t.target);
    let mut explanation = Vec::new();
    if let Some(event) = found.fault.event {
        explanation.push(format!("while computing {}", machine.op(machine.events[event]).name));
    }
    if let Some(e) = found.fault.error.as_ref().filter(|e| e.span() != Span::default()) {
        explanation.push(format!("at {}: {}", sources.locate(e.span()), one_line(sources.slice(e.span()))));
    }
    let why = Explainer::new(machine, sources, &Budget::moment()).explain(&Finding {
        kind: found.fault.kind.word(),
        property: &found.fault.property,
        event: found.fault.event.map(|event| &*machine.op(machine.events[event]).name),
        state: Some(last),
        broken: None,
        strict_guards: false,
        alone: false,
    });
    super::explain::join(&mut explanation, &why);
    let mut stops = vec![judge::Stop { by: None, state: &found.first }];
    stops.extend(found.steps.iter().map(|t| judge::Stop { by: Some(t), state: &t.target }));
    let claim = judge::Finding {
        kind: found.fault.kind,
        property: None,
        event: found.fault.event,
        broken: None,
        strict_guards: false,
    };
    let violation = Violation {
        kind: found.fault.kind.word().into(),
        property: found.fault.property.clone(),
        explanation,
        confirmed_by: Some(judge::confirm(machine, &stops, &claim)?),
        trace: trace(machine, &found.first, &found.steps),
        loop_start: None,
    };
    Ok((violation, why))
}

/// A path from nothing, in words.
pub fn trace(machine: &Machine, first: &State, steps: &[Transition]) -> Vec<TraceStep> {
    let named = |vars: &[VarId], values: &[Value]| {
        let one = |(v, x): (&VarId, &Value)| {
            let var = machine.var(*v);
            (var.name.to_string(), x.show(machine, &var.ty))
        };
        vars.iter().zip(values).map(one).collect::<Vec<(String, String)>>()
    };
    let begin = |event: &str, state| TraceStep { event: event.into(), state, ..TraceStep::default() };
    let mut all = Vec::new();
    if !machine.constants.is_empty() {
        all.push(begin(SETUP_CONSTANTS, named(&machine.constants, &first.constants)));
    }
    all.push(begin(INITIALISE, named(&machine.variables, &first.variables)));
    all.extend(steps.iter().map(|t| {
        let op = machine.op(machine.events[t.event]);
        TraceStep {
            event: op.name.to_string(),
            params: named(&op.params, &t.params),
            results: named(&op.results, &t.results),
            state: named(&machine.variables, &t.target.variables),
        }
    }));
    all
}
