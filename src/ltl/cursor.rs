//! Where a parser stands among the tokens of a formula, with the limits of its size.
//!
//! In: tokens. Out: one after the other, and the faults that both logics have in common. Never here:
//! precedences.

use super::token::{Logic, Place, Tok, Token, tokens};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::span::Span;

/// Deeper formulas are refused: every later stage walks the tree recursively.
pub(super) const MAX_DEPTH: usize = 400;
const MAX_OPERATORS: usize = 2000;

pub(super) type Parse<T> = Result<T, Diagnostic>;

pub(super) struct Cursor {
    tokens: Vec<Token>,
    pub at: usize,
    /// The empty span behind the text, for what is missing there.
    pub end: Span,
    depth: usize,
    /// Binary operators so far: chains to the left deepen the tree without nesting the text.
    operators: usize,
    /// What the user should know about how the text is read.
    pub warnings: Vec<Diagnostic>,
}

impl Cursor {
    pub fn new(text: &str, place: Place, logic: Logic) -> Result<Cursor, Vec<Diagnostic>> {
        let tokens = tokens(text, place, logic)?;
        let end = Span::new(place.file, place.offset + text.len(), place.offset + text.len());
        let first = |token: &Token| text.as_bytes()[token.span.start as usize - place.offset];
        let warnings = tokens
            .iter()
            .filter(|token| matches!(token.tok, Tok::Not) && first(token) == b'!')
            .map(|token| {
                Diagnostic::warning(token.span, "`!` is read as negation")
                    .help("ProB writes `not`; `!x.` starts a quantified formula")
            })
            .collect();
        Ok(Cursor { tokens, at: 0, end, depth: 0, operators: 0, warnings })
    }

    pub fn peek(&self) -> Option<&Tok> {
        self.ahead(0)
    }

    /// The token `by` places further on.
    pub fn ahead(&self, by: usize) -> Option<&Tok> {
        self.tokens.get(self.at + by).map(|t| &t.tok)
    }

    pub fn rest(&self) -> impl Iterator<Item = &Tok> {
        self.tokens[self.at..].iter().map(|t| &t.tok)
    }

    pub fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |t| t.span)
    }

    /// Goes one level down.
    pub fn deepen(&mut self) -> Parse<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.here(), "the formula is nested too deeply")
                .note(format!("more than {MAX_DEPTH} levels")));
        }
        Ok(())
    }

    pub fn rise(&mut self) {
        self.depth -= 1;
    }

    /// Counts a binary operator.
    pub fn count(&mut self) -> Parse<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(Diagnostic::error(self.here(), "the formula has too many operators")
                .note(format!("more than {MAX_OPERATORS}")));
        }
        Ok(())
    }

    /// The parenthesis that closes the one at `open`.
    pub fn close(&mut self, open: Span) -> Parse<Span> {
        let here = self.here();
        match self.peek() {
            Some(Tok::Close) => {
                self.at += 1;
                Ok(here)
            }
            Some(Tok::Iff) => Err(second_equivalence(here)),
            _ => Err(Diagnostic::error(here, "`)` is expected here").label(open, "opened here")),
        }
    }

    /// Nothing may be left.
    pub fn finish(&self) -> Parse<()> {
        match self.peek() {
            None => Ok(()),
            Some(Tok::Close) => Err(Diagnostic::error(self.here(), "no parenthesis is open here")),
            Some(Tok::Iff) => Err(second_equivalence(self.here())),
            Some(_) => Err(Diagnostic::error(
                self.here(),
                "an operator such as `&`, `or`, `=>`, `U` is expected here",
            )),
        }
    }
}

fn second_equivalence(at: Span) -> Diagnostic {
    Diagnostic::error(at, "a second `<=>` on one level").help("`<=>` is not associative; add parentheses")
}
