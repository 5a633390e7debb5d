//! Which way to give a variable a value: the cheapest of all that the open conjuncts offer.
//!
//! In: the unknown variables and the open conjuncts. Out: a `Binder` with its cost: an equation, a row of a relation,
//! membership in a set, a bounded interval, and the whole type only as the last resort.
//! Never here: giving the values (`binding`).

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use crate::index::is_plain;
use crate::operators::row;
use crate::pred::worse;
use crate::size::Card;
use crate::solve::choice::is_choice;
use crate::solve::definedness::sequences_among;
use crate::solve::destructure;
use crate::solve::order::{Item, Unknown, mentions_any};
use crate::solve::plan::Conjunct;
use crate::solve::subsets::Subsets;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use std::sync::Arc;

/// A way to give values to some variables.
pub(crate) enum Binder {
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

/// A choice among binders that is under way.
struct Choosing<'a> {
    unknown: &'a [VarId],
    lookup: Unknown<'a>,
    /// Variables that some conjunct says to be sequences.
    known_sequences: Vec<VarId>,
    /// Nothing may pass over bindings that leave a conjunct undefined.
    careful: bool,
    best: Option<(f64, Binder)>,
    /// Variables below a listed set, by the conjunct that says so.
    below: Vec<(usize, VarId, Arc<[Value]>)>,
    /// Variables in a set of sequences, whether injective ones, and how many images there are.
    sequences: Vec<(usize, VarId, bool, Card)>,
}

impl Choosing<'_> {
    fn offer(&mut self, cost: f64, binder: Binder) {
        if self.best.as_ref().is_none_or(|(c, _)| cost < *c) {
            self.best = Some((cost, binder));
        }
    }

    fn is_known(&self, free: &[VarId]) -> bool {
        !free.iter().any(|v| self.lookup.contains(*v))
    }
}

/// Nothing if no values of the unknown variables can satisfy the conjuncts.
type Solvable = Option<()>;

