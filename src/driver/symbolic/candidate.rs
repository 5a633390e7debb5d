//! Candidates of symbolic engines are re-run by the evaluator, and judged like any finding.
//!
//! In: values of constants, choices and states as a solver put them. Out: a violation that the evaluator met again on
//! the same way, or why it did not. What the solver chose is written into a copy of the machine as equations, so that
//! the evaluator need not enumerate 2^25 initial states to find one of them. The steps found that way are steps of the
//! machine itself: an equation only rules out others.

use super::super::values::written;
use super::super::{CheckOptions, judge};
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::finding::FindingKind;
use crate::base::text::one_line;
use crate::base::{Name, Span};
use crate::evaluate::search::kind_of;
use crate::evaluate::{Constants, Error, Interpreter, State, Transition};
use crate::lang::typed::{
    BinOp, Clause, Expr, ExprKind, Machine, Pred, PredKind, RelOp, Stmt, StmtKind, Type, VarId,
};
use crate::lang::value::Value;
use crate::report::{INITIALISE, SETUP_CONSTANTS, TraceStep, Violation};
use crate::symbolic::bmc::Judged;
use crate::symbolic::unroll::{Candidate, Choices};
use std::collections::BTreeMap;
use std::time::Duration;

/// Seconds that the evaluator may take for one candidate.
const PATIENCE: Duration = Duration::from_secs(20);
/// Seconds that the evaluator may take to say more of what is proved.
const EXPLAINING: Duration = Duration::from_secs(2);

/// Why a candidate is spurious whose constants do not satisfy PROPERTIES.
pub const NO_VALUATION: &str = "the evaluator does not find the valuation of the constants";

/// What a candidate came to.
pub type Verdict = Judged<Result<Violation, String>>;

pub struct Replay<'a> {
    pub machine: &'a Machine,
    pub sources: &'a Sources,
    pub options: &'a CheckOptions,
    pub budget: &'a Budget,
}

/// A finding at the end of a path.
struct Found {
    kind: FindingKind,
    property: String,
    event: Option<usize>,
    error: Option<Error>,
}

/// The states of a path with the transitions between them.
struct Walk {
    states: Vec<State>,
    transitions: Vec<Transition>,
}

fn spurious<T>(why: impl Into<String>) -> Result<T, String> {
    Err(why.into())
}

