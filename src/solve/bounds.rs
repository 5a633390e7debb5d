//! Bounds of integer variables, from comparisons and memberships.
//!
//! In: the conjuncts still open and the variables still unknown. Out: for each variable bounded on
//! both sides the interval of its values. A few rounds of interval arithmetic on linear forms; sound
//! because every rule only removes values that no solution has.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::elimination;
use crate::solve::inverses::{DEPTH, is_interval, is_invertible};
use crate::solve::order::Item;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, FunctionConst, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Base, Symbolic, Value};

/// Rounds of propagation; each can only tighten what the one before found.
const ROUNDS: usize = 3;

#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    pub(super) low: Option<Int>,
    pub(super) high: Option<Int>,
}

impl Range {
    pub(super) fn point(n: Int) -> Range {
        Range { low: Some(n.clone()), high: Some(n) }
    }

    pub(super) fn add(&self, other: &Range) -> Range {
        Range { low: both(&self.low, &other.low, Int::add), high: both(&self.high, &other.high, Int::add) }
    }

    pub(super) fn times(&self, k: &Int) -> Range {
        let scale = |n: &Option<Int>| n.as_ref().map(|n| n.mul(k));
        if k.is_zero() {
            Range::point(Int::ZERO)
        } else if k.is_negative() {
            Range { low: scale(&self.high), high: scale(&self.low) }
        } else {
            Range { low: scale(&self.low), high: scale(&self.high) }
        }
    }

    /// Whether the bound is news.
    fn at_least(&mut self, n: Int) -> bool {
        let news = self.low.as_ref().is_none_or(|l| *l < n);
        if news {
            self.low = Some(n);
        }
        news
    }

    fn at_most(&mut self, n: Int) -> bool {
        let news = self.high.as_ref().is_none_or(|h| *h > n);
        if news {
            self.high = Some(n);
        }
        news
    }

    fn is_empty(&self) -> bool {
        matches!((&self.low, &self.high), (Some(l), Some(h)) if l > h)
    }
}

pub(super) fn both(a: &Option<Int>, b: &Option<Int>, f: impl Fn(&Int, &Int) -> Int) -> Option<Int> {
    Some(f(a.as_ref()?, b.as_ref()?))
}

/// Division that rounds down, for a divisor that is not zero.
pub(super) fn floor_div(a: &Int, b: &Int) -> Int {
    match a.div(b) {
        Some(q) if q.mul(b) != *a && a.is_negative() != b.is_negative() => q.sub(&Int::ONE),
        Some(q) => q,
        None => Int::ZERO,
    }
}

/// A sum of unknown variables with coefficients, and the range of everything else in it.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) terms: Vec<(VarId, Int)>,
    pub(super) rest: Range,
}

impl Linear {
    pub(super) fn of_range(rest: Range) -> Linear {
        Linear { terms: Vec::new(), rest }
    }

    pub(super) fn times(mut self, k: &Int) -> Linear {
        for (_, c) in &mut self.terms {
            *c = c.mul(k);
        }
        Linear { rest: self.rest.times(k), terms: self.terms }
    }

    pub(super) fn plus(mut self, other: Linear) -> Linear {
        for (v, c) in other.terms {
            match self.terms.iter_mut().find(|(w, _)| *w == v) {
                Some((_, d)) => *d = d.add(&c),
                None => self.terms.push((v, c)),
            }
        }
        self.terms.retain(|(_, c)| !c.is_zero());
        Linear { rest: self.rest.add(&other.rest), terms: self.terms }
    }

    pub(super) fn minus(self, other: Linear) -> Linear {
        self.plus(other.times(&Int::from(-1i64)))
    }
}

pub(super) struct Table<'a> {
    unknown: &'a [VarId],
    ranges: Vec<Range>,
    /// Some range was narrowed in this round.
    narrowed: bool,
}

