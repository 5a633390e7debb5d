//! `bombus animate` and `bombus replay`: commands as typed, one line each, and what they print.
//!
//! In a pipe there is no prompt, and a command that fails makes the exit status 1.

use super::args::Loading;
use super::meaning::loading;
use super::run::{complain, rejected, say, watch_signals};
use super::{outputs, status};
use crate::base::budget::Budget;
use crate::base::random::Random;
use crate::base::text::many;
use crate::driver::{self, Animation, Replayed};
use crate::report::{TraceStep, text, trace_read};
use clap::Args;
use serde_json::json;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args, Debug)]
#[command(
    after_help = "Commands: a number does that step, and so does its name with values, such as ask(p2) or ask x=p2;\n\
list, state, undo N, redo N, goto N, random N, why OPERATION or why OPERATION(VALUES), history, eval FORMULA,\n\
save FILE, all (list everything), help, quit. A step by its name begins the machine first, if there is one way to begin.\n\
Empty lines and lines that begin with # are skipped.\n\
Exit status: 0, or 1 if stdin is no terminal and a command failed; 2 the model was rejected."
)]
pub struct Animate {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// Make the steps of this trace first: .prob2trace, .json, or the JSON result of a check
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// The process of a CSP script [default: MAIN]
    #[arg(long, value_name = "NAME")]
    pub main: Option<String>,
    /// Where the choices of `random` begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Args, Debug)]
#[command(
    after_help = "A log may leave out parameters, states and steps; docs/logs.md says how a map is written.\n\
Exit status: 0 every step can be made, 1 one cannot, 2 trace or model rejected, 3 it could not be found out."
)]
pub struct Replay {
    /// The trace: .prob2trace, the .json of --trace, or the JSON result of a check
    #[arg(value_name = "TRACE", required_unless_present = "log", conflicts_with = "log")]
    pub trace: Option<PathBuf>,
    /// The model [default: the one that the trace names, there or beside the trace]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Write the trace again, with all values: .prob2trace, .json, .txt, .html, .mmd or .svg by extension (repeatable)
    #[arg(short = 't', long = "trace", value_name = "FILE", conflicts_with = "log")]
    pub write: Vec<PathBuf>,
    /// Instead of a trace, a log of a real system, one JSON object on each line (- is stdin): does the model allow it?
    #[arg(long, value_name = "FILE", requires = "model")]
    pub log: Option<PathBuf>,
    /// With --log: a TOML file that says what the fields of the log mean in the model
    #[arg(long, value_name = "FILE", requires = "log")]
    pub map: Option<PathBuf>,
    /// Give up after so many seconds
    #[arg(long, value_name = "S")]
    pub time_limit: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub loading: Loading,
}

pub fn replay(args: &Replay) -> u8 {
    let mut budget = Budget::unlimited();
    match args.time_limit {
        Some(s) if !(s > 0.0 && s < 1e9) => {
            complain("error: --time-limit needs a positive number of seconds");
            return status::REJECTED;
        }
        limit => budget.time_limit = limit.map(Duration::from_secs_f64),
    }
    let Some(trace) = &args.trace else {
        return args.log.as_ref().map_or(status::REJECTED, |log| super::logs::run(args, log));
    };
    for file in &args.write {
        if let Some(message) = outputs::refused_trace(file) {
            complain(&format!("error: {message}"));
            return status::REJECTED;
        }
    }
    watch_signals(&budget);
    match driver::replay(trace, args.model.as_deref(), &loading(&args.loading), &budget) {
        Err(r) => rejected(&r),
        Ok((replayed, written)) => {
            say(&if args.json { replay_json(&replayed).to_string() } else { replay_text(&replayed) });
            let mut failed = false;
            for file in &args.write {
                let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
                failed |= match written.render(extension) {
                    Ok(content) => !outputs::write(file, &content),
                    Err(message) => {
                        complain(&format!("error: {message}"));
                        true
                    }
                };
            }
            match replayed.exit_status() {
                0 if failed => status::INTERNAL,
                status => status,
            }
        }
    }
}

/// The model that the trace of a replay names, if one is found.
pub fn model_of(args: &Replay) -> Option<PathBuf> {
    driver::model_of_trace(args.trace.as_deref()?)
}

