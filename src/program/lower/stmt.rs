//! Substitutions: every way through becomes a path that ends in what comes after it.
//!
//! In: a substitution, where variables stand, and a continuation that emits what follows one outcome.
//! Out: code that falls out at its end when all outcomes were tried. Writes go to fresh registers, so
//! nothing has to be undone between outcomes, and `||` reads the old values without copying.

use super::*;
use crate::plan::{self, Source};
use crate::uses::Uses;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{PredKind, RelOp, Step, Stmt, StmtKind, Target, VarKind};

/// Where variables stand that were written on the way.
pub(super) type Writes = BTreeMap<VarId, Operand>;
/// Emits what follows one outcome.
pub(super) type After<'k, 'w> = dyn FnMut(&mut Lower<'w>, &Writes) -> Low<()> + 'k;

impl<'w> Lower<'w> {
    /// `tail`: the continuation is short, so that several copies of it are cheaper than a call.
    pub(super) fn stmt(&mut self, s: &Stmt, env: &Env, tail: bool, k: &mut After<'_, 'w>) -> Low<()> {
        let misfit = self.misfit;
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) => k(self, &Writes::new()),
            StmtKind::Assign(pairs) => {
                let mut writes = Writes::new();
                for (target, e) in pairs {
                    let value = updated(target, e, self.w.machine);
                    let want = self.variable_layout(target.var, env);
                    let x = self.expr(&value, env, want.as_ref())?;
                    if writes.insert(target.var, x).is_some() {
                        return unsupported("a variable assigned twice");
                    }
                }
                k(self, &writes)
            }
            StmtKind::BecomesIn(vars, set) => {
                let [v] = &vars[..] else { return unsupported("several variables from one set") };
                let ty = self.w.machine.var(*v).ty.clone();
                let want = self.variable_layout(*v, env);
                let pooled = self.pooled.len();
                let (x, head, exit) = match self.awkward(set) {
                    Some(values) => self.listed_loop(&values, &ty, want.as_ref())?,
                    None => self.open_loop(&Source::Member(set.clone()), &ty, env)?,
                };
                // Nothing is known of its registers once they are used again.
                self.pooled.truncate(pooled);
                let x = match want {
                    Some(l) => self.convert(x, &l)?,
                    None => x,
                };
                k(self, &Writes::from([(*v, x)]))?;
                self.emit(Op::Jump { l: head });
                self.place(exit);
                Ok(())
            }
            StmtKind::BecomesSuch(vars, p) => {
                let mut inner = env.clone();
                for v in vars {
                    if let Some(x) = inner.now.remove(v) {
                        inner.old.insert(*v, x);
                    }
                }
                let layouts: Vec<Option<Layout>> =
                    vars.iter().map(|v| self.variable_layout(*v, env)).collect();
                self.search(vars, plan::conjuncts(p), &inner, &mut |s, env, _| {
                    let mut writes = Writes::new();
                    for (v, layout) in vars.iter().zip(&layouts) {
                        let x = env.now[v].clone();
                        let x = match layout {
                            Some(l) => s.convert(x, l)?,
                            None => x,
                        };
                        writes.insert(*v, x);
                    }
                    k(s, &writes)
                })
            }
            // The interpreter reports what does not hold.
            StmtKind::Pre(p, s) | StmtKind::Assert(_, p, s) | StmtKind::Witness(p, s) => {
                self.jump_unless(p, env, misfit)?;
                self.stmt(s, env, tail, k)
            }
            StmtKind::Choice(ss) => {
                self.branches(&ss.iter().collect::<Vec<_>>(), env, tail, k, &mut |lower, k| {
                    for s in ss {
                        lower.stmt(s, env, tail, k)?;
                    }
                    Ok(())
                })
            }
            StmtKind::If(cases, other) => {
                let mut all: Vec<&Stmt> = cases.iter().map(|(_, s)| s).collect();
                all.extend(other.as_deref());
                self.branches(&all, env, tail, k, &mut |lower, k| {
                    let end = lower.label();
                    for (p, s) in cases {
                        let next = lower.label();
                        lower.jump_unless(p, env, next)?;
                        lower.stmt(s, env, tail, k)?;
                        if !fault("lowering: IF goes on into its ELSE") {
                            lower.emit(Op::Jump { l: end });
                        }
                        lower.place(next);
                    }
                    match other {
                        Some(s) => lower.stmt(s, env, tail, k)?,
                        None => k(lower, &Writes::new())?,
                    }
                    lower.place(end);
                    Ok(())
                })
            }
            StmtKind::Select(cases, other) => {
                let mut all: Vec<&Stmt> = cases.iter().map(|(_, s)| s).collect();
                all.extend(other.as_deref());
                self.branches(&all, env, tail, k, &mut |lower, k| {
                    let taken = lower.alloc(1)?;
                    lower.emit(Op::Const { d: taken, v: 0 });
                    for (p, s) in cases {
                        let next = lower.label();
                        lower.jump_unless(p, env, next)?;
                        lower.emit(Op::Const { d: taken, v: 1 });
                        lower.stmt(s, env, tail, k)?;
                        lower.place(next);
                    }
                    if let Some(s) = other {
                        let end = lower.label();
                        lower.emit(Op::JumpNeImm { a: taken, i: 0, l: end });
                        lower.stmt(s, env, tail, k)?;
                        lower.place(end);
                    }
                    Ok(())
                })
            }
            StmtKind::Case(e, cases, other) => {
                let x = self.expr(e, env, None)?;
                let mut all: Vec<&Stmt> = cases.iter().map(|(_, s)| s).collect();
                all.extend(other.as_deref());
                self.branches(&all, env, tail, k, &mut |lower, k| {
                    let end = lower.label();
                    for (labels, s) in cases {
                        let (here, next) = (lower.label(), lower.label());
                        for l in labels {
                            let y = lower.expr(l, env, None)?;
                            lower.equal(&x, &y, here, true)?;
                        }
                        lower.emit(Op::Jump { l: next });
                        lower.place(here);
                        lower.stmt(s, env, tail, k)?;
                        lower.emit(Op::Jump { l: end });
                        lower.place(next);
                    }
                    match other {
                        Some(s) => lower.stmt(s, env, tail, k)?,
                        None => k(lower, &Writes::new())?,
                    }
                    lower.place(end);
                    Ok(())
                })
            }
            StmtKind::Any(vars, p, s) => {
                self.search(vars, plan::conjuncts(p), env, &mut |lower, env, _| lower.stmt(s, env, tail, k))
            }
            StmtKind::Let(bindings, s) => {
                let mut env = env.clone();
                for (v, e) in bindings {
                    let x = self.expr(e, &env, None)?;
                    env.now.insert(*v, x);
                }
                self.stmt(s, &env, tail, k)
            }
            StmtKind::Var(vars, s) => {
                let mut env = env.clone();
                for v in vars {
                    env.now.remove(v);
                }
                self.stmt(s, &env, tail, k)
            }
            StmtKind::Seq(ss) => self.sequence(ss, env, &Writes::new(), tail, k),
            StmtKind::Par(ss) => {
                // All sides are executed, even if one has no outcome: what goes wrong on a side must
                // be noticed although an earlier one leaves nothing to combine it with.
                for (i, s) in ss.iter().enumerate() {
                    let cut = ss[..i].iter().any(|t| may_be_infeasible(t, self.w.machine));
                    if cut && may_fail(s, env, self.w.machine) {
                        self.stmt(s, env, true, &mut |_, _| Ok(()))?;
                    }
                }
                self.parallel(ss, env, &Writes::new(), tail, k)
            }
            StmtKind::Call { op, args, results } => {
                if results.iter().any(|t| !t.path.is_empty()) {
                    return unsupported("a result into a part of a variable");
                }
                let callee = self.w.machine.op(*op);
                let mut inner = env.clone();
                for (p, a) in callee.params.iter().zip(args) {
                    let want = self.of_type(&self.w.machine.var(*p).ty);
                    let x = self.expr(a, env, want.as_ref())?;
                    inner.now.insert(*p, x);
                }
                for r in &callee.results {
                    inner.now.remove(r);
                }
                self.stmt(&callee.body, &inner, tail, &mut |lower, writes| {
                    let mut out = writes.clone();
                    for (r, t) in callee.results.iter().zip(results) {
                        let Some(x) = out.remove(r) else { return unsupported("a result without a value") };
                        let x = match lower.variable_layout(t.var, env) {
                            Some(l) => lower.convert(x, &l)?,
                            None => x,
                        };
                        out.insert(t.var, x);
                    }
                    k(lower, &out)
                })
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.repetition(cond, body, invariant, variant, env, k)
            }
        }
    }

    /// `WHILE`: what the body writes stands in registers of its own from round to round. The body must
    /// have one outcome at most; what the invariant or the variant does not allow is told by the interpreter.
    fn repetition(
        &mut self,
        cond: &Pred,
        body: &Stmt,
        invariant: &Pred,
        variant: &Expr,
        env: &Env,
        k: &mut After<'_, 'w>,
    ) -> Low<()> {
        if !is_deterministic(body, self.w.machine) {
            return unsupported("a loop with a choice in it");
        }
        let misfit = self.misfit;
        let mut carried = Writes::new();
        for v in Uses::of_stmt(body, self.w.machine).writes {
            // A local that has no value yet must get one in each round before it is read.
            let Some(x) = env.now.get(&v) else { continue };
            let layout = self.declared.get(&v).cloned().or_else(|| self.of_type(&self.w.machine.var(v).ty));
            // The values of all rounds would stay in the pool for ever.
            let Some(layout) = layout.filter(|l| !l.has_pool()) else {
                return unsupported("a loop that writes pooled values");
            };
            let x = self.convert(x.clone(), &layout)?;
            carried.insert(v, self.duplicate(&x)?);
        }
        let mut inner = env.clone();
        for v in &self.w.machine.variables {
            if let Some(x) = env.now.get(v) {
                inner.old.insert(*v, x.clone());
            }
        }
        inner.now.extend(carried.iter().map(|(v, x)| (*v, x.clone())));
        let (last, done) = (self.alloc(1)?, self.alloc(1)?);
        let (head, exit, end) = (self.label(), self.label(), self.label());
        self.emit(Op::Const { d: last, v: i64::MAX });
        self.place(head);
        self.jump_unless(invariant, &inner, misfit)?;
        self.jump_unless(cond, &inner, exit)?;
        let measure = self.int(variant, &inner)?;
        self.emit(Op::JumpLtImm { a: measure.reg, i: 0, l: misfit });
        self.emit(Op::JumpLe { a: last, b: measure.reg, l: misfit });
        self.emit(Op::Copy { d: last, a: measure.reg, n: 1 });
        self.emit(Op::Const { d: done, v: 0 });
        self.stmt(body, &inner, true, &mut |lower, writes| {
            // All new values are computed before the first old one is overwritten.
            let mut new = Vec::new();
            for (v, to) in &carried {
                let Some(x) = writes.get(v) else { continue };
                let mut x = lower.convert(x.clone(), &to.layout)?;
                if carried.values().any(|c| (c.reg..c.reg + c.words()).contains(&x.reg)) {
                    x = lower.duplicate(&x)?;
                }
                new.push((x, to.reg));
            }
            new.iter().for_each(|(x, to)| lower.copy(x, *to));
            lower.emit(Op::Const { d: done, v: 1 });
            Ok(())
        })?;
        self.emit(Op::JumpEqImm { a: done, i: 0, l: end });
        self.emit(Op::Again { l: head });
        self.place(exit);
        k(self, &carried)?;
        self.place(end);
        Ok(())
    }

    /// The layout that the values of a variable are brought into when it is written.
    fn variable_layout(&self, v: VarId, env: &Env) -> Option<Layout> {
        self.declared
            .get(&v)
            .cloned()
            .or_else(|| self.of_type(&self.w.machine.var(v).ty))
            .or_else(|| env.now.get(&v).map(|x| x.layout.clone()))
    }

    fn sequence(
        &mut self,
        ss: &[Stmt],
        env: &Env,
        before: &Writes,
        tail: bool,
        k: &mut After<'_, 'w>,
    ) -> Low<()> {
        let [first, rest @ ..] = ss else { return k(self, before) };
        self.stmt(first, env, tail && rest.is_empty(), &mut |lower, writes| {
            let mut env = env.clone();
            let mut all = before.clone();
            for (v, x) in writes {
                env.now.insert(*v, x.clone());
                all.insert(*v, x.clone());
            }
            lower.sequence(rest, &env, &all, tail, k)
        })
    }

    fn parallel(
        &mut self,
        ss: &[Stmt],
        env: &Env,
        before: &Writes,
        tail: bool,
        k: &mut After<'_, 'w>,
    ) -> Low<()> {
        let [first, rest @ ..] = ss else { return k(self, before) };
        self.stmt(first, env, tail && rest.is_empty(), &mut |lower, writes| {
            let mut all = before.clone();
            for (v, x) in writes {
                if all.insert(*v, x.clone()).is_some() {
                    return unsupported("a variable assigned twice");
                }
            }
            lower.parallel(rest, env, &all, tail, k)
        })
    }

    /// Emits several alternatives that share what follows: as copies when it is short, else as a
    /// subroutine that finds the written variables in fixed registers.
    fn branches(
        &mut self,
        all: &[&Stmt],
        env: &Env,
        tail: bool,
        k: &mut After<'_, 'w>,
        emit: &mut dyn FnMut(&mut Self, &mut After<'_, 'w>) -> Low<()>,
    ) -> Low<()> {
        if tail {
            return emit(self, k);
        }
        let mut merged = Writes::new();
        for v in all.iter().flat_map(|s| Uses::of_stmt(s, self.w.machine).writes) {
            if merged.contains_key(&v) {
                continue;
            }
            let Some(layout) = self.variable_layout(v, env) else {
                return unsupported("a variable without a layout after a choice");
            };
            let x = self.fresh(layout)?;
            merged.insert(v, x);
        }
        let (sub, end) = (self.label(), self.label());
        emit(self, &mut |lower, writes| {
            for (v, to) in &merged {
                let Some(x) = writes.get(v).or_else(|| env.now.get(v)) else {
                    return unsupported("a variable without a value after a choice");
                };
                let x = lower.convert(x.clone(), &to.layout)?;
                lower.copy(&x, to.reg);
            }
            lower.emit(Op::Call { l: sub });
            Ok(())
        })?;
        self.emit(Op::Jump { l: end });
        self.place(sub);
        k(self, &merged)?;
        self.emit(Op::Ret);
        self.place(end);
        Ok(())
    }
}

