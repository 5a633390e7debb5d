//! A model is stepped through by hand, with the reference interpreter.
//!
//! In: choices of the user. Out: what can be chosen, the state, the path so far.
//! Never here: commands as typed, printing.

use super::values;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::evaluate::{Constants, Interpreter, State, Transition};
use crate::lang::typed::VarId;
use crate::lang::value::Value;
use crate::model::Model;
use crate::report::trace_file::{self, Traced};
use crate::report::{INITIALISE, SETUP_CONSTANTS, TraceStep};

/// One thing that can be done next.
enum Choice {
    Setup(Constants),
    Initialise(State),
    Event(Transition),
}

/// Where the animation stands.
#[derive(Clone)]
enum At {
    Root,
    Constants(Constants),
    State(State),
}

pub struct Animation<'m> {
    model: &'m Model,
    sources: &'m Sources,
    file: String,
    budget: &'m Budget,
    interpreter: Interpreter<'m>,
    path: Vec<(TraceStep, At)>,
    choices: Vec<(TraceStep, Choice)>,
    /// What went wrong or could not be computed while the choices were looked for.
    remarks: Vec<String>,
}

impl<'m> Animation<'m> {
    pub fn new(model: &'m Model, sources: &'m Sources, file: String, budget: &'m Budget) -> Animation<'m> {
        let interpreter = Interpreter::new(&model.machine, budget);
        let mut animation = Animation {
            model,
            sources,
            file,
            budget,
            interpreter,
            path: Vec::new(),
            choices: Vec::new(),
            remarks: Vec::new(),
        };
        animation.look();
        animation
    }

    /// What can be done next.
    pub fn choices(&self) -> impl ExactSizeIterator<Item = &TraceStep> {
        self.choices.iter().map(|(step, _)| step)
    }

    /// What is to be said about the present state: faults, and what could not be computed.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The path so far.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &TraceStep> {
        self.path.iter().map(|(step, _)| step)
    }

    /// Does the n-th thing that can be done; false if there is none.
    pub fn choose(&mut self, n: usize) -> bool {
        if n >= self.choices.len() {
            return false;
        }
        let (step, choice) = self.choices.swap_remove(n);
        let at = match choice {
            Choice::Setup(constants) => At::Constants(constants),
            Choice::Initialise(state) => At::State(state),
            Choice::Event(t) => At::State(t.target),
        };
        self.path.push((step, at));
        self.look();
        true
    }

    /// Takes the last step back; false at the beginning.
    pub fn undo(&mut self) -> bool {
        let undone = self.path.pop().is_some();
        if undone {
            self.look();
        }
        undone
    }

    /// Names and values of the present state.
    pub fn state(&self) -> Vec<(String, String)> {
        let machine = self.interpreter.machine();
        match self.at() {
            At::Root => Vec::new(),
            At::Constants(constants) => self.named(&machine.constants, &constants),
            At::State(state) => {
                let mut all = self.named(&machine.constants, &state.constants);
                all.extend(self.named(&machine.variables, &state.variables));
                all
            }
        }
    }

    /// The value of a formula in the present state.
    pub fn evaluate(&self, text: &str) -> Result<String, String> {
        let state = match self.at() {
            At::Root => None,
            At::Constants(constants) => Some(State { constants, variables: [].into() }),
            At::State(state) => Some(state),
        };
        values::evaluate(self.model, self.sources, text, state.as_ref(), self.budget)
    }

    /// The path as a trace file of this kind.
    pub fn file(&self, extension: &str) -> Result<String, String> {
        let machine = self.interpreter.machine();
        let steps: Vec<TraceStep> = self.steps().cloned().collect();
        let traced = Traced {
            file: &self.file,
            machine: &machine.name,
            sets: machine.sets.iter().map(|s| &*s.name).collect(),
            violation: None,
            steps: &steps,
            loop_start: None,
        };
        trace_file::render_trace(&traced, extension)
    }

    fn at(&self) -> At {
        self.path.last().map_or(At::Root, |(_, at)| at.clone())
    }

    fn named(&self, vars: &[VarId], values: &[Value]) -> Vec<(String, String)> {
        let machine = self.interpreter.machine();
        let one = |(v, x): (&VarId, &Value)| {
            let var = machine.var(*v);
            (var.name.to_string(), x.show(machine, &var.ty))
        };
        vars.iter().zip(values).map(one).collect()
    }

    /// Finds out what can be done next.
    fn look(&mut self) {
        self.choices.clear();
        self.remarks.clear();
        match self.at() {
            At::Root if self.interpreter.machine().constants.is_empty() => self.look_for_initial(&[].into()),
            At::Root => self.look_for_constants(),
            At::Constants(constants) => self.look_for_initial(&constants),
            At::State(state) => self.look_for_events(&state),
        }
    }

    fn look_for_constants(&mut self) {
        match self.interpreter.constants() {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(found) => {
                self.remarks.extend(found.remarks().map(ToString::to_string));
                for constants in found.values {
                    let state = self.named(&self.interpreter.machine().constants, &constants);
                    let step = TraceStep { event: SETUP_CONSTANTS.into(), state, ..TraceStep::default() };
                    self.choices.push((step, Choice::Setup(constants)));
                }
            }
        }
    }

    fn look_for_initial(&mut self, constants: &Constants) {
        match self.interpreter.initial_states(constants) {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(found) => {
                self.remarks.extend(found.remarks().map(ToString::to_string));
                for initial in found.values {
                    let state = self.named(&self.interpreter.machine().variables, &initial.variables);
                    let step = TraceStep { event: INITIALISE.into(), state, ..TraceStep::default() };
                    self.choices.push((step, Choice::Initialise(initial)));
                }
            }
        }
    }

    fn look_for_events(&mut self, state: &State) {
        let machine = self.interpreter.machine();
        match self.interpreter.check_state(state, false) {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(broken) => {
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                for i in &broken.invariant {
                    self.remarks
                        .push(format!("the invariant is broken: {}", words(&machine.invariant[*i].text)));
                }
                for i in &broken.assertions {
                    self.remarks
                        .push(format!("an assertion is broken: {}", words(&machine.assertions[*i].text)));
                }
                self.remarks.extend(broken.undefined.iter().map(|(_, _, e)| e.to_string()));
                self.remarks.extend(broken.incomplete.iter().map(ToString::to_string));
            }
        }
        match self.interpreter.transitions(state) {
            Err(e) => self.remarks.push(e.to_string()),
            Ok(steps) => {
                for (event, e) in steps
                    .errors
                    .iter()
                    .chain(&steps.undefined_guards)
                    .chain(&steps.incomplete)
                    .chain(&steps.sampled)
                {
                    self.remarks.push(format!("{}: {e}", machine.op(machine.events[*event]).name));
                }
                for t in steps.transitions {
                    let op = machine.op(machine.events[t.event]);
                    let step = TraceStep {
                        event: op.name.to_string(),
                        params: self.named(&op.params, &t.params),
                        results: self.named(&op.results, &t.results),
                        state: self.named(&machine.variables, &t.target.variables),
                    };
                    self.choices.push((step, Choice::Event(t)));
                }
            }
        }
    }
}
