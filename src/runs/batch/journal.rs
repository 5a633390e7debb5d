//! Results on disk: one JSON line per ended run, appended and synced before the run counts as done.
//!
//! In: records. Out: the same records after a crash. A line is complete or it is not there: whatever follows the last
//! newline is the trace of a kill in the middle of a write and is cut off when the file is opened again. A write that
//! fails (a full disk) is taken back, so that the file always ends with a whole line. One batch at a time writes: it
//! holds the lock of the file, which belongs to the opened file and so to every process that inherited it.

use super::super::child::{Cut, Ended};
use super::jobs::Instance;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// With a verdict.
    Answered,
    /// The model or the options were not accepted.
    Rejected,
    /// It did not keep its time limit and was ended.
    OutOfTime,
    OutOfMemory,
    /// A signal, an internal error, or no result.
    #[default]
    Crashed,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    pub job: String,
    /// Fingerprint of model, options and version: another key means the result is of another question.
    pub key: String,
    pub attempts: u32,
    pub how: How,
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub wall_seconds: f64,
    pub peak_memory_bytes: u64,
    /// The last of what the run wrote to standard error, unless it answered.
    pub messages: String,
    pub result: Option<Value>,
}

impl Record {
    /// `None` if the batch is being interrupted and the run with it: then it has not ended.
    pub fn of(instance: &Instance, key: &str, attempts: u32, ended: Ended, stopping: bool) -> Option<Record> {
        // The same interrupt may have reached the checker before us; somebody who ends a single run has broken it.
        let interrupted = ended.status == Some(130) || matches!(ended.signal, Some(2 | 15));
        let how = match (ended.cut, ended.status) {
            (Some(Cut::Stopped), _) => return None,
            _ if interrupted && stopping => return None,
            (Some(Cut::Time), _) => How::OutOfTime,
            (Some(Cut::Memory), _) => How::OutOfMemory,
            (None, Some(2)) => How::Rejected,
            (None, status) if agrees(status, ended.result.as_ref()) => How::Answered,
            _ => How::Crashed,
        };
        let result = if how == How::Answered { ended.result } else { None };
        Some(Record {
            job: instance.name.clone(),
            key: key.to_string(),
            attempts,
            how,
            status: ended.status,
            signal: ended.signal,
            wall_seconds: ended.wall,
            peak_memory_bytes: result
                .as_ref()
                .and_then(|r| r["peak_memory_bytes"].as_u64())
                .unwrap_or(ended.peak),
            messages: if how == How::Answered { String::new() } else { ended.messages },
            result,
        })
    }

    /// How it ended, in words.
    pub fn ending(&self) -> String {
        match (self.how, self.status, self.signal) {
            (How::Answered, ..) => self.verdict().to_string(),
            (How::Rejected, ..) => "the model or the options were rejected".into(),
            (How::OutOfTime, ..) => "did not end within its time limit".into(),
            (How::OutOfMemory, ..) => "took more memory than its limit".into(),
            (How::Crashed, _, Some(9)) => "killed (signal 9), perhaps for memory".into(),
            (How::Crashed, _, Some(s)) => format!("crashed with signal {s}"),
            (How::Crashed, Some(s @ (0 | 1 | 3)), _) => {
                format!("status {s}, but no result that agrees with it")
            }
            (How::Crashed, Some(s), _) => format!("crashed with status {s}"),
            (How::Crashed, None, None) => "could not be started".into(),
        }
    }

    pub fn verdict(&self) -> &str {
        match self.how {
            How::Answered => self.result.as_ref().and_then(|r| r["verdict"].as_str()).unwrap_or("no verdict"),
            How::Rejected => "rejected",
            How::OutOfTime => "out of time",
            How::OutOfMemory => "out of memory",
            How::Crashed => "crashed",
        }
    }

    pub fn number(&self, field: &str) -> Option<u64> {
        self.result.as_ref()?[field].as_u64()
    }
}

/// A verdict counts only with the exit status that belongs to it.
fn agrees(status: Option<i32>, result: Option<&Value>) -> bool {
    let verdict = result.and_then(|r| r["verdict"].as_str());
    matches!(
        (status, verdict),
        (Some(0), Some("verified")) | (Some(1), Some("violated")) | (Some(3), Some("incomplete"))
    )
}

/// Identifies the question: model text, options, version. FNV-1a, fixed for good.
pub fn key(instance: &Instance) -> std::io::Result<String> {
    let mut hash = Fnv::default();
    hash.part(env!("CARGO_PKG_VERSION").as_bytes());
    for a in &instance.args {
        hash.part(os_bytes(a));
    }
    for file in files_of(&instance.model)? {
        hash.part(&std::fs::read(&file)?);
    }
    Ok(format!("{:016x}", hash.0))
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn byte(&mut self, b: u8) {
        self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    }

    /// The length first, so that parts cannot run together.
    fn part(&mut self, bytes: &[u8]) {
        (bytes.len() as u64).to_le_bytes().iter().chain(bytes).for_each(|b| self.byte(*b));
    }
}

fn os_bytes(text: &OsString) -> &[u8] {
    text.as_encoded_bytes()
}

