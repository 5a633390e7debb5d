//! Polynomials of several integer terms, and the interval that their values lie in.
//!
//! In: terms by number, each with the ends of its values. Out: sums and products of them in a unique form, so that equal
//! polynomials are seen to be equal, and ends of the values of a polynomial. The ends are those of its summands added up: never
//! too narrow, sometimes too wide.

use bombus_base::Int;
use std::collections::BTreeMap;

/// Larger polynomials are left alone.
const DEGREE: usize = 8;
const SUMMANDS: usize = 64;

/// Both ends of an interval; `None` is no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub low: Option<Int>,
    pub high: Option<Int>,
}

impl Ends {
    pub(crate) const ALL: Ends = Ends { low: None, high: None };

    pub(crate) fn from(low: i64) -> Ends {
        Ends { low: Some(Int::from(low)), high: None }
    }

    fn point(n: &Int) -> Ends {
        Ends { low: Some(n.clone()), high: Some(n.clone()) }
    }

    fn plus(&self, other: &Ends) -> Ends {
        let add = |a: &Option<Int>, b: &Option<Int>| Some(a.as_ref()?.add(b.as_ref()?));
        Ends { low: add(&self.low, &other.low), high: add(&self.high, &other.high) }
    }

    fn negated(&self) -> Ends {
        let turn = |n: &Option<Int>| n.as_ref().map(Int::neg);
        Ends { low: turn(&self.high), high: turn(&self.low) }
    }

    fn is_point(&self, n: &Int) -> bool {
        self.low.as_ref() == Some(n) && self.high.as_ref() == Some(n)
    }

    /// The products of a number of one interval with a number of the other.
    fn times(&self, other: &Ends) -> Ends {
        // Zero times what has no end is zero.
        if self.is_point(&Int::ZERO) || other.is_point(&Int::ZERO) {
            return Ends::point(&Int::ZERO);
        }
        let natural = |n: &Option<Int>| n.as_ref().is_some_and(|n| !n.is_negative());
        if let (Some(a), Some(b), Some(c), Some(d)) = (&self.low, &self.high, &other.low, &other.high) {
            let all = [a.mul(c), a.mul(d), b.mul(c), b.mul(d)];
            return Ends { low: all.iter().min().cloned(), high: all.iter().max().cloned() };
        }
        match (natural(&self.low), natural(&other.low)) {
            // No factor is negative.
            (true, true) => {
                let mul = |a: &Option<Int>, b: &Option<Int>| Some(a.as_ref()?.mul(b.as_ref()?));
                Ends { low: mul(&self.low, &other.low), high: mul(&self.high, &other.high) }
            }
            _ if natural(&self.negated().low) => self.negated().times(other).negated(),
            (true, false) if natural(&other.negated().low) => self.times(&other.negated()).negated(),
            _ => Ends::ALL,
        }
    }
}

/// The sum of coefficients times products of terms; a product is the sorted list of its factors. Invariant: no
/// coefficient is zero.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Sum(BTreeMap<Vec<usize>, Int>);

impl Sum {
    pub(crate) fn number(n: Int) -> Sum {
        Sum::default().with(Vec::new(), &n)
    }

    pub(crate) fn term(number: usize) -> Sum {
        Sum::default().with(vec![number], &Int::ONE)
    }

    fn with(mut self, factors: Vec<usize>, n: &Int) -> Sum {
        let all = self.0.get(&factors).map_or_else(|| n.clone(), |m| m.add(n));
        if all.is_zero() {
            self.0.remove(&factors);
        } else {
            self.0.insert(factors, all);
        }
        self
    }

    pub(crate) fn plus(&self, other: &Sum) -> Sum {
        other.0.iter().fold(self.clone(), |sum, (factors, n)| sum.with(factors.clone(), n))
    }

    pub(crate) fn negated(&self) -> Sum {
        Sum(self.0.iter().map(|(factors, n)| (factors.clone(), n.neg())).collect())
    }

    pub(crate) fn minus(&self, other: &Sum) -> Sum {
        self.plus(&other.negated())
    }

    pub(crate) fn less(&self, n: i64) -> Sum {
        self.minus(&Sum::number(Int::from(n)))
    }

