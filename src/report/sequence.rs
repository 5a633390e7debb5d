//! A trace as a sequence diagram: a line of life for each value of a parameter, a message for each step.
//!
//! In: steps in words. Out: Mermaid (`.mmd`) or SVG (`.svg`). The lines are the values of one parameter: of the one named,
//! or else of the one that most steps have. A step whose parameters name two lines is an arrow from the first to the
//! second, a step that names one stands on it, and every other step stands on a line for the system.

use super::outcome::TraceStep;
use super::text;
use crate::base::text::escape;
use crate::explain::FailingStep;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Steps beyond these are left out, with a word about it.
const MOST_STEPS: usize = 500;
/// Longer texts are cut.
const LONGEST: usize = 48;
/// The line of steps that name no other.
const SYSTEM: &str = "system";

/// What a diagram shows.
pub struct Sequence {
    lines: Vec<String>,
    /// For each step the line it begins on, the line it ends on, and its text.
    messages: Vec<(usize, usize, String)>,
    left_out: usize,
}

impl Sequence {
    /// The diagram of a path, and of the step that fails after it; its lines are the values of `parameter`.
    pub fn of(steps: &[TraceStep], failing: Option<&FailingStep>, parameter: Option<&str>) -> Sequence {
        let last = failing.map(|f| TraceStep {
            event: f.event.clone(),
            params: f.params.clone(),
            ..TraceStep::default()
        });
        let steps: Vec<&TraceStep> = steps.iter().chain(&last).collect();
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, _) in steps.iter().flat_map(|s| &s.params) {
            *count.entry(name).or_default() += 1;
        }
        // The most frequent one; of equally frequent ones the first in the alphabet.
        let most = count.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(name, _)| *name);
        let by = parameter.or(most);
        let mut lines: Vec<String> = Vec::new();
        for (name, value) in steps.iter().flat_map(|s| &s.params) {
            if Some(name.as_str()) == by && !lines.contains(value) {
                lines.push(value.clone());
            }
        }
        lines.sort();
        let mut messages = Vec::new();
        let mut anonymous = false;
        for (n, step) in steps.iter().enumerate().take(MOST_STEPS) {
            let ends: Vec<usize> =
                step.params.iter().filter_map(|(_, value)| lines.iter().position(|l| l == value)).collect();
            let (from, to) = match ends[..] {
                [] => {
                    anonymous = true;
                    (usize::MAX, usize::MAX)
                }
                [one] => (one, one),
                [from, to, ..] => (from, to),
            };
            let fails = if last.is_some() && n + 1 == steps.len() { " fails" } else { "" };
            messages.push((from, to, format!("{}{fails}", cut(&text::label(step)))));
        }
        if anonymous {
            lines.push(SYSTEM.into());
        }
        let last = lines.len().wrapping_sub(1);
        for (from, to, _) in messages.iter_mut().filter(|(from, ..)| *from == usize::MAX) {
            (*from, *to) = (last, last);
        }
        Sequence { lines, messages, left_out: steps.len().saturating_sub(MOST_STEPS) }
    }

    pub fn mermaid(&self) -> String {
        let mut out = String::from("sequenceDiagram\n");
        for (n, line) in self.lines.iter().enumerate() {
            let _ = writeln!(out, "    participant L{n} as {}", plain(line));
        }
        for (from, to, text) in &self.messages {
            let _ = if from == to {
                writeln!(out, "    Note over L{from}: {}", plain(text))
            } else {
                writeln!(out, "    L{from}->>L{to}: {}", plain(text))
            };
        }
        if self.left_out > 0 && !self.lines.is_empty() {
            let _ = writeln!(out, "    Note over L0: {} more steps are left out", self.left_out);
        }
        out
    }

    pub fn svg(&self) -> String {
        let column =
            10.0 + 7.2 * self.messages.iter().map(|m| m.2.chars().count()).max().unwrap_or(8).max(14) as f64;
        let row = 34.0;
        let x = |line: usize| column * (line as f64 + 0.5) + 10.0;
        let width = column * self.lines.len().max(1) as f64 + 20.0;
        let rows = self.messages.len() + usize::from(self.left_out > 0);
        let height = 60.0 + row * rows as f64;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"ui-monospace, DejaVu Sans Mono, monospace\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 1L10 5L0 9z\" fill=\"#1a1d21\"/></marker></defs>\n"
        );
        for (n, line) in self.lines.iter().enumerate() {
            let _ = writeln!(
                out,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"34\" y2=\"{1:.1}\" stroke=\"#9aa5b3\" stroke-dasharray=\"4 4\"/>\n\
                 <text x=\"{0:.1}\" y=\"22\" text-anchor=\"middle\" font-weight=\"700\">{2}</text>",
                x(n),
                height - 10.0,
                escape(&cut(line))
            );
        }
        for (n, (from, to, text)) in self.messages.iter().enumerate() {
            let y = 60.0 + row * n as f64;
            if from == to {
                let wide = text.chars().count() as f64 * 7.4 + 14.0;
                let _ = writeln!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"22\" rx=\"5\" fill=\"#e3effb\" stroke=\"#0b57a4\"/>\n\
                     <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    x(*from) - wide / 2.0,
                    y - 11.0,
                    x(*from),
                    y + 4.0,
                    escape(text)
                );
            } else {
                let _ = writeln!(
                    out,
                    "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{2:.1}\" y2=\"{2:.1}\" stroke=\"#1a1d21\" marker-end=\"url(#tip)\"/>\n\
                     <text x=\"{3:.1}\" y=\"{4:.1}\" text-anchor=\"middle\">{5}</text>",
                    x(*from),
                    x(*to),
                    y + 4.0,
                    (x(*from) + x(*to)) / 2.0,
                    y - 4.0,
                    escape(text)
                );
            }
        }
        if self.left_out > 0 {
            let y = 60.0 + row * self.messages.len() as f64;
            let _ =
                writeln!(out, "<text x=\"14\" y=\"{y:.1}\">{} more steps are left out</text>", self.left_out);
        }
        out.push_str("</svg>\n");
        out
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// Text that Mermaid takes as text: a semicolon or a sharp would end or open something.
fn plain(text: &str) -> String {
    text.replace('#', "#35;").replace(';', "#59;").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(event: &str, params: &[(&str, &str)]) -> TraceStep {
        let params = params.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        TraceStep { event: event.into(), params, ..TraceStep::default() }
    }

    #[test]
    fn steps_that_name_two_lines_are_arrows_and_others_stand_on_one() {
        let steps = [
            step("$initialise_machine", &[]),
            step("send", &[("from", "a"), ("to", "b"), ("k", "7")]),
            step("send", &[("from", "b"), ("to", "a"), ("k", "7")]),
            step("crash", &[("from", "b")]),
        ];
        let text = Sequence::of(&steps, None, None).mermaid();
        assert_eq!(
            text,
            "sequenceDiagram\n    participant L0 as a\n    participant L1 as b\n    participant L2 as system\n    \
             Note over L2: INITIALISATION\n    L0->>L1: send(from=a, to=b, k=7)\n    L1->>L0: send(from=b, to=a, k=7)\n    \
             Note over L1: crash(from=b)\n"
        );
        let by = Sequence::of(&steps, None, Some("k")).mermaid();
        assert!(by.contains("participant L0 as 7") && by.contains("Note over L0: send"), "{by}");
        let svg = Sequence::of(&steps, None, None).svg();
        let parsed = roxmltree::Document::parse(&svg).expect("the picture is XML");
        assert_eq!(parsed.descendants().filter(|n| n.attribute("marker-end").is_some()).count(), 2);
    }
}
