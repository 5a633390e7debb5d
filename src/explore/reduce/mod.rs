//! Reductions: what makes a search visit fewer states and still see everything it promises to see.
//!
//! `symmetry` takes states for one that a permutation maps to each other, `por` leaves out
//! interleavings of independent steps. Never here: what a state means; a system says what is symmetric
//! and what is independent.

pub mod por;
pub mod symmetry;
#[cfg(test)]
mod tests;
