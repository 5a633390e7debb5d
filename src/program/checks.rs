//! Checks on a packed state: invariant, assertions, goal.
//!
//! In: a state, and the event that led to it from a state without a finding, if that is known. Out: findings.
//! What that event cannot have changed holds still and is not looked at. A predicate without code, or one that meets
//! a value without a place, is evaluated by the interpreter.

use super::compile::Compiled;
use super::exact;
use super::exec::Exit;
use super::system::{Program, Worker};
use bombus_evaluate::Error;
use bombus_kernels::faults::fault;
use bombus_lang::typed::Pred;
use bombus_system::{EventId, Finding, FindingKind, Sink};

impl<'m> Program<'m> {
    /// Tells what is wrong with a state, and whether it is the goal.
    pub(super) fn check_state(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        changed_by: Option<EventId>,
        sink: &mut dyn Sink,
    ) {
        let compiled = self.compiled(self.layout.valuation(state), &worker.interpreter);
        let escaped = self.layout.is_escaped(state);
        let which = changed_by.map_or(compiled.after.len() - 1, |e| e.0 as usize);
        if fault("lowering: what the first event leads to is not checked") && which == 0 {
            return;
        }
        if compiled.quiet[which] && !escaped {
            return;
        }
        let quick = !escaped && self.holds_after(worker, compiled, which, state);
        if !quick && !self.options.skip_invariant {
            for i in self.conjuncts(changed_by) {
                let clause = &self.machine.invariant[i];
                match self.holds(worker, compiled, compiled.invariant[i], &clause.pred, state) {
                    Ok(true) => {}
                    // Every conjunct that is broken is a finding of its own, so each has its shortest trace.
                    Ok(false) => {
                        sink.finding(Finding {
                            kind: FindingKind::Invariant,
                            property: i as u32,
                            event: None,
                        });
                    }
                    Err(e) => self.tell(&e, None, sink),
                }
            }
        }
        for i in self.asserted(changed_by) {
            let clause = &self.machine.assertions[i];
            match self.holds(worker, compiled, compiled.assertions[i], &clause.pred, state) {
                Ok(true) => {}
                Ok(false) => {
                    sink.finding(Finding { kind: FindingKind::Assertion, property: i as u32, event: None });
                }
                Err(e) => self.tell(&e, None, sink),
            }
        }
        self.watch(worker, state, sink);
        if let Some(goal) = &self.machine.goal {
            match self.holds(worker, compiled, compiled.goal, goal, state) {
                Ok(true) => sink.finding(Finding { kind: FindingKind::Goal, property: 0, event: None }),
                Ok(false) => {}
                Err(e) => sink.incomplete(self.reason_number(format!("goal: {}", exact::words(&e)))),
            }
        }
    }

    /// Loads a state into the frame; says whether all conjuncts hold that an event can have changed, as far as one run of code
    /// tells.
    #[inline]
    fn holds_after(&self, worker: &mut Worker<'m>, compiled: &Compiled, which: usize, state: &[u64]) -> bool {
        if let Some(made) = compiled.code.native.made(&compiled.code)
            && made.knows_states()
        {
            self.enter_tray(worker, compiled, state);
            let (frame, mut host) = self.running(worker, compiled, state, Some(0));
            if let Some(exit) = made.check(&compiled.code, which, &mut frame.regs, &mut host) {
                return exit == Exit::Holds;
            }
        }
        self.enter(worker, compiled, state);
        compiled.after[which].is_some_and(|entry| self.run(worker, compiled, entry, state) == Exit::Holds)
    }

    /// For each event, and last for all: whether a state that it led to needs no check, unless it is escaped.
    pub(super) fn quiet(&self, compiled: &Compiled) -> Vec<bool> {
        let watches = self.machine.goal.is_some() || !self.options.watched.is_empty();
        let of = |(which, idle): (usize, &bool)| {
            let event = (which < self.names.len()).then_some(EventId(which as u32));
            *idle && !watches && self.asserted(event).next().is_none()
        };
        compiled.idle.iter().enumerate().map(of).collect()
    }

    /// Whether a predicate holds in a state.
    pub(super) fn holds(
        &self,
        worker: &mut Worker<'m>,
        compiled: &Compiled,
        entry: Option<u32>,
        pred: &Pred,
        state: &[u64],
    ) -> Result<bool, Error> {
        if let Some(entry) = entry
            && !self.layout.is_escaped(state)
        {
            match self.run(worker, compiled, entry, state) {
                Exit::Done | Exit::Holds => return Ok(true),
                Exit::Fails => return Ok(false),
                // The interpreter has the words for what is undefined; without any it is undefined all the same.
                Exit::Ill => {
                    return match self.exact_holds(worker, pred, state) {
                        Ok(_) => Err(Error::undefined(pred.span, "an expression is undefined")),
                        Err(e) => Err(e),
                    };
                }
                Exit::Misfit | Exit::Stopped => {}
            }
        }
        self.exact_holds(worker, pred, state)
    }

    /// The conjuncts of the invariant that `event` can have changed; all of them if it is not known.
    fn conjuncts(&self, event: Option<EventId>) -> impl Iterator<Item = usize> {
        chosen(event.map(|e| &self.effects.touched[e.0 as usize]), self.machine.invariant.len())
    }

    /// The assertions about the state that `event` can have changed.
    fn asserted(&self, event: Option<EventId>) -> impl Iterator<Item = usize> {
        let all = if self.options.skip_assertions { 0 } else { self.machine.assertions.len() };
        chosen(event.map(|e| &self.effects.asserted[e.0 as usize]), all)
            .filter(move |i| *i < all && !self.statics[*i])
    }
}

/// Those of a list of clauses that `some` names; without it, all.
fn chosen(some: Option<&Vec<usize>>, all: usize) -> impl Iterator<Item = usize> {
    let rest = if some.is_some() { 0..0 } else { 0..all };
    some.into_iter().flatten().copied().chain(rest)
}
