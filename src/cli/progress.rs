//! The live line on a terminal: states, rate, frontier, depth, memory.
//!
//! In: figures that the explorer updates. Out: one line on stderr, rewritten twice a second and wiped
//! at the end. In a pipe nothing is written.

use crate::base::text::grouped;
use crate::explore::Progress;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shows the line until it is dropped.
pub struct Line {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// A line for these figures, or none if stderr is no terminal.
    pub fn start(figures: Arc<Progress>) -> Line {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::io::stderr()
            .is_terminal()
            .then(|| std::thread::Builder::new().name("progress".into()).spawn(move || show(&figures, &flag)))
            .and_then(Result::ok);
        Line { stop, thread }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn show(figures: &Progress, stop: &AtomicBool) {
    const PERIOD: Duration = Duration::from_millis(500);
    let started = Instant::now();
    let (mut before, mut at) = (0u64, Instant::now());
    let mut shown = false;
    loop {
        std::thread::park_timeout(PERIOD);
        let mut err = std::io::stderr().lock();
        if stop.load(Ordering::Relaxed) {
            if shown {
                let _ = write!(err, "\r\x1b[K");
                let _ = err.flush();
            }
            return;
        }
        let states = figures.states.load(Ordering::Relaxed);
        let expanded = figures.expanded.load(Ordering::Relaxed);
        let rate = (states - before) as f64 / at.elapsed().as_secs_f64().max(1e-3);
        (before, at) = (states, Instant::now());
        let line = format!(
            "{:.0} s  {} states  {}/s  frontier {}  depth {}  {} MiB  findings {}",
            started.elapsed().as_secs_f64(),
            grouped(states),
            grouped(rate as u64),
            grouped(states.saturating_sub(expanded)),
            figures.depth.load(Ordering::Relaxed),
            figures.bytes.load(Ordering::Relaxed) >> 20,
            figures.findings.load(Ordering::Relaxed),
        );
        // A line that is wider than the terminal would leave its head behind.
        let width = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(w, _)| w.0 as usize);
        let fitting: String = line.chars().take(width.saturating_sub(1)).collect();
        let _ = write!(err, "\r\x1b[K{fitting}");
        let _ = err.flush();
        shown = true;
    }
}
