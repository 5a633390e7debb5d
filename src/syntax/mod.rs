//! Texts to trees: tokens, the tree, parsers, the printer.
//!
//! In: texts. Out: trees that mirror the text. Never here: types, name resolution, files.
#![forbid(unsafe_code)]

pub mod ast;
mod binder;
pub mod builtins;
mod clause_rules;
mod definitions;
pub mod eventb;
mod expression;
pub mod lexer;
mod literal;
mod machine;
pub mod op;
mod parser;
pub mod precedence;
pub mod printer;
mod recovery;
mod substitution;
pub mod token;
pub mod z;

use ast::{Expr, Stmt, Unit};
use bombus_base::FileId;
use bombus_base::diagnostic::{Diagnostic, Severity};
use parser::{Parse, Parser};
use token::Tok;

/// The outcome of parsing: a tree unless there was an error, and all messages.
#[derive(Clone, Debug)]
pub struct Parsed<T> {
    pub tree: Option<T>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A whole file: a machine of any kind, or definitions.
pub fn parse_unit(file: FileId, text: &str) -> Parsed<Unit> {
    run(file, text, Parser::unit)
}

/// An expression or a predicate.
pub fn parse_formula(file: FileId, text: &str) -> Parsed<Expr> {
    run(file, text, |p| p.whole_formula(|_, _| ()))
}

pub fn parse_expression(file: FileId, text: &str) -> Parsed<Expr> {
    run(file, text, |p| p.whole_formula(Parser::want_expression))
}

pub fn parse_predicate(file: FileId, text: &str) -> Parsed<Expr> {
    run(file, text, |p| p.whole_formula(Parser::want_predicate))
}

pub fn parse_substitution(file: FileId, text: &str) -> Parsed<Stmt> {
    run(file, text, |p| {
        let statement = p.sequence()?;
        p.expect(Tok::Eof)?;
        Ok(statement)
    })
}

fn run<'t, T>(file: FileId, text: &'t str, parse: impl FnOnce(&mut Parser<'t>) -> Parse<T>) -> Parsed<T> {
    let mut parser = Parser::new(file, text);
    let tree = parse(&mut parser).ok();
    let mut diagnostics = parser.diagnostics;
    // Messages of the lexer come first; readers want the order of the text.
    diagnostics.sort_by_key(|d| d.labels.first().map(|(span, _)| span.start));
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Parsed { tree: tree.filter(|_| !failed), diagnostics }
}

impl<'t> Parser<'t> {
    /// A formula that fills the text; a bare `a,b` is a couple.
    fn whole_formula(&mut self, want: impl FnOnce(&mut Self, &parser::Node)) -> Parse<Expr> {
        let mut node = self.formula(precedence::Level::FORMULA)?;
        while self.peek() == Tok::Comma && node.sort != parser::Sort::Predicate {
            self.advance();
            let right = self.expression()?;
            node = self.couple(node, right)?;
        }
        want(self, &node);
        if self.peek() != Tok::Eof {
            return self.unexpected("an operator or the end of the text");
        }
        Ok(node.expr)
    }
}
