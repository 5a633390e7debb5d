//! Checks on several machines: processes on this one, connected by real sockets, tell what one process tells.

use crate::support::binary::{bench_model, bombus, run};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

/// How often a run is tried again because somebody else took a port that was free a moment before.
const TRIES: usize = 5;

/// A list of machines on ports that were free a moment ago.
fn hosts(dir: &Path, machines: usize) -> PathBuf {
    let open: Vec<TcpListener> =
        (0..machines).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let lines: Vec<String> =
        open.iter().map(|listener| listener.local_addr().expect("bound").to_string()).collect();
    let path = dir.join("hosts.txt");
    fs::write(&path, lines.join("\n")).expect("a writable directory");
    path
}

fn start(model: &Path, options: &[&str], hosts: &Path, rank: usize) -> Child {
    bombus()
        .arg("check")
        .arg(model)
        .args(["--json", "--workers", "2"])
        .args(options)
        .arg("--cluster")
        .arg(hosts)
        .args(["--rank", &rank.to_string(), "--cluster-timeout", "120"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Runs a check on so many machines.
fn on_machines(model: &Path, options: &[&str], machines: usize) -> Vec<Output> {
    for _ in 0..TRIES {
        let dir = tempfile::tempdir().expect("a directory");
        let hosts = hosts(dir.path(), machines);
        let children: Vec<Child> = (0..machines).map(|rank| start(model, options, &hosts, rank)).collect();
        let ended: Vec<Output> =
            children.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
        let taken = |o: &Output| String::from_utf8_lossy(&o.stderr).contains("cannot listen");
        if !ended.iter().any(taken) {
            return ended;
        }
    }
    panic!("no free ports");
}

/// What must not depend on the machines. Times, memory and the machines themselves do.
fn essence(output: &Output) -> Value {
    let mut all: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let object = all.as_object_mut().expect("an object");
    for varies in ["seconds", "time_shares", "peak_memory_bytes", "machines"] {
        object.remove(varies);
    }
    all
}

fn alone(model: &Path, options: &[&str]) -> Output {
    let mut args = vec!["check", model.to_str().expect("a path of letters"), "--json", "--workers", "2"];
    args.extend(options);
    run(&args)
}

fn agree(name: &str, options: &[&str], machines: &[usize]) {
    agree_on(&bench_model(name), options, machines);
}

/// The same for a machine with these clauses.
fn agree_with(name: &str, clauses: &str, options: &[&str]) {
    let dir = tempfile::tempdir().expect("a directory");
    let model = dir.path().join(format!("{name}.mch"));
    fs::write(&model, format!("MACHINE {name}\n{clauses}\nEND\n")).expect("a writable directory");
    agree_on(&model, options, &[2, 3, 4]);
}

fn agree_on(model: &Path, options: &[&str], machines: &[usize]) {
    agree_given(model, options, &[], machines);
}

/// The same where several machines get some options more.
fn agree_given(model: &Path, options: &[&str], together: &[&str], machines: &[usize]) {
    let name = model.display();
    let one = alone(model, options);
    for &machines in machines {
        let ended = on_machines(model, &[options, together].concat(), machines);
        for (rank, output) in ended.iter().enumerate() {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), one.status.code(), "{name}, rank {rank}: {errors}");
            if rank > 0 {
                assert!(output.stdout.is_empty(), "only the first machine reports");
            }
        }
        assert_eq!(essence(&ended[0]), essence(&one), "{name} on {machines} machines");
        let told: Value = serde_json::from_slice(&ended[0].stdout).expect("JSON");
        let owned: u64 =
            told["machines"].as_array().expect("a list").iter().filter_map(|m| m["states"].as_u64()).sum();
        assert_eq!(Some(owned), told["states"].as_u64(), "{name}");
    }
}

#[test]
fn a_verified_model_is_the_same_on_several_machines() {
    agree("families/two_phase_commit.mch", &[], &[2, 3, 4]);
    agree("papers/peterson.mch", &["--no-deadlock"], &[2, 3, 4]);
}

#[test]
fn a_counterexample_is_the_same_on_several_machines() {
    agree("faulty/bakery_hasty.mch", &[], &[2, 3, 4]);
    agree("faulty/two_phase_commit_hasty.mch", &["--keep-going"], &[2, 4]);
    agree("papers/philosophers.mch", &[], &[2, 3]);
}

/// Two counters that go up to 9 and one that starts again.
const COUNTERS: &str = "VARIABLES x, y, z INVARIANT x : 0..9 & y : 0..9 & z : 0..3
    INITIALISATION x, y, z := 0, 0, 0
    OPERATIONS
    right = SELECT x < 9 THEN x := x + 1 END;
    up = SELECT y < 9 THEN y := y + 1 END;
    turn(n) = SELECT n : 1..3 & n /= z THEN z := n END;
    back = SELECT x = 9 & y = 9 THEN x, y, z := 0, 0, 0 END";

#[test]
fn shapes_at_the_limits_are_the_same_on_several_machines() {
    // No initial state, and one that is wrong.
    agree_with(
        "Nothing",
        "CONSTANTS c PROPERTIES c : 0..3 & c > 5 VARIABLES x INVARIANT x : 0..3 INITIALISATION x := c",
        &[],
    );
    agree_with("Wrong", "VARIABLES x INVARIANT x < 1 INITIALISATION x :: 0..2 OPERATIONS o = x := 0", &[]);
    // A violation in the last level of all, and one that many paths lead to.
    agree_with("Last", &COUNTERS.replace("y : 0..9", "y : 0..9 & x + y < 18"), &[]);
    // Several valuations of constants, a path, a star.
    agree_with(
        "Valued",
        "CONSTANTS c, s PROPERTIES c : 1..3 & s <: 1..2 VARIABLES x, t INVARIANT x : 0..9 & t <: 1..2
         INITIALISATION x, t := 0, {} OPERATIONS o = SELECT x < 2 * c THEN x := x + 1 || t := s END",
        &["--no-deadlock"],
    );
    agree_with(
        "Path",
        "VARIABLES x INVARIANT x : 0..400 INITIALISATION x := 0 OPERATIONS o = SELECT x < 400 THEN x := x + 1 END",
        &[],
    );
    agree_with(
        "Star",
        "VARIABLES x INVARIANT x : 0..3000 INITIALISATION x := 0
         OPERATIONS o(n) = SELECT n : 1..3000 & x = 0 THEN x := n END; b = SELECT x > 0 THEN x := 0 END",
        &[],
    );
}

#[test]
fn formulas_are_decided_as_on_one_machine() {
    // Of single states, and decided while the states are found.
    agree_with(
        "Counters",
        COUNTERS,
        &["--no-deadlock", "--ltl", "G {x + y <= 18}", "--ltl", "G {x + y < 12}"],
    );
    // Of paths, and violated: with a loop, with a finite prefix, about events and their arguments.
    let violated = [
        "--no-deadlock",
        "--ltl",
        "G F {x = 0}",
        "--ltl",
        "F {x = 9}",
        "--ltl",
        "G ([turn(2)] => X X {z = 2})",
    ];
    agree_with("Counters", COUNTERS, &violated);
    // Of paths, and true: about arguments, fairness, branching.
    let fair = "WF(right) & WF(up) & WF(back) => G F {x = 0 & y = 0}";
    let branching = "AG (EF {x = 0 & y = 0})";
    agree_with(
        "Counters",
        COUNTERS,
        &["--no-deadlock", "--ltl", "G ([turn(2)] => X {z = 2})", "--ltl", fair, "--ctl", branching],
    );
}

/// Numbers, a function and sequences that outgrow what the invariant promises and what is guessed where it says nothing.
const OUTGROWN: &str = "VARIABLES x, y, f, q
    INVARIANT x : NATURAL & y : NATURAL & f : 1..3 --> 0..3 & q : 1..2 --> seq(BOOL)
    INITIALISATION x := 0 || y := 0 || f := (1..3) * {0} || q := (1..2) * {<>}
    OPERATIONS
    grow = SELECT x < 1000000 THEN x := x * 3 + 1 END;
    step = SELECT y < 12 THEN
      y := y + 1 || f := f <+ {1 |-> y} || q := q <+ {2 |-> (q(2) <- bool(y mod 2 = 0))} END;
    drop = SELECT y = 12 THEN f := {3} <<| f END";

/// Three numbers without a bound, one of which is larger than any guess from the start or from some level on.
fn far(first: u32, invariant: &str) -> String {
    format!(
        "VARIABLES x, y, z INVARIANT x : INTEGER & y : INTEGER & z : INTEGER & {invariant}
         INITIALISATION x, y, z := {first}, 0, 0
         OPERATIONS
         leap = SELECT x < 30000000 & y > 6 THEN x := x * 7 + 100000 END;
         right = SELECT y < 25 THEN y := y + 1 END;
         up = SELECT z < 9 THEN z := z + 1 END;
         back = SELECT z = 9 THEN z := 0 END"
    )
}

#[test]
fn a_layout_that_is_outgrown_on_several_machines_grows_on_all_of_them() {
    agree_with("Outgrown", OUTGROWN, &["--keep-going"]);
    agree_with("Outgrown", OUTGROWN, &["--no-invariant"]);
    // From the first level on, and from a later one.
    agree_with("Far", &far(1_000_000, "y < 99"), &["--no-deadlock"]);
    agree_with("Far", &far(0, "y < 99"), &["--no-deadlock"]);
    // Violated before, in the level in which the layout grows, and in the last.
    agree_with("Far", &far(0, "y + z < 7"), &["--no-deadlock"]);
    agree_with("Far", &far(0, "x < 1000"), &["--no-deadlock"]);
    agree_with("Far", &far(0, "(x < 1000 or y < 20)"), &["--no-deadlock", "--keep-going"]);
    agree_with("Far", &far(1_000_000, "x + y + z < 30000000"), &["--no-deadlock", "--keep-going"]);
}

#[test]
fn formulas_about_states_that_outgrow_their_layout_are_decided_as_on_one_machine() {
    let formulas = ["--no-deadlock", "--ltl", "G F {z = 0}", "--ltl", "G ({x > 0} => F {x > 1000})"];
    agree_with("Far", &far(0, "y < 99"), &formulas);
    let dir = tempfile::tempdir().expect("a directory");
    let model = dir.path().join("Far.mch");
    fs::write(&model, format!("MACHINE Far\n{}\nEND\n", far(0, "y < 99"))).expect("a writable directory");
    let holds = ["--no-deadlock", "--ltl", "G ({x > 0} => {y > 6})", "--ctl", "AG {y < 26}"];
    agree_given(&model, &holds, &["--cluster-gather", "2K"], &[1, 2, 3]);
}

/// A number that may stay at first, climbs to 80, and stays there; and a switch.
const RAMP: &str = "VARIABLES x, s INVARIANT x : 0..80 & s : BOOL INITIALISATION x, s := 0, FALSE
    OPERATIONS
    stay = SELECT x = 0 THEN skip END;
    up = SELECT x < 80 THEN x := x + 1 END;
    jump(n) = SELECT n : 2..3 & x < 78 THEN x := x + n END;
    flip = SELECT x > 0 & x < 80 & s = FALSE THEN s := TRUE END";

#[test]
fn formulas_are_decided_on_what_trimming_leaves_of_a_graph_that_does_not_fit() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = dir.path().join("Ramp.mch");
    fs::write(&model, format!("MACHINE Ramp\n{RAMP}\nEND\n")).expect("a writable directory");
    // 161 states do not fit, those of the first loop do.
    let little = ["--cluster-gather", "2K"];
    // Nothing is left: a loop that does not leave 0 always stays there; whoever is above it comes to an end.
    let holds = ["--no-deadlock", "--ltl", "G ({x > 0} => F {x = 80})", "--ltl", "G ([up] => X {x > 0})"];
    agree_given(&model, &holds, &little, &[1, 2, 3]);
    // One state is left, and its loop refutes the formula, unless it has to be left.
    let refuted =
        ["--no-deadlock", "--ltl", "F {x > 0}", "--ltl", "WF(up) => F {x > 0}", "--ltl", "F deadlock"];
    agree_given(&model, &refuted, &little, &[1, 2, 3]);
    let fair = ["--no-deadlock", "--ltl", "WF(up) => F {x > 0}", "--ltl", "WF(up) => F {x = 80}"];
    agree_given(&model, &fair, &little, &[2]);
    // What is said of arguments is known where a transition begins.
    let arguments =
        ["--no-deadlock", "--ltl", "G ([jump(2)] => X {x > 1})", "--ltl", "G (e(jump(3)) => {x < 78})"];
    agree_given(&model, &arguments, &little, &[1, 2, 3]);
    agree_given(&model, &["--no-deadlock", "--ltl", "not [jump(2)]"], &["--cluster-gather", "20K"], &[2]);
}

