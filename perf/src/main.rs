//! Benchmark harness: runs chosen workloads and prints figures, medians and ratios.
//!
//! Usage: `cargo run --release -p bombus-perf -- models|compare|instructions|guard|papers|peers|corpus|conformance|explore|kernels|choose|table|temporal|phases …`;
//! without arguments it says how. Never here: anything a test depends on.

mod callgrind;
mod choose;
mod conformance;
mod corpus;
mod explore;
mod guard;
mod kernels;
mod manifest;
mod models;
mod papers;
mod peers;
mod phases;
mod record;
mod table;
mod temporal;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let asks = |a: &String| a == "--help" || a == "-h";
    let done = match arguments.first().map(String::as_str).filter(|_| !arguments.iter().any(asks)) {
        Some("models") => models::run(rest),
        Some("compare") => models::compare(rest),
        Some("instructions") => callgrind::run(rest),
        Some("guard") => guard::run(rest),
        Some("peers") => peers::run(rest),
        Some("papers") => papers::run(rest),
        Some("corpus") => corpus::run(rest),
        Some("conformance") => conformance::run(rest),
        Some("explore") => {
            explore::run(rest);
            Ok(true)
        }
        Some("kernels") => {
            kernels::run(rest);
            Ok(true)
        }
        Some("choose") => {
            choose::run(rest);
            Ok(true)
        }
        Some("table") => {
            table::run(rest);
            Ok(true)
        }
        Some("temporal") => {
            temporal::run(rest);
            Ok(true)
        }
        Some("phases") => {
            phases::run(rest);
            Ok(true)
        }
        _ => {
            let all = [
                models::USAGE,
                callgrind::USAGE,
                papers::USAGE,
                guard::USAGE,
                peers::USAGE,
                corpus::USAGE,
                conformance::USAGE,
                explore::USAGE,
                kernels::USAGE,
                choose::USAGE,
                table::USAGE,
                temporal::USAGE,
                phases::USAGE,
            ];
            eprintln!("{}", all.join("\n"));
            Ok(false)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("bombus-perf: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The value after `--name`, or a default.
fn option<T: std::str::FromStr>(arguments: &[String], name: &str, default: T) -> T {
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)).and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Processor time of all threads so far: on a machine that others use too, it says more than the clock.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in parentheses, user and system time are fields 12 and 13, in hundredths.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Processor time of all programs that were run so far.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(13) + ticks(14)) / 100.0
}

/// The value after `--name`, if it is there.
fn values(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}

/// As `values`, but the value may be missing: then it is called "run".
fn switch(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    let value = arguments.get(at + 1).filter(|v| !v.starts_with("--"));
    Some(value.cloned().unwrap_or_else(|| "run".into()))
}

/// The words after `--name`, separated by commas.
fn words(arguments: &[String], name: &str) -> Vec<String> {
    values(arguments, name).map(|v| v.split(',').map(|w| w.trim().to_string()).collect()).unwrap_or_default()
}
