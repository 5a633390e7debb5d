//! Predecessors by slot, four bytes each, for a packed set that does not grow.
//!
//! In: claims "the state in this slot leads to the state in that one" made while a level is filled. Out: one parent
//! per state, by the rule of `parents`: the claim of the smallest fingerprint wins, whatever the schedule.
//! Never here: fingerprints. They can be computed of any state that stands in a slot, so whoever claims brings the function.
//!
//! A word is 0 (no claim yet), or the slot of the parent and one, above two bits that say what the state is:
//! settled, of the level that is being filled (even or odd), or initial, without a parent. A state of the level being filled is
//! known by the mark of that level; marks of the level before are taken off as its states are expanded.

use crate::Trouble;
use crate::memory::{Meter, Pages, Zeros};
use crate::shim::{AtomicU32, Ordering};
use std::sync::Arc;

/// Slots whose predecessors can be told: 30 bits, less one.
pub const MOST_SLOTS: u64 = (1 << 30) - 1;

const SETTLED: u32 = 0;
const INITIAL: u32 = 3;

pub struct Lineage {
    words: Zeros<AtomicU32>,
}

impl Lineage {
    pub fn new(slots: u64, meter: &Arc<Meter>) -> Result<Lineage, Trouble> {
        if slots > MOST_SLOTS {
            return Err(Trouble::OutOfIds);
        }
        Ok(Lineage { words: Zeros::new(slots as usize, Pages::Huge, meter)? })
    }

    /// The state in slot `id` has no parent.
    pub fn begin(&self, id: u32) {
        self.words[id as usize].store(INITIAL, Ordering::Relaxed);
    }

    /// The state in slot `parent`, with fingerprint `print`, leads to the state in slot `id`; `odd` tells the level that
    /// is being filled from the one that is expanded. Does nothing if the state in `id` is of an earlier level.
    /// `print_of` computes the fingerprint of the state in a slot.
    pub fn claim(&self, odd: bool, id: u32, parent: u32, print: u128, mut print_of: impl FnMut(u32) -> u128) {
        let mark = 1 + u32::from(odd);
        let mine = (parent + 1) << 2 | mark;
        let place = &self.words[id as usize];
        // Relaxed suffices: only the value matters, and it is read after the barrier of the level.
        let mut word = place.load(Ordering::Relaxed);
        loop {
            // A state without a claim was put in this level, by somebody who has not claimed it yet.
            let yields = word == 0 || word & 3 == mark && word != mine && print < print_of((word >> 2) - 1);
            if !yields {
                return;
            }
            match place.compare_exchange(word, mine, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// The level of the state in slot `id` is filled, and the state is about to be expanded.
    #[inline]
    pub fn settle(&self, id: u32) {
        let place = &self.words[id as usize];
        let word = place.load(Ordering::Relaxed);
        assert!(word != 0, "a state without a predecessor");
        if word != INITIAL {
            place.store(word & !3 | SETTLED, Ordering::Relaxed);
        }
    }

    /// The parent of a state, `None` for an initial one or one that nobody claimed.
    pub fn get(&self, id: u32) -> Option<u32> {
        (self.words[id as usize].load(Ordering::Relaxed) >> 2).checked_sub(1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_claim_of_the_smallest_fingerprint_wins_in_any_order() {
        let prints = [5u128, 3, 9, 4];
        for first in 0..4 {
            let lineage = Lineage::new(20, &Meter::new(None)).unwrap();
            for i in 0..4 {
                let parent = (first + i) % 4;
                lineage.claim(true, 7, parent as u32, prints[parent], |slot| prints[slot as usize]);
            }
            assert_eq!(lineage.get(7), Some(1));
        }
    }

    #[test]
    fn states_of_earlier_levels_are_not_claimed() {
        let lineage = Lineage::new(20, &Meter::new(None)).unwrap();
        lineage.begin(0);
        lineage.claim(false, 1, 0, 9, |_| 9);
        lineage.claim(true, 2, 1, 8, |_| 8);
        // 1 is of the level that is expanded, settled or not; 0 is initial.
        lineage.claim(true, 1, 2, 1, |_| 9);
        lineage.settle(1);
        lineage.claim(true, 1, 2, 1, |_| 9);
        lineage.claim(true, 0, 2, 1, |_| 9);
        assert_eq!([0, 1, 2].map(|slot| lineage.get(slot)), [None, Some(0), Some(1)]);
    }
}
