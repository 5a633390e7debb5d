//! Symmetry as a user meets it: the tables of the founding paper, verdicts, traces, refusals.
//!
//! Figures are nodes N as the paper counts them: the root, one node for each valuation of the constants,
//! the initialised states. They are those of Table 1 and Figures 10 and 11 of "Efficient Approximate
//! Verification of B and Z Models via Symmetry Markers", confirmed by enumeration apart from any B tool;
//! where the paper is wrong the row says so.

use crate::support::binary::{bench_model, json, run as bombus};
use serde_json::Value;
use std::path::PathBuf;

fn paper(name: &str) -> String {
    bench_model(&format!("papers/{name}.mch")).display().to_string()
}

fn check(model: &str, options: &[&str]) -> (Value, i32) {
    let out = bombus(&[&["check", model, "--json"], options].concat());
    (json(&out), out.status.code().unwrap_or(-1))
}

/// Nodes as the paper counts them.
fn nodes(result: &Value) -> u64 {
    result["prob"]["states"].as_u64().unwrap() + 1
}

/// Checks a model of the papers, given the sizes of its sets, in one mode.
fn count(model: &str, sizes: &[(&str, u64)], mode: &str) -> (u64, u64, String) {
    let sizes: Vec<String> = sizes.iter().map(|(s, n)| format!("{s}={n}")).collect();
    let mut options = vec!["--symmetry", mode, "--keep-going"];
    sizes.iter().for_each(|s| options.extend(["--set", s]));
    let (result, _) = check(&paper(model), &options);
    let transitions = result["prob"]["transitions"].as_u64().unwrap();
    (nodes(&result), transitions, result["reductions"]["symmetry"].as_str().unwrap().to_string())
}

/// A row of the table: without symmetry, flood and exact, classic marker.
fn row(model: &str, sizes: &[(&str, u64)], without: u64, exact: u64, marker: u64) {
    assert_eq!(count(model, sizes, "off").0, without, "{model} {sizes:?} off");
    assert_eq!(count(model, sizes, "exact").0, exact, "{model} {sizes:?} exact");
    assert_eq!(count(model, sizes, "flood").0, exact, "{model} {sizes:?} flood");
    assert_eq!(count(model, sizes, "marker-classic").0, marker, "{model} {sizes:?} classic");
    // Ours is at least as fine, and never finer than orbits.
    let ours = count(model, sizes, "marker").0;
    assert!((marker..=exact).contains(&ours), "{model} {sizes:?}: {ours}");
}

#[test]
fn the_postal_puzzle_comes_out_as_in_the_table() {
    for (n, without, exact) in [(1, 15, 15), (2, 81, 48), (3, 441, 119), (4, 2325, 248), (5, 11985, 459)] {
        row("postal", &[("KEY", n)], without, exact, exact);
    }
}

#[test]
fn the_scheduler_has_a_square_number_of_orbits() {
    for n in 1..=5 {
        row(
            "scheduler",
            &[("PROC", n)],
            1 + 3u64.pow(n as u32 - 1) * (n + 3),
            1 + (n + 1).pow(2),
            1 + (n + 1).pow(2),
        );
    }
    for n in [7, 12] {
        for mode in ["exact", "marker", "marker-classic"] {
            let (nodes, _, grade) = count("scheduler", &[("PROC", n)], mode);
            assert_eq!((nodes, grade.as_str()), (1 + (n + 1).pow(2), "exact"), "{mode} {n}");
        }
    }
}

#[test]
fn the_scheduler_with_a_queue_comes_out_as_in_the_table() {
    let rows = [(1, 5, 5), (2, 27, 14), (3, 145, 29), (4, 825, 51), (5, 5201, 81)];
    for (n, without, exact) in rows {
        row("scheduler_queue", &[("PROC", n)], without, exact, exact);
    }
    for (n, exact) in [(6, 120), (7, 169), (12, 599)] {
        for mode in ["exact", "marker", "marker-classic"] {
            let (nodes, _, grade) = count("scheduler_queue", &[("PROC", n)], mode);
            assert_eq!((nodes, grade.as_str()), (exact, "exact"), "{mode} {n}");
        }
    }
}

