//! States on their way to the machines that own them: what is sent, what need not be, what arrives.
//!
//! In: the buffered edges of a worker, whose targets may belong to other machines; packets from other machines. Out: packets
//! for other machines; edges whose targets belong here.
//! Never here: rounds and sums (`together`), sockets (`cluster`).
//!
//! An edge is counted where its source stands. What travels is the target and the event that led to it. A target that this worker sent
//! before need not travel again. States are compared by their words, never by a hash.
//!
//! Where predecessors are kept (`Together::keeps_predecessors`), the upper half of the fingerprint of the source travels as well, and a
//! target travels again if its new source has a smaller fingerprint than the one it was sent with and the level is still the same: the
//! predecessor that a trace shows is the smallest one, on one machine as on many.

use super::Shared;
use super::batch::Marks;
use super::parcel::{Origin, Parcel, Told, Unpacking};
use super::peers::{Mutant, PACKET, Packet};
use super::sink::{Core, FLUSH, PendingEdge, Source};
use super::together::Together;
use super::worker::Worker;
use crate::Reason;
use bombus_graph::Crossing;
use bombus_kernels::Trouble;
use bombus_kernels::distant::upper;
use bombus_kernels::hash;
use bombus_kernels::memory::{Meter, prefetch};
use bombus_system::{EventId, Glossary, System};
use std::sync::atomic::Ordering;

/// Bytes of the states that a worker remembers to have sent, and how many these are at most and at least.
const REMEMBERED: usize = 4 << 20;
const MOST: usize = 1 << 16;
const LEAST: usize = 1 << 8;

/// Lines of memory that are asked for ahead to look at one of them, at most.
const LINES: usize = 4;

/// Stands for the id of a source on another machine.
pub(super) const ELSEWHERE: u32 = u32::MAX;

/// One worker's part in the exchange.
pub(super) struct Exchange<'a, S: System> {
    pub(super) together: &'a Together<'a>,
    /// Computes fingerprints while the worker's own scratch memory is in use.
    scratch: S::Worker,
    outgoing: Vec<Parcel>,
    /// A state as it travels.
    exported: Vec<u64>,
    /// Packets that were refused because too many were under way.
    waiting: Vec<(usize, Packet)>,
    sent: Remembered,
    /// States that were sent to each machine, and that were not, since the counts of all workers were brought up to date.
    uncounted: Vec<u64>,
    unsent: u64,
    /// Fingerprints of the pending targets; empty if those came from another machine, or their owners were told by something cheaper.
    pub(super) prints: Vec<u128>,
    /// The owners of the pending targets, and the hashes that tell them.
    owners: Vec<u32>,
    places: Vec<u128>,
    /// What is pending came from another machine, so all of it stays.
    pub(super) arriving: bool,
    /// The level that is being filled.
    depth: u32,
    /// The initial states: how many edges, and the sum of their fingerprints.
    initial: (u64, u128),
    /// The words of a state say whose it is: a mistake.
    by_words: bool,
}

/// States that were sent, each in the place that its fingerprint names; a later one takes the place of an earlier one.
struct Remembered {
    words: usize,
    /// For each place the level for which a state was sent, 0 if none was, beside a part of its fingerprint; the upper half of the
    /// fingerprint of its source, if predecessors are kept; and its words.
    ///
    /// PERF: side by side, in lines that are asked for ahead. Most states of other fingerprints are told apart by the first word.
    rows: Vec<u64>,
    /// Words of a row before those of the state.
    heads: usize,
    places: usize,
    keeps_predecessors: bool,
    /// Predecessors do not matter although they are kept: a mistake.
    naive: bool,
}

impl Remembered {
    fn new(words: usize, keeps_predecessors: bool, naive: bool) -> Remembered {
        let places = (REMEMBERED / (8 * words.max(1))).clamp(LEAST, MOST).next_power_of_two().min(MOST);
        let heads = 1 + usize::from(keeps_predecessors);
        Remembered {
            words,
            rows: vec![0; places * (heads + words)],
            heads,
            places,
            keeps_predecessors,
            naive,
        }
    }

