//! What of a model is ever used: values of variables, events, parts of guards, left sides of implications.
//!
//! In: a machine and its reachable states, as far as they were looked at. Out: figures, and what was never met. The
//! parts of a guard are taken from left to right, as the language evaluates them: a part is true (or false) in a state
//! if some valuation of the parameters makes it so and makes all parts before it true.
//! Never here: verdicts. Coverage of a part of the states is said to be that.

use super::space::Space;
use super::{Rejected, load};
use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::text::one_line;
use crate::evaluate::{Interpreter, guards_of};
use crate::lang::typed::{Clause, Machine, Pred, PredKind, VarId};
use crate::lang::value::Value;
use crate::model::z::copy::Copy;
use crate::model::{LoadOptions, Model, types};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// What was met of a model.
#[derive(Clone, Debug)]
pub struct Coverage {
    pub machine: String,
    pub states: usize,
    /// Whether all reachable states were looked at, and why not.
    pub complete: bool,
    pub missing: Vec<String>,
    pub variables: Vec<Variable>,
    pub events: Vec<Event>,
    pub implications: Vec<Part>,
}

/// The values of a variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: String,
    pub values: usize,
    pub least: String,
    pub greatest: String,
}

/// An event with the parts of its guard.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: String,
    /// States in which it is enabled.
    pub states: u64,
    pub transitions: u64,
    pub guard: Vec<Part>,
}

/// A part of a guard, or the left side of an implication.
#[derive(Clone, Debug)]
pub struct Part {
    pub text: String,
    pub span: Span,
    /// The first state, in breadth-first order, in which it is true; in which it is false.
    pub first_true: Option<usize>,
    pub first_false: Option<usize>,
    /// Somewhere it could not be found out whether it is true, or false.
    pub doubtful: bool,
}

impl Coverage {
    /// What a test of the model should have met and did not, in words.
    pub fn uncovered(&self) -> Vec<String> {
        let mut all = Vec::new();
        for event in &self.events {
            if event.transitions == 0 {
                all.push(format!("{} is never enabled", event.name));
            }
            for part in event.guard.iter().filter(|p| p.first_true.is_none()) {
                let known = if part.doubtful { "not known to be ever true" } else { "never true" };
                all.push(format!("{known} in {}: {}", event.name, part.text));
            }
        }
        for part in self.implications.iter().filter(|p| p.first_true.is_none()) {
            let known = if part.doubtful { "not known to be ever true" } else { "never true" };
            all.push(format!("the left side of an implication is {known}: {}", part.text));
        }
        all
    }
}

/// A part with the formulas that say whether it is true, or false, somewhere.
struct Asked {
    part: Part,
    yes: Pred,
    no: Pred,
}

/// Looks at up to so many states of a model.
pub fn coverage(
    path: &Path,
    options: &LoadOptions,
    states: usize,
    budget: &Budget,
) -> Result<(Coverage, Sources), Rejected> {
    let (model, sources, _) = load(path, options)?;
    let (covered, _) = cover(&model, &sources, states, budget);
    Ok((covered, sources))
}

/// The coverage of a model, and the states it was found on.
pub(super) fn cover(model: &Model, sources: &Sources, states: usize, budget: &Budget) -> (Coverage, Space) {
    let machine = &model.machine;
    let interpreter = Interpreter::new(machine, budget);
    let mut space = Space::of_machine(&interpreter);
    let mut complete = space.grow(&interpreter, states);
    let mut extended = machine.clone();
    let mut guards: Vec<Vec<Asked>> = machine
        .events
        .iter()
        .map(|op| guard(&mut extended, sources, &machine.op(*op).body, &machine.op(*op).params))
        .collect();
    let mut sides = Vec::new();
    for clause in machine.invariant.iter().chain(&machine.assertions) {
        implications(&mut extended, sources, clause, &mut sides);
    }
    let asking = Interpreter::new(&extended, budget);
    for n in 0..space.states.len() {
        if budget.check().is_err() {
            complete = false;
            space.missing.insert(format!("the time was up after {n} states"));
            break;
        }
        guards.iter_mut().flatten().chain(&mut sides).for_each(|asked| asked.look(&asking, &space, n));
    }
    let mut events: Vec<Event> = machine
        .events
        .iter()
        .zip(guards)
        .map(|(op, guard)| Event {
            name: machine.op(*op).name.to_string(),
            states: 0,
            transitions: 0,
            guard: guard.into_iter().map(|asked| asked.part).collect(),
        })
        .collect();
    let mut enabled: BTreeSet<(usize, usize)> = BTreeSet::new();
    for edge in &space.edges {
        events[edge.by.event].transitions += 1;
        if enabled.insert((edge.from, edge.by.event)) {
            events[edge.by.event].states += 1;
        }
    }
    let covered = Coverage {
        machine: machine.name.to_string(),
        states: space.states.len(),
        complete: complete && space.missing.is_empty(),
        missing: space.missing.iter().cloned().collect(),
        variables: variables(machine, &space),
        events,
        implications: sides.into_iter().map(|asked| asked.part).collect(),
    };
    (covered, space)
}

