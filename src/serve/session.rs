//! What a user of the page does with a model, question by question.
//!
//! In: the name of a question and its arguments as JSON. Out: JSON, or a sentence that says why there is none. Every
//! question has a time limit and can be cancelled; what was done before stays.
//! Never here: sockets, tokens.

use super::pictures::{self, StateSpace};
use super::present;
use super::reasons;
use crate::base::budget::Budget;
use crate::base::text::{many, one_line};
use crate::driver::{self, Animation, Choice, Drawing, Space, Typed};
use crate::evaluate::Interpreter;
use crate::explain::Explainer;
use crate::lang::typed::{Type, VarId};
use crate::lang::value::Value;
use crate::model::{Formula, Model, types};
use crate::report::trace_read::{self, ReadTrace};
use crate::report::{INITIALISE, SETUP_CONSTANTS};
use bombus_kernels::random::Random;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a question may take.
const SHORTLY: Duration = Duration::from_secs(10);
/// How long a search, a check or a long trace may take.
const LONG: Duration = Duration::from_secs(60);
/// Steps, rows and states that one answer holds at most.
const ROWS: usize = 500;
/// Lines that say why a finding is one.
const REASONS: usize = 60;
/// The greatest part of the state space that is drawn, and that is searched from a state on.
const DRAWN: usize = 5_000;
const SEARCHED: usize = 200_000;
/// Steps that are done at random at once.
const RANDOM_STEPS: usize = 100_000;

/// The flag of the question in hand, for whoever wants to end it.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Mutex<Arc<AtomicBool>>>);

impl Cancel {
    /// Ends the question in hand.
    pub fn cancel(&self) {
        self.0.lock().store(true, Ordering::SeqCst);
    }

    /// A budget for a new question.
    fn budget(&self, limit: Duration) -> Budget {
        let mut budget = Budget::unlimited();
        budget.time_limit = Some(limit);
        *self.0.lock() = budget.interrupt_flag();
        budget
    }
}

/// Checks the model with further options, in a process of its own: the JSON result. The budget ends it.
pub type Checker<'m> = Box<dyn Fn(&[&str], &Budget) -> Result<Json, String> + 'm>;

pub struct Session<'m> {
    animation: Animation<'m>,
    cancel: Cancel,
    checker: Checker<'m>,
    /// The SVG beside the model.
    drawing: Option<Drawing>,
    space: Option<Space>,
    /// What the trace that was opened shows, where its loop begins, and remarks of the last question.
    finding: Option<Json>,
    loop_start: Option<usize>,
    said: Vec<String>,
}

