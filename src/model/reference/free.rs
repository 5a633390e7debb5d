//! Free variables of formulas.
//!
//! Variables are bound at one place only, so the free ones are those that occur minus those that
//! are bound inside.

use crate::model::typed::{Expr, ExprKind, Pred, PredKind, VarId};
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
    u.expr(e);
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
    u.pred(p);
    u.free()
}

pub fn of_expr(e: &Expr) -> Vec<VarId> {
    let mut u = Uses::default();
    u.expr(e);
    u.free()
}

/// Free variables of `{vars | pred}` with an optional expression.
pub fn of_closure(vars: &[VarId], pred: &Pred, body: Option<&Expr>) -> Vec<VarId> {
    let mut u = Uses::default();
    u.bound.extend(vars);
    u.pred(pred);
    if let Some(e) = body {
        u.expr(e);
    }
    u.free()
}

/// Whether a value from before (`x$0`) is read.
pub fn reads_old(pred: &Pred, body: Option<&Expr>) -> bool {
    let mut u = Uses::default();
    u.pred(pred);
    if let Some(e) = body {
        u.expr(e);
    }
    u.old
}

impl Uses {
    fn free(self) -> Vec<VarId> {
        self.used.difference(&self.bound).copied().collect()
    }

    fn exprs(&mut self, es: &[Expr]) {
        for e in es {
            self.expr(e);
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Elem(..)
            | ExprKind::TypeSet(_)
            | ExprKind::Natural
            | ExprKind::Natural1
            | ExprKind::Function(_)
            | ExprKind::Constructor(..)
            | ExprKind::Destructor(..) => {}
            ExprKind::Old(_) => self.old = true,
            ExprKind::Var(v) => {
                self.used.insert(*v);
            }
            ExprKind::SetExt(es) | ExprKind::SeqExt(es) | ExprKind::Rec(es) | ExprKind::StructSet(es) => {
                self.exprs(es);
            }
            ExprKind::External(_, es) => self.exprs(es),
            ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Symbolic(a) => self.expr(a),
            ExprKind::Pair(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Apply(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::BoolOf(p) => self.pred(p),
            ExprKind::Compr(vars, p) => {
                self.bound.extend(vars);
                self.pred(p);
            }
            ExprKind::Big(_, vars, p, body) => {
                self.bound.extend(vars);
                self.pred(p);
                self.expr(body);
            }
            ExprKind::If(c, a, b) => {
                self.pred(c);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Let(bindings, body) => {
                for (v, e) in bindings {
                    self.bound.insert(*v);
                    self.expr(e);
                }
                self.expr(body);
            }
            ExprKind::Construct(_, _, arg) => {
                if let Some(a) = arg {
                    self.expr(a);
                }
            }
        }
    }

    fn pred(&mut self, p: &Pred) {
        match &p.kind {
            PredKind::True | PredKind::False => {}
            PredKind::And(ps) | PredKind::Or(ps) => ps.iter().for_each(|p| self.pred(p)),
            PredKind::Not(p) | PredKind::Label(_, p) => self.pred(p),
            PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                self.pred(a);
                self.pred(b);
            }
            PredKind::Rel(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            PredKind::Forall(vars, p) | PredKind::Exists(vars, p) => {
                self.bound.extend(vars);
                self.pred(p);
            }
            PredKind::If(c, a, b) => {
                self.pred(c);
                self.pred(a);
                self.pred(b);
            }
            PredKind::Let(bindings, body) => {
                for (v, e) in bindings {
                    self.bound.insert(*v);
                    self.expr(e);
                }
                self.pred(body);
            }
            PredKind::Finite(e) => self.expr(e),
            PredKind::Partition(e, es) => {
                self.expr(e);
                self.exprs(es);
            }
            PredKind::External(_, es) => self.exprs(es),
        }
    }
}
