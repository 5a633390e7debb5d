//! Constants whose search explodes are found by the SAT solver.
//!
//! In: a machine. Out: the machine, with the list of the values of such constants as a further property. The rule: the evaluator
//! gets `PATIENCE`; if it has not listed all valuations then, each group of related constants is put to the solver
//! (`symbolic::valuations`), which either lists all of its valuations or says nothing. The evaluator goes on from the
//! listed values: it tests each of them against all properties, and brings them into its own order. So nothing depends on who was faster but time.

use super::values::written;
use crate::base::budget::Budget;
use crate::base::{Name, Span};
use crate::evaluate::Interpreter;
use crate::lang::typed::{Clause, Expr, ExprKind, Machine, Pred, PredKind, RelOp, Type, VarId};
use crate::lang::value::Value;
use crate::symbolic::valuations::{groups, solutions};
use std::time::Duration;

/// What the evaluator may take for all constants before the solver is asked.
const PATIENCE: Duration = Duration::from_millis(500);
/// What the solver may take for all groups.
const SOLVING: Duration = Duration::from_secs(8);

/// Adds what the solver lists, where the evaluator does not list the constants soon.
pub fn prepare(machine: &mut Machine, budget: &Budget) {
    // There, integers that nothing bounds have few values, which the solver does not know.
    if machine.constants.is_empty() || machine.integers_in_scope {
        return;
    }
    let moment = within(budget, PATIENCE);
    // Whatever the evaluator says in time, it will say again.
    if Interpreter::new(machine, &moment).constants().is_ok_and(|_| moment.check().is_ok()) {
        return;
    }
    let moment = within(budget, SOLVING);
    let mut listed = Vec::new();
    for group in groups(machine) {
        if let Some(values) = solutions(machine, &group, &moment)
            && let Some(pred) = one_of(machine, &group.constants, &values)
        {
            listed.push(pred);
        }
    }
    let origin = Name::from("solver");
    let clause = |pred| Clause { label: None, origin: origin.clone(), pred, text: String::new() };
    machine.properties.extend(listed.into_iter().map(clause));
}

fn within(budget: &Budget, time: Duration) -> Budget {
    let until = budget.elapsed() + time;
    let mut moment = budget.clone();
    moment.time_limit = Some(budget.time_limit.map_or(until, |limit| limit.min(until)));
    moment
}

/// The constants have one of these lists of values; `None` where a value cannot be written.
fn one_of(machine: &Machine, constants: &[VarId], values: &[Vec<Value>]) -> Option<Pred> {
    let span = Span::default();
    let pred = |kind| Pred { kind, span };
    let var = |v: &VarId| {
        let ty = machine.var(*v).ty.clone();
        Expr { kind: ExprKind::Var(*v), ty, span }
    };
    if let [only] = values {
        let pairs = constants.iter().zip(only);
        let equations = pairs
            .map(|(v, x)| Some(pred(PredKind::Rel(RelOp::Equal, var(v), written(x, &machine.var(*v).ty)?))));
        return Some(pred(PredKind::And(equations.collect::<Option<_>>()?)));
    }
    let pair = |a: Expr, b: Expr| {
        let ty = Type::prod(a.ty.clone(), b.ty.clone());
        Expr { kind: ExprKind::Pair(Box::new(a), Box::new(b)), ty, span }
    };
    let tuple = constants.iter().map(var).reduce(pair)?;
    let mut elems = Vec::with_capacity(values.len());
    for list in values {
        let parts = constants.iter().zip(list).map(|(v, x)| written(x, &machine.var(*v).ty));
        elems.push(parts.collect::<Option<Vec<_>>>()?.into_iter().reduce(pair)?);
    }
    let ty = Type::pow(tuple.ty.clone());
    let set = Expr { kind: ExprKind::SetExt(elems), ty, span };
    Some(pred(PredKind::Rel(RelOp::In, tuple, set)))
}
