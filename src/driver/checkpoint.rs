//! Searches that survive a kill: where they are saved, and whether a saved one belongs to this run.
//!
//! In: a directory, the model, the options. Out: a search that is saved now and then, or goes on from
//! where it was saved.
//! Never here: what is saved (`explore::checkpoint`), how damage is noticed (`base::sealed`).
//!
//! There is one file. A new one is written beside it, brought to the disk and then renamed over it, so
//! that at any moment there is one that is whole. It begins with all that a saved search depends on;
//! a search goes on only if all of it is as it was.

use super::{CheckOptions, Failure, Rejected};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::sealed::{Sealer, Unsealer};
use crate::base::span::FileId;
use crate::explore::{self, Keeper, Outcome, Refusal};
use crate::lang::typed::Machine;
use crate::program::Program;
use crate::system::System;
use bombus_kernels::hash;
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Changes with everything that gives the bytes another meaning.
const FORMAT: u32 = 3;
const NAME: &str = "search.bombus";
const NEW: &str = "search.bombus.new";
/// Ends the name of a part of a search on several machines.
const PART: &str = ".part.bombus";

/// Time between two savings unless the user says otherwise; more if saving takes long.
const PERIOD: Duration = Duration::from_secs(60);
/// Saving takes at most one part in so many of the time, unless the user says otherwise.
const SHARE: u32 = 20;

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// Where to save.
    pub save: Option<PathBuf>,
    /// Where to go on from.
    pub resume: Option<PathBuf>,
    /// Whether to start from the beginning if nothing is saved where to go on from.
    pub or_start: bool,
    pub every: Option<Duration>,
    /// Set by a signal: the run should be saved and end.
    pub end: Arc<AtomicBool>,
    /// Set when the search has ended by itself, not by a limit.
    pub ended: Arc<AtomicBool>,
}

impl Checkpoint {
    pub fn is_asked(&self) -> bool {
        self.save.is_some() || self.resume.is_some()
    }

    /// Removes what was saved, once the result is told: a search that has ended by itself leaves
    /// nothing to go on with.
    pub fn clear(&self) {
        if let Some(dir) = self.save.as_ref().filter(|_| self.ended.load(Ordering::Relaxed)) {
            let _ = fs::remove_file(dir.join(NAME));
            remove_files(dir, |name| name.ends_with(PART) || name.starts_with(NEW));
            let _ = fs::remove_dir(dir);
        }
    }
}

/// One thing that a saved search depends on, in words and as a value that must be the same.
pub(super) type Fact = (String, String);

/// A search, with what there is to say about its saving.
pub struct Searched {
    pub outcome: Outcome,
    pub warnings: Vec<String>,
    pub details: Vec<String>,
}

impl Checkpoint {
    /// Removes what was saved of a search that begins again from nothing.
    pub(super) fn forget(&self) {
        if let Some(dir) = &self.save {
            let _ = fs::remove_file(dir.join(NAME));
        }
    }

    /// Whether what shall go on was saved by several machines.
    pub fn is_of_several(&self) -> bool {
        let names = self.resume.as_ref().and_then(|dir| std::fs::read_dir(dir).ok());
        names.into_iter().flatten().flatten().any(|f| f.file_name().to_string_lossy().ends_with(PART))
    }

    /// Whether a search is saved or goes on from where it was saved.
    pub fn is_used(&self) -> bool {
        self.save.is_some() || self.resume.is_some()
    }
}

/// Explores, from the beginning or from where a search was saved.
pub fn search(
    program: &Program,
    how: explore::Options,
    budget: &Budget,
    sources: &Sources,
    options: &CheckOptions,
) -> Result<Searched, Failure> {
    search_with(program, || facts(program, sources, options), how, budget, &options.checkpoint)
}

