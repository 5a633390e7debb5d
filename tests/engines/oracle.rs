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
