//! A reduced search that is saved: what the workers share beside the states and what they counted.
//!
//! In: the common part of a search at rest, or its bytes. Out: the bytes, or the part as it was.
//! Never here: states and queues (`explore::checkpoint`).
//!
//! The set chosen in a state is found again when the proviso asks for what was left out there, so a
//! search goes on only with the relations it was saved with.

use super::{Common, Figures, Por, Round, Vertex};
use crate::checkpoint::{In, Out, Refusal};
use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_system::{Relations, Rows};
use std::io;
use std::sync::atomic::Ordering;

/// A number that stands for the kind of a reduction and for all that its choices depend on.
pub(crate) fn kind(por: Por, r: &Relations) -> u64 {
    let Relations {
        events,
        dependent,
        enables,
        disables,
        together,
        guards,
        askable,
        enablers,
        disablers,
        visible,
        idle,
        fallible,
    } = r;
    let mut all: Vec<u64> =
        vec![por.method as u64, por.preserve as u64, por.proviso as u64, (*fallible).into()];
    all.extend(events.iter().map(|e| u64::from(e.0)));
    let mut rows = |rows: &Rows| {
        all.push(rows.columns() as u64);
        (0..rows.rows()).for_each(|row| all.extend_from_slice(rows.row(row)));
    };
    [dependent, enables, disables, together, enablers, disablers].into_iter().for_each(&mut rows);
    for list in guards {
        all.push(list.len() as u64);
        all.extend(list.iter().map(|g| u64::from(g.0)));
    }
    all.extend(askable.iter().chain(idle).map(|b| u64::from(*b)));
    all.extend_from_slice(visible);
    hash::words(&all) as u64 | 1
}

impl Common<'_> {
    /// Writes what the workers share; all of them have handed in what they gathered.
    pub(crate) fn save(&self, out: &mut Out) -> io::Result<()> {
        for counter in [&self.rounds, &self.looked_at, &self.reduced, &self.given_up_after, &self.repeated] {
            out.u64(counter.load(Ordering::Relaxed))?;
        }
        out.u8(self.has_given_up().into())?;
        let round = self.round.lock();
        out.u64(round.vertices.len() as u64)?;
        for Vertex { id, print, missing, flawed } in &round.vertices {
            out.u32(*id)?;
            out.u128(*print)?;
            out.u32(*missing)?;
            out.u8((*flawed).into())?;
        }
        out.u64(round.edges.len() as u64)?;
        round.edges.iter().try_for_each(|(from, to)| {
            out.u32(*from)?;
            out.u32(*to)
        })
    }

    /// Takes over what `save` wrote, of a search with ids below `bound`.
    pub(crate) fn restore(&self, from: &mut In, bound: u32, meter: &Meter) -> Result<(), Refusal> {
        for counter in [&self.rounds, &self.looked_at, &self.reduced, &self.given_up_after, &self.repeated] {
            counter.store(from.u64()?, Ordering::Relaxed);
        }
        self.given_up.store(from.u8()? != 0, Ordering::Relaxed);
        let mut round = Round::default();
        for _ in 0..from.u64()? {
            let (id, print, missing) = (from.below(bound)?, from.u128()?, from.u32()?);
            round.vertices.push(Vertex { id, print, missing, flawed: from.u8()? != 0 });
        }
        for _ in 0..from.u64()? {
            round.edges.push((from.below(bound)?, from.below(bound)?));
        }
        let no_memory = |_| Refusal::Unreadable("there is no memory for its reduced states".into());
        meter.claim(round.bytes()).map_err(no_memory)?;
        *self.round.lock() = round;
        Ok(())
    }
}

impl Figures {
    /// Writes what workers counted.
    pub(crate) fn save(&self, out: &mut Out) -> io::Result<()> {
        let Figures {
            reduced,
            no_smaller,
            by_proviso,
            unknown,
            single,
            rounds: _,
            left_out,
            given_up_after: _,
        } = self;
        [reduced, no_smaller, by_proviso, unknown, single, left_out].into_iter().try_for_each(|n| out.u64(*n))
    }

    pub(crate) fn restored(from: &mut In) -> io::Result<Figures> {
        Ok(Figures {
            reduced: from.u64()?,
            no_smaller: from.u64()?,
            by_proviso: from.u64()?,
            unknown: from.u64()?,
            single: from.u64()?,
            left_out: from.u64()?,
            // Known in common.
            rounds: 0,
            given_up_after: None,
        })
    }
}
