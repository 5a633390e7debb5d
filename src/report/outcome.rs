//! The result of a check in the words of the model, whichever engine made it.
//!
//! In: filled by `driver`. Out: rendered by `text`, `json` and `trace_file`.

use super::ledger::{Ledger, Verdict};
use crate::explain::Explanation;
use std::collections::BTreeMap;

/// The words of the JSON result for each kind of finding in B. Other formalisms may have more.
pub const KINDS: [&str; 9] = [
    "invariant",
    "deadlock",
    "assertion",
    "well-definedness",
    "goal",
    "precondition",
    "properties",
    "refinement",
    "variant",
];

#[derive(Clone, Debug)]
pub struct Outcome {
    pub file: String,
    pub machine: String,
    pub scope: Scope,
    pub ledger: Ledger,
    pub violation: Option<Violation>,
    /// Why `violation` is one.
    pub why: Explanation,
    /// The first finding of every other property, with its own trace.
    pub others: Vec<(Violation, Explanation)>,
    /// Findings by kind, in the words of `KINDS`, and further kinds of other formalisms than B.
    pub found: BTreeMap<String, u64>,
    pub warnings: Vec<String>,
    pub counts: Counts,
    /// What a formalism counts beside states and transitions, by name.
    pub figures: Vec<(&'static str, u64)>,
    pub events: Vec<EventCoverage>,
    pub temporal: Vec<Temporal>,
    /// The goal of the command line.
    pub goal: Option<String>,
    /// The assertions of a CSP script; `None` if the model is none.
    pub asserts: Option<Vec<Asserted>>,
    pub digest: String,
    pub engine: &'static str,
    /// What a symbolic engine counted, in the place of states.
    pub symbolic: Option<Symbolic>,
    pub reductions: Reductions,
    pub workers: usize,
    pub seconds: Seconds,
    /// Where the workers' time went, as shares of the whole; `None` if the engine does not measure it.
    pub time_shares: Option<TimeShares>,
    pub peak_memory_bytes: u64,
    /// What each machine did, by rank, of a search on several.
    pub machines: Vec<MachineShare>,
    /// Lines that only `--verbose` shows.
    pub details: Vec<String>,
    pub interrupted: bool,
}

/// What one of several machines did.
#[derive(Clone, Debug)]
pub struct MachineShare {
    pub name: String,
    /// States that it owns.
    pub states: u64,
    /// States that it sent, that it need not send again, and that it received.
    pub sent: u64,
    pub filtered: u64,
    pub received: u64,
    /// Time that its workers waited for other machines, summed over them.
    pub waited_seconds: f64,
    /// The most memory of its visited set and queues.
    pub peak_bytes: u64,
}

impl Outcome {
    pub fn verdict(&self) -> Verdict {
        let asserted = self.asserts.iter().flatten().any(|a| a.verdict == "violated");
        let violated =
            self.violation.is_some() || asserted || self.temporal.iter().any(|t| t.verdict == "violated");
        Verdict::conclude(&self.ledger, violated)
    }

    /// The exit status of `bombus check`.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            Verdict::Violated => 1,
            _ if self.interrupted => 130,
            Verdict::Verified => 0,
            Verdict::Incomplete => 3,
        }
    }

    pub fn found(&self, kind: &str) -> u64 {
        self.found.get(kind).copied().unwrap_or(0)
    }
}

/// The figures of a symbolic engine.
#[derive(Clone, Debug, Default)]
pub struct Symbolic {
    /// The greatest number of operations for which nothing was found.
    pub depth: Option<usize>,
    /// The k of a proof by induction.
    pub k: Option<usize>,
    pub frames: Option<usize>,
    /// Clauses of an inductive invariant, besides the property.
    pub clauses: Option<usize>,
    pub queries: u64,
    /// Of these, the first ones about the end of a sequence of events, where the search goes path by path.
    pub ends: Option<u64>,
    pub conflicts: u64,
    pub variables: u64,
    /// Bits of unlimited integers, and why they are enough or not.
    pub width: usize,
    pub width_reason: String,
    /// What was replaced by unknowns: a proof holds for it all the same, a candidate has to be confirmed.
    pub weak: std::collections::BTreeSet<String>,
    /// What a proof rests on.
    pub certificate: Option<&'static str>,
    pub proven: Proven,
    pub seconds: f64,
}

/// What was known beforehand about events and conjuncts of the invariant.
#[derive(Clone, Debug, Default)]
pub struct Proven {
    /// Pairs of an event and a conjunct, proven or not.
    pub pairs: usize,
    /// Proven pairs by the word for where the proof comes from.
    pub by: Vec<(&'static str, usize)>,
    /// Events that keep every conjunct.
    pub events: usize,
    /// Queries that were asked for these proofs.
    pub asked: u64,
    /// Questions that the search did not have to ask.
    pub saved: u64,
    /// The verdict rests on discharged obligations of Rodin.
    pub trusted: bool,
    /// Claims that were checked again, if that was asked for.
    pub checked: Option<usize>,
    /// Claims that could not be checked and were dropped.
    pub dropped: usize,
}

/// For which sizes the verdict holds; empty for formalisms without such sizes.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub sets: Vec<SetSize>,
    pub maxint: String,
    pub minint: String,
    /// Whether MININT..MAXINT was taken for all integers where nothing bounds a choice.
    pub integers: bool,
}

