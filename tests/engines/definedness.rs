//! No "verified" that hides an undefined expression: the rule of `docs/definedness.md`, in every engine.
//!
//! Models that are undefined somewhere, with the exit status that the rule asks for; random machines against an
//! enumerator that shares no code with the checker; and changes of a model that keep its verdict.
//! `BOMBUS_DEFINEDNESS_MACHINES=n` sets how many random machines are tried, `BOMBUS_DEFINEDNESS_SEED` where they begin.

use crate::support::agreement::{Limits, agree};
use crate::support::plain_machines::{Explored, Plain};
use crate::support::{plain_changes, plain_random};
use bombus::base::budget::Budget;
use bombus::base::finding::FindingKind;
use bombus::evaluate::search::{Exploration, SearchOptions, explore};
use bombus::lang::typed::Machine;
use bombus::model::{LoadOptions, load};
use std::path::Path;
use std::process::Command;

/// Ways to run a model that must all end with the same verdict.
const ENGINES: [&[&str]; 9] = [
    &[],
    &["--no-native"],
    &["--engine", "evaluate"],
    &["--engine", "reference"],
    &["--workers", "2"],
    &["--por", "on"],
    &["--symmetry", "exact"],
    &["--order", "dfs"],
    &["--store", "hash"],
];

/// Engines that may leave a verdict open, but never give the other one.
const SYMBOLIC: [&[&str]; 4] =
    [&["--engine", "kind"], &["--engine", "ic3"], &["--engine", "bmc"], &["--engine", "bdd"]];

/// Runs a model in every engine and asserts its exit status.
fn ends_with(status: i32, options: &[&str], text: &str) {
    ends_in(&ENGINES, status, options, text);
    if status == 1 {
        ends_in(&SYMBOLIC, status, options, text);
    }
}

/// Runs a model in the engines that search with bounds: the oracle lists no integers.
fn searched(status: i32, options: &[&str], text: &str) {
    let engines: Vec<&[&str]> = ENGINES.into_iter().filter(|e| !e.contains(&"reference")).collect();
    ends_in(&engines, status, options, text);
}

fn ends_in(engines: &[&[&str]], status: i32, options: &[&str], text: &str) {
    let dir = tempfile::tempdir().expect("a directory for the model");
    let path = dir.path().join("Model.mch");
    std::fs::write(&path, text).expect("the model is written");
    for engine in engines {
        // States that are told apart by hashes alone are never "verified".
        if status == 0 && engine.contains(&"hash") {
            continue;
        }
        let out = Command::new(env!("CARGO_BIN_EXE_bombus"))
            .arg("check")
            .arg(&path)
            .args(["--no-deadlock"])
            .args(*engine)
            .args(options)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        let open = out.status.code() == Some(3) && SYMBOLIC.contains(engine);
        assert!(open || out.status.code() == Some(status), "{engine:?} {options:?}\n{text}\n{said}");
    }
}

/// A machine with a partial function `g`, a number `n` and one more clause or operation.
fn partial(invariant: &str, operations: &str) -> String {
    format!(
        "MACHINE Model VARIABLES g, n INVARIANT g : 0..4 +-> 0..3 & n : 0..3{}{invariant}
         INITIALISATION g := {{2|->3}} || n := 0
         OPERATIONS stay = skip{}{operations} END",
        if invariant.is_empty() { "" } else { " & " },
        if operations.is_empty() { "" } else { "; " },
    )
}

#[test]
fn a_hypothesis_is_looked_at_outside_the_rows_of_its_function() {
    for hypothesis in ["g(k)=1", "1=g(k)", "g(k) : {1,2}", "g(k)<=1", "g(k)+0=1"] {
        ends_with(1, &[], &partial(&format!("!k.(k:0..4 & {hypothesis} => k>7)"), ""));
        // Where the application has a value, the same is verified.
        ends_with(0, &[], &partial(&format!("!k.(k:dom(g) & {hypothesis} => k>7)"), ""));
        ends_with(0, &[], &partial(&format!("!k.({hypothesis} & k:2..2 => k>7)"), ""));
    }
}

