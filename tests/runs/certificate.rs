//! `--certificate` as a user sees it: what is written, and what the checker that shares no code with the engines says.

use crate::support::binary::{Folder, bench_model, bombus};
use bombus_certify::certificate::Unread;
use bombus_certify::report::Report;
use bombus_certify::run::{Options, check};
use std::ffi::OsString;
use std::path::Path;
use std::process::Output;

/// Checks a model with a certificate and gives the program's output and the checker's answer.
fn certified(model: &Path, more: &[&str]) -> (Output, Result<Report, Unread>) {
    let folder = Folder::new();
    let dir = folder.path("certificate");
    let mut args: Vec<OsString> = vec!["check".into(), model.into(), "--certificate".into(), (&dir).into()];
    // Some engines have one worker and take no other number.
    let is_alone = more.iter().any(|word| ["reference", "evaluate"].contains(word));
    let workers: &[&str] = if is_alone { &[] } else { &["--workers", "2"] };
    args.extend(workers.iter().chain(&["--progress", "off"]).chain(more).map(OsString::from));
    let output = bombus().args(args).output().expect("the binary runs");
    (output, check(&dir, &Options { jobs: 2, ..Options::default() }))
}

/// The checker accepts the certificate of this machine, and the program had this exit status.
fn accepted(text: &str, status: i32, more: &[&str]) -> Report {
    let folder = Folder::with_machine(text);
    let (output, answer) = certified(&folder.path("M.mch"), more);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    let report = answer.unwrap_or_else(|e| panic!("{e:?}\n{said}"));
    assert_eq!(report.status(), 0, "{}\n{said}", report.text());
    report
}

#[test]
fn certificates_of_bench_models_are_accepted_with_their_counts() {
    let models = [
        "counters.mch",
        "families/dining.mch",
        "families/coherence.mch",
        "papers/peterson.mch",
        "papers/robot.mch",
    ];
    for name in
        models.iter().chain(&["faulty/dining_greedy.mch", "faulty/bakery_hasty.mch", "z/organisation.tex"])
    {
        let (output, answer) = certified(&bench_model(name), &["--json"]);
        let report = answer.unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(report.status(), 0, "{name}: {}", report.text());
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        if report.manifest.verified {
            assert_eq!(json["states"], report.counted.states, "{name}");
            assert_eq!(json["transitions"], report.counted.transitions, "{name}");
        }
    }
}

