//! Choices that nothing bounds, of values that the machine only copies and tests against numbers: when the integers of
//! the scope stand for all others, and every way to tell a value that must forbid it.
//!
//! MININT..MAXINT is -1..3 here, and 7 is a value beyond it. Each machine that must stay incomplete is violated when
//! MAXINT is larger, so that it would be verified wrongly if its rule were dropped.

mod random;

use crate::support::binary::{Folder, json};
use crate::support::number_from_env;
use serde_json::Value;

/// After `=====` comes the machine `Included`.
fn run(text: &str, options: &[&str]) -> Value {
    let folder = Folder::new();
    for (i, part) in text.split("=====").enumerate() {
        folder.write(if i == 0 { "M.mch" } else { "Included.mch" }, part);
    }
    json(&folder.check(&[&["--workers", "1"], options].concat()))
}

/// The verdict of both engines.
fn verdict(text: &str, options: &[&str]) -> String {
    let words = ["evaluate", "compiled"].map(|engine| {
        let json = run(text, &[options, &["--engine", engine]].concat());
        json["verdict"].as_str().unwrap_or("?").to_string()
    });
    assert_eq!(words[0], words[1], "the engines differ on {text}");
    words[0].clone()
}

/// The values tried stand for the others, and more of them change nothing.
fn stands(text: &str) {
    let json = run(text, &[]);
    assert_eq!(json["verdict"], "verified", "{text}\n{json}");
    assert!(json["warnings"].to_string().contains("stand for all others"), "{text}\n{json}");
    assert_eq!(verdict(text, &[]), "verified", "{text}");
    assert_eq!(verdict(text, &["--maxint", beyond(text)]), "verified", "{text}");
}

/// Nothing is claimed, and rightly so.
fn stays_open(text: &str) {
    assert_eq!(verdict(text, &[]), "incomplete", "{text}");
    assert_eq!(verdict(text, &["--maxint", beyond(text)]), "violated", "{text}");
}

/// A larger MAXINT. For four copies of positive numbers one more than three tells enough.
fn beyond(text: &str) -> &'static str {
    if text.contains("NATURAL1") { "4" } else { "7" }
}

/// `x` is set to any natural number by `set`; then come more operations.
fn copied(invariant: &str, more: &str) -> String {
    format!(
        "MACHINE M VARIABLES x, b INVARIANT x:INTEGER & b:BOOL & {invariant} INITIALISATION x := 0 || b := TRUE \
         OPERATIONS set(n) = PRE n:NATURAL THEN x := n END {more} END"
    )
}

/// Four copies of positive numbers; all are different only if there are four of them.
fn four(invariant: &str, more: &str) -> String {
    format!(
        "MACHINE M DEFINITIONS APART(P,Q,R,S) == (P /= Q & P /= R & P /= S & Q /= R & Q /= S & R /= S) \
         VARIABLES p, q, r, s INVARIANT p:INTEGER & q:INTEGER & r:INTEGER & s:INTEGER & {invariant} \
         INITIALISATION p := 1 || q := 1 || r := 1 || s := 1 \
         OPERATIONS setp(n) = PRE n:NATURAL1 THEN p := n END; setq(n) = PRE n:NATURAL1 THEN q := n END; \
         setr(n) = PRE n:NATURAL1 THEN r := n END; sets(n) = PRE n:NATURAL1 THEN s := n END {more} END"
    )
}

/// A function with up to four images, each set to a positive number.
fn table(invariant: &str, more: &str) -> String {
    format!(
        "MACHINE M VARIABLES f, t INVARIANT f : 1..4 +-> INTEGER & t <: INTEGER & {invariant} \
         INITIALISATION f := {{}} || t := {{}} OPERATIONS \
         put(i,n) = PRE i : 1..4 & (i = 1 or i-1 : dom(f)) & n:NATURAL1 THEN f(i) := n END {more} END"
    )
}

#[test]
fn values_that_are_only_copied_stand_for_all() {
    stands(&copied("x:NATURAL", ""));
    let json = run(&copied("x:NATURAL", ""), &[]);
    // 0..3 are the states, four transitions from each, and the initialisation.
    assert_eq!((json["prob"]["states"].as_u64(), json["prob"]["transitions"].as_u64()), (Some(4), Some(17)));
    stands(&four("p:NATURAL1", "; swap = BEGIN p, q := q, p || r := s END"));
    stands(&four("p > 0", "; swap = BEGIN p := q ; q := r ; r := IF s > 1 THEN p ELSE s END END"));
}

