//! A trace as one HTML file that needs nothing else: a row for each step, a column for each variable.
//!
//! In: steps in words. Out: HTML. What a step changed is marked, in sets element by element; long values are folded; the arrow
//! keys go from step to step. Whatever comes from a model is escaped.

use super::changes::{elements, items};
use super::finding_text::{failing_call, property_text, reason_lines};
use super::outcome::{Outcome, SETUP_CONSTANTS, TraceStep};
use super::page_style::STYLE;
use super::text;
use super::trace_file::{Report, Traced};
use crate::base::text::{escape, many};
use crate::explain::{Explanation, bindings};
use std::fmt::Write;

/// Longer traces are shown by their beginning and their end.
const MOST_STEPS: usize = 2_000;
/// Longer values are folded.
const LONG: usize = 240;
/// Longer values are cut even when they are opened: a trace in JSON has them whole.
const LONGEST: usize = 50_000;
/// Longer values are compared as a whole, not element by element.
const COMPARED: usize = 20_000;

/// The arrow keys, Home and End move the marked row.
const SCRIPT: &str = "
(() => {
  const rows = [...document.querySelectorAll('tr.step')];
  let at = document.querySelector('.trace')?.querySelectorAll('tr.step').length - 1;
  const show = (n) => {
    if (n < 0 || n >= rows.length) return;
    rows[at].classList.remove('here');
    at = n;
    rows[at].classList.add('here');
    rows[at].scrollIntoView({ block: 'nearest' });
    draw();
  };
  const drawings = JSON.parse(document.getElementById('drawings')?.textContent ?? '[]');
  const draw = () => {
    const svg = drawings[at];
    if (svg) document.getElementById('drawing').src = 'data:image/svg+xml,' + encodeURIComponent(svg);
  };
  if (!(at >= 0)) return;
  rows[at].classList.add('here');
  draw();
  rows.forEach((row, n) => row.addEventListener('click', () => show(n)));
  document.addEventListener('keydown', (event) => {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(next);
  });
})();
";

/// The page of a trace.
pub fn page(o: &Traced) -> String {
    let title = match &o.violation {
        Some(v) => format!("{}: {}", v.kind, v.property),
        None => "trace".into(),
    };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}: {1}</title>\n\
         <style>\n{STYLE}</style></head><body>\n<h1>{0}</h1>\n",
        escape(o.machine),
        escape(&title)
    );
    if let Some(v) = o.violation {
        let word = if v.kind == "goal" { "reached" } else { "violated" };
        let _ = writeln!(out, "<p><span class=\"badge\">{word}</span> {}</p>", escape(&title));
    }
    let _ = writeln!(
        out,
        "<p class=\"muted\">{}; {}; bombus {}</p>",
        escape(o.file),
        many(o.steps.len() as u64, "step"),
        env!("CARGO_PKG_VERSION")
    );
    if let Some(report) = &o.report {
        about(&mut out, report);
    }
    match (o.violation, &o.report) {
        (Some(v), Some(report)) => reasons(&mut out, &reason_lines(v, &report.outcome.why)),
        (Some(v), None) => reasons(&mut out, &v.explanation),
        (None, _) => {}
    }
    drawings(&mut out, &o.drawings);
    constants(&mut out, o.steps);
    out.push_str("<h2>Steps</h2>\n");
    let beside = o.report.as_ref().map(|r| Beside::of(&r.outcome.why)).unwrap_or_default();
    table(&mut out, o.steps, o.loop_start, &beside);
    if let Some(report) = &o.report {
        others(&mut out, report.outcome);
    }
    let _ = writeln!(out, "<script>{SCRIPT}</script>\n</body></html>");
    out
}

/// The scope, the figures and the command of a check.
fn about(out: &mut String, report: &Report) {
    let o = report.outcome;
    let scope = text::scope_words(o);
    if !scope.is_empty() {
        let _ = writeln!(out, "<p class=\"muted\">scope: {}</p>", escape(&scope));
    }
    let figures =
        format!("{} and {}", many(o.counts.states, "state"), many(o.counts.transitions, "transition"));
    let _ = writeln!(out, "<p class=\"muted\">explored: {figures}, {} engine</p>", escape(o.engine));
    if !report.command.is_empty() {
        let _ = writeln!(out, "<p class=\"muted\">command: <code>{}</code></p>", escape(report.command));
    }
}

fn reasons(out: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "<pre>{}</pre>", escape(&lines.join("\n")));
    }
}

