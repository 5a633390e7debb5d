//! A visited set whose states of one word stand in the slots of its tables.
//!
//! In: many states at once. Out: for each whether it is new, and its slot where slots are ids.
//! Never here: how words stand in slots (`quotient`), who is the parent of whom (`lineage`).
//!
//! Most states have few bits and stand in a table for such words; a state with higher bits, as the numbers of
//! values without a place in the layout have, stands in a second table for words of any bits.

use crate::Trouble;
use crate::fold::Stuck;
use crate::lineage::Lineage;
use crate::table::Entry;
use crate::visited::{Session, Store, Visited};

/// How packed states stand in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Most states are below 2^bits. Any others stand in a table of their own.
    pub bits: u32,
    /// The sizes of a set that keeps predecessors and does not grow, see `Visited::capacity`.
    pub fixed: Option<Capacity>,
}

/// Slots for packed states of few bits, and for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    pub narrow: u64,
    pub wide: u64,
}

/// Bits of the states that are not below 2^bits: any.
pub(crate) const ALL_BITS: u32 = if cfg!(loom) { 62 } else { 64 };

impl Visited {
    /// Predecessors by slot, in a packed set that does not grow.
    pub fn lineage(&self) -> Option<&Lineage> {
        self.lineage.as_ref()
    }

    /// Whether states stand in the table itself.
    pub fn is_packed(&self) -> bool {
        matches!(self.store, Store::Packed { .. })
    }

    /// The slots of a packed set.
    pub fn capacity(&self) -> Option<Capacity> {
        match &self.store {
            Store::Packed { narrow, wide } => {
                Some(Capacity { narrow: narrow.capacity(), wide: wide.capacity() })
            }
            _ => None,
        }
    }

    /// The states of a packed set, in no order that means anything. For the end of a run, as `count`.
    pub fn packed_states(&mut self, mut f: impl FnMut(u64)) {
        if let Store::Packed { narrow, wide } = &self.store {
            narrow.each(&mut f);
            wide.each(&mut f);
        }
    }
}

impl Session<'_> {
    /// Finds or puts packed states, one after the other, and tells of each in the same order what became
    /// of it. The id of an entry is a slot if slots are ids (`Visited::lineage`), else it means nothing. `spread` is
    /// memory to work in.
    #[inline]
    pub fn insert_packed(
        &mut self,
        states: &[u64],
        spread: &mut Vec<u64>,
        mut each: impl FnMut(usize, Entry),
    ) -> Result<(), Trouble> {
        let set = self.set;
        let Store::Packed { narrow, .. } = &set.store else { panic!("states that are not packed") };
        spread.clear();
        spread.extend(states.iter().map(|&state| {
            let spread = if narrow.takes(state) { narrow.spread(state) } else { 0 };
            narrow.prefetch(spread);
            spread
        }));
        for (i, (&state, &spread)) in states.iter().zip(spread.iter()).enumerate() {
            let entry = loop {
                match self.put_packed(state, spread) {
                    Ok(entry) => break entry,
                    Err(Stuck::Full) => self.grow()?,
                    Err(Stuck::Trouble(trouble)) => return Err(trouble),
                }
            };
            each(i, entry);
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn put_packed(&mut self, state: u64, spread: u64) -> Result<Entry, Stuck> {
        let set = self.set;
        let Store::Packed { narrow, wide } = &set.store else { panic!("states that are not packed") };
        let (found, before) = if narrow.takes(state) {
            if self.seat.ids.is_empty() {
                narrow.reserve(&mut self.seat.ids, self.seat.block)?;
            }
            (narrow.find_or_put(&mut self.seat.ids, spread)?, 0)
        } else {
            if self.seat.node_ids.is_empty() {
                wide.reserve(&mut self.seat.node_ids, self.seat.block)?;
            }
            (wide.find_or_put(&mut self.seat.node_ids, wide.spread(state))?, narrow.capacity())
        };
        let id = if set.lineage.is_some() { (before + found.slot) as u32 } else { 0 };
        Ok(Entry { id, fresh: found.fresh })
    }
}
