//! A search that is saved and goes on later, in this process or in another one.
//!
//! In: the workers of a search at rest, or the bytes of one. Out: the bytes, or a search that goes on.
//! Never here: files, checksums, whether the bytes belong to this model; `driver` sees to that.
//!
//! A search is at rest between two batches: all new states are in the visited set, checked, counted
//! and on a queue, whatever the order of the search, also in the middle of a level. What is written
//! then is all there is: the system's own memory (values behind the words of states), the visited
//! set with its ids, predecessors and claims, the queues, the counts, the findings, the reasons of
//! incompleteness, the log of edges and what a partial order reduction keeps for its proviso. None of it
//! depends on the number of workers.

use super::batch::{Batch, Marks};
use super::findings::{Findings, Place};
use super::order::Stage;
use super::reduce::por::{self, Figures};
use super::sink::Record;
use super::worker::Worker;
use super::{
    Coverage, InternalError, Mode, Options, Order, Outcome, Purpose, Reason, Shared, conclude, parts,
    prepare_for, run, workers,
};
use bombus_base::budget::Budget;
use bombus_graph::{Edge, Representatives};
use bombus_kernels::Trouble;
use bombus_kernels::image::Unreadable;
use bombus_kernels::parents::Level;
use bombus_system::{EventId, Finding, FindingKind, System};
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Whoever saves a search.
pub trait Keeper: Debug + Send + Sync {
    /// Whether the search should be saved now; `elapsed` is the time of the run. Asked often, by all workers.
    fn is_due(&self, elapsed: Duration) -> bool;

    /// Whether the run should end, after the search was saved.
    fn wants_end(&self) -> bool {
        false
    }

    /// Keeps what `write` writes, which is called once; `elapsed` is the time of the run.
    fn keep(&self, elapsed: &dyn Fn() -> Duration, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>);

    /// Whether the last `keep` kept what was written.
    fn has_kept(&self) -> bool {
        true
    }

    /// Keeps a part of a search on several machines under a name; whether it is safe now.
    fn keep_part(&self, _name: &str, _write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> bool {
        false
    }

    /// A part that was kept.
    fn part(&self, _name: &str) -> io::Result<Box<dyn Read>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes this machine's parts whose names begin otherwise; `all`: those of machines that no longer take part, too.
    fn keep_only_parts(&self, _prefix: &str, _all: bool) {}

    /// The search was saved at this time, or tried to be.
    fn postpone(&self, _elapsed: Duration) {}
}

/// Why a saved search does not go on.
#[derive(Debug)]
pub enum Refusal {
    /// It cannot be read, or is not one of this system.
    Unreadable(String),
    Internal(InternalError),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Unreadable(error.to_string())
    }
}

pub(super) fn wrong(what: &str) -> Refusal {
    Refusal::Unreadable(format!("it holds {what}"))
}

/// Marks the end, so that a reader that went astray notices.
const END: u64 = 0x656e_6420_6f66_2069;

/// Saves a search at rest. Evaluations that were cut short would be lost for ever, so nothing is
/// saved once the limits of the system itself were reached.
pub(super) fn save<S: System>(shared: &Shared<'_, S>, workers: &mut [Worker<'_, S>]) {
    let Some(keeper) = &shared.options.keeper else { return };
    // Several machines save together or not at all.
    if shared.together.is_none() && shared.budget.lenient().check().is_err() {
        return;
    }
    workers.iter_mut().for_each(Worker::hand_in);
    if shared.together.is_none() && shared.queues.is_stopped() {
        return;
    }
    let mut queues: Vec<[Vec<Batch>; 2]> =
        workers.iter_mut().map(|worker| [worker.lane.drain(0), worker.lane.drain(1)]).collect();
    let elapsed = || shared.budget.elapsed();
    match &shared.together {
        Some(together) => parts::save(shared, together, &**keeper, workers, &queues),
        None => keeper.keep(&elapsed, &mut |out| write(shared, workers, &queues, out)),
    }
    for (worker, sides) in workers.iter_mut().zip(&mut queues) {
        for (side, batches) in sides.iter_mut().enumerate() {
            worker.lane.refill(side, batches.drain(..));
        }
    }
}

