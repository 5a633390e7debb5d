//! The least number of elements that PROPERTIES leave to a deferred set and to constants that are parts of it.
//!
//! In: the typed properties, the pairs of constants known to differ and the known sizes of parts. Out: a lower bound.
//! Parts of a partition add up, and so do parts that are said to be disjoint; a part has the elements that are listed
//! or said to be in it, and one if it is not empty. The range of an injection has as many elements as its domain, and the
//! domain of a function that is onto at least as many as its range.

use super::facts::{known_size, largest_clique, ordered};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetId, Type, UnOp, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Partitions of partitions are followed this deep.
const DEPTH: usize = 8;

/// Of more parts than these only the first are tried for being disjoint: all choices among them are looked at.
const PARTS: usize = 12;

/// A part of the set: a constant, or the domain or range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Constant(VarId),
    Domain(VarId),
    Range(VarId),
}

pub(super) fn least_size(
    set: SetId,
    machine: &Machine,
    numbers: &BTreeMap<VarId, Int>,
    distinct: &BTreeSet<(VarId, VarId)>,
    sizes: &BTreeMap<VarId, usize>,
) -> usize {
    let mut conjuncts = Vec::new();
    for clause in &machine.properties {
        split(&clause.pred, &mut conjuncts);
    }
    let whole = Expr {
        kind: ExprKind::TypeSet(Type::Set(set)),
        ty: Type::pow(Type::Set(set)),
        span: Default::default(),
    };
    let disjoint = conjuncts.iter().filter_map(|c| disjoint(c, set)).collect();
    Least { set, machine, numbers, conjuncts, distinct, sizes, disjoint }.of(&whole, DEPTH)
}

fn split<'a>(p: &'a Pred, conjuncts: &mut Vec<&'a PredKind>) {
    match &p.kind {
        PredKind::And(parts) => parts.iter().for_each(|part| split(part, conjuncts)),
        PredKind::Label(_, inner) => split(inner, conjuncts),
        kind => conjuncts.push(kind),
    }
}

/// Two parts of `set` that a conjunct `A /\ B = {}` keeps apart, the smaller first.
fn disjoint(conjunct: &PredKind, set: SetId) -> Option<(Part, Part)> {
    let PredKind::Rel(RelOp::Equal, x, y) = conjunct else { return None };
    if x.ty != Type::pow(Type::Set(set)) {
        return None;
    }
    [(x, y), (y, x)].iter().find_map(|(inter, none)| match (&inter.kind, &none.kind) {
        (ExprKind::Binary(BinOp::Inter, a, b), ExprKind::SetExt(items)) if items.is_empty() => {
            let (a, b) = (part(a)?, part(b)?);
            Some((a.min(b), a.max(b)))
        }
        _ => None,
    })
}

struct Least<'a> {
    set: SetId,
    machine: &'a Machine,
    numbers: &'a BTreeMap<VarId, Int>,
    conjuncts: Vec<&'a PredKind>,
    distinct: &'a BTreeSet<(VarId, VarId)>,
    sizes: &'a BTreeMap<VarId, usize>,
    disjoint: BTreeSet<(Part, Part)>,
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
        let mut least = constant(e).and_then(|v| self.sizes.get(&v).copied()).unwrap_or(0);
        let mut members = BTreeSet::new();
        // Every constant of the type is a part of the whole set; of another constant those that are said to be.
        let whole = matches!(e.kind, ExprKind::TypeSet(_));
        let mut parts: BTreeSet<Part> = BTreeSet::new();
        if whole {
            parts.extend(self.disjoint.iter().flat_map(|(a, b)| [*a, *b]));
        }
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
                PredKind::Rel(RelOp::Equal, a, b) if same(a, e) != same(b, e) => {
                    least = least.max(self.of(if same(a, e) { b } else { a }, depth - 1));
                }
                PredKind::Rel(RelOp::In, element, whole) if same(whole, e) => {
                    least = least.max(1);
                    members.extend(constant(element));
                }
                PredKind::Rel(RelOp::Subset, part, whole) if same(whole, e) && !same(part, e) => {
                    least = least.max(self.of(part, depth - 1));
                    parts.extend(self::part(part));
                }
                _ => {}
            }
        }
        least.max(self.apart(&members)).max(self.side_by_side(&parts, depth))
    }

    /// The most elements that some of the parts have together because they are disjoint.
    fn side_by_side(&self, parts: &BTreeSet<Part>, depth: usize) -> usize {
        if self.disjoint.is_empty() {
            return 0;
        }
        let of = |p: &Part| {
            let least = match p {
                Part::Constant(v) => {
                    let kind = ExprKind::Var(*v);
                    let part = Expr { kind, ty: Type::pow(Type::Set(self.set)), span: Default::default() };
                    self.of(&part, depth - 1)
                }
                Part::Domain(v) | Part::Range(v) => self.end_of(*v, matches!(p, Part::Range(_))),
            };
            (*p, least)
        };
        let weighed: Vec<(Part, usize)> = parts.iter().map(of).filter(|(_, n)| *n > 0).take(PARTS).collect();
        let apart = |a: Part, b: Part| self.disjoint.contains(&(a.min(b), a.max(b)));
        let mut most = 0;
        for chosen in 0..1u32 << weighed.len() {
            let some: Vec<&(Part, usize)> =
                (0..weighed.len()).filter(|i| chosen >> i & 1 == 1).map(|i| &weighed[i]).collect();
            if (0..some.len()).all(|i| (0..i).all(|j| apart(some[i].0, some[j].0))) {
                most = most.max(some.iter().map(|(_, n)| n).sum());
            }
        }
        most
    }

    /// The least number of elements of the range or the domain of a relation, from the arrow it is under: different
    /// points of an injection have different images, and each image of a function has a point of its own.
    fn end_of(&self, relation: VarId, range: bool) -> usize {
        let mut least = 0;
        for conjunct in &self.conjuncts {
            let PredKind::Rel(RelOp::In, f, set) = conjunct else { continue };
            let (Some(v), ExprKind::Binary(op, from, to)) = (constant(f), &set.kind) else { continue };
            let (Some(arrow), true) = (op.arrow(), v == relation) else { continue };
            let size = |e: &Expr| known_size(e, self.machine, self.numbers).unwrap_or(0);
            let (points, images) = (size(from), size(to));
            // A set that is declared is not empty, whatever its size will be.
            let some =
                |e: &Expr| usize::from(matches!(e.kind, ExprKind::TypeSet(Type::Set(_))) || size(e) > 0);
            let here = match range {
                true if arrow.onto => images,
                true if arrow.total && arrow.injective => points,
                true if arrow.total => some(from),
                false if arrow.total => points,
                false if arrow.onto && arrow.functional => images,
                false if arrow.onto => some(to),
                _ => 0,
            };
            least = least.max(here);
        }
        least
    }

    /// How many of the constants are known to be pairwise different.
    fn apart(&self, constants: &BTreeSet<VarId>) -> usize {
        let inside = self.distinct.iter().filter(|(a, b)| constants.contains(a) && constants.contains(b));
        let pairs = inside.map(|(a, b)| ordered(*a, *b)).collect();
        largest_clique(&pairs).len().max(usize::from(!constants.is_empty()))
    }
}

fn part(e: &Expr) -> Option<Part> {
    match &e.kind {
        ExprKind::Var(v) => Some(Part::Constant(*v)),
        ExprKind::Unary(UnOp::Dom, r) => constant(r).map(Part::Domain),
        ExprKind::Unary(UnOp::Ran, r) => constant(r).map(Part::Range),
        _ => None,
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
