//! Classical refinement: the machine and its abstractions run in lock-step, through chains, imports and choices.

use crate::refinement_certificates::{accepted, certified};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Exit status and JSON of a check of the first file, in a directory with all of them.
pub fn check_with(dir: &Path, files: &[(&str, &str)], options: &[&str]) -> (i32, Value) {
    for (name, text) in files {
        std::fs::write(dir.join(name), text).expect("a model can be written");
    }
    let main = dir.join(files[0].0);
    let output = Command::new(env!("CARGO_BIN_EXE_bombus"))
        .arg("check")
        .arg(main)
        .args(["--json", "--no-deadlock"])
        .args(options)
        .output()
        .expect("the binary runs");
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr));
    });
    (output.status.code().expect("an exit status"), json)
}

pub const ENGINES: [&str; 2] = ["compiled", "evaluate"];

fn each_engine(files: &[(&str, &str)], judge: impl Fn(i32, &Value)) {
    let dir = tempfile::tempdir().expect("a directory");
    for engine in ENGINES {
        let (status, json) = check_with(dir.path(), files, &["--engine", engine]);
        judge(status, &json);
    }
}

fn verified(files: &[(&str, &str)]) {
    each_engine(files, |status, json| {
        assert_eq!(status, 0, "{json:#}");
        assert_eq!(json["verdict"], "verified");
    });
    assert!(accepted(files, &["--no-deadlock"]).manifest.verified);
}

/// A finding of kind `refinement` whose property holds all these words.
fn faulty(files: &[(&str, &str)], words: &[&str]) {
    each_engine(files, |status, json| {
        assert_eq!(status, 1, "{json:#}");
        assert_eq!(json["violation"]["kind"], "refinement", "{json:#}");
        assert!(json["found"]["refinement"].as_u64() >= Some(1));
        let property = json["violation"]["property"].as_str().expect("a property");
        for word in words {
            assert!(property.contains(word), "{word} in {property}");
        }
    });
    assert!(!accepted(files, &["--no-deadlock"]).manifest.verified);
}

const COUNTER: &str = "MACHINE Counter VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS inc = PRE x < 3 THEN x := x + 1 END; r <-- get = r := x END";

fn counter_r(gluing: &str, inc: &str, get: &str) -> String {
    format!(
        "REFINEMENT Counter_r REFINES Counter VARIABLES xx INVARIANT xx : 0..100 & {gluing} INITIALISATION xx := 10
         OPERATIONS inc = {inc}; r <-- get = {get} END"
    )
}

fn with_counter(text: &str) -> [(&str, &str); 2] {
    [("Counter_r.ref", text), ("Counter.mch", COUNTER)]
}

#[test]
fn a_correct_data_refinement_is_verified() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := xx + 1 END", "r := xx - 10");
    verified(&with_counter(&text));
    let text = counter_r("xx = x + 10", "BEGIN xx := xx + 1 END", "r := xx - 10");
    // Alone, the machine counts past 100; with the precondition of the abstraction it does not.
    verified(&with_counter(&text));
}

#[test]
fn a_false_gluing_invariant_is_found_at_the_initialisation() {
    let text = counter_r("xx = x + 77", "PRE xx < 13 THEN xx := xx + 1 END", "r := xx - 10");
    faulty(&with_counter(&text), &["Counter_r / INITIALISATION", "xx = x + 77"]);
}

#[test]
fn a_gluing_invariant_that_a_step_breaks_is_found_at_the_operation() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := xx + 2 END", "r := xx - 10");
    faulty(&with_counter(&text), &["Counter_r / inc", "xx = x + 10"]);
}

#[test]
fn other_results_than_the_abstraction_gives_are_found() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := xx + 1 END", "r := xx - 9");
    faulty(&with_counter(&text), &["Counter_r / get", "results", "r = 0", "r = 1"]);
}

