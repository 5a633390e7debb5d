//! Sorted runs: states in a file, in ascending order of their words, each told by how it differs from the one before.
//!
//! In: states in strictly ascending order. Out: the same states, from the first on or from any block on, and
//! whether a state is among them.
//! Never here: which runs there are, and when they are merged.
//!
//! A file is a sequence of blocks. The first state of a block is told by itself, every other one by the number of words it has
//! in common with the one before, the difference of the next word and the words after that, all as numbers of
//! seven bits to a byte. The places of the blocks and their first states are kept in memory: few bytes for each 32 KiB.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 15;

/// A run that is written.
#[derive(Clone)]
pub(super) struct Run {
    path: Arc<Path>,
    words: usize,
    pub count: u64,
    blocks: Arc<[Block]>,
    /// The first states of the blocks, side by side.
    firsts: Arc<[u64]>,
}

#[derive(Clone, Copy)]
struct Block {
    at: u64,
    bytes: u32,
    states: u32,
}

impl Run {
    /// Bytes of the run on disk.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.bytes)).sum()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the run from its beginning.
    pub fn read(&self) -> io::Result<Reader> {
        let mut reader = Reader {
            run: self.clone(),
            file: None,
            block: 0,
            bytes: Vec::new(),
            at: 0,
            left: 0,
            state: vec![0; self.words],
            stands: false,
        };
        reader.open(0)?;
        Ok(reader)
    }

    fn first(&self, block: usize) -> &[u64] {
        &self.firsts[block * self.words..(block + 1) * self.words]
    }
}

/// A run that is being written, at the end of a file.
pub(super) struct Writer {
    file: File,
    path: Arc<Path>,
    words: usize,
    /// The end of what was written to the file.
    end: u64,
    bytes: Vec<u8>,
    states: u32,
    before: Vec<u64>,
    count: u64,
    blocks: Vec<Block>,
    firsts: Vec<u64>,
}

impl Writer {
    /// A run at the end of a file, which is made if it is not there.
    pub fn append(path: &Arc<Path>, words: usize) -> io::Result<Writer> {
        let mut file = File::options().create(true).append(true).open(path)?;
        let end = file.seek(SeekFrom::End(0))?;
        Ok(Writer {
            file,
            path: path.clone(),
            words,
            end,
            bytes: Vec::with_capacity(BLOCK + 16 * words),
            states: 0,
            before: vec![0; words],
            count: 0,
            blocks: Vec::new(),
            firsts: Vec::new(),
        })
    }