fn write<S: System>(
    shared: &Shared<'_, S>,
    workers: &mut [Worker<'_, S>],
    queues: &[[Vec<Batch>; 2]],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = Out(out);
    for fact in facts(shared.system, shared.options) {
        out.u64(fact)?;
    }
    let waiting: Vec<&[u64]> = queues.iter().flatten().flatten().flat_map(Batch::states).collect();
    let mut memory = Vec::new();
    // A proviso may ask for any state again, and a graph is read as a whole.
    let any = shared.options.record_edges || shared.reduction.as_ref().is_some_and(|r| r.keeps_edges());
    let waiting = (!any).then_some(&waiting[..]);
    shared.system.save(waiting, &mut memory).map_err(io::Error::other)?;
    out.bytes(&memory)?;
    drop(memory);

    let stage = shared.queues.stage();
    write_stage(&mut out, &stage)?;
    out.u64(shared.queues.tally.total_created())?;
    out.u64(shared.queues.tally.total_finished())?;
    out.u64(shared.progress.expanded.load(Ordering::Relaxed))?;
    {
        let seat = &mut workers[0].core.seat;
        let mut session = shared.visited.enter(seat).map_err(|_| io::Error::other("a worker failed"))?;
        session.save(&levels(shared.options.order, &stage), out.0)?;
    }
    for side in 0..2 {
        out.u64(queues.iter().map(|sides| sides[side].iter().map(Batch::len).sum::<usize>() as u64).sum())?;
        for batch in queues.iter().flat_map(|sides| &sides[side]) {
            for at in 0..batch.len() {
                out.u32(batch.id(at))?;
                out.u128(batch.print(at))?;
                let Marks { flawed, loose } = batch.marks(at);
                out.u8(u8::from(flawed) | u8::from(loose) << 1 | u8::from(batch.again) << 2)?;
                batch.state(at).iter().try_for_each(|word| out.u64(*word))?;
            }
        }
    }
    let records: Vec<&Record> = workers.iter().map(|worker| &worker.core.record).collect();
    write_records(&mut out, &records)?;
    if let Some(reduction) = &shared.reduction {
        reduction.save(&mut out)?;
        let mut sum = Figures::default();
        workers.iter().flat_map(|w| &w.reducer).for_each(|reducer| sum.add(&reducer.figures));
        sum.save(&mut out)?;
    }
    out.u64(shared.violated.load(Ordering::Relaxed))?;
    let reasons = shared.ledger.entries();
    out.u64(reasons.len() as u64)?;
    for (reason, times) in reasons {
        out.reason(Some(reason))?;
        out.u64(times)?;
    }
    out.u64(END)
}

/// What the system and the options must agree in with those of the search that was saved.
fn facts<S: System>(system: &S, options: &Options) -> [u64; 7] {
    let reduction = options.por.zip(system.relations()).map(|(por, relations)| por::kind(por, relations));
    [
        system.words() as u64,
        system.event_names().len() as u64,
        options.order as u64,
        options.seed,
        (options.store == Mode::Hash) as u64,
        options.record_edges as u64,
        reduction.unwrap_or(0),
    ]
}

/// The levels that have claims, as `Parents` wants them.
fn levels(order: Order, stage: &Stage) -> Vec<Level> {
    match order {
        Order::Bfs => std::iter::once(stage.level).chain(stage.before).collect(),
        Order::Dfs | Order::Mixed => Vec::new(),
    }
}

fn write_stage(out: &mut Out, stage: &Stage) -> io::Result<()> {
    out.u32(stage.depth)?;
    out.u32(stage.block)?;
    for level in [Some(stage.level), stage.before] {
        out.u8(level.is_some().into())?;
        let level = level.unwrap_or_default();
        out.u8(level.odd.into())?;
        out.u32(level.expanding)?;
        out.u32(level.filling)?;
    }
    Ok(())
}

fn read_stage(from: &mut In) -> io::Result<Stage> {
    let (depth, block) = (from.u32()?, from.u32()?);
    let mut level = || -> io::Result<Option<Level>> {
        let there = from.u8()? != 0;
        let level = Level { odd: from.u8()? != 0, expanding: from.u32()?, filling: from.u32()? };
        Ok(there.then_some(level))
    };
    Ok(Stage { depth, level: level()?.unwrap_or_default(), before: level()?, block: block.max(1) })
}

/// The counts of all workers, added up.
fn write_records(out: &mut Out, records: &[&Record]) -> io::Result<()> {
    let counters: [fn(&Record) -> u64; 15] = [
        |r| r.generated,
        |r| r.fresh,
        |r| r.known,
        |r| r.digested,
        |r| r.pushed,
        |r| r.popped,
        |r| r.transitions,
        |r| r.initial_edges,
        |r| r.deadlocks,
        |r| r.out_of_scope,
        |r| r.faulty,
        |r| r.confused,
        |r| r.initial_missing.into(),
        |r| r.expanded.len() as u64,
        |r| r.initial.len() as u64,
    ];
    for counter in counters {
        out.u64(records.iter().map(|r| counter(r)).sum())?;
    }
    out.u128(records.iter().fold(0, |sum, r| sum.wrapping_add(r.digest)))?;
    let events = records.first().map_or(0, |r| r.events.len());
    for e in 0..events {
        out.u64(records.iter().map(|r| r.events[e].states).sum())?;
        out.u64(records.iter().map(|r| r.events[e].transitions).sum())?;
        out.u64(records.iter().map(|r| r.undefined_guards[e]).sum())?;
    }
    records.iter().flat_map(|r| &r.initial).try_for_each(|id| out.u32(*id))?;
    records.iter().flat_map(|r| &r.expanded).try_for_each(|id| out.u32(*id))?;
    let mut findings = Findings::default();
    records.iter().for_each(|r| findings.merge(r.findings.clone()));
    for kind in FindingKind::ALL {
        out.u64(findings.counts().of(kind))?;
    }
    out.u64(findings.least().count() as u64)?;
    for (place, finding, id) in findings.least() {
        out.u32(place.depth)?;
        out.u128(place.print)?;
        out.u8(place.state.is_some().into())?;
        place.state.iter().flatten().try_for_each(|word| out.u64(*word))?;
        out.u8(finding.kind as u8)?;
        out.u32(finding.property)?;
        out.optional(finding.event.map(|event| event.0))?;
        out.optional(id)?;
    }
    out.u64(records.iter().map(|r| r.edges.len() as u64).sum())?;
    for edge in records.iter().flat_map(|r| &r.edges) {
        out.u32(edge.source)?;
        out.u32(edge.event.0)?;
        out.u64(edge.label)?;
        out.u32(edge.target)?;
    }
    Ok(())
}

fn read_record<S: System>(shared: &Shared<'_, S>, from: &mut In) -> Result<Record, Refusal> {
    // Every field is named, so that a new one cannot be forgotten here.
    let mut record = Record {
        generated: from.u64()?,
        fresh: from.u64()?,
        known: from.u64()?,
        digested: from.u64()?,
        pushed: from.u64()?,
        popped: from.u64()?,
        left: 0,
        transitions: from.u64()?,
        initial_edges: from.u64()?,
        deadlocks: from.u64()?,
        out_of_scope: from.u64()?,
        faulty: from.u64()?,
        confused: from.u64()?,
        initial_missing: from.u64()? > 0,
        digest: 0,
        events: Vec::new(),
        undefined_guards: Vec::new(),
        findings: Findings::default(),
        edges: Vec::new(),
        // A search on several machines that keeps edges is not saved.
        crossing: Vec::new(),
        expanded: Vec::new(),
        // A search that keeps edges between orbits is not saved.
        representatives: Representatives::default(),
        // A search that is saved has predecessors.
        trail: None,
        initial: Vec::new(),
        shares: super::Shares::default(),
        // The worker's reduction has them.
        por: Figures::default(),
    };
    let bound = shared.visited.bound();
    let events = shared.system.event_names().len() as u32;
    let expanded = from.u64()?;
    let initial = from.u64()?;
    record.digest = from.u128()?;
    for _ in 0..events {
        record.events.push(Coverage { states: from.u64()?, transitions: from.u64()? });
        record.undefined_guards.push(from.u64()?);
    }
    for _ in 0..initial {
        record.initial.push(from.below(bound)?);
    }
    for _ in 0..expanded {
        record.expanded.push(from.below(bound)?);
    }
    let mut counts = [0; FindingKind::COUNT];
    for count in &mut counts {
        *count = from.u64()?;
    }
    let mut least = Vec::new();
    for _ in 0..from.u64()? {
        let (depth, print) = (from.u32()?, from.u128()?);
        let state = match from.u8()? {
            0 => None,
            _ => Some(from.words(shared.words)?),
        };
        let kind =
            *FindingKind::ALL.get(usize::from(from.u8()?)).ok_or_else(|| wrong("an unknown finding"))?;
        let property = from.u32()?;
        let event = from.optional()?.map(EventId);
        let id = from.optional()?;
        if event.is_some_and(|e| e.0 >= events) || id.is_some_and(|id| id >= bound) {
            return Err(wrong("a finding about nothing"));
        }
        least.push((Place { depth, print, state }, Finding { kind, property, event }, id));
    }
    record.findings = Findings::restored(counts, least);
    let edges = from.u64()?;
    if edges > 0 {
        let refused = |_| Refusal::Unreadable("there is no memory for its edges".into());
        let bytes = edges.saturating_mul(size_of::<Edge>() as u64);
        shared.meter.claim(bytes).map_err(refused)?;
        record.edges.try_reserve_exact(edges as usize).map_err(|_| refused(Trouble::OutOfMemory))?;
    }
    for _ in 0..edges {
        let (source, event) = (from.below(bound)?, EventId(from.below(events)?));
        record.edges.push(Edge { source, event, label: from.u64()?, target: from.below(bound)? });
    }
    Ok(record)
}

/// Goes on with a search that `Options::keeper` kept. The system must be the same, compiled from the
/// same model in the same way; the caller has made sure of that.
pub fn resume<S: System>(
    system: &S,
    options: &Options,
    budget: &Budget,
    from: &mut dyn Read,
) -> Result<Outcome, Refusal> {
    if options.peers.is_some() {
        return parts::resume(system, options, budget, from);
    }
    let mut from = In(from);
    for fact in facts(system, options) {
        if from.u64()? != fact {
            return Err(wrong("a search of another kind"));
        }
    }
    let memory = from.bytes()?;
    system.restore(&memory).map_err(Refusal::Unreadable)?;
    drop(memory);
    let no_memory = || Refusal::Unreadable("it does not fit into the memory limit".into());
    let (mut shared, lanes) = prepare_for(system, options, budget, Purpose::Resume).ok_or_else(no_memory)?;

    let stage = read_stage(&mut from)?;
    let (created, finished, expanded) = (from.u64()?, from.u64()?, from.u64()?);
    shared.visited.restore(&levels(options.order, &stage), from.0).map_err(|why| match why {
        Unreadable::Io(error) => error.into(),
        Unreadable::Trouble(_) => no_memory(),
        Unreadable::Wrong(what) => wrong(what),
    })?;
    shared.queues.begin(stage);
    shared.queues.tally.created(0, created);
    shared.queues.tally.finished(0, finished);
    let mut queues = [Vec::new(), Vec::new()];
    let mut waiting = 0;
    for batches in &mut queues {
        let count = from.u64()?;
        waiting += count;
        for _ in 0..count {
            let (id, print, marks) = (from.below(shared.visited.bound())?, from.u128()?, from.u8()?);
            let again = marks & 4 != 0;
            let marks = Marks { flawed: marks & 1 != 0, loose: marks & 2 != 0 };
            let state = from.words(shared.words)?;
            if batches.last().is_none_or(|b: &Batch| b.is_full() || b.again != again) {
                batches.push(Batch::new(shared.words, &shared.meter).map_err(|_| no_memory())?);
            }
            if let Some(batch) = batches.last_mut() {
                batch.again = again;
                batch.push(id, print, &state, marks);
            }
        }
    }
    let record = read_record(&shared, &mut from)?;
    let mut figures = Figures::default();
    let mut repeated = 0;
    if let Some(reduction) = &shared.reduction {
        reduction.restore(&mut from, shared.visited.bound(), &shared.meter)?;
        figures = Figures::restored(&mut from)?;
        repeated = reduction.repeated();
    }
    shared.violated.store(from.u64()?, Ordering::Relaxed);
    for _ in 0..from.u64()? {
        let (reason, times) = (from.reason()?, from.u64()?);
        shared.ledger.enter(reason.ok_or_else(|| wrong("an unknown reason"))?, times);
    }
    if from.u64()? != END || from.0.read(&mut [0])? != 0 {
        return Err(wrong("something after its end"));
    }
    if created.checked_sub(finished) != Some(waiting) || record.fresh.checked_add(repeated) != Some(created) {
        return Err(wrong("counts that do not add up"));
    }
    let states = record.fresh;
    shared.states.add(0, states);
    shared.progress.states.store(states, Ordering::Relaxed);
    shared.progress.expanded.store(expanded, Ordering::Relaxed);
    shared.progress.depth.store(stage.depth, Ordering::Relaxed);
    shared.any_finding.store(record.findings.counts().total() > 0, Ordering::Relaxed);

    let records = {
        let mut workers = workers(&shared, lanes);
        workers[0].core.record = record;
        if let Some(reducer) = &mut workers[0].reducer {
            reducer.go_on_from(figures);
        }
        let count = workers.len();
        for (side, batches) in queues.into_iter().enumerate() {
            for (i, batch) in batches.into_iter().enumerate() {
                workers[i % count].lane.refill(side, [batch]);
            }
        }
        run(&shared, workers)
    };
    let mut outcome = conclude(shared, records).map_err(Refusal::Internal)?;
    outcome.resumed = Some(states);
    Ok(outcome)
}

/// Little-endian numbers, written.
pub(super) struct Out<'a>(pub(super) &'a mut dyn Write);

