//! Tokens to the tree of a script: declarations and assertions; `include` is followed here.
//!
//! In: the path of a script. Out: its declarations in order, or every syntax error with its place.
//! Never here: expressions (`expression`), the meaning of names.

use super::lexer;
use super::token::{Names, Sym, Tok, Token};
use super::tree::{Arm, Assert, Claim, Decl, DeclKind, Expr, Kind, Semantics};
use bombus_base::Span;
use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::text::distance;
use bombus_source::{Found, Reader, missing};
use std::path::Path;

/// Expressions nested deeper than this are refused.
pub const DEPTH: usize = 800;
/// Files included inside of each other.
const INCLUDES: usize = 60;

/// Words that begin a declaration.
const DECLARATIONS: [&str; 12] = [
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
];

/// The properties that an assertion may claim.
const PROPERTIES: [&str; 5] =
    ["deadlock free", "livelock free", "divergence free", "deterministic", "has trace"];

const MODELS: &str =
    "refinement is judged in traces `[T=`, failures `[F=`, and failures and divergences `[FD=`";

/// Which declarations may stand at a place.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// How the place is called.
    pub(super) inside: &'static str,
    /// Channels, types, modules.
    pub(super) types: bool,
    pub(super) asserts: bool,
    pub(super) prints: bool,
}

impl Allowed {
    const SCRIPT: Allowed = Allowed { inside: "a script", types: true, asserts: true, prints: true };
    pub(super) const MODULE: Allowed =
        Allowed { inside: "a module", types: true, asserts: false, prints: false };
    const LOCAL: Allowed = Allowed { inside: "`let`", types: false, asserts: false, prints: false };

    fn has(self, word: &str) -> bool {
        match word {
            "channel" | "datatype" | "subtype" | "nametype" | "module" | "instance" => self.types,
            "assert" => self.asserts,
            "print" => self.prints,
            _ => true,
        }
    }
}

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
            parser.script();
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
    Parser::new(tokens, &mut script).script();
    script
}

