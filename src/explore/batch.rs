//! A batch of states that wait for their expansion: what queues carry and thieves steal.
//!
//! Never here: why they wait, or in which queue.

use bombus_kernels::Trouble;
use bombus_kernels::memory::Meter;
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

pub struct Batch {
    words: usize,
    ids: Vec<u32>,
    /// Fingerprints: computed when a state is new, needed again when it is expanded.
    prints: Vec<u128>,
    states: Vec<u64>,
    /// Positions of states in which a check failed or could not be computed, ascending.
    flawed: Vec<u32>,
    /// Positions of states that stand for their orbits by chance, ascending.
    loose: Vec<u32>,
    /// The states were expanded before, in part.
    pub again: bool,
    bytes: u64,
    meter: Arc<Meter>,
}

impl Batch {
    pub fn new(words: usize, meter: &Arc<Meter>) -> Result<Batch, Trouble> {
        let bytes = (BATCH * (words * 8 + 16 + 4)) as u64;
        meter.claim(bytes)?;
        let mut batch = Batch {
            words,
            ids: Vec::new(),
            prints: Vec::new(),
            states: Vec::new(),
            flawed: Vec::new(),
            loose: Vec::new(),
            again: false,
            bytes,
            meter: meter.clone(),
        };
        let reserved = batch.ids.try_reserve_exact(BATCH).is_ok()
            && batch.prints.try_reserve_exact(BATCH).is_ok()
            && batch.states.try_reserve_exact(BATCH * words).is_ok();
        if reserved { Ok(batch) } else { Err(Trouble::OutOfMemory) }
    }

    pub fn push(&mut self, id: u32, print: u128, state: &[u64], marks: Marks) {
        debug_assert!(!self.is_full());
        if marks.flawed {
            self.flawed.push(self.ids.len() as u32);
        }
        if marks.loose {
            self.loose.push(self.ids.len() as u32);
        }
        self.ids.push(id);
        self.prints.push(print);
        self.states.extend_from_slice(state);
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_full(&self) -> bool {
        self.ids.len() >= BATCH
    }

    pub fn id(&self, at: usize) -> u32 {
        self.ids[at]
    }

    pub fn print(&self, at: usize) -> u128 {
        self.prints[at]
    }

    pub fn state(&self, at: usize) -> &[u64] {
        &self.states[at * self.words..(at + 1) * self.words]
    }

    pub fn marks(&self, at: usize) -> Marks {
        let stands = |list: &[u32]| !list.is_empty() && list.binary_search(&(at as u32)).is_ok();
        Marks { flawed: stands(&self.flawed), loose: stands(&self.loose) }
    }

    /// The words of all states, one after the other.
    pub fn states(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.len()).map(|at| self.state(at))
    }

    /// Empties the batch for another use.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.prints.clear();
        self.states.clear();
        self.flawed.clear();
        self.loose.clear();
        self.again = false;
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.meter.release(self.bytes);
    }
}
