//! All states of a search on disk, level by level, and the states that wait to be told from them.
//!
//! In: the targets of edges, unsorted, from any worker. Out, when a level is over: the new states of the next level, each once.
//! Never here: what is done with them.
//!
//! Duplicates are found late: while a level is expanded, targets are only gathered, and sorted runs of them go to disk when
//! memory is full. At its end the runs are merged with each other, and what stands in no earlier run is new. The runs
//! of the levels stay, for the paths to findings. So that a level need not be compared with each level before it, every
//! eight runs of one size are merged into one of the next size.

use super::runs::{Reader, Run, Writer};
use bombus_base::budget::Budget;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs of one size that are merged into one.
const FAN: usize = 8;

/// The files of a search. They are removed with it.
pub(super) struct Archive {
    words: usize,
    /// The levels, in one file.
    levels: Arc<Path>,
    pub runs: Vec<Run>,
    /// All levels again, as few runs: how often a run was merged, and the run.
    merged: Vec<(u32, Run)>,
    names: Arc<Names>,
}

/// Names for files that come and go.
struct Names {
    dir: PathBuf,
    next: AtomicU64,
}

/// What became of the targets of a level.
pub(super) struct Sorted {
    pub new: Run,
    /// Targets that were known, or met more than once.
    pub known: u64,
}

/// Targets that one worker has gathered.
pub(super) struct Gathered {
    words: usize,
    /// Words that are kept in memory.
    most: usize,
    states: Vec<u64>,
    runs: Vec<(Run, u64)>,
    names: Arc<Names>,
}

impl Archive {
    /// Files in a new folder of `parent`.
    pub fn new(parent: &Path, words: usize) -> io::Result<Archive> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        std::fs::create_dir_all(parent)?;
        let dir = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let dir = parent.join(format!("bombus-{}-{number}", std::process::id()));
            match std::fs::create_dir(&dir) {
                Ok(()) => break dir,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let levels = dir.join("levels").into();
        let names = Arc::new(Names { dir, next: AtomicU64::new(0) });
        Ok(Archive { words, levels, runs: Vec::new(), merged: Vec::new(), names })
    }

    /// Nothing yet, with up to `bytes` bytes of states in memory.
    pub fn gathered(&self, bytes: u64) -> Gathered {
        let most = usize::try_from(bytes / 8).unwrap_or(usize::MAX).max(1024 * self.words);
        Gathered { words: self.words, most, states: Vec::new(), runs: Vec::new(), names: self.names.clone() }
    }

    /// Ends a level: the targets that were gathered become the next one. `None` if the time is up.
    pub fn sort(&mut self, all: &mut [Gathered], budget: &Budget) -> io::Result<Option<Sorted>> {
        let mut known = 0;
        let mut sources: Vec<Source<'_>> = Vec::new();
        let mut files = Vec::new();
        for gathered in all.iter_mut() {
            known += gathered.sort();
            for (run, repeated) in gathered.runs.drain(..) {
                known += repeated;
                sources.push(Source::File(run.read()?));
                files.push(run);
            }
        }
        let words = self.words;
        sources.extend(all.iter().map(|gathered| Source::Memory { states: &gathered.states, words }));
        let mut before: Vec<Reader> =
            self.merged.iter().map(|(_, run)| run.read()).collect::<Result<_, _>>()?;
        let mut writer = Writer::append(&self.levels, words)?;
        let mut steps = 0u32;
        while let Some(state) = least(&sources) {
            let mut copies = 0;
            for source in &mut sources {
                if source.state() == Some(&state[..]) {
                    copies += 1;
                    source.advance()?;
                }
            }
            let mut is_known = false;
            for run in &mut before {
                is_known = is_known || run.meets(&state)?;
            }
            known += copies - u64::from(!is_known);
            if !is_known {
                writer.push(&state)?;
            }
            steps = steps.wrapping_add(1);
            if steps & 0xffff == 0 && budget.check().is_err() {
                return Ok(None);
            }
        }
        drop(sources);
        files.iter().try_for_each(|run| std::fs::remove_file(run.path()))?;
        all.iter_mut().for_each(|gathered| gathered.states.clear());
        let new = writer.finish()?;
        self.runs.push(new.clone());
        if new.count > 0 {
            self.merged.push((0, new.clone()));
            self.merge()?;
        }
        Ok(Some(Sorted { new, known }))
    }

