//! What an operation or the initialisation does: conjuncts to guarded choices of the state afterwards.
//!
//! In: the conjuncts of a schema, and the variables that are to be chosen. Out: alternatives, each a list of chosen
//! variables and conjuncts that the planner can order: existential quantifiers are pulled out, equations of bindings
//! become equations of their fields, and a disjunction that holds the only equation for a variable becomes alternatives.
//! Nothing is enumerated here.

use super::copy::{Copy, Replacement, normal_form};
use super::elaborate::{negation, relation};
use super::types::is_finite;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, UnOp, VarDecl, VarId};
use bombus_lang::walk::{Visit, variables_of_expr, visit_pred};
use std::collections::BTreeSet;

/// More alternatives are not made; what is left of a disjunction is a test.
const MAX_ALTERNATIVES: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub chosen: Vec<VarId>,
    pub conjuncts: Vec<Pred>,
}

/// The alternatives of a conjunction.
pub(super) fn alternatives(
    chosen: Vec<VarId>,
    conjuncts: Vec<Pred>,
    vars: &mut Vec<VarDecl>,
) -> Vec<Alternative> {
    let mut start = Alternative { chosen, conjuncts: Vec::new() };
    for p in conjuncts {
        flatten(p, &mut start, vars);
    }
    let mut done = Vec::new();
    let mut todo = vec![start];
    while let Some(next) = todo.pop() {
        let room = done.len() + todo.len() < MAX_ALTERNATIVES;
        match split_at(&next).filter(|_| room) {
            None => done.push(next),
            Some(i) => {
                let mut rest = next;
                let cases = cases(rest.conjuncts.remove(i));
                for case in cases.into_iter().rev() {
                    let mut one = rest.clone();
                    flatten(case, &mut one, vars);
                    todo.push(one);
                }
            }
        }
    }
    for alternative in &mut done {
        remove_repeated(&mut alternative.conjuncts);
    }
    done.retain(|a| !a.conjuncts.iter().any(|p| p.kind == PredKind::False));
    done
}

/// Takes a predicate apart into conjuncts and variables to be chosen.
fn flatten(p: Pred, into: &mut Alternative, vars: &mut Vec<VarDecl>) {
    let span = p.span;
    match p.kind {
        PredKind::True => {}
        PredKind::And(ps) => ps.into_iter().for_each(|p| flatten(p, into, vars)),
        PredKind::Exists(more, body) => {
            into.chosen.extend(more);
            flatten(*body, into, vars);
        }
        PredKind::Not(inner) => match inner.kind {
            PredKind::Not(p) => flatten(*p, into, vars),
            PredKind::Or(ps) => ps.into_iter().for_each(|p| flatten(negation(p), into, vars)),
            PredKind::Implies(a, b) => {
                flatten(*a, into, vars);
                flatten(negation(*b), into, vars);
            }
            kind => into
                .conjuncts
                .push(Pred { kind: PredKind::Not(Box::new(Pred { kind, span: inner.span })), span }),
        },
        PredKind::Rel(RelOp::Equal, a, b) => equation(a, b, span, into, vars),
        kind => into.conjuncts.push(Pred { kind, span }),
    }
}

/// Equations of bindings and pairs become equations of their parts.
fn equation(a: Expr, b: Expr, span: bombus_base::Span, into: &mut Alternative, vars: &mut Vec<VarDecl>) {
    match (a.kind, b.kind) {
        (ExprKind::Rec(xs), ExprKind::Rec(ys)) => {
            xs.into_iter().zip(ys).for_each(|(x, y)| equation(x, y, span, into, vars));
        }
        (ExprKind::Pair(x1, x2), ExprKind::Pair(y1, y2)) => {
            equation(*x1, *y1, span, into, vars);
            equation(*x2, *y2, span, into, vars);
        }
        (ExprKind::Rec(xs), other) => fields(xs, Expr { kind: other, ..b }, span, into, vars),
        (other, ExprKind::Rec(ys)) => fields(ys, Expr { kind: other, ..a }, span, into, vars),
        (x, y) => {
            let p = relation(RelOp::Equal, Expr { kind: x, ..a }, Expr { kind: y, ..b });
            into.conjuncts.push(Pred { span, ..p });
        }
    }
}

/// `⟨a, b⟩ = e` as `a = e.a` and `b = e.b`.
fn fields(
    values: Vec<Expr>,
    of: Expr,
    span: bombus_base::Span,
    into: &mut Alternative,
    vars: &mut Vec<VarDecl>,
) {
    for (i, value) in values.into_iter().enumerate() {
        // Every copy of the record binds variables of its own.
        let record = Copy::new(vars, Replacement::new()).expr(&of);
        let ty = value.ty.clone();
        let field = Expr { kind: ExprKind::Field(Box::new(record), i), ty, span: of.span };
        equation(value, field, span, into, vars);
    }
}

/// The first conjunct that has several cases and an equation for a variable that nothing else determines.
fn split_at(a: &Alternative) -> Option<usize> {
    let open = undetermined(a);
    if open.is_empty() {
        return None;
    }
    a.conjuncts.iter().position(|p| {
        matches!(p.kind, PredKind::Or(_) | PredKind::Implies(..) | PredKind::Iff(..) | PredKind::If(..))
            && holds_equation(p, &open)
    })
}

/// The cases of a conjunct; together they are the conjunct.
fn cases(p: Pred) -> Vec<Pred> {
    let span = p.span;
    let both = |a: Pred, b: Pred| Pred { kind: PredKind::And(vec![a, b]), span };
    match p.kind {
        PredKind::Or(ps) => ps,
        PredKind::Implies(a, b) => vec![both((*a).clone(), *b), negation(*a)],
        PredKind::Iff(a, b) => vec![both((*a).clone(), (*b).clone()), both(negation(*a), negation(*b))],
        PredKind::If(c, a, b) => vec![both((*c).clone(), *a), both(negation(*c), *b)],
        kind => vec![Pred { kind, span }],
    }
}

