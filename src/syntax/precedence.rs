//! How tightly constructs of classical B bind, read by the parser and by the printer.
//!
//! In: tokens and operators. Out: how tightly they bind and to which side they group. The operators themselves stand
//! in `op`. Never here: reading or printing. The numbers are those of the language; larger binds tighter.

use super::ast::{BinOp, ExprKind};
use super::token::Tok;

/// How tightly an operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub u16);

impl Level {
    /// `;` and `||` between relations, allowed only inside brackets of some kinds.
    pub const IN_PAR: Level = Level(20);
    /// Any predicate or expression without `;` and `||` at its top.
    pub const FORMULA: Level = Level(30);
    /// `&` and `or`.
    pub const CONNECTIVE: Level = Level(40);
    /// What a label pragma marks: one conjunct.
    pub const LABELLED: Level = Level(41);
    /// What `[x := E]` is applied to: an equivalence is already too wide.
    pub const AFTER: Level = Level(61);
    pub const COMPARISON: Level = Level(110);
    /// Any expression without `;` and `||` at its top.
    pub const EXPRESSION: Level = Level(120);
    pub const NEGATION: Level = Level(210);
    /// `r~`
    pub const INVERSE: Level = Level(230);
    /// `f(x)`, `r[S]`, `r'f`
    pub const POSTFIX: Level = Level(231);
    pub const ATOM: Level = Level(240);

    /// The level of the operand on the side to which an operator does not group.
    pub fn tighter(self) -> Level {
        Level(self.0 + 1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    Left,
    Right,
    /// May not stand beside itself without parentheses.
    None,
}

/// What a token means between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infix {
    And,
    Or,
    Op(BinOp),
    /// Reversed relations such as `S ∋ x`: the operator with its sides exchanged.
    Swapped(BinOp),
}

impl Infix {
    pub fn level(self) -> Level {
        match self {
            Infix::And | Infix::Or => Level::CONNECTIVE,
            Infix::Op(op) | Infix::Swapped(op) => op.level(),
        }
    }
}

pub fn grouping(op: BinOp) -> Grouping {
    match op {
        BinOp::Power => Grouping::Right,
        BinOp::OfType => Grouping::None,
        _ if op.level() == Level::COMPARISON => Grouping::None,
        _ => Grouping::Left,
    }
}

/// The levels of the two operands.
pub fn operand_levels(op: BinOp) -> (Level, Level) {
    let own = op.level();
    match grouping(op) {
        Grouping::Left => (own, own.tighter()),
        Grouping::Right => (own.tighter(), own),
        Grouping::None => (own.tighter(), own.tighter()),
    }
}

pub fn infix(tok: Tok) -> Option<Infix> {
    Some(match tok {
        Tok::And => Infix::And,
        Tok::Or => Infix::Or,
        Tok::Contains => Infix::Swapped(BinOp::In),
        Tok::NotContains => Infix::Swapped(BinOp::NotIn),
        Tok::Superset => Infix::Swapped(BinOp::Subset),
        Tok::NotSuperset => Infix::Swapped(BinOp::NotSubset),
        Tok::StrictSuperset => Infix::Swapped(BinOp::StrictSubset),
        Tok::NotStrictSuperset => Infix::Swapped(BinOp::NotStrictSubset),
        _ => Infix::Op(BinOp::of_token(tok)?),
    })
}

/// How tightly the outermost construct of a formula binds.
pub fn level_of(kind: &ExprKind) -> Level {
    match kind {
        ExprKind::Binary(op, ..) => op.level(),
        ExprKind::And(_) | ExprKind::Or(_) => Level::CONNECTIVE,
        ExprKind::Label(..) => Level::LABELLED,
        ExprKind::After(..) => Level::AFTER,
        ExprKind::Neg(_) => Level::NEGATION,
        ExprKind::Int(n) if n.is_negative() => Level::NEGATION,
        ExprKind::Inverse(_) => Level::INVERSE,
        ExprKind::Apply(..) | ExprKind::Image(..) | ExprKind::Field(..) => Level::POSTFIX,
        _ => Level::ATOM,
    }
}
