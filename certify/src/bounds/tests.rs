//! The law of bounds on examples: the bounded machine has the bindings of the plain one, and rules do not reach too far.

use super::bounded;
use bombus_oracle::eval::Oracle;
use bombus_oracle::exec::Writes;
use bombus_oracle::search::{Options, explore};
use bombus_oracle::text::read;
use bombus_oracle::tree::Machine;
use std::collections::BTreeSet;

/// A machine with the constants x, y of integers, s, t of sets of integers, f, g of relations, and these properties.
fn with_properties(names: &str, text: &str) -> Machine {
    let types = |n: char| match n {
        'x' | 'y' => "INTEGER",
        's' | 't' => "(pow INTEGER)",
        _ => "(pow (prod INTEGER INTEGER))",
    };
    let constants: String = names.chars().map(|n| format!("({n} {})", types(n))).collect();
    read(&format!("(machine M (constants ({constants})) (properties ((clause P {text}))))"))
        .expect("a machine")
}

/// The valuations, spelled; nothing if they cannot be listed or the properties are undefined for some.
fn valuations(machine: &Machine) -> Option<BTreeSet<String>> {
    let oracle = Oracle::new(machine, 2_000_000);
    let (all, undefined) = oracle.valuations(&Writes::new()).ok()?;
    let text = |v: &bombus_oracle::search::Valuation| {
        v.iter().map(|s| s.value().map_or("a set".into(), |v| v.to_string())).collect::<Vec<_>>().join(" ")
    };
    undefined.is_empty().then(|| all.iter().map(text).collect())
}

/// Only the bounded machine can be listed, and has these valuations.
fn listed(names: &str, text: &str, expected: &[&str]) {
    let machine = with_properties(names, text);
    assert_eq!(valuations(&machine), None, "the oracle lists {text} by itself");
    let expected = expected.iter().map(|v| v.to_string()).collect();
    assert_eq!(valuations(&bounded(&machine, None)), Some(expected), "{text}");
}

/// No bound makes this a finite list.
fn unlisted(names: &str, text: &str) {
    let machine = with_properties(names, text);
    assert_eq!(valuations(&bounded(&machine, None)), None, "{text}");
}

#[test]
fn equations_are_solved_for_a_variable_below_sums_and_differences() {
    listed("x", "(= (- 7 (+ x 2)) 4)", &["1"]);
    listed("x", "(= 5 (neg (- x 1)))", &["-4"]);
    listed("x", "(: (- 3 x) (.. 1 2))", &["1", "2"]);
    listed("x", "(& ((>= (- 3 x) 1) (: (+ x 1) NATURAL1)))", &["0", "1", "2"]);
    unlisted("x", "(>= (- 3 x) 1)");
    unlisted("x", "(= (- x x) 0)");
}

#[test]
fn a_factor_is_no_larger_than_a_product_other_than_0() {
    listed("xy", "(& ((: y (.. -1 5)) (= (* x y) 6)))", &["-6 -1", "6 1", "3 2", "2 3"]);
    listed("x", "(<= (* x x) 4)", &["-2", "-1", "0", "1", "2"]);
    listed("x", "(> 4 (* x x))", &["-1", "0", "1"]);
    // 0 is the product of 0 and every number.
    unlisted("xy", "(& ((: y (.. 0 5)) (= (* x y) 0)))");
    unlisted("x", "(>= (* x x) 4)");
}

#[test]
fn an_interval_with_comparisons_is_only_looked_at_where_they_meet() {
    let text = "(& ((: x (.. 0 2147483647)) (: y (.. 0 2147483647)) (> x 7) (< x y) (< y 10)))";
    listed("xy", text, &["8 9"]);
}

#[test]
fn sequences_of_a_size_are_functions_from_their_places() {
    listed("f", "(& ((: f (seq (.. 1 2))) (= (size f) 1)))", &["{(1|->1)}", "{(1|->2)}"]);
    listed("f", "(& ((: f (seq (.. 1 1))) (< (size f) 2)))", &["{}", "{(1|->1)}"]);
    listed("f", "(& ((: f (seq1 (.. 1 1))) (>= 2 (size f))))", &["{(1|->1)}", "{(1|->1),(2|->1)}"]);
    listed("f", "(& ((: f (seq (.. 1 1))) (: (size f) ({} (0 2)))))", &["{}", "{(1|->1),(2|->1)}"]);
    unlisted("f", "(& ((: f (seq (.. 1 1))) (> (size f) 2)))");
    unlisted("f", "(& ((: f (seq NATURAL)) (= (size f) 1)))");
}