#[test]
fn a_strengthened_precondition_is_a_fault_and_a_weakened_one_is_not() {
    let text = counter_r("xx = x + 10", "PRE xx < 12 THEN xx := xx + 1 END", "r := xx - 10");
    faulty(&with_counter(&text), &["Counter_r / inc / precondition"]);
    let text = counter_r("xx = x + 10", "PRE xx < 90 THEN xx := xx + 1 END", "r := xx - 10");
    verified(&with_counter(&text));
}

/// The abstraction has no step when nothing is left, so a precondition that says so is not stronger.
#[test]
fn a_precondition_may_fail_where_the_abstraction_has_no_step() {
    let abstraction = "MACHINE Pool VARIABLES s INVARIANT s <: 1..2 INITIALISATION s := {}
        OPERATIONS n <-- pick = ANY m WHERE m : (1..2) - s THEN n := m || s := s \\/ {m} END END";
    let refinement = "REFINEMENT Pool_r REFINES Pool VARIABLES s INITIALISATION s := {}
        OPERATIONS n <-- pick = PRE (1..2) - s /= {} THEN n := min((1..2) - s) || s := s \\/ {min((1..2) - s)} END END";
    verified(&[("Pool_r.ref", refinement), ("Pool.mch", abstraction)]);
}

/// An abstraction and a refinement of it over a function that is defined on 0..1 only.
fn over_a_partial_function(above: &str, below: &str) -> [(&'static str, String); 2] {
    let refinement = format!(
        "REFINEMENT R REFINES Base VARIABLES z INVARIANT z : 0..3 & z = x INITIALISATION z := 0
         OPERATIONS inc = {below} THEN z := z + 1 END END"
    );
    let base = format!(
        "MACHINE Base CONSTANTS c PROPERTIES c = {{0|->0, 1|->0}} VARIABLES x INVARIANT x : 0..3
         INITIALISATION x := 0 OPERATIONS inc = {above} THEN x := x + 1 END END"
    );
    [("R.ref", refinement), ("Base.mch", base)]
}

#[test]
fn an_undefined_guard_of_a_call_that_may_be_made_is_a_strict_finding() {
    let dir = tempfile::tempdir().expect("a directory");
    let check = |above: &str, below: &str, options: &[&str]| {
        let files = over_a_partial_function(above, below);
        let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
        ENGINES.map(|engine| check_with(dir.path(), &files, &[&["--engine", engine], options].concat()))
    };
    let warned = |json: &Value, words: &str| json["warnings"].to_string().contains(words);
    for (above, below, place) in [
        // The guard of the refinement has no value at 2, where the abstraction may be called.
        ("PRE x < 3", "SELECT c(z) = 0", "function applied outside its domain, to 2"),
        // The precondition of the abstraction has no value at 2.
        ("PRE c(x) = 0", "PRE z < 3", "Base / inc"),
    ] {
        for (status, json) in check(above, below, &["--strict-wd"]) {
            assert_eq!((status, &json["violation"]["kind"]), (1, &"well-definedness".into()), "{json:#}");
            let property = json["violation"]["property"].as_str().expect("a property");
            assert!(property.contains(place), "{property}");
        }
        for (status, json) in check(above, below, &[]) {
            assert_eq!(status, 0, "{json:#}");
            assert!(warned(&json, "inc was undefined 1 time"), "{json:#}");
        }
    }
    // No call of a client meets the undefined guard here.
    for (status, json) in check("PRE x < 2", "SELECT c(z) = 0", &["--strict-wd"]) {
        assert_eq!(status, 0, "{json:#}");
    }
}

#[test]
fn a_strengthened_guard_is_allowed() {
    let text = counter_r("xx = x + 10", "SELECT xx < 12 THEN xx := xx + 1 END", "r := xx - 10");
    verified(&with_counter(&text));
}

#[test]
fn a_trace_ends_with_the_step_that_cannot_be_followed() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := 11 END", "r := xx - 10");
    each_engine(&with_counter(&text), |_, json| {
        let trace = json["violation"]["trace"].as_array().expect("a trace");
        // Initialisation, inc, and a second inc that leaves xx at 11 while x becomes 2.
        let events: Vec<&str> = trace.iter().filter_map(|s| s["event"].as_str()).collect();
        assert_eq!(events, ["$initialise_machine", "inc", "inc"]);
        assert_eq!(trace[2]["state"]["xx"], "11");
    });
}

