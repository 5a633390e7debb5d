//! Walks over the tree of a text: copying with replacement, and the names that occur.
//!
//! In: trees of `syntax`. Out: trees again, or names. Never here: what a name means.

use bombus_base::Name;
use bombus_syntax::ast::{DefBody, Expr, ExprKind, Ident, Stmt, StmtKind, TemplatePart};
use std::collections::BTreeSet;

/// What a copying walk asks at each name and binder.
pub trait Rewrite {
    /// The replacement of a name, if it has one.
    fn name(&mut self, name: &Name) -> Option<Expr>;
    /// Enters the scope of a bound name, and may rename it.
    fn binder(&mut self, ident: &Ident) -> Ident;
    /// Leaves the scope of the last `count` bound names.
    fn leave(&mut self, count: usize);
    /// One node was copied.
    fn node(&mut self);
}

pub fn rewrite_expr(e: &Expr, with: &mut impl Rewrite) -> Expr {
    with.node();
    let mut go = |x: &Expr| rewrite_expr(x, with);
    let kind = match &e.kind {
        ExprKind::Ident(name) => match with.name(name) {
            Some(replaced) => return replaced,
            None => ExprKind::Ident(name.clone()),
        },
        ExprKind::Old(name) => match with.name(name).map(|r| r.kind) {
            Some(ExprKind::Ident(new)) => ExprKind::Old(new),
            _ => ExprKind::Old(name.clone()),
        },
        ExprKind::Primed(name) => match with.name(name).map(|r| r.kind) {
            Some(ExprKind::Ident(new)) => ExprKind::Primed(new),
            _ => ExprKind::Primed(name.clone()),
        },
        ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Str(_) | ExprKind::Const(_) => e.kind.clone(),
        ExprKind::Template(parts) => ExprKind::Template(
            parts
                .iter()
                .map(|p| match p {
                    TemplatePart::Text(t) => TemplatePart::Text(t.clone()),
                    TemplatePart::Expr(x) => TemplatePart::Expr(go(x)),
                })
                .collect(),
        ),
        ExprKind::Builtin(b, args) => ExprKind::Builtin(*b, args.iter().map(go).collect()),
        ExprKind::Neg(x) => ExprKind::Neg(Box::new(go(x))),
        ExprKind::Inverse(x) => ExprKind::Inverse(Box::new(go(x))),
        ExprKind::Not(x) => ExprKind::Not(Box::new(go(x))),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, Box::new(go(a)), Box::new(go(b))),
        ExprKind::And(xs) => ExprKind::And(xs.iter().map(go).collect()),
        ExprKind::Or(xs) => ExprKind::Or(xs.iter().map(go).collect()),
        ExprKind::Apply(f, args) => ExprKind::Apply(Box::new(go(f)), args.iter().map(go).collect()),
        ExprKind::Image(r, s) => ExprKind::Image(Box::new(go(r)), Box::new(go(s))),
        ExprKind::Field(r, f) => ExprKind::Field(Box::new(go(r)), f.clone()),
        ExprKind::SetExt(xs) => ExprKind::SetExt(xs.iter().map(go).collect()),
        ExprKind::SeqExt(xs) => ExprKind::SeqExt(xs.iter().map(go).collect()),
        ExprKind::Rec(fs) => ExprKind::Rec(fs.iter().map(|(n, x)| (n.clone(), go(x))).collect()),
        ExprKind::Struct(fs) => ExprKind::Struct(fs.iter().map(|(n, x)| (n.clone(), go(x))).collect()),
        ExprKind::Compr(ids, p) => {
            let ids = enter(ids, with);
            let p = rewrite_expr(p, with);
            with.leave(ids.len());
            ExprKind::Compr(ids, Box::new(p))
        }
        ExprKind::Quant(q, ids, p) => {
            let ids = enter(ids, with);
            let p = rewrite_expr(p, with);
            with.leave(ids.len());
            ExprKind::Quant(*q, ids, Box::new(p))
        }
        ExprKind::Big(op, ids, p, x) => {
            let ids = enter(ids, with);
            let (p, x) = (rewrite_expr(p, with), rewrite_expr(x, with));
            with.leave(ids.len());
            ExprKind::Big(*op, ids, Box::new(p), Box::new(x))
        }
        ExprKind::If(branches, other) => {
            ExprKind::If(branches.iter().map(|(c, x)| (go(c), go(x))).collect(), Box::new(go(other)))
        }
        ExprKind::Let(ids, p, x) => {
            let ids = enter(ids, with);
            let (p, x) = (rewrite_expr(p, with), rewrite_expr(x, with));
            with.leave(ids.len());
            ExprKind::Let(ids, Box::new(p), Box::new(x))
        }
        ExprKind::After(targets, values, p) => ExprKind::After(
            targets.iter().map(&mut go).collect(),
            values.iter().map(&mut go).collect(),
            Box::new(go(p)),
        ),
        ExprKind::Label(name, p) => ExprKind::Label(name.clone(), Box::new(go(p))),
        ExprKind::Symbolic(x) => ExprKind::Symbolic(Box::new(go(x))),
    };
    Expr { kind, span: e.span }
}

fn enter(ids: &[Ident], with: &mut impl Rewrite) -> Vec<Ident> {
    ids.iter().map(|i| with.binder(i)).collect()
}

