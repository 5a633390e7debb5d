//! Pieces of formulas, evaluated for an engine that has the rest of the work in hand.
//!
//! In: an expression or predicate and the values of what occurs in it. Out: its value. The engine
//! keeps a `Pieces` between calls, so that nothing is built anew for each evaluation.

use crate::env::Env;
use crate::error::{Flow, Res};
use crate::operation::Steps;
use crate::solve::plan::Plan;
use crate::{Constants, Interpreter, State};
use bombus_lang::typed::{Expr, Pred, VarId};
use bombus_lang::value::Value;

/// How many values are wanted at most, and how many steps the search for them may take.
pub struct ListingLimits {
    pub most: usize,
    pub steps: u32,
}

/// Values of variables, kept between evaluations.
#[derive(Clone, Debug)]
pub struct Pieces {
    env: Env,
}

impl Pieces {
    pub fn new(interpreter: &Interpreter<'_>, constants: &Constants) -> Pieces {
        let mut env = Env::new(interpreter.machine.vars.len());
        for (v, x) in interpreter.machine.constants.iter().zip(constants.iter()) {
            env.bind(*v, x.clone());
        }
        Pieces { env }
    }

    pub fn bind(&mut self, v: VarId, old: bool, value: Value) {
        if old {
            self.env.replace_old(v, Some(value));
        } else {
            self.env.bind(v, value);
        }
    }

    pub fn unbind(&mut self, v: VarId, old: bool) {
        if old {
            self.env.replace_old(v, None);
        } else {
            self.env.unbind(v);
        }
    }
}

impl Interpreter<'_> {
    /// The value of an expression, in the form that states hold.
    pub fn piece_value(&self, e: &Expr, pieces: &mut Pieces) -> Res<Value> {
        self.eval_canon(&mut pieces.env, e)
    }

    pub fn piece_holds(&self, p: &Pred, pieces: &mut Pieces) -> Res<bool> {
        self.holds(&mut pieces.env, p)
    }

    /// Whether a value belongs to a set, which may be infinite.
    pub fn piece_member(&self, v: &Value, set: &Expr, pieces: &mut Pieces) -> Res<bool> {
        let s = self.eval_lazy(&mut pieces.env, set)?;
        self.member(&mut pieces.env, v, &s)
    }

    /// The values of a variable for which all of these hold, if they are as few as wanted and found in time; `None` as
    /// well if one of the predicates has no value for some candidate.
    pub fn piece_solutions(
        &self,
        v: VarId,
        conjuncts: &[&Pred],
        wanted: &ListingLimits,
        pieces: &mut Pieces,
    ) -> Option<Vec<Value>> {
        let plan = Plan::new(&[v], conjuncts);
        let (mut found, mut known) = (Vec::new(), true);
        self.patience.set(Some(wanted.steps));
        // Other conjuncts may bound the variable, so nothing is cut to the scope here.
        let exact = std::mem::replace(&mut pieces.env.exact, true);
        let run = self.run_plan(&mut pieces.env, &plan, &mut |env, error| {
            let value = env.get(v).cloned().unwrap_or_default();
            let value = self.canon(env, value)?;
            known = error.is_none() && found.len() < wanted.most && !value.mentions_symbolic();
            if !known {
                return Ok(Flow::Stop);
            }
            found.push(value);
            Ok(Flow::Go)
        });
        pieces.env.exact = exact;
        self.patience.set(None);
        run.ok().filter(|_| known)?;
        found.sort();
        found.dedup();
        Some(found)
    }

    /// The transitions of one event.
    pub fn steps_of(&self, state: &State, event: usize) -> Res<Steps> {
        let mut env = self.env(Some(state));
        let mut steps = Steps::default();
        self.event_transitions(&mut env, state, event, &mut steps)?;
        Ok(steps)
    }
}
