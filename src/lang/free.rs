//! Free variables of formulas.
//!
//! Variables are bound at one place only, so the free ones are those that occur minus those that
//! are bound inside.

use crate::typed::{Expr, ExprKind, Pred, PredKind, VarId};
use crate::walk::{Visit, visit_expr, visit_pred};
use std::collections::BTreeSet;

#[derive(Default)]
struct Uses {
    used: BTreeSet<VarId>,
    bound: BTreeSet<VarId>,
    /// Whether a value from before (`x$0`) is read.
    old: bool,
}

/// Whether an expression reads only variables that satisfy the test, and no `x$0`.
pub fn reads_only(e: &Expr, test: &dyn Fn(VarId) -> bool) -> bool {
    let mut u = Uses::default();
    visit_expr(e, &mut u);
    !u.old && u.used.difference(&u.bound).all(|v| test(*v))
}

/// Whether an expression mentions a variable that satisfies the test.
pub fn mentions(e: &Expr, test: &dyn Fn(VarId) -> bool) -> bool {
    // Leaves are asked most often; they need no collection.
    match &e.kind {
        ExprKind::Var(v) => test(*v),
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Str(_) | ExprKind::Elem(..) => false,
        ExprKind::Pair(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Apply(a, b) => {
            mentions(a, test) || mentions(b, test)
        }
        ExprKind::Unary(_, a) | ExprKind::Field(a, _) => mentions(a, test),
        ExprKind::SetExt(es) | ExprKind::SeqExt(es) | ExprKind::Rec(es) => {
            es.iter().any(|e| mentions(e, test))
        }
        _ => of_expr(e).into_iter().any(test),
    }
}

/// Whether a predicate mentions a variable that satisfies the test.
pub fn mentions_in(p: &Pred, test: &dyn Fn(VarId) -> bool) -> bool {
    match &p.kind {
        PredKind::True | PredKind::False => false,
        PredKind::Rel(_, a, b) => mentions(a, test) || mentions(b, test),
        PredKind::And(ps) | PredKind::Or(ps) => ps.iter().any(|p| mentions_in(p, test)),
        PredKind::Not(p) | PredKind::Label(_, p) => mentions_in(p, test),
        _ => of_pred(p).into_iter().any(test),
    }
}

pub fn of_pred(p: &Pred) -> Vec<VarId> {
    let mut u = Uses::default();
    visit_pred(p, &mut u);
    u.free()
}

pub fn of_expr(e: &Expr) -> Vec<VarId> {
    let mut u = Uses::default();
    visit_expr(e, &mut u);
    u.free()
}

/// Free variables of `{vars | pred}` with an optional expression.
pub fn of_closure(vars: &[VarId], pred: &Pred, body: Option<&Expr>) -> Vec<VarId> {
    let mut u = Uses::default();
    u.bound.extend(vars);
    visit_pred(pred, &mut u);
    if let Some(e) = body {
        visit_expr(e, &mut u);
    }
    u.free()
}

/// Whether a value from before (`x$0`) is read.
pub fn reads_old(pred: &Pred, body: Option<&Expr>) -> bool {
    let mut u = Uses::default();
    visit_pred(pred, &mut u);
    if let Some(e) = body {
        visit_expr(e, &mut u);
    }
    u.old
}

impl Uses {
    fn free(self) -> Vec<VarId> {
        self.used.difference(&self.bound).copied().collect()
    }
}

impl Visit for Uses {
    fn expr(&mut self, e: &Expr) {
        match e.kind {
            ExprKind::Var(v) => _ = self.used.insert(v),
            ExprKind::Old(_) => self.old = true,
            _ => {}
        }
    }

    fn bound(&mut self, v: VarId) {
        self.bound.insert(v);
    }
}