#[test]
fn branching_formulas_are_decided_by_labels_on_a_graph_that_does_not_fit() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = dir.path().join("Ramp.mch");
    fs::write(&model, format!("MACHINE Ramp\n{RAMP}\nEND\n")).expect("a writable directory");
    let little = ["--cluster-gather", "2K"];
    let holds = ["--no-deadlock", "--ctl", "AG ({x > 0} => AF {x = 80})", "--ctl", "EX[jump(2)] {x = 2}"];
    agree_given(&model, &holds, &little, &[1, 2, 3]);
    // A path that stays, and a step to one of the 11 states with their 39 transitions that it may have led to.
    let refuted = ["--no-deadlock", "--ctl", "AF {x > 0}", "--ctl", "AG {x < 3}"];
    agree_given(&model, &refuted, &["--cluster-gather", "4K"], &[1, 2, 3]);
    agree_given(&model, &["--no-deadlock", "--ctl", "EX[jump(2)] {x = 3}"], &little, &[2]);
}

#[test]
fn what_is_left_and_does_not_fit_is_incomplete_and_its_size_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = dir.path().join("Ramp.mch");
    fs::write(&model, format!("MACHINE Ramp\n{RAMP}\nEND\n")).expect("a writable directory");
    // Every state leads to the end that refutes the first formula; the others are not decided on a part.
    let many =
        ["--ltl", "G {x < 80}", "--ltl", "F {x = 81}", "--ltl", "G changed({x})", "--ctl", "AG EF {x = 0}"];
    let options = [&["--no-deadlock", "--cluster-gather", "2K"], &many[..]].concat();
    let ended = on_machines(&model, &options, 2);
    for output in &ended {
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let told: Value = serde_json::from_slice(&ended[0].stdout).expect("JSON");
    let why = told["incomplete_because"].to_string();
    assert!(why.contains("what is left of the graph of 1") && why.contains("states and"), "{why}");
    assert!(why.contains("two states at once"), "{why}");
    let words: Vec<&str> = told["temporal"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["verdict"].as_str())
        .collect();
    assert_eq!(words, ["incomplete"; 4], "{told}");
}