#[test]
fn tests_against_numbers_of_the_scope_are_allowed() {
    for test in [
        "x /= -1",
        "x >= 0",
        "x : INTEGER - {-1}",
        "not(x < 0)",
        "(x <= 2 or x > 2)",
        "x : NATURAL \\/ {-1}",
        "x : {y | y:INTEGER & y > -1}",
        "(b = TRUE => x : NATURAL)",
        "bool(x = 2) : BOOL",
        "(x : 0..2 or x >= 1+1)",
        "(0 <= x & -1 < x)",
    ] {
        stands(&copied(test, ""));
    }
    stands(&copied("x:NATURAL", "; op = IF x = 1 THEN b := FALSE ELSIF x > 2 THEN b := TRUE END"));
    stands(&copied("x:NATURAL", "; op = CASE x OF EITHER 0 THEN b := TRUE OR 1,2 THEN b := FALSE END END"));
    stands(&copied("x:NATURAL", "; op = SELECT x < 2 THEN x := 3 ELSE skip END"));
    // What is wrong for some region is found in the scope.
    assert_eq!(verdict(&copied("x /= 2", ""), &[]), "violated");
}

#[test]
fn a_number_outside_the_scope_leaves_a_region_without_a_value() {
    for test in
        ["x /= 7", "x < 7", "7 > x", "x <= 6", "x : 0..6", "x : INTEGER - {7}", "x /: {7,-1}", "not(7 = x)"]
    {
        stays_open(&copied(test, ""));
    }
    stays_open(&copied("x : {y | y:INTEGER & y < 7}", ""));
    stays_open(&copied("b = TRUE", "; op = IF x = 7 THEN b := FALSE END"));
    stays_open(&copied("b = TRUE", "; op = CASE x OF EITHER 7 THEN b := FALSE END END"));
    stays_open(&copied("b = TRUE", "; op = PRE x > 6 THEN b := FALSE END"));
    // A deadlock.
    stays_open(
        "MACHINE M VARIABLES x INVARIANT x:INTEGER INITIALISATION x := 0 \
         OPERATIONS set(n) = PRE n:NATURAL & x < 7 THEN x := n END END",
    );
    // A fault of an action.
    stays_open(&copied("b : BOOL", "; op = ASSERT x /= 7 THEN skip END"));
}

#[test]
fn numbers_hidden_elsewhere_count() {
    stays_open(
        "MACHINE M DEFINITIONS LIM == 3+4 VARIABLES x INVARIANT x /= LIM INITIALISATION x := 0 \
                OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END",
    );
    stays_open(
        "MACHINE M CONSTANTS c PROPERTIES c = 7 VARIABLES x INVARIANT x /= c INITIALISATION x := 0 \
                OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END",
    );
    stays_open(
        "MACHINE M CONSTANTS c PROPERTIES c : 6..7 VARIABLES x INVARIANT x /= c INITIALISATION x := 0 \
                OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END",
    );
    stays_open(
        "MACHINE M CONSTANTS c PROPERTIES c = {6,7} VARIABLES x INVARIANT x /: c INITIALISATION x := 0 \
                OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END",
    );
    stays_open(
        "MACHINE M VARIABLES x INVARIANT x:INTEGER ASSERTIONS x /= 7 INITIALISATION x := 0 \
                OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END",
    );
    stays_open(
        "MACHINE M DEFINITIONS GOAL == (x = 7) VARIABLES x INVARIANT x:INTEGER INITIALISATION x := 0 \
                OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END",
    );
    let plain = copied("x:NATURAL", "");
    for options in [["--goal", "x = 7"], ["--goal", "#y.(y:INTEGER & y = x & y > 6)"], ["--goal", "x*x > 40"]]
    {
        assert_eq!(verdict(&plain, &options), "incomplete");
        assert_eq!(verdict(&plain, &[&options[..], &["--maxint", "7"]].concat()), "violated");
    }
}

#[test]
fn temporal_formulas_may_name_every_value() {
    let plain = copied("x:NATURAL", "");
    for formula in ["G {x /= 7}", "G not([set(7)])", "G not(e(set(7)))", "G {x < 3}"] {
        assert_ne!(run(&plain, &["--ltl", formula])["verdict"], "verified", "{formula}");
        assert_eq!(run(&plain, &["--ltl", formula, "--maxint", "7"])["verdict"], "violated", "{formula}");
    }
    assert_eq!(run(&plain, &["--ctl", "AG {x /= 7}"])["verdict"], "incomplete");
    let own = "MACHINE M DEFINITIONS ASSERT_LTL == \"G {x /= 7}\" VARIABLES x INVARIANT x:INTEGER \
               INITIALISATION x := 0 OPERATIONS set(n) = PRE n:NATURAL THEN x := n END END";
    assert_eq!(run(own, &["--ltl-assertions"])["verdict"], "incomplete");
    assert_eq!(run(own, &["--ltl-assertions", "--maxint", "7"])["verdict"], "violated");
}

