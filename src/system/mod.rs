//! The seam between a formalism and the explorer: packed states, successors, findings, propositions.
//!
//! `program` implements `System` for B, other formalisms implement it for themselves, `explore`
//! consumes it, and neither side knows the other. Hand-written systems of five states implement it
//! in tests.
//! Never here: what a word means, who visits a state when.
#![forbid(unsafe_code)]

mod footprint;
mod relations;
mod wire;

pub use bombus_base::diagnostic::Diagnostic;
pub use bombus_base::finding::FindingKind;
pub use bombus_base::span::Span;
pub use footprint::{BitField, Condition, Exchange, Footprint, Footprints, Part};
pub use relations::{GuardId, InstanceId, Relations, Rows, ones};
pub use wire::Glossary;

/// Index of an event, in the order of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

/// Index of a proposition over states, given out by `System::proposition`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropId(pub u32);

/// `Finding::property` of the finding `Properties` that the explorer adds when there is no initial
/// state and the system itself named no reason.
pub const NO_INITIAL_STATE: u32 = u32::MAX;

/// Something wrong in a state, or in computing its successors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub kind: FindingKind,
    /// Which conjunct, assertion or place: an index that `System::property` turns into words. The
    /// explorer's own findings have 0 (`Deadlock`) or `NO_INITIAL_STATE` (`Properties`).
    pub property: u32,
    /// The event during which it happened, if any.
    pub event: Option<EventId>,
}

/// Where a system puts what it computes. One call of `successors` or `initial` emits each distinct
/// transition once: equal (event, label, target) from one source are emitted by the system only once.
pub trait Sink {
    /// A transition. `label` tells apart transitions of one event with different parameters or
    /// results; it is a pure function of them, stable across runs.
    fn edge(&mut self, event: EventId, label: u64, target: &[u64]);
    /// Several transitions, side by side: of each the number of its event, its label, and the `words` words of its target.
    fn edges(&mut self, all: &[u64], words: usize) {
        for one in all.chunks_exact(words + 2) {
            self.edge(EventId(one[0] as u32), one[1], &one[2..]);
        }
    }
    /// Something wrong found on the way; the transition concerned is not emitted.
    fn finding(&mut self, finding: Finding);
    /// Something that could not be computed; the run can no longer be "verified". `reason` is an
    /// index that `System::reason` turns into words.
    fn incomplete(&mut self, reason: u32);
    /// A guard was undefined and counted as not enabled.
    fn undefined_guard(&mut self, event: EventId);
}

/// How exactly an identity tells orbits apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Another state with the same identity is of the same orbit.
    Exact,
    /// States of different orbits may share the identity: a run in which one was taken for the other
    /// has not seen everything.
    Approximate,
}

/// Tells the orbits of a symmetric system apart: what a search keeps in its visited set instead of
/// states. With scratch memory, one for each thread.
///
/// Invariants: the symmetries map transitions to transitions of the same event and states with a
/// finding to states with a finding of the same kind; states of one orbit have equal identities of
/// equal precision. Without partial order reduction the first state found of an orbit stands for it and
/// is what gets expanded. The set that a reduction chooses is not the same for all states of an orbit,
/// so there the state that `representative` names is expanded, whoever finds the orbit first.
pub trait Orbits: Send {
    /// Words of one identity; fixed for a run.
    fn words(&self) -> usize;

    /// Writes the identity of the orbit of `state` to `out`, which has `words()` words.
    fn identity(&mut self, state: &[u64], out: &mut [u64]) -> Precision;

    /// A hash of an identity that is the same in every run.
    fn print(&self, identity: &[u64]) -> u128;

    /// Writes the state that stands for the orbit with this identity in every run to `state`. False if
    /// there is none: then any state of the orbit does, and nothing may be left out in it.
    fn representative(&mut self, _identity: &[u64], _state: &mut [u64]) -> bool {
        false
    }
}

/// A transition system over states of `words()` words.
///
/// Invariants: two states are equal if and only if their words are equal; every method is a pure
/// function of its arguments (a worker's scratch memory only makes it faster).
pub trait System: Sync {
    /// Scratch memory of one thread.
    type Worker: Send;

    fn worker(&self) -> Self::Worker;

    /// Scratch memory for rebuilding a trace: no limit of the run applies any more, because a finding
    /// must be shown even when the time is up.
    fn replay_worker(&self) -> Self::Worker {
        self.worker()
    }

