//! The gate: many workers inside, or one growth with all others outside. No lock, no reader count.
//!
//! In: workers that enter for a batch and leave, one that asks for a growth. Out: the guarantee that
//! the tasks of a growth run while nobody is inside, each task by exactly one worker.
//! Never here: what a task does. The argument stands in `README.md` beside this file.

use crate::Trouble;
use crate::shim::{AtomicBool, AtomicU32, AtomicU64, Backoff, Ordering, Padded, fence};

/// Low half of `turn`: workers may enter.
const OPEN: u32 = u32::MAX;
/// Low half of `turn`: a worker waits for the others to leave.
const CLOSING: u32 = u32::MAX - 1;

pub struct Gate {
    /// `inside[w]` is written by worker `w` alone.
    inside: Box<[Padded<AtomicBool>]>,
    /// High half: how many growths there were. Low half: OPEN, CLOSING, or the next task to take.
    /// One word, so that a task can only be taken in the growth that its taker looked at.
    turn: Padded<AtomicU64>,
    /// Tasks of the present growth, and how many of them are done.
    tasks: AtomicU32,
    done: AtomicU32,
    aborted: AtomicBool,
}

fn word(growth: u32, phase: u32) -> u64 {
    (growth as u64) << 32 | phase as u64
}

fn growth_of(word: u64) -> u32 {
    (word >> 32) as u32
}

fn phase_of(word: u64) -> u32 {
    word as u32
}

impl Gate {
    pub fn new(workers: usize) -> Self {
        Gate {
            inside: (0..workers).map(|_| Padded(AtomicBool::new(false))).collect(),
            turn: Padded(AtomicU64::new(word(0, OPEN))),
            tasks: AtomicU32::new(0),
            done: AtomicU32::new(0),
            aborted: AtomicBool::new(false),
        }
    }

    /// Lets `worker` in, after helping with a growth if one is under way. Returns the number of
    /// growths so far, which `grow` wants back. Every `enter` is followed by a `leave`.
    pub fn enter(&self, worker: usize, task: &dyn Fn(u32)) -> Result<u32, Trouble> {
        loop {
            self.inside[worker].0.store(true, Ordering::Relaxed);
            // Our flag before our look at `turn`; partner: the fence in `grow`.
            fence(Ordering::SeqCst);
            // Acquire: the growths that ended before are visible; partner: the Release in `grow`.
            let turn = self.turn.0.load(Ordering::Acquire);
            if phase_of(turn) == OPEN {
                return Ok(growth_of(turn));
            }
            self.leave(worker);
            self.help(task)?;
        }
    }

    pub fn leave(&self, worker: usize) {
        // Release: what we did inside is visible to a growth; partner: the Acquire load in `grow`.
        self.inside[worker].0.store(false, Ordering::Release);
    }

    /// Runs a growth: waits until nobody is inside, lets `plan` say how many tasks there are, has
    /// them done with the help of whoever waits, and runs `finish` before anybody enters. Returns
    /// at once if there was a growth since `seen`. The caller must be outside.
    pub fn grow(
        &self,
        seen: u32,
        plan: impl FnOnce() -> Result<u32, Trouble>,
        task: &dyn Fn(u32),
        finish: impl FnOnce() -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let closing = word(seen, CLOSING);
        if self
            .turn
            .0
            .compare_exchange(word(seen, OPEN), closing, Ordering::AcqRel, Ordering::Relaxed)
            .is_err()
        {
            return self.help(task);
        }
        // Our closing before our look at the flags; partner: the fence in `enter`.
        fence(Ordering::SeqCst);
        for flag in &self.inside {
            let mut backoff = Backoff::default();
            while flag.0.load(Ordering::Acquire) {
                self.check()?;
                backoff.wait();
            }
        }
        let next = word(seen.wrapping_add(1), OPEN);
        let tasks = match plan() {
            Ok(tasks) => tasks,
            Err(trouble) => {
                self.turn.0.store(next, Ordering::Release);
                return Err(trouble);
            }
        };
        assert!(tasks < CLOSING);
        self.tasks.store(tasks, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        // Release: helpers that take a task see what happened inside before, and the two stores.
        self.turn.0.store(word(seen, 0), Ordering::Release);
        self.take_tasks(seen, task);
        let mut backoff = Backoff::default();
        // Acquire: the helpers' work is visible before the gate opens; partner: `take_tasks`.
        while self.done.load(Ordering::Acquire) < tasks {
            self.check()?;
            backoff.wait();
        }
        let finished = finish();
        self.turn.0.store(next, Ordering::Release);
        finished
    }

    fn take_tasks(&self, growth: u32, task: &dyn Fn(u32)) {
        let mut turn = self.turn.0.load(Ordering::Acquire);
        while growth_of(turn) == growth && phase_of(turn) < self.tasks.load(Ordering::Relaxed) {
            // On success this growth is still going on, so the task taken belongs to it: the word
            // of another growth has another high half.
            match self.turn.0.compare_exchange(turn, turn + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    task(phase_of(turn));
                    self.done.fetch_add(1, Ordering::AcqRel);
                    turn = self.turn.0.load(Ordering::Acquire);
                }
                Err(now) => turn = now,
            }
        }
    }

    /// Works on the growth under way until it is over.
    fn help(&self, task: &dyn Fn(u32)) -> Result<(), Trouble> {
        let mut backoff = Backoff::default();
        loop {
            self.check()?;
            let turn = self.turn.0.load(Ordering::Acquire);
            match phase_of(turn) {
                OPEN => return Ok(()),
                CLOSING => backoff.wait(),
                _ => {
                    self.take_tasks(growth_of(turn), task);
                    backoff.wait();
                }
            }
        }
    }

    /// Frees all who wait, because a worker failed. Nothing can be inserted afterwards.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }

    fn check(&self) -> Result<(), Trouble> {
        if self.aborted.load(Ordering::Relaxed) { Err(Trouble::Aborted) } else { Ok(()) }
    }
}
