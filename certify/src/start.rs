//! The obligations of the start: constants satisfy the properties, none is left out, initial states are members.
//!
//! In: a certificate. Out: the values that names of constants stand for, the number of initial states, and what is
//! open. Never here: states after the first.

use crate::certificate::{Certificate, Constants};
use crate::encoding::put;
use crate::members::Members;
use crate::orbit::Group;
use crate::report::Open;
use bombus_oracle::eval::{Oracle, Res, Slot, Stop};
use bombus_oracle::exec::{Kind, Run, Writes};
use bombus_oracle::search::{State, Valuation};
use bombus_oracle::tree::Machine;
use std::collections::BTreeSet;

/// Steps of evaluation for one question unless the user states a number, and how many more questions share that need them.
pub const STEPS: u64 = 2_000_000;
const RESERVE: u64 = 1_000_000_000;

/// The steps that long questions share; none where the user has stated how many a question may take.
pub fn reserve(steps: u64) -> u64 {
    if steps == STEPS { RESERVE } else { 0 }
}

/// An oracle that has more steps for a few questions than for each.
pub fn patient(machine: &Machine, steps: u64) -> Oracle<'_> {
    Oracle::with_reserve(machine, steps, reserve(steps))
}

/// Whether another look may have an answer where the oracle has none for this reason.
pub fn is_answerable(why: &str) -> bool {
    !why.contains("ill-typed tree")
}

/// The first answer: about the machine in a few steps, about the machine with the bounds that follow from its predicates, and
/// about the machine in more steps.
fn first_answer<T>(c: &Certificate, steps: u64, ask: &mut dyn FnMut(&Oracle) -> Res<T>) -> Res<T> {
    let quick = ask(&Oracle::new(&c.machine, steps));
    match &quick {
        Err(Stop::TooBig(why)) if is_answerable(why) => {}
        _ => return quick,
    }
    ask(&patient(c.bounded(), steps))
        .or_else(|_| if reserve(steps) > 0 { ask(&patient(&c.machine, steps)) } else { quick })
}

/// What is known when all initial states were looked at.
#[derive(Default)]
pub struct Start {
    /// For each valuation what the constants stand for; nothing if that could not be told.
    pub slots: Vec<Option<Valuation>>,
    /// The initial states of each valuation.
    pub states: Vec<(usize, State)>,
    /// The numbers of the listed states that they are, or can be renamed into.
    pub members: BTreeSet<u64>,
    pub open: Open,
}

/// Looks at constants and initial states; an error is a reason to reject.
pub fn start(c: &Certificate, members: &Members, group: &Group, steps: u64) -> Result<Start, String> {
    let mut start = Start::default();
    if c.manifest.counts.valuations != c.constants.len() as u64 {
        return Err(format!(
            "there are {} valuations of the constants, not {}",
            c.constants.len(),
            c.manifest.counts.valuations
        ));
    }
    for (k, constants) in c.constants.iter().enumerate() {
        let slots = one_valuation(c, steps, k, constants, &mut start.open)?;
        if let Some(slots) = &slots {
            initial_states(c, members, steps, (k, slots), &mut start)?;
        }
        start.slots.push(slots);
    }
    complete(c, group, steps, &mut start.open)?;
    if start.states.is_empty() && start.open.0.is_empty() {
        return Err("there is no initial state".into());
    }
    Ok(start)
}

/// The constants of one valuation, if they satisfy the properties.
fn one_valuation(
    c: &Certificate,
    steps: u64,
    k: usize,
    constants: &Constants,
    open: &mut Open,
) -> Result<Option<Valuation>, String> {
    let named = c.machine.constants.iter().zip(constants);
    let given: Writes = named.filter_map(|((n, _), v)| Some((n.clone(), v.clone()?))).collect();
    let listed = || constants.iter().map(|v| v.clone().map(Slot::Value)).collect::<Option<Valuation>>();
    match first_answer(c, steps, &mut |oracle| oracle.valuations(&given)) {
        Ok((_, undefined)) if !undefined.is_empty() => {
            Err(format!("the properties are undefined for valuation {k}: {}", undefined[0].why))
        }
        Ok((mut all, _)) => match (all.pop(), all.len()) {
            (Some(one), 0) => Ok(Some(one)),
            (None, _) => Err(format!("the constants of valuation {k} do not satisfy the properties")),
            _ => {
                open.enter("constants that are not listed have several values", || format!("valuation {k}"));
                Ok(None)
            }
        },
        Err(stop) => {
            open.enter(&format!("the properties of the constants: {}", words(&stop)), || {
                format!("valuation {k}")
            });
            Ok(listed())
        }
    }
}

