//! A CSP script: load, explore the process, judge the assertions, decide the formulas.
//!
//! In: the path of a script and options as meant. Out: an `Outcome`, or the messages that reject the script.
//! Never here: the meaning of CSP, printing.

use super::csp_definitions::{Definition, Value, definitions, printed};
use super::{CheckOptions, Engine, Failure, Reduce, Rejected, one_line};
use crate::base::Span;
use crate::base::budget::{Budget, Stop, peak_resident_bytes};
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::csp::compose::{Smaller, composition};
use crate::csp::core::{Bind, Ex, Kind};
use crate::csp::eval::Eval;
use crate::csp::machine::Machine;
use crate::csp::scope::{Scoped, expression, scoped};
use crate::csp::value::{Data, Env, Fault, Res, Val};
use crate::csp::{parser, temporal, types};
use crate::explain::Place;
use crate::explore::{self, Options, Reason, Store};
use crate::ltl::frozen::Frozen;
use crate::ltl::path::{End, Path as Lasso};
use crate::ltl::pattern;
use crate::ltl::view::Graph as _;
use crate::ltl::{self, Checker, CtlVerdict, Verdict, parse_ctl, parse_ltl};
use crate::report::{
    Counts, EventCoverage, Ledger, Outcome, Reductions, Scope, Seconds, Temporal, TraceStep, Violation,
};
use crate::source::Reader;
use crate::system::{FindingKind, System};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Whether a file is a CSP script, by its name.
pub fn is_csp(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "csp" || e == "cspm")
}

/// Reads a script, looks up its names and infers its types.
pub fn load(path: &Path, sources: &mut Sources) -> Result<Scoped, Vec<Diagnostic>> {
    load_with(Reader::new(path, &[]), path, sources)
}

/// The same with texts that an editor has not saved, or from other folders, as a reader knows them.
pub fn load_with(mut reader: Reader, path: &Path, sources: &mut Sources) -> Result<Scoped, Vec<Diagnostic>> {
    let mut script = parser::script(path, &mut reader, sources);
    if !script.faults.is_empty() {
        return Err(std::mem::take(&mut script.faults));
    }
    let mut scoped = scoped(script);
    if !scoped.faults.is_empty() {
        return Err(std::mem::take(&mut scoped.faults));
    }
    let ill_typed = types::check(&scoped);
    if ill_typed.is_empty() { Ok(scoped) } else { Err(ill_typed) }
}

pub(super) fn reject(sources: &Sources, diagnostics: Vec<Diagnostic>) -> Failure {
    Failure::Rejected(Rejected { sources: sources.clone(), diagnostics })
}

pub(super) fn told(fault: &Fault) -> Diagnostic {
    let message = if fault.message.is_empty() {
        "this value is needed for its own computation: unguarded recursion".to_string()
    } else {
        fault.message.clone()
    };
    Diagnostic::error(fault.span, message)
}

/// The value of an expression in a script.
pub fn eval(formula: &str, path: &Path) -> Result<String, Rejected> {
    let mut sources = Sources::default();
    let result = (|| {
        let script = load(path, &mut sources)?;
        let (eval, ex) = read_expression(script, formula, "<expression>", &mut sources)?;
        let mut eval = eval;
        let value = eval.eval_data(&ex, &Env::default()).map_err(|f| vec![told(&f)])?;
        Ok(eval.show(&value))
    })();
    result.map_err(|diagnostics| Rejected { sources, diagnostics })
}

pub(super) fn read_expression(
    mut script: Scoped,
    text: &str,
    name: &str,
    sources: &mut Sources,
) -> Result<(Eval, Ex), Vec<Diagnostic>> {
    let names = std::mem::take(&mut script.names);
    let (read, expr) = parser::expression(text, name, names, sources);
    script.names = read.names;
    let Some(expr) = expr.filter(|_| read.faults.is_empty()) else { return Err(read.faults) };
    let (mut script, ex) = expression(script, &expr);
    if !script.faults.is_empty() {
        return Err(std::mem::take(&mut script.faults));
    }
    Ok((Eval::new(script), ex))
}

