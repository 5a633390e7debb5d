//! The trail of a search: the states that its workers expanded, level by level, and the paths that are found back along it.
//!
//! In: packed states, as they are expanded; findings with their states and depths. Out: the path to each finding that is shown, the
//! very one that a search with predecessors shows.
//! Never here: states of several words, whose predecessors are stored, and searches of many states, which are done again (`second`).
//!
//! To go back from a state, the level before it is expanded once more, and of the states that lead to it the one with the
//! smallest fingerprint is taken. So every level is expanded again as in a second search, but nothing is looked up: targets
//! are compared with the few states that paths go through.

use super::batch::BATCH;
use super::findings::Place;
use super::second::{Paths, wanted};
use super::sink::Notes;
use super::{Shared, on_threads_do, trace};
use bombus_kernels::hash;
use bombus_kernels::memory::Meter;
use bombus_system::{EventId, Finding, Sink, System};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States of a level that are expanded by all workers together.
const THICK: usize = 1 << 14;

/// A trail may take one of so many bytes that are free.
const SHARE: u64 = 32;

/// Words of the first piece of memory of a trail, and of the largest ones.
const FIRST: usize = 4 * BATCH;
const LARGEST: usize = 1 << 15;

/// The states that one worker expanded.
pub(super) struct Trail {
    /// PERF: states are never moved, so that keeping one is writing eight bytes.
    pieces: Vec<Vec<u64>>,
    /// Where states begin that are of one level and in one piece.
    begins: Vec<Begin>,
    len: usize,
    /// More states are not kept, and then none.
    most: usize,
    lost: bool,
    claimed: u64,
    meter: Arc<Meter>,
}

struct Begin {
    depth: u32,
    piece: u32,
    at: usize,
}

impl Trail {
    pub fn new(most: usize, meter: &Arc<Meter>) -> Trail {
        Trail {
            pieces: Vec::new(),
            begins: Vec::new(),
            len: 0,
            most,
            lost: most == 0,
            claimed: 0,
            meter: meter.clone(),
        }
    }

    /// Keeps states of a level that are about to be expanded. Levels come one after the other.
    #[inline]
    pub fn keep(&mut self, depth: u32, states: &[u64]) {
        if self.lost {
            return;
        }
        let room = self.pieces.last().map_or(0, |piece| piece.capacity() - piece.len());
        let is_full = room < states.len();
        if is_full && !self.make_room(states.len()) {
            return self.give_up();
        }
        let number = self.pieces.len().saturating_sub(1) as u32;
        let Some(piece) = self.pieces.last_mut() else { return };
        if is_full || self.begins.last().is_none_or(|begin| begin.depth != depth) {
            self.begins.push(Begin { depth, piece: number, at: piece.len() });
        }
        piece.extend_from_slice(states);
        self.len += states.len();
    }

    /// One more piece of memory; false if there is none for it.
    fn make_room(&mut self, states: usize) -> bool {
        let words = self.len.clamp(FIRST, LARGEST).max(states);
        let bytes = (words * size_of::<u64>()) as u64;
        // The visited set comes first: a search that would fit its limit without the trail goes on without it.
        let is_little = self.meter.room() / SHARE > self.claimed + bytes;
        if self.len + states > self.most || !is_little || self.meter.claim(bytes).is_err() {
            return false;
        }
        self.claimed += bytes;
        let mut piece = Vec::new();
        let made = piece.try_reserve_exact(words).is_ok();
        self.pieces.push(piece);
        made
    }

    fn give_up(&mut self) {
        self.lost = true;
        self.pieces = Vec::new();
        self.begins = Vec::new();
        self.meter.release(std::mem::take(&mut self.claimed));
    }

    /// States with the depths of their levels.
    fn levels(&self) -> impl Iterator<Item = (u32, &[u64])> {
        self.begins.iter().enumerate().map(|(i, begin)| {
            let piece = &self.pieces[begin.piece as usize];
            let next = self.begins.get(i + 1).filter(|next| next.piece == begin.piece);
            (begin.depth, &piece[begin.at..next.map_or(piece.len(), |next| next.at)])
        })
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        self.meter.release(self.claimed);
    }
}

/// The paths to the findings that are shown; `None` if the trails do not lead back to the beginning.
pub(super) fn paths<S: System>(
    shared: &Shared<'_, S>,
    trails: &[Trail],
    findings: &[(Place, Finding, Option<u32>)],
) -> Option<Paths> {
    if trails.is_empty() || trails.iter().any(|trail| trail.lost) {
        return None;
    }
    // The system is asked as a worker asks it, so it needs a worker's stack and a worker's care.
    let walk = || catch_unwind(AssertUnwindSafe(|| walk(shared, trails, findings)));
    let thread = std::thread::Builder::new().name("trail".into()).stack_size(shared.options.stack);
    let chains = std::thread::scope(|scope| thread.spawn_scoped(scope, walk).ok()?.join().ok()?.ok()?)?;
    let show =
        |(at, chain): (usize, Vec<Vec<u64>>)| (at, trace::through(shared.system, &chain, &findings[at].1));
    Some(chains.into_iter().map(show).collect())
}

