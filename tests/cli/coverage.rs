//! `check --coverage`, `check --graph`, `bombus tests` and `bombus simulate` as a user sees them.

use crate::support::binary::{Folder, json, messages};
use crate::support::rng::Rng;
use serde_json::Value;
use std::collections::BTreeSet;

/// Nothing ever makes `stuck` possible, and the last conjunct of the invariant never has to hold.
const COUNTER: &str = "MACHINE Counter
VARIABLES n, on
INVARIANT n : 0..5 & on : BOOL & (n > 7 => on = TRUE) & !k.(k : 1..n => k <= 5)
INITIALISATION n := 0 || on := FALSE
OPERATIONS
  inc(k) = SELECT k : 1..2 & n + k <= 5 THEN n := n + k END;
  flip = SELECT n >= 0 & n = 3 THEN on := bool(on = FALSE) END;
  reset = SELECT n = 5 THEN n := 0 END;
  stuck = SELECT on = TRUE & n = 6 THEN n := 0 END
END";

fn file(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).expect("the file was written")
}

#[test]
fn coverage_says_what_is_never_used_and_can_be_required() {
    let folder = Folder::with_machine(COUNTER);
    let run = |options: &[&str]| {
        folder.bombus().args(["check", "M.mch", "--quiet"]).args(options).output().unwrap()
    };
    assert_eq!(run(&["--coverage=c.json"]).status.code(), Some(0));
    let covered: Value = serde_json::from_str(&file(&folder, "c.json")).unwrap();
    // Six values of n; on flips at n = 3 and stays.
    assert_eq!((&covered["states"], &covered["complete"]), (&12.into(), &true.into()));
    let n = &covered["variables"][0];
    assert_eq!((&n["values"], &n["least"], &n["greatest"]), (&6.into(), &"0".into(), &"5".into()));
    let event =
        |name: &str| covered["events"].as_array().unwrap().iter().find(|e| e["name"] == name).unwrap();
    assert_eq!(event("stuck")["transitions"], 0);
    let stuck = &event("stuck")["guard"][1];
    assert_eq!(
        (&stuck["text"], &stuck["ever_true"], &stuck["ever_false"]),
        (&"n = 6".into(), &false.into(), &true.into())
    );
    let always = &event("flip")["guard"][0];
    assert_eq!((&always["ever_true"], &always["ever_false"]), (&true.into(), &false.into()));
    let sides: Vec<(&Value, &Value)> =
        covered["implications"].as_array().unwrap().iter().map(|i| (&i["text"], &i["ever_true"])).collect();
    assert_eq!(sides, [(&"n > 7".into(), &false.into()), (&"k : 1..n".into(), &true.into())]);

    let required = run(&["--require-coverage"]);
    assert_eq!(required.status.code(), Some(3));
    for words in ["stuck is never enabled", "never true in stuck: n = 6", "never true: n > 7"] {
        assert!(messages(&required).contains(words), "{}", messages(&required));
    }
    assert_eq!(run(&["--require-coverage", "--coverage-states", "3"]).status.code(), Some(3));
    run(&["--coverage=c.html"]);
    let page = file(&folder, "c.html");
    assert!(page.contains("<span class=\"never\" title=\"never true\">n = 6</span>"), "{page}");
    assert!(!page.contains("<script") && !page.contains("http"), "the page needs something else");
    let text = run(&["--coverage"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("never true   n = 6"));
    for wrong in
        [&["--coverage=c.png"][..], &["--graph", "g.png"], &["--coverage-states", "3"], &["--project", "n"]]
    {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_model_whose_parts_are_all_used_passes_the_gate() {
    let folder = Folder::with_machine(
        "MACHINE Swing VARIABLES up INVARIANT up : BOOL & (up = TRUE => 1 = 1) INITIALISATION up := FALSE
         OPERATIONS rise = SELECT up = FALSE THEN up := TRUE END; fall = SELECT up = TRUE THEN up := FALSE END END",
    );
    let output = folder.bombus().args(["check", "M.mch", "--require-coverage"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
}

#[test]
fn a_graph_has_all_states_or_says_that_it_has_not() {
    let folder = Folder::with_machine(COUNTER);
    let run = |options: &[&str]| {
        folder.bombus().args(["check", "M.mch", "--quiet"]).args(options).output().unwrap()
    };
    run(&["--graph", "g.json"]);
    let graph: Value = serde_json::from_str(&file(&folder, "g.json")).unwrap();
    assert_eq!((graph["nodes"].as_array().unwrap().len(), &graph["complete"]), (12, &true.into()));
    run(&["--graph", "g.json", "--project", "n mod 2"]);
    let graph: Value = serde_json::from_str(&file(&folder, "g.json")).unwrap();
    let labels: Vec<&Value> =
        graph["nodes"].as_array().unwrap().iter().map(|n| &n["values"]["n mod 2"]).collect();
    assert_eq!(labels, ["0", "1"]);
    assert!(
        graph["edges"].as_array().unwrap().contains(&serde_json::json!({"from": 0, "to": 1, "event": "inc"}))
    );
    let part = run(&["--graph", "g.dot", "--graph-states", "4"]);
    assert!(file(&folder, "g.dot").contains("// missing: only the first"), "{}", file(&folder, "g.dot"));
    assert!(messages(&part).contains("missing"), "{}", messages(&part));
}

#[test]
fn test_traces_reach_every_event_and_replay() {
    let folder = Folder::with_machine(COUNTER);
    let output = folder.bombus().args(["tests", "M.mch", "--out", "traces", "--json"]).output().unwrap();
    // Everything but `stuck`, which cannot be reached.
    assert_eq!(output.status.code(), Some(1), "{}", messages(&output));
    let result = json(&output);
    assert_eq!(result["unreached"], serde_json::json!(["stuck"]));
    let traces = result["traces"].as_array().unwrap();
    let mut reached: Vec<&str> =
        traces.iter().flat_map(|t| t["reaches"].as_array().unwrap()).filter_map(Value::as_str).collect();
    reached.sort_unstable();
    assert_eq!(reached, ["flip", "inc", "reset"]);
    for trace in traces {
        let file = trace["file"].as_str().unwrap();
        let replay = folder.bombus().args(["replay", file, "--model", "M.mch"]).output().unwrap();
        assert_eq!(replay.status.code(), Some(0), "{}", messages(&replay));
    }
    let reach =
        folder.bombus().args(["tests", "M.mch", "--reach", "n = 4 & on = TRUE", "--json"]).output().unwrap();
    // INITIALISATION, inc(1), inc(2), flip, inc(1): five steps, and no shorter way.
    assert_eq!(json(&reach)["traces"][0]["trace"].as_array().unwrap().len(), 5);
    assert_eq!(reach.status.code(), Some(0));
    let partly = folder.bombus().args(["tests", "M.mch", "--max-states", "2"]).output().unwrap();
    assert_eq!(partly.status.code(), Some(3), "what was not looked at is not out of reach");
}

#[test]
fn walks_find_a_fault_whatever_the_number_of_workers_and_verify_nothing() {
    let fault = COUNTER.replace("n : 0..5", "n : 0..5 & (on = TRUE => n /= 5)");
    let folder = Folder::with_machine(&fault);
    let walk = |workers: &str, seed: &str| {
        let args = [
            "simulate",
            "M.mch",
            "--runs",
            "50",
            "--steps",
            "60",
            "--json",
            "--workers",
            workers,
            "--seed",
            seed,
        ];
        folder.bombus().args(args).args(["--trace", "t.prob2trace"]).output().unwrap()
    };
    let (one, three) = (walk("1", "5"), walk("3", "5"));
    assert_eq!((one.status.code(), three.status.code()), (Some(1), Some(1)), "{}", messages(&one));
    let (a, b) = (json(&one), json(&three));
    assert_eq!(
        (&a["violation"], &a["states"], &a["figures"]),
        (&b["violation"], &b["states"], &b["figures"])
    );
    assert_eq!((&a["violation"]["kind"], &a["confirmed_by"]), (&"invariant".into(), &"oracle".into()));
    let replay = folder.bombus().args(["replay", "t.prob2trace", "--model", "M.mch"]).output().unwrap();
    assert_eq!(replay.status.code(), Some(0), "{}", messages(&replay));
    let sound = Folder::with_machine(COUNTER);
    let nothing = sound
        .bombus()
        .args(["simulate", "M.mch", "--runs", "20", "--steps", "30", "--json"])
        .output()
        .unwrap();
    assert_eq!(nothing.status.code(), Some(3), "{}", messages(&nothing));
    assert_eq!(json(&nothing)["verdict"], "incomplete");
}

/// A part of a guard: `a*x + b*y + c*p`, compared with a number.
#[derive(Clone, Copy)]
struct Linear {
    factors: [i64; 3],
    less: bool,
    bound: i64,
}

impl Linear {
    fn random(rng: &mut Rng) -> Linear {
        let mut factor = || rng.below(4) as i64 - 1;
        Linear {
            factors: [factor(), factor(), factor()],
            less: rng.below(2) == 0,
            bound: rng.below(9) as i64 - 2,
        }
    }

    fn text(&self) -> String {
        let [a, b, c] = self.factors;
        format!("({a})*x + ({b})*y + ({c})*p {} {}", if self.less { "<" } else { "=" }, self.bound)
    }

    fn holds(&self, x: i64, y: i64, p: i64) -> bool {
        let sum = self.factors[0] * x + self.factors[1] * y + self.factors[2] * p;
        if self.less { sum < self.bound } else { sum == self.bound }
    }
}

/// The values that p may take, and the steps of an event with this number.
const P: std::ops::Range<i64> = 0..3;
fn step(event: i64, x: i64, y: i64, p: i64) -> (i64, i64) {
    ((x + event + 1) % 4, (y + p) % 4)
}

#[test]
fn coverage_of_random_machines_is_what_brute_force_finds() {
    for seed in 1..=crate::support::cases(12) {
        let mut rng = Rng::new(seed);
        let events: Vec<Vec<Linear>> =
            (0..2).map(|_| (0..3).map(|_| Linear::random(&mut rng)).collect()).collect();
        let operations: Vec<String> = events
            .iter()
            .enumerate()
            .map(|(n, guard)| {
                let parts: Vec<String> = guard.iter().map(Linear::text).collect();
                format!(
                    "e{n}(p) = SELECT p : 0..2 & {} THEN x := (x + {}) mod 4 || y := (y + p) mod 4 END",
                    parts.join(" & "),
                    n + 1
                )
            })
            .collect();
        let machine = format!(
            "MACHINE M VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER INITIALISATION x := 0 || y := 0 OPERATIONS {} END",
            operations.join("; ")
        );
        let folder = Folder::with_machine(&machine);
        folder.bombus().args(["check", "M.mch", "--no-deadlock", "--coverage=c.json"]).output().unwrap();
        let covered: Value = serde_json::from_str(&file(&folder, "c.json")).unwrap();

        let mut states = BTreeSet::from([(0, 0)]);
        let mut open = vec![(0, 0)];
        let mut seen = [[(false, false); 3]; 2];
        let mut taken = [0u64; 2];
        while let Some((x, y)) = open.pop() {
            for (event, guard) in events.iter().enumerate() {
                for p in P {
                    let before = guard.iter().take_while(|part| part.holds(x, y, p)).count();
                    (0..before).for_each(|n| seen[event][n].0 = true);
                    if before < guard.len() {
                        seen[event][before].1 = true;
                        continue;
                    }
                    taken[event] += 1;
                    let next = step(event as i64, x, y, p);
                    if states.insert(next) {
                        open.push(next);
                    }
                }
            }
        }
        assert_eq!(covered["states"], states.len(), "seed {seed}: {machine}");
        for (event, parts) in seen.iter().enumerate() {
            let found = &covered["events"][event];
            assert_eq!(found["transitions"], taken[event], "seed {seed}: {machine}");
            for (n, (ever_true, ever_false)) in parts.iter().enumerate() {
                // The first part of the text is the type of the parameter.
                let part = &found["guard"][n + 1];
                assert_eq!(
                    (&part["ever_true"], &part["ever_false"]),
                    (&(*ever_true).into(), &(*ever_false).into()),
                    "seed {seed}, {}: {machine}",
                    part["text"]
                );
            }
        }
    }
}
