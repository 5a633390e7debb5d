//! One process of a client: started, asked, listened to within a time limit, ended.
//!
//! In: questions as bytes. Out: the bytes of the answer, or in words what went wrong.
//! Never here: what the bytes mean.
//!
//! Neither side may make the other wait for ever: a question is written in pieces that a pipe takes at
//! once, and whatever the process writes meanwhile is read.

use super::frame::{GIVES_UP, Kind, LONGEST, Wrong};
use bombus_base::budget::Budget;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Bytes that a pipe takes at once when it says that it is ready: `PIPE_BUF`, which POSIX lets be 512.
const PIECE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Bytes that are read at a time.
const GULP: usize = 1 << 16;

pub struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    limit: Duration,
    heard: Vec<u8>,
    gulp: Box<[u8]>,
    /// Propositions that it was told.
    pub propositions: usize,
}

impl Process {
    /// Starts the process; what it writes to stderr goes where ours goes.
    pub fn start(words: &[String], limit: Duration) -> Result<Process, Wrong> {
        let [program, arguments @ ..] = words else { return Err("the command is empty".into()) };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A signal from the terminal is for us: we end the process when we have said what was found.
            .process_group(0)
            .spawn()
            .map_err(|e| format!("cannot start `{program}`: {e}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err("the process has no pipes".into());
        };
        let gulp = vec![0; GULP].into_boxed_slice();
        Ok(Process { child, stdin, stdout, limit, heard: Vec::new(), gulp, propositions: 0 })
    }

    /// Asks one question and gives the body of the answer.
    pub fn ask(&mut self, kind: Kind, question: &[u8]) -> Result<&[u8], Wrong> {
        let time = Budget::unlimited();
        self.heard.clear();
        let mut unsent = question;
        loop {
            if self.is_whole()? {
                break;
            }
            let waited = time.elapsed();
            let left = self.limit.checked_sub(waited).filter(|left| !left.is_zero());
            let left = left.ok_or_else(|| format!("no answer within {} s", self.limit.as_secs_f64()))?;
            let (readable, writable) = self.wait(left, !unsent.is_empty())?;
            if readable {
                self.listen()?;
            }
            if writable {
                let piece = &unsent[..unsent.len().min(PIECE)];
                let sent = self.stdin.write(piece).map_err(|e| self.gone(&e.to_string()))?;
                unsent = &unsent[sent..];
            }
        }
        if !unsent.is_empty() {
            return Err("it answered before it was asked".into());
        }
        let answered = self.heard[4];
        if answered == GIVES_UP {
            let text = self.heard.get(7..).unwrap_or_default();
            return Err(format!("it gives up: {}", String::from_utf8_lossy(text)));
        }
        if answered != kind as u8 {
            return Err(format!("an answer of kind {answered} to a question of kind {}", kind as u8));
        }
        Ok(&self.heard[5..])
    }

    /// Whether a whole answer was heard. Anything beyond it was never asked for.
    fn is_whole(&self) -> Result<bool, Wrong> {
        let Some(length) = self.heard.get(..4) else { return Ok(false) };
        let length = u32::from_le_bytes(length.try_into().expect("four bytes were taken")) as usize;
        if length == 0 || length > LONGEST {
            return Err(format!("an answer of {length} bytes, which is not the protocol"));
        }
        if self.heard.len() > length + 4 {
            return Err("more output than an answer".into());
        }
        Ok(self.heard.len() == length + 4)
    }

    /// Waits until the process has written or can be written to.
    fn wait(&self, left: Duration, writes: bool) -> Result<(bool, bool), Wrong> {
        let left = Timespec::try_from(left).map_err(|_| "the time limit is out of range".to_string())?;
        let mut pipes = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        if writes {
            pipes.push(PollFd::new(&self.stdin, PollFlags::OUT));
        }
        match poll(&mut pipes, Some(&left)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok((false, false)),
            Err(e) => return Err(format!("cannot wait for an answer: {e}")),
        }
        let ready: Vec<bool> = pipes.iter().map(|pipe| !pipe.revents().is_empty()).collect();
        Ok((ready[0], ready.get(1).copied().unwrap_or(false)))
    }

    fn listen(&mut self) -> Result<(), Wrong> {
        match self.stdout.read(&mut self.gulp) {
            Ok(0) => Err(self.gone("its output has ended")),
            Ok(length) => {
                self.heard.extend_from_slice(&self.gulp[..length]);
                Ok(())
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(()),
            Err(e) => Err(self.gone(&e.to_string())),
        }
    }

    /// Why a process is gone, with its exit status if it has one already.
    fn gone(&mut self, why: &str) -> Wrong {
        match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended ({status}): {why}"),
            _ => format!("it is gone: {why}"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Whatever the process started itself is in its group and ends with it.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
