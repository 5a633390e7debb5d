//! Trees back to text.
//!
//! In: trees. Out: text that parses to the same tree, with the fewest parentheses the table of
//! priorities allows. Never here: choices of layout that a user could set.

mod formula;
mod machine;
mod substitution;

use super::ast::{Expr, Ident, Stmt, Unit};
use super::builtins::contextual_function;
use super::precedence::Level;
use super::token::is_plain_name;
use std::fmt::{self, Write};

/// A formula as text.
pub fn formula(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.formula(expr, Level::FORMULA);
    printer.out
}

/// A substitution as text.
pub fn substitution(stmt: &Stmt) -> String {
    let mut printer = Printer::default();
    printer.statement(stmt);
    printer.out
}

/// A whole file as text.
pub fn unit(unit: &Unit) -> String {
    let mut printer = Printer::default();
    printer.unit(unit);
    printer.out
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&formula(self))
    }
}

impl fmt::Display for Stmt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&substitution(self))
    }
}

#[derive(Default)]
struct Printer {
    out: String,
    /// Blanks at the start of a line, in steps of two.
    indent: usize,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// A name, each component back-quoted if it could not stand alone. Names of contextual functions
    /// are quoted too, so that they are not read as those functions.
    fn name(&mut self, name: &str) {
        for (i, component) in name.split('.').enumerate() {
            if i > 0 {
                self.out.push('.');
            }
            if is_plain_name(component) && contextual_function(component).is_none() {
                self.out.push_str(component);
            } else {
                self.out.push('`');
                self.escaped(component, '`');
                self.out.push('`');
            }
        }
    }

    fn names(&mut self, names: &[Ident]) {
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.name(&name.name);
        }
    }

    /// `(x, y)`, nothing for an empty list.
    fn parameters(&mut self, names: &[Ident]) {
        if !names.is_empty() {
            self.text("(");
            self.names(names);
            self.text(")");
        }
    }

    fn string(&mut self, content: &str) {
        self.out.push('"');
        self.escaped(content, '"');
        self.out.push('"');
    }

    /// The content of a string or name; `fence` is escaped as well.
    fn escaped(&mut self, content: &str, fence: char) {
        for c in content.chars() {
            match c {
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\\' => self.out.push_str("\\\\"),
                c if c == fence => self.out.extend(['\\', c]),
                c => self.out.push(c),
            }
        }
    }

    /// `/*@word argument*/`
    fn pragma(&mut self, word: &str, argument: &str) {
        let _ = write!(self.out, "/*@{word} ");
        if argument.is_empty() || argument.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\\')) {
            self.string(argument);
        } else {
            self.text(argument);
        }
        self.text("*/");
    }
}
