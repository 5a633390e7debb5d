//! The exploration of all reachable states of a `System`, on any number of workers.
//!
//! In: a system, options, a budget. Out: an `Outcome`: counts, coverage, findings with a trace, the
//! reasons why it may be incomplete. Our own mistakes, a worker's panic among them, are an
//! `InternalError` and never a verdict.
//! Never here: B, printing, the words of a report.
//!
//! A breadth-first search that ends by itself is the same for any number of workers: the states, the
//! transitions and their counts by event, the digest, the depth, the findings, their order, and the
//! trace. The other orders promise this for all but depth and trace when nothing stops them early.
#![forbid(unsafe_code)]

mod audit;
mod batch;
mod checkpoint;
mod conclusion;
mod disk;
mod exchange;
mod findings;
mod gather;
mod ledger;
mod order;
mod outcome;
mod packed;
mod parcel;
mod parts;
pub mod peers;
mod piece;
pub mod reduce;
mod reunion;
mod second;
mod sink;
mod together;
mod trace;
mod trail;
mod worker;

#[cfg(test)]
mod checkpoint_tests;
#[cfg(test)]
mod in_process;
#[cfg(test)]
mod peers_tests;
#[cfg(test)]
mod reliability_tests;
#[cfg(test)]
mod seam_tests;
#[cfg(test)]
mod stores_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bombus_kernels::visited::Mode as Store;
pub use checkpoint::{Keeper, Refusal, resume};
pub use findings::Counts;
pub use gather::{Broken, TooLarge};
pub use ledger::Reason;
pub use order::Order;
pub use outcome::{Coverage, Kept, Machine, Outcome, Shares, Violation};
pub use piece::{Piece, Rest, swap};
pub use trace::{Step, Trace};

use batch::{Batch, Marks};
use bombus_base::budget::{Budget, GRACE, Stop, resident_bytes};
use bombus_kernels::counter::Counter;
use bombus_kernels::distant::upper;
use bombus_kernels::memory::Meter;
use bombus_kernels::parents::Level;
use bombus_kernels::visited::{MOST_IDS, Mode, Shape, Visited};
use bombus_system::{Finding, FindingKind, System};
use conclusion::conclude;
use disk::Disk;
use ledger::Ledger;
use order::{Lane, Queues, Stage};
use parking_lot::Mutex;
use peers::Peers;
use reduce::por::{Common, Por, Proviso};
use second::Again;
use sink::Record;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use together::Together;
use trail::Trail;
use worker::Worker;

/// Escaped states from which on a search may end early, and of how many states one has to have escaped: that one takes as long as a
/// hundred others.
const FEW_ESCAPES: u64 = 32;
const STATES_AN_ESCAPE: u64 = 64;

