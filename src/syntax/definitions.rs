//! DEFINITIONS, and the clauses EXPRESSIONS and PREDICATES that are definitions of one sort.
//!
//! In: tokens. Out: items in the order of the text. Never here: expansion, reading of `.def` files.
//! A body is read as a formula; if that fails, as one substitution.

use super::ast::{DefBody, DefItem, Definition, Ident};
use super::parser::{Failed, Node, Parse, Parser, Sort};
use super::precedence::Level;
use super::recovery::ends_body;
use super::token::Tok;
use bombus_base::diagnostic::Diagnostic;

/// What the bodies of a clause may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    Any,
    Expressions,
    Predicates,
}

impl<'t> Parser<'t> {
    /// The items of a clause, up to the next clause, END or the end of the text.
    pub fn definition_items(&mut self, bodies: Bodies) -> Vec<DefItem> {
        let mut items = Vec::new();
        loop {
            if ends_body(self.peek()) && self.peek() != Tok::Semicolon {
                return items;
            }
            match self.definition_item(bodies) {
                Ok(item) => items.push(item),
                Err(Failed) => self.skip_to_definition(),
            }
            if !self.eat(Tok::Semicolon) {
                return items;
            }
        }
    }

    fn definition_item(&mut self, bodies: Bodies) -> Parse<DefItem> {
        if self.peek() == Tok::Str {
            let span = self.advance();
            let text = self.slice(span);
            let path = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or("");
            let name = path.into();
            self.end_of_body()?;
            return Ok(DefItem::File(Ident { name, span }));
        }
        let name = self.declared()?;
        let mut params = Vec::new();
        if self.eat(Tok::ParOpen) {
            params = self.declared_list()?;
            self.expect(Tok::ParClose)?;
        }
        self.expect(Tok::Defines)?;
        let body = self.body(bodies)?;
        Ok(DefItem::Def(Definition { name, params, body }))
    }

    fn body(&mut self, bodies: Bodies) -> Parse<DefBody> {
        let (start, messages) = (self.position(), self.diagnostics.len());
        let loops = self.open_loops;
        let formula = self.formula_body(bodies);
        if self.diagnostics.len() == messages
            && let Ok(node) = formula
        {
            return Ok(DefBody::Expr(node.expr));
        }
        if bodies != Bodies::Any {
            return Err(Failed);
        }
        let reached = self.position();
        let complaint = self.diagnostics.split_off(messages);
        self.rewind(start);
        let statement = self.statement().and_then(|s| self.end_of_body().map(|()| s));
        if self.diagnostics.len() == messages
            && let Ok(statement) = statement
        {
            return Ok(DefBody::Stmt(statement));
        }
        // Of the two readings the one that came further says what is wrong.
        if self.position() <= reached {
            self.diagnostics.truncate(messages);
            self.diagnostics.extend(complaint);
            self.rewind(reached);
            self.open_loops = loops;
        }
        Err(Failed)
    }

    fn formula_body(&mut self, bodies: Bodies) -> Parse<Node> {
        let mut node = self.formula(Level::FORMULA)?;
        // A bare `a,b` is a couple.
        while bodies == Bodies::Any && node.sort != Sort::Predicate && self.eat(Tok::Comma) {
            let right = self.expression()?;
            node = self.couple(node, right)?;
        }
        match bodies {
            Bodies::Any => {}
            Bodies::Expressions => self.want_expression(&node),
            Bodies::Predicates => self.want_predicate(&node),
        }
        self.end_of_body()?;
        Ok(node)
    }

    fn end_of_body(&mut self) -> Parse<()> {
        if ends_body(self.peek()) {
            return Ok(());
        }
        if self.peek() == Tok::Parallel {
            let d = Diagnostic::error(self.span(), "a definition holds one substitution, found `||`")
                .help("write BEGIN S || T END");
            return self.fail(d);
        }
        self.unexpected("`;` or the end of the definition")
    }
}
