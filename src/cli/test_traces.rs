//! `bombus tests`: traces that reach what is worth testing, as files.

use super::args::Loading;
use super::meaning::loading;
use super::run::{complain, rejected, said, watch_signals};
use super::{outputs, status};
use crate::base::budget::Budget;
use crate::base::text::many;
use crate::driver::{self, Goals, TestTraces};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(
    after_help = "Every trace is a shortest one; a trace that another one begins with is left out, the longer one reaches the same.\n\
Exit status: 0 everything is reached, 1 something cannot be reached, 2 the model was rejected, 3 something was not\n\
reached in the states that were looked at."
)]
pub struct Tests {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// Write each trace there, as test1.prob2trace, test2.prob2trace, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Kind of the files: prob2trace, json, txt or html
    #[arg(long, value_name = "KIND", default_value = "prob2trace", value_parser = ["prob2trace", "json", "txt", "html"])]
    pub kind: String,
    /// Also reach a state in which each part of a guard is true, and one in which it is false
    #[arg(long)]
    pub guards: bool,
    /// Reach a state that satisfies this predicate (repeatable); events are then left out unless --events is given
    #[arg(long, value_name = "PRED", allow_hyphen_values = true)]
    pub reach: Vec<String>,
    /// Reach every event (the default without --reach)
    #[arg(long)]
    pub events: bool,
    /// The most states that are looked at
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub max_states: usize,
    /// Stop after so many seconds
    #[arg(long, value_name = "S", value_parser = super::args::parse_seconds)]
    pub time_limit: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub loading: Loading,
}

pub fn run(args: &Tests) -> u8 {
    if let Some(folder) = &args.out
        && let Err(e) = std::fs::create_dir_all(folder)
    {
        complain(&format!("error: cannot make {}: {e}", folder.display()));
        return status::REJECTED;
    }
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    watch_signals(&budget);
    let goals = Goals {
        events: args.events || args.reach.is_empty(),
        guards: args.guards,
        predicates: args.reach.clone(),
        states: args.max_states,
    };
    let traces = match driver::test_traces(&args.model, &loading(&args.loading), &goals, &budget) {
        Ok(traces) => traces,
        Err(r) => return rejected(&r),
    };
    let mut files = Vec::new();
    if let Some(folder) = &args.out {
        for (n, trace) in traces.traces.iter().enumerate() {
            let file = folder.join(format!("test{}.{}", n + 1, args.kind));
            if !outputs::write(&file, &traces.render(trace, &args.kind).unwrap_or_default()) {
                return status::INTERNAL;
            }
            files.push(file.display().to_string());
        }
    }
    if !said(&if args.json { in_json(&traces, &files) } else { in_words(&traces, &files) }) {
        return status::INTERNAL;
    }
    match (traces.unreached.is_empty(), traces.complete) {
        (true, _) => status::OK,
        (false, true) => 1,
        (false, false) => status::INCOMPLETE,
    }
}

fn in_words(traces: &TestTraces, files: &[String]) -> String {
    let mut lines = vec![format!("{}: {}", traces.machine, many(traces.traces.len() as u64, "trace"))];
    for (n, trace) in traces.traces.iter().enumerate() {
        let name = files.get(n).cloned().unwrap_or_else(|| format!("test{}", n + 1));
        let steps = many(trace.steps.len() as u64, "step");
        lines.push(format!("  {name}  {steps}  {}", trace.reaches.join(", ")));
    }
    let word = if traces.complete { "out of reach" } else { "not reached" };
    lines.extend(traces.unreached.iter().map(|goal| format!("  {word}  {goal}")));
    lines.extend(traces.missing.iter().map(|reason| format!("  missing  {reason}")));
    lines.join("\n")
}

fn in_json(traces: &TestTraces, files: &[String]) -> String {
    let all: Vec<_> = traces
        .traces
        .iter()
        .enumerate()
        .map(|(n, t)| {
            let steps: Vec<_> = t.steps.iter().map(crate::report::json::step).collect();
            json!({"file": files.get(n), "reaches": t.reaches, "trace": steps})
        })
        .collect();
    json!({
        "bombus": env!("CARGO_PKG_VERSION"),
        "model": {"file": traces.file, "machine": traces.machine},
        "traces": all,
        "unreached": traces.unreached,
        "complete": traces.complete,
        "missing": traces.missing,
    })
    .to_string()
}
