//! Actions of events: what they assign, what they relate, and whether they have an outcome.
//!
//! In: single actions. Out: the variables and whole values of assignments; for `x :∈ S` and `x :∣ P` the
//! before-after predicate over `x` and `x'`, the condition that it can be satisfied, and the same
//! action in the words of classical B.
//! Never here: refinement (`lockstep`), types, evaluation.

use super::lockstep::{binary, conjunction, ident, node, stmt};
use bombus_base::{Name, Span};
use bombus_syntax::ast::{
    BinOp, Builtin, Const, DefBody, DefItem, Definition, Expr, ExprKind, Ident, Quant, Stmt, StmtKind,
};
use bombus_syntax::eventb::Action;
use bombus_syntax::eventb::names::{parts, primed, visit};

/// A predicate that is true of two values of one type, whatever they are.
const SAME_TYPE: &str = "SAME_TYPE";

/// Its declaration, for a machine that uses it.
pub fn same_type() -> Vec<DefItem> {
    let span = Span::default();
    let param = |name: &str| Ident { name: name.into(), span };
    let define = |name: String, params: Vec<Ident>, body: Expr| {
        DefItem::Def(Definition { name: param(&name), params, body: DefBody::Expr(body) })
    };
    let t = ident(&"T".into(), span);
    vec![
        define(
            format!("EXTERNAL_PREDICATE_{SAME_TYPE}"),
            vec![param("T")],
            binary(BinOp::Cartesian, t.clone(), t),
        ),
        define(
            SAME_TYPE.into(),
            vec![param("first·"), param("second·")],
            node(ExprKind::Const(Const::BTrue), span),
        ),
    ]
}

/// The variable that an assignment's target belongs to.
pub(super) fn target_name(target: &Expr) -> Option<&Name> {
    match &target.kind {
        ExprKind::Ident(name) => Some(name),
        ExprKind::Apply(f, _) => target_name(f),
        _ => None,
    }
}

