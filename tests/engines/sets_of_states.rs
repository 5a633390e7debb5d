//! The engine on sets of states against the explorer: the same counts, verdicts and lengths of counterexamples, on our
//! own models and on random ones; and that it never says more than it knows.

use crate::support::binary::{Folder, bench_model, check_machine, json, run};
use crate::support::{cases, first_seed, machines};
use serde_json::Value;

fn checked(model: &str, options: &[&str]) -> Value {
    let path = bench_model(model);
    let mut args = vec!["check", path.to_str().expect("a path"), "--json", "--workers", "1"];
    args.extend(options);
    json(&run(&args))
}

/// Models whose states all fit their layouts, with what makes some of them small enough for a test.
const MODELS: &[(&str, &[&str])] = &[
    ("counters.mch", &[]),
    ("families/bakery.mch", &[]),
    ("families/chain.mch", &["--maxint", "50"]),
    ("families/coherence.mch", &[]),
    ("families/cycles.mch", &[]),
    ("families/dining.mch", &[]),
    ("families/dining_forks.mch", &[]),
    ("families/elevator.mch", &[]),
    ("families/forks.mch", &[]),
    ("families/hanoi.mch", &[]),
    ("families/landing_gear.mch", &[]),
    ("families/leader.mch", &[]),
    ("families/queens.mch", &[]),
    ("families/railway.mch", &[]),
    ("families/readers_writers.mch", &[]),
    ("families/river.mch", &[]),
    ("families/sorting.mch", &[]),
    ("families/token_ring.mch", &[]),
    ("families/two_phase_commit.mch", &[]),
    ("faulty/bakery_hasty.mch", &[]),
    ("faulty/coherence_lazy.mch", &[]),
    ("faulty/dining_greedy.mch", &[]),
    ("faulty/elevator_ajar.mch", &[]),
    ("faulty/mutex_turn_first.mch", &[]),
    ("faulty/railway_entry.mch", &[]),
    ("faulty/readers_writers_blind.mch", &[]),
    ("faulty/two_phase_commit_hasty.mch", &[]),
    ("papers/cruise.mch", &[]),
    ("papers/login.mch", &[]),
    ("papers/organisation.mch", &[]),
    ("papers/philosophers.mch", &[]),
    ("papers/philosophers_protocol.mch", &[]),
    ("papers/postal.mch", &[]),
    ("papers/scheduler.mch", &[]),
    ("papers/server_farm.mch", &[]),
    ("papers/towns.mch", &[]),
];

/// Compares all that both engines count. Transitions are compared where sets of states know them.
fn assert_same(one_by_one: &Value, sets: &Value, what: &str) {
    for field in ["verdict", "states", "initial"] {
        assert_eq!(one_by_one[field], sets[field], "{field} of {what}");
    }
    for kind in ["invariant", "deadlock", "assertion", "goal"] {
        assert_eq!(one_by_one["found"][kind], sets["found"][kind], "findings of kind {kind} of {what}");
    }
    if !sets["transitions"].is_null() {
        assert_eq!(one_by_one["transitions"], sets["transitions"], "transitions of {what}");
        assert_eq!(one_by_one["events"], sets["events"], "events of {what}");
    }
}

#[test]
fn sets_of_states_count_what_the_explorer_counts_on_every_small_model() {
    for (model, sizes) in MODELS {
        let run = |engine: &[&str]| checked(model, &[*sizes, engine, &["--keep-going"]].concat());
        assert_same(&run(&[]), &run(&["--engine", "bdd"]), model);
    }
}

#[test]
fn a_counterexample_of_sets_of_states_is_as_short_as_one_of_the_explorer() {
    for (model, sizes) in MODELS.iter().filter(|(model, _)| model.starts_with("faulty")) {
        let run = |engine: &[&str]| checked(model, &[*sizes, engine].concat());
        let (explicit, sets) = (run(&[]), run(&["--engine", "bdd"]));
        let steps = |v: &Value| v["violation"]["trace"].as_array().map(Vec::len);
        assert_eq!(explicit["violation"]["kind"], sets["violation"]["kind"], "{model}");
        assert_eq!(steps(&explicit), steps(&sets), "{model}");
        assert!(!sets["confirmed_by"].is_null(), "{model}");
    }
}

#[test]
fn random_machines_have_the_states_that_the_explorer_finds_or_the_verdict_is_open() {
    let mut compared = 0;
    for seed in first_seed()..first_seed() + cases(25) {
        let text = machines::random(seed).to_string();
        let options = ["--keep-going", "--max-states", "5000", "--workers", "1"];
        let explicit = check_machine(&text, &options);
        let sets = check_machine(&text, &[&options[..], &["--engine", "bdd", "--nodes", "200000"]].concat());
        if explicit["verdict"] == "verified" || sets["verdict"] == "verified" {
            let open = sets["verdict"] == "incomplete";
            assert!(open || explicit["verdict"] == sets["verdict"], "seed {seed}:\n{text}");
        }
        let whole = |v: &Value| v["incomplete_because"].as_array().is_some_and(Vec::is_empty);
        if whole(&explicit) && whole(&sets) && explicit["verdict"] != "incomplete" {
            assert_eq!(explicit["states"], sets["states"], "seed {seed}:\n{text}");
            assert_eq!(explicit["found"]["deadlock"], sets["found"]["deadlock"], "seed {seed}:\n{text}");
            compared += 1;
        }
    }
    assert!(compared * 4 > cases(25), "only {compared} machines were compared");
}

