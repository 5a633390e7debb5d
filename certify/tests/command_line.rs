//! The binary: exit statuses, and a trace that goes from `explore` to `judge`.

use std::path::PathBuf;
use std::process::Command;

const COUNTER: &str = "(machine Counter (variables ((x INTEGER))) (invariant ((clause small (< x 3))))
  (init (:= (((to x ()) 0)))) (operations ((op inc TRUE ((n INTEGER)) () (pre (& ((: n (.. 1 2)) (< x 4)))
  (:= (((to x ()) (+ x n)))))) (op rest TRUE () () skip))))";

fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the directory for tests can be written");
    path
}

fn oracle(args: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_bombus-oracle")).args(args).output().expect("the binary runs");
    (
        out.status.code(),
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr),
    )
}

#[test]
fn what_explore_finds_judge_confirms_and_an_altered_trace_is_refuted() {
    let core = file("counter.core", COUNTER);
    let core = core.to_str().expect("a plain path");
    let (status, text) = oracle(&["explore", core, "--json"]);
    assert_eq!(status, Some(1), "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // x runs through 0..5; each x below 4 has two increments, and every state rests.
    assert_eq!((&report["states"], &report["transitions"]), (&6.into(), &14.into()));
    let first = report["first"][0].to_string();
    let trace = file("counter.json", &first);
    assert_eq!(oracle(&["judge", core, trace.to_str().expect("a plain path")]).0, Some(0));
    let wrong = file("wrong.json", &first.replace("\"n\":\"2\"", "\"n\":\"1\""));
    assert_eq!(oracle(&["judge", core, wrong.to_str().expect("a plain path")]).0, Some(1));
}

#[test]
fn bad_input_is_rejected_and_limits_make_the_answer_incomplete() {
    assert_eq!(oracle(&["--help"]).0, Some(0));
    assert_eq!(oracle(&[]).0, Some(2));
    assert_eq!(oracle(&["explore", "--nonsense"]).0, Some(2));
    let bad = file("bad.core", "(machine M\n  (init (bogus)))");
    let (status, text) = oracle(&["explore", bad.to_str().expect("a plain path")]);
    assert!(status == Some(2) && text.contains("bad.core:2:9: `bogus` is not known here"), "{text}");
    let endless = "(machine M (variables ((x INTEGER))) (init (:= (((to x ()) 0))))
      (operations ((op inc TRUE () () (:= (((to x ()) (+ x 1))))))))";
    let endless = file("endless.core", endless);
    assert_eq!(oracle(&["explore", endless.to_str().expect("a plain path"), "--max-states", "5"]).0, Some(3));
}

#[test]
fn the_readme_says_how_much_must_be_believed_within_a_tenth() {
    let (status, text) = oracle(&["trust"]);
    assert_eq!(status, Some(0));
    let readme = include_str!("../../README.md");
    let figures = |text: &str| -> Vec<(String, f64)> {
        let part = |l: &str| {
            Some((l.trim().split_once("  ")?.1.to_string(), l.trim().split_once("  ")?.0.parse().ok()?))
        };
        text.lines().filter_map(part).collect()
    };
    let said = figures(readme);
    let now = figures(&text);
    assert_eq!(now.len(), 7, "{text}");
    for (what, lines) in now {
        let old =
            said.iter().find(|f| f.0 == what).unwrap_or_else(|| panic!("the README does not tell: {what}")).1;
        assert!((old - lines).abs() <= lines / 10.0, "{what}: {old} in the README, {lines} now");
    }
}

#[test]
fn a_directory_without_a_certificate_and_a_wrong_shard_are_rejected() {
    assert_eq!(oracle(&["check", "no-such-directory"]).0, Some(2));
    for shard in ["0/3", "4/3", "1", "a/b"] {
        assert_eq!(oracle(&["check", ".", "--shard", shard]).0, Some(2), "{shard}");
    }
}

#[test]
fn damage_is_json_where_json_is_asked_for() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("manifest.json"), "{}").expect("written");
    let (status, text) = oracle(&["check", dir.path().to_str().expect("a plain path"), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((status, &json["result"]), (Some(1), &"rejected".into()));
}

#[test]
fn a_certificate_of_another_model_than_the_given_one_is_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let core = file("given.core", "(machine M)\n");
    for (own, about_it) in [("(machine M)", true), ("(machine N)", false)] {
        std::fs::write(dir.path().join("model.core"), own).expect("written");
        let (dir, core) = (dir.path().to_str().expect("plain"), core.to_str().expect("plain"));
        let (status, text) = oracle(&["check", dir, "--core", core]);
        // There is no manifest, so nothing more is to be read.
        assert_eq!(status, Some(if about_it { 2 } else { 1 }), "{text}");
        assert_eq!(text.contains("another model"), !about_it, "{text}");
    }
}
