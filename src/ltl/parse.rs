//! From the text of an LTL formula to its tree, with ProB's precedences.
//!
//! In: text and its place in a file. Out: a formula and warnings, or every fault found with its span.
//! Never here: whether an operation or a variable exists; that needs the model.
//!
//! From loose to tight: `fairness =>` (top level or in parentheses) < `<=>` (not associative) < `=>`
//! (to the left) < `&`, `or` (one level, to the left) < `U W R S T` (one level, to the left) < prefix.

use super::formula::{Atom, Binary, Fairness, Formula, Kind, Unary};
use super::token::{Logic, Place, Tok, Token, tokens};
use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;

/// A parsed formula and what the user should know about how it was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub formula: Formula,
    pub warnings: Vec<Diagnostic>,
}

/// Deeper formulas are refused: every later stage walks the tree recursively.
pub(super) const MAX_DEPTH: usize = 400;
pub(super) const MAX_OPERATORS: usize = 2000;

/// Parses the LTL formula `text` that stands at `place`.
pub fn parse_ltl(text: &str, place: Place) -> Result<Parsed, Vec<Diagnostic>> {
    let tokens = tokens(text, place, Logic::Ltl)?;
    let end = Span::new(place.file, place.offset + text.len(), place.offset + text.len());
    let mut parser = Parser { tokens, at: 0, end, depth: 0, operators: 0, warnings: Vec::new() };
    for token in &parser.tokens {
        if matches!(token.tok, Tok::Not) && text.as_bytes()[token.span.start as usize - place.offset] == b'!'
        {
            parser.warnings.push(
                Diagnostic::warning(token.span, "`!` is read as negation")
                    .help("ProB writes `not`; `!x.` starts a quantified formula"),
            );
        }
    }
    let formula = parser.formula().and_then(|f| parser.finish(f)).map_err(|fault| vec![fault])?;
    Ok(Parsed { formula, warnings: parser.warnings })
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// The empty span behind the text, for what is missing there.
    end: Span,
    depth: usize,
    /// Binary operators so far: chains to the left deepen the tree without nesting the text.
    operators: usize,
    warnings: Vec<Diagnostic>,
}

type Result1<T> = Result<T, Diagnostic>;

