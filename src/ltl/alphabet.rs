//! Letters: the classes of positions that a formula can tell apart.
//!
//! In: the graph and the atoms of a formula. Out: a class for every state and every transition, and the
//! pairs of classes that occur. Never here: temporal operators.
//!
//! The product then looks up one letter per transition instead of evaluating atoms, so its cost does
//! not depend on how many atoms a formula has.

use super::atoms::{AtomId, Meaning, Table, Truth};
use super::view::{Edge, Graph, State};
use bombus_graph::Narrow;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// States or transitions that one thread classifies at a time.
const PART: usize = 1 << 14;

/// No letter: a pair of classes that does not occur.
const NONE: u32 = u32::MAX;

pub(super) struct Alphabet {
    state_class: Narrow,
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
    /// Event and label decide.
    ByInstance(Narrow),
    Each(Narrow),
}

/// The classes of states and of transitions that occur, and the pairs of them that occur on a transition; all ascending, so that
/// several graphs that are parts of one have the numbers of the whole when their vocabularies are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    pub(super) states: Vec<Vec<Truth>>,
    pub(super) transitions: Vec<Vec<Truth>>,
    pub(super) pairs: Vec<(u32, u32)>,
}

impl Vocabulary {
    /// Whether all classes of another one are here; pairs of them then are, too, if that is of a part of the same graph.
    pub(super) fn covers(&self, other: &Vocabulary) -> bool {
        let has =
            |all: &[Vec<Truth>], some: &[Vec<Truth>]| some.iter().all(|one| all.binary_search(one).is_ok());
        has(&self.states, &other.states) && has(&self.transitions, &other.transitions)
    }
}

/// The classes of one graph in its own numbers.
pub(super) struct Classified {
    of_states: Vec<usize>,
    of_edges: Vec<usize>,
    /// Of the states that are told; there are so many states in all.
    state_class: Vec<u32>,
    states: usize,
    edge_class: EdgeClasses,
    pub vocabulary: Vocabulary,
}

impl Classified {
    pub fn new<G: Graph>(atoms: &[AtomId], table: &Table<'_, G>) -> Self {
        let graph = table.graph();
        let (of_edges, of_states): (Vec<usize>, Vec<usize>) =
            (0..atoms.len()).partition(|&i| table.meaning(atoms[i]).is_transition());
        let mut states = Classes::new(graph.told());
        for &i in &of_states {
            let Meaning::States(extent) = table.meaning(atoms[i]) else {
                unreachable!("states were set apart")
            };
            states.split(|s| extent.at(s));
        }
        let by_instance: Option<Vec<Vec<Truth>>> =
            of_edges.iter().map(|&i| by_instance(graph, table.meaning(atoms[i]))).collect();
        let (edge_class, transitions) = if of_edges.is_empty() {
            (EdgeClasses::One, vec![Vec::new()])
        } else if let Some(truths) = by_instance {
            let mut classes = Classes::new(graph.instances());
            truths.iter().for_each(|truth| classes.split(|i| truth[i]));
            let count = classes.values.len();
            (EdgeClasses::ByInstance(Narrow::new(classes.class, count)), classes.values)
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
            let count = classes.values.len();
            (EdgeClasses::Each(Narrow::new(classes.class, count)), classes.values)
        };
        let vocabulary = Vocabulary { states: states.values, transitions, pairs: Vec::new() };
        let mut all = Classified {
            of_states,
            of_edges,
            state_class: states.class,
            states: graph.states(),
            edge_class,
            vocabulary,
        };
        all.vocabulary.pairs = all.occurring(graph);
        all
    }

    /// The pairs of classes that occur on a transition, ascending.
    fn occurring<G: Graph>(&self, graph: &G) -> Vec<(u32, u32)> {
        let Vocabulary { states, transitions, .. } = &self.vocabulary;
        let width = transitions.len();
        let place = |state: u32, e: u64| {
            self.state_class[state as usize] as usize * width + self.edge_class.at(graph, Edge(e)) as usize
        };
        let marks: Vec<AtomicBool> = (0..states.len() * width).map(|_| AtomicBool::new(false)).collect();
        (0..graph.states() as u32).into_par_iter().with_min_len(PART).for_each(|s| {
            let edges = match self.edge_class {
                // One transition stands for all.
                EdgeClasses::One => graph.edges(State(s)).take(1),
                _ => graph.edges(State(s)).take(usize::MAX),
            };
            edges.for_each(|e| set(&marks[place(s, e)]));
        });
        let occurs = (0..marks.len()).filter(|at| marks[*at].load(Relaxed));
        occurs.map(|at| ((at / width) as u32, (at % width) as u32)).collect()
    }
}

