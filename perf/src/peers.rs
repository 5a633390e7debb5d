//! The same models in other checkers, side by side: SPIN if it is installed, TLC if its jar is given.
//!
//! A peer that finds another number of states is not timed but reported: then the two models are not the same. Times
//! are of exploration alone; what a peer needs before (SPIN's C compiler) is shown apart.

use crate::manifest::{self, Row, home};
use crate::models::{Subject, time};
use crate::record::{Record, said};
use crate::{children_seconds, median, option, switch, values, words};
use bombus::base::text::many;
use bombus::runs::scale::tables::columns;
use bombus::runs::units;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub const USAGE: &str = "peers [--model WORD,…] [--workers 1,2] [--repeat 3] [--tla-jar PATH] [--binary PATH] [--time-limit 600] [--record NAME]";

#[derive(Deserialize)]
struct Peers {
    peer: Vec<Peer>,
}

#[derive(Deserialize)]
struct Peer {
    row: String,
    spin: Option<Spin>,
    tla: Option<Tla>,
}

#[derive(Deserialize)]
struct Spin {
    file: String,
    #[serde(default)]
    define: Vec<String>,
    #[serde(default)]
    extra: u64,
    /// Arguments of the verifier.
    #[serde(default)]
    options: Vec<String>,
}

#[derive(Deserialize)]
struct Tla {
    module: String,
    #[serde(default)]
    constants: BTreeMap<String, i64>,
}

/// What a peer said of one run.
struct Said {
    states: u64,
    seconds: f64,
    bytes: Option<u64>,
    /// Seconds before the search could begin.
    before: f64,
}

