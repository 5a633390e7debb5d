//! Full graphs of random systems by the plainest search, and what is looked for in them.

use super::super::{Chooser, Method, Preserve};
use super::random::Guarded;
use bombus_graph::{Graph, NodeId};
use std::collections::BTreeMap;

/// Successors of each reachable state.
pub struct Full {
    pub initial: Vec<u64>,
    pub states: BTreeMap<u64, Vec<u64>>,
}

impl Full {
    pub fn of(system: &Guarded) -> Full {
        let mut states = BTreeMap::new();
        let mut work = system.initial.clone();
        while let Some(s) = work.pop() {
            if states.contains_key(&s) {
                continue;
            }
            let next: Vec<u64> = system.instances.iter().flat_map(|i| i.targets(s)).collect();
            work.extend(&next);
            states.insert(s, next);
        }
        Full { initial: system.initial.clone(), states }
    }

    /// The graph that a search recorded.
    pub fn of_graph(system: &Guarded, graph: &Graph) -> Full {
        let word = |n: NodeId| graph.state(n).expect("states are stored")[0];
        let states = (0..graph.nodes() as u32)
            .map(|n| (word(NodeId(n)), graph.forward.from(NodeId(n)).map(|(_, t)| word(t)).collect()))
            .collect();
        // Where states stand for their orbits, those that are initial do so too.
        let stands = |s: &u64| system.alike.map_or(*s, |alike| alike.sorted(*s));
        Full { initial: system.initial.iter().map(stands).collect(), states }
    }

    pub fn deadlocks(&self) -> u64 {
        self.stuck().count() as u64
    }

    pub fn stuck(&self) -> impl Iterator<Item = u64> {
        self.states.iter().filter(|(_, next)| next.is_empty()).map(|(s, _)| *s)
    }

    /// Whether a bad state is reachable.
    pub fn bad(&self, system: &Guarded) -> bool {
        self.states.keys().any(|s| system.satisfies(*s, &system.bad))
    }

    /// Which paths there are, of some kinds that are the same up to stuttering: for propositions p and
    /// q, a maximal path on which p always holds; one on which p holds from some time on; one on which
    /// p holds until q does; and one on which p and q each hold again and again.
    pub fn paths(&self, system: &Guarded) -> Vec<bool> {
        let mut found = Vec::new();
        let mut holds: Vec<Box<dyn Fn(u64) -> bool>> = Vec::new();
        for p in &system.propositions {
            holds.push(Box::new(|s| system.satisfies(s, p)));
            holds.push(Box::new(|s| !system.satisfies(s, p)));
        }
        for p in &holds {
            let for_ever = self.for_ever(p);
            found.push(self.initial.iter().any(|s| for_ever.contains(s)));
            found.push(!for_ever.is_empty());
            for q in &holds {
                found.push(self.until(p, q));
                found.push(self.again_and_again(p, q));
            }
        }
        found
    }

    /// States from which p can hold for ever: the greatest set of p-states that are deadlocks or have
    /// a successor in it.
    fn for_ever(&self, p: &dyn Fn(u64) -> bool) -> Vec<u64> {
        let mut set: Vec<u64> = self.states.keys().copied().filter(|s| p(*s)).collect();
        loop {
            let keep = |s: &u64| self.states[s].is_empty() || self.states[s].iter().any(|t| set.contains(t));
            let next: Vec<u64> = set.iter().copied().filter(keep).collect();
            if next.len() == set.len() {
                return set;
            }
            set = next;
        }
    }

    fn until(&self, p: &dyn Fn(u64) -> bool, q: &dyn Fn(u64) -> bool) -> bool {
        let mut seen = self.initial.clone();
        let mut work = self.initial.clone();
        while let Some(s) = work.pop() {
            if q(s) {
                return true;
            }
            if p(s) {
                for t in &self.states[&s] {
                    if !seen.contains(t) {
                        seen.push(*t);
                        work.push(*t);
                    }
                }
            }
        }
        false
    }

    /// A path on which p holds infinitely often and q does; staying in a deadlock counts.
    fn again_and_again(&self, p: &dyn Fn(u64) -> bool, q: &dyn Fn(u64) -> bool) -> bool {
        self.states.keys().any(|&s| {
            p(s) && {
                let onward = self.reach(s);
                let stays = self.states[&s].is_empty() && q(s);
                stays || onward.iter().any(|&t| q(t) && (self.reach(t).contains(&s)))
            }
        })
    }

    /// States reachable by at least one step.
    fn reach(&self, from: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        let mut work = self.states[&from].clone();
        while let Some(s) = work.pop() {
            if !seen.contains(&s) {
                seen.push(s);
                work.extend(&self.states[&s]);
            }
        }
        seen
    }
}

/// Whether the paper's algorithm 5 finds a bad state when it takes the newest state first: a state is
/// expanded in full when a step leads to an expanded state that was found before it.
pub fn algorithm_5(system: &Guarded) -> bool {
    let r = &system.relations;
    let mut chooser = Chooser::new(r, Method::Stubborn, Preserve::States);
    let mut number: BTreeMap<u64, usize> = system.initial.iter().enumerate().map(|(n, s)| (*s, n)).collect();
    let mut queue = system.initial.clone();
    while let Some(s) = queue.pop() {
        if system.satisfies(s, &system.bad) {
            return true;
        }
        let mut enabled = vec![0u64; r.width()];
        for (i, _) in system.instances.iter().enumerate().filter(|(_, i)| i.enabled(s)) {
            enabled[i / 64] |= 1 << (i % 64);
        }
        let mut holds = |g: bombus_system::GuardId| {
            use bombus_system::System;
            system.guard(&mut (), &[s], g)
        };
        let chosen = chooser.choose(&enabled, &mut holds).map(<[u64]>::to_vec);
        // The stutter condition of the paper: no member is visible.
        let chosen = chosen.filter(|set| bombus_system::ones(set).all(|i| !r.is_visible(i)));
        let mut follow: Vec<usize> = bombus_system::ones(chosen.as_ref().unwrap_or(&enabled)).collect();
        let closes = |i: &usize| {
            system.instances[*i]
                .targets(s)
                .iter()
                .any(|t| number.get(t).is_some_and(|n| number[&s] >= *n && !queue.contains(t)))
        };
        if chosen.is_some() && follow.iter().any(closes) {
            follow = bombus_system::ones(&enabled).collect();
        }
        for i in follow {
            for t in system.instances[i].targets(s) {
                if !number.contains_key(&t) {
                    number.insert(t, number.len());
                    queue.push(t);
                }
            }
        }
    }
    false
}
