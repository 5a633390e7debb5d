//! Functions that a quantifier tells point by point: `f : NATURAL --> NATURAL & !x.(x:NATURAL => f(x) = x+1)`.
//!
//! In: the conjuncts of a plan. Out: the equation `f = %x.(x:NATURAL|x+1)` in place of the quantifier. A total function on
//! `s` that has the value `e` at every point of `s` is just that lambda; and where `f` is the lambda, the quantifier holds,
//! because `e` has a value everywhere. Only for sets without end: the rows of others are found one by one.
//! `f : NATURAL --> T & f(0) = a & !n.(n:NATURAL1 => f(n) = e(f(n-1)))` tells `f` by induction: it is the lambda
//! `%n.(n:NATURAL|IF n=0 THEN a ELSE e(f(n-1)) END)`, which speaks of itself.

use crate::solve::plan::Conjunct;
use bombus_base::{Int, Span};
use bombus_lang::free;
use bombus_lang::partiality::{is_infinite, may_be_undefined};
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, VarId};
use bombus_lang::walk::{Change, change_expr};
use std::sync::Arc;

/// Products nested deeper than this are not looked into.
const DEPTH: u32 = 16;

/// The numbers of conjuncts that are quantifiers over all points of a function among `vars`, with the equations that say
/// the same.
pub(crate) fn told_functions(conjuncts: &[Arc<Conjunct>], vars: &[VarId]) -> Vec<(usize, Pred)> {
    let mut out: Vec<(usize, Pred)> = Vec::new();
    for (at, c) in conjuncts.iter().enumerate().filter(|(_, c)| !c.derived) {
        let PredKind::Rel(RelOp::In, f, arrows) = &c.pred.kind else { continue };
        let (ExprKind::Var(function), ExprKind::Binary(op, points, _)) = (&f.kind, &arrows.kind) else {
            continue;
        };
        let is_total = op.arrow().is_some_and(|arrow| arrow.functional && arrow.total);
        if !is_total || !vars.contains(function) || !has_no_end(points, DEPTH) {
            continue;
        }
        // Where the function is not known to be total yet, its applications may have no value.
        let mut behind = conjuncts.iter().enumerate().skip(at + 1).filter(|(_, c)| !c.derived);
        let told = behind.find_map(|(number, c)| {
            let equation = equation(&c.pred, (f, *function), points)
                .or_else(|| recursion(&c.pred, (f, *function), points, conjuncts))?;
            Some((number, equation))
        });
        out.extend(told.filter(|(number, _)| !out.iter().any(|(n, _)| n == number)));
    }
    out
}

/// Whether some factor of a set is NATURAL, NATURAL1 or an infinite type.
fn has_no_end(set: &Expr, depth: u32) -> bool {
    match &set.kind {
        ExprKind::Natural | ExprKind::Natural1 => true,
        ExprKind::TypeSet(ty) => is_infinite(ty),
        ExprKind::Binary(BinOp::Cartesian, s, t) if depth > 0 => {
            has_no_end(s, depth - 1) || has_no_end(t, depth - 1)
        }
        _ => false,
    }
}

/// `f = %x.(x:points|e)`, if that is what a predicate says of every point.
fn equation(p: &Pred, (f, function): (&Expr, VarId), points: &Expr) -> Option<Pred> {
    let PredKind::Forall(bound, body) = &p.kind else { return None };
    let (mut given, claim) = implication(body);
    let (point, value) = value_at_point(claim, function)?;
    let mut named = Vec::new();
    let is_plain = variables(point, &mut named, DEPTH) && named == *bound;
    let speaks_of_itself = free::mentions(value, &|v| v == function);
    if !is_plain || speaks_of_itself || may_be_undefined(value) || may_be_undefined(points) {
        return None;
    }
    if !covers(point, points, &mut given, DEPTH) || !given.is_empty() {
        return None;
    }
    let inside = Pred { kind: PredKind::Rel(RelOp::In, point.clone(), points.clone()), span: points.span };
    let kind = ExprKind::Big(BigOp::Lambda, bound.clone(), Box::new(inside), Box::new(value.clone()));
    let lambda = Expr { kind, ty: f.ty.clone(), span: p.span };
    Some(Pred { kind: PredKind::Rel(RelOp::Equal, f.clone(), lambda), span: p.span })
}