impl Replay<'_> {
    pub fn judge(&self, candidate: &Candidate) -> Verdict {
        match self.follow(candidate) {
            Ok((walk, found)) => Judged::Violation(self.violation(&walk, &found)),
            Err(why) => Judged::Spurious(why),
        }
    }

    /// A finding that needs no path: PROPERTIES or INITIALISATION, by the evaluator alone. Where the solver has proved that there
    /// is one, the evaluator may only say more of it, and soon.
    pub fn no_beginning(&self, proved: bool) -> Option<Result<Violation, String>> {
        let budget = self.moment(if proved { EXPLAINING } else { PATIENCE });
        let interpreter = Interpreter::new(self.machine, &budget);
        let constants = interpreter.constants().ok()?;
        if let Some(e) = constants.errors.first() {
            return Some(self.violation(&Walk::nowhere(), &Found::of(e, None)));
        }
        let words = "no valuation of the constants satisfies PROPERTIES";
        if constants.values.is_empty() && constants.incomplete.is_empty() {
            return Some(self.violation(&Walk::nowhere(), &Found::properties(words)));
        }
        for valuation in &constants.values {
            let initial = interpreter.initial_states(valuation).ok()?;
            if initial.values.is_empty() && initial.incomplete.is_empty() {
                let found = match initial.errors.first() {
                    Some(e) => Found::of(e, None),
                    None => Found::properties("INITIALISATION has no outcome"),
                };
                return Some(self.violation(&Walk::nowhere(), &found));
            }
        }
        None
    }

    /// Whether the evaluator knows an initial state.
    pub fn begins(&self) -> bool {
        let budget = self.moment(PATIENCE);
        let interpreter = Interpreter::new(self.machine, &budget);
        let Ok(constants) = interpreter.constants() else { return false };
        constants.values.iter().any(|valuation| {
            interpreter.initial_states(valuation).is_ok_and(|found| !found.values.is_empty())
        })
    }

    /// A finding that only the solver can tell: no valuation, or no initial state.
    pub fn proved_no_beginning(&self) -> Violation {
        Violation {
            kind: FindingKind::Properties.word().into(),
            property: "PROPERTIES and INITIALISATION have no solution".into(),
            explanation: vec![
                "the evaluator could not list the valuations; the solver refuted all of them".into(),
            ],
            trace: Vec::new(),
            loop_start: None,
            confirmed_by: None,
        }
    }

    fn moment(&self, patience: Duration) -> Budget {
        let until = self.budget.elapsed() + patience;
        let limit = self.budget.time_limit.map_or(until, |l| l.min(until));
        let mut moment = self.budget.clone();
        moment.time_limit = Some(limit);
        moment
    }

    fn follow(&self, candidate: &Candidate) -> Result<(Walk, Found), String> {
        let budget = self.moment(PATIENCE);
        let constants = self.constants(candidate, &budget)?;
        let state = match self.beginning(candidate, &constants, &budget)? {
            Beginning::Found(found) => return Ok((Walk::nowhere(), found)),
            Beginning::State(state) => state,
        };
        let mut walk = Walk { states: vec![state], transitions: Vec::new() };
        for (i, (event, choices)) in candidate.events.iter().enumerate() {
            let t = self.step(&walk.states[i], *event, choices, &candidate.states[i + 1], &budget)?;
            walk.states.push(t.target.clone());
            walk.transitions.push(t);
        }
        let last = walk.states.last().cloned().ok_or("no state")?;
        match self.wrong_in(&last, candidate, &budget)? {
            Some(found) => Ok((walk, found)),
            None => spurious("the evaluator finds nothing wrong at the end of the path"),
        }
    }

    fn constants(&self, candidate: &Candidate, budget: &Budget) -> Result<Constants, String> {
        self.valuation(&candidate.constants, budget)
    }

    /// A valuation of the constants that has these values.
    pub fn valuation(&self, values: &[(VarId, Value)], budget: &Budget) -> Result<Constants, String> {
        let mut machine = self.machine.clone();
        for (v, value) in values {
            if let Some(pred) = equation(&machine, *v, std::slice::from_ref(value)) {
                let origin = Name::from("candidate");
                machine.properties.push(Clause { label: None, origin, pred, text: String::new() });
            }
        }
        let interpreter = Interpreter::new(&machine, budget);
        let found = interpreter.constants().map_err(|e| format!("constants: {e}"))?;
        match found.values.into_iter().next() {
            Some(valuation) => Ok(valuation),
            None => spurious(NO_VALUATION),
        }
    }

    fn beginning(
        &self,
        candidate: &Candidate,
        constants: &Constants,
        budget: &Budget,
    ) -> Result<Beginning, String> {
        let mut machine = self.machine.clone();
        let pins = pins_of(&candidate.beginning);
        pin(&mut machine, &pins, None);
        let interpreter = Interpreter::new(&machine, budget);
        let found = interpreter.initial_states(constants).map_err(|e| format!("initialisation: {e}"))?;
        let Some(wanted) = candidate.states.first() else {
            if let Some(e) = found.errors.first() {
                return Ok(Beginning::Found(Found::of(e, None)));
            }
            let all = Interpreter::new(self.machine, budget);
            let found = all.initial_states(constants).map_err(|e| format!("initialisation: {e}"))?;
            if let Some(e) = found.errors.first() {
                return Ok(Beginning::Found(Found::of(e, None)));
            }
            if found.values.is_empty() && found.incomplete.is_empty() {
                return Ok(Beginning::Found(Found::properties("INITIALISATION has no outcome")));
            }
            return spurious("the evaluator finds an initial state");
        };
        match found.values.into_iter().find(|s| self.fits(s, wanted)) {
            Some(state) => Ok(Beginning::State(state)),
            None => spurious("the evaluator does not find the initial state"),
        }
    }

    fn fits(&self, state: &State, wanted: &[(VarId, Value)]) -> bool {
        wanted.iter().all(|(v, value)| {
            let at = self.machine.variables.iter().position(|w| w == v);
            at.is_some_and(|at| state.variables[at] == *value)
        })
    }

    fn step(
        &self,
        state: &State,
        event: usize,
        choices: &Choices,
        next: &[(VarId, Value)],
        budget: &Budget,
    ) -> Result<Transition, String> {
        let name = &self.machine.op(self.machine.events[event]).name;
        let steps = self.transitions(state, event, choices, budget).map_err(|e| format!("{name}: {e}"))?;
        match steps.into_iter().find(|t| self.fits(&t.target, next)) {
            Some(t) => Ok(t),
            None => spurious(format!("the evaluator does not find the step of {name}")),
        }
    }

    /// The steps of an event with these choices.
    fn transitions(
        &self,
        state: &State,
        event: usize,
        choices: &Choices,
        budget: &Budget,
    ) -> Result<Vec<Transition>, String> {
        let mut machine = self.machine.clone();
        pin(&mut machine, &pins_of(choices), Some(event));
        let steps = Interpreter::new(&machine, budget).steps_of(state, event).map_err(|e| e.to_string())?;
        Ok(steps.transitions)
    }

    /// The states after an event with these choices.
    pub fn targets(
        &self,
        state: &State,
        event: usize,
        choices: &Choices,
        budget: &Budget,
    ) -> Result<Vec<State>, String> {
        let steps = self.transitions(state, event, choices, budget)?;
        Ok(steps.into_iter().map(|t| t.target).collect())
    }

    /// What the evaluator finds wrong in the last state, in the order of the explicit engine.
    fn wrong_in(
        &self,
        state: &State,
        candidate: &Candidate,
        budget: &Budget,
    ) -> Result<Option<Found>, String> {
        let machine = self.machine;
        let interpreter = Interpreter::new(machine, budget);
        let broken = interpreter.check_state(state, true).map_err(|e| e.to_string())?;
        if !self.options.no_invariant && !broken.invariant.is_empty() {
            let texts: Vec<&str> = broken.invariant.iter().map(|i| &*machine.invariant[*i].text).collect();
            return Ok(Some(Found::plain(FindingKind::Invariant, texts.join(" & "))));
        }
        if !self.options.no_assertions
            && let Some(i) = broken.assertions.first()
        {
            return Ok(Some(Found::plain(FindingKind::Assertion, machine.assertions[*i].text.clone())));
        }
        for (assertion, i, e) in &broken.undefined {
            if if *assertion { self.options.no_assertions } else { self.options.no_invariant } {
                continue;
            }
            let clauses = if *assertion { &machine.assertions } else { &machine.invariant };
            let words = format!("{} in {}", e.message(), clauses[*i].text);
            return Ok(Some(Found { property: words, ..Found::of(e, None) }));
        }
        if let Some(goal) = &machine.goal
            && interpreter.eval_pred(goal, Some(state)).is_ok_and(|holds| holds)
        {
            return Ok(Some(Found::plain(FindingKind::Goal, "the goal is reached".into())));
        }
        if let Some((event, choices)) = &candidate.fault {
            let mut pinned = machine.clone();
            pin(&mut pinned, &pins_of(choices), Some(*event));
            let steps =
                Interpreter::new(&pinned, budget).steps_of(state, *event).map_err(|e| e.to_string())?;
            let undefined = steps.undefined_guards.iter().filter(|_| self.options.strict_wd);
            if let Some((_, e)) = steps.errors.iter().chain(undefined).next() {
                return Ok(Some(Found::of(e, Some(*event))));
            }
        }
        let deadlock = !self.options.no_deadlock
            && candidate.targets.contains(&crate::symbolic::unroll::Target::Deadlock);
        if deadlock {
            let steps = interpreter.transitions(state).map_err(|e| e.to_string())?;
            if let Some((event, e)) = steps.errors.first() {
                return Ok(Some(Found::of(e, Some(*event))));
            }
            if steps.transitions.is_empty() && steps.incomplete.is_empty() && steps.sampled.is_empty() {
                return Ok(Some(Found::plain(FindingKind::Deadlock, "no operation is enabled".into())));
            }
        }
        Ok(None)
    }

    /// The finding as a report shows it, once the oracle has looked at it.
    fn violation(&self, walk: &Walk, found: &Found) -> Result<Violation, String> {
        let machine = self.machine;
        let mut explanation = Vec::new();
        if let Some(event) = found.event {
            explanation.push(format!("while computing {}", machine.op(machine.events[event]).name));
        }
        if let Some(error) = &found.error
            && error.span() != Span::default()
        {
            let text = one_line(self.sources.slice(error.span()));
            explanation.push(format!("at {}: {text}", self.sources.locate(error.span())));
        }
        let stops: Vec<judge::Stop> = walk
            .states
            .iter()
            .enumerate()
            .map(|(i, state)| judge::Stop { by: i.checked_sub(1).map(|i| &walk.transitions[i]), state })
            .collect();
        let claim = judge::Finding {
            kind: found.kind,
            property: None,
            event: found.event,
            broken: None,
            strict_guards: self.options.strict_wd,
        };
        if self.options.certificate.is_asked() {
            let json = judge::finding_json(machine, &stops, &claim);
            self.options.certificate.take_trace(found.kind.word(), &found.property, json);
        }
        Ok(Violation {
            confirmed_by: Some(judge::confirm(machine, &stops, &claim)?),
            kind: found.kind.word().to_string(),
            property: found.property.clone(),
            explanation,
            trace: self.trace(walk),
            loop_start: None,
        })
    }

    fn trace(&self, walk: &Walk) -> Vec<TraceStep> {
        let machine = self.machine;
        let named = |vars: &[VarId], values: &[Value]| -> Vec<(String, String)> {
            vars.iter()
                .zip(values)
                .map(|(v, x)| (machine.var(*v).name.to_string(), x.show(machine, &machine.var(*v).ty)))
                .collect()
        };
        let mut steps = Vec::new();
        for (i, state) in walk.states.iter().enumerate() {
            if i == 0 && !machine.constants.is_empty() {
                steps.push(TraceStep {
                    event: SETUP_CONSTANTS.into(),
                    state: named(&machine.constants, &state.constants),
                    ..TraceStep::default()
                });
            }
            let mut step = TraceStep {
                event: INITIALISE.into(),
                state: named(&machine.variables, &state.variables),
                ..TraceStep::default()
            };
            if let Some(t) = i.checked_sub(1).map(|i| &walk.transitions[i]) {
                let op = machine.op(machine.events[t.event]);
                step.event = op.name.to_string();
                step.params = named(&op.params, &t.params);
                step.results = named(&op.results, &t.results);
            }
            steps.push(step);
        }
        steps
    }
}

