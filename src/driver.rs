//! The whole pipeline, read from top to bottom: load, set up, explore, conclude.
//!
//! In: options as meant. Out: an `Outcome`, or the messages that reject the model.
//! Never here: arguments as typed, printing.

use crate::base::budget::{Budget, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Severity, Sources};
use crate::base::{Int, Span};
use crate::model::reference::search::{self, Exploration, Finding, FindingKind, SearchOptions};
use crate::model::reference::{Interpreter, State};
use crate::model::typed::{Machine, SetKind, SizeOrigin};
use crate::model::{self, Formula, LoadOptions, Loaded, Model};
use crate::report::{
    Counts, EventCoverage, Ledger, Outcome, Reductions, Scope, Seconds, SetSize, TraceStep, Violation,
    explain,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The passes recurse as deep as a text nests; the parser limits that depth, this stack holds it.
const STACK: usize = 1 << 30;

/// What to check, and how far to go.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    pub loading: LoadOptions,
    pub workers: usize,
    pub no_deadlock: bool,
    pub no_invariant: bool,
    pub no_assertions: bool,
    pub no_goal: bool,
    pub goal: Option<String>,
    pub strict_wd: bool,
    pub keep_going: bool,
}

/// The model or a formula was rejected; every message, rendered against the texts.
pub struct Rejected {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

impl Rejected {
    pub fn text(&self) -> String {
        self.diagnostics.iter().map(|d| self.sources.render(d)).collect::<Vec<_>>().join("\n")
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
    let Loaded { sources, model, diagnostics } = model::load(path, options);
    match model {
        Some(model) => Ok((model, sources, diagnostics)),
        None => Err(Rejected { sources, diagnostics }),
    }
}

/// Checks a model exhaustively with the reference interpreter.
pub fn check(path: &Path, options: &CheckOptions, budget: &Budget) -> Result<Outcome, Rejected> {
    let started = Instant::now();
    let (mut model, mut sources, diagnostics) = load(path, &options.loading)?;
    let mut warnings: Vec<String> = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| match d.labels.first() {
            Some((span, _)) => format!("{}: {}", sources.locate(*span), d.message),
            None => d.message.clone(),
        })
        .collect();
    let goal = match &options.goal {
        None => None,
        Some(text) => match model.scope.parse(&mut model.machine, &mut sources, "<goal>", text) {
            Ok(Formula::Pred(p)) => Some(p),
            Ok(Formula::Expr(e)) => {
                let d = Diagnostic::error(e.span, "a goal is a predicate, this is an expression");
                return Err(Rejected { sources, diagnostics: vec![d] });
            }
            Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
        },
    };
    if options.no_goal {
        model.machine.goal = None;
    }
    let machine = &model.machine;
    for conjunct in &machine.unchecked {
        warnings.push(format!("not checked, speaks of variables of the abstraction: {}", one_line(conjunct)));
    }
    let load_seconds = started.elapsed().as_secs_f64();

    let exploring = Instant::now();
    let search = SearchOptions {
        check_invariant: !options.no_invariant,
        check_deadlock: !options.no_deadlock,
        check_assertions: !options.no_assertions,
        goal,
        strict_wd: options.strict_wd,
        keep_going: options.keep_going,
        max_states: budget.max_states,
    };
    let found = search::explore(machine, budget, &search);
    let explore_seconds = exploring.elapsed().as_secs_f64();

    let mut ledger = Ledger::default();
    for reason in &found.incomplete {
        ledger.enter(reason.clone());
    }
    let violation = found.findings.first().map(|f| violation(machine, &sources, &found, f, budget));
    if violation.is_some() && !options.keep_going {
        ledger.enter("the search stopped at the first finding");
    }
    ledger.finished();
    for (event, n) in found.undefined_guards.iter().enumerate().filter(|(_, n)| **n > 0) {
        let name = &machine.op(machine.events[event]).name;
        warnings.push(format!(
            "the guard of {name} was undefined in {n} states and counted as false there (--strict-wd reports it)"
        ));
    }
    Ok(Outcome {
        file: path.display().to_string(),
        machine: machine.name.to_string(),
        scope: scope_of(machine),
        interrupted: budget.check() == Err(crate::base::budget::Stop::Interrupted),
        ledger,
        violation,
        found: found_by_kind(&found),
        warnings,
        counts: Counts {
            states: found.states.len() as u64,
            transitions: found.transitions,
            constants: found.constants,
            initial: found.initial,
            depth: u64::from(found.depth),
            prob_states: found.prob_states,
            prob_transitions: found.prob_transitions,
        },
        events: machine
            .events
            .iter()
            .zip(&found.coverage)
            .map(|(op, c)| EventCoverage {
                name: machine.op(*op).name.to_string(),
                states: c.states,
                transitions: c.transitions,
            })
            .collect(),
        temporal: Vec::new(),
        digest: found.digest.to_string(),
        engine: "reference",
        reductions: Reductions::default(),
        workers: 1,
        seconds: Seconds { load: load_seconds, setup: 0.0, explore: explore_seconds, temporal: 0.0 },
        peak_memory_bytes: peak_resident_bytes(),
        details: Vec::new(),
    })
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
    Scope { sets, maxint: machine.maxint.to_string(), minint: machine.minint.to_string() }
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

fn kind_word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Invariant => "invariant",
        FindingKind::Deadlock => "deadlock",
        FindingKind::Assertion => "assertion",
        FindingKind::WellDefinedness => "well-definedness",
        FindingKind::Precondition => "precondition",
        FindingKind::Goal => "goal",
        FindingKind::Properties => "properties",
    }
}

