//! A CSP process that guides a machine: both as one system.
//!
//! In: a machine, a script, options as meant. Out: an `Outcome`. A channel named like an operation moves both, its
//! values are the arguments and then the results; a channel named like a variable reads its value; everything else
//! is a matter of the process alone. Operations without a channel do not happen, unless they are set free.
//! Never here: the meaning of CSP or of B.

use super::compiled::confirm_finding;
use super::csp::{load as load_script, term_machine};
use super::{CheckOptions, Engine, Failure, Reduce, Rejected, load, scope_of, warnings_of};
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::csp::compose::Smaller;
use crate::csp::eval::Eval;
use crate::csp::machine::{Machine as Process, Scratch};
use crate::csp::plain::Plain;
use crate::csp::scope::{Scoped, expression};
use crate::csp::{parser, term};
use crate::evaluate::{Interpreter, State};
use crate::explore::{self, Reason};
use crate::lang::typed::{Machine, VarId};
use crate::lang::value::Value;
use crate::program::{self, Program};
use crate::report::{Counts, EventCoverage, INITIALISE, Outcome, TraceStep, Violation};
use crate::system::{EventId, Finding, FindingKind, Sink, System};
use std::path::Path;
use std::time::Instant;

/// What an event of the process does to the machine.
enum Meets {
    Nothing,
    /// The number of the operation, and the values that it must have.
    Operation(usize, Vec<Plain>),
    /// The number of the variable, and its value.
    Variable(usize, Vec<Plain>),
}

struct Guided<'p, 'm> {
    program: &'p Program<'m>,
    process: &'p Process,
    meets: Vec<Meets>,
    /// Operations that happen without the process.
    free: Vec<usize>,
    /// Operations of the machine, then τ, ✓ and the channels of the process.
    names: Vec<String>,
    operations: usize,
    budget: &'p Budget,
}

struct Hand<'p, 'm> {
    program: <Program<'m> as System>::Worker,
    scratch: Scratch,
    interpreter: Interpreter<'m>,
    target: Vec<u64>,
    lifetime: std::marker::PhantomData<&'p ()>,
}

/// Reasons of incompleteness beyond those of the machine.
const NOT_COMPARED: u32 = u32::MAX;
const TOO_LARGE: u32 = u32::MAX - 1;
const NOT_COMPUTED: u32 = u32::MAX - 2;
/// Findings of the process stand above those of the machine.
const FAULT: u32 = 1 << 30;
/// Undefined actions of operations stand above those of the process.
const ACTION: u32 = 1 << 31;

impl<'m> Guided<'_, 'm> {
    fn split<'s>(&self, state: &'s [u64]) -> (&'s [u64], &'s [u64]) {
        state.split_at(self.program.words())
    }

    /// Transitions of one operation that fit an event, each with the words of the machine afterwards.
    fn operation(
        &self,
        hand: &Hand<'_, 'm>,
        from: &State,
        operation: usize,
        wanted: &[Plain],
        sink: &mut dyn Sink,
    ) -> Vec<(u64, Vec<u64>)> {
        let event = EventId(operation as u32);
        let Ok(steps) = hand.interpreter.steps_of(from, operation) else {
            sink.incomplete(NOT_COMPUTED);
            return Vec::new();
        };
        if !steps.errors.is_empty() {
            let property = ACTION + operation as u32;
            sink.finding(Finding { kind: FindingKind::WellDefinedness, property, event: Some(event) });
        }
        if !steps.incomplete.is_empty() {
            sink.incomplete(NOT_COMPUTED);
        }
        for _ in &steps.undefined_guards {
            sink.undefined_guard(event);
        }
        let mut out = Vec::new();
        for t in &steps.transitions {
            let values = t.params.iter().chain(t.results.iter());
            let mut fits = true;
            for (value, wanted) in values.zip(wanted) {
                match plain(value, self.program.machine()) {
                    Some(value) => fits &= value == *wanted,
                    None => {
                        sink.incomplete(NOT_COMPARED);
                        fits = false;
                    }
                }
            }
            if fits && let Some(words) = self.program.pack(&t.target) {
                out.push((self.program.label(event, &t.params, &t.results), words));
            }
        }
        out
    }
}