    /// Merges runs that were merged equally often, when they are many.
    fn merge(&mut self) -> io::Result<()> {
        while let Some(&(times, _)) = self.merged.last() {
            let start = self.merged.iter().position(|(t, _)| *t == times).unwrap_or(0);
            if self.merged.len() - start < FAN {
                break;
            }
            let parts = self.merged.split_off(start);
            let opened = parts.iter().map(|(_, run)| Ok(Source::File(run.read()?)));
            let mut sources = opened.collect::<io::Result<Vec<Source<'_>>>>()?;
            let mut writer = Writer::append(&self.names.file("states"), self.words)?;
            while let Some(state) = least(&sources) {
                writer.push(&state)?;
                for source in sources.iter_mut().filter(|source| source.state() == Some(&state[..])) {
                    source.advance()?;
                }
            }
            self.merged.push((times + 1, writer.finish()?));
            // The levels themselves are in a file that stays.
            if times > 0 {
                parts.iter().try_for_each(|(_, run)| std::fs::remove_file(run.path()))?;
            }
        }
        Ok(())
    }

    /// States by reading the runs from which new ones are told: slow, and independent of every counter.
    pub fn count(&self) -> io::Result<u64> {
        let mut count = 0;
        for (_, run) in &self.merged {
            let mut reader = run.read()?;
            while reader.state().is_some() {
                count += 1;
                reader.advance()?;
            }
        }
        Ok(count)
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        let merged = self.merged.iter().filter(|(times, _)| *times > 0).map(|(_, run)| run.bytes());
        self.runs.iter().map(Run::bytes).chain(merged).sum()
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        // Nobody is left to be told that a file stays behind.
        let _ = std::fs::remove_dir_all(&self.names.dir);
    }
}

impl Names {
    fn file(&self, kind: &str) -> Arc<Path> {
        self.dir.join(format!("{kind}-{}", self.next.fetch_add(1, Ordering::Relaxed))).into()
    }
}

impl Gathered {
    /// Takes targets over; writes them to disk when they are too many for memory.
    pub fn take(&mut self, targets: &[u64]) -> io::Result<()> {
        self.states.extend_from_slice(targets);
        if self.states.len() < self.most {
            return Ok(());
        }
        let repeated = self.sort();
        let mut writer = Writer::append(&self.names.file("targets"), self.words)?;
        self.states.chunks_exact(self.words).try_for_each(|state| writer.push(state))?;
        self.states.clear();
        self.runs.push((writer.finish()?, repeated));
        Ok(())
    }

    /// Sorts the states in memory and leaves one of each; how many were left out.
    fn sort(&mut self) -> u64 {
        let before = self.states.len() / self.words;
        if self.words == 1 {
            self.states.sort_unstable();
            self.states.dedup();
        } else {
            let mut order: Vec<&[u64]> = self.states.chunks_exact(self.words).collect();
            order.sort_unstable();
            order.dedup();
            self.states = order.concat();
        }
        (before - self.states.len() / self.words) as u64
    }
}

/// States in ascending order, from memory or from a file.
enum Source<'a> {
    Memory { states: &'a [u64], words: usize },
    File(Reader),
}

impl Source<'_> {
    fn state(&self) -> Option<&[u64]> {
        match self {
            Source::Memory { states, words } => states.get(..*words),
            Source::File(reader) => reader.state(),
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        match self {
            Source::Memory { states, words } => {
                *states = &states[*words..];
                Ok(())
            }
            Source::File(reader) => reader.advance(),
        }
    }
}

/// The least state at which one of the sources stands.
fn least(sources: &[Source<'_>]) -> Option<Vec<u64>> {
    sources.iter().filter_map(Source::state).min().map(<[u64]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_kernels::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn every_state_is_new_in_one_level_however_small_the_memory() {
        let dir = tempfile::tempdir().unwrap();
        for (words, bytes) in [(1, 1 << 20), (1, 0), (3, 0)] {
            let mut archive = Archive::new(dir.path(), words).unwrap();
            let mut random = Random(9);
            let mut known = BTreeSet::new();
            for _ in 0..70 {
                let mut all = [archive.gathered(bytes), archive.gathered(bytes)];
                let mut new = BTreeSet::new();
                let mut targets = 0;
                for _ in 0..3000 {
                    let number = random.below(40_000);
                    let state: Vec<u64> = (0..words as u32).map(|i| number >> (4 * i)).rev().collect();
                    all[random.below(2) as usize].take(&state).unwrap();
                    targets += 1;
                    if !known.contains(&state) {
                        new.insert(state);
                    }
                }
                let sorted = archive.sort(&mut all, &Budget::unlimited()).unwrap().unwrap();
                let mut reader = sorted.new.read().unwrap();
                for state in &new {
                    assert_eq!(reader.state(), Some(&state[..]));
                    reader.advance().unwrap();
                }
                assert_eq!((reader.state(), sorted.known), (None, targets - new.len() as u64));
                known.extend(new);
            }
            assert_eq!(archive.count().unwrap(), known.len() as u64);
            let files = std::fs::read_dir(&archive.names.dir).unwrap().count();
            assert!(files < 20, "{files} files");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "files stay behind");
    }
}
