//! Temporal formulas on orbits: the truth of a formula is the same as on states, and its counterexamples
//! are executions.
//!
//! Every violation that the binary shows was replayed by the reference interpreter, so a loop of orbits that
//! was not unfolded into a loop of states would end the run as an internal error.

use crate::support::binary::{Folder, json};
use crate::support::rng::Rng;
use serde_json::Value;
use std::process::Output;

/// Elements that wait, one at a time goes in.
const LOCK: &str = "MACHINE Lock SETS PID VARIABLES waiting, inside
INVARIANT waiting <: PID & inside <: PID & card(inside) <= 1
INITIALISATION waiting, inside := {}, {}
OPERATIONS
  ask(p) = SELECT p : PID & p /: waiting & p /: inside THEN waiting := waiting \\/ {p} END;
  enter(p) = SELECT p : waiting & inside = {} THEN waiting := waiting - {p} || inside := {p} END;
  leave(p) = SELECT p : inside THEN inside := {} END
END";

/// A loop of orbits that comes back to the state only after several rounds: the token goes round a ring,
/// which is a variable so that all states of a ring are one orbit.
const ROUND: &str = "MACHINE Round SETS S VARIABLES f, t, n
INVARIANT f : S +-> S & t : S & n : 0..1
INITIALISATION f := {} || t :: S || n := 0
OPERATIONS
  link(a, b) = SELECT a : S & b : S & a /: dom(f) & b /: ran(f) & n = 0 THEN f(a) := b END;
  start = SELECT dom(f) = S & n = 0 THEN n := 1 END;
  pass = SELECT n = 1 & f(t) /= t THEN t := f(t) END
END";

/// A constant relates elements, so that not all permutations act on the variables.
const HEIRS: &str = "MACHINE Heirs SETS S CONSTANTS next, origin
PROPERTIES origin : S & next : S - {origin} >-> S
VARIABLES x, seen INVARIANT x : S & seen <: S
INITIALISATION x :: S - {origin} || seen := {}
OPERATIONS
  go = SELECT x : dom(next) THEN x := next(x) || seen := seen \\/ {x} END;
  jump(y) = SELECT y : S & y /= x & card(seen) < 2 THEN x := y END
END";

/// A deadlock that is reached by some and not by others.
const PAIRS: &str = "MACHINE Pairs SETS S VARIABLES r, stuck
INVARIANT r : S <-> S & stuck : BOOL
INITIALISATION r := {} || stuck := FALSE
OPERATIONS
  tie(a, b) = SELECT stuck = FALSE & a : S & b : S & a /= b & a /: dom(r) THEN r := r \\/ {a |-> b} END;
  cut(a) = SELECT stuck = FALSE & a : dom(r) & card(r) = 2 THEN r := {a} <<| r END;
  stop = SELECT stuck = FALSE & r /= {} & r = r~ THEN stuck := TRUE END
END";

const MODELS: [(&str, &[&str], &[&str]); 4] = [
    (LOCK, &["{inside = {}}", "{waiting = PID}", "{card(waiting) = 1}"], &["ask", "enter", "leave"]),
    (ROUND, &["{t : dom(f)}", "{n = 1}", "{#x.(x : S & x |-> x : f)}"], &["link", "start", "pass"]),
    (HEIRS, &["{x = origin}", "{x : seen}", "{card(seen) = 1}", "{x : dom(next)}"], &["go", "jump"]),
    (PAIRS, &["{r = {}}", "{r = r~}", "{card(r) = 2}", "{stuck = TRUE}"], &["tie", "cut", "stop"]),
];

fn run(machine: &str, args: &[&str]) -> Output {
    Folder::with_machine(machine).check(&[&["--set-size", "3", "--no-deadlock"], args].concat())
}

fn check(machine: &str, symmetry: &str, workers: &str, formulas: &[String]) -> Value {
    let mut args = vec!["--symmetry", symmetry, "--workers", workers];
    formulas.iter().for_each(|f| args.extend(["--ltl", f]));
    json(&run(machine, &args))
}

fn formula(rng: &mut Rng, predicates: &[&str], events: &[&str], size: usize) -> String {
    if size <= 1 {
        return match rng.below(5) {
            0 => format!("[{}]", rng.pick(events)),
            1 => format!("e({})", rng.pick(events)),
            2 if rng.one_in(3) => "deadlock".into(),
            _ => rng.pick(predicates).to_string(),
        };
    }
    if size == 2 || rng.one_in(2) {
        let op = rng.pick(&["not", "X", "F", "G", "G", "F", "Y", "O", "H"]);
        return format!("{op} ({})", formula(rng, predicates, events, size - 1));
    }
    let left = 1 + rng.below(size - 2);
    let op = rng.pick(&["&", "or", "=>", "U", "W", "R", "S", "T"]);
    let f = formula(rng, predicates, events, left);
    format!("({f}) {op} ({})", formula(rng, predicates, events, size - 1 - left))
}

