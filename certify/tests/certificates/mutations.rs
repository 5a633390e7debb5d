//! Faults of every kind in certificates that are right otherwise; hashes are made to fit unless they are the fault.

use crate::producer::{Draft, verified};
use crate::{COUNTER, LOCK, answer, refusal, with};
use bombus_certify::encoding::put;
use bombus_certify::run::Options;
use bombus_oracle::value::Value;
use serde_json::json;

pub type Mutation = (&'static str, fn(&mut Draft));

/// Faults that any certificate of "verified" may have.
const GENERAL: &[Mutation] = &[
    ("a state is dropped", |d| _ = d.states.remove(3)),
    ("a state is dropped and the count fits", |d| {
        d.states.remove(3);
        d.manifest["counts"]["states"] = json!(d.states.len());
    }),
    ("the first state is dropped", |d| _ = d.states.remove(0)),
    ("the last state is dropped", |d| _ = d.states.pop()),
    ("two states are exchanged", |d| d.states.swap(1, 2)),
    ("a state stands twice", |d| d.states.insert(2, d.states[2].clone())),
    ("blocks are exchanged", |d| d.states.rotate_left(7)),
    ("a state lacks its last byte", |d| _ = d.states[4].pop()),
    ("a state has a byte too many", |d| d.states[4].push(0x80)),
    ("a state belongs to no valuation", |d| d.states.last_mut().expect("a state")[0] = 0xbf),
    ("the count of states is wrong", |d| add(d, "states")),
    ("the count of transitions is wrong", |d| add(d, "transitions")),
    ("the count of initial states is wrong", |d| add(d, "initial")),
    ("the count of valuations is wrong", |d| add(d, "valuations")),
    ("an event has a transition more", |d| {
        let n = d.manifest["counts"]["events"][0]["transitions"].as_u64().expect("a count");
        d.manifest["counts"]["events"][0]["transitions"] = json!(n + 1);
    }),
    ("an event is not counted", |d| {
        d.manifest["counts"]["events"].as_array_mut().expect("events").pop();
    }),
    ("a valuation stands twice", |d| d.constants.push(d.constants[0].clone())),
    ("there is no valuation", |d| d.constants.clear()),
    ("there is no state", |d| d.states.clear()),
    ("the format has another version", |d| d.manifest["version"] = json!(1)),
    ("the verdict is another one", |d| d.manifest["verdict"] = json!("violated")),
    ("nobody says what was asked for", |d| d.manifest["asked"] = json!({})),
    ("a property that does not hold is claimed", |d| {
        d.manifest["formulas"] = json!([{"text": "F false", "formula": ["F", ["false"]]}]);
    }),
    ("a formula names no event of the machine", |d| {
        d.manifest["formulas"] = json!([{"text": "?", "formula": ["executed", "nobody"]}]);
    }),
];

fn add(d: &mut Draft, word: &str) {
    let n = d.manifest["counts"][word].as_u64().expect("a count");
    d.manifest["counts"][word] = json!(n + 1);
}

fn assert_rejected(core: &str, mutations: &[Mutation]) {
    let right = verified(core);
    let report = answer(&right).expect("a certificate");
    assert_eq!(report.status(), 0, "{}", report.text());
    for (what, mutate) in mutations {
        let mut wrong = right.clone();
        mutate(&mut wrong);
        assert!(refusal(&wrong).is_some(), "{what}, and the certificate is accepted");
    }
}

#[test]
fn a_certificate_with_any_fault_is_rejected() {
    assert_rejected(LOCK, GENERAL);
    assert_rejected(COUNTER, GENERAL);
}

#[test]
fn a_certificate_of_another_model_is_rejected() {
    let replace = |d: &mut Draft, from: &str, to: &str| {
        assert!(d.core.contains(from));
        d.core = d.core.replace(from, to);
    };
    let lock = verified(LOCK);
    for (from, to) in [
        // A guard is weaker, an invariant stronger, an action another one, an event or an element more.
        ("(= holds ({} ()))", "(= 1 1)"),
        ("(<= (card holds) 1)", "(<= (card holds) 0)"),
        ("(pre (: x holds)", "(pre (: x wants)"),
        ("((op ask", "((op more TRUE () () skip) (op ask"),
        ("(p q r)", "(p q r s)"),
    ] {
        let mut wrong = lock.clone();
        replace(&mut wrong, from, to);
        assert!(refusal(&wrong).is_some(), "{from} became {to}");
    }
    let counter = verified(COUNTER);
    for (from, to) in [
        ("(.. 70 72)", "(.. 70 73)"),
        ("(.. 70 72)", "(.. 70 71)"),
        ("(.. low high)", "(.. low 71)"),
        ("(to x ()) low", "(to x ()) (- low 1)"),
    ] {
        let mut wrong = counter.clone();
        replace(&mut wrong, from, to);
        assert!(refusal(&wrong).is_some(), "{from} became {to}");
    }
    // The model of the manifest is not the one beside it.
    let dir = tempfile::tempdir().expect("a directory");
    lock.write(dir.path());
    std::fs::write(dir.path().join("model.core"), LOCK.replace("(<= (card holds) 1)", "(<= (card holds) 3)"))
        .expect("written");
    assert!(bombus_certify::run::check(dir.path(), &Default::default()).is_err());
}

#[test]
fn a_set_in_another_order_is_no_spelling_of_a_state() {
    let mut wrong = verified(LOCK);
    wrong.manifest["counts"]["states"] = json!(wrong.states.len() + 1);
    // A state with wants = {p, q}: the count, then 0 and 1.
    let at = wrong
        .states
        .iter()
        .position(|s| s.windows(3).any(|w| w == [0x82, 0x80, 0x81]))
        .expect("such a state");
    let mut bytes = wrong.states[at].clone();
    let start = bytes.windows(3).position(|w| w == [0x82, 0x80, 0x81]).expect("the set");
    bytes.swap(start + 1, start + 2);
    wrong.states.push(bytes);
    wrong.states.sort();
    assert!(refusal(&wrong).expect("rejected").contains("canonical"));
}

#[test]
fn a_valuation_that_is_left_out_or_breaks_the_properties_is_noticed() {
    let right = verified(COUNTER);
    let mut wrong = right.clone();
    wrong.constants.pop();
    let last = 0x80 + wrong.constants.len() as u8;
    wrong.states.retain(|s| s[0] != last);
    wrong.manifest["counts"]["valuations"] = json!(wrong.constants.len());
    wrong.manifest["counts"]["states"] = json!(wrong.states.len());
    assert!(refusal(&wrong).expect("rejected").contains("missing"));
    let mut wrong = right.clone();
    let mut outside = vec![1];
    put(&Value::int(0), &mut outside);
    outside.push(1);
    put(&Value::int(80), &mut outside);
    wrong.constants.push(outside);
    wrong.constants.sort();
    wrong.manifest["counts"]["valuations"] = json!(wrong.constants.len());
    assert!(refusal(&wrong).expect("rejected").contains("do not satisfy"));
}

#[test]
fn states_up_to_renaming_are_accepted_if_nobody_names_an_element() {
    let mut quotient = verified(LOCK);
    // One state of each orbit: by the numbers of processes that want and hold, the least ones.
    let keep = [&[0x80u8, 0x80, 0x80][..], &[0x80, 0x81, 0x80, 0x80], &[0x80, 0x81, 0x80, 0x81, 0x80]];
    let more = [&[0x80u8, 0x82, 0x80, 0x81, 0x80][..], &[0x80, 0x82, 0x80, 0x81, 0x81, 0x80]];
    let most = [&[0x80u8, 0x83, 0x80, 0x81, 0x82, 0x80][..], &[0x80, 0x83, 0x80, 0x81, 0x82, 0x81, 0x80]];
    quotient.states = keep.iter().chain(&more).chain(&most).map(|s| s.to_vec()).collect();
    quotient.manifest["symmetry"] = json!(["P"]);
    // Of n processes k want: n - k can ask; k can enter if nobody holds, or the holder can leave.
    let events = json!([{"name": "ask", "states": 5, "transitions": 9}, {"name": "enter", "states": 3, "transitions": 6},
        {"name": "leave", "states": 3, "transitions": 3}]);
    quotient.manifest["counts"] =
        json!({"valuations": 1, "initial": 1, "states": 7, "transitions": 18, "events": events});
    let report = answer(&quotient).expect("a certificate");
    assert_eq!(report.status(), 0, "{}", report.text());
    for at in 0..quotient.states.len() {
        let mut wrong = quotient.clone();
        wrong.states.remove(at);
        assert!(refusal(&wrong).is_some(), "orbit {at} is missing");
    }
    let mut wrong = verified(LOCK);
    wrong.manifest["symmetry"] = json!(["P"]);
    let why = refusal(&wrong).expect("an orbit is listed twice");
    assert!(why.contains("the same up to renaming"), "{why}");
    let mut wrong = quotient.clone();
    wrong.manifest["symmetry"] = json!([]);
    assert!(refusal(&wrong).is_some(), "the states themselves are not all there");
    let mut wrong = quotient;
    wrong.core =
        wrong.core.replace("(clause one ", "(clause named (: (elem P 0 p) (all (given P)))) (clause one ");
    assert!(refusal(&wrong).is_some(), "an element is named, so it is not renamed");
}

#[test]
fn a_state_that_no_path_leads_to_is_one_too_many_although_the_list_is_closed() {
    let core = "(machine M (variables ((x INTEGER))) (init (:= (((to x ()) 0))))
      (operations ((op rest TRUE () () skip))))";
    let mut draft = verified(core);
    assert!(answer(&draft).expect("a certificate").reached);
    draft.states.push(vec![0x80, 0x81]);
    let events = json!([{"name": "rest", "states": 2, "transitions": 2}]);
    draft.manifest["counts"] =
        json!({"valuations": 1, "initial": 1, "states": 2, "transitions": 2, "events": events});
    let why = refusal(&draft).expect("rejected");
    assert_eq!(why, "state 1 is listed, and no path leads to it");
}

