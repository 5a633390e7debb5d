//! CTL on a graph that is scattered over several machines.
//!
//! In: the part of the graph that this machine has, a formula, letters between machines. Out: nothing, and then the formula holds; or the
//! states of this machine that show that it does not. Never here: the labelling itself (`ctl`), the path, which is found on what is
//! gathered.
//!
//! Every machine labels its own states. What it knows of states of others is told by their owners after each step, so that labels are
//! those of the whole graph. If an initial state is not labelled, the states that prove this are gathered: what a path goes through,
//! and whatever has to be known to say that something fails behind it. On them the labelling comes to the same truths.

use super::alphabet::Vocabulary;
use super::atoms::{Faults, Meaning, Truth};
use super::bits::Bits;
use super::check::{Checker, NO_START, NOT_EVALUATED};
use super::ctl::{Connective, Elsewhere, Labelling};
use super::ctl_parse::Ctl;
use super::scattered::{Halt, Others, Part, Trimmed, Turn, is_known, record};
use super::view::{Edge, Graph, State};

/// The machines that have the other states.
struct Across<'t, O> {
    part: &'t Part<'t, O>,
    turn: Turn<'t, O>,
}

enum Ended<B> {
    Faults(Faults),
    Halt(Halt<B>),
}

impl<B> From<Faults> for Ended<B> {
    fn from(faults: Faults) -> Self {
        Ended::Faults(faults)
    }
}

impl<O: Others> Elsewhere for Across<'_, O> {
    type Halt = Ended<O::Broken>;
    const NOWHERE: bool = false;

    fn own(&self, _: usize) -> usize {
        self.part.own as usize
    }

    fn tell(&mut self, states: &[u32]) -> Result<Option<Vec<u32>>, Self::Halt> {
        let mut letters = self.part.nobody();
        for state in states.iter().take_while(|_| self.turn.goes_on()) {
            self.part.tell(State(*state), 0, &mut letters);
        }
        let mut told = Vec::new();
        let take = |machine, known, _| {
            let node = self.part.node(machine, known);
            told.extend(node.map(|node| node.0));
            node.is_some()
        };
        let any = self.turn.tell(letters, take).map_err(Ended::Halt)?;
        Ok(any.then_some(told))
    }
}

impl<O: Others> Across<'_, O> {
    /// Asks the owners of nodes for something, and hears what others ask of states of this machine. `None` if nobody asks.
    fn ask(&mut self, nodes: &[u32]) -> Result<Option<Vec<u32>>, Halt<O::Broken>> {
        let mut letters = self.part.nobody();
        for node in nodes.iter().take_while(|_| self.turn.goes_on()) {
            if let Some((machine, known)) = self.part.owner(State(*node)) {
                letters[machine].extend(record(known, 0));
            }
        }
        let mut asked = Vec::new();
        let take = |machine, known, _| {
            let state = self.part.state(machine, known);
            asked.extend(state.map(|state| state.0));
            state.is_some()
        };
        let any = self.turn.tell(letters, take)?;
        Ok(any.then_some(asked))
    }
}

impl<G: Graph> Checker<'_, G> {
    /// Decides a CTL formula, and finds the states that show it if it is violated. All machines call this at the same point.
    pub fn trim_ctl<O: Others>(&mut self, formula: &Ctl, part: &Part<'_, O>) -> Result<Trimmed, O::Broken> {
        let budget = self.budget();
        let table = self.table();
        let starts = part.others.swap(part.nobody(), vec![(!table.graph().initial().is_empty()).into()])?.1;
        if !starts.iter().any(|some| *some == [1]) {
            return Ok(Trimmed::Not(NO_START.into()));
        }
        let interned = formula.intern(table);
        let known = interned.is_ok() && is_known(table, part.own as usize);
        if !part.all_say(known)? {
            let why = |faults: Faults| faults.into_iter().map(|fault| fault.message).collect();
            return Ok(Trimmed::Not(interned.err().map_or(NOT_EVALUATED.into(), why)));
        }
        let mut labelling = Labelling::new(table, Across { part, turn: Turn::new(part, budget) });
        match labelling.evidence(formula) {
            Ok(None) => Ok(Trimmed::Nothing),
            Ok(Some(states)) => Ok(Trimmed::Left(states, Vocabulary::default())),
            Err(Ended::Faults(faults)) => {
                Ok(Trimmed::Not(faults.into_iter().map(|fault| fault.message).collect()))
            }
            Err(Ended::Halt(halt)) => halt.explained(),
        }
    }
}

