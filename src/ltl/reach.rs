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
use super::view::{Graph, State};
use bombus_base::budget::{Budget, Stop};
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

/// Which layers are kept: all of them if a way may be asked for.
#[derive(Clone, Copy)]
enum Keep {
    All,
    Last,
}

/// What one thread saw of a layer.
#[derive(Default)]
struct Share {
    next: Vec<u32>,
    least: Option<u32>,
    any_stop: bool,
    unsure: bool,
}

/// How far ahead of its use the memory of a node is asked for: first where its row begins, then the row.
const AHEAD: [usize; 2] = [16, 8];

impl Layers {
    fn new<G: Graph>(product: &Product<'_, G>) -> Layers {
        let words = (product.size() as usize).div_ceil(64);
        Layers {
            seen: (0..words).into_par_iter().with_min_len(SHARE).map(|_| AtomicU64::new(0)).collect(),
            nodes: Vec::new(),
            starts: vec![0],
            any_stop: false,
            unsure: false,
        }
    }

    fn start<G: Graph>(&mut self, product: &Product<'_, G>) {
        for node in product.initial() {
            if self.is_new(node) {
                self.nodes.push(node);
            }
        }
    }

    /// Goes on until a layer has a wanted node, the least of which is told, or nothing new is reached.
    /// Nothing is looked for behind a node where a path may stop.
    pub fn search<G: Graph>(
        product: &Product<'_, G>,
        budget: &Budget,
        wanted: impl Fn(u32, &Visit) -> bool + Sync,
    ) -> Result<(Layers, Option<u32>), Stop> {
        let mut layers = Layers::new(product);
        layers.start(product);
        let found = layers.run(product, budget, wanted, |_| true, Keep::All)?;
        Ok((layers, found))
    }

    /// Looks behind everything that is reached without passing a node that an accepting cycle may pass
    /// through; such nodes are seen, but nothing is looked for behind them.
    ///
    /// PERF: most formulas say "always", and an automaton that refutes them waits for the failure to begin:
    /// `waits` says that it may wait in any state. All states can be reached, so the nodes where it waits are
    /// not searched for but gone through in order. Should some state not be reachable after all, then too
    /// much is reached, and whoever finds a violation there finds no way to it.
    pub fn prologue<G: Graph>(
        product: &Product<'_, G>,
        budget: &Budget,
        waits: bool,
    ) -> Result<Layers, Stop> {
        let mut layers = Layers::new(product);
        if waits {
            layers.wait(product);
            layers.follow(|node| !product.is_cyclic(node));
        } else {
            layers.start(product);
            layers.nodes.retain(|&node| !product.is_cyclic(node));
        }
        layers.run(product, budget, |_, _| false, |node| !product.is_cyclic(node), Keep::Last)?;
        Ok(layers)
    }

    /// After a prologue: looks behind the nodes that it left.
    pub fn complete<G: Graph>(&mut self, product: &Product<'_, G>, budget: &Budget) -> Result<(), Stop> {
        self.follow(|node| product.is_cyclic(node));
        self.run(product, budget, |_, _| false, |_| true, Keep::Last).map(|_| ())
    }

    /// Takes the nodes of a kind among those seen for the first layer.
    fn follow(&mut self, of_kind: impl Fn(u32) -> bool + Sync) {
        let members = |(at, word): (usize, &AtomicU64)| {
            let mut rest = word.load(Ordering::Relaxed);
            let mut nodes = Vec::new();
            while rest != 0 {
                let node = at as u32 * 64 + rest.trailing_zeros();
                rest &= rest - 1;
                if of_kind(node) {
                    nodes.push(node);
                }
            }
            nodes
        };
        self.nodes =
            self.seen.par_iter().enumerate().with_min_len(SHARE / 64).flat_map_iter(members).collect();
        self.starts = vec![0];
    }

