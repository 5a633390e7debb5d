//! Predicates and expressions as text.
//!
//! In: formulas and the level their place asks for. Out: text, parenthesised where the formula binds
//! looser than its place. Never here: substitutions.

use super::Printer;
use crate::ast::{BigOp, BinOp, Expr, ExprKind, Ident, Quant, TemplatePart};
use crate::builtins::{spelling, value_spelling};
use crate::precedence::{Level, level_of, operand_levels};
use std::fmt::Write;

impl Printer {
    /// A formula in a place that takes what binds at least as tightly as `least`.
    pub fn formula(&mut self, expr: &Expr, least: Level) {
        if level_of(&expr.kind) < least {
            self.text("(");
            self.bare(expr);
            self.text(")");
        } else {
            self.bare(expr);
        }
    }

    pub fn formulas(&mut self, exprs: &[Expr], least: Level) {
        for (i, expr) in exprs.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.formula(expr, least);
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Old(name) => {
                self.name(name);
                self.text("$0");
            }
            ExprKind::Primed(name) => {
                self.name(name);
                self.text("'");
            }
            ExprKind::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            ExprKind::Real(literal) => self.text(literal),
            ExprKind::Str(content) => self.string(content),
            ExprKind::Template(parts) => self.template(parts),
            ExprKind::Const(value) => self.text(value_spelling(*value)),
            ExprKind::Builtin(function, arguments) => {
                self.text(spelling(*function));
                self.bracketed("(", arguments, Level::IN_PAR, ")");
            }
            ExprKind::Neg(operand) => {
                self.text("-");
                self.formula(operand, Level::INVERSE);
            }
            ExprKind::Inverse(operand) => {
                // Neither `~` nor a field may follow `~`, so the operand binds tighter than itself.
                self.formula(operand, Level::POSTFIX);
                self.text("~");
            }
            ExprKind::Not(operand) => {
                self.text("not(");
                self.formula(operand, Level::FORMULA);
                self.text(")");
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::And(parts) => self.chain(parts, " & ", |kind| matches!(kind, ExprKind::And(_))),
            ExprKind::Or(parts) => self.chain(parts, " or ", |kind| matches!(kind, ExprKind::Or(_))),
            ExprKind::Apply(callee, arguments) => {
                self.formula(callee, Level::INVERSE);
                self.bracketed("(", arguments, Level::FORMULA, ")");
            }
            ExprKind::Image(relation, set) => {
                self.formula(relation, Level::INVERSE);
                self.text("[");
                self.formula(set, Level::IN_PAR);
                self.text("]");
            }
            ExprKind::Field(record, field) => {
                self.formula(record, Level::POSTFIX);
                self.text("'");
                self.name(&field.name);
            }
            ExprKind::SetExt(elements) => self.bracketed("{", elements, Level::IN_PAR, "}"),
            ExprKind::SeqExt(elements) => self.bracketed("[", elements, Level::FORMULA, "]"),
            ExprKind::Rec(entries) => self.record("rec(", entries),
            ExprKind::Struct(entries) => self.record("struct(", entries),
            ExprKind::Compr(names, predicate) => {
                self.text("{");
                self.names(names);
                self.text(" | ");
                self.formula(predicate, Level::FORMULA);
                self.text("}");
            }
            ExprKind::Quant(quant, names, body) => {
                self.text(if *quant == Quant::Forall { "!" } else { "#" });
                self.binder(names);
                self.formula(body, Level::FORMULA);
                self.text(")");
            }
            ExprKind::Big(op, names, predicate, value) => self.big(*op, names, predicate, value),
            ExprKind::If(branches, otherwise) => {
                for (i, (condition, value)) in branches.iter().enumerate() {
                    self.text(if i == 0 { "IF " } else { " ELSIF " });
                    self.formula(condition, Level::FORMULA);
                    self.text(" THEN ");
                    self.formula(value, Level::FORMULA);
                }
                self.text(" ELSE ");
                self.formula(otherwise, Level::FORMULA);
                self.text(" END");
            }
            ExprKind::Let(names, equations, body) => {
                self.text("LET ");
                self.names(names);
                self.text(" BE ");
                self.formula(equations, Level::FORMULA);
                self.text(" IN ");
                self.formula(body, Level::FORMULA);
                self.text(" END");
            }
            ExprKind::After(targets, values, predicate) => {
                self.text("[");
                self.formulas(targets, Level::FORMULA);
                self.text(" := ");
                self.formulas(values, Level::FORMULA);
                self.text("] ");
                self.formula(predicate, Level::AFTER);
            }
            ExprKind::Label(name, predicate) => {
                self.pragma("label", name);
                self.text(" ");
                self.formula(predicate, Level::LABELLED);
            }
            ExprKind::Symbolic(inner) => {
                self.text("/*@symbolic*/ ");
                self.formula(inner, Level::ATOM);
            }
        }
    }