/// A value of B in plain form.
fn plain(value: &Value, machine: &Machine) -> Option<Plain> {
    Some(match value {
        Value::Bool(b) => Plain::Atom(b.to_string()),
        Value::Int(n) => Plain::Atom(n.to_string()),
        Value::Str(text) => Plain::Text(text.to_string()),
        Value::Elem(set, n) => Plain::Atom(machine.set(*set).elems[*n as usize].to_string()),
        Value::Pair(pair) => Plain::pair(plain(&pair.0, machine)?, plain(&pair.1, machine)?),
        Value::Set(items) => Plain::Set(items.iter().map(|v| plain(v, machine)).collect::<Option<_>>()?),
        _ => return None,
    })
}

impl<'p, 'm> System for Guided<'p, 'm> {
    type Worker = Hand<'p, 'm>;

    fn worker(&self) -> Self::Worker {
        Hand {
            program: self.program.worker(),
            scratch: Scratch::default(),
            interpreter: Interpreter::new(self.program.machine(), self.budget),
            target: Vec::new(),
            lifetime: std::marker::PhantomData,
        }
    }

    fn replay_worker(&self) -> Self::Worker {
        let unlimited = Budget::unlimited();
        Hand {
            program: self.program.replay_worker(),
            interpreter: Interpreter::new(self.program.machine(), &unlimited),
            ..self.worker()
        }
    }

    fn words(&self) -> usize {
        self.program.words() + self.process.words()
    }

    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn constant_valuations(&self) -> usize {
        self.program.constant_valuations()
    }

    fn initial(&self, hand: &mut Self::Worker, sink: &mut dyn Sink) {
        let mut beside = Beside { sink, start: self.process.start() };
        self.program.initial(&mut hand.program, &mut beside);
    }

    fn successors(&self, hand: &mut Self::Worker, state: &[u64], sink: &mut dyn Sink) {
        let (machine, process) = self.split(state);
        let mut scratch = std::mem::take(&mut hand.scratch);
        let moves: Vec<(u32, Vec<u64>)> = match self.process.moves(&mut scratch, process) {
            Ok(moves) => moves.map(|(event, target)| (event, target.to_vec())).collect(),
            Err(Some(fault)) => {
                let kind = FindingKind::WellDefinedness;
                sink.finding(Finding { kind, property: FAULT + fault, event: None });
                Vec::new()
            }
            Err(None) => {
                sink.incomplete(TOO_LARGE);
                Vec::new()
            }
        };
        hand.scratch = scratch;
        let from = self.program.values(machine);
        let mut found: Vec<(u32, u64, Vec<u64>)> = Vec::new();
        let join = |a: &[u64], b: &[u64]| [a, b].concat();
        for (event, target) in &moves {
            let own = self.operations as u32 + self.process.channel(*event).0;
            match &self.meets[*event as usize] {
                Meets::Nothing => found.push((own, u64::from(*event), join(machine, target))),
                Meets::Variable(n, wanted) => match plain(&from.variables[*n], self.program.machine()) {
                    Some(value) => {
                        if wanted.first() == Some(&value) {
                            found.push((own, u64::from(*event), join(machine, target)));
                        }
                    }
                    None => sink.incomplete(NOT_COMPARED),
                },
                Meets::Operation(operation, wanted) => {
                    for (label, words) in self.operation(hand, &from, *operation, wanted, sink) {
                        found.push((*operation as u32, label, join(&words, target)));
                    }
                }
            }
        }
        for operation in &self.free {
            for (label, words) in self.operation(hand, &from, *operation, &[], sink) {
                found.push((*operation as u32, label, join(&words, process)));
            }
        }
        found.sort_unstable();
        found.dedup();
        for (event, label, target) in found {
            hand.target.clear();
            hand.target.extend(&target);
            sink.edge(EventId(event), label, &hand.target);
        }
    }

    fn check(
        &self,
        hand: &mut Self::Worker,
        state: &[u64],
        changed_by: Option<EventId>,
        sink: &mut dyn Sink,
    ) {
        let by = changed_by.filter(|e| (e.0 as usize) < self.operations);
        self.program.check(&mut hand.program, self.split(state).0, by, sink);
    }

    fn terminated(&self, hand: &mut Self::Worker, state: &[u64]) -> bool {
        self.process.terminated(&mut hand.scratch, self.split(state).1)
    }

    fn fingerprint(&self, hand: &mut Self::Worker, state: &[u64]) -> Option<u128> {
        let (machine, process) = self.split(state);
        let own = self.program.fingerprint(&mut hand.program, machine)?;
        // The words of the process are the same in every run; each goes in with its place.
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        Some(process.iter().fold(own, |so_far, word| {
            (so_far ^ u128::from(*word)).wrapping_mul(ODD).rotate_left(47).wrapping_add(ODD)
        }))
    }

