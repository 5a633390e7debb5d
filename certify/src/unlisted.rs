//! Certificates that list no states, and proofs: the oracle explores the machine itself.
//!
//! In: a machine and what was asked of it. Out: all states were seen and nothing is wrong, or something is, or there are
//! too many states. Never here: files.

use crate::certificate::Certificate;
use crate::manifest::Asked;
use crate::report::Report;
use crate::run::Options;
use bombus_oracle::exec::Kind;
use bombus_oracle::search;
use bombus_oracle::tree::Machine;
use std::time::{Duration, Instant};

/// How many states are explored unless the user says otherwise.
const STATES: u64 = 1_000_000;

/// What an exploration saw.
pub enum Seen {
    /// So many states are all, and nothing is wrong.
    All(search::Report),
    /// A finding, in words.
    Wrong(String),
    /// Nothing is wrong in so many states, and why these are not all.
    Part(usize, String),
}

/// Explores a machine as far as a number of states and a time allow.
pub fn explore(machine: &Machine, asked: Asked, steps: u64, states: u64, time: Option<Duration>) -> Seen {
    let kinds = [
        (asked.invariant, Kind::Invariant),
        (asked.assertions, Kind::Assertion),
        (asked.deadlock, Kind::Deadlock),
        (asked.goal, Kind::Goal),
    ];
    let limits = search::Options {
        max_states: usize::try_from(states).unwrap_or(usize::MAX),
        budget: steps,
        strict_guards: asked.strict_guards,
        ignore: kinds.iter().filter(|(wanted, _)| !wanted).map(|(_, kind)| *kind).collect(),
        keep_going: false,
    };
    let started = Instant::now();
    let report = search::explore(machine, &limits, &mut || time.is_none_or(|most| started.elapsed() < most));
    match (report.first.first(), report.incomplete.first()) {
        (Some((finding, trace)), _) => Seen::Wrong(format!(
            "{}: {} {} after {} steps",
            finding.kind.word(),
            finding.why,
            finding.place,
            trace.steps.len().saturating_sub(1)
        )),
        (None, Some(why)) => Seen::Part(report.states, why.clone()),
        (None, None) => Seen::All(report),
    }
}

/// Examines a certificate without states; an error is a reason to reject.
pub fn explored(c: &Certificate, why: &str, options: &Options, report: &mut Report) -> Result<(), String> {
    if c.machine.scope.is_some() {
        report.open.enter("a machine with a scope is not explored", String::new);
        return Ok(());
    }
    if !c.manifest.formulas.is_empty() {
        report.open.enter("temporal formulas, which need a list of states", String::new);
    }
    let states = options.sample.unwrap_or(STATES);
    match explore(&c.machine, c.manifest.asked, options.steps, states, None) {
        Seen::Wrong(finding) => Err(finding),
        Seen::Part(states, end) => {
            let place = || format!("{states} states were explored, in which nothing is wrong: {end}");
            report.open.enter(&format!("that no state was missed: {why}"), place);
            Ok(())
        }
        Seen::All(seen) => {
            let counted = &mut report.counted;
            (counted.states, counted.initial) = (seen.states as u64, seen.initial as u64);
            (counted.transitions, counted.valuations) = (seen.transitions, seen.constants as u64);
            // Valuations that differ by a renaming of elements are counted once by the producer, states up to symmetry too.
            let claimed = c.manifest.counts.states;
            let comparable =
                c.manifest.symmetry.is_empty() && !c.manifest.reduced && c.machine.constants.is_empty();
            if comparable && claimed != counted.states {
                return Err(format!("there are {} states, not {claimed}", counted.states));
            }
            Ok(())
        }
    }
}
