//! A finding of a guided machine, with its trace in the words of the machine and of the process.
//!
//! In: the pair and what an exploration found. Out: the violation; every step of an operation is made again by the
//! evaluator. Never here: exploring.

use super::pair::Guided;
use crate::base::budget::Budget;
use crate::csp::machine::Scratch;
use crate::driver::Failure;
use crate::driver::compiled::confirm_finding;
use crate::evaluate::{Interpreter, State, Transition};
use crate::explore::{self, Step};
use crate::lang::typed::{Machine, VarId};
use crate::lang::value::Value;
use crate::report::{INITIALISE, SETUP_CONSTANTS, TraceStep, Violation};
use crate::system::{FindingKind, System};

/// The findings that have a trace, and the first in any case.
pub fn violations(system: &Guided<'_, '_>, found: &explore::Outcome) -> Result<Vec<Violation>, Failure> {
    let unlimited = Budget::unlimited();
    let interpreter = Interpreter::new(system.program.machine(), &unlimited);
    let all = found.findings.iter().enumerate().filter(|(n, v)| *n == 0 || v.trace.is_some());
    all.map(|(_, found)| violation(system, &interpreter, found)).collect()
}

/// A finding with its trace.
fn violation(
    system: &Guided<'_, '_>,
    interpreter: &Interpreter<'_>,
    first: &explore::Violation,
) -> Result<Violation, Failure> {
    let machine = system.program.machine();
    let mut steps = Vec::new();
    let trace = first.trace.clone().unwrap_or_default();
    if let Some(start) = trace.first().filter(|_| !machine.constants.is_empty()) {
        let here = system.program.values(system.split(&start.state).0);
        steps.push(TraceStep {
            event: SETUP_CONSTANTS.to_string(),
            state: shown_values(machine, &machine.constants, &here.constants),
            ..TraceStep::default()
        });
    }
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
                let Some(taken) = taken(system, interpreter, &from, &here, step)? else {
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
            confirm_finding(interpreter, &first.finding, &system.program.values(words))
                .map_err(Failure::Internal)?;
        }
    }
    Ok(Violation {
        confirmed_by: None,
        kind: first.finding.kind.word().to_string(),
        property: system.property(&first.finding),
        explanation,
        trace: steps,
        loop_start: None,
    })
}

/// The transition of the evaluator that a step of an operation is.
fn taken(
    system: &Guided<'_, '_>,
    interpreter: &Interpreter<'_>,
    from: &State,
    to: &State,
    step: &Step,
) -> Result<Option<Transition>, Failure> {
    let Some(event) = step.event else { return Ok(None) };
    for form in system.forms(event.0 as usize) {
        let possible =
            interpreter.steps_of(from, form.0 as usize).map_err(|e| Failure::Internal(e.to_string()))?;
        let same = |t: &Transition| {
            t.target == *to && system.program.label(event, &t.params, &t.results) == step.label
        };
        if let Some(taken) = possible.transitions.into_iter().find(same) {
            return Ok(Some(taken));
        }
    }
    Ok(None)
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
