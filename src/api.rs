//! Bombus as a library: a formalism of your own, explored by the same engine.
//!
//! In: anything that implements `System` (packed states) or `Model` (any Rust type), options, formulas.
//! Out: a `Report`: verdict, counts, shortest counterexample, truth of formulas, the graph on demand.
//! Never here: B, printing.
//!
//! # Two ways
//!
//! * `Model` is for the lazy: states are values of any type that can be hashed and compared. `Interned`
//!   numbers them and makes a `System` of the model.
//! * `System` is for speed: states are words that you pack yourself. Nothing is allocated per state; one
//!   core visits millions of states in a second.
//!
//! ```
//! use bombus::api::{Explorer, Interned, Model, Verdict};
//!
//! /// A die that is turned over its edges: the number on top, never to its opposite in one step.
//! struct Die;
//!
//! impl Model for Die {
//!     type State = u8;
//!
//!     fn events(&self) -> Vec<String> {
//!         vec!["turn".into()]
//!     }
//!
//!     fn initial(&self, state: &mut dyn FnMut(u8)) {
//!         state(1);
//!     }
//!
//!     fn successors(&self, top: &u8, step: &mut dyn FnMut(usize, u8)) {
//!         (1..=6).filter(|next| next != top && next + top != 7).for_each(|next| step(0, next));
//!     }
//!
//!     fn proposition(&self, text: &str) -> Option<fn(&u8) -> bool> {
//!         match text.trim() {
//!             "even" => Some(|top| top % 2 == 0),
//!             _ => None,
//!         }
//!     }
//! }
//!
//! let report = Explorer::new(Interned::new(Die)).workers(2).ltl("G F {even}").unwrap().run().unwrap();
//! assert_eq!((report.states(), report.transitions()), (6, 24));
//! // One can go round the odd numbers for ever.
//! assert_eq!(report.verdict, Verdict::Violated);
//! assert!(report.violation.unwrap().loop_start.is_some());
//! ```
//!
//! # What a verdict is worth
//!
//! `Verdict::Verified` says that every reachable state was found, that no finding was made in any of them
//! and that every formula holds; whatever kept the search from seeing everything makes it `Incomplete`.
//! All counts, the digest and the counterexample are the same for any number of workers, provided that the
//! system answers equal questions equally.
//!
//! # Stability
//!
//! What this module exports follows semantic versioning: before 1.0 a minor version may change it, and the
//! notes of the version say how; a patch never does. New methods of `System` and `Model` come with a
//! default that keeps the meaning of existing implementations. Other modules of the crate are internal: they
//! are public for our own tests and tools, and change without notice.

mod interned;

pub use crate::base::budget::Budget;
pub use crate::explore::{InternalError, Options, Order, Outcome, Reason, Store};
pub use crate::graph::Graph;
pub use crate::report::Verdict;
pub use crate::system::{
    Diagnostic, EventId, Finding, FindingKind, GuardId, InstanceId, Orbits, Precision, PropId, Relations,
    Rows, Sink, Span, System,
};
pub use interned::{Interned, Model};

use crate::base::diagnostic::Sources;
use crate::explore::reduce::por::{Method, Por, Preserve, Proviso};
use crate::explore::{self, Trace};
use crate::ltl::formula::Formula;
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path};
use crate::ltl::propositions::{Propositions, Truths};
use crate::ltl::view::Graph as _;
use crate::ltl::{self, Checker, Place, parse_ltl};
use crate::report::Ledger;
use std::time::Duration;

/// What to do with a system: options, limits and formulas, then `run`.
pub struct Explorer<S> {
    system: S,
    options: Options,
    budget: Budget,
    formulas: Vec<(String, Formula)>,
    propositions: Propositions,
    reduces: bool,
}

/// What a run came to.
pub struct Report {
    pub verdict: Verdict,
    /// Why the verdict is incomplete, in words; also what a violated run did not look at.
    pub reasons: Vec<String>,
    pub violation: Option<Violation>,
    /// The truth of each formula, in the order in which they were given.
    pub temporal: Vec<Temporal>,
    /// All figures of the search, and the graph if it was asked for or formulas needed it.
    pub outcome: Outcome,
}

