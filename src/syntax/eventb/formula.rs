//! The mathematical language of Rodin: predicates, expressions and assignments.
//!
//! In: the text of one formula. Out: `ast::Expr` or `ast::Stmt`, or the first error with its place.
//! The precedences stand in `operators`; operators that Rodin does not let stand side by side without
//! parentheses are refused, because two readers would understand two different things.

use super::lexer::{Spanned, Token, tokens};
use super::names::{for_each_expr, free_in_order, primed, settle_bound_primes};
use super::operators::{self, Level, tighter};
use super::raw::comprehension;
use crate::ast::{BigOp, BinOp, Builtin, Const, Expr, ExprKind, Ident, Quant, Stmt, StmtKind};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{FileId, Span};

/// Deeper formulas are refused.
const MAX_DEPTH: usize = 250;

type Parsed<T> = Result<T, Diagnostic>;

/// A whole text as a predicate.
pub fn predicate(file: FileId, text: &str) -> Parsed<Expr> {
    let mut parser = Parser::new(file, text)?;
    let mut e = parser.formula()?;
    parser.end()?;
    settle_bound_primes(&mut e);
    parser.want(&e, Sort::Predicate)?;
    Ok(e)
}

/// A whole text as an expression.
pub fn expression(file: FileId, text: &str) -> Parsed<Expr> {
    let mut parser = Parser::new(file, text)?;
    let mut e = parser.formula()?;
    parser.end()?;
    settle_bound_primes(&mut e);
    parser.want(&e, Sort::Expression)?;
    Ok(e)
}

/// A predicate or an expression, whichever the text is.
pub fn formula(file: FileId, text: &str) -> Parsed<Expr> {
    let mut parser = Parser::new(file, text)?;
    let mut e = parser.formula()?;
    parser.end()?;
    settle_bound_primes(&mut e);
    Ok(e)
}

/// A whole text as an action.
pub fn assignment(file: FileId, text: &str) -> Parsed<Stmt> {
    let mut parser = Parser::new(file, text)?;
    let mut s = parser.assignment()?;
    parser.end()?;
    for_each_expr(&mut s, &mut settle_bound_primes);
    Ok(s)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Predicate,
    Expression,
    /// An operator of a theory may be either.
    Either,
}

fn sort(e: &Expr) -> Sort {
    match &e.kind {
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::Quant(..) => Sort::Predicate,
        ExprKind::Const(Const::BTrue | Const::BFalse) => Sort::Predicate,
        ExprKind::Builtin(Builtin::Finite | Builtin::Partition, _) => Sort::Predicate,
        ExprKind::Binary(op, ..) if op.rodin().is_some_and(|row| row.level <= Level::Relational) => {
            Sort::Predicate
        }
        ExprKind::Apply(..) => Sort::Either,
        _ => Sort::Expression,
    }
}