/// `f = %n.(n:NATURAL|IF n=0 THEN a ELSE e END)`, if a predicate says `f(n) = e` of every n from 1 on, or `f(n+1) = e` of every n
/// from 0 on, the conjuncts say `f(0) = a`, and e speaks of the function only at the number before.
fn recursion(
    p: &Pred,
    (f, function): (&Expr, VarId),
    points: &Expr,
    conjuncts: &[Arc<Conjunct>],
) -> Option<Pred> {
    let PredKind::Forall(bound, body) = &p.kind else { return None };
    let ([n], ExprKind::Natural) = (&bound[..], &points.kind) else { return None };
    let (given, claim) = implication(body);
    let [Pred { kind: PredKind::Rel(RelOp::In, x, numbers), .. }] = given[..] else { return None };
    let (point, value) = value_at_point(claim, function)?;
    let var = Expr { kind: ExprKind::Var(*n), ty: Type::Integer, span: p.span };
    let one = Expr { kind: ExprKind::Int(Int::ONE), ..var.clone() };
    let of_two = |op, a: &Expr, b: &Expr| Expr {
        kind: ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())),
        ..var.clone()
    };
    let before = of_two(BinOp::Sub, &var, &one);
    let mut next = value.clone();
    let plus_one = [(&var, &one), (&one, &var)].map(|(a, b)| of_two(BinOp::Add, a, b));
    match numbers.kind {
        ExprKind::Natural1 if is_same(point, &var) => {}
        ExprKind::Natural if plus_one.iter().any(|sum| is_same(point, sum)) => {
            change_expr(&mut next, &mut Putting { wanted: &var, put: &before, hits: 0 });
        }
        _ => return None,
    }
    let first =
        conjuncts.iter().filter(|c| !c.derived).find_map(|c| match value_at_point(&c.pred, function)? {
            (point, first) if matches!(&point.kind, ExprKind::Int(zero) if zero.is_zero()) => Some(first),
            _ => None,
        })?;
    if !is_same(x, &var) || may_be_undefined(first) || free::mentions(first, &|v| v == function) {
        return None;
    }
    // The number before is one, so the function has a value there; all else of e must have one anyway.
    let mut rest = next.clone();
    let earlier = Expr {
        kind: ExprKind::Apply(Box::new(f.clone()), Box::new(before)),
        ty: value.ty.clone(),
        span: p.span,
    };
    let known = Expr { ty: value.ty.clone(), ..var.clone() };
    let mut putting = Putting { wanted: &earlier, put: &known, hits: 0 };
    change_expr(&mut rest, &mut putting);
    if putting.hits == 0 || free::mentions(&rest, &|v| v == function) || may_be_undefined(&rest) {
        return None;
    }
    let zero = Expr { kind: ExprKind::Int(Int::ZERO), ..var.clone() };
    let is_first = Pred { kind: PredKind::Rel(RelOp::Equal, var.clone(), zero), span: p.span };
    let body = Expr {
        kind: ExprKind::If(Box::new(is_first), Box::new(first.clone()), Box::new(next)),
        ty: value.ty.clone(),
        span: p.span,
    };
    let inside = Pred { kind: PredKind::Rel(RelOp::In, var, points.clone()), span: p.span };
    let kind = ExprKind::Big(BigOp::Lambda, bound.clone(), Box::new(inside), Box::new(body));
    let lambda = Expr { kind, ty: f.ty.clone(), span: p.span };
    Some(Pred { kind: PredKind::Rel(RelOp::Equal, f.clone(), lambda), span: p.span })
}

/// The hypotheses and the conclusion of a predicate.
fn implication(body: &Pred) -> (Vec<&Pred>, &Pred) {
    let mut given = Vec::new();
    let mut claim = body;
    loop {
        match &claim.kind {
            PredKind::Label(_, q) => claim = q,
            PredKind::Implies(a, b) => {
                conjuncts_of(a, &mut given);
                claim = b;
            }
            _ => return (given, claim),
        }
    }
}

/// The point and the value of which an equation says that the function has it there.
fn value_at_point(p: &Pred, function: VarId) -> Option<(&Expr, &Expr)> {
    let p = match &p.kind {
        PredKind::Label(_, q) => q,
        _ => p,
    };
    let PredKind::Rel(RelOp::Equal, a, b) = &p.kind else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(x, y)| match &x.kind {
        ExprKind::Apply(g, point) if matches!(g.kind, ExprKind::Var(v) if v == function) => {
            Some((&**point, y))
        }
        _ => None,
    })
}

/// One expression takes the place of another.
struct Putting<'e> {
    wanted: &'e Expr,
    put: &'e Expr,
    hits: usize,
}

impl Change for Putting<'_> {
    fn expr(&mut self, e: &mut Expr) {
        if is_same(e, self.wanted) {
            *e = self.put.clone();
            self.hits += 1;
        }
    }
}

fn conjuncts_of<'p>(p: &'p Pred, out: &mut Vec<&'p Pred>) {
    match &p.kind {
        PredKind::And(ps) => ps.iter().for_each(|q| conjuncts_of(q, out)),
        PredKind::Label(_, q) => conjuncts_of(q, out),
        _ => out.push(p),
    }
}

/// Whether an expression is a tuple of variables, which are collected from the left.
fn variables(e: &Expr, out: &mut Vec<VarId>, depth: u32) -> bool {
    match &e.kind {
        ExprKind::Var(v) => {
            out.push(*v);
            true
        }
        ExprKind::Pair(a, b) if depth > 0 => variables(a, out, depth - 1) && variables(b, out, depth - 1),
        _ => false,
    }
}

/// Whether hypotheses, which are taken away, say of a point just that it lies in a set: each part of it is in its factor.
fn covers(point: &Expr, set: &Expr, given: &mut Vec<&Pred>, depth: u32) -> bool {
    let says_so = |p: &&Pred| match &p.kind {
        PredKind::Rel(RelOp::In, x, s) => is_same(x, point) && is_same(s, set),
        _ => false,
    };
    if let Some(at) = given.iter().position(says_so) {
        given.remove(at);
        return true;
    }
    match (&point.kind, &set.kind) {
        (_, ExprKind::TypeSet(_)) => true,
        (ExprKind::Pair(a, b), ExprKind::Binary(BinOp::Cartesian, s, t)) if depth > 0 => {
            covers(a, s, given, depth - 1) && covers(b, t, given, depth - 1)
        }
        _ => false,
    }
}

/// Whether two expressions are the same, wherever they stand in the text.
fn is_same(a: &Expr, b: &Expr) -> bool {
    struct Placeless;
    impl Change for Placeless {
        fn expr(&mut self, e: &mut Expr) {
            e.span = Span::default();
        }
    }
    let [mut a, mut b] = [a.clone(), b.clone()];
    change_expr(&mut a, &mut Placeless);
    change_expr(&mut b, &mut Placeless);
    a == b
}
