//! How operators of the mathematical language stand beside each other without parentheses.
//!
//! In: operators, whose spelling and levels stand in the table of `syntax/op.rs`. Out: what the parser and the printer of
//! Event-B ask, so that what is printed can be read back.

use crate::op::BinOp;
pub use crate::op::RodinLevel as Level;

pub fn level(op: BinOp) -> Level {
    op.rodin().map_or(Level::Atom, |row| row.level)
}

pub fn symbol(op: BinOp) -> &'static str {
    op.rodin().map_or("?", |row| row.symbol)
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