/// How to explore.
#[derive(Clone, Debug)]
pub struct Options {
    pub workers: usize,
    pub order: Order,
    /// For orders with chance in them.
    pub seed: u64,
    pub store: Mode,
    /// Whether a state without successors is a finding. They are counted in any case.
    pub check_deadlock: bool,
    /// Explore everything in spite of findings.
    pub keep_going: bool,
    /// End when the first so many properties of kind `Ltl`, at most 64, are violated, in spite of
    /// `keep_going`; 0 for none.
    pub until_violated: u32,
    /// Keep all edges and return the graph.
    pub record_edges: bool,
    /// Return the visited set if it stores states and nothing was found; the graph has it where there is one.
    pub keep_states: bool,
    /// Keep a predecessor of each state. Without them, and always where states stand in the table itself, a
    /// breadth-first search that has something to show is done again as far as the level of the finding.
    pub keep_parents: bool,
    /// States in the table itself that are kept by level beside, so that paths are found back along them; where there are more, the
    /// search is done again.
    pub trail: usize,
    /// End at the first level that is complete with more states than this; breadth first only.
    pub pause_beyond: Option<u64>,
    /// End at the first level that is complete when many states do not fit the form that the system chose for them (`System::escapes`);
    /// breadth first only, in memory. Several machines end together, by the sums of all.
    pub pause_when_outgrown: bool,
    /// The folder for the files of a search with `Store::Disk`.
    pub disk: Option<PathBuf>,
    /// Partial order reduction, for systems with relations; breadth first only.
    pub por: Option<Por>,
    /// Slots of the visited set at the start.
    pub slots: usize,
    /// Hash bits that place a state in the exact store: 32 outside tests.
    pub tag_bits: u32,
    /// States that get an id at most: all that 32 bits can number, fewer in tests. States of one word need none, unless they are
    /// asked for by id.
    pub ids: u32,
    /// Stack of a worker in bytes.
    pub stack: usize,
    /// Live figures, for whoever shows progress.
    pub progress: Arc<Progress>,
    /// Who saves the search now and then, if anybody.
    pub keeper: Option<Arc<dyn Keeper>>,
    /// The other machines of the search, if there are any; breadth first only. The first one returns the graph.
    pub peers: Option<Arc<dyn Peers>>,
    /// The most bytes of a graph that the first machine gathers; none for as much as its memory has room for.
    pub gather: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            workers: 1,
            order: Order::Bfs,
            seed: 1,
            store: Mode::Exact,
            check_deadlock: true,
            keep_going: false,
            until_violated: 0,
            record_edges: false,
            keep_states: false,
            keep_parents: true,
            trail: 1 << 19,
            pause_beyond: None,
            pause_when_outgrown: false,
            disk: None,
            por: None,
            slots: 1 << 13,
            tag_bits: 32,
            ids: MOST_IDS,
            stack: 256 << 20,
            progress: Arc::default(),
            keeper: None,
            peers: None,
            gather: None,
        }
    }
}

/// Figures of a run under way; may be read at any time.
#[derive(Debug, Default)]
pub struct Progress {
    /// States found, and states whose successors were computed.
    pub states: AtomicU64,
    pub expanded: AtomicU64,
    pub findings: AtomicU64,
    pub depth: AtomicU32,
    /// Bytes of the visited set, the queues and the log of edges.
    pub bytes: AtomicU64,
    /// Machines of a search on several, and as of the last level that they ended: states of the others, of the one with most, and how
    /// many states were sent.
    pub machines: AtomicU32,
    pub elsewhere: AtomicU64,
    pub largest: AtomicU64,
    pub sent: AtomicU64,
}

impl Progress {
    /// Starts from nothing, for a search that is done again.
    pub fn reset(&self) {
        for figure in [&self.states, &self.expanded, &self.findings, &self.bytes] {
            figure.store(0, Ordering::Relaxed);
        }
        self.depth.store(0, Ordering::Relaxed);
    }
}

/// We are wrong: a broken invariant, a worker that panicked, books that do not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalError(pub String);

impl std::fmt::Display for InternalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InternalError {}

/// What the workers of one run share.
struct Shared<'a, S: System> {
    system: &'a S,
    options: &'a Options,
    budget: &'a Budget,
    words: usize,
    workers: usize,
    /// States found so far.
    states: Counter,
    visited: Visited,
    queues: Queues,
    ledger: Ledger,
    meter: Arc<Meter>,
    /// Memory of the process before the search, and a little more.
    base: u64,
    progress: &'a Progress,
    /// Whether there was a finding; read at the end of each level.
    any_finding: AtomicBool,
    /// The properties of kind `Ltl` that were violated, one bit each.
    violated: AtomicU64,
    /// Whether the last level that was expanded to its end found states that were not expanded.
    beyond: AtomicBool,
    /// The search ended because many states did not fit their form; it will begin again, and nothing that it found is shown.
    outgrown: AtomicBool,
    /// A limit for which the search will end as soon as it is saved, and when it was reached.
    ending: Mutex<Option<(Reason, Duration)>>,
    panic: Mutex<Option<String>>,
    reduction: Option<Common<'a>>,
    /// The other machines, if there are any.
    together: Option<Together<'a>>,
    /// The initial states as computed here: how many edges, and the sum of their fingerprints.
    initial: Mutex<(u64, u128)>,
    /// Set if this is a second search, for a path.
    again: Option<Again>,
    /// What the workers expanded, when they have ended.
    trails: Vec<Trail>,
    /// The files of a search on disk.
    disk: Option<Disk>,
}