/// The same for any system; `facts` are all that a saved search depends on.
pub(super) fn search_with<S: System>(
    system: &S,
    facts: impl FnOnce() -> Vec<Fact>,
    mut how: explore::Options,
    budget: &Budget,
    asked: &Checkpoint,
) -> Result<Searched, Failure> {
    let mut saver = None;
    let mut saved = None;
    if asked.is_asked() {
        let facts = facts();
        if let Some(dir) = &asked.resume {
            saved = open(dir, &facts, asked.or_start).map_err(rejected)?;
        }
        if let Some(dir) = &asked.save {
            let rank = how.peers.as_ref().map(|peers| peers.rank());
            prepare(dir, asked.resume.as_ref() == Some(dir), rank).map_err(rejected)?;
            let every = asked.every.unwrap_or(PERIOD);
            let keeper = Arc::new(Saver {
                dir: dir.clone(),
                facts,
                every,
                patient: asked.every.is_none(),
                due: AtomicU64::new(millis(budget.elapsed() + every)),
                end: asked.end.clone(),
                log: Mutex::default(),
                rank,
                kept: AtomicBool::new(false),
            });
            how.keeper = Some(keeper.clone());
            saver = Some(keeper);
        }
    }
    let outcome = match saved {
        None => explore::explore(system, &how, budget).map_err(|e| Failure::Internal(e.to_string()))?,
        Some((path, mut from)) => {
            explore::resume(system, &how, budget, &mut from).map_err(|refusal| match refusal {
                Refusal::Unreadable(why) => {
                    rejected(format!("{}: {why}; nothing of it is used", path.display()))
                }
                Refusal::Internal(e) => Failure::Internal(e.to_string()),
            })?
        }
    };
    let limited =
        |reason: &explore::Reason| !matches!(reason, explore::Reason::System(_) | explore::Reason::Orbits);
    asked.ended.store(!outcome.reasons.iter().any(|(reason, _)| limited(reason)), Ordering::Relaxed);
    let mut searched = Searched { outcome, warnings: Vec::new(), details: Vec::new() };
    if let Some(states) = searched.outcome.resumed {
        searched.details.push(format!("resumed      with {states} states"));
    }
    if let Some(saver) = saver {
        let log = saver.log.lock();
        searched.details.push(format!(
            "checkpoints  {} in {:.2} s, the last one of {} bytes",
            log.times,
            log.took.as_secs_f64(),
            log.bytes
        ));
        searched.warnings.extend(log.failures.iter().cloned());
    }
    Ok(searched)
}

fn rejected(message: String) -> Failure {
    Failure::Rejected(Rejected { sources: Sources::default(), diagnostics: vec![Diagnostic::plain(message)] })
}

/// All that a saved search of a machine depends on.
pub(super) fn facts(program: &Program, sources: &Sources, options: &CheckOptions) -> Vec<Fact> {
    let layout = format!("{:032x}", hash::bytes(&program.shape()));
    facts_of(options, model(program.machine(), sources), layout)
}

/// All that a saved search depends on: the options, what the model is, how its states are laid out.
pub(super) fn facts_of(options: &CheckOptions, model: String, layout: String) -> Vec<Fact> {
    let program = std::env::current_exe().and_then(fs::File::open);
    let build = program.and_then(|mut program| hash::all_of(&mut program)).unwrap_or(0);
    let version = format!(
        "{}, format {FORMAT}, hash {}, build {build:032x}",
        env!("CARGO_PKG_VERSION"),
        hash::HASH_VERSION
    );
    let settings: Vec<String> =
        settings(options).iter().map(|(name, value)| format!("{name} {value}")).collect();
    vec![
        ("the version of Bombus".into(), version),
        (OPTIONS.into(), settings.join("\n")),
        ("the model".into(), model),
        ("the layout of states".into(), layout),
    ]
}

/// What the options of a saved search are called where they differ.
const OPTIONS: &str = "the options";

/// The options that a saved search depends on, by their names on the command line; what is not given is empty.
fn settings(options: &CheckOptions) -> Vec<(&'static str, String)> {
    fn number<T: ToString>(n: &Option<T>) -> String {
        n.as_ref().map(T::to_string).unwrap_or_default()
    }
    let list = |all: &[String]| match all {
        [] => String::new(),
        [one] => one.clone(),
        several => format!("{several:?}"),
    };
    let switch = |on: bool| if on { "given".to_string() } else { String::new() };
    let word = |choice: &dyn std::fmt::Debug| {
        let word = format!("{choice:?}").to_lowercase();
        word.strip_prefix("some(").and_then(|w| w.strip_suffix(')')).unwrap_or(&word).replace("none", "")
    };
    let l = &options.loading;
    let t = &options.temporal;
    let sizes: Vec<String> = l.set_sizes.iter().map(|(name, n)| format!("{name}={n}")).collect();
    let file = t.ltl_file.as_ref();
    let file = file.map(|(name, text)| format!("{name} (its text is {:032x})", hash::bytes(text.as_bytes())));
    let all = [
        ("--order", word(&options.order)),
        ("--store", word(&options.store)),
        ("--no-deadlock", switch(options.no_deadlock)),
        ("--no-invariant", switch(options.no_invariant)),
        ("--no-assertions", switch(options.no_assertions)),
        ("--no-goal", switch(options.no_goal)),
        ("--strict-wd", switch(options.strict_wd)),
        ("--keep-going", switch(options.keep_going)),
        ("--goal", options.goal.clone().unwrap_or_default()),
        ("--set", sizes.join(" ")),
        ("--set-size", number(&l.default_set_size)),
        ("--maxint", number(&l.maxint)),
        ("--minint", number(&l.minint)),
        ("--machine", number(&l.machine)),
        ("--abstract-levels", number(&l.abstract_levels)),
        ("--variants", switch(l.variants)),
        ("--operation", list(&l.operations)),
        ("--ltl", list(&t.ltl)),
        ("--ltl-file", file.unwrap_or_default()),
        ("--ltl-assertions", switch(t.assertions)),
        ("--ctl", list(&t.ctl)),
        ("--ltl-engine", word(&t.engine)),
        ("--symmetry", word(&options.symmetry)),
        ("--por", word(&options.por)),
        ("--proviso", if options.level_proviso { "level".into() } else { String::new() }),
        ("--only-deadlock", switch(options.deadlock_only)),
    ];
    all.into_iter().map(|(name, value)| (name, value.replace('\n', "\\n"))).collect()
}

