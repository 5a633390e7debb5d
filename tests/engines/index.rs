//! Sets that are asked many times for the elements that satisfy an equation: an index answers as a pass would.
//!
//! An index is made the second time, so every formula here is evaluated for many values.

use crate::support::binary::check_machine;
use serde_json::Value;

fn check(text: &str) -> Value {
    check_machine(text, &["--keep-going", "--engine", "evaluate"])
}

fn holds(assertion: &str) {
    let text = format!(
        "MACHINE M CONSTANTS W PROPERTIES W = {{x,y|x:0..20 & y:0..20 & x<=y}} ASSERTIONS {assertion} \
         OPERATIONS a = skip END"
    );
    let json = check(&text);
    assert_eq!(json["verdict"], "verified", "{assertion}: {json}");
}

#[test]
fn an_index_finds_the_elements_that_a_pass_finds() {
    holds("!s.(s:-1..41 => card({x,y|(x,y):W & x+y=s}) = card({x|x:0..20 & s-x:0..20 & x<=s-x}))");
    holds("!s.(s:0..99 => {x,y|(x,y):W & s=x*y} = {x,y|x:0..20 & y:0..20 & x<=y & bool(x*y=s)=TRUE})");
    holds(
        "!s.(s:-20..20 => {x,y|(x,y):W & x-y=s & x+y=6} = {x,y|x:0..6 & y=6-x & y:0..20 & bool(x-y=s)=TRUE & x<=y})",
    );
    holds("!s.(s:0..9 => {z|z:dom(W) & z mod 10 = s} = {z|z:0..20 & bool(z mod 10 = s)=TRUE})");
    holds("!(s,t).(s:0..9 & t:0..3 => (#(x,y).((x,y):W & x+y=s & y>=t) <=> (s>=t)))");
}

#[test]
fn an_element_without_a_value_is_not_passed_over() {
    // 5/0 has no value, whatever s is.
    let text = "MACHINE M CONSTANTS V PROPERTIES V = {x,y|x:0..9 & y:0..9} ASSERTIONS \
                !s.(s:0..9 => card({x,y|(x,y):V & x/y=s}) >= 0) OPERATIONS a = skip END";
    assert_eq!(check(text)["found"]["well_definedness"], 1);
    // Another conjunct that is false saves it.
    let text = text.replace("& x/y=s", "& x/y=s & y>0");
    assert_eq!(check(&text)["verdict"], "verified");
}

#[test]
fn an_index_belongs_to_one_set() {
    // v is a segment of 40 numbers that moves by one: each residue is met four times.
    let text = "MACHINE M VARIABLES v, k INVARIANT k:0..9 & !s.(s:0..9 => card({z|z:v & z mod 10 = s}) = 4) \
                & !s.(s:0..9 => min({z|z:v & z mod 10 = s}) - k : 0..9) INITIALISATION v := 0..39 || k := 0 \
                OPERATIONS up = PRE k<9 THEN v := {z|z-1:v & z>0} || k := k+1 END; stay = skip END";
    let json = check(text);
    assert_eq!((&json["verdict"], json["states"].as_u64()), (&"verified".into(), Some(10)), "{json}");
}