#[test]
fn comprehensions_and_choices_in_actions_are_looked_at_outside_the_rows_of_their_functions() {
    ends_with(1, &[], &partial("", "tally = n := card({k | k:0..2 & g(k)=3})"));
    ends_with(1, &[], &partial("", "tally = n := SIGMA(k).(k:1..2 & g(k)=3 | k)"));
    ends_with(1, &[], &partial("", "move = n : (n:0..3 & g(n)=3)"));
    ends_with(1, &[], &partial("", "move = IF n=n THEN ANY k WHERE k:0..3 & g(k)=3 THEN n := k END END"));
    ends_with(1, &[], &partial("", "move = n :: {k | k:0..3 & g(k)=3}"));
    ends_with(0, &[], &partial("", "move = n : (n:0..3 & n:dom(g) & g(n)=3)"));
}

#[test]
fn the_verdict_does_not_depend_on_how_many_candidates_there_are() {
    for size in [3, 8, 30] {
        let text = format!(
            "MACHINE Model VARIABLES h INVARIANT h : 1..{size} +-> 1..{size}
             & !(a,b,c).(a:1..{size} & b:1..{size} & c:1..{size} & h(a)=b => c>0)
             INITIALISATION h := {{1|->2, 2|->1}} OPERATIONS stay = skip END"
        );
        ends_with(1, &[], &text);
        ends_with(0, &[], &text.replace("h(a)=b", "a:dom(h) & h(a)=b"));
    }
}

#[test]
fn bounds_of_an_operator_count_only_where_it_has_a_value() {
    ends_with(1, &[], &partial("!k.(k:-2..4 & k mod 5 >= 5 => k>8)", ""));
    ends_with(0, &[], &partial("!k.(k:0..4 & k mod 5 >= 5 => k>8)", ""));
    ends_with(1, &["--strict-wd"], &partial("", "turn(k) = SELECT k:0..2 & k mod n = k THEN skip END"));
    ends_with(
        1,
        &["--strict-wd"],
        &partial("", "count(k) = SELECT k:3..4 & size({k|->0}) < 0 THEN skip END"),
    );
    ends_with(1, &[], &partial("!k.(k:0..4 & 12/k > 20 => k>8)", ""));
    ends_with(1, &[], &partial("!k.(k:-1..2 & 2**k < 0 => k>8)", ""));
    ends_with(1, &[], &partial("!t.(t<:0..2 & max(t) < 0 => t={7})", ""));
    ends_with(1, &[], &partial("!t.(t<:0..2 & min(t) > 2 => t={7})", ""));
}

#[test]
fn a_relation_that_is_no_sequence_leaves_an_equation_of_sequences_undefined() {
    for equation in [
        "t<-0=[1,0]",
        "0->t=[0,1]",
        "t^[1]=[0,1]",
        "rev(t)=[0]",
        "front(t)=[0]",
        "tail(t)=[]",
        "first(t)=1",
        "last(t)=1",
        "size(t)=1",
        "t/|\\1=[0]",
        "t\\|/1=[]",
    ] {
        ends_with(1, &[], &partial(&format!("!t.(t:POW((1..2)*(0..1)) & {equation} => 1=1)"), ""));
        if !equation.contains("front") && !equation.contains("tail") && !equation.contains("st(") {
            let guarded = equation.contains('|');
            let more = if guarded { " & size(t)>=1" } else { "" };
            // Behind `t:seq(S)` the operators have a value; taking items away needs some to be there.
            let nested = format!("!t.(t:POW((1..2)*(0..1)) & t:seq(0..1){more} => ({equation} => 1=1))");
            ends_with(0, &[], &partial(&nested, ""));
        }
    }
}

#[test]
fn a_let_in_front_of_another_is_an_action() {
    let two = "step = LET a BE a=g(1) IN LET b BE b=2 IN n := (a+b) mod 4 END END";
    ends_with(1, &[], &partial("", two));
    ends_with(1, &[], &partial("", "step = LET a BE a=g(1) IN n := a END"));
    ends_with(0, &[], &partial("", &two.replace("g(1)", "g(2)")));
    ends_with(1, &[], &partial("", "step = LET a BE a=2 IN LET b BE b=g(1) IN n := b END END"));
}

#[test]
fn an_undefined_hypothesis_is_not_hidden_by_a_false_one_behind_it() {
    ends_with(1, &[], &partial("!k.(k:0..2 & 4/k>=1 => (n=7 => k=k))", ""));
    ends_with(0, &[], &partial("!k.(k:0..2 & 4/k>=1 & n=7 => k=k)", ""));
    ends_with(1, &[], &partial("!k.(k:0..2 => (g(k)=3 => (n=7 => k=k)))", ""));
}

