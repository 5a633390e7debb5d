//! Temporal claims on what a search has reached.
//!
//! In: a search that is over, claims. Out: what each of them came to. A claim is decided where every state was reached,
//! every step from it is known and every proposition of the claim has a truth value.
//! Never here: fixpoints.

use super::claim::{Branching, Claim, Decided, Fact, Form, Linear, Open, Tree};
use super::diagram::{Halt, Halted, Set};
use super::outcome::Reason;
use super::search::Search;
use super::structure::{Quotient, Structure};
use super::xi::Xi;
use super::{Liveness, Options, branching, linear};
use bombus_system::System;

/// Decides claims, each by itself, until a limit is reached. `exhausted`: the search left nothing out.
pub fn all<S: System>(search: &mut Search<'_, S>, options: &Options, exhausted: bool) -> Vec<Decided> {
    let claims = &options.claims;
    let heard = &search.learner.heard;
    let whole = exhausted
        && !search.learner.escaped
        && heard.findings.is_empty()
        && heard.reasons.is_empty()
        && search.learner.fault.is_none();
    let open = |why: Open| claims.iter().map(|_| Decided::Open(why)).collect();
    if !whole {
        return open(Open::NotExplored);
    }
    if search.initial.is_empty() {
        return open(Open::NoStart);
    }
    claims
        .iter()
        .map(|claim| match one(search, claim, options) {
            Ok(decided) => decided,
            Err(Halt::Nodes) => Decided::Limit(Reason::Nodes(options.nodes)),
            Err(Halt::Stop(stop)) => Decided::Limit(Reason::of_stop(stop)),
        })
        .collect()
}

fn one<S: System>(search: &mut Search<'_, S>, claim: &Claim, options: &Options) -> Halted<Decided> {
    search.learner.diagrams.check()?;
    if search.orbits.is_trivial() {
        return on_all(search, claim, search.reach.clone());
    }
    match options.liveness {
        Liveness::Representatives => on_representatives(search, claim),
        Liveness::Quotient | Liveness::Xi(_) => on_quotient(search, claim, options),
    }
}

/// On all states, from which all steps are known.
fn on_all<S: System>(search: &mut Search<'_, S>, claim: &Claim, states: Set) -> Halted<Decided> {
    let Some(found) = learned(search, claim, &states)? else {
        return Ok(Decided::Open(Open::NotEvaluated));
    };
    let structure = Structure::new(&search.learner, states, search.initial.clone(), found)?;
    answer(&structure, claim, true)
}

/// On the states that were kept: a path that violates a claim there is one of the whole system, for it is made of real
/// steps. A path that leaves the kept states is not seen, so nothing holds by this. (`Live_Rep` of the literature, where
/// states whose successors were all dropped go first: here no fixpoint has them.)
fn on_representatives<S: System>(search: &mut Search<'_, S>, claim: &Claim) -> Halted<Decided> {
    if matches!(claim, Claim::Branching(_)) {
        return Ok(Decided::Open(Open::OnlyKept));
    }
    let states = search.reach.clone();
    let Some(found) = learned(search, claim, &states)? else {
        return Ok(Decided::Open(Open::NotEvaluated));
    };
    let initial = search.initial.and(&states)?;
    let structure = Structure::new(&search.learner, states, initial, found)?;
    Ok(match answer(&structure, claim, true)? {
        Decided::Holds => Decided::Open(Open::OnlyKept),
        other => other,
    })
}