#[test]
fn counts_are_those_of_the_machine_alone() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := xx + 1 END", "r := xx - 10");
    each_engine(&with_counter(&text), |_, json| {
        // 10..13; three steps of inc and four of get.
        assert_eq!((json["states"].as_u64(), json["transitions"].as_u64()), (Some(4), Some(7)));
        assert_eq!(json["prob"]["states"], 4);
    });
}

#[test]
fn variables_of_one_name_are_one_variable() {
    let abstraction = "MACHINE A VARIABLES x, y INVARIANT x : 0..1 & y : 0..1 INITIALISATION x, y := 0, 0
        OPERATIONS swap = BEGIN x := 1 - x || y :: 0..1 END END";
    let refinement = |step: &str| {
        format!(
            "REFINEMENT R REFINES A VARIABLES x INVARIANT x = x INITIALISATION x := 0 OPERATIONS swap = {step} END"
        )
    };
    verified(&[("R.ref", &refinement("x := 1 - x")), ("A.mch", abstraction)]);
    faulty(&[("R.ref", &refinement("skip")), ("A.mch", abstraction)], &["R / swap", "x = 1", "not 0"]);
}

/// Nobody counts beyond 3, since the abstraction forbids it; the machine alone would count for ever.
#[test]
fn a_machine_without_end_is_followed_as_far_as_calls_are_allowed() {
    let counter = |more: &str, get: &str| {
        format!(
            "REFINEMENT Counter_r REFINES Counter VARIABLES c INVARIANT c = x {more} INITIALISATION c := 0
             OPERATIONS inc = c := c + 1; r <-- get = {get} END"
        )
    };
    let right = counter("", "r := c");
    verified(&with_counter(&right));
    each_engine(&with_counter(&right), |_, json| assert_eq!(json["states"], 4, "{json:#}"));
    let late = counter("", "IF c = 3 THEN r := 2 ELSE r := c END");
    faulty(&with_counter(&late), &["Counter_r / get", "r = 3", "not r = 2"]);
    each_engine(&with_counter(&counter("ASSERTIONS x /= 2", "r := c")), |status, json| {
        assert_eq!((status, &json["violation"]["kind"]), (1, &Value::from("assertion")), "{json:#}");
    });
    each_engine(&with_counter(&counter("& 6 / (c - 2) /= 7", "r := c")), |status, json| {
        assert_eq!(status, 1, "{json:#}");
    });
}

/// Of the values that the abstraction may choose, those are told that come nearest: `x` may be 1, `y` may not be 5.
#[test]
fn the_variable_that_no_choice_of_the_abstraction_meets_is_named() {
    let abstraction = "MACHINE A VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER INITIALISATION x, y : (x : 0..1 & y : 0..1) END";
    let refinement = "REFINEMENT R REFINES A VARIABLES x, y INITIALISATION x, y := 1, 5 END";
    faulty(&[("R.ref", refinement), ("A.mch", abstraction)], &["R / INITIALISATION / y: ", "not 5"]);
}

/// The abstraction chooses at once what it will say later, the refinement chooses late: all choices are kept.
#[test]
fn an_early_choice_of_the_abstraction_may_be_postponed() {
    let early = "MACHINE Early SETS PHASE = {idle, busy} VARIABLES phase, coin
        INVARIANT phase : PHASE & coin : 0..1 INITIALISATION phase := idle || coin := 0
        OPERATIONS toss = PRE phase = idle THEN phase := busy || coin :: 0..1 END;
        r <-- look = PRE phase = busy THEN r := coin || phase := idle || coin := 0 END END";
    let late = |look: &str| {
        format!(
            "REFINEMENT Late REFINES Early VARIABLES phase INVARIANT phase : PHASE & coin <= 1 INITIALISATION phase := idle
             OPERATIONS toss = PRE phase = idle THEN phase := busy END; r <-- look = {look} END"
        )
    };
    let ok = late("PRE phase = busy THEN r :: 0..1 || phase := idle END");
    verified(&[("Late.ref", &ok), ("Early.mch", early)]);
    let wrong = late("PRE phase = busy THEN r :: 0..2 || phase := idle END");
    faulty(&[("Late.ref", &wrong), ("Early.mch", early)], &["Late / look", "results"]);
}

