//! Operations with given parameters: what each may lead to, guards looked at as in a transition.
//!
//! In: an environment that holds a state, an operation, values of its parameters. Out: results and writes of
//! every outcome, errors of actions, and what was not computed.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::exec::{Outcomes, Writes};
use crate::operation::{Guarded, alternatives_of};
use bombus_base::hash::HashSet;
use bombus_lang::typed::{OpId, Pred, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Values of parameters or results, in the order of the operation.
pub(crate) type Values = Arc<[Value]>;

/// What a called operation may do.
#[derive(Default)]
pub(crate) struct Called {
    /// Results, where one may be `Value::unassigned`, and writes to variables; distinct.
    pub(crate) outcomes: Vec<(Values, Writes)>,
    /// Errors of actions.
    pub(crate) errors: Vec<Error>,
    /// Guards without a truth value, which count as false.
    pub(crate) undefined_guards: Vec<Error>,
    /// What was not computed.
    pub(crate) incomplete: Vec<Error>,
}

/// The bindings of parameters that are neither admitted nor refused.
#[derive(Default)]
pub(crate) struct Unsettled {
    /// Bindings for which the guard or precondition has no truth value: they count as refused.
    pub(crate) undefined: Vec<Error>,
    /// What was not computed.
    pub(crate) incomplete: Vec<Error>,
}

impl Unsettled {
    /// Takes in what ended a search; `Err` is a limit that was reached.
    pub(crate) fn note(&mut self, e: Error) -> Res<()> {
        if e.is_stop() {
            return Err(e);
        }
        if e.is_finding() { &mut self.undefined } else { &mut self.incomplete }.push(e);
        Ok(())
    }
}

impl Interpreter<'_> {
    /// The outcomes of an operation for these parameters.
    pub(crate) fn outcomes_of(&self, env: &mut Env, id: OpId, params: &[Value]) -> Res<Called> {
        let op = self.machine.op(id);
        let guarded = self.called_with(id);
        let mut called = Called::default();
        let mut unsettled = Unsettled::default();
        let mut seen: HashSet<(Values, Writes)> = HashSet::new();
        let mut saved = env.take(&op.params);
        saved.extend(env.take(&op.results));
        for (v, x) in op.params.iter().zip(params) {
            env.bind(*v, x.clone());
        }
        let run: Res<()> = (|| {
            for alternative in &guarded.alternatives {
                self.run_plan(env, &alternative.plan, &mut |env, error| {
                    if let Some(e) = error {
                        unsettled.note(e.clone())?;
                        return Ok(Flow::Go);
                    }
                    let mut out = Outcomes::default();
                    self.exec(env, &alternative.body, &mut out)?;
                    for e in out.errors {
                        if e.is_finding() { &mut called.errors } else { &mut called.incomplete }.push(e);
                    }
                    for mut writes in out.writes {
                        let results: Values = op
                            .results
                            .iter()
                            .map(|r| written(&writes, *r).unwrap_or_else(Value::unassigned))
                            .collect();
                        writes.retain(|(v, _)| self.machine.variables.contains(v));
                        let outcome = (results, writes);
                        if seen.insert(outcome.clone()) {
                            called.outcomes.push(outcome);
                        }
                    }
                    Ok(Flow::Go)
                })?;
            }
            Ok(())
        })();
        env.restore(saved);
        match run {
            Err(e) if e.is_stop() => return Err(e),
            Err(e) if e.is_finding() => called.errors.push(e),
            Err(e) => called.incomplete.push(e),
            Ok(()) => {}
        }
        called.undefined_guards = unsettled.undefined;
        called.incomplete.append(&mut unsettled.incomplete);
        Ok(called)
    }

    /// The parameters for which the guards of an operation hold, and those of which nothing is known.
    pub(crate) fn parameters_of(&self, env: &mut Env, id: OpId, found: &mut Vec<Values>) -> Res<Unsettled> {
        let op = self.machine.op(id);
        let guarded = self.guarded(id);
        let mut unsettled = Unsettled::default();
        for alternative in &guarded.alternatives {
            let mut sink = |env: &mut Env, error: Option<&Error>| {
                self.note_parameters(env, error, &op.params, found, &mut unsettled)
            };
            if let Err(e) = self.run_plan(env, &alternative.plan, &mut sink) {
                unsettled.note(e)?;
            }
        }
        Ok(unsettled)
    }

    /// The parameters that satisfy a precondition, and those of which nothing is known.
    pub(crate) fn admitted_by(
        &self,
        env: &mut Env,
        params: &[VarId],
        pre: &Pred,
        found: &mut Vec<Values>,
    ) -> Res<Unsettled> {
        let mut unsettled = Unsettled::default();
        let mut sink = |env: &mut Env, error: Option<&Error>| {
            self.note_parameters(env, error, params, found, &mut unsettled)
        };
        if let Err(e) = self.solutions(env, params, pre, &mut sink) {
            unsettled.note(e)?;
        }
        Ok(unsettled)
    }

    fn note_parameters(
        &self,
        env: &mut Env,
        error: Option<&Error>,
        params: &[VarId],
        found: &mut Vec<Values>,
        unsettled: &mut Unsettled,
    ) -> Res<Flow> {
        match error {
            Some(e) => unsettled.note(e.clone())?,
            None => {
                let mut values = Vec::with_capacity(params.len());
                for v in params {
                    let value = env.get(*v).cloned().unwrap_or_default();
                    values.push(self.canon(env, value)?);
                }
                found.push(values.into());
            }
        }
        Ok(Flow::Go)
    }

    fn called_with(&self, id: OpId) -> Arc<Guarded> {
        let key = id.0 as usize;
        if let Some(g) = self.cache.called.borrow().get(&key) {
            return g.clone();
        }
        let g = Arc::new(Guarded { alternatives: alternatives_of(&self.machine.op(id).body, Vec::new()) });
        self.cache.called.borrow_mut().insert(key, g.clone());
        g
    }
}

/// The value that a variable is given.
pub(crate) fn written(writes: &Writes, v: VarId) -> Option<Value> {
    writes.iter().find(|(w, _)| *w == v).map(|(_, x)| x.clone())
}
