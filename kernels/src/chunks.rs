//! A growing array by dense id whose elements never move.
//!
//! In: ids handed out by a table. Out: a reference to the element of an id.
//! Never here: who may write an element when; the owner's protocol says so.
//!
//! Elements are atomics, read and written `Relaxed`: what orders a write before a read is the
//! publication of the id in a table slot (Release) and its reading (Acquire).

use crate::Trouble;
use crate::memory::{Meter, Zeroed, Zeros};
use crate::shim::{AtomicPtr, Ordering};
use std::sync::Arc;

/// Ids per chunk, as a power of two.
const BITS: u32 = if cfg!(loom) { 2 } else { 16 };
/// Chunks at most: together they cover every 32-bit id.
const CHUNKS: usize = if cfg!(loom) { 2 } else { 1 << 16 };

/// `per` elements for each id.
pub struct Chunks<T: Zeroed> {
    /// Null until somebody needs the chunk; set once by compare-exchange, never changed after.
    directory: Vec<AtomicPtr<Zeros<T>>>,
    per: usize,
    meter: Arc<Meter>,
}

impl<T: Zeroed> Chunks<T> {
    pub fn new(per: usize, meter: &Arc<Meter>) -> Result<Self, Trouble> {
        let mut directory = Vec::new();
        meter.claim((CHUNKS * size_of::<usize>()) as u64)?;
        directory.try_reserve_exact(CHUNKS).map_err(|_| Trouble::OutOfMemory)?;
        directory.extend((0..CHUNKS).map(|_| AtomicPtr::new(std::ptr::null_mut())));
        Ok(Chunks { directory, per, meter: meter.clone() })
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
            let fresh = Box::into_raw(Box::new(Zeros::new(self.per << BITS, &self.meter)?));
            // Release publishes the zeroed chunk; its partner is the Acquire load in `of`.
            if place
                .compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire)
                .is_err()
            {
                // SAFETY: `fresh` came from `Box::into_raw` above and, the exchange having failed,
                // was never published: nobody else knows it.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
        Ok(())
    }

    /// The elements of `id`, which `ensure` must have covered.
    #[inline(always)]
    pub fn of(&self, id: u32) -> &[T] {
        let chunk = self.directory[(id >> BITS) as usize].load(Ordering::Acquire);
        assert!(!chunk.is_null(), "an id without storage was used");
        // SAFETY: a non-null directory entry was published by `ensure` (Release/Acquire) and is
        // freed only when `self` is dropped, which the borrow of `self` excludes.
        let chunk: &Zeros<T> = unsafe { &*chunk };
        let at = (id as usize & ((1 << BITS) - 1)) * self.per;
        &chunk[at..at + self.per]
    }
}

impl<T: Zeroed> Drop for Chunks<T> {
    fn drop(&mut self) {
        for place in &self.directory {
            let chunk = place.load(Ordering::Relaxed);
            if !chunk.is_null() {
                // SAFETY: `&mut self` means no reader is left; the pointer came from
                // `Box::into_raw` in `ensure` and is freed once.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
        self.meter.release((CHUNKS * size_of::<usize>()) as u64);
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
        chunks.ensure(0, 200_000).unwrap();
        for id in [0, 65_535, 65_536, 199_999u32] {
            assert_eq!(chunks.of(id)[1].load(Ordering::Relaxed), 0);
            chunks.of(id)[1].store(id as u64 + 7, Ordering::Relaxed);
        }
        assert_eq!(chunks.of(65_536)[1].load(Ordering::Relaxed), 65_543);
        assert_eq!(chunks.of(65_536)[0].load(Ordering::Relaxed), 0);
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