/// The chosen variables that no equation determines from known values.
fn undetermined(a: &Alternative) -> BTreeSet<VarId> {
    let mut open: BTreeSet<VarId> = a.chosen.iter().copied().collect();
    loop {
        let before = open.len();
        for p in &a.conjuncts {
            let PredKind::Rel(RelOp::Equal, x, y) = &p.kind else { continue };
            for (side, other) in [(x, y), (y, x)] {
                if let ExprKind::Var(v) = side.kind
                    && open.contains(&v)
                    && variables_of_expr(other).is_disjoint(&open)
                {
                    open.remove(&v);
                }
            }
        }
        if open.len() == before {
            return open;
        }
    }
}

/// `v \in X` for an infinite set X of sets or functions is a test wherever an equation determines `v`: the value of the
/// equation stands in its place, so that nobody goes through X to find `v`.
pub(super) fn test_members(a: &mut Alternative, vars: &mut Vec<VarDecl>) {
    let open = undetermined(a);
    let value_of = |v: VarId, conjuncts: &[Pred]| {
        conjuncts.iter().find_map(|p| {
            let PredKind::Rel(RelOp::Equal, x, y) = &p.kind else { return None };
            let is = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
            let value = if is(x) {
                Some(y)
            } else if is(y) {
                Some(x)
            } else {
                None
            };
            value.filter(|e| !variables_of_expr(e).contains(&v)).cloned()
        })
    };
    for i in 0..a.conjuncts.len() {
        let PredKind::Rel(RelOp::In, member, set) = &a.conjuncts[i].kind else { continue };
        let ExprKind::Var(v) = member.kind else { continue };
        if !a.chosen.contains(&v) || open.contains(&v) || !is_endless(set) {
            continue;
        }
        if let Some(value) = value_of(v, &a.conjuncts) {
            a.conjuncts[i] = Copy::new(vars, Replacement::from([(v, value)])).pred(&a.conjuncts[i]);
        }
    }
}

/// Whether a set of sets, functions, sequences or bindings has infinitely many members.
fn is_endless(set: &Expr) -> bool {
    let infinite = |e: &Expr| match &e.kind {
        ExprKind::Natural | ExprKind::Natural1 => true,
        ExprKind::TypeSet(ty) => !is_finite(ty),
        _ => is_endless(e),
    };
    match &set.kind {
        ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, of) => infinite(of),
        ExprKind::Unary(UnOp::Seq | UnOp::Seq1, _) => true,
        ExprKind::Binary(BinOp::Inter | BinOp::Cartesian, a, b) => infinite(a) || infinite(b),
        ExprKind::Binary(op, a, b) if op.arrow().is_some() => infinite(a) || infinite(b),
        ExprKind::StructSet(sets) => sets.iter().any(infinite),
        _ => false,
    }
}

/// Whether some part of the predicate equates one of the variables with something.
fn holds_equation(p: &Pred, open: &BTreeSet<VarId>) -> bool {
    let is_open = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if open.contains(&v));
    match &p.kind {
        PredKind::Rel(RelOp::Equal, a, b) => is_open(a) || is_open(b),
        PredKind::And(ps) | PredKind::Or(ps) => ps.iter().any(|p| holds_equation(p, open)),
        PredKind::Implies(a, b) | PredKind::Iff(a, b) => holds_equation(a, open) || holds_equation(b, open),
        PredKind::If(_, a, b) => holds_equation(a, open) || holds_equation(b, open),
        PredKind::Not(p) | PredKind::Exists(_, p) | PredKind::Label(_, p) => holds_equation(p, open),
        _ => false,
    }
}

/// Leaves one of several equal conjuncts.
pub(super) fn remove_repeated(conjuncts: &mut Vec<Pred>) {
    let mut seen: Vec<Pred> = Vec::new();
    conjuncts.retain(|p| {
        let normal = plain(p);
        let new = !seen.contains(&normal);
        if new {
            seen.push(normal);
        }
        new
    });
}

/// The predicate in a form in which equal meanings of one text are equal trees.
pub(super) fn plain(p: &Pred) -> Pred {
    let mut normal = normal_form(p);
    struct Places;
    impl bombus_lang::walk::Change for Places {
        fn expr(&mut self, e: &mut Expr) {
            e.span = bombus_base::Span::default();
        }
    }
    bombus_lang::walk::change_pred(&mut normal, &mut Places);
    strip(&mut normal);
    normal
}

fn strip(p: &mut Pred) {
    p.span = bombus_base::Span::default();
    match &mut p.kind {
        PredKind::And(ps) | PredKind::Or(ps) => ps.iter_mut().for_each(strip),
        PredKind::Not(p) | PredKind::Label(_, p) | PredKind::Forall(_, p) | PredKind::Exists(_, p) => {
            strip(p)
        }
        PredKind::Let(_, p) => strip(p),
        PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
            strip(a);
            strip(b);
        }
        PredKind::If(c, a, b) => {
            strip(c);
            strip(a);
            strip(b);
        }
        _ => {}
    }
}

/// Variables that occur in a predicate.
pub(super) fn mentions(p: &Pred, wanted: &BTreeSet<VarId>) -> bool {
    struct Found<'w>(&'w BTreeSet<VarId>, bool);
    impl Visit for Found<'_> {
        fn expr(&mut self, e: &Expr) {
            self.1 |= matches!(e.kind, ExprKind::Var(v) if self.0.contains(&v));
        }
    }
    let mut found = Found(wanted, false);
    visit_pred(p, &mut found);
    found.1
}