    #[inline]
    fn place(&self, print: u64) -> usize {
        (print as usize & (self.places - 1)) * (self.heads + self.words)
    }

    /// Asks for the place of a state ahead of its use.
    #[inline]
    fn prefetch(&self, print: u64) {
        let at = self.place(print);
        self.rows[at..at + self.heads + self.words].chunks(8).take(LINES).for_each(|line| prefetch(&line[0]));
    }

    /// Whether the state need not be sent; if it must, it is remembered.
    #[inline]
    fn covers(&mut self, state: &[u64], print: u64, depth: u32, source: u64) -> bool {
        let at = self.place(print);
        let row = &mut self.rows[at..at + self.heads + self.words];
        let (head, words) = row.split_at_mut(self.heads);
        let (level, part) = (head[0] as u32, print >> 32);
        if level > 0
            && head[0] >> 32 == part
            && is_same(words, state)
            && (!self.keeps_predecessors || level < depth || head[1] <= source || self.naive)
        {
            return true;
        }
        head[0] = part << 32 | u64::from(depth);
        if self.keeps_predecessors {
            head[1] = source;
        }
        match (&mut *words, state) {
            ([old], [new]) => *old = *new,
            _ => words.copy_from_slice(state),
        }
        false
    }
}

/// Whether two states are one. PERF: those of one word without a call.
#[inline]
fn is_same(a: &[u64], b: &[u64]) -> bool {
    match (a, b) {
        ([a], [b]) => a == b,
        _ => a == b,
    }
}

impl<'a, S: System> Exchange<'a, S> {
    pub(super) fn new(shared: &'a Shared<'a, S>, together: &'a Together<'a>) -> Self {
        Exchange {
            together,
            scratch: shared.system.worker(),
            outgoing: together.sent.iter().map(|_| Parcel::new(together.keeps_predecessors)).collect(),
            exported: Vec::new(),
            waiting: Vec::new(),
            sent: Remembered::new(
                shared.words,
                together.keeps_predecessors,
                cfg!(test) && together.peers.makes(Mutant::NaiveFilter),
            ),
            uncounted: vec![0; together.sent.len()],
            unsent: 0,
            by_words: cfg!(test) && together.peers.makes(Mutant::OwnerByWords),
            prints: Vec::new(),
            owners: Vec::new(),
            places: Vec::new(),
            arriving: false,
            depth: 0,
            initial: (0, 0),
        }
    }

    /// Takes leave of one state.
    fn send(
        &mut self,
        shared: &Shared<'_, S>,
        to: usize,
        state: &[u64],
        print: u64,
        from: &Source,
        event: EventId,
    ) {
        let parent = upper(from.print);
        if self.sent.covers(state, print, self.depth, parent) {
            self.unsent += 1;
            return;
        }
        let outgoing = &mut self.outgoing[to];
        self.exported.clear();
        self.exported.extend_from_slice(state);
        if !shared.system.export(&mut self.exported, &mut outgoing.glossary) {
            shared.ledger.enter(Reason::Unsent, 1);
            self.unsent += 1;
            return;
        }
        outgoing.put(&self.exported, Origin { print: parent, flawed: from.marks.flawed }, event.0);
        self.uncounted[to] += 1;
        if outgoing.bytes() >= PACKET {
            self.close(to);
        }
    }

    /// Brings the counts of all workers up to date.
    fn count(&mut self) {
        self.together.filtered.fetch_add(std::mem::take(&mut self.unsent), Ordering::Relaxed);
        for (all, own) in self.together.sent.iter().zip(&mut self.uncounted).filter(|(_, own)| **own > 0) {
            all.fetch_add(std::mem::take(own), Ordering::Relaxed);
        }
    }

    /// Makes a packet of what is gathered for a machine, and offers it.
    fn close(&mut self, to: usize) {
        let outgoing = &mut self.outgoing[to];
        if outgoing.is_empty() {
            return;
        }
        let packet = Packet { from: self.together.peers.rank(), bytes: outgoing.seal() };
        if let Err(packet) = self.together.peers.offer(to, packet) {
            self.waiting.push((to, packet));
        }
    }
}