impl EdgeClasses {
    #[inline]
    fn at<G: Graph>(&self, graph: &G, edge: Edge) -> u32 {
        match self {
            EdgeClasses::One => 0,
            EdgeClasses::ByInstance(classes) => classes.at(graph.instance(edge) as usize),
            EdgeClasses::Each(classes) => classes.at(edge.index()),
        }
    }
}

impl Alphabet {
    pub fn new<G: Graph>(atoms: &[AtomId], table: &Table<'_, G>) -> Self {
        let classified = Classified::new(atoms, table);
        let vocabulary = classified.vocabulary.clone();
        Alphabet::within(classified, &vocabulary)
    }

    /// The letters of a graph in the numbers of a vocabulary that has all its classes and pairs.
    pub fn within(own: Classified, all: &Vocabulary) -> Self {
        let Classified { of_states, of_edges, mut state_class, states, edge_class, vocabulary } = own;
        if vocabulary.states != all.states {
            let numbers = numbers_in(&vocabulary.states, &all.states);
            state_class.par_iter_mut().for_each(|class| *class = numbers[*class as usize]);
        }
        // What is not told has no transitions, and nobody asks for its class to learn anything.
        state_class.resize(states, 0);
        let edge_class = match edge_class {
            same if vocabulary.transitions == all.transitions => same,
            EdgeClasses::One => EdgeClasses::One,
            EdgeClasses::ByInstance(classes) => {
                EdgeClasses::ByInstance(renumbered(&classes, &vocabulary.transitions, &all.transitions))
            }
            EdgeClasses::Each(classes) => {
                EdgeClasses::Each(renumbered(&classes, &vocabulary.transitions, &all.transitions))
            }
        };
        let atoms = of_states.len() + of_edges.len();
        let whole = |state: &[Truth], edge: &dyn Fn(usize) -> Truth| {
            let mut letter = vec![Truth::False; atoms];
            for (k, &i) in of_states.iter().enumerate() {
                letter[i] = state[k];
            }
            for (k, &i) in of_edges.iter().enumerate() {
                letter[i] = edge(k);
            }
            letter
        };
        let edge_classes = all.transitions.len() as u32;
        let mut letter = vec![NONE; all.states.len() * edge_classes as usize];
        let mut letters = Vec::new();
        for (class, edge) in &all.pairs {
            letter[(class * edge_classes + edge) as usize] = letters.len() as u32;
            letters.push(whole(&all.states[*class as usize], &|k| all.transitions[*edge as usize][k]));
        }
        Alphabet {
            state_class: Narrow::new(state_class, all.states.len()),
            edge_class,
            edge_classes,
            letter,
            letters,
            ends: all.states.iter().map(|v| whole(v, &|_| Truth::False)).collect(),
            opens: all.states.iter().map(|v| whole(v, &|_| Truth::Unknown)).collect(),
        }
    }

    #[inline]
    pub fn class(&self, state: State) -> u32 {
        // PERF: spares a look at far memory where no atom speaks of states.
        if self.ends.len() == 1 { 0 } else { self.state_class.at(state.index()) }
    }

    /// Asks for the class of a state ahead of its use.
    #[inline]
    pub fn prefetch(&self, state: State) {
        if self.ends.len() > 1 {
            self.state_class.prefetch(state.index());
        }
    }

    /// How many classes of states there are.
    pub fn classes(&self) -> usize {
        self.ends.len()
    }

    /// Over how many numbers a letter varies for one class of states, if the event and label of a transition
    /// decide it: none if no atom speaks of transitions.
    pub fn span_of_instances<G: Graph>(&self, graph: &G) -> Option<usize> {
        match self.edge_class {
            EdgeClasses::One => Some(0),
            EdgeClasses::ByInstance(_) => Some(graph.instances()),
            EdgeClasses::Each(_) => None,
        }
    }

