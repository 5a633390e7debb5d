//! One worker: takes a batch, expands its states, looks their successors up, checks the new ones.
//!
//! In: batches from `order`. Out: new batches, counts, findings, the log of edges.
//! Never here: the order of the search, the protocol of the visited set, verdicts.
//!
//! Edges are buffered until there are enough of them, then all their targets are hashed and asked
//! for ahead, then inserted: the memory behind the visited set answers while we work. No lock is
//! taken per state.

use super::batch::Batch;
use super::findings::{Findings, Place};
use super::ledger::Reason;
use super::order::{Lane, Order, Stage};
use super::{Coverage, Shared, Shares};
use crate::graph::Edge;
use crate::system::{EventId, Finding, FindingKind, NO_INITIAL_STATE, Sink, System};
use bombus_kernels::visited::{Key, Seat};
use bombus_kernels::{Trouble, hash};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Buffered edges at which their targets are looked up.
const FLUSH: usize = 192;

pub struct Worker<'a, S: System> {
    shared: &'a Shared<'a, S>,
    scratch: S::Worker,
    lane: Lane,
    core: Core<'a, S>,
    /// New states, to be put on a queue when they are enough.
    out: Option<Batch>,
    spare: Vec<Batch>,
}

/// What one worker counted.
#[derive(Default)]
pub struct Record {
    pub generated: u64,
    pub fresh: u64,
    pub known: u64,
    pub digested: u64,
    pub digest: u128,
    pub pushed: u64,
    pub popped: u64,
    pub transitions: u64,
    pub initial_edges: u64,
    pub deadlocks: u64,
    pub out_of_scope: u64,
    pub events: Vec<Coverage>,
    pub undefined_guards: Vec<u64>,
    pub findings: Findings,
    pub edges: Vec<Edge>,
    pub initial: Vec<u32>,
    pub shares: Shares,
}

/// The part of a worker that a system writes to while it computes.
struct Core<'a, S: System> {
    shared: &'a Shared<'a, S>,
    seat: Seat,
    record: Record,
    source: Source,
    pending: Pending,
    fresh: Fresh,
    notes: Notes,
    keys: Vec<Key>,
    trouble: Option<Trouble>,
    /// For each event the last source it was seen in.
    stamps: Vec<u64>,
    stamp: u64,
    mark: Duration,
}

/// The state whose successors are being computed.
#[derive(Clone, Copy, Default)]
struct Source {
    /// `None` while the initial states are computed.
    id: Option<u32>,
    print: u128,
    flawed: bool,
    edges: u64,
}

/// Edges whose targets have not been looked up.
#[derive(Default)]
struct Pending {
    sources: Vec<Source>,
    edges: Vec<PendingEdge>,
    targets: Vec<u64>,
}

#[derive(Clone, Copy)]
struct PendingEdge {
    /// Where its source stands among `Pending::sources`.
    source: u32,
    event: EventId,
    label: u64,
}

/// States that were put into the visited set and not yet checked.
#[derive(Default)]
struct Fresh {
    ids: Vec<u32>,
    changed_by: Vec<Option<EventId>>,
    states: Vec<u64>,
}

/// What a system said about one state, beside its edges.
#[derive(Default)]
struct Notes {
    findings: Vec<Finding>,
    incomplete: Vec<u32>,
    undefined: Vec<EventId>,
}

impl Notes {
    fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.incomplete.is_empty() && self.undefined.is_empty()
    }

    fn clear(&mut self) {
        self.findings.clear();
        self.incomplete.clear();
        self.undefined.clear();
    }
}

impl Sink for Notes {
    fn edge(&mut self, _: EventId, _: u64, _: &[u64]) {
        panic!("a check emitted a transition");
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.incomplete.push(reason);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.undefined.push(event);
    }
}

