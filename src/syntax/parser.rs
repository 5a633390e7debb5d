//! What all parsers share: the cursor over the tokens, messages, the sort and depth of formulas.
//!
//! In: tokens of `lexer`. Out: names, lists and messages for the parsers of formulas, substitutions
//! and machines. Never here: grammar rules of their own.
//!
//! A function that fails has already put its message into `diagnostics`; `Failed` only unwinds to the
//! nearest place where reading can go on. A formula of the wrong sort is reported without unwinding.

use super::ast::{BinOp, Builtin, Const, Expr, ExprKind, Ident};
use super::builtins::{contextual_function, yields_predicate};
use super::lexer::{Lexed, lex, unescape};
use super::precedence::{Level, level_of};
use super::token::{Tok, Token};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::text::distance;
use bombus_base::{FileId, Name, Span};
use std::collections::HashMap;

/// Words that open the clauses of a machine, as they are most often misspelt.
const CLAUSES: [&str; 14] = [
    "SETS",
    "CONSTANTS",
    "PROPERTIES",
    "CONSTRAINTS",
    "VARIABLES",
    "INVARIANT",
    "ASSERTIONS",
    "INITIALISATION",
    "OPERATIONS",
    "DEFINITIONS",
    "INCLUDES",
    "EXTENDS",
    "IMPORTS",
    "PROMOTES",
];

/// Deeper trees and deeper brackets are refused, so that no later stage can run out of stack.
pub const MAX_DEPTH: u32 = 2000;

/// More messages of one file help nobody.
const MAX_MESSAGES: usize = 60;

/// Marks that a message was left and reading must go on elsewhere.
#[derive(Debug)]
pub struct Failed;

pub type Parse<T> = Result<T, Failed>;

/// What a formula is, as far as the text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Predicate,
    Expression,
    /// A name or a call: the definition behind it decides.
    Either,
}

/// A formula under construction.
pub struct Node {
    pub expr: Expr,
    pub sort: Sort,
    /// Height of the tree, at most `MAX_DEPTH`.
    pub depth: u32,
}

pub struct Parser<'t> {
    pub file: FileId,
    pub text: &'t str,
    tokens: Vec<Token>,
    pos: usize,
    pub diagnostics: Vec<Diagnostic>,
    nesting: u32,
    /// Loops whose INVARIANT has not been read yet: that keyword is no clause then.
    pub open_loops: u32,
    /// Blocks of substitutions that were opened and not closed yet, outermost first.
    pub open_blocks: Vec<(Tok, Span)>,
    /// The block that the END read last closes.
    pub closed_block: Option<(Tok, Span)>,
    /// Contextual functions whose names this text uses for something of its own.
    pub user_named: Vec<Builtin>,
    names: HashMap<&'t str, Name>,
}

impl<'t> Parser<'t> {
    pub fn new(file: FileId, text: &'t str) -> Self {
        Self::of_part(file, text, 0, text.len())
    }

    /// A parser of `text[from..to]`, with spans that count from the start of the text.
    pub fn of_part(file: FileId, text: &'t str, from: usize, to: usize) -> Self {
        // Spans hold 32 bits.
        if to >= u32::MAX as usize {
            let message = "texts of 4 GiB and more cannot be read";
            let mut parser = Self::of_part(file, "", 0, 0);
            parser.diagnostics.push(Diagnostic::plain(message));
            return parser;
        }
        let lexed = lex(file, text, from, to);
        let user_named = user_named(text, &lexed);
        Parser {
            file,
            text,
            tokens: lexed.tokens,
            pos: 0,
            diagnostics: lexed.diagnostics,
            nesting: 0,
            open_loops: 0,
            open_blocks: Vec::new(),
            closed_block: None,
            user_named,
            names: HashMap::new(),
        }
    }

    /// A parser of a part of the same text that belongs inside the formula being read.
    pub fn inside(&self, from: usize, to: usize) -> Self {
        let mut inner = Self::of_part(self.file, self.text, from, to);
        inner.user_named.clone_from(&self.user_named);
        inner.nesting = self.nesting;
        inner
    }

    // ----- the cursor -----

    pub fn peek(&self) -> Tok {
        self.tokens[self.pos].tok
    }

    pub fn peek_at(&self, ahead: usize) -> Tok {
        self.tokens.get(self.pos + ahead).map_or(Tok::Eof, |t| t.tok)
    }

    pub fn position(&self) -> usize {
        self.pos
    }

    pub fn rewind(&mut self, position: usize) {
        self.pos = position;
    }