fn found_by_kind(found: &Exploration) -> BTreeMap<String, u64> {
    found.found.iter().map(|(k, n)| (kind_word(*k).to_string(), *n)).collect()
}

/// The finding with its trace, and with the parts of the property and their values.
fn violation(
    machine: &Machine,
    sources: &Sources,
    found: &Exploration,
    finding: &Finding,
    budget: &Budget,
) -> Violation {
    let trace = finding.state.map_or_else(Vec::new, |at| {
        found
            .trace(machine, at)
            .into_iter()
            .map(|s| TraceStep { event: s.event, params: s.params, results: s.results, state: s.state })
            .collect()
    });
    let mut explanation = Vec::new();
    if let Some(event) = finding.event {
        explanation.push(format!("while computing {}", machine.op(machine.events[event]).name));
    }
    if let Some(error) = &finding.error
        && error.span() != Span::default()
    {
        explanation.push(format!(
            "at {}: {}",
            sources.locate(error.span()),
            one_line(sources.slice(error.span()))
        ));
    }
    if let Some(at) = finding.state {
        let mut budget = budget.clone();
        budget.time_limit = None;
        let interpreter = Interpreter::new(machine, &budget);
        explanation.extend(explain::state(&interpreter, sources, finding.kind, &found.states[at]));
    }
    Violation {
        kind: kind_word(finding.kind).to_string(),
        property: finding.property.clone(),
        explanation,
        trace,
        loop_start: None,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of a formula as text, or what went wrong.
pub fn eval(
    formula: &str,
    model: Option<&Path>,
    options: &LoadOptions,
    budget: &Budget,
) -> Result<Result<String, String>, Rejected> {
    let maxint = options.maxint.clone().unwrap_or(Int::from(3i64));
    let minint = options.minint.clone().unwrap_or(Int::from(-1i64));
    let (mut model, mut sources) = match model {
        Some(path) => {
            let (model, sources, _) = load(path, options)?;
            (model, sources)
        }
        None => {
            let machine = model::empty_machine(maxint.clone(), minint.clone());
            let scope = model::FormulaScope::empty(maxint, minint);
            (Model { machine, scope }, Sources::default())
        }
    };
    let typed = match model.scope.parse(&mut model.machine, &mut sources, "<formula>", formula) {
        Ok(typed) => typed,
        Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
    };
    let machine = &model.machine;
    let interpreter = Interpreter::new(machine, budget);
    let state = match first_state(&interpreter) {
        Ok(state) => state,
        Err(why) => return Ok(Err(why)),
    };
    let result = match &typed {
        Formula::Expr(e) => interpreter.eval_expr(e, state.as_ref()).map(|v| v.show(machine, &e.ty)),
        Formula::Pred(p) => {
            interpreter.eval_pred(p, state.as_ref()).map(|b| if b { "TRUE" } else { "FALSE" }.to_string())
        }
    };
    Ok(result.map_err(|e| {
        let mut text = e.message().to_string();
        if e.span() != Span::default() {
            let (line, column) = sources.position(e.span());
            text.push_str(&format!(" (at {line}:{column}: {})", one_line(sources.slice(e.span()))));
        }
        text
    }))
}

/// The first initial state; `None` for a model without constants and variables.
fn first_state(interpreter: &Interpreter) -> Result<Option<State>, String> {
    let machine = interpreter.machine();
    if machine.constants.is_empty() && machine.variables.is_empty() {
        return Ok(None);
    }
    let constants = interpreter.constants().map_err(|e| e.to_string())?;
    let Some(valuation) = constants.values.first() else {
        return Err("no valuation of the constants satisfies PROPERTIES".into());
    };
    let initial = interpreter.initial_states(valuation).map_err(|e| e.to_string())?;
    match initial.values.into_iter().next() {
        Some(state) => Ok(Some(state)),
        None => Err("INITIALISATION has no outcome".into()),
    }
}
