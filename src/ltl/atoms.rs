//! The atoms of formulas: each distinct one is evaluated once, into a bit-set.
//!
//! In: atoms as parsed, the graph, and a callback for whatever needs B. Out: a table of truths that
//! all formulas on one graph share. Never here: temporal operators.
//!
//! A truth may be unknown: a predicate that could not be evaluated, or enabledness in a state that was
//! not expanded. Unknown is never taken for false.

use super::bits::Bits;
use super::formula::{Atom, Change, Pattern, Text};
use super::view::{Edge, Graph, State};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::hash::HashMap;
use bombus_base::span::Span;
use bombus_base::text::distance;
use bombus_system::EventId;
use rayon::prelude::*;

/// Three-valued truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Truth {
    False,
    True,
    Unknown,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

/// Words that one thread fills at a time, at least.
const WORDS: usize = 16;

/// More operations than this are not listed when one is not found.
const MAX_NAMES: usize = 16;

/// Where an atom holds, and where that is not known. The two sets are disjoint.
#[derive(Clone, Debug)]
pub struct Extent {
    pub holds: Bits,
    pub unknown: Option<Bits>,
}

impl Extent {
    pub fn known(holds: Bits) -> Self {
        Extent { holds, unknown: None }
    }

    /// From one truth per number of `0..len`.
    pub fn from_fn(len: usize, mut truth: impl FnMut(usize) -> Truth) -> Self {
        let (mut holds, mut unknown) = (Bits::new(len), Bits::new(len));
        for i in 0..len {
            match truth(i) {
                Truth::False => {}
                Truth::True => {
                    holds.insert(i);
                }
                Truth::Unknown => {
                    unknown.insert(i);
                }
            }
        }
        Extent { holds, unknown: (!unknown.is_empty()).then_some(unknown) }
    }

    /// The same on all threads.
    pub fn par(len: usize, truth: impl Fn(usize) -> Truth + Sync) -> Self {
        Extent::by_word(len, || (), |(), i| truth(i))
    }

    /// The same with something that each thread keeps for itself and gets by `init`.
    pub fn by_word<T>(
        len: usize,
        init: impl Fn() -> T + Sync + Send,
        truth: impl Fn(&mut T, usize) -> Truth + Sync + Send,
    ) -> Self {
        let word = |own: &mut T, at: usize| {
            let (mut holds, mut unknown) = (0u64, 0u64);
            for i in at * 64..(at * 64 + 64).min(len) {
                match truth(own, i) {
                    Truth::False => {}
                    Truth::True => holds |= 1 << (i % 64),
                    Truth::Unknown => unknown |= 1 << (i % 64),
                }
            }
            (holds, unknown)
        };
        let words = (0..len.div_ceil(64)).into_par_iter().with_min_len(WORDS).map_init(init, word);
        let (holds, unknown): (Vec<u64>, Vec<u64>) = words.unzip();
        let unknown = unknown.iter().any(|w| *w != 0).then(|| Bits::from_words(unknown, len));
        Extent { holds: Bits::from_words(holds, len), unknown }
    }

    #[inline]
    pub fn at(&self, i: usize) -> Truth {
        if self.holds.contains(i) {
            Truth::True
        } else if self.unknown.as_ref().is_some_and(|u| u.contains(i)) {
            Truth::Unknown
        } else {
            Truth::False
        }
    }
}

/// A variable of `#x.` or `!x.` with one of its values. What `value` means is known to the callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub variable: String,
    pub value: u32,
    /// The value as B text, for people.
    pub shown: String,
}

/// Facts about states that are no formula of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Goal,
    DetOutput,
    StateError,
    Current,
}

/// Faults of the B parts of a formula.
pub type Faults = Vec<Diagnostic>;

/// Evaluates the B parts of formulas; each method is called once for each distinct atom.
pub trait Atoms {
    /// Names of the events, indexed by `EventId`.
    fn event_names(&self) -> &[String];

    /// The states in which a predicate holds.
    fn predicate(&self, predicate: &Text, bound: &[Bound]) -> Result<Extent, Faults>;

    /// The transitions of `event` whose arguments match; arguments are evaluated in the source state.
    fn matching(&self, event: EventId, pattern: &Pattern, bound: &[Bound]) -> Result<Extent, Faults>;

    /// The transitions whose two states are related as asked.
    fn change(&self, change: Change, text: &Text, bound: &[Bound]) -> Result<Extent, Faults>;