    pub fn span(&self) -> Span {
        self.span_at(self.pos)
    }

    pub fn span_at(&self, index: usize) -> Span {
        let token = self.tokens[index];
        Span { file: self.file, start: token.start, end: token.end }
    }

    /// The span of the token just read.
    pub fn last_span(&self) -> Span {
        self.span_at(self.pos.saturating_sub(1))
    }

    pub fn previous(&self) -> Tok {
        self.tokens[self.pos.saturating_sub(1)].tok
    }

    pub fn slice(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Reads one token and gives its span. The end of the text is never passed.
    pub fn advance(&mut self) -> Span {
        let span = self.span();
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
        span
    }

    pub fn eat(&mut self, tok: Tok) -> bool {
        let found = self.peek() == tok;
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, tok: Tok) -> Parse<Span> {
        if self.peek() == tok {
            return Ok(self.advance());
        }
        self.unexpected(&format!("`{}`", tok.spelling()))
    }

    /// Runs `inner` deeper by some levels of brackets or blocks.
    pub fn nested<T>(&mut self, levels: u32, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting + levels > MAX_DEPTH {
            return self.too_deep();
        }
        self.nesting += levels;
        let result = inner(self);
        self.nesting -= levels;
        result
    }

    pub fn too_deep<T>(&mut self) -> Parse<T> {
        let message = "this is nested too deeply";
        self.fail(
            Diagnostic::error(self.span(), message).help("name parts of it by definitions or constants"),
        )
    }

    // ----- messages -----

    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_MESSAGES {
            self.diagnostics.push(diagnostic);
        }
    }

    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    /// The next token as a message calls it.
    pub fn found(&self) -> String {
        /// Longer tokens are cut.
        const SHOWN: usize = 40;
        match self.peek() {
            Tok::Eof => "the end of the text".into(),
            _ => {
                let text = self.slice(self.span());
                match text.char_indices().nth(SHOWN) {
                    Some((at, _)) => format!("`{}…`", &text[..at]),
                    None => format!("`{text}`"),
                }
            }
        }
    }

    pub fn unexpected<T>(&mut self, expected: &str) -> Parse<T> {
        let mut d = Diagnostic::error(self.span(), format!("expected {expected}, found {}", self.found()));
        if let Some((block, opened)) = self.unclosed_block(expected) {
            let closed =
                if self.open_blocks.is_empty() { "is closed by the last END" } else { "is not closed" };
            d = d
                .label(opened, format!("this {} {closed}", block.spelling()))
                .help("every block has an END of its own: one is missing before this place");
        } else if let Some(opened) = self.unclosed_bracket(expected) {
            d = d.label(opened, "this `(` is not closed");
        } else if let Some(help) = self.misread(expected) {
            d = d.help(help);
        } else if let Some(help) = self.hint() {
            d = d.help(help);
        }
        self.fail(d)
    }

    /// The parenthesis that is open where a formula ends.
    fn unclosed_bracket(&self, expected: &str) -> Option<Span> {
        let ends = CLAUSES.contains(&self.slice(self.span()))
            || matches!(self.peek(), Tok::Eof | Tok::End | Tok::Then | Tok::Else | Tok::Semicolon);
        if !ends || !expected.contains("`)`") {
            return None;
        }
        let mut closed = 0u32;
        for at in (0..self.pos).rev() {
            match self.tokens[at].tok {
                Tok::ParClose => closed += 1,
                Tok::ParOpen if closed == 0 => return Some(self.span_at(at)),
                Tok::ParOpen => closed -= 1,
                _ => {}
            }
        }
        None
    }