#[test]
fn peterson_comes_out_as_in_the_table() {
    row("peterson", &[("PID", 2)], 49, 27, 27);
    row("peterson", &[("PID", 3)], 884, 174, 174);
    assert_eq!(count("peterson", &[("PID", 4)], "exact").0, 1134);
    assert_eq!(count("peterson", &[("PID", 4)], "marker-classic"), (1134, 4530, "exact".into()));
}

#[test]
fn transfers_come_out_as_the_usb_row_of_the_table() {
    row("transfers", &[("TRANSFER", 1)], 29, 29, 29);
    row("transfers", &[("TRANSFER", 2)], 694, 355, 355);
    row("transfers", &[("TRANSFER", 3)], 16_906, 3013, 3013);
}

#[test]
fn towns_are_relations_up_to_isomorphism() {
    // 1 + A000595; the classic marker loses 34 of the 3044 relations over four towns.
    for (n, without, exact) in [(1, 3, 3), (2, 17, 11), (3, 513, 105)] {
        row("towns", &[("TOWN", n)], without, exact, exact);
    }
    assert_eq!(count("towns", &[("TOWN", 4)], "exact").0, 3045);
    assert_eq!(count("towns", &[("TOWN", 4)], "marker").0, 3045);
    assert!(count("towns", &[("TOWN", 4)], "marker-classic").0 <= 3011);
}

#[test]
fn the_philosophers_are_approximate_with_the_classic_marker() {
    // Table 1 prints cardinality 2 for the ring; it is 4. Without symmetry all topologies count there.
    for (n, exact, marker) in [(2, 8, 7), (3, 13, 11), (4, 48, 17)] {
        let sizes = [("Phil", n), ("Forks", n)];
        assert_eq!(count("philosophers", &sizes, "exact").0, exact);
        assert_eq!(count("philosophers", &sizes, "flood").0, exact);
        let (nodes, _, grade) = count("philosophers", &sizes, "marker-classic");
        assert_eq!((nodes, grade.as_str()), (marker, "approximate"));
    }
    let ring = [("Phil", 4), ("Forks", 4)];
    assert_eq!(count("philosophers_ring", &ring, "exact").0, 26);
    assert_eq!(count("philosophers_ring", &ring, "flood").0, 26);
    assert_eq!(count("philosophers_ring", &ring, "marker-classic").0, 20);
    for (model, n, all) in [
        ("philosophers", "2", 21),
        ("philosophers", "3", 337),
        ("philosophers", "4", 17_713),
        ("philosophers_ring", "4", 11_809),
    ] {
        let (phil, forks) = (format!("Phil={n}"), format!("Forks={n}"));
        let (result, _) = check(&paper(model), &["--all-constants", "--set", &phil, "--set", &forks]);
        assert_eq!(nodes(&result), all, "{model} {n}");
        let (result, _) = check(
            &paper(model),
            &["--all-constants", "--set", &phil, "--set", &forks, "--symmetry", "exact"],
        );
        assert_eq!(
            nodes(&result),
            count(model, &[("Phil", n.parse().unwrap()), ("Forks", n.parse().unwrap())], "exact").0
        );
    }
}

#[test]
fn the_server_farm_permutes_two_sets_independently() {
    // 1 + (n+1)(n+2)/2; transitions as in section 6.1.
    for n in 1..=4 {
        let sizes = [("USER", n), ("SERVER", n)];
        assert_eq!(count("server_farm", &sizes, "flood").0, 1 + (n + 1) * (n + 2) / 2);
    }
    for (n, transitions) in [(7, 883), (8, 1351), (9, 1981), (12, 5188)] {
        let sizes = [("USER", n), ("SERVER", n)];
        for (mode, grade) in
            [("exact", "exact"), ("marker", "approximate"), ("marker-classic", "approximate")]
        {
            let expected = (1 + (n + 1) * (n + 2) / 2, transitions, grade.to_string());
            assert_eq!(count("server_farm", &sizes, mode), expected, "{mode} {n}");
        }
    }
}

