//! A CSP process that guides a machine: both as one system.
//!
//! In: a machine, a script, options as meant. Out: an `Outcome`. A channel named like an operation moves both, its
//! values are the arguments and then the results; a channel named like a variable reads its value; everything else
//! is a matter of the process alone. Operations without a channel do not happen, unless they are set free.
//! Never here: the meaning of CSP or of B.

mod formulas;
mod meeting;
mod pair;
mod shown;

use super::csp::{load as load_script, no_process, read_expression, term_machine};
use super::foreign::temporal as deciding;
use super::{
    CheckOptions, Engine, Failure, Reduce, Rejected, explain, load, scope_of, symmetry, warnings_of,
};
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::csp::compose::Smaller;
use crate::csp::eval::Eval;
use crate::csp::machine::Machine as Process;
use crate::explore;
use crate::lang::typed::{Machine, SetKind};
use crate::model::Model;
use crate::program::native::Tier;
use crate::program::{self};
use crate::report::{Counts, EventCoverage, Outcome, Violation};
use crate::system::{FindingKind, System};
use formulas::Reading;
use meeting::{Meeting, Meets, meetings};
use pair::Guided;
use std::path::Path;
use std::time::Instant;

/// Options that are not for a guided machine.
fn refused(options: &CheckOptions) -> Vec<Diagnostic> {
    let asked = &options.temporal;
    let formulas =
        !asked.ltl.is_empty() || !asked.ctl.is_empty() || asked.ltl_file.is_some() || asked.assertions;
    let given = [
        ("--por", options.por != Reduce::Off, "the steps of the process are not known to it"),
        ("--engine reference", options.engine == Engine::Reference, "it knows no processes"),
        ("--engine", matches!(options.engine, Engine::Symbolic(_)), "symbolic engines know no processes"),
        ("--engine bdd", options.engine == Engine::Bdd, "it knows no processes"),
        (
            "--checkpoint",
            options.checkpoint.save.is_some() || options.checkpoint.resume.is_some(),
            "a guided search cannot be saved",
        ),
        (
            "--symmetry",
            options.symmetry.is_some() && formulas,
            "formulas over a guided machine are decided in a run without it",
        ),
    ];
    let said = |(what, _, why): &(&str, bool, &str)| Diagnostic::plain(format!("{what} with --csp: {why}"));
    given.iter().filter(|(_, given, _)| *given).map(said).collect()
}

/// A machine beside a process, before anything is compiled.
struct Loaded {
    model: Model,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    process: Process,
    meeting: Meeting,
    /// The name of the process.
    name: String,
    /// Operations of the machine as written.
    operations: usize,
}

fn reject(sources: &Sources, diagnostics: Vec<Diagnostic>) -> Failure {
    Failure::Rejected(Rejected { sources: sources.clone(), diagnostics })
}

