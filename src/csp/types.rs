//! Types of the functional language, inferred as by Hindley and Milner.
//!
//! In: a script whose names are known. Out: a message for each expression whose type cannot be right.
//! Events and members of datatypes share one type, whatever their channel, constructor and fields: these are checked when
//! a value is built. What may be a dotted value or not fits everything. So no right script is refused, and what is
//! refused is wrong in any case. Never here: values.

use super::core::{Binary, Bind, Each, Ex, Field, Function, Group, Kind, Pat, Stmt, Unary};
use super::scope::{ClaimIn, Global, Scoped, TypeDecl};
use super::token::Sym;
use super::types_library::builtin_type;
use super::unification::{Type, Types, seq, set};
use bombus_base::Span;
use bombus_base::diagnostic::Diagnostic;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Names in scope, innermost first.
#[derive(Clone, Default)]
struct Scope(Option<Rc<Level>>);

struct Level {
    names: Names,
    next: Scope,
}

enum Names {
    Vars(Vec<(Sym, Type)>),
    Group(Rc<Definitions>),
}

/// Definitions whose types are found when they are asked for.
struct Definitions {
    group: Rc<Group>,
    outside: RefCell<Scope>,
    known: RefCell<HashMap<Sym, Known>>,
}

#[derive(Clone)]
enum Known {
    /// Being inferred: one type for all uses.
    Busy(Type),
    /// For all values of the variables from the first number on.
    Done(Type, u32),
}

const LOOSE_DOT: &str =
    "`.` binds looser than comparisons, `and`, `or` and arithmetic: put brackets round the dotted value";

/// Whether a part of a dotted value is an operation without brackets round it.
fn is_loose(parts: &[Ex]) -> bool {
    let adjacent = |pair: &[Ex]| pair[0].span.end + 1 == pair[1].span.start;
    parts.windows(2).any(|pair| matches!(pair[1].kind, Kind::Binary(..)) && adjacent(pair))
}

/// All type errors of a script.
pub fn check(script: &Scoped) -> Vec<Diagnostic> {
    let mut infer = Infer {
        script,
        types: Types::default(),
        faults: Vec::new(),
        loose: Vec::new(),
        fields: HashMap::new(),
    };
    let globals = Rc::new(Definitions {
        group: script.group.clone(),
        outside: RefCell::default(),
        known: RefCell::default(),
    });
    let scope = Scope(Some(Rc::new(Level { names: Names::Group(globals.clone()), next: Scope::default() })));
    *globals.outside.borrow_mut() = scope.clone();
    let channels = script.channels.iter().map(|c| (c.name, &c.fields));
    let constructors = script.constructors.iter().map(|c| (c.name, &c.fields));
    for (name, fields) in channels.chain(constructors) {
        if let Some(fields) = fields {
            let known = infer.fields_of(fields, &scope);
            infer.fields.insert(name, known);
        }
    }
    infer.all(&globals);
    for (_, decl) in &script.types {
        match decl {
            TypeDecl::Nametype(e) => {
                infer.expr(e, &scope);
            }
            TypeDecl::Subtype(arms) => arms.iter().filter_map(|(_, e)| e.as_ref()).for_each(|e| {
                infer.expr(e, &scope);
            }),
            TypeDecl::Datatype(_) => {}
        }
    }
    script.prints.iter().for_each(|e| {
        infer.expr(e, &scope);
    });
    for assert in &script.asserts {
        match &assert.claim {
            ClaimIn::Refines(p, _, q) => {
                infer.is(p, Type::Proc, &scope);
                infer.is(q, Type::Proc, &scope);
            }
            ClaimIn::DeadlockFree(p, _) | ClaimIn::DivergenceFree(p) | ClaimIn::Deterministic(p, _) => {
                infer.is(p, Type::Proc, &scope);
            }
            ClaimIn::HasTrace(p, _, t) => {
                infer.is(p, Type::Proc, &scope);
                infer.is(t, Type::Seq(Rc::new(Type::Any)), &scope);
            }
        }
    }
    // The least error of a place is enough.
    infer.faults.sort_by_key(|(span, _)| (span.file, span.start, span.end));
    infer.faults.dedup_by_key(|(span, _)| *span);
    let loose = std::mem::take(&mut infer.loose);
    let told = |(span, message)| {
        let fault = Diagnostic::error(span, message);
        if loose.contains(&span) { fault.help(LOOSE_DOT) } else { fault }
    };
    infer.faults.into_iter().map(told).collect()
}

