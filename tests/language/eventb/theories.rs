//! Theories: operators, datatypes and recursion, in Rodin projects and in packages.

use super::projects::{LIGHTS, write, zipped};
use super::{Seen, check_path};
use bombus::model::LoadOptions;

/// Lists with length and reversal; a predicate by recursion; an operator that another one calls.
const THEORY: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<org.eventb.theory.core.theoryRoot>
<org.eventb.theory.core.typeParameter name="a" org.eventb.core.identifier="T"/>
<org.eventb.theory.core.datatypeDefinition name="b" org.eventb.core.identifier="List">
<org.eventb.theory.core.typeArgument name="a" org.eventb.theory.core.givenType="T"/>
<org.eventb.theory.core.datatypeConstructor name="n" org.eventb.core.identifier="nil"/>
<org.eventb.theory.core.datatypeConstructor name="c" org.eventb.core.identifier="cons">
<org.eventb.theory.core.constructorArgument name="h" org.eventb.core.identifier="head" org.eventb.theory.core.type="T"/>
<org.eventb.theory.core.constructorArgument name="t" org.eventb.core.identifier="tail" org.eventb.theory.core.type="List(T)"/>
</org.eventb.theory.core.datatypeConstructor>
</org.eventb.theory.core.datatypeDefinition>
<org.eventb.theory.core.newOperatorDefinition name="o1" org.eventb.core.label="length" org.eventb.theory.core.formulaType="true" org.eventb.theory.core.notationType="PREFIX">
<org.eventb.theory.core.operatorArgument name="l" org.eventb.core.identifier="l" org.eventb.core.expression="List(T)"/>
<org.eventb.theory.core.recursiveOperatorDefinition name="r" org.eventb.theory.core.inductiveArgument="l">
<org.eventb.theory.core.recursiveDefinitionCase name="1" org.eventb.core.expression="nil" org.eventb.theory.core.formula="0"/>
<org.eventb.theory.core.recursiveDefinitionCase name="2" org.eventb.core.expression="cons(x,l0)" org.eventb.theory.core.formula="1+length(l0)"/>
</org.eventb.theory.core.recursiveOperatorDefinition>
</org.eventb.theory.core.newOperatorDefinition>
<org.eventb.theory.core.newOperatorDefinition name="o2" org.eventb.core.label="holds" org.eventb.theory.core.formulaType="false" org.eventb.theory.core.notationType="PREFIX">
<org.eventb.theory.core.operatorArgument name="l" org.eventb.core.identifier="l" org.eventb.core.expression="List(T)"/>
<org.eventb.theory.core.operatorArgument name="e" org.eventb.core.identifier="e" org.eventb.core.expression="T"/>
<org.eventb.theory.core.recursiveOperatorDefinition name="r" org.eventb.theory.core.inductiveArgument="l">
<org.eventb.theory.core.recursiveDefinitionCase name="1" org.eventb.core.expression="nil" org.eventb.theory.core.formula="⊥"/>
<org.eventb.theory.core.recursiveDefinitionCase name="2" org.eventb.core.expression="cons(x,l0)" org.eventb.theory.core.formula="x=e ∨ holds(l0,e)"/>
</org.eventb.theory.core.recursiveOperatorDefinition>
</org.eventb.theory.core.newOperatorDefinition>
<org.eventb.theory.core.newOperatorDefinition name="o3" org.eventb.core.label="twice" org.eventb.theory.core.formulaType="true" org.eventb.theory.core.notationType="PREFIX">
<org.eventb.theory.core.operatorArgument name="l" org.eventb.core.identifier="l" org.eventb.core.expression="List(T)"/>
<org.eventb.theory.core.directOperatorDefinition name="d" org.eventb.theory.core.formula="2∗length(l)"/>
</org.eventb.theory.core.newOperatorDefinition>
</org.eventb.theory.core.theoryRoot>"#;

/// A stack of at most two of the numbers 1 and 2.
const MACHINE: &str = r#"<org.eventb.core.machineFile version="5">
<org.eventb.core.variable name="v" org.eventb.core.identifier="s"/>
<org.eventb.core.invariant name="i" org.eventb.core.label="inv1" org.eventb.core.predicate="s ∈ List(1‥2)"/>
<org.eventb.core.invariant name="j" org.eventb.core.label="inv2" org.eventb.core.predicate="twice(s) ≤ 4"/>
<org.eventb.core.invariant name="k" org.eventb.core.label="inv3" org.eventb.core.predicate="s≠nil ⇒ holds(s,head(s))"/>
<org.eventb.core.event name="e0" org.eventb.core.convergence="0" org.eventb.core.label="INITIALISATION">
<org.eventb.core.action name="a" org.eventb.core.assignment="s ≔ nil" org.eventb.core.label="act1"/>
</org.eventb.core.event>
<org.eventb.core.event name="e1" org.eventb.core.convergence="0" org.eventb.core.label="push">
<org.eventb.core.parameter name="p" org.eventb.core.identifier="e"/>
<org.eventb.core.guard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="e ∈ 1‥2 ∧ length(s)&lt;2"/>
<org.eventb.core.action name="a" org.eventb.core.assignment="s ≔ cons(e,s)" org.eventb.core.label="act1"/>
</org.eventb.core.event>
<org.eventb.core.event name="e2" org.eventb.core.convergence="0" org.eventb.core.label="pop">
<org.eventb.core.guard name="g" org.eventb.core.label="grd1" org.eventb.core.predicate="s ≠ nil"/>
<org.eventb.core.action name="a" org.eventb.core.assignment="s ≔ tail(s)" org.eventb.core.label="act1"/>
</org.eventb.core.event>
</org.eventb.core.machineFile>"#;

