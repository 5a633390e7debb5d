//! The operators of the mathematical language: spelling and how tightly they bind.
//!
//! One table for the parser and the printer, so that what is printed can be read back.

use crate::syntax::ast::BinOp;

/// How tightly a formula binds; a formula stands without parentheses where at least this is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `∀ ∃`, `λ ⋃ ⋂`: reach to the right as far as they can.
    Quantified,
    Implication,
    Junction,
    Negation,
    Relational,
    Maplet,
    OfType,
    Arrow,
    Set,
    Interval,
    Additive,
    Multiplicative,
    Power,
    Application,
    Converse,
    Atom,
}

pub struct Operator {
    pub op: BinOp,
    /// As printed.
    pub symbol: &'static str,
    /// As also read.
    pub ascii: &'static str,
    pub level: Level,
}

const fn row(op: BinOp, symbol: &'static str, ascii: &'static str, level: Level) -> Operator {
    Operator { op, symbol, ascii, level }
}

pub const BINARY: &[Operator] = &[
    row(BinOp::Implies, "⇒", "=>", Level::Implication),
    row(BinOp::Iff, "⇔", "<=>", Level::Implication),
    row(BinOp::Equal, "=", "=", Level::Relational),
    row(BinOp::NotEqual, "≠", "/=", Level::Relational),
    row(BinOp::In, "∈", ":", Level::Relational),
    row(BinOp::NotIn, "∉", "/:", Level::Relational),
    row(BinOp::Subset, "⊆", "<:", Level::Relational),
    row(BinOp::NotSubset, "⊈", "/<:", Level::Relational),
    row(BinOp::StrictSubset, "⊂", "<<:", Level::Relational),
    row(BinOp::NotStrictSubset, "⊄", "/<<:", Level::Relational),
    row(BinOp::Less, "<", "<", Level::Relational),
    row(BinOp::LessEqual, "≤", "<=", Level::Relational),
    row(BinOp::Greater, ">", ">", Level::Relational),
    row(BinOp::GreaterEqual, "≥", ">=", Level::Relational),
    row(BinOp::Maplet, "↦", "|->", Level::Maplet),
    row(BinOp::OfType, "⦂", "oftype", Level::OfType),
    row(BinOp::Relation, "↔", "<->", Level::Arrow),
    row(BinOp::TotalRelation, "\u{e100}", "<<->", Level::Arrow),
    row(BinOp::SurjectiveRelation, "\u{e101}", "<->>", Level::Arrow),
    row(BinOp::TotalSurjectiveRelation, "\u{e102}", "<<->>", Level::Arrow),
    row(BinOp::PartialFunction, "⇸", "+->", Level::Arrow),
    row(BinOp::TotalFunction, "→", "-->", Level::Arrow),
    row(BinOp::PartialInjection, "⤔", ">+>", Level::Arrow),
    row(BinOp::TotalInjection, "↣", ">->", Level::Arrow),
    row(BinOp::PartialSurjection, "⤀", "+>>", Level::Arrow),
    row(BinOp::TotalSurjection, "↠", "->>", Level::Arrow),
    row(BinOp::PartialBijection, "⤗", ">+>>", Level::Arrow),
    row(BinOp::TotalBijection, "⤖", ">->>", Level::Arrow),
    row(BinOp::Union, "∪", "\\/", Level::Set),
    row(BinOp::Inter, "∩", "/\\", Level::Set),
    row(BinOp::SetMinus, "∖", "\\", Level::Set),
    row(BinOp::Cartesian, "×", "**", Level::Set),
    row(BinOp::Override, "\u{e103}", "<+", Level::Set),
    row(BinOp::ComposeBack, "∘", "circ", Level::Set),
    row(BinOp::Compose, ";", ";", Level::Set),
    row(BinOp::ParallelProduct, "∥", "||", Level::Set),
    row(BinOp::DirectProduct, "⊗", "><", Level::Set),
    row(BinOp::DomRestrict, "◁", "<|", Level::Set),
    row(BinOp::DomSubtract, "⩤", "<<|", Level::Set),
    row(BinOp::RanRestrict, "▷", "|>", Level::Set),
    row(BinOp::RanSubtract, "⩥", "|>>", Level::Set),
    row(BinOp::Interval, "‥", "..", Level::Interval),
    row(BinOp::Add, "+", "+", Level::Additive),
    row(BinOp::Sub, "−", "-", Level::Additive),
    row(BinOp::Mul, "∗", "*", Level::Multiplicative),
    row(BinOp::Div, "÷", "/", Level::Multiplicative),
    row(BinOp::Mod, "mod", "mod", Level::Multiplicative),
    row(BinOp::Power, "^", "^", Level::Power),
];

pub fn of(op: BinOp) -> Option<&'static Operator> {
    BINARY.iter().find(|row| row.op == op)
}

pub fn level(op: BinOp) -> Level {
    of(op).map_or(Level::Atom, |row| row.level)
}

pub fn symbol(op: BinOp) -> &'static str {
    of(op).map_or("?", |row| row.symbol)
}

/// The next level: what an operand needs that must not hold an operator of this level itself.
pub fn tighter(level: Level) -> Level {
    use Level::*;
    match level {
        Quantified => Implication,
        Implication => Junction,
        Junction => Negation,
        Negation => Relational,
        Relational => Maplet,
        Maplet => OfType,
        OfType => Arrow,
        Arrow => Set,
        Set => Interval,
        Interval => Additive,
        Additive => Multiplicative,
        Multiplicative => Power,
        Power => Application,
        Application => Converse,
        Converse | Atom => Atom,
    }
}

/// Whether `first` may be followed by `second` without parentheses, reading from the left.
pub fn follows(first: BinOp, second: BinOp) -> bool {
    use BinOp::*;
    if level(first) != level(second) {
        return true;
    }
    match level(first) {
        Level::Maplet | Level::Additive => true,
        Level::Multiplicative => !matches!((first, second), (Div, Div) | (Mod, Mod)),
        Level::Set => match first {
            Union | Cartesian | Override | ComposeBack => second == first,
            Inter => matches!(second, Inter | SetMinus | RanRestrict | RanSubtract),
            Compose => matches!(second, Compose | RanRestrict | RanSubtract),
            DomRestrict | DomSubtract => {
                matches!(second, Inter | SetMinus | Compose | DirectProduct | RanRestrict | RanSubtract)
            }
            _ => false,
        },
        _ => false,
    }
}
