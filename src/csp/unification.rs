//! Types that are known in part: variables, what they stand for, and when two types can be one.
//!
//! In: types of expressions. Out: bindings of their variables, or that two types cannot be the same.
//! Never here: expressions, messages.

use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Var(u32),
    /// Whatever is not looked at, such as a part of a dotted pattern.
    Any,
    /// Values that begin with a channel or a constructor: events, members of datatypes, and beginnings of both.
    Dotted,
    Int,
    Bool,
    Char,
    Proc,
    Seq(Rc<Type>),
    Set(Rc<Type>),
    Map(Rc<(Type, Type)>),
    Tuple(Rc<[Type]>),
    Fun(Rc<[Type]>, Rc<Type>),
}

pub(super) fn seq(t: Type) -> Type {
    Type::Seq(Rc::new(t))
}

pub(super) fn set(t: Type) -> Type {
    Type::Set(Rc::new(t))
}

/// The variables of types.
#[derive(Default)]
pub(super) struct Types {
    /// What each variable stands for.
    bound: Vec<Option<Type>>,
}

impl Types {
    /// How many variables there are.
    pub(super) fn count(&self) -> u32 {
        self.bound.len() as u32
    }

    pub(super) fn fresh(&mut self) -> Type {
        self.bound.push(None);
        Type::Var(self.bound.len() as u32 - 1)
    }

    /// The type as far as its outermost form is known.
    pub(super) fn seen(&self, t: &Type) -> Type {
        let mut t = t.clone();
        while let Type::Var(n) = t {
            match &self.bound[n as usize] {
                Some(next) => t = next.clone(),
                None => return t,
            }
        }
        t
    }

    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.seen(a), self.seen(b));
        match (&a, &b) {
            (Type::Any, _) | (_, Type::Any) => true,
            (Type::Var(x), Type::Var(y)) if x == y => true,
            (Type::Var(n), other) | (other, Type::Var(n)) => {
                let t = if self.occurs(*n, other) { Type::Any } else { other.clone() };
                self.bound[*n as usize] = Some(t);
                true
            }
            (Type::Seq(x), Type::Seq(y)) | (Type::Set(x), Type::Set(y)) => self.unify(x, y),
            (Type::Map(x), Type::Map(y)) => self.unify(&x.0, &y.0) && self.unify(&x.1, &y.1),
            (Type::Tuple(x), Type::Tuple(y)) => {
                x.len() == y.len() && x.iter().zip(y.iter()).all(|(p, q)| self.unify(p, q))
            }
            (Type::Fun(x, r), Type::Fun(y, s)) => {
                x.len() == y.len()
                    && x.iter().zip(y.iter()).all(|(p, q)| self.unify(p, q))
                    && self.unify(r, s)
            }
            (x, y) => x == y,
        }
    }

    fn occurs(&self, n: u32, t: &Type) -> bool {
        match self.seen(t) {
            Type::Var(m) => m == n,
            Type::Seq(x) | Type::Set(x) => self.occurs(n, &x),
            Type::Map(x) => self.occurs(n, &x.0) || self.occurs(n, &x.1),
            Type::Tuple(list) => list.iter().any(|t| self.occurs(n, t)),
            Type::Fun(list, r) => list.iter().any(|t| self.occurs(n, t)) || self.occurs(n, &r),
            _ => false,
        }
    }

    pub(super) fn show(&self, t: &Type) -> String {
        let list = |items: &[Type]| items.iter().map(|t| self.show(t)).collect::<Vec<_>>().join(", ");
        match self.seen(t) {
            Type::Var(_) => "a".to_string(),
            Type::Any => "any".to_string(),
            Type::Dotted => "event or member of a datatype".to_string(),
            Type::Int => "Int".to_string(),
            Type::Bool => "Bool".to_string(),
            Type::Char => "Char".to_string(),
            Type::Proc => "Proc".to_string(),
            Type::Seq(x) => format!("<{}>", self.show(&x)),
            Type::Set(x) => format!("{{{}}}", self.show(&x)),
            Type::Map(x) => format!("(| {} => {} |)", self.show(&x.0), self.show(&x.1)),
            Type::Tuple(items) => format!("({})", list(&items)),
            Type::Fun(items, r) => format!("({}) -> {}", list(&items), self.show(&r)),
        }
    }

    /// A copy with variables of its own in the place of those from a number on.
    pub(super) fn copy(&mut self, t: &Type, first: u32, fresh: &mut HashMap<u32, Type>) -> Type {
        match self.seen(t) {
            Type::Var(n) if n >= first => {
                if let Some(t) = fresh.get(&n) {
                    return t.clone();
                }
                let new = self.fresh();
                fresh.insert(n, new.clone());
                new
            }
            Type::Seq(x) => seq(self.copy(&x, first, fresh)),
            Type::Set(x) => set(self.copy(&x, first, fresh)),
            Type::Map(x) => {
                Type::Map(Rc::new((self.copy(&x.0, first, fresh), self.copy(&x.1, first, fresh))))
            }
            Type::Tuple(items) => Type::Tuple(items.iter().map(|t| self.copy(t, first, fresh)).collect()),
            Type::Fun(items, r) => {
                let items = items.iter().map(|t| self.copy(t, first, fresh)).collect();
                Type::Fun(items, Rc::new(self.copy(&r, first, fresh)))
            }
            other => other,
        }
    }
}
