//! Options as meant: each command calls `driver` and prints what it says.

use super::args::{self, Cli, Command, Engine, LtlEngine, Order, Por, Store, Symmetry};
use super::{progress, status};
use crate::base::budget::{Budget, GRACE};
use crate::base::{Int, Name};
use crate::driver::{self, CheckOptions, Failure, Rejected, SymmetryMode};
use crate::explore;
use crate::lang::typed::{Machine, SetKind, VarId};
use crate::ltl;
use crate::model::refinement::Refinement;
use crate::model::{LoadOptions, types};
use crate::report::{Outcome, Verdict, json, text, trace_file};
use crate::syntax::eventb::{Proof, ProofStatus};
use clap::Parser;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs the command line and gives the exit status.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { status::REJECTED } else { status::OK };
        }
    };
    let result = driver::on_large_stack(|| match cli.command {
        Command::Check(args) => check(*args),
        Command::Eval(args) => eval(&args),
        Command::Info(args) => info(&args),
        Command::Batch(args) => super::batch::run(&args),
        Command::Scale(args) => super::scale::run(&args),
        Command::Replay(args) => super::animate::replay(&args),
        Command::Animate(args) => super::animate::animate(&args),
    });
    result.unwrap_or_else(|panic| internal(&panic))
}

fn internal(message: &str) -> u8 {
    complain(&format!(
        "internal error: {message}
This is a fault of Bombus, not of the model. No verdict is given."
    ));
    status::INTERNAL
}

/// Prints to stderr; a closed pipe is nobody's fault.
pub(super) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
}

pub(super) fn say(text: &str) {
    said(text);
}

/// Prints to stdout; whether whoever listens can have it all. A reader that went away wanted no more.
fn said(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            complain(&format!("error: cannot write the result: {e}"));
            false
        }
        _ => true,
    }
}

fn reject(message: &str) -> u8 {
    complain(&format!("error: {message}"));
    status::REJECTED
}

pub(super) fn rejected(r: &Rejected) -> u8 {
    complain(&r.text());
    status::REJECTED
}

pub(super) fn loading(args: &args::Loading) -> LoadOptions {
    LoadOptions {
        set_sizes: args.sets.iter().map(|(n, s)| (n.clone(), *s as usize)).collect(),
        default_set_size: args.set_size.map(|n| n as usize),
        maxint: args.maxint.map(Int::from),
        minint: args.minint.map(Int::from),
        integers_in_scope: args.integers_in_scope,
        include: args.include.clone(),
        machine: args.machine.clone(),
        abstract_levels: args.abstract_levels,
        variants: args.variants,
        operations: args.operations.clone(),
        all_constants: args.all_constants,
    }
}

