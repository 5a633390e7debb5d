//! One form for equal infinite sets, so that states that hold them are told apart by value.
//!
//! In: a set that cannot be listed. Out: an equal set in normal form, where one is known: integers as what NATURAL or
//! INTEGER lacks and has besides; any other set with finitely many elements added and taken away as one such change;
//! a function that was overridden again and again as overridden once. `model::value::identity` says which forms are
//! the only one of their set.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::integer_sets::Spans;
use crate::operators::override_rows;
use bombus_base::Int;
use bombus_lang::typed::BinOp;
use bombus_lang::value::{Base, Symbolic, Value};
use std::collections::BTreeSet;

/// A set as another one that lacks some of its elements and has some more.
struct Amended {
    base: Value,
    /// Elements of the base.
    lacks: BTreeSet<Value>,
    /// No elements of the base.
    adds: BTreeSet<Value>,
}

impl Interpreter<'_> {
    /// An equal set in normal form, or the set as it is.
    pub(crate) fn normal_form(&self, env: &mut Env, v: Value) -> Res<Value> {
        let Value::Symbolic(s) = &v else { return Ok(v) };
        if let Symbolic::Base(_) | Symbolic::Interval(..) = &**s {
            return Ok(v);
        }
        if let Some(spans) = self.spans(env, &v)?
            && let Some(normal) = of_integers(&spans)
        {
            return Ok(normal);
        }
        match &**s {
            Symbolic::Binary(BinOp::Union | BinOp::SetMinus, ..) => match self.amended(env, &v) {
                Ok(amended) => Ok(amended.set()),
                Err(e) if e.is_stop() || e.is_unknown() => Err(e),
                // Whether an element is in the set is not known: the form stays, and it is not the only one.
                Err(_) => Ok(v),
            },
            Symbolic::Binary(BinOp::Override, f, g) => {
                let Value::Symbolic(inner) = f else { return Ok(v) };
                let Symbolic::Binary(BinOp::Override, f, before) = &**inner else { return Ok(v) };
                match (self.list(env, before)?, self.list(env, g)?) {
                    (Some(before), Some(after)) => {
                        let rows = override_rows(&before, &after);
                        Ok(Value::symbolic(Symbolic::Binary(BinOp::Override, f.clone(), rows)))
                    }
                    _ => Ok(v),
                }
            }
            _ => Ok(v),
        }
    }

    fn amended(&self, env: &mut Env, v: &Value) -> Res<Amended> {
        let plain = |v: &Value| Amended { base: v.clone(), lacks: BTreeSet::new(), adds: BTreeSet::new() };
        let Value::Symbolic(s) = v else { return Ok(plain(v)) };
        let (op, a, b) = match &**s {
            Symbolic::Binary(op @ (BinOp::Union | BinOp::SetMinus), a, b) => (*op, a, b),
            _ => return Ok(plain(v)),
        };
        let (whole, few) = match (self.list(env, a)?, self.list(env, b)?) {
            (None, Some(few)) => (a, few),
            (Some(few), None) if op == BinOp::Union => (b, few),
            _ => return Ok(plain(v)),
        };
        let mut amended = self.amended(env, whole)?;
        for x in few.iter() {
            self.tick()?;
            let inside = self.member(env, x, &amended.base)?;
            match (op, inside) {
                (BinOp::Union, true) => amended.lacks.remove(x),
                (BinOp::Union, false) => amended.adds.insert(x.clone()),
                (_, true) => amended.lacks.insert(x.clone()),
                (_, false) => amended.adds.remove(x),
            };
        }
        Ok(amended)
    }
}

impl Amended {
    fn set(self) -> Value {
        let Amended { base, lacks, adds } = self;
        let listed = |elements: BTreeSet<Value>| Value::sorted_set(elements.into_iter().collect());
        let left = if lacks.is_empty() {
            base
        } else {
            Value::symbolic(Symbolic::Binary(BinOp::SetMinus, base, listed(lacks)))
        };
        if adds.is_empty() {
            return left;
        }
        Value::symbolic(Symbolic::Binary(BinOp::Union, left, listed(adds)))
    }
}

/// The normal form of a set of integers. `None` if it would be long, and for a finite set.
fn of_integers(spans: &Spans) -> Option<Value> {
    let base = |b: Base| Value::symbolic(Symbolic::Base(b));
    let minus = |a: Value, b: Value| match b.as_set() {
        Some([]) => a,
        _ => Value::symbolic(Symbolic::Binary(BinOp::SetMinus, a, b)),
    };
    match spans.hull()? {
        (Some(_), Some(_)) => None,
        (None, None) => Some(minus(base(Base::Integer), spans.complement().listed()?)),
        (None, Some(_)) => Some(minus(base(Base::Integer), of_integers(&spans.complement())?)),
        (Some(_), None) => {
            let natural = Spans::between(Some(Int::ZERO), None);
            if *spans == Spans::between(Some(Int::ONE), None) {
                return Some(base(Base::Natural1));
            }
            let left = minus(base(Base::Natural), natural.inter(&spans.complement()).listed()?);
            let negative = spans.inter(&natural.complement()).listed()?;
            Some(match negative.as_set() {
                Some([]) => left,
                _ => Value::symbolic(Symbolic::Binary(BinOp::Union, left, negative)),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_integers_without_end_has_one_form() {
        let span =
            |low: Option<i64>, high: Option<i64>| Spans::between(low.map(Int::from), high.map(Int::from));
        let show = |s: &Spans| of_integers(s).map(|v| format!("{v:?}"));
        let naturals = span(Some(0), None);
        assert_eq!(of_integers(&naturals), Some(Value::symbolic(Symbolic::Base(Base::Natural))));
        assert_eq!(of_integers(&span(Some(1), None)), Some(Value::symbolic(Symbolic::Base(Base::Natural1))));
        assert_eq!(of_integers(&span(None, None)), Some(Value::symbolic(Symbolic::Base(Base::Integer))));
        assert_eq!(of_integers(&span(Some(0), Some(5))), None);
        // Different sets have different forms.
        let sets = [
            span(Some(0), None),
            span(Some(2), None),
            span(Some(-2), None),
            span(None, Some(0)),
            span(None, Some(-3)),
            span(Some(2), Some(3)).complement(),
        ];
        for (i, a) in sets.iter().enumerate() {
            for b in &sets[..i] {
                assert_ne!(show(a), show(b));
            }
        }
    }
}
