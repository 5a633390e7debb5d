//! A growing array by dense id whose elements never move.
//!
//! In: ids handed out by a table. Out: a reference to the element of an id.
//! Never here: who may write an element when; the owner's protocol says so.
//!
//! Elements are atomics, read and written `Relaxed`: what orders a write before a read is the
//! publication of the id in a table slot (Release) and its reading (Acquire).

use crate::Trouble;
use crate::memory::{Meter, Pages, Zeroed, Zeros};
use crate::shim::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

/// Ids per chunk, as a power of two.
const BITS: u32 = if cfg!(loom) { 2 } else { 18 };
/// Chunks at most: together they cover every 32-bit id.
const CHUNKS: usize = if cfg!(loom) { 2 } else { 1 << 14 };

/// `per` elements for each id.
pub struct Chunks<T: Zeroed> {
    /// Null until somebody needs the chunk, then the first element of a chunk in `owned`; set once
    /// by compare-exchange, never changed after.
    directory: Zeros<AtomicPtr<T>>,
    /// Keeps the chunks; entered after a chunk is published, once per 262,144 ids.
    owned: Mutex<Vec<Zeros<T>>>,
    per: usize,
    meter: Arc<Meter>,
}

impl<T: Zeroed> Chunks<T> {
    pub fn new(per: usize, meter: &Arc<Meter>) -> Result<Self, Trouble> {
        // Pages that nobody touches cost nothing: most searches need one chunk.
        let directory = Zeros::new(CHUNKS, Pages::Small, meter)?;
        Ok(Chunks { directory, owned: Mutex::default(), per, meter: meter.clone() })
    }

    /// Makes sure that ids `from..to` have elements. To be called before such an id is used.
    pub fn ensure(&self, from: u32, to: u32) -> Result<(), Trouble> {
        if from == to {
            return Ok(());
        }
        for chunk in from >> BITS..=(to - 1) >> BITS {
            let place = self.directory.get(chunk as usize).ok_or(Trouble::OutOfIds)?;
            if !place.load(Ordering::Acquire).is_null() {
                continue;
            }
            // A small run touches little of the first chunk, and huge pages would make it pay for all.
            let pages = if chunk == 0 { Pages::Small } else { Pages::Huge };
            let fresh = Zeros::<T>::new(self.per << BITS, pages, &self.meter)?;
            let start = fresh.as_ptr().cast_mut();
            // Release publishes the zeroed chunk; its partner is the Acquire load in `of`. A chunk
            // that came second is dropped here, unseen.
            if place
                .compare_exchange(std::ptr::null_mut(), start, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            {
                self.owned.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(fresh);
            }
        }
        Ok(())
    }

    /// The elements of `id`, which `ensure` must have covered.
    #[inline(always)]
    pub fn of(&self, id: u32) -> &[T] {
        let chunk = self.directory[(id >> BITS) as usize].load(Ordering::Acquire);
        assert!(!chunk.is_null(), "an id without storage was used");
        let at = (id as usize & ((1 << BITS) - 1)) * self.per;
        // SAFETY: a non-null entry is the start of a chunk of `per << BITS` elements, published by
        // `ensure` (Release/Acquire); `at + per` is within it because the masked id is below
        // `1 << BITS`. The chunk's memory does not move when `owned` does and is freed only with
        // `self`, which is borrowed. The elements are atomics, so shared references suffice.
        unsafe { std::slice::from_raw_parts(chunk.add(at), self.per) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::shim::AtomicU64;

    #[test]
    fn elements_start_at_zero_and_keep_what_is_written() {
        let meter = Meter::new(None);
        let chunks: Chunks<AtomicU64> = Chunks::new(2, &meter).unwrap();
        chunks.ensure(0, 600_000).unwrap();
        for id in [0, 262_143, 262_144, 599_999u32] {
            assert_eq!(chunks.of(id)[1].load(Ordering::Relaxed), 0);
            chunks.of(id)[1].store(id as u64 + 7, Ordering::Relaxed);
        }
        assert_eq!(chunks.of(262_144)[1].load(Ordering::Relaxed), 262_151);
        assert_eq!(chunks.of(262_144)[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_chunk_beyond_the_limit_is_refused_not_aborted() {
        let meter = Meter::new(Some(3 << 20));
        let chunks: Chunks<AtomicU64> = Chunks::new(1, &meter).unwrap();
        assert_eq!(chunks.ensure(0, 1 << 20), Err(Trouble::OutOfMemory));
        drop(chunks);
        assert_eq!(meter.used(), 0);
    }
}
