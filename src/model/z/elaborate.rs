//! The state of an elaboration: what is declared, what is in scope, and the messages.
//!
//! In: the tree of a specification. Out: typed definitions, elaborated when they are first used, so that a name may be
//! used before the paragraph that defines it. Types may stay open until `types::Close` has passed over the machine.

use super::copy::{Copy, Replacement};
use super::schema::Schema;
use super::types::{TypeNames, element};
use crate::scope::nearest;
use crate::types::Unifier;
use bombus_base::diagnostic::{Diagnostic, Severity};
use bombus_base::{Int, Name, Span};
use bombus_lang::typed::{
    BinOp, Expr, ExprKind, FreeId, Freetype, Pred, PredKind, RelOp, SetDecl, SetId, Type, UnOp, VarDecl,
    VarId, VarKind,
};
use bombus_syntax::z::tree::{self, Ident, SchemaText};
use std::collections::{BTreeMap, BTreeSet};

/// How many nodes the copies of schemas and abbreviations may have: more is a bomb.
const COPY_LIMIT: u64 = 4_000_000;
/// How deep the tree of a value or predicate may be once definitions are put in place.
const DEEPEST: u32 = 5_000;
/// How deep definitions may use each other before any of them is elaborated.
const DEFINITION_DEPTH: usize = 400;

/// What a global name stands for.
#[derive(Clone)]
pub(super) enum Global<'s> {
    Given(SetId),
    Element(SetId, u32),
    /// A free type with arguments; its arms are typed when a constructor is first used.
    Free(FreeId),
    Constructor(FreeId, u32),
    Constant(VarId),
    /// A constant whose paragraph has not been typed yet.
    Axiom(usize),
    /// An abbreviation or a generic definition by an equation.
    Value(&'s ValueDef<'s>),
}

/// What a definition says that its name is.
pub(super) enum Meaning<'s> {
    Value(&'s tree::Expr),
    /// `\forall D @ f(D) = e`
    Function(&'s SchemaText, &'s tree::Expr),
    /// `\forall D @ D \in R \iff P`
    Relation(&'s SchemaText, &'s tree::Logic),
}

pub(super) struct ValueDef<'s> {
    pub name: &'s Ident,
    pub formals: &'s [Ident],
    pub meaning: Meaning<'s>,
    /// The set that a generic definition says the value is a member of.
    pub set: Option<&'s tree::Expr>,
}

pub(super) struct SchemaDef<'s> {
    pub name: &'s Ident,
    pub formals: &'s [Ident],
    pub body: &'s tree::Logic,
    pub value: Option<Schema>,
}

