//! States that are sorted by their keys.
//!
//! In: keys in any order, in batches. Out: `states.bin`; the bytes of a state are made when it is written, as far as they
//! differ from those of the state before. What does not fit into memory is sorted in runs.
//! Never here: what a key means (`program::Keys`).

use super::blocks::{BLOCK, Block, Blocks, Sealed, Trouble, Written};
use super::radix::sort;
use super::runs::{Record, Runs, fill};
use crate::program::Keys;
use rayon::prelude::*;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes of keys that are sorted at a time.
const RUN: usize = 256 << 20;
/// Blocks that are made before they are written.
const ROUND: usize = 64;

/// A key as it is sorted: in as few bytes as the keys of the model need.
pub trait Key: Copy + Default + Ord + Send + Sync + Record {
    fn of(key: u128) -> Self;
    fn wide(self) -> u128;
    /// Eight bits from bit `shift` on.
    fn digit(self, shift: u32) -> usize;
    /// Appends the key as a run has it.
    fn write(self, out: &mut impl Write) -> io::Result<()>;
}

macro_rules! key {
    ($t:ty) => {
        impl Key for $t {
            fn of(key: u128) -> $t {
                key as $t
            }

            fn wide(self) -> u128 {
                self.into()
            }

            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & 0xff
            }

            fn write(self, out: &mut impl Write) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        }

        impl Record for $t {
            fn read(from: &mut impl Read) -> io::Result<Option<$t>> {
                let mut bytes = [0; size_of::<$t>()];
                Ok(fill(&mut bytes, from)?.then(|| <$t>::from_le_bytes(bytes)))
            }
        }
    };
}

key!(u64);
key!(u128);

/// Collects keys and writes their states in order.
pub struct Sorter<'a, K> {
    meaning: &'a Keys<'a>,
    keys: Vec<K>,
    most: usize,
    runs: Runs,
}

impl<'a, K: Key> Sorter<'a, K> {
    /// Runs are written to this directory.
    pub fn new(meaning: &'a Keys<'a>, dir: &Path) -> Sorter<'a, K> {
        // Sorting takes as much room again.
        Sorter::with_runs_of(meaning, dir, RUN / size_of::<K>() / 2)
    }

    /// The same, with so many keys in memory at most.
    pub fn with_runs_of(meaning: &'a Keys<'a>, dir: &Path, most: usize) -> Sorter<'a, K> {
        Sorter { meaning, keys: Vec::new(), most, runs: Runs::new(dir) }
    }

    /// Takes some keys.
    pub fn add(&mut self, keys: &[K]) -> io::Result<()> {
        self.keys.extend_from_slice(keys);
        if self.keys.len() < self.most { Ok(()) } else { self.spill() }
    }

    fn spill(&mut self) -> io::Result<()> {
        sort(&mut self.keys, self.meaning.bits());
        self.runs.add(|out| self.keys.iter().try_for_each(|key| key.write(out)))?;
        self.keys.clear();
        Ok(())
    }

    /// Writes all states to a file.
    pub fn finish(mut self, path: &Path) -> Result<Written, Trouble> {
        let mut out = Blocks::create(path)?;
        if self.runs.is_empty() {
            sort(&mut self.keys, self.meaning.bits());
            for (at, round) in self.keys.chunks(ROUND * BLOCK).enumerate() {
                let before = (at * ROUND * BLOCK).checked_sub(1).map(|before| self.keys[before]);
                push(&mut out, self.meaning, before, round)?;
            }
            return Ok(out.finish()?);
        }
        self.spill()?;
        let mut before = None;
        self.runs.merged(|key| {
            self.keys.push(key);
            if self.keys.len() == ROUND * BLOCK {
                push(&mut out, self.meaning, before, &self.keys)?;
                before = self.keys.pop();
                self.keys.clear();
            }
            Ok(())
        })?;
        push(&mut out, self.meaning, before, &self.keys)?;
        Ok(out.finish()?)
    }
}

/// Writes the blocks of keys, which stand behind `before`.
fn push<K: Key>(out: &mut Blocks, keys: &Keys, before: Option<K>, round: &[K]) -> Result<(), Trouble> {
    let blocks: Vec<Result<Sealed, Trouble>> = round
        .par_chunks(BLOCK)
        .enumerate()
        .map(|(at, own)| {
            let before = (at * BLOCK).checked_sub(1).map_or(before, |before| Some(round[before]));
            block(keys, before, own)
        })
        .collect();
    blocks.into_iter().try_for_each(|block| Ok(out.push(&block?)?))
}

/// The block of these keys behind another one.
fn block<K: Key>(keys: &Keys, before: Option<K>, own: &[K]) -> Result<Sealed, Trouble> {
    let mut speller = keys.speller();
    let mut block = match before {
        Some(before) => Block::behind(speller.next(before.wide()).1),
        None => Block::default(),
    };
    for key in own {
        let (same, rest) = speller.next(key.wide());
        block.push(same, rest)?;
    }
    Ok(block.seal()?)
}
