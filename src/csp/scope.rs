//! Names: what each one means, which patterns bind which, which are not defined.
//!
//! In: the tree of a script. Out: core expressions and the tables of channels, types and definitions,
//! or a message for every name that has no meaning or too many.
//! Never here: types, evaluation.

use super::builtin::Builtin;
use super::core::{Bind, Clause, Ex, Function, Group, Numbers, Pat};
use super::expression::ungrouped;
use super::levels::{self, Levels, Meaning};
use super::parser::Script;
use super::timed;
use super::token::{Names, Sym};
use super::tree::{self, Assert, Binary, Claim, Decl, DeclKind, Place, Semantics, Unary};
use bombus_base::diagnostic::Diagnostic;
use bombus_base::text::distance;
use bombus_base::{Int, Span};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What a global name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// A definition: the number of the name among all defined ones.
    Defined,
    Channel(u32),
    Constructor(u32),
    /// A datatype, subtype or nametype.
    Type(u32),
    Builtin(Builtin),
}

pub struct ChannelDecl {
    pub name: Sym,
    pub fields: Option<Ex>,
    pub span: Span,
}

pub struct ConstructorDecl {
    pub name: Sym,
    pub fields: Option<Ex>,
    pub span: Span,
}

pub enum TypeDecl {
    /// The constructors of a datatype.
    Datatype(Vec<u32>),
    /// Constructors with the fields that are left of them.
    Subtype(Vec<(u32, Option<Ex>)>),
    Nametype(Ex),
}

pub enum ClaimIn {
    Refines(Ex, Semantics, Ex),
    DeadlockFree(Ex, Semantics),
    DivergenceFree(Ex),
    Deterministic(Ex, Semantics),
    HasTrace(Ex, Semantics, Ex),
}

pub struct AssertIn {
    pub negated: bool,
    pub claim: ClaimIn,
    pub span: Span,
}

/// A script whose names have a meaning.
pub struct Scoped {
    pub names: Names,
    pub globals: HashMap<Sym, Global>,
    pub channels: Vec<ChannelDecl>,
    pub constructors: Vec<ConstructorDecl>,
    pub types: Vec<(Sym, TypeDecl)>,
    /// All definitions of the script.
    pub group: Rc<Group>,
    pub asserts: Vec<AssertIn>,
    /// Formulas of pragmas: whether CTL, the text, the comment, the place.
    pub formulas: Vec<(bool, String, String, Span)>,
    /// What `print` asks for.
    pub prints: Vec<Ex>,
    pub faults: Vec<Diagnostic>,
    pub numbers: Numbers,
    /// What names mean inside of modules.
    pub levels: Rc<Levels>,
}

pub fn scoped(script: Script) -> Scoped {
    let Script { mut names, decls, mut faults } = script;
    let (decls, levels, more) = levels::flat(timed::with_prelude(decls, &mut names), &mut names);
    faults.extend(more);
    let mut scope = Scope {
        out: Scoped {
            names,
            globals: HashMap::new(),
            channels: Vec::new(),
            constructors: Vec::new(),
            types: Vec::new(),
            group: Rc::new(Group { binds: Vec::new(), free: Rc::new([]) }),
            asserts: Vec::new(),
            formulas: Vec::new(),
            prints: Vec::new(),
            faults,
            numbers: Numbers::default(),
            levels: Rc::new(levels),
        },
        locals: Vec::new(),
        place: Place { level: 0, timed: None },
        sections: 0,
        declared: HashMap::new(),
    };
    scope.declare(&decls);
    scope.types(&decls);
    let group = scope.group(&decls);
    scope.out.group = Rc::new(group);
    scope.checks(&decls);
    scope.out
}

/// Looks up the names of one more expression.
pub fn expression(scoped: Scoped, expr: &tree::Expr) -> (Scoped, Ex) {
    let place = Place { level: 0, timed: None };
    let mut scope =
        Scope { out: scoped, locals: Vec::new(), place, sections: 1 << 40, declared: HashMap::new() };
    let ex = scope.expr(expr);
    (scope.out, ex)
}