    /// The initial control in every state.
    fn wait<G: Graph>(&mut self, product: &Product<'_, G>) {
        let control = product.automaton.initial;
        let states = product.graph.states();
        let first = product.node(State(0), control) as usize;
        // Nobody who comes back to them has to look again.
        for node in first..first + states {
            *self.seen[node / 64].get_mut() |= 1 << (node % 64);
        }
        let look = |mut share: Share, s: u32| {
            let visit = product.visit(product.node(State(s), control));
            share.unsure |= visit.unsure;
            share.any_stop |= visit.stop.is_some();
            product.exits(State(s), control, |node| {
                self.is_new(node);
            });
            share
        };
        let shares = (0..states as u32).into_par_iter().with_min_len(SHARE).fold(Share::default, look);
        let (any_stop, unsure) = shares
            .map(|share| (share.any_stop, share.unsure))
            .reduce(Default::default, |a, b| (a.0 | b.0, a.1 | b.1));
        self.any_stop |= any_stop;
        self.unsure |= unsure;
    }

    fn run<G: Graph>(
        &mut self,
        product: &Product<'_, G>,
        budget: &Budget,
        wanted: impl Fn(u32, &Visit) -> bool + Sync,
        follow: impl Fn(u32) -> bool + Sync,
        keep: Keep,
    ) -> Result<Option<u32>, Stop> {
        loop {
            budget.check()?;
            let first = self.starts[self.starts.len() - 1];
            let layer = &self.nodes[first..];
            if layer.is_empty() {
                self.starts.pop();
                return Ok(None);
            }
            let look = |nodes: &[u32]| self.look(product, nodes, &wanted, &follow);
            let shares: Vec<Share> = if layer.len() < SHARE {
                vec![look(layer)]
            } else {
                layer.par_chunks(SHARE).map(look).collect()
            };
            let end = match keep {
                Keep::All => self.nodes.len(),
                Keep::Last => 0,
            };
            self.any_stop |= shares.iter().any(|s| s.any_stop);
            self.unsure |= shares.iter().any(|s| s.unsure);
            if let Some(least) = shares.iter().filter_map(|s| s.least).min_by_key(|n| product.rank(*n)) {
                return Ok(Some(least));
            }
            self.nodes.truncate(end);
            self.nodes.reserve(shares.iter().map(|s| s.next.len()).sum());
            shares.iter().for_each(|s| self.nodes.extend_from_slice(&s.next));
            match keep {
                Keep::All => self.starts.push(end),
                Keep::Last => self.starts = vec![0],
            }
        }
    }

    /// Whether a node was reached.
    #[inline]
    pub fn contains(&self, node: u32) -> bool {
        self.seen[node as usize / 64].load(Ordering::Relaxed) >> (node % 64) & 1 == 1
    }

    /// Gives back what only a way needs.
    pub fn settle(&mut self) {
        self.nodes = Vec::new();
    }

    /// The nodes that were reached.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.seen.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    at as u32 * 64 + bit
                })
            })
        })
    }

    #[inline]
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
        follow: &(impl Fn(u32) -> bool + Sync),
    ) -> Share {
        let mut share = Share::default();
        for (i, &node) in nodes.iter().enumerate() {
            // PERF: the order is known, so the far memory of later nodes can be on its way meanwhile.
            if let Some(&far) = nodes.get(i + AHEAD[0]) {
                product.prefetch_offset(far);
            }
            if let Some(&near) = nodes.get(i + AHEAD[1]) {
                product.prefetch_row(near);
            }
            let visit = product.visit(node);
            share.unsure |= visit.unsure;
            share.any_stop |= visit.stop.is_some();
            if wanted(node, &visit) {
                let least =
                    share.least.map_or(node, |least| std::cmp::min_by_key(least, node, |n| product.rank(*n)));
                share.least = Some(least);
            }
            if visit.stop.is_none() {
                let fresh = product.successors(node).map(|s| s.node).filter(|&n| self.is_new(n));
                share.next.extend(fresh.filter(|&n| follow(n)));
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
            let from = before.par_iter().with_min_len(SHARE).filter(leads).min_by_key(|n| product.rank(**n));
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