#[test]
fn a_function_is_what_equations_for_all_its_images_say() {
    let total = "(: f (--> (.. 1 3) NATURAL))";
    let all = "(! ((x INTEGER)) (=> (: x (.. 2 3)) (= (@ f x) (* x x))))";
    listed("f", &format!("(& ({total} {all} (= (@ f 1) 7)))"), &["{(1|->7),(2|->4),(3|->9)}"]);
    let other = "(: x (.. 1 2)) (> x 1)";
    listed("fx", &format!("(& ({total} {all} {other} (= (@ f 1) 7)))"), &["{(1|->7),(2|->4),(3|->9)} 2"]);
    // Two images of one point: no function.
    listed("f", &format!("(& ({total} {all} (= (@ f 1) 7) (= (@ f 2) 5)))"), &[]);
    // The image of 1 is free.
    unlisted("f", &format!("(& ({total} {all}))"));
    // The image of 4 has no value, whatever f is.
    unlisted("f", &format!("(& ({total} {all} (= (@ f 1) 7) (= (@ f 4) 5)))"));
    // f need not have images.
    unlisted(
        "f",
        "(& ((: f (+-> (.. 1 2) NATURAL)) (=> (/= f ({} ())) (= (@ f 1) 7)) (=> (/= f ({} ())) (= (@ f 2) 7))))",
    );
}

#[test]
fn domain_and_range_bound_a_relation() {
    listed("f", "(& ((: f (+-> NATURAL (.. 1 1))) (= (dom f) ({} (4)))))", &["{(4|->1)}"]);
    listed("f", "(& ((: f (+-> NATURAL (.. 1 1))) (<: (dom f) ({} (4)))))", &["{}", "{(4|->1)}"]);
    listed("f", "(& ((: f (--> (.. 4 5) NATURAL)) (= (ran f) ({} (2)))))", &["{(4|->2),(5|->2)}"]);
    listed(
        "f",
        "(& ((: f (--> (.. 4 4) NATURAL)) (<: (dom f) (.. 1 9)) (<: (ran f) (.. 2 2))))",
        &["{(4|->2)}"],
    );
    unlisted("f", "(& ((: f (+-> NATURAL NATURAL)) (= (dom f) ({} (4)))))");
    // A set without a value bounds nothing.
    unlisted("f", "(& ((: f (+-> (.. 1 (/ 1 0)) (.. 1 1))) (= (dom f) ({} (4)))))");
}

#[test]
fn below_a_quantifier_each_binding_gives_its_values() {
    let some = |what: &str| format!("(# ((y INTEGER)) (& ((: y (.. 1 2)) {what})))");
    listed("x", &some("(= x (* y y))"), &["1", "4"]);
    listed("x", &some("(: x (.. y 2))"), &["1", "2"]);
    unlisted("x", &some("(>= x y)"));
    // Where an image has no value, the quantifier may be true all the same.
    unlisted("x", &some("(= x (/ 4 (- y 1)))"));
    let sets = "(# ((y INTEGER)) (& ((: y (.. 0 2)) (: f (--> (.. 1 y) (.. 7 7))))))";
    listed("f", sets, &["{}", "{(1|->7)}", "{(1|->7),(2|->7)}"]);
}

#[test]
fn a_set_apart_from_others_is_chosen_from_the_rest() {
    let many = "(.. 1 40)";
    let text = format!("(& ((<: s {many}) (<: t {many}) (= s (.. 2 40)) (= (/\\ s t) ({{}} ()))))");
    listed("st", &text, &["{}", "{1}"].map(|t| format!("{} {t}", spelled(2..=40))).each_ref().map(|s| &**s));
}

fn spelled(range: std::ops::RangeInclusive<i32>) -> String {
    format!("{{{}}}", range.map(|n| n.to_string()).collect::<Vec<_>>().join(","))
}

#[test]
fn conjuncts_about_one_variable_that_exclude_each_other_are_seen_first() {
    let long = "(: x (.. 0 9999)) (: s (POW (.. 1 30)))";
    listed("xsy", &format!("(& ({long} (: y (.. 1 3)) (: y ({{}} (5 6)))))"), &[]);
}

/// States, transitions and whether the answer is whole, of a machine with an operation of this text.
fn counts(op: &str, window: Option<(i32, i32)>) -> (usize, u64, bool) {
    let text =
        format!("(machine M (variables ((v INTEGER))) (init (:= (((to v ()) 0)))) (operations ({op})))");
    let mut machine: Machine = read(&text).expect("a machine");
    if let Some((low, high)) = window {
        machine = bounded(&machine, Some(&(low.into(), high.into())));
    }
    let report = explore(&machine, &Options::default(), &mut || true);
    (report.states, report.transitions, report.incomplete.is_empty())
}

