//! A model is stepped through by hand, with the evaluator on values.
//!
//! In: choices of the user. Out: what can be chosen, the state, a tree of all that was done and the line in it that
//! is shown. Steps are kept as values; a text is made when somebody asks for it, because a value may be long.
//! Never here: commands as typed, printing.

use super::values;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::text::one_line;
use crate::evaluate::{Constants, Interpreter, State, Transition};
use crate::explain::{self, Explainer};
use crate::lang::typed::{Clause, VarId};
use crate::lang::value::Value;
use crate::model::Model;
use crate::report::trace_file::{self, Traced};
use crate::report::{INITIALISE, SETUP_CONSTANTS, TraceStep};

/// Values in lines of an explanation are cut.
const LONGEST: usize = 300;

/// One thing that can be done, with where it leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    Setup(Constants),
    Initialise(State),
    Event(Transition),
}

impl Choice {
    /// The state that the choice leads to; none while only constants have values.
    pub fn state(&self) -> Option<&State> {
        match self {
            Choice::Setup(_) => None,
            Choice::Initialise(state) => Some(state),
            Choice::Event(t) => Some(&t.target),
        }
    }

    /// The constants after the choice.
    pub fn constants(&self) -> &Constants {
        match self {
            Choice::Setup(constants) => constants,
            Choice::Initialise(state) => &state.constants,
            Choice::Event(t) => &t.target.constants,
        }
    }
}

/// A place in the tree of all that was done.
struct Node {
    /// The place before: a number of a node, or none at the beginning.
    parent: Option<usize>,
    by: Choice,
    depth: usize,
    children: Vec<usize>,
}

/// A line of the tree: its last node, how long it is, and where it leaves the line that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    pub leaf: usize,
    pub length: usize,
    pub leaves_at: usize,
}

/// A conjunct of the invariant or an assertion, and its truth here; an error says why there is none.
pub struct Judged<'m> {
    pub clause: &'m Clause,
    pub assertion: bool,
    pub truth: Result<bool, String>,
}

pub struct Animation<'m> {
    model: &'m Model,
    sources: &'m Sources,
    file: String,
    budget: Budget,
    interpreter: Interpreter<'m>,
    nodes: Vec<Node>,
    /// The first steps of all lines.
    beginnings: Vec<usize>,
    /// The nodes of the line that is shown, and how many of them are done.
    line: Vec<usize>,
    position: usize,
    choices: Vec<Choice>,
    /// What went wrong or could not be computed while the choices were looked for.
    remarks: Vec<String>,
}

