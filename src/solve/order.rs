//! All solutions of a predicate: ordered enumeration.
//!
//! In: a plan and an environment. Out: calls of a sink, once per solution (an environment in which
//! the variables of the plan have values), or once per valuation whose truth is undefined.
//! At each step the conjuncts whose variables are all known are tested, then the cheapest way to
//! give a variable a value is taken: an equation, a row of a relation, membership in a set, a
//! bounded interval, and the whole type only as the last resort. A variable that nothing bounds is
//! the error `Unbounded`; nothing is ever cut silently.

use crate::evaluate::Interpreter;
use crate::evaluate::env::Env;
use crate::evaluate::error::{Error, Flow, Res};
use crate::evaluate::index::is_plain;
use crate::evaluate::memo::SETUP;
use crate::evaluate::operators::row;
use crate::evaluate::pred::worse;
use crate::evaluate::size::Card;
use crate::lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use crate::lang::value::{Symbolic, Value};
use crate::solve::cases::Propagation;
use crate::solve::choice::is_choice;
use crate::solve::definedness::sequences_among;
use crate::solve::destructure;
use crate::solve::plan::{Conjunct, Plan, Split};
use crate::solve::subsets::Subsets;
use std::sync::Arc;

pub(crate) type Sink<'a> = &'a mut dyn FnMut(&mut Env, Option<&Error>) -> Res<Flow>;

/// A conjunct still to be tested, with the value of its set side once that is known.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) conjunct: Arc<Conjunct>,
    pub(crate) set: Option<Value>,
    /// Cases already known to fail, as bits; nothing is known of cases beyond the 64th.
    pub(crate) failed: u64,
    /// A valuation that gives the conjunct no value is dropped in silence: a partial function is only looked
    /// for where it is defined at the points it is applied to.
    pub(crate) lenient: bool,
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

/// A way to give values to some variables.
enum Binder {
    /// `pattern = value`
    Equation { at: usize, pattern_left: bool },
    /// A function that speaks of itself: `f = %x.(… f(x-1) …)`
    Recursive { at: usize, pattern_left: bool },
    /// `pattern : set`
    Member { at: usize },
    /// The same, where an index tells which elements an equation leaves.
    Found { at: usize, found: Vec<u32> },
    /// `f(pattern) = value` or `f(pattern) : set`: rows of a known function.
    Rows { at: usize },
    /// `s^t = value`, `a..b = value`: the value taken apart.
    Parts { at: usize, pattern_left: bool },
    /// `v <: set`, told by the conjunct `at` or by several.
    Subset { at: Option<usize>, var: VarId, candidates: Subsets },
    /// `v : seq(S)` with bounds of its length.
    Sequence { at: usize, var: VarId, low: usize, high: usize },
    /// `v : S --> T`
    Function { at: usize, var: VarId },
    /// Bounds on both sides.
    Interval { var: VarId, set: Value },
    /// All values of the type.
    Type { var: VarId, set: Value },
    /// Case by case.
    Cases { at: usize },
    /// The domain of a function that is applied to the variable.
    Argument { pattern: Box<Expr>, set: Value },
}

/// Costs are base-2 logarithms of the number of values to try; these are added to steer the choice.
const TYPE_COST: f64 = 1.0;
const ARGUMENT_COST: f64 = 64.0;
/// A function that is defined by itself is taken as it is when nothing else tells its value.
const RECURSIVE_COST: f64 = 45.0;
/// Functions into an infinite set wait until what their rows depend on is known.
const OPEN_ROWS_COST: f64 = 48.0;