impl<S: System> Sink for Core<'_, S> {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        assert_eq!(target.len(), self.shared.words, "a state of the wrong length");
        self.source.edges += 1;
        self.record.generated += 1;
        if self.source.id.is_some() {
            let coverage = &mut self.record.events[event.0 as usize];
            coverage.transitions += 1;
            if self.stamps[event.0 as usize] != self.stamp {
                self.stamps[event.0 as usize] = self.stamp;
                coverage.states += 1;
            }
            self.record.transitions += 1;
        } else {
            self.record.initial_edges += 1;
        }
        if self.pending.sources.is_empty() || self.source.edges == 1 {
            self.pending.sources.push(self.source);
        }
        let source = self.pending.sources.len() as u32 - 1;
        self.pending.edges.push(PendingEdge { source, event, label });
        self.pending.targets.extend_from_slice(target);
        if self.pending.edges.len() >= 2 * FLUSH {
            self.flush();
        }
    }

    fn finding(&mut self, finding: Finding) {
        self.notes.finding(finding);
    }

    fn incomplete(&mut self, reason: u32) {
        self.notes.incomplete(reason);
    }

    fn undefined_guard(&mut self, event: EventId) {
        self.notes.undefined_guard(event);
    }
}

impl<S: System> Core<'_, S> {
    /// Looks up the targets of all buffered edges.
    fn flush(&mut self) {
        let lap = self.lap();
        self.record.shares.evaluate += lap;
        let fresh_before = self.record.fresh;
        if let Err(trouble) = self.look_up() {
            self.trouble = Some(trouble);
        }
        self.pending.sources.clear();
        self.pending.edges.clear();
        self.pending.targets.clear();
        let lap = self.lap();
        self.record.shares.insert += lap;
        let found = self.record.fresh - fresh_before;
        self.shared.states.fetch_add(found, Ordering::Relaxed);
        self.shared.progress.states.fetch_add(found, Ordering::Relaxed);
    }

    fn look_up(&mut self) -> Result<(), Trouble> {
        if self.pending.edges.is_empty() || self.trouble.is_some() {
            return Ok(());
        }
        if self.shared.options.record_edges {
            self.make_room_in_log()?;
        }
        let words = self.shared.words;
        let visited = &self.shared.visited;
        let level = self.seat.level;
        let target = |i: usize| &self.pending.targets[i * words..(i + 1) * words];
        let mut session = visited.enter(&mut self.seat)?;
        self.keys.clear();
        for i in 0..self.pending.edges.len() {
            let key = session.key(target(i))?;
            session.prefetch(key);
            self.keys.push(key);
        }
        for (i, key) in self.keys.iter().enumerate() {
            let entry = session.insert(*key)?;
            let PendingEdge { source, event, label } = self.pending.edges[i];
            let source = self.pending.sources[source as usize];
            if entry.fresh {
                self.record.fresh += 1;
                self.fresh.ids.push(entry.id);
                self.fresh.changed_by.push((source.id.is_some() && !source.flawed).then_some(event));
                self.fresh.states.extend_from_slice(target(i));
            } else {
                self.record.known += 1;
            }
            let Some(parent) = source.id else {
                self.record.initial.push(entry.id);
                continue;
            };
            match level {
                Some(level) => visited.parents.claim(level, entry.id, parent, source.print),
                None if entry.fresh => visited.parents.set(entry.id, parent),
                None => {}
            }
            if self.shared.options.record_edges {
                self.record.edges.push(Edge { source: parent, target: entry.id, event, label });
            }
        }
        Ok(())
    }

    /// Makes sure that all pending edges can be logged.
    fn make_room_in_log(&mut self) -> Result<(), Trouble> {
        let edges = &mut self.record.edges;
        if edges.len() + self.pending.edges.len() > edges.capacity() {
            let more = (edges.len() / 2).max(4 * FLUSH);
            self.shared.meter.claim((more * size_of::<Edge>()) as u64)?;
            edges.try_reserve_exact(more).map_err(|_| Trouble::OutOfMemory)?;
        }
        Ok(())
    }

    /// Time since the last lap.
    fn lap(&mut self) -> Duration {
        let now = self.shared.budget.elapsed();
        let lap = now.saturating_sub(self.mark);
        self.mark = now;
        lap
    }
}