impl<S: System> Shared<'_, S> {
    /// Ends the run because of a limit that is no emergency: a search that is to be saved comes to
    /// rest first, if that does not take long.
    fn end_for(&self, reason: Reason) {
        if self.options.keeper.is_none() {
            return self.stop_for(reason);
        }
        let now = self.budget.elapsed();
        let (reason, since) = *self.ending.lock().get_or_insert((reason, now));
        match &self.together {
            _ if now >= since + GRACE => self.stop_for(reason),
            // Several machines come to rest together, at the end of a level.
            Some(_) => {}
            None => self.queues.pause(),
        }
    }

    /// Ends the run because of a limit. Many workers may notice the same one; it is one reason.
    fn stop_for(&self, reason: Reason) {
        if !self.queues.is_stopped() {
            self.ledger.enter_once(reason);
        }
        self.queues.stop();
    }

    /// Looks at the limits. Reads the clock: for once per batch.
    fn watch(&self) {
        if self.budget.max_memory.is_some() {
            // What is claimed may not have been touched yet, so this is what the others have at least.
            let others = self.budget.resident().saturating_sub(self.meter.used());
            self.meter.others_use(others.max(self.base));
        }
        match self.budget.check() {
            Ok(()) => {}
            Err(Stop::Time) => self.end_for(Reason::Time),
            Err(stop) => self.stop_for(stop.into()),
        }
        if let Some(keeper) = &self.options.keeper {
            if keeper.wants_end() {
                self.end_for(Reason::Interrupted);
            } else if self.together.is_none() && keeper.is_due(self.budget.elapsed()) {
                self.queues.pause();
            }
        }
        if let Some(limit) = self.budget.max_states
            && self.states.sum() >= limit
        {
            self.end_for(Reason::States(limit));
        }
        if let Some(together) = &self.together
            && (self.is_called_off(together) || together.peers.lost().is_some())
        {
            self.queues.stop();
        }
    }

    /// Whether this machine files what computing the initial states found: all machines compute them.
    fn answers_for_initial(&self) -> bool {
        self.together.as_ref().is_none_or(Together::is_first)
    }

    /// Keeps the fingerprint of a new state where states are found again by it.
    #[inline]
    fn name(&self, id: u32, print: u128) {
        if let (Some(distant), Some(together)) = (&self.visited.distant, &self.together) {
            let owner = together.peers.owners().of(upper(print));
            assert_eq!(owner, together.peers.rank(), "a state of another machine");
            distant.name(id, print);
        }
    }

    fn found(&self, findings: &[Finding]) {
        self.any_finding.store(true, Ordering::Relaxed);
        self.progress.findings.fetch_add(findings.len() as u64, Ordering::Relaxed);
        for finding in findings.iter().filter(|f| f.kind == FindingKind::Ltl) {
            self.violated.fetch_or(1 << finding.property, Ordering::Relaxed);
        }
        // A level is finished before the search ends, so that what it found depends on nothing
        // but the model. Without levels there is nothing to wait for.
        if (!self.options.keep_going || self.all_violated()) && self.options.order != Order::Bfs {
            self.queues.stop();
        }
    }

    /// States that a worker keeps for the way back.
    fn kept_by_worker(&self) -> usize {
        let is_without_predecessors =
            self.visited.is_packed() && self.again.is_none() && self.together.is_none();
        if is_without_predecessors { self.options.trail / self.workers } else { 0 }
    }

    /// Whether nothing is left to be found out.
    fn all_violated(&self) -> bool {
        let asked = self.options.until_violated;
        asked > 0 && self.violated.load(Ordering::Relaxed).count_ones() >= asked
    }

    /// The stage after `stage`, asked for when all its states are expanded and `frontier` states
    /// were found. Nobody works meanwhile.
    fn next_stage(&self, stage: Stage, frontier: u64) -> Option<(Stage, Vec<Batch>)> {
        if let Some(together) = &self.together {
            return self.next_stage_together(together, stage, frontier).map(|stage| (stage, Vec::new()));
        }
        if let Some(reduction) = &self.reduction {
            reduction.weigh(reduction.tally());
            if frontier == 0 && self.keeps_searching() {
                let repair = self.repair(stage, reduction);
                self.beyond.store(false, Ordering::Relaxed);
                return repair;
            }
        }
        let goes_on = self.keeps_searching() && frontier > 0;
        if !goes_on || self.pauses(stage, self.states.sum(), self.system.escapes()) {
            self.beyond.store(frontier > 0, Ordering::Relaxed);
            return None;
        }
        Some((self.stage_after(stage, frontier), Vec::new()))
    }

    /// Whether the search ends between two levels although there is more to see. It does if so many states do not fit their form that
    /// it pays to begin again: a few at least, and one in so many.
    fn pauses(&self, stage: Stage, states: u64, escapes: u64) -> bool {
        let many = escapes >= FEW_ESCAPES && escapes >= states / STATES_AN_ESCAPE;
        let outgrown = self.options.pause_when_outgrown && many;
        self.outgrown.store(outgrown, Ordering::Relaxed);
        outgrown
            || self.options.pause_beyond.is_some_and(|most| states > most)
            || self.again.is_some_and(|again| stage.depth + 1 >= again.depth)
    }

    fn stage_after(&self, stage: Stage, frontier: u64) -> Stage {
        self.progress.depth.store(stage.depth + 1, Ordering::Relaxed);
        self.progress.bytes.store(self.meter.used(), Ordering::Relaxed);
        Stage {
            depth: stage.depth + 1,
            level: stage.level.next(self.visited.bound()),
            before: Some(stage.level),
            block: block(frontier, self.workers),
        }
    }

    /// The states that the proviso of the reduction wants expanded in full, as one more level. They
    /// were settled long ago, and any earlier state may be the parent of what they lead to.
    fn repair(&self, stage: Stage, reduction: &Common<'_>) -> Option<(Stage, Vec<Batch>)> {
        let chosen = reduction.close_round(&self.meter);
        let mut batches: Vec<Batch> = Vec::new();
        let mut state = vec![0; self.words];
        let mut orbits = self.system.orbits();
        let mut identity = vec![0; orbits.as_ref().map_or(0, |o| o.words())];
        for v in &chosen {
            if batches.last().is_none_or(Batch::is_full) {
                match Batch::new(self.words, &self.meter) {
                    Ok(mut batch) => {
                        batch.again = true;
                        batches.push(batch);
                    }
                    Err(_) => {
                        self.stop_for(Reason::Memory);
                        return None;
                    }
                }
            }
            let found = match &mut orbits {
                None => self.visited.state(v.id, &mut state),
                Some(orbits) => {
                    self.visited.state(v.id, &mut identity) && orbits.representative(&identity, &mut state)
                }
            };
            assert!(found, "the topological proviso needs exact states");
            if let Some(batch) = batches.last_mut() {
                batch.push(v.id, v.print, &state, Marks { flawed: v.flawed, loose: false });
            }
        }
        let level = Level { odd: !stage.level.odd, expanding: 0, filling: self.visited.bound() };
        let block = block(chosen.len() as u64, self.workers);
        let next = Stage { depth: stage.depth + 1, level, before: None, block };
        (!batches.is_empty()).then_some((next, batches))
    }

    /// Whether the search goes on after the initial states.
    fn keeps_searching(&self) -> bool {
        let go_on = self.options.keep_going || !self.any_finding.load(Ordering::Relaxed);
        !self.queues.is_stopped() && go_on && !self.all_violated()
    }

    fn note_panic(&self, payload: &(dyn Any + Send)) {
        let text = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap_or_else(|| "a panic without a message".into());
        self.panic.lock().get_or_insert(text);
        self.visited.abort();
        self.queues.stop();
    }

    fn panicked(&self) -> Option<String> {
        self.panic.lock().clone()
    }
}