    fn bracketed(&mut self, open: &str, items: &[Expr], least: Level, close: &str) {
        self.text(open);
        self.formulas(items, least);
        self.text(close);
    }

    fn binary(&mut self, op: BinOp, left: &Expr, right: &Expr) {
        let (for_left, for_right) = operand_levels(op);
        self.formula(left, for_left);
        match op {
            BinOp::Interval => self.text(".."),
            _ => {
                let _ = write!(self.out, " {} ", op.spelling());
            }
        }
        self.formula(right, for_right);
    }

    /// `&` and `or` share a level and group to the left; a chain of the same kind at the front would
    /// flow into this one, so it keeps its parentheses.
    fn chain(&mut self, parts: &[Expr], joint: &str, same: fn(&ExprKind) -> bool) {
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.text(joint);
            }
            let loose = i == 0 && !same(&part.kind);
            self.formula(part, if loose { Level::CONNECTIVE } else { Level::CONNECTIVE.tighter() });
        }
    }

    fn record(&mut self, open: &str, entries: &[(Ident, Expr)]) {
        self.text(open);
        for (i, (field, value)) in entries.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.name(&field.name);
            self.text(" : ");
            self.formula(value, Level::IN_PAR);
        }
        self.text(")");
    }

    /// `x.(` or `(x, y).(`
    fn binder(&mut self, names: &[Ident]) {
        if let [name] = names {
            self.name(&name.name);
        } else {
            self.parameters(names);
        }
        self.text(".(");
    }

    fn big(&mut self, op: BigOp, names: &[Ident], predicate: &Expr, value: &Expr) {
        let word = match op {
            BigOp::Lambda => "%",
            BigOp::Sigma => "SIGMA",
            BigOp::Pi => "PI",
            BigOp::Union => "UNION",
            BigOp::Inter => "INTER",
            BigOp::SetOf => "{",
        };
        self.text(word);
        match op {
            BigOp::SetOf => {
                self.parameters(names);
                self.text(".");
            }
            BigOp::Lambda => self.binder(names),
            _ => {
                self.parameters(names);
                self.text(".(");
            }
        }
        self.formula(predicate, Level::FORMULA);
        self.text(" | ");
        self.formula(value, Level::IN_PAR);
        self.text(if op == BigOp::SetOf { "}" } else { ")" });
    }

    fn template(&mut self, parts: &[TemplatePart]) {
        self.text("```");
        for part in parts {
            match part {
                TemplatePart::Text(text) => {
                    for piece in text.split_inclusive('$') {
                        let (plain, dollar) = match piece.strip_suffix('$') {
                            Some(plain) => (plain, "\\$"),
                            None => (piece, ""),
                        };
                        self.escaped(plain, '`');
                        self.text(dollar);
                    }
                }
                TemplatePart::Expr(expr) => {
                    self.text("${");
                    self.formula(expr, Level::IN_PAR);
                    self.text("}");
                }
            }
        }
        self.text("```");
    }
}
