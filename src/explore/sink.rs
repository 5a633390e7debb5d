//! What a system writes to: edges are buffered and looked up together, notes are kept for the worker.
//!
//! In: edges, findings and troubles of one state after the other, through `Sink`. Out: new states, claims
//! on parents, counts, the log of edges.
//! Never here: checks and queues.
//!
//! Edges are buffered until there are enough of them, then all their targets are hashed and asked
//! for ahead, then inserted: the memory behind the visited set answers while we work.

use super::batch::Marks;
use super::disk::Gathering;
use super::exchange::{ELSEWHERE, Exchange};
use super::findings::Findings;
use super::reduce::por::Figures;
use super::reduce::symmetry::Identities;
use super::trail::Trail;
use super::{Coverage, Shared, Shares};
use bombus_graph::{Crossing, Edge, Representatives};
use bombus_kernels::Trouble;
use bombus_kernels::faults::fault;
use bombus_kernels::packed::Aim;
use bombus_kernels::shim::Padded;
use bombus_kernels::visited::{Key, Seat};
use bombus_system::{EventId, Finding, Sink, System};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Buffered edges at which their targets are looked up.
pub(super) const FLUSH: usize = 192;

/// Edges below which their lookup is not timed apart from what came before: in a level of one state the clock
/// would take as long.
const TIMED: usize = 8;

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
    /// States that stood on the worker's queues in the end.
    pub left: u64,
    pub transitions: u64,
    pub initial_edges: u64,
    pub deadlocks: u64,
    pub out_of_scope: u64,
    /// States not all of whose transitions could be computed.
    pub faulty: u64,
    pub events: Vec<Coverage>,
    pub undefined_guards: Vec<u64>,
    pub findings: Findings,
    pub edges: Vec<Edge>,
    /// Edges to states of other machines; kept if edges are.
    pub crossing: Vec<Crossing>,
    /// States all of whose transitions are in `edges` and `crossing`; kept if edges are.
    pub expanded: Vec<u32>,
    /// The states that stand for their orbits; kept if edges are and the system has orbits.
    pub representatives: Representatives,
    pub initial: Vec<u32>,
    /// Some initial state could not be computed.
    pub initial_missing: bool,
    /// The states that were expanded, where there are no predecessors.
    pub(super) trail: Option<Trail>,
    pub shares: Shares,
    pub por: Figures,
    /// States that were taken for known ones on the ground of an approximate identity.
    pub confused: u64,
}

/// The part of a worker that a system writes to while it computes.
pub(super) struct Core<'a, S: System> {
    pub(super) shared: &'a Shared<'a, S>,
    pub(super) seat: Seat,
    pub(super) record: Record,
    pub(super) source: Source,
    /// The words of the source; empty while the initial states are computed, or if nobody asks.
    pub(super) source_state: Vec<u64>,
    pub(super) pending: Pending,
    pub(super) fresh: Fresh,
    pub(super) notes: Notes,
    pub(super) keys: Vec<Key>,
    /// States that were expanded without a fault since the last flush.
    pub(super) settling: Vec<u32>,
    /// Whether targets are looked up by what tells them from their sources.
    pub(super) compares: bool,
    /// The other machines, if there are any, and the level that is being filled.
    pub(super) exchange: Option<Exchange<'a, S>>,
    pub(super) level_filled: u32,
    /// Identities of the pending targets, if the system has orbits.
    pub(super) orbits: Option<Identities<'a>>,
    /// Where the pending edges stand that led to new states.
    pub(super) led_on: Vec<u32>,
    pub(super) trouble: Option<Trouble>,
    pub(super) covered: Covered,
    pub(super) stamp: u64,
    pub(super) mark: Duration,
    /// Something was looked up since the last lap.
    untimed: bool,
    /// Whether a proviso wants to know where the next edges lead, and where those before led.
    pub(super) watch: bool,
    pub(super) watched: Vec<(u32, u32)>,
    /// Where packed states are looked for in their table.
    pub(super) aims: Vec<Aim>,
    /// For fingerprints of states in slots, in a second search.
    pub(super) namer: Option<S::Worker>,
    /// Targets of the level, in a search on disk.
    pub(super) gathering: Gathering,
    pub(super) unreported: Unreported,
}

