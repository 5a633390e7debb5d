//! Substitutions as text, one simple statement to a line.
//!
//! In: statements. Out: text. Sequences inside `||` have no notation of their own; the parser makes
//! none, since it demands BEGIN … END there.

use super::Printer;
use crate::ast::{Expr, Stmt, StmtKind};
use crate::precedence::Level;

impl Printer {
    pub fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Skip => self.text("skip"),
            StmtKind::Block(body) => {
                self.text("BEGIN");
                self.inner(body);
                self.text("END");
            }
            StmtKind::Assign(targets, values) => {
                self.formulas(targets, Level::FORMULA);
                self.text(" := ");
                self.formulas(values, Level::FORMULA);
            }
            StmtKind::BecomesIn(names, set) => {
                self.names(names);
                self.text(" :: ");
                self.formula(set, Level::FORMULA);
            }
            StmtKind::BecomesSuch(names, predicate) => {
                self.names(names);
                self.text(" :(");
                self.formula(predicate, Level::FORMULA);
                self.text(")");
            }
            StmtKind::Pre(predicate, body) => self.guarded("PRE ", predicate, body),
            StmtKind::Assert(_, predicate, body) => self.guarded("ASSERT ", predicate, body),
            StmtKind::Witness(predicate, body) => self.guarded("WITNESS ", predicate, body),
            StmtKind::Choice(options) => {
                for (i, option) in options.iter().enumerate() {
                    self.text(if i == 0 { "CHOICE" } else { "OR" });
                    self.inner(option);
                }
                self.text("END");
            }
            StmtKind::If(branches, otherwise) => self.branches(["IF ", "ELSIF "], branches, otherwise),
            StmtKind::Select(branches, otherwise) => self.branches(["SELECT ", "WHEN "], branches, otherwise),
            StmtKind::Case(subject, branches, otherwise) => {
                self.text("CASE ");
                self.formula(subject, Level::IN_PAR);
                self.text(" OF ");
                for (i, (labels, body)) in branches.iter().enumerate() {
                    self.text(if i == 0 { "EITHER " } else { "OR " });
                    self.formulas(labels, Level::FORMULA);
                    self.text(" THEN");
                    self.inner(body);
                }
                self.otherwise(otherwise);
                self.text("END END");
            }
            StmtKind::Any(names, predicate, body) => {
                self.text("ANY ");
                self.names(names);
                self.guarded(" WHERE ", predicate, body);
            }
            StmtKind::Let(names, equations, body) => {
                self.text("LET ");
                self.names(names);
                self.text(" BE ");
                self.formula(equations, Level::FORMULA);
                self.text(" IN");
                self.inner(body);
                self.text("END");
            }
            StmtKind::Var(names, body) => {
                self.text("VAR ");
                self.names(names);
                self.text(" IN");
                self.inner(body);
                self.text("END");
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.text("WHILE ");
                self.formula(cond, Level::FORMULA);
                self.text(" DO");
                self.inner(body);
                self.text("INVARIANT ");
                self.formula(invariant, Level::FORMULA);
                self.line();
                self.text("VARIANT ");
                self.formula(variant, Level::IN_PAR);
                self.line();
                self.text("END");
            }
            StmtKind::Call { results, op, args } => {
                if !results.is_empty() {
                    self.formulas(results, Level::FORMULA);
                    self.text(" <-- ");
                }
                self.name(&op.name);
                if !args.is_empty() {
                    self.text("(");
                    self.formulas(args, Level::FORMULA);
                    self.text(")");
                }
            }
            StmtKind::Seq(parts) => self.joined(parts, " ;"),
            StmtKind::Par(parts) => self.joined(parts, " ||"),
        }
    }

    /// The inside of a block on lines of its own, indented.
    fn inner(&mut self, body: &Stmt) {
        self.indent += 1;
        self.line();
        self.statement(body);
        self.indent -= 1;
        self.line();
    }

    fn guarded(&mut self, word: &str, predicate: &Expr, body: &Stmt) {
        self.text(word);
        self.formula(predicate, Level::FORMULA);
        self.text(" THEN");
        self.inner(body);
        self.text("END");
    }

    fn branches(&mut self, words: [&str; 2], branches: &[(Expr, Stmt)], otherwise: &Option<Box<Stmt>>) {
        for (i, (guard, body)) in branches.iter().enumerate() {
            self.text(words[i.min(1)]);
            self.formula(guard, Level::FORMULA);
            self.text(" THEN");
            self.inner(body);
        }
        self.otherwise(otherwise);
        self.text("END");
    }

    fn otherwise(&mut self, otherwise: &Option<Box<Stmt>>) {
        if let Some(body) = otherwise {
            self.text("ELSE");
            self.inner(body);
        }
    }

    fn joined(&mut self, parts: &[Stmt], joint: &str) {
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.text(joint);
                self.line();
            }
            self.statement(part);
        }
    }
}