#[derive(Clone, Debug)]
pub struct SetSize {
    pub name: String,
    pub size: usize,
    /// Where the size comes from, in words; `None` for enumerated sets.
    pub origin: Option<&'static str>,
}

#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub states: u64,
    pub transitions: u64,
    pub constants: u64,
    pub initial: u64,
    pub depth: u64,
    pub prob_states: u64,
    pub prob_transitions: u64,
}

#[derive(Clone, Debug)]
pub struct EventCoverage {
    pub name: String,
    /// States in which the event was enabled.
    pub states: u64,
    pub transitions: u64,
}

/// One assertion of a CSP script, with the events of a counterexample.
#[derive(Clone, Debug)]
pub struct Asserted {
    pub text: String,
    pub verdict: &'static str,
    pub trace: Vec<String>,
    /// Why it fails or was not decided.
    pub why: String,
}

#[derive(Clone, Debug)]
pub struct Temporal {
    pub name: Option<String>,
    pub formula: String,
    pub verdict: &'static str,
}

#[derive(Clone, Debug)]
pub struct Reductions {
    pub symmetry: &'static str,
    /// The sets whose elements are interchangeable, as far as that is used.
    pub symmetric_sets: Vec<String>,
    pub por: &'static str,
    pub store: &'static str,
    pub collision_bound: f64,
    /// What partial order reduction did, where it was used.
    pub por_details: Option<PorDetails>,
    /// What a search on sets of states counted, where there was one.
    pub bdd: Option<BddDetails>,
    /// What was proven beforehand and not evaluated in each state, where the user asked for such proofs.
    pub proven: Option<Proven>,
    /// Why a reduction was not used, or did not pay.
    pub notes: Vec<String>,
}

/// What partial order reduction did.
#[derive(Clone, Debug)]
pub struct PorDetails {
    pub method: &'static str,
    pub preserves: &'static str,
    pub proviso: &'static str,
    pub instances: u64,
    /// States of which something was left out.
    pub reduced: u64,
    /// States expanded in full: no smaller set, the proviso, something not known.
    pub full_no_smaller: u64,
    pub full_by_proviso: u64,
    pub full_unknown: u64,
    /// States with at most one enabled instance.
    pub single: u64,
    pub rounds: u64,
    pub transitions_left_out: u64,
    pub given_up_after: Option<u64>,
}

/// What a search on sets of states counted, and how large its diagrams were. Counts are digits: they may be larger
/// than a word.
#[derive(Clone, Debug, Default)]
pub struct BddDetails {
    /// None if only some states of each orbit are known.
    pub states: Option<String>,
    pub transitions: Option<String>,
    pub initial: String,
    /// States that were kept of the orbits of a symmetry.
    pub representatives: Option<String>,
    /// By event: the states in which it is enabled, and its transitions.
    pub events: Vec<(String, Option<String>)>,
    pub symmetry: &'static str,
    pub variables: u64,
    pub arrangement: &'static str,
    pub instances: u64,
    pub exchanges: u64,
    pub hints: u64,
    pub rounds: u64,
    pub nodes_of_states: u64,
    pub nodes_of_relations: u64,
    pub nodes_expanded: u64,
    pub steps_taken: u64,
    pub conditions_asked: u64,
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions {
            symmetry: "off",
            symmetric_sets: Vec::new(),
            por: "off",
            store: "exact",
            collision_bound: 0.0,
            por_details: None,
            bdd: None,
            proven: None,
            notes: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    pub load: f64,
    pub setup: f64,
    pub explore: f64,
    pub temporal: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct TimeShares {
    pub evaluate: f64,
    pub insert: f64,
    pub steal: f64,
    pub idle: f64,
}

#[derive(Clone, Debug)]
pub struct Violation {
    pub kind: String,
    /// The conjunct, assertion or formula that fails, as the user wrote it.
    pub property: String,
    /// Why it fails: a place, the values of its parts.
    pub explanation: Vec<String>,
    pub trace: Vec<TraceStep>,
    pub loop_start: Option<usize>,
    /// Who found the same fault at the end of the same trace, independently of the engine.
    pub confirmed_by: Option<Judge>,
}

/// Who confirms a finding before it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The crate `bombus-oracle`, which shares no code with the engines.
    Oracle,
    /// The evaluator on values, where the oracle's enumeration would be too long.
    Evaluator,
}

impl Judge {
    pub fn word(self) -> &'static str {
        match self {
            Judge::Oracle => "oracle",
            Judge::Evaluator => "evaluator",
        }
    }
}

/// One step: the event with its arguments, and the state it leads to.
#[derive(Clone, Debug, Default)]
pub struct TraceStep {
    pub event: String,
    pub params: Vec<(String, String)>,
    pub results: Vec<(String, String)>,
    pub state: Vec<(String, String)>,
}

pub const SETUP_CONSTANTS: &str = "$setup_constants";
pub const INITIALISE: &str = "$initialise_machine";
