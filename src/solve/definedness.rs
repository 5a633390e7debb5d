//! Valuations for which a predicate has no truth value.
//!
//! In: a plan, an environment and the sink of a search. Out: calls of the sink with the error of an undefined
//! valuation, so that a search that found no error has looked at every valuation that could have had one.
//!
//! A search for solutions may leave out whatever is not true: rows outside a function, numbers beyond the bounds of a
//! `mod`, relations that are no sequences. Each such step is *loose*: it may pass over a valuation for which some
//! conjunct is undefined and none is false. After a loose search that found nothing undefined, a second, *careful*
//! search looks for such a valuation. It binds variables only by conjuncts that are defined for all that the step
//! leaves out, cuts as soon as no conjunct is left that could be undefined, and ends with the first find, or with one
//! of the next if whoever is told passes over that one.
//! What either search calls undefined is confirmed by evaluating the conjuncts as they stand.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::pred::worse;
use crate::solve::order::{Item, Sink, items_among};
use crate::solve::plan::{Conjunct, Plan};
use bombus_base::Int;
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Values tried for a variable of an infinite type that nothing bounds: a few small ones, one beyond most functions.
const FAR: i64 = 1_000_000_007;
/// Values tried for one variable at most.
const SAMPLES: usize = 16;
/// Types nested deeper than this are not sampled inside.
const NESTED: u32 = 3;

/// Undefined valuations that may be passed over before a careful search is given up.
const PASSED_OVER: u32 = 100_000;

/// What is said where so many were passed over.
const GIVEN_UP: &str = "too many functions have no value where they are applied, so that not all constants were tried for \
                        something else that is undefined";

/// The truth of some conjuncts together.
enum Truth {
    True,
    False,
    Undefined(Error),
}

