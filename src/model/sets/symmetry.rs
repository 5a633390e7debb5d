//! Symmetry of constants: of the valuations that differ only in the names of elements one is kept.
//!
//! Elements of a deferred set that no constant was identified with are interchangeable. What is added here are
//! properties that exactly one valuation of each orbit satisfies; ProB breaks the same symmetries.

use super::facts::{known_size, number_of, partition_of};
use bombus_analyse::distinguishable::sets_of;
use bombus_base::Int;
use bombus_lang::typed::{
    BinOp, Clause, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetId, SetKind, Type, VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Fixes bijections onto deferred sets: `f : A >->> S` says no more about S than that its elements can be
/// numbered after those of A, so f may map the first element to the first, and so on. ProB does the same.
pub(super) fn fix_bijections(
    machine: &mut Machine,
    mut named: BTreeSet<SetId>,
    numbers: &BTreeMap<VarId, Int>,
) -> BTreeSet<SetId> {
    let mut fixed = Vec::new();
    for clause in &machine.properties {
        let PredKind::Rel(RelOp::In, f, set) = &clause.pred.kind else { continue };
        let (ExprKind::Var(_), ExprKind::Binary(BinOp::TotalBijection, from, to)) = (&f.kind, &set.kind)
        else {
            continue;
        };
        let (Some(from), Some(to)) = (members(from, machine, numbers), members(to, machine, numbers)) else {
            continue;
        };
        if from.len() != to.len() {
            continue;
        }
        let free = |e: &Option<&Expr>, named: &BTreeSet<SetId>| match e.map(|e| &e.ty) {
            Some(Type::Set(s)) => {
                (machine.set(*s).kind != SetKind::Enumerated && !named.contains(s)).then_some(*s)
            }
            _ => None,
        };
        let sets_in = |side: &[Expr]| side.first().map_or_else(BTreeSet::new, |e| sets_of(machine, &e.ty));
        let (left, right) = (sets_in(&from), sets_in(&to));
        // One side is a set of its own, which the other side knows nothing of.
        let Some(set) = free(&to.first(), &named)
            .or_else(|| free(&from.first(), &named))
            .filter(|_| left.is_disjoint(&right))
        else {
            continue;
        };
        // Both sides are tied together now; another bijection between them is free.
        named.insert(set);
        named.extend(left.union(&right));
        let span = clause.pred.span;
        let pairs = from.into_iter().zip(to).map(|(a, b)| {
            let ty = Type::prod(a.ty.clone(), b.ty.clone());
            Expr { kind: ExprKind::Pair(Box::new(a), Box::new(b)), ty, span }
        });
        let value = Expr { kind: ExprKind::SetExt(pairs.collect()), ty: f.ty.clone(), span };
        let pred = Pred { kind: PredKind::Rel(RelOp::Equal, f.clone(), value), span };
        let text = format!("{} (numbered)", clause.text);
        fixed.push(Clause { label: None, origin: clause.origin.clone(), pred, text });
    }
    machine.properties.extend(fixed);
    named
}

/// Whether a property makes some constant a bijection between the whole set and another one.
pub(super) fn has_bijection(machine: &Machine, set: SetId) -> bool {
    let whole = |e: &Expr| matches!(&e.kind, ExprKind::TypeSet(Type::Set(s)) if *s == set);
    machine.properties.iter().any(|clause| match &clause.pred.kind {
        PredKind::Rel(RelOp::In, f, arrows) => match (&f.kind, &arrows.kind) {
            (ExprKind::Var(_), ExprKind::Binary(BinOp::TotalBijection, a, b)) => {
                a.ty != b.ty && (whole(a) || whole(b))
            }
            _ => false,
        },
        _ => false,
    })
}

/// Breaks the symmetry of the constants that are left: the first takes one of the `named` elements or the first
/// nameless one, each later one at most the next nameless one. Every valuation is a renaming of exactly one of
/// these, so nothing is lost, and the valuations are those that ProB counts. How many there are comes back.
pub(super) fn order_constants(machine: &mut Machine, set: SetId, named: usize) -> usize {
    let ty = Type::Set(set);
    let rest: Vec<VarId> = machine.constants.iter().copied().filter(|c| machine.var(*c).ty == ty).collect();
    let size = machine.set(set).elems.len();
    let origin = machine.name.clone();
    for (i, constant) in rest.iter().enumerate() {
        let decl = machine.var(*constant);
        let (span, text) = (decl.span, format!("order of {}", decl.name));
        let variable = |v: VarId| Expr { kind: ExprKind::Var(v), ty: ty.clone(), span };
        let element = |n: usize| Expr { kind: ExprKind::Elem(set, n as u32), ty: ty.clone(), span };
        let is =
            |v: VarId, n: usize| Pred { kind: PredKind::Rel(RelOp::Equal, variable(v), element(n)), span };
        let reach = (named + i + 1).min(size);
        let mut parts = Vec::new();
        if reach < size {
            let allowed = Expr {
                kind: ExprKind::SetExt((0..reach).map(element).collect()),
                ty: Type::pow(ty.clone()),
                span,
            };
            parts.push(Pred { kind: PredKind::Rel(RelOp::In, variable(*constant), allowed), span });
        }
        for n in named + 1..reach {
            let before = rest[..i].iter().map(|earlier| is(*earlier, n - 1)).collect();
            let some = Pred { kind: PredKind::Or(before), span };
            parts.push(Pred { kind: PredKind::Implies(Box::new(is(*constant, n)), Box::new(some)), span });
        }
        for pred in parts {
            machine.properties.push(Clause { label: None, origin: origin.clone(), pred, text: text.clone() });
        }
    }
    rest.len()
}

/// Breaks the symmetry of constants that partition the set: of the elements from number `first` on, which no
/// other constant can name, those of the first part come first, then those of the second, and so on.
pub(super) fn order_partition(machine: &mut Machine, set: SetId, first: usize) {
    let Some(parts) = partition_of(set, machine) else { return };
    let size = machine.set(set).elems.len();
    let span = machine.set(set).span;
    let (origin, text) = (machine.name.clone(), format!("order of the parts of {}", machine.set(set).name));
    let member = |n: usize, part: VarId| {
        let element = Expr { kind: ExprKind::Elem(set, n as u32), ty: Type::Set(set), span };
        let set = Expr { kind: ExprKind::Var(part), ty: Type::pow(Type::Set(set)), span };
        Pred { kind: PredKind::Rel(RelOp::In, element, set), span }
    };
    for n in first + 1..size {
        // The last part takes whatever is left.
        for last in 0..parts.len() - 1 {
            let before = parts[..=last].iter().map(|p| member(n - 1, *p)).collect();
            let before = Pred { kind: PredKind::Or(before), span };
            let pred =
                Pred { kind: PredKind::Implies(Box::new(member(n, parts[last])), Box::new(before)), span };
            machine.properties.push(Clause { label: None, origin: origin.clone(), pred, text: text.clone() });
        }
    }
}

/// The members of a set that is a sized type, an interval or a product of such, in order.
fn members(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Option<Vec<Expr>> {
    /// Larger bijections are left to the search.
    const MOST: usize = 10_000;
    let size = known_size(e, machine, numbers).filter(|n| *n <= MOST)?;
    match &e.kind {
        ExprKind::TypeSet(ty @ Type::Set(s)) => Some(
            (0..size)
                .map(|i| Expr { kind: ExprKind::Elem(*s, i as u32), ty: ty.clone(), span: e.span })
                .collect(),
        ),
        ExprKind::TypeSet(Type::Bool) => Some(
            [false, true].map(|b| Expr { kind: ExprKind::Bool(b), ty: Type::Bool, span: e.span }).to_vec(),
        ),
        ExprKind::Binary(BinOp::Cartesian, a, b) => {
            let (lefts, rights) = (members(a, machine, numbers)?, members(b, machine, numbers)?);
            let pair = |x: &Expr, y: &Expr| Expr {
                kind: ExprKind::Pair(Box::new(x.clone()), Box::new(y.clone())),
                ty: Type::prod(x.ty.clone(), y.ty.clone()),
                span: e.span,
            };
            Some(lefts.iter().flat_map(|x| rights.iter().map(move |y| pair(x, y))).collect())
        }
        ExprKind::Binary(BinOp::Interval, a, _) => {
            let first = number_of(a, machine, numbers)?;
            let number = |i: usize| ExprKind::Int(first.add(&Int::from(i)));
            Some((0..size).map(|i| Expr { kind: number(i), ty: Type::Integer, span: e.span }).collect())
        }
        _ => None,
    }
}