#[test]
fn elements_among_which_the_least_is_chosen_are_not_renamed() {
    let chooses = LOCK.replace(
        "(clause one ",
        "(clause least (= (choose (all (given P))) (choose (all (given P))))) (clause one ",
    );
    let right = verified(&chooses);
    assert_eq!(answer(&right).expect("a certificate").status(), 0);
    let mut quotient = right.clone();
    // Without the states in which only q or only r wants; all others that these lead to are there.
    quotient.states.retain(|s| s[..] != [0x80, 0x81, 0x81, 0x80] && s[..] != [0x80, 0x81, 0x82, 0x80]);
    assert_eq!(quotient.states.len() + 2, right.states.len());
    quotient.manifest["counts"]["states"] = json!(quotient.states.len());
    quotient.manifest["symmetry"] = json!(["P"]);
    assert!(refusal(&quotient).expect("rejected").contains("missing"));
}

#[test]
fn a_machine_whose_states_are_not_listed_is_explored() {
    let mut right = verified(LOCK);
    right.manifest["unlisted"] = json!("nobody wrote them down");
    let report = answer(&right).expect("a certificate");
    assert_eq!(report.status(), 0, "{}", report.text());
    let part = with(&right, &Options { sample: Some(3), ..Options::default() }).expect("a certificate");
    assert_eq!(part.status(), 3, "{}", part.text());
    let mut wrong = right.clone();
    wrong.manifest["counts"]["states"] = json!(5);
    assert!(refusal(&wrong).expect("rejected").contains("states, not 5"));
    let mut wrong = right;
    wrong.core = wrong.core.replace("(<= (card holds) 1)", "(<= (card holds) 0)");
    assert!(refusal(&wrong).expect("rejected").contains("invariant"));
}

