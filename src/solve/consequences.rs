//! Conjuncts that follow from others and bind what those leave open.
//!
//! In: a conjunct as the user wrote it, or several of one plan. Out: predicates that hold wherever these do. A plan
//! adds them as *derived* conjuncts: they give variables values and are never tested, because what they follow
//! from is. Each rule says why it holds. Never here: values, environments, the choice of what to bind first.

use crate::solve::plan::Conjunct;
use bombus_lang::free;
use bombus_lang::partiality::{is_infinite, may_be_undefined, pred_may_be_undefined};
use bombus_lang::typed::{Arrow, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use std::sync::Arc;

/// Formulas nested deeper than this are left alone.
const DEPTH: u32 = 32;

/// What follows from one conjunct, for a plan that looks for `vars` (for any variables, if there are none).
pub(crate) fn consequences(p: &Pred, vars: &[VarId]) -> Vec<Pred> {
    match &p.kind {
        PredKind::Rel(RelOp::In, f, set) => {
            let mut out = ends_of_arrow(f, set, vars, p);
            out.extend(row_of_image(f, set, p).filter(|_| !pred_may_be_undefined(p)));
            out.extend(part_of(f, set, vars, p));
            out
        }
        // What may be undefined is not worth a second search for what these steps would pass over.
        PredKind::Rel(op, a, b) if !pred_may_be_undefined(p) => {
            let mut out = branches(*op, a, b, vars, p);
            if *op == RelOp::Equal {
                out.extend([(a, b), (b, a)].into_iter().filter_map(|(a, b)| point_of_image(a, b, p)));
                out.extend([(a, b), (b, a)].into_iter().filter_map(|(a, b)| absorbed(a, b, vars, p)));
            }
            out
        }
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
    if !pred_may_be_undefined(p) && (is_open(s) || is_open(t)) {
        out.extend(sizes_of_arrow(arrow, s, t, p));
    }
    for (holds, part, whole) in [(arrow.total, UnOp::Dom, s), (arrow.onto, UnOp::Ran, t)] {
        if holds && is_open(whole) {
            let kind = ExprKind::Unary(part, Box::new(f.clone()));
            let end = Expr { kind, ty: whole.ty.clone(), span: f.span };
            out.push(Pred { kind: PredKind::Rel(RelOp::Equal, end, (**whole).clone()), span: p.span });
        }
    }
    out
}

/// Different points of an injection have different images, so `f : s >-> t` says that `card(s) <= card(t)`; each element
/// of `t` is the image of a point of its own under a function onto `t`, so `f : s +->> t` says that `card(t) <= card(s)`.
/// Only of sets that are finite by their form or type, because others have no number of elements.
fn sizes_of_arrow(arrow: Arrow, s: &Expr, t: &Expr, p: &Pred) -> Vec<Pred> {
    let size = |e: &Expr| {
        let kind = ExprKind::Unary(UnOp::Card, Box::new(e.clone()));
        Expr { kind, ty: Type::Integer, span: e.span }
    };
    let (points, images) = (size(s), size(t));
    if !arrow.functional || may_be_undefined(&points) || may_be_undefined(&images) {
        return Vec::new();
    }
    let op = match (arrow.total && arrow.injective, arrow.onto) {
        (true, true) => RelOp::Equal,
        (true, false) => RelOp::LessEqual,
        (false, true) => RelOp::GreaterEqual,
        (false, false) => return Vec::new(),
    };
    vec![Pred { kind: PredKind::Rel(op, points, images), span: p.span }]
}

/// `y : f[{x}]` says that `(x|->y) : f`, which is what an image means.
fn row_of_image(y: &Expr, image: &Expr, p: &Pred) -> Option<Pred> {
    let (f, x) = image_of_point(image)?;
    let Type::Pow(pair) = &f.ty else { return None };
    let kind = ExprKind::Pair(Box::new(x.clone()), Box::new(y.clone()));
    let row = Expr { kind, ty: (**pair).clone(), span: y.span };
    Some(Pred { kind: PredKind::Rel(RelOp::In, row, f.clone()), span: p.span })
}

/// `f[{x}] = {y,…}` says that `(x|->y) : f`, because y is in the image.
fn point_of_image(image: &Expr, set: &Expr, p: &Pred) -> Option<Pred> {
    let ExprKind::SetExt(es) = &set.kind else { return None };
    row_of_image(es.first()?, image, p)
}

/// `s : FIN(t)` says that `s <: t`, and so do `POW1` and `FIN1`: their elements are parts of `t`. Worth
/// saying of a variable that is looked for and has an infinite type.
fn part_of(s: &Expr, parts: &Expr, vars: &[VarId], p: &Pred) -> Option<Pred> {
    let ExprKind::Unary(UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, t) = &parts.kind else {
        return None;
    };
    is_sought(s, vars)
        .then(|| Pred { kind: PredKind::Rel(RelOp::Subset, s.clone(), (**t).clone()), span: p.span })
}

fn is_sought(s: &Expr, vars: &[VarId]) -> bool {
    matches!(s.kind, ExprKind::Var(v) if vars.is_empty() || vars.contains(&v)) && is_infinite(&s.ty)
}

/// `s /\ t = s` and `s \/ t = t` say that `s <: t`: that is when an intersection or a union is one of the two. `t <| r = r` says in
/// the same way that `dom(r) <: t`, and `r |> t = r` that `ran(r) <: t`.
fn absorbed(operated: &Expr, left: &Expr, vars: &[VarId], p: &Pred) -> Option<Pred> {
    let ExprKind::Binary(op, a, b) = &operated.kind else { return None };
    let is_left = |e: &Expr| matches!((&e.kind, &left.kind), (ExprKind::Var(v), ExprKind::Var(w)) if v == w);
    let end = |part: UnOp, r: &Expr, set: &Expr| Expr {
        kind: ExprKind::Unary(part, Box::new(r.clone())),
        ty: set.ty.clone(),
        span: r.span,
    };
    let (small, large) = match op {
        BinOp::Inter if is_left(a) => ((**a).clone(), b),
        BinOp::Inter if is_left(b) => ((**b).clone(), a),
        BinOp::Union if is_left(b) => ((**a).clone(), b),
        BinOp::Union if is_left(a) => ((**b).clone(), a),
        BinOp::DomRestrict if is_left(b) => (end(UnOp::Dom, b, a), a),
        BinOp::RanRestrict if is_left(a) => (end(UnOp::Ran, a, b), b),
        _ => return None,
    };
    let sought = match &small.kind {
        ExprKind::Unary(_, r) => is_sought(r, vars),
        _ => is_sought(&small, vars),
    };
    sought.then(|| Pred { kind: PredKind::Rel(RelOp::Subset, small, (**large).clone()), span: p.span })
}

fn image_of_point(image: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Binary(BinOp::Image, f, points) = &image.kind else { return None };
    match &points.kind {
        ExprKind::SetExt(es) => match &es[..] {
            [x] => Some((f, x)),
            _ => None,
        },
        _ => None,
    }
}

/// A relation between numbers with `IF c THEN x ELSE y END` in one of its sums says that `c` and the relation with `x`
/// holds, or `not(c)` and the relation with `y`: one of the branches is the value.
fn branches(op: RelOp, a: &Expr, b: &Expr, vars: &[VarId], p: &Pred) -> Vec<Pred> {
    if a.ty != Type::Integer {
        return Vec::new();
    }
    let Some(choice) = conditional(a, DEPTH).or_else(|| conditional(b, DEPTH)) else { return Vec::new() };
    let ExprKind::If(c, x, y) = &choice.kind else { return Vec::new() };
    if !free::mentions(choice, &|v| vars.is_empty() || vars.contains(&v)) {
        return Vec::new();
    }
    let case = |c: Pred, branch: &Expr| {
        let place = |e: &Expr| {
            let mut e = e.clone();
            put(&mut e, choice, branch, DEPTH);
            e
        };
        let relation = Pred { kind: PredKind::Rel(op, place(a), place(b)), span: p.span };
        Pred { kind: PredKind::And(vec![c, relation]), span: p.span }
    };
    let not = Pred { kind: PredKind::Not(c.clone()), span: c.span };
    vec![Pred { kind: PredKind::Or(vec![case((**c).clone(), x), case(not, y)]), span: p.span }]
}

/// The first conditional in a sum or product of integers.
fn conditional(e: &Expr, depth: u32) -> Option<&Expr> {
    match &e.kind {
        ExprKind::If(..) => Some(e),
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) if depth > 0 => {
            conditional(a, depth - 1).or_else(|| conditional(b, depth - 1))
        }
        ExprKind::Unary(UnOp::Neg, a) if depth > 0 => conditional(a, depth - 1),
        _ => None,
    }
}

/// Puts `branch` in place of `choice` in a sum or product of integers.
fn put(e: &mut Expr, choice: &Expr, branch: &Expr, depth: u32) {
    if e.kind == choice.kind {
        *e = branch.clone();
        return;
    }
    match &mut e.kind {
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) if depth > 0 => {
            put(a, choice, branch, depth - 1);
            put(b, choice, branch, depth - 1);
        }
        ExprKind::Unary(UnOp::Neg, a) if depth > 0 => put(a, choice, branch, depth - 1),
        _ => {}
    }
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

/// `dom(r) = s & ran(r) = t` says that `r <: s*t`: a relation lies in the product of its domain and its range. The same
/// follows from parts of products and from inclusions of the domain or the range. Worth saying of infinite types.
pub(crate) fn ends_of_relations(conjuncts: &[Arc<Conjunct>]) -> Vec<(Pred, bool)> {
    let mut ends: Vec<(Expr, End)> = Vec::new();
    for (number, c) in conjuncts.iter().enumerate() {
        let PredKind::Rel(op @ (RelOp::Equal | RelOp::Subset), a, b) = &c.pred.kind else { continue };
        if c.partial {
            continue;
        }
        let mut add = |r: &Expr, is_left: bool, set: &Expr| {
            let is_open = matches!(r.kind, ExprKind::Var(_)) && is_infinite(&r.ty);
            if is_open && !free::mentions(set, &|v| r.kind == ExprKind::Var(v)) {
                ends.push((r.clone(), End { number, is_left, set: set.clone() }));
            }
        };
        for (x, y) in [(a, b), (b, a)] {
            match &x.kind {
                ExprKind::Unary(UnOp::Dom, r) => add(r, true, y),
                ExprKind::Unary(UnOp::Ran, r) => add(r, false, y),
                _ => {}
            }
            if *op == RelOp::Subset {
                break;
            }
        }
        if let (RelOp::Subset, ExprKind::Binary(BinOp::Cartesian, s, t)) = (op, &b.kind) {
            add(a, true, s);
            add(a, false, t);
        }
    }
    let mut out = Vec::new();
    for (r, left) in ends.iter().filter(|(_, end)| end.is_left) {
        for (q, right) in ends.iter().filter(|(_, end)| !end.is_left) {
            // What one conjunct says is said already.
            if q.kind != r.kind || left.number == right.number {
                continue;
            }
            let kind =
                ExprKind::Binary(BinOp::Cartesian, Box::new(left.set.clone()), Box::new(right.set.clone()));
            let product = Expr { kind, ty: r.ty.clone(), span: right.set.span };
            let pred = Pred { kind: PredKind::Rel(RelOp::Subset, r.clone(), product), span: right.set.span };
            out.push((pred, false));
        }
    }
    out
}

/// `f : s +-> t & dom(f) = u` says that `f : u --> t`: a function is total on its domain. The same for functions that are
/// one-to-one or onto. Worth saying of infinite types, where `u` does not speak of `f`.
pub(crate) fn functions_on_their_domains(conjuncts: &[Arc<Conjunct>]) -> Vec<(Pred, bool)> {
    let mut out = Vec::new();
    for c in conjuncts.iter().filter(|c| !c.partial) {
        let PredKind::Rel(RelOp::In, f, set) = &c.pred.kind else { continue };
        let ExprKind::Binary(op, _, images) = &set.kind else { continue };
        let op = match op {
            BinOp::PartialFunction => BinOp::TotalFunction,
            BinOp::PartialInjection => BinOp::TotalInjection,
            BinOp::PartialSurjection => BinOp::TotalSurjection,
            BinOp::PartialBijection => BinOp::TotalBijection,
            _ => continue,
        };
        if !matches!(f.kind, ExprKind::Var(_)) || !is_infinite(&f.ty) {
            continue;
        }
        for told in conjuncts.iter().filter(|c| !c.partial) {
            let PredKind::Rel(RelOp::Equal, a, b) = &told.pred.kind else { continue };
            for (x, points) in [(a, b), (b, a)] {
                let is_domain = matches!(&x.kind, ExprKind::Unary(UnOp::Dom, r) if r.kind == f.kind);
                if !is_domain || free::mentions(points, &|v| f.kind == ExprKind::Var(v)) {
                    continue;
                }
                let kind = ExprKind::Binary(op, Box::new(points.clone()), images.clone());
                let total = Expr { kind, ty: set.ty.clone(), span: set.span };
                let pred = Pred { kind: PredKind::Rel(RelOp::In, f.clone(), total), span: c.pred.span };
                out.push((pred, false));
            }
        }
    }
    out
}

/// What a conjunct says about the domain or the range of a relation.
struct End {
    number: usize,
    is_left: bool,
    set: Expr,
}

/// `s <: t & !x.(x:s => P)` says that `s <: {x | x:t & P}`: each element of `s` lies in `t` and satisfies P. The same holds of
/// pairs `x|->y` of a relation, and `r : a <-> b & !y.(y:ran(r) => P)` says that `r <: a*{y | y:b & P}`, likewise for the domain. Only for a P
/// that has a truth value for all values, and where `t` has no end.
pub(crate) fn restricted_sets(conjuncts: &[Arc<Conjunct>]) -> Vec<(Pred, bool)> {
    let mut out = Vec::new();
    for c in conjuncts.iter().filter(|c| !c.partial) {
        let PredKind::Forall(bound, body) = &c.pred.kind else { continue };
        let PredKind::Implies(given, claim) = &unlabelled(body).kind else { continue };
        let PredKind::Rel(RelOp::In, element, s) = &unlabelled(given).kind else { continue };
        let (whole, end) = match &s.kind {
            ExprKind::Unary(end @ (UnOp::Dom | UnOp::Ran), r) => (&**r, Some(*end)),
            _ => (s, None),
        };
        let mut tuple = Vec::new();
        let plain = is_tuple(element, &mut tuple, DEPTH)
            && is_nested_left(element)
            && tuple.len() == bound.len()
            && bound.iter().all(|v| tuple.contains(v));
        let ExprKind::Var(sought) = whole.kind else { continue };
        if !plain || !is_infinite(&whole.ty) || free::of_pred(claim).contains(&sought) {
            continue;
        }
        let restricted = |t: &Expr| {
            let inside = Pred { kind: PredKind::Rel(RelOp::In, element.clone(), t.clone()), span: t.span };
            let both = Pred { kind: PredKind::And(vec![inside, (**claim).clone()]), span: claim.span };
            let kind = ExprKind::Compr(tuple.clone(), Box::new(both));
            Expr { kind, ty: t.ty.clone(), span: c.pred.span }
        };
        let Some(upper) = conjuncts.iter().find_map(|upper| endless_bound(&upper.pred, whole)) else {
            continue;
        };
        let set = match (&upper.kind, end) {
            (_, None) => restricted(&upper),
            (ExprKind::Binary(BinOp::Cartesian, a, b), Some(end)) => {
                let sides = match end {
                    UnOp::Dom => (Box::new(restricted(a)), b.clone()),
                    _ => (a.clone(), Box::new(restricted(b))),
                };
                let kind = ExprKind::Binary(BinOp::Cartesian, sides.0, sides.1);
                Expr { kind, ty: upper.ty.clone(), span: upper.span }
            }
            _ => continue,
        };
        out.push((Pred { kind: PredKind::Rel(RelOp::Subset, whole.clone(), set), span: c.pred.span }, false));
    }
    out
}

/// A set without end that a conjunct says the variable `s` to be part of. Functions are built row by row, so only relations count.
fn endless_bound(p: &Pred, s: &Expr) -> Option<Expr> {
    let PredKind::Rel(op, part, t) = &p.kind else { return None };
    if part.kind != s.kind {
        return None;
    }
    let is_endless = match &t.kind {
        ExprKind::Natural | ExprKind::Natural1 | ExprKind::Compr(..) => true,
        ExprKind::TypeSet(ty) => is_infinite(ty),
        ExprKind::Binary(BinOp::Cartesian, ..) => true,
        _ => false,
    };
    match (op, &t.kind) {
        (RelOp::Subset, _) if is_endless => Some(t.clone()),
        (RelOp::In, ExprKind::Binary(arrow, a, b))
            if arrow.arrow().is_some_and(|arrow| !arrow.functional) =>
        {
            let kind = ExprKind::Binary(BinOp::Cartesian, a.clone(), b.clone());
            Some(Expr { kind, ty: s.ty.clone(), span: t.span })
        }
        _ => None,
    }
}

/// Whether a tuple is `((a|->b)|->c)` and so on, as the elements of a comprehension of several variables are.
fn is_nested_left(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Pair(a, b) => matches!(b.kind, ExprKind::Var(_)) && is_nested_left(a),
        _ => true,
    }
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
