//! Formulas that only say what every state has to be: `G {P}` and what amounts to it.
//!
//! In: a parsed formula and its typed pieces. Out: one predicate over a state, if there is one that every
//! reachable state has to satisfy for the formula to hold, and nothing more. Never here: evaluation.
//!
//! Such a formula needs no graph: it is checked like an invariant while states are explored. The order of
//! evaluation stays that of the formula, so that the predicate is false only where the formula is.

use super::typing::{Part, Pieces};
use crate::lang::typed::{Pred, PredKind};
use crate::ltl::formula::{Atom, Binary, Formula, Kind, Unary};

/// The predicate that has to hold in every state.
pub fn predicate(formula: &Formula, pieces: &Pieces) -> Option<Pred> {
    let kind = match &formula.kind {
        Kind::Unary(Unary::Globally, f) => return state(f, pieces).or_else(|| predicate(f, pieces)),
        Kind::Unary(Unary::Not, f) => match &f.kind {
            Kind::Unary(Unary::Finally, g) => PredKind::Not(Box::new(state(g, pieces)?)),
            _ => return None,
        },
        Kind::Binary(Binary::And, f, g) => PredKind::And(vec![predicate(f, pieces)?, predicate(g, pieces)?]),
        _ => return None,
    };
    Some(Pred { kind, span: formula.span })
}

/// A formula about one state alone.
fn state(formula: &Formula, pieces: &Pieces) -> Option<Pred> {
    let part = |f: &Formula| state(f, pieces);
    let boxed = |f: &Formula| part(f).map(Box::new);
    let kind = match &formula.kind {
        Kind::Constant(true) => PredKind::True,
        Kind::Constant(false) => PredKind::False,
        Kind::Atom(Atom::Predicate(text)) => match pieces.places.get(&text.span)?.part {
            Part::Observed(number) => return Some(pieces.observed[number].clone()),
            _ => return None,
        },
        Kind::Atom(Atom::Goal) => return pieces.goal.map(|number| pieces.observed[number].clone()),
        Kind::Unary(Unary::Not, f) => PredKind::Not(boxed(f)?),
        Kind::Binary(op, f, g) => match op {
            Binary::And => PredKind::And(vec![part(f)?, part(g)?]),
            Binary::Or => PredKind::Or(vec![part(f)?, part(g)?]),
            Binary::Implies => PredKind::Implies(boxed(f)?, boxed(g)?),
            Binary::Iff => PredKind::Iff(boxed(f)?, boxed(g)?),
            _ => return None,
        },
        _ => return None,
    };
    Some(Pred { kind, span: formula.span })
}
