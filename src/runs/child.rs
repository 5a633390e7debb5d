//! One run of the checker in a process of its own: started, watched, ended.
//!
//! In: a command line and limits. Out: exit status or signal, the JSON result, the tail of the messages, wall time.
//! The process never outlives us: it is started through `follow`, which asks the kernel to end it when we die, so a
//! killed batch leaves nothing running. Limits are given to the checker, which keeps them with a result; here they are
//! kept once more, later and harder, for a checker that does not answer.

use parking_lot::Mutex;
use serde_json::Value;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// More than this of a result or of messages is a fault of the run, not something to keep.
const MOST_OUTPUT: usize = 256 << 20;
const MOST_MESSAGES: usize = 64 << 10;

/// How a run is started.
#[derive(Clone, Debug)]
pub struct Checker {
    /// The program; ourselves unless a test names another.
    pub program: PathBuf,
    /// What stands before the arguments of a run, such as `check`.
    pub before: Vec<OsString>,
    /// The program that starts it and dies with us (`bombus batch --follow`), if any.
    pub starter: Option<PathBuf>,
}

impl Checker {
    /// The command `check` of the program that is running now.
    pub fn ourselves() -> std::io::Result<Checker> {
        let me = std::env::current_exe()?;
        // All options of a run are its arguments: settings beside the model would not be told in its record.
        let before = vec!["check".into(), "--no-config".into()];
        Ok(Checker { program: me.clone(), before, starter: Some(me) })
    }

    /// Another program that takes the same arguments, started through this one.
    pub fn other(program: PathBuf) -> std::io::Result<Checker> {
        Ok(Checker { program, before: vec!["check".into()], starter: Some(std::env::current_exe()?) })
    }

    pub fn command_line(&self, args: &[OsString]) -> Vec<OsString> {
        let mut line = vec![self.program.clone().into_os_string()];
        line.extend(self.before.iter().cloned());
        line.extend(args.iter().cloned());
        line
    }

    fn command(&self, args: &[OsString]) -> Command {
        let line = self.command_line(args);
        let mut command = match &self.starter {
            Some(starter) => {
                let mut c = Command::new(starter);
                c.arg("batch").arg("--follow").arg(std::process::id().to_string()).arg("--").args(&line);
                c
            }
            None => {
                let mut c = Command::new(&line[0]);
                c.args(&line[1..]);
                c
            }
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Hard limits: the soft ones are options of the checker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub seconds: Option<f64>,
    pub bytes: Option<u64>,
}

impl Limits {
    /// When patience ends: the checker had its limit and ample time to write its result.
    fn patience(&self) -> Option<Duration> {
        self.seconds.map(|s| Duration::from_secs_f64(s * 1.25 + 10.0))
    }

    /// A quarter more than the limit, and something for code and stacks.
    fn most_bytes(&self) -> Option<u64> {
        self.bytes.map(|b| b + b / 4 + (64 << 20))
    }
}

/// Why we ended a run ourselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Time,
    Memory,
    Stopped,
}

#[derive(Clone, Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub cut: Option<Cut>,
    /// From start to end as seen from outside.
    pub wall: f64,
    /// Largest resident set we saw.
    pub peak: u64,
    /// The JSON object on its standard output.
    pub result: Option<Value>,
    /// The last of what it wrote to standard error.
    pub messages: String,
}

/// Runs the checker to its end, or until a limit or `stop`.
pub fn run(
    checker: &Checker,
    args: &[OsString],
    limits: Limits,
    stop: &Arc<AtomicBool>,
) -> std::io::Result<Ended> {
    let started = Instant::now();
    let mut child = checker.command(args).spawn()?;
    let out =
        child.stdout.take().map(|pipe| Reader::start(pipe, |kept, more| keep_head(kept, more, MOST_OUTPUT)));
    let err = child
        .stderr
        .take()
        .map(|pipe| Reader::start(pipe, |kept, more| keep_tail(kept, more, MOST_MESSAGES)));
    let watched = watch(&mut child, started, limits, stop);
    let out = out.map(Reader::collect).unwrap_or_default();
    let err = err.map(Reader::collect).unwrap_or_default();
    let (status, cut, peak) = watched?;
    Ok(Ended {
        status: status.code(),
        signal: signal_of(&status),
        cut,
        wall: started.elapsed().as_secs_f64(),
        peak,
        // A rejected model has messages, which stand on stderr too, and no result.
        result: serde_json::from_slice(&out)
            .ok()
            .filter(|result: &Value| result.is_object() && result["verdict"] != "rejected"),
        messages: String::from_utf8_lossy(&err).trim_end().to_string(),
    })
}

/// Reads a pipe to its end in a thread of its own, so that the writer never blocks.
struct Reader {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Closed when the pipe is at its end.
    open: mpsc::Receiver<()>,
}

