//! Ways in which a checker of B can lie, each as the smallest model that shows it (rows 33 to 47 of the list
//! of failure modes; rows 29 to 38 on systems written by hand stand in `src/explore/reliability_tests.rs`).
//!
//! Every model goes through both engines, and through all orders with several workers.

use crate::support::binary::{Folder, json};
use serde_json::Value;

struct Checked {
    status: Option<i32>,
    result: Value,
    engine: String,
}

/// Checks a model in every way there is; extra files stand beside it.
fn every_way(model: &str, files: &[(&str, &str)], options: &[&str]) -> Vec<Checked> {
    let folder = Folder::with_machine(model);
    for (name, text) in files {
        folder.write(name, text);
    }
    let ways: [&[&str]; 6] = [
        &["--engine", "evaluate"],
        &["--workers", "1"],
        &["--workers", "2"],
        &["--workers", "16"],
        &["--workers", "2", "--order", "dfs"],
        &["--workers", "3", "--order", "mixed"],
    ];
    let one = |way: &[&str]| {
        let out = folder.check(&[options, way].concat());
        Checked { status: out.status.code(), result: json(&out), engine: format!("{way:?}") }
    };
    ways.map(one).into()
}

/// `states` only where the search sees everything: orders without levels stop where they are.
fn expect(model: &str, options: &[&str], status: i32, kind: &str, states: Option<u64>) -> Vec<Checked> {
    expect_with(model, &[], options, status, kind, states)
}

fn expect_with(
    model: &str,
    files: &[(&str, &str)],
    options: &[&str],
    status: i32,
    kind: &str,
    states: Option<u64>,
) -> Vec<Checked> {
    let all = every_way(model, files, options);
    for c in &all {
        assert_eq!(c.status, Some(status), "{}: {}", c.engine, c.result);
        let found = c.result["violation"]["kind"].as_str().unwrap_or("");
        assert_eq!(found, kind, "{}: {}", c.engine, c.result);
        if let Some(states) = states {
            assert_eq!(c.result["states"], states, "{}", c.engine);
        }
    }
    all
}

fn counter(invariant: &str, operations: &str) -> String {
    format!("MACHINE m VARIABLES x INVARIANT {invariant} INITIALISATION x := 0 OPERATIONS {operations} END")
}

const STEP: &str = "step = PRE x < 9 THEN x := x + 1 END; back = BEGIN x := 0 END";

/// Row 33: an expression without a value in one state, in the middle and at the very beginning.
#[test]
fn an_undefined_expression_in_one_state_is_never_a_success() {
    expect(&counter("x : NATURAL & (x = 5 => 10 / (x - 5) > 0)", STEP), &[], 1, "well-definedness", None);
    expect(&counter("x : NATURAL & 10 / x > 0", STEP), &[], 1, "well-definedness", None);
    expect(&counter("x : NATURAL", "go = BEGIN x := 10 / (3 - x) END"), &[], 1, "well-definedness", None);
    let property = "MACHINE m CONSTANTS c PROPERTIES c = 1 / 0 VARIABLES x INVARIANT x : NATURAL
        INITIALISATION x := c OPERATIONS go = skip END";
    expect(property, &[], 1, "well-definedness", None);
}

/// Row 35: two bad states, the search goes on, and still it fails; both are counted.
#[test]
fn keeping_going_does_not_end_in_success() {
    let model = counter("x : NATURAL & x /= 4 & x /= 7", STEP);
    for c in expect(&model, &["--keep-going"], 1, "invariant", Some(10)) {
        assert_eq!(c.result["found"]["invariant"], 2, "{}", c.engine);
    }
}

/// Row 37: ProB's limits on operations and initialisations do not exist here; our own are told.
#[test]
fn no_limit_cuts_in_silence() {
    let model = "MACHINE m DEFINITIONS SET_PREF_MAX_OPERATIONS == 2; SET_PREF_MAX_INITIALISATIONS == 2
        VARIABLES x INVARIANT x : 0..6 INITIALISATION x :: 0..3
        OPERATIONS set(v) = PRE v : 0..6 THEN x := v END END";
    for c in expect(model, &[], 0, "", Some(7)) {
        assert_eq!((&c.result["initial"], &c.result["transitions"]), (&4.into(), &49.into()), "{}", c.engine);
    }
    for c in expect(model, &["--max-states", "5"], 3, "", None) {
        assert_eq!(c.result["incomplete_because"].as_array().unwrap().len(), 1, "{}", c.engine);
    }
}

