//! Findings as people read them: for each faulty model the whole answer, word by word.
//!
//! Beside each model of `tests/faulty` stands what `bombus check` says of it; the answers for the models of
//! `bench-models/faulty` stand there too. A model whose first line is `// OPTIONS` is checked with these options,
//! which are separated by `|`. Only the line with the time is left out.

use crate::support::binary::{bombus, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty")
}

/// The options that a model asks for in its first line.
fn options(model: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(model).expect("a model");
    let first = text.lines().next().unwrap_or_default();
    let list = first.strip_prefix("// ").map(|o| o.split('|').map(str::to_string).collect());
    list.unwrap_or_default()
}

/// Models with their answers, and the folder in which each is checked.
fn answered() -> Vec<(PathBuf, PathBuf)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("a folder of models").flatten() {
        let answer = entry.path();
        if answer.extension().is_none_or(|e| e != "txt") {
            continue;
        }
        let name = answer.file_stem().and_then(|s| s.to_str()).expect("a name").to_string();
        let model = match name.strip_prefix("bench_") {
            Some(name) => folder().join("../../bench-models/faulty").join(format!("{name}.mch")),
            None => ["mch", "eventb", "ref", "imp", "csp"]
                .iter()
                .map(|e| folder().join(format!("{name}.{e}")))
                .find(|p| p.exists())
                .expect("the model of an answer"),
        };
        all.push((model, answer));
    }
    all.sort();
    all
}

fn run(model: &Path, more: &[&str]) -> std::process::Output {
    bombus()
        .current_dir(model.parent().expect("a folder"))
        .arg("check")
        .arg(model.file_name().expect("a name"))
        .args(options(model))
        .args(["--workers", "1"])
        .args(more)
        .output()
        .expect("the binary runs")
}

#[test]
fn every_faulty_model_is_answered_with_cause_place_and_values() {
    let models = answered();
    assert!(models.len() >= 40, "only {} models have an answer", models.len());
    let mut wrong = Vec::new();
    for (model, answer) in &models {
        let output = run(model, &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let told: Vec<&str> = text.lines().filter(|l| !l.starts_with("  time ")).collect();
        let wanted = std::fs::read_to_string(answer).expect("an answer");
        if told.join("\n").trim_end() != wanted.trim_end() {
            wrong.push(format!("{}\n--- said\n{}\n--- wanted\n{wanted}", model.display(), told.join("\n")));
        }
        assert_eq!(output.status.code(), Some(1), "{}", model.display());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_kind_of_finding_is_explained_in_at_least_two_models() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (model, _) in answered() {
        let result = json(&run(&model, &["--json"]));
        let first = std::iter::once(&result["violation"]);
        for v in first.chain(result["other_violations"].as_array().expect("a list")) {
            *kinds.entry(v["kind"].as_str().expect("a kind").to_string()).or_default() += 1;
            let explained = v["formulas"].as_array().is_some_and(|f| !f.is_empty())
                || v["explanation"].as_array().is_some_and(|e| !e.is_empty());
            assert!(explained, "{}: {v:#}", model.display());
        }
    }
    let wanted = [
        "invariant",
        "deadlock",
        "assertion",
        "well-definedness",
        "precondition",
        "properties",
        "goal",
        "refinement",
        "variant",
        "ltl",
        "ctl",
    ];
    for kind in wanted {
        assert!(kinds.get(kind).copied().unwrap_or(0) >= 2, "{kind}: {kinds:?}");
    }
}