#[test]
fn orbits_and_states_satisfy_the_same_formulas() {
    let mut rng = Rng::new(5);
    let (mut held, mut loops) = (0, 0);
    for (machine, predicates, events) in MODELS {
        let mut formulas: Vec<String> = events.iter().map(|e| format!("F G not [{e}]")).collect();
        for _ in 0..40 {
            let size = 2 + rng.below(6);
            let mut text = formula(&mut rng, predicates, events, size);
            if rng.one_in(4) {
                let strength = rng.pick(&["WF", "SF"]);
                text = format!("{strength}({}) => ({text})", rng.pick(events));
            }
            formulas.push(text);
        }
        let states = check(machine, "off", "1", &formulas);
        let orbits = check(machine, "exact", "2", &formulas);
        assert!(orbits["states"].as_u64() < states["states"].as_u64());
        assert_eq!(states["temporal"], orbits["temporal"], "{machine}");
        let words = states["temporal"].as_array().unwrap();
        held += words.iter().filter(|t| t["verdict"] == "holds").count();
        // Each violation alone, so that it is shown: an execution as real as without symmetry, and the
        // same one for any number of workers.
        let violated = formulas.iter().zip(words).filter(|(_, t)| t["verdict"] == "violated");
        for (text, _) in violated.take(6) {
            let one = [text.clone()];
            let shown = check(machine, "exact", "1", &one);
            let again = check(machine, "exact", "3", &one);
            assert_eq!(shown["violation"], again["violation"], "{text}");
            let plain = check(machine, "off", "1", &one);
            let length = |j: &Value| j["violation"]["trace"].as_array().map(Vec::len);
            match shown["violation"]["loop_start"].as_u64() {
                // The way to the loop is as short; the loop itself may need several rounds.
                Some(_) => loops += 1,
                None => assert_eq!(length(&shown), length(&plain), "{text}"),
            }
            assert_eq!(shown["violation"]["kind"], "ltl");
        }
    }
    assert!(held > 20 && loops > 3, "{held} {loops}");
}

#[test]
fn a_loop_of_orbits_is_gone_round_until_it_is_a_loop_of_states() {
    // One step of the ring leads to the same orbit; the token is back after three.
    let formulas = ["G ({n = 1 & !x.(x : S => f(x) /= x)} => F G not [pass])".to_string()];
    let j = check(ROUND, "exact", "1", &formulas);
    assert_eq!(j["temporal"][0]["verdict"], "violated");
    let trace = j["violation"]["trace"].as_array().unwrap();
    let start = j["violation"]["loop_start"].as_u64().unwrap() as usize;
    assert_eq!(trace[start]["state"], trace[trace.len() - 1]["state"]);
    assert_eq!(trace.len() - 1 - start, 3, "{trace:?}");
}

#[test]
fn ctl_is_preserved_too() {
    for (machine, f, word) in [
        (LOCK, "AG (e(enter) => EX[enter] {inside /= {}})", "holds"),
        (LOCK, "AF {waiting = PID}", "violated"),
        (ROUND, "AG EF {n = 1}", "holds"),
        (PAIRS, "AG EF {stuck = TRUE}", "violated"),
        (PAIRS, "EF (deadlock & {card(r) = 2})", "holds"),
    ] {
        for symmetry in ["off", "exact"] {
            let o = run(machine, &["--symmetry", symmetry, "--ctl", f]);
            let j: Value = serde_json::from_slice(&o.stdout).unwrap();
            assert_eq!(j["temporal"][0]["verdict"], word, "{f} --symmetry {symmetry}");
        }
    }
}

/// Row 52: an element that a formula names is not interchangeable.
#[test]
fn an_element_named_in_a_formula_is_told_apart() {
    for (f, word) in [
        ("G {PID1 /: inside}", "violated"),
        ("G F {PID1 : inside}", "violated"),
        ("G ({PID1 : inside} => not {PID2 : inside})", "holds"),
        ("F G {PID1 /: waiting} => F G {PID2 /: waiting}", "violated"),
    ] {
        for symmetry in ["off", "exact"] {
            let j = check(LOCK, symmetry, "2", &[f.to_string()]);
            assert_eq!(j["temporal"][0]["verdict"], word, "{f} --symmetry {symmetry}");
        }
    }
}

#[test]
fn what_speaks_of_single_elements_is_refused() {
    for (args, why) in [
        (["--symmetry", "exact", "--ltl", "G [ask(PID1)]"], "single element"),
        (["--symmetry", "exact", "--ltl", "G not e(ask(PID1))"], "single element"),
        (["--symmetry", "exact", "--ltl", "!p.({p : PID} => G {p /: inside})"], "quantifier"),
        (["--symmetry", "exact", "--ltl", "SEF => F {inside /= {}}"], "fairness"),
        (["--symmetry", "exact", "--ltl", "SF(enter(PID1)) => F {inside /= {}}"], "fairness"),
        (["--symmetry", "exact", "--ltl", "G changed({waiting})"], "renamed"),
        (["--symmetry", "exact", "--ltl", "F sink"], "same state"),
        (["--symmetry", "exact", "--ctl", "EX[ask(PID1)] true"], "single element"),
        (["--symmetry", "marker", "--ltl", "F {inside /= {}}"], "markers"),
    ] {
        let o = run(LOCK, &args);
        let text = String::from_utf8_lossy(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?}");
        assert!(text.contains(why) && text.contains("--symmetry off"), "{args:?}: {text}");
    }
}