    pub(crate) fn times(&self, other: &Sum) -> Option<Sum> {
        let mut out = Sum::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut factors = [&a[..], &b[..]].concat();
                factors.sort_unstable();
                if factors.len() > DEGREE {
                    return None;
                }
                out = out.with(factors, &n.mul(m));
            }
        }
        (out.0.len() <= SUMMANDS).then_some(out)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some product of terms stands in both.
    pub(crate) fn meets(&self, other: &Sum) -> bool {
        self.0.keys().any(|factors| !factors.is_empty() && other.0.contains_key(factors))
    }

    /// `n*term + m` as (term, n, m).
    pub(crate) fn linear(&self) -> Option<(usize, Int, Int)> {
        let shift = self.0.get(&Vec::new()).cloned().unwrap_or(Int::ZERO);
        let mut others = self.0.iter().filter(|(factors, _)| !factors.is_empty());
        match (others.next(), others.next()) {
            (Some((factors, n)), None) if factors.len() == 1 => Some((factors[0], n.clone(), shift)),
            _ => None,
        }
    }

    /// An interval in which all values lie, where each term lies in its own.
    pub(crate) fn ends(&self, of_term: &dyn Fn(usize) -> Ends) -> Ends {
        let mut out = Ends::point(&Int::ZERO);
        for (factors, n) in &self.0 {
            let mut product = Ends::point(n);
            for same in factors.chunk_by(|a, b| a == b) {
                let one = of_term(same[0]);
                let mut power = same.iter().fold(Ends::point(&Int::ONE), |all, _| all.times(&one));
                // An even power is not negative.
                if same.len().is_multiple_of(2) && power.low.as_ref().is_none_or(Int::is_negative) {
                    power.low = Some(Int::ZERO);
                }
                product = product.times(&power);
            }
            out = out.plus(&product);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::random::Random;

    fn random(dice: &mut Random) -> Sum {
        let mut sum = Sum::number(Int::from(dice.between(-5, 5)));
        for _ in 0..dice.between(0, 3) {
            let mut product = Sum::number(Int::from(dice.between(-3, 3)));
            for _ in 0..dice.between(1, 3) {
                product = product.times(&Sum::term(dice.between(0, 2) as usize)).unwrap();
            }
            sum = sum.plus(&product);
        }
        sum
    }

    fn value(sum: &Sum, at: &[i64; 3]) -> i64 {
        let product = |factors: &Vec<usize>| factors.iter().map(|f| at[*f]).product::<i64>();
        sum.0.iter().map(|(factors, n)| n.small().unwrap() * product(factors)).sum()
    }

    #[test]
    fn sums_and_products_have_the_values_of_their_parts() {
        let mut dice = Random(3);
        for _ in 0..1000 {
            let (a, b) = (random(&mut dice), random(&mut dice));
            let at = [dice.between(-4, 4), dice.between(-4, 4), dice.between(-4, 4)];
            assert_eq!(value(&a.minus(&b), &at), value(&a, &at) - value(&b, &at));
            assert_eq!(value(&a.times(&b).unwrap(), &at), value(&a, &at) * value(&b, &at));
        }
    }

    #[test]
    fn no_value_lies_outside_of_the_ends() {
        let mut dice = Random(17);
        let mut closed = 0;
        for _ in 0..1000 {
            let sum = random(&mut dice);
            let mut ends = Vec::new();
            let mut windows = Vec::new();
            for _ in 0..3 {
                let low = dice.between(-3, 2);
                let high = low + dice.between(0, 3);
                // Where an end is missing the values go on to the end of the window.
                let (no_low, no_high) = (dice.between(0, 3) == 0, dice.between(0, 3) == 0);
                windows.push((if no_low { -6 } else { low }, if no_high { 6 } else { high }));
                ends.push(Ends {
                    low: (!no_low).then(|| Int::from(low)),
                    high: (!no_high).then(|| Int::from(high)),
                });
            }
            let around = sum.ends(&|term| ends[term].clone());
            closed += usize::from(around.low.is_some());
            for x in windows[0].0..=windows[0].1 {
                for y in windows[1].0..=windows[1].1 {
                    for z in windows[2].0..=windows[2].1 {
                        let v = Int::from(value(&sum, &[x, y, z]));
                        assert!(around.low.as_ref().is_none_or(|low| *low <= v), "{sum:?} {ends:?}");
                        assert!(around.high.as_ref().is_none_or(|high| v <= *high), "{sum:?} {ends:?}");
                    }
                }
            }
        }
        assert!(closed > 300, "{closed} with a lower end");
    }
}
