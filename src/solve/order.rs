//! All solutions of a predicate: ordered enumeration.
//!
//! In: a plan and an environment. Out: calls of a sink, once per solution (an environment in which
//! the variables of the plan have values), or once per valuation whose truth is undefined.
//! At each step the conjuncts whose variables are all known are tested, then the cheapest way to
//! give a variable a value is taken (`binder`) and carried out (`binding`). A variable that nothing
//! bounds is the error `Unbounded`; nothing is ever cut silently.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::pred::worse;
use crate::solve::binder::{Binder, is_pass};
use crate::solve::cases::Propagation;
use crate::solve::plan::{Conjunct, Plan};
use bombus_lang::typed::{Expr, Pred, PredKind, RelOp, Type, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

pub(crate) type Sink<'a> = &'a mut dyn FnMut(&mut Env, Option<&Error>) -> Res<Flow>;

/// A conjunct still to be tested, with the value of its set side once that is known.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) conjunct: Arc<Conjunct>,
    pub(crate) set: Option<Value>,
    /// Cases already known to fail, as bits; nothing is known of cases beyond the 64th.
    pub(crate) failed: u64,
    /// A valuation for which the conjunct applies a function that is chosen outside its domain is dropped in silence: such a
    /// function is only looked for where it is defined at the points it is applied to.
    pub(crate) lenient: bool,
    /// The lambdas that the conjunct applies were put in place already, as far as they are known.
    pub(crate) unfolded: bool,
}

impl Item {
    pub(crate) fn set(&self) -> Option<&Value> {
        self.set.as_ref()
    }
}

/// The variables still unknown, to be asked for many times.
pub(crate) enum Unknown<'a> {
    Few(&'a [VarId]),
    Many(Vec<u64>),
}

impl Unknown<'_> {
    pub(crate) fn new(vars: &[VarId]) -> Unknown<'_> {
        if vars.len() <= 16 {
            return Unknown::Few(vars);
        }
        let most = vars.iter().map(|v| v.0 as usize).max().unwrap_or(0);
        let mut bits = vec![0u64; most / 64 + 1];
        for v in vars {
            bits[v.0 as usize / 64] |= 1 << (v.0 % 64);
        }
        Unknown::Many(bits)
    }

    pub(crate) fn contains(&self, v: VarId) -> bool {
        match self {
            Unknown::Few(vars) => vars.contains(&v),
            Unknown::Many(bits) => {
                bits.get(v.0 as usize / 64).is_some_and(|word| word >> (v.0 % 64) & 1 == 1)
            }
        }
    }
}

