//! Deferred sets that stand for records: `make : A*NATURAL >->> R`.
//!
//! In: the tree of a machine. Out: the same tree, in which such a set is a constant that equals the product, and the
//! bijection is the identity on it. A deferred set has no structure of its own, so every valuation in which `make` is a
//! bijection is the same up to the names of the elements of `R` as the one in which each element is the tuple that makes
//! it; nothing is lost. Only for products without end: those with an end are numbered by `sets`, which counts better.

use bombus_base::Name;
use bombus_base::diagnostic::Diagnostic;
use bombus_syntax::ast::{BinOp, ClauseKind, Const, Expr, ExprKind, Ident, Machine, SetDecl};

/// Products nested deeper than this are left alone.
const DEPTH: u32 = 32;

/// Rewrites every such set of a machine; the warnings say which.
pub fn settle(tree: &mut Machine) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    // Each turn takes one deferred set away.
    while let Some((set, function, product)) = find(tree) {
        let words = format!("`{}` is taken to be the set that `{}` maps to it", set.name, function.name);
        out.push(Diagnostic::warning(set.span, words));
        rewrite(tree, &set, &function, &product);
    }
    out
}

/// A deferred set, the bijection onto it and the product it comes from.
fn find(tree: &Machine) -> Option<(Ident, Ident, Expr)> {
    let mut deferred = Vec::new();
    let mut sets = Vec::new();
    let mut constants = Vec::new();
    let mut properties = None;
    for clause in &tree.clauses {
        match &clause.kind {
            ClauseKind::Sets(list) => {
                for decl in list {
                    match decl {
                        SetDecl::Deferred(name) => {
                            deferred.push(name);
                            sets.push(name);
                        }
                        SetDecl::Enumerated(name, _) | SetDecl::ByDefinition(name, _) => sets.push(name),
                    }
                }
            }
            ClauseKind::Constants(list) | ClauseKind::AbstractConstants(list) => constants.extend(list),
            ClauseKind::Properties(p) => properties = Some(p),
            // An implementation says what its sets are.
            ClauseKind::Values(_) => return None,
            _ => {}
        }
    }
    let named = |list: &[&Ident], e: &Expr| match &e.kind {
        ExprKind::Ident(name) => list.iter().find(|i| i.name == *name).map(|i| (*i).clone()),
        _ => None,
    };
    properties?.conjuncts().into_iter().find_map(|p| {
        let ExprKind::Binary(BinOp::In, function, arrow) = &p.kind else { return None };
        let ExprKind::Binary(BinOp::TotalBijection, from, to) = &arrow.kind else { return None };
        let (function, set) = (named(&constants, function)?, named(&deferred, to)?);
        let others: Vec<&Name> = sets.iter().map(|s| &s.name).filter(|n| **n != set.name).collect();
        let infinite = is_product(from, &others, DEPTH)?;
        infinite.then(|| (set, function, (**from).clone()))
    })
}

/// Whether a product of basic and other sets has no end; `None` if it is no such product.
fn is_product(e: &Expr, sets: &[&Name], depth: u32) -> Option<bool> {
    match &e.kind {
        ExprKind::Binary(BinOp::Mul | BinOp::Cartesian, a, b) if depth > 0 => {
            let (a, b) = (is_product(a, sets, depth - 1)?, is_product(b, sets, depth - 1)?);
            Some(a || b)
        }
        ExprKind::Const(Const::Integer | Const::Natural | Const::Natural1 | Const::String) => Some(true),
        ExprKind::Const(Const::Bool) => Some(false),
        ExprKind::Ident(name) if sets.contains(&name) => Some(false),
        _ => None,
    }
}

fn rewrite(tree: &mut Machine, set: &Ident, function: &Ident, product: &Expr) {
    for clause in &mut tree.clauses {
        match &mut clause.kind {
            ClauseKind::Sets(list) => {
                list.retain(|d| !matches!(d, SetDecl::Deferred(name) if name.name == set.name));
            }
            ClauseKind::Constants(list) | ClauseKind::AbstractConstants(list)
                if list.iter().any(|c| c.name == function.name) =>
            {
                list.insert(0, set.clone());
            }
            ClauseKind::Properties(p) => {
                let span = p.span;
                let expr = |kind| Expr { kind, span };
                let equal = |name: &Name, value: Expr| {
                    let name = expr(ExprKind::Ident(name.clone()));
                    expr(ExprKind::Binary(BinOp::Equal, Box::new(name), Box::new(value)))
                };
                let identity = expr(ExprKind::Binary(
                    BinOp::DomRestrict,
                    Box::new(product.clone()),
                    Box::new(expr(ExprKind::Const(Const::Id))),
                ));
                let settled = vec![equal(&set.name, product.clone()), equal(&function.name, identity)];
                // The bijection itself follows from these two.
                let mut rest = Vec::new();
                let mut open = vec![&*p];
                while let Some(q) = open.pop() {
                    match &q.kind {
                        ExprKind::And(ps) => open.extend(ps.iter().rev()),
                        _ if q.conjuncts().iter().any(|q| is_bijection(q, set, function)) => {}
                        _ => rest.push(q.clone()),
                    }
                }
                *p = expr(ExprKind::And(settled.into_iter().chain(rest).collect()));
            }
            _ => {}
        }
    }
    tree.clauses.retain(|c| !matches!(&c.kind, ClauseKind::Sets(list) if list.is_empty()));
}

fn is_bijection(p: &Expr, set: &Ident, function: &Ident) -> bool {
    let is = |e: &Expr, name: &Ident| matches!(&e.kind, ExprKind::Ident(n) if *n == name.name);
    match &p.kind {
        ExprKind::Binary(BinOp::In, f, arrow) => match &arrow.kind {
            ExprKind::Binary(BinOp::TotalBijection, _, to) => is(f, function) && is(to, set),
            _ => false,
        },
        _ => false,
    }
}
