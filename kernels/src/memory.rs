//! Bulk memory: accounted against a limit, zeroed, and never obtained by a call that may abort.
//!
//! In: sizes. Out: arrays of atomics that are all zero, or `OutOfMemory`.
//! Never here: what the arrays hold.

use crate::Trouble;
use crate::shim::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64 as Counter, Ordering};
use std::sync::{Arc, OnceLock};

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
    /// What the machine had free when that was first asked; `None` where memory matters more than time.
    free: Option<OnceLock<u64>>,
}

/// One of so many bytes that are free may be spent to save time.
const GENEROUS: u64 = 16;

impl Meter {
    pub fn new(limit: Option<u64>) -> Arc<Meter> {
        let limit = limit.unwrap_or(u64::MAX);
        Arc::new(Meter::with(limit, None))
    }

    /// The same for a run that may take more memory than it needs where that saves time, as long as the machine has plenty.
    pub fn generous(limit: Option<u64>) -> Arc<Meter> {
        let meter = Meter::with(limit.unwrap_or(u64::MAX), None);
        Arc::new(Meter { free: Some(OnceLock::new()), ..meter })
    }

    /// A meter for a part of what `whole` measures.
    pub fn within(whole: &Arc<Meter>) -> Arc<Meter> {
        Arc::new(Meter::with(u64::MAX, Some(whole.clone())))
    }

    fn with(limit: u64, whole: Option<Arc<Meter>>) -> Meter {
        Meter {
            used: Counter::new(0),
            peak: Counter::new(0),
            limit,
            others: Counter::new(0),
            whole,
            free: None,
        }
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

    /// Whether an array of so many bytes is so small for this machine and this limit that time matters more than its size.
    pub fn has_plenty(&self, bytes: u64) -> bool {
        match (&self.whole, &self.free) {
            (Some(whole), _) => whole.has_plenty(bytes) && bytes <= self.room() / 4,
            (None, Some(free)) => {
                bytes <= free.get_or_init(free_memory) / GENEROUS && bytes <= self.room() / 4
            }
            (None, None) => false,
        }
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

/// Bytes that the machine, or the group of processes that this one belongs to, has free; 0 if it does not say.
fn free_memory() -> u64 {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let all = read("/proc/meminfo");
    let kilobytes = all.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free =
        kilobytes.and_then(|said| said.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) << 10;
    read("/sys/fs/cgroup/memory.max").trim().parse::<u64>().map_or(free, |most| free.min(most))
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

// SAFETY: an atomic pointer has the representation of the pointer it holds, for which all bits zero is null, and no drop glue; it is
// shared as atomics are. Under loom the trait's `zero` is used instead of zeroed memory.
unsafe impl<T: Zeroed> Zeroed for AtomicPtr<T> {
    #[cfg(loom)]
    fn zero() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

/// How the operating system should hold an array, if it is large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pay for each page when it is touched.
    Small,
    /// Save TLB misses of random accesses all over it.
    Huge,
    /// The same, and it will be touched all over as soon as it is there: where huge pages would be too large, small ones come all at once.
    Full,
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
    /// The same for an array that is touched all over at once.
    const MAP_FULL_FROM: usize = 1 << 16;
    /// From this size on, huge pages are asked for: they save a TLB miss per random access.
    const HUGE_FROM: usize = 1 << 21;
    /// Below this size all pages of an array that will be full come at once; beyond it, most of them are huge.
    const FULL_BELOW: usize = 1 << 25;
    /// The pages of the system are of this size, or of a part of it.
    const PAGE: usize = 1 << 16;
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
            let from = if pages == Pages::Full { MAP_FULL_FROM } else { MAP_FROM };
            if cfg!(target_os = "linux") && !cfg!(miri) && bytes >= from {
                return Region::map(bytes, pages);
            }
            let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| Trouble::OutOfMemory)?;
            // SAFETY: the layout has a non-zero size.
            let start = unsafe { std::alloc::alloc_zeroed(layout) };
            let start = NonNull::new(start).ok_or(Trouble::OutOfMemory)?;
            Ok(Region { start, bytes, mapped: false })
        }

        fn map(bytes: usize, pages: Pages) -> Result<Region, Trouble> {
            let is_huge = bytes >= HUGE_FROM && pages != Pages::Small;
            let bytes = bytes.checked_next_multiple_of(PAGE).ok_or(Trouble::OutOfMemory)?;
            let at = Region::addresses(bytes, if is_huge { HUGE_FROM } else { 1 })?;
            let advise = |advice| {
                // SAFETY: exactly the mapping just made; a refusal of the advice changes nothing.
                unsafe { libc::madvise(at.cast(), bytes, advice) };
            };
            if is_huge {
                advise(libc::MADV_HUGEPAGE);
            }
            // PERF: a page that comes by a fault of its own costs some two microseconds, most of them for the fault.
            #[cfg(target_os = "linux")]
            if pages == Pages::Full && bytes < FULL_BELOW {
                advise(libc::MADV_POPULATE_WRITE);
            }
            let start = NonNull::new(at).ok_or(Trouble::OutOfMemory)?;
            Ok(Region { start, bytes, mapped: true })
        }

        /// Maps `bytes` bytes, of whole pages, at a multiple of `align`: a huge page has to begin at one.
        fn addresses(bytes: usize, align: usize) -> Result<*mut u8, Trouble> {
            // Where a mapping begins that nobody says anything of is the system's business.
            let spare = if align > 1 { align } else { 0 };
            let room = bytes.checked_add(spare).ok_or(Trouble::OutOfMemory)?;
            // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
            // memory of ours.
            let at = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    room,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if at == libc::MAP_FAILED {
                return Err(Trouble::OutOfMemory);
            }
            let before = (at as usize).next_multiple_of(align) - at as usize;
            let start = at.cast::<u8>().wrapping_add(before);
            let behind = room - before - bytes;
            // SAFETY: the pages of the mapping before the first byte that is used, and those behind the last one.
            unsafe {
                if before > 0 {
                    libc::munmap(at, before);
                }
                if behind > 0 {
                    libc::munmap(start.wrapping_add(bytes).cast(), behind);
                }
            }
            Ok(start)
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

/// Asks for the cache line of `place` ahead of a use that may write it. PERF: a line that was asked for to be read may have to be
/// asked for again when it is written, if another core has read it too.
#[inline(always)]
pub fn prefetch_to_write<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
    // SAFETY: the assembly is a prefetch, a hint that changes no value; the reference makes the address valid. A processor that does not
    // know the hint takes it for no operation.
    unsafe {
        std::arch::asm!("prefetchw [{0}]", in(reg) place, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
    let _ = place;
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
