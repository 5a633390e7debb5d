//! Formulas: operators by priority, brackets, applications.
//!
//! In: tokens. Out: nodes with their sort. Never here: binders and branches (those are in `binder`),
//! literals, substitutions. Predicates and expressions are read by the same loop; each operator then checks
//! the sort of its operands, so that a predicate stands only where one is wanted.
//! The readers of single constructs are not inlined: their locals would swell the frame that each
//! level of nesting costs.

use super::ast::{BinOp, Builtin, Const, Expr, ExprKind, Ident};
use super::builtins;
use super::lexer::unescape;
use super::parser::{Node, Parse, Parser, Sort};
use super::precedence::{Infix, Level, infix, operand_levels};
use super::token::Tok;
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};

impl<'t> Parser<'t> {
    /// A predicate or an expression whose operators bind at least as tightly as `least`.
    pub fn formula(&mut self, least: Level) -> Parse<Node> {
        self.nested(1, |p| p.operators(least))
    }

    pub fn predicate(&mut self) -> Parse<Node> {
        let node = self.formula(Level::FORMULA)?;
        self.want_predicate(&node);
        Ok(node)
    }

    /// An expression without `;` and `||` at its top.
    pub fn expression(&mut self) -> Parse<Node> {
        let node = self.formula(Level::FORMULA)?;
        self.want_expression(&node);
        Ok(node)
    }

    /// An expression that may be a composition `r;s` or a product `r||s`.
    pub fn in_par(&mut self) -> Parse<Node> {
        let node = self.formula(Level::IN_PAR)?;
        self.want_expression(&node);
        Ok(node)
    }

    fn operators(&mut self, least: Level) -> Parse<Node> {
        let mut left = self.prefix()?;
        // The connective that `left` is an open chain of; a parenthesised one is closed.
        let mut chain = None;
        loop {
            if self.peek() == Tok::Symbolic && self.peek_at(1) == Tok::Semicolon && least <= Level::IN_PAR {
                self.advance();
            }
            let Some(operator) = infix(self.peek()) else { break };
            if operator.level() < least {
                break;
            }
            self.advance();
            left = match operator {
                Infix::And | Infix::Or => self.connective(left, operator, &mut chain)?,
                Infix::Op(op) => {
                    chain = None;
                    self.binary(left, op, false)?
                }
                Infix::Swapped(op) => {
                    chain = None;
                    self.binary(left, op, true)?
                }
            };
        }
        Ok(left)
    }

    #[inline(never)]
    fn connective(&mut self, left: Node, operator: Infix, chain: &mut Option<Infix>) -> Parse<Node> {
        let right = self.formula(Level::CONNECTIVE.tighter())?;
        self.want_predicate(&right);
        let span = left.expr.span.to(right.expr.span);
        let below = right.depth;
        if *chain == Some(operator) {
            let mut left = left;
            if let ExprKind::And(parts) | ExprKind::Or(parts) = &mut left.expr.kind {
                parts.push(right.expr);
            }
            left.expr.span = span;
            left.depth = left.depth.max(below + 1);
            return Ok(left);
        }
        self.want_predicate(&left);
        *chain = Some(operator);
        let below = below.max(left.depth);
        let parts = vec![left.expr, right.expr];
        let kind = if operator == Infix::And { ExprKind::And(parts) } else { ExprKind::Or(parts) };
        self.node(kind, span, Sort::Predicate, below)
    }

    #[inline(never)]
    fn binary(&mut self, left: Node, op: BinOp, swapped: bool) -> Parse<Node> {
        let right = self.formula(operand_levels(op).1)?;
        for side in [&left, &right] {
            if op.joins_predicates() {
                self.want_predicate(side);
            } else {
                self.want_expression(side);
            }
        }
        let span = left.expr.span.to(right.expr.span);
        let below = left.depth.max(right.depth);
        let sort = if op.is_predicate() { Sort::Predicate } else { Sort::Expression };
        let (first, second) = if swapped { (right.expr, left.expr) } else { (left.expr, right.expr) };
        self.node(ExprKind::Binary(op, Box::new(first), Box::new(second)), span, sort, below)
    }