#[test]
fn a_parameter_that_nothing_reads_runs_through_the_scope() {
    let op =
        |guard: &str, body: &str| format!("(op e TRUE ((p INTEGER)) ((r INTEGER)) (pre {guard} {body}))");
    let result = "(:= (((to r ()) (* p 2))))";
    assert!(!counts(&op("(: p NATURAL)", result), None).2);
    assert_eq!(counts(&op("(: p NATURAL)", result), Some((-1, 3))), (1, 4, true));
    assert_eq!(counts(&op("(: p NATURAL1)", result), Some((-1, 3))), (1, 3, true));
    // Something is asked of p, its result may have no value, a state depends on it, or no integer of the scope is one.
    assert!(!counts(&op("(/= p 7)", result), Some((-1, 3))).2);
    assert!(!counts(&op("(: p NATURAL)", "(:= (((to r ()) (/ 1 p))))"), Some((-1, 3))).2);
    assert!(!counts(&op("(: p NATURAL)", "(:= (((to r ()) 0) ((to v ()) p)))"), Some((-1, 3))).2);
    assert!(!counts(&op("(: p NATURAL1)", result), Some((-1, 0))).2);
}

#[test]
fn a_guard_behind_a_guard_bounds_parameters() {
    let inner = "(select (((: p (.. y 3)) (:= (((to v ()) p))))) ())";
    let op = format!("(op e TRUE ((p INTEGER)) () (any ((y INTEGER)) (= y 2) {inner}))");
    assert!(!counts(&op, None).2);
    assert_eq!(counts(&op, Some((0, 0))), (3, 6, true));
    // Who calls the operation must meet its PRE.
    let caller = "(op c TRUE () () (call e (5) ()))";
    let op =
        format!("(op e TRUE ((p INTEGER)) () (pre (: p NATURAL) (select (((< p 3) skip)) ()))) {caller}");
    assert!(!counts(&op, Some((0, 1))).2);
}

/// Conjuncts that rules look at, and some that are undefined for some values.
const CONJUNCTS: [&str; 34] = [
    "(= (+ x 1) y)",
    "(= (- y x) 2)",
    "(= (* x y) 2)",
    "(= (* x y) 0)",
    "(<= (* x x) y)",
    "(> (* y y) x)",
    "(: (- x y) (.. 0 1))",
    "(: (+ x y) NATURAL1)",
    "(< x y)",
    "(>= (- 1 x) y)",
    "(= y (/ 2 x))",
    "(: x (.. 0 (/ 2 y)))",
    "(or ((= x 1) (= y (/ 1 x))))",
    "(: x s)",
    "(= (/\\ s (.. x 2)) ({} ()))",
    "(= (/\\ s (dom f)) ({} ()))",
    "(= (card s) x)",
    "(= (max s) y)",
    "(= (dom f) s)",
    "(<: (dom f) (.. 1 x))",
    "(= (ran f) (.. 1 (/ 2 x)))",
    "(: f (--> (.. 1 2) (.. 1 2)))",
    "(: f (--> s (.. 1 2)))",
    "(: f (+-> (.. 1 (/ 2 y)) (.. 1 2)))",
    "(: f (seq (.. 1 2)))",
    "(= (size f) x)",
    "(<= (size f) 1)",
    "(: (size f) (.. x y))",
    "(= (@ f 1) 2)",
    "(= (@ f 2) x)",
    "(! ((z INTEGER)) (=> (: z (.. 1 2)) (= (@ f z) (- 3 z))))",
    "(! ((z INTEGER)) (=> (: z s) (= (@ f z) (/ 2 z))))",
    "(# ((z INTEGER)) (& ((: z (.. 0 y)) (= x (* z z)))))",
    "(# ((z INTEGER)) (& ((: z s) (: f (--> (.. 1 z) (.. 1 2))))))",
];

#[test]
fn bounds_change_neither_the_bindings_nor_what_is_undefined() {
    let plain = "(: x (.. -1 3)) (: y (.. -1 3)) (<: s (.. 1 2)) (<: f (cart (.. 1 2) (.. 1 2)))";
    let mut random = 7u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % below
    };
    let (mut some, mut undefined) = (0, 0);
    for _ in 0..600 {
        let chosen: Vec<&str> = (0..1 + next(3)).map(|_| CONJUNCTS[next(CONJUNCTS.len())]).collect();
        let text = format!("(& ({plain} {}))", chosen.join(" "));
        let machine = with_properties("xysf", &text);
        let looked = |machine: &Machine| {
            let oracle = Oracle::new(machine, 20_000_000);
            let (all, undefined) = oracle.valuations(&Writes::new()).expect("all are finite");
            let all: BTreeSet<String> = all
                .iter()
                .map(|v| format!("{:?}", v.iter().map(|s| s.value()).collect::<Vec<_>>()))
                .collect();
            (all, !undefined.is_empty())
        };
        let (ours, theirs) = (looked(&bounded(&machine, None)), looked(&machine));
        assert_eq!(ours, theirs, "{text}");
        some += usize::from(!theirs.0.is_empty());
        undefined += usize::from(theirs.1);
    }
    assert!(some > 50 && undefined > 50, "{some} with valuations, {undefined} undefined");
}
