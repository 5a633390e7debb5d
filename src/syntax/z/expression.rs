//! Expressions, loosest first: conditionals, generic infix, products, operators by priority, prefixes, application, atoms.

use super::operators::Fixity;
use super::parser::{Parse, Parser};
use super::token::Tok;
use super::tree::{Expr, ExprKind, Ident, Logic, LogicKind, NEGATION};
use bombus_base::Span;

fn node(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

impl Parser<'_> {
    pub fn expression(&mut self) -> Parse<Expr> {
        self.nested(|p| match p.peek() {
            Tok::Sym("\\IF") => p.conditional(),
            Tok::Sym("\\lambda" | "\\mu" | "\\LET") => p.binder(),
            _ => p.generic(),
        })
    }

    fn conditional(&mut self) -> Parse<Expr> {
        let from = self.advance();
        let test = self.logic()?;
        self.expect("\\THEN")?;
        let yes = self.expression()?;
        self.expect("\\ELSE")?;
        let no = self.expression()?;
        let span = from.to(no.span);
        Ok(node(ExprKind::If(Box::new(test), Box::new(yes), Box::new(no)), span))
    }

    fn binder(&mut self) -> Parse<Expr> {
        let from = self.span();
        if self.is("\\LET") {
            let bindings = self.let_bindings()?;
            let body = self.expression()?;
            let span = from.to(body.span);
            return Ok(node(ExprKind::Let(bindings, Box::new(body)), span));
        }
        let lambda = self.is("\\lambda");
        self.advance();
        let text = self.schema_text()?;
        if lambda {
            self.expect("@")?;
            let body = self.expression()?;
            let span = from.to(body.span);
            return Ok(node(ExprKind::Lambda(text, Box::new(body)), span));
        }
        let value = if self.accept("@") { Some(Box::new(self.expression()?)) } else { None };
        let span = from.to(value.as_ref().map_or(from, |v| v.span));
        Ok(node(ExprKind::Mu(text, value), span))
    }

    fn generic(&mut self) -> Parse<Expr> {
        let left = self.product()?;
        if self.fixity() != Some(Fixity::InfixGeneric) {
            return Ok(left);
        }
        let operator = self.word()?;
        let right = self.nested(Self::generic)?;
        let span = left.span.to(right.span);
        Ok(node(ExprKind::Generic(operator, Box::new(left), Box::new(right)), span))
    }

    fn product(&mut self) -> Parse<Expr> {
        let first = self.operators_from(1)?;
        if !self.is("\\cross") {
            return Ok(first);
        }
        let mut span = first.span;
        let mut items = vec![first];
        while self.accept("\\cross") {
            self.link()?;
            let next = self.operators_from(1)?;
            span = span.to(next.span);
            items.push(next);
        }
        Ok(node(ExprKind::Cross(items), span))
    }

    fn operators_from(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.prefix()?;
        let mut links = 0;
        while let Some(Fixity::Infix(priority)) = self.fixity().filter(|f| match f {
            Fixity::Infix(p) => *p >= least,
            _ => false,
        }) {
            links += 1;
            // A single operator is no chain: long lists of pairs are common.
            if links > 1 {
                self.link()?;
            }
            let operator = self.word()?;
            let right = self.nested(|p| p.operators_from(priority + 1))?;
            let span = left.span.to(right.span);
            left = node(ExprKind::Infix(operator, Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parse<Expr> {
        let from = self.span();
        if self.fixity() == Some(Fixity::PrefixGeneric) {
            let operator = self.word()?;
            let operand = self.nested(Self::prefix)?;
            let span = from.to(operand.span);
            return Ok(node(ExprKind::Prefix(operator, Box::new(operand)), span));
        }
        if matches!(self.peek(), Tok::Word(base, decor) if decor.is_empty() && &**base == "-") {
            self.advance();
            let operand = self.nested(Self::prefix)?;
            let span = from.to(operand.span);
            return Ok(node(ExprKind::Negative(Box::new(operand)), span));
        }
        let mut e = self.application()?;
        while self.accept("\\limg") {
            self.link()?;
            let set = self.expression()?;
            let span = e.span.to(self.expect("\\rimg")?);
            e = node(ExprKind::Image(Box::new(e), Box::new(set)), span);
        }
        Ok(e)
    }

    fn application(&mut self) -> Parse<Expr> {
        let mut function = self.postfixed()?;
        let mut links = 0;
        while self.starts_argument() {
            links += 1;
            if links > 1 {
                self.link()?;
            }
            let argument = self.postfixed()?;
            let span = function.span.to(argument.span);
            function = node(ExprKind::Apply(Box::new(function), Box::new(argument)), span);
        }
        Ok(function)
    }

    fn starts_argument(&self) -> bool {
        match self.peek() {
            Tok::Word(base, _) => self.fixity().is_none() && !matches!(&**base, "true" | "false"),
            Tok::Number(_) => true,
            Tok::Sym(s) => matches!(*s, "(" | "\\{" | "\\langle" | "\\lbag" | "\\theta" | "\\lblot"),
            _ => false,
        }
    }

    fn postfixed(&mut self) -> Parse<Expr> {
        let mut e = self.atomic()?;
        loop {
            if self.is(".") || self.is("^") || self.is("\\bsup") || self.fixity() == Some(Fixity::Postfix) {
                self.link()?;
            }
            if self.accept(".") {
                match self.peek().clone() {
                    Tok::Number(n) => {
                        let span = e.span.to(self.advance());
                        let place = n.small().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
                        e = node(ExprKind::Component(Box::new(e), place), span);
                    }
                    _ => {
                        let name = self.name()?;
                        let span = e.span.to(name.span);
                        e = node(ExprKind::Select(Box::new(e), name), span);
                    }
                }
            } else if self.fixity() == Some(Fixity::Postfix) {
                let operator = self.word()?;
                let span = e.span.to(operator.span);
                e = node(ExprKind::Postfix(operator, Box::new(e)), span);
            } else if self.is("^") || self.is("\\bsup") {
                let (times, end) = self.iterations()?;
                let span = e.span.to(end);
                e = node(ExprKind::Iterate(Box::new(e), Box::new(times)), span);
            } else {
                return Ok(e);
            }
        }
    }

    /// `^{k}`, `^2`, `\bsup k \esup`: the number of iterations, and where it ends.
    fn iterations(&mut self) -> Parse<(Expr, Span)> {
        let close = if self.accept("\\bsup") { "\\esup" } else { "}" };
        if close == "}" {
            self.expect("^")?;
            if matches!(self.peek(), Tok::Number(_) | Tok::Word(..)) {
                let times = self.atomic()?;
                let end = times.span;
                return Ok((times, end));
            }
            self.expect("{")?;
        }
        let times = self.expression()?;
        Ok((times, self.expect(close)?))
    }

    fn atomic(&mut self) -> Parse<Expr> {
        let from = self.span();
        match self.peek().clone() {
            Tok::Number(n) => {
                self.advance();
                Ok(node(ExprKind::Number(n), from))
            }
            Tok::Sym("(") => self.bracket(),
            Tok::Sym("\\{") => self.set(),
            Tok::Sym("\\langle") => {
                let (items, span) = self.list("\\rangle")?;
                Ok(node(ExprKind::SeqExt(items), span))
            }
            Tok::Sym("\\lbag") => {
                let (items, span) = self.list("\\rbag")?;
                Ok(node(ExprKind::BagExt(items), span))
            }
            Tok::Sym("\\lblot") => {
                self.advance();
                let bindings = self.comma_list(|p| {
                    let name = p.name()?;
                    p.expect("==")?;
                    Ok((name, p.expression()?))
                })?;
                let end = self.expect("\\rblot")?;
                Ok(node(ExprKind::Binding(bindings), from.to(end)))
            }
            Tok::Sym("\\theta") => {
                self.advance();
                let reference = self.schema_reference()?;
                let span = from.to(reference.span);
                Ok(node(ExprKind::Theta(reference), span))
            }
            Tok::Sym("[") => {
                self.advance();
                let text = self.nested(Self::schema_text)?;
                let span = from.to(self.expect("]")?);
                let schema = Logic { kind: LogicKind::Text(text), span };
                Ok(node(ExprKind::Schema(Box::new(schema)), span))
            }
            Tok::Sym("\\Delta" | "\\Xi") => self.schema_as_set(),
            Tok::Word(..) if self.at_schema() => self.schema_as_set(),
            Tok::Word(..) if self.fixity().is_none() => {
                let name = self.word()?;
                let mut span = name.span;
                let mut actuals = None;
                if self.accept("[") {
                    actuals = Some(self.comma_list(Self::expression)?);
                    span = span.to(self.expect("]")?);
                }
                Ok(node(ExprKind::Name(name, actuals), span))
            }
            _ => self.unexpected("an expression"),
        }
    }

    fn schema_as_set(&mut self) -> Parse<Expr> {
        let reference = self.schema_reference()?;
        let span = reference.span;
        let schema = Logic { kind: LogicKind::Reference(reference), span };
        Ok(node(ExprKind::Schema(Box::new(schema)), span))
    }

    /// Items up to a closing sign; there may be none.
    fn list(&mut self, close: &'static str) -> Parse<(Vec<Expr>, Span)> {
        let from = self.advance();
        let items = if self.is(close) { Vec::new() } else { self.comma_list(Self::expression)? };
        Ok((items, from.to(self.expect(close)?)))
    }

    /// `(e)`, `(e, f)`, `(\_ + \_)`
    fn bracket(&mut self) -> Parse<Expr> {
        let from = self.advance();
        if let Some(operator) = self.operator_name()? {
            let mut span = from.to(self.expect(")")?);
            let mut actuals = None;
            if self.accept("[") {
                actuals = Some(self.comma_list(Self::expression)?);
                span = span.to(self.expect("]")?);
            }
            return Ok(node(ExprKind::Name(operator, actuals), span));
        }
        let mut items = self.comma_list(Self::expression)?;
        let span = from.to(self.expect(")")?);
        if items.len() == 1 {
            let inner = items.remove(0);
            // A bracketed product is one factor of a product round it.
            return Ok(node(inner.kind, span));
        }
        Ok(node(ExprKind::Tuple(items), span))
    }

    /// The name of an operator with places for its operands.
    fn operator_name(&mut self) -> Parse<Option<Ident>> {
        if self.accept("\\_") {
            let operator = self.word()?;
            self.accept("\\_");
            return Ok(Some(operator));
        }
        if self.fixity().is_some() && *self.ahead(1) == Tok::Sym("\\_") {
            let operator = self.word()?;
            self.expect("\\_")?;
            return Ok(Some(operator));
        }
        if matches!(self.peek(), Tok::Word(base, _) if &**base == "-") && *self.ahead(1) == Tok::Sym(")") {
            let mut sign = self.word()?;
            sign.base = NEGATION.into();
            return Ok(Some(sign));
        }
        Ok(None)
    }

    fn set(&mut self) -> Parse<Expr> {
        if !self.holds_declarations() {
            let (items, span) = self.list("\\}")?;
            return Ok(node(ExprKind::SetExt(items), span));
        }
        let from = self.advance();
        let text = self.schema_text()?;
        let value = if self.accept("@") { Some(Box::new(self.expression()?)) } else { None };
        let span = from.to(self.expect("\\}")?);
        Ok(node(ExprKind::Comprehension(text, value), span))
    }

    /// Whether declarations follow the brace: names before a colon, or a schema that is not an item of a list.
    fn holds_declarations(&self) -> bool {
        if matches!(self.ahead(1), Tok::Sym("\\Delta" | "\\Xi")) {
            return true;
        }
        if self.schema_ahead(1)
            && matches!(self.behind_reference(1), Tok::Sym(";" | "|" | "@" | "\\}") | Tok::NewLine)
        {
            return true;
        }
        let mut place = 1;
        while matches!(self.ahead(place), Tok::Word(..)) {
            match self.ahead(place + 1) {
                Tok::Sym(":") => return true,
                Tok::Sym(",") => place += 2,
                _ => return false,
            }
        }
        false
    }
}
