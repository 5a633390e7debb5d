//! The tableau of seed paper 004 (Lichtenstein and Pnueli with deadlocks and events): the oracle.
//!
//! In: a property on a complete graph. Out: a violating path, or none. Never here: anything fast, and
//! nothing shared with the automaton.
//!
//! An atom of the tableau is a state with a guess for every X-formula and for the transition taken next;
//! the truth of all other sub-formulas follows. Y-formulas are no guess: they follow from the atom
//! before. A self-fulfilling component, or an atom of a deadlock state, ends the search. Fairness is put
//! into the formula, as the paper does.

use super::atoms::{AtomId, Table, Truth};
use super::check::{NOT_EVALUATED, NOT_EXPLORED};
use super::formula::{Binary, Unary};
use super::ground::{Assumption, Ground, Node, NodeId, Property, constraint_formula};
use super::lasso::Found;
use super::path::{End, Path};
use super::view::{Edge, Graph, State};
use bombus_base::budget::{Budget, Stop};
use bombus_base::hash::HashMap;
use bombus_system::EventId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Core {
    True,
    Atom(AtomId),
    /// Executed next, or enabled: an operation with its arguments.
    Taken(EventId, u64),
    Offered(EventId, u64),
    Not(usize),
    Or(usize, usize),
    /// The numbers of guesses and memories.
    Next(usize, usize),
    Yesterday(usize, usize),
    Until(usize, usize, usize),
    Since(usize, usize, usize),
}

/// The closure: sub-formulas with operands first, and what has to be guessed or remembered.
#[derive(Default)]
struct Closure {
    forms: Vec<Core>,
    /// For each guess `X f`: the place of f. For each memory `Y f`: the place of f.
    nexts: Vec<usize>,
    yesterdays: Vec<usize>,
    known: HashMap<NodeId, usize>,
}

/// One guess: bits of X-formulas, bits of Y-formulas, and the truth of every form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Guess {
    next: u32,
    yesterday: u32,
    truth: Vec<bool>,
}

type AtomNumber = usize;

/// The truth of the forms that speak of the transition taken next; none is taken in a deadlock.
type Taken = Option<Vec<bool>>;

/// The guesses of one state, by the truth they give to each f that has an X f in the closure: exactly
/// those with the right truths can follow an atom.
type BySignature = BTreeMap<u32, Vec<(Taken, Guess)>>;

const MAX_GUESSES: usize = 13;

/// Searches for a path that violates the property.
pub(super) fn search<G: Graph>(
    property: &Property,
    table: &Table<'_, G>,
    budget: &Budget,
) -> Result<Found, String> {
    let graph = table.graph();
    if !graph.is_complete() {
        return Err(NOT_EXPLORED.into());
    }
    let (closure, root) = Closure::of(property, table);
    let unknown = closure.forms.iter().any(|f| matches!(f, Core::Atom(atom) if table.is_unsure(*atom)));
    if unknown {
        return Err(NOT_EVALUATED.into());
    }
    if closure.nexts.len() > MAX_GUESSES || closure.yesterdays.len() > 32 {
        return Err("the formula is too large for the tableau".into());
    }
    let mut tableau = Tableau {
        table,
        closure,
        memo: HashMap::new(),
        numbers: HashMap::new(),
        atoms: Vec::new(),
        edges: Vec::new(),
    };
    let mut initial = Vec::new();
    for &state in graph.initial() {
        for (taken, guess) in tableau.guesses(state, 0).values().flatten() {
            if guess.truth[root] {
                initial.push(tableau.atom(state, taken, guess));
            }
        }
    }
    tableau.build(budget).map_err(|stop| stop.reason().to_string())?;
    Ok(Found { path: tableau.counterexample(&initial), unsure: false })
}

