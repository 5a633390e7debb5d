//! Functions that an axiom defines point by point.
//!
//! In: the conjuncts about constants. Out: the same, except that `\forall x : A @ f~x = e` for a total function `f` on
//! `A` is the equation `f = (\lambda x : A @ e)`, from which `f` is known without a search. Both say the same as long as
//! `f \in A \fun B` stands beside them, which stays.

use super::elaborate::{conjunction, node, relation};
use super::steps::plain;
use super::types::element;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, VarId};
use bombus_lang::walk::{variables_of_expr, variables_of_pred};

pub(super) fn equations(properties: Vec<Pred>, constants: &[VarId]) -> Vec<Pred> {
    let mut all = properties;
    for i in 0..all.len() {
        if let Some(equation) = equation(&all[i], &all, constants) {
            all[i] = equation;
        }
    }
    all
}

/// The equation that a universal conjunct amounts to.
fn equation(p: &Pred, all: &[Pred], constants: &[VarId]) -> Option<Pred> {
    let PredKind::Forall(vars, body) = &p.kind else { return None };
    let PredKind::Implies(typing, holds) = &body.kind else { return None };
    let PredKind::Rel(RelOp::Equal, call, value) = &holds.kind else { return None };
    let ExprKind::Apply(function, argument) = &call.kind else { return None };
    let ExprKind::Var(f) = function.kind else { return None };
    let applies = constants.contains(&f)
        && arguments(argument) == Some(vars.clone())
        && !variables_of_expr(value).contains(&f)
        && !variables_of_pred(typing).contains(&f);
    if !applies || !all.iter().any(|q| is_total_on(q, f, vars, typing)) {
        return None;
    }
    let lambda = ExprKind::Big(BigOp::Lambda, vars.clone(), typing.clone(), Box::new(value.clone()));
    let lambda = node(lambda, function.ty.clone(), p.span);
    Some(Pred { span: p.span, ..relation(RelOp::Equal, (**function).clone(), lambda) })
}

/// The variables of a tuple of variables, each once.
fn arguments(e: &Expr) -> Option<Vec<VarId>> {
    match &e.kind {
        ExprKind::Var(v) => Some(vec![*v]),
        ExprKind::Pair(a, b) => {
            let mut all = arguments(a)?;
            let ExprKind::Var(last) = b.kind else { return None };
            if all.contains(&last) {
                return None;
            }
            all.push(last);
            Some(all)
        }
        _ => None,
    }
}

/// Whether a conjunct says that `f` is total on exactly the values that the typing of the arguments allows.
fn is_total_on(q: &Pred, f: VarId, vars: &[VarId], typing: &Pred) -> bool {
    let PredKind::Rel(RelOp::In, member, set) = &q.kind else { return false };
    let ExprKind::Binary(op, domain, _) = &set.kind else { return false };
    if !matches!(member.kind, ExprKind::Var(v) if v == f)
        || op.arrow().is_none_or(|a| !a.total || !a.functional)
    {
        return false;
    }
    let mut sets = Vec::new();
    factors(domain, vars.len(), &mut sets);
    if sets.len() != vars.len() {
        return false;
    }
    let span = typing.span;
    let inside = vars.iter().zip(sets).map(|(v, set)| {
        let ty = element(&set.ty).map_or(Type::Any, |t| (*t).clone());
        relation(RelOp::In, node(ExprKind::Var(*v), ty, span), set.clone())
    });
    plain(&conjunction(inside.collect(), span)) == plain(typing)
}

/// The factors of a left-nested product.
pub(super) fn factors<'e>(set: &'e Expr, count: usize, out: &mut Vec<&'e Expr>) {
    match &set.kind {
        ExprKind::Binary(BinOp::Cartesian, a, b) if count > 1 => {
            factors(a, count - 1, out);
            out.push(b);
        }
        _ => out.push(set),
    }
}