/// States that progress does not show yet. PERF: all workers report theirs to one cache line.
#[derive(Default)]
pub(super) struct Unreported {
    found: u64,
    pub(super) expanded: u64,
    /// When progress was reported last.
    since: Duration,
}

/// States that are reported together, and after what time fewer are.
const REPORTED_TOGETHER: u64 = 4096;
const REPORTED_AFTER: Duration = Duration::from_millis(100);

impl<'a, S: System> Core<'a, S> {
    pub(super) fn new(shared: &'a Shared<'a, S>, index: usize) -> Self {
        let events = shared.system.event_names().len();
        let orbits = shared.system.orbits().map(Identities::new);
        Core {
            shared,
            seat: shared.visited.seat(index),
            record: Record {
                events: vec![Coverage::default(); events],
                undefined_guards: vec![0; events],
                ..Record::default()
            },
            source: Source::default(),
            source_state: Vec::new(),
            pending: Pending::default(),
            fresh: Fresh::default(),
            notes: Notes::default(),
            keys: Vec::new(),
            settling: Vec::new(),
            compares: orbits.is_none() && shared.visited.compares(),
            exchange: shared.together.as_ref().map(|together| Exchange::new(shared, together)),
            level_filled: 0,
            orbits,
            led_on: Vec::new(),
            trouble: None,
            covered: Covered::new(events),
            stamp: 0,
            mark: shared.budget.elapsed(),
            untimed: false,
            watch: false,
            watched: Vec::new(),
            aims: Vec::new(),
            gathering: Gathering::default(),
            unreported: Unreported::default(),
            namer: shared.visited.lineage().map(|_| shared.system.worker()),
        }
    }
}

/// What a worker counts for each event. PERF: on cache lines of its own, for it is written with every edge, and a line that another
/// worker uses goes from core to core.
pub(super) struct Covered(Box<[Padded<[Count; 4]>]>);

/// What a worker counted for one event, and the last source it was seen in.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    coverage: Coverage,
    pub(super) last: u64,
}

impl Covered {
    fn new(events: usize) -> Covered {
        Covered((0..events.div_ceil(4)).map(|_| Padded::default()).collect())
    }

    #[inline(always)]
    pub(super) fn of(&mut self, event: usize) -> &mut Count {
        &mut self.0[event / 4].0[event % 4]
    }
}

/// The state whose successors are being computed.
#[derive(Clone, Copy, Default)]
pub(super) struct Source {
    /// `None` while the initial states are computed.
    pub(super) id: Option<u32>,
    pub(super) print: u128,
    pub(super) marks: Marks,
    pub(super) edges: u64,
}

/// Edges whose targets have not been looked up.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) sources: Vec<Source>,
    /// The words of the sources, if targets are compared with them.
    pub(super) states: Vec<u64>,
    pub(super) edges: Vec<PendingEdge>,
    pub(super) targets: Vec<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct PendingEdge {
    /// Where its source stands among `Pending::sources`.
    pub(super) source: u32,
    pub(super) event: EventId,
    pub(super) label: u64,
    pub(super) watched: bool,
}

/// States that were put into the visited set and not yet checked.
#[derive(Default)]
pub(super) struct Fresh {
    pub(super) ids: Vec<u32>,
    pub(super) changed_by: Vec<Option<EventId>>,
    pub(super) states: Vec<u64>,
    /// Their fingerprints, or those of their orbits, if they are known already.
    pub(super) prints: Vec<u128>,
    /// Those that stand for their orbits by chance, ascending.
    pub(super) loose: Vec<usize>,
}

/// What a system said about one state, beside its edges.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) findings: Vec<Finding>,
    pub(super) incomplete: Vec<u32>,
    pub(super) undefined: Vec<EventId>,
}

