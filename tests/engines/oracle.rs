//! The evaluator against the oracle: random machines, bench-models, and models named from outside.
//!
//! With `differential`, which compares compiled code with the evaluator, this makes three ways to the same answer:
//! constants, initial states, transitions with parameters and results, findings, undefined guards, truth of clauses.
//! `BOMBUS_ORACLE_MACHINES=n` sets how many random machines are tried (seeds from `BOMBUS_ORACLE_SEED`),
//! `BOMBUS_ORACLE_STATES=n` on how many states of each, `BOMBUS_ORACLE_FILES=list` names models.

use crate::support::oracle::{Compared, agree};
use crate::support::{machines, number_from_env as setting, with_stack};
use bombus::model::{LoadOptions, load};
use std::path::{Path, PathBuf};

/// Loads and compares; nothing when the text is no model.
fn compare(path: &Path, states: usize, seconds: u64) -> Result<Compared, String> {
    let loaded = load(path, &LoadOptions::default());
    let Some(model) = &loaded.model else { return Ok(Compared::default()) };
    agree(&model.machine, states, seconds)
}

#[test]
fn random_machines_mean_the_same_to_the_oracle() {
    with_stack(|| {
        let first = setting("BOMBUS_ORACLE_SEED", 1);
        let count = setting("BOMBUS_ORACLE_MACHINES", 1_500);
        let states = setting("BOMBUS_ORACLE_STATES", 12) as usize;
        let dir = tempfile::tempdir().expect("a directory for models");
        let path = dir.path().join("Random.mch");
        let mut all = Compared::default();
        for seed in first..first + count {
            let machine = machines::random(seed);
            let write = |text: String| std::fs::write(&path, text).expect("the model is written");
            write(machine.to_string());
            match compare(&path, states, 2) {
                Ok(compared) => all.add(compared),
                Err(why) => {
                    let small = machine.shrink(|candidate| {
                        write(candidate.to_string());
                        compare(&path, states, 2).is_err()
                    });
                    write(small.to_string());
                    let why = compare(&path, states, 2).err().unwrap_or(why);
                    panic!("seed {seed}: {why}\n{small}");
                }
            }
        }
        eprintln!("{all:?}");
        assert!(
            all.starts * 3 >= count as usize,
            "too few constants and initial states were compared: {all:?}"
        );
        assert!(all.transitions >= count as usize, "too few transitions were compared: {all:?}");
        assert!(all.undefined * 20 >= count as usize, "too little was undefined: {all:?}");
    });
}

/// A LET whose expressions always have values is part of the guard behind it: a guard that is undefined there counts as
/// false, and in any other place it is a finding.
#[test]
fn a_let_in_front_of_a_guard_means_the_same_to_the_oracle() {
    operations_mean_the_same(&[
        "p <-- op = LET a BE a = 1 IN SELECT 1/x = a THEN p := x WHEN x = 0 THEN p := a END END",
        "op(q) = PRE q : 0..2 THEN LET a BE a = q + x IN ANY b WHERE b : 0..a & 4/b = 2 THEN x := b mod 3 END END END",
        "op = LET a BE a = 1 IN LET b BE b = a + 1 IN SELECT b/x = 1 THEN skip END END END",
        "op = LET a BE a = 1/x IN SELECT 1/a = 1 THEN skip END END",
        "op = LET a BE a = 1 IN LET b BE b = a/x IN SELECT b = 1 THEN skip END END END",
        "op = BEGIN LET a BE a = 1 IN SELECT 1/x = a THEN skip END END END",
        "op = IF x < 3 THEN LET a BE a = 1 IN SELECT 1/x = a THEN skip END END END",
        "op = SELECT x < 3 THEN LET a BE a = 1 IN x := a/x END END",
        "op = CHOICE LET a BE a = 2 IN SELECT 1/x = a THEN skip END END OR SELECT 1/x = 1 THEN x := 0 END END",
        "op = LET a BE a = NATURAL IN SELECT 1/x : a THEN skip END END",
    ]);
}