/// Reads both. Where the process names elements of deferred sets, all valuations of the constants count: two that
/// differ in such an element only are not the same to the process. An element may also be named by the constant that
/// it is; then what other constants are may hide behind it, and the result says so.
fn load_both(
    path: &Path,
    script: &Path,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<(Loaded, Option<&'static str>), Failure> {
    let loaded = load_once(path, script, options, budget)?;
    if options.loading.all_constants || !loaded.meeting.names_deferred {
        return Ok((loaded, None));
    }
    let mut every = options.clone();
    every.loading.all_constants = true;
    let all = load_once(path, script, &every, budget)?;
    if all.meeting.strange <= loaded.meeting.strange {
        return Ok((all, None));
    }
    let doubt =
        "the process names elements by constants: valuations that differ in names of elements count as one";
    let doubt = (!loaded.model.machine.constants.is_empty()).then_some(doubt);
    Ok((loaded, doubt))
}

fn load_once(path: &Path, script: &Path, options: &CheckOptions, budget: &Budget) -> Result<Loaded, Failure> {
    let (mut model, mut sources, diagnostics) = load(path, &options.loading)?;
    super::set_goal(&mut model, &mut sources, options)?;
    let scoped = load_script(script, &mut sources).map_err(|d| reject(&sources, d))?;
    let name = options.process.main.clone().unwrap_or_else(|| "MAIN".to_string());
    if !scoped.names.find(&name).is_some_and(|n| scoped.globals.contains_key(&n)) {
        return Err(reject(&sources, vec![no_process(&name)]));
    }
    let (mut eval, main): (Eval, _) =
        read_expression(scoped, &name, "<main>", &mut sources).map_err(|d| reject(&sources, d))?;
    eval.limit = Some(budget.clone());
    let process = term_machine(&mut eval, &main, Smaller::Steps, &sources, budget)?;
    let operations = model.machine.events.len();
    let meeting = meetings(&mut eval, &process, &mut model.machine).map_err(|d| reject(&sources, vec![d]))?;
    Ok(Loaded { model, sources, diagnostics, process, meeting, name, operations })
}

/// The outcome of a run whose time was over before the process was evaluated.
fn cut_short(path: &Path, options: &CheckOptions, stop: Stop) -> Outcome {
    let mut out = super::csp::empty(path, "MAIN", options);
    out.asserts = None;
    out.ledger.enter(stop.reason());
    out.interrupted = stop == Stop::Interrupted;
    out
}

/// The operations that are set free, by their numbers.
fn set_free(machine: &Machine, options: &CheckOptions) -> Result<Vec<usize>, Diagnostic> {
    let number =
        |name: &String| {
            machine.events.iter().position(|op| *machine.op(*op).name == **name).ok_or_else(|| {
                Diagnostic::plain(format!("--csp-free {name}: the machine has no such operation"))
            })
        };
    options.process.free.iter().map(number).collect()
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
        return Err(reject(&Sources::default(), unused));
    }
    let (loaded, doubt) = match (load_both(path, script, options, budget), budget.check()) {
        (Err(Failure::Rejected(_)), Err(stop)) => return Ok(cut_short(path, options, stop)),
        (loaded, _) => loaded?,
    };
    let Loaded { mut model, mut sources, diagnostics, process, meeting, name, operations } = loaded;
    let free = set_free(&model.machine, options).map_err(|d| reject(&sources, vec![d]))?;
    let mut names: Vec<String> =
        model.machine.events[..operations].iter().map(|op| model.machine.op(*op).name.to_string()).collect();
    names.extend(process.event_names().iter().cloned());
    let mut reading = Reading { model: &mut model, names: names.clone(), asked: Vec::new() };
    let formulas = formulas::read(&mut reading, &mut sources, options)?;
    let asked = std::mem::take(&mut reading.asked);
    let machine = &model.machine;
    let mut out = super::csp::empty(path, &format!("{} guided by {name}", machine.name), options);
    out.scope = scope_of(machine);
    out.asserts = None;
    out.seconds.load = started.elapsed().as_secs_f64();
    out.warnings = warnings_of(&sources, &diagnostics);
    out.warnings.extend(formulas.warnings(&sources));
    diagnostics.iter().filter(|d| d.approximates).for_each(|d| out.ledger.enter(d.message.clone()));
    doubt.into_iter().for_each(|why| out.ledger.enter(why));
    let observed = meeting.probes.iter().cloned().chain(asked).chain(meeting.naming()).collect();
    let compiling = program::Options {
        skip_invariant: options.no_invariant,
        skip_assertions: options.no_assertions,
        strict_guards: options.strict_wd,
        native: if options.no_native { Tier::Never } else { Tier::WhenHot },
        symmetry: options.symmetry,
        observed,
        ..program::Options::default()
    };
    let program = match program::compile(machine, budget, &compiling) {
        Ok(program) => program,
        Err(stop) => {
            out.ledger.enter(format!("{} while the constants were set up", stop.reason()));
            return Ok(out);
        }
    };
    let system = Guided { program: &program, process: &process, meeting, free, names, operations, budget };
    out.warnings.extend(unmentioned(&system));
    if options.symmetry.is_some() && system.meeting.names_deferred {
        out.warnings.extend(named_elements(&system));
    }
    let mut out = explore_pair(&system, &formulas, options, out)?;
    drop(system);
    drop(program);
    explained(path, &mut model, &mut sources, options, &mut out);
    Ok(out)
}

/// Adds why the findings of the machine are findings. What keeps the pair from moving is the process, which has said its part.
fn explained(
    path: &Path,
    model: &mut Model,
    sources: &mut Sources,
    options: &CheckOptions,
    out: &mut Outcome,
) {
    let of_machine = |v: &Violation| v.kind != FindingKind::Deadlock.word();
    let Some(violation) = out.violation.take_if(|v| of_machine(v)) else { return };
    let others = std::mem::take(&mut out.others).into_iter().map(|(v, _)| v).collect();
    let found = explain::Found { violation: Some(violation), others, joint: Vec::new() };
    let told = explain::findings(path, model, sources, options, &|_| None, found);
    (out.violation, out.why, out.others) = (told.violation, told.why, told.others);
}

