//! Infinite sets and choices that nothing bounds: what is computed exactly all the same, and what is only tried and
//! therefore never verified.
//!
//! MININT..MAXINT is -1..3 here. Figures follow from the models by hand.

use crate::support::binary::check_machine;
use serde_json::Value;

fn run(text: &str, options: &[&str]) -> Value {
    check_machine(text, &[&["--keep-going"], options].concat())
}

/// The verdict of both engines, with counts as ProB counts them.
fn verdict(text: &str) -> String {
    let words = |j: &Value| {
        let word = j["verdict"].as_str().unwrap_or("?").to_string();
        format!("{word} {}/{}", j["prob"]["states"], j["prob"]["transitions"])
    };
    let reference = words(&run(text, &["--engine", "evaluate"]));
    let compiled = words(&run(text, &[]));
    assert_eq!(reference, compiled, "the engines differ on {text}");
    compiled
}

fn one_bit(operation: &str) -> String {
    format!("MACHINE M VARIABLES x INVARIANT x:0..1 INITIALISATION x:=0 OPERATIONS {operation} END")
}

#[test]
fn a_parameter_that_no_state_can_show_is_sampled_and_nothing_is_missing() {
    // n is tried in 0..3, from two states.
    let text = one_bit("r <-- op(n) = PRE n:NATURAL THEN r := n*2+x || x := 1-x END");
    assert_eq!(verdict(&text), "verified 2/9");
    let warnings = run(&text, &[])["warnings"].to_string();
    assert!(warnings.contains("all other values lead to the same states"), "{warnings}");
    // A temporal formula may ask for the transitions that are missing.
    assert_eq!(run(&text, &["--ltl", "G not([op(7)])"])["verdict"], "incomplete");
    // Through a loop that does not look at it.
    let text = one_bit(
        "r <-- op(n) = VAR i, s IN i := 0; s := 0; WHILE i<3 DO s := s+n; i := i+1 INVARIANT i:0..3 \
         VARIANT 3-i END; r := s END",
    );
    assert_eq!(verdict(&text), "verified 1/6");
    // A guard about it alone that some value of the scope passes.
    assert_eq!(verdict(&one_bit("op(n) = PRE n /= x+1 THEN skip END")), "verified 1/5");
}

#[test]
fn a_parameter_that_may_be_seen_is_never_verified() {
    for operation in [
        "op(n) = PRE n:NATURAL THEN x := n mod 2 END",
        "op(n) = PRE n:NATURAL THEN IF n>1000 THEN x := 7 END END",
        // Undefined for n=7.
        "r <-- op(n) = PRE n:NATURAL THEN r := 10/(n-7) END",
        // It decides about another choice.
        "op(n,k) = PRE n:NATURAL & k:0..1 & (n>100 => k=1) & (n<=100 => k=0) THEN x := k END",
        // No value of the scope passes.
        "op(n) = PRE n>10 THEN skip END",
        "op(n) = PRE n:NATURAL THEN VAR i IN i := n; WHILE i>0 DO i := i-1 INVARIANT i:NATURAL VARIANT i END END END",
    ] {
        let found = verdict(&one_bit(operation));
        assert!(found.starts_with("incomplete"), "{operation}: {found}");
    }
}

#[test]
fn an_unbounded_choice_of_a_result_changes_no_state() {
    // 0..3 of NATURAL are tried, -1..3 of INTEGER.
    assert_eq!(verdict(&one_bit("r <-- op = r :: NATURAL")), "verified 1/5");
    assert_eq!(verdict(&one_bit("r <-- op = r :: INTEGER - {0}")), "verified 1/5");
    let found = verdict(
        "MACHINE M VARIABLES x INVARIANT x*x:NATURAL INITIALISATION x:=0 OPERATIONS op = x :: NATURAL END",
    );
    assert_eq!(found, "incomplete 4/17");
    let found = verdict(&one_bit("r <-- op = BEGIN r :: NATURAL ; IF r>100 THEN x := 1 END END"));
    assert_eq!(found, "incomplete 1/5");
}

#[test]
fn a_result_without_a_value_is_a_fault_of_a_step_that_is_taken() {
    let text = one_bit("r <-- op(n) = PRE n:0..1 THEN IF n=1 THEN r := 5 END || x := n END");
    assert_eq!(verdict(&text), "violated 2/5");
    assert_eq!(run(&text, &[])["found"]["well_definedness"], 2);
}