pub fn run(arguments: &[String]) -> Result<bool, String> {
    let folder = home().join("peers");
    let peers = read(&folder)?;
    let chosen = words(arguments, "--model");
    let counts: Vec<u32> = match words(arguments, "--workers").as_slice() {
        [] => vec![1, 2],
        all => all.iter().filter_map(|w| w.parse().ok()).collect(),
    };
    if counts.is_empty() {
        return Err("--workers: numbers are wanted, separated by commas".into());
    }
    let repeat: u32 = option(arguments, "--repeat", 3);
    let limit: f64 = option(arguments, "--time-limit", 600.0);
    let jar = values(arguments, "--tla-jar").map(PathBuf::from);
    let spin = said("spin", &["-V"]);
    if spin == "unknown" {
        eprintln!("spin is not installed: its columns stay empty");
    }
    if jar.is_none() {
        eprintln!("no --tla-jar: TLC's column stays empty");
    }
    let subject = Subject::new("bombus", values(arguments, "--binary").map(PathBuf::from), "")?;
    let mut record = Record::start(switch(arguments, "--record"), &[&subject])?;
    record.raw(&json!({"spin": spin, "tla_jar": jar, "cc": said("cc", &["--version"])}));

    let mut header = vec!["model".to_string(), "states".to_string()];
    header.extend(counts.iter().map(|w| format!("bombus {w}")));
    header.extend(
        ["spin", "spin/bombus 1", "by processor", "(cc)", "TLC", "its processor", "and ours"]
            .map(String::from),
    );
    let mut table = vec![header];
    let mut wrong = Vec::new();
    for (peer, row) in &peers {
        if !chosen.is_empty() && !chosen.iter().any(|w| peer.row.contains(w.as_str())) {
            continue;
        }
        let side = Side { peer, row, folder: &folder, repeat, limit };
        let mut line = vec![row.name.clone(), row.states.map_or("–".into(), units::count)];
        let prepared = if spin == "unknown" { Ok(None) } else { side.prepare() };
        // One after the other, again and again: a machine that changes its speed changes it for all.
        let mut ours: Vec<Result<Vec<Spent>, String>> = counts.iter().map(|_| Ok(Vec::new())).collect();
        let mut theirs: Result<Vec<Spent>, String> = Ok(Vec::new());
        for turn in 1..=repeat {
            for (workers, all) in counts.iter().zip(&mut ours) {
                if let Ok(spent) = all {
                    match side.ours(&subject, *workers, turn, &mut record) {
                        Ok(s) => spent.push(s),
                        Err(e) => *all = Err(e),
                    }
                }
            }
            if let (Ok(Some(pan)), Ok(spent)) = (&prepared, &mut theirs) {
                match side.spin(pan, turn, &mut record) {
                    Ok(s) => spent.push(s),
                    Err(e) => theirs = Err(e),
                }
            }
        }
        let processor = |all: &[Spent]| median(all.iter().map(|s| s.cpu).collect());
        let clock = |all: &[Spent]| median(all.iter().map(|s| s.seconds).collect());
        for all in &ours {
            let seconds = all.as_ref().map(|a| clock(a)).map_err(String::clone);
            line.push(cell(seconds, &mut wrong, &format!("bombus {}", row.name)));
        }
        let ratio = |of: fn(&Spent) -> f64| match (&ours[..], &theirs) {
            ([Ok(ours), ..], Ok(theirs)) if !theirs.is_empty() => {
                let all = ours.iter().zip(theirs).map(|(a, b)| of(b) / of(a).max(0.001)).collect();
                format!("{:.2}", median(all))
            }
            _ => "–".into(),
        };
        let ratios = [ratio(|s| s.seconds), ratio(|s| s.cpu)];
        line.push(match (&prepared, theirs) {
            (Ok(None), _) => "–".into(),
            (Err(e), _) => cell(Err(e.clone()), &mut wrong, &format!("spin {}", row.name)),
            (_, Err(e)) => cell(Err(e), &mut wrong, &format!("spin {}", row.name)),
            (_, Ok(all)) => units::seconds(clock(&all)),
        });
        line.extend(ratios);
        line.push(match &prepared {
            Ok(Some(pan)) => units::seconds(pan.before),
            _ => "–".into(),
        });
        let tlc = jar.as_ref().zip(peer.tla.as_ref());
        let tlc = tlc.map(|(jar, tla)| side.tlc(jar, tla, counts[0], &mut record));
        line.extend(match (tlc, &ours[..]) {
            (Some(Ok(theirs)), [Ok(ours), ..]) => {
                [clock(&theirs), processor(&theirs), processor(ours)].map(units::seconds)
            }
            (Some(Err(e)), _) => {
                [cell(Err(e), &mut wrong, &format!("TLC {}", row.name)), "–".into(), "–".into()]
            }
            _ => ["–", "–", "–"].map(String::from),
        });
        eprintln!("{}", line.join("  "));
        table.push(line);
    }
    let width = table.iter().map(|r| r[0].chars().count()).max().unwrap_or(0);
    for r in &mut table {
        r[0] = format!("{:<width$}", r[0]);
    }
    let mut text = format!(
        "median of {repeat} runs, seconds of exploration; 'spin/bombus 1' above 1 means that one worker of ours is faster than {spin};\n\
         'by processor' is the same ratio in processor time of the whole processes, loading included\n\
         (spin: safety, no reduction, gcc -O2, whose time is in the column cc; its clock has steps of 10 ms; TLC with {}: the whole \
         program by the clock and by the processor, beside ours by the processor)\n",
        many(u64::from(counts[0]), "worker")
    );
    text.push_str(&columns(&table));
    for w in &wrong {
        text.push_str(&format!("WRONG {w}\n"));
    }
    print!("{text}");
    record.finish(&text)?;
    Ok(wrong.is_empty())
}