impl<'m> Animation<'m> {
    pub fn new(model: &'m Model, sources: &'m Sources, file: String, budget: &Budget) -> Animation<'m> {
        let mut animation = Animation {
            model,
            sources,
            file,
            budget: budget.clone(),
            interpreter: Interpreter::new(&model.machine, budget),
            nodes: Vec::new(),
            beginnings: Vec::new(),
            line: Vec::new(),
            position: 0,
            choices: Vec::new(),
            remarks: Vec::new(),
        };
        animation.look();
        animation
    }

    /// What is done from now on may take as long as this budget allows.
    pub fn allow(&mut self, budget: &Budget) {
        self.budget = budget.clone();
        self.interpreter.budget = budget.clone();
    }

    pub fn model(&self) -> &'m Model {
        self.model
    }

    pub fn sources(&self) -> &'m Sources {
        self.sources
    }

    pub fn file_name(&self) -> &str {
        &self.file
    }

    pub fn interpreter(&self) -> &Interpreter<'m> {
        &self.interpreter
    }

    /// What can be done next.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// What is to be said about the present state: faults, and what could not be computed.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The steps that were done, and those that were undone and can be done again.
    pub fn line(&self) -> impl ExactSizeIterator<Item = &Choice> {
        self.line.iter().map(|n| &self.nodes[*n].by)
    }

    /// A step of the line by its number.
    pub fn step_at(&self, n: usize) -> Option<&Choice> {
        self.line.get(n).map(|n| &self.nodes[*n].by)
    }

    /// How many steps of the line are done.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The path so far, in words.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = TraceStep> {
        self.line[..self.position].iter().map(|n| self.step(&self.nodes[*n].by))
    }

    /// The last step that was done.
    pub fn last(&self) -> Option<&Choice> {
        self.position.checked_sub(1).and_then(|n| self.step_at(n))
    }

    /// Does the n-th thing that can be done; false if there is none.
    pub fn choose(&mut self, n: usize) -> bool {
        let Some(choice) = self.choices.get(n).cloned() else { return false };
        self.go(choice);
        self.look();
        true
    }

    /// Does the step that the texts name: an event with values of some of its parameters, in their order or by name.
    pub fn choose_named(&mut self, event: &str, values: &[(Option<String>, String)]) -> Result<(), String> {
        let fits = |step: &TraceStep| {
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            step.event == event
                && values.iter().enumerate().all(|(i, (name, value))| {
                    let known = match name {
                        Some(name) => step.params.iter().find(|(n, _)| n == name),
                        None => step.params.get(i),
                    };
                    known.is_some_and(|(_, v)| plain(v) == plain(value))
                })
        };
        let fitting: Vec<usize> = self.fitting(fits).collect();
        match fitting[..] {
            [one] => {
                self.choose(one);
                Ok(())
            }
            [] if self.last().and_then(Choice::state).is_none() => {
                Err("nothing is initialised yet: `list` shows what can be done first".into())
            }
            [] => Err(format!("{event} is not possible here with these values; `why {event}` says why")),
            _ => {
                let numbers: Vec<String> = fitting.iter().take(20).map(|i| (i + 1).to_string()).collect();
                Err(format!("several steps fit; choose one of {}", numbers.join(", ")))
            }
        }
    }

    /// Does the step that a trace tells: its event, its parameters, and the values that the trace names.
    pub fn follow(&mut self, step: &TraceStep) -> bool {
        let holds =
            |list: &[(String, String)], all: &[(String, String)]| list.iter().all(|pair| all.contains(pair));
        let fits = |known: &TraceStep| {
            known.event == step.event
                && holds(&step.params, &known.params)
                && holds(&step.results, &known.results)
                && step.state.iter().all(|(n, v)| known.state.iter().all(|(m, w)| m != n || w == v))
        };
        let first = self.fitting(fits).next();
        first.is_some_and(|n| self.choose(n))
    }

    /// The numbers of the choices that fit, in words.
    fn fitting<'a>(&'a self, fits: impl Fn(&TraceStep) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
        (0..self.choices.len()).filter(move |n| fits(&self.step(&self.choices[*n])))
    }

    /// Whether the model has an event of this name.
    pub fn has_event(&self, name: &str) -> bool {
        self.event(name).is_some()
    }

    fn event(&self, name: &str) -> Option<usize> {
        let machine = self.interpreter.machine();
        machine.events.iter().position(|op| *machine.op(*op).name == *name)
    }

    /// Why an event is not possible in the present state; none if it is possible.
    pub fn why_disabled(&self, name: &str) -> Result<Option<explain::Node>, String> {
        let state = self.last().and_then(Choice::state).ok_or("nothing is initialised yet")?;
        let event = self.event(name).ok_or_else(|| format!("the model has no event {name}"))?;
        let explainer = Explainer::new(self.interpreter.machine(), self.sources, &Budget::moment());
        Ok(explainer.why_disabled(state, event))
    }

    /// The same as lines of text, for values of some parameters, in their order or by name.
    pub fn why_not(&self, name: &str, values: &[(Option<String>, String)]) -> Result<Vec<String>, String> {
        let Some(event) = self.event(name).filter(|_| !values.is_empty()) else {
            return Ok(match self.why_disabled(name)? {
                Some(node) => node.lines(LONGEST),
                None => vec![format!("{name} is possible here")],
            });
        };
        let state = self.last().and_then(Choice::state).ok_or("nothing is initialised yet")?;
        let machine = self.interpreter.machine();
        let op = machine.op(machine.events[event]);
        let mut given = Vec::new();
        for (i, (by_name, text)) in values.iter().enumerate() {
            let var = match by_name {
                Some(by_name) => op.params.iter().copied().find(|v| *machine.var(*v).name == **by_name),
                None => op.params.get(i).copied(),
            };
            let var = var.ok_or_else(|| format!("{name} has no such parameter: {text}"))?;
            let value = values::value_of(self.model, self.sources, var, text, &self.budget)?;
            given.push((var, value));
        }
        let explainer = Explainer::new(machine, self.sources, &Budget::moment());
        Ok(match explainer.why_disabled_with(state, event, &given) {
            Some(node) => node.lines(LONGEST),
            None => vec![format!("{name} is possible here with these values")],
        })
    }

    /// Whether the variables have values.
    pub fn has_begun(&self) -> bool {
        self.last().and_then(Choice::state).is_some()
    }

    /// Takes the last step back; false at the beginning.
    pub fn undo(&mut self) -> bool {
        self.position > 0 && self.go_to(self.position - 1)
    }

    /// Does again what was undone; false if nothing was.
    pub fn redo(&mut self) -> bool {
        self.position < self.line.len() && self.go_to(self.position + 1)
    }

    /// Goes to the place after so many steps of the line; false if the line is shorter.
    pub fn go_to(&mut self, position: usize) -> bool {
        if position > self.line.len() {
            return false;
        }
        self.position = position;
        self.look();
        true
    }

    /// The other lines of the tree, by their last nodes.
    pub fn branches(&self) -> Vec<Branch> {
        let mut on_line = vec![false; self.nodes.len()];
        self.line.iter().for_each(|n| on_line[*n] = true);
        let leaf = |n: &usize| self.nodes[*n].children.is_empty() && !on_line[*n];
        (0..self.nodes.len())
            .filter(leaf)
            .map(|leaf| {
                let mut at = Some(leaf);
                while let Some(n) = at.filter(|n| !on_line[*n]) {
                    at = self.nodes[n].parent;
                }
                let leaves_at = at.map_or(0, |n| self.nodes[n].depth);
                Branch { leaf, length: self.nodes[leaf].depth, leaves_at }
            })
            .collect()
    }

    /// Shows another line and goes to its end; false if there is no such line.
    pub fn switch(&mut self, leaf: usize) -> bool {
        if self.nodes.get(leaf).is_none_or(|n| !n.children.is_empty()) {
            return false;
        }
        let mut line = vec![leaf];
        while let Some(parent) = self.nodes[line[line.len() - 1]].parent {
            line.push(parent);
        }
        line.reverse();
        self.position = line.len();
        self.line = line;
        self.look();
        true
    }

    /// Does so many steps at random, by numbers that `random` gives; how many could be done.
    pub fn wander(&mut self, steps: usize, mut random: impl FnMut(usize) -> usize) -> usize {
        for done in 0..steps {
            if self.choices.is_empty() || self.budget.check().is_err() {
                return done;
            }
            let choice = self.choices[random(self.choices.len())].clone();
            self.go(choice);
            if done + 1 < steps {
                self.look_for_choices();
            } else {
                self.look();
            }
        }
        steps
    }

    /// Does the given steps, after so many of the present line.
    pub fn go_along(&mut self, after: usize, steps: impl IntoIterator<Item = Choice>) {
        self.position = after.min(self.line.len());
        steps.into_iter().for_each(|choice| self.go(choice));
        self.look();
    }

    /// Names and values of the present state.
    pub fn state(&self) -> Vec<(String, String)> {
        self.values().into_iter().map(|(v, x)| self.named(v, x)).collect()
    }

    /// Constants and variables that have a value here.
    pub fn values(&self) -> Vec<(VarId, &Value)> {
        self.last().map_or_else(Vec::new, |choice| self.values_after(choice))
    }

    /// Constants and variables that have a value after a step.
    pub fn values_after<'c>(&self, choice: &'c Choice) -> Vec<(VarId, &'c Value)> {
        let machine = self.interpreter.machine();
        let mut all: Vec<_> = machine.constants.iter().copied().zip(choice.constants().iter()).collect();
        if let Some(state) = choice.state() {
            all.extend(machine.variables.iter().copied().zip(state.variables.iter()));
        }
        all
    }

    /// The present state, as far as there is one: constants alone count.
    pub fn here(&self) -> Option<State> {
        self.last().map(|choice| match choice.state() {
            Some(state) => state.clone(),
            None => State { constants: choice.constants().clone(), variables: [].into() },
        })
    }

    /// The value of a formula in the present state.
    pub fn evaluate(&self, text: &str) -> Result<String, String> {
        values::evaluate(self.model, self.sources, text, self.here().as_ref(), &self.budget)
    }

    /// The conjuncts of the invariant and the assertions in the present state.
    pub fn judged(&self) -> Vec<Judged<'m>> {
        let machine = self.interpreter.machine();
        let Some(state) = self.last().and_then(Choice::state) else { return Vec::new() };
        let judge = |clause: &'m Clause, assertion| Judged {
            clause,
            assertion,
            truth: self.interpreter.eval_pred(&clause.pred, Some(state)).map_err(|e| e.told()),
        };
        let invariant = machine.invariant.iter().map(|c| judge(c, false));
        invariant.chain(machine.assertions.iter().map(|c| judge(c, true))).collect()
    }

    /// The path as a trace file of this kind.
    pub fn file(&self, extension: &str) -> Result<String, String> {
        let machine = self.interpreter.machine();
        let steps: Vec<TraceStep> = self.steps().collect();
        let traced = Traced {
            file: &self.file,
            machine: &machine.name,
            sets: machine.sets.iter().map(|s| &*s.name).collect(),
            violation: None,
            steps: &steps,
            loop_start: None,
            drawings: self.drawings_for(extension),
            report: None,
        };
        trace_file::render_trace(&traced, extension)
    }

    /// Drawings of the states of the path, where the trace file shows them.
    fn drawings_for(&self, extension: &str) -> Vec<String> {
        let path: Vec<Choice> = self.line().take(self.position()).cloned().collect();
        let drawing = self.drawing().filter(|_| extension == "html");
        drawing.map(|drawing| drawing.of_choices(&path, &self.budget)).unwrap_or_default()
    }

    /// A step in words, with the whole state after it.
    pub fn step(&self, choice: &Choice) -> TraceStep {
        let machine = self.interpreter.machine();
        let list = |vars: &[VarId], values: &[Value]| -> Vec<(String, String)> {
            vars.iter().zip(values).map(|(v, x)| self.named(*v, x)).collect()
        };
        match choice {
            Choice::Setup(constants) => TraceStep {
                event: SETUP_CONSTANTS.into(),
                state: list(&machine.constants, constants),
                ..TraceStep::default()
            },
            Choice::Initialise(state) => TraceStep {
                event: INITIALISE.into(),
                state: list(&machine.variables, &state.variables),
                ..TraceStep::default()
            },
            Choice::Event(t) => {
                let op = machine.op(machine.events[t.event]);
                TraceStep {
                    event: op.name.to_string(),
                    params: list(&op.params, &t.params),
                    results: list(&op.results, &t.results),
                    state: list(&machine.variables, &t.target.variables),
                }
            }
        }
    }

    fn named(&self, v: VarId, value: &Value) -> (String, String) {
        let machine = self.interpreter.machine();
        let var = machine.var(v);
        (var.name.to_string(), value.show(machine, &var.ty))
    }

    /// Moves along a step: one that was done here before is found again, another one opens a new line.
    fn go(&mut self, choice: Choice) {
        let here = self.position.checked_sub(1).map(|n| self.line[n]);
        let known = here.map_or(&self.beginnings, |n| &self.nodes[n].children);
        let next = match known.iter().copied().find(|n| self.nodes[*n].by == choice) {
            Some(node) => node,
            None => {
                let node = self.nodes.len();
                let depth = self.position + 1;
                self.nodes.push(Node { parent: here, by: choice, depth, children: Vec::new() });
                here.map_or(&mut self.beginnings, |n| &mut self.nodes[n].children).push(node);
                node
            }
        };
        if self.line.get(self.position) != Some(&next) {
            self.line.truncate(self.position);
            self.line.push(next);
        }
        self.position += 1;
    }

    /// Finds out what can be done next, and what is wrong here.
    fn look(&mut self) {
        self.look_for_choices();
        let found = std::mem::take(&mut self.remarks);
        if let Some(state) = self.last().and_then(Choice::state) {
            let mut broken = Vec::new();
            self.look_for_faults(state, &mut broken);
            self.remarks = broken;
        }
        self.remarks.extend(found);
    }

    fn look_for_choices(&mut self) {
        self.choices.clear();
        self.remarks.clear();
        match self.last().cloned() {
            None if self.interpreter.machine().constants.is_empty() => self.look_for_initial(&[].into()),
            None => self.look_for_constants(),
            Some(Choice::Setup(constants)) => self.look_for_initial(&constants),
            Some(Choice::Initialise(state) | Choice::Event(Transition { target: state, .. })) => {
                self.look_for_events(&state);
            }
        }
    }

    fn look_for_constants(&mut self) {
        match self.interpreter.constants() {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(found) => {
                self.remarks.extend(found.remarks().map(ToString::to_string));
                self.choices.extend(found.values.into_iter().map(Choice::Setup));
            }
        }
    }

    fn look_for_initial(&mut self, constants: &Constants) {
        match self.interpreter.initial_states(constants) {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(found) => {
                self.remarks.extend(found.remarks().map(ToString::to_string));
                self.choices.extend(found.values.into_iter().map(Choice::Initialise));
            }
        }
    }

    fn look_for_faults(&self, state: &State, remarks: &mut Vec<String>) {
        let machine = self.interpreter.machine();
        match self.interpreter.check_state(state, false) {
            Err(e) => remarks.push(e.to_string()),
            Ok(broken) => {
                for i in &broken.invariant {
                    remarks
                        .push(format!("the invariant is broken: {}", one_line(&machine.invariant[*i].text)));
                }
                for i in &broken.assertions {
                    remarks
                        .push(format!("an assertion is broken: {}", one_line(&machine.assertions[*i].text)));
                }
                remarks.extend(broken.undefined.iter().map(|(_, _, e)| e.to_string()));
                remarks.extend(broken.incomplete.iter().map(ToString::to_string));
            }
        }
    }

    fn look_for_events(&mut self, state: &State) {
        let machine = self.interpreter.machine();
        match self.interpreter.transitions(state) {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(steps) => {
                let said = steps
                    .errors
                    .iter()
                    .chain(&steps.undefined_guards)
                    .chain(&steps.incomplete)
                    .chain(&steps.sampled);
                for (event, e) in said {
                    self.remarks.push(format!("{}: {e}", machine.op(machine.events[*event]).name));
                }
                self.choices.extend(steps.transitions.into_iter().map(Choice::Event));
            }
        }
    }
}
