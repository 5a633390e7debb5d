//! `bombus animate` and `bombus replay`: commands as typed, one line each, and what they print.
//!
//! In a pipe there is no prompt, and a command that fails makes the exit status 1.

use super::args::Loading;
use super::run::{complain, loading, rejected, say, watch_signals};
use super::status;
use crate::base::budget::Budget;
use crate::driver::{self, Animation, Replayed};
use crate::report::{TraceStep, text};
use clap::Args;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Args, Debug)]
#[command(
    after_help = "Commands: a number does that step; list, state, undo, history, eval FORMULA, save FILE,\n\
all (list everything), help, quit. Empty lines and lines that begin with # are skipped.\n\
Exit status: 0, or 1 if stdin is no terminal and a command failed; 2 the model was rejected."
)]
pub struct Animate {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
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
    /// The model [default: the one that the trace names]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
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
    watch_signals(&budget);
    match driver::replay(trace, args.model.as_deref(), &loading(&args.loading), &budget) {
        Err(r) => rejected(&r),
        Ok(replayed) => {
            say(&if args.json { replay_json(&replayed).to_string() } else { replay_text(&replayed) });
            replayed.exit_status()
        }
    }
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
        (None, None) => lines.push(format!("REPLAYED    {}   {} steps", r.machine, r.steps)),
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
    let budget = Budget::unlimited();
    let (model, sources, diagnostics) = match driver::load(&args.model, &loading(&args.loading)) {
        Ok(loaded) => loaded,
        Err(r) => return rejected(&r),
    };
    for d in &diagnostics {
        complain(&sources.render(d));
    }
    let mut animation = Animation::new(&model, &sources, args.model.display().to_string(), &budget);
    let stdin = std::io::stdin();
    let asks = stdin.is_terminal();
    let mut failed = false;
    say(&choices(&animation, SHOWN));
    prompt(asks);
    for line in stdin.lock().lines() {
        let Ok(line) = line else { break };
        match command(&mut animation, line.trim()) {
            Done::Said(words) if words.is_empty() => {}
            Done::Said(words) => say(&words),
            Done::Failed(words) => {
                failed = true;
                complain(&format!("error: {words}"));
            }
            Done::Quit => break,
        }
        prompt(asks);
    }
    if failed && !asks { 1 } else { status::OK }
}

fn prompt(asks: bool) {
    if asks {
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "> ");
        let _ = out.flush();
    }
}

enum Done {
    Said(String),
    Failed(String),
    Quit,
}

fn command(animation: &mut Animation, line: &str) -> Done {
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
        "undo" | "u" => {
            if animation.undo() {
                Done::Said(format!("undone\n{}", choices(animation, SHOWN)))
            } else {
                Done::Failed("nothing was done yet".into())
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
             undo, u the last step     state, s the present state    history, h the path so far\n\
             eval, e FORMULA           save FILE (.prob2trace .json .txt .html)    quit, q"
                .into(),
        ),
        "quit" | "q" | "exit" => Done::Quit,
        other => Done::Failed(format!("unknown command {other}; `help` lists them")),
    }
}

fn save(animation: &Animation, path: &Path) -> Done {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let saved = animation
        .file(extension)
        .and_then(|content| std::fs::write(path, content).map_err(|e| format!("{}: {e}", path.display())));
    match saved {
        Ok(()) => Done::Said(format!("{} steps written to {}", animation.steps().len(), path.display())),
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
    for (i, choice) in animation.choices().iter().take(limit).enumerate() {
        let step = animation.step(choice);
        words.push_str(&format!("{:>4}  {}", i + 1, cut(&text::label(&step))));
        // The beginning has no parameters: its values tell the choices apart.
        if step.event.starts_with('$') {
            let values: Vec<String> = step.state.iter().map(|(n, v)| format!("{n}={}", cut(v))).collect();
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
