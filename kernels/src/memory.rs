//! Bulk memory: accounted against a limit, zeroed, and never obtained by a call that may abort.
//!
//! In: sizes. Out: arrays of atomics that are all zero, or `OutOfMemory`.
//! Never here: what the arrays hold.

use crate::Trouble;
use crate::shim::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64 as Counter, Ordering};

/// Bytes of bulk memory in use, their peak, and the limit. Shared by all structures of one run.
///
/// The counters are plain statistics: nothing is ordered by them, hence `Relaxed` throughout, and
/// they need no exploration by loom.
#[derive(Debug)]
pub struct Meter {
    used: Counter,
    peak: Counter,
    limit: u64,
    /// Bytes under the same limit that others use and nobody claims here.
    others: Counter,
    /// The meter of the whole, which must agree to every claim.
    whole: Option<Arc<Meter>>,
}

impl Meter {
    pub fn new(limit: Option<u64>) -> Arc<Meter> {
        let limit = limit.unwrap_or(u64::MAX);
        Arc::new(Meter::with(limit, None))
    }

    /// A meter for a part of what `whole` measures.
    pub fn within(whole: &Arc<Meter>) -> Arc<Meter> {
        Arc::new(Meter::with(u64::MAX, Some(whole.clone())))
    }

    fn with(limit: u64, whole: Option<Arc<Meter>>) -> Meter {
        Meter { used: Counter::new(0), peak: Counter::new(0), limit, others: Counter::new(0), whole }
    }

    /// Says how much of the limit others use.
    pub fn others_use(&self, bytes: u64) {
        self.others.store(bytes, Ordering::Relaxed);
    }

    /// How much may still be claimed.
    pub fn room(&self) -> u64 {
        let here = self.limit.saturating_sub(self.used()).saturating_sub(self.others.load(Ordering::Relaxed));
        self.whole.as_ref().map_or(here, |whole| here.min(whole.room()))
    }

    /// Claims `bytes` before they are allocated.
    pub fn claim(&self, bytes: u64) -> Result<(), Trouble> {
        if let Some(whole) = &self.whole {
            whole.claim(bytes)?;
        }
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        let now = before.saturating_add(bytes);
        if now > self.limit.saturating_sub(self.others.load(Ordering::Relaxed)) {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Trouble::OutOfMemory);
        }
        self.peak.fetch_max(now, Ordering::Relaxed);
        Ok(())
    }

    /// Gives `bytes` back; they must have been claimed.
    pub fn release(&self, bytes: u64) {
        if let Some(whole) = &self.whole {
            whole.release(bytes);
        }
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub fn limit(&self) -> Option<u64> {
        (self.limit != u64::MAX).then_some(self.limit)
    }
}

/// Types for which memory full of zero bytes is a valid array of zero values.
///
/// # Safety
/// Only for types whose all-zero bit pattern is valid and which need no drop.
#[cfg_attr(loom, allow(unused))]
pub unsafe trait Zeroed: Sync + Send {
    #[cfg(loom)]
    fn zero() -> Self;
}

macro_rules! zeroed {
    ($($t:ty),*) => {$(
        // SAFETY: the standard atomic integers have the same representation as the integer they
        // hold, for which all bits zero is the value 0, and they have no drop glue. Under loom the
        // trait's `zero` is used instead of zeroed memory.
        unsafe impl Zeroed for $t {
            #[cfg(loom)]
            fn zero() -> Self {
                <$t>::new(0)
            }
        }
    )*};
}
zeroed!(AtomicU8, AtomicU16, AtomicU32, AtomicU64);

/// How the operating system should hold an array, if it is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pay for each page when it is touched.
    Small,
    /// Save TLB misses of random accesses all over it.
    Huge,
}

/// A fixed array of zero values, owned, its bytes claimed from a meter.
pub struct Zeros<T: Zeroed> {
    #[cfg(loom)]
    items: Vec<T>,
    #[cfg(not(loom))]
    region: region::Region,
    #[cfg(not(loom))]
    len: usize,
    bytes: u64,
    meter: Arc<Meter>,
    #[cfg(not(loom))]
    holds: std::marker::PhantomData<T>,
}