const QUEUE: &str = "MACHINE Bag VARIABLES s INVARIANT s <: 1..3 INITIALISATION s := {}
    OPERATIONS put(e) = PRE e : 1..3 & e /: s THEN s := s \\/ {e} END;
    e <-- take = PRE s /= {} THEN ANY x WHERE x : s THEN e := x || s := s - {x} END END END";

const SEQUENCE: &str = "REFINEMENT Row REFINES Bag VARIABLES q INVARIANT q : iseq(1..3) & ran(q) = s INITIALISATION q := []
    OPERATIONS put(e) = BEGIN q := q <- e END; e <-- take = PRE q /= [] THEN e := first(q) || q := tail(q) END END";

#[test]
fn a_set_may_become_a_sequence_and_the_sequence_an_array() {
    verified(&[("Row.ref", SEQUENCE), ("Bag.mch", QUEUE)]);
    let array = |take: &str| {
        format!(
            "REFINEMENT Cells REFINES Row VARIABLES arr, n
             INVARIANT arr : 1..3 --> 0..3 & n : 0..3 & q = (1..n) <| arr INITIALISATION arr := (1..3) * {{0}} || n := 0
             OPERATIONS put(e) = BEGIN n := n + 1 || arr(n+1) := e END; e <-- take = {take} END"
        )
    };
    let ok = array("BEGIN e := arr(1) || arr := {1 |-> arr(2), 2 |-> arr(3), 3 |-> 0} || n := n - 1 END");
    verified(&[("Cells.ref", &ok), ("Row.ref", SEQUENCE), ("Bag.mch", QUEUE)]);
    // The last element instead of the first: a bag would not mind, the sequence between them does.
    let wrong = array("BEGIN e := arr(n) || n := n - 1 END");
    faulty(&[("Cells.ref", &wrong), ("Row.ref", SEQUENCE), ("Bag.mch", QUEUE)], &["Cells / take", "results"]);
}

#[test]
fn a_fault_of_the_middle_level_is_found_below_it() {
    let middle = SEQUENCE.replace("ran(q) = s", "card(q) + 1 = card(s)");
    let bottom = "REFINEMENT Same REFINES Row VARIABLES q INVARIANT q : iseq(1..3) INITIALISATION q := []
        OPERATIONS put(e) = BEGIN q := q <- e END; e <-- take = BEGIN e := first(q) || q := tail(q) END END";
    faulty(
        &[("Same.ref", bottom), ("Row.ref", &middle), ("Bag.mch", QUEUE)],
        &["Same / INITIALISATION", "card(q) + 1"],
    );
    let middle = SEQUENCE.replace("PRE q /= []", "PRE size(q) > 1");
    faulty(&[("Same.ref", bottom), ("Row.ref", &middle), ("Bag.mch", QUEUE)], &["Row / take / precondition"]);
}

const CELL: &str = "MACHINE Cell VARIABLES v INVARIANT v : 0..20 INITIALISATION v := 0
    OPERATIONS store(n) = PRE n : 0..20 THEN v := n END; n <-- load = n := v END";

fn summing(body: &str, gluing: &str) -> String {
    format!(
        "IMPLEMENTATION Sum_i REFINES Sum IMPORTS Cell INVARIANT {gluing} INITIALISATION store(0)
         OPERATIONS up(k) = VAR i, t IN t <-- load; i := 0; {body}; store(t) END; r <-- total = r <-- load END"
    )
}

const SUM: &str = "MACHINE Sum VARIABLES sum INVARIANT sum : 0..6 INITIALISATION sum := 0
    OPERATIONS up(k) = PRE k : 1..3 & sum + k <= 6 THEN sum := sum + k END; r <-- total = r := sum END";