    /// Writes a state that comes after all before it.
    pub fn push(&mut self, state: &[u64]) -> io::Result<()> {
        if self.states == 0 {
            self.firsts.extend_from_slice(state);
            self.before.fill(0);
        }
        let same = state.iter().zip(&self.before).take_while(|(a, b)| a == b).count();
        debug_assert!(self.states == 0 || self.before[..] < *state, "states of a run ascend");
        if self.words > 1 {
            put_number(&mut self.bytes, same as u64);
        }
        if let Some(next) = state.get(same) {
            put_number(&mut self.bytes, next - self.before[same]);
            state[same + 1..].iter().for_each(|word| put_number(&mut self.bytes, *word));
        } else if self.words == 1 {
            put_number(&mut self.bytes, 0);
        }
        self.before.copy_from_slice(state);
        self.states += 1;
        self.count += 1;
        if self.bytes.len() >= BLOCK { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        if self.states > 0 {
            self.file.write_all(&self.bytes)?;
            let bytes = self.bytes.len() as u32;
            self.blocks.push(Block { at: self.end, bytes, states: self.states });
            self.end += u64::from(bytes);
            self.bytes.clear();
            self.states = 0;
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<Run> {
        self.close()?;
        Ok(Run {
            path: self.path,
            words: self.words,
            count: self.count,
            blocks: self.blocks.into(),
            firsts: self.firsts.into(),
        })
    }
}

/// Reads the states of a run in their order.
pub(super) struct Reader {
    run: Run,
    file: Option<File>,
    /// The block that `bytes` is, the place in it and its states behind that place.
    block: usize,
    bytes: Vec<u8>,
    at: usize,
    left: u32,
    state: Vec<u64>,
    /// Whether `state` is one.
    stands: bool,
}

impl Reader {
    /// The state at which the reader stands; none at the end.
    pub fn state(&self) -> Option<&[u64]> {
        self.stands.then_some(&self.state[..])
    }

    /// Goes on to the next state.
    pub fn advance(&mut self) -> io::Result<()> {
        if self.left > 0 {
            return self.decode();
        }
        self.open(self.block + 1)
    }

    /// Goes on to the first state that is not below `key` and says whether it is `key`. Keys must not descend.
    pub fn meets(&mut self, key: &[u64]) -> io::Result<bool> {
        if self.state().is_some_and(|state| state < key) {
            // The last block that begins at the key or before it.
            let run = &self.run;
            let later = run.blocks.len() - self.block - 1;
            let (mut low, mut high) = (0, later);
            while low < high {
                let middle = (low + high).div_ceil(2);
                if run.first(self.block + middle) <= key { low = middle } else { high = middle - 1 }
            }
            if low > 0 {
                self.open(self.block + low)?;
            }
        }
        loop {
            match self.state().map(|state| state.cmp(key)) {
                Some(Ordering::Less) => self.advance()?,
                order => return Ok(order == Some(Ordering::Equal)),
            }
        }
    }

    fn open(&mut self, block: usize) -> io::Result<()> {
        self.block = block;
        self.stands = false;
        let Some(found) = self.run.blocks.get(block) else { return Ok(()) };
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::open(&self.run.path)?),
        };
        file.seek(SeekFrom::Start(found.at))?;
        self.bytes.resize(found.bytes as usize, 0);
        file.read_exact(&mut self.bytes)?;
        self.at = 0;
        self.left = found.states;
        self.state.fill(0);
        self.decode()
    }

    fn decode(&mut self) -> io::Result<()> {
        let same = if self.state.len() > 1 { self.number()? as usize } else { 0 };
        if let Some(before) = self.state.get(same).copied() {
            self.state[same] = before.checked_add(self.number()?).ok_or_else(broken)?;
            for later in same + 1..self.state.len() {
                self.state[later] = self.number()?;
            }
        } else if same > self.state.len() {
            return Err(broken());
        }
        self.left -= 1;
        self.stands = true;
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let byte = *self.bytes.get(self.at).ok_or_else(broken)?;
            self.at += 1;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
            shift += 7;
            if shift > 63 {
                return Err(broken());
            }
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a file of the search does not hold what was written to it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_kernels::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn states_come_back_in_order_and_only_they_are_met() {
        let dir = tempfile::tempdir().unwrap();
        let path: Arc<Path> = dir.path().join("runs").into();
        for words in [1, 2, 5] {
            let mut random = Random(words as u64);
            let mut state =
                || (0..words).map(|_| random.next() >> (random.next() % 64)).collect::<Vec<u64>>();
            let mut states: BTreeSet<Vec<u64>> = (0..30_000).map(|_| state()).collect();
            states.insert(vec![0; words]);
            states.insert(vec![u64::MAX; words]);
            let mut writer = Writer::append(&path, words).unwrap();
            states.iter().for_each(|state| writer.push(state).unwrap());
            let run = writer.finish().unwrap();
            assert_eq!(run.count, states.len() as u64);
            let mut reader = run.read().unwrap();
            for state in &states {
                assert_eq!(reader.state(), Some(&state[..]));
                reader.advance().unwrap();
            }
            assert_eq!(reader.state(), None);
            let asked: BTreeSet<Vec<u64>> = (0..3000).map(|_| state()).collect();
            let some = states.iter().step_by(7).cloned();
            let mut reader = run.read().unwrap();
            for key in asked.into_iter().chain(some).collect::<BTreeSet<_>>() {
                assert_eq!(reader.meets(&key).unwrap(), states.contains(&key), "{key:?}");
            }
        }
    }

    #[test]
    fn neighbours_take_a_byte_each() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::append(&dir.path().join("runs").into(), 1).unwrap();
        (0..100_000u64).for_each(|n| writer.push(&[(1 << 40) | (n * 3)]).unwrap());
        let run = writer.finish().unwrap();
        assert!(run.bytes() < 100_100, "{}", run.bytes());
    }
}
