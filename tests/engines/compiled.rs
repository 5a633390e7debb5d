//! What the compiled engine must get right where fast representations tempt to be wrong.
//!
//! Each machine is the smallest that shows the case; the figures follow from the model by hand, as
//! the comment or the name says.

use crate::support;

use bombus::base::budget::Budget;
use bombus::explore::{self, Options};
use bombus::model::{LoadOptions, load};
use bombus::program;
use bombus::system::{FindingKind, System};
use support::with_stack;

/// Explores everything and says what was found: states, transitions, findings by kind.
fn check(text: &'static str, expected: &'static str) {
    with_stack(move || {
        let dir = tempfile::tempdir().expect("a directory for the model");
        let path = dir.path().join("M.mch");
        std::fs::write(&path, text).expect("the model is written");
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        let budget = Budget::unlimited();
        let program = program::compile(&model.machine, &budget, &program::Options::default())
            .expect("nothing stops the set-up");
        program.validate().expect("the code is well formed");
        let options = Options { keep_going: true, ..Options::default() };
        let run = explore::explore(&program, &options, &budget).expect("no internal error");
        let mut words = format!("{} states, {} transitions", run.states, run.transitions);
        let mut kinds: Vec<FindingKind> = run.findings.iter().map(|v| v.finding.kind).collect();
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            words += &format!(", {kind:?}");
        }
        if run.undefined_guards.iter().any(|n| *n > 0) {
            words += ", undefined guard";
        }
        for (reason, _) in &run.reasons {
            words += &format!(", incomplete {reason:?}");
        }
        assert_eq!(words, expected, "{}\n{}", program.layout_text(), program.event_names().join(" "));
    });
}

#[test]
fn a_range_of_the_invariant_is_a_hint_and_not_a_bound() {
    // 0..3 are promised, 4 and 5 are reached and reported.
    check(
        "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
         OPERATIONS up = PRE x < 5 THEN x := x + 1 END; stay = skip END",
        "6 states, 11 transitions, Invariant",
    );
}

#[test]
fn numbers_never_wrap() {
    // Doubling 40 times from 1: 41 values; 2 to the 70 is far beyond a word.
    check(
        "MACHINE M VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 1
         OPERATIONS double = PRE x < 2**70 THEN x := 2 * x END; stay = skip END",
        "71 states, 141 transitions",
    );
}

#[test]
fn an_element_outside_the_window_of_a_set_is_kept() {
    // {}, {1}, {1,7}, {7}: 7 is not in 0..3.
    check(
        "MACHINE M VARIABLES s INVARIANT s <: 0..3 INITIALISATION s := {}
         OPERATIONS a = s := s \\/ {1}; b = s := s \\/ {7}; c = s := s - {1} END",
        "4 states, 12 transitions, Invariant",
    );
}

#[test]
fn equal_sets_written_in_different_orders_are_one_state() {
    check(
        "MACHINE M VARIABLES s INVARIANT s <: INTEGER INITIALISATION s := {-989822976,1157660672}
         OPERATIONS a = s := {1157660672,-989822976} END",
        "1 states, 1 transitions",
    );
}

#[test]
fn an_undefined_guard_disables_its_instance_and_is_counted() {
    // f(1) is undefined until set; p=2 has a value from the start.
    check(
        "MACHINE M VARIABLES f INVARIANT f : 1..2 +-> 0..1 INITIALISATION f := {2|->0}
         OPERATIONS flip(p) = PRE p : 1..2 & f(p) = 0 THEN f(p) := 1 END; stay = skip END",
        "2 states, 3 transitions, undefined guard",
    );
}

#[test]
fn an_undefined_conjunct_beside_a_false_one_is_false() {
    check(
        "MACHINE M VARIABLES x INVARIANT x : 0..2 & (x = 0 or 10 / x > 1) INITIALISATION x :: 0..2
         OPERATIONS a = SELECT 6 / x = 3 & x /= 0 THEN x := 0 END; stay = skip END",
        "3 states, 4 transitions",
    );
}

#[test]
fn a_relation_may_grow_into_something_that_is_no_function() {
    // The invariant promises a function into INTEGER, kept as a table; two pairs with one key are not.
    check(
        "MACHINE M VARIABLES f INVARIANT f : 1..2 +-> INTEGER INITIALISATION f := {1|->5}
         OPERATIONS a = f := f \\/ {1|->6}; b = f := {1|->5} END",
        "2 states, 4 transitions, Invariant",
    );
}

