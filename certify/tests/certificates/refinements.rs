//! Machines that refine others: what is right is accepted, and every fault of a level is found.

use crate::mutations::Mutation;
use crate::producer::{Draft, verified};
use crate::{answer, refusal};
use bombus_certify::certificate::{Unread, is_of};
use bombus_certify::run::check;
use serde_json::json;

/// The abstraction chooses a number early, its refinement late.
const LATE: &str = "(machine Late (variables ((st INTEGER))) (invariant ((clause st (: st (.. 0 1)))))
  (init (:= (((to st ()) 0))))
  (operations ((op choose TRUE () () (select (((= st 0) (:= (((to st ()) 1))))) ()))
   (op show TRUE () ((r INTEGER)) (select (((= st 1) (any ((v INTEGER)) (: v (.. 0 2)) (:= (((to r ()) v) ((to st ()) 0)))))) ()))))
  (refines ((machine Late (invariant ((clause glue (<=> (= st 0) (= pick -1))))) (assertions ((clause known (: pick (.. -1 2))))))
    (machine Early (variables ((pick INTEGER))) (init (:= (((to pick ()) -1))))
     (operations ((op choose TRUE () () (select (((= pick -1) (any ((w INTEGER)) (: w (.. 0 2)) (:= (((to pick ()) w)))))) ()))
      (op show TRUE () ((r INTEGER)) (select (((/= pick -1) (:= (((to r ()) pick) ((to pick ()) -1))))) ()))))))))";

/// Three levels over a constant: a set, the set with its size, and its complement. A machine that two levels see has `s`;
/// `idle` is new, and `add` is called through another operation.
const SETS: &str = "(machine Complement (constants ((n INTEGER))) (variables ((c (pow INTEGER)) (s BOOL)))
  (properties ((clause n (: n (.. 1 2))))) (invariant ((clause c (<: c (.. 1 n)))))
  (init (; ((:= (((to s ()) TRUE))) (:: (c) (POW (.. 1 n))))))
  (operations ((op add TRUE ((x INTEGER)) () (pre (: x c) (call take (x) ()))) (op take FALSE ((t INTEGER)) () (pre (: t c) (:= (((to c ()) (\\ c ({} (t))))))))
   (op size TRUE () ((r INTEGER)) (:= (((to r ()) (- n (card c))))))
   (op flip TRUE () () (:= (((to s ()) (bool (= s FALSE)))))) (op idle TRUE () () skip)))
  (refines ((machine Complement (invariant ((clause below (= c (\\ (.. 1 n) b))) (clause above (= b a)) (clause size (= m (card b))))))
    (machine Sized (variables ((b (pow INTEGER)) (m INTEGER) (s BOOL)))
     (init (; ((:= (((to s ()) TRUE))) (:: (b) (POW (.. 1 n))) (:= (((to m ()) (card b)))))))
     (operations ((op add TRUE ((x INTEGER)) () (pre (: x (\\ (.. 1 n) b)) (:= (((to b ()) (\\/ b ({} (x)))) ((to m ()) (+ m 1))))))
      (op size TRUE () ((r INTEGER)) (:= (((to r ()) m)))) (op flip TRUE () () (:= (((to s ()) (bool (= s FALSE)))))))))
    (machine Abstract (variables ((a (pow INTEGER)))) (init (:: (a) (POW (.. 1 n))))
     (operations ((op add TRUE ((x INTEGER)) () (pre (: x (\\ (.. 1 n) a)) (:= (((to a ()) (\\/ a ({} (x)))))))) (op size TRUE () ((r INTEGER)) (:= (((to r ()) (card a)))))))))))";

/// A loop that adds, with an invariant over the abstraction's variable.
const LOOP: &str = "(machine Sum (variables ((x INTEGER))) (invariant ((clause x (: x (.. 0 4))))) (init (:= (((to x ()) 0))))
  (operations ((op go TRUE () () (select (((= x 0) BODY)) ())) (op idle TRUE () () skip)))
  (refines ((machine Sum (invariant ((clause same (= x y)))) (operations ((op go TRUE () () (select (((= x 0) LOOPED)) ())))))
    (machine Above (variables ((y INTEGER))) (init (:= (((to y ()) 0))))
     (operations ((op go TRUE () () (select (((= y 0) (:= (((to y ()) 4))))) ()))))))))";

