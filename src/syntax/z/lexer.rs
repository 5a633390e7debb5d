//! LaTeX to tokens: which parts of a text are formal, and the tokens of each part.
//!
//! In: the text of a file. Out: the formal boxes (`zed`, `syntax`, `schema`, `axdef`, `gendef`) with their tokens, the
//! operators that directives declare, and messages. Everything else of the text is prose and is passed over.

use super::operators::Operators;
use super::token::{Tok, Token, drop_line_breaks, symbol, usual};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{FileId, Int, Name, Span};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    Zed,
    Schema,
    Axdef,
    Gendef,
}

/// One formal paragraph.
#[derive(Clone, Debug)]
pub struct FormalBox {
    pub kind: BoxKind,
    /// The name in `\begin{schema}{Name}`.
    pub name: Option<(Name, Span)>,
    /// The last token is `End`.
    pub tokens: Vec<Token>,
    pub span: Span,
}

const FORMAL: &[(&str, BoxKind)] = &[
    ("zed", BoxKind::Zed),
    ("syntax", BoxKind::Zed),
    ("schema", BoxKind::Schema),
    ("axdef", BoxKind::Axdef),
    ("gendef", BoxKind::Gendef),
];

/// Commands that only make room.
const SPACES: &[&str] = &["\\,", "\\;", "\\:", "\\!", "\\ ", "\\quad", "\\qquad", "\\M", "\\O", "\\hspace"];

pub struct Scanned {
    pub boxes: Vec<FormalBox>,
    pub operators: Operators,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn scan(file: FileId, text: &str) -> Scanned {
    let mut lexer = Lexer {
        file,
        text,
        at: 0,
        operators: Operators::default(),
        diagnostics: Vec::new(),
        unchecked: false,
        adjacent: BTreeSet::new(),
    };
    lexer.directives();
    let boxes = lexer.boxes();
    Scanned { boxes, operators: lexer.operators, diagnostics: lexer.diagnostics }
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    at: usize,
    operators: Operators,
    diagnostics: Vec<Diagnostic>,
    /// The next box is to be skipped.
    unchecked: bool,
    adjacent: BTreeSet<usize>,
}

impl<'t> Lexer<'t> {
    fn span(&self, from: usize) -> Span {
        Span::new(self.file, from, self.at.max(from))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// Reads all lines `%%word …`: operators are known before the first box is read.
    fn directives(&mut self) {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let directive =
                line.strip_prefix("%%").filter(|l| l.starts_with(|c: char| c.is_ascii_alphabetic()));
            if let Some(directive) = directive {
                let span = Span::new(self.file, start, start + line.trim_end().len());
                match self.operators.directive(directive) {
                    Ok(true) => {}
                    Ok(false) => {
                        let word: String = directive.chars().take_while(char::is_ascii_alphabetic).collect();
                        let text =
                            format!("`%%{word}` is no directive that is known here; the line is ignored");
                        self.diagnostics.push(Diagnostic::warning(span, text));
                    }
                    Err(message) => self.error(span, message),
                }
            }
            start += line.len();
        }
    }

    /// Passes a comment, a directive, or the `%%` that hides a line from LaTeX alone.
    fn comment(&mut self) -> bool {
        if !self.rest().starts_with('%') {
            return false;
        }
        let line_start = self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n';
        if line_start && self.rest().starts_with("%%") {
            let behind = &self.rest()[2..];
            if !behind.starts_with(|c: char| c.is_ascii_alphabetic()) {
                self.at += 2;
                return true;
            }
            self.unchecked |= behind.starts_with("unchecked");
        }
        self.at = self.rest().find('\n').map_or(self.text.len(), |n| self.at + n);
        true
    }

    /// The name in `\begin{name}`, if the text goes on with `command{`.
    fn environment(&self, command: &str) -> Option<(&'t str, usize)> {
        let inner = self.rest().strip_prefix(command)?.trim_start().strip_prefix('{')?;
        let name = &inner[..inner.find('}')?];
        let end = self.text.len() - inner.len() + name.len() + 1;
        (name.len() <= 40 && !name.contains('\n')).then_some((name, end))
    }

    fn boxes(&mut self) -> Vec<FormalBox> {
        let mut boxes = Vec::new();
        while self.at < self.text.len() {
            if self.comment() {
                continue;
            }
            let from = self.at;
            if let Some((name, end)) = self.environment("\\begin") {
                self.at = end;
                let begin = self.span(from);
                match FORMAL.iter().find(|(n, _)| *n == name) {
                    Some((_, kind)) => {
                        let skip = std::mem::take(&mut self.unchecked);
                        let found = self.formal(name, *kind, begin);
                        boxes.extend(found.filter(|_| !skip));
                    }
                    None => self.suspicious(name, begin),
                }
            } else if let Some((name, end)) = self.environment("\\end") {
                self.at = end;
                if FORMAL.iter().any(|(n, _)| *n == name) {
                    let text = format!("`\\end{{{name}}}` without `\\begin{{{name}}}`");
                    self.error(self.span(from), text);
                }
            } else {
                let mut chars = self.rest().chars();
                let first = chars.next().map_or(0, char::len_utf8);
                // `\%` and `\\` are no comment and no command.
                let second = if self.rest().starts_with('\\') && !self.rest().starts_with("\\b") {
                    chars.next().filter(|c| !c.is_ascii_alphabetic()).map_or(0, char::len_utf8)
                } else {
                    0
                };
                self.at += first + second;
            }
        }
        boxes
    }