impl Out<'_> {
    pub fn u8(&mut self, n: u8) -> io::Result<()> {
        self.0.write_all(&[n])
    }

    pub fn u32(&mut self, n: u32) -> io::Result<()> {
        self.0.write_all(&n.to_le_bytes())
    }

    pub fn u64(&mut self, n: u64) -> io::Result<()> {
        self.0.write_all(&n.to_le_bytes())
    }

    pub fn u128(&mut self, n: u128) -> io::Result<()> {
        self.0.write_all(&n.to_le_bytes())
    }

    /// A reason, or none.
    pub fn reason(&mut self, reason: Option<Reason>) -> io::Result<()> {
        let (kind, value) = match reason {
            Some(Reason::States(n)) => (0, n),
            Some(Reason::Time) => (1, 0),
            Some(Reason::Memory) => (2, 0),
            Some(Reason::Ids) => (3, 0),
            Some(Reason::Interrupted) => (4, 0),
            Some(Reason::System(n)) => (5, n.into()),
            Some(Reason::Orbits) => (6, 0),
            Some(Reason::Lost) => (7, 0),
            Some(Reason::Unsent) => (8, 0),
            Some(Reason::Disk) => (9, 0),
            None => (u8::MAX, 0),
        };
        self.u8(kind)?;
        self.u64(value)
    }

    pub fn optional(&mut self, n: Option<u32>) -> io::Result<()> {
        self.u8(n.is_some().into())?;
        self.u32(n.unwrap_or(0))
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.u64(bytes.len() as u64)?;
        self.0.write_all(bytes)
    }
}