    /// Words of one packed state; fixed for a run.
    fn words(&self) -> usize;

    /// How many low bits tell almost all states apart, if a state is one word: such states stand in the table of
    /// the visited set itself. A state with higher bits costs memory, nothing else.
    fn packed_bits(&self) -> Option<u32> {
        (self.words() == 1).then_some(64)
    }

    /// Names of the events, indexed by `EventId`.
    fn event_names(&self) -> &[String];

    /// Valuations of the constants; 0 when the model has no constants.
    fn constant_valuations(&self) -> usize {
        0
    }

    /// All initial states. Edges carry `label` only to tell them apart and an `event` of no meaning;
    /// transitions are counted by distinct (valuation, state).
    fn initial(&self, worker: &mut Self::Worker, sink: &mut dyn Sink);

    /// Says which states `successors` will be asked about next, in this order, their words side by side.
    /// Only a hint: a system that answers many questions at once faster than one by one may use it.
    fn foresee(&self, _worker: &mut Self::Worker, _states: &[u64]) {}

    /// How many states were met so far that the system keeps in a form that is dear because they do not fit the one it
    /// chose. Who searches with `Options::pause_when_outgrown` ends early where they are many, so that the system can choose anew.
    fn escapes(&self) -> u64 {
        0
    }

    /// All transitions from `state`.
    fn successors(&self, worker: &mut Self::Worker, state: &[u64], sink: &mut dyn Sink);

    /// Looks for what is wrong with `state` itself: invariant, assertions and goal. `changed_by` is the event that led here from a
    /// state without any finding, so that conjuncts and assertions it cannot change may be
    /// skipped; `None` asks for everything.
    fn check(
        &self,
        _worker: &mut Self::Worker,
        _state: &[u64],
        _changed_by: Option<EventId>,
        _sink: &mut dyn Sink,
    ) {
    }

    /// Whether `state` may be expanded (SCOPE). A scope without a truth value is told to the sink as a reason for
    /// which the search is incomplete, and the state is expanded.
    fn in_scope(&self, _worker: &mut Self::Worker, _state: &[u64], _sink: &mut dyn Sink) -> bool {
        true
    }

    /// Whether `state`, whose successors were computed last by this worker and are none, has come to
    /// its proper end. Such a state is no deadlock. Paths of temporal logic end in it all the same.
    fn terminated(&self, _worker: &mut Self::Worker, _state: &[u64]) -> bool {
        false
    }

    /// A hash of what `state` means, for systems whose words depend on the order in which workers
    /// met values (ids of interned values): equal states have equal fingerprints in every run.
    /// `None` says that the words themselves are the same in every run.
    fn fingerprint(&self, _worker: &mut Self::Worker, _state: &[u64]) -> Option<u128> {
        None
    }

    /// A hash of `state` that is the same on all machines of one search, where it is cheaper than the fingerprint, which is the same in
    /// every search. `None`: the fingerprint is as cheap.
    fn place(&self, _worker: &mut Self::Worker, _state: &[u64]) -> Option<u128> {
        None
    }

    /// What partial order reduction may rely on; `None` if nothing is known, then there is none.
    fn relations(&self) -> Option<&Relations> {
        None
    }

    /// The instance to which a transition belongs; `None` if it is not known, then its state is
    /// expanded in full.
    fn instance(&self, _event: EventId, _label: u64) -> Option<InstanceId> {
        None
    }

    /// Whether a guard that can be asked for (`Relations::askable`) is defined and holds in `state`,
    /// the state of the last call of `successors` with this worker.
    fn guard(&self, _worker: &mut Self::Worker, _state: &[u64], _guard: GuardId) -> bool {
        panic!("a system without guards was asked for one")
    }

    /// What an engine on sets of states may rely on; `None` if nothing is known, then it cannot run.
    fn footprints(&self) -> Option<&Footprints> {
        None
    }

    /// The transitions of one event from `state`, as `successors` gives them. Only systems with footprints are asked.
    fn event(&self, _worker: &mut Self::Worker, _state: &[u64], _event: EventId, _sink: &mut dyn Sink) {
        panic!("a system without footprints was asked for one event")
    }

