//! Expressions with their names looked up: one case for each form.
//!
//! In: trees of expressions. Out: core expressions with their free names.
//! Never here: declarations (`scope`), values.

use super::core::{Each, Ex, Field, Function, Kind, Pairs, Stmt};
use super::scope::{Scope, clause_free, union, without};
use super::token::Sym;
use super::tree::{self, Decl, DeclKind, Kind as K, Over};
use bombus_base::Span;
use std::rc::Rc;

impl Scope {
    pub(super) fn built(&mut self, kind: Kind, span: Span, free: Vec<Rc<[Sym]>>) -> Ex {
        let free = union(free.into_iter());
        self.out.numbers.expr(kind, span, free)
    }

    fn all(&mut self, list: &[tree::Expr]) -> (Vec<Ex>, Vec<Rc<[Sym]>>) {
        let list: Vec<Ex> = list.iter().map(|e| self.expr(e)).collect();
        let free = list.iter().map(|e| e.free.clone()).collect();
        (list, free)
    }

    pub(super) fn expr(&mut self, e: &tree::Expr) -> Ex {
        let span = e.span;
        match &e.kind {
            K::Tuple(list) if list.len() == 1 => self.expr(&list[0]),
            K::Name(name) => {
                let name = if self.locals.contains(name) { *name } else { self.global_name(*name, span) };
                self.out.numbers.expr(Kind::Name(name), span, Rc::new([name]))
            }
            K::Wildcard | K::Both(..) => {
                self.fault(span, "this stands in patterns only");
                self.built(Kind::Bool(false), span, Vec::new())
            }
            K::Int(value) => self.built(Kind::Int(value.clone()), span, Vec::new()),
            K::Bool(value) => self.built(Kind::Bool(*value), span, Vec::new()),
            K::Char(c) => self.built(Kind::Char(*c), span, Vec::new()),
            K::Str(text) => self.built(Kind::Str(text.as_str().into()), span, Vec::new()),
            K::Tuple(list) => {
                let (list, free) = self.all(list);
                self.built(Kind::Tuple(list), span, free)
            }
            K::Dot(list) => {
                let (list, free) = self.all(list);
                self.built(Kind::Dot(list), span, free)
            }
            K::Apply(function, args) => {
                let function = self.expr(function);
                let (args, mut free) = self.all(args);
                free.push(function.free.clone());
                self.built(Kind::Apply(function, args), span, free)
            }
            K::Unary(op, a) => {
                let a = self.expr(a);
                let free = vec![a.free.clone()];
                self.built(Kind::Unary(*op, a), span, free)
            }
            K::Binary(op, a, b) => self.two(a, b, span, |a, b| Kind::Binary(*op, a, b)),
            K::Guard(a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.guard(a, b, span)
            }
            K::Combine(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.combined(*op, a, b, span)
            }
            K::If(c, a, b) => {
                let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                let free = vec![c.free.clone(), a.free.clone(), b.free.clone()];
                self.built(Kind::If(c, a, b), span, free)
            }
            K::Map(pairs) => {
                let pairs: Vec<(Ex, Ex)> = pairs.iter().map(|(k, v)| (self.expr(k), self.expr(v))).collect();
                let free = pairs.iter().flat_map(|(k, v)| [k.free.clone(), v.free.clone()]).collect();
                self.built(Kind::Map(pairs), span, free)
            }
            K::Let(decls, body) => self.local(decls, body, span),
            K::Lambda(params, body) => {
                let clause = self.clause(std::slice::from_ref(params), body);
                let free = clause_free(&clause);
                let function = Function { name: None, clauses: vec![clause], free: free.clone() };
                self.built(Kind::Lambda(Rc::new(function)), span, vec![free])
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
                let p = self.expr(p);
                let set = self.shared(set, matches!(op, Over::Parallel | Over::Choice | Over::Interrupt));
                let q = q.as_ref().map(|q| self.expr(q));
                let mut free = vec![p.free.clone(), set.free.clone()];
                free.extend(q.iter().map(|q| q.free.clone()));
                self.built(Kind::Over(*op, p, set, q), span, free)
            }
            K::Alphabetised(p, a, b, q) => {
                let (p, a, b, q) = (self.expr(p), self.shared(a, true), self.shared(b, true), self.expr(q));
                let free = vec![p.free.clone(), a.free.clone(), b.free.clone(), q.free.clone()];
                self.built(Kind::Alphabetised(p, a, b, q), span, free)
            }
            K::Link(p, pairs, stmts, q) => {
                self.untimed(span, "linked parallel");
                let (p, q) = (self.expr(p), self.expr(q));
                let (pairs, more) = self.pairs(pairs, stmts);
                let free = vec![p.free.clone(), more, q.free.clone()];
                self.built(Kind::Link(p, pairs, q), span, free)
            }
            K::Rename(p, pairs, stmts) => {
                let p = self.expr(p);
                let (pairs, more) = self.pairs(pairs, stmts);
                let free = vec![p.free.clone(), more];
                self.built(Kind::Rename(p, pairs), span, free)
            }
            K::Each(each, stmts, body) => self.each(each, stmts, body, span),
            _ => {
                self.fault(span, "this is no expression");
                self.built(Kind::Bool(false), span, Vec::new())
            }
        }
    }

