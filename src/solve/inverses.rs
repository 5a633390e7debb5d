//! Bounds of what stands under an operator, from bounds of the operator's value.
//!
//! In: an integer expression with unknown variables and the range that its value has in every solution. Out: sums that
//! are at most zero in every solution. `x/3 = 4` leaves 12..14, `2**x < 100` at most 6, `max({x,3}) = 7` only 7,
//! `card(1..n) = 5` only 5. Each rule takes away only values for which the operator has a value, and that value
//! lies outside of the range; where the operator may have no value, `bounds` notes that the step is loose.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::bounds::{Linear, Range, Table, both, floor_div};
use crate::solve::order::Item;
use crate::solve::products::power_of;
use bombus_base::Int;
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, Type, UnOp};
use bombus_lang::value::Value;

/// Formulas nested deeper than this are not looked into.
pub(super) const DEPTH: u32 = 32;

/// Whether an expression is `a..b`.
pub(super) fn is_interval(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Binary(BinOp::Interval, ..))
}

/// Whether some operator that `invert` looks under stands in an expression.
pub(super) fn is_invertible(e: &Expr, depth: u32) -> bool {
    depth > 0
        && match &e.kind {
            // A product with a number is invertible if the other factor is.
            ExprKind::Binary(BinOp::Mul, a, b)
                if !matches!(a.kind, ExprKind::Int(_)) && !matches!(b.kind, ExprKind::Int(_)) =>
            {
                true
            }
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
                is_invertible(a, depth - 1) || is_invertible(b, depth - 1)
            }
            ExprKind::Unary(UnOp::Neg, a) => is_invertible(a, depth - 1),
            ExprKind::Binary(BinOp::Div | BinOp::Power, ..) => true,
            ExprKind::Unary(UnOp::Max | UnOp::Min, s) => matches!(s.kind, ExprKind::SetExt(_)),
            ExprKind::Unary(UnOp::Card, s) => is_interval(s),
            _ => false,
        }
}

fn negated(r: &Range) -> Range {
    r.times(&Int::from(-1i64))
}

pub(super) fn number(n: Int) -> Linear {
    Linear::of_range(Range::point(n))
}