impl Interpreter<'_> {
    /// All solutions of the predicate of a binder.
    pub(crate) fn solutions(&self, env: &mut Env, vars: &[VarId], pred: &Pred, sink: Sink) -> Res<Flow> {
        let plan = self.plan_of(vars, &[pred]);
        self.run_plan(env, &plan, sink)
    }

    /// The same with nothing cut to the scope, for those who need all solutions or the knowledge that some are missing.
    pub(crate) fn run_plan_exactly(&self, env: &mut Env, plan: &Plan, sink: Sink) -> Res<Flow> {
        let before = std::mem::replace(&mut env.exact, true);
        let result = self.run_plan(env, plan, sink);
        env.exact = before;
        result
    }

    pub(crate) fn run_plan(&self, env: &mut Env, plan: &Plan, sink: Sink) -> Res<Flow> {
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
                Err(e) if item.lenient && e.is_undefined() => return Ok(Flow::Go),
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
            return self.give_up(env, unknown, &open, pending, sink);
        };
        let passes = matches!(&binder, Binder::Member { at } | Binder::Found { at, .. } if is_pass(unknown, &open[*at]));
        if passes || !self.explodes(env, cost, unknown.len()) {
            return self.bind_by(env, unknown, open, pending, binder, sink);
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
    /// whether it is at least not true.
    pub(crate) fn refuted(&self, env: &mut Env, p: &Pred, undefined_too: bool) -> Res<bool> {
        let before = std::mem::replace(&mut env.searching, true);
        let truth = self.holds(env, p);
        env.searching = before;
        match truth {
            Ok(b) => Ok(!b),
            Err(e) if e.is_stop() => Err(e),
            Err(e) => Ok(undefined_too && e.is_finding()),
        }
    }

    /// The cheapest binder with its cost. `Ok(None)`: there is no solution. `Ok(Some(None))`: there is no binder.
    fn choose(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &mut [Item],
        pending: &mut Option<Error>,
    ) -> Res<Option<Option<(f64, Binder)>>> {
        let lookup = Unknown::new(unknown);
        let is_unknown = |v: &VarId| lookup.contains(*v);
        let careful = self.careful.get();
        let known_sequences = sequences_among(open);
        // Equations first: they cost nothing.
        for (at, item) in open.iter().enumerate() {
            let c = &item.conjunct;
            if let PredKind::Rel(RelOp::Equal, a, b) = &c.pred.kind {
                if !c.right.iter().any(is_unknown)
                    && self.binds(unknown, a)
                    && self.may_match(env, unknown, &known_sequences, a, c.left_partial)?
                {
                    return Ok(Some(Some((0.0, Binder::Equation { at, pattern_left: true }))));
                }
                if !c.left.iter().any(is_unknown)
                    && self.binds(unknown, b)
                    && self.may_match(env, unknown, &known_sequences, b, c.right_partial)?
                {
                    return Ok(Some(Some((0.0, Binder::Equation { at, pattern_left: false }))));
                }
            }
        }
        let mut best: Option<(f64, Binder)> = None;
        let mut offer = |cost: f64, binder: Binder| {
            if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                best = Some((cost, binder));
            }
        };
        let mut below: Vec<(usize, VarId, Arc<[Value]>)> = Vec::new();
        let mut sequences: Vec<(usize, VarId, bool, Card)> = Vec::new();
        for at in 0..open.len() {
            let c = open[at].conjunct.clone();
            let PredKind::Rel(op, a, b) = &c.pred.kind else { continue };
            match op {
                RelOp::In if !c.right.iter().any(is_unknown) => {
                    if open[at].set.is_none() {
                        match self.eval_set(env, b) {
                            Ok(set) => open[at].set = Some(set),
                            Err(e) if e.is_stop() => return Err(e),
                            // Membership in a comprehension is tested at points.
                            Err(_) if matches!(b.kind, ExprKind::Compr(..)) => continue,
                            Err(e) => {
                                // The conjunct is undefined whatever the variables are.
                                *pending = Some(worse(pending.take(), e));
                                continue;
                            }
                        }
                    }
                    let Some(set) = open[at].set.clone() else { continue };
                    if let ExprKind::Var(v) = a.kind
                        && unknown.contains(&v)
                        && is_function_space(&set)
                    {
                        match self.function_space(env, &set)? {
                            Some(space) if space.is_open() => {
                                offer(OPEN_ROWS_COST, Binder::Function { at, var: v });
                            }
                            Some(_) => offer(self.card(env, &set)?.log2(), Binder::Function { at, var: v }),
                            None => {}
                        }
                        continue;
                    }
                    if let (ExprKind::Var(v), Value::Symbolic(s)) = (&a.kind, &set)
                        && unknown.contains(v)
                        && let Symbolic::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1), s) =
                            &**s
                    {
                        let injective = matches!(op, UnOp::Iseq | UnOp::Iseq1);
                        sequences.push((at, *v, injective, self.card(env, s)?));
                    }
                    if (self.binds(unknown, a) || self.binds_parts(unknown, a))
                        && self.may_match(env, unknown, &known_sequences, a, c.left_partial)?
                        && self.falls_apart(env, unknown, a)?
                    {
                        let cost = match self.member_cost(env, unknown, a, &set) {
                            // A set that is not listed here may be one that is cut to the scope.
                            Err(e) if e.is_incomplete() && self.machine.integers_in_scope => f64::INFINITY,
                            other => other?,
                        };
                        if cost.is_finite() {
                            offer(cost, Binder::Member { at });
                        }
                    } else if let Some((f, arg)) = self.known_application(unknown, a)
                        && !careful
                        && self.binds(unknown, arg)
                        && let Ok(f) = self.eval(env, f)
                        && let Some(rows) = self.list(env, &f)?
                    {
                        offer(Card::of(rows.len()).log2(), Binder::Rows { at });
                    }
                }
                RelOp::Equal => {
                    for (x, y, free, pattern_left) in [(a, b, &c.right, true), (b, a, &c.left, false)] {
                        let partial = if pattern_left { c.left_partial } else { c.right_partial };
                        if destructure::is_compound(x)
                            && !free.iter().any(is_unknown)
                            && self.may_match(env, unknown, &known_sequences, x, partial)?
                            && let Ok(value) = self.eval(env, y)
                        {
                            match self.parting(env, (unknown, &*open), x, &value)? {
                                Some(Some(parting)) => {
                                    offer(parting.cost(), Binder::Parts { at, pattern_left });
                                }
                                Some(None) => return Ok(None),
                                None => {}
                            }
                        }
                        if let ExprKind::Var(v) = x.kind
                            && unknown.contains(&v)
                            && is_comprehension(y)
                            && free.iter().all(|w| *w == v || !unknown.contains(w))
                        {
                            offer(RECURSIVE_COST, Binder::Recursive { at, pattern_left });
                        }
                    }
                    for (x, y_free) in [(a, &c.right), (b, &c.left)] {
                        if !careful
                            && !y_free.iter().any(is_unknown)
                            && let Some((f, arg)) = self.known_application(unknown, x)
                            && self.binds(unknown, arg)
                            && let Ok(f) = self.eval(env, f)
                            && let Some(rows) = self.list(env, &f)?
                        {
                            offer(Card::of(rows.len()).log2() / 2.0, Binder::Rows { at });
                        }
                    }
                }
                RelOp::Subset => {
                    if let ExprKind::Var(v) = a.kind
                        && unknown.contains(&v)
                        && !c.right.iter().any(is_unknown)
                    {
                        if open[at].set.is_none() {
                            match self.eval(env, b) {
                                Ok(set) => open[at].set = Some(set),
                                Err(e) if e.is_stop() => return Err(e),
                                Err(e) => {
                                    *pending = Some(worse(pending.take(), e));
                                    continue;
                                }
                            }
                        }
                        if let Some(set) = open[at].set.clone()
                            && let Some(list) = self.list(env, &set)?
                        {
                            below.push((at, v, list));
                        }
                    }
                }
                _ => {}
            }
        }
        for (at, item) in open.iter().enumerate() {
            if let Some(Value::Set(elements)) = &item.set
                && let Some(found) = self.fitting(env, unknown, open, item, elements)?
            {
                offer(Card::of(found.len().max(1)).log2(), Binder::Found { at, found });
            }
        }
        for (at, var, injective, images) in sequences {
            if let Some((low, high)) = self.lengths(env, unknown, open, var, injective)? {
                let cost = match images {
                    Card::Infinite | Card::Unknown => OPEN_ROWS_COST,
                    finite => finite.log2().max(1.0) * high as f64,
                };
                offer(cost, Binder::Sequence { at, var, low, high });
            }
        }
        for v in unknown.iter().filter(|v| !below.iter().any(|(_, w, _)| w == *v)) {
            if let Some(upper) = self.confined(env, unknown, open, *v)? {
                let candidates = self.subsets_of(env, unknown, open, *v, &upper)?;
                offer(candidates.cost(), Binder::Subset { at: None, var: *v, candidates });
            }
        }
        for (at, var, list) in below {
            let candidates = self.subsets_of(env, unknown, open, var, &list)?;
            offer(candidates.cost(), Binder::Subset { at: Some(at), var, candidates });
        }
        // One value is as good as it gets.
        if best.as_ref().is_some_and(|(cost, _)| *cost <= 0.0) {
            return Ok(Some(best));
        }
        let mut offer = |cost: f64, binder: Binder| {
            if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                best = Some((cost, binder));
            }
        };
        let Some(intervals) = self.intervals(env, unknown, open)? else { return Ok(None) };
        for (var, set) in intervals {
            let cost = self.card(env, &set)?.log2();
            offer(cost, Binder::Interval { var, set });
        }
        for v in unknown {
            let ty = self.type_of(*v);
            if mentions_any(&ty) {
                continue;
            }
            let set = self.type_set(&ty);
            let card = self.card(env, &set)?;
            if !matches!(card, Card::Infinite | Card::Unknown) {
                offer(card.log2() + TYPE_COST, Binder::Type { var: *v, set });
            }
        }
        for (at, item) in open.iter().enumerate() {
            if item.conjunct.split().is_some() && !is_pass(unknown, item) {
                offer(self.cases_cost(unknown, &item.conjunct), Binder::Cases { at });
            }
        }
        // Rows that may be cut to the scope wait for everything else that bounds a choice.
        let most = if self.machine.integers_in_scope { OPEN_ROWS_COST - 1.0 } else { ARGUMENT_COST };
        if !careful
            && best.as_ref().is_none_or(|(cost, _)| *cost > most)
            && let Some((cost, binder)) = self.argument_binder(env, unknown, open)?
        {
            self.loosen();
            best = Some((cost, binder));
        }
        Ok(Some(best))
    }

    /// The set side of a membership, in the form that is best to run through.
    fn eval_set(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        match &e.kind {
            ExprKind::Compr(..) | ExprKind::Big(..) => self.eval(env, e),
            _ => self.eval_lazy(env, e),
        }
    }

    fn member_cost(&self, env: &mut Env, unknown: &[VarId], pattern: &Expr, set: &Value) -> Res<f64> {
        let card = self.card_exact(env, set)?;
        if let (ExprKind::Pair(a, _), Value::Set(pairs)) = (&pattern.kind, set)
            && !self.has_unknown(unknown, a)
            && let Ok(x) = self.eval_canon(env, a)
        {
            return Ok(Card::of(row(pairs, &x).count().max(1)).log2());
        }
        Ok(card.log2())
    }

    /// The domain of a known function that some conjunct applies to an unknown variable. Outside it
    /// the conjunct has no value, so no solution is lost.
    fn argument_binder(&self, env: &mut Env, unknown: &[VarId], open: &[Item]) -> Res<Option<(f64, Binder)>> {
        let mut best: Option<(f64, Binder)> = None;
        for item in open {
            let PredKind::Rel(_, a, b) = &item.conjunct.pred.kind else { continue };
            let mut found = Vec::new();
            applications(a, &mut found);
            applications(b, &mut found);
            for (f, arg) in found {
                let single = matches!(arg.kind, ExprKind::Var(v) if unknown.contains(&v));
                if (single || self.is_tuple_of_choices(unknown, arg))
                    && !self.has_unknown(unknown, f)
                    && let Ok(f) = self.eval(env, f)
                {
                    let domain = self.domain(env, &f)?;
                    let cost = self.card_exact(env, &domain)?.log2();
                    if cost.is_finite() && best.as_ref().is_none_or(|(c, _)| cost < *c) {
                        best = Some((cost, Binder::Argument { pattern: Box::new(arg.clone()), set: domain }));
                    }
                }
            }
        }
        Ok(best)
    }

    /// Whether an argument is a tuple of variables and known expressions in which some unknown choice occurs.
    fn is_tuple_of_choices(&self, unknown: &[VarId], arg: &Expr) -> bool {
        let ExprKind::Pair(a, b) = &arg.kind else { return false };
        let side = |e: &Expr| match &e.kind {
            ExprKind::Var(v) if unknown.contains(v) => is_choice(self.machine, &self.any, *v),
            ExprKind::Pair(..) => !self.has_unknown(unknown, e) || self.is_tuple_of_choices(unknown, e),
            _ => !self.has_unknown(unknown, e),
        };
        self.has_unknown(unknown, arg) && side(a) && side(b)
    }

    fn bind_by(
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
                let PredKind::Rel(_, a, b) = &item.conjunct.pred.kind else { return Ok(Flow::Go) };
                let (pattern, known) = if pattern_left { (a, b) } else { (b, a) };
                let evaluated =
                    if self.machine.symbolic && env.valuation == Some(SETUP) && is_comprehension(known) {
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
                    Ok(value) => {
                        self.matched(env, unknown, &open, Some(&item), pending, (pattern, &value), sink)
                    }
                    Err(e) if e.is_stop() => Err(e),
                    Err(e) => {
                        let pending = Some(worse(pending, e.at(item.conjunct.pred.span)));
                        self.search(env, unknown, open, pending, sink)
                    }
                }
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
                            return self.search(env, unknown, open, pending, sink);
                        }
                    };
                    for y in row(pairs, &x) {
                        let flow =
                            self.matched(env, unknown, &open, Some(&item), pending.clone(), (b, y), sink)?;
                        if flow == Flow::Stop {
                            return Ok(Flow::Stop);
                        }
                    }
                    return Ok(Flow::Go);
                }
                self.for_each(env, &set, &mut |env, x| {
                    self.matched(env, unknown, &open, Some(&item), pending.clone(), (pattern, &x), sink)
                })
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
                let Some(Split::Cases(cases)) = item.conjunct.split() else { return Ok(Flow::Go) };
                for (i, case) in cases.iter().enumerate() {
                    if i < 64 && item.failed & (1 << i) != 0 {
                        continue;
                    }
                    let mut todo = open.clone();
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

/// Whether a membership gives all variables their values in one pass over a set that is listed already. That takes no
/// longer than listing it did; to take the set apart again, or to propagate, wins nothing.
fn is_pass(unknown: &[VarId], item: &Item) -> bool {
    let PredKind::Rel(RelOp::In, pattern, _) = &item.conjunct.pred.kind else { return false };
    let mut vars = Vec::new();
    matches!(item.set, Some(Value::Set(_)))
        && is_plain(pattern, unknown, &mut vars)
        && vars.len() == unknown.len()
}

pub(crate) fn items(plan: &Plan) -> Vec<Item> {
    items_among(&plan.conjuncts)
}

pub(crate) fn items_among(conjuncts: &[Arc<Conjunct>]) -> Vec<Item> {
    conjuncts.iter().map(|c| Item { conjunct: c.clone(), set: None, failed: 0, lenient: false }).collect()
}

/// The conjuncts of a case of another one.
pub(crate) fn items_of(case: &Plan, whole: &Item) -> Vec<Item> {
    items(case).into_iter().map(|i| Item { lenient: whole.lenient, ..i }).collect()
}

fn without(open: &[Item], at: usize) -> Vec<Item> {
    open.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, x)| x.clone()).collect()
}