impl Table<'_> {
    fn has_open_end(&self) -> bool {
        self.ranges.iter().any(|range| range.low.is_none() || range.high.is_none())
    }

    fn range(&self, v: VarId) -> Range {
        self.unknown.iter().position(|w| *w == v).map(|i| self.ranges[i].clone()).unwrap_or_default()
    }

    /// Several sums that are at most zero, all of which are looked at. False if nothing can satisfy one of them.
    fn all_at_most_zero(&mut self, sums: &[Linear]) -> bool {
        let mut possible = true;
        for sum in sums {
            possible &= self.at_most_zero(sum);
        }
        possible
    }

    /// `sum <= 0`: what follows for each variable in it. False if nothing can satisfy it.
    pub(super) fn at_most_zero(&mut self, sum: &Linear) -> bool {
        if sum.terms.is_empty() {
            return sum.rest.low.as_ref().is_none_or(|l| *l <= Int::ZERO);
        }
        for (i, (v, c)) in sum.terms.iter().enumerate() {
            let mut others = sum.rest.clone();
            for (j, (w, d)) in sum.terms.iter().enumerate() {
                if i != j {
                    others = others.add(&self.range(*w).times(d));
                }
            }
            let Some(low) = others.low else { continue };
            // c*v <= -low
            let bound = low.neg();
            let Some(at) = self.unknown.iter().position(|w| w == v) else { continue };
            let range = &mut self.ranges[at];
            if c.is_negative() {
                // v >= bound/c, rounded up.
                let low = floor_div(&bound, &c.neg()).neg();
                self.narrowed |= range.at_least(low);
            } else {
                self.narrowed |= range.at_most(floor_div(&bound, c));
            }
        }
        true
    }
}