/// Explores the pair and fills in what was found.
fn explore_pair(
    system: &Guided<'_, '_>,
    formulas: &deciding::Formulas,
    options: &CheckOptions,
    mut out: Outcome,
) -> Result<Outcome, Failure> {
    let exploring = Instant::now();
    let how = explore::Options {
        // Temporal formulas speak of all paths, also of those behind a finding.
        keep_going: options.keep_going || !formulas.is_empty(),
        record_edges: !formulas.is_empty(),
        ..options.exploring()
    };
    let threads = super::temporal::threads_if(!formulas.is_empty(), options.workers)?;
    let found =
        threads.run(|| explore::explore(system, &how, system.budget)).map_err(|e| Failure::Internal(e.0))?;
    out.seconds.explore = exploring.elapsed().as_secs_f64();
    let shown = shown::violations(system, &found)?;
    found.reasons.iter().for_each(|(reason, _)| out.ledger.enter(reason.words(system)));
    if found.out_of_scope > 0 {
        out.ledger.enter(format!("{} states were left without their successors", found.out_of_scope));
    }
    if found.exhausted {
        out.ledger.finished();
    } else if !shown.is_empty() && !how.keep_going {
        out.ledger.enter("the search stopped at the first finding");
    }
    let deciding = Instant::now();
    let checked =
        threads.run(|| deciding::check(system, &found, formulas, &mut out.ledger, system.budget))?;
    out.seconds.temporal = deciding.elapsed().as_secs_f64();
    let temporal = checked.violations.into_iter().map(|violation| with_results(system, violation));
    let mut all = shown.into_iter().chain(temporal);
    out.violation = all.next();
    out.others.extend(all.map(|v| (v, Default::default())));
    out.temporal = checked.verdicts;
    fill(system, &found, &mut out);
    out.reductions.store = options.store.word();
    out.reductions.symmetry = symmetry::grade(system.program, &found);
    out.reductions.symmetric_sets = system.program.symmetric_sets();
    out.reductions.collision_bound += symmetry::collision_bound(system.program, found.states);
    Ok(out)
}

/// A violation in whose steps results stand apart from parameters.
fn with_results(system: &Guided<'_, '_>, mut violation: Violation) -> Violation {
    let machine = system.program.machine();
    for step in &mut violation.trace {
        let op = machine.events[..system.operations].iter().map(|op| machine.op(*op));
        let Some(op) = op.into_iter().find(|op| *op.name == *step.event) else { continue };
        let is_result =
            |(name, _): &(String, String)| op.results.iter().any(|v| *machine.var(*v).name == **name);
        let (results, params) = std::mem::take(&mut step.params).into_iter().partition(is_result);
        (step.results, step.params) = (results, params);
    }
    violation
}

/// The figures of an exploration.
fn fill(system: &Guided<'_, '_>, found: &explore::Outcome, out: &mut Outcome) {
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
    out.peak_memory_bytes = peak_resident_bytes();
    out.interrupted = system.budget.check() == Err(Stop::Interrupted);
}

/// A warning for deferred sets in which symmetry is refused because the process names elements.
fn named_elements(system: &Guided<'_, '_>) -> Option<String> {
    let symmetric = system.program.symmetric_sets();
    let sets = system.program.machine().sets.iter().filter(|set| set.kind == SetKind::Deferred);
    let refused: Vec<&str> =
        sets.map(|set| &*set.name).filter(|name| !symmetric.iter().any(|s| s.as_str() == *name)).collect();
    (!refused.is_empty()).then(|| {
        format!(
            "--symmetry is refused for {}: the process names elements, which are not interchangeable to it",
            refused.join(", ")
        )
    })
}

/// A warning for operations that can never happen.
fn unmentioned(system: &Guided<'_, '_>) -> Option<String> {
    let mentioned = |n: usize| {
        system.free.contains(&n)
            || system.meeting.meets.iter().any(|m| matches!(m, Meets::Operation(w) if w.operation == n))
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
