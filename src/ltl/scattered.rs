//! A graph that is scattered over several machines, trimmed to what a path that refutes a formula may pass through.
//!
//! In: the part of the graph that this machine has, a formula, letters between machines. Out: nothing, and then the formula holds;
//! or the states of this machine that are left. Never here: paths and fairness, which are decided on what is left when it is
//! gathered; sockets.
//!
//! The product is searched forwards by all machines. Nodes that an accepting cycle may pass through are kept as long as they have a
//! successor that is kept, and as long as for each until a step can be reached that does not put it off: what is kept in the end is
//! empty exactly if no cycle is accepting (Emerson and Lei; Černá and Pelánek call it "one way catch them young"). Fairness only
//! takes cycles away. If something is left, or a path may stop somewhere, then every node that leads there is left too: all paths
//! that refute the formula are among them, and the shortest one has the same steps as in the whole graph.
//!
//! All truths must be known in the states of all machines; then every machine has the same automaton, because the letters of all of
//! them are joined before it is built.

pub use super::alphabet::Vocabulary;
use super::alphabet::{Alphabet, Classified};
use super::atoms::{AtomId, Meaning, Table, Truth};
use super::automaton::Automaton;
use super::bits::Bits;
use super::check::{Checker, NOT_EVALUATED, TOO_LARGE, TOO_LARGE_PRODUCT};
use super::component::MAX_NODES;
use super::formula::Formula;
use super::ground::Property;
use super::normal::Normal;
use super::product::Product;
use super::view::{Edge, Graph, State};
use bombus_base::budget::{Budget, Stop};
use std::collections::BTreeSet;
use std::ops::Range;

/// For each machine what it sent here, or what it said.
pub type Letters = Vec<Vec<u8>>;

/// Bytes of a record: a state by its number among those that two machines both know, and a control.
pub const RECORD: usize = 8;

/// The other machines. All of them call the same methods in the same order.
pub trait Others {
    type Broken;

    /// Sends each machine a list of records, in any order, and says something to all: what all sent here, and what all said.
    fn swap(&self, letters: Letters, said: Vec<u8>) -> Result<(Letters, Letters), Self::Broken>;

    /// What another machine sent cannot be.
    fn wrong(&self, what: &str) -> Self::Broken;
}

/// Where the states of this machine end and those of others begin, in the graph of this machine.
pub struct Part<'a, O> {
    pub own: u32,
    /// For each machine the nodes here that are its states.
    pub foreign: &'a [Range<u32>],
    /// For each machine the states of this one that it has nodes for, ascending, in the order of those nodes.
    pub shown: &'a [Vec<u32>],
    pub others: &'a O,
}

/// What became of a graph that was to be trimmed.
pub enum Trimmed {
    /// No path refutes the formula.
    Nothing,
    /// The states of this machine that such a path may pass through, and the letters of the whole graph: with them the automaton
    /// is the same.
    Left(Bits, Vocabulary),
    /// Why it was not trimmed.
    Not(String),
}

/// Why machines gave up together.
pub(super) enum Halt<B> {
    Broken(B),
    /// Some machine had to stop; for which reason, if it was this one.
    Stopped(Option<Stop>),
}

impl<B> From<B> for Halt<B> {
    fn from(broken: B) -> Self {
        Halt::Broken(broken)
    }
}

impl<G: Graph> Checker<'_, G> {
    /// Whether all atoms that were met so far are known in the first so many states, and on all transitions.
    pub fn knows_all(&mut self, states: usize) -> bool {
        is_known(self.table(), states)
    }

    /// Trims the graph for a formula without quantifiers. All machines call this at the same point.
    pub fn trim<O: Others>(&mut self, formula: &Formula, part: &Part<'_, O>) -> Result<Trimmed, O::Broken> {
        if formula.features().relates_states {
            return Ok(Trimmed::Not("it speaks of two states at once, which may be of two machines".into()));
        }
        let (budget, table) = (self.budget(), self.table());
        let property = Property::new(formula, table);
        let known = property.is_ok() && is_known(table, part.own as usize);
        let property = match property {
            Ok(property) if part.all_say(known)? => property,
            Ok(_) => return Ok(Trimmed::Not(NOT_EVALUATED.into())),
            Err(faults) => {
                part.all_say(false)?;
                return Ok(Trimmed::Not(faults.into_iter().map(|fault| fault.message).collect()));
            }
        };
        let (normal, negation) = Normal::new(&property.ground, property.root, false);
        let classified = Classified::new(&normal.atoms, table);
        let all = part.joined(&classified.vocabulary)?;
        let alphabet = Alphabet::within(classified, &all);
        let Ok(automaton) = Automaton::new(&normal, negation, &alphabet) else {
            return Ok(Trimmed::Not(TOO_LARGE.into()));
        };
        let product = Product::new(table.graph(), &alphabet, &automaton);
        if !part.all_say(product.size() <= MAX_NODES)? {
            return Ok(Trimmed::Not(TOO_LARGE_PRODUCT.into()));
        }
        let back = Sources::new(table.graph());
        let mut trimming = Trimming { product: &product, part, back, turn: Turn::new(part, budget) };
        match trimming.run(normal.untils() as u32) {
            Ok(None) => Ok(Trimmed::Nothing),
            Ok(Some(states)) => Ok(Trimmed::Left(states, all)),
            Err(halt) => halt.explained(),
        }
    }
}

