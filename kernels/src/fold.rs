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
    pub(crate) fn new(slots: usize, tag_bits: u32, meter: &Arc<Meter>) -> Result<Interner, Trouble> {
        Ok(Interner { table: Table::new(slots, tag_bits, meter)?, keys: Chunks::new(1, meter)? })
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

/// The last state a worker folded, with the nodes on every level of its tree: the next state
/// usually differs in a word or two, and only the paths above these are looked up again.
#[derive(Default)]
pub(crate) struct Fold {
    words: Vec<u64>,
    /// Level by level, leaves first; each level half as long as the one before, the last of two.
    nodes: Vec<Vec<u32>>,
    valid: bool,
    /// Numbers that this worker asked for before, by their place in the cache. Numbers never
    /// change, so an entry is right for ever; one whose key is 0 is not used.
    recent: Vec<(u64, u32)>,
}

/// Entries of a worker's cache of numbers.
const RECENT: usize = if cfg!(loom) { 1 } else { 1 << 12 };

/// The root of a state that needs no nodes: its only word, or 0 for the state without words.
pub(crate) fn small_root(state: &[u64]) -> u64 {
    state.first().copied().unwrap_or(0)
}

fn pair(left: u32, right: u32) -> u64 {
    (left as u64) << 32 | right as u64
}

impl Fold {
    /// The number of a key: from the cache, or from everybody's table.
    fn number(recent: &mut [(u64, u32)], key: u64, interner: &Interner, ids: &mut Ids) -> Result<u32, Stuck> {
        let place = &mut recent[hash::mix(key) as usize % RECENT];
        if place.0 == key && key != 0 {
            return Ok(place.1);
        }
        let number = interner.number(ids, key)?;
        *place = (key, number);
        Ok(number)
    }

    pub(crate) fn fold(&mut self, state: &[u64], interner: &Interner, ids: &mut Ids) -> Result<u64, Stuck> {
        if self.words.len() != state.len() {
            self.words = vec![0; state.len()];
            self.recent = vec![(0, 0); RECENT];
            self.nodes = Vec::new();
            let mut width = state.len();
            self.nodes.push(vec![0; width]);
            while width > 2 {
                width = width.div_ceil(2);
                self.nodes.push(vec![0; width]);
            }
            self.valid = false;
        }
        let all = !self.valid;
        // Until the walk has succeeded the levels may not fit together.
        self.valid = false;
        let mut moved = false;
        for (i, &word) in state.iter().enumerate() {
            if all || self.words[i] != word {
                self.nodes[0][i] = Fold::number(&mut self.recent, word, interner, ids)?;
                moved = true;
            }
        }
        if moved {
            for level in 1..self.nodes.len() {
                let (below, above) = self.nodes.split_at_mut(level);
                let below = &below[level - 1];
                // The words tell which paths changed: node `i` of this level covers the words
                // from `i << level` on.
                for (i, node) in above[0].iter_mut().enumerate() {
                    let from = i << level;
                    let to = ((i + 1) << level).min(state.len());
                    if all || self.words[from..to] != state[from..to] {
                        *node = match below.get(2 * i + 1) {
                            Some(&right) => {
                                let key = pair(below[2 * i], right);
                                Fold::number(&mut self.recent, key, interner, ids)?
                            }
                            None => below[2 * i],
                        };
                    }
                }
            }
            self.words.copy_from_slice(state);
        }
        self.valid = true;
        let top = &self.nodes[self.nodes.len() - 1];
        Ok(pair(top[0], top[1]))
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
