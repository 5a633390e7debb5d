//! Refinement as a `System`: the implementation beside the normal form of the specification.
//!
//! In: a machine and a normal form. Out: states of both; the first state with a finding ends a shortest
//! counterexample. Never here: divergence of the implementation, which is a matter of the whole graph.

use super::machine::{Machine, Scratch};
use super::normal::{Normal, acceptance_of, subset};
use super::term::TAU;
use super::tree::Semantics;
use bombus_system::{EventId, Finding, FindingKind, Sink, System};

/// `Finding::property` of a trace that the specification does not have.
pub const TRACE: u32 = 0;
/// `Finding::property` of a refusal that the specification does not have.
pub const REFUSAL: u32 = 1;
/// Properties from here on are faults of the implementation.
pub const FAULT: u32 = 2;

pub struct Refinement<'a> {
    pub machine: &'a Machine,
    pub normal: &'a Normal,
    pub semantics: Semantics,
}

impl Refinement<'_> {
    /// The node of a state; `None` after an event that the specification does not have.
    pub fn node(&self, state: &[u64]) -> Option<u32> {
        (state[state.len() - 1] as u32).checked_sub(1)
    }

    pub fn process<'s>(&self, state: &'s [u64]) -> &'s [u64] {
        &state[..state.len() - 1]
    }

    pub(super) fn start(&self) -> Vec<u64> {
        let mut state = self.machine.start();
        state.push(1);
        state
    }

    /// The transitions of a state, unless its process has a fault or was not looked at.
    pub(super) fn moves(&self, scratch: &mut Scratch, state: &[u64]) -> Option<Vec<(u32, Vec<u64>)>> {
        let Some(number) = self.node(state) else { return Some(Vec::new()) };
        let moves = self.machine.moves(scratch, self.process(state)).ok()?;
        let beside = |event: u32| if event == TAU { Some(number) } else { self.normal.after(number, event) };
        let target = |event: u32, to: &[u64]| [to, &[beside(event).map_or(0, |n| u64::from(n) + 1)]].concat();
        Some(moves.map(|(event, to)| (event, target(event, to))).collect())
    }

    /// Whether a state with these events refuses what the specification never refuses.
    pub(super) fn refuses(&self, state: &[u64], events: impl Iterator<Item = u32>) -> bool {
        let Some(number) = self.node(state) else { return false };
        let node = &self.normal.nodes[number as usize];
        acceptance_of(events)
            .is_some_and(|accepted| !node.acceptances.iter().any(|least| subset(least, &accepted)))
    }
}

impl System for Refinement<'_> {
    type Worker = (Scratch, Vec<u64>);

    fn worker(&self) -> Self::Worker {
        (self.machine.worker(), Vec::new())
    }

    fn words(&self) -> usize {
        self.machine.words() + 1
    }

    fn event_names(&self) -> &[String] {
        self.machine.event_names()
    }

    fn constant_valuations(&self) -> usize {
        0
    }

    fn initial(&self, _: &mut Self::Worker, sink: &mut dyn Sink) {
        sink.edge(EventId(0), 0, &self.start());
    }

    fn successors(&self, (scratch, target): &mut Self::Worker, state: &[u64], sink: &mut dyn Sink) {
        let Some(number) = self.node(state) else { return };
        let node = &self.normal.nodes[number as usize];
        if self.semantics == Semantics::Divergences && node.divergent {
            return;
        }
        let moves = match self.machine.moves(scratch, self.process(state)) {
            Ok(moves) => moves,
            Err(Some(fault)) => {
                let property = FAULT + fault;
                sink.finding(Finding { kind: FindingKind::WellDefinedness, property, event: None });
                return;
            }
            Err(None) => return sink.incomplete(0),
        };
        let mut events = Vec::new();
        for (event, to) in moves {
            events.push(event);
            let next = if event == TAU { Some(number) } else { self.normal.after(number, event) };
            target.clear();
            target.extend_from_slice(to);
            target.push(next.map_or(0, |n| u64::from(n) + 1));
            sink.edge(self.machine.channel(event), u64::from(event), target);
        }
        if self.semantics != Semantics::Traces && self.refuses(state, events.into_iter()) {
            sink.finding(Finding { kind: FindingKind::Refinement, property: REFUSAL, event: None });
        }
    }

    fn check(&self, _: &mut Self::Worker, state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        if self.node(state).is_none() {
            sink.finding(Finding { kind: FindingKind::Refinement, property: TRACE, event: None });
        }
    }

    fn property(&self, finding: &Finding) -> String {
        match (finding.kind, finding.property) {
            (FindingKind::WellDefinedness, fault) => {
                let property = fault - FAULT;
                self.machine.property(&Finding { property, ..finding.clone() })
            }
            (_, REFUSAL) => "refusal".to_string(),
            _ => "trace".to_string(),
        }
    }

    fn reason(&self, reason: u32) -> String {
        self.machine.reason(reason)
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        self.machine.describe(self.process(state))
    }
}