impl Interpreter<'_> {
    /// All solutions of the predicate of a binder.
    pub fn solutions(&self, env: &mut Env, vars: &[VarId], pred: &Pred, sink: Sink) -> Res<Flow> {
        let plan = self.plan_of(vars, &[pred]);
        self.run_plan(env, &plan, sink)
    }

    /// The same with nothing cut to the scope, for those who need all solutions or the knowledge that some are missing.
    pub fn run_plan_exactly(&self, env: &mut Env, plan: &Plan, sink: Sink) -> Res<Flow> {
        let before = std::mem::replace(&mut env.exact, true);
        let result = self.run_plan(env, plan, sink);
        env.exact = before;
        result
    }

    pub fn run_plan(&self, env: &mut Env, plan: &Plan, sink: Sink) -> Res<Flow> {
        let saved = env.take(&plan.vars);
        let todo = items(plan);
        let before = std::mem::replace(&mut env.enumerating, false);
        let careful = self.careful.replace(false);
        let loose = self.loose.replace(plan.is_loose());
        let result = if plan.is_partial() {
            self.run_partial(env, plan, todo, sink)
        } else {
            self.search(env, &plan.vars, todo, None, sink)
        };
        self.loose.set(loose);
        self.careful.set(careful);
        env.enumerating = before;
        env.restore(saved);
        result
    }

    pub(crate) fn search(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        todo: Vec<Item>,
        mut pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        self.tick()?;
        self.charge(todo.len())?;
        let mut open: Vec<Item> = Vec::with_capacity(todo.len());
        let lookup = Unknown::new(unknown);
        for item in todo {
            let c = &item.conjunct;
            if c.free.iter().any(|v| lookup.contains(*v)) {
                open.push(item);
                continue;
            }
            if c.derived {
                continue;
            }
            let truth = match (&item.set, &c.pred.kind) {
                (Some(set), PredKind::Rel(RelOp::In, x, _)) => {
                    self.eval(env, x).and_then(|x| self.member(env, &x, set))
                }
                _ => self.holds(env, &c.pred),
            };
            match truth {
                Ok(true) => {}
                Ok(false) => return Ok(Flow::Go),
                Err(e) if e.is_stop() => return Err(e),
                Err(e) if item.lenient && e.is_misapplied() => return Ok(Flow::Go),
                Err(e) => pending = Some(worse(pending, e.at(c.pred.span))),
            }
        }
        if self.is_settled(&open, &pending) {
            return Ok(Flow::Go);
        }
        if unknown.is_empty() {
            return sink(env, pending.as_ref());
        }
        match self.propagate(env, unknown, &mut open)? {
            Propagation::Nothing => {}
            Propagation::Refuted => return Ok(Flow::Go),
            Propagation::Forced => return self.search(env, unknown, open, pending, sink),
        }
        let Some(binder) = self.choose(env, unknown, &mut open, &mut pending)? else {
            return Ok(Flow::Go);
        };
        let Some((cost, binder)) = binder else {
            if self.unfold(env, unknown, &mut open, true)? {
                return self.search(env, unknown, open, pending, sink);
            }
            return self.give_up(env, unknown, &open, pending, sink);
        };
        let passes = matches!(&binder, Binder::Member { at } | Binder::Found { at, .. } if is_pass(unknown, &open[*at]));
        if passes || !self.explodes(env, cost, unknown.len()) {
            return self.bind_by(env, unknown, open, pending, binder, sink);
        }
        if let Some(flow) = self.search_told(env, unknown, &open, &pending, sink)? {
            return Ok(flow);
        }
        if self.unfold(env, unknown, &mut open, false)? {
            return self.search(env, unknown, open, pending, sink);
        }
        if let Some(flow) = self.search_network(env, unknown, &open, &pending, sink)? {
            return Ok(flow);
        }
        env.enumerating = true;
        let flow = self.bind_by(env, unknown, open, pending, binder, sink);
        env.enumerating = false;
        flow
    }

    /// Whether a predicate is false although some of its variables are not known; with `undefined_too`,
    /// whether it is at least not true where a function that is chosen is applied outside its domain.
    pub(crate) fn refuted(&self, env: &mut Env, p: &Pred, undefined_too: bool) -> Res<bool> {
        let before = std::mem::replace(&mut env.searching, true);
        let truth = self.holds(env, p);
        env.searching = before;
        match truth {
            Ok(b) => Ok(!b),
            Err(e) if e.is_stop() => Err(e),
            Err(e) => Ok(undefined_too && e.is_misapplied()),
        }
    }

    /// Goes on with one variable bound.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn bound(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: Option<Error>,
        var: VarId,
        value: Value,
        sink: Sink,
    ) -> Res<Flow> {
        env.bind(var, value);
        let rest: Vec<VarId> = unknown.iter().copied().filter(|v| *v != var).collect();
        let flow = self.search(env, &rest, open.to_vec(), pending, sink);
        env.unbind(var);
        flow
    }

    /// Goes on where a pattern matches a value. `item` is the conjunct the match comes from; it is
    /// kept for testing when the pattern does not say all of it.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn matched(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        item: Option<&Item>,
        pending: Option<Error>,
        (pattern, value): (&Expr, &Value),
        sink: Sink,
    ) -> Res<Flow> {
        let mut bound = Vec::new();
        let mut exact = true;
        let outcome = self.match_pattern(env, unknown, pattern, value, &mut bound, &mut exact);
        let flow = match outcome {
            Ok(true) => {
                let rest: Vec<VarId> = unknown.iter().copied().filter(|v| !bound.contains(v)).collect();
                let mut todo = open.to_vec();
                let mut parts = Vec::new();
                if let (false, Some(item)) = (exact, item) {
                    todo.push(item.clone());
                    self.compounds(&rest, pattern, value, &mut parts);
                }
                self.search_parts(env, &rest, todo, pending, &parts, sink)
            }
            Ok(false) => Ok(Flow::Go),
            Err(e) if e.is_stop() => Err(e),
            Err(e) => {
                let rest: Vec<VarId> = unknown.iter().copied().filter(|v| !bound.contains(v)).collect();
                self.search(env, &rest, open.to_vec(), Some(worse(pending, e)), sink)
            }
        };
        for v in bound {
            env.unbind(v);
        }
        flow
    }
}

pub(crate) fn items(plan: &Plan) -> Vec<Item> {
    items_among(&plan.conjuncts)
}

pub(crate) fn items_among(conjuncts: &[Arc<Conjunct>]) -> Vec<Item> {
    conjuncts
        .iter()
        .map(|c| Item { conjunct: c.clone(), set: None, failed: 0, lenient: false, unfolded: false })
        .collect()
}

/// The conjuncts of a case of another one.
pub(crate) fn items_of(case: &Plan, whole: &Item) -> Vec<Item> {
    items(case).into_iter().map(|i| Item { lenient: whole.lenient, ..i }).collect()
}

/// Whether a type is open somewhere, so that it has no set of values to run through.
pub(crate) fn mentions_any(t: &Type) -> bool {
    match t {
        Type::Any => true,
        Type::Pow(t) => mentions_any(t),
        Type::Prod(a, b) => mentions_any(a) || mentions_any(b),
        Type::Struct(fields) => fields.iter().any(|(_, t)| mentions_any(t)),
        _ => false,
    }
}