pub(super) struct Scope {
    pub(super) out: Scoped,
    /// Names that are bound here, innermost last.
    pub(super) locals: Vec<Sym>,
    /// Where the declaration stands that is being read.
    pub(super) place: Place,
    /// Timed sections of `let`, counted from beyond those of the script.
    pub(super) sections: usize,
    /// Where names of the whole script are declared.
    declared: HashMap<Sym, Span>,
}

impl Scope {
    pub(super) fn fault(&mut self, span: Span, message: impl Into<String>) {
        self.out.faults.push(Diagnostic::error(span, message));
    }

    pub(super) fn text(&self, name: Sym) -> String {
        self.out.names.text(name).to_string()
    }

    /// A message about a name that nothing defines, with what was probably meant.
    pub(super) fn undefined(&self, name: Sym, span: Span) -> Diagnostic {
        let text = self.text(name);
        let fault = Diagnostic::error(span, format!("`{text}` is not defined"));
        if let Some(builtin) = Builtin::ALL.iter().find(|b| b.is_external() && b.word() == text) {
            let word = if builtin.is_compression() { "transparent" } else { "external" };
            return fault.help(format!("it has to be declared first: {word} {text}"));
        }
        let globals = self.out.globals.keys().chain(&self.locals).map(|known| self.out.names.text(*known));
        // Prelude names of timed sections have a blank in them. A name of one letter is near to every other one.
        let near = globals.filter(|known| !known.contains(' ') && text.chars().count() > 1);
        let near = near.map(|known| (distance(&text, known), known)).min();
        match near {
            Some((changes, known)) if changes * 3 <= text.chars().count().max(3) => {
                fault.help(format!("did you mean `{known}`?"))
            }
            _ => fault,
        }
    }

    /// The name of the whole script that a name means; names that are bound here are not asked for.
    pub(super) fn meaning(&mut self, name: Sym, span: Span) -> Sym {
        let levels = self.out.levels.clone();
        match levels.meaning(name, self.place.level, &mut self.out.names) {
            Meaning::Name(name) => name,
            Meaning::Hidden(name) => {
                let text = self.text(name);
                self.fault(span, format!("`{text}` is not exported by its module"));
                name
            }
        }
    }

    /// Reads something where a declaration stands.
    pub(super) fn placed<T>(&mut self, decl: &Decl, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.place;
        self.place = decl.place.unwrap_or(outer);
        let result = read(self);
        self.place = outer;
        result
    }

    fn global(&mut self, name: Sym, global: Global, span: Span) {
        let first = *self.declared.entry(name).or_insert(span);
        if self.out.globals.insert(name, global).is_some_and(|old| !matches!(old, Global::Builtin(_))) {
            let message = format!("`{}` is declared more than once", self.text(name));
            self.out.faults.push(Diagnostic::error(span, message).label(first, "declared here already"));
        }
    }

