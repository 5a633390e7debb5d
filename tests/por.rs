//! Partial order reduction on models: reduced checks say what full checks say.
//!
//! Random machines with parameterised operations, functions, sets, choices, undefined applications;
//! `BOMBUS_POR_MACHINES` sets how many. Then single models whose counts are known, the faults that
//! such reductions are known for, and what the command line says.

#[path = "por/machines.rs"]
mod machines;

use bombus::base::budget::Budget;
use bombus::driver::{Asked, CheckOptions, Engine, Reduce, check, on_large_stack};
use bombus::explore::{Order, Store};
use bombus::model::LoadOptions;
use bombus::report::{Outcome, Verdict};
use std::path::Path;
use std::process::Command;

fn options() -> CheckOptions {
    CheckOptions {
        loading: LoadOptions::default(),
        engine: Engine::Compiled,
        workers: 1,
        order: Order::Bfs,
        store: Store::Exact,
        no_deadlock: false,
        no_invariant: false,
        no_assertions: false,
        no_goal: false,
        goal: None,
        strict_wd: false,
        keep_going: false,
        por: Reduce::Off,
        level_proviso: false,
        deadlock_only: false,
        symmetry: None,
        checkpoint: Default::default(),
        temporal: Asked::default(),
        progress: Default::default(),
    }
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

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Verdicts of a full and of a reduced check that must agree.
fn verdicts(o: &Outcome) -> (Verdict, Vec<&'static str>) {
    (o.verdict(), o.temporal.iter().map(|t| t.verdict).collect())
}

/// The kinds of checks that are compared, for one machine.
fn asked(seed: u64) -> Vec<CheckOptions> {
    let formula = machines::formula(seed);
    vec![
        options(),
        deadlock_only(),
        CheckOptions { no_deadlock: true, goal: Some(machines::predicate(seed)), ..options() },
        CheckOptions {
            no_deadlock: true,
            temporal: Asked { ltl: vec![formula], ..Asked::default() },
            ..deadlock_only()
        },
    ]
}

/// What disagrees for the machine of a seed.
fn disagreement(dir: &Path, seed: u64, figures: &mut (u64, u64)) -> Option<String> {
    let text = machines::random(seed);
    let path = written(dir, &text);
    for (nth, full) in asked(seed).into_iter().enumerate() {
        let Some(all) = run(&path, &full) else { return Some(format!("rejected:\n{text}")) };
        if all.verdict() == Verdict::Incomplete {
            continue;
        }
        for (por, level_proviso) in
            [(Reduce::Stubborn, false), (Reduce::Stubborn, true), (Reduce::Ample, false)]
        {
            let one = CheckOptions { por, level_proviso, ..full.clone() };
            let Some(reduced) = run(&path, &one) else { return Some(format!("not reduced:\n{text}")) };
            // An endless state space may hide a violation behind the limit in either order.
            if (all.verdict(), reduced.verdict()) == (Verdict::Violated, Verdict::Incomplete) {
                continue;
            }
            if verdicts(&all) != verdicts(&reduced) {
                return Some(format!(
                    "check {nth}, {por:?}, level {level_proviso}: {:?} against {:?}, {:?}\n{text}",
                    verdicts(&all),
                    verdicts(&reduced),
                    full.temporal.ltl
                ));
            }
            if all.verdict() == Verdict::Verified {
                figures.0 += reduced.counts.states;
                figures.1 += all.counts.states;
                if reduced.counts.states > all.counts.states {
                    return Some(format!("check {nth}: more states than there are\n{text}"));
                }
            }
        }
        if seed.is_multiple_of(8) {
            let count = |workers| {
                let o = run(&path, &CheckOptions { por: Reduce::Stubborn, workers, ..full.clone() })?;
                Some((o.counts.states, o.counts.transitions, o.digest.clone()))
            };
            if [2, 5, 8].iter().any(|n| count(*n) != count(1)) {
                return Some(format!("check {nth}: counts depend on the number of workers\n{text}"));
            }
        }
    }
    None
}

#[test]
fn random_machines_have_the_same_verdict_with_and_without_reduction() {
    let machines = setting("BOMBUS_POR_MACHINES", 500);
    let first = setting("BOMBUS_POR_SEED", 1);
    let found = on_large_stack(move || {
        let dir = tempfile::tempdir().expect("a directory");
        let mut figures = (0, 0);
        for seed in first..first + machines {
            if let Some(why) = disagreement(dir.path(), seed, &mut figures) {
                return Err(format!("seed {seed}: {why}"));
            }
        }
        Ok(figures)
    })
    .expect("no panic");
    let (reduced, all) = found.unwrap_or_else(|why| panic!("{why}"));
    assert!(reduced < all, "{reduced} of {all} states: nothing is reduced");
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
    include_str!("../bench-models/families/dining_forks.mch")
        .replace("SET_PREF_MAXINT == 5", &format!("SET_PREF_MAXINT == {n}"))
}

#[test]
fn parameterised_families_shrink_tenfold_with_eight_members() {
    // Full counts: n * 2^(n+1) for the ring of tokens, 5^4 and the like for counters, Lucas-like
    // numbers for the philosophers; all from the manifest of the models.
    let ring = include_str!("../bench-models/families/token_ring.mch")
        .replace("SET_PREF_MAXINT == 5", "SET_PREF_MAXINT == 8");
    let counters = include_str!("../bench-models/counters.mch").replace("K == 4", "K == 8");
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

/// A model for the messages of the command line.
const SMALL: &str = "MACHINE M VARIABLES x, y INVARIANT x : 0..1 & y : 0..1 INITIALISATION x, y := 0, 0
  OPERATIONS a = SELECT x = 0 THEN x := 1 END; b = SELECT y = 0 THEN y := 1 END;
    c = SELECT x = 1 & y = 1 THEN skip END END";

fn bombus(text: &str, args: &[&str]) -> (Option<i32>, serde_json::Value, String) {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), text);
    let o = Command::new(env!("CARGO_BIN_EXE_bombus"))
        .current_dir(dir.path())
        .args(["check", "M.mch", "--json"])
        .args(args)
        .output()
        .expect("the binary runs");
    let json = serde_json::from_slice(&o.stdout).unwrap_or(serde_json::Value::Null);
    (o.status.code(), json, String::from_utf8_lossy(&o.stderr).into_owned())
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
        (&["--por", "on", "--symmetry", "exact"][..], "--symmetry"),
        (&["--por", "on", "--order", "dfs"], "--order"),
        (&["--por", "on", "--engine", "reference"], "reference"),
        (&["--por", "on", "--checkpoint", "d"], "--checkpoint"),
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
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), SMALL);
    let info = |option: &str| {
        let o = Command::new(env!("CARGO_BIN_EXE_bombus"))
            .current_dir(dir.path())
            .args(["info", "M.mch", option])
            .output()
            .expect("the binary runs");
        String::from_utf8_lossy(&o.stdout).into_owned()
    };
    let text = info("--relations");
    for word in ["3 instances", "dependent", "together", "enables", "disables", "commutes"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    let dot = info("--relations=dot");
    assert!(dot.starts_with("digraph") && dot.contains("i0 -> i2;") && !dot.contains("i0 -> i1;"), "{dot}");
}
