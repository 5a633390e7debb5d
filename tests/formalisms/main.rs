//! Clients of the seam that are not of the B family: nets, tables, libraries, processes, Rust types of a user.

#[path = "../support/mod.rs"]
mod support;

mod api;
mod csp;
mod csp_findings;
mod guided;
mod nets;
mod pins;
mod via;
