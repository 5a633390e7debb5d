//! The whole pipeline, read from top to bottom: load, set up, explore, conclude.
//!
//! In: options as meant. Out: an `Outcome`, or the messages that reject the model.
//! Never here: arguments as typed, printing.

mod advice;
mod animate;
mod bdd;
mod build;
mod certificate;
mod checkpoint;
mod cluster;
mod compiled;
mod constants;
mod coverage;
mod csp;
mod csp_animation;
mod csp_assertions;
mod csp_definitions;
mod csp_replay;
mod drawing;
mod editor;
mod eval;
mod evaluate;
mod explain;
mod first_use;
mod foreign;
mod guided;
pub mod judge;
mod listing;
mod log_map;
mod log_values;
mod logs;
mod options;
mod proof_info;
mod question;
mod reduction;
mod refinement;
mod replay;
mod simulate;
mod space;
mod state_graph;
mod symbolic;
mod symmetry;
mod temporal;
mod test_traces;
mod values;

pub use crate::program::symmetry::Mode as SymmetryMode;
pub use animate::{Animation, Branch, Choice, Judged};
pub use bdd::Asked as AskedOfSets;
pub use certificate::Certificate;
pub use checkpoint::Checkpoint;
pub use cluster::Cluster;
pub use coverage::{Coverage, Part, coverage};
pub use csp::{describe as describe_csp, eval as eval_csp, is_csp};
pub use csp_animation::ProcessAnimation;
pub use drawing::{Drawing, of_trace as drawings_of_trace};
pub use editor::{Document, Message, Range, Symbol};
pub use eval::{Evaluated, Why, eval, why};
pub use foreign::check_via;
pub use judge::core_text;
pub use listing::{Relate, code, layouts, relations};
pub use logs::{Followed, follow_log};
pub use options::{CheckOptions, Engine, Process};
pub use proof_info::{Level as ProofLevel, Proofs};
pub use reduction::Reduce;
pub use replay::{Replayed, follow, model_of_trace, replay};
pub use simulate::{SimulateOptions, simulate};
pub use space::{Edge, Projected, Space};
pub use state_graph::{refused_projection, state_graph};
pub use symbolic::{Method, Settings as SymbolicSettings};
pub use temporal::Asked;
pub use test_traces::{Goals, TestTrace, TestTraces, test_traces};
pub use values::Typed;

use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::base::text::{many, one_line};
use crate::lang::typed::SizeOrigin;
use crate::model::{self, LoadOptions, Loaded, Model};
use crate::report::{
    Counts, EventCoverage, Ledger, MachineShare, Outcome, Reductions, Seconds, Symbolic, Temporal,
    TimeShares, Violation,
};
use options::wanted_of;
use question::{Question, scope_of, set_goal, warnings_of};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The passes recurse as deep as a text nests; the parser limits that depth, this stack holds it.
pub(crate) const STACK: usize = 1 << 30;

/// Why there is no outcome.
pub enum Failure {
    /// The model or a formula was rejected; every message, rendered against the texts.
    Rejected(Rejected),
    /// We are wrong.
    Internal(String),
}

pub struct Rejected {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

impl Rejected {
    /// A message about the command, at no place of a text.
    fn plain(message: impl Into<String>) -> Rejected {
        Rejected { sources: Sources::default(), diagnostics: vec![Diagnostic::plain(message.into())] }
    }

