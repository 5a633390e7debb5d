//! Explanations in JSON: a formula with what it comes to, and the parts that decide that.
//!
//! In: the trees of `explain`. Out: JSON for the page. Never here: evaluation.

use super::present::SHORT;
use crate::explain::{Node, Worth, bindings, cut};
use serde_json::{Value as Json, json};

/// A tree as the page shows it.
pub fn tree(node: &Node) -> Json {
    let mut out = json!({
        "text": cut(&node.text, 2 * SHORT),
        "parts": node.parts.iter().map(tree).collect::<Vec<_>>(),
        "notes": node.notes.iter().map(|note| cut(note, SHORT)).collect::<Vec<_>>(),
    });
    match &node.worth {
        Worth::True => out["truth"] = true.into(),
        Worth::False => out["truth"] = false.into(),
        Worth::Undefined(why) => out["error"] = why.as_str().into(),
        Worth::Value(value) => out["value"] = cut(value, SHORT).into(),
        Worth::Disabled => out["disabled"] = true.into(),
        Worth::Required => out["required"] = true.into(),
        Worth::Unknown => out["error"] = "not computed in time".into(),
    }
    if !node.witness.is_empty() {
        out["witness"] = cut(&bindings(&node.witness), SHORT).into();
    }
    out
}
