//! What a text means: names, types, one flat machine, and the reference interpreter.
//!
//! In: trees from `syntax`. Out: a typed `Machine`, and its meaning by a slow and obvious interpreter.
//! Never here: bits, packed states, threads.

pub mod reference;
pub mod typed;
pub mod value;