/// What a script consists of.
pub fn describe(path: &Path) -> Result<Vec<(&'static str, String)>, Rejected> {
    let mut sources = Sources::default();
    let script = match load(path, &mut sources) {
        Ok(script) => script,
        Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
    };
    let mut lines = Vec::new();
    let text = |e: &Option<Ex>| {
        e.as_ref().map_or(String::new(), |e| format!(" : {}", one_line(sources.slice(e.span))))
    };
    for channel in &script.channels {
        lines.push(("channel", format!("{}{}", script.names.text(channel.name), text(&channel.fields))));
    }
    for (name, _) in &script.types {
        lines.push(("type", script.names.text(*name).to_string()));
    }
    for constructor in &script.constructors {
        let (name, fields) = (script.names.text(constructor.name), text(&constructor.fields));
        lines.push(("constructor", format!("{name}{fields}")));
    }
    let asserts = script.asserts.iter().map(|a| ("assertion", one_line(sources.slice(a.span))));
    lines.extend(asserts);
    lines.extend(script.formulas.iter().map(|(_, formula, ..)| ("formula", formula.clone())));
    let process = script.names.find("MAIN").is_some_and(|m| script.globals.contains_key(&m));
    let needed = process;
    let read = read_expression(script, if process { "MAIN" } else { "STOP" }, "<main>", &mut sources);
    let (mut eval, ex) = match read {
        Ok(read) => read,
        Err(diagnostics) => return Err(Rejected { sources, diagnostics }),
    };
    let (shown, faults) = evaluated(&mut eval, &sources);
    // Evaluation is lazy: where a process is checked, what it does not need may have no value.
    if !needed && !faults.is_empty() {
        return Err(Rejected { sources, diagnostics: faults });
    }
    lines.extend(shown);
    if process {
        let budget = Budget::moment();
        eval.limit = Some(budget.clone());
        let found = process_of(&mut eval, &ex)
            .and_then(|term| composition(&mut eval, term, Smaller::Written, &budget));
        match found {
            Ok(made) => {
                let sizes: Vec<String> = made.slots.iter().map(|t| t.states().to_string()).collect();
                let said = format!(
                    "{} components, {} rules, local states {}",
                    made.components,
                    made.rules.len(),
                    sizes.join(" × ")
                );
                lines.push(("MAIN", said));
            }
            Err(fault) if fault.limit => lines.push(("MAIN", fault.message)),
            Err(fault) => return Err(Rejected { sources, diagnostics: vec![told(&fault)] }),
        }
    }
    Ok(lines)
}

