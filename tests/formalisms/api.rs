//! The library for users with a formalism of their own: the same counts as in B, any number of workers.

use bombus::api::{
    Budget, Diagnostic, EventId, Explorer, FindingKind, GuardId, InstanceId, Interned, Model, Options,
    Orbits, Order, Precision, PropId, Relations, Sink, Span, System, Verdict,
};
use bombus::explore::{self, Keeper};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[path = "../../examples/mutual_exclusion.rs"]
mod mutual_exclusion;
#[path = "../../examples/sliding_puzzle.rs"]
mod sliding_puzzle;

/// Peterson's algorithm as in the example, in B.
const PETERSON: &str = "MACHINE peterson SETS P = {p0, p1}; AT = {idle, flag, wait, crit} VARIABLES at, turn
INVARIANT at : P --> AT & turn : P & not(at(p0) = crit & at(p1) = crit)
INITIALISATION at := P * {idle} || turn := p0
OPERATIONS
  raise(p) = PRE p : P & at(p) = idle THEN at(p) := flag END;
  give_turn(p) = PRE p : P & at(p) = flag THEN at(p) := wait || turn :: P - {p} END;
  enter(p) = PRE p : P & at(p) = wait & (at[P - {p}] = {idle} or turn = p) THEN at(p) := crit END;
  leave(p) = PRE p : P & at(p) = crit THEN at(p) := idle END
END";

/// States and transitions of a model in B.
fn counted(file: &Path) -> (u64, u64) {
    let out =
        Command::new(env!("CARGO_BIN_EXE_bombus")).arg("check").arg(file).arg("--json").output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(result["verdict"], "verified");
    (result["states"].as_u64().unwrap(), result["transitions"].as_u64().unwrap())
}

/// The examples assert their own counts.
#[test]
fn the_examples_run_and_have_the_counts_of_the_same_systems_in_b() {
    mutual_exclusion::main();
    sliding_puzzle::main();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("peterson.mch");
    std::fs::write(&file, PETERSON).unwrap();
    assert_eq!(counted(&file), (20, 34));
    let tiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-models/families/tiles.mch");
    assert_eq!(counted(&tiles), (360, 840));
}

/// `k` cyclic counters of `n` values, eight bits each; independent of each other.
struct Grid {
    k: u32,
    n: u64,
    events: Vec<String>,
    relations: Relations,
    propositions: Vec<(u32, u64)>,
}

impl Grid {
    fn new(k: u32, n: u64) -> Grid {
        let events: Vec<String> = (0..k).map(|i| format!("raise{i}")).collect();
        let guards = (0..k).map(|_| Vec::new()).collect();
        let mut relations = Relations::unrelated((0..k).map(EventId).collect(), guards, 0);
        for i in 0..k as usize {
            relations.dependent.insert(i, i);
            (0..k as usize).for_each(|j| relations.together.insert(i, j));
        }
        Grid { k, n, events, relations, propositions: Vec::new() }
    }
}

impl System for Grid {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn initial(&self, (): &mut (), sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &[0]);
    }

    fn successors(&self, (): &mut (), state: &[u64], sink: &mut dyn Sink) {
        for i in 0..self.k {
            let digit = state[0] >> (8 * i) & 255;
            let next = if digit + 1 == self.n { 0 } else { digit + 1 };
            sink.edge(EventId(i), 0, &[state[0] & !(255 << (8 * i)) | next << (8 * i)]);
        }
    }

    fn relations(&self) -> Option<&Relations> {
        Some(&self.relations)
    }

    fn instance(&self, event: EventId, _: u64) -> Option<InstanceId> {
        Some(InstanceId(event.0))
    }

    fn guard(&self, (): &mut (), _: &[u64], _: GuardId) -> bool {
        true
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let parts =
            text.split_once('=').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        let (i, n) = parts.ok_or_else(|| vec![Diagnostic::error(at, "counter = value")])?;
        self.relations.make_visible(i as usize);
        self.propositions.push((i, n));
        Ok(PropId(self.propositions.len() as u32 - 1))
    }

    fn holds(&self, (): &mut (), state: &[u64], PropId(p): PropId) -> Option<bool> {
        let (i, n) = self.propositions[p as usize];
        Some(state[0] >> (8 * i) & 255 == n)
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        (0..self.k).map(|i| (format!("c{i}"), (state[0] >> (8 * i) & 255).to_string())).collect()
    }
}

