//! Events and predicates that code does not do: the exact tier, on values.
//!
//! In: a packed state and what is asked of it. Out: transitions, truth values and findings with the interpreter's meaning. What an
//! event did is remembered by what it reads, so that a state that differs elsewhere is answered from memory.
//! Never here: which way is taken (`transitions`).

use super::effects::{Effect, Effects};
use super::state::StateLayout;
use super::system::{Program, Worker};
use bombus_evaluate::{Error, ErrorKind, Interpreter, Standing, Steps};
use bombus_lang::typed::Pred;
use bombus_system::{EventId, Sink};

/// Where the variables of an event stand.
pub(super) struct Reach {
    /// First register and number of registers of what it reads or writes: a variable that some path
    /// leaves alone keeps its value, so what is written counts as read.
    touched: Vec<(usize, usize)>,
    /// Slots it writes.
    written: Vec<usize>,
}

impl Reach {
    pub(super) fn all(layout: &StateLayout, effects: &Effects) -> Vec<Reach> {
        let of = |effect: &Effect| {
            let mut reach = Reach { touched: Vec::new(), written: Vec::new() };
            for (at, slot) in layout.slots.iter().enumerate() {
                let writes = effect.writes.contains(&slot.var);
                if writes {
                    reach.written.push(at);
                }
                if writes || effect.reads.contains(&slot.var) {
                    reach.touched.push((slot.reg as usize, slot.words as usize));
                }
            }
            reach
        };
        effects.events.iter().map(of).collect()
    }
}

impl<'m> Program<'m> {
    /// The state for the interpreter: what is asked of it one after the other shares one environment.
    fn stand<'w>(
        &self,
        worker: &'w mut Worker<'m>,
        state: &[u64],
    ) -> (&'w Interpreter<'m>, &'w mut Standing) {
        let Worker { standing, interpreter, .. } = worker;
        let here = match standing.take() {
            Some(here) if *here.0 == *state => here,
            other => {
                let values = self.values(state);
                (state.into(), interpreter.stand(other.map(|(_, place)| place), values))
            }
        };
        (interpreter, &mut standing.insert(here).1)
    }

    /// The truth of a predicate in a state, by the interpreter.
    pub(super) fn exact_holds(
        &self,
        worker: &mut Worker<'m>,
        pred: &Pred,
        state: &[u64],
    ) -> Result<bool, Error> {
        worker.fallbacks += 1;
        let (interpreter, place) = self.stand(worker, state);
        interpreter.holds_standing(place, pred)
    }

    fn exact_steps(&self, worker: &mut Worker<'m>, state: &[u64], event: EventId) -> Result<Steps, Error> {
        let (interpreter, place) = self.stand(worker, state);
        interpreter.steps_standing(place, event.0 as usize)
    }

    /// The transitions of one event, by the interpreter.
    pub(super) fn exact_event(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        event: EventId,
        sink: &mut dyn Sink,
    ) {
        worker.fallbacks += 1;
        match self.exact_steps(worker, state, event) {
            Ok(steps) => {
                let mut packed = Vec::new();
                for t in &steps.transitions {
                    self.pack_noting(self.layout.valuation(state), &t.target.variables, &mut packed);
                    sink.edge(event, self.label(event, &t.params, &t.results), &packed);
                }
                let mut told: Vec<ErrorKind> = Vec::new();
                for (_, e) in &steps.errors {
                    if !told.contains(&e.kind()) {
                        told.push(e.kind());
                        self.tell(e, Some(event), sink);
                    }
                }
                if let Some((_, e)) = steps.undefined_guards.first() {
                    sink.undefined_guard(event);
                    if self.options.strict_guards {
                        self.tell(e, Some(event), sink);
                    }
                }
                steps.incomplete.iter().for_each(|(_, e)| self.tell(e, Some(event), sink));
                steps.sampled.iter().for_each(|(_, e)| self.note(e, Some(event), sink));
            }
            Err(e) => self.tell(&e, Some(event), sink),
        }
    }

    /// Answers an event from memory, if the variables it reads had the same values before. The frame
    /// holds the state; what the event writes is a function of what it reads.
    pub(super) fn remembered(
        &self,
        worker: &mut Worker<'m>,
        state: &[u64],
        event: EventId,
        sink: &mut dyn Sink,
    ) -> bool {
        let e = event.0 as usize;
        let Worker { frame, steps, .. } = worker;
        let reach = &self.reaches[e];
        let known = steps.ask(e, |key| {
            for &(at, n) in &reach.touched {
                key.extend_from_slice(&frame.regs[at..at + n]);
            }
        });
        let writes = || reach.written.iter().map(|at| &self.layout.slots[*at]);
        match known {
            None => return false,
            Some(Some(list)) => {
                if list.is_empty() {
                    return true;
                }
                let mut target = state.to_vec();
                for (label, words) in list {
                    target.copy_from_slice(state);
                    let mut at = 0;
                    for slot in writes() {
                        for f in &slot.fields {
                            let fits = f.store(&words[at + f.part as usize..], &mut target);
                            debug_assert!(fits, "only what fits is remembered");
                        }
                        at += slot.words as usize;
                    }
                    sink.edge(event, *label, &target);
                }
                return true;
            }
            Some(None) => {}
        }
        let Ok(done) = self.exact_steps(worker, state, event) else { return false };
        if !done.errors.is_empty() || !done.undefined_guards.is_empty() || !done.incomplete.is_empty() {
            return false;
        }
        done.sampled.iter().for_each(|(_, e)| self.note(e, Some(event), sink));
        let mut list = Vec::with_capacity(done.transitions.len());
        let mut size = 0;
        let mut target = state.to_vec();
        for t in &done.transitions {
            let mut words = Vec::new();
            for &at in &reach.written {
                let (slot, value) = (&self.layout.slots[at], &t.target.variables[at]);
                let at = words.len();
                words.resize(at + slot.words as usize, 0);
                let fits = slot.layout.encode(value, &self.pool, &mut words[at..])
                    && slot.fields.iter().all(|f| f.store(&words[at + f.part as usize..], &mut target));
                if !fits {
                    return false;
                }
            }
            size += words.len() + 4;
            list.push((self.label(event, &t.params, &t.results), words.into_boxed_slice()));
        }
        worker.fallbacks += 1;
        for (label, words) in &list {
            target.copy_from_slice(state);
            let mut at = 0;
            for slot in writes() {
                for f in &slot.fields {
                    f.store(&words[at + f.part as usize..], &mut target);
                }
                at += slot.words as usize;
            }
            sink.edge(event, *label, &target);
        }
        worker.steps.learn(list, size);
        true
    }
}
