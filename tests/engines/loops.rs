//! WHILE: loops that are run in place come out as those that are taken round by round, with all outcomes.

use crate::support;

use bombus::base::budget::Budget;
use bombus::evaluate::{Interpreter, Transition};
use bombus::lang::value::Value;
use bombus::model::{self, LoadOptions};
use support::with_stack;

/// The transitions and the faults of the one operation in place, which are compared with those round by round.
fn outcomes(body: &str, compares: bool) -> (Vec<Transition>, Vec<String>) {
    let text = format!(
        "MACHINE m SETS E = {{a, b, c}} VARIABLES i, j, s, t, f, n INVARIANT i : NATURAL & j : NATURAL & s <: INTEGER & t <: POW(INTEGER)
         & f : INTEGER <-> INTEGER & n : INTEGER
         INITIALISATION i := 0 || j := 0 || s := {{5, 7}} || t := {{}} || f := {{0|->9}} || n := 0
         OPERATIONS
         go = BEGIN {body} END END"
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.mch");
    std::fs::write(&path, text).unwrap();
    let loaded = model::load(&path, &LoadOptions::default());
    let messages: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
    let model = loaded.model.unwrap_or_else(|| panic!("{body}: {messages:?}"));
    let budget = Budget::unlimited();
    let run = |interpreter: Interpreter| {
        let constants = interpreter.constants().unwrap();
        let initial = interpreter.initial_states(&constants.values[0]).unwrap();
        let steps = interpreter.transitions(&initial.values[0]).unwrap();
        let errors: Vec<String> = steps.errors.iter().map(|(_, e)| e.to_string()).collect();
        (steps.transitions, errors)
    };
    let in_place = run(Interpreter::new(&model.machine, &budget));
    if compares {
        let by_rounds = run(Interpreter::with_propagation(&model.machine, &budget, None));
        assert_eq!(in_place, by_rounds, "{body}");
    }
    in_place
}

fn agrees(body: &str, transitions: usize, errors: usize) {
    let body = body.to_string();
    with_stack(move || {
        let (found, wrong) = outcomes(&body, true);
        assert_eq!((found.len(), wrong.len()), (transitions, errors), "{body}: {wrong:?}");
    });
}

const UP: &str = "INVARIANT i : NATURAL VARIANT 10 - i END";

#[test]
fn a_set_that_grows_in_a_loop_is_the_union_of_all_that_was_added() {
    agrees(&format!("WHILE i < 6 DO s := s \\/ {{3 * i mod 8}}; i := i + 1 {UP}"), 1, 0);
    agrees(&format!("WHILE i < 6 DO s := {{i, i + 20, 5}} \\/ s; i := i + 1 {UP}"), 1, 0);
    // Sets of sets, and sets that are not listed.
    agrees(&format!("WHILE i < 6 DO t := t \\/ {{0..i, {{i}}}}; i := i + 1 {UP}"), 1, 0);
    agrees(&format!("WHILE i < 3 DO t := t \\/ {{NATURAL, 0..i}}; i := i + 1 {UP}"), 1, 0);
    agrees(&format!("WHILE i < 3 DO s := s \\/ NATURAL; i := i + 1 {UP}"), 1, 0);
}

#[test]
fn a_set_that_grows_is_read_as_it_is_at_that_moment() {
    agrees(
        &format!("WHILE i < 8 DO IF 2 * i : s THEN n := n + card(s) END; s := s \\/ {{i}}; i := i + 1 {UP}"),
        1,
        0,
    );
    agrees(&format!("WHILE i < 8 DO s := s \\/ {{i}} || n := card(s) || i := i + 1 {UP}"), 1, 0);
    agrees(
        &format!("WHILE i < 8 DO s := s \\/ {{card(s)}}; s := s \\/ {{i}}; f(i) := card(s); i := i + 1 {UP}"),
        1,
        0,
    );
    agrees(&format!("WHILE i < 8 DO s, n := s \\/ {{i + n}}, card(s); i := i + 1 {UP}"), 1, 0);
    agrees(
        "WHILE card(s) < 9 DO s := s \\/ {i}; i := i + 1 INVARIANT s /= {} & i <= 20 VARIANT 50 - i END",
        1,
        0,
    );
}

#[test]
fn inner_loops_local_variables_and_values_from_before_mean_what_they_mean_elsewhere() {
    agrees(
        &format!(
            "WHILE i < 5 DO s := s \\/ {{10 * i}}; j := 0; WHILE j < i DO s := s \\/ {{10 * i + j}}; j := j + 1 \
             INVARIANT j <= i VARIANT i - j END; i := i + 1 {UP}"
        ),
        1,
        0,
    );
    agrees(&format!("WHILE i < 5 DO VAR k IN k := i * i; s := s \\/ {{k}} END; i := i + 1 {UP}"), 1, 0);
    agrees("WHILE i < 5 DO s := s \\/ {i}; i := i + 1 INVARIANT s$0 <: s & i$0 = 0 VARIANT 10 - i END", 1, 0);
}

#[test]
fn a_loop_that_chooses_has_all_outcomes() {
    agrees(&format!("WHILE i < 3 DO CHOICE s := s \\/ {{i}} OR n := n + 1 END; i := i + 1 {UP}"), 8, 0);
    agrees(
        &format!("WHILE i < 3 DO ANY x WHERE x : 1..2 THEN s := s \\/ {{10 * x}} END; i := i + 1 {UP}"),
        3,
        0,
    );
    agrees(&format!("WHILE i < 3 DO s := s \\/ {{i}}; SELECT i < 2 THEN i := i + 1 END {UP}"), 0, 0);
}

#[test]
fn a_loop_that_goes_wrong_says_so() {
    agrees(&format!("WHILE i < 3 DO s := s \\/ {{6 / (2 - i)}}; i := i + 1 {UP}"), 0, 1);
    agrees("WHILE i < 9 DO s := s \\/ {i}; i := i + 1 INVARIANT card(s) < 6 VARIANT 10 - i END", 0, 1);
    agrees("WHILE i < 9 DO s := s \\/ {i}; i := i + 1 INVARIANT s /= {} VARIANT i END", 0, 1);
    agrees("WHILE i < 9 DO s := s \\/ {i}; i := i + 1 INVARIANT s /= {} VARIANT 5 - i END", 0, 1);
    agrees(&format!("WHILE i < 3 DO ASSERT 7 : s & i < 2 THEN s := s \\/ {{i}}; i := i + 1 END {UP}"), 0, 1);
}

/// What is there already is not copied for each element that is added: that would be billions of them.
#[test]
fn a_loop_may_add_many_elements() {
    let body = "WHILE i < 80000 DO s := s \\/ {i}; i := i + 1 INVARIANT i : NATURAL VARIANT 80000 - i END;
        s := {card(s)}; i := 0";
    let found = with_stack(|| outcomes(body, false).0);
    let [only] = &found[..] else { panic!("{} outcomes", found.len()) };
    assert!(only.target.variables.contains(&Value::set(vec![Value::int(80000)])));
}