#[test]
fn sessions_have_one_orbit_for_each_number_of_them() {
    for n in [1, 3, 5] {
        row("login", &[("Session", n)], 1 + (1 << n), n + 2, n + 2);
    }
    assert_eq!(count("login", &[("Session", 40)], "exact").0, 42);
    assert_eq!(count("login", &[("Session", 40)], "marker").0, 42);
}

#[test]
fn the_organisation_comes_out_as_in_figure_10() {
    // Line 6 of the figure has 87 for flooding, a misprint: a marker cannot have more classes.
    for (n, nodes, edges) in [(3, 12, 55), (4, 33, 218), (5, 67, 571), (6, 88, 896), (7, 112, 1326)] {
        for mode in ["exact", "marker-classic", "marker"] {
            assert_eq!(
                count("organisation", &[("NAME", n)], mode),
                (nodes, edges, "exact".into()),
                "{mode} {n}"
            );
        }
    }
}

#[test]
fn the_video_shop_comes_out_as_in_figure_11() {
    for (persons, titles, nodes, edges) in [(2, 2, 178, 953), (2, 3, 862, 6521), (3, 3, 2046, 16_938)] {
        let sizes = [("PERSON", persons), ("TITLE", titles)];
        assert_eq!(count("video_shop", &sizes, "exact"), (nodes, edges, "exact".into()));
        let (n, e, grade) = count("video_shop", &sizes, "marker-classic");
        assert_eq!((n, e, grade.as_str()), (nodes, edges, "approximate"));
    }
    // The paper's 11,692 leaves the root out.
    let largest = [("PERSON", 3), ("TITLE", 4)];
    assert_eq!(count("video_shop", &largest, "exact").0, 11_693);
    assert_eq!(count("video_shop", &largest, "marker-classic").0, 11_477);
}

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        Files { dir: tempfile::tempdir().unwrap() }
    }

    fn write(&self, text: &str) -> String {
        let path: PathBuf = self.dir.path().join("M.mch");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

const MODES: [&str; 4] = ["exact", "flood", "marker", "marker-classic"];

#[test]
fn an_element_that_a_constant_names_is_told_apart() {
    // p may become any element, c is one of them: p = c is broken in one step.
    let files = Files::new();
    let model = files.write(
        "MACHINE M SETS S CONSTANTS c PROPERTIES c : S VARIABLES p INVARIANT p : S & p = c
         INITIALISATION p := c OPERATIONS pick(e) = PRE e : S THEN p := e END END",
    );
    for mode in MODES {
        for size in ["2", "3", "5"] {
            let (result, status) = check(&model, &["--symmetry", mode, "--set-size", size]);
            assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("invariant")), "{mode}");
            let (all, _) =
                check(&model, &["--symmetry", mode, "--set-size", size, "--no-invariant", "--no-deadlock"]);
            // p is c, or it is not.
            assert_eq!(
                (all["states"].as_u64(), all["verdict"].as_str()),
                (Some(2), Some("verified")),
                "{mode}"
            );
        }
    }
    // With both constants kept as constants, the state has them.
    let model = files.write(
        "MACHINE M SETS S CONSTANTS c, d PROPERTIES c : S & d : S VARIABLES p INVARIANT p : S & not(p = d & c /= d)
         INITIALISATION p := c OPERATIONS pick(e) = PRE e : S THEN p := e END END",
    );
    for mode in MODES {
        for extra in [&[][..], &["--all-constants"]] {
            let mut options = vec!["--symmetry", mode, "--set-size", "3"];
            options.extend_from_slice(extra);
            assert_eq!(check(&model, &options).1, 1, "{mode} {extra:?}");
        }
    }
}

