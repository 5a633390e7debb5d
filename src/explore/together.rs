//! What a machine of a search on several machines keeps beside what it keeps alone, and how all machines end a level.
//!
//! In: this machine's sums at the end of a level. Out: the sums of all machines, from which each takes the same
//! decision: on to the next level, save first, or end.
//! Never here: states on their way (`exchange`), the result of the whole search (`reunion`).

use super::checkpoint::{In, Out};
use super::order::Stage;
use super::peers::{Lost, Mutant, Peers};
use super::reduce::por::Common;
use super::{Reason, Shared};
use bombus_system::System;
use parking_lot::Mutex;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The side of a search that looks at the other machines.
pub struct Together<'a> {
    pub peers: &'a dyn Peers,
    /// Predecessors are kept, by fingerprints, which also say whose a state is. If not, a state that was sent once is never sent again, and
    /// paths are found by another search of all machines, which keeps them.
    pub keeps_predecessors: bool,
    /// The first id of each level, and the first id beyond the last level. Ids of a level stand side by side.
    pub starts: Mutex<Vec<u32>>,
    /// Workers that may still send in this round.
    pub sending: AtomicUsize,
    /// States sent to and received from each machine.
    pub sent: Vec<AtomicU64>,
    pub received: Vec<AtomicU64>,
    /// States that were not sent because the same was sent before.
    pub filtered: AtomicU64,
    /// All machines have agreed that the search is over.
    pub over: AtomicBool,
    /// Why all machines end the search when it is saved.
    pub ending: Mutex<Option<Reason>>,
    pub lost: Mutex<Option<Lost>>,
    /// What machines had counted before the search was resumed.
    pub before: Mutex<Vec<Vec<u8>>>,
    /// Microseconds that workers waited for other machines.
    pub waited: AtomicU64,
    /// States of all machines that did not fit their form, as of the last level that was ended.
    pub escapes: AtomicU64,
}

impl<'a> Together<'a> {
    pub fn new(peers: &'a dyn Peers, keeps_predecessors: bool) -> Together<'a> {
        let counters = || (0..peers.owners().len()).map(|_| AtomicU64::new(0)).collect();
        Together {
            peers,
            keeps_predecessors,
            starts: Mutex::default(),
            sending: AtomicUsize::new(0),
            sent: counters(),
            received: counters(),
            filtered: AtomicU64::new(0),
            over: AtomicBool::new(false),
            ending: Mutex::default(),
            lost: Mutex::default(),
            before: Mutex::default(),
            waited: AtomicU64::new(0),
            escapes: AtomicU64::new(0),
        }
    }

    /// One machine answers for what all of them compute alike: the initial states.
    pub fn is_first(&self) -> bool {
        self.peers.rank() == 0
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Everybody hears what everybody says. A machine that is gone ends the search.
    pub fn agree(&self, said: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        match self.peers.agree(said) {
            Ok(heard) => Some(heard),
            Err(lost) => {
                self.over.store(true, Ordering::Relaxed);
                self.lost.lock().get_or_insert(lost);
                None
            }
        }
    }

    pub fn is_lost(&self) -> bool {
        self.lost.lock().is_some()
    }
}

/// What one machine says at the end of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tidings {
    pub depth: u32,
    /// States found in the level, and all so far.
    pub frontier: u64,
    pub states: u64,
    pub finding: bool,
    pub violated: u64,
    /// The search has to end here and now.
    pub stopped: bool,
    /// The search should be saved; and should end then, for which limit.
    pub due: bool,
    pub ends: Option<Reason>,
    pub sent: Vec<u64>,
    pub received: Vec<u64>,
    /// The initial states as this machine computed them: how many edges, and the sum of their fingerprints.
    pub initial: (u64, u128),
    /// States that a partial order reduction looked at, and those that it reduced.
    pub reduction: [u64; 2],
    /// States that did not fit their form.
    pub escapes: u64,
}

impl Tidings {
    fn write(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut out = Out(&mut bytes);
        out.u32(self.depth)?;
        out.u64(self.frontier)?;
        out.u64(self.states)?;
        out.u64(self.violated)?;
        for flag in [self.finding, self.stopped, self.due] {
            out.u8(flag.into())?;
        }
        out.reason(self.ends)?;
        out.u64(self.initial.0)?;
        out.u128(self.initial.1)?;
        self.reduction.iter().try_for_each(|n| out.u64(*n))?;
        out.u64(self.escapes)?;
        self.sent.iter().chain(&self.received).try_for_each(|n| out.u64(*n))?;
        Ok(bytes)
    }