impl Closure {
    fn of<G: Graph>(property: &Property, table: &Table<'_, G>) -> (Closure, usize) {
        let mut ground = property.ground.clone();
        let mut closure = Closure::default();
        let mut fair: Option<usize> = None;
        let labels = labels_of(table.graph());
        for assumption in &property.assumptions {
            let one = closure.assumption(assumption, &mut ground, &labels);
            fair = Some(match fair {
                None => one,
                Some(other) => closure.add(Core::Or(other, one)),
            });
        }
        let fair = fair.expect("a property has an assumption");
        let formula = closure.form(&ground, property.root);
        let violated = closure.not(formula);
        let root = closure.and(fair, violated);
        (closure, root)
    }

    fn add(&mut self, form: Core) -> usize {
        if let Some(known) = self.forms.iter().position(|f| *f == form) {
            return known;
        }
        self.forms.push(form);
        self.forms.len() - 1
    }

    fn not(&mut self, f: usize) -> usize {
        match self.forms[f] {
            Core::Not(inner) => inner,
            _ => self.add(Core::Not(f)),
        }
    }

    fn and(&mut self, f: usize, g: usize) -> usize {
        let (f, g) = (self.not(f), self.not(g));
        let either = self.add(Core::Or(f, g));
        self.not(either)
    }

    fn next(&mut self, f: usize) -> usize {
        let known = self.nexts.iter().position(|n| *n == f);
        let number = known.unwrap_or_else(|| {
            self.nexts.push(f);
            self.nexts.len() - 1
        });
        self.add(Core::Next(f, number))
    }

    fn until(&mut self, f: usize, g: usize) -> usize {
        let known = self.forms.iter().position(|c| matches!(c, Core::Until(a, b, _) if (*a, *b) == (f, g)));
        known.unwrap_or_else(|| {
            self.nexts.push(self.forms.len());
            self.add(Core::Until(f, g, self.nexts.len() - 1))
        })
    }

    fn since(&mut self, f: usize, g: usize) -> usize {
        let known = self.forms.iter().position(|c| matches!(c, Core::Since(a, b, _) if (*a, *b) == (f, g)));
        known.unwrap_or_else(|| {
            self.yesterdays.push(self.forms.len());
            self.add(Core::Since(f, g, self.yesterdays.len() - 1))
        })
    }

    fn globally(&mut self, f: usize) -> usize {
        let (truth, not_f) = (self.add(Core::True), self.not(f));
        let finally = self.until(truth, not_f);
        self.not(finally)
    }

    fn finally(&mut self, f: usize) -> usize {
        let truth = self.add(Core::True);
        self.until(truth, f)
    }

    /// An assumption as a formula; labels are taken one by one.
    fn assumption(
        &mut self,
        assumption: &Assumption,
        ground: &mut Ground,
        labels: &BTreeSet<(EventId, u64)>,
    ) -> usize {
        let mut all = self.add(Core::True);
        for constraint in &assumption.constraints {
            let formula = constraint_formula(ground, constraint);
            let formula = self.form(ground, formula);
            all = self.and(all, formula);
        }
        for (strong, wanted) in [(true, assumption.every_strong), (false, assumption.every_weak)] {
            for &(event, label) in labels.iter().filter(|_| wanted) {
                let offered = self.add(Core::Offered(event, label));
                let taken = self.add(Core::Taken(event, label));
                let premise = if strong {
                    let often = self.finally(offered);
                    self.globally(often)
                } else {
                    let always = self.globally(offered);
                    self.finally(always)
                };
                let response = self.finally(taken);
                let response = self.globally(response);
                let not_premise = self.not(premise);
                let constraint = self.add(Core::Or(not_premise, response));
                all = self.and(all, constraint);
            }
        }
        all
    }

    fn form(&mut self, ground: &Ground, id: NodeId) -> usize {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let form = self.unknown_form(ground, id);
        self.known.insert(id, form);
        form
    }