#[test]
fn formulas_about_values_without_words_and_about_orbits_are_decided_as_on_one_machine() {
    let formula = "G ({card(status) > 9} => F {status = {}})";
    agree("papers/scheduler.mch", &["--symmetry", "exact", "--no-deadlock", "--ltl", formula], &[2, 3]);
    let queues = "VARIABLES q INVARIANT q : seq(1..3) INITIALISATION q := <>
         OPERATIONS put(n) = SELECT n : 1..3 & size(q) < 4 THEN q := q <- n END; take = SELECT q /= <> THEN q := tail(q) END";
    agree_with("Queues", queues, &["--ltl", "G F {q = <>}"]);
    agree_with("Queues", queues, &["--ltl", "G ([put(2)] => X {last(q) = 2})"]);
}

#[test]
fn a_search_for_deadlocks_is_reduced_as_on_one_machine() {
    let stuck = COUNTERS.replace("x = 9 & y = 9 THEN", "x = 9 & y = 9 & z = 0 THEN");
    for (name, clauses) in [("Free", COUNTERS), ("Stuck", stuck.as_str())] {
        agree_with(name, clauses, &["--only-deadlock", "--por", "on"]);
    }
    agree("papers/philosophers.mch", &["--only-deadlock", "--por", "on"], &[2, 3, 4]);
}