enum Beginning {
    State(State),
    Found(Found),
}

impl Found {
    fn plain(kind: FindingKind, property: String) -> Found {
        Found { kind, property, event: None, error: None }
    }

    fn properties(words: &str) -> Found {
        Found::plain(FindingKind::Properties, words.into())
    }

    fn of(e: &Error, event: Option<usize>) -> Found {
        Found { kind: kind_of(e), property: e.message().to_string(), event, error: Some(e.clone()) }
    }
}

impl Walk {
    fn nowhere() -> Walk {
        Walk { states: Vec::new(), transitions: Vec::new() }
    }
}

/// Values by place and variable; several if a place was passed several times.
type Pins = BTreeMap<(Option<Span>, VarId), Vec<Value>>;

fn pins_of(choices: &Choices) -> Pins {
    let mut pins = Pins::new();
    for (at, v, value) in choices {
        let values = pins.entry((*at, *v)).or_default();
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    pins
}

/// Confines the choices of a machine to given values: those of one event, or of the initialisation.
fn pin(machine: &mut Machine, pins: &Pins, event: Option<usize>) {
    let original = machine.clone();
    match event {
        None => pin_stmt(&original, &mut machine.initialisation, pins),
        Some(event) => {
            for op in &mut machine.operations {
                pin_stmt(&original, &mut op.body, pins);
            }
            let op = &mut machine.operations[original.events[event].0 as usize];
            let equations: Vec<Pred> =
                op.params.iter().filter_map(|v| equation(&original, *v, pins.get(&(None, *v))?)).collect();
            if !equations.is_empty() {
                let span = op.body.span;
                let body = std::mem::replace(&mut op.body, Stmt { kind: StmtKind::Skip, span });
                let all = Pred { kind: PredKind::And(equations), span };
                op.body = Stmt { kind: StmtKind::Pre(all, Box::new(body)), span };
            }
        }
    }
}

fn pin_stmt(machine: &Machine, s: &mut Stmt, pins: &Pins) {
    let span = s.span;
    let with = |p: &mut Pred, at: Option<Span>, vars: &[VarId]| {
        let mut all: Vec<Pred> =
            vars.iter().filter_map(|v| equation(machine, *v, pins.get(&(at, *v))?)).collect();
        if !all.is_empty() {
            all.push(p.clone());
            *p = Pred { kind: PredKind::And(all), span: p.span };
        }
    };
    match &mut s.kind {
        StmtKind::Any(vars, p, body) => {
            with(p, None, vars);
            pin_stmt(machine, body, pins);
        }
        StmtKind::BecomesSuch(vars, p) => with(p, Some(span), vars),
        StmtKind::BecomesIn(vars, set) => {
            if let [v] = vars[..]
                && let Some(values) = pins.get(&(Some(span), v))
                && let Some(listed) = listed(values, &machine.var(v).ty)
            {
                let ty = set.ty.clone();
                let whole = std::mem::replace(set, listed.clone());
                let kind = ExprKind::Binary(BinOp::Inter, Box::new(listed), Box::new(whole));
                *set = Expr { kind, ty, span: set.span };
            }
        }
        StmtKind::Pre(_, b)
        | StmtKind::Assert(_, _, b)
        | StmtKind::Witness(_, b)
        | StmtKind::Let(_, b)
        | StmtKind::Var(_, b)
        | StmtKind::While { body: b, .. } => pin_stmt(machine, b, pins),
        StmtKind::Choice(bs) | StmtKind::Seq(bs) | StmtKind::Par(bs) => {
            bs.iter_mut().for_each(|b| pin_stmt(machine, b, pins));
        }
        StmtKind::If(bs, other) | StmtKind::Select(bs, other) => {
            bs.iter_mut().for_each(|(_, b)| pin_stmt(machine, b, pins));
            other.iter_mut().for_each(|b| pin_stmt(machine, b, pins));
        }
        StmtKind::Case(_, bs, other) => {
            bs.iter_mut().for_each(|(_, b)| pin_stmt(machine, b, pins));
            other.iter_mut().for_each(|b| pin_stmt(machine, b, pins));
        }
        StmtKind::Skip | StmtKind::Assign(_) | StmtKind::Call { .. } | StmtKind::External(..) => {}
    }
}

/// `v = x`, or `v : {x, y}` for several values; none where a value cannot be written.
fn equation(machine: &Machine, v: VarId, values: &[Value]) -> Option<Pred> {
    let ty = machine.var(v).ty.clone();
    let span = Span::default();
    let var = Expr { kind: ExprKind::Var(v), ty: ty.clone(), span };
    let kind = match values {
        [value] => PredKind::Rel(RelOp::Equal, var, written(value, &ty)?),
        _ => PredKind::Rel(RelOp::In, var, listed(values, &ty)?),
    };
    Some(Pred { kind, span })
}

fn listed(values: &[Value], ty: &Type) -> Option<Expr> {
    let elems = values.iter().map(|x| written(x, ty)).collect::<Option<Vec<_>>>()?;
    Some(Expr { kind: ExprKind::SetExt(elems), ty: Type::pow(ty.clone()), span: Span::default() })
}
