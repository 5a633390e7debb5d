//! Processes that guide machines: values, formulas, symmetry, other languages than B, and random processes beside the same
//! control written in B.
//!
//! Expected counts are worked out by hand in the comments.

use crate::support::rng::Rng;
use serde_json::Value;
use std::process::Command;
use tempfile::TempDir;

/// The result of a check and its exit status; `{}` if there is none.
fn check(machine: (&str, &str), script: &str, options: &[&str]) -> (Value, i32, String) {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let path = folder.path().join(machine.0);
    std::fs::write(&path, machine.1).unwrap();
    std::fs::write(folder.path().join("p.csp"), script).unwrap();
    let mut bombus = Command::new(env!("CARGO_BIN_EXE_bombus"));
    bombus.arg("check").arg(&path).arg("--json").args(options).current_dir(folder.path());
    if !script.is_empty() {
        bombus.args(["--csp", "p.csp"]);
    }
    let out = bombus.output().unwrap();
    let messages = String::from_utf8_lossy(&out.stderr).into_owned();
    let result = serde_json::from_slice(&out.stdout).unwrap_or_else(|_| serde_json::json!({}));
    (result, out.status.code().unwrap_or(-1), messages)
}

fn counts(result: &Value) -> (u64, u64) {
    (result["states"].as_u64().unwrap(), result["transitions"].as_u64().unwrap())
}

#[test]
fn a_parameter_without_bounds_takes_the_values_of_the_process_alone() {
    let machine = "MACHINE M\nVARIABLES n\nINVARIANT n : NATURAL\nINITIALISATION n := 0\nOPERATIONS\n\
                   add(k) = PRE k : NATURAL THEN n := n + k END;\n r <-- get(k) = PRE k : INTEGER THEN r := n + k END\nEND\n";
    let script = "channel add : {0..100}\nchannel get : {0..100}.{0..200}\n\
                  MAIN = add.70 -> get.30?x -> (if x == 100 then SKIP else STOP)";
    let (result, status, _) = check(("M.mch", machine), script, &[]);
    // Start, after add, after get, terminated: nothing is left to choose, so nothing is left out.
    assert_eq!((status, counts(&result)), (0, (4, 3)), "{result}");
}

#[test]
fn values_of_all_kinds_meet_their_counterparts() {
    let machine = "MACHINE M\nSETS C = {red, green}\nFREETYPES T = none, one(0..3)\nVARIABLES v\nINVARIANT v : BOOL\n\
                   INITIALISATION v := FALSE\nOPERATIONS\n\
                   flag(b) = PRE b : BOOL THEN v := b END;\n\
                   keep(s) = PRE s : POW(0..60) THEN skip END;\n\
                   pair(p) = PRE p : C*(0..3) THEN skip END;\n\
                   list(q) = PRE q : seq(C) & size(q) <= 2 THEN skip END;\n\
                   r <-- tell = r := {1,50};\n free(t) = PRE t : {none, one(2)} THEN skip END\nEND\n";
    let script = "datatype C = red | green\ndatatype T = none | one.{0..3}\ndatatype B = TRUE | FALSE\n\
                  channel flag : B\nchannel keep : {{1},{1,2},{77}}\nchannel pair : {(red,1),(green,2)}\n\
                  channel list : {<>,<red>,<red,green>,<red,red,red>}\nchannel tell : {{1},{1,50}}\nchannel free : T\n\
                  channel v : Bool\n\
                  MAIN = flag.TRUE -> v?x -> keep?s -> pair?p -> list?q -> tell?r -> free?t -> \
                  (if x then SKIP else STOP)";
    let (result, status, messages) = check(("M.mch", machine), script, &[]);
    assert_eq!(status, 0, "{messages} {result}");
    // One way for the flag and the probe, 2 sets, 2 pairs, 3 lists, 1 result, 2 members of T, 1 end. A value is forgotten
    // after its step, but for x.
    assert_eq!(counts(&result), (9, 1 + 1 + 2 + 2 + 3 + 1 + 2 + 1), "{result}");
    let record = "MACHINE M\nVARIABLES v\nINVARIANT v : BOOL\nINITIALISATION v := TRUE\nOPERATIONS\n\
                  put(r) = PRE r : struct(a : 0..1) THEN skip END\nEND\n";
    let (_, status, messages) = check(("M.mch", record), "channel put : {0..1}\nMAIN = put.1 -> MAIN", &[]);
    assert_eq!(status, 2);
    assert!(messages.contains("put.1"), "{messages}");
}