impl Interpreter<'_> {
    /// All solutions of a plan with conjuncts that may be undefined, and at least one of its undefined valuations if
    /// there are any.
    pub(crate) fn run_partial(&self, env: &mut Env, plan: &Plan, todo: Vec<Item>, sink: Sink) -> Res<Flow> {
        let mut undefined = false;
        let flow = self.search(env, &plan.vars, todo, None, &mut |env, error| match error {
            Some(e) if e.is_finding() => match self.truth(env, &plan.vars, &plan.conjuncts, e)? {
                Truth::False => Ok(Flow::Go),
                Truth::True => sink(env, None),
                Truth::Undefined(e) => {
                    let flow = sink(env, Some(&e));
                    undefined |= !self.passed_over.replace(false);
                    flow
                }
            },
            _ => sink(env, error),
        })?;
        if flow == Flow::Stop || undefined || !self.loose.get() {
            return Ok(flow);
        }
        for n in plan.stages.iter().copied().chain([plan.conjuncts.len()]) {
            if self.run_careful(env, plan, &plan.conjuncts[..n], sink)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }

    /// Whether the conjuncts of a plan are known to be true or false for all values of its variables, stage by stage.
    pub(crate) fn always_has_truth_value(&self, env: &mut Env, plan: &Plan) -> Res<bool> {
        if !plan.is_partial() {
            return Ok(true);
        }
        let saved = env.take(&plan.vars);
        let before = (env.enumerating, env.exact, self.careful.get(), self.loose.get());
        (env.enumerating, env.exact) = (false, true);
        let mut known = Ok(true);
        for n in plan.stages.iter().copied().chain([plan.conjuncts.len()]) {
            let run = self.run_careful(env, plan, &plan.conjuncts[..n], &mut |_, error| match error {
                Some(e) if e.is_stop() => Err(e.clone()),
                _ => Ok(Flow::Stop),
            });
            match run {
                Ok(Flow::Go) => {}
                Ok(Flow::Stop) => known = Ok(false),
                Err(e) if e.is_stop() => known = Err(e),
                Err(_) => known = Ok(false),
            }
            if !matches!(known, Ok(true)) {
                break;
            }
        }
        self.careful.set(before.2);
        self.loose.set(before.3);
        (env.enumerating, env.exact) = (before.0, before.1);
        env.restore(saved);
        known
    }

    /// Looks for one valuation that makes some of the conjuncts undefined and none of them false.
    fn run_careful(&self, env: &mut Env, plan: &Plan, conjuncts: &[Arc<Conjunct>], sink: Sink) -> Res<Flow> {
        let conjuncts: Vec<Arc<Conjunct>> =
            conjuncts.iter().filter(|c| !(c.derived && c.partial)).cloned().collect();
        if !conjuncts.iter().any(|c| c.partial) {
            return Ok(Flow::Go);
        }
        let vars: Vec<VarId> =
            plan.vars.iter().copied().filter(|v| conjuncts.iter().any(|c| c.free.contains(v))).collect();
        let (mut flow, mut passed_over) = (Flow::Go, 0);
        self.careful.set(true);
        let run = self.search(env, &vars, items_among(&conjuncts), None, &mut |env, error| {
            let Some(e) = error else { return Ok(Flow::Go) };
            if !e.is_finding() {
                flow = sink(env, Some(e))?;
                return Ok(flow);
            }
            if let Truth::Undefined(e) = self.truth(env, &vars, &conjuncts, e)? {
                flow = sink(env, Some(&e))?;
                if !self.passed_over.replace(false) {
                    return Ok(Flow::Stop);
                }
                passed_over += 1;
                if passed_over == PASSED_OVER {
                    flow = sink(env, Some(&Error::too_large(GIVEN_UP)))?;
                    return Ok(Flow::Stop);
                }
            }
            Ok(Flow::Go)
        });
        self.careful.set(false);
        run?;
        Ok(flow)
    }

    /// The truth of conjuncts that a search calls undefined. Without values for all variables its word is taken.
    fn truth(&self, env: &mut Env, vars: &[VarId], conjuncts: &[Arc<Conjunct>], error: &Error) -> Res<Truth> {
        if !vars.iter().all(|v| env.is_bound(*v)) {
            return Ok(Truth::Undefined(error.clone()));
        }
        let careful = self.careful.replace(false);
        let mut pending: Option<Error> = None;
        let mut refuted = false;
        for c in conjuncts.iter().filter(|c| !c.derived) {
            match self.holds(env, &c.pred) {
                Ok(true) => {}
                Ok(false) => {
                    refuted = true;
                    break;
                }
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => pending = Some(worse(pending, e.at(c.pred.span))),
            }
        }
        self.careful.set(careful);
        Ok(match pending {
            _ if refuted => Truth::False,
            Some(e) => Truth::Undefined(e),
            None => Truth::True,
        })
    }

    /// Notes that a step of the search in hand may pass over undefined valuations.
    pub(crate) fn loosen(&self) {
        self.loose.set(true);
    }

    /// Whether the search in hand is for undefined valuations, and no conjunct is left that could be undefined.
    pub(crate) fn is_settled(&self, open: &[Item], pending: &Option<Error>) -> bool {
        self.careful.get() && pending.is_none() && open.iter().all(|i| !i.conjunct.partial)
    }

    /// Whether variables may be bound along a pattern that may be undefined itself. A loose search does so and notes
    /// it; a careful one only where all parts of the pattern are known to have values.
    pub(crate) fn may_match(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        sequences: &[VarId],
        pattern: &Expr,
        partial: bool,
    ) -> Res<bool> {
        if !partial || self.has_value(env, unknown, sequences, pattern)? {
            return Ok(true);
        }
        if self.careful.get() {
            return Ok(false);
        }
        self.loosen();
        Ok(true)
    }

    /// Whether a pattern has a value whatever its unknown variables are; `sequences` are those known to be sequences.
    fn has_value(&self, env: &mut Env, unknown: &[VarId], sequences: &[VarId], e: &Expr) -> Res<bool> {
        if !may_be_undefined(e) {
            return Ok(true);
        }
        if !self.has_unknown(unknown, e) {
            return match self.eval(env, e) {
                Ok(_) => Ok(true),
                Err(e) if e.is_stop() => Err(e),
                Err(_) => Ok(false),
            };
        }
        let sequence = |this: &Self, env: &mut Env, s: &Expr| match &s.kind {
            ExprKind::Var(v) if unknown.contains(v) => Ok(sequences.contains(v)),
            ExprKind::SeqExt(_) => this.has_value(env, unknown, sequences, s),
            _ if parts_of_sequence(s) => this.has_value(env, unknown, sequences, s),
            _ if !this.has_unknown(unknown, s) => match this.eval(env, s) {
                Ok(value) => Ok(this.list(env, &value)?.is_some_and(|l| Value::Set(l).as_seq().is_some())),
                Err(e) if e.is_stop() => Err(e),
                Err(_) => Ok(false),
            },
            _ => Ok(false),
        };
        match &e.kind {
            ExprKind::Pair(a, b) | ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
                Ok(self.has_value(env, unknown, sequences, a)?
                    && self.has_value(env, unknown, sequences, b)?)
            }
            ExprKind::Unary(UnOp::Neg | UnOp::Inverse, a) => self.has_value(env, unknown, sequences, a),
            ExprKind::Construct(id, c, Some(a)) => {
                let freetype = &self.machine.freetypes[id.0 as usize];
                match freetype.domains.get(*c as usize) {
                    _ if self.is_generic(*id, *c) => self.has_value(env, unknown, sequences, a),
                    Some(Some(domain)) => self.lies_in(env, unknown, sequences, a, domain),
                    _ => Ok(false),
                }
            }
            ExprKind::Rec(es) | ExprKind::SeqExt(es) | ExprKind::SetExt(es) => {
                for e in es {
                    if !self.has_value(env, unknown, sequences, e)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ExprKind::Binary(BinOp::Concat, s, t) => Ok(sequence(self, env, s)? && sequence(self, env, t)?),
            ExprKind::Binary(BinOp::Append, s, x) | ExprKind::Binary(BinOp::Prepend, x, s) => {
                Ok(sequence(self, env, s)? && self.has_value(env, unknown, sequences, x)?)
            }
            ExprKind::Unary(UnOp::Rev, s) => sequence(self, env, s),
            ExprKind::Unary(UnOp::Conc, list) => {
                let ExprKind::SeqExt(all) = &list.kind else { return Ok(false) };
                for s in all {
                    if !sequence(self, env, s)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Whether an argument has a value in the domain of a constructor whatever its unknown variables are.
    fn lies_in(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        sequences: &[VarId],
        e: &Expr,
        domain: &Expr,
    ) -> Res<bool> {
        if is_whole_type(domain) {
            return self.has_value(env, unknown, sequences, e);
        }
        match (&e.kind, &domain.kind) {
            (ExprKind::Pair(a, b), ExprKind::Binary(BinOp::Cartesian, x, y)) => Ok(self
                .lies_in(env, unknown, sequences, a, x)?
                && self.lies_in(env, unknown, sequences, b, y)?),
            _ if !self.has_unknown(unknown, e) => {
                let inside = |env: &mut Env| {
                    let value = self.eval(env, e)?;
                    let domain = self.eval_lazy(env, domain)?;
                    self.member(env, &value, &domain)
                };
                match inside(env) {
                    Err(e) if e.is_stop() => Err(e),
                    found => Ok(found.unwrap_or(false)),
                }
            }
            _ => Ok(false),
        }
    }

    /// Whether a relation has a truth value whatever the unknown variables are.
    pub(crate) fn is_defined(&self, env: &mut Env, unknown: &[VarId], c: &Conjunct) -> Res<bool> {
        let PredKind::Rel(_, a, b) = &c.pred.kind else { return Ok(!c.partial) };
        Ok(!c.partial
            || !c.derived && self.has_value(env, unknown, &[], a)? && self.has_value(env, unknown, &[], b)?)
    }

    /// Whether the points that some membership leaves for `arg` all lie in the domain of the function with these rows,
    /// so that going through the rows passes over no undefined application.
    pub(crate) fn covers(&self, env: &mut Env, open: &[Item], arg: &Expr, rows: &[Value]) -> Res<bool> {
        let key = |row: &Value| row.as_pair().map(|(x, _)| x.clone());
        if rows.windows(2).any(|w| key(&w[0]) == key(&w[1])) {
            return Ok(false);
        }
        'next: for item in open {
            let PredKind::Rel(RelOp::In, x, _) = &item.conjunct.pred.kind else { continue };
            let Some(set) = item.set() else { continue };
            if item.conjunct.partial || x.kind != arg.kind {
                continue;
            }
            let set = set.clone();
            let Some(points) = self.list(env, &set)? else { continue };
            if points.len() > rows.len() {
                continue;
            }
            self.charge(points.len())?;
            for p in points.iter() {
                if rows.binary_search_by(|row| row.as_pair().map_or(p, |(x, _)| x).cmp(p)).is_err() {
                    continue 'next;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Nothing bounds the variables of a careful search: tries some of their values. What none of these shows to be
    /// undefined is left open.
    pub(crate) fn try_samples(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: Option<Error>,
        open_end: &Error,
        sink: Sink,
    ) -> Res<Flow> {
        let var = unknown[0];
        let mut values = Vec::new();
        samples(&self.type_of(var), NESTED, &mut values);
        // The more variables are open, the fewer values each of them gets.
        values.truncate((SAMPLES / unknown.len().pow(2)).max(3));
        let mut seen = false;
        for x in values {
            let flow = self.bound(env, unknown, open, pending.clone(), var, x, &mut |env, error| {
                seen |= error.is_some_and(Error::is_finding);
                sink(env, error)
            })?;
            if flow == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        if seen { Ok(Flow::Go) } else { sink(env, Some(open_end)) }
    }
}

/// Variables that some conjunct says to be sequences.
pub(crate) fn sequences_among(open: &[Item]) -> Vec<VarId> {
    open.iter()
        .filter_map(|i| match &i.conjunct.pred.kind {
            PredKind::Rel(RelOp::In, x, s) if !i.conjunct.partial => match (&x.kind, &s.kind) {
                (
                    ExprKind::Var(v),
                    ExprKind::Unary(UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm, _),
                ) => Some(*v),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// Whether a set holds all values of its type, by its form.
fn is_whole_type(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::TypeSet(_) => true,
        ExprKind::Compr(_, p) => matches!(p.kind, PredKind::True),
        ExprKind::Binary(BinOp::Cartesian, a, b) => is_whole_type(a) && is_whole_type(b),
        _ => false,
    }
}

fn parts_of_sequence(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Binary(BinOp::Concat | BinOp::Append | BinOp::Prepend, ..) | ExprKind::Unary(UnOp::Rev, _)
    )
}

/// Some values of a type, the most ordinary ones first.
fn samples(t: &Type, depth: u32, out: &mut Vec<Value>) {
    match t {
        Type::Integer => {
            out.extend([1, 0, FAR, -1, 2, -FAR, 3].map(|n| Value::Int(Int::from(n))));
        }
        Type::Bool => out.extend([Value::Bool(true), Value::Bool(false)]),
        Type::String => out.extend([Value::str(""), Value::str("a")]),
        Type::Set(s) => out.push(Value::Elem(*s, 0)),
        Type::Pow(inner) => {
            out.push(Value::empty());
            if depth > 0 {
                let mut elements = Vec::new();
                samples(inner, depth - 1, &mut elements);
                out.extend(elements.into_iter().map(|x| Value::set(vec![x])));
            }
        }
        Type::Prod(a, b) if depth > 0 => {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            samples(a, depth - 1, &mut left);
            samples(b, depth - 1, &mut right);
            // Both sides change early: among the first few are relations that are no sequences.
            for both in 0..7 {
                for i in 0..=both {
                    if let (true, Some(x), Some(y)) =
                        (i < 4 && both - i < 4, left.get(i), right.get(both - i))
                    {
                        out.push(Value::pair(x.clone(), y.clone()));
                    }
                }
            }
        }
        _ => {}
    }
}