impl<S: System> Core<'_, S> {
    /// Sends away the pending edges whose targets belong to other machines.
    pub(super) fn part(&mut self) {
        let Some(exchange) = &mut self.exchange else { return };
        exchange.prints.clear();
        if exchange.arriving || self.shared.queues.is_stopped() {
            return;
        }
        exchange.depth = self.level_filled;
        let logs = self.shared.options.record_edges;
        if logs && !make_room(&mut self.record.crossing, self.pending.edges.len(), &self.shared.meter) {
            self.trouble = Some(Trouble::OutOfMemory);
            return;
        }
        let words = self.shared.words;
        let owners = exchange.together.peers.owners();
        let me = exchange.together.peers.rank();
        exchange.owners.clear();
        exchange.places.clear();
        let mut named = true;
        for i in 0..self.pending.edges.len() {
            let state = &self.pending.targets[i * words..(i + 1) * words];
            let scratch = &mut exchange.scratch;
            let cheaper = match exchange.together.keeps_predecessors {
                true => None,
                false => self.shared.system.place(scratch, state),
            };
            named &= cheaper.is_none();
            let print = match (&self.orbits, cheaper) {
                (Some(orbits), _) => orbits.print(i),
                (None, Some(place)) => place,
                (None, None) => {
                    let meant = self.shared.system.fingerprint(scratch, state);
                    meant.unwrap_or_else(|| hash::words(state))
                }
            };
            let owner = owners.of(upper(if exchange.by_words { hash::words(state) } else { print }));
            exchange.places.push(print);
            exchange.owners.push(owner as u32);
            if owner != me {
                exchange.sent.prefetch(upper(print));
            }
        }
        let mut kept = 0;
        for i in 0..self.pending.edges.len() {
            let (place, owner, edge) =
                (exchange.places[i], exchange.owners[i] as usize, self.pending.edges[i]);
            let source = &self.pending.sources[edge.source as usize];
            if source.id.is_none() {
                // Every machine computes all initial states and keeps its own.
                exchange.initial.0 += 1;
                exchange.initial.1 = exchange.initial.1.wrapping_add(place);
            }
            if owner == me {
                if kept < i {
                    self.pending.edges[kept] = edge;
                    exchange.places[kept] = place;
                    match words {
                        1 => self.pending.targets[kept] = self.pending.targets[i],
                        _ => self.pending.targets.copy_within(i * words..(i + 1) * words, kept * words),
                    }
                }
                kept += 1;
            } else if let Some(from) = source.id {
                if logs {
                    let PendingEdge { event, label, .. } = edge;
                    self.record.crossing.push(Crossing { source: from, event, label, print: place });
                }
                let state = &self.pending.targets[i * words..(i + 1) * words];
                exchange.send(self.shared, owner, state, upper(place), source, edge.event);
            }
        }
        exchange.count();
        self.pending.edges.truncate(kept);
        self.pending.targets.truncate(kept * words);
        exchange.places.truncate(kept);
        if named {
            std::mem::swap(&mut exchange.prints, &mut exchange.places);
        }
        if let Some(orbits) = &mut self.orbits {
            orbits.keep_only(|i| exchange.owners[i] as usize == me);
        }
    }
}

/// Makes sure that so many more edges to other machines can be logged.
fn make_room(log: &mut Vec<Crossing>, edges: usize, meter: &Meter) -> bool {
    if log.len() + edges <= log.capacity() {
        return true;
    }
    let more = (log.len() / 2).max(4 * FLUSH).max(edges);
    meter.claim((more * size_of::<Crossing>()) as u64).is_ok() && log.try_reserve_exact(more).is_ok()
}

/// Appends the words of a state.
pub(super) fn put_words(out: &mut Vec<u8>, state: &[u64]) {
    state.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Reads the words of a state; what follows them.
pub(super) fn take_words<'b>(bytes: &'b [u8], state: &mut [u64]) -> Option<&'b [u8]> {
    let (words, rest) = bytes.split_at_checked(8 * state.len())?;
    for (word, bytes) in state.iter_mut().zip(words.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    Some(rest)
}