    pub fn text(&self) -> String {
        self.diagnostics.iter().map(|d| self.sources.render(d)).collect::<Vec<_>>().join("\n")
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Internal(message)
    }
}

impl From<Rejected> for Failure {
    fn from(r: Rejected) -> Failure {
        Failure::Rejected(r)
    }
}

/// What an engine found, in the words of the model.
#[derive(Default)]
struct Explored {
    engine: &'static str,
    workers: usize,
    ledger: Ledger,
    violation: Option<Violation>,
    /// The first finding of every other property.
    others: Vec<Violation>,
    /// For gluing conjuncts that are false, by the property of the finding: the values of all levels.
    joint: Vec<(String, crate::evaluate::State)>,
    found: BTreeMap<String, u64>,
    counts: Counts,
    events: Vec<EventCoverage>,
    /// How often the guard of each event was undefined.
    undefined_guards: Vec<u64>,
    /// What the counts leave out without a doubt about the states.
    notes: Vec<String>,
    digest: String,
    reductions: Reductions,
    setup_seconds: f64,
    time_shares: Option<TimeShares>,
    temporal: Vec<Temporal>,
    temporal_seconds: f64,
    warnings: Vec<String>,
    details: Vec<String>,
    /// What a symbolic engine counted.
    symbolic: Option<Symbolic>,
    /// What each of several machines did.
    machines: Vec<MachineShare>,
}

impl Explored {
    /// What a user should know of a run beside its verdict.
    fn warnings_of_run(&mut self, options: &CheckOptions) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.reductions.notes);
        warnings.append(&mut self.warnings);
        if options.symmetry.is_some() && self.reductions.symmetry == "off" {
            warnings.push("no set is symmetric, so --symmetry has no effect (bombus info says why)".into());
        }
        for (event, n) in self.events.iter().zip(&self.undefined_guards).filter(|(_, n)| **n > 0) {
            let times = many(*n, "time");
            let reports = if options.strict_wd { "" } else { " (--strict-wd reports it)" };
            warnings.push(format!(
                "the guard of {} was undefined {times} and counted as false there{reports}",
                event.name
            ));
        }
        warnings.append(&mut self.notes);
        warnings
    }
}

/// Runs `work` on a thread with a stack for deep models. `Err` carries the message of a panic.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("bombus".into())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|e| format!("cannot start a thread: {e}"))?;
        thread.join().map_err(|panic| {
            panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
                .unwrap_or_else(|| "a panic".into())
        })
    })
}

/// Loads a model of any kind.
pub fn load(path: &Path, options: &LoadOptions) -> Result<(Model, Sources, Vec<Diagnostic>), Rejected> {
    if foreign::Formalism::of(path).is_some() {
        let message = format!("{}: this is no model of the B family; it can be checked", path.display());
        return Err(Rejected { sources: Sources::default(), diagnostics: vec![Diagnostic::plain(message)] });
    }
    if is_csp(path) {
        let message = format!("{}: this is a CSP script, which is no model of the B family", path.display());
        let fault = Diagnostic::plain(message)
            .help("it can be checked, animated and replayed; eval and info read it");
        return Err(Rejected { sources: Sources::default(), diagnostics: vec![fault] });
    }
    let Loaded { sources, model, diagnostics } = model::load(path, options);
    let Some(model) = model else { return Err(Rejected { sources, diagnostics }) };
    let unused = unused_options(path, &model, options);
    if unused.is_empty() {
        Ok((model, sources, diagnostics))
    } else {
        Err(Rejected { sources, diagnostics: unused })
    }
}

/// Options that this model gives no meaning to: refused, because whoever gave them counts on them.
fn unused_options(path: &Path, model: &Model, options: &LoadOptions) -> Vec<Diagnostic> {
    let machine = &model.machine;
    let mut unused = Vec::new();
    for name in options.set_sizes.keys() {
        let set = machine.sets.iter().find(|s| *s.name == **name);
        let why = match set {
            None => "the model has no such set",
            Some(s) if s.origin != SizeOrigin::CommandLine => "the model lists the elements of this set",
            Some(_) => continue,
        };
        let names: Vec<&str> = machine.sets.iter().map(|s| &*s.name).collect();
        let help = match &names[..] {
            [] => "the model has no sets".to_string(),
            _ => format!("the sets of the model: {}", names.join(", ")),
        };
        unused.push(Diagnostic::plain(format!("--set {name}: {why}")).help(help));
    }
    // No model is meant to have no integers at all: one of the two bounds was forgotten.
    if machine.minint > machine.maxint {
        let bounds = format!("--minint {} is greater than --maxint {}", machine.minint, machine.maxint);
        unused.push(
            Diagnostic::plain(bounds)
                .help("--minint and --maxint, or SET_PREF_MININT and SET_PREF_MAXINT, set them".to_string()),
        );
    }
    if !model::eventb::is_eventb(path) {
        let given = [("--machine", options.machine.is_some()), ("--variants", options.variants)];
        if options.abstract_levels.is_some() && model.refinement.is_none() {
            unused.push(Diagnostic::plain("--abstract-levels: this machine refines no other"));
        }
        for (option, _) in given.iter().filter(|(_, given)| *given) {
            unused.push(Diagnostic::plain(format!("{option} is for Event-B models, this one is none")));
        }
    }
    if !model::z::is_z(path) && !options.operations.is_empty() {
        unused.push(Diagnostic::plain("--operation is for Z specifications"));
    }
    unused
}