    /// An environment that is prose to fuzz, but was surely meant to be formal.
    fn suspicious(&mut self, name: &str, begin: Span) {
        /// How much of an environment is looked at.
        const LOOK: usize = 20_000;
        /// Signs that stand in formal text alone, and environments that quote any text.
        const SIGNS: &[&str] = &["\\where", "\\defs", "::="];
        const QUOTING: &[&str] = &["verbatim", "verbatim*", "lstlisting", "comment", "alltt"];
        if QUOTING.contains(&name) {
            return;
        }
        let end = format!("\\end{{{name}}}");
        let rest: String = self.rest().chars().take(LOOK).collect();
        let body = rest.split(end.as_str()).next().unwrap_or("");
        let formal = |text: &str| {
            let mut code = text.lines().filter_map(|line| line.split('%').next());
            code.any(|code| SIGNS.iter().any(|sign| code.contains(sign)))
        };
        let whole = rest.contains(&end);
        let nested = body.contains("\\begin{");
        let near = FORMAL.iter().find(|(n, _)| near(n, name)).map(|(n, _)| *n);
        if near.is_none() && !(whole && !nested && formal(body)) {
            return;
        }
        let mut d = Diagnostic::error(begin, format!("unknown environment `{name}`"));
        d = match near {
            Some(known) => d.help(format!("did you mean `{known}`?")),
            None => d.help("formal text stands in `zed`, `syntax`, `schema`, `axdef` or `gendef`"),
        };
        self.diagnostics.push(d);
    }

    /// The box after its `\begin{…}`; none if it has no end.
    fn formal(&mut self, environment: &str, kind: BoxKind, begin: Span) -> Option<FormalBox> {
        let mut name = None;
        let mut tokens = Vec::new();
        if kind == BoxKind::Schema {
            let from = self.at;
            match self.environment("") {
                Some((inner, end)) => {
                    let start = end - 1 - inner.len();
                    // Formal parameters stand inside of the braces or behind them.
                    let bare = inner.split('[').next().unwrap_or("");
                    let words: Vec<&str> = bare.split_whitespace().collect();
                    let plain = words.join(" ").replace("\\_", "_");
                    let at = Span::new(self.file, start, start + bare.len());
                    if plain.is_empty() {
                        self.error(at, "the name of the schema is missing: `\\begin{schema}{Name}`");
                    }
                    name = Some((plain.into(), at));
                    self.at = start + bare.len();
                    while self.at < end - 1 {
                        self.token(&mut tokens);
                    }
                    self.at = end;
                }
                None => {
                    self.error(self.span(from), "the name of the schema is missing: `\\begin{schema}{Name}`")
                }
            }
        }
        let mut closed = false;
        while self.at < self.text.len() {
            let from = self.at;
            if let Some((inner, end)) = self.environment("\\end") {
                closed = true;
                self.at = end;
                if inner != environment {
                    let text = format!("`\\begin{{{environment}}}` is closed by `\\end{{{inner}}}`");
                    self.diagnostics
                        .push(Diagnostic::error(self.span(from), text).label(begin, "opened here"));
                }
                tokens.push(Token { tok: Tok::End, span: Span::new(self.file, from, end) });
                break;
            }
            if let Some((inner, _)) = self.environment("\\begin") {
                closed = true;
                let text = format!("`\\begin{{{inner}}}` inside of `{environment}`, which is not closed");
                let span = Span::new(self.file, from, from + 6);
                self.diagnostics.push(Diagnostic::error(span, text).label(begin, "opened here"));
                tokens.push(Token { tok: Tok::End, span });
                break;
            }
            self.token(&mut tokens);
        }
        if !closed {
            self.error(begin, format!("`\\begin{{{environment}}}` is never closed"));
            return None;
        }
        let span = begin.to(self.span(self.at));
        let tokens = drop_line_breaks(tokens, &self.operators);
        Some(FormalBox { kind, name, tokens, span })
    }