    /// The truth of a condition of the footprints in `state`, or of one part of it; `None` if it has none, and the
    /// sink is told why.
    fn condition(
        &self,
        _worker: &mut Self::Worker,
        _state: &[u64],
        _condition: usize,
        _part: Option<usize>,
        _sink: &mut dyn Sink,
    ) -> Option<bool> {
        panic!("a system without footprints was asked for a condition")
    }

    /// Writes what another process must know to make sense of the words of saved states. `waiting`
    /// are the states that will be looked at after a search is resumed, `None` if that may be any.
    /// An error says why the system cannot be saved.
    fn save(&self, _waiting: Option<&[&[u64]]>, _out: &mut Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    /// Takes over what `save` wrote, before anything else is asked of the system.
    fn restore(&self, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() { Ok(()) } else { Err("the system has nothing to restore".into()) }
    }

    /// Turns the words of a state into those that another process of the same model can read: with the numbers
    /// that `glossary` gives to values in the place of numbers of this process. False if the state holds
    /// something that bytes cannot tell.
    fn export(&self, _state: &mut [u64], _glossary: &mut Glossary) -> bool {
        true
    }

    /// Turns the words of a state that another process exported into those of this one; `values` are the
    /// numbers here of the values in the glossary. False if they make no sense.
    fn import(&self, _state: &mut [u64], _values: &[u32]) -> bool {
        true
    }

    /// Reads one explanation of a glossary: the number here of the value. `None` if it cannot be read.
    fn learn(&self, _from: &mut &[u8]) -> Option<u32> {
        None
    }

    /// The words that belong to the number of a finding or a reason, for another process.
    fn text(&self, _number: u32) -> Option<String> {
        None
    }

    /// Takes over words that another process has for a number.
    fn learn_text(&self, _number: u32, _words: &str) {}

    /// Who tells orbits apart, if states that a symmetry maps to each other count as one; asked once
    /// for each thread. `None`: every state counts by itself.
    fn orbits(&self) -> Option<Box<dyn Orbits + '_>> {
        None
    }

    /// Reads a proposition over single states in the language of the formalism, before the search. `at`
    /// is the place of `text`, for messages. Equal texts may get equal ids. From then on `relations`
    /// counts all instances as visible that may change the truth of the proposition.
    fn proposition(&mut self, _text: &str, at: Span) -> Result<PropId, Vec<Diagnostic>> {
        Err(vec![Diagnostic::error(at, "this formalism has no propositions over states")])
    }

    /// Whether a proposition holds in `state`; `None` if that cannot be computed.
    fn holds(&self, _worker: &mut Self::Worker, _state: &[u64], _proposition: PropId) -> Option<bool> {
        None
    }

    /// Whether a proposition holds, for each of several states whose words stand side by side.
    fn truths(
        &self,
        worker: &mut Self::Worker,
        states: &[u64],
        proposition: PropId,
        out: &mut Vec<Option<bool>>,
    ) {
        for state in states.chunks_exact(self.words()) {
            out.push(self.holds(worker, state, proposition));
        }
    }

    /// What tells a transition from others of its event, as name and value pairs for people: arguments,
    /// a communicated value, a binding. Formulas that name arguments compare them with these values.
    fn label(&self, _event: EventId, _label: u64, _from: &[u64], _to: &[u64]) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Why nothing that the system said may be trusted: it broke down, or contradicted itself. Asked
    /// when a search is over; there is no outcome then.
    fn failure(&self) -> Option<String> {
        None
    }

    /// The words for a finding.
    fn property(&self, finding: &Finding) -> String {
        finding.kind.word().into()
    }

    /// The words for a reason of incompleteness.
    fn reason(&self, _reason: u32) -> String {
        "something could not be computed".into()
    }

    /// A state as name and value pairs, for people.
    fn describe(&self, state: &[u64]) -> Vec<(String, String)> {
        state.iter().enumerate().map(|(i, word)| (format!("word {i}"), word.to_string())).collect()
    }
}

/// The number that stands for the labels of a transition that has several: the label itself if there is one.
pub fn label_of<T: Copy>(labels: &[T], word: impl Fn(T) -> u32) -> u64 {
    let wide = |label: T| u64::from(word(label));
    match *labels {
        [] => 0,
        [one] => wide(one),
        [a, b] => wide(a) << 32 | wide(b),
        _ => {
            let words: Vec<u64> = labels.iter().map(|n| wide(*n)).collect();
            bombus_kernels::hash::words(&words) as u64
        }
    }
}
