//! Z in LaTeX, as fuzz reads it: tokens, the tree, the parser.
//!
//! In: the text of a file. Out: the tree of the specification and all messages. Never here: types, what names mean.

mod expression;
mod lexer;
mod logic;
pub mod operators;
mod parser;
mod token;
pub mod tree;

use super::Parsed;
use bombus_base::FileId;
use bombus_base::diagnostic::Severity;
use tree::Spec;

/// Parses a whole file; every paragraph that is wrong gives a message of its own.
pub fn parse(file: FileId, text: &str) -> Parsed<Spec> {
    let scanned = lexer::scan(file, text);
    let (spec, diagnostics) = parser::specification(scanned);
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Parsed { tree: (!failed).then_some(spec), diagnostics }
}