const STACK: &[(&str, &str)] = &[("Lists.tuf", THEORY), ("Stack.bum", MACHINE)];

/// Stacks over two values of length 0, 1 and 2: 1+2+4; two pushes from three of them, one pop from six.
fn seven() -> Seen {
    Seen { states: 7, transitions: 12, findings: vec![] }
}

#[test]
fn a_rodin_project_may_hold_a_theory() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), STACK);
    assert_eq!(check_path(dir.path(), &LoadOptions::default()).expect("a model"), seven());
    let path = dir.path().join("stack.zip");
    zipped(&path, STACK);
    assert_eq!(check_path(&path, &LoadOptions::default()).expect("a model"), seven());
}

#[test]
fn membership_in_a_datatype_over_a_set_is_checked() {
    let dir = tempfile::tempdir().expect("a directory");
    let wider = MACHINE.replace("e ∈ 1‥2", "e ∈ 1‥3");
    write(dir.path(), &[("Lists.tuf", THEORY), ("Stack.bum", &wider)]);
    let seen = check_path(dir.path(), &LoadOptions::default()).expect("a model");
    assert_eq!(seen.findings[0], "Invariant: Stack / inv1: s ∈ List(1‥2)");
}

#[test]
fn a_datatype_may_be_used_over_several_types() {
    let dir = tempfile::tempdir().expect("a directory");
    let context = r#"<org.eventb.core.contextFile version="3">
<org.eventb.core.constant name="c" org.eventb.core.identifier="c"/>
<org.eventb.core.axiom name="d" org.eventb.core.label="axm1" org.eventb.core.predicate="c = length(cons(TRUE,nil)) + length(cons(1,cons(2,nil))) + length(cons(cons(1,nil),nil))"/>
<org.eventb.core.axiom name="e" org.eventb.core.label="axm2" org.eventb.core.predicate="c = 4" org.eventb.core.theorem="true"/>
</org.eventb.core.contextFile>"#;
    write(dir.path(), &[("Lists.tuf", THEORY), ("C.buc", context)]);
    assert_eq!(
        check_path(dir.path(), &LoadOptions::default()).expect("a model").findings,
        Vec::<String>::new()
    );
}

#[test]
fn a_theory_that_is_missing_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = r#"<org.eventb.theory.core.theoryLoadPathRoot><org.eventb.theory.core.availableTheoryProject name="p">
<org.eventb.theory.core.availableTheory name="t" org.eventb.theory.core.availableTheory="/Lib/Lists.dtf|org.eventb.theory.core.deployedTheoryRoot#Lists"/>
</org.eventb.theory.core.availableTheoryProject></org.eventb.theory.core.theoryLoadPathRoot>"#;
    write(dir.path(), &[("TheoryPath.tul", path), ("Stack.bum", MACHINE)]);
    let message = check_path(dir.path(), &LoadOptions::default()).expect_err("bad input");
    assert!(message.contains("theories that it does not hold: Lists"), "{message}");
    assert!(message.contains("Stack / inv1"), "{message}");
    // A theory that nothing uses is not missed.
    let files: Vec<(&str, &str)> = LIGHTS.iter().copied().chain([("TheoryPath.tul", path)]).collect();
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), &files);
    assert_eq!(check_path(dir.path(), &LoadOptions::default()).expect("a model").states, 6);
}

#[test]
fn a_damaged_theory_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    for (from, to, words) in [
        ("theoryRoot", "html", "not a theory of Rodin"),
        ("1+length(l0)", "1+", "Lists / length"),
        ("PREFIX", "INFIX", "not written before its arguments"),
        (r#"org.eventb.theory.core.inductiveArgument="l""#, "", "has no argument"),
    ] {
        write(dir.path(), &[("Lists.tuf", &THEORY.replace(from, to)), ("Stack.bum", MACHINE)]);
        let message = check_path(dir.path(), &LoadOptions::default()).expect_err("bad input");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_recursion_that_misses_a_constructor_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let case = r#"<org.eventb.theory.core.recursiveDefinitionCase name="1" org.eventb.core.expression="nil" org.eventb.theory.core.formula="0"/>"#;
    write(dir.path(), &[("Lists.tuf", &THEORY.replace(case, "")), ("Stack.bum", MACHINE)]);
    let message = check_path(dir.path(), &LoadOptions::default()).expect_err("bad input");
    assert!(message.contains("length: not every constructor has a case"), "{message}");
}
