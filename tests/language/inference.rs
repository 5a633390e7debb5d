//! Models that need a bound, a law or a witness to be decided: what each rule of the search is for.
//!
//! MININT..MAXINT is -1..3 here. Figures follow from the models by hand.

use crate::support::binary::{Folder, check_machine, messages};
use serde_json::Value;

/// Verdict, states and transitions in both engines, which must agree.
fn found(text: &str, options: &[&str]) -> String {
    let words = |engine: &[&str]| {
        let j: Value = check_machine(text, &[&["--keep-going"], engine, options].concat());
        format!("{} {}/{}", j["verdict"], j["states"], j["transitions"]).replace('"', "")
    };
    let compiled = words(&[]);
    assert_eq!(compiled, words(&["--engine", "evaluate"]), "the engines differ on {text}");
    compiled
}

/// A machine with an integer and these operations, one of which is always enabled.
fn with_number(operations: &str) -> String {
    format!(
        "MACHINE M VARIABLES w INVARIANT w:INTEGER INITIALISATION w:=0 OPERATIONS {operations}; stay = skip END"
    )
}

/// A machine with constants, no variables, and one operation.
fn with_constants(names: &str, properties: &str) -> String {
    format!("MACHINE M CONSTANTS {names} PROPERTIES {properties} OPERATIONS stay = skip END")
}

/// How many valuations the constants have.
fn valuations(names: &str, properties: &str) -> Value {
    let j = check_machine(&with_constants(names, properties), &[]);
    assert_eq!(j["verdict"], "verified", "{properties}: {j}");
    j["constants"].clone()
}

#[test]
fn the_length_of_an_array_is_told_by_its_domain() {
    let text = "MACHINE M CONSTANTS len, data PROPERTIES data : 1..len --> NATURAL & data = [4,0,2] \
                VARIABLES at INVARIANT at:1..len INITIALISATION at:=1 \
                OPERATIONS forth = PRE at<len THEN at:=at+1 END; back = PRE at=len THEN at:=1 END END";
    // 1, 2, 3 and round again.
    assert_eq!(found(text, &[]), "verified 3/3");
}

#[test]
fn operators_bound_what_stands_under_them() {
    // 8, 9, 10, 11 and back to each of them.
    assert_eq!(found(&with_number("op(x) = PRE x/4 = 2 THEN w:=x END"), &[]), "verified 5/25");
    // 0, 1, 2, 3: 3**4 is 81.
    assert_eq!(found(&with_number("op(x) = PRE 3**x < 50 & x >= 0 THEN w:=x END"), &[]), "verified 4/20");
    assert_eq!(found(&with_number("op(x) = PRE min({x,9}) = 5 THEN w:=x END"), &[]), "verified 2/4");
    assert_eq!(found(&with_number("op(x) = PRE card(3..x) = 4 THEN w:=x END"), &[]), "verified 2/4");
    assert_eq!(found(&with_number("op(x) = PRE x<9 & bool(x<7) = FALSE THEN w:=x END"), &[]), "verified 3/9");
}

#[test]
fn a_function_whose_next_value_is_told_by_the_one_before_is_told_by_induction() {
    let start = "f : NATURAL --> NATURAL & f(0) = 1";
    for (told, seventh) in [
        ("!n.(n:NATURAL1 => f(n) = 2*f(n-1))", 128),
        ("!n.(n:NATURAL => f(n+1) = f(n)+n+1)", 29),
        ("!n.(n:NATURAL => f(1+n) = IF f(n)=1 THEN 2 ELSE 1 END)", 2),
    ] {
        let with = |value: i64| format!("{start} & {told} & f(7) = {value}");
        assert_eq!(valuations("f", &with(seventh)), 1, "{told}");
        let other = check_machine(&with_constants("f", &with(seventh + 1)), &[]);
        assert_eq!(other["violation"]["kind"], "properties", "{told}");
    }
    assert_eq!(
        valuations("p", "p : NATURAL --> {0,1} & !x.(x:NATURAL1 => p(x) = 1-p(x-1)) & p(0) = 0 & p(9) = 1"),
        1
    );
}

