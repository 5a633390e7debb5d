//! Bounds of one sequence: its size and the set of its elements.
//!
//! In: conjuncts `x : seq(S)` and `size(x) = n`. Out: bounds `x : 1..n --> S`.

use super::{Site, binary, both_ways, int, is, mentions, rel, var};
use bombus_oracle::tree::{BigOp, BinOp, Expr, Name, Pred, RelOp, Type, UnOp};

/// A sequence over S whose size is one of some numbers k is a member of `1..k --> S` for one of them; another value is no
/// sequence over S, or its size is none of them. Numbers and S are parts of the conjuncts.
pub fn of_size(site: &Site) -> Vec<Pred> {
    let over = |p: &&Pred| match p {
        Pred::Rel(RelOp::In, x, Expr::Unary(UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1, s))
            if is(x, site.name) && !mentions(&**s, site.name) =>
        {
            Some((**s).clone())
        }
        _ => None,
    };
    let Some(elements) = site.all.iter().find_map(over) else { return Vec::new() };
    let k = Name::from("size of a sequence");
    let of_length = |n: &Expr| binary(BinOp::TotalFunction, &binary(BinOp::Interval, &int(1), n), &elements);
    let size = |e: &Expr| matches!(e, Expr::Unary(UnOp::Size | UnOp::Card, x) if is(x, site.name));
    let some = |numbers: Pred| {
        let vars = vec![(k.clone(), Type::Integer)];
        Expr::Big(BigOp::Union, vars, Box::new(numbers), Box::new(of_length(&var(&k))))
    };
    let up_to = |n: Expr| some(rel(RelOp::In, var(&k), binary(BinOp::Interval, &int(0), &n)));
    let one = |(op, left, n): (RelOp, &Expr, &Expr)| {
        if !size(left) || mentions(n, site.name) {
            return None;
        }
        let all = match op {
            RelOp::Equal => of_length(n),
            RelOp::LessEqual => up_to(n.clone()),
            RelOp::Less => up_to(binary(BinOp::Sub, n, &int(1))),
            RelOp::In if !matches!(n, Expr::Natural | Expr::Natural1 | Expr::All(_)) => {
                some(rel(RelOp::In, var(&k), n.clone()))
            }
            _ => return None,
        };
        Some(rel(RelOp::In, var(site.name), all))
    };
    site.all.iter().flat_map(|p| both_ways(p)).filter_map(one).collect()
}
