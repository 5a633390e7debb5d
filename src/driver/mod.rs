//! The whole pipeline, read from top to bottom: load, set up, explore, conclude.
//!
//! In: options as meant. Out: an `Outcome`, or the messages that reject the model.
//! Never here: arguments as typed, printing.

mod animate;
mod bdd;
mod certificate;
mod checkpoint;
mod cluster;
mod compiled;
mod coverage;
mod csp;
mod csp_definitions;
mod editor;
mod eval;
mod evaluate;
mod explain;
mod foreign;
mod guided;
pub mod judge;
mod log_map;
mod log_values;
mod logs;
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
pub use compiled::{Relate, code, layouts, relations};
pub use coverage::{Coverage, Part, coverage};
pub use csp::{describe as describe_csp, eval as eval_csp, is_csp};
pub use editor::{Document, Message, Range, Symbol};
pub use eval::{Evaluated, eval};
pub use foreign::check_via;
pub use judge::core_text;
pub use logs::{Followed, follow_log};
pub use reduction::Reduce;
pub use replay::{Replayed, follow, replay};
pub use simulate::{SimulateOptions, simulate};
pub use space::{Edge, Projected, Space};
pub use state_graph::state_graph;
pub use symbolic::{Method, Settings as SymbolicSettings};
pub use temporal::Asked;
pub use test_traces::{Goals, TestTrace, TestTraces, test_traces};
pub use values::Typed;