/// `p : T` for the type `T` of a result that has no value yet is true; what reads the result is undefined.
#[test]
fn a_result_without_a_value_means_the_same_to_the_oracle() {
    operations_mean_the_same(&[
        "p <-- op = BEGIN IF p : INTEGER THEN x := 1 END; p := x END",
        "p <-- op = BEGIN IF p /: INTEGER THEN x := 1 END; p := x END",
        "p <-- op = BEGIN IF not(p : INTEGER) or x = 2 THEN x := 1 END; p := x END",
        "p <-- op = BEGIN IF p : NATURAL THEN x := 1 END; p := x END",
        "p <-- op = BEGIN IF p + 0 : INTEGER THEN x := 1 END; p := x END",
        "p <-- op = ASSERT p : INTEGER & x : 0..3 THEN p := x END",
        "p <-- op = ASSERT p : BOOL & x < 3 THEN p := bool(x = 1) END",
        "p <-- op = PRE p : C THEN p :: C END",
        "p <-- op = SELECT p : C & x = 0 THEN x := 1; p := c ELSE SELECT p : C THEN p := d END END",
        "op = VAR v IN IF v : C THEN v := c ELSE v := d END; IF v = c THEN x := 2 END END",
        "op = VAR v IN IF {v} <: C THEN v := c ELSE v := d END; IF v = c THEN x := 2 END END",
        "p <-- op = BEGIN WHILE x > 0 DO x := x - 1; p := x INVARIANT p : INTEGER & x : 0..3 VARIANT x END; IF x = 0 THEN p := 1 END END",
        "p <-- op = BEGIN WHILE x > 0 DO x := x - 1; p := x INVARIANT #y.(y : 0..1 & p : INTEGER) & x : 0..3 VARIANT x END; p := 1 END",
        "p <-- op = CHOICE p : (p : INTEGER & p = x) OR p := 2 END",
    ]);
}

/// Compares machines with one operation over `x : 0..3` and an enumerated set.
fn operations_mean_the_same(operations: &[&str]) {
    let operations: Vec<String> = operations.iter().map(|o| (*o).to_string()).collect();
    with_stack(move || {
        let dir = tempfile::tempdir().expect("a directory for models");
        let path = dir.path().join("One.mch");
        for operation in operations {
            let text = format!(
                "MACHINE One SETS C = {{c, d}} VARIABLES x INVARIANT x : 0..3 INITIALISATION x :: 0..3
                 OPERATIONS {operation} END"
            );
            std::fs::write(&path, text).expect("the model is written");
            let compared = compare(&path, 10, 5).unwrap_or_else(|why| panic!("{operation}: {why}"));
            assert!(compared.states >= 4, "{operation}: too few states were compared: {compared:?}");
        }
    });
}

#[test]
fn bench_models_mean_the_same_to_the_oracle() {
    with_stack(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench-models");
        let mut files: Vec<PathBuf> = [root.clone(), root.join("faulty")]
            .iter()
            .flat_map(|dir| std::fs::read_dir(dir).expect("a folder of models"))
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|e| e == "mch"))
            .collect();
        files.sort();
        let mut all = Compared::default();
        for file in &files {
            let compared = compare(file, 20, 5).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
            all.add(compared);
        }
        assert!(all.states >= 10 * files.len(), "too few states were compared: {all:?}");
    });
}

#[test]
#[ignore = "needs models: BOMBUS_ORACLE_FILES names a list of them"]
fn models_named_from_outside_mean_the_same_to_the_oracle() {
    let list = std::env::var("BOMBUS_ORACLE_FILES").expect("BOMBUS_ORACLE_FILES names a list");
    with_stack(move || {
        let states = setting("BOMBUS_ORACLE_STATES", 30) as usize;
        let mut failures = Vec::new();
        for file in std::fs::read_to_string(list).expect("the list is a file").lines() {
            match compare(Path::new(file), states, 5) {
                Ok(compared) => eprintln!("{file}: {compared:?}"),
                Err(why) => {
                    eprintln!("DISAGREE {file}: {why}");
                    failures.push(file.to_string());
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    });
}