/// Every peer with its row of the manifest; a row or a file that is not there is an error before anything runs.
fn read(folder: &Path) -> Result<Vec<(Peer, Row)>, String> {
    let text = std::fs::read_to_string(folder.join("peers.toml")).map_err(|e| e.to_string())?;
    let peers: Peers = toml::from_str(&text).map_err(|e| e.to_string())?;
    let rows = manifest::rows(&[], &[])?;
    let with_row = |peer: Peer| {
        let Some(row) = rows.iter().find(|r| r.name == peer.row) else {
            return Err(format!("peers.toml: the manifest has no row '{}'", peer.row));
        };
        let spin = peer.spin.iter().map(|s| folder.join("spin").join(&s.file));
        let tla = peer.tla.iter().map(|t| folder.join("tla").join(format!("{}.tla", t.module)));
        match spin.chain(tla).find(|file| !file.is_file()) {
            Some(file) => Err(format!("peers.toml: there is no {}", file.display())),
            None => Ok((peer, row.clone())),
        }
    };
    peers.peer.into_iter().map(with_row).collect()
}

fn cell(seconds: Result<f64, String>, wrong: &mut Vec<String>, what: &str) -> String {
    match seconds {
        Ok(s) => units::seconds(s),
        Err(e) => {
            wrong.push(format!("{what}: {e}"));
            "wrong".into()
        }
    }
}

/// What one run needed: the search by the clock, the whole process by the processor.
struct Spent {
    seconds: f64,
    cpu: f64,
}

/// SPIN's verifier of one model.
struct Pan {
    scratch: Scratch,
    before: f64,
    extra: u64,
    options: Vec<String>,
}

struct Side<'a> {
    peer: &'a Peer,
    row: &'a Row,
    folder: &'a Path,
    repeat: u32,
    limit: f64,
}

