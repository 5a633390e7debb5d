//! The JSON result: one object, stable fields (docs/json.md). Traces may have a hundred thousand steps, so whoever only writes the
//! result (`Told`) makes no tree of values for them.

use super::outcome::{
    BddDetails, Judge, KINDS, MachineShare, Outcome, PorDetails, Proven, Symbolic, TraceStep, Violation,
};
use crate::explain::{Explanation, FailingStep, Node, Place, Worth};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value, json};

/// The result as a tree of values.
pub fn render(o: &Outcome) -> Value {
    let mut all = without_traces(o);
    if let Some(v) = &o.violation {
        all["violation"]["trace"] = steps(v);
    }
    for (i, (v, _)) in o.others.iter().enumerate() {
        all["other_violations"][i]["trace"] = steps(v);
    }
    all
}

fn steps(v: &Violation) -> Value {
    v.trace.iter().map(step).collect()
}

/// The result as it is written.
pub struct Told<'o> {
    tree: Value,
    outcome: &'o Outcome,
}

impl Told<'_> {
    pub fn of(outcome: &Outcome) -> Told<'_> {
        Told { tree: without_traces(outcome), outcome }
    }
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let others: Vec<&Violation> = self.outcome.others.iter().map(|(v, _)| v).collect();
        let Value::Object(fields) = &self.tree else { return self.tree.serialize(to) };
        let mut map = to.serialize_map(Some(fields.len()))?;
        for (name, value) in fields {
            match (name.as_str(), &self.outcome.violation, value) {
                ("violation", Some(v), tree) => map.serialize_entry(name, &Traced(tree, v))?,
                ("other_violations", _, Value::Array(trees)) => {
                    let traced = trees.iter().zip(&others).map(|(tree, v)| Traced(tree, v));
                    map.serialize_entry(name, &traced.collect::<Vec<_>>())?;
                }
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// What is said of a violation, with the trace in its place.
struct Traced<'o>(&'o Value, &'o Violation);

impl Serialize for Traced<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Value::Object(fields) = self.0 else { return self.0.serialize(to) };
        let mut map = to.serialize_map(Some(fields.len()))?;
        for (name, value) in fields {
            match name.as_str() {
                "trace" => map.serialize_entry(name, &Steps(&self.1.trace))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

struct Steps<'o>(&'o [TraceStep]);

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut seq = to.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|s| seq.serialize_element(&Step(s)))?;
        seq.end()
    }
}

/// The fields of `step`.
struct Step<'o>(&'o TraceStep);

impl Serialize for Step<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("event", &self.0.event)?;
        map.serialize_entry("params", &Pairs(&self.0.params))?;
        map.serialize_entry("results", &Pairs(&self.0.results))?;
        map.serialize_entry("state", &Pairs(&self.0.state))?;
        map.end()
    }
}

