//! `bombus serve` and `bombus check --open`: the page of a model, until an interrupt.

use super::args::{self, Loading};
use super::meaning::loading;
use super::run::{complain, rejected, say, watch_signals};
use super::status;
use crate::base::budget::Budget;
use crate::driver::{self, Animation};
use crate::report::Outcome;
use crate::report::finding_text::why_lines;
use crate::report::trace_read::{self, ReadTrace};
use crate::runs::child;
use crate::serve::{Cancel, Checker, Door, Session};
use clap::Args;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Args, Debug)]
#[command(
    after_help = "The page is served on 127.0.0.1 only, under an address that nobody can guess; it loads nothing from the\n\
network. It can be used with the keyboard alone: ? lists the keys. An interrupt (Ctrl-C) ends it.\n\
Exit status: 0, or 2 if the model, the trace or the port was rejected."
)]
pub struct Serve {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The port on 127.0.0.1 [default: any free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Open the page in the browser of this desktop
    #[arg(long)]
    pub open: bool,
    /// A trace to begin with: .prob2trace, the .json of --trace, or the JSON result of a check
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub loading: Loading,
}

pub fn run(args: &Serve) -> u8 {
    let budget = Budget::unlimited();
    let trace = match args.trace.as_deref().map(read_trace).transpose() {
        Ok(trace) => trace,
        Err(message) => {
            complain(&format!("error: {message}"));
            return status::REJECTED;
        }
    };
    watch_signals(&budget);
    serve(&args.model, &args.loading, args.port, args.open, trace.as_ref(), &budget)
}

/// Shows the counterexample of a check, if there is one that can be stepped through.
pub fn open_outcome(args: &args::Check, outcome: &Outcome, budget: &Budget) {
    let Some(violation) = outcome.violation.as_ref().filter(|v| !v.trace.is_empty()) else {
        return complain("--open: there is no counterexample to look at");
    };
    let Some(model) = args.model.as_deref().filter(|_| args.csp.is_none()) else {
        return complain("--open: only counterexamples of a machine can be opened");
    };
    let trace = ReadTrace {
        model: None,
        machine: None,
        violation: Some((violation.kind.clone(), violation.property.clone())),
        why: why_lines(violation, &outcome.why),
        steps: violation.trace.clone(),
        loop_start: violation.loop_start,
    };
    // Limits of the check are not limits of the page.
    let mut budget = budget.clone();
    (budget.time_limit, budget.max_states, budget.max_memory) = (None, None, None);
    serve(model, &args.loading, 0, true, Some(&trace), &budget);
}

fn read_trace(file: &Path) -> Result<ReadTrace, String> {
    let content =
        std::fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    trace_read::read(&content).map_err(|e| format!("{} is no trace: {e}", file.display()))
}

fn serve(
    path: &Path,
    given: &Loading,
    port: u16,
    open: bool,
    trace: Option<&ReadTrace>,
    budget: &Budget,
) -> u8 {
    let (model, sources, diagnostics) = match driver::load(path, &loading(given)) {
        Ok(loaded) => loaded,
        Err(r) => return rejected(&r),
    };
    for d in &diagnostics {
        complain(&sources.render(d));
    }
    let door = match Door::open(port) {
        Ok(door) => door,
        Err(message) => {
            complain(&format!("error: {message}"));
            return status::REJECTED;
        }
    };
    let cancel = Cancel::default();
    let animation = Animation::new(&model, &sources, path.display().to_string(), &Budget::moment());
    let mut session = Session::new(animation, cancel.clone(), checker(path, given));
    if let Some(trace) = trace {
        session.open(trace, budget);
    }
    say(&format!("{} is at {}", model.machine.name, door.address()));
    if open && !browse(&door.address()) {
        complain("no browser could be started: open the address yourself");
    }
    door.answer(&budget.interrupt_flag(), &cancel, |name, body| session.answer(name, body));
    status::OK
}

/// A check of the same model in a process of its own.
fn checker(path: &Path, given: &Loading) -> Checker<'static> {
    let mut line: Vec<OsString> = vec![path.into(), "--json".into(), "--progress".into(), "off".into()];
    line.extend(given.arguments());
    Box::new(move |options: &[&str], budget: &Budget| -> Result<Value, String> {
        let mut args = line.clone();
        args.extend(options.iter().map(OsString::from));
        let seconds = budget.time_limit.map(|limit| limit.as_secs_f64());
        if let Some(seconds) = seconds {
            args.extend(["--time-limit".into(), seconds.to_string().into()]);
        }
        let ourselves = child::Checker::ourselves().map_err(|e| format!("cannot start a check: {e}"))?;
        let limits = child::Limits { seconds, bytes: None };
        let ended = child::run(&ourselves, &args, limits, &budget.interrupt_flag())
            .map_err(|e| format!("cannot start a check: {e}"))?;
        ended.result.ok_or_else(|| match ended.cut {
            Some(_) => "cancelled".to_string(),
            None => ended.messages,
        })
    })
}

/// Asks the desktop for a browser; whether it took the address.
fn browse(address: &str) -> bool {
    let programs: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "wslview"] };
    programs.iter().any(|program| {
        let mut command = Command::new(program);
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}
