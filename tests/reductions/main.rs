//! Reductions of the state space: symmetry, independence of steps, partial orders.

#[path = "../support/mod.rs"]
mod support;

mod independence;
mod por;
mod symmetric_states;
mod symmetry;