#[test]
fn arithmetic_sees_its_operands() {
    for test in [
        "x mod 10 /= 7",
        "x+1 < 8",
        "-x > -7",
        "x*x < 49",
        "x / 7 = 0",
        "x ** 2 < 49",
        "max({x,5}) < 7",
        "SIGMA(i).(i:1..2|x) < 14",
        "succ(x) < 8",
        "card(0..x) < 8",
        "x : -7..card({1,2})*3",
    ] {
        stays_open(&copied(test, ""));
    }
    stays_open(&copied("x : INTEGER", "; op = PRE x-7 : NATURAL THEN x := 1 / (x-x) END"));
    stays_open(&copied(
        "b = TRUE",
        "; op = VAR i IN i := 0 ; WHILE i /= 6 & i < x DO i := i+1 INVARIANT i : 0..6 VARIANT 6-i END ; \
         IF i = 6 THEN b := FALSE END END",
    ));
}

#[test]
fn two_copies_are_not_compared() {
    stays_open(&four("not(APART(p,q,r,s))", ""));
    stays_open(&four("not(p < q & q < r & r < s)", ""));
    stays_open(&four("not(APART({p},{q},{r},{s}))", ""));
    stays_open(&four("not(APART(p|->1,q|->1,r|->1,s|->1))", ""));
    stays_open(&four("not(APART(rec(a:p),rec(a:q),rec(a:r),rec(a:s)))", ""));
    stays_open(&four("not(p /: {q,r,s} & q /: {r,s} & r /: {s})", ""));
    stays_open(&four("not(!i.(i:{p} => i /: {q,r,s}) & !i.(i:{q} => i /: {r,s}) & not(r=s))", ""));
    stays_open(&four("#i.(i:NATURAL & i : {p} & (i=q or i=r or i=s)) or q=r or q=s or r=s", ""));
    stays_open(&four("({p} /\\ {q,r,s}) \\/ ({q} /\\ {r,s}) \\/ ({r} /\\ {s}) /= {}", ""));
    stays_open(&four("{q,r,s} - {p} /= {q,r,s} or q=r or q=s or r=s", ""));
    stays_open(&four("not(APART([p],[q],[r],[s]))", ""));
    stays_open(&four("not([p,q,r,s] : iseq(NATURAL))", ""));
    // A record of the last value: five steps upwards need five numbers.
    stays_open(
        "MACHINE M VARIABLES x, k INVARIANT x:INTEGER & k < 4 INITIALISATION x := 0 || k := 0 \
         OPERATIONS up(n) = PRE n:INTEGER & n > x & k < 5 THEN x := n || k := k+1 END END",
    );
    // An equation names a value once; the second time it compares.
    let pair = |a: &str, b: &str| format!("; e{a}{b}(n) = PRE go = TRUE & n = {a} & n = {b} THEN skip END");
    let text = ["p q", "p r", "p s", "q r", "q s", "r s"].map(|ab| pair(&ab[..1], &ab[2..])).concat();
    let text = format!(
        "MACHINE M VARIABLES p, q, r, s, go INVARIANT p:INTEGER & q:INTEGER & r:INTEGER & s:INTEGER & go:BOOL \
         INITIALISATION p := 1 || q := 1 || r := 1 || s := 1 || go := FALSE OPERATIONS \
         set(k,l,m,n) = PRE go = FALSE & k:NATURAL1 & l:NATURAL1 & m:NATURAL1 & n:NATURAL1 \
         THEN p, q, r, s, go := k, l, m, n, TRUE END; back = PRE go = TRUE & p = 0 THEN skip END {text} END"
    );
    stays_open(&text);
    // In an operation that is called it always compares.
    stays_open(
        "MACHINE M INCLUDES Included PROMOTES setp, setq INVARIANT TRUE = TRUE OPERATIONS \
         op = SELECT q /= 1 & q /= 2 & q /= 3 THEN same(q) END END ===== \
         MACHINE Included VARIABLES p, q INVARIANT p:INTEGER & q:INTEGER INITIALISATION p := 1 || q := 1 OPERATIONS \
         setp(n) = PRE n:NATURAL1 THEN p := n END; setq(n) = PRE n:NATURAL1 THEN q := n END; \
         same(m) = PRE m = p THEN skip END END",
    );
}

