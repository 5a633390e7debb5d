//! Machines whose counts follow from a closed form, and what substitutions do.

use bombus_oracle::exec::Kind;
use bombus_oracle::search::{Options, Report, explore};
use bombus_oracle::text::{Core, read};
use bombus_oracle::tree::Machine;

fn machine(text: &str) -> Machine {
    let m: Machine = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let printed = m.write();
    assert_eq!(read::<Machine>(&printed).expect("what is written can be read"), m);
    assert_eq!(
        read::<Machine>(&printed).map(|m| m.write()),
        Ok(printed),
        "writing what was read changes nothing"
    );
    m
}

fn report(text: &str) -> Report {
    explore(&machine(text), &Options::default(), &mut || true)
}

fn kinds(r: &Report) -> Vec<(&'static str, u64)> {
    r.found.iter().map(|(k, n)| (k.word(), *n)).collect()
}

/// A machine with integer variables, an initialisation and one operation `op`.
fn one_op(vars: &str, init: &str, op: &str) -> String {
    let vars: Vec<String> = vars.split(' ').map(|v| format!("({v} INTEGER)")).collect();
    format!(
        "(machine M (variables ({})) (init {init}) (operations ((op op TRUE () () {op}))))",
        vars.join(" ")
    )
}

/// The states after one execution of a substitution, as text, and the kinds of findings without deadlock.
fn outcomes(vars: &str, init: &str, subst: &str) -> (Vec<String>, Vec<&'static str>) {
    // A counter lets the operation run once.
    let guarded = format!("(|| ((:= (((to once ()) 1))) (; (skip {subst}))))");
    let body = format!("(select (((= once 0) {guarded})) ())");
    let init = format!("(|| ((:= (((to once ()) 0))) {init}))");
    let m = machine(&one_op(&format!("{vars} once"), &init, &body));
    let oracle = bombus_oracle::eval::Oracle::new(&m, 1_000_000);
    let start = bombus_oracle::exec::Run::new(&oracle, None)
        .initialise(&oracle.environment(&[], None))
        .expect("the initialisation is small");
    assert_eq!(start.len(), 1);
    let state: Vec<_> = m.variables.iter().map(|(n, _)| start[0][n].clone()).collect();
    let mut run = bombus_oracle::exec::Run::new(&oracle, None);
    let transitions = run
        .operation(&oracle.environment(&[], Some(&state)), &m.operations[0], None)
        .expect("the operation is small");
    let mut out: Vec<String> = transitions
        .iter()
        .map(|t| {
            let shown = m.variables.iter().zip(&state).filter(|(v, _)| &*v.0 != "once");
            let parts: Vec<String> =
                shown.map(|((n, _), old)| format!("{n}={}", t.writes.get(n).unwrap_or(old))).collect();
            parts.join(",")
        })
        .collect();
    out.sort();
    out.dedup();
    let mut found: Vec<_> = run.findings.iter().map(|f| f.kind.word()).collect();
    found.dedup();
    (out, found)
}

fn set(pairs: &[(&str, &str)]) -> String {
    let parts: Vec<String> = pairs.iter().map(|(x, v)| format!("((to {x} ()) {v})")).collect();
    format!("(:= ({}))", parts.join(" "))
}

