//! The one table of priorities, read by the parser and by the printer.
//!
//! In: tokens and operators. Out: how tightly they bind and to which side they group.
//! Never here: reading or printing. The numbers are those of the language; larger binds tighter.

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
            Infix::Op(op) | Infix::Swapped(op) => level(op),
        }
    }
}

pub fn level(op: BinOp) -> Level {
    use BinOp::*;
    match op {
        Compose | ParallelProduct => Level::IN_PAR,
        Implies => Level(30),
        Iff => Level(60),
        Equal | NotEqual | In | NotIn | Subset | NotSubset | StrictSubset | NotStrictSubset | Less
        | LessEqual | Greater | GreaterEqual => Level::COMPARISON,
        OfType => Level(120),
        Relation
        | TotalRelation
        | SurjectiveRelation
        | TotalSurjectiveRelation
        | PartialFunction
        | TotalFunction
        | PartialInjection
        | TotalInjection
        | PartialSurjection
        | TotalSurjection
        | PartialBijection
        | TotalBijection => Level(125),
        Maplet | Override | DirectProduct | ComposeBack | Concat | DomRestrict | DomSubtract
        | RanRestrict | RanSubtract | Prepend | Append | Union | Inter | Take | Drop => Level(160),
        Interval => Level(170),
        Add | Sub | SetMinus => Level(180),
        Mul | Cartesian | Div | Mod => Level(190),
        Power => Level(200),
    }
}

pub fn grouping(op: BinOp) -> Grouping {
    match op {
        BinOp::Power => Grouping::Right,
        BinOp::OfType => Grouping::None,
        _ if level(op) == Level::COMPARISON => Grouping::None,
        _ => Grouping::Left,
    }
}

/// The levels of the two operands.
pub fn operand_levels(op: BinOp) -> (Level, Level) {
    let own = level(op);
    match grouping(op) {
        Grouping::Left => (own, own.tighter()),
        Grouping::Right => (own.tighter(), own),
        Grouping::None => (own.tighter(), own.tighter()),
    }
}

/// Whether the operands of an operator are predicates.
pub fn joins_predicates(op: BinOp) -> bool {
    matches!(op, BinOp::Implies | BinOp::Iff)
}

/// Whether the result of an operator is a predicate.
pub fn is_predicate(op: BinOp) -> bool {
    joins_predicates(op) || level(op) == Level::COMPARISON
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
        _ => Infix::Op(operator(tok)?),
    })
}

macro_rules! operators {
    ($($tok:ident $op:ident,)*) => {
        fn operator(tok: Tok) -> Option<BinOp> {
            match tok { $(Tok::$tok => Some(BinOp::$op),)* _ => None }
        }

        /// The token an operator is written with.
        pub fn token(op: BinOp) -> Tok {
            match op { $(BinOp::$op => Tok::$tok,)* }
        }
    };
}

operators! {
    Implies Implies, Iff Iff, Equal Equal, NotEqual NotEqual, Colon In, NotIn NotIn, Subset Subset,
    NotSubset NotSubset, StrictSubset StrictSubset, NotStrictSubset NotStrictSubset, Less Less,
    LessEqual LessEqual, Greater Greater, GreaterEqual GreaterEqual, Plus Add, Minus Sub, Times Mul,
    Div Div, Mod Mod, Power Power, Interval Interval, Maplet Maplet, SetMinus SetMinus,
    Cartesian Cartesian, Union Union, Inter Inter, Relation Relation, TotalRelation TotalRelation,
    SurjectiveRelation SurjectiveRelation, TotalSurjectiveRelation TotalSurjectiveRelation,
    PartialFunction PartialFunction, TotalFunction TotalFunction, PartialInjection PartialInjection,
    TotalInjection TotalInjection, PartialSurjection PartialSurjection, TotalSurjection TotalSurjection,
    PartialBijection PartialBijection, TotalBijection TotalBijection, Semicolon Compose,
    ComposeBack ComposeBack, Parallel ParallelProduct, DirectProduct DirectProduct, Override Override,
    DomRestrict DomRestrict, DomSubtract DomSubtract, RanRestrict RanRestrict, RanSubtract RanSubtract,
    Concat Concat, Prepend Prepend, Append Append, Take Take, Drop Drop, OfType OfType,
}

/// How tightly the outermost construct of a formula binds.
pub fn level_of(kind: &ExprKind) -> Level {
    match kind {
        ExprKind::Binary(op, ..) => level(*op),
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
