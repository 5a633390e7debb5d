//! Whether one claim about one trace is right.
//!
//! In: a machine, a trace (constants, initial state, steps), and what is claimed to be wrong at its end. Out: confirmed,
//! refuted with the reason, or no answer. Nothing is believed: every step is executed again.

use crate::eval::{Oracle, Slot, Stop};
use crate::exec::{Kind, Run, Writes};
use crate::search::{Look, Trace};
use crate::tree::{Machine, Name, Var};
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
        Verdict::TooBig(if let Stop::TooBig(why) = stop { why } else { format!("{stop:?}") })
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
    for (n, v) in &trace.constants {
        if !oracle.machine.constants.iter().any(|(c, t)| c == n && v.is_of(t)) {
            return refuted(format!("{n} = {v} is no constant of that type"));
        }
    }
    if trace.steps.is_empty() {
        let mut look = Look::default();
        look.start(oracle, &trace.constants);
        return decided(look, claim);
    }
    // A constant that the trace leaves out may have several values; one that explains the trace is enough.
    let mut why = Verdict::Refuted("the constants do not satisfy the properties".into());
    for valuation in oracle.valuations(&trace.constants)?.0 {
        match followed(oracle, &valuation, trace, claim) {
            Ok(()) => return Ok(()),
            Err(_) if matches!(why, Verdict::TooBig(_)) => {}
            Err(w) => why = w,
        }
    }
    Err(why)
}

fn followed(oracle: &Oracle, valuation: &[Slot], trace: &Trace, claim: &Claim) -> Result<(), Verdict> {
    let variables = &oracle.machine.variables;
    let mut env = oracle.environment(valuation, None);
    let mut old: Option<&[Value]> = None;
    for (i, step) in trace.steps.iter().enumerate() {
        oracle.restart();
        if !fit(&step.state, variables) {
            return refuted(format!("the state of step {i} does not fit the variables"));
        }
        let want: Writes = variables.iter().map(|v| v.0.clone()).zip(step.state.iter().cloned()).collect();
        let mut run = Run::new(oracle, Some(&want));
        let reached = if let Some(old) = old {
            let op = oracle.machine.operation(&step.event).filter(|o| o.event);
            let Some(op) = op else { return refuted(format!("{} is no event", step.event)) };
            if !fit(&step.params, &op.params) {
                return refuted(format!("the parameters of step {i} do not fit {}", op.name));
            }
            let transitions = run.operation(&env, op, Some(&step.params))?;
            transitions.iter().any(|t| {
                t.results == step.results
                    && oracle.state_after(Some(old), &t.writes).as_ref() == Some(&step.state)
            })
        } else {
            run.initialise(&env)?.iter().any(|w| oracle.state_after(None, w).as_ref() == Some(&step.state))
        };
        if !reached {
            return refuted(format!("step {i}, {}, does not lead to its state", step.event));
        }
        (env, old) = (oracle.environment(valuation, Some(&step.state)), Some(&step.state[..]));
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
    decided(look, claim)
}

fn fit(values: &[Value], vars: &[Var]) -> bool {
    values.len() == vars.len() && values.iter().zip(vars).all(|(v, (_, t))| v.is_of(t))
}

/// Whether a finding that was seen is the claimed one.
fn decided(look: Look, claim: &Claim) -> Result<(), Verdict> {
    let right = look.findings.iter().any(|f| {
        let params = claim.event.as_ref().and_then(|e| e.1.as_ref());
        f.kind == claim.kind
            && claim.place.as_ref().is_none_or(|p| *p == f.place)
            && params.is_none_or(|p| f.event.as_ref().is_none_or(|e| e.1 == *p))
    });
    match look.incomplete.into_iter().next() {
        _ if right => Ok(()),
        Some(why) => Err(Verdict::TooBig(why)),
        None => refuted(format!("there is no such finding of kind {}", claim.kind.word())),
    }
}
