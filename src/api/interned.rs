//! States of any type behind the seam: each is kept once and stands for itself by a number.
//!
//! In: a `Model` whose states are values of Rust. Out: a `System` with states of one word.
//! Never here: the search.
//!
//! The number of a state depends on which thread met it first; its fingerprint does not.

use crate::base::hash::HashMap;
use crate::system::{
    Diagnostic, EventId, Finding, FindingKind, NO_INITIAL_STATE, PropId, Sink, Span, System,
};
use bombus_kernels::hash;
use parking_lot::{RwLock, RwLockReadGuard};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A transition system whose states are values of any type.
pub trait Model: Sync {
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Names of the events; `successors` refers to them by their places.
    fn events(&self) -> Vec<String>;

    /// Calls back with each initial state.
    fn initial(&self, state: &mut dyn FnMut(Self::State));

    /// Calls back with the event and the target of each transition.
    fn successors(&self, from: &Self::State, step: &mut dyn FnMut(usize, Self::State));

    /// What is wrong with a state, in words.
    fn broken(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Whether a state without successors is meant to be one.
    fn terminated(&self, _state: &Self::State) -> bool {
        false
    }

    /// The proposition that a formula calls by this text in braces.
    fn proposition(&self, _text: &str) -> Option<fn(&Self::State) -> bool> {
        None
    }

    /// A state for people.
    fn describe(&self, state: &Self::State) -> Vec<(String, String)> {
        vec![("state".into(), format!("{state:?}"))]
    }
}

/// Parts of the table of states that have locks of their own.
const SHARDS: usize = 64;

/// A model as a `System`.
pub struct Interned<M: Model> {
    model: M,
    events: Vec<String>,
    shards: Vec<RwLock<Shard<M::State>>>,
    propositions: Vec<fn(&M::State) -> bool>,
}

struct Shard<T> {
    numbers: HashMap<Arc<T>, u64>,
    states: Vec<Arc<T>>,
}

impl<M: Model> Interned<M> {
    pub fn new(model: M) -> Interned<M> {
        let events = model.events();
        let empty = || RwLock::new(Shard { numbers: HashMap::new(), states: Vec::new() });
        let shards = (0..SHARDS).map(|_| empty()).collect();
        Interned { model, events, shards, propositions: Vec::new() }
    }

    pub fn model(&self) -> &M {
        &self.model
    }

    /// The number of a state: the shard in the lowest bits, the place in it above.
    fn number(&self, state: M::State) -> u64 {
        let shard = print(&state) as usize % SHARDS;
        if let Some(number) = self.read(shard).numbers.get(&state) {
            return *number;
        }
        let mut table = self.shards[shard].write();
        if let Some(number) = table.numbers.get(&state) {
            return *number;
        }
        let number = (table.states.len() * SHARDS + shard) as u64;
        let state = Arc::new(state);
        table.states.push(state.clone());
        table.numbers.insert(state, number);
        number
    }

    /// The state with a number.
    pub fn state(&self, number: u64) -> Arc<M::State> {
        let number = number as usize;
        self.read(number % SHARDS).states[number / SHARDS].clone()
    }

    fn read(&self, shard: usize) -> RwLockReadGuard<'_, Shard<M::State>> {
        self.shards[shard].read()
    }
}

/// A hash that is the same in every run on machines with words of the same size.
fn print<T: Hash>(state: &T) -> u128 {
    let mut bytes = Bytes(Vec::new());
    state.hash(&mut bytes);
    hash::bytes(&bytes.0)
}

/// Collects what is hashed.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        hash::bytes(&self.0) as u64
    }
}

impl<M: Model> System for Interned<M> {
    type Worker = Vec<(usize, u64)>;

    fn worker(&self) -> Self::Worker {
        Vec::new()
    }

    fn words(&self) -> usize {
        1
    }

    fn event_names(&self) -> &[String] {
        &self.events
    }

    fn initial(&self, seen: &mut Self::Worker, sink: &mut dyn Sink) {
        seen.clear();
        self.model.initial(&mut |state| seen.push((0, self.number(state))));
        seen.sort_unstable();
        seen.dedup();
        seen.iter().for_each(|(_, number)| sink.edge(EventId(0), *number, &[*number]));
    }

    fn successors(&self, seen: &mut Self::Worker, state: &[u64], sink: &mut dyn Sink) {
        seen.clear();
        let state = self.state(state[0]);
        self.model.successors(&state, &mut |event, next| {
            assert!(event < self.events.len(), "an event of the model has no name");
            seen.push((event, self.number(next)));
        });
        // Equal transitions count once.
        seen.sort_unstable();
        seen.dedup();
        seen.iter().for_each(|(event, number)| sink.edge(EventId(*event as u32), 0, &[*number]));
    }

    fn check(&self, _: &mut Self::Worker, state: &[u64], _: Option<EventId>, sink: &mut dyn Sink) {
        // Words of findings are asked for by state: `property` knows no other way to them.
        if self.model.broken(&self.state(state[0])).is_some() {
            sink.finding(Finding { kind: FindingKind::Invariant, property: 0, event: None });
        }
    }

    fn terminated(&self, _: &mut Self::Worker, state: &[u64]) -> bool {
        self.model.terminated(&self.state(state[0]))
    }

    fn fingerprint(&self, _: &mut Self::Worker, state: &[u64]) -> Option<u128> {
        Some(print(&*self.state(state[0])))
    }

    fn save(&self, _: Option<&[&[u64]]>, _: &mut Vec<u8>) -> Result<(), String> {
        Err("states of a type that is not known cannot be saved; pack them into words".into())
    }

    fn proposition(&mut self, text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        let missing =
            || vec![Diagnostic::error(at, format!("the model has no proposition `{}`", text.trim()))];
        self.propositions.push(self.model.proposition(text).ok_or_else(missing)?);
        Ok(PropId(self.propositions.len() as u32 - 1))
    }

    fn holds(&self, _: &mut Self::Worker, state: &[u64], proposition: PropId) -> Option<bool> {
        Some(self.propositions[proposition.0 as usize](&self.state(state[0])))
    }

    fn property(&self, finding: &Finding) -> String {
        match finding.kind {
            FindingKind::Deadlock => "there is no transition".into(),
            FindingKind::Properties if finding.property == NO_INITIAL_STATE => {
                "there is no initial state".into()
            }
            _ => "the model calls a state broken".into(),
        }
    }

    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        let state = self.state(state[0]);
        let mut pairs = self.model.describe(&state);
        pairs.extend(self.model.broken(&state).map(|why| ("broken".to_string(), why)));
        pairs
    }
}
