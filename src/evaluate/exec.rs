//! Substitutions: all outcomes from an environment.
//!
//! In: a substitution and the environment of the state before. Out: the sets of writes it may end
//! with, and the errors some of its branches run into. A branch that is infeasible leaves nothing.

use crate::env::Env;
use crate::error::{Error, ErrorKind, Flow, Res};
use crate::eval::interval;
use crate::inplace::Loop;
use crate::operators::override_rows;
use crate::size::Card;
use crate::solve::plan::Plan;
use crate::{Interpreter, apply};
use bombus_base::text::one_line;
use bombus_base::{Int, Span};
use bombus_lang::typed::{Expr, Machine, Obligation, OpId, Pred, Step, Stmt, StmtKind, Target, Type, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Values that variables get, sorted by variable.
pub type Writes = Vec<(VarId, Value)>;

#[derive(Default)]
pub struct Outcomes {
    pub writes: Vec<Writes>,
    pub errors: Vec<Error>,
}

impl Outcomes {
    /// Notes an error of a branch; only a stop ends the whole computation.
    fn fail(&mut self, e: Error) -> Res<()> {
        if e.is_stop() {
            return Err(e);
        }
        self.errors.push(e);
        Ok(())
    }
}

impl Interpreter<'_> {
    pub fn exec(&self, env: &mut Env, s: &Stmt, out: &mut Outcomes) -> Res<()> {
        self.tick()?;
        match self.exec_kind(env, s, out) {
            Ok(()) => Ok(()),
            Err(e) => out.fail(e.at(s.span)),
        }
    }

    fn exec_kind(&self, env: &mut Env, s: &Stmt, out: &mut Outcomes) -> Res<()> {
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) => out.writes.push(Writes::new()),
            StmtKind::Assign(pairs) => {
                let mut values = Vec::with_capacity(pairs.len());
                for (target, e) in pairs {
                    values.push((target, self.eval_canon(env, e)?));
                }
                let writes = self.assign(env, values)?;
                out.writes.push(writes);
            }
            StmtKind::BecomesIn(vars, set) => {
                let set = self.eval(env, set)?;
                let set = self.within_scope(env, vars, set, s.span, out)?;
                self.for_each(env, &set, &mut |env, x| {
                    let x = self.canon(env, x)?;
                    let parts = apply::components(&x, vars.len())
                        .ok_or_else(|| self.ill_typed("a tuple", &x, s.span))?;
                    out.writes.push(sorted(vars.iter().copied().zip(parts.into_iter().cloned()).collect()));
                    Ok(Flow::Go)
                })?;
            }
            StmtKind::BecomesSuch(vars, pred) => self.becomes_such(env, vars, pred, out)?,
            StmtKind::Pre(p, body) => {
                if self.holds(env, p)? {
                    self.exec(env, body, out)?;
                } else {
                    let words = self.broken_words("the precondition", p);
                    return Err(Error::new(ErrorKind::Precondition, p.span, words));
                }
            }
            StmtKind::Assert(_, p, body) | StmtKind::Witness(p, body) => {
                if self.holds(env, p)? {
                    self.exec(env, body, out)?;
                } else {
                    let kind = match &s.kind {
                        StmtKind::Assert(Obligation::Refinement, ..) => ErrorKind::Refinement,
                        StmtKind::Assert(Obligation::Variant, ..) => ErrorKind::Variant,
                        _ => ErrorKind::Assertion,
                    };
                    let words = p
                        .place()
                        .map_or_else(|| self.broken_words("the ASSERT condition", p), str::to_string);
                    return Err(Error::new(kind, p.span, words));
                }
            }
            StmtKind::Choice(branches) => {
                for b in branches {
                    self.exec(env, b, out)?;
                }
            }
            StmtKind::If(branches, other) => {
                for (p, body) in branches {
                    if self.holds(env, p)? {
                        return self.exec(env, body, out);
                    }
                }
                match other {
                    Some(body) => self.exec(env, body, out)?,
                    None => out.writes.push(Writes::new()),
                }
            }
            StmtKind::Select(branches, other) => {
                let mut chosen = false;
                for (p, body) in branches {
                    match self.holds(env, p) {
                        Ok(true) => {
                            chosen = true;
                            self.exec(env, body, out)?;
                        }
                        Ok(false) => {}
                        Err(e) => {
                            chosen = true;
                            out.fail(e)?;
                        }
                    }
                }
                if let (false, Some(body)) = (chosen, other) {
                    self.exec(env, body, out)?;
                }
            }
            StmtKind::Case(e, branches, other) => {
                let value = self.eval(env, e)?;
                for (labels, body) in branches {
                    for label in labels {
                        let label = self.eval(env, label)?;
                        if self.equal(env, &value, &label)? {
                            return self.exec(env, body, out);
                        }
                    }
                }
                match other {
                    Some(body) => self.exec(env, body, out)?,
                    None => out.writes.push(Writes::new()),
                }
            }
            StmtKind::Any(vars, p, body) => {
                self.solutions(env, vars, p, &mut |env, error| {
                    match error {
                        None => self.exec(env, body, out)?,
                        Some(e) => out.fail(e.clone())?,
                    }
                    Ok(Flow::Go)
                })?;
            }
            StmtKind::Let(bindings, body) => {
                let mut saved = Vec::with_capacity(bindings.len());
                let result = (|| {
                    for (v, e) in bindings {
                        let value = self.eval_canon(env, e)?;
                        saved.push((*v, env.replace(*v, Some(value))));
                    }
                    self.exec(env, body, out)
                })();
                env.restore(saved);
                result?;
            }
            StmtKind::Var(vars, body) => {
                let saved = env.take(vars);
                let mut inner = Outcomes::default();
                let result = self.exec(env, body, &mut inner);
                env.restore(saved);
                result?;
                out.errors.append(&mut inner.errors);
                for mut writes in inner.writes {
                    writes.retain(|(v, _)| !vars.contains(v));
                    out.writes.push(writes);
                }
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.exec_while(env, cond, body, invariant, variant, out)?;
            }
            StmtKind::Call { op, args, results } => self.call(env, *op, args, results, s.span, out)?,
            StmtKind::Seq(steps) => self.exec_seq(env, steps, &Writes::new(), out)?,
            StmtKind::Par(branches) => {
                let mut combined = vec![Writes::new()];
                for b in branches {
                    let mut inner = Outcomes::default();
                    self.exec(env, b, &mut inner)?;
                    out.errors.append(&mut inner.errors);
                    let mut next = Vec::with_capacity(combined.len() * inner.writes.len());
                    for left in &combined {
                        for right in &inner.writes {
                            self.tick()?;
                            if let Some((v, _)) = right.iter().find(|(v, _)| left.iter().any(|(w, _)| w == v))
                            {
                                let name = &self.machine.var(*v).name;
                                return Err(Error::unsupported(
                                    s.span,
                                    format!("{name} is written by both sides of a parallel substitution"),
                                ));
                            }
                            next.push(merge(left, right));
                        }
                    }
                    combined = next;
                }
                out.writes.append(&mut combined);
            }
        }
        Ok(())
    }

    /// The set that `x::S` runs through: an infinite set of integers is tried in MININT..MAXINT, as every choice
    /// that nothing bounds is, and `out` is told.
    fn within_scope(
        &self,
        env: &mut Env,
        vars: &[VarId],
        set: Value,
        span: Span,
        out: &mut Outcomes,
    ) -> Res<Value> {
        if self.machine.integers_in_scope && self.card(env, &set)? == Card::Infinite {
            let types = vars.iter().map(|v| self.type_of(*v));
            let ty = types.reduce(Type::prod).unwrap_or(Type::Any);
            if let Some(part) = self.part_in_scope(env, &set, &ty)? {
                self.windowed.set(true);
                return Ok(part);
            }
        }
        let [v] = vars else { return Ok(set) };
        if self.type_of(*v) != Type::Integer || self.card(env, &set)? != Card::Infinite {
            return Ok(set);
        }
        let Machine { minint, maxint, .. } = self.machine;
        let mut tried = Vec::new();
        self.for_each(env, &interval(minint, maxint), &mut |env, x| {
            if self.member(env, &x, &set)? {
                tried.push(x);
            }
            Ok(Flow::Go)
        })?;
        let name = &self.machine.var(*v).name;
        let mut words = self.only_scope(name);
        let kind = if tried.is_empty() {
            ErrorKind::Unbounded
        } else if self.is_represented(*v) {
            words = self.represented(name);
            ErrorKind::Represented
        } else {
            ErrorKind::Sampled(*v)
        };
        out.errors.push(Error::new(kind, span, words));
        Ok(Value::sorted_set(tried))
    }

    /// `S1;S2;…` after some writes that are in the environment already.
    fn exec_seq(&self, env: &mut Env, steps: &[Stmt], before: &Writes, out: &mut Outcomes) -> Res<()> {
        let Some((first, rest)) = steps.split_first() else {
            out.writes.push(before.clone());
            return Ok(());
        };
        let mut inner = Outcomes::default();
        self.exec(env, first, &mut inner)?;
        out.errors.append(&mut inner.errors);
        inner.writes.sort();
        inner.writes.dedup();
        for writes in inner.writes {
            let saved = enter(env, &writes);
            let result = self.exec_seq(env, rest, &merge(before, &writes), out);
            env.restore(saved);
            result?;
        }
        Ok(())
    }

    fn becomes_such(&self, env: &mut Env, vars: &[VarId], pred: &Pred, out: &mut Outcomes) -> Res<()> {
        let plan = self.plan_at(vars, pred);
        let old: Vec<_> = vars.iter().map(|v| (*v, env.replace_old(*v, env.get(*v).cloned()))).collect();
        let result = self.run_plan(env, &plan, &mut |env, error| {
            match error {
                None => {
                    let mut writes = Writes::with_capacity(vars.len());
                    for v in vars {
                        let value = env.get(*v).cloned().unwrap_or_default();
                        writes.push((*v, self.canon(env, value)?));
                    }
                    out.writes.push(sorted(writes));
                }
                Some(e) => out.fail(e.clone())?,
            }
            Ok(Flow::Go)
        });
        for (v, value) in old {
            env.replace_old(v, value);
        }
        result.map(|_| ())
    }

    /// The plan of `x:(P)`. The variables are the machine's own, so the predicate's place in the
    /// machine, not its first variable, names it.
    fn plan_at(&self, vars: &[VarId], pred: &Pred) -> Arc<Plan> {
        let key = std::ptr::from_ref(pred) as usize;
        if let Some(plan) = self.cache.becomes.borrow().get(&key) {
            return plan.clone();
        }
        let plan = Arc::new(Plan::new(vars, &[pred]));
        self.cache.becomes.borrow_mut().insert(key, plan.clone());
        plan
    }

    pub(crate) fn assign(&self, env: &mut Env, values: Vec<(&Target, Value)>) -> Res<Writes> {
        let mut writes = Writes::with_capacity(values.len());
        for (target, value) in values {
            let new = if target.path.is_empty() {
                value
            } else {
                // Several places inside one variable are written one after the other.
                let whole = match writes.iter().find(|(v, _)| *v == target.var) {
                    Some((_, v)) => v.clone(),
                    None => match env.get(target.var) {
                        Some(v) => v.clone(),
                        None => return Err(self.uninitialised(target.var, target.span)),
                    },
                };
                self.update(env, whole, &target.path, value, target.span)?
            };
            writes.retain(|(v, _)| *v != target.var);
            writes.push((target.var, new));
        }
        Ok(sorted(writes))
    }

    /// `whole` with the place at the end of `path` replaced.
    fn update(&self, env: &mut Env, whole: Value, path: &[Step], value: Value, span: Span) -> Res<Value> {
        let Some((step, rest)) = path.split_first() else { return Ok(value) };
        match step {
            Step::Index(e) => {
                let x = self.eval_canon(env, e)?;
                let new = if rest.is_empty() {
                    value
                } else {
                    let inner = self.apply(env, &whole, &x, span)?;
                    self.update(env, inner, rest, value, span)?
                };
                let rows = self.need_list(env, &whole, span)?;
                Ok(override_rows(&rows, &[Value::pair(x, new)]))
            }
            Step::Field(i) => match whole {
                Value::Rec(fields) => {
                    let inner = self.update(env, fields[*i].clone(), rest, value, span)?;
                    let mut fields = fields.to_vec();
                    fields[*i] = inner;
                    Ok(Value::Rec(fields.into()))
                }
                other => Err(self.ill_typed("a record", &other, span)),
            },
        }
    }

    /// What is told of a condition that has to hold and does not: its text, where someone wrote one.
    pub fn broken_words(&self, what: &str, p: &Pred) -> String {
        const QUOTED: usize = 80;
        let text = one_line(self.machine.sources.slice(p.span));
        match text.char_indices().nth(QUOTED) {
            _ if text.is_empty() => format!("{what} is false"),
            Some((at, _)) => format!("{what} is false: {}…", &text[..at]),
            None => format!("{what} is false: {text}"),
        }
    }

    fn exec_while(
        &self,
        env: &mut Env,
        cond: &Pred,
        body: &Stmt,
        invariant: &Pred,
        variant: &Expr,
        out: &mut Outcomes,
    ) -> Res<()> {
        if let Some(writes) = self.loop_in_place(env, &Loop { cond, body, invariant, variant })? {
            out.writes.push(writes);
            return Ok(());
        }
        let failed = |why: &str, span: Span| Error::new(ErrorKind::Assertion, span, why);
        let old: Vec<_> =
            self.machine.variables.iter().map(|v| (*v, env.replace_old(*v, env.get(*v).cloned()))).collect();
        let mut todo: Vec<(Writes, Option<Int>)> = vec![(Writes::new(), None)];
        let mut result = Ok(());
        while let Some((writes, last)) = todo.pop() {
            let saved = enter(env, &writes);
            let step = (|| {
                if !self.holds(env, invariant)? {
                    let words = self.broken_words("the loop invariant", invariant);
                    return Err(failed(&words, invariant.span));
                }
                if !self.holds(env, cond)? {
                    out.writes.push(writes.clone());
                    return Ok(());
                }
                let measure = self.integer(env, variant)?;
                if measure.is_negative() {
                    return Err(failed("the loop variant is negative", variant.span));
                }
                if last.as_ref().is_some_and(|l| measure >= *l) {
                    return Err(failed("the loop variant does not decrease", variant.span));
                }
                let mut inner = Outcomes::default();
                self.exec(env, body, &mut inner)?;
                out.errors.append(&mut inner.errors);
                inner.writes.sort();
                inner.writes.dedup();
                for next in inner.writes {
                    todo.push((merge(&writes, &next), Some(measure.clone())));
                }
                Ok(())
            })();
            env.restore(saved);
            if let Err(e) = step {
                if e.is_stop() {
                    result = Err(e);
                    break;
                }
                out.errors.push(e);
            }
        }
        for (v, value) in old {
            env.replace_old(v, value);
        }
        result
    }

    fn call(
        &self,
        env: &mut Env,
        op: OpId,
        args: &[Expr],
        results: &[Target],
        span: Span,
        out: &mut Outcomes,
    ) -> Res<()> {
        let op = self.machine.op(op);
        let values = self.eval_all(env, args)?;
        let mut saved = env.take(&op.params);
        saved.extend(env.take(&op.results));
        for (v, x) in op.params.iter().zip(values) {
            env.bind(*v, x);
        }
        let mut inner = Outcomes::default();
        let run = self.exec(env, &op.body, &mut inner);
        env.restore(saved);
        run?;
        out.errors.append(&mut inner.errors);
        for mut writes in inner.writes {
            let mut copied = Vec::with_capacity(results.len());
            let mut missing = None;
            for (r, target) in op.results.iter().zip(results) {
                match writes.iter().position(|(v, _)| v == r) {
                    Some(i) => copied.push((target, writes.remove(i).1)),
                    None => missing = Some(*r),
                }
            }
            if let Some(r) = missing {
                out.fail(self.uninitialised(r, span))?;
                continue;
            }
            // A result that nobody asked for, and parameters used as locals, stay inside.
            writes.retain(|(v, _)| !op.results.contains(v) && !op.params.contains(v));
            let saved = enter(env, &writes);
            let copied = self.assign(env, copied);
            env.restore(saved);
            out.writes.push(merge(&writes, &copied?));
        }
        Ok(())
    }
}

/// Puts writes into the environment; returns what to restore.
fn enter(env: &mut Env, writes: &Writes) -> Vec<(VarId, Option<Value>)> {
    writes.iter().map(|(v, x)| (*v, env.replace(*v, Some(x.clone())))).collect()
}

pub(crate) fn sorted(mut writes: Writes) -> Writes {
    writes.sort_by_key(|(v, _)| *v);
    writes
}

/// `first` then `second`; later writes win.
pub fn merge(first: &Writes, second: &Writes) -> Writes {
    let mut out: Writes =
        first.iter().filter(|(v, _)| !second.iter().any(|(w, _)| w == v)).cloned().collect();
    out.extend(second.iter().cloned());
    sorted(out)
}
