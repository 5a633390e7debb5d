//! Conjuncts that follow from others and bind what those leave open.
//!
//! In: a conjunct as the user wrote it, or several of one plan. Out: predicates that hold wherever these do. A plan
//! adds them as *derived* conjuncts: they give variables values and are never tested, because what they follow
//! from is. Each rule says why it holds. Never here: values, environments, the choice of what to bind first.

use crate::lang::free;
use crate::lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, UnOp, VarId};
use crate::solve::plan::Conjunct;
use std::sync::Arc;

/// Formulas nested deeper than this are left alone.
const DEPTH: u32 = 32;

/// What follows from one conjunct, for a plan that looks for `vars` (for any variables, if there are none).
pub(crate) fn consequences(p: &Pred, vars: &[VarId]) -> Vec<Pred> {
    match &p.kind {
        PredKind::Rel(RelOp::In, f, set) => ends_of_arrow(f, set, vars, p),
        PredKind::Forall(bound, body) => inclusions(bound, body, p),
        _ => Vec::new(),
    }
}

/// `f : s --> t` says that `dom(f) = s`, and `f : s -->> t` that `ran(f) = t`: a total relation has all of `s` for
/// its domain and one that is onto all of `t` for its range, by definition. Worth saying where `s` or `t` is
/// an interval or a variable that is looked for, as in `arr : 1..n --> T`.
fn ends_of_arrow(f: &Expr, set: &Expr, vars: &[VarId], p: &Pred) -> Vec<Pred> {
    let ExprKind::Binary(op, s, t) = &set.kind else { return Vec::new() };
    let Some(arrow) = op.arrow() else { return Vec::new() };
    let is_open = |e: &Expr| match &e.kind {
        ExprKind::Var(v) => vars.contains(v),
        ExprKind::Binary(BinOp::Interval, ..) => free::mentions(e, &|v| vars.is_empty() || vars.contains(&v)),
        _ => false,
    };
    let mut out = Vec::new();
    for (holds, part, whole) in [(arrow.total, UnOp::Dom, s), (arrow.onto, UnOp::Ran, t)] {
        if holds && is_open(whole) {
            let kind = ExprKind::Unary(part, Box::new(f.clone()));
            let end = Expr { kind, ty: whole.ty.clone(), span: f.span };
            out.push(Pred { kind: PredKind::Rel(RelOp::Equal, end, (**whole).clone()), span: p.span });
        }
    }
    out
}

/// `!x.(x:s => x:t)` says that `s <: t`: `x` runs through its whole type, so this is what inclusion means. The
/// same holds of a tuple of all the variables, each once, and for each conjunct of the conclusion.
fn inclusions(bound: &[VarId], body: &Pred, p: &Pred) -> Vec<Pred> {
    let PredKind::Implies(given, claim) = &unlabelled(body).kind else { return Vec::new() };
    let PredKind::Rel(RelOp::In, x, s) = &unlabelled(given).kind else { return Vec::new() };
    let mut tuple = Vec::new();
    let plain = is_tuple(x, &mut tuple, DEPTH)
        && tuple.len() == bound.len()
        && bound.iter().all(|v| tuple.contains(v));
    let is_closed = |e: &Expr| !free::mentions(e, &|v| bound.contains(&v));
    if !plain || !is_closed(s) {
        return Vec::new();
    }
    let claims = match &unlabelled(claim).kind {
        PredKind::And(ps) => ps.iter().map(unlabelled).collect(),
        _ => vec![unlabelled(claim)],
    };
    let included = |q: &Pred| match &q.kind {
        PredKind::Rel(RelOp::In, y, t) if is_same_tuple(x, y) && is_closed(t) => {
            Some(Pred { kind: PredKind::Rel(RelOp::Subset, s.clone(), t.clone()), span: p.span })
        }
        _ => None,
    };
    claims.into_iter().filter_map(included).collect()
}

