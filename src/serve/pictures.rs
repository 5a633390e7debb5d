//! Graphs in JSON, with places: relations between values, and the state space.
//!
//! In: a value or a part of the state space. Out: nodes with label, place and marks, edges with labels, and how much is
//! left out.

use super::present::shortened;
use crate::driver::{Projected, Space};
use crate::evaluate::Interpreter;
use crate::lang::typed::{Machine, Type};
use crate::lang::value::Value;
use crate::report::layers::Layers;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// More pairs than these make no picture.
const PAIRS: usize = 400;
/// What an arrow back to its own node takes on both sides.
const LOOP: f64 = 110.0;
/// Lines of labels of nodes are about this long.
const LABEL: usize = 36;
/// Lines of a label; rows of a picture have room for no more.
const LINES: usize = 4;

/// The width of a node by its longest line.
fn width(label: &str) -> f64 {
    let longest = label.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    longest.min(LABEL + LABEL / 2) as f64 * 7.4 + 20.0
}

/// Widths with room for arrows that lead back to their own node.
fn room(widths: &[f64], edges: &[(usize, usize)]) -> Vec<f64> {
    let mut room = widths.to_vec();
    edges.iter().filter(|(a, b)| a == b).for_each(|(a, _)| room[*a] = widths[*a] + LOOP);
    room
}

/// A relation: an arrow for each of its pairs.
pub fn relation(machine: &Machine, ty: &Type, value: &Value) -> Result<Json, String> {
    let (Type::Pow(pair), Some(pairs)) = (ty, value.as_set()) else {
        return Err("only a relation whose pairs can be listed has a picture".into());
    };
    let Type::Prod(left, right) = &**pair else {
        return Err("only a set of pairs has a picture".into());
    };
    // An element that may stand on both sides is one node.
    let both = left == right;
    let mut nodes: Vec<String> = Vec::new();
    let mut known: BTreeMap<(bool, String), usize> = BTreeMap::new();
    let mut node = |side: bool, ty: &Type, value: &Value| {
        let label = shortened(machine, ty, value, LABEL).0;
        *known.entry((side && !both, label.clone())).or_insert_with(|| {
            nodes.push(label);
            nodes.len() - 1
        })
    };
    let edges: Vec<(usize, usize)> = pairs
        .iter()
        .take(PAIRS)
        .filter_map(Value::as_pair)
        .map(|(a, b)| (node(false, left, a), node(true, right, b)))
        .collect();
    let mut pointed_at = vec![false; nodes.len()];
    edges.iter().filter(|(a, b)| a != b).for_each(|(_, b)| pointed_at[*b] = true);
    let roots: Vec<usize> = (0..nodes.len()).filter(|n| !pointed_at[*n]).collect();
    let widths: Vec<f64> = nodes.iter().map(|label| width(label)).collect();
    let places = Layers::place(&room(&widths, &edges), &edges, &roots);
    let nodes: Vec<Json> = nodes
        .iter()
        .enumerate()
        .map(|(n, label)| json!({ "label": label, "x": places.x[n], "y": places.y[n], "w": widths[n] }))
        .collect();
    let edges: Vec<Json> = edges.iter().map(|(a, b)| json!({ "from": a, "to": b })).collect();
    Ok(json!({
        "nodes": nodes, "edges": edges, "width": places.width, "height": places.height,
        "left_out": pairs.len().saturating_sub(PAIRS),
    }))
}

/// The state space, or the graph of the values of an expression on it.
pub struct StateSpace<'i, 'm> {
    pub interpreter: &'i Interpreter<'m>,
    pub space: &'i Space,
    pub projected: &'i Projected,
    /// The type of the expression, if the states are not shown themselves.
    pub ty: Option<Type>,
    /// The state that the user is in.
    pub here: Option<usize>,
}

impl StateSpace<'_, '_> {
    pub fn picture(&self, complete: bool) -> Json {
        let machine = self.interpreter.machine();
        let labels: Vec<String> = self.projected.nodes.iter().map(|node| self.label(node)).collect();
        let widths: Vec<f64> = labels.iter().map(|label| width(label)).collect();
        let ends: Vec<(usize, usize)> = self.projected.edges.keys().copied().collect();
        let mut roots: Vec<usize> = self.projected.of[..self.space.initial].to_vec();
        roots.sort_unstable();
        roots.dedup();
        let places = Layers::place(&room(&widths, &ends), &ends, &roots);
        let here = self.here.map(|n| self.projected.of[n]);
        let mut leaves = vec![false; self.space.states.len()];
        self.space.edges.iter().for_each(|e| leaves[e.from] = true);
        let nodes: Vec<Json> = self
            .projected
            .nodes
            .iter()
            .enumerate()
            .map(|(n, (_, states))| {
                json!({
                    "label": labels[n], "x": places.x[n], "y": places.y[n], "w": widths[n],
                    "states": states.len(), "first": states[0], "title": self.title(states[0]),
                    "initial": states[0] < self.space.initial, "here": here == Some(n),
                    "open": states.iter().any(|s| *s >= self.space.expanded),
                    "deadlock": states.iter().any(|s| *s < self.space.expanded && !leaves[*s]),
                    "bad": self.is_bad(states),
                })
            })
            .collect();
        let event = |n: &usize| machine.op(machine.events[*n]).name.to_string();
        let edges: Vec<Json> = self
            .projected
            .edges
            .iter()
            .map(|((a, b), events)| {
                let names: Vec<String> = events.iter().map(event).collect();
                json!({ "from": a, "to": b, "label": names.join(", ") })
            })
            .collect();
        json!({
            "nodes": nodes, "edges": edges, "width": places.width, "height": places.height,
            "states": self.space.states.len(), "transitions": self.space.edges.len(),
            "complete": complete && self.space.missing.is_empty(),
            "missing": self.space.missing.iter().take(10).collect::<Vec<_>>(),
        })
    }

    fn label(&self, (value, states): &(Result<Value, String>, Vec<usize>)) -> String {
        let machine = self.interpreter.machine();
        match (value, &self.ty) {
            (Err(_), _) => "undefined".into(),
            (Ok(value), Some(ty)) => shortened(machine, ty, value, LABEL).0,
            (Ok(_), None) => {
                let title = self.title(states[0]);
                let cut = |line: &str| match line.char_indices().nth(LABEL) {
                    Some((at, _)) => format!("{}…", &line[..at]),
                    None => line.to_string(),
                };
                let mut lines: Vec<String> = title.lines().take(LINES).map(cut).collect();
                let left_out = title.lines().count().saturating_sub(LINES - 1);
                if left_out > 1 {
                    lines[LINES - 1] = format!("… {left_out} more");
                }
                lines.join("\n")
            }
        }
    }

    /// The variables of a state with the beginnings of their values, one on each line.
    fn title(&self, state: usize) -> String {
        let machine = self.interpreter.machine();
        let variables = machine.variables.iter().zip(self.space.states[state].variables.iter());
        let lines = variables.map(|(v, value)| {
            let var = machine.var(*v);
            format!("{}={}", var.name, shortened(machine, &var.ty, value, LABEL * 2).0)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn is_bad(&self, states: &[usize]) -> bool {
        states.iter().any(|s| {
            let broken = self.interpreter.check_state(&self.space.states[*s], false);
            broken.is_ok_and(|b| !b.invariant.is_empty() || !b.assertions.is_empty())
        })
    }
}