pub(super) struct Elaboration<'s> {
    pub unifier: Unifier,
    pub vars: Vec<VarDecl>,
    pub sets: Vec<SetDecl>,
    pub freetypes: Vec<Freetype>,
    /// The arms of free types that are not typed yet.
    pub arms: BTreeMap<u32, &'s [(Ident, Option<tree::Expr>)]>,
    pub globals: BTreeMap<Name, (Global<'s>, Span)>,
    /// Abbreviations without formals that were elaborated already.
    pub values: BTreeMap<Name, Expr>,
    pub schemas: BTreeMap<Name, SchemaDef<'s>>,
    pub axioms: Vec<(&'s SchemaText, Option<Schema>)>,
    /// Names that are bound where we are, innermost last.
    pub locals: Vec<(Name, Expr)>,
    /// Definitions being elaborated, outermost first.
    pub open: Vec<Name>,
    /// Names of the formal parameters of generic definitions that are checked on their own.
    pub formals: Vec<Name>,
    pub diagnostics: Vec<Diagnostic>,
    told: BTreeSet<(Span, String)>,
    copied: u64,
}

impl<'s> Elaboration<'s> {
    pub fn new() -> Self {
        Elaboration {
            unifier: Unifier::default(),
            vars: Vec::new(),
            sets: Vec::new(),
            freetypes: Vec::new(),
            arms: BTreeMap::new(),
            globals: BTreeMap::new(),
            values: BTreeMap::new(),
            schemas: BTreeMap::new(),
            axioms: Vec::new(),
            locals: Vec::new(),
            open: Vec::new(),
            formals: Vec::new(),
            diagnostics: Vec::new(),
            told: BTreeSet::new(),
            copied: 0,
        }
    }

    // ----- messages -----

    /// Reports once what several uses of one definition would report again.
    pub fn error(&mut self, d: Diagnostic) {
        let at = d.labels.first().map(|(s, _)| *s).unwrap_or_default();
        if self.told.insert((at, d.message.clone())) {
            self.diagnostics.push(d);
        }
    }

    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    pub fn show(&self, ty: &Type) -> String {
        let names = TypeNames { sets: &self.sets, freetypes: &self.freetypes, formals: &self.formals };
        names.show(&self.unifier.resolve(ty))
    }

    /// A value in the place of one that could not be made out.
    pub fn poison(&mut self, span: Span) -> Expr {
        let ty = self.unifier.fresh();
        Expr { kind: ExprKind::Int(Int::ZERO), ty, span }
    }

    pub fn unknown(&mut self, name: &Name, span: Span) {
        let locals: Vec<Name> = self.locals.iter().map(|(n, _)| n.clone()).collect();
        let near = nearest(name, self.globals.keys().chain(self.schemas.keys()).chain(&locals)).cloned();
        let d = Diagnostic::error(span, format!("unknown name `{name}`"));
        self.error(match near {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d,
        });
    }

    // ----- types -----

    /// Demands a type of an expression; the message shows both.
    pub fn expect(&mut self, e: &Expr, ty: &Type, what: &str) {
        if !self.unifier.unify(&e.ty, ty) {
            let (found, wanted) = (self.show(&e.ty), self.show(ty));
            let d = Diagnostic::error(e.span, format!("type clash: {what} must be of type `{wanted}`"));
            self.error(d.note(format!("this is of type `{found}`")));
        }
    }

    /// Demands that both sides are of one type; the message shows both.
    pub fn same_type(&mut self, a: &Expr, b: &Expr, sign: &Ident) {
        if !self.unifier.unify(&a.ty, &b.ty) {
            let (left, right) = (self.show(&a.ty), self.show(&b.ty));
            let message = format!("type clash: the sides of `{}` are of different types", sign.full());
            let d = Diagnostic::error(a.span, message).note(format!("this is of type `{left}`"));
            self.error(d.label(b.span, format!("this is of type `{right}`")));
        }
    }

    /// The type of the elements of a set.
    pub fn element_type(&mut self, set: &Expr, what: &str) -> Type {
        if let Some(t) = element(&self.unifier.head(&set.ty)) {
            return (*t).clone();
        }
        let t = self.unifier.fresh();
        self.expect(set, &Type::pow(t.clone()), what);
        t
    }

    // ----- variables -----

    pub fn new_var(&mut self, name: &Name, ty: Type, span: Span) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(VarDecl { name: name.clone(), ty, kind: VarKind::Local, span });
        id
    }

    pub fn var(&self, id: VarId, span: Span) -> Expr {
        Expr { kind: ExprKind::Var(id), ty: self.vars[id.0 as usize].ty.clone(), span }
    }

    /// Works with some more names bound.
    pub fn binding<T>(&mut self, names: Vec<(Name, Expr)>, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.locals.len();
        self.locals.extend(names);
        let result = work(self);
        self.locals.truncate(before);
        result
    }

    /// Works on a definition: nothing of the place where it is used is in scope, but `names` are.
    pub fn defining<T>(
        &mut self,
        name: &Name,
        span: Span,
        names: Vec<(Name, Expr)>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if let Some(from) = self.open.iter().position(|n| n == name) {
            let mut circle: Vec<&str> = self.open[from..].iter().map(|n| &**n).collect();
            circle.push(name);
            let text = format!("`{name}` is defined in terms of itself: {}", circle.join(" → "));
            self.error(Diagnostic::error(span, text));
            return None;
        }
        if self.open.len() >= DEFINITION_DEPTH {
            let text = format!("more than {DEFINITION_DEPTH} definitions use each other");
            self.error(Diagnostic::error(span, text));
            return None;
        }
        self.open.push(name.clone());
        let outer = std::mem::replace(&mut self.locals, names);
        let result = work(self);
        self.locals = outer;
        self.open.pop();
        Some(result)
    }

    // ----- copies -----

    /// Copies with variables replaced; nothing once the limit of all copies is reached.
    pub fn copy<T>(&mut self, with: Replacement, span: Span, work: impl FnOnce(&mut Copy) -> T) -> Option<T> {
        if self.copied > COPY_LIMIT {
            let text = format!(
                "the specification grows beyond {COPY_LIMIT} nodes when its schemas are put in place"
            );
            let first = self.open.first().cloned().unwrap_or_default();
            if !self.told.contains(&(Span::default(), text.clone())) {
                self.told.insert((Span::default(), text.clone()));
                self.diagnostics
                    .push(Diagnostic::error(span, text).help(format!("while `{first}` was elaborated")));
            }
            return None;
        }
        let mut copy = Copy::new(&mut self.vars, with);
        let result = work(&mut copy);
        let (nodes, deepest) = (copy.nodes, copy.deepest);
        self.copied += nodes;
        if deepest > DEEPEST {
            self.error(Diagnostic::error(span, "definitions make this nest too deeply"));
            return None;
        }
        Some(result)
    }

    pub fn copy_expr(&mut self, e: &Expr) -> Expr {
        let span = e.span;
        self.copy(Replacement::new(), span, |c| c.expr(e)).unwrap_or_else(|| self.poison(span))
    }
}

