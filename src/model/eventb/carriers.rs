//! Carrier sets that the axioms settle: enumerations, and sets that stand for another set.
//!
//! In: carrier sets, constants and axioms of the visible contexts. Out: which sets are enumerated by
//! constants, and which are equal to a known set. What remains is deferred.
//!
//! Modellers write an enumeration as `partition(S,{a},{b})`, or as `S = {a,b}` with `a ≠ b`: the
//! constants are then the elements, there is nothing to choose. With a bijection `f ∈ S ⤖ T` the
//! carrier set is nothing but another name of `T`: up to isomorphism `S = T` and `f` is the identity.

use bombus_base::{Int, Name};
use bombus_syntax::ast::{BinOp, Builtin, Const, Expr, ExprKind, Ident, SetDecl};
use bombus_syntax::eventb::names::free;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub struct Carriers {
    pub sets: Vec<SetDecl>,
    pub constants: Vec<Ident>,
    /// The axioms, in the order they came in, some rewritten; `None` says nothing that an enumeration
    /// does not say. (Whether properties are left decides if setting up constants is a step.)
    pub axioms: Vec<Option<Expr>>,
    /// Sets that were taken to be equal to another one, for the report.
    pub instantiated: Vec<String>,
}

pub fn settle(sets: &[Ident], constants: &[Ident], axioms: &[Expr]) -> Carriers {
    let mut out = Carriers {
        sets: Vec::new(),
        constants: constants.to_vec(),
        axioms: axioms.iter().cloned().map(Some).collect(),
        instantiated: Vec::new(),
    };
    let distinct = distinct_pairs(axioms);
    let mut enumerated: BTreeMap<Name, Vec<Ident>> = BTreeMap::new();
    // A partition into parts that are partitioned themselves down to single constants enumerates too.
    let partitions: BTreeMap<Name, Vec<Expr>> =
        axioms.iter().flat_map(Expr::conjuncts).filter_map(enumerable_parts).collect();
    for axiom in axioms.iter().flat_map(Expr::conjuncts) {
        let Some((set, elems)) = enumeration(axiom, &distinct).or_else(|| nested(axiom, &partitions)) else {
            continue;
        };
        let all_free = elems.iter().all(|e| out.constants.iter().any(|c| c.name == e.name));
        if sets.iter().any(|s| s.name == set) && !enumerated.contains_key(&set) && all_free {
            out.constants.retain(|c| !elems.iter().any(|e| e.name == c.name));
            enumerated.insert(set, elems);
        }
    }
    let mut deferred: Vec<Ident> =
        sets.iter().filter(|s| !enumerated.contains_key(&s.name)).cloned().collect();
    for (i, axiom) in axioms.iter().enumerate() {
        instantiate(axiom, i, &mut deferred, &mut out);
    }
    let owner: BTreeMap<&Name, &Name> =
        enumerated.iter().flat_map(|(set, elems)| elems.iter().map(move |e| (&e.name, set))).collect();
    for axiom in &mut out.axioms {
        *axiom = axiom.take().and_then(|a| without_enumeration(a, &owner, &distinct));
    }
    drop(owner);
    for set in sets {
        if let Some(elems) = enumerated.remove(&set.name) {
            out.sets.push(SetDecl::Enumerated(set.clone(), elems));
        } else if deferred.iter().any(|d| d.name == set.name) {
            out.sets.push(SetDecl::Deferred(set.clone()));
        }
    }
    out
}

/// Pairs of names that the axioms say are different, smaller name first.
fn distinct_pairs(axioms: &[Expr]) -> BTreeSet<(Name, Name)> {
    let mut pairs = BTreeSet::new();
    for axiom in axioms.iter().flat_map(Expr::conjuncts) {
        let (a, b) = match &axiom.kind {
            ExprKind::Binary(BinOp::NotEqual, a, b) => (a, b),
            ExprKind::Not(inner) => match &inner.kind {
                ExprKind::Binary(BinOp::Equal, a, b) => (a, b),
                _ => continue,
            },
            _ => continue,
        };
        if let (ExprKind::Ident(a), ExprKind::Ident(b)) = (&a.kind, &b.kind) {
            pairs.insert(if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) });
        }
    }
    pairs
}

fn names_of(items: &[Expr]) -> Option<Vec<Ident>> {
    let mut names: Vec<Ident> = Vec::new();
    for item in items {
        let ExprKind::Ident(name) = &item.kind else { return None };
        if names.iter().any(|n| n.name == *name) {
            return None;
        }
        names.push(Ident { name: name.clone(), span: item.span });
    }
    Some(names)
}