/// Ids that a worker reserves at a time. What it does not use by the end of a level is lost, so the
/// blocks are small against the level: at most one id in 64 on average.
fn block(frontier: u64, workers: usize) -> u32 {
    (frontier / (32 * workers as u64)).clamp(1, 1024) as u32
}

/// Explores all states that `system` can reach, as far as `budget` allows.
pub fn explore<S: System>(system: &S, options: &Options, budget: &Budget) -> Result<Outcome, InternalError> {
    // States without words are one state.
    if options.store == Mode::Disk && system.words() > 0 {
        return disk::explore(system, options, budget);
    }
    let Some((shared, lanes)) = prepare(system, options, budget) else {
        return Ok(Outcome::nothing(Reason::Memory, system.event_names().len()));
    };
    let workers = begin(&shared, lanes);
    let goes_on = match &shared.together {
        None => shared.keeps_searching(),
        Some(together) => shared.begin_together(together),
    };
    let records = if goes_on { run(&shared, workers) } else { finish(workers) };
    conclude(shared, records)
}

/// All that the workers share, before anything was found; `None` if there is no memory for it.
fn prepare<'a, S: System>(
    system: &'a S,
    options: &'a Options,
    budget: &'a Budget,
) -> Option<(Shared<'a, S>, Vec<Lane>)> {
    prepare_for(system, options, budget, Purpose::Search)
}

