//! Proof information: whose proofs count, that no verdict depends on them, and that a false claim does not go unnoticed.

use crate::support::binary::{Folder, bombus, check_machine, json, messages};
use crate::support::machines;
use crate::support::{cases, first_seed};
use serde_json::Value;
use std::process::Output;

/// Two numbers that do not meet: each event leaves one of them alone.
const APART: &str =
    "MACHINE M VARIABLES x, y INVARIANT x : 0..9 & y : 10..19 & x < y INITIALISATION x, y := 0, 10
OPERATIONS up = SELECT x < 9 THEN x := x + 1 END; down = SELECT y > 10 THEN y := y - 1 END;
  back = SELECT x > 0 THEN x := x - 1 END; on = SELECT y < 19 THEN y := y + 1 END END";

fn proven(result: &Value) -> Value {
    match &result["symbolic"] {
        Value::Null => result["proven"].clone(),
        symbolic => symbolic["proven"].clone(),
    }
}

#[test]
fn an_event_keeps_what_it_does_not_write_for_free_and_the_rest_by_a_query() {
    // Four events and three conjuncts; x : 0..9 and y : 10..19 read one variable each, so that each event keeps one of
    // them for free. x < y follows from the two others, and so every pair has a proof.
    for engine in ["kind", "ic3", "bmc", "bmc-path", "explicit"] {
        let bound: &[&str] = if engine.starts_with("bmc") { &["--max-depth", "2"] } else { &[] };
        let result =
            |info: &str| check_machine(APART, &[&["--engine", engine, "--proof-info", info], bound].concat());
        let figures = |info: &str| {
            let p = proven(&result(info));
            [&p["pairs"], &p["free"], &p["rodin"], &p["own"], &p["events"]].map(Value::as_u64)
        };
        assert_eq!(figures("off"), [Some(12), Some(0), Some(0), Some(0), Some(0)], "{engine}");
        assert_eq!(figures("free"), [Some(12), Some(4), Some(0), Some(0), Some(0)], "{engine}");
        assert_eq!(figures("rodin"), [Some(12), Some(4), Some(0), Some(0), Some(0)], "{engine}");
        assert_eq!(figures("own"), [Some(12), Some(4), Some(0), Some(8), Some(4)], "{engine}");
        assert_eq!(figures("all"), [Some(12), Some(4), Some(0), Some(8), Some(4)], "{engine}");
    }
}

#[test]
fn the_explicit_engine_counts_the_same_states_whoever_is_believed() {
    let plain = check_machine(APART, &[]);
    for more in [
        &["--proof-info", "off"][..],
        &["--proof-info", "all"],
        &["--paranoid"],
        &["--proof-info", "all", "--paranoid"],
    ] {
        let result = check_machine(APART, more);
        assert_eq!(result["verdict"], "verified", "{more:?}");
        assert_eq!((&result["states"], &result["digest"]), (&plain["states"], &plain["digest"]), "{more:?}");
    }
}

#[test]
fn what_is_proven_is_not_asked_by_ic3_and_induction() {
    for engine in ["kind", "ic3"] {
        let with = check_machine(APART, &["--engine", engine, "--proof-info", "all"]);
        let without = check_machine(APART, &["--engine", engine, "--proof-info", "off"]);
        assert_eq!((&with["verdict"], &without["verdict"]), (&"verified".into(), &"verified".into()));
        assert!(proven(&with)["saved"].as_u64() > Some(0), "{with:#}");
        assert_eq!(proven(&without)["saved"], 0);
        assert!(with["symbolic"]["queries"].as_u64() < without["symbolic"]["queries"].as_u64(), "{engine}");
    }
}

#[test]
fn a_violation_has_its_depth_whoever_is_believed() {
    // up breaks x < 3 only, after three steps; rest keeps everything.
    let text =
        "MACHINE M VARIABLES x, y INVARIANT x : NATURAL & y : BOOL & x < 3 INITIALISATION x, y := 0, TRUE
OPERATIONS up = x := x + 1; rest = y := bool(y = FALSE) END";
    for engine in ["bmc", "bmc-path", "kind", "ic3", "explicit"] {
        for info in ["off", "free", "own", "all"] {
            let result = check_machine(text, &["--engine", engine, "--proof-info", info]);
            assert_eq!(result["verdict"], "violated", "{engine} {info}");
            let trace = result["violation"]["trace"].as_array().expect("a trace");
            assert_eq!(trace.len(), 4, "{engine} {info}: {trace:?}");
        }
    }
}

