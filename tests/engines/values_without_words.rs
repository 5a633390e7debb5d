//! Values that no number of bits holds by their type: lists of constants that are sequences and functions, sets in the
//! value pool, sets of sets. What goes through them is compiled, and means what the interpreter says.

use crate::support::{self, agreement};

use agreement::{Limits, agree};
use bombus::base::budget::Budget;
use bombus::model::{LoadOptions, load};
use bombus::program;
use support::with_stack;

/// Which parts of a model may be left to the interpreter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// Formulas inside of compiled events.
    Formulas,
    Events,
}

/// Compares the engines on a machine of these clauses, and says what of it is compiled.
fn check(clauses: &str, left: Left) {
    let text = format!("MACHINE M {clauses} END");
    with_stack(move || {
        let dir = tempfile::tempdir().expect("a directory for the model");
        let path = dir.path().join("M.mch");
        std::fs::write(&path, &text).expect("the model is written");
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        for native in [false, true] {
            let agreed = agree(&model.machine, &Limits { states: 400, seconds: 600, native, guesses: false });
            assert!(agreed.as_ref().is_ok_and(|n| *n > 3), "{text}: {agreed:?}");
        }
        let options = program::Options::default();
        let program = program::compile(&model.machine, &Budget::unlimited(), &options).expect("no limit");
        let found = match (program.uncompiled().is_empty(), program.on_values().is_empty()) {
            (true, true) => Left::Nothing,
            (true, false) => Left::Formulas,
            (false, _) => Left::Events,
        };
        assert!(found == left, "{text}: {:?} {:?}", program.uncompiled(), program.on_values());
    });
}

/// A machine with rules of a grammar and one event or more.
fn with_rules(events: &str, left: Left) {
    check(
        &format!(
            "SETS E = {{a, b, c}} CONSTANTS rules PROPERTIES rules = {{a|->[a,b], a|->[c], b|->[], b|->[c,a,c], c|->[c]}}
             VARIABLES s, n INVARIANT s <: E & n : 0..4 INITIALISATION s := {{}} || n := 0
             OPERATIONS grow(x) = PRE x : E THEN s := s \\/ {{x}} END; count = PRE n < 4 THEN n := n + 1 END; {events}"
        ),
        left,
    );
}

#[test]
fn a_quantifier_over_known_sequences_is_a_loop() {
    with_rules(
        "op(x) = PRE x : E & #q.(q : seq(E) & x|->q : rules & ran(q) <: s) THEN s := s - {x} END",
        Left::Nothing,
    );
    with_rules("op = PRE !q.(q : ran(rules) & q /= [] => q(1) /: s) THEN n := 0 END", Left::Nothing);
    with_rules(
        "op(x) = PRE x : E & #(q,t,i).(q : ran(rules) & i : NATURAL1 & i < size(q) & t : seq(E) & t = q \\|/ i &
         q(i) = x & ran(t) <: s) THEN s := {} END",
        Left::Nothing,
    );
    with_rules("r <-- op = r := SIGMA(x,q).(x|->q : rules & x : s | size(q))", Left::Nothing);
}

#[test]
fn an_undefined_conjunct_over_a_known_sequence_stays_undefined() {
    // b|->[] has no first element.
    with_rules("op(x) = PRE x : E & #q.(x|->q : rules & q(1) : s) THEN s := {} END", Left::Nothing);
    with_rules("op = PRE #q.(q : ran(rules) & first(q) = a & card(s) = n) THEN s := {} END", Left::Nothing);
    // A part of the pattern has no value where n is 0, also when nothing is there to be compared with it.
    with_rules(
        "op = PRE #q.((4/n)|->q : {v,w | v : 0..3 & w : ran(rules) & 1=2}) THEN n := 1 END",
        Left::Nothing,
    );
}

