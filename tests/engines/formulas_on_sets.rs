//! Temporal formulas on sets of states against the explorer's checker: the same verdicts, counterexamples that both see, and
//! refusals by name.

use crate::support::binary::{Folder, bench_model, check_machine, json, run};
use crate::support::{cases, first_seed, machines};
use serde_json::Value;

/// Formulas over two operations: future, past, fairness of operations, CTL with and without operations.
fn formulas(a: &str, b: &str) -> Vec<(&'static str, String)> {
    vec![
        ("--ltl", format!("G F [{a}]")),
        ("--ltl", format!("G ([{a}] => F [{b}])")),
        ("--ltl", format!("F G not e({a})")),
        ("--ltl", format!("WF({b}) => G F ([{b}] or not e({b}))")),
        ("--ltl", format!("SF({b}) => G (G F e({b}) => F [{b}])")),
        ("--ltl", format!("WF({a}) & SF({b}) => F [{b}]")),
        ("--ltl", format!("G ([{b}] => O [{a}])")),
        ("--ltl", format!("(not [{b}]) W [{a}]")),
        ("--ltl", format!("G (Y [{a}] => not X X deadlock)")),
        ("--ltl", format!("X X [{a}] or F deadlock")),
        ("--ltl", format!("[{a}] R (e({b}) S not sink)")),
        ("--ltl", format!("G controller({a},{b})")),
        ("--ctl", format!("AG EF e({a})")),
        ("--ctl", "EF deadlock".into()),
        ("--ctl", format!("AG (e({a}) => EX[{a}] e({b}))")),
        ("--ctl", format!("AF e({b})")),
        ("--ctl", format!("EG not e({b})")),
        ("--ctl", format!("A e({a}) U e({b})")),
        ("--ctl", "AX AX not sink".into()),
    ]
}