impl<B> Halt<B> {
    /// The graph was not trimmed, if that is all.
    pub fn explained(self) -> Result<Trimmed, B> {
        match self {
            Halt::Stopped(stop) => {
                Ok(Trimmed::Not(stop.map_or("another machine reached a limit", Stop::reason).into()))
            }
            Halt::Broken(broken) => Err(broken),
        }
    }
}

/// Whether all atoms are known in the first so many states, and on all transitions.
pub(super) fn is_known<G: Graph>(table: &Table<'_, G>, own: usize) -> bool {
    (0..table.len() as u32).all(|atom| match table.meaning(AtomId(atom)) {
        Meaning::Event(_) => true,
        Meaning::Transitions(extent) => extent.unknown.is_none(),
        Meaning::States(extent) => extent
            .unknown
            .as_ref()
            .is_none_or(|unknown| unknown.iter().next().is_none_or(|first| first >= own)),
    })
}

impl<O: Others> Part<'_, O> {
    pub(super) fn nobody(&self) -> Letters {
        vec![Vec::new(); self.foreign.len()]
    }

    pub(super) fn all_say(&self, yes: bool) -> Result<bool, O::Broken> {
        let (_, heard) = self.others.swap(self.nobody(), vec![yes.into()])?;
        Ok(heard.iter().all(|said| *said == [1]))
    }

    /// The machine to which a state belongs that is none of this one, and the state's number there.
    pub(super) fn owner(&self, state: State) -> Option<(usize, u32)> {
        if state.0 < self.own {
            return None;
        }
        let machine = self.foreign.partition_point(|nodes| nodes.end <= state.0);
        Some((machine, state.0 - self.foreign[machine].start))
    }

    /// A node here for a state of another machine.
    pub(super) fn node(&self, machine: usize, known: usize) -> Option<State> {
        let nodes = &self.foreign[machine];
        (known < nodes.len()).then(|| State(nodes.start + known as u32))
    }

    /// The state of this machine that another one has a node for.
    pub(super) fn state(&self, machine: usize, known: usize) -> Option<State> {
        self.shown[machine].get(known).map(|state| State(*state))
    }

    /// Tells all machines that have a node for a state of this one.
    pub(super) fn tell(&self, state: State, control: u32, letters: &mut Letters) {
        for (shown, letter) in self.shown.iter().zip(letters) {
            if let Ok(known) = shown.binary_search(&state.0) {
                letter.extend(record(known as u32, control));
            }
        }
    }

    /// The classes and pairs of all machines.
    fn joined(&self, own: &Vocabulary) -> Result<Vocabulary, O::Broken> {
        let (_, heard) = self.others.swap(self.nobody(), written(own))?;
        let read: Option<Vec<Vocabulary>> = heard.iter().map(|said| read(said)).collect();
        read.map(|all| union(&all))
            .ok_or_else(|| self.others.wrong("the letters of a machine cannot be read"))
    }
}

fn written(own: &Vocabulary) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |bytes: &mut Vec<u8>, n: usize| bytes.extend_from_slice(&(n as u32).to_le_bytes());
    for classes in [&own.states, &own.transitions] {
        number(&mut bytes, classes.len());
        number(&mut bytes, classes.first().map_or(0, Vec::len));
        classes.iter().flatten().for_each(|truth| bytes.push(*truth as u8));
    }
    number(&mut bytes, own.pairs.len());
    for (state, transition) in &own.pairs {
        number(&mut bytes, *state as usize);
        number(&mut bytes, *transition as usize);
    }
    bytes
}