/// On the quotient: a step to the image of a kept state leads to that state. The claim has to say the same of a state
/// and its images. A violation is shown on all states, whose steps are learned for it.
fn on_quotient<S: System>(search: &mut Search<'_, S>, claim: &Claim, options: &Options) -> Halted<Decided> {
    let diagrams = search.learner.diagrams;
    let full = search.orbits.close(&search.full, None, diagrams)?;
    let Some(found) = learned(search, claim, &full)? else {
        return Ok(Decided::Open(Open::NotEvaluated));
    };
    let mut symmetric = options.exchanges.iter().all(|e| e.proved) && names_whole_events(search, claim);
    for set in found.iter().chain([&search.initial]) {
        symmetric = symmetric && search.orbits.is_closed(set)?;
    }
    if !symmetric {
        return Ok(Decided::Open(Open::NotSymmetric));
    }
    let initial = search.initial.and(&search.reach)?;
    let mut structure = Structure::new(&search.learner, search.reach.clone(), initial, found)?;
    let xi = match options.liveness {
        Liveness::Xi(way) => {
            let own = (&search.reach, &full);
            Some(Xi::new(way, own, &options.exchanges, search.learner.encoding, diagrams)?)
        }
        _ => None,
    };
    structure.quotient = Some(xi.as_ref().map_or(Quotient::Orbits(&search.orbits), Quotient::Xi));
    search.nodes_of_xi = xi.as_ref().map_or(0, Xi::nodes);
    if let Decided::Holds = answer(&structure, claim, false)? {
        return Ok(Decided::Holds);
    }
    for step in 0..search.learner.steps.len() {
        search.learner.learn(step, &full)?;
    }
    let shown = on_all(search, claim, full)?;
    if let Decided::Holds = shown {
        search.learner.fault = Some("a claim fails up to symmetry and holds in all states".into());
    }
    Ok(shown)
}

fn answer<S: System>(structure: &Structure<'_, '_, S>, claim: &Claim, shows: bool) -> Halted<Decided> {
    match claim {
        Claim::Linear(claim) => linear::decide(structure, claim, shows),
        Claim::Branching(claim) => branching::decide(structure, claim, shows),
    }
}

/// By proposition: the members of `states` in which it holds; none if one has no truth value.
fn learned<S: System>(search: &mut Search<'_, S>, claim: &Claim, states: &Set) -> Halted<Option<Vec<Set>>> {
    let named = propositions(claim);
    let mut found: Vec<Set> = Vec::new();
    for n in 0..named.iter().max().map_or(0, |n| *n + 1) {
        if !named.contains(&n) {
            found.push(search.learner.diagrams.none.clone());
            continue;
        }
        // A proposition is learned where it is false, as an invariant is.
        let Some(failing) = search.proposition(n, states)? else { return Ok(None) };
        found.push(states.without(&failing)?);
    }
    Ok(Some(found))
}

/// Whether a claim tells no instances of one event apart.
fn names_whole_events<S: System>(search: &Search<'_, S>, claim: &Claim) -> bool {
    let steps = &search.learner.steps;
    let whole = |list: &[u32]| {
        let named: Vec<_> = list.iter().map(|i| steps[*i as usize].event).collect();
        (0..steps.len()).all(|i| list.contains(&(i as u32)) || !named.contains(&steps[i].event))
    };
    let of = |fact: &Fact| match fact {
        Fact::Enabled(list) => whole(list),
        _ => true,
    };
    match claim {
        Claim::Linear(Linear { forms, .. }) => forms.iter().all(|f| match f {
            Form::State(fact) => of(fact),
            Form::Taken(list) => whole(list),
            _ => true,
        }),
        Claim::Branching(Branching { trees, .. }) => trees.iter().all(|t| match t {
            Tree::State(fact) => of(fact),
            Tree::Next(Some(list), _) => whole(list),
            _ => true,
        }),
    }
}

/// The propositions that a claim speaks of.
fn propositions(claim: &Claim) -> Vec<usize> {
    let of = |fact: &Fact| match fact {
        Fact::Holds(n) => Some(*n),
        _ => None,
    };
    match claim {
        Claim::Linear(Linear { forms, .. }) => forms
            .iter()
            .filter_map(|f| match f {
                Form::State(fact) => of(fact),
                _ => None,
            })
            .collect(),
        Claim::Branching(Branching { trees, .. }) => trees
            .iter()
            .filter_map(|t| match t {
                Tree::State(fact) => of(fact),
                _ => None,
            })
            .collect(),
    }
}
