//! CTL by labelling: for each sub-formula the states that satisfy it.
//!
//! In: a parsed formula and the graph. Out: a verdict, with a path that explains a violation as far as
//! one path can. Never here: LTL.
//!
//! Paths are maximal, as in LTL: `AX f` is true in a deadlock, `EG f` may end in one. On a graph that is
//! not complete every label is two sets, the states that must and those that may satisfy the formula.

use super::atoms::{Faults, Meaning, Table, Truth};
use super::bits::Bits;
use super::check::{Checker, NO_START, NOT_EVALUATED, NOT_EXPLORED, Row};
use super::ctl_parse::{Ctl, CtlKind, Quantifier, Temporal};
use super::formula::Atom;
use super::path::{End, Path};
use super::view::{Edge, Graph, State};

#[derive(Clone, Debug)]
pub enum CtlVerdict {
    Holds,
    /// A path from an initial state that violates the formula, and the truth of each sub-formula in its states.
    Violated(Path, Vec<Row>),
    Incomplete(Vec<String>),
}

impl CtlVerdict {
    pub fn word(&self) -> &'static str {
        match self {
            CtlVerdict::Holds => "holds",
            CtlVerdict::Violated(..) => "violated",
            CtlVerdict::Incomplete(_) => "incomplete",
        }
    }
}

impl Ctl {
    /// Evaluates all atoms.
    pub(super) fn intern<G: Graph>(&self, table: &mut Table<'_, G>) -> Result<(), Faults> {
        match &self.kind {
            CtlKind::Constant(_) => Ok(()),
            CtlKind::Atom(atom) => table.intern(atom, &[], self.span).map(|_| ()),
            CtlKind::Not(f) => f.intern(table),
            CtlKind::And(f, g) | CtlKind::Or(f, g) | CtlKind::Implies(f, g) => {
                f.intern(table)?;
                g.intern(table)
            }
            CtlKind::Path(_, temporal) => match temporal {
                Temporal::Next(pattern, f) => {
                    if let Some(pattern) = pattern {
                        table.intern(&Atom::Executed(pattern.clone()), &[], pattern.operation.span)?;
                    }
                    f.intern(table)
                }
                Temporal::Finally(f) | Temporal::Globally(f) => f.intern(table),
                Temporal::Until(f, g) => {
                    f.intern(table)?;
                    g.intern(table)
                }
            },
        }
    }
}

impl<G: Graph> Checker<'_, G> {
    /// Decides a CTL formula: it has to be true in every initial state.
    pub fn check_ctl(&mut self, formula: &Ctl) -> Result<CtlVerdict, Faults> {
        if let Err(stop) = self.budget().check() {
            return Ok(CtlVerdict::Incomplete(vec![stop.reason().into()]));
        }
        let graph = self.table().graph();
        if graph.initial().is_empty() {
            return Ok(CtlVerdict::Incomplete(vec![NO_START.into()]));
        }
        let mut labelling = Labelling::new(self.table(), Alone);
        let root = labelling.formula(formula)?;
        let label = &labelling.nodes[root].label;
        if let Some(&state) = graph.initial().iter().find(|s| !label.may.contains(s.index())) {
            let path = labelling.explain(root, state, false);
            let rows = labelling.rows(&path);
            return Ok(CtlVerdict::Violated(path, rows));
        }
        Ok(if !graph.is_complete() {
            CtlVerdict::Incomplete(vec![NOT_EXPLORED.into()])
        } else if graph.initial().iter().any(|s| !label.must.contains(s.index())) {
            CtlVerdict::Incomplete(vec![NOT_EVALUATED.into()])
        } else {
            CtlVerdict::Holds
        })
    }
}

/// The machines that have the states of a graph that this one has no transitions of.
pub(super) trait Elsewhere {
    type Halt: From<Faults>;

    /// There are none: nothing has to be told.
    const NOWHERE: bool;

    /// How many of so many nodes are states of this machine; they come first.
    fn own(&self, nodes: usize) -> usize {
        nodes
    }

    /// Tells the others about states of this machine, and hears which nodes here they tell about; `None` if nobody told
    /// anything. All machines call this at the same point.
    fn tell(&mut self, states: &[u32]) -> Result<Option<Vec<u32>>, Self::Halt>;
}

/// All states are here.
pub(super) struct Alone;

impl Elsewhere for Alone {
    type Halt = Faults;
    const NOWHERE: bool = true;

