//! Sizes of deferred sets and set parameters, and constants that are elements of them.
//!
//! In: a machine whose deferred sets have no elements yet, and the settings. Out: elements for every set;
//! constants that are proven pairwise distinct are identified with elements, which loses nothing because
//! the elements of a deferred set are interchangeable until a constant names one.
//!
//! A size comes from, in this order: the command line, `scope_S`, PROPERTIES, the default.

use super::scope::Entity;
use super::settings::Settings;
use super::typed::{
    BinOp, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetId, SetKind, SizeOrigin, Type, UnOp, VarId,
};
use super::walk::{Change, change_machine};
use crate::base::{Int, Name};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What PROPERTIES say about one set.
#[derive(Debug, Default)]
struct Facts {
    exact: Option<usize>,
    lower: usize,
    upper: Option<usize>,
    /// `S = {a,b,…}`
    listed: Option<Vec<VarId>>,
    /// Pairs of constants that differ, the smaller first.
    distinct: BTreeSet<(VarId, VarId)>,
}

/// Gives every set its elements; the constants that became elements come back.
pub fn size_sets(machine: &mut Machine, settings: &Settings) -> HashMap<VarId, Entity> {
    let numbers = known_numbers(machine);
    let mut elements = HashMap::new();
    // A bijection or an equation of cardinalities may lead from one set to the next.
    let mut open: Vec<SetId> =
        (0..machine.sets.len() as u32).map(SetId).filter(|s| machine.set(*s).elems.is_empty()).collect();
    let rounds = open.len();
    for round in 0..=rounds {
        let last = round == rounds;
        let waiting: Vec<SetId> = std::mem::take(&mut open);
        for set in waiting {
            let facts = facts_about(set, machine, &numbers);
            match size_of(set, machine, settings, &facts, last) {
                Some((size, origin)) => {
                    let named = name_elements(machine, set, size, origin, &facts);
                    elements.extend(named);
                }
                None => open.push(set),
            }
        }
    }
    machine.constants.retain(|c| !elements.contains_key(c));
    change_machine(machine, &mut Identify(&elements));
    elements
}

fn size_of(
    set: SetId,
    machine: &Machine,
    settings: &Settings,
    facts: &Facts,
    last: bool,
) -> Option<(usize, SizeOrigin)> {
    let decl = machine.set(set);
    if let Some(n) = settings.set_sizes.get(&*decl.name) {
        return Some(((*n).max(1), SizeOrigin::CommandLine));
    }
    if let Some(n) = settings.scopes.get(&*decl.name) {
        return Some((*n, SizeOrigin::ScopeDefinition));
    }
    if let Some(n) = facts.exact {
        return Some((n.max(1), SizeOrigin::Properties));
    }
    if let Some(listed) = &facts.listed {
        return Some((listed.len().max(1), SizeOrigin::Properties));
    }
    if !last {
        return None;
    }
    let lower = facts.lower.max(largest_clique(&facts.distinct).len());
    let default = settings.default_set_size;
    let size = default.max(lower).min(facts.upper.unwrap_or(usize::MAX).max(1));
    let origin = if size == default && lower < size { SizeOrigin::Default } else { SizeOrigin::Properties };
    Some((size, origin))
}

/// Fills in the elements; constants that must be different take the first ones.
fn name_elements(
    machine: &mut Machine,
    set: SetId,
    size: usize,
    origin: SizeOrigin,
    facts: &Facts,
) -> Vec<(VarId, Entity)> {
    let mut named: Vec<VarId> = match &facts.listed {
        Some(listed) if listed.len() == size => listed.clone(),
        _ => largest_clique(&facts.distinct),
    };
    if named.len() > size || machine.set(set).kind == SetKind::Enumerated {
        named.clear();
    }
    let prefix = machine.set(set).name.clone();
    let mut elems: Vec<Name> = named.iter().map(|v| machine.var(*v).name.clone()).collect();
    for i in elems.len()..size {
        elems.push(format!("{prefix}{}", i + 1).into());
    }
    let decl = &mut machine.sets[set.0 as usize];
    decl.elems = elems;
    decl.origin = origin;
    named.into_iter().enumerate().map(|(i, v)| (v, Entity::Elem(set, i as u32))).collect()
}

