//! Looking up states that stand in the slots of the visited set.
//!
//! In: the pending edges of a worker. Out: its new states and counts; in a second search, claims on predecessors.
//! Never here: orbits, the log of edges, provisos: whoever needs ids searches with the other store.

use super::sink::{Core, PendingEdge};
use bombus_kernels::{Trouble, hash};
use bombus_system::System;

impl<S: System> Core<'_, S> {
    /// Looks up the targets of all pending edges.
    pub(super) fn look_up_packed(&mut self) -> Result<(), Trouble> {
        if self.shared.visited.lineage().is_some() {
            return self.look_up_lineage();
        }
        let Core { shared, seat, record, pending, fresh, aims, led_on, .. } = self;
        led_on.clear();
        let (looked, done) = shared.visited.enter(seat)?.insert_packed_many(&pending.targets, aims, led_on);
        for &i in led_on.iter() {
            let PendingEdge { source, event, .. } = pending.edges[i as usize];
            let source = &pending.sources[source as usize];
            // States have no ids; initial ones are numbered so that they can be counted.
            fresh.ids.push(0);
            fresh.changed_by.push((source.id.is_some() && !source.marks.flawed).then_some(event));
            fresh.states.push(pending.targets[i as usize]);
            if source.id.is_none() {
                record.initial.push(record.initial.len() as u32);
            }
        }
        record.fresh += led_on.len() as u64;
        record.known += (looked - led_on.len()) as u64;
        done
    }

    /// The same in a second search, where slots are ids and have predecessors.
    fn look_up_lineage(&mut self) -> Result<(), Trouble> {
        let Core { shared, seat, record, pending, fresh, aims, namer, .. } = self;
        let visited = &shared.visited;
        let lineage = visited.lineage().expect("a second search keeps predecessors by slot");
        let namer = namer.as_mut().expect("a second search computes fingerprints");
        let odd = seat.level.is_some_and(|level| level.odd);
        let mut print_of = |slot: u32| {
            let mut state = [0];
            visited.state(slot, &mut state);
            shared.system.fingerprint(namer, &state).unwrap_or_else(|| hash::words(&state))
        };
        let mut session = visited.enter(seat)?;
        session.insert_packed(&pending.targets, aims, |i, entry| {
            let PendingEdge { source, event, .. } = pending.edges[i];
            let source = &pending.sources[source as usize];
            if entry.fresh {
                record.fresh += 1;
                fresh.ids.push(entry.id);
                fresh.changed_by.push(Some(event));
                fresh.states.push(pending.targets[i]);
            } else {
                record.known += 1;
            }
            match source.id {
                Some(parent) => lineage.claim(odd, entry.id, parent, source.print, &mut print_of),
                None => lineage.begin(entry.id),
            }
        })
    }
}
