//! Messages about the user's text: what is wrong, where, and a way out.
//!
//! In: messages with spans from every stage. Out: text with file, line, column, excerpt and caret.
//! Never here: printing; `cli` decides where the text goes.

use super::span::{FileId, Span};
use super::text::many;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// One message. The first label is the place the message is about; more labels give the other side.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub labels: Vec<(Span, String)>,
    /// What the user can do about it.
    pub help: Vec<String>,
    /// What is checked is not quite what was written, so nothing can be verified.
    pub approximates: bool,
    /// What the message speaks of, where one mistake could make many messages.
    pub cause: Box<Cause>,
}

/// What an error can be put down to, and the errors that were put down to the same.
#[derive(Clone, Debug, Default)]
pub struct Cause {
    /// One of these is wrong, or what is said about it.
    pub blamed: Vec<String>,
    /// What else the message speaks of: after another error about one of these it would be a repetition.
    pub mentioned: Vec<String>,
    /// Places of messages that were left out for this one.
    pub also: Vec<Span>,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            labels: vec![(span, String::new())],
            help: Vec::new(),
            approximates: false,
            cause: Box::default(),
        }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// An error that belongs to no place of the text (a missing file, say).
    pub fn plain(message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            help: Vec::new(),
            approximates: false,
            cause: Box::default(),
        }
    }

    /// Marks that a run can no longer be "verified": this message is a reason.
    pub fn approximating(mut self) -> Self {
        self.approximates = true;
        self
    }

    /// Text at the caret of the main place.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.1 = text.into();
        }
        self
    }

    /// A second place with its own text.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Whose fault it is, and what else the message speaks of.
    pub fn caused_by(mut self, blamed: Vec<String>, mentioned: Vec<String>) -> Self {
        *self.cause = Cause { blamed, mentioned, also: Vec::new() };
        self
    }
}

/// The messages without the errors that an earlier error explains; each of these is a further place of that error.
pub fn one_for_each_cause(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    let mut blamed: BTreeMap<String, usize> = BTreeMap::new();
    for d in diagnostics {
        let known = d.cause.blamed.iter().chain(&d.cause.mentioned).find_map(|it| blamed.get(it).copied());
        match known.filter(|_| d.severity == Severity::Error) {
            Some(first) => {
                let places = d.labels.first().map(|(span, _)| *span).into_iter().chain(d.cause.also);
                let also = &mut kept[first].cause.also;
                for place in places {
                    if also.iter().all(|known| (known.file, known.start) != (place.file, place.start)) {
                        also.push(place);
                    }
                }
            }
            None => {
                // A warning stands in for no error: leaving the error out would accept what is wrong.
                if d.severity == Severity::Error {
                    blamed.extend(d.cause.blamed.iter().map(|it| (it.clone(), kept.len())));
                }
                kept.push(d);
            }
        }
    }
    kept
}

/// One text and where it came from.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// The path as shown to the user, or a name such as `<expression>`.
    pub name: String,
    pub path: Option<PathBuf>,
    pub text: Arc<str>,
}

/// All texts of a run; spans point into them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceText>,
}

impl Sources {
    pub fn add(&mut self, name: impl Into<String>, path: Option<&Path>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceText {
            name: name.into(),
            path: path.map(Path::to_path_buf),
            text: text.into(),
        });
        id
    }

    pub fn get(&self, id: FileId) -> &SourceText {
        &self.files[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The text of a span, for messages that quote a predicate.
    pub fn slice(&self, span: Span) -> &str {
        self.files
            .get(span.file.0 as usize)
            .and_then(|f| f.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// Line and column, both from 1; columns count characters.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let Some(file) = self.files.get(span.file.0 as usize) else { return (1, 1) };
        let upto = floor_boundary(&file.text, span.start as usize);
        let before = &file.text[..upto];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// `file:line:column`.
    pub fn locate(&self, span: Span) -> String {
        let (line, column) = self.position(span);
        match self.files.get(span.file.0 as usize) {
            Some(f) => format!("{}:{line}:{column}", f.name),
            None => String::new(),
        }
    }

    /// The message as a user reads it, with excerpts and carets.
    pub fn render(&self, d: &Diagnostic) -> String {
        let mut out = String::new();
        let head = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(out, "{head}: {}", d.message);
        for (i, (span, text)) in d.labels.iter().enumerate() {
            if (span.file.0 as usize) < self.files.len() {
                self.excerpt(&mut out, *span, text, if i == 0 { '^' } else { '-' });
            }
        }
        if !d.cause.also.is_empty() {
            let _ = writeln!(out, "  = also at {}", self.places(&d.cause.also));
        }
        for help in &d.help {
            let _ = writeln!(out, "  = help: {help}");
        }
        out
    }

    /// The first places of a list as line and column, with the file where it changes.
    fn places(&self, spans: &[Span]) -> String {
        const SHOWN: usize = 12;
        let mut shown: Vec<String> = Vec::new();
        let mut file = None;
        for span in spans.iter().take(SHOWN) {
            let (line, column) = self.position(*span);
            shown.push(if file == Some(span.file) { format!("{line}:{column}") } else { self.locate(*span) });
            file = Some(span.file);
        }
        let rest = spans.len() - shown.len();
        let rest = if rest > 0 { format!(" and {}", many(rest as u64, "more place")) } else { String::new() };
        shown.join(", ") + &rest
    }

    /// The line of a place with a caret below, without the name of the file.
    pub fn quote(&self, span: Span) -> Vec<String> {
        if span.file.0 as usize >= self.files.len() {
            return Vec::new();
        }
        let mut out = String::new();
        self.excerpt(&mut out, span, "", '^');
        out.lines().skip(1).map(|line| line.trim_end().to_string()).collect()
    }

    fn excerpt(&self, out: &mut String, span: Span, text: &str, mark: char) {
        /// Longer lines are shown as a window round the caret: some models are one line of a megabyte.
        const WINDOW: usize = 120;
        let (line, column) = self.position(span);
        let file = self.get(span.file);
        let start = floor_boundary(&file.text, span.start as usize);
        let line_start = file.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let full: Vec<char> = file.text[line_start..]
            .chars()
            .take_while(|c| *c != '\n' && *c != '\r')
            .take(column + WINDOW)
            .collect();
        let from = if full.len() <= WINDOW { 0 } else { (column - 1).saturating_sub(WINDOW / 2) };
        let window = full.iter().enumerate().skip(from).take(WINDOW);
        // Where the line goes on to the left or right of the window, a mark says so.
        let cut = |at: usize| from > 0 && at == from || at + 1 == from + WINDOW && at + 1 < full.len();
        let shown: String = window
            .map(|(at, c)| match *c {
                _ if cut(at) => '…',
                c if c.is_control() => ' ',
                c => c,
            })
            .collect();
        let end = floor_boundary(&file.text, (span.end as usize).max(start));
        let width = file.text[start..end].chars().take_while(|c| *c != '\n').count();
        let caret_at = column - 1 - from;
        let room = shown.chars().count().saturating_sub(caret_at).max(1);
        let gutter = line.to_string().len();
        let _ = writeln!(out, "{:gutter$}--> {}:{line}:{column}", "", file.name);
        let _ = writeln!(out, "{:gutter$} |", "");
        let _ = writeln!(out, "{line} | {shown}");
        let carets = mark.to_string().repeat(width.clamp(1, room));
        let marked = format!("{:gutter$} | {:caret_at$}{carets} {text}", "", "");
        let _ = writeln!(out, "{}", marked.trim_end());
    }
}

/// The largest character boundary not beyond `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