#[test]
fn a_function_that_speaks_of_itself_elsewhere_is_not_told_by_induction() {
    let start = "f : NATURAL --> NATURAL & f(0) = 1";
    for told in [
        "!n.(n:NATURAL1 => f(n) = f(n))",
        "!n.(n:NATURAL1 => f(n) = f(n+1))",
        "!n.(n:NATURAL => f(n) = f(n+1))",
        "!n.(n:NATURAL & n < 9 => f(n+1) = f(n)+1)",
        "!n.(n:NATURAL => f(n+1) = f(n)/f(n))",
    ] {
        let j = check_machine(&with_constants("f", &format!("{start} & {told}")), &[]);
        assert_eq!(j["verdict"], "incomplete", "{told}: {j}");
    }
}

#[test]
fn an_exponent_that_may_be_negative_leaves_its_power_undefined() {
    // Nothing says that x is not negative: 3**(-1) has no value, so the operation has undefined guards.
    let j = check_machine(&with_number("op(x) = PRE 3**x < 50 THEN w:=x END"), &["--strict-wd"]);
    assert_ne!(j["verdict"], "verified", "{j}");
}

#[test]
fn an_interval_inside_another_has_its_ends_there() {
    let text = "MACHINE M VARIABLES s INVARIANT s<:2..4 INITIALISATION s:={} \
                OPERATIONS op(a,b) = PRE a..b <: 2..4 & b >= a THEN s:=a..b END END";
    // 22, 23, 24, 33, 34, 44 and the empty set.
    assert_eq!(found(text, &[]), "verified 7/42");
    // Without an order there are infinitely many empty intervals.
    let text = text.replace(" & b >= a", "");
    assert!(found(&text, &[]).starts_with("incomplete"));
}

#[test]
fn a_hypothesis_under_a_disjunction_bounds_a_quantifier() {
    let guarded = |guard: &str| {
        format!(
            "MACHINE M VARIABLES b INVARIANT b:BOOL INITIALISATION b:=FALSE \
             OPERATIONS op = SELECT {guard} THEN b:=bool(b=FALSE) END; stay = skip END"
        )
    };
    assert_eq!(found(&guarded("!x.(x:INTEGER => ((x:3..8 => x<9) or b=TRUE))"), &[]), "verified 2/4");
    // 8 is no less than 8, and b is false: op is never enabled.
    assert_eq!(found(&guarded("!x.(x:INTEGER => ((x:3..8 => x<8) or b=TRUE))"), &[]), "verified 1/1");
    // 0 is a witness of the first and a counterexample of the second.
    assert_eq!(found(&guarded("#x.(x:INTEGER & (x:4..6 => x=9))"), &[]), "verified 2/4");
    assert_eq!(found(&guarded("!x.(x:INTEGER => (x:4..6 & b:BOOL))"), &[]), "verified 1/1");
    // x = 0 and y = 5: no search gives all values of both.
    assert_eq!(
        found(&guarded("#(x,y).(x:INTEGER & y:INTEGER & x*x*y = x*y*y*y & y > 4)"), &[]),
        "verified 2/4"
    );
}

#[test]
fn sums_and_products_of_images_bound_each_image() {
    // 0+4, …, 4+0.
    assert_eq!(valuations("f", "f : 1..2 --> NATURAL & f(1)+f(2) = 4"), 5);
    // 2*3+5*0 = 6; 2*0+5*1 is 5; 2*1+5*1 is 7: only f(2)=3, f(5)=0.
    assert_eq!(valuations("d,f", "d = {2,5} & f : d --> NATURAL & SIGMA(x).(x:d|x*f(x)) = 6"), 1);
    // 1*1*4 in 3 orders, 1*2*2 in 3 orders.
    assert_eq!(valuations("f", "f : 1..3 --> NATURAL1 & f(1)*f(2)*f(3) = 4"), 6);
    // 5+6+7 = 18 and 5*6*7 = 210: 6 orders; other triples with this product have other sums.
    assert_eq!(
        valuations("f", "f : 1..3 --> 0..210 & SIGMA(i).(i:1..3|f(i)) = 18 & PI(i).(i:1..3|f(i)) = 210"),
        6
    );
}

#[test]
fn a_sum_that_asks_for_a_row_outside_the_domain_is_undefined() {
    let text = with_number("op = ANY f WHERE f : 1..2 --> NATURAL & f(1)+f(3) = 4 THEN w:=f(1) END");
    let j = check_machine(&text, &["--strict-wd", "--keep-going"]);
    assert_ne!(j["verdict"], "verified", "{j}");
}