/// Whether a substitution has one outcome at most, whatever it meets.
fn is_deterministic(s: &Stmt, m: &Machine) -> bool {
    match &s.kind {
        StmtKind::Skip | StmtKind::Assign(_) | StmtKind::External(..) => true,
        StmtKind::BecomesIn(..) | StmtKind::BecomesSuch(..) | StmtKind::Choice(_) | StmtKind::Any(..) => {
            false
        }
        StmtKind::Select(cases, other) => {
            cases.len() == 1 && other.is_none() && cases.iter().all(|(_, s)| is_deterministic(s, m))
        }
        StmtKind::Pre(_, s)
        | StmtKind::Assert(_, _, s)
        | StmtKind::Witness(_, s)
        | StmtKind::Let(_, s)
        | StmtKind::Var(_, s) => is_deterministic(s, m),
        StmtKind::If(cases, other) => {
            cases.iter().all(|(_, s)| is_deterministic(s, m))
                && other.as_ref().is_none_or(|s| is_deterministic(s, m))
        }
        StmtKind::Case(_, cases, other) => {
            cases.iter().all(|(_, s)| is_deterministic(s, m))
                && other.as_ref().is_none_or(|s| is_deterministic(s, m))
        }
        StmtKind::While { body, .. } => is_deterministic(body, m),
        StmtKind::Seq(ss) | StmtKind::Par(ss) => ss.iter().all(|s| is_deterministic(s, m)),
        StmtKind::Call { op, .. } => is_deterministic(&m.op(*op).body, m),
    }
}

