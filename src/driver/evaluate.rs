//! A check with the evaluator on values: one worker, nothing compiled.

use super::{CheckOptions, Explored, judge, one_line};
use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::evaluate::search;
use crate::evaluate::search::{Exploration, Finding, SearchOptions};
use crate::lang::typed::Machine;
use crate::lang::value::identity::{BY_FORM, Forms};
use crate::report::{Counts, EventCoverage, Ledger, TraceStep, Violation};

pub fn explore(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<Explored, String> {
    let search = SearchOptions {
        check_invariant: !options.no_invariant,
        check_deadlock: !options.no_deadlock,
        check_assertions: !options.no_assertions,
        goal: None,
        strict_wd: options.strict_wd,
        keep_going: options.keep_going,
        max_states: budget.max_states,
    };
    let found = search::explore(machine, budget, &search);
    let mut ledger = Ledger::default();
    for reason in &found.incomplete {
        ledger.enter(reason.clone());
    }
    let mut findings = Vec::new();
    for finding in &found.findings {
        findings.push(violation(machine, sources, options, &found, finding)?);
    }
    let mut findings = findings.into_iter();
    let violation = findings.next();
    let others = findings.collect();
    if violation.is_some() && !options.keep_going {
        ledger.enter("the search stopped at the first finding");
    }
    ledger.finished();
    let mut forms = Forms::default();
    found.states.iter().flat_map(|s| s.variables.iter()).for_each(|v| forms.meet(v));
    let mut notes: Vec<String> = found.sampled.iter().cloned().collect();
    notes.extend(forms.may_be_equal().then(|| BY_FORM.to_string()));
    Ok(Explored {
        engine: "evaluate",
        workers: 1,
        ledger,
        violation,
        others,
        found: found.found.iter().map(|(k, n)| (k.word().to_string(), *n)).collect(),
        counts: Counts {
            states: found.states.len() as u64,
            transitions: found.transitions,
            constants: if machine.constants.is_empty() { 0 } else { found.constants },
            initial: found.initial,
            depth: u64::from(found.depth),
            prob_states: found.prob_states,
            prob_transitions: found.prob_transitions,
        },
        events: machine
            .events
            .iter()
            .zip(&found.coverage)
            .map(|(op, c)| EventCoverage {
                name: machine.op(*op).name.to_string(),
                states: c.states,
                transitions: c.transitions,
            })
            .collect(),
        undefined_guards: found.undefined_guards.clone(),
        notes,
        digest: found.digest.to_string(),
        ..Explored::default()
    })
}

/// The finding with its trace, and with the parts of the property and their values.
fn violation(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    found: &Exploration,
    finding: &Finding,
) -> Result<Violation, String> {
    let trace = finding.state.map_or_else(Vec::new, |at| {
        found
            .trace(machine, at)
            .into_iter()
            .map(|s| TraceStep { event: s.event, params: s.params, results: s.results, state: s.state })
            .collect()
    });
    let mut explanation = Vec::new();
    if let Some(event) = finding.event {
        explanation.push(format!("while computing {}", machine.op(machine.events[event]).name));
    }
    if let Some(error) = &finding.error
        && error.span() != Span::default()
    {
        let text = one_line(sources.slice(error.span()));
        explanation.push(format!("at {}: {text}", sources.locate(error.span())));
    }
    let path = finding.state.map_or_else(Vec::new, |at| found.path(at));
    let stops: Vec<judge::Stop> = path
        .iter()
        .map(|at| judge::Stop {
            by: found.origins[*at].from.as_ref().map(|(_, t)| t),
            state: &found.states[*at],
        })
        .collect();
    let claim = judge::Finding {
        kind: finding.kind,
        property: None,
        event: finding.event,
        broken: None,
        strict_guards: options.strict_wd,
    };
    Ok(Violation {
        confirmed_by: Some(judge::confirm(machine, &stops, &claim)?),
        kind: finding.kind.word().to_string(),
        property: finding.property.clone(),
        explanation,
        trace,
        loop_start: None,
    })
}