#[test]
fn a_set_is_bounded_by_what_is_said_of_its_elements() {
    assert_eq!(
        valuations("r,q", "r = {1|->7} & #t.(q = t \\/ {2|->9} & !(x,y).(x|->y:t => x|->y:r) & 1|->7:t)"),
        1
    );
}

#[test]
fn terms_that_are_equal_by_substitution_do_not_differ() {
    let text = with_number(
        "op(x,y,z,u,v) = PRE x:0..90000 & y:0..90000 & z:INTEGER & u:INTEGER & v:INTEGER & z=x+2 & u=5*z & v=5*x+10 \
         & u/=v THEN w:=y END",
    );
    assert_eq!(found(&text, &[]), "verified 1/1");
}

#[test]
fn subsets_of_a_given_size_are_made_and_not_looked_for() {
    let text = "MACHINE M VARIABLES s INVARIANT s<:1..50 INITIALISATION s:={} \
                OPERATIONS op = SELECT s={} THEN s :(s<:1..50 & card(s)=49) END; stay = skip END";
    // 50 sets with 49 elements.
    assert_eq!(found(text, &[]), "verified 51/101");
}

#[test]
fn sets_that_cannot_be_listed_obey_the_laws_of_sets() {
    let law = |p: &str| {
        let text = format!("MACHINE M ASSERTIONS {p} OPERATIONS stay = skip END");
        assert_eq!(found(&text, &[]), "verified 1/1", "{p}");
    };
    law("id(STRING)~ = id(STRING)");
    law("STRING \\/ {\"x\"} = STRING");
    law("card({s | s:seq({1,2}) & s:seq({3})}) = 1");
    law("card(seq({1,2}) /\\ seq1({3})) = 0");
    law("((%x.(x:NATURAL|x+7))~ ; {0|->1, 2|->3, -1|->5}) = {7|->1, 9|->3}");
    law("INTEGER*{1} /\\ NATURAL*{1,2} = NATURAL*{1}");
}

#[test]
fn an_integer_with_one_bound_is_tried_from_there() {
    let text = "MACHINE M CONSTANTS n PROPERTIES n > 30 VARIABLES x INVARIANT x:0..n INITIALISATION x:=0 \
                OPERATIONS up = PRE x<n THEN x:=x+1 END; home = PRE x=n THEN x:=0 END END";
    // n = 31 is tried; all others are not.
    let j = check_machine(text, &[]);
    assert_eq!((j["verdict"].as_str(), j["states"].as_u64()), (Some("incomplete"), Some(32)), "{j}");
    assert!(j.to_string().contains("only 31..31 was tried"), "{j}");
    assert_eq!(found(text, &["--integers-in-scope"]), "verified 32/32");
}

#[test]
fn sizes_of_deferred_sets_follow_from_sums_and_injections() {
    let text = "MACHINE M SETS ALL; LEFT; RIGHT CONSTANTS l, r PROPERTIES card(ALL) >= card(LEFT)+card(RIGHT) & \
                l : LEFT >-> ALL & r : RIGHT >-> ALL & ran(l) /\\ ran(r) = {} OPERATIONS stay = skip END";
    let j = check_machine(text, &[]);
    assert_eq!(j["verdict"], "verified", "{j}");
    assert!(j["scope"].to_string().contains('4'), "{j}");
}

#[test]
fn an_external_function_gives_its_arguments_their_types() {
    let text = "MACHINE M DEFINITIONS EXTERNAL_FUNCTION_CODE == INTEGER*BOOL --> INTEGER; CODE(A,B) == 1 \
                OPERATIONS op(a,b) = PRE CODE(a,b) = 7 THEN skip END; stay = skip END";
    let output = Folder::with_machine(text).check(&[]);
    // The body stands in for the function: nothing is verified, and nothing is rejected.
    assert_eq!(output.status.code(), Some(3), "{}", messages(&output));
}

#[test]
fn a_deferred_set_in_bijection_with_an_infinite_product_is_a_record() {
    let text = "MACHINE M SETS COL={red,blue}; REC CONSTANTS mk PROPERTIES mk : COL*NATURAL >->> REC \
                VARIABLES r INVARIANT r:REC INITIALISATION r:=mk(red|->5) \
                OPERATIONS op = r:=mk(blue|->6); same = SELECT r = mk(red|->5) THEN skip END END";
    // (red,5) and (blue,6): op from both, same from the first.
    assert_eq!(found(text, &[]), "verified 2/3");
    let warnings = check_machine(text, &[])["warnings"].to_string();
    assert!(warnings.contains("`REC` is taken to be the set that `mk` maps to it"), "{warnings}");
}

