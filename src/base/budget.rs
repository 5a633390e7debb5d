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
        match self.time_limit {
            Some(limit) if self.started.elapsed() >= limit => Err(Stop::Time),
            _ => Ok(()),
        }
    }
}