/// Rows 253 to 286 of the reference: number, variables with values, substitution, outcomes, findings.
type Row = (u32, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const SUBSTITUTIONS: &[Row] = &[
    (253, "x=1 y=2", "(:= (((to x ()) y) ((to y ()) x)))", &["x=2,y=1"], &[]),
    (254, "x=1 y=2", "(|| ((:= (((to x ()) y))) (:= (((to y ()) x)))))", &["x=2,y=1"], &[]),
    (255, "x=1 y=2", "(; ((:= (((to x ()) y))) (:= (((to y ()) x)))))", &["x=2,y=2"], &[]),
    (
        256,
        "x=1 y=2 z=0",
        "(; ((:= (((to x ()) 5))) (|| ((:= (((to y ()) x))) (:= (((to z ()) x)))))))",
        &["x=5,y=5,z=5"],
        &[],
    ),
    (257, "x=0", "(:: (x) ({} ()))", &[], &[]),
    (258, "x=0", "(:: (x) (.. 1 3))", &["x=1", "x=2", "x=3"], &[]),
    (259, "x=5", "(:| ((x INTEGER)) (& ((> x (old x)) (< x 8))))", &["x=6", "x=7"], &[]),
    (260, "x=5", "(:| ((x INTEGER)) (& ((= x (+ x 1)) (: x (.. 0 20)))))", &[], &[]),
    (262, "x=0", "(; (skip (pre (> x 0) (:= (((to x ()) 9))))))", &[], &["precondition"]),
    (263, "x=0", "(select (((> x 0) (:= (((to x ()) 9))))) ())", &[], &[]),
    (264, "x=0", "(assert assertion (> x 0) (:= (((to x ()) 9))))", &[], &["assertion"]),
    (
        265,
        "x=1",
        "(select (((> x 0) (:= (((to x ()) 2)))) ((< x 5) (:= (((to x ()) 3))))) ((:= (((to x ()) 4)))))",
        &["x=2", "x=3"],
        &[],
    ),
    (266, "x=0", "(if (((> x 0) (:= (((to x ()) 9))))) ())", &["x=0"], &[]),
    (267, "x=0", "(choice ((:= (((to x ()) 1))) (:= (((to x ()) 2)))))", &["x=1", "x=2"], &[]),
    (
        268,
        "x=2",
        "(case x (((1) (:= (((to x ()) 10)))) ((2 3) (:= (((to x ()) 20))))) ((:= (((to x ()) 30)))))",
        &["x=20"],
        &[],
    ),
    (269, "x=9", "(case x (((1) (:= (((to x ()) 10))))) ())", &["x=9"], &[]),
    (
        270,
        "x=0",
        "(any ((a INTEGER) (b INTEGER)) (& ((: a (.. 1 2)) (: b (.. 1 2)) (< a b))) (:= (((to x ()) (+ a b)))))",
        &["x=3"],
        &[],
    ),
    (271, "x=0", "(any ((a INTEGER)) (& ((: a ({} ())) (> a x))) (:= (((to x ()) a))))", &[], &[]),
    (272, "x=0", "(var (t) (; ((:= (((to t ()) (+ x 1)))) (:= (((to x ()) (* t 2)))))))", &["x=2"], &[]),
    (273, "x=0", "(var (t) (:= (((to x ()) t))))", &[], &["well-definedness"]),
    (274, "x=0", "(let ((t (+ x 1))) (:= (((to x ()) (* t t)))))", &["x=1"], &[]),
    (275, "f=({}_((|->_1_1)))", "(:= (((to f ((index 1))) 7)))", &["f={(1|->7)}"], &[]),
    (276, "f=({}_((|->_1_1)))", "(:= (((to f ((index 2))) 7)))", &["f={(1|->1),(2|->7)}"], &[]),
    (
        277,
        "f=({}_((|->_1_({}_((|->_1_0))))))",
        "(:= (((to f ((index 1) (index 2))) 9)))",
        &["f={(1|->{(1|->0),(2|->9)})}"],
        &[],
    ),
    (278, "r=(rec_((a_1)_(b_2)))", "(:= (((to r ((field a))) 5)))", &["r=rec(a:5,b:2)"], &[]),
    (
        279,
        "i=0 s=0",
        "(while (loop (< i 4) (; ((:= (((to i ()) (+ i 1)))) (:= (((to s ()) (+ s i)))))) (: i (.. 0 4)) (- 4 i)))",
        &["i=4,s=10"],
        &[],
    ),
    (280, "i=0", "(while (loop (< i 2) skip (>= i 0) (- 2 i)))", &[], &["assertion"]),
    (281, "i=3", "(while (loop (> i 0) (:= (((to i ()) (- i 2)))) (>= i 0) i))", &[], &["assertion"]),
    (282, "x=1", "(:= (((to x ()) (/ x 0))))", &[], &["well-definedness"]),
    (283, "x=1 z=0", "(; ((:= (((to x ()) 2))) (:= (((to z ()) x)))))", &["x=2,z=2"], &[]),
    (283, "x=1 z=0", "(|| ((:= (((to x ()) 2))) (:= (((to z ()) x)))))", &["x=2,z=1"], &[]),
    (
        285,
        "x=0",
        "(choice ((select (((= x 1) (:= (((to x ()) 5))))) ()) (:= (((to x ()) 6)))))",
        &["x=6"],
        &[],
    ),
    (286, "x=0", "(choice ((:= (((to x ()) 1))) (:= (((to x ()) 1)))))", &["x=1"], &[]),
    (313, "x=5", "(:| ((x INTEGER)) (& ((> x (old x)) (< x 8))))", &["x=6", "x=7"], &[]),
];

#[test]
fn substitutions_have_the_outcomes_of_the_reference() {
    for (number, before, subst, states, findings) in SUBSTITUTIONS {
        let assignments: Vec<(String, String)> = before
            .split(' ')
            .map(|a| a.split_once('=').expect("name=value"))
            .map(|(n, v)| (n.to_string(), v.replace('_', " ")))
            .collect();
        let names: Vec<&str> = assignments.iter().map(|a| a.0.as_str()).collect();
        let pairs: Vec<(&str, &str)> = assignments.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let (found_states, found) = outcomes(&names.join(" "), &set(&pairs), subst);
        assert_eq!(
            (found_states, found),
            (states.iter().map(|s| s.to_string()).collect(), findings.to_vec()),
            "row {number}"
        );
    }
}

#[test]
fn a_variable_that_is_written_twice_has_no_answer() {
    // Row 284: a static error in B; such a tree is refused, never executed in some order.
    let r = report(&one_op("x", &set(&[("x", "0")]), "(|| ((:= (((to x ()) 1))) (:= (((to x ()) 2)))))"));
    assert!(!r.incomplete.is_empty() && r.transitions == 0);
}

#[test]
fn a_counter_up_to_n_has_n_plus_one_states_and_ends_in_a_deadlock() {
    let body = |n: u32| format!("(pre (< x {n}) (:= (((to x ()) (+ x 1)))))");
    for n in [0, 3, 20] {
        let r = report(&one_op("x", &set(&[("x", "0")]), &body(n)));
        assert_eq!((r.states, r.transitions), (n as usize + 1, n as u64));
        assert_eq!(kinds(&r), [("deadlock", 1)]);
        assert_eq!(r.first[0].1.steps.len(), n as usize + 1);
    }
}

#[test]
fn an_invariant_is_violated_after_the_fewest_steps() {
    // Row 320: x:0..3 is false after four increments; there is no bound, so the search is limited.
    let text =
        "(machine M (variables ((x INTEGER))) (invariant ((clause `i1` (: x (.. 0 3))))) (init (:= (((to x ()) 0))))
        (operations ((op inc TRUE () () (:= (((to x ()) (+ x 1))))))))";
    let r = explore(&machine(text), &Options { max_states: 10, ..Options::default() }, &mut || true);
    let (finding, trace) = &r.first[0];
    assert_eq!((finding.kind, &*finding.place, trace.steps.len()), (Kind::Invariant, "i1", 5));
    assert!(!r.incomplete.is_empty(), "a limit that was reached is said");
}

