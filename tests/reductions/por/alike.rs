//! Both reductions together: random machines over deferred sets, models whose counts are known, refusals.
//!
//! With `--symmetry exact` orbits are states, so a check with both reductions must say what a full check
//! says, and its counts must not depend on the number of workers. Every violation shown was replayed by the
//! reference interpreter. `BOMBUS_POR_MACHINES` and `BOMBUS_POR_SEED` as in `agreement`.

use super::agreement::verdicts;
use super::machines::{Random, stuttering};
use super::{COUNTERS, bombus, checked, deadlock_only, options, run, written};
use crate::support::number_from_env as setting;
use bombus::base::budget::Budget;
use bombus::driver::{Asked, CheckOptions, Reduce, SymmetryMode, check, on_large_stack};
use bombus::explore::Store;
use bombus::report::Verdict;
use std::path::Path;

/// Conditions; `p` and `q` are parameters, `K` a small number. Nothing names an element.
const GUARDS: [&str; 24] = [
    "pc(p) = K",
    "pc(p) = K",
    "pc(p) /= K",
    "p : flag",
    "p /: flag",
    "p : dom(f)",
    "f(p) = K",
    "p /= q",
    "pc(q) = K",
    "p |-> q : r",
    "p |-> q /: r",
    "r[{p}] = {}",
    "x < K",
    "x = K",
    "y = K",
    "b = TRUE",
    "card(flag) < 2",
    "flag = {}",
    "#z.(z : P & pc(z) = K)",
    "p : ran(s)",
    "p /: ran(s)",
    "p = home",
    "p /= home",
    "size(s) < 2",
];

/// Substitutions and the variables they write.
const ACTIONS: [(&str, &str); 26] = [
    ("pc(p) := K", "pc"),
    ("pc(p) := K", "pc"),
    ("pc(p) := (pc(p) + 1) mod 3", "pc"),
    ("pc(q) := pc(p)", "pc"),
    ("flag := flag \\/ {p}", "flag"),
    ("flag := flag \\/ {p}", "flag"),
    ("flag := flag - {p}", "flag"),
    ("flag := {p}", "flag"),
    ("flag := {}", "flag"),
    ("x := (x + 1) mod 3", "x"),
    ("x := K", "x"),
    ("y := K", "y"),
    ("b := bool(x = y)", "b"),
    ("b := TRUE", "b"),
    ("f(p) := K", "f"),
    ("f := {p} <<| f", "f"),
    ("y := f(p)", "y"),
    ("r := r \\/ {p |-> q}", "r"),
    ("r := r - {p |-> q}", "r"),
    ("s := s <- p", "s"),
    ("s := []", "s"),
    ("home := p", "home"),
    ("home :: P", "home"),
    ("ANY z WHERE z : P & pc(z) = K THEN pc(z) := 0 END", "pc"),
    ("IF p : flag THEN x := K ELSE y := K END", "x y"),
    ("CHOICE b := TRUE OR b := FALSE END", "b"),
];

const INVARIANTS: [&str; 8] = [
    "not(x = 2 & b = TRUE)",
    "!z.(z : P => (pc(z) = 2 => z : flag))",
    "flag /= P",
    "card(pc |> {2}) < 2",
    "(home : flag => b = FALSE)",
    "r <: id(P)",
    "(x = 1 => y = 0)",
    "!(z, w).(z : P & w : P & z /= w => not(pc(z) = 2 & pc(w) = 2))",
];

fn filled(r: &mut Random, text: &str) -> String {
    text.replace('K', &r.below(3).to_string())
}