#[test]
fn an_undefined_guard_is_not_hidden_by_a_false_one_behind_it() {
    let nested = [
        "step = SELECT g(0)=n THEN SELECT n=3 THEN skip END END",
        "step = SELECT g(0)=n THEN ANY k WHERE k:0..1 & k<k THEN skip END END",
        "step = PRE g(0)=n THEN SELECT n=3 THEN skip END END",
        "step(k) = PRE k:0..2 & g(k)=1 THEN SELECT n=3 THEN skip END END",
        "step = ANY k WHERE k:0..2 & g(k)=1 THEN SELECT n=3 THEN skip END END",
        "step = SELECT g(0)=n THEN skip WHEN n=3 THEN skip ELSE skip END",
    ];
    for operation in nested {
        ends_with(1, &["--strict-wd"], &partial("", operation));
        ends_with(0, &[], &partial("", operation));
    }
    ends_with(0, &["--strict-wd"], &partial("", "step = SELECT g(0)=n & n=3 THEN skip END"));
}

#[test]
fn an_operand_must_be_defined_at_all_its_points() {
    for operand in [
        "t - {k | k:0..2 & g(k)>0} = {}",
        "t /\\ {k | k:0..2 & g(k)>0} = {}",
        "{k | k:0..2 & g(k)>0} <| {9|->9} = {}",
        "{k | k:0..2 & g(k)>0} <<| {9|->9} = {9|->9}",
        "{9|->9} |> {k | k:0..2 & g(k)>0} = {}",
        "{9|->9} |>> {k | k:0..2 & g(k)>0} = {9|->9}",
        "(%k.(k:0..2 | g(k)))[t] = {}",
        "({9|->9} ; %k.(k:0..2 | g(k))) = {}",
        "t <: {k | k:0..2 & g(k)>0}",
        "8 /: dom(%k.(k:0..2 | g(k)))",
        "7 : {7} \\/ {k | k:0..2 & g(k)>0}",
        "(7|->7) /: %k.(k:0..2 | g(k))",
        "UNION(k).(k:0..2 | {g(k)}) /= {9}",
    ] {
        let text = format!(
            "MACHINE Model VARIABLES g, t INVARIANT g : 0..4 +-> 0..3 & t <: 0..4 & {operand}
             INITIALISATION g := {{2|->3}} || t := {{}} OPERATIONS stay = skip END"
        );
        ends_with(1, &[], &text);
    }
}

#[test]
fn a_point_is_all_that_membership_and_application_ask_for() {
    ends_with(0, &[], &partial("2 : {k | k:0..2 & g(k)>0}", ""));
    ends_with(1, &[], &partial("1 : {k | k:0..2 & g(k)>0}", ""));
    ends_with(0, &[], &partial("(%k.(k:0..2 | g(k)))(2) = 3", ""));
    ends_with(1, &[], &partial("(%k.(k:0..2 | g(k)))(1) = 3", ""));
}

#[test]
fn connectives_go_from_left_to_right_but_conjunctions_do_not() {
    ends_with(1, &[], &partial("(4/n=1 or n=n)", ""));
    ends_with(0, &[], &partial("(n=n or 4/n=1)", ""));
    ends_with(0, &[], &partial("not(4/n=1 & n/=0)", ""));
    ends_with(1, &[], &partial("(4/n=1 <=> n=n)", ""));
    ends_with(1, &[], &partial("#k.(k:0..2 & 4/k=7)", ""));
    ends_with(0, &[], &partial("#k.(k:0..2 & 4/k=2)", ""));
    ends_with(1, &[], &partial("!k.(k:0..2 => (4/k=7 or k=0))", ""));
    ends_with(1, &[], &partial("!k.(k:0..2 & (4/k=7 or k=0) => k>=0)", ""));
}

#[test]
fn a_negated_implication_is_bounded_by_its_defined_hypotheses() {
    // Integers are infinitely many: without `i : dom(g)` as a bound, some i might leave `g(i)` undefined.
    let search = |hypothesis: &str| {
        partial("", &format!("op = ANY i WHERE not({hypothesis} => g(i) = 3) THEN n := 0 END"))
    };
    searched(0, &["--strict-wd"], &search("i : dom(g)"));
    searched(0, &["--strict-wd"], &search("i : dom(g) & 9/i > 1"));
    // Without the hypothesis the guard is undefined outside the domain.
    searched(1, &["--strict-wd"], &search("i : 0..4"));
    let search =
        |first: &str| partial("", &format!("op = ANY i WHERE not({first} or g(i) = 3) THEN n := 0 END"));
    searched(0, &["--strict-wd"], &search("i /: dom(g)"));
    // An undefined disjunct is not hidden by one behind it that is true.
    searched(1, &["--strict-wd"], &search("i /: 0..2 or 1/i = 1"));
}

