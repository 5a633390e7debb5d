//! A check of a model in another formalism than B: any `System` goes through here.
//!
//! In: a system, what is asked about it, a budget. Out: an `Outcome` as for B: verdict, figures, trace
//! with the words of the formalism, JSON. There is no second interpreter that could confirm a trace; the
//! system itself has to make each step again, and the result says so.
//! Never here: B, how a formalism computes its transitions.

mod client;
mod file;
pub(super) mod temporal;

pub use client::Client;
pub use file::{Formalism, check_file, check_via};

use super::compiled::shares;
use super::reduction::{self, Reduce};
use super::{CheckOptions, Failure, Rejected, checkpoint};
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::explore::reduce::por::{Method, Por, Preserve, Proviso};
use crate::explore::{self, Step, Store, Trace};
use crate::model::LoadOptions;
use crate::report::{
    Counts, EventCoverage, INITIALISE, Ledger, Outcome, Reductions, Scope, Seconds, TraceStep, Violation,
};
use crate::system::{EventId, Finding, FindingKind, Sink, System};
use std::sync::atomic::Ordering;
use std::time::Instant;
use temporal::Formulas;

/// What is said of every trace of a formalism without a second interpreter.
const NOT_CONFIRMED: &str = "each step was made again by the same engine; no second interpreter confirms it";

/// A model that is ready to be explored.
pub struct Subject<S> {
    pub system: S,
    pub file: String,
    pub name: String,
    pub engine: &'static str,
    pub sources: Sources,
    /// Tells the model from others, for searches that go on later.
    pub identity: String,
    pub started: Instant,
}

