//! CSP-M: scripts, processes, refinement.
//!
//! In: the text of a script. Out: systems to explore, verdicts on assertions.
//! Data flows `lexer → parser → scope → eval → step → component → compose`; a process is evaluated by one
//! thread to tables, the tables are explored by all. Never here: printing, the command line.

pub mod apply;
pub mod builtin;
pub mod core;
pub mod dots;
pub mod eval;
mod expression;
pub mod lexer;
pub mod library;
pub mod parser;
pub mod process;
pub mod scope;
pub mod sets;
pub mod show;
pub mod step;
pub mod term;
pub mod token;
pub mod tree;
pub mod value;
