//! The way to a finding: rings around the initial states, walked back from the state that shows it.
//!
//! In: learned relations, sets of states that show findings. Out: a path of real states, as short as the relations
//! know. Rings are computed anew when something is found, so that a search keeps no sets that it does not need.
//! Never here: whether the last state shows the finding to others.

use super::diagram::{Halted, Set};
use super::learn::{Heard, Learner};
use super::outcome::PathStep;
use bombus_system::System;

/// The shortest path to one of the targets, and which it is.
pub fn shortest<S: System>(
    learner: &Learner<'_, S>,
    initial: &Set,
    targets: &[Set],
) -> Halted<Option<(usize, Vec<PathStep>)>> {
    let mut rings = vec![initial.clone()];
    let mut all = initial.clone();
    loop {
        let ring = &rings[rings.len() - 1];
        for (i, target) in targets.iter().enumerate() {
            if let Some(state) = ring.and(target)?.pick() {
                return Ok(Some((i, walk_back(learner, &rings, &learner.encoding.state(&state))?)));
            }
        }
        let mut next = Vec::new();
        for step in learner.steps.iter().filter(|s| !s.is_idle()) {
            next.push(step.image(ring)?);
        }
        let next = learner.diagrams.union(next)?.without(&all)?;
        if next.is_empty() {
            return Ok(None);
        }
        all = all.or(&next)?;
        rings.push(next);
    }
}

/// The states of a path that ends in `last`, a member of the last ring.
fn walk_back<S: System>(learner: &Learner<'_, S>, rings: &[Set], last: &[u64]) -> Halted<Vec<PathStep>> {
    let mut states = vec![last.to_vec()];
    for ring in rings[..rings.len() - 1].iter().rev() {
        let at = learner.encoding.assignment(&states[states.len() - 1]);
        let here = learner.diagrams.cube(learner.encoding.current.iter().map(|v| (*v, at[*v as usize])))?;
        let mut before = None;
        for step in learner.steps.iter().filter(|s| !s.is_idle()) {
            before = step.preimage(&here)?.and(ring)?.pick();
            if before.is_some() {
                break;
            }
        }
        let before = before.expect("a state of a ring has a predecessor in the ring before");
        states.push(learner.encoding.state(&before));
    }
    states.reverse();
    Ok(labelled(learner.system, states))
}

/// The states with the transitions between them: of several the least by event and label.
fn labelled<S: System>(system: &S, states: Vec<Vec<u64>>) -> Vec<PathStep> {
    let mut worker = system.replay_worker();
    let mut heard = Heard::default();
    let mut path: Vec<PathStep> = Vec::new();
    for state in states {
        let (event, label) = match path.last() {
            None => (None, 0),
            Some(before) => {
                heard.look_at(Some(&before.state));
                system.successors(&mut worker, &before.state, &mut heard);
                let led_here = heard.edges().iter().filter(|e| e.2 == state);
                let least = led_here.map(|e| (e.0, e.1)).min();
                least.map_or((None, 0), |(event, label)| (Some(event), label))
            }
        };
        path.push(PathStep { event, label, state });
    }
    path
}
