//! The compiled engine against the reference interpreter: random machines, and models named from
//! outside.
//!
//! `BOMBUS_DIFFERENTIAL_MACHINES=n` sets how many random machines are tried (seeds from
//! `BOMBUS_DIFFERENTIAL_SEED`), `BOMBUS_DIFFERENTIAL_STATES=n` on how many states of each,
//! `BOMBUS_DIFFERENTIAL_NATIVE=0` without machine code, `BOMBUS_DIFFERENTIAL_GUESSES=0` without guessed layouts, which every second random
//! machine has, `BOMBUS_DIFFERENTIAL_FILES=list` compares the models of a list
//! instead. Both engines must agree step by step: initial states, transitions with parameters and
//! results, findings, undefined guards, truth of every clause. Machine code, register code and the way back to the
//! evaluator must all have been used.

use crate::support::{self, agreement};

use agreement::{Limits, Ways, agree_by};
use bombus::model::{LoadOptions, load};
use std::path::Path;
use support::{machines, number_from_env as setting, with_stack as on_large_stack};

/// Loads and compares; `Ok(None)` when the text is no model.
fn compare(path: &Path, limits: &Limits, ways: &mut Ways) -> Result<Option<usize>, String> {
    let loaded = load(path, &LoadOptions::default());
    let Some(model) = &loaded.model else { return Ok(None) };
    agree_by(&model.machine, limits, ways).map(Some)
}

#[test]
fn random_machines_mean_the_same_in_both_engines() {
    let machines = setting("BOMBUS_DIFFERENTIAL_MACHINES", 2_000);
    let first = setting("BOMBUS_DIFFERENTIAL_SEED", 1);
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get()) as u64;
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|t| {
                scope.spawn(move || {
                    on_large_stack(move || some_machines(first + t, first + machines, threads))
                })
            })
            .collect();
        let mut ways = Ways::default();
        for thread in all {
            match thread.join() {
                Ok(used) => ways.add(used),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        eprintln!("{ways:?}");
        // A few machines may happen to need none of the ways.
        if machines >= 100 {
            let native = cfg!(target_arch = "x86_64") && setting("BOMBUS_DIFFERENTIAL_NATIVE", 1) != 0;
            assert!(ways.values > 0 && ways.register_code > 0, "some way was never used: {ways:?}");
            assert!(ways.machine_code > 0 || !native, "machine code was never used: {ways:?}");
        }
    });
}

/// Compares machines with seeds from `first` in steps of `step`, and says how their events were run.
fn some_machines(first: u64, end: u64, step: u64) -> Ways {
    let dir = tempfile::tempdir().expect("a directory for models");
    let path = dir.path().join("Random.mch");
    let states = setting("BOMBUS_DIFFERENTIAL_STATES", 60) as usize;
    let native = setting("BOMBUS_DIFFERENTIAL_NATIVE", 1) != 0;
    let guesses = setting("BOMBUS_DIFFERENTIAL_GUESSES", 1) != 0;
    let (mut tried, mut loaded, mut compared) = (0, 0, 0);
    let mut rejected = String::new();
    let mut ways = Ways::default();
    for seed in (first..end).step_by(step as usize) {
        let machine = machines::random(seed);
        // One of five without machine code, or all.
        let limits =
            Limits { states, seconds: 1, native: native && seed % 5 != 0, guesses: guesses && seed % 2 == 0 };
        std::fs::write(&path, machine.to_string()).expect("the model is written");
        tried += 1;
        match compare(&path, &limits, &mut ways) {
            Ok(None) if rejected.len() > 2000 => {}
            Ok(None) => {
                let errors = load(&path, &LoadOptions::default());
                let words: Vec<_> = errors.diagnostics.iter().map(|d| d.message.clone()).collect();
                rejected += &format!("\nseed {seed}: {}", words.join("; "));
            }
            Ok(Some(states)) => {
                loaded += 1;
                compared += states;
            }
            Err(why) => {
                let small = machine.shrink(|candidate| {
                    std::fs::write(&path, candidate.to_string()).expect("the model is written");
                    compare(&path, &limits, &mut Ways::default()).is_err()
                });
                std::fs::write(&path, small.to_string()).expect("the model is written");
                let why = compare(&path, &limits, &mut ways).err().unwrap_or(why);
                panic!("seed {seed}: {why}\n{small}");
            }
        }
    }
    assert!(loaded * 10 >= tried * 8, "only {loaded} of {tried} random machines are well typed: {rejected}");
    assert!(compared >= loaded, "{compared} states compared");
    ways
}

#[test]
#[ignore = "needs models: BOMBUS_DIFFERENTIAL_FILES names a list of them"]
fn models_named_from_outside_mean_the_same_in_both_engines() {
    let list = std::env::var("BOMBUS_DIFFERENTIAL_FILES").expect("BOMBUS_DIFFERENTIAL_FILES names a list");
    on_large_stack(move || {
        let limits = Limits {
            native: true,
            guesses: setting("BOMBUS_DIFFERENTIAL_GUESSES", 1) != 0,
            states: setting("BOMBUS_DIFFERENTIAL_STATES", 300) as usize,
            seconds: setting("BOMBUS_DIFFERENTIAL_SECONDS", 5),
        };
        let files = std::fs::read_to_string(list).expect("the list is a file");
        let mut failures = Vec::new();
        for file in files.lines() {
            match compare(Path::new(file), &limits, &mut Ways::default()) {
                Ok(None) => eprintln!("not loaded: {file}"),
                Ok(Some(n)) => eprintln!("agree on {n} states: {file}"),
                Err(why) => {
                    eprintln!("DISAGREE: {file}: {why}");
                    failures.push(file.to_string());
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    });
}