/// The loop adds 1 k times. Its invariant speaks of the abstract variable.
fn loop_to(bound: &str) -> String {
    format!("WHILE i < {bound} DO i := i + 1; t := t + 1 INVARIANT i : 0..9 & t = sum + i VARIANT 9 - i END")
}

#[test]
fn an_implementation_with_imports_and_a_loop_is_followed() {
    let ok = summing(&loop_to("k"), "v = sum");
    verified(&[("Sum_i.imp", &ok), ("Sum.mch", SUM), ("Cell.mch", CELL)]);
    let wrong_loop = summing(&loop_to("k + 1"), "v = sum");
    faulty(&[("Sum_i.imp", &wrong_loop), ("Sum.mch", SUM), ("Cell.mch", CELL)], &["Sum_i / up", "v = sum"]);
    let wrong_glue = summing(&loop_to("k"), "v = sum + 1");
    faulty(&[("Sum_i.imp", &wrong_glue), ("Sum.mch", SUM), ("Cell.mch", CELL)], &["v = sum + 1"]);
}

#[test]
fn a_loop_invariant_over_abstract_variables_is_checked() {
    let wrong = summing(&loop_to("k").replace("t = sum + i", "t = sum + i + i"), "v = sum");
    each_engine(&[("Sum_i.imp", &wrong), ("Sum.mch", SUM), ("Cell.mch", CELL)], |status, json| {
        assert_eq!((status, &json["violation"]["kind"]), (1, &Value::from("assertion")), "{json:#}");
    });
}

/// The cell takes at most 3. Only the precondition over the abstract variable keeps the calls in bounds.
#[test]
fn preconditions_of_called_operations_are_checked_for_the_calls_a_client_may_make() {
    let ok = summing(&loop_to("k"), "v = sum");
    let tight = CELL.replace("PRE n : 0..20", "PRE n : 0..6");
    verified(&[("Sum_i.imp", &ok), ("Sum.mch", SUM), ("Cell.mch", &tight)]);
    let tighter = CELL.replace("PRE n : 0..20", "PRE n : 0..5");
    each_engine(&[("Sum_i.imp", &ok), ("Sum.mch", SUM), ("Cell.mch", &tighter)], |status, json| {
        assert_eq!((status, &json["violation"]["kind"]), (1, &Value::from("precondition")), "{json:#}");
    });
}

const BOUNDED: &str = "MACHINE Line VARIABLES c INVARIANT c : 0..2 INITIALISATION c := 0
    OPERATIONS put = PRE c < 2 THEN c := c + 1 END; e <-- take = PRE c > 0 THEN e := 7 || c := c - 1 END END";

/// Two counters that only grow: the machine alone takes from the empty line, a client never does, and the search for
/// that never ends.
#[test]
fn a_fault_that_no_followed_call_meets_is_no_finding() {
    let below = "IMPLEMENTATION Line_i REFINES Line IMPORTS Log INVARIANT c = ins - outs
        OPERATIONS put = enter; e <-- take = BEGIN leave; e <-- look END END";
    let log = "MACHINE Log VARIABLES ins, outs INVARIANT ins : NATURAL & outs : NATURAL INITIALISATION ins := 0 || outs := 0
        OPERATIONS enter = ins := ins + 1; leave = outs := outs + 1; e <-- look = PRE outs <= ins THEN e := 7 END END";
    let dir = tempfile::tempdir().expect("a directory");
    let files = [("Line_i.imp", below), ("Line.mch", BOUNDED), ("Log.mch", log)];
    for engine in ENGINES {
        let options = ["--engine", engine, "--max-states", "100"];
        let (status, json) = check_with(dir.path(), &files, &options);
        assert_eq!((status, &json["violation"]), (3, &Value::Null), "{json:#}");
        assert!(json["incomplete_because"].to_string().contains("precondition"), "{json:#}");
    }
    // A client meets this one.
    let wrong = below.replace("BEGIN leave; e", "BEGIN leave; leave; e");
    let files = [("Line_i.imp", &*wrong), ("Line.mch", BOUNDED), ("Log.mch", log)];
    for engine in ENGINES {
        let (status, json) = check_with(dir.path(), &files, &["--engine", engine, "--max-states", "100"]);
        assert_eq!(status, 1, "{json:#}");
    }
}

