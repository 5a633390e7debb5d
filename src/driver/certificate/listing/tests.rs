//! One list of states, whatever table held them and however they were sorted.

use super::*;
use crate::base::budget::Budget;
use crate::explore::{Options, Order};
use crate::model::LoadOptions;
use crate::program::symmetry::Mode;
use crate::program::{self, compile};

/// Searches a machine, and gives the files of its states: as `write` makes it, and sorted as bytes.
fn files(program: &Program, options: &Options) -> (Vec<u8>, Vec<u8>) {
    let found = explore::explore(program, options, &Budget::unlimited()).expect("a search");
    assert!(found.exhausted && found.findings.is_empty() && found.reasons.is_empty(), "{:?}", found.reasons);
    let read = |dir: &Path| std::fs::read(dir.join("states.bin")).expect("a file");
    let dir = tempfile::tempdir().expect("a folder");
    let Ok(listed) = write(program, &found, dir.path()) else { panic!("nothing was written") };
    assert_eq!(listed.states.states, found.states);
    let as_written = read(dir.path());
    let (_, ranks) = valuations(program).expect("constants with a spelling");
    let states = match (&found.graph, &found.kept) {
        (Some(graph), _) => States::Graph(graph),
        (None, kept) => States::Kept(kept.as_ref().expect("states")),
    };
    let list = List { program, states, dir: dir.path(), ranks };
    assert!(list.by_bytes().is_ok());
    (as_written, read(dir.path()))
}

/// Whether all states of a program have keys, which must not change the file.
fn compare(text: &str, symmetry: Option<Mode>) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("M.mch");
    std::fs::write(&path, text).expect("a file");
    let load = LoadOptions { default_set_size: Some(3), ..LoadOptions::default() };
    let loaded = crate::driver::load(&path, &load);
    let (model, ..) = loaded.unwrap_or_else(|rejected| panic!("{}", rejected.text()));
    let budget = Budget::unlimited();
    let how = program::Options { symmetry, ..Default::default() };
    let program = compile(&model.machine, &budget, &how).expect("a program");
    let options = Options { keep_states: true, check_deadlock: false, stack: 1 << 24, ..Options::default() };
    let (file, as_bytes) = files(&program, &options);
    assert_eq!(file, as_bytes, "{text}");
    let numbered = Options { order: Order::Dfs, ..options.clone() };
    assert_eq!(file, files(&program, &numbered).0, "states with numbers: {text}");
    if symmetry.is_none() {
        let graph = Options { record_edges: true, ..options.clone() };
        assert_eq!(file, files(&program, &graph).0, "the nodes of a graph: {text}");
        let plain = program::Options { plain: true, ..how };
        let values = compile(&model.machine, &budget, &plain).expect("a program");
        assert_eq!(file, files(&values, &options).1, "values without layouts: {text}");
    }
    let found = explore::explore(&program, &options, &budget).expect("a search");
    let (_, ranks) = valuations(&program).expect("constants with a spelling");
    let spell = |v: &Value, ty: &Type, out: &mut Vec<u8>| {
        spelling::value(&model.machine.freetypes, v, ty, out).is_ok()
    };
    let keys = program.keys(&ranks, &spell);
    let kept = States::Kept(found.kept.as_ref().expect("states"));
    let has_key = |keys: &Keys, state: &[u64]| keys.key(state).map(drop).ok_or(Unwritten::Keyless);
    keys.is_some_and(|keys| {
        (0..kept.parts()).all(|part| kept.each_in(part, &program, |state| has_key(&keys, state)).is_ok())
    })
}

const INTEGERS: &str = "MACHINE M VARIABLES i, j, b, p, r
INVARIANT i : -70..300 & j : -3..3 & b : BOOL & p : (-65..64) * BOOL & r : struct(one : -1..1, two : POW(0..2))
INITIALISATION i, j, b := -70, -3, TRUE || p := (-65 |-> FALSE) || r := rec(one : -1, two : {})
OPERATIONS up = SELECT i <= 260 THEN i := i + 33 END; down = SELECT j < 3 THEN j := j + 1 || b := bool(b = FALSE) END;
  pair = SELECT j = 2 THEN p := (64 |-> b) END; rec_(x) = SELECT x : 0..2 THEN r := rec(one : -r'one, two : r'two \\/ {x}) END
END";

