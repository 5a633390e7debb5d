//! The language that front ends agree on and engines start from: shape without behaviour.
//!
//! Out: the typed flat machine, walks over its trees, free variables, and values with their order,
//! bytes and spelling. Never here: evaluation, inference, bits of packed states.
#![forbid(unsafe_code)]

pub mod chosen;
pub mod free;
pub mod partiality;
pub mod typed;
pub mod value;
pub mod walk;