    fn prefix(&mut self) -> Parse<Node> {
        match self.peek() {
            Tok::Minus => {
                let minus = self.advance();
                let operand = self.postfix()?;
                self.want_expression(&operand);
                let span = minus.to(operand.expr.span);
                self.node(ExprKind::Neg(Box::new(operand.expr)), span, Sort::Expression, operand.depth)
            }
            Tok::Label => {
                let pragma = self.advance();
                let name = self.pragma_argument(pragma);
                let operand = self.formula(Level::LABELLED)?;
                self.want_predicate(&operand);
                let span = pragma.to(operand.expr.span);
                self.node(ExprKind::Label(name, Box::new(operand.expr)), span, Sort::Predicate, operand.depth)
            }
            _ => self.postfix(),
        }
    }

    /// An atom followed by applications, images, fields and inverses, read from left to right.
    fn postfix(&mut self) -> Parse<Node> {
        let node = self.atom()?;
        self.postfix_of(node)
    }

    /// The left side of an assignment or the head of a call: a name and what follows it. Here no
    /// name is that of a built-in function.
    pub fn target(&mut self) -> Parse<Node> {
        let name = self.dotted()?;
        let node = self.node(ExprKind::Ident(name.name), name.span, Sort::Either, 0)?;
        self.postfix_of(node)
    }

    fn postfix_of(&mut self, mut node: Node) -> Parse<Node> {
        loop {
            if node.sort == Sort::Predicate {
                return Ok(node);
            }
            node = match self.peek() {
                Tok::ParOpen => self.application(node)?,
                Tok::BracketOpen => {
                    self.advance();
                    let set = self.in_par()?;
                    let close = self.expect(Tok::BracketClose)?;
                    let span = node.expr.span.to(close);
                    let kind = ExprKind::Image(Box::new(node.expr), Box::new(set.expr));
                    self.node(kind, span, Sort::Expression, node.depth.max(set.depth))?
                }
                Tok::Quote => {
                    self.after_inverse(&node, "field")?;
                    self.advance();
                    let field = self.declared()?;
                    let span = node.expr.span.to(field.span);
                    self.node(
                        ExprKind::Field(Box::new(node.expr), field),
                        span,
                        Sort::Expression,
                        node.depth,
                    )?
                }
                Tok::Inverse => {
                    self.after_inverse(&node, "second `~`")?;
                    let tilde = self.advance();
                    let span = node.expr.span.to(tilde);
                    self.node(ExprKind::Inverse(Box::new(node.expr)), span, Sort::Expression, node.depth)?
                }
                _ => return Ok(node),
            };
        }
    }

    /// The grammar has two gaps: neither `~` nor a field may follow `~`.
    fn after_inverse(&mut self, node: &Node, what: &str) -> Parse<()> {
        if self.previous() == Tok::Inverse && matches!(node.expr.kind, ExprKind::Inverse(_)) {
            let message = format!("a {what} may not follow `~` directly");
            return self
                .fail(Diagnostic::error(self.span(), message).help("put parentheses round the inverse"));
        }
        Ok(())
    }

    #[inline(never)]
    fn application(&mut self, callee: Node) -> Parse<Node> {
        self.advance();
        let mut below = callee.depth;
        let arguments = self.arguments(&mut below)?;
        let span = callee.expr.span.to(self.last_span());
        let sort = match callee.expr.kind {
            ExprKind::Ident(_) => Sort::Either,
            _ => Sort::Expression,
        };
        self.node(ExprKind::Apply(Box::new(callee.expr), arguments), span, sort, below)
    }