/// Something that went wrong, and how to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub kind: String,
    pub property: String,
    /// From an initial state; of a loop the last step closes it.
    pub trace: Vec<Step>,
    /// The step at which a loop begins.
    pub loop_start: Option<usize>,
}

/// One step of a trace in the words of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `None` for an initial state.
    pub event: Option<String>,
    pub arguments: Vec<(String, String)>,
    pub state: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporal {
    pub formula: String,
    /// `None` if it could not be decided.
    pub holds: Option<bool>,
}

impl Report {
    pub fn states(&self) -> u64 {
        self.outcome.states
    }

    pub fn transitions(&self) -> u64 {
        self.outcome.transitions
    }
}

impl<S: System> Explorer<S> {
    /// Explores breadth first, on one worker, exactly, without limits, until the first finding.
    pub fn new(system: S) -> Explorer<S> {
        Explorer {
            system,
            options: Options::default(),
            budget: Budget::unlimited(),
            formulas: Vec::new(),
            propositions: Propositions::default(),
            reduces: false,
        }
    }

    pub fn workers(mut self, workers: usize) -> Self {
        self.options.workers = workers.max(1);
        self
    }

    pub fn order(mut self, order: Order) -> Self {
        self.options.order = order;
        self
    }

    pub fn store(mut self, store: Store) -> Self {
        self.options.store = store;
        self
    }

    /// Whether a state without successors is a finding.
    pub fn check_deadlock(mut self, checks: bool) -> Self {
        self.options.check_deadlock = checks;
        self
    }

    /// Explores everything in spite of findings.
    pub fn keep_going(mut self, keeps: bool) -> Self {
        self.options.keep_going = keeps;
        self
    }

    /// Keeps the graph in `Outcome::graph`.
    pub fn keep_graph(mut self, keeps: bool) -> Self {
        self.options.record_edges = keeps;
        self
    }

    /// Partial order reduction, for systems that know their relations; off where a formula forbids it.
    pub fn reduce(mut self, reduces: bool) -> Self {
        self.reduces = reduces;
        self
    }

