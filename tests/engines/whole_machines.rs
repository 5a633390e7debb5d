//! Section J of the reference table: whole machines, checked by both engines through the binary.
//!
//! `states/transitions` are counted as ProB counts them. Where the table marks a row as a recorded result of ProB, the
//! figures are ProB's; the others follow from the model by hand.

use crate::support::binary::{Folder, json};
use serde_json::Value;

/// What both engines say about the first of some files: counts, verdict, kinds of findings.
fn check(files: &[(&str, &str)], options: &[&str]) -> Value {
    let folder = Folder::new();
    for (name, text) in files {
        folder.write(&format!("{name}.mch"), text);
    }
    let main = format!("{}.mch", files[0].0);
    let run = |engine: &str| -> Value {
        let mut command = folder.bombus();
        command.args(["check", &main, "--json", "--engine", engine]).args(options);
        json(&command.output().expect("the binary runs"))
    };
    let (reference, compiled) = (run("evaluate"), run("compiled"));
    for field in ["verdict", "prob", "found", "scope"] {
        assert_eq!(reference[field], compiled[field], "{field} of {}", files[0].1);
    }
    compiled
}

/// `states/transitions`, then the kinds that were found.
fn summary(files: &[(&str, &str)]) -> String {
    let json = check(files, &["--keep-going"]);
    let mut words = format!("{}/{}", json["prob"]["states"], json["prob"]["transitions"]);
    for (kind, n) in json["found"].as_object().expect("an object") {
        if n != 0 {
            words += &format!(" {kind}");
        }
    }
    if json["verdict"] == "incomplete" {
        words += " incomplete";
    }
    words
}

fn one(text: &str) -> String {
    summary(&[("M", text)])
}

/// The size of a set in the scope of a machine.
fn size(text: &str, set: &str) -> i64 {
    check(&[("M", text)], &["--no-deadlock"])["scope"]["sets"][set].as_i64().expect("a size")
}

fn counter(operations: &str) -> String {
    format!("MACHINE M VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 OPERATIONS {operations} END")
}

#[test]
fn a_deferred_set_has_two_elements_unless_something_says_more() {
    // 314: the two values of c differ only by the name of an element. So c is the first element, and nothing is
    // left to be set up.
    assert_eq!(one("MACHINE M SETS S CONSTANTS c PROPERTIES c:S END"), "1/1 deadlock");
    assert_eq!(size("MACHINE M SETS S CONSTANTS c PROPERTIES c:S END", "S"), 2);
    // 315, 316
    assert_eq!(size("MACHINE M SETS S PROPERTIES card(S)=4 END", "S"), 4);
    assert_eq!(size("MACHINE M SETS S DEFINITIONS scope_S==3 END", "S"), 3);
}

#[test]
fn a_bijection_to_a_known_set_tells_the_size() {
    // 317: up to the names of the elements of S there is one bijection.
    let text = "MACHINE M SETS S; T={a,b,c} CONSTANTS f PROPERTIES f:S>->>T END";
    assert_eq!(size(text, "S"), 3);
    assert_eq!(one(text), "2/2 deadlock");
}

#[test]
fn a_bijection_names_the_elements_before_a_single_constant_does() {
    // The bijection can be taken as the numbering; then c is any of the four.
    let text = "MACHINE M SETS S CONSTANTS f,c PROPERTIES f:S>->>1..4 & card(S)=4 & c:S END";
    assert_eq!(one(text), "8/8 deadlock");
}

#[test]
fn properties_choose_the_constants() {
    // 318: two valuations with one state each.
    assert_eq!(one("MACHINE M CONSTANTS k PROPERTIES k:1..3 & k>1 OPERATIONS a = skip END"), "4/6");
    // 319: an error, and no deadlock.
    assert_eq!(one("MACHINE M PROPERTIES 1=2 OPERATIONS a = skip END"), "0/0 properties");
}

#[test]
fn a_counter_shows_what_the_checks_mean() {
    // 320: x=4 is reached by four steps after the initialisation.
    let json = check(&[("M", &counter("inc = x:=x+1"))], &[]);
    assert_eq!(json["violation"]["kind"], "invariant");
    assert_eq!(json["violation"]["trace"].as_array().map(Vec::len), Some(5));
    assert_eq!(json["violation"]["trace"][4]["state"]["x"], "4");
    // 321, 322, 323
    assert_eq!(one(&counter("inc = PRE x<3 THEN x:=x+1 END")), "4/4 deadlock");
    assert_eq!(one(&counter("inc = PRE x<3 THEN x:=x+1 END; nop = skip")), "4/8");
    assert_eq!(one(&counter("inc(n) = PRE n:1..2 & x=0 THEN x:=x+n END")), "3/3 deadlock");
}