    fn unknown_form(&mut self, ground: &Ground, id: NodeId) -> usize {
        match ground.node(id) {
            Node::Constant(value) => {
                let truth = self.add(Core::True);
                if value { truth } else { self.not(truth) }
            }
            Node::Atom(atom) => self.add(Core::Atom(atom)),
            Node::Unary(op, f) => {
                let f = self.form(ground, f);
                match op {
                    Unary::Not => self.not(f),
                    Unary::Next => self.next(f),
                    Unary::Finally => self.finally(f),
                    Unary::Globally => self.globally(f),
                    Unary::Yesterday => {
                        let known =
                            self.forms.iter().position(|c| matches!(c, Core::Yesterday(g, _) if *g == f));
                        known.unwrap_or_else(|| {
                            self.yesterdays.push(f);
                            self.add(Core::Yesterday(f, self.yesterdays.len() - 1))
                        })
                    }
                    Unary::Once => {
                        let truth = self.add(Core::True);
                        self.since(truth, f)
                    }
                    Unary::Historically => {
                        let (truth, not_f) = (self.add(Core::True), self.not(f));
                        let once = self.since(truth, not_f);
                        self.not(once)
                    }
                }
            }
            Node::Binary(op, f, g) => {
                let (f, g) = (self.form(ground, f), self.form(ground, g));
                let (not_f, not_g) = (self.not(f), self.not(g));
                match op {
                    Binary::And => self.and(f, g),
                    Binary::Or => self.add(Core::Or(f, g)),
                    Binary::Implies => self.add(Core::Or(not_f, g)),
                    Binary::Iff => {
                        let (both, neither) = (self.and(f, g), self.and(not_f, not_g));
                        self.add(Core::Or(both, neither))
                    }
                    Binary::Until => self.until(f, g),
                    Binary::WeakUntil => {
                        let (always, until) = (self.globally(f), self.until(f, g));
                        self.add(Core::Or(always, until))
                    }
                    Binary::Release => {
                        let until = self.until(not_f, not_g);
                        self.not(until)
                    }
                    Binary::Since => self.since(f, g),
                    Binary::Trigger => {
                        let since = self.since(not_f, not_g);
                        self.not(since)
                    }
                }
            }
        }
    }
}

fn labels_of<G: Graph>(graph: &G) -> BTreeSet<(EventId, u64)> {
    (0..graph.transitions()).map(|e| (graph.event(Edge(e)), graph.label(Edge(e)))).collect()
}

struct Tableau<'t, 'a, G> {
    table: &'t Table<'a, G>,
    closure: Closure,
    memo: HashMap<(State, u32), Rc<BySignature>>,
    /// By state, transition, and the bits of the guess.
    numbers: HashMap<(State, Taken, [u32; 2]), AtomNumber>,
    atoms: Vec<(State, Taken, Guess)>,
    edges: Vec<Vec<(Edge, AtomNumber)>>,
}

impl<G: Graph> Tableau<'_, '_, G> {
    /// The truth of the forms that speak of a transition, in the order of the closure.
    fn taken(&self, edge: Edge, state: State) -> Vec<bool> {
        let graph = self.table.graph();
        self.closure
            .forms
            .iter()
            .filter_map(|form| match *form {
                Core::Atom(atom) if self.table.meaning(atom).is_transition() => {
                    Some(self.table.at(atom, state, Some(edge)) == Truth::True)
                }
                Core::Taken(event, label) => Some((graph.event(edge), graph.label(edge)) == (event, label)),
                _ => None,
            })
            .collect()
    }

    /// All consistent guesses in a state with the given memory, each with the kind of transition guessed
    /// to be next (none in a deadlock).
    fn guesses(&mut self, state: State, yesterday: u32) -> Rc<BySignature> {
        if let Some(known) = self.memo.get(&(state, yesterday)) {
            return known.clone();
        }
        let graph = self.table.graph();
        let kinds: Vec<Taken> = if graph.is_deadlock(state) {
            vec![None]
        } else {
            let kinds: BTreeSet<Vec<bool>> = graph.edges(state).map(|e| self.taken(Edge(e), state)).collect();
            kinds.into_iter().map(Some).collect()
        };
        let mut all = BySignature::new();
        for kind in kinds {
            // In a deadlock no X-formula is true.
            let bits = if kind.is_none() { 0 } else { self.closure.nexts.len() };
            for next in 0..1u32 << bits {
                let truth = self.truth(state, kind.as_deref(), next, yesterday);
                let mut signature = 0;
                for (n, &f) in self.closure.nexts.iter().enumerate() {
                    signature |= u32::from(truth[f]) << n;
                }
                all.entry(signature).or_default().push((kind.clone(), Guess { next, yesterday, truth }));
            }
        }
        let all = Rc::new(all);
        self.memo.insert((state, yesterday), all.clone());
        all
    }

