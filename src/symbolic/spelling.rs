//! Invariants as predicates of B: what a cube of literals says of the variables.
//!
//! In: cubes, and where their literals stand in the terms of variables. Out: texts that can be read by people and loaded
//! again as conjuncts of an invariant. Never here: how cubes are found.

use super::system::{Atom, Cube, Fact};
use super::translate::Place;
use bombus_lang::typed::{Machine, Type, VarId};

pub struct Spelling<'a> {
    pub machine: &'a Machine,
    pub places: &'a [(VarId, Vec<Place>)],
}

impl Spelling<'_> {
    /// The predicate that no state of the cube satisfies.
    pub fn excluded(&self, cube: &Cube) -> String {
        match &cube[..] {
            [] => "btrue".into(),
            [fact] => self.fact(&Fact { atom: fact.atom.clone(), holds: !fact.holds }),
            facts => {
                let all: Vec<String> = facts.iter().map(|fact| self.fact(fact)).collect();
                format!("not({})", all.join(" & "))
            }
        }
    }

    fn fact(&self, fact: &Fact) -> String {
        let compared = if fact.holds { "<=" } else { ">" };
        match &fact.atom {
            Atom::Bit(cell) => self.bit(*cell, fact.holds),
            Atom::AtMost(cell, bound) => format!("{} {compared} {bound}", self.path(*cell).0),
            Atom::Difference(x, y, bound) => {
                format!("{} - {} {compared} {bound}", self.path(*x).0, self.path(*y).0)
            }
        }
    }

    fn bit(&self, cell: usize, holds: bool) -> String {
        let (path, ty) = self.path(cell);
        match (self.places[cell].1.last(), ty) {
            (Some(Place::Value(value)), Type::Pow(element)) => {
                let of = if holds { ":" } else { "/:" };
                format!("{} {of} {path}", value.show(self.machine, &element))
            }
            (Some(Place::Value(value)), ty) => {
                let is = if holds { "=" } else { "/=" };
                format!("{path} {is} {}", value.show(self.machine, &ty))
            }
            (Some(Place::Argument(value)), Type::Pow(pair)) => {
                let of = if holds { ":" } else { "/:" };
                let Type::Prod(from, _) = &*pair else { return "btrue".into() };
                format!("{} {of} dom({path})", value.show(self.machine, from))
            }
            _ => format!("{path} = {}", if holds { "TRUE" } else { "FALSE" }),
        }
    }

    /// The expression of the part of a variable in which a cell stands, with its type.
    fn path(&self, cell: usize) -> (String, Type) {
        let (var, places) = &self.places[cell];
        let declared = self.machine.var(*var);
        let (mut text, mut ty) = (declared.name.to_string(), declared.ty.clone());
        for place in places {
            match (place, &ty) {
                (Place::First, Type::Prod(a, b)) => {
                    text = format!("prj1({},{})({text})", self.set(a), self.set(b));
                    ty = (**a).clone();
                }
                (Place::Second, Type::Prod(a, b)) => {
                    text = format!("prj2({},{})({text})", self.set(a), self.set(b));
                    ty = (**b).clone();
                }
                (Place::Field(i), Type::Struct(fields)) => {
                    text = format!("{text}'{}", fields[*i].0);
                    ty = fields[*i].1.clone();
                }
                (Place::Image(value), Type::Pow(pair)) => {
                    if let Type::Prod(from, to) = &**pair {
                        text = format!("{text}({})", value.show(self.machine, from));
                        ty = (**to).clone();
                    }
                }
                _ => {}
            }
        }
        (text, ty)
    }

    /// A type as the set of its values.
    fn set(&self, ty: &Type) -> String {
        match ty {
            Type::Integer => "INTEGER".into(),
            Type::Bool => "BOOL".into(),
            Type::String => "STRING".into(),
            Type::Real => "REAL".into(),
            Type::Set(id) => self.machine.set(*id).name.to_string(),
            Type::Free(id) => self.machine.freetypes[id.0 as usize].name.to_string(),
            Type::Any => "INTEGER".into(),
            Type::Pow(t) => format!("POW({})", self.set(t)),
            Type::Prod(a, b) => format!("({}*{})", self.set(a), self.set(b)),
            Type::Struct(fields) => {
                let all: Vec<String> = fields.iter().map(|(n, t)| format!("{n}:{}", self.set(t))).collect();
                format!("struct({})", all.join(","))
            }
        }
    }
}
