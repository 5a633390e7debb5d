//! Predecessors of states, four bytes each, and the rule that makes them the same in every run.
//!
//! In: claims "I lead to this state" made while a level is expanded. Out: one parent per state.
//! Never here: events and parameters; a trace is rebuilt by replay.
//!
//! In a level-synchronous search every state of the level that is being filled may be claimed by
//! several states of the level that is being expanded. A claim is a number, larger for the parent
//! with the smaller fingerprint; `fetch_max` keeps the largest whatever the schedule. Claims take
//! eight bytes, but only for the level being filled: they are settled into four when it is its turn.
//! Two parents whose fingerprints agree in all bits of a claim (more than 32 of them) would make the
//! choice depend on ids; the search stays right, only the trace might differ.

use crate::Trouble;
use crate::chunks::Chunks;
use crate::image::{self, Unreadable};
use crate::memory::Meter;
use crate::shim::{AtomicU32, AtomicU64, Ordering};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// The ids of the level that is being expanded and of the one that is being filled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    /// Which of the two arrays of claims is being filled.
    pub odd: bool,
    /// First id of the level that is being expanded, whose ids end at `filling`.
    pub expanding: u32,
    /// First id of the level that is being filled.
    pub filling: u32,
}

impl Level {
    /// The next level, when the first unused id is `bound`.
    pub fn next(self, bound: u32) -> Level {
        Level { odd: !self.odd, expanding: self.filling, filling: bound }
    }

    /// Bits of a claim that hold the parent: its distance from the start of its level, and a one
    /// that makes every claim non-zero.
    fn shift(self) -> u32 {
        33 - (self.filling - self.expanding).leading_zeros()
    }
}

pub struct Parents {
    /// Parent id + 1; 0 for an initial state.
    parent: Chunks<AtomicU32>,
    /// By distance from the start of the level being filled; 0 means no claim.
    claims: [Chunks<AtomicU64>; 2],
}

impl Parents {
    pub fn new(meter: &Arc<Meter>) -> Result<Self, Trouble> {
        Ok(Parents {
            parent: Chunks::new(1, meter)?,
            claims: [Chunks::new(1, meter)?, Chunks::new(1, meter)?],
        })
    }

    /// Storage for new ids; `level` if they will be claimed.
    pub fn ensure(&self, ids: std::ops::Range<u32>, level: Option<Level>) -> Result<(), Trouble> {
        self.parent.ensure(ids.start, ids.end)?;
        match level {
            Some(l) => self.claims[l.odd as usize].ensure(ids.start - l.filling, ids.end - l.filling),
            None => Ok(()),
        }
    }

    /// Names the parent at once, for searches without levels. By the worker that found `id` only.
    pub fn set(&self, id: u32, parent: u32) {
        self.parent.of(id)[0].store(parent + 1, Ordering::Relaxed);
    }

    /// `parent`, of the level being expanded and with fingerprint `print`, leads to `id`. Does
    /// nothing if `id` is of an earlier level.
    #[inline]
    pub fn claim(&self, level: Level, id: u32, parent: u32, print: u128) {
        if id < level.filling {
            return;
        }
        let shift = level.shift();
        let claim =
            (!((print >> 64) as u64) >> shift) << shift | ((parent - level.expanding) as u64) << 1 | 1;
        let place = &self.claims[level.odd as usize].of(id - level.filling)[0];
        // Relaxed suffices: only the value matters, and it is read after the barrier of the level.
        if place.load(Ordering::Relaxed) < claim {
            place.fetch_max(claim, Ordering::Relaxed);
        }
    }

    /// Turns the claims of `id` into its parent, once the level that `level` describes is filled.
    #[inline]
    pub fn settle(&self, level: Level, id: u32) {
        let place = &self.claims[level.odd as usize].of(id - level.filling)[0];
        let claim = place.load(Ordering::Relaxed);
        place.store(0, Ordering::Relaxed);
        assert!(claim != 0, "a state without a predecessor");
        let distance = (claim & ((1 << level.shift()) - 1)) >> 1;
        self.set(id, level.expanding + distance as u32);
    }

