//! Carriers: finite lists of elements, each with a code from 0.
//!
//! In: types and ranges. Out: codes of values and values of codes, both ways.
//! A carrier over integers is a window: an element outside has no code, and whoever meets one falls
//! back on exact values. Codes follow the order of values, so the least bit of a set of integers is
//! its least element; only sets as elements, whose codes are their own bits, have another order.

use bombus_base::Int;
use bombus_lang::typed::{SetId, Type};
use bombus_lang::value::Value;
use std::fmt;
use std::sync::Arc;

/// More elements than this are not listed in bits.
pub const MAX_CARD: usize = 1024;
/// Sets over more elements than this are no elements themselves.
const MAX_BASE: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Carrier {
    Bool,
    Set(SetId, u16),
    Ints {
        lo: i32,
        n: u16,
    },
    Pair(Arc<(Carrier, Carrier)>),
    /// Records, in the order of the fields.
    Rec(Arc<[Carrier]>),
    /// Sets over a few elements: the code of a set is its bit-set.
    Sets(Arc<Carrier>),
}

impl Carrier {
    pub fn pair(a: Carrier, b: Carrier) -> Carrier {
        Carrier::Pair(Arc::new((a, b)))
    }

    pub fn card(&self) -> usize {
        match self {
            Carrier::Bool => 2,
            Carrier::Set(_, n) => *n as usize,
            Carrier::Ints { n, .. } => *n as usize,
            Carrier::Pair(p) => p.0.card().saturating_mul(p.1.card()),
            Carrier::Rec(fields) => fields.iter().fold(1, |n, f| n.saturating_mul(f.card())),
            Carrier::Sets(of) => 1 << of.card(),
        }
    }

    /// The carrier of the sets over another one, if these are few enough.
    pub fn sets(of: Carrier) -> Option<Carrier> {
        (of.card() <= MAX_BASE).then(|| Carrier::Sets(Arc::new(of)))
    }

    /// Whether an element is or has a set over another carrier.
    pub fn has_sets(&self) -> bool {
        match self {
            Carrier::Bool | Carrier::Set(..) | Carrier::Ints { .. } => false,
            Carrier::Pair(p) => p.0.has_sets() || p.1.has_sets(),
            Carrier::Rec(fields) => fields.iter().any(Carrier::has_sets),
            Carrier::Sets(_) => true,
        }
    }

    /// A set of elements that come in the order of their codes.
    pub fn set_of(&self, elems: Vec<Value>) -> Value {
        if self.has_sets() { Value::set(elems) } else { Value::sorted_set(elems) }
    }

    /// Words of a bit-set over this carrier.
    pub fn words(&self) -> u16 {
        self.card().div_ceil(64).max(1) as u16
    }

    /// Rows and columns of a relation.
    pub fn sides(&self) -> Option<(&Carrier, &Carrier)> {
        match self {
            Carrier::Pair(p) => Some((&p.0, &p.1)),
            _ => None,
        }
    }

    /// Whether every value of the type has a code.
    pub fn is_whole_type(&self) -> bool {
        match self {
            Carrier::Bool | Carrier::Set(..) => true,
            Carrier::Ints { .. } => false,
            Carrier::Pair(p) => p.0.is_whole_type() && p.1.is_whole_type(),
            Carrier::Rec(fields) => fields.iter().all(Carrier::is_whole_type),
            Carrier::Sets(of) => of.is_whole_type(),
        }
    }

