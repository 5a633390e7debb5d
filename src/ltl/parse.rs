//! From the text of an LTL formula to its tree, with ProB's precedences.
//!
//! In: text and its place in a file. Out: a formula and warnings, or every fault found with its span.
//! Never here: whether an operation or a variable exists; that needs the model.
//!
//! From loose to tight: `fairness =>` (top level or in parentheses) < `<=>` (not associative) < `=>`
//! (to the left) < `&`, `or` (one level, to the left) < `U W R S T` (one level, to the left) < prefix.

use super::cursor::{Cursor, MAX_DEPTH, Parse};
use super::formula::{Atom, Binary, Fairness, Formula, Kind, Unary};
use super::token::{Logic, Place, Tok};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::span::Span;

/// A parsed formula and what the user should know about how it was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub formula: Formula,
    pub warnings: Vec<Diagnostic>,
}

/// Parses the LTL formula `text` that stands at `place`.
pub fn parse_ltl(text: &str, place: Place) -> Result<Parsed, Vec<Diagnostic>> {
    let mut parser = Parser { cursor: Cursor::new(text, place, Logic::Ltl)? };
    let parsed = parser.formula().and_then(|f| parser.cursor.finish().map(|()| f));
    let formula = parsed.map_err(|fault| vec![fault])?;
    Ok(Parsed { formula, warnings: parser.cursor.warnings })
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

    /// The outermost level, also that of parentheses.
    fn formula(&mut self) -> Parse<Formula> {
        self.cursor.deepen()?;
        let formula = match self.fairness_implication()? {
            Some(fair) => fair,
            None => self.iff()?,
        };
        self.cursor.rise();
        Ok(formula)
    }

    fn iff(&mut self) -> Parse<Formula> {
        let left = self.implication()?;
        if !matches!(self.peek(), Some(Tok::Iff)) {
            return Ok(left);
        }
        self.cursor.at += 1;
        let right = self.implication()?;
        self.binary(Binary::Iff, left, right)
    }

    fn implication(&mut self) -> Parse<Formula> {
        self.chain(Parser::junction, |tok| matches!(tok, Tok::Implies).then_some(Binary::Implies))
    }

    fn junction(&mut self) -> Parse<Formula> {
        self.chain(Parser::until, |tok| match tok {
            Tok::And => Some(Binary::And),
            Tok::Or => Some(Binary::Or),
            _ => None,
        })
    }

    fn until(&mut self) -> Parse<Formula> {
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
        operand: fn(&mut Parser) -> Parse<Formula>,
        operator: fn(&Tok) -> Option<Binary>,
    ) -> Parse<Formula> {
        let mut left = operand(self)?;
        while let Some(op) = self.peek().and_then(operator) {
            self.cursor.at += 1;
            self.cursor.count()?;
            let right = operand(self)?;
            left = self.binary(op, left, right)?;
        }
        Ok(left)
    }

    fn binary(&self, op: Binary, left: Formula, right: Formula) -> Parse<Formula> {
        let span = left.span.to(right.span);
        Ok(Formula { span, kind: Kind::Binary(op, Box::new(left), Box::new(right)) })
    }

    fn prefix(&mut self) -> Parse<Formula> {
        let span = self.here();
        let Some(tok) = self.peek().cloned() else {
            return Err(Diagnostic::error(self.cursor.end, "a formula is expected here"));
        };
        self.cursor.at += 1;
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
                let close = self.cursor.close(span)?;
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
        self.cursor.deepen()?;
        let operand = self.prefix()?;
        self.cursor.rise();
        Ok(Formula { span: span.to(operand.span), kind: Kind::Unary(unary, Box::new(operand)) })
    }

    /// `#x.({P} & f)` or `!x.({P} => f)`, exactly this shape.
    fn quantified(&mut self, universal: bool, variable: String, start: Span) -> Parse<Formula> {
        let shape = if universal { "!x.({P} => f)" } else { "#x.({P} & f)" };
        let wrong = |at: Span| {
            Diagnostic::error(at, "a quantified formula has another shape")
                .help(format!("write {shape}, where {{P}} gives the values of x"))
        };
        let open = self.here();
        if !matches!(self.peek(), Some(Tok::Open)) {
            return Err(wrong(open));
        }
        self.cursor.at += 1;
        let Some(Tok::Atom(Atom::Predicate(domain))) = self.peek().cloned() else {
            return Err(wrong(self.here()));
        };
        self.cursor.at += 1;
        let joined = if universal {
            matches!(self.peek(), Some(Tok::Implies))
        } else {
            matches!(self.peek(), Some(Tok::And))
        };
        if !joined {
            return Err(wrong(self.here()));
        }
        self.cursor.at += 1;
        let body = Box::new(self.formula()?);
        let close = self.cursor.close(open)?;
        Ok(Formula { span: start.to(close), kind: Kind::Quantified { universal, variable, domain, body } })
    }

    /// `fairness => f`, if the tokens from here on have that shape; otherwise nothing is consumed.
    fn fairness_implication(&mut self) -> Parse<Option<Formula>> {
        let mark = self.cursor.at;
        let start = self.here();
        let Some(fairness) = self.fairness() else {
            self.cursor.at = mark;
            return Ok(None);
        };
        if !matches!(self.peek(), Some(Tok::Implies)) {
            self.cursor.at = mark;
            return Ok(None);
        }
        self.cursor.at += 1;
        let body = self.iff()?;
        Ok(Some(Formula { span: start.to(body.span), kind: Kind::Fair(fairness, Box::new(body)) }))
    }

    /// One group of one strength, or two of different strength joined by `&`.
    fn fairness(&mut self) -> Option<Fairness> {
        let first = self.fairness_group()?;
        if !matches!(self.peek(), Some(Tok::And)) {
            return Some(first);
        }
        self.cursor.at += 1;
        let second = self.fairness_group()?;
        (first.strength() != second.strength()).then(|| Fairness::And(Box::new(first), Box::new(second)))
    }

    fn fairness_group(&mut self) -> Option<Fairness> {
        if let Some(&Tok::FairAll { strong }) = self.peek() {
            self.cursor.at += 1;
            return Some(Fairness::Every { strong });
        }
        let strong = self.next_strength()?;
        self.fairness_chain(strong, 0)
    }

    /// The strength of the first fairness term behind opening parentheses.
    fn next_strength(&self) -> Option<bool> {
        self.cursor.rest().find_map(|tok| match tok {
            Tok::Open => None,
            Tok::Fair { strong, .. } => Some(Some(*strong)),
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
            let mark = self.cursor.at;
            self.cursor.at += 1;
            if self.next_strength() != Some(strong) {
                self.cursor.at = mark;
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
                self.cursor.at += 1;
                Some(Fairness::Operation { strong, pattern })
            }
            Tok::Open if depth < MAX_DEPTH => {
                self.cursor.at += 1;
                let inner = self.fairness_chain(strong, depth + 1)?;
                if !matches!(self.peek(), Some(Tok::Close)) {
                    return None;
                }
                self.cursor.at += 1;
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
