//! Temporal claims on what a search has reached.
//!
//! In: a search that is over, claims. Out: what each of them came to. A claim is decided where every state was reached,
//! every step from it is known and every proposition of the claim has a truth value.
//! Never here: fixpoints.

use super::claim::{Branching, Claim, Decided, Fact, Form, Linear, Open, Tree};
use super::diagram::{Halt, Halted, Set, SetOps};
use super::outcome::Reason;
use super::search::Search;
use super::structure::Structure;
use super::{branching, linear};
use crate::system::System;

/// Decides claims, each by itself, until a limit is reached. `exhausted`: the search left nothing out.
pub fn all<S: System>(
    search: &mut Search<'_, S>,
    claims: &[Claim],
    nodes: usize,
    exhausted: bool,
) -> Vec<Decided> {
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
        .map(|claim| match one(search, claim) {
            Ok(decided) => decided,
            Err(Halt::Nodes) => Decided::Limit(Reason::Nodes(nodes)),
            Err(Halt::Stop(stop)) => Decided::Limit(Reason::of_stop(stop)),
        })
        .collect()
}

fn one<S: System>(search: &mut Search<'_, S>, claim: &Claim) -> Halted<Decided> {
    search.learner.diagrams.check()?;
    let named = propositions(claim);
    let states = search.reach.clone();
    let mut found: Vec<Set> = Vec::new();
    for n in 0..=named.iter().max().map_or(0, |n| *n) {
        if !named.contains(&n) {
            found.push(search.learner.diagrams.none.clone());
            continue;
        }
        // A proposition is learned where it is false, as an invariant is.
        let Some(failing) = search.proposition(n, &states)? else {
            return Ok(Decided::Open(Open::NotEvaluated));
        };
        found.push(states.without(&failing)?);
    }
    let structure = Structure::new(&search.learner, states, search.initial.clone(), found)?;
    match claim {
        Claim::Linear(claim) => linear::decide(&structure, claim),
        Claim::Branching(claim) => branching::decide(&structure, claim),
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