#[test]
fn a_reduction_that_several_machines_cannot_do_is_off_and_says_why() {
    let dir = tempfile::tempdir().expect("a directory");
    let hosts = hosts(dir.path(), 1);
    let model = bench_model("papers/peterson.mch");
    let ended =
        start(&model, &["--no-deadlock", "--por", "on"], &hosts, 0).wait_with_output().expect("it ends");
    let told: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    let said = String::from_utf8_lossy(&ended.stderr).to_string();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("--only-deadlock"), "{said}");
    assert_eq!(told["reductions"]["por"], "off");
}

#[test]
fn values_without_words_travel_between_machines() {
    // Sequences and sets of integers have no layout of their own and stand in the value pool.
    agree("papers/scheduler_queue.mch", &["--keep-going"], &[2]);
    agree("families/hanoi.mch", &["--no-deadlock"], &[3]);
}

#[test]
fn orbits_and_hashes_are_shared_by_machines_as_states_are() {
    agree("papers/scheduler.mch", &["--symmetry", "exact", "--keep-going"], &[2]);
    agree("families/coherence.mch", &["--store", "hash"], &[2]);
}

#[test]
fn a_machine_with_another_model_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let hosts = hosts(dir.path(), 2);
    let first = start(&bench_model("papers/peterson.mch"), &[], &hosts, 0);
    let second = start(&bench_model("papers/robot.mch"), &[], &hosts, 1).wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&second.stderr).to_string();
    end(first);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another model"), "{said}");
}