/// A packet of states and the glossary that explains them; both are empty afterwards.
pub(super) fn pack(glossary: &mut Glossary, states: &mut Vec<u8>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + glossary.bytes().len() + states.len());
    bytes.extend_from_slice(&(glossary.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(glossary.bytes().len() as u32).to_le_bytes());
    bytes.extend_from_slice(glossary.bytes());
    bytes.append(states);
    bytes.extend_from_slice(&(hash::bytes(&bytes) as u64).to_le_bytes());
    glossary.clear();
    bytes
}

/// The parts of a packet: the glossary with how many values it has, and the states.
pub(super) fn unpack(bytes: &[u8]) -> Option<(usize, &[u8], &[u8])> {
    let (content, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    if (hash::bytes(content) as u64).to_le_bytes() != *sum {
        return None;
    }
    let (values, rest) = content.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (glossary, states) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((u32::from_le_bytes(*values) as usize, glossary, states))
}

impl<S: System> Worker<'_, S> {
    /// Takes a packet that arrived, if there is one, and looks up its states.
    pub(super) fn take_in(&mut self) -> bool {
        let Some(exchange) = &self.core.exchange else { return false };
        let Some(packet) = exchange.together.peers.arrived() else { return false };
        let from = packet.from;
        match self.receive(&packet.bytes) {
            Some(count) => {
                let exchange = self.core.exchange.as_ref().expect("it was there a moment ago");
                exchange.together.received[from].fetch_add(count, Ordering::Relaxed);
            }
            None => panic!("a packet from machine {from} cannot be read"),
        }
        true
    }

    /// Looks up the states of a packet; how many there were, or nothing if the packet makes no sense.
    fn receive(&mut self, bytes: &[u8]) -> Option<u64> {
        let shared = self.shared;
        let words = shared.words;
        let events = shared.system.event_names().len() as u32;
        let (count, mut glossary, records) = unpack(bytes)?;
        if count > glossary.len() {
            return None;
        }
        let values: Vec<u32> =
            (0..count).map(|_| shared.system.learn(&mut glossary)).collect::<Option<_>>()?;
        if !glossary.is_empty() {
            return None;
        }
        let depth = self.lane.stage.depth + 1;
        self.core.arriving(true);
        let names_sources = shared.together.as_ref().is_some_and(|together| together.keeps_predecessors);
        let (mut states, mut state, mut taken) =
            (Unpacking::new(records, words, names_sources), vec![0; words], 0);
        while !states.is_over() {
            let told = states.next()?;
            state.copy_from_slice(&states.state);
            if !shared.system.import(&mut state, &values) || told.event >= events {
                return None;
            }
            self.core.expect(&state, &told);
            taken += 1;
            if self.core.pending.edges.len() >= FLUSH {
                self.core.flush();
                self.admit(depth);
            }
        }
        self.core.flush();
        self.admit(depth);
        self.core.arriving(false);
        self.deal_with_trouble();
        Some(taken)
    }

    /// Sends packets that could not be sent before. While the others are too slow, takes in what they send: they may be
    /// waiting for the same of this machine.
    pub(super) fn deliver(&mut self) {
        while let Some(exchange) = &mut self.core.exchange
            && let Some((to, packet)) = exchange.waiting.pop()
        {
            let peers = exchange.together.peers;
            if self.shared.queues.is_stopped() {
                continue;
            }
            if let Err(packet) = peers.offer(to, packet) {
                exchange.waiting.push((to, packet));
                if !self.take_in() {
                    self.rest();
                }
            }
        }
    }

    /// Ends the worker's part in a round: sends what is left, and takes in what arrives until everybody has ended it.
    pub(super) fn end_round(&mut self) {
        let Some(exchange) = &mut self.core.exchange else { return };
        let together = exchange.together;
        (0..together.sent.len()).for_each(|to| exchange.close(to));
        self.deliver();
        if together.sending.fetch_sub(1, Ordering::AcqRel) == 1 {
            together.peers.end_round();
        }
        while !self.shared.queues.is_stopped() && !together.peers.is_round_over() {
            if !self.take_in() {
                self.rest();
            }
        }
    }

    /// Waits a moment for other machines.
    fn rest(&self) {
        let Some(together) = &self.shared.together else { return };
        let before = self.shared.budget.elapsed();
        self.shared.watch();
        together.peers.rest();
        let waited = self.shared.budget.elapsed().saturating_sub(before);
        together.waited.fetch_add(waited.as_micros() as u64, Ordering::Relaxed);
    }

    /// What the worker computed of the initial states.
    pub(super) fn initial_sum(&self) -> (u64, u128) {
        self.core.exchange.as_ref().map_or((0, 0), |exchange| exchange.initial)
    }
}