// ----- small trees -----

pub(super) fn node(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

pub(super) fn number(n: i64, span: Span) -> Expr {
    node(ExprKind::Int(Int::from(n)), Type::Integer, span)
}

pub(super) fn unary(op: UnOp, e: Expr, ty: Type) -> Expr {
    let span = e.span;
    node(ExprKind::Unary(op, Box::new(e)), ty, span)
}

pub(super) fn binary(op: BinOp, a: Expr, b: Expr, ty: Type) -> Expr {
    let span = a.span.to(b.span);
    node(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
}

pub(super) fn pair(a: Expr, b: Expr) -> Expr {
    let (ty, span) = (Type::prod(a.ty.clone(), b.ty.clone()), a.span.to(b.span));
    node(ExprKind::Pair(Box::new(a), Box::new(b)), ty, span)
}

/// A tuple; one component is not wrapped.
pub(super) fn tuple_of(items: Vec<Expr>) -> Expr {
    let ty = super::types::tuple(items.iter().map(|e| e.ty.clone()).collect());
    let mut e = items.into_iter().reduce(pair).unwrap_or_else(|| number(0, Span::default()));
    e.ty = ty;
    e
}

pub(super) fn whole(ty: Type, span: Span) -> Expr {
    node(ExprKind::TypeSet(ty.clone()), Type::pow(ty), span)
}

pub(super) fn relation(op: RelOp, a: Expr, b: Expr) -> Pred {
    let span = a.span.to(b.span);
    Pred { kind: PredKind::Rel(op, a, b), span }
}

pub(super) fn conjunction(mut ps: Vec<Pred>, span: Span) -> Pred {
    match ps.len() {
        0 => Pred { kind: PredKind::True, span },
        1 => ps.remove(0),
        _ => Pred { kind: PredKind::And(ps), span },
    }
}

pub(super) fn negation(p: Pred) -> Pred {
    let span = p.span;
    Pred { kind: PredKind::Not(Box::new(p)), span }
}

pub(super) fn exists(vars: Vec<VarId>, ps: Vec<Pred>, span: Span) -> Pred {
    let body = conjunction(ps, span);
    if vars.is_empty() { body } else { Pred { kind: PredKind::Exists(vars, Box::new(body)), span } }
}
