//! The rule of definedness, the text form, the judge, and the house rules of this crate.

use bombus_oracle::eval::{Env, Oracle, Stop};
use bombus_oracle::exec::Kind;
use bombus_oracle::judge::{Claim, Verdict, judge};
use bombus_oracle::search::{Options, Trace, explore};
use bombus_oracle::text::{DEPTH, read};
use bombus_oracle::tree::{Expr, Machine, Pred};
use bombus_oracle::value::Value;

fn truth(text: &str) -> &'static str {
    let machine = Machine::default();
    let p: Pred = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    match Oracle::new(&machine, 1_000_000).holds(&Env::default(), &p) {
        Ok(true) => "true",
        Ok(false) => "false",
        Err(Stop::Undefined(_)) => "undefined",
        Err(Stop::TooBig(_)) => "too big",
        Err(other) => panic!("{other:?}"),
    }
}

fn check(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(truth(text), *expected, "{text}");
    }
}

#[test]
fn operators_are_strict_in_every_operand() {
    // f = {} : the comprehension is undefined for its bindings, whatever the other operand is.
    let undefined = "({|} ((q INTEGER)) (& ((: q (.. 1 3)) (> (@ ({} ()) q) 0))))";
    for op in ["\\", "/\\", "\\/", "cart", "<|", "<<|"] {
        assert_eq!(truth(&format!("(= ({op} ({{}} ()) {undefined}) ({{}} ()))")), "undefined", "{op}");
    }
    check(&[("(= (card (comp ({} ()) (% ((x INTEGER)) (: x (.. 0 1)) (/ 1 x)))) 0)", "undefined")]);
}

#[test]
fn a_conjunction_is_false_wherever_the_false_conjunct_stands() {
    check(&[
        ("(& ((= (/ 1 0) 1) FALSE))", "false"),
        ("(& (FALSE (= (/ 1 0) 1)))", "false"),
        ("(& ((& ((= (/ 1 0) 1) TRUE)) FALSE))", "false"),
        ("(& ((at `here` (& ((= (/ 1 0) 1) FALSE)))))", "false"),
        ("(& (TRUE (= (/ 1 0) 1)))", "undefined"),
    ]);
}

#[test]
fn disjunction_and_implication_go_from_left_to_right() {
    check(&[
        ("(or ((= (/ 1 0) 1) TRUE))", "undefined"),
        ("(or (TRUE (= (/ 1 0) 1)))", "true"),
        ("(=> (= (/ 1 0) 1) TRUE)", "undefined"),
        ("(=> FALSE (= (/ 1 0) 1))", "true"),
        ("(=> (= (/ 1 0) 1) (=> FALSE TRUE))", "undefined"),
        ("(=> (& ((= (/ 1 0) 1) FALSE)) TRUE)", "true"),
        ("(<=> FALSE (= (/ 1 0) 1))", "undefined"),
        ("(not (= (/ 1 0) 1))", "undefined"),
        ("(if TRUE TRUE (= (/ 1 0) 1))", "true"),
        ("(let ((x (/ 1 0))) TRUE)", "undefined"),
    ]);
}

#[test]
fn quantifiers_look_at_all_bindings() {
    let binder = "((x INTEGER))";
    check(&[
        (&format!("(# {binder} (& ((: x (.. 0 2)) (= (/ 2 x) 1))))"), "true"),
        (&format!("(# {binder} (& ((: x (.. 0 2)) (= (/ 2 x) 7))))"), "undefined"),
        (&format!("(! {binder} (=> (: x (.. 0 2)) (> (/ 2 x) 5)))"), "false"),
        (&format!("(! {binder} (=> (: x (.. 0 2)) (> (/ 2 x) 0)))"), "undefined"),
        (&format!("(! {binder} (=> (& ((: x (.. 0 2)) (/= x 0))) (> (/ 2 x) 0)))"), "true"),
        (&format!("(! {binder} (=> (& ((: x (.. 0 2)) (= (/ 2 x) 2))) (= x 1)))"), "undefined"),
        ("(! ((b BOOL)) (= (/ 1 0) 1))", "undefined"),
        (&format!("(# {binder} (= (* x x) 2))"), "too big"),
        (&format!("(! {binder} (=> (& ((: x NATURAL) (< x 5))) (< (* x x) 25)))"), "true"),
        (&format!("(# {binder} (& ((> x 3) (> 5 x))))"), "true"),
    ]);
}

