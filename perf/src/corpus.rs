//! Models with times recorded for another checker: how many times faster we are, and where least.
//!
//! In: a CSV with the columns `path`, `states` and `prob_ms`, the folder its paths start from. Out: the geometric mean of
//! recorded time over ours, and the rows with the smallest ratios. Our time is what the whole process needs,
//! loading included; the processor's time is shown beside the clock's, for machines that others use too.

use crate::models::Subject;
use crate::record::Record;
use crate::{children_seconds, option, switch, values, words};
use bombus::runs::child::{self, Limits};
use bombus::runs::scale::tables::columns;
use bombus::runs::units;
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub const USAGE: &str = "corpus --list CSV [--root FOLDER] [--min-states 10000] [--model WORD,…] [--workers 1] [--time-limit 20] \
                         [--worst 20] [--binary PATH] [--record NAME]";

struct Row {
    path: String,
    states: u64,
    recorded: f64,
}

struct Measured {
    row: Row,
    wall: f64,
    cpu: f64,
    said: String,
    complete: bool,
}

pub fn run(arguments: &[String]) -> Result<bool, String> {
    let list = PathBuf::from(values(arguments, "--list").ok_or("--list is missing")?);
    let root = values(arguments, "--root").map(PathBuf::from);
    let root = root.unwrap_or_else(|| list.parent().unwrap_or(Path::new(".")).to_path_buf());
    let least: u64 = option(arguments, "--min-states", 10_000);
    let limit: f64 = option(arguments, "--time-limit", 20.0);
    let workers: u32 = option(arguments, "--workers", 1);
    let worst: usize = option(arguments, "--worst", 20);
    let chosen = words(arguments, "--model");
    let subject = Subject::new("bombus", values(arguments, "--binary").map(PathBuf::from), "")?;
    let mut record = Record::start(switch(arguments, "--record"), &[&subject])?;
    let mut rows = read(&list)?;
    rows.retain(|r| r.states >= least && (chosen.is_empty() || chosen.iter().any(|w| r.path.contains(w))));
    let mut all = Vec::new();
    for row in rows {
        let measured = measure(&subject, &root, row, workers, limit)?;
        record.raw(&json!({"path": measured.row.path, "states": measured.row.states,
            "recorded_seconds": measured.row.recorded, "wall": measured.wall, "cpu": measured.cpu, "said": measured.said}));
        eprintln!("{:8.2} s  {}  {}", measured.cpu, measured.said, measured.row.path);
        all.push(measured);
    }
    let text = summary(&mut all, worst, limit);
    print!("{text}");
    record.finish(&text)?;
    Ok(all.iter().all(|m| m.complete))
}

fn read(list: &Path) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(list).map_err(|e| format!("{}: {e}", list.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        header.iter().position(|h| *h == name).ok_or(format!("{}: no column {name}", list.display()))
    };
    let (path, states, time) = (column("path")?, column("states")?, column("prob_ms")?);
    // Rows without a count or a time have nothing to compare with.
    Ok(lines
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            Some(Row {
                path: cells.get(path)?.to_string(),
                states: cells.get(states)?.parse().ok()?,
                recorded: cells.get(time)?.parse::<f64>().ok()? / 1000.0,
            })
        })
        .collect())
}

fn measure(subject: &Subject, root: &Path, row: Row, workers: u32, limit: f64) -> Result<Measured, String> {
    let mut args: Vec<OsString> = vec![root.join(&row.path).into(), "--keep-going".into(), "--json".into()];
    args.extend(["--workers".into(), workers.to_string().into()]);
    args.extend(["--time-limit".into(), limit.to_string().into()]);
    let limits = Limits { seconds: Some(limit), bytes: None };
    let before = children_seconds();
    let ended = child::run(&subject.checker, &args, limits, &Arc::new(AtomicBool::new(false)))
        .map_err(|e| format!("{}: {e}", subject.checker.program.display()))?;
    let cpu = children_seconds() - before;
    let verdict = ended.result.as_ref().and_then(|r| r["verdict"].as_str()).unwrap_or("no result");
    let states = ended.result.as_ref().and_then(|r| r["prob"]["states"].as_u64());
    let late = ended.cut.is_some()
        || ended.result.as_ref().is_none_or(|r| {
            r["incomplete_because"].as_array().is_some_and(|all| {
                all.iter().any(|why| why.as_str().is_some_and(|w| w.contains("limit reached")))
            })
        });
    let said = match states {
        Some(n) if n == row.states => verdict.to_string(),
        Some(n) => format!("{verdict} ({n} states, recorded {})", row.states),
        None => verdict.to_string(),
    };
    let complete = !late && states == Some(row.states);
    Ok(Measured { row, wall: ended.wall, cpu, said, complete })
}

fn summary(all: &mut [Measured], worst: usize, limit: f64) -> String {
    // The processor's clock has steps of 10 ms; less than that is counted as that.
    let ratio = |m: &Measured, seconds: f64| m.row.recorded / seconds.max(0.01);
    all.sort_by(|a, b| ratio(a, a.cpu).total_cmp(&ratio(b, b.cpu)));
    let mean = |seconds: &dyn Fn(&Measured) -> f64, rows: &mut dyn Iterator<Item = &Measured>| {
        let logs: Vec<f64> = rows.map(|m| ratio(m, seconds(m)).ln()).collect();
        (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
    };
    let complete = || all.iter().filter(|m| m.complete);
    let mut text = format!(
        "{} rows, {} with all recorded states within {limit} s; recorded time over ours, geometric mean: {:.0} by processor time, {:.0} by the clock;\n\
         with the other rows counted at the time they had: {:.0}\n",
        all.len(),
        complete().count(),
        mean(&|m| m.cpu, &mut complete()),
        mean(&|m| m.wall, &mut complete()),
        mean(&|m| m.cpu, &mut all.iter()),
    );
    let mut table = vec![["ratio", "ours", "recorded", "states", "model"].map(String::from).to_vec()];
    for m in all.iter().take(worst) {
        table.push(vec![
            format!("{:.1}", ratio(m, m.cpu)),
            units::seconds(m.cpu),
            units::seconds(m.row.recorded),
            units::count(m.row.states),
            format!("{}  {}", m.row.path, m.said),
        ]);
    }
    text.push_str(&columns(&table));
    text
}