/// Row 42: `InitViol`, with a trace of no event.
#[test]
fn the_invariant_is_checked_in_initial_states() {
    for c in expect(&counter("x : 1..5", "go = BEGIN x := 1 END"), &[], 1, "invariant", None) {
        let trace = c.result["violation"]["trace"].as_array().unwrap();
        assert_eq!(trace.len(), 1, "{}", c.engine);
        assert_eq!(trace[0]["event"], "$initialise_machine");
    }
}

/// Row 43: a conjunct about `y` fails though the events that are looked at do not write `y`.
#[test]
fn a_conjunct_is_not_skipped_where_it_can_fail() {
    // By one of the initial states, behind which nothing writes y.
    let initial =
        "MACHINE m VARIABLES x, y INVARIANT x : 0..3 & y : 0..1 & y < 1 INITIALISATION x := 0 || y :: 0..1
        OPERATIONS go = BEGIN x := (x + 1) mod 4 END END";
    for c in expect(initial, &["--keep-going"], 1, "invariant", Some(8)) {
        assert_eq!(
            c.result["found"]["invariant"], 4,
            "every state with y = 1, not the first alone: {}",
            c.engine
        );
    }
    // By a constant.
    let constant = "MACHINE m CONSTANTS c PROPERTIES c : 0..2 VARIABLES x INVARIANT x : 0..3 & c < 2
        INITIALISATION x := 0 OPERATIONS go = BEGIN x := (x + 1) mod 4 END END";
    for c in expect(constant, &["--keep-going"], 1, "invariant", Some(12)) {
        assert_eq!(c.result["found"]["invariant"], 4, "{}", c.engine);
    }
    // By an operation that writes it through a call.
    let included = "MACHINE inner VARIABLES y INVARIANT y : 0..9 INITIALISATION y := 0
        OPERATIONS raise = BEGIN y := (y + 1) mod 10 END END";
    let outer = "MACHINE m INCLUDES inner VARIABLES x INVARIANT x : 0..1 & y < 3 INITIALISATION x := 0
        OPERATIONS flip = BEGIN x := 1 - x END; call = BEGIN raise END END";
    for c in expect_with(outer, &[("inner.mch", included)], &[], 1, "invariant", None) {
        if c.engine.contains("dfs") || c.engine.contains("mixed") {
            continue;
        }
        let trace = c.result["violation"]["trace"].as_array().unwrap();
        assert_eq!(trace.len(), 4, "three calls: {}", c.engine);
    }
}

/// Row 44: what a guard reads through a definition, a constant function, a LET or a seen machine.
#[test]
fn a_guard_sees_what_it_reads_indirectly() {
    let guards = [
        ("DEFINITIONS g == (y > 0)", "", "g"),
        ("DEFINITIONS g(v) == (v > 0); h == g(y)", "", "h"),
        ("CONSTANTS f PROPERTIES f = %v.(v : 0..1 | v)", "", "f(y) = 1"),
        ("CONSTANTS f PROPERTIES f = {0 |-> FALSE, 1 |-> TRUE}", "", "f(y) = TRUE"),
        ("", "", "#v.(v = y & v > 0)"),
        ("", "SEES seen", "y > zero"),
        ("", "", "{v | v : 0..3 & v < y} /= {}"),
    ];
    let seen = "MACHINE seen CONSTANTS zero PROPERTIES zero = 0 END";
    for (clause, sees, guard) in guards {
        // (0,0) → (0,1) → (1,1): the event is enabled only after the other one.
        let model = format!(
            "MACHINE m {sees} {clause} VARIABLES x, y INVARIANT x : 0..1 & y : 0..1 INITIALISATION x, y := 0, 0
             OPERATIONS one = SELECT {guard} & x = 0 THEN x := 1 END; two = BEGIN y := 1 END END"
        );
        for c in expect_with(&model, &[("seen.mch", seen)], &[], 0, "", Some(3)) {
            assert_eq!(c.result["events"]["one"]["states"], 1, "{guard}: {}", c.engine);
        }
    }
    let by_let = "MACHINE m VARIABLES x, y INVARIANT x : 0..2 & y : 0..1 INITIALISATION x, y := 0, 0
        OPERATIONS one = LET v BE v = y IN SELECT v > 0 & x = 0 THEN x := 1 END END; two = BEGIN y := 1 END END";
    expect(by_let, &[], 0, "", Some(3));
}

