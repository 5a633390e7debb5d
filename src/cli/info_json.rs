//! What a model consists of, for programs: the figures of `info` as one JSON object.
//!
//! In: a loaded model. Out: a JSON value; the fields are named in `docs/json.md`. Never here: text for people.

use crate::base::diagnostic::{Diagnostic, Sources};
use crate::driver;
use crate::lang::typed::{Clause, Machine, SetKind, VarId};
use crate::model::{Model, types};
use crate::report::diagnostics::diagnostic;
use serde_json::{Value, json};
use std::path::Path;

pub fn describe(file: &Path, model: &Model, sources: &Sources, messages: &[Diagnostic]) -> Value {
    let m = &model.machine;
    let sets: Vec<Value> = m
        .sets
        .iter()
        .map(|s| {
            let kind = match s.kind {
                SetKind::Enumerated => "enumerated",
                SetKind::Deferred => "deferred",
                SetKind::Parameter => "parameter",
            };
            let elements: Vec<&str> = s.elems.iter().map(|e| &**e).collect();
            json!({
                "name": &*s.name,
                "kind": kind,
                "size": s.elems.len(),
                "size_from": driver::origin_word(s.origin),
                "elements": elements,
            })
        })
        .collect();
    let events: Vec<Value> = m
        .events
        .iter()
        .map(|id| {
            let op = m.op(*id);
            json!({"name": &*op.name, "params": typed(m, &op.params), "results": typed(m, &op.results)})
        })
        .collect();
    json!({
        "bombus": env!("CARGO_PKG_VERSION"),
        "model": {"file": file.display().to_string(), "machine": &*m.name},
        "integers": {"minint": m.minint.to_string(), "maxint": m.maxint.to_string()},
        "sets": sets,
        "constants": typed(m, &m.constants),
        "variables": typed(m, &m.variables),
        "events": events,
        "properties": clauses(&m.properties),
        "invariant": clauses(&m.invariant),
        "assertions": clauses(&m.assertions),
        "goal": m.goal.is_some(),
        "diagnostics": messages.iter().map(|d| diagnostic(sources, d)).collect::<Vec<_>>(),
    })
}

/// Names with their types.
fn typed(m: &Machine, vars: &[VarId]) -> Value {
    let one = |v: &VarId| {
        let decl = m.var(*v);
        json!({"name": &*decl.name, "type": types::show(&decl.ty, &m.sets, &m.freetypes)})
    };
    vars.iter().map(one).collect()
}

fn clauses(list: &[Clause]) -> Value {
    let one = |c: &Clause| json!({"label": c.label.as_deref(), "text": crate::base::text::one_line(&c.text)});
    list.iter().map(one).collect()
}
