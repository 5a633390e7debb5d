//! Messages: file, line, caret, both sides, and a way out.

use super::{rejected, rejected_one};

#[test]
fn a_clash_shows_both_types_and_both_places() {
    let message = rejected_one("MACHINE M\nVARIABLES x\nINVARIANT x : NAT\nINITIALISATION x := TRUE\nEND\n");
    assert!(message.contains("M.mch:4:21"), "{message}");
    assert!(message.contains("4 | INITIALISATION x := TRUE"), "{message}");
    assert!(message.contains("^^^^ this is of type BOOL"), "{message}");
    assert!(message.contains("- this is of type INTEGER"), "{message}");
}

#[test]
fn all_errors_are_collected() {
    let message = rejected_one(
        "MACHINE M VARIABLES x,y INVARIANT x : NAT & y : BOOL INITIALISATION x := TRUE || y := 1
         OPERATIONS a = BEGIN x := nosuch END END",
    );
    assert_eq!(message.matches("error:").count(), 3, "{message}");
}

#[test]
fn an_unknown_name_gets_the_nearest_one() {
    let message =
        rejected_one("MACHINE M VARIABLES counter INVARIANT countre : NAT INITIALISATION counter := 0 END");
    assert!(message.contains("unknown identifier `countre`"), "{message}");
    assert!(message.contains("did you mean `counter`?"), "{message}");
}

#[test]
fn one_variable_is_not_written_twice_at_once_284() {
    let body = |s: &str| {
        format!(
            "MACHINE M VARIABLES x,f INVARIANT x : NAT & f : NAT +-> NAT INITIALISATION x,f := 0,{{}} OPERATIONS o = BEGIN {s} END END"
        )
    };
    for text in [
        "x := 1 || x := 2",
        "f(1) := 1 || f(2) := 2",
        "x,x := 1,2",
        "IF x=0 THEN x := 1 END || x := 2",
        "x :: {1} || x := 2",
    ] {
        let message = rejected_one(&body(text));
        assert!(message.contains("is assigned twice"), "{text}: {message}");
        assert!(message.contains("assigned here already"), "{message}");
    }
}

