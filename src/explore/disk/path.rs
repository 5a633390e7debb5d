//! The path to a state of a search on disk, found backwards.
//!
//! In: findings with their states and depths. Out: the path to each that is to be shown, the one that a search in memory shows.
//! Never here: the search. The levels are as it left them.

use super::super::findings::Place;
use super::super::second::{Paths, not_found, wanted};
use super::super::sink::Notes;
use super::super::trace;
use super::super::{InternalError, Shared, on_threads_do};
use super::TAKEN;
use bombus_kernels::hash;
use bombus_system::{EventId, Finding, Sink, System};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The paths to the findings that are shown.
pub(in super::super) fn paths<S: System>(
    shared: &Shared<'_, S>,
    findings: &[(Place, Finding, Option<u32>)],
) -> Result<Paths, InternalError> {
    let mut paths = Paths::new();
    for at in wanted(findings, shared.options.keep_going) {
        let (place, finding, _) = &findings[at];
        let mut chain = vec![place.state.clone().ok_or_else(not_found)?];
        for depth in (0..place.depth).rev() {
            let target = chain.last().ok_or_else(not_found)?;
            chain.push(predecessor(shared, depth, target)?);
        }
        chain.reverse();
        paths.insert(at, trace::through(shared.system, &chain, finding));
    }
    Ok(paths)
}

/// The state with the smallest fingerprint among those of a level that lead to `target`.
fn predecessor<S: System>(
    shared: &Shared<'_, S>,
    depth: u32,
    target: &[u64],
) -> Result<Vec<u64>, InternalError> {
    let disk = shared.disk.as_ref().expect("a search on disk has files");
    let run = disk.archive.lock().runs.get(depth as usize).cloned().ok_or_else(not_found)?;
    let failed = |_| InternalError("a level of the search cannot be read again".into());
    disk.open(&run).map_err(failed)?;
    let least: Mutex<Option<(u128, Vec<u64>)>> = Mutex::new(None);
    let unread = AtomicBool::new(false);
    on_threads_do(shared, &|| {
        let mut scratch = shared.system.replay_worker();
        let mut states = Vec::with_capacity(TAKEN * shared.words);
        loop {
            if disk.take(&mut states).is_err() {
                return unread.store(true, Ordering::Relaxed);
            }
            if states.is_empty() {
                return;
            }
            for state in states.chunks_exact(shared.words) {
                // A state outside the scope was not expanded.
                if !shared.system.in_scope(&mut scratch, state, &mut Notes::default()) {
                    continue;
                }
                let mut looks = Looks { target, leads: false };
                shared.system.successors(&mut scratch, state, &mut looks);
                if looks.leads {
                    let meant = shared.system.fingerprint(&mut scratch, state);
                    let print = meant.unwrap_or_else(|| hash::words(state));
                    let mut least = least.lock();
                    if least.as_ref().is_none_or(|(known, _)| print < *known) {
                        *least = Some((print, state.to_vec()));
                    }
                }
            }
        }
    });
    if unread.into_inner() || shared.panicked().is_some() {
        return Err(InternalError("a level of the search cannot be read again".into()));
    }
    least.into_inner().map(|(_, state)| state).ok_or_else(not_found)
}

/// Looks for one target.
struct Looks<'a> {
    target: &'a [u64],
    leads: bool,
}

impl Sink for Looks<'_> {
    fn edge(&mut self, _: EventId, _: u64, target: &[u64]) {
        self.leads |= target == self.target;
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