    fn tell(&mut self, _: &[u32]) -> Result<Option<Vec<u32>>, Faults> {
        Ok(None)
    }
}

/// Where a formula is known to hold, and where it is not known to fail.
#[derive(Clone)]
pub(super) struct Label {
    pub must: Bits,
    pub may: Bits,
}

impl Label {
    fn not(&self) -> Label {
        Label { must: self.may.clone().complement(), may: self.must.clone().complement() }
    }

    fn or(&self, other: &Label) -> Label {
        Label { must: self.must.clone().union(&other.must), may: self.may.clone().union(&other.may) }
    }

    fn and(&self, other: &Label) -> Label {
        Label {
            must: self.must.clone().intersection(&other.must),
            may: self.may.clone().intersection(&other.may),
        }
    }
}

/// Everything reduces to these; operands are places in `Labelling::nodes`.
pub(super) enum Connective {
    Leaf,
    Not(usize),
    Or(usize, usize),
    And(usize, usize),
    /// Some successor, by a transition of the given kind.
    Next(Option<Meaning>, usize),
    Globally(usize),
    Until(usize, usize),
}

pub(super) struct Labelled {
    pub shape: Connective,
    label: Label,
}

/// Sources of the transitions into each state.
struct Reverse {
    first: Vec<u64>,
    sources: Vec<u32>,
}

impl Reverse {
    fn new<G: Graph>(graph: &G) -> Self {
        let mut first = vec![0u64; graph.states() + 1];
        for e in 0..graph.transitions() {
            first[graph.target(Edge(e)).index() + 1] += 1;
        }
        for s in 0..graph.states() {
            first[s + 1] += first[s];
        }
        let mut at = first.clone();
        let mut sources = vec![0; graph.transitions() as usize];
        for s in 0..graph.states() as u32 {
            for e in graph.edges(State(s)) {
                let place = &mut at[graph.target(Edge(e)).index()];
                sources[*place as usize] = s;
                *place += 1;
            }
        }
        Reverse { first, sources }
    }

    fn of(&self, state: usize) -> &[u32] {
        &self.sources[self.first[state] as usize..self.first[state + 1] as usize]
    }
}

pub(super) struct Labelling<'t, 'a, G, E> {
    pub table: &'t mut Table<'a, G>,
    pub elsewhere: E,
    reverse: Reverse,
    pub nodes: Vec<Labelled>,
    /// The sub-formulas that the user wrote, inner ones first, with their nodes.
    parts: Vec<(String, usize)>,
}

impl<'t, 'a, G: Graph, E: Elsewhere> Labelling<'t, 'a, G, E> {
    pub fn new(table: &'t mut Table<'a, G>, elsewhere: E) -> Self {
        let reverse = Reverse::new(table.graph());
        Labelling { table, elsewhere, reverse, nodes: Vec::new(), parts: Vec::new() }
    }

    /// How many nodes are states of this machine.
    pub fn own(&self) -> usize {
        self.elsewhere.own(self.table.graph().states())
    }

    /// Makes known which states of other machines are members of a set that is known for those of this one.
    fn shared(&mut self, mut set: Bits) -> Result<Bits, E::Halt> {
        if E::NOWHERE {
            return Ok(set);
        }
        let own = self.own();
        (own..set.len()).for_each(|s| set.remove(s));
        let told: Vec<u32> = set.iter().map(|s| s as u32).collect();
        for state in self.elsewhere.tell(&told)?.into_iter().flatten() {
            set.insert(state as usize);
        }
        Ok(set)
    }

    fn push(&mut self, shape: Connective, label: Label) -> usize {
        self.nodes.push(Labelled { shape, label });
        self.nodes.len() - 1
    }

    pub fn label(&self, node: usize) -> &Label {
        &self.nodes[node].label
    }

    fn constant(&mut self, value: bool) -> usize {
        let states = self.table.graph().states();
        let set = if value { Bits::full(states) } else { Bits::new(states) };
        self.push(Connective::Leaf, Label { must: set.clone(), may: set })
    }

    fn not(&mut self, f: usize) -> usize {
        let label = self.label(f).not();
        self.push(Connective::Not(f), label)
    }

    fn or(&mut self, f: usize, g: usize) -> usize {
        let label = self.label(f).or(self.label(g));
        self.push(Connective::Or(f, g), label)
    }

    fn and(&mut self, f: usize, g: usize) -> usize {
        let label = self.label(f).and(self.label(g));
        self.push(Connective::And(f, g), label)
    }

