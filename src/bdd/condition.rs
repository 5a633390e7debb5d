//! Learned conditions: where an invariant, an assertion, a goal or a hint holds.
//!
//! In: sets of reached states, a system that evaluates conditions in single states. Out: the states in which a
//! condition has the truth value that is looked for. As with steps, one real state for each valuation of what a part
//! reads is enough. Never here: what follows from it.
//!
//! A condition is a conjunction of parts (or a disjunction, where truth is looked for). The whole is asked first: where
//! nothing is found, all parts are fine. Else the parts are asked one by one. If none of them explains it the parts are
//! given up, and the condition is learned as a whole.

use super::diagram::{Diagrams, Halted, Set};
use super::encoding::Encoding;
use super::learn::{Heard, View};
use bombus_system::{Condition, Finding, System};

pub struct Learned {
    pub finding: Option<Finding>,
    number: usize,
    found_if: bool,
    parts: Vec<Part>,
    /// All that the parts read together.
    reads: Vec<u64>,
    /// The condition had no truth value in some state.
    pub unknown: bool,
}

struct Part {
    view: View,
    /// The number of the part in the system; `None` for the condition as a whole.
    number: Option<usize>,
    askable: bool,
    /// Valuations for which the truth value that is looked for was found.
    found: Set,
    fresh: Vec<Set>,
}

impl Learned {
    pub fn new(
        number: usize,
        condition: &Condition,
        encoding: &Encoding,
        diagrams: &Diagrams,
    ) -> Halted<Learned> {
        let mut reads: Vec<u64> = Vec::new();
        let mut parts = Vec::new();
        for (i, part) in condition.parts.iter().enumerate() {
            diagrams.check()?;
            reads.resize(part.reads.len(), 0);
            reads.iter_mut().zip(&part.reads).for_each(|(all, r)| *all |= r);
            parts.push(Part {
                view: View::new(&part.reads, encoding, diagrams)?,
                number: Some(i),
                askable: part.askable,
                found: diagrams.none.clone(),
                fresh: Vec::new(),
            });
        }
        Ok(Learned {
            finding: condition.finding.clone(),
            number,
            found_if: condition.found_if,
            parts,
            reads,
            unknown: false,
        })
    }

    /// The members of `states` in which the condition has the truth value that is looked for. States in which it has
    /// none are not among them; what the system says of them is heard.
    pub fn find<S: System>(&mut self, states: &Set, ask: &mut Asking<'_, S>) -> Halted<Set> {
        let mut at = 0;
        while at < self.parts.len() {
            let mut open = self.parts[at].view.unseen(ask.diagrams, states)?;
            let mut given_up = false;
            while let Some((sample, rest)) = self.parts[at].view.sample(ask.diagrams, states, &open)? {
                ask.diagrams.check()?;
                open = rest;
                if !self.look(&sample.first, ask)? {
                    given_up = true;
                    break;
                }
            }
            at += 1;
            if given_up {
                self.give_parts_up(ask)?;
                at = 0;
            }
        }
        let mut found = Vec::new();
        for part in &mut self.parts {
            let fresh = ask.diagrams.union(std::mem::take(&mut part.fresh))?;
            part.found = part.found.or(&fresh)?;
            found.push(states.and(&part.found)?);
        }
        ask.diagrams.union(found)
    }

    /// Looks at one state; false if the parts do not explain what is found there.
    fn look<S: System>(&mut self, assignment: &[bool], ask: &mut Asking<'_, S>) -> Halted<bool> {
        let state = ask.encoding.state(assignment);
        ask.heard.look_at(Some(&state));
        *ask.asked += 1;
        let whole = ask.system.condition(ask.worker, &state, self.number, None, ask.heard);
        self.unknown |= whole.is_none();
        let alone = self.parts.len() == 1;
        let mut explained = whole != Some(self.found_if);
        for part in &mut self.parts {
            let fine = whole == Some(!self.found_if);
            if fine || alone {
                explained |= alone;
                if let Some(cube) = part.view.meet(ask.diagrams, &state, assignment)?
                    && !fine
                    && whole.is_some()
                {
                    part.fresh.push(cube);
                }
                continue;
            }
            let truth = match part.askable {
                true => ask.system.condition(ask.worker, &state, self.number, part.number, ask.heard),
                false => None,
            };
            let Some(truth) = truth else { return Ok(false) };
            explained |= truth == self.found_if;
            if let Some(cube) = part.view.meet(ask.diagrams, &state, assignment)?
                && truth == self.found_if
            {
                part.fresh.push(cube);
            }
        }
        Ok(explained)
    }

    /// Starts again with the condition as a whole.
    fn give_parts_up<S: System>(&mut self, ask: &Asking<'_, S>) -> Halted<()> {
        let part = Part {
            view: View::new(&self.reads, ask.encoding, ask.diagrams)?,
            number: None,
            askable: false,
            found: ask.diagrams.none.clone(),
            fresh: Vec::new(),
        };
        self.parts = vec![part];
        Ok(())
    }
}

/// Who is asked about single states.
pub struct Asking<'a, S: System> {
    pub system: &'a S,
    pub worker: &'a mut S::Worker,
    pub encoding: &'a Encoding,
    pub diagrams: &'a Diagrams,
    pub heard: &'a mut Heard,
    pub asked: &'a mut u64,
}