struct Identify<'a>(&'a HashMap<VarId, Entity>);

impl Change for Identify<'_> {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::Var(v) = e.kind
            && let Some(Entity::Elem(set, n)) = self.0.get(&v)
        {
            e.kind = ExprKind::Elem(*set, *n);
        }
    }
}

/// Constants that a conjunct equates with a number.
fn known_numbers(machine: &Machine) -> BTreeMap<VarId, Int> {
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

fn facts_about(set: SetId, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Facts {
    let mut facts = Facts::default();
    for clause in &machine.properties {
        note(&clause.pred, set, machine, numbers, &mut facts);
    }
    facts
}

fn note(p: &Pred, set: SetId, machine: &Machine, numbers: &BTreeMap<VarId, Int>, facts: &mut Facts) {
    let is_set = |e: &Expr| matches!(&e.kind, ExprKind::TypeSet(Type::Set(s)) if *s == set);
    let is_card = |e: &Expr| matches!(&e.kind, ExprKind::Unary(UnOp::Card, s) if is_set(s));
    let number = |e: &Expr| {
        number_of(e, machine, numbers).and_then(|n| n.small()).and_then(|n| usize::try_from(n).ok())
    };
    match &p.kind {
        PredKind::Rel(op, a, b) => {
            let (a, b, op) = if is_card(b) || is_set(b) { (b, a, mirrored(*op)) } else { (a, b, *op) };
            if is_card(a) {
                match (op, number(b)) {
                    (RelOp::Equal, Some(n)) => facts.exact = Some(n),
                    (RelOp::Greater, Some(n)) => facts.lower = facts.lower.max(n + 1),
                    (RelOp::GreaterEqual, Some(n)) => facts.lower = facts.lower.max(n),
                    (RelOp::Less, Some(n)) => {
                        facts.upper =
                            Some(facts.upper.map_or(n.saturating_sub(1), |u| u.min(n.saturating_sub(1))))
                    }
                    (RelOp::LessEqual, Some(n)) => facts.upper = Some(facts.upper.map_or(n, |u| u.min(n))),
                    (RelOp::In, _) => facts.lower = facts.lower.max(lower_end(b, machine, numbers)),
                    _ => {}
                }
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
                (ExprKind::Unary(UnOp::Card, s), _, RelOp::Equal) => {
                    if let ExprKind::SetExt(items) = &s.kind
                        && number(b) == Some(items.len())
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
                (_, ExprKind::Binary(BinOp::TotalBijection, from, to), RelOp::In) => {
                    for (one, other) in [(from, to), (to, from)] {
                        if is_set(one)
                            && let Some(n) = known_size(other, machine, numbers)
                        {
                            facts.exact = Some(n);
                        }
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
        _ => {}
    }
}

fn mirrored(op: RelOp) -> RelOp {
    match op {
        RelOp::Less => RelOp::Greater,
        RelOp::LessEqual => RelOp::GreaterEqual,
        RelOp::Greater => RelOp::Less,
        RelOp::GreaterEqual => RelOp::LessEqual,
        other => other,
    }
}

fn ordered(x: VarId, y: VarId) -> (VarId, VarId) {
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

/// The value of a closed arithmetic expression.
fn number_of(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Option<Int> {
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
fn known_size(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Option<usize> {
    match &e.kind {
        ExprKind::TypeSet(Type::Bool) => Some(2),
        ExprKind::TypeSet(Type::Set(s)) => Some(machine.set(*s).elems.len()).filter(|n| *n > 0),
        ExprKind::Binary(BinOp::Interval, a, b) => {
            let width = number_of(b, machine, numbers)?.sub(&number_of(a, machine, numbers)?).add(&Int::ONE);
            Some(usize::try_from(width.small()?).unwrap_or(0))
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
fn largest_clique(distinct: &BTreeSet<(VarId, VarId)>) -> Vec<VarId> {
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