/// The layout of states that a search was saved with, if one is saved there and can be read.
pub(super) fn saved_layout(dir: &Path) -> Option<String> {
    let mut from = Unsealer::new(File::open(dir.join(NAME)).ok()?).ok()?;
    (0..4).map(|_| read_text(&mut from).ok()).last()?
}

/// The texts of a model, and what they were understood to mean.
fn model(machine: &Machine, sources: &Sources) -> String {
    let mut all = Vec::new();
    for file in 0..sources.len() {
        let text = &sources.get(FileId(file as u32)).text;
        all.extend_from_slice(&(text.len() as u64).to_le_bytes());
        all.extend_from_slice(text.as_bytes());
    }
    all.extend_from_slice(format!("{machine:?}").as_bytes());
    format!("{:032x}", hash::bytes(&all))
}

/// What changed, in words: of the options those that differ, of everything else both values if they are short.
fn changed(what: &str, before: &str, now: &str) -> String {
    if what != OPTIONS {
        let short = now.len() < 600 && before.len() < 600;
        return if short { format!("\n  then: {before}\n  now:  {now}") } else { String::new() };
    }
    let parts =
        |line: &'_ str| line.split_once(' ').map(|(a, b)| (a.to_string(), b.to_string())).unwrap_or_default();
    let worth = |value: String| if value.is_empty() { "not given".to_string() } else { value };
    let differ = before.lines().zip(now.lines()).filter(|(a, b)| a != b);
    differ
        .map(|(then, now)| {
            let ((name, then), (_, now)) = (parts(then), parts(now));
            format!("\n  {name}: {} then, {} now", worth(then), worth(now))
        })
        .collect()
}

/// Opens a saved search and compares what it depends on; `None` if there is none and `may_lack` it.
fn open(dir: &Path, facts: &[Fact], may_lack: bool) -> Result<Option<(PathBuf, Unsealer<File>)>, String> {
    let path = dir.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound && may_lack => return Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(format!("--resume {}: no search is saved there", dir.display()));
        }
        Err(e) => return Err(format!("cannot read {}: {e}", path.display())),
    };
    let mut from = Unsealer::new(file).map_err(|e| format!("{}: {e}", path.display()))?;
    for (what, now) in facts {
        let before = read_text(&mut from).map_err(|e| format!("{}: {e}", path.display()))?;
        if before != *now {
            let values = changed(what, &before, now);
            return Err(format!(
                "{}: {what} changed since this search was saved, so it cannot go on{values}",
                path.display()
            ));
        }
    }
    Ok(Some((path, from)))
}

/// Makes sure that a search can be saved there, before hours were spent on it.
fn prepare(dir: &Path, resuming: bool, rank: Option<usize>) -> Result<(), String> {
    let wrong = |e: io::Error| format!("--checkpoint {}: {e}", dir.display());
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(wrong)?;
    if !resuming && dir.join(NAME).exists() {
        return Err(format!(
            "--checkpoint {0}: a search is saved there; go on with it by --resume {0}, or remove {1}",
            dir.display(),
            dir.join(NAME).display()
        ));
    }
    let new = dir.join(new_name(rank));
    create(&new).map_err(wrong)?;
    fs::remove_file(new).map_err(wrong)
}

/// The name of a file that is being written. Several machines may share a directory.
fn new_name(rank: Option<usize>) -> String {
    rank.map_or_else(|| NEW.to_string(), |rank| format!("{NEW}.{rank}"))
}