impl Interpreter<'_> {
    /// The value of `e` lies in `range`: adds the sums that are at most zero because of that.
    pub(super) fn invert(
        &self,
        env: &mut Env,
        table: &Table,
        e: &Expr,
        range: &Range,
        out: &mut Vec<Linear>,
        depth: u32,
    ) -> Res<()> {
        if depth == 0 || (range.low.is_none() && range.high.is_none()) {
            return Ok(());
        }
        if !self.is_open(table, e) {
            return self.within(env, table, e, range, out);
        }
        match &e.kind {
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) if is_invertible(e, depth) => {
                // a+b in r: a in r-b. a-b in r: a in r+b, b in a-r.
                let (x, y) = (self.range_of(env, table, a)?, self.range_of(env, table, b)?);
                let (for_a, for_b) = match op {
                    BinOp::Add => (range.add(&negated(&y)), range.add(&negated(&x))),
                    _ => (range.add(&y), x.add(&negated(range))),
                };
                self.within(env, table, e, range, out)?;
                self.invert(env, table, a, &for_a, out, depth - 1)?;
                self.invert(env, table, b, &for_b, out, depth - 1)
            }
            ExprKind::Unary(UnOp::Neg, a) if is_invertible(e, depth) => {
                self.invert(env, table, a, &negated(range), out, depth - 1)
            }
            ExprKind::Binary(BinOp::Mul, a, b) if is_invertible(e, depth) => {
                self.within(env, table, e, range, out)?;
                for (k, x) in [(a, b), (b, a)] {
                    if let Some(k) = self.known_number(env, table, k)? {
                        return self.invert(env, table, x, &quotient(range, &k), out, depth - 1);
                    }
                }
                match power_of(e) {
                    Some(power) => self.bases(power, range, out),
                    None => self.divisors(env, table, e, range, out)?,
                }
                Ok(())
            }
            ExprKind::Binary(BinOp::Div, a, k) => match self.known_number(env, table, k)? {
                Some(k) if !k.is_zero() => self.invert(env, table, a, &dividend(range, &k), out, depth - 1),
                _ => Ok(()),
            },
            ExprKind::Binary(BinOp::Power, k, x) => match self.known_number(env, table, k)? {
                Some(k) if k > Int::ONE => match exponents(range, &k) {
                    Some(exponents) => self.invert(env, table, x, &exponents, out, depth - 1),
                    None => Ok(()),
                },
                _ => {
                    if let Some(power) = power_of(e) {
                        self.bases(power, range, out);
                    }
                    self.within(env, table, e, range, out)
                }
            },
            ExprKind::Unary(op @ (UnOp::Max | UnOp::Min), s) => match &s.kind {
                ExprKind::SetExt(es) if !es.is_empty() => {
                    self.invert_extreme(env, table, (*op == UnOp::Max, es), range, out, depth - 1)
                }
                _ => Ok(()),
            },
            ExprKind::Unary(UnOp::Card, s) => match &s.kind {
                ExprKind::Binary(BinOp::Interval, a, b) => {
                    self.interval_of_size(env, table, (a, b), range, out)
                }
                _ => self.within(env, table, e, range, out),
            },
            _ => self.within(env, table, e, range, out),
        }
    }

    /// The sums that say just that: `e - high <= 0`, `low - e <= 0`.
    fn within(
        &self,
        env: &mut Env,
        table: &Table,
        e: &Expr,
        range: &Range,
        out: &mut Vec<Linear>,
    ) -> Res<()> {
        let sum = self.linear(env, table, e)?;
        out.extend(range.high.clone().map(|h| sum.clone().minus(number(h))));
        out.extend(range.low.clone().map(|l| number(l).minus(sum)));
        Ok(())
    }

    /// No element is beyond a maximum; and if all others are known to be below what the maximum is at least, the one
    /// that is left reaches it. Likewise for a minimum.
    fn invert_extreme(
        &self,
        env: &mut Env,
        table: &Table,
        (is_max, es): (bool, &[Expr]),
        range: &Range,
        out: &mut Vec<Linear>,
        depth: u32,
    ) -> Res<()> {
        let (far, near) = if is_max { (&range.high, &range.low) } else { (&range.low, &range.high) };
        let side = |n: &Option<Int>, is_high: bool| match is_high {
            true => Range { low: None, high: n.clone() },
            false => Range { low: n.clone(), high: None },
        };
        for e in es {
            self.invert(env, table, e, &side(far, is_max), out, depth)?;
        }
        let Some(reached) = near else { return Ok(()) };
        let mut candidates = Vec::new();
        for e in es {
            let r = self.range_of(env, table, e)?;
            let falls_short = match is_max {
                true => r.high.is_some_and(|h| h < *reached),
                false => r.low.is_some_and(|l| l > *reached),
            };
            if !falls_short {
                candidates.push(e);
            }
        }
        match candidates[..] {
            [e] => self.invert(env, table, e, &side(near, !is_max), out, depth),
            // No element reaches it: nothing is a solution.
            [] => {
                out.push(number(Int::ONE));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `a..b` has b-a+1 elements, or none if that is negative. So b-a+1 is at most what the size is at most, which
    /// is not negative, and at least what it is at least, if that is positive.
    fn interval_of_size(
        &self,
        env: &mut Env,
        table: &Table,
        (a, b): (&Expr, &Expr),
        range: &Range,
        out: &mut Vec<Linear>,
    ) -> Res<()> {
        let length = self.linear(env, table, b)?.minus(self.linear(env, table, a)?).plus(number(Int::ONE));
        match &range.high {
            Some(high) if high.is_negative() => out.push(number(Int::ONE)),
            Some(high) => out.push(length.clone().minus(number(high.clone()))),
            None => {}
        }
        if let Some(low) = range.low.as_ref().filter(|l| **l >= Int::ONE) {
            out.push(number(low.clone()).minus(length));
        }
        Ok(())
    }

    /// `a..b <: s`, where all of s lies between two numbers. An interval with elements has both its ends in s. One
    /// without has b < a, so that in any case b is at most the greater of the end of s and of a-1, and a at least the
    /// less of the beginning of s and of b+1.
    pub(super) fn interval_inside(
        &self,
        env: &mut Env,
        table: &Table,
        open: &[Item],
        (interval, s): (&Expr, &Expr),
    ) -> Res<Vec<Linear>> {
        let ExprKind::Binary(BinOp::Interval, a, b) = &interval.kind else { return Ok(Vec::new()) };
        let Some(hull) = self.ends_of_set(env, table, s)? else { return Ok(Vec::new()) };
        let ordered = self.is_ordered(env, table, open, a, b)?;
        let (x, y) = (self.range_of(env, table, a)?, self.range_of(env, table, b)?);
        let within = match hull {
            Some(within) if ordered => within,
            Some(within) => Range {
                low: both(&within.low, &y.low, |l, m| l.clone().min(m.add(&Int::ONE))),
                high: both(&within.high, &x.high, |h, m| h.clone().max(m.sub(&Int::ONE))),
            },
            // Only an interval without elements lies in the empty set.
            None if ordered => return Ok(vec![number(Int::ONE)]),
            None => Range { low: y.low.map(|l| l.add(&Int::ONE)), high: x.high.map(|h| h.sub(&Int::ONE)) },
        };
        let mut out = Vec::new();
        out.extend(within.high.map(|h| (b, h)).map(|(b, h)| (b, Range { low: None, high: Some(h) })));
        out.extend(within.low.map(|l| (a, Range { low: Some(l), high: None })));
        let mut sums = Vec::new();
        for (e, range) in out {
            self.invert(env, table, e, &range, &mut sums, DEPTH)?;
        }
        Ok(sums)
    }

    /// Numbers between which a set of integers lies, `Some(None)` if the set is empty; `None` if nothing is known of it.
    fn ends_of_set(&self, env: &mut Env, table: &Table, s: &Expr) -> Res<Option<Option<Range>>> {
        if !self.is_open(table, s) {
            let set = match self.eval_lazy(env, s) {
                Ok(set) => set,
                Err(e) if e.is_stop() => return Err(e),
                Err(_) => return Ok(None),
            };
            let spans = self.spans(env, &set)?;
            return Ok(spans.map(|spans| spans.hull().map(|(low, high)| Range { low, high })));
        }
        let ExprKind::Binary(BinOp::Interval, l, h) = &s.kind else { return Ok(None) };
        let low = self.range_of(env, table, l)?.low;
        Ok(Some(Some(Range { low, high: self.range_of(env, table, h)?.high })))
    }

    /// Whether `a <= b` in every solution: by their ranges, or because a conjunct that is defined says that or more.
    fn is_ordered(&self, env: &mut Env, table: &Table, open: &[Item], a: &Expr, b: &Expr) -> Res<bool> {
        if let (Some(x), Some(y)) = (self.range_of(env, table, a)?.high, self.range_of(env, table, b)?.low)
            && x <= y
        {
            return Ok(true);
        }
        let difference = self.linear(env, table, a)?.minus(self.linear(env, table, b)?);
        for item in open {
            let c = &item.conjunct;
            let PredKind::Rel(op, x, y) = &c.pred.kind else { continue };
            let (small, large, strict) = match op {
                RelOp::LessEqual => (x, y, 0i64),
                RelOp::Less => (x, y, 1),
                RelOp::GreaterEqual => (y, x, 0),
                RelOp::Greater => (y, x, 1),
                _ => continue,
            };
            if x.ty != Type::Integer || c.partial {
                continue;
            }
            // small - large + strict <= 0; if that is a-b plus something that is not negative, then a-b <= 0.
            let said = self.linear(env, table, small)?.minus(self.linear(env, table, large)?);
            let more = said.plus(number(Int::from(strict))).minus(difference.clone());
            if more.terms.is_empty() && more.rest.low.is_some_and(|l| !l.is_negative()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The range of a quotient, a number of elements, a maximum or a minimum, from the ranges of what they are of.
    pub(super) fn range_by_operator(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<Range> {
        let none = Range::default();
        Ok(match &e.kind {
            // Division by a positive number that rounds towards zero grows with the dividend.
            ExprKind::Binary(BinOp::Div, a, k) => match self.known_number(env, table, k)? {
                Some(k) if !k.is_zero() => {
                    let divisor = if k.is_negative() { k.neg() } else { k.clone() };
                    let r = self.range_of(env, table, a)?;
                    let divide = |n: &Option<Int>| n.as_ref().and_then(|n| n.div(&divisor));
                    let r = Range { low: divide(&r.low), high: divide(&r.high) };
                    if k.is_negative() { negated(&r) } else { r }
                }
                _ => none,
            },
            ExprKind::Unary(UnOp::Card, s) => match &s.kind {
                ExprKind::Binary(BinOp::Interval, a, b) => {
                    let (x, y) = (self.range_of(env, table, a)?, self.range_of(env, table, b)?);
                    let length = y.add(&negated(&x)).add(&Range::point(Int::ONE));
                    let at_least_none = |n: Int| n.max(Int::ZERO);
                    Range {
                        low: Some(length.low.map_or(Int::ZERO, at_least_none)),
                        high: length.high.map(at_least_none),
                    }
                }
                _ => Range { low: Some(Int::ZERO), high: None },
            },
            ExprKind::Unary(op, s) => match &s.kind {
                ExprKind::SetExt(es) if !es.is_empty() => {
                    let mut ranges = Vec::with_capacity(es.len());
                    for e in es {
                        let r = self.range_of(env, table, e)?;
                        ranges.push(if *op == UnOp::Max { r } else { negated(&r) });
                    }
                    // A maximum is at least each, and at most the greatest if all are bounded.
                    let low = ranges.iter().filter_map(|r| r.low.clone()).max();
                    let highs: Option<Vec<Int>> = ranges.iter().map(|r| r.high.clone()).collect();
                    let r = Range { low, high: highs.and_then(|all| all.into_iter().max()) };
                    if *op == UnOp::Max { r } else { negated(&r) }
                }
                _ => none,
            },
            _ => none,
        })
    }

    /// Whether an expression has a value for all values that are left to its unknown variables.
    pub(super) fn is_defined_within(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<bool> {
        if !may_be_undefined(e) {
            return Ok(true);
        }
        if !self.is_open(table, e) {
            return match self.eval(env, e) {
                Ok(_) => Ok(true),
                Err(e) if e.is_stop() => Err(e),
                Err(_) => Ok(false),
            };
        }
        match &e.kind {
            ExprKind::Unary(UnOp::Neg, a) => self.is_defined_within(env, table, a),
            ExprKind::Binary(op, a, b) => {
                if !self.is_defined_within(env, table, a)? || !self.is_defined_within(env, table, b)? {
                    return Ok(false);
                }
                Ok(match op {
                    BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Interval => true,
                    BinOp::Power => self.range_of(env, table, b)?.low.is_some_and(|l| !l.is_negative()),
                    BinOp::Div => {
                        let r = self.range_of(env, table, b)?;
                        r.low.is_some_and(|l| l >= Int::ONE) || r.high.is_some_and(|h| h.is_negative())
                    }
                    BinOp::Mod => {
                        let (x, y) = (self.range_of(env, table, a)?, self.range_of(env, table, b)?);
                        x.low.is_some_and(|l| !l.is_negative()) && y.low.is_some_and(|l| l >= Int::ONE)
                    }
                    _ => false,
                })
            }
            _ => Ok(false),
        }
    }

    fn known_number(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<Option<Int>> {
        if self.is_open(table, e) {
            return Ok(None);
        }
        match self.eval(env, e) {
            Ok(Value::Int(n)) => Ok(Some(n)),
            Err(e) if e.is_stop() => Err(e),
            _ => Ok(None),
        }
    }
}

/// The numbers x with k*x in `range`; all if k is zero.
pub(super) fn quotient(range: &Range, k: &Int) -> Range {
    if k.is_zero() {
        return Range::default();
    }
    let (range, k) = if k.is_negative() { (negated(range), k.neg()) } else { (range.clone(), k.clone()) };
    Range {
        low: range.low.map(|l| floor_div(&l.neg(), &k).neg()),
        high: range.high.map(|h| floor_div(&h, &k)),
    }
}

/// The numbers x with x/k in `range`, for a k that is not zero. A quotient q >= 1 has x >= k*q, and q >= l for an l that
/// is not positive has x >= k*l-(k-1), because rounding is towards zero; likewise from above.
fn dividend(range: &Range, k: &Int) -> Range {
    let (range, k) = if k.is_negative() { (negated(range), k.neg()) } else { (range.clone(), k.clone()) };
    let rest = k.sub(&Int::ONE);
    let end = |n: &Int, outwards: bool| if outwards { k.mul(n).add(&rest) } else { k.mul(n) };
    Range {
        low: range.low.map(|l| if l >= Int::ONE { end(&l, false) } else { k.mul(&l).sub(&rest) }),
        high: range.high.map(|h| end(&h, !h.is_negative())),
    }
}

/// The exponents x >= 0 with k**x in `range`, for k >= 2; `None` if they are too large to be looked for. A power with
/// a negative exponent has no value, so that exponents below 0 are not taken away here.
fn exponents(range: &Range, k: &Int) -> Option<Range> {
    const MOST: usize = 4096;
    let Some(high) = &range.high else { return Some(Range::default()) };
    let mut power = Int::ONE;
    for n in 0..MOST {
        if power > *high {
            return Some(Range { low: None, high: Some(Int::from(n).sub(&Int::ONE)) });
        }
        power = power.mul(k);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: Option<i64>, high: Option<i64>) -> Range {
        Range { low: low.map(Int::from), high: high.map(Int::from) }
    }

    fn contains(r: &Range, n: i64) -> bool {
        r.low.as_ref().is_none_or(|l| *l <= Int::from(n))
            && r.high.as_ref().is_none_or(|h| *h >= Int::from(n))
    }

    fn ends() -> impl Iterator<Item = (Option<i64>, Option<i64>)> {
        let all = || std::iter::once(None).chain((-7..=7).map(Some));
        all().flat_map(move |l| all().map(move |h| (l, h)))
    }

    #[test]
    fn a_dividend_lies_in_its_range_just_if_the_quotient_does() {
        for (l, h) in ends().filter(|(l, h)| l.zip(*h).is_none_or(|(l, h)| l <= h)) {
            for k in (-4..=4).filter(|k| *k != 0) {
                let found = dividend(&range(l, h), &Int::from(k));
                for x in -60..=60i64 {
                    // Rust rounds quotients towards zero, as B does.
                    assert_eq!(contains(&found, x), contains(&range(l, h), x / k), "{x}/{k} in {l:?}..{h:?}");
                }
            }
        }
    }

    #[test]
    fn a_factor_lies_in_its_range_just_if_the_product_does() {
        for (l, h) in ends() {
            for k in (-4..=4).filter(|k| *k != 0) {
                let found = quotient(&range(l, h), &Int::from(k));
                for x in -20..=20i64 {
                    assert_eq!(contains(&found, x), contains(&range(l, h), k * x), "{k}*{x} in {l:?}..{h:?}");
                }
            }
        }
    }

    #[test]
    fn an_exponent_lies_in_its_range_just_if_the_power_is_not_too_large() {
        for k in 2..=5i64 {
            for high in -3..=300i64 {
                let found = exponents(&range(None, Some(high)), &Int::from(k)).expect("small powers");
                for x in 0..=10u32 {
                    assert_eq!(contains(&found, i64::from(x)), k.pow(x) <= high, "{k}**{x} <= {high}");
                }
            }
        }
    }
}
