//! The parser's cursor, paragraphs, declarations and references to schemas.
//!
//! In: the tokens of all boxes. Out: paragraphs; where one item is wrong, the next one is read all the same.

use super::lexer::{BoxKind, FormalBox, Scanned};
use super::operators::{Fixity, Operators};
use super::token::{Tok, Token};
use super::tree::{
    Decl, Frame, Ident, Logic, LogicKind, Paragraph, ParagraphKind, SchemaRef, SchemaText, Spec,
};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::{Name, Span};
use std::collections::BTreeSet;

pub(super) type Parse<T> = Result<T, Box<Diagnostic>>;

/// How deep a formula may nest.
const MAX_DEPTH: u32 = 500;
/// How many operators of one formula may stand in chains such as `a + b + c`, which nest to the left.
const MAX_LINKS: u32 = 2000;

pub(super) struct Parser<'b> {
    tokens: &'b [Token],
    pub at: usize,
    pub operators: &'b Operators,
    /// Names of all schemas, known before anything is parsed.
    schemas: &'b BTreeSet<Name>,
    /// For each `(` and `[` the place of the sign that closes it.
    closing: Vec<usize>,
    depth: u32,
    links: u32,
}

pub(super) fn specification(scanned: Scanned) -> (Spec, Vec<Diagnostic>) {
    let Scanned { boxes, operators, mut diagnostics } = scanned;
    let schemas = schema_names(&boxes);
    let mut spec = Spec::default();
    for formal in &boxes {
        let mut parser = Parser {
            tokens: &formal.tokens,
            at: 0,
            operators: &operators,
            schemas: &schemas,
            closing: closing(&formal.tokens),
            depth: 0,
            links: 0,
        };
        parser.paragraph(formal, &mut spec.paragraphs, &mut diagnostics);
    }
    (spec, diagnostics)
}

/// All names of schema boxes and left sides of `\defs`.
fn schema_names(boxes: &[FormalBox]) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    for formal in boxes {
        names.extend(formal.name.as_ref().map(|(name, _)| name.clone()));
        for (i, token) in formal.tokens.iter().enumerate() {
            if token.tok != Tok::Sym("\\defs") {
                continue;
            }
            let mut j = i;
            if j > 0 && formal.tokens[j - 1].tok == Tok::Sym("]") {
                while j > 0 && formal.tokens[j - 1].tok != Tok::Sym("[") {
                    j -= 1;
                }
                j = j.saturating_sub(1);
            }
            let Some(Tok::Word(base, decor)) = j.checked_sub(1).map(|j| &formal.tokens[j].tok) else {
                continue;
            };
            let frame = j.checked_sub(2).map(|j| &formal.tokens[j].tok);
            names.insert(match frame {
                Some(Tok::Sym(f @ ("\\Delta" | "\\Xi"))) => format!("{f} {base}{decor}").into(),
                _ => format!("{base}{decor}").into(),
            });
        }
    }
    names
}

fn closing(tokens: &[Token]) -> Vec<usize> {
    let mut closing = vec![usize::MAX; tokens.len()];
    let mut open = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match token.tok {
            Tok::Sym("(" | "[") => open.push(i),
            Tok::Sym(")" | "]") => {
                if let Some(j) = open.pop() {
                    closing[j] = i;
                }
            }
            _ => {}
        }
    }
    closing
}

