//! The atoms of formulas over any system: propositions in its own language, events, arguments.
//!
//! In: a formula before the search, the graph after it. Out: propositions with their ids, then one set
//! of states or transitions for each atom. Never here: temporal operators, B.
//!
//! What only B has (expressions over two states, quantifiers over values) is refused with its place.

use super::atoms::{Atoms, Bound, Extent, Faults, Special, Truth};
use super::bits::Bits;
use super::ctl_parse::Ctl;
use super::formula::{Change, Formula, Pattern, Text};
use super::ground::Property;
use super::view::Explicit;
use super::{Checker, atoms::Table};
use bombus_base::budget::Budget;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::hash::HashMap;
use bombus_base::span::Span;
use bombus_graph::{Graph, NodeId};
use bombus_system::{EventId, PropId, System};
use rayon::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The propositions of formulas by their places.
#[derive(Clone, Debug, Default)]
pub struct Propositions(HashMap<Span, PropId>);

impl Propositions {
    /// Reads the propositions of an LTL formula; the faults of all of them reject it.
    pub fn read_ltl<S: System>(&mut self, system: &mut S, formula: &Formula) -> Result<(), Faults> {
        self.read(system, |graph, asking| Property::new(formula, &mut Table::new(graph, asking)).map(|_| ()))
    }

    /// The same for a CTL formula.
    pub fn read_ctl<S: System>(&mut self, system: &mut S, formula: &Ctl) -> Result<(), Faults> {
        let budget = Budget::unlimited();
        self.read(system, |graph, asking| Checker::new(graph, asking, &budget).check_ctl(formula).map(|_| ()))
    }

    /// Walks a formula as the checker will, on a graph of one state without transitions: whatever the
    /// checker will ask for later is asked for here first.
    fn read<S: System>(
        &mut self,
        system: &mut S,
        walk: impl FnOnce(&Explicit, &dyn Atoms) -> Result<(), Faults>,
    ) -> Result<(), Faults> {
        let graph = Explicit::new(1, &[0], Vec::new());
        let names = system.event_names().to_vec();
        let asking = Asking { system: RefCell::new(system), names, found: RefCell::default() };
        walk(&graph, &asking)?;
        self.0.extend(asking.found.into_inner());
        Ok(())
    }
}

struct Asking<'a, S> {
    system: RefCell<&'a mut S>,
    names: Vec<String>,
    found: RefCell<HashMap<Span, PropId>>,
}

fn only_in_b(at: Span, what: &str) -> Faults {
    vec![Diagnostic::error(at, format!("{what}: only formulas over B have this"))]
}

/// On a graph of one state and no transition.
impl<S: System> Atoms for Asking<'_, S> {
    fn event_names(&self) -> &[String] {
        &self.names
    }

    fn predicate(&self, predicate: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        let id = self.system.borrow_mut().proposition(&predicate.text, predicate.span)?;
        self.found.borrow_mut().insert(predicate.span, id);
        Ok(Extent::known(Bits::new(1)))
    }

    fn matching(&self, _: EventId, _: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        Ok(Extent::known(Bits::new(0)))
    }

    fn change(&self, _: Change, text: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Err(only_in_b(text.span, "a comparison of two states"))
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        match which {
            Special::Current => Ok(Extent::known(Bits::new(1))),
            Special::Goal => Err(only_in_b(at, "`GOAL`")),
            Special::DetOutput => Err(only_in_b(at, "`det_output`")),
            Special::StateError => Err(only_in_b(at, "`error`")),
        }
    }

    fn solutions(&self, _: &str, domain: &Text, _: &[Bound]) -> Result<Vec<Bound>, Faults> {
        Err(only_in_b(domain.span, "a quantifier"))
    }
}

/// States that one thread asks about at a time: a word of the set.
const WORD: usize = 64;

/// Where the atoms hold on the graph of an exploration.
pub struct Truths<'a, S> {
    system: &'a S,
    graph: &'a Graph,
    propositions: &'a Propositions,
    budget: &'a Budget,
}

impl<'a, S: System> Truths<'a, S> {
    pub fn new(system: &'a S, graph: &'a Graph, propositions: &'a Propositions, budget: &'a Budget) -> Self {
        Truths { system, graph, propositions, budget }
    }

