//! Bounds of one set: what it has in common with sets that are chosen before it.
//!
//! In: conjuncts `x /\ y = {}`. Out: bounds `x <: S - y`.

use super::{Site, binary, is, mentions, rel, var};
use bombus_oracle::tree::{BinOp, Expr, Pred, RelOp, Type, UnOp};

/// A subset of S that has nothing in common with y and z is a subset of `S - (y \/ z)`; another set is no subset of S or
/// meets one of them.
pub fn apart(site: &Site) -> Vec<Pred> {
    let Type::Pow(of) = site.of else { return Vec::new() };
    // A set that is chosen later has no value yet, and would keep the bound from having one.
    let later = |e: &Expr| mentions(e, site.name) || site.behind.iter().any(|v| mentions(e, &v.0));
    let empty = |e: &Expr| matches!(e, Expr::Set(es) if es.is_empty());
    let others = site.all.iter().filter_map(|p| match p {
        Pred::Rel(RelOp::Equal, Expr::Binary(BinOp::Inter, a, b), none) if empty(none) => {
            let other = if is(a, site.name) { b } else { a };
            ((is(a, site.name) || is(b, site.name)) && !later(other)).then(|| (**other).clone())
        }
        _ => None,
    });
    let Some(union) = others.reduce(|a, b| binary(BinOp::Union, &a, &b)) else { return Vec::new() };
    let own = site.all.iter().find_map(|p| match p {
        Pred::Rel(RelOp::Subset, x, s) if is(x, site.name) && !mentions(s, site.name) => Some(s.clone()),
        Pred::Rel(RelOp::In, x, Expr::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, s))
            if is(x, site.name) && !mentions(&**s, site.name) =>
        {
            Some((**s).clone())
        }
        _ => None,
    });
    let all = own.unwrap_or_else(|| Expr::All((**of).clone()));
    vec![rel(RelOp::Subset, var(site.name), binary(BinOp::Minus, &all, &union))]
}