/// The set and its elements, if the predicate lists them.
fn enumeration(p: &Expr, distinct: &BTreeSet<(Name, Name)>) -> Option<(Name, Vec<Ident>)> {
    match &p.kind {
        ExprKind::Builtin(Builtin::Partition, parts) => {
            let (set, parts) = parts.split_first()?;
            let ExprKind::Ident(set) = &set.kind else { return None };
            let mut elems = Vec::new();
            for part in parts {
                match &part.kind {
                    ExprKind::SetExt(one) if one.len() == 1 => elems.push(one[0].clone()),
                    _ => return None,
                }
            }
            if elems.is_empty() {
                return None;
            }
            Some((set.clone(), names_of(&elems)?))
        }
        ExprKind::Binary(BinOp::Equal, left, right) => {
            let (set, elems) = match (&left.kind, &right.kind) {
                (ExprKind::Ident(set), ExprKind::SetExt(elems))
                | (ExprKind::SetExt(elems), ExprKind::Ident(set)) => (set, elems),
                _ => return None,
            };
            let elems = names_of(elems)?;
            for (i, a) in elems.iter().enumerate() {
                for b in &elems[i + 1..] {
                    let (a, b) = (&a.name, &b.name);
                    let pair = if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
                    if !distinct.contains(&pair) {
                        return None;
                    }
                }
            }
            Some((set.clone(), elems))
        }
        _ => None,
    }
}

/// The set and the parts of `partition(S,A,{b},…)`.
fn enumerable_parts(p: &Expr) -> Option<(Name, Vec<Expr>)> {
    let ExprKind::Builtin(Builtin::Partition, parts) = &p.kind else { return None };
    let (set, parts) = parts.split_first()?;
    match &set.kind {
        ExprKind::Ident(set) => Some((set.clone(), parts.to_vec())),
        _ => None,
    }
}

/// The set and its elements, if each part is a single constant or a constant that is partitioned so.
fn nested(p: &Expr, partitions: &BTreeMap<Name, Vec<Expr>>) -> Option<(Name, Vec<Ident>)> {
    let (set, parts) = enumerable_parts(p)?;
    let mut elems = Vec::new();
    let mut open = parts;
    let mut expanded: BTreeSet<Name> = BTreeSet::from([set.clone()]);
    open.reverse();
    while let Some(part) = open.pop() {
        match &part.kind {
            ExprKind::SetExt(one) if one.len() == 1 => elems.push(one[0].clone()),
            ExprKind::Ident(name) if expanded.insert(name.clone()) => {
                open.extend(partitions.get(name)?.iter().rev().cloned());
            }
            _ => return None,
        }
    }
    if elems.is_empty() {
        return None;
    }
    Some((set, names_of(&elems)?))
}

/// What is left of an axiom when elements of enumerated sets are known to be different elements.
fn without_enumeration(
    axiom: Expr,
    owner: &BTreeMap<&Name, &Name>,
    distinct: &BTreeSet<(Name, Name)>,
) -> Option<Expr> {
    let owner_of = |e: &Expr| match &e.kind {
        ExprKind::Ident(name) => owner.get(name).copied(),
        _ => None,
    };
    let implied = |e: &Expr| match &e.kind {
        ExprKind::Const(Const::BTrue) => true,
        ExprKind::Binary(BinOp::In, element, set) => {
            owner_of(element).is_some_and(|s| matches!(&set.kind, ExprKind::Ident(name) if name == s))
        }
        ExprKind::Binary(BinOp::NotEqual, a, b) => {
            a != b && owner_of(a).is_some() && owner_of(a) == owner_of(b)
        }
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::Binary(BinOp::Equal, a, b) => {
                a != b && owner_of(a).is_some() && owner_of(a) == owner_of(b)
            }
            _ => false,
        },
        _ => enumeration(e, distinct).is_some_and(|(set, elems)| {
            let all = owner.values().filter(|s| ***s == set).count();
            elems.len() == all && elems.iter().all(|x| owner.get(&x.name) == Some(&&set))
        }),
    };
    match axiom.kind {
        ExprKind::And(parts) => {
            let mut left: Vec<Expr> =
                parts.into_iter().filter_map(|p| without_enumeration(p, owner, distinct)).collect();
            match left.len() {
                0 => None,
                1 => left.pop(),
                _ => Some(Expr { kind: ExprKind::And(left), span: axiom.span }),
            }
        }
        kind => {
            let axiom = Expr { kind, span: axiom.span };
            (!implied(&axiom)).then_some(axiom)
        }
    }
}