fn looped(invariant: &str) -> String {
    let body =
        |invariant: &str| format!("(while (loop (< x 4) (:= (((to x ()) (+ x 1)))) {invariant} (- 4 x)))");
    LOOP.replace("BODY", &body("(: x (.. 0 4))")).replace("LOOPED", &body(invariant))
}

fn changed(core: &str, from: &str, to: &str) -> Draft {
    assert!(core.contains(from), "{from}");
    verified(&core.replacen(from, to, 1))
}

/// The part of a text from the levels on is changed.
fn above(core: &str, from: &str, to: &str) -> Draft {
    let (own, levels) = core.split_once("(refines").expect("levels");
    assert!(levels.contains(from), "{from}");
    verified(&format!("{own}(refines{}", levels.replacen(from, to, 1)))
}

#[test]
fn a_right_refinement_is_accepted_with_the_names_of_its_abstractions() {
    for (core, names, combined) in
        [(LATE, "Early", 2), (SETS, "Sized, Abstract", 12), (&looped("(= y 0)"), "Above", 2)]
    {
        let report = answer(&verified(core)).expect("a certificate");
        assert_eq!(report.status(), 0, "{}", report.text());
        assert_eq!(report.refines, Some((names.to_string(), combined)));
    }
}

#[test]
fn a_refinement_with_any_fault_of_a_level_is_rejected() {
    for (from, to) in [
        ("(<=> (= st 0)", "(<=> (= st 1)"),
        ("((clause glue", "((clause more (= pick 0)) (clause glue"),
        ("(: pick (.. -1 2))", "(: pick (.. -1 1))"),
        ("(to pick ()) -1))))\n", "(to pick ()) 0))))\n"),
        ("(/= pick -1)", "(= pick 0)"),
        ("(.. 0 2)", "(.. 0 1)"),
        ("(to r ()) pick", "(to r ()) (+ pick 1)"),
        ("(op choose TRUE () () (select", "(op show TRUE () () (select"),
        ("(op choose TRUE", "(op choose FALSE"),
        ("(op choose TRUE", "(op other TRUE"),
        ("(variables ((pick INTEGER)))", "(variables ((pick BOOL)))"),
        ("(variables ((pick INTEGER)))", ""),
        ("(variables ((pick INTEGER)))", "(variables ((pick INTEGER) (st BOOL)))"),
        ("(machine Early", "(machine Early (properties ((clause p FALSE)))"),
    ] {
        assert!(refusal(&above(LATE, from, to)).is_some(), "{from} became {to}");
    }
    for (from, to) in [
        // Gluing conjuncts that are missing let clients call what the machine does not expect, or see other results.
        ("(clause below (= c (\\ (.. 1 n) b))) ", ""),
        ("(clause above (= b a))", ""),
        ("(\\ (.. 1 n) b)))", "(\\ (.. 1 2) b)))"),
        // A level below expects more than the topmost one, or the topmost one less.
        ("(: x (\\ (.. 1 n) b))", "(: x (\\ (.. 2 n) b))"),
        ("(: x (\\ (.. 1 n) a))", "(: x (.. 1 n))"),
        // Other results, other effects, what is seen stays as it is.
        ("(to r ()) (card a)", "(to r ()) (+ (card a) 1)"),
        ("(to m ()) (+ m 1)", "(to m ()) m"),
        (" (op flip TRUE () () (:= (((to s ()) (bool (= s FALSE))))))", ""),
        ("(bool (= s FALSE))", "FALSE"),
        ("(:: (a) (POW (.. 1 n)))", "(:= (((to a ()) ({} ()))))"),
    ] {
        assert!(refusal(&above(SETS, from, to)).is_some(), "{from} became {to}");
    }
    for (from, to) in [
        ("(- n (card c))", "(card c)"),
        ("(op idle TRUE () () skip)", "(op idle TRUE () () (:= (((to c ()) ({} ())))))"),
    ] {
        assert!(refusal(&changed(SETS, from, to)).is_some(), "{from} became {to}");
    }
    for wrong in ["(= y 1)", "(= y x)", "(= (/ 4 y) 1)"] {
        assert!(refusal(&verified(&looped(wrong))).is_some(), "{wrong}");
    }
    let other = looped("(= y 0)").replace(
        "(select (((= x 0) (while (loop (< x 4) (:= (((to x ()) (+ x 1)))) (= y 0)",
        "(select (((= x 0) (while (loop (< x 3) (:= (((to x ()) (+ x 1)))) (= y 0)",
    );
    assert!(other.contains("(< x 3)"));
    assert!(refusal(&verified(&other)).is_some(), "the loops are those of another event");
}

