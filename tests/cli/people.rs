//! The command line as people use it: several models, folders, standard input, colours, refusals with a way out.

use crate::support::binary::{Folder, bombus, json};
use serde_json::Value;
use std::io::Write;
use std::process::{Output, Stdio};

const GOOD: &str =
    "MACHINE good VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS a = x := (x + 1) mod 4 END";
const BAD: &str =
    "MACHINE bad VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS a = x := x + 1 END";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("good.mch", GOOD);
    folder.write("bad.mch", BAD);
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    folder.bombus().args(args).output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn several_models_and_folders_are_checked_one_after_the_other_and_the_worst_status_counts() {
    let folder = folder();
    for args in [&["check", "good.mch", "bad.mch"][..], &["check", "."]] {
        let output = run(&folder, args);
        assert_eq!(output.status.code(), Some(1));
        assert!(out(&output).contains("VERIFIED    good") && out(&output).contains("VIOLATED    bad"));
        assert!(err(&output).contains("2 models: 1 verified, 1 violated"), "{}", err(&output));
    }
    let output = run(&folder, &["check", "good.mch", "good.mch"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_model_may_come_from_standard_input() {
    let mut child = bombus()
        .args(["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(BAD.as_bytes()).expect("the model is written");
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).starts_with("VIOLATED    bad"));
}

#[test]
fn a_result_is_never_written_over_a_model_and_what_cannot_be_written_is_refused_before_the_search() {
    let folder = folder();
    let output = run(&folder, &["check", "--json", "good.mch", "bad.mch"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(folder.path("good.mch")).expect("the model"), GOOD);
    assert!(err(&output).contains("over a model"), "{}", err(&output));
    for option in ["--trace", "--json", "--sarif"] {
        let output = run(&folder, &["check", "bad.mch", option, "no/such/folder.json"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(out(&output).is_empty() && err(&output).contains("cannot be written"), "{}", err(&output));
    }
}

#[test]
fn a_counterexample_may_be_written_in_several_forms_at_once() {
    let folder = folder();
    let output =
        run(&folder, &["check", "bad.mch", "-t", "a.json", "--trace", "a.html", "--trace", "a.prob2trace"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(["a.json", "a.html", "a.prob2trace"].iter().all(|f| folder.path(f).exists()));
    let page = std::fs::read_to_string(folder.path("a.html")).expect("the page");
    assert!(page.contains("4 is greater than 3"), "the page says why: {page}");
}

#[test]
fn a_forgotten_command_a_misspelt_file_and_a_missing_extension_have_a_way_out() {
    let folder = folder();
    assert!(err(&run(&folder, &["good.mch"])).contains("bombus check good.mch"));
    assert!(err(&run(&folder, &["check", "god.mch"])).contains("did you mean good.mch?"));
    assert_eq!(run(&folder, &["check", "good"]).status.code(), Some(0));
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let folder = folder();
    assert!(!out(&run(&folder, &["check", "bad.mch"])).contains('\u{1b}'));
    assert!(out(&run(&folder, &["check", "bad.mch", "--colour", "always"])).contains("\u{1b}[1;31mVIOLATED"));
}

#[test]
fn an_event_is_never_enabled_only_if_everything_was_seen() {
    let folder = Folder::new();
    let text = "MACHINE m VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0 OPERATIONS
        inc = x := (x + 1) mod 9; late = SELECT x = 8 THEN x := 0 END; none = SELECT x = 9 THEN x := 0 END END";
    folder.write("m.mch", text);
    let cut = out(&run(&folder, &["check", "m.mch", "--max-states", "3"]));
    assert!(cut.contains("not enabled so far:  late, none"), "{cut}");
    let whole = out(&run(&folder, &["check", "m.mch"]));
    assert!(whole.contains("never enabled  none"), "{whole}");
}

#[test]
fn a_rejected_model_is_told_to_programs_with_places_and_help() {
    let folder = Folder::new();
    folder.write("m.mch", "MACHINE m VARIABLES x INVARIANT x : 0..3 & y > 1 INITIALISATION x := 0 END");
    let output = run(&folder, &["check", "m.mch", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let result = json(&output);
    assert_eq!(result["verdict"], "rejected");
    let first = &result["diagnostics"][0];
    assert_eq!(first["severity"], "error");
    assert!(first["message"].as_str().expect("a message").contains("unknown identifier `y`"));
    assert_eq!((&first["place"]["line"], &first["place"]["column"]), (&Value::from(1), &Value::from(44)));
    run(&folder, &["check", "m.mch", "--sarif", "out.sarif"]);
    let sarif: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("out.sarif")).expect("the file"))
            .expect("JSON");
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startColumn"], 44);
}

#[test]
fn eval_solves_for_names_that_nobody_declared_and_shows_witnesses() {
    let folder = folder();
    let solved = out(&run(&folder, &["eval", "x:1..5 & x*x>10"]));
    assert_eq!(solved.trim(), "TRUE\n  x = 4");
    assert_eq!(out(&run(&folder, &["eval", "x:1..5 & x*x>100"])).trim(), "FALSE");
    let witness = out(&run(&folder, &["eval", "#y.(y:1..9 & y mod 7 = 6)"]));
    assert_eq!(witness.trim(), "TRUE\n  y = 6");
    for (formula, value) in
        [("x > 3", "x = 4"), ("x : NATURAL & x mod 7 = 5", "x = 5"), ("!x.(x < 3)", "x = 3")]
    {
        let told = out(&run(&folder, &["eval", formula]));
        assert!(told.contains(value), "nothing bounds x in {formula}, and yet a value shows it: {told}");
    }
    let undeclared = err(&run(&folder, &["eval", "x + 1"]));
    assert!(undeclared.contains("only predicates are solved for names"), "{undeclared}");
    let told = json(&run(&folder, &["eval", "1+1", "--json"]));
    assert_eq!(told["value"], "2");
    run(&folder, &["check", "bad.mch", "--trace", "t.json"]);
    let at = out(&run(&folder, &["eval", "x + 1", "--model", "bad.mch", "--at", "t.json"]));
    assert_eq!(at.trim(), "5", "x is 4 in the last state of the trace");
}

#[test]
fn the_animator_takes_steps_by_name_and_says_why_an_operation_is_not_possible() {
    let folder = Folder::new();
    let text = "MACHINE m SETS P = {p, q} VARIABLES s INVARIANT s <: P INITIALISATION s := {} OPERATIONS
        put(x) = SELECT x : P - s THEN s := s \\/ {x} END; get = SELECT s = P THEN s := {} END END";
    folder.write("m.mch", text);
    let mut child = folder
        .bombus()
        .args(["animate", "m.mch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // A step by its name begins the machine, because there is one way to begin.
    let commands = "put(p)\nwhy get\nwhy not put(p)\nundo 2\nINITIALISATION\nput x=p\nundo\nredo\nput x=q\nget\n\
                    goto 2\nstate\nrandom 3\n";
    child.stdin.take().expect("a pipe").write_all(commands.as_bytes()).expect("commands are written");
    let output = child.wait_with_output().expect("the binary ends");
    let said = out(&output);
    assert_eq!(output.status.code(), Some(0), "{said}\n{}", err(&output));
    assert!(said.contains("did put(x=p)") && said.contains("did put(x=q)"), "{said}");
    assert!(said.contains("false: s = P") && said.contains("only on the right: q"), "{said}");
    assert!(said.contains("for x = p") && said.contains("false: x : P - s"), "{said}");
    assert!(said.matches("did INITIALISATION").count() == 2, "{said}");
    assert!(said.contains("after 2 steps"), "{said}");
}

#[test]
fn options_stand_under_headings_and_completions_and_a_manual_are_made_of_them() {
    let folder = folder();
    let help = out(&run(&folder, &["check", "--help"]));
    for heading in ["Scope:", "What to check:", "Temporal formulas:", "Output:", "Examples:"] {
        assert!(help.contains(heading), "{heading}");
    }
    assert!(out(&run(&folder, &["completions", "bash"])).contains("--keep-going"));
    assert!(out(&run(&folder, &["manual"])).contains("BOMBUS CHECK"));
    assert_eq!(run(&folder, &["check", "good.mch", "-q", "-j", "1"]).status.code(), Some(0));
}

#[test]
fn common_slips_have_a_way_out() {
    let folder = Folder::new();
    let machine = |invariant: &str, body: &str| {
        format!(
            "MACHINE m VARIABLES x INVARIANT {invariant} INITIALISATION x := 0 OPERATIONS op = {body} END"
        )
    };
    let cases = [
        (
            "MACHINE m VARIABLES x INVARIANTS x : 0..3 INITIALISATION x := 0 END".to_string(),
            "did you mean the clause INVARIANT?",
        ),
        (machine("x : 0..3", "BEGIN x = x + 1 END"), "a value is assigned by `:=`"),
        (machine("x : 0..3", "BEGIN x == x + 1 END"), "a value is assigned by `:=`"),
        (machine("x : 0..3 and x > 0", "skip"), "«and» is written `&`"),
        (machine("x : 0..3", "IF x = 1 || x = 2 THEN skip END"), "«or» is written `or`"),
        (machine("x : 0..3 & x != 2", "skip"), "«not equal» is written `/=`"),
        (machine("crad({x}) < 3", "skip"), "did you mean `card`?"),
        (machine("(x : 0..3 & (x > 2 or x < 9", "skip"), "this `(` is not closed"),
        (machine("x : 0..3", "WHEN x = 1 THEN skip END"), "a guarded substitution begins with SELECT"),
        (machine("x : 0..3", "skip; other() = skip"), "no parentheses are written"),
        (machine("x : 0..3", "PRE t : 0..3 THEN x := t END"), "if `t` is a parameter, declare it: op(t)"),
        (machine("x : 0..3", "BEGIN t := x END"), "what is assigned to is declared under VARIABLES"),
        (machine("x : 0..3", "SELECT x <> 2 THEN skip END"), "«not equal» is written `/=`"),
        (machine("x : 0..3", "BEGIN x := card({x} + {1}) END"), "sets are joined by `\\/`"),
        (machine("x : 0..3;", "skip"), "a clause ends without `;`"),
        ("MACHINE m SETS COL = {red; green} END".to_string(), "elements are separated by commas"),
        (
            "MACHINE m SETS COL = {red} CONSTANTS c PROPERTIES c = crad(COL) END".to_string(),
            "did you mean `card`?",
        ),
    ];
    for (text, way_out) in cases {
        folder.write("m.mch", &text);
        let said = err(&run(&folder, &["check", "m.mch"]));
        assert!(said.contains(way_out), "{text}\n{said}");
    }
}

#[test]
fn values_that_any_chose_stand_in_the_trace() {
    let folder = Folder::new();
    let text = "MACHINE m VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS
        pick = ANY y WHERE y : 3..4 & y > x + 3 THEN x := y END END";
    folder.write("m.mch", text);
    let said = out(&run(&folder, &["check", "m.mch"]));
    assert!(said.contains("1  pick   where y = 4"), "{said}");
}

#[test]
fn a_search_that_a_limit_ended_says_how_to_go_on() {
    let folder = Folder::new();
    let text =
        "MACHINE m VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0 OPERATIONS inc = x := x + 1 END";
    folder.write("m.mch", text);
    let output = run(&folder, &["check", "m.mch", "--max-states", "50", "--checkpoint", "saved"]);
    assert_eq!(output.status.code(), Some(3));
    let told = err(&output);
    let command = "bombus check m.mch --max-states 50 --checkpoint saved --resume saved";
    assert!(told.contains(&format!("to go on, with a higher limit: {command}")), "{told}");
    // The same words with another limit go on: the states so far are not counted again.
    let again =
        run(&folder, &["check", "m.mch", "--max-states", "90", "--checkpoint", "saved", "--resume", "saved"]);
    assert_eq!(again.status.code(), Some(3), "{}", err(&again));
    assert!(err(&again).contains(&command.replace("50", "90")), "{}", err(&again));
}

#[test]
fn every_command_of_the_examples_ends_as_their_page_says() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let page = std::fs::read_to_string(examples.join("README.md")).expect("the examples have a page");
    let mut commands = 0;
    for row in page.lines().filter_map(|line| line.strip_prefix("| `bombus ")) {
        let (command, rest) = row.split_once("` | ").expect("a command and its answer");
        let answer = rest.split(" |").next().unwrap_or_default();
        let output =
            bombus().current_dir(&examples).args(command.split(' ')).output().expect("the binary runs");
        let word = answer.to_uppercase();
        assert!(out(&output).starts_with(&word), "{command}: {}{}", out(&output), err(&output));
        commands += 1;
    }
    assert!(commands >= 8, "the page lists the examples");
}

#[test]
fn each_finding_of_a_state_is_explained_by_its_own_event() {
    let folder = Folder::new();
    folder.write(
        "sub.mch",
        "MACHINE sub VARIABLES x INVARIANT x : 0..5 INITIALISATION x := 2 OPERATIONS\n\
         put(k) = PRE x + k < 5 & k : 0..3 THEN x := x + k END;\n\
         drop(k) = PRE x - k > 0 & k : 0..3 THEN x := x - k END END",
    );
    folder.write(
        "twice.mch",
        "MACHINE twice INCLUDES sub OPERATIONS\n\
         more(k) = SELECT k : 0..3 THEN put(k) END;\n\
         less(k) = SELECT k : 0..3 THEN drop(k) END END",
    );
    let told = out(&run(&folder, &["check", "twice.mch", "--keep-going"]));
    assert!(told.contains("put is called at twice.mch:2:") && told.contains("more(k=3)   fails"), "{told}");
    assert!(told.contains("drop is called at twice.mch:3:") && told.contains("less(k=2)   fails"), "{told}");
}

#[test]
fn a_formula_without_a_value_is_one_finding_whatever_its_values_are() {
    let folder = Folder::new();
    folder.write(
        "m.mch",
        "MACHINE m VARIABLES x, f INVARIANT x : 0..4 & f : 0..1 +-> 0..4 INITIALISATION x := 1 || f := {0|->1}\n         OPERATIONS up = SELECT x < 4 THEN x := x + 1 END;\n         look = BEGIN x := f(x) END; power = BEGIN x := 2 ** (0 - x) END; rest = BEGIN x := x mod (0 - x) END END",
    );
    for engine in ["explicit", "evaluate"] {
        let result = json(&run(&folder, &["check", "m.mch", "--keep-going", "--json", "--engine", engine]));
        let others = result["other_violations"].as_array().expect("more than one finding");
        let all: Vec<&Value> = std::iter::once(&result["violation"]).chain(others).collect();
        let mut properties: Vec<&str> = all.iter().filter_map(|v| v["property"].as_str()).collect();
        properties.sort_unstable();
        let expected = [
            "function applied outside its domain, to 1",
            "mod needs a dividend >= 0 and a divisor > 0: 1 mod -1",
            "the exponent is negative: -1",
        ];
        assert_eq!(properties, expected, "{engine}");
    }
}

#[test]
fn elements_of_a_temporal_counterexample_are_numbered_in_the_order_of_their_first_use() {
    let folder = Folder::new();
    folder.write(
        "m.mch",
        "MACHINE m SETS ID VARIABLES s INVARIANT s <: ID INITIALISATION s := {} OPERATIONS\n         put(i) = SELECT i : ID & i /: s THEN s := s \\/ {i} END;\n         take(i) = SELECT i : s THEN s := s - {i} END END",
    );
    for formula in
        [&["--ltl", "G {card(s) < 2}"][..], &["--ltl", "G F {s = {}}"], &["--ctl", "AG {card(s) < 2}"]]
    {
        let told = out(&run(&folder, &[&["check", "m.mch", "--set", "ID=3"], formula].concat()));
        let first = told.split("put(i=").nth(1).and_then(|rest| rest.get(..3));
        assert_eq!(first, Some("ID1"), "{told}");
        let second = told.split("put(i=").nth(2).and_then(|rest| rest.get(..3));
        assert!(second.is_none_or(|second| second == "ID2"), "{told}");
    }
    // What a formula names keeps its name.
    let told = out(&run(&folder, &["check", "m.mch", "--set", "ID=3", "--ltl", "G {ID3 /: s}"]));
    assert!(told.contains("put(i=ID3)"), "{told}");
}

#[test]
fn a_renamed_trace_names_the_same_element_in_the_finding_and_in_its_explanation() {
    let folder = Folder::new();
    folder.write(
        "m.mch",
        "MACHINE m SETS ID VARIABLES st INVARIANT st : ID +-> 0..3 INITIALISATION st := {} OPERATIONS\n\
         put(i) = SELECT i : ID & st = {} THEN st(i) := 1 END;\n\
         sw(i) = SELECT i : ID & st /= {} THEN st(i) := st(i) END END",
    );
    let told = out(&run(&folder, &["check", "m.mch"]));
    let named: Vec<&str> =
        told.split("outside its domain, to ").skip(1).filter_map(|rest| rest.get(..3)).collect();
    assert!(named.len() >= 2 && named.iter().all(|n| *n == named[0]), "{told}");
    assert!(told.contains(&format!("sw(i={})   fails", named[0])), "{told}");
}

#[test]
fn every_conjunct_that_is_broken_has_a_shortest_trace_of_its_own() {
    let folder = Folder::new();
    // After three steps two conjuncts are false at once; when the third one is, the first one is false as well.
    let text =
        "MACHINE m VARIABLES x INVARIANT x < 3 & x /= 3 & x /= 5 & x : 0..9 INITIALISATION x := 0 OPERATIONS
        inc = SELECT x < 8 THEN x := x + 1 END END";
    folder.write("m.mch", text);
    for engine in ["explicit", "evaluate"] {
        let args = ["check", "m.mch", "--keep-going", "--no-deadlock", "--json", "--engine", engine];
        let result = json(&run(&folder, &args));
        let others = result["other_violations"].as_array().expect("a list").clone();
        let rows: Vec<(String, usize, usize)> = std::iter::once(&result["violation"])
            .chain(&others)
            .map(|v| {
                let property = v["property"].as_str().expect("a property").to_string();
                let steps = v["trace"].as_array().expect("a trace").len() - 1;
                (property, steps, v["formulas"].as_array().expect("formulas").len())
            })
            .collect();
        let wanted = [("x < 3", 3, 1), ("x /= 3", 3, 1), ("x /= 5", 5, 1)];
        assert_eq!(rows, wanted.map(|(p, steps, told)| (p.to_string(), steps, told)), "{engine}");
        assert_eq!(result["found"]["invariant"], 6, "states are counted, not conjuncts: {engine}");
    }
}

#[test]
fn the_step_that_fails_stands_in_every_form_of_the_trace() {
    let folder = Folder::new();
    folder.write(
        "sub.mch",
        "MACHINE sub VARIABLES x INVARIANT x : 0..5 INITIALISATION x := 0 OPERATIONS\n\
         put(k) = PRE k : 0..2 THEN x := k END END",
    );
    folder.write(
        "m.mch",
        "MACHINE m INCLUDES sub OPERATIONS\n\
         go(n) = SELECT n : 0..1 THEN ANY j WHERE j : 2..3 & j > n + 1 THEN put(j) END END END",
    );
    let mut args = vec!["check".to_string(), "m.mch".into(), "--keep-going".into()];
    let forms = ["txt", "html", "json", "mmd", "svg"];
    forms.iter().for_each(|form| args.extend(["--trace".into(), format!("t.{form}")]));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(run(&folder, &args).status.code(), Some(1));
    let read = |form: &str| std::fs::read_to_string(folder.path(&format!("t.{form}"))).expect("a file");
    assert!(read("txt").contains("1  go(n=0)   fails at sub.mch:2:14"), "{}", read("txt"));
    assert!(read("txt").contains("where j = 3") && read("txt").contains("put is called"), "{}", read("txt"));
    let row = read("html");
    let row = row.split("<tr class=\"step fails\">").nth(1).expect("the last row of the table fails");
    assert!(row.contains("go(n=0)") && row.contains("fails at sub.mch:2:14") && row.contains("where j = 3"));
    let told: Value = serde_json::from_str(&read("json")).expect("JSON");
    assert_eq!(told["failing_step"]["event"], "go");
    assert_eq!(told["failing_step"]["locals"]["j"], "3");
    assert!(read("mmd").contains("go(n=0) fails") && read("svg").contains("go(n=0) fails"));
}

#[test]
fn nothing_is_written_over_a_model_or_its_drawing_and_no_command_begins_before_its_files_can_be_written() {
    let folder = folder();
    let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\"><text data-b-text=\"x\">?</text></svg>";
    folder.write("bad.svg", drawing);
    for command in
        [&["check", "bad.mch", "--trace", "bad.svg"][..], &["check", "bad.mch", "--graph", "bad.svg"]]
    {
        let output = run(&folder, command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(err(&output).contains("over a drawing of a model"), "{}", err(&output));
    }
    assert_eq!(std::fs::read_to_string(folder.path("bad.svg")).expect("the drawing"), drawing);
    for option in ["--trace", "--json"] {
        let output = run(&folder, &["simulate", "bad.mch", option, "no/such/folder.json"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(out(&output).is_empty() && err(&output).contains("cannot be written"), "{}", err(&output));
    }
    folder.write("j.toml", "[[job]]\nmodel = \"good.mch\"\n");
    for option in ["--junit", "--html", "--json"] {
        for (file, why) in
            [("good.mch", "over a model"), ("no/such/r.x", "cannot be written"), ("j.toml", "jobs file")]
        {
            let output = run(&folder, &["batch", "j.toml", option, file]);
            assert_eq!(output.status.code(), Some(2), "{option} {file}");
            assert!(err(&output).contains(why) && out(&output).is_empty(), "{}", err(&output));
        }
    }
    assert_eq!(std::fs::read_to_string(folder.path("good.mch")).expect("the model"), GOOD);
    assert_eq!(run(&folder, &["scale", "good.mch", "--svg", "good.mch"]).status.code(), Some(2));
    let output = run(&folder, &["check", "good.mch", "--graph", "g.dot", "--project", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(out(&output).is_empty(), "an expression that is none is refused before the search");
    assert!(err(&output).starts_with("error: unknown identifier `nothing`"), "{}", err(&output));
}

#[test]
fn a_formula_is_evaluated_at_the_end_of_a_trace_of_the_model_beside_it() {
    let folder = folder();
    run(&folder, &["check", "bad.mch", "--trace", "t.prob2trace"]);
    assert_eq!(out(&run(&folder, &["eval", "x + 1", "--at", "t.prob2trace"])).trim(), "5");
    let missing = run(&folder, &["eval", "1", "--at", "nothing.json"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(
        out(&run(&folder, &["eval", "{n | n > 3 & n mod 2 = 1}"])).trim(),
        "/*@symbolic*/ {n | n > 3 & n mod 2 = 1}"
    );
}

#[test]
fn options_that_differ_from_those_of_a_saved_search_are_told_by_their_names() {
    let folder = Folder::new();
    let text =
        "MACHINE m VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0 OPERATIONS inc = x := x + 1 END";
    folder.write("m.mch", text);
    run(&folder, &["check", "m.mch", "--max-states", "50", "--checkpoint", "saved"]);
    let other =
        ["check", "m.mch", "--max-states", "90", "--resume", "saved", "--ltl", "G {x >= 0}", "--maxint", "7"];
    let output = run(&folder, &other);
    assert_eq!(output.status.code(), Some(2));
    let told = err(&output);
    assert!(told.contains("\n  --maxint: not given then, 7 now"), "{told}");
    assert!(told.contains("\n  --ltl: not given then, G {x >= 0} now"), "{told}");
    assert!(!told.contains("--set-size") && !told.contains("Asked"), "{told}");
}

#[test]
fn every_formula_that_is_violated_has_a_trace_of_its_own_beside_the_invariant() {
    let folder = Folder::new();
    let text = "MACHINE m VARIABLES x INVARIANT x < 3 & x : 0..9 INITIALISATION x := 0 OPERATIONS
        inc = SELECT x < 3 THEN x := x + 1 END; stay = SELECT x = 1 THEN skip END; back = SELECT x = 3 THEN x := 0 END END";
    folder.write("m.mch", text);
    let formulas =
        ["--ltl", "G F {x = 0}", "--ltl", "F {x = 2}", "--ctl", "AG {x < 2}", "--ltl", "F {x = 1}"];
    let args: Vec<&str> = ["check", "m.mch", "--keep-going", "--json"].into_iter().chain(formulas).collect();
    let result = json(&run(&folder, &args));
    let all: Vec<(String, String, usize)> = std::iter::once(&result["violation"])
        .chain(result["other_violations"].as_array().expect("a list"))
        .map(|v| {
            let word = |key: &str| v[key].as_str().expect("a word").to_string();
            (word("kind"), word("property"), v["trace"].as_array().expect("a trace").len())
        })
        .collect();
    let told = |kind: &str, property: &str, rows: usize| (kind.to_string(), property.to_string(), rows);
    let wanted = [
        told("invariant", "x < 3", 4),
        // INITIALISATION, inc, stay for ever.
        told("ltl", "G F {x = 0}", 3),
        told("ltl", "F {x = 2}", 3),
        told("ctl", "AG {x < 2}", 3),
    ];
    assert_eq!(all, wanted, "the formula that holds has no trace");
}

#[test]
fn a_goal_that_is_reached_is_called_so_and_named() {
    let folder = folder();
    let said = out(&run(&folder, &["check", "good.mch", "--goal", "x = 2 & x mod 2 = 0"]));
    assert!(said.starts_with("REACHED     good   goal: x = 2 & x mod 2 = 0"), "{said}");
    let result = json(&run(&folder, &["check", "good.mch", "--goal", "x = 2 & x mod 2 = 0", "--json"]));
    assert_eq!(result["violation"]["property"], "x = 2 & x mod 2 = 0");
}

#[test]
fn a_goal_that_is_not_reached_is_named_too() {
    let folder = folder();
    let said = out(&run(&folder, &["check", "good.mch", "--goal", "x = 7"]));
    assert!(said.starts_with("VERIFIED") && said.contains("  goal         not reached: x = 7\n"), "{said}");
    let said = out(&run(&folder, &["check", "good.mch", "--goal", "x = 7", "--max-states", "2"]));
    assert!(said.contains("  goal         not reached so far: x = 7\n"), "{said}");
}

#[test]
fn a_machine_whose_name_is_a_slip_for_the_name_of_its_file_is_told_of() {
    let folder = Folder::new();
    for (name, machine, slip) in
        [("Lock.mch", "Lokc", true), ("Lock2.mch", "Lock", false), ("lift_door.mch", "LiftDoor", false)]
    {
        folder.write(name, &GOOD.replace("MACHINE good", &format!("MACHINE {machine}")));
        let result = json(&run(&folder, &["check", name, "--json"]));
        let said = result["warnings"].to_string();
        assert_eq!(said.contains("the machine is called"), slip, "{name}: {said}");
    }
}