/// What a search is for.
#[derive(Clone, Copy)]
enum Purpose {
    Search,
    /// To go on where another process ended, with the ids that its states had.
    Resume,
    Paths(Again),
}

/// The same, for any purpose.
fn prepare_for<'a, S: System>(
    system: &'a S,
    options: &'a Options,
    budget: &'a Budget,
    purpose: Purpose,
) -> Option<(Shared<'a, S>, Vec<Lane>)> {
    let again = match purpose {
        Purpose::Paths(again) => Some(again),
        Purpose::Search | Purpose::Resume => None,
    };
    let ids = matches!(purpose, Purpose::Resume);
    let workers = options.workers.max(1);
    let meter = Meter::generous(budget.max_memory);
    let reduction = match (options.por, system.relations()) {
        (Some(por), Some(relations)) => {
            assert_eq!(options.order, Order::Bfs, "partial order reduction needs a breadth-first search");
            // Without stored states nothing can be expanded again.
            let proviso = if options.store == Mode::Exact { por.proviso } else { Proviso::Level };
            Some(Common::new(Por { proviso, ..por }, relations))
        }
        _ => None,
    };
    // A part of the limit is for what the workers need beside the states.
    let base = budget.max_memory.map_or(0, |limit| resident_bytes() + limit / 32);
    meter.others_use(base);
    let orbits = system.orbits();
    let is_numbered = ids || reduction.is_some() || orbits.is_some();
    let keeps_predecessors =
        is_numbered || again.is_some() || options.store != Mode::Exact || !second::is_possible(options);
    let shape = Shape {
        mode: options.store,
        words: orbits.as_ref().map_or(system.words(), |o| o.words()),
        workers,
        slots: options.slots,
        tag_bits: options.tag_bits,
        ids: options.ids,
        satellites: false,
        parents: ids
            || again.is_some()
            || options.keep_parents && options.peers.is_none()
            || !second::is_possible(options)
            || reduction.is_some(),
        packed: second::packed(system, options, again).filter(|_| !is_numbered),
    };
    let mut visited = Visited::new(shape, &meter).ok()?;
    let together = options.peers.as_deref().map(|peers| {
        assert_eq!(options.order, Order::Bfs, "several machines search breadth first");
        let alone = reduction.as_ref().is_some_and(Common::needs_proviso);
        assert!(!alone, "several machines reduce without a proviso");
        Together::new(peers, keeps_predecessors)
    });
    if keeps_predecessors && together.is_some() {
        visited.look_far().ok()?;
    }
    let (queues, lanes) = Queues::new(options.order, workers, options.seed, together.is_some());
    let shared = Shared {
        system,
        options,
        budget,
        words: system.words(),
        workers,
        states: Counter::new(workers),
        visited,
        queues,
        ledger: Ledger::default(),
        meter,
        base,
        progress: &options.progress,
        any_finding: AtomicBool::new(false),
        violated: AtomicU64::new(0),
        beyond: AtomicBool::new(false),
        outgrown: AtomicBool::new(false),
        ending: Mutex::new(None),
        panic: Mutex::new(None),
        reduction,
        together,
        initial: Mutex::default(),
        again,
        trails: Vec::new(),
        disk: None,
    };
    Some((shared, lanes))
}

