//! The end of a search: what the workers of this machine counted, and on several machines what all of them counted.
//!
//! In: the records of the workers. Out: sums over workers and machines, the same on every machine; a trace whose states
//! stand on several machines.
//! Never here: the check of the books and the outcome itself.
//!
//! A predecessor is known by its fingerprint, and the fingerprint says who owns it. So a path is found from its end: in
//! every round the owner of the present state names the predecessor's fingerprint, and all machines hear it. Then every machine
//! replays the path from the initial states by itself.

use super::audit::Books;
use super::checkpoint::{In, Out};
use super::disk::Disk;
use super::exchange::{put_words, take_words};
use super::findings::{Findings, Place};
use super::outcome::Machine;
use super::reduce::por::Figures;
use super::sink::Record;
use super::together::Together;
use super::trace::{self, Path};
use super::{Coverage, InternalError, Order, Outcome, Reason, Shared};
use bombus_graph::Log;
use bombus_kernels::distant::upper;
use bombus_kernels::hash;
use bombus_system::{EventId, Finding, FindingKind, Glossary, System};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What was counted, summed over workers, and then over machines.
pub(super) struct Sums {
    pub outcome: Outcome,
    pub books: Books,
    pub findings: Findings,
    pub por: Figures,
    pub log: Log,
    /// States that were taken for known ones on the ground of an approximate identity.
    pub confused: u64,
    /// States were found one level beyond the last one that was expanded.
    pub beyond: bool,
    /// Why nothing that was counted may be trusted.
    pub failure: Option<String>,
}

impl Sums {
    /// The sums of this machine at the end of its search.
    pub fn of<S: System>(shared: &mut Shared<'_, S>, records: Vec<Record>) -> Sums {
        let mut sums = Sums::so_far(shared, &records.iter().collect::<Vec<_>>());
        sums.books.stored = stored(shared, sums.books.fresh);
        let orbits = shared.system.orbits().is_some();
        for record in records {
            sums.log.edges.push(record.edges);
            sums.log.crossing.push(record.crossing);
            sums.log.expanded.push(record.expanded);
            if orbits {
                sums.log.representatives.push(record.representatives);
            }
            sums.log.initial.extend(record.initial);
            shared.trails.extend(record.trail);
        }
        sums.log.initial.sort_unstable();
        sums.log.initial.dedup();
        sums.log.all_initial = sums.outcome.all_initial;
        let logged = sums.log.edges.iter().map(|log| log.len() as u64).sum();
        // A graph that several machines gather is counted when it is there.
        sums.books.logged = (shared.options.record_edges && shared.together.is_none()).then_some(logged);
        sums
    }

    /// The sums of this machine so far, without states in the visited set and without the log of edges.
    pub fn so_far<S: System>(shared: &Shared<'_, S>, records: &[&Record]) -> Sums {
        let mut outcome = Outcome::empty(shared.system.event_names().len());
        let mut books = Books::default();
        let mut findings = Findings::default();
        let mut por = Figures::default();
        let mut initial: Vec<u32> = Vec::new();
        outcome.all_initial = true;
        for record in records {
            por.add(&record.por);
            books.add(record);
            outcome.digest = outcome.digest.wrapping_add(record.digest);
            outcome.deadlocks += record.deadlocks;
            outcome.out_of_scope += record.out_of_scope;
            outcome.faulty += record.faulty;
            outcome.shares.add(&record.shares);
            add_events(&mut outcome, &record.events, &record.undefined_guards);
            findings.merge(record.findings.clone());
            initial.extend(&record.initial);
            outcome.all_initial &= !record.initial_missing;
        }
        initial.sort_unstable();
        initial.dedup();
        outcome.initial = initial.len() as u64;
        books.by_event = outcome.events.iter().map(|event| event.transitions).sum();
        if let Some(together) = &shared.together {
            let sum = |list: &[AtomicU64]| list.iter().map(|n| n.load(Ordering::Relaxed)).sum();
            books.sent = sum(&together.sent);
            books.received = sum(&together.received);
            books.filtered = together.filtered.load(Ordering::Relaxed);
        }
        let confused = records.iter().map(|record| record.confused).sum();
        let tally = &shared.queues.tally;
        outcome.exhausted = tally.total_created() == tally.total_finished() && !shared.queues.is_stopped();
        outcome.visited_bytes = shared.disk.as_ref().map_or_else(|| shared.visited.bytes(), Disk::bytes);
        outcome.peak_bytes = shared.meter.peak();
        // A search that was ended early has found states one level beyond the one it expanded.
        // Inside a level only the reserved ids tell, and some of those may be unused.
        let beyond = if shared.queues.is_stopped() {
            let bound = shared.visited.bound();
            // Beyond what 32 bits can tell there are always some.
            bound > shared.queues.stage().level.filling || bound == u32::MAX
        } else {
            shared.beyond.load(Ordering::Relaxed)
        };
        Sums { outcome, books, findings, por, log: Log::default(), confused, beyond, failure: None }
    }