impl<'a, S: System> Worker<'a, S> {
    pub fn new(shared: &'a Shared<'a, S>, index: usize, lane: Lane) -> Self {
        let events = shared.system.event_names().len();
        Worker {
            shared,
            scratch: shared.system.worker(),
            lane,
            core: Core {
                shared,
                seat: shared.visited.seat(index),
                record: Record {
                    events: vec![Coverage::default(); events],
                    undefined_guards: vec![0; events],
                    ..Record::default()
                },
                source: Source::default(),
                pending: Pending::default(),
                fresh: Fresh::default(),
                notes: Notes::default(),
                keys: Vec::new(),
                trouble: None,
                stamps: vec![0; events],
                stamp: 0,
                mark: shared.budget.elapsed(),
            },
            out: None,
            spare: Vec::new(),
        }
    }

    /// Computes and checks the initial states; done by one worker before the others start.
    pub fn begin(&mut self) {
        self.core.source = Source::default();
        self.shared.system.initial(&mut self.scratch, &mut self.core);
        let nothing = self.core.source.edges == 0 && self.core.notes.findings.is_empty();
        if nothing && self.core.notes.incomplete.is_empty() {
            let kind = FindingKind::Properties;
            self.core.notes.finding(Finding { kind, property: NO_INITIAL_STATE, event: None });
        }
        let place = Place { depth: 0, print: 0, state: None };
        self.file_notes(&place, None);
        self.core.flush();
        self.admit(0);
        if let Some(batch) = self.out.take() {
            self.shared.queues.put_first(&mut self.lane, batch);
        }
        self.deal_with_trouble();
        self.shared.visited.give_back(&mut self.core.seat);
    }

    /// Works until the search is over.
    pub fn run(&mut self) {
        self.enter_stage();
        self.core.lap();
        while !self.shared.queues.is_stopped() {
            match self.next_batch() {
                Some(batch) => {
                    let lap = self.core.lap();
                    self.core.record.shares.steal += lap;
                    self.expand(batch);
                }
                None => {
                    if let Some(batch) = self.out.take() {
                        self.shared.queues.put(&mut self.lane, batch);
                    }
                    self.shared.visited.give_back(&mut self.core.seat);
                    let lap = self.core.lap();
                    self.core.record.shares.steal += lap;
                    let shared = self.shared;
                    let go_on = shared.queues.wait(&mut self.lane, |stage, n| shared.next_stage(stage, n));
                    let lap = self.core.lap();
                    self.core.record.shares.idle += lap;
                    if !go_on {
                        break;
                    }
                    self.enter_stage();
                }
            }
        }
        self.shared.visited.give_back(&mut self.core.seat);
    }