#[test]
fn functions_into_sets_are_updated_row_by_row() {
    // Each of two rows is one of four subsets of {1,2} of which adding reaches all: 16 states.
    check(
        "MACHINE M SETS S = {a, b} VARIABLES f INVARIANT f : S --> POW(1..2) INITIALISATION f := S * {{}}
         OPERATIONS add(s, n) = PRE s : S & n : 1..2 & n /: f(s) THEN f(s) := f(s) \\/ {n} END;
           clear(s) = PRE s : S & f(s) /= {} THEN f := f <+ {s |-> {}} END END",
        "16 states, 56 transitions",
    );
}

#[test]
fn transitions_differ_by_parameters_and_results_and_not_by_the_way_they_were_made() {
    // CHOICE and ANY reach x=1 twice: one transition; `pick` has two parameters with one target.
    check(
        "MACHINE M VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
         OPERATIONS a = CHOICE x := 1 OR ANY y WHERE y : 1..2 & y < 2 THEN x := y END END;
           pick(p) = PRE p : 1..2 THEN x := 0 END;
           r <-- look = r :: {x, 5} END",
        "2 states, 10 transitions",
    );
}

#[test]
fn every_valuation_of_the_constants_is_explored() {
    // Six constants, each with values 0..3 of x up to c: the error needs c = 5.
    check(
        "MACHINE M CONSTANTS c PROPERTIES c : 0..5 VARIABLES x INVARIANT x < 5 INITIALISATION x := 0
         OPERATIONS up = PRE x < c THEN x := x + 1 END; stay = skip END",
        "21 states, 36 transitions, Invariant",
    );
}

#[test]
fn parallel_assignment_reads_the_old_state_and_a_sequence_the_new_one() {
    check(
        // (0,1), swapped (1,0), after the sequence (0,2), swapped (2,0).
        "MACHINE M VARIABLES x, y INVARIANT x : 0..3 & y : 0..3 INITIALISATION x := 0 || y := 1
         OPERATIONS swap = x, y := y, x; both = BEGIN x := 2 ; y := x ; x := 0 END;
           back = BEGIN x := 0 || y := 1 END END",
        "4 states, 12 transitions",
    );
}

#[test]
fn what_follows_a_choice_sees_each_of_its_outcomes() {
    // x in {1,2}, then y := x or y := x+1: targets (1,1) (1,2) (2,2) (2,3).
    check(
        "MACHINE M VARIABLES x, y INVARIANT x : 0..3 & y : 0..3 INITIALISATION x := 0 || y := 0
         OPERATIONS go = PRE x = 0 THEN CHOICE x := 1 OR x := 2 END ; CHOICE y := x OR y := x + 1 END END;
           stay = skip END",
        "5 states, 9 transitions",
    );
}

#[test]
fn what_follows_a_choice_leaves_the_loops_alone_that_lead_to_it() {
    // From each of two states: x stays or becomes any of two values, and the answer is any of four.
    for choice in
        ["x :: BOOL", "ANY v WHERE v : 0..3 THEN x :: BOOL END", "ANY v WHERE v : BOOL THEN x :: BOOL END"]
    {
        let text = format!(
            "MACHINE M VARIABLES x INVARIANT x : BOOL INITIALISATION x := FALSE
             OPERATIONS answer <-- op = BEGIN CHOICE skip OR {choice} END || answer :: 0..3 END END"
        );
        check(text.leak(), "2 states, 16 transitions");
    }
}