struct Parser {
    tokens: Vec<Spanned>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn new(file: FileId, text: &str) -> Parsed<Self> {
        Ok(Parser { tokens: tokens(file, text)?, at: 0, depth: 0 })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    fn next(&mut self) -> Spanned {
        let found = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        found
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, token: &Token, what: &str) -> Parsed<Span> {
        let span = self.span();
        if self.take(token) {
            Ok(span)
        } else {
            Err(Diagnostic::error(span, format!("{what} is expected here")))
        }
    }

    fn end(&self) -> Parsed<()> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(Diagnostic::error(self.span(), "the formula should end here")),
        }
    }

    fn want(&self, e: &Expr, wanted: Sort) -> Parsed<()> {
        let found = sort(e);
        if found == wanted || found == Sort::Either {
            return Ok(());
        }
        let (wanted, found) = match wanted {
            Sort::Predicate => ("a predicate", "an expression"),
            _ => ("an expression", "a predicate"),
        };
        Err(Diagnostic::error(e.span, format!("{wanted} is expected here")).note(format!("this is {found}")))
    }

    fn predicate(&mut self) -> Parsed<Expr> {
        let e = self.formula()?;
        self.want(&e, Sort::Predicate)?;
        Ok(e)
    }

    fn expression(&mut self) -> Parsed<Expr> {
        let e = self.formula()?;
        self.want(&e, Sort::Expression)?;
        Ok(e)
    }

    fn formula(&mut self) -> Parsed<Expr> {
        self.operators(Level::Quantified)
    }

    /// Operands joined by operators that bind at least as tightly as `least`.
    fn operators(&mut self, least: Level) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("formulas nested deeper than {MAX_DEPTH} levels are refused");
            return Err(Diagnostic::error(self.span(), message));
        }
        let mut left = self.prefix()?;
        // The operator that made `left`, unless it stands in parentheses.
        let mut previous: Option<BinOp> = None;
        loop {
            match self.peek().clone() {
                Token::And | Token::Or if least <= Level::Junction => {
                    if let Some(op) = previous.filter(|op| operators::level(*op) < Level::Relational) {
                        return Err(self.incompatible(op, "∧ or ∨"));
                    }
                    left = self.junction(left)?;
                    previous = None;
                }
                Token::Op(op) if least <= operators::level(op) => {
                    let level = operators::level(op);
                    if let Some(first) = previous
                        && operators::level(first) == level
                        && !operators::follows(first, op)
                    {
                        return Err(self.incompatible(first, operators::symbol(op)));
                    }
                    self.next();
                    let right = self.operators(tighter(level))?;
                    let operand =
                        if level == Level::Implication { Sort::Predicate } else { Sort::Expression };
                    self.want(&left, operand)?;
                    self.want(&right, operand)?;
                    let span = left.span.to(right.span);
                    left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
                    previous = Some(op);
                }
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn incompatible(&self, first: BinOp, second: &str) -> Diagnostic {
        let message = format!("{} and {second} cannot stand side by side", operators::symbol(first));
        Diagnostic::error(self.span(), message).help("put parentheses round the part that comes first")
    }

    /// `A ∧ B ∧ C`; `∨` may not be mixed in.
    fn junction(&mut self, first: Expr) -> Parsed<Expr> {
        let connective = self.peek().clone();
        let mut parts = vec![first];
        while self.take(&connective) {
            parts.push(self.operators(Level::Negation)?);
        }
        if matches!(self.peek(), Token::And | Token::Or) {
            return Err(Diagnostic::error(self.span(), "∧ and ∨ cannot be mixed")
                .help("put parentheses round the part that comes first"));
        }
        for part in &parts {
            self.want(part, Sort::Predicate)?;
        }
        let span = parts[0].span.to(parts[parts.len() - 1].span);
        let kind = if connective == Token::And { ExprKind::And(parts) } else { ExprKind::Or(parts) };
        Ok(Expr { kind, span })
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Not => {
                self.next();
                let inner = self.operators(Level::Negation)?;
                self.want(&inner, Sort::Predicate)?;
                ExprKind::Not(Box::new(inner))
            }
            Token::Op(BinOp::Sub) => {
                self.next();
                let inner = self.operators(Level::Multiplicative)?;
                self.want(&inner, Sort::Expression)?;
                match inner.kind {
                    ExprKind::Int(n) => ExprKind::Int(n.neg()),
                    kind => ExprKind::Neg(Box::new(Expr { kind, span: inner.span })),
                }
            }
            Token::Forall | Token::Exists => {
                let quant = if self.next().token == Token::Forall { Quant::Forall } else { Quant::Exists };
                let (names, typing) = self.binders()?;
                self.expect(&Token::Dot, "·")?;
                let body = self.predicate()?;
                let body = match quant {
                    Quant::Forall => guarded(typing, body),
                    Quant::Exists => with_typing(typing, body),
                };
                ExprKind::Quant(quant, names, Box::new(body))
            }
            Token::Lambda => {
                self.next();
                self.lambda()?
            }
            Token::BigUnion | Token::BigInter => {
                let op = if self.next().token == Token::BigUnion { BigOp::Union } else { BigOp::Inter };
                let (names, pred, value) = self.bound_expression()?;
                ExprKind::Big(op, names, Box::new(pred), Box::new(value))
            }
            _ => return self.postfix(),
        };
        let end = self.tokens[self.at.saturating_sub(1)].span;
        Ok(Expr { kind, span: start.to(end) })
    }

    /// `x,y⦂T`: names, and what their types say as a predicate.
    fn binders(&mut self) -> Parsed<(Vec<Ident>, Vec<Expr>)> {
        let (mut names, mut typing) = (Vec::new(), Vec::new());
        loop {
            let Spanned { token, span } = self.next();
            let name = match token {
                Token::Ident(name) => name,
                Token::Primed(name) => primed(&name),
                _ => return Err(Diagnostic::error(span, "a name to bind is expected here")),
            };
            if self.take(&Token::Op(BinOp::OfType)) {
                let set = self.operators(Level::Arrow)?;
                let of = Expr { kind: ExprKind::Ident(name.clone()), span };
                let kind = ExprKind::Binary(BinOp::In, Box::new(of), Box::new(set));
                typing.push(Expr { kind, span });
            }
            names.push(Ident { name, span });
            if !self.take(&Token::Comma) {
                return Ok((names, typing));
            }
        }
    }

    /// `x·P∣E` or `E∣P`, as after `⋃` and inside braces.
    fn bound_expression(&mut self) -> Parsed<(Vec<Ident>, Expr, Expr)> {
        let start = self.at;
        if let Ok((names, typing)) = self.binders()
            && self.take(&Token::Dot)
        {
            let pred = with_typing(typing, self.predicate()?);
            self.expect(&Token::Bar, "∣")?;
            return Ok((names, pred, self.expression()?));
        }
        self.at = start;
        let value = self.expression()?;
        self.expect(&Token::Bar, "∣")?;
        let pred = self.predicate()?;
        Ok((free_in_order(&value), pred, value))
    }

    fn lambda(&mut self) -> Parsed<ExprKind> {
        let pattern = self.operators(Level::Maplet)?;
        let mut names = Vec::new();
        let mut typing = Vec::new();
        let pattern = pattern_names(pattern, &mut names, &mut typing)?;
        self.expect(&Token::Dot, "·")?;
        let pred = with_typing(typing, self.predicate()?);
        self.expect(&Token::Bar, "∣")?;
        let value = self.expression()?;
        let span = pattern.span.to(value.span);
        let kind = ExprKind::Binary(BinOp::Maplet, Box::new(pattern), Box::new(value));
        Ok(comprehension(names, pred, Expr { kind, span }))
    }

    /// An atom with applications, images and converses behind it.
    fn postfix(&mut self) -> Parsed<Expr> {
        let mut e = self.atom()?;
        loop {
            let kind = match self.peek() {
                Token::Open if sort(&e) != Sort::Predicate => {
                    self.next();
                    let args = self.list(&Token::Close)?;
                    self.expect(&Token::Close, ")")?;
                    apply(e.clone(), args)
                }
                Token::OpenBracket => {
                    self.next();
                    let set = self.expression()?;
                    self.expect(&Token::CloseBracket, "]")?;
                    ExprKind::Image(Box::new(e.clone()), Box::new(set))
                }
                Token::Converse => {
                    self.next();
                    ExprKind::Inverse(Box::new(e.clone()))
                }
                _ => return Ok(e),
            };
            let end = self.tokens[self.at.saturating_sub(1)].span;
            e = Expr { kind, span: e.span.to(end) };
        }
    }

    /// Formulas separated by commas, up to the closing token.
    fn list(&mut self, close: &Token) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        if self.peek() == close {
            return Ok(items);
        }
        loop {
            items.push(self.formula()?);
            if !self.take(&Token::Comma) {
                return Ok(items);
            }
        }
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let Spanned { token, span } = self.next();
        let kind = match token {
            Token::Ident(name) => ExprKind::Ident(name),
            Token::Primed(name) => ExprKind::Primed(name),
            Token::Int(n) => ExprKind::Int(n),
            Token::Const(c) => ExprKind::Const(c),
            Token::Function(b) => {
                self.expect(&Token::Open, "(")?;
                let args = self.list(&Token::Close)?;
                self.expect(&Token::Close, ")")?;
                if b != Builtin::Partition && args.len() != 1 {
                    return Err(Diagnostic::error(span, "this function takes one argument"));
                }
                let wanted = if b == Builtin::Bool { Sort::Predicate } else { Sort::Expression };
                for arg in &args {
                    self.want(arg, wanted)?;
                }
                ExprKind::Builtin(b, args)
            }
            Token::Open => {
                let mut inner = self.formula()?;
                self.expect(&Token::Close, ")")?;
                inner.span = span.to(self.tokens[self.at - 1].span);
                return Ok(inner);
            }
            Token::OpenBrace => self.braces()?,
            Token::End => return Err(Diagnostic::error(span, "the formula ends too early")),
            _ => return Err(Diagnostic::error(span, "a formula is expected here")),
        };
        Ok(Expr { kind, span: span.to(self.tokens[self.at - 1].span) })
    }

    fn braces(&mut self) -> Parsed<ExprKind> {
        if self.take(&Token::CloseBrace) {
            return Ok(ExprKind::Const(Const::EmptySet));
        }
        let start = self.at;
        if let Ok((names, typing)) = self.binders()
            && self.take(&Token::Dot)
        {
            let pred = with_typing(typing, self.predicate()?);
            self.expect(&Token::Bar, "∣")?;
            let value = self.expression()?;
            self.expect(&Token::CloseBrace, "}")?;
            return Ok(comprehension(names, pred, value));
        }
        self.at = start;
        let mut items = self.list(&Token::CloseBrace)?;
        for item in &items {
            self.want(item, Sort::Expression)?;
        }
        if items.len() == 1 && self.take(&Token::Bar) {
            let value = items.remove(0);
            let pred = self.predicate()?;
            self.expect(&Token::CloseBrace, "}")?;
            return Ok(comprehension(free_in_order(&value), pred, value));
        }
        if *self.peek() == Token::Bar {
            return Err(Diagnostic::error(self.span(), "several expressions cannot stand before ∣")
                .help("write {x↦y ∣ P} for a set of pairs, or {x,y·P ∣ E}"));
        }
        self.expect(&Token::CloseBrace, "}")?;
        Ok(ExprKind::SetExt(items))
    }

    fn assignment(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let mut targets = Vec::new();
        loop {
            let target = self.postfix()?;
            match &target.kind {
                ExprKind::Ident(_) => {}
                ExprKind::Apply(f, args) if matches!(f.kind, ExprKind::Ident(_)) && args.len() == 1 => {}
                _ => return Err(Diagnostic::error(target.span, "this cannot be assigned to")),
            }
            targets.push(target);
            if !self.take(&Token::Comma) {
                break;
            }
        }
        let Spanned { token, span } = self.next();
        let kind = match token {
            Token::Becomes => {
                let values = self.list(&Token::End)?;
                if values.len() != targets.len() {
                    let message =
                        format!("{} on the left of ≔, but {} on the right", targets.len(), values.len());
                    return Err(Diagnostic::error(span, message));
                }
                for value in &values {
                    self.want(value, Sort::Expression)?;
                }
                StmtKind::Assign(targets, values)
            }
            Token::BecomesIn => StmtKind::BecomesIn(names_only(&targets)?, self.expression()?),
            Token::BecomesSuch => StmtKind::BecomesSuch(names_only(&targets)?, self.predicate()?),
            _ => return Err(Diagnostic::error(span, "≔, :∈ or :∣ is expected here")),
        };
        let end = self.tokens[self.at.saturating_sub(1)].span;
        Ok(Stmt { kind, span: start.to(end) })
    }
}