    fn declare(&mut self, decls: &[Decl]) {
        let union = self.out.names.sym("timed union");
        if let Some(builtin) = Builtin::ALL.iter().find(|b| b.word() == "union") {
            self.out.globals.insert(union, Global::Builtin(*builtin));
        }
        for builtin in Builtin::ALL.iter().filter(|b| !b.is_external()) {
            let name = self.out.names.sym(builtin.word());
            self.out.globals.insert(name, Global::Builtin(*builtin));
        }
        let mut annotated: HashMap<Sym, Span> = HashMap::new();
        let mut last = None;
        for decl in decls {
            match &decl.kind {
                DeclKind::Channel(names, _) => {
                    for (name, span) in names {
                        let number = self.out.channels.len() as u32;
                        self.out.channels.push(ChannelDecl { name: *name, fields: None, span: *span });
                        self.global(*name, Global::Channel(number), *span);
                    }
                    let joint = names.iter().find(|(n, _)| names.len() > 1 && annotated.contains_key(n));
                    if let Some((name, span)) = joint {
                        let text = self.text(*name);
                        self.fault(*span, format!("`{text}` has a type of its own, so it is declared alone"));
                    }
                }
                DeclKind::Datatype(name, arms) => {
                    let mut constructors = Vec::new();
                    for arm in arms {
                        let number = self.out.constructors.len() as u32;
                        let decl = ConstructorDecl { name: arm.name, fields: None, span: arm.span };
                        self.out.constructors.push(decl);
                        self.global(arm.name, Global::Constructor(number), arm.span);
                        constructors.push(number);
                    }
                    self.new_type(*name, TypeDecl::Datatype(constructors), decl.span);
                }
                DeclKind::Subtype(name, _) => {
                    self.new_type(*name, TypeDecl::Subtype(Vec::new()), decl.span);
                }
                DeclKind::Nametype(name, _) => {
                    self.new_type(*name, TypeDecl::Subtype(Vec::new()), decl.span);
                }
                DeclKind::Extern(names) => self.externals(names),
                DeclKind::Clause(name, ..) if last != Some(*name) => {
                    self.global(*name, Global::Defined, decl.span);
                }
                DeclKind::Annotation(names) => {
                    for (name, span) in names {
                        if annotated.insert(*name, *span).is_some() {
                            let text = self.text(*name);
                            self.fault(*span, format!("the type of `{text}` is given more than once"));
                        }
                    }
                }
                _ => {}
            }
            last = match &decl.kind {
                DeclKind::Clause(name, ..) => Some(*name),
                _ => None,
            };
        }
        // Names of patterns come last: a name in a pattern may be a constructor.
        for decl in decls {
            if let DeclKind::Pattern(left, _) = &decl.kind {
                let mut names = Vec::new();
                self.placed(decl, |s| s.pattern(left)).names(&mut names);
                names.into_iter().for_each(|name| self.global(name, Global::Defined, decl.span));
            }
        }
        let mut nowhere: Vec<(Sym, Span)> =
            annotated.into_iter().filter(|(name, _)| !self.out.globals.contains_key(name)).collect();
        nowhere.sort();
        for (name, span) in nowhere {
            let text = self.text(name);
            self.fault(span, format!("`{text}` has a type but no definition"));
        }
    }

    fn new_type(&mut self, name: Sym, decl: TypeDecl, span: Span) {
        let number = self.out.types.len() as u32;
        self.out.types.push((name, decl));
        self.global(name, Global::Type(number), span);
    }

    pub(super) fn externals(&mut self, names: &[(Sym, Span)]) {
        for (name, span) in names {
            let text = self.text(*name);
            let word = text.rsplit("::").next().unwrap_or(&text);
            match Builtin::ALL.iter().find(|b| b.word() == word) {
                Some(builtin) => {
                    self.out.globals.insert(*name, Global::Builtin(*builtin));
                }
                None => self.fault(*span, format!("there is no external function `{text}`")),
            }
        }
    }

    /// The fields of channels, constructors and types.
    fn types(&mut self, decls: &[Decl]) {
        let (mut channel, mut constructor, mut type_) = (0, 0, 0);
        for decl in decls {
            match &decl.kind {
                DeclKind::Channel(names, fields) => {
                    let fields = fields.as_ref().map(|f| self.placed(decl, |s| s.expr(f)));
                    for _ in names {
                        self.out.channels[channel].fields = fields.clone();
                        channel += 1;
                    }
                }
                DeclKind::Datatype(_, arms) => {
                    for arm in arms {
                        let fields = arm.fields.as_ref().map(|f| self.placed(decl, |s| s.expr(f)));
                        self.out.constructors[constructor].fields = fields;
                        constructor += 1;
                    }
                    type_ += 1;
                }
                DeclKind::Subtype(_, arms) => {
                    let mut list = Vec::new();
                    for arm in arms {
                        let fields = arm.fields.as_ref().map(|f| self.placed(decl, |s| s.expr(f)));
                        let name = self.placed(decl, |s| s.meaning(arm.name, arm.span));
                        match self.out.globals.get(&name) {
                            Some(Global::Constructor(number)) => list.push((*number, fields)),
                            _ => {
                                let text = self.text(arm.name);
                                self.fault(arm.span, format!("`{text}` is no constructor of a datatype"));
                            }
                        }
                    }
                    self.out.types[type_].1 = TypeDecl::Subtype(list);
                    type_ += 1;
                }
                DeclKind::Nametype(_, set) => {
                    self.out.types[type_].1 = TypeDecl::Nametype(self.placed(decl, |s| s.expr(set)));
                    type_ += 1;
                }
                _ => {}
            }
        }
    }

