//! A check by the oracle's own search: slow, obvious, and independent of everything that is compiled or planned.
//!
//! In: a typed machine. Out: what the oracle found, in the words of a report; every question that the oracle's
//! plain enumeration could not answer is a reason of incompleteness.
//! Never here: a second opinion; the oracle is the judge of all the others.

use super::convert::Converter;
use crate::base::budget::{Budget, Stop};
use crate::base::finding::FindingKind;
use crate::driver::{CheckOptions, Explored};
use crate::lang::typed::Machine;
use crate::report::{
    Counts, EventCoverage, INITIALISE, Judge, Ledger, SETUP_CONSTANTS, TraceStep, Violation,
};
use bombus_oracle::exec::{Finding, Kind};
use bombus_oracle::search::{self, Report, Trace};
use bombus_oracle::tree;
use bombus_oracle::value::Value;

/// Steps of evaluation for each state.
const STEPS: u64 = 50_000_000;

pub fn explore(machine: &Machine, options: &CheckOptions, budget: &Budget) -> Result<Explored, String> {
    let converter = Converter::new(machine);
    let mut ledger = Ledger::default();
    let core = match converter.machine() {
        Ok(core) => core,
        Err(unknown) => {
            ledger.enter(format!("the oracle does not know {unknown}"));
            return Ok(explored(machine, &converter, &Report::default(), ledger, None));
        }
    };
    let report = search::explore(&core, &limits(options, budget), &mut || budget.check().is_ok());
    for reason in &report.incomplete {
        ledger.enter(format!("the oracle: {reason}"));
    }
    match budget.check() {
        Ok(()) => {}
        Err(Stop::Interrupted) => ledger.enter("interrupted"),
        Err(Stop::Time) => ledger.enter("time limit reached"),
        Err(_) => ledger.enter("memory limit reached"),
    }
    for conjunct in &machine.unchecked {
        ledger.enter(format!("not checked: {conjunct}"));
    }
    let violation = report.first.first().map(|(finding, trace)| violation(&core, machine, finding, trace));
    if violation.is_some() && !options.keep_going {
        ledger.enter("the search stopped at the first finding");
    }
    ledger.finished();
    Ok(explored(machine, &converter, &report, ledger, violation))
}

fn limits(options: &CheckOptions, budget: &Budget) -> search::Options {
    let kinds = [
        (options.no_invariant, Kind::Invariant),
        (options.no_deadlock, Kind::Deadlock),
        (options.no_assertions, Kind::Assertion),
    ];
    search::Options {
        max_states: budget.max_states.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)),
        budget: STEPS,
        strict_guards: options.strict_wd,
        ignore: kinds.iter().filter(|(off, _)| *off).map(|(_, kind)| *kind).collect(),
        keep_going: options.keep_going,
    }
}

fn explored(
    machine: &Machine,
    converter: &Converter,
    report: &Report,
    ledger: Ledger,
    violation: Option<Violation>,
) -> Explored {
    let setup = if machine.has_setup() { report.constants as u64 } else { 0 };
    let (states, initial) = (report.states as u64, report.initial as u64);
    let name = |event: usize| converter.event(event);
    let coverage = |(at, op): (usize, &crate::lang::typed::OpId)| {
        let (states, transitions) = report.events.get(&name(at)).copied().unwrap_or_default();
        EventCoverage { name: machine.op(*op).name.to_string(), states, transitions }
    };
    Explored {
        engine: "reference",
        workers: 1,
        ledger,
        violation,
        found: report.found.iter().map(|(kind, n)| (word(*kind).to_string(), *n)).collect(),
        counts: Counts {
            states,
            transitions: report.transitions,
            constants: if machine.constants.is_empty() { 0 } else { report.constants as u64 },
            initial,
            depth: report.depth as u64,
            prob_states: states + setup,
            prob_transitions: report.transitions + setup + initial,
        },
        events: machine.events.iter().enumerate().map(coverage).collect(),
        undefined_guards: (0..machine.events.len())
            .map(|at| report.undefined_guards.get(&name(at)).copied().unwrap_or(0))
            .collect(),
        ..Explored::default()
    }
}

/// The word of the report for a kind of the oracle.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Invariant => FindingKind::Invariant,
        Kind::Assertion => FindingKind::Assertion,
        Kind::Deadlock => FindingKind::Deadlock,
        Kind::WellDefinedness => FindingKind::WellDefinedness,
        Kind::Goal => FindingKind::Goal,
        Kind::Precondition => FindingKind::Precondition,
        Kind::Properties => FindingKind::Properties,
        Kind::Refinement => FindingKind::Refinement,
        Kind::Variant => FindingKind::Variant,
    }
    .word()
}

fn violation(core: &tree::Machine, machine: &Machine, finding: &Finding, trace: &Trace) -> Violation {
    let shown = |vars: &[tree::Var], values: &[Value]| -> Vec<(String, String)> {
        vars.iter().zip(values).map(|((n, _), v)| (n.to_string(), v.to_string())).collect()
    };
    let mut steps = Vec::new();
    if !trace.constants.is_empty() {
        let state = trace.constants.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        steps.push(TraceStep { event: SETUP_CONSTANTS.into(), state, ..TraceStep::default() });
    }
    for (i, step) in trace.steps.iter().enumerate() {
        let op = core.operation(&step.event).filter(|_| i > 0);
        let result = |v: &Option<Value>| v.as_ref().map_or("?".to_string(), Value::to_string);
        steps.push(TraceStep {
            event: op.map_or(INITIALISE.to_string(), |o| o.name.to_string()),
            params: op.map_or_else(Vec::new, |o| shown(&o.params, &step.params)),
            results: op.map_or_else(Vec::new, |o| {
                o.results.iter().zip(&step.results).map(|((n, _), v)| (n.to_string(), result(v))).collect()
            }),
            state: shown(&core.variables, &step.state),
        });
    }
    let mut explanation = vec![finding.why.clone()];
    if let Some((event, params)) = &finding.event {
        let args: Vec<String> = params.iter().map(Value::to_string).collect();
        explanation.push(format!("while computing {event}({})", args.join(", ")));
    }
    let property = if finding.place.is_empty() { finding.why.clone() } else { finding.place.clone() };
    debug_assert_eq!(core.variables.len(), machine.variables.len());
    Violation {
        kind: word(finding.kind).to_string(),
        property,
        explanation,
        trace: steps,
        loop_start: None,
        confirmed_by: Some(Judge::Oracle),
    }
}
