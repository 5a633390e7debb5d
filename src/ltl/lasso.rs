//! Counterexamples out of an accepting product: the shortest prefix, then a loop that meets everything; then shorter
//! ones (`shorten`).
//!
//! In: the product, its accepting components. Out: a path. Never here: whether the path refutes the
//! formula; `evaluate` confirms that independently.
//!
//! All searches are breadth first, and of equally near nodes the least is taken: the same graph gives the
//! same path.

use super::bits::Bits;
use super::component::Components;
use super::fairness::{Judge, offered};
use super::path::{End, Path};
use super::product::{Product, Step};
use super::reach::Layers;
use super::shorten::{Accepting, shorten};
use super::view::{Graph, State};
use bombus_base::budget::{Budget, Stop};
use bombus_base::hash::HashMap;
use std::collections::BTreeSet;

/// What the search for a prefix found.
pub(super) struct Found {
    pub path: Option<Path>,
    pub unsure: bool,
}

/// The shortest way from an initial node to one where a path may stop, or to an accepting component,
/// and from there round. `accepting` is absent if no cycle is.
pub(super) fn shortest<G: Graph>(
    product: &Product<'_, G>,
    accepting: Option<(&Components, &Bits, &Judge<'_, G>)>,
    budget: &Budget,
) -> Result<Found, Stop> {
    let nodes = accepting.map(|(_, nodes, _)| nodes);
    // Only nodes behind a cyclic control have a bit.
    let accepts = |nodes: &Bits, node: usize| node < nodes.len() && nodes.contains(node);
    let is_accepting = |node: u32| nodes.is_some_and(|nodes| accepts(nodes, node as usize));
    let (layers, found) =
        Layers::search(product, budget, |node, visit| visit.stop.is_some() || is_accepting(node))?;
    let Some(node) = found else { return Ok(Found { path: None, unsure: layers.unsure }) };
    let (start, mut steps) = layers.way(product, node);
    let path = match (product.visit(node).stop, accepting) {
        (Some(end), _) => path_of(product, start, &steps, end),
        (None, Some((components, nodes, judge))) => {
            let entry = steps.len();
            steps.extend(round_trip(product, components, judge, node));
            let mut path = path_of(product, start, &steps, End::Loop(entry));
            path.states.pop();
            shorten(product, &Accepting { components, nodes, judge }, path, budget)?
        }
        (None, None) => unreachable!("only components make a cycle"),
    };
    Ok(Found { path: Some(path), unsure: layers.unsure })
}

pub(super) fn path_of<G: Graph>(product: &Product<'_, G>, start: u32, steps: &[Step], end: End) -> Path {
    let nodes = std::iter::once(start).chain(steps.iter().map(|s| s.node));
    Path {
        states: nodes.map(|n| product.state(n)).collect(),
        edges: steps.iter().map(|s| s.edge).collect(),
        end,
    }
}

/// What a loop still has to do, as it grows.
struct Duties<'a, G> {
    product: &'a Product<'a, G>,
    judge: &'a Judge<'a, G>,
    /// Untils that every step so far put off.
    postponed: u64,
    /// For each constraint: already met, whatever follows.
    met: Vec<bool>,
    /// For each strong constraint: enabled somewhere on the loop.
    owed: Vec<bool>,
    taken_labels: BTreeSet<u32>,
    /// Labels offered somewhere on the loop, if each of them has to be taken.
    owed_labels: BTreeSet<u32>,
    /// Labels offered everywhere on the loop so far, if each of them has to be taken.
    constant_labels: Option<BTreeSet<u32>>,
}

impl<'a, G: Graph> Duties<'a, G> {
    fn new(product: &'a Product<'a, G>, judge: &'a Judge<'a, G>, start: u32) -> Self {
        let count = judge.assumption.constraints.len();
        let mut duties = Duties {
            product,
            judge,
            postponed: !0,
            met: vec![false; count],
            owed: vec![false; count],
            taken_labels: BTreeSet::new(),
            owed_labels: BTreeSet::new(),
            constant_labels: None,
        };
        duties.arrive(product.state(start));
        duties
    }

