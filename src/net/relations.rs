//! What a reduction may rely on in a Petri net: all of it can be read off the arcs.
//!
//! In: a net, the propositions that must be preserved. Out: relations between its transitions.
//! Never here: markings.

use super::Net;
use super::proposition::Proposition;
use bombus_base::hash::HashMap;
use bombus_system::{EventId, GuardId, Relations};

/// The condition that a place has at least so many tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    pub place: usize,
    pub tokens: u64,
}

/// The relations, and the guards in the order of their ids. Each transition is one instance.
pub fn of(net: &Net, propositions: &[Proposition]) -> (Relations, Vec<Threshold>) {
    let count = net.transitions.len();
    let mut thresholds: Vec<Threshold> = Vec::new();
    let mut numbers: HashMap<Threshold, u32> = HashMap::new();
    let mut guards = Vec::with_capacity(count);
    for t in &net.transitions {
        let own = t.takes.iter().map(|&(place, tokens)| {
            let threshold = Threshold { place, tokens };
            GuardId(*numbers.entry(threshold).or_insert_with(|| {
                thresholds.push(threshold);
                thresholds.len() as u32 - 1
            }))
        });
        guards.push(own.collect::<Vec<_>>());
    }
    let events = (0..count as u32).map(EventId).collect();
    let mut r = Relations::unrelated(events, guards, thresholds.len());
    // Who takes from a place, and which guards look at it.
    let mut takers: Vec<Vec<usize>> = vec![Vec::new(); net.places.len()];
    let mut looking: Vec<Vec<usize>> = vec![Vec::new(); net.places.len()];
    for (t, transition) in net.transitions.iter().enumerate() {
        transition.takes.iter().for_each(|&(p, _)| takers[p].push(t));
    }
    for (g, threshold) in thresholds.iter().enumerate() {
        looking[threshold.place].push(g);
    }
    for (t, transition) in net.transitions.iter().enumerate() {
        r.dependent.insert(t, t);
        (0..count).for_each(|u| r.together.insert(t, u));
        let changes = transition.changes();
        r.idle[t] = changes.is_empty();
        for (place, change) in changes {
            for &u in &takers[place] {
                if change > 0 {
                    r.enables.insert(t, u);
                } else {
                    r.disables.insert(t, u);
                    // Both take from the place; else the order of two steps does not matter.
                    r.dependent.insert(t, u);
                    r.dependent.insert(u, t);
                }
            }
            for &g in &looking[place] {
                if change > 0 { r.enablers.insert(g, t) } else { r.disablers.insert(g, t) }
            }
        }
    }
    show(net, propositions, &mut r);
    (r, thresholds)
}

/// Marks the transitions that may change the truth of a proposition.
fn show(net: &Net, propositions: &[Proposition], r: &mut Relations) {
    let mut watched = vec![false; net.places.len()];
    let mut events = Vec::new();
    for proposition in propositions {
        proposition.visit(&mut |place| watched[place] = true, &mut |event| events.push(event));
    }
    for event in events {
        net.transitions[event].takes.iter().for_each(|&(p, _)| watched[p] = true);
    }
    for (t, transition) in net.transitions.iter().enumerate() {
        if transition.changes().iter().any(|(p, _)| watched[*p]) {
            r.make_visible(t);
        }
    }
}
