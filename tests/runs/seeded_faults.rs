//! Faults that are made in the engine on purpose: none of them gets a certificate accepted.
//!
//! `src/system/faults.rs` switches them on, in programs with debug assertions only. A fault counts as noticed if the checker
//! rejects the certificate of some model of its kind, or if the engine does not confirm its own finding.

use crate::support::binary::{Folder, bench_model, bombus};
use bombus_certify::run::{Options, check};
use std::path::{Path, PathBuf};

/// What a run with a fault came to.
#[derive(Debug, PartialEq)]
enum End {
    /// The checker rejects the certificate, or the engine says that it contradicts itself.
    Noticed,
    Accepted,
    /// There is no verdict, or no certificate.
    Nothing,
}

fn run(model: &Path, more: &[&str], fault: Option<&str>) -> End {
    let folder = Folder::new();
    let dir = folder.path("certificate");
    let mut command = bombus();
    command.arg("check").arg(model).arg("--certificate").arg(&dir).args([
        "--progress",
        "off",
        "--workers",
        "1",
    ]);
    let output = command.args(more).envs(fault.map(|f| ("BOMBUS_SEEDED_FAULT", f))).output();
    match output.expect("the binary runs").status.code() {
        Some(4) => return End::Noticed,
        Some(0 | 1) => {}
        _ => return End::Nothing,
    }
    match check(&dir, &Options { jobs: 1, ..Options::default() }) {
        Ok(report) if report.status() == 1 => End::Noticed,
        Ok(report) if report.status() == 0 => End::Accepted,
        _ => End::Nothing,
    }
}

/// A family of models, the options they are checked with, and faults that one of them must show.
struct Family {
    place: &'static str,
    models: Vec<PathBuf>,
    options: &'static [&'static str],
    faults: &'static [&'static str],
}

/// Models whose operations are those of the register code: numbers, sets, relations, functions in cells.
const NUMBERS: &str = "MACHINE M VARIABLES x, y, z INVARIANT x : 0..11 & y : 0..8 & z : -9..30
INITIALISATION x, y, z := 0, 8, 0
OPERATIONS
  up = SELECT x < 11 & x + y <= 18 THEN x := x + 1 END;
  down(n) = SELECT n : 1..2 & y - n >= 0 & n < y THEN y := y - n END;
  product = SELECT x * y > 6 & x /= y THEN z := x * y mod 7 END;
  quotient = SELECT y > 2 THEN z := x / y - (y - x) END;
  back = SELECT x = 11 & z <= 20 THEN x := 0 END;
  fill = SELECT y = 1 or y = 2 or x > y THEN y := 8 END;
  extreme = SELECT z > 2 THEN z := min({x, y, 4}) + max({x, 2}) END
END";
const SETS: &str =
    "MACHINE M SETS S = {a, b, c, d} VARIABLES p, q, r, one INVARIANT p <: S & q <: S & r : S <-> S & one : S
INITIALISATION p, q, r, one := {}, {a, b}, {}, a
OPERATIONS
  add(x) = SELECT x : S & x /: p THEN p := p \\/ {x} || one := x END;
  drop(x) = SELECT x : p & one : p THEN p := p - {x} END;
  meet = SELECT p /\\ q /= {} & not(p <: q) THEN q := p /\\ q END;
  join = SELECT q <: p & card(q) < 3 THEN q := p \\/ q END;
  apart = SELECT q /= {} & p /= q THEN q := q - p END;
  link(x) = SELECT x : q & card(r) < 2 THEN r := r \\/ {x |-> one} END;
  turn = SELECT r /= {} THEN p := r[p] || q := dom(r) END;
  ends = SELECT ran(r) <: q THEN q := ran(r) END;
  cut = SELECT p = q THEN r := p <| r END;
  cut_right = SELECT one /: q THEN r := r |>> p END;
  over(x) = SELECT x : p & card(r) = 1 THEN r := r <+ {x |-> one} END
END";
const CELLS: &str = "MACHINE M SETS S = {a, b, c, d}; T = {t0, t1, t2} VARIABLES f, g, n INVARIANT f : S --> T & g : S +-> T & n : 0..2
INITIALISATION f, g, n := S * {t0}, {}, 0
OPERATIONS
  first = SELECT f(a) = t0 THEN f(a) := t1 END;
  second = SELECT f(a) = t1 & f(b) /= t2 THEN f(b) := t2 || n := 2 END;
  third(x) = SELECT x : S & f(x) = t2 THEN f(x) := t0 END;
  copy(x) = SELECT x : S & x /: dom(g) & card(g) < 2 THEN g(x) := f(x) END;
  over = SELECT n = 2 THEN f := f <+ g || n := 1 END;
  forget(x) = SELECT x : dom(g) THEN g := {x} <<| g || n := 0 END
END";
/// The step of q sees a = 1 only if it happens between the two others, and turning may go on for ever.
const ORDER: &str = "MACHINE M VARIABLES a, b, c INVARIANT a : 0..2 & b : 0..1 & c : 0..2 & c /= 1 INITIALISATION a, b, c := 0, 0, 0
OPERATIONS p1 = SELECT a = 0 THEN a := 1 END; p2 = SELECT a = 1 THEN a := 2 END;
  q = SELECT b = 0 THEN b := 1 || c := a END; rest = SELECT a = 2 & b = 1 THEN skip END END";