/// The model's file, or every file of its project in a fixed order.
fn files_of(model: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![model.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What an earlier start left: the last record of each job, and what was wrong with the file.
#[derive(Default)]
pub struct Earlier {
    pub records: BTreeMap<String, Record>,
    pub warnings: Vec<String>,
}

pub struct Journal {
    path: PathBuf,
    file: File,
    /// Length of the whole lines.
    whole: u64,
    pub kept: usize,
}

impl Journal {
    /// Opens or makes the file, and reads what it holds.
    pub fn open(path: &Path, fresh: bool) -> Result<(Journal, Earlier), String> {
        let say = |e: std::io::Error| format!("results {}: {e}", path.display());
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(say)?;
        lock(&file).map_err(|e| match e {
            TryLockError::WouldBlock => format!("results {}: another batch is writing there", path.display()),
            TryLockError::Error(e) => format!("results {}: cannot be locked: {e}", path.display()),
        })?;
        if fresh {
            file.set_len(0).map_err(say)?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(say)?;
        let (whole, mut earlier) = read_lines(&bytes, path);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(say)?;
            file.sync_all().map_err(say)?;
            earlier.warnings.push(format!("results {}: an unfinished line was cut off", path.display()));
        }
        file.seek(SeekFrom::End(0)).map_err(say)?;
        let kept = earlier.records.len();
        Ok((Journal { path: path.to_path_buf(), file, whole: whole as u64, kept }, earlier))
    }

    /// What the file holds, while a batch may be writing to it.
    pub fn peek(path: &Path) -> Result<Earlier, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("results {}: {e}", path.display()))?;
        Ok(read_lines(&bytes, path).1)
    }

    /// Writes a record to the disk. When this returns `Ok`, a power cut does not lose it.
    pub fn append(&mut self, record: &Record) -> Result<(), String> {
        let mut line = serde_json::to_vec(record).map_err(|e| e.to_string())?;
        line.push(b'\n');
        if let Err(e) = self.file.write_all(&line).and_then(|()| self.file.sync_data()) {
            // Take back what was written of the line; if even that fails, the next start does it.
            let _ = self.file.set_len(self.whole);
            let _ = self.file.seek(SeekFrom::Start(self.whole));
            return Err(format!(
                "cannot append to {}: {e}\n{} results are safe there; make room and start the same batch again to go on",
                self.path.display(),
                self.kept
            ));
        }
        self.whole += line.len() as u64;
        self.kept += 1;
        Ok(())
    }
}

/// A process that is being started holds a copy of every open file between its fork and its exec: closing our own
/// copy would leave the lock with that process for a while, unlocking does not.
impl Drop for Journal {
    fn drop(&mut self) {
        // The file is closed next, which unlocks it a moment later at the worst.
        let _ = self.file.unlock();
    }
}

/// How often the lock is asked for, and how long after each refusal the next try waits: two seconds in all.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Takes the lock of the file. A batch that was killed cannot unlock; a check that this batch was about to start holds
/// the lock until its exec, and that is waited for.
fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    file.try_lock()
}

/// The length of the whole lines, and what they say.
fn read_lines(bytes: &[u8], path: &Path) -> (usize, Earlier) {
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let mut earlier = Earlier::default();
    let lines = bytes[..whole].split(|b| *b == b'\n').enumerate().filter(|(_, l)| !l.is_empty());
    for (number, line) in lines {
        match serde_json::from_slice::<Record>(line) {
            Ok(record) => {
                earlier.records.insert(record.job.clone(), record);
            }
            Err(e) => earlier.warnings.push(format!(
                "results {}, line {}: not one of ours, its job runs again ({e})",
                path.display(),
                number + 1
            )),
        }
    }
    (whole, earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(job: &str) -> Record {
        Record { job: job.into(), key: "k".into(), ..Record::default() }
    }

    #[test]
    fn what_was_appended_is_there_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let (mut journal, old) = Journal::open(&path, false).unwrap();
        assert!(old.records.is_empty());
        journal.append(&record("a")).unwrap();
        journal.append(&record("b")).unwrap();
        drop(journal);
        let (_, old) = Journal::open(&path, false).unwrap();
        assert_eq!(old.records.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert!(old.warnings.is_empty());
    }

    #[test]
    fn a_line_that_was_cut_in_the_middle_is_as_if_never_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let (mut journal, ..) = Journal::open(&path, false).unwrap();
        journal.append(&record("a")).unwrap();
        journal.append(&record("b")).unwrap();
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        let first = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
        for length in first..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let (mut journal, old) = Journal::open(&path, false).unwrap();
            assert_eq!(old.records.len(), 1, "cut at {length}");
            journal.append(&record("b")).unwrap();
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn two_batches_do_not_write_to_the_same_results() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let _first = Journal::open(&path, false).unwrap();
        assert!(Journal::open(&path, false).err().unwrap().contains("another batch"));
    }

    #[test]
    fn a_process_that_inherited_the_file_does_not_keep_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let (journal, _) = Journal::open(&path, false).unwrap();
        // A second handle of the same opened file, as a fork makes it.
        let inherited = journal.file.try_clone().unwrap();
        drop(journal);
        let again = OpenOptions::new().write(true).open(&path).unwrap();
        assert!(again.try_lock().is_ok(), "the lock lives on in the copy");
        drop(inherited);
    }

    #[test]
    fn a_full_disk_loses_nothing_that_was_reported() {
        // /dev/full fails every write as a full disk does.
        let Ok(file) = OpenOptions::new().write(true).open("/dev/full") else { return };
        let mut journal = Journal { path: "/dev/full".into(), file, whole: 0, kept: 3 };
        let message = journal.append(&record("a")).unwrap_err();
        assert!(message.contains("3 results are safe"), "{message}");
    }

    #[test]
    fn a_verdict_needs_the_exit_status_that_belongs_to_it() {
        let verified = serde_json::json!({"verdict": "verified"});
        assert!(agrees(Some(0), Some(&verified)));
        assert!(!agrees(Some(1), Some(&verified)));
        assert!(!agrees(Some(0), None));
    }
}
