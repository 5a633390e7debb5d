//! Which symbolic forms are the only one of their set.
//!
//! In: values of states. Out: whether two of them might be one set in two forms, so that a count of states may count a
//! set twice. Findings do not depend on that: a state that is visited twice is checked twice.

use crate::typed::{BinOp, UnOp};
use crate::value::Value;
use crate::value::symbolic::{Base, Symbolic};
use std::collections::BTreeSet;

/// What a report says where states were told apart by the form of sets.
pub const BY_FORM: &str = "states hold infinite sets that are told apart by their form: a set that was made in two ways \
                           may count twice, so there may be fewer states than counted; findings are right all the same";

/// The symbolic sets that were met, and whether some of them may be another one in disguise.
#[derive(Debug, Default)]
pub struct Forms<'a> {
    met: BTreeSet<&'a Value>,
    doubtful: bool,
}

impl<'a> Forms<'a> {
    pub fn meet(&mut self, v: &'a Value) {
        match v {
            Value::Symbolic(s) => {
                self.doubtful |= !is_unique(s);
                self.met.insert(v);
            }
            Value::Pair(p) => {
                self.meet(&p.0);
                self.meet(&p.1);
            }
            Value::Set(elems) if v.mentions_symbolic() => elems.iter().for_each(|x| self.meet(x)),
            Value::Rec(fields) => fields.iter().for_each(|x| self.meet(x)),
            Value::Free(_, _, Some(x)) => self.meet(x),
            _ => {}
        }
    }

    /// Whether two of the sets that were met may be equal.
    pub fn may_be_equal(&self) -> bool {
        self.doubtful && self.met.len() > 1
    }
}

/// Whether no other form that is kept in a state is an equal set of the same type.
fn is_unique(s: &Symbolic) -> bool {
    let unique = |v: &Value| match v {
        Value::Symbolic(s) => is_unique(s),
        other => !other.mentions_symbolic(),
    };
    match s {
        Symbolic::Base(base) => {
            !matches!(base, Base::Function(..) | Base::Constructor(..) | Base::Destructor(..))
        }
        Symbolic::Interval(..) => true,
        Symbolic::Struct(sets) => sets.iter().all(unique),
        Symbolic::Unary(UnOp::Pow, a) => unique(a),
        Symbolic::Binary(BinOp::Cartesian, a, b) => unique(a) && unique(b),
        _ => is_normal(s),
    }
}

/// Whether a set has the normal form of integers (`reference::normal`), or is a whole type without some elements.
fn is_normal(s: &Symbolic) -> bool {
    let base = |v: &Value, wanted: &[Base]| match v {
        Value::Symbolic(s) => matches!(&**s, Symbolic::Base(b) if wanted.contains(b)),
        _ => false,
    };
    let listed = |v: &Value| matches!(v, Value::Set(_)) && !v.mentions_symbolic();
    let whole = [Base::Integer, Base::String, Base::Real];
    match s {
        Symbolic::Binary(BinOp::SetMinus, a, b) if listed(b) => base(a, &whole) || base(a, &[Base::Natural]),
        // What is left are the integers below some number.
        Symbolic::Binary(BinOp::SetMinus, a, b) => {
            base(a, &[Base::Integer])
                && match b {
                    Value::Symbolic(b) => match &**b {
                        Symbolic::Base(b) => matches!(b, Base::Natural | Base::Natural1),
                        Symbolic::Binary(BinOp::SetMinus, a, _) => base(a, &[Base::Natural]) && is_normal(b),
                        Symbolic::Binary(BinOp::Union, ..) => is_normal(b),
                        _ => false,
                    },
                    _ => false,
                }
        }
        Symbolic::Binary(BinOp::Union, a, b) if listed(b) => {
            base(a, &[Base::Natural])
                || match a {
                    Value::Symbolic(a) => match &**a {
                        Symbolic::Binary(BinOp::SetMinus, a, b) => base(a, &[Base::Natural]) && listed(b),
                        _ => false,
                    },
                    _ => false,
                }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_in_normal_form_are_told_apart_by_it_and_others_may_not_be() {
        let base = |b: Base| Value::symbolic(Symbolic::Base(b));
        let without = Value::symbolic(Symbolic::Binary(
            BinOp::SetMinus,
            base(Base::Natural),
            Value::sorted_set(vec![Value::int(3)]),
        ));
        let (naturals, integers) = (base(Base::Natural), base(Base::Integer));
        let mut forms = Forms::default();
        for v in [&naturals, &integers, &without] {
            forms.meet(v);
        }
        assert!(!forms.may_be_equal());
        let inverse = Value::symbolic(Symbolic::Unary(UnOp::Inverse, naturals.clone()));
        forms.meet(&inverse);
        assert!(forms.may_be_equal());
        let mut alone = Forms::default();
        alone.meet(&inverse);
        alone.meet(&inverse);
        assert!(!alone.may_be_equal());
    }
}
