//! `--store` and `--no-trace` as a user sees them: the same counts, verdicts and traces wherever states are kept.

use crate::support::binary::{Folder, json, messages};
use serde_json::Value;

/// Four counters; `bad` is a state that breaks the invariant, with very many shortest paths to it.
fn counters(bad: &str) -> String {
    format!(
        "MACHINE counters VARIABLES a, b, c, d
INVARIANT a : 0..7 & b : 0..7 & c : 0..7 & d : 0..7 & not({bad})
INITIALISATION a := 0 || b := 0 || c := 0 || d := 0
OPERATIONS
  ra = a := (a + 1) mod 8; rb = b := (b + 1) mod 8;
  rc = c := (c + 1) mod 8; rd = SELECT a + b + c > 3 THEN d := (d + 1) mod 8 END
END"
    )
}

/// A variable that leaves the range that the invariant promises, and whose states are kept as values.
const ESCAPES: &str = "MACHINE escapes VARIABLES x, y INVARIANT x : 0..3 & y : 0..50
INITIALISATION x := 0 || y := 0
OPERATIONS grow = SELECT x < 1000 THEN x := x * 3 + 1 END; step = SELECT y < 50 THEN y := y + 1 END END";

/// Numbers, sequences and a function that outgrow what the invariant promises and what is guessed where it says nothing.
const OUTGROWN: &str = "MACHINE outgrown VARIABLES x, y, f, q
INVARIANT x : NATURAL & y : NATURAL & f : 1..3 --> 0..3 & q : 1..2 --> seq(BOOL)
INITIALISATION x := 0 || y := 0 || f := (1..3) * {0} || q := (1..2) * {<>}
OPERATIONS
  grow = SELECT x < 1000000 THEN x := x * 3 + 1 END;
  step = SELECT y < 12 THEN
    y := y + 1 || f := f <+ {1 |-> y} || q := q <+ {2 |-> (q(2) <- bool(y mod 2 = 0))} END;
  drop = SELECT y = 12 THEN f := {3} <<| f END
END";

/// Sequences, whose states are numbers of values.
const POOLED: &str =
    "MACHINE pooled SETS ITEM = {p, q, r} VARIABLES s INVARIANT s : seq(ITEM) & s /= [q, r, q, p]
INITIALISATION s := <>
OPERATIONS put(x) = SELECT x : ITEM & size(s) < 5 THEN s := s <- x END END";

fn result(model: &str, options: &[&str]) -> Value {
    let out = Folder::with_machine(model).check(&[&["--workers", "2"], options].concat());
    assert!(matches!(out.status.code(), Some(0 | 1)), "{options:?}: {}", messages(&out));
    let mut result = json(&out);
    result["verdict"] = format!("{} {}", out.status.code().unwrap(), result["verdict"]).into();
    result
}

#[test]
fn every_store_has_the_same_counts_digest_and_trace() {
    let fine = counters("a = 9");
    let broken = counters("a = 3 & b = 4 & c = 2 & d = 1");
    for (model, more) in [
        (&fine[..], &[][..]),
        (&broken, &[]),
        (&broken, &["--keep-going"]),
        (ESCAPES, &["--keep-going"]),
        (OUTGROWN, &["--keep-going"]),
        (POOLED, &[]),
    ] {
        // A search that is saved numbers its states and keeps predecessors.
        let folder = tempfile::tempdir().unwrap();
        let saved = folder.path().join("saved");
        let saved = saved.to_str().unwrap();
        let expected = result(model, &[more, &["--checkpoint", saved]].concat());
        assert!(expected["states"].as_u64().unwrap() > 100);
        for options in [
            &["--store", "exact"][..],
            &["--no-trace"],
            &["--store", "hash", "--no-trace"],
            &["--store", "disk"],
        ] {
            let found = result(model, &[more, options].concat());
            for field in [
                "verdict",
                "states",
                "transitions",
                "initial",
                "depth",
                "events",
                "found",
                "digest",
                "violation",
            ] {
                assert_eq!(found[field], expected[field], "{options:?}: {field} of {model}");
            }
        }
    }
}

#[test]
fn a_search_whose_states_outgrow_their_layout_begins_again_with_one_that_has_room() {
    let layout = |model: &str| {
        let folder = Folder::with_machine(model);
        let out = folder.bombus().args(["check", "M.mch", "--keep-going", "--verbose"]).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let found = layout(OUTGROWN);
    assert!(found.contains("f: partial array 1..3 → 0..1"), "{found}");
    assert!(found.contains("q: table 1..2") && !found.contains("partial array 1..8 → BOOL"), "{found}");
    let fits = layout(&OUTGROWN.replace("y < 12", "y < 3").replace("y = 12", "y = 13"));
    assert!(fits.contains("f: array 1..3 → 0..3"), "{fits}");
    assert!(fits.contains("q: table 1..2 → partial array 1..8 → BOOL"), "{fits}");
}

#[test]
fn the_files_of_a_search_on_disk_are_made_where_it_is_told_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    let found =
        result(&counters("a = 9"), &["--store", "disk", "--store-dir", dir, "--memory-limit", "200M"]);
    assert_eq!(found["states"], 4096);
    assert_eq!(found["reductions"]["store"], "disk");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_a_store_cannot_do_is_refused_by_name() {
    let model = counters("a = 9");
    for (options, word) in [
        (&["--store", "disk", "--order", "dfs"][..], "--order"),
        (&["--store", "disk", "--por", "on"], "--por"),
        (&["--store", "disk", "--symmetry", "exact"], "--symmetry"),
        (&["--store", "disk", "--ltl", "F {a = 1}"], "--store exact"),
        (&["--store", "disk", "--engine", "bmc"], "--store"),
        (&["--store-dir", "files"], "--store disk"),
        (&["--no-trace", "--order", "mixed"], "--order"),
        (&["--no-trace", "--engine", "kind"], "--engine"),
    ] {
        let out = Folder::with_machine(&model).check(options);
        assert_eq!(out.status.code(), Some(2), "{options:?}: {}", messages(&out));
        assert!(messages(&out).contains(word), "{options:?}: {}", messages(&out));
    }
}
