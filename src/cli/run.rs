//! Options as meant: each command calls `driver` and prints what it says.

use super::args::{self, Cli, Command};
use super::meaning::{self, loading};
use super::{colour, describe, models, options, outputs, progress, refusals, settings, status, watch};
use crate::base::budget::{Budget, GRACE};
use crate::base::diagnostic::Diagnostic;
use crate::base::text::many;
use crate::driver::{self, CheckOptions, Failure, Rejected};
use crate::report::{Outcome, Verdict, diagnostics, json, text, trace_file};
use clap::FromArgMatches;
use parking_lot::Mutex;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

/// Runs the command line and gives the exit status.
pub fn main() -> u8 {
    let matches = options::command().try_get_matches();
    let cli = match matches.and_then(|m| Cli::from_arg_matches(&m)) {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            if let Some(tip) = forgotten_command(&e) {
                complain(&tip);
            }
            return if e.use_stderr() { status::REJECTED } else { status::OK };
        }
    };
    let cli = match with_settings(cli) {
        Ok(cli) => cli,
        Err(message) => return reject(&message),
    };
    let result = driver::on_large_stack(|| match cli.command {
        Command::Check(args) => check(*args),
        Command::Eval(args) => eval(&args),
        Command::Info(args) => info(&args),
        Command::Batch(args) => super::batch::run(&args),
        Command::Cluster(args) => super::cluster::run(&args),
        Command::Scale(args) => super::scale::run(&args),
        Command::Replay(args) => super::animate::replay(&args),
        Command::Animate(args) => super::animate::animate(&args),
        Command::Serve(args) => super::serve::run(&args),
        Command::Simulate(args) => super::simulate::run(&args),
        Command::Tests(args) => super::test_traces::run(&args),
        Command::Mcp(args) => super::mcp::run(&args),
        Command::Lsp(args) => super::lsp::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut options::command(), "bombus", &mut std::io::stdout());
            status::OK
        }
        Command::Manual => match options::manual() {
            Ok(page) if said(&page) => status::OK,
            _ => status::INTERNAL,
        },
    });
    result.unwrap_or_else(|panic| internal(&panic))
}

/// The command line with the settings beside its model; `check` reads them for each model by itself.
fn with_settings(cli: Cli) -> Result<Cli, String> {
    let found = match &cli.command {
        Command::Eval(args) => model_of_eval(args),
        Command::Info(args) => Some(args.model.clone()),
        Command::Scale(args) => Some(args.model.clone()),
        Command::Animate(args) => Some(args.model.clone()),
        Command::Serve(args) => Some(args.model.clone()),
        Command::Simulate(args) => Some(args.model.clone()),
        Command::Tests(args) => Some(args.model.clone()),
        Command::Replay(args) => args.model.clone().or_else(|| super::animate::model_of(args)),
        _ => None,
    };
    let Some(model) = found else { return Ok(cli) };
    match settings::joined(&model)? {
        Some((joined, told)) => {
            complain(&format!("note: {told}"));
            Ok(joined)
        }
        None => Ok(cli),
    }
}

/// A way out for `bombus MODEL`.
fn forgotten_command(e: &clap::Error) -> Option<String> {
    if e.kind() != clap::error::ErrorKind::InvalidSubcommand {
        return None;
    }
    let given = std::env::args().nth(1)?;
    let path = Path::new(&given);
    (path.exists() || models::is_source(path)).then(|| format!("  tip: bombus check {given}"))
}

pub(super) fn internal(message: &str) -> u8 {
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
pub(super) fn said(text: &str) -> bool {
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

/// A model that `info` cannot describe: the messages, with `--json` as an object too.
pub(super) fn rejected_by_info(args: &args::Info, r: &Rejected) -> u8 {
    if args.json {
        let file = args.model.display().to_string();
        say(&diagnostics::rejected(&file, &r.sources, &r.diagnostics).to_string());
    }
    rejected(r)
}

/// What a signal does now.
static ON_SIGNAL: Mutex<Option<Box<dyn FnMut() + Send>>> = Mutex::new(None);

/// Signals do this from now on.
fn on_signal(action: impl FnMut() + Send + 'static) {
    static WATCHED: Once = Once::new();
    *ON_SIGNAL.lock() = Some(Box::new(action));
    WATCHED.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if let Some(action) = &mut *ON_SIGNAL.lock() {
                action();
            }
        });
    });
}