    fn two(&mut self, a: &tree::Expr, b: &tree::Expr, span: Span, build: impl FnOnce(Ex, Ex) -> Kind) -> Ex {
        let (a, b) = (self.expr(a), self.expr(b));
        let free = vec![a.free.clone(), b.free.clone()];
        self.built(build(a, b), span, free)
    }

    fn local(&mut self, decls: &[Decl], body: &tree::Expr, span: Span) -> Ex {
        let decls = &self.sections_of(decls)[..];
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
        self.built(Kind::Let(Rc::new(group), body), span, free)
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
        self.built(build(list, stmts), span, free)
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
        self.built(build(from, to, stmts), span, free)
    }

    fn pairs(&mut self, pairs: &[(tree::Expr, tree::Expr)], stmts: &[tree::Stmt]) -> (Pairs, Rc<[Sym]>) {
        let (list, stmts, free) = self.stmts(stmts, |s| {
            let list: Vec<(Ex, Ex)> = pairs.iter().map(|(a, b)| (s.expr(a), s.expr(b))).collect();
            let free = list.iter().flat_map(|(a, b)| [a.free.clone(), b.free.clone()]).collect();
            (list, free)
        });
        (Pairs { list, stmts }, union(free.into_iter()))
    }

    fn prefix(&mut self, channel: &tree::Expr, fields: &[tree::Field], then: &tree::Expr, span: Span) -> Ex {
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
                    if let tree::Field::Choice(inner, _) = field {
                        self.untimed(inner.span, "`$`");
                    }
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
        let prefix = self.built(Kind::Prefix(channel, list, then), span, free);
        self.with_time(prefix, span)
    }

    fn each(&mut self, each: &tree::Each, stmts: &[tree::Stmt], body: &tree::Expr, span: Span) -> Ex {
        let mut outside = Vec::new();
        let shared = match each {
            tree::Each::Parallel(set) | tree::Each::Choice(set) => Some(self.shared(set, true)),
            tree::Each::External | tree::Each::Interleave => self.tock_set(span),
            _ => None,
        };
        outside.extend(shared.iter().map(|set| set.free.clone()));
        if let tree::Each::Link(..) = each {
            self.untimed(span, "linked parallel");
        }
        let ((each, body), stmts, mut free) = self.stmts(stmts, |s| {
            let mut free = Vec::new();
            let each = match (each, shared) {
                (tree::Each::External | tree::Each::Choice(_), Some(set)) => Each::Choice(set),
                (tree::Each::External, None) => Each::External,
                (tree::Each::Internal, _) => Each::Internal,
                (tree::Each::Sequence, _) => Each::Sequence,
                (tree::Each::Parallel(_) | tree::Each::Interleave, Some(set)) => Each::Parallel(set),
                (tree::Each::Alphabetised(set), _) => {
                    let set = s.shared(set, true);
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
        let none = self.of_no_processes(&each, span);
        free.extend(none.iter().map(|e| e.free.clone()));
        self.built(Kind::Each(each, stmts, body, none), span, free)
    }
}