    fn state(&self, node: NodeId) -> Vec<u64> {
        self.graph.state(node).expect("an exact store keeps states")
    }

    /// Whether the arguments of a transition are as a pattern wants them; `None` if it has fewer.
    fn fits(&self, pattern: &Pattern, from: NodeId, at: usize) -> Option<Truth> {
        let (event, label, to) = self.graph.forward.edge(at);
        let values = self.system.label(event, label, &self.state(from), &self.state(to));
        if values.len() < pattern.arguments.len() {
            return None;
        }
        let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_string();
        let mut pairs = pattern.arguments.iter().zip(&values);
        let all =
            pairs.all(|(wanted, (_, value))| wanted.as_ref().is_none_or(|w| bare(&w.text) == bare(value)));
        Some(all.into())
    }
}

impl<S: System> Atoms for Truths<'_, S> {
    fn event_names(&self) -> &[String] {
        self.system.event_names()
    }

    fn predicate(&self, predicate: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        let id =
            *self.propositions.0.get(&predicate.span).expect("every proposition was read before the search");
        let (len, words) = (self.graph.nodes(), self.system.words());
        let stopped = AtomicBool::new(false);
        type Own<W> = (W, Vec<u64>, Vec<Option<bool>>);
        let word = |(worker, states, truths): &mut Own<S::Worker>, at: usize| {
            let nodes = at * WORD..(at * WORD + WORD).min(len);
            if self.budget.check().is_err() {
                stopped.store(true, Relaxed);
            }
            truths.clear();
            if stopped.load(Relaxed) {
                truths.resize(nodes.len(), None);
            } else {
                states.resize(nodes.len() * words, 0);
                for (node, state) in nodes.zip(states.chunks_exact_mut(words)) {
                    assert!(self.graph.read_state(NodeId(node as u32), state), "an exact store keeps states");
                }
                self.system.truths(worker, states, id, truths);
            }
            let bits = |wanted: Option<bool>| {
                let bit = |(i, truth): (usize, &Option<bool>)| u64::from(*truth == wanted) << i;
                truths.iter().enumerate().map(bit).fold(0, |all, one| all | one)
            };
            (bits(Some(true)), bits(None))
        };
        let init = || (self.system.worker(), Vec::new(), Vec::new());
        let found = (0..len.div_ceil(WORD)).into_par_iter().with_min_len(16).map_init(init, word);
        let (holds, unknown): (Vec<u64>, Vec<u64>) = found.unzip();
        let unknown = unknown.iter().any(|w| *w != 0).then(|| Bits::from_words(unknown, len));
        Ok(Extent { holds: Bits::from_words(holds, len), unknown })
    }

    fn matching(&self, event: EventId, pattern: &Pattern, _: &[Bound]) -> Result<Extent, Faults> {
        // A label stands for the same arguments throughout.
        let mut known: HashMap<u64, Truth> = HashMap::new();
        let mut holds = Bits::new(self.graph.forward.edges());
        for node in (0..self.graph.nodes() as u32).map(NodeId) {
            for at in self.graph.forward.row(node) {
                let (of, label, _) = self.graph.forward.edge(at);
                if of != event {
                    continue;
                }
                let truth = match known.get(&label) {
                    Some(truth) => *truth,
                    None => {
                        let Some(truth) = self.fits(pattern, node, at) else {
                            let operation = &pattern.operation;
                            let message = format!("transitions of `{}` have fewer arguments", operation.text);
                            return Err(vec![Diagnostic::error(operation.span, message)]);
                        };
                        known.insert(label, truth);
                        truth
                    }
                };
                if truth == Truth::True {
                    holds.insert(at);
                }
            }
        }
        Ok(Extent::known(holds))
    }

    fn change(&self, _: Change, text: &Text, _: &[Bound]) -> Result<Extent, Faults> {
        Err(only_in_b(text.span, "a comparison of two states"))
    }

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults> {
        match which {
            Special::Current => Ok(Extent::known(Bits::from_fn(self.graph.nodes(), |s| {
                self.graph.initial.contains(&NodeId(s as u32))
            }))),
            _ => Err(only_in_b(at, "this atom")),
        }
    }

    fn solutions(&self, _: &str, domain: &Text, _: &[Bound]) -> Result<Vec<Bound>, Faults> {
        Err(only_in_b(domain.span, "a quantifier"))
    }
}
