//! Certificates that list no states, and proofs: the oracle explores the machine itself.
//!
//! In: a machine and what was asked of it. Out: all states were seen and nothing is wrong, or something is, or there are
//! too many states. Never here: files.

use crate::certificate::Certificate;
use crate::manifest::{Asked, Counts};
use crate::report::Report;
use crate::run::{Options, events};
use bombus_oracle::exec::Kind;
use bombus_oracle::search;
use bombus_oracle::tree::Machine;
use std::cmp::Ordering;
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
        (None, Some(why)) if why.contains("ill-typed tree") => {
            Seen::Wrong(format!("model.core is no model: {why}"))
        }
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
            let event = |name: String| (name.clone(), seen.events.get(&*name).copied().unwrap_or_default());
            report.counted = Counts {
                valuations: seen.constants as u64,
                initial: seen.initial as u64,
                states: seen.states as u64,
                transitions: seen.transitions,
                events: events(&c.machine).into_iter().map(event).collect(),
            };
            compared(c, report)
        }
    }
}

/// The counts of the manifest against those of the exploration.
pub fn compared(c: &Certificate, report: &mut Report) -> Result<(), String> {
    let (claimed, counted) = (&c.manifest.counts, &report.counted);
    let fits = match claimed.valuations.cmp(&counted.valuations) {
        _ if !c.manifest.is_counted() => true,
        Ordering::Greater => false,
        // Valuations that differ by a renaming of elements are counted once by the producer.
        Ordering::Less if claimed.valuations > 0 && !c.machine.sets.is_empty() => {
            let words = "the counts of the manifest, which are up to a renaming of constants";
            report.open.enter(words, String::new);
            true
        }
        Ordering::Less => false,
        Ordering::Equal if c.manifest.reduced || !c.manifest.symmetry.is_empty() => {
            claimed.states <= counted.states && claimed.initial <= counted.initial
        }
        Ordering::Equal => claimed == counted,
    };
    let counts = |n: &Counts| {
        let sums = (n.valuations, n.initial, n.states, n.transitions);
        format!("{} valuations, {} initial states, {} states, {} transitions", sums.0, sums.1, sums.2, sums.3)
    };
    match fits {
        true => Ok(()),
        false if claimed.valuations == counted.valuations && claimed.states != counted.states => {
            Err(format!("there are {} states, not {}", counted.states, claimed.states))
        }
        false => Err(format!("there are {}, the manifest claims {}", counts(counted), counts(claimed))),
    }
}
