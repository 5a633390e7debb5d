//! A state that several things are asked about: its environment is made once.
//!
//! In: a state, then events and predicates. Out: the same as `steps_of` and `eval_pred` give for that state.
//! Binders restore what they overwrite, so an answer leaves the environment as it was; after an error it is made
//! anew, because nobody relies on the order in which it was left.

use crate::env::Env;
use crate::error::Res;
use crate::operation::Steps;
use crate::{Interpreter, State};
use bombus_lang::typed::Pred;
use std::sync::Arc;

/// A state with its environment.
pub struct Standing {
    pub state: State,
    env: Env,
}

impl Interpreter<'_> {
    /// Moves to a state; what was made for another one is used again.
    pub fn stand(&self, place: Option<Standing>, state: State) -> Standing {
        let Some(Standing { state: before, mut env }) = place else {
            return Standing { env: self.env(Some(&state)), state };
        };
        if !Arc::ptr_eq(&before.constants, &state.constants) {
            return Standing { env: self.env(Some(&state)), state };
        }
        for (v, x) in self.machine.variables.iter().zip(state.variables.iter()) {
            env.bind(*v, x.clone());
            env.replace_old(*v, Some(x.clone()));
        }
        Standing { state, env }
    }

    /// The transitions of one event.
    pub fn steps_standing(&self, at: &mut Standing, event: usize) -> Res<Steps> {
        let mut steps = Steps::default();
        let done = self.event_transitions(&mut at.env, &at.state, event, &mut steps);
        if done.is_err() || !steps.errors.is_empty() || !steps.incomplete.is_empty() {
            at.env = self.env(Some(&at.state));
        }
        done.map(|()| steps)
    }

    /// The truth of a predicate.
    pub fn holds_standing(&self, at: &mut Standing, p: &Pred) -> Res<bool> {
        let valuation = at.env.valuation.take();
        let holds = self.holds(&mut at.env, p);
        at.env.valuation = valuation;
        if holds.is_err() {
            at.env = self.env(Some(&at.state));
        }
        holds
    }
}
