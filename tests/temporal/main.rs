//! Temporal logic: LTL and CTL on models, graphs and paths.

#[path = "../support/mod.rs"]
mod support;

mod command;
mod ltl_corpus;
mod ltl_frozen;
mod ltl_models;
mod temporal_papers;
mod temporal_symmetry;
