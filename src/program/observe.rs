//! Predicates over a state that are no part of the model: atoms of temporal formulas.
//!
//! In: predicates, compiled with the model, and packed states. Out: their truth, or findings for those
//! that have to hold in every state. Never here: temporal operators.

use super::exec::Exit;
use super::system::{Program, Worker};
use bombus_evaluate::Error;
use bombus_system::{Finding, FindingKind, Sink};

/// An observed predicate that has to hold in every state.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Its number among `Options::observed`.
    pub observed: usize,
    /// What is said if it cannot be evaluated somewhere.
    pub unknown: String,
}

impl<'m> Program<'m> {
    /// The truth of some observed predicates in `state`, each told by its number.
    pub fn observe(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        which: impl Iterator<Item = usize>,
        mut tell: impl FnMut(usize, Result<bool, Error>),
    ) {
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        let escaped = self.layout.is_escaped(state);
        if !escaped {
            self.enter(worker, compiled, state);
        }
        for i in which {
            let quick = match compiled.observed[i] {
                Some(entry) if !escaped => self.run(worker, compiled, entry, state),
                _ => Exit::Misfit,
            };
            let truth = match quick {
                Exit::Done | Exit::Holds => Ok(true),
                Exit::Fails => Ok(false),
                Exit::Ill | Exit::Misfit | Exit::Stopped => {
                    self.exact_holds(worker, &self.options.observed[i], state)
                }
            };
            tell(i, truth);
        }
    }

    /// Looks at the predicates that have to hold in every state.
    pub(super) fn watch(&self, worker: &mut Worker<'m>, state: &[u64], sink: &mut dyn Sink) {
        let watched = &self.options.watched;
        if watched.is_empty() {
            return;
        }
        let mut property = 0;
        self.observe(worker, state, watched.iter().map(|w| w.observed), |_, truth| {
            match truth {
                Ok(true) => {}
                Ok(false) => sink.finding(Finding { kind: FindingKind::Ltl, property, event: None }),
                Err(_) => sink.incomplete(self.reason_number(watched[property as usize].unknown.clone())),
            }
            property += 1;
        });
    }
}