    /// Takes this machine's findings and counts away, because those of the others are unknown.
    fn forget(&mut self) {
        self.outcome.exhausted = false;
        self.findings = Findings::default();
    }
}

/// States counted one by one where they are kept. After a failure of the disk nothing is there to be counted.
fn stored<S: System>(shared: &mut Shared<'_, S>, counted: u64) -> u64 {
    let failed = || shared.ledger.entries().iter().any(|(reason, _)| *reason == Reason::Disk);
    match &shared.disk {
        None => shared.visited.count(),
        Some(_) if failed() => counted,
        Some(disk) => disk.count().unwrap_or(counted),
    }
}

fn add_events(outcome: &mut Outcome, events: &[Coverage], undefined: &[u64]) {
    for (sum, more) in outcome.events.iter_mut().zip(events) {
        sum.states += more.states;
        sum.transitions += more.transitions;
    }
    for (sum, more) in outcome.undefined_guards.iter_mut().zip(undefined) {
        *sum += more;
    }
}

impl Books {
    fn add(&mut self, record: &Record) {
        self.generated += record.generated;
        self.fresh += record.fresh;
        self.known += record.known;
        self.digested += record.digested;
        self.pushed += record.pushed;
        self.popped += record.popped;
        self.left += record.left;
        self.transitions += record.transitions;
        self.initial_edges += record.initial_edges;
    }

    /// All but the log, which several machines do not keep.
    fn fields(&mut self) -> [&mut u64; 14] {
        [
            &mut self.generated,
            &mut self.fresh,
            &mut self.known,
            &mut self.digested,
            &mut self.stored,
            &mut self.pushed,
            &mut self.popped,
            &mut self.left,
            &mut self.transitions,
            &mut self.by_event,
            &mut self.initial_edges,
            &mut self.sent,
            &mut self.filtered,
            &mut self.received,
        ]
    }
}

