//! CSP-M: scripts, processes, refinement.
//!
//! In: the text of a script. Out: systems to explore, verdicts on assertions.
//! Data flows `lexer → parser → scope → types → eval → step → component → compose → machine`; a process is evaluated by one
//! thread to tables, the tables are explored by all. Never here: printing, the command line.
#![forbid(unsafe_code)]

mod annotation;
pub mod apply;
pub mod assertion;
mod bisimulation;
pub mod builtin;
pub mod component;
pub mod compose;
pub mod core;
pub mod dots;
pub mod eval;
pub mod explicit;
mod expression;
mod firing;
pub mod levels;
pub mod lexer;
pub mod library;
mod lower;
pub mod machine;
pub mod normal;
pub mod parser;
pub mod plain;
pub mod process;
pub mod refine;
pub mod scope;
mod sections;
pub mod sets;
mod shortest;
pub mod show;
pub mod step;
pub mod temporal;
pub mod term;
mod timed;
mod tocks;
pub mod token;
pub mod tree;
pub mod types;
mod types_library;
mod unification;
pub mod value;

#[cfg(test)]
mod brute_tests;
#[cfg(test)]
mod section_tests;
#[cfg(test)]
mod sixty_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod types_tests;
