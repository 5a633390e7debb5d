//! Symmetry: the visited set holds one identity per orbit, the queues one state of each: the first that
//! was found, or, with partial order reduction, the one that represents it.
//!
//! In: the targets of a batch of edges. Out: their identities, how exact these are, representatives.
//! Never here: how an orbit is recognised.
//!
//! Symmetries map transitions to transitions, so the orbits that are reached, the number of
//! transitions that leave any state of an orbit and the depth do not depend on which state of an
//! orbit was found first: with exact identities all counts are the same for any number of workers.
//! Which transitions a reduction follows does depend on the state, so all of them look at the same one.

use bombus_system::{Orbits, Precision};

/// The identities of one batch of states.
pub struct Identities<'a> {
    orbits: Box<dyn Orbits + 'a>,
    words: usize,
    identities: Vec<u64>,
    exact: Vec<bool>,
}

impl<'a> Identities<'a> {
    pub fn new(orbits: Box<dyn Orbits + 'a>) -> Self {
        Identities { words: orbits.words(), orbits, identities: Vec::new(), exact: Vec::new() }
    }

    /// Identifies `count` states of `words` words each, in place of those before.
    pub fn identify(&mut self, states: &[u64], words: usize, count: usize) {
        self.exact.clear();
        self.identities.clear();
        self.identities.resize(count * self.words, 0);
        for i in 0..count {
            let state = &states[i * words..(i + 1) * words];
            let out = &mut self.identities[i * self.words..(i + 1) * self.words];
            self.exact.push(self.orbits.identity(state, out) == Precision::Exact);
        }
    }

    /// Forgets the states that do not stay; the others move up.
    pub fn keep_only(&mut self, stays: impl Fn(usize) -> bool) {
        let mut kept = 0;
        for i in (0..self.exact.len()).filter(|i| stays(*i)) {
            self.identities.copy_within(i * self.words..(i + 1) * self.words, kept * self.words);
            self.exact[kept] = self.exact[i];
            kept += 1;
        }
        self.identities.truncate(kept * self.words);
        self.exact.truncate(kept);
    }

    /// The identity of the orbit of state `at`.
    pub fn of(&self, at: usize) -> &[u64] {
        &self.identities[at * self.words..(at + 1) * self.words]
    }

    pub fn is_exact(&self, at: usize) -> bool {
        self.exact[at]
    }

    /// Writes the state that stands for the orbit of state `at` in every run in its place; false if
    /// there is none.
    pub fn represent(&mut self, at: usize, state: &mut [u64]) -> bool {
        self.orbits.representative(&self.identities[at * self.words..(at + 1) * self.words], state)
    }

    /// The fingerprint that stands for the orbit of state `at` in every run.
    pub fn print(&self, at: usize) -> u128 {
        self.orbits.print(self.of(at))
    }
}
