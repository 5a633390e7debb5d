//! States and steps of a model as a graph, on values, as far as somebody wants to look at it.
//!
//! In: a machine, where to begin, how many states. Out: states in breadth-first order, edges between them, a shortest
//! path to each, and the graph of the values of an expression. What is missing is always said.
//! Never here: verdicts. A check of millions of states is the business of `explore`.

use super::animate::Choice;
use crate::base::hash::HashMap;
use crate::evaluate::{Interpreter, State, Transition};
use crate::lang::typed::{Expr, Pred};
use crate::lang::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A step between two states, by their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub by: Transition,
}

/// A part of the state space that was looked at.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// In breadth-first order.
    pub states: Vec<State>,
    pub edges: Vec<Edge>,
    /// How many of the states are initial ones: the first.
    pub initial: usize,
    /// How many states have all their steps among the edges: the first.
    pub expanded: usize,
    /// Why the space is not all there is, each reason once.
    pub missing: BTreeSet<String>,
    index: HashMap<State, usize>,
    /// The edge by which each state was first reached.
    parents: Vec<Option<usize>>,
}

/// States with one value of an expression are one node.
#[derive(Clone, Debug, Default)]
pub struct Projected {
    /// The values, or the text of an error, with the numbers of the states that have them.
    pub nodes: Vec<(Result<Value, String>, Vec<usize>)>,
    /// Which node each state belongs to.
    pub of: Vec<usize>,
    /// Edges between nodes: the events that lead from one to the other.
    pub edges: BTreeMap<(usize, usize), BTreeSet<usize>>,
}

impl Space {
    /// The space that begins with all initial states.
    pub fn of_machine(interpreter: &Interpreter) -> Space {
        let mut space = Space::default();
        let constants = match interpreter.constants() {
            Ok(found) => {
                space.missing.extend(found.remarks().map(ToString::to_string));
                found.values
            }
            Err(e) => {
                space.missing.insert(e.to_string());
                Vec::new()
            }
        };
        for valuation in &constants {
            match interpreter.initial_states(valuation) {
                Ok(found) => {
                    space.missing.extend(found.remarks().map(ToString::to_string));
                    found.values.into_iter().for_each(|state| {
                        space.number(state, None);
                    });
                }
                Err(e) => {
                    space.missing.insert(e.to_string());
                }
            }
        }
        space.initial = space.states.len();
        space
    }

    /// The space that begins with one state.
    pub fn from_state(state: State) -> Space {
        let mut space = Space { initial: 1, ..Space::default() };
        space.number(state, None);
        space
    }

    /// Looks at more states, until there are so many or the budget is used up; whether nothing is left to look at.
    pub fn grow(&mut self, interpreter: &Interpreter, states: usize) -> bool {
        while self.expanded < self.states.len() && self.states.len() < states {
            if interpreter.budget().check().is_err() {
                return false;
            }
            if !self.expand(interpreter) {
                return false;
            }
        }
        self.expanded == self.states.len()
    }

    /// Looks at the steps of the next state; false if the budget ended that.
    pub fn expand(&mut self, interpreter: &Interpreter) -> bool {
        let from = self.expanded;
        let machine = interpreter.machine();
        if let Some(scope) = &machine.scope
            && interpreter.eval_pred(scope, Some(&self.states[from])).is_ok_and(|inside| !inside)
        {
            self.missing.insert("states outside the definition SCOPE have no steps here".into());
            self.expanded += 1;
            return true;
        }
        match interpreter.transitions(&self.states[from]) {
            Ok(steps) => {
                for (event, e) in steps.errors.iter().chain(&steps.incomplete).chain(&steps.sampled) {
                    self.missing.insert(format!("{}: {e}", machine.op(machine.events[*event]).name));
                }
                for by in steps.transitions {
                    let edge = self.edges.len();
                    let to = self.number(by.target.clone(), Some(edge));
                    self.edges.push(Edge { from, to, by });
                }
            }
            Err(e) if interpreter.budget().check().is_err() => {
                self.missing.insert(e.to_string());
                return false;
            }
            Err(e) => {
                self.missing.insert(e.to_string());
            }
        }
        self.expanded += 1;
        true
    }

