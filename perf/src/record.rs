//! A dated run on disk: raw numbers, command, versions, machine, summary.

use crate::manifest::home;
use crate::models::Subject;
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes to `perf/runs/<date>-<name>/`, or nowhere if no name was given.
pub struct Record {
    folder: Option<PathBuf>,
    file: Option<File>,
}

impl Record {
    pub fn start(name: Option<String>, subjects: &[&Subject]) -> Result<Record, String> {
        let Some(name) = name else { return Ok(Record { folder: None, file: None }) };
        let folder = home().join("runs").join(format!("{}-{name}", today()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut about =
            format!("command: bombus-perf {}\n", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
        for s in subjects {
            about.push_str(&format!(
                "{}: {} {}\n",
                s.name,
                said(&s.checker.program, &["--version"]),
                options(s)
            ));
        }
        about.push_str(&format!("revision: {}\n", said("git", &["rev-parse", "--short", "HEAD"])));
        about.push_str(&format!("rustc: {}\n", said("rustc", &["--version"])));
        about.push_str(&machine());
        std::fs::write(folder.join("about.txt"), about).map_err(|e| e.to_string())?;
        let file = File::create(folder.join("raw.jsonl")).map_err(|e| e.to_string())?;
        Ok(Record { folder: Some(folder), file: Some(file) })
    }

    pub fn raw(&mut self, value: &Value) {
        if let Some(f) = &mut self.file {
            let _ = writeln!(f, "{value}");
        }
    }

    pub fn finish(&self, summary: &str) -> Result<(), String> {
        if let Some(folder) = &self.folder {
            std::fs::write(folder.join("summary.txt"), summary).map_err(|e| e.to_string())?;
            eprintln!("recorded in {}", folder.display());
        }
        Ok(())
    }
}

fn options(s: &Subject) -> String {
    s.options.iter().map(|o| o.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// The first line of what a program says, or that it is not there.
pub fn said(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> String {
    match Command::new(program).args(args).output() {
        Ok(o) if o.status.success() => {
            String::from_utf8_lossy(&o.stdout).lines().next().unwrap_or_default().to_string()
        }
        _ => "unknown".into(),
    }
}

fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .map_or("unknown", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    format!("machine: {model}, {cores} cores, load before the run {load}\n")
}

/// The date in UTC, from the days since 1970 (the usual civil-calendar arithmetic).
fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400) as i64;
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
