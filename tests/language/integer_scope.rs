//! `--integers-in-scope`: one meaning in all engines (docs/scope.md).
//!
//! MININT..MAXINT is -1..3 unless said. Figures follow from the models by hand.

use crate::support::binary::{Folder, check_machine};
use serde_json::Value;
use std::process::Output;

fn output(text: &str, options: &[&str]) -> Output {
    Folder::with_machine(text).check(&[&["--keep-going"], options].concat())
}

fn run(text: &str, options: &[&str]) -> Value {
    check_machine(text, &[&["--keep-going"], options].concat())
}

/// Verdict, states and transitions in every engine, which must agree.
fn everywhere(text: &str, options: &[&str]) -> String {
    let engines: [&[&str]; 3] = [&[], &["--no-native"], &["--engine", "evaluate"]];
    let words = engines.map(|engine| {
        let j = run(text, &[engine, options].concat());
        format!("{} {}/{}", j["verdict"], j["states"], j["transitions"]).replace('"', "")
    });
    assert!(words.iter().all(|w| *w == words[0]), "the engines differ on {text}: {words:?}");
    words[0].clone()
}

fn in_scope(text: &str) -> String {
    everywhere(text, &["--integers-in-scope"])
}

/// A machine with one number, which begins with `first`.
fn number(first: i64, operations: &str) -> String {
    format!("MACHINE M VARIABLES x INVARIANT x:INTEGER INITIALISATION x:={first} OPERATIONS {operations} END")
}

#[test]
fn what_a_state_bounds_is_not_cut_to_the_scope() {
    // y is an element of the variable a, told by a double negation.
    let text = "MACHINE M VARIABLES x, a INVARIANT x:0..99 & a<:0..99 INITIALISATION x:=1 || a:={3,50,70} \
                OPERATIONS op(y) = PRE y>=0 & not(y/:a) THEN x:=y END END";
    assert_eq!(in_scope(text), "verified 4/12");
    assert_eq!(everywhere(text, &[]), "verified 4/12");
    // The range of f is a variable: {7|->..} leaves two surjections.
    let text = "MACHINE M VARIABLES q, g INVARIANT q<:INTEGER & g:BOOL+->INTEGER INITIALISATION q:={8,9} || g:={} \
                OPERATIONS op = ANY f WHERE f:BOOL-->INTEGER & ran(f)=q THEN g:=f END END";
    assert_eq!(in_scope(text), "verified 3/6");
    assert_eq!(everywhere(text, &[]), "verified 3/6");
}

#[test]
fn a_table_bounds_what_it_is_applied_to() {
    // next(s,k) has a value for k=10 and k=20 alone. Steps: 10 from a to b, 20 from a to a, 20 from b to a.
    let text = "MACHINE M SETS S={a,b} CONSTANTS next \
                PROPERTIES next={(a,10)|->{b}, (a,20)|->{a}, (b,20)|->{a}} VARIABLES s INVARIANT s:S \
                INITIALISATION s:=a OPERATIONS step(k,t) = PRE t:next(s,k) THEN s:=t END END";
    assert_eq!(in_scope(text), "verified 2/3");
    assert_eq!(everywhere(text, &[]), "verified 2/3");
}

#[test]
fn a_bound_on_one_side_is_where_the_window_begins_or_ends() {
    // Above MAXINT the bound alone is tried, whether the text or the state tells it.
    assert_eq!(in_scope(&number(0, "op(y) = PRE y>20 THEN x:=y END")), "verified 2/2");
    assert_eq!(in_scope(&number(7, "op(y) = PRE y:NATURAL & y>=x THEN x:=y END")), "verified 1/1");
    // From 2 to MAXINT; from MININT to -1; below MININT; from -4 to MAXINT.
    assert_eq!(in_scope(&number(2, "op(y) = PRE y>=2 THEN x:=y END")), "verified 2/4");
    assert_eq!(in_scope(&number(-1, "op(y) = PRE y<0 THEN x:=y END")), "verified 1/1");
    assert_eq!(in_scope(&number(-9, "op(y) = PRE y <= -9 THEN x:=y END")), "verified 1/1");
    assert_eq!(in_scope(&number(0, "op(y) = PRE y >= -4 THEN x:=y END")), "verified 8/64");
    // A constant above MAXINT: m is 12, x runs from 0 to 12.
    let text = "MACHINE M CONSTANTS m PROPERTIES m>11 VARIABLES x INVARIANT x:0..m INITIALISATION x:=0 \
                OPERATIONS inc = PRE x<m THEN x:=x+1 END; back = PRE x=m THEN x:=0 END END";
    assert_eq!(in_scope(text), "verified 13/13");
}

#[test]
fn a_window_without_a_solution_enables_nothing() {
    // No y of 5..5 is even: op is never enabled, and idle is.
    assert_eq!(
        in_scope(&number(5, "op(y) = PRE y>=x & y mod 2=0 THEN x:=y END; idle = skip")),
        "verified 1/1"
    );
    // Without another operation that is a deadlock of the model in this scope.
    assert_eq!(in_scope(&number(5, "op(y) = PRE y>=x & y mod 2=0 THEN x:=y END")), "violated 1/0");
    // The windows of b are 0..3, 4..4 and 8..8, with one solution, none and one.
    let text = number(0, "op(a,b) = PRE a:0..2 & b>=a*4 & b mod 3=2 THEN x:=0 END; idle = skip");
    assert_eq!(in_scope(&text), "verified 1/3");
    // No constants, no initial state: nothing was looked at, and nothing is claimed.
    let text = "MACHINE M CONSTANTS m PROPERTIES m>20 & m mod 2=0 OPERATIONS op = skip END";
    assert!(in_scope(text).starts_with("incomplete 0/0"), "{}", in_scope(text));
    let text = "MACHINE M VARIABLES x INVARIANT x:INTEGER INITIALISATION x:(x>20 & x mod 2=0) OPERATIONS op = skip END";
    assert!(in_scope(text).starts_with("incomplete 0/0"), "{}", in_scope(text));
}

