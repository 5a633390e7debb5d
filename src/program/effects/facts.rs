//! Facts: conjuncts that say which contents one cell may have, and what follows from two of them.
//!
//! In: conjuncts over known parameters. Out: whether two of them exclude each other, whether a write
//! can make one true or false. Never here: conjuncts about several cells; they have no fact.

use super::cells::{Cell, Cells, Content, Tracer, Writes};
use bombus_base::Int;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp};
use bombus_lang::value::Value;
use std::collections::BTreeSet;

/// A conjunct that holds if and only if the cell has an allowed content (and one at all).
#[derive(Clone, Debug)]
pub struct Fact {
    pub cell: Cell,
    pub allowed: Allowed,
}

#[derive(Clone, Debug)]
pub enum Allowed {
    Values(BTreeSet<Value>),
    Not(BTreeSet<Value>),
    /// Integers between the bounds, either of which may be missing.
    Range(Option<i64>, Option<i64>),
}

impl Allowed {
    /// Whether a content is allowed, or might be.
    pub fn contains(&self, v: &Value) -> bool {
        match self {
            Allowed::Values(set) => set.contains(v),
            Allowed::Not(set) => !set.contains(v),
            Allowed::Range(lo, hi) => match v {
                Value::Int(Int::Small(n)) => lo.is_none_or(|lo| lo <= *n) && hi.is_none_or(|hi| *n <= hi),
                // Beyond a word: taken for allowed and for forbidden, whichever is the worse.
                _ => true,
            },
        }
    }

    /// Whether no content is allowed by both.
    fn excludes(&self, other: &Allowed) -> bool {
        match (self, other) {
            (Allowed::Values(a), b) | (b, Allowed::Values(a)) => !a.iter().any(|v| b.contains(v)),
            (Allowed::Range(a, b), Allowed::Range(c, d)) => {
                let below = |hi: &Option<i64>, lo: &Option<i64>| hi.zip(*lo).is_some_and(|(hi, lo)| hi < lo);
                below(b, c) || below(d, a)
            }
            _ => false,
        }
    }
}

impl Fact {
    /// The fact that a conjunct is, if it is one.
    pub fn of(p: &Pred, tracer: &Tracer<'_>) -> Option<Fact> {
        let PredKind::Rel(op, a, b) = &p.kind else { return None };
        let fold = tracer.fold;
        if let RelOp::In | RelOp::NotIn = op {
            let positive = *op == RelOp::In;
            if let (Some(x), Some(v)) = (fold(a), tracer.variable(b)) {
                // The content of an element is whether it is there.
                let allowed = Allowed::Values(BTreeSet::from([Value::Bool(positive)]));
                return Some(Fact { cell: tracer.element(v, x), allowed });
            }
            let cell = content_of(a, tracer)?;
            if let ExprKind::Binary(bombus_lang::typed::BinOp::Interval, lo, hi) = &b.kind
                && positive
            {
                return Some(Fact {
                    cell,
                    allowed: Allowed::Range(small(fold(lo)?)?.into(), small(fold(hi)?)?.into()),
                });
            }
            let Some(Value::Set(elems)) = fold(b) else { return None };
            let values: BTreeSet<Value> = elems.iter().cloned().collect();
            let allowed = if positive { Allowed::Values(values) } else { Allowed::Not(values) };
            return Some(Fact { cell, allowed });
        }
        let (cell, value, op) = match (content_of(a, tracer), fold(b)) {
            (Some(cell), Some(value)) => (cell, value, *op),
            _ => (content_of(b, tracer)?, fold(a)?, turned(*op)?),
        };
        let one = || BTreeSet::from([value.clone()]);
        let number = || small(value.clone());
        let allowed = match op {
            RelOp::Equal => Allowed::Values(one()),
            RelOp::NotEqual => Allowed::Not(one()),
            RelOp::Less => Allowed::Range(None, Some(number()?.checked_sub(1)?)),
            RelOp::LessEqual => Allowed::Range(None, Some(number()?)),
            RelOp::Greater => Allowed::Range(Some(number()?.checked_add(1)?), None),
            RelOp::GreaterEqual => Allowed::Range(Some(number()?), None),
            _ => return None,
        };
        Some(Fact { cell, allowed })
    }

    /// Whether two facts never hold together.
    pub fn excludes(&self, other: &Fact) -> bool {
        self.cell == other.cell && self.allowed.excludes(&other.allowed)
    }

    /// Whether one of these writes may make the fact true (`to`), or false.
    pub fn may_become(&self, to: bool, writes: &Writes) -> bool {
        writes.iter().filter(|(cell, _)| cell.overlaps(&self.cell)).any(|(cell, contents)| match contents {
            Some(contents) if *cell == self.cell => contents.iter().any(|content| match content {
                Content::Value(v) => matches!(v, Value::Int(Int::Big(_))) || self.allowed.contains(v) == to,
                // Going up makes no upper bound true and no lower bound false; and so on.
                Content::Plus(n) => match (&self.allowed, to) {
                    _ if *n == 0 => false,
                    (Allowed::Range(lo, _), true) if *n > 0 => lo.is_some(),
                    (Allowed::Range(_, hi), true) => hi.is_some(),
                    (Allowed::Range(_, hi), false) if *n > 0 => hi.is_some(),
                    (Allowed::Range(lo, _), false) => lo.is_some(),
                    _ => true,
                },
            }),
            _ => true,
        })
    }

    pub fn cells(&self) -> Cells {
        Cells::from([self.cell.clone()])
    }
}

/// The cell whose content an expression is.
pub fn content_of(e: &Expr, tracer: &Tracer<'_>) -> Option<Cell> {
    match &e.kind {
        ExprKind::Apply(f, x) => {
            let var = tracer.variable(f)?;
            Some(Cell { var, row: Some((tracer.fold)(x)?), column: None })
        }
        _ => tracer.variable(e).map(Cell::whole),
    }
}

fn small(v: Value) -> Option<i64> {
    match v {
        Value::Int(Int::Small(n)) => Some(n),
        _ => None,
    }
}

fn turned(op: RelOp) -> Option<RelOp> {
    Some(match op {
        RelOp::Equal => RelOp::Equal,
        RelOp::NotEqual => RelOp::NotEqual,
        RelOp::Less => RelOp::Greater,
        RelOp::LessEqual => RelOp::GreaterEqual,
        RelOp::Greater => RelOp::Less,
        RelOp::GreaterEqual => RelOp::LessEqual,
        _ => return None,
    })
}
