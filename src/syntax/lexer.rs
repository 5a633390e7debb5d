//! Text to tokens, by maximal munch.
//!
//! In: a text. Out: its tokens, closed by `Eof`, and messages about what is none.
//! Never here: the meaning of a token by its place. An invalid character is reported and left out,
//! and reading goes on behind it.

use super::builtins::contextual_function;
use super::token::{Tok, Token, keyword, letter, name_length, symbol};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{FileId, Span};

/// A binary file would give a message per byte; nobody reads more than these.
const MAX_MESSAGES: usize = 40;

pub struct Lexed {
    pub tokens: Vec<Token>,
    /// Indices of names that are contextual functions, not back-quoted.
    pub contextual: Vec<usize>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the tokens of `text[from..to]`; both ends are character boundaries. Spans count from the start of `text`.
pub fn lex(file: FileId, text: &str, from: usize, to: usize) -> Lexed {
    let mut lexer = Lexer {
        file,
        text: &text[..to],
        at: from,
        tokens: Vec::new(),
        contextual: Vec::new(),
        diagnostics: Vec::new(),
    };
    if from == 0 {
        lexer.file_start();
    }
    while lexer.at < to && lexer.diagnostics.len() < MAX_MESSAGES {
        lexer.token();
    }
    let end = to as u32;
    lexer.tokens.push(Token { tok: Tok::Eof, start: end, end });
    Lexed { tokens: lexer.tokens, contextual: lexer.contextual, diagnostics: lexer.diagnostics }
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    contextual: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, tok: Tok, length: usize) {
        let start = self.at as u32;
        self.at += length;
        self.tokens.push(Token { tok, start, end: self.at as u32 });
    }

    fn error(&mut self, length: usize, message: impl Into<String>) -> &mut Diagnostic {
        let span = Span::new(self.file, self.at, self.at + length);
        self.diagnostics.push(Diagnostic::error(span, message));
        self.diagnostics.last_mut().expect("just pushed")
    }

    /// A byte order mark and a `#!` line may open a file.
    fn file_start(&mut self) {
        if self.rest().starts_with('\u{FEFF}') {
            self.at += '\u{FEFF}'.len_utf8();
        }
        if self.rest().starts_with("#!") {
            self.line_comment();
        }
    }

    fn token(&mut self) {
        match self.byte(0) {
            b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
            b'a'..=b'z' | b'A'..=b'Z' => self.name(),
            b'0'..=b'9' => self.number(),
            b'/' if self.byte(1) == b'/' => self.line_comment(),
            b'/' if self.byte(1) == b'*' => self.block_comment(),
            b'"' => self.string(),
            b'\'' if self.rest().starts_with("'''") => self.long_string("'''", Tok::MultiStr),
            b'`' if self.rest().starts_with("```") => self.long_string("```", Tok::Template),
            b'`' => self.quoted_name(),
            b'@' => self.at_word(),
            b'$' if self.byte(1) == b'0' && !self.byte(2).is_ascii_digit() => self.push(Tok::Old, 2),
            byte if byte.is_ascii() => self.symbol(),
            _ => self.beyond_ascii(),
        }
    }

    fn name(&mut self) {
        let length = name_length(self.rest());
        let word = &self.rest()[..length];
        let tok = keyword(word).unwrap_or(Tok::Ident);
        if tok == Tok::Ident && contextual_function(word).is_some() {
            self.contextual.push(self.tokens.len());
        }
        self.push(tok, length);
    }

