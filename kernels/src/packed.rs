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
pub use crate::quotient::Aim;
use crate::quotient::Quotients;
use crate::table::{Entry, PARTS};
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

    /// The states of a packed set.
    pub fn into_words(self) -> Option<Words> {
        self.is_packed().then_some(Words { set: self })
    }
}

/// The states of a packed set that is complete: nobody puts any more, and its tables do not move.
pub struct Words {
    set: Visited,
}

impl Words {
    /// Into how many parts the states fall, which may be read side by side.
    pub fn parts(&self) -> usize {
        2 * PARTS as usize
    }

    /// Every state of a part, in no order that means anything.
    pub fn each_in(&self, part: usize, f: impl FnMut(u64)) {
        let Store::Packed { narrow, wide } = &self.set.store else { panic!("states that are not packed") };
        match part.checked_sub(PARTS as usize) {
            None => narrow.each_in(part, f),
            Some(part) => wide.each_in(part, f),
        }
    }
}

impl Session<'_> {
    /// Finds or puts packed states, one after the other, and tells of each in the same order what became
    /// of it. The id of an entry is a slot if slots are ids (`Visited::lineage`), else it means nothing. `aims` is
    /// memory to work in.
    #[inline]
    pub fn insert_packed(
        &mut self,
        states: &[u64],
        aims: &mut Vec<Aim>,
        mut each: impl FnMut(usize, Entry),
    ) -> Result<(), Trouble> {
        let set = self.set;
        let Store::Packed { narrow, .. } = &set.store else { panic!("states that are not packed") };
        narrow.aim_many(states, aims);
        for (i, &state) in states.iter().enumerate() {
            let entry = loop {
                match self.put_packed(state, aims[i]) {
                    Ok(entry) => break entry,
                    Err(Stuck::Full) => {
                        self.grow()?;
                        // Lines have moved.
                        narrow.aim_many(states, aims);
                    }
                    Err(Stuck::Trouble(trouble)) => return Err(trouble),
                }
            };
            each(i, entry);
        }
        Ok(())
    }

    /// Finds or puts packed states as `insert_packed` does, and adds the places of the new ones in the list to `fresh`; says how
    /// many were looked up before a trouble, if there was one.
    pub fn insert_packed_many(
        &mut self,
        states: &[u64],
        aims: &mut Vec<Aim>,
        fresh: &mut Vec<u32>,
    ) -> (usize, Result<(), Trouble>) {
        let set = self.set;
        let Store::Packed { narrow, .. } = &set.store else { panic!("states that are not packed") };
        narrow.aim_many(states, aims);
        let mut later = std::mem::take(&mut self.seat.later);
        let mut reached = 0;
        // The first states of `later` that were looked up in the end.
        let mut caught_up = 0;
        let done = loop {
            reached +=
                narrow.find_or_put_many(&mut self.seat.ids, &aims[reached..], reached, fresh, &mut later);
            let (at, past) = match later.get(caught_up) {
                _ if reached < states.len() => (reached, &mut reached),
                Some(&at) => (at as usize, &mut caught_up),
                None => break Ok(()),
            };
            match self.put_packed(states[at], aims[at]) {
                Ok(entry) => {
                    if entry.fresh {
                        fresh.push(at as u32);
                    }
                    *past += 1;
                }
                Err(Stuck::Full) => {
                    if let Err(trouble) = self.grow() {
                        break Err(trouble);
                    }
                    // Lines have moved.
                    narrow.aim_many(states, aims);
                }
                Err(Stuck::Trouble(trouble)) => break Err(trouble),
            }
        };
        let looked = reached - (later.len() - caught_up);
        later.clear();
        self.seat.later = later;
        (looked, done)
    }

    /// Finds or puts a packed state that the table for such states was aimed at, in this session.
    #[inline(always)]
    pub(crate) fn put_packed(&mut self, state: u64, aim: Aim) -> Result<Entry, Stuck> {
        let set = self.set;
        let Store::Packed { narrow, wide } = &set.store else { panic!("states that are not packed") };
        if aim.is_elsewhere() {
            return self.put_wide(state, wide, narrow.capacity());
        }
        if self.seat.ids.is_empty() {
            narrow.reserve(&mut self.seat.ids, self.seat.block)?;
        }
        let found = narrow.find_or_put(&mut self.seat.ids, aim)?;
        let id = if set.lineage.is_some() { narrow.slot(found) as u32 } else { 0 };
        Ok(Entry { id, fresh: found.fresh })
    }

    #[cold]
    #[inline(never)]
    fn put_wide(&mut self, state: u64, wide: &Quotients, before: u64) -> Result<Entry, Stuck> {
        if self.seat.node_ids.is_empty() {
            wide.reserve(&mut self.seat.node_ids, self.seat.block)?;
        }
        let found = wide.find_or_put(&mut self.seat.node_ids, wide.aim(state))?;
        let id = if self.set.lineage.is_some() { (before + wide.slot(found)) as u32 } else { 0 };
        Ok(Entry { id, fresh: found.fresh })
    }
}
