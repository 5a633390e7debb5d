//! Temporal formulas as a user asks for them: through the binary, with verdicts, traces and messages.
//!
//! The machines are small enough to see the truth of each formula; "row" names the likely fault of a
//! checker that a test guards against.

use crate::support::binary::{Folder, json, messages};
use serde_json::Value;
use std::process::Output;

/// Runs a check of the machine with JSON on stdout.
fn check(machine: &str, args: &[&str]) -> Output {
    Folder::with_machine(machine).check(args)
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
    // Programs read that nothing was checked, and why; no verdict on the model stands there.
    assert!(o.stdout.is_empty() || json(&o)["verdict"] == "rejected");
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

/// Two steps wait in the state; the prefix and the loop must take the same one for the prefix to vanish.
#[test]
fn a_loop_that_waits_in_a_state_is_entered_at_once_however_many_steps_wait_there() {
    let text = "MACHINE Waits VARIABLES s INVARIANT s : 0..2 INITIALISATION s := 2 OPERATIONS
        a(p) = PRE p : 0..1 THEN ANY t WHERE t : {2 |-> 0 |-> 2, 0 |-> 1 |-> 1, 0 |-> 1 |-> 2, 2 |-> 1 |-> 2}[{s |-> p}]
            THEN s := t END END;
        c = ANY t WHERE s |-> t : {0 |-> 2, 2 |-> 2, 2 |-> 0} THEN s := t END END";
    for formula in ["G F {s = 1}", "G ({s = 2} => F {s = 1})"] {
        let j = expect(text, &["--no-deadlock"], &[(formula, "violated")]);
        assert_eq!(j["violation"]["loop_start"], 0, "{formula}");
        assert_eq!(j["violation"]["trace"].as_array().unwrap().len(), 2, "{formula}: {j}");
    }
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
    for misspelt in
        ["ASERT_LTL_never", "ASSERT_LTl_never", "Assert_LTL_never", "ASSERT_LTK_never", "ASSERTLTL"]
    {
        let wrong = machine.replace("ASSERT_LTL_never", misspelt);
        rejected(&wrong, &["--ltl-assertions"], &["M.mch:2:", misspelt, "^"]);
        // Who does not ask for assertions is not bothered.
        assert_eq!(check(&wrong, &[]).status.code(), Some(0));
    }
    let other = machine.replace("ASSERT_LTL_never", "OLD_ASSERT_LTL_never");
    assert_eq!(check(&other, &["--ltl-assertions"]).status.code(), Some(0));
    let no_text = machine.replace("\"F {x=9}\"", "9");
    rejected(&no_text, &["--ltl-assertions"], &["M.mch:2:", "is no string", "^"]);
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
    rejected(RING, &["--ltl", "F {x=0}", "--engine", "evaluate"], &["explicit and bdd"]);
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

/// Row 57: a step that leaves the state as it is is a step, so it satisfies fairness; whoever means
/// changes says so.
#[test]
fn a_step_without_a_change_satisfies_fairness() {
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS a = SELECT x < 3 THEN x :: {x, x + 1} END; b = SELECT x = 3 THEN skip END END",
        &[],
        &[
            ("WF(a) => F {x=3}", "violated"),
            ("SF(a) => F {x=3}", "violated"),
            ("GF changed({x}) => F {x=3}", "holds"),
        ],
    );
}

/// Row 58: the loop must take a transition of the operation; states that look as if it had do not do.
#[test]
fn fairness_looks_at_transitions_not_at_states() {
    expect(
        "MACHINE M VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0
         OPERATIONS a = x := (x + 1) mod 3; b = x :: 0..2 END",
        &[],
        &[("WF(a) => GF [a]", "holds"), ("GF [a]", "violated"), ("WF(a) => GF {x=1}", "violated")],
    );
}

/// Row 60: a prefix that no fair path goes on from as it does is no counterexample.
#[test]
fn a_prefix_that_fairness_excludes_is_no_counterexample() {
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

/// Row 63: position 0 is an initialised state, and nothing was before it.
#[test]
fn paths_begin_after_the_initialisation() {
    let machine =
        RING.replace("x := 0", "x :: 1..2").replace("VARIABLES", "CONSTANTS c PROPERTIES c = 1 VARIABLES");
    let j = expect(
        &machine,
        &[],
        &[
            ("G {x : 0..3}", "holds"),
            ("{x : 1..2}", "holds"),
            ("Y true", "violated"),
            ("H {x : 1..2}", "holds"),
            ("G ({x=0} => Y {x=3})", "holds"),
            ("X Y {x : 1..2}", "holds"),
        ],
    );
    assert_eq!(j["violation"]["property"], "Y true");
    let trace = j["violation"]["trace"].as_array().unwrap();
    let events: Vec<&str> = trace.iter().map(|s| s["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["$setup_constants", "$initialise_machine"]);
}

/// Row 64: a constant inside a formula neither hides nor invents a violation.
#[test]
fn constants_inside_a_formula_are_simplified_soundly() {
    expect(
        RING,
        &[],
        &[
            ("G (false => F {x=9})", "holds"),
            ("G ({1=2} => F {x=9})", "holds"),
            ("G true", "holds"),
            ("F false", "violated"),
            ("G (true => F {x=3})", "holds"),
            ("G not (false U {x=9})", "holds"),
            ("X true", "holds"),
        ],
    );
    // The only state of a machine without operations has no next one.
    expect(
        "MACHINE M VARIABLES x INVARIANT x = 0 INITIALISATION x := 0 END",
        &["--no-deadlock"],
        &[("X true", "violated"), ("G true", "holds"), ("not X false", "holds")],
    );
}

/// A formula that says no more than what each state has to be needs no graph: the search ends at the end
/// of the level in which it is violated, with a shortest path.
#[test]
fn what_every_state_has_to_be_is_decided_while_exploring() {
    let large = RING.replace("mod 4", "mod 40000").replace("0..3", "0..39999");
    for workers in ["1", "2"] {
        let j = expect(&large, &["--workers", workers], &[("G {x < 5}", "violated")]);
        assert_eq!(j["states"], 6);
        assert_eq!(j["violation"]["kind"], "ltl");
        assert_eq!(j["violation"]["property"], "G {x < 5}");
        assert_eq!(j["violation"]["trace"].as_array().unwrap().len(), 6);
        // The other formula is still open after the first.
        let both = [("G {x < 5}", "violated"), ("not F {x = 8}", "violated"), ("G {x < 9}", "violated")];
        let j = expect(&large, &["--workers", workers], &both);
        assert_eq!(j["states"], 10);
        let both = [("G ({x < 5} or {x > 4})", "holds"), ("G ({x /= 3} & {x < 5})", "violated")];
        assert_eq!(expect(&large, &["--workers", workers], &both)["states"], 40_000);
    }
    // Findings of the model itself do not end the search while a formula is open.
    let broken = large.replace("x : 0..39999", "x < 3");
    let j = expect(&broken, &[], &[("G {x < 5}", "violated")]);
    assert_eq!((j["violation"]["kind"].as_str(), j["states"].as_u64()), (Some("invariant"), Some(6)));
    // Without the graph the hash store is enough.
    expect(RING, &["--store", "hash"], &[("G {x < 4}", "holds"), ("G {x < 3}", "violated")]);
    // The graph gives the same answers.
    let formulas = [("G {x < 3}", "violated"), ("G {x < 4}", "holds"), ("G F {x = 0}", "holds")];
    let j = expect(RING, &[], &formulas);
    assert_eq!(j["violation"]["trace"].as_array().unwrap().len(), 4);
}

/// Row 62: the result says how many of the properties that were asked for were decided.
#[test]
fn the_result_counts_the_properties_that_were_checked() {
    let o = check(RING, &["--ltl", "G F {x=0}", "--ltl", "F {x=9}", "--ctl", "AG EF {x=0}"]);
    assert!(messages(&o).contains("3 of 3 properties checked"), "{}", messages(&o));
    let o = check(RING, &["--ltl", "G F {x=0}", "--ltl", "G {6 / x > 0}"]);
    assert!(messages(&o).contains("1 of 2 properties checked"), "{}", messages(&o));
}

/// The tableau of the paper gives the same answers as the automaton.
#[test]
fn both_engines_give_the_same_verdicts() {
    let formulas = [
        ("G F {x=0}", "holds"),
        ("G {x < 3}", "violated"),
        ("F G {x=0}", "violated"),
        ("SF(next) => GF {x=1}", "holds"),
    ];
    for engine in ["automaton", "tableau"] {
        expect(RING, &["--ltl-engine", engine], &formulas);
    }
}

/// A file may define patterns, which its formulas use.
#[test]
fn patterns_of_a_file_are_expanded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("patterns.ltl");
    let name = path.display().to_string();
    let text = "def response(p, q): G (p => F q)\n\
                def visits(n:num, p):\n  var r: p\n  count i: 2 up to n:\n    r: p & X F r\n  end\n  F r\n\
                response({x=1}, {x=0})\nvisits(3, {x=2})\nvisits(2, {x=9})\n";
    std::fs::write(&path, text).unwrap();
    let j = json(&check(RING, &["--ltl-file", &name]));
    let verdicts: Vec<(&str, &str)> = j["temporal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["formula"].as_str().unwrap(), t["verdict"].as_str().unwrap()))
        .collect();
    let expected = [
        ("response({x=1}, {x=0})", "holds"),
        ("visits(3, {x=2})", "holds"),
        ("visits(2, {x=9})", "violated"),
    ];
    assert_eq!(verdicts, expected);
    std::fs::write(&path, "def f(p): G p\nf({x=1}, {x=2})\n").unwrap();
    rejected(RING, &["--ltl-file", &name], &["patterns.ltl:2:1", "no pattern `f` has 2 parameters", "^"]);
    // A fault inside shows the formula as it was expanded.
    std::fs::write(&path, "def f(p): G p\nf({y=1})\n").unwrap();
    rejected(RING, &["--ltl-file", &name], &["f({y=1})", "(G ({y=1}))", "^"]);
}

/// Facts about a state that are no predicate of B.
#[test]
fn special_atoms_have_their_meaning() {
    let machine = "MACHINE M VARIABLES x INVARIANT x : 0..4 INITIALISATION x := 0
OPERATIONS
  inc = SELECT x < 3 THEN x := x + 1 END;
  r <-- ask = SELECT x = 1 THEN r :: {0, 1} END;
  r <-- get(n) = SELECT x = 2 & n : 0..1 THEN r := n END;
  wait = SELECT x = 3 THEN skip END;
  bad = SELECT x = 3 THEN x := 1 / (x - 3) END
END";
    expect(
        machine,
        &[],
        &[
            ("G (det_output => {x = 1})", "incomplete"),
            ("X not det_output", "violated"),
            ("not det_output & current & not error", "incomplete"),
            ("X current", "violated"),
            ("G not error", "violated"),
        ],
    );
    let whole = machine.replace("1 / (x - 3)", "4");
    expect(
        &whole,
        &[],
        &[
            ("G (det_output => {x = 1})", "holds"),
            ("G ({x = 1} => det_output)", "holds"),
            ("G (current => {x = 0})", "holds"),
            ("current", "holds"),
            ("G not error", "holds"),
            ("G (sink => {x = 3 or x = 4})", "holds"),
            ("F sink", "violated"),
        ],
    );
    let o = check(&whole, &["--ctl", "AG (det_output => {x = 1})", "--ctl", "AG (non_det => {x < 4})"]);
    let j = json(&o);
    assert_eq!(j["temporal"][0]["verdict"], "holds");
    assert_eq!(j["temporal"][1]["verdict"], "holds");
    assert!(messages(&check(&whole, &["--ltl", "current"])).contains("initial states"));
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

#[test]
fn a_predicate_that_must_always_hold_is_looked_at_where_no_invariant_has_to_be() {
    // The invariant says no more than the type, or speaks of another variable than the event changes.
    let typed = "MACHINE M SETS S = {a, b} VARIABLES p INVARIANT p : S INITIALISATION p := a
OPERATIONS set(x) = PRE x : S THEN p := x END END";
    expect(typed, &[], &[("G {p = a}", "violated")]);
    expect(typed, &["--workers", "2", "--no-invariant"], &[("G {p = a}", "violated")]);
    let apart =
        "MACHINE M VARIABLES p, q INVARIANT p : 0..3 & q : 0..3 & q < 1 INITIALISATION p := 0 || q := 0
OPERATIONS up = SELECT p < 3 THEN p := p + 1 END; down = SELECT p = 3 THEN p := 0 END END";
    expect(apart, &[], &[("G {p < 2}", "violated"), ("G {q < 2}", "holds")]);
    // Constants differ from one initial state to the next.
    let constant = "MACHINE M SETS S = {a, b} CONSTANTS c PROPERTIES c : S VARIABLES p INVARIANT p : S INITIALISATION p := a
OPERATIONS set(x) = PRE x : S THEN p := x END END";
    expect(constant, &[], &[("G {c = a}", "violated"), ("G {c = b}", "violated"), ("G {c : S}", "holds")]);
}

#[test]
fn every_state_is_looked_at_where_the_invariant_asks_for_nothing() {
    // The layout of the states promises the whole invariant, so none of it is evaluated.
    let typed = "MACHINE typed SETS S = {a, b} VARIABLES x INVARIANT x <: S INITIALISATION x := {}
OPERATIONS put(e) = SELECT e : S - x THEN x := x \\/ {e} END END";
    for machine in [typed, &typed.replace("x <: S", "x : POW(S)")] {
        for (f, word) in [
            ("G {x = S}", "violated"),
            ("G {x /= S}", "violated"),
            ("G false", "violated"),
            ("not F {card(x) = 1}", "violated"),
            ("G {x <: S}", "holds"),
        ] {
            for options in [&["--no-deadlock"][..], &["--no-deadlock", "--no-invariant"]] {
                expect(machine, options, &[(f, word)]);
            }
        }
    }
}

#[test]
fn fairness_that_cannot_be_evaluated_excludes_no_path() {
    let machine = "MACHINE m VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
OPERATIONS a(n) = SELECT n : 0..1 & x = 0 THEN skip END; b = SELECT x = 0 THEN x := 1 END;
  c = SELECT x = 1 THEN skip END END";
    for (f, word) in [
        ("WF(a(7)) => F {x = 1}", "violated"),
        ("WF(a(1 / x)) => F {x = 1}", "incomplete"),
        ("SF(a(1 / x)) => F {x = 1}", "incomplete"),
        ("WF(b) => F {x = 1}", "holds"),
    ] {
        expect(machine, &[], &[(f, word)]);
    }
}

#[test]
fn where_a_formula_names_an_element_all_constants_are_tried() {
    let machine = "MACHINE m SETS S CONSTANTS c, d PROPERTIES c : S & d : S
VARIABLES x INVARIANT x <: S INITIALISATION x := {}
OPERATIONS put(e) = SELECT e = d & e /: x THEN x := x \\/ {e} END END";
    let some = ["--set", "S=3", "--no-deadlock"];
    let all = ["--set", "S=3", "--no-deadlock", "--all-constants"];
    for f in ["F {d /= S3}", "G {d /= S3}", "G not [put(S3)]", "G not [put(S2)]"] {
        let named = expect(machine, &some, &[(f, "violated")]);
        assert_eq!(named["constants"], 9, "{f}");
        expect(machine, &all, &[(f, "violated")]);
    }
    // What is true of all elements needs no more: c = d and c /= d.
    let alike = expect(machine, &some, &[("G {x <: {d}}", "holds")]);
    assert_eq!(alike["constants"], 2);
}

/// Two counters, more than a hundred thousand states.
const GRID: &str = "MACHINE grid VARIABLES x, y INVARIANT x : 0..350 & y : 0..350 INITIALISATION x, y := 0, 0
OPERATIONS right = SELECT x < 350 THEN x := x + 1 END; up = SELECT y < 350 THEN y := y + 1 END END";

#[test]
fn a_violation_that_shows_in_a_prefix_ends_the_search() {
    let formulas = ["G ([right] => X {x < 5})", "H {x < 7} W {x + y = 9}", "G (Y [up] => {y < 6})"];
    for f in formulas {
        let early = expect(GRID, &["--no-deadlock", "--workers", "1"], &[(f, "violated")]);
        let again = expect(GRID, &["--no-deadlock", "--workers", "3"], &[(f, "violated")]);
        assert!(early["states"].as_u64() < Some(60_000), "{f}: {}", early["states"]);
        for field in ["states", "transitions", "violation", "incomplete_because"] {
            assert_eq!(early[field], again[field], "{f}: {field}");
        }
        let whole = expect(GRID, &["--no-deadlock", "--keep-going"], &[(f, "violated")]);
        assert_eq!(whole["states"], 351 * 351);
        assert_eq!(early["violation"], whole["violation"], "{f}");
    }
    // A state that cannot be expanded in full does not end the search where it was looked at formulas.
    let faulty =
        GRID.replace("END END", "END; bad(n) = SELECT x = 3 & n : NATURAL & n > y THEN skip END END");
    let j = expect(&faulty, &["--no-deadlock"], &[("G ([right] => X {x > 0})", "incomplete")]);
    assert!(j["states"].as_u64() >= Some(351 * 351), "{}", j["states"]);
    // What has to be seen in full is seen in full.
    for (f, word) in [("G ([right] => X {x > 0})", "holds"), ("F {x = 3}", "holds")] {
        let j = expect(GRID, &["--no-deadlock"], &[(f, word)]);
        assert_eq!(j["states"], 351 * 351, "{f}");
    }
}

#[test]
fn parameters_that_do_not_fit_into_a_word_leave_a_little_to_chance() {
    let machine = |parameter: &str| {
        format!(
            "MACHINE m VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
OPERATIONS s(q) = SELECT q : {parameter} THEN x := 1 - x END END"
        )
    };
    let bound = |parameter: &str, f: &str| {
        let j = expect(&machine(parameter), &[], &[(f, "holds")]);
        j["reductions"]["collision_bound"].as_f64().unwrap()
    };
    assert_eq!(bound("-1..3", "G ([s(2)] => e(s(-1)))"), 0.0, "small numbers are told apart by themselves");
    let sequences = "{[1, 2], [3], []}";
    assert_eq!(bound(sequences, "G ([s] => e(s))"), 0.0, "the formula tells no parameters apart");
    let chance = bound(sequences, "G ([s([3])] => e(s([])))");
    assert!(chance > 0.0 && chance < 1e-15, "{chance}");
}

#[test]
fn a_lasso_is_no_longer_than_its_path_has_to_be() {
    let queue = "MACHINE q VARIABLES x, q INVARIANT x : 0..5 & q : seq(0..5) INITIALISATION x := 0 || q := [] OPERATIONS\n\
        put = SELECT size(q) < 3 THEN q := q <- x || x := (x + 1) mod 6 END;\n\
        get = SELECT q /= [] THEN q := tail(q) END;\n\
        idle = skip END";
    // After three steps x is 3; the queue stays as it is for ever: the initial state, three steps, one that closes the loop.
    let j = expect(queue, &[], &[("G ({x=3} => F {q=[]})", "violated")]);
    assert_eq!(j["violation"]["trace"].as_array().map(Vec::len), Some(5), "{j}");
    let j = expect(queue, &[], &[("F G {q=[]}", "violated")]);
    assert_eq!(j["violation"]["trace"].as_array().map(Vec::len), Some(3), "{j}");
}
