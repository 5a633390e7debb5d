//! Variants: what convergent and anticipated events owe.
//!
//! In: the variant of a machine and the values that an event leaves. Out: conditions that must hold
//! when the event happens: a number is natural and decreases, a set is finite and shrinks; an anticipated event only
//! must not increase it. Never here: types; whether a variant is a number or a set is read off its form.

use super::lockstep::{binary, node};
use bombus_base::{Int, Name};
use bombus_syntax::ast::{BigOp, BinOp, Builtin, Const, Expr, ExprKind};
use bombus_syntax::eventb::names::visit;
use bombus_syntax::eventb::{Convergence, Machine};

/// The conditions, each with the kind of its proof obligation.
pub fn conditions(
    variant: &Expr,
    convergence: Convergence,
    levels: &[Machine],
    after: &mut dyn FnMut(&Name) -> Option<Expr>,
) -> Vec<(&'static str, Expr)> {
    let strict = match convergence {
        Convergence::Ordinary => return Vec::new(),
        Convergence::Convergent => true,
        Convergence::Anticipated => false,
    };
    let mut new = variant.clone();
    visit(&mut new, &mut |leaf| {
        if let ExprKind::Ident(name) = &leaf.kind
            && let Some(value) = after(name)
        {
            *leaf = Expr { kind: value.kind, span: leaf.span };
        }
    });
    if is_set(variant, levels) {
        let op = if strict { BinOp::StrictSubset } else { BinOp::Subset };
        let finite = node(ExprKind::Builtin(Builtin::Finite, vec![variant.clone()]), variant.span);
        return vec![("FIN", finite), ("VAR", binary(op, new, variant.clone()))];
    }
    let zero = node(ExprKind::Int(Int::ZERO), variant.span);
    let op = if strict { BinOp::Less } else { BinOp::LessEqual };
    vec![
        ("NAT", binary(BinOp::GreaterEqual, variant.clone(), zero)),
        ("VAR", binary(op, new, variant.clone())),
    ]
}

fn is_set(e: &Expr, levels: &[Machine]) -> bool {
    match &e.kind {
        ExprKind::SetExt(_) | ExprKind::Compr(..) | ExprKind::Image(..) | ExprKind::Inverse(_) => true,
        ExprKind::Big(op, ..) => !matches!(op, BigOp::Sigma | BigOp::Pi),
        ExprKind::Const(c) => !matches!(c, Const::Maxint | Const::Minint),
        ExprKind::Builtin(b, _) => !matches!(b, Builtin::Card | Builtin::Min | Builtin::Max),
        ExprKind::Binary(op, ..) => {
            !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Power)
        }
        ExprKind::If(_, other) => is_set(other, levels),
        ExprKind::Ident(name) => {
            let invariants = levels.iter().flat_map(|l| &l.invariants);
            invariants.into_iter().any(|i| types_as_set(&i.expr, name))
        }
        _ => false,
    }
}

/// Whether a predicate says that the name is a set: `x ⊆ S`, `x ∈ ℙ(S)`, `x ∈ A ⇸ B`.
fn types_as_set(pred: &Expr, name: &Name) -> bool {
    let is_name = |e: &Expr| matches!(&e.kind, ExprKind::Ident(x) if x == name);
    match &pred.kind {
        ExprKind::And(parts) => parts.iter().any(|p| types_as_set(p, name)),
        ExprKind::Binary(BinOp::Subset | BinOp::StrictSubset, left, _) => is_name(left),
        ExprKind::Binary(BinOp::In, left, set) if is_name(left) => match &set.kind {
            ExprKind::Builtin(Builtin::Pow | Builtin::Pow1, _) => true,
            ExprKind::Binary(op, ..) => {
                bombus_syntax::eventb::operators::level(*op) == bombus_syntax::eventb::operators::Level::Arrow
            }
            _ => false,
        },
        _ => false,
    }
}