fn read(mut bytes: &[u8]) -> Option<Vocabulary> {
    fn number(bytes: &mut &[u8]) -> Option<usize> {
        let (number, rest) = bytes.split_first_chunk::<4>()?;
        *bytes = rest;
        Some(u32::from_le_bytes(*number) as usize)
    }
    fn classes(bytes: &mut &[u8]) -> Option<Vec<Vec<Truth>>> {
        let (count, width) = (number(bytes)?, number(bytes)?);
        if width == 0 {
            // Nothing tells classes apart, so that there is one at most.
            return (count <= 1).then(|| vec![Vec::new(); count]);
        }
        let (truths, rest) = bytes.split_at_checked(count.checked_mul(width)?)?;
        *bytes = rest;
        let truth = |byte: &u8| match byte {
            0 => Some(Truth::False),
            1 => Some(Truth::True),
            2 => Some(Truth::Unknown),
            _ => None,
        };
        truths.chunks_exact(width).map(|class| class.iter().map(truth).collect()).collect()
    }
    let (states, transitions) = (classes(&mut bytes)?, classes(&mut bytes)?);
    let mut pairs = Vec::new();
    for _ in 0..number(&mut bytes)? {
        let (state, transition) = (number(&mut bytes)?, number(&mut bytes)?);
        if state >= states.len() || transition >= transitions.len() {
            return None;
        }
        pairs.push((state as u32, transition as u32));
    }
    bytes.is_empty().then_some(Vocabulary { states, transitions, pairs })
}

fn union(all: &[Vocabulary]) -> Vocabulary {
    let sorted = |classes: fn(&Vocabulary) -> &Vec<Vec<Truth>>| -> Vec<Vec<Truth>> {
        let set: BTreeSet<&Vec<Truth>> = all.iter().flat_map(classes).collect();
        set.into_iter().cloned().collect()
    };
    let (states, transitions) = (sorted(|one| &one.states), sorted(|one| &one.transitions));
    let number = |classes: &[Vec<Truth>], class: &Vec<Truth>| {
        classes.binary_search(class).expect("it was entered") as u32
    };
    let pairs: BTreeSet<(u32, u32)> = all
        .iter()
        .flat_map(|one| {
            one.pairs.iter().map(move |(s, t)| (&one.states[*s as usize], &one.transitions[*t as usize]))
        })
        .map(|(state, transition)| (number(&states, state), number(&transitions, transition)))
        .collect();
    Vocabulary { pairs: pairs.into_iter().collect(), states, transitions }
}

/// For each state of a graph the states that transitions to it leave.
struct Sources {
    first: Vec<u64>,
    all: Vec<u32>,
}

impl Sources {
    fn new<G: Graph>(graph: &G) -> Sources {
        let states = graph.states();
        let mut first = vec![0; states + 1];
        let edges = |s: usize| graph.edges(State(s as u32)).map(|e| graph.target(Edge(e)).index());
        (0..states).flat_map(edges).for_each(|target| first[target + 1] += 1);
        (0..states).for_each(|s| first[s + 1] += first[s]);
        let mut next = first.clone();
        let mut all = vec![0; first[states] as usize];
        for s in 0..states {
            for target in edges(s) {
                all[next[target] as usize] = s as u32;
                next[target] += 1;
            }
        }
        Sources { first, all }
    }

    fn of(&self, state: State) -> &[u32] {
        &self.all[self.first[state.index()] as usize..self.first[state.index() + 1] as usize]
    }
}

/// The clock is looked at once for so many nodes.
const NODES_PER_LOOK: u32 = 1 << 12;

/// The rounds that all machines go through together.
pub(super) struct Turn<'t, O> {
    part: &'t Part<'t, O>,
    budget: &'t Budget,
    /// Why this machine wants to stop; it says so at the end of the round.
    stopped: Option<Stop>,
    looks: u32,
}

impl<'t, O: Others> Turn<'t, O> {
    pub fn new(part: &'t Part<'t, O>, budget: &'t Budget) -> Self {
        Turn { part, budget, stopped: None, looks: 0 }
    }

    /// Whether there is time to go on; if not, this machine only waits for the end of the round.
    pub fn goes_on(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(NODES_PER_LOOK) && self.stopped.is_none() {
            self.stopped = self.budget.check().err();
        }
        self.stopped.is_none()
    }

