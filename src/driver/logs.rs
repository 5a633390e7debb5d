//! Does a model allow what a system did? A log is followed line by line, with all states that fit what it told.
//!
//! In: a model, lines of JSON, a map from their fields to the model. Out: that some behaviour of the model explains every
//! line, or the first line that none explains, with the steps that come nearest. Parameters and states may be told in
//! part or not at all, and steps that the log does not show may happen between lines, up to a bound.
//! Never here: the compiled engine, and no guess: what could not be computed makes the answer "not known".

use super::log_map::{EventMap, LogMap, field};
use super::log_values::Reader;
use super::{Rejected, load};
use crate::base::budget::{Budget, Stop};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::hash::{HashMap, HashSet};
use crate::base::text::many;
use crate::evaluate::{Error, Interpreter, State, Transition};
use crate::explain::Explainer;
use crate::lang::typed::{Expr, Machine, VarId};
use crate::lang::value::Value;
use crate::model::{Formula, LoadOptions, Model};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// States that fit what a log told so far; more than these are not followed.
const FOLLOWED: usize = 20_000;

/// Values in lines of an explanation are cut.
const LONGEST: usize = 200;
/// Steps from states that were met are remembered for this many pairs of a state and an event.
const REMEMBERED: usize = 200_000;
/// The nearest steps that are shown.
const NEAREST: usize = 3;

/// How far a log could be followed.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    pub machine: String,
    /// Lines of the log that speak of the model, and how many of them are explained.
    pub lines: usize,
    pub explained: usize,
    /// States that fit after the last explained line, and the most that ever did.
    pub states: usize,
    pub most_states: usize,
    /// The first line that no behaviour explains: its number in the file, its text, the nearest explanations.
    pub unexplained: Option<(usize, String, Vec<String>)>,
    /// What could not be computed, so that nothing is known.
    pub incomplete: Option<String>,
    pub interrupted: bool,
}

impl Followed {
    /// 0 if every line is explained, 1 if one is not, 3 if that could not be found out.
    pub fn exit_status(&self) -> u8 {
        match (&self.unexplained, &self.incomplete) {
            (_, Some(_)) if self.interrupted => 130,
            (_, Some(_)) => 3,
            (Some(_), None) => 1,
            (None, None) => 0,
        }
    }
}