    fn number(&mut self, state: State, by: Option<usize>) -> usize {
        if let Some(known) = self.index.get(&state) {
            return *known;
        }
        let n = self.states.len();
        self.index.insert(state.clone(), n);
        self.states.push(state);
        self.parents.push(by);
        n
    }

    /// The number of a state, if it was met.
    pub fn find(&self, state: &State) -> Option<usize> {
        self.index.get(state).copied()
    }

    /// The edges of a shortest path to a state.
    pub fn path(&self, state: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = state;
        while let Some(edge) = self.parents[at] {
            path.push(edge);
            at = self.edges[edge].from;
        }
        path.reverse();
        path
    }

    /// The steps to a state from nothing, or from the state the space begins with.
    pub fn steps(&self, state: usize, from_nothing: bool) -> Vec<Choice> {
        let path = self.path(state);
        let mut steps = Vec::new();
        if from_nothing {
            let first = &self.states[path.first().map_or(state, |e| self.edges[*e].from)];
            if !first.constants.is_empty() {
                steps.push(Choice::Setup(first.constants.clone()));
            }
            steps.push(Choice::Initialise(first.clone()));
        }
        steps.extend(path.iter().map(|e| Choice::Event(self.edges[*e].by.clone())));
        steps
    }

    /// The first state, in breadth-first order, that satisfies a predicate, among so many. The space grows by need. An
    /// error says that no answer is known.
    pub fn search(
        &mut self,
        interpreter: &Interpreter,
        wanted: &Pred,
        states: usize,
    ) -> Result<Option<usize>, String> {
        let mut undefined = None;
        let mut looked = 0;
        loop {
            while looked < self.states.len() {
                match interpreter.eval_pred(wanted, Some(&self.states[looked])) {
                    Ok(true) => return Ok(Some(looked)),
                    Ok(false) => {}
                    Err(e) => undefined = undefined.or(Some(e.told())),
                }
                looked += 1;
            }
            if self.expanded == self.states.len() {
                break;
            }
            if self.states.len() >= states {
                return Err(format!("none of the first {looked} states satisfies it; there are more"));
            }
            if interpreter.budget().check().is_err() || !self.expand(interpreter) {
                return Err(format!("none of the first {looked} states satisfies it; the time is up"));
            }
        }
        match (undefined, self.missing.first()) {
            (Some(why), _) => {
                Err(format!("no state is known to satisfy it, but in some it has no value: {why}"))
            }
            (None, Some(why)) => {
                Err(format!("none of the {looked} states that were met satisfies it, but: {why}"))
            }
            (None, None) => Ok(None),
        }
    }

    /// The graph of the values of an expression; of the states themselves without one.
    pub fn project(&self, interpreter: &Interpreter, expression: Option<&Expr>) -> Projected {
        let mut result = Projected::default();
        let mut known: BTreeMap<Result<Value, String>, usize> = BTreeMap::new();
        for (n, state) in self.states.iter().enumerate() {
            let node = match expression {
                None => {
                    result.nodes.push((Ok(Value::int(n as i64)), Vec::new()));
                    n
                }
                Some(e) => {
                    let value = interpreter.eval_expr(e, Some(state)).map_err(|e| e.told());
                    *known.entry(value.clone()).or_insert_with(|| {
                        result.nodes.push((value, Vec::new()));
                        result.nodes.len() - 1
                    })
                }
            };
            result.nodes[node].1.push(n);
            result.of.push(node);
        }
        for edge in &self.edges {
            let ends = (result.of[edge.from], result.of[edge.to]);
            result.edges.entry(ends).or_default().insert(edge.by.event);
        }
        result
    }
}