    /// Ends a round: sends letters, and adds up a number of all machines.
    pub fn swap(&mut self, letters: Letters, mine: u64) -> Result<(Letters, u64), Halt<O::Broken>> {
        let mut said = mine.to_le_bytes().to_vec();
        said.push(self.stopped.is_some().into());
        let (heard, said) = self.part.others.swap(letters, said)?;
        let mut sum = 0;
        for said in &said {
            let (number, stopped) = said.split_first_chunk::<8>().ok_or_else(|| self.unreadable())?;
            sum += u64::from_le_bytes(*number);
            if *stopped != [0] {
                return Err(Halt::Stopped(self.stopped));
            }
        }
        Ok((heard, sum))
    }

    /// Ends a round with letters of records; false if nobody sent any. `take` is given the machine, the number of a state and the
    /// control of each record that was sent here, and says whether they can be.
    pub fn tell(
        &mut self,
        letters: Letters,
        mut take: impl FnMut(usize, usize, u32) -> bool,
    ) -> Result<bool, Halt<O::Broken>> {
        let told = letters.iter().map(|letter| (letter.len() / RECORD) as u64).sum();
        let (heard, sum) = self.swap(letters, told)?;
        for (machine, letter) in heard.iter().enumerate() {
            for record in letter.as_chunks::<RECORD>().0 {
                let record = u64::from_le_bytes(*record);
                if !take(machine, (record >> 32) as usize, record as u32) {
                    return Err(Halt::Broken(self.unreadable()));
                }
            }
        }
        Ok(sum > 0)
    }

    fn unreadable(&self) -> O::Broken {
        self.part.others.wrong("what a machine said about its part of the product cannot be read")
    }
}

struct Trimming<'t, 'p, G, O> {
    product: &'t Product<'p, G>,
    part: &'t Part<'t, O>,
    back: Sources,
    turn: Turn<'t, O>,
}

