//! The least number of elements that PROPERTIES leave to a deferred set and to constants that are parts of it.
//!
//! In: the typed properties and the pairs of constants known to differ. Out: a lower bound. Parts of a
//! partition add up; a part has the elements that are listed or said to be in it, and one if it is not empty.

use super::facts::{largest_clique, ordered};
use crate::model::typed::{BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetId, Type, VarId};
use std::collections::BTreeSet;

/// Partitions of partitions are followed this deep.
const DEPTH: usize = 8;

pub(super) fn least_size(set: SetId, machine: &Machine, distinct: &BTreeSet<(VarId, VarId)>) -> usize {
    let mut conjuncts = Vec::new();
    for clause in &machine.properties {
        split(&clause.pred, &mut conjuncts);
    }
    let whole = Expr {
        kind: ExprKind::TypeSet(Type::Set(set)),
        ty: Type::pow(Type::Set(set)),
        span: Default::default(),
    };
    Least { set, conjuncts, distinct }.of(&whole, DEPTH)
}

fn split<'a>(p: &'a Pred, conjuncts: &mut Vec<&'a PredKind>) {
    match &p.kind {
        PredKind::And(parts) => parts.iter().for_each(|part| split(part, conjuncts)),
        PredKind::Label(_, inner) => split(inner, conjuncts),
        kind => conjuncts.push(kind),
    }
}

struct Least<'a> {
    set: SetId,
    conjuncts: Vec<&'a PredKind>,
    distinct: &'a BTreeSet<(VarId, VarId)>,
}

impl Least<'_> {
    fn of(&self, e: &Expr, depth: usize) -> usize {
        if depth == 0 || e.ty != Type::pow(Type::Set(self.set)) {
            return 0;
        }
        match &e.kind {
            ExprKind::SetExt(items) => {
                let constants = items.iter().filter_map(constant).collect();
                self.apart(&constants).max(usize::from(!items.is_empty()))
            }
            ExprKind::Binary(BinOp::Union, a, b) => self.of(a, depth - 1).max(self.of(b, depth - 1)),
            ExprKind::Var(_) | ExprKind::TypeSet(_) => self.named(e, depth),
            _ => 0,
        }
    }

    /// A constant or the whole set: what the conjuncts say about it.
    fn named(&self, e: &Expr, depth: usize) -> usize {
        let mut least = 0;
        let mut members = BTreeSet::new();
        for conjunct in &self.conjuncts {
            match conjunct {
                PredKind::Partition(whole, parts) if same(whole, e) => {
                    least = least.max(parts.iter().map(|p| self.of(p, depth - 1)).sum());
                }
                PredKind::Rel(RelOp::NotEqual, a, b) if same(a, e) || same(b, e) => {
                    let other = if same(a, e) { b } else { a };
                    least =
                        least.max(usize::from(matches!(&other.kind, ExprKind::SetExt(x) if x.is_empty())));
                }
                PredKind::Rel(RelOp::In, element, whole) if same(whole, e) => {
                    least = least.max(1);
                    members.extend(constant(element));
                }
                PredKind::Rel(RelOp::Subset, part, whole) if same(whole, e) && !same(part, e) => {
                    least = least.max(self.of(part, depth - 1));
                }
                _ => {}
            }
        }
        least.max(self.apart(&members))
    }

    /// How many of the constants are known to be pairwise different.
    fn apart(&self, constants: &BTreeSet<VarId>) -> usize {
        let inside = self.distinct.iter().filter(|(a, b)| constants.contains(a) && constants.contains(b));
        let pairs = inside.map(|(a, b)| ordered(*a, *b)).collect();
        largest_clique(&pairs).len().max(usize::from(!constants.is_empty()))
    }
}

fn constant(e: &Expr) -> Option<VarId> {
    match e.kind {
        ExprKind::Var(v) => Some(v),
        _ => None,
    }
}

fn same(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Var(x), ExprKind::Var(y)) => x == y,
        (ExprKind::TypeSet(x), ExprKind::TypeSet(y)) => x == y,
        _ => false,
    }
}
