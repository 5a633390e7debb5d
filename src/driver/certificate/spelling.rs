//! The canonical bytes of values, as `docs/certificates.md` specifies them.
//!
//! In: values with their types. Out: bytes; equal values have equal bytes, other values have others.
//! The checker of certificates has a reader of its own, which refuses every other spelling.
//! Never here: files, order of states.

use crate::base::Int;
use crate::lang::typed::{Freetype, Type};
use crate::lang::value::Value;
use dashu_int::{IBig, UBig};

/// A set that cannot be listed has no spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlisted;

/// Appends the bytes of a small number.
pub fn number(n: i64, out: &mut Vec<u8>) {
    if (-64..64).contains(&n) {
        return out.push((n + 0x80) as u8);
    }
    let digits = n.unsigned_abs().to_be_bytes();
    long(n < 0, &digits[digits.iter().take_while(|b| **b == 0).count()..], out);
}

/// Appends a number that needs more than one byte: its size, then its digits, the greatest first. All bytes of a
/// negative number are inverted, so that bytes compare as numbers do.
fn long(negative: bool, digits: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    match digits.len() {
        n @ 1..=62 => out.push(0xbf + n as u8),
        n => {
            out.push(0xff);
            out.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(digits);
    if negative {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn big(n: &IBig, out: &mut Vec<u8>) {
    if let Ok(small) = i64::try_from(n) {
        return number(small, out);
    }
    let negative = *n < IBig::ZERO;
    let size = if negative { -n } else { n.clone() };
    let digits = UBig::try_from(size).expect("an absolute value is not negative").to_be_bytes();
    long(negative, &digits, out);
}

fn integer(n: &Int, out: &mut Vec<u8>) {
    match n.small() {
        Some(small) => number(small, out),
        None => big(&n.to_big(), out),
    }
}

/// Appends the bytes of a value of a type.
pub fn value(free: &[Freetype], v: &Value, ty: &Type, out: &mut Vec<u8>) -> Result<(), Unlisted> {
    match (v, ty) {
        (Value::Bool(b), _) => out.push(u8::from(*b)),
        (Value::Int(n), _) => integer(n, out),
        (Value::Str(s), _) => {
            number(s.len() as i64, out);
            out.extend_from_slice(s.as_bytes());
        }
        (Value::Real(r), _) => {
            big(r.numerator(), out);
            big(&IBig::from(r.denominator().clone()), out);
        }
        (Value::Elem(_, n), _) => number(i64::from(*n), out),
        (Value::Pair(p), Type::Prod(a, b)) => {
            value(free, &p.0, a, out)?;
            value(free, &p.1, b, out)?;
        }
        (Value::Set(elements), Type::Pow(t)) => set(free, elements, t, out)?,
        // A set whose type nothing fixes has no elements.
        (Value::Set(elements), _) if elements.is_empty() => number(0, out),
        (Value::Rec(values), Type::Struct(fields)) => {
            for (v, (_, t)) in values.iter().zip(fields.iter()) {
                value(free, v, t, out)?;
            }
        }
        (Value::Free(f, n, arg), _) => {
            number(i64::from(*n), out);
            let (_, ty) = &free[f.0 as usize].constructors[*n as usize];
            if let (Some(v), Some(t)) = (arg, ty) {
                value(free, v, t, out)?;
            }
        }
        _ => return Err(Unlisted),
    }
    Ok(())
}

/// The number of elements, then the elements in the order of their bytes.
fn set(free: &[Freetype], elements: &[Value], t: &Type, out: &mut Vec<u8>) -> Result<(), Unlisted> {
    number(elements.len() as i64, out);
    let first = out.len();
    let (mut last, mut ascending) = (first..first, true);
    for e in elements {
        let start = out.len();
        value(free, e, t, out)?;
        ascending &= last.is_empty() || out[last] < out[start..];
        last = start..out.len();
    }
    if !ascending {
        let mut all = Vec::new();
        for e in elements {
            let mut own = Vec::new();
            value(free, e, t, &mut own)?;
            all.push(own);
        }
        all.sort_unstable();
        out.truncate(first);
        all.iter().for_each(|e| out.extend_from_slice(e));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::typed::SetId;

    fn spelled(v: &Value, ty: &Type) -> Vec<u8> {
        let mut out = Vec::new();
        value(&[], v, ty, &mut out).expect("a listed value");
        out
    }

    #[test]
    fn values_are_spelled_as_the_specification_says() {
        // The tables of docs/certificates.md.
        let table: [(i64, &[u8]); 9] = [
            (0, &[0x80]),
            (63, &[0xbf]),
            (64, &[0xc0, 64]),
            (255, &[0xc0, 255]),
            (256, &[0xc1, 1, 0]),
            (-64, &[0x40]),
            (-65, &[0x3f, 0xbe]),
            (-256, &[0x3e, 0xfe, 0xff]),
            (i64::MIN, &[0x38, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
        ];
        for (n, own) in table {
            assert_eq!(spelled(&Value::int(n), &Type::Integer), own, "{n}");
        }
        let pairs = Type::pow(Type::prod(Type::Set(SetId(0)), Type::Bool));
        let pair = |e: u32, b: bool| Value::pair(Value::Elem(SetId(0), e), Value::Bool(b));
        let function = Value::set(vec![pair(1, true), pair(0, false)]);
        assert_eq!(spelled(&function, &pairs), [0x82, 0x80, 0, 0x81, 1]);
        assert_eq!(spelled(&Value::str("hé"), &Type::String), [0x83, b'h', 0xc3, 0xa9]);
    }

    #[test]
    fn sets_of_sets_stand_in_the_order_of_their_bytes() {
        let sets = Type::pow(Type::pow(Type::Integer));
        let set = |all: &[i64]| Value::set(all.iter().map(|n| Value::int(*n)).collect());
        // {9} comes before {1,2} because it has fewer elements.
        let value = Value::set(vec![set(&[1, 2]), set(&[9]), set(&[])]);
        assert_eq!(spelled(&value, &sets), [0x83, 0x80, 0x81, 0x89, 0x82, 0x81, 0x82]);
    }

    #[test]
    fn a_set_that_cannot_be_listed_has_no_spelling() {
        let naturals = Value::symbolic(crate::lang::value::Symbolic::Base(crate::lang::value::Base::Natural));
        let ints = Type::pow(Type::Integer);
        assert_eq!(value(&[], &naturals, &ints, &mut Vec::new()), Err(Unlisted));
    }
}