#[test]
fn constants_parameters_and_bound_variables_are_not_written() {
    let message = rejected_one(
        "MACHINE M CONSTANTS c PROPERTIES c = 1 VARIABLES x INVARIANT x : NAT INITIALISATION x := 0
         OPERATIONS a = BEGIN c := 2 END; b(p) = PRE p : NAT THEN p := 1 END; d = ANY q WHERE q = 1 THEN q := 2 END END",
    );
    for what in ["it is a constant", "it is a parameter of the operation", "it is a bound variable"] {
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn variables_of_included_and_seen_machines_are_not_written() {
    let inner = "MACHINE N VARIABLES y INVARIANT y : NAT INITIALISATION y := 0 END";
    for (clause, what) in [("INCLUDES", "an included machine"), ("SEES", "only seen"), ("USES", "only used")]
    {
        let main = format!("MACHINE M {clause} N OPERATIONS o = BEGIN y := 1 END END");
        let message = rejected(&[("M.mch", &main), ("N.mch", inner)]);
        assert!(message.contains("`y` cannot be assigned to") && message.contains(what), "{message}");
    }
}

#[test]
fn calls_have_the_right_number_of_arguments_and_results() {
    let inner = "MACHINE N OPERATIONS r <-- op(a) = PRE a : NAT THEN r := a END END";
    for (call, what) in [
        ("v <-- op", "takes 1 argument, not 0"),
        ("op(1)", "gives 1 result, not 0"),
        ("v <-- opp(1)", "did you mean `op`?"),
    ] {
        let main = format!(
            "MACHINE M INCLUDES N VARIABLES v INVARIANT v : NAT INITIALISATION v := 0 OPERATIONS o = {call} END"
        );
        let message = rejected(&[("M.mch", &main), ("N.mch", inner)]);
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn a_result_must_be_assigned() {
    let message = rejected_one("MACHINE M OPERATIONS r <-- op = skip END");
    assert!(
        message.contains("never assigns its result `r`") || message.contains("could not infer type of `r`"),
        "{message}"
    );
}

#[test]
fn operations_do_not_call_themselves() {
    let local = "DEFINITIONS SET_PREF_ALLOW_LOCAL_OPERATION_CALLS == TRUE";
    let message = rejected_one(&format!("MACHINE M {local} OPERATIONS a = b; b = a END"));
    assert!(message.contains("calls itself"), "{message}");
}

#[test]
fn names_are_declared_once() {
    let message =
        rejected_one("MACHINE M SETS S = {a,b} VARIABLES a INVARIANT a : NAT INITIALISATION a := 0 END");
    assert!(message.contains("`a` is declared twice"), "{message}");
    assert!(message.contains("declared here already"), "{message}");
}

#[test]
fn a_predicate_is_no_value_and_a_value_no_predicate() {
    let message = rejected_one(
        "MACHINE M DEFINITIONS P == 1=1; E == TRUE VARIABLES x INVARIANT x : BOOL & E INITIALISATION x := P END",
    );
    assert!(message.contains("write `bool(…)`"), "{message}");
    assert!(message.contains("compare it: `… = TRUE`"), "{message}");
}

#[test]
fn an_equation_of_let_does_not_use_the_names_of_the_same_let() {
    let body = |s: &str| {
        format!("MACHINE M VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0 OPERATIONS o = {s} END")
    };
    let message = rejected_one(&body("LET a,b BE a = x & b = a+1 IN x := b END"));
    assert!(message.contains("uses `a`, which the same LET introduces"), "{message}");
    assert!(message.contains("M.mch:1:"), "{message}");
    let nested = body("LET a BE a = x IN LET b BE b = a+1 IN x := b END END");
    assert!(super::load_with(&[("M.mch", &nested)], &Default::default()).model.is_some());
}

#[test]
fn parameters_of_a_machine_are_not_visible_in_properties() {
    let message = rejected_one("MACHINE M(n) CONSTRAINTS n : 1..3 CONSTANTS c PROPERTIES c = n END");
    assert!(message.contains("unknown identifier `n`"), "{message}");
    assert!(message.contains("not visible in PROPERTIES"), "{message}");
    let fine = "MACHINE M(n) CONSTRAINTS n : 1..3 CONSTANTS c PROPERTIES c = 1 ASSERTIONS c <= n END";
    assert!(super::load_with(&[("M.mch", fine)], &Default::default()).model.is_some());
}

#[test]
fn a_machine_that_is_seen_has_one_instance() {
    let files = |includes: &'static str| {
        [
            ("M.mch", includes),
            ("S.mch", "MACHINE S SEES N END"),
            ("N.mch", "MACHINE N VARIABLES v INVARIANT v : BOOL INITIALISATION v := TRUE END"),
        ]
    };
    let message = rejected(&files("MACHINE M SEES S INCLUDES a.N, b.N END"));
    assert!(message.contains("the machine `N` is seen, but included more than once"), "{message}");
    let options = Default::default();
    assert!(super::load_with(&files("MACHINE M SEES S INCLUDES a.N END"), &options).model.is_some());
    assert!(super::load_with(&files("MACHINE M SEES S INCLUDES N, b.N END"), &options).model.is_some());
}

#[test]
fn names_of_definitions_are_not_bound_where_they_would_be_called() {
    let message = rejected_one(
        "MACHINE M DEFINITIONS p == 1=2 CONSTANTS c PROPERTIES c = 1 & not(p) & #p.(p : 1..3 & p*p = c) END",
    );
    assert!(message.contains("`p` is a definition that is no value"), "{message}");
    let message =
        rejected_one("MACHINE M DEFINITIONS a == 1; twice(a) == a+a CONSTANTS c PROPERTIES c = twice(2) END");
    assert!(message.contains("the parameter `a` has the name of a definition"), "{message}");
    let fine = "MACHINE M DEFINITIONS a == 1 CONSTANTS c PROPERTIES c = 1 & #a.(a : 1..3 & a*a = c) END";
    assert!(super::load_with(&[("M.mch", fine)], &Default::default()).model.is_some());
}

#[test]
fn operations_do_not_call_those_of_their_own_machine() {
    let text = |definitions: &str| {
        format!(
            "MACHINE M {definitions} VARIABLES x INVARIANT x : NAT INITIALISATION x := 0
             OPERATIONS r <-- get = r := x; o = BEGIN x <-- get END END"
        )
    };
    let message = rejected_one(&text(""));
    assert!(message.contains("`get` is an operation of the same machine"), "{message}");
    let allowed = text("DEFINITIONS SET_PREF_ALLOW_LOCAL_OPERATION_CALLS == TRUE");
    assert!(super::load_with(&[("M.mch", &allowed)], &Default::default()).model.is_some());
}

#[test]
fn cases_are_literals_and_constraints_need_parameters() {
    let message = rejected_one(
        "MACHINE M SETS S = {a,b} CONSTANTS c PROPERTIES c : S VARIABLES x INVARIANT x : S INITIALISATION x := a
         OPERATIONS o = CASE x OF EITHER c THEN x := a OR b THEN skip END END END",
    );
    assert!(
        message.contains("a case is a literal or an element of a set, but `c` is a variable"),
        "{message}"
    );
    let message = rejected_one("MACHINE M SETS S = {a,b} CONSTRAINTS card(S) = 2 END");
    assert!(message.contains("CONSTRAINTS without parameters"), "{message}");
}
