//! Many runs of the checker, each in a process of its own: overnight batches and speed-up measurements.
//!
//! In: lists of command lines. Out: what each run said, kept, judged, tabled and drawn.
//! Never here: how a model is checked. A run is known only by its exit status and its JSON result, so that a crash or
//! a memory kill loses that run and nothing else.

pub mod batch;
pub mod child;
pub mod plot;
pub mod scale;
pub mod units;
