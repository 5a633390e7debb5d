//! The JSON result: one object, stable fields (docs/json.md).

use super::outcome::{Judge, KINDS, MachineShare, Outcome, PorDetails, TraceStep};
use serde_json::{Map, Value, json};

pub fn render(o: &Outcome) -> Value {
    let sets: Map<String, Value> = o.scope.sets.iter().map(|s| (s.name.clone(), json!(s.size))).collect();
    let events: Map<String, Value> = o
        .events
        .iter()
        .map(|e| (e.name.clone(), json!({"states": e.states, "transitions": e.transitions})))
        .collect();
    let temporal: Vec<Value> = o
        .temporal
        .iter()
        .map(|t| json!({"name": t.name, "formula": t.formula, "verdict": t.verdict}))
        .collect();
    let reasons = if o.verdict() == super::Verdict::Verified { Vec::new() } else { o.ledger.reasons() };
    let mut all = json!({
        "bombus": env!("CARGO_PKG_VERSION"),
        "model": {"file": o.file, "machine": o.machine},
        "verdict": o.verdict().word(),
        "incomplete_because": reasons,
        "scope": {"sets": sets, "maxint": number(&o.scope.maxint), "minint": number(&o.scope.minint),
            "integers_in_scope": o.scope.integers},
        "reductions": {
            "symmetry": o.reductions.symmetry,
            "symmetric_sets": o.reductions.symmetric_sets,
            "por": o.reductions.por,
            "store": o.reductions.store,
            "collision_bound": o.reductions.collision_bound,
            "por_details": o.reductions.por_details.as_ref().map(por_details),
        },
        "violation": Value::Null,
        "found": {
            "invariant": o.found("invariant"),
            "deadlock": o.found("deadlock"),
            "assertion": o.found("assertion"),
            "well_definedness": o.found("well-definedness"),
            "goal": o.found("goal"),
            "precondition": o.found("precondition"),
            "properties": o.found("properties"),
            "refinement": o.found("refinement"),
            "variant": o.found("variant"),
        },
        "warnings": o.warnings,
        "states": o.counts.states,
        "transitions": o.counts.transitions,
        "constants": o.counts.constants,
        "initial": o.counts.initial,
        "depth": o.counts.depth,
        "prob": {"states": o.counts.prob_states, "transitions": o.counts.prob_transitions},
        "events": events,
        "temporal": temporal,
        "digest": o.digest,
        "engine": o.engine,
        "workers": o.workers,
        "seconds": {
            "load": o.seconds.load,
            "setup": o.seconds.setup,
            "explore": o.seconds.explore,
            "temporal": o.seconds.temporal,
        },
        "time_shares": o.time_shares.map(|s| {
            json!({"evaluate": s.evaluate, "insert": s.insert, "steal": s.steal, "idle": s.idle})
        }),
        "peak_memory_bytes": o.peak_memory_bytes,
        "confirmed_by": Value::Null,
    });
    for (kind, count) in o.found.iter().filter(|(kind, _)| !KINDS.contains(&kind.as_str())) {
        all["found"][kind.replace('-', "_")] = json!(count);
    }
    if !o.figures.is_empty() {
        let figures = o.figures.iter().map(|(name, n)| (name.replace(' ', "_"), json!(n)));
        all["figures"] = Value::Object(figures.collect());
    }
    if !o.machines.is_empty() {
        all["machines"] = o.machines.iter().enumerate().map(machine).collect();
    }
    if let Some(asserts) = &o.asserts {
        all["asserts"] = asserts
            .iter()
            .map(|a| json!({"assert": a.text, "verdict": a.verdict, "trace": a.trace, "why": a.why}))
            .collect();
    }
    if let Some(v) = &o.violation {
        // A trace may have a hundred thousand steps: it is put in its place, `json!` would copy it.
        all["violation"] = object([
            ("kind", json!(v.kind)),
            ("property", json!(v.property)),
            ("explanation", json!(v.explanation)),
            ("trace", v.trace.iter().map(step).collect()),
            ("loop_start", json!(v.loop_start)),
        ]);
        all["confirmed_by"] = json!(v.confirmed_by.map(Judge::word));
    }
    all
}

fn machine((rank, m): (usize, &MachineShare)) -> Value {
    json!({
        "rank": rank,
        "name": m.name,
        "states": m.states,
        "sent": m.sent,
        "not_sent_again": m.filtered,
        "received": m.received,
        "waited_seconds": m.waited_seconds,
        "peak_bytes": m.peak_bytes,
    })
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn por_details(d: &PorDetails) -> Value {
    json!({
        "method": d.method,
        "preserves": d.preserves,
        "proviso": d.proviso,
        "instances": d.instances,
        "states_reduced": d.reduced,
        "states_full": {
            "no_smaller_set": d.full_no_smaller,
            "proviso": d.full_by_proviso,
            "unknown": d.full_unknown,
            "single": d.single,
        },
        "rounds": d.rounds,
        "transitions_left_out": d.transitions_left_out,
        "given_up_after": d.given_up_after,
    })
}

/// MAXINT as a number where JSON can hold it exactly, else as its digits; null in formalisms without it.
fn number(digits: &str) -> Value {
    if digits.is_empty() {
        return Value::Null;
    }
    digits.parse::<i64>().map_or_else(|_| json!(digits), |n| json!(n))
}

pub fn step(s: &TraceStep) -> Value {
    object([
        ("event", s.event.as_str().into()),
        ("params", pairs(&s.params)),
        ("results", pairs(&s.results)),
        ("state", pairs(&s.state)),
    ])
}

pub fn pairs(list: &[(String, String)]) -> Value {
    Value::Object(list.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect())
}
