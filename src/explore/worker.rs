//! One worker: takes a batch, expands its states, looks their successors up, checks the new ones.
//!
//! In: batches from `order`. Out: new batches, counts, findings, the log of edges.
//! Never here: the order of the search, the protocol of the visited set, verdicts.
//!
//! No lock is taken per state.

use super::Shared;
use super::batch::{Batch, Marks};
use super::findings::Place;
use super::ledger::Reason;
use super::order::{Lane, Order, Stage};
use super::reduce::por::Reducer;
use super::sink::{Core, FLUSH, Record, Source};
use super::trail::Trail;
use bombus_kernels::faults::fault;
use bombus_kernels::{Trouble, hash};
use bombus_system::{Finding, FindingKind, NO_INITIAL_STATE, Sink, System};

/// On cache lines of its own: workers stand side by side, and each is written all the time.
#[repr(align(128))]
pub struct Worker<'a, S: System> {
    pub(super) shared: &'a Shared<'a, S>,
    pub(super) scratch: S::Worker,
    pub(super) lane: Lane,
    pub(super) core: Core<'a, S>,
    /// In a search with partial order reduction.
    pub(super) reducer: Option<Reducer<'a>>,
    /// What it expanded, where there are no predecessors.
    trail: Trail,
    /// New states, to be put on a queue when they are enough.
    out: Option<Batch>,
    spare: Vec<Batch>,
}

impl<'a, S: System> Worker<'a, S> {
    pub fn new(shared: &'a Shared<'a, S>, index: usize, lane: Lane) -> Self {
        Worker {
            shared,
            scratch: match shared.again {
                Some(_) => shared.system.replay_worker(),
                None => shared.system.worker(),
            },
            lane,
            core: Core::new(shared, index),
            reducer: shared.reduction.as_ref().map(Reducer::new),
            trail: Trail::new(shared.kept_by_worker(), &shared.meter),
            out: None,
            spare: Vec::new(),
        }
    }

    /// Computes and checks the initial states; done by one worker before the others start.
    pub fn begin(&mut self) {
        self.core.source = Source::default();
        self.shared.system.initial(&mut self.scratch, &mut self.core);
        self.core.end_edges();
        let notes = &self.core.notes;
        self.core.record.initial_missing = !notes.findings.is_empty() || !notes.incomplete.is_empty();
        let nothing = self.core.source.edges == 0 && self.core.notes.findings.is_empty();
        if nothing && self.core.notes.incomplete.is_empty() {
            let kind = FindingKind::Properties;
            self.core.notes.finding(Finding { kind, property: NO_INITIAL_STATE, event: None });
        }
        let place = Place { depth: 0, print: 0, state: None };
        if self.shared.answers_for_initial() {
            self.file_notes(&place, None);
        } else {
            // The first machine computes the same and answers for it.
            self.core.notes.clear();
            self.core.record.generated -= self.core.record.initial_edges;
            self.core.record.initial_edges = 0;
        }
        self.core.flush();
        *self.shared.initial.lock() = self.initial_sum();
        self.admit(0);
        if let Some(batch) = self.out.take() {
            self.shared.queues.put_first(&mut self.lane, batch);
        }
        self.core.record.initial_missing |= self.core.trouble.is_some() || self.shared.queues.is_stopped();
        self.deal_with_trouble();
        self.core.report_progress();
        self.shared.visited.give_back(&mut self.core.seat);
    }

    /// Works until the search is over.
    pub fn run(&mut self) {
        self.enter_stage();
        self.core.lap();
        while !self.shared.queues.is_stopped() && !self.shared.queues.is_paused() {
            match self.next_batch() {
                Some(batch) => {
                    self.core.lap_between();
                    self.expand(batch);
                }
                None => {
                    self.end_round();
                    if let Some(batch) = self.out.take() {
                        self.shared.queues.put(&mut self.lane, batch);
                    }
                    self.shared.visited.give_back(&mut self.core.seat);
                    self.hand_in();
                    self.core.report_progress();
                    let shared = self.shared;
                    // Who is alone does not wait.
                    let alone = shared.workers == 1;
                    if !alone {
                        self.core.lap_between();
                    }
                    let go_on = shared.queues.wait(&mut self.lane, |stage, n| shared.next_stage(stage, n));
                    if !alone {
                        let lap = self.core.lap();
                        self.core.record.shares.idle += lap;
                    }
                    if !go_on {
                        break;
                    }
                    self.enter_stage();
                }
            }
        }
        if self.shared.queues.is_paused()
            && let Some(batch) = self.out.take()
        {
            self.shared.queues.put(&mut self.lane, batch);
        }
        self.core.report_progress();
        self.core.end_coverage();
        self.shared.visited.give_back(&mut self.core.seat);
    }

