//! Z as a user writes it: the sixty rows of the language reference, Z beside B, the schema calculus, bad input.
//!
//! Every specification is checked by the binary; counts are those of its JSON result.

mod bad_input;
mod calculus;
mod notation;
mod pairs;
mod random;
mod random_calculus;
mod recursion;
mod rows;
#[path = "../support/mod.rs"]
mod support;

use serde_json::Value;
use std::process::Command;

/// Exit status, result (null if there is none) and messages of one command on a text.
pub fn run(command: &str, file: &str, text: &str, options: &[&str]) -> (i32, String, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(file);
    std::fs::write(&path, text).expect("a file");
    let mut process = Command::new(env!("CARGO_BIN_EXE_bombus"));
    let out = process.arg(command).arg(&path).args(options).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

/// The result of a check that looks at every state.
pub fn check(file: &str, text: &str, options: &[&str]) -> Value {
    let mut all = vec!["--json", "--keep-going", "--workers", "1"];
    all.extend(options);
    let (status, out, messages) = run("check", file, text, &all);
    assert!(matches!(status, 0 | 1 | 3), "status {status} for {text}\n{messages}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e} for {text}\n{messages}"))
}

/// One `zed` environment.
pub fn zed(items: &str) -> String {
    format!("\\begin{{zed}}{items}\\end{{zed}}")
}

/// A check of one `zed` environment.
pub fn check_zed(items: &str, options: &[&str]) -> Value {
    check("spec.tex", &zed(items), options)
}

/// States and transitions.
pub fn counts(result: &Value) -> (u64, u64) {
    // States outside of a scope are not expanded, and a result says so.
    let reasons = result["incomplete_because"].as_array().expect("reasons");
    assert!(reasons.iter().all(|r| r.as_str().is_some_and(|r| r.starts_with("SCOPE left"))), "{result}");
    (result["states"].as_u64().unwrap_or(0), result["transitions"].as_u64().unwrap_or(0))
}

/// The messages that reject a text.
pub fn rejected(text: &str) -> String {
    let (status, _, messages) = run("check", "spec.tex", text, &[]);
    assert_eq!(status, 2, "{text}\n{messages}");
    messages
}
