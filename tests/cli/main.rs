//! The command line as a user meets it, and the house rules of the source tree.

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod command_line;
mod coverage;
mod logs;
mod lsp;
mod mcp;
mod replay;
mod serve;
mod tidy;
