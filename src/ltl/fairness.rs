//! Fairness decided on components, not put into the formula.
//!
//! In: a strongly connected set of product nodes and an assumption. Out: whether some cycle in it is
//! accepting and fair, or which nodes have to go before it may be asked again. Never here: paths.
//!
//! Weak fairness of `a` asks for a node that disables `a` or an inner `a`-edge. Strong fairness, with
//! `a` enabled in the set but never taken inside, can only be met without the nodes that enable `a`:
//! they are removed and the rest is decomposed again (Streett). Each removal settles a constraint for
//! all that is left, so there are at most as many rounds as constraints.
//! Where enabledness is unknown, the worst is assumed.

use super::atoms::{Table, Truth};
use super::component::Components;
use super::ground::{Assumption, Constraint};
use super::product::{Product, Step};
use super::view::{Edge, Graph, State};
use std::collections::HashMap;

/// Operations with their arguments, numbered; one number for each transition of the graph.
pub(super) struct Labels(Vec<u32>);

impl Labels {
    pub fn new<G: Graph>(graph: &G) -> Self {
        let mut numbers = HashMap::new();
        let label = |e: u64| (graph.event(Edge(e)), graph.label(Edge(e)));
        Labels(
            (0..graph.transitions())
                .map(|e| {
                    let fresh = numbers.len() as u32;
                    *numbers.entry(label(e)).or_insert(fresh)
                })
                .collect(),
        )
    }

    pub fn of(&self, edge: Edge) -> u32 {
        self.0[edge.index()]
    }

    /// The labels that `state` offers, sorted.
    pub fn offered<G: Graph>(&self, graph: &G, state: State) -> Vec<u32> {
        let mut all: Vec<u32> = graph.edges(state).map(|e| self.of(Edge(e))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

pub(super) enum Judgement {
    /// Going through all of it again and again is accepting and fair.
    Accepting,
    /// No cycle in it can be.
    Rejected,
    /// Only what is left without these nodes can be.
    Without(Vec<u32>),
}

/// An assumption, ready to be asked about components of one product.
pub(super) struct Judge<'a, G> {
    pub table: &'a Table<'a, G>,
    pub assumption: &'a Assumption,
    /// Present if the assumption speaks of every label.
    pub labels: Option<&'a Labels>,
}

impl<G: Graph> Judge<'_, G> {
    pub fn is_enabled(&self, constraint: &Constraint, state: State) -> bool {
        self.table.at(constraint.enabled, state, None) != Truth::False
    }

    pub fn is_taken(&self, constraint: &Constraint, state: State, edge: Edge) -> bool {
        self.table.at(constraint.taken, state, Some(edge)) == Truth::True
    }

    /// The inner edges of a component.
    fn inner<'s>(
        product: &'s Product<'_, G>,
        components: &'s Components,
        node: u32,
    ) -> impl Iterator<Item = Step> + 's {
        product.successors(node).filter(move |step| components.together(node, step.node))
    }

    /// Decides about a component that has a cycle.
    pub fn decide(&self, product: &Product<'_, G>, components: &Components, nodes: &[u32]) -> Judgement {
        let Assumption { constraints, every_weak, every_strong } = self.assumption;
        let fair = self.assumption.is_trivial();
        let mut postponed = !0u64;
        let mut taken = vec![false; constraints.len()];
        let mut taken_labels: Vec<u32> = Vec::new();
        for &node in nodes {
            if fair && postponed == 0 {
                break;
            }
            let state = product.state(node);
            for step in Self::inner(product, components, node) {
                postponed &= step.postponed;
                for (c, taken) in constraints.iter().zip(&mut taken) {
                    *taken = *taken || self.is_taken(c, state, step.edge);
                }
                if let Some(labels) = self.labels {
                    taken_labels.push(labels.of(step.edge));
                }
            }
            if taken_labels.len() > 1 << 20 {
                taken_labels.sort_unstable();
                taken_labels.dedup();
            }
        }
        taken_labels.sort_unstable();
        taken_labels.dedup();
        if postponed != 0 {
            return Judgement::Rejected;
        }
        for (c, _) in constraints.iter().zip(&taken).filter(|(c, taken)| !c.strong && !**taken) {
            if nodes.iter().all(|&n| self.is_enabled(c, product.state(n))) {
                return Judgement::Rejected;
            }
        }
        let is_taken = |label: &u32| taken_labels.binary_search(label).is_ok();
        if let (true, Some(labels)) = (*every_weak, self.labels) {
            // Labels that every node offers; a node that is not expanded may offer any.
            let expanded = nodes.iter().map(|&n| product.state(n)).filter(|&s| product.graph.is_expanded(s));
            let mut always: Option<Vec<u32>> = None;
            for state in expanded {
                let offered = labels.offered(product.graph, state);
                match &mut always {
                    None => always = Some(offered),
                    Some(list) => list.retain(|l| offered.binary_search(l).is_ok()),
                }
            }
            if !always.is_some_and(|list| list.iter().all(is_taken)) {
                return Judgement::Rejected;
            }
        }
        let hinders = |node: u32| {
            let state = product.state(node);
            constraints.iter().zip(&taken).any(|(c, taken)| c.strong && !taken && self.is_enabled(c, state))
                || *every_strong
                    && self.labels.is_some_and(|labels| {
                        !product.graph.is_expanded(state)
                            || product.graph.edges(state).any(|e| !is_taken(&labels.of(Edge(e))))
                    })
        };
        let hindering: Vec<u32> = nodes.iter().copied().filter(|&n| hinders(n)).collect();
        if hindering.is_empty() { Judgement::Accepting } else { Judgement::Without(hindering) }
    }
}
