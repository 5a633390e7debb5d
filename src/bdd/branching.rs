//! Claims about trees (CTL) by fixpoints on sets of states, and paths that show why one fails.
//!
//! In: a structure and a claim. Out: whether it holds in every initial state; if not, a path of real states, as far as
//! one path can tell. Paths are maximal: `AX f` is true in a deadlock, `EG f` may end in one.
//! Never here: texts of formulas.

use super::claim::{Branching, Decided, Ending, Tree};
use super::diagram::{Halted, Set};
use super::outcome::PathStep;
use super::structure::{Edge, Structure, always, rings, until};
use bombus_system::System;

/// Decides a claim. Without `shows` a violation has no path.
pub fn decide<S: System>(
    structure: &Structure<'_, '_, S>,
    claim: &Branching,
    shows: bool,
) -> Halted<Decided> {
    let mut labels: Vec<Set> = Vec::new();
    for tree in &claim.trees {
        structure.learner.diagrams.check()?;
        let label = label(structure, &labels, tree)?;
        labels.push(label);
    }
    let failing = structure.initial.without(&labels[claim.root])?;
    let Some(first) = failing.pick() else { return Ok(Decided::Holds) };
    if !shows {
        return Ok(Decided::Path(Vec::new(), Ending::Open));
    }
    let state = structure.learner.encoding.state(&first);
    let mut explaining =
        Explaining { structure, claim, labels, worker: structure.learner.system.replay_worker() };
    let (path, end) = explaining.explain(claim.root, PathStep { event: None, label: 0, state }, false)?;
    Ok(Decided::Path(path, end))
}

fn label<S: System>(structure: &Structure<'_, '_, S>, labels: &[Set], tree: &Tree) -> Halted<Set> {
    let any = |set: &Set| structure.before(|_| true, set);
    Ok(match tree {
        Tree::True => structure.states.clone(),
        Tree::State(fact) => structure.fact(fact)?,
        Tree::Not(f) => structure.states.without(&labels[*f])?,
        Tree::And(f, g) => labels[*f].and(&labels[*g])?,
        Tree::Or(f, g) => labels[*f].or(&labels[*g])?,
        Tree::Next(None, f) => any(&labels[*f])?,
        Tree::Next(Some(by), f) => structure.before(|i| by.contains(&(i as u32)), &labels[*f])?,
        Tree::Until(f, g) => until(&labels[*f], &labels[*g], any)?,
        Tree::Globally(f) => {
            let ends = structure.dead.and(&labels[*f])?;
            always(&labels[*f], &ends, any)?
        }
    })
}

struct Explaining<'e, 'a, 's, S: System> {
    structure: &'e Structure<'a, 's, S>,
    claim: &'e Branching,
    labels: Vec<Set>,
    worker: S::Worker,
}

type Shown = (Vec<PathStep>, Ending);

impl<S: System> Explaining<'_, '_, '_, S> {
    fn holds(&self, tree: usize, state: &[u64]) -> bool {
        self.structure.has(&self.labels[tree], state)
    }

    /// A path that begins with a step and shows why a formula has the given truth behind it. The recursion is as deep
    /// as the claim, which its parser bounds.
    fn explain(&mut self, tree: usize, from: PathStep, truth: bool) -> Halted<Shown> {
        let claim = self.claim;
        match (&claim.trees[tree], truth) {
            (Tree::Not(f), _) => self.explain(*f, from, !truth),
            (Tree::Or(f, g), true) | (Tree::And(f, g), false) => {
                let first = self.holds(*f, &from.state) == truth;
                self.explain(if first { *f } else { *g }, from, truth)
            }
            // Both sides matter; the one that has a path to show is shown.
            (Tree::And(f, g), true) | (Tree::Or(f, g), false) => {
                let first = self.explain(*f, from.clone(), truth)?;
                if first.0.len() > 1 { Ok(first) } else { self.explain(*g, from, truth) }
            }
            (Tree::Next(by, f), true) => {
                let allowed = |e: &Edge| by.as_ref().is_none_or(|by| by.contains(&e.instance));
                match self.step(&from.state, &self.labels[*f].clone(), allowed) {
                    Some(next) => {
                        let rest = self.explain(*f, next, true)?;
                        Ok(joined(vec![from], rest))
                    }
                    None => Ok((vec![from], Ending::Open)),
                }
            }
            (Tree::Until(f, g), true) => self.way(from, *f, *g),
            (Tree::Globally(_), true) => Ok(self.round(from, &self.labels[tree].clone())),
            _ => Ok((vec![from], Ending::Open)),
        }
    }

    /// The first step from a state into a set.
    fn step(&mut self, from: &[u64], into: &Set, allowed: impl Fn(&Edge) -> bool) -> Option<PathStep> {
        let structure = self.structure;
        let edges = structure.edges(&mut self.worker, from);
        let edge = edges.into_iter().find(|e| allowed(e) && structure.has(into, &e.target))?;
        Some(PathStep { event: Some(edge.event), label: edge.label, state: edge.target })
    }

    /// The shortest way through states of `f` to one of `g`, and what shows `g` there.
    fn way(&mut self, from: PathStep, f: usize, g: usize) -> Halted<Shown> {
        let structure = self.structure;
        let start = structure.single(&from.state)?;
        let found = |ring: &Set| Ok(!ring.and(&start)?.is_empty());
        let rings = rings(&self.labels[f], &self.labels[g], |set| structure.before(|_| true, set), found)?;
        let mut path = vec![from];
        for ring in rings.iter().rev().skip(1) {
            let Some(next) = self.step(&path[path.len() - 1].state, ring, |_| true) else {
                return Ok((path, Ending::Open));
            };
            path.push(next);
        }
        let last = path.pop().expect("a path has its first step");
        let rest = self.explain(g, last, true)?;
        Ok(joined(path, rest))
    }

    /// Goes on within a set until a state comes again or has no step.
    fn round(&mut self, from: PathStep, inside: &Set) -> Shown {
        let mut path = vec![from];
        loop {
            let at = path[path.len() - 1].state.clone();
            let Some(next) = self.step(&at, inside, |_| true) else {
                let stuck = self.structure.has(&self.structure.dead, &at);
                return (path, if stuck { Ending::Deadlock } else { Ending::Open });
            };
            let entry = path.iter().position(|s| s.state == next.state);
            path.push(next);
            if let Some(entry) = entry {
                return (path, Ending::Loop(entry));
            }
        }
    }
}

/// A path and what follows its last step.
fn joined(mut path: Vec<PathStep>, (rest, end): Shown) -> Shown {
    let end = match end {
        Ending::Loop(entry) => Ending::Loop(entry + path.len()),
        other => other,
    };
    path.extend(rest);
    (path, end)
}
