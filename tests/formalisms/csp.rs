//! CSP scripts as a user checks them: verdicts, counterexamples, bad input, formulas, processes that guide machines.
//!
//! Expected counts are worked out by hand in the comments.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.0.path()).join(name)
    }

    fn run(&self, command: &str, file: &str, options: &[&str]) -> Output {
        let mut bombus = Command::new(env!("CARGO_BIN_EXE_bombus"));
        bombus.arg(command).arg(self.path(file)).args(options).current_dir(self.0.path());
        bombus.output().unwrap()
    }

    /// The JSON result and the exit status.
    fn check(&self, file: &str, options: &[&str]) -> (Value, i32) {
        let out = self.run("check", file, &[options, &["--json"]].concat());
        let result = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|_| panic!("no result: {}", String::from_utf8_lossy(&out.stderr)));
        (result, out.status.code().unwrap())
    }
}

/// The message that rejects a script.
fn rejection(text: &str, options: &[&str]) -> String {
    let folder = Folder::new(&[("s.csp", text)]);
    let out = folder.run("check", "s.csp", options);
    assert_eq!(out.status.code(), Some(2), "{text}: {}", String::from_utf8_lossy(&out.stdout));
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[test]
fn a_failed_assertion_is_a_violation_with_its_trace() {
    let folder = Folder::new(&[(
        "s.csp",
        "channel a, b : {0..1}\nMAIN = a?x -> b!x -> MAIN\n\
         assert a.0 -> STOP [T= MAIN\nassert MAIN :[deadlock free]\nassert not MAIN :[deterministic]",
    )]);
    let (result, status) = folder.check("s.csp", &[]);
    assert_eq!((status, result["verdict"].as_str()), (1, Some("violated")));
    let verdicts: Vec<&str> =
        result["asserts"].as_array().unwrap().iter().map(|a| a["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["violated", "holds", "violated"]);
    assert_eq!(result["asserts"][0]["trace"], serde_json::json!(["a.1"]));
    assert_eq!(result["violation"]["kind"], "assertion");
    // The process before and after each input: 3 states, 2 inputs and 2 outputs.
    assert_eq!((result["states"].as_u64(), result["transitions"].as_u64()), (Some(3), Some(4)));
    // ProB adds the root, the start and the process before it is unfolded, which has 2 successors.
    assert_eq!(result["prob"], serde_json::json!({"states": 5, "transitions": 7}));
}

/// States and transitions of a script of the bench set with other numbers in its definitions.
fn bench_counts(name: &str, definitions: &[(&str, &str)]) -> (u64, u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-models/csp").join(name);
    let mut text = std::fs::read_to_string(path).unwrap();
    for (from, to) in definitions {
        assert!(text.contains(from), "{name} has no line {from}");
        text = text.replacen(from, to, 1);
    }
    let (result, status) = Folder::new(&[("s.csp", &text)]).check("s.csp", &["--no-deadlock"]);
    assert_eq!(status, 0, "{name} holds");
    (result["states"].as_u64().unwrap(), result["transitions"].as_u64().unwrap())
}

#[test]
fn families_of_processes_have_the_counts_of_their_closed_forms() {
    for (n, k) in [(2, 3), (3, 4), (5, 2)] {
        let all = (k as u64).pow(n);
        let counts =
            bench_counts("cycles.csp", &[("N = 6", &format!("N = {n}")), ("K = 4", &format!("K = {k}"))]);
        assert_eq!(counts, (all, n as u64 * all), "{n} cycles of {k} steps");
    }
    // The token is in one of N places and in one of three phases there; each other cell is busy or not. In every
    // state the busy ones among the others may end, half of them on average, and one step is left to the holder.
    for n in 2..=6_u64 {
        let all = 3 * n * (1 << (n - 1));
        let counts = bench_counts("scheduler.csp", &[("N = 8", &format!("N = {n}"))]);
        assert_eq!(counts, (all, all * (n + 1) / 2), "{n} cells");
    }
    // Nobody is inside, or one is, and each other one wants to be or not. Who does not want may ask, who wants may enter
    // if nobody is inside, who is inside may leave.
    for n in 2..=6_u64 {
        let half = 1 << (n - 1);
        let counts = bench_counts("mutex.csp", &[("N = 10", &format!("N = {n}"))]);
        assert_eq!(counts, (2 * half + n * half, 3 * n * half + n * (n - 1) * half / 2), "{n} clients");
    }
}

/// A philosopher is in one of five phases, and two of three phases of neighbours exclude each other: the matrix of who may
/// sit beside whom has the eigenvalues of x² = 3x + 1, so the sum of their N-th powers counts the states.
#[test]
fn philosophers_have_the_counts_of_their_transfer_matrix() {
    let ((mut a, mut b), (mut next_a, mut next_b)) = ((11, 7), (36, 23));
    for n in 2..=6_u64 {
        let seats = format!("N = {n}");
        assert_eq!(bench_counts("dining_polite.csp", &[("N = 5", &seats)]), (a, n * b), "{n} polite ones");
        // That all hold the right fork alone cannot be reached if all take the left one first.
        assert_eq!(bench_counts("dining.csp", &[("N = 5", &seats)]), (a - 1, n * (b - 1)), "{n} greedy ones");
        (a, next_a) = (next_a, 3 * next_a + a);
        (b, next_b) = (next_b, 3 * next_b + b);
    }
}

#[test]
fn the_alternating_bit_protocol_grows_with_the_square_of_its_data() {
    for (data, d) in [("Data = {0}", 1), ("Data = {0, 1}", 2), ("Data = {0..2}", 3)] {
        let counts = bench_counts("alternating_bit.csp", &[("Data = {0, 1}", data)]);
        assert_eq!(counts, (6 * d * d + 50 * d + 8, 24 * d * d + 150 * d + 6), "{d} data");
    }
}

#[test]
fn peterson_has_the_counts_of_the_paper_on_model_checking_by_tarjan() {
    assert_eq!(bench_counts("peterson.csp", &[]), (56, 112));
    let text = include_str!("../../bench-models/csp/peterson.csp");
    let (result, _) = Folder::new(&[("s.csp", text)]).check("s.csp", &[]);
    // The paper counts the root and the process that is not yet unfolded, with its two steps and the step to it.
    assert_eq!(result["prob"], serde_json::json!({"states": 58, "transitions": 115}));
}

#[test]
fn the_result_is_the_same_for_any_number_of_workers() {
    let text = "channel a : {0..3}.{0..2}\nP(i, k) = a.i.k -> P(i, (k + 1) % 3)\n\
                MAIN = ||| i : {0..3} @ P(i, 0)\nassert STOP [F= MAIN \\ {| a.0 |}\nassert RUN({| a |}) [FD= MAIN";
    let folder = Folder::new(&[("s.csp", text)]);
    let results: Vec<Value> = ["1", "2", "4", "16"]
        .iter()
        .map(|n| {
            let (mut result, _) = folder.check("s.csp", &["--workers", n]);
            for field in ["workers", "seconds", "peak_memory_bytes"] {
                result.as_object_mut().unwrap().remove(field);
            }
            result
        })
        .collect();
    assert_eq!(results[0]["states"], 81);
    assert_eq!(results[0]["transitions"], 4 * 81);
    assert!(results.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn a_process_that_terminates_is_not_deadlocked() {
    let folder =
        Folder::new(&[("s.csp", "channel a\nMAIN = a -> SKIP ||| SKIP\nP = a -> STOP"), ("e.csp", "x = 1")]);
    assert_eq!(folder.check("s.csp", &[]).1, 0);
    let (result, status) = folder.check("s.csp", &["--main", "P"]);
    assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("deadlock")));
    assert_eq!(result["violation"]["trace"][0]["event"], "a");
    // Nothing was asked, so nothing is verified.
    assert_eq!(folder.run("check", "e.csp", &[]).status.code(), Some(3));
}

#[test]
fn a_deadlock_tells_what_each_component_waits_for() {
    let script =
        "channel a, b\nLEFT = a -> b -> LEFT\nRIGHT = b -> a -> RIGHT\nMAIN = LEFT [| {a, b} |] RIGHT";
    let (result, status) = Folder::new(&[("s.csp", script)]).check("s.csp", &[]);
    assert_eq!((status, &result["violation"]["property"]), (1, &"no event is possible".into()));
    let told: Vec<&str> =
        result["violation"]["explanation"].as_array().unwrap().iter().filter_map(|l| l.as_str()).collect();
    assert_eq!(told, ["LEFT offers a", "RIGHT offers b"]);
    let script = "channel up, down : {0..1}\nHAND(i, free) = free & up.i -> down.1-i -> HAND(i, free)\n\
                  MAIN = [| {| up, down |} |] i : {0..1} @ HAND(i, true)";
    let (result, _) = Folder::new(&[("s.csp", script)]).check("s.csp", &[]);
    assert_eq!(
        result["violation"]["explanation"],
        serde_json::json!(["HAND(0, true) offers up.0", "HAND(1, true) offers up.1"])
    );
}

#[test]
fn bad_scripts_are_rejected_with_the_place() {
    let rows = [
        ("MAIN = a -> STOP", "`a` is not defined"),
        ("channel a\nMAIN = a -> ", "an expression is expected"),
        ("channel a\nMAIN = MAIN [] a -> STOP", "unguarded recursion"),
        ("channel a\nP(n) = P(n + 1) [] a -> STOP\nMAIN = P(0)", "does not come to an end"),
        ("MAIN = if 1 / 0 == 1 then STOP else SKIP", "division by zero"),
        ("MAIN = |~| x : {} @ STOP", "an internal choice of no processes"),
        ("module M()\nexports\nendmodule\nMAIN = STOP", "without brackets"),
        ("module M\n x = 1\nexports\nendmodule\nMAIN = M::x & STOP", "`M::x` is not exported"),
        ("instance N = M(1)\nMAIN = STOP", "there is no module `M`"),
        ("Timed { P = STOP }\nMAIN = STOP", "needs the declaration `channel tock`"),
        (
            "datatype C = D.{0..2} | E.Bool\ndatatype G = F.{D.0, E.true}\nMAIN = card(G) > 0 & STOP",
            "not a product of sets",
        ),
        ("channel a\nchannel a\nMAIN = STOP", "declared more than once"),
        ("MAIN = if STOP == SKIP then STOP else SKIP", "processes cannot be compared"),
        ("f(x) = x\nMAIN = <f> != <> & STOP", "functions cannot be compared"),
        ("channel c : 3\nMAIN = c.3 -> STOP", "this has the type Int, {a} is expected"),
        ("channel c : {0..3}\nMAIN = c!true -> STOP", "this has the type Bool, Int is expected"),
        ("channel c : Bool.{0..3}\nMAIN = c.true.<1> -> STOP", "this has the type <Int>, Int is expected"),
        ("channel c : {0..3}.Bool\nMAIN = c?x!x+1 -> STOP", "this has the type Int, Bool is expected"),
        (
            "datatype D = A.Bool\nchannel c : D\nMAIN = c!A.7 -> STOP",
            "this has the type Int, Bool is expected",
        ),
        ("f(0) = 1\nf(x, y) = 2\nMAIN = STOP", "different numbers of parameters"),
    ];
    for (text, message) in rows {
        let said = rejection(text, &["--no-deadlock"]);
        assert!(said.contains(message), "{text}\n{said}");
        assert!(said.contains("s.csp:") && said.contains('^'), "{text}\n{said}");
    }
}

/// The features that `docs/csp.md` lists as refused by name, each with the message that names it.
#[test]
fn features_without_an_implementation_are_refused_by_name() {
    let functions = [
        "chase(STOP)",
        "chase_nocache(STOP)",
        "deter(STOP)",
        "prioritise(STOP, <{a}>)",
        "prioritise_nocache(STOP, <{a}>)",
        "prioritisepo(STOP, {a}, {}, {a})",
        "failure_watchdog(STOP, {a}, b)",
        "trace_watchdog(STOP, {a}, b)",
    ];
    let mut rows: Vec<(String, String)> = functions
        .iter()
        .map(|call| {
            let name = call.split('(').next().unwrap();
            let text = format!("external {name}\nchannel a, b\nMAIN = {call}");
            (text, format!("`{name}` is not supported"))
        })
        .collect();
    rows.push((
        "channel a, b, c\nMAIN = WEAK_BUFFER(2, c, {(a, b)})".into(),
        "`WEAK_BUFFER` is not supported".into(),
    ));
    for model in ["V", "VD", "R", "RD"] {
        rows.push((
            format!("MAIN = STOP\nassert MAIN [{model}= MAIN"),
            format!("`[{model}=` is not supported"),
        ));
    }
    rows.push((
        "channel a\nMAIN = STOP\nassert STOP [T= STOP :[tau priority]: {a}".into(),
        "the option `tau priority` of an assertion is not supported".into(),
    ));
    rows.push(("transparent normal\nMAIN = normal(MAIN)".into(), "unguarded recursion".into()));
    for (text, message) in rows {
        let said = rejection(&text, &["--no-deadlock"]);
        assert!(said.contains(&message), "{text}\n{said}");
        assert!(said.contains("s.csp:") && said.contains('^'), "{text}\n{said}");
        let page = include_str!("../../docs/csp.md");
        let name = message.split('`').nth(1).unwrap_or(&message);
        assert!(page.contains(name), "the page on CSP does not name {name}");
    }
}

#[test]
fn a_script_includes_files_beside_it() {
    let files = [
        ("a.csp", "include \"b.csp\"\nMAIN = c -> MAIN"),
        ("b.csp", "channel c"),
        // The folders of a collection may have become a part of the names of its files.
        ("folder__a.csp", "include \"d.csp\"\nMAIN = e -> f -> MAIN"),
        ("folder__d.csp", "include \"g.csp\"\nchannel e"),
        ("folder__g.csp", "channel f"),
        ("other__a.csp", "include \"g.csp\"\nMAIN = STOP"),
    ];
    let folder = Folder::new(&files);
    assert_eq!(folder.check("a.csp", &[]).0["states"], 1);
    assert_eq!(folder.check("folder__a.csp", &[]).0["states"], 2);
    let refused = folder.run("check", "other__a.csp", &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot find the script `g.csp`"));
}

#[test]
fn an_error_that_a_process_runs_into_is_a_finding_with_a_trace() {
    let folder = Folder::new(&[("s.csp", "channel c : {0..2}\nP(n) = c.n -> P(n + 1)\nMAIN = P(0)")]);
    let (result, status) = folder.check("s.csp", &[]);
    assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("well-definedness")));
    assert_eq!(result["violation"]["trace"].as_array().unwrap().len(), 3);
    assert_eq!(result["violation"]["place"]["line"], 2);
}

#[test]
fn an_error_of_the_first_communication_is_a_finding_too() {
    let rows = [
        ("channel c : {0..1}\nMAIN = c.2 -> STOP", "outside of the type"),
        ("channel c : Int\nMAIN = c?x -> STOP", "has no end and cannot be listed"),
    ];
    for (text, message) in rows {
        let folder = Folder::new(&[("s.csp", text)]);
        let (result, status) = folder.check("s.csp", &[]);
        assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("well-definedness")));
        let said = result["violation"]["property"].as_str().unwrap();
        assert!(said.contains(message) && result["violation"]["place"]["line"] == 2, "{said}");
    }
}

