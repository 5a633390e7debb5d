//! Relations between instances, from the cells they touch and the facts about single cells.
//!
//! In: instances and guards. Out: `system::Relations`, every one a "may". Never here: evaluation.

use super::cells::{Content, touches};
use super::ground::{Grounded, Guard, Instance};
use bombus_kernels::faults::fault;
use bombus_system::{EventId, GuardId, Relations};

pub fn relate(grounded: &Grounded) -> Relations {
    let all = &grounded.instances;
    let events = all.iter().map(|i| EventId(i.event as u32)).collect();
    let guards = all.iter().map(|i| i.guards.iter().map(|g| GuardId(*g as u32)).collect()).collect();
    let mut r = Relations::unrelated(events, guards, grounded.guards.len());
    for (g, guard) in grounded.guards.iter().enumerate() {
        r.askable[g] = guard.pred.is_some();
        for (a, instance) in all.iter().enumerate() {
            if may_turn(guard, true, instance) && !fault("por: no step opens a guard") {
                r.enablers.insert(g, a);
            }
            if may_turn(guard, false, instance) {
                r.disablers.insert(g, a);
            }
        }
    }
    for (a, ia) in all.iter().enumerate() {
        for (b, ib) in all.iter().enumerate() {
            if ib.guards.iter().any(|g| r.enablers.contains(*g, a)) {
                r.enables.insert(a, b);
            }
            if ib.guards.iter().any(|g| r.disablers.contains(*g, a)) {
                r.disables.insert(a, b);
            }
            if a == b || may_be_together(grounded, ia, ib) {
                r.together.insert(a, b);
            }
        }
    }
    for (a, ia) in all.iter().enumerate() {
        r.dependent.insert(a, a);
        for (b, ib) in all.iter().enumerate().skip(a + 1) {
            let meet = r.together.contains(a, b)
                && (r.disables.contains(a, b)
                    || r.disables.contains(b, a)
                    || collide(ia, ib) && !fault("por: steps that write one cell commute")
                    || touches(&ia.touch.writes, &ib.touch.reads)
                    || touches(&ib.touch.writes, &ia.touch.reads))
                && !fault("por: all steps commute");
            if meet {
                r.dependent.insert(a, b);
                r.dependent.insert(b, a);
            }
        }
    }
    for (a, instance) in all.iter().enumerate() {
        r.idle[a] = instance.touch.writes.is_empty();
    }
    r.fallible = all.iter().any(|i| i.may_fail);
    r
}

/// Whether a step of an instance may make a guard true, or false.
fn may_turn(guard: &Guard, to: bool, by: &Instance) -> bool {
    match &guard.fact {
        Some(fact) => fact.may_become(to, &by.touch.writes),
        None => touches(&by.touch.writes, &guard.reads),
    }
}

/// Whether no two of their guards exclude each other.
fn may_be_together(grounded: &Grounded, a: &Instance, b: &Instance) -> bool {
    let facts = |i: &Instance| {
        let guards = i.guards.clone();
        guards.into_iter().filter_map(|g| grounded.guards[g].fact.as_ref()).collect::<Vec<_>>()
    };
    let (fa, fb) = (facts(a), facts(b));
    !fa.iter().any(|x| fb.iter().any(|y| x.excludes(y)))
}

/// Whether both may write one cell, and not always the same there.
fn collide(a: &Instance, b: &Instance) -> bool {
    a.touch.writes.iter().any(|(x, xs)| {
        b.touch.writes.iter().any(|(y, ys)| {
            // Always the same value, or numbers added to what is there.
            let adds = |c: &Content| matches!(c, Content::Plus(_));
            let same = x == y
                && matches!((xs, ys), (Some(xs), Some(ys)) if xs.len() == 1 && xs == ys
                    || xs.iter().all(adds) && ys.iter().all(adds));
            x.overlaps(y) && !same
        })
    })
}