#[test]
fn values_of_every_type_are_spelled_alike_on_both_sides() {
    let report = accepted(
        "MACHINE M SETS S; T = {t0, t1}
CONSTANTS c PROPERTIES c : S
VARIABLES i, b, s, e, f, p, r, q, w
INVARIANT i : INTEGER & b : BOOL & s : STRING & e : T & f : S --> POW(T) & p : INTEGER * BOOL & q : seq(INTEGER)
  & r : struct(one : INTEGER, two : POW(S)) & w : POW(POW(0..2))
INITIALISATION i, b, s, e := -70000, TRUE, \"a\\\"b\", t0 || f := S * {{}} || p := (-65 |-> FALSE) || q := []
  || r := rec(two : {c}, one : 2**70) || w := {{2}, {0,1}, {}}
OPERATIONS
  grow = SELECT i < 70000 THEN i := i + 35000 || q := q <- i END;
  turn = BEGIN b := bool(b = FALSE) || p := (64 |-> b) END;
  say(x) = SELECT x : {\"\", \"é\", \"zz\"} THEN s := x END;
  set(x, y) = SELECT x : S & y <: T THEN f(x) := y || e := t1 END;
  rec_ = BEGIN r := rec(one : -r'one, two : S - r'two) || w := w \\/ {{card(q) mod 3, 1}} END
END",
        0,
        &["--maxint", "5", "--no-deadlock"],
    );
    assert!(report.counted.states > 1000, "{}", report.text());
}

#[test]
fn valuations_that_differ_by_names_of_elements_are_covered_by_one() {
    let text = "MACHINE M SETS S CONSTANTS a, r PROPERTIES a : S & r : S --> S & r(a) /= a
VARIABLES x INVARIANT x : S INITIALISATION x := a OPERATIONS go = x := r(x) END";
    let few = accepted(text, 0, &["--set", "S=3"]);
    let all = accepted(text, 0, &["--set", "S=3", "--all-constants"]);
    assert!(few.counted.valuations < all.counted.valuations);
    // a has 3 values, r(a) 2, the others of r 3 each.
    assert_eq!(all.counted.valuations, 54);
}

#[test]
fn states_up_to_symmetry_are_accepted() {
    let text = "MACHINE M SETS P VARIABLES next, at INVARIANT next : P +-> P & at <: P
INITIALISATION next := {} || at := {}
OPERATIONS link(x, y) = SELECT x : P & y : P & x /: dom(next) THEN next(x) := y END;
  put(x) = SELECT x : P THEN at := at \\/ {x} END; move = at := next[at]; clear = next := {} END";
    let whole = accepted(text, 0, &["--set", "P=3"]);
    let orbits = accepted(text, 0, &["--set", "P=3", "--symmetry", "exact"]);
    // Partial functions on three elements with a subset: 64 * 8.
    assert_eq!(whole.counted.states, 512);
    assert!(orbits.counted.states < 150, "{}", orbits.text());
}

#[test]
fn states_up_to_symmetry_are_accepted_where_a_constant_numbers_the_elements() {
    let text = "MACHINE M SETS P; Q CONSTANTS f, g PROPERTIES f : P >->> Q & g : P >->> Q & !p.(p : P => f(p) /= g(p))
VARIABLES at INVARIANT at <: P INITIALISATION at := {}
OPERATIONS put(p) = SELECT p : P THEN at := at \\/ {p} END; turn = at := f~[g[at]] END";
    let few = accepted(text, 0, &["--set", "P=3", "--set", "Q=3"]);
    let orbits = accepted(text, 0, &["--set", "P=3", "--set", "Q=3", "--symmetry", "exact"]);
    // The two bijections without a common pair, and one up to renaming.
    assert_eq!((few.counted.valuations, orbits.counted.valuations), (2, 1));
    assert!(orbits.counted.states < few.counted.states);
}

#[test]
fn every_kind_of_violation_is_replayed() {
    let machine = |body: &str| {
        format!(
            "MACHINE M VARIABLES x INVARIANT x : 0..9 & x /= 7 INITIALISATION x := 0 OPERATIONS {body} END"
        )
    };
    let kinds = [
        "inc = SELECT x < 9 THEN x := x + 1 END",
        "inc = SELECT x < 3 THEN x := x + 1 END",
        "inc = SELECT x < 9 THEN x := 6 / (3 - x) END",
        "inc = BEGIN ASSERT x < 2 THEN x := x + 1 END END",
        "inc(y) = PRE y : 1..2 THEN IF x < 2 THEN x := x + y ELSE x := -1 END END",
        // What is undefined is told with the values of the step that fails.
        "inc = x := {0 |-> 1, 1 |-> 2}(x)",
        "inc(y) = PRE y : 1..2 THEN x := max({z | z : 1..2 & z < y}) END",
    ];
    for body in kinds {
        assert!(!accepted(&machine(body), 1, &[]).manifest.verified);
    }
    accepted("MACHINE M CONSTANTS c PROPERTIES c : 1..2 & c > 3 END", 1, &[]);
    let goal = format!("MACHINE M DEFINITIONS GOAL == x = 3 {}", &machine(kinds[0])["MACHINE M".len()..]);
    accepted(&goal, 1, &[]);
    // There are bijections between the integers and the natural numbers.
    let none = "bool(INTEGER >->> NATURAL <: {})";
    let text = format!("MACHINE M VARIABLES b INVARIANT b : BOOL & b = TRUE INITIALISATION b := {none} END");
    accepted(&text, 1, &[]);
}

#[test]
fn a_value_of_any_size_is_read_from_a_trace() {
    let text = "MACHINE M VARIABLES f, x INVARIANT f : POW(INTEGER * POW(INTEGER)) & x = 0
INITIALISATION f := (1..6000) * {1..100} || x := 0 OPERATIONS go = x := 1 END";
    assert!(!accepted(text, 1, &[]).manifest.verified);
}

#[test]
fn what_bounds_a_choice_may_stand_in_the_cases_of_a_condition() {
    let report = accepted(
        "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS
  step = ANY t WHERE (x = 0 & t = 1) or (x = 1 & (t = 0 or t = 3 or t = 0)) or (x = 3 & t : 0..1) THEN x := t END;
  turn = ANY t WHERE (x = 3 => t = 2) & (x /= 3 => t = x) THEN x := t END END",
        0,
        &["--no-deadlock"],
    );
    // From 0 to 1; from 1 to 0 and 3; from 3 to 0 and 1; and one turn in each of the four states.
    assert_eq!((report.counted.states, report.counted.transitions), (4, 9), "{}", report.text());
}

const LIGHT: &str = "MACHINE M SETS C = {red, green, amber} VARIABLES c, n INVARIANT c : C & n : 0..2 INITIALISATION c := red || n := 0
OPERATIONS go = SELECT c = red THEN c := green || n := 0 END; slow = SELECT c = green THEN c := amber END;
  stop = SELECT c = amber THEN c := red END; wait = SELECT n < 2 THEN n := n + 1 END END";

#[test]
fn formulas_that_hold_and_paths_that_break_formulas_are_accepted() {
    let holds = [
        "G {n <= 2}",
        "G F {c = red}",
        "G ([go] => X {c = green})",
        "G ({c = amber} => O [slow])",
        "G (e(go) => F [go])",
    ];
    let all: Vec<&str> = holds.iter().flat_map(|f| ["--ltl", f]).collect();
    let report = accepted(LIGHT, 0, &all);
    assert_eq!(report.manifest.formulas.len(), holds.len());
    for broken in ["G {n < 2}", "F {n = 2}", "G F [wait]", "G ([go] => X [slow])", "X X {c = amber}"] {
        assert!(!accepted(LIGHT, 1, &["--ltl", broken]).manifest.verified, "{broken}");
    }
}

#[test]
fn formulas_outside_the_fragment_are_listed() {
    let folder = Folder::with_machine(LIGHT);
    for formula in [["--ltl", "SF(stop) & SF(slow) & SF(go) => G F {c = red}"], ["--ctl", "AG EF {c = red}"]]
    {
        let (output, answer) = certified(&folder.path("M.mch"), &formula);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let report = answer.expect("a certificate");
        assert_eq!((report.status(), report.open.total()), (3, 1), "{}", report.text());
    }
}

#[test]
fn a_reduced_search_is_accepted_where_all_states_can_be_found_without_it() {
    let folder = Folder::with_machine(LIGHT);
    let dir = folder.path("certificate");
    let model = bench_model("counters.mch");
    let output = bombus().arg("check").arg(model).args(["--por", "on", "--certificate"]).arg(&dir).output();
    assert_eq!(output.expect("the binary runs").status.code(), Some(0));
    let checked = |sample| {
        let options = Options { sample, ..Options::default() };
        check(&dir, &options).unwrap_or_else(|why| panic!("{why:?}"))
    };
    let (whole, part) = (checked(None), checked(Some(10)));
    assert!(whole.manifest.reduced);
    assert_eq!((whole.status(), part.status()), (0, 3), "{}\n{}", whole.text(), part.text());
    assert!(part.text().contains("that no state was missed: the search left steps out"), "{}", part.text());
}

#[test]
fn a_certificate_without_states_is_accepted_if_the_checker_finds_them_itself() {
    let folder = Folder::with_machine(LIGHT);
    for options in [
        ["--store", "hash"],
        ["--store", "disk"],
        ["--engine", "reference"],
        ["--engine", "evaluate"],
        ["--engine", "bdd"],
        ["--symmetry", "marker"],
    ] {
        let (output, answer) = certified(&folder.path("M.mch"), &options);
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        let report = answer.unwrap_or_else(|why| panic!("{options:?}: {why:?}"));
        assert_eq!(report.status(), 0, "{options:?}: {}", report.text());
        assert_eq!(report.manifest.unlisted.is_some(), options[0] != "--symmetry", "{options:?}");
    }
}

#[test]
fn a_machine_is_followed_beside_its_abstraction_and_a_fault_of_its_own_is_a_fault_of_both() {
    let folder = Folder::new();
    folder.write(
        "A.mch",
        "MACHINE A VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0 OPERATIONS go = x :: 0..9 END",
    );
    let text = "REFINEMENT R REFINES A VARIABLES y INVARIANT y = x INITIALISATION y := 0
                OPERATIONS go = IF y < 5 THEN y := y + 1 END END";
    let (output, answer) = certified(&folder.write("R.ref", text), &["--no-deadlock"]);
    let report = answer.unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!((report.status(), &report.refines), (0, &Some(("A".into(), 6))), "{}", report.text());
    let text = "REFINEMENT R REFINES A VARIABLES y INVARIANT y : 0..9 INITIALISATION y := 0
                OPERATIONS go = y := 6 / (3 - y) END";
    let (output, answer) = certified(&folder.write("R.ref", text), &["--no-deadlock"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = answer.unwrap_or_else(|e| panic!("{e:?}: {said}"));
    assert_eq!((output.status.code(), report.status()), (Some(1), 0), "{}", report.text());
}

#[test]
fn what_cannot_be_certified_is_said() {
    let folder = Folder::with_machine(LIGHT);
    let model = folder.path("M.mch");
    let (output, answer) = certified(&model, &["--max-states", "2"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(answer.is_err());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("no certificate was written"), "{said}");
    let dir = folder.path("taken");
    let again = || {
        let args: [OsString; 4] = ["check".into(), (&model).into(), "--certificate".into(), (&dir).into()];
        bombus().args(args).output().expect("the binary runs").status.code()
    };
    assert_eq!((again(), again()), (Some(0), Some(2)), "a certificate is not written over");
}