    /// Gives what the reduction gathered in a level to the others.
    pub(super) fn hand_in(&mut self) {
        if let Some(reducer) = &mut self.reducer
            && !reducer.hand_in(&mut self.core.watched, &self.shared.meter)
        {
            self.shared.stop_for(Reason::Memory);
        }
    }

    pub fn finish(mut self) -> Record {
        self.core.end_coverage();
        self.core.record.left = self.lane.clear() + self.out.take().map_or(0, |batch| batch.len() as u64);
        self.shared.visited.rise(self.core.seat);
        self.core.record.trail = Some(self.trail);
        self.core.record.por = self.reducer.map(|reducer| reducer.figures).unwrap_or_default();
        self.core.record
    }

    /// Goes to the stage at which all workers start.
    pub fn follow(&mut self, stage: Stage) {
        self.lane.follow(stage);
    }

    fn enter_stage(&mut self) {
        let stage = self.lane.stage;
        let levels = self.shared.options.order == Order::Bfs;
        self.core.seat.level = levels.then_some(stage.level);
        self.core.level_filled = stage.depth + 1;
        self.core.seat.block = if levels { stage.block } else { 64 };
    }

    fn next_batch(&mut self) -> Option<Batch> {
        let queues = &self.shared.queues;
        let newest = match self.shared.options.order {
            Order::Bfs => false,
            Order::Dfs => true,
            Order::Mixed => self.lane.toss(),
        };
        if newest && let Some(batch) = self.out.take() {
            return Some(batch);
        }
        let taken = queues.take(&mut self.lane);
        match self.shared.options.order {
            Order::Bfs => taken,
            Order::Dfs | Order::Mixed => taken.or_else(|| self.out.take()),
        }
    }

    pub(super) fn expand(&mut self, batch: Batch) {
        let shared = self.shared;
        shared.watch();
        let depth = self.lane.stage.depth;
        self.take_in();
        self.trail.keep(depth, batch.all_words());
        shared.system.foresee(&mut self.scratch, batch.all_words());
        for i in 0..batch.len() {
            if shared.queues.is_stopped() {
                // What is in the visited set belongs to the digest, even now.
                self.admit(depth + 1);
                return;
            }
            if let (Order::Bfs, Some(before)) = (shared.options.order, self.lane.stage.before) {
                shared.visited.settle(before, batch.id(i));
            }
            self.expand_state(&batch, i, depth);
            if self.core.pending.edges.len() >= FLUSH {
                self.core.flush();
                self.admit(depth + 1);
                if self.core.has_waiting_packets() {
                    self.deliver();
                }
            }
        }
        self.core.flush();
        self.admit(depth + 1);
        if self.core.trouble.is_none() {
            if !batch.again {
                self.core.record.popped += batch.len() as u64;
            }
            shared.queues.tally.finished(self.core.seat.worker(), batch.len() as u64);
        }
        if shared.queues.is_anyone_idle()
            && let Some(out) = self.out.take()
        {
            shared.queues.put(&mut self.lane, out);
        }
        self.core.unreported.expanded += batch.len() as u64;
        self.deal_with_trouble();
        if self.spare.len() < 4 {
            let mut batch = batch;
            batch.clear();
            self.spare.push(batch);
        }
    }

    fn expand_state(&mut self, batch: &Batch, at: usize, depth: u32) {
        let shared = self.shared;
        let (id, print, state) = (batch.id(at), batch.print(at), batch.state(at));
        if !shared.system.in_scope(&mut self.scratch, state, &mut self.core) {
            self.core.record.out_of_scope += 1;
            return;
        }
        self.core.stamp += 1;
        self.core.source = Source { id: Some(id), print, marks: batch.marks(at), edges: 0 };
        if self.core.compares {
            self.core.source_state.clear();
            self.core.source_state.extend_from_slice(state);
        }
        let edges = if self.reducer.as_ref().is_some_and(|r| r.looks_at(batch.again)) {
            self.expand_reduced(state, batch.again)
        } else {
            shared.system.successors(&mut self.scratch, state, &mut self.core);
            self.core.source.edges as usize
        };
        let core = &mut self.core;
        core.end_edges();
        // A state whose successors could not all be computed is not known to be stuck.
        let faultless = core.notes.findings.is_empty() && core.notes.incomplete.is_empty();
        if !batch.again {
            core.record.faulty += u64::from(!faultless);
            if faultless && shared.options.record_edges {
                core.settling.push(id);
            }
        }
        if edges == 0 && faultless && !shared.system.terminated(&mut self.scratch, state) {
            core.record.deadlocks += 1;
            if shared.options.check_deadlock {
                core.notes.finding(Finding { kind: FindingKind::Deadlock, property: 0, event: None });
            }
        }
        if !core.notes.is_empty() {
            let depth = if shared.options.order == Order::Bfs { depth } else { 0 };
            self.file_notes(&Place { depth, print, state: Some(state.to_vec()) }, Some(id));
        }
    }