    /// `a, b, …)`: arguments of a call, the opening parenthesis already read.
    pub fn arguments(&mut self, below: &mut u32) -> Parse<Vec<Expr>> {
        let arguments = self.comma_list(|p| {
            let node = p.expression()?;
            *below = node.depth.max(*below);
            Ok(node.expr)
        })?;
        self.expect(Tok::ParClose)?;
        Ok(arguments)
    }

    pub fn value(&mut self, kind: ExprKind, span: Span) -> Parse<Node> {
        self.node(kind, span, Sort::Expression, 0)
    }

    fn atom(&mut self) -> Parse<Node> {
        let tok = self.peek();
        if let Some(function) = builtins::keyword_function(tok) {
            return self.keyword_function(function);
        }
        if let Some(value) = builtins::keyword_value(tok) {
            let sort = match value {
                Const::BTrue | Const::BFalse => Sort::Predicate,
                _ => Sort::Expression,
            };
            let span = self.advance();
            return self.node(ExprKind::Const(value), span, sort, 0);
        }
        match tok {
            Tok::Ident => self.name(),
            Tok::Int | Tok::Real | Tok::Str | Tok::MultiStr => self.literal(),
            Tok::Template => self.template(),
            Tok::ParOpen => self.parenthesised(),
            Tok::BraceOpen => self.braces(),
            Tok::BracketOpen => self.brackets(),
            Tok::EmptySet => {
                let span = self.advance();
                self.value(ExprKind::Const(Const::EmptySet), span)
            }
            Tok::EmptySeq => {
                let span = self.advance();
                self.value(ExprKind::Const(Const::EmptySeq), span)
            }
            Tok::Less if self.peek_at(1) == Tok::Greater => {
                let span = self.advance();
                let span = span.to(self.advance());
                self.value(ExprKind::Const(Const::EmptySeq), span)
            }
            Tok::Rec | Tok::Struct => self.record(),
            Tok::Not => self.negated(),
            Tok::Forall | Tok::Exists => self.quantified(),
            Tok::Lambda | Tok::BigUnion | Tok::BigInter | Tok::Sigma | Tok::Pi => self.comprehended(),
            Tok::If => self.conditional(),
            Tok::Let => self.local(),
            Tok::Symbolic => self.symbolic(),
            _ => self.unexpected("an expression or a predicate"),
        }
    }

    #[inline(never)]
    fn name(&mut self) -> Parse<Node> {
        let start = self.position();
        let quoted = self.is_quoted(self.span());
        let name = self.dotted()?;
        if self.peek() == Tok::Old {
            let span = name.span.to(self.advance());
            return self.value(ExprKind::Old(name.name), span);
        }
        let single = self.position() == start + 1;
        if single && !quoted && self.peek() == Tok::ParOpen {
            let function = builtins::contextual_function(&name.name);
            if let Some(function) = function.filter(|f| !self.user_named.contains(f)) {
                return self.builtin_arguments(function, name.span);
            }
        }
        self.node(ExprKind::Ident(name.name), name.span, Sort::Either, 0)
    }

    #[inline(never)]
    fn keyword_function(&mut self, function: Builtin) -> Parse<Node> {
        let span = self.advance();
        if self.peek() != Tok::ParOpen {
            let word = builtins::spelling(function);
            let message = format!(
                "`{word}` is a keyword function and needs its argument in parentheses, found {}",
                self.found()
            );
            return self.fail(Diagnostic::error(span, message).help(format!("write {word}(…)")));
        }
        self.builtin_arguments(function, span)
    }

