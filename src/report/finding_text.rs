//! A finding for people: the property, its place in the text, why it fails, the trace to it.
//!
//! In: findings and explanations as data. Out: text. Never here: the verdict and its figures (`text`).

use super::changes;
use super::outcome::{TraceStep, Violation};
use super::style::Style;
use super::text::label;
use crate::base::text::one_line;
use crate::explain::{Explanation, FailingStep, Worth, bindings, cut, unwrapped, without_comments};
use std::fmt::Write;

/// Longer values are told by what changed in them.
const WIDE: usize = 60;

/// How a finding is written.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Longer values are cut.
    pub longest: usize,
    pub style: Style,
}

/// A finding with its place, its reasons and its trace.
pub fn finding(out: &mut String, v: &Violation, why: &Explanation, manner: Manner) {
    let Manner { longest, style } = manner;
    let property = property_text(v, why);
    let _ = writeln!(out, "{}", style.strong(&format!("{}: {property}", v.kind)));
    if let Some(place) = &why.place {
        let _ = writeln!(out, "  {}", style.place(&format!("--> {}", place.words())));
        for line in &place.excerpt {
            let _ = writeln!(out, "  {line}");
        }
    }
    for line in reasons(v, why, &property) {
        let _ = writeln!(out, "    {}", cut(&line, longest.max(LINE)));
    }
    chosen_trace(out, &v.trace, v.loop_start, &why.chosen, manner);
    if let Some(step) = &why.step {
        failing_row(out, v, why, step, manner);
    }
}

/// The place and the reasons of a finding as lines, and the step that fails.
pub fn why_lines(v: &Violation, why: &Explanation) -> Vec<String> {
    let mut lines = reason_lines(v, why);
    if let Some(step) = &why.step {
        let manner = Manner { longest: LINE, style: Style::Plain };
        let mut row = String::new();
        failing_row(&mut row, v, why, step, manner);
        lines.extend(row.lines().map(|line| line.trim_start().to_string()));
    }
    lines
}

/// The place and the reasons of a finding as lines, for a page whose table of steps has the step that fails.
pub fn reason_lines(v: &Violation, why: &Explanation) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(place) = &why.place {
        lines.push(format!("--> {}", place.words()));
        lines.extend(place.excerpt.iter().cloned());
    }
    lines.extend(reasons(v, why, &property_text(v, why)));
    lines
}

/// Lines of explanations are cut at least there.
const LINE: usize = 400;

/// The lines of the explanation, without the one that only repeats the property.
fn reasons(v: &Violation, why: &Explanation, property: &str) -> Vec<String> {
    let mut lines = v.explanation.clone();
    let repeated = why.nodes.first().filter(|n| matches!(n.worth, Worth::False | Worth::True)).map(|n| {
        let word = if n.worth == Worth::False { "false" } else { "true" };
        (format!("{word}: {}", n.text), n.text.clone())
    });
    if let Some((line, text)) = repeated
        && (text == property || property.ends_with(&text))
        && let Some(at) = lines.iter().position(|l| *l == line)
    {
        lines.remove(at);
        for line in &mut lines[at..] {
            if let Some(rest) = line.strip_prefix("  ") {
                *line = rest.to_string();
            } else {
                break;
            }
        }
    }
    lines
}

/// The property as people read it: without comments, and a goal by its predicate.
pub fn property_text(v: &Violation, why: &Explanation) -> String {
    if v.kind == "goal"
        && let Some(node) = why.nodes.first()
    {
        return node.text.clone();
    }
    let property = one_line(&without_comments(&v.property));
    match why.nodes.first() {
        // The same with the label of the conjunct, and without brackets around all of it.
        Some(node) if node.text.ends_with(unwrapped(&property)) => node.text.clone(),
        _ => property,
    }
}

/// The step that fails as it is called: `go(k=3)`.
pub fn failing_call(event: &str, params: &[(String, String)], longest: usize) -> String {
    let params: Vec<String> = params.iter().map(|(n, x)| format!("{n}={}", cut(x, longest))).collect();
    if params.is_empty() { event.to_string() } else { format!("{event}({})", params.join(", ")) }
}

/// The step that fails, as the last row of the trace.
fn failing_row(out: &mut String, v: &Violation, why: &Explanation, step: &FailingStep, manner: Manner) {
    let call = failing_call(&step.event, &step.params, manner.longest);
    let at = why.place.as_ref().map(|p| format!(" at {}", p.words())).unwrap_or_default();
    let fails = manner.style.bad(&format!("fails{at}"));
    let _ = writeln!(out, "  {:>4}  {call}   {fails}", v.trace.len());
    if !step.locals.is_empty() {
        let _ = writeln!(out, "          where {}", cut(&bindings(&step.locals), manner.longest));
    }
}

/// The trace, each state shown by what changed.
pub fn trace(out: &mut String, steps: &[TraceStep], loop_start: Option<usize>, manner: Manner) {
    chosen_trace(out, steps, loop_start, &[], manner);
}

/// Rows of a trace with the values that were chosen there.
type Chosen = [(usize, Vec<(String, String)>)];

fn chosen_trace(
    out: &mut String,
    steps: &[TraceStep],
    loop_start: Option<usize>,
    chosen: &Chosen,
    manner: Manner,
) {
    let mut before: &[(String, String)] = &[];
    for (i, s) in steps.iter().enumerate() {
        let mark = if loop_start == Some(i) { "  <- the loop starts here" } else { "" };
        let values = chosen.iter().find(|(row, _)| *row == i).map(|(_, values)| bindings(values));
        let values = values.map(|v| format!("   where {}", cut(&v, manner.longest))).unwrap_or_default();
        let number = manner.style.faint(&format!("{i:>4}"));
        let _ = writeln!(out, "  {number}  {}{values}{mark}", label(s));
        for (name, value) in &s.state {
            let old = before.iter().find(|(n, _)| n == name).map(|(_, v)| v);
            if old != Some(value) {
                let _ = writeln!(out, "          {}", change(name, old, value, manner));
            }
        }
        before = &s.state;
    }
}

/// A new value; where it is long and little of it changed, the change alone.
fn change(name: &str, old: Option<&String>, value: &str, manner: Manner) -> String {
    let changes = old.and_then(|old| changes::between(old, value));
    let is_wide = value.chars().count() > WIDE;
    match changes {
        Some(changes) if is_wide && manner.longest < usize::MAX => {
            let told: Vec<String> = changes.iter().map(|c| inside(name, c)).collect();
            told.join(", ")
        }
        Some(changes) => {
            format!("{name} = {value}   {}", manner.style.faint(&format!("({})", changes.join(", "))))
        }
        None => match value.char_indices().nth(manner.longest) {
            Some((at, _)) => format!("{name} = {}… (--verbose shows all)", &value[..at]),
            None => format!("{name} = {value}"),
        },
    }
}

/// A change inside of a variable: `mode(t2): idle → reading`, `waiting + t3`.
fn inside(name: &str, change: &str) -> String {
    match change.split_once(": ") {
        Some((point, images)) => format!("{name}({point}): {images}"),
        None => format!("{name} {change}"),
    }
}
