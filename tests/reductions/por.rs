//! Partial order reduction on models: reduced checks say what full checks say.
//!
//! Random machines (`agreement`), single models that a wrong relation would lose (`pitfalls`), models whose
//! counts are known, the faults that such reductions are known for, and what the command line says.

mod agreement;
mod alike;
mod machines;
mod pitfalls;
mod varied;

use crate::support::binary::{Folder, messages};
use bombus::base::budget::Budget;
use bombus::driver::{Asked, CheckOptions, Reduce, check, on_large_stack};
use bombus::report::{Outcome, Verdict};
use std::path::Path;

fn options() -> CheckOptions {
    CheckOptions { refine_at_once: true, ..CheckOptions::default() }
}

fn deadlock_only() -> CheckOptions {
    CheckOptions { no_invariant: true, no_assertions: true, no_goal: true, ..options() }
}

fn run(path: &Path, options: &CheckOptions) -> Option<Outcome> {
    let mut budget = Budget::unlimited();
    budget.max_states = Some(3000);
    check(path, options, &budget).ok()
}

fn written(dir: &Path, text: &str) -> std::path::PathBuf {
    let path = dir.join("M.mch");
    std::fs::write(&path, text).expect("the model is written");
    path
}

fn checked(text: &str, options: CheckOptions) -> Outcome {
    let text = text.to_string();
    on_large_stack(move || {
        let dir = tempfile::tempdir().expect("a directory");
        run(&written(dir.path(), &text), &options).expect("a model")
    })
    .expect("no panic")
}

const COUNTERS: &str =
    "MACHINE c VARIABLES x, y, z INVARIANT x : INTEGER & x < 65 & y : NATURAL & z : INTEGER
  INITIALISATION x := 0 || y := 0 || z := -1
  OPERATIONS
    up_x = PRE y > 0 & x < 70 THEN x := x + 1 END;
    up_y = PRE y < 30 THEN y := y + 1 END;
    up_z = PRE z < 50 THEN z := z + 1 END;
    rest = PRE x = 70 & y = 30 & z = 50 THEN skip END
  END";

#[test]
fn three_counters_need_one_path_of_152_states() {
    // The best that is possible: 30 + 70 + 51 steps, the first and the last state counted.
    for workers in [1, 2, 5, 8] {
        let o = checked(COUNTERS, CheckOptions { por: Reduce::Stubborn, workers, ..deadlock_only() });
        assert_eq!((o.verdict(), o.counts.states, o.counts.transitions), (Verdict::Verified, 152, 152));
    }
    let o = checked(COUNTERS, CheckOptions { por: Reduce::Stubborn, ..options() });
    assert_eq!(o.verdict(), Verdict::Violated);
    assert_eq!(o.violation.map(|v| v.trace.len()), Some(1 + 66), "one step of y, 65 of x");
}

#[test]
fn ignoring_row_48_two_switches_break_the_invariant_together() {
    let machine =
        "MACHINE m VARIABLES a, b, t INVARIANT a : BOOL & b : BOOL & t : BOOL & not(a = TRUE & b = TRUE)
      INITIALISATION a, b, t := FALSE, FALSE, FALSE
      OPERATIONS
        spin = BEGIN t := bool(t = FALSE) END;
        switch_a = BEGIN a := bool(a = FALSE) END;
        switch_b = BEGIN b := bool(b = FALSE) END
      END";
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        for level_proviso in [false, true] {
            let o = checked(machine, CheckOptions { por, level_proviso, ..options() });
            assert_eq!(o.verdict(), Verdict::Violated, "{por:?}");
        }
    }
}

#[test]
fn dependence_row_49_a_step_without_a_guard_and_one_that_counts_down() {
    let machine = "MACHINE m VARIABLES n, done INVARIANT n : 0..2 & done : BOOL & (done = TRUE => n = 2)
      INITIALISATION n, done := 2, FALSE
      OPERATIONS
        down = SELECT n > 0 THEN n := n - 1 END;
        finish = BEGIN done := TRUE END
      END";
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        assert_eq!(checked(machine, CheckOptions { por, ..options() }).verdict(), Verdict::Violated);
    }
}