#[test]
fn options_without_a_meaning_for_processes_are_refused() {
    for options in [&["--goal", "x = 1"][..], &["--symmetry", "exact"], &["--por", "on"], &["--set", "S=2"]] {
        assert!(rejection("MAIN = SKIP", options).contains("has no meaning for a CSP script"));
    }
}

#[test]
fn formulas_speak_of_events() {
    let text = "channel c : {0..1}\nchannel d\nMAIN = c?x -> (if x == 0 then d -> MAIN else MAIN)\n\
                {-# assert_ltl \"G([c.0] => X [d])\" \"an answer\" #-}";
    let folder = Folder::new(&[("s.csp", text)]);
    let options = ["--ltl-assertions", "--ltl", "G F [d]", "--ltl", "G(e(d) => [d])", "--ctl", "EF(e(d))"];
    let (result, status) = folder.check("s.csp", &options);
    let verdicts: Vec<&str> =
        result["temporal"].as_array().unwrap().iter().map(|t| t["verdict"].as_str().unwrap()).collect();
    // With x = 1 for ever d never happens.
    assert_eq!((verdicts, status), (vec!["holds", "violated", "holds", "holds"], 1));
    assert_eq!(result["violation"]["trace"][0]["event"], "c.1");
    let said = rejection(text, &["--ltl", "G {x = 1}"]);
    assert!(said.contains("a process has no variables"), "{said}");
}

