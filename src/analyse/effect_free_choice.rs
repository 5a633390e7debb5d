//! Choices that change nothing but the name of a transition.
//!
//! In: the substitution that is left of an operation once its guard is solved, and a variable. Out: whether the
//! value of the variable can reach the state afterwards, decide what is executed, or make something undefined.
//! If it cannot, all its values lead to the same states: those of MININT..MAXINT stand for the others, and only the
//! number of transitions depends on how many are tried.
//! The argument is a flow of values: a variable is tainted when the chosen value may be in it; tainted values may
//! stand only in total expressions that are assigned to locals and results.

use bombus_lang::typed::{
    BinOp, Expr, ExprKind, Machine, Pred, PredKind, Stmt, StmtKind, UnOp, VarId, VarKind,
};
use bombus_lang::walk::{variables_of_expr, variables_of_pred};
use std::collections::BTreeSet;

/// Whether no value of `v` can be told from another by what `body` does to the state.
pub fn is_inert(machine: &Machine, body: &Stmt, v: VarId) -> bool {
    let mut flow = Flow { machine, tainted: BTreeSet::from([v]), blocked: false };
    // Tainted variables only become more; there are finitely many.
    loop {
        let before = flow.tainted.len();
        flow.stmt(body);
        if flow.blocked {
            return false;
        }
        if flow.tainted.len() == before {
            return true;
        }
    }
}

/// Whether a conjunct about some variables is defined for all their values.
pub fn is_total(p: &Pred, vars: &[VarId]) -> bool {
    total_pred(p, &vars.iter().copied().collect())
}

/// Whether an expression is made of numbers, the variable `v`, sums and products: it has a value for each of `v`.
pub fn is_polynomial(e: &Expr, v: VarId) -> bool {
    match &e.kind {
        ExprKind::Int(_) => true,
        ExprKind::Var(w) => *w == v,
        ExprKind::Unary(UnOp::Neg, a) => is_polynomial(a, v),
        ExprKind::Pair(a, b) | ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
            is_polynomial(a, v) && is_polynomial(b, v)
        }
        _ => false,
    }
}

struct Flow<'m> {
    machine: &'m Machine,
    tainted: BTreeSet<VarId>,
    blocked: bool,
}

impl Flow<'_> {
    fn need_clean(&mut self, vars: &BTreeSet<VarId>) {
        self.blocked |= !vars.is_disjoint(&self.tainted);
    }

    fn pred(&mut self, p: &Pred) {
        self.need_clean(&variables_of_pred(p));
    }

    fn expr(&mut self, e: &Expr) {
        self.need_clean(&variables_of_expr(e));
    }

    /// `target` gets the value of `e`.
    fn assign(&mut self, target: VarId, e: &Expr) {
        if variables_of_expr(e).is_disjoint(&self.tainted) {
            return;
        }
        let kept = self.machine.vars.get(target.0 as usize).map(|d| d.kind);
        if !matches!(kept, Some(VarKind::Result | VarKind::Local)) || !total_expr(e, &self.tainted) {
            self.blocked = true;
            return;
        }
        self.tainted.insert(target);
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) => {}
            StmtKind::Assign(pairs) => {
                for (target, e) in pairs {
                    if target.path.is_empty() {
                        self.assign(target.var, e);
                    } else {
                        self.blocked |= self.tainted.contains(&target.var);
                        self.expr(e);
                        for step in &target.path {
                            if let bombus_lang::typed::Step::Index(i) = step {
                                self.expr(i);
                            }
                        }
                    }
                }
            }
            StmtKind::BecomesIn(_, set) => self.expr(set),
            StmtKind::BecomesSuch(_, p) => self.pred(p),
            StmtKind::Pre(p, body)
            | StmtKind::Assert(_, p, body)
            | StmtKind::Witness(p, body)
            | StmtKind::Any(_, p, body) => {
                self.pred(p);
                self.stmt(body);
            }
            StmtKind::Choice(list) | StmtKind::Seq(list) | StmtKind::Par(list) => {
                list.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::If(branches, last) | StmtKind::Select(branches, last) => {
                for (p, body) in branches {
                    self.pred(p);
                    self.stmt(body);
                }
                last.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Case(e, branches, last) => {
                self.expr(e);
                for (labels, body) in branches {
                    labels.iter().for_each(|l| self.expr(l));
                    self.stmt(body);
                }
                last.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Let(bindings, body) => {
                for (v, e) in bindings {
                    self.assign(*v, e);
                }
                self.stmt(body);
            }
            StmtKind::Var(_, body) => self.stmt(body),
            StmtKind::While { cond, body, invariant, variant } => {
                self.pred(cond);
                self.pred(invariant);
                self.expr(variant);
                self.stmt(body);
            }
            // What is called knows its arguments and the state only.
            StmtKind::Call { args, results, .. } => {
                args.iter().for_each(|a| self.expr(a));
                for target in results {
                    self.blocked |= !target.path.is_empty() && self.tainted.contains(&target.var);
                    for step in &target.path {
                        if let bombus_lang::typed::Step::Index(i) = step {
                            self.expr(i);
                        }
                    }
                }
            }
        }
    }
}

/// Whether an expression has a value whatever the tainted variables are, given that its other parts have.
fn total_expr(e: &Expr, tainted: &BTreeSet<VarId>) -> bool {
    if variables_of_expr(e).is_disjoint(tainted) {
        return true;
    }
    match &e.kind {
        ExprKind::Var(_) => true,
        ExprKind::Pair(a, b) => total_expr(a, tainted) && total_expr(b, tainted),
        ExprKind::SetExt(list) | ExprKind::SeqExt(list) | ExprKind::Rec(list) => {
            list.iter().all(|e| total_expr(e, tainted))
        }
        ExprKind::Field(a, _) | ExprKind::Unary(UnOp::Neg | UnOp::First2 | UnOp::Second2, a) => {
            total_expr(a, tainted)
        }
        ExprKind::Binary(op, a, b) => {
            matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul)
                && total_expr(a, tainted)
                && total_expr(b, tainted)
        }
        ExprKind::BoolOf(p) => total_pred(p, tainted),
        _ => false,
    }
}

/// Connectives look at their right side only sometimes, so they count as partial.
fn total_pred(p: &Pred, tainted: &BTreeSet<VarId>) -> bool {
    match &p.kind {
        PredKind::Not(p) | PredKind::Label(_, p) => total_pred(p, tainted),
        PredKind::Rel(_, a, b) => total_expr(a, tainted) && total_expr(b, tainted),
        _ => variables_of_pred(p).is_disjoint(tainted),
    }
}
