//! Random machines: reduced checks say what full checks say, and count alike with any number of workers.
//!
//! `BOMBUS_POR_MACHINES` sets how many machines of each kind, `BOMBUS_POR_SEED` the first of them.

use super::{deadlock_only, machines, options, run, varied, written};
use crate::support::number_from_env as setting;
use bombus::driver::{Asked, CheckOptions, Reduce, on_large_stack};
use bombus::explore::Store;
use bombus::report::{Outcome, Verdict};
use std::path::Path;

/// Verdicts of a full and of a reduced check that must agree.
pub fn verdicts(o: &Outcome) -> (Verdict, Vec<&'static str>) {
    (o.verdict(), o.temporal.iter().map(|t| t.verdict).collect())
}

/// The kinds of checks that are compared, for one machine.
fn asked(seed: u64) -> Vec<CheckOptions> {
    let formula = machines::formula(seed);
    vec![
        options(),
        deadlock_only(),
        CheckOptions { no_deadlock: true, goal: Some(machines::predicate(seed)), ..options() },
        CheckOptions {
            no_deadlock: true,
            temporal: Asked { ltl: vec![formula], ..Asked::default() },
            ..deadlock_only()
        },
    ]
}

/// All ways to reduce a check.
fn ways(full: &CheckOptions) -> [CheckOptions; 5] {
    let exact = Store::Exact;
    // Formulas need the states themselves.
    let compact = if full.temporal.ltl.is_empty() { Store::Hash } else { exact };
    [
        (Reduce::Stubborn, false, exact),
        (Reduce::Stubborn, true, exact),
        (Reduce::Stubborn, false, compact),
        (Reduce::Ample, false, exact),
        (Reduce::Ample, true, exact),
    ]
    .map(|(por, level_proviso, store)| CheckOptions { por, level_proviso, store, ..full.clone() })
}

/// All that may not depend on the number of workers.
fn counts(path: &Path, how: &CheckOptions, workers: usize) -> Option<impl PartialEq + use<>> {
    let o = run(path, &CheckOptions { workers, ..how.clone() })?;
    let events: Vec<(u64, u64)> = o.events.iter().map(|e| (e.states, e.transitions)).collect();
    let details = o.reductions.por_details.map(|d| (d.reduced, d.full_by_proviso, d.rounds));
    Some((o.counts.states, o.counts.transitions, o.digest, events, details))
}

/// What disagrees for the machine of a seed.
fn disagreement(dir: &Path, seed: u64, text: &str, figures: &mut (u64, u64)) -> Option<String> {
    let path = written(dir, text);
    for (nth, full) in asked(seed).into_iter().enumerate() {
        let Some(all) = run(&path, &full) else { return Some(format!("rejected:\n{text}")) };
        if all.verdict() == Verdict::Incomplete {
            continue;
        }
        for way in ways(&full) {
            let Some(reduced) = run(&path, &way) else { return Some(format!("not reduced:\n{text}")) };
            let called = format!("check {nth}, {:?}, level {}", way.por, way.level_proviso);
            // An endless state space may hide a violation behind the limit in either order.
            if (all.verdict(), reduced.verdict()) == (Verdict::Violated, Verdict::Incomplete) {
                continue;
            }
            if verdicts(&all) != verdicts(&reduced) {
                return Some(format!(
                    "{called}: {:?} against {:?}, {:?}\n{text}",
                    verdicts(&all),
                    verdicts(&reduced),
                    full.temporal.ltl
                ));
            }
            if all.verdict() == Verdict::Verified {
                figures.0 += reduced.counts.states;
                figures.1 += all.counts.states;
                if reduced.counts.states > all.counts.states {
                    return Some(format!("{called}: more states than there are\n{text}"));
                }
                if reduced.events.iter().any(|e| e.states > reduced.counts.states) {
                    return Some(format!("{called}: an event in more states than there are\n{text}"));
                }
            }
        }
        let way = &ways(&full)[(seed / 8 % 5) as usize];
        if seed.is_multiple_of(8) {
            let one = counts(&path, way, 1);
            if [2, 5, 8].iter().any(|n| counts(&path, way, *n) != one) {
                return Some(format!("check {nth}: counts depend on the number of workers\n{text}"));
            }
        }
    }
    lost_deadlock(&path).then(|| format!("--only-deadlock\n{text}"))
}

/// Whether a search for deadlocks alone misses them all, or finds what a full one does not. An
/// undefined action may be met or missed: nothing else is promised.
fn lost_deadlock(path: &Path) -> bool {
    let full = deadlock_only();
    let Some(all) = run(path, &CheckOptions { keep_going: true, ..full.clone() }) else { return true };
    if Verdict::conclude(&all.ledger, false) == Verdict::Incomplete {
        return false;
    }
    let others = all.found.iter().any(|(kind, n)| kind != "deadlock" && *n > 0);
    ways(&CheckOptions { deadlock_only: true, ..full }).iter().any(|way| match run(path, way) {
        None => true,
        Some(o) if all.found("deadlock") > 0 => o.verdict() == Verdict::Verified,
        Some(o) => !others && o.verdict() != Verdict::Verified,
    })
}

fn compare(machine: fn(u64) -> String, default: u64) {
    let machines = setting("BOMBUS_POR_MACHINES", default);
    let first = setting("BOMBUS_POR_SEED", 1);
    let found = on_large_stack(move || {
        let dir = tempfile::tempdir().expect("a directory");
        let mut figures = (0, 0);
        for seed in first..first + machines {
            if let Some(why) = disagreement(dir.path(), seed, &machine(seed), &mut figures) {
                return Err(format!("seed {seed}: {why}"));
            }
        }
        Ok(figures)
    })
    .expect("no panic");
    let (reduced, all) = found.unwrap_or_else(|why| panic!("{why}"));
    assert!(reduced < all, "{reduced} of {all} states: nothing is reduced");
}

#[test]
fn random_machines_have_the_same_verdict_with_and_without_reduction() {
    compare(machines::random, 60);
}

#[test]
fn machines_in_all_shapes_of_text_have_the_same_verdict_with_and_without_reduction() {
    compare(varied::random, 60);
}