#[test]
fn functions_that_are_bijections_are_listed() {
    check(
        "SETS E = {a, b, c} VARIABLES r, t INVARIANT r : E <-> E & t : E <-> E INITIALISATION r := {} || t := {}
         OPERATIONS add(x,y) = PRE x : E & y : E & card(r) < 3 THEN r := r \\/ {x|->y} END;
         other(x,y) = PRE x : E & y : E & card(t) < 2 THEN t := t \\/ {x|->y} END;
         ans <-- same = ans := bool(#p.(p : E >->> E & (p~ ; r ; p) = t))",
        Left::Nothing,
    );
}

#[test]
fn a_parameter_without_an_end_takes_the_values_that_its_conjuncts_leave() {
    let shared = |event: &str| {
        format!(
            "CONSTANTS k PROPERTIES k : 1..3 VARIABLES f, on INVARIANT f : 0..2 --> NATURAL & on : BOOL
             INITIALISATION f := (0..2)*{{0}} || on := TRUE
             OPERATIONS off = PRE max(ran(f)) < 4 & ran(f) <: 0..k+3 THEN on := bool(on = FALSE) END; {event}"
        )
    };
    check(
        &shared(
            "pour(b) = PRE on = TRUE & b : 0..2 --> NATURAL & SIGMA(i).(i : 0..2|b(i)) = k THEN
             f := %i.(i : 0..2|f(i)+b(i)) || on := FALSE END",
        ),
        Left::Nothing,
    );
    check(
        &shared("op = ANY x WHERE x : NATURAL & x*x < 20 & x mod 2 = k mod 2 & x /= f(0) THEN f(0) := x END"),
        Left::Nothing,
    );
    // What has no value for a candidate is the interpreter's to tell.
    check(&shared("op(x) = PRE x : INTEGER & 12/x > 3 THEN f(0) := 1 END"), Left::Events);
    // An undefined test of a value that the state decides.
    check(
        &shared(
            "op(b) = PRE b : 0..1 --> NATURAL & SIGMA(i).(i : 0..1|b(i)) = 2 & 6/b(f(2)) > k THEN f(1) := f(2) END",
        ),
        Left::Nothing,
    );
}

#[test]
fn least_and_greatest_of_no_numbers_are_undefined() {
    check(
        "VARIABLES f, n INVARIANT f : 0..2 +-> NATURAL & n : NATURAL INITIALISATION f := {} || n := 0
         OPERATIONS put(i) = PRE i : 0..2 & i /: dom(f) THEN f(i) := 5 * i END;
         up = PRE max(ran(f)) > 5 THEN f := {} END; low = PRE min(ran(f)) = 0 & n < 2 THEN n := n + 1 END;
         none = PRE not(ran(f) <: {0,10/n}) THEN n := 0 END; act = n := max(ran(f))",
        Left::Formulas,
    );
}

#[test]
fn a_set_of_unbounded_numbers_is_gone_through_element_by_element() {
    check(
        "VARIABLES nums INVARIANT nums : POW(INTEGER) INITIALISATION nums := {}
         OPERATIONS start = PRE card(nums) < 2 THEN nums := {2,3,5} END;
         plus(x,y) = PRE x : nums & y : nums & x < y THEN nums := (nums - {x,y}) \\/ {x+y} END;
         minus(x,y) = PRE x : nums & y : nums & x < y THEN ANY d WHERE d = x - y THEN nums := {d} END END;
         big(x) = PRE x : nums & 10/x > 2 THEN skip END",
        Left::Formulas,
    );
}

#[test]
fn a_relation_in_the_pool_is_taken_apart() {
    check(
        "SETS E = {a, b} VARIABLES r, q INVARIANT r : E <-> INTEGER & q : POW(INTEGER*E)
         INITIALISATION r := {a|->7000000000} || q := {}
         OPERATIONS add(x,n) = PRE x : E & n : 1..2 & card(r) < 3 THEN r := r \\/ {x|->n} END;
         take(x,n) = PRE x|->n : r & x = a THEN q := q \\/ {n|->x} || r := r - {x|->n} END;
         drop(n) = PRE n|->a : q & n < 3 THEN q := {} END;
         odd(n) = PRE (n|->b) : q & (1/(card(r)-1)) = n THEN q := {} END",
        Left::Formulas,
    );
}

#[test]
fn sets_are_elements_of_a_bit_set() {
    check(
        "SETS ID = {i, j, k} VARIABLES family, seen INVARIANT family : POW(POW(ID)) & seen : POW(BOOL * POW(ID))
         INITIALISATION family := {} || seen := {}
         OPERATIONS add(x,y) = PRE x : ID & y : ID & {x,y} /: family THEN family := family \\/ {{x,y}} END;
         cut(m) = PRE m : family & card(m) = 2 THEN family := family - {m} || seen := seen \\/ {bool({} : family)|->m} END;
         empty = PRE {} /: family & card(family) > 2 THEN family := family \\/ {{}} END;
         see(p,m) = PRE p|->m : seen & m <: {i,j} THEN seen := seen - {p|->m} END;
         all = PRE !m.(m : family => i : m) & family /= {} THEN family := {m | m : family & j : m} END",
        Left::Nothing,
    );
}

#[test]
fn sets_of_numbers_outside_of_the_window_are_told_by_the_interpreter() {
    check(
        "VARIABLES family, n INVARIANT family : POW(POW(0..3)) & n : 0..6 INITIALISATION family := {{0}} || n := 0
         OPERATIONS next = PRE n < 6 THEN n := n + 1 END;
         add = PRE card(family) < 4 THEN family := family \\/ {{n, n+1}} END;
         has = PRE {n} : family or {n,3} : family THEN n := 0 END;
         cut(m) = PRE m : family & n /: m THEN family := family - {m} END",
        Left::Formulas,
    );
}

#[test]
fn layouts_suit_all_valuations_of_the_constants() {
    with_stack(|| {
        let dir = tempfile::tempdir().expect("a directory for the model");
        let path = dir.path().join("M.mch");
        let text = "MACHINE M CONSTANTS a, b PROPERTIES a : 0..39 & b : 0..2 VARIABLES x INVARIANT x : 0..a
            INITIALISATION x := a OPERATIONS down = PRE x > 0 THEN x := x - 1 END END";
        std::fs::write(&path, text).expect("the model is written");
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { panic!("{}", loaded.messages()) };
        let program = program::compile(&model.machine, &Budget::unlimited(), &program::Options::default());
        // 40 values of x take 6 bits, although the first valuations promise fewer.
        let layout = program.expect("no limit").layout_text();
        assert!(layout.contains("x: integer, 6 bits"), "{layout}");
    });
}

#[test]
fn what_is_left_to_the_interpreter_leaves_no_trace_in_the_next_answer() {
    // Interpreted events of all kinds, one after the other, in states that differ in one variable.
    check(
        "VARIABLES x, t INVARIANT x : 0..3 & t : POW(INTEGER) & 4/x > 0 INITIALISATION x := 1 || t := {9000000000}
         OPERATIONS up(p) = PRE p : INTEGER & 12/p > 3 & x < 3 THEN x := x + 1 END;
         bad(p) = PRE p : INTEGER & 12/p = 6 & x < 2 THEN x := 3/(x-1) END;
         loop(p) = PRE p : INTEGER & 12/p = 4 THEN
           WHILE x > 0 DO x := x - 1 ; t := t \\/ {x} INVARIANT x : 0..3 & t : POW(INTEGER) VARIANT x END END;
         such(p) = PRE p : INTEGER & 12/p = 12 THEN x :(x : 0..3 & x > x$0) || t := {x} END;
         look(p) = PRE p : INTEGER & p : t & p > x & 12/(p-1) > 0 THEN ANY y WHERE y : t & y /= p THEN t := {y} END END",
        Left::Events,
    );
}

#[test]
fn whether_two_comprehensions_of_endless_types_meet_is_a_search() {
    let op = |guard: &str, left| {
        check(
            &format!(
                "SETS E = {{a, b}} VARIABLES f, n INVARIANT f : E --> 0..3 & n : 0..3
                 INITIALISATION f := E * {{0}} || n := 0
                 OPERATIONS up(x) = PRE x : E & f(x) < 3 THEN f(x) := f(x) + 1 END; count = PRE n < 3 THEN n := n + 1 END;
                 op(x) = PRE x : E & {guard} THEN f(x) := 0 END"
            ),
            left,
        );
    };
    op(
        "{c,r | c = f(x) & r >= n & r < n+2} /\\ {c,r | r = n+1 & c >= f(a) & c < f(b)+2} = {}",
        Left::Nothing,
    );
    op(
        "{c,r | c = f(x) & r >= n & r < n+2} /\\ {c,r | r = n+1 & c >= f(a) & c < f(b)+2} /= {}",
        Left::Nothing,
    );
    // The second set has no value where n is 0, whatever the first one is.
    op("{v | v > n & v < f(x)} /\\ {w | w > 0 & w < f(b)/n} = {}", Left::Nothing);
}

#[test]
fn a_union_of_the_values_of_a_function_is_a_loop_over_its_rows() {
    check(
        "SETS E = {a, b, c} VARIABLES q, s INVARIANT q : E --> seq(E) & s : E +-> POW(E)
         INITIALISATION q := E * {<>} || s := {}
         OPERATIONS put(x,y) = PRE x : E & y : E & size(q(x)) < 2 & x /= c THEN q(x) := q(x) <- y END;
         own(x,y) = PRE x : E & y : E & y /: union(ran(s)) THEN s := s <+ {x |-> (union(ran(s)) \\/ {y})} END;
         leave(x) = PRE x : E & union(ran(q)) |> {x} = {} & ran(union(ran(q))) <: {a} THEN s := {x} <<| s END",
        Left::Nothing,
    );
}
