//! Where a polynomial of one integer is at least zero.
//!
//! In: coefficients. Out: the integers at which the value is not negative, as intervals. The step from x to x+1 is a
//! polynomial of a lower degree; where it is not negative the values rise, elsewhere they fall, so in each such stretch
//! one place parts the negative values from the others, and halving finds it. Exact, for integers of any size.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::integer_sets::Spans;
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Type, UnOp, VarId};
use bombus_lang::value::{ClosureKind, Symbolic, Value};

/// Higher powers are left alone.
const DEGREE: usize = 8;

/// Two arguments with one value are looked for so far from zero.
const NEAR: i64 = 64;
const SAMPLE: usize = 2 * NEAR as usize + 1;

/// The sum of `self.0[i] * x**i`.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial(Vec<Int>);

impl Polynomial {
    fn number(n: Int) -> Polynomial {
        Polynomial(vec![n]).trimmed()
    }

    fn trimmed(mut self) -> Polynomial {
        while self.0.last().is_some_and(Int::is_zero) {
            self.0.pop();
        }
        self
    }

    fn plus(&self, other: &Polynomial) -> Polynomial {
        let at = |p: &Polynomial, i: usize| p.0.get(i).cloned().unwrap_or(Int::ZERO);
        let most = self.0.len().max(other.0.len());
        Polynomial((0..most).map(|i| at(self, i).add(&at(other, i))).collect()).trimmed()
    }

    fn times(&self, other: &Polynomial) -> Polynomial {
        let mut out = vec![Int::ZERO; self.0.len() + other.0.len()];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                out[i + j] = out[i + j].add(&a.mul(b));
            }
        }
        Polynomial(out).trimmed()
    }

    fn negated(&self) -> Polynomial {
        Polynomial(self.0.iter().map(Int::neg).collect())
    }

    pub(crate) fn minus(&self, other: &Polynomial) -> Polynomial {
        self.plus(&other.negated())
    }

    fn at(&self, x: &Int) -> Int {
        self.0.iter().rev().fold(Int::ZERO, |sum, c| sum.mul(x).add(c))
    }

    /// `p(x+1) - p(x)`
    fn step(&self) -> Polynomial {
        let next = Polynomial(vec![Int::ONE, Int::ONE]);
        let moved = self
            .0
            .iter()
            .rev()
            .fold(Polynomial(Vec::new()), |sum, c| sum.times(&next).plus(&Polynomial::number(c.clone())));
        moved.minus(self)
    }

    /// The integers x for which the value lies between two ends.
    pub(crate) fn between(&self, low: Option<&Int>, high: Option<&Int>) -> Spans {
        let number = |n: &Int| Polynomial::number(n.clone());
        let above = low.map(|n| self.minus(&number(n)).nonnegative());
        let below = high.map(|n| number(n).minus(self).nonnegative());
        match (above, below) {
            (Some(a), Some(b)) => a.inter(&b),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Spans::between(None, None),
        }
    }

    /// Whether different integers between two ends have different values: the values rise, or fall, at every step.
    /// `false` says nothing.
    fn is_strict(&self, low: &Option<Int>, high: &Option<Int>) -> bool {
        let steps = Spans::between(low.clone(), high.as_ref().map(|h| h.sub(&Int::ONE)));
        let step = self.step();
        steps.is_subset(&step.between(Some(&Int::ONE), None))
            || steps.is_subset(&step.between(None, Some(&Int::ONE.neg())))
    }

    /// The integers x for which the value is not negative.
    fn nonnegative(&self) -> Spans {
        if self.0.len() <= 1 {
            let holds = self.0.first().is_none_or(|c| !c.is_negative());
            return if holds { Spans::between(None, None) } else { Spans::of_points([]) };
        }
        let rising = self.step().nonnegative();
        let mut out = Spans::of_points([]);
        for (rises, stretches) in [(true, rising.ends()), (false, rising.complement().ends())] {
            for (low, high) in stretches {
                // The step from the last place of a stretch leads to the place behind it.
                let high = high.map(|h| h.add(&Int::ONE));
                out = out.union(&self.part(rises, low, high));
            }
        }
        out
    }

    /// The part of a stretch, in which the values rise (or fall), where they are not negative.
    fn part(&self, rises: bool, low: Option<Int>, high: Option<Int>) -> Spans {
        // Falling values are rising ones, looked at from the other side.
        if !rises {
            let odd = |(i, c): (usize, &Int)| if i % 2 == 1 { c.neg() } else { c.clone() };
            let mirrored = Polynomial(self.0.iter().enumerate().map(odd).collect());
            let (low, high) = (high.map(|h| h.neg()), low.map(|l| l.neg()));
            return mirrored.part(true, low, high).preimage(&Int::ONE.neg(), &Int::ZERO);
        }
        let fits = |x: &Int| !self.at(x).is_negative();
        if low.as_ref().is_some_and(fits) {
            return Spans::between(low, high);
        }
        if high.as_ref().is_some_and(|h| !fits(h)) {
            return Spans::of_points([]);
        }
        // Values without end on one side reach both signs, so doubling the distance meets each.
        let anchor = low.clone().or_else(|| high.clone()).unwrap_or(Int::ZERO);
        let far = |sign: i64, wanted: bool| {
            let mut distance = Int::from(sign);
            loop {
                let x = anchor.add(&distance);
                if fits(&x) == wanted {
                    return x;
                }
                distance = distance.add(&distance);
            }
        };
        let mut no = low.unwrap_or_else(|| if fits(&anchor) { far(-1, false) } else { anchor.clone() });
        let mut yes =
            high.clone().unwrap_or_else(|| if fits(&anchor) { anchor.clone() } else { far(1, true) });
        let two = Int::from(2i64);
        while no.add(&Int::ONE) < yes {
            let distance = yes.sub(&no).div(&two).unwrap_or(Int::ONE);
            let middle = no.add(&distance);
            if fits(&middle) {
                yes = middle;
            } else {
                no = middle;
            }
        }
        Spans::between(Some(yes), high)
    }
}

