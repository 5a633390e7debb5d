//! From the text of a CTL formula to its tree, with ProB's precedences.
//!
//! In: text and its place in a file. Out: a formula and warnings, or faults with their spans. Never
//! here: whether an operation exists.
//!
//! From loose to tight: `=>` (to the left) < `&`, `or` (one level, to the left) < `E f U g` and
//! `A f U g` < prefix. ProB has no `A f U g`; it is added here.

use super::cursor::{Cursor, Parse};
use super::formula::{Atom, Pattern};
use super::token::{Logic, Place, Tok};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::span::Span;
use std::fmt;

#[derive(Clone, Debug)]
pub struct Ctl {
    pub span: Span,
    pub kind: CtlKind,
}

#[derive(Clone, Debug)]
pub enum CtlKind {
    Constant(bool),
    Atom(Atom),
    Not(Box<Ctl>),
    And(Box<Ctl>, Box<Ctl>),
    Or(Box<Ctl>, Box<Ctl>),
    Implies(Box<Ctl>, Box<Ctl>),
    /// On some path, or on all paths.
    Path(Quantifier, Temporal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    Exists,
    All,
}

#[derive(Clone, Debug)]
pub enum Temporal {
    /// A successor; with a pattern (only `EX[op]`) one by that operation.
    Next(Option<Pattern>, Box<Ctl>),
    Finally(Box<Ctl>),
    Globally(Box<Ctl>),
    Until(Box<Ctl>, Box<Ctl>),
}

/// A parsed formula and what the user should know about how it was read.
#[derive(Clone, Debug)]
pub struct ParsedCtl {
    pub formula: Ctl,
    pub warnings: Vec<Diagnostic>,
}

/// Parses the CTL formula `text` that stands at `place`.
pub fn parse_ctl(text: &str, place: Place) -> Result<ParsedCtl, Vec<Diagnostic>> {
    let mut parser = Parser { cursor: Cursor::new(text, place, Logic::Ctl)? };
    let parsed = parser.implication().and_then(|f| parser.cursor.finish().map(|()| f));
    let formula = parsed.map_err(|fault| vec![fault])?;
    Ok(ParsedCtl { formula, warnings: parser.cursor.warnings })
}

struct Parser {
    cursor: Cursor,
}

impl Parser {
    fn peek(&self) -> Option<&Tok> {
        self.cursor.peek()
    }

    fn here(&self) -> Span {
        self.cursor.here()
    }

    fn implication(&mut self) -> Parse<Ctl> {
        let mut left = self.junction()?;
        while matches!(self.peek(), Some(Tok::Implies)) {
            self.cursor.at += 1;
            self.cursor.count()?;
            let right = self.junction()?;
            left = Ctl {
                span: left.span.to(right.span),
                kind: CtlKind::Implies(Box::new(left), Box::new(right)),
            };
        }
        Ok(left)
    }

    fn junction(&mut self) -> Parse<Ctl> {
        let mut left = self.until()?;
        loop {
            let conjunction = match self.peek() {
                Some(Tok::And) => true,
                Some(Tok::Or) => false,
                _ => return Ok(left),
            };
            self.cursor.at += 1;
            self.cursor.count()?;
            let right = self.until()?;
            let span = left.span.to(right.span);
            let (left_box, right_box) = (Box::new(left), Box::new(right));
            let kind = if conjunction {
                CtlKind::And(left_box, right_box)
            } else {
                CtlKind::Or(left_box, right_box)
            };
            left = Ctl { span, kind };
        }
    }

    fn quantifier(&self) -> Option<Quantifier> {
        match self.peek() {
            Some(Tok::Some) => Some(Quantifier::Exists),
            Some(Tok::All) => Some(Quantifier::All),
            _ => None,
        }
    }

    fn is_until(&self) -> bool {
        let then = self.cursor.ahead(1);
        self.quantifier().is_some() && !matches!(then, Some(Tok::Next | Tok::Finally | Tok::Globally))
    }

    fn until(&mut self) -> Parse<Ctl> {
        let Some(quantifier) = self.quantifier().filter(|_| self.is_until()) else { return self.prefix() };
        let start = self.here();
        self.cursor.at += 1;
        self.cursor.deepen()?;
        let f = self.until()?;
        self.cursor.rise();
        if !matches!(self.peek(), Some(Tok::Until)) {
            return Err(
                Diagnostic::error(self.here(), "`U` is expected here").label(start, "for this quantifier")
            );
        }
        self.cursor.at += 1;
        let g = self.prefix()?;
        let span = start.to(g.span);
        Ok(Ctl { span, kind: CtlKind::Path(quantifier, Temporal::Until(Box::new(f), Box::new(g))) })
    }

