//! The report of a batch as text, JSON and JUnit XML, in the order of the jobs file.

use super::super::child::steps;
use super::super::scale::tables::columns;
use super::super::units;
use super::{Entry, Finished};
use crate::base::text::{escape, one_line};
use crate::report::{INITIALISE, SETUP_CONSTANTS, trace_read};
use serde_json::{Value, json};
use std::fmt::Write;

pub fn text(f: &Finished) -> String {
    let mut table =
        vec![["", "verdict", "states", "transitions", "time", "memory"].map(String::from).to_vec()];
    let width = f.entries.iter().map(|e| e.instance.name.chars().count()).max().unwrap_or(0);
    for e in &f.entries {
        let padded = format!("{:<width$}", e.instance.name);
        let number = |field| e.record.as_ref().and_then(|r| r.number(field)).map_or("–".into(), units::count);
        let mut row = vec![padded, verdict(e), number("states"), number("transitions")];
        match &e.record {
            Some(r) => row.extend([units::seconds(r.wall_seconds), units::bytes(r.peak_memory_bytes)]),
            None => row.extend(["–".to_string(), "–".to_string()]),
        }
        row.push(if e.unmet.is_some() { "FAIL" } else { "ok" }.into());
        table.push(row);
    }
    let mut out = columns(&table);
    let failed: Vec<&Entry> = f.entries.iter().filter(|e| e.record.is_some() && e.unmet.is_some()).collect();
    if !failed.is_empty() {
        out.push_str("\nnot as expected:\n");
    }
    for e in failed {
        let _ = writeln!(out, "  {}: {}", e.instance.name, e.unmet.as_deref().unwrap_or_default());
        if let Some(r) = &e.record {
            if let Some(kind) = r.result.as_ref().and_then(|v| v["violation"]["kind"].as_str()) {
                let property = r
                    .result
                    .as_ref()
                    .map(|v| one_line(v["violation"]["property"].as_str().unwrap_or_default()))
                    .unwrap_or_default();
                let _ = writeln!(out, "      {kind}: {property}");
            }
            for l in r.messages.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev() {
                let _ = writeln!(out, "      | {l}");
            }
        }
    }
    let _ = writeln!(out, "\n{}", headline(f));
    out
}

pub fn headline(f: &Finished) -> String {
    let mut parts = vec![format!("{} of {} as expected", f.met(), f.entries.len())];
    if f.unmet() > 0 {
        parts.push(format!("{} not", f.unmet()));
    }
    if f.left() > 0 {
        parts.push(format!("{} did not run", f.left()));
    }
    format!("{}: {}", f.name, parts.join(", "))
}

pub fn verdict(e: &Entry) -> String {
    e.record.as_ref().map_or("did not run".into(), |r| r.verdict().to_string())
}

pub fn json(f: &Finished) -> Value {
    let jobs: Vec<Value> = f
        .entries
        .iter()
        .map(|e| {
            let r = e.record.as_ref();
            json!({
                "name": e.instance.name,
                "job": e.instance.job,
                "model": e.instance.model.to_string_lossy(),
                "point": e.instance.point.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<serde_json::Map<_, _>>(),
                "arguments": e.instance.args.iter().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>(),
                "expected": e.instance.expect.json(),
                "as_expected": e.unmet.is_none(),
                "why_not": e.unmet,
                "verdict": verdict(e),
                "ended": r.map(|r| r.how),
                "attempts": r.map(|r| r.attempts),
                "wall_seconds": r.map(|r| r.wall_seconds),
                "peak_memory_bytes": r.map(|r| r.peak_memory_bytes),
                "counterexample_steps": r.and_then(|r| r.result.as_ref()).and_then(steps),
                "messages": r.map(|r| r.messages.as_str()),
                "result": r.and_then(|r| r.result.clone()),
            })
        })
        .collect();
    json!({
        "batch": f.name,
        "runs": f.entries.len(),
        "as_expected": f.met(),
        "not_as_expected": f.unmet(),
        "did_not_run": f.left(),
        "interrupted": f.interrupted,
        "jobs": jobs,
    })
}

/// JUnit XML as continuous integration reads it: an unmet expectation is a failure, a crash an error.
pub fn junit(f: &Finished) -> String {
    let crashed = |e: &&Entry| e.record.as_ref().is_some_and(|r| r.result.is_none()) && e.unmet.is_some();
    let errors = f.entries.iter().filter(crashed).count();
    let total: f64 = f.entries.iter().filter_map(|e| e.record.as_ref()).map(|r| r.wall_seconds).sum();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\" time=\"{total:.3}\">\n",
        escape(&f.name),
        f.entries.len(),
        f.unmet() - errors,
        f.left()
    );
    for e in &f.entries {
        let time = e.record.as_ref().map_or(0.0, |r| r.wall_seconds);
        let _ = write!(
            out,
            "<testcase classname=\"{}\" name=\"{}\" time=\"{time:.3}\"",
            escape(&e.instance.job),
            escape(&e.instance.name)
        );
        match (&e.record, &e.unmet) {
            (None, _) => out.push_str("><skipped/></testcase>\n"),
            (Some(_), None) => out.push_str("/>\n"),
            (Some(r), Some(why)) => {
                let tag = if crashed(&e) { "error" } else { "failure" };
                let body = [r.messages.trim_end(), &findings_text(e)].join("\n");
                let body = body.trim();
                let _ =
                    writeln!(out, "><{tag} message=\"{}\">{}</{tag}></testcase>", escape(why), escape(body));
            }
        }
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Every finding: the property, why it fails, and the trace, an event with its parameters and the state on each line.
fn findings_text(e: &Entry) -> String {
    let mut out = String::new();
    for finding in findings(e) {
        let word = |key: &str| finding[key].as_str().unwrap_or_default();
        let _ = writeln!(out, "{}: {}", word("kind"), one_line(word("property")));
        for line in trace_read::why(finding) {
            let _ = writeln!(out, "  {line}");
        }
        for step in finding["trace"].as_array().into_iter().flatten() {
            let _ = writeln!(out, "{}   {}", call(step), assignments(&step["state"], ", "));
        }
        out.push('\n');
    }
    out
}

/// The findings of a run in the order of its result: the one that decides first.
pub fn findings(e: &Entry) -> Vec<&Value> {
    let Some(result) = e.record.as_ref().and_then(|r| r.result.as_ref()) else { return Vec::new() };
    let others = result["other_violations"].as_array().into_iter().flatten();
    std::iter::once(&result["violation"]).chain(others).filter(|v| v.is_object()).collect()
}

/// `event(p=1) -> r=2`.
fn call(step: &Value) -> String {
    let name = match step["event"].as_str().unwrap_or_default() {
        SETUP_CONSTANTS => "SETUP_CONSTANTS",
        INITIALISE => "INITIALISATION",
        other => other,
    };
    let params = assignments(&step["params"], ", ");
    let results = assignments(&step["results"], ", ");
    let mut text = name.to_string();
    if !params.is_empty() {
        let _ = write!(text, "({params})");
    }
    if !results.is_empty() {
        let _ = write!(text, " → {results}");
    }
    text
}

fn assignments(object: &Value, between: &str) -> String {
    let pairs = object.as_object().into_iter().flatten();
    pairs.map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or_default())).collect::<Vec<_>>().join(between)
}