/// The first finding of every other property, each with its reasons and its trace.
fn others(out: &mut String, o: &Outcome) {
    for (v, why) in &o.others {
        let title = format!("{}: {}", v.kind, property_text(v, why));
        let _ = writeln!(out, "<h2><span class=\"badge\">also</span> {}</h2>", escape(&title));
        reasons(out, &reason_lines(v, why));
        table(out, &v.trace, v.loop_start, &Beside::of(why));
    }
}

/// The drawing of the marked row. It is shown as an image, in which no script runs and nothing is loaded.
fn drawings(out: &mut String, all: &[String]) {
    if all.iter().all(String::is_empty) {
        return;
    }
    // Inside a script element only `<` could end it.
    let json = serde_json::json!(all).to_string().replace('<', "\\u003c");
    let _ = writeln!(
        out,
        "<p><img id=\"drawing\" alt=\"the state of the marked row\"></p>\n\
         <script type=\"application/json\" id=\"drawings\">{json}</script>"
    );
}

/// Constants have one value and a table of their own.
pub fn constants(out: &mut String, steps: &[TraceStep]) {
    let Some(setup) = steps.first().filter(|s| s.event == SETUP_CONSTANTS && !s.state.is_empty()) else {
        return;
    };
    out.push_str("<h2>Constants</h2>\n<div class=\"wide\"><table>\n");
    for (name, value) in &setup.state {
        let _ = writeln!(
            out,
            "<tr><th>{}</th><td class=\"value\">{}</td></tr>",
            escape(name),
            folded(value, escape(value))
        );
    }
    out.push_str("</table></div>\n");
}

/// What is known of a trace besides its states.
#[derive(Default)]
pub struct Beside {
    /// Values of ANY and LET that a step chose, by the number of its row.
    pub chosen: Vec<(usize, String)>,
    /// A step that fails after the last state: how it is called, where it fails, what it chose.
    pub fails: Option<(String, String, String)>,
}

impl Beside {
    pub fn of(why: &Explanation) -> Beside {
        Beside {
            chosen: why.chosen.iter().map(|(row, values)| (*row, bindings(values))).collect(),
            fails: why.step.as_ref().map(|step| {
                let at = why.place.as_ref().map(|p| p.words()).unwrap_or_default();
                (failing_call(&step.event, &step.params, LONG), at, bindings(&step.locals))
            }),
        }
    }

    /// The values that the step of a row chose, as they follow its name.
    fn chosen_in(&self, row: usize) -> String {
        let values = self.chosen.iter().find(|(n, _)| *n == row).map(|(_, values)| values);
        values
            .map(|values| format!(" <span class=\"muted\">where {}</span>", escape(values)))
            .unwrap_or_default()
    }

    /// The last row: the step that fails.
    fn failing_row(&self, out: &mut String, number: usize, columns: usize) {
        let Some((call, at, chosen)) = &self.fails else { return };
        let at = if at.is_empty() { String::new() } else { format!(" at {}", escape(at)) };
        let chosen = match chosen.is_empty() {
            true => String::new(),
            false => format!(" <span class=\"muted\">where {}</span>", escape(chosen)),
        };
        let _ = writeln!(
            out,
            "<tr class=\"step fails\"><td class=\"n\">{number}</td><td class=\"event\" colspan=\"{}\">{} \
             <span class=\"badge\">fails{at}</span>{chosen}</td></tr>",
            columns + 1,
            escape(call)
        );
    }
}

/// The rows of a trace, a column for each variable, what each step changed marked.
pub fn table(out: &mut String, steps: &[TraceStep], loop_start: Option<usize>, beside: &Beside) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in steps.iter().filter(|s| s.event != SETUP_CONSTANTS).flat_map(|s| &s.state) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    out.push_str("<div class=\"wide trace\"><table>\n<tr><th>#</th><th>event</th>");
    names.iter().for_each(|name| out.push_str(&format!("<th>{}</th>", escape(name))));
    out.push_str("</tr>\n");
    let hidden = steps.len().saturating_sub(MOST_STEPS);
    let mut before: Vec<Option<&str>> = vec![None; names.len()];
    for (i, step) in steps.iter().enumerate() {
        let setup = step.event == SETUP_CONSTANTS;
        if hidden > 0 && i == MOST_STEPS / 2 {
            let _ = writeln!(
                out,
                "<tr><td colspan=\"{}\" class=\"muted\">{hidden} steps are left out</td></tr>",
                names.len() + 2
            );
        }
        let shown = hidden == 0 || i < MOST_STEPS / 2 || i >= steps.len() - MOST_STEPS / 2;
        let mark =
            if loop_start == Some(i) { " <span class=\"muted\">(loop starts here)</span>" } else { "" };
        if shown {
            let _ = write!(
                out,
                "<tr class=\"step\"><td class=\"n\">{i}</td><td class=\"event\">{}{}{mark}</td>",
                escape(&text::label(step)),
                beside.chosen_in(i)
            );
        }
        for (n, name) in names.iter().enumerate() {
            // A trace may list what changed alone: a value that is not told is the one before.
            let told = step.state.iter().find(|(m, _)| m == name).filter(|_| !setup).map(|(_, v)| v.as_str());
            let now = told.or(before[n]);
            if shown {
                out.push_str(&cell(name, before[n], now));
            }
            before[n] = now;
        }
        if shown {
            out.push_str("</tr>\n");
        }
    }
    beside.failing_row(out, steps.len(), names.len());
    out.push_str("</table></div>\n");
}