#[test]
fn variables_are_bounded_by_sums_and_by_other_variables_that_are_bounded() {
    let two = "((x INTEGER) (y INTEGER))";
    check(&[
        (&format!("(= (card ({{|}} {two} (& ((< 1 x) (<= x y) (< y 100))))) 4851)"), "true"),
        ("(= ({|} ((i INTEGER)) (& ((: i NATURAL1) (<= (+ i 2) 7)))) (.. 1 5))", "true"),
        ("(= ({|} ((i INTEGER)) (& ((< 0 (- i 3)) (< i 9)))) (.. 4 8))", "true"),
        ("(= ({|} ((i INTEGER)) (& ((: (+ i 3) NATURAL) (> 2 i)))) (.. -3 1))", "true"),
        (&format!("(# {two} (& ((<= x y) (<= y x) (: x NATURAL) (< (+ x y) 0))))"), "too big"),
    ]);
}

#[test]
fn the_right_side_of_an_implication_bounds_a_variable_where_the_left_side_is_true() {
    check(&[
        ("(# ((x INTEGER)) (& ((=> (= 1 1) (= x 5)) (> x 4))))", "true"),
        ("(# ((x INTEGER)) (& ((=> (= 1 1) (& ((: x (.. 1 3)) (> x 2)))) (> x 3))))", "false"),
        ("(# ((x INTEGER)) (& ((=> (= 1 2) (= x 5)) (> (* x x) 400))))", "too big"),
        ("(# ((x INTEGER)) (& ((: x (.. 0 1)) (=> (= (/ 1 0) 1) (= x 5)))))", "undefined"),
    ]);
}

#[test]
fn one_binding_decides_a_quantifier_whose_bindings_cannot_be_listed() {
    let binder = "((x INTEGER))";
    check(&[
        (&format!("(! {binder} (> (* x x) x))"), "false"),
        (&format!("(# {binder} (= (* x x) 49))"), "true"),
        (&format!("(# {binder} (& ((: x NATURAL) (= (/ 12 x) 4))))"), "true"),
        // Small integers that decide nothing say nothing about the others, whether they are undefined or not.
        (&format!("(! {binder} (>= (* x x) x))"), "too big"),
        (&format!("(# {binder} (= (* x x) 10000))"), "too big"),
        (&format!("(# {binder} (= (/ 12 x) 100))"), "too big"),
        (&format!("(! {binder} (=> (> x 8) (> x 9)))"), "too big"),
        ("(# ((x INTEGER) (y INTEGER)) (& ((= (+ x y) 9) (= (- x y) 1))))", "true"),
        ("(= (card ({|} ((x INTEGER)) (> (* x x) x))) 9)", "too big"),
    ]);
}

#[test]
fn the_choice_from_an_unbounded_set_is_not_known() {
    check(&[
        ("(: (choose (all INTEGER)) (all INTEGER))", "too big"),
        ("(= (choose NATURAL1) 1)", "true"),
        ("(= (min (all INTEGER)) 1)", "undefined"),
    ]);
}

#[test]
fn membership_in_a_domain_or_a_range_is_what_the_listed_set_says() {
    let pairs = "({} ((|-> 1 5) (|-> 1 6) (|-> 3 5)))";
    for x in 0..8 {
        let domain = [1, 3].contains(&x).to_string();
        let range = [5, 6].contains(&x).to_string();
        for r in [pairs.to_string(), format!("(\\/ {pairs} ({{}} ()))")] {
            check(&[(&format!("(: {x} (dom {r}))"), &domain), (&format!("(: {x} (ran {r}))"), &range)]);
            check(&[(&format!("(not (/: {x} (dom {r})))"), &domain)]);
        }
    }
    check(&[("(: 1 (dom (% ((x INTEGER)) (: x (.. 0 2)) (/ 2 x))))", "undefined")]);
}

#[test]
fn relations_are_as_many_as_their_demands_leave() {
    for (op, count) in [("<->", 16), ("<<->", 9), ("<->>", 9), ("<<->>", 7), ("+->", 9), (">->>", 2)] {
        assert_eq!(truth(&format!("(= (card ({op} (.. 1 2) (.. 3 4))) {count})")), "true", "{op}");
    }
}

#[test]
fn a_range_that_is_undefined_makes_the_binding_undefined_unless_another_conjunct_is_false() {
    let both = "((x INTEGER) (y INTEGER))";
    check(&[
        (&format!("(# {both} (& ((: x (.. 0 1)) (: y (.. 1 (/ 4 x))) (/= x 0) (= y 9))))"), "false"),
        (&format!("(# {both} (& ((: x (.. 0 1)) (: y (.. 1 (/ 4 x))) (= y 9))))"), "undefined"),
        (&format!("(# {both} (& ((: x (.. 0 1)) (: y (.. 1 (/ 4 x))) (= y 3))))"), "true"),
        ("(! ((y INTEGER)) (=> (: y (@ ({} ()) 0)) (> y 0)))", "undefined"),
        ("(# ((y INTEGER)) (& ((= (/ 1 0) 1) (> y 3))))", "undefined"),
        ("(! ((y INTEGER)) (=> (: y ({|} ((x INTEGER)) (: x ({} ((/ 1 0)))))) (> y 0)))", "undefined"),
        ("(# ((y INTEGER)) (& ((= (/ 1 0) 1) (> y 3) (< y 3))))", "false"),
    ]);
}

