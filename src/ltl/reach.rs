//! Layers of the product: what is reached in 0, 1, 2, … steps, on all threads.
//!
//! In: the product. Out: the nearest node of a kind and the way to it, or every node that is reached; and
//! the part of them that cycles may lie in. Never here: which cycles are accepting.
//!
//! Threads race for the nodes of a layer, but the layer as a set and the least node of a kind in it do not
//! depend on who wins; nor does the way, which is found again from its end. Four bytes for each node
//! that is reached, a bit for each that might be.

use super::bits::Bits;
use super::check::Size;
use super::product::{Product, Step, Visit};
use super::view::Graph;
use crate::base::budget::{Budget, Stop};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nodes that one thread takes at a time; smaller layers are not shared.
const SHARE: usize = 2048;

/// Rounds of `trim`: a long path loses one node per round, components decide about the rest at once.
const ROUNDS: usize = 24;

pub(super) struct Layers {
    seen: Vec<AtomicU64>,
    nodes: Vec<u32>,
    /// Where each layer begins in `nodes`.
    starts: Vec<usize>,
    /// A path may stop in some node that was reached.
    pub any_stop: bool,
    /// Something unknown was met.
    pub unsure: bool,
}

/// What one thread saw of a layer.
#[derive(Default)]
struct Share {
    next: Vec<u32>,
    least: Option<u32>,
    any_stop: bool,
    unsure: bool,
}

impl Layers {
    /// Goes on until a layer has a wanted node, the least of which is told, or nothing new is reached.
    /// Nothing is looked for behind a node where a path may stop.
    pub fn search<G: Graph>(
        product: &Product<'_, G>,
        budget: &Budget,
        wanted: impl Fn(u32, &Visit) -> bool + Sync,
    ) -> Result<(Layers, Option<u32>), Stop> {
        let words = (product.size() as usize).div_ceil(64);
        let mut layers = Layers {
            seen: (0..words).map(|_| AtomicU64::new(0)).collect(),
            nodes: Vec::new(),
            starts: vec![0],
            any_stop: false,
            unsure: false,
        };
        for node in product.initial() {
            if layers.is_new(node) {
                layers.nodes.push(node);
            }
        }
        loop {
            budget.check()?;
            let first = layers.starts[layers.starts.len() - 1];
            let layer = &layers.nodes[first..];
            if layer.is_empty() {
                layers.starts.pop();
                return Ok((layers, None));
            }
            let look = |nodes: &[u32]| layers.look(product, nodes, &wanted);
            let shares: Vec<Share> = if layer.len() < SHARE {
                vec![look(layer)]
            } else {
                layer.par_chunks(SHARE).map(look).collect()
            };
            let end = layers.nodes.len();
            layers.any_stop |= shares.iter().any(|s| s.any_stop);
            layers.unsure |= shares.iter().any(|s| s.unsure);
            if let Some(least) = shares.iter().filter_map(|s| s.least).min() {
                return Ok((layers, Some(least)));
            }
            layers.nodes.reserve(shares.iter().map(|s| s.next.len()).sum());
            shares.iter().for_each(|s| layers.nodes.extend_from_slice(&s.next));
            layers.starts.push(end);
        }
    }

    fn is_new(&self, node: u32) -> bool {
        let (word, bit) = (&self.seen[node as usize / 64], 1u64 << (node % 64));
        // Nothing is published through these bits but themselves.
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    fn look<G: Graph>(
        &self,
        product: &Product<'_, G>,
        nodes: &[u32],
        wanted: &(impl Fn(u32, &Visit) -> bool + Sync),
    ) -> Share {
        let mut share = Share::default();
        for &node in nodes {
            let visit = product.visit(node);
            share.unsure |= visit.unsure;
            share.any_stop |= visit.stop.is_some();
            if wanted(node, &visit) {
                share.least = Some(share.least.map_or(node, |least| least.min(node)));
            }
            if visit.stop.is_none() {
                share.next.extend(product.successors(node).map(|s| s.node).filter(|&n| self.is_new(n)));
            }
        }
        share
    }

    /// A shortest way from an initial node to `node`, which is in the last layer: where it starts, and
    /// the steps; of all predecessors always the least.
    pub fn way<G: Graph>(&self, product: &Product<'_, G>, node: u32) -> (u32, Vec<Step>) {
        let mut steps = Vec::new();
        let mut here = node;
        for layer in (1..self.starts.len()).rev() {
            let before = &self.nodes[self.starts[layer - 1]..self.starts[layer]];
            let leads = |n: &&u32| product.successors(**n).any(|s| s.node == here);
            let from = before.par_iter().with_min_len(SHARE).filter(leads).min();
            let from = *from.expect("the search came from the layer before");
            let step = product.successors(from).find(|s| s.node == here);
            steps.push(step.expect("one of its successors"));
            here = from;
        }
        steps.reverse();
        (here, steps)
    }

    /// How much was reached.
    pub fn size<G: Graph>(&self, product: &Product<'_, G>) -> Size {
        let edges = self.nodes.par_iter().with_min_len(SHARE).map(|n| product.successors(*n).count() as u64);
        Size { nodes: self.nodes.len() as u64, edges: edges.sum() }
    }

    /// The nodes that were reached and that accepting cycles may pass through: what the automaton
    /// excludes is left out, then again and again what leads to nothing that is left.
    pub fn core<G: Graph>(self, product: &Product<'_, G>, budget: &Budget) -> Result<Bits, Stop> {
        let size = product.size() as usize;
        let may = |node: u32| product.is_cyclic(node) && product.visit(node).stop.is_none();
        let seen: Vec<u64> = self.seen.into_iter().map(AtomicU64::into_inner).collect();
        drop(self.nodes);
        let mut core = retain(&Bits::from_words(seen, size), may);
        let mut left = core.count();
        for _ in 0..ROUNDS {
            budget.check()?;
            if left == 0 {
                break;
            }
            let next = retain(&core, |node| product.successors(node).any(|s| core.contains(s.node as usize)));
            let still = next.count();
            let removed = left - still;
            (core, left) = (next, still);
            // A round costs a pass over the edges that are left; components cost little more.
            if removed * 8 < left {
                break;
            }
        }
        Ok(core)
    }
}

/// The members that pass a test.
fn retain(bits: &Bits, keep: impl Fn(u32) -> bool + Sync) -> Bits {
    let filter = |(at, &word): (usize, &u64)| {
        let mut rest = word;
        let mut kept = 0;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            kept |= u64::from(keep(at as u32 * 64 + bit)) << bit;
        }
        kept
    };
    let words = bits.words().par_iter().enumerate().with_min_len(SHARE / 64).map(filter).collect();
    Bits::from_words(words, bits.len())
}
