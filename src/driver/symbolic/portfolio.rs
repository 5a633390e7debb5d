//! Engines side by side: explicit, sets of states, k-induction, IC3 and bounded model checking, each on a thread of its own.
//!
//! In: a typed machine, settings. Out: the first answer that is "verified" or "violated"; all others are stopped then. Every
//! engine earns its verdict by itself, so the verdict does not depend on who is first; the path that is shown may. If no
//! engine answers, the reasons of all of them are the reasons of the whole.

use super::super::temporal::Formulas;
use super::super::{CheckOptions, Engine, Explored, Failure, STACK, bdd, compiled};
use super::{Method, Settings};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::lang::typed::Machine;
use crate::report::Verdict;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

/// The order in which reasons and, among answers that come at once, answers are taken.
const SYMBOLIC: [Method; 3] = [Method::Ic3, Method::Kind, Method::Bmc];
/// Memory at which the explicit engine gives way to the others, unless the user sets a limit.
const MEMORY: u64 = 8 << 30;

pub fn explore(
    machine: &Machine,
    sources: &Sources,
    options: &CheckOptions,
    settings: Settings,
    formulas: &Formulas,
    budget: &Budget,
) -> Result<Explored, Failure> {
    let own = || {
        let mut own = Budget::unlimited();
        own.time_limit = budget.time_limit.map(|limit| limit.saturating_sub(budget.elapsed()));
        own.max_states = budget.max_states;
        own.max_memory = budget.max_memory;
        own
    };
    // After the engines on clauses: sets of states, then single states.
    let sets = SYMBOLIC.len();
    let budgets: Vec<Budget> = (0..=sets + 1).map(|_| own()).collect();
    // There are no certificates of sets.
    let has_sets = bdd::refusals(machine).is_empty() && !options.certificate.is_asked();
    std::thread::scope(|scope| {
        let (tell, hear) = mpsc::channel();
        for (i, own) in budgets.iter().enumerate().filter(|(i, _)| has_sets || *i != sets) {
            let tell = tell.clone();
            let work = move || {
                let result = match SYMBOLIC.get(i) {
                    Some(method) => {
                        let settings = Settings { method: *method, ..settings };
                        super::explore(machine, sources, options, settings, formulas, own)
                    }
                    None if i == sets => {
                        let own = &with_memory(own, own.max_memory.map(|limit| limit / 2));
                        let options = CheckOptions { engine: Engine::Bdd, workers: 1, ..options.clone() };
                        bdd::explore(machine, sources, &options, formulas, &[], own)
                    }
                    None => {
                        let limit = own.max_memory.map_or(MEMORY, |limit| limit / 2);
                        let own = with_memory(own, Some(limit));
                        let options = CheckOptions { engine: Engine::Explicit, ..options.clone() };
                        compiled::explore(machine, sources, &options, formulas, &own)
                    }
                };
                // Whoever listens may have an answer already.
                let _ = tell.send((i, result));
            };
            std::thread::Builder::new()
                .name("engine".into())
                .stack_size(STACK)
                .spawn_scoped(scope, work)
                .map_err(|e| format!("cannot start a thread: {e}"))?;
        }
        drop(tell);
        collect(&hear, &budgets, budget)
    })
}

/// What keeps states gives way before the memory of all engines together is used up.
fn with_memory(budget: &Budget, limit: Option<u64>) -> Budget {
    let mut own = budget.clone();
    own.max_memory = limit;
    own
}

type Answer = (usize, Result<Explored, Failure>);

/// Waits for the first answer, stops the others, and puts the reasons together if there is none.
fn collect(hear: &mpsc::Receiver<Answer>, budgets: &[Budget], budget: &Budget) -> Result<Explored, Failure> {
    let stop_all = || {
        budgets.iter().for_each(|b| b.interrupt_flag().store(true, Ordering::Relaxed));
    };
    let mut answer: Option<Explored> = None;
    let mut failed: Option<Failure> = None;
    let mut open: Vec<(usize, Explored)> = Vec::new();
    loop {
        match hear.recv_timeout(Duration::from_millis(20)) {
            Ok((i, Ok(explored))) => {
                let verdict = Verdict::conclude(&explored.ledger, explored.violation.is_some());
                if verdict == Verdict::Incomplete {
                    open.push((i, explored));
                } else if answer.is_none() {
                    stop_all();
                    answer = Some(explored);
                }
            }
            // An engine that is wrong makes the whole wrong, whatever the others say.
            Ok((_, Err(failure))) => {
                stop_all();
                failed.get_or_insert(failure);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) if budget.check().is_err() => stop_all(),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    if let Some(mut explored) = answer {
        explored.details.push(format!("answered by  {}", explored.engine));
        explored.engine = "portfolio";
        return Ok(explored);
    }
    open.sort_by_key(|(i, _)| *i);
    let mut all = open.into_iter().map(|(_, explored)| explored);
    let Some(mut whole) = all.next_back() else {
        return Err(Failure::Internal("no engine came to an end".into()));
    };
    for other in all {
        other.ledger.reasons().iter().for_each(|r| whole.ledger.enter(format!("{}: {r}", other.engine)));
        whole.symbolic = whole.symbolic.or(other.symbolic);
    }
    whole.engine = "portfolio";
    Ok(whole)
}
