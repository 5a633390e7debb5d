//! Exact integers as bits: results are as wide as their values need, so nothing ever overflows.
//!
//! In: leaves, constants. Out: integers and literals of comparisons. A number is in two's complement, the lowest bit
//! first, and carries bounds of its value, from which the width of a result follows.
//!
//! A leaf is either *bounded* (its range is known for sure and asserted) or *limited*: the unknown ranges over all
//! integers, but the leaf has only so many bits. A comparison that depends on a limited leaf is tied to its bits only
//! under `Gates::range_assumption`; without that assumption the literal is free. So an UNSAT whose core does not hold the
//! assumption is a proof, and one whose core holds the assumption is a proof only if the width is large enough for the
//! query, which is not decided here. Bits of a limited integer must not be used as literals other than by the functions
//! of this file. Two limited integers may have equal bits only because they have few of them, so a comparison is shared
//! only between expressions that were built in the same way.
//!
//! Never here: definedness (a division by zero yields some number), anything about B.

use crate::gates::Gates;
use crate::sat::Lit;
use bombus_base::hash::HashMap;
use dashu_int::IBig;
use dashu_int::ops::BitTest;

/// An integer in two's complement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The lowest bit first, the sign last; never empty.
    bits: Vec<Lit>,
    /// Bounds of the value, ends included.
    low: IBig,
    high: IBig,
    /// The number of its expression, if the value depends on a leaf with fewer bits than its unknown has values.
    expression: Option<u32>,
}