#[test]
fn a_definition_may_list_the_variables() {
    let text = "MACHINE M DEFINITIONS All == (x,y) VARIABLES All INVARIANT x:0..1 & y:0..1 \
                INITIALISATION x,y := 0,1 OPERATIONS swap = BEGIN x:=y || y:=x END END";
    assert_eq!(found(text, &[]), "verified 2/2");
    let warnings = check_machine(text, &[])["warnings"].to_string();
    assert!(warnings.contains("`All` stands for the identifiers of its definition here"), "{warnings}");
}

#[test]
fn variables_of_an_implementation_are_concrete() {
    let folder = Folder::new();
    folder.write(
        "A.mch",
        "MACHINE A VARIABLES a INVARIANT a:0..1 INITIALISATION a:=0 OPERATIONS op = a:=1-a END",
    );
    folder.write(
        "M.mch",
        "IMPLEMENTATION M REFINES A VARIABLES b INVARIANT b:0..1 & b=a INITIALISATION b:=0 OPERATIONS op = b:=1-b END",
    );
    let output = folder.check(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
}

#[test]
fn a_library_may_be_seen_as_a_machine() {
    let text = "MACHINE M SEES LibraryStrings, LibraryMath VARIABLES n INVARIANT n:0..3 INITIALISATION n:=0 \
                OPERATIONS count = n := length(append(\"a\",\"bc\")) - gcd(4,6) END";
    // 3 - 2 = 1.
    let found = check_machine(text, &[]);
    assert_eq!((found["verdict"].as_str(), found["states"].as_u64()), (Some("verified"), Some(2)), "{found}");
}

#[test]
fn a_reason_quotes_the_formula_and_its_place() {
    let text = "MACHINE M VARIABLES x INVARIANT x:NATURAL INITIALISATION x:=0\nOPERATIONS\n  op(n) = PRE n > x THEN \
                x:=n END END";
    let reasons = check_machine(text, &[])["incomplete_because"].to_string();
    assert!(reasons.contains("(in `n > x`, M.mch:3:15)"), "{reasons}");
}

#[test]
fn laws_of_sets_that_cannot_be_listed_are_decided_both_ways() {
    let hold = [
        "f[NATURAL] = NATURAL1",
        "f~ = %x.(x:INTEGER|x-1)",
        "(f;f) = %x.(x:INTEGER|x+2)",
        "(f;f~) = id(INTEGER)",
        "ran(f) = INTEGER",
        "f : INTEGER >->> INTEGER",
        "f~ : INTEGER >->> INTEGER",
        "NATURAL <| f : NATURAL >->> NATURAL1",
        "{x|x>0} <<| f = {x,y|x<=0 & y=x+1}",
        "f |> {3} = {2|->3}",
        "%x.(x:INTEGER|2*x) |> 1..6 = {1|->2,2|->4,3|->6}",
        "id(NATURAL) <: id(INTEGER)",
        "(id(INTEGER);g) = g",
        "seq1(A) <: seq(A)",
        "iseq(A) <: seq(A)",
        "seq(A) = seq1(A) \\/ {[]}",
        "FIN(NATURAL) <: POW(NATURAL)",
        "POW(NATURAL) = POW1(NATURAL) \\/ {{}}",
        "STRING - {\"x\"} <: STRING",
        "max({x|x<4}) = 3",
        "min({x|x:INTEGER & x>3 & (x=5 or x>7)}) = 5",
        "max({x|x:INTEGER & x<3 & x*x /= 4}) = 1",
    ];
    let fail = [
        "f[NATURAL] = NATURAL",
        "f~ = f",
        "(f;f) = %x.(x:INTEGER|x+1)",
        "f : NATURAL --> INTEGER",
        "NATURAL <| f : NATURAL -->> NATURAL",
        "%x.(x:INTEGER|0) : INTEGER >-> INTEGER",
        "f |> {3} = {2|->3, 3|->4}",
        "id(INTEGER) <: id(NATURAL)",
        "seq(A) <: seq({a1})",
        "seq(A) <: seq1(A)",
        "POW(NATURAL) <: POW1(INTEGER)",
        "FIN(INTEGER) <: POW(NATURAL)",
        "STRING <: STRING - {\"x\"}",
    ];
    let negated = fail.map(|law| format!("not({law})"));
    let all: Vec<&str> = hold.into_iter().chain(negated.iter().map(String::as_str)).collect();
    let text = format!(
        "MACHINE M SETS A={{a1,a2}} CONSTANTS f, g PROPERTIES f = %x.(x:INTEGER|x+1) & g = {{1|->2, 3|->4}} \
         ASSERTIONS {} OPERATIONS stay = skip END",
        all.join("; ")
    );
    let j = check_machine(&text, &["--keep-going"]);
    assert_eq!(j["verdict"], "verified", "{}", j["incomplete_because"]);
}

#[test]
fn equations_are_put_into_each_other_before_a_value_is_chosen() {
    // 7 and 3 are the only solution of the first operation; the other one has none, since 2*x is even.
    let text = with_number(
        "op(x,y) = PRE x+y = 10 & x-y = 4 THEN w:=x*y END; \
         none(x,y) = PRE x+y = 10 & x-y = 3 THEN w:=1 END",
    );
    // From 0 to 21 and round 21, and the step that changes nothing in each of both states.
    assert_eq!(found(&text, &[]), "verified 2/4");
}

#[test]
fn the_greatest_element_of_a_set_that_may_be_undefined_somewhere_is_not_told() {
    // A negative number has no remainder, so the set has no value although 2 is its first candidate from above.
    let text = "MACHINE M ASSERTIONS max({x|x:INTEGER & x<3 & x mod 5 = 2}) = 2 OPERATIONS stay = skip END";
    assert_eq!(check_machine(text, &[])["verdict"], "incomplete");
}

#[test]
fn a_function_told_point_by_point_is_a_lambda() {
    for (names, properties) in [
        ("f", "f : NATURAL --> NATURAL & !x.(x:NATURAL => f(x) = x+1)"),
        ("f", "f : INTEGER >-> INTEGER & !x.(x:INTEGER => 3*x-1 = f(x))"),
    ] {
        assert_eq!(valuations(names, properties), 1, "{properties}");
    }
    // What is told of some points only leaves the others open.
    let open = with_constants("f", "f : NATURAL --> NATURAL & !x.(x:NATURAL1 => f(x) = x+1)");
    assert_eq!(check_machine(&open, &[])["verdict"], "incomplete");
    // The values must lie in the range that is claimed.
    let none = with_constants("f", "f : NATURAL --> NATURAL1 & !x.(x:NATURAL => f(x) = x)");
    let j = check_machine(&none, &[]);
    assert_ne!(j["verdict"], "verified", "{j}");
    assert_eq!(j["constants"], 0, "{j}");
}

#[test]
fn a_sum_over_the_rows_of_a_function_bounds_its_images() {
    // Ways to pay 3 with coins of 1, 2 and 3: 3, 2+1, 1+1+1.
    assert_eq!(valuations("f", "f : 1..3 --> NATURAL & SIGMA(i).(i:dom(f)|f(i)*i) = 3"), 3);
    assert_eq!(valuations("f", "f : 1..3 --> NATURAL & SIGMA(i,n).((i|->n):f|n*i) = 3"), 3);
}

#[test]
fn a_set_that_speaks_of_itself_is_asked_step_by_step() {
    let text = "MACHINE M SETS N = {a,b,c,d} CONSTANTS graph PROPERTIES graph = {a|->b, b|->c, c|->d} \
                & steps = {i,x,y | (i=0 & x=y & x:N) or (i>0 & #z.((i-1,x,z):steps & (z,y):graph))} \
                ABSTRACT_CONSTANTS steps \
                OPERATIONS two(x,y) = PRE x:N & y:N & (2,x,y):steps THEN skip END END";
    assert_eq!(found(text, &[]), "verified 1/2");
}

#[test]
fn equations_through_lambdas_and_sequences_are_solved_together() {
    let text = "MACHINE M CONSTANTS value, all PROPERTIES \
                value = %s.(s:seq(0..9) | SIGMA(i).(i:dom(s) | s(i)*10**(i-1))) & \
                all = {x,y,s,p | {x,y} <: 10..99 & x<y & s:seq(0..9) & size(s)=4 & p=x*y & value(s)=p & value(rev(s))=p} \
                ASSERTIONS max(ran(all)) = 9009; (91|->99) : dom(dom(all)) \
                OPERATIONS stay = skip END";
    assert_eq!(found(text, &[]), "verified 1/1");
}

#[test]
fn what_a_recursive_function_yields_is_shown_by_induction() {
    let verdict = |f: &str| check_machine(&with_constants("f", f), &[])["verdict"].clone();
    assert_eq!(
        verdict("f : NATURAL --> NATURAL1 & f = %x.(x:NATURAL|IF x=0 THEN 1 ELSE x*f(x-1)+1 END)"),
        "verified"
    );
    assert_eq!(verdict("f = {0|->0} \\/ %x.(x:NATURAL1|1-f(x-1)) & f : NATURAL --> {0,1}"), "verified");
    assert_eq!(
        verdict(
            "f : seq(INTEGER) --> seq(INTEGER) & f = %s.(s:seq(INTEGER)|IF s=[] THEN [] ELSE f(tail(s))<-first(s) END)"
        ),
        "verified"
    );
    // The listed row leaves the set, so nothing may be taken for granted of smaller arguments.
    assert_eq!(verdict("f = {0|->7} \\/ %x.(x:NATURAL1|1-f(x-1)) & ran(NATURAL1<|f) <: {0,1}"), "incomplete");
    // Two arguments that take turns end nowhere either.
    let turns = "f : NATURAL*NATURAL --> NATURAL & \
                 f = %(x,y).(x:NATURAL & y:NATURAL|IF x>y THEN f(x-1,y+2) ELSE f(x+2,y-1) END)";
    assert_ne!(verdict(turns), "verified");
    // An argument that grows ends nowhere: any constant function would do.
    assert_ne!(verdict("f : NATURAL --> NATURAL & f = %x.(x:NATURAL|f(x+1))"), "verified");
}

#[test]
fn functions_that_quantifiers_tell_row_by_row_are_computed() {
    let text = "s = {1,2,3} & it : (s<->s)*(0..3) --> (s<->s) & cl : (s<->s) --> (s<->s) & \
                !r.(r:s<->s => cl(r) = UNION(n).(n:1..3|it(r,n))) & !r.(r:s<->s => it(r,0) = id(s)) & \
                !(r,n).(r:s<->s & n:1..3 => it(r,n) = (r;it(r,n-1))) & cl({1|->2,2|->3}) = {1|->2,2|->3,1|->3}";
    assert_eq!(valuations("s, it, cl", text), 1);
}

#[test]
fn a_result_may_have_its_type_in_a_loop_invariant_before_it_has_a_value() {
    let text = "MACHINE M VARIABLES s INVARIANT s<:INTEGER INITIALISATION s:={4,7} OPERATIONS \
                r <-- take = WHILE s/={} DO r:=min(s); s:=s-{r} INVARIANT r:INTEGER VARIANT card(s) END END";
    // One call empties the set; the next has no result, which is found.
    let j = check_machine(text, &["--keep-going"]);
    assert_eq!((j["verdict"].as_str(), &j["found"]["well_definedness"]), (Some("violated"), &Value::from(1)));
}

#[test]
fn squares_are_filled_by_what_their_rows_and_columns_leave() {
    // The last two rows of this square are told by one of their numbers.
    let text = "q : 1..5 --> (1..5 >->> 1..5) & !c.(c:1..5 => {n | #r.(r:1..5 & q(r)(c) = n)} = 1..5) & \
                q(1) = [1,2,3,4,5] & q(2) = [2,3,4,5,1] & q(3) = [3,4,5,1,2] & q(4)(1) = 4";
    assert_eq!(valuations("q", text), 1);
    // GREEN + ORANGE = COLORS has one solution in different digits.
    let sum = "card({g,r,e,n,o,a,c,l,s}) = 9 & {g,r,e,n,o,a,c,l,s} <: 0..9 & g>0 & o>0 & c>0 & \
               10000*g+1000*r+110*e+n + 100000*o+10000*r+1000*a+100*n+10*g+e = 100000*c+10000*o+1000*l+100*o+10*r+s";
    assert_eq!(valuations("g,r,e,n,o,a,c,l,s", sum), 1);
}
