//! Spellings that are sorted as bytes: of any length, of any values.
//!
//! In: spellings in any order, in batches. Out: `states.bin`. What does not fit into memory is sorted in runs.
//! Never here: what a spelling means. States with keys are sorted by them (`keyed`), which takes a fraction of the time.

use super::blocks::{Block, Blocks, Trouble, Written};
use super::runs::{Record, Runs, fill};
use rayon::prelude::*;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes of spellings that are sorted at a time.
const RUN: usize = 256 << 20;

/// Spellings side by side, and where each one ends.
#[derive(Default)]
pub struct Batch {
    pub bytes: Vec<u8>,
    pub ends: Vec<u32>,
}

/// Collects spellings and writes them in order.
pub struct Sorter {
    batches: Vec<Batch>,
    held: usize,
    most: usize,
    runs: Runs,
}

impl Sorter {
    /// Runs are written to this directory.
    pub fn new(dir: &Path) -> Sorter {
        Sorter { batches: Vec::new(), held: 0, most: RUN, runs: Runs::new(dir) }
    }

    /// Takes some spellings.
    pub fn add(&mut self, batch: Batch) -> io::Result<()> {
        // An entry costs a place in the order, too.
        self.held += batch.bytes.len() + 28 * batch.ends.len();
        self.batches.push(batch);
        if self.held < self.most { Ok(()) } else { self.spill() }
    }

    fn spill(&mut self) -> io::Result<()> {
        let order = order(&self.batches);
        self.runs.add(|out| {
            order.iter().try_for_each(|(_, own)| {
                out.write_all(&(own.len() as u32).to_le_bytes())?;
                out.write_all(own)
            })
        })?;
        self.batches.clear();
        self.held = 0;
        Ok(())
    }

    /// Writes all spellings to a file.
    pub fn finish(mut self, path: &Path) -> Result<Written, Trouble> {
        let mut out = Blocks::create(path)?;
        let mut block = Block::default();
        let mut push = |own: &[u8]| -> Result<(), Trouble> {
            block.push(0, own)?;
            if block.is_full() {
                out.push(&block.seal()?)?;
            }
            Ok(())
        };
        if self.runs.is_empty() {
            order(&self.batches).iter().try_for_each(|(_, own)| push(own))?;
        } else {
            self.spill()?;
            self.runs.merged(|own: Vec<u8>| push(&own))?;
        }
        if !block.is_empty() {
            out.push(&block.seal()?)?;
        }
        Ok(out.finish()?)
    }
}

/// Spellings in ascending order, with their first bytes.
fn order(batches: &[Batch]) -> Vec<(u64, &[u8])> {
    let parts = batches.par_iter().flat_map_iter(|batch| {
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

impl Record for Vec<u8> {
    fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; 4];
        if !fill(&mut length, from)? {
            return Ok(None);
        }
        let mut own = vec![0; u32::from_le_bytes(length) as usize];
        from.read_exact(&mut own)?;
        Ok(Some(own))
    }
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
        let mut own = b"BombusStat\x01\n".to_vec();
        own.extend([3, 0, 0, 0, 12, 0, 0, 0]);
        own.extend([0, 3, 0x80, 0x80, 0x00, 2, 1, 0x01, 1, 2, 0x81, 0x01]);
        assert_eq!(bytes, own);
    }
}