impl<'t, G: Graph, O: Others> Trimming<'t, '_, G, O> {
    /// The states that are left, unless nothing is left on any machine.
    fn run(&mut self, untils: u32) -> Result<Option<Bits>, Halt<O::Broken>> {
        let (reached, stops) = self.reach()?;
        let product = self.product;
        let mut kept = Bits::new(product.size() as usize);
        reached.iter().filter(|node| product.is_cyclic(*node as u32)).for_each(|node| {
            kept.insert(node);
        });
        let ends: Vec<u32> = stops.iter().copied().filter(|node| kept.contains(*node as usize)).collect();
        self.remove(&mut kept, ends)?;
        let leads = |kept: &Bits, node: u32| product.successors(node).any(|s| kept.contains(s.node as usize));
        let ends = self.own(&kept).filter(|node| !leads(&kept, *node)).collect();
        self.remove(&mut kept, ends)?;
        loop {
            let mut removed = 0;
            for until in 0..untils {
                let helps = |node: u32| {
                    let mut steps = product.successors(node);
                    steps.any(|s| s.postponed >> until & 1 == 0 && kept.contains(s.node as usize))
                };
                let seeds = self.own(&kept).filter(|node| helps(*node)).collect();
                let good = self.behind(&kept, seeds)?;
                let bad = self.own(&kept).filter(|node| !good.contains(*node as usize)).collect();
                removed += self.remove(&mut kept, bad)?;
            }
            if removed == 0 {
                break;
            }
        }
        let mut seeds: Vec<u32> = self.own(&kept).collect();
        drop(kept);
        seeds.extend(stops);
        let (_, all) = self.turn.swap(self.part.nobody(), seeds.len() as u64)?;
        if all == 0 {
            return Ok(None);
        }
        let left = self.behind(&reached, seeds)?;
        let mut states = Bits::new(self.part.own as usize);
        self.own(&left).for_each(|node| {
            states.insert(product.state(node).index());
        });
        Ok(Some(states))
    }

    /// The members that are nodes of states of this machine.
    fn own<'s>(&'s self, nodes: &'s Bits) -> impl Iterator<Item = u32> + 's {
        nodes.iter().map(|node| node as u32).filter(|node| self.is_own(*node))
    }

    fn is_own(&self, node: u32) -> bool {
        self.product.state(node).0 < self.part.own
    }

    /// Sends each machine what it is told about nodes, until nobody has anything to tell: `work` does what is to be done
    /// with a list of nodes, and tells.
    fn rounds(
        &mut self,
        mut queue: Vec<u32>,
        state: impl Fn(&Part<'t, O>, usize, usize) -> Option<State>,
        mut work: impl FnMut(&mut Self, &mut Vec<u32>, &mut Letters),
        mut is_news: impl FnMut(u32) -> bool,
    ) -> Result<(), Halt<O::Broken>> {
        loop {
            let mut letters = self.part.nobody();
            work(self, &mut queue, &mut letters);
            let (part, product) = (self.part, self.product);
            let take = |machine, known, control| {
                let state = state(part, machine, known).filter(|_| control < product.automaton.controls);
                let node = state.map(|state| product.node(state, control));
                queue.extend(node.filter(|node| is_news(*node)));
                node.is_some()
            };
            if !self.turn.tell(letters, take)? {
                return Ok(());
            }
        }
    }

    /// The nodes that are reached, and those of this machine where a path may stop. Nothing is looked for behind those.
    fn reach(&mut self) -> Result<(Bits, Vec<u32>), Halt<O::Broken>> {
        let product = self.product;
        let reached = std::cell::RefCell::new(Bits::new(product.size() as usize));
        let is_new = |node: u32| reached.borrow_mut().insert(node as usize);
        let queue: Vec<u32> = product.initial().filter(|node| is_new(*node)).collect();
        let mut stops = Vec::new();
        let work = |this: &mut Self, queue: &mut Vec<u32>, letters: &mut Letters| {
            while let Some(node) = queue.pop().filter(|_| this.turn.goes_on()) {
                if product.visit(node).stop.is_some() {
                    stops.push(node);
                    continue;
                }
                for step in product.successors(node).filter(|step| is_new(step.node)) {
                    match this.part.owner(product.state(step.node)) {
                        None => queue.push(step.node),
                        Some((machine, known)) => {
                            letters[machine].extend(record(known, product.control(step.node)));
                        }
                    }
                }
            }
        };
        self.rounds(queue, Part::state, work, is_new)?;
        Ok((reached.into_inner(), stops))
    }

    /// The nodes of this machine whose successor a node may be.
    fn before(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let controls = 0..self.product.automaton.controls;
        let sources = self.back.of(self.product.state(node));
        sources
            .iter()
            .flat_map(move |s| controls.clone().map(|control| self.product.node(State(*s), control)))
    }

    /// The members from which some of the seeds, nodes of this machine, can be reached through members.
    fn behind(&mut self, members: &Bits, seeds: Vec<u32>) -> Result<Bits, Halt<O::Broken>> {
        let product = self.product;
        let marked = std::cell::RefCell::new(Bits::new(members.len()));
        let is_new = |node: u32| marked.borrow_mut().insert(node as usize);
        let queue = seeds.into_iter().filter(|node| is_new(*node)).collect();
        let work = |this: &mut Self, queue: &mut Vec<u32>, letters: &mut Letters| {
            while let Some(node) = queue.pop().filter(|_| this.turn.goes_on()) {
                if this.is_own(node) {
                    this.part.tell(product.state(node), product.control(node), letters);
                }
                let may = |n: &u32| members.contains(*n as usize) && !marked.borrow().contains(*n as usize);
                let leads = |n: &u32| product.successors(*n).any(|step| step.node == node);
                let news = this.before(node).filter(may).filter(leads).filter(|n| is_new(*n));
                queue.extend(news);
            }
        };
        self.rounds(queue, Part::node, work, is_new)?;
        Ok(marked.into_inner())
    }

    /// Removes nodes of this machine, and then again and again what has no successor any more. How many nodes of all machines
    /// were removed.
    fn remove(&mut self, kept: &mut Bits, nodes: Vec<u32>) -> Result<u64, Halt<O::Broken>> {
        let product = self.product;
        let kept = std::cell::RefCell::new(kept);
        let is_kept = |node: u32| kept.borrow().contains(node as usize);
        let is_news = |node: u32| {
            let was = is_kept(node);
            kept.borrow_mut().remove(node as usize);
            was
        };
        let queue = nodes.into_iter().filter(|node| is_news(*node)).collect();
        let mut removed = 0;
        let work = |this: &mut Self, queue: &mut Vec<u32>, letters: &mut Letters| {
            while let Some(node) = queue.pop().filter(|_| this.turn.goes_on()) {
                if this.is_own(node) {
                    removed += 1;
                    this.part.tell(product.state(node), product.control(node), letters);
                }
                let leads = |n: u32| product.successors(n).any(|step| is_kept(step.node));
                let ends = this.before(node).filter(|n| is_kept(*n) && !leads(*n)).filter(|n| is_news(*n));
                queue.extend(ends);
            }
        };
        self.rounds(queue, Part::node, work, is_news)?;
        Ok(self.turn.swap(self.part.nobody(), removed)?.1)
    }
}

pub(super) fn record(known: u32, control: u32) -> [u8; RECORD] {
    (u64::from(known) << 32 | u64::from(control)).to_le_bytes()
}