    /// What a word or sign at the place of an error was probably meant to be.
    fn misread(&self, expected: &str) -> Option<String> {
        let here = self.peek();
        let begun = self.pos.checked_sub(2).map(|at| self.tokens[at].tok);
        let initialising = matches!(begun, Some(Tok::Initialisation | Tok::Initialization));
        let body =
            expected.contains("the end of the block") || expected.contains("before the next operation");
        if matches!(here, Tok::Equal | Tok::Defines) && (body || initialising) {
            return Some("a value is assigned by `:=`".into());
        }
        if here == Tok::Parallel && expected.contains("THEN") {
            return Some("«or» is written `or`".into());
        }
        if here == Tok::Forall && self.tokens.get(self.pos + 1).is_some_and(|t| t.tok == Tok::Equal) {
            return Some("«not equal» is written `/=`".into());
        }
        if here == Tok::EmptySeq && expected.contains("THEN") {
            return Some("«not equal» is written `/=`; `<>` is the empty sequence".into());
        }
        if here == Tok::Semicolon && expected == "`}`" {
            return Some("elements are separated by commas".into());
        }
        let clause_follows =
            self.pos + 1 < self.tokens.len() && CLAUSES.contains(&self.slice(self.span_at(self.pos + 1)));
        if here == Tok::Semicolon && clause_follows {
            return Some("a clause ends without `;`".into());
        }
        if here == Tok::When && expected == "a substitution" {
            return Some("a guarded substitution begins with SELECT".into());
        }
        if here != Tok::Ident {
            return None;
        }
        let word = self.slice(self.span());
        if word.eq_ignore_ascii_case("and") {
            return Some("«and» is written `&`".into());
        }
        if word.len() >= 4 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            let near = CLAUSES.iter().map(|c| (distance(word, c), *c)).min().filter(|(d, _)| *d <= 2);
            if let Some((_, clause)) = near {
                return Some(format!("did you mean the clause {clause}?"));
            }
        }
        (self.previous() == Tok::Ident && expected.contains("clause"))
            .then(|| "names of a list are separated by commas".to_string())
    }

    /// The obvious way out, if the two tokens at the place of an error show one.
    fn hint(&self) -> Option<&'static str> {
        let (before, here) = (self.previous(), self.peek());
        Some(match (before, here) {
            (Tok::Semicolon, Tok::Semicolon) => "remove one of the two `;`",
            (Tok::Semicolon, Tok::End | Tok::Eof) => "`;` separates; none may stand after the last part",
            (Tok::Parallel, Tok::Parallel) => "remove one of the two `||`",
            (Tok::And, Tok::And) => "remove one of the two `&`",
            (Tok::Minus, Tok::Minus) => "write -(-x): two minus signs may not follow each other",
            (_, Tok::Assign) => "`:=` assigns in a substitution; an equation is written `=`",
            (_, Tok::Defines) => "`==` stands in definitions only; an equation is written `=`",
            (_, Tok::Results) => {
                "`<--` takes the results of an operation; to compare, write `<` and `-` apart"
            }
            (_, Tok::Semicolon | Tok::Parallel) => {
                "between relations `;` and `||` stand inside parentheses only, between substitutions inside BEGIN … END"
            }
            (_, Tok::Quote) => "`'` selects the field of a record; names have no ASCII prime",
            _ => return None,
        })
    }

    // ----- names -----

    pub fn intern(&mut self, text: &'t str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(text, name.clone());
        name
    }

    /// Whether the token at `index` is a name written between back-quotes.
    pub fn is_quoted(&self, span: Span) -> bool {
        self.text.as_bytes().get(span.start as usize) == Some(&b'`')
    }

    pub fn component(&mut self) -> Parse<Ident> {
        if self.peek() != Tok::Ident {
            return self.no_name();
        }
        let span = self.advance();
        let text = self.slice(span);
        let name = match text.strip_prefix('`') {
            Some(inner) => Name::from(unescape(inner.strip_suffix('`').unwrap_or(inner), &['`'])),
            None => self.intern(text),
        };
        Ok(Ident { name, span })
    }

    fn no_name<T>(&mut self) -> Parse<T> {
        let reserved = self.slice(self.span()).starts_with(|c: char| c.is_ascii_alphabetic());
        let mut d = Diagnostic::error(self.span(), format!("expected a name, found {}", self.found()));
        if (self.previous(), self.peek()) == (Tok::ParOpen, Tok::ParClose) {
            d = d.help("where there are no parameters, no parentheses are written");
        } else if reserved && self.peek() != Tok::Eof {
            d = d.help("this word is reserved; a name that equals it is written between back-quotes");
        }
        self.fail(d)
    }

    /// A name that may be dotted, `a.b.c`.
    pub fn dotted(&mut self) -> Parse<Ident> {
        let first = self.component()?;
        if self.peek() != Tok::Dot || self.peek_at(1) != Tok::Ident {
            return Ok(first);
        }
        let mut text = first.name.to_string();
        let mut span = first.span;
        while self.peek() == Tok::Dot && self.peek_at(1) == Tok::Ident {
            self.advance();
            let next = self.component()?;
            text.push('.');
            text.push_str(&next.name);
            span = span.to(next.span);
        }
        Ok(Ident { name: Name::from(text), span })
    }

    /// A name that is declared here and so may not be dotted.
    pub fn declared(&mut self) -> Parse<Ident> {
        let name = self.component()?;
        if self.peek() == Tok::Dot && self.peek_at(1) == Tok::Ident {
            self.advance();
            let span = name.span.to(self.span());
            return self.fail(Diagnostic::error(span, "a name that is declared here may not hold a dot"));
        }
        Ok(name)
    }

    /// `item, item, …`, at least one.
    pub fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.separated(Tok::Comma, &mut item)
    }

    /// Items between separators, at least one.
    pub fn separated<T>(
        &mut self,
        separator: Tok,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(separator) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub fn declared_list(&mut self) -> Parse<Vec<Ident>> {
        self.comma_list(Self::declared)
    }

    // ----- sorts -----

    /// Reports a predicate that stands where a value is wanted.
    pub fn want_expression(&mut self, node: &Node) {
        if node.sort != Sort::Predicate {
            return;
        }
        let mut d =
            Diagnostic::error(node.expr.span, "this is a predicate, but an expression is expected here");
        d = match &node.expr.kind {
            ExprKind::Binary(op, ..) if level_of(&node.expr.kind) == Level::COMPARISON => {
                let op = op.spelling();
                d.help(format!("`{op}` does not chain; the value of a predicate is written bool(…)"))
            }
            _ => d.help("the value of a predicate is written bool(…)"),
        };
        self.report(d);
    }

    /// Reports a value that stands where a predicate is wanted.
    pub fn want_predicate(&mut self, node: &Node) {
        if node.sort != Sort::Expression {
            return;
        }
        let mut d =
            Diagnostic::error(node.expr.span, "this is an expression, but a predicate is expected here");
        if contains_append(&node.expr) {
            d = d.help("`<-` appends to a sequence; write `< -` to compare with a negative number");
        } else if matches!(node.expr.kind, ExprKind::Const(Const::True | Const::False)) {
            d = d.help("TRUE and FALSE are values; the predicates are btrue and bfalse, or write x = TRUE");
        }
        self.report(d);
    }

    /// Builds a node over children of the given largest depth.
    pub fn node(&mut self, kind: ExprKind, span: Span, sort: Sort, below: u32) -> Parse<Node> {
        if below >= MAX_DEPTH {
            return self.too_deep();
        }
        Ok(Node { expr: Expr { kind, span }, sort, depth: below + 1 })
    }
}