fn workers<'a, S: System>(shared: &'a Shared<'a, S>, lanes: Vec<Lane>) -> Vec<Worker<'a, S>> {
    lanes.into_iter().enumerate().map(|(index, lane)| Worker::new(shared, index, lane)).collect()
}

/// The initial states, found by the first worker alone.
fn begin<'a, S: System>(shared: &'a Shared<'a, S>, lanes: Vec<Lane>) -> Vec<Worker<'a, S>> {
    let mut workers = workers(shared, lanes);
    on_threads(shared, &mut workers[..1], Worker::begin);
    let level = Level { odd: false, expanding: 0, filling: shared.visited.bound() };
    let frontier = shared.states.sum();
    let stage = Stage { depth: 0, level, before: None, block: block(frontier, workers.len()) };
    shared.queues.begin(stage);
    workers
}

/// Runs the search to its end. Now and then all workers come to rest and the search is saved.
fn run<'a, S: System>(shared: &'a Shared<'a, S>, mut workers: Vec<Worker<'a, S>>) -> Vec<Record> {
    loop {
        let stage = shared.queues.stage();
        for worker in &mut workers {
            worker.follow(stage);
        }
        on_threads(shared, &mut workers, Worker::run);
        if let Some(together) = &shared.together
            && !together.is_over()
            && shared.queues.is_stopped()
        {
            shared.leave_level(together);
        }
        if !shared.queues.is_paused() || shared.queues.is_over() {
            break;
        }
        checkpoint::save(shared, &mut workers);
        if shared.together.as_ref().is_some_and(Together::is_over) {
            shared.queues.stop();
            break;
        }
        if let Some(reason) = shared.ends_after_saving() {
            shared.ledger.enter_once(reason);
            shared.queues.stop();
            if let Some(together) = &shared.together {
                together.over.store(true, Ordering::Relaxed);
            }
            break;
        }
        shared.queues.proceed();
    }
    finish(workers)
}

fn finish<S: System>(workers: Vec<Worker<'_, S>>) -> Vec<Record> {
    workers.into_iter().map(Worker::finish).collect()
}

/// Gives each worker a thread for a job. A panic is noted, frees the others and ends the run.
fn on_threads<'a, S: System>(
    shared: &'a Shared<'a, S>,
    workers: &mut [Worker<'a, S>],
    job: fn(&mut Worker<'a, S>),
) {
    std::thread::scope(|scope| {
        for worker in workers {
            let body = move || {
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| job(worker))) {
                    shared.note_panic(&*payload);
                }
            };
            let thread = std::thread::Builder::new().name("explorer".into()).stack_size(shared.options.stack);
            if let Err(error) = thread.spawn_scoped(scope, body) {
                shared.note_panic(&format!("no thread for a worker: {error}"));
            }
        }
    });
}

/// Runs a job on as many threads as there are workers. A panic is noted.
fn on_threads_do<S: System>(shared: &Shared<'_, S>, job: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..shared.workers {
            let body = move || {
                if let Err(payload) = catch_unwind(AssertUnwindSafe(job)) {
                    shared.note_panic(&*payload);
                }
            };
            let thread = std::thread::Builder::new().name("explorer".into()).stack_size(shared.options.stack);
            if let Err(error) = thread.spawn_scoped(scope, body) {
                shared.note_panic(&format!("no thread for a worker: {error}"));
            }
        }
    });
}
