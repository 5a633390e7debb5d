//! What a formula or substitution reads, writes and may leave undefined.
//!
//! In: typed trees. Out: `Uses`. Conservative: `partial` says "may be undefined" whenever an operator
//! with a condition occurs.

use bombus_lang::partiality::{is_partial_binary, is_partial_unary, reads_an_image};
use bombus_lang::typed::{
    BigOp, Expr, ExprKind, External, Machine, Pred, Step, Stmt, StmtKind, Target, VarId,
};
use bombus_lang::walk::{Visit, visit_expr, visit_pred};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Variables read, bound ones left out.
    pub reads: BTreeSet<VarId>,
    /// Variables whose value before is read (`x$0`).
    pub olds: BTreeSet<VarId>,
    pub writes: BTreeSet<VarId>,
    /// Variables bound inside.
    bound: BTreeSet<VarId>,
    pub partial: bool,
}

impl Uses {
    pub fn of_expr(e: &Expr) -> Uses {
        let mut u = Uses::default();
        visit_expr(e, &mut u);
        u.close()
    }

    pub fn of_pred(p: &Pred) -> Uses {
        let mut u = Uses::default();
        visit_pred(p, &mut u);
        u.close()
    }

    /// Called operations are followed.
    pub fn of_stmt(s: &Stmt, machine: &Machine) -> Uses {
        let mut u = Uses::default();
        u.stmt(s, machine);
        u.close()
    }

    fn close(mut self) -> Uses {
        if self.bound.is_empty() {
            return self;
        }
        self.reads = self.reads.difference(&self.bound).copied().collect();
        self
    }

    /// Whether something is bound inside.
    pub fn binds(&self) -> bool {
        !self.bound.is_empty()
    }

    /// Everything read, now or before.
    pub fn all(&self) -> BTreeSet<VarId> {
        self.reads.union(&self.olds).copied().collect()
    }

    fn assigned(&mut self, t: &Target) {
        self.writes.insert(t.var);
        if !t.path.is_empty() {
            self.reads.insert(t.var);
        }
        self.partial |= reads_an_image(&t.path);
        for step in &t.path {
            if let Step::Index(i) = step {
                visit_expr(i, self);
            }
        }
    }

    fn stmt(&mut self, s: &Stmt, m: &Machine) {
        match &s.kind {
            StmtKind::Skip => {}
            StmtKind::Assign(pairs) => {
                for (t, e) in pairs {
                    self.assigned(t);
                    visit_expr(e, self);
                }
            }
            StmtKind::BecomesIn(vars, e) => {
                self.writes.extend(vars);
                visit_expr(e, self);
            }
            StmtKind::BecomesSuch(vars, p) => {
                self.writes.extend(vars);
                let inner = Uses::of_pred(p);
                self.partial |= inner.partial;
                self.reads.extend(inner.reads.iter().filter(|v| !vars.contains(v)));
                self.reads.extend(inner.olds);
            }
            StmtKind::Pre(p, s) | StmtKind::Assert(_, p, s) | StmtKind::Witness(p, s) => {
                visit_pred(p, self);
                self.stmt(s, m);
            }
            StmtKind::Choice(ss) | StmtKind::Seq(ss) | StmtKind::Par(ss) => {
                ss.iter().for_each(|s| self.stmt(s, m));
            }
            StmtKind::If(branches, other) | StmtKind::Select(branches, other) => {
                for (p, s) in branches {
                    visit_pred(p, self);
                    self.stmt(s, m);
                }
                if let Some(s) = other {
                    self.stmt(s, m);
                }
            }
            StmtKind::Case(e, branches, other) => {
                visit_expr(e, self);
                for (labels, s) in branches {
                    labels.iter().for_each(|e| visit_expr(e, self));
                    self.stmt(s, m);
                }
                if let Some(s) = other {
                    self.stmt(s, m);
                }
            }
            StmtKind::Any(vars, p, s) => {
                self.bound.extend(vars);
                visit_pred(p, self);
                self.stmt(s, m);
            }
            StmtKind::Let(bindings, s) => {
                for (v, e) in bindings {
                    self.bound.insert(*v);
                    visit_expr(e, self);
                }
                self.stmt(s, m);
            }
            StmtKind::Var(vars, s) => {
                self.bound.extend(vars);
                self.stmt(s, m);
            }
            StmtKind::While { cond, body, invariant, variant } => {
                visit_pred(cond, self);
                self.stmt(body, m);
                visit_pred(invariant, self);
                visit_expr(variant, self);
            }
            StmtKind::Call { op, args, results } => {
                let callee = m.op(*op);
                self.bound.extend(&callee.params);
                self.bound.extend(&callee.results);
                self.stmt(&callee.body, m);
                args.iter().for_each(|e| visit_expr(e, self));
                results.iter().for_each(|t| self.assigned(t));
            }
            StmtKind::External(_, es) => es.iter().for_each(|e| visit_expr(e, self)),
        }
    }
}

impl Visit for Uses {
    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(v) => _ = self.reads.insert(*v),
            ExprKind::Old(v) => _ = self.olds.insert(*v),
            ExprKind::External(..) | ExprKind::Apply(..) | ExprKind::Construct(..) => self.partial = true,
            ExprKind::Unary(op, _) => self.partial |= is_partial_unary(*op),
            ExprKind::Binary(op, ..) => self.partial |= is_partial_binary(*op),
            ExprKind::Big(op, ..) => self.partial |= *op == BigOp::Inter,
            _ => {}
        }
    }

    fn bound(&mut self, v: VarId) {
        self.bound.insert(v);
    }

    fn external(&mut self, _: &External, _: &[Expr]) {
        self.partial = true;
    }
}

/// Variables of a kind that an expression reads. PERF: `Uses` for those who ask of one kind alone, and ask often.
pub struct Reads<'a> {
    is_wanted: &'a dyn Fn(VarId) -> bool,
    /// Those that were met, bound ones among them.
    met: Vec<VarId>,
    bound: Vec<VarId>,
    old: bool,
}

impl<'a> Reads<'a> {
    pub fn of_expr(e: &Expr, is_wanted: &'a dyn Fn(VarId) -> bool) -> Reads<'a> {
        let mut reads = Reads { is_wanted, met: Vec::new(), bound: Vec::new(), old: false };
        visit_expr(e, &mut reads);
        reads
    }

    /// Whether no variable of the kind is free.
    pub fn is_none(&self) -> bool {
        self.met.iter().all(|v| self.bound.contains(v))
    }

    /// Whether the value before of any variable is read.
    pub fn has_old(&self) -> bool {
        self.old
    }
}

impl Visit for Reads<'_> {
    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Var(v) if (self.is_wanted)(*v) => self.met.push(*v),
            ExprKind::Old(_) => self.old = true,
            _ => {}
        }
    }

    fn bound(&mut self, v: VarId) {
        self.bound.push(v);
    }
}