#[test]
fn constants_among_which_none_is_defined_are_a_finding_of_definedness() {
    // f is defined on 1..2 and applied to 0..2: no function of that type has a value there.
    let text = |points: &str| {
        format!(
            "MACHINE Model CONSTANTS f PROPERTIES f : 1..2 --> BOOL & !x.(x : {points} & f(x) = TRUE => x = 1)
             OPERATIONS stay = skip END"
        )
    };
    ends_with(1, &[], &text("0..2"));
    ends_with(0, &[], &text("1..2"));
}

#[test]
fn a_constant_function_that_an_equation_gives_is_not_chosen_to_be_defined() {
    let text = |properties: &str| {
        format!("MACHINE Model CONSTANTS k, f PROPERTIES k : 0..2 & {properties} OPERATIONS stay = skip END")
    };
    // Chosen among the functions that are defined where they are applied.
    ends_with(0, &[], &text("f : 0..2 +-> 0..2 & f(0) = 1"));
    ends_with(0, &[], &text("f : 0..2 +-> 0..2 & f(k) /= 1 & card(f) = 1"));
    // Given: nothing is left to choose, and f(k) has no value for k = 1.
    ends_with(1, &[], &text("f = {0|->1} & f(k) = 1"));
    // Functions that are not defined where they are applied are passed over, what else is undefined is not.
    ends_with(1, &[], &text("f : 0..2 +-> 0..2 & 4/f(k) = 2"));
    ends_with(1, &[], &text("f : 0..2 +-> 0..2 & f(0) < k & 4/(k-f(1)) = 2"));
    ends_with(0, &[], &text("f : 0..2 +-> 1..2 & 4/f(k) = 2"));
    ends_with(1, &[], &text("f(k) = 1 & {0|->k} = f"));
    ends_with(0, &[], &text("f = {0|->1} & k : dom(f) & f(k) = 1"));
}

/// What an assignment to a point does to a relation without bounds is not translated; that another event leaves the relation
/// alone is known without translation, so there is a proof, and it is found again.
#[test]
fn a_proof_that_rests_on_what_is_free_is_found_again() {
    let text = "MACHINE Model VARIABLES x, f INVARIANT x : INTEGER & f : INTEGER <-> INTEGER
        INITIALISATION x := 0 || f := {0|->2}
        OPERATIONS pick = x :: f[{}]; change = SELECT 1 /: {0,1} THEN f(1) := 2 END END";
    ends_in(&SYMBOLIC, 0, &[], text);
}

/// A machine with the constants `k`, `f` and `h`.
fn with_constants(properties: &str) -> String {
    format!(
        "MACHINE Model DEFINITIONS at_k(g) == g(k)
         CONSTANTS k, f, h PROPERTIES k : 0..1 & h : 0..1 +-> 0..2 & {properties} OPERATIONS stay = skip END"
    )
}

#[test]
fn only_functions_that_are_chosen_are_chosen_to_be_defined() {
    // One text of a definition applies f, which is chosen, and h, which is given and has no value for k = 1.
    let both = |h: &str| with_constants(&format!("f : 0..1 +-> 0..1 & h = {h} & at_k(f) = 1 & at_k(h) = 1"));
    ends_with(1, &[], &both("{0|->1}"));
    ends_with(0, &[], &both("{0|->1,1|->1}"));
    // Chosen are functions, not relations with several images.
    ends_with(1, &[], &with_constants("f : 0..1 <-> 0..1 & f(0) = 1"));
    ends_with(0, &[], &with_constants("f : 0..1 +-> 0..1 & f(0) = 1"));
}

#[test]
fn a_function_without_a_value_is_passed_over_whatever_else_has_none() {
    // The empty function has no value at 0, and with it 1/card(f) has none either.
    ends_with(0, &[], &with_constants("f : 0..1 +-> 0..1 & f(0) = 0 & 1/card(f) : 0..1"));
    ends_with(0, &[], &with_constants("f : 0..1 +-> 0..1 & 1/card(f) : 0..1 & f(0) = 0"));
    ends_with(1, &[], &with_constants("f : 0..1 +-> 0..1 & 1/card(f) : 0..1 & k = 0"));
}