/// Checks formulas as assertions of one machine, each of which must be true and computed.
fn all_hold(formulas: &[&str]) {
    let text = format!("MACHINE M ASSERTIONS {} OPERATIONS a = skip END", formulas.join(";\n"));
    let json = run(&text, &[]);
    assert_eq!(
        json["verdict"], "verified",
        "{} {}",
        json["violation"]["property"], json["incomplete_because"]
    );
    assert_eq!(run(&text, &["--engine", "evaluate"])["verdict"], "verified");
}

/// The operators have a value for sequences only, so the variables are said to be sequences.
#[test]
fn a_sequence_is_taken_apart_along_its_form() {
    all_hold(&[
        "{s,t|s:seq(INTEGER) & t:seq(INTEGER) & s^t = [1,2]} = {[]|->[1,2], [1]|->[2], [1,2]|->[]}",
        "{s,t|s:seq(INTEGER) & t:seq(INTEGER) & s^[2]^t = [1,2,3,2]} = {[1]|->[3,2], [1,2,3]|->[]}",
        "{s|s:seq(INTEGER) & s^s = [1,2,1,2]} = {[1,2]}",
        "{s|s:seq(INTEGER) & conc([[1],s,[4]]) = [1,2,3,4]} = {[2,3]}",
        "{e,s|s:seq(INTEGER) & e->s = [1,2]} = {1|->[2]}",
        "{s,e|s:seq(INTEGER) & s<-e = [1,2]} = {[1]|->2}",
        "{s|s:seq(INTEGER) & rev(s) = [1,2]} = {[2,1]}",
        "{s|s:seq(INTEGER) & s^[3] = [1,2]} = {}",
        "{s|s:seq(INTEGER) & s<-3 = {2|->3}} = {}",
        "{g|g:seq(INTEGER) & 1|->([7]^g) : {1|->[7,8], 1|->[7], 2|->[7,9], 1|->[8]}} = {[8],[]}",
        "{a,b|a..b = {2,3,4}} = {2|->4}",
        "{a,b|a..b = {2,4}} = {}",
    ]);
}

#[test]
fn sets_and_sequences_over_infinite_sets_are_confined_by_other_conjuncts() {
    all_hold(&[
        "card({s|s:seq(0..1) & size(s)=3}) = 8",
        "{s|s:seq(0..1) & size(s)<2} = {[],[0],[1]}",
        "{s|s:seq1(0..1) & size(s) : 0..1} = {[0],[1]}",
        "{s|s:iseq(NATURAL) & ran(s)={4,5}} = {[4,5],[5,4]}",
        "{s|s:seq(NATURAL) & size(s)=2 & ran(s)={-4,5}} = {}",
        "{s|s<:NATURAL & card(s)=3 & min(s)=5 & max(s)<=7} = {{5,6,7}}",
        "{s|card(s)<5 & 1:s & 2:s & 3:s & ((4:s & 5:s) or 6:s)} = {{1,2,3,6}}",
        "{f|f:1..2-->NATURAL & f(1) = -5 & f(2) = 3} = {}",
        "{f|f:1..2-->NATURAL & SIGMA(x).(x:1..2|f(x)) = 1} = {[0,1],[1,0]}",
        "{x|{x} \\/ {\"a\"} = {\"a\"}} = {\"a\"}",
    ]);
}

#[test]
fn inclusion_and_equality_of_infinite_sets_are_decided_where_their_form_tells() {
    all_hold(&[
        "NATURAL - {0} = NATURAL1",
        "(NATURAL - (0..3)) = {x|x:INTEGER & 4 <= x}",
        "(NATURAL - (0..3)) /= {x|x:INTEGER & 3 <= x}",
        "{x|x>=10} /\\ {x|x:INTEGER & 99999>=x} = 10..99999",
        "{x|x:NATURAL or x = -1} /= NATURAL",
        "{x,y|x:NATURAL & y:NATURAL} = NATURAL*NATURAL",
        "{x,y|x:NATURAL & y:INTEGER} /= NATURAL*NATURAL",
        "%x.(x:NATURAL|x+1) : NATURAL --> NATURAL1",
        "%x.(x:NATURAL|x-1) /: NATURAL --> NATURAL",
        "%x.(x:INTEGER|x*x) : INTEGER --> NATURAL",
        "%(x,y).(x:NATURAL & y:NATURAL|x+y) : NATURAL*NATURAL --> NATURAL",
        "%x.(x:NATURAL|x mod 3) : NATURAL --> 0..2",
        "%x.(x:NATURAL|IF x>3 THEN 3 ELSE x END) : NATURAL --> INTEGER",
        "closure1(%x.(x:NATURAL1|x-1))[{3}] = 0..2",
        "1024|->1 : closure1({x,y|y+y=x})",
    ]);
}

