//! Folding: a state of many words becomes one word, without loss.
//!
//! In: states whose neighbours share most of their words. Out: roots; equal states have equal roots and
//! different states different ones.
//! Never here: which states were visited.
//!
//! Each word is interned and so becomes a number of 32 bits, pairs of numbers are interned in turn,
//! until one pair is left: the root. States that share words share nodes, so that a large set
//! needs little more than a root per state.

use crate::Trouble;
use crate::chunks::Chunks;
use crate::faults::fault;
use crate::hash;
use crate::memory::Meter;
use crate::shim::{AtomicU64, Ordering};
use crate::table::{Entry, Full, Ids, Table};
use std::sync::Arc;

/// Words numbered in the order of their coming, each once.
pub(crate) struct Interner {
    pub(crate) table: Table,
    pub(crate) keys: Chunks<AtomicU64>,
}

#[inline(always)]
pub(crate) fn tag_of(key: u64) -> u32 {
    (hash::mix(key) >> 32) as u32
}

impl Interner {
    /// As `Table::new`.
    pub(crate) fn new(
        slots: usize,
        tag_bits: u32,
        most: u32,
        meter: &Arc<Meter>,
    ) -> Result<Interner, Trouble> {
        Ok(Interner { table: Table::new(slots, tag_bits, most, meter)?, keys: Chunks::new(1, meter)? })
    }

    /// The caller holds an id in reserve.
    #[inline]
    pub(crate) fn put(&self, ids: &mut Ids, key: u64) -> Result<Entry, Full> {
        let same = |id| self.keys.of(id)[0].load(Ordering::Relaxed) == key;
        let write = |id| self.keys.of(id)[0].store(key, Ordering::Relaxed);
        self.table.find_or_put(ids, tag_of(key), same, write)
    }

    fn number(&self, ids: &mut Ids, key: u64) -> Result<u32, Stuck> {
        if ids.is_empty() {
            let range = self.table.reserve(ids, 64)?;
            self.keys.ensure(range.start, range.end)?;
        }
        Ok(self.put(ids, key)?.id)
    }

    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        self.table.find(tag_of(key), |id| self.keys.of(id)[0].load(Ordering::Relaxed) == key)
    }

    pub(crate) fn key(&self, id: u32) -> u64 {
        self.keys.of(id)[0].load(Ordering::Relaxed)
    }
}

/// A state that a worker folded, with the nodes on every level of its tree: the base. States that
/// differ from it in a word or two are folded by looking up the paths above these words alone.
#[derive(Default)]
pub(crate) struct Fold {
    words: Vec<u64>,
    /// Level by level, leaves first; each level half as long as the one before, the last of two.
    nodes: Vec<Vec<u32>>,
    /// Whether the levels fit together and belong to `words`.
    valid: bool,
    /// The nodes of one level that differ from those of the base: place and number, ascending.
    news: Vec<(u32, u32)>,
    recent: Recent,
}

/// States that a worker folded lately, with their roots. Where steps commute, a state is met again from the siblings
/// of its source, a few hundred edges later. Roots never change, so an entry is right for ever; states are compared
/// word by word. Where states are rarely met again it gives up.
#[derive(Default)]
pub(crate) struct Familiar {
    /// Hash and root of a state each, a power of two of them; `NO_ROOT` where there is no state.
    marks: Vec<(u64, u64)>,
    /// The words of the states, in the same order.
    states: Vec<u64>,
    missed: usize,
    /// Since it was last asked whether this pays.
    asked: u32,
    known: u32,
    given_up: bool,
}

/// Numbers of nodes are below 2^32 - 1, so this is no pair of them.
const NO_ROOT: u64 = u64::MAX;

/// Bytes of familiar states at most, how many of them there are at first, and after how many questions one in
/// three must have been known.
const FAMILIAR: usize = if cfg!(loom) { 64 } else { 1 << 18 };
const FEW: usize = if cfg!(loom) { 1 } else { 64 };
const TRIAL: u32 = 1 << 13;

impl Familiar {
    /// The root of a state, if it is among them.
    #[inline]
    pub(crate) fn root(&mut self, state: &[u64]) -> Option<u64> {
        let last = self.marks.len().checked_sub(1)?;
        self.asked += 1;
        let hash = hash_of(state);
        let at = hash as usize & last;
        let (mark, root) = self.marks[at];
        let words = state.len();
        if fault("table: a familiar state is any in its place") && root != NO_ROOT {
            return Some(root);
        }
        if mark != hash || root == NO_ROOT || self.states[at * words..(at + 1) * words] != *state {
            return None;
        }
        self.known += 1;
        Some(root)
    }