#[test]
fn a_bijection_between_a_product_and_a_deferred_set_has_one_valuation() {
    let files = Files::new();
    // The size of R follows from the bijection. Any bijection is a renaming of any other one.
    for (from, all) in [("BOOL*(1..2)", 24), ("E*BOOL", 24), ("(1..1)*BOOL*E", 24), ("BOOL", 2)] {
        let text = |arrow: &str| {
            format!(
                "MACHINE M SETS R; E={{e1,e2}} CONSTANTS f PROPERTIES f : {arrow} VARIABLES x INVARIANT x<:R \
                 INITIALISATION x:={{}} OPERATIONS add(r) = PRE r:R THEN x:=x\\/{{r}} END; clear = x:={{}} END"
            )
        };
        for arrow in [format!("{from} >->> R"), format!("R >->> {from}")] {
            let model = files.write(&text(&arrow));
            let size = if from == "BOOL" { "R=2" } else { "R=4" };
            let (one, _) = check(&model, &["--set", size]);
            let (every, _) = check(&model, &["--set", size, "--all-constants"]);
            assert_eq!(
                (one["constants"].as_u64(), every["constants"].as_u64()),
                (Some(1), Some(all)),
                "{arrow}"
            );
            assert_eq!(one["verdict"], every["verdict"], "{arrow}");
        }
    }
    // A set that occurs on both sides is not free to be numbered: all 4! bijections of R*{..} onto R's pairs stay.
    let model = files.write(
        "MACHINE M SETS R CONSTANTS f PROPERTIES f : R*(1..1) >->> R VARIABLES x INVARIANT x:R & f(x,1)=x \
         INITIALISATION x::R OPERATIONS op = skip END",
    );
    let (result, status) = check(&model, &["--set", "R=3"]);
    assert_eq!((status, result["verdict"].as_str()), (1, Some("violated")));
}

#[test]
fn a_goal_of_the_command_line_may_name_an_element() {
    let files = Files::new();
    let model = files.write(
        "MACHINE M SETS S VARIABLES p, q INVARIANT p <: S & q <: S INITIALISATION p := {} || q := {}
         OPERATIONS add(e) = PRE e : S THEN p := p \\/ {e} END; del(e) = PRE e : p THEN p := p - {e} || q := q \\/ {e} END END",
    );
    for mode in MODES {
        let (result, status) =
            check(&model, &["--symmetry", mode, "--set", "S=4", "--goal", "S4 : q & S3 : p & S2 /: p \\/ q"]);
        assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("goal")), "{mode}");
        // add, del, add
        assert_eq!(result["violation"]["trace"].as_array().unwrap().len(), 4, "{mode}");
    }
}

#[test]
fn numbers_are_not_symmetric_even_if_processes_are_called_so() {
    let files = Files::new();
    let model = files.write(
        "MACHINE M VARIABLES lock, at INVARIANT lock : -1..1 & at : 0..1 --> BOOL & card(at~[{TRUE}]) <= 1
         INITIALISATION lock := -1 || at := (0..1) * {FALSE}
         OPERATIONS enter(p) = PRE p : 0..1 & lock = -1 THEN lock := p || at(p) := TRUE END;
         leave(p) = PRE p : 0..1 & lock = p THEN lock := -1 || at(p) := FALSE END END",
    );
    let (off, _) = check(&model, &[]);
    for mode in MODES {
        let (result, status) = check(&model, &["--symmetry", mode]);
        assert_eq!((status, result["states"].as_u64()), (0, off["states"].as_u64()));
        assert_eq!(result["reductions"]["symmetry"], "off");
        assert!(result["warnings"].to_string().contains("no set is symmetric"));
    }
}

#[test]
fn a_function_that_sees_the_order_of_elements_takes_their_set_out() {
    let files = Files::new();
    let model = files.write(
        "MACHINE M DEFINITIONS \"CHOOSE.def\" SETS S; T VARIABLES p, q INVARIANT p : S & q : T
         INITIALISATION p :: S || q :: T
         OPERATIONS fix = p := CHOOSE(S); any(e) = PRE e : T THEN q := e END END",
    );
    let info = String::from_utf8_lossy(&bombus(&["info", &model]).stdout).into_owned();
    assert!(info.contains("S is not symmetric: CHOOSE may tell its elements apart"), "{info}");
    assert!(info.contains("T is symmetric"), "{info}");
    let (off, _) = check(&model, &["--set-size", "3"]);
    let (exact, _) = check(&model, &["--set-size", "3", "--symmetry", "exact"]);
    assert_eq!((off["states"].as_u64(), exact["states"].as_u64()), (Some(9), Some(3)));
}