#[test]
fn properties_that_are_false_are_not_undefined() {
    // What is false stands before and behind what is undefined, about no constant, the same constants, and others.
    let kinds = |properties: &str, kind: &str| {
        for engine in ENGINES {
            let (found, _) = counts(engine, &[], &with_constants(properties));
            for other in ["properties", "well_definedness"] {
                assert_eq!(found[other] != 0, other == kind, "{engine:?} {properties} {found}");
            }
        }
    };
    for (undefined, wrong) in
        [("1/0 = 1", "1 = 2"), ("1/k = 1", "h = {1|->2} & h = {0|->1}"), ("1/0 = 1", "k = 7")]
    {
        kinds(&format!("f = {{0|->0}} & {undefined} & {wrong}"), "properties");
        kinds(&format!("{wrong} & f = {{0|->0}} & {undefined}"), "properties");
    }
    kinds("f = {0|->0} & 1/k = 1", "well_definedness");
    // No function of these points has a value at 5; none of them has another image than itself.
    kinds("f : 0..1 +-> 0..1 & f(5) = 1", "well_definedness");
    kinds("f : 0..1 +-> 0..1 & f(5) = 1 & 1/k = 1", "well_definedness");
    kinds("f : 0..1 +-> 0..1 & dom(f) = 0..1 & f(0) = 7", "properties");
}

#[test]
fn what_propagation_looks_for_is_undefined_where_enumeration_says_so() {
    // Functions that grow from 0 to 5: those with f(0) = 0 leave the quotient without a value.
    let growing = |more: &str| {
        format!(
            "MACHINE Model CONSTANTS f, k PROPERTIES f : 0..5 +-> 0..7 & !i.(i : 0..4 => f(i) < f(i+1)) & k : 0..9 & {more}
             OPERATIONS stay = skip END"
        )
    };
    searched(1, &[], &growing("4/f(0) = 2"));
    searched(0, &[], &growing("f(0) > 0 & 4/f(0) = 2"));
    searched(0, &[], &growing("f(0) = 1 & IF k = 1 THEN f(9) ELSE 1 END = 1"));
    searched(0, &[], &growing("f(0) = 1 & SIGMA(x).(x : 0..9 & x = k | f(x)) = 3"));
}

#[test]
fn a_result_without_a_value_yet_is_of_its_type() {
    // Before the first turn `p` has no value: that it is an integer says nothing, that it is positive has no truth.
    let machine = |invariant: &str| {
        format!(
            "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 3 OPERATIONS
               p <-- go = SELECT x > 0 THEN WHILE x > 0 DO p := x; x := x - 1 INVARIANT {invariant} VARIANT x END END;
               back = SELECT x = 0 THEN x := 3 END
             END"
        )
    };
    ends_with(0, &[], &machine("p : INTEGER"));
    ends_with(1, &[], &machine("p > 0"));
}

#[test]
fn an_undefined_scope_or_goal_leaves_the_verdict_incomplete() {
    let text = "MACHINE Model DEFINITIONS SCOPE == 6/n > 0 VARIABLES n INVARIANT n : 0..3
        INITIALISATION n := 0 OPERATIONS step = n := (n+1) mod 4 END";
    ends_with(3, &[], text);
    ends_with(3, &[], &text.replace("SCOPE", "GOAL").replace("> 0", "< 0"));
}

#[test]
fn states_outside_the_scope_leave_the_verdict_incomplete() {
    ends_with(
        3,
        &[],
        "MACHINE Model DEFINITIONS SCOPE == n < 2 VARIABLES n INVARIANT n : 0..3
        INITIALISATION n := 0 OPERATIONS step = n := (n+1) mod 4 END",
    );
}

/// What a run that goes on after findings counts: kinds of findings, and what is said of undefined guards.
fn counts(engine: &[&str], options: &[&str], text: &str) -> (serde_json::Value, Vec<String>) {
    let dir = tempfile::tempdir().expect("a directory for the model");
    let path = dir.path().join("Model.mch");
    std::fs::write(&path, text).expect("the model is written");
    let mut run = Command::new(env!("CARGO_BIN_EXE_bombus"));
    let out =
        run.arg("check").arg(&path).args(["--json", "--keep-going"]).args(engine).args(options).output();
    let json: serde_json::Value =
        serde_json::from_slice(&out.expect("the binary runs").stdout).expect("an answer in JSON");
    let warnings = json["warnings"].as_array().expect("a list").iter().filter_map(|w| w.as_str());
    let undefined = warnings.filter(|w| w.contains("undefined")).map(str::to_string).collect();
    (json["found"].clone(), undefined)
}

