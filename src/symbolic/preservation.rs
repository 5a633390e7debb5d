//! Preservation: which events keep which conjuncts of the invariant, and what follows from the invariant, asked once.
//!
//! In: a machine, what is proven already. Out: more of it, each by a query of its own with a small limit. A query speaks of
//! one step from any state that satisfies PROPERTIES and the whole invariant. Never here: what searches make of it.

use super::encode::action::Outcome;
use super::encode::{EncodeOptions, Encoder, Env};
use super::sat::{Limit, Lit};
use super::unroll::{Choices, Properties, Reply, with_constants};
use bombus_analyse::proof_info::{ProofInfo, Source};
use bombus_base::budget::Budget;
use bombus_lang::typed::{Machine, Pred, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// Conflicts that a query for proof information may cost; a number and not a time, so that runs are alike.
const CONFLICTS: u64 = 2_000;

/// One step from any state of the invariant.
pub struct Preservation<'m> {
    enc: Encoder<'m>,
    machine: &'m Machine,
    wanted: Properties,
    constants: Env,
    state: Env,
    /// Outcomes of events, made when they are first asked about.
    events: Vec<Option<Outcome>>,
    limit: Limit,
}

/// A step that breaks a conjunct, as the solver sees the step.
pub struct Breach {
    pub constants: Vec<(VarId, Value)>,
    pub state: Vec<(VarId, Value)>,
    pub choices: Choices,
}

impl<'m> Preservation<'m> {
    pub fn new(
        machine: &'m Machine,
        wanted: Properties,
        options: EncodeOptions,
        budget: &Budget,
    ) -> Preservation<'m> {
        let mut enc = Encoder::new(machine, options, budget);
        let constants = with_constants(&mut enc);
        let mut state = constants.clone();
        let invariant: Vec<&Pred> = machine.invariant.iter().map(|c| &c.pred).collect();
        enc.bind_leaves(&mut state, &machine.variables, &invariant);
        state.remember(&machine.variables);
        let mut env = state.clone();
        for p in invariant {
            let t = enc.pred(&mut env, p);
            let holds = enc.surely(t);
            enc.g.require(holds);
        }
        let budget = budget.clone();
        let stopped = Limit::stopped_by(Arc::new(move || budget.check().is_err()));
        let limit = Limit { conflicts: Some(CONFLICTS), ..stopped };
        let events = machine.events.iter().map(|_| None).collect();
        Preservation { enc, machine, wanted, constants, state, events, limit }
    }

    /// Asks about everything that is not proven yet. With `implied` also what follows from the invariant by itself.
    pub fn add_to(&mut self, info: &mut ProofInfo, implied: bool) {
        for event in 0..self.machine.events.len() {
            for conjunct in 0..self.machine.invariant.len() {
                if self.limit.is_stopped() {
                    return;
                }
                if !info.keeps(event, conjunct) && self.keeps(event, conjunct) == Reply::Proof {
                    info.enter(event, conjunct, Source::Own);
                }
            }
        }
        if implied {
            self.add_implied(info);
        }
    }

    fn add_implied(&mut self, info: &mut ProofInfo) {
        for event in 0..self.machine.events.len() {
            let fault = self.outcome(event).fault;
            if self.is_impossible(fault) {
                info.enter_faultless(event);
            }
        }
        if self.wanted.assertions {
            for (i, c) in self.machine.assertions.iter().enumerate() {
                let mut env = self.state.clone();
                let t = self.enc.pred(&mut env, &c.pred);
                let broken = !self.enc.surely(t);
                if self.is_impossible(broken) {
                    info.enter_assertion(i);
                }
            }
        }
        if self.wanted.deadlock && !self.machine.events.is_empty() {
            let mut none = Vec::new();
            for op in &self.machine.events {
                none.push(!self.enc.enabled(&self.state, *op));
            }
            let stuck = self.enc.g.and_all(&none);
            if self.is_impossible(stuck) {
                info.enter_never_stuck();
            }
        }
    }

    fn is_impossible(&mut self, lit: Lit) -> bool {
        lit == Lit::FALSE || (!self.limit.is_stopped() && self.enc.ask(&[lit], &self.limit) == Reply::Proof)
    }

    /// Whether the event keeps the conjunct: `Proof`, or a candidate that breaks the conjunct, or nothing is known.
    pub fn keeps(&mut self, event: usize, conjunct: usize) -> Reply {
        let taken = self.outcome(event).taken;
        let broken = self.broken_after(event, conjunct);
        if taken == Lit::FALSE || broken == Lit::FALSE {
            return Reply::Proof;
        }
        self.enc.ask(&[taken, broken], &self.limit)
    }

    /// The literal of the conjunct not holding, or not being defined, after the event.
    fn broken_after(&mut self, event: usize, conjunct: usize) -> Lit {
        self.outcome(event);
        let mut next = self.constants.clone();
        let outcome = self.events[event].as_ref().expect("the outcome was just made");
        for v in &self.machine.variables {
            next.put(*v, outcome.env.get(*v).cloned());
        }
        next.remember(&self.machine.variables);
        let t = self.enc.pred(&mut next, &self.machine.invariant[conjunct].pred);
        !self.enc.surely(t)
    }

    fn outcome(&mut self, event: usize) -> &Outcome {
        if self.events[event].is_none() {
            let made = self.enc.event(&self.state, self.machine.events[event]);
            self.events[event] = Some(made);
        }
        self.events[event].as_ref().expect("the outcome was just made")
    }

    /// The step of the last query, which had a model.
    pub fn breach(&self, event: usize) -> Breach {
        let enc = &self.enc;
        let values = |env: &Env, vars: &[VarId]| -> Vec<(VarId, Value)> {
            vars.iter().filter_map(|v| Some((*v, enc.value_in_model(&env.get(*v)?.term)?))).collect()
        };
        let choices = self.events[event].iter().flat_map(|e| &e.notes.choices);
        Breach {
            constants: values(&self.constants, &self.machine.constants),
            state: values(&self.state, &self.machine.variables),
            choices: choices.filter_map(|(at, v, t)| Some((*at, *v, enc.value_in_model(t)?))).collect(),
        }
    }

    pub fn queries(&self) -> u64 {
        self.enc.g.sat.queries()
    }
}