#[test]
fn an_equation_in_a_guard_names_a_value() {
    stands(&four("p:NATURAL1", "; op(m) = PRE m = q THEN p := m END"));
    stands(
        &four("p:NATURAL1", "; op(m,k) = PRE k = q & k|->3 = m THEN skip END")
            .replace("k|->3 = m", "m = k|->3"),
    );
    stands(&four("p:NATURAL1", "; op = ANY m WHERE q = m & m > 0 THEN p := m END"));
    stands(&four("p:NATURAL1", "; op = p :(p = q & p > 0)"));
    stands(&four("p:NATURAL1", "; op(m) = SELECT m = q THEN p := m WHEN m = r THEN q := m END"));
}

#[test]
fn functions_and_sequences_may_carry_copies() {
    stands(&table("ran(f) <: NATURAL1", ""));
    stands(&table("f : 1..4 +-> NATURAL1", "; get(i) = PRE i : dom(f) THEN f := f <+ {1 |-> f(i)} END"));
    stands(&table("f : FIN(NATURAL*INTEGER)", "; cut = f := {1} <<| f; keep = f := 1..2 <| f"));
    stands(&table("card(f) < 5", "; pick = f := f |> NATURAL1"));
    stands(&table("!i.(i:dom(f) => f(i) > 0)", "; all = PRE f /= {} THEN f := %i.(i:1..4|f(1)) END"));
    stands(&table("t <: NATURAL1", "; note = t := f[1..2]"));
    stands(&table("t : POW(NATURAL)", "; note(i) = PRE i:dom(f) THEN t := t \\/ {f(i)} END"));
    stands(&table("(f = {} => t = {})", "; note = PRE f /= {} THEN t := ran(f) END"));
    stands(
        "MACHINE M VARIABLES q INVARIANT q : seq(NATURAL) & size(q) < 4 INITIALISATION q := [] \
         OPERATIONS in(n) = PRE n:NATURAL & size(q) < 3 THEN q := q <- n END; \
         n <-- out = PRE q /= [] THEN n := first(q) || q := tail(q) END; \
         turn = q := rev(q); two = PRE size(q) = 1 THEN q := q ^ q END; one = q := q /|\\ 1 END",
    );
    stands(
        "MACHINE M VARIABLES r INVARIANT r : struct(a:INTEGER, k:0..1) INITIALISATION r := rec(a:0, k:0) \
         OPERATIONS put(n) = PRE n:INTEGER THEN r := rec(a:n, k:1-r'k) END; one(n) = PRE n:INTEGER THEN r'a := n END END",
    );
    stands(
        "MACHINE M VARIABLES g INVARIANT g : 0..1 --> (0..1 --> NATURAL) INITIALISATION g := (0..1)*{(0..1)*{0}} \
         OPERATIONS put(i,n) = PRE i:0..1 & n:NATURAL THEN g(i) := g(i) <+ {1|->n} END END",
    );
}

