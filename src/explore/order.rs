//! The order of the search as a policy: which batch a worker takes next, and when there is none left.
//!
//! In: batches of new states from workers. Out: batches to expand, or the end.
//! Never here: expansion. The worker's loop is the same for every order.
//!
//! All orders use one structure, a deque of batches per worker from which the others steal. `Bfs`
//! has two such sets and swaps them at the end of a level: during a level batches are only taken
//! from the one and only put into the other. So a worker that finds all deques of the level empty
//! will never find one filled again, and the last one to arrive at the barrier knows that every
//! batch of the level was dealt with by a worker that has arrived. `Dfs` takes the newest batch and
//! lets thieves have the oldest, `Mixed` takes newest or oldest by a seeded coin; both end when
//! `Tally::quiet` says that no work is left.

use super::batch::Batch;
use bombus_kernels::hash;
use bombus_kernels::parents::Level;
use bombus_kernels::random::Random;
use bombus_kernels::shim::{Backoff, Padded};
use bombus_kernels::termination::Tally;
use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    #[default]
    Bfs,
    Dfs,
    Mixed,
}

/// Below this many states a level is expanded by one worker: waking the others costs more.
const THIN: u64 = 256;

/// Looks at the barrier before a worker goes to sleep: some thirty microseconds.
const PATIENCE: u32 = 2000;

/// Rounds of waiting, of 50 µs each, after which work that nobody has counts as lost.
const LOST: u32 = 20_000;

/// Which level is being expanded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stage {
    /// Distance of the level from the initial states.
    pub depth: u32,
    pub level: Level,
    /// The level before, whose states may not have been settled yet; none at depth 0.
    pub before: Option<Level>,
    /// How many ids a worker reserves at a time.
    pub block: u32,
}

/// What the workers share.
pub struct Queues {
    order: Order,
    /// Other machines take part: a level in which nothing is left to do here may not be the last one.
    together: bool,
    stealers: Vec<[Stealer<Batch>; 2]>,
    pub tally: Tally,
    barrier: Mutex<Barrier>,
    wake: Condvar,
    /// How often the barrier was opened, for those who wait for it without sleep.
    openings: Padded<AtomicU64>,
    /// How often who waits looks for the next level before going to sleep.
    patience: u32,
    stopped: AtomicBool,
    /// Everybody is to put down what they hold and leave, so that the search can be saved.
    paused: AtomicBool,
    /// Workers that look for work in a search without levels.
    idle: AtomicU32,
}

struct Barrier {
    waiting: usize,
    /// Counts the openings; a waiting worker leaves when it has changed.
    opened: u64,
    stage: Stage,
    ended: bool,
}

/// One worker's end of the queues.
pub struct Lane {
    worker: usize,
    deques: [Deque<Batch>; 2],
    /// Which of the two deques holds the level being expanded; always 0 in orders without levels.
    side: usize,
    pub stage: Stage,
    coin: Random,
}

impl Queues {
    pub fn new(order: Order, workers: usize, seed: u64, together: bool) -> (Queues, Vec<Lane>) {
        let deque = || match order {
            Order::Bfs => Deque::new_fifo(),
            Order::Dfs | Order::Mixed => Deque::new_lifo(),
        };
        let lanes: Vec<Lane> = (0..workers)
            .map(|worker| Lane {
                worker,
                deques: [deque(), deque()],
                side: 0,
                stage: Stage::default(),
                coin: Random(hash::mix(seed ^ hash::mix(worker as u64 + 1))),
            })
            .collect();
        let queues = Queues {
            order,
            together,
            stealers: lanes.iter().map(|lane| [lane.deques[0].stealer(), lane.deques[1].stealer()]).collect(),
            tally: Tally::new(workers),
            barrier: Mutex::new(Barrier { waiting: 0, opened: 0, stage: Stage::default(), ended: false }),
            wake: Condvar::new(),
            openings: Padded::default(),
            // Who has no core of its own would keep others from theirs.
            patience: match std::thread::available_parallelism() {
                Ok(cores) if workers <= cores.get() => PATIENCE,
                _ => 0,
            },
            stopped: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            idle: AtomicU32::new(0),
        };
        (queues, lanes)
    }

