//! Formulas as text: the mathematical language in unicode, with no more parentheses than needed.
//!
//! In: trees without places, from packages. Out: the text an author would have written, and the same
//! trees with spans into it. Never here: whole components.

use super::operators::{self, Level, tighter};
use crate::ast::{BigOp, Builtin, Const, Expr, ExprKind, Ident, Quant, Stmt, StmtKind};
use bombus_base::diagnostic::Sources;
use bombus_base::{FileId, Name, Span};

/// Prints a predicate or expression into a text of its own called `name`, and sets its spans.
pub fn place_expr(sources: &mut Sources, name: &str, expr: &mut Expr) {
    let mut printer = Printer { file: FileId(sources.len() as u32), out: String::new() };
    printer.expr(expr, Level::Quantified);
    sources.add(name, None, printer.out);
}

/// The same for an action.
pub fn place_stmt(sources: &mut Sources, name: &str, stmt: &mut Stmt) {
    let mut printer = Printer { file: FileId(sources.len() as u32), out: String::new() };
    printer.action(stmt);
    sources.add(name, None, printer.out);
}

struct Printer {
    file: FileId,
    out: String,
}

impl Printer {
    fn since(&self, start: usize) -> Span {
        Span::new(self.file, start, self.out.len())
    }

    fn idents(&mut self, names: &mut [Ident]) {
        for (i, name) in names.iter_mut().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            let start = self.out.len();
            self.out.push_str(&name.name);
            name.span = self.since(start);
        }
    }

    fn list(&mut self, items: &mut [Expr]) {
        for (i, item) in items.iter_mut().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.expr(item, Level::Quantified);
        }
    }

    fn action(&mut self, stmt: &mut Stmt) {
        let start = self.out.len();
        match &mut stmt.kind {
            StmtKind::Assign(targets, values) => {
                self.list(targets);
                self.out.push_str(" ≔ ");
                self.list(values);
            }
            StmtKind::BecomesIn(names, set) => {
                self.idents(names);
                self.out.push_str(" :∈ ");
                self.expr(set, Level::Quantified);
            }
            StmtKind::BecomesSuch(names, pred) => {
                self.idents(names);
                self.out.push_str(" :∣ ");
                self.expr(pred, Level::Quantified);
            }
            _ => self.out.push_str("skip"),
        }
        stmt.span = self.since(start);
    }

    fn expr(&mut self, e: &mut Expr, least: Level) {
        let open = level(e) < least;
        if open {
            self.out.push('(');
        }
        let start = self.out.len();
        self.bare(e);
        e.span = self.since(start);
        if open {
            self.out.push(')');
        }
    }

    fn call(&mut self, name: &str, args: &mut [Expr]) {
        self.out.push_str(name);
        self.out.push('(');
        self.list(args);
        self.out.push(')');
    }

    fn bare(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Ident(name) => self.out.push_str(name),
            ExprKind::Primed(name) => {
                self.out.push_str(name);
                self.out.push('\'');
            }
            ExprKind::Int(n) => {
                let text = n.to_string().replace('-', "−");
                self.out.push_str(&text);
            }
            ExprKind::Const(c) => self.out.push_str(constant(*c)),
            ExprKind::Builtin(b, args) => {
                let name = builtin(*b);
                self.call(name, args);
            }
            ExprKind::Neg(inner) => {
                self.out.push('−');
                self.expr(inner, Level::Multiplicative);
            }
            ExprKind::Inverse(inner) => {
                self.expr(inner, Level::Converse);
                self.out.push('∼');
            }
            ExprKind::Not(inner) => {
                self.out.push('¬');
                self.expr(inner, Level::Negation);
            }
            ExprKind::And(parts) => self.junction(parts, " ∧ "),
            ExprKind::Or(parts) => self.junction(parts, " ∨ "),
            ExprKind::Binary(op, left, right) => {
                let (symbol, level) = match op.rodin() {
                    Some(row) => (row.symbol, row.level),
                    None => ("?", Level::Relational),
                };
                let chains = matches!(&left.kind, ExprKind::Binary(first, ..)
                    if operators::follows(*first, *op));
                self.expr(left, if chains { level } else { tighter(level) });
                let blank = level < Level::Maplet || symbol == "mod";
                self.out.push_str(if blank { " " } else { "" });
                self.out.push_str(symbol);
                self.out.push_str(if blank { " " } else { "" });
                self.expr(right, tighter(level));
            }
            ExprKind::Apply(function, args) => {
                self.expr(function, Level::Application);
                self.out.push('(');
                self.list(args);
                self.out.push(')');
            }
            ExprKind::Image(relation, set) => {
                self.expr(relation, Level::Application);
                self.out.push('[');
                self.expr(set, Level::Quantified);
                self.out.push(']');
            }
            ExprKind::SetExt(items) => {
                self.out.push('{');
                self.list(items);
                self.out.push('}');
            }
            // `{E∣P}` binds no primed names, so a bound `e'` needs the long form.
            ExprKind::Compr(names, pred) if names.iter().any(|n| n.name.ends_with('\'')) => {
                self.out.push('{');
                self.idents(names);
                self.out.push('·');
                self.expr(pred, Level::Quantified);
                self.out.push_str(" ∣ ");
                self.tuple(names);
                self.out.push('}');
            }
            ExprKind::Compr(names, pred) => {
                self.out.push('{');
                self.tuple(names);
                self.out.push_str(" ∣ ");
                self.expr(pred, Level::Quantified);
                self.out.push('}');
            }
            ExprKind::Quant(quant, names, body) => {
                self.out.push(if *quant == Quant::Forall { '∀' } else { '∃' });
                self.idents(names);
                self.out.push('·');
                self.expr(body, Level::Quantified);
            }
            ExprKind::Big(op, names, pred, value) => {
                let set = *op == BigOp::SetOf;
                self.out.push_str(match op {
                    BigOp::Lambda => "λ",
                    BigOp::Union => "⋃",
                    BigOp::Inter => "⋂",
                    BigOp::Sigma => "SIGMA ",
                    BigOp::Pi => "PI ",
                    BigOp::SetOf => "{",
                });
                if *op == BigOp::Lambda {
                    self.tuple(names)
                } else {
                    self.idents(names)
                }
                self.out.push('·');
                self.expr(pred, Level::Quantified);
                self.out.push_str(" ∣ ");
                self.expr(value, Level::Quantified);
                if set {
                    self.out.push('}');
                }
            }
            ExprKind::If(cases, other) => {
                self.out.push_str("COND(");
                for (pred, value) in cases {
                    self.expr(pred, Level::Quantified);
                    self.out.push(',');
                    self.expr(value, Level::Quantified);
                    self.out.push(',');
                }
                self.expr(other, Level::Quantified);
                self.out.push(')');
            }
            // The readers of Event-B build no other trees.
            _ => self.out.push('…'),
        }
    }

    fn tuple(&mut self, names: &mut [Ident]) {
        for (i, name) in names.iter_mut().enumerate() {
            if i > 0 {
                self.out.push('↦');
            }
            let start = self.out.len();
            self.out.push_str(&name.name);
            name.span = self.since(start);
        }
    }

    fn junction(&mut self, parts: &mut [Expr], symbol: &str) {
        for (i, part) in parts.iter_mut().enumerate() {
            if i > 0 {
                self.out.push_str(symbol);
            }
            self.expr(part, Level::Negation);
        }
    }
}

