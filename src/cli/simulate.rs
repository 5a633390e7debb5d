//! `bombus simulate`: random walks as asked for, and what they found in print.

use super::args::Loading;
use super::meaning::{cores, loading};
use super::run::{complain, internal, rejected, said, watch_signals};
use super::{outputs, status};
use crate::base::budget::Budget;
use crate::driver::{self, Failure, SimulateOptions};
use crate::report::{Outcome, json, text, trace_file};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(
    after_help = "A walk begins in a random initial state and takes random steps until it is long enough, nothing is enabled or\n\
something is wrong. The same seed makes the same walks, with any number of workers.\n\
Exit status: 1 something was found, 3 nothing was found (walks verify nothing), 2 the model was rejected."
)]
pub struct Simulate {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// How many walks
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub runs: u64,
    /// The most steps of a walk
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub steps: u64,
    /// What makes the walks what they are
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Option<u32>,
    /// Do not look for deadlocks
    #[arg(long)]
    pub no_deadlock: bool,
    /// Do not check the invariant
    #[arg(long)]
    pub no_invariant: bool,
    /// Do not check the assertions
    #[arg(long)]
    pub no_assertions: bool,
    /// Make all walks, count all findings, show the first
    #[arg(long)]
    pub keep_going: bool,
    /// Stop after so many seconds
    #[arg(long, value_name = "S", value_parser = super::args::parse_seconds)]
    pub time_limit: Option<f64>,
    /// Print one JSON object on stdout (text goes to stderr), or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub json: Option<Option<PathBuf>>,
    /// Write the walk that found something: .prob2trace, .json, .txt, .html, .mmd or .svg by extension (repeatable)
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Print the verdict alone
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print how often each event was enabled and taken
    #[arg(long)]
    pub verbose: bool,
    #[command(flatten)]
    pub loading: Loading,
}

pub fn run(args: &Simulate) -> u8 {
    let json = args.json.iter().flatten().find_map(|file| outputs::refused("--json", file));
    if let Some(message) = json.or_else(|| args.trace.iter().find_map(|file| outputs::refused_trace(file))) {
        complain(&format!("error: {message}"));
        return status::REJECTED;
    }
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    watch_signals(&budget);
    let options = SimulateOptions {
        loading: loading(&args.loading),
        walks: args.runs,
        steps: args.steps,
        seed: args.seed,
        workers: args.workers.map_or_else(cores, |n| n as usize),
        no_deadlock: args.no_deadlock,
        no_invariant: args.no_invariant,
        no_assertions: args.no_assertions,
        keep_going: args.keep_going,
    };
    match driver::simulate(&args.model, &options, &budget) {
        Ok(outcome) => show(args, &outcome),
        Err(Failure::Rejected(r)) => rejected(&r),
        Err(Failure::Internal(message)) => internal(&message),
    }
}

fn show(args: &Simulate, outcome: &Outcome) -> u8 {
    let detail = match (args.quiet, args.verbose) {
        (true, _) => text::Detail::Quiet,
        (_, true) => text::Detail::Verbose,
        _ => text::Detail::Normal,
    };
    let words = text::render(outcome, detail);
    let result = json::render(outcome);
    let mut written = match &args.json {
        None => said(&words),
        Some(None) => {
            complain(&words);
            said(&result.to_string())
        }
        Some(Some(file)) => said(&words) & outputs::write(file, &outputs::pretty(&result)),
    };
    for file in args.trace.iter().filter(|_| outcome.violation.is_some()) {
        let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        written &= match trace_file::render(outcome, extension, &outputs::command_line(), Vec::new()) {
            Ok(content) => outputs::write(file, &content),
            Err(message) => {
                complain(&format!("error: {message}"));
                false
            }
        };
    }
    if written { outcome.exit_status() } else { status::INTERNAL }
}