    fn truth(&self, state: State, kind: Option<&[bool]>, next: u32, yesterday: u32) -> Vec<bool> {
        let graph = self.table.graph();
        let mut truth: Vec<bool> = Vec::with_capacity(self.closure.forms.len());
        let mut kinds = kind.into_iter().flatten().copied();
        let bit = |bits: u32, n: usize| bits >> n & 1 == 1;
        for form in &self.closure.forms {
            let value = match *form {
                Core::True => true,
                Core::Atom(atom) if self.table.meaning(atom).is_transition() => kinds.next().unwrap_or(false),
                Core::Taken(..) => kinds.next().unwrap_or(false),
                Core::Atom(atom) => self.table.at(atom, state, None) == Truth::True,
                Core::Offered(event, label) => {
                    graph.edges(state).any(|e| (graph.event(Edge(e)), graph.label(Edge(e))) == (event, label))
                }
                Core::Not(f) => !truth[f],
                Core::Or(f, g) => truth[f] || truth[g],
                Core::Next(_, n) => bit(next, n),
                Core::Yesterday(_, n) => bit(yesterday, n),
                Core::Until(f, g, n) => truth[g] || truth[f] && bit(next, n),
                Core::Since(f, g, n) => truth[g] || truth[f] && bit(yesterday, n),
            };
            truth.push(value);
        }
        truth
    }

    fn atom(&mut self, state: State, kind: &Taken, guess: &Guess) -> AtomNumber {
        let key = (state, kind.clone(), [guess.next, guess.yesterday]);
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        self.atoms.push((state, kind.clone(), guess.clone()));
        self.numbers.insert(key, self.atoms.len() - 1);
        self.atoms.len() - 1
    }

    fn build(&mut self, budget: &Budget) -> Result<(), Stop> {
        while self.edges.len() < self.atoms.len() {
            if self.edges.len().is_multiple_of(1 << 10) {
                budget.check()?;
            }
            let (state, kind, guess) = self.atoms[self.edges.len()].clone();
            let mut successors = Vec::new();
            let mut yesterday = 0;
            for (n, &f) in self.closure.yesterdays.iter().enumerate() {
                yesterday |= u32::from(guess.truth[f]) << n;
            }
            for e in self.table.graph().edges(state) {
                let edge = Edge(e);
                if Some(self.taken(edge, state)) != kind {
                    continue;
                }
                let target = self.table.graph().target(edge);
                let guesses = self.guesses(target, yesterday);
                for (kind, next) in guesses.get(&guess.next).into_iter().flatten() {
                    let number = self.atom(target, kind, next);
                    successors.push((edge, number));
                }
            }
            self.edges.push(successors);
        }
        Ok(())
    }

    /// Components by two depth-first passes (Kosaraju); each atom gets the number of its component.
    fn components(&self) -> Vec<usize> {
        let count = self.atoms.len();
        let mut order = Vec::with_capacity(count);
        let mut seen = vec![false; count];
        for root in 0..count {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut stack = vec![(root, 0)];
            while let Some((atom, at)) = stack.last_mut() {
                if let Some(&(_, to)) = self.edges[*atom].get(*at) {
                    *at += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                } else {
                    order.push(*atom);
                    stack.pop();
                }
            }
        }
        let mut reverse = vec![Vec::new(); count];
        for (from, successors) in self.edges.iter().enumerate() {
            for &(_, to) in successors {
                reverse[to].push(from);
            }
        }
        let mut component = vec![usize::MAX; count];
        for &root in order.iter().rev() {
            if component[root] != usize::MAX {
                continue;
            }
            component[root] = root;
            let mut open = vec![root];
            while let Some(atom) = open.pop() {
                for &from in &reverse[atom] {
                    if component[from] == usize::MAX {
                        component[from] = root;
                        open.push(from);
                    }
                }
            }
        }
        component
    }

