//! Substitutions.
//!
//! In: tokens. Out: statements. Never here: operations and clauses (those are in `machine`).
//! `;` binds loosest, then `||`; `x:(P)` in the place of a statement is always "becomes such that".
//! The readers of single constructs are not inlined: their locals would swell the frame that each
//! level of nesting costs.

use super::ast::{Expr, ExprKind, Ident, Obligation, Stmt, StmtKind};
use super::parser::{Parse, Parser};
use super::token::Tok;
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;

/// Guards and what they guard.
type Branches = Vec<(Expr, Stmt)>;

impl<'t> Parser<'t> {
    /// `S ; T ; …`
    pub fn sequence(&mut self) -> Parse<Stmt> {
        let first = self.parallel()?;
        if self.peek() != Tok::Semicolon {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(Tok::Semicolon) {
            parts.push(self.parallel()?);
        }
        Ok(joined(parts, StmtKind::Seq))
    }

    /// `S || T || …`
    pub fn parallel(&mut self) -> Parse<Stmt> {
        let first = self.statement()?;
        if self.peek() != Tok::Parallel {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(Tok::Parallel) {
            parts.push(self.statement()?);
        }
        Ok(joined(parts, StmtKind::Par))
    }

    pub fn statement(&mut self) -> Parse<Stmt> {
        // A level of blocks costs about twice the stack of a level of brackets.
        self.nested(2, Self::one_statement)
    }

    fn one_statement(&mut self) -> Parse<Stmt> {
        let start = self.span();
        let block = self.peek();
        let opens = !matches!(block, Tok::Ident | Tok::Skip);
        if opens {
            self.open_blocks.push((block, start));
        }
        let kind = match self.peek() {
            Tok::Ident => self.named()?,
            Tok::Skip => {
                self.advance();
                StmtKind::Skip
            }
            Tok::Begin => self.begin()?,
            Tok::Pre => self.guarded("PRE", StmtKind::Pre)?,
            Tok::Assert => self.guarded("ASSERT", |p, s| StmtKind::Assert(Obligation::Assertion, p, s))?,
            Tok::Witness => self.guarded("WITNESS", StmtKind::Witness)?,
            Tok::Choice => self.choice()?,
            Tok::If => self.branches(Tok::Elsif, StmtKind::If)?,
            Tok::Select => self.branches(Tok::When, StmtKind::Select)?,
            Tok::Case => self.case()?,
            Tok::Any => self.any()?,
            Tok::Let => self.let_block()?,
            Tok::Var => self.var_block()?,
            Tok::While => self.repetition()?,
            _ => return self.unexpected("a substitution"),
        };
        if opens {
            self.closed_block = self.open_blocks.pop();
        }
        Ok(Stmt { kind, span: start.to(self.last_span()) })
    }

    /// The inside of a block, which may not be empty.
    fn block(&mut self, word: &str) -> Parse<Stmt> {
        if matches!(self.peek(), Tok::End | Tok::Else | Tok::Elsif | Tok::OrElse | Tok::When) {
            let message =
                format!("expected a substitution, found {}: a block of {word} is empty", self.found());
            return self.fail(Diagnostic::error(self.span(), message).help("write skip to do nothing"));
        }
        let body = self.sequence()?;
        if !matches!(
            self.peek(),
            Tok::End | Tok::Else | Tok::Elsif | Tok::OrElse | Tok::When | Tok::Invariant | Tok::Variant
        ) {
            return self.unexpected("`;`, `||` or the end of the block");
        }
        Ok(body)
    }

    #[inline(never)]
    fn begin(&mut self) -> Parse<StmtKind> {
        self.advance();
        let body = Box::new(self.block("BEGIN")?);
        self.expect(Tok::End)?;
        Ok(StmtKind::Block(body))
    }

    #[inline(never)]
    fn any(&mut self) -> Parse<StmtKind> {
        self.advance();
        let names = self.declared_list()?;
        self.expect(Tok::Where)?;
        let predicate = self.predicate()?.expr;
        self.expect(Tok::Then)?;
        let body = Box::new(self.block("ANY")?);
        self.expect(Tok::End)?;
        Ok(StmtKind::Any(names, predicate, body))
    }

    #[inline(never)]
    fn let_block(&mut self) -> Parse<StmtKind> {
        self.advance();
        let names = self.declared_list()?;
        self.expect(Tok::Be)?;
        let equations = self.predicate()?.expr;
        self.expect(Tok::In)?;
        let body = Box::new(self.block("LET")?);
        self.expect(Tok::End)?;
        Ok(StmtKind::Let(names, equations, body))
    }

    #[inline(never)]
    fn var_block(&mut self) -> Parse<StmtKind> {
        self.advance();
        let names = self.declared_list()?;
        self.expect(Tok::In)?;
        let body = Box::new(self.block("VAR")?);
        self.expect(Tok::End)?;
        Ok(StmtKind::Var(names, body))
    }

    /// `PRE P THEN S END` and its kin.
    #[inline(never)]
    fn guarded(&mut self, word: &str, build: fn(Expr, Box<Stmt>) -> StmtKind) -> Parse<StmtKind> {
        self.advance();
        let predicate = self.predicate()?.expr;
        self.expect(Tok::Then)?;
        let body = self.block(word)?;
        self.expect(Tok::End)?;
        Ok(build(predicate, Box::new(body)))
    }

    #[inline(never)]
    fn choice(&mut self) -> Parse<StmtKind> {
        self.advance();
        let options = self.separated(Tok::OrElse, |p| p.block("CHOICE"))?;
        self.expect(Tok::End)?;
        Ok(StmtKind::Choice(options))
    }

    /// IF and SELECT: guarded branches and an optional ELSE.
    #[inline(never)]
    fn branches(
        &mut self,
        another: Tok,
        build: fn(Branches, Option<Box<Stmt>>) -> StmtKind,
    ) -> Parse<StmtKind> {
        let word = self.peek().spelling();
        self.advance();
        let branches = self.separated(another, |p| {
            let guard = p.predicate()?.expr;
            p.expect(Tok::Then)?;
            Ok((guard, p.block(word)?))
        })?;
        let otherwise = self.otherwise(word)?;
        self.expect(Tok::End)?;
        Ok(build(branches, otherwise))
    }

    fn otherwise(&mut self, word: &str) -> Parse<Option<Box<Stmt>>> {
        if !self.eat(Tok::Else) {
            return Ok(None);
        }
        Ok(Some(Box::new(self.block(word)?)))
    }

    /// `CASE E OF EITHER l THEN S OR m THEN T ELSE U END END`
    #[inline(never)]
    fn case(&mut self) -> Parse<StmtKind> {
        self.advance();
        let subject = self.in_par()?.expr;
        self.expect(Tok::Of)?;
        self.expect(Tok::Either)?;
        let branches = self.separated(Tok::OrElse, |p| {
            let labels = p.comma_list(|p| Ok(p.expression()?.expr))?;
            p.expect(Tok::Then)?;
            Ok((labels, p.block("CASE")?))
        })?;
        let otherwise = self.otherwise("CASE")?;
        self.expect(Tok::End)?;
        if self.peek() != Tok::End {
            let message = format!("expected the second `END` of CASE, found {}", self.found());
            let d = Diagnostic::error(self.span(), message)
                .help("CASE is closed by two ENDs: one of EITHER, one of CASE");
            return self.fail(d);
        }
        self.advance();
        Ok(StmtKind::Case(subject, branches, otherwise))
    }

    #[inline(never)]
    fn repetition(&mut self) -> Parse<StmtKind> {
        self.advance();
        // On failure the counter stays up: recovery must not take the loop's INVARIANT for a clause.
        self.open_loops += 1;
        let cond = self.predicate()?.expr;
        self.expect(Tok::Do)?;
        let body = Box::new(self.block("WHILE")?);
        let (mut invariant, mut variant) = (None, None);
        loop {
            match self.peek() {
                Tok::Invariant if invariant.is_none() => {
                    self.advance();
                    self.open_loops -= 1;
                    invariant = Some(self.predicate()?.expr);
                }
                Tok::Variant if variant.is_none() => {
                    self.advance();
                    variant = Some(self.in_par()?.expr);
                }
                _ => break,
            }
        }
        let (Some(invariant), Some(variant)) = (invariant, variant) else {
            return self.unexpected("the INVARIANT and the VARIANT of the loop");
        };
        self.expect(Tok::End)?;
        Ok(StmtKind::While { cond, body, invariant, variant })
    }

    /// A statement that opens with a name: assignment, choice of values, or call.
    #[inline(never)]
    fn named(&mut self) -> Parse<StmtKind> {
        let targets = self.comma_list(|p| Ok(p.target()?.expr))?;
        match self.peek() {
            Tok::Assign => {
                self.check_targets(&targets);
                self.advance();
                let values = self.comma_list(|p| Ok(p.expression()?.expr))?;
                self.check_lengths(&targets, &values);
                Ok(StmtKind::Assign(targets, values))
            }
            Tok::BecomesIn => {
                let names = self.chosen(&targets);
                self.advance();
                Ok(StmtKind::BecomesIn(names, self.expression()?.expr))
            }
            Tok::Colon => {
                let names = self.chosen(&targets);
                self.advance();
                if self.peek() != Tok::ParOpen {
                    return self.unexpected("`(`: x :(P) chooses a value that satisfies P");
                }
                self.advance();
                let predicate = self.predicate()?.expr;
                if self.peek() != Tok::ParClose {
                    return self.unexpected("`)` or an operator");
                }
                self.advance();
                Ok(StmtKind::BecomesSuch(names, predicate))
            }
            Tok::Results => {
                self.check_targets(&targets);
                self.advance();
                let op = self.dotted()?;
                let mut args = Vec::new();
                if self.eat(Tok::ParOpen) {
                    args = self.arguments(&mut 0)?;
                }
                Ok(StmtKind::Call { results: targets, op, args })
            }
            _ => self.call(targets),
        }
    }

    /// Only plain names may be chosen by `::` and `:(P)`.
    #[inline(never)]
    fn chosen(&mut self, targets: &[Expr]) -> Vec<Ident> {
        let mut names = Vec::with_capacity(targets.len());
        for target in targets {
            match Self::plain_name(target) {
                Some(name) => names.push(name),
                None => {
                    let message = "only plain variables may stand on the left of `::` and `:(…)`";
                    self.report(Diagnostic::error(target.span, message));
                }
            }
        }
        names
    }

    #[inline(never)]
    fn call(&mut self, targets: Vec<Expr>) -> Parse<StmtKind> {
        let span = targets[0].span;
        let mut targets = targets.into_iter();
        let (Some(callee), None) = (targets.next(), targets.next()) else {
            return self.unexpected("`:=`, `::`, `:(` or `<--` after a list of variables");
        };
        match callee.kind {
            ExprKind::Ident(name) => {
                Ok(StmtKind::Call { results: Vec::new(), op: Ident { name, span }, args: Vec::new() })
            }
            ExprKind::Apply(op, args) if matches!(op.kind, ExprKind::Ident(_)) => {
                let Some(op) = Self::plain_name(&op) else { return self.not_a_call(span) };
                Ok(StmtKind::Call { results: Vec::new(), op, args })
            }
            _ => self.not_a_call(span),
        }
    }

    fn not_a_call<T>(&mut self, span: Span) -> Parse<T> {
        let message = format!("expected `:=` after this, found {}", self.found());
        self.fail(Diagnostic::error(span, message))
    }
}

fn joined(parts: Vec<Stmt>, build: fn(Vec<Stmt>) -> StmtKind) -> Stmt {
    let span = parts[0].span.to(parts[parts.len() - 1].span);
    Stmt { kind: build(parts), span }
}