/// A finding of this kind in every engine, with and without going on after it.
fn found_before_any_call(files: &[(&str, &str)], kind: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    for options in
        [&["--engine", "compiled"][..], &["--engine", "evaluate"], &["--engine", "reference"], &["-k"]]
    {
        let (status, json) = check_with(dir.path(), files, options);
        assert_eq!(status, 1, "{options:?} {json:#}");
        assert_eq!(json["violation"]["kind"], kind, "{options:?} {json:#}");
    }
    assert!(!accepted(files, &["--no-deadlock"]).manifest.verified);
}

#[test]
fn what_fails_before_any_call_is_no_fault_of_a_call() {
    let refinement = |clauses: &str, start: &str| {
        format!(
            "REFINEMENT Counter_r REFINES Counter {clauses} VARIABLES xx, yy INVARIANT xx = x & yy : 0..1
             INITIALISATION {start}
             OPERATIONS inc = SELECT xx < 3 THEN xx := xx + 1 END; r <-- get = r := xx END"
        )
    };
    let undefined = "well-definedness";
    found_before_any_call(
        &with_counter(&refinement("", "xx := 0 || CHOICE yy := 0 OR yy := 1/0 END")),
        undefined,
    );
    found_before_any_call(&with_counter(&refinement("", "xx := 0")), undefined);
    for properties in ["c = 4/0", "4/c > 0"] {
        let clauses = format!("CONSTANTS c PROPERTIES c : 0..1 & {properties}");
        found_before_any_call(&with_counter(&refinement(&clauses, "xx := 0 || yy := 0")), undefined);
    }
    let implementation = |start: &str| {
        format!(
            "IMPLEMENTATION Counter_i REFINES Counter IMPORTS Cell INVARIANT x = v INITIALISATION {start}
             OPERATIONS inc = up; r <-- get = r <-- value END"
        )
    };
    let cell = |start: &str| {
        format!(
            "MACHINE Cell VARIABLES v INVARIANT v : NATURAL INITIALISATION {start}
             OPERATIONS up = PRE v < 3 THEN v := v + 1 END; put(k) = PRE k : 0..2 THEN v := k END;
             r <-- value = BEGIN r := v END END"
        )
    };
    for (start, below, kind) in [
        ("put(7)", "v := 0", "precondition"),
        ("BEGIN put(7); put(0) END", "v := 0", "precondition"),
        ("put(4/0)", "v := 0", undefined),
        ("skip", "CHOICE v := 0 OR v := 1/0 END", undefined),
    ] {
        let (main, imported) = (implementation(start), cell(below));
        let files = [("Counter_i.imp", &*main), ("Counter.mch", COUNTER), ("Cell.mch", &*imported)];
        found_before_any_call(&files, kind);
    }
    verified(&[
        ("Counter_i.imp", &implementation("put(0)")),
        ("Counter.mch", COUNTER),
        ("Cell.mch", &cell("v := 2")),
    ]);
}

#[test]
fn going_on_after_a_fault_that_no_client_meets_ends_although_the_machine_alone_does_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let check = |assertion: &str| {
        let text = format!(
            "REFINEMENT Counter_r REFINES Counter VARIABLES xx INVARIANT xx : INTEGER & xx = x ASSERTIONS {assertion}
             INITIALISATION xx := 0 OPERATIONS inc = BEGIN xx := xx + 1 END; r <-- get = r := xx END"
        );
        check_with(dir.path(), &with_counter(&text), &["-k"])
    };
    let (status, json) = check("4/(4-xx) > 0");
    assert_eq!((status, json["states"].as_u64()), (0, Some(4)), "{json:#}");
    let (status, json) = check("xx < 3");
    assert_eq!((status, json["found"]["assertion"].as_u64()), (1, Some(1)), "{json:#}");
}

