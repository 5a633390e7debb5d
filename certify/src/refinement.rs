//! What a certificate says of the machines that its machine refines.
//!
//! In: a certificate whose machine refines others. Out: nothing, or a reason to reject; what is open beside. A verdict of
//! *verified* is explored in lock-step for every valuation of the constants, a trace is followed.
//! Never here: what lock-step means (`simulation`).

use crate::certificate::Certificate;
use crate::clients::Alone;
use crate::manifest::Counts;
use crate::orbit::Group;
use crate::reads::{chooses, elements};
use crate::report::{Open, Part, Report};
use crate::run::{Options, events};
use crate::simulation::{Limits, Set, Simulation};
use crate::start::{patient, words};
use crate::trace::trace_of;
use crate::unlisted::compared;
use bombus_oracle::eval::Slot;
use bombus_oracle::exec::{Kind, Writes};
use bombus_oracle::judge::{Claim, Verdict};
use bombus_oracle::search::{Step, Trace, Valuation};
use bombus_oracle::text::Core;
use bombus_oracle::tree::{Machine, Var};
use bombus_oracle::value::Value;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Combined states that are looked at unless the user says otherwise.
pub const STATES: u64 = 1_000_000;

/// Explores the lock-step of a certificate of *verified*; an error is a reason to reject.
pub fn examined(c: &Certificate, options: &Options, report: &mut Report) -> Result<(), String> {
    let Some(levels) = c.levels.as_ref().filter(|_| c.manifest.verified) else { return Ok(()) };
    if report.part != Part::Whole {
        let words = "that the machine refines its abstractions, which needs the whole certificate";
        report.open.enter(words, String::new);
        return Ok(());
    }
    let limits = Limits { steps: options.steps, states: options.sample.unwrap_or(STATES), until: None };
    let mut simulation = Simulation::new(&c.machine, levels, c.manifest.asked, limits);
    simulation.alone = c.manifest.allowed.then(Alone::default);
    simulated(&mut simulation, &mut report.open)?;
    report.refines = Some((levels.names(), simulation.combined));
    match simulation.alone {
        Some(alone) => counted(c, alone.counts, report),
        None => Ok(()),
    }
}

/// The counts of the calls that are allowed, and what only a list of states, or the machine alone, can tell.
fn counted(c: &Certificate, counts: Counts, report: &mut Report) -> Result<(), String> {
    report.counted = counts;
    for name in events(&c.machine) {
        report.counted.events.entry(name).or_default();
    }
    if c.machine.scope.is_some() || c.manifest.asked.goal || !c.manifest.formulas.is_empty() {
        report.open.enter("formulas, a goal or a scope where only allowed calls are followed", String::new);
    }
    match report.open.total() {
        0 if report.counted.initial == 0 => Err("there is no initial state".into()),
        0 => compared(c, report),
        _ => Ok(()),
    }
}

/// Explores a lock-step for all valuations of the constants.
pub fn simulated(simulation: &mut Simulation, open: &mut Open) -> Result<(), String> {
    let valuations = valuations(simulation, open)?;
    let done = valuations.iter().try_for_each(|constants| simulation.explore(constants));
    open.add(std::mem::take(&mut simulation.open));
    done
}

/// All valuations. Of those that differ by a renaming of elements that nobody names it is one, unless all are counted.
fn valuations(simulation: &Simulation, open: &mut Open) -> Result<Vec<Valuation>, String> {
    let (machine, levels) = (simulation.machine, simulation.levels);
    let oracle = patient(machine, simulation.limits.steps);
    let all = match oracle.valuations(&Writes::new()) {
        Ok((all, undefined)) => match undefined.first() {
            None => all,
            Some(u) => return Err(format!("the properties are undefined for some constants: {}", u.why)),
        },
        Err(stop) => {
            let why = format!("for which constants the machine refines its abstractions: {}", words(&stop));
            open.enter(&why, String::new);
            return Ok(Vec::new());
        }
    };
    if simulation.alone.is_some() {
        return Ok(all);
    }
    let above = levels.machines.iter().chain([&levels.joint]).map(Machine::write);
    let texts: Vec<String> = above.chain([machine.write()]).collect();
    let named = texts.iter().flat_map(|text| elements(text)).collect();
    let alike = !texts.iter().any(|text| chooses(text));
    let group = Group::new(machine, &named, |_| alike);
    let mut forms = BTreeSet::new();
    let mut is_new = |constants: &Valuation| {
        let listed: Option<Vec<Value>> = constants.iter().map(Slot::value).collect();
        listed.and_then(|listed| group.canonical(machine, &listed)).is_none_or(|form| forms.insert(form))
    };
    Ok(all.into_iter().filter(|constants| is_new(constants)).collect())
}

