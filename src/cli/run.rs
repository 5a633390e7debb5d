//! Options as meant: each command calls `driver` and prints what it says.

use super::args::{self, Cli, Command, Engine, Order, Por, Store, Symmetry};
use super::{progress, status};
use crate::base::Int;
use crate::base::budget::Budget;
use crate::driver::{self, CheckOptions, Failure, Rejected};
use crate::explore;
use crate::model::typed::{Machine, SetKind, VarId};
use crate::model::{LoadOptions, types};
use crate::report::{Outcome, json, text, trace_file};
use clap::Parser;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
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
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", text.trim_end());
    let _ = out.flush();
}

fn reject(message: &str) -> u8 {
    complain(&format!("error: {message}"));
    status::REJECTED
}

fn rejected(r: &Rejected) -> u8 {
    complain(&r.text());
    status::REJECTED
}

fn loading(args: &args::Loading) -> LoadOptions {
    LoadOptions {
        set_sizes: args.sets.iter().map(|(n, s)| (n.clone(), *s as usize)).collect(),
        default_set_size: args.set_size.map(|n| n as usize),
        maxint: args.maxint.map(Int::from),
        minint: args.minint.map(Int::from),
        include: args.include.clone(),
        machine: args.machine.clone(),
        abstract_levels: args.abstract_levels,
        variants: args.variants,
    }
}

/// Interrupts set the budget's flag; a second one ends the process at once.
fn watch_signals(budget: &Budget) {
    let flag = budget.interrupt_flag();
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

fn check(mut args: args::Check) -> u8 {
    // `--json MODEL`: the optional value of --json took the only path there is.
    if args.model.is_none()
        && let Some(json) = &mut args.json
    {
        args.model = json.take();
    }
    let Some(model) = args.model.clone() else {
        return reject("no model is given: bombus check MODEL");
    };
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
    watch_signals(&budget);
    let options = CheckOptions {
        loading: loading(&args.loading),
        engine: match args.engine {
            Some(Engine::Reference) => driver::Engine::Reference,
            Some(Engine::Compiled) | None => driver::Engine::Compiled,
        },
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
        no_deadlock: args.no_deadlock,
        no_invariant: args.no_invariant,
        no_assertions: args.no_assertions,
        no_goal: args.no_goal,
        goal: args.goal.clone(),
        strict_wd: args.strict_wd,
        keep_going: args.keep_going,
        temporal: driver::Asked {
            ltl: args.ltl.clone(),
            ltl_file,
            assertions: args.ltl_assertions,
            ctl: args.ctl.clone(),
        },
        progress: Default::default(),
    };
    let line = (args.progress == args::Progress::Auto && !args.quiet)
        .then(|| progress::Line::start(options.progress.clone()));
    let result = driver::check(&model, &options, &budget);
    drop(line);
    match result {
        Ok(outcome) => show(&args, &outcome),
        Err(Failure::Rejected(r)) => rejected(&r),
        Err(Failure::Internal(message)) => internal(&message),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Options whose engine does not exist yet are refused, never ignored.
fn not_available(args: &args::Check) -> Option<String> {
    let refuse = |what: &str| Some(format!("{what} is not available in this version"));
    if args.engine == Some(Engine::Reference) {
        if args.order != Order::Bfs {
            return Some("--order: the reference engine searches breadth first only".into());
        }
        if args.store != Store::Exact {
            return Some("--store: the reference engine keeps exact states only".into());
        }
        if args.workers.is_some_and(|n| n > 1) {
            return Some("--workers: the reference engine has one worker".into());
        }
    }
    if args.symmetry != Symmetry::Off {
        return refuse("--symmetry");
    }
    if args.por != Por::Off {
        return refuse("--por");
    }
    if args.checkpoint.is_some() || args.resume.is_some() {
        return refuse("--checkpoint and --resume");
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
        None => say(&words),
        Some(None) => {
            complain(&words);
            say(&json::render(outcome).to_string());
        }
        Some(Some(file)) => {
            say(&words);
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
    // A verdict whose file could not be written must not pass for a success.
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
    match driver::eval(&args.formula, args.model.as_deref(), &loading(&args.loading), &budget) {
        Ok(Ok(value)) => {
            say(&value);
            status::OK
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
    match driver::load(&args.model, &loading(&args.loading)) {
        Ok((model, sources, diagnostics)) => {
            let mut budget = Budget::unlimited();
            budget.time_limit = Some(LAYOUT_TIME);
            let layouts = driver::layouts(&model.machine, &budget);
            say(&format!("{}{}", describe(&model.machine), layouts.join("\n")));
            for d in &diagnostics {
                complain(&sources.render(d));
            }
            status::OK
        }
        Err(r) => rejected(&r),
    }
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