#[test]
fn a_level_that_sinks_by_at_most_four_has_the_recorded_counts() {
    // Row 330: 101 states; sum of min(l,4) for l in 1..100 = 1+2+3+97*4 = 394 transitions.
    let body = "(:| ((l INTEGER)) (& ((>= l 0) (> l (- (old l) 5)) (< l (old l)))))";
    let r = report(&one_op("l", &set(&[("l", "100")]), body));
    assert_eq!((r.states, r.transitions, kinds(&r)), (101, 394, vec![("deadlock", 1)]));
}

#[test]
fn constants_multiply_the_initial_states() {
    // Row 331: 2 valuations, 36 initial states each, 6 transitions from each state.
    let r = report(
        "(machine M (sets ((set ID (a b c d e f)) (set I2 (p q)))) (constants ((iv (given I2)) (three INTEGER)))
        (properties ((clause `p1` (: iv (all (given I2)))) (clause `p2` (= three 3))))
        (variables ((x (given ID)) (y (given ID))))
        (init (|| ((:: (x) (all (given ID))) (:: (y) (all (given ID))))))
        (operations ((op set TRUE ((v (given ID))) () (pre (: v (all (given ID))) (:= (((to x ()) v))))))))",
    );
    assert_eq!((r.constants, r.initial, r.states, r.transitions), (2, 72, 72, 432));
    assert!(r.found.is_empty() && r.incomplete.is_empty());
}

