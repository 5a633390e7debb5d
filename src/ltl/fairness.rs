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

use super::atoms::{Meaning, Table, Truth};
use super::bits::Bits;
use super::component::Component;
use super::ground::{Assumption, Constraint};
use super::product::Product;
use super::view::{Edge, Graph, State};

/// The labels that `state` offers, sorted; a label here is an operation with its arguments.
pub(super) fn offered<G: Graph>(graph: &G, state: State) -> Vec<u32> {
    let mut all: Vec<u32> = graph.edges(state).map(|e| graph.instance(Edge(e))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

pub(super) enum Judgement {
    /// Going through all of it again and again is accepting and fair.
    Accepting,
    /// No cycle in it can be.
    Rejected,
    /// Only some of it can be: what is left without the nodes that hinder.
    Without(Taken),
}

/// What the inner edges of a component take.
pub(super) struct Taken {
    /// For each constraint.
    constraints: Vec<bool>,
    labels: Bits,
}

/// An assumption, ready to be asked about components of one product.
pub(super) struct Judge<'a, G> {
    table: &'a Table<'a, G>,
    pub assumption: &'a Assumption,
    /// For each label the constraints that it meets, if labels decide that.
    masks: Option<Vec<u64>>,
}

/// How far ahead of its use the memory of a node is asked for: first where its row begins, then the row.
const AHEAD: [usize; 2] = [16, 8];

impl<'a, G: Graph> Judge<'a, G> {
    pub fn new(table: &'a Table<'a, G>, assumption: &'a Assumption) -> Self {
        let events: Option<Vec<_>> = assumption
            .constraints
            .iter()
            .map(|c| match table.meaning(c.taken) {
                Meaning::Event(event) => Some(*event),
                _ => None,
            })
            .collect();
        let masks = events.filter(|events| events.len() <= 64).map(|events| {
            let mask = |event| (0..events.len()).fold(0, |m, i| m | u64::from(events[i] == event) << i);
            (0..table.graph().instances() as u32).map(|i| mask(table.graph().event_of(i))).collect()
        });
        Judge { table, assumption, masks }
    }

    /// Whether the assumption speaks of every label.
    pub fn every(&self) -> bool {
        self.assumption.every_weak || self.assumption.every_strong
    }

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

    /// Whether an edge meets a constraint that is not met yet.
    #[inline]
    fn meets(&self, taken: &[bool], unmet: u64, state: State, edge: Edge, label: u32) -> bool {
        match &self.masks {
            Some(masks) => masks[label as usize] & unmet != 0,
            None => {
                let open = self.assumption.constraints.iter().zip(taken).filter(|(_, taken)| !**taken);
                open.into_iter().any(|(c, _)| self.is_taken(c, state, edge))
            }
        }
    }

    /// Decides about a component that has a cycle.
    pub fn decide(&self, product: &Product<'_, G>, component: &Component<'_>) -> Judgement {
        let Assumption { constraints, every_weak, .. } = self.assumption;
        let graph = product.graph;
        let nodes = component.nodes;
        let labelled = self.every();
        let mut postponed = !0u64;
        let mut taken = Taken {
            constraints: vec![false; constraints.len()],
            labels: Bits::new(if labelled { graph.instances() } else { 0 }),
        };
        // Constraints that no inner edge has met so far, as a mask where there is one, and their number.
        let mut unmet = constraints.iter().take(64).enumerate().fold(0, |m, (i, _)| m | 1u64 << i);
        let mut open = constraints.len();
        // Labels that every node so far offers; a node that is not expanded may offer any.
        let mut common: Option<Vec<u32>> = None;
        for (i, &node) in nodes.iter().enumerate() {
            if postponed == 0 && open == 0 && !labelled {
                break;
            }
            if let Some(&far) = nodes.get(i + AHEAD[0]) {
                product.prefetch_offset(far);
            }
            if let Some(&near) = nodes.get(i + AHEAD[1]) {
                product.prefetch_row(near);
            }
            let state = product.state(node);
            if *every_weak && graph.is_expanded(state) {
                match &mut common {
                    None => common = Some(offered(graph, state)),
                    Some(common) => {
                        common.retain(|label| graph.edges(state).any(|e| graph.instance(Edge(e)) == *label))
                    }
                }
            }
            for step in product.successors(node) {
                // PERF: whether an edge is an inner one costs a look at far memory; most edges would not
                // tell anything new.
                let label = graph.instance(step.edge);
                let news = postponed & !step.postponed != 0
                    || open > 0 && self.meets(&taken.constraints, unmet, state, step.edge, label)
                    || labelled && !taken.labels.contains(label as usize);
                if !news || !component.contains(step.node) {
                    continue;
                }
                postponed &= step.postponed;
                for (i, c) in constraints.iter().enumerate() {
                    if !taken.constraints[i] && self.is_taken(c, state, step.edge) {
                        taken.constraints[i] = true;
                        unmet &= !1u64.checked_shl(i as u32).unwrap_or(0);
                        open -= 1;
                    }
                }
                if labelled {
                    taken.labels.insert(label as usize);
                }
            }
        }
        if postponed != 0 {
            return Judgement::Rejected;
        }
        for (c, _) in constraints.iter().zip(&taken.constraints).filter(|(c, taken)| !c.strong && !**taken) {
            if nodes.iter().all(|&n| self.is_enabled(c, product.state(n))) {
                return Judgement::Rejected;
            }
        }
        if *every_weak {
            // Labels that every node offers and none takes.
            let owed = |common: &Vec<u32>| common.iter().any(|label| !taken.labels.contains(*label as usize));
            if common.as_ref().is_none_or(owed) {
                return Judgement::Rejected;
            }
        }
        match nodes.iter().filter(|n| self.hinders(product, &taken, **n)).count() {
            0 => Judgement::Accepting,
            // If all of them hinder, nothing is left to look for.
            all if all == nodes.len() => Judgement::Rejected,
            _ => Judgement::Without(taken),
        }
    }

    /// Whether a component that takes so much can only be fair without this node.
    pub fn hinders(&self, product: &Product<'_, G>, taken: &Taken, node: u32) -> bool {
        let state = product.state(node);
        let Assumption { constraints, every_strong, .. } = self.assumption;
        let untaken = constraints.iter().zip(&taken.constraints).filter(|(c, taken)| c.strong && !**taken);
        let is_untaken = |e: u64| !taken.labels.contains(product.graph.instance(Edge(e)) as usize);
        untaken.into_iter().any(|(c, _)| self.is_enabled(c, state))
            || *every_strong
                && (!product.graph.is_expanded(state) || product.graph.edges(state).any(is_untaken))
    }
}
