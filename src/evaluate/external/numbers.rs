//! Functions of LibraryMath and LibraryBits: integers to integers.
//!
//! In: a name and values. Out: the value, nothing if the name is none of this file, or why there is none.
//! Rounded values of sines, tangents and logarithms are exact: where machine numbers leave a doubt, no value is given.

use super::Answer;
use bombus_base::Int;
use bombus_lang::value::Value;
use dashu_int::IBig;

pub(super) fn value(name: &str, values: &[Value]) -> Option<Answer> {
    let mut numbers = [const { &Int::ZERO }; 3];
    if values.len() > numbers.len() {
        return None;
    }
    for (place, value) in numbers.iter_mut().zip(values) {
        *place = value.as_int()?;
    }
    let answer = match (name, &numbers[..values.len()]) {
        ("ABS", [n]) => Ok(if n.is_negative() { n.neg() } else { (*n).clone() }),
        ("SIGN", [n]) => Ok(Int::from(i64::from(**n > Int::ZERO) - i64::from(n.is_negative()))),
        ("GCD", [a, b]) => Ok(greatest_common_divisor(a, b)),
        ("FACTORIAL", [n]) => match n.small() {
            Some(n @ 0..=10_000) => Ok((1..=n).fold(Int::ONE, |p, i| p.mul(&Int::from(i)))),
            _ => return Some(Answer::undefined("negative or too large argument")),
        },
        ("SQRT" | "INT_SQRT", [n]) => match n.small() {
            Some(n) if n >= 0 => Ok(Int::from(n.isqrt())),
            _ => return Some(Answer::undefined("negative or too large argument")),
        },
        ("MSB", [n]) => match n.small() {
            Some(n) if n > 0 => Ok(Int::from(63 - i64::from(n.leading_zeros()))),
            _ => return Some(Answer::undefined("argument not positive or too large")),
        },
        ("FDIV" | "CDIV", [a, b]) => match a.div(b) {
            None => return Some(Answer::undefined("division by zero")),
            Some(q) if q.mul(b) == **a => Ok(q),
            // The quotient is rounded towards zero; the other neighbour is one further from zero.
            Some(q) => match (name == "FDIV", a.is_negative() != b.is_negative()) {
                (true, true) => Ok(q.sub(&Int::ONE)),
                (false, false) => Ok(q.add(&Int::ONE)),
                _ => Ok(q),
            },
        },
        ("BNOT", [a]) => Ok(Int::from_big(!a.to_big())),
        ("BAND", [a, b]) => Ok(Int::from_big(a.to_big() & b.to_big())),
        ("BOR", [a, b]) => Ok(Int::from_big(a.to_big() | b.to_big())),
        ("BXOR", [a, b]) => Ok(Int::from_big(a.to_big() ^ b.to_big())),
        ("BLSHIFT", [a, n]) => shifted(a, n),
        ("BRSHIFT", [a, n]) => shifted(a, &n.neg()),
        ("SIN", [x]) => scaled(f64::sin, &Int::from(100i64), x),
        ("COS", [x]) => scaled(f64::cos, &Int::from(100i64), x),
        ("TAN", [x]) => scaled(f64::tan, &Int::from(100i64), x),
        ("SINx", [m, x]) => scaled(f64::sin, m, x),
        ("COSx", [m, x]) => scaled(f64::cos, m, x),
        ("TANx", [m, x]) => scaled(f64::tan, m, x),
        ("LOGx", [m, base, x]) => logarithm(m, base, x),
        _ => return None,
    };
    Some(answer.map_or_else(Answer::Unsupported, |n| Answer::Value(Value::Int(n))))
}

fn greatest_common_divisor(a: &Int, b: &Int) -> Int {
    let (mut a, mut b) = (a.to_big(), b.to_big());
    while b != IBig::from(0) {
        (a, b) = (b.clone(), a % b);
    }
    let divisor = Int::from_big(a);
    if divisor.is_negative() { divisor.neg() } else { divisor }
}

