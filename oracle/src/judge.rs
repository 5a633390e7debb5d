//! Whether one claim about one trace is right.
//!
//! In: a machine, a trace (constants, initial state, steps), and what is claimed to be wrong at its end. Out: confirmed,
//! refuted with the reason, or no answer. Nothing is believed: every step is executed again.

use crate::eval::{Oracle, Slot, Stop};
use crate::exec::{Kind, Run, Writes};
use crate::search::{Look, Trace};
use crate::tree::{Machine, Name};
use crate::value::Value;

/// What is claimed to be wrong at the end of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub kind: Kind,
    /// The label of the false or undefined clause, if it is known.
    pub place: Option<String>,
    /// The event whose execution goes wrong, with its parameters if they are known.
    pub event: Option<(Name, Option<Vec<Value>>)>,
    /// Whether an undefined guard counts.
    pub strict_guards: bool,
}

/// The judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Confirmed,
    Refuted(String),
    TooBig(String),
}

impl From<Stop> for Verdict {
    fn from(stop: Stop) -> Verdict {
        match stop {
            Stop::Undefined(u) => Verdict::Refuted(format!("undefined: {} {}", u.why, u.place)),
            Stop::TooBig(why) => Verdict::TooBig(why),
            other => Verdict::TooBig(format!("{other:?}")),
        }
    }
}

/// Judges a claim; each step may take `budget` steps of evaluation.
pub fn judge(machine: &Machine, trace: &Trace, claim: &Claim, budget: u64) -> Verdict {
    let oracle = Oracle::new(machine, budget);
    judged(&oracle, trace, claim).err().unwrap_or(Verdict::Confirmed)
}

fn refuted<T>(why: impl Into<String>) -> Result<T, Verdict> {
    Err(Verdict::Refuted(why.into()))
}

fn judged(oracle: &Oracle, trace: &Trace, claim: &Claim) -> Result<(), Verdict> {
    let declared = &oracle.machine.constants;
    for (n, v) in &trace.constants {
        let Some((_, t)) = declared.iter().find(|c| c.0 == *n) else {
            return refuted(format!("{n} is no constant"));
        };
        if !v.is_of(t) {
            return refuted(format!("{n} = {v} is not of its type"));
        }
    }
    let (valuations, undefined) = oracle.valuations(&trace.constants)?;
    if trace.steps.is_empty() {
        return before_any_state(oracle, valuations, !undefined.is_empty(), claim);
    }
    // A constant that the trace leaves out may have several values; one that explains the trace is enough.
    let mut why = Verdict::Refuted("the constants do not satisfy the properties".into());
    for valuation in valuations {
        match followed(oracle, &valuation, trace, claim) {
            Ok(()) => return Ok(()),
            Err(w) => why = w,
        }
    }
    Err(why)
}

/// Claims about the properties and the initialisation.
fn before_any_state(
    oracle: &Oracle,
    valuations: Vec<Vec<Slot>>,
    undefined: bool,
    claim: &Claim,
) -> Result<(), Verdict> {
    let mut initial = 0;
    for valuation in valuations {
        oracle.restart();
        let mut run = Run::new(oracle, None);
        let outcomes = run.initialise(&oracle.environment(&valuation, None))?;
        let incomplete = outcomes.iter().any(|w| oracle.state_after(None, w).is_none());
        if run.notes.findings.iter().any(|f| f.kind == claim.kind)
            || claim.kind == Kind::WellDefinedness && incomplete
        {
            return Ok(());
        }
        initial += outcomes.len() + run.notes.findings.len();
    }
    match claim.kind {
        Kind::WellDefinedness if undefined => Ok(()),
        Kind::Properties if initial == 0 && !undefined => Ok(()),
        kind => refuted(format!("the initialisation has no finding of kind {}", kind.word())),
    }
}

fn followed(oracle: &Oracle, valuation: &[Slot], trace: &Trace, claim: &Claim) -> Result<(), Verdict> {
    let variables = &oracle.machine.variables;
    let mut env = oracle.environment(valuation, None);
    let mut old: Option<&Vec<Value>> = None;
    for (i, step) in trace.steps.iter().enumerate() {
        oracle.restart();
        if step.state.len() != variables.len()
            || !step.state.iter().zip(variables).all(|(v, (_, t))| v.is_of(t))
        {
            return refuted(format!("the state of step {i} does not fit the variables"));
        }
        let want: Writes = variables.iter().map(|v| v.0.clone()).zip(step.state.iter().cloned()).collect();
        let mut run = Run::new(oracle, Some(&want));
        let reached = if let Some(old) = old {
            let op = oracle.machine.operation(&step.event).filter(|o| o.event);
            let Some(op) = op else { return refuted(format!("{} is no event", step.event)) };
            let fits = |(v, (_, t)): (&Value, &crate::tree::Var)| v.is_of(t);
            if step.params.len() != op.params.len() || !step.params.iter().zip(&op.params).all(fits) {
                return refuted(format!("the parameters of step {i} do not fit {}", op.name));
            }
            let transitions = run.operation(&env, op, Some(&step.params))?;
            transitions.iter().any(|t| {
                t.results == step.results
                    && oracle.state_after(Some(old.as_slice()), &t.writes).as_ref() == Some(&step.state)
            })
        } else {
            run.initialise(&env)?.iter().any(|w| oracle.state_after(None, w).as_ref() == Some(&step.state))
        };
        if !reached {
            return refuted(format!("step {i}, {}, does not lead to its state", step.event));
        }
        (env, old) = (oracle.environment(valuation, Some(&step.state)), Some(&step.state));
    }
    oracle.restart();
    let mut look = Look::default();
    let event = claim.event.as_ref().map(|e| &*e.0);
    match claim.kind {
        Kind::Invariant | Kind::Goal => look.predicates(oracle, &env),
        Kind::Deadlock => look.events(oracle, &env, None, false),
        Kind::Properties => return refuted("there is a state"),
        _ if event.is_some() => look.events(oracle, &env, event, claim.strict_guards),
        _ => {
            look.predicates(oracle, &env);
            look.events(oracle, &env, None, claim.strict_guards);
        }
    }
    let right = look.findings.iter().any(|f| {
        let params = claim.event.as_ref().and_then(|e| e.1.as_ref());
        f.kind == claim.kind
            && claim.place.as_ref().is_none_or(|p| *p == f.place)
            && params.is_none_or(|p| f.event.as_ref().is_none_or(|e| e.1 == *p))
    });
    match look.incomplete.into_iter().next() {
        _ if right => Ok(()),
        Some(why) => Err(Verdict::TooBig(why)),
        None => refuted(format!("the last state has no finding of kind {}", claim.kind.word())),
    }
}