/// The certificate of a counter that goes too far.
pub fn violated() -> Draft {
    let mut draft = verified(COUNTER);
    draft.core = draft.core.replace("(.. low high)", "(.. low 2)");
    let state = |x: i64| json!({"x": x.to_string(), "up": "TRUE"});
    let step = |event: &str, x: i64| json!({"event": event, "params": {}, "results": {}, "state": state(x)});
    draft.claim_violated();
    draft.trace = Some(
        json!({"kind": "invariant", "place": "in", "while": null, "constants": {"low": "1", "high": "70"},
        "trace": [step("INITIALISATION", 1), step("step", 2), step("rest", 2), step("step", 3)]}),
    );
    draft
}

#[test]
fn a_trace_with_any_fault_is_rejected() {
    let right = violated();
    assert_eq!(answer(&right).expect("a certificate").status(), 0);
    let mutations: &[Mutation] = &[
        ("the last step is missing", |d| _ = steps(d).pop()),
        ("the first step is missing", |d| _ = steps(d).remove(0)),
        ("a step is missing", |d| _ = steps(d).remove(1)),
        ("a step has another event", |d| steps(d)[1]["event"] = json!("rest")),
        ("a step has an event that is none", |d| steps(d)[1]["event"] = json!("jump")),
        ("a state is another one", |d| steps(d)[3]["state"]["x"] = json!("4")),
        ("a state is of another type", |d| steps(d)[3]["state"]["x"] = json!("TRUE")),
        ("a state lacks a variable", |d| steps(d)[3]["state"] = json!({"x": "3"})),
        ("a constant is another one", |d| {
            d.trace.as_mut().expect("a trace")["constants"]["low"] = json!("5")
        }),
        ("the claim is of another kind", |d| d.trace.as_mut().expect("a trace")["kind"] = json!("deadlock")),
        ("the claim is about another clause", |d| d.trace.as_mut().expect("a trace")["place"] = json!("out")),
        ("nobody asked for it", |d| d.manifest["asked"]["invariant"] = json!(false)),
        ("there are no steps", |d| *steps(d) = Vec::new()),
    ];
    for (what, mutate) in mutations {
        let mut wrong = right.clone();
        mutate(&mut wrong);
        assert!(refusal(&wrong).is_some(), "{what}, and the certificate is accepted");
    }
}

