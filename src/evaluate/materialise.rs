//! Elements of comprehensions that were not listed when they were made.
//!
//! In: a closure and how many elements are wanted at most. Out: the set, or the error `TooLarge`.
//! A product of known sets that is too large is told by its size, without computing an element. What was
//! listed, or found too large, is remembered: a constant that is a symbolic function is asked again and again.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::size::Card;
use bombus_base::Int;
use bombus_base::hash::HashMap;
use bombus_lang::free;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, UnOp, VarId};
use bombus_lang::value::{Closure, ClosureCode, ClosureKind, Symbolic, Value};
use std::sync::Arc;

/// Shorter lists are made again.
const SHORT: usize = 1 << 8;
/// Lists and elements that are remembered; beyond, all are forgotten together.
const LISTS: usize = 1 << 8;
const ELEMENTS: usize = 1 << 22;

/// A constant that should stay symbolic is listed up to here.
const SYMBOLIC: usize = 1 << 10;

/// Lists by the code of a closure and what it captured, named by their places in memory, which are kept
/// alive here.
#[derive(Default)]
pub(crate) struct Listed {
    lists: HashMap<(usize, usize), Entry>,
    elements: usize,
}

struct Entry {
    _kept: Closure,
    /// The elements; without them, a number of elements that is too small.
    elements: Result<Value, usize>,
}