    fn counterexample(&self, initial: &[AtomNumber]) -> Option<Path> {
        let component = self.components();
        let mut members: BTreeMap<usize, Vec<AtomNumber>> = BTreeMap::new();
        for (atom, &c) in component.iter().enumerate() {
            members.entry(c).or_default().push(atom);
        }
        let accepting: BTreeSet<usize> =
            members.iter().filter(|(_, atoms)| self.accepts(atoms, &component)).map(|(c, _)| *c).collect();
        let goal = |atom: AtomNumber| accepting.contains(&component[atom]);
        let (start, mut way) = self.way(initial, goal, |_| true)?;
        let entry_atom = way.last().map_or(start, |&(_, atom)| atom);
        let entry = way.len();
        let deadlock = self.table.graph().is_deadlock(self.atoms[entry_atom].0);
        if !deadlock {
            // Visit a fulfilling atom for each until, then come back with at least one step.
            let inside = |atom: AtomNumber| component[atom] == component[entry_atom];
            let mut here = entry_atom;
            for form in &self.closure.forms {
                if let Core::Until(_, g, _) = *form {
                    let fulfils = |atom: AtomNumber| inside(atom) && self.atoms[atom].2.truth[g];
                    if let Some((_, more)) = self.way(&[here], fulfils, inside) {
                        here = more.last().map_or(here, |&(_, atom)| atom);
                        way.extend(more);
                    }
                }
            }
            let &(edge, first) = self.edges[here].iter().find(|(_, to)| inside(*to))?;
            way.push((edge, first));
            let (_, back) = self.way(&[first], |atom| atom == entry_atom, inside)?;
            way.extend(back);
        }
        let mut states = vec![self.atoms[start].0];
        states.extend(way.iter().map(|&(_, atom)| self.atoms[atom].0));
        let edges = way.iter().map(|&(edge, _)| edge).collect();
        if deadlock {
            return Some(Path { states, edges, end: End::Deadlock });
        }
        states.pop();
        Some(Path { states, edges, end: End::Loop(entry) })
    }

    /// Self-fulfilling with an inner edge, or an atom of a deadlock state.
    fn accepts(&self, atoms: &[AtomNumber], component: &[usize]) -> bool {
        if self.table.graph().is_deadlock(self.atoms[atoms[0]].0) {
            return true;
        }
        let own = component[atoms[0]];
        let nontrivial = atoms.iter().any(|&a| self.edges[a].iter().any(|&(_, to)| component[to] == own));
        nontrivial
            && self.closure.forms.iter().enumerate().all(|(at, form)| match *form {
                Core::Until(_, g, _) => {
                    !atoms.iter().any(|&a| self.atoms[a].2.truth[at])
                        || atoms.iter().any(|&a| self.atoms[a].2.truth[g])
                }
                _ => true,
            })
    }

    /// The shortest way from one of `starts` to a wanted atom, through allowed ones.
    fn way(
        &self,
        starts: &[AtomNumber],
        wanted: impl Fn(AtomNumber) -> bool,
        allowed: impl Fn(AtomNumber) -> bool,
    ) -> Option<(AtomNumber, Vec<(Edge, AtomNumber)>)> {
        let mut before: HashMap<AtomNumber, Option<(AtomNumber, Edge)>> = HashMap::new();
        let mut queue = VecDeque::new();
        for &start in starts {
            if before.insert(start, None).is_none() {
                queue.push_back(start);
            }
        }
        while let Some(atom) = queue.pop_front() {
            if wanted(atom) {
                let mut way = Vec::new();
                let mut back = atom;
                while let Some((from, edge)) = before[&back] {
                    way.push((edge, back));
                    back = from;
                }
                way.reverse();
                return Some((back, way));
            }
            for &(edge, to) in &self.edges[atom] {
                if allowed(to) && !before.contains_key(&to) {
                    before.insert(to, Some((atom, edge)));
                    queue.push_back(to);
                }
            }
        }
        None
    }
}