/// A value in the column of its variable, whose name it carries: a narrow screen has no columns.
fn cell(name: &str, before: Option<&str>, now: Option<&str>) -> String {
    let of = format!("data-name=\"{}\"", escape(name));
    match (before, now) {
        (_, None) => "<td></td>".into(),
        (None, Some(now)) => format!("<td class=\"value\" {of}>{}</td>", folded(now, escape(now))),
        // A long value that stays stands in the row that made it.
        (Some(before), Some(now)) if before == now => match now.char_indices().nth(LONG) {
            None => format!("<td class=\"value same\" {of}>{}</td>", escape(now)),
            Some(_) => {
                let start: String = now.chars().take(LONG / 3).collect();
                format!("<td class=\"value same\" {of}>{}… (unchanged)</td>", escape(&start))
            }
        },
        (Some(before), Some(now)) => {
            format!("<td class=\"value\" {of}>{}</td>", folded(now, changed(before, now)))
        }
    }
}

/// A long value shows its beginning until it is opened; the end of a very long one is left out.
fn folded(text: &str, markup: String) -> String {
    match text.char_indices().nth(LONG) {
        None => markup,
        Some(_) => {
            let start: String = text.chars().take(LONG / 3).collect();
            let markup = match text.char_indices().nth(LONGEST) {
                None => markup,
                Some((at, _)) => {
                    format!("{}… ({} characters are left out)", escape(&text[..at]), text.len() - at)
                }
            };
            format!("<details><summary>{}…</summary>{markup}</details>", escape(&start))
        }
    }
}

/// A value that changed: of two sets, the elements that are new and those that are gone.
fn changed(before: &str, now: &str) -> String {
    let short = before.len() + now.len() <= COMPARED;
    let parts = |text| elements(text).or_else(|| items(text)).filter(|_| short);
    let (Some(old), Some(new)) = (parts(before), parts(now)) else {
        return format!("<ins>{}</ins>", escape(now));
    };
    let mark = |list: &[&str], other: &[&str], tag: &str| -> Vec<String> {
        let known: std::collections::BTreeSet<&str> = other.iter().copied().collect();
        let one = |e: &&str| {
            let text = escape(e);
            if known.contains(e) { text } else { format!("<{tag}>{text}</{tag}>") }
        };
        list.iter().map(one).collect()
    };
    let (open, close) = (escape(&now[..1]), escape(&now[now.len() - 1..]));
    let kept = mark(&new, &old, "ins").join(",");
    let gone: Vec<String> = mark(&old, &new, "del").into_iter().filter(|e| e.starts_with("<del>")).collect();
    let gone = if gone.is_empty() { String::new() } else { format!(" {}", gone.join(" ")) };
    format!("{open}{kept}{close}{gone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_step_adds_and_removes_is_marked_and_nothing_opens_a_tag() {
        assert_eq!(changed("{1,2}", "{2,3}"), "{2,<ins>3</ins>} <del>1</del>");
        assert_eq!(changed("{\"<b>\"}", "{}"), "{} <del>&quot;&lt;b&gt;&quot;</del>");
        assert_eq!(changed("1", "2"), "<ins>2</ins>");
    }

    #[test]
    fn a_long_trace_shows_both_ends_and_a_long_value_is_folded() {
        let long = "x".repeat(1000);
        let steps: Vec<TraceStep> = (0..3000)
            .map(|n| TraceStep {
                event: format!("e{n}"),
                state: vec![("v".into(), long.clone())],
                ..TraceStep::default()
            })
            .collect();
        let traced = Traced {
            file: "m.mch",
            machine: "M",
            sets: vec![],
            violation: None,
            steps: &steps,
            loop_start: None,
            drawings: vec![],
            report: None,
        };
        let page = page(&traced);
        assert!(
            page.contains("1000 steps are left out") && page.contains(">e2999<") && !page.contains(">e1500<")
        );
        assert!(page.contains("<details><summary>xxx") && !page.contains("http"));
    }
}
