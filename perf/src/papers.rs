//! The tables of the founding papers beside ours: every row that can be reconstructed is run, the others are named.
//!
//! In: `perf/papers.toml`. Out: the text of `docs/papers.md`. A figure that differs is marked, never hidden.

use crate::manifest::home;
use crate::models::Subject;
use crate::{option, switch};
use bombus::runs::units;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

pub const USAGE: &str = "papers [--binary PATH] [--time-limit 120] [--write]";

#[derive(Deserialize)]
struct Papers {
    table: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    paper: String,
    place: String,
    count: Count,
    #[serde(default)]
    options: Vec<String>,
    rows: Vec<Row>,
}

/// What of a result is compared with the paper.
#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Count {
    Nodes,
    Representatives,
    Verdict,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    model: Option<String>,
    #[serde(default)]
    sets: BTreeMap<String, u32>,
    maxint: Option<i64>,
    #[serde(default)]
    options: Vec<String>,
    paper: Option<u64>,
    /// The verdict of the paper.
    word: Option<String>,
    seconds: Option<f64>,
    why: Option<String>,
}

const HEAD: &str = "# The founding papers, row by row

Written by `cargo run --release -p bombus-perf -- papers --write` from `perf/papers.toml` and the models of
`bench-models/papers`. Nodes count one state for each valuation of the constants and the root, as ProB does. Times of the
papers were taken on machines of their years, ours on the machine that wrote this page (exploration alone, all
cores): their ratio says how long a row takes today, not how good an algorithm is. A row without a figure of ours cannot be
reconstructed, and says why.
";

pub fn run(arguments: &[String]) -> Result<bool, String> {
    let binary = option(arguments, "--binary", String::new());
    let subject =
        Subject::new("bombus", Some(PathBuf::from(binary)).filter(|b| !b.as_os_str().is_empty()), "")?;
    let limit = option(arguments, "--time-limit", 120u32);
    let path = home().join("papers.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let papers: Papers = toml::from_str(&text).map_err(|e| e.to_string())?;
    let mut page = HEAD.to_string();
    let mut paper = "";
    let mut differ = 0;
    for table in &papers.table {
        if table.paper != paper {
            paper = &table.paper;
            let _ = write!(page, "\n## {paper}\n");
        }
        let _ = write!(page, "\n### {}\n\n", table.place);
        page.push_str("| row | paper | ours | | paper's time | our time | ratio |\n|---|---:|---:|---|---:|---:|---:|\n");
        for row in &table.rows {
            let line = line(&subject, table, row, limit)?;
            differ += usize::from(line.contains("**differs**"));
            eprintln!("{line}");
            let _ = writeln!(page, "{line}");
        }
    }
    let _ = write!(page, "\nRows that differ: {differ}.\n");
    if switch(arguments, "--write").is_some() {
        let target = home().join("../docs/papers.md");
        std::fs::write(&target, &page).map_err(|e| format!("{}: {e}", target.display()))?;
    } else {
        println!("{page}");
    }
    Ok(true)
}

/// A row of the page.
fn line(subject: &Subject, table: &Table, row: &Row, limit: u32) -> Result<String, String> {
    let printed = match (row.paper, &row.word) {
        (Some(n), _) => units::count(n),
        (None, Some(word)) => word.clone(),
        (None, None) => "–".into(),
    };
    let theirs = row.seconds.map_or("–".into(), |s| format!("{s} s"));
    let Some(model) = &row.model else {
        let why = row.why.as_deref().unwrap_or_default();
        return Ok(format!("| {} | {printed} | – | {why} | {theirs} | – | – |", row.name));
    };
    let result = checked(subject, table, row, model, limit)?;
    let verdict = result["verdict"].as_str().unwrap_or_default();
    // Markers are approximate, which a verdict says; a search that a limit cut has not counted everything.
    let reasons = result["incomplete_because"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let complete = verdict != "incomplete" || reasons.into_iter().all(|reason| !reason.contains("limit"));
    let nodes = result["prob"]["states"].as_u64().unwrap_or(0) + 1;
    let (ours, same) = match table.count {
        Count::Verdict => (verdict.to_string(), row.word.as_ref().is_none_or(|word| word == verdict)),
        _ if !complete => (format!("more than {}", units::count(nodes)), false),
        _ => (units::count(nodes), row.paper.is_none_or(|n| n == nodes)),
    };
    let remark = match (&row.why, same) {
        (Some(why), false) => format!("**differs**: {why}"),
        (None, false) => "**differs**".to_string(),
        (Some(why), true) => why.clone(),
        (None, true) => "same".into(),
    };
    let seconds = result["seconds"]["explore"].as_f64().unwrap_or(0.0);
    let ratio = row.seconds.filter(|_| seconds > 0.0).map_or("–".into(), |s| format!("{:.0}", s / seconds));
    let time = units::seconds(seconds);
    Ok(format!("| {} | {printed} | {ours} | {remark} | {theirs} | {time} | {ratio} |", row.name))
}

/// The JSON result of a row.
fn checked(subject: &Subject, table: &Table, row: &Row, model: &str, limit: u32) -> Result<Value, String> {
    let mut command = Command::new(&subject.checker.program);
    command.arg("check").arg(home().join(format!("../bench-models/papers/{model}.mch")));
    for (set, size) in &row.sets {
        command.args(["--set", &format!("{set}={size}")]);
    }
    if let Some(maxint) = row.maxint {
        command.args(["--maxint", &maxint.to_string()]);
    }
    command.args(&table.options).args(&row.options);
    command.args(["--json", "--progress", "off", "--time-limit", &limit.to_string()]);
    let output = command.output().map_err(|e| e.to_string())?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("{}: {}", row.name, String::from_utf8_lossy(&output.stderr).trim()))
}