/// Interrupts set the budget's flag; a second one ends the process at once.
pub(super) fn watch_signals(budget: &Budget) {
    let flag = budget.interrupt_flag();
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// The first signal asks for the search to be saved and to end; if that takes long, it is cut.
fn watch_signals_gently(budget: &Budget, end: Arc<AtomicBool>) {
    let flag = budget.interrupt_flag();
    let _ = ctrlc::set_handler(move || {
        if end.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        let flag = flag.clone();
        let _ = std::thread::Builder::new().name("interrupt".into()).spawn(move || {
            std::thread::sleep(GRACE);
            flag.store(true, Ordering::SeqCst);
        });
    });
}

/// How long an answer of a process may take unless the user says otherwise.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

fn check(mut args: args::Check) -> u8 {
    // `--json MODEL`: the optional value of --json took the only path there is.
    if args.model.is_none()
        && args.via.is_none()
        && let Some(json) = &mut args.json
    {
        args.model = json.take();
    }
    if args.model.is_none() && args.via.is_none() {
        return reject("no model is given: bombus check MODEL");
    }
    if args.via_limit.is_some() && args.via.is_none() {
        return reject("--via-limit: limits the answers of a process that --via starts");
    }
    if let Some(message) = not_available(&args) {
        return reject(&message);
    }
    if let Some(trace) = &args.trace {
        let extension = trace.extension().and_then(|e| e.to_str()).unwrap_or("");
        if !["prob2trace", "json", "txt", "html"].contains(&extension) {
            return reject(&format!("--trace {}: use .prob2trace, .json, .txt or .html", trace.display()));
        }
    }
    let ltl_file = match &args.ltl_file {
        None => None,
        Some(path) => match std::fs::read_to_string(path) {
            Ok(text) => Some((path.display().to_string(), text)),
            Err(e) => return reject(&format!("--ltl-file: cannot read {}: {e}", path.display())),
        },
    };
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    budget.max_states = args.max_states;
    budget.max_memory = args.memory_limit;
    let checkpoint = driver::Checkpoint {
        save: args.checkpoint.clone().or_else(|| args.resume.clone()),
        resume: args.resume.clone(),
        or_start: args.checkpoint.is_some() && args.checkpoint == args.resume,
        every: args.checkpoint_every.map(Duration::from_secs_f64),
        end: Default::default(),
        ended: Default::default(),
    };
    if checkpoint.save.is_some() {
        watch_signals_gently(&budget, checkpoint.end.clone());
    } else {
        watch_signals(&budget);
    }
    let options = CheckOptions {
        loading: loading(&args.loading),
        engine: match args.engine {
            Some(Engine::Reference) => driver::Engine::Reference,
            Some(Engine::Evaluate) => driver::Engine::Evaluate,
            Some(Engine::Explicit) | None => driver::Engine::Explicit,
        },
        no_native: args.no_native,
        workers: args.workers.map_or_else(cores, |n| n as usize),
        order: match args.order {
            Order::Bfs => explore::Order::Bfs,
            Order::Dfs => explore::Order::Dfs,
            Order::Mixed => explore::Order::Mixed,
        },
        store: match args.store {
            Store::Exact => explore::Store::Exact,
            Store::Hash => explore::Store::Hash,
        },
        symmetry: match args.symmetry {
            Symmetry::Off => None,
            Symmetry::Marker => Some(SymmetryMode::Marker),
            Symmetry::MarkerClassic => Some(SymmetryMode::MarkerClassic),
            Symmetry::Exact => Some(SymmetryMode::Exact),
            Symmetry::Flood => Some(SymmetryMode::Flood),
        },
        no_deadlock: args.no_deadlock,
        no_invariant: args.no_invariant || args.only_deadlock,
        no_assertions: args.no_assertions || args.only_deadlock,
        no_goal: args.no_goal || args.only_deadlock,
        deadlock_only: args.only_deadlock,
        goal: args.goal.clone(),
        strict_wd: args.strict_wd,
        keep_going: args.keep_going,
        refine_at_once: false,
        por: match args.por {
            Por::Off => driver::Reduce::Off,
            Por::On => driver::Reduce::Stubborn,
            Por::Ample => driver::Reduce::Ample,
        },
        level_proviso: args.proviso == args::Proviso::Level,
        temporal: driver::Asked {
            ltl: args.ltl.clone(),
            ltl_file,
            assertions: args.ltl_assertions,
            ctl: args.ctl.clone(),
            engine: match args.ltl_engine {
                LtlEngine::Automaton => ltl::Engine::Automaton,
                LtlEngine::Tableau => ltl::Engine::Tableau,
            },
        },
        process: driver::Process {
            main: args.main.clone(),
            guide: args.csp.clone(),
            free: args.csp_free.clone(),
        },
        checkpoint,
        certificate: driver::Certificate::at(args.certificate.clone()),
        progress: Default::default(),
    };
    let line = (args.progress == args::Progress::Auto && !args.quiet)
        .then(|| progress::Line::start(options.progress.clone()));
    let result = match (&args.via, &args.model) {
        (Some(command), _) => {
            let limit = args.via_limit.map_or(ANSWER_LIMIT, Duration::from_secs_f64);
            driver::check_via(command, limit, &options, &budget)
        }
        (None, model) => driver::check(model.as_deref().unwrap_or(Path::new("")), &options, &budget),
    };
    drop(line);
    match result {
        Ok(outcome) => {
            let status = show(&args, &outcome);
            // Temporal formulas may have been left undecided by a limit, after the search.
            if outcome.verdict() != Verdict::Incomplete || outcome.temporal.is_empty() {
                options.checkpoint.clear();
            }
            status
        }
        Err(Failure::Rejected(r)) => rejected(&r),
        Err(Failure::Internal(message)) => internal(&message),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Options whose engine does not exist yet are refused, never ignored.
fn not_available(args: &args::Check) -> Option<String> {
    let plain = args.engine.and_then(Engine::plain_word);
    if let Some(engine) = plain {
        if args.order != Order::Bfs {
            return Some(format!("--order: the {engine} engine searches breadth first only"));
        }
        if args.store != Store::Exact {
            return Some(format!("--store: the {engine} engine keeps exact states only"));
        }
        if args.symmetry != Symmetry::Off {
            return Some(format!("--symmetry: the {engine} engine visits every state"));
        }
        if args.workers.is_some_and(|n| n > 1) {
            return Some(format!("--workers: the {engine} engine has one worker"));
        }
    }
    if args.por != Por::Off {
        if matches!(args.symmetry, Symmetry::Marker | Symmetry::MarkerClassic) {
            return Some(
                "--por with --symmetry: a marker does not say which state stands for its orbit, so the set chosen \
                 there would depend on the schedule; use --symmetry exact"
                    .into(),
            );
        }
        if let Some(engine) = plain {
            return Some(format!("--por: the {engine} engine does not reduce"));
        }
        if args.order != Order::Bfs {
            return Some("--por needs --order bfs: its counts must not depend on the schedule".into());
        }
    }
    if args.certificate.is_some() {
        if let Some(engine) = plain {
            return Some(format!("--certificate: the {engine} engine writes none"));
        }
        if args.store != Store::Exact {
            return Some("--certificate needs the states themselves: use --store exact".into());
        }
        if matches!(args.symmetry, Symmetry::Marker | Symmetry::MarkerClassic) {
            return Some(
                "--certificate: markers do not say which states they stand for; use --symmetry exact".into(),
            );
        }
    }
    if args.checkpoint.is_some() || args.resume.is_some() {
        if let Some(engine) = plain {
            return Some(format!("--checkpoint and --resume: the {engine} engine cannot save its search"));
        }
    } else if args.checkpoint_every.is_some() {
        return Some("--checkpoint-every: says how often to save, and --checkpoint DIR where".into());
    }
    None
}

fn show(args: &args::Check, outcome: &Outcome) -> u8 {
    let detail = match (args.quiet, args.verbose) {
        (true, _) => text::Detail::Quiet,
        (_, true) => text::Detail::Verbose,
        _ => text::Detail::Normal,
    };
    let words = text::render(outcome, detail);
    let mut failed = false;
    match &args.json {
        None => failed |= !said(&words),
        Some(None) => {
            complain(&words);
            failed |= !said(&json::render(outcome).to_string());
        }
        Some(Some(file)) => {
            failed |= !said(&words);
            let content = serde_json::to_string_pretty(&json::render(outcome)).unwrap_or_default() + "\n";
            failed |= !write_file(file, &content);
        }
    }
    if let Some(file) = &args.trace
        && outcome.violation.is_some()
    {
        let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        match trace_file::render(outcome, extension) {
            Ok(content) => failed |= !write_file(file, &content),
            Err(message) => {
                complain(&format!("error: {message}"));
                failed = true;
            }
        }
    }
    // A verdict that could not be written must not pass for a success.
    match outcome.exit_status() {
        0 if failed => status::INTERNAL,
        status => status,
    }
}

fn write_file(path: &Path, content: &str) -> bool {
    match std::fs::write(path, content) {
        Ok(()) => true,
        Err(e) => {
            complain(&format!("error: cannot write {}: {e}", path.display()));
            false
        }
    }
}

fn eval(args: &args::Eval) -> u8 {
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    watch_signals(&budget);
    if let Some(model) = args.model.as_deref().filter(|m| driver::is_csp(m)) {
        return match driver::eval_csp(&args.formula, model) {
            Ok(value) if said(&value) => status::OK,
            Ok(_) => status::INTERNAL,
            Err(r) => rejected(&r),
        };
    }
    match driver::eval(&args.formula, args.model.as_deref(), &loading(&args.loading), &budget) {
        Ok(Ok(value)) => {
            if said(&value) {
                status::OK
            } else {
                status::INTERNAL
            }
        }
        Ok(Err(message)) => {
            complain(&format!("error: {message}"));
            1
        }
        Err(r) => rejected(&r),
    }
}

/// Layouts depend on the constants; `info` does not look for them longer than this.
const LAYOUT_TIME: Duration = Duration::from_secs(10);

fn info(args: &args::Info) -> u8 {
    if driver::is_csp(&args.model) {
        return match driver::describe_csp(&args.model) {
            Ok(text) => {
                say(&text);
                status::OK
            }
            Err(r) => rejected(&r),
        };
    }
    match driver::load(&args.model, &loading(&args.loading)) {
        Ok((model, sources, diagnostics)) => {
            let mut budget = Budget::unlimited();
            budget.time_limit = Some(LAYOUT_TIME);
            if let Some(form) = args.relations {
                let how = match form {
                    args::RelationForm::Text => driver::Relate::Matrices,
                    args::RelationForm::Dot => driver::Relate::Dot,
                };
                say(&driver::relations(&model.machine, &budget, how));
                return status::OK;
            }
            if args.code {
                say(&driver::code(&model.machine, &budget));
                return status::OK;
            }
            if args.core {
                return match driver::core_text(&model.machine) {
                    Ok(text) => {
                        say(&text);
                        status::OK
                    }
                    Err(unknown) => {
                        complain(&format!("error: the core language does not have {unknown}\n"));
                        status::REJECTED
                    }
                };
            }
            let layouts = driver::layouts(&model.machine, &budget);
            let notes: String = model.notes.iter().map(|n| format!("note        {n}\n")).collect();
            say(&format!(
                "{}{notes}{}{}{}",
                describe(&model.machine),
                model.refinement.as_ref().map(describe_refinement).unwrap_or_default(),
                describe_proofs(&model.proofs),
                layouts.join("\n")
            ));
            for d in &diagnostics {
                complain(&sources.render(d));
            }
            status::OK
        }
        Err(r) => rejected(&r),
    }
}

/// How many obligations that are not discharged `info` names for each component.
const OPEN_SHOWN: usize = 20;

/// What the authors of an Event-B model proved, component by component.
fn describe_proofs(proofs: &[Proof]) -> String {
    let mut out = String::new();
    let mut components: Vec<&Name> = proofs.iter().map(|p| &p.component).collect();
    components.sort();
    components.dedup();
    for component in components {
        let of = |status: ProofStatus| {
            proofs.iter().filter(move |p| p.component == *component && p.status == status)
        };
        let (discharged, reviewed) = (of(ProofStatus::Discharged).count(), of(ProofStatus::Reviewed).count());
        let open: Vec<String> = of(ProofStatus::Open).map(Proof::place).collect();
        let all = discharged + reviewed + open.len();
        let _ = write!(out, "proofs      {component}: {discharged} of {all} obligations discharged");
        let _ =
            writeln!(out, "{}", if reviewed > 0 { format!(", {reviewed} reviewed") } else { String::new() });
        for place in open.iter().take(OPEN_SHOWN) {
            let _ = writeln!(out, "not proved  {place}");
        }
        if open.len() > OPEN_SHOWN {
            let _ = writeln!(out, "not proved  {} more of {component}", open.len() - OPEN_SHOWN);
        }
    }
    out
}

/// The abstractions that a classical machine is followed through, and the conjuncts that relate it to them.
fn describe_refinement(chain: &Refinement) -> String {
    let mut out = String::new();
    for level in &chain.levels {
        let _ = writeln!(out, "refines     {}", level.name);
    }
    for clause in &chain.machine.invariant[chain.own_invariant..] {
        let text = clause.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "glued by    {text}");
    }
    for name in &chain.left_out {
        let _ = writeln!(out, "left out    {name}");
    }
    out
}

/// What a machine consists of.
fn describe(m: &Machine) -> String {
    let mut out = String::new();
    let ty = |t| types::show(t, &m.sets, &m.freetypes);
    let _ = writeln!(out, "machine     {}", m.name);
    let _ = writeln!(out, "integers    {}..{}", m.minint, m.maxint);
    for s in &m.sets {
        let names: Vec<&str> = s.elems.iter().map(|e| &**e).collect();
        let kind = match s.kind {
            SetKind::Enumerated => "enumerated".to_string(),
            SetKind::Deferred => format!("deferred, size from {}", driver::origin_word(s.origin)),
            SetKind::Parameter => format!("parameter, size from {}", driver::origin_word(s.origin)),
        };
        let _ = writeln!(out, "set         {} = {{{}}} ({kind})", s.name, names.join(", "));
    }
    for f in &m.freetypes {
        let names: Vec<&str> = f.constructors.iter().map(|(n, _)| &**n).collect();
        let _ = writeln!(out, "free type   {} = {}", f.name, names.join(" | "));
    }
    let list = |out: &mut String, word: &str, vars: &[VarId]| {
        for v in vars {
            let _ = writeln!(out, "{word:<11} {} : {}", m.var(*v).name, ty(&m.var(*v).ty));
        }
    };
    list(&mut out, "constant", &m.constants);
    list(&mut out, "variable", &m.variables);
    for op in &m.events {
        let op = m.op(*op);
        let names =
            |vars: &[VarId]| vars.iter().map(|v| m.var(*v).name.to_string()).collect::<Vec<_>>().join(", ");
        let results =
            if op.results.is_empty() { String::new() } else { format!("{} <-- ", names(&op.results)) };
        let params = if op.params.is_empty() { String::new() } else { format!("({})", names(&op.params)) };
        let _ = writeln!(out, "event       {results}{}{params}", op.name);
    }
    let _ = writeln!(
        out,
        "clauses     {} properties, {} invariant conjuncts, {} assertions",
        m.properties.len(),
        m.invariant.len(),
        m.assertions.len()
    );
    if m.goal.is_some() {
        let _ = writeln!(out, "definition  GOAL");
    }
    if m.scope.is_some() {
        let _ = writeln!(out, "definition  SCOPE");
    }
    for t in m.ltl.iter().chain(&m.ctl) {
        let _ = writeln!(out, "definition  {} == {}", t.name, t.formula);
    }
    for c in &m.unchecked {
        let _ = writeln!(out, "not checked {c}");
    }
    out
}
