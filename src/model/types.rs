//! Types while they are inferred: open types, unification, and how a type is written.
//!
//! In: the equations that `elaborate` finds. Out: for every open type what it stands for.
//! Never here: trees, names in scope, overloading (that is `overload`).
//!
//! An open type is written as a free type with a number no declaration reaches, so that trees under
//! construction are ordinary typed trees; `settle` replaces every open type before anyone else sees one.

use bombus_base::Span;
use bombus_lang::typed::{FreeId, Freetype, SetDecl, Type};
use std::fmt::Write;
use std::sync::Arc;

const OPEN: u32 = 1 << 31;

/// The number of an open type, if the type is one.
pub fn open_number(ty: &Type) -> Option<usize> {
    match ty {
        Type::Free(FreeId(n)) if n & OPEN != 0 => Some((n & !OPEN) as usize),
        _ => None,
    }
}

/// What each open type stands for, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Unifier {
    known: Vec<Option<Type>>,
    /// For each open type the place that made it known.
    places: Vec<Span>,
    /// The place that types are equated for now.
    pub at: Span,
}

impl Unifier {
    pub fn fresh(&mut self) -> Type {
        let n = self.known.len() as u32;
        self.known.push(None);
        self.places.push(Span::default());
        Type::Free(FreeId(OPEN | n))
    }

    /// The type with its outermost constructor known, if it is known at all.
    pub fn head(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Some(n) = open_number(ty) {
            match &self.known[n] {
                Some(next) => ty = next,
                None => break,
            }
        }
        ty.clone()
    }

    pub fn is_open(&self, ty: &Type) -> bool {
        open_number(&self.head(ty)).is_some()
    }

    /// The type with everything known filled in; what stays open stays.
    pub fn resolve(&self, ty: &Type) -> Type {
        match self.head(ty) {
            Type::Pow(t) => Type::pow(self.resolve(&t)),
            Type::Prod(a, b) => Type::prod(self.resolve(&a), self.resolve(&b)),
            Type::Struct(fields) => {
                Type::Struct(fields.iter().map(|(n, t)| (n.clone(), self.resolve(t))).collect())
            }
            other => other,
        }
    }

    /// Whether some part of the type is not known.
    pub fn has_open(&self, ty: &Type) -> bool {
        match self.head(ty) {
            Type::Pow(t) => self.has_open(&t),
            Type::Prod(a, b) => self.has_open(&a) || self.has_open(&b),
            Type::Struct(fields) => fields.iter().any(|(_, t)| self.has_open(t)),
            other => open_number(&other).is_some(),
        }
    }

    /// The type with `Any` for what nothing fixes.
    pub fn close(&self, ty: &Type) -> Type {
        match self.head(ty) {
            Type::Pow(t) => Type::Pow(Arc::new(self.close(&t))),
            Type::Prod(a, b) => Type::prod(self.close(&a), self.close(&b)),
            Type::Struct(fields) => {
                Type::Struct(fields.iter().map(|(n, t)| (n.clone(), self.close(t))).collect())
            }
            other if open_number(&other).is_some() => Type::Any,
            other => other,
        }
    }

    /// Makes both types equal, or says that they cannot be. What was unified before a clash stays so.
    pub fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.head(a), self.head(b));
        match (&a, &b) {
            _ if a == b => true,
            _ if open_number(&a).is_some() => self.bind(&a, &b),
            _ if open_number(&b).is_some() => self.bind(&b, &a),
            (Type::Any, _) | (_, Type::Any) => true,
            (Type::Pow(x), Type::Pow(y)) => self.unify(x, y),
            (Type::Prod(x1, x2), Type::Prod(y1, y2)) => self.unify(x1, y1) && self.unify(x2, y2),
            (Type::Struct(xs), Type::Struct(ys)) => {
                xs.len() == ys.len()
                    && xs.iter().zip(ys.iter()).all(|((n, x), (m, y))| n == m && self.unify(x, y))
            }
            _ => false,
        }
    }

    fn bind(&mut self, open: &Type, ty: &Type) -> bool {
        let Some(n) = open_number(open) else { return false };
        if self.occurs(n, ty) {
            return false;
        }
        self.known[n] = Some(ty.clone());
        self.places[n] = self.at;
        true
    }

    /// The place that fixed the part of a type by which it differs from another, or its outermost constructor.
    pub fn origin(&self, ty: &Type, other: Option<&Type>) -> Option<Span> {
        let mut place = None;
        let mut here = ty;
        while let Some(n) = open_number(here) {
            let Some(next) = &self.known[n] else { break };
            place = Some(self.places[n]).filter(|span| *span != Span::default());
            here = next;
        }
        let inner = match (here, other.map(|other| self.head(other))) {
            (Type::Pow(x), Some(Type::Pow(y))) => self.origin(x, Some(&y)),
            (Type::Prod(a, b), Some(Type::Prod(c, d))) => {
                if self.may_equal(a, &c) {
                    self.origin(b, Some(&d))
                } else {
                    self.origin(a, Some(&c))
                }
            }
            _ => None,
        };
        inner.or(place)
    }

    /// Whether two types can still be made equal.
    fn may_equal(&self, a: &Type, b: &Type) -> bool {
        self.clone().unify(a, b)
    }

    fn occurs(&self, n: usize, ty: &Type) -> bool {
        match self.head(ty) {
            Type::Pow(t) => self.occurs(n, &t),
            Type::Prod(a, b) => self.occurs(n, &a) || self.occurs(n, &b),
            Type::Struct(fields) => fields.iter().any(|(_, t)| self.occurs(n, t)),
            other => open_number(&other) == Some(n),
        }
    }
}

/// A type as B writes it; open parts are `_`.
pub fn show(ty: &Type, sets: &[SetDecl], freetypes: &[Freetype]) -> String {
    let mut out = String::new();
    write_type(&mut out, ty, sets, freetypes);
    out
}

fn write_type(out: &mut String, ty: &Type, sets: &[SetDecl], freetypes: &[Freetype]) {
    match ty {
        Type::Integer => out.push_str("INTEGER"),
        Type::Bool => out.push_str("BOOL"),
        Type::String => out.push_str("STRING"),
        Type::Real => out.push_str("REAL"),
        Type::Any => out.push('_'),
        Type::Set(id) => out.push_str(sets.get(id.0 as usize).map_or("?", |s| &s.name)),
        Type::Free(id) if open_number(ty).is_none() => {
            out.push_str(freetypes.get(id.0 as usize).map_or("?", |f| &f.name));
        }
        Type::Free(_) => out.push('_'),
        Type::Pow(t) => {
            out.push_str("POW");
            match &**t {
                // The brackets of the product are those of POW.
                Type::Prod(..) => write_type(out, t, sets, freetypes),
                _ => {
                    out.push('(');
                    write_type(out, t, sets, freetypes);
                    out.push(')');
                }
            }
        }
        Type::Prod(a, b) => {
            out.push('(');
            write_type(out, a, sets, freetypes);
            out.push('*');
            write_type(out, b, sets, freetypes);
            out.push(')');
        }
        Type::Struct(fields) => {
            out.push_str("struct(");
            for (i, (name, t)) in fields.iter().enumerate() {
                let _ = write!(out, "{}{name}:", if i > 0 { ", " } else { "" });
                write_type(out, t, sets, freetypes);
            }
            out.push(')');
        }
    }
}
