//! What a check says of a classical refinement: the machine alone, then the machine and its abstractions in lock-step.
//!
//! In: what an engine found for the machine alone, as ProB animates it; that gives all counts. Out: the same with the
//! findings and doubts of the lock-step check.
//!
//! A client calls an operation only where the precondition of the abstraction holds, which may speak of variables that
//! the machine alone does not have. So a failing action, invariant or assertion that the machine alone shows is a fault
//! only if the lock-step check, which knows those variables, meets it too; else it is a warning.

use super::{CheckOptions, Engine, Explored, judge, one_line};
use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::text::many;
use crate::evaluate::lockstep;
use crate::evaluate::lockstep::{Finding, Followup};
use crate::model::Model;
use crate::model::refinement::Refinement;
use crate::report::{Counts, Judge, Ledger, TraceStep, Violation};

/// Kinds that the machine alone may show for calls that nobody may make.
const MAY_BE_OUTSIDE: [&str; 4] = ["precondition", "well-definedness", "assertion", "invariant"];

/// Enters what was left out into the ledger.
pub fn enter_unfollowed(model: &Model, ledger: &mut Ledger) {
    let Some(chain) = &model.refinement else { return };
    for conjunct in &model.machine.unchecked {
        ledger.enter(format!("not checked, speaks of variables of an abstraction: {}", one_line(conjunct)));
    }
    if !chain.left_out.is_empty() {
        ledger.enter(format!(
            "not followed, so that refining it is not checked: {}",
            chain.left_out.join(", ")
        ));
    }
}

/// The machine alone may do without end what no client can make it do. Where it has more states than this, the lock-step
/// check goes first, and what it says is taken if it comes to an end with no more states.
const MANY: u64 = 20_000;

/// The budget of a first look at the machine alone and in lock-step. `None` where the lock-step check cannot answer everything
/// that is asked, where something of the search itself is kept, or where the user wants no more states anyway.
pub fn first_look(model: &Model, options: &CheckOptions, budget: &Budget, temporal: bool) -> Option<Budget> {
    let followed = model.refinement.as_ref().is_some_and(|c| !c.levels.is_empty());
    let on_states = matches!(options.engine, Engine::Explicit | Engine::Evaluate | Engine::Reference);
    let kept =
        options.cluster.is_some() || options.checkpoint.save.is_some() || options.checkpoint.resume.is_some();
    let more_asked = temporal || model.machine.goal.is_some() || model.machine.scope.is_some();
    let allowed = budget.max_states.is_none_or(|n| n > MANY);
    (followed && on_states && !kept && !more_asked && allowed).then(|| budget.of_states(MANY))
}

/// Whether the first look ended before the machine did.
pub fn is_cut(first: &Explored) -> bool {
    first.counts.states >= MANY || first.ledger.reasons().iter().any(|r| r.starts_with("the limit of "))
}

/// What the lock-step check says of a machine with more states than the first look takes; `None` where it has no answer.
pub fn followed_first(
    model: &Model,
    sources: &Sources,
    options: &CheckOptions,
    look: &Budget,
    first: Explored,
) -> Option<Explored> {
    // What clients may never meet does not keep them from being followed.
    let chain = model.refinement.as_ref().filter(|_| is_only_doubtful(&first))?;
    let followup = follow(chain, options, look, true);
    if followup.findings.is_empty() && !followup.incomplete.is_empty() {
        return None;
    }
    let mut first = first;
    if !followup.findings.is_empty() {
        leave_to_lockstep(&mut first);
    }
    let whole = followup.incomplete.is_empty() && (options.keep_going || followup.findings.is_empty());
    // That the first look was a short one is no limit of the user's.
    let cut = |first| Explored { ledger: Ledger::default(), ..first };
    let mut explored = if whole { inside(first, model, options, &followup) } else { cut(first) };
    enter_unfollowed(model, &mut explored.ledger);
    merge(&mut explored, model, sources, options, &followup);
    Some(explored)
}

fn follow(chain: &Refinement, options: &CheckOptions, budget: &Budget, own_checks: bool) -> Followup {
    let asked = lockstep::Options {
        own_checks,
        check_invariant: !options.no_invariant,
        check_assertions: !options.no_assertions,
        check_deadlock: !options.no_deadlock,
        keep_going: options.keep_going,
        strict_guards: options.strict_wd,
        max_states: budget.max_states,
    };
    lockstep::follow(chain, budget, &asked)
}