impl Interpreter<'_> {
    /// Intervals of the unknown integers that are bounded on both sides; `None` if some interval is
    /// empty, so that there is no solution.
    pub(crate) fn intervals(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
    ) -> Res<Option<Vec<(VarId, Value)>>> {
        let Some(ranges) = self.ranges(env, unknown, open)? else { return Ok(None) };
        let bounded = |r: Range| Some(Value::symbolic(Symbolic::Interval(r.low?, r.high?)));
        Ok(Some(unknown.iter().zip(ranges).filter_map(|(v, r)| Some((*v, bounded(r)?))).collect()))
    }

    /// The ends that are known of one unknown integer; `None` if there is no solution.
    #[allow(clippy::type_complexity)]
    pub(crate) fn ends(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
    ) -> Res<Option<(Option<Int>, Option<Int>)>> {
        let Some(ranges) = self.ranges(env, unknown, open)? else { return Ok(None) };
        let found = unknown.iter().zip(ranges).find(|(v, _)| **v == var);
        Ok(Some(found.map_or((None, None), |(_, r)| (r.low, r.high))))
    }

    /// What is known of each unknown variable; `None` if some range is empty, so that there is no solution.
    fn ranges(&self, env: &mut Env, unknown: &[VarId], open: &[Item]) -> Res<Option<Vec<Range>>> {
        if !unknown.iter().any(|v| self.type_of(*v) == Type::Integer) {
            return Ok(Some(vec![Range::default(); unknown.len()]));
        }
        let mut table = Table { unknown, ranges: vec![Range::default(); unknown.len()], narrowed: false };
        // Sums that are the same in every round are made once.
        let mut kept: Vec<Option<Vec<Linear>>> = vec![None; open.len()];
        // Sums that are zero wherever their conjuncts are defined, and these are defined everywhere.
        let mut equations: Option<Vec<usize>> = Some(Vec::new());
        for round in 0..ROUNDS {
            table.narrowed = false;
            let mut possible = true;
            for (number, (item, kept)) in open.iter().zip(&mut kept).enumerate() {
                let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { continue };
                let between = *op == RelOp::Subset && is_interval(a);
                if a.ty != Type::Integer && !between {
                    continue;
                }
                // What a conjunct says counts only where it has a truth value.
                let partial = !self.is_defined(env, unknown, &item.conjunct)?
                    && (item.conjunct.derived
                        || !self.is_defined_within(env, &table, a)?
                        || !self.is_defined_within(env, &table, b)?);
                if partial && self.careful.get() {
                    continue;
                }
                let before = std::mem::replace(&mut table.narrowed, false);
                let fits = match kept {
                    _ if between => {
                        let sums = self.interval_inside(env, &table, open, (a, b))?;
                        table.all_at_most_zero(&sums)
                    }
                    Some(sums) => table.all_at_most_zero(sums),
                    None => match self.sums(env, &mut table, item)? {
                        None => {
                            if partial {
                                self.loosen();
                            }
                            return Ok(None);
                        }
                        Some(sums) => {
                            let fits = table.all_at_most_zero(&sums);
                            if round == 0 && self.is_fixed(&table, item) {
                                if *op == RelOp::Equal && !partial && sums[0].terms.len() > 1 {
                                    equations.iter_mut().for_each(|all| all.push(number));
                                }
                                *kept = Some(sums);
                            }
                            fits
                        }
                    },
                };
                if partial && (table.narrowed || !fits) {
                    self.loosen();
                }
                table.narrowed |= before;
                possible &= fits;
            }
            if !possible || table.ranges.iter().any(Range::is_empty) {
                return Ok(None);
            }
            if table.narrowed {
                continue;
            }
            // What no equation tells alone, several may tell together.
            let Some(numbers) = equations.take().filter(|all| all.len() > 1 && table.has_open_end()) else {
                break;
            };
            let sums: Vec<&Linear> = numbers.iter().filter_map(|n| kept[*n].as_ref()?.first()).collect();
            let sums: Vec<Linear> = elimination::eliminated(&sums)
                .into_iter()
                .flat_map(|sum| [sum.clone().times(&Int::from(-1i64)), sum])
                .collect();
            if !table.all_at_most_zero(&sums) || table.ranges.iter().any(Range::is_empty) {
                return Ok(None);
            }
            if !table.narrowed {
                break;
            }
        }
        Ok(Some(table.ranges))
    }

    /// Sums that are at most zero in every solution of a conjunct; `None` if it has none.
    fn sums(&self, env: &mut Env, table: &mut Table, item: &Item) -> Res<Option<Vec<Linear>>> {
        let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { return Ok(Some(Vec::new())) };
        Ok(Some(match op {
            RelOp::In => {
                let mut sums = Vec::new();
                let within = if let Some(Value::Symbolic(s)) = item.set() {
                    match &**s {
                        Symbolic::Interval(l, h) => Range { low: Some(l.clone()), high: Some(h.clone()) },
                        Symbolic::Base(Base::Natural) => Range { low: Some(Int::ZERO), high: None },
                        Symbolic::Base(Base::Natural1) => Range { low: Some(Int::ONE), high: None },
                        _ => return Ok(Some(Vec::new())),
                    }
                } else if let Some(Value::Set(elems)) = item.set() {
                    match (elems.first(), elems.last()) {
                        (Some(Value::Int(l)), Some(Value::Int(h))) => {
                            Range { low: Some(l.clone()), high: Some(h.clone()) }
                        }
                        _ => return Ok(None),
                    }
                } else if let ExprKind::Binary(BinOp::Interval, l, h) = &b.kind {
                    // What lies in an interval is no less than its beginning and no more than its end.
                    let x = self.linear(env, table, a)?;
                    sums.push(self.linear(env, table, l)?.minus(x.clone()));
                    sums.push(x.minus(self.linear(env, table, h)?));
                    let low = self.range_of(env, table, l)?.low;
                    Range { low, high: self.range_of(env, table, h)?.high }
                } else {
                    return Ok(Some(Vec::new()));
                };
                self.invert(env, table, a, &within, &mut sums, DEPTH)?;
                sums
            }
            RelOp::Equal => {
                self.bound_factors(env, table, a, b)?;
                self.bound_factors(env, table, b, a)?;
                let (x, y) = (self.linear(env, table, a)?, self.linear(env, table, b)?);
                let mut sums = vec![x.clone().minus(y.clone()), y.minus(x)];
                for (side, other) in [(a, b), (b, a)] {
                    if is_invertible(side, DEPTH) {
                        let range = self.range_of(env, table, other)?;
                        self.invert(env, table, side, &range, &mut sums, DEPTH)?;
                    }
                }
                if !self.polynomial_sums(env, table, (*op, a, b), &mut sums)? {
                    return Ok(None);
                }
                sums
            }
            RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual => {
                let (small, large) = match op {
                    RelOp::Less | RelOp::LessEqual => (a, b),
                    _ => (b, a),
                };
                self.bound_factors(env, table, small, large)?;
                let difference = self.linear(env, table, small)?.minus(self.linear(env, table, large)?);
                let strict = Int::from(i64::from(matches!(op, RelOp::Less | RelOp::Greater)));
                let mut sums = vec![difference.plus(Linear::of_range(Range::point(strict.clone())))];
                if is_invertible(small, DEPTH) {
                    let high = self.range_of(env, table, large)?.high.map(|h| h.sub(&strict));
                    self.invert(env, table, small, &Range { low: None, high }, &mut sums, DEPTH)?;
                }
                if is_invertible(large, DEPTH) {
                    let low = self.range_of(env, table, small)?.low.map(|l| l.add(&strict));
                    self.invert(env, table, large, &Range { low, high: None }, &mut sums, DEPTH)?;
                }
                if !self.polynomial_sums(env, table, (*op, a, b), &mut sums)? {
                    return Ok(None);
                }
                sums
            }
            RelOp::NotIn => match self.not_inside(env, table, a, b)? {
                Some(sums) => sums,
                None => return Ok(None),
            },
            _ => Vec::new(),
        }))
    }

    /// A comparison of polynomials of one unknown that has an open end: the ends of the integers that satisfy it. False if none
    /// does.
    fn polynomial_sums(
        &self,
        env: &mut Env,
        table: &Table,
        (op, a, b): (RelOp, &Expr, &Expr),
        sums: &mut Vec<Linear>,
    ) -> Res<bool> {
        if self.is_sum(table, a) && self.is_sum(table, b) {
            return Ok(true);
        }
        let mut unknown = bombus_lang::free::of_expr(a);
        unknown.extend(bombus_lang::free::of_expr(b));
        unknown.retain(|v| table.unknown.contains(v));
        unknown.sort();
        unknown.dedup();
        let [x] = unknown[..] else { return Ok(true) };
        let range = table.range(x);
        if range.low.is_some() && range.high.is_some() {
            return Ok(true);
        }
        let (Some(p), Some(q)) = (self.polynomial_in(env, a, x)?, self.polynomial_in(env, b, x)?) else {
            return Ok(true);
        };
        let (zero, one) = (Int::ZERO, Int::ONE);
        let difference = p.minus(&q);
        let solutions = match op {
            RelOp::Equal => difference.between(Some(&zero), Some(&zero)),
            RelOp::Less => difference.between(None, Some(&one.neg())),
            RelOp::LessEqual => difference.between(None, Some(&zero)),
            RelOp::Greater => difference.between(Some(&one), None),
            RelOp::GreaterEqual => difference.between(Some(&zero), None),
            _ => return Ok(true),
        };
        let Some((low, high)) = solutions.hull() else { return Ok(false) };
        let var = Linear { terms: vec![(x, Int::ONE)], rest: Range::point(Int::ZERO) };
        let number = |n: Int| Linear::of_range(Range::point(n));
        sums.extend(low.map(|low| number(low).minus(var.clone())));
        sums.extend(high.map(|high| var.minus(number(high))));
        Ok(true)
    }

    /// `a /: low..high`: what is not below the interval is beyond it, and what is not beyond it is below. `None` if nothing lies
    /// outside.
    fn not_inside(&self, env: &mut Env, table: &Table, a: &Expr, set: &Expr) -> Res<Option<Vec<Linear>>> {
        let end = |e: &Expr, env: &mut Env| -> Res<Option<Int>> {
            let range = self.range_of(env, table, e)?;
            Ok(range.low.filter(|low| range.high.as_ref() == Some(low)))
        };
        let (low, high) = match &set.kind {
            ExprKind::Natural => (Int::ZERO, None),
            ExprKind::Natural1 => (Int::ONE, None),
            ExprKind::Binary(BinOp::Interval, low, high) => match (end(low, env)?, end(high, env)?) {
                (Some(low), Some(high)) if low <= high => (low, Some(high)),
                _ => return Ok(Some(Vec::new())),
            },
            _ => return Ok(Some(Vec::new())),
        };
        let range = self.range_of(env, table, a)?;
        let not_below = range.low.as_ref().is_some_and(|n| *n >= low);
        let not_beyond = match (&range.high, &high) {
            (_, None) => true,
            (Some(n), Some(high)) => n <= high,
            (None, Some(_)) => false,
        };
        let number = |n: Int| Linear::of_range(Range::point(n));
        Ok(match (not_below, not_beyond, high) {
            (true, true, _) => None,
            (true, false, Some(high)) => {
                Some(vec![number(high.add(&Int::ONE)).minus(self.linear(env, table, a)?)])
            }
            (false, true, _) => Some(vec![self.linear(env, table, a)?.minus(number(low.sub(&Int::ONE)))]),
            _ => Some(Vec::new()),
        })
    }

    /// Whether the sums of a conjunct do not depend on what is known of the ranges.
    fn is_fixed(&self, table: &Table, item: &Item) -> bool {
        let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { return true };
        match op {
            RelOp::In if item.set.is_none() => false,
            RelOp::NotIn => false,
            RelOp::In => self.is_sum(table, a),
            _ => self.is_sum(table, a) && self.is_sum(table, b),
        }
    }

    /// Whether an expression has no product, power or remainder of unknowns that takes part in its sum.
    fn is_sum(&self, table: &Table, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) => self.is_sum(table, a) && self.is_sum(table, b),
            ExprKind::Unary(UnOp::Neg, a) => self.is_sum(table, a),
            // A sum that is taken several times is one.
            ExprKind::Binary(BinOp::Mul, a, b) if !self.is_open(table, a) => self.is_sum(table, b),
            ExprKind::Binary(BinOp::Mul, a, b) if !self.is_open(table, b) => self.is_sum(table, a),
            ExprKind::Binary(BinOp::Mul | BinOp::Mod | BinOp::Power | BinOp::Div, ..)
            | ExprKind::Unary(UnOp::Max | UnOp::Min | UnOp::Card, _) => !self.is_open(table, e),
            _ => true,
        }
    }

    pub(super) fn is_open(&self, table: &Table, e: &Expr) -> bool {
        bombus_lang::free::mentions(e, &|v| table.unknown.contains(&v))
    }

    pub(super) fn range_of(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<Range> {
        let Linear { terms, rest } = self.linear(env, table, e)?;
        Ok(terms.iter().fold(rest, |r, (v, c)| r.add(&table.range(*v).times(c))))
    }

    pub(super) fn linear(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<Linear> {
        if e.ty != Type::Integer {
            return Ok(Linear::of_range(Range::default()));
        }
        if !self.is_open(table, e) {
            return match self.eval(env, e) {
                Ok(Value::Int(n)) => Ok(Linear::of_range(Range::point(n))),
                Err(err) if err.is_stop() => Err(err),
                _ => Ok(Linear::of_range(Range::default())),
            };
        }
        Ok(match &e.kind {
            ExprKind::Var(v) => Linear { terms: vec![(*v, Int::ONE)], rest: Range::point(Int::ZERO) },
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.linear(env, table, a)?.plus(self.linear(env, table, b)?)
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                self.linear(env, table, a)?.minus(self.linear(env, table, b)?)
            }
            ExprKind::Unary(UnOp::Neg, a) => self.linear(env, table, a)?.times(&Int::from(-1i64)),
            ExprKind::Binary(BinOp::Mul, a, b) => {
                for (k, x) in [(a, b), (b, a)] {
                    if !self.is_open(table, k) {
                        return match self.eval(env, k) {
                            Ok(Value::Int(k)) => Ok(self.linear(env, table, x)?.times(&k)),
                            Err(err) if err.is_stop() => Err(err),
                            _ => Ok(Linear::of_range(Range::default())),
                        };
                    }
                }
                Linear::of_range(self.range_of_product(env, table, e)?)
            }
            // `succ` and `pred` are defined for all integers.
            ExprKind::Apply(f, x) => match f.kind {
                ExprKind::Function(FunctionConst::Succ) => {
                    self.linear(env, table, x)?.plus(Linear::of_range(Range::point(Int::ONE)))
                }
                ExprKind::Function(FunctionConst::Pred) => {
                    self.linear(env, table, x)?.minus(Linear::of_range(Range::point(Int::ONE)))
                }
                _ => Linear::of_range(Range::default()),
            },
            ExprKind::Binary(BinOp::Div, ..) | ExprKind::Unary(UnOp::Card | UnOp::Max | UnOp::Min, _) => {
                Linear::of_range(self.range_by_operator(env, table, e)?)
            }
            ExprKind::Unary(UnOp::Size, _) => Linear::of_range(Range { low: Some(Int::ZERO), high: None }),
            ExprKind::Binary(BinOp::Mod, _, b) => {
                let high = self.range_of(env, table, b)?.high.map(|h| h.sub(&Int::ONE));
                Linear::of_range(Range { low: Some(Int::ZERO), high })
            }
            _ => Linear::of_range(Range::default()),
        })
    }
}