    /// Puts the states of the first level, before the workers start.
    pub fn put_first(&self, lane: &mut Lane, batch: Batch) {
        lane.deques[lane.side].push(batch);
    }

    /// The stage every worker starts with.
    pub fn begin(&self, stage: Stage) {
        self.lock().stage = stage;
    }

    /// The stage that was reached.
    pub fn stage(&self) -> Stage {
        self.lock().stage
    }

    /// Makes new states available: to anybody at once, or in the next level. They were counted as
    /// created before.
    pub fn put(&self, lane: &mut Lane, batch: Batch) {
        let side = if self.order == Order::Bfs { 1 - lane.side } else { lane.side };
        lane.deques[side].push(batch);
    }

    /// Ends the run for everybody, as soon as they look.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.lock().ended = true;
        self.wake.notify_all();
    }

    /// Ends the run for everybody, while nobody works and somebody may hold the barrier.
    pub fn mark_stopped(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Asks all workers to leave with all work on the queues. For whoever closes a level: all others wait.
    pub fn pause_between_levels(&self) {
        self.paused.store(true, Ordering::Release);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Asks all workers to leave at the end of their batch, with all work back on the queues.
    pub fn pause(&self) {
        if !self.paused.swap(true, Ordering::AcqRel) {
            let _barrier = self.lock();
            self.wake.notify_all();
        }
    }

    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Whether nothing is left to do, or nobody wants to do it. Asked while nobody works. In a search by
    /// levels that no state waits does not tell: a proviso may ask for some again.
    pub fn is_over(&self) -> bool {
        let quiet = self.order != Order::Bfs && self.tally.quiet();
        self.is_stopped() || quiet || self.lock().ended
    }

    /// Lets the workers start again after a pause; all of them begin with the present stage.
    pub fn proceed(&self) {
        self.lock().waiting = 0;
        self.paused.store(false, Ordering::Release);
    }

    /// Whether somebody waits for work that could be had now: then even a small batch should be put.
    pub fn is_anyone_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// A batch of the worker's own or of somebody else's, if there is one now.
    pub fn take(&self, lane: &mut Lane) -> Option<Batch> {
        let side = lane.side;
        if self.order == Order::Mixed
            && lane.toss()
            && let Some(batch) = steal(&self.stealers[lane.worker][side])
        {
            return Some(batch);
        }
        if let Some(batch) = lane.deques[side].pop() {
            return Some(batch);
        }
        let workers = self.stealers.len();
        let first = lane.coin.next() as usize % workers;
        (0..workers)
            .map(|i| (first + i) % workers)
            .filter(|victim| *victim != lane.worker)
            .find_map(|victim| steal(&self.stealers[victim][side]))
    }

    /// Called when `take` found nothing and the worker has put all it had: waits until there may
    /// be work again (true) or the search is over (false). `next` is asked, by one worker while
    /// all others wait, for the stage that follows a finished level and for states to be expanded in
    /// it again, `None` to end.
    pub fn wait(
        &self,
        lane: &mut Lane,
        next: impl FnOnce(Stage, u64) -> Option<(Stage, Vec<Batch>)>,
    ) -> bool {
        match self.order {
            Order::Bfs => self.wait_for_level(lane, next),
            Order::Dfs | Order::Mixed => self.wait_for_work(lane),
        }
    }

    fn wait_for_level(
        &self,
        lane: &mut Lane,
        next: impl FnOnce(Stage, u64) -> Option<(Stage, Vec<Batch>)>,
    ) -> bool {
        let mut barrier = self.lock();
        if barrier.ended {
            return false;
        }
        barrier.waiting += 1;
        if barrier.waiting < self.stealers.len() {
            let before = barrier.opened;
            drop(barrier);
            self.linger(before);
            barrier = self.lock();
            while barrier.opened == before && !barrier.ended && !self.is_paused() {
                self.wake.wait(&mut barrier);
            }
        } else {
            let (created, finished) = (self.tally.total_created(), self.tally.total_finished());
            let frontier = created.checked_sub(finished).expect("work is done once, and created before");
            let next = next(barrier.stage, frontier);
            let again: u64 = next.iter().flat_map(|(_, batches)| batches).map(|b| b.len() as u64).sum();
            let frontier = frontier + again;
            match next {
                Some((stage, batches)) if frontier > 0 || self.together => {
                    let side = 1 - lane.side;
                    self.tally.created(lane.worker, again);
                    batches.into_iter().for_each(|batch| lane.deques[side].push(batch));
                    let none = self.stealers.iter().all(|pair| pair[side].is_empty());
                    assert!(!none || frontier == 0, "work was lost or done twice");
                    barrier.stage = stage;
                    if frontier < THIN && !self.together {
                        // The others stay where they are, counted as waiting.
                        barrier.waiting -= 1;
                    } else {
                        barrier.waiting = 0;
                        barrier.opened += 1;
                        self.openings.0.store(barrier.opened, Ordering::Release);
                        self.wake.notify_all();
                    }
                }
                _ => {
                    barrier.ended = true;
                    self.wake.notify_all();
                }
            }
        }
        lane.follow(barrier.stage);
        !barrier.ended
    }

    /// Waits for an opening of the barrier for as long as it takes to fall asleep and wake again: a level may be done in less.
    fn linger(&self, before: u64) {
        for _ in 0..self.patience {
            if self.openings.0.load(Ordering::Acquire) != before || self.is_stopped() || self.is_paused() {
                return;
            }
            std::hint::spin_loop();
        }
    }

    fn wait_for_work(&self, lane: &mut Lane) -> bool {
        let mut backoff = Backoff::default();
        let mut rounds = 0;
        self.idle.fetch_add(1, Ordering::Relaxed);
        let go_on = loop {
            if self.is_stopped() || self.is_paused() {
                break false;
            }
            // Whoever has seen the end does not come back, and goes on to be counted as one who waits.
            if self.tally.quiet() {
                return false;
            }
            if self.stealers.iter().any(|pair| !pair[lane.side].is_empty()) {
                break true;
            }
            // All wait, all queues are empty, and still some work is not finished: it was lost, or
            // done twice. Whoever is about to leave this loop is no longer counted when its queue
            // is found empty; that this lasts for so long is for the reader's peace of mind.
            let all_wait = self.idle.load(Ordering::Relaxed) as usize == self.stealers.len();
            rounds = if all_wait { rounds + 1 } else { 0 };
            assert!(rounds < LOST, "work was lost or done twice");
            backoff.wait();
        };
        self.idle.fetch_sub(1, Ordering::Relaxed);
        go_on
    }

    fn lock(&self) -> MutexGuard<'_, Barrier> {
        self.barrier.lock()
    }
}