impl Notes {
    pub(super) fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.incomplete.is_empty() && self.undefined.is_empty()
    }

    pub(super) fn clear(&mut self) {
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
        self.begin_edges(1, target);
        self.take(event, label, target);
        self.flush_if_full();
    }

    fn edges(&mut self, all: &[u64], words: usize) {
        assert_eq!(words, self.shared.words, "a state of the wrong length");
        // One state may have millions of transitions: they are looked up as they come.
        for some in all.chunks(FLUSH * (words + 2)) {
            self.begin_edges((some.len() / (words + 2)) as u64, &some[2..2 + words]);
            self.cover(some, words + 2);
            let source = (self.pending.sources.len() as u32).wrapping_sub(1);
            let watched = self.watch;
            let pending =
                |event: u64, label: u64| PendingEdge { source, event: EventId(event as u32), label, watched };
            if words == 1 {
                // PERF: states of one word are most frequent, and room is asked for once.
                let some = some.as_chunks::<3>().0;
                self.pending.edges.extend(some.iter().map(|edge| pending(edge[0], edge[1])));
                self.pending.targets.extend(some.iter().map(|edge| edge[2]));
                if fault("table: the last edge of a state is lost") {
                    self.pending.edges.pop();
                    self.pending.targets.pop();
                }
            } else {
                for one in some.chunks_exact(words + 2) {
                    if fault("table: a successor by the last event is lost")
                        && one[0] + 1 == self.record.events.len() as u64
                    {
                        continue;
                    }
                    self.pending.edges.push(pending(one[0], one[1]));
                    self.pending.targets.extend_from_slice(&one[2..]);
                }
            }
            self.flush_if_full();
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
    /// Makes the source known to the buffer before its first edge, and counts its edges; `like` is one of their targets.
    #[inline(always)]
    fn begin_edges(&mut self, edges: u64, like: &[u64]) {
        if self.source.edges == 0 || self.pending.sources.is_empty() {
            self.begin_source(like);
        }
        self.source.edges += edges;
    }

    #[inline(never)]
    fn begin_source(&mut self, like: &[u64]) {
        self.pending.sources.push(self.source);
        if self.compares {
            // An initial state has no source; it resembles itself.
            let like = if self.source.id.is_some() { &self.source_state } else { like };
            self.pending.states.extend_from_slice(&like[..self.shared.words]);
        }
    }

    /// Counts edges for their events. PERF: those of one event stand side by side.
    #[inline(always)]
    fn cover(&mut self, some: &[u64], each: usize) {
        if self.source.id.is_none() {
            return;
        }
        let mut run: Option<(u64, u64)> = None;
        for edge in some.chunks_exact(each) {
            run = match run {
                Some((event, many)) if event == edge[0] => Some((event, many.wrapping_add(1))),
                before => {
                    self.cover_event(before);
                    Some((edge[0], 1))
                }
            };
        }
        self.cover_event(run);
    }

    /// Counts so many edges of an event.
    #[inline(always)]
    fn cover_event(&mut self, run: Option<(u64, u64)>) {
        let Some((event, many)) = run else { return };
        let count = self.covered.of(event as usize);
        count.coverage.transitions += many;
        let first =
            count.last != self.stamp || fault("table: an event is counted for each of its transitions");
        count.coverage.states += u64::from(first);
        count.last = self.stamp;
    }

    /// Buffers an edge and counts it for its event.
    #[inline(always)]
    fn take(&mut self, event: EventId, label: u64, target: &[u64]) {
        if self.source.id.is_some() {
            self.cover_event(Some((event.0.into(), 1)));
        }
        let source = (self.pending.sources.len() as u32).wrapping_sub(1);
        self.pending.edges.push(PendingEdge { source, event, label, watched: self.watch });
        assert_eq!(target.len(), self.shared.words, "a state of the wrong length");
        match target {
            // PERF: without a call for a copy of some length.
            [word] => self.pending.targets.push(*word),
            _ => self.pending.targets.extend_from_slice(target),
        }
    }

    /// Enters the edges of the source into the books, when it has no more.
    pub(super) fn end_edges(&mut self) {
        let edges = self.source.edges;
        self.record.generated += edges;
        let count = if self.source.id.is_some() {
            &mut self.record.transitions
        } else {
            &mut self.record.initial_edges
        };
        *count += edges;
    }

    #[inline]
    fn flush_if_full(&mut self) {
        if self.pending.edges.len() >= 2 * FLUSH {
            self.flush();
        }
    }

    /// Looks up the targets of all buffered edges.
    pub(super) fn flush(&mut self) {
        if let Some(orbits) = &mut self.orbits {
            orbits.identify(&self.pending.targets, self.shared.words, self.pending.edges.len());
        }
        self.part();
        let timed = self.pending.edges.len() >= TIMED;
        self.untimed = !timed;
        if timed {
            let lap = self.lap();
            self.record.shares.evaluate += lap;
        }
        self.shared.watch();
        let fresh_before = self.record.fresh;
        let looked_up = self.look_up();
        self.represent();
        match looked_up {
            Ok(true) => self.record.expanded.append(&mut self.settling),
            Ok(false) => self.settling.clear(),
            Err(trouble) => self.trouble = Some(trouble),
        }
        self.pending.sources.clear();
        self.pending.states.clear();
        self.pending.edges.clear();
        self.pending.targets.clear();
        if timed {
            let lap = self.lap();
            self.record.shares.insert += lap;
        }
        let found = self.record.fresh - fresh_before;
        self.shared.states.add(self.seat.worker(), found);
        self.unreported.found += found;
        self.report_progress_now_and_then();
    }

    /// Enters what was counted for events into the books.
    pub(super) fn end_coverage(&mut self) {
        for (event, sum) in self.record.events.iter_mut().enumerate() {
            let more = std::mem::take(&mut self.covered.of(event).coverage);
            sum.states += more.states;
            sum.transitions += more.transitions;
        }
    }

    /// Adds what this worker found and expanded to what progress shows.
    pub(super) fn report_progress(&mut self) {
        let Unreported { found, expanded, .. } =
            std::mem::replace(&mut self.unreported, Unreported { since: self.mark, ..Unreported::default() });
        self.shared.progress.states.fetch_add(found, Ordering::Relaxed);
        self.shared.progress.expanded.fetch_add(expanded, Ordering::Relaxed);
    }

    /// The same, if that is much, or was not done for some time.
    fn report_progress_now_and_then(&mut self) {
        let many = self.unreported.found + self.unreported.expanded >= REPORTED_TOGETHER;
        if many || self.mark > self.unreported.since + REPORTED_AFTER {
            self.report_progress();
        }
    }

    /// Whether all pending edges were looked up.
    fn look_up(&mut self) -> Result<bool, Trouble> {
        // After a stop nothing is looked up any more: one state may have millions of successors.
        if self.trouble.is_some() || self.shared.queues.is_stopped() {
            return Ok(false);
        }
        if self.pending.edges.is_empty() {
            return Ok(true);
        }
        if self.shared.disk.is_some() {
            return Ok(self.gather());
        }
        if self.shared.visited.is_packed() {
            self.look_up_packed()?;
            return Ok(true);
        }
        if self.shared.options.record_edges {
            self.make_room_in_log()?;
        }
        let words = self.shared.words;
        let visited = &self.shared.visited;
        let level = self.seat.level;
        let target = |i: usize| &self.pending.targets[i * words..(i + 1) * words];
        let orbits = self.orbits.as_ref();
        // What comes from another machine was not met here lately.
        let is_familiar = self.exchange.as_ref().is_none_or(|exchange| !exchange.arriving);
        let mut session = visited.enter(&mut self.seat)?;
        self.keys.clear();
        let mut near = None;
        for (i, edge) in self.pending.edges.iter().enumerate() {
            let state = orbits.map_or_else(|| target(i), |o| o.of(i));
            let key = match is_familiar.then(|| session.recall(state)).flatten() {
                Some(key) => key,
                None => {
                    if !self.compares {
                        session.near(state)?;
                    } else if near.replace(edge.source) != Some(edge.source) {
                        let at = edge.source as usize * words;
                        session.near(&self.pending.states[at..at + words])?;
                    }
                    session.key(state)?
                }
            };
            session.prefetch(key);
            self.keys.push(key);
        }
        for (i, key) in self.keys.iter().enumerate() {
            let entry = session.insert(*key)?;
            let exact = orbits.is_none_or(|o| o.is_exact(i));
            let PendingEdge { source, event, label, watched } = self.pending.edges[i];
            let source = self.pending.sources[source as usize];
            if fault("table: every ninth new state is taken for a known one") && entry.id % 9 == 8 {
                self.record.known += 1;
                continue;
            }
            if entry.fresh {
                self.record.fresh += 1;
                self.fresh.ids.push(entry.id);
                self.fresh.changed_by.push((source.id.is_some() && !source.marks.flawed).then_some(event));
                self.fresh.states.extend_from_slice(target(i));
                if let Some(orbits) = orbits {
                    self.fresh.prints.push(orbits.print(i));
                    self.led_on.push(i as u32);
                } else if let Some(print) = self.exchange.as_ref().and_then(|exchange| exchange.prints.get(i))
                {
                    self.fresh.prints.push(*print);
                }
            } else {
                self.record.known += 1;
                self.record.confused += u64::from(!exact);
            }
            let Some(parent) = source.id else {
                self.record.initial.push(entry.id);
                continue;
            };
            match level {
                // Only what was found by way of a parent is known to follow it, unless all states
                // with the identity are alike.
                Some(level) if exact || entry.fresh => {
                    visited.claim(level, entry.id, parent, source.print);
                }
                None if entry.fresh => visited.set_parent(entry.id, parent),
                _ => {}
            }
            if watched {
                self.watched.push((parent, entry.id));
            }
            // An edge from another machine is kept there.
            if self.shared.options.record_edges && parent != ELSEWHERE {
                self.record.edges.push(Edge { source: parent, target: entry.id, event, label });
            }
        }
        Ok(true)
    }

    /// Puts the states that stand for their orbits in the place of those that were found first, where
    /// it matters which, and logs them beside the edges. Also of a batch that was cut short.
    fn represent(&mut self) {
        let words = self.shared.words;
        let Some(orbits) = &mut self.orbits else { return };
        let first = self.fresh.ids.len() - self.led_on.len();
        for (at, i) in (first..).zip(self.led_on.drain(..)) {
            let state = &mut self.fresh.states[at * words..(at + 1) * words];
            if self.shared.reduction.is_some() && !orbits.represent(i as usize, state) {
                self.fresh.loose.push(at);
            }
            if self.shared.options.record_edges {
                let found = &mut self.record.representatives;
                found.prints.push((self.fresh.ids[at], self.fresh.prints[at]));
                found.words.extend_from_slice(state);
            }
        }
    }

    /// Makes sure that all pending edges can be logged.
    fn make_room_in_log(&mut self) -> Result<(), Trouble> {
        let edges = &mut self.record.edges;
        if edges.len() + self.pending.edges.len() > edges.capacity() {
            let more = (edges.len() / 2).max(4 * FLUSH);
            self.shared.meter.claim((more * size_of::<Edge>()) as u64)?;
            edges.try_reserve_exact(more).map_err(|_| Trouble::OutOfMemory)?;
        }
        let found = &mut self.record.representatives;
        if self.orbits.is_some() && found.prints.len() + self.pending.edges.len() > found.prints.capacity() {
            let more = (found.prints.len() / 2).max(4 * FLUSH);
            let size = size_of::<(u32, u128)>() + self.shared.words * size_of::<u64>();
            self.shared.meter.claim((more * size) as u64)?;
            found.prints.try_reserve_exact(more).map_err(|_| Trouble::OutOfMemory)?;
            found.words.try_reserve_exact(more * self.shared.words).map_err(|_| Trouble::OutOfMemory)?;
        }
        Ok(())
    }

    /// Ends a lap between two batches; what was not timed in the batch before belongs to it.
    pub(super) fn lap_between(&mut self) {
        let lap = self.lap();
        let shares = &mut self.record.shares;
        let share = if std::mem::take(&mut self.untimed) { &mut shares.evaluate } else { &mut shares.steal };
        *share += lap;
    }

    /// Time since the last lap.
    pub(super) fn lap(&mut self) -> Duration {
        let now = self.shared.budget.elapsed();
        let lap = now.saturating_sub(self.mark);
        self.mark = now;
        lap
    }
}