    fn number(&mut self) {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        if bytes[0] == b'0' && bytes.get(1) == Some(&b'x') {
            let hex = bytes[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
            if hex > 0 {
                return self.push(Tok::Int, 2 + hex);
            }
        }
        let whole = digits(0);
        if bytes.get(whole) != Some(&b'.') || digits(whole + 1) == 0 {
            return self.push(Tok::Int, whole);
        }
        let mut length = whole + 1 + digits(whole + 1);
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits((length + 1 + sign).min(bytes.len()));
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        self.push(Tok::Real, length);
    }

    fn line_comment(&mut self) {
        let length = self.rest().find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(self.rest().len());
        self.at += length;
    }

    fn block_comment(&mut self) {
        let Some(close) = self.rest()[2..].find("*/") else {
            let length = self.rest().len();
            self.error(2, "this comment is not closed").help.push("close it with `*/`".into());
            self.at += length;
            return;
        };
        let inner = &self.rest()[2..2 + close];
        let length = close + 4;
        let pragma = inner.strip_prefix('@').map(str::trim_start).unwrap_or("");
        let word = pragma.split(|c: char| c.is_whitespace() || c == '"').next().unwrap_or("");
        let tok = match word {
            "symbolic" => Tok::Symbolic,
            "label" => Tok::Label,
            "file" => Tok::File,
            "package" | "import-package" => Tok::Package,
            // Descriptions and unknown pragmas are comments.
            _ => {
                self.at += length;
                return;
            }
        };
        if tok != Tok::Symbolic && pragma[word.len()..].trim().is_empty() {
            self.error(length, format!("the pragma `@{word}` lacks its argument"));
            self.at += length;
            return;
        }
        self.push(tok, length);
    }

    /// A string ends on its line; a back-slash hides the next character.
    fn string(&mut self) {
        let mut hidden = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' | '\r' => break,
                _ if hidden => hidden = false,
                '\\' => hidden = true,
                '"' => return self.push(Tok::Str, at + 1),
                _ => {}
            }
        }
        let length = self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        self.error(length, "this string is not closed on its line")
            .help
            .push("a string over several lines is written between `'''` and `'''`".into());
        // A token keeps the parser from a second message at the same place.
        self.push(Tok::Str, length);
    }

    fn long_string(&mut self, fence: &str, tok: Tok) {
        let bytes = self.rest().as_bytes();
        let mut at = 3;
        while at < bytes.len() {
            if bytes[at] == b'\\' {
                at += 2;
            } else if bytes[at..].starts_with(fence.as_bytes()) {
                return self.push(tok, at + 3);
            } else {
                at += 1;
            }
        }
        let length = bytes.len();
        self.error(3, format!("this string is not closed by `{fence}`"));
        self.at += length;
    }

    fn quoted_name(&mut self) {
        let mut hidden = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' | '\r' => break,
                _ if hidden => hidden = false,
                '\\' => hidden = true,
                '`' => {
                    let inner = &self.rest()[1..at];
                    if inner.is_empty() {
                        self.error(2, "the name between the back-quotes is empty");
                    } else if inner.contains('.') {
                        self.error(at + 1, "a name between back-quotes may not hold a dot")
                            .help
                            .push("quote each component: `a`.`b`".into());
                    }
                    return self.push(Tok::Ident, at + 1);
                }
                _ => {}
            }
        }
        let length = self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        self.error(length, "this back-quoted name is not closed on its line");
        self.push(Tok::Ident, length);
    }

    fn at_word(&mut self) {
        let length = 1 + name_length(&self.rest()[1..]);
        let tok = match &self.rest()[..length] {
            "@finite" => Tok::AtFinite,
            "@partition" => Tok::AtPartition,
            "@prj1" => Tok::AtPrj1,
            "@prj2" => Tok::AtPrj2,
            word => {
                let message = format!("`{word}` is no word of B");
                self.error(length, message);
                self.at += length;
                return;
            }
        };
        self.push(tok, length);
    }

    fn symbol(&mut self) {
        if self.rest().starts_with(":∈") {
            return self.push(Tok::BecomesIn, ":∈".len());
        }
        // Longer symbols consist of these alone; most symbols are one bracket or comma.
        let joins = |b: &u8| b"<>-+=|/\\*.:".contains(b);
        let run = self.rest().bytes().take(5).take_while(|b| joins(b)).count();
        for length in (1..=run.max(1)).rev() {
            if let Some(tok) = symbol(&self.rest()[..length]) {
                if tok == Tok::SetMinus {
                    return self.backslash();
                }
                return self.push(tok, length);
            }
        }
        let c = self.rest().chars().next().unwrap_or('\0');
        let message = match c {
            '\0' => "the text holds a NUL character".to_owned(),
            '_' => "a name may not begin with `_`".to_owned(),
            c if c.is_control() => format!("the control character U+{:04X} is not allowed here", c as u32),
            c => format!("the character `{c}` has no meaning here"),
        };
        let length = self.run_of(c);
        self.error(length, message);
        self.at += length;
    }

    /// The length of a run of one character; it gets one message.
    fn run_of(&self, c: char) -> usize {
        self.rest().len() - self.rest().trim_start_matches(c).len()
    }

    /// `\=` and `\:` are habits of other languages; the parser goes on as if the right symbol stood there.
    fn backslash(&mut self) {
        let (tok, wrong, right) = match self.byte(1) {
            b'=' => (Tok::NotEqual, "\\=", "/="),
            b':' => (Tok::NotIn, "\\:", "/:"),
            _ => return self.push(Tok::SetMinus, 1),
        };
        self.error(2, format!("`{wrong}` is no operator of B")).help.push(format!("write `{right}`"));
        self.push(tok, 2);
    }

    fn beyond_ascii(&mut self) {
        let Some(c) = self.rest().chars().next() else { return };
        let length = c.len_utf8();
        if matches!(c, '\u{A0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}') {
            self.at += length;
            return;
        }
        if self.rest().starts_with("⁻¹") {
            return self.push(Tok::Inverse, "⁻¹".len());
        }
        if let Some(tok) = letter(c) {
            return self.push(tok, length);
        }
        if name_length(self.rest()) > 0 {
            return self.name();
        }
        let instead = match c {
            '⋀' => Some("∧ or `&`"),
            '⋁' => Some("∨ or `or`"),
            '∄' => Some("`not(#x.(…))`"),
            '⇐' => Some("⇒ or `=>` with the sides exchanged"),
            '∊' => Some("∈ or `:`"),
            '∍' => Some("∋"),
            '⌢' => Some("⌒ (U+2312) or `^`"),
            '“' | '”' | '„' => Some("the plain quotation mark `\"`"),
            _ => None,
        };
        let length = self.run_of(c);
        let diagnostic =
            self.error(length, format!("the character `{c}` (U+{:04X}) has no meaning here", c as u32));
        if let Some(instead) = instead {
            diagnostic.help.push(format!("write {instead}"));
        }
        self.at += length;
    }
}

/// The content of a string, back-quoted name or text of a template, escapes resolved.
/// An unknown escape keeps both characters. `also` are further characters that may be escaped.
pub fn unescape(raw: &str, also: &[char]) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
                Some(c @ ('"' | '\'' | '\\')) => out.push(c),
                Some(c) if also.contains(&c) => out.push(c),
                Some(c) => out.extend(['\\', c]),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}