/// Row 45: what disables and what does not.
#[test]
fn a_deadlock_is_a_state_in_which_nothing_is_enabled() {
    let guarded = ["PRE x < 4 THEN x := x + 1 END", "SELECT x < 4 THEN x := x + 1 END"];
    for body in guarded {
        // Five states; x = 4 is stuck.
        let model = counter("x : 0..9", &format!("go = {body}"));
        for c in expect(&model, &[], 1, "deadlock", Some(5)) {
            let trace = c.result["violation"]["trace"].as_array().unwrap();
            assert_eq!(trace.last().unwrap()["state"]["x"], "4", "{}", c.engine);
        }
    }
    expect(&counter("x : 0..9", "go = IF x < 4 THEN x := x + 1 END"), &[], 0, "", Some(5));
    expect(&counter("x : 0..9", "go = SELECT x < 4 THEN x := x + 1 END; idle = skip"), &[], 0, "", Some(5));
    expect(&counter("x : 0..9", "go(p) = PRE p : 1..x THEN x := p END"), &[], 1, "deadlock", Some(1));
    expect(&counter("x : 0..9", "go = ANY p WHERE p : 1..x THEN x := p END"), &[], 1, "deadlock", Some(1));
    // An action without a value is a finding of its own, not a disabled event.
    expect(&counter("x : 0..9", "go = BEGIN x := 1 / x END"), &[], 1, "well-definedness", Some(1));
}

/// Row 46: the precondition of a called operation is an obligation, not a guard.
#[test]
fn a_false_precondition_of_a_called_operation_is_a_finding() {
    let inner = "MACHINE inner VARIABLES y INVARIANT y : 0..9 INITIALISATION y := 0
        OPERATIONS raise = PRE y < 2 THEN y := y + 1 END END";
    let outer = "MACHINE m INCLUDES inner OPERATIONS go = BEGIN raise END; stay = skip END";
    expect_with(outer, &[("inner.mch", inner)], &[], 1, "precondition", Some(3));
}

/// Row 47: an action without an outcome makes no transition.
#[test]
fn an_action_that_is_not_feasible_is_no_transition() {
    for action in
        ["x : (x : 0..9 & x > 5 & x < 3)", "x :: {}", "ANY v WHERE v : 0..9 & v > 5 & v < 3 THEN x := v END"]
    {
        for c in expect(&counter("x : 0..9", &format!("go = {action}")), &[], 1, "deadlock", Some(1)) {
            assert_eq!(c.result["transitions"], 0, "{action}: {}", c.engine);
        }
    }
}

/// Row 68: a finding about constants alone comes with the constants that show it.
#[test]
fn a_false_assertion_about_constants_names_the_constants() {
    let model = "MACHINE m CONSTANTS c PROPERTIES c : 0..2 ASSERTIONS c < 2 OPERATIONS a = skip END";
    for c in expect(model, &[], 1, "assertion", None) {
        assert_eq!(c.result["violation"]["trace"][0]["state"]["c"], "2", "{}: {}", c.engine, c.result);
    }
    let model =
        "MACHINE m CONSTANTS c PROPERTIES c : 0..2 ASSERTIONS 1 / (c - 1) < 2 OPERATIONS a = skip END";
    for c in expect(model, &[], 1, "well-definedness", None) {
        assert_eq!(c.result["violation"]["trace"][0]["state"]["c"], "1", "{}: {}", c.engine, c.result);
    }
}
