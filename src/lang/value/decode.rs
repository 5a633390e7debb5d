//! Values from their stable bytes, for searches that were saved.
//!
//! In: bytes of `encode`, perhaps damaged. Out: the value, or nothing.
//! Never here: sets that are not listed (`Symbolic`). Their bytes name formulas of the model, which
//! bytes alone do not bring back.

use crate::typed::{FreeId, SetId};
use crate::value::Value;
use bombus_base::{Int, Name};
use std::sync::Arc;

/// Deeper values are taken for damage.
const DEEPEST: u32 = 10_000;

impl Value {
    /// The value at the start of `bytes`, which then begin behind it.
    pub fn decode(bytes: &mut &[u8]) -> Option<Value> {
        value(bytes, 0)
    }
}

fn value(from: &mut &[u8], depth: u32) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    Some(match byte(from)? {
        n @ (0 | 1) => Value::Bool(n == 1),
        2 => Value::Int(int(from)?),
        3 => Value::Str(Name::from(text(from)?)),
        4 => Value::real(text(from)?.parse().ok()?),
        5 => Value::Elem(SetId(small(from)?), small(from)?),
        6 => Value::pair(value(from, depth + 1)?, value(from, depth + 1)?),
        7 => {
            let elems = list(from, depth)?;
            if !elems.is_sorted_by(|a, b| a < b) {
                return None;
            }
            Value::sorted_set(elems)
        }
        8 => Value::Rec(list(from, depth)?.into()),
        9 => {
            let (id, constructor) = (FreeId(small(from)?), small(from)?);
            let arg = match byte(from)? {
                0 => None,
                _ => Some(Arc::new(value(from, depth + 1)?)),
            };
            Value::Free(id, constructor, arg)
        }
        _ => return None,
    })
}

fn byte(from: &mut &[u8]) -> Option<u8> {
    let (first, rest) = from.split_first()?;
    *from = rest;
    Some(*first)
}

fn number(from: &mut &[u8]) -> Option<u64> {
    let mut n = 0u64;
    for shift in (0..64).step_by(7) {
        let b = byte(from)?;
        n |= u64::from(b & 0x7f).checked_shl(shift)?;
        if b < 0x80 {
            return Some(n);
        }
    }
    None
}

fn small<T: TryFrom<u64>>(from: &mut &[u8]) -> Option<T> {
    T::try_from(number(from)?).ok()
}

fn text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    let length: usize = small(from)?;
    let (text, rest) = from.split_at_checked(length)?;
    *from = rest;
    std::str::from_utf8(text).ok()
}

fn int(from: &mut &[u8]) -> Option<Int> {
    Some(match byte(from)? {
        0 => {
            let n = number(from)?;
            Int::from((n >> 1) as i64 ^ -((n & 1) as i64))
        }
        1 => Int::from_big(text(from)?.parse().ok()?),
        _ => return None,
    })
}

fn list(from: &mut &[u8], depth: u32) -> Option<Vec<Value>> {
    let length: usize = small(from)?;
    // A length beyond the bytes that are left is damage; it must not become an allocation.
    if length > from.len() {
        return None;
    }
    (0..length).map(|_| value(from, depth + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(v: Value) {
        let mut bytes = Vec::new();
        v.encode(&mut bytes);
        let mut from = &bytes[..];
        assert_eq!(Value::decode(&mut from), Some(v));
        assert!(from.is_empty());
        for cut in 0..bytes.len() {
            assert_eq!(Value::decode(&mut &bytes[..cut]), None, "a value that ends early");
        }
    }

    #[test]
    fn values_come_back_from_their_bytes() {
        round(Value::Bool(true));
        for n in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            round(Value::int(n));
        }
        round(Value::Int(Int::parse("123456789012345678901234567890", 10).unwrap().neg()));
        round(Value::str("änd \"quoted\""));
        round(Value::real("3/7".parse().unwrap()));
        round(Value::Elem(SetId(3), 200));
        round(Value::seq([Value::int(4), Value::int(-4)]));
        round(Value::Rec([Value::empty(), Value::Bool(false)].into()));
        round(Value::Free(FreeId(0), 1, Some(Arc::new(Value::int(7)))));
        round(Value::Free(FreeId(0), 0, None));
    }

    #[test]
    fn bytes_that_are_no_value_are_refused() {
        assert_eq!(Value::decode(&mut &[7, 0xff, 0xff, 0xff, 0xff, 0x7f][..]), None, "a set without end");
        assert_eq!(Value::decode(&mut &[7, 2, 2, 0, 4, 2, 0, 2][..]), None, "a set out of order");
        assert_eq!(Value::decode(&mut &[10, 0, 0][..]), None, "a set that is not listed");
    }
}