/// The object of `pairs`.
struct Pairs<'o>(&'o [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let twice = |(i, (name, _)): (usize, &(String, String))| self.0[..i].iter().any(|(n, _)| n == name);
        if self.0.iter().enumerate().any(twice) {
            return pairs(self.0).serialize(to);
        }
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The result with null for every trace.
fn without_traces(o: &Outcome) -> Value {
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
    if let Some(s) = &o.symbolic {
        for count in ["states", "transitions", "constants", "initial", "prob", "events", "digest"] {
            all[count] = Value::Null;
        }
        all["symbolic"] = symbolic(s);
    }
    if let Some(p) = &o.reductions.proven {
        all["proven"] = proven(p);
    }
    for (kind, count) in o.found.iter().filter(|(kind, _)| !KINDS.contains(&kind.as_str())) {
        all["found"][kind.replace('-', "_")] = json!(count);
    }
    if let Some(d) = &o.reductions.bdd {
        bdd(&mut all, o, d);
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
        all["violation"] = violation(v, &o.why);
        all["confirmed_by"] = json!(v.confirmed_by.map(Judge::word));
    }
    all["other_violations"] = o.others.iter().map(|(v, why)| violation(v, why)).collect();
    all
}

fn violation(v: &Violation, why: &Explanation) -> Value {
    object([
        ("kind", json!(v.kind)),
        ("property", json!(v.property)),
        ("explanation", json!(v.explanation)),
        ("place", json!(why.place.as_ref().map(place))),
        ("failing_step", json!(why.step.as_ref().map(failing_step))),
        ("formulas", why.nodes.iter().map(node).collect()),
        ("notes", json!(why.notes)),
        ("chosen", why.chosen.iter().map(|(row, v)| json!({"step": row, "values": pairs(v)})).collect()),
        ("trace", Value::Null),
        ("loop_start", json!(v.loop_start)),
    ])
}

pub fn place(p: &Place) -> Value {
    json!({
        "file": p.file,
        "line": p.line,
        "column": p.column,
        "end_line": p.end_line,
        "end_column": p.end_column,
    })
}

pub fn failing_step(s: &FailingStep) -> Value {
    let call = |c: &crate::explain::Call| {
        json!({
            "operation": c.operation,
            "arguments": pairs(&c.arguments),
            "place": c.place.as_ref().map(place),
        })
    };
    json!({
        "event": s.event,
        "params": pairs(&s.params),
        "locals": pairs(&s.locals),
        "calls": s.calls.iter().map(call).collect::<Vec<_>>(),
    })
}

/// A formula with its truth or value, and the parts that decide it.
pub fn node(n: &Node) -> Value {
    let (value, why) = match &n.worth {
        Worth::Value(value) => (Some(value), None),
        Worth::Undefined(why) => (None, Some(why)),
        _ => (None, None),
    };
    object([
        ("text", json!(n.text)),
        ("is", json!(n.worth.word())),
        ("value", json!(value)),
        ("why", json!(why)),
        ("witness", pairs(&n.witness)),
        ("notes", json!(n.notes)),
        ("place", json!(n.place.as_ref().map(place))),
        ("parts", n.parts.iter().map(node).collect()),
    ])
}

/// The counts of a search on sets of states, which may be larger than a word or not known.
fn bdd(all: &mut Value, o: &Outcome, d: &BddDetails) {
    let or_null = |n: &Option<String>| n.as_ref().map_or(Value::Null, |n| digits(n));
    let setups = o.counts.prob_states - o.counts.states;
    all["states"] = or_null(&d.states);
    all["transitions"] = or_null(&d.transitions);
    all["initial"] = digits(&d.initial);
    all["depth"] = Value::Null;
    all["digest"] = Value::Null;
    let small = |n: &Option<String>| n.as_ref().and_then(|n| n.parse::<u64>().ok());
    let initial = d.initial.parse::<u64>().ok();
    all["prob"] = json!({
        "states": small(&d.states).and_then(|n| n.checked_add(setups)),
        "transitions": small(&d.transitions).zip(initial).map(|(n, i)| n + i + setups),
    });
    for (event, (states, transitions)) in o.events.iter().zip(&d.events) {
        all["events"][&event.name] = json!({"states": digits(states), "transitions": or_null(transitions)});
    }
    all["reductions"]["symmetry"] = json!(d.symmetry);
    all["bdd"] = json!({
        "representatives": or_null(&d.representatives),
        "variables": d.variables,
        "arrangement": d.arrangement,
        "instances": d.instances,
        "generators": d.exchanges,
        "hints": d.hints,
        "rounds": d.rounds,
        "nodes": {"states": d.nodes_of_states, "relations": d.nodes_of_relations, "expanded": d.nodes_expanded},
        "steps_taken": d.steps_taken,
        "conditions_asked": d.conditions_asked,
    });
}

/// A count as a number where JSON can hold it exactly, else as its digits.
fn digits(n: &str) -> Value {
    n.parse::<u64>().map_or_else(|_| json!(n), |n| json!(n))
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

fn symbolic(s: &Symbolic) -> Value {
    json!({
        "depth": s.depth,
        "k": s.k,
        "frames": s.frames,
        "clauses": s.clauses,
        "queries": s.queries,
        "ends": s.ends,
        "conflicts": s.conflicts,
        "variables": s.variables,
        "width": s.width,
        "width_reason": s.width_reason,
        "weak": s.weak,
        "solver": "batsat",
        "sat_seconds": s.seconds,
        "certificate": {
            "kind": s.certificate.unwrap_or("none"),
            "checked_by": s.certificate.map(|_| "fresh batsat"),
        },
        "proven": proven(&s.proven),
    })
}

fn proven(p: &Proven) -> Value {
    let mut all = json!({
        "pairs": p.pairs,
        "events": p.events,
        "queries": p.asked,
        "saved": p.saved,
        "rests_on_rodin": p.trusted,
        "checked": p.checked,
        "dropped": p.dropped,
    });
    for (source, count) in &p.by {
        all[*source] = json!(count);
    }
    all
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_is_written_as_the_tree_with_its_trace() {
        let named = |n: usize| vec![("x".to_string(), n.to_string()), ("y".to_string(), "{}".to_string())];
        let step = |i| TraceStep { event: "e".into(), state: named(i), ..TraceStep::default() };
        let mut v = Violation {
            kind: "invariant".into(),
            property: "x < 2".into(),
            explanation: Vec::new(),
            trace: (0..3).map(step).collect(),
            loop_start: None,
            confirmed_by: None,
        };
        // A name that comes twice stands once, with its last value.
        v.trace[1].params = vec![("p".into(), "1".into()), ("p".into(), "2".into())];
        let told = violation(&v, &Explanation::default());
        let mut tree = told.clone();
        tree["trace"] = steps(&v);
        let written = Traced(&told, &v);
        assert_eq!(serde_json::to_string(&written).ok(), Some(tree.to_string()));
        assert_eq!(serde_json::to_string_pretty(&written).ok(), serde_json::to_string_pretty(&tree).ok());
    }
}