    #[inline(never)]
    fn builtin_arguments(&mut self, function: Builtin, word: Span) -> Parse<Node> {
        self.expect(Tok::ParOpen)?;
        let mut below = 0;
        let arguments = self.comma_list(|p| {
            let node = p.formula(Level::IN_PAR)?;
            if function == Builtin::Bool {
                p.want_predicate(&node);
            } else {
                p.want_expression(&node);
            }
            below = node.depth.max(below);
            Ok(node.expr)
        })?;
        let span = word.to(self.expect(Tok::ParClose)?);
        if !builtins::takes(function, arguments.len()) {
            let (least, most) = builtins::arity(function);
            let wanted = match (least, most) {
                (1, 1) => "one argument".to_owned(),
                (l, m) if l == m => format!("{l} arguments"),
                (l, m) => format!("{l} or {m} arguments"),
            };
            let message =
                format!("`{}` takes {wanted}, found {}", builtins::spelling(function), arguments.len());
            let mut d = Diagnostic::error(span, message);
            if most == 1 {
                d = d.help("a couple as argument needs its own parentheses: f((x,y))");
            }
            self.report(d);
        }
        let sort = if builtins::yields_predicate(function) { Sort::Predicate } else { Sort::Expression };
        self.node(ExprKind::Builtin(function, arguments), span, sort, below)
    }

    /// `(P)`, `(E)`, `(E,F,…)`.
    #[inline(never)]
    fn parenthesised(&mut self) -> Parse<Node> {
        let open = self.advance();
        let mut node = self.formula(Level::IN_PAR)?;
        while self.eat(Tok::Comma) {
            let right = self.in_par()?;
            self.want_expression(&node);
            node = self.couple(node, right)?;
        }
        if self.peek() != Tok::ParClose {
            return self.unexpected("`)` or an operator");
        }
        node.expr.span = open.to(self.advance());
        Ok(node)
    }

    #[inline(never)]
    pub fn couple(&mut self, left: Node, right: Node) -> Parse<Node> {
        let span = left.expr.span.to(right.expr.span);
        let below = left.depth.max(right.depth);
        let kind = ExprKind::Binary(BinOp::Maplet, Box::new(left.expr), Box::new(right.expr));
        self.node(kind, span, Sort::Expression, below)
    }

    /// `{}`, `{E,…}`, `{x,…|P}`, `{x,…·P|E}`.
    #[inline(never)]
    fn braces(&mut self) -> Parse<Node> {
        if self.opens_comprehension() {
            return self.set_comprehension();
        }
        let open = self.advance();
        if self.peek() == Tok::BraceClose {
            let span = open.to(self.advance());
            return self.value(ExprKind::Const(Const::EmptySet), span);
        }
        let mut below = 0;
        let elements = self.comma_list(|p| {
            let node = p.in_par()?;
            below = node.depth.max(below);
            Ok(node.expr)
        })?;
        if self.peek() == Tok::Bar {
            let span = open.to(self.last_span());
            let d = Diagnostic::error(span, "only names may stand before the `|` of a set comprehension")
                .help("write {x,y | …} for couples, or {e | #(x,y).(… & e = E)}");
            return self.fail(d);
        }
        if self.peek() != Tok::BraceClose {
            return self.unexpected("`,` or `}`");
        }
        let span = open.to(self.advance());
        self.node(ExprKind::SetExt(elements), span, Sort::Expression, below)
    }

    /// `[]`, `[E,…]`, and `[x,… := E,…] P`.
    #[inline(never)]
    fn brackets(&mut self) -> Parse<Node> {
        let open = self.advance();
        if self.peek() == Tok::BracketClose {
            let span = open.to(self.advance());
            return self.value(ExprKind::Const(Const::EmptySeq), span);
        }
        let mut below = 0;
        let mut element = |p: &mut Self| {
            let node = p.expression()?;
            below = node.depth.max(below);
            Ok(node.expr)
        };
        let elements = self.comma_list(&mut element)?;
        if self.eat(Tok::Assign) {
            let values = self.comma_list(&mut element)?;
            self.expect(Tok::BracketClose)?;
            self.check_targets(&elements);
            self.check_lengths(&elements, &values);
            let predicate = self.formula(Level::AFTER)?;
            self.want_predicate(&predicate);
            let span = open.to(predicate.expr.span);
            let below = below.max(predicate.depth);
            let kind = ExprKind::After(elements, values, Box::new(predicate.expr));
            return self.node(kind, span, Sort::Predicate, below);
        }
        if self.peek() != Tok::BracketClose {
            return self.unexpected("`,` or `]`");
        }
        let span = open.to(self.advance());
        self.node(ExprKind::SeqExt(elements), span, Sort::Expression, below)
    }

