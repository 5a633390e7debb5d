//! Values of B: numbers, elements, pairs, sets, records, members of free types.
//!
//! In: built by the reference interpreter, and by whoever decodes a packed state. Out: order,
//! equality, hash, stable bytes (`encode`) and text (`show`).
//! Never here: evaluation; deciding whether a symbolic set equals an explicit one is `reference`'s.
//!
//! Invariant: `Set` is sorted and without duplicates and holds no set that is finite and small but
//! symbolic, so that equal finite values have equal forms. Rust's `==` is identity of forms: it is
//! equality in B for everything without `Symbolic` inside.

mod decode;
pub mod digest;
pub mod encode;
pub mod identity;
mod order;
mod show;
pub mod symbolic;

use crate::typed::{FreeId, SetId};
use bombus_base::{Int, Name};
use dashu_ratio::RBig;
use std::sync::Arc;
pub use symbolic::{Base, Closure, ClosureCode, ClosureKind, Symbolic};

#[derive(Clone, Debug)]
pub enum Value {
    Bool(bool),
    Int(Int),
    Str(Name),
    /// Exact: reals of B models are written as decimals and combined by `+ - * /`.
    Real(Arc<RBig>),
    /// Element number, from 0, of an enumerated or deferred set.
    Elem(SetId, u32),
    Pair(Arc<(Value, Value)>),
    /// Sorted, without duplicates.
    Set(Arc<[Value]>),
    /// In the order of the type's fields.
    Rec(Arc<[Value]>),
    /// Constructor number and argument of a member of a free type.
    Free(FreeId, u32, Option<Arc<Value>>),
    /// A set that is infinite or too large to list.
    Symbolic(Arc<Symbolic>),
}

impl Value {
    pub fn int(n: i64) -> Value {
        Value::Int(Int::from(n))
    }

    pub fn str(text: &str) -> Value {
        Value::Str(Name::from(text))
    }

    /// What stands for a result that an operation left without a value, in the names of transitions only.
    pub fn unassigned() -> Value {
        Value::str("?")
    }

    pub fn real(r: RBig) -> Value {
        Value::Real(Arc::new(r))
    }

    pub fn pair(a: Value, b: Value) -> Value {
        Value::Pair(Arc::new((a, b)))
    }

    pub fn empty() -> Value {
        Value::Set(Arc::from([]))
    }

    /// The set of the given elements, in any order and with repetitions.
    pub fn set(mut elems: Vec<Value>) -> Value {
        // Most sets are built in order; looking first is cheaper than sorting.
        if !elems.is_sorted_by(|a, b| a < b) {
            elems.sort_unstable();
            elems.dedup();
        }
        Value::Set(elems.into())
    }

    /// The set of elements that are already sorted and distinct.
    pub fn sorted_set(elems: Vec<Value>) -> Value {
        debug_assert!(elems.is_sorted_by(|a, b| a < b));
        Value::Set(elems.into())
    }

    /// The sequence `[a,b,…]`, a function from `1..n`.
    pub fn seq(elems: impl IntoIterator<Item = Value>) -> Value {
        Value::sorted_set(
            elems
                .into_iter()
                .enumerate()
                .map(|(i, v)| Value::pair(Value::Int(Int::from(i + 1)), v))
                .collect(),
        )
    }

    pub fn symbolic(s: Symbolic) -> Value {
        Value::Symbolic(Arc::new(s))
    }

    pub fn as_int(&self) -> Option<&Int> {
        match self {
            Value::Int(n) => Some(n),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&Name> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    pub fn as_pair(&self) -> Option<(&Value, &Value)> {
        match self {
            Value::Pair(p) => Some((&p.0, &p.1)),
            _ => None,
        }
    }

    /// The elements of an explicit set, sorted.
    pub fn as_set(&self) -> Option<&[Value]> {
        match self {
            Value::Set(elems) => Some(elems),
            _ => None,
        }
    }

    /// The elements of a sequence in order; `None` when the value is not an explicit sequence.
    pub fn as_seq(&self) -> Option<Vec<&Value>> {
        // Pairs are sorted by their first component, so a sequence lists its indices in order.
        self.as_set()?
            .iter()
            .enumerate()
            .map(|(i, e)| match e.as_pair() {
                Some((Value::Int(Int::Small(n)), v)) if *n == i as i64 + 1 => Some(v),
                _ => None,
            })
            .collect()
    }

    pub fn is_symbolic(&self) -> bool {
        matches!(self, Value::Symbolic(_))
    }

    /// Whether a value of the same type may hold a set.
    fn has_room_for_a_set(&self) -> bool {
        match self {
            Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Real(_) | Value::Elem(..) => false,
            Value::Pair(p) => p.0.has_room_for_a_set() || p.1.has_room_for_a_set(),
            Value::Rec(fields) => fields.iter().any(Value::has_room_for_a_set),
            // Another constructor of the type may take a set.
            Value::Set(_) | Value::Free(..) | Value::Symbolic(_) => true,
        }
    }

    /// Whether a symbolic set stands anywhere inside.
    pub fn mentions_symbolic(&self) -> bool {
        match self {
            Value::Symbolic(_) => true,
            Value::Pair(p) => p.0.mentions_symbolic() || p.1.mentions_symbolic(),
            // The elements have one type, so the first one tells whether there is room for a set in them.
            Value::Set(elems) => match elems.first() {
                None => false,
                Some(first) => first.has_room_for_a_set() && elems.iter().any(Value::mentions_symbolic),
            },
            Value::Rec(fields) => fields.iter().any(Value::mentions_symbolic),
            Value::Free(_, _, Some(arg)) => arg.mentions_symbolic(),
            _ => false,
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<Int> for Value {
    fn from(n: Int) -> Value {
        Value::Int(n)
    }
}

/// A value that is cheap, used where a slot must hold something.
impl Default for Value {
    fn default() -> Value {
        Value::Bool(false)
    }
}
