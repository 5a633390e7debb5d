//! A model is stepped through by hand, with the reference interpreter.
//!
//! In: choices of the user. Out: what can be chosen, the state, the path so far.
//! Never here: commands as typed, printing.

use super::values;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::evaluate::{Constants, Interpreter, State, Transition};
use crate::explain::Explainer;
use crate::lang::typed::VarId;
use crate::lang::value::Value;
use crate::model::Model;
use crate::report::trace_file::{self, Traced};
use crate::report::{INITIALISE, SETUP_CONSTANTS, TraceStep};

/// Values in lines of an explanation are cut.
const LONGEST: usize = 300;

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
    /// Steps that were taken back, the last one first; any other step forgets them.
    undone: Vec<(TraceStep, At)>,
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
            undone: Vec::new(),
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
        self.undone.clear();
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
        let fitting: Vec<usize> =
            self.choices.iter().enumerate().filter(|(_, (step, _))| fits(step)).map(|(i, _)| i).collect();
        match fitting[..] {
            [one] => {
                self.choose(one);
                Ok(())
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
        match self.choices.iter().position(|(known, _)| fits(known)) {
            Some(n) => self.choose(n),
            None => false,
        }
    }

    /// Whether the model has an event of this name.
    pub fn has_event(&self, name: &str) -> bool {
        let machine = self.interpreter.machine();
        machine.events.iter().any(|op| *machine.op(*op).name == *name)
    }

    /// Why an event is not possible in the present state, as lines of text.
    pub fn why_not(&self, name: &str) -> Result<Vec<String>, String> {
        let machine = self.interpreter.machine();
        let At::State(state) = self.at() else { return Err("nothing is initialised yet".into()) };
        let event = machine.events.iter().position(|op| *machine.op(*op).name == *name);
        let event = event.ok_or_else(|| format!("the model has no event {name}"))?;
        let explainer = Explainer::new(machine, self.sources, &Budget::moment());
        Ok(match explainer.why_disabled(&state, event) {
            Some(node) => node.lines(LONGEST),
            None => vec![format!("{name} is possible here")],
        })
    }

    /// Does again what was taken back last; false if nothing was.
    pub fn redo(&mut self) -> bool {
        let Some(step) = self.undone.pop() else { return false };
        self.path.push(step);
        self.look();
        true
    }

    /// Goes back, or forth through steps that were taken back, until the path has so many steps.
    pub fn go_to(&mut self, steps: usize) -> bool {
        while self.path.len() > steps && self.undo() {}
        while self.path.len() < steps && self.redo() {}
        self.path.len() == steps
    }

    /// Takes the last step back; false at the beginning.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.path.pop() else { return false };
        self.undone.push(step);
        self.look();
        true
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
