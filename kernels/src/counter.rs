//! A counter that many workers add to and few read.
//!
//! In: what each worker counts. Out: the sum. Never here: what is counted.
//!
//! Each worker has a number of its own on cache lines of its own: adding to a shared one would send its line from core to
//! core, some hundred nanoseconds each time.

use crate::shim::{AtomicU64, Ordering, Padded};

pub struct Counter(Box<[Padded<AtomicU64>]>);

impl Counter {
    pub fn new(workers: usize) -> Counter {
        Counter((0..workers).map(|_| Padded(AtomicU64::new(0))).collect())
    }

    /// `worker` has counted so many more.
    pub fn add(&self, worker: usize, more: u64) {
        let own = &self.0[worker].0;
        // A load and a store instead of a read-modify-write: nobody else writes this number while workers work.
        own.store(own.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    /// All that was counted. Exact if nobody adds meanwhile.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|own| own.0.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Counter;

    #[test]
    fn what_all_workers_counted_is_the_sum() {
        let counter = Counter::new(4);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let counter = &counter;
                scope.spawn(move || (0..1000).for_each(|_| counter.add(worker, worker as u64 + 1)));
            }
        });
        assert_eq!(counter.sum(), 10_000);
    }
}