/// A machine over a deferred set; in two of three a constant relates its elements.
fn random(seed: u64) -> String {
    let mut r = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    // Few variables are in use, so that most pairs of steps have nothing to do with each other.
    let used: Vec<&str> = ["pc", "flag", "x", "y", "b", "f", "r", "s", "home"]
        .into_iter()
        .filter(|_| r.below(2) == 0)
        .collect();
    let fits = |text: &str| {
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        ["f", "r", "s", "home"].iter().all(|v| used.contains(v) || !words.contains(v))
    };
    let constants = match r.below(3) {
        0 => "",
        1 => "CONSTANTS c PROPERTIES c : P",
        _ => "CONSTANTS c, next PROPERTIES c : P & next : P >->> P",
    };
    let mut operations = Vec::new();
    for n in 0..3 + r.below(3) {
        let mut guards: Vec<String> = Vec::new();
        for _ in 0..1 + r.below(2) {
            let guard = r.pick(&GUARDS);
            if fits(guard) {
                guards.push(filled(&mut r, guard));
            }
        }
        match (constants.len(), r.below(6)) {
            (30.., 0) => guards.push("pc(next(p)) = 0".into()),
            (1.., 1) => guards.push("p /= c".into()),
            _ => {}
        }
        let mut actions: Vec<String> = Vec::new();
        let mut taken: Vec<&str> = Vec::new();
        for _ in 0..1 + r.below(2) {
            let (action, writes) = ACTIONS[r.below(ACTIONS.len() as u64) as usize];
            let grows = action == "s := s <- p";
            if fits(action) && !writes.split(' ').any(|w| taken.contains(&w)) {
                taken.extend(writes.split(' '));
                actions.push(filled(&mut r, action));
                if grows {
                    guards.push("size(s) < 2".into());
                }
            }
        }
        if actions.is_empty() {
            actions.push(filled(&mut r, "pc(p) := K"));
        }
        let text = format!("{} {}", guards.join(" "), actions.join(" "));
        let mut params: Vec<&str> = Vec::new();
        for p in ["p", "q"] {
            if text.split(|c: char| !c.is_alphanumeric()).any(|w| w == p) {
                params.push(p);
            }
        }
        let types: Vec<String> = params.iter().map(|p| format!("{p} : P")).collect();
        guards.splice(0..0, types);
        let guards = if guards.is_empty() { "x = x".into() } else { guards.join(" & ") };
        let head = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        operations.push(format!("op{n}{head} = SELECT {guards} THEN {} END", actions.join(" || ")));
    }
    let mut invariant = vec![
        "pc : P --> 0..2",
        "flag <: P",
        "x : 0..2",
        "y : 0..2",
        "b : BOOL",
        "f : P +-> 0..2",
        "r : P <-> P",
        "s : seq(P)",
        "home : P",
    ];
    for _ in 0..r.below(3) {
        invariant.push(r.pick(&INVARIANTS));
    }
    format!(
        "MACHINE M SETS P\n{constants}\nVARIABLES pc, flag, x, y, b, f, r, s, home\nINVARIANT {}\n\
         INITIALISATION pc := P * {{0}} || flag := {{}} || x := 0 || y := {} || b := FALSE || f := {} || r := {{}} \
         || s := [] || home {}\nOPERATIONS\n  {}\nEND\n",
        invariant.join(" & "),
        r.below(2),
        r.pick(&["{}", "P * {1}"]),
        if constants.is_empty() { ":: P" } else { ":= c" },
        operations.join(";\n  ")
    )
}

/// A formula that is the same up to stuttering and names no element.
fn formula(seed: u64) -> String {
    let mut r = Random(seed ^ 0x7777);
    let atoms = [
        "{x = 1}",
        "{b = TRUE}",
        "{#z.(z : P & pc(z) = 1)}",
        "{home : flag}",
        "{card(flag) = 1}",
        "{flag = {}}",
        "{r = {}}",
    ];
    stuttering(&mut r, &atoms)
}

/// The kinds of checks that are compared, for one machine.
fn asked(seed: u64) -> [CheckOptions; 4] {
    let mut options = options();
    options.loading.default_set_size = Some(2 + (seed % 2) as usize);
    options.loading.all_constants = seed.is_multiple_of(3);
    let deadlocks =
        CheckOptions { no_invariant: true, no_assertions: true, no_goal: true, ..options.clone() };
    let goal = Some("b = TRUE & flag = P".to_string());
    let temporal = Asked { ltl: vec![formula(seed)], ..Asked::default() };
    [
        CheckOptions { no_deadlock: true, goal, ..options.clone() },
        CheckOptions { no_deadlock: true, temporal, ..deadlocks.clone() },
        options,
        deadlocks,
    ]
}

/// All ways to reduce a check by both.
fn ways(full: &CheckOptions) -> [CheckOptions; 5] {
    let compact = if full.temporal.ltl.is_empty() { Store::Hash } else { Store::Exact };
    [
        (Reduce::Stubborn, SymmetryMode::Exact, false, Store::Exact),
        (Reduce::Stubborn, SymmetryMode::Exact, true, Store::Exact),
        (Reduce::Stubborn, SymmetryMode::Exact, false, compact),
        (Reduce::Stubborn, SymmetryMode::Flood, false, Store::Exact),
        (Reduce::Ample, SymmetryMode::Exact, false, Store::Exact),
    ]
    .map(|(por, mode, level_proviso, store)| CheckOptions {
        por,
        symmetry: Some(mode),
        level_proviso,
        store,
        ..full.clone()
    })
}

#[derive(Default)]
struct Figures {
    full: u64,
    orbits: u64,
    both: u64,
}

