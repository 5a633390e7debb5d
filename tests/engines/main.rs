//! The compiled engine and the solver, each against the reference interpreter.

#[path = "../support/mod.rs"]
mod support;

mod compiled;
mod differential;
mod generator;
mod given_parameters;
mod index;
mod loops;
mod propagation_agreement;
mod solver_agreement;
mod values_without_words;
mod whole_machines;

/// The program's own allocator: values of two engines are made and dropped all the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
