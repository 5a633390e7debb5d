//! Termination of an asynchronous search: is there any work left, anywhere?
//!
//! In: each worker's counts of work created and finished. Out: `quiet`, true only when all work ever
//! created is finished.
//! Never here: the work itself, queues, waiting.
//!
//! Rules for worker `w`, on its own two counters alone: work is counted as created before anybody
//! else can see it, and before the work that led to it is counted as finished; work is counted as
//! finished after all work it leads to is counted as created.
//!
//! Argument. `quiet` reads all `finished` first, sum F, then all `created`, sum C. Let X be the work
//! counted in F and Y the work counted in C. Every x in X was counted as created before it was
//! counted as finished: by the same worker in program order, or by another one that handed it over
//! through a queue (Release push, Acquire steal); the same holds for all work that x leads to. The
//! finish was read with Acquire from a Release store, so all these creations happen before the reads
//! of `created` and are counted: X and what X leads to lie in Y, and so does the first work, created
//! before the workers started. If F = C then X = Y, a set that holds the first work and all that
//! its members lead to: that is all work there ever is, and it is finished.

use crate::shim::{AtomicU64, Ordering, Padded};

#[derive(Debug, Default)]
struct Counters {
    created: AtomicU64,
    finished: AtomicU64,
}

pub struct Tally(Box<[Padded<Counters>]>);

impl Tally {
    pub fn new(workers: usize) -> Tally {
        Tally((0..workers).map(|_| Padded(Counters::default())).collect())
    }

    /// `worker` is about to make `count` pieces of work visible.
    pub fn created(&self, worker: usize, count: u64) {
        let own = &self.0[worker].0.created;
        // A load and a store instead of a read-modify-write: nobody else writes this counter.
        own.store(own.load(Ordering::Relaxed) + count, Ordering::Release);
    }

    /// `worker` has finished `count` pieces of work and counted what they led to.
    pub fn finished(&self, worker: usize, count: u64) {
        let own = &self.0[worker].0.finished;
        own.store(own.load(Ordering::Relaxed) + count, Ordering::Release);
    }

    /// Whether all work is finished. Once true, it stays true.
    pub fn quiet(&self) -> bool {
        let finished = self.total_finished();
        finished == self.total_created()
    }

    pub fn total_created(&self) -> u64 {
        self.0.iter().map(|c| c.0.created.load(Ordering::Acquire)).sum()
    }

    pub fn total_finished(&self) -> u64 {
        self.0.iter().map(|c| c.0.finished.load(Ordering::Acquire)).sum()
    }
}