    /// The node of a formula.
    pub fn formula(&mut self, formula: &Ctl) -> Result<usize, E::Halt> {
        let node = self.reduced(formula)?;
        let text = formula.to_string();
        if !matches!(formula.kind, CtlKind::Constant(_)) && self.parts.iter().all(|(known, _)| *known != text)
        {
            self.parts.push((text, node));
        }
        Ok(node)
    }

    /// The truth of each sub-formula in the states of a path.
    fn rows(&self, path: &Path) -> Vec<Row> {
        let truth = |node: usize, state: &State| {
            let label = self.label(node);
            match (label.must.contains(state.index()), label.may.contains(state.index())) {
                (true, _) => Truth::True,
                (false, true) => Truth::Unknown,
                (false, false) => Truth::False,
            }
        };
        let row = |(text, node): &(String, usize)| Row {
            formula: text.clone(),
            truth: path.states.iter().map(|state| truth(*node, state)).collect(),
        };
        self.parts.iter().map(row).collect()
    }

    /// A formula by the shapes that everything reduces to.
    fn reduced(&mut self, formula: &Ctl) -> Result<usize, E::Halt> {
        Ok(match &formula.kind {
            CtlKind::Constant(value) => self.constant(*value),
            CtlKind::Atom(atom) => {
                let atom = self.table.intern(atom, &[], formula.span)?;
                let Meaning::States(extent) = self.table.meaning(atom) else {
                    unreachable!("the parser reads [op] as e(op)");
                };
                let must = extent.holds.clone();
                let may = match &extent.unknown {
                    Some(unknown) => must.clone().union(unknown),
                    None => must.clone(),
                };
                let label = Label { must: self.shared(must)?, may: self.shared(may)? };
                self.push(Connective::Leaf, label)
            }
            CtlKind::Not(f) => {
                let f = self.formula(f)?;
                self.not(f)
            }
            CtlKind::And(f, g) => {
                let (f, g) = (self.formula(f)?, self.formula(g)?);
                self.and(f, g)
            }
            CtlKind::Or(f, g) => {
                let (f, g) = (self.formula(f)?, self.formula(g)?);
                self.or(f, g)
            }
            CtlKind::Implies(f, g) => {
                let (f, g) = (self.formula(f)?, self.formula(g)?);
                let not_f = self.not(f);
                self.or(not_f, g)
            }
            CtlKind::Path(Quantifier::Exists, temporal) => match temporal {
                Temporal::Next(pattern, f) => {
                    let kind = match pattern {
                        None => None,
                        Some(pattern) => {
                            let atom = Atom::Executed(pattern.clone());
                            let atom = self.table.intern(&atom, &[], pattern.operation.span)?;
                            Some(self.table.meaning(atom).clone())
                        }
                    };
                    let f = self.formula(f)?;
                    self.next(kind, f)?
                }
                Temporal::Finally(f) => {
                    let (truth, f) = (self.constant(true), self.formula(f)?);
                    self.until(truth, f)?
                }
                Temporal::Globally(f) => {
                    let f = self.formula(f)?;
                    self.globally(f)?
                }
                Temporal::Until(f, g) => {
                    let (f, g) = (self.formula(f)?, self.formula(g)?);
                    self.until(f, g)?
                }
            },
            // On all paths: on no path the contrary.
            CtlKind::Path(Quantifier::All, temporal) => {
                let contrary = match temporal {
                    Temporal::Next(_, f) => {
                        let f = self.formula(f)?;
                        let not_f = self.not(f);
                        self.next(None, not_f)?
                    }
                    Temporal::Finally(f) => {
                        let f = self.formula(f)?;
                        let not_f = self.not(f);
                        self.globally(not_f)?
                    }
                    Temporal::Globally(f) => {
                        let (truth, f) = (self.constant(true), self.formula(f)?);
                        let not_f = self.not(f);
                        self.until(truth, not_f)?
                    }
                    Temporal::Until(f, g) => {
                        let (f, g) = (self.formula(f)?, self.formula(g)?);
                        let (not_f, not_g) = (self.not(f), self.not(g));
                        let neither = self.and(not_f, not_g);
                        let left = self.until(not_g, neither)?;
                        let never = self.globally(not_g)?;
                        self.or(left, never)
                    }
                };
                self.not(contrary)
            }
        })
    }

