//! Search for the bindings that satisfy a predicate: one plan, binders, narrowing, finite domains.
//!
//! In: typed predicates and the variables to bind. Out: bindings, each of them tested by the evaluator.
//! Never here: what an operator means (`evaluate`), packed states, threads.

pub(crate) mod binder;
pub(crate) mod binding;
pub(crate) mod bounds;
pub(crate) mod cases;
pub(crate) mod choice;
pub(crate) mod confine;
pub(crate) mod consequences;
pub(crate) mod definedness;
pub(crate) mod destructure;
pub(crate) mod elimination;
pub(crate) mod finite_domains;
pub(crate) mod function_rows;
pub(crate) mod functions;
pub(crate) mod inverses;
pub(crate) mod matching;
pub(crate) mod network;
pub(crate) mod order;
pub mod plan;
pub(crate) mod products;
pub(crate) mod record_fields;
pub(crate) mod scope_window;
pub(crate) mod subsets;
pub(crate) mod summands;
pub(crate) mod symbolic_rows;
pub(crate) mod told_functions;
pub(crate) mod told_rows;
pub(crate) mod unfold;
pub(crate) mod witness;
