//! A trace is re-run against a model, step by step, with the reference interpreter.
//!
//! In: a trace file and a model. Out: that every step can be made, or the first that cannot and why.
//! Never here: the compiled engine; a trace is judged by the oracle alone.
//!
//! A trace may leave things open (ProB's lists only what changed, other tools may leave parameters out),
//! so all states that fit what was told so far are kept, not one.

use super::animate::{Animation, Choice};
use super::values::Texts;
use super::{Rejected, load};
use crate::base::budget::{Budget, Stop};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::hash::HashSet;
use crate::base::text::one_line;
use crate::evaluate::{Error, Interpreter, State};
use crate::explain::Explainer;
use crate::lang::typed::{Machine, VarId};
use crate::lang::value::Value;
use crate::model::{LoadOptions, Model};
use crate::report::trace_file::{self, Traced};
use crate::report::trace_read::{self, ReadTrace};
use crate::report::{INITIALISE, SETUP_CONSTANTS, TraceStep, Violation, text};
use std::path::{Path, PathBuf};

/// States that fit what a trace told so far; more than these are not followed.
const FOLLOWED: usize = 10_000;

/// How far a trace could be followed.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    pub machine: String,
    pub file: String,
    /// Steps of the trace, and how many of them could be made.
    pub steps: usize,
    pub made: usize,
    /// The first step that could not be made, and why.
    pub failed: Option<(String, Vec<String>)>,
    /// What could not be computed, so that nothing is known.
    pub incomplete: Option<String>,
    /// Remarks: what the last state breaks, what was not compared.
    pub notes: Vec<String>,
    pub interrupted: bool,
}

impl Replayed {
    /// 0 if every step could be made, 1 if one could not, 3 if that could not be found out.
    pub fn exit_status(&self) -> u8 {
        match (&self.failed, &self.incomplete) {
            (Some(_), _) => 1,
            (None, Some(_)) if self.interrupted => 130,
            (None, Some(_)) => 3,
            (None, None) => 0,
        }
    }
}

/// Values in lines of an explanation are cut.
const LONGEST: usize = 300;

/// The model that a trace names: there, or beside the trace if it is not there. A trace that names a machine alone
/// belongs to the model of this name beside it, or in the working folder.
fn named_model(trace: &Path, read: &ReadTrace) -> Option<PathBuf> {
    let folder = trace.parent().unwrap_or(Path::new(""));
    if let Some(name) = &read.model {
        let named = PathBuf::from(name);
        let near = named.file_name().map(|file| folder.join(file)).filter(|path| path.exists());
        return Some(if named.exists() { named } else { near.unwrap_or(named) });
    }
    let machine = read.machine.as_deref()?;
    let models = ["mch", "ref", "imp", "sys", "eventb", "tex"];
    let files = |folder: &Path| models.map(|extension| folder.join(format!("{machine}.{extension}")));
    let all = files(folder).into_iter().chain(files(Path::new("")));
    all.into_iter().find(|path| path.is_file())
}

/// The model that a trace file names, if the file can be read and the model is found.
pub fn model_of_trace(file: &Path) -> Option<PathBuf> {
    let read = trace_read::read(&std::fs::read_to_string(file).ok()?).ok()?;
    named_model(file, &read)
}

/// A trace that was made again, as far as it could be, to be written in another form.
#[derive(Clone, Debug, Default)]
pub struct WrittenTrace {
    file: String,
    machine: String,
    sets: Vec<String>,
    violation: Option<Violation>,
    steps: Vec<TraceStep>,
    loop_start: Option<usize>,
    drawings: Vec<String>,
}

impl WrittenTrace {
    pub fn render(&self, extension: &str) -> Result<String, String> {
        let traced = Traced {
            file: &self.file,
            machine: &self.machine,
            sets: self.sets.iter().map(String::as_str).collect(),
            violation: self.violation.as_ref(),
            steps: &self.steps,
            loop_start: self.loop_start,
            drawings: self.drawings.clone(),
            report: None,
        };
        trace_file::render_trace(&traced, extension)
    }
}