    fn property(&self, finding: &Finding) -> String {
        match (finding.kind, finding.property) {
            (FindingKind::WellDefinedness, p) if p >= ACTION => {
                format!("an action of {} is not defined here", self.names[(p - ACTION) as usize])
            }
            (FindingKind::WellDefinedness, p) if p >= FAULT => {
                self.process.property(&Finding { property: p - FAULT, ..finding.clone() })
            }
            _ => self.program.property(finding),
        }
    }

    fn reason(&self, reason: u32) -> String {
        match reason {
            NOT_COMPARED => "a value of the machine has no counterpart in CSP".to_string(),
            NOT_COMPUTED => "transitions of an operation could not be computed".to_string(),
            TOO_LARGE => self.process.reason(0),
            other => self.program.reason(other),
        }
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        self.program.describe(self.split(state).0)
    }
}

/// Initial states of the machine beside the start of the process.
struct Beside<'s> {
    sink: &'s mut dyn Sink,
    start: Vec<u64>,
}

impl Sink for Beside<'_> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.sink.edge(event, label, &[target, &self.start].concat());
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.sink.incomplete(reason);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.sink.undefined_guard(event);
    }
}

/// Options that are not for a guided machine.
fn refused(options: &CheckOptions) -> Vec<Diagnostic> {
    let asked = &options.temporal;
    let formulas =
        !asked.ltl.is_empty() || !asked.ctl.is_empty() || asked.ltl_file.is_some() || asked.assertions;
    let given = [
        ("--symmetry", options.symmetry.is_some(), "the process tells elements apart by their names"),
        ("--por", options.por != Reduce::Off, "the steps of the process are not known to it"),
        ("--engine reference", options.engine == Engine::Reference, "it knows no processes"),
        ("--engine", matches!(options.engine, Engine::Symbolic(_)), "symbolic engines know no processes"),
        (
            "--checkpoint",
            options.checkpoint.save.is_some() || options.checkpoint.resume.is_some(),
            "a guided search cannot be saved",
        ),
        ("a temporal formula", formulas, "formulas over a guided machine are not supported"),
    ];
    let said = |(what, _, why): &(&str, bool, &str)| Diagnostic::plain(format!("{what} with --csp: {why}"));
    given.iter().filter(|(_, given, _)| *given).map(said).collect()
}

/// What each event of the process means to the machine.
fn meetings(eval: &Eval, process: &Process, machine: &Machine) -> Result<Vec<Meets>, Diagnostic> {
    let mut meets = Vec::new();
    for event in 0..eval.events.len() as u32 {
        let name = process.event_parts(event).first().map_or("", String::as_str).to_string();
        let operation = machine.events.iter().position(|op| *machine.op(*op).name == *name);
        let variable = machine.variables.iter().position(|v| *machine.var(*v).name == *name);
        if event <= term::ENDED || (operation.is_none() && variable.is_none()) {
            meets.push(Meets::Nothing);
            continue;
        }
        let parts = &eval.events.data(event).parts()[1..];
        let values: Option<Vec<Plain>> = parts.iter().map(|d| eval.plain(d)).collect();
        let Some(values) = values else {
            return Err(Diagnostic::plain(format!(
                "the event {} has a value that B has not",
                eval.show_event(event)
            )));
        };
        let most = operation.map_or(1, |n| {
            let op = machine.op(machine.events[n]);
            op.params.len() + op.results.len()
        });
        if values.len() > most {
            return Err(Diagnostic::plain(format!(
                "the event {} has {} values, `{name}` of the machine has {most}",
                eval.show_event(event),
                values.len()
            )));
        }
        meets.push(match (operation, variable) {
            (Some(n), _) => Meets::Operation(n, values),
            (None, Some(n)) => Meets::Variable(n, values),
            (None, None) => Meets::Nothing,
        });
    }
    Ok(meets)
}

