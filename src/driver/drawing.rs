//! Drawings of states: an SVG beside the model whose attributes are B expressions.
//!
//! In: the file `M.svg` beside `M.mch`, a state. Out: the same SVG with the value of each expression in its place, and
//! what could not be evaluated. `data-b-fill="IF x = 1 THEN "red" ELSE "green" END"` sets the attribute `fill`;
//! `data-b-text` sets the text of an element.
//! Never here: showing it. Pages show a drawing as an image, in which no script runs and nothing is loaded.

use super::animate::{Animation, Choice};
use super::values::Typed;
use crate::base::budget::Budget;
use crate::base::diagnostic::Sources;
use crate::base::text::escape;
use crate::evaluate::{Interpreter, State};
use crate::lang::value::Value;
use crate::model::{LoadOptions, Model};
use crate::report::TraceStep;
use crate::report::trace_read::ReadTrace;
use std::path::{Path, PathBuf};

/// An attribute whose name begins so is an expression.
const MARK: &str = "data-b-";
/// Larger files are no drawings.
const LARGEST: u64 = 2 << 20;
/// Rows of a trace that are drawn, and characters of all drawings of a page.
const ROWS: usize = 500;
const CHARACTERS: usize = 8 << 20;

/// An SVG in parts.
pub struct Drawing {
    parts: Vec<Part>,
}

enum Part {
    Text(String),
    /// `name="value"` inside a tag.
    Attribute(String, Expression),
    /// The text of an element.
    Content(Expression),
}

/// An expression as it was read; a message if it cannot be.
struct Expression {
    text: String,
    typed: Result<Box<Typed>, String>,
}

impl Drawing {
    /// The drawing beside a model, if there is one: a file without expressions is none.
    pub fn beside(path: &Path, model: &Model, sources: &Sources) -> Option<Drawing> {
        let file = file_beside(path, &model.machine.name)?;
        let text = std::fs::read_to_string(file).ok().filter(|text| text.contains(MARK))?;
        Some(Drawing::read(&text, model, sources))
    }

    fn read(text: &str, model: &Model, sources: &Sources) -> Drawing {
        let expression = |source: &str| {
            let text = unescaped(source);
            let typed = Typed::read(model, sources, &text).map(Box::new);
            Expression { text, typed }
        };
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('<') {
            parts.push(Part::Text(rest[..open].to_string()));
            rest = &rest[open..];
            let tag = tag(rest);
            let (inside, after) = rest.split_at(tag);
            let Some(attributes) =
                attributes(inside).filter(|all| all.iter().any(|a| a.name.starts_with(MARK)))
            else {
                parts.push(Part::Text(inside.to_string()));
                rest = after;
                continue;
            };
            let content = one_tag(inside, &attributes, &expression, &mut parts);
            rest = after;
            if let Some(content) = content {
                // What stood there is what is shown where there is no value.
                rest = &rest[rest.find('<').unwrap_or(rest.len())..];
                parts.push(Part::Content(content));
            }
        }
        parts.push(Part::Text(rest.to_string()));
        Drawing { parts }
    }

    /// The drawing of a state, and what could not be evaluated.
    pub fn of(&self, state: &State, budget: &Budget) -> (String, Vec<String>) {
        let mut out = String::new();
        let mut said = Vec::new();
        let mut value = |e: &Expression| match e.value(state, budget) {
            Ok(value) => Some(escape(&value)),
            Err(message) => {
                said.push(format!("{}: {}", e.text.trim(), message.lines().next().unwrap_or_default()));
                None
            }
        };
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Attribute(name, e) => {
                    if let Some(value) = value(e) {
                        out.push_str(&format!(" {name}=\"{value}\""));
                    }
                }
                Part::Content(e) => out.push_str(&value(e).unwrap_or_default()),
            }
        }
        (out, said)
    }
}

impl Expression {
    /// Strings without quotes, truth values in the words of SVG, all else as B writes it.
    fn value(&self, state: &State, budget: &Budget) -> Result<String, String> {
        let typed = self.typed.as_ref().map_err(Clone::clone)?;
        let interpreter = Interpreter::new(&typed.machine, budget);
        Ok(match typed.value(&interpreter, Some(state))? {
            Value::Str(text) => text.to_string(),
            Value::Bool(truth) => truth.to_string(),
            other => other.show(&typed.machine, &typed.ty()),
        })
    }
}

/// The drawings of the rows of a trace, one for each step; none if there is no drawing beside the model.
pub fn of_trace(path: &Path, options: &LoadOptions, steps: &[TraceStep], budget: &Budget) -> Vec<String> {
    if file_beside(path, "").is_none() && !path.is_dir() {
        return Vec::new();
    }
    let Ok((mut model, mut sources, _)) = super::load(path, options) else { return Vec::new() };
    let Some(drawing) = Drawing::beside(path, &model, &sources) else { return Vec::new() };
    let trace = ReadTrace { steps: steps.to_vec(), ..ReadTrace::default() };
    let (_, made) = super::replay::follow(&mut model, &mut sources, &trace, budget);
    drawing.of_choices(&made, budget)
}

