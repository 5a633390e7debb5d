//! Certificates of classical refinements: the checker, which shares nothing with the lock-step check, follows the abstractions itself.

use crate::support::binary::{Folder, bombus};
use bombus_certify::certificate::{Unread, is_of};
use bombus_certify::report::Report;
use bombus_certify::run::{Options, check};

/// Exit status of a check of the first file with a certificate, and what the checker says of that.
pub fn certified(files: &[(&str, &str)], more: &[&str]) -> (i32, String, Result<Report, Unread>) {
    let folder = Folder::new();
    files.iter().for_each(|(name, text)| _ = folder.write(name, text));
    let dir = folder.path("certificate");
    let main = folder.path(files[0].0);
    let mut check_it = bombus();
    check_it.args(["check".as_ref(), main.as_os_str(), "--certificate".as_ref(), dir.as_os_str()]);
    let output = check_it.args(["--progress", "off"]).args(more).output().expect("the binary runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let core = bombus().args(["info".as_ref(), "--core".as_ref(), main.as_os_str()]).output();
    let core = String::from_utf8(core.expect("the binary runs").stdout).expect("a text");
    let report =
        is_of(&dir, Some(&core)).and_then(|()| check(&dir, &Options { jobs: 1, ..Options::default() }));
    (output.status.code().expect("an exit status"), said, report)
}

/// The certificate of a model, which is accepted.
pub fn accepted(files: &[(&str, &str)], more: &[&str]) -> Report {
    let (_, said, report) = certified(files, more);
    let report = report.unwrap_or_else(|why| panic!("{why:?}\n{said}\n{files:#?}"));
    assert_eq!(report.status(), 0, "{}\n{said}\n{files:#?}", report.text());
    report
}

const CLOCK: &str = "MACHINE Clock VARIABLES t INVARIANT t : 0..2 INITIALISATION t := 0 OPERATIONS tick = t := (t + 1) mod 3 END";
const NOTES: &str = "MACHINE Notes SEES Clock VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0 OPERATIONS note = x := t; old = skip END";

fn notes(note: &str) -> String {
    format!(
        "REFINEMENT Notes_r REFINES Notes SEES Clock VARIABLES y INVARIANT y = 2 - x INITIALISATION y := 2
         OPERATIONS note = y := {note}; new = skip END"
    )
}

#[test]
fn a_machine_that_all_levels_see_runs_beside_them() {
    let right = notes("2 - t");
    let files = [("Notes_r.ref", &*right), ("Notes.mch", NOTES), ("Clock.mch", CLOCK)];
    let report = accepted(&files, &[]);
    assert_eq!(report.refines, Some(("Notes".into(), 9)), "{}", report.text());
    assert_eq!((report.manifest.verified, report.counted.states), (true, 9));
    let wrong = notes("t");
    let files = [("Notes_r.ref", &*wrong), ("Notes.mch", NOTES), ("Clock.mch", CLOCK)];
    assert!(!accepted(&files, &[]).manifest.verified);
}

#[test]
fn constants_are_the_same_on_all_levels() {
    let abstraction = "MACHINE Upto SETS P CONSTANTS n, q PROPERTIES n : 1..3 & q : P VARIABLES s INVARIANT s <: 1..3 INITIALISATION s := {}
        OPERATIONS put(e) = PRE e : 1..n THEN s := s \\/ {e} END; r <-- full = r := bool(s = 1..n) END";
    let refinement = |full: &str| {
        format!(
            "REFINEMENT Bits REFINES Upto VARIABLES f INVARIANT f : 1..3 --> BOOL & s = f~[{{TRUE}}] INITIALISATION f := (1..3) * {{FALSE}}
             OPERATIONS put(e) = PRE e : 1..n THEN f(e) := TRUE END; r <-- full = r := bool({full}) END"
        )
    };
    let right = refinement("f[1..n] = {TRUE}");
    let report = accepted(&[("Bits.ref", &right), ("Upto.mch", abstraction)], &["--set-size", "2"]);
    assert!(report.manifest.verified && report.counted.valuations > 1, "{}", report.text());
    let wrong = refinement("f[1..2] = {TRUE}");
    assert!(!accepted(&[("Bits.ref", &wrong), ("Upto.mch", abstraction)], &[]).manifest.verified);
}

/// What no client can ask for is neither a fault nor counted.
#[test]
fn a_machine_that_does_wrong_only_what_nobody_may_ask_for_has_a_certificate() {
    let abstraction = "MACHINE Count VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
        OPERATIONS inc = PRE x < 3 THEN x := x + 1 END; get = skip END";
    let refinement = |bound: &str| {
        format!(
            "REFINEMENT Count_r REFINES Count VARIABLES c INVARIANT c = x & c : {bound} INITIALISATION c := 0
             OPERATIONS inc = BEGIN c := c + 1 END; get = skip END"
        )
    };
    for (bound, states) in [("0..3", 4), ("NATURAL", 4)] {
        let text = refinement(bound);
        let report = accepted(&[("Count_r.ref", &text), ("Count.mch", abstraction)], &[]);
        assert!(report.manifest.verified && report.manifest.allowed, "{}", report.text());
        assert_eq!((report.counted.states, report.counted.transitions), (states, 7));
    }
    let text = refinement("0..2");
    assert!(!accepted(&[("Count_r.ref", &text), ("Count.mch", abstraction)], &[]).manifest.verified);
}

#[test]
fn engines_that_list_no_states_claim_the_refinement_too() {
    let text = notes("2 - t");
    let files = [("Notes_r.ref", &*text), ("Notes.mch", NOTES), ("Clock.mch", CLOCK)];
    for options in
        [&["--engine", "bdd"][..], &["--engine", "reference"], &["--store", "hash"], &["--por", "on"]]
    {
        let report = accepted(&files, options);
        assert_eq!(report.refines, Some(("Notes".into(), 9)), "{options:?}: {}", report.text());
    }
}