fn level(e: &Expr) -> Level {
    match &e.kind {
        ExprKind::Binary(op, ..) => op.rodin().map_or(Level::Relational, |row| row.level),
        ExprKind::And(_) | ExprKind::Or(_) => Level::Junction,
        ExprKind::Not(_) => Level::Negation,
        ExprKind::Neg(_) => Level::Additive,
        ExprKind::Int(n) if n.is_negative() => Level::Additive,
        ExprKind::Quant(..) => Level::Quantified,
        ExprKind::Big(BigOp::SetOf, ..) => Level::Atom,
        ExprKind::Big(..) => Level::Quantified,
        ExprKind::Apply(..) | ExprKind::Image(..) => Level::Application,
        ExprKind::Inverse(_) => Level::Converse,
        _ => Level::Atom,
    }
}

fn constant(c: Const) -> &'static str {
    match c {
        Const::True => "TRUE",
        Const::False => "FALSE",
        Const::BTrue => "⊤",
        Const::BFalse => "⊥",
        Const::Integer => "ℤ",
        Const::Natural => "ℕ",
        Const::Natural1 => "ℕ1",
        Const::Bool => "BOOL",
        Const::EmptySet => "∅",
        Const::Succ => "succ",
        Const::Pred => "pred",
        Const::Id => "id",
        Const::Prj1 => "prj1",
        Const::Prj2 => "prj2",
        _ => "?",
    }
}

fn builtin(b: Builtin) -> &'static str {
    match b {
        Builtin::Bool => "bool",
        Builtin::Pow => "ℙ",
        Builtin::Pow1 => "ℙ1",
        Builtin::Card => "card",
        Builtin::Min => "min",
        Builtin::Max => "max",
        Builtin::Union => "union",
        Builtin::Inter => "inter",
        Builtin::Dom => "dom",
        Builtin::Ran => "ran",
        Builtin::Id => "id",
        Builtin::Prj1 => "prj1",
        Builtin::Prj2 => "prj2",
        Builtin::Finite => "finite",
        Builtin::Partition => "partition",
        _ => "?",
    }
}

/// A name for the text of a formula: `M2 / evt_enter / grd3`, or `C1 / axm2`.
pub fn place_name(component: &str, event: Option<&Name>, label: &str) -> String {
    match event {
        Some(event) => format!("{component} / {event} / {label}"),
        None => format!("{component} / {label}"),
    }
}