impl Drawing {
    /// A drawing for each step of a path; empty where there is no state yet, or where there would be too much.
    pub fn of_choices(&self, path: &[Choice], budget: &Budget) -> Vec<String> {
        let mut characters = 0;
        let mut all = Vec::new();
        for choice in path.iter().take(ROWS) {
            let drawn = choice.state().map(|state| self.of(state, budget).0).unwrap_or_default();
            characters += drawn.len();
            all.push(if characters <= CHARACTERS { drawn } else { String::new() });
        }
        all
    }
}

impl Animation<'_> {
    /// The drawing beside the model.
    pub fn drawing(&self) -> Option<Drawing> {
        Drawing::beside(Path::new(self.file_name()), self.model(), self.sources())
    }
}

/// `M.svg` beside `M.mch`, or a file named after the machine in a folder that is the model.
fn file_beside(path: &Path, machine: &str) -> Option<PathBuf> {
    let file = if path.is_dir() { path.join(format!("{machine}.svg")) } else { path.with_extension("svg") };
    std::fs::metadata(&file).ok().filter(|about| about.is_file() && about.len() <= LARGEST).map(|_| file)
}

/// An attribute with its value as it is written.
struct Attribute<'t> {
    name: &'t str,
    value: &'t str,
    /// The attribute with the blanks before it.
    whole: &'t str,
}

/// A tag with expressions in parts; the expression of its text, if there is one.
fn one_tag(
    inside: &str,
    attributes: &[Attribute],
    expression: &dyn Fn(&str) -> Expression,
    parts: &mut Vec<Part>,
) -> Option<Expression> {
    let name_end = inside[1..].find(|c: char| c.is_whitespace() || c == '/' || c == '>').map_or(1, |n| n + 1);
    parts.push(Part::Text(inside[..name_end].to_string()));
    let computed = |name: &str| attributes.iter().any(|a| a.name.strip_prefix(MARK) == Some(name));
    let mut content = None;
    for attribute in attributes {
        match attribute.name.strip_prefix(MARK) {
            Some("text") => content = Some(expression(attribute.value)),
            Some(name) => parts.push(Part::Attribute(name.to_string(), expression(attribute.value))),
            // An attribute may stand in a tag once.
            None if computed(attribute.name) => {}
            None => parts.push(Part::Text(attribute.whole.to_string())),
        }
    }
    let alone = inside.ends_with("/>");
    parts.push(Part::Text(if alone { "/>" } else { ">" }.into()));
    content.filter(|_| !alone)
}

/// How long the tag, comment or section is that a text begins with.
fn tag(text: &str) -> usize {
    for (open, close) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if let Some(rest) = text.strip_prefix(open) {
            return rest.find(close).map_or(text.len(), |n| open.len() + n + close.len());
        }
    }
    let mut quote = None;
    for (n, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), _) if q == c => quote = None,
            (None, '>') => return n + 1,
            _ => {}
        }
    }
    text.len()
}

/// The attributes of a tag; none if it is not written as XML is.
fn attributes(tag: &str) -> Option<Vec<Attribute<'_>>> {
    let body = tag.strip_prefix('<')?.strip_suffix('>')?;
    let body = body.strip_suffix('/').unwrap_or(body);
    let mut rest = &body[body.find(char::is_whitespace)?..];
    let mut all = Vec::new();
    while !rest.trim().is_empty() {
        let equals = rest.find('=')?;
        let name = rest[..equals].trim();
        let value = rest[equals + 1..].trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let end = value[1..].find(quote)? + 1;
        let length = rest.len() - value.len() + end + 1;
        all.push(Attribute { name, value: &value[1..end], whole: &rest[..length] });
        rest = &rest[length..];
    }
    Some(all)
}

fn unescaped(text: &str) -> String {
    let signs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#10;", "\n"), ("&amp;", "&")];
    signs.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_told_apart_whatever_stands_in_them() {
        let text = "<rect x='1' data-b-fill='IF a > 1 THEN \"red\" ELSE \"x\" END' fill=\"a>b\"/>tail";
        let end = tag(text);
        assert_eq!(&text[end..], "tail");
        let all = attributes(&text[..end]).expect("a tag");
        let names: Vec<&str> = all.iter().map(|a| a.name).collect();
        assert_eq!(names, ["x", "data-b-fill", "fill"]);
        assert_eq!(all[2].value, "a>b");
        assert_eq!(tag("<!-- > --> x"), 10);
        assert_eq!(unescaped("a &lt; b &amp;&amp; &quot;"), "a < b && \"");
    }
}
