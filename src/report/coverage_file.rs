//! What of a model was met, as text, JSON, or a page that marks it in the source.
//!
//! In: rows in words, with places. Out: text.

use super::page_style::STYLE;
use crate::base::text::{escape, many};
use serde_json::{Value, json};
use std::fmt::Write;

/// Coverage in words.
#[derive(Clone, Debug, Default)]
pub struct Covered {
    pub machine: String,
    pub states: usize,
    pub complete: bool,
    pub missing: Vec<String>,
    pub variables: Vec<VariableRow>,
    pub events: Vec<EventRow>,
    pub implications: Vec<PartRow>,
    /// What was never met and should be.
    pub uncovered: Vec<String>,
    /// The texts of the model, by name.
    pub texts: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct VariableRow {
    pub name: String,
    pub ty: String,
    pub values: usize,
    pub least: String,
    pub greatest: String,
}

#[derive(Clone, Debug)]
pub struct EventRow {
    pub name: String,
    pub states: u64,
    pub transitions: u64,
    pub guard: Vec<PartRow>,
}

/// A part of a formula, where it stands (text, line, bytes from and to), and what it was.
#[derive(Clone, Debug)]
pub struct PartRow {
    pub text: String,
    pub file: usize,
    pub line: usize,
    pub bytes: (usize, usize),
    pub ever_true: bool,
    pub ever_false: bool,
    pub doubtful: bool,
}

impl PartRow {
    fn word(&self) -> &'static str {
        match (self.ever_true, self.ever_false, self.doubtful) {
            (true, true, _) => "both",
            (true, false, false) => "never false",
            (true, false, true) => "true",
            (false, true, false) => "never true",
            (false, false, false) => "never reached",
            (false, _, true) => "never seen true",
        }
    }

    fn json(&self) -> Value {
        json!({
            "text": self.text, "line": self.line, "ever_true": self.ever_true, "ever_false": self.ever_false,
            "doubtful": self.doubtful,
        })
    }
}

impl Covered {
    /// The content of a file with this extension.
    pub fn render(&self, extension: &str) -> Result<String, String> {
        match extension {
            "txt" => Ok(self.text()),
            "json" => Ok(format!("{:#}\n", self.json())),
            "html" => Ok(self.html()),
            other => Err(format!("unknown kind of coverage file '.{other}': use .txt, .json or .html")),
        }
    }

    fn headline(&self) -> String {
        let whole = if self.complete { "all" } else { "the first" };
        match (self.complete, self.states) {
            (true, 1) => format!("coverage of {}: the only state", self.machine),
            _ => format!("coverage of {}: {whole} {}", self.machine, many(self.states as u64, "state")),
        }
    }

    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.headline());
        for reason in &self.missing {
            let _ = writeln!(out, "  missing      {reason}");
        }
        for v in &self.variables {
            let range = if v.values > 1 { format!("{} .. {}", v.least, v.greatest) } else { v.least.clone() };
            let values = many(v.values as u64, "value");
            let _ = writeln!(out, "  variable     {} : {values}, {range}", v.name);
        }
        for e in &self.events {
            let _ = writeln!(
                out,
                "  event        {}: enabled in {}, {}",
                e.name,
                many(e.states, "state"),
                many(e.transitions, "transition")
            );
            for part in e.guard.iter().filter(|p| p.word() != "both") {
                let _ = writeln!(out, "    {:<12} {}", part.word(), part.text);
            }
        }
        for part in self.implications.iter().filter(|p| !p.ever_true) {
            let _ = writeln!(out, "  vacuous      line {}: {} => …", part.line, part.text);
        }
        out
    }

    pub fn json(&self) -> Value {
        let parts = |rows: &[PartRow]| rows.iter().map(PartRow::json).collect::<Vec<_>>();
        json!({
            "machine": self.machine, "states": self.states, "complete": self.complete, "missing": self.missing,
            "variables": self.variables.iter().map(|v| json!({
                "name": v.name, "type": v.ty, "values": v.values, "least": v.least, "greatest": v.greatest,
            })).collect::<Vec<_>>(),
            "events": self.events.iter().map(|e| json!({
                "name": e.name, "states": e.states, "transitions": e.transitions, "guard": parts(&e.guard),
            })).collect::<Vec<_>>(),
            "implications": parts(&self.implications),
            "uncovered": self.uncovered,
        })
    }

    /// One page that needs nothing else: figures, then the source with its marks.
    fn html(&self) -> String {
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{0}</title>\n<style>\n{STYLE}</style></head>\n\
             <body>\n<h1>{0}</h1>\n",
            escape(&self.headline())
        );
        for reason in &self.missing {
            let _ = writeln!(out, "<p class=\"never\">{}</p>", escape(reason));
        }
        if self.uncovered.is_empty() {
            out.push_str("<p>Everything that should be met was met.</p>\n");
        } else {
            out.push_str("<h2>Never met</h2>\n<ul>\n");
            self.uncovered.iter().for_each(|u| out.push_str(&format!("<li>{}</li>\n", escape(u))));
            out.push_str("</ul>\n");
        }
        out.push_str("<h2>Variables</h2>\n<div class=\"wide plain\"><table><tr><th>name</th><th>type</th><th>values</th><th>least</th><th>greatest</th></tr>\n");
        for v in &self.variables {
            let cells = [&v.name, &v.ty, &v.values.to_string(), &v.least, &v.greatest].map(|c| escape(c));
            let _ = writeln!(out, "<tr><td>{}</td></tr>", cells.join("</td><td>"));
        }
        out.push_str(
            "</table></div>\n<h2>Events</h2>\n<div class=\"wide plain\"><table><tr><th>name</th><th>states</th><th>transitions</th></tr>\n",
        );
        for e in &self.events {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&e.name),
                e.states,
                e.transitions
            );
        }
        out.push_str(
            "</table></div>\n<h2>Source</h2>\n<p><span class=\"never\">never true</span> <span class=\"always\">never false</span> \
             <span class=\"both\">both</span></p>\n",
        );
        for (n, (name, text)) in self.texts.iter().enumerate() {
            let _ = writeln!(out, "<h3>{}</h3>\n<pre>{}</pre>", escape(name), self.marked(n, text));
        }
        out.push_str("</body></html>\n");
        out
    }

    /// A text with its parts marked; a part inside another one is not marked again.
    fn marked(&self, file: usize, text: &str) -> String {
        let parts = self.events.iter().flat_map(|e| &e.guard).chain(&self.implications);
        let mut parts: Vec<&PartRow> = parts.filter(|p| p.file == file).collect();
        parts.sort_by_key(|p| (p.bytes.0, std::cmp::Reverse(p.bytes.1)));
        let (mut out, mut at) = (String::new(), 0);
        for part in parts.into_iter() {
            let (from, to) = part.bytes;
            if from < at || to <= from || text.get(from..to).is_none() {
                continue;
            }
            let class = if !part.ever_true {
                "never"
            } else if part.ever_false || part.doubtful {
                "both"
            } else {
                "always"
            };
            let _ = write!(
                out,
                "{}<span class=\"{class}\" title=\"{}\">{}</span>",
                escape(&text[at..from]),
                part.word(),
                escape(&text[from..to])
            );
            at = to;
        }
        out.push_str(&escape(&text[at..]));
        out
    }
}
