//! One formula on one graph: from text to verdict.
//!
//! In: formulas, the graph, callbacks for B. Out: holds, violated with a confirmed path, or incomplete
//! with the reasons. Never here: how a formula is decided; this file only composes.
//!
//! "Holds" is earned: the graph is complete, every atom that mattered was evaluated, the automaton was
//! built. Every counterexample is confirmed by `evaluate` before it is shown.

use super::alphabet::{Alphabet, Classified, Vocabulary};
use super::atoms::{Atoms, Faults, Table, Truth};
use super::automaton::{Automaton, TooLarge};
use super::bits::Bits;
use super::component::{Component, Components, MAX_NODES};
use super::evaluate::{Evaluated, confirm};
use super::fairness::{Judge, Judgement};
use super::formula::{Binary, Formula};
use super::ground::{Assumption, Node, NodeId, Property};
use super::lasso::{Found, shortest};
use super::normal::Normal;
use super::path::Path;
use super::product::Product;
use super::reach::Layers;
use super::tableau;
use super::view::Graph;
use bombus_base::budget::{Budget, Stop};

/// How a formula is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// Automaton, product, components.
    #[default]
    Automaton,
    /// The tableau of Lichtenstein and Pnueli as extended for deadlocks and events: slow and obvious.
    Tableau,
}

#[derive(Clone, Debug)]
pub enum Verdict {
    Holds,
    Violated(Counterexample),
    /// Why neither could be said.
    Incomplete(Vec<String>),
}

impl Verdict {
    /// The word of the result.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Incomplete(_) => "incomplete",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Counterexample {
    pub path: Path,
    /// Sub-formulas, operands before operators, with their truth at each position of the path.
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub formula: String,
    pub truth: Vec<Truth>,
}

/// What can be reached in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub nodes: u64,
    pub edges: u64,
}

/// Checks formulas on one graph; atoms are evaluated once for all of them.
pub struct Checker<'a, G> {
    table: Table<'a, G>,
    budget: &'a Budget,
    engine: Engine,
    /// The letters of a graph of which this one is a part.
    letters: Option<Vocabulary>,
}

pub const NOT_EXPLORED: &str = "the state space was not explored completely";
pub const NOT_EVALUATED: &str = "an atom of the formula could not be evaluated in some state";
pub(super) const NO_START: &str = "there is no initial state";
pub(super) const TOO_LARGE: &str = "the formula is too large for an automaton";
pub(super) const TOO_LARGE_PRODUCT: &str = "the product of state space and automaton is too large";

/// More conjuncts than this are checked one by one.
const SEPARATE: usize = 4;

impl<'a, G: Graph> Checker<'a, G> {
    pub fn new(graph: &'a G, atoms: &'a dyn Atoms, budget: &'a Budget) -> Self {
        Checker { table: Table::new(graph, atoms), budget, engine: Engine::default(), letters: None }
    }

    pub fn with_engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Decides the one formula that the graph was trimmed for by the automaton that it was trimmed with.
    pub fn with_letters(mut self, letters: Vocabulary) -> Self {
        self.letters = Some(letters);
        self
    }