/// Checks a model exhaustively.
pub fn check(path: &Path, options: &CheckOptions, budget: &Budget) -> Result<Outcome, Failure> {
    refuse_for_formalism(path, options)?;
    if let Some(formalism) = foreign::Formalism::of(path) {
        cluster::refuse_elsewhere(options, "such a model")?;
        return foreign::check_file(path, formalism, options, budget);
    }
    if is_csp(path) {
        cluster::refuse_elsewhere(options, "a CSP script")?;
        return csp::check(path, options, budget);
    }
    if let Some(script) = &options.process.guide {
        cluster::refuse_elsewhere(options, "a guided machine")?;
        return guided::check(path, script, options, budget);
    }
    let started = Instant::now();
    let mut question = Question::ask(path, options)?;
    question.refuse(options)?;
    let constants = constants::prepare(&mut question.model.machine, options, budget);
    let load_seconds = started.elapsed().as_secs_f64();
    let exploring = Instant::now();
    let options = proof_info::prepared(&question.model, &question.sources, options, budget)?;
    let options = &CheckOptions { listed: constants.found, ..options };
    let mut explored = question.search(options, budget)?;
    question.enter_stand_ins(&mut explored);
    explored.notes.extend(constants.note);
    let seconds = Seconds {
        load: load_seconds,
        setup: explored.setup_seconds,
        explore: exploring.elapsed().as_secs_f64() - explored.setup_seconds - explored.temporal_seconds,
        temporal: explored.temporal_seconds,
    };
    Ok(question.tell(path, options, budget, explored, seconds))
}

/// Whether a model is one of B, Event-B or Z.
pub fn is_of_b(path: &Path) -> bool {
    foreign::Formalism::of(path).is_none() && !is_csp(path)
}

/// Options that a formalism gives no meaning to.
fn refuse_for_formalism(path: &Path, options: &CheckOptions) -> Result<(), Failure> {
    let reject = |message: String| Err(Rejected::plain(message).into());
    let other = !is_of_b(path) || options.process.guide.is_some();
    if other && options.engine == Engine::Bdd {
        return reject("--engine bdd is for machines of B, Event-B and Z".into());
    }
    if other && options.certificate.is_asked() {
        return reject("--certificate: there are certificates for B, Event-B and Z alone".into());
    }
    if other && (options.proofs.level.is_some() || options.proofs.paranoid) {
        return reject("--proof-info and --paranoid are for machines of B, Event-B and Z".into());
    }
    if !other && (options.process.main.is_some() || !options.process.free.is_empty()) {
        return reject("--main and --csp-free are for CSP scripts and for --csp SCRIPT".into());
    }
    options.certificate.prepare().or_else(reject)
}

pub fn origin_word(origin: SizeOrigin) -> &'static str {
    match origin {
        SizeOrigin::Enumeration => "enumerated",
        SizeOrigin::CommandLine => "--set",
        SizeOrigin::ScopeDefinition => "scope definition",
        SizeOrigin::Properties => "PROPERTIES",
        SizeOrigin::Values => "VALUES",
        SizeOrigin::Default => "default",
    }
}