#[test]
fn subsets_of_n_elements_are_two_to_the_n_states() {
    for n in 1..6u32 {
        let names: Vec<String> = (1..=n).map(|i| format!("s{i}")).collect();
        let r = report(&format!(
            "(machine M (sets ((set S ({})))) (variables ((s (pow (given S))))) (init (:= (((to s ()) ({{}} ())))))
            (operations ((op add TRUE ((e (given S))) () (select (((/: e s) (:= (((to s ()) (\\/ s ({{}} (e)))))))) ()))
            (op drop TRUE ((e (given S))) () (select (((: e s) (:= (((to s ()) (\\ s ({{}} (e)))))))) ())))))",
            names.join(" ")
        ));
        // Each state has one transition per element.
        assert_eq!((r.states, r.transitions), (1 << n, n as u64 * (1 << n)));
    }
}

#[test]
fn partial_functions_are_counted_by_their_formula() {
    // (|T|+1)^|S| states, and |S|*|T| assignments in each of them plus one removal per defined point.
    let r = report(
        "(machine M (sets ((set S (a b c)) (set T (u v)))) (variables ((f (pow (prod (given S) (given T))))))
        (invariant ((clause `typing` (: f (+-> (all (given S)) (all (given T)))))))
        (init (:= (((to f ()) ({} ())))))
        (operations ((op put TRUE ((x (given S)) (y (given T))) () (:= (((to f ((index x))) y))))
        (op cut TRUE ((x (given S))) () (pre (: x (dom f)) (:= (((to f ()) (<<| ({} (x)) f)))))))))",
    );
    // The points of all functions together: 3 * 2 * 3^2 = 54.
    assert_eq!((r.states, r.transitions), (27, 27 * 6 + 54));
    assert!(r.found.is_empty());
}

#[test]
fn different_results_are_different_transitions() {
    let with = |body: &str| {
        format!(
            "(machine M (variables ((x INTEGER))) (init (:= (((to x ()) 3))))
            (operations ((op get TRUE () ((r INTEGER)) {body}))))"
        )
    };
    let one = report(&with("(:= (((to r ()) x)))"));
    assert_eq!((one.states, one.transitions), (1, 1));
    let two = report(&with("(:: (r) (.. 1 2))"));
    assert_eq!((two.states, two.transitions), (1, 2));
    let none = report(&with("(if (((= x 1) (:= (((to r ()) 1))))) ())"));
    assert_eq!(kinds(&none), [("well-definedness", 1)]);
}

#[test]
fn no_valuation_and_no_initial_state_are_findings() {
    let r = report("(machine M (properties ((clause `p` (= 1 2)))) (init skip))");
    assert_eq!((kinds(&r), r.states), (vec![("properties", 1)], 0));
    let r = report(&one_op("x", "(:: (x) ({} ()))", "skip"));
    assert_eq!(kinds(&r), [("properties", 1)]);
    let r = report(
        "(machine M (constants ((k INTEGER))) (properties ((clause `p` (: k (.. 1 3))) (clause `q` (> k 1)))) (init skip))",
    );
    assert_eq!(r.constants, 2);
    let r = report("(machine M (constants ((k INTEGER))) (properties ((clause `p` (: k (.. 0 3))) (clause `q` (= (/ 1 k) 1)))) (init skip)
        (operations ((op o TRUE () () skip))))");
    assert_eq!((r.constants, kinds(&r)), (1, vec![("well-definedness", 1)]));
}