/// The definitions and prints of a script as lines, and what is wrong with them.
fn evaluated(eval: &mut Eval, sources: &Sources) -> (Vec<(&'static str, String)>, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let mut lines = Vec::new();
    for definition in definitions(eval, &Budget::moment()) {
        lines.push(definition.line());
        let claim = definition.is_claim();
        if let Value::Faulty(fault) = definition.value
            && claim
        {
            faults.push(fault);
        }
    }
    lines.extend(printed(eval, sources));
    (lines, faults)
}

/// Options that have no meaning for a process are refused, because whoever gave them counts on them.
fn refused(options: &CheckOptions) -> Vec<Diagnostic> {
    let l = &options.loading;
    let given = [
        ("--goal", options.goal.is_some()),
        ("--symmetry", options.symmetry.is_some()),
        ("--por", options.por != Reduce::Off),
        ("--strict-wd", options.strict_wd),
        ("--set", !l.set_sizes.is_empty()),
        ("--set-size", l.default_set_size.is_some()),
        ("--maxint", l.maxint.is_some()),
        ("--minint", l.minint.is_some()),
        ("--integers-in-scope", l.integers_in_scope),
        ("--all-constants", l.all_constants),
        ("--machine", l.machine.is_some()),
        ("--abstract-levels", l.abstract_levels.is_some()),
        ("--variants", l.variants),
        ("--operation", !l.operations.is_empty()),
        ("--engine evaluate", options.engine == Engine::Evaluate),
        ("--engine reference", options.engine == Engine::Reference),
        ("--engine", matches!(options.engine, Engine::Symbolic(_))),
        ("--checkpoint", options.checkpoint.save.is_some() || options.checkpoint.resume.is_some()),
        ("--csp", options.process.guide.is_some()),
        ("--csp-free", !options.process.free.is_empty()),
    ];
    given
        .iter()
        .filter(|(_, given)| *given)
        .map(|(option, _)| Diagnostic::plain(format!("{option} has no meaning for a CSP script")))
        .collect()
}

/// A formula and how it is called.
struct Formula {
    ctl: bool,
    text: String,
    name: Option<String>,
}

/// Checks the process of a script and all its assertions.
pub fn check(path: &Path, options: &CheckOptions, budget: &Budget) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let mut sources = Sources::default();
    let unused = refused(options);
    if !unused.is_empty() {
        return Err(reject(&sources, unused));
    }
    let script = load(path, &mut sources).map_err(|d| reject(&sources, d))?;
    let formulas = wanted_formulas(&script, options, &mut sources)?;
    let name = options.process.main.clone().unwrap_or_else(|| "MAIN".to_string());
    let defined = script.names.find(&name).is_some_and(|n| script.globals.contains_key(&n));
    let asserts = !options.no_assertions && !script.asserts.is_empty();
    let alone = !defined && !asserts && options.process.main.is_none() && formulas.is_empty();
    if !defined && !alone && (options.process.main.is_some() || !asserts || !formulas.is_empty()) {
        return Err(reject(&sources, vec![no_process(&name)]));
    }
    let text = if defined { name.as_str() } else { "STOP" };
    let (mut eval, main) =
        read_expression(script, text, "<main>", &mut sources).map_err(|d| reject(&sources, d))?;
    eval.limit = Some(budget.clone());
    // Without a process it is the script that the result speaks of.
    let called = if defined { Some(name.as_str()) } else { path.file_stem().and_then(|stem| stem.to_str()) };
    let mut run = Run { options, budget, out: empty(path, called.unwrap_or(&name), options) };
    run.out.seconds.load = started.elapsed().as_secs_f64();
    let read = formulas_read(formulas, &mut sources)?;
    if defined {
        run.process(&mut eval, &main, &sources, &read)?;
    } else if alone {
        run.definitions(&mut eval, &sources)?;
    } else {
        run.out.ledger.finished();
    }
    if asserts {
        run.assertions(&mut eval, &sources)?;
    }
    run.out.peak_memory_bytes = peak_resident_bytes();
    run.out.interrupted = budget.check() == Err(Stop::Interrupted);
    Ok(run.out)
}

pub(super) fn no_process(name: &str) -> Diagnostic {
    Diagnostic::plain(format!("the script has no process `{name}`")).help("name another one with --main NAME")
}

fn wanted_formulas(
    script: &Scoped,
    options: &CheckOptions,
    sources: &mut Sources,
) -> Result<Vec<Formula>, Failure> {
    let asked = &options.temporal;
    let mut list: Vec<Formula> = Vec::new();
    if let Some((name, text)) = &asked.ltl_file {
        let file = sources.add(name.as_str(), None, text.as_str());
        let read = pattern::read(text).map_err(|faults| {
            let told = |f: pattern::Fault| Diagnostic::error(Span::new(file, f.start, f.end), f.message);
            reject(sources, faults.into_iter().map(told).collect())
        })?;
        if read.is_empty() {
            let message = format!("--ltl-file: there is no formula in {name}");
            return Err(reject(sources, vec![Diagnostic::plain(message)]));
        }
        list.extend(read.into_iter().map(|f| Formula {
            ctl: false,
            text: one_line(&f.expanded),
            name: None,
        }));
    }
    if asked.assertions {
        list.extend(script.formulas.iter().map(|(ctl, text, comment, _)| Formula {
            ctl: *ctl,
            text: text.clone(),
            name: (!comment.is_empty()).then(|| comment.clone()),
        }));
    }
    list.extend(asked.ltl.iter().map(|text| Formula { ctl: false, text: text.clone(), name: None }));
    list.extend(asked.ctl.iter().map(|text| Formula { ctl: true, text: text.clone(), name: None }));
    Ok(list)
}

enum Logic {
    Ltl(crate::ltl::formula::Formula),
    Ctl(crate::ltl::ctl_parse::Ctl),
}

