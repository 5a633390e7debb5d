//! Contexts and machines in plain text, as the Camille editor writes them.
//!
//! In: a text with `machine M … end` and `context C … end`. Out: the same components that Rodin's
//! files give. All errors are collected. Never here: the mathematical language itself (`formula`).
//!
//! ```text
//! machine M refines A sees C            context C extends B
//! variables x y                         sets S
//! invariants @inv1 x ∈ ℕ                constants c
//! events                                axioms @axm1 c ∈ S
//!   event inc extends inc_a             end
//!     any p where @grd1 p > 0 then @act1 x ≔ x + p end
//! end
//! ```
//! A formula reaches to the next label, keyword or comment, so keywords are no identifiers.

use super::printer::place_name;
use super::{Action, Context, Convergence, Event, Formula, INITIALISATION, Machine, Project, formula};
use crate::ast::{Expr, Ident};
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{FileId, Name, Span};

const KEYWORDS: &[&str] = &[
    "machine",
    "refines",
    "sees",
    "variables",
    "invariants",
    "variant",
    "events",
    "event",
    "any",
    "where",
    "when",
    "with",
    "then",
    "begin",
    "end",
    "theorem",
    "extends",
    "context",
    "sets",
    "constants",
    "axioms",
    "ordinary",
    "convergent",
    "anticipated",
];

/// Whether a text looks like this notation: its first word opens a component.
pub fn is_camille(text: &str) -> bool {
    let words = words(text);
    words.first().is_some_and(|w| matches!(w.text, "machine" | "context"))
}

/// Reads all components of the text `file`.
pub fn read(sources: &mut Sources, file: FileId) -> Result<Project, Vec<Diagnostic>> {
    let text = sources.get(file).text.clone();
    let mut reader = Reader { sources, file, text: &text, words: words(&text), at: 0, errors: Vec::new() };
    let mut project = Project::default();
    while reader.at < reader.words.len() {
        let before = reader.at;
        match reader.component(&mut project) {
            Ok(()) => {}
            Err(d) => {
                reader.errors.push(d);
                reader.skip_component(before);
            }
        }
    }
    if reader.errors.is_empty() { Ok(project) } else { Err(reader.errors) }
}

#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    start: usize,
}

impl Word<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is_keyword(&self) -> bool {
        KEYWORDS.contains(&self.text)
    }
}

/// Words are what blanks and comments separate; a keyword is a word of its own even beside signs.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |n| n + 2);
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            let length = if c.is_whitespace() || c == '\u{feff}' {
                at += c.len_utf8();
                continue;
            } else if c == '@' {
                // A label ends at the first blank.
                rest.find(char::is_whitespace).unwrap_or(rest.len())
            } else if c.is_alphanumeric() || c == '_' {
                rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '\'')).unwrap_or(rest.len())
            } else {
                c.len_utf8()
            };
            found.push(Word { text: &rest[..length], start: at });
            at += length;
        }
    }
    found
}