#[test]
fn a_quantifier_over_infinitely_many_values_is_decided_by_what_could_break_it() {
    all_hold(&["!i.(i /= 0 => 1+i /: {1})", "not(!i.(i /= 0 => 1+i /: {1,2}))", "#(a,b).(a..b = {1,2,3})"]);
    // f(i) is undefined for most i: nothing is claimed.
    let text = "MACHINE M ASSERTIONS !i.(i /= 0 => {1|->2}(i) /: {3}) OPERATIONS a = skip END";
    assert_eq!(run(text, &[])["verdict"], "incomplete");
}

#[test]
fn the_user_may_take_the_scope_for_all_integers_of_a_choice() {
    let with = |text: &str| {
        let found = ["evaluate", "compiled"].map(|e| run(text, &["--integers-in-scope", "--engine", e]));
        let words = found.map(|j| {
            assert_eq!(j["scope"]["integers_in_scope"], true);
            format!("{} {}/{}", j["verdict"], j["prob"]["states"], j["prob"]["transitions"]).replace('"', "")
        });
        assert_eq!(words[0], words[1], "the engines differ on {text}");
        words[0].clone()
    };
    // n in 0..3: four states, four transitions from each, and the initialisation.
    let text = "MACHINE M VARIABLES x INVARIANT x*x:NATURAL INITIALISATION x:=0 \
                OPERATIONS op(n) = PRE n:NATURAL THEN x := n END END";
    assert_eq!(with(text), "verified 4/17");
    assert_eq!(verdict(text), "incomplete 4/17");
    // N in 1..3: three valuations, 2+3+4 initial states, one step from each.
    let text = "MACHINE M CONSTANTS N PROPERTIES N:NATURAL1 VARIABLES x INVARIANT x:0..N \
                INITIALISATION x::0..N OPERATIONS op = skip END";
    assert_eq!(with(text), "verified 12/21");
    // A choice with a bound beyond the scope takes that bound: 11.
    assert_eq!(with(&one_bit("op(n) = PRE n>10 THEN skip END")), "verified 1/2");
    // Functions into the integers: 0..3 for each of two points, and no claim where those leave no constants at all.
    let functions = |more: &str| {
        format!("MACHINE M CONSTANTS f PROPERTIES f : 1..2 --> NATURAL {more} OPERATIONS op = skip END")
    };
    assert_eq!(with(&functions("")), "verified 32/48");
    assert_eq!(verdict(&functions("")), "incomplete 0/0");
    assert!(with(&functions("& f(1)*f(1) > 100+f(2)")).starts_with("incomplete"));
    // A row that a later one gives is bounded by the whole predicate: f(1) = 60, beyond the scope.
    assert_eq!(with(&functions("& f(2) = 50 & !i.(i:1..1 => f(i) = f(i+1) + 10)")), "verified 2/3");
    let all = |claim: &str| functions(&format!("& !g.(g : 1..2 --> NATURAL => {claim})"));
    assert_eq!(with(&all("(g(1)*g(1)+7*g(2)) mod 7 /= 3")), "verified 32/48");
    // A counterexample beyond the scope decides: the constants do not exist, whatever the scope is.
    assert_eq!(with(&all("g(1)*g(2) < 100")), "violated 0/0");
    // A quantifier that nothing bounds speaks of 0..3 as well.
    let text = one_bit("op = PRE !n.(n:NATURAL => (n*n) mod 7 /= 3) THEN skip END");
    assert_eq!(with(&text), "verified 1/2");
    assert!(verdict(&text).starts_with("incomplete"));
}