fn formulas_read(list: Vec<Formula>, sources: &mut Sources) -> Result<Vec<(Formula, Logic)>, Failure> {
    let mut read = Vec::new();
    let mut faults = Vec::new();
    for formula in list {
        let text = temporal::undotted(&formula.text);
        let file = sources.add(if formula.ctl { "<ctl>" } else { "<ltl>" }, None, text.as_str());
        let place = ltl::Place { file, offset: 0 };
        let parsed = if formula.ctl {
            parse_ctl(&text, place).map(|p| Logic::Ctl(p.formula))
        } else {
            parse_ltl(&text, place).map(|p| Logic::Ltl(p.formula))
        };
        match parsed {
            Ok(logic) => read.push((formula, logic)),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(read) } else { Err(reject(sources, faults)) }
}

/// An outcome that says nothing yet.
pub(super) fn empty(path: &Path, name: &str, options: &CheckOptions) -> Outcome {
    Outcome {
        why: Default::default(),
        others: Vec::new(),
        figures: Vec::new(),
        file: path.display().to_string(),
        machine: name.to_string(),
        scope: Scope::default(),
        ledger: Ledger::default(),
        violation: None,
        found: BTreeMap::new(),
        warnings: Vec::new(),
        counts: Counts::default(),
        events: Vec::new(),
        temporal: Vec::new(),
        goal: options.goal.clone(),
        asserts: Some(Vec::new()),
        digest: String::new(),
        engine: "explicit",
        symbolic: None,
        reductions: Reductions::default(),
        workers: options.workers,
        seconds: Seconds::default(),
        time_shares: None,
        peak_memory_bytes: 0,
        machines: Vec::new(),
        details: Vec::new(),
        interrupted: false,
    }
}

pub(super) struct Run<'a> {
    options: &'a CheckOptions,
    pub(super) budget: &'a Budget,
    pub(super) out: Outcome,
}

