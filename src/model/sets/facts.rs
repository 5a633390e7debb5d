//! What PROPERTIES say about the size of a deferred set and about constants in it.

use super::least::least_size;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetId, Type, UnOp, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// What PROPERTIES say about one set.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub exact: Option<usize>,
    pub lower: usize,
    pub upper: Option<usize>,
    /// `S = {a,b,…}`
    pub listed: Option<Vec<VarId>>,
    /// Pairs of constants that differ, the smaller first.
    pub distinct: BTreeSet<(VarId, VarId)>,
    /// Constants that are subsets, with the number of elements they are known to have.
    pub parts: BTreeMap<VarId, usize>,
    /// An equation with something whose size is not known yet.
    pub waits: bool,
}

pub(super) fn facts_about(set: SetId, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Facts {
    let mut facts = Facts::default();
    for clause in &machine.properties {
        note(&clause.pred, set, machine, numbers, &mut facts);
    }
    // Parts of known sizes add up.
    if let (None, Some(parts)) = (facts.exact, partition_of(set, machine)) {
        let sizes: Option<Vec<usize>> = parts.iter().map(|p| facts.parts.get(p).copied()).collect();
        facts.exact = sizes.map(|s| s.iter().sum());
    }
    facts.lower = facts.lower.max(facts.parts.values().copied().max().unwrap_or(0));
    facts.lower = facts.lower.max(least_size(set, machine, numbers, &facts.distinct, &facts.parts));
    facts
}

/// Constants that PROPERTIES say partition the set, by `@partition` or by a union and disjointness.
pub(super) fn partition_of(set: SetId, machine: &Machine) -> Option<Vec<VarId>> {
    let is_set = |e: &Expr| matches!(&e.kind, ExprKind::TypeSet(Type::Set(s)) if *s == set);
    let preds = || machine.properties.iter().map(|c| &c.pred.kind);
    let disjoint = |a: VarId, b: VarId| {
        preds().any(|p| match p {
            PredKind::Rel(RelOp::Equal, x, y) => [(x, y), (y, x)].iter().any(|(inter, none)| {
                matches!(&none.kind, ExprKind::SetExt(items) if items.is_empty())
                    && matches!(&inter.kind, ExprKind::Binary(BinOp::Inter, x, y)
                        if matches!((&x.kind, &y.kind), (ExprKind::Var(x), ExprKind::Var(y)) if ordered(*x, *y) == ordered(a, b)))
            }),
            _ => false,
        })
    };
    preds().find_map(|p| match p {
        PredKind::Partition(whole, parts) if is_set(whole) => parts
            .iter()
            .map(|e| match e.kind {
                ExprKind::Var(v) => Some(v),
                _ => None,
            })
            .collect(),
        PredKind::Rel(RelOp::Equal, x, y) if is_set(x) || is_set(y) => {
            let mut parts = Vec::new();
            let united = united(if is_set(x) { y } else { x }, &mut parts);
            let all = (0..parts.len()).all(|i| (0..i).all(|j| disjoint(parts[i], parts[j])));
            (united && parts.len() > 1 && all).then_some(parts)
        }
        _ => None,
    })
}

/// Collects the constants of a union; false if something else is in it.
fn united(e: &Expr, parts: &mut Vec<VarId>) -> bool {
    match &e.kind {
        ExprKind::Var(v) => {
            parts.push(*v);
            true
        }
        ExprKind::Binary(BinOp::Union, a, b) => united(a, parts) && united(b, parts),
        _ => false,
    }
}

fn note(p: &Pred, set: SetId, machine: &Machine, numbers: &BTreeMap<VarId, Int>, facts: &mut Facts) {
    let is_set = |e: &Expr| matches!(&e.kind, ExprKind::TypeSet(Type::Set(s)) if *s == set);
    let is_card = |e: &Expr| matches!(&e.kind, ExprKind::Unary(UnOp::Card, s) if is_set(s));
    let number = |e: &Expr| {
        number_of(e, machine, numbers).and_then(|n| n.small()).and_then(|n| usize::try_from(n).ok())
    };
    match &p.kind {
        PredKind::Rel(op, a, b) => {
            let (a, b, op) =
                if is_card(b) || is_set(b) { (b, a, op.mirrored().unwrap_or(*op)) } else { (a, b, *op) };
            if is_card(a) {
                match (op, number(b)) {
                    (RelOp::Equal, Some(n)) => facts.exact = Some(n),
                    (RelOp::Equal, None) => facts.waits = true,
                    (RelOp::Greater, Some(n)) => facts.lower = facts.lower.max(n + 1),
                    (RelOp::GreaterEqual, Some(n)) => facts.lower = facts.lower.max(n),
                    (RelOp::Greater | RelOp::GreaterEqual, None) => facts.waits = true,
                    (RelOp::Less, Some(n)) => {
                        facts.upper =
                            Some(facts.upper.map_or(n.saturating_sub(1), |u| u.min(n.saturating_sub(1))))
                    }
                    (RelOp::LessEqual, Some(n)) => facts.upper = Some(facts.upper.map_or(n, |u| u.min(n))),
                    (RelOp::In, _) => facts.lower = facts.lower.max(lower_end(b, machine, numbers)),
                    _ => {}
                }
            }
            if let (ExprKind::Unary(UnOp::Card, part), Some(n)) = (&a.kind, number(b))
                && let (ExprKind::Var(v), Type::Pow(element)) = (&part.kind, &part.ty)
                && **element == Type::Set(set)
                && op == RelOp::Equal
            {
                facts.parts.insert(*v, n);
            }
            match (&a.kind, &b.kind, op) {
                (ExprKind::TypeSet(_), ExprKind::SetExt(items), RelOp::Equal) if is_set(a) => {
                    facts.listed =
                        constants_in(items, set).filter(|l| l.len() == items.len()).or(facts.listed.take());
                }
                (ExprKind::Var(x), ExprKind::Var(y), RelOp::NotEqual) if a.ty == Type::Set(set) => {
                    facts.distinct.insert(ordered(*x, *y));
                }
                (ExprKind::Var(x), ExprKind::SetExt(items), RelOp::NotIn) if a.ty == Type::Set(set) => {
                    for y in constants_in(items, set).unwrap_or_default() {
                        facts.distinct.insert(ordered(*x, y));
                    }
                }
                (ExprKind::Unary(UnOp::Card, s), other, RelOp::Equal)
                | (other, ExprKind::Unary(UnOp::Card, s), RelOp::Equal) => {
                    if let (ExprKind::SetExt(items), ExprKind::Int(n)) = (&s.kind, other)
                        && *n == Int::from(items.len())
                    {
                        all_distinct(&constants_in(items, set).unwrap_or_default(), facts);
                    }
                }
                (ExprKind::Binary(BinOp::Inter, x, y), ExprKind::SetExt(none), RelOp::Equal)
                    if none.is_empty() =>
                {
                    if let (ExprKind::SetExt(xs), ExprKind::SetExt(ys)) = (&x.kind, &y.kind) {
                        for x in constants_in(xs, set).unwrap_or_default() {
                            for y in constants_in(ys, set).unwrap_or_default() {
                                facts.distinct.insert(ordered(x, y));
                            }
                        }
                    }
                }
                (_, ExprKind::Binary(kind, from, to), RelOp::In) => {
                    let (from_size, to_size) =
                        (known_size(from, machine, numbers), known_size(to, machine, numbers));
                    match kind {
                        BinOp::TotalBijection if is_set(from) || is_set(to) => {
                            let other = if is_set(from) { to_size } else { from_size };
                            facts.exact = other.or(facts.exact);
                            facts.waits |= other.is_none();
                        }
                        BinOp::TotalSurjection | BinOp::PartialSurjection | BinOp::PartialBijection
                            if is_set(from) =>
                        {
                            facts.lower = facts.lower.max(to_size.unwrap_or(0));
                            facts.waits |= to_size.is_none();
                        }
                        BinOp::TotalInjection if is_set(to) => {
                            facts.lower = facts.lower.max(from_size.unwrap_or(0));
                            facts.waits |= from_size.is_none();
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        PredKind::Partition(whole, parts) => {
            let mut all: Vec<VarId> = Vec::new();
            let mut listed = true;
            for part in parts {
                match &part.kind {
                    ExprKind::SetExt(items) => {
                        let here = constants_in(items, set).unwrap_or_default();
                        listed &= here.len() == items.len() && items.len() == 1;
                        for x in &all {
                            for y in &here {
                                facts.distinct.insert(ordered(*x, *y));
                            }
                        }
                        all.extend(here);
                    }
                    _ => listed = false,
                }
            }
            if listed && is_set(whole) {
                facts.listed = Some(all);
            }
        }
        PredKind::Label(_, p) => note(p, set, machine, numbers, facts),
        PredKind::Not(p) => {
            if let PredKind::Rel(RelOp::Equal, a, b) = &p.kind
                && let (ExprKind::Var(x), ExprKind::Var(y)) = (&a.kind, &b.kind)
                && a.ty == Type::Set(set)
            {
                facts.distinct.insert(ordered(*x, *y));
            }
        }
        PredKind::And(parts) => {
            for part in parts {
                note(part, set, machine, numbers, facts);
            }
        }
        _ => {}
    }
}

pub(super) fn ordered(x: VarId, y: VarId) -> (VarId, VarId) {
    (x.min(y), x.max(y))
}

fn all_distinct(constants: &[VarId], facts: &mut Facts) {
    for (i, x) in constants.iter().enumerate() {
        for y in &constants[i + 1..] {
            facts.distinct.insert(ordered(*x, *y));
        }
    }
}

/// The constants among the items, if they are of the set's type.
fn constants_in(items: &[Expr], set: SetId) -> Option<Vec<VarId>> {
    if items.iter().any(|e| e.ty != Type::Set(set)) {
        return None;
    }
    let mut found = Vec::new();
    for item in items {
        if let ExprKind::Var(v) = item.kind
            && !found.contains(&v)
        {
            found.push(v);
        }
    }
    Some(found)
}

fn lower_end(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> usize {
    match &e.kind {
        ExprKind::Natural1 => 1,
        ExprKind::Binary(BinOp::Interval, a, _) => number_of(a, machine, numbers)
            .and_then(|n| n.small())
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(0),
        _ => 0,
    }
}

/// Constants that a conjunct equates with a number.
pub(super) fn known_numbers(machine: &Machine) -> BTreeMap<VarId, Int> {
    let mut numbers = BTreeMap::new();
    for clause in &machine.properties {
        if let PredKind::Rel(RelOp::Equal, a, b) = &clause.pred.kind {
            match (&a.kind, &b.kind) {
                (ExprKind::Var(v), ExprKind::Int(n)) | (ExprKind::Int(n), ExprKind::Var(v)) => {
                    numbers.insert(*v, n.clone());
                }
                _ => {}
            }
        }
    }
    numbers
}

/// The value of a closed arithmetic expression.
pub(super) fn number_of(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Option<Int> {
    match &e.kind {
        ExprKind::Int(n) => Some(n.clone()),
        ExprKind::Var(v) => numbers.get(v).cloned(),
        ExprKind::Unary(UnOp::Card, s) => known_size(s, machine, numbers).map(Int::from),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (number_of(a, machine, numbers)?, number_of(b, machine, numbers)?);
            match op {
                BinOp::Add => Some(a.add(&b)),
                BinOp::Sub => Some(a.sub(&b)),
                BinOp::Mul => Some(a.mul(&b)),
                BinOp::Div => a.div(&b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The number of elements of a set that is given by its elements, by bounds, or by a sized type.
pub(super) fn known_size(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Option<usize> {
    match &e.kind {
        ExprKind::TypeSet(Type::Bool) => Some(2),
        ExprKind::TypeSet(Type::Set(s)) => Some(machine.set(*s).elems.len()).filter(|n| *n > 0),
        ExprKind::Binary(BinOp::Interval, a, b) => {
            let width = number_of(b, machine, numbers)?.sub(&number_of(a, machine, numbers)?).add(&Int::ONE);
            Some(usize::try_from(width.small()?).unwrap_or(0))
        }
        ExprKind::Binary(BinOp::Cartesian, a, b) => {
            known_size(a, machine, numbers)?.checked_mul(known_size(b, machine, numbers)?)
        }
        ExprKind::SetExt(items) => {
            let mut seen: Vec<&Expr> = Vec::new();
            for item in items {
                let literal = matches!(item.kind, ExprKind::Int(_) | ExprKind::Elem(..) | ExprKind::Bool(_));
                if !literal {
                    return None;
                }
                if !seen.iter().any(|s| same_literal(s, item)) {
                    seen.push(item);
                }
            }
            Some(seen.len())
        }
        _ => None,
    }
}

fn same_literal(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Int(x), ExprKind::Int(y)) => x == y,
        (ExprKind::Elem(s, x), ExprKind::Elem(t, y)) => (s, x) == (t, y),
        (ExprKind::Bool(x), ExprKind::Bool(y)) => x == y,
        _ => false,
    }
}

/// A largest set of constants that are pairwise distinct, found within a bounded number of steps.
pub(super) fn largest_clique(distinct: &BTreeSet<(VarId, VarId)>) -> Vec<VarId> {
    const STEPS: usize = 20_000;
    let mut nodes: Vec<VarId> = distinct.iter().flat_map(|(a, b)| [*a, *b]).collect();
    nodes.sort();
    nodes.dedup();
    let adjacent = |a: VarId, b: VarId| distinct.contains(&ordered(a, b));
    let mut best: Vec<VarId> = Vec::new();
    let mut steps = 0;
    // Depth first with the candidates still adjacent to all chosen; the bound is what could still be reached.
    let mut stack: Vec<(Vec<VarId>, Vec<VarId>)> = vec![(Vec::new(), nodes)];
    while let Some((chosen, candidates)) = stack.pop() {
        steps += 1;
        if chosen.len() > best.len() {
            best = chosen.clone();
        }
        if steps > STEPS || chosen.len() + candidates.len() <= best.len() {
            continue;
        }
        let Some((first, rest)) = candidates.split_first() else { continue };
        stack.push((chosen.clone(), rest.to_vec()));
        let with = rest.iter().copied().filter(|c| adjacent(*first, *c)).collect();
        let mut more = chosen;
        more.push(*first);
        stack.push((more, with));
    }
    best
}