/// Expressions over limited leaves, by how they were built, and the literals of their comparisons.
#[derive(Default)]
pub struct Limited {
    /// The assumption that limited leaves lie within their bits.
    range: Option<Lit>,
    expressions: HashMap<(Operator, Vec<Operand>), u32>,
    comparisons: HashMap<(Relation, Operand, Operand), Lit>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Operator {
    Leaf(u32),
    Add,
    Subtract,
    Scale(IBig),
    Multiply,
    Quotient,
    Remainder,
    Abs,
    Ite(Lit),
    Pick(Vec<Lit>),
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Operand {
    Expression(u32),
    /// The bits of an integer that is not limited say all about it.
    Bits(Vec<Lit>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Relation {
    AtMost,
    Equal,
}

impl Integer {
    pub fn constant(value: IBig) -> Integer {
        let width = width(&value, &value);
        let bits = (0..width).map(|i| Lit::constant(value.bit(i))).collect();
        Integer { bits, low: value.clone(), high: value, expression: None }
    }

    pub fn bits(&self) -> &[Lit] {
        &self.bits
    }

    /// The least and the largest value, as far as the bits tell.
    pub fn bounds(&self) -> (&IBig, &IBig) {
        (&self.low, &self.high)
    }

    pub fn is_limited(&self) -> bool {
        self.expression.is_some()
    }

    /// The same bits, for work inside of one operator.
    fn plain(&self) -> Integer {
        Integer { expression: None, ..self.clone() }
    }

    fn operand(&self) -> Operand {
        match self.expression {
            Some(number) => Operand::Expression(number),
            None => Operand::Bits(self.bits.clone()),
        }
    }

    pub fn known(&self) -> Option<&IBig> {
        (self.low == self.high && !self.is_limited()).then_some(&self.low)
    }

    fn sign(&self) -> Lit {
        *self.bits.last().expect("an integer has a sign")
    }

    fn bit(&self, index: usize) -> Lit {
        self.bits.get(index).copied().unwrap_or(self.sign())
    }
}

/// The bits in two's complement for all values between the bounds.
pub fn width(low: &IBig, high: &IBig) -> usize {
    // A number of n bits without its sign; a negative one has the bits of its complement.
    let magnitude = |value: &IBig| if *value < IBig::ZERO { (!value).bit_len() } else { value.bit_len() };
    magnitude(low).max(magnitude(high)) + 1
}

/// Leaves, and reading a model.
impl Gates {
    /// The assumption under which limited leaves lie within their bits.
    pub fn range_assumption(&mut self) -> Lit {
        match self.limited.range {
            Some(range) => range,
            None => {
                let range = self.fresh();
                self.limited.range = Some(range);
                range
            }
        }
    }

    /// The number of an expression of which some operand is limited.
    fn expression(&mut self, operator: Operator, operands: &[&Integer]) -> Option<u32> {
        let leaf = matches!(operator, Operator::Leaf(_));
        if !leaf && !operands.iter().any(|o| o.is_limited()) {
            return None;
        }
        let next = u32::try_from(self.limited.expressions.len()).expect("fewer expressions than literals");
        let key = (operator, operands.iter().map(|o| o.operand()).collect());
        Some(*self.limited.expressions.entry(key).or_insert(next))
    }

    /// An unknown of which every value lies between the bounds; this is asserted for good.
    pub fn int_between(&mut self, low: &IBig, high: &IBig) -> Integer {
        assert!(low <= high, "a range without a value");
        let width = width(low, high);
        let mut bits: Vec<Lit> = (0..width - 1).map(|_| self.fresh()).collect();
        let sign = match (*low < IBig::ZERO, *high < IBig::ZERO) {
            (false, _) => Lit::FALSE,
            (true, true) => Lit::TRUE,
            (true, false) => self.fresh(),
        };
        bits.push(sign);
        // Before the bounds are asserted, the bits alone say what the value may be.
        let half = IBig::ONE << (width - 1);
        let least = if sign == Lit::FALSE { IBig::ZERO } else { -&half };
        let most = if sign == Lit::TRUE { -IBig::ONE } else { half - IBig::ONE };
        let raw = Integer { bits, low: least, high: most, expression: None };
        let above = self.at_most_bits(&Integer::constant(low.clone()), &raw);
        let below = self.at_most_bits(&raw, &Integer::constant(high.clone()));
        self.require(above);
        self.require(below);
        Integer { low: low.clone(), high: high.clone(), ..raw }
    }

    /// An unknown over all integers, with `width` bits under the range assumption.
    pub fn int_limited(&mut self, width: usize) -> Integer {
        assert!(width > 0, "an integer without bits");
        self.range_assumption();
        let bits: Vec<Lit> = (0..width).map(|_| self.fresh()).collect();
        let half = IBig::ONE << (width - 1);
        let expression = self.expression(Operator::Leaf(bits[0].variable()), &[]);
        Integer { bits, low: -&half, high: half - IBig::ONE, expression }
    }

    pub fn int_value(&self, a: &Integer) -> IBig {
        let weight = |i: usize| if self.value(a.bits[i]) { IBig::ONE << i } else { IBig::ZERO };
        let top = a.bits.len() - 1;
        (0..top).map(weight).sum::<IBig>() - weight(top)
    }
}

/// Arithmetic.
impl Gates {
    pub fn int_add(&mut self, a: &Integer, b: &Integer) -> Integer {
        let (low, high) = (&a.low + &b.low, &a.high + &b.high);
        self.sum(a, b, false, low, high)
    }

    pub fn int_sub(&mut self, a: &Integer, b: &Integer) -> Integer {
        let (low, high) = (&a.low - &b.high, &a.high - &b.low);
        self.sum(a, b, true, low, high)
    }

    pub fn int_neg(&mut self, a: &Integer) -> Integer {
        self.int_sub(&Integer::constant(IBig::ZERO), a)
    }

    /// The lowest bits of `a + b` or `a - b`; they are the exact result because the bounds are.
    fn sum(&mut self, a: &Integer, b: &Integer, subtract: bool, low: IBig, high: IBig) -> Integer {
        let operator = if subtract { Operator::Subtract } else { Operator::Add };
        let expression = self.expression(operator, &[a, b]);
        if low == high && expression.is_none() {
            return Integer::constant(low);
        }
        let mut carry = Lit::constant(subtract);
        let mut bits = Vec::new();
        for i in 0..width(&low, &high) {
            let (x, y) = (a.bit(i), b.bit(i).signed(!subtract));
            let half = self.xor(x, y);
            bits.push(self.xor(half, carry));
            carry = self.majority(x, y, carry);
        }
        Integer { bits, low, high, expression }
    }

    fn shifted(&self, a: &Integer, places: usize) -> Integer {
        let mut bits = vec![Lit::FALSE; places];
        bits.extend_from_slice(&a.bits);
        Integer { bits, low: &a.low << places, high: &a.high << places, expression: None }
    }

    /// The product with a constant, by the digits -1, 0, 1 of the constant, no two neighbours of which are not 0.
    pub fn int_scale(&mut self, a: &Integer, factor: &IBig) -> Integer {
        let expression = self.expression(Operator::Scale(factor.clone()), &[a]);
        let mut out = Integer::constant(IBig::ZERO);
        let mut rest = factor.clone();
        let mut place = 0;
        while rest != IBig::ZERO {
            if rest.bit(0) {
                // The two lowest bits say whether the digit is 1 or -1.
                let negative = rest.bit(1);
                let term = self.shifted(a, place);
                out = if negative { self.int_sub(&out, &term) } else { self.int_add(&out, &term) };
                rest = if negative { rest + IBig::ONE } else { rest - IBig::ONE };
            }
            rest >>= 1;
            place += 1;
        }
        let (x, y) = (&a.low * factor, &a.high * factor);
        let out = self.narrowed(out, x.clone().min(y.clone()), x.max(y));
        Integer { expression, ..out }
    }

    pub fn int_mul(&mut self, a: &Integer, b: &Integer) -> Integer {
        if let Some(factor) = a.known() {
            return self.int_scale(b, &factor.clone());
        }
        if let Some(factor) = b.known() {
            return self.int_scale(a, &factor.clone());
        }
        let (a, b) = if a.bits.len() < b.bits.len() { (b, a) } else { (a, b) };
        let expression = self.expression(Operator::Multiply, &[a, b]);
        let mut out = Integer::constant(IBig::ZERO);
        let zero = Integer::constant(IBig::ZERO);
        let top = b.bits.len() - 1;
        for (place, bit) in b.bits.iter().enumerate() {
            let term = self.shifted(a, place);
            let term = self.int_ite(*bit, &term, &zero);
            out = if place == top { self.int_sub(&out, &term) } else { self.int_add(&out, &term) };
        }
        let products = [&a.low * &b.low, &a.low * &b.high, &a.high * &b.low, &a.high * &b.high];
        let low = products.iter().min().expect("four products").clone();
        let high = products.iter().max().expect("four products").clone();
        Integer { expression, ..self.narrowed(out, low, high) }
    }

    /// The same number with better bounds, which are known from elsewhere.
    fn narrowed(&self, mut a: Integer, low: IBig, high: IBig) -> Integer {
        let width = width(&low, &high);
        a.bits = (0..width).map(|i| a.bit(i)).collect();
        Integer { low, high, ..a }
    }

    /// The quotient towards zero and the remainder with the sign of `a`. For `b = 0` both are some numbers.
    pub fn int_divide(&mut self, a: &Integer, b: &Integer) -> (Integer, Integer) {
        let expressions =
            [Operator::Quotient, Operator::Remainder].map(|operator| self.expression(operator, &[a, b]));
        let (numerator, divisor) = (self.int_abs(&a.plain()), self.int_abs(&b.plain()));
        let (quotient, rest) = self.divide_naturals(&numerator, &divisor);
        let opposite = self.xor(a.sign(), b.sign());
        let minus = self.int_neg(&quotient);
        let quotient = self.int_ite(opposite, &minus, &quotient);
        let minus = self.int_neg(&rest);
        let rest = self.int_ite(a.sign(), &minus, &rest);
        (Integer { expression: expressions[0], ..quotient }, Integer { expression: expressions[1], ..rest })
    }

    /// Long division of numbers that are not negative.
    fn divide_naturals(&mut self, numerator: &Integer, divisor: &Integer) -> (Integer, Integer) {
        let zero = Integer::constant(IBig::ZERO);
        if divisor.high == IBig::ZERO {
            return (zero.clone(), zero);
        }
        let mut rest = zero;
        let mut quotient = vec![Lit::FALSE; numerator.bits.len()];
        for place in (0..numerator.bits.len() - 1).rev() {
            let mut next = self.shifted(&rest, 1);
            next.bits[0] = numerator.bits[place];
            next.high += IBig::ONE;
            let fits = self.at_most_bits(divisor, &next);
            quotient[place] = fits;
            let less = self.int_sub(&next, divisor);
            rest = self.int_ite(fits, &less, &next);
            // The rest stays below the divisor.
            let high = (&divisor.high - IBig::ONE).min(next.high);
            rest = self.narrowed(rest, IBig::ZERO, high);
        }
        let high = numerator.high.clone();
        let quotient = Integer { bits: quotient, low: IBig::ZERO, high: high.clone(), expression: None };
        (self.narrowed(quotient, IBig::ZERO, high), rest)
    }

    pub fn int_abs(&mut self, a: &Integer) -> Integer {
        let expression = self.expression(Operator::Abs, &[a]);
        let plain = a.plain();
        let minus = self.int_neg(&plain);
        let out = self.int_ite(a.sign(), &minus, &plain);
        let high = (-&a.low).max(a.high.clone());
        let low = a.low.clone().max(-&a.high).max(IBig::ZERO);
        Integer { expression, ..self.narrowed(out, low, high) }
    }

    pub fn int_ite(&mut self, condition: Lit, yes: &Integer, no: &Integer) -> Integer {
        if condition == Lit::TRUE {
            return yes.clone();
        }
        if condition == Lit::FALSE {
            return no.clone();
        }
        let expression = self.expression(Operator::Ite(condition), &[yes, no]);
        let low = yes.low.clone().min(no.low.clone());
        let high = yes.high.clone().max(no.high.clone());
        let bits = (0..width(&low, &high)).map(|i| self.ite(condition, yes.bit(i), no.bit(i))).collect();
        Integer { bits, low, high, expression }
    }

    /// The number whose literal holds, where at most one does; 0 if none does.
    pub fn int_pick(&mut self, cases: &[(Lit, Integer)]) -> Integer {
        let conditions = cases.iter().map(|c| c.0).collect();
        let numbers: Vec<&Integer> = cases.iter().map(|c| &c.1).collect();
        let expression = self.expression(Operator::Pick(conditions), &numbers);
        let low = cases.iter().map(|c| c.1.low.clone()).min().unwrap_or(IBig::ZERO).min(IBig::ZERO);
        let high = cases.iter().map(|c| c.1.high.clone()).max().unwrap_or(IBig::ZERO).max(IBig::ZERO);
        let bits = (0..width(&low, &high))
            .map(|i| {
                let terms: Vec<Lit> = cases.iter().map(|(lit, value)| self.and(*lit, value.bit(i))).collect();
                self.or_all(&terms)
            })
            .collect();
        Integer { bits, low, high, expression }
    }

    /// How many of the literals hold.
    pub fn int_count(&mut self, lits: &[Lit]) -> Integer {
        match lits {
            [] => Integer::constant(IBig::ZERO),
            [lit] => {
                Integer { bits: vec![*lit, Lit::FALSE], low: IBig::ZERO, high: IBig::ONE, expression: None }
            }
            _ => {
                let (left, right) = lits.split_at(lits.len() / 2);
                let (left, right) = (self.int_count(left), self.int_count(right));
                self.int_add(&left, &right)
            }
        }
    }
}

/// Comparisons.
impl Gates {
    /// `a <= b`.
    pub fn int_le(&mut self, a: &Integer, b: &Integer) -> Lit {
        let lit = self.at_most_bits(a, b);
        self.guarded(lit, Relation::AtMost, a, b)
    }

    /// `a < b`.
    pub fn int_lt(&mut self, a: &Integer, b: &Integer) -> Lit {
        !self.int_le(b, a)
    }

    pub fn int_eq(&mut self, a: &Integer, b: &Integer) -> Lit {
        let lit = if a.high < b.low || b.high < a.low {
            Lit::FALSE
        } else {
            let width = a.bits.len().max(b.bits.len());
            let same: Vec<Lit> = (0..width).map(|i| self.iff(a.bit(i), b.bit(i))).collect();
            self.and_all(&same)
        };
        self.guarded(lit, Relation::Equal, a, b)
    }

    /// `a - b <= c`.
    pub fn int_difference_le(&mut self, a: &Integer, b: &Integer, c: &IBig) -> Lit {
        let bound = self.int_add(b, &Integer::constant(c.clone()));
        self.int_le(a, &bound)
    }

    /// A comparison of limited numbers is tied to its bits only under the range assumption, also where the bits alone
    /// decide the comparison: with more bits it might be different.
    fn guarded(&mut self, lit: Lit, relation: Relation, a: &Integer, b: &Integer) -> Lit {
        if !a.is_limited() && !b.is_limited() {
            return lit;
        }
        let key = (relation, a.operand(), b.operand());
        if let Some(known) = self.limited.comparisons.get(&key) {
            return *known;
        }
        let range = self.range_assumption();
        let out = self.under(range, lit);
        self.limited.comparisons.insert(key, out);
        out
    }

    fn at_most_bits(&mut self, a: &Integer, b: &Integer) -> Lit {
        if a.high <= b.low {
            return Lit::TRUE;
        }
        if a.low > b.high {
            return Lit::FALSE;
        }
        let top = a.bits.len().max(b.bits.len()) - 1;
        let mut so_far = Lit::TRUE;
        for i in 0..top {
            so_far = self.majority(!a.bit(i), b.bit(i), so_far);
        }
        self.majority(a.bit(top), !b.bit(top), so_far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sat::{Answer, Batsat, Limit};

    fn gates() -> Gates {
        Gates::new(Box::new(Batsat::new()))
    }

    /// Literals that fix the number to a value.
    fn fixed(a: &Integer, value: i64) -> Vec<Lit> {
        a.bits.iter().enumerate().map(|(i, l)| l.signed(value >> i.min(62) & 1 == 1)).collect()
    }

    /// Compares an operator with plain arithmetic on all pairs of the two ranges.
    fn agrees(
        first: (i64, i64),
        second: (i64, i64),
        build: impl Fn(&mut Gates, &Integer, &Integer) -> Integer,
        meaning: impl Fn(i64, i64) -> Option<i64>,
    ) {
        let mut gates = gates();
        let a = gates.int_between(&first.0.into(), &first.1.into());
        let b = gates.int_between(&second.0.into(), &second.1.into());
        let out = build(&mut gates, &a, &b);
        for x in first.0..=first.1 {
            for y in second.0..=second.1 {
                let Some(wanted) = meaning(x, y) else { continue };
                let given = [fixed(&a, x), fixed(&b, y)].concat();
                assert_eq!(gates.solve(&given, &Limit::none()), Answer::Sat, "{x} {y}");
                assert_eq!(gates.int_value(&out), IBig::from(wanted), "{x} {y}");
                assert!(out.low <= wanted.into() && IBig::from(wanted) <= out.high, "{x} {y} {out:?}");
            }
        }
    }

    const RANGES: [(i64, i64); 9] =
        [(0, 0), (-1, -1), (0, 7), (-8, 7), (3, 5), (-6, -2), (-1, 0), (1, 9), (-3, 12)];

    fn on_all_ranges(
        build: impl Fn(&mut Gates, &Integer, &Integer) -> Integer,
        meaning: impl Fn(i64, i64) -> Option<i64>,
    ) {
        for first in RANGES {
            for second in RANGES {
                agrees(first, second, &build, &meaning);
            }
        }
    }

    fn as_number(gates: &mut Gates, lit: Lit) -> Integer {
        gates.int_count(&[lit])
    }

    #[test]
    fn sums_differences_and_products_are_exact() {
        on_all_ranges(|g, a, b| g.int_add(a, b), |x, y| Some(x + y));
        on_all_ranges(|g, a, b| g.int_sub(a, b), |x, y| Some(x - y));
        on_all_ranges(|g, a, b| g.int_mul(a, b), |x, y| Some(x * y));
        on_all_ranges(|g, a, _| g.int_neg(a), |x, _| Some(-x));
        on_all_ranges(|g, a, _| g.int_abs(a), |x, _| Some(x.abs()));
        for factor in -40..=40i64 {
            agrees((-5, 6), (0, 0), |g, a, _| g.int_scale(a, &factor.into()), |x, _| Some(x * factor));
        }
    }

    #[test]
    fn a_quotient_is_cut_towards_zero_and_the_remainder_has_the_sign_of_the_dividend() {
        on_all_ranges(|g, a, b| g.int_divide(a, b).0, |x, y| x.checked_div(y));
        on_all_ranges(|g, a, b| g.int_divide(a, b).1, |x, y| x.checked_rem(y));
        for divisor in (-9..=9).filter(|d| *d != 0) {
            let constant = Integer::constant(IBig::from(divisor));
            agrees((-20, 20), (0, 0), |g, a, _| g.int_divide(a, &constant).0, |x, _| Some(x / divisor));
            agrees((-20, 20), (0, 0), |g, a, _| g.int_divide(a, &constant).1, |x, _| Some(x % divisor));
        }
    }

    #[test]
    fn comparisons_and_choices_are_those_of_numbers() {
        let compare = |build: fn(&mut Gates, &Integer, &Integer) -> Lit, meaning: fn(&i64, &i64) -> bool| {
            on_all_ranges(
                |g, a, b| {
                    let lit = build(g, a, b);
                    as_number(g, lit)
                },
                |x, y| Some(i64::from(meaning(&x, &y))),
            );
        };
        compare(|g, a, b| g.int_le(a, b), |x, y| x <= y);
        compare(|g, a, b| g.int_lt(a, b), |x, y| x < y);
        compare(|g, a, b| g.int_eq(a, b), |x, y| x == y);
        compare(|g, a, b| g.int_difference_le(a, b, &(-2).into()), |x, y| x - y <= -2);
        on_all_ranges(
            |g, a, b| {
                let less = g.int_lt(a, b);
                g.int_ite(less, a, b)
            },
            |x, y| Some(x.min(y)),
        );
        on_all_ranges(
            |g, a, b| {
                let (less, equal) = (g.int_lt(a, b), g.int_eq(a, b));
                g.int_pick(&[(less, b.clone()), (equal, Integer::constant(17.into()))])
            },
            |x, y| {
                Some(if x < y {
                    y
                } else if x == y {
                    17
                } else {
                    0
                })
            },
        );
    }

    #[test]
    fn a_count_is_the_number_of_literals_that_hold() {
        let mut gates = gates();
        let lits: Vec<Lit> = (0..6).map(|_| gates.fresh()).collect();
        let count = gates.int_count(&lits);
        for valuation in 0..64u32 {
            let given: Vec<Lit> = (0..6).map(|i| lits[i].signed(valuation >> i & 1 == 1)).collect();
            assert_eq!(gates.solve(&given, &Limit::none()), Answer::Sat);
            assert_eq!(gates.int_value(&count), IBig::from(valuation.count_ones()));
        }
    }

    #[test]
    fn constants_beyond_a_machine_word_are_exact() {
        let mut gates = gates();
        let big = IBig::ONE << 200;
        let a = gates.int_between(&-&big, &big);
        let square = gates.int_mul(&a, &a);
        let wanted = Integer::constant(&big * &big);
        let equal = gates.int_eq(&square, &wanted);
        let positive = gates.int_lt(&Integer::constant(IBig::ZERO), &a);
        // The top two bits settle the case quickly: the value is at the end of its range.
        assert_eq!(gates.solve(&[equal, positive], &Limit::conflicts(100_000)), Answer::Sat);
        assert_eq!(gates.int_value(&a), big);
    }

    /// `x >= 0 & y = x + 1 & y < 0` has no solution whatever the width, but four bits do not prove that.
    #[test]
    fn an_unsat_that_rests_on_bits_has_the_range_in_its_core() {
        let mut gates = gates();
        let (x, zero) = (gates.int_limited(4), Integer::constant(IBig::ZERO));
        let y = gates.int_add(&x, &Integer::constant(IBig::ONE));
        let range = gates.range_assumption();
        let above = gates.int_le(&zero, &x);
        let below = gates.int_lt(&y, &zero);
        assert_eq!(gates.solve(&[above, below], &Limit::none()), Answer::Sat);
        assert_eq!(gates.solve(&[range, above, below], &Limit::none()), Answer::Unsat);
        assert!(gates.sat.core().contains(&range));
        // Propositional contradictions need no range.
        assert_eq!(gates.solve(&[range, above, !above], &Limit::none()), Answer::Unsat);
        assert!(!gates.sat.core().contains(&range));
    }

    /// A limit of four bits must not make `x <= 100` a tautology.
    #[test]
    fn a_comparison_that_the_width_alone_decides_is_still_guarded() {
        let mut gates = gates();
        let x = gates.int_limited(4);
        let range = gates.range_assumption();
        let small = gates.int_le(&x, &Integer::constant(IBig::from(100)));
        assert_eq!(gates.solve(&[!small], &Limit::none()), Answer::Sat);
        assert_eq!(gates.solve(&[range, !small], &Limit::none()), Answer::Unsat);
        assert!(gates.sat.core().contains(&range));
    }

    /// With four bits both comparisons are decided, but a number above 20 breaks the first and not the second.
    #[test]
    fn comparisons_that_agree_only_for_want_of_bits_are_not_shared() {
        let mut gates = gates();
        let x = gates.int_limited(4);
        let number = |c: i64| Integer::constant(IBig::from(c));
        let (first, second) = (gates.int_le(&x, &number(20)), gates.int_le(&x, &number(30)));
        assert_eq!(gates.solve(&[!first, second], &Limit::none()), Answer::Sat);
        let (tens, twenties) = (gates.int_divide(&x, &number(10)).0, gates.int_divide(&x, &number(20)).0);
        let (first, second) = (gates.int_eq(&tens, &number(0)), gates.int_eq(&twenties, &number(0)));
        assert_eq!(gates.solve(&[!first, second], &Limit::none()), Answer::Sat);
        // The same comparison is one literal.
        assert_eq!(gates.int_le(&x, &number(20)), gates.int_le(&x, &number(20)));
    }
}
