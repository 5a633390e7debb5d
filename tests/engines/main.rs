//! The compiled engine, the evaluator, the solver and the oracle, each against the others.

#[path = "../support/mod.rs"]
mod support;

mod compiled;
mod definedness;
mod differential;
mod explanations;
mod formulas_on_sets;
mod generator;
mod given_parameters;
mod index;
mod loops;
mod oracle;
mod proof_info;
mod propagation_agreement;
mod sets_of_states;
mod solver_agreement;
mod symbolic;
mod symbolic_cases;
mod values_without_words;
mod whole_machines;

/// The program's own allocator: values of two engines are made and dropped all the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
