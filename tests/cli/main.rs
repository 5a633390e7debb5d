//! The command line as a user meets it, and the house rules of the source tree.

#[path = "../support/mod.rs"]
mod support;

mod command_line;
mod explanations;
mod people;
mod replay;
mod schema;
mod tidy;
