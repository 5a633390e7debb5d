//! Types of Z: tuples of any arity, schema types, and how a type is written.
//!
//! While a specification is typed, a type of Z stands as a type of the typed model: a pair is a product, a tuple of
//! three or more a record whose fields are called `·1`, `·2`, …, so that `(1,2,3)` and `((1,2),3)` are told apart and
//! the unifier of classical B serves for both languages. `plain` turns tuples into left-nested products; nothing
//! behind `model::z` sees a tuple.

use crate::types::{Unifier, open_number};
use bombus_base::Name;
use bombus_lang::typed::{Expr, ExprKind, FreeId, Freetype, SetDecl, Type};
use bombus_lang::walk::Change;
use std::sync::Arc;

/// Begins the names of the fields of a tuple.
const PLACE: char = '·';

/// Free types from this number on stand for the formal parameters of a generic definition.
const FORMAL: u32 = 1 << 30;

pub fn formal_type(number: usize) -> Type {
    Type::Free(FreeId(FORMAL + number as u32))
}

/// The type of a tuple; one component is not wrapped.
pub fn tuple(mut types: Vec<Type>) -> Type {
    match types.len() {
        1 => types.remove(0),
        2 => {
            let second = types.remove(1);
            Type::prod(types.remove(0), second)
        }
        _ => Type::Struct(
            types
                .into_iter()
                .enumerate()
                .map(|(i, t)| (Name::from(format!("{PLACE}{}", i + 1)), t))
                .collect(),
        ),
    }
}

/// The types of the components, if the type is that of tuples.
pub fn components(ty: &Type) -> Option<Vec<Type>> {
    match ty {
        Type::Prod(a, b) => Some(vec![(**a).clone(), (**b).clone()]),
        Type::Struct(fields) if is_tuple(fields) => Some(fields.iter().map(|(_, t)| t.clone()).collect()),
        _ => None,
    }
}

fn is_tuple(fields: &[(Name, Type)]) -> bool {
    fields.first().is_some_and(|(n, _)| n.starts_with(PLACE))
}

/// The schema type with these components.
pub fn binding(mut fields: Vec<(Name, Type)>) -> Type {
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Type::Struct(fields.into())
}

/// The fields of a schema type; none for tuples.
pub fn fields(ty: &Type) -> Option<&[(Name, Type)]> {
    match ty {
        Type::Struct(fields) if !is_tuple(fields) => Some(fields),
        _ => None,
    }
}

/// The type with products in the place of tuples.
pub fn plain(ty: &Type) -> Type {
    match ty {
        Type::Pow(t) => Type::pow(plain(t)),
        Type::Prod(a, b) => Type::prod(plain(a), plain(b)),
        Type::Struct(fields) if is_tuple(fields) => {
            fields.iter().map(|(_, t)| plain(t)).reduce(Type::prod).unwrap_or(Type::Any)
        }
        Type::Struct(fields) => Type::Struct(fields.iter().map(|(n, t)| (n.clone(), plain(t))).collect()),
        other => other.clone(),
    }
}

/// Whether the type has finitely many values whatever the sizes of the given sets.
pub fn is_finite(ty: &Type) -> bool {
    match ty {
        Type::Set(_) | Type::Bool => true,
        Type::Pow(t) => is_finite(t),
        Type::Prod(a, b) => is_finite(a) && is_finite(b),
        Type::Struct(fields) => fields.iter().all(|(_, t)| is_finite(t)),
        _ => false,
    }
}

/// Closes trees: every open type is replaced and every tuple becomes a product.
pub struct Close<'u>(pub &'u Unifier);

impl Close<'_> {
    pub fn ty(&self, ty: &Type) -> Type {
        plain(&self.0.close(ty))
    }
}

impl Change for Close<'_> {
    fn expr(&mut self, e: &mut Expr) {
        e.ty = self.ty(&e.ty);
        if let ExprKind::TypeSet(ty) = &mut e.kind {
            *ty = self.ty(ty);
        }
    }
}

/// The names that types are written with.
pub struct TypeNames<'a> {
    pub sets: &'a [SetDecl],
    pub freetypes: &'a [Freetype],
    pub formals: &'a [Name],
}

impl TypeNames<'_> {
    /// A type as Z writes it; open parts are `_`.
    pub fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Integer => "\\num".to_owned(),
            Type::Set(id) => self.sets.get(id.0 as usize).map_or("?", |s| &s.name).to_owned(),
            Type::Free(_) if open_number(ty).is_some() => "_".to_owned(),
            Type::Free(FreeId(n)) if *n >= FORMAL => {
                self.formals.get((n - FORMAL) as usize).map_or("?", |n| n).to_owned()
            }
            Type::Free(id) => self.freetypes.get(id.0 as usize).map_or("?", |f| &f.name).to_owned(),
            Type::Pow(t) => format!("\\power {}", self.factor(t)),
            Type::Prod(a, b) => format!("{} \\cross {}", self.factor(a), self.factor(b)),
            Type::Struct(fields) if is_tuple(fields) => {
                let all: Vec<String> = fields.iter().map(|(_, t)| self.factor(t)).collect();
                all.join(" \\cross ")
            }
            Type::Struct(fields) => {
                let all: Vec<String> =
                    fields.iter().map(|(n, t)| format!("{n} : {}", self.show(t))).collect();
                format!("[{}]", all.join("; "))
            }
            _ => "_".to_owned(),
        }
    }

    fn factor(&self, ty: &Type) -> String {
        match ty {
            Type::Pow(_) | Type::Prod(..) => format!("({})", self.show(ty)),
            Type::Struct(fields) if is_tuple(fields) => format!("({})", self.show(ty)),
            _ => self.show(ty),
        }
    }
}

/// The type of the elements of a set type.
pub fn element(ty: &Type) -> Option<Arc<Type>> {
    match ty {
        Type::Pow(t) => Some(t.clone()),
        _ => None,
    }
}