impl Interpreter<'_> {
    /// The cheapest binder with its cost. `Ok(None)`: there is no solution. `Ok(Some(None))`: there is no binder.
    pub(crate) fn choose(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &mut [Item],
        pending: &mut Option<Error>,
    ) -> Res<Option<Option<(f64, Binder)>>> {
        let mut choosing = Choosing {
            unknown,
            lookup: Unknown::new(unknown),
            known_sequences: sequences_among(open),
            careful: self.careful.get(),
            best: None,
            below: Vec::new(),
            sequences: Vec::new(),
        };
        // Equations first: they cost nothing.
        if let Some(binder) = self.free_equation(env, &choosing, open)? {
            return Ok(Some(Some((0.0, binder))));
        }
        if self.offer_relations(env, &mut choosing, open, pending)?.is_none() {
            return Ok(None);
        }
        self.offer_sets(env, &mut choosing, open)?;
        // One value is as good as it gets.
        if choosing.best.as_ref().is_some_and(|(cost, _)| *cost <= 0.0) {
            return Ok(Some(choosing.best));
        }
        if self.offer_ranges(env, &mut choosing, open)?.is_none() {
            return Ok(None);
        }
        // Rows that may be cut to the scope wait for everything else that bounds a choice.
        let most = if self.machine.integers_in_scope { OPEN_ROWS_COST - 1.0 } else { ARGUMENT_COST };
        if !choosing.careful
            && choosing.best.as_ref().is_none_or(|(cost, _)| *cost > most)
            && let Some((cost, binder)) = self.argument_binder(env, unknown, open)?
        {
            self.loosen();
            choosing.best = Some((cost, binder));
        }
        Ok(Some(choosing.best))
    }

    /// An equation with a known side whose other side is a pattern.
    fn free_equation(&self, env: &mut Env, choosing: &Choosing, open: &[Item]) -> Res<Option<Binder>> {
        let (unknown, sequences) = (choosing.unknown, &choosing.known_sequences);
        for (at, item) in open.iter().enumerate() {
            let c = &item.conjunct;
            let PredKind::Rel(RelOp::Equal, a, b) = &c.pred.kind else { continue };
            let sides = [(a, &c.right, c.left_partial, true), (b, &c.left, c.right_partial, false)];
            for (pattern, free, partial, pattern_left) in sides {
                if choosing.is_known(free)
                    && self.binds(unknown, pattern)
                    && self.may_match(env, unknown, sequences, pattern, partial)?
                {
                    return Ok(Some(Binder::Equation { at, pattern_left }));
                }
            }
        }
        Ok(None)
    }

    /// What each conjunct that is a relation offers by itself.
    fn offer_relations(
        &self,
        env: &mut Env,
        choosing: &mut Choosing,
        open: &mut [Item],
        pending: &mut Option<Error>,
    ) -> Res<Solvable> {
        for at in 0..open.len() {
            let c = open[at].conjunct.clone();
            let PredKind::Rel(op, a, b) = &c.pred.kind else { continue };
            match op {
                RelOp::In if choosing.is_known(&c.right) => {
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
                    self.offer_member(env, choosing, at, (a, c.left_partial), set)?;
                }
                RelOp::Equal if self.offer_equal(env, choosing, open, at, &c)?.is_none() => return Ok(None),
                RelOp::Subset => self.offer_subset(env, choosing, open, at, pending)?,
                _ => {}
            }
        }
        Ok(Some(()))
    }

    /// `pattern : set`
    fn offer_member(
        &self,
        env: &mut Env,
        choosing: &mut Choosing,
        at: usize,
        (a, partial): (&Expr, bool),
        set: Value,
    ) -> Res<()> {
        let unknown = choosing.unknown;
        if let ExprKind::Var(var) = a.kind
            && unknown.contains(&var)
            && is_function_space(&set)
        {
            match self.function_space(env, &set)? {
                Some(space) if space.is_open() => {
                    choosing.offer(OPEN_ROWS_COST, Binder::Function { at, var });
                }
                Some(_) => choosing.offer(self.card(env, &set)?.log2(), Binder::Function { at, var }),
                None => {}
            }
            return Ok(());
        }
        if let (ExprKind::Var(v), Value::Symbolic(s)) = (&a.kind, &set)
            && unknown.contains(v)
            && let Symbolic::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1), s) = &**s
        {
            let injective = matches!(op, UnOp::Iseq | UnOp::Iseq1);
            choosing.sequences.push((at, *v, injective, self.card(env, s)?));
        }
        if (self.binds(unknown, a) || self.binds_parts(unknown, a))
            && self.may_match(env, unknown, &choosing.known_sequences, a, partial)?
            && self.falls_apart(env, unknown, a)?
        {
            let cost = match self.member_cost(env, unknown, a, &set) {
                // A set that is not listed here may be one that is cut to the scope.
                Err(e) if e.is_incomplete() && self.machine.integers_in_scope => f64::INFINITY,
                other => other?,
            };
            if cost.is_finite() {
                choosing.offer(cost, Binder::Member { at });
            }
        } else if let Some(rows) = self.rows_of_application(env, choosing, a)? {
            choosing.offer(Card::of(rows).log2(), Binder::Rows { at });
        }
        Ok(())
    }

    /// How many rows a known function has that is applied to a pattern; nothing where rows may not be used.
    fn rows_of_application(&self, env: &mut Env, choosing: &Choosing, e: &Expr) -> Res<Option<usize>> {
        if choosing.careful {
            return Ok(None);
        }
        if let Some((f, arg)) = self.known_application(choosing.unknown, e)
            && self.binds(choosing.unknown, arg)
            && let Ok(f) = self.eval(env, f)
        {
            return Ok(self.list(env, &f)?.map(|rows| rows.len()));
        }
        Ok(None)
    }

    /// An equation with a side that is taken apart, that defines a function by itself, or that applies a function.
    fn offer_equal(
        &self,
        env: &mut Env,
        choosing: &mut Choosing,
        open: &[Item],
        at: usize,
        c: &Conjunct,
    ) -> Res<Solvable> {
        let PredKind::Rel(_, a, b) = &c.pred.kind else { return Ok(Some(())) };
        let unknown = choosing.unknown;
        for (x, y, free, pattern_left) in [(a, b, &c.right, true), (b, a, &c.left, false)] {
            let partial = if pattern_left { c.left_partial } else { c.right_partial };
            if destructure::is_compound(x)
                && choosing.is_known(free)
                && self.may_match(env, unknown, &choosing.known_sequences, x, partial)?
                && let Ok(value) = self.eval(env, y)
            {
                match self.parting(env, (unknown, open), x, &value)? {
                    Some(Some(parting)) => {
                        choosing.offer(parting.cost(), Binder::Parts { at, pattern_left });
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
                choosing.offer(RECURSIVE_COST, Binder::Recursive { at, pattern_left });
            }
        }
        for (x, y_free) in [(a, &c.right), (b, &c.left)] {
            if choosing.is_known(y_free)
                && let Some(rows) = self.rows_of_application(env, choosing, x)?
            {
                choosing.offer(Card::of(rows).log2() / 2.0, Binder::Rows { at });
            }
        }
        Ok(Some(()))
    }

    /// `v <: set`: remembered with the elements of the set.
    fn offer_subset(
        &self,
        env: &mut Env,
        choosing: &mut Choosing,
        open: &mut [Item],
        at: usize,
        pending: &mut Option<Error>,
    ) -> Res<()> {
        let c = open[at].conjunct.clone();
        let PredKind::Rel(_, a, b) = &c.pred.kind else { return Ok(()) };
        let ExprKind::Var(v) = a.kind else { return Ok(()) };
        if !choosing.unknown.contains(&v) || !choosing.is_known(&c.right) {
            return Ok(());
        }
        if open[at].set.is_none() {
            match self.eval(env, b) {
                Ok(set) => open[at].set = Some(set),
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => {
                    *pending = Some(worse(pending.take(), e));
                    return Ok(());
                }
            }
        }
        if let Some(set) = open[at].set.clone()
            && let Some(list) = self.list(env, &set)?
        {
            choosing.below.push((at, v, list));
        }
        Ok(())
    }

    /// What listed sets, lengths of sequences and confined subsets offer, several conjuncts together.
    fn offer_sets(&self, env: &mut Env, choosing: &mut Choosing, open: &[Item]) -> Res<()> {
        let unknown = choosing.unknown;
        for (at, item) in open.iter().enumerate() {
            if let Some(Value::Set(elements)) = &item.set
                && let Some(found) = self.fitting(env, unknown, open, item, elements)?
            {
                choosing.offer(Card::of(found.len().max(1)).log2(), Binder::Found { at, found });
            }
        }
        for (at, var, injective, images) in std::mem::take(&mut choosing.sequences) {
            if let Some((low, high)) = self.lengths(env, unknown, open, var, injective)? {
                let cost = match images {
                    Card::Infinite | Card::Unknown => OPEN_ROWS_COST,
                    finite => finite.log2().max(1.0) * high as f64,
                };
                choosing.offer(cost, Binder::Sequence { at, var, low, high });
            }
        }
        let below = std::mem::take(&mut choosing.below);
        for v in unknown.iter().filter(|v| !below.iter().any(|(_, w, _)| w == *v)) {
            if let Some(upper) = self.confined(env, unknown, open, *v)? {
                let candidates = self.subsets_of(env, unknown, open, *v, &upper)?;
                choosing.offer(candidates.cost(), Binder::Subset { at: None, var: *v, candidates });
            }
        }
        for (at, var, list) in below {
            let candidates = self.subsets_of(env, unknown, open, var, &list)?;
            choosing.offer(candidates.cost(), Binder::Subset { at: Some(at), var, candidates });
        }
        Ok(())
    }

    /// Intervals, whole types, and cases.
    fn offer_ranges(&self, env: &mut Env, choosing: &mut Choosing, open: &[Item]) -> Res<Solvable> {
        let unknown = choosing.unknown;
        let Some(intervals) = self.intervals(env, unknown, open)? else { return Ok(None) };
        for (var, set) in intervals {
            let cost = self.card(env, &set)?.log2();
            choosing.offer(cost, Binder::Interval { var, set });
        }
        for v in unknown {
            let ty = self.type_of(*v);
            if mentions_any(&ty) {
                continue;
            }
            let set = self.type_set(&ty);
            let card = self.card(env, &set)?;
            if !matches!(card, Card::Infinite | Card::Unknown) {
                choosing.offer(card.log2() + TYPE_COST, Binder::Type { var: *v, set });
            }
        }
        for (at, item) in open.iter().enumerate() {
            if item.conjunct.split().is_some() && !is_pass(unknown, item) {
                choosing.offer(self.cases_cost(unknown, &item.conjunct), Binder::Cases { at });
            }
        }
        Ok(Some(()))
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
}

/// Whether a membership gives all variables their values in one pass over a set that is listed already. That takes no
/// longer than listing it did; to take the set apart again, or to propagate, wins nothing.
pub(crate) fn is_pass(unknown: &[VarId], item: &Item) -> bool {
    let PredKind::Rel(RelOp::In, pattern, _) = &item.conjunct.pred.kind else { return false };
    let mut vars = Vec::new();
    matches!(item.set, Some(Value::Set(_)))
        && is_plain(pattern, unknown, &mut vars)
        && vars.len() == unknown.len()
}

pub(crate) fn is_comprehension(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Compr(..) | ExprKind::Big(bombus_lang::typed::BigOp::Lambda, ..) => true,
        ExprKind::Symbolic(inner) => is_comprehension(inner),
        ExprKind::Binary(BinOp::Union, a, b) => is_comprehension(a) || is_comprehension(b),
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
