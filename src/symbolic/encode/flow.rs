//! Called operations and loops, inlined.
//!
//! In: a call or a WHILE, the environment before it. Out: as for any substitution (`action`). A call copies arguments in
//! and results out; a false precondition of the called operation is a fault. A loop is unrolled some rounds, and what
//! comes after them is an unknown.

use super::action::{Notes, written_by};
use super::term::Term;
use super::{Encoder, Env};
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::typed::{Expr, OpId, Pred, Stmt, Target, VarId};

/// Rounds of a loop that are made; what comes after them is an unknown.
const ROUNDS: usize = 24;

impl Encoder<'_> {
    pub(super) fn call(
        &mut self,
        env: &mut Env,
        op: OpId,
        args: &[Expr],
        results: &[Target],
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let machine = self.machine;
        let op = machine.op(op);
        let mut go = Lit::TRUE;
        let mut values = Vec::with_capacity(args.len());
        for e in args {
            let here = self.g.and(pc, go);
            let (term, d) = self.operand(env, e, here, notes);
            go = self.g.and(go, d);
            values.push(term);
        }
        let own: Vec<VarId> = op.params.iter().chain(&op.results).copied().collect();
        let saved: Vec<_> = own.iter().map(|v| (*v, env.put(*v, None))).collect();
        for (v, term) in op.params.iter().zip(values) {
            env.bind(*v, term);
        }
        let inner = self.g.and(pc, go);
        let done = self.exec(env, &op.body, inner, notes);
        go = self.g.and(go, done);
        let mut copied = Vec::new();
        for (r, target) in op.results.iter().zip(results) {
            let slot = env.get(*r).cloned();
            let set = slot.as_ref().map_or(Lit::FALSE, |s| s.set);
            let here = self.g.and(pc, go);
            let missing = self.g.and(here, !set);
            notes.faults.push(missing);
            go = self.g.and(go, set);
            if let Some(slot) = slot {
                copied.push((target, slot.term));
            }
        }
        for (v, slot) in saved {
            env.put(v, slot);
        }
        for (target, term) in copied {
            let new = if target.path.is_empty() {
                Some((term, Lit::TRUE))
            } else {
                let whole = env.get(target.var).map(|s| s.term.clone());
                whole.and_then(|whole| self.updated(env, &whole, &target.path, &term))
            };
            let (term, d) = match new {
                Some(new) => new,
                None => {
                    self.weak(format!("an assignment inside {}", machine.var(target.var).name));
                    (self.leaf_of(&machine.var(target.var).ty), self.g.fresh())
                }
            };
            let here = self.g.and(pc, go);
            let undefined = self.g.and(here, !d);
            notes.faults.push(undefined);
            go = self.g.and(go, d);
            env.bind(target.var, term);
        }
        go
    }

    pub(super) fn repeated(
        &mut self,
        env: &mut Env,
        of: (&Pred, &Stmt, &Pred, &Expr),
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let (cond, body, invariant, variant) = of;
        let variables = self.machine.variables.clone();
        let saved: Vec<_> = variables.iter().map(|v| (*v, env.put_old(*v, env.get(*v).cloned()))).collect();
        let go = self.rounds(env, (cond, body, invariant, variant), None, ROUNDS, pc, notes);
        for (v, slot) in saved {
            env.put_old(v, slot);
        }
        go
    }

    fn rounds(
        &mut self,
        env: &mut Env,
        of: (&Pred, &Stmt, &Pred, &Expr),
        last: Option<&Term>,
        left: usize,
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let (cond, body, invariant, variant) = of;
        if pc == Lit::FALSE {
            return Lit::TRUE;
        }
        if left == 0 {
            self.weak(format!("a loop of more than {ROUNDS} rounds (byte {} of the text)", cond.span.start));
            for v in written_by(self.machine, body) {
                let term = self.leaf_of(&self.machine.var(v).ty.clone());
                env.bind(v, term);
            }
            let fault = self.g.fresh();
            notes.faults.push(self.g.and(pc, fault));
            return self.g.fresh();
        }
        let t = self.pred(env, invariant);
        let kept = self.surely(t);
        let fault = self.g.and(pc, !kept);
        notes.faults.push(fault);
        let pc = self.g.and(pc, kept);
        let c = self.pred(env, cond);
        let undefined = self.g.and(pc, !c.defined);
        notes.faults.push(undefined);
        let go = self.branch(
            env,
            c.holds,
            c.defined,
            pc,
            notes,
            &mut |this, env, pc, notes| {
                let (measure, d) = this.operand(env, variant, pc, notes);
                let mut fine = d;
                if let Some(n) = measure.as_int() {
                    let zero = this.number(&Int::ZERO);
                    let natural = this.num_le(&zero, n);
                    fine = this.g.and(fine, natural);
                    if let Some(before) = last.and_then(Term::as_int) {
                        let less = this.num_lt(n, before);
                        fine = this.g.and(fine, less);
                    }
                }
                let wrong = this.g.and(pc, !fine);
                notes.faults.push(wrong);
                let here = this.g.and(pc, fine);
                let done = this.exec(env, body, here, notes);
                let next = this.g.and(here, done);
                let rest = this.rounds(env, of, Some(&measure), left - 1, next, notes);
                let both = this.g.and(done, rest);
                this.g.and(fine, both)
            },
            &mut |_, _, _, _| Lit::TRUE,
        );
        self.g.and(kept, go)
    }
}