const FUNCTIONS: &str = "MACHINE M SETS S; T = {t0, t1, t2}
VARIABLES f, g, m, q
INVARIANT f : S --> T & g : S +-> -1..2 & m : S <-> T & q : T +-> POW(S)
INITIALISATION f := S * {t0} || g := {} || m := {} || q := {}
OPERATIONS set(x, y) = SELECT x : S & y : T & g = {} THEN f(x) := y END;
  put(x, n) = SELECT x : S & n : -1..2 & x /: dom(g) THEN g(x) := n END;
  link(x, y) = SELECT x : S & y : T & card(m) < 2 THEN m := m \\/ {x |-> y} END;
  note = SELECT card(m) = 2 THEN q(t1) := dom(m) END END";

const VALUATIONS: &str = "MACHINE M CONSTANTS c, k PROPERTIES c : -2..2 & k : 1..70 & k mod 9 = 0 & c /= 0
VARIABLES x INVARIANT x : -100..200 INITIALISATION x := c
OPERATIONS go = SELECT x < k THEN x := x + 1 END END";

/// A number that has no place among those that are promised nothing.
const LARGE: &str = "MACHINE M VARIABLES x, y INVARIANT x : INTEGER & y : 0..5
INITIALISATION x := 1 || y := 0
OPERATIONS double = SELECT x < 2**45 & x > -(2**45) THEN x := -2 * x END; step = SELECT y < 5 THEN y := y + 1 END END";

const TEXTS: &str = "MACHINE M VARIABLES s, n INVARIANT s : STRING & n : 0..9 INITIALISATION s := \"\" || n := 0
OPERATIONS say(x) = SELECT x : {\"\", \"zz\", \"a long text\"} THEN s := x END; step = SELECT n < 9 THEN n := n + 1 END END";

const ORBITS: &str = "MACHINE M SETS P VARIABLES next, at INVARIANT next : P +-> P & at <: P
INITIALISATION next := {} || at := {}
OPERATIONS link(x, y) = SELECT x : P & y : P & x /: dom(next) THEN next(x) := y END;
  put(x) = SELECT x : P THEN at := at \\/ {x} END; move = at := next[at]; clear = next := {} END";

#[test]
fn states_with_keys_make_the_same_file_as_their_bytes() {
    for text in [INTEGERS, FUNCTIONS, VALUATIONS, ORBITS] {
        assert!(compare(text, None), "{text}");
    }
    assert!(compare(ORBITS, Some(Mode::Exact)));
}

#[test]
fn states_without_keys_are_sorted_by_their_bytes() {
    for text in [LARGE, TEXTS] {
        assert!(!compare(text, None), "{text}");
    }
}

#[test]
fn keys_that_are_sorted_in_runs_make_the_same_file_as_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("M.mch");
    let text = "MACHINE M VARIABLES x INVARIANT x : 0..131071 INITIALISATION x := 0 END";
    std::fs::write(&path, text).expect("a file");
    let Ok((model, ..)) = crate::driver::load(&path, &LoadOptions::default()) else { panic!("a model") };
    let program = compile(&model.machine, &Budget::unlimited(), &Default::default()).expect("a program");
    let spell = |v: &Value, ty: &Type, out: &mut Vec<u8>| spelling::value(&[], v, ty, out).is_ok();
    let keys = program.keys(&[0], &spell).expect("keys");
    let some: Vec<u64> = (0..20_000u64).map(|n| n * 48_271 % 131_071).collect();
    let file = |most: usize, all: &[u64]| {
        let dir = tempfile::tempdir().expect("a folder");
        let mut sorter = keyed::Sorter::<u64>::with_runs_of(&keys, dir.path(), most);
        all.chunks(100).for_each(|part| sorter.add(part).expect("room"));
        let path = dir.path().join("states.bin");
        let written = sorter.finish(&path)?;
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1, "runs are removed");
        Ok((std::fs::read(path).expect("a file"), written))
    };
    let whole = file(usize::MAX, &some).map_err(|e: Trouble| format!("{e:?}")).expect("written");
    assert_eq!(whole.1.states, 20_000);
    assert_eq!(file(3_000, &some).map_err(|e| format!("{e:?}")), Ok(whole));
    for most in [usize::MAX, 2] {
        assert!(matches!(file(most, &[5, 9, 7, 5]), Err(Trouble::Twice)), "a state twice");
    }
}
