//! Copies of typed trees: variables replaced, bound variables new, so that every variable is bound at one place only.
//!
//! In: a tree and what some variables stand for. Out: the tree with these in place. A schema is used in many places, and
//! each place takes a copy; because all bound variables of a copy are new, nothing is ever captured.

use bombus_base::Span;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, Type, VarDecl, VarId};
use std::collections::HashMap;

/// What variables become.
pub type Replacement = HashMap<VarId, Expr>;

/// Where new variables come from.
enum Source<'v> {
    /// They are declared.
    Declared(&'v mut Vec<VarDecl>),
    /// They are numbers alone, from this one on.
    Numbers(u32),
}

pub struct Copy<'v> {
    source: Source<'v>,
    pub with: Replacement,
    /// How many nodes were copied.
    pub nodes: u64,
    depth: u32,
    /// How deep the deepest tree was.
    pub deepest: u32,
}

impl<'v> Copy<'v> {
    pub fn new(vars: &'v mut Vec<VarDecl>, with: Replacement) -> Self {
        Copy { source: Source::Declared(vars), with, nodes: 0, depth: 0, deepest: 0 }
    }

    /// A new variable like an old one, which it replaces from here on.
    pub fn fresh(&mut self, old: VarId) -> VarId {
        let (id, ty) = match &mut self.source {
            Source::Declared(vars) => {
                let decl = vars[old.0 as usize].clone();
                let ty = decl.ty.clone();
                vars.push(decl);
                (VarId(vars.len() as u32 - 1), ty)
            }
            Source::Numbers(next) => {
                *next += 1;
                (VarId(*next - 1), Type::Any)
            }
        };
        self.with.insert(old, Expr { kind: ExprKind::Var(id), ty, span: Span::default() });
        id
    }

    fn all_fresh(&mut self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().map(|v| self.fresh(*v)).collect()
    }

    pub fn preds(&mut self, ps: &[Pred]) -> Vec<Pred> {
        ps.iter().map(|p| self.pred(p)).collect()
    }

    fn exprs(&mut self, es: &[Expr]) -> Vec<Expr> {
        es.iter().map(|e| self.expr(e)).collect()
    }

    fn boxed(&mut self, e: &Expr) -> Box<Expr> {
        Box::new(self.expr(e))
    }

    fn bindings(&mut self, bindings: &[(VarId, Expr)]) -> Vec<(VarId, Expr)> {
        bindings
            .iter()
            .map(|(v, e)| {
                let value = self.expr(e);
                (self.fresh(*v), value)
            })
            .collect()
    }

    pub fn expr(&mut self, e: &Expr) -> Expr {
        self.enter();
        let copy = self.copied(e);
        self.depth -= 1;
        copy
    }