    fn checks(&mut self, decls: &[Decl]) {
        for decl in decls {
            match &decl.kind {
                DeclKind::Assert(Assert { negated, claim }) => {
                    let claim = self.placed(decl, |s| match claim {
                        Claim::Refines(p, m, q) => ClaimIn::Refines(s.expr(p), *m, s.expr(q)),
                        Claim::DeadlockFree(p, m) => ClaimIn::DeadlockFree(s.expr(p), *m),
                        Claim::DivergenceFree(p) => ClaimIn::DivergenceFree(s.expr(p)),
                        Claim::Deterministic(p, m) => ClaimIn::Deterministic(s.expr(p), *m),
                        Claim::HasTrace(p, m, t) => ClaimIn::HasTrace(s.expr(p), *m, s.expr(t)),
                    });
                    self.out.asserts.push(AssertIn { negated: *negated, claim, span: decl.span });
                }
                DeclKind::Formula { ctl, formula, comment } => {
                    self.out.formulas.push((*ctl, formula.clone(), comment.clone(), decl.span));
                }
                DeclKind::Print(expr) => {
                    let expr = self.placed(decl, |s| s.expr(expr));
                    self.out.prints.push(expr);
                }
                _ => {}
            }
        }
    }

    /// The definitions among declarations, clauses of one name joined.
    pub(super) fn group(&mut self, decls: &[Decl]) -> Group {
        let mut binds: Vec<Bind> = Vec::new();
        let mut clauses: Vec<Clause> = Vec::new();
        for (i, decl) in decls.iter().enumerate() {
            match &decl.kind {
                DeclKind::Clause(name, groups, body) => {
                    let clause = self.placed(decl, |s| s.clause(groups, body));
                    let shape = |c: &Clause| c.groups.iter().map(Vec::len).collect::<Vec<_>>();
                    if clauses.first().is_some_and(|first| shape(first) != shape(&clause)) {
                        let text = self.text(*name);
                        let message = format!("the clauses of `{text}` have different numbers of parameters");
                        self.fault(decl.span, message);
                        continue;
                    }
                    if groups.is_empty() && !clauses.is_empty() {
                        let message = format!("`{}` is defined more than once", self.text(*name));
                        let first = clauses[0].body.span;
                        self.out
                            .faults
                            .push(Diagnostic::error(decl.span, message).label(first, "defined here already"));
                        continue;
                    }
                    clauses.push(clause);
                    let more = matches!(decls.get(i + 1), Some(Decl { kind: DeclKind::Clause(n, ..), .. }) if n == name);
                    if more {
                        continue;
                    }
                    let mut done = std::mem::take(&mut clauses);
                    if groups.is_empty() {
                        if let Some(only) = done.pop() {
                            binds.push(Bind::Value(Pat::Var(*name), only.body));
                        }
                    } else {
                        let free = union(done.iter().map(clause_free));
                        binds.push(Bind::Function(
                            *name,
                            Rc::new(Function { name: Some(*name), clauses: done, free }),
                        ));
                    }
                }
                DeclKind::Pattern(left, right) => {
                    let (pat, right) = self.placed(decl, |s| (s.pattern(left), s.expr(right)));
                    binds.push(Bind::Value(pat, right));
                }
                _ => {}
            }
        }
        let mut names = Vec::new();
        binds.iter().for_each(|b| match b {
            Bind::Function(name, _) => names.push(*name),
            Bind::Value(pat, _) => pat.names(&mut names),
        });
        let inner = union(binds.iter().map(|b| match b {
            Bind::Function(_, f) => f.free.clone(),
            Bind::Value(_, e) => e.free.clone(),
        }));
        Group { binds, free: without(&inner, &names) }
    }

    pub(super) fn clause(&mut self, groups: &[Vec<tree::Expr>], body: &tree::Expr) -> Clause {
        let groups: Vec<Vec<Pat>> =
            groups.iter().map(|g| g.iter().map(|p| self.pattern(p)).collect()).collect();
        let mut names = Vec::new();
        groups.iter().flatten().for_each(|p| p.names(&mut names));
        self.distinct(&names, body.span);
        let body = self.with(&names, |s| s.expr(body));
        Clause { groups, body }
    }

