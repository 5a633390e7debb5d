//! A batch of states that wait for their expansion: what queues carry and thieves steal.
//!
//! Never here: why they wait, or in which queue.

use bombus_kernels::Trouble;
use bombus_kernels::memory::{Meter, prefetch_to_write};
use std::sync::Arc;

/// States of a full batch: enough that a deque operation and a look at the clock cost nothing per
/// state, few enough that a level of some thousand states still feeds all workers.
pub const BATCH: usize = 64;

/// What few states have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// A check of the state failed or could not be computed.
    pub flawed: bool,
    /// Another state of its orbit might stand here in another run, so nothing may be left out.
    pub loose: bool,
}

/// A batch goes from hand to hand at every level, so its parts stand apart and only a pointer moves.
pub struct Batch {
    held: Box<Held>,
    /// The states were expanded before, in part.
    pub again: bool,
}

/// On cache lines of its own: batches change hands, and neighbours would disturb each other.
#[repr(align(64))]
struct Held {
    words: usize,
    ids: Vec<u32>,
    /// Fingerprints: computed when a state is new, needed again when it is expanded.
    prints: Vec<u128>,
    states: Vec<u64>,
    /// Positions of states in which a check failed or could not be computed, ascending.
    flawed: Vec<u32>,
    /// Positions of states that stand for their orbits by chance, ascending.
    loose: Vec<u32>,
    bytes: u64,
    meter: Arc<Meter>,
}

impl Batch {
    pub fn new(words: usize, meter: &Arc<Meter>) -> Result<Batch, Trouble> {
        let bytes = (BATCH * (words * 8 + 16 + 4)) as u64;
        meter.claim(bytes)?;
        let mut held = Box::new(Held {
            words,
            ids: Vec::new(),
            prints: Vec::new(),
            states: Vec::new(),
            flawed: Vec::new(),
            loose: Vec::new(),
            bytes,
            meter: meter.clone(),
        });
        let reserved = held.ids.try_reserve_exact(BATCH).is_ok()
            && held.prints.try_reserve_exact(BATCH).is_ok()
            && held.states.try_reserve_exact(BATCH * words).is_ok();
        if reserved { Ok(Batch { held, again: false }) } else { Err(Trouble::OutOfMemory) }
    }

    #[inline]
    pub fn push(&mut self, id: u32, print: u128, state: &[u64], marks: Marks) {
        debug_assert!(!self.is_full());
        if marks.flawed {
            self.held.flawed.push(self.held.ids.len() as u32);
        }
        if marks.loose {
            self.held.loose.push(self.held.ids.len() as u32);
        }
        self.held.ids.push(id);
        self.held.prints.push(print);
        match state {
            // PERF: without a call for a copy of some length.
            [word] => self.held.states.push(*word),
            _ => self.held.states.extend_from_slice(state),
        }
    }

    pub fn len(&self) -> usize {
        self.held.ids.len()
    }

    pub fn is_full(&self) -> bool {
        self.held.ids.len() >= BATCH
    }

    pub fn id(&self, at: usize) -> u32 {
        self.held.ids[at]
    }

    pub fn print(&self, at: usize) -> u128 {
        self.held.prints[at]
    }

    pub fn state(&self, at: usize) -> &[u64] {
        &self.held.states[at * self.held.words..(at + 1) * self.held.words]
    }

    pub fn marks(&self, at: usize) -> Marks {
        let stands = |list: &[u32]| !list.is_empty() && list.binary_search(&(at as u32)).is_ok();
        Marks { flawed: stands(&self.held.flawed), loose: stands(&self.held.loose) }
    }

    /// The words of all states, one after the other.
    pub fn states(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.len()).map(|at| self.state(at))
    }

    /// The words of all states side by side.
    pub fn all_words(&self) -> &[u64] {
        &self.held.states
    }

    /// Asks for the memory that will be filled. PERF: what was written a level ago is far from the processor, and writing waits for it.
    pub fn ask(&mut self) {
        fn lines<T>(room: &mut [std::mem::MaybeUninit<T>]) {
            room.chunks(64 / size_of::<T>()).for_each(|line| prefetch_to_write(&line[0]));
        }
        lines(self.held.ids.spare_capacity_mut());
        lines(self.held.prints.spare_capacity_mut());
        lines(self.held.states.spare_capacity_mut());
    }

    /// Empties the batch for another use.
    pub fn clear(&mut self) {
        self.held.ids.clear();
        self.held.prints.clear();
        self.held.states.clear();
        self.held.flawed.clear();
        self.held.loose.clear();
        self.again = false;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}