/// Checks a machine that a process guides.
pub fn check(
    path: &Path,
    script: &Path,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let unused = refused(options);
    if !unused.is_empty() {
        return Err(Rejected { sources: Sources::default(), diagnostics: unused }.into());
    }
    let (mut model, mut sources, diagnostics) = load(path, &options.loading)?;
    super::set_goal(&mut model, &mut sources, options)?;
    let machine = &model.machine;
    let reject = |sources: &Sources, diagnostics: Vec<Diagnostic>| {
        Failure::Rejected(Rejected { sources: sources.clone(), diagnostics })
    };
    let scoped = load_script(script, &mut sources).map_err(|d| reject(&sources, d))?;
    let name = options.process.main.clone().unwrap_or_else(|| "MAIN".to_string());
    let (scoped, main) = named(scoped, &name, &mut sources).map_err(|d| reject(&sources, d))?;
    let mut eval = Eval::new(scoped);
    let process = term_machine(&mut eval, &main, Smaller::Steps, &sources, budget)?;
    let meets = meetings(&eval, &process, machine).map_err(|d| reject(&sources, vec![d]))?;
    let operation = |name: &String| machine.events.iter().position(|op| *machine.op(*op).name == **name);
    let mut free = Vec::new();
    for name in &options.process.free {
        match operation(name) {
            Some(n) => free.push(n),
            None => {
                let fault =
                    Diagnostic::plain(format!("--csp-free {name}: the machine has no such operation"));
                return Err(reject(&sources, vec![fault]));
            }
        }
    }
    let compiling = program::Options {
        skip_invariant: options.no_invariant,
        skip_assertions: options.no_assertions,
        strict_guards: options.strict_wd,
        ..program::Options::default()
    };
    let mut out = super::csp::empty(path, &format!("{} guided by {name}", machine.name), options);
    out.scope = scope_of(machine);
    out.asserts = None;
    out.seconds.load = started.elapsed().as_secs_f64();
    out.warnings = warnings_of(&sources, &diagnostics);
    diagnostics.iter().filter(|d| d.approximates).for_each(|d| out.ledger.enter(d.message.clone()));
    let program = match program::compile(machine, budget, &compiling) {
        Ok(program) => program,
        Err(stop) => {
            out.ledger.enter(format!("{} while the constants were set up", stop.reason()));
            return Ok(out);
        }
    };
    let mut names: Vec<String> = machine.events.iter().map(|op| machine.op(*op).name.to_string()).collect();
    let operations = names.len();
    names.extend(process.event_names().iter().cloned());
    let system = Guided { program: &program, process: &process, meets, free, names, operations, budget };
    out.warnings.extend(unmentioned(&system));
    explore_pair(&system, options, out)
}

/// Explores the pair and fills in what was found.
fn explore_pair(
    system: &Guided<'_, '_>,
    options: &CheckOptions,
    mut out: Outcome,
) -> Result<Outcome, Failure> {
    let exploring = Instant::now();
    let how = options.exploring();
    let found = explore::explore(system, &how, system.budget).map_err(|e| Failure::Internal(e.0))?;
    out.violation = violation(system, &found)?;
    for (reason, _) in &found.reasons {
        out.ledger.enter(match reason {
            Reason::States(n) => format!("the limit of {n} states was reached"),
            Reason::Time => "time limit reached".to_string(),
            Reason::Interrupted => "interrupted".to_string(),
            Reason::System(n) => system.reason(*n),
            _ => "memory limit reached".to_string(),
        });
    }
    if found.exhausted {
        out.ledger.finished();
    }
    let machine = system.program.machine();
    let setups = if machine.has_setup() { system.program.valuations() as u64 } else { 0 };
    for kind in FindingKind::ALL.iter().filter(|k| **k != FindingKind::Ltl) {
        out.found.insert(kind.word().to_string(), found.counts.of(*kind));
    }
    out.counts = Counts {
        states: found.states,
        transitions: found.transitions,
        constants: system.program.constant_valuations() as u64,
        initial: found.initial,
        depth: u64::from(found.depth.unwrap_or(0)),
        prob_states: found.states + setups,
        prob_transitions: found.transitions + found.initial_transitions + setups,
    };
    let coverage = system.names.iter().zip(&found.events);
    out.events = coverage
        .enumerate()
        .filter(|(i, (name, c))| {
            // A channel that moves an operation is counted as the operation.
            let own = *i < system.operations
                || !(system.names[..system.operations].contains(name) || *name == "tau" || *name == "tick");
            c.transitions > 0 || own
        })
        .map(|(_, (name, c))| EventCoverage {
            name: name.clone(),
            states: c.states,
            transitions: c.transitions,
        })
        .collect();
    let guards: u64 = found.undefined_guards.iter().sum();
    if guards > 0 {
        out.warnings.push(format!("guards were undefined {guards} times and counted as false there"));
    }
    out.digest = format!("{:032x}-{}", found.digest, found.states);
    out.reductions.collision_bound = found.collision_bound;
    out.reductions.store = options.store.word();
    out.seconds.explore = exploring.elapsed().as_secs_f64();
    out.peak_memory_bytes = peak_resident_bytes();
    out.interrupted = system.budget.check() == Err(Stop::Interrupted);
    Ok(out)
}

