//! What belongs to the label of a step, what a precondition may say, and which finding is shown.
//!
//! Figures follow from the models by hand, and hold in every engine.

use crate::support::binary::{Folder, json};
use serde_json::Value;
use std::process::Output;

const ENGINES: [&[&str]; 3] = [&[], &["--no-native"], &["--engine", "evaluate"]];

fn output(text: &str, options: &[&str]) -> Output {
    Folder::with_machine(text).check(options)
}

/// Calls `see` with the result and the exit status of every engine.
fn everywhere(text: &str, options: &[&str], see: impl Fn(&Value, i32)) {
    for engine in ENGINES {
        let out = output(text, &[engine, options].concat());
        see(&json(&out), out.status.code().expect("an exit status"));
    }
}

fn counts(j: &Value) -> String {
    format!("{} {}/{}", j["verdict"], j["prob"]["states"], j["prob"]["transitions"]).replace('"', "")
}

#[test]
fn the_values_of_an_outermost_any_belong_to_the_label_if_the_model_says_so() {
    let model = |definitions: &str, more: &str| {
        format!(
            "MACHINE M {definitions} VARIABLES x INVARIANT x:0..2 INITIALISATION x:=0 \
             OPERATIONS turn = ANY k, b WHERE k:1..4 & b:BOOL THEN x:=(x+1) mod 3 END {more} END"
        )
    };
    let said = "DEFINITIONS SET_PREF_SHOW_EVENTB_ANY_VALUES == TRUE";
    // One step from each of three states and the initialisation, or eight steps from each.
    everywhere(&model("", ""), &[], |j, _| assert_eq!(counts(j), "verified 3/4"));
    everywhere(&model(said, ""), &[], |j, _| assert_eq!(counts(j), "verified 3/25"));
    // An operation with parameters is not changed, nor is an ANY behind something else.
    let more = "; with(p) = PRE p:0..1 THEN ANY k WHERE k:1..4 THEN x:=0 END END; \
                inner = BEGIN skip; ANY k WHERE k:1..4 THEN x:=0 END END";
    everywhere(&model(said, more), &[], |j, _| assert_eq!(counts(j), "verified 3/34"));
}

#[test]
fn an_output_may_be_typed_in_the_precondition() {
    let model = |pre: &str| {
        format!(
            "MACHINE M VARIABLES z INVARIANT z:0..1 INITIALISATION z:=0 \
             OPERATIONS r, q <-- get(v) = PRE v:0..2 & {pre} THEN r:=v || q:={{z}} END END"
        )
    };
    for pre in ["r:INT", "r:0..9 & q<:NATURAL", "(r,q) : INT*POW(INT)", "r:NATURAL & (v=0 or v>0)"] {
        everywhere(&model(pre), &[], |j, status| {
            assert_eq!((counts(j), status), ("verified 1/4".to_string(), 0), "{pre}");
            assert!(j["warnings"].to_string().contains("the output `r`"), "{}", j["warnings"]);
        });
    }
    for pre in ["r>0", "r=v", "v:0..r", "r:{z} & not(r=3)"] {
        let out = output(&model(pre), &[]);
        assert_eq!(out.status.code(), Some(2), "{pre}");
        let words = String::from_utf8_lossy(&out.stderr).to_string();
        assert!(words.contains("the output `r`, which has no value"), "{words}");
    }
}

#[test]
fn a_finding_that_may_rest_on_a_stand_in_is_no_counterexample() {
    let model = |invariant: &str| {
        format!(
            "MACHINE M DEFINITIONS EXTERNAL_FUNCTION_TABLE_OF == STRING --> (NATURAL <-> NATURAL); \
             TABLE_OF(name) == {{1|->2}} CONSTANTS t PROPERTIES t = TABLE_OF(\"x\") VARIABLES x INVARIANT {invariant} \
             INITIALISATION x:=1 OPERATIONS op = skip END"
        )
    };
    for invariant in ["x /: dom(t)", "x : dom(t)"] {
        everywhere(&model(invariant), &[], |j, status| {
            assert_eq!((&j["verdict"], status), (&Value::from("incomplete"), 3), "{invariant}");
            let why = j["incomplete_because"].to_string();
            assert!(why.contains("`TABLE_OF` is not provided"), "{why}");
        });
    }
}

#[test]
fn every_engine_shows_a_shortest_trace_also_of_what_is_found_in_a_step() {
    // From x=0 a step leads to x=5, which breaks the invariant at depth 1; in the other initial state a step has no
    // value, at depth 0.
    let text = "MACHINE M VARIABLES x INVARIANT x:0..4 INITIALISATION x::{0,4} OPERATIONS \
                bad = SELECT x=0 THEN x:=5 END; undefined = SELECT x=4 THEN x:=1/(4-x) END END";
    everywhere(text, &[], |j, _| {
        assert_eq!(j["violation"]["kind"], "well-definedness");
        let trace = j["violation"]["trace"].as_array().expect("a trace");
        assert_eq!(trace.len(), 1, "{trace:?}");
    });
}

#[test]
fn the_label_of_an_assert_says_nothing_of_its_kind() {
    let text = "MACHINE M VARIABLES x INVARIANT x:0..1 INITIALISATION x:=0 OPERATIONS \
                op = ASSERT /*@label refinement: a*/ x=1 THEN skip END; \
                pq = ASSERT /*@label variant: b*/ x=0 THEN skip END END";
    everywhere(text, &[], |j, _| {
        assert_eq!(j["violation"]["kind"], "assertion", "{}", j["violation"]);
        assert!(j["violation"].to_string().contains("refinement: a"), "{}", j["violation"]);
    });
}

#[test]
fn bounds_of_the_integers_in_the_wrong_order_are_named() {
    let text = "MACHINE M VARIABLES x INVARIANT x:0..1 INITIALISATION x:=0 OPERATIONS op = skip END";
    let out = output(text, &["--minint", "5", "--maxint", "3"]);
    assert_eq!(out.status.code(), Some(2));
    let words = String::from_utf8_lossy(&out.stderr).to_string();
    assert!(words.contains("--minint 5 is greater than --maxint 3"), "{words}");
}