/// Follows the log in `log`.
pub fn follow_log(
    path: &Path,
    log: impl Read,
    map: &str,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<Followed, Rejected> {
    // A log names elements, so valuations of the constants that differ by their names are all followed.
    let options = LoadOptions { all_constants: true, ..options.clone() };
    let (model, mut sources, _) = load(path, &options)?;
    let map = LogMap::read(map).map_err(|e| refused(vec![format!("the map of the log: {e}")]))?;
    let mut machine = model.machine.clone();
    let meaning = Meaning::read(&model, &mut machine, &mut sources, &map).map_err(refused)?;
    let mut follower = Follower {
        interpreter: Interpreter::new(&machine, budget),
        reader: Reader { machine: &machine, names: &map.values },
        map: &map,
        meaning,
        steps: HashMap::new(),
        doubt: None,
    };
    let mut result = Followed { machine: machine.name.to_string(), ..Followed::default() };
    match follower.run(BufReader::new(log), &mut result) {
        Ok(()) => Ok(result),
        Err(Halt::Refused(message)) => Err(refused(vec![message])),
        Err(Halt::Error(e)) => {
            result.interrupted = budget.check() == Err(Stop::Interrupted);
            result.incomplete = Some(e);
            Ok(result)
        }
    }
}

fn refused(messages: Vec<String>) -> Rejected {
    Rejected {
        sources: Sources::default(),
        diagnostics: messages.into_iter().map(Diagnostic::plain).collect(),
    }
}

/// Why following a log ends early.
enum Halt {
    /// The log is not what it should be.
    Refused(String),
    /// Something could not be computed.
    Error(String),
}

impl From<Error> for Halt {
    fn from(e: Error) -> Halt {
        Halt::Error(e.to_string())
    }
}

/// The map in terms of the model.
struct Meaning {
    silent: Vec<usize>,
    /// By the name in the log: events of the model with their parameters and results that fields tell.
    events: BTreeMap<String, Named>,
    /// Expressions and the fields that tell their values.
    expressions: Vec<(Expr, String)>,
    /// Which of them every line tells.
    state: Vec<usize>,
}

struct Named {
    operations: Vec<Told>,
    /// Which of the expressions lines with this name tell.
    state: Vec<usize>,
}

/// An event of the model, and the fields that tell its parameters and results, by position.
struct Told {
    event: usize,
    params: Vec<(usize, VarId, String)>,
    results: Vec<(usize, VarId, String)>,
}

impl Meaning {
    /// Reads the map in the scope of a model; all that is wrong with it.
    fn read(
        model: &Model,
        machine: &mut Machine,
        sources: &mut Sources,
        map: &LogMap,
    ) -> Result<Meaning, Vec<String>> {
        let mut wrong = Vec::new();
        let find = |machine: &Machine, name: &str| {
            machine.events.iter().position(|op| *machine.op(*op).name == *name)
        };
        let mut silent = Vec::new();
        for name in &map.silent {
            match find(machine, name) {
                Some(event) => silent.push(event),
                None => wrong.push(format!("silent: the model has no event {name}")),
            }
        }
        let mut expressions: Vec<(Expr, String)> = Vec::new();
        let mut read = |fields: &BTreeMap<String, String>, machine: &mut Machine, wrong: &mut Vec<String>| {
            let first = expressions.len();
            for (text, field) in fields {
                match model.scope.parse(machine, sources, "<map>", text) {
                    Ok(Formula::Expr(e)) => expressions.push((e, field.clone())),
                    Ok(Formula::Pred(_)) => {
                        wrong.push(format!("state: {text} is a predicate; bool({text}) has a value"));
                    }
                    Err(ds) => wrong.extend(ds.iter().map(|d| format!("state: {text}: {}", d.message))),
                }
            }
            (first..expressions.len()).collect::<Vec<usize>>()
        };
        let state = read(&map.state, machine, &mut wrong);
        let mut events = BTreeMap::new();
        for (name, mapped) in &map.events {
            let state = read(&mapped.state, machine, &mut wrong);
            let mut named = Named { operations: Vec::new(), state };
            for operation in mapped.operation.as_ref().map_or_else(|| vec![name.as_str()], |o| o.names()) {
                match find(machine, operation) {
                    Some(event) => named.operations.push(told(machine, event, mapped, &mut wrong)),
                    None => wrong.push(format!("events.{name}: the model has no event {operation}")),
                }
            }
            events.insert(name.clone(), named);
        }
        // A name that the map does not mention is that of an event of the model.
        for event in 0..machine.events.len() {
            let name = machine.op(machine.events[event]).name.to_string();
            events.entry(name).or_insert_with(|| Named {
                operations: vec![Told { event, params: Vec::new(), results: Vec::new() }],
                state: Vec::new(),
            });
        }
        if wrong.is_empty() { Ok(Meaning { silent, events, expressions, state }) } else { Err(wrong) }
    }
}

fn told(machine: &Machine, event: usize, mapped: &EventMap, wrong: &mut Vec<String>) -> Told {
    let op = machine.op(machine.events[event]);
    let mut list = |vars: &[VarId], fields: &BTreeMap<String, String>, word: &str| {
        let mut all = Vec::new();
        for (name, field) in fields {
            match vars.iter().position(|v| *machine.var(*v).name == **name) {
                Some(at) => all.push((at, vars[at], field.clone())),
                None => wrong.push(format!("{} has no {word} {name}", op.name)),
            }
        }
        all
    };
    let params = list(&op.params, &mapped.params, "parameter");
    Told { event, params, results: list(&op.results, &mapped.results, "result") }
}

/// What one line asks of a step: values by position, and of the state after it.
struct LoggedStep {
    event: usize,
    params: Vec<(usize, VarId, Value)>,
    results: Vec<(usize, VarId, Value)>,
}

/// Values that a line tells, by the numbers of their expressions.
type ToldState = Vec<(usize, Value)>;

/// Steps that fitted the name of a line but not what it tells: how many things differ, and in what words.
type Near = Vec<(usize, String)>;

struct Follower<'m> {
    interpreter: Interpreter<'m>,
    reader: Reader<'m>,
    map: &'m LogMap,
    meaning: Meaning,
    steps: HashMap<(State, usize), Arc<[Transition]>>,
    /// Something that was not computed, at any line: a state may be missing since then.
    doubt: Option<String>,
}

