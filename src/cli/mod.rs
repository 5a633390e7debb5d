//! The command line: arguments as typed → options as meant → `driver` → text and exit status.
//!
//! Never here: what a check does. The only place that prints.

pub mod animate;
mod animate_csp;
pub mod args;
pub mod batch;
pub mod cluster;
pub mod colour;
pub mod describe;
mod info_csp;
pub mod info_json;
pub mod logs;
pub mod lsp;
pub mod mcp;
pub mod meaning;
mod models;
pub mod options;
pub mod outputs;
pub mod pictures;
pub mod progress;
pub mod refusals;
pub mod run;
pub mod scale;
pub mod serve;
pub mod settings;
pub mod simulate;
mod stores;
pub mod test_traces;
pub mod watch;

/// Exit statuses of every command; `check` adds 1 (violated), 3 (incomplete) and 130 (interrupted).
pub mod status {
    pub const OK: u8 = 0;
    pub const REJECTED: u8 = 2;
    pub const INCOMPLETE: u8 = 3;
    pub const INTERNAL: u8 = 4;
}
