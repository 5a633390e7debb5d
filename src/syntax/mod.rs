//! Texts to trees: tokens, the tree, parsers, the printer.
//!
//! In: texts. Out: trees that mirror the text. Never here: types, name resolution, files.

pub mod ast;
pub mod eventb;
