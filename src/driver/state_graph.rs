//! The states and steps of a model as a graph for other programs.
//!
//! In: a model, an expression to project onto, a limit. Out: nodes and edges in words, and whether anything is missing.
//! Never here: the formats of files.

use super::space::Space;
use super::values::Typed;
use super::{Rejected, load};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::evaluate::{Interpreter, State};
use crate::lang::typed::{Machine, VarId};
use crate::lang::value::Value;
use crate::model::{Formula, LoadOptions, Model};
use crate::report::graph_file::{Arrow, Dot, Drawn};
use std::collections::BTreeSet;
use std::path::Path;

/// The graph of the first states of a model, in breadth-first order.
pub fn state_graph(
    path: &Path,
    options: &LoadOptions,
    project: Option<&str>,
    states: usize,
    budget: &Budget,
) -> Result<Drawn, Rejected> {
    // An expression may tell elements apart, so valuations of the constants that differ by their names all count.
    let by_name = options.all_constants || project.is_some();
    let (model, sources, _) = load(path, &LoadOptions { all_constants: by_name, ..options.clone() })?;
    let typed = project.map(|text| projection(&model, &sources, text)).transpose()?;
    let expression = typed.as_ref().and_then(|t| match &t.formula {
        Formula::Expr(e) => Some(e),
        Formula::Pred(_) => None,
    });
    let interpreter = Interpreter::new(&model.machine, budget);
    let mut space = Space::of_machine(&interpreter);
    if !space.grow(&interpreter, states) {
        space.missing.insert(format!("only the first {} states were looked at", space.states.len()));
    }
    let machine = typed.as_ref().map_or(&model.machine, |t| &t.machine);
    let projecting = Interpreter::new(machine, budget);
    let projected = space.project(&projecting, expression);
    let dots = projected
        .nodes
        .iter()
        .map(|(value, states)| Dot {
            values: match (value, expression) {
                (Ok(value), Some(e)) => {
                    vec![(project.unwrap_or("").to_string(), value.show(machine, &e.ty))]
                }
                (Err(why), _) => vec![(project.unwrap_or("").to_string(), format!("undefined: {why}"))],
                (Ok(_), None) => named(machine, &space.states[states[0]]),
            },
            states: states.len(),
            initial: states[0] < space.initial,
            open: states.iter().any(|s| *s >= space.expanded),
            broken: states.iter().any(|s| is_broken(&interpreter, &space.states[*s])),
        })
        .collect();
    Ok(Drawn {
        machine: machine.name.to_string(),
        dots,
        arrows: arrows(machine, &space, &projected.of, expression.is_some()),
        states: space.states.len(),
        missing: space.missing.into_iter().collect(),
    })
}

/// Whether a state breaks the invariant or an assertion.
fn is_broken(interpreter: &Interpreter, state: &State) -> bool {
    let broken = interpreter.check_state(state, false);
    broken.is_ok_and(|b| !b.invariant.is_empty() || !b.assertions.is_empty())
}

/// Why a model cannot be projected onto an expression, if it cannot; a model that is rejected has its own messages.
pub fn refused_projection(path: &Path, options: &LoadOptions, project: &str) -> Result<(), Rejected> {
    let Ok((model, sources, _)) = load(path, options) else { return Ok(()) };
    projection(&model, &sources, project).map(|_| ())
}

/// The expression that states are projected onto.
fn projection(model: &Model, sources: &Sources, text: &str) -> Result<Typed, Rejected> {
    let (mut machine, mut sources) = (model.machine.clone(), sources.clone());
    match model.scope.parse(&mut machine, &mut sources, "<project>", text) {
        Ok(formula @ Formula::Expr(_)) => Ok(Typed { machine, sources, formula }),
        Ok(Formula::Pred(_)) => {
            let words = "--project: an expression is wanted; bool(P) makes one of a predicate";
            Err(Rejected { sources, diagnostics: vec![Diagnostic::plain(words)] })
        }
        Err(diagnostics) => Err(Rejected { sources, diagnostics }),
    }
}

fn named(machine: &Machine, state: &State) -> Vec<(String, String)> {
    let one = |(v, x): (&VarId, &Value)| {
        let var = machine.var(*v);
        (var.name.to_string(), x.show(machine, &var.ty))
    };
    machine.variables.iter().zip(state.variables.iter()).map(one).collect()
}

/// Steps between states with their parameters; between values of an expression, events alone, each once.
fn arrows(machine: &Machine, space: &Space, of: &[usize], projected: bool) -> Vec<Arrow> {
    let mut seen: BTreeSet<(usize, usize, String)> = BTreeSet::new();
    let mut all = Vec::new();
    for edge in &space.edges {
        let op = machine.op(machine.events[edge.by.event]);
        let mut label = op.name.to_string();
        if !projected && !op.params.is_empty() {
            let values: Vec<String> = op
                .params
                .iter()
                .zip(edge.by.params.iter())
                .map(|(v, x)| x.show(machine, &machine.var(*v).ty))
                .collect();
            label = format!("{label}({})", values.join(", "));
        }
        let (from, to) = (of[edge.from], of[edge.to]);
        if seen.insert((from, to, label.clone())) {
            all.push(Arrow { from, to, label });
        }
    }
    all
}