fn names_only(targets: &[Expr]) -> Parsed<Vec<Ident>> {
    targets
        .iter()
        .map(|t| match &t.kind {
            ExprKind::Ident(name) => Ok(Ident { name: name.clone(), span: t.span }),
            _ => Err(Diagnostic::error(t.span, "only variables stand on the left of :∈ and :∣")),
        })
        .collect()
}

/// `f(x)`; the conditional of the theory plug-in has a tree of its own.
fn apply(function: Expr, mut args: Vec<Expr>) -> ExprKind {
    if matches!(&function.kind, ExprKind::Ident(name) if name.as_ref() == "COND") && args.len() == 3 {
        let otherwise = args.remove(2);
        let value = args.remove(1);
        return ExprKind::If(vec![(args.remove(0), value)], Box::new(otherwise));
    }
    ExprKind::Apply(Box::new(function), args)
}

fn with_typing(mut typing: Vec<Expr>, body: Expr) -> Expr {
    if typing.is_empty() {
        return body;
    }
    let span = body.span;
    typing.push(body);
    Expr { kind: ExprKind::And(typing), span }
}

fn guarded(typing: Vec<Expr>, body: Expr) -> Expr {
    if typing.is_empty() {
        return body;
    }
    let span = body.span;
    let guard = if typing.len() == 1 {
        typing.into_iter().next().expect("one predicate")
    } else {
        Expr { kind: ExprKind::And(typing), span }
    };
    Expr { kind: ExprKind::Binary(BinOp::Implies, Box::new(guard), Box::new(body)), span }
}

/// The names a pattern binds; the pattern comes back without types.
fn pattern_names(pattern: Expr, names: &mut Vec<Ident>, typing: &mut Vec<Expr>) -> Parsed<Expr> {
    let span = pattern.span;
    let kind = match pattern.kind {
        ExprKind::Ident(name) => {
            names.push(Ident { name: name.clone(), span });
            ExprKind::Ident(name)
        }
        ExprKind::Binary(BinOp::Maplet, a, b) => ExprKind::Binary(
            BinOp::Maplet,
            Box::new(pattern_names(*a, names, typing)?),
            Box::new(pattern_names(*b, names, typing)?),
        ),
        ExprKind::Binary(BinOp::OfType, a, set) => {
            let inner = pattern_names(*a, names, typing)?;
            typing.push(Expr { kind: ExprKind::Binary(BinOp::In, Box::new(inner.clone()), set), span });
            inner.kind
        }
        _ => return Err(Diagnostic::error(span, "a pattern of names and ↦ is expected after λ")),
    };
    Ok(Expr { kind, span })
}