#[test]
fn an_operation_that_the_refinement_does_not_have_is_named() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := xx + 1 END", "r := xx - 10");
    let without = text.replace("; r <-- get = r := xx - 10", "");
    assert_ne!(text, without);
    each_engine(&with_counter(&without), |status, json| {
        assert_eq!(status, 0, "{json:#}");
        assert!(json["warnings"].to_string().contains("`get`"), "{json:#}");
    });
}

/// A set, a row that lists it, and an array that holds the row: through two levels, with a context that all of them see
/// and a machine that the implementation imports.
struct Levels {
    row_invariant: &'static str,
    array_invariant: &'static str,
    taken: &'static str,
    put: &'static str,
    variant: &'static str,
}

const SOUND: Levels = Levels {
    row_invariant: "ran(q) = s & size(q) = card(s)",
    array_invariant: "q = (1..k) <| a",
    taken: "last(q)",
    put: "e /: ran(q)",
    variant: "k - i",
};

impl Levels {
    fn judge(&self, kind: Option<&str>, words: &str) {
        let Levels { row_invariant, array_invariant, taken, put, variant } = self;
        let row = format!(
            "REFINEMENT Row REFINES Bag SEES Sizes VARIABLES q INVARIANT q : seq(1..3) & {row_invariant} INITIALISATION q := []
             OPERATIONS put(e) = PRE e : 1..top & {put} THEN q := q <- e END; n <-- count = n := size(q);
             r <-- peek = PRE q /= [] THEN r := {taken} END END"
        );
        let array = format!(
            "IMPLEMENTATION Field REFINES Row SEES Sizes IMPORTS Store INVARIANT {array_invariant}
             OPERATIONS put(e) = push(e); n <-- count = n <-- length;
             r <-- peek = VAR i, m, n IN i := 1; m <-- cell(1); n <-- length;
               WHILE i < n DO i := i + 1; m <-- cell(i) INVARIANT i : 1..k & n = k & m = a(i) VARIANT {variant} END;
               r := m END END"
        );
        let bag = "MACHINE Bag SEES Sizes VARIABLES s INVARIANT s <: 1..3 INITIALISATION s := {}
            OPERATIONS put(e) = PRE e : 1..top & e /: s THEN s := s \\/ {e} END; n <-- count = n := card(s);
            r <-- peek = PRE s /= {} THEN r :: s END END";
        let store = "MACHINE Store VARIABLES a, k INVARIANT a : 1..3 --> 0..3 & k : 0..3 INITIALISATION a := (1..3)*{0} || k := 0
            OPERATIONS push(e) = PRE e : 0..3 & k < 3 THEN a(k+1) := e || k := k + 1 END;
            v <-- cell(i) = PRE i : 1..3 THEN v := a(i) END; v <-- length = v := k END";
        let sizes = "MACHINE Sizes CONSTANTS top PROPERTIES top = 3 END";
        let files = [
            ("Field.imp", &*array),
            ("Row.ref", &row),
            ("Bag.mch", bag),
            ("Store.mch", store),
            ("Sizes.mch", sizes),
        ];
        each_engine(&files, |status, json| match kind {
            None => assert_eq!((status, &json["verdict"]), (0, &Value::from("verified")), "{json:#}"),
            Some(kind) => {
                assert_eq!((status, &json["violation"]["kind"]), (1, &Value::from(kind)), "{json:#}");
                assert!(json["violation"].to_string().contains(words), "{words} in {json:#}");
            }
        });
        assert_eq!(accepted(&files, &["--no-deadlock"]).manifest.verified, kind.is_none());
    }
}

