//! Tokens to the tree of a script: declarations and assertions; `include` is followed here.
//!
//! In: the path of a script. Out: its declarations in order, or every syntax error with its place.
//! Never here: expressions (`expression`), the meaning of names.

use super::lexer;
use super::token::{Names, Sym, Tok, Token};
use super::tree::{Arm, Assert, Claim, Decl, DeclKind, Expr, Kind, Semantics};
use crate::base::Span;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::source::{Found, Reader, missing};
use std::path::Path;

/// Expressions nested deeper than this are refused.
pub const DEPTH: usize = 800;
/// Files included inside of each other.
const INCLUDES: usize = 60;

/// A script as written.
pub struct Script {
    pub names: Names,
    pub decls: Vec<Decl>,
    pub faults: Vec<Diagnostic>,
}

/// A fault was recorded; the declaration is given up.
pub struct Broken;

pub type Parsed<T> = Result<T, Broken>;

/// Reads a script and what it includes.
pub fn script(path: &Path, reader: &mut Reader, sources: &mut Sources) -> Script {
    let mut script = Script { names: Names::default(), decls: Vec::new(), faults: Vec::new() };
    match reader.read(path, sources) {
        Ok(file) => {
            let text = sources.get(file).text.clone();
            let (tokens, faults) = lexer::tokens(&text, file, &mut script.names);
            script.faults.extend(faults);
            let mut parser = Parser::new(tokens, &mut script);
            parser.files = Some((reader, sources));
            parser.script(0);
        }
        Err(fault) => script.faults.push(fault),
    }
    script
}

/// Reads a script that is no file; it cannot include any.
pub fn text(name: &str, text: &str, sources: &mut Sources) -> Script {
    let mut script = Script { names: Names::default(), decls: Vec::new(), faults: Vec::new() };
    let file = sources.add(name, None, text);
    let (tokens, faults) = lexer::tokens(text, file, &mut script.names);
    script.faults.extend(faults);
    Parser::new(tokens, &mut script).script(0);
    script
}

/// Reads one expression of the command line.
pub fn expression(text: &str, name: &str, names: Names, sources: &mut Sources) -> (Script, Option<Expr>) {
    let mut script = Script { names, decls: Vec::new(), faults: Vec::new() };
    let file = sources.add(name, None, text);
    let (tokens, faults) = lexer::tokens(text, file, &mut script.names);
    script.faults.extend(faults);
    let mut parser = Parser::new(tokens, &mut script);
    let expr = parser.expr(0).ok();
    if expr.is_some() && parser.peek() != &Tok::End {
        let _ = parser.fail::<()>("nothing more is expected here");
    }
    (script, expr)
}