    /// `rec(f:E,…)` and `struct(f:S,…)`; an entry may stand in parentheses.
    #[inline(never)]
    fn record(&mut self) -> Parse<Node> {
        let tok = self.peek();
        let word = self.advance();
        self.expect(Tok::ParOpen)?;
        let mut below = 0;
        let entries = self.comma_list(|p| {
            let parenthesised = p.eat(Tok::ParOpen);
            let field = p.declared()?;
            p.expect(Tok::Colon)?;
            let value = p.in_par()?;
            if parenthesised {
                p.expect(Tok::ParClose)?;
            }
            below = value.depth.max(below);
            Ok((field, value.expr))
        })?;
        let span = word.to(self.expect(Tok::ParClose)?);
        let kind = if tok == Tok::Rec { ExprKind::Rec(entries) } else { ExprKind::Struct(entries) };
        self.node(kind, span, Sort::Expression, below)
    }

    /// The pragma counts before comprehensions only; elsewhere it is a comment.
    #[inline(never)]
    fn symbolic(&mut self) -> Parse<Node> {
        let pragma = self.span();
        while self.eat(Tok::Symbolic) {}
        let node = self.atom()?;
        match node.expr.kind {
            ExprKind::Compr(..) | ExprKind::Big(..) => {
                let span = pragma.to(node.expr.span);
                self.node(ExprKind::Symbolic(Box::new(node.expr)), span, Sort::Expression, node.depth)
            }
            _ => Ok(node),
        }
    }

    /// The word or string a pragma was given.
    pub fn pragma_argument(&mut self, pragma: Span) -> Name {
        let text = self.slice(pragma);
        let inner = text.strip_prefix("/*@").and_then(|t| t.strip_suffix("*/")).unwrap_or("").trim();
        let argument =
            inner[inner.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(inner.len())..].trim();
        match argument.strip_prefix('"').and_then(|a| a.strip_suffix('"')) {
            Some(string) => Name::from(unescape(string, &[])),
            None => Name::from(argument),
        }
    }

    /// Left sides of assignments are names, applications and fields; no application follows a field.
    pub fn check_targets(&mut self, targets: &[Expr]) {
        for target in targets {
            let mut inner = target;
            let mut application_seen = false;
            let problem = loop {
                match &inner.kind {
                    ExprKind::Ident(_) => break None,
                    ExprKind::Apply(callee, _) => {
                        application_seen = true;
                        inner = callee;
                    }
                    ExprKind::Field(record, _) if !application_seen => inner = record,
                    ExprKind::Field(..) => {
                        break Some("an application may not follow a field on the left of `:=`");
                    }
                    _ => break Some("this cannot be assigned to"),
                }
            };
            if let Some(problem) = problem {
                let d = Diagnostic::error(target.span, problem)
                    .help("assignable are x, f(a), f(a)(b), r'field and f(a)'field");
                self.report(d);
            }
        }
    }

    /// An assignment has as many values as targets.
    pub fn check_lengths(&mut self, targets: &[Expr], values: &[Expr]) {
        if let ([first, ..], [.., last]) = (targets, values)
            && targets.len() != values.len()
        {
            let message = format!("{} on the left of `:=`, but {} on the right", targets.len(), values.len());
            self.report(Diagnostic::error(first.span.to(last.span), message));
        }
    }

    /// A plain name of an expression, if it is one.
    pub fn plain_name(expr: &Expr) -> Option<Ident> {
        match &expr.kind {
            ExprKind::Ident(name) => Some(Ident { name: name.clone(), span: expr.span }),
            _ => None,
        }
    }
}
