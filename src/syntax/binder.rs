//! Formulas that bind names or choose between branches: quantifiers, comprehensions, LET, IF.
//!
//! In: tokens. Out: nodes. Never here: operators (those are in `expression`).

use super::ast::{BigOp, ExprKind, Ident, Quant};
use super::parser::{Node, Parse, Parser, Sort};
use super::precedence::Level;
use super::token::Tok;
use bombus_base::diagnostic::Diagnostic;

impl<'t> Parser<'t> {
    /// `not(P)`
    #[inline(never)]
    pub fn negated(&mut self) -> Parse<Node> {
        let word = self.advance();
        if self.peek() != Tok::ParOpen {
            let message = format!("expected `(` after `not`, found {}", self.found());
            return self.fail(Diagnostic::error(self.span(), message).help("write not(P) with parentheses"));
        }
        self.advance();
        let predicate = self.predicate()?;
        let span = word.to(self.expect(Tok::ParClose)?);
        self.node(ExprKind::Not(Box::new(predicate.expr)), span, Sort::Predicate, predicate.depth)
    }

    /// `x,y.` or `(x,y).` before a parenthesised body.
    #[inline(never)]
    fn bound_names(&mut self) -> Parse<Vec<Ident>> {
        let parenthesised = self.eat(Tok::ParOpen);
        let names = self.declared_list()?;
        if parenthesised {
            self.expect(Tok::ParClose)?;
        }
        if !self.eat(Tok::Dot) && !self.eat(Tok::MiddleDot) {
            return self.unexpected("`.` after the bound names");
        }
        if self.peek() != Tok::ParOpen {
            let message = format!("expected `(` before the body of the quantifier, found {}", self.found());
            return self
                .fail(Diagnostic::error(self.span(), message).help("the body needs parentheses: x.(…)"));
        }
        self.advance();
        Ok(names)
    }

    /// `!x.(P)`, `#x.(P)`
    #[inline(never)]
    pub fn quantified(&mut self) -> Parse<Node> {
        let quant = if self.peek() == Tok::Forall { Quant::Forall } else { Quant::Exists };
        let word = self.advance();
        let names = self.bound_names()?;
        let body = self.predicate()?;
        let span = word.to(self.close_body()?);
        self.node(ExprKind::Quant(quant, names, Box::new(body.expr)), span, Sort::Predicate, body.depth)
    }

    fn close_body(&mut self) -> Parse<bombus_base::Span> {
        if self.peek() != Tok::ParClose {
            return self.unexpected("`)` or an operator");
        }
        Ok(self.advance())
    }

    /// `%x.(P|E)` and its kin.
    #[inline(never)]
    pub fn comprehended(&mut self) -> Parse<Node> {
        let op = match self.peek() {
            Tok::Lambda => BigOp::Lambda,
            Tok::BigUnion => BigOp::Union,
            Tok::BigInter => BigOp::Inter,
            Tok::Sigma => BigOp::Sigma,
            _ => BigOp::Pi,
        };
        let word = self.advance();
        let names = self.bound_names()?;
        let predicate = self.predicate()?;
        self.bar()?;
        let value = self.in_par()?;
        let span = word.to(self.close_body()?);
        let below = predicate.depth.max(value.depth);
        let kind = ExprKind::Big(op, names, Box::new(predicate.expr), Box::new(value.expr));
        self.node(kind, span, Sort::Expression, below)
    }

    fn bar(&mut self) -> Parse<()> {
        if self.eat(Tok::Bar) { Ok(()) } else { self.unexpected("`|` or an operator") }
    }