#[test]
fn an_enumerated_set_joins_if_nothing_names_its_elements() {
    let files = Files::new();
    let text = "MACHINE M SETS E = {a, b, c} VARIABLES s INVARIANT s <: E INITIALISATION s := {}
         OPERATIONS flip(e) = PRE e : E THEN IF e : s THEN s := s - {e} ELSE s := s \\/ {e} END END END";
    let model = files.write(text);
    assert_eq!(check(&model, &["--symmetry", "exact"]).0["states"], 4);
    let model = files.write(&text.replace("s <: E", "s <: E & (a : s => b : E)"));
    let (result, _) = check(&model, &["--symmetry", "exact"]);
    assert_eq!((&result["states"], &result["reductions"]["symmetry"]), (&8.into(), &"off".into()));
}

#[test]
fn what_a_function_sees_the_order_of_is_not_valued_up_to_renaming() {
    // Each is broken by some valuation of the constants that is a renaming of one that is not: CHOOSE tells them apart.
    let files = Files::new();
    let head = "MACHINE M DEFINITIONS \"CHOOSE.def\" SETS S ";
    let rest = " INITIALISATION p :: S OPERATIONS any(e) = PRE e : S THEN p := e END END";
    for middle in [
        "CONSTANTS c PROPERTIES c : S VARIABLES p INVARIANT p : S & c = CHOOSE(S)",
        "CONSTANTS c PROPERTIES c : S & c /= CHOOSE(S) VARIABLES p INVARIANT p : S & p /= c",
        "CONSTANTS f PROPERTIES f : 1..card(S) >->> S VARIABLES p INVARIANT p : S & f(1) = CHOOSE(S)",
        "CONSTANTS A, B PROPERTIES A \\/ B = S & A /\\ B = {} VARIABLES p INVARIANT p : S & (A /= {} => CHOOSE(S) : A)",
        "CONSTANTS c, d PROPERTIES c : S & d : S & c /= d VARIABLES p INVARIANT p : S & c = CHOOSE({c, d})",
    ] {
        let model = files.write(&format!("{head}{middle}{rest}"));
        for options in [
            &[][..],
            &["--all-constants"],
            &["--engine", "evaluate", "--workers", "1"],
            &["--symmetry", "exact"],
        ] {
            let (result, status) = check(&model, &[&["--set-size", "3"], options].concat());
            assert_eq!(
                (status, result["violation"]["kind"].as_str()),
                (1, Some("invariant")),
                "{middle} {options:?}"
            );
        }
    }
}

#[test]
fn functions_that_see_no_order_leave_sets_symmetric() {
    let files = Files::new();
    let model = files.write(
        "MACHINE M DEFINITIONS \"LibraryProB.def\"; EXTERNAL_FUNCTION_MU(T) == POW(T) --> T; MU(s) == \"the element\"
         SETS S CONSTANTS c PROPERTIES c : S VARIABLES p INVARIANT p : S & MU({p}) = p
         INITIALISATION p := c OPERATIONS any(e) = PRE e : S THEN p := MU({e}) END END",
    );
    let (result, status) = check(&model, &["--set-size", "4", "--symmetry", "exact"]);
    assert_eq!((status, result["states"].as_u64()), (0, Some(2)), "{result}");
}

