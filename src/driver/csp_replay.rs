//! A trace is re-run against a process of a CSP script, event by event.
//!
//! In: a trace as read, and a script. Out: that every event can be done, or the first that cannot and what could be.
//! A trace of an exploration holds every τ; the trace of an assertion leaves τ out, so any number may happen before each
//! of its events. Never here: machines that a process guides.

use super::csp::{load, no_process, read_expression, term_machine};
use super::replay::Replayed;
use super::{Failure, Rejected, one_line};
use crate::base::budget::{Budget, Stop};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::csp::compose::Smaller;
use crate::csp::core::Ex;
use crate::csp::eval::Eval;
use crate::csp::machine::Machine;
use crate::csp::scope::ClaimIn;
use crate::csp::term::TAU;
use crate::report::trace_read::ReadTrace;
use crate::system::System;
use std::collections::BTreeSet;
use std::path::Path;

/// States that fit what a trace told so far; more than these are not followed.
const FOLLOWED: usize = 100_000;

/// Follows a trace through the process that it is of.
pub(super) fn follow(path: &Path, trace: &ReadTrace, budget: &Budget) -> Result<Replayed, Rejected> {
    let mut sources = Sources::default();
    let script =
        load(path, &mut sources).map_err(|diagnostics| Rejected { sources: sources.clone(), diagnostics })?;
    let name = trace.machine.clone().unwrap_or_else(|| "MAIN".to_string());
    let known = script.names.find(&name).is_some_and(|n| script.globals.contains_key(&n));
    let text = if known { name.as_str() } else { "STOP" };
    let (mut eval, main) = read_expression(script, text, "<main>", &mut sources)
        .map_err(|diagnostics| Rejected { sources: sources.clone(), diagnostics })?;
    eval.limit = Some(budget.clone());
    let mut processes: Vec<(String, Ex)> = Vec::new();
    let kind = trace.violation.as_ref().map_or("", |(kind, _)| kind.as_str());
    if known && kind != "assertion" {
        processes.push((name.clone(), main));
    }
    if matches!(kind, "assertion" | "well-definedness") {
        processes.extend(of_assertions(&eval, &sources, trace));
    }
    if processes.is_empty() {
        return Err(Rejected { sources, diagnostics: vec![no_process(&name)] });
    }
    let mut best: Option<Replayed> = None;
    for (name, process) in processes {
        let machine = match term_machine(&mut eval, &process, Smaller::Steps, &sources, budget) {
            Ok(machine) => machine,
            Err(Failure::Rejected(rejected)) => return Err(rejected),
            Err(Failure::Internal(message)) => {
                return Err(Rejected { sources, diagnostics: vec![Diagnostic::plain(message)] });
            }
        };
        let replayed = walk(&machine, name, trace, budget);
        if replayed.exit_status() == 0 {
            return Ok(replayed);
        }
        if best.as_ref().is_none_or(|b| b.made < replayed.made) {
            best = Some(replayed);
        }
    }
    Ok(best.unwrap_or_default())
}

/// The processes of the assertion that a trace is said to break, or of all if it does not tell which one.
fn of_assertions(eval: &Eval, sources: &Sources, trace: &ReadTrace) -> Vec<(String, Ex)> {
    let property = trace.violation.as_ref().map_or("", |(_, property)| property.as_str());
    let script = eval.script.clone();
    let all = script.asserts.iter().map(|assert| {
        let text = one_line(sources.slice(assert.span));
        let text = text.strip_prefix("assert").unwrap_or(&text).trim().to_string();
        let process = match &assert.claim {
            ClaimIn::Refines(_, _, p)
            | ClaimIn::DeadlockFree(p, _)
            | ClaimIn::DivergenceFree(p)
            | ClaimIn::Deterministic(p, _)
            | ClaimIn::HasTrace(p, ..) => p.clone(),
        };
        (text, process)
    });
    let (named, others): (Vec<_>, Vec<_>) =
        all.partition(|(text, _)| property == text || property.starts_with(&format!("{text}   ")));
    let chosen = if named.is_empty() { others } else { named };
    chosen.into_iter().map(|(_, process)| (one_line(sources.slice(process.span)), process)).collect()
}

fn walk(machine: &Machine, name: String, trace: &ReadTrace, budget: &Budget) -> Replayed {
    let mut replayed = Replayed { machine: name, steps: trace.steps.len(), ..Replayed::default() };
    let silent = machine.event_text(TAU).to_string();
    let every = trace.steps.iter().any(|step| step.event == silent);
    let mut front: BTreeSet<Vec<u64>> = BTreeSet::from([machine.start()]);
    for step in &trace.steps {
        let mut possible: BTreeSet<String> = BTreeSet::new();
        let mut next = BTreeSet::new();
        let mut open: Vec<Vec<u64>> = front.iter().cloned().collect();
        while let Some(state) = open.pop() {
            if front.len() > FOLLOWED || budget.check().is_err() {
                replayed.interrupted = budget.check() == Err(Stop::Interrupted);
                replayed.incomplete = Some("more states fit the trace than are followed".to_string());
                return replayed;
            }
            for (event, to) in moves(machine, &state) {
                let text = machine.event_text(event);
                possible.insert(text.to_string());
                if text == step.event {
                    next.insert(to);
                } else if event == TAU && !every && front.insert(to.clone()) {
                    open.push(to);
                }
            }
        }
        if next.is_empty() {
            let offered: Vec<String> = possible.into_iter().collect();
            let why = match offered.is_empty() {
                true => "nothing is possible here".to_string(),
                false => format!("possible here: {}", offered.join(", ")),
            };
            replayed.failed = Some((step.event.clone(), vec![why]));
            return replayed;
        }
        replayed.made += 1;
        front = next;
    }
    replayed
}

/// The transitions of a state; one whose process has a fault has none.
fn moves(machine: &Machine, state: &[u64]) -> Vec<(u32, Vec<u64>)> {
    let mut scratch = machine.worker();
    let found = machine.moves(&mut scratch, state);
    found.map_or(Vec::new(), |moves| moves.map(|(event, to)| (event, to.to_vec())).collect())
}
