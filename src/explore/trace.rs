//! Traces: the path to a state, rebuilt from stored parents by replaying the system.
//!
//! In: a state's id. Out: steps from an initial state, each with event, label and words.
//! Never here: parameters and values as people read them.

use super::InternalError;
use crate::system::{EventId, Finding, Sink, System};
use bombus_kernels::parents::Level;
use bombus_kernels::visited::Visited;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One step of a path: how a state was reached, and the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `None` for the initial state.
    pub event: Option<EventId>,
    /// Tells apart transitions of one event, see `Sink::edge`.
    pub label: u64,
    pub state: Vec<u64>,
}

/// A path; the first step is an initial state.
pub type Trace = Vec<Step>;

/// The path to the state `id`. The parents say which states it goes through; where several
/// transitions lead from one to the next, the least by event and label is taken.
pub(super) fn rebuild<S: System>(
    system: &S,
    visited: &Visited,
    levels: &[Level],
    id: u32,
) -> Result<Trace, InternalError> {
    let mut chain = vec![id];
    let mut at = id;
    while let Some(parent) = visited.parents.resolve(levels, at) {
        if chain.len() as u64 > visited.bound() as u64 {
            return Err(InternalError("the parents of a state form a cycle".into()));
        }
        chain.push(parent);
        at = parent;
    }
    chain.reverse();
    // Replay calls the system as a worker does, so it needs a worker's stack and a worker's care.
    let replay = || catch_unwind(AssertUnwindSafe(|| replay(system, visited, &chain)));
    let thread = std::thread::Builder::new().name("replay".into()).stack_size(256 << 20);
    let lost = || InternalError("replaying a trace failed".into());
    std::thread::scope(|scope| match thread.spawn_scoped(scope, replay) {
        Ok(handle) => handle.join().map_err(|_| lost())?.map_err(|_| lost())?,
        Err(_) => Err(lost()),
    })
}

fn replay<S: System>(system: &S, visited: &Visited, chain: &[u32]) -> Result<Trace, InternalError> {
    let mut scratch = system.replay_worker();
    let mut trace: Trace = Vec::with_capacity(chain.len());
    let mut seat = visited.seat(0);
    for &id in chain {
        let mut wanted = Wanted { edges: Vec::new() };
        match trace.last() {
            None => system.initial(&mut scratch, &mut wanted),
            Some(step) => system.successors(&mut scratch, &step.state, &mut wanted),
        }
        let mut session = visited.enter(&mut seat).map_err(|_| InternalError("replay was aborted".into()))?;
        let first = trace.is_empty();
        let step = wanted
            .edges
            .into_iter()
            .filter(|step| session.find(&step.state) == Some(id))
            .min_by_key(|step| (step.event, step.label));
        let Some(mut step) = step else {
            return Err(InternalError("a stored predecessor does not lead to its state".into()));
        };
        if first {
            step.event = None;
        }
        trace.push(step);
    }
    visited.rise(seat);
    Ok(trace)
}

/// Collects the edges of one state.
struct Wanted {
    edges: Vec<Step>,
}

impl Sink for Wanted {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push(Step { event: Some(event), label, state: target.to_vec() });
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
