//! Counts of the checked machine as far as clients may call it: combined states seen without their abstract part.
//!
//! In: the combined states and steps of one valuation of the constants. Out: figures like those of a search of the
//! machine alone, for a machine that alone does what no client can make it do.

use crate::called::Values;
use crate::lockstep::{Search, Step};
use crate::search::Coverage;
use bombus_base::hash::HashSet;
use bombus_lang::value::digest::SetDigest;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub struct Reached {
    pub states: u64,
    pub transitions: u64,
    /// Valuations of the constants.
    pub valuations: u64,
    pub initial: u64,
    pub depth: u64,
    pub coverage: Vec<Coverage>,
    /// For each event in how many states its guard had no truth value for some call.
    pub undefined_guards: Vec<u64>,
    pub digest: SetDigest,
}

/// Distinct steps of one valuation.
#[derive(Default)]
pub(crate) struct Tally {
    steps: HashSet<(u32, usize, Values, Values, u32)>,
    /// States and events whose guard has no truth value there for some call.
    undefined: BTreeSet<(u32, usize)>,
}

impl Tally {
    pub(crate) fn step(&mut self, from: u32, step: &Step, to: u32) {
        self.steps.insert((from, step.event, step.params.clone(), step.results.clone(), to));
    }

    pub(crate) fn undefined_guard(&mut self, state: u32, event: usize) {
        self.undefined.insert((state, event));
    }
}

impl Search<'_> {
    /// Adds the states and steps of a valuation, which has this number.
    pub(crate) fn count(&mut self, valuation: u64) {
        let reached = &mut self.result.reached;
        reached.valuations += 1;
        reached.coverage.resize(self.chain.events.len(), Coverage::default());
        let mut enabled = BTreeSet::new();
        for (from, event, ..) in self.tally.steps.drain() {
            reached.transitions += 1;
            reached.coverage[event].transitions += 1;
            if enabled.insert((from, event)) {
                reached.coverage[event].states += 1;
            }
        }
        reached.undefined_guards.resize(self.chain.events.len(), 0);
        for (_, event) in std::mem::take(&mut self.tally.undefined) {
            reached.undefined_guards[event] += 1;
        }
        // Nodes come in the order of their depth, so the first one of a concrete state is the nearest.
        let mut depths: Vec<u64> = Vec::with_capacity(self.nodes.len());
        let mut seen = BTreeSet::new();
        for node in &self.nodes {
            let depth = node.from.as_ref().map_or(0, |(before, _)| depths[*before] + 1);
            depths.push(depth);
            if seen.insert(node.concrete) {
                reached.depth = reached.depth.max(depth);
                reached.states += 1;
                let mut bytes = valuation.to_le_bytes().to_vec();
                self.concretes.get(node.concrete).iter().for_each(|v| v.encode(&mut bytes));
                reached.digest.add(&bytes);
            }
        }
    }
}