#[test]
fn a_set_that_is_written_out_is_tested_at_one_point() {
    check(&[
        ("(: 2 ({|} ((x INTEGER)) (& ((: x (.. 0 2)) (= (/ 2 x) 1)))))", "true"),
        ("(: 0 ({|} ((x INTEGER)) (& ((: x (.. 0 2)) (= (/ 2 x) 1)))))", "undefined"),
        ("(: 2 (\\/ ({} ()) ({|} ((x INTEGER)) (& ((: x (.. 0 2)) (= (/ 2 x) 1))))))", "undefined"),
        ("(= (@ (% ((x INTEGER)) (: x (.. 0 2)) (/ 2 x)) 1) 2)", "true"),
        ("(= (@ (let ((f (% ((x INTEGER)) (: x (.. 0 2)) (/ 2 x)))) f) 1) 2)", "undefined"),
        ("(= (@ (let ((f (% ((x INTEGER)) (: x NATURAL) (+ x 1)))) f) 5) 6)", "true"),
        ("(: 5 (\\ NATURAL ({} (0))))", "true"),
        ("(: ({} ((|-> 1 2))) (+-> NATURAL NATURAL1))", "true"),
        ("(: ({} ((|-> 1 2))) (--> NATURAL NATURAL1))", "false"),
        ("(: ([] (1 2 2)) (seq NATURAL))", "true"),
        ("(<: (.. 1 3) NATURAL)", "true"),
    ]);
}

#[test]
fn a_large_interval_is_not_listed_to_be_tested() {
    check(&[
        ("(: 5 (.. 0 (** 10 30)))", "true"),
        ("(: ({} (1 5)) (POW (.. 0 (** 10 30))))", "true"),
        ("(= (card (.. 0 (** 10 30))) 7)", "too big"),
        ("(= (max (.. 0 (** 10 30))) (** 10 30))", "true"),
    ]);
}

/// Functions are chosen pair by pair; what is found is what a plain enumeration finds.
#[test]
fn functions_that_a_condition_bounds_are_found_without_listing_all() {
    let queens = |n: u32, arrow: &str| {
        format!(
            "(card ({{|}} ((q (pow (prod INTEGER INTEGER)))) (& ((: q ({arrow} (.. 1 {n}) (.. 1 {n}))) \
             (! ((i INTEGER) (j INTEGER)) (=> (& ((: i (.. 1 {n})) (: j (.. 1 {n})) (< i j))) \
             (& ((/= (@ q i) (@ q j)) (/= (- (@ q j) (@ q i)) (- j i)) (/= (- (@ q i) (@ q j)) (- j i))))))))))"
        )
    };
    // 4, 5 and 6 queens have 2, 10 and 4 solutions.
    for (n, solutions) in [(4, 2), (5, 10), (6, 4)] {
        for arrow in ["-->", ">->", ">->>"] {
            check(&[(&format!("(= {} {solutions})", queens(n, arrow)), "true")]);
        }
    }
    let all = |arrow: &str, condition: &str| {
        format!(
            "(card ({{|}} ((f (pow (prod INTEGER INTEGER)))) (& ((: f ({arrow} (.. 1 3) (.. 1 2))) {condition}))))"
        )
    };
    check(&[
        (&format!("(= {} 8)", all("-->", "TRUE")), "true"),
        (&format!("(= {} 27)", all("+->", "TRUE")), "true"),
        (&format!("(= {} 6)", all("-->>", "TRUE")), "true"),
        (&format!("(= {} 13)", all(">+>", "TRUE")), "true"),
        (&format!("(= {} 0)", all(">->", "TRUE")), "true"),
        (&format!("(= {} 4)", all("-->", "(= (@ f 2) 1)")), "true"),
        // Where f(2) has no value the condition is undefined, so the whole set is.
        (&format!("(= {} 9)", all("+->", "(= (@ f 2) 1)")), "undefined"),
        (
            &format!(
                "(= {} 5)",
                all("+->", "(& ((= (@ f 2) 1) (= (image f (.. 1 3)) ({} (1 2))) (: (|-> 2 1) f)))")
            ),
            "true",
        ),
    ]);
}

#[test]
fn the_least_element_is_chosen_and_there_must_be_one() {
    check(&[
        ("(= (choose ({} (3 1 2))) 1)", "true"),
        ("(= (choose (.. 4 9)) 4)", "true"),
        ("(= (choose ({} ())) (choose ({} (1))))", "undefined"),
    ]);
}