    fn prefix(&mut self) -> Parse<Ctl> {
        self.cursor.deepen()?;
        let formula = self.prefix_inner()?;
        self.cursor.rise();
        Ok(formula)
    }

    fn prefix_inner(&mut self) -> Parse<Ctl> {
        let span = self.here();
        if let Some(quantifier) = self.quantifier() {
            if self.is_until() {
                return Err(Diagnostic::error(span, "an until needs parentheses here")
                    .help("write for instance `E {p} U (E {q} U {r})`"));
            }
            self.cursor.at += 1;
            return self.temporal(quantifier, span);
        }
        let Some(tok) = self.peek().cloned() else {
            return Err(Diagnostic::error(self.cursor.end, "a formula is expected here"));
        };
        self.cursor.at += 1;
        let kind = match tok {
            Tok::Not => {
                let f = self.prefix()?;
                return Ok(Ctl { span: span.to(f.span), kind: CtlKind::Not(Box::new(f)) });
            }
            Tok::Open => {
                let inner = self.implication()?;
                let close = self.cursor.close(span)?;
                return Ok(Ctl { span: span.to(close), kind: inner.kind });
            }
            Tok::True => CtlKind::Constant(true),
            Tok::False => CtlKind::Constant(false),
            // `[op]` alone says that op is possible.
            Tok::Atom(Atom::Executed(pattern)) => CtlKind::Atom(Atom::Enabled(pattern)),
            Tok::Atom(atom) => CtlKind::Atom(atom),
            Tok::Globally | Tok::Finally | Tok::Next | Tok::Until => {
                return Err(Diagnostic::error(span, "a path quantifier is missing")
                    .help("CTL operators come in pairs: AG, EF, AX, E f U g"));
            }
            _ => return Err(Diagnostic::error(span, "a formula is expected here")),
        };
        Ok(Ctl { span, kind })
    }

    /// Behind `E` or `A`, at X, F or G.
    fn temporal(&mut self, quantifier: Quantifier, start: Span) -> Parse<Ctl> {
        let operator = self.peek().cloned();
        self.cursor.at += 1;
        let temporal = match operator {
            Some(Tok::Finally) => Temporal::Finally(Box::new(self.prefix()?)),
            Some(Tok::Globally) => Temporal::Globally(Box::new(self.prefix()?)),
            _ => {
                let pattern = match self.peek() {
                    Some(Tok::Atom(Atom::Executed(pattern)))
                        if quantifier == Quantifier::Exists && self.starts_formula(1) =>
                    {
                        Some(pattern.clone())
                    }
                    _ => None,
                };
                self.cursor.at += usize::from(pattern.is_some());
                Temporal::Next(pattern, Box::new(self.prefix()?))
            }
        };
        let last = match &temporal {
            Temporal::Next(_, f) | Temporal::Finally(f) | Temporal::Globally(f) | Temporal::Until(_, f) => {
                f.span
            }
        };
        Ok(Ctl { span: start.to(last), kind: CtlKind::Path(quantifier, temporal) })
    }

    fn starts_formula(&self, ahead: usize) -> bool {
        let starts = |tok: &Tok| {
            matches!(tok, Tok::Open | Tok::True | Tok::False | Tok::Not | Tok::Atom(_) | Tok::Some | Tok::All)
        };
        self.cursor.ahead(ahead).is_some_and(starts)
    }
}

impl fmt::Display for Ctl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            CtlKind::Constant(value) => write!(out, "{value}"),
            CtlKind::Atom(atom) => write!(out, "{atom}"),
            CtlKind::Not(f) => write!(out, "not {f}"),
            CtlKind::And(f, g) => write!(out, "({f} & {g})"),
            CtlKind::Or(f, g) => write!(out, "({f} or {g})"),
            CtlKind::Implies(f, g) => write!(out, "({f} => {g})"),
            CtlKind::Path(quantifier, temporal) => {
                let q = if *quantifier == Quantifier::Exists { "E" } else { "A" };
                match temporal {
                    Temporal::Next(None, f) => write!(out, "{q}X {f}"),
                    Temporal::Next(Some(pattern), f) => write!(out, "{q}X[{pattern}] {f}"),
                    Temporal::Finally(f) => write!(out, "{q}F {f}"),
                    Temporal::Globally(f) => write!(out, "{q}G {f}"),
                    Temporal::Until(f, g) => write!(out, "{q} ({f} U {g})"),
                }
            }
        }
    }
}