    pub(super) fn distinct(&mut self, names: &[Sym], span: Span) {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(*name) {
                let text = self.text(*name);
                self.fault(span, format!("the name `{text}` is bound twice by one pattern"));
            }
        }
    }

    pub(super) fn with<T>(&mut self, names: &[Sym], inner: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.locals.len();
        self.locals.extend(names);
        let result = inner(self);
        self.locals.truncate(before);
        result
    }

    pub(super) fn pattern(&mut self, expr: &tree::Expr) -> Pat {
        use tree::Kind as K;
        match &expr.kind {
            K::Wildcard => Pat::Any,
            K::Name(name) => {
                let known = self.meaning(*name, expr.span);
                match self.out.globals.get(&known) {
                    Some(Global::Channel(_) | Global::Constructor(_)) => Pat::Const(known),
                    _ => Pat::Var(*name),
                }
            }
            K::Int(value) => Pat::Int(value.clone()),
            K::Unary(Unary::Minus, inner) => match &ungrouped(inner).kind {
                K::Int(value) => Pat::Int(Int::ZERO.sub(value)),
                _ => {
                    self.fault(inner.span, "only a number can stand after `-` in a pattern");
                    Pat::Any
                }
            },
            K::Bool(value) => Pat::Bool(*value),
            K::Char(c) => Pat::Char(*c),
            K::Str(text) => Pat::Seq(text.chars().map(Pat::Char).collect()),
            K::Tuple(list) if list.len() == 1 => self.pattern(&list[0]),
            K::Tuple(list) => Pat::Tuple(list.iter().map(|p| self.pattern(p)).collect()),
            K::Seq(list, stmts) if stmts.is_empty() => {
                Pat::Seq(list.iter().map(|p| self.pattern(p)).collect())
            }
            K::Set(list, stmts) if stmts.is_empty() && list.len() < 2 => {
                Pat::Set(list.first().map(|p| Box::new(self.pattern(p))))
            }
            K::Dot(list) => {
                let mut parts = Vec::new();
                for part in list {
                    match self.pattern(part) {
                        // A dotted pattern at the end goes on where the outer one stops.
                        Pat::Dot(inner) if std::ptr::eq(part, &list[list.len() - 1]) => parts.extend(inner),
                        other => parts.push(other),
                    }
                }
                Pat::Dot(parts)
            }
            K::Both(a, b) => Pat::Both(Box::new(self.pattern(a)), Box::new(self.pattern(b))),
            K::Binary(Binary::Concat, ..) => self.concatenation(expr),
            _ => {
                self.fault(expr.span, "this is no pattern");
                Pat::Any
            }
        }
    }

    fn concatenation(&mut self, expr: &tree::Expr) -> Pat {
        fn flatten<'e>(expr: &'e tree::Expr, out: &mut Vec<&'e tree::Expr>) {
            match &ungrouped(expr).kind {
                tree::Kind::Binary(Binary::Concat, a, b) => {
                    flatten(a, out);
                    flatten(b, out);
                }
                _ => out.push(ungrouped(expr)),
            }
        }
        let mut parts = Vec::new();
        flatten(expr, &mut parts);
        let (mut before, mut middle, mut after) = (Vec::new(), None, Vec::new());
        for part in parts {
            match self.pattern(part) {
                Pat::Seq(list) if middle.is_none() => before.extend(list),
                Pat::Seq(list) => after.extend(list),
                other if middle.is_none() => middle = Some(other),
                _ => self.fault(expr.span, "only one part of such a pattern can have any length"),
            }
        }
        match middle {
            Some(middle) => Pat::Around(before, Box::new(middle), after),
            None => Pat::Seq(before),
        }
    }
}

pub(super) fn clause_free(clause: &Clause) -> Rc<[Sym]> {
    let mut names = Vec::new();
    clause.groups.iter().flatten().for_each(|p| p.names(&mut names));
    without(&clause.body.free, &names)
}

pub(super) fn union(parts: impl Iterator<Item = Rc<[Sym]>>) -> Rc<[Sym]> {
    let mut all: Vec<Sym> = parts.flat_map(|p| p.to_vec()).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

pub(super) fn without(all: &[Sym], names: &[Sym]) -> Rc<[Sym]> {
    all.iter().filter(|n| !names.contains(n)).copied().collect()
}