const MACHINE: &str = "MACHINE Counter\nVARIABLES n\nINVARIANT n : 0..2\nINITIALISATION n := 0\n\
    OPERATIONS\n  inc(k) = PRE k : 1..2 & n + k <= 3 THEN n := n + k END;\n  r <-- get = r := n;\n\
    reset = n := 0\nEND\n";

#[test]
fn a_process_guides_a_machine() {
    let polite = "channel inc : {1..5}\nchannel get : {0..9}\nchannel reset, ring\n\
                  MAIN = inc.1 -> get?x -> ring -> (if x == 2 then reset -> MAIN else MAIN)";
    let rude = "channel inc : {1..5}\nMAIN = inc?k -> MAIN";
    let stuck = "channel inc : {1..5}\nchannel get : {0..9}\nMAIN = inc.2 -> get.1 -> MAIN";
    let folder =
        Folder::new(&[("m.mch", MACHINE), ("polite.csp", polite), ("rude.csp", rude), ("stuck.csp", stuck)]);
    // Two rounds: inc, get, ring, inc, get, ring, reset; one state before each.
    let (result, status) = folder.check("m.mch", &["--csp", "polite.csp"]);
    assert_eq!((status, result["states"].as_u64(), result["transitions"].as_u64()), (0, Some(7), Some(7)));
    // Nothing keeps the counter from 3: after 1 and 2.
    let (result, status) = folder.check("m.mch", &["--csp", "rude.csp"]);
    assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("invariant")));
    let trace = result["violation"]["trace"].as_array().unwrap();
    assert_eq!(trace.len(), 3);
    assert_eq!(trace[2]["state"]["n"], "3");
    // The process waits for a value that the machine does not have.
    let (result, status) = folder.check("m.mch", &["--csp", "stuck.csp"]);
    assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("deadlock")));
    assert!(result["violation"]["explanation"][0].as_str().unwrap().contains("it offers get.1"));
    // An operation that is set free moves the machine alone: after reset the value is 0, still not 1.
    let (result, _) = folder.check("m.mch", &["--csp", "stuck.csp", "--csp-free", "reset", "--no-deadlock"]);
    // (0, start), (2, waiting), (0, waiting): reset keeps or makes 0 in each.
    assert_eq!((result["states"].as_u64(), result["transitions"].as_u64()), (Some(3), Some(4)));
    assert!(result["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn what_a_guided_machine_cannot_have_is_refused() {
    let folder =
        Folder::new(&[("m.mch", MACHINE), ("p.csp", "channel inc : {1}.{1}\nMAIN = inc.1.1 -> STOP")]);
    let out = folder.run("check", "m.mch", &["--csp", "p.csp"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("has 2 values"));
    let out = folder.run("check", "m.mch", &["--csp", "p.csp", "--symmetry", "exact"]);
    assert_eq!(out.status.code(), Some(2));
    let out = folder.run("check", "m.mch", &["--main", "P"]);
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn expressions_of_a_script_can_be_evaluated() {
    let folder =
        Folder::new(&[("s.csp", "channel c : {0..1}\nf(<>) = 0\nf(<x>^xs) = x + f(xs)\nMAIN = STOP")]);
    let eval = |formula: &str| {
        let mut bombus = Command::new(env!("CARGO_BIN_EXE_bombus"));
        let out = bombus.args(["eval", formula, "--model"]).arg(folder.path("s.csp")).output().unwrap();
        (String::from_utf8_lossy(&out.stdout).trim().to_string(), out.status.code())
    };
    assert_eq!(eval("f(<1,2,3>)"), ("6".to_string(), Some(0)));
    assert_eq!(eval("{| c |}"), ("{c.0, c.1}".to_string(), Some(0)));
    assert_eq!(eval("head(<>)").1, Some(2));
    let info = folder.run("info", "s.csp", &[]);
    assert!(String::from_utf8_lossy(&info.stdout).contains("channel     c : {0..1}"));
}

#[test]
fn a_script_of_tests_is_checked_by_their_names() {
    let folder = Folder::new(&[
        ("right.csp", "loop = loop\ntest1 = 1 + 1 == 2\nchannel a\nprocTest1 = a -> procTest1"),
        ("wrong.csp", "test1 = true\ntest2 = 1 > 2"),
        ("faulty.csp", "test1 = head(<>) == 1"),
        ("lazy.csp", "x = 1 / 0\nMAIN = SKIP"),
    ]);
    let (result, status) = folder.check("right.csp", &[]);
    assert_eq!((status, result["asserts"][0]["assert"].as_str()), (0, Some("test1")));
    let (result, status) = folder.check("wrong.csp", &[]);
    assert_eq!((status, result["violation"]["property"].as_str()), (1, Some("test2 is false")));
    for command in ["check", "info"] {
        let out = folder.run(command, "faulty.csp", &[]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains("`head` of an empty sequence") && said.contains("faulty.csp:1:9"), "{said}");
    }
    // Evaluation is lazy: nothing needs `x`.
    assert_eq!(folder.check("lazy.csp", &[]).1, 0);
    let out = folder.run("info", "lazy.csp", &[]);
    assert!(String::from_utf8_lossy(&out.stdout).contains("x   division by zero"));
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn compressions_make_components_smaller_and_leave_verdicts_alone() {
    // Each of four processes has six states in a circle of two, so strong bisimulation leaves two of them.
    let text = "channel a, b : {0..3}\ntransparent sbisim, diamond\n\
                P(i, n) = a.i -> b.i -> P(i, (n + 1) % 3)\nWRAP(p) = p\n\
                MAIN = ||| i : {0..3} @ WRAP(P(i, 0))\nassert MAIN :[deadlock free]\nassert STOP [F= MAIN \\ {| a |}";
    let folder =
        Folder::new(&[("plain.csp", text), ("small.csp", &text.replace("WRAP(P(i, 0))", "sbisim(P(i, 0))"))]);
    let (plain, _) = folder.check("plain.csp", &[]);
    let (small, _) = folder.check("small.csp", &[]);
    assert_eq!(
        (plain["states"].as_u64(), small["states"].as_u64()),
        (Some(6 * 6 * 6 * 6), Some(2 * 2 * 2 * 2))
    );
    assert_eq!(plain["asserts"], small["asserts"]);
    // Formulas see every step.
    let formula = ["--ltl", "G ([a.0] => X F [b.0])", "--ltl", "G F [a.1]"];
    let (plain, _) = folder.check("plain.csp", &formula);
    let (small, _) = folder.check("small.csp", &formula);
    assert_eq!(plain["temporal"], small["temporal"]);
}

#[test]
fn a_process_of_an_instance_is_named_by_its_path() {
    let text = "module M(n)\nexports\n channel c : {0..n}\n P = c?x -> P\nendmodule\ninstance I = M(4)";
    let (result, status) = Folder::new(&[("s.csp", text)]).check("s.csp", &["--main", "I::P"]);
    assert_eq!((status, result["transitions"].as_u64()), (0, Some(5)));
    assert!(result["events"].as_object().unwrap().contains_key("I::c"));
}

#[test]
fn a_process_is_animated_by_numbers_and_by_events() {
    use std::io::Write;
    let folder = Folder::new(&[("s.csp", "channel a, b : {0..1}\nMAIN = a?x -> b!x -> SKIP")]);
    let mut bombus = Command::new(env!("CARGO_BIN_EXE_bombus"));
    bombus.arg("animate").arg(folder.path("s.csp")).stdin(std::process::Stdio::piped());
    let mut child = bombus.stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"2\nundo\na.0\nb.0\ntick\nhistory\nquit\n").unwrap();
    let out = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("   1  b.1") && said.contains("the process has ended"), "{said}");
    assert!(said.ends_with("   1  a.0\n   2  b.0\n   3  tick\n"), "{said}");
}

#[test]
fn info_tells_programs_what_a_script_consists_of() {
    let folder = Folder::new(&[(
        "s.csp",
        "channel c : {0..1}\nn = 1 + 1\nMAIN = c?x -> MAIN\nassert MAIN :[deadlock free]",
    )]);
    let out = folder.run("info", "s.csp", &["--json"]);
    let told: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(told["channel"], serde_json::json!(["c : {0..1}"]));
    assert_eq!(told["definition"], serde_json::json!(["n = 2"]));
    assert_eq!(told["process"], serde_json::json!(["MAIN   1 state"]));
    assert_eq!(told["assertion"][0], "assert MAIN :[deadlock free]");
}

#[test]
fn what_is_needed_without_end_ends_with_the_time() {
    let rows = [
        "f(n) = if n <= 1 then 1 else f(n-1) + f(n-2)\nMAIN = f(200) == 0 & STOP",
        "MAIN = head(<x | x <- <0..>, x < 0>) == 0 & STOP",
        "MAIN = head(<x | 7.x <- <n | n <- <0..>, n != n>>) == 0 & STOP",
        "channel a\nf(n) = if n <= 1 then 1 else f(n-1) + f(n-2)\nMAIN = a -> (f(200) == 0 & STOP)",
        "f(n) = if n <= 1 then 1 else f(n-1) + f(n-2)\nassert f(200) == 0 & STOP [T= STOP",
        "f(n) = if n <= 1 then 1 else f(n-1) + f(n-2)\ntest1 = f(200) == 0",
    ];
    for text in rows {
        let folder = Folder::new(&[("s.csp", text)]);
        let (result, status) = folder.check("s.csp", &["--time-limit", "1"]);
        assert_eq!((status, result["verdict"].as_str()), (3, Some("incomplete")), "{text}");
    }
}

/// `(a -> P) ; STOP` has ever more operators, though it does nothing but `a`: nothing is wrong with it.
#[test]
fn operators_that_nest_without_end_are_a_limit_and_no_violation() {
    let folder = Folder::new(&[("s.csp", "channel a\nP = (a -> P) ; STOP\nMAIN = P")]);
    let (result, status) = folder.check("s.csp", &[]);
    assert_eq!((status, result["verdict"].as_str()), (3, Some("incomplete")));
    assert!(result["incomplete_because"][0].as_str().unwrap().contains("operators of a process nest"));
}

#[test]
fn loops_may_be_long_and_recursion_deep() {
    let folder = Folder::new(&[(
        "s.csp",
        "count(n, sum) = if n == 0 then sum else count(n - 1, sum + n)\n\
         depth(n) = if n == 0 then 0 else 1 + depth(n - 1)\n\
         even(n) = n == 0 or odd(n - 1)\nodd(n) = n != 0 and even(n - 1)\n\
         test1 = count(200000, 0) == 20000100000\ntest2 = depth(8000) == 8000\ntest3 = even(5000)",
    )]);
    assert_eq!(folder.check("s.csp", &[]).1, 0);
    assert!(rejection("f(n) = f(n + 1)\nMAIN = f(0) == 1 & STOP", &[]).contains("does not come to an end"));
}

#[test]
fn a_script_with_nothing_to_check_is_neither_rejected_nor_verified() {
    let folder = Folder::new(&[("s.csp", "channel c : {0..1}\nx = 1\nf(y) = y + x")]);
    let (result, status) = folder.check("s.csp", &[]);
    assert_eq!(status, 3);
    assert!(result["incomplete_because"][0].as_str().unwrap().contains("no process `MAIN`"));
    let said = rejection("channel a\nOther = a -> Other", &[]);
    assert!(said.contains("no process `MAIN`") && said.contains("its processes are Other"), "{said}");
    let said = rejection("channel a\nMAIN(n) = a -> MAIN(n)", &[]);
    assert!(said.contains("a function with parameters"), "{said}");
    assert!(rejection("MAIN = 3", &[]).contains("this is no process"));
}

#[test]
fn types_without_end_are_no_hindrance_where_nothing_is_listed() {
    let folder = Folder::new(&[(
        "s.csp",
        "channel c : (Int, Bool)\nchannel s : Set(Int)\n\
         MAIN = c?(n, b):{(1, true), (2, false)} -> s!{n} -> MAIN",
    )]);
    let (result, status) = folder.check("s.csp", &[]);
    assert_eq!((status, result["states"].as_u64(), result["transitions"].as_u64()), (0, Some(3), Some(4)));
}

/// `b` alone is no trace of the specification; it takes as many steps as `a` and then `b`, because two τ come before it.
#[test]
fn a_counterexample_has_as_few_visible_events_as_there_can_be() {
    let folder = Folder::new(&[(
        "s.csp",
        "channel a, b\nQ = ((b -> STOP |~| STOP) |~| a -> b -> STOP)\nassert a -> STOP [T= Q\n\
         D = (a -> (SKIP [> STOP) [] STOP |~| (STOP |~| STOP))\nassert D :[deadlock free [F]]\n\
         V = (a -> DIV) [] (SKIP ; (SKIP ; DIV))\nassert V :[divergence free]\nassert STOP [FD= V",
    )]);
    let (result, _) = folder.check("s.csp", &[]);
    let traces: Vec<&Value> = result["asserts"].as_array().unwrap().iter().map(|a| &a["trace"]).collect();
    assert_eq!(
        traces,
        [&serde_json::json!(["b"]), &serde_json::json!([]), &serde_json::json!([]), &serde_json::json!([])]
    );
}

#[test]
fn the_trace_of_a_finding_is_replayed_event_by_event() {
    let text = "channel a, b : {0..1}\nMAIN = a?x -> (b!x -> MAIN |~| STOP)\nSPEC = a?x -> b!x -> SPEC\n\
                assert SPEC [F= MAIN\nassert SPEC [T= a.0 -> b.1 -> STOP";
    let folder = Folder::new(&[("s.csp", text)]);
    let replayed = |options: &[&str]| {
        folder.run("check", "s.csp", &[options, &["--trace", "t.json"]].concat());
        let out = folder.run("replay", "t.json", &[]);
        (out.status.code().unwrap(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    // A deadlock of MAIN, with τ as a step; then the trace of an assertion, without.
    let (status, said) = replayed(&["--no-assertions"]);
    assert!(status == 0 && said.contains("REPLAYED") && said.contains("2 steps"), "{said}");
    let (status, said) = replayed(&["--no-deadlock"]);
    assert!(status == 0 && said.contains("1 step\n"), "{said}");
    let written = std::fs::read_to_string(folder.path("t.json")).unwrap();
    std::fs::write(folder.path("t.json"), written.replace("a.", "b.")).unwrap();
    let out = folder.run("replay", "t.json", &[]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stdout).contains("possible here: a.0, a.1"));
}

#[test]
fn formulas_of_a_file_speak_of_events() {
    let folder = Folder::new(&[
        ("s.csp", "channel a, b : {0..1}\nMAIN = a?x -> b!x -> MAIN"),
        ("f.ltl", "G ([a.1] => X [b.1])\nG ([a] => X [b.0])\n"),
    ]);
    let (result, status) = folder.check("s.csp", &["--ltl-file", "f.ltl"]);
    let verdicts: Vec<&str> =
        result["temporal"].as_array().unwrap().iter().map(|t| t["verdict"].as_str().unwrap()).collect();
    assert_eq!((status, verdicts), (1, vec!["holds", "violated"]));
}

#[test]
fn a_trace_that_is_asked_for_may_stand_after_one_colon_or_two() {
    let folder = Folder::new(&[(
        "s.csp",
        "channel a\nP = a -> P\nassert P :[has trace]: <a, a>\nassert P :[has trace] <a, a>\n\
         assert not STOP :[has trace] <a>",
    )]);
    assert_eq!(folder.check("s.csp", &[]).1, 0);
}

/// Other tools take the guide from a clause of the machine; here it is an option, and the clause is told of.
#[test]
fn a_machine_that_names_its_guide_is_checked_without_it_unless_an_option_names_it() {
    let text = MACHINE.replacen("VARIABLES", "CSP_CONTROLLER guide Main\nVARIABLES", 1);
    let guide = "channel inc : {1..2}\nMain = inc.1 -> SKIP";
    let folder = Folder::new(&[("Counter.mch", &text), ("guide.csp", guide)]);
    let alone = folder.run("check", "Counter.mch", &[]);
    assert_eq!(alone.status.code(), Some(1), "n reaches 3 by itself");
    let said = String::from_utf8_lossy(&alone.stderr).into_owned() + &String::from_utf8_lossy(&alone.stdout);
    assert!(said.contains("a process guides this machine only if --csp names its script"), "{said}");
    let script = folder.path("guide.csp");
    let guided = folder.run("check", "Counter.mch", &["--csp", script.to_str().unwrap(), "--main", "Main"]);
    assert_eq!(guided.status.code(), Some(0));
}