#[test]
fn provisos_row_51_progress_that_goes_on_for_ever_is_not_hidden_behind_idle_cycles() {
    // A sender, a channel that may lose what it carries, a consumer, and clocks that turn by themselves:
    // on some path the consumer consumes again and again, so `F G not consume` is violated; and on some
    // path it never does.
    let machine = "MACHINE m VARIABLES sent, channel, consumer, t, u
      INVARIANT sent : 0..1 & channel : 0..2 & consumer : 0..1 & t : 0..2 & u : 0..2
      INITIALISATION sent, channel, consumer, t, u := 0, 2, 0, 0, 0
      OPERATIONS
        tick = BEGIN t := (t + 1) mod 3 END;
        tock = BEGIN u := (u + 1) mod 3 END;
        send = SELECT channel = 2 THEN channel := sent END;
        lose = SELECT channel /= 2 THEN channel := 2 END;
        receive = SELECT channel = sent & consumer = 0 THEN consumer := 1 || channel := 2 END;
        consume = SELECT consumer = 1 THEN consumer := 0 || sent := 1 - sent END
      END";
    for level_proviso in [false, true] {
        for workers in [1, 2, 5, 8] {
            let ltl = |formula: &str, por| {
                let temporal = Asked { ltl: vec![formula.into()], ..Asked::default() };
                let o = checked(
                    machine,
                    CheckOptions { por, level_proviso, workers, temporal, no_deadlock: true, ..options() },
                );
                (o.temporal[0].verdict, o.counts.transitions)
            };
            for (formula, verdict) in [
                ("F G not {consumer = 1}", "violated"),
                ("G F {consumer = 1}", "violated"),
                ("G ({consumer = 1} => F {consumer = 0})", "violated"),
                ("G ({sent = 1} => O {consumer = 1})", "holds"),
                ("{sent = 0} W {consumer = 1}", "holds"),
            ] {
                let (full, reduced) = (ltl(formula, Reduce::Off), ltl(formula, Reduce::Stubborn));
                assert_eq!((full.0, reduced.0), (verdict, verdict), "{formula}, {workers} workers");
                assert!(reduced.1 < full.1, "{formula}: {} of {} transitions", reduced.1, full.1);
            }
        }
    }
}

#[test]
fn a_function_shared_by_two_steps_and_an_enabling_through_it_are_dependences() {
    // `set` makes the guard of `use` true through a row that its parameter names.
    let machine = "MACHINE m SETS P = {p1, p2} CONSTANTS next PROPERTIES next = {p1 |-> p2, p2 |-> p1}
      VARIABLES f, bad INVARIANT f : P --> 0..1 & bad : BOOL & bad = FALSE
      INITIALISATION f := P * {0} || bad := FALSE
      OPERATIONS
        set(p) = SELECT p : P & f(p) = 0 & f(next(p)) = 0 THEN f(p) := 1 END;
        use(p) = SELECT p : P & f(next(p)) = 1 THEN bad := TRUE END
      END";
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        assert_eq!(checked(machine, CheckOptions { por, ..options() }).verdict(), Verdict::Violated);
    }
}

#[test]
fn an_undefined_action_is_not_put_off_for_ever() {
    // `spin` goes on for ever by itself; `read` is undefined once `clear` was done.
    let machine = "MACHINE m VARIABLES t, f, x INVARIANT t : BOOL & f : 1..1 +-> 0..1 & x : 0..1
      INITIALISATION t, f, x := FALSE, {1 |-> 0}, 0
      OPERATIONS
        spin = BEGIN t := bool(t = FALSE) END;
        clear = BEGIN f := {} END;
        read = BEGIN x := f(1) END
      END";
    for por in [Reduce::Off, Reduce::Stubborn, Reduce::Ample] {
        for level_proviso in [false, true] {
            let o = checked(machine, CheckOptions { por, level_proviso, ..deadlock_only() });
            assert_eq!(o.violation.map(|v| v.kind), Some("well-definedness".into()), "{por:?}");
        }
    }
}

/// n philosophers, the last of whom takes the forks the other way round.
fn dining(n: u32) -> String {
    include_str!("../../bench-models/families/dining_forks.mch")
        .replace("SET_PREF_MAXINT == 5", &format!("SET_PREF_MAXINT == {n}"))
}