/// Whether an `<-` stands at the top of an expression, where a comparison was probably meant.
fn contains_append(expr: &Expr) -> bool {
    let mut expr = expr;
    while let ExprKind::Binary(op, left, _) = &expr.kind {
        if *op == BinOp::Append {
            return true;
        }
        expr = left;
    }
    false
}

/// Contextual functions whose names occur without arguments or as the name of a definition: the text
/// then means its own variable or definition, here and wherever the name is applied.
fn user_named(text: &str, lexed: &Lexed) -> Vec<Builtin> {
    let tok = |at: usize| lexed.tokens.get(at).map_or(Tok::Eof, |t| t.tok);
    let mut found = Vec::new();
    for &at in &lexed.contextual {
        let token = lexed.tokens[at];
        let Some(function) = contextual_function(&text[token.start as usize..token.end as usize]) else {
            continue;
        };
        if found.contains(&function) || (at > 0 && tok(at - 1) == Tok::Quote) {
            continue;
        }
        let mut end = at + 1;
        if tok(end) == Tok::ParOpen {
            end += 1;
            while matches!(tok(end), Tok::Ident | Tok::Comma) {
                end += 1;
            }
            if tok(end) != Tok::ParClose || tok(end + 1) != Tok::Defines {
                continue;
            }
        }
        found.push(function);
    }
    found
}

/// The sort of a finished formula.
pub fn sort_of(expr: &Expr) -> Sort {
    match &expr.kind {
        ExprKind::Ident(_) => Sort::Either,
        ExprKind::Apply(callee, _) if matches!(callee.kind, ExprKind::Ident(_)) => Sort::Either,
        ExprKind::Not(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Quant(..)
        | ExprKind::After(..)
        | ExprKind::Label(..)
        | ExprKind::Const(Const::BTrue | Const::BFalse) => Sort::Predicate,
        ExprKind::Binary(op, ..) if op.is_predicate() => Sort::Predicate,
        ExprKind::Builtin(function, _) if yields_predicate(*function) => Sort::Predicate,
        ExprKind::If(branches, otherwise) => branches
            .iter()
            .map(|(_, value)| sort_of(value))
            .find(|sort| *sort != Sort::Either)
            .unwrap_or_else(|| sort_of(otherwise)),
        ExprKind::Let(_, _, body) => sort_of(body),
        _ => Sort::Expression,
    }
}