    pub fn kind_at(&self, kind: &Option<Meaning>, edge: Edge) -> Truth {
        match kind {
            None => Truth::True,
            Some(Meaning::Event(event)) => (self.table.graph().event(edge) == *event).into(),
            Some(Meaning::Transitions(extent) | Meaning::States(extent)) => extent.at(edge.index()),
        }
    }

    fn next(&mut self, kind: Option<Meaning>, f: usize) -> Result<usize, E::Halt> {
        let graph = self.table.graph();
        let target = &self.label(f);
        let edges = |s: usize| graph.edges(State(s as u32)).map(Edge);
        let must = Bits::from_fn(graph.states(), |s| {
            edges(s).any(|e| {
                self.kind_at(&kind, e) == Truth::True && target.must.contains(graph.target(e).index())
            })
        });
        let may = Bits::from_fn(graph.states(), |s| {
            !graph.is_expanded(State(s as u32))
                || edges(s).any(|e| {
                    self.kind_at(&kind, e) != Truth::False && target.may.contains(graph.target(e).index())
                })
        });
        let label = Label { must: self.shared(must)?, may: self.shared(may)? };
        Ok(self.push(Connective::Next(kind, f), label))
    }

    /// States from which a `through`-path leads to `to` (that is, into `to` by states of `through`).
    fn backward(&mut self, through: &Bits, to: Bits) -> Result<Bits, E::Halt> {
        let mut open: Vec<usize> = to.iter().collect();
        let mut found = to;
        loop {
            let mut news = Vec::new();
            while let Some(s) = open.pop() {
                for &source in self.reverse.of(s) {
                    if through.contains(source as usize) && found.insert(source as usize) {
                        open.push(source as usize);
                        if !E::NOWHERE {
                            news.push(source);
                        }
                    }
                }
            }
            let Some(told) = self.elsewhere.tell(&news)? else { return Ok(found) };
            open.extend(told.into_iter().map(|s| s as usize).filter(|s| found.insert(*s)));
        }
    }

    fn until(&mut self, f: usize, g: usize) -> Result<usize, E::Halt> {
        let graph = self.table.graph();
        let own = self.own();
        let (from, to) = (self.label(f).clone(), self.label(g).clone());
        let must = self.backward(&from.must, to.must)?;
        // Behind a state that was not expanded anything may follow.
        let beyond = Bits::from_fn(graph.states(), |s| {
            s < own && !graph.is_expanded(State(s as u32)) && from.may.contains(s)
        });
        let beyond = self.shared(beyond)?;
        let may = self.backward(&from.may, to.may.union(&beyond))?;
        Ok(self.push(Connective::Until(f, g), Label { must, may }))
    }

    fn globally(&mut self, f: usize) -> Result<usize, E::Halt> {
        let graph = self.table.graph();
        let Label { must, may } = self.label(f).clone();
        let must = self.forever(must, |s| graph.is_deadlock(s))?;
        let may = self.forever(may, |s| graph.is_deadlock(s) || !graph.is_expanded(s))?;
        Ok(self.push(Connective::Globally(f), Label { must, may }))
    }

    /// The largest set within `inside` all of whose members have a successor in it or may end a path.
    fn forever(&mut self, inside: Bits, ends: impl Fn(State) -> bool) -> Result<Bits, E::Halt> {
        let graph = self.table.graph();
        let own = self.own();
        let mut kept = inside.clone();
        let mut successors: Vec<u32> = vec![0; own];
        let mut open = Vec::new();
        for s in inside.iter().take_while(|s| *s < own) {
            let state = State(s as u32);
            let inner = graph.edges(state).filter(|&e| inside.contains(graph.target(Edge(e)).index()));
            successors[s] = inner.count() as u32 + u32::from(ends(state));
            if successors[s] == 0 {
                open.push(s as u32);
            }
        }
        loop {
            let mut news = Vec::new();
            while let Some(s) = open.pop() {
                kept.remove(s as usize);
                if !E::NOWHERE && (s as usize) < own {
                    news.push(s);
                }
                for &source in self.reverse.of(s as usize) {
                    let left = &mut successors[source as usize];
                    if kept.contains(source as usize) && *left > 0 {
                        *left -= 1;
                        if *left == 0 {
                            open.push(source);
                        }
                    }
                }
            }
            let Some(told) = self.elsewhere.tell(&news)? else { return Ok(kept) };
            open.extend(told);
        }
    }

