//! The value of a formula: alone, in the first initial state of a model, or in the last state of a trace.
//!
//! In: a formula as text. Out: its value; for a predicate with names that nobody declared, values that make it true,
//! as for a quantified one the witness; why a predicate is true or false, and why an event is not enabled.
//! Never here: commands as typed, printing.

use super::explain::last_state;
use super::{Rejected, load, one_line};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::{Int, Span};
use crate::evaluate::{Interpreter, State};
use crate::explain::{Explainer, Node, bindings};
use crate::lang::typed::{BigOp, Expr, ExprKind, Pred};
use crate::model::{self, Formula, LoadOptions, Model};
use crate::report::trace_read;
use serde_json::{Map, Value, json};
use std::path::Path;

/// What a formula comes to.
pub struct Evaluated {
    pub value: String,
    /// Values of free or quantified variables that show it.
    pub witness: Vec<(String, String)>,
}

impl Evaluated {
    /// For people: the value, and the witness below.
    pub fn text(&self) -> String {
        match self.witness.is_empty() {
            true => self.value.clone(),
            false => format!("{}\n  {}", self.value, bindings(&self.witness)),
        }
    }

    pub fn json(&self, formula: &str) -> Value {
        let witness: Map<String, Value> = self.witness.iter().map(|(n, v)| (n.clone(), json!(v))).collect();
        json!({
            "bombus": env!("CARGO_PKG_VERSION"),
            "formula": formula,
            "value": self.value,
            "witness": witness,
        })
    }
}