#[test]
fn equal_infinite_sets_make_one_state() {
    let machine = |init: &str, operations: &str| {
        format!(
            "MACHINE M VARIABLES s INVARIANT s<:INTEGER INITIALISATION s:={init} OPERATIONS {operations} END"
        )
    };
    // What is added is there already: one state, three steps.
    assert_eq!(verdict(&machine("NATURAL", "add(x) = PRE x:0..2 THEN s := s\\/{x} END")), "verified 1/4");
    // 0 and 1 are in it or not: four states, four steps from each.
    let text = machine(
        "NATURAL",
        "add(x) = PRE x:0..1 THEN s := s\\/{x} END; del(x) = PRE x:0..1 THEN s := s-{x} END",
    );
    assert_eq!(verdict(&text), "verified 4/17");
    assert!(!run(&text, &[])["warnings"].to_string().contains("told apart by their form"));
    // Written in other ways: {x|x>0} is NATURAL1, NATURAL1 with 0 is NATURAL, INTEGER without NATURAL its complement.
    let text = machine(
        "{x|x>0}",
        "a = s := NATURAL-{0}; b = s := (s\\/{0})-{0}; c = s := INTEGER-(INTEGER-NATURAL1); d = s := s/\\NATURAL",
    );
    assert_eq!(verdict(&text), "verified 1/5");
    // Sets of another type: the pairs taken away and added again.
    let text = "MACHINE M VARIABLES s INVARIANT s<:NATURAL*BOOL INITIALISATION s:=NATURAL*BOOL \
                OPERATIONS del = s := s-{5|->TRUE}; add = s := s\\/{5|->TRUE} END";
    assert_eq!(verdict(text), "verified 2/5");
}

#[test]
fn states_that_are_told_apart_by_the_form_of_sets_are_named_so() {
    // Both functions are the successor, written in two ways that are not compared.
    let text = "MACHINE M VARIABLES f INVARIANT f(1)=2 INITIALISATION f:=%x.(x:NATURAL|x+1) \
                OPERATIONS other = f := %x.(x:NATURAL|2+x-1); same = skip END";
    for engine in ["compiled", "evaluate"] {
        let json = run(text, &["--engine", engine]);
        assert_eq!(json["verdict"], "verified", "{json}");
        assert!(json["warnings"].to_string().contains("told apart by their form"), "{}", json["warnings"]);
    }
    // A function that is overridden at one place again and again has few forms.
    let text = "MACHINE M VARIABLES f INVARIANT f(0):0..2 INITIALISATION f:=%x.(x:NATURAL|x) \
                OPERATIONS put(y) = PRE y:0..2 THEN f := f <+ {0|->y} END END";
    // The function as it was, and three that are overridden at 0, one of which is the first in another form.
    assert_eq!(verdict(text), "verified 4/13");
    assert!(run(text, &[])["warnings"].to_string().contains("told apart by their form"));
}

#[test]
fn sequences_are_cut_and_relations_iterated_by_numbers_of_any_size() {
    all_hold(&[
        "[0] /|\\ 9223372036854775807 = [0]",
        "[0] /|\\ 9223372036854775808 = [0]",
        "[4,5] /|\\ 2**100 = [4,5]",
        "iterate({1|->2,2|->1},2**70+1) = {1|->2,2|->1}",
        "iterate({1|->2,2|->3,3|->1},10**30) = {1|->2,2|->3,3|->1}",
        "iterate({1|->2,2|->3},9223372036854775808) = {}",
        "iterate({1|->2,2|->1},5000) = {1|->1,2|->2}",
    ]);
    // A number that a state holds, on both sides of 2**63.
    let text = "MACHINE M VARIABLES n, s INVARIANT n:NATURAL & s:seq(0..1) & s /|\\ n = s \
                INITIALISATION n:=9223372036854775805 || s:=[0,1] \
                OPERATIONS inc = PRE n<9223372036854775811 THEN n := n+1 || s := [0,1] /|\\ (n+1) END; idle = skip END";
    assert_eq!(verdict(text), "verified 7/14");
    // Dropping more than there is has no value, however large the number.
    let text = "MACHINE M VARIABLES s INVARIANT s:seq(0..1) INITIALISATION s:=[0] \
                OPERATIONS op = s := s \\|/ 9223372036854775808 END";
    assert_eq!(verdict(text), "violated 1/1");
}
