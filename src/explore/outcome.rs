//! What a run has to say: counts, coverage, findings, reasons of incompleteness, costs.
//!
//! Never here: the verdict's words, and how they are printed.

use super::findings::Counts;
use super::gather::TooLarge;
use super::ledger::Reason;
use super::peers::Lost;
use super::piece::Piece;
use super::reduce::por::Figures;
use super::trace::Trace;
use bombus_graph::Graph;
use bombus_kernels::packed::Words;
use bombus_kernels::visited::Visited;
use bombus_system::Finding;
use std::time::Duration;

/// Numbered states that are read by one thread at a time.
const PART: usize = 2048;

/// How much of the state space saw an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// States with at least one transition of the event.
    pub states: u64,
    pub transitions: u64,
}

/// Where the time of the workers went, summed over them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// Computing successors and checks.
    pub evaluate: Duration,
    /// In the visited set.
    pub insert: Duration,
    /// Taking batches from queues.
    pub steal: Duration,
    /// Waiting for the others.
    pub idle: Duration,
}

impl Shares {
    pub(super) fn add(&mut self, other: &Shares) {
        self.evaluate += other.evaluate;
        self.insert += other.insert;
        self.steal += other.steal;
        self.idle += other.idle;
    }
}

/// One finding and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub finding: Finding,
    /// Length of the shortest path to the state (breadth-first search), else 0.
    pub depth: u32,
    /// `None` if it was found before there was a state.
    pub state: Option<Vec<u64>>,
    /// How to get there; the first finding of every property has one.
    pub trace: Option<Trace>,
}

/// What one machine did in a search on several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// What the user calls it.
    pub name: String,
    /// States that it owns.
    pub states: u64,
    /// States that it sent, that it need not send because it had sent them before, and that it received.
    pub sent: u64,
    pub filtered: u64,
    pub received: u64,
    /// Time that its workers waited for other machines, summed over them.
    pub waited: Duration,
    /// The most memory that its visited set and queues had.
    pub peak_bytes: u64,
}

/// The states of a search that is over: what its visited set held, which are orbits if the system has them.
pub struct Kept(Stored);

enum Stored {
    Words(Words),
    Numbered(Vec<u32>, Visited),
}

impl Kept {
    /// The states of a set that stores states, and not only hashes of them.
    pub(super) fn new(mut visited: Visited) -> Kept {
        if !visited.is_packed() {
            let ids = visited.ids();
            return Kept(Stored::Numbered(ids, visited));
        }
        Kept(Stored::Words(visited.into_words().expect("a packed set")))
    }

    /// Into how many parts the states fall, which may be read side by side.
    pub fn parts(&self) -> usize {
        match &self.0 {
            Stored::Words(words) => words.parts(),
            Stored::Numbered(ids, _) => ids.len().div_ceil(PART),
        }
    }

    /// Reads the states of a part one after the other, up to the first for which `f` fails. `state` has room for the words of one.
    pub fn each_in<E>(
        &self,
        part: usize,
        state: &mut [u64],
        mut f: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.0 {
            Stored::Words(words) => {
                let mut done = Ok(());
                words.each_in(part, |word| {
                    if done.is_ok() {
                        done = f(&[word]);
                    }
                });
                done
            }
            Stored::Numbered(ids, visited) => {
                let own = ids.chunks(PART).nth(part).unwrap_or_default();
                own.iter().try_for_each(|id| {
                    visited.state(*id, state);
                    f(state)
                })
            }
        }
    }
}

pub struct Outcome {
    /// All reachable states were found and expanded. "Verified" needs this, no finding and no reason.
    pub exhausted: bool,
    /// The search ended to begin again with another form of its states (`Options::pause_when_outgrown`): findings have no paths.
    pub outgrown: bool,
    /// Distinct initialised states, transitions between them.
    pub states: u64,
    pub transitions: u64,
    /// Distinct initial states, and edges that the system emitted for them.
    pub initial: u64,
    pub initial_transitions: u64,
    /// Largest distance of a state from the initial ones; only a breadth-first search knows it.
    pub depth: Option<u32>,
    /// By event.
    pub events: Vec<Coverage>,
    /// By event, how often a guard was undefined and counted as false.
    pub undefined_guards: Vec<u64>,
    /// States without a successor that have not come to a proper end, whether or not that is a finding.
    pub deadlocks: u64,
    /// States that were not expanded because the system's scope leaves them out.
    pub out_of_scope: u64,
    /// States not all of whose transitions could be computed.
    pub faulty: u64,
    /// Whether every initial state could be computed.
    pub all_initial: bool,
    /// The properties of kind `Ltl` that were violated, one bit each.
    pub violated: u64,
    /// Findings by kind, and the least ones in an order that no schedule changes.
    pub counts: Counts,
    pub findings: Vec<Violation>,
    /// Why the run is incomplete, with how often each reason was met.
    pub reasons: Vec<(Reason, u64)>,
    /// Sum of the fingerprints of all states modulo 2^128: the same for the same set of states.
    pub digest: u128,
    /// Upper bound of the probability that a state was missed because of its hash.
    pub collision_bound: f64,
    pub shares: Shares,
    /// Bytes of visited set and parents at the end; peak with queues and log of edges.
    pub visited_bytes: u64,
    pub peak_bytes: u64,
    pub graph: Option<Graph>,
    /// What the graph takes, if it was not gathered on one machine because it does not fit there.
    pub too_large: Option<TooLarge>,
    /// What this machine has of such a graph, if all states were found with all their transitions.
    pub piece: Option<Piece>,
    /// The states, if they were asked for and no graph has them.
    pub kept: Option<Kept>,
    /// What partial order reduction did, if there was any.
    pub por: Option<Figures>,
    /// States that were known at the start, of a search that was saved and resumed.
    pub resumed: Option<u64>,
    /// The machines of a search on several, by rank; and the one that was lost, if one was.
    pub machines: Vec<Machine>,
    pub lost: Option<Lost>,
}

impl Outcome {
    pub(super) fn empty(events: usize) -> Outcome {
        Outcome {
            exhausted: false,
            outgrown: false,
            states: 0,
            transitions: 0,
            initial: 0,
            initial_transitions: 0,
            depth: None,
            events: vec![Coverage::default(); events],
            undefined_guards: vec![0; events],
            deadlocks: 0,
            out_of_scope: 0,
            faulty: 0,
            all_initial: false,
            violated: 0,
            counts: Counts::default(),
            findings: Vec::new(),
            reasons: Vec::new(),
            digest: 0,
            collision_bound: 0.0,
            shares: Shares::default(),
            visited_bytes: 0,
            peak_bytes: 0,
            graph: None,
            too_large: None,
            piece: None,
            kept: None,
            por: None,
            resumed: None,
            machines: Vec::new(),
            lost: None,
        }
    }

    /// The outcome of a run that could not even start.
    pub(super) fn nothing(reason: Reason, events: usize) -> Outcome {
        Outcome { reasons: vec![(reason, 1)], ..Outcome::empty(events) }
    }

    /// Nothing wrong was found and nothing was left out: the only ground for "verified".
    pub fn is_verified(&self) -> bool {
        self.exhausted && self.reasons.is_empty() && self.counts.total() == 0 && self.findings.is_empty()
    }

    /// Every reachable state was found with all its transitions.
    pub fn is_whole(&self) -> bool {
        self.exhausted && self.all_initial && self.faulty == 0 && self.out_of_scope == 0
    }

    /// Bytes of visited set and parents per state.
    pub fn bytes_per_state(&self) -> f64 {
        self.visited_bytes as f64 / self.states.max(1) as f64
    }
}