#[test]
fn faults_of_two_levels_with_imports_and_a_seen_machine_are_found() {
    SOUND.judge(None, "");
    Levels { row_invariant: "ran(q) = s & size(q) = card(s) + 1", ..SOUND }
        .judge(Some("refinement"), "size(q) = card(s) + 1");
    Levels { array_invariant: "q = (1..k) <| a & 3 /: s", ..SOUND }.judge(Some("refinement"), "3 /: s");
    Levels { taken: "size(q)", ..SOUND }.judge(Some("refinement"), "Field / peek");
    Levels { taken: "first(q)", ..SOUND }.judge(Some("refinement"), "results");
    Levels { put: "e /: ran(q) & size(q) < 2", ..SOUND }
        .judge(Some("refinement"), "Row / put / precondition");
    Levels { variant: "k - 2 - i", ..SOUND }.judge(Some("assertion"), "variant");
}

#[test]
fn without_the_abstractions_the_conjuncts_are_reasons() {
    let text = counter_r("xx = x + 10", "PRE xx < 13 THEN xx := xx + 1 END", "r := xx - 10");
    let dir = tempfile::tempdir().expect("a directory");
    let (status, json) = check_with(dir.path(), &with_counter(&text), &["--abstract-levels", "0"]);
    assert_eq!(status, 3, "{json:#}");
    let reasons = json["incomplete_because"].to_string();
    assert!(reasons.contains("xx = x + 10") && reasons.contains("Counter"), "{reasons}");
}

/// An unbounded choice of the abstraction is no doubt as long as the values of the scope suffice to follow.
#[test]
fn an_unbounded_choice_of_the_abstraction_is_a_reason_only_where_it_is_needed() {
    let abstraction = "MACHINE Any VARIABLES n INVARIANT n : INTEGER INITIALISATION n := 0 OPERATIONS go = n :: NATURAL END";
    let refinement = |value: &str| {
        format!(
            "REFINEMENT One REFINES Any VARIABLES m INVARIANT m = n INITIALISATION m := 0 OPERATIONS go = m := {value} END"
        )
    };
    each_engine(&[("One.ref", &refinement("2")), ("Any.mch", abstraction)], |status, json| {
        assert_eq!(status, 0, "{json:#}");
    });
    // The checker of certificates tries no values of the scope.
    let (_, _, report) =
        certified(&[("One.ref", &refinement("2")), ("Any.mch", abstraction)], &["--no-deadlock"]);
    assert!(report.is_ok_and(|report| report.rejected.is_none() && report.open.total() == 1));
    each_engine(&[("One.ref", &refinement("50")), ("Any.mch", abstraction)], |status, json| {
        assert_eq!(status, 3, "{json:#}");
    });
}

#[test]
fn a_fault_that_clients_meet_is_found_beside_steps_without_end_that_nobody_may_ask_for() {
    let abstraction = "MACHINE Cnt VARIABLES n INVARIANT n : 0..5 INITIALISATION n := 0
        OPERATIONS inc(d) = PRE d : 1..2 & n + d <= 5 THEN n := n + d END END";
    // The machine alone counts without end, because the precondition speaks of a variable that it does not have.
    let refinement = "REFINEMENT R REFINES Cnt VARIABLES l, r INVARIANT l : 0..5 & r : 0..5 & n = l + r
        INITIALISATION l := 0 || r := 0
        OPERATIONS inc(d) = IF d = 1 THEN l := l + 1 ELSE r := r + 1 END END";
    let files = [("R.ref", refinement), ("Cnt.mch", abstraction)];
    let dir = tempfile::tempdir().expect("a directory");
    for options in [&["--keep-going"][..], &["--keep-going", "--max-states", "1000"], &[]] {
        let (status, json) = check_with(dir.path(), &files, options);
        assert_eq!((status, &json["violation"]["kind"]), (1, &"refinement".into()), "{options:?} {json:#}");
        assert_eq!(json["found"]["invariant"].as_u64().unwrap_or(0), 0, "nobody may call what breaks it");
    }
    let good = refinement.replace("r := r + 1", "r := r + 2");
    let (status, json) =
        check_with(dir.path(), &[("R.ref", &good), ("Cnt.mch", abstraction)], &["--keep-going"]);
    assert_eq!((status, &json["verdict"]), (0, &"verified".into()), "{json:#}");
}