    fn arrive(&mut self, state: State) {
        for (i, c) in self.judge.assumption.constraints.iter().enumerate() {
            let enabled = self.judge.is_enabled(c, state);
            if c.strong {
                self.owed[i] |= enabled;
            } else {
                self.met[i] |= !enabled;
            }
        }
        if self.judge.every() {
            let offered: BTreeSet<u32> = offered(self.product.graph, state).into_iter().collect();
            if self.product.graph.is_expanded(state) {
                self.constant_labels = Some(match self.constant_labels.take() {
                    None => offered.clone(),
                    Some(labels) => labels.intersection(&offered).copied().collect(),
                });
            }
            self.owed_labels.extend(offered);
        }
    }

    fn go(&mut self, from: State, step: &Step) {
        self.postponed &= step.postponed;
        for (i, c) in self.judge.assumption.constraints.iter().enumerate() {
            self.met[i] |= self.judge.is_taken(c, from, step.edge);
        }
        if self.judge.every() {
            self.taken_labels.insert(self.product.graph.instance(step.edge));
        }
        self.arrive(self.product.state(step.node));
    }

    fn owes_label(&self, label: u32) -> bool {
        let assumption = self.judge.assumption;
        !self.taken_labels.contains(&label)
            && (assumption.every_strong && self.owed_labels.contains(&label)
                || assumption.every_weak
                    && self.constant_labels.as_ref().is_some_and(|labels| labels.contains(&label)))
    }

    fn all_done(&self) -> bool {
        let constraints = &self.judge.assumption.constraints;
        self.postponed == 0
            && (0..constraints.len()).all(|i| self.met[i] || constraints[i].strong && !self.owed[i])
            && self.owed_labels.iter().all(|l| !self.owes_label(*l))
            && (!self.judge.assumption.every_weak || self.constant_labels.is_some())
    }

    /// Whether a step from `from` settles something.
    fn helps(&self, from: State, step: &Step) -> bool {
        let assumption = self.judge.assumption;
        let to = self.product.state(step.node);
        self.postponed & !step.postponed != 0
            || assumption.constraints.iter().enumerate().any(|(i, c)| {
                let open = !self.met[i] && (!c.strong || self.owed[i]);
                open && (self.judge.is_taken(c, from, step.edge)
                    || !c.strong && !self.judge.is_enabled(c, to))
            })
            || self.judge.every()
                && (self.owes_label(self.product.graph.instance(step.edge))
                    || assumption.every_weak
                        && self.product.graph.is_expanded(to)
                        && self.constant_labels.as_ref().is_none_or(|constant| {
                            let offered = offered(self.product.graph, to);
                            constant.iter().any(|l| self.owes_label(*l) && offered.binary_search(l).is_err())
                        }))
    }
}

/// A loop from `start` to itself inside its component that meets every until and every constraint: the
/// nearest step that settles something, again and again, then the way back.
pub(super) fn round_trip<G: Graph>(
    product: &Product<'_, G>,
    components: &Components,
    judge: &Judge<'_, G>,
    start: u32,
) -> Vec<Step> {
    let mut duties = Duties::new(product, judge, start);
    let mut round: Vec<Step> = Vec::new();
    let mut here = start;
    loop {
        // The way back may pass where something more is owed, so it is no more than a step among others.
        let way = if !duties.all_done() {
            nearest(product, components, here, |from, step| duties.helps(product.state(from), step))
        } else if here != start || round.is_empty() {
            nearest(product, components, here, |_, step| step.node == start)
        } else {
            break;
        };
        for step in way {
            duties.go(product.state(here), &step);
            here = step.node;
            round.push(step);
        }
    }
    round
}

/// The steps to the nearest wanted step, that step included, inside one component.
fn nearest<G: Graph>(
    product: &Product<'_, G>,
    components: &Components,
    from: u32,
    wanted: impl Fn(u32, &Step) -> bool,
) -> Vec<Step> {
    let mut before: HashMap<u32, (u32, Step)> = HashMap::new();
    let mut queue = vec![from];
    let mut at = 0;
    while at < queue.len() {
        let node = queue[at];
        at += 1;
        for step in product.successors(node).filter(|s| components.together(node, s.node)) {
            if wanted(node, &step) {
                let mut way = vec![step];
                let mut back = node;
                while back != from {
                    let (earlier, step) = before[&back];
                    way.push(step);
                    back = earlier;
                }
                way.reverse();
                return way;
            }
            if step.node != from && !before.contains_key(&step.node) {
                before.insert(step.node, (node, step));
                queue.push(step.node);
            }
        }
    }
    unreachable!("an accepting component offers every step it was accepted for");
}
