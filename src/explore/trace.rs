//! Traces: the path to a state, rebuilt from stored parents by replaying the system.
//!
//! In: a state's id. Out: steps from an initial state, each with event, label and words.
//! Never here: parameters and values as people read them.

use super::InternalError;
use super::sink::Notes;
use bombus_base::hash::HashSet;
use bombus_kernels::distant::upper;
use bombus_kernels::hash;
use bombus_kernels::parents::Level;
use bombus_kernels::visited::Visited;
use bombus_system::{EventId, Finding, FindingKind, Precision, Sink, System};
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

/// A path to a finding, and the finding as the last state shows it.
pub(super) struct Path {
    pub trace: Trace,
    pub finding: Finding,
}

/// Most states that are followed at once where identities are approximate.
const CANDIDATES: usize = 4096;

/// The path to the state `id`, in which `finding` was made. The parents say which states it goes
/// through; where several transitions lead from one to the next, the least by event and label is
/// taken.
///
/// Under a symmetry the parents name orbits. Any state of an orbit leads to the next orbit, so the
/// path starts at some initial state and goes on from there; the state it ends in need not be the
/// one in which the finding was made, but it shows the same. Where an identity is approximate, all
/// states with it are followed: one of them is of the orbit that was expanded.
pub(super) fn rebuild<S: System>(
    system: &S,
    visited: &Visited,
    levels: &[Level],
    id: u32,
    finding: &Finding,
) -> Result<Path, InternalError> {
    let mut chain = vec![id];
    let mut at = id;
    while let Some(parent) = visited.parent(levels, at) {
        if chain.len() as u64 > visited.bound() as u64 {
            return Err(InternalError("the parents of a state form a cycle".into()));
        }
        chain.push(parent);
        at = parent;
    }
    chain.reverse();
    on_a_thread(system, &Links::Ids(visited, chain), finding)
}

/// The path through the states whose fingerprints have these upper halves, on whatever machines they stand.
pub(super) fn follow<S: System>(
    system: &S,
    prints: &[u64],
    finding: &Finding,
) -> Result<Path, InternalError> {
    on_a_thread(system, &Links::Prints(prints), finding)
}

/// The path through these very states.
pub(super) fn through<S: System>(
    system: &S,
    states: &[Vec<u64>],
    finding: &Finding,
) -> Result<Path, InternalError> {
    on_a_thread(system, &Links::States(states), finding)
}