struct Reader<'a> {
    sources: &'a mut Sources,
    file: FileId,
    text: &'a str,
    words: Vec<Word<'a>>,
    at: usize,
    errors: Vec<Diagnostic>,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Reader<'a> {
    fn peek(&self) -> &'a str {
        self.words.get(self.at).map_or("", |w| w.text)
    }

    fn span(&self) -> Span {
        match self.words.get(self.at) {
            Some(w) => Span::new(self.file, w.start, w.end()),
            None => Span::new(self.file, self.text.len(), self.text.len()),
        }
    }

    fn take(&mut self, keyword: &str) -> bool {
        let found = self.peek() == keyword;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, keyword: &str) -> Parsed<()> {
        let span = self.span();
        if self.take(keyword) {
            Ok(())
        } else {
            Err(Diagnostic::error(span, format!("`{keyword}` is expected here")))
        }
    }

    /// After an error: on to the next component.
    fn skip_component(&mut self, from: usize) {
        self.at = self.at.max(from + 1);
        while self.at < self.words.len() && !matches!(self.peek(), "machine" | "context") {
            self.at += 1;
        }
    }

    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let span = self.span();
        match self.words.get(self.at) {
            Some(w) if !w.is_keyword() && !w.text.starts_with('@') => {
                self.at += 1;
                Ok(Ident { name: w.text.into(), span })
            }
            _ => Err(Diagnostic::error(span, format!("{what} is expected here"))),
        }
    }

    /// Names separated by blanks, or by commas.
    fn idents(&mut self) -> Vec<Ident> {
        let mut found = Vec::new();
        while self.words.get(self.at).is_some_and(|w| !w.is_keyword() && !w.text.starts_with('@')) {
            if !self.take(",")
                && let Ok(ident) = self.ident("a name")
            {
                found.push(ident);
            }
        }
        found
    }

    fn component(&mut self, project: &mut Project) -> Parsed<()> {
        if self.take("machine") {
            let machine = self.machine()?;
            project.machines.push(machine);
            return Ok(());
        }
        self.expect("context")
            .map_err(|d| Diagnostic::error(d.labels[0].0, "`machine` or `context` is expected here"))?;
        let context = self.context()?;
        project.contexts.push(context);
        Ok(())
    }

    fn context(&mut self) -> Parsed<Context> {
        let span = self.span();
        let name = self.ident("the name of the context")?.name;
        let extends = if self.take("extends") { self.idents() } else { Vec::new() };
        let sets = if self.take("sets") { self.idents() } else { Vec::new() };
        let constants = if self.take("constants") { self.idents() } else { Vec::new() };
        let axioms = if self.take("axioms") {
            self.formulas(&name, None, "axm", formula::predicate)?
        } else {
            Vec::new()
        };
        self.expect("end")?;
        Ok(Context { name, extends, sets, constants, axioms, span })
    }

    fn machine(&mut self) -> Parsed<Machine> {
        let span = self.span();
        let name = self.ident("the name of the machine")?.name;
        let refines = if self.take("refines") { Some(self.ident("a machine")?) } else { None };
        let sees = if self.take("sees") { self.idents() } else { Vec::new() };
        let variables = if self.take("variables") { self.idents() } else { Vec::new() };
        let invariants = if self.take("invariants") {
            self.formulas(&name, None, "inv", formula::predicate)?
        } else {
            Vec::new()
        };
        let variants = if self.take("variant") {
            self.formulas(&name, None, "vrn", formula::expression)?
        } else {
            Vec::new()
        };
        let mut events = Vec::new();
        if self.take("events") {
            while matches!(self.peek(), "event" | "ordinary" | "convergent" | "anticipated") {
                events.push(self.event(&name)?);
            }
        }
        self.expect("end")?;
        Ok(Machine { name, refines, sees, variables, invariants, variants, events, span })
    }

    fn event(&mut self, machine: &Name) -> Parsed<Event> {
        let convergence = match self.peek() {
            "convergent" => Convergence::Convergent,
            "anticipated" => Convergence::Anticipated,
            _ => Convergence::Ordinary,
        };
        if self.peek() != "event" {
            self.at += 1;
        }
        self.expect("event")?;
        let span = self.span();
        let name = self.ident("the name of the event")?.name;
        let extended = self.peek() == "extends";
        let mut refines = if extended || self.peek() == "refines" {
            self.at += 1;
            self.idents()
        } else {
            Vec::new()
        };
        if name.as_ref() == INITIALISATION {
            refines.clear();
        }
        let params = if self.take("any") { self.idents() } else { Vec::new() };
        let guards = if self.take("where") || self.take("when") {
            self.formulas(machine, Some(&name), "grd", formula::predicate)?
        } else {
            Vec::new()
        };
        let witnesses = if self.take("with") {
            self.formulas(machine, Some(&name), "wit", formula::predicate)?
        } else {
            Vec::new()
        };
        let mut actions = Vec::new();
        if self.take("then") || self.take("begin") {
            while !matches!(self.peek(), "end" | "") {
                let (label, _) = self.label("act", actions.len());
                if let Some(stmt) = self.formula_text(machine, Some(&name), &label, formula::assignment)? {
                    actions.push(Action { label, origin: machine.clone(), stmt });
                }
            }
        }
        self.expect("end")?;
        Ok(Event { name, convergence, extended, refines, params, guards, witnesses, actions, span })
    }

    /// `theorem @label`, both optional; a missing label is made up.
    fn label(&mut self, prefix: &str, number: usize) -> (Name, bool) {
        let theorem = self.take("theorem");
        match self.peek().strip_prefix('@') {
            Some(label) if !label.is_empty() => {
                let label = label.trim_end_matches(':').into();
                self.at += 1;
                (label, theorem || self.take("theorem"))
            }
            _ => (format!("{prefix}{}", number + 1).into(), theorem),
        }
    }

    fn formulas(
        &mut self,
        component: &Name,
        event: Option<&Name>,
        prefix: &str,
        parser: fn(FileId, &str) -> Parsed<Expr>,
    ) -> Parsed<Vec<Formula>> {
        let mut found: Vec<Formula> = Vec::new();
        while self.words.get(self.at).is_some_and(|w| !w.is_keyword() || w.text == "theorem") {
            let at = self.span();
            let (label, theorem) = self.label(prefix, found.len());
            if found.iter().any(|f| f.label == label) {
                let place = place_name(component, event, &label);
                self.errors.push(Diagnostic::error(at, format!("{place}: the label is used twice")));
            }
            if let Some(expr) = self.formula_text(component, event, &label, parser)? {
                found.push(Formula { label, origin: component.clone(), expr, theorem });
            }
        }
        Ok(found)
    }

    /// The text up to the next label or keyword, read by `parser`. Its own errors are kept and reading
    /// goes on; only a missing formula ends the component.
    fn formula_text<T>(
        &mut self,
        component: &Name,
        event: Option<&Name>,
        label: &Name,
        parser: fn(FileId, &str) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        let first = self.at;
        while self.words.get(self.at).is_some_and(|w| !w.is_keyword() && !w.text.starts_with('@')) {
            self.at += 1;
        }
        if self.at == first {
            return Err(Diagnostic::error(self.span(), "a formula is expected here"));
        }
        let (start, end) = (self.words[first].start, self.words[self.at - 1].end());
        let text = without_comments(&self.text[start..end]);
        let place = place_name(component, event, label);
        let whole = Span::new(self.file, start, end);
        let line = self.sources.position(whole).0;
        let file = self.sources.get(self.file).name.clone();
        let id = self.sources.add(format!("{place} ({file}, line {line})"), None, text.as_str());
        match parser(id, &text) {
            Ok(tree) => Ok(Some(tree)),
            Err(mut d) => {
                d.message = format!("{place}: {}", d.message);
                self.errors.push(d.label(whole, "in this formula"));
                Ok(None)
            }
        }
    }
}

/// The text with comments turned into blanks, so that places stay where they are.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let comment = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else {
            0
        };
        if comment > 0 {
            out.extend(std::iter::repeat_n(' ', comment));
            rest = &rest[comment..];
        } else {
            let c = rest.chars().next().unwrap_or(' ');
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}
