//! Traces: read from JSON, and replayed where a certificate claims a violation.
//!
//! In: `trace.json`, or an entry of what `explore --json` prints. Out: a claim with its trace for `judge`; for a
//! certificate the answer whether the claim is right.
//! Never here: what a step means.

use crate::certificate::Certificate;
use crate::report::Open;
use crate::start::{is_answerable, reserve};
use bombus_oracle::eval::Oracle;
use bombus_oracle::exec::{Kind, Writes};
use bombus_oracle::judge::{Claim, Verdict, judge};
use bombus_oracle::search::{Step, Trace};
use bombus_oracle::text::read;
use bombus_oracle::tree::{Expr, Machine, Name, Operation, Var};
use bombus_oracle::value::Value;
use serde_json::Value as Json;

/// Characters of a value that a message shows.
const SHOWN: usize = 200;

/// Replays the trace of a certificate; an error is a reason to reject.
pub fn replay(c: &Certificate, steps: u64, open: &mut Open) -> Result<(), String> {
    let text = c.trace.as_deref().unwrap_or_default();
    let json: Json = serde_json::from_str(text).map_err(|e| format!("trace.json: {e}"))?;
    if !json["formula"].is_null() {
        return crate::word::replay(c, &json, steps, open);
    }
    if json["lockstep"] == true {
        return crate::refinement::replay(c, &json, steps, open);
    }
    let (mut claim, trace) = trace_of(&c.machine, &json).map_err(|e| format!("trace.json: {e}"))?;
    claim.strict_guards = c.manifest.asked.strict_guards;
    is_asked(c, claim.kind)?;
    let most = steps.saturating_add(reserve(steps));
    let bounded = || Machine { scope: c.machine.scope.clone(), ..c.bounded().clone() };
    let mut verdict = judge(&c.machine, &trace, &claim, steps);
    if matches!(&verdict, Verdict::TooBig(why) if is_answerable(why)) {
        verdict = judge(&bounded(), &trace, &claim, most);
        // A bound that has no value hides no answer of the machine itself.
        if verdict != Verdict::Confirmed {
            verdict = judge(&c.machine, &trace, &claim, most);
        }
    }
    match verdict {
        Verdict::Confirmed => Ok(()),
        Verdict::Refuted(why) => Err(why),
        Verdict::TooBig(why) => {
            open.enter(&format!("the trace: {why}"), String::new);
            Ok(())
        }
    }
}

/// Whether findings of a kind were asked for.
pub fn is_asked(c: &Certificate, kind: Kind) -> Result<(), String> {
    let asked = match kind {
        Kind::Invariant => c.manifest.asked.invariant,
        Kind::Deadlock => c.manifest.asked.deadlock,
        Kind::Goal => c.manifest.asked.goal,
        Kind::Assertion => c.manifest.asked.assertions,
        _ => true,
    };
    if asked { Ok(()) } else { Err(format!("a finding of kind {} was not asked for", kind.word())) }
}

/// The parameters of an operation.
pub fn params(op: Option<&Operation>) -> &[Var] {
    op.map_or(&[], |o| &o.params)
}

/// The claim and the trace of a JSON object.
pub fn trace_of(machine: &Machine, json: &Json) -> Result<(Claim, Trace), String> {
    let kind = json["kind"].as_str().and_then(Kind::named).ok_or("\"kind\" is missing or unknown")?;
    let event = match json["while"]["name"].as_str() {
        None if json["while"].is_null() => None,
        None => return Err("\"while\" names no event".into()),
        Some(n) if !machine.operation(n).is_some_and(|o| o.event) => {
            return Err(format!("{n} is no event"));
        }
        // What is wrong in a state is wrong whatever happens next.
        Some(_) if matches!(kind, Kind::Invariant | Kind::Goal | Kind::Deadlock | Kind::Properties) => {
            return Err(format!("a finding of kind {} has no event", kind.word()));
        }
        Some(n) if json["while"]["params"].is_null() => Some((Name::from(n), None)),
        Some(n) => {
            let values = all(machine, params(machine.operation(n)), &json["while"]["params"])?;
            Some((Name::from(n), Some(values)))
        }
    };
    let place = json["place"].as_str().filter(|p| !p.is_empty()).map(str::to_string);
    Ok((Claim { kind, place, event, strict_guards: false }, steps_of(machine, json)?))
}

/// Constants and steps of a JSON object.
pub fn steps_of(machine: &Machine, json: &Json) -> Result<Trace, String> {
    let mut trace = Trace { constants: Writes::new(), steps: Vec::new() };
    for (n, v) in json["constants"].as_object().into_iter().flatten() {
        trace.constants.insert(n.as_str().into(), value(machine, v)?);
    }
    for s in json["trace"].as_array().ok_or("\"trace\" is missing")? {
        let event = s["event"].as_str().ok_or("a step has no \"event\"")?;
        let op = machine.operation(event).filter(|_| !trace.steps.is_empty());
        let params = all(machine, params(op), &s["params"])?;
        let result = |(n, _): &Var| {
            Some(&s["results"][&**n]).filter(|j| !j.is_null()).map(|j| value(machine, j)).transpose()
        };
        let results = op.map_or(&[][..], |o| &o.results[..]).iter().map(result).collect::<Result<_, _>>()?;
        let state = all(machine, &machine.variables, &s["state"])?;
        trace.steps.push(Step { event: event.into(), params, results, state });
    }
    Ok(trace)
}

/// The value that a text spells out. It takes no more steps than a few for each of its characters.
fn value(machine: &Machine, j: &Json) -> Result<Value, String> {
    let text = j.as_str().ok_or_else(|| format!("{} is not a text", start(&j.to_string())))?;
    let e = read::<Expr>(text).map_err(|e| format!("in `{}`: {e}", start(text)))?;
    let oracle = Oracle::new(machine, 1000 + 4 * text.len() as u64);
    oracle.eval(&Default::default(), &e).map_err(|e| format!("`{}`: {e:?}", start(text)))
}

/// A text, or its first characters if it is long.
fn start(text: &str) -> String {
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

fn all(machine: &Machine, names: &[Var], j: &Json) -> Result<Vec<Value>, String> {
    names.iter().map(|(n, _)| value(machine, &j[&**n]).map_err(|e| format!("{n}: {e}"))).collect()
}
