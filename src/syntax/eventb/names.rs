//! Names inside formulas: which occur free, and replacing them.
//!
//! In: formula trees of Event-B. Out: sets of names, changed trees.
//! Never here: what a name means.

use crate::ast::{Expr, ExprKind, Ident, Stmt, StmtKind};
use bombus_base::Name;
use std::collections::{BTreeMap, BTreeSet};

/// Calls `note` for every free `x` and `x'`; it may replace the node.
pub fn visit(e: &mut Expr, note: &mut dyn FnMut(&mut Expr)) {
    walk(e, &mut Vec::new(), &mut |leaf, bound| {
        let known = match &leaf.kind {
            ExprKind::Primed(name) => bound.contains(&primed(name)),
            ExprKind::Ident(name) | ExprKind::Old(name) => bound.contains(name),
            _ => true,
        };
        if !known {
            note(leaf);
        }
    });
}

/// Some authors bind a name such as `e'`; inside its scope `e'` is no value after an event.
pub fn settle_bound_primes(e: &mut Expr) {
    walk(e, &mut Vec::new(), &mut |leaf, bound| {
        if let ExprKind::Primed(name) = &leaf.kind
            && bound.contains(&primed(name))
        {
            leaf.kind = ExprKind::Ident(primed(name));
        }
    });
}

/// Calls `note` for every name with the names that are bound there.
fn walk(e: &mut Expr, bound: &mut Vec<Name>, note: &mut dyn FnMut(&mut Expr, &[Name])) {
    match &mut e.kind {
        ExprKind::Ident(_) | ExprKind::Primed(_) | ExprKind::Old(_) => note(e, bound),
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Str(_)
        | ExprKind::Const(_)
        | ExprKind::Template(_) => {}
        ExprKind::Builtin(_, items)
        | ExprKind::And(items)
        | ExprKind::Or(items)
        | ExprKind::SetExt(items)
        | ExprKind::SeqExt(items) => {
            for item in items {
                walk(item, bound, note);
            }
        }
        ExprKind::Neg(x)
        | ExprKind::Inverse(x)
        | ExprKind::Not(x)
        | ExprKind::Field(x, _)
        | ExprKind::Label(_, x)
        | ExprKind::Symbolic(x) => walk(x, bound, note),
        ExprKind::Binary(_, a, b) | ExprKind::Image(a, b) => {
            walk(a, bound, note);
            walk(b, bound, note);
        }
        ExprKind::Apply(f, args) => {
            walk(f, bound, note);
            for arg in args {
                walk(arg, bound, note);
            }
        }
        ExprKind::Rec(fields) | ExprKind::Struct(fields) => {
            for (_, value) in fields {
                walk(value, bound, note);
            }
        }
        ExprKind::Compr(names, p) | ExprKind::Quant(_, names, p) => {
            within(names, bound, |bound| walk(p, bound, note));
        }
        ExprKind::Big(_, names, p, x) | ExprKind::Let(names, p, x) => within(names, bound, |bound| {
            walk(p, bound, note);
            walk(x, bound, note);
        }),
        ExprKind::If(cases, other) => {
            for (p, x) in cases {
                walk(p, bound, note);
                walk(x, bound, note);
            }
            walk(other, bound, note);
        }
        ExprKind::After(targets, values, p) => {
            for x in targets.iter_mut().chain(values) {
                walk(x, bound, note);
            }
            walk(p, bound, note);
        }
    }
}

fn within(names: &[Ident], bound: &mut Vec<Name>, work: impl FnOnce(&mut Vec<Name>)) {
    let depth = bound.len();
    bound.extend(names.iter().map(|n| n.name.clone()));
    work(bound);
    bound.truncate(depth);
}

