//! `bombus scale`: how much faster a check gets with more workers or more machines, measured and fitted.

use super::args::Loading;
use super::batch::write_whole;
use super::run::{complain, said};
use super::{outputs, status};
use crate::base::text::many;
use crate::runs::child::{Checker, Limits};
use crate::runs::scale::{Plan, Unmeasured, figure, measure, tables};
use crate::runs::units;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "Options of `check` go after `--`, such as: bombus scale m.mch --workers 1,2,4 -- --no-deadlock\n\
Exit status: 0 measured, 2 the command line or the model was rejected, 4 a run failed or the runs disagree."
)]
pub struct Scale {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub loading: Loading,
    /// Worker counts to measure [default: powers of two up to the number of cores]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Vec<u32>,
    /// Numbers of machines to measure instead, all on this one as processes that talk over loopback; `--workers N` is then
    /// what each of them gets [default: 1]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=64))]
    pub machines: Vec<u32>,
    /// Runs of each count
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: u32,
    /// Give up on a run after so many seconds
    #[arg(long, value_name = "S")]
    pub time_limit: Option<f64>,
    /// Write every run as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write table, fits and runs as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the plot as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Do not print each run as it ends
    #[arg(long)]
    pub quiet: bool,

    /// The program to run instead of this one; it takes the same arguments
    #[arg(long, value_name = "PROGRAM", hide = true)]
    pub checker: Option<PathBuf>,
    /// Pretend to have so many cores
    #[arg(long, value_name = "N", hide = true)]
    pub cores: Option<u32>,
    /// Options of `check`
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<OsString>,
}

pub fn run(args: &Scale) -> u8 {
    let files = [("--csv", &args.csv), ("--json", &args.json), ("--svg", &args.svg)];
    let mut given = files.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?)));
    if let Some(message) = given.find_map(|(option, file)| outputs::refused(option, file)) {
        complain(&format!("error: {message}"));
        return status::REJECTED;
    }
    let cores =
        args.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u32));
    let mut workers = if args.workers.is_empty() { powers_up_to(cores) } else { distinct(&args.workers) };
    let mut each = None;
    if !args.machines.is_empty() {
        if args.workers.len() > 1 {
            complain("error: with --machines, --workers is one number: the workers of each machine");
            return status::REJECTED;
        }
        each = Some(args.workers.first().copied().unwrap_or(1));
        workers = distinct(&args.machines);
    }
    if args.time_limit.is_some_and(|s| !(s > 0.0 && s < 1e9)) {
        complain("error: --time-limit needs a positive number of seconds");
        return status::REJECTED;
    }
    for option in &args.options {
        let text = option.to_string_lossy();
        if ["--json", "--workers", "--cluster", "--rank"]
            .iter()
            .any(|o| text == *o || text.starts_with(&format!("{o}=")))
        {
            complain(&format!("error: {text} is set by scale itself"));
            return status::REJECTED;
        }
    }
    let beyond: Vec<String> =
        workers.iter().filter(|w| **w * each.unwrap_or(1) > cores).map(u32::to_string).collect();
    if !beyond.is_empty() {
        let unit = if each.is_some() { "machines" } else { "workers" };
        complain(&format!("warning: {} {unit} on {cores} cores will share them", beyond.join(", ")));
    }
    let checker = match &args.checker {
        Some(program) => Checker::other(program.clone()),
        None => Checker::ourselves(),
    };
    let checker = match checker {
        Ok(c) => c,
        Err(e) => {
            complain(&format!("error: cannot find this program itself: {e}"));
            return status::INTERNAL;
        }
    };
    let limits = Limits { seconds: args.time_limit, bytes: None };
    let plan = Plan { args: check_args(args), workers, each, repeats: args.repeats, cores, limits };
    let total = plan.workers.len() as u32 * plan.repeats;
    let mut done = 0;
    let measured = measure(&checker, &plan, |r| {
        done += 1;
        if !args.quiet {
            let unit = if plan.each.is_some() { "machine" } else { "worker" };
            let who = many(u64::from(r.workers), unit);
            complain(&format!("[{done}/{total}] {who}: {}", units::seconds(r.explore)));
        }
    });
    let measured = match measured {
        Ok(m) => m,
        Err(Unmeasured::Rejected(messages)) => {
            complain(messages.trim_end());
            return status::REJECTED;
        }
        Err(Unmeasured::Failed(message)) => {
            complain(&format!("error: {message}"));
            return status::INTERNAL;
        }
    };
    said(&tables::text(&measured));
    let json = || format!("{:#}\n", tables::json(&measured));
    let files: [(&Option<PathBuf>, &dyn Fn() -> String); 3] = [
        (&args.csv, &|| tables::csv(&measured)),
        (&args.json, &json),
        (&args.svg, &|| figure::figure(&measured)),
    ];
    for (path, render) in files {
        if let Some(path) = path
            && let Err(e) = write_whole(path, &render())
        {
            complain(&format!("error: cannot write {}: {e}", path.display()));
            return status::INTERNAL;
        }
    }
    status::OK
}

fn powers_up_to(cores: u32) -> Vec<u32> {
    let mut all: Vec<u32> =
        std::iter::successors(Some(1u32), |w| w.checked_mul(2)).take_while(|w| *w < cores).collect();
    all.push(cores);
    all
}

/// Each count once, in the order given.
fn distinct(counts: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    for c in counts {
        if !all.contains(c) {
            all.push(*c);
        }
    }
    all
}

fn check_args(args: &Scale) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![args.model.clone().into_os_string()];
    line.extend(args.loading.arguments());
    if let Some(s) = args.time_limit {
        line.extend(["--time-limit".into(), s.to_string().into()]);
    }
    line.extend(args.options.iter().cloned());
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn scale_hands_on_every_option_that_loads_a_model() {
        let given = ["--machine", "M2", "--variants", "--abstract-levels", "1"];
        let line = ["bombus", "scale", "M"].into_iter().chain(given).chain(["--", "--no-deadlock"]);
        let Command::Scale(scale) = Cli::try_parse_from(line).expect("the arguments are valid").command
        else {
            panic!("another command");
        };
        let args = check_args(&scale);
        for option in given.iter().chain(&["M", "--no-deadlock"]) {
            assert!(args.iter().any(|a| a == option), "{option} is missing in {args:?}");
        }
    }

    #[test]
    fn worker_counts_default_to_powers_of_two_and_all_cores() {
        assert_eq!(powers_up_to(1), [1]);
        assert_eq!(powers_up_to(6), [1, 2, 4, 6]);
        assert_eq!(powers_up_to(8), [1, 2, 4, 8]);
        assert_eq!(distinct(&[2, 1, 2]), [2, 1]);
    }
}
