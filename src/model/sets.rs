//! Sizes of deferred sets and set parameters, and constants that are elements of them.
//!
//! In: a machine whose deferred sets have no elements yet, and the settings. Out: elements for every set;
//! constants that are proven pairwise distinct are identified with elements, which loses nothing because
//! the elements of a deferred set are interchangeable until a constant names one. As in ProB they are
//! constants no more, and without any constant or property left there is no step that sets constants up.
//!
//! A size comes from, in this order: the command line, `scope_S`, PROPERTIES, the default.

use super::scope::Entity;
use super::settings::Settings;
use super::typed::{
    BinOp, Clause, Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetDecl, SetId, SetKind, SizeOrigin, Type, UnOp, VarId,
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
    /// An equation with something whose size is not known yet.
    waits: bool,
}

/// Gives every set its elements; the constants that became elements come back.
pub fn size_sets(machine: &mut Machine, settings: &Settings) -> HashMap<VarId, Entity> {
    let numbers = known_numbers(machine);
    let mut elements = HashMap::new();
    let mut open: Vec<SetId> =
        (0..machine.sets.len() as u32).map(SetId).filter(|s| machine.set(*s).elems.is_empty()).collect();
    while !open.is_empty() {
        let facts: Vec<Facts> = open.iter().map(|s| facts_about(*s, machine, &numbers)).collect();
        let sizes: Vec<Option<(usize, SizeOrigin)>> =
            open.iter().zip(&facts).map(|(s, f)| stated_size(*s, machine, settings, f)).collect();
        // One at a time: a bijection or an equation of cardinalities may lead from one set to the next.
        // Only when nothing is stated a default is taken, first for a set that waits for no other.
        let next = (0..open.len())
            .find(|i| sizes[*i].is_some())
            .or_else(|| (0..open.len()).find(|i| !facts[*i].waits))
            .unwrap_or(0);
        let (size, origin) = sizes[next].unwrap_or_else(|| assumed_size(settings, &facts[next]));
        elements.extend(name_elements(machine, open[next], size, origin, &facts[next]));
        open.remove(next);
    }
    let mut named: BTreeMap<SetId, usize> = BTreeMap::new();
    for element in elements.values() {
        if let Entity::Elem(set, _) = element {
            *named.entry(*set).or_default() += 1;
        }
    }
    fix_bijections(machine, named.keys().copied().collect(), &numbers);
    machine.constants.retain(|c| !elements.contains_key(c));
    for (set, count) in named {
        order_constants(machine, set, count);
    }
    change_machine(machine, &mut Identify(&elements));
    let sets = &machine.sets;
    machine.properties.retain(|c| !holds_by_form(&c.pred, sets));
    elements
}