/// The formulas that a formula is directly made of, in the order of the text.
pub fn parts(e: &mut Expr) -> Vec<&mut Expr> {
    match &mut e.kind {
        ExprKind::Ident(_)
        | ExprKind::Primed(_)
        | ExprKind::Old(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Str(_)
        | ExprKind::Const(_)
        | ExprKind::Template(_) => Vec::new(),
        ExprKind::Builtin(_, items)
        | ExprKind::And(items)
        | ExprKind::Or(items)
        | ExprKind::SetExt(items)
        | ExprKind::SeqExt(items) => items.iter_mut().collect(),
        ExprKind::Neg(x)
        | ExprKind::Inverse(x)
        | ExprKind::Not(x)
        | ExprKind::Field(x, _)
        | ExprKind::Label(_, x)
        | ExprKind::Symbolic(x)
        | ExprKind::Compr(_, x)
        | ExprKind::Quant(_, _, x) => vec![x],
        ExprKind::Binary(_, a, b)
        | ExprKind::Image(a, b)
        | ExprKind::Big(_, _, a, b)
        | ExprKind::Let(_, a, b) => vec![a, b],
        ExprKind::Apply(f, args) => std::iter::once(&mut **f).chain(args).collect(),
        ExprKind::Rec(fields) | ExprKind::Struct(fields) => fields.iter_mut().map(|(_, x)| x).collect(),
        ExprKind::If(cases, other) => {
            cases.iter_mut().flat_map(|(p, x)| [p, x]).chain(std::iter::once(&mut **other)).collect()
        }
        ExprKind::After(targets, values, p) => {
            targets.iter_mut().chain(values).chain(std::iter::once(&mut **p)).collect()
        }
    }
}

/// Every plain name that occurs free, each once, in the order of the text.
pub fn free_in_order(e: &Expr) -> Vec<Ident> {
    let mut found: Vec<Ident> = Vec::new();
    visit(&mut e.clone(), &mut |leaf| {
        if let ExprKind::Ident(name) = &leaf.kind
            && !found.iter().any(|f| f.name == *name)
        {
            found.push(Ident { name: name.clone(), span: leaf.span });
        }
    });
    found
}

/// The names that occur free, primed ones as `x'`.
pub fn free(e: &Expr) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    visit(&mut e.clone(), &mut |leaf| {
        found.insert(match &leaf.kind {
            ExprKind::Primed(name) => primed(name),
            ExprKind::Ident(name) | ExprKind::Old(name) => name.clone(),
            _ => return,
        });
    });
    found
}

/// `x'` as a name of its own, for the local that holds the value after an event.
pub fn primed(name: &str) -> Name {
    format!("{name}'").into()
}

/// Replaces free names that stand for values of the state before.
pub fn replace(e: &mut Expr, by: &BTreeMap<Name, Expr>) {
    if by.is_empty() {
        return;
    }
    visit(e, &mut |leaf| {
        if let ExprKind::Ident(name) = &leaf.kind
            && let Some(value) = by.get(name)
        {
            // The message about the whole still points to where the name stands.
            *leaf = Expr { kind: value.kind.clone(), span: leaf.span };
        }
    });
}

/// All formulas of an action, targets included.
pub fn for_each_expr(stmt: &mut Stmt, work: &mut dyn FnMut(&mut Expr)) {
    match &mut stmt.kind {
        StmtKind::Assign(targets, values) => targets.iter_mut().chain(values).for_each(work),
        StmtKind::BecomesIn(_, e) | StmtKind::BecomesSuch(_, e) => work(e),
        _ => {}
    }
}

/// Replaces names in an action: values and, where the new name is plain, targets.
pub fn replace_in_action(stmt: &mut Stmt, by: &BTreeMap<Name, Expr>) {
    match &mut stmt.kind {
        StmtKind::Assign(targets, values) => {
            for target in targets {
                // The variable itself is no parameter and keeps its name; indices may use one.
                if let ExprKind::Apply(_, indices) = &mut target.kind {
                    for index in indices {
                        replace(index, by);
                    }
                }
            }
            for value in values {
                replace(value, by);
            }
        }
        StmtKind::BecomesIn(_, e) | StmtKind::BecomesSuch(_, e) => replace(e, by),
        _ => {}
    }
}