#[test]
fn more_states_than_any_list_holds_are_counted_exactly() {
    // Closed form: each of the 32 forks lies, or is held by one of two: 3^32 states, 2 * 32 * 3^31 transitions.
    let result = checked("families/forks.mch", &["--engine", "bdd", "--maxint", "32", "--keep-going"]);
    assert_eq!(result["states"], 1_853_020_188_851_841_u64);
    assert_eq!(result["transitions"], 39_531_097_362_172_608_u64);
    assert_eq!(result["found"]["deadlock"], 4_294_967_296_u64);
    // 3^48 is no number of 64 bits: JSON has its digits.
    let result = checked("families/forks.mch", &["--engine", "bdd", "--maxint", "48", "--no-deadlock"]);
    assert_eq!(result["states"], "79766443076872509863361");
}

/// Clients that ask and are served one by one; CLIENT is symmetric.
const CLIENTS: &str = "
MACHINE Clients
DEFINITIONS scope_CLIENT == 4
SETS CLIENT
VARIABLES asking, served
INVARIANT asking <: CLIENT & served <: CLIENT & !c.(c : CLIENT => not(c : served & c : asking))
INITIALISATION asking, served := {}, {}
OPERATIONS
  ask(c) = SELECT c : CLIENT - asking - served THEN asking := asking \\/ {c} END;
  serve(c) = SELECT c : asking & served = {} THEN asking := asking - {c} || served := {c} END;
  leave(c) = SELECT c : served THEN served := served - {c} END
END";

#[test]
fn a_symmetry_keeps_the_count_of_states_and_at_least_one_state_of_each_orbit() {
    let plain = check_machine(CLIENTS, &[]);
    let orbits = check_machine(CLIENTS, &["--symmetry", "exact"]);
    for symmetry in ["generators", "orbits"] {
        let sets = check_machine(CLIENTS, &["--engine", "bdd", "--symmetry", symmetry]);
        assert_eq!((&sets["verdict"], &sets["states"]), (&plain["verdict"], &plain["states"]), "{symmetry}");
        let kept = sets["bdd"]["representatives"].as_u64().expect("a count");
        assert!(Some(kept) >= orbits["states"].as_u64() && Some(kept) <= plain["states"].as_u64());
        if symmetry == "orbits" {
            assert_eq!(Some(kept), orbits["states"].as_u64(), "one state of each orbit");
        }
    }
}

#[test]
fn any_hint_in_any_order_leaves_the_set_of_states_as_it_is() {
    let plain = check_machine(CLIENTS, &[]);
    let hints: [&[&str]; 5] = [
        &["--hint", "served = {}"],
        &["--hint", "1 = 2"],
        &["--hint", "card(asking) <= 1", "--hint", "served = {}"],
        &["--hint", "served = {}", "--hint", "card(asking) <= 1"],
        &["--hint", "1 = 1"],
    ];
    for symmetry in ["off", "generators", "orbits"] {
        for hint in hints {
            let options = [&["--engine", "bdd", "--symmetry", symmetry], hint].concat();
            let sets = check_machine(CLIENTS, &options);
            assert_eq!(sets["states"], plain["states"], "{options:?}");
            assert_eq!(sets["verdict"], "verified", "{options:?}");
        }
    }
}

#[test]
fn definitions_called_hint_guide_the_search_in_the_order_of_their_numbers() {
    let text =
        CLIENTS.replace("scope_CLIENT == 4", "scope_CLIENT == 4; HINT2 == asking = {}; HINT1 == served = {}");
    let sets = check_machine(&text, &["--engine", "bdd"]);
    assert_eq!((&sets["verdict"], &sets["bdd"]["hints"]), (&"verified".into(), &3.into()));
}

#[test]
fn a_generator_that_is_no_symmetry_gives_no_false_alarm_and_no_verification() {
    // The first client is named: exchanging it with another one is no symmetry.
    let named = CLIENTS
        .replace("SETS CLIENT", "SETS CLIENT = {boss, ann, bob, cid}")
        .replace("DEFINITIONS scope_CLIENT == 4\n", "")
        .replace("c : asking & served = {}", "c : asking & served = {} & (c = boss => asking = {boss})");
    let folder = Folder::with_machine(&named);
    folder.write("wrong.txt", "# boss is served last\nswap CLIENT boss ann\n");
    folder.write("unknown.txt", "swap CLIENT boss dora\nturn CLIENT\nperm CLIENT (ann bob\n");
    let with =
        |file: &str| folder.check(&["--engine", "bdd", "--symmetry", "generators", "--generators", file]);
    let result = json(&with("wrong.txt"));
    assert_eq!(
        (&result["verdict"], &result["violation"], &result["states"]),
        (&"incomplete".into(), &Value::Null, &Value::Null)
    );
    assert!(result["incomplete_because"].to_string().contains("not proved to be a symmetry"));
    let rejected = with("unknown.txt");
    let words = String::from_utf8_lossy(&rejected.stderr).into_owned();
    assert_eq!(rejected.status.code(), Some(2));
    assert!(words.contains("CLIENT has no element dora") && words.contains("unknown.txt:2"), "{words}");
}

