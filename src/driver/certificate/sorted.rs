//! The file of states: spellings in ascending order, front-coded, in hashed blocks.
//!
//! In: spellings in any order, in batches. Out: `states.bin` and its root. What does not fit into memory is
//! sorted in runs, which are written beside the file and merged.
//! Never here: what a spelling means.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// How the file begins: name and version of the format.
const MAGIC: &[u8; 12] = b"BombusStat\x01\n";
/// Entries between two that are written in full, and the most entries of a block.
const GROUP: usize = 16;
const BLOCK: u32 = 4096;
/// Bytes of spellings that are sorted at a time.
const RUN: usize = 256 << 20;

type Hash = [u8; 32];

/// A hash in hexadecimal digits.
pub fn hex(hash: &[u8]) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

/// Why no file of states was written.
#[derive(Debug)]
pub enum Trouble {
    Io(io::Error),
    /// Two states of a search have one spelling, though states that are told apart have different values.
    Twice,
}

impl From<io::Error> for Trouble {
    fn from(e: io::Error) -> Trouble {
        Trouble::Io(e)
    }
}

/// Spellings side by side, and where each one ends.
#[derive(Default)]
pub struct Batch {
    pub bytes: Vec<u8>,
    pub ends: Vec<u32>,
}

/// Collects spellings and writes them in order.
pub struct Sorter {
    dir: PathBuf,
    batches: Vec<Batch>,
    held: usize,
    most: usize,
    runs: Vec<PathBuf>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub root: String,
    pub states: u64,
    pub bytes: u64,
}

impl Sorter {
    /// Runs are written to this directory.
    pub fn new(dir: &Path) -> Sorter {
        Sorter { dir: dir.to_path_buf(), batches: Vec::new(), held: 0, most: RUN, runs: Vec::new() }
    }

    /// Takes some spellings.
    pub fn add(&mut self, batch: Batch) -> io::Result<()> {
        // An entry costs a place in the order, too.
        self.held += batch.bytes.len() + 28 * batch.ends.len();
        self.batches.push(batch);
        if self.held < self.most { Ok(()) } else { self.spill() }
    }

    /// The spellings that are held, in ascending order.
    fn order(&self) -> Vec<(u64, &[u8])> {
        let parts = self.batches.par_iter().flat_map_iter(|batch| {
            let starts = std::iter::once(0).chain(batch.ends.iter().copied());
            starts.zip(&batch.ends).map(|(start, end)| {
                let own = &batch.bytes[start as usize..*end as usize];
                let mut head = [0; 8];
                let n = own.len().min(8);
                head[..n].copy_from_slice(&own[..n]);
                // Most comparisons are decided by the first bytes, which stand here without a look elsewhere.
                (u64::from_be_bytes(head), own)
            })
        });
        let mut order: Vec<(u64, &[u8])> = parts.collect();
        order.par_sort_unstable();
        order
    }

    fn spill(&mut self) -> io::Result<()> {
        let path = self.dir.join(format!("run-{}.tmp", self.runs.len()));
        let mut out = BufWriter::new(File::create(&path)?);
        for (_, own) in self.order() {
            out.write_all(&(own.len() as u32).to_le_bytes())?;
            out.write_all(own)?;
        }
        out.flush()?;
        self.runs.push(path);
        self.batches.clear();
        self.held = 0;
        Ok(())
    }

    /// Writes all spellings to a file.
    pub fn finish(mut self, path: &Path) -> Result<Written, Trouble> {
        let written = self.write(path);
        for run in &self.runs {
            let _ = std::fs::remove_file(run);
        }
        written
    }

    fn write(&mut self, path: &Path) -> Result<Written, Trouble> {
        let mut out = Blocks::new(BufWriter::with_capacity(1 << 20, File::create(path)?))?;
        if self.runs.is_empty() {
            for (_, own) in self.order() {
                out.push(own)?;
            }
            return out.finish();
        }
        self.spill()?;
        let mut runs: Vec<Run> = self.runs.iter().map(|p| Run::open(p)).collect::<io::Result<_>>()?;
        let mut heap = BinaryHeap::new();
        for (at, run) in runs.iter_mut().enumerate() {
            heap.extend(run.next()?.map(|own| Reverse((own, at))));
        }
        while let Some(Reverse((own, at))) = heap.pop() {
            out.push(&own)?;
            heap.extend(runs[at].next()?.map(|own| Reverse((own, at))));
        }
        out.finish()
    }
}

/// A sorted run on the disk.
struct Run(BufReader<File>);

impl Run {
    fn open(path: &Path) -> io::Result<Run> {
        File::open(path).map(|file| Run(BufReader::with_capacity(1 << 20, file)))
    }

    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; 4];
        match self.0.read_exact(&mut length) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let mut own = vec![0; u32::from_le_bytes(length) as usize];
        self.0.read_exact(&mut own)?;
        Ok(Some(own))
    }
}

