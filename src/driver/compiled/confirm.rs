//! Confirming a finding of the compiled engine: each step of its trace must be a transition of the evaluator, the last
//! state must break what was reported, and the oracle must agree.
//!
//! In: a finding with packed states. Out: the violation as users read it. A trace that is not confirmed is an error.
//! Never here: a search.

use super::super::temporal::{self, Formulas};
use super::super::{CheckOptions, first_use, judge};
use crate::base::budget::Budget;
use crate::evaluate::{Interpreter, State, Transition};
use crate::explore::{self, Trace};
use crate::lang::typed::{Machine, OWN, VarId};
use crate::lang::value::Value;
use crate::program::Program;
use crate::report::{INITIALISE, Judge, SETUP_CONSTANTS, TraceStep, Violation};
use crate::system::{Finding, FindingKind, System};

/// The finding with its trace, confirmed.
pub(in crate::driver) fn violation(
    program: &Program,
    formulas: &Formulas,
    options: &CheckOptions,
    finding: &Finding,
    trace: Option<&Trace>,
) -> Result<Violation, String> {
    let machine = program.machine();
    let interpreter = Interpreter::new(machine, &Budget::unlimited());
    let mut steps = Vec::new();
    let confirmed_by;
    let mut explanation = Vec::new();
    if let Some(event) = finding.event {
        explanation.push(format!("while computing {}", program.event_names()[event.0 as usize]));
    }
    let start = match trace {
        None => start_that_shows(program, finding),
        Some(_) => None,
    };
    let claim = judge::Finding {
        kind: finding.kind,
        property: Some(finding.property as usize),
        event: finding.event.map(|e| e.0 as usize),
        broken: (finding.kind == FindingKind::Ltl).then(|| formulas.broken(finding.property)).flatten(),
        strict_guards: options.strict_wd,
    };
    let property = match finding.kind {
        FindingKind::Ltl => formulas.text(finding.property),
        _ => program.property(finding),
    };
    let take = |path: &[judge::Stop]| {
        if !options.certificate.is_asked() {
            return;
        }
        let json = match finding.kind {
            FindingKind::Ltl => formulas.broken_path(finding.property, machine, path),
            _ => judge::finding_json(machine, path, &claim),
        };
        options.certificate.take_trace(finding.kind.word(), &property, json);
    };
    if let Some(trace) = trace.or(start.as_ref()) {
        let mut states: Vec<State> = trace.iter().map(|s| program.values(&s.state)).collect();
        let mut walk = confirmed_steps(program, &interpreter, trace, &states)?;
        let mut judged = judge::confirm(machine, &walk.path(&states), &claim)?;
        let is_temporal = finding.kind == FindingKind::Ltl;
        // Formulas of the user may tell elements apart that the machine does not.
        let asked = if is_temporal { formulas.observed() } else { Vec::new() };
        let still_broken = |last: Option<&State>| {
            let confirmed = |s| formulas.confirm(finding.property, &interpreter, s).is_ok();
            !is_temporal || last.is_some_and(confirmed)
        };
        if let Some(renamed) = first_use::in_order(machine, &asked, &states, &walk.taken)
            && still_broken(renamed.states.last())
            && let Some((again, by)) = walk_again(&interpreter, finding, &renamed, &claim)
        {
            (states, walk, judged) = (renamed.states, again, by);
        }
        confirmed_by = Some(judged);
        take(&walk.path(&states));
        steps = walk.steps;
        if let Some(last) = states.last() {
            if finding.kind == FindingKind::Ltl {
                formulas.confirm(finding.property, &interpreter, last)?;
                explanation.push(temporal::OPEN.into());
            }
            confirm_finding(&interpreter, finding, last)?;
        }
    } else {
        confirmed_by = Some(judge::confirm(machine, &[], &claim)?);
        take(&[]);
    }
    Ok(Violation {
        kind: finding.kind.word().to_string(),
        property,
        explanation,
        trace: steps,
        loop_start: None,
        confirmed_by,
    })
}

/// A renamed path with what confirms it; nothing if the evaluator or the judge does not see the same in it.
pub(in crate::driver) fn walk_again(
    interpreter: &Interpreter,
    finding: &Finding,
    renamed: &first_use::Renamed,
    claim: &judge::Finding,
) -> Option<(Walk, Judge)> {
    let first = renamed.states.first()?;
    if !interpreter.initial_states(&first.constants).ok()?.values.contains(first) {
        return None;
    }
    for (n, step) in renamed.taken.iter().enumerate() {
        let Some(t) = step else { continue };
        let possible = interpreter.steps_of(renamed.states.get(n.checked_sub(1)?)?, t.event).ok()?;
        let same = |p: &Transition| (&p.params, &p.results, &p.target) == (&t.params, &t.results, &t.target);
        if !possible.transitions.iter().any(same) || t.target != renamed.states[n] {
            return None;
        }
    }
    confirm_finding(interpreter, finding, renamed.states.last()?).ok()?;
    let walk = Walk::of(interpreter.machine(), &renamed.states, renamed.taken.clone());
    let judge = judge::confirm(interpreter.machine(), &walk.path(&renamed.states), claim).ok()?;
    // Of some kinds of findings only the oracle can say that a state shows them.
    let seen = matches!(
        finding.kind,
        FindingKind::Invariant | FindingKind::Deadlock | FindingKind::Goal | FindingKind::Ltl
    );
    (seen || judge == Judge::Oracle).then_some((walk, judge))
}