/// All initial states of a valuation are members.
fn initial_states(
    c: &Certificate,
    members: &Members,
    steps: u64,
    (k, slots): (usize, &Valuation),
    start: &mut Start,
) -> Result<(), String> {
    let answer = first_answer(c, steps, &mut |oracle| {
        let mut run = Run::new(oracle, None);
        let outcomes = run.initialise(&oracle.environment(slots, None))?;
        Ok((outcomes, std::mem::take(&mut run.findings)))
    });
    let (outcomes, findings) = match answer {
        Ok(answer) => answer,
        Err(stop) => {
            start.open.enter(&format!("INITIALISATION: {}", words(&stop)), || format!("valuation {k}"));
            return Ok(());
        }
    };
    let asked = |kind: Kind| kind != Kind::Assertion || c.manifest.asked.assertions;
    if let Some(f) = findings.iter().find(|f| asked(f.kind)) {
        return Err(format!("INITIALISATION of valuation {k}: {}: {} {}", f.kind.word(), f.why, f.place));
    }
    let mut distinct = BTreeSet::new();
    for writes in outcomes {
        let Some(state) = Oracle::new(&c.machine, 0).state_after(None, &writes) else {
            return Err(format!("INITIALISATION of valuation {k} leaves a variable without a value"));
        };
        distinct.insert(state);
    }
    for state in distinct {
        match members.find(c, k, &state) {
            Some(Some(number)) => _ = start.members.insert(number),
            Some(None) => return Err(format!("the initial state {} is missing", shown(c, &state))),
            None => start.open.enter("an initial state has too many renamings", || shown(c, &state)),
        }
        start.states.push((k, state));
    }
    Ok(())
}

/// Every valuation that satisfies the properties is listed, up to a renaming of elements that nobody names.
fn complete(c: &Certificate, group: &Group, steps: u64, open: &mut Open) -> Result<(), String> {
    let (all, undefined) = match first_answer(c, steps, &mut |oracle| oracle.valuations(&Writes::new())) {
        Ok(all) => all,
        Err(stop) => {
            open.enter(&format!("no valuation of the constants is left out: {}", words(&stop)), String::new);
            return Ok(());
        }
    };
    if let Some(u) = undefined.first() {
        return Err(format!("the properties are undefined for some values of the constants: {}", u.why));
    }
    let bytes = |constants: &Constants| {
        let mut out = Vec::new();
        for v in constants {
            out.push(u8::from(v.is_some()));
            v.iter().for_each(|v| put(v, &mut out));
        }
        out
    };
    let form = |constants: &Constants| {
        let listed: Option<Vec<_>> = constants.iter().cloned().collect();
        group.canonical(&c.machine, &listed?)
    };
    let listed: BTreeSet<Vec<u8>> = c.constants.iter().map(bytes).collect();
    let mut forms = None;
    for slots in all {
        let constants: Constants = slots.iter().map(Slot::value).collect();
        if listed.contains(&bytes(&constants)) {
            continue;
        }
        let forms = forms.get_or_insert_with(|| c.constants.iter().filter_map(form).collect::<BTreeSet<_>>());
        let named = c.machine.constants.iter().zip(&constants);
        let text = || {
            let one = |((n, _), v): (&bombus_oracle::tree::Var, &Option<_>)| {
                v.as_ref().map(|v: &bombus_oracle::value::Value| format!("{n} = {v}"))
            };
            named.clone().filter_map(one).collect::<Vec<_>>().join(", ")
        };
        match form(&constants) {
            Some(f) if forms.contains(&f) => {}
            Some(_) => return Err(format!("a valuation of the constants is missing: {}", text())),
            None => open.enter("whether a valuation of the constants is left out", text),
        }
    }
    Ok(())
}

/// A state for people.
pub fn shown(c: &Certificate, state: &State) -> String {
    let named = c.machine.variables.iter().zip(state);
    named.map(|((n, _), v)| format!("{n} = {v}")).collect::<Vec<_>>().join(", ")
}

/// Why there is no answer.
pub fn words(stop: &Stop) -> String {
    match stop {
        Stop::TooBig(why) => why.clone(),
        Stop::Undefined(u) => format!("undefined: {}", u.why),
        other => format!("{other:?}"),
    }
}
