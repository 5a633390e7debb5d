//! The rows of `bench-models/manifest.toml` that a benchmark runs.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Manifest {
    model: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    file: String,
    run: Vec<Run>,
}

#[derive(Deserialize, Clone)]
struct Run {
    class: String,
    #[serde(default)]
    sets: BTreeMap<String, u32>,
    maxint: Option<i64>,
    #[serde(default)]
    options: Vec<String>,
    verdict: String,
    states: Option<u64>,
    transitions: Option<u64>,
}

/// One row: what to run and what must come out.
#[derive(Clone)]
pub struct Row {
    /// Model and parameters, short.
    pub name: String,
    pub class: String,
    /// Arguments of `check`.
    pub args: Vec<OsString>,
    pub verdict: String,
    pub states: Option<u64>,
    pub transitions: Option<u64>,
}

/// The folder of this crate's sources: benchmarks are run from a checkout.
pub fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Rows of the given classes whose name holds one of the words (all if there are none).
pub fn rows(classes: &[String], words: &[String]) -> Result<Vec<Row>, String> {
    let folder = home().join("../bench-models");
    let path = folder.join("manifest.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let manifest: Manifest = toml::from_str(&text).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    for model in &manifest.model {
        for run in &model.run {
            let row = row(&folder, &model.file, run);
            let named = words.is_empty() || words.iter().any(|w| row.name.contains(w.as_str()));
            if named && (classes.is_empty() || classes.contains(&row.class)) {
                all.push(row);
            }
        }
    }
    if all.is_empty() { Err("no row of the manifest is chosen".into()) } else { Ok(all) }
}

fn row(folder: &Path, file: &str, run: &Run) -> Row {
    let mut args: Vec<OsString> = vec![folder.join(file).into_os_string()];
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut name = vec![stem];
    for (set, size) in &run.sets {
        args.extend(["--set".into(), format!("{set}={size}").into()]);
        name.push(format!("{set}={size}"));
    }
    if let Some(m) = run.maxint {
        args.extend(["--maxint".into(), m.to_string().into()]);
        name.push(format!("maxint={m}"));
    }
    args.extend(run.options.iter().map(OsString::from));
    name.extend(run.options.iter().filter(|o| o.starts_with("--")).cloned());
    Row {
        name: name.join(" "),
        class: run.class.clone(),
        args,
        verdict: run.verdict.clone(),
        states: run.states,
        transitions: run.transitions,
    }
}
