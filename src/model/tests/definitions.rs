//! DEFINITIONS: expansion, capture, limits, names with a meaning of their own.

use super::{events, load_files, machine, one, rejected_one};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind};

/// The right side of the only property `c = E`.
fn value(text: &str) -> Expr {
    let m = one(&format!("MACHINE M DEFINITIONS {text} END"));
    match &m.properties[0].pred.kind {
        PredKind::Rel(_, _, e) => e.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_is_a_tree_not_a_text_251_252() {
    for text in ["D(x) == x+x CONSTANTS c PROPERTIES c = 2*D(3)", "D == 1+1 CONSTANTS c PROPERTIES c = 3*D"] {
        let ExprKind::Binary(BinOp::Mul, _, right) = value(text).kind else { panic!("no product") };
        assert!(matches!(right.kind, ExprKind::Binary(BinOp::Add, ..)));
    }
}

#[test]
fn grouping_of_arguments_is_kept() {
    // PLUS(2,3)*10 is 50 as in ProB, not 32 as with text macros.
    let ExprKind::Binary(BinOp::Mul, left, _) =
        value("PLUS(a,b) == a+b CONSTANTS c PROPERTIES c = PLUS(2,3)*10").kind
    else {
        panic!("no product")
    };
    assert!(matches!(left.kind, ExprKind::Binary(BinOp::Add, ..)));
}

#[test]
fn a_bound_variable_of_the_body_captures_the_argument_with_a_warning_333() {
    let loaded = load_files(&[(
        "M.mch",
        "MACHINE M DEFINITIONS egt(x) == (#y.(y:NATURAL1 & y<100 & x<y)) VARIABLES y
         INVARIANT y:INTEGER & egt(y+1) INITIALISATION y := 5 END",
    )]);
    assert!(loaded.messages().contains("is captured by a bound variable of the definition `egt`"));
    let m = loaded.model.expect("a model").machine;
    // `y+1 < y` speaks of the bound y alone.
    let speaks = bombus_lang::walk::variables_of_pred(&m.invariant[1].pred);
    assert!(!speaks.contains(&m.variables[0]));
}

#[test]
fn a_parameter_may_name_the_bound_variable() {
    let loaded = load_files(&[(
        "M.mch",
        "MACHINE M DEFINITIONS all(v,S) == !v.(v:S => v>0) CONSTANTS c PROPERTIES c=1 & all(q,{1,2}) END",
    )]);
    assert!(loaded.model.is_some(), "{}", loaded.messages());
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.messages());
}

#[test]
fn definitions_may_be_substitutions_with_targets_as_parameters() {
    let m = one("MACHINE M DEFINITIONS set(v,e) == BEGIN v := e END; go == set(x,1)
         VARIABLES x INVARIANT x:NAT INITIALISATION set(x,0) OPERATIONS a = go END");
    assert_eq!(events(&m), ["a"]);
}

#[test]
fn a_definition_without_parameters_can_be_applied() {
    one("MACHINE M DEFINITIONS F == {1|->2} CONSTANTS c PROPERTIES c = F(1) END");
}

#[test]
fn arguments_are_counted() {
    let message = rejected_one("MACHINE M DEFINITIONS D(x) == x CONSTANTS c PROPERTIES c = D(1,2) END");
    assert!(message.contains("the definition `D` takes 1 argument, not 2"), "{message}");
    assert!(message.contains("defined here"), "{message}");
}

#[test]
fn an_argument_may_call_the_definition_itself_but_not_a_body() {
    one("MACHINE M DEFINITIONS D(x) == x+1 CONSTANTS c PROPERTIES c = D(D(1)) END");
    let message = rejected_one("MACHINE M DEFINITIONS D == E+1; E == D+1 CONSTANTS c PROPERTIES c = 1 END");
    assert!(message.contains("calls itself") && message.contains("D calls E calls D"), "{message}");
}

#[test]
fn a_definition_that_is_not_used_need_not_make_sense() {
    one("MACHINE M DEFINITIONS D == 1 + TRUE; E(x) == nosuch(x) CONSTANTS c PROPERTIES c = 1 END");
}

#[test]
fn each_call_has_types_of_its_own() {
    one("MACHINE M DEFINITIONS pair(x) == x|->x CONSTANTS c,d PROPERTIES c = pair(1) & d = pair(TRUE) END");
}

#[test]
fn a_macro_bomb_is_defused() {
    let mut text = String::from("MACHINE M DEFINITIONS D0 == 1");
    for i in 1..=40 {
        text += &format!("; D{i} == D{0}+D{0}", i - 1);
    }
    text += " CONSTANTS c PROPERTIES c = D40 END";
    let message = rejected_one(&text);
    assert!(message.contains("grows beyond"), "{message}");
}

#[test]
fn an_error_in_a_body_names_the_call() {
    let message = rejected_one("MACHINE M DEFINITIONS D(x) == x + 1 CONSTANTS c PROPERTIES c = D(TRUE) END");
    assert!(message.contains("in the expansion of `D`, called here"), "{message}");
}

#[test]
fn definition_files_are_read_once_and_cycles_are_reported() {
    machine(&[
        ("M.mch", "MACHINE M DEFINITIONS \"a.def\"; \"b.def\" CONSTANTS c PROPERTIES c = A+B END"),
        ("a.def", "DEFINITIONS A == 1; \"b.def\""),
        ("b.def", "DEFINITIONS B == 2"),
    ]);
    let message = super::rejected(&[
        ("M.mch", "MACHINE M DEFINITIONS \"a.def\" END"),
        ("a.def", "DEFINITIONS A == 1; \"b.def\""),
        ("b.def", "DEFINITIONS B == 2; \"a.def\""),
    ]);
    assert!(message.contains("includes itself"), "{message}");
}

#[test]
fn settings_are_read_from_definitions() {
    let m = one(
        "MACHINE M SETS S; T DEFINITIONS SET_PREF_MAXINT == 10; SET_PREF_MININT == -5; SET_PREF_UNHEARD_OF == TRUE;
           scope_S == 4; scope_T == 2..4; GOAL == x = 2; SCOPE == x < 5;
           ASSERT_LTL == \"G {x>0}\"; ASSERT_LTL2 == \"F [a]\"; ASSERT_CTL == \"EF {x=1}\"
         VARIABLES x INVARIANT x:NAT INITIALISATION x := 0 OPERATIONS a = skip END",
    );
    assert_eq!((m.maxint, m.minint), (Int::from(10i64), Int::from(-5i64)));
    assert_eq!((m.sets[0].elems.len(), m.sets[1].elems.len()), (4, 3));
    assert!(m.goal.is_some() && m.scope.is_some());
    assert_eq!((m.ltl.len(), m.ctl.len()), (2, 1));
}

#[test]
fn a_goal_that_makes_no_sense_is_a_warning_and_stays_unevaluated() {
    let loaded = load_files(&[("M.mch", "MACHINE M DEFINITIONS GOAL == nosuch = 1 OPERATIONS a = skip END")]);
    assert!(loaded.messages().contains("`GOAL` cannot be evaluated"), "{}", loaded.messages());
    // It must not vanish: whoever evaluates it finds that it cannot be done.
    let goal = loaded.model.as_ref().and_then(|m| m.machine.goal.as_ref());
    assert!(goal.is_some_and(|g| matches!(g.kind, PredKind::External(..))));
}

#[test]
fn external_functions_have_the_declared_type() {
    let m = machine(&[(
        "M.mch",
        "MACHINE M DEFINITIONS \"LibraryStrings.def\"; \"CHOOSE.def\"; \"LibraryIO.def\"
         CONSTANTS c, d PROPERTIES c = STRING_LENGTH(\"abc\") & d = CHOOSE({TRUE}) & printf(\"~w\", c) END",
    )]);
    assert_eq!(super::type_of(&m, "c"), "INTEGER");
    assert_eq!(super::type_of(&m, "d"), "BOOL");
}
