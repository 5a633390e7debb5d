//! A breadth-first search whose states are on disk.
//!
//! In: a system, options with a folder, a budget. Out: the outcome that the same search in memory has: counts, coverage, findings,
//! digest, depth and traces are equal.
//! Never here: orbits, reductions, the log of edges, other machines: all of them need states at hand.
//!
//! Each level is read from disk twice: once to check its states, so that a finding ends the search after its level as in memory, and
//! once to expand them. Where the successors lead is found out when the level is over (`archive`). A path is found
//! backwards, by expanding the levels once more: of all states of a level that lead to the next state of the path, the one with the
//! smallest fingerprint is taken, as in memory.

mod archive;
mod path;
mod runs;

use super::batch::{Batch, Marks};
use super::conclusion::conclude;
use super::ledger::Reason;
use super::order::Stage;
use super::sink::Core;
use super::worker::Worker;
use super::{InternalError, Options, Outcome, Shared, finish, on_threads, prepare, second, workers};
use archive::{Archive, Gathered};
use bombus_base::budget::Budget;
use bombus_system::System;
use parking_lot::Mutex;
pub(super) use path::paths;
use runs::{Reader, Run};
use std::io;
use std::sync::atomic::Ordering;

/// Bytes of targets that all workers keep in memory, if nothing limits them.
const GATHERED: u64 = 512 << 20;

/// States that a worker takes at a time.
const TAKEN: usize = 256;

/// The files of a search, and the level that is being read.
pub(super) struct Disk {
    archive: Mutex<Archive>,
    reading: Mutex<Option<Reader>>,
    /// Bytes that one worker may gather.
    share: u64,
}

impl Disk {
    pub fn new<S: System>(system: &S, options: &Options, budget: &Budget) -> io::Result<Option<Disk>> {
        let Some(dir) = &options.disk else { return Ok(None) };
        let workers = options.workers.max(1) as u64;
        let all = budget.max_memory.map_or(GATHERED, |limit| (limit / 8).min(GATHERED));
        Ok(Some(Disk {
            archive: Mutex::new(Archive::new(dir, system.words())?),
            reading: Mutex::new(None),
            share: all / workers,
        }))
    }

    pub fn count(&self) -> io::Result<u64> {
        self.archive.lock().count()
    }

    pub fn bytes(&self) -> u64 {
        self.archive.lock().bytes()
    }

    /// Opens a level for all workers.
    fn open(&self, run: &Run) -> io::Result<()> {
        *self.reading.lock() = Some(run.read()?);
        Ok(())
    }

    /// Some more states of the level.
    fn take(&self, states: &mut Vec<u64>) -> io::Result<()> {
        states.clear();
        let mut reading = self.reading.lock();
        let Some(reader) = reading.as_mut() else { return Ok(()) };
        for _ in 0..TAKEN {
            match reader.state() {
                Some(state) => states.extend_from_slice(state),
                None => break,
            }
            reader.advance()?;
        }
        Ok(())
    }
}

/// What one worker gathers in a search on disk.
#[derive(Default)]
pub(super) struct Gathering(Option<Gathered>);

/// Explores all states that `system` can reach, with its states on disk.
pub(super) fn explore<S: System>(
    system: &S,
    options: &Options,
    budget: &Budget,
) -> Result<Outcome, InternalError> {
    assert!(
        second::is_possible(options)
            && options.peers.is_none()
            && options.por.is_none()
            && system.orbits().is_none(),
        "a search on disk is breadth first, on one machine, visits every state and numbers none"
    );
    let events = system.event_names().len();
    let disk = match Disk::new(system, options, budget) {
        Ok(disk) => disk,
        Err(_) => return Ok(Outcome::nothing(Reason::Disk, events)),
    };
    let Some((mut shared, lanes)) = prepare(system, options, budget) else {
        return Ok(Outcome::nothing(Reason::Memory, events));
    };
    shared.disk = disk;
    let mut workers = workers(&shared, lanes);
    on_threads(&shared, &mut workers[..1], Worker::begin);
    let searched = search(&shared, &mut workers);
    if searched.is_err() {
        shared.stop_for(Reason::Disk);
    }
    let records = finish(workers);
    conclude(shared, records)
}

