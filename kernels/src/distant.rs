//! Predecessors by fingerprint, for searches whose states stand on several machines.
//!
//! In: claims "the state with this fingerprint leads to that id", made while a level is filled. Out: for
//! each id the upper half of the fingerprint of one predecessor.
//! Never here: on which machine a predecessor stands, or how its state is found again.
//!
//! The rule is that of `parents`: the claim of the smallest fingerprint wins, whatever the schedule and
//! whatever the machine it came from. A claim is the complement of the upper half, so `fetch_max` keeps the
//! smallest, and no claim, zero, is beaten by all of them. Eight bytes for each id, and eight more where the
//! store does not keep states and a state is found again by its own fingerprint only.

use crate::Trouble;
use crate::chunks::Chunks;
use crate::memory::Meter;
use crate::shim::{AtomicU64, Ordering};
use std::ops::Range;
use std::sync::Arc;

pub struct Distant {
    /// For each id its claim and, if `named`, the upper half of its own fingerprint.
    kept: Chunks<AtomicU64>,
    named: bool,
}

/// The half of a fingerprint that predecessors are told by.
pub fn upper(print: u128) -> u64 {
    (print >> 64) as u64
}

impl Distant {
    /// `named`: fingerprints of the states themselves are kept, too.
    pub fn new(named: bool, meter: &Arc<Meter>) -> Result<Distant, Trouble> {
        Ok(Distant { kept: Chunks::new(1 + usize::from(named), meter)?, named })
    }

    pub fn ensure(&self, ids: Range<u32>) -> Result<(), Trouble> {
        self.kept.ensure(ids.start, ids.end)
    }

    /// A state with the fingerprint `print` leads to `id`. The caller sees to it that `id` is of the level
    /// that is being filled.
    #[inline]
    pub fn claim(&self, id: u32, print: u128) {
        let claim = (!upper(print)).max(1);
        let place = &self.kept.of(id)[0];
        // Relaxed suffices: only the value matters, and it is read after the barrier of the level.
        if place.load(Ordering::Relaxed) < claim {
            place.fetch_max(claim, Ordering::Relaxed);
        }
    }

    /// The upper half of the fingerprint of the predecessor; `None` for an initial state, and for an id that
    /// was never used.
    pub fn predecessor(&self, id: u32) -> Option<u64> {
        match self.kept.of(id)[0].load(Ordering::Relaxed) {
            0 => None,
            claim => Some(!claim),
        }
    }

    /// Keeps the fingerprint of a state, if those are kept.
    pub fn name(&self, id: u32, print: u128) {
        if self.named {
            self.kept.of(id)[1].store(upper(print), Ordering::Relaxed);
        }
    }

    /// The upper half of a state's own fingerprint, if those are kept.
    pub fn own(&self, id: u32) -> Option<u64> {
        self.named.then(|| self.kept.of(id)[1].load(Ordering::Relaxed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_predecessor_with_the_smallest_fingerprint_wins_in_any_order() {
        let prints = [5u128 << 120, 3 << 120, 9 << 120, 4 << 120];
        for first in 0..4 {
            let distant = Distant::new(false, &Meter::new(None)).unwrap();
            distant.ensure(0..3).unwrap();
            (0..4).for_each(|i| distant.claim(2, prints[(first + i) % 4]));
            assert_eq!(distant.predecessor(2), Some(3 << 56));
            assert_eq!((distant.predecessor(1), distant.own(2)), (None, None));
        }
    }

    #[test]
    fn a_state_has_a_name_where_names_are_kept() {
        let distant = Distant::new(true, &Meter::new(None)).unwrap();
        distant.ensure(0..2).unwrap();
        distant.claim(1, u128::MAX);
        distant.name(1, 7 << 64 | 9);
        assert_eq!((distant.predecessor(1), distant.own(1)), (Some(u64::MAX - 1), Some(7)));
    }
}
