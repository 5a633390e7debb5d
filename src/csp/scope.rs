//! Names: what each one means, which patterns bind which, which are not defined.
//!
//! In: the tree of a script. Out: core expressions and the tables of channels, types and definitions,
//! or a message for every name that has no meaning or too many.
//! Never here: types, evaluation.

use super::builtin::Builtin;
use super::core::{Bind, Clause, Each, Ex, Field, Function, Group, Kind, Numbers, Pairs, Pat, Stmt};
use super::expression::ungrouped;
use super::parser::Script;
use super::token::{Names, Sym};
use super::tree::{self, Assert, Binary, Claim, Decl, DeclKind, Semantics, Unary};
use crate::base::diagnostic::Diagnostic;
use crate::base::{Int, Span};
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
    pub faults: Vec<Diagnostic>,
    pub numbers: Numbers,
}

pub fn scoped(script: Script) -> Scoped {
    let Script { names, decls, faults } = script;
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
            faults,
            numbers: Numbers::default(),
        },
        locals: Vec::new(),
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
    let mut scope = Scope { out: scoped, locals: Vec::new() };
    let ex = scope.expr(expr);
    (scope.out, ex)
}

struct Scope {
    out: Scoped,
    /// Names that are bound here, innermost last.
    locals: Vec<Sym>,
}

impl Scope {
    fn fault(&mut self, span: Span, message: impl Into<String>) {
        self.out.faults.push(Diagnostic::error(span, message));
    }

    fn text(&self, name: Sym) -> String {
        self.out.names.text(name).to_string()
    }

    fn global(&mut self, name: Sym, global: Global, span: Span) {
        if self.out.globals.insert(name, global).is_some_and(|old| !matches!(old, Global::Builtin(_))) {
            let text = self.text(name);
            self.fault(span, format!("`{text}` is declared more than once"));
        }
    }