fn is_comprehension(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Compr(..) | ExprKind::Big(crate::lang::typed::BigOp::Lambda, ..) => true,
        ExprKind::Symbolic(inner) => is_comprehension(inner),
        ExprKind::Binary(BinOp::Union, a, b) => is_comprehension(a) || is_comprehension(b),
        _ => false,
    }
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

fn is_function_space(set: &Value) -> bool {
    match set {
        Value::Symbolic(s) => match &**s {
            Symbolic::Binary(op, _, _) => is_function_arrow(*op),
            Symbolic::Unary(UnOp::Perm, _) => true,
            _ => false,
        },
        _ => false,
    }
}

fn is_function_arrow(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::PartialFunction
            | BinOp::TotalFunction
            | BinOp::PartialInjection
            | BinOp::TotalInjection
            | BinOp::PartialSurjection
            | BinOp::TotalSurjection
            | BinOp::PartialBijection
            | BinOp::TotalBijection
    )
}

/// Applications that are evaluated whenever the expression is.
pub(crate) fn applications<'e>(e: &'e Expr, out: &mut Vec<(&'e Expr, &'e Expr)>) {
    match &e.kind {
        ExprKind::Apply(f, arg) => {
            out.push((f, arg));
            applications(f, out);
            applications(arg, out);
        }
        ExprKind::Pair(a, b) | ExprKind::Binary(_, a, b) => {
            applications(a, out);
            applications(b, out);
        }
        ExprKind::Unary(_, a) | ExprKind::Field(a, _) => applications(a, out),
        ExprKind::SetExt(es) | ExprKind::SeqExt(es) | ExprKind::Rec(es) => {
            es.iter().for_each(|e| applications(e, out));
        }
        _ => {}
    }
}
