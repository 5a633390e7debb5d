//! The seam between the compiled model and the explorer: packed states, successors, findings.
//!
//! `program` implements `System`, `explore` consumes it, and neither knows the other. Hand-written
//! systems of five states implement it in tests.
//! Never here: what a word means, who visits a state when.

/// Index of an event, in the order of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

/// What kind of property a finding breaks; the words of the JSON result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    Invariant,
    Deadlock,
    Assertion,
    WellDefinedness,
    Precondition,
    Goal,
    Properties,
    Refinement,
    Variant,
}

impl FindingKind {
    /// How many kinds there are.
    pub const COUNT: usize = FindingKind::Variant as usize + 1;

    pub const ALL: [FindingKind; FindingKind::COUNT] = [
        FindingKind::Invariant,
        FindingKind::Deadlock,
        FindingKind::Assertion,
        FindingKind::WellDefinedness,
        FindingKind::Precondition,
        FindingKind::Goal,
        FindingKind::Properties,
        FindingKind::Refinement,
        FindingKind::Variant,
    ];

    pub fn word(self) -> &'static str {
        match self {
            FindingKind::Invariant => "invariant",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Assertion => "assertion",
            FindingKind::WellDefinedness => "well-definedness",
            FindingKind::Precondition => "precondition",
            FindingKind::Goal => "goal",
            FindingKind::Properties => "properties",
            FindingKind::Refinement => "refinement",
            FindingKind::Variant => "variant",
        }
    }
}

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
    /// Something wrong found on the way; the transition concerned is not emitted.
    fn finding(&mut self, finding: Finding);
    /// Something that could not be computed; the run can no longer be "verified". `reason` is an
    /// index that `System::reason` turns into words.
    fn incomplete(&mut self, reason: u32);
    /// A guard was undefined and counted as not enabled.
    fn undefined_guard(&mut self, event: EventId);
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

    /// Names of the events, indexed by `EventId`.
    fn event_names(&self) -> &[String];

    /// Valuations of the constants; 0 when the model has no constants.
    fn constant_valuations(&self) -> usize;

    /// All initial states. Edges carry `label` only to tell them apart and an `event` of no meaning;
    /// transitions are counted by distinct (valuation, state).
    fn initial(&self, worker: &mut Self::Worker, sink: &mut dyn Sink);

    /// All transitions from `state`.
    fn successors(&self, worker: &mut Self::Worker, state: &[u64], sink: &mut dyn Sink);

    /// Invariant, assertions and goal of `state`. `changed_by` is the event that led here from a
    /// state in which every invariant conjunct held, so that conjuncts it cannot change may be
    /// skipped; `None` asks for everything.
    fn check(
        &self,
        worker: &mut Self::Worker,
        state: &[u64],
        changed_by: Option<EventId>,
        sink: &mut dyn Sink,
    );

    /// Whether `state` may be expanded (SCOPE).
    fn in_scope(&self, _worker: &mut Self::Worker, _state: &[u64]) -> bool {
        true
    }

    /// A hash of what `state` means, for systems whose words depend on the order in which workers
    /// met values (ids of interned values): equal states have equal fingerprints in every run.
    /// `None` says that the words themselves are the same in every run.
    fn fingerprint(&self, _worker: &mut Self::Worker, _state: &[u64]) -> Option<u128> {
        None
    }

    /// The words for a finding.
    fn property(&self, finding: &Finding) -> String;

    /// The words for a reason of incompleteness.
    fn reason(&self, reason: u32) -> String;

    /// A state as name and value pairs, for people.
    fn describe(&self, state: &[u64]) -> Vec<(String, String)>;
}