impl Run<'_> {
    pub(super) fn how(&self, edges: bool) -> Options {
        Options {
            workers: self.options.workers,
            order: self.options.order,
            store: self.options.store,
            disk: self.options.store_dir.clone(),
            keep_parents: !self.options.no_trace,
            check_deadlock: !self.options.no_deadlock,
            keep_going: self.options.keep_going || edges,
            record_edges: edges,
            progress: self.options.progress.clone(),
            ..Options::default()
        }
    }

    /// Explores the process and decides the formulas.
    fn process(
        &mut self,
        eval: &mut Eval,
        main: &Ex,
        sources: &Sources,
        formulas: &[(Formula, Logic)],
    ) -> Result<(), Failure> {
        let setup = Instant::now();
        let smaller = if formulas.is_empty() { Smaller::Written } else { Smaller::Steps };
        let made = term_machine(eval, main, smaller, sources, self.budget);
        self.out.seconds.setup = setup.elapsed().as_secs_f64();
        let machine = match (made, self.budget.check()) {
            (Ok(machine), _) => machine,
            (Err(Failure::Rejected(_)), Err(stop)) => {
                self.out.ledger.enter(stop.reason());
                return Ok(());
            }
            (Err(failure), _) => return Err(failure),
        };
        if !formulas.is_empty() && self.options.store != Store::Exact {
            let message = "temporal formulas need the states themselves: use --store exact";
            return Err(reject(sources, vec![Diagnostic::plain(message)]));
        }
        let exploring = Instant::now();
        let how = self.how(!formulas.is_empty());
        let found = explore::explore(&machine, &how, self.budget).map_err(|e| Failure::Internal(e.0))?;
        self.out.seconds.explore = exploring.elapsed().as_secs_f64();
        self.figures(&machine, &found);
        self.findings(&machine, &found, sources);
        let checking = Instant::now();
        self.formulas(&machine, &found, formulas, sources)?;
        self.out.seconds.temporal = checking.elapsed().as_secs_f64();
        Ok(())
    }

    /// Keeps what the exploration found: of each fault and of deadlocks the first that has a trace.
    fn findings(&mut self, machine: &Machine, found: &explore::Outcome, sources: &Sources) {
        let told = |(n, v): &(usize, &explore::Violation)| *n == 0 || v.trace.is_some();
        for (_, violation) in found.findings.iter().enumerate().filter(told) {
            let finding = &violation.finding;
            let (property, place) = match finding.kind {
                FindingKind::WellDefinedness => {
                    let fault = &machine.composition.faults[finding.property as usize];
                    (fault.message.clone(), Place::of(sources, fault.span))
                }
                _ => (machine.property(finding), None),
            };
            let trace = violation.trace.iter().flatten().filter(|s| s.event.is_some());
            let shown = Violation {
                confirmed_by: None,
                kind: finding.kind.word().to_string(),
                property,
                explanation: match (&violation.state, finding.kind) {
                    (Some(state), FindingKind::Deadlock) => machine.waiting(state),
                    _ => Vec::new(),
                },
                trace: trace.map(|s| step(machine.event_text(s.label as u32))).collect(),
                loop_start: None,
            };
            self.keep(shown, place);
        }
    }

    fn figures(&mut self, machine: &Machine, found: &explore::Outcome) {
        let out = &mut self.out;
        let first = machine.moves(&mut machine.worker(), &machine.start()).map_or(0, |moves| moves.count());
        out.counts = Counts {
            states: found.states,
            transitions: found.transitions,
            constants: 0,
            initial: found.initial,
            depth: u64::from(found.depth.unwrap_or(0)),
            // The root, the start of the process, and the process itself before it is unfolded.
            prob_states: found.states + 2,
            prob_transitions: found.transitions + 1 + first as u64,
        };
        let names = machine.event_names().iter().zip(&found.events);
        out.events = names
            .map(|(name, c)| EventCoverage {
                name: name.clone(),
                states: c.states,
                transitions: c.transitions,
            })
            .filter(|e| e.transitions > 0 || (e.name != "tau" && e.name != "tick"))
            .collect();
        out.digest = format!("{:032x}-{}", found.digest, found.states);
        out.reductions.collision_bound = found.collision_bound;
        out.reductions.store = self.options.store.word();
        for kind in FindingKind::ALL.iter().filter(|k| **k != FindingKind::Ltl) {
            out.found.insert(kind.word().to_string(), found.counts.of(*kind));
        }
        for (reason, _) in &found.reasons {
            out.ledger.enter(match reason {
                Reason::States(n) => format!("the limit of {n} states was reached"),
                Reason::Time => "time limit reached".to_string(),
                Reason::Interrupted => "interrupted".to_string(),
                Reason::System(n) => machine.reason(*n),
                _ => "memory limit reached".to_string(),
            });
        }
        if found.exhausted {
            out.ledger.finished();
        } else if !found.findings.is_empty() && found.reasons.is_empty() {
            out.ledger.enter("the search stopped at the first finding");
        }
        if found.counts.of(FindingKind::WellDefinedness) > 0 {
            // What a state could do whose fault is the finding is not known.
            out.events.retain(|e| e.transitions > 0);
        }
        let slots = &machine.composition.slots;
        let sizes: Vec<String> = slots.iter().map(|t| t.states().to_string()).collect();
        out.details.push(format!(
            "components   {} ({} rules), local states {}",
            machine.composition.components,
            machine.composition.rules.len(),
            sizes.join(" × ")
        ));
    }

    fn formulas(
        &mut self,
        machine: &Machine,
        found: &explore::Outcome,
        formulas: &[(Formula, Logic)],
        sources: &Sources,
    ) -> Result<(), Failure> {
        if formulas.is_empty() {
            return Ok(());
        }
        let Some(graph) = &found.graph else {
            self.out.ledger.enter("there is no graph to check temporal formulas on");
            return Ok(());
        };
        let frozen = Frozen::new(graph);
        let atoms = temporal::Events { machine, graph: &frozen };
        let mut checker =
            Checker::new(&frozen, &atoms, self.budget).with_engine(self.options.temporal.engine);
        for (formula, logic) in formulas {
            let decided = match logic {
                Logic::Ltl(f) => checker.check(f).map(|verdict| match verdict {
                    Verdict::Holds => ("holds", None, Vec::new()),
                    Verdict::Violated(c) => ("violated", Some(c.path), Vec::new()),
                    Verdict::Incomplete(why) => ("incomplete", None, why),
                }),
                Logic::Ctl(f) => checker.check_ctl(f).map(|verdict| match verdict {
                    CtlVerdict::Holds => ("holds", None, Vec::new()),
                    CtlVerdict::Violated(path, _) => ("violated", Some(path), Vec::new()),
                    CtlVerdict::Incomplete(why) => ("incomplete", None, why),
                }),
            };
            let (verdict, path, why) = decided.map_err(|faults| reject(sources, faults))?;
            for reason in why {
                self.out.ledger.enter(format!("{}: {reason}", formula.text));
            }
            if let Some(path) = path {
                self.keep(shown(machine, &frozen, formula, &path), None);
            }
            let (name, text) = (formula.name.clone(), formula.text.clone());
            self.out.temporal.push(Temporal { name, formula: text, verdict });
        }
        Ok(())
    }

    /// Evaluates the definitions that are tests by their names: there is nothing else to check.
    fn definitions(&mut self, eval: &mut Eval, sources: &Sources) -> Result<(), Failure> {
        let (all, others): (Vec<Definition>, Vec<Definition>) =
            definitions(eval, self.budget).into_iter().partition(Definition::is_claim);
        let faults: Vec<Diagnostic> = all.iter().filter_map(Definition::fault).cloned().collect();
        if !faults.is_empty() {
            return Err(reject(sources, faults));
        }
        if all.is_empty() {
            let processes = others.iter().filter(|d| matches!(d.value, Value::Process(..)));
            let processes: Vec<&str> = processes.map(|d| d.name.as_str()).collect();
            if !processes.is_empty() {
                let known = format!("its processes are {}", processes.join(", "));
                return Err(reject(sources, vec![no_process("MAIN").help(known)]));
            }
            self.out.ledger.enter(
                "there is nothing to check: the script has no process `MAIN`, no assertion and no test",
            );
            return Ok(());
        }
        for definition in &all {
            match &definition.value {
                Value::Truth(truth) => self.claim(&definition.name, *truth, definition.span, sources),
                Value::Process(states, false) => {
                    let name = &definition.name;
                    self.out
                        .ledger
                        .enter(format!("only {states} states of the process {name} were looked at"));
                }
                Value::Unknown(why) => self.out.ledger.enter(format!("{}: {why}", definition.name)),
                _ => {}
            }
        }
        if self.budget.check().is_ok() {
            self.out.ledger.finished();
        }
        self.out.details.push(format!("tests        {} evaluated", all.len()));
        Ok(())
    }
}