#[test]
fn parameterised_families_shrink_tenfold_with_eight_members() {
    // Full counts: n * 2^(n+1) for the ring of tokens, 5^4 and the like for counters, Lucas-like
    // numbers for the philosophers; all from the manifest of the models.
    let ring = include_str!("../../bench-models/families/token_ring.mch")
        .replace("SET_PREF_MAXINT == 5", "SET_PREF_MAXINT == 8");
    let counters = include_str!("../../bench-models/counters.mch").replace("K == 4", "K == 8");
    let big = |text: &str, por| {
        let text = text.to_string();
        let options = CheckOptions { por, workers: 2, ..deadlock_only() };
        on_large_stack(move || {
            let dir = tempfile::tempdir().expect("a directory");
            check(&written(dir.path(), &text), &options, &Budget::unlimited()).ok().expect("a model")
        })
        .expect("no panic")
    };
    for (name, text) in [("token ring", ring), ("counters", counters), ("dining", dining(8))] {
        let (full, reduced) = (big(&text, Reduce::Off), big(&text, Reduce::Stubborn));
        assert_eq!((full.verdict(), reduced.verdict()), (Verdict::Verified, Verdict::Verified), "{name}");
        let (all, few) = (full.counts.states, reduced.counts.states);
        assert!(few * 10 <= all, "{name}: {few} of {all} states");
    }
}

/// Four counters of `k` places, and a switch that each of their steps turns: the text says that all of them
/// depend on each other, and only trying shows that they commute.
fn switches(k: usize) -> String {
    let list = |from: usize, item: &dyn Fn(usize) -> String| -> String {
        (from..k).map(item).collect::<Vec<_>>().join(", ")
    };
    let places = list(0, &|i| format!("s{i}"));
    let next = list(1, &|i| format!("s{} |-> s{i}", i - 1));
    let steps: Vec<String> = (1..=4)
        .map(|n| {
            format!("go{n} = SELECT n{n} : dom(next) THEN n{n} := next(n{n}) || b := bool(b = FALSE) END")
        })
        .collect();
    format!(
        "MACHINE M SETS S = {{{places}}} CONSTANTS next PROPERTIES next = {{{next}}}
         VARIABLES b, n1, n2, n3, n4 INVARIANT b : BOOL & n1 : S & n2 : S & n3 : S & n4 : S
         INITIALISATION b := FALSE || n1, n2, n3, n4 := s0, s0, s0, s0 OPERATIONS {} END",
        steps.join("; ")
    )
}

#[test]
fn relations_are_refined_when_a_search_turns_out_to_be_long() {
    // k^4 states in full, 4 (k - 1) + 1 on one path; 5,000 states are visited before anything is tried.
    let states = |k, args: &[&str]| {
        let (_, j, text) = bombus(&switches(k), &[&["--por", "on"], args].concat());
        assert_eq!(j["violation"]["kind"], "deadlock", "{text}");
        j["states"].as_u64()
    };
    for workers in ["1", "5"] {
        assert_eq!(states(8, &["--workers", workers]), Some(4096));
        assert_eq!(states(9, &["--workers", workers]), Some(33));
    }
    assert_eq!(
        states(9, &["--max-states", "5500"]),
        Some(33),
        "a limit of states that more reduction stays below"
    );
    assert_eq!(states(8, &["--max-states", "100"]), Some(29), "a short search is refined at once");
    // A finding on the way does not end a search for a formula, neither before nor after.
    let args = ["--goal", "n1 = s1", "--ltl", "F {n1 = s8}", "--workers", "2"];
    let (_, full, _) = bombus(&switches(9), &args);
    let (_, reduced, text) = bombus(&switches(9), &[&["--por", "on"], &args[..]].concat());
    assert_eq!(
        (&full["temporal"][0]["verdict"], &full["violation"]["kind"]),
        (&"holds".into(), &"goal".into())
    );
    assert_eq!(reduced["temporal"], full["temporal"], "{text}");
    assert!(reduced["states"].as_u64() < full["states"].as_u64(), "{text}");
    let at_once = checked(&switches(8), CheckOptions { por: Reduce::Stubborn, ..options() });
    assert_eq!(at_once.counts.states, 29);
}