    fn special(&self, which: Special, at: Span) -> Result<Extent, Faults>;

    /// The values of a quantified variable, in a fixed order.
    fn solutions(&self, variable: &str, domain: &Text, bound: &[Bound]) -> Result<Vec<Bound>, Faults>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomId(pub u32);

/// The truth of an atom at a position of a path: a state and the transition taken next.
#[derive(Clone, Debug)]
pub enum Meaning {
    States(Extent),
    /// All transitions of an event.
    Event(EventId),
    Transitions(Extent),
}

impl Meaning {
    pub fn is_transition(&self) -> bool {
        !matches!(self, Meaning::States(_))
    }
}

/// All distinct atoms of the formulas on one graph.
pub struct Table<'a, G> {
    graph: &'a G,
    source: &'a dyn Atoms,
    numbers: HashMap<String, AtomId>,
    entries: Vec<(String, Meaning)>,
    /// By entry: the atom as parsed, and the values of the variables in it.
    sources: Vec<(Atom, Vec<Bound>)>,
}

impl<'a, G: Graph> Table<'a, G> {
    pub fn new(graph: &'a G, source: &'a dyn Atoms) -> Self {
        Table { graph, source, numbers: HashMap::new(), entries: Vec::new(), sources: Vec::new() }
    }

    pub fn graph(&self) -> &'a G {
        self.graph
    }

    pub fn source(&self) -> &'a dyn Atoms {
        self.source
    }

    pub fn meaning(&self, atom: AtomId) -> &Meaning {
        &self.entries[atom.0 as usize].1
    }

    /// The atom as written, with the values of bound variables.
    pub fn text(&self, atom: AtomId) -> &str {
        &self.entries[atom.0 as usize].0
    }

    /// The atom as parsed, with the values of the bound variables around it.
    pub fn parsed(&self, atom: AtomId) -> (&Atom, &[Bound]) {
        let (atom, bound) = &self.sources[atom.0 as usize];
        (atom, bound)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Truth at `state` when `next` is the transition taken there; no transition is taken at the end
    /// of a path, where every transition atom is false.
    pub fn at(&self, atom: AtomId, state: State, next: Option<Edge>) -> Truth {
        match (self.meaning(atom), next) {
            (Meaning::States(extent), _) => extent.at(state.index()),
            (_, None) => Truth::False,
            (Meaning::Event(event), Some(edge)) => (self.graph.event(edge) == *event).into(),
            (Meaning::Transitions(extent), Some(edge)) => extent.at(edge.index()),
        }
    }

    /// Whether the truth of an atom is unknown somewhere.
    pub fn is_unsure(&self, atom: AtomId) -> bool {
        match self.meaning(atom) {
            Meaning::States(extent) | Meaning::Transitions(extent) => extent.unknown.is_some(),
            Meaning::Event(_) => false,
        }
    }

    /// The number of an atom; evaluated when it is met for the first time.
    pub fn intern(&mut self, atom: &Atom, bound: &[Bound], span: Span) -> Result<AtomId, Faults> {
        let mut key = atom.to_string();
        if !bound.is_empty() {
            let values: Vec<String> = bound.iter().map(|b| format!("{}={}", b.variable, b.shown)).collect();
            key = format!("{key} where {}", values.join(", "));
        }
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(known);
        }
        let meaning = self.evaluate(atom, bound, span)?;
        let id = AtomId(self.entries.len() as u32);
        self.entries.push((key.clone(), meaning));
        self.sources.push((atom.clone(), bound.to_vec()));
        self.numbers.insert(key, id);
        Ok(id)
    }

    fn evaluate(&self, atom: &Atom, bound: &[Bound], span: Span) -> Result<Meaning, Faults> {
        let graph = self.graph;
        let states = |truth: &(dyn Fn(State) -> Truth + Sync)| {
            Meaning::States(Extent::par(graph.states(), |s| truth(State(s as u32))))
        };
        let special = |which| self.source.special(which, span).map(Meaning::States);
        Ok(match atom {
            Atom::Predicate(p) => Meaning::States(self.source.predicate(p, bound)?),
            Atom::Executed(pattern) => self.executed(pattern, bound)?,
            Atom::Enabled(pattern) => {
                let executed = self.executed(pattern, bound)?;
                states(&|s| enabled(graph, &executed, s))
            }
            Atom::NoneEnabled(list) => {
                self.counted(
                    list,
                    bound,
                    |least, most| {
                        if least > 0 { Truth::False } else { decided(most == 0) }
                    },
                )?
            }
            Atom::AtMostOne(list) => {
                self.counted(
                    list,
                    bound,
                    |least, most| {
                        if least > 1 { Truth::False } else { decided(most <= 1) }
                    },
                )?
            }
            Atom::ExactlyOne(list) => self.counted(list, bound, |least, most| {
                if least > 1 || most == 0 { Truth::False } else { decided(least == 1 && most == 1) }
            })?,
            Atom::Deadlock => states(&|s| {
                if !graph.edges(s).is_empty() { Truth::False } else { decided(graph.is_expanded(s)) }
            }),
            Atom::Sink => states(&|s| {
                if graph.edges(s).any(|e| graph.target(Edge(e)) != s) {
                    Truth::False
                } else {
                    decided(graph.is_expanded(s))
                }
            }),
            Atom::NonDet => states(&|s| match graph.edges(s).count() {
                0 | 1 if graph.is_expanded(s) => Truth::False,
                0 | 1 => Truth::Unknown,
                _ => Truth::True,
            }),
            Atom::Goal => special(Special::Goal)?,
            Atom::DetOutput => special(Special::DetOutput)?,
            Atom::StateError => special(Special::StateError)?,
            Atom::Current => special(Special::Current)?,
            Atom::Change(change, text) => Meaning::Transitions(self.source.change(*change, text, bound)?),
        })
    }

    fn executed(&self, pattern: &Pattern, bound: &[Bound]) -> Result<Meaning, Faults> {
        let names = self.source.event_names();
        let name = &pattern.operation.text;
        let Some(event) = names.iter().position(|n| n == name) else {
            let fault = Diagnostic::error(pattern.operation.span, format!("there is no operation `{name}`"));
            return Err(vec![match nearest(name, names) {
                Some(other) => fault.help(format!("did you mean `{other}`?")),
                None if (1..=MAX_NAMES).contains(&names.len()) => {
                    fault.help(format!("the operations are {}", names.join(", ")))
                }
                None => fault,
            }]);
        };
        let event = EventId(event as u32);
        if pattern.is_plain() {
            return Ok(Meaning::Event(event));
        }
        Ok(Meaning::Transitions(self.source.matching(event, pattern, bound)?))
    }

    /// A truth that depends on how many of some operations are enabled, at least and at most.
    fn counted(
        &self,
        list: &[Pattern],
        bound: &[Bound],
        verdict: impl Fn(usize, usize) -> Truth + Sync,
    ) -> Result<Meaning, Faults> {
        let graph = self.graph;
        let executed: Vec<Meaning> =
            list.iter().map(|p| self.executed(p, bound)).collect::<Result<_, _>>()?;
        Ok(Meaning::States(Extent::par(graph.states(), |s| {
            let (mut least, mut unsure) = (0, 0);
            for one in &executed {
                match enabled(graph, one, State(s as u32)) {
                    Truth::True => least += 1,
                    Truth::Unknown => unsure += 1,
                    Truth::False => {}
                }
            }
            verdict(least, least + unsure)
        })))
    }
}

/// Whether a transition of the given kind leaves `state`.
fn enabled<G: Graph>(graph: &G, executed: &Meaning, state: State) -> Truth {
    let mut unsure = !graph.is_expanded(state);
    for e in graph.edges(state) {
        let truth = match executed {
            Meaning::Event(event) => (graph.event(Edge(e)) == *event).into(),
            Meaning::Transitions(extent) | Meaning::States(extent) => extent.at(e as usize),
        };
        match truth {
            Truth::True => return Truth::True,
            Truth::Unknown => unsure = true,
            Truth::False => {}
        }
    }
    if unsure { Truth::Unknown } else { Truth::False }
}

/// True if it is known to be, otherwise unknown.
fn decided(known: bool) -> Truth {
    if known { Truth::True } else { Truth::Unknown }
}

/// The name that differs least, if it differs by at most a third of its letters.
fn nearest<'n>(name: &str, names: &'n [String]) -> Option<&'n str> {
    let best = names.iter().map(|n| (distance(name, n), n)).min_by_key(|(d, _)| *d)?;
    (best.0 * 3 <= name.chars().count().max(3)).then_some(best.1)
}