/// The value of a formula, or what went wrong while it was evaluated. `at` is a trace of the model.
pub fn eval(
    formula: &str,
    model: Option<&Path>,
    at: Option<&Path>,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<Result<Evaluated, String>, Rejected> {
    let (mut model, mut sources, reached) = prepared(model, at, options, budget)?;
    let typed = match parse(&mut model, &mut sources, formula) {
        Ok(typed) => typed,
        Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
    };
    let machine = &model.machine;
    let interpreter = Interpreter::new(machine, budget);
    let state = match reached.map(|state| Ok(Some(state))).unwrap_or_else(|| first_state(&interpreter)) {
        Ok(state) => state,
        Err(why) => return Ok(Err(why)),
    };
    let mut witness = Vec::new();
    let result = match &typed {
        Formula::Expr(e) => interpreter.eval_expr(e, state.as_ref()).map(|v| {
            unlisted(e, &sources).filter(|_| v.as_set().is_none()).unwrap_or_else(|| v.show(machine, &e.ty))
        }),
        Formula::Pred(p) => interpreter.eval_pred(p, state.as_ref()).map(|b| {
            witness = witness_of(&model, &sources, p, state.as_ref(), budget);
            if b { "TRUE" } else { "FALSE" }.to_string()
        }),
    };
    Ok(result.map(|value| Evaluated { value, witness }).map_err(|e| {
        let mut text = e.told();
        if e.span() != Span::default() {
            let (line, column) = sources.position(e.span());
            text.push_str(&format!(" (at {line}:{column}: {})", one_line(sources.slice(e.span()))));
        }
        text
    }))
}

/// A set that is given by a predicate, as the user wrote it: where it cannot be listed, that is its value.
fn unlisted(e: &Expr, sources: &Sources) -> Option<String> {
    let is_given = matches!(e.kind, ExprKind::Compr(..) | ExprKind::Big(BigOp::Lambda | BigOp::SetOf, ..));
    is_given.then(|| format!("/*@symbolic*/ {}", one_line(sources.slice(e.span))))
}

/// What is to be explained: a predicate as text, or why an event is not enabled.
#[derive(Clone, Copy, Debug)]
pub enum Why<'a> {
    Predicate(&'a str),
    NotEnabled(&'a str),
}

/// The reason with its parts, in the first initial state of a model or in the last state of a trace; or why there is none.
pub fn why(
    asked: Why,
    model: Option<&Path>,
    at: Option<&Path>,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<Result<Node, String>, Rejected> {
    let (mut model, mut sources, reached) = prepared(model, at, options, budget)?;
    let typed = match asked {
        Why::Predicate(text) => match parse(&mut model, &mut sources, text) {
            Ok(typed) => Some(typed),
            Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
        },
        Why::NotEnabled(_) => None,
    };
    let machine = &model.machine;
    let state = match reached {
        Some(state) => Ok(Some(state)),
        None => first_state(&Interpreter::new(machine, budget)),
    };
    let state = match state {
        Ok(state) => state,
        Err(message) => return Ok(Err(message)),
    };
    let explainer = Explainer::new(machine, &sources, budget);
    Ok(match (asked, typed) {
        (_, Some(Formula::Pred(p))) => Ok(explainer.predicate_in(&p, state.as_ref())),
        (_, Some(Formula::Expr(_))) => Err("an expression has a value and no reason: eval tells it".into()),
        (Why::NotEnabled(name) | Why::Predicate(name), None) => {
            let event = machine.events.iter().position(|id| *machine.op(*id).name == *name);
            match (event, &state) {
                (None, _) => Err(format!("the model has no event {name}")),
                (Some(_), None) => Err("the model has no state".into()),
                (Some(event), Some(state)) => {
                    explainer.why_disabled(state, event).ok_or_else(|| format!("{name} is possible here"))
                }
            }
        }
    })
}

/// The model with its texts and, where a trace is given, the last state of the trace.
fn prepared(
    model: Option<&Path>,
    at: Option<&Path>,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<(Model, Sources, Option<State>), Rejected> {
    let maxint = options.maxint.clone().unwrap_or(Int::from(3i64));
    let minint = options.minint.clone().unwrap_or(Int::from(-1i64));
    let (mut model, mut sources) = match model {
        Some(path) => {
            let (model, sources, _) = load(path, options)?;
            (model, sources)
        }
        None => {
            let machine = model::empty_machine(maxint.clone(), minint.clone());
            let scope = model::FormulaScope::empty(maxint, minint);
            let notes = Vec::new();
            (Model { machine, scope, proofs: Vec::new(), refinement: None, notes }, Sources::default())
        }
    };
    match at.map(|trace| state_of(trace, &mut model, &mut sources, budget)) {
        Some(Err(message)) => Err(Rejected { sources, diagnostics: vec![Diagnostic::plain(message)] }),
        Some(Ok(state)) => Ok((model, sources, Some(state))),
        None => Ok((model, sources, None)),
    }
}

/// Values that show why a quantified predicate is true, or false.
fn witness_of(
    model: &Model,
    sources: &Sources,
    p: &Pred,
    state: Option<&State>,
    budget: &Budget,
) -> Vec<(String, String)> {
    let node = Explainer::new(&model.machine, sources, budget).predicate_in(p, state);
    node.witness
}

/// The most names that are solved for.
const UNKNOWNS: usize = 20;

/// A formula; a predicate that names what nobody declared is asked for values of these names.
fn parse(model: &mut Model, sources: &mut Sources, text: &str) -> Result<Formula, Vec<Diagnostic>> {
    let mut unknown: Vec<String> = Vec::new();
    let mut first = None;
    loop {
        let asked = match unknown.is_empty() {
            true => text.to_string(),
            false => format!("#({}).({text})", unknown.join(",")),
        };
        let diagnostics = match model.scope.parse(&mut model.machine, sources, "<formula>", &asked) {
            Ok(typed) => return Ok(typed),
            Err(diagnostics) => diagnostics,
        };
        let before = unknown.len();
        for name in diagnostics.iter().filter_map(unknown_name) {
            if !unknown.contains(&name) {
                unknown.push(name);
            }
        }
        let errors = first.get_or_insert(diagnostics);
        if unknown.len() == before || unknown.len() > UNKNOWNS {
            return Err(std::mem::take(errors).into_iter().map(undeclared).collect());
        }
    }
}

/// A name of a formula that is no predicate has to be declared somewhere; clauses of a machine are no help here.
fn undeclared(mut d: Diagnostic) -> Diagnostic {
    if unknown_name(&d).is_some() && !d.help.iter().any(|help| help.starts_with("did you mean")) {
        d.help = vec![
            "only predicates are solved for names that nobody declared; --model MODEL gives those of a model"
                .into(),
        ];
    }
    d
}

/// The name that a message says is not declared.
fn unknown_name(d: &Diagnostic) -> Option<String> {
    let name = d.message.strip_prefix("unknown identifier `")?.strip_suffix('`')?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain.then(|| name.to_string())
}

/// The last state of a trace file.
fn state_of(
    trace: &Path,
    model: &mut Model,
    sources: &mut Sources,
    budget: &Budget,
) -> Result<State, String> {
    let shown = trace.display();
    let content = std::fs::read_to_string(trace).map_err(|e| format!("cannot read {shown}: {e}"))?;
    let read = trace_read::read(&content).map_err(|e| format!("{shown} is no trace: {e}"))?;
    last_state(model, sources, &read.steps, budget)
        .ok_or_else(|| format!("{shown}: its last state is no state of this model"))
}

/// The first initial state; `None` for a model without constants and variables.
fn first_state(interpreter: &Interpreter) -> Result<Option<State>, String> {
    let machine = interpreter.machine();
    if machine.constants.is_empty() && machine.variables.is_empty() {
        return Ok(None);
    }
    let constants = interpreter.constants().map_err(|e| e.to_string())?;
    let Some(valuation) = constants.values.first() else {
        return Err(match constants.errors.first().or(constants.incomplete.first()) {
            Some(e) => format!("the constants cannot be set up: {e}"),
            None => "no valuation of the constants satisfies PROPERTIES".into(),
        });
    };
    let initial = interpreter.initial_states(valuation).map_err(|e| e.to_string())?;
    match initial.values.into_iter().next() {
        Some(state) => Ok(Some(state)),
        None => Err("INITIALISATION has no outcome".into()),
    }
}
