//! Values: exact numbers, elements, pairs, sets, records, members of free types.
//!
//! In: built by evaluation or by a converter. Out: a total order, and text in B notation.
//! Never here: sets that are not listed (those are `sets`).
//! Invariant: a set is sorted and has no element twice, a record is sorted by field, so equality of values is `==`.

use crate::tree::{Name, Type};
use dashu_int::IBig;
use dashu_ratio::RBig;
use std::{fmt, sync::Arc};

/// A value of B.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Bool(bool),
    Int(IBig),
    Real(RBig),
    Str(Name),
    /// The number of the element from 0; the given set and the name of the element.
    Elem(u32, Arc<(Name, Name)>),
    Pair(Arc<(Value, Value)>),
    /// Sorted, without repetitions: build with `Value::set`.
    Set(Arc<Vec<Value>>),
    /// Sorted by field: build with `Value::record`.
    Record(Arc<Vec<(Name, Value)>>),
    /// The number of the constructor from 0; the free type and the name of the constructor; the argument.
    Free(u32, Arc<(Name, Name)>, Option<Arc<Value>>),
}

impl Value {
    /// An integer.
    pub fn int(n: impl Into<IBig>) -> Value {
        Value::Int(n.into())
    }
    /// The element of this number of a given set.
    pub fn element(number: u32, set: Name, name: Name) -> Value {
        Value::Elem(number, Arc::new((set, name)))
    }
    /// `a |-> b`
    pub fn pair(a: Value, b: Value) -> Value {
        Value::Pair(Arc::new((a, b)))
    }
    /// The set of the given elements, in any order and with repetitions.
    pub fn set(elements: Vec<Value>) -> Value {
        Value::Set(sorted(elements))
    }
    /// The sequence of the given elements.
    pub fn seq(elements: impl IntoIterator<Item = Value>) -> Value {
        let indexed = elements.into_iter().enumerate().map(|(i, v)| Value::pair(Value::int(i + 1), v));
        Value::Set(Arc::new(indexed.collect()))
    }
    /// The record of the given fields, in any order.
    pub fn record(mut fields: Vec<(Name, Value)>) -> Value {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Value::Record(Arc::new(fields))
    }
    /// Whether the value belongs to the type, as far as its shape tells.
    pub fn is_of(&self, t: &Type) -> bool {
        match (self, t) {
            (Value::Bool(_), Type::Bool) | (Value::Int(_), Type::Integer) => true,
            (Value::Real(_), Type::Real) | (Value::Str(_), Type::Str) => true,
            (Value::Elem(_, of), Type::Given(n)) | (Value::Free(_, of, _), Type::Free(n)) => of.0 == *n,
            (Value::Pair(p), Type::Prod(a, b)) => p.0.is_of(a) && p.1.is_of(b),
            (Value::Set(e), Type::Pow(t)) => e.iter().all(|v| v.is_of(t)),
            (Value::Record(f), Type::Record(ts)) => {
                f.len() == ts.len() && f.iter().zip(ts).all(|(v, t)| v.0 == t.0 && v.1.is_of(&t.1))
            }
            _ => false,
        }
    }
    /// The elements of a set.
    pub fn elements(&self) -> Option<&Arc<Vec<Value>>> {
        if let Value::Set(e) = self { Some(e) } else { None }
    }
    /// The two sides of a pair.
    pub fn sides(&self) -> Option<(&Value, &Value)> {
        if let Value::Pair(p) = self { Some((&p.0, &p.1)) } else { None }
    }
    /// The elements of a sequence in order, if the value is a sequence.
    pub fn as_seq(&self) -> Option<Vec<Value>> {
        // Pairs are sorted by their first sides, so a sequence lists its indices from 1.
        let own = |(i, e): (usize, &Value)| match e.sides()? {
            (Value::Int(n), v) if *n == IBig::from(i + 1) => Some(v.clone()),
            _ => None,
        };
        self.elements()?.iter().enumerate().map(own).collect()
    }
    /// The parts of a left-nested pair of `n` parts: `((a|->b)|->c)` gives a, b, c.
    pub fn split(&self, n: usize) -> Option<Vec<Value>> {
        if n <= 1 {
            return Some(vec![self.clone()]);
        }
        let (front, last) = self.sides()?;
        let mut parts = front.split(n - 1)?;
        parts.push(last.clone());
        Some(parts)
    }
    /// The left-nested pair of some values.
    pub fn join(parts: impl IntoIterator<Item = Value>) -> Option<Value> {
        parts.into_iter().reduce(Value::pair)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let join = |parts: Vec<String>| parts.join(",");
        match self {
            Value::Bool(b) => f.write_str(if *b { "TRUE" } else { "FALSE" }),
            Value::Int(n) => write!(f, "{n}"),
            Value::Real(r) if r.is_int() => write!(f, "{}.0", r.numerator()),
            Value::Real(r) => write!(f, "{}.0/{}.0", r.numerator(), r.denominator()),
            Value::Str(s) => f.write_str(&quoted(s)),
            Value::Elem(_, names) | Value::Free(_, names, None) => f.write_str(&names.1),
            Value::Free(_, names, Some(arg)) => write!(f, "{}({arg})", names.1),
            Value::Pair(p) => write!(f, "({}|->{})", p.0, p.1),
            Value::Set(e) => write!(f, "{{{}}}", join(e.iter().map(Value::to_string).collect())),
            Value::Record(fields) => {
                write!(f, "rec({})", join(fields.iter().map(|(n, v)| format!("{n}:{v}")).collect()))
            }
        }
    }
}

/// The elements of a set.
pub(crate) fn sorted(mut elements: Vec<Value>) -> Arc<Vec<Value>> {
    elements.sort();
    elements.dedup();
    Arc::new(elements)
}

/// A text between quotes with `\`, `"` and line ends escaped.
pub(crate) fn quoted(s: &str) -> String {
    format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
