//! Whether an event has an outcome at all, for every choice: what a deadlock lacks.
//!
//! In: an environment of a state, an event or the initialisation. Out: a literal that holds only where some outcome
//! exists. The literal may be false where an outcome exists (bindings of infinite types are sampled, loops are not looked
//! into), so "no event is enabled" is said too often, never too seldom; a candidate is confirmed elsewhere.

use super::action::collect_guards;
use super::{Encoder, Env, Slot};
use crate::sat::Lit;
use bombus_lang::free;
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{
    Arrow, BinOp, Expr, ExprKind, OpId, Pred, PredKind, RelOp, Stmt, StmtKind, UnOp, VarId,
};

impl Encoder<'_> {
    /// Where this holds, the event is enabled in the state, or something goes wrong in it.
    pub fn enabled(&mut self, state: &Env, op: OpId) -> Lit {
        let machine = self.machine;
        let op = machine.op(op);
        let mut env = state.clone();
        for v in op.params.iter().chain(&op.results) {
            env.put(*v, None);
        }
        let mut guards = Vec::new();
        collect_guards(&op.body, &mut guards);
        // Guards that speak of choices behind the parameters bound nothing.
        let guards: Vec<&Pred> = guards.into_iter().take(1).collect();
        self.exists(&mut env, &op.params, &guards, &mut |this, env| this.possible(env, &op.body))
    }

    /// Where this holds, the initialisation has an outcome, or something goes wrong in it.
    pub fn can_begin(&mut self, constants: &Env) -> Lit {
        let machine = self.machine;
        let mut env = constants.clone();
        for v in &machine.variables {
            env.put(*v, None);
        }
        self.possible(&mut env, &machine.initialisation)
    }

    fn exists(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        guards: &[&Pred],
        body: &mut dyn FnMut(&mut Self, &mut Env) -> Lit,
    ) -> Lit {
        if vars.is_empty() {
            return body(self, env);
        }
        let mut any = Vec::new();
        self.sampling = true;
        let outside = std::mem::take(&mut self.sampled);
        // Bindings that were found count, also if not all were found.
        let all = self.bindings_by(env, vars, guards, &mut |this, env| {
            let lit = body(this, env);
            any.push(lit);
            (lit != Lit::TRUE).then_some(())
        });
        self.sampling = false;
        let sampled = std::mem::replace(&mut self.sampled, outside);
        let some_are_left = all.is_none() || sampled;
        if some_are_left && !any.contains(&Lit::TRUE) {
            any.extend(self.witnessed(env, vars, guards, body).proposed);
        }
        if all.is_none() && !any.contains(&Lit::TRUE) {
            self.weak("whether some choice makes an event possible".into());
        }
        self.g.or_all(&any)
    }

    /// Where this holds, the substitution has an outcome, or something goes wrong in it.
    fn possible(&mut self, env: &mut Env, s: &Stmt) -> Lit {
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) | StmtKind::Assign(_) => Lit::TRUE,
            StmtKind::BecomesIn(_, set) => self.has_elements(env, set),
            StmtKind::BecomesSuch(vars, p) => self.has_solution(env, vars, p),
            // Where the condition is false something goes wrong, or, in front of an event, the event is not enabled.
            StmtKind::Pre(p, body) | StmtKind::Assert(_, p, body) | StmtKind::Witness(p, body) => {
                let t = self.pred(env, p);
                let holds = self.surely(t);
                let rest = self.possible(env, body);
                self.g.and(holds, rest)
            }
            StmtKind::Choice(branches) => {
                let any: Vec<Lit> = branches.iter().map(|b| self.possible(env, b)).collect();
                self.g.or_all(&any)
            }
            StmtKind::Select(branches, other) => {
                let (mut any, mut none) = (Vec::new(), Vec::new());
                for (p, body) in branches {
                    let t = self.pred(env, p);
                    let rest = self.possible(env, body);
                    let sure = self.surely(t);
                    any.push(self.g.and(sure, rest));
                    none.push(self.surely_not(t));
                }
                if let Some(body) = other {
                    let rest = self.possible(env, body);
                    none.push(rest);
                    any.push(self.g.and_all(&none));
                }
                self.g.or_all(&any)
            }
            StmtKind::If(branches, other) => {
                let mut out = match other {
                    Some(body) => self.possible(env, body),
                    None => Lit::TRUE,
                };
                for (p, body) in branches.iter().rev() {
                    let t = self.pred(env, p);
                    let here = self.possible(env, body);
                    let chosen = self.g.ite(t.holds, here, out);
                    out = self.g.and(t.defined, chosen);
                }
                out
            }
            StmtKind::Case(_, branches, other) => {
                let mut all: Vec<Lit> = branches.iter().map(|(_, b)| self.possible(env, b)).collect();
                all.extend(other.iter().map(|b| self.possible(env, b)));
                self.g.and_all(&all)
            }
            StmtKind::Any(vars, p, body) => {
                let saved: Vec<_> = vars.iter().map(|v| (*v, env.put(*v, None))).collect();
                let some = self.exists(env, vars, &[p], &mut |this, env| {
                    let t = this.pred(env, p);
                    let sure = this.surely(t);
                    let rest = this.possible(env, body);
                    this.g.and(sure, rest)
                });
                for (v, slot) in saved {
                    env.put(v, slot);
                }
                some
            }
            StmtKind::Let(bindings, body) => {
                let mut defined = Vec::new();
                let mut saved = Vec::new();
                for (v, e) in bindings {
                    let (term, d) = self.expr(env, e);
                    defined.push(d);
                    saved.push((*v, env.put(*v, Some(Slot { term, set: Lit::TRUE }))));
                }
                defined.push(self.possible(env, body));
                for (v, slot) in saved {
                    env.put(v, slot);
                }
                self.g.and_all(&defined)
            }
            StmtKind::Var(_, body) => self.always(body),
            StmtKind::Seq(steps) => match steps.split_first() {
                None => Lit::TRUE,
                Some((first, rest)) => {
                    let here = self.possible(env, first);
                    let later: Vec<Lit> = rest.iter().map(|s| self.always(s)).collect();
                    let later = self.g.and_all(&later);
                    self.g.and(here, later)
                }
            },
            StmtKind::Par(branches) => {
                let all: Vec<Lit> = branches.iter().map(|b| self.possible(env, b)).collect();
                self.g.and_all(&all)
            }
            StmtKind::Call { .. } | StmtKind::While { .. } => self.always(s),
        }
    }

    /// A set has elements. Sets of sets, functions and records are judged by what they are made of.
    fn has_elements(&mut self, env: &mut Env, set: &Expr) -> Lit {
        match &set.kind {
            ExprKind::TypeSet(_) | ExprKind::Natural | ExprKind::Natural1 => Lit::TRUE,
            // The empty set and the empty sequence are among these.
            ExprKind::Unary(UnOp::Pow | UnOp::Fin | UnOp::Seq | UnOp::Iseq, _) => Lit::TRUE,
            ExprKind::Unary(UnOp::Pow1 | UnOp::Fin1 | UnOp::Seq1 | UnOp::Iseq1, of) => {
                self.has_elements(env, of)
            }
            ExprKind::Unary(UnOp::Perm, of) => Lit::constant(self.expr(env, of).0.as_set().is_some()),
            ExprKind::Symbolic(inner) => self.has_elements(env, inner),
            ExprKind::StructSet(sets) => {
                let all: Vec<Lit> = sets.iter().map(|s| self.has_elements(env, s)).collect();
                self.g.and_all(&all)
            }
            ExprKind::Binary(op @ (BinOp::Cartesian | BinOp::Union), a, b) => {
                let (x, y) = (self.has_elements(env, a), self.has_elements(env, b));
                if *op == BinOp::Union { self.g.or(x, y) } else { self.g.and(x, y) }
            }
            ExprKind::Binary(BinOp::Interval, a, b) => {
                let ((x, _), (y, _)) = (self.expr(env, a), self.expr(env, b));
                match (x.as_int(), y.as_int()) {
                    (Some(x), Some(y)) => self.num_le(x, y),
                    _ => Lit::FALSE,
                }
            }
            ExprKind::Binary(op, a, b) if op.arrow().is_some() => match op.arrow() {
                Some(arrow) => self.has_arrows(env, arrow, a, b),
                None => Lit::FALSE,
            },
            _ => {
                let (term, _) = self.expr(env, set);
                match term.as_set() {
                    Some(rows) => {
                        let lits: Vec<Lit> = rows.values().copied().collect();
                        self.g.or_all(&lits)
                    }
                    None => Lit::FALSE,
                }
            }
        }
    }

    /// There are relations of a kind from one set to another. Where elements would have to be counted, only sets whose
    /// elements are known tell.
    fn has_arrows(&mut self, env: &mut Env, arrow: Arrow, from: &Expr, to: &Expr) -> Lit {
        if !arrow.total && !arrow.onto {
            return Lit::TRUE;
        }
        if !(arrow.functional && (arrow.onto || arrow.injective)) {
            // Everything on a side that has to be covered goes to one element of the other side.
            let mut fine = Vec::new();
            for (covered, other, asked) in [(from, to, arrow.total), (to, from, arrow.onto)] {
                if asked {
                    let (none, some) = (self.is_empty(env, covered), self.has_elements(env, other));
                    fine.push(self.g.or(none, some));
                }
            }
            return self.g.and_all(&fine);
        }
        let (Some(from), Some(to)) = (self.known_size(env, from), self.known_size(env, to)) else {
            return Lit::FALSE;
        };
        let onto = !arrow.onto || to <= from && (!arrow.total || to > 0 || from == 0);
        let injective = !(arrow.injective && arrow.total) || from <= to;
        Lit::constant(onto && injective)
    }

    fn is_empty(&mut self, env: &mut Env, set: &Expr) -> Lit {
        let (term, _) = self.expr(env, set);
        match term.as_set() {
            Some(rows) => {
                let none: Vec<Lit> = rows.values().map(|l| !*l).collect();
                self.g.and_all(&none)
            }
            None => Lit::FALSE,
        }
    }

    /// How many elements a set has, if that does not depend on unknowns.
    fn known_size(&mut self, env: &mut Env, set: &Expr) -> Option<usize> {
        let (term, _) = self.expr(env, set);
        let rows = term.as_set()?;
        let sure = rows.values().all(|l| l.is_constant());
        sure.then(|| rows.values().filter(|l| **l == Lit::TRUE).count())
    }

    /// `x:(P)` has an outcome where P says of each variable only in which set it is; `None` where P says more.
    fn has_members(&mut self, env: &mut Env, vars: &[VarId], p: &Pred) -> Option<Lit> {
        let (mut told, mut some) = (Vec::new(), Vec::new());
        for p in p.conjuncts() {
            let PredKind::Rel(op, x, set) = &p.kind else { return None };
            let ExprKind::Var(v) = x.kind else { return None };
            let plain = vars.contains(&v) && !told.contains(&v) && !may_be_undefined(set);
            if !plain || free::mentions(set, &|w| vars.contains(&w)) {
                return None;
            }
            told.push(v);
            match op {
                RelOp::In => some.push(self.has_elements(env, set)),
                RelOp::Subset => {}
                _ => return None,
            }
        }
        Some(self.g.and_all(&some))
    }

    /// `x:(P)` has an outcome.
    fn has_solution(&mut self, env: &mut Env, vars: &[VarId], p: &Pred) -> Lit {
        let saved: Vec<_> = vars.iter().map(|v| (*v, env.put_old(*v, env.get(*v).cloned()))).collect();
        let before: Vec<(VarId, Option<Slot>)> = vars.iter().map(|v| (*v, env.put(*v, None))).collect();
        let some = match self.has_members(env, vars, p) {
            Some(some) => some,
            None => self.exists(env, vars, &[p], &mut |this, env| {
                let t = this.pred(env, p);
                this.surely(t)
            }),
        };
        for (v, slot) in before {
            env.put(v, slot);
        }
        for (v, slot) in saved {
            env.put_old(v, slot);
        }
        some
    }

    /// Whether a substitution has an outcome wherever nothing goes wrong in it, by its form alone.
    fn always(&self, s: &Stmt) -> Lit {
        Lit::constant(self.is_total(s))
    }

    fn is_total(&self, s: &Stmt) -> bool {
        let optional = |s: &Option<Box<Stmt>>| s.as_ref().is_none_or(|s| self.is_total(s));
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) | StmtKind::Assign(_) => true,
            StmtKind::BecomesIn(_, set) => matches!(
                set.kind,
                ExprKind::TypeSet(_)
                    | ExprKind::Natural
                    | ExprKind::Natural1
                    | ExprKind::Unary(UnOp::Pow | UnOp::Fin | UnOp::Seq | UnOp::Iseq, _)
            ),
            StmtKind::BecomesSuch(_, p) => matches!(p.kind, PredKind::True),
            StmtKind::Pre(_, b) | StmtKind::Assert(_, _, b) | StmtKind::Witness(_, b) => self.is_total(b),
            StmtKind::Choice(bs) => bs.iter().any(|b| self.is_total(b)),
            StmtKind::If(bs, other) => bs.iter().all(|(_, b)| self.is_total(b)) && optional(other),
            StmtKind::Select(..) | StmtKind::Any(..) => false,
            StmtKind::Case(_, bs, other) => bs.iter().all(|(_, b)| self.is_total(b)) && optional(other),
            StmtKind::Let(_, b) | StmtKind::Var(_, b) => self.is_total(b),
            StmtKind::While { body, .. } => self.is_total(body),
            StmtKind::Call { op, .. } => self.is_total(&self.machine.op(*op).body),
            StmtKind::Seq(bs) | StmtKind::Par(bs) => bs.iter().all(|b| self.is_total(b)),
        }
    }
}
