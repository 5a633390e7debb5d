//! Predicates and schema expressions: one grammar for both.

use super::operators::Fixity;
use super::parser::{Parse, Parser};
use super::token::Tok;
use super::tree::{Connective, Expr, Ident, Logic, LogicKind, Quantifier};
use bombus_base::{Name, Span};

fn node(kind: LogicKind, span: Span) -> Logic {
    Logic { kind, span }
}

/// How tight a connective binds, and whether it groups to the right.
fn level(tok: &Tok) -> Option<(u8, bool)> {
    match tok {
        Tok::Sym("\\pipe") => Some((1, false)),
        Tok::Sym("\\semi") => Some((2, false)),
        Tok::Sym("\\hide") => Some((3, false)),
        Tok::Sym("\\project") => Some((4, false)),
        Tok::Sym("\\iff") => Some((5, false)),
        Tok::Sym("\\implies") => Some((6, true)),
        Tok::Sym("\\lor") => Some((7, false)),
        Tok::Sym("\\land") => Some((8, false)),
        _ => None,
    }
}

impl Parser<'_> {
    pub fn logic(&mut self) -> Parse<Logic> {
        self.nested(|p| p.connected(1))
    }

    fn connected(&mut self, least: u8) -> Parse<Logic> {
        let mut left = self.prefixed()?;
        while let Some((level, right_first)) = level(self.peek()).filter(|(l, _)| *l >= least) {
            let sign = self.peek().clone();
            self.link()?;
            self.advance();
            if sign == Tok::Sym("\\hide") {
                self.expect("(")?;
                let names = self.comma_list(Self::name)?;
                let end = self.expect(")")?;
                let span = left.span.to(end);
                left = node(LogicKind::Hide(Box::new(left), names), span);
                continue;
            }
            let right = self.nested(|p| p.connected(if right_first { level } else { level + 1 }))?;
            let span = left.span.to(right.span);
            let (left_side, right) = (Box::new(left), Box::new(right));
            let binary = |c, l, r| LogicKind::Binary(c, l, r);
            let kind = match sign {
                Tok::Sym("\\pipe") => LogicKind::Pipe(left_side, right),
                Tok::Sym("\\semi") => LogicKind::Compose(left_side, right),
                Tok::Sym("\\project") => LogicKind::Project(left_side, right),
                Tok::Sym("\\iff") => binary(Connective::Iff, left_side, right),
                Tok::Sym("\\implies") => binary(Connective::Implies, left_side, right),
                Tok::Sym("\\lor") => binary(Connective::Or, left_side, right),
                _ => binary(Connective::And, left_side, right),
            };
            left = node(kind, span);
        }
        Ok(left)
    }

    fn prefixed(&mut self) -> Parse<Logic> {
        let from = self.span();
        let quantifier = match self.peek() {
            Tok::Sym("\\lnot") => {
                self.advance();
                let inner = self.nested(Self::prefixed)?;
                let span = from.to(inner.span);
                return Ok(node(LogicKind::Not(Box::new(inner)), span));
            }
            Tok::Sym("\\pre") => {
                self.advance();
                let inner = self.nested(Self::prefixed)?;
                let span = from.to(inner.span);
                return Ok(node(LogicKind::Precondition(Box::new(inner)), span));
            }
            Tok::Sym("\\forall") => Quantifier::Forall,
            Tok::Sym("\\exists") => Quantifier::Exists,
            Tok::Sym("\\exists_1") => Quantifier::ExistsOne,
            Tok::Sym("\\LET") => {
                let bindings = self.let_bindings()?;
                let body = self.logic()?;
                let span = from.to(body.span);
                return Ok(node(LogicKind::Let(bindings, Box::new(body)), span));
            }
            _ => return self.atom(),
        };
        self.advance();
        let text = self.schema_text()?;
        self.expect("@")?;
        let body = self.logic()?;
        let span = from.to(body.span);
        Ok(node(LogicKind::Quantified(quantifier, text, Box::new(body)), span))
    }

    /// `\LET x == e; y == f @`, with the sign behind them.
    pub fn let_bindings(&mut self) -> Parse<Vec<(Ident, Expr)>> {
        self.expect("\\LET")?;
        let mut bindings = Vec::new();
        loop {
            let name = self.name()?;
            self.expect("==")?;
            bindings.push((name, self.expression()?));
            if !self.accept(";") {
                break;
            }
        }
        self.expect("@")?;
        Ok(bindings)
    }

    fn atom(&mut self) -> Parse<Logic> {
        let from = self.span();
        match self.peek() {
            Tok::Word(base, decor) if decor.is_empty() && matches!(&**base, "true" | "false") => {
                let kind = if &**base == "true" { LogicKind::True } else { LogicKind::False };
                self.advance();
                return Ok(node(kind, from));
            }
            Tok::Sym("[") => {
                self.advance();
                let text = if self.is("|") || self.is("]") {
                    return self.unexpected("a declaration");
                } else {
                    self.nested(Self::schema_text)?
                };
                let end = self.expect("]")?;
                return Ok(self.decorated(node(LogicKind::Text(text), from.to(end))));
            }
            Tok::Sym("(") if !self.names_operator() && !self.goes_on_as_expression(self.behind_bracket()) => {
                self.advance();
                let inner = self.logic()?;
                let end = self.expect(")")?;
                let inner = node(inner.kind, from.to(end));
                return Ok(self.decorated(inner));
            }
            Tok::Sym("\\Delta" | "\\Xi") => {
                let reference = self.schema_reference()?;
                let span = reference.span;
                return Ok(node(LogicKind::Reference(reference), span));
            }
            _ => {}
        }
        if self.fixity() == Some(Fixity::PrefixRelation) {
            let relation = self.word()?;
            let operand = self.expression()?;
            let span = from.to(operand.span);
            return Ok(node(LogicKind::PrefixRelation(relation, Box::new(operand)), span));
        }
        if self.at_schema() && !self.goes_on_as_expression(self.behind_reference(0)) {
            let reference = self.schema_reference()?;
            let span = reference.span;
            return Ok(node(LogicKind::Reference(reference), span));
        }
        self.chain()
    }

    /// Whether the bracket here holds the name of an operator: `(\_ + \_)`, `(-)`.
    fn names_operator(&self) -> bool {
        let place = |tok: &Tok| matches!(tok, Tok::Sym("\\_" | ")"));
        place(self.ahead(1)) || (self.fixity_of(self.ahead(1)).is_some() && place(self.ahead(2)))
    }

    fn decorated(&mut self, inner: Logic) -> Logic {
        match self.peek().clone() {
            Tok::Decor(decor) => {
                let span = inner.span.to(self.advance());
                node(LogicKind::Decorated(Box::new(inner), decor), span)
            }
            _ => inner,
        }
    }

    /// Whether a bracket or a schema in front of this token must be an expression.
    fn goes_on_as_expression(&self, tok: &Tok) -> bool {
        match self.fixity_of(tok) {
            Some(Fixity::PrefixRelation | Fixity::PrefixGeneric) => false,
            Some(_) => true,
            None => match tok {
                Tok::Word(base, _) => !matches!(&**base, "true" | "false"),
                Tok::Number(_) => true,
                Tok::Sym(s) => matches!(
                    *s,
                    "\\cross"
                        | "\\limg"
                        | "^"
                        | "\\bsup"
                        | "."
                        | "("
                        | "\\{"
                        | "\\langle"
                        | "\\lbag"
                        | "\\theta"
                        | "\\inrel"
                ),
                _ => false,
            },
        }
    }

    /// `e1 R1 e2 R2 e3`
    fn chain(&mut self) -> Parse<Logic> {
        let first = self.expression()?;
        let mut links = Vec::new();
        let mut span = first.span;
        loop {
            let relation = if self.is("\\inrel") {
                let at = self.advance();
                self.expect("{")?;
                let name = self.word()?;
                self.expect("}")?;
                // The relation stands as an ordinary name between its operands.
                let base: Name = format!("\\inrel {}", name.base).into();
                Ident { base, decor: name.decor, span: at.to(name.span) }
            } else if self.fixity() == Some(Fixity::Relation) {
                self.word()?
            } else {
                break;
            };
            let right = self.expression()?;
            span = span.to(right.span);
            links.push((relation, right));
        }
        if links.is_empty() {
            return self.unexpected("a relation sign such as `=` or `\\in`");
        }
        Ok(node(LogicKind::Chain(Box::new(first), links), span))
    }
}
