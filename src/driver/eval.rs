//! The value of a formula, alone or in the first initial state of a model.

use super::{Rejected, load, one_line};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::{Int, Span};
use crate::evaluate::{Interpreter, State};
use crate::model::{self, Formula, LoadOptions, Model};
use std::path::Path;

/// The value of a formula as text, or what went wrong while it was evaluated.
pub fn eval(
    formula: &str,
    model: Option<&Path>,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<Result<String, String>, Rejected> {
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
    let typed = match model.scope.parse(&mut model.machine, &mut sources, "<formula>", formula) {
        Ok(typed) => typed,
        Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
    };
    let machine = &model.machine;
    let interpreter = Interpreter::new(machine, budget);
    let state = match first_state(&interpreter) {
        Ok(state) => state,
        Err(why) => return Ok(Err(why)),
    };
    let result = match &typed {
        Formula::Expr(e) => interpreter.eval_expr(e, state.as_ref()).map(|v| v.show(machine, &e.ty)),
        Formula::Pred(p) => {
            interpreter.eval_pred(p, state.as_ref()).map(|b| if b { "TRUE" } else { "FALSE" }.to_string())
        }
    };
    Ok(result.map_err(|e| {
        let mut text = e.message().to_string();
        if e.span() != Span::default() {
            let (line, column) = sources.position(e.span());
            text.push_str(&format!(" (at {line}:{column}: {})", one_line(sources.slice(e.span()))));
        }
        text
    }))
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