#[test]
fn a_grid_of_counters_has_its_closed_form_with_any_number_of_workers() {
    let mut digests = Vec::new();
    for (workers, order) in
        [(1, Order::Bfs), (4, Order::Bfs), (16, Order::Bfs), (2, Order::Dfs), (3, Order::Mixed)]
    {
        let report = Explorer::new(Grid::new(3, 7)).workers(workers).order(order).run().unwrap();
        assert_eq!((report.states(), report.transitions()), (343, 1029));
        assert_eq!((report.verdict, report.reasons.len()), (Verdict::Verified, 0));
        digests.push(report.outcome.digest);
    }
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]));
}

/// The counters of a grid under one event, which numbers them in its label: any two may be exchanged.
struct Alike {
    grid: Grid,
    events: Vec<String>,
}

impl System for Alike {
    type Worker = ();

    fn worker(&self) {}

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn initial(&self, (): &mut (), sink: &mut dyn Sink) {
        self.grid.initial(&mut (), sink);
    }

    fn successors(&self, (): &mut (), state: &[u64], sink: &mut dyn Sink) {
        for i in 0..self.grid.k {
            let digit = state[0] >> (8 * i) & 255;
            let next = if digit + 1 == self.grid.n { 0 } else { digit + 1 };
            sink.edge(EventId(0), u64::from(i), &[state[0] & !(255 << (8 * i)) | next << (8 * i)]);
        }
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        self.grid.proposition(text, at)
    }

    fn holds(&self, (): &mut (), state: &[u64], proposition: PropId) -> Option<bool> {
        self.grid.holds(&mut (), state, proposition)
    }

    fn orbits(&self) -> Option<Box<dyn Orbits + '_>> {
        Some(Box::new(Sorted(self.grid.k)))
    }
}

/// The values of so many counters, the least one first.
struct Sorted(u32);

impl Orbits for Sorted {
    fn words(&self) -> usize {
        1
    }

    fn identity(&mut self, state: &[u64], out: &mut [u64]) -> Precision {
        let mut digits: Vec<u64> = (0..self.0).map(|i| state[0] >> (8 * i) & 255).collect();
        digits.sort_unstable();
        out[0] = digits.iter().zip(0..).map(|(digit, i)| digit << (8 * i)).sum();
        Precision::Exact
    }

    fn print(&self, identity: &[u64]) -> u128 {
        u128::from(identity[0]).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }
}

#[test]
fn states_that_a_declared_symmetry_exchanges_count_as_one_as_in_b() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("alike.mch");
    let text = "MACHINE alike SETS ID VARIABLES f INVARIANT f : ID --> 0..6 INITIALISATION f := ID * {0}
        OPERATIONS raise(i) = PRE i : ID THEN f(i) := (f(i) + 1) mod 7 END END";
    std::fs::write(&file, text).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_bombus"))
        .args(["check", "--json", "--set", "ID=3", "--symmetry", "exact"])
        .arg(&file)
        .output()
        .unwrap();
    let in_b: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let alike = || Alike { grid: Grid::new(3, 7), events: vec!["raise".into()] };
    for workers in [1, 2, 16] {
        let report = Explorer::new(alike()).workers(workers).run().unwrap();
        // Multisets of three values out of seven.
        assert_eq!((report.states(), report.transitions()), (84, 252));
        assert_eq!(report.verdict, Verdict::Verified);
    }
    assert_eq!((&in_b["states"], &in_b["transitions"]), (&84.into(), &252.into()));
    // A formula may tell counters apart that the symmetry exchanges: there it is not decided.
    let report = Explorer::new(alike()).ltl("G {0 = 0}").unwrap().run().unwrap();
    assert_eq!((report.temporal[0].holds, report.verdict), (None, Verdict::Incomplete));
}

#[test]
fn formulas_of_the_library_have_a_loop_where_they_fail_and_agree_with_a_reduced_search() {
    for (formula, holds) in
        [("G F {0 = 3}", false), ("G not {0 = 7}", true), ("{0 = 0} W {0 = 1}", true), ("F {2 = 6}", false)]
    {
        for reduces in [false, true] {
            let explorer = Explorer::new(Grid::new(3, 7)).workers(2).reduce(reduces).ltl(formula).unwrap();
            let report = explorer.run().unwrap();
            assert_eq!(report.temporal[0].holds, Some(holds), "{formula}");
            assert_eq!(report.verdict, if holds { Verdict::Verified } else { Verdict::Violated });
            assert_eq!(report.outcome.por.is_some(), reduces);
            assert!(reduces || report.states() == 343);
            assert_eq!(report.violation.as_ref().is_some_and(|v| v.loop_start.is_some()), !holds);
        }
    }
    assert!(Explorer::new(Grid::new(1, 2)).ltl("G {nothing}").is_err());
    assert!(Explorer::new(Grid::new(1, 2)).ltl("G (").is_err());
}