fn named(
    mut script: Scoped,
    name: &str,
    sources: &mut Sources,
) -> Result<(Scoped, crate::csp::core::Ex), Vec<Diagnostic>> {
    let names = std::mem::take(&mut script.names);
    let (read, expr) = parser::expression(name, "<main>", names, sources);
    script.names = read.names;
    let Some(expr) = expr.filter(|_| read.faults.is_empty()) else { return Err(read.faults) };
    let (mut script, main) = expression(script, &expr);
    if script.faults.is_empty() { Ok((script, main)) } else { Err(std::mem::take(&mut script.faults)) }
}

/// A warning for operations that can never happen.
fn unmentioned(system: &Guided<'_, '_>) -> Option<String> {
    let mentioned = |n: usize| {
        system.free.contains(&n)
            || system.meets.iter().any(|m| matches!(m, Meets::Operation(o, _) if *o == n))
    };
    let never: Vec<&str> =
        (0..system.operations).filter(|n| !mentioned(*n)).map(|n| system.names[n].as_str()).collect();
    (!never.is_empty()).then(|| {
        format!(
            "the process does not mention {}, so this never happens (--csp-free OP sets it free)",
            never.join(", ")
        )
    })
}

/// The first finding with its trace.
fn violation(system: &Guided<'_, '_>, found: &explore::Outcome) -> Result<Option<Violation>, Failure> {
    let Some(first) = found.findings.first() else { return Ok(None) };
    let unlimited = Budget::unlimited();
    let machine = system.program.machine();
    let interpreter = Interpreter::new(machine, &unlimited);
    let mut steps = Vec::new();
    let trace = first.trace.clone().unwrap_or_default();
    for (i, step) in trace.iter().enumerate() {
        let here = system.program.values(system.split(&step.state).0);
        let mut shown = TraceStep {
            state: shown_values(machine, &machine.variables, &here.variables),
            ..TraceStep::default()
        };
        match step.event {
            None => shown.event = INITIALISE.to_string(),
            Some(event) if (event.0 as usize) < system.operations => {
                let from = system.program.values(system.split(&trace[i - 1].state).0);
                let possible = interpreter
                    .steps_of(&from, event.0 as usize)
                    .map_err(|e| Failure::Internal(e.to_string()))?;
                let taken = possible.transitions.iter().find(|t| {
                    t.target == here && system.program.label(event, &t.params, &t.results) == step.label
                });
                let Some(taken) = taken else {
                    return Err(Failure::Internal(format!(
                        "step {i} of a trace is no transition of the interpreter"
                    )));
                };
                let op = machine.op(machine.events[event.0 as usize]);
                shown.event = op.name.to_string();
                shown.params = shown_values(machine, &op.params, &taken.params);
                shown.results = shown_values(machine, &op.results, &taken.results);
            }
            Some(_) => shown.event = system.process.event_text(step.label as u32).to_string(),
        }
        steps.push(shown);
    }
    let mut explanation = Vec::new();
    if let Some(last) = trace.last() {
        let (words, process) = system.split(&last.state);
        if first.finding.kind == FindingKind::Deadlock {
            explanation.push(stuck(system, process));
        } else if first.finding.kind == FindingKind::Invariant {
            confirm_finding(&interpreter, &first.finding, &system.program.values(words))
                .map_err(Failure::Internal)?;
        }
    }
    Ok(Some(Violation {
        confirmed_by: None,
        kind: first.finding.kind.word().to_string(),
        property: system.property(&first.finding),
        explanation,
        trace: steps,
        loop_start: None,
    }))
}

/// Why nothing is possible: the process is at its end, or the machine does not follow.
fn stuck(system: &Guided<'_, '_>, process: &[u64]) -> String {
    let mut scratch = Scratch::default();
    let offered: Vec<String> = match system.process.moves(&mut scratch, process) {
        Ok(moves) => moves.map(|(event, _)| system.process.event_text(event).to_string()).collect(),
        Err(_) => Vec::new(),
    };
    if offered.is_empty() {
        return "the process itself is deadlocked".to_string();
    }
    format!("the process is blocked: it offers {}, the machine can do none of it", offered.join(", "))
}

fn shown_values(machine: &Machine, vars: &[VarId], values: &[Value]) -> Vec<(String, String)> {
    let pairs = vars.iter().zip(values);
    pairs.map(|(v, x)| (machine.var(*v).name.to_string(), x.show(machine, &machine.var(*v).ty))).collect()
}