    pub fn code(&self, v: &Value) -> Option<usize> {
        match (self, v) {
            (Carrier::Bool, Value::Bool(b)) => Some(usize::from(*b)),
            (Carrier::Set(s, n), Value::Elem(t, e)) if s == t && *e < u32::from(*n) => Some(*e as usize),
            (Carrier::Ints { lo, n }, Value::Int(Int::Small(i))) => {
                let code = i.checked_sub(i64::from(*lo))?;
                (0..i64::from(*n)).contains(&code).then_some(code as usize)
            }
            (Carrier::Pair(c), Value::Pair(p)) => Some(c.0.code(&p.0)? * c.1.card() + c.1.code(&p.1)?),
            (Carrier::Rec(cs), Value::Rec(vs)) if cs.len() == vs.len() => {
                let mut code = 0;
                for (c, v) in cs.iter().zip(vs.iter()) {
                    code = code * c.card() + c.code(v)?;
                }
                Some(code)
            }
            (Carrier::Sets(of), Value::Set(elems)) => {
                elems.iter().try_fold(0, |bits, e| Some(bits | 1 << of.code(e)?))
            }
            _ => None,
        }
    }

    pub fn value(&self, code: usize) -> Value {
        match self {
            Carrier::Bool => Value::Bool(code == 1),
            Carrier::Set(s, _) => Value::Elem(*s, code as u32),
            Carrier::Ints { lo, .. } => Value::int(i64::from(*lo) + code as i64),
            Carrier::Pair(c) => Value::pair(c.0.value(code / c.1.card()), c.1.value(code % c.1.card())),
            Carrier::Rec(cs) => {
                let mut rest = code;
                let mut fields: Vec<Value> = Vec::with_capacity(cs.len());
                for c in cs.iter().rev() {
                    fields.push(c.value(rest % c.card()));
                    rest /= c.card();
                }
                fields.reverse();
                Value::Rec(fields.into())
            }
            Carrier::Sets(of) => {
                of.set_of((0..of.card()).filter(|e| code >> e & 1 == 1).map(|e| of.value(e)).collect())
            }
        }
    }

    /// The smallest carrier of the same form that has all elements of both; `None` when it would be
    /// too large or the forms differ.
    pub fn join(&self, other: &Carrier) -> Option<Carrier> {
        let joined = match (self, other) {
            (a, b) if a == b => a.clone(),
            (Carrier::Ints { lo: a, n: m }, Carrier::Ints { lo: b, n }) => {
                let lo = *a.min(b);
                let hi = (i64::from(*a) + i64::from(*m)).max(i64::from(*b) + i64::from(*n));
                Carrier::Ints { lo, n: u16::try_from(hi - i64::from(lo)).ok()? }
            }
            (Carrier::Pair(a), Carrier::Pair(b)) => Carrier::pair(a.0.join(&b.0)?, a.1.join(&b.1)?),
            (Carrier::Rec(a), Carrier::Rec(b)) if a.len() == b.len() => {
                Carrier::Rec(a.iter().zip(b.iter()).map(|(a, b)| a.join(b)).collect::<Option<_>>()?)
            }
            (Carrier::Sets(a), Carrier::Sets(b)) => Carrier::sets(a.join(b)?)?,
            _ => return None,
        };
        (joined.card() <= MAX_CARD).then_some(joined)
    }