    pub(super) fn table(&mut self) -> &mut Table<'a, G> {
        &mut self.table
    }

    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// Decides a formula. Faults are those of its B parts: an unknown operation, a wrong predicate.
    pub fn check(&mut self, formula: &Formula) -> Result<Verdict, Faults> {
        let property = Property::new(formula, &mut self.table)?;
        Ok(self.decide(&property))
    }

    /// Decides a property whose atoms are evaluated already.
    pub fn decide(&mut self, property: &Property) -> Verdict {
        let graph = self.table.graph();
        if graph.initial().is_empty() {
            return Verdict::Incomplete(vec![NO_START.into()]);
        }
        let found = match self.engine {
            Engine::Automaton => self.by_automaton(property),
            Engine::Tableau => tableau::search(property, &self.table, self.budget),
        };
        match found {
            Err(reason) => Verdict::Incomplete(vec![reason]),
            Ok(Found { path: Some(path), .. }) => {
                Verdict::Violated(self.confirmed(property, &path.reduced()))
            }
            Ok(Found { path: None, unsure }) => {
                let mut reasons = Vec::new();
                if !graph.is_complete() {
                    reasons.push(NOT_EXPLORED.to_string());
                } else if unsure {
                    reasons.push(NOT_EVALUATED.to_string());
                }
                if reasons.is_empty() { Verdict::Holds } else { Verdict::Incomplete(reasons) }
            }
        }
    }

    /// How many letters a formula tells apart, once its atoms are evaluated.
    pub fn letters(&mut self, formula: &Formula) -> Result<usize, Faults> {
        let property = Property::new(formula, &mut self.table)?;
        let (normal, _) = Normal::new(&property.ground, property.root, false);
        Ok(Alphabet::new(&normal.atoms, &self.table).letters.len())
    }

    /// How large the product is that a formula is decided on; none if there is no automaton for it.
    pub fn size(&mut self, formula: &Formula) -> Result<Option<Size>, Faults> {
        self.on_product(formula, |product, budget| {
            Ok(Layers::search(product, budget, |_, _| false)?.0.size(product))
        })
    }

    /// How many nodes of the product are left for the search for components when those are taken away that
    /// no accepting cycle can pass through; none if there is no automaton.
    pub fn core(&mut self, formula: &Formula) -> Result<Option<usize>, Faults> {
        self.on_product(formula, |product, budget| {
            let mut reached = Layers::prologue(product, budget, product.automaton.waits())?;
            reached.complete(product, budget)?;
            Ok(reached.core(product, budget)?.count())
        })
    }

    fn on_product<T>(
        &mut self,
        formula: &Formula,
        job: impl FnOnce(&Product<'_, G>, &Budget) -> Result<T, Stop>,
    ) -> Result<Option<T>, Faults> {
        let property = Property::new(formula, &mut self.table)?;
        let (normal, negation) = Normal::new(&property.ground, property.root, false);
        let alphabet = Alphabet::new(&normal.atoms, &self.table);
        let Ok(automaton) = Automaton::new(&normal, negation, &alphabet) else { return Ok(None) };
        let product = Product::new(self.table.graph(), &alphabet, &automaton);
        Ok(job(&product, self.budget).ok())
    }

    fn confirmed(&self, property: &Property, path: &Path) -> Counterexample {
        match confirm(property, &self.table, path) {
            Ok(Evaluated { path, rows }) => Counterexample {
                path,
                rows: rows
                    .into_iter()
                    .map(|(id, truth)| Row { formula: property.ground.show(id, &self.table), truth })
                    .collect(),
            },
            Err(fault) => panic!(
                "a counterexample to {} was not confirmed: {fault}: {path:?}",
                property.ground.show(property.root, &self.table)
            ),
        }
    }

    fn by_automaton(&self, property: &Property) -> Result<Found, String> {
        let parts = conjuncts(property);
        if parts.len() <= SEPARATE {
            match self.refute(property, property.root) {
                Err(TOO_LARGE) if parts.len() > 1 => {}
                other => return other.map_err(str::to_string),
            }
        }
        let mut unsure = false;
        for part in parts {
            let found = self.refute(property, part).map_err(str::to_string)?;
            if found.path.is_some() {
                return Ok(found);
            }
            unsure |= found.unsure;
        }
        Ok(Found { path: None, unsure })
    }

    /// Looks for a path on which `root` fails.
    fn refute(&self, property: &Property, root: NodeId) -> Result<Found, &'static str> {
        let (normal, negation) = Normal::new(&property.ground, root, false);
        let classified = Classified::new(&normal.atoms, &self.table);
        let whole =
            self.letters.as_ref().filter(|all| root == property.root && all.covers(&classified.vocabulary));
        let own = classified.vocabulary.clone();
        let alphabet = Alphabet::within(classified, whole.unwrap_or(&own));
        let automaton = Automaton::new(&normal, negation, &alphabet).map_err(|TooLarge| TOO_LARGE)?;
        let product = Product::new(self.table.graph(), &alphabet, &automaton);
        if product.size() > MAX_NODES {
            return Err(TOO_LARGE_PRODUCT);
        }
        let mut best: Option<Path> = None;
        let mut unsure = false;
        for assumption in &property.assumptions {
            let found = self.explore(&product, assumption).map_err(Stop::reason)?;
            unsure |= found.unsure;
            if let Some(path) = found.path {
                // Paths through few states first; the earlier alternative wins a tie.
                if best.as_ref().is_none_or(|b| path.states.len() < b.states.len()) {
                    best = Some(path);
                }
            }
        }
        Ok(Found { path: best, unsure })
    }

    fn explore(&self, product: &Product<'_, G>, assumption: &Assumption) -> Result<Found, Stop> {
        let waits = product.automaton.waits();
        let found = self.search(product, assumption, waits)?;
        if waits && found.path.is_none() && found.unsure {
            // What is unknown may lie where nothing leads.
            return self.search(product, assumption, false);
        }
        Ok(found)
    }

    /// `waits`: the automaton may wait in every state, and all of them count as reached.
    fn search(&self, product: &Product<'_, G>, assumption: &Assumption, waits: bool) -> Result<Found, Stop> {
        let terminal = product.automaton.is_terminal();
        if terminal && !waits {
            return shortest(product, None, self.budget);
        }
        let mut reached = Layers::prologue(product, self.budget, waits)?;
        reached.settle();
        if terminal {
            return match reached.any_stop {
                true => shortest(product, None, self.budget),
                false => Ok(Found { path: None, unsure: reached.unsure }),
            };
        }
        let judge = Judge::new(&self.table, assumption);
        let size = product.searched() as usize;
        let (mut accepting, mut again) = (Bits::new(size), Bits::new(size));
        // PERF: spares a second pass over components in which some until is always put off.
        let mut decide = |mut component: Component<'_>, again: &mut Bits| {
            if !product.is_cyclic(component.nodes[0]) {
                return;
            }
            match judge.decide(product, &component) {
                Judgement::Accepting => component.nodes.iter().for_each(|&n| {
                    accepting.insert(n as usize);
                }),
                Judgement::Rejected => {}
                Judgement::Without(taken) => {
                    for &n in component.nodes {
                        if judge.hinders(product, &taken, n) {
                            component.remove(n);
                        } else {
                            again.insert(n as usize);
                        }
                    }
                }
            }
        };
        let mut components = Components::new(product.searched());
        let (mut any, mut unsure) = (reached.any_stop, reached.unsure);
        if rayon::current_num_threads() == 1 {
            let mut enter = |node: u32| {
                // The prologue has looked there and behind it.
                if !product.is_cyclic(node) && reached.contains(node) {
                    return false;
                }
                let visit = product.visit(node);
                unsure |= visit.unsure;
                any |= visit.stop.is_some();
                visit.stop.is_none()
            };
            for root in reached.members().filter(|&node| product.is_cyclic(node)) {
                components.search(product, root, self.budget, &mut enter, |c| decide(c, &mut again))?;
            }
            drop(reached);
        } else {
            // Several threads first leave only the nodes that a cycle may pass through.
            reached.complete(product, self.budget)?;
            (any, unsure) = (reached.any_stop, reached.unsure);
            let core = reached.core(product, self.budget)?;
            let within = |node: u32| core.contains(node as usize);
            for root in core.iter() {
                components.search(product, root as u32, self.budget, within, |c| decide(c, &mut again))?;
            }
        }
        // Components that were not fair without some of their nodes; each round settles a constraint.
        while !again.is_empty() {
            self.budget.check()?;
            let left = std::mem::replace(&mut again, Bits::new(size));
            left.iter().for_each(|n| components.reset(n as u32));
            for root in left.iter() {
                components.search(product, root as u32, self.budget, |_| true, |c| decide(c, &mut again))?;
            }
        }
        components.settle();
        unsure |= judge.is_unsure();
        if !any && accepting.is_empty() {
            return Ok(Found { path: None, unsure });
        }
        let found = shortest(product, Some((&components, &accepting, &judge)), self.budget)?;
        Ok(Found { unsure: unsure || found.unsure, ..found })
    }
}

/// The conjuncts of the formula, in order.
fn conjuncts(property: &Property) -> Vec<NodeId> {
    let mut parts = Vec::new();
    let mut open = vec![property.root];
    while let Some(id) = open.pop() {
        match property.ground.node(id) {
            Node::Binary(Binary::And, f, g) => open.extend([g, f]),
            _ => parts.push(id),
        }
    }
    parts
}
