//! Parameters without a layout: sequences, strings and sets of sets that a constant lists. They are compiled, and
//! mean what the interpreter says.

use crate::support::{self, agreement};

use agreement::{Limits, agree};
use bombus::base::budget::Budget;
use bombus::model::{LoadOptions, load};
use bombus::program;
use support::with_stack;

/// A machine with known relations of several kinds, and one event.
fn check(event: &'static str, compiled: bool) {
    with_stack(move || {
        let text = format!(
            "MACHINE M SETS E = {{a, b, c}} CONSTANTS rules, names, families, f, deep
             PROPERTIES rules = {{a|->[a,b], a|->[c], b|->[], b|->[c,a,c], c|->[c]}} & names = {{\"one\"|->1, \"two\"|->2, \"to\"|->2}}
             & families = {{{{{{1}},{{2}}}}, {{{{1,2}}}}, {{}}}} & f = {{1|->a, 2|->b, 4|->b}}
             & deep = {{(a|->[a])|->1, (b|->[a])|->2, (b|->[c,b])|->1}}
             VARIABLES s, g, n INVARIANT s <: E & g : E --> POW(E) & n : 0..3
             INITIALISATION s := {{}} || g := {{a|->{{}}, b|->{{a}}, c|->{{b}}}} || n := 0
             OPERATIONS grow(x) = PRE x : E THEN s := s \\/ {{x}} END;
             count = PRE n < 3 THEN n := n + 1 || g(a) := s END; {event} END"
        );
        let dir = tempfile::tempdir().expect("a directory for the model");
        let path = dir.path().join("M.mch");
        std::fs::write(&path, text).expect("the model is written");
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        let agreed =
            agree(&model.machine, &Limits { states: 400, seconds: 600, native: true, guesses: true });
        assert!(agreed.as_ref().is_ok_and(|n| *n > 8), "{event}: {agreed:?}");
        let options = program::Options::default();
        let program = program::compile(&model.machine, &Budget::unlimited(), &options).expect("no limit");
        let left = program.uncompiled();
        assert_eq!(left.is_empty(), compiled, "{event}: {left:?}");
    });
}

#[test]
fn a_sequence_of_a_known_relation_is_a_constant_of_its_code() {
    check("op(x,q) = PRE x|->q : rules & x /: s & ran(q) <: s THEN s := s \\/ {x} END", true);
    check("op(q) = PRE q : ran(rules) & q : seq(E) & q /= [] & first(q) : s THEN s := s - ran(q) END", true);
    check(
        "op(x,q,i) = PRE x|->q : rules & i : 1..size(q) & q(i) /: s THEN g(x) := g(x) \\/ {q(i)} END",
        true,
    );
    check("op(x,q,i,j) = PRE q : rules[{x}] & x : E & i : NATURAL1 & i < size(q) & j > i & j <= size(q) & q(i) : g(q(j)) &
        !k.(k : NATURAL1 & k < j => q(k) /: s) THEN s := s \\/ g(q(i)) END", true);
    check("op(q,i,j) = PRE q : ran(rules) & i : NATURAL1 & i < size(q) & j > i & j <= size(q) & q(i) : g(q(j)) &
        !k.(k : NATURAL1 & k < j => q(k) /: s) THEN s := s \\/ g(q(i)) END", true);
    check("op(x,q,v) = PRE (x|->q)|->v : deep & n <= v THEN n := v || s := ran(q) END", true);
}

#[test]
fn strings_and_sets_of_sets_are_given_too() {
    check("op(t,v) = PRE t|->v : names & v > n THEN n := v END", true);
    check("r <-- op(t) = PRE t : dom(names) & t /= \"to\" THEN r := t || n := names(t) END", true);
    check("op(d,m) = PRE d : families & m : d & n : m THEN n := card(d) END", true);
    check(
        "op = ANY q, p WHERE q : ran(rules) & p : ran(rules) & q /= p & ran(q) <: ran(p) & ran(q) /<: s THEN s := s \\/ ran(q) END",
        true,
    );
}

#[test]
fn an_argument_that_nothing_else_bounds_lies_in_the_domain_of_a_known_function() {
    check(
        "op(x,q,j) = PRE x : E & q : seq(E) & x|->q : rules & j <= size(q) & x : g(q(j)) THEN s := {q(j)} END",
        true,
    );
    check("op(j) = PRE c : g(f(j)) & j > n THEN s := {f(j)} END", true);
    // Other bounds make points outside the domain count, where the guard has no value.
    check("op(j) = PRE c : g(f(j)) & j > n & j <= 5 THEN s := {f(j)} END", true);
    check("op(j) = PRE c : g(f(j)) & j : 2..4 THEN s := {f(j)} END", true);
    check("op(j) = PRE (j = 1 or j = 3) & c : g(f(j)) THEN s := {f(j)} END", true);
    check("op(j) = PRE 2 * j <= 7 & j + 1 >= 0 & a : g(f(j)) THEN s := {f(j)} END", true);
}

#[test]
fn an_undefined_guard_of_a_given_parameter_is_still_undefined() {
    check("op(q) = PRE q : ran(rules) & first(q) : s THEN s := {} END", true);
    check("op(q,i) = PRE q : ran(rules) & i : 1..3 & q(i) : s THEN s := {} END", true);
    check("op(q,i) = PRE q : ran(rules) & i : 1..3 & q(i) : s & i <= size(q) THEN s := {} END", true);
    check("op(x,q) = PRE x|->q : rules & f(n) = x & q /= [] THEN s := s \\/ {x} END", true);
    // No element of the set could be the pattern, but the pattern has no value where n is 0.
    check("op(t) = PRE t : dom(names) & (7/n)|->t : {v | v : (0..3)*dom(names) & 1=2} THEN n := 0 END", true);
}

#[test]
fn a_guard_that_is_false_for_all_given_values_does_not_hide_a_parameter_without_an_end() {
    check(
        "op(d,j) = PRE d : families & d = {{7}} & j : 0..1 --> NATURAL & j(0) mod 2 = 1 THEN n := 0 END",
        false,
    );
    check("op(d,j) = PRE d : families & d = {{7}} & j : 0..1 THEN n := j END", true);
}