fn steps(d: &mut Draft) -> &mut Vec<serde_json::Value> {
    d.trace.as_mut().expect("a trace")["trace"].as_array_mut().expect("steps")
}

#[test]
fn a_lasso_with_any_fault_is_rejected() {
    let formula = json!(["F", ["pred", "(= x high)"]]);
    let state = |x: i64| json!({"x": x.to_string(), "up": "TRUE"});
    let step = |event: &str, x: i64| json!({"event": event, "params": {}, "results": {}, "state": state(x)});
    let mut right = verified(COUNTER);
    right.claim_violated();
    right.manifest["formulas"] = json!([{"text": "F {x = high}", "formula": formula}]);
    right.trace = Some(json!({"formula": formula, "end": 1, "constants": {"low": "1", "high": "70"},
        "trace": [step("INITIALISATION", 1), step("step", 2), step("rest", 2)]}));
    assert_eq!(answer(&right).expect("a certificate").status(), 0);
    let mutations: &[Mutation] = &[
        ("the loop begins earlier", |d| d.trace.as_mut().expect("a trace")["end"] = json!(0)),
        ("the loop begins later", |d| d.trace.as_mut().expect("a trace")["end"] = json!(2)),
        ("the loop begins nowhere", |d| d.trace.as_mut().expect("a trace")["end"] = json!(99)),
        ("the path is said to end", |d| d.trace.as_mut().expect("a trace")["end"] = json!("deadlock")),
        ("the formula is another one", |d| {
            d.trace.as_mut().expect("a trace")["formula"] = json!(["X", ["true"]])
        }),
        ("the formula holds along the path", |d| {
            let other = json!(["F", ["pred", "(= x 2)"]]);
            d.manifest["formulas"][0]["formula"] = other.clone();
            d.trace.as_mut().expect("a trace")["formula"] = other;
        }),
        ("a step is none", |d| steps(d)[2]["event"] = json!("turn")),
    ];
    for (what, mutate) in mutations {
        let mut wrong = right.clone();
        mutate(&mut wrong);
        assert!(refusal(&wrong).is_some(), "{what}, and the certificate is accepted");
    }
}