/// The process that an expression means, ready to be explored.
pub(super) fn term_machine(
    eval: &mut Eval,
    main: &Ex,
    smaller: Smaller,
    sources: &Sources,
    budget: &Budget,
) -> Result<Machine, Failure> {
    let made = process_of(eval, main).and_then(|term| composition(eval, term, smaller, budget));
    match made {
        Ok(composition) => Ok(Machine::new(composition, eval, sources)),
        Err(fault) => {
            let mut fault = told(&fault);
            if fault.labels.first().is_some_and(|(span, _)| *span == Span::default()) {
                fault.labels.clear();
            }
            Err(reject(sources, vec![fault]))
        }
    }
}

/// The term of the process to be explored.
fn process_of(eval: &mut Eval, main: &Ex) -> Res<u32> {
    let value = eval.eval(main, &Env::default())?;
    let definition = eval.script.group.binds.iter().find_map(|bind| match (bind, &main.kind) {
        (Bind::Function(name, function), Kind::Name(main)) if name == main => function.clauses.first(),
        _ => None,
    });
    eval.here = definition.map_or(main.span, |clause| clause.body.span);
    match value {
        Val::Data(Data::Proc(term)) => Ok(term),
        Val::Fun(_) => eval.fail("this is a function with parameters: name a process without any"),
        _ => eval.fail("this is no process"),
    }
}

pub(super) fn step(event: &str) -> TraceStep {
    TraceStep { event: event.to_string(), ..TraceStep::default() }
}

/// The counterexample of a formula.
fn shown(machine: &Machine, graph: &Frozen<'_>, formula: &Formula, path: &Lasso) -> Violation {
    let events = path.edges.iter().map(|e| step(machine.event_text(graph.label(*e) as u32)));
    let end = match path.end {
        End::Loop(_) => "the last step closes the loop: the path goes round for ever",
        End::Deadlock => "the path ends where nothing is possible any more",
        End::Open => "the formula fails; the path shows it as far as one path can",
    };
    Violation {
        confirmed_by: None,
        kind: if formula.ctl { "ctl" } else { "ltl" }.to_string(),
        property: formula.text.clone(),
        explanation: vec![end.to_string()],
        trace: events.collect(),
        loop_start: match path.end {
            End::Loop(entry) => Some(entry),
            _ => None,
        },
    }
}
