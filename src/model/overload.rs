//! Overloaded operators: what is known about their types until the operands' types are.
//!
//! In: one constraint per overloaded operator. Out: equations for the unifier, or a clash.
//! A constraint that never gets decided takes its default: integers for arithmetic, a sequence
//! for `^` and its kin.

use super::types::Unifier;
use bombus_base::{Name, Span};
use bombus_lang::typed::Type;

/// What an overloaded operator asks of types.
#[derive(Clone, Debug)]
pub enum Constraint {
    /// `+`, `/`, unary `-`, comparisons, `max`, `SIGMA`: INTEGER or REAL.
    Number(Type),
    /// `-`: INTEGER, REAL or a set.
    Difference(Type),
    /// `*`: numbers, or the product of two sets.
    Product { left: Type, right: Type, result: Type },
    /// `^`, `size`, `rev`, `conc`: STRING or a sequence.
    Sequence(Type),
    /// `r'f`: a record with this field.
    Field { record: Type, field: Name, value: Type },
}

#[derive(Clone, Debug)]
pub struct Pending {
    pub constraint: Constraint,
    pub span: Span,
}

/// What became of a constraint.
pub enum Outcome {
    Settled,
    Waiting,
    Clash(String),
}

/// Settles what can be settled from the types known now.
pub fn advance(unifier: &mut Unifier, constraint: &Constraint) -> Outcome {
    match constraint {
        Constraint::Number(t) => match unifier.head(t) {
            Type::Integer | Type::Real | Type::Any => Outcome::Settled,
            _ if unifier.is_open(t) => Outcome::Waiting,
            _ => Outcome::Clash("a number was expected".into()),
        },
        Constraint::Difference(t) => match unifier.head(t) {
            Type::Integer | Type::Real | Type::Pow(_) | Type::Any => Outcome::Settled,
            _ if unifier.is_open(t) => Outcome::Waiting,
            _ => Outcome::Clash("`-` takes numbers or sets".into()),
        },
        Constraint::Product { left, right, result } => product(unifier, left, right, result),
        Constraint::Sequence(t) => match unifier.head(t) {
            Type::String | Type::Any => Outcome::Settled,
            Type::Pow(_) => {
                let element = unifier.fresh();
                if unifier.unify(t, &Type::seq(element)) {
                    Outcome::Settled
                } else {
                    Outcome::Clash("a sequence was expected".into())
                }
            }
            _ if unifier.is_open(t) => Outcome::Waiting,
            _ => Outcome::Clash("a sequence or a string was expected".into()),
        },
        Constraint::Field { record, field, value } => match unifier.head(record) {
            Type::Struct(fields) => match fields.iter().find(|(n, _)| n == field) {
                Some((_, t)) if unifier.unify(t, value) => Outcome::Settled,
                Some(_) => Outcome::Clash(format!("the field `{field}` has another type")),
                None => Outcome::Clash(format!("the record has no field `{field}`")),
            },
            Type::Any => Outcome::Settled,
            _ if unifier.is_open(record) => Outcome::Waiting,
            _ => Outcome::Clash(format!("a record with a field `{field}` was expected")),
        },
    }
}

fn product(unifier: &mut Unifier, left: &Type, right: &Type, result: &Type) -> Outcome {
    let heads = [unifier.head(left), unifier.head(right), unifier.head(result)];
    if heads.iter().any(|t| matches!(t, Type::Any)) {
        return Outcome::Settled;
    }
    if let Some(number) = heads.iter().find(|t| matches!(t, Type::Integer | Type::Real)) {
        let number = number.clone();
        let fits = [left, right, result].iter().all(|t| unifier.unify(t, &number));
        return if fits {
            Outcome::Settled
        } else {
            Outcome::Clash("`*` takes two numbers or two sets".into())
        };
    }
    if heads.iter().any(|t| matches!(t, Type::Pow(_))) {
        let (a, b) = (unifier.fresh(), unifier.fresh());
        let fits = unifier.unify(left, &Type::pow(a.clone()))
            && unifier.unify(right, &Type::pow(b.clone()))
            && unifier.unify(result, &Type::rel(a, b));
        return if fits {
            Outcome::Settled
        } else {
            Outcome::Clash("`*` takes two numbers or two sets".into())
        };
    }
    if heads.iter().all(|t| unifier.is_open(t)) {
        Outcome::Waiting
    } else {
        Outcome::Clash("`*` takes two numbers or two sets".into())
    }
}

/// Applies the default of a constraint that nothing decides; false where there is none.
pub fn assume(unifier: &mut Unifier, constraint: &Constraint) -> bool {
    match constraint {
        Constraint::Number(t) | Constraint::Difference(t) => unifier.unify(t, &Type::Integer),
        Constraint::Product { left, .. } => unifier.unify(left, &Type::Integer),
        Constraint::Sequence(t) => {
            let element = unifier.fresh();
            unifier.unify(t, &Type::seq(element))
        }
        Constraint::Field { .. } => false,
    }
}