impl<'m> Session<'m> {
    pub fn new(mut animation: Animation<'m>, cancel: Cancel, checker: Checker<'m>) -> Session<'m> {
        animation.allow(&cancel.budget(SHORTLY));
        let drawing = animation.drawing();
        Session {
            animation,
            cancel,
            checker,
            drawing,
            space: None,
            finding: None,
            loop_start: None,
            said: Vec::new(),
        }
    }

    /// Answers one question.
    pub fn answer(&mut self, name: &str, body: &Json) -> Result<Json, String> {
        let long = matches!(name, "find" | "check" | "load" | "random" | "graph");
        let budget = self.cancel.budget(if long { LONG } else { SHORTLY });
        self.animation.allow(&budget);
        self.said.clear();
        let number = |key: &str| body[key].as_u64().map(|n| n as usize);
        let text = |key: &str| body[key].as_str().unwrap_or("").trim();
        match name {
            "view" => Ok(self.view()),
            "source" => Ok(self.source()),
            "operations" => Ok(self.operations(number("from").unwrap_or(0), text("filter"))),
            "history" => Ok(self.history(number("from").unwrap_or(0), number("count").unwrap_or(ROWS))),
            "step" => {
                let n = number("n").ok_or("which step?")?;
                self.moved(|a| a.choose(n), "this step is not possible here")
            }
            "undo" => self.moved(Animation::undo, "nothing was done yet"),
            "redo" => self.moved(Animation::redo, "nothing was undone"),
            "goto" => {
                let position = number("position").ok_or("after how many steps?")?;
                self.moved(|a| a.go_to(position), "the history is not that long")
            }
            "branch" => {
                let leaf = number("leaf").ok_or("which branch?")?;
                self.moved(|a| a.switch(leaf), "there is no such branch")
            }
            "random" => self.random(number("steps").unwrap_or(1), number("seed")),
            "evaluate" => self.evaluate(text("formula")),
            "conjuncts" => Ok(self.conjuncts(true)),
            "why" => self.why_disabled(text("event")),
            "value" => self.value(body),
            "drawing" => Ok(self.drawing(&budget)),
            "relation" => self.relation(text("name")),
            "graph" => self.graph(text("project"), number("states").unwrap_or(ROWS)),
            "visit" => self.visit(number("state").ok_or("which state?")?),
            "find" => self.find(text("predicate"), body["here"].as_bool().unwrap_or(true), &budget),
            "check" => self.check(&budget),
            "save" => {
                let kind = text("kind");
                let name = format!("{}.{kind}", self.animation.model().machine.name);
                Ok(json!({ "name": name, "content": self.animation.file(kind)? }))
            }
            "load" => {
                let trace = trace_read::read(body["content"].as_str().ok_or("an empty file")?)
                    .map_err(|e| format!("this is no trace: {e}"))?;
                self.open(&trace, &budget);
                Ok(self.view())
            }
            other => Err(format!("unknown question {other}")),
        }
    }

    /// Opens a trace, as far as the model can make its steps.
    pub fn open(&mut self, trace: &ReadTrace, budget: &Budget) {
        let of = self.animation.model();
        let mut model = Model {
            machine: of.machine.clone(),
            scope: of.scope.clone(),
            proofs: Vec::new(),
            refinement: None,
            notes: Vec::new(),
        };
        let mut sources = self.animation.sources().clone();
        let (replayed, steps) = driver::follow(&mut model, &mut sources, trace, budget);
        if let Some((step, why)) = &replayed.failed {
            let place = format!("step {} of {} cannot be made: {step}", replayed.made, replayed.steps);
            self.said.push(place);
            self.said.extend(why.iter().cloned());
        }
        self.said.extend(replayed.incomplete.iter().map(|why| format!("step {}: {why}", replayed.made)));
        // The model may have constants that the trace does not mention.
        let untold = steps.len().saturating_sub(replayed.made);
        self.loop_start = trace.loop_start.filter(|_| replayed.failed.is_none()).map(|n| n + untold);
        let why: Vec<&String> = trace.why.iter().take(REASONS).collect();
        self.finding = trace
            .violation
            .as_ref()
            .map(|(kind, property)| json!({"kind": kind, "property": property, "why": why}));
        self.animation.go_along(0, steps);
    }

    /// The drawing of the present state.
    fn drawing(&self, budget: &Budget) -> Json {
        let drawn = self.drawing.as_ref().zip(self.animation.here()).map(|(d, state)| d.of(&state, budget));
        let (svg, said) = drawn.unwrap_or_default();
        json!({ "svg": svg, "said": said })
    }

    fn moved(&mut self, go: impl FnOnce(&mut Animation<'m>) -> bool, failed: &str) -> Result<Json, String> {
        if go(&mut self.animation) { Ok(self.view()) } else { Err(failed.into()) }
    }

    /// Everything that the page shows at once.
    fn view(&self) -> Json {
        let animation = &self.animation;
        let machine = &animation.model().machine;
        let branches: Vec<Json> = animation
            .branches()
            .iter()
            .take(ROWS)
            .map(|b| json!({ "leaf": b.leaf, "length": b.length, "leaves_at": b.leaves_at }))
            .collect();
        json!({
            "machine": machine.name.to_string(),
            "file": animation.file_name(),
            "version": env!("CARGO_PKG_VERSION"),
            "scope": self.scope(),
            "position": animation.position(),
            "length": animation.line().len(),
            "last": animation.last().map(|choice| self.label(choice)),
            "finding": self.finding,
            "loop_start": self.loop_start,
            "said": self.said,
            "remarks": animation.remarks(),
            "drawing": self.drawing.is_some(),
            "values": self.values(),
            "operations": self.operations(0, ""),
            "conjuncts": self.conjuncts(false),
            "branches": branches,
        })
    }

    /// The sizes that everything here holds for.
    fn scope(&self) -> String {
        let machine = &self.animation.model().machine;
        let mut words: Vec<String> =
            machine.sets.iter().map(|s| format!("{} = {}", s.name, s.elems.len())).collect();
        words.push(format!("integers {}..{}", machine.minint, machine.maxint));
        words.join(", ")
    }

    /// The texts of the model.
    fn source(&self) -> Json {
        let sources = self.animation.sources();
        let files: Vec<Json> = (0..sources.len() as u32)
            .map(|n| sources.get(crate::base::FileId(n)))
            .filter(|file| file.path.is_some())
            .map(|file| json!({ "name": file.name, "text": &*file.text }))
            .collect();
        json!({ "files": files })
    }

    fn values(&self) -> Vec<Json> {
        let machine = &self.animation.model().machine;
        let before = self.animation.position().checked_sub(2).and_then(|n| self.animation.step_at(n));
        let before = before.map(|choice| self.animation.values_after(choice)).unwrap_or_default();
        let row = |(v, value): (VarId, &Value)| {
            let var = machine.var(v);
            let mut row = present::short(machine, &var.ty, value);
            row["name"] = var.name.to_string().into();
            row["type"] = types::show(&var.ty, &machine.sets, &machine.freetypes).into();
            row["constant"] = machine.constants.contains(&v).into();
            if let Some((_, old)) = before.iter().find(|(w, old)| *w == v && *old != value) {
                row["change"] = present::change(machine, &var.ty, old, value);
            }
            row
        };
        self.animation.values().into_iter().map(row).collect()
    }

    /// A step in words that are never long.
    fn label(&self, choice: &Choice) -> String {
        let machine = &self.animation.model().machine;
        let list = |vars: &[VarId], values: &[Value], named: bool| {
            let one = |(v, value): (&VarId, &Value)| {
                let var = machine.var(*v);
                let text = present::shortened(machine, &var.ty, value, 60).0;
                if named { format!("{}={text}", var.name) } else { text }
            };
            vars.iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
        };
        match choice {
            Choice::Setup(constants) => {
                format!("SETUP_CONSTANTS {}", list(&machine.constants, constants, true))
            }
            Choice::Initialise(state) => {
                format!("INITIALISATION {}", list(&machine.variables, &state.variables, true))
            }
            Choice::Event(t) => {
                let op = machine.op(machine.events[t.event]);
                let mut text = String::new();
                if !op.results.is_empty() {
                    text = format!("{} <-- ", list(&op.results, &t.results, false));
                }
                text.push_str(&op.name);
                if !op.params.is_empty() {
                    text = format!("{text}({})", list(&op.params, &t.params, true));
                }
                text
            }
        }
    }

    fn operations(&self, from: usize, filter: &str) -> Json {
        let machine = &self.animation.model().machine;
        let choices = self.animation.choices();
        let mut enabled = vec![0u64; machine.events.len()];
        for choice in choices {
            if let Choice::Event(t) = choice {
                enabled[t.event] += 1;
            }
        }
        let initialised = self.animation.last().is_some_and(|choice| choice.state().is_some());
        let disabled: Vec<String> = (0..machine.events.len())
            .filter(|event| initialised && enabled[*event] == 0)
            .map(|event| machine.op(machine.events[event]).name.to_string())
            .collect();
        let mut fitting = 0;
        let mut rows = Vec::new();
        for (n, choice) in choices.iter().enumerate() {
            // Labels are made for those only that may be shown, unless all must be looked through.
            let wanted = |fitting: usize| fitting >= from && rows.len() < ROWS;
            if filter.is_empty() && !wanted(fitting) {
                fitting += 1;
                continue;
            }
            let label = self.label(choice);
            if !filter.is_empty() && !label.to_lowercase().contains(&filter.to_lowercase()) {
                continue;
            }
            if wanted(fitting) {
                let event = match choice {
                    Choice::Setup(_) => SETUP_CONSTANTS,
                    Choice::Initialise(_) => INITIALISE,
                    Choice::Event(t) => &*machine.op(machine.events[t.event]).name,
                };
                rows.push(json!({ "n": n, "event": event, "label": label }));
            }
            fitting += 1;
        }
        json!({ "total": choices.len(), "fitting": fitting, "from": from, "rows": rows, "disabled": disabled })
    }

    fn history(&self, from: usize, count: usize) -> Json {
        let length = self.animation.line().len();
        let last = from.saturating_add(count.min(ROWS)).min(length);
        let rows: Vec<Json> = (from..last)
            .filter_map(|n| Some(json!({ "n": n + 1, "label": self.label(self.animation.step_at(n)?) })))
            .collect();
        json!({ "from": from, "length": length, "rows": rows })
    }

    fn random(&mut self, steps: usize, seed: Option<usize>) -> Result<Json, String> {
        let mut bytes = [0u8; 8];
        getrandom::fill(&mut bytes).map_err(|e| format!("no random numbers: {e}"))?;
        let mut numbers = Random(seed.map_or(u64::from_le_bytes(bytes), |n| n as u64));
        let wanted = steps.min(RANDOM_STEPS);
        let done = self.animation.wander(wanted, |n| numbers.below(n as u64) as usize);
        // The last state is looked at in full, whatever ended the walk.
        self.animation.go_to(self.animation.position());
        if done < wanted {
            self.said.push(format!("{done} of {wanted} steps were done"));
        }
        Ok(self.view())
    }

    fn evaluate(&self, text: &str) -> Result<Json, String> {
        let typed = self.typed(text)?;
        let state = self.animation.here();
        let interpreter = Interpreter::new(&typed.machine, self.animation.interpreter().budget());
        let tree = match &typed.formula {
            Formula::Pred(p) => {
                let explainer = Explainer::new(&typed.machine, &typed.sources, interpreter.budget());
                reasons::tree(&explainer.predicate_in(p, state.as_ref()))
            }
            Formula::Expr(_) => Json::Null,
        };
        let value = typed.value(&interpreter, state.as_ref())?;
        let mut answer = present::short(&typed.machine, &typed.ty(), &value);
        answer["type"] = types::show(&typed.ty(), &typed.machine.sets, &typed.machine.freetypes).into();
        answer["predicate"] = matches!(typed.formula, Formula::Pred(_)).into();
        answer["tree"] = tree;
        Ok(answer)
    }

    fn typed(&self, text: &str) -> Result<Typed, String> {
        if text.is_empty() {
            return Err("a formula is wanted".into());
        }
        Typed::read(self.animation.model(), self.animation.sources(), text)
    }

    /// The invariant and the assertions, conjunct by conjunct, on request with their parts.
    fn conjuncts(&self, with_parts: bool) -> Json {
        let judged = self.animation.judged();
        let state = self.animation.here();
        let machine = &self.animation.model().machine;
        let budget = self.animation.interpreter().budget();
        let explainer = Explainer::new(machine, self.animation.sources(), budget);
        let row = |j: &driver::Judged| {
            let word = match &j.truth {
                Ok(true) => "true",
                Ok(false) => "false",
                Err(_) => "unknown",
            };
            let explain = || reasons::tree(&explainer.predicate_in(&j.clause.pred, state.as_ref()));
            let tree = if with_parts { explain() } else { Json::Null };
            json!({
                "text": one_line(&j.clause.text), "label": j.clause.label.as_ref().map(|l| l.to_string()),
                "assertion": j.assertion, "truth": word, "why": j.truth.as_ref().err(), "tree": tree,
            })
        };
        judged.iter().map(row).collect::<Vec<_>>().into()
    }

    /// Why an event cannot happen here.
    fn why_disabled(&self, name: &str) -> Result<Json, String> {
        let node = self.animation.why_disabled(name)?;
        node.map(|node| reasons::tree(&node)).ok_or_else(|| format!("{name} can happen here"))
    }

    /// A page of the parts of a value: of a variable or constant by its name, or of any formula.
    fn value(&self, body: &Json) -> Result<Json, String> {
        let path: Vec<usize> = body["path"]
            .as_array()
            .map(|steps| steps.iter().filter_map(Json::as_u64).map(|n| n as usize).collect())
            .unwrap_or_default();
        let from = body["from"].as_u64().unwrap_or(0) as usize;
        let count = body["count"].as_u64().unwrap_or(100) as usize;
        if let Some(formula) = body["formula"].as_str() {
            let typed = self.typed(formula)?;
            let interpreter = Interpreter::new(&typed.machine, self.animation.interpreter().budget());
            let value = typed.value(&interpreter, self.animation.here().as_ref())?;
            return Ok(present::parts(&typed.machine, &typed.ty(), &value, &path, from, count));
        }
        let (ty, value) = self.named(body["name"].as_str().unwrap_or(""))?;
        Ok(present::parts(&self.animation.model().machine, ty, value, &path, from, count))
    }

    fn named(&self, name: &str) -> Result<(&Type, &Value), String> {
        let machine = &self.animation.model().machine;
        self.animation
            .values()
            .into_iter()
            .find(|(v, _)| *machine.var(*v).name == *name)
            .map(|(v, value)| (&machine.var(v).ty, value))
            .ok_or_else(|| format!("{name} has no value here"))
    }

    fn relation(&self, name: &str) -> Result<Json, String> {
        let (ty, value) = self.named(name)?;
        pictures::relation(&self.animation.model().machine, ty, value)
    }

    fn graph(&mut self, project: &str, states: usize) -> Result<Json, String> {
        let typed = if project.is_empty() { None } else { Some(self.typed(project)?) };
        let interpreter = self.animation.interpreter();
        let states = states.min(DRAWN);
        // A space that was cut short in time grows on; one that is larger than asked for is made anew.
        let space = self.space.take().filter(|space| space.states.len() <= states);
        let space = self.space.insert(space.unwrap_or_else(|| Space::of_machine(interpreter)));
        let complete = space.grow(interpreter, states);
        let here = self.animation.last().and_then(Choice::state).and_then(|state| space.find(state));
        let (projected, ty) = match typed.as_ref() {
            None => (space.project(interpreter, None), None),
            Some(Typed { machine, formula: Formula::Expr(e), .. }) => {
                let interpreter = Interpreter::new(machine, interpreter.budget());
                (space.project(&interpreter, Some(e)), Some(e.ty.clone()))
            }
            Some(_) => return Err("a projection is an expression; bool(P) makes one of a predicate".into()),
        };
        Ok(StateSpace { interpreter, space, projected: &projected, ty, here }.picture(complete))
    }

    /// Goes to a state of the picture, by a shortest path.
    fn visit(&mut self, state: usize) -> Result<Json, String> {
        let space = self.space.as_ref().filter(|s| state < s.states.len()).ok_or("there is no such state")?;
        let steps = space.steps(state, true);
        self.animation.go_along(0, steps);
        Ok(self.view())
    }

    /// Looks for a state that satisfies a predicate: from here on, or among all that are reachable.
    fn find(&mut self, predicate: &str, here: bool, budget: &Budget) -> Result<Json, String> {
        let typed = self.typed(predicate)?;
        let wanted = typed.predicate()?;
        let state = self.animation.last().and_then(Choice::state).cloned();
        let Some(state) = state.filter(|_| here) else {
            let goal = format!("--goal={predicate}");
            let options = [&*goal, "--no-invariant", "--no-deadlock", "--no-assertions"];
            let result = (self.checker)(&options, budget)?;
            self.found(&result, budget, "no reachable state satisfies it")?;
            // Who looks for a state found no fault.
            self.finding = None;
            return Ok(self.view());
        };
        let interpreter = Interpreter::new(&typed.machine, budget);
        let mut space = Space::from_state(state);
        match space.search(&interpreter, wanted, SEARCHED)? {
            None => Err(format!("none of the {} states that follow satisfies it", space.states.len())),
            Some(found) => {
                let steps = space.steps(found, false);
                self.said.push(format!("found after {}", many(steps.len() as u64, "step")));
                self.animation.go_along(self.animation.position(), steps);
                Ok(self.view())
            }
        }
    }

    /// Checks the whole model, and opens the counterexample if there is one.
    fn check(&mut self, budget: &Budget) -> Result<Json, String> {
        let result = (self.checker)(&[], budget)?;
        self.found(&result, budget, "verified")
    }

    /// Opens the trace of a result, or says what the result is without one.
    fn found(&mut self, result: &Json, budget: &Budget, nothing: &str) -> Result<Json, String> {
        if result["violation"]["trace"].is_array() {
            let trace = trace_read::read(&result.to_string())?;
            self.open(&trace, budget);
            let states = result["states"].as_u64().unwrap_or(0);
            self.said.push(format!("found among {}", many(states, "state")));
            return Ok(self.view());
        }
        let states = result["states"].as_u64().unwrap_or(0);
        let reasons: Vec<&str> =
            result["incomplete_because"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        match result["verdict"].as_str() {
            Some("verified") => {
                self.said.push(format!("{nothing}: all {states} states were seen"));
                Ok(self.view())
            }
            _ => Err(format!("nothing was found, but the search is incomplete: {}", reasons.join("; "))),
        }
    }
}