fn replay_text(r: &Replayed) -> String {
    let mut lines = Vec::new();
    match (&r.failed, &r.incomplete) {
        (Some((step, why)), _) => {
            lines.push(format!("FAILED      {}   step {} of {}: {step}", r.machine, r.made, r.steps));
            lines.extend(why.iter().map(|line| format!("  {line}")));
        }
        (None, Some(why)) => {
            lines.push(format!("INCOMPLETE  {}   step {} of {}: {why}", r.machine, r.made, r.steps));
        }
        (None, None) => lines.push(format!("REPLAYED    {}   {}", r.machine, many(r.steps as u64, "step"))),
    }
    lines.extend(r.notes.iter().map(|note| format!("  {note}")));
    lines.join("\n")
}

pub(super) fn replay_json(r: &Replayed) -> serde_json::Value {
    let failed = r.failed.as_ref().map(|(step, why)| json!({"step": r.made, "event": step, "because": why}));
    json!({
        "bombus": env!("CARGO_PKG_VERSION"),
        "model": {"file": r.file, "machine": r.machine},
        "replayed": r.exit_status() == 0,
        "steps": r.steps,
        "made": r.made,
        "failed": failed,
        "incomplete_because": r.incomplete,
        "notes": r.notes,
    })
}

/// Choices shown before `all` is asked for.
const SHOWN: usize = 40;
/// Longer values are cut on the screen.
const LONGEST: usize = 300;

pub fn animate(args: &Animate) -> u8 {
    if driver::is_csp(&args.model) {
        if args.trace.is_some() {
            complain("error: --trace has no meaning for a CSP script");
            return status::REJECTED;
        }
        return super::animate_csp::animate(args);
    }
    if args.main.is_some() {
        complain("error: --main is for CSP scripts");
        return status::REJECTED;
    }
    let budget = Budget::unlimited();
    let (model, sources, diagnostics) = match driver::load(&args.model, &loading(&args.loading)) {
        Ok(loaded) => loaded,
        Err(r) => return rejected(&r),
    };
    for d in &diagnostics {
        complain(&sources.render(d));
    }
    let mut animation = Animation::new(&model, &sources, args.model.display().to_string(), &budget);
    if let Some(trace) = &args.trace
        && let Err(message) = start_from(&mut animation, trace)
    {
        complain(&format!("error: {message}"));
        return status::REJECTED;
    }
    let asks = std::io::stdin().is_terminal();
    let mut failed = false;
    let mut dice = Random(args.seed);
    say(&choices(&animation, SHOWN));
    let mut lines = Lines::new(asks);
    while let Some(line) = lines.next() {
        match command(&mut animation, &mut dice, line.trim()) {
            Done::Said(words) if words.is_empty() => {}
            Done::Said(words) => say(&words),
            Done::Failed(words) => {
                failed = true;
                let head = if words.starts_with("error:") { "" } else { "error: " };
                complain(&format!("{head}{words}"));
            }
            Done::Quit => break,
        }
    }
    if failed && !asks { 1 } else { status::OK }
}

/// Lines as they are typed, with editing and a history on a terminal, or as a pipe brings them.
pub(super) enum Lines {
    Edited(Box<rustyline::DefaultEditor>),
    Plain,
}

impl Lines {
    pub(super) fn new(asks: bool) -> Lines {
        match rustyline::DefaultEditor::new() {
            Ok(editor) if asks => Lines::Edited(Box::new(editor)),
            _ => Lines::Plain,
        }
    }

    pub(super) fn next(&mut self) -> Option<String> {
        match self {
            Lines::Edited(editor) => {
                let line = editor.readline("> ").ok()?;
                let _ = editor.add_history_entry(&line);
                Some(line)
            }
            Lines::Plain => std::io::stdin().lock().lines().next()?.ok(),
        }
    }
}

/// Makes the steps of a trace file.
fn start_from(animation: &mut Animation, trace: &Path) -> Result<(), String> {
    let shown = trace.display();
    let content = std::fs::read_to_string(trace).map_err(|e| format!("cannot read {shown}: {e}"))?;
    let read = trace_read::read(&content).map_err(|e| format!("{shown} is no trace: {e}"))?;
    for (i, step) in read.steps.iter().enumerate() {
        if !animation.follow(step) {
            return Err(format!("{shown}: step {i}, {}, cannot be made", text::label(step)));
        }
    }
    Ok(())
}

enum Done {
    Said(String),
    Failed(String),
    Quit,
}

