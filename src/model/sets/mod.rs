//! Sizes of deferred sets and set parameters, and constants that are elements of them.
//!
//! In: a machine whose deferred sets have no elements yet, and the settings. Out: elements for every set;
//! constants that are proven pairwise distinct are identified with elements, which loses nothing because
//! the elements of a deferred set are interchangeable until a constant names one. As in ProB they are
//! constants no more, and without any constant or property left there is no step that sets constants up.
//!
//! A size comes from, in this order: the command line, `scope_S`, PROPERTIES, the default.

mod facts;
mod least;
mod symmetry;

use super::refinement::Refinement;
use super::scope::Entity;
use super::settings::Settings;
use bombus_analyse::distinguishable::shown_sets;
use bombus_base::Name;
use bombus_lang::typed::{
    Expr, ExprKind, Machine, Pred, PredKind, RelOp, SetDecl, SetId, SetKind, SizeOrigin, Type, VarId,
};
use bombus_lang::walk::{Change, change_machine, change_pred, change_stmt};
use facts::{Facts, facts_about, known_numbers, largest_clique};
use std::collections::{BTreeMap, HashMap};
use symmetry::{fix_bijections, has_bijection, order_constants, order_partition};

/// Gives every set its elements; the constants that became elements come back.
pub fn size_sets(machine: &mut Machine, settings: &Settings) -> HashMap<VarId, Entity> {
    let numbers = known_numbers(machine);
    // What the tool's own functions can tell apart is not interchangeable.
    let shown = shown_sets(machine);
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
        let nameless = settings.all_constants || shown.contains(&open[next]);
        let named = name_elements(machine, open[next], size, origin, &facts[next], nameless);
        elements.extend(named);
        open.remove(next);
    }
    if settings.all_constants {
        let sets = &machine.sets;
        machine.properties.retain(|c| !holds_by_form(&c.pred, sets));
        return elements;
    }
    let mut named: BTreeMap<SetId, usize> = BTreeMap::new();
    for element in elements.values() {
        if let Entity::Elem(set, _) = element {
            *named.entry(*set).or_default() += 1;
        }
    }
    let fixed = named.keys().chain(&shown).copied().collect();
    let tied = fix_bijections(machine, fixed, &numbers);
    machine.constants.retain(|c| !elements.contains_key(c));
    for set in (0..machine.sets.len() as u32).map(SetId) {
        let count = named.get(&set).copied().unwrap_or(0);
        // What a bijection has numbered already, and what was never interchangeable, stays as it is.
        let told_apart = machine.set(set).kind == SetKind::Enumerated || shown.contains(&set);
        if !told_apart && (count > 0 || !tied.contains(&set)) {
            let others = order_constants(machine, set, count);
            order_partition(machine, set, count + others);
        }
    }
    change_machine(machine, &mut Identify(&elements));
    let sets = &machine.sets;
    machine.properties.retain(|c| !holds_by_form(&c.pred, sets));
    elements
}

/// Gives the chain of a refinement the sets, constants and elements that its machine was given.
pub fn size_like(chain: &mut Refinement, machine: &Machine, elements: &HashMap<VarId, Entity>) {
    let identify = &mut Identify(elements);
    change_machine(&mut chain.machine, identify);
    chain.machine.sets.clone_from(&machine.sets);
    chain.machine.constants.clone_from(&machine.constants);
    chain.machine.properties.clone_from(&machine.properties);
    chain.levels.iter_mut().for_each(|level| change_stmt(&mut level.initialisation, identify));
    for event in &mut chain.events {
        let refined = event.refined.iter_mut().filter_map(|r| r.precondition.as_mut());
        event.precondition.iter_mut().chain(refined).for_each(|p| change_pred(p, identify));
    }
}

/// The size that the command line, a scope or an equation states.
fn stated_size(
    set: SetId,
    machine: &Machine,
    settings: &Settings,
    facts: &Facts,
) -> Option<(usize, SizeOrigin)> {
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

/// Fills in the elements; constants that must be different take the first ones, unless elements are
/// to stay without names.
fn name_elements(
    machine: &mut Machine,
    set: SetId,
    size: usize,
    origin: SizeOrigin,
    facts: &Facts,
    nameless: bool,
) -> Vec<(VarId, Entity)> {
    let mut named: Vec<VarId> = match &facts.listed {
        Some(listed) if listed.len() == size => listed.clone(),
        _ => largest_clique(&facts.distinct),
    };
    if named.is_empty() && !has_bijection(machine, set) {
        // Any one constant of the set is some element, and all elements are alike. A bijection tells them all
        // apart, which is more.
        named.extend(machine.constants.iter().find(|c| machine.var(**c).ty == Type::Set(set)));
    }
    if nameless || named.len() > size || machine.set(set).kind == SetKind::Enumerated {
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
        // A deferred or enumerated set has as many elements as the scope says. Parameters stay, as above.
        PredKind::Finite(e) => match &e.kind {
            ExprKind::TypeSet(Type::Set(s)) => {
                (sets[s.0 as usize].kind != SetKind::Parameter).then_some(true)
            }
            _ => None,
        },
        PredKind::Label(_, p) if matches!(p.kind, PredKind::Finite(_)) => truth_of(p, sets),
        _ => None,
    }
}
