//! Linear equations put into each other: what several of them say together and none says alone.
//!
//! In: sums of unknown integers that are zero in every solution. Out: sums that are zero too, each with a variable that
//! none of the others has. From `x+y = 10` and `x-y = 4` follow `x = 7` and `y = 3`.
//!
//! Why it is right: every sum that comes out is a combination of those that came in, divided by a common divisor of its
//! coefficients and its constant, so it is zero wherever they are.

use super::bounds::{Linear, Range};
use bombus_base::Int;
use bombus_lang::typed::VarId;
use std::collections::BTreeMap;

/// More equations are not put into each other.
const MOST: usize = 32;
/// Nor are larger coefficients, which only long chains of eliminations make.
const LARGEST: i64 = 1 << 60;

/// Coefficients by variable, without zeros, and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    terms: BTreeMap<VarId, Int>,
    constant: Int,
}

/// The sums in reduced form; empty if there is nothing to put together.
pub(super) fn eliminated(sums: &[&Linear]) -> Vec<Linear> {
    let mut rows: Vec<Row> = sums.iter().filter_map(|sum| Row::of(sum)).collect();
    if rows.len() < 2 || rows.len() > MOST {
        return Vec::new();
    }
    for at in 0..rows.len() {
        let Some((pivot, factor)) = rows[at].terms.first_key_value().map(|(v, c)| (*v, c.clone())) else {
            continue;
        };
        let row = rows[at].clone();
        for other in (0..rows.len()).filter(|n| *n != at) {
            if let Some(coefficient) = rows[other].terms.get(&pivot).cloned() {
                let combined = rows[other].combined(&factor, &row, &coefficient);
                let Some(combined) = combined else { return Vec::new() };
                rows[other] = combined;
            }
        }
    }
    rows.into_iter().map(Row::into_sum).collect()
}

impl Row {
    /// Only sums whose constant is known.
    fn of(sum: &Linear) -> Option<Row> {
        let constant = sum.rest.low.clone().filter(|low| sum.rest.high.as_ref() == Some(low))?;
        let terms: BTreeMap<VarId, Int> = sum.terms.iter().cloned().collect();
        (!terms.is_empty() && terms.len() == sum.terms.len()).then_some(Row { terms, constant })
    }

    fn into_sum(self) -> Linear {
        Linear { terms: self.terms.into_iter().collect(), rest: Range::point(self.constant) }
    }

    /// `factor*self - coefficient*other`, divided by what divides all of it; `None` if its numbers grow too large.
    fn combined(&self, factor: &Int, other: &Row, coefficient: &Int) -> Option<Row> {
        let mut terms: BTreeMap<VarId, Int> = self.terms.iter().map(|(v, c)| (*v, c.mul(factor))).collect();
        for (v, c) in &other.terms {
            let sum = terms.entry(*v).or_insert(Int::ZERO);
            *sum = sum.sub(&c.mul(coefficient));
        }
        terms.retain(|_, c| !c.is_zero());
        let constant = self.constant.mul(factor).sub(&other.constant.mul(coefficient));
        let divisor = terms
            .values()
            .chain([&constant])
            .fold(0i64, |divisor, n| n.small().map_or(1, |n| common(divisor, n.checked_abs().unwrap_or(1))));
        let by = Int::from(divisor.max(1));
        let divided = |n: &Int| n.div(&by).expect("the divisor is positive");
        let row = Row {
            terms: terms.iter().map(|(v, c)| (*v, divided(c))).collect(),
            constant: divided(&constant),
        };
        let fits = |n: &Int| n.small().is_some_and(|n| (-LARGEST..=LARGEST).contains(&n));
        let all_fit = row.terms.values().all(fits) && fits(&row.constant);
        all_fit.then_some(row)
    }
}

fn common(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[(u32, i64)], constant: i64) -> Linear {
        Linear {
            terms: terms.iter().map(|(v, c)| (VarId(*v), Int::from(*c))).collect(),
            rest: Range::point(Int::from(constant)),
        }
    }

    fn is_zero(sum: &Linear, values: &[i64]) -> bool {
        let all = sum.terms.iter().fold(sum.rest.low.clone().expect("a constant"), |all, (v, c)| {
            all.add(&c.mul(&Int::from(values[v.0 as usize])))
        });
        all.is_zero()
    }

    #[test]
    fn two_equations_with_two_unknowns_are_solved() {
        let (one, other) = (sum(&[(0, 1), (1, 1)], -10), sum(&[(0, 1), (1, -1)], -4));
        let found = eliminated(&[&one, &other]);
        assert!(found.iter().all(|s| s.terms.len() == 1 && is_zero(s, &[7, 3])), "{found:?}");
    }

    /// Three sums over -3..3 with coefficients of -3..3, a thousand times.
    #[test]
    fn what_is_zero_before_is_zero_after_and_the_other_way_round() {
        let mut dice = 5u64;
        let mut throw = |low: i64, high: i64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            low + ((dice >> 33) % (high - low + 1) as u64) as i64
        };
        for _ in 0..1_000 {
            let mut row = || {
                let terms: Vec<(u32, i64)> =
                    (0..3).map(|v| (v, throw(-3, 3))).filter(|(_, c)| *c != 0).collect();
                sum(&terms, throw(-5, 5))
            };
            let rows: Vec<Linear> = (0..3).map(|_| row()).filter(|r| !r.terms.is_empty()).collect();
            let found = eliminated(&rows.iter().collect::<Vec<_>>());
            if found.is_empty() {
                continue;
            }
            for n in 0..343 {
                let values = [n % 7 - 3, n / 7 % 7 - 3, n / 49 - 3];
                let before = rows.iter().all(|r| is_zero(r, &values));
                let after = found.iter().all(|r| is_zero(r, &values));
                assert_eq!(before, after, "{rows:?} at {values:?}");
            }
        }
    }
}
