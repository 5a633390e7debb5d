//! Bounds of one integer: equations and comparisons that are solved for it.
//!
//! In: conjuncts about integers. Out: bounds. The law holds since sums, differences and products always have a value
//! where their parts have one, and the parts of a bound are parts of the conjunct that it comes from.

use super::inside::is_total;
use super::{Site, binary, both_ways, int, is, mentions, mirrored, rel, unary, var};
use bombus_oracle::tree::{BinOp, Expr, Pred, RelOp, Type, UnOp, Var};

/// `x` alone on the left side of `left op right`: the right side, and whether the comparison turns round.
fn isolated(site: &Site, left: &Expr, right: Expr) -> Option<(Expr, bool)> {
    match left {
        e if is(e, site.name) => Some((right, false)),
        Expr::Binary(BinOp::Add, a, b) if !mentions(&**b, site.name) => {
            isolated(site, a, binary(BinOp::Sub, &right, b))
        }
        Expr::Binary(BinOp::Add, a, b) if !mentions(&**a, site.name) => {
            isolated(site, b, binary(BinOp::Sub, &right, a))
        }
        Expr::Binary(BinOp::Sub, a, b) if !mentions(&**b, site.name) => {
            isolated(site, a, binary(BinOp::Add, &right, b))
        }
        Expr::Binary(BinOp::Sub, a, b) if !mentions(&**a, site.name) => {
            isolated(site, b, binary(BinOp::Sub, a, &right)).map(|(e, turned)| (e, !turned))
        }
        Expr::Unary(UnOp::Neg, a) => {
            isolated(site, a, unary(UnOp::Neg, &right)).map(|(e, turned)| (e, !turned))
        }
        _ => None,
    }
}

/// `x + 2 = e` says `x = e - 2`, and comparisons likewise: both are true, false and undefined together.
pub fn solved(site: &Site) -> Vec<Pred> {
    let one = |(op, left, right): (RelOp, &Expr, &Expr)| {
        let plain = is(left, site.name) || mentions(right, site.name) || !mentions(left, site.name);
        mirrored(op).filter(|_| !plain)?;
        let (e, turned) = isolated(site, left, right.clone())?;
        let op = if turned { mirrored(op)? } else { op };
        Some(rel(op, var(site.name), e))
    };
    let whole = *site.of == Type::Integer;
    site.all.iter().filter(|_| whole).flat_map(|p| both_ways(p)).filter_map(one).collect()
}

/// `x + 2 : a..b` says `x + 2 >= a` and `x + 2 <= b`; `NATURAL` and `NATURAL1` have only the first. If an end has no
/// value, the interval has none.
pub fn within(site: &Site) -> Vec<Pred> {
    let mut out = Vec::new();
    for p in site.all.iter().filter(|_| *site.of == Type::Integer) {
        let Pred::Rel(RelOp::In, left, set) = p else { continue };
        if is(left, site.name) || mentions(set, site.name) {
            continue;
        }
        let ends = match set {
            Expr::Natural => vec![(RelOp::GreaterEqual, int(0))],
            Expr::Natural1 => vec![(RelOp::GreaterEqual, int(1))],
            Expr::Binary(BinOp::Interval, a, b) => {
                vec![(RelOp::GreaterEqual, (**a).clone()), (RelOp::LessEqual, (**b).clone())]
            }
            _ => continue,
        };
        for (op, end) in ends {
            if let Some((e, turned)) = isolated(site, left, end) {
                let op = if turned { mirrored(op).unwrap_or(op) } else { op };
                out.push(rel(op, var(site.name), e));
            }
        }
    }
    out
}

/// A predicate where `x : a..b` is two comparisons, if another conjunct compares x and may narrow the interval. The ends of the
/// interval always have values, so both say the same.
pub fn parted(vars: &[Var], all: &[&Pred], p: &Pred) -> Pred {
    let compared = |x: &Expr| {
        all.iter().flat_map(|p| both_ways(p)).any(|(op, left, _)| {
            !matches!(op, RelOp::In | RelOp::Equal) && mirrored(op).is_some() && mentions_var(left, x)
        })
    };
    match p {
        Pred::And(ps) => Pred::And(ps.iter().map(|p| parted(vars, all, p)).collect()),
        Pred::At(label, p) => Pred::At(label.clone(), Box::new(parted(vars, all, p))),
        Pred::Rel(RelOp::In, x, Expr::Binary(BinOp::Interval, a, b))
            if vars.iter().any(|v| is(x, &v.0)) && is_total(a) && is_total(b) && compared(x) =>
        {
            let ends = [(RelOp::GreaterEqual, a), (RelOp::LessEqual, b)];
            Pred::And(ends.map(|(op, end)| rel(op, x.clone(), (**end).clone())).into())
        }
        p => p.clone(),
    }
}

fn mentions_var(e: &Expr, x: &Expr) -> bool {
    matches!(x, Expr::Var(n) if mentions(e, n))
}

/// A factor of a product other than 0 is at most as large: `x * y = e` and `e /= 0` say `x : -|e|..|e|`. The square of
/// an integer is at least as large: `x * x <= e` says `x : -e..e`.
pub fn factors(site: &Site) -> Vec<Pred> {
    let one = |(op, left, e): (RelOp, &Expr, &Expr)| {
        let Expr::Binary(BinOp::Mul, a, b) = left else { return None };
        let (a_is, b_is) = (is(a, site.name), is(b, site.name));
        if mentions(e, site.name) || !(a_is || b_is) {
            return None;
        }
        let inside = |most: &Expr| {
            rel(RelOp::In, var(site.name), binary(BinOp::Interval, &unary(UnOp::Neg, most), most))
        };
        match op {
            RelOp::Equal | RelOp::LessEqual | RelOp::Less if a_is && b_is => Some(inside(e)),
            RelOp::Equal => {
                let size = unary(UnOp::Max, &Expr::Set(vec![e.clone(), unary(UnOp::Neg, e)]));
                let product = rel(RelOp::NotEqual, e.clone(), int(0));
                Some(Pred::Implies(Box::new(product), Box::new(inside(&size))))
            }
            _ => None,
        }
    };
    let whole = *site.of == Type::Integer;
    site.all.iter().filter(|_| whole).flat_map(|p| both_ways(p)).filter_map(one).collect()
}
