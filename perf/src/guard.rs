//! The guard against regressions: instructions of ten models against a stored table.
//!
//! In: a binary, and `perf/instructions.toml`. Out: a table, and failure if a model takes more instructions than the table
//! says and some percent. Counts belong to a compiler and a profile: with others nothing is compared, and that is said aloud,
//! as it is where valgrind is not installed.

use crate::callgrind::{instructions, is_installed};
use crate::models::Subject;
use crate::{manifest, option, values};
use bombus::runs::scale::tables::columns;
use bombus::runs::units;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

pub const USAGE: &str = "guard --binary PATH [--profile quick] [--table FILE] [--tolerance 3] [--write]";

/// The models: rows of the manifest by name, small enough for valgrind, one for each kind of work.
const MODELS: [&str; 10] = [
    "counters",
    "login Session=10",
    "cycles",
    "forks",
    "filter_lock",
    "dining",
    "tiles",
    "leader",
    "sorting",
    "two_phase_commit",
];

/// What was counted, and of what.
#[derive(Deserialize, Serialize, Default)]
struct Table {
    compiler: String,
    profile: String,
    instructions: BTreeMap<String, u64>,
}

pub fn run(arguments: &[String]) -> Result<bool, String> {
    if !is_installed() {
        eprintln!("SKIPPED: valgrind is not installed, so no instructions are counted");
        return Ok(true);
    }
    let file = values(arguments, "--table")
        .map_or_else(|| manifest::home().join("instructions.toml"), PathBuf::from);
    let tolerance = option(arguments, "--tolerance", 3.0f64);
    let writes = arguments.iter().any(|argument| argument == "--write");
    let stored: Table = match std::fs::read_to_string(&file) {
        Ok(text) => toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?,
        Err(_) if writes => Table::default(),
        Err(e) => return Err(format!("{}: {e}", file.display())),
    };
    let mut now = Table {
        compiler: compiler()?,
        profile: option(arguments, "--profile", String::from("quick")),
        instructions: BTreeMap::new(),
    };
    if !writes && (&now.compiler, &now.profile) != (&stored.compiler, &stored.profile) {
        eprintln!(
            "SKIPPED: the table is of {} with the profile {}, this is {} with the profile {}",
            stored.compiler, stored.profile, now.compiler, now.profile
        );
        return Ok(true);
    }
    let subject = Subject::new("bombus", values(arguments, "--binary").map(PathBuf::from), "")?;
    let mut table = vec![["model", "stored", "now", "change"].map(String::from).to_vec()];
    let mut worse = false;
    for name in MODELS {
        let rows = manifest::rows(&["quick".into()], &[name.into()])?;
        let row = rows.first().ok_or_else(|| format!("the manifest has no quick row {name}"))?;
        let count = instructions(&subject, row)?;
        let known = stored.instructions.get(&row.name).copied();
        let change = known.map(|known| 100.0 * (count as f64 / known as f64 - 1.0));
        worse |= change.is_some_and(|change| change > tolerance);
        table.push(vec![
            row.name.clone(),
            known.map_or("–".into(), |known| units::rate(known as f64)),
            units::rate(count as f64),
            change.map_or("new".into(), |change| format!("{change:+.2} %")),
        ]);
        now.instructions.insert(row.name.clone(), count);
    }
    print!("{}", columns(&table));
    if writes {
        let text = toml::to_string(&now).map_err(|e| e.to_string())?;
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        return Ok(true);
    }
    if worse {
        eprintln!(
            "a model takes over {tolerance} % more instructions; if that is meant, write the table anew: --write"
        );
    }
    Ok(!worse)
}

fn compiler() -> Result<String, String> {
    let out = Command::new("rustc").arg("--version").output().map_err(|e| format!("rustc: {e}"))?;
    Ok(String::from_utf8_lossy(&out.stdout).trim().to_string())
}