#[test]
fn too_few_nodes_leave_the_verdict_open_and_numbers_outside_of_their_range_get_a_place() {
    let few = checked("families/queens.mch", &["--engine", "bdd", "--nodes", "1000", "--no-deadlock"]);
    assert_eq!(few["verdict"], "incomplete");
    assert!(few["incomplete_because"].to_string().contains("nodes of the diagrams"), "{few}");
    // x leaves the range that its type invariant promises, which is what the first layout has room for.
    let leaves = "MACHINE M VARIABLES x, y INVARIANT x : 0..3 & y : BOOL INITIALISATION x := 0 || y := TRUE
        OPERATIONS up = SELECT x < 9 THEN x := x + 1 END; down = SELECT x > 0 THEN x := 0 END END";
    let result = check_machine(leaves, &["--engine", "bdd", "--no-invariant"]);
    let explicit = check_machine(leaves, &["--no-invariant"]);
    assert_eq!((&result["verdict"], &result["states"]), (&explicit["verdict"], &explicit["states"]));
    assert_eq!(result["states"], 10, "x from 0 to 9: {result}");
}

#[test]
fn an_undefined_action_is_a_finding_with_a_path() {
    let text = "MACHINE M VARIABLES f, n INVARIANT f : 1..3 +-> 0..3 & n : 0..3 INITIALISATION f := {1|->1} || n := 0
        OPERATIONS
          up = SELECT n < 3 THEN n := n + 1 END;
          get = SELECT n > 0 THEN n := f(n) END END";
    let sets = check_machine(text, &["--engine", "bdd"]);
    let explicit = check_machine(text, &[]);
    for field in ["verdict", "confirmed_by"] {
        assert_eq!(sets[field], explicit[field]);
    }
    assert_eq!(sets["violation"]["kind"], "well-definedness");
    assert_eq!(sets["violation"]["trace"], explicit["violation"]["trace"]);
}

#[test]
fn options_without_a_meaning_for_sets_of_states_are_refused() {
    let folder = Folder::with_machine(CLIENTS);
    let refused: [&[&str]; 13] = [
        &["--engine", "bdd", "--por", "on"],
        &["--engine", "bdd", "--store", "hash"],
        &["--engine", "bdd", "--order", "dfs"],
        &["--engine", "bdd", "--checkpoint", "saved"],
        &["--engine", "bdd", "--symmetry", "exact"],
        &["--engine", "bdd", "--symmetry", "marker"],
        &["--engine", "bdd", "--ltl", "G non_det"],
        &["--engine", "bdd", "--liveness", "quotient"],
        &["--liveness", "quotient", "--ltl", "G {1 = 1}"],
        &["--hint", "1 = 1"],
        &["--symmetry", "orbits"],
        &["--nodes", "5000"],
        &["--engine", "bdd", "--sigma-rounds", "2"],
    ];
    for options in refused {
        assert_eq!(folder.check(options).status.code(), Some(2), "{options:?}");
    }
}

#[test]
fn two_runs_and_two_workers_say_the_same() {
    let timeless = |mut v: Value| {
        for field in ["seconds", "peak_memory_bytes", "workers"] {
            v[field] = Value::Null;
        }
        v
    };
    let run = |workers| {
        let options = ["--engine", "bdd", "--workers", workers];
        timeless(json(&Folder::with_machine(CLIENTS).check(&options)))
    };
    assert_eq!(run("1"), run("1"));
    assert_eq!(run("1"), run("2"));
}

#[test]
fn properties_without_a_solution_are_a_finding_of_the_engine_that_was_asked() {
    let text = "MACHINE M CONSTANTS c PROPERTIES c : 0..3 & c > 5 VARIABLES x INVARIANT x : 0..3\n\
                INITIALISATION x := c OPERATIONS up = PRE x < 3 THEN x := x + 1 END END";
    let result = check_machine(text, &["--engine", "bdd"]);
    assert_eq!(result["verdict"], "violated");
    assert_eq!(result["engine"], "bdd");
    assert_eq!(result["violation"]["kind"], "properties");
}

#[test]
fn info_advises_against_sets_of_states_where_a_step_reads_every_bit() {
    let advice = |model: &str| {
        let said = run(&["info", bench_model(model).to_str().expect("a path")]);
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    assert!(advice("families/dining_forks.mch").contains("bdd suits"));
    assert!(advice("families/chain.mch").contains("explicit suits better than bdd"));
}
