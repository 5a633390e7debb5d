//! Bounds of factors, and of the bases of powers.
//!
//! In: a product of unknown integers and the range that its value has in every solution. Out: sums that are at most zero
//! in every solution. `x*x = 49` leaves -8..8, `x*y = 6` at most 6 and at least -6 for both, and of a sum of squares each
//! is at most what the sum leaves.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::bounds::{Linear, Range, Table, both, floor_div};
use crate::solve::inverses::number;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Type, VarId};

/// The variable that is multiplied with itself, and how often; `None` if the expression is no such product.
pub(super) fn power_of(e: &Expr) -> Option<(VarId, u32)> {
    fn exponent(e: &Expr, var: &mut Option<VarId>) -> Option<u32> {
        match &e.kind {
            ExprKind::Var(v) if var.is_none_or(|w| w == *v) && e.ty == Type::Integer => {
                *var = Some(*v);
                Some(1)
            }
            ExprKind::Binary(BinOp::Mul, a, b) if e.ty == Type::Integer => {
                exponent(a, var)?.checked_add(exponent(b, var)?)
            }
            ExprKind::Binary(BinOp::Power, a, n) if e.ty == Type::Integer => match &n.kind {
                ExprKind::Int(n) => {
                    let n = u32::try_from(n.small()?).ok().filter(|n| (1..=64).contains(n))?;
                    exponent(a, var)?.checked_mul(n)
                }
                _ => None,
            },
            _ => None,
        }
    }
    let mut var = None;
    let n = exponent(e, &mut var)?;
    Some((var?, n))
}

/// A number that no base has to exceed for a power with exponent `n` of at most `most`, which is not negative; `None` if
/// `most` is large.
fn beyond_root(most: &Int, n: u32) -> Option<Int> {
    // One more than the root of the nearest float is surely not less than the root.
    Some(Int::from((most.small()? as f64).powf(1.0 / f64::from(n)) as i64 + 1))
}

impl Interpreter<'_> {
    /// `v**n` lies in `range`. A power with an even exponent is not negative, and no greater base, nor its opposite, has
    /// a smaller one; a power with an odd exponent grows with its base and has its sign.
    pub(super) fn bases(&self, (v, n): (VarId, u32), range: &Range, out: &mut Vec<Linear>) {
        let base = || Linear { terms: vec![(v, Int::ONE)], rest: Range::point(Int::ZERO) };
        let opposite = || base().times(&Int::from(-1i64));
        if n % 2 == 0 {
            match &range.high {
                Some(high) if high.is_negative() => out.push(number(Int::ONE)),
                Some(high) => {
                    if let Some(root) = beyond_root(high, n) {
                        out.push(base().minus(number(root.clone())));
                        out.push(opposite().minus(number(root)));
                    }
                }
                None => {}
            }
            return;
        }
        for (end, side) in [(range.high.clone(), base()), (range.low.as_ref().map(Int::neg), opposite())] {
            match end {
                Some(end) if end.is_negative() => out.push(side.plus(number(Int::ONE))),
                Some(end) => out.extend(beyond_root(&end, n).map(|root| side.minus(number(root)))),
                None => {}
            }
        }
    }

    /// `a*b` lies in a range without zero: neither factor is zero then, so that each of them is at most as far from zero as
    /// the product.
    pub(super) fn divisors(
        &self,
        env: &mut Env,
        table: &Table,
        product: &Expr,
        range: &Range,
        out: &mut Vec<Linear>,
    ) -> Res<()> {
        let (Some(low), Some(high)) = (&range.low, &range.high) else { return Ok(()) };
        let most = match (low >= &Int::ONE, high.is_negative()) {
            (true, _) => high.clone(),
            (_, true) => low.neg(),
            _ => return Ok(()),
        };
        let mut open = vec![product];
        while let Some(e) = open.pop() {
            match &e.kind {
                ExprKind::Binary(BinOp::Mul, a, b) => open.extend([&**a, &**b]),
                _ => {
                    let factor = self.linear(env, table, e)?;
                    out.push(factor.clone().minus(number(most.clone())));
                    out.push(factor.times(&Int::from(-1i64)).minus(number(most.clone())));
                }
            }
        }
        Ok(())
    }

    /// `a*b <= e` with factors that are not negative, one of them positive: the other is at most `e` by the least
    /// that one can be.
    pub(super) fn bound_factors(
        &self,
        env: &mut Env,
        table: &mut Table,
        product: &Expr,
        e: &Expr,
    ) -> Res<()> {
        let ExprKind::Binary(BinOp::Mul, a, b) = &product.kind else { return Ok(()) };
        let Some(high) = self.range_of(env, table, e)?.high else { return Ok(()) };
        for (x, y) in [(a, b), (b, a)] {
            let (low, least) = (self.range_of(env, table, x)?.low, self.range_of(env, table, y)?.low);
            if let (Some(low), Some(least)) = (low, least)
                && !low.is_negative()
                && least >= Int::ONE
                && !high.is_negative()
            {
                let bound = Linear::of_range(Range::point(floor_div(&high, &least)));
                let factor = self.linear(env, table, x)?;
                table.at_most_zero(&factor.minus(bound));
            }
        }
        Ok(())
    }

    /// The range of a product of unknowns.
    pub(super) fn range_of_product(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<Range> {
        let ExprKind::Binary(BinOp::Mul, a, b) = &e.kind else { return Ok(Range::default()) };
        let (x, y) = (self.range_of(env, table, a)?, self.range_of(env, table, b)?);
        Ok(match (&x.low, &y.low) {
            // Both factors not negative: the product grows with each.
            (Some(l), Some(m)) if !l.is_negative() && !m.is_negative() => {
                Range { low: Some(l.mul(m)), high: both(&x.high, &y.high, Int::mul) }
            }
            _ => match power_of(e) {
                Some((_, n)) if n % 2 == 0 => Range { low: Some(Int::ZERO), high: None },
                _ => Range::default(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_of_a_base_beyond_the_root_is_greater() {
        for n in 2..=5u32 {
            for most in 0..=5000i64 {
                let root = beyond_root(&Int::from(most), n).and_then(|r| r.small()).expect("a small root");
                assert!((root + 1).pow(n) > most, "{}**{n} > {most}", root + 1);
            }
        }
    }
}