/// Whether a substitution may have no outcome.
fn may_be_infeasible(s: &Stmt, m: &Machine) -> bool {
    match &s.kind {
        StmtKind::Skip | StmtKind::Assign(_) | StmtKind::External(..) => false,
        StmtKind::BecomesIn(..) | StmtKind::BecomesSuch(..) | StmtKind::Any(..) => true,
        StmtKind::Select(cases, other) => {
            other.is_none()
                || cases.iter().any(|(_, s)| may_be_infeasible(s, m))
                || other.as_ref().is_some_and(|s| may_be_infeasible(s, m))
        }
        StmtKind::Pre(_, s) | StmtKind::Assert(_, _, s) | StmtKind::Witness(_, s) => may_be_infeasible(s, m),
        StmtKind::Let(_, s) | StmtKind::Var(_, s) => may_be_infeasible(s, m),
        StmtKind::If(cases, other) => {
            cases.iter().any(|(_, s)| may_be_infeasible(s, m))
                || other.as_ref().is_some_and(|s| may_be_infeasible(s, m))
        }
        StmtKind::Case(_, cases, other) => {
            cases.iter().any(|(_, s)| may_be_infeasible(s, m))
                || other.as_ref().is_some_and(|s| may_be_infeasible(s, m))
        }
        StmtKind::Choice(ss) | StmtKind::Seq(ss) | StmtKind::Par(ss) => {
            ss.iter().any(|s| may_be_infeasible(s, m))
        }
        StmtKind::While { body, .. } => may_be_infeasible(body, m),
        StmtKind::Call { op, .. } => may_be_infeasible(&m.op(*op).body, m),
    }
}