#[test]
fn a_level_that_is_dropped_is_noticed_beside_the_model() {
    let start = SETS.find("(machine Abstract").expect("the topmost level");
    let dropped = format!("{})))", &SETS[..start]);
    // The conjuncts over its variables speak of nothing now.
    assert!(refusal(&verified(&dropped)).is_some());
    let fitting = verified(&dropped.replace("(clause above (= b a))", ""));
    let report = answer(&fitting).expect("a certificate");
    assert_eq!(report.refines.as_ref().map(|r| &*r.0), Some("Sized"), "{}", report.text());
    let dir = tempfile::tempdir().expect("a directory");
    fitting.write(dir.path());
    assert!(check(dir.path(), &Default::default()).is_ok());
    assert!(matches!(is_of(dir.path(), Some(SETS)), Err(Unread::Damaged(_))));
}

/// A trace that ends with a step which no abstraction can follow, or with a call that is refused.
fn violated(core: &str, steps: serde_json::Value, kind: &str, call: Option<&str>) -> Draft {
    let mut draft = verified(core);
    draft.claim_violated();
    let call = call.map(|name| json!({"name": name}));
    draft.trace = Some(
        json!({"kind": kind, "lockstep": true, "place": null, "while": call, "constants": {}, "trace": steps}),
    );
    draft
}

#[test]
fn a_trace_that_no_abstraction_can_follow_is_accepted_and_one_that_it_can_is_not() {
    let steps = json!([
        {"event": "INITIALISATION", "params": {}, "results": {}, "state": {"st": "0"}},
        {"event": "choose", "params": {}, "results": {}, "state": {"st": "1"}},
        {"event": "show", "params": {}, "results": {"r": "2"}, "state": {"st": "0"}}]);
    let (own, levels) = LATE.split_once("(refines").expect("levels");
    let narrow = format!("{own}(refines{}", levels.replacen("(.. 0 2)", "(.. 0 1)", 1));
    let right = violated(&narrow, steps.clone(), "refinement", None);
    let report = answer(&right).expect("a certificate");
    assert_eq!(report.status(), 0, "{}", report.text());
    let refused = |draft: &Draft| assert!(refusal(draft).is_some(), "{:?}", draft.trace);
    refused(&violated(LATE, steps.clone(), "refinement", None));
    refused(&violated(&narrow, steps.clone(), "assertion", None));
    for (place, value) in
        [("results", json!({"r": "1"})), ("results", json!({"r": "3"})), ("state", json!({"st": "1"}))]
    {
        let mut wrong = right.clone();
        wrong.trace.as_mut().expect("a trace")["trace"][2][place] = value;
        refused(&wrong);
    }
    let mut short = right.clone();
    short.trace.as_mut().expect("a trace")["trace"].as_array_mut().expect("steps").pop();
    // The step that is missing is one of those that the checker tries itself.
    assert_eq!(answer(&short).expect("a certificate").status(), 0);
    let mut long = right.clone();
    let more = json!({"event": "choose", "params": {}, "results": {}, "state": {"st": "1"}});
    long.trace.as_mut().expect("a trace")["trace"].as_array_mut().expect("steps").push(more);
    refused(&long);
    let mut alone = right;
    alone.core = own.to_string() + ")";
    refused(&alone);
}