impl Reader {
    /// `keep` adds what was read to what is kept, or drops it.
    fn start(
        mut pipe: impl Read + Send + 'static,
        keep: impl Fn(&mut Vec<u8>, &[u8]) + Send + 'static,
    ) -> Reader {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (end, open) = mpsc::channel();
        let mine = Arc::clone(&kept);
        thread::spawn(move || {
            let _end: mpsc::Sender<()> = end;
            let mut buffer = [0; 1 << 16];
            while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                keep(&mut mine.lock(), &buffer[..n]);
            }
        });
        Reader { kept, open }
    }

    /// What was read. The process has ended, so its pipe is at its end too, unless something that the process left
    /// behind holds the pipe open: that must not hold up the batch, nor lose what the process said.
    fn collect(self) -> Vec<u8> {
        let _ = self.open.recv_timeout(Duration::from_secs(10));
        std::mem::take(&mut *self.kept.lock())
    }
}

/// Keeps the first `most` bytes.
fn keep_head(kept: &mut Vec<u8>, more: &[u8], most: usize) {
    let room = most - kept.len();
    kept.extend_from_slice(&more[..more.len().min(room)]);
}

/// Keeps the last `most` bytes.
fn keep_tail(kept: &mut Vec<u8>, more: &[u8], most: usize) {
    kept.extend_from_slice(more);
    if kept.len() > most {
        kept.drain(..kept.len() - most);
    }
}

type Watched = (std::process::ExitStatus, Option<Cut>, u64);

/// Looks at the process often while it is young, seldom when it is old.
fn watch(child: &mut Child, started: Instant, limits: Limits, stop: &AtomicBool) -> std::io::Result<Watched> {
    let mut nap = Duration::from_millis(1);
    let mut peak = 0;
    let mut cut = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, cut, peak));
        }
        peak = peak.max(resident(child.id()).unwrap_or(0));
        if cut.is_none() {
            cut = if stop.load(Ordering::Relaxed) {
                Some(Cut::Stopped)
            } else if limits.patience().is_some_and(|p| started.elapsed() > p) {
                Some(Cut::Time)
            } else if limits.most_bytes().is_some_and(|b| peak > b) {
                Some(Cut::Memory)
            } else {
                None
            };
            if cut.is_some() {
                child.kill()?;
            }
        }
        thread::sleep(nap);
        nap = (nap * 5 / 4).min(Duration::from_millis(50));
    }
}

/// Resident memory as the kernel tells it; unknown where there is no /proc.
fn resident(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find(|l| l.starts_with("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(unix)]
fn signal_of(status: &std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(status)
}

#[cfg(not(unix))]
fn signal_of(_: &std::process::ExitStatus) -> Option<i32> {
    None
}

/// Becomes the given program, and dies when `parent` does. Returns only when that fails.
#[cfg(unix)]
pub fn follow(parent: u32, line: &[OsString]) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    #[cfg(target_os = "linux")]
    if let Err(e) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)) {
        return e.into();
    }
    // Our parent may have died before the line above took effect: then nobody waits for us.
    if std::os::unix::process::parent_id() != parent {
        return std::io::Error::other("the batch that started this run is gone");
    }
    let Some((program, args)) = line.split_first() else {
        return std::io::Error::other("no program to start");
    };
    Command::new(program).args(args).exec()
}

#[cfg(not(unix))]
pub fn follow(_: u32, line: &[OsString]) -> std::io::Error {
    let Some((program, args)) = line.split_first() else {
        return std::io::Error::other("no program to start");
    };
    match Command::new(program).args(args).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(4)),
        Err(e) => e,
    }
}

/// The number of operations of a counterexample: setting up and initialising do not count.
pub fn steps(result: &Value) -> Option<u64> {
    let trace = result["violation"]["trace"].as_array()?;
    let is_operation = |step: &&Value| step["event"].as_str().is_some_and(|e| !e.starts_with('$'));
    Some(trace.iter().filter(is_operation).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Checker {
        Checker {
            program: "/bin/sh".into(),
            before: vec!["-c".into(), script.into(), "sh".into()],
            starter: None,
        }
    }

    fn never() -> Arc<AtomicBool> {
        Arc::new(AtomicBool::new(false))
    }

    #[test]
    fn a_run_is_known_by_its_status_its_result_and_its_last_words() {
        let ended =
            run(&shell("echo '{\"a\":1}'; echo oh >&2; exit 3"), &[], Limits::default(), &never()).unwrap();
        assert_eq!(ended.status, Some(3));
        assert_eq!(ended.result.unwrap()["a"], 1);
        assert_eq!(ended.messages, "oh");
    }

    #[test]
    fn a_run_that_kills_itself_is_seen_by_its_signal() {
        let ended = run(&shell("kill -9 $$"), &[], Limits::default(), &never()).unwrap();
        assert_eq!((ended.status, ended.signal), (None, Some(9)));
        assert!(ended.result.is_none());
    }

    #[test]
    fn a_stopped_run_is_ended_by_us() {
        let stop = Arc::new(AtomicBool::new(true));
        let ended = run(&shell("exec sleep 60"), &[], Limits::default(), &stop).unwrap();
        assert_eq!(ended.cut, Some(Cut::Stopped));
    }

    #[test]
    fn only_the_tail_of_long_messages_is_kept_and_only_the_head_of_long_results() {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        for piece in [&b"ab"[..], b"cde", b"f"] {
            keep_head(&mut head, piece, 4);
            keep_tail(&mut tail, piece, 4);
        }
        assert_eq!((&head[..], &tail[..]), (&b"abcd"[..], &b"cdef"[..]));
    }
}
