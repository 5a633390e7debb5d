//! The command line: arguments as typed → options as meant → `driver` → text and exit status.
//!
//! Never here: what a check does. The only place that prints.

pub mod animate;
pub mod args;
pub mod batch;
pub mod cluster;
pub mod progress;
pub mod run;
pub mod scale;

/// Exit statuses of every command; `check` adds 1 (violated), 3 (incomplete) and 130 (interrupted).
pub mod status {
    pub const OK: u8 = 0;
    pub const REJECTED: u8 = 2;
    pub const INTERNAL: u8 = 4;
}
