//! The relation xi between kept states and the members of their orbits.
//!
//! In: kept states, exchanges as permutations of variables. Out: the relation, and through it all images of a set of kept
//! states. Two ways of the literature lead to it: `Create_xi` starts from the kept states and grows their images;
//! `Orbit_To_xi` relates all states of an orbit first and restricts the one side to kept states in the end.
//! Never here: which states are kept, whether the system is symmetric.

use super::diagram::{Diagrams, Halted, Renaming, Set};
use super::encoding::Encoding;
use bombus_system::Exchange;
use oxidd::VarNo;

pub struct Xi {
    /// Between a kept state and, in the copies of its variables, an image of it.
    relation: Set,
    kept: Set,
    back: Renaming,
}

/// How the relation is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Create,
    FromOrbits,
}

impl Xi {
    /// Needs a copy of every variable. `kept` are states of `all`, which is closed under the exchanges.
    pub fn new(
        way: Way,
        (kept, all): (&Set, &Set),
        exchanges: &[Exchange],
        encoding: &Encoding,
        diagrams: &Diagrams,
    ) -> Halted<Xi> {
        let copy = |v: VarNo| encoding.primed(v).expect("every variable has a copy where xi is wanted");
        let mut relation = match way {
            Way::Create => kept.clone(),
            Way::FromOrbits => all.clone(),
        };
        for v in encoding.current.iter().rev() {
            let both = diagrams.cube([(*v, true), (copy(*v), true)])?;
            let neither = diagrams.cube([(*v, false), (copy(*v), false)])?;
            relation = relation.and(&both.or(&neither)?)?;
        }
        let mut moves = Vec::new();
        for exchange in exchanges {
            let pairs = encoding.permuted(exchange).into_iter().map(|(a, b)| (copy(a), copy(b)));
            moves.push(diagrams.renaming(&pairs.collect::<Vec<_>>())?);
        }
        loop {
            let before = relation.clone();
            for exchange in &moves {
                relation = relation.or(&exchange.of(&relation)?)?;
            }
            if relation == before {
                break;
            }
            diagrams.check()?;
        }
        let back: Vec<(VarNo, VarNo)> = encoding.current.iter().map(|v| (copy(*v), *v)).collect();
        Ok(Xi {
            relation: relation.and(kept)?,
            kept: diagrams.variables(encoding.current.iter().copied())?,
            back: diagrams.renaming(&back)?,
        })
    }

    /// All images of a set of kept states. Variables that belong to no state stay as they are.
    pub fn images(&self, set: &Set) -> Halted<Set> {
        self.back.of(&set.and_exists(&self.relation, &self.kept)?)
    }

    pub fn nodes(&self) -> usize {
        self.relation.node_count()
    }
}