#[test]
fn an_operation_that_calls_itself_has_no_meaning() {
    let text = "(machine M (variables ((x INTEGER))) (init (:= (((to x ()) 0))))
        (operations ((op e TRUE () () (call f () ())) (op f TRUE () () (call e () ())))))";
    let machine: Machine = read(text).expect("a machine");
    let report = explore(&machine, &Options::default(), &mut || true);
    assert!(report.incomplete.iter().any(|why| why.contains("does not call itself")), "{report:?}");
}

#[test]
fn errors_of_the_text_name_line_and_column() {
    let error = |t: &str| read::<Pred>(t).expect_err("the text is wrong");
    assert_eq!(error("(& (TRUE\n  (bogus 1)))"), "2:3: `bogus` is not known here");
    assert_eq!(error("(= 1"), "1:5: the text ends too early");
    assert_eq!(error("TRUE )"), "1:6: the text should end here");
    assert_eq!(error("(= 1 2 3)"), "1:1: = has 2 parts");
    let deep = "(neg ".repeat(DEPTH + 1) + "1" + &")".repeat(DEPTH + 1);
    assert!(read::<Expr>(&deep).expect_err("too deep").contains("too deeply"));
}

const LIFT: &str = "(machine Lift (sets ((set DOOR (open shut)))) (constants ((top INTEGER)))
    (properties ((clause `top` (: top (.. 2 3)))))
    (variables ((floor INTEGER) (door (given DOOR))))
    (invariant ((clause `range` (: floor (.. 0 top))) (clause `safe` (=> (= door (elem DOOR 0 open)) (< (/ 6 floor) 6)))))
    (init (|| ((:: (floor) (.. 1 2)) (:= (((to door ()) (elem DOOR 1 shut)))))))
    (operations ((op up TRUE ((n INTEGER)) () (pre (: n (.. 1 2)) (:= (((to floor ()) (+ floor n))))))
    (op down TRUE () ((r INTEGER)) (select (((> floor 0) (:= (((to floor ()) (- floor 1)) ((to r ()) floor))))) ()))
    (op swap TRUE () () (:= (((to door ()) (if (= door (elem DOOR 0 open)) (elem DOOR 1 shut) (elem DOOR 0 open))))))))
    (scope ((: floor (.. 0 top)))))";

#[test]
fn the_judge_confirms_what_the_search_finds_and_refutes_altered_traces() {
    let machine: Machine = read(LIFT).expect("the machine is well-formed");
    let report = explore(&machine, &Options::default(), &mut || true);
    assert_eq!(report.first.len(), 2, "{:?}", report.found);
    for (finding, trace) in &report.first {
        let claim = Claim {
            kind: finding.kind,
            place: Some(finding.place.clone()),
            event: finding.event.clone().map(|(n, p)| (n, Some(p))),
            strict_guards: false,
        };
        let verdict = |t: &Trace, c: &Claim| judge(&machine, t, c, 1_000_000);
        assert_eq!(verdict(trace, &claim), Verdict::Confirmed, "{finding:?}");
        for kind in Kind::ALL.iter().filter(|k| **k != finding.kind) {
            let other = Claim { kind: *kind, place: None, ..claim.clone() };
            assert!(matches!(verdict(trace, &other), Verdict::Refuted(_)), "{kind:?}");
        }
        let other = Claim { place: Some("elsewhere".into()), ..claim.clone() };
        assert!(matches!(verdict(trace, &other), Verdict::Refuted(_)));
        for i in 0..trace.steps.len() {
            let mut wrong = trace.clone();
            wrong.steps[i].state[0] = Value::int(77);
            assert!(matches!(verdict(&wrong, &claim), Verdict::Refuted(_)));
            let mut wrong = trace.clone();
            wrong.steps.remove(i);
            assert!(matches!(verdict(&wrong, &claim), Verdict::Refuted(_)), "without step {i}");
        }
        let mut wrong = trace.clone();
        wrong.constants.insert("top".into(), Value::int(1));
        assert!(matches!(verdict(&wrong, &claim), Verdict::Refuted(_)));
        let mut wrong = trace.clone();
        wrong.steps[0].state[1] = Value::Bool(true);
        assert!(matches!(verdict(&wrong, &claim), Verdict::Refuted(_)));
    }
}

#[test]
fn the_library_is_small_and_depends_on_none_of_ours() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = 0;
    for entry in std::fs::read_dir(root.join("src")).expect("the sources are there") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(path).expect("a text");
        lines += text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count();
    }
    assert!(lines <= 3000, "{lines} lines of code, blank lines and comments not counted");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("the manifest is there");
    let dependencies = manifest.split("[dependencies]").nth(1).expect("there are dependencies");
    assert!(!dependencies.contains("path") && !dependencies.contains("bombus"));
}