#[test]
fn a_limit_makes_a_report_incomplete_and_says_which() {
    let report = Explorer::new(Grid::new(3, 50)).max_states(100).run().unwrap();
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert!(report.reasons[0].contains("100 states"), "{:?}", report.reasons);
}

/// Keeps the last of the saved searches in memory.
#[derive(Debug, Default)]
struct Memory(Mutex<Vec<u8>>);

impl Keeper for Memory {
    fn is_due(&self, _: Duration) -> bool {
        true
    }

    fn wants_end(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }

    fn keep(&self, _: &dyn Fn() -> Duration, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        *self.0.lock().unwrap() = bytes;
    }
}

#[test]
fn a_search_of_a_hand_written_system_goes_on_where_it_was_saved() {
    let grid = Grid::new(3, 30);
    let memory = Arc::new(Memory::default());
    let options = Options { workers: 2, keeper: Some(memory.clone()), ..Options::default() };
    let first = explore::explore(&grid, &options, &Budget::unlimited()).unwrap();
    assert!(!first.exhausted);
    let saved = memory.0.lock().unwrap().clone();
    let options = Options { workers: 3, ..Options::default() };
    let second = explore::resume(&grid, &options, &Budget::unlimited(), &mut &saved[..]).unwrap();
    assert_eq!((second.states, second.transitions), (27_000, 81_000));
    let whole = explore::explore(&grid, &Options::default(), &Budget::unlimited()).unwrap();
    assert_eq!(second.digest, whole.digest);
}

/// Words over two letters that grow to a length; those with two equal letters in a row are broken.
struct Words {
    longest: usize,
    checks: bool,
}

impl Model for Words {
    type State = String;

    fn events(&self) -> Vec<String> {
        vec!["a".into(), "b".into()]
    }

    fn initial(&self, state: &mut dyn FnMut(String)) {
        state(String::new());
        state(String::new());
    }

    fn successors(&self, from: &String, step: &mut dyn FnMut(usize, String)) {
        if from.len() < self.longest {
            for (event, letter) in ["a", "b", "b"].iter().enumerate() {
                step(event.min(1), format!("{from}{letter}"));
            }
        }
    }

    fn broken(&self, state: &String) -> Option<String> {
        (self.checks && state.contains("aba")).then(|| "aba".into())
    }

    fn terminated(&self, state: &String) -> bool {
        state.len() == self.longest
    }

    fn proposition(&self, text: &str) -> Option<fn(&String) -> bool> {
        (text.trim() == "ends in a").then_some(|word| word.ends_with('a'))
    }
}

#[test]
fn values_of_any_type_are_states_and_equal_steps_count_once() {
    let mut digests = Vec::new();
    for workers in [1, 2, 4] {
        let words = Words { longest: 7, checks: false };
        let report = Explorer::new(Interned::new(words)).workers(workers).run().unwrap();
        // Binary words of length 0 to 7, each but the first with one way to it.
        assert_eq!((report.states(), report.transitions(), report.outcome.initial), (255, 254, 1));
        assert_eq!(report.verdict, Verdict::Verified);
        digests.push(report.outcome.digest);
    }
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_broken_value_is_reached_by_a_shortest_way() {
    let words = Words { longest: 7, checks: true };
    let report = Explorer::new(Interned::new(words)).workers(2).run().unwrap();
    assert_eq!((report.verdict, report.outcome.counts.of(FindingKind::Invariant)), (Verdict::Violated, 1));
    let trace = report.violation.unwrap().trace;
    let events: Vec<&str> = trace.iter().filter_map(|step| step.event.as_deref()).collect();
    assert_eq!(events, ["a", "b", "a"]);
    let words = Interned::new(Words { longest: 3, checks: false });
    let report = Explorer::new(words).ltl("F {ends in a}").unwrap().run().unwrap();
    assert_eq!(report.temporal[0].holds, Some(false));
}