const COUNTER: &str = "MACHINE Counter\nVARIABLES n\nINVARIANT n : 0..3\nINITIALISATION n := 0\nOPERATIONS\n\
    inc(k) = PRE k : 1..2 & n + k <= 3 THEN n := n + k END;\n r <-- get = r := n;\n reset = n := 0\nEND\n";

#[test]
fn formulas_speak_of_the_machine_and_of_the_process() {
    let script = "channel inc : {1..2}\nchannel get : {0..3}\nchannel reset, ring\n\
                  MAIN = inc.1 -> inc.2 -> get?x -> ring -> reset -> MAIN";
    for (option, formula, holds) in [
        ("--ltl", "G ([ring] => X {n = 0} or {n = 3})", true),
        ("--ltl", "G ([inc.1] => {n = 0})", true),
        ("--ltl", "G ([inc(2)] => {n = 0})", false),
        ("--ltl", "G ([get.3] => X [ring])", true),
        ("--ltl", "G not [get.2]", true),
        ("--ltl", "G F e(ring)", true),
        ("--ltl", "F G {n = 3}", false),
        ("--ctl", "AG EF {n = 0}", true),
    ] {
        let (result, status, messages) = check(("Counter.mch", COUNTER), script, &[option, formula]);
        assert_eq!(status, if holds { 0 } else { 1 }, "{formula}: {messages} {result}");
        assert_eq!(result["temporal"][0]["formula"], formula);
        if !holds {
            assert_eq!(result["violation"]["kind"], "ltl", "{formula}");
        }
    }
    let (_, status, messages) = check(("Counter.mch", COUNTER), script, &["--ltl", "G {m = 0}"]);
    assert_eq!(status, 2);
    assert!(messages.contains("`m`"), "{messages}");
}

#[test]
fn elements_that_the_process_does_not_name_are_interchangeable() {
    let machine = "MACHINE M\nSETS S; T\nVARIABLES s, t\nINVARIANT s <: S & t <: T\nINITIALISATION s := {} || t := {}\n\
                   OPERATIONS\n put(x) = PRE x : S & x /: s THEN s := s \\/ {x} END;\n\
                   add(y) = PRE y : T & y /: t THEN t := t \\/ {y} END;\n clear = BEGIN s := {} || t := {} END\nEND\n";
    let any = "channel put, add, clear\nMAIN = put -> MAIN [] add -> MAIN [] clear -> MAIN";
    let sizes = ["--set", "S=3", "--set", "T=3"];
    let run = |script: &str, symmetry: bool| {
        let more: &[&str] = if symmetry { &["--symmetry", "exact"] } else { &[] };
        let (result, status, messages) = check(("M.mch", machine), script, &[&sizes, more].concat());
        assert_eq!(status, 0, "{messages}");
        (result["states"].as_u64().unwrap(), result["reductions"]["symmetric_sets"].clone())
    };
    assert_eq!(run(any, false).0, 64);
    // Only the number of elements counts.
    assert_eq!(run(any, true), (16, serde_json::json!(["S", "T"])));
    let one = "datatype S = S1 | S2 | S3\nchannel put : {S1}\nchannel add, clear\n\
               MAIN = put.S1 -> MAIN [] add -> MAIN [] clear -> MAIN";
    // S1 is in or not, S2 and S3 never are.
    assert_eq!(run(one, false).0, 16);
    assert_eq!(run(one, true).0, 8);
    let all = "datatype S = S1 | S2 | S3\nchannel put : S\nchannel add, clear\n\
               MAIN = put?x -> MAIN [] add -> MAIN [] clear -> MAIN";
    // All of S are named: 8 subsets, 4 sizes of subsets of T.
    assert_eq!(run(all, true), (32, serde_json::json!(["T"])));
    let (result, ..) = check(("M.mch", machine), all, &[&sizes[..], &["--symmetry", "exact"]].concat());
    assert!(result["warnings"].to_string().contains("--symmetry is refused for S:"), "{result}");
}

#[test]
fn all_valuations_count_where_the_process_names_elements() {
    let machine = "MACHINE M\nSETS S\nCONSTANTS c\nPROPERTIES c : S\nVARIABLES n\nINVARIANT n : 0..1\n\
                   INITIALISATION n := 0\nOPERATIONS hit(x) = PRE x : S & x = c THEN n := 1 END\nEND\n";
    let script = "datatype S = S1 | S2\nchannel hit : S\nMAIN = hit.S2 -> RUN({|hit|})";
    // Whatever the constant is called elsewhere, here it may be the element that the process waits for, or the other.
    let (result, _, messages) = check(("M.mch", machine), script, &["--set", "S=2", "--no-deadlock"]);
    assert_eq!(result["constants"], 2, "{messages}");
    assert_eq!(counts(&result), (3, 2));
}