    fn read(bytes: &[u8], machines: usize) -> io::Result<Tidings> {
        let mut bytes = bytes;
        let mut from = In(&mut bytes);
        let (depth, frontier, states) = (from.u32()?, from.u64()?, from.u64()?);
        let violated = from.u64()?;
        let (finding, stopped, due) = (from.u8()? != 0, from.u8()? != 0, from.u8()? != 0);
        let ends = from.reason()?;
        let initial = (from.u64()?, from.u128()?);
        let reduction = [from.u64()?, from.u64()?];
        let escapes = from.u64()?;
        let mut list = || (0..machines).map(|_| from.u64()).collect::<io::Result<Vec<u64>>>();
        let (sent, received) = (list()?, list()?);
        Ok(Tidings {
            depth,
            frontier,
            states,
            finding,
            violated,
            stopped,
            due,
            ends,
            sent,
            received,
            initial,
            reduction,
            escapes,
        })
    }

    /// The sums of all machines, or what does not add up.
    fn sum(all: &[Tidings]) -> Result<Tidings, String> {
        let first = all.first().ok_or("nobody said anything")?;
        let mut sum = Tidings { depth: first.depth, initial: first.initial, ..Tidings::default() };
        for (rank, one) in all.iter().enumerate() {
            if one.depth != first.depth {
                return Err(format!(
                    "machine {rank} is at level {}, the first at {}",
                    one.depth, first.depth
                ));
            }
            sum.frontier += one.frontier;
            sum.states += one.states;
            sum.finding |= one.finding;
            sum.violated |= one.violated;
            sum.stopped |= one.stopped;
            sum.due |= one.due;
            sum.ends = sum.ends.max(one.ends);
            sum.escapes += one.escapes;
            sum.reduction.iter_mut().zip(one.reduction).for_each(|(sum, more)| *sum += more);
        }
        if sum.stopped {
            return Ok(sum);
        }
        for (rank, one) in all.iter().enumerate() {
            if one.initial != first.initial {
                return Err(format!("machine {rank} computed other initial states than the first"));
            }
            for (to, other) in all.iter().enumerate() {
                let (sent, received) = (one.sent[to], other.received[rank]);
                if sent != received {
                    let who = format!("machine {rank} to machine {to}");
                    return Err(format!("states sent from {who}: {sent} against {received} received"));
                }
            }
        }
        Ok(sum)
    }
}

impl<S: System> Shared<'_, S> {
    /// Ends a level together with all machines: says what this machine has, and adopts what all of them have. `None`
    /// if the search is over.
    pub(super) fn end_level(&self, together: &Together<'_>, depth: u32, frontier: u64) -> Option<Tidings> {
        let counts = |list: &[AtomicU64]| list.iter().map(|n| n.load(Ordering::Relaxed)).collect();
        let sleeps = cfg!(test) && frontier == 0 && together.peers.makes(Mutant::Sleeper);
        let mine = Tidings {
            depth: depth + u32::from(sleeps),
            frontier,
            states: self.states.sum(),
            finding: self.any_finding.load(Ordering::Relaxed),
            violated: self.violated.load(Ordering::Relaxed),
            stopped: self.queues.is_stopped() || self.is_called_off(together),
            due: together.is_first() && self.is_saving_due(),
            ends: self.ending.lock().map(|(reason, _)| reason),
            sent: counts(&together.sent),
            received: counts(&together.received),
            initial: *self.initial.lock(),
            reduction: self.reduction.as_ref().map_or([0; 2], Common::tally),
            escapes: self.system.escapes(),
        };
        let machines = together.sent.len();
        let said = mine.write().expect("memory takes everything");
        let heard = together.agree(said)?;
        let all: io::Result<Vec<Tidings>> =
            heard.iter().map(|bytes| Tidings::read(bytes, machines)).collect();
        if let Ok(all) = &all {
            self.show_progress(all, mine.states);
        }
        let sum = all.map_err(|e| e.to_string()).and_then(|all| Tidings::sum(&all));
        match sum {
            Ok(mut sum) => {
                self.any_finding.store(sum.finding, Ordering::Relaxed);
                self.violated.store(sum.violated, Ordering::Relaxed);
                together.escapes.store(sum.escapes, Ordering::Relaxed);
                let limit = self.budget.max_states.filter(|limit| sum.states >= *limit).map(Reason::States);
                if let Some(limit) = limit.filter(|_| !sum.stopped && sum.frontier > 0) {
                    if self.options.keeper.is_none() {
                        self.ledger.enter_once(limit);
                        sum.stopped = true;
                    }
                    sum.ends = sum.ends.max(Some(limit));
                }
                if sum.stopped {
                    self.queues.mark_stopped();
                }
                (!sum.stopped).then_some(sum)
            }
            Err(what) => {
                self.panic.lock().get_or_insert(format!("the machines do not agree: {what}"));
                None
            }
        }
    }

