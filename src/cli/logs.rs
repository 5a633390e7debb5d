//! `bombus replay --log`: a log of a real system against a model, and what is said about it.

use super::animate::Replay;
use super::meaning::loading;
use super::run::{complain, rejected, say, watch_signals};
use super::status;
use crate::base::budget::Budget;
use crate::base::text::{grouped, many};
use crate::driver::{self, Followed};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Follows the log that the arguments name.
pub fn run(args: &Replay, log: &Path) -> u8 {
    let refuse = |message: String| {
        complain(&format!("error: {message}"));
        status::REJECTED
    };
    let Some(model) = &args.model else {
        return refuse("--log: say which model should allow it: --model MODEL".into());
    };
    let map = match args.map.as_deref().map(|file| (file, std::fs::read_to_string(file))) {
        None => String::new(),
        Some((_, Ok(text))) => text,
        Some((file, Err(e))) => return refuse(format!("cannot read {}: {e}", file.display())),
    };
    let lines: Box<dyn Read> = if log == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        match File::open(log) {
            Ok(file) => Box::new(file),
            Err(e) => return refuse(format!("cannot read {}: {e}", log.display())),
        }
    };
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    watch_signals(&budget);
    match driver::follow_log(model, lines, &map, &loading(&args.loading), &budget) {
        Err(r) => rejected(&r),
        Ok(followed) => {
            say(&if args.json { in_json(&followed) } else { in_words(&followed) });
            followed.exit_status()
        }
    }
}

fn in_words(f: &Followed) -> String {
    match (&f.unexplained, &f.incomplete) {
        (_, Some(why)) => {
            format!("INCOMPLETE  {}   after {}: {why}", f.machine, many(f.explained as u64, "line"))
        }
        (None, None) => format!(
            "EXPLAINED   {}   {}; {} {} at the end, at most {} on the way",
            f.machine,
            many(f.lines as u64, "line"),
            many(f.states as u64, "state"),
            if f.states == 1 { "fits" } else { "fit" },
            grouped(f.most_states as u64)
        ),
        (Some((line, text, why)), None) => {
            let mut lines = vec![format!("UNEXPLAINED {}   line {line}: {text}", f.machine)];
            lines.extend(why.iter().map(|line| format!("  {line}")));
            lines.join("\n")
        }
    }
}

fn in_json(f: &Followed) -> String {
    let unexplained =
        f.unexplained.as_ref().map(|(line, text, why)| json!({"line": line, "text": text, "because": why}));
    json!({
        "bombus": env!("CARGO_PKG_VERSION"),
        "model": {"machine": f.machine},
        "explained": f.exit_status() == 0,
        "lines": f.lines,
        "explained_lines": f.explained,
        "states": f.states,
        "most_states": f.most_states,
        "unexplained": unexplained,
        "incomplete_because": f.incomplete,
    })
    .to_string()
}
