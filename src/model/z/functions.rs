//! Functions and relations that an axiom defines point by point.
//!
//! In: the conjuncts about constants. Out: the same, except that `\forall x : A @ f~x = e` for a total function `f` on
//! `A` is the equation `f = (\lambda x : A @ e)`, from which `f` is known without a search. Both say the same as long as
//! `f \in A \fun B` stands beside them, which stays. Likewise `\forall x : A; y : B @ x \inrel{R} y \iff P` for a relation
//! `R` between `A` and `B` is `R = \{ x : A; y : B | P \}`, which says itself that `R \in A \rel B`.

use super::elaborate::{conjunction, node, relation};
use super::predicates::flat;
use super::steps::plain;
use super::types::element;
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::walk::{variables_of_expr, variables_of_pred};

pub(super) fn equations(properties: Vec<Pred>, constants: &[VarId]) -> Vec<Pred> {
    let mut all = properties;
    let mut implied = Vec::new();
    for i in 0..all.len() {
        if let Some(equation) = equation(&all[i], &all, constants) {
            all[i] = equation;
        } else if let Some((equation, typing)) = relation_by_points(&all[i], &all, constants) {
            all[i] = equation;
            implied.push(typing);
        }
    }
    let mut place = 0..;
    all.retain(|_| place.next().is_none_or(|i| !implied.contains(&i)));
    all
}

/// The equation of a relation that a universal equivalence amounts to, and the place of the conjunct that it implies.
fn relation_by_points(p: &Pred, all: &[Pred], constants: &[VarId]) -> Option<(Pred, usize)> {
    let PredKind::Forall(vars, body) = &p.kind else { return None };
    let PredKind::Implies(typing, holds) = &body.kind else { return None };
    let PredKind::Iff(inside, when) = &holds.kind else { return None };
    let PredKind::Rel(RelOp::In, point, set) = &inside.kind else { return None };
    let ExprKind::Var(r) = set.kind else { return None };
    let applies = constants.contains(&r)
        && arguments(point) == Some(vars.clone())
        && !variables_of_pred(when).contains(&r)
        && !variables_of_pred(typing).contains(&r);
    if !applies {
        return None;
    }
    let declared = all.iter().position(|q| match &q.kind {
        PredKind::Rel(RelOp::In, member, of) if matches!(member.kind, ExprKind::Var(v) if v == r) => {
            points_of(of, vars.len()).is_some_and(|sets| range_over(vars, &sets, typing))
        }
        _ => false,
    })?;
    let both = conjunction(flat(vec![(**typing).clone(), (**when).clone()]), p.span);
    let points = node(ExprKind::Compr(vars.clone(), Box::new(both)), set.ty.clone(), p.span);
    Some((Pred { span: p.span, ..relation(RelOp::Equal, set.clone(), points) }, declared))
}

/// The sets that the components of the points of a relation come from, if all subsets of their product are meant.
fn points_of(of: &Expr, count: usize) -> Option<Vec<&Expr>> {
    let mut sets = Vec::new();
    match &of.kind {
        ExprKind::Unary(UnOp::Pow, points) => factors(points, count, &mut sets),
        ExprKind::Binary(BinOp::Relation, domain, range) => {
            factors(domain, count.saturating_sub(1), &mut sets);
            sets.push(range);
        }
        _ => return None,
    }
    Some(sets)
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
    matches!(member.kind, ExprKind::Var(v) if v == f) && is_function_on(set, vars, typing)
}

/// Whether a set is that of relations between exactly the values that the first conjuncts allow, one for each variable.
pub(super) fn is_relation_on(set: &Expr, vars: &[VarId], conjuncts: &Pred) -> bool {
    let PredKind::And(all) = &conjuncts.kind else { return false };
    let Some(typing) = all.get(..vars.len()) else { return false };
    let typing = conjunction(typing.to_vec(), conjuncts.span);
    points_of(set, vars.len()).is_some_and(|sets| range_over(vars, &sets, &typing))
}

/// Whether a set is that of total functions on exactly the values that the typing of the arguments allows.
pub(super) fn is_function_on(set: &Expr, vars: &[VarId], typing: &Pred) -> bool {
    let ExprKind::Binary(op, domain, _) = &set.kind else { return false };
    if op.arrow().is_none_or(|a| !a.total || !a.functional) {
        return false;
    }
    let mut sets = Vec::new();
    factors(domain, vars.len(), &mut sets);
    range_over(vars, &sets, typing)
}

/// Whether a typing says of each variable that it is in the set in its place, and no more.
fn range_over(vars: &[VarId], sets: &[&Expr], typing: &Pred) -> bool {
    if sets.len() != vars.len() {
        return false;
    }
    let span = typing.span;
    let inside = vars.iter().zip(sets).map(|(v, set)| {
        let ty = element(&set.ty).map_or(Type::Any, |t| (*t).clone());
        relation(RelOp::In, node(ExprKind::Var(*v), ty, span), (*set).clone())
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