#[test]
fn integers_do_not_stop_at_maxint() {
    // 327
    let text = "MACHINE M VARIABLES x INVARIANT x:NAT INITIALISATION x:=0 OPERATIONS inc = x:=x+1 END";
    let json = check(&[("M", text)], &[]);
    assert_eq!(json["violation"]["kind"], "invariant");
    assert_eq!(json["violation"]["trace"][4]["state"]["x"], "4");
}

const PART: (&str, &str) = (
    "Part",
    "MACHINE Part VARIABLES x INVARIANT x:0..1 INITIALISATION x:=0 \
     OPERATIONS inc = PRE x<1 THEN x:=x+1 END END",
);

#[test]
fn an_included_machine_has_no_transitions_of_its_own() {
    // 324
    let main = "MACHINE M INCLUDES Part OPERATIONS nop = skip END";
    assert_eq!(summary(&[("M", main), PART]), "1/2");
}

#[test]
fn copies_with_prefixes_are_independent() {
    // 325: each of two bits is set once, in either order.
    let main = "MACHINE M INCLUDES p.Part, q.Part PROMOTES p.inc, q.inc END";
    assert_eq!(summary(&[("M", main), PART]), "4/5 deadlock");
}

#[test]
fn a_called_operation_with_a_false_precondition_is_an_error() {
    // 326: the call is right once.
    let main = "MACHINE M INCLUDES Part OPERATIONS call = BEGIN inc END END";
    assert_eq!(summary(&[("M", main), PART]), "2/2 precondition");
}

#[test]
fn assertions_and_goals_are_looked_for_in_every_state() {
    // 328, 329
    let text =
        "MACHINE M ASSERTIONS 1=2 VARIABLES x INVARIANT x=1 INITIALISATION x:=1 OPERATIONS a = skip END";
    assert_eq!(one(text), "1/2 assertion");
    let text = "MACHINE M DEFINITIONS GOAL == x=2 VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 \
                OPERATIONS inc = PRE x<3 THEN x:=x+1 END; nop = skip END";
    assert_eq!(one(text), "4/8 goal");
}

#[test]
fn recorded_results_of_prob_are_reproduced() {
    // 330
    let text = "MACHINE M VARIABLES level INVARIANT level:NATURAL INITIALISATION level:=100 OPERATIONS \
                Dec = BEGIN level : (level>=0 & level> level$0-5 & level < level$0) END END";
    assert_eq!(one(text), "101/395 deadlock");
    // 331
    let text = "MACHINE M SETS ID; ID2={ID0,ID1} CONSTANTS iv, ID3 PROPERTIES card(ID)=6 & iv:ID2 & ID3=3 \
                VARIABLES xx, ID4 INVARIANT xx:ID & ID4:ID INITIALISATION xx::ID || ID4::ID \
                OPERATIONS Set(yy)=PRE yy:ID THEN xx:=yy END END";
    assert_eq!(one(text), "74/506");
    // 332
    let text = "MACHINE M SETS ID CONSTANTS a,zz,b,c,d PROPERTIES a:ID & b:ID & c:ID & d:ID & zz:ID & a/=b & \
                a/=c & a/=d & b/=c & b/=d & c/=d & a/=zz VARIABLES xx INVARIANT xx:ID INITIALISATION xx:=a \
                OPERATIONS Set(yy)=PRE yy:ID THEN xx:=yy END END";
    assert_eq!(one(text), "15/54");
    // 333: the bound y captures the argument's y.
    let text = "MACHINE M DEFINITIONS egt(x) == (#y.(y:NATURAL1 & y<100 & x<y)) VARIABLES y \
                INVARIANT y:INTEGER & egt(y+1) INITIALISATION y:=5 OPERATIONS a = skip END";
    assert_eq!(one(text), "1/2 invariant");
}

#[test]
fn an_assertion_is_broken_in_every_state_that_breaks_it_whatever_led_there() {
    // x counts to 5, y is 0 or 1: two of 12 states have x = 5, and `flip` leads from one to the other.
    let text = "MACHINE M VARIABLES x, y INVARIANT x : 0..9 & y : 0..1 ASSERTIONS x < 5; y >= 0
         INITIALISATION x := 0 || y := 0
         OPERATIONS up = PRE x < 5 & y = 0 THEN x := x + 1 END; flip = y := 1 - y END";
    let found = check(&[("M", text)], &["--keep-going"]);
    assert_eq!(found["states"], 12);
    assert_eq!(found["found"]["assertion"], 2);
}

#[test]
fn what_is_no_sequence_makes_a_guard_undefined_and_leaves_nothing_open() {
    // `p -> r` has no value for any p, so p is not looked for in what the guard allows it to be a part of.
    let no = counter("a(p) = SELECT p:0..3 & (p -> {3|->3,3|->1}) : ({} +-> {0,1}) THEN x:=p END");
    assert_eq!(one(&no), "1/1 deadlock");
    let yes = counter("a(p) = SELECT p:0..3 & (p -> [1]) : {[2,1],[0,1],[7,1]} THEN x:=p END");
    assert_eq!(one(&yes), "2/5");
}