/// Reads the declarations of tokens into a script.
pub(super) fn tokens(tokens: Vec<Token>, mut script: Script) -> Script {
    Parser::new(tokens, &mut script).script();
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
    pub(super) script: &'a mut Script,
    files: Option<(&'a mut Reader, &'a mut Sources)>,
    /// How many files deep the parser stands.
    included: usize,
    pub(super) depth: usize,
    /// Whether `>` closes a sequence here.
    pub(super) in_seq: bool,
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<Token>, script: &'a mut Script) -> Parser<'a> {
        Parser { tokens, at: 0, script, files: None, included: 0, depth: 0, in_seq: false }
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

    /// Reads the sign that closes what another one opened.
    pub(super) fn close(&mut self, op: &str, opened: Span) -> Parsed<()> {
        let read = self.expect(op);
        if read.is_err()
            && let Some(fault) = self.script.faults.pop()
        {
            self.script.faults.push(fault.label(opened, "this is not closed"));
        }
        read
    }

    /// Records a fault at the present token.
    pub(super) fn fail<T>(&mut self, message: &str) -> Parsed<T> {
        // At the end of a text the last token shows where something is missing.
        let span = if *self.peek() == Tok::End && self.at > 0 { self.before() } else { self.span() };
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

    pub(super) fn text(&self, sym: Sym) -> String {
        self.script.names.text(sym).to_string()
    }

    /// All declarations of a file.
    fn script(&mut self) {
        let decls = self.decls(&[], Allowed::SCRIPT);
        self.script.decls.extend(decls);
    }

    /// Declarations up to one of some words, which is not read, or to the end.
    pub(super) fn decls(&mut self, close: &[&str], allowed: Allowed) -> Vec<Decl> {
        let mut decls = Vec::new();
        let outside = (self.depth, self.in_seq);
        while self.peek() != &Tok::End && !close.iter().any(|word| self.is(word)) {
            let start = self.at;
            let read = if self.is("include") {
                self.include(allowed).map(|more| decls.extend(more))
            } else {
                self.one_decl(allowed).map(|decl| decls.extend(decl))
            };
            if read.is_err() {
                (self.depth, self.in_seq) = outside;
                self.recover(start, close);
            }
        }
        decls
    }

    /// Goes on at the next line that may begin a declaration.
    fn recover(&mut self, start: usize, close: &[&str]) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        let opens = |token: &Token| match token.tok {
            Tok::Op("let") => 1,
            Tok::Op("within") => -1,
            _ => 0,
        };
        // Inside of a `let` a line may begin with anything.
        let mut lets: i32 = self.tokens[start..self.at].iter().map(opens).sum();
        loop {
            let token = &self.tokens[self.at];
            lets += opens(token);
            let starts = match &token.tok {
                Tok::End => return,
                Tok::Name(_) => true,
                Tok::Op(word) => DECLARATIONS.contains(word) || close.contains(word),
                _ => false,
            };
            if token.first && starts && lets <= 0 {
                return;
            }
            self.at += 1;
        }
    }

    fn include(&mut self, allowed: Allowed) -> Parsed<Vec<Decl>> {
        let at = self.span();
        self.next();
        let Tok::Str(name) = self.peek().clone() else {
            return self.fail("the name of a file in quotes is expected after `include`");
        };
        let span = self.span();
        self.next();
        if self.included >= INCLUDES {
            return self.fail_at(at, "files include each other too deeply");
        }
        let Some((reader, sources)) = self.files.take() else {
            return self.fail_at(at, "`include` is not possible here");
        };
        let beside = sources.get(at.file).path.clone();
        let mut names = vec![name.clone()];
        names.extend(beside.as_deref().and_then(|script| in_flattened_folder(script, &name)));
        let read = match reader.find(beside.as_deref(), &names) {
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
        self.included += 1;
        let decls = self.decls(&[], allowed);
        self.included -= 1;
        self.tokens = outer;
        self.at = place;
        Ok(decls)
    }

    /// The declarations of a `let`.
    pub(super) fn local_decls(&mut self) -> Parsed<Vec<Decl>> {
        let mut decls = Vec::new();
        while !self.is("within") {
            if self.peek() == &Tok::End {
                return self.fail("`within` is expected here");
            }
            decls.extend(self.one_decl(Allowed::LOCAL)?);
        }
        Ok(decls)
    }

    pub(super) fn one_decl(&mut self, allowed: Allowed) -> Parsed<Option<Decl>> {
        let span = self.span();
        if let Tok::Op(word) = *self.peek()
            && !allowed.has(word)
        {
            return self.fail(&format!("`{word}` cannot stand inside of {}", allowed.inside));
        }
        let kind = match self.peek().clone() {
            Tok::Pragma(text) => {
                self.next();
                return Ok(self.pragma(&text, span));
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
            Tok::Op("module") => self.module()?,
            Tok::Op("instance") => self.instance()?,
            Tok::Op("Timed") => self.timed(allowed)?,
            _ => return self.definition(span).map(Some),
        };
        Ok(Some(Decl { kind, span: span.to(self.before()), place: None }))
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
        Some(Decl { kind: DeclKind::Formula { ctl, formula, comment }, span, place: None })
    }

    pub(super) fn names(&mut self) -> Parsed<Vec<(Sym, Span)>> {
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
        if self.is_annotation() {
            return self.annotation();
        }
        let left = self.expr(11)?;
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
                    let kind = DeclKind::Clause(name, groups, body);
                    return Ok(Decl { kind, span: whole, place: None });
                }
                _ if groups.is_empty() => {
                    return Ok(Decl { kind: DeclKind::Pattern(head, body), span: whole, place: None });
                }
                _ => return self.fail_at(head.span, "the name of a function is expected here"),
            }
        }
    }

    fn assertion(&mut self) -> Parsed<Assert> {
        self.next();
        let negated = self.take("not");
        let process = self.expr(0)?;
        let claim = match self.peek().clone() {
            Tok::Refines(model) => {
                let span = self.span();
                let Some(semantics) = semantics(&model) else {
                    let message = format!("refinement `[{model}=` is not supported");
                    self.script.faults.push(Diagnostic::error(span, message).help(MODELS));
                    return Err(Broken);
                };
                self.next();
                let implementation = self.expr(0)?;
                Claim::Refines(process, semantics, implementation)
            }
            Tok::Op(":[") => self.claim(process)?,
            _ => return self.fail("a refinement such as `[T=` or a property `:[ … ]` is expected here"),
        };
        let mut priority = false;
        while self.is(":[") {
            let span = self.span();
            if self.option()? && std::mem::replace(&mut priority, true) {
                return self.fail_at(span, "the priority of tau is given more than once");
            }
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
                // The second colon may be left out.
                if self.is(":") {
                    self.expect(":")?;
                }
                Claim::HasTrace(process, model.unwrap_or(Semantics::Traces), self.expr(0)?)
            }
            other => {
                let fault = Diagnostic::error(span, format!("the property `{other}` is not supported"));
                let near = PROPERTIES.iter().map(|known| (distance(other, known), *known)).min();
                self.script.faults.push(match near {
                    Some((changes, known)) if changes <= 3 => fault.help(format!("did you mean `{known}`?")),
                    _ => fault.help(format!("the properties are {}", PROPERTIES.join(", "))),
                });
                return Err(Broken);
            }
        })
    }

    /// Reads an option of an assertion; says whether it is the priority of τ.
    fn option(&mut self) -> Parsed<bool> {
        let span = self.span();
        let (words, _) = self.property_words()?;
        match words.as_str() {
            "partial order reduce" => Ok(false),
            "tau priority" | "tau priority over" => {
                self.expect(":")?;
                let events = self.expr(11)?;
                // Over no events, priority changes nothing.
                match &events.kind {
                    Kind::Set(list, stmts) if list.is_empty() && stmts.is_empty() => Ok(true),
                    _ => {
                        self.fail_at(span, &format!("the option `{words}` of an assertion is not supported"))
                    }
                }
            }
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

/// The name under which an included file stands beside a script in a collection whose folders were flattened into the
/// names of its files: `folder__a.csp` includes `b.csp` from `folder__b.csp`.
fn in_flattened_folder(script: &Path, included: &str) -> Option<String> {
    let (folder, _) = script.file_name()?.to_str()?.rsplit_once("__")?;
    Some(format!("{folder}__{included}"))
}
