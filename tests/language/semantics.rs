//! What substitutions and machines mean, by the reference interpreter: the rows of section I of the
//! reference table, and micro models for the mistakes that checkers make with values and semantics.
//!
//! Figures are derived by hand; the comment or the row says from what.

use bombus::base::budget::Budget;
use bombus::evaluate::search::{Exploration, FindingKind, SearchOptions, explore};
use bombus::evaluate::{ErrorKind, Interpreter};
use bombus::lang::typed::Machine;
use bombus::model::{LoadOptions, load};
use std::io::Write;

/// The machine of a text; `None` if it is rejected.
fn machine(text: &str) -> Option<Machine> {
    let mut file = tempfile::Builder::new().suffix(".mch").tempfile().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("writable");
    load(file.path(), &LoadOptions::default()).model.map(|m| m.machine)
}

/// All outcomes of a substitution from the state that `init` makes, as sorted texts, then its errors.
fn outcomes(variables: &str, init: &str, substitution: &str) -> String {
    let typing: Vec<String> = variables.split(',').map(|v| format!("{v}={v}")).collect();
    let text = format!(
        "MACHINE M VARIABLES {variables} INVARIANT {} INITIALISATION {init} \
         OPERATIONS op = {substitution} END",
        typing.join(" & "),
    );
    let Some(m) = machine(&text) else { return "rejected".to_string() };
    let interpreter = Interpreter::new(&m, &Budget::unlimited());
    let constants = interpreter.constants().expect("no budget").values.remove(0);
    let state = interpreter.initial_states(&constants).expect("no budget").values.remove(0);
    let steps = interpreter.transitions(&state).expect("no budget");
    let mut out: Vec<String> = steps
        .transitions
        .iter()
        .map(|t| {
            m.variables
                .iter()
                .zip(t.target.variables.iter())
                .map(|(v, x)| format!("{}={}", m.var(*v).name, x.show(&m, &m.var(*v).ty)))
                .collect::<Vec<_>>()
                .join(",")
        })
        .collect();
    out.sort();
    for (_, e) in &steps.errors {
        out.push(
            match e.kind() {
                ErrorKind::Precondition => "precondition",
                ErrorKind::Assertion => "assertion",
                ErrorKind::WellDefinedness => "undefined",
                ErrorKind::Uninitialised => "uninitialised",
                _ => "other",
            }
            .to_string(),
        );
    }
    out.dedup();
    out.join(" | ")
}