    pub fn finish(self) -> Record {
        self.shared.visited.rise(self.core.seat);
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

    fn expand(&mut self, batch: Batch) {
        let shared = self.shared;
        if let Err(stop) = shared.budget.check() {
            shared.stop_for(stop.into());
        }
        let depth = self.lane.stage.depth;
        for i in 0..batch.len() {
            if shared.queues.is_stopped() {
                // What is in the visited set belongs to the digest, even now.
                self.admit(depth + 1);
                return;
            }
            if let (Order::Bfs, Some(before)) = (shared.options.order, self.lane.stage.before) {
                shared.visited.parents.settle(before, batch.id(i));
            }
            self.expand_state(batch.id(i), batch.state(i), batch.is_flawed(i), depth);
            if self.core.pending.edges.len() >= FLUSH {
                self.core.flush();
                self.admit(depth + 1);
            }
        }
        self.core.flush();
        self.admit(depth + 1);
        if self.core.trouble.is_none() {
            self.core.record.popped += batch.len() as u64;
            shared.queues.tally.finished(self.core.seat.worker(), batch.len() as u64);
        }
        if shared.queues.is_anyone_idle()
            && let Some(out) = self.out.take()
        {
            shared.queues.put(&mut self.lane, out);
        }
        shared.progress.expanded.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.deal_with_trouble();
        if self.spare.len() < 4 {
            let mut batch = batch;
            batch.clear();
            self.spare.push(batch);
        }
    }

    fn expand_state(&mut self, id: u32, state: &[u64], flawed: bool, depth: u32) {
        let shared = self.shared;
        if !shared.system.in_scope(&mut self.scratch, state) {
            self.core.record.out_of_scope += 1;
            return;
        }
        let print = match shared.options.order {
            Order::Bfs => self.print(state),
            // Only claims of levels need it here.
            Order::Dfs | Order::Mixed => 0,
        };
        self.core.stamp += 1;
        self.core.source = Source { id: Some(id), print, flawed, edges: 0 };
        shared.system.successors(&mut self.scratch, state, &mut self.core);
        let core = &mut self.core;
        // A state whose successors could not all be computed is not known to be stuck.
        let stuck =
            core.source.edges == 0 && core.notes.findings.is_empty() && core.notes.incomplete.is_empty();
        if stuck {
            core.record.deadlocks += 1;
            if shared.options.check_deadlock {
                core.notes.finding(Finding { kind: FindingKind::Deadlock, property: 0, event: None });
            }
        }
        if !core.notes.is_empty() {
            let print = self.print(state);
            let depth = if shared.options.order == Order::Bfs { depth } else { 0 };
            self.file_notes(&Place { depth, print, state: Some(state.to_vec()) }, Some(id));
        }
    }

    /// Checks the states that are new and hands them to the queue.
    fn admit(&mut self, depth: u32) {
        let shared = self.shared;
        let fresh = std::mem::take(&mut self.core.fresh);
        shared.queues.tally.created(self.core.seat.worker(), fresh.ids.len() as u64);
        for (i, &id) in fresh.ids.iter().enumerate() {
            let state = &fresh.states[i * shared.words..(i + 1) * shared.words];
            let print = self.print(state);
            self.core.record.digest = self.core.record.digest.wrapping_add(print);
            self.core.record.digested += 1;
            shared.system.check(&mut self.scratch, state, fresh.changed_by[i], &mut self.core.notes);
            let flawed = !self.core.notes.findings.is_empty() || !self.core.notes.incomplete.is_empty();
            if !self.core.notes.is_empty() {
                let depth = if shared.options.order == Order::Bfs { depth } else { 0 };
                self.file_notes(&Place { depth, print, state: Some(state.to_vec()) }, Some(id));
            }
            self.push(id, state, flawed, depth);
        }
        // The buffers go back, so that nothing is allocated per batch.
        self.core.fresh = fresh;
        self.core.fresh.ids.clear();
        self.core.fresh.changed_by.clear();
        self.core.fresh.states.clear();
    }

    fn push(&mut self, id: u32, state: &[u64], flawed: bool, depth: u32) {
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
                Ok(batch) => self.out = Some(batch),
                Err(trouble) => self.core.trouble = Some(trouble),
            }
        }
        if let Some(out) = &mut self.out {
            out.push(id, state, flawed);
            self.core.record.pushed += 1;
        }
    }

    /// The fingerprint that stands for a state in every run.
    fn print(&mut self, state: &[u64]) -> u128 {
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
            core.shared.found(core.notes.findings.len() as u64);
        }
        core.notes.clear();
    }

    fn deal_with_trouble(&mut self) {
        let shared = self.shared;
        match self.core.trouble {
            None => {}
            Some(Trouble::OutOfMemory) => shared.stop_for(Reason::Memory),
            Some(Trouble::OutOfIds) => shared.stop_for(Reason::Ids),
            // Whoever failed has said why.
            Some(Trouble::Aborted) => shared.queues.stop(),
        }
        if let Some(limit) = shared.budget.max_states
            && shared.states.load(Ordering::Relaxed) >= limit
        {
            shared.reached_state_limit(limit);
        }
    }
}
