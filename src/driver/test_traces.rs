//! Traces that make good tests: shortest paths to each event, to each part of a guard, to given predicates.
//!
//! In: a model and what is to be reached. Out: traces, and what could not be reached. A trace that another one begins
//! with is left out: the longer one reaches the same.

use super::coverage::cover;
use super::simulate::trace;
use super::space::Space;
use super::values::Typed;
use super::{Rejected, load};
use crate::base::budget::Budget;
use crate::base::diagnostic::Diagnostic;
use crate::evaluate::{Interpreter, State, Transition};
use crate::lang::typed::Machine;
use crate::model::LoadOptions;
use crate::report::TraceStep;
use crate::report::trace_file::{self, Traced};
use std::path::Path;

/// What the traces are to reach.
#[derive(Clone, Debug)]
pub struct Goals {
    pub events: bool,
    /// Each part of a guard true once and false once.
    pub guards: bool,
    pub predicates: Vec<String>,
    /// States that are looked at.
    pub states: usize,
}

/// A trace with all that it reaches.
#[derive(Clone, Debug)]
pub struct TestTrace {
    pub reaches: Vec<String>,
    pub steps: Vec<TraceStep>,
}

#[derive(Clone, Debug, Default)]
pub struct TestTraces {
    pub file: String,
    pub machine: String,
    pub sets: Vec<String>,
    pub traces: Vec<TestTrace>,
    /// What no trace reaches. It is known to be out of reach if `complete`.
    pub unreached: Vec<String>,
    pub complete: bool,
    pub missing: Vec<String>,
}

impl TestTraces {
    /// A trace as a file of this kind.
    pub fn render(&self, trace: &TestTrace, extension: &str) -> Result<String, String> {
        let traced = Traced {
            file: &self.file,
            machine: &self.machine,
            sets: self.sets.iter().map(String::as_str).collect(),
            violation: None,
            steps: &trace.steps,
            loop_start: None,
            drawings: Vec::new(),
            report: None,
        };
        trace_file::render_trace(&traced, extension)
    }
}

/// A path by the number of its last state, and one step more where an event is the goal.
type Way = (usize, Option<usize>);

pub fn test_traces(
    path: &Path,
    options: &LoadOptions,
    goals: &Goals,
    budget: &Budget,
) -> Result<TestTraces, Rejected> {
    // A predicate may name elements, so valuations of the constants that differ by their names are all looked at.
    let by_name = options.all_constants || !goals.predicates.is_empty();
    let (model, sources, _) = load(path, &LoadOptions { all_constants: by_name, ..options.clone() })?;
    let mut predicates = Vec::new();
    for text in &goals.predicates {
        let typed = Typed::read(&model, &sources, text)
            .and_then(|typed| typed.predicate().map(|_| ()).map(|()| typed));
        predicates.push(typed.map_err(|message| Rejected {
            sources: sources.clone(),
            diagnostics: vec![Diagnostic::plain(message)],
        })?);
    }
    let machine = &model.machine;
    let (covered, space) = cover(&model, &sources, goals.states, budget);
    let mut wanted: Vec<(String, Option<Way>)> = Vec::new();
    if goals.events {
        for (n, op) in machine.events.iter().enumerate() {
            let edge = space.edges.iter().position(|e| e.by.event == n);
            wanted.push((machine.op(*op).name.to_string(), edge.map(|e| (space.edges[e].from, Some(e)))));
        }
    }
    if goals.guards {
        for event in &covered.events {
            for part in &event.guard {
                for (word, first) in [("true", part.first_true), ("false", part.first_false)] {
                    wanted.push((format!("{} {word}: {}", event.name, part.text), first.map(|n| (n, None))));
                }
            }
        }
    }
    for (text, typed) in goals.predicates.iter().zip(&predicates) {
        let interpreter = Interpreter::new(&typed.machine, budget);
        let holds =
            |s: &State| typed.predicate().is_ok_and(|p| interpreter.eval_pred(p, Some(s)).unwrap_or(false));
        wanted.push((text.clone(), space.states.iter().position(holds).map(|n| (n, None))));
    }
    Ok(TestTraces {
        file: path.display().to_string(),
        machine: machine.name.to_string(),
        sets: machine.sets.iter().map(|s| s.name.to_string()).collect(),
        unreached: wanted.iter().filter(|(_, way)| way.is_none()).map(|(goal, _)| goal.clone()).collect(),
        traces: traces(machine, &space, wanted),
        complete: covered.complete,
        missing: covered.missing,
    })
}

/// The traces of all ways, without those that others begin with; longest first.
fn traces(machine: &Machine, space: &Space, wanted: Vec<(String, Option<Way>)>) -> Vec<TestTrace> {
    let mut paths: Vec<(Vec<usize>, usize, Vec<String>)> = Vec::new();
    let mut found: Vec<(Vec<usize>, usize, String)> = wanted
        .into_iter()
        .filter_map(|(goal, way)| {
            let (state, more) = way?;
            let mut path = space.path(state);
            let first = path.first().map_or(state, |e| space.edges[*e].from);
            path.extend(more);
            Some((path, first, goal))
        })
        .collect();
    found.sort_by_key(|(path, ..)| std::cmp::Reverse(path.len()));
    for (path, first, goal) in found {
        match paths.iter_mut().find(|(longer, from, _)| *from == first && longer.starts_with(&path)) {
            Some((.., goals)) => goals.push(goal),
            None => paths.push((path, first, vec![goal])),
        }
    }
    let steps = |path: &[usize]| path.iter().map(|e| space.edges[*e].by.clone()).collect::<Vec<Transition>>();
    paths
        .into_iter()
        .map(|(path, first, reaches)| TestTrace {
            reaches,
            steps: trace(machine, &space.states[first], &steps(&path)),
        })
        .collect()
}
