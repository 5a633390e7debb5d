//! What is said of a refinement that fails: places, values, traces.
//!
//! In: a search in lock-step. Out: text.

use crate::called::Values;
use crate::env::Env;
use crate::lockstep::{Search, Step};
use crate::search::TraceStep;
use crate::{State, Transition};
use bombus_base::Span;
use bombus_lang::typed::{Pred, PredKind, VarId};
use bombus_lang::value::Value;
use bombus_model::refinement::Followed;

/// More abstract states than this hide the point.
const MAX_STATES: usize = 3;

impl Search<'_> {
    /// `M2 / enter`
    pub(crate) fn place(&self, event: Option<usize>) -> String {
        let machine = &self.chain.machine;
        match event {
            None => format!("{} / INITIALISATION", machine.name),
            Some(event) => format!("{} / {}", machine.name, machine.op(self.chain.events[event].op).name),
        }
    }

    fn named(&self, vars: &[VarId], values: &[Value]) -> Vec<(String, String)> {
        let machine = &self.chain.machine;
        let show = |(v, x): (&VarId, &Value)| {
            let decl = machine.var(*v);
            (decl.name.to_string(), x.show(machine, &decl.ty))
        };
        vars.iter().zip(values).map(show).collect()
    }

    fn equations(&self, vars: &[VarId], values: &[Value]) -> String {
        let pairs: Vec<String> =
            self.named(vars, values).into_iter().map(|(n, x)| format!("{n} = {x}")).collect();
        pairs.join(", ")
    }

    /// The results that differ.
    pub(crate) fn result_words(&self, followed: &Followed, own: &Values, theirs: &Values) -> String {
        let vars = &self.chain.machine.op(followed.op).results;
        format!(
            "results: the abstraction gives {}, not {}",
            self.equations(vars, theirs),
            self.equations(vars, own)
        )
    }

    /// What a precondition that does not follow is called, and the call that shows it.
    pub(crate) fn precondition_words(
        &self,
        event: usize,
        level: Option<usize>,
        params: &Values,
        a: u32,
        undefined: Option<String>,
    ) -> (String, Vec<String>) {
        let machine = &self.chain.machine;
        let followed = &self.chain.events[event];
        let (name, op) = match level {
            None => (&machine.name, followed.op),
            Some(i) => (&self.chain.levels[i].name, followed.refined[i].op),
        };
        let how = undefined.map_or_else(|| "is false".to_string(), |why| format!("has no value ({why})"));
        let property = format!(
            "{name} / {} / precondition: it {how} where the precondition of the abstraction holds",
            machine.op(op).name
        );
        let mut lines = Vec::new();
        if !params.is_empty() {
            lines.push(format!("called with {}", self.equations(&machine.op(op).params, params)));
        }
        lines.extend(self.abstract_line(a));
        (property, lines)
    }

    /// The first conjunct that does not hold.
    pub(crate) fn broken_conjunct(&self, env: &mut Env, pre: &Pred) -> Span {
        match &pre.kind {
            PredKind::And(parts) => parts
                .iter()
                .find(|p| !matches!(self.interpreter.holds(env, p), Ok(true)))
                .map_or(pre.span, |p| self.broken_conjunct(env, p)),
            _ => pre.span,
        }
    }

    fn abstract_line(&self, a: u32) -> Option<String> {
        let (vars, values): (Vec<VarId>, Vec<Value>) = self.abstracts.hidden(a).into_iter().unzip();
        (!vars.is_empty()).then(|| format!("in the abstraction {}", self.equations(&vars, &values)))
    }

    /// The abstract states before the step that cannot be followed.
    pub(crate) fn stuck_lines(&self, from: Option<&(usize, Step)>) -> Vec<String> {
        let Some((at, _)) = from else { return Vec::new() };
        let states = &self.nodes[*at].set.states;
        let mut lines: Vec<String> = states
            .iter()
            .take(MAX_STATES)
            .filter_map(|a| self.abstract_line(*a))
            .map(|line| format!("before the step, {line}"))
            .collect();
        if states.len() > MAX_STATES && !lines.is_empty() {
            lines.push(format!("or in one of {} other states", states.len() - MAX_STATES));
        }
        lines
    }

    /// The states on the way to a concrete one by way of `from`, with the transitions between them.
    pub(crate) fn path_to(&self, c: u32, from: Option<(usize, Step)>) -> Vec<(Option<Transition>, State)> {
        let (mut c, mut from) = (c, from);
        let mut path = Vec::new();
        loop {
            let state = State { constants: self.constants.clone(), variables: self.concretes.get(c).clone() };
            let Some((at, step)) = from else {
                path.push((None, state));
                break;
            };
            let Step { event, params, results } = step;
            path.push((Some(Transition { event, params, results, target: state.clone() }), state));
            (c, from) = (self.nodes[at].concrete, self.nodes[at].from.clone());
        }
        path.reverse();
        path
    }

    /// The steps that lead to a concrete state by way of `from`.
    pub(crate) fn trace_to(&self, c: u32, from: Option<(usize, Step)>) -> Vec<TraceStep> {
        let machine = &self.chain.machine;
        let own = &machine.variables[..self.chain.own_variables];
        let mut steps = Vec::new();
        let (mut c, mut from) = (c, from);
        loop {
            let state = self.named(own, self.concretes.get(c));
            match &from {
                None => {
                    let event = "$initialise_machine".to_string();
                    steps.push(TraceStep { event, params: Vec::new(), results: Vec::new(), state });
                    break;
                }
                Some((at, step)) => {
                    let op = machine.op(self.chain.events[step.event].op);
                    steps.push(TraceStep {
                        event: op.name.to_string(),
                        params: self.named(&op.params, &step.params),
                        results: self.named(&op.results, &step.results),
                        state,
                    });
                    (c, from) = (self.nodes[*at].concrete, self.nodes[*at].from.clone());
                }
            }
        }
        if !machine.constants.is_empty() {
            steps.push(TraceStep {
                event: "$setup_constants".to_string(),
                params: Vec::new(),
                results: Vec::new(),
                state: self.named(&machine.constants, &self.constants),
            });
        }
        steps.reverse();
        steps
    }
}