pub struct Parser<'a> {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    script: &'a mut Script,
    files: Option<(&'a mut Reader, &'a mut Sources)>,
    pub(super) depth: usize,
    /// Whether `>` closes a sequence here.
    pub(super) in_seq: bool,
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<Token>, script: &'a mut Script) -> Parser<'a> {
        Parser { tokens, at: 0, script, files: None, depth: 0, in_seq: false }
    }

    pub(super) fn peek(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The place of the token before.
    pub(super) fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(super) fn next(&mut self) -> Tok {
        let tok = self.tokens[self.at].tok.clone();
        if tok != Tok::End {
            self.at += 1;
        }
        tok
    }

    pub(super) fn is(&self, op: &str) -> bool {
        matches!(self.peek(), Tok::Op(o) if *o == op)
    }

    pub(super) fn take(&mut self, op: &str) -> bool {
        let found = self.is(op);
        if found {
            self.at += 1;
        }
        found
    }

    pub(super) fn expect(&mut self, op: &str) -> Parsed<()> {
        if self.take(op) { Ok(()) } else { self.fail(&format!("`{op}` is expected here")) }
    }

    /// Records a fault at the present token.
    pub(super) fn fail<T>(&mut self, message: &str) -> Parsed<T> {
        let span = self.span();
        self.fail_at(span, message)
    }

    pub(super) fn fail_at<T>(&mut self, span: Span, message: &str) -> Parsed<T> {
        self.script.faults.push(Diagnostic::error(span, message));
        Err(Broken)
    }

    pub(super) fn name(&mut self) -> Parsed<(Sym, Span)> {
        let span = self.span();
        match self.peek() {
            Tok::Name(sym) => {
                let sym = *sym;
                self.at += 1;
                Ok((sym, span))
            }
            _ => self.fail("a name is expected here"),
        }
    }

    fn text(&self, sym: Sym) -> String {
        self.script.names.text(sym).to_string()
    }

    /// All declarations of a file.
    fn script(&mut self, includes: usize) {
        while self.peek() != &Tok::End {
            let start = self.at;
            let read = if self.is("include") { self.include(includes) } else { self.decl(true) };
            if read.is_err() {
                self.recover(start);
            }
        }
    }

    /// Goes on at the next line that may begin a declaration.
    fn recover(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        self.depth = 0;
        self.in_seq = false;
        loop {
            let token = &self.tokens[self.at];
            let starts = match &token.tok {
                Tok::End => return,
                Tok::Name(_) => true,
                Tok::Op(word) => [
                    "channel",
                    "datatype",
                    "subtype",
                    "nametype",
                    "assert",
                    "include",
                    "transparent",
                    "external",
                    "module",
                    "instance",
                    "Timed",
                    "print",
                ]
                .contains(word),
                _ => false,
            };
            if token.first && starts {
                return;
            }
            self.at += 1;
        }
    }

    fn include(&mut self, depth: usize) -> Parsed<()> {
        let at = self.span();
        self.next();
        let Tok::Str(name) = self.peek().clone() else {
            return self.fail("the name of a file in quotes is expected after `include`");
        };
        let span = self.span();
        self.next();
        if depth >= INCLUDES {
            return self.fail_at(at, "files include each other too deeply");
        }
        let Some((reader, sources)) = self.files.take() else {
            return self.fail_at(at, "`include` is not possible here");
        };
        let beside = sources.get(at.file).path.clone();
        let read = match reader.find(beside.as_deref(), std::slice::from_ref(&name)) {
            Found::File(path) => reader.read(&path, sources),
            other => Err(missing("script", &name, &other, span)),
        };
        let file = match read {
            Ok(file) => file,
            Err(fault) => {
                self.files = Some((reader, sources));
                self.script.faults.push(fault);
                return Err(Broken);
            }
        };
        let text = sources.get(file).text.clone();
        let (tokens, faults) = lexer::tokens(&text, file, &mut self.script.names);
        self.script.faults.extend(faults);
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let place = std::mem::replace(&mut self.at, 0);
        self.files = Some((reader, sources));
        self.script(depth + 1);
        self.tokens = outer;
        self.at = place;
        Ok(())
    }

    /// One declaration, put into the script.
    fn decl(&mut self, top: bool) -> Parsed<()> {
        if let Some(decl) = self.one_decl(top)? {
            self.script.decls.push(decl);
        }
        Ok(())
    }

    /// The declarations of a `let`.
    pub(super) fn local_decls(&mut self) -> Parsed<Vec<Decl>> {
        let mut decls = Vec::new();
        while !self.is("within") {
            if self.peek() == &Tok::End {
                return self.fail("`within` is expected here");
            }
            if let Some(decl) = self.one_decl(false)? {
                decls.push(decl);
            }
        }
        Ok(decls)
    }

    fn one_decl(&mut self, top: bool) -> Parsed<Option<Decl>> {
        let span = self.span();
        let kind = match self.peek().clone() {
            Tok::Pragma(text) => {
                self.next();
                return Ok(self.pragma(&text, span));
            }
            Tok::Op(word @ ("channel" | "datatype" | "subtype" | "nametype" | "assert" | "print"))
                if !top =>
            {
                return self.fail(&format!("`{word}` cannot stand inside of `let`"));
            }
            Tok::Op("channel") => self.channel()?,
            Tok::Op("datatype") => self.datatype(false)?,
            Tok::Op("subtype") => self.datatype(true)?,
            Tok::Op("nametype") => {
                self.next();
                let (name, _) = self.name()?;
                self.expect("=")?;
                DeclKind::Nametype(name, self.expr(0)?)
            }
            Tok::Op("transparent" | "external") => {
                self.next();
                DeclKind::Extern(self.names()?)
            }
            Tok::Op("assert") => DeclKind::Assert(self.assertion()?),
            Tok::Op("print") => {
                self.next();
                DeclKind::Print(self.expr(0)?)
            }
            Tok::Op(word @ ("module" | "instance" | "exports" | "endmodule")) => {
                let found: Parsed<()> = self.fail_at(span, &format!("modules are not supported (`{word}`)"));
                self.skip_module(word);
                found?;
                return Ok(None);
            }
            Tok::Op("Timed") => {
                let found: Parsed<()> = self.fail_at(span, "timed sections (`Timed`) are not supported");
                self.skip_braces();
                found?;
                return Ok(None);
            }
            _ => return self.definition(span).map(Some),
        };
        Ok(Some(Decl { kind, span: span.to(self.before()) }))
    }

    /// Past a module, so that one message is enough for it.
    fn skip_module(&mut self, word: &str) {
        if word != "module" {
            return;
        }
        let mut depth = 0;
        while self.peek() != &Tok::End {
            match self.next() {
                Tok::Op("module") => depth += 1,
                Tok::Op("endmodule") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_braces(&mut self) {
        while self.peek() != &Tok::End && !self.is("{") {
            self.next();
        }
        let mut depth = 0;
        while self.peek() != &Tok::End {
            match self.next() {
                Tok::Op("{" | "{|") => depth += 1,
                Tok::Op("}" | "|}") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn pragma(&mut self, text: &str, span: Span) -> Option<Decl> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let ctl = match word {
            "assert_ltl" => false,
            "assert_ctl" => true,
            _ => return None,
        };
        let mut quoted = rest.split('"').skip(1).step_by(2);
        let formula = quoted.next()?.to_string();
        let comment = quoted.next().unwrap_or("").to_string();
        Some(Decl { kind: DeclKind::Formula { ctl, formula, comment }, span })
    }

    fn names(&mut self) -> Parsed<Vec<(Sym, Span)>> {
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn channel(&mut self) -> Parsed<DeclKind> {
        self.next();
        let names = self.names()?;
        let fields = if self.take(":") { Some(self.expr(11)?) } else { None };
        Ok(DeclKind::Channel(names, fields))
    }

    fn datatype(&mut self, sub: bool) -> Parsed<DeclKind> {
        self.next();
        let (name, _) = self.name()?;
        self.expect("=")?;
        let mut arms = Vec::new();
        loop {
            let (constructor, span) = self.name()?;
            let fields = if self.take(".") { Some(self.expr(11)?) } else { None };
            arms.push(Arm { name: constructor, span, fields });
            if !self.take("|") {
                break;
            }
        }
        Ok(if sub { DeclKind::Subtype(name, arms) } else { DeclKind::Datatype(name, arms) })
    }

    /// `f(p)(q) = e`, `p = e` or `f :: type`.
    fn definition(&mut self, span: Span) -> Parsed<Decl> {
        let left = self.expr(11)?;
        if self.is("::") || (self.is(",") && matches!(left.kind, Kind::Name(_))) {
            return self.annotation(left);
        }
        if !self.is("=") {
            return self.fail("a declaration is expected: `=` is missing");
        }
        self.next();
        let body = self.expr(0)?;
        let whole = span.to(self.before());
        let mut groups = Vec::new();
        let mut head = left;
        loop {
            match head.kind {
                Kind::Apply(function, args) => {
                    groups.push(args);
                    head = *function;
                }
                Kind::Name(name) => {
                    groups.reverse();
                    return Ok(Decl { kind: DeclKind::Clause(name, groups, body), span: whole });
                }
                _ if groups.is_empty() => {
                    return Ok(Decl { kind: DeclKind::Pattern(head, body), span: whole });
                }
                _ => return self.fail_at(head.span, "the name of a function is expected here"),
            }
        }
    }

    /// Reads a type annotation; types are inferred, so its names are all that is kept.
    fn annotation(&mut self, left: Expr) -> Parsed<Decl> {
        let Kind::Name(name) = left.kind else {
            return self.fail_at(left.span, "a name is expected before `::`");
        };
        let mut names = vec![(name, left.span)];
        while self.take(",") {
            names.push(self.name()?);
        }
        self.expect("::")?;
        self.constraints()?;
        self.type_()?;
        Ok(Decl { kind: DeclKind::Annotation(names), span: left.span.to(self.before()) })
    }

    fn constraints(&mut self) -> Parsed<()> {
        let start = self.at;
        let bracket = self.take("(");
        loop {
            let class = match (self.peek(), &self.tokens.get(self.at + 1).map(|t| &t.tok)) {
                (Tok::Name(class), Some(Tok::Name(_))) => *class,
                _ => {
                    self.at = start;
                    return Ok(());
                }
            };
            let text = self.text(class);
            if !["Eq", "Ord", "Set", "Yieldable", "Inputable", "Complete"].contains(&text.as_str()) {
                return self.fail(&format!("`{text}` is no constraint on types"));
            }
            self.at += 2;
            if !self.take(",") {
                break;
            }
        }
        if bracket {
            self.expect(")")?;
        }
        self.expect("=>")
    }

    fn type_(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fail("this type nests too deeply");
        }
        match self.next() {
            Tok::Name(_) => {}
            Tok::Op("<") => {
                self.type_()?;
                self.expect(">")?;
            }
            Tok::Op("{") => {
                self.type_()?;
                self.expect("}")?;
            }
            Tok::Op("(|") => {
                self.type_()?;
                self.expect("=>")?;
                self.type_()?;
                self.expect("|)")?;
            }
            Tok::Op("(") => {
                while !self.is(")") {
                    self.type_()?;
                    if !self.take(",") {
                        break;
                    }
                }
                self.expect(")")?;
                if self.take("->") {
                    self.type_()?;
                }
            }
            _ => {
                self.at -= 1;
                return self.fail("a type is expected here");
            }
        }
        while self.take("=>") || self.take("=>*") || self.take(".") {
            self.type_()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn assertion(&mut self) -> Parsed<Assert> {
        self.next();
        let negated = self.take("not");
        let process = self.expr(0)?;
        let claim = match self.peek().clone() {
            Tok::Refines(model) => {
                let span = self.span();
                let Some(semantics) = semantics(&model) else {
                    return self.fail_at(span, &format!("refinement `[{model}=` is not supported"));
                };
                self.next();
                let implementation = self.expr(0)?;
                Claim::Refines(process, semantics, implementation)
            }
            Tok::Op(":[") => self.claim(process)?,
            _ => return self.fail("a refinement such as `[T=` or a property `:[ … ]` is expected here"),
        };
        while self.is(":[") {
            self.option()?;
        }
        Ok(Assert { negated, claim })
    }

    /// The words up to the bracket that closes a property, and the model in brackets.
    fn property_words(&mut self) -> Parsed<(String, Option<Semantics>)> {
        self.next();
        let mut words = Vec::new();
        let mut model = None;
        loop {
            match self.peek().clone() {
                Tok::Name(name) => {
                    words.push(self.text(name));
                    self.next();
                }
                Tok::Op("[") => {
                    self.next();
                    let (name, span) = self.name()?;
                    let letters = self.text(name);
                    model = semantics(&letters);
                    if model.is_none() && !["fast", "precise", "hybrid"].contains(&letters.as_str()) {
                        return self.fail_at(span, &format!("the model `{letters}` is not supported"));
                    }
                    if self.take("]]") {
                        return Ok((words.join(" "), model));
                    }
                    self.expect("]")?;
                }
                Tok::Op("]") => {
                    self.next();
                    return Ok((words.join(" "), model));
                }
                _ => return self.fail("`]` is expected here"),
            }
        }
    }

    fn claim(&mut self, process: Expr) -> Parsed<Claim> {
        let span = self.span();
        let (words, model) = self.property_words()?;
        let full = model.unwrap_or(Semantics::Divergences);
        Ok(match words.as_str() {
            "deadlock free" => Claim::DeadlockFree(process, full),
            "livelock free" | "divergence free" => Claim::DivergenceFree(process),
            "deterministic" => Claim::Deterministic(process, full),
            "has trace" => {
                self.expect(":")?;
                Claim::HasTrace(process, model.unwrap_or(Semantics::Traces), self.expr(0)?)
            }
            other => return self.fail_at(span, &format!("the property `{other}` is not supported")),
        })
    }

    fn option(&mut self) -> Parsed<()> {
        let span = self.span();
        let (words, _) = self.property_words()?;
        match words.as_str() {
            "partial order reduce" => Ok(()),
            other => self.fail_at(span, &format!("the option `{other}` of an assertion is not supported")),
        }
    }
}

fn semantics(letters: &str) -> Option<Semantics> {
    match letters {
        "T" => Some(Semantics::Traces),
        "F" => Some(Semantics::Failures),
        "FD" => Some(Semantics::Divergences),
        _ => None,
    }
}
