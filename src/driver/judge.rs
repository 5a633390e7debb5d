//! The judge: every finding is shown to the oracle before a user sees it.
//!
//! In: a typed machine, the path to a finding as values, what is claimed at its end. Out: confirmed, refuted, or
//! too long for the oracle's plain enumeration. This file and those below `judge/` are the only ones in `src` that
//! name the oracle. Never here: how a finding was made.

pub mod convert;
mod levels;
pub(super) mod reference;

use crate::base::finding::FindingKind;
use crate::evaluate::{State, Transition};
use crate::lang::typed::{Machine, Pred, Type, VarId};
use crate::lang::value::Value;
use crate::model::Model;
use crate::report::Judge;
use bombus_oracle::exec::{Kind, Writes};
use bombus_oracle::judge::{Claim, Verdict, judge};
use bombus_oracle::search::{Step, Trace};
use bombus_oracle::text::{Core, value_text};
use bombus_oracle::tree::{self, Name};
use bombus_oracle::value::Value as Plain;
use convert::Converter;
use serde_json::{Value as Json, json};

/// Steps of evaluation that the judgement of a whole path may take.
const BUDGET: u64 = 5_000_000;
/// Steps of evaluation that every step of a path is granted at least; longer paths are the evaluator's.
const LEAST: u64 = 5_000;

/// Elements of sets that all values of a path may have together: the oracle copies them, and longer ones are the
/// evaluator's.
const ELEMENTS: usize = 2_000_000;

/// What a path is claimed to show.
pub struct Finding<'a> {
    pub kind: FindingKind,
    /// The number of the conjunct or assertion, where the kind has one.
    pub property: Option<usize>,
    /// The event whose computation goes wrong, by its number among the events.
    pub event: Option<usize>,
    /// For temporal formulas: what the last state breaks, if a single predicate tells.
    pub broken: Option<&'a Pred>,
    /// Whether an undefined guard is a finding.
    pub strict_guards: bool,
}

/// One state of a path, and the transition that led there; none for the initial state.
pub struct Stop<'a> {
    pub by: Option<&'a Transition>,
    pub state: &'a State,
}

/// Judges a finding at the end of a path. `Err` is a refutation, which means that an engine is wrong.
pub fn confirm(machine: &Machine, path: &[Stop], finding: &Finding) -> Result<Judge, String> {
    match ask(machine, path, finding) {
        Ok(Verdict::Confirmed) => Ok(Judge::Oracle),
        Ok(Verdict::Refuted(why)) => {
            Err(format!("the oracle does not confirm a finding of kind {}: {why}", finding.kind.word()))
        }
        Ok(Verdict::TooBig(_)) | Err(_) => Ok(Judge::Evaluator),
    }
}

/// The model as the oracle reads it, with the abstractions of its machine, in the oracle's own text form.
pub fn core_text(model: &Model) -> Result<String, String> {
    core_with_events(model).map(|(text, _)| text)
}

/// The model in the oracle's text form, and the names of its events there.
pub fn core_with_events(model: &Model) -> Result<(String, Vec<String>), String> {
    let converter = Converter::new(&model.machine);
    let events = (0..model.machine.events.len()).map(|e| converter.event(e).to_string()).collect();
    let mut core = converter.machine()?;
    if let Some(chain) = model.refinement.as_ref().filter(|chain| !chain.levels.is_empty()) {
        core.refines = levels::refinement(chain, &|e| converter.event(e))?;
    }
    Ok((core.write(), events))
}

/// A predicate in the oracle's text form.
pub fn pred_text(machine: &Machine, p: &Pred) -> Result<String, String> {
    Converter::new(machine).pred(p).map(|p| p.write())
}

/// The name of an event in the oracle's text form, by its number among the events.
pub fn event_name(machine: &Machine, event: usize) -> String {
    Converter::new(machine).event(event).to_string()
}

/// A finding at the end of a path, as a checker of certificates reads it: values in the oracle's text form.
pub fn finding_json(machine: &Machine, path: &[Stop], finding: &Finding) -> Result<Json, String> {
    let converter = Converter::new(machine);
    let mut core = converter.machine()?;
    let claim = claim(machine, &converter, finding, &mut core)?;
    let mut json = path_json(machine, path)?;
    json["kind"] = json!(claim.kind.word());
    json["place"] = json!(claim.place);
    // What is wrong in a state is wrong whatever happens next.
    let in_state = matches!(claim.kind, Kind::Invariant | Kind::Goal | Kind::Deadlock | Kind::Properties);
    let event = claim.event.filter(|_| !in_state);
    json["while"] = json!(event.map(|(name, _)| json!({"name": &*name})));
    Ok(json)
}

/// A finding of the lock-step of a machine with its abstractions, as a checker of certificates reads it. The event is the one
/// whose call shows it, if it is no step that cannot be followed.
pub fn lockstep_json(
    machine: &Machine,
    path: &[Stop],
    kind: FindingKind,
    event: Option<usize>,
) -> Result<Json, String> {
    let mut json = path_json(machine, path)?;
    let name = |e| json!({"name": &*Converter::new(machine).event(e)});
    (json["kind"], json["lockstep"]) = (json!(kind.word()), json!(true));
    (json["place"], json["while"]) = (Json::Null, json!(event.map(name)));
    Ok(json)
}

