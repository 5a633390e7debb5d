//! Processes that answer for a model: the Python example, and clients that lie, crash, babble or keep silent.
//!
//! The counts are those of K cyclic counters of N values: N^K states and K*N^K transitions. Without python3
//! the tests that need it say so and pass.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn bombus(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bombus")).args(args).output().expect("the binary runs")
}

fn json(args: &[&str]) -> Value {
    let out = bombus(&[args, &["--json"]].concat());
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&out.stderr)))
}

fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    if !there {
        eprintln!("skipped: there is no python3");
    }
    there
}

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/counters.py").display().to_string()
}

/// The status and the message of a check that has to fail.
fn refused(command: &str, limit: &str) -> String {
    let out = bombus(&["check", "--via", command, "--via-limit", limit, "--workers", "2"]);
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{command}: {told}{}", String::from_utf8_lossy(&out.stdout));
    told
}

/// The same counters in B.
const COUNTERS: &str =
    "MACHINE counters VARIABLES c INVARIANT c : 0..3 --> 0..4 INITIALISATION c := (0..3) * {0}
OPERATIONS raise(i) = PRE i : 0..3 THEN c(i) := (c(i) + 1) mod 5 END END";

#[test]
fn a_python_process_and_the_same_system_in_b_have_the_same_counts() {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("counters.mch");
    std::fs::write(&file, COUNTERS).unwrap();
    let b = json(&["check", &file.display().to_string()]);
    let mut digests = Vec::new();
    for workers in ["1", "3"] {
        let via = format!("python3 {} 4 5", example());
        let result = json(&["check", "--via", &via, "--via-limit", "300", "--workers", workers]);
        for figure in ["states", "transitions", "depth", "initial", "verdict"] {
            assert_eq!(b[figure], result[figure], "{figure}");
        }
        assert_eq!(result["engine"], "subprocess");
        digests.push(result["digest"].clone());
    }
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn formulas_over_a_process_use_its_own_propositions() {
    if !has_python() {
        return;
    }
    let via = format!("python3 {} 2 4", example());
    for (formula, verdict) in [
        ("G {0 < 4}", "holds"),
        ("G F {0 = 3}", "violated"),
        ("WF(raise0) => G F {0 = 3}", "holds"),
        ("G ({0 = 3} => not {0 > 3})", "holds"),
        ("G ([raise1] => X not {1 > 3})", "holds"),
    ] {
        let result =
            json(&["check", "--via", &via, "--via-limit", "300", "--ltl", formula, "--workers", "2"]);
        assert_eq!(result["temporal"][0]["verdict"], verdict, "{formula}");
    }
    let result = json(&["check", "--via", &via, "--via-limit", "300", "--ltl", "F {1 = 2}"]);
    let trace = result["violation"]["trace"].as_array().unwrap();
    assert_eq!(trace[0]["state"]["c1"], "0");
    let out = bombus(&["check", "--via", &via, "--via-limit", "300", "--ltl", "G {nonsense}"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("a proposition is I = V"));
}

#[test]
fn a_search_over_a_process_goes_on_where_it_was_saved() {
    if !has_python() {
        return;
    }
    let via = format!("python3 {} 3 9", example());
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("saved").display().to_string();
    let first =
        json(&["check", "--via", &via, "--via-limit", "300", "--checkpoint", &saved, "--max-states", "200"]);
    assert_eq!(first["verdict"], "incomplete");
    let whole = json(&["check", "--via", &via, "--via-limit", "300", "--resume", &saved, "--workers", "2"]);
    assert_eq!((&whole["states"], &whole["transitions"]), (&729.into(), &2187.into()));
    assert_eq!(whole["verdict"], "verified");
}

/// A client made from the example by one change.
fn liar(dir: &Path, from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(example()).unwrap();
    assert!(text.contains(from), "{from}");
    let file = dir.join("liar.py");
    std::fs::write(&file, text.replace(from, to)).unwrap();
    format!("python3 {} 3 9", file.display())
}

#[test]
fn a_process_that_lies_ends_the_check_as_an_error() {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (from, to, said) in [
        ("(after[i] + 1) % N", "__import__('random').randrange(N)", "answered differently"),
        ("return answer([(0, bytes(K))])", "return answer([(0, bytes(K + 1))])", "answer is"),
        ("return answer(steps)", "return answer(steps + [(77, bytes(state))])", "no event 77"),
        (
            "struct.pack(\"<I\", 1) + text(\"counters\")",
            "struct.pack(\"<I\", 2) + text(\"counters\")",
            "version 2",
        ),
        ("struct.pack(\"<II\", K, K)", "struct.pack(\"<II\", 0, K)", "a state of 0 bytes"),
        ("text(f\"raise{i}\")", "text(\"raise\")", "two events are called `raise`"),
        ("return answer(steps)", "sys.exit(3)", "output has ended"),
        ("return answer(steps)", "return b'\\1\\2\\3'", "answer is"),
        ("len(out) + 1, kind", "len(out) + 1, kind % 3 + 9", "an answer of kind"),
        ("len(out) + 1, kind", "4000000000, kind", "not the protocol"),
        ("out = reply(kind", "out = reply(kind if kind != 3 else 9", "answer is"),
    ] {
        let told = refused(&liar(dir.path(), from, to), "300");
        assert!(told.contains(said), "{to}: {told}");
    }
}

#[test]
fn a_process_that_is_no_client_is_refused() {
    for (command, said) in [
        ("cat /dev/urandom", ""),
        ("yes", ""),
        ("sleep 60", "no answer within"),
        ("sh -c 'while :; do :; done'", "no answer within"),
        // What the process started holds our stderr: this would wait for it if it did not end with the process.
        ("sh -c 'sleep 100000 & wait'", "no answer within"),
        ("false", ""),
        ("echo hello", ""),
        ("this-program-does-not-exist", "cannot start"),
        ("'unfinished", "quotation mark"),
    ] {
        let told = refused(command, "1");
        assert!(told.contains("error") && told.contains(said), "{command}: {told}");
    }
}
