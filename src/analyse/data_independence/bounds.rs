//! The values that the guards of a choice leave to it.
//!
//! In: conjuncts of guards. Out: for each choice an interval that holds all its values, wherever it is made.
//! The ends are tests like others and cut the integers there, so a region is inside or outside as a whole.

use crate::data_independence::judge::Known;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, VarId};
use std::collections::BTreeMap;

/// From `low` to `high`, without end where there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    pub low: Option<Int>,
    pub high: Option<Int>,
}

impl Bounds {
    /// Leaves what both allow, or less than one of them: it holds all values either way.
    fn narrow(&mut self, low: Option<Int>, high: Option<Int>) {
        self.low = self.low.take().max(low);
        self.high = match (self.high.take(), high) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    fn widen(&mut self, other: &Bounds) {
        let least = |a: &Option<Int>, b: &Option<Int>| Some(a.clone()?.min(b.clone()?));
        let most = |a: &Option<Int>, b: &Option<Int>| Some(a.clone()?.max(b.clone()?));
        (self.low, self.high) = (least(&self.low, &other.low), most(&self.high, &other.high));
    }
}

/// Bounds of several choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed(BTreeMap<VarId, Bounds>);

impl Allowed {
    pub fn of(&self, v: VarId) -> Bounds {
        self.0.get(&v).cloned().unwrap_or_default()
    }

    /// Choices that are about to be made.
    pub fn open(&mut self, vars: impl IntoIterator<Item = VarId>) {
        self.0.extend(vars.into_iter().map(|v| (v, Bounds::default())));
    }

    /// One more guard of the same choices.
    pub fn guard(&mut self, c: &Pred, known: &Known) {
        let PredKind::Rel(op, a, b) = &c.kind else { return };
        if let ExprKind::Var(v) = a.kind
            && let Some(bounds) = self.0.get_mut(&v)
        {
            let (low, high) = match op {
                RelOp::In => of_set(b, known),
                _ => of_order(*op, known.number(b)),
            };
            bounds.narrow(low, high);
        }
        if let ExprKind::Var(v) = b.kind
            && let Some(bounds) = self.0.get_mut(&v)
        {
            let turned = match op {
                RelOp::Less => RelOp::Greater,
                RelOp::LessEqual => RelOp::GreaterEqual,
                RelOp::Greater => RelOp::Less,
                RelOp::GreaterEqual => RelOp::LessEqual,
                _ => return,
            };
            let (low, high) = of_order(turned, known.number(a));
            bounds.narrow(low, high);
        }
    }

    /// One more place where choices are made.
    pub fn also(&mut self, made: &Allowed) {
        for (v, bounds) in &made.0 {
            self.0.entry(*v).and_modify(|b| b.widen(bounds)).or_insert_with(|| bounds.clone());
        }
    }
}

type Ends = (Option<Int>, Option<Int>);

fn of_set(set: &Expr, known: &Known) -> Ends {
    match &set.kind {
        ExprKind::Natural => (Some(Int::from(0i64)), None),
        ExprKind::Natural1 => (Some(Int::from(1i64)), None),
        ExprKind::Binary(BinOp::Interval, a, b) => match (known.number(a), known.number(b)) {
            (Some(a), Some(b)) => (Some(a), Some(b)),
            _ => (None, None),
        },
        _ => (None, None),
    }
}

fn of_order(op: RelOp, k: Option<Int>) -> Ends {
    let Some(k) = k else { return (None, None) };
    let one = Int::from(1i64);
    match op {
        RelOp::Less => (None, Some(k.sub(&one))),
        RelOp::LessEqual => (None, Some(k)),
        RelOp::Greater => (Some(k.add(&one)), None),
        RelOp::GreaterEqual => (Some(k), None),
        _ => (None, None),
    }
}

/// The bounds that a set gives a single variable chosen from it.
pub(crate) fn chosen_from(vars: &[VarId], set: &Expr, known: &Known) -> Allowed {
    let mut made = Allowed::default();
    made.open(vars.iter().copied());
    if let [v] = vars
        && let Some(bounds) = made.0.get_mut(v)
    {
        let (low, high) = of_set(set, known);
        bounds.narrow(low, high);
    }
    made
}