fn variables(machine: &Machine, space: &Space) -> Vec<Variable> {
    let one = |(i, v): (usize, &VarId)| {
        let var = machine.var(*v);
        let values: BTreeSet<&Value> = space.states.iter().map(|state| &state.variables[i]).collect();
        let shown = |value: Option<&&Value>| {
            value.map(|value| value.show_within(machine, &var.ty, 200).0).unwrap_or_default()
        };
        Variable {
            name: var.name.to_string(),
            ty: types::show(&var.ty, &machine.sets, &machine.freetypes),
            values: values.len(),
            least: shown(values.first()),
            greatest: shown(values.last()),
        }
    };
    machine.variables.iter().enumerate().map(one).collect()
}

impl Asked {
    /// A part after others, with the variables that all of them may bind.
    fn new(machine: &mut Machine, sources: &Sources, vars: &[VarId], before: &[Pred], part: &Pred) -> Asked {
        let mut formula = |last: Pred| {
            let mut all = before.to_vec();
            all.push(last);
            exists(machine, vars, all)
        };
        let yes = formula(part.clone());
        let no = formula(Pred { kind: PredKind::Not(Box::new(part.clone())), span: part.span });
        let text = one_line(sources.slice(part.span));
        let part = Part { text, span: part.span, first_true: None, first_false: None, doubtful: false };
        Asked { part, yes, no }
    }

    /// Looks at a state, for what no state before it has shown.
    fn look(&mut self, interpreter: &Interpreter, space: &Space, n: usize) {
        let state = &space.states[n];
        for (pred, first) in [(&self.yes, &mut self.part.first_true), (&self.no, &mut self.part.first_false)]
        {
            if first.is_none() {
                match interpreter.eval_pred(pred, Some(state)) {
                    Ok(true) => *first = Some(n),
                    Ok(false) => {}
                    Err(_) => self.part.doubtful = true,
                }
            }
        }
    }
}

/// That some values of the variables satisfy all predicates; every variable that is bound is new.
fn exists(machine: &mut Machine, vars: &[VarId], preds: Vec<Pred>) -> Pred {
    let span = preds.last().map(|p| p.span).unwrap_or_default();
    let mut copy = Copy::new(&mut machine.vars, HashMap::new());
    let vars: Vec<VarId> = vars.iter().map(|v| copy.fresh(*v)).collect();
    let all = Pred { kind: PredKind::And(copy.preds(&preds)), span };
    if vars.is_empty() { all } else { Pred { kind: PredKind::Exists(vars, Box::new(all)), span } }
}

/// The parts of the guards of an event, each once.
fn guard(
    machine: &mut Machine,
    sources: &Sources,
    body: &crate::lang::typed::Stmt,
    params: &[VarId],
) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for (vars, conjuncts) in guards_of(body, params) {
        for (n, part) in conjuncts.iter().enumerate() {
            // Branches share the parts that stand before them; what has no place was not written by the user.
            let known = all.iter().any(|asked| asked.part.span == part.span);
            if !known && part.span != Span::default() {
                all.push(Asked::new(machine, sources, &vars, &conjuncts[..n], part));
            }
        }
    }
    all
}

/// The left sides of the implications of a clause, below conjunctions and universal quantifiers.
fn implications(machine: &mut Machine, sources: &Sources, clause: &Clause, out: &mut Vec<Asked>) {
    let mut open: Vec<(Vec<VarId>, Vec<Pred>, &Pred)> = vec![(Vec::new(), Vec::new(), &clause.pred)];
    while let Some((vars, before, pred)) = open.pop() {
        match &pred.kind {
            PredKind::Label(_, p) => open.push((vars, before, p)),
            PredKind::And(ps) => {
                ps.iter().rev().for_each(|p| open.push((vars.clone(), before.clone(), p)));
            }
            PredKind::Forall(more, p) => {
                let vars = vars.iter().chain(more).copied().collect();
                open.push((vars, before, p));
            }
            PredKind::Implies(left, right) => {
                out.push(Asked::new(machine, sources, &vars, &before, left));
                let before = before.into_iter().chain([(**left).clone()]).collect();
                open.push((vars, before, right));
            }
            _ => {}
        }
    }
}
