//! The compiled model: layouts, register code, query plans, and the `System` they make.
//!
//! In: `model::typed::Machine`. Out: `Program`, which the explorer drives through `system::System`.
//! Never here: who visits a state when, how results are shown.

pub mod carrier;
pub mod compile;
pub mod exec;
pub mod ir;
pub mod layout;
pub mod lower;
pub mod plan;
pub mod pool;
pub mod promise;
pub mod state;
pub mod uses;
pub mod validate;