impl Side<'_> {
    fn ours(&self, subject: &Subject, workers: u32, turn: u32, record: &mut Record) -> Result<Spent, String> {
        let before = children_seconds();
        let t = time(subject, self.row, workers, self.limit)?;
        let cpu = children_seconds() - before;
        record.raw(&json!({"checker": "bombus", "model": self.row.name, "workers": workers, "repeat": turn,
            "seconds": t.explore, "cpu": cpu, "states": t.states, "transitions": t.transitions, "peak_memory_bytes": t.peak}));
        Ok(Spent { seconds: t.explore, cpu })
    }

    /// Generates and compiles SPIN's verifier; `None` if there is no such model.
    fn prepare(&self) -> Result<Option<Pan>, String> {
        let Some(spin) = &self.peer.spin else { return Ok(None) };
        let scratch = Scratch::new()?;
        for file in [spin.file.as_str(), "each.h"] {
            std::fs::copy(self.folder.join("spin").join(file), scratch.0.join(file))
                .map_err(|e| e.to_string())?;
        }
        let begun = Instant::now();
        let defines: Vec<String> = spin.define.iter().map(|d| format!("-D{d}")).collect();
        let mut generate = Command::new("spin");
        done(generate.arg("-a").args(&defines).arg(&spin.file).current_dir(&scratch.0))?;
        let mut compile = Command::new("cc");
        done(
            compile
                .args(["-O2", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c"])
                .current_dir(&scratch.0),
        )?;
        let before = begun.elapsed().as_secs_f64();
        Ok(Some(Pan { scratch, before, extra: spin.extra, options: spin.options.clone() }))
    }

    fn spin(&self, of: &Pan, turn: u32, record: &mut Record) -> Result<Spent, String> {
        let start = children_seconds();
        let text = done(
            Command::new(of.scratch.0.join("pan"))
                .arg(format!("-m{}", self.row.states.unwrap_or(1_000_000) + 10_000))
                .args(&of.options)
                .current_dir(&of.scratch.0),
        )?;
        let cpu = children_seconds() - start;
        let said = pan(&text, of.before)?;
        let states = said.states - of.extra;
        record.raw(&json!({"checker": "spin", "model": self.row.name, "workers": 1, "repeat": turn, "seconds": said.seconds,
            "cpu": cpu, "states": states, "prepare_seconds": said.before, "peak_memory_bytes": said.bytes}));
        self.agrees(states)?;
        Ok(Spent { seconds: said.seconds, cpu })
    }

    fn tlc(&self, jar: &Path, tla: &Tla, workers: u32, record: &mut Record) -> Result<Vec<Spent>, String> {
        let scratch = Scratch::new()?;
        let module = format!("{}.tla", tla.module);
        std::fs::copy(self.folder.join("tla").join(&module), scratch.0.join(&module))
            .map_err(|e| e.to_string())?;
        let constants: String = tla.constants.iter().map(|(k, v)| format!("CONSTANT {k} = {v}\n")).collect();
        let config = format!("INIT Init\nNEXT Next\nINVARIANT Inv\n{constants}");
        std::fs::write(scratch.0.join("model.cfg"), config).map_err(|e| e.to_string())?;
        let mut all = Vec::new();
        for repeat in 1..=self.repeat {
            let mut java = Command::new("java");
            java.args(["-XX:+UseParallelGC", "-cp"]).arg(jar).args([
                "tlc2.TLC",
                "-config",
                "model.cfg",
                "-workers",
            ]);
            java.arg(workers.to_string()).arg(&module).current_dir(&scratch.0);
            let (begun, before) = (Instant::now(), children_seconds());
            let text = done(&mut java)?;
            let (seconds, cpu) = (begun.elapsed().as_secs_f64(), children_seconds() - before);
            let line = text.lines().rfind(|l| l.contains("distinct states found")).ok_or("no count")?;
            let words: Vec<String> = line.split_whitespace().map(|w| w.replace(',', "")).collect();
            let at = words.iter().position(|w| w == "distinct").ok_or("no count")?;
            let states: u64 = words.get(at.wrapping_sub(1)).and_then(|w| w.parse().ok()).ok_or("no count")?;
            record
                .raw(&json!({"checker": "tlc", "model": self.row.name, "workers": workers, "repeat": repeat,
                "seconds": seconds, "cpu": cpu, "states": states}));
            self.agrees(states)?;
            all.push(Spent { seconds, cpu });
        }
        Ok(all)
    }

    fn agrees(&self, states: u64) -> Result<(), String> {
        match self.row.states {
            Some(ours) if ours != states => Err(format!("{states} states, not {ours}: not the same model")),
            _ => Ok(()),
        }
    }
}

/// SPIN's own clock, which leaves out the making of its tables as ours does; it shows hundredths of a second.
fn pan(text: &str, before: f64) -> Result<Said, String> {
    let number = |marker: &str| -> Option<f64> {
        let line = text.lines().find(|l| l.contains(marker))?;
        line.split_whitespace().find_map(|w| w.parse().ok())
    };
    let states = number("states, stored").ok_or_else(|| format!("no count:\n{text}"))?;
    if !text.contains("errors: 0") {
        return Err("it found an error".into());
    }
    if text.contains("max search depth too small") {
        return Err("its search was cut".into());
    }
    let own = text.lines().find_map(|l| l.strip_prefix("pan: elapsed time "));
    let own = own.and_then(|l| l.split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0);
    Ok(Said {
        states: states as u64,
        seconds: own.max(0.01),
        bytes: number("total actual memory usage").map(|mib| (mib * 1048576.0) as u64),
        before,
    })
}

/// What a program printed, or what it complained of.
fn done(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() {
        return Ok(text);
    }
    Err(format!("{:?} failed: {}{text}", command.get_program(), String::from_utf8_lossy(&out.stderr)))
}

/// A folder that goes away with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        let nanos =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let path = std::env::temp_dir().join(format!("bombus-perf-{}-{nanos}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_has_its_files_and_a_row_with_a_count_to_agree_with() {
        let peers = read(&home().join("peers")).unwrap_or_else(|e| panic!("{e}"));
        assert!(peers.len() > 10);
        for (peer, row) in peers {
            assert!(row.states.is_some(), "{}: nothing says how many states there are", peer.row);
        }
    }
}
