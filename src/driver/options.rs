//! What to check, how, and how far to go: the one struct of options that all engines borrow.
//!
//! In: nothing. Out: options as meant, with what a plain `bombus check` means as their default.
//! Never here: arguments as typed, limits and live figures of a run beyond the handles that carry them.

use super::{Certificate, Checkpoint, Cluster, Proofs, Reduce, SymmetryMode, bdd, symbolic, temporal};
use crate::evaluate::{Constants, Found};
use crate::explore::{self, Order, Progress, Store};
use crate::model::LoadOptions;
use crate::symbolic::unroll::Properties;
use std::path::PathBuf;
use std::sync::Arc;

/// Which evaluator runs the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Engine {
    /// Compiled code on packed states.
    #[default]
    Explicit,
    /// The evaluator on values.
    Evaluate,
    /// The oracle's own search.
    Reference,
    /// Clauses and a SAT solver.
    Symbolic(symbolic::Settings),
    /// Sets of states as decision diagrams.
    Bdd,
}

/// What to check, how, and how far to go.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub loading: LoadOptions,
    pub engine: Engine,
    /// Register code is run operation by operation, never as machine code.
    pub no_native: bool,
    pub workers: usize,
    pub order: Order,
    pub store: Store,
    /// The folder for the files of `Store::Disk`.
    pub store_dir: Option<PathBuf>,
    /// Keep no predecessors: a path is found by a second search.
    pub no_trace: bool,
    /// States that differ by a permutation of deferred sets count as one, told apart in this way.
    pub symmetry: Option<SymmetryMode>,
    pub no_deadlock: bool,
    pub no_invariant: bool,
    pub no_assertions: bool,
    pub no_goal: bool,
    pub goal: Option<String>,
    pub strict_wd: bool,
    pub keep_going: bool,
    /// Partial order reduction, and whether its proviso is the level rule even where edges could be kept.
    pub por: Reduce,
    pub level_proviso: bool,
    /// Whether relations are refined before the search begins, and not when it turns out to be long.
    pub refine_at_once: bool,
    /// Nothing but deadlocks is looked for, so a reduction need not preserve anything else.
    pub deadlock_only: bool,
    /// Temporal formulas.
    pub temporal: temporal::Asked,
    /// CSP: the process to check, or the script that guides a machine.
    pub process: Process,
    /// What a search on sets of states is to use.
    pub bdd: bdd::Asked,
    /// Saving the search, and going on with a saved one.
    pub checkpoint: Checkpoint,
    /// The machines of the search, if it is shared.
    pub cluster: Option<Cluster>,
    /// Writing what a checker needs to check the verdict again.
    pub certificate: Certificate,
    /// What may be taken for proven.
    pub proofs: Proofs,
    /// The valuations of the constants, if they were listed before the search.
    pub listed: Option<Arc<Found<Constants>>>,
    pub progress: Arc<Progress>,
}

impl CheckOptions {
    /// What every exploration takes from the options, whatever is explored.
    pub(super) fn exploring(&self) -> explore::Options {
        explore::Options {
            workers: self.workers,
            order: self.order,
            store: self.store,
            disk: self.store_dir.clone(),
            keep_parents: !self.no_trace,
            check_deadlock: !self.no_deadlock,
            keep_going: self.keep_going,
            progress: self.progress.clone(),
            ..explore::Options::default()
        }
    }
}

/// What of a state is looked at, for engines that ask a solver.
pub(super) fn wanted_of(options: &CheckOptions) -> Properties {
    Properties {
        invariant: !options.no_invariant,
        assertions: !options.no_assertions,
        deadlock: !options.no_deadlock,
    }
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            loading: LoadOptions::default(),
            engine: Engine::Explicit,
            no_native: false,
            workers: 1,
            order: Order::Bfs,
            store: Store::Exact,
            store_dir: None,
            no_trace: false,
            symmetry: None,
            no_deadlock: false,
            no_invariant: false,
            no_assertions: false,
            no_goal: false,
            goal: None,
            strict_wd: false,
            keep_going: false,
            por: Reduce::Off,
            level_proviso: false,
            refine_at_once: false,
            deadlock_only: false,
            temporal: temporal::Asked::default(),
            process: Process::default(),
            bdd: bdd::Asked::default(),
            checkpoint: Checkpoint::default(),
            cluster: None,
            certificate: Certificate::default(),
            proofs: Proofs::default(),
            listed: None,
            progress: Arc::default(),
        }
    }
}

/// What the command line says about CSP processes.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The process to check; `MAIN` if none is named.
    pub main: Option<String>,
    /// A script whose process guides a machine.
    pub guide: Option<PathBuf>,
    /// Operations that the guide does not mention and that may happen all the same.
    pub free: Vec<String>,
}