#[test]
fn sizes_and_keys_tell_values_apart() {
    for invariant in [
        "card(ran(f)) < 4",
        "not(f : 1..4 >-> NATURAL)",
        "not(f~ : NATURAL +-> 1..4 & card(f) = 4)",
        "card(f~[ran(f)]) < 4 or card({i|i:1..4 & f~[{f(i)}] = {i}}) < 4",
        "ran(f) /= {1,2,3,4}",
        "not({1,2,3,4} <: ran(f))",
        "card({y|#i.(i:dom(f) & y = f(i))}) < 4",
        "not(f : 1..4 +->> {1,2,3,4})",
        "card(UNION(i).(i:dom(f)|{f(i)})) < 4",
        "not(4 : ran(f))",
        "f~[{4}] = {}",
        "f |>> 1..3 = {}",
        "not(3 : ran(f) & 4 : f[1..4])",
        "max(ran(f) \\/ {0}) < 4",
        "(f ; {4|->TRUE}) = {}",
        "[5,6,7,4] |> ran(f) = {}",
        "{1|->4} /<: f",
    ] {
        stays_open(&table(invariant, ""));
    }
    let text = table("card(t) < 4", "; note = t := ran(f)");
    stays_open(&text);
    let text = table("card(t) < 4", "; note(i) = PRE i:dom(f) THEN t := t \\/ {f(i)} END");
    stays_open(&text);
    let text = table("t /= {1,2,3,4}", "; note = t := ran(f)");
    stays_open(&text);
    // A relation that grows may hold equal pairs or not.
    stays_open(
        "MACHINE M VARIABLES f INVARIANT f : 1..1 <-> NATURAL1 & card(f) < 4 INITIALISATION f := {} \
         OPERATIONS add(n) = PRE n:NATURAL1 THEN f := f \\/ {1|->n} END END",
    );
    stays_open(&four("card({p,q,r,s}) < 4", ""));
    stays_open(&four("card({1|->p, 1|->q, 1|->r, 1|->s}) < 4", ""));
    // An argument of a function.
    stays_open(
        "MACHINE M CONSTANTS ok PROPERTIES ok = (0..9)*{TRUE} <+ {7|->FALSE} VARIABLES x, b INVARIANT x:INTEGER & \
         b = TRUE INITIALISATION x := 0 || b := TRUE OPERATIONS set(n) = PRE n:NATURAL THEN x := n END; \
         look = PRE x : dom(ok) THEN b := ok(x) END END",
    );
    // A place that is written.
    stays_open(
        "MACHINE M VARIABLES f INVARIANT f : INTEGER +-> 0..1 & card(f) < 4 INITIALISATION f := {} \
         OPERATIONS set(n) = PRE n:NATURAL1 THEN f(n) := 1 END END",
    );
}

#[test]
fn calls_hand_copies_on() {
    let calls = |test: &str| {
        format!(
            "MACHINE M INCLUDES Included VARIABLES y INVARIANT y:INTEGER INITIALISATION y := 0 OPERATIONS \
             op(n) = PRE n:NATURAL THEN put(n) END; keep = y <-- get END ===== \
             MACHINE Included VARIABLES x INVARIANT x:INTEGER INITIALISATION x := 0 OPERATIONS \
             put(m) = PRE m:INTEGER & {test} THEN x := m END; r <-- get = r := x END"
        )
    };
    stands(&calls("m >= 0"));
    stays_open(&calls("m /= 7"));
    stays_open(&calls("m*m /= 49"));
}

#[test]
fn choices_of_other_kinds_stand_too() {
    stands(
        "MACHINE M VARIABLES x, y INVARIANT x:NATURAL & y:NATURAL INITIALISATION x :: NATURAL || y :: NATURAL \
            OPERATIONS swap = x, y := y, x END",
    );
    stands(
        "MACHINE M VARIABLES x INVARIANT x:NATURAL INITIALISATION x := 0 OPERATIONS op = x :: NATURAL END",
    );
    stands(
        "MACHINE M VARIABLES x INVARIANT x:NATURAL INITIALISATION x :(x:NATURAL) OPERATIONS op = x :: NATURAL1 END",
    );
    stands(
        "MACHINE M CONSTANTS c PROPERTIES c:NATURAL VARIABLES x INVARIANT x:NATURAL INITIALISATION x := c \
            OPERATIONS op = ANY v WHERE v:NATURAL1 THEN x := v END END",
    );
    stays_open("MACHINE M VARIABLES x INVARIANT x < 7 INITIALISATION x :: NATURAL OPERATIONS op = skip END");
    stays_open(
        "MACHINE M CONSTANTS c PROPERTIES c:NATURAL VARIABLES x INVARIANT x /= 7 INITIALISATION x := c \
                OPERATIONS op = skip END",
    );
    stays_open("MACHINE M CONSTANTS c PROPERTIES c:NATURAL ASSERTIONS c /= 7 OPERATIONS op = skip END");
    stays_open(
        "MACHINE M CONSTANTS c, d PROPERTIES c:NATURAL & d:NATURAL & c > d VARIABLES x INVARIANT x /= 4 \
                INITIALISATION x := c OPERATIONS op = skip END",
    );
    // What is left out of an infinite set is no test against numbers.
    stays_open(
        "MACHINE M VARIABLES u, k INVARIANT u <: NATURAL & k < 4 INITIALISATION u := {} || k := 0 \
         OPERATIONS op = PRE k < 4 THEN ANY v WHERE v : NATURAL1 - u THEN u := u \\/ {v} || k := k+1 END END END",
    );
}

#[test]
fn machines_at_random_have_the_same_verdict_in_a_larger_scope() {
    random::agree(number_from_env("BOMBUS_INDEPENDENCE_CASES", 400));
}