    /// The letter read when a transition of an instance is taken in a state of `class`, if that occurs.
    pub fn letter_of(&self, class: u32, instance: u32) -> Option<u32> {
        let edge = match &self.edge_class {
            EdgeClasses::ByInstance(classes) => classes.at(instance as usize),
            EdgeClasses::One | EdgeClasses::Each(_) => 0,
        };
        let letter = self.letter[(class * self.edge_classes + edge) as usize];
        (letter != NONE).then_some(letter)
    }

    /// The letter read when `edge` is taken in a state of `class`.
    #[inline]
    pub fn letter<G: Graph>(&self, graph: &G, class: u32, edge: Edge) -> u32 {
        self.letter[(class * self.edge_classes + self.edge_class.at(graph, edge)) as usize]
    }
}

/// The number of each class of one vocabulary in another one that has it.
fn numbers_in(own: &[Vec<Truth>], all: &[Vec<Truth>]) -> Vec<u32> {
    own.iter().map(|class| all.binary_search(class).expect("all classes are there") as u32).collect()
}

fn renumbered(classes: &Narrow, own: &[Vec<Truth>], all: &[Vec<Truth>]) -> Narrow {
    let numbers = numbers_in(own, all);
    Narrow::new((0..classes.len()).map(|i| numbers[classes.at(i) as usize]).collect(), all.len())
}

/// The truth of an atom of transitions for each pair of event and label, if these decide it.
///
/// PERF: an argument pattern whose arguments are constant is told by the label; a few numbers then take the
/// place of one for each transition.
fn by_instance<G: Graph>(graph: &G, meaning: &Meaning) -> Option<Vec<Truth>> {
    let extent = match meaning {
        Meaning::States(_) => return None,
        Meaning::Event(event) => {
            let truth = |i| Truth::from(graph.event_of(i) == *event);
            return Some((0..graph.instances() as u32).map(truth).collect());
        }
        Meaning::Transitions(extent) => extent,
    };
    const OPEN: u8 = u8::MAX;
    let known: Vec<AtomicU8> = (0..graph.instances()).map(|_| AtomicU8::new(OPEN)).collect();
    let agrees = (0..graph.transitions() as usize).into_par_iter().with_min_len(PART).all(|e| {
        let mine = &known[graph.instance(Edge(e as u64)) as usize];
        let truth = extent.at(e) as u8;
        match mine.load(Relaxed) {
            OPEN => mine
                .compare_exchange(OPEN, truth, Relaxed, Relaxed)
                .map_or_else(|other| other == truth, |_| true),
            other => other == truth,
        }
    });
    let truth = |i: AtomicU8| TRUTHS[i.into_inner() as usize];
    agrees.then(|| known.into_iter().map(truth).collect())
}

/// PERF: a mark that is set already is only read, so that threads do not fight for it.
#[inline]
fn set(mark: &AtomicBool) {
    if !mark.load(Relaxed) {
        mark.store(true, Relaxed);
    }
}

/// A partition that is split by one atom after the other; classes are numbered by their truths.
struct Classes {
    class: Vec<u32>,
    /// The truths that made each class.
    values: Vec<Vec<Truth>>,
}

const TRUTHS: [Truth; 3] = [Truth::False, Truth::True, Truth::Unknown];

impl Classes {
    fn new(len: usize) -> Self {
        Classes { class: vec![0; len], values: vec![Vec::new()] }
    }

    fn split(&mut self, truth: impl Fn(usize) -> Truth + Sync) {
        let used: Vec<AtomicBool> = (0..3 * self.values.len()).map(|_| AtomicBool::new(false)).collect();
        self.class.par_iter_mut().with_min_len(PART).enumerate().for_each(|(i, class)| {
            *class = 3 * *class + truth(i) as u32;
            set(&used[*class as usize]);
        });
        let mut numbers = vec![NONE; used.len()];
        let mut values = Vec::new();
        for at in (0..used.len()).filter(|at| used[*at].load(Relaxed)) {
            numbers[at] = values.len() as u32;
            let mut value = self.values[at / 3].clone();
            value.push(TRUTHS[at % 3]);
            values.push(value);
        }
        self.class.par_iter_mut().with_min_len(PART).for_each(|class| *class = numbers[*class as usize]);
        self.values = values;
    }
}