fn command(animation: &mut Animation, dice: &mut Random, line: &str) -> Done {
    let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(w, r)| (w, r.trim()));
    if line.is_empty() || line.starts_with('#') {
        return Done::Said(String::new());
    }
    if let Ok(n) = line.parse::<usize>() {
        return if n > 0 && animation.choose(n - 1) {
            let mut words = after(animation);
            words.push_str(&choices(animation, SHOWN));
            Done::Said(words)
        } else {
            Done::Failed(format!("there is no choice {n}; `list` shows what there is"))
        };
    }
    match word {
        "list" | "l" => Done::Said(choices(animation, SHOWN)),
        "all" => Done::Said(choices(animation, usize::MAX)),
        "state" | "s" => Done::Said(state(animation)),
        "undo" | "u" => match times(rest) {
            None => Done::Failed("undo wants a number of steps".into()),
            Some(n) if (0..n).take_while(|_| animation.undo()).count() > 0 => {
                Done::Said(format!("undone\n{}", choices(animation, SHOWN)))
            }
            Some(_) => Done::Failed("nothing was done yet".into()),
        },
        "redo" | "r" => match times(rest) {
            None => Done::Failed("redo wants a number of steps".into()),
            Some(n) if (0..n).take_while(|_| animation.redo()).count() > 0 => {
                Done::Said(format!("{}{}", after(animation), choices(animation, SHOWN)))
            }
            Some(_) => Done::Failed("nothing was taken back".into()),
        },
        "goto" | "g" => match rest.parse::<usize>() {
            Ok(n) if animation.go_to(n) => {
                Done::Said(format!("after {}\n{}", many(n as u64, "step"), choices(animation, SHOWN)))
            }
            Ok(_) => Done::Failed("the path is not that long".into()),
            Err(_) => Done::Failed("goto wants a number of steps".into()),
        },
        "random" => random(animation, dice, rest),
        "why" | "w" if rest.is_empty() => Done::Failed("why wants the name of an operation".into()),
        "why" | "w" => {
            let (name, values) = called(rest.strip_prefix("not ").unwrap_or(rest).trim());
            match animation.why_not(name, &values) {
                Ok(lines) => Done::Said(lines.join("\n")),
                Err(message) => Done::Failed(message),
            }
        }
        "history" | "h" => {
            let steps: Vec<TraceStep> = animation.steps().collect();
            let mut words = String::new();
            text::trace(&mut words, &steps, None);
            Done::Said(words)
        }
        "eval" | "e" if rest.is_empty() => Done::Failed("eval wants a formula".into()),
        "eval" | "e" => match animation.evaluate(rest) {
            Ok(value) => Done::Said(value),
            Err(message) => Done::Failed(message),
        },
        "save" if rest.is_empty() => Done::Failed("save wants the name of a file".into()),
        "save" => save(animation, Path::new(rest)),
        "help" | "?" => Done::Said(
            "NUMBER  do that step      list, l  what can be done     all  without a limit\n\
             NAME(VALUES)  that step   why, w NAME  why it cannot be done; NAME(VALUES) with these values\n\
             undo, u N last steps      redo, r N what was undone     goto, g N  after N steps\n\
             random N  N steps         state, s the present state    history, h the path so far\n\
             eval, e FORMULA           save FILE (.prob2trace .json .txt .html)    quit, q"
                .into(),
        ),
        "quit" | "q" | "exit" => Done::Quit,
        _ => by_name(animation, line),
    }
}

/// How often, as a command asks for it: once unless it says more.
fn times(rest: &str) -> Option<usize> {
    if rest.is_empty() { Some(1) } else { rest.parse().ok() }
}

/// Values of parameters, in their order or by name.
type Values = Vec<(Option<String>, String)>;

/// An event with values of some of its parameters: `event`, `event(v, w)`, `event x=v`.
fn called(line: &str) -> (&str, Values) {
    let end = line.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.trim();
    let inner = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(rest);
    let named = |text: &str| match text.split_once('=') {
        Some((name, value)) if name.trim().chars().all(|c| c.is_alphanumeric() || c == '_') => {
            (Some(name.trim().to_string()), value.trim().to_string())
        }
        _ => (None, text.trim().to_string()),
    };
    (name, arguments(inner).into_iter().map(named).collect())
}