/// What disagrees for the machine of a seed.
fn disagreement(dir: &Path, seed: u64, figures: &mut Figures) -> Option<String> {
    let text = random(seed);
    let path = written(dir, &text);
    for (nth, full) in asked(seed).into_iter().enumerate() {
        let Some(all) = run(&path, &full) else { return Some(format!("rejected:\n{text}")) };
        if all.verdict() == Verdict::Incomplete {
            continue;
        }
        let orbits = run(&path, &CheckOptions { symmetry: Some(SymmetryMode::Exact), ..full.clone() })?;
        let mut exact = Vec::new();
        for way in ways(&full) {
            let called =
                format!("check {nth}, {:?} {:?}, level {}", way.por, way.symmetry, way.level_proviso);
            let Some(both) = run(&path, &way) else { return Some(format!("{called}: rejected\n{text}")) };
            if verdicts(&all) != verdicts(&both) {
                return Some(format!(
                    "{called}: {:?} against {:?}, {:?}\n{text}",
                    verdicts(&all),
                    verdicts(&both),
                    full.temporal.ltl
                ));
            }
            if both.counts.states > orbits.counts.states && all.verdict() == Verdict::Verified {
                return Some(format!("{called}: more states than there are orbits\n{text}"));
            }
            exact.push((both.counts.states, both.counts.transitions));
            if exact.len() == 1 && all.verdict() == Verdict::Verified {
                figures.full += all.counts.states;
                figures.orbits += orbits.counts.states;
                figures.both += both.counts.states;
                let two = run(&path, &CheckOptions { workers: 2, ..way })?;
                if (two.digest, two.counts.transitions) != (both.digest, both.counts.transitions) {
                    return Some(format!("{called}: two workers count differently\n{text}"));
                }
            }
        }
    }
    None
}

#[test]
fn random_machines_have_the_same_verdict_with_both_reductions() {
    let machines = setting("BOMBUS_POR_MACHINES", 60);
    let first = setting("BOMBUS_POR_SEED", 1);
    let found = on_large_stack(move || {
        let dir = tempfile::tempdir().expect("a directory");
        let mut figures = Figures::default();
        for seed in first..first + machines {
            if let Some(why) = disagreement(dir.path(), seed, &mut figures) {
                return Err(format!("seed {seed}: {why}"));
            }
        }
        Ok(figures)
    })
    .expect("no panic");
    let Figures { full, orbits, both } = found.unwrap_or_else(|why| panic!("{why}"));
    assert!(both < orbits && orbits < full, "{both} of {orbits} orbits of {full} states");
}

/// Processes that count to three on their own, and a key that one of them at a time holds.
const CROWD: &str = "MACHINE Crowd SETS P VARIABLES pc, holder
  INVARIANT pc : P --> 0..4 & holder <: P & card(holder) <= 1
  INITIALISATION pc := P * {0} || holder := {}
  OPERATIONS
    walk(p) = SELECT p : P & pc(p) < 2 THEN pc(p) := pc(p) + 1 END;
    take(p) = SELECT p : P & pc(p) = 2 & holder = {} THEN holder := {p} || pc(p) := 3 END;
    leave(p) = SELECT p : P & p : holder & pc(p) = 3 THEN holder := {} || pc(p) := 4 END
  END";

#[test]
fn a_crowd_needs_one_path_of_orbits() {
    // Multisets of 5 places for n processes, of which at most one is in place 3: C(n+3,3) + C(n+2,3). With
    // both reductions the walks come one after the other, then who takes the key first is up to renaming.
    for n in [2u64, 3, 4] {
        let mut all = deadlock_only();
        all.loading.default_set_size = Some(n as usize);
        let symmetry = Some(SymmetryMode::Exact);
        let orbits = checked(CROWD, CheckOptions { symmetry, ..all.clone() });
        let choose = |m: u64| m * (m - 1) * (m - 2) / 6;
        assert_eq!(orbits.counts.states, choose(n + 3) + choose(n + 2), "{n}");
        for workers in [1, 2, 5, 8] {
            let both =
                checked(CROWD, CheckOptions { symmetry, por: Reduce::Stubborn, workers, ..all.clone() });
            assert_eq!(both.violation.map(|v| v.kind), Some("deadlock".into()));
            assert_eq!(both.counts.states, 4 * n + 1, "{n}: two walks, take and leave for each");
            assert_eq!((both.reductions.symmetry, both.reductions.por), ("exact", "on"));
        }
    }
}