/// Writes blocks: number of states, number of bytes, then for each state how many bytes it shares with the one
/// before, how many follow, and these.
struct Blocks<W: Write> {
    out: W,
    body: Vec<u8>,
    in_block: u32,
    last: Vec<u8>,
    leaves: Vec<Hash>,
    states: u64,
    bytes: u64,
}

impl<W: Write> Blocks<W> {
    fn new(mut out: W) -> io::Result<Blocks<W>> {
        out.write_all(MAGIC)?;
        let bytes = MAGIC.len() as u64;
        Ok(Blocks {
            out,
            body: Vec::new(),
            in_block: 0,
            last: Vec::new(),
            leaves: Vec::new(),
            states: 0,
            bytes,
        })
    }

    fn push(&mut self, own: &[u8]) -> Result<(), Trouble> {
        if self.states > 0 && own <= &self.last[..] {
            return Err(Trouble::Twice);
        }
        let shared = if (self.in_block as usize).is_multiple_of(GROUP) {
            0
        } else {
            self.last.iter().zip(own).take_while(|(a, b)| a == b).count()
        };
        length(shared, &mut self.body);
        length(own.len() - shared, &mut self.body);
        self.body.extend_from_slice(&own[shared..]);
        self.last.clear();
        self.last.extend_from_slice(own);
        self.states += 1;
        self.in_block += 1;
        if self.in_block == BLOCK {
            self.close()?;
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let size =
            u32::try_from(self.body.len()).map_err(|_| io::Error::other("a block of states is too large"))?;
        let (count, size) = (self.in_block.to_le_bytes(), size.to_le_bytes());
        let mut leaf = Sha256::new();
        leaf.update([0]);
        for part in [&count[..], &size, &self.body] {
            leaf.update(part);
            self.out.write_all(part)?;
            self.bytes += part.len() as u64;
        }
        self.leaves.push(leaf.finalize().into());
        self.body.clear();
        self.in_block = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<Written, Trouble> {
        if self.in_block > 0 {
            self.close()?;
        }
        self.out.flush()?;
        Ok(Written { root: hex(&root(self.leaves)), states: self.states, bytes: self.bytes })
    }
}

/// Seven bits in each byte, the lowest first; the highest bit says that more follow.
fn length(mut n: usize, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// The root over leaves: two neighbours make a node, a last one without a neighbour rises as it is.
fn root(mut level: Vec<Hash>) -> Hash {
    if level.is_empty() {
        return Sha256::digest([0]).into();
    }
    while level.len() > 1 {
        let node = |two: &[Hash]| match two {
            [a, b] => Sha256::new().chain_update([1]).chain_update(a).chain_update(b).finalize().into(),
            one => one[0],
        };
        level = level.chunks(2).map(node).collect();
    }
    level[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(all: &[Vec<u8>]) -> Batch {
        let mut batch = Batch::default();
        for own in all {
            batch.bytes.extend_from_slice(own);
            batch.ends.push(batch.bytes.len() as u32);
        }
        batch
    }

    fn file(all: &[Vec<u8>], most: usize) -> Result<(Vec<u8>, Written), Trouble> {
        let dir = tempfile::tempdir()?;
        let mut sorter = Sorter { most, ..Sorter::new(dir.path()) };
        for part in all.chunks(100) {
            sorter.add(batch(part))?;
        }
        let path = dir.path().join("states.bin");
        let written = sorter.finish(&path)?;
        let left = std::fs::read_dir(dir.path())?.count();
        assert_eq!(left, 1, "runs are removed");
        Ok((std::fs::read(path)?, written))
    }

    #[test]
    fn states_that_are_sorted_in_runs_make_the_same_file_as_in_memory() {
        let all: Vec<Vec<u8>> =
            (0..10_000u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes().to_vec()).collect();
        let whole = file(&all, RUN).expect("written");
        assert_eq!(whole.1.states, 10_000);
        assert_eq!(whole.1.bytes, whole.0.len() as u64);
        assert_eq!(file(&all, 1 << 14).expect("written"), whole);
        let twice = file(&[all[3].clone(), all[7].clone(), all[3].clone()], RUN);
        assert!(matches!(twice, Err(Trouble::Twice)), "a state twice");
    }

    #[test]
    fn a_file_of_three_states_is_the_one_of_the_specification() {
        // The example of docs/certificates.md.
        let all = [vec![0x80, 0x81, 0x01], vec![0x80, 0x80, 0x00], vec![0x80, 0x80, 0x01]];
        let (bytes, _) = file(&all, RUN).expect("written");
        let mut own = MAGIC.to_vec();
        own.extend([3, 0, 0, 0, 12, 0, 0, 0]);
        own.extend([0, 3, 0x80, 0x80, 0x00, 2, 1, 0x01, 1, 2, 0x81, 0x01]);
        assert_eq!(bytes, own);
    }
}