/// Whether executing a substitution may run into an error. A local or a result that has no value yet where it is read is one.
fn may_fail(s: &Stmt, env: &Env, m: &Machine) -> bool {
    fn obliges(s: &Stmt, m: &Machine) -> bool {
        match &s.kind {
            StmtKind::Pre(..) | StmtKind::Assert(..) | StmtKind::Witness(..) | StmtKind::While { .. } => true,
            StmtKind::Skip
            | StmtKind::Assign(_)
            | StmtKind::BecomesIn(..)
            | StmtKind::BecomesSuch(..)
            | StmtKind::External(..) => false,
            StmtKind::Var(..) => true,
            StmtKind::Any(_, _, s) | StmtKind::Let(_, s) => obliges(s, m),
            StmtKind::If(cases, other) | StmtKind::Select(cases, other) => {
                cases.iter().any(|(_, s)| obliges(s, m)) || other.as_ref().is_some_and(|s| obliges(s, m))
            }
            StmtKind::Case(_, cases, other) => {
                cases.iter().any(|(_, s)| obliges(s, m)) || other.as_ref().is_some_and(|s| obliges(s, m))
            }
            StmtKind::Choice(ss) | StmtKind::Seq(ss) | StmtKind::Par(ss) => ss.iter().any(|s| obliges(s, m)),
            StmtKind::Call { op, results, .. } => !results.is_empty() || obliges(&m.op(*op).body, m),
        }
    }
    let may_lack_a_value =
        |v: &VarId| matches!(m.var(*v).kind, VarKind::Local | VarKind::Result) && !env.now.contains_key(v);
    let uses = Uses::of_stmt(s, m);
    uses.partial || uses.reads.iter().any(may_lack_a_value) || obliges(s, m)
}

