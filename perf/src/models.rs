//! Chosen models of the manifest, timed: median and spread, rates, bytes per state; or two binaries (or two option
//! sets) side by side as ratios, interleaved so that a machine that changes its speed changes it for both.

use crate::manifest::{self, Row};
use crate::record::Record;
use crate::{median, option, switch, values, words};
use bombus::runs::child::{self, Checker, Limits};
use bombus::runs::scale::tables::columns;
use bombus::runs::units;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub const USAGE: &str = "models [--class quick,medium,large] [--model WORD,…] [--workers 2] [--repeat 5] [--binary PATH] \
                         [--options '…'] [--time-limit 600] [--record NAME]\n\
                         compare [as models] [--a PATH] [--a-options '…'] [--b PATH] [--b-options '…']";

/// A binary with options: what is timed.
pub struct Subject {
    pub name: String,
    pub checker: Checker,
    pub options: Vec<OsString>,
}

impl Subject {
    pub fn new(name: &str, binary: Option<PathBuf>, options: &str) -> Result<Subject, String> {
        let program = match binary {
            Some(b) => b,
            None => beside()?,
        };
        let checker = Checker { program, before: vec!["check".into()], starter: None };
        let options = options.split_whitespace().map(OsString::from).collect();
        Ok(Subject { name: name.into(), checker, options })
    }

    pub fn words(&self) -> String {
        let options: Vec<String> = self.options.iter().map(|o| o.to_string_lossy().into_owned()).collect();
        // Where it was built is of no use to whoever reads a record elsewhere.
        let name = self.checker.program.file_name().unwrap_or_default().to_string_lossy();
        format!("{name} {}", options.join(" ")).trim_end().to_string()
    }
}

/// `bombus` from the same build folder as this program.
fn beside() -> Result<PathBuf, String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let path = me.with_file_name("bombus");
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("{} is not there: cargo build --release, or --binary PATH", path.display()))
    }
}

/// One run of a row.
pub struct Timing {
    pub explore: f64,
    pub wall: f64,
    pub peak: u64,
    pub states: u64,
    pub transitions: u64,
    pub workers: u64,
}

/// Runs a row once; an error if it says anything but what the manifest says.
pub fn time(subject: &Subject, row: &Row, workers: u32, limit: f64) -> Result<Timing, String> {
    let mut args = row.args.clone();
    args.extend(subject.options.iter().cloned());
    args.extend(["--workers".into(), workers.to_string().into(), "--json".into()]);
    args.extend(["--time-limit".into(), limit.to_string().into()]);
    let limits = Limits { seconds: Some(limit), bytes: None };
    let ended = child::run(&subject.checker, &args, limits, &Arc::new(AtomicBool::new(false)))
        .map_err(|e| format!("{}: {e}", subject.checker.program.display()))?;
    let Some(r) = ended.result else {
        return Err(format!("no result ({:?}) {}", ended.status.or(ended.signal), ended.messages));
    };
    let verdict = r["verdict"].as_str().unwrap_or_default();
    if verdict != row.verdict {
        let why = r["incomplete_because"][0].as_str().unwrap_or_default();
        return Err(format!("{verdict}, not {} {why}", row.verdict));
    }
    let number = |v: &Value| v.as_u64().unwrap_or(0);
    let timing = Timing {
        explore: r["seconds"]["explore"].as_f64().unwrap_or(ended.wall),
        wall: ended.wall,
        peak: number(&r["peak_memory_bytes"]).max(ended.peak),
        states: number(&r["states"]),
        transitions: number(&r["transitions"]),
        workers: number(&r["workers"]),
    };
    for (what, found, wanted) in
        [("states", timing.states, row.states), ("transitions", timing.transitions, row.transitions)]
    {
        if wanted.is_some_and(|w| w != found) {
            return Err(format!("{found} {what}, not {}", wanted.unwrap_or(0)));
        }
    }
    Ok(timing)
}

struct Choice {
    rows: Vec<Row>,
    workers: u32,
    repeat: u32,
    limit: f64,
}