pub fn rewrite_stmt(s: &Stmt, with: &mut impl Rewrite) -> Stmt {
    with.node();
    let kind = match &s.kind {
        StmtKind::Skip => StmtKind::Skip,
        StmtKind::Block(b) => StmtKind::Block(Box::new(rewrite_stmt(b, with))),
        StmtKind::Assign(targets, values) => StmtKind::Assign(exprs(targets, with), exprs(values, with)),
        StmtKind::BecomesIn(ids, x) => StmtKind::BecomesIn(targets(ids, with), rewrite_expr(x, with)),
        StmtKind::BecomesSuch(ids, p) => StmtKind::BecomesSuch(targets(ids, with), rewrite_expr(p, with)),
        StmtKind::Pre(p, b) => StmtKind::Pre(rewrite_expr(p, with), Box::new(rewrite_stmt(b, with))),
        StmtKind::Assert(o, p, b) => {
            StmtKind::Assert(*o, rewrite_expr(p, with), Box::new(rewrite_stmt(b, with)))
        }
        StmtKind::Witness(p, b) => StmtKind::Witness(rewrite_expr(p, with), Box::new(rewrite_stmt(b, with))),
        StmtKind::Choice(bs) => StmtKind::Choice(stmts(bs, with)),
        StmtKind::If(bs, other) => StmtKind::If(branches(bs, with), optional(other, with)),
        StmtKind::Select(bs, other) => StmtKind::Select(branches(bs, with), optional(other, with)),
        StmtKind::Case(x, bs, other) => StmtKind::Case(
            rewrite_expr(x, with),
            bs.iter().map(|(labels, b)| (exprs(labels, with), rewrite_stmt(b, with))).collect(),
            optional(other, with),
        ),
        StmtKind::Any(ids, p, b) => {
            let ids = enter(ids, with);
            let (p, b) = (rewrite_expr(p, with), rewrite_stmt(b, with));
            with.leave(ids.len());
            StmtKind::Any(ids, p, Box::new(b))
        }
        StmtKind::Let(ids, p, b) => {
            let ids = enter(ids, with);
            let (p, b) = (rewrite_expr(p, with), rewrite_stmt(b, with));
            with.leave(ids.len());
            StmtKind::Let(ids, p, Box::new(b))
        }
        StmtKind::Var(ids, b) => {
            let ids = enter(ids, with);
            let b = rewrite_stmt(b, with);
            with.leave(ids.len());
            StmtKind::Var(ids, Box::new(b))
        }
        StmtKind::While { cond, body, invariant, variant } => StmtKind::While {
            cond: rewrite_expr(cond, with),
            body: Box::new(rewrite_stmt(body, with)),
            invariant: rewrite_expr(invariant, with),
            variant: rewrite_expr(variant, with),
        },
        StmtKind::Call { results, op, args } => StmtKind::Call {
            results: exprs(results, with),
            op: targets(std::slice::from_ref(op), with).remove(0),
            args: exprs(args, with),
        },
        StmtKind::Seq(bs) => StmtKind::Seq(stmts(bs, with)),
        StmtKind::Par(bs) => StmtKind::Par(stmts(bs, with)),
    };
    Stmt { kind, span: s.span }
}

fn exprs(es: &[Expr], with: &mut impl Rewrite) -> Vec<Expr> {
    es.iter().map(|e| rewrite_expr(e, with)).collect()
}

fn stmts(ss: &[Stmt], with: &mut impl Rewrite) -> Vec<Stmt> {
    ss.iter().map(|s| rewrite_stmt(s, with)).collect()
}

fn branches(bs: &[(Expr, Stmt)], with: &mut impl Rewrite) -> Vec<(Expr, Stmt)> {
    bs.iter().map(|(p, s)| (rewrite_expr(p, with), rewrite_stmt(s, with))).collect()
}

fn optional(s: &Option<Box<Stmt>>, with: &mut impl Rewrite) -> Option<Box<Stmt>> {
    s.as_ref().map(|s| Box::new(rewrite_stmt(s, with)))
}

/// Names that are written to are not bound here; a parameter in such a place takes the argument's name.
fn targets(ids: &[Ident], with: &mut impl Rewrite) -> Vec<Ident> {
    ids.iter()
        .map(|id| match with.name(&id.name).map(|e| e.kind) {
            Some(ExprKind::Ident(name)) => Ident { name, span: id.span },
            _ => id.clone(),
        })
        .collect()
}

/// Collects without changing: the names that occur free.
struct Names<'a> {
    note: &'a mut dyn FnMut(&Name),
    bound: Vec<Name>,
}

impl Rewrite for Names<'_> {
    fn name(&mut self, name: &Name) -> Option<Expr> {
        if !self.bound.contains(name) {
            (self.note)(name);
        }
        None
    }
    fn binder(&mut self, ident: &Ident) -> Ident {
        self.bound.push(ident.name.clone());
        ident.clone()
    }
    fn leave(&mut self, count: usize) {
        self.bound.truncate(self.bound.len() - count);
    }
    fn node(&mut self) {}
}

/// Every name that occurs free in an expression.
pub fn names_of(e: &Expr) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    let mut note = |n: &Name| {
        found.insert(n.clone());
    };
    rewrite_expr(e, &mut Names { note: &mut note, bound: Vec::new() });
    found
}

/// Every name that the body of a definition uses and does not bind.
pub fn visit_calls(body: &DefBody, note: &mut dyn FnMut(&Name)) {
    let mut names = Names { note, bound: Vec::new() };
    match body {
        DefBody::Expr(e) => {
            rewrite_expr(e, &mut names);
        }
        DefBody::Stmt(s) => {
            rewrite_stmt(s, &mut names);
        }
    }
}