    /// Remembers a state that was not among them.
    #[inline]
    pub(crate) fn meet(&mut self, state: &[u64], root: u64) {
        if self.given_up {
            return;
        }
        let words = state.len();
        self.missed += 1;
        if self.missed > 2 * self.marks.len() || self.asked >= TRIAL {
            self.judge(words);
            if self.given_up {
                return;
            }
        }
        let hash = hash_of(state);
        let at = hash as usize & (self.marks.len() - 1);
        self.states[at * words..(at + 1) * words].copy_from_slice(state);
        self.marks[at] = (hash, root);
    }

    /// Gives up, or takes more room if there are too few.
    #[cold]
    fn judge(&mut self, words: usize) {
        if self.asked >= TRIAL {
            self.given_up |= self.known < self.asked / 3;
            (self.asked, self.known) = (0, 0);
        }
        let count = (2 * self.marks.len()).max(FEW);
        if self.given_up {
            (self.marks, self.states) = (Vec::new(), Vec::new());
        } else if self.missed > 2 * self.marks.len()
            && (self.marks.is_empty() || 8 * count * (words + 2) <= FAMILIAR)
        {
            let states = std::mem::replace(&mut self.states, vec![0; count * words]);
            let marks = std::mem::replace(&mut self.marks, vec![(0, NO_ROOT); count]);
            for (state, mark) in states.chunks(words).zip(marks).filter(|(_, mark)| mark.1 != NO_ROOT) {
                let at = mark.0 as usize & (count - 1);
                self.states[at * words..(at + 1) * words].copy_from_slice(state);
                self.marks[at] = mark;
            }
        }
        self.missed = 0;
    }
}

/// A hash of all words of a state, in four lanes so that none need wait for another.
#[inline]
fn hash_of(state: &[u64]) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [A, !A, A >> 1, !A >> 1];
    let (fours, rest) = state.as_chunks::<4>();
    for four in fours {
        for (lane, word) in lanes.iter_mut().zip(four) {
            *lane = (lane.rotate_left(29) ^ word).wrapping_mul(A);
        }
    }
    for (lane, word) in lanes.iter_mut().zip(rest) {
        *lane = (lane.rotate_left(29) ^ word).wrapping_mul(A);
    }
    let [a, b, c, d] = lanes;
    let sum = (a ^ b.rotate_left(16) ^ c.rotate_left(32) ^ d.rotate_left(48)).wrapping_mul(A);
    sum ^ sum >> 32
}

/// The root of a state that needs no nodes: its only word, or 0 for the state without words.
pub(crate) fn small_root(state: &[u64]) -> u64 {
    state.first().copied().unwrap_or(0)
}

fn pair(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

/// Numbers that a worker asked for before. Numbers never change, so an entry is right for ever.
struct Recent {
    /// By a hash of their keys; one whose key is 0 is not used.
    entries: Vec<(u64, u32)>,
    /// How far the hash is shifted to fit.
    shift: u32,
    missed: usize,
}

/// Entries at first and at most, as powers of two: a small run should not pay for a large cache, and all of it
/// should stay near the processor.
const SMALL: u32 = if cfg!(loom) { 1 } else { 10 };
const LARGE: u32 = if cfg!(loom) { 1 } else { 14 };

impl Default for Recent {
    fn default() -> Recent {
        Recent { entries: Vec::new(), shift: 64 - SMALL, missed: 0 }
    }
}

impl Recent {
    /// The number of a key: from here, or from everybody's table.
    #[inline(always)]
    fn number(&mut self, key: u64, interner: &Interner, ids: &mut Ids) -> Result<u32, Stuck> {
        match self.entries.get(self.place(key)) {
            Some(&(known, number)) if known == key && key != 0 => Ok(number),
            Some(&(known, number))
                if fault("table: words are folded by half") && known as u32 == key as u32 =>
            {
                Ok(number)
            }
            _ => self.learn(key, interner, ids),
        }
    }

    /// One multiplication spreads enough for a cache; its best bits are the upper ones.
    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline(never)]
    fn learn(&mut self, key: u64, interner: &Interner, ids: &mut Ids) -> Result<u32, Stuck> {
        let number = interner.number(ids, key)?;
        self.missed += 1;
        if self.entries.is_empty() {
            self.entries.resize(1 << SMALL, (0, 0));
        } else if self.missed > 2 * self.entries.len() && self.shift > 64 - LARGE {
            self.missed = 0;
            self.shift -= 1;
            let twice = vec![(0, 0); 2 * self.entries.len()];
            for (key, number) in std::mem::replace(&mut self.entries, twice) {
                let place = self.place(key);
                self.entries[place] = (key, number);
            }
        }
        let place = self.place(key);
        self.entries[place] = (key, number);
        Ok(number)
    }
}

impl Fold {
    /// The root of `state`, which becomes the base.
    pub(crate) fn settle(&mut self, state: &[u64], interner: &Interner, ids: &mut Ids) -> Result<u64, Stuck> {
        if self.words.len() != state.len() {
            self.make_room(state.len());
        }
        self.walk(state, true, interner, ids)
    }