fn choice(arguments: &[String]) -> Result<Choice, String> {
    let mut classes = words(arguments, "--class");
    let models = words(arguments, "--model");
    if classes.is_empty() && models.is_empty() {
        classes.push("medium".into());
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    Ok(Choice {
        rows: manifest::rows(&classes, &models)?,
        workers: option(arguments, "--workers", cores),
        repeat: option(arguments, "--repeat", 5),
        limit: option(arguments, "--time-limit", 600.0),
    })
}

pub fn run(arguments: &[String]) -> Result<bool, String> {
    let choice = choice(arguments)?;
    let binary: Option<PathBuf> = values(arguments, "--binary").map(PathBuf::from);
    let subject = Subject::new("bombus", binary, &option(arguments, "--options", String::new()))?;
    let mut record = Record::start(switch(arguments, "--record"), &[&subject])?;
    let header =
        ["model", "states", "transitions", "median", "spread", "states/s", "transitions/s", "bytes/state"];
    let mut table = vec![header.map(String::from).to_vec()];
    let mut wrong = Vec::new();
    for row in &choice.rows {
        let mut runs = Vec::new();
        for repeat in 1..=choice.repeat {
            match time(&subject, row, choice.workers, choice.limit) {
                Ok(t) => {
                    record.raw(&raw(&subject, row, &choice, repeat, &t));
                    runs.push(t);
                }
                Err(e) => {
                    record.raw(&json!({"model": row.name, "wrong": e}));
                    wrong.push(format!("{}: {e}", row.name));
                    break;
                }
            }
        }
        if let Some(line) = line(row, &runs) {
            eprintln!("{}  {} {}", line[0], line[3], line[5]);
            table.push(line);
        }
    }
    let width = table.iter().map(|r| r[0].chars().count()).max().unwrap_or(0);
    for r in &mut table {
        r[0] = format!("{:<width$}", r[0]);
    }
    let mut text = format!(
        "{}, {} workers, {} repeats; times are of exploration, spread is (largest - smallest) / median\n",
        subject.words(),
        choice.workers,
        choice.repeat
    );
    text.push_str(&columns(&table));
    for w in &wrong {
        text.push_str(&format!("WRONG {w}\n"));
    }
    print!("{text}");
    record.finish(&text)?;
    Ok(wrong.is_empty())
}

fn raw(subject: &Subject, row: &Row, choice: &Choice, repeat: u32, t: &Timing) -> Value {
    json!({
        "subject": subject.name, "model": row.name, "workers": choice.workers, "workers_used": t.workers,
        "repeat": repeat, "explore_seconds": t.explore, "wall_seconds": t.wall,
        "states": t.states, "transitions": t.transitions, "peak_memory_bytes": t.peak,
    })
}

fn line(row: &Row, runs: &[Timing]) -> Option<Vec<String>> {
    let first = runs.first()?;
    let times: Vec<f64> = runs.iter().map(|t| t.explore).collect();
    let middle = median(times.clone());
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(0.0, f64::max);
    let peak = runs.iter().map(|t| t.peak).max().unwrap_or(0);
    Some(vec![
        row.name.clone(),
        units::count(first.states),
        units::count(first.transitions),
        units::seconds(middle),
        format!("{:.0} %", (most - least) / middle * 100.0),
        units::rate(first.states as f64 / middle),
        units::rate(first.transitions as f64 / middle),
        // Of little meaning below a hundred thousand states: code and stacks are most of it.
        if first.states >= 100_000 { units::rate(peak as f64 / first.states as f64) } else { "–".into() },
    ])
}

pub fn compare(arguments: &[String]) -> Result<bool, String> {
    let choice = choice(arguments)?;
    let subject = |name: &str, binary: &str, options: &str| {
        let path = values(arguments, binary).or_else(|| values(arguments, "--binary")).map(PathBuf::from);
        let common = option(arguments, "--options", String::new());
        Subject::new(name, path, &format!("{common} {}", option(arguments, options, String::new())))
    };
    let (a, b) = (subject("a", "--a", "--a-options")?, subject("b", "--b", "--b-options")?);
    let mut record = Record::start(switch(arguments, "--record"), &[&a, &b])?;
    let mut table = vec![["model", "states", "a", "b", "b / a", "range"].map(String::from).to_vec()];
    let mut wrong = Vec::new();
    let mut logs = Vec::new();
    for row in &choice.rows {
        let mut pairs = Vec::new();
        for repeat in 1..=choice.repeat {
            // a b, b a, a b, …: neither is always first.
            let order: [&Subject; 2] = if repeat % 2 == 1 { [&a, &b] } else { [&b, &a] };
            let mut both = Vec::new();
            for subject in order {
                match time(subject, row, choice.workers, choice.limit) {
                    Ok(t) => {
                        record.raw(&raw(subject, row, &choice, repeat, &t));
                        both.push((subject.name.clone(), t.explore, t.states));
                    }
                    Err(e) => wrong.push(format!("{} {}: {e}", subject.name, row.name)),
                }
            }
            both.sort_by(|x, y| x.0.cmp(&y.0));
            match both.as_slice() {
                [x, y] => pairs.push((x.1, y.1, x.2)),
                _ => break,
            }
        }
        if pairs.is_empty() {
            continue;
        }
        let mut ratios: Vec<f64> = pairs.iter().map(|p| p.1 / p.0).collect();
        ratios.sort_by(f64::total_cmp);
        let middle = median(ratios.clone());
        logs.push(middle.ln());
        table.push(vec![
            row.name.clone(),
            units::count(pairs[0].2),
            units::seconds(median(pairs.iter().map(|p| p.0).collect())),
            units::seconds(median(pairs.iter().map(|p| p.1).collect())),
            format!("{middle:.3}"),
            format!("{:.3} – {:.3}", ratios[0], ratios[ratios.len() - 1]),
        ]);
        eprintln!("{}  {middle:.3}", row.name);
    }
    let width = table.iter().map(|r| r[0].chars().count()).max().unwrap_or(0);
    for r in &mut table {
        r[0] = format!("{:<width$}", r[0]);
    }
    let mut text = format!(
        "a: {}\nb: {}\n{} workers, {} interleaved pairs\n",
        a.words(),
        b.words(),
        choice.workers,
        choice.repeat
    );
    text.push_str(&columns(&table));
    if !logs.is_empty() {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        text.push_str(&format!(
            "geometric mean of b / a over {} models: {mean:.3} (below 1: b is faster)\n",
            logs.len()
        ));
    }
    for w in &wrong {
        text.push_str(&format!("WRONG {w}\n"));
    }
    print!("{text}");
    record.finish(&text)?;
    Ok(wrong.is_empty())
}