/// Ends a process that waits for others.
fn end(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn a_machine_that_is_killed_is_named_and_the_search_goes_on_with_fewer() {
    let dir = tempfile::tempdir().expect("a directory");
    let saved = dir.path().join("saved");
    let saved = saved.to_str().expect("a path of letters");
    let model = bench_model("families/tiles.mch");
    let how = ["--no-deadlock"];
    let one = alone(&model, &how);
    let save = ["--no-deadlock", "--checkpoint", saved, "--checkpoint-every", "0.05"];
    let hosts = hosts(dir.path(), 3);
    let mut children: Vec<Child> = (0..3).map(|rank| start(&model, &save, &hosts, rank)).collect();
    let manifest = Path::new(saved).join("search.bombus");
    while !manifest.exists() && children[2].try_wait().expect("it can be asked").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let killed = children.pop().expect("three");
    end(killed);
    let ended: Vec<Output> =
        children.into_iter().map(|child| child.wait_with_output().expect("it ends")).collect();
    if ended[0].status.code() == one.status.code() {
        // The search was over before the machine was killed.
        assert_eq!(essence(&ended[0]), essence(&one));
        return;
    }
    for output in &ended {
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let told: Value = serde_json::from_slice(&ended[0].stdout).expect("JSON");
    let why = told["incomplete_because"].to_string();
    assert!(why.contains("lost 127.0.0.1:") && why.contains("--resume"), "{why}");
    let again = ["--no-deadlock", "--resume", saved];
    let ended = on_machines(&model, &again, 2);
    assert_eq!(essence(&ended[0]), essence(&one));
}

#[test]
fn one_command_starts_all_machines() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = bench_model("papers/peterson.mch");
    let one = alone(&model, &["--no-deadlock"]);
    for _ in 0..TRIES {
        let hosts = hosts(dir.path(), 2);
        let (hosts, model) = (hosts.to_str().expect("letters"), model.to_str().expect("letters"));
        let line = ["cluster", hosts, "--", "check", model, "--json", "--workers", "2", "--no-deadlock"];
        let output = run(&line);
        if output.status.code() == Some(2) {
            continue;
        }
        assert_eq!(output.status.code(), one.status.code(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(essence(&output), essence(&one));
        return;
    }
    panic!("no free ports");
}

#[test]
fn what_several_machines_cannot_do_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().expect("a directory");
    let hosts = hosts(dir.path(), 1);
    let mut open = fs::File::create(dir.path().join("open.txt")).expect("a file");
    writeln!(open, "192.0.2.1:7000\n127.0.0.1:7001").expect("it is written");
    let (hosts, open) = (hosts.to_str().expect("letters").to_string(), dir.path().join("open.txt"));
    let open = open.to_str().expect("letters");
    let peterson = bench_model("papers/peterson.mch");
    let peterson = peterson.to_str().expect("letters");
    let cases: [(&[&str], &str); 5] = [
        (&["--cluster", &hosts, "--rank", "0", "--order", "dfs"], "--order bfs"),
        (
            &["--cluster", &hosts, "--rank", "0", "--ltl", "G F {1=1}", "--checkpoint", "saved"],
            "without temporal formulas",
        ),
        (&["--cluster", &hosts, "--rank", "1"], "there are 1 machines"),
        (&["--cluster", open, "--rank", "1"], "need a secret"),
        (&["--rank", "1"], "--cluster HOSTS"),
    ];
    for (options, why) in cases {
        let mut args = vec!["check", peterson];
        args.extend(options);
        let output = run(&args);
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(why), "{options:?}: {said}");
    }
}