    /// The stage after `stage`, as all machines decide it from the sums of all.
    pub(super) fn next_stage_together(
        &self,
        together: &Together<'_>,
        stage: Stage,
        frontier: u64,
    ) -> Option<Stage> {
        let sums = self.end_level(together, stage.depth, frontier);
        if let (Some(reduction), Some(sums)) = (&self.reduction, &sums) {
            reduction.weigh(sums.reduction);
        }
        let sums = sums.filter(|sums| {
            self.beyond.store(sums.frontier > 0, Ordering::Relaxed);
            let goes_on = self.keeps_searching() && sums.frontier > 0;
            goes_on && !self.pauses(stage, sums.states, sums.escapes)
        });
        let Some(sums) = sums else {
            together.over.store(true, Ordering::Relaxed);
            return None;
        };
        if sums.due || sums.ends.is_some() {
            *together.ending.lock() = sums.ends;
            self.queues.pause_between_levels();
        }
        together.starts.lock().push(self.visited.bound());
        together.sending.store(self.workers, Ordering::Relaxed);
        Some(self.stage_after(stage, frontier))
    }

    /// Whether some machine asked all to end. A second search, for a path, goes on: what was found is shown.
    pub(super) fn is_called_off(&self, together: &Together<'_>) -> bool {
        self.again.is_none() && together.peers.is_called_off()
    }

    /// Figures of all machines, for whoever shows progress.
    fn show_progress(&self, all: &[Tidings], mine: u64) {
        let states = || all.iter().map(|one| one.states);
        let sent = all.iter().flat_map(|one| &one.sent).sum();
        self.progress.machines.store(all.len() as u32, Ordering::Relaxed);
        self.progress.elsewhere.store(states().sum::<u64>().saturating_sub(mine), Ordering::Relaxed);
        self.progress.largest.store(states().max().unwrap_or(0), Ordering::Relaxed);
        self.progress.sent.store(sent, Ordering::Relaxed);
    }

    /// The end of the initial states: whether the search goes on.
    pub(super) fn begin_together(&self, together: &Together<'_>) -> bool {
        *together.starts.lock() = vec![0, self.visited.bound()];
        together.sending.store(self.workers, Ordering::Relaxed);
        let sums = self.end_level(together, 0, self.states.sum());
        let goes_on = sums.is_some_and(|sums| sums.frontier > 0 && self.keeps_searching());
        together.over.store(!goes_on, Ordering::Relaxed);
        goes_on
    }

    /// Why the search ends now that it is saved, if it does.
    pub(super) fn ends_after_saving(&self) -> Option<Reason> {
        match &self.together {
            Some(together) => *together.ending.lock(),
            None => self.ending.lock().map(|(reason, _)| reason),
        }
    }

    fn is_saving_due(&self) -> bool {
        let keeper = self.options.keeper.as_ref();
        keeper.is_some_and(|keeper| keeper.wants_end() || keeper.is_due(self.budget.elapsed()))
    }

    /// Ends the search of a machine that stopped inside a level: takes what is still sent to it, so that nobody waits,
    /// and tells the others.
    pub(super) fn leave_level(&self, together: &Together<'_>) {
        together.peers.call_off();
        together.peers.end_round();
        while !together.peers.is_round_over() {
            if together.peers.arrived().is_none() {
                together.peers.rest();
            }
        }
        self.queues.mark_stopped();
        let depth = self.queues.stage().depth;
        self.end_level(together, depth, 0);
        together.over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tidings(sent: [u64; 2], received: [u64; 2]) -> Tidings {
        Tidings {
            depth: 3,
            frontier: 5,
            states: 9,
            sent: sent.into(),
            received: received.into(),
            ..Tidings::default()
        }
    }

    #[test]
    fn what_is_said_is_heard() {
        let said = Tidings {
            ends: Some(Reason::States(7)),
            violated: 5,
            due: true,
            reduction: [8, 3],
            escapes: 6,
            ..tidings([0, 4], [2, 0])
        };
        assert_eq!(Tidings::read(&said.write().unwrap(), 2).unwrap(), said);
    }

    #[test]
    fn a_state_that_was_sent_and_not_received_is_noticed() {
        let right = [tidings([0, 4], [0, 2]), tidings([2, 0], [4, 0])];
        assert_eq!(Tidings::sum(&right).unwrap().frontier, 10);
        let wrong = [tidings([0, 4], [0, 2]), tidings([2, 0], [3, 0])];
        assert!(Tidings::sum(&wrong).unwrap_err().contains("4 against 3"));
    }

    #[test]
    fn machines_at_different_levels_do_not_agree() {
        let other = Tidings { depth: 4, ..tidings([0, 0], [0, 0]) };
        assert!(Tidings::sum(&[tidings([0, 0], [0, 0]), other]).is_err());
    }
}
