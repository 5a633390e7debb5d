//! Functions of LibraryReals. Reals are fractions, so everything here is exact.
//!
//! In: a name and values. Out: the value, nothing if the name is none of this file, or why there is none: a sine, a
//! logarithm or a root that is no fraction has no value here, and the verdict is then incomplete.

use super::Answer;
use bombus_base::Int;
use bombus_lang::value::Value;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

pub(super) fn value(name: &str, values: &[Value]) -> Option<Answer> {
    let real = |value: &Value| match value {
        Value::Real(r) => Some((**r).clone()),
        _ => None,
    };
    let zero = || RBig::from(IBig::from(0));
    let truth = |b: bool| Some(Answer::Value(Value::Bool(b)));
    let found = match (name, values) {
        ("RZERO", []) => zero(),
        ("RONE", []) => RBig::from(IBig::from(1)),
        ("RPOW" | "RPOWER", [x, y]) => return Some(power(&real(x)?, &real(y)?)),
        ("ROUND" | "RROUND", [x]) => {
            let x = real(x)?;
            let half = RBig::from_parts(1.into(), 2u8.into());
            let rounded = if x < zero() { -(half - x).floor() } else { (x + half).floor() };
            return Some(Answer::Value(Value::Int(Int::from_big(rounded))));
        }
        ("RFLOOR", [x]) => return Some(Answer::Value(Value::Int(Int::from_big(real(x)?.floor())))),
        ("RCEILING", [x]) => {
            return Some(Answer::Value(Value::Int(Int::from_big(-(-real(x)?).floor()))));
        }
        ("RINTEGER", [Value::Int(n)]) => RBig::from(n.to_big()),
        ("RMAXIMUM" | "RMINIMUM", [set]) => {
            let all: Option<Vec<RBig>> = set.as_set()?.iter().map(real).collect();
            let all = all?.into_iter();
            match if name == "RMAXIMUM" { all.max() } else { all.min() } {
                Some(r) => r,
                None => return Some(Answer::undefined("the set is empty")),
            }
        }
        (_, [x]) => {
            let x = real(x)?;
            match name {
                "RABS" if x < zero() => -x,
                "RABS" => x,
                "RUMINUS" => -x,
                "RSIGN" => RBig::from(IBig::from(i64::from(x > zero()) - i64::from(x < zero()))),
                "RINV" if x == zero() => return Some(Answer::undefined("division by zero")),
                "RINV" => RBig::from(IBig::from(1)) / x,
                "RSQRT" => return Some(root(&x)),
                "REXP" | "RSIN" | "RTAN" | "RSINH" | "RTANH" | "RASIN" | "RATAN" | "RLOGe" | "RCOS"
                | "RCOSH" | "RACOS" => return Some(transcendental(name, &x)),
                _ => return None,
            }
        }
        (_, [x, y]) => {
            let (x, y) = (real(x)?, real(y)?);
            match name {
                "RADD" => x + y,
                "RSUB" => x - y,
                "RMUL" => x * y,
                "RDIV" if y == zero() => return Some(Answer::undefined("division by zero")),
                "RDIV" => x / y,
                "RMAX" => x.max(y),
                "RMIN" => x.min(y),
                "REQ" => return truth(x == y),
                "RNEQ" => return truth(x != y),
                "RLT" => return truth(x < y),
                "RLEQ" => return truth(x <= y),
                "RGT" => return truth(x > y),
                "RGEQ" => return truth(x >= y),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(Answer::Value(Value::real(found)))
}

/// The fraction whose square this is.
fn root(x: &RBig) -> Answer {
    let zero = RBig::from(IBig::from(0));
    if *x < zero {
        return Answer::undefined("the root of a negative number");
    }
    let (top, bottom) =
        (square_root(&x.numerator().clone()), square_root(&IBig::from(x.denominator().clone())));
    match (top, bottom) {
        (Some(top), Some(bottom)) => Answer::Value(Value::real(RBig::from(top) / RBig::from(bottom))),
        _ => Answer::Unsupported("the root is no fraction, and reals are exact here".into()),
    }
}

fn square_root(n: &IBig) -> Option<IBig> {
    let n: UBig = n.clone().try_into().ok()?;
    let (mut low, mut high) = (UBig::from(0u8), UBig::from(1u8));
    while &high * &high <= n {
        high *= UBig::from(2u8);
    }
    // The root is at least `low` and less than `high`.
    while &low + UBig::from(1u8) < high {
        let middle: UBig = (&low + &high) / UBig::from(2u8);
        if &middle * &middle <= n { low = middle } else { high = middle }
    }
    (&low * &low == n).then(|| IBig::from(low))
}

/// By Lindemann's theorem the value at a fraction is none, but where the argument is the trivial one.
fn transcendental(name: &str, x: &RBig) -> Answer {
    let (zero, one) = (RBig::from(IBig::from(0)), RBig::from(IBig::from(1)));
    let trivial = match name {
        "REXP" | "RCOS" | "RCOSH" => (*x == zero).then_some(one),
        "RLOGe" if *x <= zero => return Answer::undefined("the logarithm of a number that is not positive"),
        "RLOGe" | "RACOS" => (*x == one).then_some(zero),
        _ => (*x == zero).then_some(zero),
    };
    match trivial {
        Some(value) => Answer::Value(Value::real(value)),
        None => Answer::Unsupported("the value is no fraction, and reals are exact here".into()),
    }
}

fn power(x: &RBig, y: &RBig) -> Answer {
    let zero = RBig::from(IBig::from(0));
    let exponent = (*y.denominator() == UBig::from(1u8)).then(|| i64::try_from(y.numerator()).ok()).flatten();
    match exponent {
        Some(n) if n.unsigned_abs() > 10_000 => Answer::Unsupported("the exponent is beyond 10,000".into()),
        Some(n) if n < 0 && *x == zero => Answer::undefined("division by zero"),
        Some(n) => {
            let mut product = RBig::from(IBig::from(1));
            for _ in 0..n.unsigned_abs() {
                product *= x;
            }
            Answer::Value(Value::real(if n < 0 { RBig::from(IBig::from(1)) / product } else { product }))
        }
        None if *y == RBig::from_parts(1.into(), 2u8.into()) => root(x),
        None => Answer::Unsupported("the power is no fraction, and reals are exact here".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::parse_real;

    fn of(name: &str, texts: &[&str]) -> Option<Value> {
        let values: Vec<Value> =
            texts.iter().map(|t| Value::real(parse_real(t).expect("a decimal"))).collect();
        match value(name, &values)? {
            Answer::Value(value) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn roots_of_squares_of_fractions_are_exact_and_others_have_no_value() {
        assert_eq!(of("RSQRT", &["6.25"]), of("RADD", &["2.0", "0.5"]));
        assert_eq!(of("RSQRT", &["2.0"]), None);
        assert_eq!(of("RPOW", &["2.0", "-2.0"]), of("RDIV", &["1.0", "4.0"]));
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(of("ROUND", &["2.5"]), Some(Value::int(3)));
        assert_eq!(of("ROUND", &["-2.5"]), Some(Value::int(-3)));
        assert_eq!(of("RFLOOR", &["-2.5"]), Some(Value::int(-3)));
        assert_eq!(of("RCEILING", &["-2.5"]), Some(Value::int(-2)));
    }

    #[test]
    fn the_sine_of_a_fraction_is_known_at_zero_only() {
        assert_eq!(of("RSIN", &["0.0"]), of("RZERO", &[]));
        assert_eq!(of("RSIN", &["1.0"]), None);
    }
}
