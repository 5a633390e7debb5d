//! Fairness decided on components, not put into the formula.
//!
//! In: a strongly connected set of product nodes and an assumption. Out: whether some cycle in it is
//! accepting and fair, or which nodes have to go before it may be asked again. Never here: paths.
//!
//! Weak fairness of `a` asks for a node that disables `a` or an inner `a`-edge. Strong fairness, with
//! `a` enabled in the set but never taken inside, can only be met without the nodes that enable `a`:
//! they are removed and the rest is decomposed again (Streett). Each removal settles a constraint for
//! all that is left, so there are at most as many rounds as constraints.
//! Where enabledness is unknown, the worst is assumed: what is accepted is fair. What is rejected then
//! may be fair all the same, so nothing holds by that alone.

use super::atoms::{Table, Truth};
use super::bits::Bits;
use super::component::Components;
use super::ground::{Assumption, Constraint};
use super::product::Product;
use super::view::{Edge, Graph, State};
use std::collections::HashMap;

/// Operations with their arguments, numbered; one number for each transition of the graph.
pub(super) struct Labels {
    of: Vec<u32>,
    count: usize,
}

impl Labels {
    pub fn new<G: Graph>(graph: &G) -> Self {
        let mut numbers = HashMap::new();
        let label = |e: u64| (graph.event(Edge(e)), graph.label(Edge(e)));
        let of = (0..graph.transitions())
            .map(|e| {
                let fresh = numbers.len() as u32;
                *numbers.entry(label(e)).or_insert(fresh)
            })
            .collect();
        Labels { of, count: numbers.len() }
    }

    #[inline]
    pub fn of(&self, edge: Edge) -> u32 {
        self.of[edge.index()]
    }

    /// The labels that `state` offers, sorted.
    pub fn offered<G: Graph>(&self, graph: &G, state: State) -> Vec<u32> {
        let mut all: Vec<u32> = graph.edges(state).map(|e| self.of(Edge(e))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn offers<G: Graph>(&self, graph: &G, state: State, label: u32) -> bool {
        graph.edges(state).any(|e| self.of(Edge(e)) == label)
    }
}

pub(super) enum Judgement {
    /// Going through all of it again and again is accepting and fair.
    Accepting,
    /// No cycle in it can be.
    Rejected,
    /// Only some of it can be: what is left without the nodes that hinder.
    Without { left: Vec<u32>, hindering: Vec<u32> },
}

/// An assumption, ready to be asked about components of one product.
pub(super) struct Judge<'a, G> {
    pub table: &'a Table<'a, G>,
    pub assumption: &'a Assumption,
    /// Present if the assumption speaks of every label.
    pub labels: Option<&'a Labels>,
}

impl<G: Graph> Judge<'_, G> {
    /// Whether a cycle may be rejected only because something about a constraint is unknown.
    pub fn is_unsure(&self) -> bool {
        let constraints = &self.assumption.constraints;
        constraints.iter().flat_map(|c| [c.taken, c.enabled]).any(|atom| self.table.is_unsure(atom))
    }

    pub fn is_enabled(&self, constraint: &Constraint, state: State) -> bool {
        self.table.at(constraint.enabled, state, None) != Truth::False
    }

    pub fn is_taken(&self, constraint: &Constraint, state: State, edge: Edge) -> bool {
        self.table.at(constraint.taken, state, Some(edge)) == Truth::True
    }

    /// Decides about a component that has a cycle.
    pub fn decide(&self, product: &Product<'_, G>, components: &Components, nodes: &[u32]) -> Judgement {
        let Assumption { constraints, every_weak, every_strong } = self.assumption;
        let mut postponed = !0u64;
        let mut taken = vec![false; constraints.len()];
        let mut taken_labels = Bits::new(self.labels.map_or(0, |labels| labels.count));
        // Constraints that no inner edge has met so far.
        let mut unmet = constraints.len();
        for &node in nodes {
            if postponed == 0 && unmet == 0 && self.labels.is_none() {
                break;
            }
            let state = product.state(node);
            for step in product.successors(node) {
                // PERF: whether an edge is an inner one costs a look at far memory; most edges would not
                // tell anything new.
                let is_new = |labels: &Labels| !taken_labels.contains(labels.of(step.edge) as usize);
                let news = postponed & !step.postponed != 0
                    || unmet > 0
                        && constraints
                            .iter()
                            .zip(&taken)
                            .any(|(c, taken)| !taken && self.is_taken(c, state, step.edge))
                    || self.labels.is_some_and(is_new);
                if !news || !components.together(node, step.node) {
                    continue;
                }
                postponed &= step.postponed;
                for (c, taken) in constraints.iter().zip(&mut taken) {
                    if !*taken && self.is_taken(c, state, step.edge) {
                        *taken = true;
                        unmet -= 1;
                    }
                }
                if let Some(labels) = self.labels {
                    taken_labels.insert(labels.of(step.edge) as usize);
                }
            }
        }
        if postponed != 0 {
            return Judgement::Rejected;
        }
        for (c, _) in constraints.iter().zip(&taken).filter(|(c, taken)| !c.strong && !**taken) {
            if nodes.iter().all(|&n| self.is_enabled(c, product.state(n))) {
                return Judgement::Rejected;
            }
        }
        let is_taken = |label: u32| taken_labels.contains(label as usize);
        if let (true, Some(labels)) = (*every_weak, self.labels) {
            // Labels that every node offers and none takes; a node that is not expanded may offer any.
            let mut expanded =
                nodes.iter().map(|&n| product.state(n)).filter(|&s| product.graph.is_expanded(s));
            let Some(first) = expanded.next() else { return Judgement::Rejected };
            let mut owed = labels.offered(product.graph, first);
            owed.retain(|label| !is_taken(*label));
            for state in expanded {
                if owed.is_empty() {
                    break;
                }
                owed.retain(|label| labels.offers(product.graph, state, *label));
            }
            if !owed.is_empty() {
                return Judgement::Rejected;
            }
        }
        let hinders = |node: u32| {
            let state = product.state(node);
            constraints.iter().zip(&taken).any(|(c, taken)| c.strong && !taken && self.is_enabled(c, state))
                || *every_strong
                    && self.labels.is_some_and(|labels| {
                        !product.graph.is_expanded(state)
                            || product.graph.edges(state).any(|e| !is_taken(labels.of(Edge(e))))
                    })
        };
        let hindering = nodes.iter().filter(|n| hinders(**n)).count();
        if hindering == 0 {
            return Judgement::Accepting;
        }
        // If all of them hinder, nothing is left to look for.
        if hindering == nodes.len() {
            return Judgement::Rejected;
        }
        let (hindering, left) = nodes.iter().partition(|n| hinders(**n));
        Judgement::Without { left, hindering }
    }
}