impl Parser<'_> {
    pub fn peek(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    /// The token some places further on; `End` behind the last.
    pub fn ahead(&self, places: usize) -> &Tok {
        self.tokens.get(self.at + places).map_or(&Tok::End, |t| &t.tok)
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The token behind the bracket that closes the one here.
    pub fn behind_bracket(&self) -> &Tok {
        let place = self.closing.get(self.at).copied().unwrap_or(usize::MAX);
        self.tokens.get(place.saturating_add(1)).map_or(&Tok::End, |t| &t.tok)
    }

    /// The token behind the reference to a schema that begins some places further on, found without parsing it.
    pub fn behind_reference(&self, places: usize) -> &Tok {
        let mut place = self.at + places + 1;
        for _ in 0..2 {
            if self.tokens.get(place).is_some_and(|t| t.tok == Tok::Sym("[")) {
                place = self.closing[place].saturating_add(1);
            }
        }
        self.tokens.get(place).map_or(&Tok::End, |t| &t.tok)
    }

    pub fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    pub fn is(&self, symbol: &'static str) -> bool {
        *self.peek() == Tok::Sym(symbol)
    }

    pub fn accept(&mut self, symbol: &'static str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, symbol: &'static str) -> Parse<Span> {
        if self.is(symbol) { Ok(self.advance()) } else { self.unexpected(&format!("`{symbol}`")) }
    }

    pub fn unexpected<T>(&self, wanted: &str) -> Parse<T> {
        let found = match self.peek() {
            Tok::End => "the end of the paragraph".to_owned(),
            tok => format!("`{}`", tok.spelling()),
        };
        Err(Box::new(Diagnostic::error(self.span(), format!("{wanted} is expected here, not {found}"))))
    }

    pub fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        if self.depth == 0 {
            self.links = 0;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts one more link of a chain.
    pub fn link(&mut self) -> Parse<()> {
        self.links += 1;
        if self.links > MAX_LINKS { self.too_deep() } else { Ok(()) }
    }

    fn too_deep<T>(&self) -> Parse<T> {
        let d = Diagnostic::error(self.span(), "this is nested too deeply");
        Err(Box::new(d.help("name parts of it by abbreviations or schemas")))
    }

    /// What kind of operator the token is.
    pub fn fixity_of(&self, tok: &Tok) -> Option<Fixity> {
        match tok {
            Tok::Word(base, decor) if decor.is_empty() => self.operators.get(base),
            // A decorated operator is an operator of the same kind.
            Tok::Word(base, decor) => {
                self.operators.get(&format!("{base}{decor}")).or_else(|| self.operators.get(base))
            }
            _ => None,
        }
    }

    pub fn fixity(&self) -> Option<Fixity> {
        self.fixity_of(self.peek())
    }

    /// The word here, operator or not.
    pub fn word(&mut self) -> Parse<Ident> {
        let Tok::Word(base, decor) = self.peek().clone() else { return self.unexpected("a name") };
        Ok(Ident { base, decor, span: self.advance() })
    }

    /// A name that is no operator.
    pub fn name(&mut self) -> Parse<Ident> {
        if self.fixity().is_some() {
            return self.unexpected("a name");
        }
        self.word()
    }

    /// A name, or an operator with places for its operands: `\_ \join \_`.
    fn declared_name(&mut self) -> Parse<Ident> {
        if self.accept("\\_") {
            let name = self.word()?;
            self.accept("\\_");
            return Ok(name);
        }
        if matches!(self.fixity(), Some(Fixity::PrefixRelation | Fixity::PrefixGeneric)) {
            let name = self.word()?;
            self.expect("\\_")?;
            return Ok(name);
        }
        self.name()
    }

    pub fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `[X, Y]`, if it is there.
    fn formals(&mut self) -> Parse<Vec<Ident>> {
        if !self.accept("[") {
            return Ok(Vec::new());
        }
        let names = self.comma_list(Self::name)?;
        self.expect("]")?;
        for (i, name) in names.iter().enumerate() {
            if let Some(first) = names[..i].iter().find(|n| n.full() == name.full()) {
                let text = format!("the formal parameter `{}` stands here twice", name.full());
                return Err(Box::new(Diagnostic::error(name.span, text).label(first.span, "here first")));
            }
        }
        Ok(names)
    }

    // ----- paragraphs -----

    fn paragraph(&mut self, formal: &FormalBox, out: &mut Vec<Paragraph>, diagnostics: &mut Vec<Diagnostic>) {
        if formal.kind == BoxKind::Zed {
            self.items(out, diagnostics);
            return;
        }
        match self.boxed(formal) {
            Ok(kind) => out.push(Paragraph { kind, span: formal.span }),
            Err(d) => diagnostics.push(*d),
        }
    }

    fn boxed(&mut self, formal: &FormalBox) -> Parse<ParagraphKind> {
        let formals = match formal.kind {
            BoxKind::Axdef => Vec::new(),
            _ => self.formals()?,
        };
        if formal.kind == BoxKind::Gendef && formals.is_empty() {
            return self.unexpected("the list of formal parameters `[X]`");
        }
        let text = self.box_text()?;
        if *self.peek() != Tok::End {
            return self.unexpected("the end of the paragraph");
        }
        match (&formal.name, formal.kind) {
            (Some((name, span)), BoxKind::Schema) => {
                let name = Ident { base: name.clone(), decor: "".into(), span: *span };
                Ok(ParagraphKind::Schema {
                    name,
                    formals,
                    body: Logic { kind: LogicKind::Text(text), span: formal.span },
                })
            }
            _ => Ok(ParagraphKind::Axiomatic { formals, text }),
        }
    }

    /// Declarations, and predicates behind `\where`.
    fn box_text(&mut self) -> Parse<SchemaText> {
        let mut text = SchemaText::default();
        if !self.is("\\where") && *self.peek() != Tok::End {
            text.decls = self.declarations()?;
        }
        if self.accept("\\where") && *self.peek() != Tok::End {
            text.preds = self.predicates()?;
        }
        Ok(text)
    }

    fn separator(&mut self) -> bool {
        let mut found = false;
        while *self.peek() == Tok::NewLine || self.is(";") {
            self.advance();
            found = true;
        }
        found
    }

    pub fn declarations(&mut self) -> Parse<Vec<Decl>> {
        let mut decls = vec![self.declaration()?];
        while self.separator() {
            if matches!(self.peek(), Tok::End | Tok::Sym("\\where" | "]" | "|" | "@" | "\\}")) {
                break;
            }
            decls.push(self.declaration()?);
        }
        Ok(decls)
    }

    fn predicates(&mut self) -> Parse<Vec<Logic>> {
        let mut preds = vec![self.logic()?];
        while self.separator() {
            if matches!(self.peek(), Tok::End | Tok::Sym("]" | "@" | "\\}" | ")")) {
                break;
            }
            preds.push(self.logic()?);
        }
        Ok(preds)
    }

    fn declaration(&mut self) -> Parse<Decl> {
        let included = matches!(self.peek(), Tok::Sym("\\Delta" | "\\Xi"))
            || (self.at_schema() && !matches!(self.ahead(1), Tok::Sym("," | ":")));
        if included {
            return Ok(Decl::Include(self.schema_reference()?));
        }
        let names = self.comma_list(Self::declared_name)?;
        self.expect(":")?;
        Ok(Decl::Names(names, self.expression()?))
    }

    /// `D | P`
    pub fn schema_text(&mut self) -> Parse<SchemaText> {
        let decls = self.declarations()?;
        let preds = if self.accept("|") { self.predicates()? } else { Vec::new() };
        Ok(SchemaText { decls, preds })
    }

    // ----- items of `zed` -----

    fn items(&mut self, out: &mut Vec<Paragraph>, diagnostics: &mut Vec<Diagnostic>) {
        loop {
            self.separator();
            if *self.peek() == Tok::End {
                return;
            }
            let from = self.span();
            let done = self.item().and_then(|kind| match self.peek() {
                Tok::End | Tok::NewLine | Tok::Sym(";") => Ok(kind),
                _ => self.unexpected("the end of the item"),
            });
            match done {
                Ok(kind) => {
                    let span = from.to(self.tokens[self.at.saturating_sub(1)].span);
                    out.push(Paragraph { kind, span });
                }
                Err(d) => {
                    diagnostics.push(*d);
                    self.skip_item();
                }
            }
        }
    }

    /// Goes on behind the next line break.
    fn skip_item(&mut self) {
        self.depth = 0;
        while !matches!(self.peek(), Tok::End | Tok::NewLine) {
            self.advance();
        }
    }

    fn item(&mut self) -> Parse<ParagraphKind> {
        if self.is("[") && self.is_given() {
            self.advance();
            let names = self.comma_list(Self::name)?;
            self.expect("]")?;
            return Ok(ParagraphKind::Given(names));
        }
        match self.sign_of_item() {
            Some("\\defs") => {
                let frame = match self.peek() {
                    Tok::Sym(f @ ("\\Delta" | "\\Xi")) => Some(*f),
                    _ => None,
                };
                if frame.is_some() {
                    self.advance();
                }
                let mut name = self.name()?;
                if let Some(frame) = frame {
                    name.base = format!("{frame} {}", name.base).into();
                }
                let formals = self.formals()?;
                self.expect("\\defs")?;
                Ok(ParagraphKind::Schema { name, formals, body: self.logic()? })
            }
            Some("==") => self.abbreviation(),
            Some(_) => self.free_type(),
            None => Ok(ParagraphKind::Constraint(self.logic()?)),
        }
    }

    /// Whether a bracket here holds names alone.
    fn is_given(&self) -> bool {
        let mut i = 1;
        loop {
            if !matches!(self.ahead(i), Tok::Word(..)) {
                return false;
            }
            match self.ahead(i + 1) {
                Tok::Sym(",") => i += 2,
                Tok::Sym("]") => return true,
                _ => return false,
            }
        }
    }

    /// `\defs`, `==` or `::=`, whichever makes the item a definition.
    fn sign_of_item(&self) -> Option<&'static str> {
        for i in 0.. {
            match self.ahead(i) {
                Tok::Sym(s @ ("\\defs" | "==" | "::=")) => return Some(s),
                Tok::Word(..) | Tok::Sym("[" | "]" | "," | "(" | ")" | "\\_" | "\\Delta" | "\\Xi") => {}
                _ => return None,
            }
        }
        None
    }

    fn abbreviation(&mut self) -> Parse<ParagraphKind> {
        let bracket = self.accept("(");
        let generic = |p: &Self, t: &Tok, f: Fixity| p.fixity_of(t) == Some(f);
        let (name, mut formals) = if bracket || self.is("\\_") {
            (self.declared_name()?, Vec::new())
        } else if generic(self, self.peek(), Fixity::PrefixGeneric) {
            let name = self.word()?;
            (name, vec![self.name()?])
        } else if generic(self, self.ahead(1), Fixity::InfixGeneric) {
            let left = self.name()?;
            let name = self.word()?;
            (name, vec![left, self.name()?])
        } else {
            (self.name()?, Vec::new())
        };
        if bracket {
            self.expect(")")?;
        }
        if formals.is_empty() {
            formals = self.formals()?;
        }
        self.expect("==")?;
        Ok(ParagraphKind::Abbreviation { name, formals, value: self.expression()? })
    }

    fn free_type(&mut self) -> Parse<ParagraphKind> {
        let name = self.name()?;
        self.expect("::=")?;
        let mut arms = Vec::new();
        loop {
            let arm = if self.accept("(") {
                let operator = self.declared_name()?;
                self.expect(")")?;
                operator
            } else {
                self.name()?
            };
            let argument = if self.accept("\\ldata") {
                let set = self.expression()?;
                self.expect("\\rdata")?;
                Some(set)
            } else {
                None
            };
            arms.push((arm, argument));
            if !self.accept("|") {
                return Ok(ParagraphKind::FreeType { name, arms });
            }
        }
    }

    // ----- schemas -----

    /// Whether the word here names a schema, as a whole or without its decoration.
    pub fn at_schema(&self) -> bool {
        self.schema_ahead(0)
    }

    pub fn schema_ahead(&self, places: usize) -> bool {
        match self.ahead(places) {
            Tok::Word(base, decor) => {
                self.schemas.contains(base)
                    || (!decor.is_empty() && self.schemas.contains(format!("{base}{decor}").as_str()))
            }
            _ => false,
        }
    }

    pub fn schema_reference(&mut self) -> Parse<SchemaRef> {
        let from = self.span();
        let frame = match self.peek() {
            Tok::Sym("\\Delta") => Some(Frame::Delta),
            Tok::Sym("\\Xi") => Some(Frame::Xi),
            _ => None,
        };
        if frame.is_some() {
            self.advance();
        }
        let mut name = self.name()?;
        if self.schemas.contains(&name.full()) {
            name = Ident { base: name.full(), decor: "".into(), span: name.span };
        }
        let mut actuals = Vec::new();
        let mut renaming = Vec::new();
        if self.is("[") && *self.ahead(2) != Tok::Sym("/") {
            self.advance();
            actuals = self.comma_list(Self::expression)?;
            self.expect("]")?;
        }
        if self.is("[") && *self.ahead(2) == Tok::Sym("/") {
            self.advance();
            renaming = self.comma_list(|p| {
                let new = p.name()?;
                p.expect("/")?;
                Ok((new, p.name()?))
            })?;
            self.expect("]")?;
        }
        let span = from.to(self.tokens[self.at.saturating_sub(1)].span);
        Ok(SchemaRef { frame, name, actuals, renaming, span })
    }
}
