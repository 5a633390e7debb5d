//! Order, equality and hash of values.
//!
//! In: two values. Out: how they compare as forms. The order is that of the kinds as they are declared, then
//! of the parts from left to right; sets are compared as sorted lists.
//! Parts that are shared are not looked into: most comparisons of a search are of a value with itself.

use crate::value::Value;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

impl Value {
    /// The place of the kind in the order.
    fn rank(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) => 1,
            Value::Str(_) => 2,
            Value::Real(_) => 3,
            Value::Elem(..) => 4,
            Value::Pair(_) => 5,
            Value::Set(_) => 6,
            Value::Rec(_) => 7,
            Value::Free(..) => 8,
            Value::Symbolic(_) => 9,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Real(a), Value::Real(b)) => a == b,
            (Value::Elem(s, a), Value::Elem(t, b)) => a == b && s == t,
            (Value::Pair(a), Value::Pair(b)) => Arc::ptr_eq(a, b) || (a.0 == b.0 && a.1 == b.1),
            (Value::Set(a), Value::Set(b)) | (Value::Rec(a), Value::Rec(b)) => {
                Arc::ptr_eq(a, b) || a[..] == b[..]
            }
            (Value::Free(i, c, a), Value::Free(j, d, b)) => i == j && c == d && a == b,
            (Value::Symbolic(a), Value::Symbolic(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            (Value::Real(a), Value::Real(b)) => a.cmp(b),
            (Value::Elem(s, a), Value::Elem(t, b)) => (s, a).cmp(&(t, b)),
            (Value::Pair(a), Value::Pair(b)) => {
                if Arc::ptr_eq(a, b) {
                    return Ordering::Equal;
                }
                a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1))
            }
            (Value::Set(a), Value::Set(b)) | (Value::Rec(a), Value::Rec(b)) => {
                if Arc::ptr_eq(a, b) {
                    return Ordering::Equal;
                }
                a[..].cmp(&b[..])
            }
            (Value::Free(i, c, a), Value::Free(j, d, b)) => (i, c, a).cmp(&(j, d, b)),
            (Value::Symbolic(a), Value::Symbolic(b)) => {
                if Arc::ptr_eq(a, b) {
                    return Ordering::Equal;
                }
                a.cmp(b)
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Value::Bool(b) => b.hash(state),
            Value::Int(n) => n.hash(state),
            Value::Str(s) => s.hash(state),
            Value::Real(r) => r.hash(state),
            Value::Elem(set, n) => (set, n).hash(state),
            Value::Pair(p) => p.hash(state),
            Value::Set(elems) | Value::Rec(elems) => elems.hash(state),
            Value::Free(id, c, arg) => (id, c, arg).hash(state),
            Value::Symbolic(s) => s.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::Int;

    #[test]
    fn values_compare_by_kind_then_from_left_to_right() {
        let set = |ns: &[i64]| Value::set(ns.iter().map(|n| Value::int(*n)).collect());
        let sorted = [
            Value::Bool(false),
            Value::Bool(true),
            Value::int(-3),
            Value::int(7),
            Value::Int(Int::from(i64::MAX).add(&Int::ONE)),
            Value::str("a"),
            Value::pair(Value::int(1), set(&[2])),
            Value::pair(Value::int(1), set(&[3])),
            Value::pair(Value::int(2), set(&[])),
            set(&[]),
            set(&[1, 2]),
            set(&[1, 2, 3]),
            set(&[1, 3]),
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a:?} and {b:?}");
                assert_eq!(a == b, i == j, "{a:?} and {b:?}");
            }
        }
    }
}