#[test]
fn every_engine_counts_states_with_an_undefined_guard_alike() {
    // No step from n=0, where the guard has no value for two values of p, and one from n=1.
    let text = "MACHINE Model VARIABLES n INVARIANT n : 0..1 INITIALISATION n :: 0..1
        OPERATIONS step(p) = PRE p : 1..2 & p/n = p THEN n := 1 END END";
    for options in [&[][..], &["--strict-wd"]] {
        let all = ENGINES.map(|engine| counts(engine, options, text));
        let (found, warnings) = &all[0];
        assert!(warnings.len() == 1 && warnings[0].contains("undefined 1 time "), "{warnings:?}");
        // An undefined guard that is a finding is more than an operation that is not enabled.
        let strict = i32::from(!options.is_empty());
        assert_eq!((&found["deadlock"], &found["well_definedness"]), (&(1 - strict).into(), &strict.into()));
        assert!(all.iter().all(|counted| counted == &all[0]), "{all:#?}");
    }
}

#[test]
fn writing_into_what_a_function_holds_asks_for_its_value_there() {
    // `f` is empty, so `f(1)` has no value: neither where nothing of the old record is kept, nor where the other side of `||`
    // has no outcome. `f(1) := e` is defined for every `f`.
    let fields = |body: &str| {
        format!(
            "MACHINE Model VARIABLES x, f INVARIANT x : 0..1 & f : 1..2 +-> struct(a : struct(b : 0..1))
             INITIALISATION x := 0 || f := {{}} OPERATIONS write = {body}; turn = x := 1 - x END"
        )
    };
    let nested = |body: &str| fields(body).replace("struct(a : struct(b : 0..1))", "(1..2 +-> 0..1)");
    let undefined = [
        fields("BEGIN f(1)'a := rec(b:1) END"),
        fields("BEGIN f(1)'a'b := 1 END"),
        fields("BEGIN x :: {} || f(1)'a'b := 1 END"),
        nested("BEGIN f(1)(2) := 1 END"),
        nested("BEGIN x :: {} || f(1)(2) := 1 END"),
    ];
    for text in undefined {
        for engine in ENGINES {
            assert_ne!(counts(engine, &[], &text).0["well_definedness"], 0, "{engine:?} {text}");
        }
    }
    for text in [fields("BEGIN f(1) := rec(a:rec(b:1)) END"), nested("BEGIN x :: {} || f(1) := {} END")] {
        for engine in ENGINES {
            assert_eq!(counts(engine, &[], &text).0["well_definedness"], 0, "{engine:?} {text}");
        }
    }
}

#[test]
fn a_local_that_is_read_too_early_is_found_beside_a_side_without_an_outcome() {
    for local in ["CHOICE t := 0 OR skip END", "IF y = 1 THEN t := 0 END", "skip"] {
        let text = format!(
            "MACHINE Model VARIABLES x, y INVARIANT x : 0..1 & y : 0..1 INITIALISATION x := 0 || y := 0
             OPERATIONS early = BEGIN ANY z WHERE z : {{}} & z > x THEN x := z END || VAR t IN {local}; y := t END END;
             turn = x := 1 - x END"
        );
        for engine in ENGINES {
            assert_ne!(counts(engine, &[], &text).0["well_definedness"], 0, "{engine:?} {text}");
        }
    }
}

#[test]
fn a_variable_that_its_own_set_is_made_of_is_no_endless_proof() {
    let text = "MACHINE Model VARIABLES n, m, t INVARIANT n:0..3 & n:{n} & m:{n,m} & m:0..3 & t<:t & t<:0..1
        INITIALISATION n := 0 || m := 1 || t := {} OPERATIONS up = SELECT n<3 THEN n := n+1 END; set = m := n;
        put = t := t \\/ {0} END";
    ends_with(0, &[], text);
}

/// What the interpreter finds in all states of a machine.
fn found(machine: &Machine, strict: bool) -> Exploration {
    let options =
        SearchOptions { check_deadlock: false, strict_wd: strict, keep_going: true, ..Default::default() };
    explore(machine, &Budget::unlimited(), &options)
}

