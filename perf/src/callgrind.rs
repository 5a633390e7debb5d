//! Instructions counted by callgrind: a regression check that does not need a quiet machine.
//!
//! One worker; the count of one run differs from the next by well under a percent. Nothing is measured when valgrind is
//! not installed.

use crate::manifest;
use crate::models::Subject;
use crate::{option, values, words};
use bombus::runs::scale::tables::columns;
use bombus::runs::units;
use std::path::PathBuf;
use std::process::Command;

pub const USAGE: &str =
    "instructions [--class quick] [--model WORD,…] [--binary PATH | --a PATH --b PATH] [--options '…']";

pub fn run(arguments: &[String]) -> Result<bool, String> {
    if !is_installed() {
        eprintln!("valgrind is not installed: nothing is measured");
        return Ok(true);
    }
    let mut classes = words(arguments, "--class");
    let models = words(arguments, "--model");
    if classes.is_empty() && models.is_empty() {
        classes.push("quick".into());
    }
    let rows = manifest::rows(&classes, &models)?;
    let options = option(arguments, "--options", String::new());
    let mut subjects = Vec::new();
    for name in ["--binary", "--a", "--b"] {
        if let Some(path) = values(arguments, name) {
            subjects.push(Subject::new(name.trim_start_matches('-'), Some(PathBuf::from(path)), &options)?);
        }
    }
    if subjects.is_empty() {
        subjects.push(Subject::new("bombus", None, &options)?);
    }
    let mut header = vec!["model".to_string(), "states".to_string()];
    header.extend(subjects.iter().map(|s| s.name.clone()));
    header.push(if subjects.len() == 2 { "b / a" } else { "per state" }.into());
    let mut table = vec![header];
    for row in &rows {
        let mut counts = Vec::new();
        for s in &subjects {
            counts.push(instructions(s, row)?);
        }
        let mut line = vec![row.name.clone(), row.states.map_or("–".into(), units::count)];
        line.extend(counts.iter().map(|n| units::rate(*n as f64)));
        line.push(match (counts.as_slice(), row.states) {
            ([a, b], _) => format!("{:.4}", *b as f64 / *a as f64),
            ([n], Some(states)) if states > 0 => units::rate(*n as f64 / states as f64),
            _ => "–".into(),
        });
        eprintln!("{}", line.join("  "));
        table.push(line);
    }
    print!("{}", columns(&table));
    Ok(true)
}

/// Whether there is a valgrind.
pub fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

/// Instructions of one run.
pub fn instructions(subject: &Subject, row: &manifest::Row) -> Result<u64, String> {
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(&subject.checker.program)
        .args(&subject.checker.before)
        .args(&row.args)
        .args(&subject.options)
        .args(["--workers", "1", "--quiet"])
        .output()
        .map_err(|e| format!("valgrind: {e}"))?;
    let text = String::from_utf8_lossy(&out.stderr);
    let line = text.lines().find(|l| l.contains("Collected :"));
    line.and_then(|l| l.rsplit(' ').next()?.parse().ok()).ok_or_else(|| format!("{}: {text}", row.name))
}