/// The steps that are followed.
#[derive(Clone, Copy)]
enum By {
    All,
    /// Those to states with the label of a node.
    Within(usize),
    /// Of those the first one of each state.
    First(usize),
}

/// The steps among which the first one is, whatever the numbers of states: transitions of a state are in the order of their events.
fn first<G: Graph>(graph: &G, steps: impl Iterator<Item = Edge>) -> impl Iterator<Item = Edge> {
    let mut event = None;
    steps.take_while(move |e| *event.get_or_insert(graph.event(*e)) == graph.event(*e))
}

impl<G: Graph, O: Others> Labelling<'_, '_, G, Across<'_, O>> {
    /// The states of this machine that show where a formula fails; `None` if it holds.
    fn evidence(&mut self, formula: &Ctl) -> Result<Option<Bits>, Ended<O::Broken>> {
        let root = self.formula(formula)?;
        let mut from = Bits::new(self.own());
        for state in self.table.graph().initial().iter().filter(|s| !self.label(root).may.contains(s.index()))
        {
            from.insert(state.index());
        }
        let fail = from.count() as u64;
        let turn = &mut self.elsewhere.turn;
        let (_, all) = turn.swap(self.elsewhere.part.nobody(), fail).map_err(Ended::Halt)?;
        if all == 0 {
            return Ok(None);
        }
        let mut left = Bits::new(self.own());
        self.gather(root, from, false, &mut left).map_err(Ended::Halt)?;
        Ok(Some(left))
    }

    /// Adds to `left` the states that show that a formula has a truth in the states `from` of this machine, in which it has it.
    fn gather(
        &mut self,
        node: usize,
        from: Bits,
        truth: bool,
        left: &mut Bits,
    ) -> Result<(), Halt<O::Broken>> {
        *left = std::mem::replace(left, Bits::new(0)).union(&from);
        let split = |this: &Self, from: Bits, f: usize| {
            let own = |at| this.label(f).must.contains(at);
            let (yes, no): (Vec<usize>, Vec<usize>) = from.iter().partition(|at| own(*at));
            let set = |members: Vec<usize>| {
                let mut set = Bits::new(from.len());
                members.into_iter().for_each(|at| {
                    set.insert(at);
                });
                set
            };
            (set(yes), set(no))
        };
        match (&self.nodes[node].shape, truth) {
            (Connective::Leaf, _) => Ok(()),
            (Connective::Not(f), _) => self.gather(*f, from, !truth, left),
            (Connective::Or(f, g), true) => {
                let (f, g) = (*f, *g);
                let (by_f, by_g) = split(self, from, f);
                self.gather(f, by_f, true, left)?;
                self.gather(g, by_g, true, left)
            }
            (Connective::And(f, g), false) => {
                let (f, g) = (*f, *g);
                let (by_g, by_f) = split(self, from, f);
                self.gather(f, by_f, false, left)?;
                self.gather(g, by_g, false, left)
            }
            (Connective::And(f, g), true) | (Connective::Or(f, g), false) => {
                let (f, g) = (*f, *g);
                self.gather(f, from.clone(), truth, left)?;
                self.gather(g, from, truth, left)
            }
            (Connective::Next(kind, f), _) => {
                let (kind, f) = (kind.clone(), *f);
                let there = self.behind(&from, truth, &kind, f)?;
                self.gather(f, there, truth, left)
            }
            (Connective::Until(f, g), true) => {
                let (f, g) = (*f, *g);
                // The shortest way goes no further than to the first state in which `g` is true.
                let all = self.closed(from, |this, s| !this.label(g).must.contains(s), By::Within(node))?;
                let (ends, way) = split(self, all, g);
                self.gather(f, way, true, left)?;
                self.gather(g, ends, true, left)
            }
            (Connective::Until(f, g), false) => {
                let (f, g) = (*f, *g);
                let all = self.closed(from, |this, s| this.label(f).must.contains(s), By::All)?;
                let (_, ends) = split(self, all.clone(), f);
                self.gather(f, ends, false, left)?;
                self.gather(g, all, false, left)
            }
            (Connective::Globally(f), true) => {
                let f = *f;
                let all = self.closed(from, |_, _| true, By::First(node))?;
                self.gather(f, all, true, left)
            }
            (Connective::Globally(f), false) => {
                let f = *f;
                let all = self.closed(from, |this, s| this.label(f).must.contains(s), By::All)?;
                let (inner, ends) = split(self, all, f);
                *left = std::mem::replace(left, Bits::new(0)).union(&inner);
                self.gather(f, ends, false, left)
            }
        }
    }

    /// The states behind some states that tell whether a step leads to `f`: of each the first ones that do, or all by which it may.
    fn behind(
        &mut self,
        from: &Bits,
        truth: bool,
        kind: &Option<Meaning>,
        f: usize,
    ) -> Result<Bits, Halt<O::Broken>> {
        let graph = self.table.graph();
        let own = self.own();
        let (mut there, mut nodes) = (Bits::new(own), Vec::new());
        for s in from.iter() {
            let shows = |e: &Edge| match truth {
                true => {
                    self.kind_at(kind, *e) == Truth::True
                        && self.label(f).must.contains(graph.target(*e).index())
                }
                false => self.kind_at(kind, *e) != Truth::False,
            };
            let steps = graph.edges(State(s as u32)).map(Edge).filter(shows);
            match truth {
                true => nodes.extend(first(graph, steps).map(|e| graph.target(e).0)),
                false => nodes.extend(steps.map(|e| graph.target(e).0)),
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        let asked = self.elsewhere.ask(&nodes)?.into_iter().flatten();
        for s in nodes.into_iter().filter(|s| (*s as usize) < own).chain(asked) {
            there.insert(s as usize);
        }
        Ok(there)
    }

    /// The states that are reached from some states through states that `go_on`.
    fn closed(
        &mut self,
        from: Bits,
        go_on: impl Fn(&Self, usize) -> bool,
        by: By,
    ) -> Result<Bits, Halt<O::Broken>> {
        let graph = self.table.graph();
        let own = self.own();
        let mut open: Vec<u32> = from.iter().map(|s| s as u32).collect();
        let mut found = Bits::new(graph.states());
        open.iter().for_each(|s| {
            found.insert(*s as usize);
        });
        loop {
            let mut nodes = Vec::new();
            while let Some(s) = open.pop() {
                if !go_on(self, s as usize) {
                    continue;
                }
                let steps = graph.edges(State(s)).map(Edge);
                let leads = |e: &Edge, node: usize| self.label(node).must.contains(graph.target(*e).index());
                let follow = |e: Edge| {
                    let target = graph.target(e);
                    if found.insert(target.index()) {
                        if target.index() < own { open.push(target.0) } else { nodes.push(target.0) }
                    }
                };
                match by {
                    By::All => steps.for_each(follow),
                    By::Within(node) => steps.filter(|e| leads(e, node)).for_each(follow),
                    By::First(node) => first(graph, steps.filter(|e| leads(e, node))).for_each(follow),
                }
            }
            let Some(asked) = self.elsewhere.ask(&nodes)? else { break };
            open.extend(asked.into_iter().filter(|s| found.insert(*s as usize)));
        }
        let mut own_ones = Bits::new(own);
        found.iter().take_while(|s| *s < own).for_each(|s| {
            own_ones.insert(s);
        });
        Ok(own_ones)
    }
}