impl Interpreter<'_> {
    /// Whether `%x.(P|E)` takes no value twice, if E is a polynomial of the integer x; none if that is not known.
    pub(crate) fn polynomial_is_injective(&self, env: &mut Env, f: &Value) -> Res<Option<bool>> {
        let Value::Symbolic(s) = f else { return Ok(None) };
        let Symbolic::Closure(c) = &**s else { return Ok(None) };
        let (ClosureKind::Lambda, [x], [Type::Integer], Some(body)) =
            (c.code.kind, &c.code.vars[..], &c.code.types[..], &c.code.body)
        else {
            return Ok(None);
        };
        self.with_captured(env, c, &mut |this, env| {
            let Some(p) = this.polynomial_in(env, body, *x)? else { return Ok(None) };
            let Some(domain) = this.spans_of_pred(env, &c.code.pred, *x)? else { return Ok(None) };
            let Some((low, high)) = domain.hull() else { return Ok(Some(true)) };
            if p.is_strict(&low, &high) {
                return Ok(Some(true));
            }
            let near = Spans::between(Some(Int::from(-NEAR)), Some(Int::from(NEAR)));
            let mut values: Vec<Int> =
                domain.inter(&near).points(SAMPLE).unwrap_or_default().iter().map(|x| p.at(x)).collect();
            values.sort();
            Ok(values.windows(2).any(|w| w[0] == w[1]).then_some(false))
        })
    }

    /// An expression as a polynomial of `x` that has a value for every x.
    pub(crate) fn polynomial_in(&self, env: &mut Env, e: &Expr, x: VarId) -> Res<Option<Polynomial>> {
        if e.ty != Type::Integer {
            return Ok(None);
        }
        if !free::mentions(e, &|v| v == x) {
            return match self.eval(env, e) {
                Ok(Value::Int(n)) => Ok(Some(Polynomial::number(n))),
                Err(stop) if stop.is_stop() => Err(stop),
                _ => Ok(None),
            };
        }
        let parts = |a: &Expr, b: &Expr, env: &mut Env| -> Res<Option<(Polynomial, Polynomial)>> {
            Ok(self.polynomial_in(env, a, x)?.zip(self.polynomial_in(env, b, x)?))
        };
        let made = match &e.kind {
            ExprKind::Var(_) => Some(Polynomial(vec![Int::ZERO, Int::ONE])),
            ExprKind::Unary(UnOp::Neg, a) => self.polynomial_in(env, a, x)?.map(|p| p.negated()),
            ExprKind::Binary(BinOp::Add, a, b) => parts(a, b, env)?.map(|(p, q)| p.plus(&q)),
            ExprKind::Binary(BinOp::Sub, a, b) => parts(a, b, env)?.map(|(p, q)| p.minus(&q)),
            ExprKind::Binary(BinOp::Mul, a, b) => parts(a, b, env)?.map(|(p, q)| p.times(&q)),
            ExprKind::Binary(BinOp::Power, a, n) if !free::mentions(n, &|v| v == x) => {
                let Some(p) = self.polynomial_in(env, a, x)? else { return Ok(None) };
                match self.eval(env, n) {
                    Ok(Value::Int(n)) => {
                        let exponent = n.small().and_then(|n| usize::try_from(n).ok());
                        exponent
                            .filter(|n| *n <= DEGREE)
                            .map(|n| (0..n).fold(Polynomial::number(Int::ONE), |all, _| all.times(&p)))
                    }
                    Err(stop) if stop.is_stop() => return Err(stop),
                    _ => None,
                }
            }
            _ => None,
        };
        Ok(made.filter(|p| p.0.len() <= DEGREE + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::random::Random;

    #[test]
    fn a_polynomial_is_at_least_zero_just_where_its_value_is() {
        let mut dice = Random(11);
        for _ in 0..2000 {
            let degree = dice.between(0, 4);
            let coefficients: Vec<i64> = (0..=degree).map(|_| dice.between(-9, 9)).collect();
            let p = Polynomial(coefficients.iter().map(|c| Int::from(*c)).collect()).trimmed();
            let spans = p.nonnegative();
            for x in -40..=40i64 {
                let value: i64 = coefficients.iter().rev().fold(0, |sum, c| sum * x + c);
                let point = Spans::of_points([Int::from(x)]);
                assert_eq!(point.is_subset(&spans), value >= 0, "{coefficients:?} at {x}");
            }
        }
    }

    #[test]
    fn large_numbers_are_as_exact_as_small_ones() {
        // x*x <= 10**40, that is |x| <= 10**20.
        let square = Polynomial(vec![Int::ZERO, Int::ZERO, Int::ONE]);
        let ten = (0..20).fold(Int::ONE, |n, _| n.mul(&Int::from(10i64)));
        let within = square.between(None, Some(&ten.mul(&ten)));
        assert_eq!(within, Spans::between(Some(ten.neg()), Some(ten)));
    }
}
