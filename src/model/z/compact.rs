//! The machine without variables that nothing uses any more.
//!
//! In: a machine whose declarations hold those of every copy ever made. Out: the same machine, variables numbered
//! without gaps.

use bombus_lang::typed::{
    Clause, Expr, ExprKind, Machine, Pred, PredKind, Stmt, StmtKind, Target, VarDecl, VarId,
};
use std::collections::BTreeMap;

pub(super) fn compact(machine: &mut Machine) {
    let mut old = Numbers { vars: std::mem::take(&mut machine.vars), kept: Vec::new(), new: BTreeMap::new() };
    old.all(&mut machine.constants);
    old.all(&mut machine.variables);
    for Clause { pred, .. } in machine.properties.iter_mut().chain(&mut machine.invariant) {
        old.pred(pred);
    }
    for p in machine.scope.iter_mut() {
        old.pred(p);
    }
    old.stmt(&mut machine.initialisation);
    for op in &mut machine.operations {
        old.all(&mut op.params);
        old.all(&mut op.results);
        old.stmt(&mut op.body);
    }
    for domain in machine.freetypes.iter_mut().flat_map(|f| &mut f.domains).flatten() {
        old.expr(domain);
    }
    machine.vars = old.kept;
}

struct Numbers {
    vars: Vec<VarDecl>,
    kept: Vec<VarDecl>,
    new: BTreeMap<VarId, VarId>,
}

impl Numbers {
    fn var(&mut self, v: &mut VarId) {
        let (vars, kept) = (&self.vars, &mut self.kept);
        *v = *self.new.entry(*v).or_insert_with(|| {
            kept.push(vars[v.0 as usize].clone());
            VarId(kept.len() as u32 - 1)
        });
    }

    fn all(&mut self, vs: &mut [VarId]) {
        vs.iter_mut().for_each(|v| self.var(v));
    }

    fn exprs(&mut self, es: &mut [Expr]) {
        es.iter_mut().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Var(v) | ExprKind::Old(v) => self.var(v),
            ExprKind::SetExt(xs)
            | ExprKind::SeqExt(xs)
            | ExprKind::Rec(xs)
            | ExprKind::StructSet(xs)
            | ExprKind::External(_, xs) => self.exprs(xs),
            ExprKind::Pair(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Apply(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Symbolic(a) => self.expr(a),
            ExprKind::BoolOf(p) => self.pred(p),
            ExprKind::Compr(vars, p) => {
                self.all(vars);
                self.pred(p);
            }
            ExprKind::Big(_, vars, p, x) => {
                self.all(vars);
                self.pred(p);
                self.expr(x);
            }
            ExprKind::If(p, a, b) => {
                self.pred(p);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Let(bindings, x) => {
                self.bindings(bindings);
                self.expr(x);
            }
            ExprKind::Construct(_, _, Some(x)) => self.expr(x),
            _ => {}
        }
    }

    fn bindings(&mut self, bindings: &mut [(VarId, Expr)]) {
        for (v, e) in bindings {
            self.expr(e);
            self.var(v);
        }
    }

    fn pred(&mut self, p: &mut Pred) {
        match &mut p.kind {
            PredKind::True | PredKind::False => {}
            PredKind::And(ps) | PredKind::Or(ps) => ps.iter_mut().for_each(|p| self.pred(p)),
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
                self.all(vars);
                self.pred(p);
            }
            PredKind::If(c, a, b) => {
                self.pred(c);
                self.pred(a);
                self.pred(b);
            }
            PredKind::Let(bindings, p) => {
                self.bindings(bindings);
                self.pred(p);
            }
            PredKind::Finite(x) => self.expr(x),
            PredKind::Partition(x, xs) => {
                self.expr(x);
                self.exprs(xs);
            }
            PredKind::External(_, xs) => self.exprs(xs),
        }
    }

    /// Only the substitutions that operations of Z become.
    fn stmt(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Assign(pairs) => {
                for (Target { var, .. }, value) in pairs {
                    self.var(var);
                    self.expr(value);
                }
            }
            StmtKind::Select(branches, None) => {
                for (p, body) in branches {
                    self.pred(p);
                    self.stmt(body);
                }
            }
            StmtKind::Any(vars, p, body) => {
                self.all(vars);
                self.pred(p);
                self.stmt(body);
            }
            StmtKind::Choice(branches) => branches.iter_mut().for_each(|b| self.stmt(b)),
            StmtKind::Skip => {}
            other => unreachable!("no operation of Z becomes {other:?}"),
        }
    }
}