/// Processes in different phases of work that has nothing to do with that of the others: which of them goes first
/// depends on the order of their names, and so do the states on the way.
const SHIFT: &str = "MACHINE Shift SETS P VARIABLES kind, work
  INVARIANT kind : P --> 0..7 & work : P --> 0..2
  INITIALISATION kind :: P --> 4..7 || work := P * {0}
  OPERATIONS
    step(p) = SELECT p : P & kind(p) > 0 & work(p) < 2 THEN work(p) := work(p) + 1 END;
    turn(p, k) = SELECT p : P & k : 0..7 & k < kind(p) & work(p) = 2 THEN work(p) := 0 || kind(p) := k END;
    swap(p, q) = SELECT p : P & q : P & kind(p) = 3 & work(p) = 1 & kind(q) = 2 & work(q) = 0
      THEN kind := kind <+ {p |-> 1, q |-> 1} || work(p) := 0 END
  END";

/// A model with both reductions, however many workers there are.
fn alike_for_all_workers(path: &Path, sizes: &[(&str, usize)], least: u64) {
    let name = path.display();
    let mut how = deadlock_only();
    how.loading.set_sizes = sizes.iter().map(|(s, n)| (s.to_string(), *n)).collect();
    how.symmetry = Some(SymmetryMode::Exact);
    let checked = |options: CheckOptions| {
        let path = path.to_path_buf();
        on_large_stack(move || check(&path, &options, &Budget::unlimited()).ok().expect("a model"))
            .expect("no panic")
    };
    let orbits = checked(how.clone());
    for level_proviso in [false, true] {
        let run = |workers| {
            let o = checked(CheckOptions { por: Reduce::Stubborn, level_proviso, workers, ..how.clone() });
            let events: Vec<(u64, u64)> = o.events.iter().map(|e| (e.states, e.transitions)).collect();
            let figures = o.reductions.por_details.as_ref().map(|d| (d.reduced, d.full_by_proviso, d.rounds));
            (o.verdict(), o.counts.states, o.counts.transitions, o.counts.depth, o.digest, events, figures)
        };
        let one = run(1);
        assert_eq!(one.0, orbits.verdict(), "{name}");
        assert!((least..orbits.counts.states).contains(&one.1), "{name}: {} states", one.1);
        for workers in [2, 5, 8] {
            assert_eq!(run(workers), one, "{name}: {workers} workers, level {level_proviso}");
        }
    }
}

#[test]
fn models_of_the_collection_are_counted_alike_by_any_number_of_workers() {
    // Levels of more than some hundred states are shared by all workers, so the models must not be small.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-models");
    alike_for_all_workers(&models.join("papers/peterson.mch"), &[("PID", 5)], 2000);
    alike_for_all_workers(&models.join("papers/video_shop.mch"), &[("PERSON", 3), ("TITLE", 3)], 500);
    alike_for_all_workers(&models.join("self/visited_table.mch"), &[], 400);
    let dir = tempfile::tempdir().expect("a directory");
    alike_for_all_workers(&written(dir.path(), SHIFT), &[("P", 6)], 5000);
}

#[test]
fn markers_are_refused_and_the_result_names_both_reductions() {
    for mode in ["marker", "marker-classic"] {
        let (status, _, text) = bombus(CROWD, &["--por", "on", "--symmetry", mode]);
        assert_eq!(status, Some(2), "{mode}");
        assert!(text.contains("--symmetry exact"), "{mode}: {text}");
    }
    let args = ["--por", "on", "--symmetry", "exact", "--set-size", "3"];
    let (status, j, text) = bombus(CROWD, &args);
    assert_eq!(status, Some(1), "{text}");
    assert_eq!(
        (&j["violation"]["kind"], j["violation"]["trace"].as_array().map(Vec::len)),
        (&"deadlock".into(), Some(13))
    );
    assert_eq!((&j["reductions"]["por"], &j["reductions"]["symmetry"]), (&"on".into(), &"exact".into()));
    assert!(text.contains("partial order") && text.contains("symmetry"), "{text}");
    let (_, j, text) = bombus(CROWD, &[&args[..], &["--ltl", "G F {holder = {}}"]].concat());
    assert_eq!(j["temporal"][0]["verdict"], "holds", "{text}");
    let (_, j, text) = bombus(CROWD, &[&args[..], &["--ltl", "F G {holder /= {}}"]].concat());
    assert_eq!(
        (&j["temporal"][0]["verdict"], &j["reductions"]["por"]),
        (&"violated".into(), &"on".into()),
        "{text}"
    );
    // No set is symmetric: partial order reduction by itself.
    let (_, j, _) = bombus(COUNTERS, &["--por", "on", "--symmetry", "exact", "--no-invariant"]);
    assert_eq!((&j["states"], &j["reductions"]["symmetry"]), (&152.into(), &"off".into()));
}