fn unlabelled(p: &Pred) -> &Pred {
    let mut p = p;
    while let PredKind::Label(_, q) = &p.kind {
        p = q;
    }
    p
}

/// Whether an expression is a tuple of variables, which are collected.
fn is_tuple(e: &Expr, vars: &mut Vec<VarId>, depth: u32) -> bool {
    match &e.kind {
        ExprKind::Var(v) => {
            vars.push(*v);
            true
        }
        ExprKind::Pair(a, b) => depth > 0 && is_tuple(a, vars, depth - 1) && is_tuple(b, vars, depth - 1),
        _ => false,
    }
}

/// Whether two tuples of variables are the same, wherever they stand in the text.
fn is_same_tuple(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Var(v), ExprKind::Var(w)) => v == w,
        (ExprKind::Pair(x, y), ExprKind::Pair(z, w)) => is_same_tuple(x, z) && is_same_tuple(y, w),
        _ => false,
    }
}

/// `x : seq(a) & x : seq(b)` says that `x : seq(a /\ b)`: the items of `x` lie in both sets. If one of the two leaves
/// out the empty sequence or asks for different items, so do both together.
pub(crate) fn common_sequences(conjuncts: &[Arc<Conjunct>]) -> Vec<(Pred, bool)> {
    let of = |c: &'_ Arc<Conjunct>| -> Option<(VarId, UnOp, Expr)> {
        let PredKind::Rel(RelOp::In, x, s) = &c.pred.kind else { return None };
        match (&x.kind, &s.kind) {
            (ExprKind::Var(v), ExprKind::Unary(op, items)) => {
                merged(*op, UnOp::Seq).map(|_| (*v, *op, (**items).clone()))
            }
            _ => None,
        }
    };
    let mut out = Vec::new();
    for (i, first) in conjuncts.iter().enumerate() {
        let Some((v, op, a)) = of(first) else { continue };
        for second in &conjuncts[..i] {
            let Some((w, other, b)) = of(second) else { continue };
            let (Some(op), true) = (merged(op, other), v == w) else { continue };
            let PredKind::Rel(_, x, s) = &first.pred.kind else { continue };
            let both = Expr {
                ty: a.ty.clone(),
                span: a.span,
                kind: ExprKind::Binary(BinOp::Inter, Box::new(a.clone()), Box::new(b)),
            };
            let sequences =
                Expr { kind: ExprKind::Unary(op, Box::new(both)), ty: s.ty.clone(), span: s.span };
            let pred = Pred { kind: PredKind::Rel(RelOp::In, x.clone(), sequences), span: first.pred.span };
            out.push((pred, first.partial || second.partial));
        }
    }
    out
}

/// The sequences that lie in two kinds of sequences; `None` if one is no such kind.
pub(crate) fn merged(a: UnOp, b: UnOp) -> Option<UnOp> {
    let demands = |op| match op {
        UnOp::Seq => Some((false, false)),
        UnOp::Seq1 => Some((true, false)),
        UnOp::Iseq => Some((false, true)),
        UnOp::Iseq1 => Some((true, true)),
        _ => None,
    };
    let ((full, different), (also_full, also_different)) = (demands(a)?, demands(b)?);
    Some(match (full || also_full, different || also_different) {
        (false, false) => UnOp::Seq,
        (true, false) => UnOp::Seq1,
        (false, true) => UnOp::Iseq,
        (true, true) => UnOp::Iseq1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_two_kinds_of_sequences_meets_the_demands_of_both() {
        assert_eq!(merged(UnOp::Seq, UnOp::Seq), Some(UnOp::Seq));
        assert_eq!(merged(UnOp::Seq1, UnOp::Iseq), Some(UnOp::Iseq1));
        assert_eq!(merged(UnOp::Iseq, UnOp::Seq), Some(UnOp::Iseq));
        assert_eq!(merged(UnOp::Perm, UnOp::Seq), None);
    }
}
