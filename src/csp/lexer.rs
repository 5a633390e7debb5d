//! CSP-M text to tokens.
//!
//! In: one file of a script. Out: its tokens with places, and messages about what is no token.
//! Never here: what a token means; `include` is followed by the parser.
//!
//! The longest operator wins, `--` and `{- … -}` (nested) are comments, `{-# … #-}` is a pragma.

use super::token::{Names, OPERATORS, Tok, Token, WORDS};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{FileId, Int, Span};

pub fn tokens(text: &str, file: FileId, names: &mut Names) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, file, at: 0, first: true, names, tokens: Vec::new(), faults: Vec::new() };
    lexer.run();
    let end = lexer.span(text.len());
    lexer.tokens.push(Token { tok: Tok::End, span: end, first: true });
    (lexer.tokens, lexer.faults)
}

/// A piece of a script without its comments.
pub fn without_comments(text: &str) -> String {
    let (tokens, _) = tokens(text, Span::default().file, &mut Names::default());
    let mut out = String::new();
    let mut end = 0;
    for token in tokens {
        let (from, to) = (token.span.start as usize, token.span.end as usize);
        if from > end && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&text[from..to]);
        end = to;
    }
    out.trim_end().to_string()
}

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    first: bool,
    names: &'a mut Names,
    tokens: Vec<Token>,
    faults: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at.max(start))
    }

    fn push(&mut self, start: usize, tok: Tok) {
        let span = self.span(start);
        self.tokens.push(Token { tok, span, first: self.first });
        self.first = false;
    }

    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let start = self.at;
            if c == '\n' {
                self.first = true;
                self.at += 1;
            } else if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if self.rest().starts_with("--") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("{-#") {
                self.pragma();
            } else if self.rest().starts_with("{-") {
                self.comment();
            } else if c.is_ascii_digit() {
                let len = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
                let digits = &self.rest()[..len];
                self.at += len;
                let value = Int::parse(digits, 10).unwrap_or(Int::ZERO);
                self.push(start, Tok::Int(value));
            } else if c.is_alphabetic() || c == '_' {
                self.word();
            } else if c == '"' || c == '\'' {
                self.quoted(c);
            } else {
                self.operator();
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let body = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let primes = rest[body..].bytes().take_while(|b| *b == b'\'').count();
        self.at += body + primes;
        let word = &rest[..body + primes];
        let tok = match WORDS.iter().find(|w| **w == word) {
            Some(reserved) => Tok::Op(reserved),
            None => Tok::Name(self.names.sym(word)),
        };
        self.push(start, tok);
    }

    fn pragma(&mut self) {
        let start = self.at;
        match self.rest().find("#-}") {
            Some(end) => {
                let inside = self.rest()[3..end.max(3)].trim().to_string();
                self.at += end + 3;
                let first = self.first;
                self.push(start, Tok::Pragma(inside));
                self.first = first;
            }
            None => self.comment(),
        }
    }

    fn comment(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        while self.at < self.text.len() {
            if self.rest().starts_with("{-") {
                depth += 1;
                self.at += 2;
            } else if self.rest().starts_with("-}") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += self.rest().chars().next().map_or(1, char::len_utf8);
            }
        }
        let span = Span::new(self.file, start, start + 2);
        self.faults.push(Diagnostic::error(span, "this comment is not closed").help("`-}` closes it"));
    }

    fn quoted(&mut self, quote: char) {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next().filter(|c| *c != '\n') else {
                let what = if quote == '"' { "string" } else { "character" };
                let span = Span::new(self.file, start, start + 1);
                self.faults.push(Diagnostic::error(span, format!("this {what} is not closed")));
                return;
            };
            self.at += c.len_utf8();
            if c == quote {
                break;
            }
            if c == '\\'
                && let Some(escaped) = self.rest().chars().next()
            {
                self.at += escaped.len_utf8();
                text.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                });
                continue;
            }
            text.push(c);
        }
        let mut chars = text.chars();
        match (quote, chars.next(), chars.next()) {
            ('\'', Some(c), None) => self.push(start, Tok::Char(c)),
            ('\'', ..) => {
                let span = self.span(start);
                self.faults.push(Diagnostic::error(span, "a character literal holds one character"));
            }
            _ => self.push(start, Tok::Str(text)),
        }
    }

    fn operator(&mut self) {
        let start = self.at;
        if let Some(model) = self.refinement() {
            self.at += model.len() + 2;
            self.push(start, Tok::Refines(model));
            return;
        }
        let rest = self.rest();
        let fits = |op: &&&str| {
            let after = rest[op.len()..].chars().next();
            // `(|~|` and `(|||` open a bracket before an operator, `(|` alone opens a map.
            rest.starts_with(**op) && !(**op == "(|" && matches!(after, Some('~' | '|')))
        };
        match OPERATORS.iter().filter(|op| rest.starts_with(**op)).find(|op| fits(op)) {
            Some(op) => {
                self.at += op.len();
                self.push(start, Tok::Op(op));
            }
            None => {
                let c = rest.chars().next().unwrap_or(' ');
                self.at += c.len_utf8();
                let span = self.span(start);
                self.faults.push(Diagnostic::error(span, format!("`{c}` has no meaning in CSP-M")));
            }
        }
    }

    /// The letters of `[T=`, `[FD=` and the like.
    fn refinement(&self) -> Option<String> {
        let inside = self.rest().strip_prefix('[')?;
        let len = inside.find(|c: char| !c.is_ascii_uppercase())?;
        let model = &inside[..len];
        (!model.is_empty() && inside[len..].starts_with('=') && !inside[len..].starts_with("=="))
            .then(|| model.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let mut names = Names::default();
        let (tokens, faults) = tokens(text, FileId(0), &mut names);
        assert!(faults.is_empty());
        tokens.iter().map(|t| text[t.span.start as usize..t.span.end as usize].to_string()).collect()
    }

    #[test]
    fn the_longest_operator_wins() {
        assert_eq!(shown("x<-1"), ["x", "<-", "1", ""]);
        assert_eq!(shown("P[[a<-b]]"), ["P", "[[", "a", "<-", "b", "]]", ""]);
        assert_eq!(shown("(|~| x"), ["(", "|~|", "x", ""]);
        assert_eq!(shown("A[FD=B"), ["A", "[FD=", "B", ""]);
    }

    #[test]
    fn comments_nest_and_a_minus_after_a_brace_opens_one() {
        assert_eq!(shown("{- a {- b -} c -} x' -- y"), ["x'", ""]);
        assert_eq!(shown("{-1} -} z"), ["z", ""]);
    }
}