/// All variables that an action assigns.
pub(super) fn assigned(action: &Stmt) -> Vec<Name> {
    match &action.kind {
        StmtKind::Assign(targets, _) => targets.iter().filter_map(target_name).cloned().collect(),
        StmtKind::BecomesIn(names, _) | StmtKind::BecomesSuch(names, _) => {
            names.iter().map(|n| n.name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// The whole new value that `target := value` gives to its variable.
pub(super) fn whole_value(target: &Expr, value: &Expr) -> Expr {
    match &target.kind {
        ExprKind::Apply(f, indices) => {
            let span = target.span;
            let mut indices = indices.clone().into_iter();
            let first = indices.next().unwrap_or_else(|| value.clone());
            let index = indices.fold(first, |a, b| binary(BinOp::Maplet, a, b));
            let pair = binary(BinOp::Maplet, index, value.clone());
            binary(BinOp::Override, (**f).clone(), node(ExprKind::SetExt(vec![pair]), span))
        }
        _ => value.clone(),
    }
}

/// The before-after predicate of a non-deterministic action, with primed names.
pub(super) fn before_after(action: &Stmt) -> Expr {
    match &action.kind {
        StmtKind::BecomesIn(names, set) => {
            let mut parts = names.iter().map(|n| node(ExprKind::Primed(n.name.clone()), n.span));
            let first = parts.next().unwrap_or_else(|| set.clone());
            let tuple = parts.fold(first, |a, b| binary(BinOp::Maplet, a, b));
            binary(BinOp::In, tuple, set.clone())
        }
        StmtKind::BecomesSuch(_, pred) => pred.clone(),
        _ => node(ExprKind::Const(Const::BTrue), action.span),
    }
}

/// Turns `x'` into the plain name that `local` gives for it.
pub(super) fn name_primes(e: &mut Expr, local: &dyn Fn(&Name) -> Option<Name>) {
    visit(e, &mut |leaf| {
        if let ExprKind::Primed(name) = &leaf.kind
            && let Some(new) = local(name)
        {
            leaf.kind = ExprKind::Ident(new);
        }
    });
}

/// That a non-deterministic action has an outcome, where that can be asked and is not evident.
pub(super) fn feasible(action: &Action) -> Option<Expr> {
    let span = action.stmt.span;
    match &action.stmt.kind {
        StmtKind::BecomesIn(_, set) if never_empty(set) => None,
        StmtKind::BecomesIn(names, _) | StmtKind::BecomesSuch(names, _) => {
            let names: Vec<Name> = names.iter().map(|n| n.name.clone()).collect();
            let mut relation = before_after(&action.stmt);
            name_primes(&mut relation, &|n| names.contains(n).then(|| primed(n)));
            if unbounded(&names, &relation) {
                return None;
            }
            let locals = names.iter().map(|n| Ident { name: primed(n), span }).collect();
            Some(node(ExprKind::Quant(Quant::Exists, locals, Box::new(typed_as(&names, relation))), span))
        }
        _ => None,
    }
}

/// Whether some `x'` is evidently a choice from infinitely many values that nothing bounds. Such a choice
/// is cut when it is made, and the verdict says so; whether it is possible at all is not asked.
pub(super) fn unbounded(names: &[Name], pred: &Expr) -> bool {
    let conjuncts: Vec<&Expr> = match &pred.kind {
        ExprKind::And(all) => all.iter().collect(),
        _ => vec![pred],
    };
    names.iter().any(|name| {
        let name = primed(name);
        let is = |e: &Expr| matches!(&e.kind, ExprKind::Ident(x) if *x == name);
        let (mut lower, mut upper, mut infinite) = (false, false, false);
        for conjunct in &conjuncts {
            let ExprKind::Binary(op, a, b) = &conjunct.kind else { continue };
            match op {
                BinOp::Equal if is(a) && !is(b) || is(b) && !is(a) => {
                    let other = if is(a) { b } else { a };
                    // `x'=y'` bounds neither of two.
                    if !names.iter().any(|n| matches!(&other.kind, ExprKind::Ident(x) if *x == primed(n))) {
                        return false;
                    }
                }
                BinOp::In | BinOp::Subset if is(a) => {
                    if !may_be_infinite(b) {
                        return false;
                    }
                    infinite = true;
                    lower |= matches!(b.kind, ExprKind::Const(Const::Natural | Const::Natural1));
                }
                BinOp::Less | BinOp::LessEqual if is(a) || is(b) => {
                    upper |= is(a);
                    lower |= is(b);
                    infinite = true;
                }
                BinOp::Greater | BinOp::GreaterEqual if is(a) || is(b) => {
                    lower |= is(a);
                    upper |= is(b);
                    infinite = true;
                }
                _ => {}
            }
        }
        infinite && !(lower && upper)
    })
}

/// The predicate about locals `x'`, which have the types of the variables `x`.
pub(super) fn typed_as(names: &[Name], pred: Expr) -> Expr {
    let span = pred.span;
    let same = |n: &Name| of_one_type(ident(&primed(n), span), ident(n, span));
    conjunction(names.iter().map(same).chain(std::iter::once(pred)).collect(), span)
}

/// What a predicate says of types, and nothing else: true even where the predicate is false or undefined.
pub(super) fn types_of(pred: Expr) -> Expr {
    let span = pred.span;
    let value = node(ExprKind::Builtin(Builtin::Bool, vec![pred]), span);
    of_one_type(value, node(ExprKind::Const(Const::True), span))
}

fn of_one_type(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    node(ExprKind::Apply(Box::new(ident(&SAME_TYPE.into(), span)), vec![a, b]), span)
}

/// Whether the form of a set tells that it has an element.
fn never_empty(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::Const(c) => {
            matches!(c, Const::Integer | Const::Natural | Const::Natural1 | Const::Bool)
        }
        ExprKind::SetExt(_) | ExprKind::Builtin(Builtin::Pow, _) => true,
        ExprKind::Binary(op, a, b) => match op {
            BinOp::Relation | BinOp::PartialFunction | BinOp::PartialInjection => true,
            BinOp::Union => never_empty(a) || never_empty(b),
            BinOp::Cartesian => never_empty(a) && never_empty(b),
            BinOp::TotalFunction => never_empty(b),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a set may be infinite. A choice from such a set is one that nothing bounds.
fn may_be_infinite(set: &Expr) -> bool {
    let infinite = matches!(&set.kind, ExprKind::Const(Const::Integer | Const::Natural | Const::Natural1));
    infinite || parts(&mut set.clone()).into_iter().any(|part| may_be_infinite(part))
}

/// `x :∣ P` in the words of classical B: `x` is the new value and `x$0` the old one.
pub(super) fn as_classical(action: &Stmt, initial: bool) -> Stmt {
    let names = match &action.kind {
        StmtKind::BecomesSuch(names, _) => names,
        StmtKind::BecomesIn(names, set) if may_be_infinite(set) => names,
        _ => return action.clone(),
    };
    let mut pred = before_after(action);
    visit(&mut pred, &mut |leaf| {
        leaf.kind = match &leaf.kind {
            ExprKind::Primed(name) => ExprKind::Ident(name.clone()),
            ExprKind::Ident(name) if !initial && names.iter().any(|n| n.name == *name) => {
                ExprKind::Old(name.clone())
            }
            other => other.clone(),
        };
    });
    stmt(StmtKind::BecomesSuch(names.clone(), pred), action.span)
}