impl Lane {
    /// Goes on to a stage: the side that was filled in the level before is now taken from.
    pub fn follow(&mut self, stage: Stage) {
        self.side = (stage.depth & 1) as usize;
        self.stage = stage;
    }

    /// Takes all batches of one side, oldest first. The owner alone works meanwhile.
    pub fn drain(&mut self, side: usize) -> Vec<Batch> {
        let stealer = self.deques[side].stealer();
        std::iter::from_fn(|| steal(&stealer)).collect()
    }

    /// Drops all batches, one by one, and says how many states they held.
    pub fn clear(&mut self) -> u64 {
        let both = self
            .deques
            .iter()
            .map(|deque| std::iter::from_fn(|| deque.pop()).map(|batch| batch.len() as u64).sum::<u64>());
        both.sum()
    }

    /// Puts batches, oldest first.
    pub fn refill(&mut self, side: usize, batches: impl IntoIterator<Item = Batch>) {
        batches.into_iter().for_each(|batch| self.deques[side].push(batch));
    }

    pub fn toss(&mut self) -> bool {
        self.coin.next() & 1 == 0
    }
}

fn steal(from: &Stealer<Batch>) -> Option<Batch> {
    loop {
        match from.steal() {
            Steal::Success(batch) => return Some(batch),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
