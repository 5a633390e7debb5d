//! Temporal formulas as a user asks for them: through the binary, with verdicts, traces and messages.
//!
//! The machines are small enough to see the truth of each formula; "row" names the likely fault of a
//! checker that a test guards against.

use serde_json::Value;
use std::process::{Command, Output};

/// Runs a check of the machine with JSON on stdout.
fn check(machine: &str, args: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("M.mch");
    std::fs::write(&path, machine).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bombus"));
    command.current_dir(dir.path()).args(["check", "M.mch"]).args(args).arg("--json");
    command.output().expect("the binary runs")
}

fn json(o: &Output) -> Value {
    serde_json::from_slice(&o.stdout).unwrap_or_else(|_| panic!("no JSON: {}", messages(o)))
}

fn messages(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Checks all formulas in one run and compares the word of each verdict.
fn expect(machine: &str, options: &[&str], formulas: &[(&str, &str)]) -> Value {
    let mut args = options.to_vec();
    for (formula, _) in formulas {
        args.extend(["--ltl", formula]);
    }
    let o = check(machine, &args);
    let j = json(&o);
    for (i, (formula, word)) in formulas.iter().enumerate() {
        assert_eq!(j["temporal"][i]["formula"], *formula);
        assert_eq!(j["temporal"][i]["verdict"], *word, "{formula}: {}", messages(&o));
    }
    let violated = formulas.iter().any(|(_, word)| *word == "violated");
    let incomplete = formulas.iter().any(|(_, word)| *word == "incomplete");
    if j["violation"].is_null() {
        let status = if violated { 1 } else { 3 * i32::from(incomplete) };
        assert_eq!(o.status.code(), Some(status), "{}", messages(&o));
    } else {
        assert_eq!(o.status.code(), Some(1));
    }
    j
}

fn rejected(machine: &str, args: &[&str], words: &[&str]) {
    let o = check(machine, args);
    let err = messages(&o);
    assert_eq!(o.status.code(), Some(2), "{args:?}: {err}");
    assert!(o.stdout.is_empty());
    for word in words {
        assert!(err.contains(word), "{args:?}: {word:?} is not in\n{err}");
    }
}

const RING: &str = "MACHINE ring VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS next = x := (x + 1) mod 4 END";

const LINE: &str = "MACHINE line VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS inc = SELECT x < 3 THEN x := x + 1 END END";

#[test]
fn a_formula_that_holds_on_all_paths_leaves_the_run_verified() {
    let j = expect(RING, &[], &[("G F {x=0}", "holds"), ("G ({x=3} => X {x=0})", "holds")]);
    assert_eq!(j["verdict"], "verified");
    assert_eq!(j["violation"], Value::Null);
    assert!(j["seconds"]["temporal"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_lasso_shows_where_its_loop_starts_and_closes_it() {
    let j = expect(RING, &[], &[("F G {x=0}", "violated")]);
    assert_eq!(j["violation"]["kind"], "ltl");
    assert_eq!(j["violation"]["property"], "F G {x=0}");
    let trace = j["violation"]["trace"].as_array().unwrap();
    // The ring has four states, and the fifth step is the first state again.
    assert_eq!(trace.len(), 5);
    let start = j["violation"]["loop_start"].as_u64().unwrap() as usize;
    assert_eq!(start, 0);
    assert_eq!(trace[start]["state"], trace[4]["state"]);
    assert_eq!(trace[4]["event"], "next");
    let explanation = j["violation"]["explanation"].to_string();
    assert!(explanation.contains("F G {x=0}"), "{explanation}");
}

#[test]
fn the_step_that_sets_constants_up_moves_the_start_of_the_loop() {
    let machine =
        "MACHINE M CONSTANTS c PROPERTIES c = 2 VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0
OPERATIONS inc = SELECT x < c THEN x := x + 1 END; stay = SELECT x = c THEN skip END END";
    let j = expect(machine, &[], &[("G F {x < c}", "violated"), ("F {x = c}", "holds")]);
    let trace = j["violation"]["trace"].as_array().unwrap();
    let events: Vec<&str> = trace.iter().map(|s| s["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["$setup_constants", "$initialise_machine", "inc", "inc", "stay"]);
    assert_eq!(j["violation"]["loop_start"], 3);
    assert_eq!(trace[3]["state"], trace[4]["state"]);
}

/// Row 56: a path that ends in a deadlock is a path.
#[test]
fn a_finite_path_that_ends_in_a_deadlock_violates_an_eventuality() {
    let j = expect(LINE, &["--no-deadlock"], &[("F {x=9}", "violated"), ("F deadlock", "holds")]);
    assert_eq!(j["violation"]["kind"], "ltl");
    assert_eq!(j["violation"]["loop_start"], Value::Null);
    let trace = j["violation"]["trace"].as_array().unwrap();
    assert_eq!(trace.len(), 4);
    assert_eq!(trace[3]["state"]["x"], "3");
    assert!(j["violation"]["explanation"].to_string().contains("ends in a deadlock"));
}

#[test]
fn a_deadlock_stays_a_finding_beside_the_formulas() {
    let j = expect(LINE, &[], &[("F {x=3}", "holds"), ("F {x=9}", "violated")]);
    assert_eq!(j["violation"]["kind"], "deadlock");
    assert_eq!(j["found"]["deadlock"], 1);
    // The states behind a finding belong to the paths too.
    let unguarded = LINE.replace("x < 3", "x < 6");
    let j = expect(&unguarded, &[], &[("F {x=6}", "holds")]);
    assert_eq!(j["violation"]["kind"], "invariant");
    assert_eq!(j["states"], 7);
}

#[test]
fn assertions_of_the_model_are_checked_by_name() {
    let machine = "MACHINE M
DEFINITIONS ASSERT_LTL1 == \"G {x : 0..3}\"; ASSERT_LTL_never == \"F {x=9}\"; ASSERT_CTL == \"AG EF {x=0}\"
VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS next = x := (x + 1) mod 4 END";
    let o = check(machine, &["--ltl-assertions"]);
    assert_eq!(o.status.code(), Some(1));
    let j = json(&o);
    let verdicts: Vec<(&str, &str)> = j["temporal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["name"].as_str().unwrap(), t["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        verdicts,
        [("ASSERT_LTL1", "holds"), ("ASSERT_LTL_never", "violated"), ("ASSERT_CTL", "holds")]
    );
    assert!(messages(&o).contains("violated   ASSERT_LTL_never: F {x=9}"), "{}", messages(&o));
    // Row 62: a misspelt name must not pass for a checked property.
    rejected(RING, &["--ltl-assertions"], &["ASSERT_LTL"]);
    let wrong = machine.replace("F {x=9}", "F {y=9}");
    rejected(&wrong, &["--ltl-assertions"], &["M.mch:2:", "y", "^"]);
}

#[test]
fn ctl_formulas_hold_or_fail_in_the_initial_states() {
    let o = check(RING, &["--ctl", "AG EF {x=0}", "--ctl", "EF {x=3}"]);
    assert_eq!(o.status.code(), Some(0));
    assert_eq!(json(&o)["temporal"][0]["verdict"], "holds");
    let o = check(RING, &["--ctl", "AG {x<3}"]);
    assert_eq!(o.status.code(), Some(1));
    let j = json(&o);
    assert_eq!(j["temporal"][0]["verdict"], "violated");
    assert_eq!(j["violation"]["kind"], "ctl");
    let trace = j["violation"]["trace"].as_array().unwrap();
    assert_eq!(trace.last().unwrap()["state"]["x"], "3");
    let o = check(RING, &["--ctl", "EF {x=9}"]);
    assert_eq!(json(&o)["temporal"][0]["verdict"], "violated");
}

#[test]
fn a_file_has_one_formula_on_each_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.ltl");
    let name = path.display().to_string();
    std::fs::write(&path, "# comment\n\nG F {x=0}\n// comment\n  F {x=3}\n#v.({v : 0..3} & F {x=v})\n")
        .unwrap();
    let j = json(&check(RING, &["--ltl-file", &name]));
    assert_eq!(j["temporal"].as_array().unwrap().len(), 3);
    assert_eq!(j["verdict"], "verified");
    std::fs::write(&path, "# comment\nG F {x=0}\n  F {y=3}\n").unwrap();
    rejected(RING, &["--ltl-file", &name], &["f.ltl:3:6", "^"]);
    std::fs::write(&path, "# comment\n").unwrap();
    rejected(RING, &["--ltl-file", &name], &["no formula"]);
    rejected(RING, &["--ltl-file", "missing.ltl"], &["missing.ltl"]);
}

/// Row 62: what cannot be read or typed rejects the run before it starts.
#[test]
fn faults_of_a_formula_are_shown_with_a_caret() {
    for (formula, words) in [
        ("G ({x=0} => ", &["<ltl>:1:", "^"][..]),
        ("<> [] {x=0}", &["^", "no operation is named"]),
        ("G always_not {x=0}", &["^"]),
        ("G [nxt]", &["<ltl>:1:4", "no operation `nxt`", "did you mean `next`"]),
        ("SF(nowhere) => F {x=1}", &["no operation `nowhere`", "^"]),
        ("G ({x=0} => {y=1})", &["<ltl>:1:14", "^"]),
        ("G {x = TRUE}", &["^"]),
        ("G {x + 1}", &["predicate", "^"]),
        ("G {x = }", &["^"]),
        ("G [next(1)]", &["has 0 parameters", "^"]),
        ("F goal", &["no goal", "^"]),
        ("G increasing({{x}})", &["only numbers", "^"]),
    ] {
        rejected(RING, &["--ltl", formula], words);
    }
    rejected(RING, &["--ctl", "AG {x=0} <=> EF {x=1}"], &["^"]);
    rejected(RING, &["--ctl", "EX[nowhere] {x=0}"], &["no operation `nowhere`", "^"]);
    // The faults of all formulas are told at once.
    rejected(RING, &["--ltl", "G {y=1}", "--ltl", "F {z=1}"], &["y", "z"]);
}

#[test]
fn formulas_are_refused_where_there_are_no_states_to_look_at() {
    rejected(RING, &["--ltl", "F {x=0}", "--store", "hash"], &["--store exact"]);
    rejected(RING, &["--ltl", "F {x=0}", "--engine", "reference"], &["compiled engine"]);
}

/// Row 61: a limit must not make a formula true.
#[test]
fn an_incomplete_graph_refutes_but_never_proves() {
    let large = RING.replace("mod 4", "mod 400").replace("0..3", "0..399");
    let limit = ["--max-states", "10"];
    for formula in ["G F {x=0}", "F deadlock", "F {x=399}", "F {x=1}"] {
        let j = expect(&large, &limit, &[(formula, "incomplete")]);
        assert_eq!(j["verdict"], "incomplete");
        assert!(j["incomplete_because"].to_string().contains(formula));
    }
    let o = check(&large, &["--max-states", "10", "--ctl", "AG EF {x=0}"]);
    assert_eq!(o.status.code(), Some(3));
    let j = expect(&large, &limit, &[("G {x < 2}", "violated")]);
    assert_eq!(j["violation"]["trace"].as_array().unwrap().len(), 3);
    // SCOPE leaves states without their successors.
    let scoped = RING.replace("VARIABLES", "DEFINITIONS SCOPE == (x < 2) VARIABLES");
    expect(&scoped, &[], &[("G F {x=0}", "incomplete"), ("F deadlock", "incomplete")]);
}

#[test]
fn a_transition_that_fails_is_missing_and_proves_nothing() {
    let machine = LINE.replace("END END", "END; bad = SELECT x = 3 THEN x := 1 / (x - 3) END END");
    let j = expect(&machine, &[], &[("G {x : 0..3}", "incomplete"), ("F deadlock", "incomplete")]);
    assert_eq!(j["violation"]["kind"], "well-definedness");
}

#[test]
fn an_atom_that_is_undefined_somewhere_leaves_the_formula_undecided() {
    let j = expect(RING, &[], &[("G {6 / x > 0}", "incomplete"), ("G {x /= 0 => 6 / x > 0}", "holds")]);
    assert!(j["incomplete_because"].to_string().contains("could not be evaluated"));
}

/// Rows 57, 58 and 60: fairness counts transitions, and excludes the paths it should.
#[test]
fn fairness_is_about_transitions() {
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS a = SELECT x < 3 THEN x :: {x, x + 1} END; b = SELECT x = 3 THEN skip END END",
        &[],
        &[("WF(a) => F {x=3}", "violated"), ("GF changed({x}) => F {x=3}", "holds")],
    );
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0
         OPERATIONS a = x := (x + 1) mod 3; b = x :: 0..2 END",
        &[],
        &[("WF(a) => GF [a]", "holds"), ("GF [a]", "violated")],
    );
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 1..5 INITIALISATION x := 1
         OPERATIONS next = SELECT x < 5 THEN x := x + 1 END; stay = skip END",
        &[],
        &[("WF(next) => ({x=1} => F G {x=5})", "holds"), ("{x=1} => F G {x=5}", "violated")],
    );
}

/// Row 59: the verdict and the trace are the same for any number of workers.
#[test]
fn liveness_does_not_depend_on_the_number_of_workers() {
    let machine = "MACHINE M VARIABLES x, y INVARIANT x : 0..9 & y : 0..9 INITIALISATION x := 0 || y := 0
         OPERATIONS a = x := (x + 1) mod 10; b = y := (y + 1) mod 10 END";
    let run = |workers: &str| {
        let j = expect(machine, &["--workers", workers], &[("F {x=9 & y=9}", "violated")]);
        j["violation"].to_string()
    };
    let one = run("1");
    for workers in ["2", "4", "7"] {
        assert_eq!(run(workers), one);
    }
}

/// Rows 63 and 64.
#[test]
fn paths_begin_after_the_initialisation_and_constants_are_simplified() {
    let j = expect(
        RING,
        &[],
        &[
            ("G {x : 0..3}", "holds"),
            ("Y true", "violated"),
            ("G (false => F {x=9})", "holds"),
            ("G ({x=2} => Y {x=1})", "holds"),
            ("G true", "holds"),
        ],
    );
    assert_eq!(j["violation"]["property"], "Y true");
    assert_eq!(j["violation"]["trace"].as_array().unwrap().len(), 1);
}

const SETTER: &str = "MACHINE M SETS P = {p, q} VARIABLES x, seen INVARIANT x : 0..2 & seen : P
INITIALISATION x := 0 || seen := p
OPERATIONS set(v) = PRE v : 0..2 THEN x := v END; visit(w) = SELECT w : P & w /= seen THEN seen := w END;
  r <-- touch(a, b) = PRE a : 0..1 & b : BOOL THEN r := a END END";

#[test]
fn arguments_are_evaluated_in_the_source_state() {
    expect(
        SETTER,
        &[],
        &[
            ("G ([set(x)] => unchanged({x}))", "holds"),
            ("G ([set(x+1)] => X {x > 0})", "holds"),
            ("G not e(visit(seen))", "holds"),
            ("G (e(visit(p)) => {seen = q})", "holds"),
            ("G ([visit(q)] => X {seen = p})", "violated"),
            ("G controller(visit(p), visit(q))", "holds"),
            ("G deterministic(set(0), set(1))", "violated"),
            ("WEF => GF [visit(p)]", "holds"),
            ("SF(set) => GF [set(1)]", "violated"),
            ("G (increasing({x}) => [set])", "holds"),
            ("G ([set] => BA({x = x$0 or x /= x$0}))", "holds"),
            ("G BA({x >= x$0})", "violated"),
            ("G (e(touch(1,TRUE)) & not e(touch(2)))", "holds"),
        ],
    );
    rejected(SETTER, &["--ltl", "G not [set(p)]"], &["^"]);
    // The trace shows the arguments that violate the formula, though others lead to the same state.
    let j = expect(SETTER, &[], &[("G not [touch(1,FALSE)]", "violated")]);
    let last = j["violation"]["trace"].as_array().unwrap().iter().find(|s| s["event"] == "touch").unwrap();
    assert_eq!((&last["params"]["a"], &last["params"]["b"]), (&Value::from("1"), &Value::from("FALSE")));
    assert_eq!(last["results"]["r"], "1");
}

#[test]
fn quantified_variables_take_the_values_of_their_domain() {
    expect(
        SETTER,
        &[],
        &[
            ("!v.({v : 0..2} => G ([set(v)] => X {x=v}))", "holds"),
            ("!v.({v : 0..2} => F {x=v})", "violated"),
            ("#w.({w : P} & {seen = w})", "holds"),
            ("#v.({v : 5..4} & true)", "violated"),
            ("!v.({v : 0..1} => #w.({w : 0..2 & w > v} & G ([set(w)] => X {x > v})))", "holds"),
        ],
    );
    rejected(SETTER, &["--ltl", "!v.({v : 0..2} => G {v = TRUE})"], &["^"]);
    rejected(SETTER, &["--ltl", "!v.({v : nothing} => G {v = 1})"], &["<ltl>:1:10", "^"]);
}