struct Infer<'s> {
    script: &'s Scoped,
    types: Types,
    faults: Vec<(Span, String)>,
    /// Faults in operations that a dot took in for want of brackets.
    loose: Vec<Span>,
    /// Of each channel and constructor, the types of its first fields as far as each takes one value of a known type.
    fields: HashMap<Sym, Vec<Type>>,
}

impl Infer<'_> {
    fn same(&mut self, found: &Type, wanted: &Type, at: Span) {
        if !self.types.unify(found, wanted) {
            let message = format!(
                "this has the type {}, {} is expected",
                self.types.show(found),
                self.types.show(wanted)
            );
            self.faults.push((at, message));
        }
    }

    fn is(&mut self, e: &Ex, wanted: Type, scope: &Scope) {
        let found = self.expr(e, scope);
        self.same(&found, &wanted, e.span);
    }

    /// Whether a value of this type is one value, and not several with dots between them.
    fn is_single(&self, t: &Type) -> bool {
        !matches!(self.types.seen(t), Type::Any | Type::Dotted | Type::Var(_))
    }

    /// The types of the first fields of a declaration, as far as each takes one value of a known type.
    fn fields_of(&mut self, e: &Ex, scope: &Scope) -> Vec<Type> {
        let parts: &[Ex] = match &e.kind {
            Kind::Dot(parts) => parts,
            _ => std::slice::from_ref(e),
        };
        let all: Vec<Type> = parts.iter().map(|part| self.elements(part, scope)).collect();
        let known = |t: &Type| self.is_single(t);
        all.into_iter().take_while(known).collect()
    }

    /// The type of the elements of an expression that stands for a type.
    fn elements(&mut self, e: &Ex, scope: &Scope) -> Type {
        match &e.kind {
            Kind::Tuple(list) => Type::Tuple(list.iter().map(|e| self.elements(e, scope)).collect()),
            Kind::Dot(list) => {
                list.iter().for_each(|e| {
                    self.elements(e, scope);
                });
                Type::Any
            }
            _ => {
                let item = self.types.fresh();
                self.is(e, set(item.clone()), scope);
                self.types.seen(&item)
            }
        }
    }

    /// What is known of the fields of a channel or constructor that a name stands for.
    fn known_fields(&self, e: &Ex, scope: &Scope) -> Vec<Type> {
        let Kind::Name(name) = &e.kind else { return Vec::new() };
        let mut at = scope.clone();
        while let Some(level) = at.0.clone() {
            let own = match &level.names {
                Names::Vars(vars) => vars.iter().any(|(n, _)| n == name),
                Names::Group(definitions) => definitions.group.names().contains(name),
            };
            if own {
                return Vec::new();
            }
            at = level.next.clone();
        }
        self.fields.get(name).cloned().unwrap_or_default()
    }

    /// Parts of a dotted value against the fields that they fill, as far as each part is one value.
    fn fill<'t>(&mut self, parts: &[Ex], wanted: &'t [Type], scope: &Scope) -> &'t [Type] {
        for (i, part) in parts.iter().enumerate() {
            let found = self.expr(part, scope);
            let single = self.is_single(&found);
            match wanted.get(i) {
                Some(wanted) if single => self.same(&found, wanted, part.span),
                // Several values may stand in one part, so nothing is known of what follows.
                _ => {
                    parts[i + 1..].iter().for_each(|e| {
                        self.expr(e, scope);
                    });
                    return &[];
                }
            }
        }
        &wanted[parts.len()..]
    }

    /// The types of all definitions of a group.
    fn all(&mut self, definitions: &Rc<Definitions>) {
        let group = definitions.group.clone();
        for bind in &group.binds {
            match bind {
                Bind::Function(name, _) => {
                    self.definition(definitions, *name);
                }
                Bind::Value(pat, _) => {
                    let mut names = Vec::new();
                    pat.names(&mut names);
                    names.into_iter().for_each(|name| {
                        self.definition(definitions, name);
                    });
                }
            }
        }
    }

    fn definition(&mut self, definitions: &Rc<Definitions>, name: Sym) -> Type {
        let known = definitions.known.borrow().get(&name).cloned();
        match known {
            Some(Known::Busy(t)) => return t,
            Some(Known::Done(t, first)) => return self.types.copy(&t, first, &mut HashMap::new()),
            None => {}
        }
        let first = self.types.count();
        let group = definitions.group.clone();
        let outside = definitions.outside.borrow().clone();
        for bind in &group.binds {
            match bind {
                Bind::Function(n, function) if *n == name => {
                    let mono = self.types.fresh();
                    definitions.known.borrow_mut().insert(name, Known::Busy(mono.clone()));
                    let t = self.function(function, &outside);
                    let at = function.clauses[0].body.span;
                    self.same(&t, &mono, at);
                    definitions.known.borrow_mut().insert(name, Known::Done(t, first));
                }
                Bind::Value(pat, e) => {
                    let mut names = Vec::new();
                    pat.names(&mut names);
                    if !names.contains(&name) {
                        continue;
                    }
                    let mut vars = Vec::new();
                    let shape = self.pattern(pat, &mut vars);
                    for (n, t) in &vars {
                        definitions.known.borrow_mut().insert(*n, Known::Busy(t.clone()));
                    }
                    self.is(e, shape, &outside);
                    for (n, t) in vars {
                        definitions.known.borrow_mut().insert(n, Known::Done(t, first));
                    }
                }
                Bind::Function(..) => {}
            }
        }
        let known = definitions.known.borrow().get(&name).cloned();
        match known {
            Some(Known::Done(t, first)) => self.types.copy(&t, first, &mut HashMap::new()),
            _ => Type::Any,
        }
    }

    fn function(&mut self, function: &Function, scope: &Scope) -> Type {
        let mut whole: Option<Type> = None;
        for clause in &function.clauses {
            let mut vars = Vec::new();
            let mut groups = Vec::new();
            for group in &clause.groups {
                groups.push(group.iter().map(|p| self.pattern(p, &mut vars)).collect::<Rc<[Type]>>());
            }
            let inner = Scope(Some(Rc::new(Level { names: Names::Vars(vars), next: scope.clone() })));
            let mut t = self.expr(&clause.body, &inner);
            for group in groups.into_iter().rev() {
                t = Type::Fun(group, Rc::new(t));
            }
            match &whole {
                Some(first) => self.same(&t, &first.clone(), clause.body.span),
                None => whole = Some(t),
            }
        }
        whole.unwrap_or(Type::Any)
    }

    fn pattern(&mut self, pat: &Pat, vars: &mut Vec<(Sym, Type)>) -> Type {
        match pat {
            Pat::Any => self.types.fresh(),
            Pat::Var(name) => {
                let t = self.types.fresh();
                vars.push((*name, t.clone()));
                t
            }
            Pat::Int(_) => Type::Int,
            Pat::Bool(_) => Type::Bool,
            Pat::Char(_) => Type::Char,
            Pat::Const(_) => Type::Any,
            Pat::Tuple(list) => Type::Tuple(list.iter().map(|p| self.pattern(p, vars)).collect()),
            Pat::Seq(list) => {
                let item = self.types.fresh();
                for p in list {
                    let t = self.pattern(p, vars);
                    self.types.unify(&t, &item);
                }
                seq(item)
            }
            Pat::Around(before, middle, after) => {
                let item = self.types.fresh();
                for p in before.iter().chain(after) {
                    let t = self.pattern(p, vars);
                    self.types.unify(&t, &item);
                }
                let whole = seq(item);
                let t = self.pattern(middle, vars);
                self.types.unify(&t, &whole);
                whole
            }
            Pat::Set(one) => match one {
                Some(one) => set(self.pattern(one, vars)),
                None => set(self.types.fresh()),
            },
            Pat::Dot(list) => {
                // A part of a dotted pattern may take several values: nothing is known of it.
                let mut inside = Vec::new();
                list.iter().for_each(|p| {
                    self.pattern(p, &mut inside);
                });
                vars.extend(inside.into_iter().map(|(name, _)| (name, Type::Any)));
                Type::Any
            }
            Pat::Both(a, b) => {
                let (a, b) = (self.pattern(a, vars), self.pattern(b, vars));
                self.types.unify(&a, &b);
                a
            }
        }
    }

    fn name(&mut self, name: Sym, scope: &Scope) -> Type {
        let mut at = scope.clone();
        while let Some(level) = at.0.clone() {
            match &level.names {
                Names::Vars(vars) => {
                    if let Some((_, t)) = vars.iter().rev().find(|(n, _)| *n == name) {
                        return t.clone();
                    }
                }
                Names::Group(definitions) => {
                    if definitions.group.names().contains(&name) {
                        return self.definition(definitions, name);
                    }
                }
            }
            at = level.next.clone();
        }
        match self.script.globals.get(&name) {
            Some(Global::Type(_)) => set(Type::Any),
            Some(Global::Channel(_) | Global::Constructor(_)) => Type::Dotted,
            Some(Global::Builtin(builtin)) => {
                let (a, b) = (self.types.fresh(), self.types.fresh());
                builtin_type(*builtin, a, b)
            }
            _ => Type::Any,
        }
    }

    fn expr(&mut self, e: &Ex, scope: &Scope) -> Type {
        match &e.kind {
            Kind::Name(name) => self.name(*name, scope),
            Kind::Int(_) => Type::Int,
            Kind::Bool(_) => Type::Bool,
            Kind::Char(_) => Type::Char,
            Kind::Str(_) => seq(Type::Char),
            Kind::Tuple(list) => Type::Tuple(list.iter().map(|e| self.expr(e, scope)).collect()),
            Kind::Dot(list) => {
                let first = self.expr(&list[0], scope);
                let wanted = self.known_fields(&list[0], scope);
                let known = self.faults.len();
                self.fill(&list[1..], &wanted, scope);
                if self.faults.len() > known && is_loose(list) {
                    // What was meant is `(c.1) == d`: the other messages are about the same slip.
                    self.faults.truncate(known + 1);
                    self.loose.push(self.faults[known].0);
                }
                // What begins otherwise may be a product of sets.
                if self.types.seen(&first) == Type::Dotted { Type::Dotted } else { Type::Any }
            }
            Kind::Apply(function, args) => self.apply(e, function, args, scope),
            Kind::Unary(op, a) => match op {
                Unary::Not => self.both(&[a], Type::Bool, scope),
                Unary::Minus => self.both(&[a], Type::Int, scope),
                Unary::Length => {
                    let item = self.types.fresh();
                    self.is(a, seq(item), scope);
                    Type::Int
                }
            },
            Kind::Binary(op, a, b) => self.binary(*op, a, b, scope),
            Kind::If(c, a, b) => {
                self.is(c, Type::Bool, scope);
                let t = self.expr(a, scope);
                self.is(b, t.clone(), scope);
                t
            }
            Kind::Let(group, body) => {
                let definitions = Rc::new(Definitions {
                    group: group.clone(),
                    outside: RefCell::default(),
                    known: RefCell::default(),
                });
                let inner = Scope(Some(Rc::new(Level {
                    names: Names::Group(definitions.clone()),
                    next: scope.clone(),
                })));
                *definitions.outside.borrow_mut() = inner.clone();
                self.all(&definitions);
                self.expr(body, &inner)
            }
            Kind::Lambda(function) => self.function(function, scope),
            Kind::Seq(list, stmts) => {
                let inner = self.stmts(stmts, scope);
                let item = self.types.fresh();
                list.iter().for_each(|e| self.is(e, item.clone(), &inner));
                seq(item)
            }
            Kind::Set(list, stmts) => {
                let inner = self.stmts(stmts, scope);
                let item = self.types.fresh();
                list.iter().for_each(|e| self.is(e, item.clone(), &inner));
                set(item)
            }
            Kind::SeqRange(from, to, stmts) | Kind::SetRange(from, to, stmts) => {
                let inner = self.stmts(stmts, scope);
                self.is(from, Type::Int, &inner);
                to.iter().for_each(|to| self.is(to, Type::Int, &inner));
                if matches!(e.kind, Kind::SeqRange(..)) { seq(Type::Int) } else { set(Type::Int) }
            }
            Kind::Productions(list, stmts) => {
                let inner = self.stmts(stmts, scope);
                list.iter().for_each(|e| self.is(e, Type::Any, &inner));
                set(Type::Any)
            }
            Kind::Map(pairs) => {
                let (k, v) = (self.types.fresh(), self.types.fresh());
                for (key, value) in pairs {
                    self.is(key, k.clone(), scope);
                    self.is(value, v.clone(), scope);
                }
                Type::Map(Rc::new((k, v)))
            }
            _ => {
                self.process(e, scope);
                Type::Proc
            }
        }
    }

    fn apply(&mut self, e: &Ex, function: &Ex, args: &[Ex], scope: &Scope) -> Type {
        let callee = self.expr(function, scope);
        match self.types.seen(&callee) {
            Type::Any => {
                args.iter().for_each(|a| {
                    self.expr(a, scope);
                });
                Type::Any
            }
            Type::Fun(params, result) if params.len() == args.len() => {
                for (arg, param) in args.iter().zip(params.iter()) {
                    self.is(arg, param.clone(), scope);
                }
                (*result).clone()
            }
            Type::Fun(params, _) => {
                let message = format!("{} arguments are expected, {} are given", params.len(), args.len());
                self.faults.push((e.span, message));
                Type::Any
            }
            Type::Var(_) => {
                let params: Rc<[Type]> = args.iter().map(|a| self.expr(a, scope)).collect();
                let result = self.types.fresh();
                self.types.unify(&callee, &Type::Fun(params, Rc::new(result.clone())));
                result
            }
            other => {
                let message = format!("this has the type {}, it is no function", self.types.show(&other));
                self.faults.push((function.span, message));
                Type::Any
            }
        }
    }

    fn both(&mut self, list: &[&Ex], t: Type, scope: &Scope) -> Type {
        list.iter().for_each(|e| self.is(e, t.clone(), scope));
        t
    }

    fn binary(&mut self, op: Binary, a: &Ex, b: &Ex, scope: &Scope) -> Type {
        match op {
            Binary::And | Binary::Or => self.both(&[a, b], Type::Bool, scope),
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Mod => {
                self.both(&[a, b], Type::Int, scope)
            }
            Binary::Concat => {
                let item = self.types.fresh();
                self.both(&[a, b], seq(item), scope)
            }
            _ => {
                let t = self.expr(a, scope);
                self.is(b, t.clone(), scope);
                if let Some(what) = self.incomparable(&t) {
                    self.faults.push((a.span, format!("{what} cannot be compared")));
                }
                Type::Bool
            }
        }
    }

    /// What stands in values of a type that nothing tells equal from different.
    fn incomparable(&self, t: &Type) -> Option<&'static str> {
        match self.types.seen(t) {
            Type::Proc => Some("processes"),
            Type::Fun(..) => Some("functions"),
            Type::Seq(x) | Type::Set(x) => self.incomparable(&x),
            Type::Map(x) => self.incomparable(&x.0).or_else(|| self.incomparable(&x.1)),
            Type::Tuple(list) => list.iter().find_map(|t| self.incomparable(t)),
            _ => None,
        }
    }

    /// The scope after statements; a generator may run over a set or over a sequence.
    fn stmts(&mut self, stmts: &[Stmt], scope: &Scope) -> Scope {
        let mut scope = scope.clone();
        for stmt in stmts {
            match stmt {
                Stmt::Condition(condition) => self.is(condition, Type::Bool, &scope),
                Stmt::Generator(pat, source) => {
                    let found = self.expr(source, &scope);
                    let mut vars = Vec::new();
                    let shape = self.pattern(pat, &mut vars);
                    match self.types.seen(&found) {
                        Type::Set(item) | Type::Seq(item) => self.same(&shape, &item, source.span),
                        Type::Any | Type::Var(_) => {
                            self.types.unify(&shape, &Type::Any);
                        }
                        other => {
                            let message = format!(
                                "this has the type {}, a set or a sequence is expected",
                                self.types.show(&other)
                            );
                            self.faults.push((source.span, message));
                        }
                    }
                    scope = Scope(Some(Rc::new(Level { names: Names::Vars(vars), next: scope })));
                }
            }
        }
        scope
    }

    fn process(&mut self, e: &Ex, scope: &Scope) {
        let events = set(Type::Any);
        match &e.kind {
            Kind::Prefix(channel, fields, then) => {
                self.is(channel, Type::Any, scope);
                let (head, parts) = match &channel.kind {
                    Kind::Dot(list) => (&list[0], &list[1..]),
                    _ => (channel, &[][..]),
                };
                let known = self.known_fields(head, scope);
                let mut wanted = self.fill(parts, &known, scope);
                let mut inner = scope.clone();
                for field in fields {
                    match field {
                        Field::Output(value) => {
                            wanted = self.fill(std::slice::from_ref(value), wanted, &inner);
                        }
                        Field::Input(pat, within) | Field::Choice(pat, within) => {
                            // A pattern with dots may take several fields.
                            let single = !matches!(pat, Pat::Dot(_) | Pat::Both(..));
                            wanted = if single { wanted.get(1..).unwrap_or(&[]) } else { &[] };
                            let mut vars = Vec::new();
                            let shape = self.pattern(pat, &mut vars);
                            within.iter().for_each(|s| self.is(s, set(shape.clone()), &inner));
                            inner = Scope(Some(Rc::new(Level { names: Names::Vars(vars), next: inner })));
                        }
                    }
                }
                self.is(then, Type::Proc, &inner);
            }
            Kind::Guard(condition, p) => {
                self.is(condition, Type::Bool, scope);
                self.is(p, Type::Proc, scope);
            }
            Kind::Combine(_, p, q) => {
                self.both(&[p, q], Type::Proc, scope);
            }
            Kind::Over(_, p, s, q) => {
                self.is(p, Type::Proc, scope);
                self.is(s, events, scope);
                q.iter().for_each(|q| self.is(q, Type::Proc, scope));
            }
            Kind::Alphabetised(p, a, b, q) => {
                self.both(&[p, q], Type::Proc, scope);
                self.both(&[a, b], events, scope);
            }
            Kind::Link(p, pairs, q) => {
                self.both(&[p, q], Type::Proc, scope);
                self.pairs(pairs, scope);
            }
            Kind::Rename(p, pairs) => {
                self.is(p, Type::Proc, scope);
                self.pairs(pairs, scope);
            }
            Kind::Timed(function, tock, prefix) => {
                self.is(function, Type::Fun([Type::Any].into(), Rc::new(Type::Int)), scope);
                self.is(tock, Type::Any, scope);
                self.is(prefix, Type::Proc, scope);
            }
            Kind::Each(each, stmts, p, none) => {
                none.iter().for_each(|e| self.is(e, Type::Proc, scope));
                let inner = self.stmts(stmts, scope);
                match each {
                    Each::Parallel(s) | Each::Choice(s) => self.is(s, events, scope),
                    Each::Alphabetised(s) => self.is(s, events, &inner),
                    Each::Link(pairs) => self.pairs(pairs, &inner),
                    _ => {}
                }
                self.is(p, Type::Proc, &inner);
            }
            _ => {}
        }
    }

    fn pairs(&mut self, pairs: &super::core::Pairs, scope: &Scope) {
        let inner = self.stmts(&pairs.stmts, scope);
        for (a, b) in &pairs.list {
            self.both(&[a, b], Type::Any, &inner);
        }
    }
}
