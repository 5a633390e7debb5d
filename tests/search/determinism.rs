//! Nothing that a user sees depends on the number of workers: thirty models of `bench-models`, faulty ones among
//! them, at 1, 2, 3, 5, 8 and 16 workers; and the orders of the search agree where nothing stops them early.
//!
//! `BOMBUS_REPEATS=10` runs each of them ten times.

use crate::support;
use crate::support::binary::{bench_model, bombus, json, timeless};

use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A row of the manifest, as options of `check`.
struct Row {
    file: String,
    options: Vec<String>,
    verdict: String,
}

/// Rows for thirty models at least: the largest quick one of each that is not too large for a test.
fn rows() -> Vec<Row> {
    let folder = bench_model("");
    let text = std::fs::read_to_string(folder.join("manifest.toml")).unwrap();
    let manifest: toml::Value = toml::from_str(&text).unwrap();
    let mut rows = Vec::new();
    for model in manifest["model"].as_array().unwrap() {
        let file = model["file"].as_str().unwrap();
        let size = |run: &&toml::Value| run.get("states").and_then(toml::Value::as_integer).unwrap_or(1000);
        let fits = |run: &&toml::Value| run["class"].as_str() == Some("quick") && size(run) <= 6000;
        let Some(run) = model["run"].as_array().unwrap().iter().filter(fits).max_by_key(size) else {
            continue;
        };
        let mut options = Vec::new();
        for (set, n) in run.get("sets").and_then(toml::Value::as_table).into_iter().flatten() {
            options.extend(["--set".into(), format!("{set}={n}")]);
        }
        if let Some(n) = run.get("maxint") {
            options.extend(["--maxint".into(), n.to_string()]);
        }
        for option in run.get("options").and_then(toml::Value::as_array).into_iter().flatten() {
            options.push(option.as_str().unwrap().to_string());
        }
        rows.push(Row {
            file: folder.join(file).display().to_string(),
            options,
            verdict: run["verdict"].as_str().unwrap().to_string(),
        });
    }
    rows
}

fn check(row: &Row, more: &[&str]) -> Value {
    let mut command = bombus();
    command.arg("check").arg(&row.file).args(&row.options).args(more).arg("--json");
    timeless(json(&command.output().expect("the binary runs")))
}

/// Does a job for each row on as many threads as there are cores; it gives what is wrong.
fn for_each(rows: &[Row], job: impl Fn(&Row) -> Option<String> + Sync) {
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(job(row).map(|w| format!("{}: {w}", row.file)));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn counts_digest_coverage_verdict_and_trace_do_not_depend_on_the_number_of_workers() {
    let rows = rows();
    let verdicts: BTreeSet<&str> = rows.iter().map(|r| r.verdict.as_str()).collect();
    assert!(rows.len() >= 30 && verdicts.contains("violated"), "{} rows, {verdicts:?}", rows.len());
    for_each(&rows, |row| {
        let first = check(row, &["--workers", "1"]).to_string();
        for _ in 0..support::number_from_env("BOMBUS_REPEATS", 1) {
            for workers in ["1", "2", "3", "5", "8", "16"] {
                let other = check(row, &["--workers", workers]).to_string();
                if other != first {
                    return Some(format!("{workers} workers: {other}\nagainst {first}"));
                }
            }
        }
        None
    });
}

#[test]
fn all_orders_see_the_same_where_nothing_stops_them_early() {
    // Behind a fault a model may go on for ever; those of `faulty` do not.
    let finite = |row: &Row| row.verdict == "verified" || row.file.contains("/faulty/");
    // Sets of states are searched in no order of states.
    let ordered = |row: &Row| !row.options.iter().any(|o| o == "bdd");
    let rows: Vec<Row> = rows().into_iter().filter(|row| finite(row) && ordered(row)).collect();
    assert!(rows.len() >= 30 && rows.iter().any(|row| row.verdict == "violated"), "{}", rows.len());
    for_each(&rows, |row| {
        // Depth and traces belong to breadth first; what is found and all else is the same.
        let essence = |order: &str, workers: &str| {
            let mut more = vec!["--order", order, "--workers", workers];
            if !row.options.iter().any(|o| o == "--keep-going") {
                more.push("--keep-going");
            }
            let mut result = check(row, &more);
            let object = result.as_object_mut().unwrap();
            object.remove("depth");
            let first = object.remove("violation").into_iter().filter(|v| !v.is_null());
            let others = object.remove("other_violations");
            let others = others.iter().filter_map(Value::as_array).flatten().cloned();
            let property = |v: Value| format!("{}: {}", v["kind"], v["property"]);
            let found: BTreeSet<String> = first.chain(others).map(property).collect();
            (result.to_string(), found)
        };
        let first = essence("bfs", "2");
        for (order, workers) in [("dfs", "1"), ("dfs", "3"), ("mixed", "2"), ("mixed", "5")] {
            let other = essence(order, workers);
            if other != first {
                return Some(format!("{order} with {workers} workers: {other:?}\nagainst {first:?}"));
            }
        }
        None
    });
}