#[test]
fn undefined_guards_disable_and_undefined_actions_are_findings() {
    let init = set(&[("x", "0"), ("y", "0")]);
    let undefined = "(= (/ 1 x) 1)";
    let set_y = "(:= (((to y ()) 1)))";
    let with = |op: &str| {
        let r = report(&one_op("x y", &init, op));
        (!r.undefined_guards.is_empty(), kinds(&r).into_iter().map(|k| k.0).collect::<Vec<_>>())
    };
    assert_eq!(with(&format!("(select (({undefined} {set_y})) ())")), (true, vec!["deadlock"]));
    assert_eq!(with(&format!("(pre {undefined} {set_y})")), (true, vec!["deadlock"]));
    assert_eq!(with(&format!("(choice ((select (({undefined} {set_y})) ()) skip))")), (true, vec![]));
    // No ELSE while a guard is undefined.
    assert_eq!(with(&format!("(select (({undefined} {set_y})) (skip))")), (true, vec!["deadlock"]));
    // LET, IF, `;` and `||` are actions.
    assert_eq!(with(&format!("(let ((z (/ 1 x))) {set_y})")), (false, vec!["well-definedness"]));
    for action in ["(if (((= y 0) S)) ())", "(; (S skip))", "(|| (S skip))", "(let ((z 1)) S)"] {
        let op = action.replace('S', &format!("(select (({undefined} {set_y})) ())"));
        assert_eq!(with(&op), (false, vec!["well-definedness"]), "{op}");
    }
    // Guards behind guards are no conjunction: the outer one is looked at first.
    assert_eq!(
        with(&format!("(select (({undefined} (select ((FALSE {set_y})) ()))) ())")),
        (true, vec!["deadlock"])
    );
    assert_eq!(
        with(&format!("(select ((FALSE (select (({undefined} {set_y})) ()))) ())")),
        (false, vec!["deadlock"])
    );
    // A PRE behind a PRE is a guard, a PRE behind another guard must hold.
    assert_eq!(with(&format!("(pre (= x 0) (pre (= y 1) {set_y}))")), (false, vec!["deadlock"]));
    assert_eq!(
        with(&format!("(select (((= x 0) (pre (= y 1) {set_y}))) ())")),
        (false, vec!["precondition"])
    );
}

#[test]
fn a_called_operation_checks_its_precondition_and_returns_results() {
    let with = |arg: &str| {
        report(&format!(
            "(machine M (variables ((x INTEGER) (y INTEGER))) (init (:= (((to x ()) 0) ((to y ()) 0))))
            (operations ((op inner FALSE ((a INTEGER)) ((r INTEGER)) (pre (> a 0) (:= (((to r ()) (* a 2)) ((to x ()) a)))))
            (op outer TRUE () () (call inner ({arg}) ((to y ())))))))"
        ))
    };
    let r = with("3");
    assert_eq!((r.states, r.transitions), (2, 2));
    assert_eq!(kinds(&with("x")), [("precondition", 1)]);
}

#[test]
fn states_outside_the_scope_are_kept_and_not_expanded() {
    let text = |scope: &str| {
        format!(
            "(machine M (variables ((x INTEGER))) (init (:= (((to x ()) 0)))) (scope ({scope})) (goal ((= x 5)))
            (operations ((op inc TRUE () () (:= (((to x ()) (+ x 1))))))))"
        )
    };
    let r = report(&text("(< x 5)"));
    assert_eq!((r.states, r.transitions, kinds(&r)), (6, 5, vec![("goal", 1)]));
    assert!(r.incomplete.iter().any(|why| why.contains("SCOPE left 1 ")), "{:?}", r.incomplete);
    let r = explore(
        &machine(&text("(> (/ 4 x) 0)")),
        &Options { max_states: 4, ..Options::default() },
        &mut || true,
    );
    assert!(r.incomplete.iter().any(|why| why.contains("undefined")), "{:?}", r.incomplete);
}

#[test]
fn assertions_are_checked_in_every_state() {
    let r = report(
        "(machine M (variables ((x BOOL))) (init (:: (x) (all BOOL))) (assertions ((clause `a` (= x TRUE)) (clause `b` (= 1 2))))
        (operations ((op o TRUE () () skip))))",
    );
    // A kind counts once for each look: at each of the two states some assertion is false.
    assert_eq!(kinds(&r), [("assertion", 2)]);
}

#[test]
fn free_types_are_enumerated_and_taken_apart() {
    let r = report(
        "(machine M (freetypes ((type T ((none ()) (some ((BOOL (all BOOL)))))))) (variables ((t (free T)) (b BOOL)))
        (init (|| ((:: (t) (all (free T))) (:= (((to b ()) FALSE))))))
        (operations ((op take TRUE () () (select (((made some t) (:= (((to b ()) (unmake some t)))))) ()))
        (op reset TRUE () () (:= (((to t ()) (make none ()))))))))",
    );
    // t is none, some(FALSE) or some(TRUE); b becomes TRUE through the last one only: 3 states with b=FALSE, then
    // some(TRUE) and none with b=TRUE.
    assert_eq!(r.states, 5);
    let wrong = report(
        "(machine M (freetypes ((type T ((none ()) (some ((BOOL (all BOOL)))))))) (variables ((b BOOL)))
        (init (:= (((to b ()) (unmake some (make none ()))))))
        (operations ((op o TRUE () () skip))))",
    );
    assert_eq!(kinds(&wrong), [("well-definedness", 1)]);
}
