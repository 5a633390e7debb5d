//! Prolog terms: the notation of ProB's `.eventb` packages.
//!
//! In: the text of a package. Out: one term per fact, each with the place where it stands.
//! Never here: what a term means; `package` reads meaning into it.
//!
//! Only the part of Prolog that exporters write is read: atoms (plain, quoted, symbolic), numbers,
//! strings, variables, lists, compound terms, comments, and infix operators on one level.

use bombus_base::diagnostic::Diagnostic;
use bombus_base::{FileId, Int, Name, Span};
use std::collections::HashMap;

/// Deeper terms are refused; the deepest package known to us nests 65 levels.
const MAX_DEPTH: usize = 500;

#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    Atom(Name),
    Int(Int),
    /// A number with a point, as written.
    Float(Name),
    Str(Name),
    /// A logical variable; packages end in one that nobody reads.
    Var(Name),
    List(Vec<Term>),
    Compound(Name, Vec<Term>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub kind: TermKind,
    pub span: Span,
}

impl Term {
    /// Functor and arguments; an atom is a functor without arguments.
    pub fn functor(&self) -> Option<(&str, &[Term])> {
        match &self.kind {
            TermKind::Atom(name) => Some((name, &[])),
            TermKind::Compound(name, args) => Some((name, args)),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Term]> {
        match &self.kind {
            TermKind::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn atom(&self) -> Option<&Name> {
        match &self.kind {
            TermKind::Atom(name) => Some(name),
            _ => None,
        }
    }

    /// What the term is, for messages: `event/9`, `a list`.
    pub fn describe(&self) -> String {
        match &self.kind {
            TermKind::Atom(name) => format!("the atom '{name}'"),
            TermKind::Int(n) => format!("the number {n}"),
            TermKind::Float(n) => format!("the number {n}"),
            TermKind::Str(_) => "a string".into(),
            TermKind::Var(name) => format!("the variable {name}"),
            TermKind::List(_) => "a list".into(),
            TermKind::Compound(name, args) => format!("{name}/{}", args.len()),
        }
    }
}

/// All facts of a text. The first error ends the reading: what follows a broken term has no meaning.
pub fn read(file: FileId, text: &str) -> Result<Vec<Term>, Diagnostic> {
    let mut reader = Reader { file, text, at: 0, depth: 0, names: HashMap::new() };
    let mut facts = Vec::new();
    loop {
        reader.skip_blank()?;
        if reader.at == text.len() {
            return Ok(facts);
        }
        facts.push(reader.term()?);
        reader.skip_blank()?;
        if !reader.end_of_fact() {
            return Err(reader.error("a fact ends with a full stop"));
        }
        reader.at += 1;
    }
}

struct Reader<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    depth: usize,
    /// Functors repeat by the ten thousand; each is kept once.
    names: HashMap<String, Name>,
}

const SYMBOLS: &str = "+-*/\\^<>=~:.?@#&$;!";

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn error(&self, message: &str) -> Diagnostic {
        let end = self.at + self.peek().map_or(0, char::len_utf8);
        Diagnostic::error(Span::new(self.file, self.at, end), message)
            .help("an .eventb package is a Prolog term written by ProB's export from Rodin; export it again")
    }

    fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Name = text.into();
        self.names.insert(text.to_string(), name.clone());
        name
    }

    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at = self.text.len() - trimmed.len();
            if trimmed.starts_with('%') {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                match trimmed.find("*/") {
                    Some(n) => self.at += n + 2,
                    None => return Err(self.error("this comment has no end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    /// A full stop followed by blank space, a comment or the end.
    fn end_of_fact(&self) -> bool {
        let mut rest = self.text[self.at..].chars();
        rest.next() == Some('.') && rest.next().is_none_or(|c| c.is_whitespace() || c == '%')
    }

    fn term(&mut self) -> Result<Term, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(&format!("terms nested deeper than {MAX_DEPTH} levels are refused")));
        }
        let mut left = self.primary()?;
        loop {
            self.skip_blank()?;
            if self.end_of_fact() || !self.peek().is_some_and(|c| SYMBOLS.contains(c)) {
                break;
            }
            let operator = self.symbol();
            self.skip_blank()?;
            let right = self.primary()?;
            let span = left.span.to(right.span);
            left = Term { kind: TermKind::Compound(operator, vec![left, right]), span };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn symbol(&mut self) -> Name {
        let start = self.at;
        self.take_while(|c| SYMBOLS.contains(c));
        let text = &self.text[start..self.at];
        self.name(text)
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !keep(c)).unwrap_or(rest.len());
    }

    fn primary(&mut self) -> Result<Term, Diagnostic> {
        self.skip_blank()?;
        let start = self.at;
        let Some(first) = self.peek() else { return Err(self.error("the text ends inside a term")) };
        let kind = match first {
            '[' => {
                self.at += 1;
                TermKind::List(self.arguments(']')?)
            }
            '(' => {
                self.at += 1;
                let inner = self.term()?;
                self.skip_blank()?;
                if self.peek() != Some(')') {
                    return Err(self.error("a closing parenthesis is missing here"));
                }
                self.at += 1;
                return Ok(inner);
            }
            '"' => TermKind::Str(self.quoted('"')?),
            '\'' => {
                let name = self.quoted('\'')?;
                self.functor_or_atom(name)?
            }
            '0'..='9' => self.number(start)?,
            '-' if self.text[self.at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.at += 1;
                self.number(start)?
            }
            c if c == '_' || c.is_uppercase() => {
                self.take_while(|c| c == '_' || c.is_alphanumeric());
                let text = &self.text[start..self.at];
                TermKind::Var(self.name(text))
            }
            c if c.is_alphabetic() => {
                self.take_while(|c| c == '_' || c.is_alphanumeric());
                let text = &self.text[start..self.at];
                let name = self.name(text);
                self.functor_or_atom(name)?
            }
            c if SYMBOLS.contains(c) && !self.end_of_fact() => {
                let name = self.symbol();
                self.functor_or_atom(name)?
            }
            _ => return Err(self.error("a term is expected here")),
        };
        Ok(Term { kind, span: Span::new(self.file, start, self.at) })
    }

    fn functor_or_atom(&mut self, name: Name) -> Result<TermKind, Diagnostic> {
        if self.peek() != Some('(') {
            return Ok(TermKind::Atom(name));
        }
        self.at += 1;
        let args = self.arguments(')')?;
        if args.is_empty() {
            return Err(self.error("a compound term has at least one argument"));
        }
        Ok(TermKind::Compound(name, args))
    }

    fn arguments(&mut self, close: char) -> Result<Vec<Term>, Diagnostic> {
        let mut args = Vec::new();
        self.skip_blank()?;
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(args);
        }
        loop {
            args.push(self.term()?);
            self.skip_blank()?;
            match self.peek() {
                Some(',') => self.at += 1,
                Some(c) if c == close => {
                    self.at += 1;
                    return Ok(args);
                }
                _ => return Err(self.error(&format!("',' or '{close}' is expected here"))),
            }
        }
    }

    fn number(&mut self, start: usize) -> Result<TermKind, Diagnostic> {
        self.take_while(|c| c.is_ascii_digit());
        let rest = &self.text[self.at..];
        if rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit() || c == 'e' || c == 'E');
            let text = &self.text[start..self.at];
            return Ok(TermKind::Float(self.name(text)));
        }
        let text = &self.text[start..self.at];
        let digits = text.strip_prefix('-').unwrap_or(text);
        let Some(value) = Int::parse(digits, 10) else {
            return Err(self.error("this number cannot be read"));
        };
        Ok(TermKind::Int(if digits.len() < text.len() { value.neg() } else { value }))
    }

    /// A quoted atom or string: doubled quotes, and the backslash escapes of Prolog, octal
    /// (`\140\`) and hexadecimal (`\x60\`) included.
    fn quoted(&mut self, quote: char) -> Result<Name, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.peek() else {
                self.at = start;
                return Err(self.error("this quotation has no end"));
            };
            self.at += c.len_utf8();
            match c {
                '\\' => {
                    if let Some(escaped) = self.escape()? {
                        out.push(escaped);
                    }
                }
                c if c == quote => {
                    if self.peek() != Some(quote) {
                        return Ok(self.name(&out));
                    }
                    self.at += 1;
                    out.push(quote);
                }
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<Option<char>, Diagnostic> {
        let Some(c) = self.peek() else { return Err(self.error("the text ends inside an escape")) };
        let radix = match c {
            '0'..='7' => 8,
            'x' => 16,
            _ => {
                self.at += c.len_utf8();
                return Ok(match c {
                    'n' => Some('\n'),
                    't' => Some('\t'),
                    'r' => Some('\r'),
                    'a' => Some('\u{7}'),
                    'b' => Some('\u{8}'),
                    'f' => Some('\u{c}'),
                    'v' => Some('\u{b}'),
                    'e' => Some('\u{1b}'),
                    '\n' => None,
                    other => Some(other),
                });
            }
        };
        if radix == 16 {
            self.at += 1;
        }
        let start = self.at;
        self.take_while(|c| c.is_digit(radix));
        let code = u32::from_str_radix(&self.text[start..self.at], radix).ok().and_then(char::from_u32);
        if self.peek() == Some('\\') {
            self.at += 1;
        }
        match code {
            Some(c) => Ok(Some(c)),
            None => Err(self.error("this escape names no character")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Term {
        read(FileId(0), text).expect("readable").remove(0)
    }

    #[test]
    fn quoted_atoms_know_octal_escapes_and_doubled_quotes() {
        assert_eq!(one(r"'\140\'.").atom().unwrap().as_ref(), "`");
        assert_eq!(one(r"'x\''.").atom().unwrap().as_ref(), "x'");
        assert_eq!(one("'it''s'.").atom().unwrap().as_ref(), "it's");
    }

    #[test]
    fn a_fact_is_a_term_and_a_full_stop() {
        let term = one("f(a,[1,-2,X],\"s\"). % the end");
        let (name, args) = term.functor().unwrap();
        assert_eq!((name, args.len()), ("f", 3));
        assert_eq!(args[1].list().unwrap()[1].kind, TermKind::Int(Int::from(-2i64)));
        assert!(read(FileId(0), "f(a)").is_err());
        assert!(read(FileId(0), "f(a").is_err());
        assert!(read(FileId(0), "f(a,)").is_err());
        assert!(read(FileId(0), "'a").is_err());
    }

    #[test]
    fn endless_nesting_is_refused() {
        let deep = "f(".repeat(100_000);
        let message = read(FileId(0), &deep).unwrap_err().message;
        assert!(message.contains("nested deeper"), "{message}");
    }
}
