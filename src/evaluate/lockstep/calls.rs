//! Which calls may be made of an event in a combined state, and whether the machine and the lower levels accept them.
//!
//! In: a combined state and an event. Out: parameters with the abstract states that allow them; findings where a lower
//! precondition does not follow from the topmost one.

use crate::ErrorKind;
use crate::called::{Unsettled, Values};
use crate::error::{Error, Res};
use crate::lockstep::{Calls, Going, Search, follow};
use crate::search::kind_of;
use bombus_base::finding::FindingKind;
use bombus_kernels::faults::fault;
use bombus_model::refinement::Followed;

/// Guards and preconditions without a truth value.
#[derive(Default)]
pub(crate) struct Undefined {
    /// Of the topmost operation.
    pub(crate) above: Vec<Error>,
    /// Of the checked machine.
    pub(crate) own: Vec<Error>,
}

impl Search<'_> {
    /// The calls of an event that the topmost operation allows, each with the abstract states that allow it.
    pub(crate) fn calls(&mut self, at: usize, event: usize, followed: &Followed) -> Res<(Calls, Undefined)> {
        let set = self.nodes[at].set.states.clone();
        let (mut calls, mut undefined) = (Calls::new(), Undefined::default());
        let top = followed.refined.last();
        if let Some(top) = top {
            let op = self.chain.machine.op(top.op);
            if top.precondition.is_some() || op.params.is_empty() {
                for a in set.iter() {
                    let admitted =
                        self.abstracts.admitted(&self.interpreter, &self.empty(), event, top, *a)?;
                    self.note_calls(event, &admitted.1.incomplete);
                    undefined.above.extend(admitted.1.undefined.iter().cloned());
                    for params in &admitted.0 {
                        let states = calls.entry(params.clone()).or_default();
                        if states.last() != Some(a) {
                            states.push(*a);
                        }
                    }
                }
                return Ok((calls, undefined));
            }
        }
        // Nothing but guards says which parameters there are: those of the machine, and those of the abstraction.
        let mut found = Vec::new();
        let mut env = self.concrete(self.nodes[at].concrete);
        let Unsettled { undefined: own, incomplete: mut missing } =
            self.interpreter.parameters_of(&mut env, followed.op, &mut found)?;
        undefined.own = own;
        if let (Some(top), Some(_)) = (top, &followed.precondition) {
            for a in set.iter() {
                let mut env = self.empty();
                self.abstracts.bind(&mut env, *a);
                let unsettled = self.interpreter.parameters_of(&mut env, top.op, &mut found)?;
                missing.extend(unsettled.incomplete);
                undefined.above.extend(unsettled.undefined);
            }
        }
        self.note_calls(event, &missing);
        found.sort();
        found.dedup();
        calls.extend(found.into_iter().map(|params| (params, set.to_vec())));
        Ok((calls, undefined))
    }

    /// The topmost operation has no say about some calls, because its precondition has no truth value for them.
    pub(crate) fn undefined_above(
        &mut self,
        at: usize,
        event: usize,
        followed: &Followed,
        errors: &[Error],
    ) -> Going {
        let top = followed.refined.iter().zip(&self.chain.levels).next_back();
        let (Some(e), Some((top, level))) = (errors.first(), top) else { return true };
        let place = format!("{} / {}", level.name, self.chain.machine.op(top.op).name);
        *self.result.undefined_above.entry(place.clone()).or_default() += 1;
        let words = format!("{place} / {}", e.message());
        !self.options.strict_guards
            || self.finding(kind_of(e), words, Vec::new(), e.span(), Some(at), Some(event))
    }

    /// A guard of the checked machine has no truth value for a call that may be made. The search of the machine alone
    /// found that too; whether a client can meet it is told here.
    pub(crate) fn undefined_own(&mut self, at: usize, event: usize, errors: &[Error]) -> Going {
        let Some(e) = errors.first().filter(|_| self.options.own_checks) else { return true };
        self.tally.undefined_guard(self.nodes[at].concrete, event);
        let words = e.message().to_string();
        !self.options.strict_guards
            || self.finding(kind_of(e), words, Vec::new(), e.span(), Some(at), Some(event))
    }

    /// Parameters that were not tried are a reason, unless those that were stand for all.
    fn note_calls(&mut self, event: usize, missing: &[Error]) {
        let followed = &self.chain.events[event];
        let op = self.chain.machine.op(followed.op);
        for e in missing {
            let harmless = match e.kind() {
                ErrorKind::Represented => true,
                ErrorKind::Sampled(v) => follow::is_inert_everywhere(&self.chain.machine, followed, v),
                _ => false,
            };
            if !harmless {
                self.reason(&format!("{}: {}", op.name, e.message()));
            }
        }
    }

    /// The preconditions of the lower levels and of the machine must follow from the topmost one.
    pub(crate) fn preconditions(
        &mut self,
        at: usize,
        event: usize,
        followed: &Followed,
        params: &Values,
        states: &[u32],
    ) -> Res<Going> {
        let Some((_, lower)) = followed.refined.split_last() else { return Ok(true) };
        let c = self.nodes[at].concrete;
        for a in states {
            let abstracts = lower.iter().enumerate().rev().map(|(i, r)| (Some(i), r.op, &r.precondition));
            let own = (None, followed.op, &followed.precondition);
            for (level, op, pre) in abstracts.chain([own]) {
                let Some(pre) = pre else { continue };
                if fault("lock-step: preconditions below are not asked for") {
                    continue;
                }
                let mut env = match level {
                    Some(_) => self.empty(),
                    None => self.concrete(c),
                };
                if level.is_some() {
                    self.abstracts.bind(&mut env, *a);
                }
                for (v, x) in self.chain.machine.op(op).params.iter().zip(params.iter()) {
                    env.bind(*v, x.clone());
                }
                let why = match self.interpreter.holds(&mut env, pre) {
                    Ok(true) => continue,
                    Ok(false) => None,
                    Err(e) if e.is_stop() => return Err(e),
                    Err(e) if e.is_finding() => Some(e.message().to_string()),
                    Err(e) => {
                        self.reason(&format!("{}: {}", self.chain.machine.op(op).name, e.message()));
                        continue;
                    }
                };
                // Where the topmost operation has no step, nobody can have made the call.
                if !self.abstracts.may_step(&self.interpreter, &self.empty(), followed, *a, params)? {
                    continue;
                }
                let part = self.broken_conjunct(&mut env, pre);
                let (property, lines) = self.precondition_words(event, level, params, *a, why);
                if !self.finding(FindingKind::Refinement, property, lines, part, Some(at), Some(event)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
