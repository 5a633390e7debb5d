//! Constants whose search explodes are found by the SAT solver.
//!
//! In: a machine. Out: the machine, with the list of the values of such constants as a further property. The rule: constants that
//! no equation gives and that have more than 2^`FEW` values by their types may explode. For them the evaluator
//! gets `PATIENCE`; if it has not listed all valuations then, it begins again, and each group of related constants is put to the solver
//! beside it (`symbolic::valuations`), which either lists all of its valuations or says nothing. Who is ready first ends the other. The
//! evaluator goes on from the listed values: it tests each of them against all properties, and brings them into its own order. What has no
//! valuation at all is left to the evaluator, and so is everything that a certificate has to show.

use super::values::written;
use super::{CheckOptions, Engine};
use crate::base::budget::Budget;
use crate::base::{Name, Span};
use crate::evaluate::{Constants, Found, Interpreter};
use crate::lang::typed::{Clause, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetKind, Type, VarId};
use crate::lang::value::Value;
use crate::symbolic::valuations::{VALUATIONS, groups, solutions};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// What the evaluator may take for all constants before the solver is asked.
const PATIENCE: Duration = Duration::from_millis(500);
/// What the solver may take for all groups.
const SOLVING: Duration = Duration::from_secs(60);
/// Where the solver gives up sooner, little is lost if the evaluator begins once more.
const SOON: Duration = Duration::from_secs(2);

/// Binary logarithm of a number of values that is listed soon whatever the properties are.
const FEW: f64 = 20.0;
/// What an unbounded integer counts for, as a binary logarithm: users bound most of them by small numbers.
const NUMBER: f64 = 6.0;

/// What is known of the constants before a search.
#[derive(Default)]
pub struct Prepared {
    /// What the evaluator listed, if that took it little time: it need not do it again.
    pub found: Option<Arc<Found<Constants>>>,
    /// Of which constants the solver listed the values.
    pub note: Option<String>,
}

/// Adds what the solver lists, where the evaluator does not list the constants soon.
pub fn prepare(machine: &mut Machine, options: &CheckOptions, budget: &Budget) -> Prepared {
    // In the scope, integers that nothing bounds have few values, which the solver does not know.
    let is_left = machine.integers_in_scope || options.certificate.is_asked() || options.cluster.is_some();
    if is_left || options.engine != Engine::Explicit || may_have(machine) <= FEW {
        return Prepared::default();
    }
    let moment = within(budget, PATIENCE);
    if let Ok(found) = Interpreter::new(machine, &moment).constants()
        && moment.check().is_ok()
    {
        return Prepared { found: Some(Arc::new(found)), note: None };
    }
    let Listed { by_solver, properties, found } = side_by_side(machine, budget);
    let origin = Name::from("solver");
    let clause = |pred| Clause { label: None, origin: origin.clone(), pred, text: String::new() };
    machine.properties.extend(properties.into_iter().map(clause));
    let words = format!("the SAT solver listed the values of {}", by_solver.join(", "));
    Prepared { found, note: (!by_solver.is_empty()).then_some(words) }
}

/// What is known of the constants, as properties, and the names of those that the solver listed.
#[derive(Default)]
struct Listed {
    by_solver: Vec<String>,
    properties: Vec<Pred>,
    /// All that the evaluator says, if it came to its end.
    found: Option<Arc<Found<Constants>>>,
}

/// The solver and the evaluator list the constants side by side.
fn side_by_side(machine: &Machine, budget: &Budget) -> Listed {
    let (solving, solver_ends) = within(budget, SOLVING).beside();
    let (evaluating, evaluator_ends) = budget.beside();
    thread::scope(|scope| {
        let solver = scope.spawn(|| {
            let started = budget.elapsed();
            let listed = solved(machine, &solving);
            if !listed.properties.is_empty() || budget.elapsed() - started < SOON {
                evaluator_ends.store(true, Ordering::Relaxed);
            }
            listed
        });
        let evaluated = evaluated(machine, &evaluating);
        if evaluating.check().is_ok() {
            solver_ends.store(true, Ordering::Relaxed);
        }
        let solved = solver.join().unwrap_or_default();
        if solved.properties.is_empty() || evaluated.found.is_some() { evaluated } else { solved }
    })
}

fn solved(machine: &Machine, budget: &Budget) -> Listed {
    let mut listed = Listed::default();
    for group in groups(machine) {
        if let Some(values) = solutions(machine, &group, budget).filter(|values| !values.is_empty())
            && let Some(pred) = one_of(machine, &group.constants, &values)
        {
            listed.properties.push(pred);
            listed.by_solver.extend(group.constants.iter().map(|v| machine.var(*v).name.to_string()));
        }
    }
    listed
}

/// What the evaluator lists, so that it need not be searched for again: for the search as it is, for whoever asks later as a property. Elements without
/// names are left alone in that: of valuations that differ in these alone the evaluator keeps one, and a list that names them would tell
/// them apart.
fn evaluated(machine: &Machine, budget: &Budget) -> Listed {
    let Ok(found) = Interpreter::new(machine, budget).constants() else { return Listed::default() };
    if budget.check().is_err() {
        return Listed::default();
    }
    let is_few = (1..=VALUATIONS).contains(&found.values.len());
    let is_told = is_few
        && found.remarks().next().is_none()
        && machine.sets.iter().all(|set| set.kind == SetKind::Enumerated);
    let mut properties = Vec::new();
    if is_told {
        let values: Vec<Vec<Value>> = found.values.iter().map(|values| values.to_vec()).collect();
        properties.extend(one_of(machine, &machine.constants, &values));
    }
    Listed { by_solver: Vec::new(), properties, found: Some(Arc::new(found)) }
}

/// The binary logarithm of the number of values that the constants may have by their types, those aside that an equation
/// gives.
fn may_have(machine: &Machine) -> f64 {
    let mut given = Vec::new();
    machine.properties.iter().for_each(|c| note_given(&c.pred, &mut given));
    let open = machine.constants.iter().filter(|v| !given.contains(v));
    open.map(|v| logarithm(machine, &machine.var(*v).ty)).sum()
}

fn note_given(p: &Pred, given: &mut Vec<VarId>) {
    match &p.kind {
        PredKind::And(ps) => ps.iter().for_each(|p| note_given(p, given)),
        PredKind::Label(_, p) => note_given(p, given),
        PredKind::Rel(RelOp::Equal, a, b) => {
            given.extend([a, b].into_iter().filter_map(|e| match e.kind {
                ExprKind::Var(v) => Some(v),
                _ => None,
            }));
        }
        _ => {}
    }
}

/// The binary logarithm of the number of values of a type.
fn logarithm(machine: &Machine, ty: &Type) -> f64 {
    match ty {
        Type::Bool | Type::Any => 1.0,
        Type::Integer | Type::String | Type::Real | Type::Free(_) => NUMBER,
        Type::Set(set) => (machine.set(*set).elems.len().max(1) as f64).log2(),
        Type::Pow(t) => logarithm(machine, t).exp2(),
        Type::Prod(a, b) => logarithm(machine, a) + logarithm(machine, b),
        Type::Struct(fields) => fields.iter().map(|(_, t)| logarithm(machine, t)).sum(),
    }
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