#[test]
fn a_process_guides_a_specification_in_z() {
    let spec = "\\begin{zed} [N] \\\\ S \\defs [a : \\power N] \\\\ Init \\defs [S' | a' = \\emptyset] \\\\\n\
                Add \\defs [\\Delta S; x? : N | x? \\notin a \\land a' = a \\cup \\{x?\\}] \\\\\n\
                Size \\defs [\\Xi S; n! : \\nat | n! = \\# a] \\end{zed}";
    let script = "datatype N = N1 | N2\nchannel Add : N\nchannel Size : {0..2}\n\
                  MAIN = Add?x -> Size?n -> if n == 2 then SKIP else MAIN";
    let (result, status, messages) = check(("S.tex", spec), script, &[]);
    assert_eq!(status, 0, "{messages} {result}");
    // Empty; one of two added, told; the other added, told; terminated.
    assert_eq!(counts(&result), (1 + 2 + 2 + 1 + 1 + 1, 2 + 2 + 2 + 1 + 1));
}

#[test]
fn the_result_is_the_same_for_any_number_of_workers() {
    let script = "channel inc : {1..2}\nchannel get : {0..3}\nchannel reset\nchannel own : {0..9}\n\
                  P(i) = own.i -> P((i + 1) % 10)\nC = inc?k -> C [] get?x -> C [] reset -> C\nMAIN = C ||| P(0) ||| P(5)";
    let results: Vec<Value> = ["1", "2", "16"]
        .iter()
        .map(|n| {
            let (mut result, _, _) = check(("Counter.mch", COUNTER), script, &["--workers", n]);
            for field in ["model", "workers", "seconds", "time_shares", "peak_memory_bytes"] {
                result.as_object_mut().unwrap().remove(field);
            }
            result
        })
        .collect();
    // 4 values, 10 × 10 states of the two others; from each value one get and one reset, 5 ways to add in all.
    assert_eq!(counts(&results[0]), (400, 400 * 2 + 400 * 2 + 500));
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

/// A random process with the operations of a counter, as a script and as control written in B.
fn random_pair(rng: &mut Rng) -> (String, String) {
    const STATES: usize = 5;
    let mut edges: [Vec<(usize, usize, usize)>; 5] = Default::default();
    let mut text = String::from(
        "channel inc : {0..3}\nchannel get : {0..3}\nchannel roll : {0..1}.{0..3}\nchannel reset\nchannel own : {0..1}\n\
         channel mark : {0..4}\nMAIN = P0\n",
    );
    for s in 0..STATES {
        let mut offers = vec![format!("mark.{s} -> P{s}")];
        for _ in 0..rng.below(5) {
            let (kind, value, to) = (rng.below(5), rng.below(4), rng.below(STATES));
            let event = match kind {
                0 => format!("inc.{value}"),
                1 => format!("get.{value}"),
                // The result is left open: whatever it is, the process goes on.
                2 => format!("roll.{}?x", value % 2),
                3 => "reset".to_string(),
                _ => format!("own.{}", value % 2),
            };
            let value = if matches!(kind, 2 | 4) { value % 2 } else { value };
            offers.push(format!("{event} -> P{to}"));
            edges[kind].push((s, value, to));
        }
        text.push_str(&format!("P{s} = {}\n", offers.join(" [] ")));
    }
    let set = |kind: usize| {
        let all: Vec<String> = edges[kind].iter().map(|(s, v, t)| format!("({s},{v},{t})")).collect();
        if all.is_empty() { "{} & 1 = 2".to_string() } else { format!("{{{}}}", all.join(",")) }
    };
    let control = format!(
        "MACHINE Control\nVARIABLES n, pc\nINVARIANT n : 0..3 & pc : 0..4\nINITIALISATION n := 0 || pc := 0\nOPERATIONS\n\
         inc(k,t) = PRE k : 1..2 & n + k <= 3 & t : 0..4 & (pc,k,t) : {} THEN n := n + k || pc := t END;\n\
         r <-- get(t) = PRE t : 0..4 & (pc,n,t) : {} THEN r := n || pc := t END;\n\
         r <-- roll(k,t) = PRE k : 0..1 & t : 0..4 & (pc,k,t) : {} THEN pc := t || \
         ANY x WHERE x : {{k, n}} THEN r := x || n := x END END;\n\
         reset(t) = PRE t : 0..4 & #v.(v : 0..3 & (pc,v,t) : {}) THEN n := 0 || pc := t END;\n\
         own(k,t) = PRE k : 0..1 & t : 0..4 & (pc,k,t) : {} THEN pc := t END;\n mark = skip\nEND\n",
        set(0),
        set(1),
        set(2),
        set(3),
        set(4)
    );
    (text, control)
}

#[test]
fn random_processes_guide_as_the_same_control_in_b() {
    let machine = "MACHINE M\nVARIABLES n\nINVARIANT n : 0..3\nINITIALISATION n := 0\nOPERATIONS\n\
                   inc(k) = PRE k : 1..2 & n + k <= 3 THEN n := n + k END;\n r <-- get = r := n;\n\
                   r <-- roll(k) = PRE k : 0..1 THEN ANY x WHERE x : {k, n} THEN r := x || n := x END END;\n\
                   reset = n := 0\nEND\n";
    for seed in 0..40 {
        let (script, control) = random_pair(&mut Rng::new(seed));
        let (guided, status, messages) = check(("M.mch", machine), &script, &[]);
        assert_eq!(status, 0, "seed {seed}: {messages}");
        let (alone, status, messages) = check(("Control.mch", &control), "", &[]);
        assert_eq!(status, 0, "seed {seed}: {messages}");
        assert_eq!(counts(&guided), counts(&alone), "seed {seed}: {script}\n{control}");
    }
}

#[test]
fn a_trace_tells_results_from_parameters_and_its_steps_of_the_machine_are_replayed() {
    let machine = "MACHINE M\nVARIABLES x\nINVARIANT x : 0..3\nINITIALISATION x := 0\nOPERATIONS\n\
                   inc(n) = PRE n : 1..2 & x + n <= 3 THEN x := x + n END;\n r <-- get = r := x\nEND\n";
    let script = "channel inc : {1}\nchannel get : {0..3}\nchannel own\nMAIN = inc.1 -> own -> get?v -> MAIN";
    let folder: TempDir = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("M.mch"), machine).unwrap();
    std::fs::write(folder.path().join("p.csp"), script).unwrap();
    let run = |args: &[&str]| {
        let mut bombus = Command::new(env!("CARGO_BIN_EXE_bombus"));
        bombus.args(args).current_dir(folder.path()).output().unwrap()
    };
    let formula = ["--no-deadlock", "--ltl", "G {x < 2}", "--json", "--trace", "t.json"];
    let out = run(&[&["check", "M.mch", "--csp", "p.csp"], &formula[..]].concat());
    let result: Value = serde_json::from_slice(&out.stdout).unwrap();
    let trace = &result["violation"]["trace"];
    assert_eq!(trace[1]["params"], serde_json::json!({"n": "1"}));
    assert_eq!(trace[2]["event"], "own");
    assert_eq!(
        (&trace[3]["params"], &trace[3]["results"]),
        (&serde_json::json!({}), &serde_json::json!({"r": "1"}))
    );
    let out = run(&["replay", "t.json"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("4 steps") && said.contains("1 steps of the process"), "{said}");
}

#[test]
fn a_finding_of_the_machine_is_explained_at_its_place_and_a_process_that_is_not_there_is_named() {
    let machine = "MACHINE M\nCONSTANTS most\nPROPERTIES most = 2\nVARIABLES n\nINVARIANT n : 0..9 & n <= most & n /= 3\n\
                   INITIALISATION n := 0\nOPERATIONS\n add(k) = PRE k : 1..3 & n < 10 THEN n := n + k END\nEND\n";
    let script = "channel add : {1..3}\nMAIN = add?k -> MAIN";
    let (result, status, _) = check(("M.mch", machine), script, &[]);
    assert_eq!((status, &result["violation"]["place"]["line"]), (1, &5.into()), "{result:#}");
    let why = result["violation"]["explanation"].to_string();
    assert!(
        why.contains("n = 3") && result["incomplete_because"].to_string().contains("first finding"),
        "{why}"
    );
    let (result, _, _) = check(("M.mch", machine), script, &["--keep-going"]);
    let found: Vec<&str> = std::iter::once(&result["violation"])
        .chain(result["other_violations"].as_array().unwrap())
        .map(|v| v["property"].as_str().unwrap())
        .collect();
    for conjunct in ["n : 0..9", "n <= most", "n /= 3"] {
        assert!(found.contains(&conjunct), "{found:?}");
    }
    let (_, status, said) = check(("M.mch", machine), script, &["--main", "Q"]);
    assert!(status == 2 && said.contains("the script has no process `Q`"), "{said}");
}