#[test]
fn a_formula_that_names_an_element_is_asked_of_all_valuations() {
    // Elements of a deferred set have numbers only for the user; a formula may still speak of them.
    let files = Files::new();
    let model = files.write(
        "MACHINE M SETS S CONSTANTS c, d PROPERTIES c : S & d : S VARIABLES p INVARIANT p : S
         INITIALISATION p := c OPERATIONS pick(e) = PRE e : S THEN p := e END END",
    );
    for goal in ["d = S3", "d = S3 & c = S2", "c = S3"] {
        for mode in ["off", "exact", "flood", "marker"] {
            let (result, status) = check(&model, &["--set-size", "3", "--goal", goal, "--symmetry", mode]);
            assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("goal")), "{goal} {mode}");
            assert!(result["warnings"].to_string().contains("tells elements of S apart"), "{result}");
        }
        let formula = format!("G {{not({goal})}}");
        let (result, status) = check(&model, &["--set-size", "3", "--ltl", &formula]);
        assert_eq!((status, result["violation"]["kind"].as_str()), (1, Some("ltl")), "{goal}");
    }
    // What constants are called says nothing new.
    let (result, status) = check(&model, &["--set-size", "3", "--goal", "p /= c & p /= d & c = d"]);
    assert_eq!((status, result["warnings"].as_array().map(Vec::len)), (1, Some(0)));
    // No path stays with one element, and no path has to reach one.
    for formula in ["G {p = c}", "F {p = d}"] {
        assert_eq!(check(&model, &["--set-size", "3", "--ltl", formula]).1, 1, "{formula}");
    }
}

/// Tokens wander between places; a place with all tokens is wrong.
const WANDER: &str = "MACHINE M SETS P; T VARIABLES at INVARIANT at : T --> P & card(ran(at)) > 1
    INITIALISATION at :(at : T >-> P)
    OPERATIONS move(t, p) = PRE t : T & p : P & p : ran(at) & at(t) /= p THEN at(t) := p END END";

#[test]
fn a_trace_is_a_real_execution_and_the_same_for_any_number_of_workers() {
    // Every step of a counterexample is replayed by the reference interpreter, or the run is an internal error.
    let files = Files::new();
    let model = files.write(WANDER);
    let sizes = ["--set", "P=4", "--set", "T=4"];
    let (off, _) = check(&model, &sizes);
    let steps = off["violation"]["trace"].as_array().unwrap().len();
    for mode in MODES {
        let mut first: Option<Value> = None;
        for workers in ["1", "2", "3", "8"] {
            let mut options = vec!["--symmetry", mode, "--workers", workers];
            options.extend(sizes);
            let (mut result, status) = check(&model, &options);
            assert_eq!(status, 1, "{mode} {workers}");
            assert_eq!(result["violation"]["trace"].as_array().unwrap().len(), steps, "{mode} {workers}");
            if mode == "exact" || mode == "flood" {
                for field in ["workers", "seconds", "peak_memory_bytes", "time_shares"] {
                    result.as_object_mut().unwrap().remove(field);
                }
                assert_eq!(*first.get_or_insert(result.clone()), result, "{mode} {workers}");
            }
        }
    }
}

#[test]
fn a_saved_trace_of_a_search_up_to_symmetry_can_be_replayed() {
    let files = Files::new();
    let model = files.write(WANDER);
    let trace = files.dir.path().join("cex.prob2trace").display().to_string();
    for mode in MODES {
        let sizes = ["--set", "P=4", "--set", "T=4"];
        let (_, status) = check(&model, &[&["--symmetry", mode, "--trace", &trace], &sizes[..]].concat());
        assert_eq!(status, 1, "{mode}");
        let replayed = bombus(&[&["replay", &trace, "--model", &model], &sizes[..]].concat());
        assert_eq!(replayed.status.code(), Some(0), "{mode}: {}", String::from_utf8_lossy(&replayed.stderr));
    }
}

#[test]
fn counts_of_orbits_are_the_same_in_any_order_store_and_number_of_workers() {
    let mut all = Vec::new();
    for order in ["bfs", "dfs", "mixed"] {
        for store in ["exact", "hash"] {
            for workers in ["1", "3"] {
                let options = [
                    "--symmetry",
                    "exact",
                    "--set",
                    "PID=4",
                    "--order",
                    order,
                    "--store",
                    store,
                    "--workers",
                    workers,
                ];
                let (result, status) = check(&paper("peterson"), &options);
                assert_eq!(status, 0);
                all.push((
                    result["states"].clone(),
                    result["transitions"].clone(),
                    result["digest"].clone(),
                    result["events"].clone(),
                ));
            }
        }
    }
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
}