    /// The parent of a state whose claims may not have been settled yet: `levels` are the present
    /// level and the one before. `None` for an initial state.
    pub fn resolve(&self, levels: &[Level], id: u32) -> Option<u32> {
        if let Some(parent) = self.get(id) {
            return Some(parent);
        }
        let level = levels.iter().filter(|level| id >= level.filling).max_by_key(|level| level.filling)?;
        let claim = self.claims[level.odd as usize].of(id - level.filling)[0].load(Ordering::Relaxed);
        (claim != 0).then(|| level.expanding + ((claim & ((1 << level.shift()) - 1)) >> 1) as u32)
    }

    /// Writes the parents of all ids below `bound` and the claims of the levels that are not
    /// settled: the one being filled first, then the one before. Nobody may be working.
    pub fn save(&self, bound: u32, levels: &[Level], out: &mut dyn Write) -> io::Result<()> {
        for id in 0..bound {
            out.write_all(&self.parent.of(id)[0].load(Ordering::Relaxed).to_le_bytes())?;
        }
        let mut end = bound;
        for level in levels {
            for at in 0..end - level.filling {
                let claim = self.claims[level.odd as usize].of(at)[0].load(Ordering::Relaxed);
                out.write_all(&claim.to_le_bytes())?;
            }
            end = level.filling;
        }
        Ok(())
    }

    /// Reads what `save` wrote.
    pub fn restore(&mut self, bound: u32, levels: &[Level], from: &mut dyn Read) -> Result<(), Unreadable> {
        self.parent.ensure(0, bound)?;
        for id in 0..bound {
            let parent = image::word32(from)?;
            if parent > bound {
                return Err(Unreadable::Wrong("a predecessor that does not exist"));
            }
            self.parent.of(id)[0].store(parent, Ordering::Relaxed);
        }
        let mut end = bound;
        for level in levels {
            if level.filling > end || level.expanding > level.filling {
                return Err(Unreadable::Wrong("levels that overlap"));
            }
            let claims = &self.claims[level.odd as usize];
            claims.ensure(0, end - level.filling)?;
            for at in 0..end - level.filling {
                let claim = image::word64(from)?;
                let parent = u64::from(level.expanding) + ((claim & ((1 << level.shift()) - 1)) >> 1);
                if claim != 0 && parent >= u64::from(bound) {
                    return Err(Unreadable::Wrong("a predecessor that does not exist"));
                }
                claims.of(at)[0].store(claim, Ordering::Relaxed);
            }
            end = level.filling;
        }
        Ok(())
    }

    /// The parent of a state, `None` for an initial one.
    pub fn get(&self, id: u32) -> Option<u32> {
        self.parent.of(id)[0].load(Ordering::Relaxed).checked_sub(1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_claim_of_the_smallest_fingerprint_wins_in_any_order() {
        let prints = [5u128 << 120, 3 << 120, 9 << 120, 4 << 120];
        for first in 0..4 {
            let parents = Parents::new(&Meter::new(None)).unwrap();
            let level = Level { odd: false, expanding: 10, filling: 14 };
            parents.ensure(14..20, Some(level)).unwrap();
            for i in 0..4 {
                let p = (first + i) % 4;
                parents.claim(level, 15, 10 + p as u32, prints[p]);
            }
            parents.settle(level, 15);
            assert_eq!(parents.get(15), Some(11));
        }
    }

    #[test]
    fn states_of_earlier_levels_are_not_claimed() {
        let parents = Parents::new(&Meter::new(None)).unwrap();
        let level = Level { odd: true, expanding: 0, filling: 1 };
        parents.ensure(0..1, None).unwrap();
        parents.claim(level, 0, 0, 0);
        assert_eq!(parents.get(0), None);
    }
}