#[test]
fn a_precondition_that_became_stronger_is_shown_by_the_call() {
    let core = SETS.replace("(pre (: x c) (call", "(pre (& ((: x c) (: 1 c))) (call");
    let steps = json!([{"event": "INITIALISATION", "params": {}, "results": {}, "state": {"c": "({} (2))", "s": "TRUE"}}]);
    for (core, call, accepted) in [(&*core, "add", true), (&core, "size", false), (SETS, "add", false)] {
        let mut draft = violated(core, steps.clone(), "refinement", Some(call));
        draft.trace.as_mut().expect("a trace")["constants"] = json!({"n": "2"});
        match accepted {
            true => assert_eq!(answer(&draft).expect("a certificate").status(), 0),
            false => assert!(refusal(&draft).is_some(), "{call}"),
        }
    }
}

#[test]
fn what_an_abstraction_cannot_say_is_open() {
    let unbounded = above(LATE, "(: w (.. 0 2))", "(> w -1)");
    let report = answer(&unbounded).expect("a certificate");
    assert_eq!(report.status(), 3, "{}", report.text());
    let failing = above(LATE, "(to pick ()) -1))))\n", "(to pick ()) (/ 1 0)))))\n");
    assert_eq!(
        answer(&failing).expect("a certificate").status(),
        3,
        "an abstraction that fails is to be checked first"
    );
    let sampled = bombus_certify::run::Options { sample: Some(1), jobs: 1, ..Default::default() };
    let report = crate::with(&verified(LATE), &sampled).expect("a certificate");
    assert!(report.open.total() > 0 && report.refines.is_none());
}

/// The machine counts to 5 and breaks its invariant, but nobody may ask it to count beyond 3.
const BEYOND: &str = "(machine Below (variables ((c INTEGER))) (invariant ((clause c (: c (.. 0 3))))) (init (:= (((to c ()) 0))))
  (operations ((op inc TRUE () () (if (((< c 5) (:= (((to c ()) (+ c 1)))))) ())) (op get TRUE () ((r INTEGER)) (:= (((to r ()) c))))))
  (refines ((machine Below (invariant ((clause same (= c x)))))
    (machine Count (variables ((x INTEGER))) (init (:= (((to x ()) 0))))
      (operations ((op inc TRUE () () (pre (< x 3) (:= (((to x ()) (+ x 1)))))) (op get TRUE () ((s INTEGER)) (:= (((to s ()) x))))))))))";

fn allowed(core: &str) -> Draft {
    let mut draft = verified(core);
    draft.manifest["unlisted"] = json!("only the calls that the abstractions allow were followed");
    draft.manifest["calls"] = json!("allowed");
    draft.manifest["counts"] = json!({"valuations": 1, "initial": 1, "states": 4, "transitions": 7,
        "events": [{"name": "inc", "states": 3, "transitions": 3}, {"name": "get", "states": 4, "transitions": 4}]});
    draft
}

#[test]
fn a_machine_is_examined_as_far_as_its_abstractions_allow_calls() {
    let right = allowed(BEYOND);
    let report = answer(&right).expect("a certificate");
    assert_eq!(report.status(), 0, "{}", report.text());
    let mutations: [Mutation; 5] = [
        ("all calls are claimed", |d| d.manifest["calls"] = json!(null)),
        ("the word is another", |d| d.manifest["calls"] = json!("some")),
        ("there is a list of states", |d| d.manifest["unlisted"] = json!(null)),
        ("a state is counted too many", |d| d.manifest["counts"]["states"] = json!(5)),
        ("a transition is counted too many", |d| d.manifest["counts"]["events"][0]["transitions"] = json!(4)),
    ];
    for (what, mutate) in mutations {
        let mut wrong = right.clone();
        mutate(&mut wrong);
        assert!(refusal(&wrong).is_some(), "{what}");
    }
    for (from, to) in [
        ("(: c (.. 0 3))", "(: c (.. 0 2))"),
        ("(< x 3)", "(< x 4)"),
        ("(to r ()) c", "(to r ()) (/ 6 (- 2 c))"),
        ("(init (:= (((to c ()) 0))))", "(init (:= (((to c ()) (/ 1 0)))))"),
        ("(clause same (= c x))", "(clause same (= c (+ x 1)))"),
    ] {
        assert!(refusal(&allowed(&BEYOND.replacen(from, to, 1))).is_some(), "{from} became {to}");
    }
    let (alone, _) = BEYOND.split_once("(refines").expect("levels");
    assert!(refusal(&allowed(&format!("{alone})"))).is_some(), "there is no abstraction");
}