/// The new value of the whole variable when a part of it is assigned.
pub fn updated(target: &Target, value: &Expr, machine: &Machine) -> Expr {
    fn at(base: Expr, path: &[Step], value: &Expr) -> Expr {
        let span = value.span;
        match path {
            [] => value.clone(),
            [Step::Index(i), rest @ ..] => {
                let (Type::Pow(pair), ty) = (&base.ty, base.ty.clone()) else {
                    unreachable!("an indexed target is a function")
                };
                let Type::Prod(_, range) = &**pair else { unreachable!("a function is a set of pairs") };
                let old = Expr {
                    kind: ExprKind::Apply(Box::new(base.clone()), Box::new(i.clone())),
                    ty: (**range).clone(),
                    span,
                };
                let new = at(old, rest, value);
                let maplet = Expr {
                    ty: (**pair).clone(),
                    kind: ExprKind::Pair(Box::new(i.clone()), Box::new(new)),
                    span,
                };
                let single = Expr { kind: ExprKind::SetExt(vec![maplet]), ty: ty.clone(), span };
                Expr { kind: ExprKind::Binary(BinOp::Override, Box::new(base), Box::new(single)), ty, span }
            }
            [Step::Field(k), rest @ ..] => {
                let Type::Struct(fields) = base.ty.clone() else { unreachable!("a record has fields") };
                let is_read = fields.len() > 1 || rest.iter().any(|step| matches!(step, Step::Index(_)));
                let parts = fields
                    .iter()
                    .enumerate()
                    .map(|(i, (_, t))| {
                        let old =
                            Expr { kind: ExprKind::Field(Box::new(base.clone()), i), ty: t.clone(), span };
                        if i == *k { at(old, rest, value) } else { old }
                    })
                    .collect();
                let new = Expr { kind: ExprKind::Rec(parts), ty: base.ty.clone(), span };
                if is_read { new } else { where_defined(base, new) }
            }
        }
    }
    /// `new` where `old` has a value, and no value elsewhere.
    fn where_defined(old: Expr, new: Expr) -> Expr {
        let (ty, span) = (new.ty.clone(), new.span);
        let same = Pred { kind: PredKind::Rel(RelOp::Equal, old.clone(), old.clone()), span };
        Expr { kind: ExprKind::If(Box::new(same), Box::new(new), Box::new(old)), ty, span }
    }
    let base =
        Expr { kind: ExprKind::Var(target.var), ty: machine.var(target.var).ty.clone(), span: target.span };
    at(base, &target.path, value)
}