#[test]
fn no_verdict_and_no_depth_depends_on_proofs_in_random_machines() {
    for seed in first_seed()..first_seed() + cases(2) {
        let folder = Folder::with_machine(&machines::random(seed).to_string());
        let run = |options: &[&str]| -> (Option<i32>, Value) {
            let more = ["--time-limit", "20", "--max-depth", "5"];
            let depth = if options.contains(&"bmc") { &more[..] } else { &more[..2] };
            let out = folder.check(&[options, depth].concat());
            (out.status.code(), if out.stdout.is_empty() { Value::Null } else { json(&out) })
        };
        for engine in ["explicit", "bmc", "kind", "ic3"] {
            let (plain, before) = run(&["--engine", engine, "--proof-info", "off"]);
            for more in [&["--proof-info", "all"][..], &["--proof-info", "all", "--paranoid"]] {
                let (status, after) = run(&[&["--engine", engine][..], more].concat());
                let decided = [plain, status].iter().all(|s| matches!(s, Some(0 | 1)));
                assert_ne!(status, Some(4), "seed {seed} {engine} {more:?}: {after:#}");
                if decided {
                    assert_eq!(plain, status, "seed {seed} {engine} {more:?}");
                    let length = |r: &Value| r["violation"]["trace"].as_array().map(Vec::len);
                    assert_eq!(length(&before), length(&after), "seed {seed} {engine} {more:?}");
                }
            }
        }
    }
}

/// A machine of Rodin with one variable and an event; `step` is what the event does.
fn project(step: &str, stamps: (u32, u32)) -> Folder {
    let folder = Folder::new();
    let core = "org.eventb.core";
    let bum = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<{core}.machineFile {core}.configuration="{core}.fwd" version="5">
<{core}.variable name="v" {core}.identifier="x"/>
<{core}.invariant name="i" {core}.label="inv1" {core}.predicate="x ∈ 0‥9"/>
<{core}.event name="e" {core}.convergence="0" {core}.extended="false" {core}.label="INITIALISATION">
<{core}.action name="a" {core}.assignment="x ≔ 0" {core}.label="act1"/></{core}.event>
<{core}.event name="f" {core}.convergence="0" {core}.extended="false" {core}.label="step">
<{core}.action name="a" {core}.assignment="{step}" {core}.label="act1"/></{core}.event>
</{core}.machineFile>"#
    );
    folder.write("M0.bum", &bum);
    folder.write(
        "M0.bpo",
        &format!(
            r#"<{core}.poFile><{core}.poSequent name="step/inv1/INV" {core}.poStamp="{}"/></{core}.poFile>"#,
            stamps.0
        ),
    );
    folder.write(
        "M0.bps",
        &format!(
            r#"<{core}.psFile><{core}.psStatus name="step/inv1/INV" {core}.confidence="1000" {core}.poStamp="{}"/></{core}.psFile>"#,
            stamps.1
        ),
    );
    folder
}

fn checked(folder: &Folder, more: &[&str]) -> Output {
    let model = folder.path("M0.bum");
    bombus()
        .arg("check")
        .arg(model)
        .args(["--json", "--progress", "off"])
        .args(more)
        .output()
        .expect("the binary runs")
}

#[test]
fn an_obligation_that_rodin_discharged_counts_if_its_stamp_is_that_of_the_obligation() {
    for (stamps, counted) in [((7, 7), 1), ((8, 7), 0)] {
        let folder = project("x ≔ (x+1) mod 10", stamps);
        for engine in ["kind", "ic3", "bmc-path", "explicit"] {
            let result = json(&checked(&folder, &["--engine", engine, "--proof-info", "rodin"]));
            assert_eq!(proven(&result)["rodin"], counted, "{engine}");
            let own = json(&checked(&folder, &["--engine", engine, "--proof-info", "own"]));
            assert_eq!((&proven(&own)["rodin"], &proven(&own)["own"]), (&0.into(), &1.into()), "{engine}");
        }
    }
}

#[test]
fn a_claim_that_is_false_is_an_internal_error_for_those_who_check_it() {
    // Somebody has marked the obligation as discharged that x+1 stays within 0..9.
    let folder = project("x ≔ x+1", (7, 7));
    for engine in ["kind", "ic3", "bmc", "bmc-path", "explicit"] {
        let output = checked(&folder, &["--engine", engine, "--proof-info", "rodin", "--paranoid"]);
        assert_eq!(output.status.code(), Some(4), "{engine}: {}", messages(&output));
        assert!(
            messages(&output).contains("a false claim (rodin): step is said to keep"),
            "{engine}: {}",
            messages(&output)
        );
        let output = checked(&folder, &["--engine", engine, "--proof-info", "own"]);
        assert_eq!(output.status.code(), Some(1), "{engine}: {}", messages(&output));
    }
    // Nobody is believed unasked, and what rests on Rodin says so.
    assert_eq!(json(&checked(&folder, &["--engine", "kind"]))["verdict"], "violated");
    let believed = json(&checked(&folder, &["--engine", "kind", "--proof-info", "rodin"]));
    assert_eq!(believed["verdict"], "verified");
    assert_eq!(proven(&believed)["rests_on_rodin"], true);
    let right = project("x ≔ (x+1) mod 10", (7, 7));
    let right = json(&checked(&right, &["--engine", "kind", "--proof-info", "rodin"]));
    assert_eq!(proven(&right)["rests_on_rodin"], false);
}

#[test]
fn engines_without_proofs_refuse_the_options() {
    for engine in ["evaluate", "reference", "bdd"] {
        for option in [&["--paranoid"][..], &["--proof-info", "all"]] {
            let folder = Folder::with_machine(APART);
            let output = folder.check(&[&["--engine", engine][..], option].concat());
            assert_eq!(output.status.code(), Some(2), "{engine}");
            assert!(messages(&output).contains(option[0]), "{}", messages(&output));
        }
    }
}