/// A path as a checker of certificates reads it.
pub fn path_json(machine: &Machine, path: &[Stop]) -> Result<Json, String> {
    let converter = Converter::new(machine);
    let core = converter.machine()?;
    let trace = trace(machine, &converter, path).ok_or("a value that is not listed")?;
    let named = |vars: &[tree::Var], values: &mut dyn Iterator<Item = Option<&Plain>>| {
        let one = |((n, _), v): (&tree::Var, Option<&Plain>)| (n.to_string(), json!(v.map(value_text)));
        Json::Object(vars.iter().zip(values).map(one).collect())
    };
    let step = |(i, s): (usize, &Step)| {
        let op = core.operation(&s.event).filter(|_| i > 0);
        let (params, results) = op.map_or((&[][..], &[][..]), |o| (&o.params[..], &o.results[..]));
        json!({"event": &*s.event, "params": named(params, &mut s.params.iter().map(Some)),
            "results": named(results, &mut s.results.iter().map(Option::as_ref)),
            "state": named(&core.variables, &mut s.state.iter().map(Some))})
    };
    let constants = trace.constants.iter().map(|(n, v)| (n.to_string(), json!(value_text(v))));
    let steps: Vec<Json> = trace.steps.iter().enumerate().map(step).collect();
    Ok(json!({"constants": constants.collect::<serde_json::Map<_, _>>(), "trace": steps}))
}

fn ask(machine: &Machine, path: &[Stop], finding: &Finding) -> Result<Verdict, String> {
    let converter = Converter::new(machine);
    let mut core = converter.machine()?;
    let claim = claim(machine, &converter, finding, &mut core)?;
    let steps = path.len() as u64 + 1;
    if BUDGET / steps < LEAST {
        return Err("a long path".into());
    }
    let mut left = ELEMENTS;
    if !path.iter().flat_map(|stop| stop.state.variables.iter()).all(|value| fits(value, &mut left)) {
        return Err("large values".into());
    }
    let trace = trace(machine, &converter, path).ok_or("a value that is not listed")?;
    Ok(judge(&core, &trace, &claim, BUDGET / steps))
}

/// Whether a value has no more elements than are left, and takes them.
fn fits(value: &Value, left: &mut usize) -> bool {
    match value {
        Value::Set(elems) if elems.len() > *left => false,
        Value::Set(elems) => {
            *left -= elems.len();
            elems.iter().all(|e| fits(e, left))
        }
        Value::Pair(p) => fits(&p.0, left) && fits(&p.1, left),
        Value::Rec(fields) => fields.iter().all(|f| fits(f, left)),
        _ => true,
    }
}

fn claim(
    machine: &Machine,
    converter: &Converter,
    finding: &Finding,
    core: &mut tree::Machine,
) -> Result<Claim, String> {
    let label =
        |clauses: &[tree::Clause]| finding.property.and_then(|n| clauses.get(n)).map(|c| c.label.to_string());
    let (kind, place) = match finding.kind {
        FindingKind::Invariant => (Kind::Invariant, label(&core.invariant)),
        FindingKind::Deadlock => (Kind::Deadlock, None),
        FindingKind::Assertion => (Kind::Assertion, None),
        FindingKind::WellDefinedness => (Kind::WellDefinedness, None),
        FindingKind::Precondition => (Kind::Precondition, None),
        FindingKind::Goal => (Kind::Goal, None),
        FindingKind::Properties => (Kind::Properties, None),
        FindingKind::Refinement => (Kind::Refinement, None),
        FindingKind::Variant => (Kind::Variant, None),
        // A path that refutes a formula is a path to a state in which the formula's predicate is false; where
        // no single predicate tells, the oracle confirms the steps and `ltl::evaluate` the formula.
        FindingKind::Ltl => {
            core.goal = Some(match finding.broken {
                Some(p) => tree::Pred::Not(Box::new(converter.pred(p)?)),
                None => tree::Pred::True,
            });
            (Kind::Goal, None)
        }
        FindingKind::Divergence | FindingKind::Error => {
            return Err("a kind of finding that B does not have".into());
        }
    };
    debug_assert!(finding.event.is_none_or(|e| e < machine.events.len()));
    let event = finding.event.map(|e| (converter.event(e), None));
    Ok(Claim { kind, place, event, strict_guards: finding.strict_guards })
}

fn trace(machine: &Machine, converter: &Converter, path: &[Stop]) -> Option<Trace> {
    let mut constants = Writes::new();
    if let Some(first) = path.first() {
        for (v, value) in machine.constants.iter().zip(first.state.constants.iter()) {
            // A constant that cannot be listed is left out; the oracle finds it by its own means or gives up.
            if let Some(plain) = converter.value(value, &machine.var(*v).ty) {
                constants.insert(converter.name(*v), plain);
            }
        }
    }
    let values = |vars: &[VarId], values: &[Value]| -> Option<Vec<Plain>> {
        vars.iter().zip(values).map(|(v, x)| converter.value(x, &machine.var(*v).ty)).collect()
    };
    let step = |stop: &Stop| {
        let state = values(&machine.variables, &stop.state.variables)?;
        let Some(t) = stop.by else {
            return Some(Step {
                event: Name::from("INITIALISATION"),
                params: vec![],
                results: vec![],
                state,
            });
        };
        let op = machine.op(machine.events[t.event]);
        // A missing result is marked by a text, which no result of another type can be.
        let result = |(v, x): (&VarId, &Value)| match (*x == Value::unassigned(), &machine.var(*v).ty) {
            (true, Type::String) => None,
            (true, _) => Some(None),
            (false, ty) => converter.value(x, ty).map(Some),
        };
        Some(Step {
            event: converter.event(t.event),
            params: values(&op.params, &t.params)?,
            results: op.results.iter().zip(t.results.iter()).map(result).collect::<Option<_>>()?,
            state,
        })
    };
    Some(Trace { constants, steps: path.iter().map(step).collect::<Option<_>>()? })
}
