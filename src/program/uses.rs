//! What a formula or substitution reads, writes and may leave undefined.
//!
//! In: typed trees. Out: `Uses`. Conservative: `partial` says "may be undefined" whenever an operator
//! with a condition occurs.

use crate::model::typed::{
    BigOp, BinOp, Expr, ExprKind, Machine, Pred, PredKind, Step, Stmt, StmtKind, Target, UnOp, VarId,
};
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
        u.expr(e);
        u.close()
    }

    pub fn of_pred(p: &Pred) -> Uses {
        let mut u = Uses::default();
        u.pred(p);
        u.close()
    }

    /// Called operations are followed.
    pub fn of_stmt(s: &Stmt, machine: &Machine) -> Uses {
        let mut u = Uses::default();
        u.stmt(s, machine);
        u.close()
    }

    fn close(mut self) -> Uses {
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
            ExprKind::Var(v) => {
                self.reads.insert(*v);
            }
            ExprKind::Old(v) => {
                self.olds.insert(*v);
            }
            ExprKind::SetExt(es) | ExprKind::SeqExt(es) | ExprKind::Rec(es) | ExprKind::StructSet(es) => {
                es.iter().for_each(|e| self.expr(e));
            }
            ExprKind::External(_, es) => {
                self.partial = true;
                es.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Unary(op, a) => {
                self.partial |= is_partial_unary(*op);
                self.expr(a);
            }
            ExprKind::Field(a, _) | ExprKind::Symbolic(a) => self.expr(a),
            ExprKind::Binary(op, a, b) => {
                self.partial |= is_partial_binary(*op);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Apply(a, b) => {
                self.partial = true;
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Pair(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::BoolOf(p) => self.pred(p),
            ExprKind::Compr(vars, p) => {
                self.bound.extend(vars);
                self.pred(p);
            }
            ExprKind::Big(op, vars, p, body) => {
                self.partial |= *op == BigOp::Inter;
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
                self.partial = true;
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
                es.iter().for_each(|e| self.expr(e));
            }
            PredKind::External(_, es) => {
                self.partial = true;
                es.iter().for_each(|e| self.expr(e));
            }
        }
    }

    fn target(&mut self, t: &Target) {
        self.writes.insert(t.var);
        if !t.path.is_empty() {
            self.reads.insert(t.var);
        }
        for step in &t.path {
            if let Step::Index(i) = step {
                self.expr(i);
            }
        }
    }

    fn stmt(&mut self, s: &Stmt, m: &Machine) {
        match &s.kind {
            StmtKind::Skip => {}
            StmtKind::Assign(pairs) => {
                for (t, e) in pairs {
                    self.target(t);
                    self.expr(e);
                }
            }
            StmtKind::BecomesIn(vars, e) => {
                self.writes.extend(vars);
                self.expr(e);
            }
            StmtKind::BecomesSuch(vars, p) => {
                self.writes.extend(vars);
                let inner = Uses::of_pred(p);
                self.partial |= inner.partial;
                self.reads.extend(inner.reads.iter().filter(|v| !vars.contains(v)));
                self.reads.extend(inner.olds);
            }
            StmtKind::Pre(p, s) | StmtKind::Assert(p, s) | StmtKind::Witness(p, s) => {
                self.pred(p);
                self.stmt(s, m);
            }
            StmtKind::Choice(ss) | StmtKind::Seq(ss) | StmtKind::Par(ss) => {
                ss.iter().for_each(|s| self.stmt(s, m));
            }
            StmtKind::If(branches, other) | StmtKind::Select(branches, other) => {
                for (p, s) in branches {
                    self.pred(p);
                    self.stmt(s, m);
                }
                if let Some(s) = other {
                    self.stmt(s, m);
                }
            }
            StmtKind::Case(e, branches, other) => {
                self.expr(e);
                for (labels, s) in branches {
                    labels.iter().for_each(|e| self.expr(e));
                    self.stmt(s, m);
                }
                if let Some(s) = other {
                    self.stmt(s, m);
                }
            }
            StmtKind::Any(vars, p, s) => {
                self.bound.extend(vars);
                self.pred(p);
                self.stmt(s, m);
            }
            StmtKind::Let(bindings, s) => {
                for (v, e) in bindings {
                    self.bound.insert(*v);
                    self.expr(e);
                }
                self.stmt(s, m);
            }
            StmtKind::Var(vars, s) => {
                self.bound.extend(vars);
                self.stmt(s, m);
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.pred(cond);
                self.stmt(body, m);
                self.pred(invariant);
                self.expr(variant);
            }
            StmtKind::Call { op, args, results } => {
                let callee = m.op(*op);
                self.bound.extend(&callee.params);
                self.bound.extend(&callee.results);
                self.stmt(&callee.body, m);
                args.iter().for_each(|e| self.expr(e));
                results.iter().for_each(|t| self.target(t));
            }
            StmtKind::External(_, es) => es.iter().for_each(|e| self.expr(e)),
        }
    }
}

fn is_partial_unary(op: UnOp) -> bool {
    use UnOp::*;
    match op {
        Neg | Floor | Ceiling | ToReal | Pow | Pow1 | Fin | Fin1 | Card | Union | Inverse | Dom | Ran
        | Id | Closure | Closure1 | Rel | Fnc | First2 | Second2 | Seq | Seq1 | Iseq | Iseq1 => false,
        Min | Max | Inter | Perm | Size | First | Last | Front | Tail | Rev | Conc | Tree | Btree | Top
        | Sons | Prefix | Postfix | Sizet | Mirror | Bin1 | Left | Right | Infix => true,
    }
}

fn is_partial_binary(op: BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        Div | Mod
            | Power
            | Iterate
            | Concat
            | Prepend
            | Append
            | Take
            | Drop
            | TreeConst
            | Rank
            | Father
            | Subtree
            | Arity
            | Son
            | Bin3
    )
}
