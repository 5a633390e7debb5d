//! Process terms and events, as numbers.
//!
//! In: terms built by `process` and `step`. Out: equal terms have equal numbers, so do equal events.
//! Never here: how a term moves.

use super::core::Ex;
use super::value::{Bounds, Data, Fault, Suspended};
use std::collections::HashMap;
use std::rc::Rc;

/// The internal event.
pub const TAU: u32 = 0;
/// Successful termination.
pub const TICK: u32 = 1;

/// No event: the mark of a component that has terminated, which rules of termination ask for.
pub const ENDED: u32 = 2;

/// A set of events, sorted.
pub type Alphabet = Rc<[u32]>;
/// Pairs of events, sorted.
pub type Relation = Rc<[(u32, u32)]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Stop,
    /// What is left after successful termination.
    Omega,
    Skip,
    Diverge,
    Chaos(Alphabet),
    Run(Alphabet),
    /// A communication whose fields are still to be evaluated.
    Prefix(Ex, Bounds),
    /// Events with what follows each.
    Offers(Rc<[(u32, Suspended)]>),
    External(Rc<[u32]>),
    Internal(Rc<[Suspended]>),
    Timeout(u32, Suspended),
    Interrupt(u32, u32),
    Sequence(u32, Suspended),
    Exception(u32, Alphabet, Suspended),
    Hide(u32, Alphabet),
    Rename(u32, Relation),
    Parallel(Alphabet, Rc<[u32]>),
    Alphabetised(Rc<[(Alphabet, u32)]>),
    Link(u32, Relation, u32),
    /// A choice that events of the set do not resolve: all do them together.
    Choice(Alphabet, Rc<[u32]>),
    /// An interrupt with events that both do together.
    SharedInterrupt(u32, Alphabet, u32),
    /// A communication that lets time pass before and after it.
    Timed(Ex, Bounds),
    /// So many times this event, then the process.
    Delay(u32, u64, u32),
    /// The process without these events wherever it can do τ or ✓.
    Urgent(u32, Alphabet),
    /// A bounded buffer: what goes in and comes out, how much fits, what is in it.
    Buffer(Relation, u64, Rc<[u32]>),
    /// The process, to be made smaller where it becomes a component.
    Compressed(Compression, u32),
    /// A process that cannot be computed.
    Faulty(Box<Fault>),
}

/// How a component is made smaller; its failures and divergences stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compression {
    /// States that cannot be told apart step by step are one.
    Strong,
    /// Paths of τ are cut short, and then the same.
    Diamond,
}

#[derive(Default)]
pub struct Terms {
    list: Vec<Rc<Term>>,
    known: HashMap<Rc<Term>, u32>,
}

impl Terms {
    pub fn number(&mut self, term: Term) -> u32 {
        if let Some(number) = self.known.get(&term) {
            return *number;
        }
        let number = self.list.len() as u32;
        let term = Rc::new(term);
        self.list.push(term.clone());
        self.known.insert(term, number);
        number
    }

    pub fn get(&self, number: u32) -> Rc<Term> {
        self.list[number as usize].clone()
    }
}

/// The events met so far. The first three numbers are those of τ, ✓ and the mark of termination.
pub struct Events {
    list: Vec<Data>,
    known: HashMap<Data, u32>,
}

impl Default for Events {
    fn default() -> Events {
        // Values that no event has keep the places of τ, ✓ and the mark.
        Events { list: vec![Data::Bool(false); 3], known: HashMap::new() }
    }
}

impl Events {
    pub fn number(&mut self, event: &Data) -> u32 {
        if let Some(number) = self.known.get(event) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(event.clone());
        self.known.insert(event.clone(), number);
        number
    }

    pub fn data(&self, number: u32) -> &Data {
        &self.list[number as usize]
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