impl Follower<'_> {
    fn run(&mut self, log: impl BufRead, result: &mut Followed) -> Result<(), Halt> {
        let mut front = self.initial()?;
        result.states = front.len();
        for (n, line) in log.lines().enumerate() {
            let line = line.map_err(|e| Halt::Refused(format!("line {} of the log: {e}", n + 1)))?;
            if line.trim().is_empty() {
                continue;
            }
            let refuse = |message: String| Halt::Refused(format!("line {} of the log: {message}", n + 1));
            let json: Json =
                serde_json::from_str(&line).map_err(|e| refuse(format!("it is not JSON: {e}")))?;
            let name = field(&json, &self.map.event).and_then(Json::as_str);
            let name =
                name.ok_or_else(|| refuse(format!("it has no text in the field {}", self.map.event)))?;
            if self.map.ignore.iter().any(|ignored| ignored == name) {
                continue;
            }
            let (wanted, state) = self.wanted(name, &json).map_err(refuse)?;
            result.lines += 1;
            let before = self.with_silent_steps(front)?;
            let (after, near) = self.after(&before, &wanted, &state)?;
            if after.is_empty() {
                match self.doubt.take() {
                    Some(why) => result.incomplete = Some(format!("line {}: {why}", n + 1)),
                    None => {
                        result.unexplained = Some((n + 1, line, self.nearest(&before, name, &wanted, near)))
                    }
                }
                return Ok(());
            }
            result.explained += 1;
            result.states = after.len();
            result.most_states = result.most_states.max(after.len());
            front = after;
        }
        Ok(())
    }

    fn initial(&mut self) -> Result<Vec<State>, Halt> {
        let constants = self.interpreter.constants()?;
        let mut all = Vec::new();
        let unknown = |e: &Error| format!("not all beginnings are known: {e}");
        let mut open = constants.incomplete.iter().chain(&constants.sampled).next().map(unknown);
        for valuation in &constants.values {
            let initial = self.interpreter.initial_states(valuation)?;
            open = open.or(initial.incomplete.iter().chain(&initial.sampled).next().map(unknown));
            all.extend(initial.values);
        }
        self.doubt = open;
        limited(all)
    }

    /// What a line asks for: one of several events, and values of expressions after it.
    fn wanted(&self, name: &str, line: &Json) -> Result<(Vec<LoggedStep>, ToldState), String> {
        let named = self.meaning.events.get(name).ok_or_else(|| {
            format!("the model has no event {name}: name one in [events.{name}] of the map, or list it in `ignore`")
        })?;
        let machine = self.interpreter.machine();
        let values = |list: &[(usize, VarId, String)]| {
            let mut all = Vec::new();
            for (at, var, path) in list {
                if let Some(json) = field(line, path) {
                    let value = self.reader.value(json, &machine.var(*var).ty);
                    all.push((*at, *var, value.map_err(|e| format!("field {path}: {e}"))?));
                }
            }
            Ok::<_, String>(all)
        };
        let mut wanted = Vec::new();
        for told in &named.operations {
            wanted.push(LoggedStep {
                event: told.event,
                params: values(&told.params)?,
                results: values(&told.results)?,
            });
        }
        let mut state = Vec::new();
        for n in self.meaning.state.iter().chain(&named.state) {
            let (e, path) = &self.meaning.expressions[*n];
            if let Some(json) = field(line, path) {
                state.push((*n, self.reader.value(json, &e.ty).map_err(|e| format!("field {path}: {e}"))?));
            }
        }
        Ok((wanted, state))
    }

    /// The states, and those that steps which the log does not show lead to.
    fn with_silent_steps(&mut self, front: Vec<State>) -> Result<Vec<State>, Halt> {
        if self.meaning.silent.is_empty() {
            return Ok(front);
        }
        let silent = self.meaning.silent.clone();
        let mut seen: HashSet<State> = front.iter().cloned().collect();
        let (mut all, mut last) = (front.clone(), front);
        for _ in 0..self.map.silent_steps {
            let mut next = Vec::new();
            for state in &last {
                for event in &silent {
                    for t in self.steps(state, *event)?.iter() {
                        if seen.insert(t.target.clone()) {
                            next.push(t.target.clone());
                        }
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            all.extend(next.iter().cloned());
            last = limited(next)?;
        }
        limited(all)
    }

    /// The steps of one event from a state.
    fn steps(&mut self, state: &State, event: usize) -> Result<Arc<[Transition]>, Halt> {
        let key = (state.clone(), event);
        if let Some(known) = self.steps.get(&key) {
            return Ok(known.clone());
        }
        let steps = self.interpreter.steps_of(state, event)?;
        let machine = self.interpreter.machine();
        let name = &machine.op(machine.events[event]).name;
        let unknown =
            steps.incomplete.iter().chain(&steps.sampled).map(|(_, e)| format!("{name}: {e}")).next();
        let transitions: Arc<[Transition]> = steps.transitions.into();
        if unknown.is_none() && self.steps.len() < REMEMBERED {
            self.steps.insert(key, transitions.clone());
        }
        self.doubt = self.doubt.take().or(unknown);
        Ok(transitions)
    }

    /// The states after a line, and the steps that came near.
    fn after(
        &mut self,
        before: &[State],
        wanted: &[LoggedStep],
        told: &[(usize, Value)],
    ) -> Result<(Vec<State>, Near), Halt> {
        let mut seen: HashSet<State> = HashSet::new();
        let mut after = Vec::new();
        let mut near: Near = Vec::new();
        for want in wanted {
            for state in before {
                for t in self.steps(state, want.event)?.iter() {
                    let mut differs = self.differences(want, t);
                    if differs.is_empty() || after.is_empty() {
                        differs.extend(self.state_differences(want, told, &t.target));
                    }
                    if !differs.is_empty() {
                        if after.is_empty() {
                            remember(&mut near, differs.len(), || self.call(t, &differs));
                        }
                    } else if seen.insert(t.target.clone()) {
                        after.push(t.target.clone());
                    }
                }
            }
        }
        Ok((limited(after)?, near))
    }

    fn differences(&self, want: &LoggedStep, t: &Transition) -> Vec<String> {
        let machine = self.interpreter.machine();
        let mut all = Vec::new();
        for (list, values) in [(&want.params, &t.params), (&want.results, &t.results)] {
            for (at, var, value) in list {
                if values.get(*at) != Some(value) {
                    let var = machine.var(*var);
                    all.push(format!("{} is {} in the log", var.name, value.show(machine, &var.ty)));
                }
            }
        }
        all
    }

    fn state_differences(
        &mut self,
        want: &LoggedStep,
        told: &[(usize, Value)],
        state: &State,
    ) -> Vec<String> {
        let machine = self.interpreter.machine();
        let name = &machine.op(machine.events[want.event]).name;
        let mut all = Vec::new();
        for (n, value) in told {
            let (e, path) = &self.meaning.expressions[*n];
            match self.interpreter.eval_expr(e, Some(state)) {
                Ok(now) if now == *value => {}
                Ok(now) => all.push(format!(
                    "{path} is {} in the log, {} in the model",
                    value.show(machine, &e.ty),
                    now.show(machine, &e.ty)
                )),
                Err(e) => {
                    all.push(format!("{path} has no value after {name}: {}", e.message()));
                    if !e.is_finding() {
                        self.doubt = Some(e.to_string());
                    }
                }
            }
        }
        all
    }

    /// A step with what differs, in words.
    fn call(&self, t: &Transition, differs: &[String]) -> String {
        let machine = self.interpreter.machine();
        let op = machine.op(machine.events[t.event]);
        let params: Vec<String> = op
            .params
            .iter()
            .zip(t.params.iter())
            .map(|(v, x)| {
                format!("{}={}", machine.var(*v).name, x.show_within(machine, &machine.var(*v).ty, 200).0)
            })
            .collect();
        format!("{}({}): {}", op.name, params.join(", "), differs.join("; "))
    }

    /// Which conjuncts of the guard keep an operation from happening in a state with the values of the log.
    fn why_not(&self, state: &State, wanted: &[LoggedStep]) -> Vec<String> {
        let nothing = Sources::default();
        let explainer = Explainer::new(self.interpreter.machine(), &nothing, &Budget::moment());
        let why = |want: &LoggedStep| {
            let given: Vec<(VarId, Value)> = want.params.iter().map(|(_, v, x)| (*v, x.clone())).collect();
            explainer.why_disabled_with(state, want.event, &given)
        };
        wanted.iter().filter_map(why).flat_map(|node| node.lines(LONGEST)).collect()
    }

    /// What to say about a line that nothing explains.
    fn nearest(&mut self, before: &[State], name: &str, wanted: &[LoggedStep], near: Near) -> Vec<String> {
        let machine = self.interpreter.machine();
        let mut lines = Vec::new();
        if near.is_empty() {
            let mut enabled: Vec<&str> = Vec::new();
            for event in 0..machine.events.len() {
                let can = |state: &State| {
                    self.interpreter.steps_of(state, event).is_ok_and(|s| !s.transitions.is_empty())
                };
                if before.iter().take(100).any(can) {
                    enabled.push(&machine.op(machine.events[event]).name);
                }
            }
            lines.push(match before.len() {
                1 => format!("{name} is not enabled in the one state that fits so far"),
                n => format!("{name} is enabled in none of the {} that fit so far", many(n as u64, "state")),
            });
            lines.push(format!(
                "enabled there: {}",
                if enabled.is_empty() { "nothing".into() } else { enabled.join(", ") }
            ));
        } else {
            lines.push("the nearest steps:".into());
            lines.extend(near.into_iter().map(|(_, words)| format!("  {words}")));
        }
        lines.extend(before.first().into_iter().flat_map(|state| self.why_not(state, wanted)));
        if let Some(state) = before.first() {
            let shown = machine.variables.iter().zip(state.variables.iter()).map(|(v, x)| {
                let var = machine.var(*v);
                format!("{} = {}", var.name, x.show_within(machine, &var.ty, 200).0)
            });
            let which = if before.len() == 1 { "the state" } else { "one of the states" };
            lines.push(format!("{which} before: {}", shown.collect::<Vec<_>>().join(", ")));
        }
        if !self.meaning.silent.is_empty() {
            let steps = many(self.map.silent_steps as u64, "step");
            lines.push(format!("with at most {steps} that the log does not show"));
        }
        lines
    }
}

/// Keeps the few nearest.
fn remember(near: &mut Near, differences: usize, words: impl FnOnce() -> String) {
    if near.len() == NEAREST && near[NEAREST - 1].0 <= differences {
        return;
    }
    let entry = (differences, words());
    if near.contains(&entry) {
        return;
    }
    let at = near.partition_point(|(n, _)| *n <= differences);
    near.insert(at, entry);
    near.truncate(NEAREST);
}

fn limited(states: Vec<State>) -> Result<Vec<State>, Halt> {
    if states.len() > FOLLOWED {
        return Err(Halt::Error("the log leaves too much open to be followed".into()));
    }
    Ok(states)
}
