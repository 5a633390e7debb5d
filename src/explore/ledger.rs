//! The ledger: every reason why a run saw less than everything.
//!
//! In: limits reached, interrupts, what a system could not compute. Out: the list that makes a
//! verdict "incomplete". Never here: the verdict itself.

use bombus_base::budget::Stop;
use bombus_kernels::visited::MOST_IDS;
use bombus_system::System;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Why a run is not complete. The order is the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The limit on states, with its value.
    States(u64),
    Time,
    /// The memory limit, or memory that the machine refused.
    Memory,
    /// A file of a search on disk could not be written or read.
    Disk,
    /// More states than 32-bit ids can name; or a finding that more states lie before.
    Ids,
    Interrupted,
    /// States whose identity is approximate were taken for known ones: part of what they lead to may
    /// not have been seen.
    Orbits,
    /// A machine of a search on several machines is gone.
    Lost,
    /// States could not be sent to the machines that own them.
    Unsent,
    /// Something the system could not compute; `System::reason` has the words.
    System(u32),
}

impl From<Stop> for Reason {
    fn from(stop: Stop) -> Reason {
        match stop {
            Stop::Time => Reason::Time,
            Stop::Memory => Reason::Memory,
            Stop::Interrupted => Reason::Interrupted,
        }
    }
}

impl Reason {
    /// The reason in words, those of the system included.
    pub fn words(self, system: &impl System) -> String {
        match self {
            Reason::States(n) => format!("the limit of {} was reached", bombus_base::text::many(n, "state")),
            Reason::Time => Stop::Time.reason().into(),
            Reason::Memory => Stop::Memory.reason().into(),
            Reason::Disk => "a file of the search could not be written or read".into(),
            Reason::Ids => format!(
                "more than {MOST_IDS} states on one machine, which is all that its store can number (several machines, or --store \
                 disk, hold more)"
            ),
            Reason::Interrupted => Stop::Interrupted.reason().into(),
            Reason::Orbits => {
                "approximate symmetry: states may have been taken for others that are not symmetric to them"
                    .into()
            }
            Reason::Lost => "a machine was lost".into(),
            Reason::Unsent => {
                "a variable holds a set that is not listed, and that cannot be sent to another machine".into()
            }
            Reason::System(n) => system.reason(n),
        }
    }
}

/// Shared by the workers. Entries are rare, so a lock is good enough.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<Reason, u64>>);

impl Ledger {
    pub fn enter(&self, reason: Reason, times: u64) {
        let mut entries = self.0.lock();
        *entries.entry(reason).or_default() += times;
    }

    /// Enters a reason that counts once however many noticed it.
    pub fn enter_once(&self, reason: Reason) {
        self.0.lock().entry(reason).or_insert(1);
    }

    /// Forgets what was entered, because it comes again with what others entered.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// What was entered so far.
    pub fn entries(&self) -> Vec<(Reason, u64)> {
        let entries = self.0.lock();
        entries.iter().map(|(reason, times)| (*reason, *times)).collect()
    }

    /// The reasons in their order, with how often each was met.
    pub fn close(self) -> Vec<(Reason, u64)> {
        let entries = self.0.into_inner();
        entries.into_iter().collect()
    }
}