/// Bits moved to the left, to the right for a negative number of places; the sign stays.
fn shifted(a: &Int, places: &Int) -> Result<Int, String> {
    match places.small() {
        Some(n @ 0..=1_000_000) => Ok(Int::from_big(a.to_big() << n as usize)),
        Some(n @ -1_000_000..0) => Ok(Int::from_big(a.to_big() >> n.unsigned_abs() as usize)),
        _ => Err("the number is shifted by more than 1,000,000 places".into()),
    }
}

/// The integer nearest to `m * f(x/m)`.
fn scaled(f: impl Fn(f64) -> f64, m: &Int, x: &Int) -> Result<Int, String> {
    let (m, x) = (word(m)?, word(x)?);
    if m < 1.0 {
        return Err("the precision is not positive".into());
    }
    let y = f(x / m);
    // The argument is wrong by a part of 2^-52, which a tangent makes larger by 1 + y² at most.
    let doubt = (x.abs() + m) * (1.0 + y * y) * 1e-14;
    nearest(m * y, doubt)
}

/// The integer nearest to `m * log(x/m)` to the base `base/m`.
fn logarithm(m: &Int, base: &Int, x: &Int) -> Result<Int, String> {
    let (m, base, x) = (word(m)?, word(base)?, word(x)?);
    if m < 1.0 || base < 1.0 || x < 1.0 || base == m {
        return Err("a logarithm of these numbers is not defined".into());
    }
    let (top, bottom) = ((x / m).ln(), (base / m).ln());
    let y = top / bottom;
    nearest(m * y, m * (1.0 + y.abs()) * 1e-13 / bottom.abs().min(1.0))
}

/// Numbers small enough that a machine number holds them exactly.
fn word(n: &Int) -> Result<f64, String> {
    match n.small() {
        Some(n @ -1_000_000_000..=1_000_000_000) => Ok(n as f64),
        _ => Err("only numbers up to 1,000,000,000 are taken".into()),
    }
}

fn nearest(y: f64, doubt: f64) -> Result<Int, String> {
    let from_half = (y - y.floor() - 0.5).abs();
    if !y.is_finite() || y.abs() > 1e15 || doubt > 0.25 || from_half <= doubt {
        return Err("the rounded value is in doubt".into());
    }
    Ok(Int::from(y.round() as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, numbers: &[i64]) -> Option<i64> {
        let values: Vec<Value> = numbers.iter().map(|n| Value::int(*n)).collect();
        match value(name, &values) {
            Some(Answer::Value(Value::Int(n))) => n.small(),
            _ => None,
        }
    }

    /// The values are those of a pocket calculator.
    #[test]
    fn sines_and_logarithms_are_rounded_to_the_nearest_integer() {
        assert_eq!(of("SIN", &[314]), Some(0));
        assert_eq!(of("COS", &[314]), Some(-100));
        assert_eq!(of("TANx", &[1000, 2000]), Some(-2185));
        assert_eq!(of("LOGx", &[1, 2, 1024]), Some(10));
        assert_eq!(of("LOGx", &[10_000, 20_000, 90_000]), Some(31_699));
        assert_eq!(of("LOGx", &[1, 1, 5]), None);
    }

    /// Two's complement: -6 is …11010.
    #[test]
    fn bits_of_negative_numbers_are_those_of_the_two_s_complement() {
        assert_eq!(of("BAND", &[-6, 12]), Some(8));
        assert_eq!(of("BOR", &[-6, 5]), Some(-1));
        assert_eq!(of("BXOR", &[6, 5]), Some(3));
        assert_eq!(of("BNOT", &[5]), Some(-6));
        assert_eq!(of("BLSHIFT", &[5, 3]), Some(40));
        assert_eq!(of("BRSHIFT", &[-5, 1]), Some(-3));
    }

    #[test]
    fn quotients_are_rounded_down_by_fdiv_and_up_by_cdiv() {
        for (a, b, down, up) in [(7, 2, 3, 4), (-7, 2, -4, -3), (7, -2, -4, -3), (-8, 2, -4, -4)] {
            assert_eq!((of("FDIV", &[a, b]), of("CDIV", &[a, b])), (Some(down), Some(up)), "{a}/{b}");
        }
    }
}
