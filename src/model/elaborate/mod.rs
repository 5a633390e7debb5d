//! From trees to typed trees: names are looked up, definitions expanded, types equated.
//!
//! In: trees of `syntax` and the scopes that `compose` built. Out: typed trees whose types may still
//! be open; `settle` closes them. All errors are collected, none stops the walk.
//! Never here: which machines there are, sizes of sets.

mod expressions;
mod externals;
mod names;
mod operators;
mod origins;
mod predicates;
mod substitutions;

use super::overload::{self, Constraint, Outcome, Pending};
use super::scope::{Access, Scope, ScopeId};
use super::types::{Unifier, show};
use bombus_base::diagnostic::{Diagnostic, Severity};
use bombus_base::{Int, Name, Span};
use bombus_lang::typed::{Expr, ExprKind, Freetype, Pred, PredKind, SetDecl, Type, VarDecl, VarId, VarKind};
use bombus_syntax::ast;
use std::collections::BTreeSet;

pub use expressions::OPEN_FIELD;
pub use externals::IMPLEMENTED;

/// How many nodes the expansion of definitions may make in one model: more is a macro bomb.
const EXPANSION_LIMIT: u64 = 4_000_000;
/// How deep definitions may call each other.
const EXPANSION_DEPTH: usize = 500;

/// What a call must agree with.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: Name,
    pub params: Vec<VarId>,
    pub results: Vec<VarId>,
    pub span: Span,
}

/// A name that is bound where we are.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub var: VarId,
    pub access: Access,
}

pub struct Elaborator {
    pub unifier: Unifier,
    pub pending: Vec<Pending>,
    pub vars: Vec<VarDecl>,
    pub sets: Vec<SetDecl>,
    pub freetypes: Vec<Freetype>,
    /// Indexed by `OpId`.
    pub signatures: Vec<Signature>,
    pub scopes: Vec<Scope>,
    pub current: ScopeId,
    pub locals: Vec<Local>,
    pub diagnostics: Vec<Diagnostic>,
    /// Names of fields whose place in the record is not known yet; see `settle`.
    pub fields: Vec<Name>,
    pub maxint: Int,
    pub minint: Int,
    /// Definitions being expanded, outermost first.
    calls: Vec<(Name, Span)>,
    expanded: u64,
    /// The operation whose body is read, with its parameters.
    pub operation: Option<(Name, Vec<Name>)>,
    warned: BTreeSet<(Span, Name)>,
}

impl Elaborator {
    pub fn new(maxint: Int, minint: Int) -> Self {
        Elaborator {
            unifier: Unifier::default(),
            pending: Vec::new(),
            vars: Vec::new(),
            sets: Vec::new(),
            freetypes: Vec::new(),
            signatures: Vec::new(),
            scopes: Vec::new(),
            current: ScopeId(0),
            locals: Vec::new(),
            diagnostics: Vec::new(),
            fields: Vec::new(),
            maxint,
            minint,
            calls: Vec::new(),
            expanded: 0,
            operation: None,
            warned: BTreeSet::new(),
        }
    }

    pub fn scope(&self) -> &Scope {
        &self.scopes[self.current.0 as usize]
    }