impl<S: System> Core<'_, S> {
    fn arriving(&mut self, yes: bool) {
        if let Some(exchange) = &mut self.exchange {
            exchange.arriving = yes;
        }
    }

    pub(super) fn has_waiting_packets(&self) -> bool {
        self.exchange.as_ref().is_some_and(|exchange| !exchange.waiting.is_empty())
    }

    /// Buffers an edge from another machine; it is counted there.
    fn expect(&mut self, state: &[u64], told: &Told) {
        if told.another || self.pending.sources.is_empty() {
            let marks = Marks { flawed: told.origin.flawed, loose: false };
            let print = u128::from(told.origin.print) << 64;
            self.pending.sources.push(Source { id: Some(ELSEWHERE), print, marks, edges: 1 });
            if self.compares {
                // The source is not here; its first successor resembles the others.
                self.pending.states.extend_from_slice(state);
            }
        }
        let source = self.pending.sources.len() as u32 - 1;
        let event = EventId(told.event);
        self.pending.edges.push(PendingEdge { source, event, label: 0, watched: false });
        self.pending.targets.extend_from_slice(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_sent_travels_again_only_for_a_smaller_source_in_the_same_level() {
        let mut sent = Remembered::new(2, true, false);
        assert!(!sent.covers(&[1, 2], 77, 5, 40));
        assert!(sent.covers(&[1, 2], 77, 5, 40));
        assert!(sent.covers(&[1, 2], 77, 5, 41), "a greater source changes nothing");
        assert!(!sent.covers(&[1, 2], 77, 5, 39), "a smaller source changes the trace");
        assert!(sent.covers(&[1, 2], 77, 6, 3), "in a later level the state is known");
    }

    #[test]
    fn where_no_predecessors_are_kept_a_state_that_was_sent_never_travels_again() {
        for words in [1, 2] {
            let state = [7, 8];
            let state = &state[..words];
            let mut sent = Remembered::new(words, false, false);
            assert!(!sent.covers(state, 77, 5, 40));
            assert!(
                [(5, 40), (5, 39), (6, 3)]
                    .iter()
                    .all(|(depth, source)| sent.covers(state, 77, *depth, *source))
            );
        }
    }

    #[test]
    fn states_are_told_apart_by_their_words_whatever_their_fingerprints() {
        for (words, keeps_predecessors) in [(1, true), (1, false), (2, true), (2, false)] {
            let states = [[1, 3], [2, 3]];
            let (one, other) = (&states[0][..words], &states[1][..words]);
            let mut sent = Remembered::new(words, keeps_predecessors, false);
            assert!(!sent.covers(one, 77, 5, 40));
            assert!(!sent.covers(other, 77, 5, 40));
            assert!(!sent.covers(one, 77, 5, 40), "the place was taken by another state");
        }
    }

    #[test]
    fn a_packet_with_a_changed_bit_is_not_read() {
        let mut bytes = vec![1, 0, 0, 0, 2, 0, 0, 0, 9, 9, 5];
        bytes.extend_from_slice(&(hash::bytes(&bytes) as u64).to_le_bytes());
        assert_eq!(unpack(&bytes), Some((1, &[9, 9][..], &[5][..])));
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unpack(&changed), None, "bit {bit}");
        }
        assert_eq!(unpack(&bytes[..3]), None);
    }
}