/// For each finding that is shown, the states on the way to it.
fn walk<S: System>(
    shared: &Shared<'_, S>,
    trails: &[Trail],
    findings: &[(Place, Finding, Option<u32>)],
) -> Option<Vec<(usize, Vec<Vec<u64>>)>> {
    let mut chains: Vec<(usize, Vec<u64>)> = Vec::new();
    for at in wanted(findings, shared.options.keep_going) {
        let [state] = findings[at].0.state.as_deref()? else { return None };
        chains.push((at, vec![*state]));
    }
    let deepest = chains.iter().map(|(at, _)| findings[*at].0.depth).max().unwrap_or(0);
    let mut levels: Vec<Vec<&[u64]>> = vec![Vec::new(); deepest as usize];
    for (depth, states) in trails.iter().flat_map(Trail::levels).filter(|(depth, _)| *depth < deepest) {
        levels[depth as usize].push(states);
    }
    let mut scratch = shared.system.replay_worker();
    for (depth, level) in levels.iter().enumerate().rev() {
        // Where a path is by now, if it has begun at all.
        let here = |(at, chain): &(usize, Vec<u64>)| {
            (findings[*at].0.depth as usize > depth).then(|| chain.last().copied()).flatten()
        };
        let targets: Vec<u64> = chains.iter().filter_map(here).collect();
        let found = predecessors(shared, &mut scratch, level, &targets)?;
        for chain in &mut chains {
            if let Some(target) = here(chain) {
                chain.1.push(found.get(&target)?.1);
            }
        }
    }
    let turned =
        |(at, chain): (usize, Vec<u64>)| (at, chain.into_iter().rev().map(|word| vec![word]).collect());
    Some(chains.into_iter().map(turned).collect())
}

/// For each target the state of a level with the smallest fingerprint of those that lead to it, and its fingerprint.
type Least = BTreeMap<u64, (u128, u64)>;

fn predecessors<S: System>(
    shared: &Shared<'_, S>,
    scratch: &mut S::Worker,
    level: &[&[u64]],
    targets: &[u64],
) -> Option<Least> {
    let pieces: Vec<&[u64]> = level.iter().flat_map(|states| states.chunks(BATCH)).collect();
    if pieces.len() * BATCH < THICK || shared.workers == 1 {
        let mut least = Least::new();
        pieces.iter().for_each(|piece| look(shared.system, scratch, piece, targets, &mut least));
        return Some(least);
    }
    let next = AtomicUsize::new(0);
    let all: Mutex<Least> = Mutex::default();
    on_threads_do(shared, &|| {
        let mut scratch = shared.system.replay_worker();
        let mut least = Least::new();
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            look(shared.system, &mut scratch, piece, targets, &mut least);
        }
        let mut all = all.lock();
        least.into_iter().for_each(|(target, found)| enter(&mut all, target, found));
    });
    shared.panicked().is_none().then(|| all.into_inner())
}

/// Looks for states that lead to one of the targets.
fn look<S: System>(system: &S, scratch: &mut S::Worker, states: &[u64], targets: &[u64], least: &mut Least) {
    let mut seeks =
        Seeks { targets, marks: targets.iter().fold(0, |all, word| all | mark(*word)), met: Vec::new() };
    system.foresee(scratch, states);
    for state in states.chunks(1) {
        // A state outside the scope was not expanded.
        if !system.in_scope(scratch, state, &mut Notes::default()) {
            continue;
        }
        system.successors(scratch, state, &mut seeks);
        if seeks.met.is_empty() {
            continue;
        }
        let print = system.fingerprint(scratch, state).unwrap_or_else(|| hash::words(state));
        for target in seeks.met.drain(..) {
            enter(least, target, (print, state[0]));
        }
    }
}

fn enter(least: &mut Least, target: u64, found: (u128, u64)) {
    let known = least.entry(target).or_insert(found);
    *known = (*known).min(found);
}

/// One of 64 bits for a word.
#[inline(always)]
fn mark(word: u64) -> u64 {
    1 << (hash::mix(word) >> 58)
}

/// Meets some targets among many.
struct Seeks<'a> {
    targets: &'a [u64],
    /// The marks of all targets: most others are told from them by these.
    marks: u64,
    met: Vec<u64>,
}

impl Seeks<'_> {
    #[inline(always)]
    fn see(&mut self, target: u64) {
        if mark(target) & self.marks != 0 && self.targets.contains(&target) {
            self.met.push(target);
        }
    }
}

impl Sink for Seeks<'_> {
    fn edge(&mut self, _: EventId, _: u64, target: &[u64]) {
        self.see(target[0]);
    }

    fn edges(&mut self, all: &[u64], words: usize) {
        all.chunks_exact(words + 2).for_each(|edge| self.see(edge[2]));
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