    /// A path from `state` that shows why the formula is known to have the given truth there; as long as
    /// one path can tell.
    fn explain(&self, node: usize, state: State, truth: bool) -> Path {
        let graph = self.table.graph();
        let here = Path { states: vec![state], edges: Vec::new(), end: End::Open };
        let holds = |n: usize, s: State| self.label(n).must.contains(s.index());
        let fails = |n: usize, s: State| !self.label(n).may.contains(s.index());
        match (&self.nodes[node].shape, truth) {
            (Connective::Not(f), _) => self.explain(*f, state, !truth),
            (Connective::Or(f, g), true) => self.explain(if holds(*f, state) { *f } else { *g }, state, true),
            (Connective::And(f, g), false) => {
                self.explain(if fails(*f, state) { *f } else { *g }, state, false)
            }
            // Both sides matter; the one that has a path to show is shown.
            (Connective::And(f, g), true) | (Connective::Or(f, g), false) => {
                let first = self.explain(*f, state, truth);
                if first.states.len() > 1 { first } else { self.explain(*g, state, truth) }
            }
            (Connective::Next(kind, f), true) => {
                let step = graph
                    .edges(state)
                    .map(Edge)
                    .find(|&e| self.kind_at(kind, e) == Truth::True && holds(*f, graph.target(e)));
                match step {
                    Some(edge) => self.joined(here, edge, *f),
                    None => here,
                }
            }
            (Connective::Until(f, g), true) => {
                let way = self.shortest(state, |s| holds(*f, s), |s| holds(*g, s));
                let Some((mut states, edges)) = way else { return here };
                let last = states.pop().unwrap_or(state);
                let rest = self.explain(*g, last, true);
                let entry = states.len();
                states.extend(rest.states);
                Path {
                    states,
                    edges: edges.into_iter().chain(rest.edges).collect(),
                    end: shifted(rest.end, entry),
                }
            }
            (Connective::Globally(_), true) => {
                let mut path = here;
                let mut at = state;
                loop {
                    let step = graph.edges(at).map(Edge).find(|&e| holds(node, graph.target(e)));
                    let Some(edge) = step else {
                        path.end = if graph.is_deadlock(at) { End::Deadlock } else { End::Open };
                        return path;
                    };
                    at = graph.target(edge);
                    path.edges.push(edge);
                    if let Some(entry) = path.states.iter().position(|s| *s == at) {
                        path.end = End::Loop(entry);
                        return path;
                    }
                    path.states.push(at);
                }
            }
            (
                Connective::Leaf | Connective::Next(..) | Connective::Until(..) | Connective::Globally(_),
                _,
            ) => here,
        }
    }

    /// A step and the explanation of what holds behind it.
    fn joined(&self, mut path: Path, edge: Edge, f: usize) -> Path {
        let rest = self.explain(f, self.table.graph().target(edge), true);
        path.end = shifted(rest.end, path.states.len());
        path.edges.push(edge);
        path.edges.extend(rest.edges);
        path.states.extend(rest.states);
        path
    }

    /// The shortest way from `from` to a wanted state through allowed ones.
    fn shortest(
        &self,
        from: State,
        allowed: impl Fn(State) -> bool,
        wanted: impl Fn(State) -> bool,
    ) -> Option<(Vec<State>, Vec<Edge>)> {
        let graph = self.table.graph();
        let mut before: Vec<Option<(State, Edge)>> = vec![None; graph.states()];
        let mut queue = vec![from];
        let mut at = 0;
        while at < queue.len() {
            let state = queue[at];
            at += 1;
            if wanted(state) {
                let (mut states, mut edges) = (vec![state], Vec::new());
                let mut back = state;
                while back != from {
                    let (source, edge) = before[back.index()]?;
                    states.push(source);
                    edges.push(edge);
                    back = source;
                }
                states.reverse();
                edges.reverse();
                return Some((states, edges));
            }
            if !allowed(state) {
                continue;
            }
            for edge in graph.edges(state).map(Edge) {
                let target = graph.target(edge);
                if target != from && before[target.index()].is_none() {
                    before[target.index()] = Some((state, edge));
                    queue.push(target);
                }
            }
        }
        None
    }
}

fn shifted(end: End, by: usize) -> End {
    match end {
        End::Loop(entry) => End::Loop(entry + by),
        other => other,
    }
}

#[cfg(test)]
#[path = "ctl_tests.rs"]
pub(super) mod tests;