/// Checks a system exhaustively.
pub fn check<S: Client>(
    mut subject: Subject<S>,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<Outcome, Failure> {
    let refused = refusals(options);
    if !refused.is_empty() {
        return Err(Rejected { sources: subject.sources, diagnostics: refused }.into());
    }
    let formulas = Formulas::read(&mut subject.system, &mut subject.sources, options, &str::to_string)?;
    let settled = settle(&mut subject.system, options, &formulas);
    adopt_saved(&mut subject, options);
    let load = subject.started.elapsed().as_secs_f64();
    let exploring = Instant::now();
    let how = explore::Options {
        // Temporal formulas speak of all paths, also of those behind a finding.
        keep_going: options.keep_going || !formulas.is_empty(),
        record_edges: !formulas.is_empty(),
        por: settled.por,
        ..options.exploring()
    };
    let threads = super::temporal::threads_if(!formulas.is_empty(), options.workers)?;
    let searched = threads.run(|| search(&mut subject, &how, options, budget))?;
    let explore_seconds = exploring.elapsed().as_secs_f64();
    let (system, found) = (&subject.system, &searched.outcome);

    let mut ledger = Ledger::default();
    found.reasons.iter().for_each(|(reason, _)| ledger.enter(reason.words(system)));
    if found.out_of_scope > 0 {
        ledger.enter(format!("{} states were left without their successors", found.out_of_scope));
    }
    if found.exhausted {
        ledger.finished();
    }
    let violation = match found.findings.first() {
        None => None,
        Some(v) => Some(shown(system, &v.finding, v.trace.as_ref())?),
    };
    if violation.is_some() && !how.keep_going {
        ledger.enter("the search stopped at the first finding");
    }
    let checking = Instant::now();
    let checked = threads.run(|| temporal::check(system, found, &formulas, &mut ledger, budget))?;
    let mut all = violation.into_iter().chain(checked.violations);
    let violation = all.next();
    let others = all.map(|v| (v, Default::default())).collect();
    if let Some(why) = system.failure() {
        return Err(broken(&subject, why));
    }
    let por = settled.por.zip(found.por).map(|(por, f)| reduction::details(system.relations(), por, &f));
    let mut warnings: Vec<String> = formulas.warnings(&subject.sources);
    warnings.extend(settled.notes);
    warnings.extend(por.iter().flat_map(|(_, notes)| notes.iter().cloned()));
    warnings.extend(searched.warnings.iter().cloned());
    Ok(Outcome {
        why: Default::default(),
        others,
        goal: None,
        asserts: None,
        file: subject.file.clone(),
        machine: subject.name.clone(),
        scope: Scope::default(),
        ledger,
        violation,
        found: kinds(found),
        warnings,
        counts: counts(found),
        figures: system.figures(found),
        events: coverage(system, found),
        temporal: checked.verdicts,
        digest: format!("{:032x}-{}", found.digest, found.states),
        engine: subject.engine,
        symbolic: None,
        reductions: Reductions {
            store: options.store.word(),
            collision_bound: found.collision_bound,
            por: if por.is_some() { "on" } else { "off" },
            por_details: por.map(|(details, _)| details),
            ..Reductions::default()
        },
        workers: options.workers,
        seconds: Seconds {
            load,
            setup: 0.0,
            explore: explore_seconds,
            temporal: checking.elapsed().as_secs_f64(),
        },
        time_shares: Some(shares(&found.shares)),
        peak_memory_bytes: peak_resident_bytes(),
        machines: Vec::new(),
        details: details(&subject, &searched),
        interrupted: budget.check() == Err(Stop::Interrupted)
            || options.checkpoint.end.load(Ordering::Relaxed),
    })
}

/// Explores; a system that could not hold its states adapts itself, and the search begins again.
fn search<S: Client>(
    subject: &mut Subject<S>,
    how: &explore::Options,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<checkpoint::Searched, Failure> {
    let mut asked = options.checkpoint.clone();
    loop {
        let (system, identity) = (&subject.system, &subject.identity);
        let facts = || checkpoint::facts_of(options, identity.clone(), system.layout());
        let result = checkpoint::search_with(system, facts, how.clone(), budget, &asked);
        let Some(why) = subject.system.failure() else { return result };
        if !subject.system.adapt() {
            return Err(broken(subject, why));
        }
        how.progress.reset();
        asked.forget();
        asked.resume = None;
    }
}

/// Takes over the layout of a search that was saved, so that it can go on.
fn adopt_saved<S: Client>(subject: &mut Subject<S>, options: &CheckOptions) {
    if let Some(layout) = options.checkpoint.resume.as_ref().and_then(|dir| checkpoint::saved_layout(dir)) {
        subject.system.adopt(&layout);
    }
}

/// The system itself gave up: there is no verdict, and the fault is not ours.
fn broken<S>(subject: &Subject<S>, why: String) -> Failure {
    let message = format!("{}: {why}", subject.file);
    Rejected { sources: subject.sources.clone(), diagnostics: vec![Diagnostic::plain(message)] }.into()
}

/// Options that mean something for B alone: refused, because whoever gave them counts on them.
fn refusals(options: &CheckOptions) -> Vec<Diagnostic> {
    let l = &options.loading;
    let none = LoadOptions::default();
    let given = [
        ("--engine evaluate", options.engine == super::Engine::Evaluate),
        ("--engine reference", options.engine == super::Engine::Reference),
        ("--engine", matches!(options.engine, super::Engine::Symbolic(_))),
        ("--engine bdd", options.engine == super::Engine::Bdd),
        ("--symmetry", options.symmetry.is_some()),
        ("--goal", options.goal.is_some()),
        ("--strict-wd", options.strict_wd),
        ("--no-invariant", options.no_invariant && !options.deadlock_only),
        ("--no-assertions", options.no_assertions && !options.deadlock_only),
        ("--no-goal", options.no_goal && !options.deadlock_only),
        ("--ltl-assertions", options.temporal.assertions),
        ("--set", !l.set_sizes.is_empty()),
        ("--set-size", l.default_set_size.is_some()),
        ("--maxint", l.maxint.is_some()),
        ("--minint", l.minint.is_some()),
        ("--integers-in-scope", l.integers_in_scope),
        ("--all-constants", l.all_constants),
        ("--machine", l.machine != none.machine),
        ("--abstract-levels", l.abstract_levels.is_some()),
        ("--variants", l.variants),
        ("--operation", !l.operations.is_empty()),
        ("--csp", options.process.guide.is_some()),
    ];
    let processes =
        [("--main", options.process.main.is_some()), ("--csp-free", !options.process.free.is_empty())];
    let of_b = given.iter().map(|(option, given)| (option, given, "models of the B family"));
    let of_processes =
        processes.iter().map(|(option, given)| (option, given, "CSP scripts and for --csp SCRIPT"));
    of_b.chain(of_processes)
        .filter(|(_, given, _)| **given)
        .map(|(option, _, of)| Diagnostic::plain(format!("{option} is for {of}, this is another formalism")))
        .collect()
}

/// Whether there is a reduction, and what it preserves.
fn settle<S: Client>(system: &mut S, options: &CheckOptions, formulas: &Formulas) -> reduction::Settled {
    let method = match options.por {
        Reduce::Off => return reduction::Settled::default(),
        Reduce::Stubborn => Method::Stubborn,
        Reduce::Ample => Method::Ample,
    };
    let off = |why: String| reduction::Settled {
        por: None,
        notes: vec![format!("partial order reduction is off: {why}")],
    };
    if options.keep_going {
        return off("--keep-going counts all findings, and a reduced search does not see all of them".into());
    }
    if let Some(why) = formulas.not_preserved() {
        return off(why);
    }
    let own = match system.prepare_reduction() {
        Ok(own) => own,
        Err(why) => return off(why),
    };
    let preserve = if formulas.is_empty() { own } else { Preserve::Paths };
    let level = options.level_proviso || options.store == Store::Hash;
    let proviso = if level { Proviso::Level } else { Proviso::Topological };
    reduction::Settled { por: Some(Por { method, preserve, proviso }), notes: Vec::new() }
}

fn kinds(found: &explore::Outcome) -> std::collections::BTreeMap<String, u64> {
    let count = |kind: &FindingKind| (kind.word().to_string(), found.counts.of(*kind));
    FindingKind::ALL.iter().filter(|kind| **kind != FindingKind::Ltl).map(count).collect()
}

fn counts(found: &explore::Outcome) -> Counts {
    Counts {
        states: found.states,
        transitions: found.transitions,
        constants: 0,
        initial: found.initial,
        depth: u64::from(found.depth.unwrap_or(0)),
        prob_states: found.states,
        prob_transitions: found.transitions + found.initial_transitions,
    }
}

fn coverage(system: &impl System, found: &explore::Outcome) -> Vec<EventCoverage> {
    let both = system.event_names().iter().zip(&found.events);
    both.map(|(name, c)| EventCoverage { name: name.clone(), states: c.states, transitions: c.transitions })
        .collect()
}

fn details<S: Client>(subject: &Subject<S>, searched: &checkpoint::Searched) -> Vec<String> {
    let found = &searched.outcome;
    let mut lines = vec![
        format!("memory       {:.1} bytes per state in the visited set", found.bytes_per_state()),
        format!("layout       {} words per state", subject.system.words()),
    ];
    lines.extend(searched.details.iter().cloned());
    lines
}

/// A finding with its trace.
fn shown<S: System>(system: &S, finding: &Finding, trace: Option<&Trace>) -> Result<Violation, Failure> {
    let mut explanation = Vec::new();
    if let Some(event) = finding.event {
        explanation.push(format!("while computing {}", system.event_names()[event.0 as usize]));
    }
    let mut steps = Vec::new();
    if let Some(trace) = trace {
        steps = self::steps(system, trace)?;
        explanation.push(NOT_CONFIRMED.into());
    }
    Ok(Violation {
        confirmed_by: None,
        kind: finding.kind.word().to_string(),
        property: system.property(finding),
        explanation,
        trace: steps,
        loop_start: None,
    })
}

/// The steps of a trace in the words of the formalism. The system must make each of them again.
fn steps<S: System>(system: &S, trace: &Trace) -> Result<Vec<TraceStep>, Failure> {
    let mut worker = system.replay_worker();
    let mut out = Vec::with_capacity(trace.len());
    for (i, step) in trace.iter().enumerate() {
        let mut made = Made { wanted: step, found: false };
        match i.checked_sub(1) {
            None => system.initial(&mut worker, &mut made),
            Some(before) => system.successors(&mut worker, &trace[before].state, &mut made),
        }
        if !made.found {
            return Err(match system.failure() {
                Some(why) => Failure::Rejected(Rejected {
                    sources: Sources::default(),
                    diagnostics: vec![Diagnostic::plain(why)],
                }),
                None => Failure::Internal(format!("step {i} of a trace cannot be made again")),
            });
        }
        let params = match (step.event, i.checked_sub(1)) {
            (Some(event), Some(before)) => system.label(event, step.label, &trace[before].state, &step.state),
            _ => Vec::new(),
        };
        let event = step.event.map_or(INITIALISE, |event| &system.event_names()[event.0 as usize]);
        out.push(TraceStep {
            event: event.to_string(),
            params,
            results: Vec::new(),
            state: system.describe(&step.state),
        });
    }
    Ok(out)
}

/// Looks for one transition.
struct Made<'a> {
    wanted: &'a Step,
    found: bool,
}

impl Sink for Made<'_> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        let same = self.wanted.event.is_none_or(|wanted| wanted == event && self.wanted.label == label);
        self.found |= same && target == self.wanted.state;
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