/// Does the step that a line names.
fn by_name(animation: &mut Animation, line: &str) -> Done {
    let (name, values) = called(line);
    let first = match name {
        "INITIALISATION" | "INITIALIZATION" | "SETUP_CONSTANTS" => true,
        _ if animation.has_event(name) => false,
        _ => return Done::Failed(format!("unknown command {name}; `help` lists them")),
    };
    let mut words = String::new();
    while !animation.has_begun() && animation.choices().len() == 1 {
        animation.choose(0);
        words.push_str(&after(animation));
    }
    let done = match (first, words.is_empty()) {
        (true, false) => Ok(()),
        (true, true) if animation.has_begun() => Err("the machine has begun; `undo` takes steps back".into()),
        (true, true) => Err("there are several ways to begin: choose one by its number".into()),
        (false, _) => animation.choose_named(name, &values).map(|()| words.push_str(&after(animation))),
    };
    match done {
        Ok(()) => Done::Said(format!("{words}{}", choices(animation, SHOWN))),
        Err(message) => Done::Failed(message),
    }
}

/// The parts of a list between commas that stand in no brackets.
fn arguments(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in text.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if c == ',' && depth == 0 {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

/// Makes some steps by the toss of a coin; ends where nothing can be done.
fn random(animation: &mut Animation, dice: &mut Random, rest: &str) -> Done {
    let wanted = if rest.is_empty() { Ok(1) } else { rest.parse::<usize>() };
    let Ok(wanted) = wanted else { return Done::Failed("random wants a number of steps".into()) };
    let mut words = String::new();
    for _ in 0..wanted {
        let count = animation.choices().len();
        if count == 0 {
            break;
        }
        animation.choose(dice.below(count as u64) as usize);
        words.push_str(&after(animation));
    }
    words.push_str(&choices(animation, SHOWN));
    Done::Said(words)
}

fn save(animation: &Animation, path: &Path) -> Done {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if let Some(message) = outputs::refused("save", path).filter(|_| path.exists()) {
        return Done::Failed(message);
    }
    let saved = animation
        .file(extension)
        .and_then(|content| std::fs::write(path, content).map_err(|e| format!("{}: {e}", path.display())));
    match saved {
        Ok(()) => {
            let steps = many(animation.steps().len() as u64, "step");
            Done::Said(format!("{steps} written to {}", path.display()))
        }
        Err(message) => Done::Failed(message),
    }
}

/// What the last step changed.
fn after(animation: &Animation) -> String {
    let Some(last) = animation.last().map(|choice| animation.step(choice)) else { return String::new() };
    let before = animation.position().checked_sub(2).and_then(|n| animation.step_at(n));
    let before = before.map(|choice| animation.step(choice).state).unwrap_or_default();
    let mut words = format!("did {}\n", text::label(&last));
    for (name, value) in last.state.iter().filter(|pair| !before.contains(pair)) {
        words.push_str(&format!("  {name} = {}\n", cut(value)));
    }
    words
}

fn state(animation: &Animation) -> String {
    let lines: Vec<String> =
        animation.state().iter().map(|(name, value)| format!("  {name} = {}", cut(value))).collect();
    if lines.is_empty() { "nothing is set up yet".into() } else { lines.join("\n") }
}

fn choices(animation: &Animation, limit: usize) -> String {
    let mut words = String::new();
    for remark in animation.remarks() {
        words.push_str(&format!("! {}\n", cut(remark)));
    }
    let count = animation.choices().len();
    if count == 0 {
        words.push_str("nothing can be done here\n");
    }
    let now = animation.state();
    let labels: Vec<String> = animation.choices().iter().map(|c| text::label(&animation.step(c))).collect();
    for (i, choice) in animation.choices().iter().take(limit).enumerate() {
        let step = animation.step(choice);
        words.push_str(&format!("{:>4}  {}", i + 1, cut(&labels[i])));
        // The beginning has no parameters, and choices inside of an action have no name: values tell them apart.
        let alike = labels.iter().filter(|l| **l == labels[i]).count() > 1;
        if step.event.starts_with('$') || alike {
            let new = step.state.iter().filter(|pair| !now.contains(pair));
            let values: Vec<String> = new.map(|(n, v)| format!("{n}={}", cut(v))).collect();
            words.push_str(&format!("  {}", values.join(", ")));
        }
        words.push('\n');
    }
    if count > limit {
        words.push_str(&format!("      … {} more: all\n", count - limit));
    }
    words
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value.to_string(),
    }
}
