//! What a reduction may rely on in a library's model: its own matrices where it has them, else what groups
//! read and write.
//!
//! In: a loaded model, the propositions that must be preserved. Out: relations between groups.
//! Never here: states.
//!
//! A library need not list all that enables a group. So each group has one more guard that cannot be asked
//! for and that any group may change which writes what it reads.

use crate::net::proposition::Proposition;
use crate::system::{EventId, GuardId, Relations};
use bombus_pins::Model;

/// The relations; guards of the library keep their numbers, one for each group follows.
pub fn of(model: &Model, propositions: &[Proposition]) -> Relations {
    let (count, known) = (model.groups.len(), model.guards.len());
    let guards = model.groups.iter().enumerate().map(|(g, group)| {
        let own = GuardId((known + g) as u32);
        group.guards.iter().map(|n| GuardId(*n as u32)).chain([own]).collect()
    });
    let events = (0..count as u32).map(EventId).collect();
    let mut r = Relations::unrelated(events, guards.collect(), known + count);
    for (g, group) in model.groups.iter().enumerate() {
        r.askable[known + g] = false;
        r.idle[g] = !group.may_write.contains(&true);
        for (h, other) in model.groups.iter().enumerate() {
            let touches = meet(&group.may_write, &other.reads);
            if touches {
                r.enables.insert(g, h);
                r.disables.insert(g, h);
                r.enablers.insert(known + h, g);
                r.disablers.insert(known + h, g);
            }
            if may_be_together(model, g, h) {
                r.together.insert(g, h);
            }
            let clash = touches || meet(&group.may_write, &other.may_write);
            let not_accord = if model.knows_accordance { group.not_accord[h] } else { clash };
            if g == h || not_accord {
                r.dependent.insert(g, h);
                r.dependent.insert(h, g);
            }
        }
    }
    for (n, guard) in model.guards.iter().enumerate() {
        for (g, group) in model.groups.iter().enumerate() {
            // Without rows of its own a guard may be changed by whoever writes what it reads, or by anybody.
            let writes = guard.reads.is_empty() || meet(&group.may_write, &guard.reads);
            if guard.enablers.get(g).copied().unwrap_or(writes) {
                r.enablers.insert(n, g);
            }
            if guard.disablers.get(g).copied().unwrap_or(writes) {
                r.disablers.insert(n, g);
            }
        }
    }
    show(model, propositions, &mut r);
    r
}

fn meet(a: &[bool], b: &[bool]) -> bool {
    a.iter().zip(b).any(|(a, b)| *a && *b)
}

/// Whether two groups may have transitions in one state: all their guards may hold together.
fn may_be_together(model: &Model, g: usize, h: usize) -> bool {
    let apart = |a: usize, b: usize| model.guards[a].together.get(b) == Some(&false);
    let (mine, others) = (&model.groups[g].guards, &model.groups[h].guards);
    g == h || !mine.iter().any(|a| others.iter().any(|b| apart(*a, *b)))
}

/// Marks the groups that may change the truth of a proposition.
fn show(model: &Model, propositions: &[Proposition], r: &mut Relations) {
    let mut watched = vec![false; model.variables.len()];
    let mut groups = Vec::new();
    for proposition in propositions {
        proposition.visit(&mut |v| watched[v] = true, &mut |group| groups.push(group));
    }
    for group in groups {
        watched.iter_mut().zip(&model.groups[group].reads).for_each(|(w, reads)| *w |= reads);
    }
    for (g, group) in model.groups.iter().enumerate() {
        if meet(&group.may_write, &watched) {
            r.make_visible(g);
        }
    }
}