/// Follows the machine through its abstractions. `temporal` says that formulas are asked for; `again` explores the
/// machine alone without stopping at findings.
pub fn judge(
    model: &Model,
    sources: &Sources,
    options: &CheckOptions,
    budget: &Budget,
    explored: Explored,
    temporal: bool,
    again: &mut dyn FnMut() -> Result<Explored, super::Failure>,
) -> Result<Explored, super::Failure> {
    let mut explored = explored;
    enter_unfollowed(model, &mut explored.ledger);
    let Some(chain) = model.refinement.as_ref().filter(|c| !c.levels.is_empty()) else { return Ok(explored) };
    let kind = explored.violation.as_ref().map(|v| v.kind.clone());
    let doubtful = kind.as_ref().is_some_and(|k| MAY_BE_OUTSIDE.contains(&k.as_str()));
    if kind.is_some() && !doubtful && !options.keep_going {
        return Ok(explored);
    }
    let followup = follow(chain, options, budget, doubtful);
    let settled = followup.findings.is_empty() && followup.incomplete.is_empty();
    if doubtful && settled && is_only_doubtful(&explored) {
        let more_asked = temporal || model.machine.goal.is_some() || model.machine.scope.is_some();
        explored = if more_asked {
            outside(explored, options, again)?
        } else {
            inside(explored, model, options, &followup)
        };
        enter_unfollowed(model, &mut explored.ledger);
    } else if doubtful && !followup.findings.is_empty() {
        leave_to_lockstep(&mut explored);
    } else if doubtful && !followup.incomplete.is_empty() {
        put_in_doubt(&mut explored);
    }
    merge(&mut explored, model, sources, options, &followup);
    Ok(explored)
}

/// Whether the machine alone shows no fault but such as no client may be able to meet.
fn is_only_doubtful(explored: &Explored) -> bool {
    explored.found.iter().all(|(k, n)| *n == 0 || MAY_BE_OUTSIDE.contains(&k.as_str()))
}

/// A client can meet a fault that the lock-step check shows; the way to one that the machine alone shows may be closed to
/// clients.
fn leave_to_lockstep(explored: &mut Explored) {
    explored.violation = None;
    explored.others.clear();
    explored.found.retain(|kind, _| !MAY_BE_OUTSIDE.contains(&kind.as_str()));
}

/// The machine as far as clients may call it, which the lock-step check saw whole.
fn inside(explored: Explored, model: &Model, options: &CheckOptions, followup: &Followup) -> Explored {
    let mut explored = explored;
    let reached = &followup.reached;
    options.certificate.take_allowed();
    warn_of_outside(&mut explored);
    explored.warnings.push("counted are the calls that the precondition of the abstraction allows".into());
    explored.found.clear();
    explored.reductions.bdd = None;
    explored.ledger = Ledger::default();
    explored.ledger.finished();
    let setups = if model.machine.has_setup() { reached.valuations } else { 0 };
    explored.counts = Counts {
        states: reached.states,
        transitions: reached.transitions,
        constants: if model.machine.constants.is_empty() { 0 } else { setups },
        initial: reached.initial,
        depth: reached.depth,
        prob_states: reached.states + setups,
        prob_transitions: reached.transitions + setups + reached.initial,
    };
    for (event, coverage) in explored.events.iter_mut().zip(&reached.coverage) {
        (event.states, event.transitions) = (coverage.states, coverage.transitions);
    }
    explored.undefined_guards.clone_from(&reached.undefined_guards);
    explored.digest = reached.digest.to_string();
    explored
}

fn warn_of_outside(explored: &mut Explored) {
    explored.others.clear();
    if let Some(violation) = explored.violation.take() {
        explored.warnings.push(format!(
            "only for calls that the precondition of the abstraction does not allow: {}: {}",
            violation.kind,
            one_line(&violation.property)
        ));
    }
}