/// Loads a machine, or says why not.
fn loaded(path: &Path, text: &str) -> Result<Machine, String> {
    std::fs::write(path, text).expect("the model is written");
    let loaded = load(path, &LoadOptions::default());
    let words: Vec<String> = loaded.diagnostics.iter().map(|d| d.message.clone()).collect();
    loaded.model.map(|m| m.machine).ok_or_else(|| words.join("; "))
}

/// Compares both engines with the plain enumerator; none if the machine has too many states.
fn compare(plain: &Plain, path: &Path, native: bool) -> Result<Option<Explored>, String> {
    let Some(want) = plain.explore() else { return Ok(None) };
    let machine = loaded(path, &plain.text()).map_err(|e| format!("rejected: {e}"))?;
    for strict in [false, true] {
        let got = found(&machine, strict);
        let undefined = got.found.contains_key(&FindingKind::WellDefinedness);
        let guards = machine
            .events
            .iter()
            .zip(&got.undefined_guards)
            .filter(|(_, n)| **n > 0)
            .map(|(op, _)| machine.op(*op).name.to_string())
            .collect();
        let got = Explored {
            states: got.states.len(),
            transitions: got.transitions as usize,
            undefined,
            broken: got.found.contains_key(&FindingKind::Invariant),
            guards: match got.incomplete.first() {
                None => guards,
                Some(why) => return Err(format!("incomplete: {why}")),
            },
        };
        let want =
            Explored { undefined: want.undefined || strict && !want.guards.is_empty(), ..want.clone() };
        if got != want {
            return Err(format!("strict {strict}: the rule says {want:?}, the interpreter {got:?}"));
        }
    }
    agree(&machine, &Limits { states: 60, seconds: 20, native, guesses: native })?;
    Ok(Some(want))
}

#[test]
fn random_machines_are_undefined_where_trying_everything_says_so() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let machines = number("BOMBUS_DEFINEDNESS_MACHINES", 1_000);
    let first = number("BOMBUS_DEFINEDNESS_SEED", 1);
    let dir = tempfile::tempdir().expect("a directory for models");
    let path = dir.path().join("Plain.mch");
    let (mut compared, mut undefined, mut guards, mut clean) = (0, 0, 0, 0);
    for seed in first..first + machines {
        let plain = plain_random::random(seed);
        match compare(&plain, &path, seed % 3 != 0) {
            Ok(None) => {}
            Ok(Some(found)) => {
                compared += 1;
                undefined += u64::from(found.undefined);
                guards += u64::from(!found.guards.is_empty());
                clean += u64::from(!found.undefined && found.guards.is_empty());
            }
            Err(why) => {
                let small = plain_changes::shrink(&plain, &mut |p| compare(p, &path, seed % 3 != 0).is_err());
                let why = compare(&small, &path, seed % 3 != 0).err().unwrap_or(why);
                panic!("seed {seed}: {why}\n{}", small.text());
            }
        }
    }
    eprintln!(
        "{compared} machines compared: {undefined} undefined, {guards} with undefined guards, {clean} without"
    );
    assert!(undefined > 0 && guards > 0 && clean > 0, "machines of all sorts are needed");
}

/// The kinds of findings and the undefined guards of a model.
fn verdict(path: &Path, text: &str) -> (bool, bool, Vec<bool>) {
    let machine = loaded(path, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let got = found(&machine, false);
    assert!(got.incomplete.is_empty(), "{:?}\n{text}", got.incomplete);
    agree(&machine, &Limits { states: 60, seconds: 20, native: true, guesses: true })
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    (
        got.found.contains_key(&FindingKind::WellDefinedness),
        got.found.contains_key(&FindingKind::Invariant),
        got.undefined_guards.iter().map(|n| *n > 0).collect(),
    )
}

#[test]
fn what_says_nothing_keeps_the_verdict() {
    let dir = tempfile::tempdir().expect("a directory for models");
    let path = dir.path().join("Plain.mch");
    for seed in 1..=150 {
        let plain = plain_random::random(seed);
        if plain.explore().is_none() {
            continue;
        }
        let before = verdict(&path, &plain.text());
        for (name, changed) in plain_changes::harmless(&plain) {
            let after = verdict(&path, &changed.text());
            assert_eq!(before, after, "seed {seed}: {name}\n{}\n{}", plain.text(), changed.text());
        }
    }
}
