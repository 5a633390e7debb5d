//! Symbolic engines: a machine as clauses, checked by a SAT solver instead of by visiting its states.
//!
//! In: the typed machine. Out: verdicts with a certificate, or a sequence of events that is replayed elsewhere.
//!
//! - `sat` is the seam to a solver (`cadical` another one behind it), `gates` and `integer` build literals of formulas over it.
//! - `system` is a transition system over gates, the seam between a translation and the engines.
//! - `encode` makes literals of typed formulas and substitutions; `unroll` makes frames and steps of them.
//! - `bmc`, `path` and `kind` ask about frames; `translate` makes a `system` of a machine.
//! - `preservation` asks beforehand which events keep which conjuncts, so that the engines need not ask again and again.
//! - `valuations` lists the values of constants.
//! - `bound` says which width of integers makes UNSAT a proof.
//! - `ic3` searches for an inductive invariant, and proves it again from a fresh translation.
//! - `spelling` writes what an invariant excludes as predicates of B.
//! - `lrat` writes refutations that other programs can check; `lrat_check` is such a checker.
//!
//! UNSAT is a proof only if no weakening of the wrong direction and no width stands behind it; each file says how it
//! keeps that.
#![forbid(unsafe_code)]

pub mod bmc;
pub mod bound;
#[cfg(feature = "cadical")]
pub mod cadical;
pub mod encode;
pub mod gates;
pub mod ic3;
pub mod integer;
pub mod kind;
pub mod lrat;
pub mod lrat_check;
pub mod path;
pub mod preservation;
pub mod sat;
mod spelling;
pub mod system;
#[cfg(test)]
mod testing;
pub mod translate;
pub mod unroll;
pub mod valuations;