impl<T: Zeroed> Zeros<T> {
    pub fn new(len: usize, pages: Pages, meter: &Arc<Meter>) -> Result<Self, Trouble> {
        #[cfg(loom)]
        let _ = pages;
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Trouble::OutOfMemory)?;
        meter.claim(bytes as u64)?;
        #[cfg(loom)]
        let it =
            Zeros { items: (0..len).map(|_| T::zero()).collect(), bytes: bytes as u64, meter: meter.clone() };
        #[cfg(not(loom))]
        let it = Zeros {
            region: region::Region::new(bytes, pages).inspect_err(|_| meter.release(bytes as u64))?,
            len,
            bytes: bytes as u64,
            meter: meter.clone(),
            holds: std::marker::PhantomData,
        };
        Ok(it)
    }
}

impl<T: Zeroed> Deref for Zeros<T> {
    type Target = [T];

    #[cfg(loom)]
    fn deref(&self) -> &[T] {
        &self.items
    }

    #[cfg(not(loom))]
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the region holds `len * size_of::<T>()` bytes (established in `new`), aligned to
        // at least 64 bytes, zero when obtained, which `Zeroed` makes valid values of `T`; it lives
        // as long as `self`, and only shared references to its atomics are ever made.
        unsafe { std::slice::from_raw_parts(self.region.start() as *const T, self.len) }
    }
}

impl<T: Zeroed> Drop for Zeros<T> {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}

/// Zeroed bytes from the operating system or the allocator.
#[cfg(not(loom))]
mod region {
    use super::Pages;
    use crate::Trouble;
    use std::alloc::Layout;
    use std::ptr::NonNull;

    /// From this size on, pages are mapped directly, so that they cost nothing until touched.
    const MAP_FROM: usize = 1 << 18;
    /// From this size on, huge pages are asked for: they save a TLB miss per random access.
    const HUGE_FROM: usize = 1 << 21;
    const ALIGN: usize = 64;

    pub struct Region {
        start: NonNull<u8>,
        bytes: usize,
        mapped: bool,
    }

    // SAFETY: the region is plain memory owned by this value; it has no tie to a thread.
    unsafe impl Send for Region {}
    // SAFETY: as above; sharing gives out only the address.
    unsafe impl Sync for Region {}

    impl Region {
        pub fn new(bytes: usize, pages: Pages) -> Result<Region, Trouble> {
            if bytes == 0 {
                return Ok(Region { start: NonNull::dangling(), bytes, mapped: false });
            }
            if cfg!(target_os = "linux") && !cfg!(miri) && bytes >= MAP_FROM {
                return Region::map(bytes, pages);
            }
            let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| Trouble::OutOfMemory)?;
            // SAFETY: the layout has a non-zero size.
            let start = unsafe { std::alloc::alloc_zeroed(layout) };
            let start = NonNull::new(start).ok_or(Trouble::OutOfMemory)?;
            Ok(Region { start, bytes, mapped: false })
        }

        fn map(bytes: usize, pages: Pages) -> Result<Region, Trouble> {
            // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
            // memory of ours.
            let at = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if at == libc::MAP_FAILED {
                return Err(Trouble::OutOfMemory);
            }
            if bytes >= HUGE_FROM && pages == Pages::Huge {
                // SAFETY: exactly the mapping just made; a refusal of the advice changes nothing.
                unsafe { libc::madvise(at, bytes, libc::MADV_HUGEPAGE) };
            }
            let start = NonNull::new(at.cast::<u8>()).ok_or(Trouble::OutOfMemory)?;
            Ok(Region { start, bytes, mapped: true })
        }

        #[inline(always)]
        pub fn start(&self) -> *const u8 {
            self.start.as_ptr()
        }
    }

    impl Drop for Region {
        fn drop(&mut self) {
            if self.bytes == 0 {
                return;
            }
            if self.mapped {
                // SAFETY: this mapping was made by `map` with this length and is unmapped once.
                unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
            } else {
                // SAFETY: allocated in `new` with this very layout, freed once.
                unsafe {
                    std::alloc::dealloc(
                        self.start.as_ptr(),
                        Layout::from_size_align_unchecked(self.bytes, ALIGN),
                    )
                };
            }
        }
    }
}

/// Asks for the cache line of `place` ahead of its use.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    // SAFETY: a prefetch is a hint that reads no value; the reference makes the address valid.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>((place as *const T).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    let _ = place;
}
