//! Limits of a run and the flag that stops it.
//!
//! In: limits from the command line, signals. Out: the answer to "may I go on?".
//! The only place below `driver` that reads the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a search that will be saved may take to come to rest.
pub const GRACE: Duration = Duration::from_secs(2);

/// Why a run was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Time,
    Memory,
    Interrupted,
}

/// Shared by all who work on one run; cheap to clone.
#[derive(Clone, Debug)]
pub struct Budget {
    pub started: Instant,
    pub time_limit: Option<Duration>,
    pub max_states: Option<u64>,
    pub max_memory: Option<u64>,
    interrupted: Arc<AtomicBool>,
    /// Someone who works beside this one is ready.
    settled: Option<Arc<AtomicBool>>,
    looked: Arc<Looked>,
}

/// The last look at the memory of the process: asking the system costs more than a batch of states.
#[derive(Debug, Default)]
struct Looked {
    /// When a look was last begun.
    at: AtomicU64,
    /// When the look that `bytes` comes from was begun.
    told: AtomicU64,
    bytes: AtomicU64,
}

/// Milliseconds between two looks.
const LOOK: u64 = 5;

/// Milliseconds after which an answer is too old: the thread that looks waits for a core, and others look themselves.
const STALE: u64 = 4 * LOOK;

/// The part of the memory limit that is kept for what is allocated between two looks.
const UNSEEN: u64 = 32;

impl Budget {
    pub fn unlimited() -> Self {
        Budget {
            started: Instant::now(),
            time_limit: None,
            max_states: None,
            max_memory: None,
            interrupted: Arc::new(AtomicBool::new(false)),
            settled: None,
            looked: Arc::default(),
        }
    }

    /// A budget of its own that lasts a moment from now: for what is worth that and no more.
    pub fn moment() -> Budget {
        Budget { time_limit: Some(GRACE), ..Budget::unlimited() }
    }

    /// The same budget for no more than so many states.
    pub fn of_states(&self, most: u64) -> Budget {
        Budget { max_states: Some(self.max_states.map_or(most, |n| n.min(most))), ..self.clone() }
    }

    /// A budget that lasts a little longer: for what is under way when the time is up and should
    /// not be cut, so that a search can be saved between two states.
    pub fn lenient(&self) -> Budget {
        let time_limit = self.time_limit.map(|limit| limit + GRACE);
        Budget { time_limit, ..self.clone() }
    }

    /// The same budget for one of several who work on one question, and the flag that ends this one alone.
    pub fn beside(&self) -> (Budget, Arc<AtomicBool>) {
        let flag = Arc::new(AtomicBool::new(false));
        (Budget { settled: Some(flag.clone()), ..self.clone() }, flag)
    }

    /// The flag a signal handler sets.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Memory of this process a few milliseconds ago at most.
    pub fn resident(&self) -> u64 {
        let looked = &self.looked;
        // The first look is due at once, and its answer is never there yet.
        let now = self.started.elapsed().as_millis() as u64 + STALE;
        let before = looked.at.load(Ordering::Relaxed);
        let due = now >= before + LOOK;
        // The thread that moves the time on has to look; the others take what is there unless it is old.
        let mine =
            due && looked.at.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if mine || now >= looked.told.load(Ordering::Relaxed) + STALE {
            looked.bytes.store(resident_bytes(), Ordering::Relaxed);
            looked.told.store(now, Ordering::Relaxed);
        }
        looked.bytes.load(Ordering::Relaxed)
    }

    /// Whether the run has to end now. Reads the clock: call it once per batch, not per state.
    pub fn check(&self) -> Result<(), Stop> {
        let is_settled = self.settled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_settled || self.interrupted.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted);
        }
        if self.time_limit.is_some_and(|limit| self.started.elapsed() >= limit) {
            return Err(Stop::Time);
        }
        if self.max_memory.is_some_and(|limit| self.resident() > limit - limit / UNSEEN) {
            return Err(Stop::Memory);
        }
        Ok(())
    }
}

impl Stop {
    /// The reason as the ledger words it.
    pub fn reason(self) -> &'static str {
        match self {
            Stop::Time => "time limit reached",
            Stop::Memory => "memory limit reached",
            Stop::Interrupted => "interrupted",
        }
    }
}

/// Memory of this process that is resident now; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    process_status("VmRSS:")
}

/// The most memory this process ever had resident; 0 where the system does not tell.
pub fn peak_resident_bytes() -> u64 {
    process_status("VmHWM:")
}

fn process_status(key: &str) -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|n| n.trim().parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}
