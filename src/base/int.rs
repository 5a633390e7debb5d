//! Exact integers: a machine word while it fits, arbitrary precision beyond. They never wrap.
//!
//! Invariant: a value that fits an `i64` is always `Small`, so equal numbers have equal forms and
//! the derived `Eq` and `Hash` are right.

use dashu_int::IBig;
use std::cmp::Ordering;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Int {
    Small(i64),
    Big(Box<IBig>),
}

use Int::{Big, Small};

impl Int {
    pub const ZERO: Int = Small(0);
    pub const ONE: Int = Small(1);

    fn norm(big: IBig) -> Int {
        match i64::try_from(&big) {
            Ok(small) => Small(small),
            Err(_) => Big(Box::new(big)),
        }
    }

    pub fn to_big(&self) -> IBig {
        match self {
            Small(n) => IBig::from(*n),
            Big(b) => (**b).clone(),
        }
    }

    pub fn from_big(big: IBig) -> Int {
        Int::norm(big)
    }

    /// The value as an `i64`, if it fits.
    pub fn small(&self) -> Option<i64> {
        match self {
            Small(n) => Some(*n),
            Big(_) => None,
        }
    }

    /// Digits of the given radix, no sign.
    pub fn parse(digits: &str, radix: u32) -> Option<Int> {
        IBig::from_str_radix(digits, radix).ok().map(Int::norm)
    }

    pub fn add(&self, other: &Int) -> Int {
        if let (Small(a), Small(b)) = (self, other)
            && let Some(c) = a.checked_add(*b)
        {
            return Small(c);
        }
        Int::norm(self.to_big() + other.to_big())
    }

    pub fn sub(&self, other: &Int) -> Int {
        if let (Small(a), Small(b)) = (self, other)
            && let Some(c) = a.checked_sub(*b)
        {
            return Small(c);
        }
        Int::norm(self.to_big() - other.to_big())
    }

    pub fn mul(&self, other: &Int) -> Int {
        if let (Small(a), Small(b)) = (self, other)
            && let Some(c) = a.checked_mul(*b)
        {
            return Small(c);
        }
        Int::norm(self.to_big() * other.to_big())
    }

    pub fn neg(&self) -> Int {
        Int::ZERO.sub(self)
    }

    /// Division that truncates towards zero; `None` for a zero divisor.
    pub fn div(&self, other: &Int) -> Option<Int> {
        if other.is_zero() {
            return None;
        }
        if let (Small(a), Small(b)) = (self, other)
            && let Some(c) = a.checked_div(*b)
        {
            return Some(Small(c));
        }
        Some(Int::norm(self.to_big() / other.to_big()))
    }

    /// Remainder, defined only for a dividend ≥ 0 and a divisor > 0.
    pub fn modulo(&self, other: &Int) -> Option<Int> {
        if self.is_negative() || other.is_negative() || other.is_zero() {
            return None;
        }
        if let (Small(a), Small(b)) = (self, other) {
            return Some(Small(a % b));
        }
        Some(Int::norm(self.to_big() % other.to_big()))
    }

    pub fn is_zero(&self) -> bool {
        *self == Int::ZERO
    }

    pub fn is_negative(&self) -> bool {
        *self < Int::ZERO
    }
}

impl From<i64> for Int {
    fn from(n: i64) -> Int {
        Small(n)
    }
}

impl From<usize> for Int {
    fn from(n: usize) -> Int {
        i64::try_from(n).map_or_else(|_| Int::norm(IBig::from(n)), Small)
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Int) -> Ordering {
        match (self, other) {
            (Small(a), Small(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Small(n) => n.fmt(f),
            Big(b) => b.fmt(f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