/// Faults that the machine alone shows are reasons, not findings, where not every call that the abstraction allows was
/// followed and none of those that were meets them.
fn put_in_doubt(explored: &mut Explored) {
    let all = explored.violation.take().into_iter().chain(std::mem::take(&mut explored.others));
    let (doubted, mut certain): (Vec<_>, Vec<_>) =
        all.partition(|v| MAY_BE_OUTSIDE.contains(&v.kind.as_str()));
    for violation in doubted {
        explored.ledger.enter(format!(
            "not decided whether a call that the abstraction allows leads there: {}: {}",
            violation.kind,
            one_line(&violation.property)
        ));
    }
    explored.found.retain(|kind, _| !MAY_BE_OUTSIDE.contains(&kind.as_str()));
    if !certain.is_empty() {
        explored.violation = Some(certain.remove(0));
        explored.others = certain;
    }
}

/// What the machine alone showed happens only for calls that the abstraction does not allow.
fn outside(
    explored: Explored,
    options: &CheckOptions,
    again: &mut dyn FnMut() -> Result<Explored, super::Failure>,
) -> Result<Explored, super::Failure> {
    let mut whole = if options.keep_going { explored } else { again()? };
    if whole.found.iter().any(|(k, n)| *n > 0 && !MAY_BE_OUTSIDE.contains(&k.as_str())) {
        return Ok(whole);
    }
    warn_of_outside(&mut whole);
    whole.found.retain(|k, _| !MAY_BE_OUTSIDE.contains(&k.as_str()));
    Ok(whole)
}

/// The trace of a finding, for the certificate. What the machine alone showed before is not the finding any more.
fn certify(model: &Model, options: &CheckOptions, finding: &Finding) {
    // What fails before the first state is shown by the machine alone.
    if !options.certificate.is_asked() || finding.path.is_empty() {
        return;
    }
    let path: Vec<judge::Stop> =
        finding.path.iter().map(|(by, state)| judge::Stop { by: by.as_ref(), state }).collect();
    let json = judge::lockstep_json(&model.machine, &path, finding.kind, finding.event);
    options.certificate.keep_trace_of(None);
    options.certificate.take_trace(finding.kind.word(), &finding.property, json);
}

fn merge(
    explored: &mut Explored,
    model: &Model,
    sources: &Sources,
    options: &CheckOptions,
    followup: &Followup,
) {
    for reason in &followup.incomplete {
        explored.ledger.enter(format!("refinement: {}", one_line(reason)));
    }
    explored.details.push(format!("lock-step with the abstractions: {} combined states", followup.states));
    for (place, n) in &followup.undefined_above {
        let reports = if options.strict_wd { "" } else { " (--strict-wd reports it)" };
        explored.warnings.push(format!(
            "the precondition of {place} was undefined {} and counted as false there{reports}",
            many(*n, "time")
        ));
    }
    for (kind, n) in &followup.found {
        let known = explored.found.entry(kind.word().to_string()).or_default();
        *known = (*known).max(*n);
    }
    for finding in &followup.findings {
        let mut told = explored.violation.iter().chain(&explored.others);
        if told.any(|v| v.kind == finding.kind.word() && v.property == finding.property) {
            continue;
        }
        explored.joint.extend(finding.joint.clone().map(|state| (finding.property.clone(), state)));
        match &explored.violation {
            None => {
                certify(model, options, finding);
                explored.violation = Some(violation(sources, finding));
            }
            Some(_) if options.keep_going => explored.others.push(violation(sources, finding)),
            Some(_) => break,
        }
        if !options.keep_going {
            explored.ledger.enter("the search stopped at the first finding");
        }
    }
}

fn violation(sources: &Sources, finding: &Finding) -> Violation {
    let mut explanation = finding.lines.clone();
    if finding.span != Span::default() {
        let text = one_line(sources.slice(finding.span));
        explanation.push(format!("at {}: {text}", sources.locate(finding.span)));
        explanation.extend(sources.quote(finding.span));
    }
    let step = |s: &crate::evaluate::search::TraceStep| TraceStep {
        event: s.event.clone(),
        params: s.params.clone(),
        results: s.results.clone(),
        state: s.state.clone(),
    };
    Violation {
        kind: finding.kind.word().to_string(),
        property: finding.property.clone(),
        explanation,
        trace: finding.trace.iter().map(step).collect(),
        loop_start: None,
        // The oracle runs one machine; the lock-step of several levels is the evaluator's.
        confirmed_by: Some(Judge::Evaluator),
    }
}
