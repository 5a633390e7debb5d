//! What an editor asks about a model: messages, the meaning of a name, where it is declared, what a text declares.
//!
//! In: a path, texts that are not saved yet, places in them. Out: messages and places by line and column, both from 0,
//! columns in units of UTF-16, as editors count. A text that is wrong is answered by what was last right.
//! Never here: the protocol of the editor.

use super::csp;
use super::is_csp;
use crate::base::Span;
use crate::base::budget::Budget;
use crate::base::diagnostic::{Severity, Sources};
use crate::evaluate::{Interpreter, State};
use crate::lang::typed::{Machine, SetKind, VarId, VarKind};
use crate::model::{self, LoadOptions, Loaded, Model, types};
use crate::source::Reader;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Values are shown if they are known this soon.
const VALUE_TIME: Duration = Duration::from_millis(50);
/// Longer values are cut.
const LONGEST: usize = 400;

/// A place in a text: lines and columns of its first character, and behind its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: (usize, usize),
    pub end: (usize, usize),
}

/// A message about a text.
#[derive(Clone, Debug)]
pub struct Message {
    /// The file, unless the message belongs to no place.
    pub file: Option<PathBuf>,
    pub range: Range,
    pub error: bool,
    pub text: String,
}

/// Something that a text declares.
#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub detail: String,
    /// The word of its kind: set, constant, variable or event.
    pub kind: &'static str,
    pub range: Range,
}

/// A model as an editor sees it.
pub struct Document {
    sources: Sources,
    model: Option<Model>,
    pub messages: Vec<Message>,
    first_state: OnceCell<Option<State>>,
}

impl Document {
    /// Loads a model; `options.unsaved` holds the texts that the editor has not saved.
    pub fn load(path: &Path, options: &LoadOptions) -> Document {
        let Loaded { sources, model, diagnostics } = if is_csp(path) {
            let reader = Reader::new(path, &options.include).with_unsaved(&options.unsaved);
            let mut sources = Sources::default();
            let diagnostics = csp::load_with(reader, path, &mut sources).err().unwrap_or_default();
            Loaded { sources, model: None, diagnostics }
        } else {
            model::load(path, options)
        };
        let messages = diagnostics
            .iter()
            .map(|d| {
                let mut text = d.message.clone();
                d.help.iter().for_each(|help| text.push_str(&format!("\nhelp: {help}")));
                let place = d.labels.first().map(|(span, _)| *span);
                Message {
                    file: place.and_then(|span| file_of(&sources, span)),
                    range: range(&sources, place.unwrap_or_default()),
                    error: d.severity == Severity::Error,
                    text,
                }
            })
            .collect();
        Document { sources, model, messages, first_state: OnceCell::new() }
    }

    /// Whether the text has a meaning.
    pub fn is_good(&self) -> bool {
        self.model.is_some()
    }

    /// What a name at a place of a text is.
    pub fn hover(&self, text: &str, line: usize, column: usize) -> Option<String> {
        let word = word_at(text, offset(text, line, column)?)?;
        let model = self.model.as_ref()?;
        let machine = &model.machine;
        if let Some(op) = machine.operations.iter().find(|op| *op.name == *word) {
            let names = |vars: &[VarId]| {
                let typed = |v: &VarId| format!("{} : {}", machine.var(*v).name, self.type_of(machine, *v));
                vars.iter().map(typed).collect::<Vec<_>>().join(", ")
            };
            let results =
                if op.results.is_empty() { String::new() } else { format!("{} <-- ", names(&op.results)) };
            return Some(format!("event {results}{}({})", op.name, names(&op.params)));
        }
        if let Some(set) = machine.sets.iter().find(|s| *s.name == *word) {
            let names: Vec<&str> = set.elems.iter().map(|e| &**e).collect();
            let kind = if set.kind == SetKind::Enumerated { "set" } else { "deferred set, here" };
            return Some(format!("{kind} {} = {{{}}}", set.name, names.join(", ")));
        }
        if let Some(set) = machine.sets.iter().find(|s| s.elems.iter().any(|e| **e == *word)) {
            return Some(format!("{word} : {}", set.name));
        }
        let named = || (0..machine.vars.len() as u32).map(VarId).filter(|v| *machine.var(*v).name == *word);
        let global = |v: &VarId| matches!(machine.var(*v).kind, VarKind::Constant | VarKind::Variable);
        if let Some(v) = named().find(global).or_else(|| named().next()) {
            let kind = match machine.var(v).kind {
                VarKind::Constant => "constant",
                VarKind::Variable => "variable",
                VarKind::Parameter => "parameter",
                VarKind::Result => "result",
                VarKind::Local => "local",
            };
            let value =
                self.value(machine, v).map(|value| format!("\nfirst value: {value}")).unwrap_or_default();
            return Some(format!("{kind} {word} : {}{value}", self.type_of(machine, v)));
        }
        let definition = model.scope.definition_of(word)?;
        Some(self.sources.slice(definition).to_string())
    }

