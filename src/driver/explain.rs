//! Findings with their explanations, whichever engine made them.
//!
//! In: findings with traces as text. Out: the same with the lines and the tree that say why. The last state of a trace
//! is read back into values, so an engine need not know anything of explanations. All explanations of a run together
//! take no longer than `Budget::moment` allows.
//! Never here: what an explanation consists of (`explain`), how it is shown (`report`).

use super::CheckOptions;
use super::values::Texts;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::text::one_line;
use crate::evaluate::State;
use crate::explain::{Explainer, Explanation, Finding, Worth};
use crate::lang::typed::{Machine, OWN, Pred, SetKind, SizeOrigin, VarId};
use crate::lang::value::Value;
use crate::model::{self, LoadOptions, Loaded, Model};
use crate::report::{TraceStep, Violation};
use std::path::Path;

/// Values in lines of an explanation are cut.
const LONGEST: usize = 300;

/// How engines name the event whose step fails, in a line of the explanation.
const COMPUTING: &str = "while computing ";

/// The findings of a run with their explanations.
#[derive(Default)]
pub struct Explained {
    pub violation: Option<Violation>,
    pub why: Explanation,
    pub others: Vec<(Violation, Explanation)>,
}

/// What is to be explained.
pub struct Found {
    pub violation: Option<Violation>,
    pub others: Vec<Violation>,
    /// For gluing conjuncts that are false, by the property of the finding: the values of all levels.
    pub joint: Vec<(String, State)>,
}

/// Explains the finding that is shown and the others. `always` tells what a temporal formula demands of every state.
pub fn findings(
    path: &Path,
    model: &mut Model,
    sources: &mut Sources,
    options: &CheckOptions,
    always: &dyn Fn(&str) -> Option<Pred>,
    found: Found,
) -> Explained {
    let Found { violation, others, joint } = found;
    let Some(violation) = violation else { return Explained::default() };
    let budget = Budget::moment();
    let mut all: Vec<Violation> = std::iter::once(violation).chain(others).collect();
    let states: Vec<Option<State>> =
        all.iter().map(|v| last_state(model, sources, &v.trace, &budget)).collect();
    let explainer = Explainer::new(&model.machine, sources, &budget);
    let levels = model.refinement.as_ref().map(|chain| {
        (Explainer::new(&chain.machine, sources, &budget), &chain.machine.invariant[chain.own_invariant..])
    });
    let of_kind = |all: &[Violation], kind: &str| all.iter().filter(|v| v.kind == kind).count();
    let several: Vec<bool> = all.iter().map(|v| of_kind(&all, &v.kind) > 1).collect();
    let mut explained = Vec::new();
    for ((violation, state), alone) in all.iter_mut().zip(&states).zip(several) {
        // A trace that cannot be read back has a state, but none that can be looked at.
        let unread = state.is_none() && !violation.trace.is_empty();
        let event = violation.explanation.iter().find_map(|line| line.strip_prefix(COMPUTING));
        let event = event.map(|call| call.split('(').next().unwrap_or(call).to_string());
        let broken = always(&violation.property).filter(|_| violation.kind == "ltl");
        let glued = joint.iter().find(|(property, _)| *property == violation.property);
        let mut why = match (&levels, glued) {
            (Some((explainer, clauses)), Some((_, state))) => explainer.false_clauses(clauses, state),
            _ if unread => Explanation::default(),
            _ => explainer.explain(&Finding {
                kind: &violation.kind,
                property: &violation.property,
                event: event.as_deref(),
                state: state.as_ref(),
                strict_guards: options.strict_wd,
                broken: broken.as_ref(),
                alone,
            }),
        };
        if violation.kind == "goal"
            && let Some(goal) = &model.machine.goal
        {
            violation.property = one_line(sources.slice(goal.span));
        }
        if violation.kind == "properties" && !why.nodes.is_empty() {
            why.notes.extend(other_sizes(path, &model.machine, &options.loading, &budget));
        }
        if why.step.is_some()
            && let Some(words) = words_at_fault(&why)
        {
            violation.property = words;
        }
        join(&mut violation.explanation, &why);
        explained.push(why);
    }
    let has_choices = explainer.has_choices();
    drop((explainer, levels));
    for (violation, why) in all.iter().zip(&mut explained).filter(|_| has_choices) {
        why.chosen = chosen(model, sources, &violation.trace, &budget);
    }
    let mut pairs = all.into_iter().zip(explained);
    let (violation, why) = pairs.next().expect("the finding that is shown is among all findings");
    Explained { violation: Some(violation), why, others: pairs.collect() }
}

/// Adds an explanation to the lines of a finding; what it says better they do not say any more.
pub(super) fn join(lines: &mut Vec<String>, why: &Explanation) {
    if why.step.is_some() {
        lines.retain(|line| !line.starts_with(COMPUTING));
    }
    if let Some(place) = &why.place {
        lines.retain(|line| !line.starts_with("at ") && !place.excerpt.contains(line));
    }
    lines.extend(why.lines(LONGEST));
}