#[test]
fn quantifiers_and_comprehensions_are_loops() {
    // Subsets s of 1..4 with an even number of elements whose sum is at most 5.
    check(
        "MACHINE M VARIABLES s INVARIANT s <: 1..4 & card({t | t : s & t > 2}) <= 2
         INITIALISATION s := {}
         OPERATIONS set(t) = PRE t <: 1..4 & card(t) mod 2 = 0 & SIGMA(e).(e : t | e) <= 5
             & !e.(e : t => #d.(d : 1..4 & d /= e)) THEN s := t END END",
        "5 states, 25 transitions",
    );
}

/// When a run is stopped, the trace of what it found must still be rebuilt.
#[test]
fn a_trace_is_rebuilt_after_the_budget_is_used_up() {
    struct Count(usize);
    impl bombus::system::Sink for Count {
        fn edge(&mut self, _: bombus::system::EventId, _: u64, _: &[u64]) {
            self.0 += 1;
        }
        fn finding(&mut self, _: bombus::system::Finding) {}
        fn incomplete(&mut self, reason: u32) {
            panic!("not computed, reason {reason}");
        }
        fn undefined_guard(&mut self, _: bombus::system::EventId) {}
    }
    with_stack(|| {
        let dir = tempfile::tempdir().expect("a directory for the model");
        let path = dir.path().join("M.mch");
        // A loop long enough to ask the budget many times.
        let text = "MACHINE M VARIABLES x INVARIANT x : 0..9000 INITIALISATION x := 0
            OPERATIONS go = VAR i IN i := 0; WHILE i < 9000 DO i := i + 1 INVARIANT i >= 0 VARIANT 9000 - i END;
              x := i END END";
        std::fs::write(&path, text).expect("the model is written");
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        let budget = Budget::unlimited();
        let program = program::compile(&model.machine, &budget, &program::Options::default())
            .expect("nothing stops the set-up");
        let mut state = vec![0; program.words()];
        struct First<'a>(&'a mut [u64]);
        impl bombus::system::Sink for First<'_> {
            fn edge(&mut self, _: bombus::system::EventId, _: u64, target: &[u64]) {
                self.0.copy_from_slice(target);
            }
            fn finding(&mut self, _: bombus::system::Finding) {}
            fn incomplete(&mut self, _: u32) {}
            fn undefined_guard(&mut self, _: bombus::system::EventId) {}
        }
        program.initial(&mut program.worker(), &mut First(&mut state));
        budget.interrupt_flag().store(true, std::sync::atomic::Ordering::Relaxed);
        let mut count = Count(0);
        program.successors(&mut program.replay_worker(), &state, &mut count);
        assert_eq!(count.0, 1);
    });
}

#[test]
fn a_constant_beyond_a_word_is_compared_as_a_number() {
    // 2 to the 63 lies in NATURAL1 and in no small interval, alone and inside a pair.
    check(
        "MACHINE M CONSTANTS n PROPERTIES n = 2 VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0
         OPERATIONS yes = PRE n**63 : NATURAL1 THEN skip END; no = PRE n**63 : 0..100 THEN x := 1 END;
         never = PRE (n**63 |-> 1) : (0..100) * {1} THEN x := 1 END;
         always = PRE (n**63 |-> 1) : NATURAL * {1} THEN skip END END",
        "1 states, 2 transitions",
    );
}

#[test]
fn all_parts_of_a_set_must_be_defined_whoever_decides_the_membership() {
    // f(1) has no value: each guard is undefined although one side decides it.
    for set in ["FIN1(f(x))", "POW1(f(x))"] {
        let text = format!(
            "MACHINE M CONSTANTS f PROPERTIES f = {{0|->{{0,1}}}} VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 1
             OPERATIONS op = PRE {{y|y:0..1 & y>x}} : {set} THEN skip END; stay = skip END"
        );
        check(text.leak(), "1 states, 1 transitions, undefined guard");
    }
    for set in ["{x} \\/ f(x)", "{0} /\\ f(x)", "{0} - f(x)"] {
        let text = format!(
            "MACHINE M CONSTANTS f PROPERTIES f = {{0|->{{0,1}}}} VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 1
             OPERATIONS op = PRE x : {set} THEN skip END; stay = skip END"
        );
        check(text.leak(), "1 states, 1 transitions, undefined guard");
    }
}

/// A machine of one state with a function from 40 numbers to 40 numbers, too large for a matrix, that has one
/// event for each predicate. The tests count how many of them are enabled.
fn large_functions(guards: &[&str], expected: &'static str) {
    let events: Vec<String> =
        guards.iter().enumerate().map(|(i, g)| format!("e{i} = PRE {g} THEN skip END")).collect();
    let text = format!(
        "MACHINE M DEFINITIONS SWAP(a,b) == {{a |-> g(b), b |-> g(a)}}
         VARIABLES g, h, x INVARIANT g : 1..40 >-> 1..40 & h : 1..40 +-> 1..40 & x : 1..40
         INITIALISATION g := %i.(i : 1..40 | 41 - i) || h := %i.(i : 1..30 | 41 - i) || x := 35
         OPERATIONS {} END",
        events.join("; ")
    );
    check(text.leak(), expected);
}

