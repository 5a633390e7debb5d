//! What must be true for an expression to have a value.
//!
//! In: literals, in the order in which evaluation from left to right asks for them, and of which of them it is known that
//! their falsity is the misapplication of a function that is chosen. Out: the conjunction of all, and that of those before
//! anything else can go wrong. Where one of the latter is false, the valuation is passed over; where another one is false,
//! the valuation is a finding that nothing may rule out.

use crate::solve::finite_domains::Lit;
use crate::solve::network::Builder;

#[derive(Debug, Default)]
pub(crate) struct Guards {
    lits: Vec<Lit>,
    /// How many of the first literals are about functions that are chosen.
    chosen: usize,
}

impl Guards {
    pub(crate) fn push(&mut self, lit: Lit) {
        if lit != Lit::TRUE {
            self.lits.push(lit);
        }
    }

    /// A literal that is false only where a function that is chosen is applied outside its domain.
    pub(crate) fn push_chosen(&mut self, lit: Lit) {
        if self.are_all_chosen() && lit != Lit::TRUE {
            self.chosen += 1;
        }
        self.push(lit);
    }

    /// Whether nothing but functions that are chosen was asked for so far.
    pub(crate) fn are_all_chosen(&self) -> bool {
        self.chosen == self.lits.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.lits.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.lits.truncate(len);
        self.chosen = self.chosen.min(len);
    }
}

impl Builder<'_, '_> {
    /// Whether all guards are true.
    pub(crate) fn all(&mut self, guards: &Guards) -> Lit {
        self.and(guards.lits.iter().copied())
    }

    /// Whether the functions that are chosen have a value wherever they are applied before anything else is asked for.
    pub(crate) fn all_chosen(&mut self, guards: &Guards) -> Lit {
        self.and(guards.lits[..guards.chosen].iter().copied())
    }
}