#[test]
fn formulas_that_hold_are_accepted_and_others_are_not() {
    for (formula, holds) in [
        (json!(["G", ["pred", "(<= x high)"]]), true),
        (json!(["G", ["=>", ["executed", "turn"], ["X", ["pred", "(= up FALSE)"]]]]), true),
        (json!(["G", ["enabled", "rest"]]), true),
        (json!(["G", ["=>", ["pred", "(= up FALSE)"], ["O", ["executed", "turn"]]]]), true),
        (json!(["F", ["executed", "turn"]]), false),
        (json!(["G", ["enabled", "step"]]), false),
        (json!(["G", ["F", ["executed", "rest"]]]), false),
    ] {
        let mut draft = verified(COUNTER);
        draft.manifest["formulas"] = json!([{"text": formula.to_string(), "formula": formula}]);
        let report = answer(&draft).expect("a certificate");
        assert_eq!(report.rejected.is_none(), holds, "{formula}: {}", report.text());
        assert_eq!(report.open.total(), 0, "{}", report.text());
    }
}

#[test]
fn a_manifest_that_was_altered_is_rejected_whatever_was_altered() {
    let alterations: [fn(&mut serde_json::Value); 4] = [
        |m| m["model"] = json!("another"),
        |m| m["asked"]["invariant"] = json!(false),
        |m| m["sources"] = json!([]),
        |m| _ = m.as_object_mut().and_then(|keys| keys.shift_remove("seal")),
    ];
    for alter in alterations {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, mut bytes) in verified(LOCK).files() {
            if name == "manifest.json" {
                let mut json = serde_json::from_slice(&bytes).expect("a manifest");
                alter(&mut json);
                bytes = json.to_string().into_bytes();
            }
            std::fs::write(dir.path().join(name), bytes).expect("the directory can be written");
        }
        let answer = bombus_certify::run::check(dir.path(), &Options::default());
        assert!(format!("{:?}", answer.err()).contains("seal"));
    }
}

#[test]
fn counts_of_a_machine_that_is_explored_are_compared() {
    let mut right = verified(LOCK);
    right.manifest["unlisted"] = json!("nobody wrote them down");
    for word in ["valuations", "initial", "states", "transitions"] {
        let mut wrong = right.clone();
        add(&mut wrong, word);
        assert!(refusal(&wrong).is_some(), "{word}");
    }
    for word in ["states", "transitions"] {
        let mut wrong = right.clone();
        let n = wrong.manifest["counts"]["events"][1][word].as_u64().expect("a count");
        wrong.manifest["counts"]["events"][1][word] = json!(n + 1);
        assert!(refusal(&wrong).is_some(), "{word} of an event");
    }
    right.manifest["symmetry"] = json!(["P"]);
    assert!(refusal(&right).expect("rejected").contains("cannot be checked"), "orbits without a list");
}

#[test]
fn what_a_reduced_search_lists_is_examined_too() {
    let mut right = verified(LOCK);
    right.manifest["reduced"] = json!(true);
    assert!(refusal(&right).expect("rejected").contains("cannot be checked"), "transitions are claimed");
    right.manifest["counts"]["transitions"] = json!(0);
    right.manifest["counts"]["events"] = json!([]);
    let report = answer(&right).expect("a certificate");
    assert_eq!(report.status(), 0, "{}", report.text());
    let with_states = |keep: &dyn Fn(usize) -> bool| {
        let mut wrong = right.clone();
        let kept = right.states.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, s)| s.clone());
        wrong.states = kept.collect();
        wrong.manifest["counts"]["states"] = json!(wrong.states.len());
        wrong
    };
    // The first state is the initial one; nobody wants the lock there.
    assert!(refusal(&with_states(&|i| i > 0)).expect("rejected").contains("initial state"));
    assert!(refusal(&with_states(&|i| i == 0)).expect("rejected").contains("none of them is listed"));
    // One process that wants, and all states in which two do are gone: the others are not reached any more.
    let two = |s: &[u8]| s[1] == 0x82;
    assert!(refusal(&with_states(&|i| !two(&right.states[i]))).is_some());
    let mut wrong = right.clone();
    add(&mut wrong, "states");
    assert!(refusal(&wrong).is_some(), "a state is missing");
}

#[test]
fn a_model_that_breaks_the_rules_of_types_is_rejected() {
    for (right, wrong) in [("(: x wants)", "(: y wants)"), ("(<= (card holds) 1)", "(<= holds 1)")] {
        let mut draft = verified(LOCK);
        assert!(draft.core.contains(right));
        draft.core = draft.core.replace(right, wrong);
        assert!(refusal(&draft).expect("rejected").contains("no model"), "{wrong}");
    }
}