/// Re-runs the trace in `file`. The model is `model`, or the one that the trace names.
pub fn replay(
    file: &Path,
    model: Option<&Path>,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<(Replayed, WrittenTrace), Rejected> {
    let wrong = |message: String| Rejected {
        sources: Sources::default(),
        diagnostics: vec![Diagnostic::plain(message)],
    };
    let shown = file.display();
    let content = std::fs::read_to_string(file).map_err(|e| wrong(format!("cannot read {shown}: {e}")))?;
    let mut trace = trace_read::read(&content).map_err(|e| wrong(format!("{shown} is no trace: {e}")))?;
    let path: PathBuf = match (model, named_model(file, &trace)) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(found)) => found,
        (None, None) => {
            let missing = match &trace.machine {
                Some(machine) => format!("{shown}: there is no {machine}.mch beside it: give --model MODEL"),
                None => format!("{shown} does not name its model: give --model MODEL"),
            };
            return Err(wrong(missing));
        }
    };
    if super::csp::is_csp(&path) {
        return processes(&path, trace, budget);
    }
    let (mut model, mut sources, _) = load(&path, options)?;
    let alone = steps_of_machine(&model.machine, &mut trace);
    let (mut replayed, made) = follow(&mut model, &mut sources, &trace, budget);
    if alone > 0 {
        replayed.notes.push(format!("{alone} steps of the process that guides the machine were left out"));
    }
    let file = path.display().to_string();
    let animation = Animation::new(&model, &sources, file.clone(), budget);
    // What cannot be made has no states: only a whole trace shows what it was said to show.
    let whole = replayed.exit_status() == 0;
    let violation = trace.violation.filter(|_| whole).map(|(kind, property)| Violation {
        kind,
        property,
        explanation: Vec::new(),
        trace: made.iter().map(|choice| animation.step(choice)).collect(),
        loop_start: trace.loop_start,
        confirmed_by: None,
    });
    let written = WrittenTrace {
        file: file.clone(),
        machine: replayed.machine.clone(),
        sets: model.machine.sets.iter().map(|set| set.name.to_string()).collect(),
        violation,
        steps: made.iter().map(|choice| animation.step(choice)).collect(),
        loop_start: trace.loop_start.filter(|_| whole),
        drawings: animation.drawing().map(|d| d.of_choices(&made, budget)).unwrap_or_default(),
    };
    Ok((Replayed { file, ..replayed }, written))
}

/// Re-runs a trace of a CSP script.
fn processes(path: &Path, trace: ReadTrace, budget: &Budget) -> Result<(Replayed, WrittenTrace), Rejected> {
    let replayed = super::csp_replay::follow(path, &trace, budget)?;
    let file = path.display().to_string();
    let whole = replayed.exit_status() == 0;
    let steps: Vec<TraceStep> = trace.steps.into_iter().take(replayed.made).collect();
    let loop_start = trace.loop_start.filter(|_| whole);
    let violation = trace.violation.filter(|_| whole).map(|(kind, property)| Violation {
        kind,
        property,
        explanation: Vec::new(),
        trace: steps.clone(),
        loop_start,
        confirmed_by: None,
    });
    let (machine, sets, drawings) = (replayed.machine.clone(), Vec::new(), Vec::new());
    let written = WrittenTrace { file: file.clone(), machine, sets, violation, steps, loop_start, drawings };
    Ok((Replayed { file, ..replayed }, written))
}

/// Leaves the steps of the machine in the trace of a machine that a process guides; how many were of the process alone.
fn steps_of_machine(machine: &Machine, trace: &mut ReadTrace) -> usize {
    if trace.machine.as_deref().is_none_or(|name| !name.contains(" guided by ")) {
        return 0;
    }
    let known = |step: &TraceStep| {
        [INITIALISE, SETUP_CONSTANTS].contains(&step.event.as_str())
            || machine.events.iter().any(|op| *machine.op(*op).name == *step.event)
    };
    let before = trace.steps.len();
    trace.steps.retain(known);
    if trace.steps.len() < before {
        trace.loop_start = None;
    }
    before - trace.steps.len()
}

/// Re-runs a trace, and gives one of the paths that fit it as far as it can be made.
pub fn follow(
    model: &mut Model,
    sources: &mut Sources,
    trace: &ReadTrace,
    budget: &Budget,
) -> (Replayed, Vec<Choice>) {
    // What this tool wrote is text for text what it writes again. Only the texts of others must be read as values.
    let (replayed, path) = attempt(model, trace, Texts::default(), budget);
    if replayed.exit_status() == 0 || replayed.interrupted {
        return (replayed, path);
    }
    let texts = read_texts(model, sources, trace, budget);
    attempt(model, trace, texts, budget)
}

