//! Limits of a run and the flag that stops it.
//!
//! In: limits from the command line, signals. Out: the answer to "may I go on?".
//! The only place below `driver` that reads the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
}

impl Budget {
    pub fn unlimited() -> Self {
        Budget {
            started: Instant::now(),
            time_limit: None,
            max_states: None,
            max_memory: None,
            interrupted: Arc::new(AtomicBool::new(false)),
        }
    }

    /// The flag a signal handler sets.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the run has to end now. Reads the clock: call it once per batch, not per state.
    pub fn check(&self) -> Result<(), Stop> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted);
        }
        if self.time_limit.is_some_and(|limit| self.started.elapsed() >= limit) {
            return Err(Stop::Time);
        }
        if self.max_memory.is_some_and(|limit| resident_bytes() > limit) {
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
