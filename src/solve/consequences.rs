//! Conjuncts that follow from others and bind what those leave open.
//!
//! In: a conjunct as the user wrote it, or several of one plan. Out: predicates that hold wherever these do. A plan
//! adds them as *derived* conjuncts: they give variables values and are never tested, because what they follow
//! from is. Each rule says why it holds. Never here: values, environments, the choice of what to bind first.

use crate::base::Int;
use crate::lang::free;
use crate::lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use crate::solve::plan::Conjunct;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A polynomial with more products than this is left alone.
const PRODUCTS: usize = 64;
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
        ExprKind::Binary(BinOp::Interval, ..) => {
            free::mentions(e, &|v| vars.is_empty() || vars.contains(&v))
        }
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
        PredKind::Rel(RelOp::In, y, t) if y.kind == x.kind && is_closed(t) => {
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
            let pred =
                Pred { kind: PredKind::Rel(RelOp::In, x.clone(), sequences), span: first.pred.span };
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

/// A sum of products of variables with coefficients: products are sorted, coefficients are not zero.
type Polynomial = BTreeMap<Vec<VarId>, Int>;

/// Whether some comparisons of integers contradict each other once equations `v = e` are put in place of `v`:
/// `z=y+1 & a=z-1 & r=3*a & q=3*y & r/=q`. Only conjuncts made of numbers, variables, sums and products count:
/// these are defined for all values, so that for every valuation one of them is false, and with it the conjunction.
pub(crate) fn contradict(conjuncts: &[Arc<Conjunct>], vars: &[VarId]) -> bool {
    let mut known: Vec<(VarId, Polynomial)> = Vec::new();
    let mut used = vec![false; conjuncts.len()];
    for (i, c) in conjuncts.iter().enumerate() {
        let PredKind::Rel(RelOp::Equal, a, b) = &c.pred.kind else { continue };
        // A derived conjunct may be false where the one it follows from has no value.
        if a.ty != Type::Integer || c.derived {
            continue;
        }
        for (x, y) in [(a, b), (b, a)] {
            let ExprKind::Var(v) = x.kind else { continue };
            if !vars.contains(&v) || known.iter().any(|(w, _)| *w == v) {
                continue;
            }
            let Some(value) = polynomial(y, DEPTH).and_then(|p| substituted(&p, &known)) else { continue };
            if value.keys().any(|product| product.contains(&v)) {
                continue;
            }
            // The new equation is put into the old ones, so that no variable on the left stands on a right.
            let mut all = Some(Vec::with_capacity(known.len()));
            for (w, p) in &known {
                let p = substituted(p, &[(v, value.clone())]);
                all = all.zip(p).map(|(mut all, p)| {
                    all.push((*w, p));
                    all
                });
            }
            let Some(mut all) = all else { continue };
            all.push((v, value));
            known = all;
            used[i] = true;
            break;
        }
    }
    if known.len() < 2 {
        return false;
    }
    conjuncts.iter().zip(used).any(|(c, used)| !used && !c.derived && fails(&c.pred, &known))
}

/// Whether a comparison is false for all values.
fn fails(p: &Pred, known: &[(VarId, Polynomial)]) -> bool {
    let PredKind::Rel(op, a, b) = &p.kind else { return false };
    if a.ty != Type::Integer || matches!(op, RelOp::In | RelOp::NotIn) {
        return false;
    }
    let (Some(a), Some(b)) = (polynomial(a, DEPTH), polynomial(b, DEPTH)) else { return false };
    let Some(difference) = substituted(&sum(a, b, &Int::from(-1i64)), known) else { return false };
    let zero = Int::ZERO;
    let n = match difference.iter().next() {
        None => &zero,
        Some((product, n)) if product.is_empty() && difference.len() == 1 => n,
        _ => return false,
    };
    match op {
        RelOp::Equal => !n.is_zero(),
        RelOp::NotEqual => n.is_zero(),
        RelOp::Less => !n.is_negative(),
        RelOp::LessEqual => !n.is_negative() && !n.is_zero(),
        RelOp::Greater => n.is_negative() || n.is_zero(),
        RelOp::GreaterEqual => n.is_negative(),
        _ => false,
    }
}

/// An expression as a polynomial in its variables; `None` if it has another form or is long.
fn polynomial(e: &Expr, depth: u32) -> Option<Polynomial> {
    if depth == 0 || e.ty != Type::Integer {
        return None;
    }
    match &e.kind {
        ExprKind::Int(n) => Some(of_number(n)),
        ExprKind::Var(v) => Some(BTreeMap::from([(vec![*v], Int::ONE)])),
        ExprKind::Unary(UnOp::Neg, a) => {
            Some(sum(Polynomial::new(), polynomial(a, depth - 1)?, &Int::from(-1i64)))
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (polynomial(a, depth - 1)?, polynomial(b, depth - 1)?);
            match op {
                BinOp::Add => Some(sum(a, b, &Int::ONE)),
                BinOp::Sub => Some(sum(a, b, &Int::from(-1i64))),
                BinOp::Mul => product(&a, &b),
                _ => None,
            }
        }
        _ => None,
    }
}

fn of_number(n: &Int) -> Polynomial {
    if n.is_zero() { Polynomial::new() } else { BTreeMap::from([(Vec::new(), n.clone())]) }
}

/// `a + k*b`
fn sum(mut a: Polynomial, b: Polynomial, k: &Int) -> Polynomial {
    for (product, n) in b {
        let all = a.remove(&product).unwrap_or(Int::ZERO).add(&n.mul(k));
        if !all.is_zero() {
            a.insert(product, all);
        }
    }
    a
}

fn product(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    if a.len().saturating_mul(b.len()) > PRODUCTS {
        return None;
    }
    let mut out = Polynomial::new();
    for (x, n) in a {
        for (y, m) in b {
            let mut vars: Vec<VarId> = x.iter().chain(y).copied().collect();
            vars.sort();
            if vars.len() > PRODUCTS {
                return None;
            }
            out = sum(out, BTreeMap::from([(vars, n.mul(m))]), &Int::ONE);
        }
    }
    Some(out)
}

/// A polynomial with the values of variables in their places; `None` if that is long.
fn substituted(p: &Polynomial, known: &[(VarId, Polynomial)]) -> Option<Polynomial> {
    let mut out = Polynomial::new();
    for (vars, n) in p {
        let mut all = of_number(n);
        for v in vars {
            all = match known.iter().find(|(w, _)| w == v) {
                Some((_, value)) => product(&all, value)?,
                None => product(&all, &BTreeMap::from([(vec![*v], Int::ONE)]))?,
            };
        }
        out = sum(out, all, &Int::ONE);
        if out.len() > PRODUCTS {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Span;
    use crate::solve::plan::Plan;

    fn int(kind: ExprKind) -> Expr {
        Expr { kind, ty: Type::Integer, span: Span::default() }
    }
    fn var(n: u32) -> Expr {
        int(ExprKind::Var(VarId(n)))
    }
    fn num(n: i64) -> Expr {
        int(ExprKind::Int(Int::from(n)))
    }
    fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
        int(ExprKind::Binary(op, Box::new(a), Box::new(b)))
    }
    fn rel(op: RelOp, a: Expr, b: Expr) -> Pred {
        Pred { kind: PredKind::Rel(op, a, b), span: Span::default() }
    }

    /// `z=y+1 & a=z-1 & r=3*a & q=3*y`, then what is given.
    fn equal_terms(last: Pred) -> bool {
        let (y, z, a, r, q) = (var(1), var(2), var(3), var(4), var(5));
        let preds = [
            rel(RelOp::Equal, z.clone(), bin(BinOp::Add, y.clone(), num(1))),
            rel(RelOp::Equal, a.clone(), bin(BinOp::Sub, z, num(1))),
            rel(RelOp::Equal, r, bin(BinOp::Mul, num(3), a)),
            rel(RelOp::Equal, q, bin(BinOp::Mul, num(3), y)),
            last,
        ];
        let vars: Vec<VarId> = (1..=5).map(VarId).collect();
        let preds: Vec<&Pred> = preds.iter().collect();
        contradict(&Plan::new(&vars, &preds).conjuncts, &vars)
    }

    #[test]
    fn terms_that_are_equal_by_substitution_do_not_differ() {
        assert!(equal_terms(rel(RelOp::NotEqual, var(4), var(5))));
        assert!(equal_terms(rel(RelOp::Less, var(4), var(5))));
        assert!(equal_terms(rel(RelOp::Less, bin(BinOp::Add, var(4), num(1)), var(5))));
    }

    #[test]
    fn terms_that_are_equal_by_substitution_are_equal() {
        assert!(!equal_terms(rel(RelOp::Equal, var(4), var(5))));
        assert!(!equal_terms(rel(RelOp::LessEqual, var(4), var(5))));
        // r = q, so r < q+1 holds: one more than what is refuted above.
        assert!(!equal_terms(rel(RelOp::Less, var(4), bin(BinOp::Add, var(5), num(1)))));
    }

    #[test]
    fn an_equation_of_a_variable_with_itself_is_no_definition() {
        let preds = [
            rel(RelOp::Equal, var(1), bin(BinOp::Mul, var(1), var(1))),
            rel(RelOp::Equal, var(2), bin(BinOp::Add, var(1), num(1))),
            rel(RelOp::NotEqual, var(2), num(1)),
        ];
        let vars = [VarId(1), VarId(2)];
        let preds: Vec<&Pred> = preds.iter().collect();
        // 1 is a solution: x1 = 1, x2 = 2.
        assert!(!contradict(&Plan::new(&vars, &preds).conjuncts, &vars));
    }

    #[test]
    fn what_is_in_two_kinds_of_sequences_meets_the_demands_of_both() {
        assert_eq!(merged(UnOp::Seq, UnOp::Seq), Some(UnOp::Seq));
        assert_eq!(merged(UnOp::Seq1, UnOp::Iseq), Some(UnOp::Iseq1));
        assert_eq!(merged(UnOp::Iseq, UnOp::Seq), Some(UnOp::Iseq));
        assert_eq!(merged(UnOp::Perm, UnOp::Seq), None);
    }
}