    /// The carrier of a whole finite type without integers inside.
    pub fn of_type(ty: &Type, sizes: &dyn Fn(SetId) -> usize) -> Option<Carrier> {
        let carrier = match ty {
            Type::Bool => Carrier::Bool,
            Type::Set(s) => Carrier::Set(*s, u16::try_from(sizes(*s)).ok()?),
            Type::Prod(a, b) => Carrier::pair(Carrier::of_type(a, sizes)?, Carrier::of_type(b, sizes)?),
            Type::Struct(fields) => {
                Carrier::Rec(fields.iter().map(|(_, t)| Carrier::of_type(t, sizes)).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        (carrier.card() <= MAX_CARD).then_some(carrier)
    }

    /// The carrier of a whole finite type, where sets may be elements.
    pub fn of_nested_type(ty: &Type, sizes: &dyn Fn(SetId) -> usize) -> Option<Carrier> {
        let carrier = match ty {
            Type::Pow(t) => Carrier::sets(Carrier::of_nested_type(t, sizes)?)?,
            Type::Prod(a, b) => {
                Carrier::pair(Carrier::of_nested_type(a, sizes)?, Carrier::of_nested_type(b, sizes)?)
            }
            Type::Struct(fields) => Carrier::Rec(
                fields.iter().map(|(_, t)| Carrier::of_nested_type(t, sizes)).collect::<Option<_>>()?,
            ),
            _ => Carrier::of_type(ty, sizes)?,
        };
        (carrier.card() <= MAX_CARD).then_some(carrier)
    }

    /// The smallest carrier that has a code for every one of these values.
    pub fn of_values<'v>(
        values: impl Iterator<Item = &'v Value>,
        ty: &Type,
        sizes: &dyn Fn(SetId) -> usize,
    ) -> Option<Carrier> {
        let mut all: Option<Carrier> = None;
        for v in values {
            let one = Carrier::of_value(v, ty, sizes)?;
            all = Some(match all {
                None => one,
                Some(c) => c.join(&one)?,
            });
        }
        all
    }

    fn of_value(v: &Value, ty: &Type, sizes: &dyn Fn(SetId) -> usize) -> Option<Carrier> {
        match (v, ty) {
            (Value::Int(Int::Small(i)), _) => Some(Carrier::Ints { lo: i32::try_from(*i).ok()?, n: 1 }),
            (Value::Pair(p), Type::Prod(a, b)) => {
                Some(Carrier::pair(Carrier::of_value(&p.0, a, sizes)?, Carrier::of_value(&p.1, b, sizes)?))
            }
            (Value::Rec(vs), Type::Struct(fields)) => Some(Carrier::Rec(
                vs.iter()
                    .zip(fields.iter())
                    .map(|(v, (_, t))| Carrier::of_value(v, t, sizes))
                    .collect::<Option<_>>()?,
            )),
            _ => Carrier::of_type(ty, sizes),
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Carrier::Bool => write!(f, "BOOL"),
            Carrier::Set(_, n) => write!(f, "{n} elements"),
            Carrier::Ints { lo, n } => write!(f, "{lo}..{}", i64::from(*lo) + i64::from(*n) - 1),
            Carrier::Pair(p) => write!(f, "({} × {})", p.0, p.1),
            Carrier::Rec(fields) => {
                write!(f, "record(")?;
                for (i, c) in fields.iter().enumerate() {
                    write!(f, "{}{c}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, ")")
            }
            Carrier::Sets(of) => write!(f, "sets over {of}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_values_are_inverse_and_keep_the_order() {
        let carrier = Carrier::pair(
            Carrier::Rec(Arc::from([Carrier::Bool, Carrier::Ints { lo: -2, n: 5 }])),
            Carrier::Set(SetId(0), 3),
        );
        let values: Vec<Value> = (0..carrier.card()).map(|c| carrier.value(c)).collect();
        assert!(values.is_sorted_by(|a, b| a < b));
        for (code, v) in values.iter().enumerate() {
            assert_eq!(carrier.code(v), Some(code));
        }
    }

    #[test]
    fn sets_are_elements_with_their_bits_as_codes() {
        let base = Carrier::pair(Carrier::Bool, Carrier::Ints { lo: 3, n: 2 });
        let carrier = Carrier::pair(Carrier::Bool, Carrier::sets(base).expect("few enough"));
        for code in 0..carrier.card() {
            assert_eq!(carrier.code(&carrier.value(code)), Some(code));
        }
        let all = carrier.set_of((0..carrier.card()).map(|c| carrier.value(c)).collect());
        let elems = all.as_set().expect("a set");
        assert!(elems.is_sorted_by(|a, b| a < b) && elems.len() == carrier.card());
        assert_eq!(Carrier::sets(Carrier::Set(SetId(0), 9)), None);
    }

    #[test]
    fn what_lies_outside_the_window_has_no_code() {
        let c = Carrier::Ints { lo: 0, n: 4 };
        assert_eq!(c.code(&Value::int(4)), None);
        assert_eq!(c.code(&Value::int(-1)), None);
        let wider = c.join(&Carrier::Ints { lo: 6, n: 1 });
        assert_eq!(wider, Some(Carrier::Ints { lo: 0, n: 7 }));
    }
}
