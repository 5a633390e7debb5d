//! Giving values to variables by the binder that was chosen, and going on with the search.
//!
//! In: a `Binder`, the unknown variables, the open conjuncts. Out: calls of the search for each value.
//! Never here: which binder is the best (`binder`).

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::memo::SETUP;
use crate::operators::row;
use crate::pred::worse;
use crate::solve::binder::{Binder, is_comprehension};
use crate::solve::order::{Item, Sink, items_of};
use crate::solve::plan::Split;
use bombus_lang::typed::{ExprKind, PredKind, RelOp, VarId};
use bombus_lang::value::Value;

impl Interpreter<'_> {
    pub(crate) fn bind_by(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        mut open: Vec<Item>,
        pending: Option<Error>,
        binder: Binder,
        sink: Sink,
    ) -> Res<Flow> {
        match binder {
            Binder::Equation { at, pattern_left } => {
                let item = open.remove(at);
                self.bind_equation(env, unknown, &open, (item, pattern_left), pending, sink)
            }
            Binder::Recursive { at, pattern_left } => {
                let item = open.remove(at);
                let PredKind::Rel(_, a, b) = &item.conjunct.pred.kind else { return Ok(Flow::Go) };
                let (var, known) = if pattern_left { (a, b) } else { (b, a) };
                let value = self.eval_symbolic(env, known)?;
                self.matched(env, unknown, &open, None, pending, (var, &value), sink)
            }
            Binder::Member { at } => {
                let item = open.remove(at);
                self.bind_member(env, unknown, &open, item, pending, sink)
            }
            Binder::Found { at, found } => {
                let item = open.remove(at);
                let PredKind::Rel(_, pattern, _) = &item.conjunct.pred.kind else { return Ok(Flow::Go) };
                let Some(Value::Set(elements)) = &item.set else { return Ok(Flow::Go) };
                for i in found {
                    let x = (pattern, &elements[i as usize]);
                    if self.matched(env, unknown, &open, Some(&item), pending.clone(), x, sink)? == Flow::Stop
                    {
                        return Ok(Flow::Stop);
                    }
                }
                Ok(Flow::Go)
            }
            Binder::Rows { at } => self.bind_rows(env, unknown, &open, at, pending, sink),
            Binder::Parts { at, pattern_left } => {
                self.bind_parts(env, unknown, &open, (at, pattern_left), pending, sink)
            }
            Binder::Sequence { at, var, low, high } => {
                self.bind_sequence(env, unknown, &open, (at, var), low..=high, pending, sink)
            }
            Binder::Subset { at, var, candidates } => {
                if let Some(at) = at {
                    open.remove(at);
                }
                self.each_candidate(env, &candidates, &mut |env, x| {
                    self.bound(env, unknown, &open, pending.clone(), var, x, sink)
                })
            }
            Binder::Function { at, var } => self.bind_function(env, unknown, open, at, var, pending, sink),
            Binder::Interval { var, set } | Binder::Type { var, set } => {
                self.for_each(env, &set, &mut |env, x| {
                    self.bound(env, unknown, &open, pending.clone(), var, x, sink)
                })
            }
            Binder::Argument { pattern, set } => self.for_each(env, &set, &mut |env, x| {
                self.matched(env, unknown, &open, None, pending.clone(), (&pattern, &x), sink)
            }),
            Binder::Cases { at } => {
                let item = open.remove(at);
                self.bind_cases(env, unknown, &open, item, pending, sink)
            }
        }
    }

    /// `pattern = value`
    fn bind_equation(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        (item, pattern_left): (Item, bool),
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let PredKind::Rel(_, a, b) = &item.conjunct.pred.kind else { return Ok(Flow::Go) };
        let (pattern, known) = if pattern_left { (a, b) } else { (b, a) };
        let evaluated = if self.machine.symbolic && env.valuation == Some(SETUP) && is_comprehension(known) {
            self.eval_symbolic(env, known).and_then(|v| self.canon_constant(env, v))
        } else {
            self.eval(env, known)
        };
        let value = match evaluated {
            // A constant may be a lambda that is undefined at some points.
            Err(e) if e.is_undefined() && env.valuation == Some(SETUP) && is_comprehension(known) => {
                self.eval_symbolic(env, known)
            }
            other => other,
        };
        match value {
            Ok(value) => self.matched(env, unknown, open, Some(&item), pending, (pattern, &value), sink),
            Err(e) if e.is_stop() => Err(e),
            Err(e) => {
                let pending = Some(worse(pending, e.at(item.conjunct.pred.span)));
                self.search(env, unknown, open.to_vec(), pending, sink)
            }
        }
    }

    /// `pattern : set`
    fn bind_member(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        item: Item,
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let PredKind::Rel(_, pattern, _) = &item.conjunct.pred.kind else { return Ok(Flow::Go) };
        let Some(set) = item.set.clone() else { return Ok(Flow::Go) };
        // A pair with a known left side needs only the rows of that side.
        if let (ExprKind::Pair(a, b), Value::Set(pairs)) = (&pattern.kind, &set)
            && !self.has_unknown(unknown, a)
        {
            let x = match self.eval_canon(env, a) {
                Ok(x) => x,
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => {
                    let pending = Some(worse(pending, e.at(item.conjunct.pred.span)));
                    return self.search(env, unknown, open.to_vec(), pending, sink);
                }
            };
            for y in row(pairs, &x) {
                let flow = self.matched(env, unknown, open, Some(&item), pending.clone(), (b, y), sink)?;
                if flow == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            return Ok(Flow::Go);
        }
        self.for_each(env, &set, &mut |env, x| {
            self.matched(env, unknown, open, Some(&item), pending.clone(), (pattern, &x), sink)
        })
    }

    /// One case of a conjunct after the other.
    fn bind_cases(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        item: Item,
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let Some(Split::Cases(cases)) = item.conjunct.split() else { return Ok(Flow::Go) };
        for (i, case) in cases.iter().enumerate() {
            if i < 64 && item.failed & (1 << i) != 0 {
                continue;
            }
            let mut todo = open.to_vec();
            todo.extend(items_of(case, &item));
            let mut vars = unknown.to_vec();
            vars.extend(&case.vars);
            let saved = env.take(&case.vars);
            let flow = self.search(env, &vars, todo, pending.clone(), sink);
            env.restore(saved);
            if flow? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }

    /// `f(pattern) = E` and `f(pattern) : S`: the rows of f whose image fits.
    fn bind_rows(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        at: usize,
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let item = &open[at];
        let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { return Ok(Flow::Go) };
        let (application, other) = match self.known_application(unknown, a) {
            Some(x) => (x, b),
            None => match self.known_application(unknown, b) {
                Some(x) => (x, a),
                None => return Ok(Flow::Go),
            },
        };
        let (f, arg) = application;
        let f = self.eval(env, f)?;
        let rows = self.need_list(env, &f, a.span)?;
        let target = match &item.set {
            Some(set) => Ok(set.clone()),
            None => self.eval(env, other),
        };
        let target = match target {
            Ok(t) => t,
            Err(e) if e.is_stop() => return Err(e),
            Err(e) => {
                let rest = without(open, at);
                return self.search(env, unknown, rest, Some(worse(pending, e)), sink);
            }
        };
        if !self.covers(env, open, arg, &rows)? {
            self.loosen();
        }
        // The conjunct stays: where f is not a function the application is undefined.
        for (x, y) in rows.iter().filter_map(Value::as_pair) {
            self.tick()?;
            let fits = match op {
                RelOp::In => self.member(env, y, &target)?,
                _ => self.equal(env, y, &target)?,
            };
            if fits && self.matched(env, unknown, open, None, pending.clone(), (arg, x), sink)? == Flow::Stop
            {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }
}

fn without(open: &[Item], at: usize) -> Vec<Item> {
    open.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, x)| x.clone()).collect()
}