/// By what the states of a path are known.
enum Links<'a> {
    States(&'a [Vec<u64>]),
    Ids(&'a Visited, Vec<u32>),
    Prints(&'a [u64]),
}

impl Links<'_> {
    fn len(&self) -> usize {
        match self {
            Links::Ids(_, chain) => chain.len(),
            Links::Prints(chain) => chain.len(),
            Links::States(chain) => chain.len(),
        }
    }
}

fn on_a_thread<S: System>(system: &S, links: &Links<'_>, finding: &Finding) -> Result<Path, InternalError> {
    // Replay calls the system as a worker does, so it needs a worker's stack and a worker's care.
    let replay = || catch_unwind(AssertUnwindSafe(|| replay(system, links, finding)));
    let thread = std::thread::Builder::new().name("replay".into()).stack_size(256 << 20);
    let lost = || InternalError("replaying a trace failed".into());
    std::thread::scope(|scope| match thread.spawn_scoped(scope, replay) {
        Ok(handle) => handle.join().map_err(|_| lost())?.map_err(|_| lost())?,
        Err(_) => Err(lost()),
    })
}

/// A state that a path may go through, and the one before it.
struct Candidate {
    step: Step,
    before: usize,
}

fn replay<S: System>(system: &S, links: &Links<'_>, finding: &Finding) -> Result<Path, InternalError> {
    let mut scratch = system.replay_worker();
    let mut orbits = system.orbits();
    let mut identity = vec![0; orbits.as_ref().map_or(0, |o| o.words())];
    let mut layers: Vec<Vec<Candidate>> = Vec::with_capacity(links.len());
    let mut seat = match links {
        Links::Ids(visited, _) => Some(visited.seat(0)),
        Links::Prints(_) | Links::States(_) => None,
    };
    for at in 0..links.len() {
        let mut next: Vec<Candidate> = Vec::new();
        let mut exact = true;
        let froms: &[Candidate] = layers.last().map_or(&[], |layer| layer);
        for before in 0..froms.len().max(1) {
            let mut wanted = EdgeList { edges: Vec::new() };
            match froms.get(before) {
                None => system.initial(&mut scratch, &mut wanted),
                Some(from) => system.successors(&mut scratch, &from.step.state, &mut wanted),
            }
            for step in wanted.edges {
                let mut precision = Precision::Exact;
                let key = match &mut orbits {
                    None => &step.state,
                    Some(orbits) => {
                        precision = orbits.identity(&step.state, &mut identity);
                        &identity
                    }
                };
                let found = match (links, &mut seat) {
                    (Links::Ids(visited, chain), Some(seat)) => {
                        let session = visited.enter(seat);
                        let mut session = session.map_err(|_| InternalError("replay was aborted".into()))?;
                        session.find(key) == Some(chain[at])
                    }
                    (Links::Prints(chain), _) => {
                        let print = match &orbits {
                            Some(orbits) => orbits.print(key),
                            None => {
                                let meant = system.fingerprint(&mut scratch, key);
                                meant.unwrap_or_else(|| hash::words(key))
                            }
                        };
                        upper(print) == chain[at]
                    }
                    (Links::States(chain), _) => chain[at] == step.state,
                    (Links::Ids(..), None) => false,
                };
                exact &= !found || precision == Precision::Exact;
                if found {
                    next.push(Candidate { step, before });
                }
            }
        }
        if exact {
            // All candidates are alike: the least one stands for them.
            let least = next.into_iter().min_by_key(|c| (c.step.event, c.step.label));
            next = least.into_iter().collect();
        } else {
            let mut seen = HashSet::new();
            next.retain(|c| seen.insert(c.step.state.clone()));
            next.truncate(CANDIDATES);
        }
        if next.is_empty() {
            return Err(InternalError("a stored predecessor does not lead to its state".into()));
        }
        if layers.is_empty() {
            next.iter_mut().for_each(|c| c.step.event = None);
        }
        layers.push(next);
    }
    if let (Links::Ids(visited, _), Some(seat)) = (links, seat) {
        visited.rise(seat);
    }
    let ends = layers.last().map_or(&[][..], |layer| layer);
    let (mut at, finding) = match orbits {
        None => (0, finding.clone()),
        Some(_) => ends
            .iter()
            .enumerate()
            .find_map(|(i, c)| Some((i, shown_by(system, &mut scratch, &c.step.state, finding)?)))
            .ok_or_else(|| InternalError("a replayed trace does not show its finding".into()))?,
    };
    let mut trace: Trace = Vec::with_capacity(layers.len());
    for mut layer in layers.into_iter().rev() {
        let Candidate { step, before } = layer.swap_remove(at);
        trace.push(step);
        at = before;
    }
    trace.reverse();
    Ok(Path { trace, finding })
}

/// The finding of the kind of `like` that `state` shows. Its words may name other elements than those
/// of the state in which `like` was found.
fn shown_by<S: System>(
    system: &S,
    scratch: &mut S::Worker,
    state: &[u64],
    like: &Finding,
) -> Option<Finding> {
    if like.kind == FindingKind::Deadlock {
        return Some(like.clone());
    }
    let mut notes = Notes::default();
    system.check(scratch, state, None, &mut notes);
    let mut shown = std::mem::take(&mut notes.findings);
    if like.event.is_some() || shown.iter().all(|f| f.kind != like.kind) {
        let mut faults = Faults::default();
        system.successors(scratch, state, &mut faults);
        shown.extend(faults.0);
    }
    let same = |f: &&Finding| f.kind == like.kind && f.event == like.event;
    shown.iter().find(|f| same(f) && f.property == like.property).or(shown.iter().find(same)).cloned()
}

/// Collects what is wrong with the successors of one state.
#[derive(Default)]
struct Faults(Vec<Finding>);

impl Sink for Faults {
    fn edge(&mut self, _: EventId, _: u64, _: &[u64]) {}

    fn finding(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}

/// Collects the edges of one state.
struct EdgeList {
    edges: Vec<Step>,
}

impl Sink for EdgeList {
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]) {
        self.edges.push(Step { event: Some(event), label, state: target.to_vec() });
    }

    fn finding(&mut self, _: Finding) {}

    fn incomplete(&mut self, _: u32) {}

    fn undefined_guard(&mut self, _: EventId) {}
}