fn attempt(model: &Model, trace: &ReadTrace, texts: Texts, budget: &Budget) -> (Replayed, Vec<Choice>) {
    let replay = Replay { interpreter: Interpreter::new(&model.machine, budget), texts };
    let mut replayed =
        Replayed { machine: model.machine.name.to_string(), steps: trace.steps.len(), ..Replayed::default() };
    let mut fronts = Vec::new();
    match replay.run(trace, &mut replayed, &mut fronts) {
        Ok(()) => {}
        Err(Halt::Failed(why)) => {
            let step = &trace.steps[replayed.made];
            replayed.failed = Some((text::label(step), why));
        }
        Err(Halt::Error(e)) => {
            replayed.interrupted = budget.check() == Err(Stop::Interrupted);
            replayed.incomplete = Some(e.to_string());
        }
    }
    let mut path = Vec::new();
    let mut at = 0;
    for front in fronts.iter().rev() {
        let (before, by) = &front[at];
        path.push(by.clone());
        at = *before;
    }
    path.reverse();
    (replayed, path)
}

/// The steps that fit what was told so far, each with the number of the one before it. Never empty.
type Front = Vec<(usize, Choice)>;

/// Why a replay stops.
enum Halt {
    Failed(Vec<String>),
    Error(Error),
}

impl From<Error> for Halt {
    fn from(e: Error) -> Halt {
        Halt::Error(e)
    }
}

fn failed(line: impl Into<String>) -> Halt {
    Halt::Failed(vec![line.into()])
}

/// The variable of a name among those a step may speak of.
fn find(machine: &Machine, among: &[VarId], name: &str) -> Option<VarId> {
    among.iter().copied().find(|v| *machine.var(*v).name == *name)
}

fn read_texts(model: &mut Model, sources: &mut Sources, trace: &ReadTrace, budget: &Budget) -> Texts {
    let mut wanted: Vec<(VarId, &str)> = Vec::new();
    let machine = &model.machine;
    for step in &trace.steps {
        for (name, value) in &step.state {
            let var = find(machine, &machine.variables, name).or(find(machine, &machine.constants, name));
            wanted.extend(var.map(|v| (v, value.as_str())));
        }
        if let Some(op) = machine.events.iter().map(|op| machine.op(*op)).find(|op| *op.name == *step.event) {
            for (vars, pairs) in [(&op.params, &step.params), (&op.results, &step.results)] {
                for (name, value) in pairs {
                    wanted.extend(find(machine, vars, name).map(|v| (v, value.as_str())));
                }
            }
        }
    }
    Texts::read(model, sources, wanted, budget)
}

struct Replay<'m> {
    interpreter: Interpreter<'m>,
    texts: Texts,
}

