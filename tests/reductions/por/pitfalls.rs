//! Small models that one wrong relation loses: each was, or nearly was, taken for verified.

use super::{checked, deadlock_only, options};
use bombus::driver::{CheckOptions, Reduce};
use bombus::report::Verdict;

/// Every way to reduce says what the full check says.
fn violated(machine: &str) {
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        for level_proviso in [false, true] {
            let o = checked(machine, CheckOptions { por, level_proviso, ..options() });
            assert_eq!(o.verdict(), Verdict::Violated, "{por:?}, level {level_proviso}");
        }
    }
}

#[test]
fn an_event_with_an_else_is_enabled_where_its_condition_is_false() {
    violated(
        "MACHINE m VARIABLES x, y INVARIANT x : 0..2 & y : 0..3 & y /= 3 INITIALISATION x, y := 2, 0
      OPERATIONS
        leave = SELECT x = 1 THEN skip ELSE x := 0 END;
        one = SELECT x = 2 & y = 0 THEN y := 1 END;
        two = SELECT x = 2 & y = 1 THEN y := 3 END
      END",
    );
}

#[test]
fn a_definition_with_two_arguments_is_two_conditions() {
    violated(
        "MACHINE m DEFINITIONS at(k) == (x = k)
      VARIABLES x, y INVARIANT x : 0..2 & y : 0..3 & y /= 3 INITIALISATION x, y := 2, 0
      OPERATIONS
        leave = SELECT at(1) THEN skip WHEN at(2) THEN x := 0 WHEN at(0) THEN skip END;
        one = SELECT x = 2 & y = 0 THEN y := 1 END;
        two = SELECT x = 2 & y = 1 THEN y := 3 END
      END",
    );
}

#[test]
fn a_total_function_has_no_value_outside_a_domain_that_changes() {
    // `look` is enabled while p1 is not in the domain, and `join` disables it; `miss` wants that order.
    violated(
        "MACHINE m SETS P = {p1, p2} VARIABLES act, f, h, z
      INVARIANT act <: P & f : act --> 0..1 & h : 0..1 & z : 0..1 & z = 0
      INITIALISATION act, f, h, z := {}, {}, 0, 0
      OPERATIONS
        join = SELECT p1 /: act THEN act := act \\/ {p1} || f := f <+ {p1 |-> 0} END;
        look = SELECT p1 /: dom(f) & h = 0 THEN h := 1 END;
        miss = SELECT p1 : dom(f) & h = 0 THEN z := 1 END;
        stay = BEGIN skip END
      END",
    );
}

#[test]
fn two_values_for_one_argument_are_no_function() {
    // With x = y the row has two values: the invariant is broken, and `f(1) > 1` is undefined.
    violated(
        "MACHINE m VARIABLES f, n INVARIANT f : 1..2 --> 0..3 & n : 0..3
      INITIALISATION f, n := {1 |-> 0, 2 |-> 0}, 0
      OPERATIONS
        both(x, y) = SELECT x : 1..2 & y : 1..2 & n = 2 THEN f := f <+ {x |-> 2, y |-> 3} END;
        turn = BEGIN n := (n + 1) mod 3 END
      END",
    );
    let stuck = "MACHINE m VARIABLES f, n INVARIANT f : INTEGER <-> INTEGER & n : 0..3
      INITIALISATION f, n := {1 |-> 2}, 0
      OPERATIONS
        both(x, y) = SELECT x : {1} & y : {1} THEN f := f <+ {x |-> 2, y |-> 3} END;
        go = SELECT f(1) : {2, 3} & n < 3 THEN n := n + 1 END;
        rest = SELECT f(1) : {2, 3} & n = 3 THEN skip END
      END"
    .replace("SELECT x : {1} & y : {1} THEN", "SELECT x : {1} & y : {1} & f(1) = 2 THEN");
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        let o = checked(&stuck, CheckOptions { por, ..deadlock_only() });
        assert_eq!(o.violation.map(|v| v.kind), Some("deadlock".into()), "{por:?}");
    }
}

#[test]
fn an_infinite_set_is_not_taken_for_finite() {
    let machine =
        "MACHINE m VARIABLES s, n INVARIANT s : FIN(INTEGER) & n : 0..2 INITIALISATION s, n := {}, 0
      OPERATIONS
        all = SELECT n = 2 THEN s := {i | i : INTEGER & i > 4} END;
        turn = BEGIN n := (n + 1) mod 3 END
      END";
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        assert_ne!(
            checked(machine, CheckOptions { por, ..options() }).verdict(),
            Verdict::Verified,
            "{por:?}"
        );
    }
}
