//! Partial order reduction: in each state only a stubborn set of the enabled instances is followed.
//!
//! In: the relations of a system, what is to be preserved. Out: for each state the transitions to
//! follow, and the states that the proviso wants expanded in full; figures for the report.
//! Never here: how relations are found, the order of the search.
//!
//! The chosen set is a pure function of the state, and the proviso one of the graph, so that all
//! counts are the same for any number of workers.

mod ample;
mod components;
mod expand;
mod proviso;
mod saved;
mod stubborn;

#[cfg(test)]
pub(crate) mod tests;

pub use proviso::{Round, Vertex};
pub use stubborn::Chooser;

pub(crate) use expand::Reducer;
pub(crate) use saved::kind;

use bombus_kernels::faults::fault;
use bombus_kernels::memory::Meter;
use bombus_system::Relations;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How the set of a state is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Strong stubborn sets with necessary enabling sets of guards.
    Stubborn,
    /// The ample sets of Dobrikov and Leuschel, algorithm 4.
    Ample,
}

/// What must not be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preserve {
    /// States without successors.
    Deadlocks,
    /// And whether a bad state is reachable: `Relations::visible` are the steps that may repair one.
    States,
    /// And all paths up to stuttering: `Relations::visible` are the steps that change a proposition.
    Paths,
}

/// How it is made sure that nothing is put off for ever around a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// Offline, on the edges of reduced states: one state of each cycle is expanded in full.
    Topological,
    /// During the search: a state is expanded in full when its steps lead back (any of them, for
    /// paths; all of them, for states) to levels that are known already.
    Level,
}

/// Which reduction to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Por {
    pub method: Method,
    pub preserve: Preserve,
    pub proviso: Proviso,
}

/// What the reduction did. What one worker takes back another may have counted, so single terms of a
/// worker may be "negative" and wrap; sums do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// States of which some enabled instances were left out for good.
    pub reduced: u64,
    /// States in which no smaller set was found; states without a choice are not counted.
    pub no_smaller: u64,
    /// States that were expanded in full because of the proviso.
    pub by_proviso: u64,
    /// States in which the enabled instances were not known, or a finding was made, or which stand for
    /// their orbits by chance.
    pub unknown: u64,
    /// States with at most one enabled instance.
    pub single: u64,
    /// Rounds of the topological proviso.
    pub rounds: u64,
    /// Transitions that were left out.
    pub left_out: u64,
    /// So many states had been looked at when the reduction was given up because it did not pay.
    pub given_up_after: Option<u64>,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.reduced = self.reduced.wrapping_add(other.reduced);
        self.no_smaller = self.no_smaller.wrapping_add(other.no_smaller);
        self.by_proviso = self.by_proviso.wrapping_add(other.by_proviso);
        self.unknown = self.unknown.wrapping_add(other.unknown);
        self.single = self.single.wrapping_add(other.single);
        self.left_out = self.left_out.wrapping_add(other.left_out);
    }

    /// What machines add up.
    pub fn fields(&mut self) -> [&mut u64; 6] {
        [
            &mut self.reduced,
            &mut self.no_smaller,
            &mut self.by_proviso,
            &mut self.unknown,
            &mut self.single,
            &mut self.left_out,
        ]
    }

    /// States that were looked at.
    pub fn looked_at(&self) -> u64 {
        let alone = self.no_smaller + self.by_proviso + self.unknown + self.single;
        alone.wrapping_add(self.reduced)
    }
}

/// The reduction is given up when, after so many states, it left something out in fewer than one of
/// `WORTH`.
const TRIAL: u64 = 20_000;
const WORTH: u64 = 100;

/// What the workers of a reduced search share.
pub(crate) struct Common<'a> {
    pub por: Por,
    pub relations: &'a Relations,
    /// The reduced states and their edges since the last round of the topological proviso.
    round: Mutex<Round>,
    rounds: AtomicU64,
    looked_at: AtomicU64,
    reduced: AtomicU64,
    given_up: AtomicBool,
    given_up_after: AtomicU64,
    /// States that were put on a queue a second time.
    repeated: AtomicU64,
}

impl<'a> Common<'a> {
    pub fn new(por: Por, relations: &'a Relations) -> Common<'a> {
        Common {
            por,
            relations,
            round: Mutex::default(),
            rounds: AtomicU64::new(0),
            looked_at: AtomicU64::new(0),
            reduced: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
            given_up_after: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
        }
    }

    /// Whether reduced states and their edges are kept for the topological proviso.
    pub fn keeps_edges(&self) -> bool {
        self.por.proviso == Proviso::Topological && self.needs_proviso()
    }

    /// Whether something might be put off for ever around a cycle.
    pub fn needs_proviso(&self) -> bool {
        self.por.preserve > Preserve::Deadlocks || self.relations.fallible
    }

    pub fn has_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Takes what a worker gathered during a level.
    pub fn hand_in(&self, part: &mut Round, looked_at: u64, reduced: u64) {
        self.looked_at.fetch_add(looked_at, Ordering::Relaxed);
        self.reduced.fetch_add(reduced, Ordering::Relaxed);
        if !part.is_empty() {
            self.round.lock().append(part);
        }
    }

    /// States that the workers of this machine looked at, and those that they reduced, in all levels so far.
    pub fn tally(&self) -> [u64; 2] {
        [self.looked_at.load(Ordering::Relaxed), self.reduced.load(Ordering::Relaxed)]
    }

    /// Called between two levels, when nobody works: stops choosing sets if that does not pay.
    /// Depends on nothing but the levels so far, by the tallies of all machines.
    pub fn weigh(&self, [looked_at, reduced]: [u64; 2]) {
        if looked_at >= TRIAL && reduced * WORTH < looked_at && !self.has_given_up() {
            self.given_up_after.store(looked_at, Ordering::Relaxed);
            self.given_up.store(true, Ordering::Relaxed);
        }
    }

    /// The states that must be expanded in full now that no state waits; ends a round.
    pub fn close_round(&self, meter: &Meter) -> Vec<Vertex> {
        if !self.keeps_edges() || fault("por: cycles have no full state") {
            return Vec::new();
        }
        let round = std::mem::take(&mut *self.round.lock());
        if round.is_empty() {
            return Vec::new();
        }
        self.rounds.fetch_add(1, Ordering::Relaxed);
        meter.release(round.bytes());
        let chosen = match self.por.preserve {
            Preserve::Paths => round.break_cycles(),
            Preserve::Deadlocks | Preserve::States => round.open_traps(),
        };
        self.repeated.fetch_add(chosen.len() as u64, Ordering::Relaxed);
        chosen
    }

    /// How many states were expanded, or are to be expanded, a second time.
    pub fn repeated(&self) -> u64 {
        self.repeated.load(Ordering::Relaxed)
    }

    /// The figures of all workers with what is known here.
    pub fn conclude(&self, mut sum: Figures) -> Figures {
        sum.rounds = self.rounds.load(Ordering::Relaxed);
        sum.given_up_after = self.has_given_up().then(|| self.given_up_after.load(Ordering::Relaxed));
        sum
    }
}