    pub fn max_states(mut self, states: u64) -> Self {
        self.budget.max_states = Some(states);
        self
    }

    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.budget.time_limit = Some(limit);
        self
    }

    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.budget.max_memory = Some(bytes);
        self
    }

    /// Adds an LTL formula; its propositions in braces are in the language of the system. An error is the
    /// message with its place.
    pub fn ltl(mut self, text: &str) -> Result<Self, String> {
        let mut sources = Sources::default();
        let file = sources.add("<ltl>", None, text);
        // Formulas have different places, so that their propositions are told apart.
        let offset = self.formulas.iter().map(|(text, _)| text.len() + 1).sum();
        let parsed = parse_ltl(text, Place { file, offset }).and_then(|parsed| {
            self.propositions.read_ltl(&mut self.system, &parsed.formula)?;
            Ok(parsed.formula)
        });
        match parsed {
            Ok(formula) => {
                self.formulas.push((text.to_string(), formula));
                Ok(self)
            }
            Err(faults) => Err(faults.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")),
        }
    }

    pub fn system(&self) -> &S {
        &self.system
    }

    /// Explores the system and decides the formulas.
    pub fn run(&self) -> Result<Report, InternalError> {
        let mut options = self.options.clone();
        options.keep_going |= !self.formulas.is_empty();
        options.record_edges |= !self.formulas.is_empty();
        options.por = self.reduction(&options);
        let mut outcome = explore::explore(&self.system, &options, &self.budget)?;
        let mut ledger = Ledger::default();
        outcome.reasons.iter().for_each(|(reason, _)| ledger.enter(reason.words(&self.system)));
        if outcome.out_of_scope > 0 {
            ledger.enter(format!("{} states were left without their successors", outcome.out_of_scope));
        }
        if outcome.exhausted {
            ledger.finished();
        }
        let mut violation = outcome.findings.first().map(|v| Violation {
            kind: v.finding.kind.word().into(),
            property: self.system.property(&v.finding),
            trace: v.trace.as_ref().map_or_else(Vec::new, |trace| self.steps(trace)),
            loop_start: None,
        });
        let graph = outcome.graph.take();
        let (temporal, more) = self.decide(graph.as_ref(), &mut ledger);
        outcome.graph = graph;
        violation = violation.or(more);
        if let Some(why) = self.system.failure() {
            return Err(InternalError(why));
        }
        let violated = violation.is_some() || outcome.counts.total() > 0;
        let verdict = Verdict::conclude(&ledger, violated);
        let reasons = if verdict == Verdict::Verified { Vec::new() } else { ledger.reasons() };
        Ok(Report { verdict, reasons, violation, temporal, outcome })
    }

    fn reduction(&self, options: &Options) -> Option<Por> {
        let forbidden = self.formulas.iter().any(|(_, f)| f.not_preserved().is_some());
        let possible = self.reduces && !forbidden && !self.options.keep_going && options.order == Order::Bfs;
        let preserve = if self.formulas.is_empty() { Preserve::States } else { Preserve::Paths };
        possible.then_some(Por { method: Method::Stubborn, preserve, proviso: Proviso::Topological })
    }

    /// The truth of each formula, and what refutes the first that is violated.
    fn decide(&self, graph: Option<&Graph>, ledger: &mut Ledger) -> (Vec<Temporal>, Option<Violation>) {
        let mut all = Vec::new();
        let mut violation = None;
        let graph = graph.filter(|graph| !graph.has_orbits());
        for (text, formula) in &self.formulas {
            let Some(graph) = graph else {
                ledger.enter("there is no graph of single states to decide formulas on");
                all.push(Temporal { formula: text.clone(), holds: None });
                continue;
            };
            let frozen = Frozen::new(graph);
            let truths = Truths::new(&self.system, graph, &self.propositions, &self.budget);
            let decided = Checker::new(&frozen, &truths, &self.budget).check(formula);
            let decided = decided.unwrap_or_else(|faults| {
                ltl::Verdict::Incomplete(faults.into_iter().map(|d| d.message).collect())
            });
            let holds = match decided {
                ltl::Verdict::Holds => Some(true),
                ltl::Verdict::Violated(c) => {
                    violation = violation.or_else(|| Some(self.refuted(text, graph, &frozen, &c.path)));
                    Some(false)
                }
                ltl::Verdict::Incomplete(reasons) => {
                    ledger.enter(format!("{text}: {}", reasons.join("; ")));
                    None
                }
            };
            all.push(Temporal { formula: text.clone(), holds });
        }
        (all, violation)
    }

    fn refuted(&self, text: &str, graph: &Graph, frozen: &Frozen, path: &Path) -> Violation {
        let loop_start = match path.end {
            End::Loop(entry) => Some(entry),
            End::Deadlock | End::Open => None,
        };
        let closing = loop_start.map(|entry| path.states[entry]);
        let mut trace = Trace::new();
        for (i, state) in path.states.iter().copied().chain(closing).enumerate() {
            let taken = i.checked_sub(1).map(|before| path.edges[before]);
            trace.push(explore::Step {
                event: taken.map(|edge| frozen.event(edge)),
                label: taken.map_or(0, |edge| frozen.label(edge)),
                state: graph.state(frozen.node(state)).expect("an exact store keeps states"),
            });
        }
        Violation { kind: "ltl".into(), property: text.to_string(), trace: self.steps(&trace), loop_start }
    }

    fn steps(&self, trace: &Trace) -> Vec<Step> {
        let system = &self.system;
        let shown = |(i, step): (usize, &explore::Step)| Step {
            event: step.event.map(|event| system.event_names()[event.0 as usize].clone()),
            arguments: match (step.event, i.checked_sub(1)) {
                (Some(event), Some(from)) => system.label(event, step.label, &trace[from].state, &step.state),
                _ => Vec::new(),
            },
            state: system.describe(&step.state),
        };
        trace.iter().enumerate().map(shown).collect()
    }
}
