//! Runs that last: checkpoints, batches of checks, measurements of speed-up.

#[path = "../support/mod.rs"]
mod support;

mod batch;
mod certificate;
mod checkpoint;
mod cluster;
mod proof_certificate;
mod scale;