    /// Reads what comes next inside of a box.
    fn token(&mut self, out: &mut Vec<Token>) {
        if self.comment() {
            return;
        }
        let from = self.at;
        let Some(c) = self.rest().chars().next() else { return };
        if c.is_whitespace() || matches!(c, '~' | '&' | '"') {
            self.at += c.len_utf8();
            return;
        }
        let tok = match c {
            '\\' => self.command(),
            '{' if self.rest()[1..].trim_start().starts_with('}') => {
                self.at += self.rest().find('}').map_or(1, |n| n + 1);
                None
            }
            '+' | '-' | '*' | '.' | '=' | '<' | '>' => Some(self.run()),
            ':' if self.rest().starts_with("::=") => {
                self.at += 3;
                Some(Tok::Sym("::="))
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':' | '|' | '@' | '/' | '^' => {
                self.at += 1;
                // A comma before the end of a line of the box is punctuation of the prose.
                if c == ',' && self.ends_part() { None } else { symbol(&c.to_string()).map(Tok::Sym) }
            }
            '\'' | '?' | '!' => {
                let decor = self.decoration();
                let closing = matches!(out.last(), Some(t) if matches!(t.tok, Tok::Sym(")" | "]")));
                if closing {
                    Some(Tok::Decor(decor))
                } else {
                    self.error(self.span(from), format!("the decoration `{decor}` decorates no name"));
                    None
                }
            }
            c if c.is_ascii_digit() => {
                let digits =
                    self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
                self.at += digits;
                Int::parse(&self.text[from..self.at], 10).map(Tok::Number)
            }
            c if c.is_ascii_alphabetic() => Some(self.word()),
            c => {
                self.at += c.len_utf8();
                self.error(self.span(from), format!("the character `{c}` has no meaning in Z"));
                None
            }
        };
        if let Some(tok) = tok {
            self.check_adjacent(from, &tok, out);
            out.push(Token { tok, span: self.span(from) });
        }
    }

    /// TeX sets `f x` without a gap: fuzz asks for `f~x`.
    fn check_adjacent(&mut self, from: usize, tok: &Tok, out: &[Token]) {
        let plain =
            |t: &Tok| matches!(t, Tok::Word(base, _) if base.starts_with(|c: char| c.is_ascii_alphabetic()));
        let Some(last) = out.last() else { return };
        let gap = &self.text[last.span.end as usize..from];
        let blank = !gap.is_empty() && gap.chars().all(|c| c == ' ' || c == '\t');
        if blank && plain(tok) && plain(&last.tok) && self.adjacent.insert(from) {
            let text = "two names side by side are set without a gap by TeX";
            let d = Diagnostic::warning(last.span.to(self.span(from)), text);
            self.diagnostics.push(d.help("write `f~x` for the application of `f` to `x`"));
        }
    }

    /// Whether `\end` or `\also` follows.
    fn ends_part(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with("\\end") || rest.starts_with("\\also")
    }

    fn run(&mut self) -> Tok {
        let word = self.operators.leading_run(self.rest());
        self.at += word.len();
        if word == "." && self.ends_part() {
            return Tok::NewLine;
        }
        match symbol(word) {
            Some(s) => Tok::Sym(s),
            None => Tok::Word(word.into(), self.decoration()),
        }
    }

    fn word(&mut self) -> Tok {
        let from = self.at;
        while let Some(c) = self.rest().chars().next() {
            if c.is_ascii_alphanumeric() {
                self.at += 1;
            } else if self.rest().starts_with("\\_") {
                self.at += 2;
            } else {
                break;
            }
        }
        let base = self.text[from..self.at].replace("\\_", "_");
        let decor = self.decoration();
        Tok::Word(base.into(), decor)
    }

    /// A run of `'`, `?`, `!` and subscripts of one digit.
    fn decoration(&mut self) -> Name {
        let from = self.at;
        loop {
            let rest = self.rest().as_bytes();
            match rest {
                [b'\'' | b'?' | b'!', ..] => self.at += 1,
                [b'_', d, ..] if d.is_ascii_digit() => self.at += 2,
                [b'_', b'{', d, b'}', ..] if d.is_ascii_digit() => self.at += 4,
                _ => break,
            }
        }
        self.text[from..self.at].replace(['{', '}'], "").into()
    }

    fn command(&mut self) -> Option<Tok> {
        let from = self.at;
        let rest = self.rest();
        let letters = rest[1..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - 1);
        let length =
            if letters > 0 { letters + 1 } else { 1 + rest[1..].chars().next().map_or(0, char::len_utf8) };
        let word = &rest[..length];
        self.at += length;
        if word == "\\\\" || word == "\\also" {
            return Some(Tok::NewLine);
        }
        if word == "\\t" {
            self.tabulator();
            return None;
        }
        if SPACES.contains(&word) || self.operators.ignored.contains(word) {
            return None;
        }
        if word == "\\exists" && self.rest().starts_with("_1") {
            self.at += 2;
            return Some(Tok::Sym("\\exists_1"));
        }
        let word = usual(word);
        if let Some(s) = symbol(word) {
            return Some(Tok::Sym(s));
        }
        if !word[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '#') {
            self.error(self.span(from), format!("`{word}` has no meaning in Z"));
            return None;
        }
        let decor = self.decoration();
        Some(Tok::Word(word.into(), decor))
    }

    /// `\t1`, `\t{12}`
    fn tabulator(&mut self) {
        let rest = self.rest();
        let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if let Some(inner) = rest.strip_prefix('{') {
            let n = digits(inner);
            if inner[n..].starts_with('}') {
                self.at += n + 2;
            }
        } else {
            self.at += digits(rest).min(1);
        }
    }
}

/// Whether two names differ by one letter, or by two letters of a long name.
fn near(known: &str, other: &str) -> bool {
    if other.ends_with('*') || known == other {
        return false;
    }
    let allowed = if known.len() > 4 { 2 } else { 1 };
    bombus_base::text::distance(known, other) <= allowed
}
