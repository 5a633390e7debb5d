//! LTL\[e\] with past and fairness, and CTL, on the frozen graph.
//!
//! In: a graph, formulas as text, and callbacks that evaluate their parts in other languages once. Out: a verdict for
//! each formula, with a lasso or a finite path when it is violated. Never here: B itself, exploration.
//!
//! Paths are maximal: infinite, or finite and ending in a deadlock. `X f` and `[op]` are false at the
//! end of a finite path, `Y f` is false at its beginning; nothing stutters.
#![forbid(unsafe_code)]

mod alphabet;
pub mod atoms;
mod automaton;
pub mod bits;
pub mod check;
mod component;
pub mod ctl;
pub mod ctl_parse;
mod cursor;
pub mod evaluate;
mod fairness;
pub mod formula;
pub mod frozen;
pub mod ground;
mod lasso;
mod normal;
pub mod parse;
pub mod path;
pub mod pattern;
mod product;
pub mod propositions;
mod reach;
pub mod scattered;
mod scattered_ctl;
mod shorten;
mod tableau;
mod token;
pub mod view;

#[cfg(test)]
mod differential_tests;
#[cfg(test)]
mod fairness_tests;
#[cfg(test)]
mod scattered_tests;
#[cfg(test)]
mod seed_tests;
#[cfg(test)]
mod semantics_tests;
#[cfg(test)]
mod testing;

pub use check::{Checker, Counterexample, Engine, Verdict};
pub use ctl::CtlVerdict;
pub use ctl_parse::parse_ctl;
pub use parse::parse_ltl;
pub use token::Place;