/// `n = card(f)` for each `n ∈ ℕ`, `f ∈ 1‥n → T` where an axiom gives `f` a value: it follows, and it tells
/// `n` without a search through the natural numbers.
pub fn lengths(axioms: &[Expr]) -> Vec<Expr> {
    let all: Vec<&Expr> = axioms.iter().flat_map(Expr::conjuncts).collect();
    let name = |e: &Expr| match &e.kind {
        ExprKind::Ident(name) => Some(name.clone()),
        _ => None,
    };
    let not_negative = |e: &Expr| matches!(&e.kind, ExprKind::Int(n) if *n >= Int::ZERO);
    let natural = |n: &Name| {
        all.iter().any(|a| {
            let ExprKind::Binary(op, left, right) = &a.kind else { return false };
            let (left_is, right_is) = (name(left).as_ref() == Some(n), name(right).as_ref() == Some(n));
            match op {
                BinOp::In => {
                    left_is && matches!(right.kind, ExprKind::Const(Const::Natural | Const::Natural1))
                }
                BinOp::Greater | BinOp::GreaterEqual => left_is && not_negative(right),
                BinOp::Less | BinOp::LessEqual => right_is && not_negative(left),
                _ => false,
            }
        })
    };
    let valued = |f: &Name| {
        all.iter().any(|a| {
            matches!(&a.kind, ExprKind::Binary(BinOp::Equal, x, y)
                if name(x).as_ref() == Some(f) && !matches!(y.kind, ExprKind::Ident(_)))
        })
    };
    let mut found = Vec::new();
    for axiom in &all {
        let ExprKind::Binary(BinOp::In, function, arrow) = &axiom.kind else { continue };
        let ExprKind::Binary(
            BinOp::TotalFunction | BinOp::TotalInjection | BinOp::TotalSurjection | BinOp::TotalBijection,
            from,
            _,
        ) = &arrow.kind
        else {
            continue;
        };
        let ExprKind::Binary(BinOp::Interval, one, last) = &from.kind else { continue };
        let (Some(f), Some(n)) = (name(function), name(last)) else { continue };
        if one.kind == ExprKind::Int(Int::ONE) && natural(&n) && valued(&f) {
            let size =
                Expr { kind: ExprKind::Builtin(Builtin::Card, vec![(**function).clone()]), span: axiom.span };
            let equation = ExprKind::Binary(BinOp::Equal, Box::new((**last).clone()), Box::new(size));
            found.push(Expr { kind: equation, span: axiom.span });
        }
    }
    found
}

/// Reads `f ∈ S ⤖ T` and `f ∈ T ⤖ S` as `S = T` with `f` the identity.
fn instantiate(axiom: &Expr, place: usize, deferred: &mut Vec<Ident>, out: &mut Carriers) {
    let ExprKind::Binary(BinOp::In, function, arrow) = &axiom.kind else { return };
    let ExprKind::Ident(function) = &function.kind else { return };
    let ExprKind::Binary(BinOp::TotalBijection, from, to) = &arrow.kind else { return };
    if !out.constants.iter().any(|c| c.name == *function) {
        return;
    }
    let carrier = |e: &Expr| match &e.kind {
        ExprKind::Ident(name) => deferred.iter().position(|d| d.name == *name),
        _ => None,
    };
    // Between two carrier sets the one that is declared later goes.
    let (index, other) = match (carrier(from), carrier(to)) {
        (Some(a), Some(b)) if a > b => (a, to),
        (_, Some(b)) => (b, from),
        (Some(a), None) => (a, to),
        (None, None) => return,
    };
    let set = deferred[index].clone();
    let names = free(other);
    if names.contains(&set.name) || names.contains(function) {
        return;
    }
    deferred.remove(index);
    let span = axiom.span;
    let expr = |kind| Expr { kind, span };
    let equal = |left: Name, right: Expr| {
        expr(ExprKind::Binary(BinOp::Equal, Box::new(expr(ExprKind::Ident(left))), Box::new(right)))
    };
    let identity = expr(ExprKind::Binary(
        BinOp::DomRestrict,
        Box::new((**other).clone()),
        Box::new(expr(ExprKind::Const(Const::Id))),
    ));
    out.axioms[place] = Some(expr(ExprKind::And(vec![
        equal(set.name.clone(), (**other).clone()),
        equal(function.clone(), identity),
    ])));
    out.instantiated.push(format!("{} is taken to be the set that {function} maps it to", set.name));
    out.constants.push(set);
}