#[test]
fn substitutions_have_the_outcomes_of_the_table() {
    #[rustfmt::skip]
    let rows: &[(u32, &str, &str, &str, &str)] = &[
        (253, "x,y", "x,y:=1,2", "BEGIN x,y := y,x END", "x=2,y=1"),
        (254, "x,y", "x,y:=1,2", "BEGIN x:=y || y:=x END", "x=2,y=1"),
        (255, "x,y", "x,y:=1,2", "BEGIN x:=y ; y:=x END", "x=2,y=2"),
        (256, "x,y,z", "x,y,z:=1,2,0", "BEGIN x:=5 ; y:=x || z:=x END", "x=5,y=5,z=5"),
        (257, "x", "x:=0", "BEGIN x :: {} END", ""),
        (258, "x", "x:=0", "BEGIN x :: 1..3 END", "x=1 | x=2 | x=3"),
        (259, "x", "x:=5", "BEGIN x :(x>x$0 & x<8) END", "x=6 | x=7"),
        (260, "x", "x:=5", "BEGIN x :(x:0..20 & x=x+1) END", ""),
        (261, "x", "x:=0", "PRE x>0 THEN x:=9 END", ""),
        (262, "x", "x:=0", "BEGIN skip ; PRE x>0 THEN x:=9 END END", "precondition"),
        (263, "x", "x:=0", "SELECT x>0 THEN x:=9 END", ""),
        (264, "x", "x:=0", "ASSERT x>0 THEN x:=9 END", "assertion"),
        (265, "x", "x:=1", "SELECT x>0 THEN x:=2 WHEN x<5 THEN x:=3 ELSE x:=4 END", "x=2 | x=3"),
        (266, "x", "x:=0", "IF x>0 THEN x:=9 END", "x=0"),
        (267, "x", "x:=0", "CHOICE x:=1 OR x:=2 END", "x=1 | x=2"),
        (268, "x", "x:=2", "CASE x OF EITHER 1 THEN x:=10 OR 2,3 THEN x:=20 ELSE x:=30 END END", "x=20"),
        (269, "x", "x:=9", "CASE x OF EITHER 1 THEN x:=10 END END", "x=9"),
        (270, "x", "x:=0", "ANY a,b WHERE a:1..2 & b:1..2 & a<b THEN x:=a+b END", "x=3"),
        (271, "x", "x:=0", "ANY a WHERE a:{} & a>x THEN x:=a END", ""),
        (272, "x", "x:=0", "VAR t IN t:=x+1 ; x:=t*2 END", "x=2"),
        (273, "x", "x:=0", "VAR t IN x:=t END", "uninitialised"),
        (274, "x", "x:=0", "LET t BE t=x+1 IN x:=t*t END", "x=1"),
        (275, "f", "f:={1|->1}", "BEGIN f(1):=7 END", "f=[7]"),
        (276, "f", "f:={1|->1}", "BEGIN f(2):=7 END", "f=[1,7]"),
        (277, "f", "f:={1|->{1|->0}}", "BEGIN f(1)(2):=9 END", "f=[[0,9]]"),
        (278, "r", "r:=rec(a:1,b:2)", "BEGIN r'a:=5 END", "r=rec(a:5,b:2)"),
        (279, "i,s", "i,s:=0,0",
            "WHILE i<4 DO i:=i+1 ; s:=s+i INVARIANT i:0..4 VARIANT 4-i END", "i=4,s=10"),
        (280, "i", "i:=0", "WHILE i<2 DO skip INVARIANT i>=0 VARIANT 2-i END", "assertion"),
        (281, "i", "i:=3", "WHILE i>0 DO i:=i-2 INVARIANT i>=0 VARIANT i END", "assertion"),
        (282, "x", "x:=1", "BEGIN x:=x/0 END", "undefined"),
        (283, "x,z", "x,z:=1,0", "BEGIN x:=2 ; z:=x END", "x=2,z=2"),
        (283, "x,z", "x,z:=1,0", "BEGIN x:=2 || z:=x END", "x=2,z=1"),
        (284, "x", "x:=0", "BEGIN x:=1 || x:=2 END", "rejected"),
        (285, "x", "x:=0", "CHOICE SELECT x=1 THEN x:=5 END OR x:=6 END", "x=6"),
        (286, "x", "x:=0", "CHOICE x:=1 OR x:=1 END", "x=1"),
    ];
    let mut wrong = Vec::new();
    for (number, variables, init, substitution, expected) in rows {
        let got = outcomes(variables, init, substitution);
        if got != *expected {
            wrong.push(format!("row {number}: {substitution} should give [{expected}], gives [{got}]"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Explores everything and says what was seen in one line: states, transitions with initialisations,
/// and what was found.
fn summary(text: &str) -> String {
    let Some(m) = machine(text) else { return "rejected".to_string() };
    let x =
        explore(&m, &Budget::unlimited(), &SearchOptions { keep_going: true, ..SearchOptions::default() });
    let mut words = vec![format!("{}/{}", x.prob_states, x.prob_transitions)];
    for (kind, word) in KINDS {
        if x.count(*kind) > 0 {
            words.push(format!("{word}:{}", x.count(*kind)));
        }
    }
    if !x.is_complete() {
        words.push("incomplete".to_string());
    }
    words.join(" ")
}

const KINDS: &[(FindingKind, &str)] = &[
    (FindingKind::Invariant, "invariant"),
    (FindingKind::Deadlock, "deadlock"),
    (FindingKind::Assertion, "assertion"),
    (FindingKind::WellDefinedness, "undefined"),
    (FindingKind::Precondition, "precondition"),
    (FindingKind::Goal, "goal"),
    (FindingKind::Properties, "properties"),
];

/// A machine over one integer that starts with 0.
fn counter(invariant: &str, operations: &str) -> String {
    format!(
        "MACHINE M VARIABLES x INVARIANT x:INTEGER & {invariant} INITIALISATION x:=0 OPERATIONS {operations} END"
    )
}

#[test]
fn a_result_is_part_of_the_transition() {
    // Rows 287 and 288: one self-loop, and two with the same target.
    assert_eq!(summary(&counter("x=x", "r <-- get = r:=x")), "1/2");
    assert_eq!(summary(&counter("x=x", "r <-- get = r::1..2")), "1/3");
}

#[test]
fn a_set_is_one_value_however_it_is_written() {
    let text = "MACHINE M VARIABLES s INVARIANT s<:INTEGER INITIALISATION s:={-989822976,1157660672} \
                OPERATIONS a = s:={1157660672,-989822976} END";
    assert_eq!(summary(text), "1/2");
    let text = "MACHINE M VARIABLES s INVARIANT s:INTEGER<->INTEGER & (s={} or [1,2]={1|->1,2|->2}) \
                INITIALISATION s:={} OPERATIONS a = s:=[1,2]; b = s:={2|->2,1|->1} END";
    assert_eq!(summary(text), "2/5");
}

#[test]
fn comparison_of_sets_does_not_overflow() {
    let text = counter("{-989822976,1157660672} /= {1157660672,-989822976}", "a = skip");
    assert_eq!(summary(&text), "1/2 invariant:1");
}

#[test]
fn function_spaces_with_empty_sides_are_equal_as_sets() {
    assert_eq!(summary(&counter("({}-->{1}) /= ({}-->{2})", "a = skip")), "1/2 invariant:1");
    assert_eq!(summary(&counter("({1}-->{}) = ({2}-->{})", "a = skip")), "1/2");
    let pairs = "{s|s<:1..4 & card(s)=2} = {{1,2},{1,3},{1,4},{2,3},{2,4},{3,4}} & \
                 {s|s<:1..4 & card(s)=2} /= POW(1..4)";
    assert_eq!(summary(&counter(pairs, "a = skip")), "1/2");
}

#[test]
fn overriding_leaves_the_old_function_alone() {
    let text = "MACHINE M VARIABLES f,g INVARIANT f={1|->0} & g:INTEGER+->INTEGER INITIALISATION f,g:={1|->0},{} \
                OPERATIONS a = g:=f<+{1|->1} END";
    assert_eq!(summary(text), "2/3");
}

#[test]
fn integers_never_wrap() {
    // 0, 1, 2, 4, … 2**70: 72 states.
    let text = counter("x>=0 & x<=2**70", "a = SELECT x=0 THEN x:=1 WHEN x>0 & x<2**70 THEN x:=x*2 END");
    assert_eq!(summary(&text), "72/72 deadlock:1");
    assert_eq!(summary(&counter("card(-(2**63)..2**63) = 2**64+1", "a = skip")), "1/2");
    assert_eq!(summary(&counter("(-7)/2=-3 & 7/(-2)=-3", "a = skip")), "1/2");
    assert_eq!(summary(&counter("(-7) mod 3 >= 0", "a = skip")), "1/2 undefined:1");
}

#[test]
fn the_invariant_is_no_bound_of_the_search() {
    // Rows 320 and 327: the unguarded step leaves the typing interval, and the violation is seen there.
    let text = "MACHINE M VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 \
                OPERATIONS inc = SELECT x<5 THEN x:=x+1 END END";
    assert_eq!(summary(text), "6/6 invariant:2 deadlock:1");
    let text = "MACHINE M VARIABLES x INVARIANT x:NAT INITIALISATION x:=0 \
                OPERATIONS inc = SELECT x<4 THEN x:=x+1 END END";
    assert_eq!(summary(text), "5/5 invariant:1 deadlock:1");
}

#[test]
fn an_outermost_precondition_is_a_guard() {
    // Rows 321 to 323.
    assert_eq!(summary(&counter("x:0..3", "inc = PRE x<3 THEN x:=x+1 END")), "4/4 deadlock:1");
    assert_eq!(summary(&counter("x:0..3", "inc = PRE x<3 THEN x:=x+1 END; nop = skip")), "4/8");
    assert_eq!(summary(&counter("x:0..2", "inc(n) = PRE x=0 & n:1..2 THEN x:=x+n END")), "3/3 deadlock:2");
}

#[test]
fn well_definedness_goes_from_left_to_right() {
    let steps = "a = SELECT x<2 THEN x:=x+1 END";
    assert_eq!(summary(&counter("(x=2 => 10/(x-2)>=0)", steps)), "3/3 deadlock:1 undefined:1");
    assert_eq!(summary(&counter("(x=2 or 10/(x-2)<=0)", steps)), "3/3 deadlock:1");
    assert_eq!(summary(&counter("(10/(x-2)<=0 or x=2)", steps)), "3/3 deadlock:1 undefined:1");
    // A false conjunct settles the matter even to the right of an undefined one.
    assert_eq!(summary(&counter("not(10/(x-2)>0 & x/=2)", steps)), "3/3 deadlock:1");
}

#[test]
fn an_undefined_guard_is_not_enabled() {
    let text = counter("x:0..2", "a = SELECT x<2 THEN x:=x+1 END; b = SELECT 10/(x-2)>0 THEN x:=7 END");
    assert_eq!(summary(&text), "3/3 deadlock:1");
    let m = machine(&text).expect("well-formed");
    let strict = SearchOptions { strict_wd: true, keep_going: true, ..SearchOptions::default() };
    let x = explore(&m, &Budget::unlimited(), &strict);
    assert_eq!((x.count(FindingKind::WellDefinedness), x.undefined_guards), (1, vec![0, 1]));
}

#[test]
fn partial_operators_are_findings_in_actions() {
    for action in [
        "x:=min({})",
        "x:=max({y|y:1..3 & y>5})",
        "x:=card(inter({s|s<:1..2 & card(s)=7}))",
        "x:=card(NATURAL)",
        "x:=first([])",
        "x:=card(iterate({1|->2},-1))",
        "x:=({1|->2,1|->3})(1)",
        "x:={1|->2}(3)",
    ] {
        assert_eq!(summary(&counter("x=x", &format!("a = {action}"))), "1/1 undefined:1", "{action}");
    }
}

#[test]
fn an_unbounded_quantifier_is_never_cut_at_maxint() {
    assert_eq!(summary(&counter("#y.(y:INTEGER & y>100 & y=x+101)", "a = skip")), "1/2");
    // 1000 is a number that the formula names, and a counterexample.
    assert_eq!(summary(&counter("!y.(y:INTEGER => y*y*y<1000)", "a = skip")), "1/2 invariant:1");
    // Comparisons with numbers are intervals, and these decide it.
    assert_eq!(summary(&counter("!y.(y:INTEGER => y<1000)", "a = skip")), "1/2 invariant:1");
    assert_eq!(summary(&counter("#y.(y:INTEGER & y>x & y/:0..1000)", "a = skip")), "1/2");
    // A power bounds its root: there is no cube root of 2 among the numbers up to 2.
    assert_eq!(summary(&counter("#y.(y:NATURAL & y*y*y=x+2)", "a = skip")), "1/2 invariant:1");
    assert_eq!(summary(&counter("#y.(y:NATURAL & (y*y) mod 7=x+3)", "a = skip")), "1/2 incomplete");
    // Bounds on both sides make it finite, however they are written.
    assert_eq!(summary(&counter("!y.(y+y>10 & 3*y<1000-y => y:6..249)", "a = skip")), "1/2");
}

#[test]
fn non_determinism_keeps_every_branch() {
    // Successors of 0: 4, 3, 3, and 16 pairs of two independent choices.
    assert_eq!(summary(&counter("x=x", "a = SELECT x=0 THEN x::1..4 END")), "5/5 deadlock:4");
    assert_eq!(summary(&counter("x=x", "a = SELECT x=0 THEN x:(x:0..3 & x/=1) END")), "3/4 deadlock:2");
    let text = "MACHINE M VARIABLES x,y INVARIANT x:INTEGER & y:INTEGER INITIALISATION x::0..3 || y::0..3 \
                OPERATIONS a = CHOICE x:=0 OR x:=1 END || CHOICE y:=0 OR y:=1 END END";
    assert_eq!(summary(text), "16/80");
}

#[test]
fn every_valuation_of_the_constants_is_explored() {
    // 6 valuations with 6 initial states and 3 more each for c=3, 4, 5; the error needs c=5.
    let text = "MACHINE M CONSTANTS c PROPERTIES c:0..5 VARIABLES x INVARIANT x<5 INITIALISATION x:=0 \
                OPERATIONS inc = SELECT x<c THEN x:=x+1 END END";
    assert_eq!(summary(text), "27/27 invariant:1 deadlock:6");
    // Row 318, and the properties of independent constants multiply.
    let text = "MACHINE M CONSTANTS k,l PROPERTIES k:1..3 & k>1 & l:BOOL VARIABLES x INVARIANT x=1 \
                INITIALISATION x:=1 OPERATIONS a = skip END";
    assert_eq!(summary(text), "8/12");
}

#[test]
fn no_start_is_a_finding() {
    let none =
        "MACHINE M CONSTANTS c PROPERTIES c:1..3 & c>5 VARIABLES x INVARIANT x=1 INITIALISATION x:=1 END";
    assert_eq!(summary(none), "0/0 properties:1");
    let none = "MACHINE M VARIABLES x INVARIANT x=1 INITIALISATION x::{} OPERATIONS a = skip END";
    assert_eq!(summary(none), "0/0 properties:1");
    let unread =
        "MACHINE M VARIABLES x,y INVARIANT x=1 & y=1 INITIALISATION x:=1 || y:=x OPERATIONS a = skip END";
    assert_eq!(summary(unread), "0/0 undefined:1");
}

#[test]
fn a_comprehension_counts_values_not_witnesses() {
    assert_eq!(summary(&counter("card({z|#y.(y:1..3 & z=y/2)}) = 2", "a = skip")), "1/2");
    assert_eq!(summary(&counter("SIGMA(z).((z=1 or z=1 or z=2)|z) = 3", "a = skip")), "1/2");
}

#[test]
fn recorded_results_of_prob_are_reproduced() {
    // Rows 330 and 331.
    let text = "MACHINE M VARIABLES level INVARIANT level:NATURAL INITIALISATION level:=100 OPERATIONS \
                Dec = BEGIN level:(level>=0 & level>level$0-5 & level<level$0) END END";
    assert_eq!(summary(text), "101/395 deadlock:1");
    let text = "MACHINE M SETS ID; ID2={ID0,ID1} CONSTANTS iv, ID3 PROPERTIES card(ID)=6 & iv:ID2 & ID3=3 \
                VARIABLES xx, ID4 INVARIANT xx:ID & ID4:ID INITIALISATION xx::ID || ID4::ID \
                OPERATIONS Set(yy) = PRE yy:ID THEN xx:=yy END END";
    assert_eq!(summary(text), "74/506");
    // Rows 328 and 329.
    assert_eq!(
        summary(
            "MACHINE M ASSERTIONS 1=2 VARIABLES x INVARIANT x=1 INITIALISATION x:=1 OPERATIONS a = skip END"
        ),
        "1/2 assertion:1"
    );
    let text = "MACHINE M DEFINITIONS GOAL == x=2 VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 \
                OPERATIONS inc = PRE x<3 THEN x:=x+1 END; nop = skip END";
    assert_eq!(summary(text), "4/8 goal:1");
}

#[test]
fn a_called_operation_checks_its_precondition() {
    let text = "MACHINE M VARIABLES x INVARIANT x:0..3 INITIALISATION x:=0 OPERATIONS \
                a = SELECT x<3 THEN x:=x+1 END END";
    assert_eq!(summary(text), "4/4 deadlock:1");
    assert_eq!(outcomes("x", "x:=0", "BEGIN PRE x=1 THEN x:=2 END || skip END"), "precondition");
}

#[test]
fn the_trace_is_a_shortest_one() {
    let m = machine(&counter("x/=3", "one = SELECT x<9 THEN x:=x+1 END; two = SELECT x<9 THEN x:=x+2 END"))
        .expect("well-formed");
    let x: Exploration = explore(&m, &Budget::unlimited(), &SearchOptions::default());
    let finding = x.findings.first().expect("the invariant is violated");
    let trace = x.trace(&m, finding.state.expect("in a state"));
    let events: Vec<&str> = trace.iter().map(|s| s.event.as_str()).collect();
    assert_eq!(events, ["$initialise_machine", "one", "two"]);
    assert_eq!(trace[2].state, [("x".to_string(), "3".to_string())]);
}

#[test]
fn unknown_functions_are_built_row_by_row() {
    // Solutions of the queens problem on a board of 6: 4.
    let text = "MACHINE M CONSTANTS q PROPERTIES q:1..6>->1..6 & \
                !(i,j).(i:1..6 & j:1..6 & i<j => q(i)+(j-i)/=q(j) & q(i)-(j-i)/=q(j)) \
                OPERATIONS a = skip END";
    assert_eq!(summary(text), "8/12");
    // A function into an infinite set whose rows follow from each other: 3 of them.
    let text = "MACHINE M CONSTANTS f PROPERTIES f:0..20-->NATURAL & f(0):0..2 & \
                !t.(t:0..20 & t>0 => f(t)=(f(t-1)+1) mod 3) OPERATIONS a = skip END";
    assert_eq!(summary(text), "6/9");
    // A recursive function is a value that is applied where it is used.
    let text = "MACHINE M CONSTANTS fact PROPERTIES \
                fact = %n.(n:NATURAL|IF n=0 THEN 1 ELSE n*fact(n-1) END) \
                VARIABLES x INVARIANT x=fact(20) INITIALISATION x:=2432902008176640000 OPERATIONS a = skip END";
    assert_eq!(summary(text), "2/3");
}

#[test]
fn a_row_is_found_by_solving_what_is_said_of_it() {
    // The rows follow from the last one; each image is a sequence of known length with known items.
    let text = "MACHINE M CONSTANTS t,f PROPERTIES t = [[1],[5,2],[3,9,4]] & f : 1..3 --> seq(INTEGER) & \
                f(3) = t(3) & !i.(i:1..2 => size(f(i)) = i & \
                !j.(j:1..i => f(i)(j) = t(i)(j) + max({f(i+1)(j),f(i+1)(j+1)}))) \
                ASSERTIONS f(1) = [15] OPERATIONS a = skip END";
    assert_eq!(summary(text), "2/3");
    // Two variables bound one inside the other.
    let text = "MACHINE M CONSTANTS f PROPERTIES f : (1..2)*(1..2) --> INTEGER & \
                !i.(i:1..2 => !k.(k:1..2 => f(i,k) = 10*i+k)) ASSERTIONS f(2,1) = 21 OPERATIONS a = skip END";
    assert_eq!(summary(text), "2/3");
    // Sets of unknown numbers that a quantifier confines: a part of 1..2 with one element, and {}.
    let text = "MACHINE M CONSTANTS c PROPERTIES c : BOOL --> POW(NATURAL1) & \
                !b.(b:BOOL & b=TRUE => c(b) <: 1..2 & card(c(b)) = 1) & c(FALSE) = {} OPERATIONS a = skip END";
    assert_eq!(summary(text), "4/6");
    // What nothing bounds stays so.
    let text =
        "MACHINE M CONSTANTS f PROPERTIES f : 1..2 --> INTEGER & f(1) = 3 & f(2) > 7 OPERATIONS a = skip END";
    assert!(summary(text).ends_with("incomplete"), "{}", summary(text));
}

#[test]
fn a_permutation_is_found_however_many_pairs_a_relation_has() {
    // Two rings of 32 nodes, each with one loop: one turn maps the one to the other.
    let text = "MACHINE M CONSTANTS g,h,p PROPERTIES g = %x.(x:0..31|(x+1) mod 32) \\/ {1|->1} & \
                h = %x.(x:0..31|(x+1) mod 32) \\/ {5|->5} & p : 0..31 >->> 0..31 & \
                !(x,y).(x:0..31 & y:0..31 => (x|->y : g <=> p(x)|->p(y) : h)) ASSERTIONS p(1) = 5 \
                OPERATIONS a = skip END";
    assert_eq!(summary(text), "2/3");
}

#[test]
fn trees_are_functions_from_paths_without_gaps() {
    let holds = |p: &str| summary(&counter(p, "a = skip"));
    assert_eq!(
        holds("const(1,[bin(2),bin(3)]) : tree(NATURAL) & const(1,[bin(2),bin(3)]) : btree(1..3)"),
        "1/2"
    );
    assert_eq!(holds("not(const(1,[bin(2)]) : btree(1..3)) & not(bin(7) : tree(1..3))"), "1/2");
    assert_eq!(holds("not({[] |-> 1, [2] |-> 1} : tree(1..3)) & not({[1] |-> 1} : tree(1..3))"), "1/2");
}