/// Interrupts set the budget's flag; a second one ends the process at once.
pub(super) fn watch_signals(budget: &Budget) {
    let flag = budget.interrupt_flag();
    on_signal(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// The first signal asks for the search to be saved and to end; if that takes long, it is cut.
fn watch_signals_gently(budget: &Budget, end: Arc<AtomicBool>) {
    let flag = budget.interrupt_flag();
    on_signal(move || {
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
    if let Some(message) = outputs::refused_of(&args) {
        return reject(&message);
    }
    let paths: Vec<_> = args.model.take().into_iter().chain(std::mem::take(&mut args.more)).collect();
    if args.watch {
        return check_again_and_again(&args, &paths);
    }
    check_paths(args, &paths)
}

/// `--watch`: a check, and one more after each change of a text, until an interrupt.
fn check_again_and_again(args: &args::Check, paths: &[std::path::PathBuf]) -> u8 {
    if paths.iter().any(|path| path.as_os_str() == "-" || path == Path::new("/dev/stdin")) {
        return reject("--watch: standard input does not change; name a file");
    }
    let files = args.loading.include.iter().chain(&args.ltl_file).chain(&args.csp);
    let watched: Vec<_> = paths.iter().chain(files).cloned().collect();
    loop {
        let look = watch::Look::at(&watched);
        let status = check_paths(args.clone(), paths);
        if matches!(status, status::INTERNAL | 130) {
            return status;
        }
        complain("\nwaiting for a change; an interrupt ends this");
        on_signal(move || std::process::exit(i32::from(status)));
        let file = look.changed(&watched);
        complain(&format!("\n{} changed\n", file.display()));
    }
}

/// Checks all models behind paths of the command line.
fn check_paths(mut args: args::Check, paths: &[std::path::PathBuf]) -> u8 {
    let named = match models::named(paths) {
        Ok(named) => named,
        Err(message) => {
            let diagnostics = vec![Diagnostic::plain(message)];
            let r = Rejected { sources: Default::default(), diagnostics };
            let first = paths.first().map(|p| p.display().to_string()).unwrap_or_default();
            outputs::rejected(&args, &first, &r);
            return rejected(&r);
        }
    };
    match &named.models[..] {
        [] => check_one(args),
        [model] => {
            args.model = Some(model.clone());
            check_with_settings(args)
        }
        several => check_several(&args, several),
    }
}

/// Checks models one after the other; the worst status is the answer.
fn check_several(args: &args::Check, models: &[std::path::PathBuf]) -> u8 {
    let pictures = args.pictures.files();
    let one_file = args.json.iter().flatten().chain(&args.trace).chain(&args.sarif).chain(pictures).next();
    if let Some(file) = one_file {
        return reject(&format!("{}: one file cannot hold the results of several models", file.display()));
    }
    if args.checkpoint.is_some() || args.resume.is_some() {
        return reject("--checkpoint and --resume are for one model");
    }
    if args.certificate.is_some() {
        return reject("--certificate: one folder cannot hold the certificates of several models");
    }
    let mut statuses = Vec::new();
    for model in models {
        if !args.quiet {
            complain(&format!("== {}", model.display()));
        }
        statuses.push(check_with_settings(args::Check { model: Some(model.clone()), ..args.clone() }));
        if statuses.last() == Some(&130) {
            break;
        }
    }
    let of = |status: u8| statuses.iter().filter(|s| **s == status).count();
    let words = [(0, "verified"), (1, "violated"), (3, "incomplete"), (2, "rejected"), (4, "failed")];
    let told: Vec<String> = words
        .iter()
        .filter(|(status, _)| of(*status) > 0)
        .map(|(status, word)| format!("{} {word}", of(*status)))
        .collect();
    complain(&format!("{}: {}", many(models.len() as u64, "model"), told.join(", ")));
    [130, 4, 2, 1, 3].into_iter().find(|status| of(*status) > 0).unwrap_or(status::OK)
}

/// Checks one model with the settings beside it.
fn check_with_settings(args: args::Check) -> u8 {
    let Some(model) = args.model.as_deref() else { return check_one(args) };
    match settings::joined(model) {
        Ok(Some((Cli { command: Command::Check(joined) }, told))) => {
            if !args.quiet {
                complain(&format!("note: {told}"));
            }
            // Which model and where its result goes was settled before.
            let args::Check { model, more, json, .. } = args;
            check_one(args::Check { model, more, json, ..*joined })
        }
        Ok(_) => check_one(args),
        Err(message) => {
            let diagnostics = vec![Diagnostic::plain(message)];
            let r = Rejected { sources: Default::default(), diagnostics };
            outputs::rejected(&args, &model.display().to_string(), &r);
            rejected(&r)
        }
    }
}

/// Checks one model, or the process of --via.
fn check_one(args: args::Check) -> u8 {
    if args.via_limit.is_some() && args.via.is_none() {
        return reject("--via-limit: limits the answers of a process that --via starts");
    }
    let of_b = args.csp.is_none() && args.model.as_deref().is_some_and(driver::is_of_b);
    if let Some(message) = args.pictures.refusal(of_b) {
        return reject(&message);
    }
    if let Some(message) = refusals::not_available(&args) {
        return reject(&message);
    }
    if let Some(message) = args.trace.iter().find_map(|trace| outputs::refused_trace(trace)) {
        return reject(&message);
    }
    if let (Some(project), Some(model)) = (&args.pictures.project, &args.model)
        && let Err(r) = driver::refused_projection(model, &loading(&args.loading), project)
    {
        return rejected(&r);
    }
    let options = match meaning::options(&args) {
        Ok(options) => options,
        Err(message) => return reject(&message),
    };
    let reports = options.cluster.as_ref().is_none_or(|cluster| cluster.rank == 0);
    let budget = meaning::budget(&args);
    if options.checkpoint.save.is_some() {
        watch_signals_gently(&budget, options.checkpoint.end.clone());
    } else {
        watch_signals(&budget);
    }
    let line = (args.progress == args::Progress::Auto && !args.quiet && reports)
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
        Ok(outcome) => conclude(&args, &options, &budget, &outcome, reports),
        Err(Failure::Rejected(r)) => {
            let file = args.model.as_deref().unwrap_or(Path::new("")).display().to_string();
            outputs::rejected(&args, &file, &r);
            let style = args.colour.of_messages();
            complain(&colour::messages(&r.text(), style));
            status::REJECTED
        }
        Err(Failure::Internal(message)) => internal(&message),
    }
}

/// Shows an outcome, writes what was asked for beside it, and gives the exit status.
fn conclude(
    args: &args::Check,
    options: &CheckOptions,
    budget: &Budget,
    outcome: &Outcome,
    reports: bool,
) -> u8 {
    // All machines come to the same result, and the first one tells it.
    let status = if reports { show(args, outcome) } else { outcome.exit_status() };
    if !reports && outcome.machines.is_empty() {
        // The machines did not end together, and the first one may be the one that is gone.
        outcome.ledger.reasons().iter().for_each(|reason| complain(&format!("incomplete: {reason}")));
    }
    if reports {
        tell_how_to_go_on(args, outcome, &options.checkpoint);
    }
    // Temporal formulas may have been left undecided by a limit, after the search.
    if outcome.verdict() != Verdict::Incomplete || outcome.temporal.is_empty() {
        options.checkpoint.clear();
    }
    let status = match &args.model {
        Some(model) => {
            let json_on_stdout = args.json == Some(None);
            args.pictures.write(model, &args.loading, json_on_stdout, status, budget)
        }
        None => status,
    };
    if args.open {
        super::serve::open_outcome(args, outcome, budget);
    }
    status
}

/// After a limit or a signal: the command that goes on with a saved search.
fn tell_how_to_go_on(args: &args::Check, outcome: &Outcome, checkpoint: &driver::Checkpoint) {
    let (Some(dir), Some(_)) = (&checkpoint.save, &args.model) else { return };
    if outcome.verdict() != Verdict::Incomplete || checkpoint.ended.load(Ordering::Relaxed) {
        return;
    }
    let mut command = super::outputs::command_line();
    if checkpoint.resume.is_none() {
        command.push_str(&format!(" --resume {}", crate::base::text::shell_word(&dir.to_string_lossy())));
    }
    let limit = if outcome.interrupted { "" } else { ", with a higher limit" };
    complain(&format!("the search is saved; to go on{limit}: {command}"));
}

fn show(args: &args::Check, outcome: &Outcome) -> u8 {
    let detail = match (args.quiet, args.verbose) {
        (true, _) => text::Detail::Quiet,
        (_, true) => text::Detail::Verbose,
        _ => text::Detail::Normal,
    };
    let style = match &args.json {
        Some(None) => args.colour.of_messages(),
        _ => args.colour.of_output(),
    };
    let words = text::render_in(outcome, detail, style);
    let mut failed = false;
    match &args.json {
        None => failed |= !said(&words),
        Some(None) => {
            complain(&words);
            failed |= !said(&serde_json::to_string(&json::Told::of(outcome)).unwrap_or_default());
        }
        Some(Some(file)) => {
            failed |= !said(&words);
            failed |= !outputs::write(file, &outputs::pretty(&json::Told::of(outcome)));
        }
    }
    if let Some(file) = &args.sarif {
        failed |= !outputs::write(file, &outputs::pretty(&diagnostics::sarif(outcome)));
    }
    for file in args.trace.iter().filter(|_| outcome.violation.is_some()) {
        let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        let drawings = match (&args.model, extension) {
            (Some(model), "html") => drawings(model, &args.loading, outcome),
            _ => Vec::new(),
        };
        match trace_file::render(outcome, extension, &outputs::command_line(), drawings) {
            Ok(content) => failed |= !outputs::write(file, &content),
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

/// Drawings of the states of a counterexample, if there is an SVG beside the model.
fn drawings(model: &Path, given: &args::Loading, outcome: &Outcome) -> Vec<String> {
    const TIME: Duration = Duration::from_secs(10);
    let mut budget = Budget::unlimited();
    budget.time_limit = Some(TIME);
    let steps = outcome.violation.as_ref().map_or(&[][..], |v| &v.trace);
    driver::drawings_of_trace(model, &loading(given), steps, &budget)
}

/// The model that names of a formula belong to: the one that is given, or the one of the trace that is given.
fn model_of_eval(args: &args::Eval) -> Option<std::path::PathBuf> {
    args.model.clone().or_else(|| driver::model_of_trace(args.at.as_deref()?))
}

fn eval(args: &args::Eval) -> u8 {
    let model = model_of_eval(args);
    if let Some(trace) = args.at.as_ref().filter(|_| model.is_none()) {
        return reject(&format!(
            "--at {}: no trace, or its model is not beside it; name it: --model MODEL",
            trace.display()
        ));
    }
    let mut budget = Budget::unlimited();
    budget.time_limit = args.time_limit.map(Duration::from_secs_f64);
    watch_signals(&budget);
    if let Some(model) = model.as_deref().filter(|m| driver::is_csp(m)) {
        return match driver::eval_csp(&args.formula, model) {
            Ok(value) if said(&value) => status::OK,
            Ok(_) => status::INTERNAL,
            Err(r) => rejected(&r),
        };
    }
    let at = args.at.as_deref();
    match driver::eval(&args.formula, model.as_deref(), at, &loading(&args.loading), &budget) {
        Ok(Ok(evaluated)) => {
            let words = if args.json { evaluated.json(&args.formula).to_string() } else { evaluated.text() };
            if said(&words) { status::OK } else { status::INTERNAL }
        }
        Ok(Err(message)) => {
            if args.json {
                let version = env!("CARGO_PKG_VERSION");
                let object =
                    serde_json::json!({"bombus": version, "formula": args.formula, "error": message});
                say(&object.to_string());
            }
            complain(&format!("error: {message}"));
            1
        }
        Err(r) => {
            if args.json {
                say(&diagnostics::rejected("", &r.sources, &r.diagnostics).to_string());
            }
            rejected(&r)
        }
    }
}

/// Layouts depend on the constants; `info` does not look for them longer than this.
const LAYOUT_TIME: Duration = Duration::from_secs(10);

fn info(args: &args::Info) -> u8 {
    if driver::is_csp(&args.model) {
        return super::info_csp::info(args);
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
                return match driver::core_text(&model) {
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
            if args.json {
                say(&super::info_json::describe(&args.model, &model, &sources, &diagnostics).to_string());
                return status::OK;
            }
            let layouts = driver::layouts(&model.machine, &budget);
            let notes: String = model.notes.iter().map(|n| format!("note        {n}\n")).collect();
            say(&format!(
                "{}{notes}{}{}{}",
                describe::machine(&model.machine),
                model.refinement.as_ref().map(describe::refinement).unwrap_or_default(),
                describe::proofs(&model.proofs),
                layouts.join("\n")
            ));
            for d in &diagnostics {
                complain(&sources.render(d));
            }
            status::OK
        }
        Err(r) => rejected_by_info(args, &r),
    }
}