/// Fixes bijections onto deferred sets: `f : A >->> S` says no more about S than that its elements can be
/// numbered after those of A, so f may map the first element to the first, and so on. ProB does the same.
fn fix_bijections(machine: &mut Machine, mut named: BTreeSet<SetId>, numbers: &BTreeMap<VarId, Int>) {
    let mut fixed = Vec::new();
    for clause in &machine.properties {
        let PredKind::Rel(RelOp::In, f, set) = &clause.pred.kind else { continue };
        let (ExprKind::Var(_), ExprKind::Binary(BinOp::TotalBijection, from, to)) = (&f.kind, &set.kind) else {
            continue;
        };
        let (Some(from), Some(to)) = (members(from, machine, numbers), members(to, machine, numbers)) else { continue };
        if from.len() != to.len() {
            continue;
        }
        let free = |e: &Option<&Expr>, named: &BTreeSet<SetId>| match e.map(|e| &e.ty) {
            Some(Type::Set(s)) => (machine.set(*s).kind != SetKind::Enumerated && !named.contains(s)).then_some(*s),
            _ => None,
        };
        let same_type = from.first().map(|e| &e.ty) == to.first().map(|e| &e.ty);
        let Some(set) = free(&to.first(), &named).or_else(|| free(&from.first(), &named)).filter(|_| !same_type) else {
            continue;
        };
        // Both sides are tied together now; another bijection between them is free.
        named.insert(set);
        for side in [&from, &to] {
            if let Some(Type::Set(s)) = side.first().map(|e| &e.ty) {
                named.insert(*s);
            }
        }
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
}

/// Breaks the symmetry of the constants that are left: the first takes one of the `named` elements or the first
/// nameless one, each later one at most the next nameless one. Every valuation is a renaming of exactly one of
/// these, so nothing is lost, and the valuations are those that ProB counts.
fn order_constants(machine: &mut Machine, set: SetId, named: usize) {
    let ty = Type::Set(set);
    let rest: Vec<VarId> = machine.constants.iter().copied().filter(|c| machine.var(*c).ty == ty).collect();
    let size = machine.set(set).elems.len();
    let origin = machine.name.clone();
    for (i, constant) in rest.iter().enumerate() {
        let decl = machine.var(*constant);
        let (span, text) = (decl.span, format!("order of {}", decl.name));
        let variable = |v: VarId| Expr { kind: ExprKind::Var(v), ty: ty.clone(), span };
        let element = |n: usize| Expr { kind: ExprKind::Elem(set, n as u32), ty: ty.clone(), span };
        let is = |v: VarId, n: usize| Pred { kind: PredKind::Rel(RelOp::Equal, variable(v), element(n)), span };
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
}

/// The members of a set that is a sized type or an interval, in order.
fn members(e: &Expr, machine: &Machine, numbers: &BTreeMap<VarId, Int>) -> Option<Vec<Expr>> {
    /// Larger bijections are left to the search.
    const MOST: usize = 10_000;
    let size = known_size(e, machine, numbers).filter(|n| *n <= MOST)?;
    match &e.kind {
        ExprKind::TypeSet(ty @ Type::Set(s)) => Some(
            (0..size).map(|i| Expr { kind: ExprKind::Elem(*s, i as u32), ty: ty.clone(), span: e.span }).collect(),
        ),
        ExprKind::Binary(BinOp::Interval, a, _) => {
            let first = number_of(a, machine, numbers)?;
            let number = |i: usize| ExprKind::Int(first.add(&Int::from(i)));
            Some((0..size).map(|i| Expr { kind: number(i), ty: Type::Integer, span: e.span }).collect())
        }
        _ => None,
    }
}

/// Whether a closed predicate is true by its form alone, such as an element being of its set.
fn holds_by_form(p: &Pred, sets: &[SetDecl]) -> bool {
    truth_of(p, sets) == Some(true)
}

fn truth_of(p: &Pred, sets: &[SetDecl]) -> Option<bool> {
    match &p.kind {
        PredKind::True => Some(true),
        PredKind::False => Some(false),
        PredKind::Not(p) => truth_of(p, sets).map(|b| !b),
        PredKind::Implies(a, b) => match (truth_of(a, sets), truth_of(b, sets)) {
            (Some(false), _) | (_, Some(true)) => Some(true),
            (Some(true), known) => known,
            _ => None,
        },
        PredKind::Rel(RelOp::Equal, a, b) => match (&a.kind, &b.kind) {
            (ExprKind::Bool(x), ExprKind::Bool(y)) => Some(x == y),
            (ExprKind::Int(x), ExprKind::Int(y)) => Some(x == y),
            _ => None,
        },
        PredKind::Rel(RelOp::In, a, b) => match (&a.kind, &b.kind) {
            // Constraints of a parameter stay: a machine with parameters always sets them up.
            (ExprKind::Elem(s, _), ExprKind::TypeSet(_)) => {
                (sets[s.0 as usize].kind != SetKind::Parameter).then_some(true)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The size that the command line, a scope or an equation states.
fn stated_size(set: SetId, machine: &Machine, settings: &Settings, facts: &Facts) -> Option<(usize, SizeOrigin)> {
    let name = &*machine.set(set).name;
    if let Some(n) = settings.set_sizes.get(name) {
        return Some(((*n).max(1), SizeOrigin::CommandLine));
    }
    if let Some(n) = settings.scopes.get(name) {
        return Some((*n, SizeOrigin::ScopeDefinition));
    }
    facts.exact.map(|n| (n.max(1), SizeOrigin::Properties))
}

/// The default size, within the bounds that PROPERTIES give.
fn assumed_size(settings: &Settings, facts: &Facts) -> (usize, SizeOrigin) {
    let lower = facts.lower.max(largest_clique(&facts.distinct).len()).max(1);
    let listed = facts.listed.as_ref().map_or(usize::MAX, Vec::len);
    let upper = facts.upper.unwrap_or(usize::MAX).min(listed).max(lower);
    let default = settings.default_set_size;
    let size = default.clamp(lower, upper);
    let origin = if size == default && lower < size && upper == usize::MAX {
        SizeOrigin::Default
    } else {
        SizeOrigin::Properties
    };
    (size, origin)
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
    if named.is_empty() {
        // Any one constant of the set is some element, and all elements are alike.
        named.extend(machine.constants.iter().find(|c| machine.var(**c).ty == Type::Set(set)));
    }
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
                    (RelOp::Equal, None) => facts.waits = true,
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
                (ExprKind::Unary(UnOp::Card, s), other, RelOp::Equal) | (other, ExprKind::Unary(UnOp::Card, s), RelOp::Equal) => {
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
                    let (from_size, to_size) = (known_size(from, machine, numbers), known_size(to, machine, numbers));
                    match kind {
                        BinOp::TotalBijection if is_set(from) || is_set(to) => {
                            let other = if is_set(from) { to_size } else { from_size };
                            facts.exact = other.or(facts.exact);
                            facts.waits |= other.is_none();
                        }
                        BinOp::TotalSurjection | BinOp::PartialSurjection if is_set(from) => {
                            facts.lower = facts.lower.max(to_size.unwrap_or(0));
                        }
                        BinOp::TotalInjection if is_set(to) => {
                            facts.lower = facts.lower.max(from_size.unwrap_or(0));
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
