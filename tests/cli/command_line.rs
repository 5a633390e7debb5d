//! What a user sees: the binary, its exit status, its JSON, its messages.

use crate::support::binary::{self, Folder, json, run as bombus};
use serde_json::Value;

struct Files {
    dir: Folder,
}

impl Files {
    fn new() -> Files {
        Files { dir: Folder::new() }
    }

    fn write(&self, name: &str, text: &str) -> String {
        self.dir.write(name, text).display().to_string()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const COUNTER: &str = "MACHINE counter VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS inc = BODY END";

fn counter(body: &str) -> String {
    COUNTER.replace("BODY", body)
}

/// Exit status, JSON and text say the same for each verdict, in both engines.
#[test]
fn the_three_channels_agree_on_every_verdict() {
    let files = Files::new();
    let cases = [
        ("x := (x + 1) mod 4", &[][..], 0, "verified", "VERIFIED"),
        ("x := x + 1", &[], 1, "violated", "VIOLATED"),
        ("PRE x < 3 THEN x := x + 1 END", &[], 1, "violated", "VIOLATED"),
        ("x := (x + 1) mod 4", &["--max-states", "2"], 3, "incomplete", "INCOMPLETE"),
        ("PRE x < 3 THEN x := x + 1 END", &["--no-deadlock"], 0, "verified", "VERIFIED"),
        ("x := x + 1", &["--no-invariant", "--max-states", "10"], 3, "incomplete", "INCOMPLETE"),
    ];
    for engine in ["evaluate", "compiled"] {
        for (i, (body, options, status, verdict, word)) in cases.iter().enumerate() {
            let model = files.write(&format!("m{i}.mch"), &counter(body));
            let mut args = vec!["check", &model, "--engine", engine];
            args.extend_from_slice(options);
            let plain = bombus(&args);
            assert_eq!(plain.status.code(), Some(*status), "{engine} {body} {options:?}");
            assert!(text(&plain.stdout).starts_with(word), "{}", text(&plain.stdout));
            args.push("--json");
            let with_json = bombus(&args);
            assert_eq!(with_json.status.code(), Some(*status));
            assert_eq!(json(&with_json)["verdict"], *verdict);
        }
    }
}

#[test]
fn an_unguarded_increment_leaves_its_range_and_is_reported_with_the_shortest_trace() {
    let files = Files::new();
    let model = files.write("m.mch", &counter("x := x + 1"));
    for engine in ["evaluate", "compiled"] {
        let j = json(&bombus(&["check", &model, "--json", "--engine", engine]));
        assert_eq!(j["violation"]["kind"], "invariant");
        let trace = j["violation"]["trace"].as_array().unwrap();
        // The initialisation and four increments, from the definition of the model.
        assert_eq!(trace.len(), 5);
        assert_eq!(trace[0]["event"], "$initialise_machine");
        assert_eq!(trace[4]["state"]["x"], "4");
    }
}

#[test]
fn keep_going_counts_everything_and_still_fails() {
    let files = Files::new();
    // x runs 0..6, three of the seven states break the invariant, the last one is stuck.
    let model = files.write("m.mch", &counter("SELECT x < 6 THEN x := x + 1 END"));
    for engine in ["evaluate", "compiled"] {
        let o = bombus(&["check", &model, "--json", "--keep-going", "--engine", engine]);
        assert_eq!(o.status.code(), Some(1));
        let j = json(&o);
        assert_eq!(j["states"], 7, "{engine}");
        assert_eq!(j["found"]["invariant"], 3);
        assert_eq!(j["found"]["deadlock"], 1);
        assert_eq!(j["prob"]["transitions"], 7);
    }
}

#[test]
fn an_error_names_file_line_column_and_shows_a_caret() {
    let files = Files::new();
    let model = files.write(
        "bad.mch",
        "MACHINE bad\nVARIABLES x\nINVARIANT x : 0..3 & y = 1\nINITIALISATION x := {}\nEND\n",
    );
    let o = bombus(&["check", &model]);
    assert_eq!(o.status.code(), Some(2));
    let err = text(&o.stderr);
    assert!(err.contains("bad.mch:3:22"), "{err}");
    assert!(err.contains('^'), "{err}");
    // All errors are shown, not only the first.
    assert!(err.matches("error:").count() >= 2, "{err}");
    assert!(o.stdout.is_empty());
}

#[test]
fn a_missing_file_is_rejected_with_its_name() {
    let o = bombus(&["check", "no/such/model.mch"]);
    assert_eq!(o.status.code(), Some(2));
    assert!(text(&o.stderr).contains("no/such/model.mch"));
}

#[test]
fn what_does_not_go_together_is_refused_and_not_ignored() {
    let files = Files::new();
    let model = files.write("m.mch", &counter("skip"));
    let options = [
        &["--por", "on", "--symmetry", "marker"][..],
        &["--checkpoint-every", "5"],
        &["--proviso", "level"],
        &["--ltl-engine", "tableau"],
    ];
    for option in options {
        let mut args = vec!["check", &model];
        args.extend_from_slice(option);
        let o = bombus(&args);
        assert_eq!(o.status.code(), Some(2), "{option:?}");
        assert!(text(&o.stderr).contains(option[0]), "{option:?}");
    }
}

#[test]
fn an_option_the_model_gives_no_meaning_to_is_refused() {
    let files = Files::new();
    let model = files.write("m.mch", &counter("skip"));
    for option in
        [&["--set", "NOSUCH=3"][..], &["--machine", "M"], &["--variants"], &["--abstract-levels", "1"]]
    {
        let mut args = vec!["check", &model];
        args.extend_from_slice(option);
        let o = bombus(&args);
        assert_eq!(o.status.code(), Some(2), "{option:?}");
        assert!(text(&o.stderr).contains(option[0]), "{option:?}");
    }
}

#[test]
fn an_option_another_formalism_gives_no_meaning_to_is_refused() {
    let files = Files::new();
    let net = files.write(
        "n.pnml",
        "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='p'><place id='a'/></page></net></pnml>",
    );
    let script = files.write("s.csp", "channel a\nMAIN = a -> MAIN");
    let guide = files.write("g.csp", "MAIN = SKIP");
    let of_nets = [
        &["--csp", &guide][..],
        &["--main", "P"],
        &["--csp-free", "t"],
        &["--operation", "T"],
        &["--engine", "evaluate"],
        &["--coverage"],
    ];
    let of_scripts = [
        &["--csp-free", "a"][..],
        &["--operation", "T"],
        &["--machine", "M"],
        &["--variants"],
        &["--abstract-levels", "0"],
        &["--all-constants"],
        &["--integers-in-scope"],
        &["--engine", "evaluate"],
    ];
    for (model, options) in [(&net, &of_nets[..]), (&script, &of_scripts)] {
        for option in options {
            let mut args = vec!["check", model];
            args.extend_from_slice(option);
            let o = bombus(&args);
            assert_eq!(o.status.code(), Some(2), "{option:?}");
            assert!(text(&o.stderr).contains(option[0]) && o.stdout.is_empty(), "{option:?}");
        }
    }
}

/// The initialisation of an included machine comes first, and is not at fault here.
#[test]
fn an_initialisation_without_outcome_is_shown_where_nothing_is_left() {
    let files = Files::new();
    files.write("Inc.mch", "MACHINE Inc VARIABLES c INVARIANT c : 0..3 INITIALISATION c := 0 END");
    let bodies = [("d :: {}", 5), ("BEGIN d := 0 END;\n\nd :: {d - c} - {0}", 7)];
    for (body, line) in bodies {
        let model = files.write(
            "Out.mch",
            &format!(
                "MACHINE Out\nINCLUDES Inc\nVARIABLES d\nINVARIANT d : 0..3 INITIALISATION\n{body}\nEND"
            ),
        );
        let result = json(&bombus(&["check", &model, "--json"]));
        assert_eq!(result["violation"]["property"], "INITIALISATION has no outcome");
        let place = &result["violation"]["place"];
        assert!(place["file"].as_str().unwrap().ends_with("Out.mch"), "{place}");
        assert_eq!(place["line"], line, "{body}");
    }
}

#[test]
fn one_folder_cannot_hold_the_certificates_of_several_models() {
    let files = Files::new();
    let [first, second] = ["a.mch", "b.mch"].map(|name| files.write(name, &counter("skip")));
    let folder = files.dir.path("certificate");
    let o = bombus(&["check", &first, &second, "--certificate", &folder.display().to_string()]);
    assert_eq!(o.status.code(), Some(2));
    assert!(text(&o.stderr).contains("--certificate") && !folder.exists());
}

/// A function that we do not have may mean more than the body that stands in for it.
#[test]
fn a_stand_in_for_an_external_function_verifies_nothing() {
    let files = Files::new();
    let model = files.write(
        "m.mch",
        "MACHINE m DEFINITIONS EXTERNAL_FUNCTION_NOSUCH == INTEGER --> INTEGER; NOSUCH(x) == 0
         VARIABLES x INVARIANT x = 0 INITIALISATION x := 0 OPERATIONS a = x := NOSUCH(5) END",
    );
    for engine in ["evaluate", "compiled"] {
        let o = bombus(&["check", &model, "--engine", engine]);
        assert_eq!(o.status.code(), Some(3), "{engine}");
        assert!(text(&o.stdout).contains("NOSUCH"), "{engine}");
    }
}

/// SCOPE keeps states from being expanded; x = 5, which breaks the invariant, lies beyond it.
#[test]
fn states_that_scope_leaves_out_make_the_run_incomplete() {
    let files = Files::new();
    let model = files.write(
        "m.mch",
        "MACHINE m DEFINITIONS SCOPE == x < 3 VARIABLES x INVARIANT x < 5 INITIALISATION x := 0
         OPERATIONS inc = x := x + 1 END",
    );
    for engine in ["evaluate", "compiled"] {
        let o = bombus(&["check", &model, "--engine", engine, "--json"]);
        assert_eq!(o.status.code(), Some(3), "{engine}");
        assert!(json(&o)["incomplete_because"][0].as_str().unwrap().contains("SCOPE"), "{engine}");
    }
}

#[test]
fn formulas_are_evaluated_with_and_without_a_model() {
    let files = Files::new();
    let model = files.write("m.mch", &counter("skip"));
    assert_eq!(text(&bombus(&["eval", "{x|x:1..9 & x*x mod 5 = 1}"]).stdout).trim(), "{1,4,6,9}");
    assert_eq!(text(&bombus(&["eval", "x + 5", "--model", &model]).stdout).trim(), "5");
    let o = bombus(&["eval", "1/0"]);
    assert_eq!(o.status.code(), Some(1));
    assert!(text(&o.stderr).contains("error"));
    assert_eq!(bombus(&["eval", "1 + TRUE"]).status.code(), Some(2));
}

#[test]
fn trace_files_hold_the_counterexample() {
    let files = Files::new();
    let model = files.write("m.mch", &counter("x := x + 1"));
    for (extension, needle) in [
        ("prob2trace", "\"$initialise_machine\""),
        ("json", "\"trace\""),
        ("txt", "inc"),
        ("html", "<table>"),
    ] {
        let file = files.dir.path(&format!("cex.{extension}"));
        let o = bombus(&["check", &model, "--trace", &file.display().to_string()]);
        assert_eq!(o.status.code(), Some(1));
        let content = std::fs::read_to_string(&file).unwrap();
        assert!(content.contains(needle), "{extension}: {content}");
    }
    let o = bombus(&["check", &model, "--trace", "cex.xyz"]);
    assert_eq!(o.status.code(), Some(2));
}

/// A deferred set without a stated size gets the default, and the verdict says so.
#[test]
fn the_scope_of_a_verdict_is_named() {
    let files = Files::new();
    let model = files.write(
        "m.mch",
        "MACHINE m SETS S VARIABLES a INVARIANT a <: S & card(a) < 3 INITIALISATION a := {}
         OPERATIONS add(e) = PRE e : S - a THEN a := a \\/ {e} END; nop = skip END",
    );
    // 2^2 subsets, and 2^3 of which the full one breaks the invariant.
    let two = json(&bombus(&["check", &model, "--json"]));
    assert_eq!((two["verdict"].as_str(), two["states"].as_u64()), (Some("verified"), Some(4)));
    assert_eq!(two["scope"]["sets"]["S"], 2);
    let three = json(&bombus(&["check", &model, "--json", "--set", "S=3"]));
    assert_eq!(three["verdict"], "violated");
    assert!(text(&bombus(&["check", &model]).stdout).contains("S = 2 (default)"));
}

/// A valuation for which PROPERTIES has no truth value must not vanish without a word.
#[test]
fn an_undefined_property_is_a_finding() {
    let files = Files::new();
    let model = files.write(
        "m.mch",
        "MACHINE m CONSTANTS c PROPERTIES c : 0..3 & 10 / c > 3
         VARIABLES x INVARIANT x = 0 INITIALISATION x := 0 OPERATIONS nop = skip END",
    );
    for engine in ["evaluate", "compiled"] {
        let j = json(&bombus(&["check", &model, "--json", "--keep-going", "--engine", engine]));
        assert_eq!(j["violation"]["kind"], "well-definedness", "{engine}");
        // 10/1 and 10/2 exceed 3, 10/3 does not, 10/0 has no value.
        assert_eq!(j["constants"], 2);
    }
}

/// No valuation of the constants, or no initial state, is a finding and never a success.
#[test]
fn nothing_to_explore_is_not_verified() {
    let files = Files::new();
    let no_constants = files.write("a.mch", "MACHINE a CONSTANTS c PROPERTIES c : 1..3 & c > 5 END");
    let no_init = files.write(
        "b.mch",
        "MACHINE b VARIABLES x INVARIANT x : 0..3 INITIALISATION x :: {} OPERATIONS nop = skip END",
    );
    for engine in ["evaluate", "compiled"] {
        for model in [&no_constants, &no_init] {
            let o = bombus(&["check", model, "--json", "--engine", engine]);
            assert_eq!(o.status.code(), Some(1));
            assert_eq!(json(&o)["violation"]["kind"], "properties");
        }
    }
}

#[test]
fn hostile_texts_are_rejected_without_a_crash() {
    let files = Files::new();
    let deep = "(".repeat(1_000_000);
    let texts = [
        String::new(),
        "\0\0\0".to_string(),
        deep.clone(),
        format!("MACHINE m PROPERTIES {deep} END"),
        "MACHINE m DEFINITIONS a == b; b == a PROPERTIES a = 1 END".to_string(),
        "MACHINE m INCLUDES m END".to_string(),
        "MACHINE".to_string(),
        "/*".to_string(),
        "\"".to_string(),
    ];
    for (i, content) in texts.iter().enumerate() {
        let model = files.write(&format!("h{i}.mch"), content);
        let o = bombus(&["check", &model]);
        assert_eq!(o.status.code(), Some(2), "text {i}: {}", text(&o.stderr));
        assert!(text(&o.stderr).starts_with("error"), "text {i}");
    }
    // Definitions that double at each step would expand to 2^60 nodes.
    let mut bomb = String::from("MACHINE m DEFINITIONS d0 == 1+1");
    for i in 1..60 {
        bomb.push_str(&format!("; d{i} == d{0}+d{0}", i - 1));
    }
    bomb.push_str(" PROPERTIES d59 = 0 END");
    let model = files.write("bomb.mch", &bomb);
    assert_eq!(bombus(&["check", &model]).status.code(), Some(2));
}

/// The same counts, digest and trace for any number of workers.
#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    let files = Files::new();
    let model = files.write(
        "m.mch",
        "MACHINE m VARIABLES a, b, c INVARIANT a : 0..9 & b : 0..9 & c : 0..9 & not(a = 7 & b = 5)
         INITIALISATION a, b, c := 0, 0, 0
         OPERATIONS ia = a := (a+1) mod 10; ib = b := (b+1) mod 10; ic = c := (c+1) mod 10 END",
    );
    let strip = |mut j: Value| {
        for key in ["seconds", "peak_memory_bytes", "workers", "time_shares"] {
            j.as_object_mut().unwrap().remove(key);
        }
        j
    };
    for options in [&[][..], &["--keep-going"]] {
        let mut results = Vec::new();
        for workers in ["1", "2", "3", "8"] {
            let mut args = vec!["check", &model, "--json", "--workers", workers];
            args.extend_from_slice(options);
            results.push(strip(json(&bombus(&args))));
        }
        assert!(results.iter().all(|r| r == &results[0]), "{options:?}");
    }
    // 10^3 states and three transitions from each.
    let all = json(&bombus(&["check", &model, "--json", "--keep-going"]));
    assert_eq!((all["states"].as_u64(), all["transitions"].as_u64()), (Some(1000), Some(3000)));
    assert_eq!(all["found"]["invariant"], 10);
}

/// `info --code` shows where each event begins in the register code, and the code itself.
#[test]
fn the_code_of_every_event_can_be_listed() {
    let files = Files::new();
    let model = files.write("m.mch", &counter("x := (x + 1) mod 4"));
    let shown = bombus(&["info", &model, "--code"]);
    assert_eq!(shown.status.code(), Some(0));
    let shown = text(&shown.stdout);
    assert!(shown.contains("begins inc") && shown.contains("Emit"), "{shown}");
}

/// A deferred set is never empty, so no size of 0 is taken for another one.
#[test]
fn a_default_size_of_zero_is_refused() {
    let files = Files::new();
    let path = files.write("m.mch", "MACHINE m SETS S OPERATIONS a = skip END");
    assert_eq!(bombus(&["check", &path, "--set-size", "0"]).status.code(), Some(2));
    assert_eq!(bombus(&["check", &path, "--set-size", "1"]).status.code(), Some(0));
}

/// A result that nobody can read is no success.
#[test]
fn a_verdict_that_cannot_be_printed_is_not_a_success() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let files = Files::new();
    let path = files.write("m.mch", "MACHINE m OPERATIONS a = skip END");
    for arguments in [&["check", &path][..], &["check", &path, "--json"], &["eval", "1+1"]] {
        let mut command = binary::bombus();
        let status = command.args(arguments).stdout(full.try_clone().unwrap()).output().unwrap().status;
        assert_eq!(status.code(), Some(4), "{arguments:?}");
    }
}

#[test]
fn an_option_of_a_symbolic_engine_is_refused_by_the_others() {
    let dir = tempfile::tempdir().expect("a directory for the model");
    let model = dir.path().join("M.mch");
    std::fs::write(&model, "MACHINE M OPERATIONS a = skip END").expect("the model is written");
    let status = |options: &[&str]| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_bombus"))
            .arg("check")
            .arg(&model)
            .args(options)
            .output()
            .expect("the binary runs");
        out.status.code()
    };
    for option in [&["--max-depth", "3"][..], &["--max-k", "3"], &["--frames", "3"], &["--width", "9"]] {
        assert_eq!(status(option), Some(2), "{option:?} with the explicit engine");
    }
    assert_eq!(status(&["--no-simple-path"]), Some(2), "the explicit engine makes no induction");
    assert_eq!(status(&["--engine", "ic3", "--max-k", "3"]), Some(2), "frames are no induction");
    assert_eq!(status(&["--engine", "kind", "--max-k", "3"]), Some(0), "a proof of nothing wrong");
}