const LATE: &str = "MACHINE M VARIABLES t, a, b INVARIANT t : 0..1 & a : 0..2 & b : 0..1 & b = 0 INITIALISATION t, a, b := 0, 0, 0
OPERATIONS turn = SELECT a >= 0 THEN t := 1 - t END; go = SELECT a < 2 THEN a := a + 1 END;
  fail = SELECT a = 2 THEN b := 1 END END";
const ALIKE: &str = "MACHINE M SETS P VARIABLES next, at, two INVARIANT next : P +-> P & at <: P & two <: P & (two = P => at = P)
INITIALISATION next := {} || at := {} || two := {}
OPERATIONS link(x, y) = SELECT x : P & y : P & x /: dom(next) & card(next) < 2 THEN next(x) := y END;
  put(x) = SELECT x : P - at THEN at := at \\/ {x} END; move = SELECT next /= {} THEN two := next[at] /\\ at END; clear = next := {} END";
const NAMED: &str = "MACHINE M SETS S = {a, b, c} VARIABLES x, seen INVARIANT x : S & seen <: S INITIALISATION x := a || seen := {}
OPERATIONS go = SELECT x = a THEN x := b END; back = SELECT x = b THEN x :: S END; look = SELECT x = c THEN seen := seen \\/ {x, b} END END";

fn families(folder: &Folder) -> Vec<Family> {
    let written = |texts: &[(&str, &str)]| -> Vec<PathBuf> {
        let one = |(name, text): &(&str, &str)| {
            let path = folder.path(name);
            std::fs::write(&path, text).expect("a model can be written");
            path
        };
        texts.iter().map(one).collect()
    };
    let code = || {
        let mut all = written(&[("numbers.mch", NUMBERS), ("sets.mch", SETS), ("cells.mch", CELLS)]);
        all.push(bench_model("papers/peterson.mch"));
        all
    };
    vec![
        Family {
            place: "lowering",
            models: code(),
            options: &["--no-deadlock"],
            faults: &[
                "add",
                "add a number",
                "subtract",
                "multiply",
                "divide",
                "remainder",
                "a constant",
                "equal",
                "not equal",
                "less",
                "at most",
                "equal to a number",
                "not equal to a number",
                "less than a number",
                "greater than a number",
                "the same words",
                "other words",
                "an element",
                "no element",
                "a subset",
                "no subset",
                "empty",
                "not empty",
                "the content of a cell",
                "another content",
                "union",
                "intersection",
                "difference",
                "insert",
                "remove",
                "least",
                "greatest",
                "domain",
                "range",
                "image",
                "restriction of rows",
                "restriction of columns",
                "override",
                "store in a cell",
                "override cells",
                "restriction of cells",
            ],
        },
        Family {
            place: "native",
            models: code(),
            options: &["--no-deadlock"],
            faults: &[
                "add",
                "add a number",
                "subtract",
                "multiply",
                "remainder",
                "a constant",
                "not equal",
                "less",
                "at most",
                "not equal to a number",
                "less than a number",
                "greater than a number",
                "an element",
                "no element",
                "no subset",
                "union",
                "intersection",
                "difference",
                "insert",
                "store in a cell",
            ],
        },
        Family {
            place: "sieve",
            models: vec![bench_model("papers/peterson.mch"), bench_model("families/dining_forks.mch")],
            options: &[],
            faults: &[
                "another value",
                "the first cell is left out",
                "the last cell is left out",
                "a neighbour is taken",
                "the end is the beginning",
            ],
        },
        Family {
            place: "entry filter",
            models: code(),
            options: &["--no-deadlock"],
            faults: &["another value", "no value", "another register", "a test that leads elsewhere"],
        },
        Family {
            place: "table",
            models: code(),
            options: &["--no-deadlock"],
            faults: &[
                "the last target is lost",
                "the first target is lost",
                "all targets are the first",
                "the last edge is lost",
                "a transition is counted twice",
                "an event is counted in a state too many",
            ],
        },
        Family {
            place: "symmetry",
            models: written(&[("alike.mch", ALIKE), ("named.mch", NAMED)]),
            options: &["--no-deadlock", "--symmetry", "exact", "--set-size", "3"],
            faults: &[
                "the lowest bit is left out",
                "the second bit is left out",
                "the upper half is left out",
                "the last word is left out",
                "all orbits are one",
                "elements with a name are renamed",
            ],
        },
        Family {
            place: "partial order",
            models: written(&[("order.mch", ORDER), ("late.mch", LATE)]),
            options: &["--no-deadlock", "--por", "on"],
            faults: &[
                "sets are not closed",
                "dependence is forgotten",
                "enabling is forgotten",
                "what is visible may be chosen",
                "steps are ignored for ever",
            ],
        },
    ]
}

#[test]
fn no_fault_of_the_engine_gets_its_certificate_accepted() {
    if !cfg!(debug_assertions) {
        return;
    }
    let folder = Folder::new();
    let (mut missed, mut count) = (Vec::new(), 0);
    for family in families(&folder) {
        for model in &family.models {
            assert_eq!(run(model, family.options, None), End::Accepted, "{} as it is", model.display());
        }
        for fault in family.faults {
            let name = format!("{}: {fault}", family.place);
            count += 1;
            let ends: Vec<End> = family.models.iter().map(|m| run(m, family.options, Some(&name))).collect();
            if !ends.contains(&End::Noticed) {
                missed.push((name, ends));
            }
        }
    }
    assert!(missed.is_empty(), "{} of {count} faults were not noticed: {missed:#?}", missed.len());
    assert!(count >= 60);
}