use crate::analyse::distinguishable::{Apart, sets_of};
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Severity, Sources};
use crate::base::finding::FindingKind;
use crate::base::text::{many, one_line};
use crate::explore::{Order, Progress, Store};
use crate::lang::typed::{Machine, Pred, SetDecl, SetId, SetKind, SizeOrigin};
use crate::lang::walk::visit_pred;
use crate::model::{self, Formula, LoadOptions, Loaded, Model};
use crate::report::{
    Counts, EventCoverage, Ledger, MachineShare, Outcome, Reductions, Scope, Seconds, SetSize, Symbolic,
    Temporal, TimeShares, Violation,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The passes recurse as deep as a text nests; the parser limits that depth, this stack holds it.
pub(crate) const STACK: usize = 1 << 30;

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
    pub temporal: Asked,
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
    pub progress: Arc<Progress>,
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
struct Explored {
    engine: &'static str,
    workers: usize,
    ledger: Ledger,
    violation: Option<Violation>,
    /// The first finding of every other property.
    others: Vec<Violation>,
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
        unused.push(
            Diagnostic::plain(format!("--set {name}: {why}"))
                .help(format!("the sets of the model: {}", names.join(", "))),
        );
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
    if options.engine == Engine::Bdd
        && (foreign::Formalism::of(path).is_some() || is_csp(path) || options.process.guide.is_some())
    {
        let fault = Diagnostic::plain("--engine bdd is for machines of B, Event-B and Z");
        return Err(Rejected { sources: Sources::default(), diagnostics: vec![fault] }.into());
    }
    let other = foreign::Formalism::of(path).is_some() || is_csp(path) || options.process.guide.is_some();
    let refused = match options.certificate.is_asked() && other {
        true => Err("--certificate: there are certificates for B, Event-B and Z alone".into()),
        false => options.certificate.prepare(),
    };
    if let Err(message) = refused {
        let diagnostics = vec![Diagnostic::plain(message)];
        return Err(Rejected { sources: Sources::default(), diagnostics }.into());
    }
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
    if options.process.main.is_some() || !options.process.free.is_empty() {
        let fault = Diagnostic::plain("--main and --csp-free are for CSP scripts and for --csp SCRIPT");
        return Err(Rejected { sources: Sources::default(), diagnostics: vec![fault] }.into());
    }
    let started = Instant::now();
    let mut asked = Question::read(path, options, &options.loading)?;
    let mut warnings = Vec::new();
    if let Some(set) = asked.names_an_element(options) {
        warnings.push(format!(
            "a formula tells elements of {set} apart, so valuations of the constants that differ by their names \
             are all explored"
        ));
        asked =
            Question::read(path, options, &LoadOptions { all_constants: true, ..options.loading.clone() })?;
    }
    let Question { mut model, mut sources, diagnostics, formulas, hints } = asked;
    warnings.extend(warnings_of(&sources, &diagnostics));
    warnings.extend(warnings_of(&sources, formulas.warnings()));
    let machine = &model.machine;
    if let Some(mode) = options.symmetry {
        let refused = symmetry::refusals(machine, mode, &formulas, options);
        if !refused.is_empty() {
            return Err(Rejected { sources, diagnostics: refused }.into());
        }
    }
    if let Engine::Symbolic(settings) = options.engine {
        let followed = model.refinement.as_ref().is_some_and(|c| !c.levels.is_empty());
        let refused = symbolic::refusals(machine, options, !formulas.is_empty(), followed, settings.method);
        if !refused.is_empty() {
            return Err(Rejected { sources, diagnostics: refused }.into());
        }
    }
    if options.engine == Engine::Bdd {
        let refused = bdd::refusals(machine);
        if !refused.is_empty() {
            return Err(Rejected { sources, diagnostics: refused }.into());
        }
    }
    // Of classical B they are reasons in the ledger.
    for conjunct in machine.unchecked.iter().filter(|_| model.refinement.is_none()) {
        warnings.push(format!("not checked, speaks of variables of the abstraction: {}", one_line(conjunct)));
    }
    let load_seconds = started.elapsed().as_secs_f64();

    let exploring = Instant::now();
    let explore = |options: &CheckOptions| -> Result<Explored, Failure> {
        Ok(match options.engine {
            Engine::Reference => judge::reference::explore(machine, options, budget)?,
            Engine::Evaluate => evaluate::explore(machine, &sources, options, budget)?,
            Engine::Explicit => compiled::explore(machine, &sources, options, &formulas, budget)?,
            Engine::Symbolic(settings) => {
                symbolic::explore(machine, &sources, options, settings, &formulas, budget)?
            }
            Engine::Bdd => bdd::explore(machine, &sources, options, &formulas, &hints, budget)?,
        })
    };
    let explored = explore(options)?;
    let mut explored =
        refinement::judge(&model, &sources, options, budget, explored, !formulas.is_empty(), &mut || {
            explore(&CheckOptions { keep_going: true, ..options.clone() })
        })?;
    warnings.append(&mut explored.reductions.notes);
    // A machine without operations deadlocks whatever stands in for a function.
    let inevitable = machine.events.is_empty()
        && explored.violation.as_ref().is_some_and(|v| v.kind == FindingKind::Deadlock.word());
    for d in diagnostics.iter().filter(|d| d.approximates) {
        if inevitable {
            explored.ledger.enter(d.message.clone());
        } else {
            explored.ledger.enter_stand_in(d.message.clone());
        }
        // What a formula says of the model cannot be told from a model with a stand-in in it.
        explored.temporal.iter_mut().for_each(|t| t.verdict = "incomplete");
    }
    let seconds = Seconds {
        load: load_seconds,
        setup: explored.setup_seconds,
        explore: exploring.elapsed().as_secs_f64() - explored.setup_seconds - explored.temporal_seconds,
        temporal: explored.temporal_seconds,
    };

    warnings.append(&mut explored.warnings);
    if options.symmetry.is_some() && explored.reductions.symmetry == "off" {
        warnings.push("no set is symmetric, so --symmetry has no effect (bombus info says why)".into());
    }
    for (event, n) in explored.events.iter().zip(&explored.undefined_guards).filter(|(_, n)| **n > 0) {
        let times = many(*n, "time");
        let reports = if options.strict_wd { "" } else { " (--strict-wd reports it)" };
        warnings.push(format!(
            "the guard of {} was undefined {times} and counted as false there{reports}",
            event.name
        ));
    }
    warnings.extend(explored.notes);
    let (name, scope) = (machine.name.to_string(), scope_of(machine));
    let always = |text: &str| formulas.always(text).cloned();
    let found = (explored.violation, explored.others);
    let explained = explain::findings(path, &mut model, &mut sources, options, &always, found);
    let mut outcome = Outcome {
        file: path.display().to_string(),
        machine: name,
        scope,
        ledger: explored.ledger,
        violation: explained.violation,
        why: explained.why,
        others: explained.others,
        found: explored.found,
        warnings,
        counts: explored.counts,
        figures: Vec::new(),
        events: explored.events,
        temporal: explored.temporal,
        asserts: None,
        digest: explored.digest,
        engine: explored.engine,
        symbolic: explored.symbolic,
        reductions: explored.reductions,
        workers: explored.workers,
        seconds,
        time_shares: explored.time_shares,
        peak_memory_bytes: peak_resident_bytes(),
        machines: explored.machines,
        details: explored.details,
        interrupted: budget.check() == Err(Stop::Interrupted)
            || options.checkpoint.end.load(Ordering::Relaxed),
    };
    match options.certificate.finish(&model, &sources, options, &outcome) {
        None => {}
        Some(Ok(written)) => outcome.details.push(format!("certificate  {written}")),
        Some(Err(why)) => outcome.warnings.push(format!("no certificate was written: {why}")),
    }
    Ok(outcome)
}

/// A model with what is asked about it.
struct Question {
    model: Model,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    formulas: temporal::Formulas,
    /// Predicates that guide a search on sets of states.
    hints: Vec<Pred>,
}

impl Question {
    fn read(path: &Path, options: &CheckOptions, loading: &LoadOptions) -> Result<Question, Rejected> {
        let (mut model, mut sources, diagnostics) = load(path, loading)?;
        set_goal(&mut model, &mut sources, options)?;
        let formulas = temporal::read(&mut model, &mut sources, options)?;
        let hints = match options.engine {
            Engine::Bdd => bdd::read_hints(&mut model, &mut sources, options)?,
            _ => Vec::new(),
        };
        Ok(Question { model, sources, diagnostics, formulas, hints })
    }

    /// A deferred set of which formulas of the user name an element, or show it to a function that sees an order,
    /// while constants were valued as if its elements were interchangeable.
    fn names_an_element(&self, options: &CheckOptions) -> Option<&str> {
        if options.loading.all_constants {
            return None;
        }
        let machine = &self.model.machine;
        let mut apart = Apart::new(machine);
        // The model's own goal was there when its constants were looked at, and cannot name an element by a number.
        machine.goal.iter().filter(|_| options.goal.is_some()).for_each(|goal| visit_pred(goal, &mut apart));
        self.formulas.visit(&mut apart);
        // Elements that are called after a constant are what the model calls them.
        let by_number = |set: &SetDecl, n: usize| *set.elems[n] == format!("{}{}", set.name, n + 1);
        let constant =
            |id: SetId| machine.constants.iter().any(|c| sets_of(machine, &machine.var(*c).ty).contains(&id));
        (0..machine.sets.len() as u32)
            .map(|s| (SetId(s), machine.set(SetId(s))))
            .filter(|(id, set)| {
                let named =
                    apart.named.get(id).is_some_and(|e| e.iter().any(|n| by_number(set, *n as usize)));
                set.kind != SetKind::Enumerated && (named || apart.shown.contains_key(id))
            })
            .find(|(id, set)| constant(*id) || (0..set.elems.len()).any(|n| !by_number(set, n)))
            .map(|(_, set)| &*set.name)
    }
}

fn warnings_of(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| match d.labels.first() {
            Some((span, _)) => format!("{}: {}", sources.locate(*span), d.message),
            None => d.message.clone(),
        })
        .collect()
}