    fn declare(&mut self, decls: &[Decl]) {
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
                DeclKind::Clause(name, ..) => {
                    if last != Some(*name) {
                        self.global(*name, Global::Defined, decl.span);
                    }
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
                self.pattern(left).names(&mut names);
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

    fn externals(&mut self, names: &[(Sym, Span)]) {
        for (name, span) in names {
            let text = self.text(*name);
            match Builtin::ALL.iter().find(|b| b.word() == text) {
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
                    let fields = fields.as_ref().map(|f| self.expr(f));
                    for _ in names {
                        self.out.channels[channel].fields = fields.clone();
                        channel += 1;
                    }
                }
                DeclKind::Datatype(_, arms) => {
                    for arm in arms {
                        let fields = arm.fields.as_ref().map(|f| self.expr(f));
                        self.out.constructors[constructor].fields = fields;
                        constructor += 1;
                    }
                    type_ += 1;
                }
                DeclKind::Subtype(_, arms) => {
                    let mut list = Vec::new();
                    for arm in arms {
                        let fields = arm.fields.as_ref().map(|f| self.expr(f));
                        match self.out.globals.get(&arm.name) {
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
                    self.out.types[type_].1 = TypeDecl::Nametype(self.expr(set));
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
                    let claim = match claim {
                        Claim::Refines(p, m, q) => ClaimIn::Refines(self.expr(p), *m, self.expr(q)),
                        Claim::DeadlockFree(p, m) => ClaimIn::DeadlockFree(self.expr(p), *m),
                        Claim::DivergenceFree(p) => ClaimIn::DivergenceFree(self.expr(p)),
                        Claim::Deterministic(p, m) => ClaimIn::Deterministic(self.expr(p), *m),
                        Claim::HasTrace(p, m, t) => ClaimIn::HasTrace(self.expr(p), *m, self.expr(t)),
                    };
                    self.out.asserts.push(AssertIn { negated: *negated, claim, span: decl.span });
                }
                DeclKind::Formula { ctl, formula, comment } => {
                    self.out.formulas.push((*ctl, formula.clone(), comment.clone(), decl.span));
                }
                DeclKind::Print(expr) => {
                    self.expr(expr);
                }
                _ => {}
            }
        }
    }

    /// The definitions among declarations, clauses of one name joined.
    fn group(&mut self, decls: &[Decl]) -> Group {
        let mut binds: Vec<Bind> = Vec::new();
        let mut clauses: Vec<Clause> = Vec::new();
        for (i, decl) in decls.iter().enumerate() {
            match &decl.kind {
                DeclKind::Clause(name, groups, body) => {
                    let clause = self.clause(groups, body);
                    let shape = |c: &Clause| c.groups.iter().map(Vec::len).collect::<Vec<_>>();
                    if clauses.first().is_some_and(|first| shape(first) != shape(&clause)) {
                        let text = self.text(*name);
                        let message = format!("the clauses of `{text}` have different numbers of parameters");
                        self.fault(decl.span, message);
                        continue;
                    }
                    if groups.is_empty() && !clauses.is_empty() {
                        let text = self.text(*name);
                        self.fault(decl.span, format!("`{text}` is defined more than once"));
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
                    let pat = self.pattern(left);
                    let right = self.expr(right);
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

    fn clause(&mut self, groups: &[Vec<tree::Expr>], body: &tree::Expr) -> Clause {
        let groups: Vec<Vec<Pat>> =
            groups.iter().map(|g| g.iter().map(|p| self.pattern(p)).collect()).collect();
        let mut names = Vec::new();
        groups.iter().flatten().for_each(|p| p.names(&mut names));
        self.distinct(&names, body.span);
        let body = self.with(&names, |s| s.expr(body));
        Clause { groups, body }
    }

    fn distinct(&mut self, names: &[Sym], span: Span) {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(*name) {
                let text = self.text(*name);
                self.fault(span, format!("the name `{text}` is bound twice by one pattern"));
            }
        }
    }

    fn with<T>(&mut self, names: &[Sym], inner: impl FnOnce(&mut Self) -> T) -> T {
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
            K::Name(name) => match self.out.globals.get(name) {
                Some(Global::Channel(_) | Global::Constructor(_)) => Pat::Const(*name),
                _ => Pat::Var(*name),
            },
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

mod lower {
    //! Expressions, one case for each form.
    use super::*;
    use tree::Kind as K;

    impl Scope {
        fn new(&mut self, kind: Kind, span: Span, free: Vec<Rc<[Sym]>>) -> Ex {
            let free = union(free.into_iter());
            self.out.numbers.expr(kind, span, free)
        }

        fn all(&mut self, list: &[tree::Expr]) -> (Vec<Ex>, Vec<Rc<[Sym]>>) {
            let list: Vec<Ex> = list.iter().map(|e| self.expr(e)).collect();
            let free = list.iter().map(|e| e.free.clone()).collect();
            (list, free)
        }

        pub(in crate::csp) fn expr(&mut self, e: &tree::Expr) -> Ex {
            let span = e.span;
            match &e.kind {
                K::Tuple(list) if list.len() == 1 => self.expr(&list[0]),
                K::Name(name) => {
                    if !self.locals.contains(name) && !self.out.globals.contains_key(name) {
                        let text = self.text(*name);
                        self.fault(span, format!("`{text}` is not defined"));
                    }
                    self.out.numbers.expr(Kind::Name(*name), span, Rc::new([*name]))
                }
                K::Wildcard | K::Both(..) => {
                    self.fault(span, "this stands in patterns only");
                    self.new(Kind::Bool(false), span, Vec::new())
                }
                K::Int(value) => self.new(Kind::Int(value.clone()), span, Vec::new()),
                K::Bool(value) => self.new(Kind::Bool(*value), span, Vec::new()),
                K::Char(c) => self.new(Kind::Char(*c), span, Vec::new()),
                K::Str(text) => self.new(Kind::Str(text.as_str().into()), span, Vec::new()),
                K::Tuple(list) => {
                    let (list, free) = self.all(list);
                    self.new(Kind::Tuple(list), span, free)
                }
                K::Dot(list) => {
                    let (list, free) = self.all(list);
                    self.new(Kind::Dot(list), span, free)
                }
                K::Apply(function, args) => {
                    let function = self.expr(function);
                    let (args, mut free) = self.all(args);
                    free.push(function.free.clone());
                    self.new(Kind::Apply(function, args), span, free)
                }
                K::Unary(op, a) => {
                    let a = self.expr(a);
                    let free = vec![a.free.clone()];
                    self.new(Kind::Unary(*op, a), span, free)
                }
                K::Binary(op, a, b) => self.two(a, b, span, |a, b| Kind::Binary(*op, a, b)),
                K::Guard(a, b) => self.two(a, b, span, Kind::Guard),
                K::Combine(op, a, b) => self.two(a, b, span, |a, b| Kind::Combine(*op, a, b)),
                K::If(c, a, b) => {
                    let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                    let free = vec![c.free.clone(), a.free.clone(), b.free.clone()];
                    self.new(Kind::If(c, a, b), span, free)
                }
                K::Map(pairs) => {
                    let pairs: Vec<(Ex, Ex)> =
                        pairs.iter().map(|(k, v)| (self.expr(k), self.expr(v))).collect();
                    let free = pairs.iter().flat_map(|(k, v)| [k.free.clone(), v.free.clone()]).collect();
                    self.new(Kind::Map(pairs), span, free)
                }
                K::Let(decls, body) => self.local(decls, body, span),
                K::Lambda(params, body) => {
                    let clause = self.clause(std::slice::from_ref(params), body);
                    let free = clause_free(&clause);
                    let function = Function { name: None, clauses: vec![clause], free: free.clone() };
                    self.new(Kind::Lambda(Rc::new(function)), span, vec![free])
                }
                K::Seq(list, stmts) => self.comprehension(list, stmts, span, Kind::Seq),
                K::Set(list, stmts) => self.comprehension(list, stmts, span, Kind::Set),
                K::Productions(list, stmts) => self.comprehension(list, stmts, span, Kind::Productions),
                K::SeqRange(a, b, stmts) => self.range(a, b.as_deref(), stmts, span, Kind::SeqRange),
                K::SetRange(a, b, stmts) => self.range(a, b.as_deref(), stmts, span, Kind::SetRange),
                _ => self.process(e),
            }
        }

        fn process(&mut self, e: &tree::Expr) -> Ex {
            let span = e.span;
            match &e.kind {
                K::Prefix(channel, fields, then) => self.prefix(channel, fields, then, span),
                K::Over(op, p, set, q) => {
                    let (p, set) = (self.expr(p), self.expr(set));
                    let q = q.as_ref().map(|q| self.expr(q));
                    let mut free = vec![p.free.clone(), set.free.clone()];
                    free.extend(q.iter().map(|q| q.free.clone()));
                    self.new(Kind::Over(*op, p, set, q), span, free)
                }
                K::Alphabetised(p, a, b, q) => {
                    let (p, a, b, q) = (self.expr(p), self.expr(a), self.expr(b), self.expr(q));
                    let free = vec![p.free.clone(), a.free.clone(), b.free.clone(), q.free.clone()];
                    self.new(Kind::Alphabetised(p, a, b, q), span, free)
                }
                K::Link(p, pairs, stmts, q) => {
                    let (p, q) = (self.expr(p), self.expr(q));
                    let (pairs, more) = self.pairs(pairs, stmts);
                    let free = vec![p.free.clone(), more, q.free.clone()];
                    self.new(Kind::Link(p, pairs, q), span, free)
                }
                K::Rename(p, pairs, stmts) => {
                    let p = self.expr(p);
                    let (pairs, more) = self.pairs(pairs, stmts);
                    let free = vec![p.free.clone(), more];
                    self.new(Kind::Rename(p, pairs), span, free)
                }
                K::Each(each, stmts, body) => self.each(each, stmts, body, span),
                _ => {
                    self.fault(span, "this is no expression");
                    self.new(Kind::Bool(false), span, Vec::new())
                }
            }
        }

        fn two(
            &mut self,
            a: &tree::Expr,
            b: &tree::Expr,
            span: Span,
            build: impl FnOnce(Ex, Ex) -> Kind,
        ) -> Ex {
            let (a, b) = (self.expr(a), self.expr(b));
            let free = vec![a.free.clone(), b.free.clone()];
            self.new(build(a, b), span, free)
        }

        fn local(&mut self, decls: &[Decl], body: &tree::Expr, span: Span) -> Ex {
            let mut names = Vec::new();
            let mut last = None;
            for decl in decls {
                match &decl.kind {
                    DeclKind::Clause(name, ..) => {
                        if last != Some(*name) {
                            names.push(*name);
                        }
                        last = Some(*name);
                        continue;
                    }
                    DeclKind::Pattern(left, _) => self.pattern(left).names(&mut names),
                    DeclKind::Extern(list) => self.externals(list),
                    _ => {}
                }
                last = None;
            }
            self.distinct(&names, span);
            let (group, body) = self.with(&names, |s| (s.group(decls), s.expr(body)));
            let free = vec![group.free.clone(), without(&body.free, &names)];
            self.new(Kind::Let(Rc::new(group), body), span, free)
        }

        /// Statements bind for those after them and for what `inner` reads.
        fn stmts<T>(
            &mut self,
            stmts: &[tree::Stmt],
            inner: impl FnOnce(&mut Self) -> (T, Vec<Rc<[Sym]>>),
        ) -> (T, Vec<Stmt>, Vec<Rc<[Sym]>>) {
            let before = self.locals.len();
            let mut list = Vec::new();
            let mut free = Vec::new();
            let mut bound = Vec::new();
            for stmt in stmts {
                match stmt {
                    tree::Stmt::Generator(pat, set) => {
                        let set = self.expr(set);
                        free.push(without(&set.free, &bound));
                        let pat = self.pattern(pat);
                        let mut names = Vec::new();
                        pat.names(&mut names);
                        self.locals.extend(&names);
                        bound.extend(names);
                        list.push(Stmt::Generator(pat, set));
                    }
                    tree::Stmt::Condition(condition) => {
                        let condition = self.expr(condition);
                        free.push(without(&condition.free, &bound));
                        list.push(Stmt::Condition(condition));
                    }
                }
            }
            let (result, inside) = inner(self);
            free.extend(inside.iter().map(|f| without(f, &bound)));
            self.locals.truncate(before);
            (result, list, free)
        }

        fn comprehension(
            &mut self,
            list: &[tree::Expr],
            stmts: &[tree::Stmt],
            span: Span,
            build: impl FnOnce(Vec<Ex>, Vec<Stmt>) -> Kind,
        ) -> Ex {
            let (list, stmts, free) = self.stmts(stmts, |s| s.all(list));
            self.new(build(list, stmts), span, free)
        }

        fn range(
            &mut self,
            from: &tree::Expr,
            to: Option<&tree::Expr>,
            stmts: &[tree::Stmt],
            span: Span,
            build: impl FnOnce(Ex, Option<Ex>, Vec<Stmt>) -> Kind,
        ) -> Ex {
            let ((from, to), stmts, free) = self.stmts(stmts, |s| {
                let from = s.expr(from);
                let to = to.map(|t| s.expr(t));
                let free = std::iter::once(&from).chain(&to).map(|e| e.free.clone()).collect();
                ((from, to), free)
            });
            self.new(build(from, to, stmts), span, free)
        }

        fn pairs(&mut self, pairs: &[(tree::Expr, tree::Expr)], stmts: &[tree::Stmt]) -> (Pairs, Rc<[Sym]>) {
            let (list, stmts, free) = self.stmts(stmts, |s| {
                let list: Vec<(Ex, Ex)> = pairs.iter().map(|(a, b)| (s.expr(a), s.expr(b))).collect();
                let free = list.iter().flat_map(|(a, b)| [a.free.clone(), b.free.clone()]).collect();
                (list, free)
            });
            (Pairs { list, stmts }, union(free.into_iter()))
        }

        fn prefix(
            &mut self,
            channel: &tree::Expr,
            fields: &[tree::Field],
            then: &tree::Expr,
            span: Span,
        ) -> Ex {
            let channel = self.expr(channel);
            let before = self.locals.len();
            let mut free = vec![channel.free.clone()];
            let mut bound = Vec::new();
            let mut list = Vec::new();
            for field in fields {
                match field {
                    tree::Field::Output(value) => {
                        let value = self.expr(value);
                        free.push(without(&value.free, &bound));
                        list.push(Field::Output(value));
                    }
                    tree::Field::Input(pat, set) | tree::Field::Choice(pat, set) => {
                        let mut names = Vec::new();
                        let pat = self.pattern(pat);
                        pat.names(&mut names);
                        let set = set.as_ref().map(|s| self.expr(s));
                        free.extend(set.iter().map(|s| without(&s.free, &bound)));
                        self.locals.extend(&names);
                        bound.extend(names);
                        list.push(match field {
                            tree::Field::Choice(..) => Field::Choice(pat, set),
                            _ => Field::Input(pat, set),
                        });
                    }
                }
            }
            let then = self.expr(then);
            free.push(without(&then.free, &bound));
            self.locals.truncate(before);
            self.new(Kind::Prefix(channel, list, then), span, free)
        }

        fn each(&mut self, each: &tree::Each, stmts: &[tree::Stmt], body: &tree::Expr, span: Span) -> Ex {
            let mut outside = Vec::new();
            let shared = match each {
                tree::Each::Parallel(set) => {
                    let set = self.expr(set);
                    outside.push(set.free.clone());
                    Some(set)
                }
                _ => None,
            };
            let ((each, body), stmts, mut free) = self.stmts(stmts, |s| {
                let mut free = Vec::new();
                let each = match (each, shared) {
                    (tree::Each::External, _) => Each::External,
                    (tree::Each::Internal, _) => Each::Internal,
                    (tree::Each::Sequence, _) => Each::Sequence,
                    (tree::Each::Parallel(_), Some(set)) => Each::Parallel(set),
                    (tree::Each::Alphabetised(set), _) => {
                        let set = s.expr(set);
                        free.push(set.free.clone());
                        Each::Alphabetised(set)
                    }
                    (tree::Each::Link(pairs, inner), _) => {
                        let (pairs, more) = s.pairs(pairs, inner);
                        free.push(more);
                        Each::Link(pairs)
                    }
                    _ => Each::Interleave,
                };
                let body = s.expr(body);
                free.push(body.free.clone());
                ((each, body), free)
            });
            free.extend(outside);
            self.new(Kind::Each(each, stmts, body), span, free)
        }
    }
}

fn clause_free(clause: &Clause) -> Rc<[Sym]> {
    let mut names = Vec::new();
    clause.groups.iter().flatten().for_each(|p| p.names(&mut names));
    without(&clause.body.free, &names)
}

fn union(parts: impl Iterator<Item = Rc<[Sym]>>) -> Rc<[Sym]> {
    let mut all: Vec<Sym> = parts.flat_map(|p| p.to_vec()).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

fn without(all: &[Sym], names: &[Sym]) -> Rc<[Sym]> {
    all.iter().filter(|n| !names.contains(n)).copied().collect()
}
