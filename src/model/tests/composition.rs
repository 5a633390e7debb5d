//! Composition: what is visible, what runs, what is shared.

use super::{events, machine, names, rejected};
use bombus_lang::typed::{StmtKind, VarKind};

const COUNTER: (&str, &str) = (
    "N.mch",
    "MACHINE N VARIABLES x INVARIANT x : NAT INITIALISATION x := 0
     OPERATIONS inc = PRE x < 3 THEN x := x+1 END; r <-- get = r := x END",
);

#[test]
fn operations_of_included_machines_run_only_when_promoted_324() {
    let plain = machine(&[("M.mch", "MACHINE M INCLUDES N OPERATIONS two = inc END"), COUNTER]);
    assert_eq!(events(&plain), ["two"]);
    let promoted =
        machine(&[("M.mch", "MACHINE M INCLUDES N PROMOTES get OPERATIONS two = inc END"), COUNTER]);
    assert_eq!(events(&promoted), ["two", "get"]);
    let extended = machine(&[("M.mch", "MACHINE M EXTENDS N OPERATIONS two = inc END"), COUNTER]);
    assert_eq!(events(&extended), ["two", "inc", "get"]);
}

#[test]
fn prefixed_instances_are_independent_325() {
    let m = machine(&[
        (
            "M.mch",
            "MACHINE M INCLUDES p.N, q.N PROMOTES p.inc INVARIANT p.x <= q.x+3 OPERATIONS o = BEGIN p.inc || q.inc END END",
        ),
        COUNTER,
    ]);
    assert_eq!(names(&m, &m.variables), ["p.x", "q.x"]);
    assert_eq!(events(&m), ["o", "p.inc"]);
    assert!(matches!(m.initialisation.kind, StmtKind::Seq(_)));
}

#[test]
fn a_called_operation_keeps_its_precondition_326() {
    let m = machine(&[("M.mch", "MACHINE M INCLUDES N OPERATIONS o = inc END"), COUNTER]);
    let StmtKind::Call { op, .. } = &m.op(m.events[0]).body.kind else { panic!("no call") };
    assert!(matches!(m.op(*op).body.kind, StmtKind::Pre(..)));
}

#[test]
fn sets_and_constants_of_prefixed_instances_are_shared() {
    let inner = (
        "N.mch",
        "MACHINE N SETS S CONSTANTS k PROPERTIES k = 1 VARIABLES x INVARIANT x : S INITIALISATION x :: S END",
    );
    let m = machine(&[("M.mch", "MACHINE M INCLUDES p.N, q.N INVARIANT p.x = q.x or k = 1 END"), inner]);
    assert_eq!((m.sets.len(), m.constants.len(), m.variables.len()), (1, 1, 2));
    assert_eq!(m.properties.len(), 1);
}

#[test]
fn a_machine_seen_from_several_places_is_one_and_runs_beside_them() {
    // ProB explores the operations of a machine that is seen or used and included by nobody.
    let m = machine(&[
        ("M.mch", "MACHINE M SEES N INCLUDES A OPERATIONS o = skip END"),
        ("A.mch", "MACHINE A SEES N VARIABLES y INVARIANT y : NAT INITIALISATION y := x END"),
        COUNTER,
    ]);
    assert_eq!(names(&m, &m.variables), ["x", "y"]);
    assert_eq!(events(&m), ["o", "inc", "get"]);
}

#[test]
fn a_used_machine_that_is_included_elsewhere_runs_as_its_includer_says() {
    let m = machine(&[
        ("M.mch", "MACHINE M INCLUDES A, N OPERATIONS o = inc END"),
        ("A.mch", "MACHINE A USES N VARIABLES y INVARIANT y : NAT & y <= x INITIALISATION y := 0 END"),
        COUNTER,
    ]);
    assert_eq!(events(&m), ["o"]);
    assert_eq!(m.variables.len(), 2);
}

