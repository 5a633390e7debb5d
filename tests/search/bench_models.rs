//! The benchmark models say what their manifest says: verdict, counts, length of the counterexample, at one worker and
//! at two. The figures come from closed forms, papers and an enumeration of its own (bench-models/manifest.toml).

use crate::support::binary::{bench_model, bombus, timeless};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    model: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    file: String,
    about: String,
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    class: String,
    #[serde(default)]
    sets: BTreeMap<String, u32>,
    maxint: Option<i64>,
    #[serde(default)]
    options: Vec<String>,
    verdict: String,
    counterexample: Option<Counterexample>,
    states: Option<u64>,
    transitions: Option<u64>,
    initial: Option<u64>,
    constants: Option<u64>,
    prob: Option<Prob>,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counterexample {
    kind: String,
    steps: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prob {
    states: u64,
    transitions: u64,
}

fn folder() -> PathBuf {
    bench_model("")
}

fn manifest() -> Manifest {
    let text = std::fs::read_to_string(folder().join("manifest.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// Runs one row; gives the result, or what is wrong with it.
fn check(model: &Model, run: &Run, more: &[&str]) -> Result<Value, String> {
    let mut command = bombus();
    command.arg("check").arg(folder().join(&model.file));
    for (set, size) in &run.sets {
        command.arg("--set").arg(format!("{set}={size}"));
    }
    if let Some(maxint) = run.maxint {
        command.arg("--maxint").arg(maxint.to_string());
    }
    command.args(&run.options).args(more).arg("--json");
    let out = command.output().map_err(|e| e.to_string())?;
    let result: Value = serde_json::from_slice(&out.stdout)
        .map_err(|_| format!("no result\n{}", String::from_utf8_lossy(&out.stderr)))?;
    let mut wrong = Vec::new();
    let mut same = |what: &str, found: Value, wanted: Value| {
        if found != wanted {
            wrong.push(format!("{what} {found}, not {wanted}"));
        }
    };
    same("verdict", result["verdict"].clone(), run.verdict.as_str().into());
    let status = match run.verdict.as_str() {
        "verified" => 0,
        "violated" => 1,
        _ => 3,
    };
    same("exit status", out.status.code().into(), status.into());
    if let Some(states) = run.states {
        same("states", result["states"].clone(), states.into());
        same("transitions", result["transitions"].clone(), run.transitions.into());
        same("initial states", result["initial"].clone(), run.initial.into());
        same("valuations of the constants", result["constants"].clone(), run.constants.unwrap_or(0).into());
    }
    if let Some(prob) = &run.prob {
        same("ProB's states", result["prob"]["states"].clone(), prob.states.into());
        same("ProB's transitions", result["prob"]["transitions"].clone(), prob.transitions.into());
    }
    if let Some(c) = &run.counterexample {
        same("kind of violation", result["violation"]["kind"].clone(), c.kind.as_str().into());
        let trace = result["violation"]["trace"].as_array().cloned().unwrap_or_default();
        let steps = trace.iter().filter(|s| s["event"].as_str().is_some_and(|e| !e.starts_with('$'))).count();
        same("steps of the counterexample", steps.into(), c.steps.into());
    }
    if wrong.is_empty() { Ok(result) } else { Err(wrong.join("; ")) }
}

/// Every row of a class, in each of some ways to run it.
fn all_of(class: &str, ways: &[&[&str]]) {
    let manifest = manifest();
    let rows: Vec<(&Model, &Run)> = manifest
        .model
        .iter()
        .flat_map(|m| m.run.iter().map(move |r| (m, r)))
        .filter(|(_, r)| r.class == class)
        .collect();
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((model, run)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = format!("{} {:?} {:?} {:?}", model.file, run.sets, run.maxint, run.options);
                    let results: Result<Vec<Value>, String> =
                        ways.iter().map(|way| check(model, run, way).map(timeless)).collect();
                    let fault = match results {
                        Ok(all) if all.windows(2).all(|two| two[0] == two[1]) => continue,
                        Ok(_) => format!("{ways:?} give different results"),
                        Err(e) => e,
                    };
                    wrong.lock().unwrap().push(format!("{row}: {fault}"));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn quick_rows_of_the_manifest_come_out_at_one_worker_and_at_two_and_without_machine_code() {
    all_of("quick", &[&["--workers", "1"], &["--workers", "2"], &["--workers", "1", "--no-native"]]);
}

#[test]
fn medium_rows_of_the_manifest_come_out_at_one_worker_and_at_two() {
    all_of("medium", &[&["--workers", "1"], &["--workers", "2"]]);
}

#[test]
fn every_model_has_a_row_and_every_row_a_source() {
    let manifest = manifest();
    let mut listed = BTreeSet::new();
    for m in &manifest.model {
        assert!(listed.insert(m.file.clone()), "{} is listed twice", m.file);
        assert!(!m.about.is_empty() && !m.run.is_empty(), "{} has no rows", m.file);
        for r in &m.run {
            assert!(!r.source.is_empty(), "{}: a row without a source", m.file);
            assert!(
                ["quick", "medium", "large"].contains(&r.class.as_str()),
                "{}: class {}",
                m.file,
                r.class
            );
            assert!(r.states.is_some() == r.transitions.is_some(), "{}: states without transitions", m.file);
            assert!(
                (r.verdict == "violated") == r.counterexample.is_some(),
                "{}: which counterexample?",
                m.file
            );
        }
    }
    let mut open = vec![folder()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|e| ["csp", "mch", "pnml", "tex"].iter().any(|own| e == *own))
            {
                let name = path.strip_prefix(folder()).unwrap().to_string_lossy().into_owned();
                assert!(listed.contains(&name), "{name} is not in the manifest");
            }
        }
    }
}