/// Follows the trace of a violation in lock-step; an error is a reason to reject.
pub fn replay(c: &Certificate, json: &Json, steps: u64, open: &mut Open) -> Result<(), String> {
    let Some(levels) = &c.levels else { return Err("the machine of the trace refines nothing".into()) };
    let (mut claim, trace) = trace_of(&c.machine, json).map_err(|e| format!("trace.json: {e}"))?;
    claim.strict_guards = c.manifest.asked.strict_guards;
    crate::trace::is_asked(c, claim.kind)?;
    let fits =
        trace.constants.iter().all(|(n, v)| c.machine.constants.iter().any(|(m, t)| m == n && v.is_of(t)));
    if !fits {
        return Err("a value of the trace is no constant of its type".into());
    }
    let valuations = match patient(&c.machine, steps).valuations(&trace.constants) {
        Ok((all, _)) => all,
        Err(stop) => {
            open.enter(&format!("the constants of the trace: {}", words(&stop)), String::new);
            return Ok(());
        }
    };
    let mut why = Verdict::Refuted("the constants do not satisfy the properties".into());
    for constants in valuations {
        let limits = Limits { steps, states: STATES, until: None };
        let mut simulation = Simulation::new(&c.machine, levels, c.manifest.asked, limits);
        let verdict = followed(&mut simulation, c, &constants, &trace, &claim);
        let unknown = simulation.open.0.keys().next().cloned();
        match (verdict, unknown) {
            (Verdict::Confirmed, _) => return Ok(()),
            (Verdict::Refuted(_), Some(words)) => why = Verdict::TooBig(words),
            (other, _) => why = other,
        }
    }
    match why {
        Verdict::TooBig(why) => {
            open.enter(&format!("the trace: {why}"), String::new);
            Ok(())
        }
        Verdict::Refuted(why) => Err(why),
        Verdict::Confirmed => Ok(()),
    }
}

fn refuted(why: impl Into<String>) -> Verdict {
    Verdict::Refuted(why.into())
}

/// Whether a trace shows what is claimed, for one valuation.
fn followed(
    simulation: &mut Simulation,
    c: &Certificate,
    constants: &Valuation,
    trace: &Trace,
    claim: &Claim,
) -> Verdict {
    let Some((first, rest)) = trace.steps.split_first() else { return refuted("the trace has no state") };
    if !fit(&first.state, &c.machine.variables) {
        return refuted("the first state does not fit the variables");
    }
    let firsts = simulation.begin(constants);
    let mut state = simulation.concrete(&first.state);
    let Some((_, mut set)) = firsts.into_iter().find(|(c, _)| *c == state) else {
        return refuted("the trace does not begin in an initial state");
    };
    for (i, step) in rest.iter().enumerate() {
        if set.states.is_empty() {
            return emptied(&set).unwrap_or_else(|| refuted("the trace goes on after its fault"));
        }
        (state, set) = match taken(simulation, c, (state, &set), step) {
            Ok(next) => next,
            Err(why) => return refuted(format!("step {}, {}: {why}", i + 1, step.event)),
        };
    }
    if set.states.is_empty() {
        return match emptied(&set) {
            None if matches!(claim.kind, Kind::Refinement | Kind::Invariant) => Verdict::Confirmed,
            None => refuted("the abstraction cannot follow, which is a finding of another kind"),
            Some(unknown) => unknown,
        };
    }
    simulation.faults.clear();
    simulation.alone = Some(Alone::default());
    simulation.look(state, &set);
    simulation.expand(state, &set);
    let event = claim.event.as_ref().map(|e| &e.0);
    let is_claimed = |f: &crate::simulation::Fault| {
        f.kind == claim.kind && event.is_none_or(|e| f.event.as_ref() == Some(e))
    };
    match simulation.faults.iter().any(is_claimed) {
        true => Verdict::Confirmed,
        false => refuted(format!("there is no such finding of kind {}", claim.kind.word())),
    }
}

/// An empty set of which not all is known shows nothing.
fn emptied(set: &Set) -> Option<Verdict> {
    set.part.as_ref().map(|why| Verdict::TooBig(why.clone()))
}

/// One step of a trace: a call that may be made, and one of its outcomes.
fn taken(
    simulation: &mut Simulation,
    c: &Certificate,
    (state, set): (u32, &Set),
    step: &Step,
) -> Result<(u32, Set), &'static str> {
    let op = c.machine.operation(&step.event).filter(|o| o.event).ok_or("it is no event")?;
    let e = simulation.event(&step.event).ok_or("it is no event")?;
    if !fit(&step.params, &op.params) || !fit(&step.state, &c.machine.variables) {
        return Err("its values do not fit");
    }
    let params = simulation.ids(&step.params);
    let states = simulation.allowing(e, set, &params);
    if states.is_empty() {
        return Err("it is no call that the abstraction allows");
    }
    let next = simulation.concrete(&step.state);
    let results = simulation.results(&step.results);
    let outcomes = simulation.outcomes(e, state, &params);
    if !outcomes.contains(&(results.clone(), next)) {
        return Err("it does not lead to its state");
    }
    let after = simulation.follow(e, &params, &states, &results, next, set.part.clone());
    Ok((next, after))
}

fn fit(values: &[Value], vars: &[Var]) -> bool {
    values.len() == vars.len() && values.iter().zip(vars).all(|(v, (_, t))| v.is_of(t))
}