    /// Where the name at a place of a text is declared.
    pub fn definition(&self, text: &str, line: usize, column: usize) -> Option<(PathBuf, Range)> {
        let word = word_at(text, offset(text, line, column)?)?;
        let model = self.model.as_ref()?;
        let machine = &model.machine;
        let operation = machine.operations.iter().find(|op| *op.name == *word).map(|op| op.span);
        let local = || machine.vars.iter().find(|v| *v.name == *word).map(|v| v.span);
        let set = || machine.sets.iter().find(|s| s.elems.iter().any(|e| **e == *word)).map(|s| s.span);
        let span = operation.or_else(|| model.scope.place_of(word)).or_else(local).or_else(set)?;
        Some((file_of(&self.sources, span)?, range(&self.sources, span)))
    }

    /// What the text of a file declares, in its order.
    pub fn symbols(&self, path: &Path) -> Vec<Symbol> {
        let Some(model) = &self.model else { return Vec::new() };
        let machine = &model.machine;
        let mut spans: Vec<(Span, Symbol)> = Vec::new();
        let mut add = |span: Span, name: &str, detail: String, kind: &'static str| {
            let here = file_of(&self.sources, span).is_some_and(|file| same_file(&file, path));
            if here {
                spans.push((
                    span,
                    Symbol { name: name.into(), detail, kind, range: range(&self.sources, span) },
                ));
            }
        };
        for set in &machine.sets {
            add(set.span, &set.name, format!("{} elements", set.elems.len()), "set");
        }
        for (vars, kind) in [(&machine.constants, "constant"), (&machine.variables, "variable")] {
            for v in vars {
                add(machine.var(*v).span, &machine.var(*v).name, self.type_of(machine, *v), kind);
            }
        }
        for op in &machine.operations {
            let names: Vec<&str> = op.params.iter().map(|v| &*machine.var(*v).name).collect();
            add(op.span, &op.name, names.join(", "), "event");
        }
        spans.sort_by_key(|(span, _)| (span.start, span.end));
        spans.into_iter().map(|(_, symbol)| symbol).collect()
    }

    fn type_of(&self, machine: &Machine, v: VarId) -> String {
        types::show(&machine.var(v).ty, &machine.sets, &machine.freetypes)
    }

    /// The value in the first initial state, if it is found in a moment.
    fn value(&self, machine: &Machine, v: VarId) -> Option<String> {
        let state = self.first_state.get_or_init(|| {
            let mut budget = Budget::unlimited();
            budget.time_limit = Some(VALUE_TIME);
            let interpreter = Interpreter::new(machine, &budget);
            let constants = interpreter.constants().ok()?.values.into_iter().next()?;
            interpreter.initial_states(&constants).ok()?.values.into_iter().next()
        });
        let state = state.as_ref()?;
        let constants = machine.constants.iter().zip(state.constants.iter());
        let mut all = constants.chain(machine.variables.iter().zip(state.variables.iter()));
        all.find(|(w, _)| **w == v)
            .map(|(_, value)| value.show_within(machine, &machine.var(v).ty, LONGEST).0)
    }
}

fn file_of(sources: &Sources, span: Span) -> Option<PathBuf> {
    if span == Span::default() || span.file.0 as usize >= sources.len() {
        return None;
    }
    sources.get(span.file).path.clone()
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok() == b.canonicalize().ok()
}

fn range(sources: &Sources, span: Span) -> Range {
    if span.file.0 as usize >= sources.len() {
        return Range { start: (0, 0), end: (0, 0) };
    }
    let text = &sources.get(span.file).text;
    Range { start: position(text, span.start as usize), end: position(text, span.end as usize) }
}

/// Line and column of a byte.
fn position(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.bytes().filter(|b| *b == b'\n').count();
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
    (line, column)
}

/// The byte of a line and column; the end of the line if it is shorter.
fn offset(text: &str, line: usize, column: usize) -> Option<usize> {
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(start..)?.split('\n').next()?;
    let mut units = 0;
    for (at, c) in rest.char_indices() {
        if units >= column {
            return Some(start + at);
        }
        units += c.len_utf16();
    }
    Some(start + rest.len())
}

/// The name that a byte of a text belongs to, or that ends there.
fn word_at(text: &str, at: usize) -> Option<&str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let start = text[..at].char_indices().rev().take_while(|(_, c)| part(*c)).last().map_or(at, |(i, _)| i);
    let end = at + text[at..].find(|c| !part(c)).unwrap_or(text.len() - at);
    (start < end).then(|| &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_as_editors_count_them() {
        // The sign in front of x is one character and two units of UTF-16.
        let text = "a\n𝕊x y\n";
        let x = text.find('x').unwrap();
        assert_eq!(position(text, x), (1, 2));
        assert_eq!(offset(text, 1, 2), Some(x));
        assert_eq!(offset(text, 0, 99), Some(1));
        assert_eq!(word_at(text, text.find('y').unwrap()), Some("y"));
        assert_eq!(word_at("  ", 1), None);
    }
}