    /// Whether the `{` ahead is followed by names and then `|` or the dot of a comprehension.
    pub fn opens_comprehension(&self) -> bool {
        let mut at = 1;
        let parenthesised = self.peek_at(at) == Tok::ParOpen;
        at += usize::from(parenthesised);
        loop {
            if self.peek_at(at) != Tok::Ident {
                return false;
            }
            at += 1;
            match self.peek_at(at) {
                Tok::Comma => at += 1,
                Tok::ParClose if parenthesised => {
                    return matches!(self.peek_at(at + 1), Tok::Bar | Tok::Dot | Tok::MiddleDot);
                }
                Tok::Bar | Tok::MiddleDot if !parenthesised => return true,
                _ => return false,
            }
        }
    }

    /// `{x,y|P}`, `{(x,y)|P}`, `{x,y·P|E}`, `{(x,y).P|E}`
    #[inline(never)]
    pub fn set_comprehension(&mut self) -> Parse<Node> {
        let open = self.advance();
        let parenthesised = self.eat(Tok::ParOpen);
        let names = self.declared_list()?;
        if parenthesised {
            self.expect(Tok::ParClose)?;
        }
        if self.eat(Tok::Bar) {
            let predicate = self.predicate()?;
            let span = open.to(self.close_set()?);
            let kind = ExprKind::Compr(names, Box::new(predicate.expr));
            return self.node(kind, span, Sort::Expression, predicate.depth);
        }
        self.advance();
        let predicate = self.predicate()?;
        self.bar()?;
        let value = self.in_par()?;
        let span = open.to(self.close_set()?);
        let below = predicate.depth.max(value.depth);
        let kind = ExprKind::Big(BigOp::SetOf, names, Box::new(predicate.expr), Box::new(value.expr));
        self.node(kind, span, Sort::Expression, below)
    }

    fn close_set(&mut self) -> Parse<bombus_base::Span> {
        if self.peek() != Tok::BraceClose {
            return self.unexpected("`}` or an operator");
        }
        Ok(self.advance())
    }

    /// `IF P THEN X ELSIF Q THEN Y ELSE Z END` of expressions or of predicates.
    #[inline(never)]
    pub fn conditional(&mut self) -> Parse<Node> {
        let word = self.advance();
        let mut below = 0;
        let mut sort = Sort::Either;
        let mut branches = Vec::new();
        loop {
            let condition = self.predicate()?;
            self.expect(Tok::Then)?;
            let value = self.branch(&mut sort)?;
            below = below.max(condition.depth).max(value.depth);
            branches.push((condition.expr, value.expr));
            if !self.eat(Tok::Elsif) {
                break;
            }
        }
        if self.peek() != Tok::Else {
            let message = format!("expected `ELSE`, found {}", self.found());
            let d = Diagnostic::error(self.span(), message)
                .help("IF in expressions and predicates needs an ELSE branch");
            return self.fail(d);
        }
        self.advance();
        let otherwise = self.branch(&mut sort)?;
        below = below.max(otherwise.depth);
        let span = word.to(self.expect(Tok::End)?);
        self.node(ExprKind::If(branches, Box::new(otherwise.expr)), span, sort, below)
    }

    /// One branch; all branches together are predicates or expressions.
    #[inline(never)]
    fn branch(&mut self, sort: &mut Sort) -> Parse<Node> {
        let node = self.formula(Level::FORMULA)?;
        match *sort {
            Sort::Either => *sort = node.sort,
            Sort::Predicate => self.want_predicate(&node),
            Sort::Expression => self.want_expression(&node),
        }
        Ok(node)
    }

    /// `LET x,y BE x=E & y=F IN X END`
    #[inline(never)]
    pub fn local(&mut self) -> Parse<Node> {
        let word = self.advance();
        let names = self.declared_list()?;
        self.expect(Tok::Be)?;
        let equations = self.predicate()?;
        self.expect(Tok::In)?;
        let body = self.formula(Level::FORMULA)?;
        let span = word.to(self.expect(Tok::End)?);
        let below = equations.depth.max(body.depth);
        let kind = ExprKind::Let(names, Box::new(equations.expr), Box::new(body.expr));
        self.node(kind, span, body.sort, below)
    }
}