#[test]
fn families_of_sets_are_graphs_up_to_isomorphism() {
    // Graphs with loops over n nodes, not labelled: 6, 20, 90 (OEIS A000666).
    let files = Files::new();
    for (set, edge) in [("POW(POW(S))", "{x,y}"), ("POW(BOOL*POW(S))", "TRUE|->{x,y}")] {
        let model = files.write(&format!(
            "MACHINE M SETS S VARIABLES edges INVARIANT edges : {set} INITIALISATION edges := {{}}
             OPERATIONS add(x,y) = PRE x : S & y : S & {edge} /: edges THEN edges := edges \\/ {{{edge}}} END END",
        ));
        for (size, labelled, orbits) in [("2", 8, 6), ("3", 64, 20), ("4", 1024, 90)] {
            for (mode, states) in [("off", labelled), ("exact", orbits), ("flood", orbits)] {
                let (result, _) = check(&model, &["--symmetry", mode, "--set-size", size, "--keep-going"]);
                assert_eq!(result["states"].as_u64(), Some(states), "{set} {mode} {size}");
            }
        }
    }
}

#[test]
fn an_inexact_marker_never_verifies() {
    let (result, status) = check(&paper("towns"), &["--symmetry", "marker", "--set", "TOWN=3"]);
    assert_eq!((status, result["verdict"].as_str()), (3, Some("incomplete")));
    assert!(result["incomplete_because"].to_string().contains("approximate symmetry"), "{result}");
    let (result, status) = check(&paper("towns"), &["--symmetry", "exact", "--set", "TOWN=3"]);
    assert_eq!((status, result["reductions"]["symmetry"].as_str()), (0, Some("exact")));
}

#[test]
fn one_invalid_table_among_many_is_found() {
    // The marker confuses a ring of four with two tables of two, the exact identity must not.
    let files = Files::new();
    let model = files.write(
        "MACHINE M SETS D VARIABLES r INVARIANT r : D +-> D & not(r : D >->> D & closure1(r) = D*D)
         INITIALISATION r := {} OPERATIONS set(d, e) = PRE d : D & e : D & d /: dom(r) & e /: ran(r) THEN r(d) := e END;
         clear = r := {} END",
    );
    for mode in ["exact", "flood"] {
        let (result, status) = check(&model, &["--symmetry", mode, "--set", "D=4"]);
        assert_eq!((status, result["violation"]["trace"].as_array().map(Vec::len)), (1, Some(5)), "{mode}");
    }
}

#[test]
fn a_saved_search_up_to_symmetry_goes_on_to_the_same_end() {
    // Renamed constants stand in the value pool, whose numbers are part of what is saved.
    for (model, size) in [("philosophers", "4"), ("video_shop", "3")] {
        for mode in ["exact", "marker"] {
            let place = tempfile::tempdir().unwrap();
            let saved = place.path().join("saved").display().to_string();
            let mut options = vec!["--symmetry", mode, "--workers", "2"];
            let sizes: Vec<String> = match model {
                "philosophers" => vec![format!("Phil={size}"), format!("Forks={size}")],
                _ => vec![format!("PERSON={size}"), "TITLE=2".into()],
            };
            sizes.iter().for_each(|s| options.extend(["--set", s]));
            let (whole, _) = check(&paper(model), &options);
            let (_, status) = check(
                &paper(model),
                &[&options[..], &["--max-states", "12", "--checkpoint", &saved]].concat(),
            );
            assert_eq!(status, 3, "{model} {mode}");
            let (resumed, _) = check(&paper(model), &[&options[..], &["--resume", &saved]].concat());
            if mode == "exact" {
                for field in ["states", "transitions", "digest", "events", "verdict"] {
                    assert_eq!(whole[field], resumed[field], "{model} {mode} {field}");
                }
            }
            let grade = |result: &Value| result["reductions"]["symmetry"].clone();
            assert_eq!(grade(&whole), grade(&resumed), "{model} {mode}");
        }
    }
}

#[test]
fn flooding_is_refused_where_there_are_too_many_permutations() {
    let out = bombus(&["check", &paper("login"), "--symmetry", "flood", "--set", "Session=12"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("479001600 permutations"), "{out:?}");
}