impl Interpreter<'_> {
    /// The elements of a closure, if there are at most `limit`.
    pub(crate) fn elements_of(&self, env: &mut Env, c: &Closure, limit: usize) -> Res<Value> {
        let too_large = || Error::too_large("a comprehension is too large to be listed");
        let key = (Arc::as_ptr(&c.code) as usize, c.captured.as_ptr() as usize);
        match self.cache.listed.borrow().lists.get(&key).map(|e| &e.elements) {
            Some(Ok(set)) if set.as_set().is_some_and(|s| s.len() <= limit) => return Ok(set.clone()),
            Some(Err(more)) if limit <= *more => return Err(too_large()),
            Some(Ok(_)) => return Err(too_large()),
            _ => {}
        }
        let is_closed = c.code.free.len() == c.captured.len();
        let wide = limit <= crate::COMPREHENSION && self.closure_width(env, c)? != Card::Unknown;
        let listed = if wide || self.is_product_beyond(env, c, limit)? {
            Err(too_large())
        } else {
            let mut list = || self.found_in(env, c, limit).and_then(|found| self.set_of(env, found));
            if is_closed { list() } else { self.listed_once(key, &mut list) }
        };
        // What a closure did not capture, and values from before, belong to whoever asks.
        let own = is_closed && !reads_old(&c.code);
        if !own {
            return listed;
        }
        let elements = match &listed {
            Ok(set) if set.as_set().is_some_and(|s| s.len() >= SHORT) => Ok(set.clone()),
            Err(e) if e.kind() == crate::ErrorKind::TooLarge => Err(limit),
            _ => return listed,
        };
        let size = elements.as_ref().ok().and_then(Value::as_set).map_or(0, <[Value]>::len);
        let mut memory = self.cache.listed.borrow_mut();
        if memory.lists.len() >= LISTS || memory.elements + size > ELEMENTS {
            *memory = Listed::default();
        }
        memory.elements += size;
        memory.lists.insert(key, Entry { _kept: c.clone(), elements });
        listed
    }

    /// The form in which a constant is kept. Where the model asks for symbolic constants, only short sets are
    /// listed: a table is faster, but a long one may never be needed.
    pub(crate) fn canon_constant(&self, env: &mut Env, v: Value) -> Res<Value> {
        let Value::Symbolic(s) = &v else { return Ok(v) };
        if !self.machine.symbolic {
            return self.canon(env, v);
        }
        let short = match &**s {
            Symbolic::Closure(c) => return self.short_or(env, c, &v),
            Symbolic::Binary(BinOp::Union, a, b) => {
                let (x, y) = (self.canon_constant(env, a.clone())?, self.canon_constant(env, b.clone())?);
                return if x.is_symbolic() || y.is_symbolic() { Ok(v) } else { self.set_union(env, x, y) };
            }
            _ => matches!(self.card(env, &v)?, Card::Finite(n) if n <= Int::from(SYMBOLIC)),
        };
        if short { self.canon(env, v) } else { Ok(v) }
    }

    /// The elements of a closure if they are few, else the closure as it is.
    fn short_or(&self, env: &mut Env, c: &Closure, whole: &Value) -> Res<Value> {
        match self.elements_of(env, c, SYMBOLIC) {
            Err(e) if e.is_stop() || e.is_unknown() => Err(e),
            Err(_) => Ok(whole.clone()),
            listed => listed,
        }
    }

    /// The values that the solutions of a closure give, in the order in which they are found.
    fn found_in(&self, env: &mut Env, c: &Closure, limit: usize) -> Res<Vec<Value>> {
        // Captured values are in place only while the closure is solved; whoever asked goes on in the
        // environment it came from.
        let code = c.code.clone();
        self.with_captured(env, c, &mut |this, env| {
            let saved = env.take(&code.vars);
            let plan = this.plan_of(&code.vars, &[&code.pred]);
            let mut found = Vec::new();
            let result = this.run_plan(env, &plan, &mut |env, error| {
                if let Some(e) = error {
                    return Err(e.clone());
                }
                let arg = this.tuple(env, &code.vars)?;
                match (&code.body, code.kind) {
                    (Some(body), ClosureKind::Lambda) => {
                        found.push(Value::pair(arg, this.eval_canon(env, body)?));
                    }
                    (Some(body), ClosureKind::Union) => {
                        let set = this.eval(env, body)?;
                        found.extend(this.need_list(env, &set, body.span)?.iter().cloned());
                    }
                    (Some(body), _) => found.push(this.eval_canon(env, body)?),
                    (None, _) => found.push(arg),
                }
                if found.len() > limit {
                    return Err(Error::too_large("a comprehension is too large to be listed"));
                }
                Ok(Flow::Go)
            });
            env.restore(saved);
            result?;
            Ok(std::mem::take(&mut found))
        })
    }

    /// Whether a closure has more than `limit` elements, as far as that is told by sizes of sets alone.
    fn is_product_beyond(&self, env: &mut Env, c: &Closure, limit: usize) -> Res<bool> {
        let code = &c.code;
        let Some(sets) = self.factors(&code.vars, &code.pred, code.kind) else { return Ok(false) };
        self.with_captured(env, c, &mut |this, env| this.has_more(env, &sets, limit))
    }

    /// The same for a comprehension in its environment.
    pub(crate) fn is_large_product(
        &self,
        env: &mut Env,
        vars: &[VarId],
        pred: &Pred,
        kind: ClosureKind,
    ) -> Res<bool> {
        match self.factors(vars, pred, kind) {
            Some(sets) => self.has_more(env, &sets, crate::COMPREHENSION),
            None => Ok(false),
        }
    }

    /// The sets S of a set or function that is told by nothing but memberships `x:S` of its variables, if S is
    /// looked up or written down.
    fn factors(&self, vars: &[VarId], pred: &Pred, kind: ClosureKind) -> Option<Vec<Expr>> {
        if !matches!(kind, ClosureKind::Set | ClosureKind::Lambda) {
            return None;
        }
        let plan = self.plan_of(vars, &[pred]);
        if plan.conjuncts.len() != plan.vars.len() {
            return None;
        }
        let mut sets = Vec::with_capacity(plan.vars.len());
        for v in &plan.vars {
            sets.push(plan.conjuncts.iter().find_map(|c| match &c.pred.kind {
                PredKind::Rel(RelOp::In, x, set) if matches!(x.kind, ExprKind::Var(w) if w == *v) => {
                    (is_cheap(set) && !c.right.iter().any(|w| plan.vars.contains(w))).then(|| set.clone())
                }
                _ => None,
            })?);
        }
        Some(sets)
    }

    fn has_more(&self, env: &mut Env, sets: &[Expr], limit: usize) -> Res<bool> {
        let mut combinations = Card::of(1);
        for set in sets {
            match self.eval_lazy(env, set) {
                Ok(set) => combinations = combinations.times(self.card(env, &set)?),
                Err(e) if e.is_stop() => return Err(e),
                Err(_) => return Ok(false),
            }
        }
        Ok(match combinations {
            Card::Finite(n) => n > Int::from(limit),
            Card::Huge => true,
            Card::Infinite | Card::Unknown => false,
        })
    }
}

/// Whether evaluating an expression once more costs next to nothing.
fn is_cheap(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::TypeSet(_) => true,
        ExprKind::Binary(BinOp::Interval | BinOp::Cartesian | BinOp::Add | BinOp::Sub, a, b) => {
            is_cheap(a) && is_cheap(b)
        }
        ExprKind::Unary(UnOp::Pow, a) => is_cheap(a),
        _ => false,
    }
}

fn reads_old(code: &ClosureCode) -> bool {
    free::reads_old(&code.pred, code.body.as_ref())
}