impl<S: System> Shared<'_, S> {
    /// Adds up the sums of all machines. If one is lost, only what is certain without it is left.
    pub(super) fn reunite(
        &self,
        together: &Together<'_>,
        sums: &mut Sums,
    ) -> Result<Vec<Machine>, InternalError> {
        let said = self.write_sums(together, sums).map_err(|e| InternalError(e.to_string()))?;
        let heard = if together.is_lost() { None } else { together.agree(said) };
        let Some(heard) = heard else {
            let lost = together.lost.lock().clone();
            self.ledger.enter_once(Reason::Lost);
            sums.forget();
            sums.outcome.lost = lost;
            // Sums over all machines do not add up on one.
            sums.books.generated = sums.books.fresh + sums.books.known;
            return Ok(Vec::new());
        };
        sums.books = Books::default();
        sums.por = Figures::default();
        sums.findings = Findings::default();
        let events = self.system.event_names().len();
        sums.outcome = Outcome { shares: sums.outcome.shares, ..Outcome::empty(events) };
        sums.outcome.all_initial = true;
        sums.outcome.exhausted = true;
        self.ledger.clear();
        let mut machines = Vec::new();
        for (rank, bytes) in heard.iter().enumerate() {
            let machine = self.add_sums(together, rank, sums, bytes, true);
            machines.push(machine.map_err(|e| {
                InternalError(format!("what machine {rank} said at the end cannot be read: {e}"))
            })?);
        }
        for bytes in together.before.lock().iter() {
            self.add_sums(together, together.peers.rank(), sums, bytes, false)
                .map_err(|e| InternalError(format!("what was counted before cannot be read: {e}")))?;
        }
        Ok(machines)
    }

    pub(super) fn write_sums(&self, together: &Together<'_>, sums: &mut Sums) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut out = Out(&mut bytes);
        out.bytes(sums.failure.as_deref().unwrap_or("").as_bytes())?;
        let found = &sums.outcome;
        for flag in [found.exhausted, sums.beyond, found.all_initial] {
            out.u8(flag.into())?;
        }
        for field in sums.books.fields() {
            out.u64(*field)?;
        }
        let found = &sums.outcome;
        out.u128(found.digest)?;
        for n in [
            found.deadlocks,
            found.out_of_scope,
            found.faulty,
            found.initial,
            found.visited_bytes,
            found.peak_bytes,
        ] {
            out.u64(n)?;
        }
        out.u64(together.waited.load(Ordering::Relaxed))?;
        for field in sums.por.fields() {
            out.u64(*field)?;
        }
        let found = &sums.outcome;
        for (event, undefined) in found.events.iter().zip(&found.undefined_guards) {
            out.u64(event.states)?;
            out.u64(event.transitions)?;
            out.u64(*undefined)?;
        }
        for kind in FindingKind::ALL {
            out.u64(sums.findings.counts().of(kind))?;
        }
        self.write_findings(&sums.findings, &mut out)?;
        let reasons = self.ledger.entries();
        out.u64(reasons.len() as u64)?;
        for (reason, times) in reasons {
            out.reason(Some(reason))?;
            out.u64(times)?;
            let words = match reason {
                Reason::System(n) => self.system.text(n),
                _ => None,
            };
            out.bytes(words.unwrap_or_default().as_bytes())?;
        }
        Ok(bytes)
    }

    fn write_findings(&self, findings: &Findings, out: &mut Out) -> io::Result<()> {
        out.u64(findings.least().count() as u64)?;
        for (place, finding, _) in findings.least() {
            out.u32(place.depth)?;
            out.u128(place.print)?;
            let mut state = Vec::new();
            let mut glossary = Glossary::default();
            // A state that cannot be told is left out; its fingerprint leads to it all the same.
            let told = place.state.clone().map(|mut words| {
                let told = self.system.export(&mut words, &mut glossary);
                if told {
                    put_words(&mut state, &words);
                }
                told
            });
            out.u8(match told {
                None => 0,
                Some(false) => 1,
                Some(true) => 2,
            })?;
            out.u32(glossary.len() as u32)?;
            out.bytes(glossary.bytes())?;
            out.bytes(&state)?;
            out.u8(finding.kind as u8)?;
            out.u32(finding.property)?;
            out.optional(finding.event.map(|event| event.0))?;
            out.bytes(self.system.text(finding.property).unwrap_or_default().as_bytes())?;
        }
        Ok(())
    }

    /// Adds what the machine `rank` said now, or what some machine said when the search was saved.
    fn add_sums(
        &self,
        together: &Together<'_>,
        rank: usize,
        sums: &mut Sums,
        mut bytes: &[u8],
        now: bool,
    ) -> io::Result<Machine> {
        let mut from = In(&mut bytes);
        let failure = from.text()?;
        let name = together.peers.name(rank);
        if !failure.is_empty() {
            sums.failure.get_or_insert(format!("{name}: {failure}"));
        }
        sums.outcome.exhausted &= from.u8()? != 0 || !now;
        sums.beyond |= from.u8()? != 0 && now;
        sums.outcome.all_initial &= from.u8()? != 0;
        let mut books = Books::default();
        for field in books.fields() {
            *field = from.u64()?;
        }
        if !now {
            // The states stand on the machines of now, and nobody waits any more.
            (books.stored, books.left) = (0, 0);
        }
        sums.books.fields().into_iter().zip(books.fields()).for_each(|(sum, more)| *sum += *more);
        let found = &mut sums.outcome;
        found.digest = found.digest.wrapping_add(from.u128()?);
        for sum in [&mut found.deadlocks, &mut found.out_of_scope, &mut found.faulty, &mut found.initial] {
            *sum += from.u64()?;
        }
        let (visited_bytes, peak_bytes) = (from.u64()?, from.u64()?);
        if now {
            found.visited_bytes += visited_bytes;
            found.peak_bytes += peak_bytes;
        }
        let waited = Duration::from_micros(from.u64()?);
        let mut por = Figures::default();
        for field in por.fields() {
            *field = from.u64()?;
        }
        sums.por.add(&por);
        let (mut events, mut undefined) = (Vec::new(), Vec::new());
        for _ in 0..found.events.len() {
            events.push(Coverage { states: from.u64()?, transitions: from.u64()? });
            undefined.push(from.u64()?);
        }
        add_events(found, &events, &undefined);
        let mut counts = [0; FindingKind::COUNT];
        for count in &mut counts {
            *count = from.u64()?;
        }
        let least = self.read_findings(&mut from)?;
        sums.findings.merge(Findings::restored(counts, least));
        for _ in 0..from.u64()? {
            let (reason, times, words) = (from.reason()?, from.u64()?, from.text()?);
            let reason = reason.ok_or(io::ErrorKind::InvalidData)?;
            if let (Reason::System(n), false) = (reason, words.is_empty()) {
                self.system.learn_text(n, &words);
            }
            match reason {
                Reason::System(_) | Reason::Orbits | Reason::Unsent => self.ledger.enter(reason, times),
                // All machines may have noticed the same limit.
                _ => self.ledger.enter_once(reason),
            }
        }
        let Books { stored, sent, filtered, received, .. } = books;
        Ok(Machine { name, states: stored, sent, filtered, received, waited, peak_bytes })
    }

    fn read_findings(&self, from: &mut In) -> io::Result<Vec<(Place, Finding, Option<u32>)>> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let mut least = Vec::new();
        for _ in 0..from.u64()? {
            let (depth, print, told) = (from.u32()?, from.u128()?, from.u8()?);
            let values = from.u32()?;
            let (glossary, words) = (from.bytes()?, from.bytes()?);
            let kind = *FindingKind::ALL.get(usize::from(from.u8()?)).ok_or_else(invalid)?;
            let (property, event) = (from.u32()?, from.optional()?.map(EventId));
            let text = from.text()?;
            if !text.is_empty() {
                self.system.learn_text(property, &text);
            }
            let mut glossary = &glossary[..];
            let values: Option<Vec<u32>> = (0..values).map(|_| self.system.learn(&mut glossary)).collect();
            let mut state = vec![0; words.len() / 8];
            take_words(&words, &mut state).ok_or_else(invalid)?;
            let state = match told {
                0 => None,
                1 => Some(Vec::new()),
                _ => {
                    let values = values.ok_or_else(invalid)?;
                    if state.len() != self.words || !self.system.import(&mut state, &values) {
                        return Err(invalid());
                    }
                    Some(state)
                }
            };
            least.push((Place { depth, print, state }, Finding { kind, property, event }, None));
        }
        Ok(least)
    }

    /// The path to the state at `place`, whose predecessors stand on all machines. All machines ask for it at once.
    pub(super) fn path_across(
        &self,
        together: &Together<'_>,
        place: &Place,
        finding: &Finding,
    ) -> Result<Option<Path>, InternalError> {
        if place.state.is_none() || self.options.order != Order::Bfs {
            return Ok(None);
        }
        let mut chain = vec![upper(place.print)];
        let owners = together.peers.owners();
        for depth in (1..=place.depth).rev() {
            let at = chain[chain.len() - 1];
            let owner = owners.of(at);
            let known =
                if owner == together.peers.rank() { self.predecessor(together, depth, at) } else { None };
            let said = known.map_or_else(Vec::new, |print| print.to_le_bytes().to_vec());
            let heard = together
                .agree(said)
                .ok_or_else(|| InternalError("a machine was lost while the trace was rebuilt".into()))?;
            let print: [u8; 8] = heard[owner].as_slice().try_into().map_err(|_| {
                InternalError(format!("the predecessor of a state of level {depth} is not known"))
            })?;
            chain.push(u64::from_le_bytes(print));
        }
        chain.reverse();
        trace::follow(self.system, &chain, finding).map(Some)
    }

    /// The predecessor of the state of this machine and this level with the fingerprint `print`, all by upper halves.
    fn predecessor(&self, together: &Together<'_>, depth: u32, print: u64) -> Option<u64> {
        let distant = self.visited.distant.as_ref()?;
        let starts = together.starts.lock();
        let first = *starts.get(depth as usize)?;
        let end = starts.get(depth as usize + 1).copied().unwrap_or(self.visited.bound());
        let mut scratch = self.system.replay_worker();
        let orbits = self.system.orbits();
        let mut state = vec![0; orbits.as_ref().map_or(self.words, |orbits| orbits.words())];
        (first..end).find_map(|id| {
            let predecessor = distant.predecessor(id)?;
            let own = distant.own(id).unwrap_or_else(|| {
                self.visited.state(id, &mut state);
                upper(match &orbits {
                    Some(orbits) => orbits.print(&state),
                    None => {
                        let meant = self.system.fingerprint(&mut scratch, &state);
                        meant.unwrap_or_else(|| hash::words(&state))
                    }
                })
            });
            (own == print).then_some(predecessor)
        })
    }
}