/// Level after level, until there is none or something ends the search.
fn search<'a, S: System>(shared: &'a Shared<'a, S>, workers: &mut [Worker<'a, S>]) -> io::Result<()> {
    let disk = shared.disk.as_ref().expect("a search on disk has files");
    let mut depth = 0;
    let mut level = next_level(shared, workers)?;
    while let Some(run) = level.take() {
        // The level of the states that are checked now is `depth`; before it was expanded to `depth - 1`.
        let stage = Stage { depth: depth - u32::from(depth > 0), ..Stage::default() };
        begin_pass(shared, workers, stage);
        shared.states.add(0, run.count);
        shared.progress.states.fetch_add(run.count, Ordering::Relaxed);
        shared.queues.tally.created(0, run.count);
        disk.open(&run)?;
        match depth {
            0 => on_threads(shared, &mut workers[..1], Worker::check_first),
            _ => on_threads(shared, workers, Worker::check_level),
        }
        shared.watch();
        let pauses = shared.options.pause_beyond.is_some_and(|most| shared.states.sum() > most);
        if run.count == 0 || !shared.keeps_searching() || pauses {
            shared.beyond.store(run.count > 0 && depth > 0, Ordering::Relaxed);
            break;
        }
        begin_pass(shared, workers, Stage { depth, ..Stage::default() });
        disk.open(&run)?;
        on_threads(shared, workers, Worker::expand_level);
        if shared.queues.is_stopped() {
            break;
        }
        level = next_level(shared, workers)?;
        depth += 1;
    }
    Ok(())
}

fn begin_pass<'a, S: System>(shared: &'a Shared<'a, S>, workers: &mut [Worker<'a, S>], stage: Stage) {
    shared.progress.depth.store(stage.depth, Ordering::Relaxed);
    shared.progress.bytes.store(shared.meter.used(), Ordering::Relaxed);
    shared.queues.begin(stage);
    workers.iter_mut().for_each(|worker| worker.follow(stage));
}

/// The states to which the pending edges of all workers lead and which are new; `None` if the search was stopped.
fn next_level<'a, S: System>(
    shared: &'a Shared<'a, S>,
    workers: &mut [Worker<'a, S>],
) -> io::Result<Option<Run>> {
    if shared.queues.is_stopped() {
        return Ok(None);
    }
    let disk = shared.disk.as_ref().expect("a search on disk has files");
    let mut all: Vec<Gathered> =
        workers.iter_mut().filter_map(|worker| worker.core.gathering.0.take()).collect();
    let sorted = disk.archive.lock().sort(&mut all, shared.budget)?;
    let Some(sorted) = sorted else {
        shared.watch();
        return Ok(None);
    };
    let record = &mut workers[0].core.record;
    record.fresh += sorted.new.count;
    record.known += sorted.known;
    Ok(Some(sorted.new))
}

impl<S: System> Core<'_, S> {
    /// Keeps the targets of all pending edges for the end of the level. False if they could not be kept.
    pub(super) fn gather(&mut self) -> bool {
        let Some(disk) = &self.shared.disk else { return true };
        let gathered = self.gathering.0.get_or_insert_with(|| disk.archive.lock().gathered(disk.share));
        let kept = gathered.take(&self.pending.targets).is_ok();
        if !kept {
            self.shared.stop_for(Reason::Disk);
        }
        kept
    }
}

impl<S: System> Worker<'_, S> {
    fn check_first(&mut self) {
        self.check_states(0);
        // Initial states are numbered so that they can be counted.
        self.core.record.initial.extend(0..self.core.record.digested as u32);
    }

    fn check_level(&mut self) {
        self.check_states(self.lane.stage.depth + 1);
    }

    /// Checks the states of a level that was found.
    fn check_states(&mut self, depth: u32) {
        let shared = self.shared;
        let disk = shared.disk.as_ref().expect("a search on disk has files");
        let mut states = Vec::new();
        loop {
            if disk.take(&mut states).is_err() {
                return shared.stop_for(Reason::Disk);
            }
            if states.is_empty() {
                return;
            }
            // What was found is digested and checked even when the search is stopped: it has been counted.
            for state in states.chunks_exact(shared.words) {
                self.admit_from_disk(state, depth);
            }
            shared.watch();
        }
    }

    /// Expands the states of a level.
    fn expand_level(&mut self) {
        let shared = self.shared;
        let disk = shared.disk.as_ref().expect("a search on disk has files");
        let mut states = Vec::new();
        self.core.lap();
        while !shared.queues.is_stopped() {
            if disk.take(&mut states).is_err() {
                return shared.stop_for(Reason::Disk);
            }
            if states.is_empty() {
                return self.core.report_progress();
            }
            for part in states.chunks(super::batch::BATCH * shared.words) {
                let Ok(mut batch) = Batch::new(shared.words, &shared.meter) else {
                    return shared.stop_for(Reason::Memory);
                };
                for state in part.chunks_exact(shared.words) {
                    batch.push(0, self.print(state), state, Marks::default());
                }
                self.core.lap_between();
                self.expand(batch);
            }
        }
    }
}