#[test]
fn definitions_of_other_machines_are_not_visible() {
    let message = rejected(&[
        ("M.mch", "MACHINE M SEES N CONSTANTS c PROPERTIES c = D END"),
        ("N.mch", "MACHINE N DEFINITIONS D == 1 END"),
    ]);
    assert!(message.contains("unknown identifier `D`"), "{message}");
}

#[test]
fn formal_parameters_equal_the_actual_ones() {
    let m = machine(&[
        ("M.mch", "MACHINE M SETS T = {a,b} INCLUDES N(T, 5) END"),
        (
            "N.mch",
            "MACHINE N(S, n) CONSTRAINTS n : NAT1 VARIABLES x, y INVARIANT x : S & y : 0..n INITIALISATION x :: S || y := n END",
        ),
    ]);
    assert_eq!(super::type_of(&m, "x"), "T");
    assert_eq!(names(&m, &m.constants), ["S", "n"]);
    assert_eq!(m.properties.len(), 3);
}

#[test]
fn parameters_of_the_main_machine_are_sets_and_constants() {
    let m = super::one(
        "MACHINE M(S, n) CONSTRAINTS n : 1..2 VARIABLES x INVARIANT x <: S & card(x) <= n INITIALISATION x := {} END",
    );
    assert_eq!(m.sets[0].elems.len(), 2);
    assert_eq!(names(&m, &m.constants), ["n"]);
}

#[test]
fn a_refinement_runs_its_own_variables_and_operations() {
    let m = machine(&[
        (
            "R.ref",
            "REFINEMENT R REFINES A VARIABLES x, z INVARIANT z = y + 1 & z : NAT INITIALISATION x,z := 0,1
             OPERATIONS set(v) = BEGIN x := v || z := v END END",
        ),
        (
            "A.mch",
            "MACHINE A SETS S CONSTANTS k PROPERTIES k : S VARIABLES x, y INVARIANT x : NAT & y : NAT & x <= y INITIALISATION x,y := 0,0
             OPERATIONS set(v) = PRE v : 1..2 THEN x,y := v,v END END",
        ),
    ]);
    assert_eq!(names(&m, &m.variables), ["x", "z"]);
    // "y : NAT", "x <= y" and "z = y + 1" are for the lock-step check.
    assert!(m.unchecked.is_empty());
    assert_eq!(m.invariant.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["x : NAT", "z : NAT"]);
    assert_eq!(events(&m), ["set"]);
    // The refined precondition bounds the parameter.
    assert!(matches!(m.op(m.events[0]).body.kind, StmtKind::Pre(..)));
    assert_eq!(super::type_of(&m, "v"), "INTEGER");
    assert!(m.vars.iter().any(|v| &*v.name == "y" && v.kind == VarKind::Variable));
}

#[test]
fn an_implementation_imports_values_and_calls() {
    let m = machine(&[
        (
            "I.imp",
            "IMPLEMENTATION I REFINES A IMPORTS N VALUES k = 2 INITIALISATION skip OPERATIONS go = inc END",
        ),
        ("A.mch", "MACHINE A CONCRETE_CONSTANTS k PROPERTIES k : NAT OPERATIONS go = skip END"),
        COUNTER,
    ]);
    assert_eq!(names(&m, &m.variables), ["x"]);
    assert_eq!(m.properties.len(), 2);
    assert_eq!(events(&m), ["go"]);
}

#[test]
fn cycles_and_missing_machines_are_reported() {
    let message = rejected(&[("M.mch", "MACHINE M SEES N END"), ("N.mch", "MACHINE N SEES M END")]);
    assert!(message.contains("in a circle: M → N → M"), "{message}");
    let message = rejected(&[("M.mch", "MACHINE M SEES Nowhere END")]);
    assert!(
        message.contains("cannot find the machine `Nowhere`") && message.contains("--include"),
        "{message}"
    );
}

#[test]
fn one_instance_has_one_including_machine() {
    let message =
        rejected(&[("M.mch", "MACHINE M INCLUDES A, N END"), ("A.mch", "MACHINE A INCLUDES N END"), COUNTER]);
    assert!(message.contains("the machine `N` is included twice"), "{message}");
}
