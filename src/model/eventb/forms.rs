//! Forms that exporters write out at length, and what they are short for.
//!
//! In: formulas of a chain. Out: formulas of the same meaning that say at once what they range over:
//! `∀p·⊤ ⇒ (∀q·P)` is `∀p,q·P`, and `{n,f·n∈ℕ ∧ f∈1‥n→A ∣ f}` is the set of sequences over `A`.
//! Never here: names, types.

use super::lockstep::node;
use bombus_base::{Int, Name};
use bombus_syntax::ast::{BigOp, BinOp, Builtin, Const, Expr, ExprKind, Quant};
use bombus_syntax::eventb::names::parts;

/// Shortens a formula, innermost parts first.
pub fn shorten(e: &mut Expr) {
    for part in parts(e) {
        shorten(part);
    }
    let span = e.span;
    if let Some(set) = sequences(e) {
        *e = node(ExprKind::Builtin(Builtin::Seq, vec![set]), span);
        return;
    }
    let ExprKind::Quant(quant, names, body) = &mut e.kind else { return };
    if *quant == Quant::Forall
        && let ExprKind::Binary(BinOp::Implies, condition, inner) = &mut body.kind
        && condition.kind == ExprKind::Const(Const::BTrue)
    {
        let inner = (**inner).clone();
        **body = inner;
    }
    if let ExprKind::Quant(same, more, inner) = &mut body.kind
        && same == quant
        && !more.iter().any(|m| names.iter().any(|n| n.name == m.name))
    {
        names.append(more);
        let inner = (**inner).clone();
        **body = inner;
    }
}

/// The set `A` if the expression is `{f,n · n∈ℕ ∧ f∈1‥n→A ∣ f}`; types of `f` and `n` may be stated as well.
fn sequences(e: &Expr) -> Option<Expr> {
    let ExprKind::Big(BigOp::SetOf, names, pred, value) = &e.kind else { return None };
    let ExprKind::Ident(f) = &value.kind else { return None };
    let n = names.iter().map(|i| &i.name).find(|i| *i != f)?;
    let is = |e: &Expr, name: &Name| matches!(&e.kind, ExprKind::Ident(x) if x == name);
    let mut all = pred.conjuncts();
    all.retain(|c| match &c.kind {
        ExprKind::Binary(BinOp::In, x, set) => !((is(x, n) || is(x, f)) && is_number_type(set)),
        _ => true,
    });
    let [bound, function] = all.as_slice() else { return None };
    let ExprKind::Binary(BinOp::In, length, naturals) = &bound.kind else { return None };
    let ExprKind::Binary(BinOp::In, name, arrow) = &function.kind else { return None };
    let ExprKind::Binary(BinOp::TotalFunction, domain, set) = &arrow.kind else { return None };
    let ExprKind::Binary(BinOp::Interval, one, last) = &domain.kind else { return None };
    let fits = names.len() == 2
        && is(length, n)
        && naturals.kind == ExprKind::Const(Const::Natural)
        && is(name, f)
        && one.kind == ExprKind::Int(Int::ONE)
        && is(last, n)
        && !mentions(set, n)
        && !mentions(set, f);
    fits.then(|| (**set).clone())
}

fn mentions(e: &Expr, name: &Name) -> bool {
    bombus_syntax::eventb::names::free(e).contains(name)
}

/// ℤ, BOOL, and what is made of them: membership there says nothing but the type.
fn is_number_type(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::Const(Const::Integer | Const::Bool) => true,
        ExprKind::Builtin(Builtin::Pow, items) => items.iter().all(is_number_type),
        ExprKind::Binary(BinOp::Cartesian, a, b) => is_number_type(a) && is_number_type(b),
        _ => false,
    }
}
