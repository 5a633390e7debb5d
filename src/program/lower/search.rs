//! Plans as loops: quantifiers, comprehensions, parameters and ANY share these.
//!
//! In: variables, conjuncts, and what to do with each solution. Out: nested loops; `next`, handed to
//! the innermost part, is where the search goes on.

use super::*;
use crate::plan::{self, Plan, PlanStep, Source};
use crate::uses::{Reads, Uses};
use bombus_lang::typed::PredKind;

/// Copies of a loop's body at most, of nested loops at most, and operations beyond which none are made.
const MAX_ROUNDS: usize = 16;
const MAX_COPIES: usize = 64;
const MAX_UNROLLED_CODE: usize = 30_000;
/// Subsets of larger sets are not run through where something is said of their size: the interpreter makes those that
/// have it.
const LISTED_SUBSETS: f64 = 20.0;

/// What to emit for each solution: the environment, and where the search goes on.
pub(super) type Body<'b, 'w> = dyn FnMut(&mut Lower<'w>, &Env, Label) -> Low<()> + 'b;

impl<'w> Lower<'w> {
    /// Loops over all values of `vars` that satisfy `conjuncts`. Control comes out behind the loops.
    /// An undefined conjunct goes to `self.wd`.
    pub(super) fn search(
        &mut self,
        vars: &[VarId],
        conjuncts: Vec<Pred>,
        env: &Env,
        body: &mut Body<'_, 'w>,
    ) -> Low<()> {
        let plan = plan::plan(vars, conjuncts, self);
        let (mark, next, emissions) = (self.here(), self.next, self.emissions.len());
        let why = match plan.unbounded {
            None => match self.carry_out(&plan, env, body) {
                Ok(()) if self.interprets_each(mark) => Unsupported("pooled elements on values".into()),
                Ok(()) => return Ok(()),
                Err(why) => why,
            },
            Some(_) => Unsupported("an unbounded variable".into()),
        };
        let Some(plan) = self.with_lists(&plan) else { return Err(why) };
        self.rewind(mark);
        self.next = next;
        self.emissions.truncate(emissions);
        self.carry_out(&plan, env, body)?;
        if self.interprets(mark) { Err(why) } else { Ok(()) }
    }

    fn carry_out(&mut self, plan: &Plan, env: &Env, body: &mut Body<'_, 'w>) -> Low<()> {
        let end = self.label();
        let wd = self.wd;
        self.steps(
            plan,
            0,
            env,
            end,
            &mut |s, i, env, next| s.with_wd(wd, |s| s.jump_unless(&plan.conjuncts[i], env, next)),
            body,
        )?;
        self.place(end);
        Ok(())
    }

    /// Carries out the steps of a plan from step `at`; `test` emits the test of a conjunct.
    pub(super) fn steps(
        &mut self,
        plan: &Plan,
        at: usize,
        env: &Env,
        next: Label,
        test: &mut dyn FnMut(&mut Self, usize, &Env, Label) -> Low<()>,
        body: &mut Body<'_, 'w>,
    ) -> Low<()> {
        // A source that is undefined leaves open whether other conjuncts are false: a misfit.
        let misfit = self.misfit;
        match plan.steps.get(at) {
            None => {
                body(self, env, next)?;
                self.emit(Op::Jump { l: next });
                Ok(())
            }
            Some(PlanStep::Test(i)) => {
                test(self, *i, env, next)?;
                self.steps(plan, at + 1, env, next, test, body)
            }
            Some(PlanStep::Bind(v, Source::Equal(e))) => {
                let want = self.of_type(&self.w.machine.var(*v).ty);
                let x = self.with_wd(misfit, |s| s.expr(e, env, want.as_ref()))?;
                self.steps(plan, at + 1, &env.with(*v, x), next, test, body)
            }
            Some(PlanStep::Bind(v, Source::Subset(set)))
                if plan::Estimates::size(&*self, set) > LISTED_SUBSETS && plan.speaks_of_size(*v) =>
            {
                unsupported("subsets of a given size")
            }
            Some(PlanStep::Bind(v, source)) => {
                let ty = self.w.machine.var(*v).ty.clone();
                if let Some(values) = self.few_values(source, &ty, env) {
                    return self.unrolled(plan, at, *v, &values, env, next, test, body);
                }
                let (x, head, exit) = self.with_wd(misfit, |s| s.open_loop(source, &ty, env))?;
                self.steps(plan, at + 1, &env.with(*v, x), head, test, body)?;
                self.place(exit);
                self.emit(Op::Jump { l: next });
                Ok(())
            }
            Some(PlanStep::Match { pattern, set, binds }) => {
                let (inner, head, exit) = self.with_wd(misfit, |s| s.open_match(pattern, set, binds, env))?;
                self.steps(plan, at + 1, &inner, head, test, body)?;
                self.place(exit);
                self.emit(Op::Jump { l: next });
                Ok(())
            }
            Some(PlanStep::Listed { pattern, values, binds }) => {
                let pooled = self.pooled.len();
                let done = self.with_wd(misfit, |s| {
                    s.need_pattern(pattern, binds, env)?;
                    let (x, head, exit) = s.listed_loop(values, &pattern.ty, None)?;
                    Ok((s.destructure(pattern, &x, binds, env, head)?, head, exit))
                });
                let done = done.and_then(|(inner, head, exit)| {
                    self.steps(plan, at + 1, &inner, head, test, body)?;
                    self.place(exit);
                    self.emit(Op::Jump { l: next });
                    Ok(())
                });
                self.pooled.truncate(pooled);
                done
            }
        }
    }

    /// Carries out the rest of a plan once for each value of a variable. The values are constants of the
    /// code, so that whatever depends on them alone is computed now.
    #[allow(clippy::too_many_arguments)]
    fn unrolled(
        &mut self,
        plan: &Plan,
        at: usize,
        v: VarId,
        values: &[Value],
        env: &Env,
        next: Label,
        test: &mut dyn FnMut(&mut Self, usize, &Env, Label) -> Low<()>,
        body: &mut Body<'_, 'w>,
    ) -> Low<()> {
        let ty = self.w.machine.var(v).ty.clone();
        let constants: Vec<Operand> =
            values.iter().map(|value| self.literal(value, &ty, None)).collect::<Low<_>>()?;
        let copies = self.copies;
        self.copies *= values.len().max(1);
        let (floor, mut top) = (self.next, self.next);
        for x in constants {
            let after = self.label();
            // What one copy computes is of no use to the next one.
            self.next = floor;
            let done = self.steps(plan, at + 1, &env.with(v, x), after, test, body);
            if done.is_err() {
                self.next = floor;
                self.copies = copies;
                return done;
            }
            top = top.max(self.next);
            self.place(after);
        }
        // What is emitted later may be called from inside a copy, while its loops run.
        self.next = top;
        self.copies = copies;
        self.emit(Op::Jump { l: next });
        Ok(())
    }

    /// The values of a loop variable, if they are known now and few enough for a copy of the body each.
    fn few_values(&self, source: &Source, ty: &Type, env: &Env) -> Option<Vec<Value>> {
        if self.code.ops.len() > MAX_UNROLLED_CODE {
            return None;
        }
        let room = (MAX_COPIES / self.copies).min(MAX_ROUNDS);
        let number = |e: &Expr| match &e.kind {
            ExprKind::Var(v) if env.now.contains_key(v) => self.known.get(&env.now[v].reg).copied(),
            _ if self.is_constant_expr(e) => match self.w.folder.value(e)? {
                Value::Int(n) => n.small(),
                _ => None,
            },
            _ => None,
        };
        let interval = |lo: i64, hi: i64| {
            let n = usize::try_from(hi.checked_sub(lo)?.checked_add(1)?.max(0)).ok()?;
            (n <= room).then(|| (lo..=hi).map(Value::int).collect())
        };
        let whole = |ty: &Type| match ty {
            Type::Bool | Type::Set(_) => {
                let c = Carrier::of_type(ty, &|s| self.w.machine.set(s).elems.len())?;
                (c.card() <= room).then(|| (0..c.card()).map(|i| c.value(i)).collect())
            }
            _ => None,
        };
        match source {
            Source::Equal(_) | Source::Subset(_) => None,
            Source::Type(_) => whole(ty),
            Source::Range { lo, hi } => {
                let lo = lo.iter().map(number).collect::<Option<Vec<_>>>()?.into_iter().max()?;
                let hi = hi.iter().map(number).collect::<Option<Vec<_>>>()?.into_iter().min()?;
                interval(lo, hi)
            }
            Source::Member(set) => match &set.kind {
                ExprKind::Binary(BinOp::Interval, a, b) => interval(number(a)?, number(b)?),
                ExprKind::TypeSet(t) => whole(t),
                _ if matches!(ty, Type::Integer | Type::Bool | Type::Set(_))
                    && self.is_constant_expr(set) =>
                {
                    match self.w.folder.value(set)? {
                        Value::Set(elems) if elems.len() <= room => Some(elems.to_vec()),
                        _ => None,
                    }
                }
                _ => None,
            },
        }
    }

    /// Starts a loop: the loop variable, where the next round begins, where the loop ends.
    pub(super) fn open_loop(
        &mut self,
        source: &Source,
        ty: &Type,
        env: &Env,
    ) -> Low<(Operand, Label, Label)> {
        match source {
            Source::Equal(_) => unreachable!("an equation is no loop"),
            Source::Range { lo, hi } => {
                let lo = self.bound(lo, true, env)?;
                let hi = self.bound(hi, false, env)?;
                self.integer_loop(&lo, &hi)
            }
            Source::Member(set) => match &set.kind {
                ExprKind::Binary(BinOp::Interval, a, b) => {
                    let (lo, hi) = (self.int(a, env)?, self.int(b, env)?);
                    self.integer_loop(&lo, &hi)
                }
                ExprKind::TypeSet(t) => self.type_loop(&t.clone()),
                _ => {
                    let s = self.expr(set, env, None)?;
                    if s.layout == Layout::Pool {
                        return self.pooled_loop(set, &s, ty);
                    }
                    let s = self.as_bits(s)?;
                    self.element_loop(&s)
                }
            },
            Source::Subset(set) => {
                let s = self.bits(set, env, None)?;
                self.subset_loop(&s)
            }
            Source::Type(_) => self.type_loop(ty),
        }
    }

    fn bound(&mut self, es: &[Expr], greatest: bool, env: &Env) -> Low<Operand> {
        let mut x = self.int(&es[0], env)?;
        for e in &es[1..] {
            let y = self.int(e, env)?;
            let d = self.fresh(Layout::Int)?;
            self.emit(if greatest {
                Op::Max { d: d.reg, a: x.reg, b: y.reg }
            } else {
                Op::Min { d: d.reg, a: x.reg, b: y.reg }
            });
            x = d;
        }
        Ok(x)
    }

    pub(super) fn integer_loop(&mut self, lo: &Operand, hi: &Operand) -> Low<(Operand, Label, Label)> {
        let x = self.fresh(Layout::Int)?;
        let (head, exit) = (self.label(), self.label());
        self.emit(Op::AddImm { d: x.reg, a: lo.reg, i: -1 });
        self.place(head);
        self.emit(Op::NextInt { d: x.reg, b: hi.reg, l: exit });
        Ok((x, head, exit))
    }

    pub(super) fn element_loop(&mut self, s: &Operand) -> Low<(Operand, Label, Label)> {
        let c = s.carrier()?.clone();
        // The set is copied when it may change while the loop runs: it never does, since every
        // value lives in registers of its own.
        let cursor = self.alloc(1)?;
        let (head, exit) = (self.label(), self.label());
        self.emit(Op::Const { d: cursor, v: -1 });
        self.place(head);
        self.emit(Op::Next { d: cursor, a: s.reg, n: s.words(), l: exit });
        let x = self.decode(cursor, &c)?;
        Ok((x, head, exit))
    }

    fn subset_loop(&mut self, s: &Operand) -> Low<(Operand, Label, Label)> {
        s.carrier()?;
        let x = self.fresh(s.layout.clone())?;
        let (first, head, exit) = (self.label(), self.label(), self.label());
        self.emit(Op::Clear { d: x.reg, n: x.words() });
        self.emit(Op::Jump { l: first });
        self.place(head);
        self.emit(Op::NextSubset { d: x.reg, a: s.reg, n: x.words(), l: exit });
        self.place(first);
        Ok((x, head, exit))
    }

    fn type_loop(&mut self, ty: &Type) -> Low<(Operand, Label, Label)> {
        let Some(layout) = self.of_type(ty) else { return unsupported("an infinite type") };
        match &layout {
            Layout::Code(c) => {
                let (lo, hi) = (self.integer(0)?, self.integer(c.card() as i64 - 1)?);
                let (x, head, exit) = self.integer_loop(&lo, &hi)?;
                Ok((Operand { reg: x.reg, layout: layout.clone() }, head, exit))
            }
            Layout::Bits(c) => {
                let full = self.full(c)?;
                self.subset_loop(&full)
            }
            _ => match Carrier::of_type(ty, &|s| self.w.machine.set(s).elems.len()) {
                Some(c) => {
                    let full = self.full(&c)?;
                    self.element_loop(&full)
                }
                None => unsupported("a type that is not listed"),
            },
        }
    }

    /// Starts a loop over the elements of a set of pairs that agree with a pattern.
    fn open_match(
        &mut self,
        pattern: &Expr,
        set: &Expr,
        binds: &[VarId],
        env: &Env,
    ) -> Low<(Env, Label, Label)> {
        // `p = E` as the only element of `{E}`.
        if let ExprKind::SetExt(es) = &set.kind
            && let [only] = &es[..]
        {
            let x = self.expr(only, env, None)?;
            let (head, exit) = (self.label(), self.label());
            let (once, done) = (self.alloc(1)?, self.label());
            self.emit(Op::Const { d: once, v: 0 });
            self.emit(Op::Jump { l: done });
            self.place(head);
            self.emit(Op::Jump { l: exit });
            self.place(done);
            let inner = self.destructure(pattern, &x, binds, env, head)?;
            return Ok((inner, head, exit));
        }
        let s = self.expr(set, env, None)?;
        if let (ExprKind::Pair(a, b), true) = (&pattern.kind, s.array().is_some() || s.table().is_some())
            && let Some(rows) = self.rows_for_match(&s, a, binds)?
        {
            let c = rows.carrier()?.clone();
            if Reads::of_expr(a, &|v| binds.contains(&v)).is_none() {
                // The one value of a known argument.
                let x = self.expr(a, env, None)?;
                let (head, exit, start) = (self.label(), self.label(), self.label());
                self.emit(Op::Jump { l: start });
                self.place(head);
                self.emit(Op::Jump { l: exit });
                self.place(start);
                let r = self.encode(&x, &c, exit)?;
                let y = self.row_value(&s, r, exit)?;
                let inner = self.destructure(b, &y, binds, env, head)?;
                return Ok((inner, head, exit));
            }
            self.need_pattern(pattern, binds, env)?;
            let cursor = self.alloc(1)?;
            let (head, exit) = (self.label(), self.label());
            self.emit(Op::Const { d: cursor, v: -1 });
            self.place(head);
            self.emit(Op::Next { d: cursor, a: rows.reg, n: rows.words(), l: exit });
            let y = self.row_value(&s, cursor, exit)?;
            let x = self.decode(cursor, &c)?;
            let inner = self.destructure(a, &x, binds, env, head)?;
            let inner = self.destructure(b, &y, binds, &inner, head)?;
            return Ok((inner, head, exit));
        }
        if s.layout == Layout::Pool {
            self.need_pattern(pattern, binds, env)?;
            let (x, head, exit) = self.pooled_loop(set, &s, &pattern.ty)?;
            let inner = self.destructure(pattern, &x, binds, env, head)?;
            return Ok((inner, head, exit));
        }
        let s = self.as_bits(s)?;
        s.carrier()?;
        if let ExprKind::Pair(a, b) = &pattern.kind {
            let (rc, cc) = s.matrix()?;
            let (rc, cc) = (rc.clone(), cc.clone());
            let (rows, cols) = (rc.card() as u16, cc.card() as u16);
            let known = |e: &Expr| Reads::of_expr(e, &|v| binds.contains(&v)).is_none();
            if known(a) {
                // One row of a known relation.
                let x = self.expr(a, env, None)?;
                let exit = self.label();
                let r = self.encode(&x, &rc, exit)?;
                let row = self.fresh(Layout::Bits(cc))?;
                self.emit(Op::Row { d: row.reg, m: s.reg, r, rows, cols });
                let (y, head, end) = self.element_loop(&row)?;
                let inner = self.destructure(b, &y, binds, env, head)?;
                self.same_place(exit, end);
                return Ok((inner, head, end));
            }
            if known(b) {
                // One column.
                let y = self.expr(b, env, None)?;
                let exit = self.label();
                let c = self.encode(&y, &cc, exit)?;
                let all = self.full(&rc)?;
                let cursor = self.alloc(1)?;
                let head = self.label();
                self.emit(Op::Const { d: cursor, v: -1 });
                self.place(head);
                self.emit(Op::Next { d: cursor, a: all.reg, n: all.words(), l: exit });
                let i = self.alloc(1)?;
                self.emit(Op::PairCode { d: i, a: cursor, b: c, k: cols });
                self.emit(Op::JumpNoBit { a: s.reg, i, n: s.words(), l: head });
                let x = self.decode(cursor, &rc)?;
                let inner = self.destructure(a, &x, binds, env, head)?;
                return Ok((inner, head, exit));
            }
        }
        self.need_pattern(pattern, binds, env)?;
        let (x, head, exit) = self.element_loop(&s)?;
        let inner = self.destructure(pattern, &x, binds, env, head)?;
        Ok((inner, head, exit))
    }

    /// Goes where undefined expressions go if a known part of a pattern is undefined: it must have a value also where
    /// there is nothing to compare it with.
    fn need_pattern(&mut self, pattern: &Expr, binds: &[VarId], env: &Env) -> Low<()> {
        match &pattern.kind {
            ExprKind::Var(v) if binds.contains(v) => Ok(()),
            ExprKind::Pair(a, b) => {
                self.need_pattern(a, binds, env)?;
                self.need_pattern(b, binds, env)
            }
            _ => self.need(&[pattern], env),
        }
    }

    /// The rows of a function to go through: none are needed, only their carrier, when the argument is known.
    fn rows_for_match(&mut self, s: &Operand, a: &Expr, binds: &[VarId]) -> Low<Option<Operand>> {
        let known = Reads::of_expr(a, &|v| binds.contains(&v)).is_none();
        match s.array() {
            Some(array) if known => {
                Ok(Some(Operand { reg: s.reg, layout: Layout::Bits(array.rows.clone()) }))
            }
            _ => self.rows_of(s),
        }
    }

    /// The value of a row of a table or an array.
    fn row_value(&mut self, s: &Operand, r: Reg, none: Label) -> Low<Operand> {
        if s.array().is_some() { self.array_get(s, r, none) } else { self.table_get(s, r, none) }
    }

    /// Makes `a` a second name of the label `b`, which is placed later.
    fn same_place(&mut self, a: Label, b: Label) {
        for op in &mut self.code.ops {
            if op.touches().label == Some(a) {
                op.set_label(b);
            }
        }
    }

    /// Binds the variables of a pattern to the parts of `x`; parts that are known already must agree.
    fn destructure(
        &mut self,
        pattern: &Expr,
        x: &Operand,
        binds: &[VarId],
        env: &Env,
        next: Label,
    ) -> Low<Env> {
        match &pattern.kind {
            ExprKind::Var(v) if binds.contains(v) && !env.now.contains_key(v) => Ok(env.with(*v, x.clone())),
            ExprKind::Pair(a, b) if x.halves().is_some() => {
                let Some((p, q)) = x.halves() else { return unsupported("a pooled pair") };
                let env = self.destructure(a, &p, binds, env, next)?;
                self.destructure(b, &q, binds, &env, next)
            }
            _ => {
                let y = self.expr(pattern, env, None)?;
                self.equal(x, &y, next, false)?;
                Ok(env.clone())
            }
        }
    }

    /// Whether a predicate can be undefined.
    pub(super) fn may_be_undefined(p: &Pred) -> bool {
        !matches!(p.kind, PredKind::True | PredKind::False) && Uses::of_pred(p).partial
    }
}
