//! `bombus batch`: many checks from a jobs file, with results that survive a kill.

use super::run::complain;
use super::{outputs, status};
use crate::runs::batch::live::{Board, Lines, Table};
use crate::runs::batch::schedule::Budget;
use crate::runs::batch::{Finished, Settings, Trouble, jobs, page, report, run as run_batch, summary};
use crate::runs::child::{self, Checker};
use clap::Args;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Some expectation was not met.
const NOT_AS_EXPECTED: u8 = 1;
/// Not every job ran.
const INTERRUPTED: u8 = 130;

#[derive(Args, Debug)]
#[command(
    after_help = "A batch that was killed goes on where it was when the same command is given again.\n\
Exit status: 0 every job met its expectation, 1 some did not, 2 the jobs file was rejected, 4 results could not be\n\
written or no check could be started, 130 interrupted (what ended is kept)."
)]
pub struct Batch {
    /// The jobs file
    #[arg(value_name = "JOBS.toml", required_unless_present = "follow")]
    pub jobs: Option<PathBuf>,
    /// Workers that may run at the same time [default: cores in the file, else all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub cores: Option<u32>,
    /// Forget earlier results and run everything
    #[arg(long)]
    pub fresh: bool,
    /// Only write reports from the results there are
    #[arg(long, conflicts_with = "fresh")]
    pub report_only: bool,
    /// Write the summary as one JSON object
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the summary as JUnit XML, for continuous integration
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the summary as one self-contained page with plots and counterexamples
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print neither progress nor the table
    #[arg(long)]
    pub quiet: bool,

    /// The program to run instead of this one; it takes the same arguments
    #[arg(long, value_name = "PROGRAM", hide = true)]
    pub checker: Option<PathBuf>,
    /// Become the program after `--`, and die with the process of this id
    #[arg(long, value_name = "PID", hide = true, requires = "line")]
    pub follow: Option<u32>,
    #[arg(last = true, hide = true)]
    pub line: Vec<OsString>,
}

pub fn run(args: &Batch) -> u8 {
    if let Some(parent) = args.follow {
        complain(&format!("error: {}", child::follow(parent, &args.line)));
        return status::INTERNAL;
    }
    let Some(path) = &args.jobs else { return status::REJECTED };
    let files = [("--json", &args.json), ("--junit", &args.junit), ("--html", &args.html)];
    for (option, file) in files.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?))) {
        let own = (file == path).then(|| format!("{option} {}: this is the jobs file", file.display()));
        if let Some(message) = own.or_else(|| outputs::refused(option, file)) {
            complain(&format!("error: {message}"));
            return status::REJECTED;
        }
    }
    match start(args, path) {
        Ok(finished) => finish(args, &finished),
        Err(Trouble::Jobs(messages)) => {
            for m in messages {
                complain(&format!("error: {}: {m}", path.display()));
            }
            status::REJECTED
        }
        Err(Trouble::System(message)) => {
            complain(&format!("error: {message}"));
            status::INTERNAL
        }
    }
}

fn start(args: &Batch, path: &Path) -> Result<Finished, Trouble> {
    let batch = jobs::load(path).map_err(Trouble::Jobs)?;
    if args.report_only {
        return report(&batch);
    }
    let checker = match &args.checker {
        Some(program) => Checker::other(program.clone()),
        None => Checker::ourselves(),
    };
    let checker = checker.map_err(|e| Trouble::System(format!("cannot find this program itself: {e}")))?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // The first interrupt ends the running checks and keeps what ended; a second one ends everything at once.
    let heard = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    heard.map_err(|e| Trouble::System(format!("cannot listen for interrupts: {e}")))?;
    let settings = Settings {
        checker,
        budget: Budget { workers: args.cores.or(batch.cores).unwrap_or(cores), memory: batch.memory },
        fresh: args.fresh,
        stop,
    };
    let err = std::io::stderr();
    let mut board: Box<dyn Board> = if args.quiet {
        Box::new(Lines::new(std::io::sink()))
    } else if err.is_terminal() {
        Box::new(Table::new(err, columns()))
    } else {
        Box::new(Lines::new(err))
    };
    run_batch(&batch, &settings, board.as_mut())
}

/// The width that the terminal says it has.
fn columns() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(100, |(w, _)| usize::from(w.0))
}

fn finish(args: &Batch, finished: &Finished) -> u8 {
    if args.quiet {
        say(&format!("{}\n", summary::headline(finished)));
    } else {
        say(&summary::text(finished));
    }
    let json = || format!("{:#}\n", summary::json(finished));
    let files: [(&Option<PathBuf>, &dyn Fn() -> String); 3] = [
        (&args.json, &json),
        (&args.junit, &|| summary::junit(finished)),
        (&args.html, &|| page::page(finished)),
    ];
    let mut written = true;
    for (path, render) in files {
        if let Some(path) = path
            && let Err(e) = write_whole(path, &render())
        {
            complain(&format!("error: cannot write {}: {e}", path.display()));
            written = false;
        }
    }
    if finished.interrupted {
        INTERRUPTED
    } else if !written {
        status::INTERNAL
    } else if finished.unmet() + finished.left() > 0 {
        NOT_AS_EXPECTED
    } else {
        status::OK
    }
}

/// Text on standard output; a reader that went away is no error.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes beside and renames, so that a reader never sees half a report and a failure leaves the old one.
pub fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let written = std::fs::File::create(&beside).and_then(|mut f| {
        f.write_all(text.as_bytes())?;
        f.sync_all()
    });
    match written.and_then(|()| std::fs::rename(&beside, path)) {
        Ok(()) => Ok(()),
        Err(e) => {
            let _ = std::fs::remove_file(&beside);
            Err(e)
        }
    }
}
