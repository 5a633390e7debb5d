//! Bounds that stand below a quantifier, or that some variables have for themselves.
//!
//! In: conjuncts. Out: bounds.

use super::{Site, conjuncts, is, mentions, rel, var};
use bombus_oracle::tree::{BigOp, BinOp, Expr, Pred, RelOp, UnOp, Var};

/// Whether an expression has a value whatever its variables are, so that nothing undefined comes with it.
pub fn is_total(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Var(_) | Expr::All(_) | Expr::Natural | Expr::Natural1 => true,
        Expr::Set(es) | Expr::Seq(es) => es.iter().all(is_total),
        Expr::Pair(a, b) => is_total(a) && is_total(b),
        Expr::Binary(op, a, b) if op.arrow().is_some() => is_total(a) && is_total(b),
        Expr::Unary(UnOp::Neg | UnOp::Dom | UnOp::Ran | UnOp::Inverse | UnOp::Pow, a) => is_total(a),
        Expr::Binary(
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Interval
            | BinOp::Union
            | BinOp::Inter
            | BinOp::Minus
            | BinOp::Product
            | BinOp::Image
            | BinOp::DomRestrict
            | BinOp::DomSubtract
            | BinOp::RanRestrict
            | BinOp::RanSubtract,
            a,
            b,
        ) => is_total(a) && is_total(b),
        _ => false,
    }
}

/// `#y.(y : S & x = e)` says `x : {y . y : S | e}`, and with `x : e` in place of `x = e` that x is a member of the union. S
/// and e always have values, so the bound has one; if x is outside, each y makes a conjunct false.
pub fn below_exists(site: &Site) -> Vec<Pred> {
    let mut out = Vec::new();
    for p in site.all {
        let Pred::Exists(ys, body) = p else { continue };
        let mut parts = Vec::new();
        conjuncts(body, &mut parts);
        if ys.iter().any(|y| y.0 == *site.name) {
            continue;
        }
        let ranges = ys.iter().map(|y| range_of(site, y, &parts));
        let Some(ranges) = ranges.collect::<Option<Vec<Pred>>>() else { continue };
        for part in &parts {
            let (op, e) = match part {
                Pred::Rel(RelOp::Equal, a, e) if is(a, site.name) => (BigOp::SetOf, e),
                Pred::Rel(RelOp::Equal, e, a) if is(a, site.name) => (BigOp::SetOf, e),
                Pred::Rel(RelOp::In, a, e) if is(a, site.name) => (BigOp::Union, e),
                _ => continue,
            };
            if is_total(e) && !mentions(e, site.name) {
                let all = Expr::Big(op, ys.clone(), Box::new(Pred::And(ranges.clone())), Box::new(e.clone()));
                out.push(rel(RelOp::In, var(site.name), all));
            }
        }
    }
    out
}

/// A conjunct `y : S` with a set that always has a value.
fn range_of(site: &Site, y: &Var, parts: &[&Pred]) -> Option<Pred> {
    let fits = |p: &&&Pred| match p {
        Pred::Rel(RelOp::In, a, s) => {
            is(a, &y.0) && is_total(s) && !mentions(s, &y.0) && !mentions(s, site.name)
        }
        _ => false,
    };
    parts.iter().find(fits).map(|p| (**p).clone())
}

/// Where some conjuncts speak of one variable alone among several, and one of them lists its values, that there is such a
/// value: if there is none, one of the conjuncts is false for each.
pub fn possible(vars: &[Var], all: &[&Pred]) -> Vec<Pred> {
    let mut out = Vec::new();
    for v in vars.iter().filter(|_| vars.len() > 1) {
        let alone = |p: &&&Pred| {
            mentions(**p, &v.0) && !vars.iter().any(|other| other.0 != v.0 && mentions(**p, &other.0))
        };
        let about: Vec<Pred> = all.iter().filter(alone).map(|p| (*p).clone()).collect();
        let lists = |p: &Pred| match p {
            Pred::Rel(RelOp::In, x, Expr::Set(_) | Expr::Binary(BinOp::Interval, ..)) => is(x, &v.0),
            _ => false,
        };
        if about.len() > 1 && about.iter().any(lists) {
            out.push(Pred::Exists(vec![v.clone()], Box::new(Pred::And(about))));
        }
    }
    out
}