/// The state that shows what is wrong with constants alone, as a trace.
fn start_that_shows(program: &Program, finding: &Finding) -> Option<Trace> {
    let state = program.pack(&program.shown_by_constants(finding)?)?;
    Some(vec![explore::Step { event: None, label: 0, state }])
}

/// A path as the evaluator walked it.
pub(in crate::driver) struct Walk {
    /// The steps as users read them; the set-up of the constants is a step of its own.
    pub steps: Vec<TraceStep>,
    /// For each state of the path the transition that led there.
    pub taken: Vec<Option<Transition>>,
}

impl Walk {
    /// A path in words.
    fn of(machine: &Machine, states: &[State], taken: Vec<Option<Transition>>) -> Walk {
        let named = |vars: &[VarId], values: &[Value]| shown(machine, vars, values);
        let mut steps = Vec::new();
        for (state, by) in states.iter().zip(&taken) {
            let after = named(&machine.variables, &state.variables);
            let step = match by {
                None => {
                    let constants = named(&machine.constants, &state.constants);
                    if !constants.is_empty() {
                        let event = SETUP_CONSTANTS.into();
                        steps.push(TraceStep { event, state: constants, ..TraceStep::default() });
                    }
                    TraceStep { event: INITIALISE.into(), state: after, ..TraceStep::default() }
                }
                Some(t) => {
                    let op = machine.op(machine.events[t.event]);
                    TraceStep {
                        event: op.name.to_string(),
                        params: named(&op.params, &t.params),
                        results: named(&op.results, &t.results),
                        state: after,
                    }
                }
            };
            steps.push(step);
        }
        Walk { steps, taken }
    }

    /// The path as the judge reads it.
    pub fn path<'a>(&'a self, states: &'a [State]) -> Vec<judge::Stop<'a>> {
        let stop = |(by, state): (&'a Option<Transition>, &'a State)| judge::Stop { by: by.as_ref(), state };
        self.taken.iter().zip(states).map(stop).collect()
    }
}

/// The steps as the evaluator makes them; an error if it cannot.
pub(in crate::driver) fn confirmed_steps(
    program: &Program,
    interpreter: &Interpreter,
    trace: &Trace,
    states: &[State],
) -> Result<Walk, String> {
    let machine = interpreter.machine();
    let mut taken = Vec::new();
    for (i, (step, state)) in trace.iter().zip(states).enumerate() {
        let Some(event) = step.event else {
            let initial = interpreter.initial_states(&state.constants).map_err(|e| e.to_string())?;
            if !initial.values.contains(state) {
                return Err("the first state of a trace is not an initial state of the interpreter".into());
            }
            taken.push(None);
            continue;
        };
        let from = states[i - 1].clone();
        let possible = interpreter.steps_of(&from, event.0 as usize).map_err(|e| e.to_string())?;
        // Several choices of arguments may lead to one state; the label says which one was made.
        let same: Vec<_> = possible.transitions.iter().filter(|t| t.target == *state).collect();
        let chosen = same.iter().find(|t| program.label(event, &t.params, &t.results) == step.label);
        let Some(t) = chosen.or(same.first()) else {
            let op = machine.op(machine.events[event.0 as usize]);
            return Err(format!("step {i} of a trace, {}, is not a transition of the interpreter", op.name));
        };
        taken.push(Some((*t).clone()));
    }
    Ok(Walk::of(machine, states, taken))
}

/// Variables with their values as users read them, without those of the tool.
fn shown(machine: &Machine, vars: &[VarId], values: &[Value]) -> Vec<(String, String)> {
    vars.iter()
        .zip(values)
        .filter(|(v, _)| !machine.var(**v).name.starts_with(OWN))
        .map(|(v, x)| (machine.var(*v).name.to_string(), x.show(machine, &machine.var(*v).ty)))
        .collect()
}

/// The interpreter must see the same fault in the last state.
pub(in crate::driver) fn confirm_finding(
    interpreter: &Interpreter,
    finding: &Finding,
    state: &State,
) -> Result<(), String> {
    let machine = interpreter.machine();
    let is_false = |clause: Option<&crate::lang::typed::Clause>| {
        clause.is_some_and(|c| interpreter.eval_pred(&c.pred, Some(state)).is_ok_and(|holds| !holds))
    };
    let confirmed = match finding.kind {
        FindingKind::Invariant => is_false(machine.invariant.get(finding.property as usize)),
        FindingKind::Deadlock => interpreter
            .transitions(state)
            .is_ok_and(|s| s.transitions.is_empty() && s.errors.is_empty() && s.incomplete.is_empty()),
        FindingKind::Goal => machine
            .goal
            .as_ref()
            .is_some_and(|g| interpreter.eval_pred(g, Some(state)).is_ok_and(|holds| holds)),
        // Errors of evaluation come from the interpreter itself, formulas are confirmed by those who know them.
        FindingKind::Ltl
        | FindingKind::Assertion
        | FindingKind::WellDefinedness
        | FindingKind::Precondition
        | FindingKind::Properties
        | FindingKind::Refinement
        | FindingKind::Variant => true,
        // No machine of B has these.
        FindingKind::Divergence | FindingKind::Error => false,
    };
    if confirmed {
        Ok(())
    } else {
        Err(format!("the interpreter does not confirm a finding of kind {}", finding.kind.word()))
    }
}
