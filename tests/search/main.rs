//! The exhaustive search: counts, verdicts, limits, and independence of the number of workers.

#[path = "../support/mod.rs"]
mod support;

mod bench_models;
mod determinism;
mod late_assertions;
mod limits;
mod reliability;
mod stores;