    fn enter(&mut self) {
        self.nodes += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    fn copied(&mut self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Var(v) => match self.with.get(v) {
                Some(value) => {
                    let mut value = value.clone();
                    // A value that binds variables of its own is copied again for each place.
                    if !matches!(value.kind, ExprKind::Var(_)) {
                        let with = std::mem::take(&mut self.with);
                        value = self.expr(&value);
                        self.with = with;
                    }
                    value.span = e.span;
                    return value;
                }
                None => ExprKind::Var(*v),
            },
            ExprKind::SetExt(xs) => ExprKind::SetExt(self.exprs(xs)),
            ExprKind::SeqExt(xs) => ExprKind::SeqExt(self.exprs(xs)),
            ExprKind::Rec(xs) => ExprKind::Rec(self.exprs(xs)),
            ExprKind::StructSet(xs) => ExprKind::StructSet(self.exprs(xs)),
            ExprKind::External(f, xs) => ExprKind::External(f.clone(), self.exprs(xs)),
            ExprKind::Pair(a, b) => ExprKind::Pair(self.boxed(a), self.boxed(b)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, self.boxed(a), self.boxed(b)),
            ExprKind::Apply(a, b) => ExprKind::Apply(self.boxed(a), self.boxed(b)),
            ExprKind::Field(a, i) => match self.expr(a).kind {
                // A field of a binding that is written out is the value itself.
                ExprKind::Rec(mut values) if *i < values.len() => return values.swap_remove(*i),
                kind => ExprKind::Field(Box::new(Expr { kind, ty: a.ty.clone(), span: a.span }), *i),
            },
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, self.boxed(a)),
            ExprKind::Symbolic(a) => ExprKind::Symbolic(self.boxed(a)),
            ExprKind::BoolOf(p) => ExprKind::BoolOf(Box::new(self.pred(p))),
            ExprKind::Compr(vars, p) => {
                let vars = self.all_fresh(vars);
                ExprKind::Compr(vars, Box::new(self.pred(p)))
            }
            ExprKind::Big(op, vars, p, x) => {
                let vars = self.all_fresh(vars);
                ExprKind::Big(*op, vars, Box::new(self.pred(p)), self.boxed(x))
            }
            ExprKind::If(p, a, b) => ExprKind::If(Box::new(self.pred(p)), self.boxed(a), self.boxed(b)),
            ExprKind::Let(bindings, x) => {
                let bindings = self.bindings(bindings);
                ExprKind::Let(bindings, self.boxed(x))
            }
            ExprKind::Construct(id, n, Some(x)) => ExprKind::Construct(*id, *n, Some(self.boxed(x))),
            leaf => leaf.clone(),
        };
        Expr { kind, ty: e.ty.clone(), span: e.span }
    }

    pub fn pred(&mut self, p: &Pred) -> Pred {
        self.enter();
        let kind = match &p.kind {
            PredKind::True => PredKind::True,
            PredKind::False => PredKind::False,
            PredKind::And(ps) => PredKind::And(self.preds(ps)),
            PredKind::Or(ps) => PredKind::Or(self.preds(ps)),
            PredKind::Not(p) => PredKind::Not(Box::new(self.pred(p))),
            PredKind::Implies(a, b) => PredKind::Implies(Box::new(self.pred(a)), Box::new(self.pred(b))),
            PredKind::Iff(a, b) => PredKind::Iff(Box::new(self.pred(a)), Box::new(self.pred(b))),
            PredKind::Rel(op, a, b) => PredKind::Rel(*op, self.expr(a), self.expr(b)),
            PredKind::Forall(vars, p) => {
                let vars = self.all_fresh(vars);
                PredKind::Forall(vars, Box::new(self.pred(p)))
            }
            PredKind::Exists(vars, p) => {
                let vars = self.all_fresh(vars);
                PredKind::Exists(vars, Box::new(self.pred(p)))
            }
            PredKind::If(c, a, b) => {
                PredKind::If(Box::new(self.pred(c)), Box::new(self.pred(a)), Box::new(self.pred(b)))
            }
            PredKind::Let(bindings, p) => {
                let bindings = self.bindings(bindings);
                PredKind::Let(bindings, Box::new(self.pred(p)))
            }
            PredKind::Finite(x) => PredKind::Finite(self.expr(x)),
            PredKind::Partition(x, xs) => PredKind::Partition(self.expr(x), self.exprs(xs)),
            PredKind::External(f, xs) => PredKind::External(f.clone(), self.exprs(xs)),
            PredKind::Label(l, p) => PredKind::Label(l.clone(), Box::new(self.pred(p))),
        };
        self.depth -= 1;
        Pred { kind, span: p.span }
    }
}

/// The predicate with its bound variables numbered in the order in which they are met: two predicates that differ
/// in the names of bound variables alone become equal.
pub fn normal_form(p: &Pred) -> Pred {
    /// No declared variable has such a number.
    const FIRST: u32 = 1 << 30;
    Copy { source: Source::Numbers(FIRST), with: Replacement::new(), nodes: 0, depth: 0, deepest: 0 }.pred(p)
}
