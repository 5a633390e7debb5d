//! The one door to atomics and cells: the standard ones, or loom's when built with `--cfg loom`.
//!
//! All lock-free code of the crate names these, so that loom explores the code that ships.
//! Never here: an algorithm.

#[cfg(loom)]
pub use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence},
    thread::yield_now,
};

#[cfg(not(loom))]
pub use std::{
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence},
    thread::yield_now,
};

/// The standard cell under loom's interface.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// A value alone on its cache lines, so that its writer disturbs no neighbour.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

/// Waiting that is polite on a crowded machine: a short spin, then yields, then short sleeps.
#[derive(Debug, Default)]
pub struct Backoff(u32);

impl Backoff {
    pub fn wait(&mut self) {
        #[cfg(loom)]
        yield_now();
        #[cfg(not(loom))]
        match self.0 {
            0..64 => std::hint::spin_loop(),
            64..128 => yield_now(),
            _ => std::thread::sleep(std::time::Duration::from_micros(50)),
        }
        self.0 = self.0.saturating_add(1);
    }

    pub fn reset(&mut self) {
        self.0 = 0;
    }
}