#[test]
fn swapping_two_rows_of_a_large_function_obeys_its_laws() {
    let all = |p: &str| format!("!(a,b).(a : 1..40 & b : 1..40 & a /= b => {p})");
    let laws = [
        "g <+ SWAP(a,b) = ({a,b} <<| g) \\/ SWAP(a,b)",
        "SWAP(a,b) : 1..40 >+> NATURAL",
        "SWAP(a,b) : 1..40 <-> 1..40",
        "dom(({a,b} <<| g) \\/ SWAP(a,b)) = 1..40",
        "dom({a,b} <<| g) /\\ dom(SWAP(a,b)) = {}",
        "ran({a,b} <<| g) /\\ ran(SWAP(a,b)) = {}",
    ]
    .map(all);
    large_functions(&laws.each_ref().map(String::as_str), "1 states, 6 transitions");
    let wrong = [
        "g <+ SWAP(a,b) = ({a} <<| g) \\/ SWAP(a,b)",
        "SWAP(a,b) : 1..39 >+> NATURAL",
        "SWAP(a,b) : 1..40 <-> 1..39",
        "dom(({a,b} <<| g) \\/ SWAP(a,b)) = 1..39",
        "dom({a} <<| g) /\\ dom(SWAP(a,b)) = {}",
        "ran({b} <<| g) /\\ ran(SWAP(a,b)) = {}",
    ]
    .map(all);
    large_functions(&wrong.each_ref().map(String::as_str), "1 states, 0 transitions, Deadlock");
}

#[test]
fn maplets_with_one_key_are_one_pair_or_no_function() {
    large_functions(
        &["{x|->5, 35|->5} : 1..40 +-> 1..40", "{x|->5, 35|->6} : 1..40 <-> 1..40"],
        "1 states, 2 transitions",
    );
    large_functions(
        &[
            "{x|->5, 35|->6} : 1..40 +-> 1..40",
            "{x|->5, 36|->5} : 1..40 >+> 1..40",
            "card({x|->5, 35|->5}) = 2",
        ],
        "1 states, 0 transitions, Deadlock",
    );
}

#[test]
fn the_union_of_two_large_functions_may_be_none() {
    // h is g below 31; x is 35.
    large_functions(
        &[
            "g \\/ h = g",
            "(1..20 <| g) \\/ (20..40 <| g) = g",
            "(1..20 <| h) \\/ (11..40 <| g) = g",
            "card(g \\/ {x |-> 1}) = 41",
            "(h <+ {x |-> 1}) \\/ g /= g",
            "h \\/ {x |-> g(x)} = (1..30 \\/ {x}) <| g",
        ],
        "1 states, 6 transitions",
    );
}

#[test]
fn one_side_of_maplets_asks_for_the_other_too() {
    // h(35) has no value.
    for guard in ["dom({x |-> h(x)}) /\\ dom(g) = {x}", "ran({h(x) |-> x}) /\\ ran(g) = {x}"] {
        large_functions(&[guard], "1 states, 0 transitions, Deadlock, undefined guard");
    }
}

#[test]
fn an_inverse_is_applied_where_exactly_one_row_has_the_value() {
    // y is 0, 1, 2 before and after `more`, 6 states. Before: 2 gets in each of 3 states, 2 times the same, 3 times more;
    // after: row 3 has the value of row 1, so there is 1 get in each of 3 states and once the same, and v = 0 is undefined.
    for (arrow, more) in [("+->", "f(3) := 0"), ("<->", "f := f \\/ {3|->0}")] {
        let text = format!(
            "MACHINE M VARIABLES f, y INVARIANT f : 1..3 {arrow} 0..1 & y : 0..3
             INITIALISATION f := {{1|->0, 2|->1}} || y := 0
             OPERATIONS get(v) = PRE v : 0..1 & card(f~[{{v}}]) = 1 THEN y := (f~)(v) END;
             same(v) = PRE v : 0..1 & (f~)(v) = y THEN skip END;
             more = PRE 3 /: dom(f) THEN {more} END END"
        );
        check(text.leak(), "6 states, 15 transitions, undefined guard");
    }
}