/// Little-endian numbers, read.
pub(super) struct In<'a>(pub(super) &'a mut dyn Read);

impl In<'_> {
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn u8(&mut self) -> io::Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u32(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn u128(&mut self) -> io::Result<u128> {
        self.array().map(u128::from_le_bytes)
    }

    pub fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    pub fn below(&mut self, bound: u32) -> Result<u32, Refusal> {
        let n = self.u32()?;
        if n < bound { Ok(n) } else { Err(wrong("a number out of range")) }
    }

    pub fn reason(&mut self) -> io::Result<Option<Reason>> {
        let (kind, value) = (self.u8()?, self.u64()?);
        Ok(Some(match kind {
            0 => Reason::States(value),
            1 => Reason::Time,
            2 => Reason::Memory,
            3 => Reason::Ids,
            4 => Reason::Interrupted,
            5 => Reason::System(value as u32),
            6 => Reason::Orbits,
            7 => Reason::Lost,
            8 => Reason::Unsent,
            9 => Reason::Disk,
            _ => return Ok(None),
        }))
    }

    pub fn optional(&mut self) -> io::Result<Option<u32>> {
        let there = self.u8()? != 0;
        let n = self.u32()?;
        Ok(there.then_some(n))
    }

    pub fn words(&mut self, count: usize) -> io::Result<Vec<u64>> {
        (0..count).map(|_| self.u64()).collect()
    }

    /// Reads no more than there is, whatever the length says.
    pub fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let length = self.u64()?;
        let mut bytes = Vec::new();
        let read = (&mut *self.0).take(length).read_to_end(&mut bytes)?;
        if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
