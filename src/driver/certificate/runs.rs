//! Sorted runs on the disk, for lists that do not fit into memory.
//!
//! In: lists in ascending order. Out: all of them as one list in ascending order.
//! Never here: what is sorted.

use super::blocks::Trouble;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// What stands in a run: something that is read back from its bytes.
pub trait Record: Ord + Sized {
    /// The next record of a run; none at its end.
    fn read(from: &mut impl Read) -> io::Result<Option<Self>>;
}

/// Runs beside the file that is made of them. They are removed with this.
pub struct Runs {
    dir: PathBuf,
    paths: Vec<PathBuf>,
}

impl Runs {
    pub fn new(dir: &Path) -> Runs {
        Runs { dir: dir.to_path_buf(), paths: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// One more run, with the bytes of records in ascending order.
    pub fn add(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
        let path = self.dir.join(format!("run-{}.tmp", self.paths.len()));
        self.paths.push(path.clone());
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        write(&mut out)?;
        out.flush()
    }

    /// Calls `f` with all records, in ascending order.
    pub fn merged<R: Record>(&self, mut f: impl FnMut(R) -> Result<(), Trouble>) -> Result<(), Trouble> {
        let open = |path| Ok(BufReader::with_capacity(1 << 20, File::open(path)?));
        let mut runs = self.paths.iter().map(open).collect::<io::Result<Vec<_>>>()?;
        let mut heap = BinaryHeap::new();
        for (at, run) in runs.iter_mut().enumerate() {
            heap.extend(R::read(run)?.map(|own| Reverse((own, at))));
        }
        while let Some(Reverse((own, at))) = heap.pop() {
            f(own)?;
            heap.extend(R::read(&mut runs[at])?.map(|own| Reverse((own, at))));
        }
        Ok(())
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Fills `bytes`; false if there is nothing more to read.
pub fn fill(bytes: &mut [u8], from: &mut impl Read) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}