    /// Works in another machine's scope, with no local name visible.
    pub fn within<T>(&mut self, scope: ScopeId, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.current, scope);
        let locals = std::mem::take(&mut self.locals);
        let result = work(self);
        self.current = outer;
        self.locals = locals;
        result
    }

    /// A new variable with an open type.
    pub fn new_var(&mut self, ident: &ast::Ident, kind: VarKind) -> VarId {
        let id = VarId(self.vars.len() as u32);
        let ty = self.unifier.fresh();
        self.vars.push(VarDecl { name: ident.name.clone(), ty, kind, span: ident.span });
        id
    }

    /// Binds names for the time of `work`.
    pub fn bind<T>(
        &mut self,
        idents: &[ast::Ident],
        kind: VarKind,
        access: Access,
        work: impl FnOnce(&mut Self, &[VarId]) -> T,
    ) -> (Vec<VarId>, T) {
        let vars = self.new_vars(idents, kind);
        let result = self.with_locals(idents, &vars, access, |this| work(this, &vars));
        (vars, result)
    }

    pub fn new_vars(&mut self, idents: &[ast::Ident], kind: VarKind) -> Vec<VarId> {
        for (i, ident) in idents.iter().enumerate() {
            if let Some(first) = idents[..i].iter().find(|f| f.name == ident.name) {
                self.error(
                    Diagnostic::error(ident.span, format!("`{}` is bound twice", ident.name))
                        .label(first.span, "bound here already"),
                );
            }
        }
        idents.iter().map(|i| self.new_var(i, kind)).collect()
    }

    /// Makes variables visible by name for the time of `work`.
    pub fn with_locals<T>(
        &mut self,
        idents: &[ast::Ident],
        vars: &[VarId],
        access: Access,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let depth = self.locals.len();
        for (ident, var) in idents.iter().zip(vars) {
            self.bindable(ident);
            self.locals.push(Local { name: ident.name.clone(), var: *var, access });
        }
        let result = work(self);
        self.locals.truncate(depth);
        result
    }

    /// A bound variable may hide a definition that is a value; one that is a predicate or a substitution cannot be
    /// read as a variable.
    fn bindable(&mut self, ident: &ast::Ident) {
        let Some(def) = self.scope().definitions.get(&ident.name) else { return };
        let clashes = def.params.is_empty()
            && match &def.body {
                ast::DefBody::Stmt(_) => true,
                ast::DefBody::Expr(e) => match &e.kind {
                    ast::ExprKind::And(_)
                    | ast::ExprKind::Or(_)
                    | ast::ExprKind::Not(_)
                    | ast::ExprKind::Quant(..) => true,
                    ast::ExprKind::Binary(op, _, _) => op.is_predicate(),
                    _ => false,
                },
            };
        if clashes {
            let d = Diagnostic::error(
                ident.span,
                format!("a variable is wanted here, but `{}` is a definition that is no value", ident.name),
            )
            .label(def.name.span, "defined here");
            self.error(d);
        }
    }

    /// Records an error, with the call it comes from when it stands in the body of a definition.
    pub fn error(&mut self, mut d: Diagnostic) {
        if let Some((name, span)) = self.calls.first() {
            d = d.label(*span, format!("in the expansion of `{name}`, called here"));
        }
        self.diagnostics.push(d);
    }

    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    pub fn show(&self, ty: &Type) -> String {
        show(&self.unifier.resolve(ty), &self.sets, &self.freetypes)
    }

    /// A stand-in for what could not be understood; the error has been reported.
    fn poison(&mut self, span: Span) -> Expr {
        Expr { kind: ExprKind::SetExt(Vec::new()), ty: self.unifier.fresh(), span }
    }

    fn poison_pred(&self, span: Span) -> Pred {
        Pred { kind: PredKind::True, span }
    }

    /// Asks that `e` has the type; `other` is the place the demand comes from.
    fn expect(&mut self, e: &Expr, want: &Type, what: &str, other: Option<(Span, String)>) -> bool {
        self.unifier.at = match &other {
            Some((span, _)) if span.file == e.span.file => span.to(e.span),
            _ => e.span,
        };
        if self.unifier.unify(&e.ty, want) {
            return true;
        }
        let (wanted, found) = (self.show(want), self.show(&e.ty));
        let mut d =
            Diagnostic::error(e.span, format!("type clash: {what} must be of type {wanted}, not {found}"))
                .note(format!("this is of type {found}"));
        if let Some((span, text)) = other {
            d = d.label(span, text);
        }
        self.error(self.traced(d, &[e], Some(want)));
        false
    }

    /// Asks that both have one type.
    pub fn same(&mut self, a: &Expr, b: &Expr, operator: &str) {
        self.unifier.at = a.span.to(b.span);
        if self.unifier.unify(&a.ty, &b.ty) {
            return;
        }
        let (left, right) = (self.show(&a.ty), self.show(&b.ty));
        let d = Diagnostic::error(
            a.span.to(b.span),
            format!("type clash at `{operator}`: {left} against {right}"),
        )
        .label(a.span, format!("this is of type {left}"))
        .label(b.span, format!("this is of type {right}"));
        self.error(self.traced(d, &[a, b], None));
    }

    fn demand(&mut self, constraint: Constraint, span: Span) {
        self.unifier.at = span;
        match overload::advance(&mut self.unifier, &constraint) {
            Outcome::Settled => {}
            Outcome::Waiting => self.pending.push(Pending { constraint, span }),
            Outcome::Clash(text) => self.overload_clash(&constraint, span, &text),
        }
    }

    fn overload_clash(&mut self, constraint: &Constraint, span: Span, text: &str) {
        let d = Diagnostic::error(span, format!("type clash: {text}"));
        let d = match constraint {
            Constraint::Number(t) | Constraint::Difference(t) | Constraint::Sequence(t) => {
                d.note(format!("the type here is {}", self.show(t)))
            }
            Constraint::Product { left, right, .. } => {
                d.note(format!("the sides are of type {} and {}", self.show(left), self.show(right)))
            }
            Constraint::Field { record, .. } => d.note(format!("this is of type {}", self.show(record))),
        };
        let sets =
            matches!(constraint, Constraint::Number(t) if matches!(self.unifier.head(t), Type::Pow(_)));
        self.error(if sets { d.help("sets are joined by `\\/`, sequences by `^`") } else { d });
    }

    /// Settles overloaded operators as far as the known types allow.
    pub fn advance_pending(&mut self) {
        loop {
            let before = self.pending.len();
            for p in std::mem::take(&mut self.pending) {
                self.unifier.at = p.span;
                match overload::advance(&mut self.unifier, &p.constraint) {
                    Outcome::Settled => {}
                    Outcome::Waiting => self.pending.push(p),
                    Outcome::Clash(text) => self.overload_clash(&p.constraint, p.span, &text),
                }
            }
            if self.pending.len() == before || self.pending.is_empty() {
                return;
            }
        }
    }

    /// Settles all overloaded operators; where nothing decides, the default does.
    pub fn settle_pending(&mut self) {
        self.advance_pending();
        while !self.pending.is_empty() {
            let p = self.pending.remove(0);
            if !overload::assume(&mut self.unifier, &p.constraint) && !self.has_errors() {
                self.error(
                    Diagnostic::error(p.span, "could not infer the type of this record")
                        .help("state its type, for instance `r : struct(f:S)`"),
                );
            }
            self.advance_pending();
        }
    }

    /// One message for each variable from `first` on whose type nothing fixes.
    ///
    /// After other errors the message would only repeat them, so it is left out.
    pub fn report_untyped(&mut self, first: usize) {
        if self.has_errors() {
            return;
        }
        for i in first..self.vars.len() {
            if !self.unifier.has_open(&self.vars[i].ty) {
                continue;
            }
            let var = self.vars[i].clone();
            let shown = self.show(&var.ty);
            let d = Diagnostic::error(var.span, format!("could not infer type of `{}`", var.name));
            let d = if shown == "_" { d } else { d.note(format!("all that is known is {shown}")) };
            self.error(d.help(format!("add a predicate such as `{} : S`", var.name)));
        }
    }

    /// Counts nodes that expansion makes; false once the limit is reached.
    fn spend(&mut self, nodes: u64) -> bool {
        let before = self.expanded;
        self.expanded += nodes;
        if self.expanded <= EXPANSION_LIMIT {
            return true;
        }
        if before <= EXPANSION_LIMIT {
            let (name, span) = self.calls.first().cloned().unwrap_or_else(|| ("?".into(), Span::default()));
            self.diagnostics.push(
                Diagnostic::error(
                    span,
                    format!("the expansion of `{name}` grows beyond {EXPANSION_LIMIT} nodes"),
                )
                .help("definitions are copied at each call; use a constant or LET for shared parts"),
            );
        }
        false
    }
}

/// The left-nested pair of several expressions, as B writes `f(a,b,c)`.
pub fn pair_up(items: Vec<Expr>) -> Option<Expr> {
    items.into_iter().reduce(|a, b| {
        let (ty, span) = (Type::prod(a.ty.clone(), b.ty.clone()), a.span.to(b.span));
        Expr { kind: ExprKind::Pair(Box::new(a), Box::new(b)), ty, span }
    })
}

/// The left-nested product of several types.
pub fn product_of(types: impl IntoIterator<Item = Type>) -> Option<Type> {
    types.into_iter().reduce(Type::prod)
}
