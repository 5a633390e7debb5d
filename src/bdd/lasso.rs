//! A violating path of the tableau, walked forward through sets that were computed backward.
//!
//! In: rings around the positions that last, the demands that a path meets there for ever. Out: the states of a path that
//! ends in a deadlock or comes round, each reached from the one before by a real step.
//! Never here: how the sets were found.

use super::diagram::{Halted, Set};
use super::linear::{Demands, Tableau};
use super::structure::rings;
use bombus_system::System;

/// Steps of a path at most; a longer one is of no use to anybody.
const STEPS: usize = 100_000;

struct Position {
    state: Vec<u64>,
    values: Vec<bool>,
    single: Set,
}

struct Walk<'w, 't, 'a, 's, S: System> {
    tableau: &'w Tableau<'t, 'a, 's, S>,
    worker: S::Worker,
    at: Position,
    states: Vec<Vec<u64>>,
}

/// The states of a path from a position in the last of `to`, rings around `lasting` and deadlocks; none if it would
/// be too long.
pub fn states<S: System>(
    tableau: &Tableau<'_, '_, '_, S>,
    demands: &Demands,
    lasting: &Set,
    to: &[Set],
    first: &[bool],
) -> Halted<Option<Vec<Vec<u64>>>> {
    let at = position(tableau, first)?;
    let states = vec![at.state.clone()];
    let mut walk = Walk { tableau, worker: tableau.structure.learner.system.replay_worker(), at, states };
    if !walk.go(to)? {
        return Ok(None);
    }
    if lasting.and(&walk.at.single)?.is_empty() {
        return Ok(Some(walk.states));
    }
    let before = |set: &Set| tableau.before(set);
    let never = |_: &Set| Ok(false);
    let wanted = demands.justice.iter().chain(demands.compassion.iter().map(|(_, taken)| taken));
    let mut ways = Vec::new();
    for set in wanted {
        ways.push(rings(lasting, &lasting.and(set)?, before, never)?);
    }
    loop {
        // One step, one visit to all that is wanted, and back. Where there is no way back, the next round begins in a
        // component further down.
        let start = walk.at.single.clone();
        if walk.states.len() > STEPS || !walk.step(lasting)? {
            return Ok(None);
        }
        for way in &ways {
            if way.iter().any(|ring| ring.and(&walk.at.single).is_ok_and(|both| !both.is_empty()))
                && !walk.go(way)?
            {
                return Ok(None);
            }
        }
        let back = rings(lasting, &start, before, |ring| Ok(!ring.and(&walk.at.single)?.is_empty()))?;
        if back.last().is_some_and(|ring| !ring.is_empty()) {
            return Ok(walk.go(&back)?.then_some(walk.states));
        }
    }
}

fn position<S: System>(tableau: &Tableau<'_, '_, '_, S>, values: &[bool]) -> Halted<Position> {
    let learner = tableau.structure.learner;
    let vars = learner.encoding.current.iter().copied().chain(tableau.own_variables());
    let single = learner.diagrams.cube(vars.map(|v| (v, values[v as usize])))?;
    Ok(Position { state: learner.encoding.state(values), values: values.to_vec(), single })
}

impl<S: System> Walk<'_, '_, '_, '_, S> {
    /// Takes a step into a set of positions; false if there is none.
    fn step(&mut self, into: &Set) -> Halted<bool> {
        let (tableau, structure) = (self.tableau, self.tableau.structure);
        let class = tableau.class_at(&self.at.values);
        let next = tableau.following(&self.at.values, &self.at.single)?.and(into)?;
        for edge in structure.edges(&mut self.worker, &self.at.state) {
            if tableau.classes[edge.instance as usize] != class {
                continue;
            }
            if let Some(values) = next.and(&structure.single(&edge.target)?)?.pick() {
                self.at = position(tableau, &values)?;
                self.states.push(self.at.state.clone());
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Follows rings from the one that the position is in to the first.
    fn go(&mut self, rings: &[Set]) -> Halted<bool> {
        let mut inside = None;
        for (i, ring) in rings.iter().enumerate() {
            if !ring.and(&self.at.single)?.is_empty() {
                inside = Some(i);
                break;
            }
        }
        let Some(ring) = inside else { return Ok(false) };
        for ring in rings[..ring].iter().rev() {
            if self.states.len() > STEPS || !self.step(ring)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