/// Removes the files whose names are chosen.
fn remove_files(dir: &Path, chosen: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if chosen(&name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A new file for this user alone; one that a killed run left behind is replaced.
fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

fn read_text(from: &mut dyn Read) -> io::Result<String> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let mut bytes = Vec::new();
    let length = u64::from_le_bytes(length);
    let read = from.take(length).read_to_end(&mut bytes)?;
    if read as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it holds no text"))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Saves a search to its directory.
#[derive(Debug)]
struct Saver {
    dir: PathBuf,
    facts: Vec<Fact>,
    every: Duration,
    /// Whether to save less often when it takes long.
    patient: bool,
    /// When to save next, in milliseconds of the run.
    due: AtomicU64,
    end: Arc<AtomicBool>,
    log: Mutex<Log>,
    /// Which of several machines this one is.
    rank: Option<usize>,
    /// Whether the last file was written.
    kept: AtomicBool,
}

#[derive(Debug, Default)]
struct Log {
    times: u64,
    took: Duration,
    bytes: u64,
    failures: Vec<String>,
}

impl Keeper for Saver {
    fn is_due(&self, elapsed: Duration) -> bool {
        millis(elapsed) >= self.due.load(Ordering::Relaxed)
    }

    fn wants_end(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    fn keep(&self, elapsed: &dyn Fn() -> Duration, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let started = elapsed();
        let result = self.replace(write);
        let took = elapsed().saturating_sub(started);
        let pause = if self.patient { self.every.max(took * SHARE) } else { self.every };
        self.due.store(millis(elapsed() + pause), Ordering::Relaxed);
        self.kept.store(result.is_ok(), Ordering::Relaxed);
        let mut log = self.log.lock();
        log.took += took;
        match result {
            Ok(bytes) => {
                log.times += 1;
                log.bytes = bytes;
            }
            Err(e) => {
                drop(log);
                self.complain(&e);
            }
        }
    }

    fn has_kept(&self) -> bool {
        self.kept.load(Ordering::Relaxed)
    }

    fn keep_part(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> bool {
        let written = self.write_file(&format!("{name}{PART}"), write);
        if let Err(e) = &written {
            self.complain(e);
        }
        written.is_ok()
    }

    fn part(&self, name: &str) -> io::Result<Box<dyn Read>> {
        let path = self.dir.join(format!("{name}{PART}"));
        let named =
            |e: io::Error| io::Error::new(e.kind(), format!("its part {} is missing: {e}", path.display()));
        let mut from = Unsealer::new(File::open(&path).map_err(named)?).map_err(io::Error::other)?;
        for (_, value) in &self.facts {
            if read_text(&mut from)? != *value {
                return Err(io::Error::other(format!("its part {} is of another search", path.display())));
            }
        }
        Ok(Box::new(from))
    }

    fn keep_only_parts(&self, prefix: &str, all: bool) {
        let mine = format!("-machine-{}", self.rank.unwrap_or(0));
        remove_files(&self.dir, |name| {
            let part = name.strip_suffix(PART);
            part.is_some_and(|part| !part.starts_with(prefix) && (all || part.ends_with(&mine)))
        });
    }

    fn postpone(&self, elapsed: Duration) {
        let due = millis(elapsed + self.every);
        self.due.fetch_max(due, Ordering::Relaxed);
    }
}

impl Saver {
    /// Writes a new file, brings it to the disk and puts it in the place of the old one.
    fn replace(&self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
        self.write_file(NAME, write)
    }

    /// Notes that nothing could be saved.
    fn complain(&self, e: &io::Error) {
        let new = self.dir.join(new_name(self.rank));
        let _ = fs::remove_file(&new);
        let mut log = self.log.lock();
        let kept = if log.times > 0 || self.dir.join(NAME).exists() {
            "the one saved before is still there"
        } else {
            "none is saved"
        };
        let message = format!("the search could not be saved to {}: {e}; {kept}", new.display());
        if !log.failures.contains(&message) {
            log.failures.push(message);
        }
    }

    fn write_file(
        &self,
        name: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let new = self.dir.join(new_name(self.rank));
        let mut sealer = Sealer::new(create(&new)?);
        for (_, value) in &self.facts {
            write_text(&mut sealer, value)?;
        }
        write(&mut sealer)?;
        let file = sealer.finish()?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        drop(file);
        fs::rename(&new, self.dir.join(name))?;
        // The rename itself must survive, too.
        #[cfg(unix)]
        File::open(&self.dir)?.sync_all()?;
        Ok(bytes)
    }
}
