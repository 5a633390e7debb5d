//! Letters: the classes of positions that a formula can tell apart.
//!
//! In: the graph and the atoms of a formula. Out: a class for every state and every transition, and the
//! pairs of classes that occur. Never here: temporal operators.
//!
//! The product then looks up one letter per transition instead of evaluating atoms, so its cost does
//! not depend on how many atoms a formula has.

use super::atoms::{AtomId, Meaning, Table, Truth};
use super::view::{Edge, Graph, State};
use std::collections::HashMap;

/// No letter: a pair of classes that does not occur.
const NONE: u32 = u32::MAX;

pub(super) struct Alphabet {
    state_class: Vec<u32>,
    edge_class: EdgeClasses,
    edge_classes: u32,
    /// The letter of a class of states and a class of transitions.
    letter: Vec<u32>,
    /// For each letter, the truth of every atom.
    pub letters: Vec<Vec<Truth>>,
    /// For each class of states, the truth of every atom at the end of a path there.
    pub ends: Vec<Vec<Truth>>,
    /// The same when nothing is known about what follows.
    pub opens: Vec<Vec<Truth>>,
}

enum EdgeClasses {
    /// No atom speaks of transitions.
    One,
    ByEvent(Vec<u32>),
    Each(Vec<u32>),
}

impl Alphabet {
    pub fn new<G: Graph>(atoms: &[AtomId], table: &Table<'_, G>) -> Self {
        let graph = table.graph();
        let (of_edges, of_states): (Vec<usize>, Vec<usize>) =
            (0..atoms.len()).partition(|&i| table.meaning(atoms[i]).is_transition());
        let mut states = Classes::new(graph.states());
        for &i in &of_states {
            states.split(|s| table.at(atoms[i], State(s as u32), None));
        }
        let plain = of_edges.iter().all(|&i| matches!(table.meaning(atoms[i]), Meaning::Event(_)));
        let (edge_class, edge_values) = if of_edges.is_empty() {
            (EdgeClasses::One, vec![Vec::new()])
        } else if plain {
            let events = table.source().event_names().len();
            let mut classes = Classes::new(events);
            for &i in &of_edges {
                let Meaning::Event(event) = table.meaning(atoms[i]) else { unreachable!("all are plain") };
                classes.split(|e| (e == event.0 as usize).into());
            }
            (EdgeClasses::ByEvent(classes.class), classes.values)
        } else {
            let mut classes = Classes::new(graph.transitions() as usize);
            for &i in &of_edges {
                match table.meaning(atoms[i]) {
                    Meaning::Event(event) => {
                        classes.split(|e| (graph.event(Edge(e as u64)) == *event).into())
                    }
                    Meaning::Transitions(extent) => classes.split(|e| extent.at(e)),
                    Meaning::States(_) => unreachable!("states were set apart"),
                }
            }
            (EdgeClasses::Each(classes.class), classes.values)
        };
        let edge_classes = edge_values.len() as u32;
        let whole = |state: &[Truth], edge: &dyn Fn(usize) -> Truth| {
            let mut letter = vec![Truth::False; atoms.len()];
            for (k, &i) in of_states.iter().enumerate() {
                letter[i] = state[k];
            }
            for (k, &i) in of_edges.iter().enumerate() {
                letter[i] = edge(k);
            }
            letter
        };
        let ends = states.values.iter().map(|v| whole(v, &|_| Truth::False)).collect();
        let opens = states.values.iter().map(|v| whole(v, &|_| Truth::Unknown)).collect();
        let mut alphabet = Alphabet {
            letter: vec![NONE; states.values.len() * edge_classes as usize],
            state_class: states.class,
            edge_class,
            edge_classes,
            letters: Vec::new(),
            ends,
            opens,
        };
        for s in 0..graph.states() {
            let state = State(s as u32);
            for e in graph.edges(state) {
                let (class, edge) = (alphabet.class(state), alphabet.edge_class(graph, Edge(e)));
                let at = (class * edge_classes + edge) as usize;
                if alphabet.letter[at] == NONE {
                    alphabet.letter[at] = alphabet.letters.len() as u32;
                    let values = &edge_values[edge as usize];
                    alphabet.letters.push(whole(&states.values[class as usize], &|k| values[k]));
                }
            }
        }
        alphabet
    }

    #[inline]
    pub fn class(&self, state: State) -> u32 {
        self.state_class[state.index()]
    }

    #[inline]
    fn edge_class<G: Graph>(&self, graph: &G, edge: Edge) -> u32 {
        match &self.edge_class {
            EdgeClasses::One => 0,
            EdgeClasses::ByEvent(classes) => classes[graph.event(edge).0 as usize],
            EdgeClasses::Each(classes) => classes[edge.index()],
        }
    }

    /// The letter read when `edge` is taken in a state of `class`.
    #[inline]
    pub fn letter<G: Graph>(&self, graph: &G, class: u32, edge: Edge) -> u32 {
        self.letter[(class * self.edge_classes + self.edge_class(graph, edge)) as usize]
    }
}

/// A partition that is split by one atom after the other; classes are numbered by first occurrence.
struct Classes {
    class: Vec<u32>,
    /// The truths that made each class.
    values: Vec<Vec<Truth>>,
}

impl Classes {
    fn new(len: usize) -> Self {
        Classes { class: vec![0; len], values: vec![Vec::new()] }
    }

    fn split(&mut self, truth: impl Fn(usize) -> Truth) {
        let mut numbers: HashMap<(u32, Truth), u32> = HashMap::new();
        let mut values: Vec<Vec<Truth>> = Vec::new();
        let mut last = None;
        for (i, class) in self.class.iter_mut().enumerate() {
            let key = (*class, truth(i));
            *class = match last {
                Some((known, number)) if known == key => number,
                _ => *numbers.entry(key).or_insert_with(|| {
                    let mut value = self.values[key.0 as usize].clone();
                    value.push(key.1);
                    values.push(value);
                    values.len() as u32 - 1
                }),
            };
            last = Some((key, *class));
        }
        self.values = values;
    }
}