/// A model for the messages of the command line.
const SMALL: &str = "MACHINE M VARIABLES x, y INVARIANT x : 0..1 & y : 0..1 INITIALISATION x, y := 0, 0
  OPERATIONS a = SELECT x = 0 THEN x := 1 END; b = SELECT y = 0 THEN y := 1 END;
    c = SELECT x = 1 & y = 1 THEN skip END END";

fn bombus(text: &str, args: &[&str]) -> (Option<i32>, serde_json::Value, String) {
    let o = Folder::with_machine(text).check(args);
    let json = serde_json::from_slice(&o.stdout).unwrap_or(serde_json::Value::Null);
    (o.status.code(), json, messages(&o))
}

#[test]
fn the_result_says_what_was_reduced_and_by_which_rule() {
    let (status, j, text) = bombus(SMALL, &["--por", "on"]);
    assert_eq!(status, Some(0), "{text}");
    // Figure 4 of the paper: 4 states with 5 transitions in full, 3 and 3 reduced.
    assert_eq!((&j["states"], &j["transitions"]), (&3.into(), &3.into()));
    assert_eq!(j["reductions"]["por"], "on");
    let d = &j["reductions"]["por_details"];
    assert_eq!((&d["method"], &d["preserves"]), (&"stubborn".into(), &"states".into()));
    assert_eq!((&d["states_reduced"], &d["states_full"]["single"]), (&1.into(), &2.into()));
    assert!(text.contains("partial order"), "{text}");
    let (_, j, _) = bombus(SMALL, &[]);
    assert_eq!((&j["reductions"]["por"], &j["reductions"]["por_details"]), (&"off".into(), &().into()));
}

#[test]
fn next_and_executed_row_50_switch_the_reduction_off_and_the_result_says_so() {
    for (formula, why) in [
        ("G([a] => X [b])", "count steps"),
        ("[a] => F {x = 2}", "count steps"),
        ("G e(a)", "enabled"),
        ("WF(a) => F {x = 1}", "fairness"),
    ] {
        let (_, j, text) = bombus(SMALL, &["--por", "on", "--ltl", formula]);
        assert_eq!(j["reductions"]["por"], "off", "{formula}: {text}");
        assert!(j["warnings"].to_string().contains(why), "{formula}: {}", j["warnings"]);
        let (_, full, _) = bombus(SMALL, &["--ltl", formula]);
        assert_eq!(j["temporal"][0]["verdict"], full["temporal"][0]["verdict"]);
    }
    let (_, j, _) = bombus(SMALL, &["--por", "on", "--ctl", "AG {x = 0}"]);
    assert_eq!(j["reductions"]["por"], "off");
    let (_, j, text) = bombus(SMALL, &["--por", "on", "--ltl", "F {x = 1}"]);
    assert_eq!(j["reductions"]["por"], "on", "{text}");
    assert_eq!(j["temporal"][0]["verdict"], "holds");
}

#[test]
fn what_does_not_go_with_the_reduction_is_refused_or_switches_it_off() {
    for (args, word) in [
        (&["--por", "on", "--symmetry", "marker"][..], "--symmetry"),
        (&["--por", "on", "--order", "dfs"], "--order"),
        (&["--por", "on", "--engine", "evaluate"], "evaluate"),
    ] {
        let (status, _, text) = bombus(SMALL, args);
        assert_eq!(status, Some(2), "{args:?}");
        assert!(text.contains(word), "{args:?}: {text}");
    }
    let (_, j, _) = bombus(SMALL, &["--por", "on", "--keep-going"]);
    assert_eq!(j["reductions"]["por"], "off");
    assert!(j["warnings"].to_string().contains("--keep-going"));
}

#[test]
fn relations_are_printed_as_matrices_and_as_a_graph() {
    let folder = Folder::with_machine(SMALL);
    let info = |option: &str| {
        let o = folder.bombus().args(["info", "M.mch", option]).output().expect("the binary runs");
        String::from_utf8_lossy(&o.stdout).into_owned()
    };
    let text = info("--relations");
    for word in ["3 instances", "dependent", "together", "enables", "disables", "commutes"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    let dot = info("--relations=dot");
    assert!(dot.starts_with("digraph") && dot.contains("i0 -> i2;") && !dot.contains("i0 -> i1;"), "{dot}");
}