#[test]
fn pairs_records_sets_and_functions_are_made_of_integers_in_the_window() {
    let chosen = |ty: &str, pred: &str| {
        format!(
            "MACHINE M SETS S={{a,b}} VARIABLES v INVARIANT v:{ty} INITIALISATION v:({pred}) OPERATIONS op = skip END"
        )
    };
    // 2 elements, 2 truth values, 5 integers.
    assert_eq!(in_scope(&chosen("S*BOOL*INTEGER", "v:S*BOOL*INTEGER")), "verified 20/20");
    assert_eq!(in_scope(&chosen("struct(n:NATURAL,s:S)", "v:struct(n:NATURAL,s:S)")), "verified 8/8");
    // The bound of a part is where the window of that part begins.
    assert_eq!(in_scope(&chosen("INTEGER*S", "v:(NATURAL-(0..50))*S")), "verified 2/2");
    assert_eq!(in_scope(&chosen("POW(INTEGER)", "v<:NATURAL1")), "verified 8/8");
    // One argument, and a function with two arguments for it.
    assert_eq!(in_scope(&chosen("{TRUE}-->(S-->NATURAL1)", "v:{TRUE}-->(S-->NATURAL1)")), "verified 9/9");
    assert_eq!(in_scope(&chosen("INTEGER+->S", "v:NATURAL1>+>{a}")), "verified 4/4");
    // A total function of infinitely many arguments is no function of those in the window.
    assert!(in_scope(&chosen("INTEGER-->S", "v:INTEGER-->S & v(1)=a")).starts_with("incomplete"));
    // The same by `::`.
    let text = "MACHINE M SETS S={a,b} VARIABLES v,w INVARIANT v:S*NATURAL & w:INTEGER INITIALISATION v,w::S*NATURAL*{9} \
                OPERATIONS op = skip END";
    assert_eq!(in_scope(text), "verified 8/8");
}

#[test]
fn rows_of_a_function_begin_where_their_bound_does() {
    let text = "MACHINE M CONSTANTS f PROPERTIES f:BOOL-->INTEGER & !b.(b:BOOL => f(b)>10) VARIABLES x INVARIANT x:BOOL \
                INITIALISATION x:=TRUE OPERATIONS op = skip END";
    assert_eq!(in_scope(text), "verified 1/1");
    let text = "MACHINE M CONSTANTS f PROPERTIES f:BOOL-->NATURAL VARIABLES x INVARIANT x:BOOL \
                INITIALISATION x:=TRUE OPERATIONS op = skip END";
    assert_eq!(in_scope(text), "verified 16/16");
}

#[test]
fn a_quantifier_speaks_of_the_window_where_nothing_bounds_it() {
    let guarded = |guard: &str| number(0, &format!("op = PRE {guard} THEN skip END; idle = skip"));
    // 0..3 have squares 0, 1, 4, 9: none is 3 modulo 7, one is 2 modulo 7.
    assert_eq!(in_scope(&guarded("!n.(n:NATURAL => (n*n) mod 7 /= 3)")), "verified 1/2");
    assert_eq!(in_scope(&guarded("!n.(n:NATURAL => (n*n) mod 7 /= 2)")), "verified 1/1");
    assert_eq!(in_scope(&guarded("#n.(n:NATURAL & (n*n) mod 7 = 2)")), "verified 1/2");
    assert_eq!(in_scope(&guarded("#n.(n:NATURAL & (n*n) mod 7 = 3)")), "verified 1/1");
    // What is decided for all integers is not cut: beyond the window there is a witness.
    assert_eq!(in_scope(&guarded("#n.(n:NATURAL & n > 1000)")), "verified 1/2");
    assert_eq!(in_scope(&guarded("#n.(n:INTEGER & n+7 : {100,200})")), "verified 1/2");
    // In an invariant and in an assertion.
    let text = "MACHINE M VARIABLES x INVARIANT x:0..1 & !n.(n:NATURAL => (n*n) mod 7 /= 3) ASSERTIONS \
                #m.(m:INTEGER & m*m*m+m = 10) INITIALISATION x:=0 OPERATIONS op = x:=1-x END";
    assert_eq!(in_scope(text), "verified 2/2");
    assert!(everywhere(text, &[]).starts_with("incomplete"));
    // A set is a value and stays what it is: 1000 is in it.
    assert_eq!(in_scope(&guarded("1000 : {n|n:NATURAL & (n*n) mod 7 /= 3}")), "verified 1/2");
}

#[test]
fn no_run_in_the_scope_ends_with_an_internal_error() {
    for (text, status) in [
        (number(5, "op(y) = PRE y:NATURAL & y>=x THEN x:=y END"), 0),
        (number(0, "op = ANY i WHERE i:NATURAL1 & i+x /: 0..9 & x=0 THEN x:=1 END; idle = skip"), 0),
    ] {
        for engine in ["compiled", "evaluate"] {
            let out = output(&text, &["--integers-in-scope", "--engine", engine]);
            assert_eq!(out.status.code(), Some(status), "{engine}: {text}");
        }
    }
}
