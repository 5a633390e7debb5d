//! The command line as a user meets it, and the house rules of the source tree.

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod command_line;
mod coverage;
mod explanations;
mod logs;
mod lsp;
mod mcp;
mod people;
mod replay;
mod schema;
mod serve;
mod settings;
mod tidy;