impl Parser {
    fn peek(&self) -> Option<&Tok> {
        self.tokens.get(self.at).map(|t| &t.tok)
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |t| t.span)
    }

    fn finish(&mut self, formula: Formula) -> Result1<Formula> {
        match self.peek() {
            None => Ok(formula),
            Some(Tok::Close) => Err(Diagnostic::error(self.here(), "no parenthesis is open here")),
            Some(Tok::Iff) => Err(Diagnostic::error(self.here(), "a second `<=>` on one level")
                .help("`<=>` is not associative; add parentheses")),
            Some(_) => Err(Diagnostic::error(
                self.here(),
                "an operator such as `&`, `or`, `=>`, `U` is expected here",
            )),
        }
    }

    /// The outermost level, also that of parentheses.
    fn formula(&mut self) -> Result1<Formula> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.here(), "the formula is nested too deeply")
                .note(format!("more than {MAX_DEPTH} levels")));
        }
        let formula = match self.fairness_implication()? {
            Some(fair) => fair,
            None => self.iff()?,
        };
        self.depth -= 1;
        Ok(formula)
    }

    fn iff(&mut self) -> Result1<Formula> {
        let left = self.implication()?;
        if !matches!(self.peek(), Some(Tok::Iff)) {
            return Ok(left);
        }
        self.at += 1;
        let right = self.implication()?;
        self.binary(Binary::Iff, left, right)
    }

    fn implication(&mut self) -> Result1<Formula> {
        self.chain(Parser::junction, |tok| matches!(tok, Tok::Implies).then_some(Binary::Implies))
    }

    fn junction(&mut self) -> Result1<Formula> {
        self.chain(Parser::until, |tok| match tok {
            Tok::And => Some(Binary::And),
            Tok::Or => Some(Binary::Or),
            _ => None,
        })
    }

    fn until(&mut self) -> Result1<Formula> {
        self.chain(Parser::prefix, |tok| match tok {
            Tok::Until => Some(Binary::Until),
            Tok::WeakUntil => Some(Binary::WeakUntil),
            Tok::Release => Some(Binary::Release),
            Tok::Since => Some(Binary::Since),
            Tok::Trigger => Some(Binary::Trigger),
            _ => None,
        })
    }

    /// Operators of one level, all associative to the left.
    fn chain(
        &mut self,
        operand: fn(&mut Parser) -> Result1<Formula>,
        operator: fn(&Tok) -> Option<Binary>,
    ) -> Result1<Formula> {
        let mut left = operand(self)?;
        while let Some(op) = self.peek().and_then(operator) {
            self.at += 1;
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(Diagnostic::error(self.here(), "the formula has too many operators")
                    .note(format!("more than {MAX_OPERATORS}")));
            }
            let right = operand(self)?;
            left = self.binary(op, left, right)?;
        }
        Ok(left)
    }

    fn binary(&self, op: Binary, left: Formula, right: Formula) -> Result1<Formula> {
        let span = left.span.to(right.span);
        Ok(Formula { span, kind: Kind::Binary(op, Box::new(left), Box::new(right)) })
    }

    fn prefix(&mut self) -> Result1<Formula> {
        let span = self.here();
        let Some(tok) = self.peek().cloned() else {
            return Err(Diagnostic::error(self.end, "a formula is expected here"));
        };
        self.at += 1;
        let unary = match tok {
            Tok::Not => Unary::Not,
            Tok::Next => Unary::Next,
            Tok::Finally => Unary::Finally,
            Tok::Globally => Unary::Globally,
            Tok::Yesterday => Unary::Yesterday,
            Tok::Once => Unary::Once,
            Tok::Historically => Unary::Historically,
            Tok::True => return Ok(Formula { span, kind: Kind::Constant(true) }),
            Tok::False => return Ok(Formula { span, kind: Kind::Constant(false) }),
            Tok::Atom(atom) => return Ok(Formula { span, kind: Kind::Atom(atom) }),
            Tok::Open => {
                let inner = self.formula()?;
                let close = self.close(span)?;
                return Ok(Formula { span: span.to(close), kind: inner.kind });
            }
            Tok::Exists(variable) => return self.quantified(false, variable, span),
            Tok::Forall(variable) => return self.quantified(true, variable, span),
            Tok::Fair { .. } | Tok::FairAll { .. } => {
                return Err(Diagnostic::error(span, "fairness can only be assumed: `fairness => formula`")
                    .help("it stands alone to the left of `=>`, at the top or directly inside parentheses")
                    .help("one group of SF joined by & and or, one group of WF, joined once by &"));
            }
            _ => {
                return Err(Diagnostic::error(span, "a formula is expected here")
                    .help("operators such as `&` or `U` need a formula on both sides"));
            }
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(span, "the formula is nested too deeply"));
        }
        let operand = self.prefix()?;
        self.depth -= 1;
        Ok(Formula { span: span.to(operand.span), kind: Kind::Unary(unary, Box::new(operand)) })
    }

    fn close(&mut self, open: Span) -> Result1<Span> {
        let here = self.here();
        match self.peek() {
            Some(Tok::Close) => {
                self.at += 1;
                Ok(here)
            }
            Some(Tok::Iff) => Err(Diagnostic::error(here, "a second `<=>` on one level")
                .help("`<=>` is not associative; add parentheses")),
            _ => Err(Diagnostic::error(here, "`)` is expected here").label(open, "opened here")),
        }
    }

    /// `#x.({P} & f)` or `!x.({P} => f)`, exactly this shape.
    fn quantified(&mut self, universal: bool, variable: String, start: Span) -> Result1<Formula> {
        let shape = if universal { "!x.({P} => f)" } else { "#x.({P} & f)" };
        let wrong = |at: Span| {
            Diagnostic::error(at, "a quantified formula has another shape")
                .help(format!("write {shape}, where {{P}} gives the values of x"))
        };
        let open = self.here();
        if !matches!(self.peek(), Some(Tok::Open)) {
            return Err(wrong(open));
        }
        self.at += 1;
        let Some(Tok::Atom(Atom::Predicate(domain))) = self.peek().cloned() else {
            return Err(wrong(self.here()));
        };
        self.at += 1;
        let joined = if universal {
            matches!(self.peek(), Some(Tok::Implies))
        } else {
            matches!(self.peek(), Some(Tok::And))
        };
        if !joined {
            return Err(wrong(self.here()));
        }
        self.at += 1;
        let body = Box::new(self.formula()?);
        let close = self.close(open)?;
        Ok(Formula { span: start.to(close), kind: Kind::Quantified { universal, variable, domain, body } })
    }

    /// `fairness => f`, if the tokens from here on have that shape; otherwise nothing is consumed.
    fn fairness_implication(&mut self) -> Result1<Option<Formula>> {
        let mark = self.at;
        let start = self.here();
        let Some(fairness) = self.fairness() else {
            self.at = mark;
            return Ok(None);
        };
        if !matches!(self.peek(), Some(Tok::Implies)) {
            self.at = mark;
            return Ok(None);
        }
        self.at += 1;
        let body = self.iff()?;
        Ok(Some(Formula { span: start.to(body.span), kind: Kind::Fair(fairness, Box::new(body)) }))
    }

    /// One group of one strength, or two of different strength joined by `&`.
    fn fairness(&mut self) -> Option<Fairness> {
        let first = self.fairness_group()?;
        if !matches!(self.peek(), Some(Tok::And)) {
            return Some(first);
        }
        self.at += 1;
        let second = self.fairness_group()?;
        (first.strength() != second.strength()).then(|| Fairness::And(Box::new(first), Box::new(second)))
    }

    fn fairness_group(&mut self) -> Option<Fairness> {
        if let Some(&Tok::FairAll { strong }) = self.peek() {
            self.at += 1;
            return Some(Fairness::Every { strong });
        }
        let strong = self.next_strength()?;
        self.fairness_chain(strong, 0)
    }

    /// The strength of the first fairness term behind opening parentheses.
    fn next_strength(&self) -> Option<bool> {
        self.tokens[self.at..].iter().find_map(|t| match t.tok {
            Tok::Open => None,
            Tok::Fair { strong, .. } => Some(Some(strong)),
            _ => Some(None),
        })?
    }

    fn fairness_chain(&mut self, strong: bool, depth: usize) -> Option<Fairness> {
        let mut left = self.fairness_term(strong, depth)?;
        loop {
            let conjunction = match self.peek() {
                Some(Tok::And) => true,
                Some(Tok::Or) => false,
                _ => return Some(left),
            };
            // A term of the other strength belongs to the other group: leave its `&` alone.
            let mark = self.at;
            self.at += 1;
            if self.next_strength() != Some(strong) {
                self.at = mark;
                return Some(left);
            }
            let right = self.fairness_term(strong, depth)?;
            left = if conjunction {
                Fairness::And(Box::new(left), Box::new(right))
            } else {
                Fairness::Or(Box::new(left), Box::new(right))
            };
        }
    }

    fn fairness_term(&mut self, strong: bool, depth: usize) -> Option<Fairness> {
        match self.peek()?.clone() {
            Tok::Fair { strong: own, pattern } if own == strong => {
                self.at += 1;
                Some(Fairness::Operation { strong, pattern })
            }
            Tok::Open if depth < MAX_DEPTH => {
                self.at += 1;
                let inner = self.fairness_chain(strong, depth + 1)?;
                if !matches!(self.peek(), Some(Tok::Close)) {
                    return None;
                }
                self.at += 1;
                Some(inner)
            }
            _ => None,
        }
    }
}

impl Fairness {
    /// The strength of a group; groups never mix.
    fn strength(&self) -> bool {
        match self {
            Fairness::Operation { strong, .. } | Fairness::Every { strong } => *strong,
            Fairness::And(f, _) | Fairness::Or(f, _) => f.strength(),
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