/// What a failing step says is undefined: its elements are those of the trace that is shown.
fn words_at_fault(why: &Explanation) -> Option<String> {
    match &why.nodes.first()?.worth {
        Worth::Undefined(words) => Some(words.clone()),
        _ => None,
    }
}

/// Longer traces are shown without the values that their steps chose.
const CHOOSING: usize = 60;

/// For each row of a trace the values of ANY and LET that were chosen there, if any.
fn chosen(
    model: &mut Model,
    sources: &mut Sources,
    trace: &[TraceStep],
    budget: &Budget,
) -> Vec<(usize, Vec<(String, String)>)> {
    if trace.len() > CHOOSING {
        return Vec::new();
    }
    let states: Vec<Option<State>> =
        (1..=trace.len()).map(|n| last_state(model, sources, &trace[..n], budget)).collect();
    let explainer = Explainer::new(&model.machine, sources, budget);
    let mut all = Vec::new();
    for (i, step) in trace.iter().enumerate().skip(1) {
        if let (Some(from), Some(to)) = (&states[i - 1], &states[i]) {
            let values = explainer.chosen(from, &step.event, &step.params, to);
            all.extend((!values.is_empty()).then_some((i, values)));
        }
    }
    all
}

/// The last state of a trace, read back from its text; none if a value has no text that can be read.
pub(super) fn last_state(
    model: &mut Model,
    sources: &mut Sources,
    trace: &[TraceStep],
    budget: &Budget,
) -> Option<State> {
    // Some traces name only what a step changed: the last mention counts.
    let text_of = |name: &str| -> Option<String> {
        let mention = |s: &TraceStep| s.state.iter().find(|(n, _)| n == name).map(|(_, text)| text.clone());
        trace.iter().rev().find_map(mention)
    };
    let wanted = |machine: &Machine, vars: &[VarId]| -> Option<Vec<(VarId, String)>> {
        vars.iter().map(|v| text_of(&machine.var(*v).name).map(|text| (*v, text))).collect()
    };
    let machine = &model.machine;
    if trace.is_empty() {
        return None;
    }
    if machine.constants.iter().any(|v| machine.var(*v).name.starts_with(OWN)) {
        return None;
    }
    let constants = wanted(machine, &machine.constants)?;
    let variables = wanted(machine, &machine.variables)?;
    let all = constants.iter().chain(&variables).map(|(v, text)| (*v, text.as_str()));
    let texts = Texts::read(model, sources, all, budget);
    let values = |list: &[(VarId, String)]| -> Option<Vec<Value>> {
        list.iter().map(|(v, text)| texts.get(*v, text).cloned()).collect()
    };
    Some(State { constants: values(&constants)?.into(), variables: values(&variables)?.into() })
}

/// Sizes that are tried for a set.
const MOST: usize = 6;
/// Loads of the model with other sizes.
const TRIES: usize = 60;

/// Sizes of deferred sets with which the properties have a solution, if some are found.
fn other_sizes(path: &Path, machine: &Machine, loading: &LoadOptions, budget: &Budget) -> Option<String> {
    let free: Vec<(String, usize)> = machine
        .sets
        .iter()
        .filter(|s| s.kind != SetKind::Enumerated)
        .filter(|s| !matches!(s.origin, SizeOrigin::Properties | SizeOrigin::Values))
        .map(|s| (s.name.to_string(), s.elems.len()))
        .collect();
    let mut tries = 0;
    for choice in choices_of_sizes(&free) {
        tries += 1;
        if tries > TRIES || budget.check().is_err() {
            return None;
        }
        let mut options = loading.clone();
        options.set_sizes.extend(choice.iter().cloned());
        let Loaded { sources, model: Some(model), .. } = model::load(path, &options) else { continue };
        if Explainer::new(&model.machine, &sources, budget).has_constants() == Some(true) {
            let words: Vec<String> = choice.iter().map(|(name, n)| format!("--set {name}={n}")).collect();
            return Some(format!("the properties can be satisfied with {}", words.join(" ")));
        }
    }
    None
}

/// Other sizes of one set, then of two, nearest to the present ones first.
fn choices_of_sizes(sets: &[(String, usize)]) -> Vec<Vec<(String, usize)>> {
    let others = |(name, now): &(String, usize)| -> Vec<(String, usize)> {
        (1..=MOST).filter(|n| n != now).map(|n| (name.clone(), n)).collect()
    };
    let mut all: Vec<Vec<(String, usize)>> = Vec::new();
    for (i, set) in sets.iter().enumerate() {
        for one in others(set) {
            all.push(vec![one.clone()]);
            for second in &sets[i + 1..] {
                all.extend(others(second).into_iter().map(|two| vec![one.clone(), two]));
            }
        }
    }
    let change = |choice: &Vec<(String, usize)>| -> usize {
        let now = |name: &str| sets.iter().find(|(n, _)| n == name).map_or(0, |(_, n)| *n);
        choice.iter().map(|(name, n)| n.abs_diff(now(name))).sum()
    };
    all.sort_by_key(|choice| (choice.len(), change(choice)));
    all
}
