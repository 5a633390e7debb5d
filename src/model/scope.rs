//! What the names of one machine stand for.
//!
//! In: declarations of the machine and of those it sees, includes or refines. Out: the meaning of a
//! name, or the nearest name for a message. Never here: types.

use super::definitions::Definitions;
use bombus_base::text::distance;
use bombus_base::{Name, Span};
use bombus_lang::typed::{FreeId, OpId, SetId, VarId};
use bombus_syntax::ast;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Which scope of the project; each instance of a machine has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

#[derive(Clone, Debug)]
pub enum Entity {
    Var(VarId),
    Set(SetId),
    Elem(SetId, u32),
    Free(FreeId),
    Constructor(FreeId, u32),
    /// A formal parameter of a machine: the actual one, to be read in the scope of the including machine.
    Actual(Arc<ast::Expr>, ScopeId),
}

impl Entity {
    /// Whether both are the same thing, so that meeting it twice is no clash.
    pub fn same(&self, other: &Entity) -> bool {
        match (self, other) {
            (Entity::Var(a), Entity::Var(b)) => a == b,
            (Entity::Set(a), Entity::Set(b)) => a == b,
            (Entity::Elem(a, i), Entity::Elem(b, j)) => (a, i) == (b, j),
            (Entity::Free(a), Entity::Free(b)) => a == b,
            (Entity::Constructor(a, i), Entity::Constructor(b, j)) => (a, i) == (b, j),
            (Entity::Actual(a, _), Entity::Actual(b, _)) => a == b,
            _ => false,
        }
    }
}

/// What an operation or a predicate may do with a variable of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Write,
    /// The text says why it must not be written, to follow "it is".
    Read(&'static str),
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub entity: Entity,
    pub access: Access,
    pub span: Span,
}

/// The names one machine can use.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub names: HashMap<Name, Entry>,
    pub operations: BTreeMap<Name, OpId>,
    pub definitions: Arc<Definitions>,
    /// Operations of the machine itself, which its substitutions may not call.
    pub own_operations: BTreeSet<Name>,
    /// Names of the machine that the clause in hand may not use, and why not.
    pub hidden: HashMap<Name, &'static str>,
}

impl Scope {
    /// Adds a name; on a clash the place of the earlier declaration comes back.
    pub fn declare(&mut self, name: &Name, entry: Entry) -> Result<(), Span> {
        match self.names.get(name) {
            Some(old) if old.entity.same(&entry.entity) => {
                if entry.access == Access::Write {
                    self.names.insert(name.clone(), entry);
                }
                Ok(())
            }
            Some(old) => Err(old.span),
            None => {
                self.names.insert(name.clone(), entry);
                Ok(())
            }
        }
    }

    /// The known name that is spelt most like this one, if any comes near.
    pub fn nearest<'a>(&'a self, wanted: &str, locals: impl Iterator<Item = &'a Name>) -> Option<&'a Name> {
        let known = self.names.keys().chain(self.definitions.names()).chain(locals);
        nearest(wanted, known)
    }
}

/// The candidate with the smallest edit distance; ties go to the alphabet, so the choice is stable.
pub fn nearest<'a>(wanted: &str, candidates: impl Iterator<Item = &'a Name>) -> Option<&'a Name> {
    let limit = match wanted.chars().count() {
        // Any other name of one letter is as near as the right one.
        0..=1 => 0,
        2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .filter(|c| c.len().abs_diff(wanted.len()) <= limit)
        .map(|c| (distance(wanted, c), c))
        .filter(|(d, c)| *d <= limit && *d < c.chars().count())
        .min()
        .map(|(_, c)| c)
}