    /// The root of `state`; the base stays.
    pub(crate) fn fold(&mut self, state: &[u64], interner: &Interner, ids: &mut Ids) -> Result<u64, Stuck> {
        if !self.valid || self.words.len() != state.len() {
            return self.settle(state, interner, ids);
        }
        self.walk(state, false, interner, ids)
    }

    fn make_room(&mut self, words: usize) {
        self.valid = false;
        self.words = vec![0; words];
        self.nodes = vec![vec![0; words]];
        let mut width = words;
        while width > 2 {
            width = width.div_ceil(2);
            self.nodes.push(vec![0; width]);
        }
    }

    /// Numbers all nodes of `state` that the base does not have, level by level; with `settle` the
    /// state becomes the base.
    fn walk(
        &mut self,
        state: &[u64],
        settle: bool,
        interner: &Interner,
        ids: &mut Ids,
    ) -> Result<u64, Stuck> {
        let Fold { words, nodes, valid, news, recent } = self;
        let all = !*valid;
        if settle {
            // Until the walk has succeeded the levels may not fit together.
            *valid = false;
        }
        news.clear();
        // Most stretches are equal, which is seen without a branch for each word.
        for (i, (new, old)) in state.chunks(8).zip(words.chunks(8)).enumerate() {
            let new = if fault("table: the last word of eight is not compared") && !all {
                &new[..new.len() - 1]
            } else {
                new
            };
            if !all && new.iter().zip(old).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0 {
                continue;
            }
            for (k, (&word, &old)) in new.iter().zip(old).enumerate() {
                if all || word != old {
                    news.push(((8 * i + k) as u32, recent.number(word, interner, ids)?));
                }
            }
        }
        for level in 1..nodes.len() {
            let (below, above) = nodes.split_at_mut(level);
            let below = &mut below[level - 1];
            if settle {
                news.iter().for_each(|&(i, node)| below[i as usize] = node);
            }
            // In place: a node takes the place of the one or two below it.
            let (mut read, mut written) = (0, 0);
            while read < news.len() {
                let (i, node) = news[read];
                let i = i as usize;
                read += 1;
                let (left, right) = if i % 2 == 1 {
                    (below[i - 1], Some(node))
                } else if let Some(&(_, right)) = news.get(read).filter(|next| next.0 as usize == i + 1) {
                    read += 1;
                    (node, Some(right))
                } else {
                    (node, below.get(i + 1).copied())
                };
                let node = match right {
                    Some(right) => recent.number(pair(left, right), interner, ids)?,
                    None => left,
                };
                debug_assert!(i / 2 < above[0].len());
                news[written] = ((i / 2) as u32, node);
                written += 1;
            }
            news.truncate(written);
        }
        let top = nodes.last_mut().expect("a state that is folded has two words or more");
        let mut root = [top[0], top[1]];
        news.iter().for_each(|&(i, node)| root[i as usize] = node);
        if settle {
            top.copy_from_slice(&root);
            words.copy_from_slice(state);
            *valid = true;
        }
        Ok(pair(root[0], root[1]))
    }
}

pub(crate) fn find_root(nodes: &Interner, state: &[u64]) -> Option<u64> {
    if state.len() < 2 {
        return Some(small_root(state));
    }
    let mut level: Vec<u32> = state.iter().map(|&word| nodes.find(word)).collect::<Option<_>>()?;
    while level.len() > 2 {
        level = level
            .chunks(2)
            .map(|two| if two.len() == 2 { nodes.find(pair(two[0], two[1])) } else { Some(two[0]) })
            .collect::<Option<_>>()?;
    }
    Some(pair(level[0], level[1]))
}

pub(crate) fn unfold(nodes: &Interner, root: u64, out: &mut [u64]) {
    if out.len() < 2 {
        out.fill(root);
        return;
    }
    // Numbers of nodes stand in `out` from the top level down to the leaves, then become words.
    let mut widths = vec![out.len()];
    while widths[widths.len() - 1] > 2 {
        widths.push(widths[widths.len() - 1].div_ceil(2));
    }
    (out[0], out[1]) = (root >> 32, root & u32::MAX as u64);
    for pairs in widths.windows(2).rev() {
        let (wide, narrow) = (pairs[0], pairs[1]);
        for i in (0..narrow).rev() {
            if 2 * i + 1 < wide {
                let key = nodes.key(out[i] as u32);
                (out[2 * i], out[2 * i + 1]) = (key >> 32, key & u32::MAX as u64);
            } else {
                out[2 * i] = out[i];
            }
        }
    }
    for word in out {
        *word = nodes.key(*word as u32);
    }
}

/// Why an attempt failed.
pub(crate) enum Stuck {
    Full,
    Trouble(Trouble),
}

impl From<Full> for Stuck {
    fn from(_: Full) -> Stuck {
        Stuck::Full
    }
}

impl From<Trouble> for Stuck {
    fn from(trouble: Trouble) -> Stuck {
        Stuck::Trouble(trouble)
    }
}