fn options(formulas: &[(&'static str, String)]) -> Vec<String> {
    formulas.iter().flat_map(|(kind, f)| [kind.to_string(), f.clone()]).collect()
}

/// The verdict on each formula.
fn verdicts(result: &Value) -> Vec<(String, String)> {
    let list = result["temporal"].as_array().unwrap_or_else(|| panic!("no formulas: {result}"));
    let words = |v: &Value| v.as_str().expect("a word").to_string();
    list.iter().map(|t| (words(&t["formula"]), words(&t["verdict"]))).collect()
}

#[test]
fn formulas_have_the_verdict_of_the_explicit_engine_on_our_models() {
    let models =
        ["families/bakery.mch", "families/river.mch", "faulty/mutex_turn_first.mch", "papers/scheduler.mch"];
    for model in models {
        let path = bench_model(model);
        let path = path.to_str().expect("a path");
        let plain = json(&run(&["check", path, "--json", "--no-deadlock"]));
        let names: Vec<&String> = plain["events"].as_object().expect("events").keys().collect();
        let given = options(&formulas(names[0], names[names.len() - 1]));
        let mut args = vec!["check", path, "--json", "--no-deadlock", "--workers", "1"];
        args.extend(given.iter().map(String::as_str));
        let explicit = json(&run(&args));
        args.extend(["--engine", "bdd"]);
        let sets = json(&run(&args));
        assert_eq!(verdicts(&explicit), verdicts(&sets), "{model}");
        assert_eq!(explicit["verdict"], sets["verdict"], "{model}");
        assert_eq!(sets["violation"].is_null(), sets["confirmed_by"].is_null(), "{model}");
    }
}

#[test]
fn formulas_on_random_machines_have_the_same_verdict_or_are_open() {
    let (mut decided, mut violated) = (0, 0);
    for seed in first_seed()..first_seed() + cases(12) {
        let text = machines::random(seed).to_string();
        let limits = ["--max-states", "2000", "--workers", "1", "--no-deadlock", "--no-invariant"];
        let plain = check_machine(&text, &limits);
        let Some(names) = plain["events"].as_object().filter(|names| !names.is_empty()) else { continue };
        let names: Vec<&String> = names.keys().collect();
        let given = options(&formulas(names[0], names[names.len() - 1]));
        let mut args = limits.to_vec();
        args.extend(given.iter().map(String::as_str));
        let explicit = check_machine(&text, &args);
        args.extend(["--engine", "bdd", "--nodes", "200000"]);
        let sets = check_machine(&text, &args);
        for (one, other) in verdicts(&explicit).iter().zip(&verdicts(&sets)) {
            if one.1 == "incomplete" || other.1 == "incomplete" {
                continue;
            }
            assert_eq!(one, other, "seed {seed}:\n{text}");
            decided += 1;
            violated += u64::from(one.1 == "violated");
        }
    }
    assert!(decided > 4 * cases(12) && violated > cases(12), "only {decided} decided, {violated} violated");
}

/// Two workers that pass a token on; the second one may also idle. PID is symmetric.
const WORKERS: &str = "
MACHINE Workers
DEFINITIONS scope_PID == 3
SETS PID
VARIABLES busy, done
INVARIANT busy <: PID & done <: PID
INITIALISATION busy, done := {}, {}
OPERATIONS
  start(p) = SELECT p : PID - busy - done THEN busy := busy \\/ {p} END;
  finish(p) = SELECT p : busy THEN busy := busy - {p} || done := done \\/ {p} END;
  reset = SELECT done = PID THEN done := {} END;
  idle = SELECT busy /= {} THEN skip END
END";

#[test]
fn a_lasso_of_sets_of_states_goes_round_by_real_steps() {
    let violated = check_machine(WORKERS, &["--engine", "bdd", "--ltl", "G F [reset]"]);
    assert_eq!((&violated["verdict"], &violated["violation"]["kind"]), (&"violated".into(), &"ltl".into()));
    assert!(violated["violation"]["loop_start"].is_u64() && !violated["confirmed_by"].is_null());
    let fair = check_machine(WORKERS, &["--engine", "bdd", "--ltl", "WEF => G F [reset]"]);
    assert_eq!(
        verdicts(&fair)[0].1,
        verdicts(&check_machine(WORKERS, &["--ltl", "WEF => G F [reset]"]))[0].1
    );
}

#[test]
fn arguments_and_quantifiers_of_formulas_mean_what_they_mean_to_the_explicit_engine() {
    let given = [
        "--ltl",
        "!p.({p : PID} => G ([finish(p)] => O [start(p)]))",
        "--ltl",
        "#p.({p : PID} & G not [start(p)])",
        "--ltl",
        "!p.({p : PID} => G ({p : busy} => F {p : done}))",
    ];
    let sets = check_machine(WORKERS, &[&given[..], &["--engine", "bdd"]].concat());
    assert_eq!(verdicts(&sets), verdicts(&check_machine(WORKERS, &given)));
}

#[test]
fn representatives_refute_and_only_orbits_verify() {
    let given = ["--ltl", "G F [reset]", "--ltl", "G ({done = PID} => e(reset))", "--ctl", "AG EF e(reset)"];
    let plain: Vec<String> = verdicts(&check_machine(WORKERS, &given)).into_iter().map(|v| v.1).collect();
    assert_eq!(plain, ["violated", "holds", "holds"]);
    for symmetry in ["generators", "orbits"] {
        let with = |liveness: &[&str]| {
            let engine = ["--engine", "bdd", "--symmetry", symmetry];
            let result = check_machine(WORKERS, &[&given[..], &engine, liveness].concat());
            verdicts(&result).into_iter().map(|v| v.1).collect::<Vec<_>>()
        };
        let kept = with(&[]);
        assert!(kept[0] != "holds" && kept[1] == "incomplete" && kept[2] == "incomplete", "{kept:?}");
        for way in ["quotient", "create-xi", "orbit-to-xi"] {
            assert_eq!(with(&["--liveness", way]), plain, "{symmetry} {way}");
        }
    }
}

#[test]
fn a_formula_that_names_an_element_is_not_verified_on_orbits() {
    let named =
        WORKERS.replace("SETS PID", "SETS PID = {p1, p2, p3}").replace("DEFINITIONS scope_PID == 3\n", "");
    let folder = Folder::with_machine(&named);
    folder.write("all.txt", "swap PID p1 p2\nswap PID p2 p3\n");
    let engine = ["--engine", "bdd", "--symmetry", "orbits", "--generators", "all.txt"];
    let given = ["--liveness", "quotient", "--ltl", "G ({p1 : busy} => F {p1 : done})"];
    let result = json(&folder.check(&[&engine[..], &given].concat()));
    assert_ne!(verdicts(&result)[0].1, "holds");
    assert_ne!(result["verdict"], "verified");
}

#[test]
fn what_sets_of_states_do_not_decide_is_refused_by_name() {
    let folder = Folder::with_machine(WORKERS);
    for (formula, word) in
        [("G non_det", "non_det"), ("G det_output", "det_output"), ("G unchanged({busy})", "unchanged")]
    {
        let output = folder.check(&["--engine", "bdd", "--ltl", formula]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{formula}: {words}");
        assert!(words.contains(word), "{formula}: {words}");
    }
}