impl Replay<'_> {
    fn run(&self, trace: &ReadTrace, replayed: &mut Replayed, fronts: &mut Vec<Front>) -> Result<(), Halt> {
        let machine = self.interpreter.machine();
        // A trace may begin with the initialisation although there are constants.
        let mut untold = 0;
        for step in &trace.steps {
            let initialised = fronts.last().is_some_and(|front| front[0].1.state().is_some());
            match step.event.as_str() {
                SETUP_CONSTANTS => {
                    if !fronts.is_empty() {
                        return Err(failed("constants are set up once, at the beginning"));
                    }
                    let fits = self.filter(self.valuations()?, step, &machine.constants, |(_, c)| {
                        c.constants().clone()
                    })?;
                    fronts.push(fits);
                }
                INITIALISE => {
                    if initialised {
                        return Err(failed("a machine is initialised once"));
                    }
                    if fronts.is_empty() && !machine.constants.is_empty() {
                        let all = self.valuations()?;
                        if all.is_empty() {
                            return Err(failed("the model has no such beginning at all"));
                        }
                        fronts.push(all);
                        untold = 1;
                    }
                    let (initial, open) = self.initial(fronts.last())?;
                    // What was found is real; only that a state is missing cannot be said if not all were tried.
                    let fits = self.filter(initial, step, &machine.variables, |(_, c)| {
                        c.state().map_or_else(|| [].into(), |s| s.variables.clone())
                    });
                    fronts.push(fits.map_err(|halt| open.map_or(halt, Halt::Error))?);
                }
                _ if !initialised => return Err(failed("the machine is not initialised")),
                _ => {
                    let fits = self.event(fronts.last().map_or(&[][..], Vec::as_slice), step)?;
                    fronts.push(fits);
                }
            }
            replayed.made += 1;
        }
        let states =
            |front: &Front| -> Vec<State> { front.iter().filter_map(|(_, c)| c.state().cloned()).collect() };
        let last = fronts.last().map(states).unwrap_or_default();
        if let Some(at) = trace.loop_start.filter(|_| !fronts.is_empty()) {
            let closes = fronts.get(at + untold).is_some_and(|f| states(f).iter().any(|s| last.contains(s)));
            replayed.notes.push(if closes {
                format!("the last step leads back to the state after step {at}: the path goes round for ever")
            } else {
                format!("the last step does not lead back to the state after step {at}")
            });
        }
        if let Some(state) = last.first() {
            self.judge(state, &mut replayed.notes)?;
        }
        Ok(())
    }

    /// The initial states after valuations of the constants, and whether some may be missing.
    fn initial(&self, valuations: Option<&Front>) -> Result<(Front, Option<Error>), Halt> {
        let (mut initial, mut open) = (Vec::new(), None);
        let none = vec![(0, Choice::Setup([].into()))];
        for (n, (_, valuation)) in valuations.unwrap_or(&none).iter().enumerate() {
            let found = self.interpreter.initial_states(valuation.constants())?;
            open = open.or(found.incomplete.into_iter().chain(found.sampled).next());
            initial.extend(found.values.into_iter().map(|state| (n, Choice::Initialise(state))));
        }
        Ok((initial, open))
    }

    fn valuations(&self) -> Result<Front, Halt> {
        let found = self.interpreter.constants()?;
        match found.incomplete.into_iter().next() {
            Some(e) if found.values.is_empty() => Err(e.into()),
            _ => Ok(found.values.into_iter().map(|constants| (0, Choice::Setup(constants))).collect()),
        }
    }

    /// Those of `all` whose values are as the step says.
    fn filter<T>(
        &self,
        all: Vec<T>,
        step: &TraceStep,
        vars: &[VarId],
        values: impl Fn(&T) -> std::sync::Arc<[Value]>,
    ) -> Result<Vec<T>, Halt> {
        if all.is_empty() {
            return Err(failed("the model has no such beginning at all"));
        }
        let machine = self.interpreter.machine();
        // A step may also repeat what others have set: constants in a state.
        let own = self.wanted(step, vars, &machine.constants)?;
        let nearest = all.iter().map(|x| self.differences(&own, vars, &values(x))).min_by_key(Vec::len);
        let fits: Vec<T> =
            all.into_iter().filter(|x| self.differences(&own, vars, &values(x)).is_empty()).collect();
        if fits.is_empty() {
            let mut lines =
                vec!["no beginning of the model is like this; the nearest one differs in:".into()];
            lines.extend(nearest.unwrap_or_default());
            return Err(Halt::Failed(lines));
        }
        self.limited(fits)
    }

    fn limited<T>(&self, fits: Vec<T>) -> Result<Vec<T>, Halt> {
        if fits.len() > FOLLOWED {
            return Err(Error::too_large("the trace leaves too much open to be followed").into());
        }
        Ok(fits)
    }

    /// The variables that a step speaks of, each with the text of its value.
    fn wanted<'s>(
        &self,
        step: &'s TraceStep,
        vars: &[VarId],
        also: &[VarId],
    ) -> Result<Vec<(VarId, &'s str)>, Halt> {
        let machine = self.interpreter.machine();
        let mut own = Vec::new();
        for (name, value) in &step.state {
            match find(machine, vars, name) {
                Some(v) => own.push((v, value.as_str())),
                None if find(machine, also, name).is_some() => {}
                None => return Err(failed(format!("the model has no variable {name}"))),
            }
        }
        Ok(own)
    }

    /// The transitions of an event that are as the step says.
    fn event(&self, from: &[(usize, Choice)], step: &TraceStep) -> Result<Front, Halt> {
        let machine = self.interpreter.machine();
        let Some(event) = machine.events.iter().position(|op| *machine.op(*op).name == *step.event) else {
            return Err(failed(format!("the model has no event {}", step.event)));
        };
        let op = machine.op(machine.events[event]);
        let own = self.wanted(step, &machine.variables, &machine.constants)?;
        let arguments = |pairs: &[(String, String)], vars: &[VarId]| -> Result<Vec<(VarId, String)>, Halt> {
            let named = |(name, value): &(String, String)| match find(machine, vars, name) {
                Some(v) => Ok((v, value.clone())),
                None => Err(failed(format!("{} has no parameter or result {name}", op.name))),
            };
            pairs.iter().map(named).collect()
        };
        let params = arguments(&step.params, &op.params)?;
        let results = arguments(&step.results, &op.results)?;
        let mut fits: Front = Vec::new();
        let mut seen: HashSet<State> = HashSet::new();
        let mut enabled = 0;
        let mut called = 0;
        let mut nearest: Option<Vec<String>> = None;
        let mut errors = Vec::new();
        let mut open = None;
        for (n, state) in from.iter().enumerate().filter_map(|(n, (_, c))| Some((n, c.state()?))) {
            let steps = self.interpreter.steps_of(state, event)?;
            open = open.or(steps.incomplete.into_iter().chain(steps.sampled).next());
            errors.extend(steps.errors.iter().chain(&steps.undefined_guards).map(|(_, e)| e.to_string()));
            for t in steps.transitions {
                enabled += 1;
                let pairs = |list: &[(VarId, String)], vars: &[VarId], values: &[Value]| {
                    let list: Vec<(VarId, &str)> = list.iter().map(|(v, s)| (*v, s.as_str())).collect();
                    self.differences(&list, vars, values).is_empty()
                };
                if !pairs(&params, &op.params, &t.params) || !pairs(&results, &op.results, &t.results) {
                    continue;
                }
                called += 1;
                let differences = self.differences(&own, &machine.variables, &t.target.variables);
                if !differences.is_empty() {
                    if nearest.as_ref().is_none_or(|n| differences.len() < n.len()) {
                        nearest = Some(differences);
                    }
                } else if seen.insert(t.target.clone()) {
                    fits.push((n, Choice::Event(t)));
                }
            }
        }
        if !fits.is_empty() {
            return self.limited(fits);
        }
        if let Some((_, e)) = open {
            return Err(e.into());
        }
        let mut lines = Vec::new();
        match (enabled, called, nearest) {
            (0, ..) => {
                lines.push(format!("{} is not enabled", op.name));
                let nothing = Sources::default();
                let explainer = Explainer::new(machine, &nothing, &Budget::moment());
                let why = from.first().and_then(|(_, c)| explainer.why_disabled(c.state()?, event));
                lines.extend(why.iter().flat_map(|node| node.lines(LONGEST)));
            }
            (_, 0, _) => {
                lines.push(format!("{} is enabled, but not with these values", op.name));
                let given =
                    params.iter().filter_map(|(v, said)| Some((*v, self.texts.get(*v, said)?.clone())));
                let given: Vec<(VarId, Value)> = given.collect();
                let nothing = Sources::default();
                let explainer = Explainer::new(machine, &nothing, &Budget::moment());
                let state = from.first().and_then(|(_, choice)| choice.state());
                let why = state.and_then(|state| explainer.why_disabled_with(state, event, &given));
                lines.extend(why.iter().flat_map(|node| node.lines(LONGEST)));
            }
            (_, _, nearest) => {
                lines.push(format!("{} leads to another state; the nearest one differs in:", op.name));
                lines.extend(nearest.unwrap_or_default());
            }
        }
        errors.sort();
        errors.dedup();
        lines.extend(errors);
        Err(Halt::Failed(lines))
    }

    /// Where values differ from what a trace says, in words. A text that cannot be read as a value
    /// is compared as text.
    fn differences(&self, wanted: &[(VarId, &str)], vars: &[VarId], values: &[Value]) -> Vec<String> {
        let machine = self.interpreter.machine();
        let mut lines = Vec::new();
        for (v, said) in wanted {
            let Some(value) = vars.iter().position(|w| w == v).and_then(|at| values.get(at)) else {
                continue;
            };
            let shown = || value.show(machine, &machine.var(*v).ty);
            let same = match self.texts.get(*v, said) {
                Some(read) => read == value || shown() == *said,
                None => shown() == *said,
            };
            if !same {
                lines.push(format!(
                    "  {}: the trace says {said}, the model {}",
                    machine.var(*v).name,
                    shown()
                ));
            }
        }
        lines
    }

    /// What the last state breaks.
    fn judge(&self, state: &State, notes: &mut Vec<String>) -> Result<(), Halt> {
        let machine = self.interpreter.machine();
        let broken = self.interpreter.check_state(state, false)?;
        for i in &broken.invariant {
            notes.push(format!(
                "the last state breaks the invariant {}",
                one_line(&machine.invariant[*i].text)
            ));
        }
        for i in &broken.assertions {
            notes.push(format!(
                "the last state breaks the assertion {}",
                one_line(&machine.assertions[*i].text)
            ));
        }
        for (_, _, e) in &broken.undefined {
            notes.push(format!("in the last state: {e}"));
        }
        let steps = self.interpreter.transitions(state)?;
        if steps.transitions.is_empty() && steps.errors.is_empty() && steps.incomplete.is_empty() {
            notes.push("no event is enabled in the last state".into());
        }
        for (event, e) in &steps.errors {
            notes.push(format!("in the last state, {}: {e}", machine.op(machine.events[*event]).name));
        }
        Ok(())
    }
}