    /// Checks the states that are new and hands them to the queue.
    pub(super) fn admit(&mut self, depth: u32) {
        let shared = self.shared;
        let fresh = std::mem::take(&mut self.core.fresh);
        shared.queues.tally.created(self.core.seat.worker(), fresh.ids.len() as u64);
        let mut loose = fresh.loose.iter().peekable();
        for (i, &id) in fresh.ids.iter().enumerate() {
            let state = &fresh.states[i * shared.words..(i + 1) * shared.words];
            let print = fresh.prints.get(i).copied().unwrap_or_else(|| self.print(state));
            self.core.record.digest = self.core.record.digest.wrapping_add(print);
            self.core.record.digested += 1;
            shared.name(id, print);
            let missed = fault("table: the first new state of a batch is not checked") && i == 0;
            if shared.again.is_none() && !missed {
                shared.system.check(&mut self.scratch, state, fresh.changed_by[i], &mut self.core.notes);
            }
            let flawed = !self.core.notes.findings.is_empty() || !self.core.notes.incomplete.is_empty();
            if !self.core.notes.is_empty() {
                let depth = if shared.options.order == Order::Bfs { depth } else { 0 };
                self.file_notes(&Place { depth, print, state: Some(state.to_vec()) }, Some(id));
            }
            let loose = loose.next_if(|at| **at == i).is_some();
            self.push(id, print, state, Marks { flawed, loose }, depth);
        }
        // The buffers go back, so that nothing is allocated per batch.
        self.core.fresh = fresh;
        self.core.fresh.ids.clear();
        self.core.fresh.changed_by.clear();
        self.core.fresh.states.clear();
        self.core.fresh.prints.clear();
        self.core.fresh.loose.clear();
    }

    /// Digests and checks a new state that stays where it is, on disk.
    pub(super) fn admit_from_disk(&mut self, state: &[u64], depth: u32) {
        let print = self.print(state);
        self.core.record.digest = self.core.record.digest.wrapping_add(print);
        self.core.record.digested += 1;
        self.core.record.pushed += 1;
        self.shared.system.check(&mut self.scratch, state, None, &mut self.core.notes);
        if !self.core.notes.is_empty() {
            self.file_notes(&Place { depth, print, state: Some(state.to_vec()) }, Some(0));
        }
    }

    fn push(&mut self, id: u32, print: u128, state: &[u64], marks: Marks, depth: u32) {
        let shared = self.shared;
        if self.out.as_ref().is_some_and(Batch::is_full)
            && let Some(full) = self.out.take()
        {
            match depth {
                0 => shared.queues.put_first(&mut self.lane, full),
                _ => shared.queues.put(&mut self.lane, full),
            }
        }
        if self.out.is_none() {
            match self.spare.pop().map_or_else(|| Batch::new(shared.words, &shared.meter), Ok) {
                Ok(mut batch) => {
                    batch.ask();
                    self.out = Some(batch);
                }
                Err(trouble) => self.core.trouble = Some(trouble),
            }
        }
        if let Some(out) = &mut self.out {
            out.push(id, print, state, marks);
            self.core.record.pushed += 1;
        }
    }

    /// The fingerprint that stands for a state in every run.
    pub(super) fn print(&mut self, state: &[u64]) -> u128 {
        self.shared.system.fingerprint(&mut self.scratch, state).unwrap_or_else(|| hash::words(state))
    }

    /// Enters what the system noted about the state at `place`.
    fn file_notes(&mut self, place: &Place, id: Option<u32>) {
        let core = &mut self.core;
        for event in core.notes.undefined.drain(..) {
            core.record.undefined_guards[event.0 as usize] += 1;
        }
        for reason in core.notes.incomplete.drain(..) {
            core.shared.ledger.enter(Reason::System(reason), 1);
        }
        if !core.notes.findings.is_empty() {
            core.record.findings.enter(place, id, &core.notes.findings);
            core.shared.found(&core.notes.findings);
        }
        core.notes.clear();
    }

    pub(super) fn deal_with_trouble(&mut self) {
        let shared = self.shared;
        match self.core.trouble {
            None => {}
            Some(Trouble::OutOfMemory) => shared.stop_for(Reason::Memory),
            Some(Trouble::OutOfIds) => shared.stop_for(Reason::Ids),
            // Whoever failed has said why.
            Some(Trouble::Aborted) => shared.queues.stop(),
        }
    }
}