/// The goal of the command line takes the place of the model's.
fn set_goal(model: &mut Model, sources: &mut Sources, options: &CheckOptions) -> Result<(), Rejected> {
    if options.no_goal {
        model.machine.goal = None;
    }
    let Some(text) = &options.goal else { return Ok(()) };
    match model.scope.parse(&mut model.machine, sources, "<goal>", text) {
        Ok(Formula::Pred(p)) => {
            model.machine.goal = Some(p);
            Ok(())
        }
        Ok(Formula::Expr(e)) => {
            let d = Diagnostic::error(e.span, "a goal is a predicate, this is an expression");
            Err(Rejected { sources: sources.clone(), diagnostics: vec![d] })
        }
        Err(diagnostics) => Err(Rejected { sources: sources.clone(), diagnostics }),
    }
}

fn scope_of(machine: &Machine) -> Scope {
    let sets = machine
        .sets
        .iter()
        .map(|s| SetSize {
            name: s.name.to_string(),
            size: s.elems.len(),
            origin: (s.kind != SetKind::Enumerated).then(|| origin_word(s.origin)),
        })
        .collect();
    Scope {
        sets,
        maxint: machine.maxint.to_string(),
        minint: machine.minint.to_string(),
        integers: machine.integers_in_scope,
    }
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
