//! Comparisons of integers that contradict each other once equations are put in place.
//!
//! In: conjuncts and the variables that are looked for. Out: whether no values of the variables satisfy all of them,
//! decided by comparing polynomials. "No" says nothing. Never here: values, environments, the search.

use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use std::collections::BTreeMap;

/// A polynomial with more products than this is left alone.
const PRODUCTS: usize = 64;
/// Formulas nested deeper than this are left alone.
const DEPTH: u32 = 32;

/// A sum of products of variables with coefficients: products are sorted, coefficients are not zero.
type Polynomial = BTreeMap<Vec<VarId>, Int>;

/// Whether some comparisons of integers contradict each other once equations `v = e` are put in place of `v`:
/// `z=y+1 & a=z-1 & r=3*a & q=3*y & r/=q`. Only conjuncts made of numbers, variables, sums and products count:
/// these are defined for all values, so that for every valuation one of them is false, and with it the conjunction.
pub fn contradict(conjuncts: &[&Pred], vars: &[VarId]) -> bool {
    let mut known: Vec<(VarId, Polynomial)> = Vec::new();
    let mut used = vec![false; conjuncts.len()];
    for (i, c) in conjuncts.iter().enumerate() {
        let PredKind::Rel(RelOp::Equal, a, b) = &c.kind else { continue };
        if a.ty != Type::Integer {
            continue;
        }
        for (x, y) in [(a, b), (b, a)] {
            let ExprKind::Var(v) = x.kind else { continue };
            if !vars.contains(&v) || known.iter().any(|(w, _)| *w == v) {
                continue;
            }
            let Some(value) = polynomial(y, DEPTH).and_then(|p| substituted(&p, &known)) else { continue };
            if value.keys().any(|product| product.contains(&v)) {
                continue;
            }
            // The new equation is put into the old ones, so that no variable on the left stands on a right.
            let mut all = Some(Vec::with_capacity(known.len()));
            for (w, p) in &known {
                let p = substituted(p, &[(v, value.clone())]);
                all = all.zip(p).map(|(mut all, p)| {
                    all.push((*w, p));
                    all
                });
            }
            let Some(mut all) = all else { continue };
            all.push((v, value));
            known = all;
            used[i] = true;
            break;
        }
    }
    if known.len() < 2 {
        return false;
    }
    conjuncts.iter().zip(used).any(|(c, used)| !used && fails(c, &known))
}

/// Whether a comparison is false for all values.
fn fails(p: &Pred, known: &[(VarId, Polynomial)]) -> bool {
    let PredKind::Rel(op, a, b) = &p.kind else { return false };
    if a.ty != Type::Integer || matches!(op, RelOp::In | RelOp::NotIn) {
        return false;
    }
    let (Some(a), Some(b)) = (polynomial(a, DEPTH), polynomial(b, DEPTH)) else { return false };
    let Some(difference) = substituted(&sum(a, b, &Int::from(-1i64)), known) else { return false };
    let zero = Int::ZERO;
    let n = match difference.iter().next() {
        None => &zero,
        Some((product, n)) if product.is_empty() && difference.len() == 1 => n,
        _ => return false,
    };
    match op {
        RelOp::Equal => !n.is_zero(),
        RelOp::NotEqual => n.is_zero(),
        RelOp::Less => !n.is_negative(),
        RelOp::LessEqual => !n.is_negative() && !n.is_zero(),
        RelOp::Greater => n.is_negative() || n.is_zero(),
        RelOp::GreaterEqual => n.is_negative(),
        _ => false,
    }
}

/// An expression as a polynomial in its variables; `None` if it has another form or is long.
fn polynomial(e: &Expr, depth: u32) -> Option<Polynomial> {
    if depth == 0 || e.ty != Type::Integer {
        return None;
    }
    match &e.kind {
        ExprKind::Int(n) => Some(of_number(n)),
        ExprKind::Var(v) => Some(BTreeMap::from([(vec![*v], Int::ONE)])),
        ExprKind::Unary(UnOp::Neg, a) => {
            Some(sum(Polynomial::new(), polynomial(a, depth - 1)?, &Int::from(-1i64)))
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (polynomial(a, depth - 1)?, polynomial(b, depth - 1)?);
            match op {
                BinOp::Add => Some(sum(a, b, &Int::ONE)),
                BinOp::Sub => Some(sum(a, b, &Int::from(-1i64))),
                BinOp::Mul => product(&a, &b),
                _ => None,
            }
        }
        _ => None,
    }
}

fn of_number(n: &Int) -> Polynomial {
    if n.is_zero() { Polynomial::new() } else { BTreeMap::from([(Vec::new(), n.clone())]) }
}

/// `a + k*b`
fn sum(mut a: Polynomial, b: Polynomial, k: &Int) -> Polynomial {
    for (product, n) in b {
        let all = a.remove(&product).unwrap_or(Int::ZERO).add(&n.mul(k));
        if !all.is_zero() {
            a.insert(product, all);
        }
    }
    a
}

fn product(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    if a.len().saturating_mul(b.len()) > PRODUCTS {
        return None;
    }
    let mut out = Polynomial::new();
    for (x, n) in a {
        for (y, m) in b {
            let mut vars: Vec<VarId> = x.iter().chain(y).copied().collect();
            vars.sort();
            if vars.len() > PRODUCTS {
                return None;
            }
            out = sum(out, BTreeMap::from([(vars, n.mul(m))]), &Int::ONE);
        }
    }
    Some(out)
}

/// A polynomial with the values of variables in their places; `None` if that is long.
fn substituted(p: &Polynomial, known: &[(VarId, Polynomial)]) -> Option<Polynomial> {
    let mut out = Polynomial::new();
    for (vars, n) in p {
        let mut all = of_number(n);
        for v in vars {
            all = match known.iter().find(|(w, _)| w == v) {
                Some((_, value)) => product(&all, value)?,
                None => product(&all, &BTreeMap::from([(vec![*v], Int::ONE)]))?,
            };
        }
        out = sum(out, all, &Int::ONE);
        if out.len() > PRODUCTS {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::Span;

    fn int(kind: ExprKind) -> Expr {
        Expr { kind, ty: Type::Integer, span: Span::default() }
    }
    fn var(n: u32) -> Expr {
        int(ExprKind::Var(VarId(n)))
    }
    fn num(n: i64) -> Expr {
        int(ExprKind::Int(Int::from(n)))
    }
    fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
        int(ExprKind::Binary(op, Box::new(a), Box::new(b)))
    }
    fn rel(op: RelOp, a: Expr, b: Expr) -> Pred {
        Pred { kind: PredKind::Rel(op, a, b), span: Span::default() }
    }

    /// `z=y+1 & a=z-1 & r=3*a & q=3*y`, then what is given.
    fn equal_terms(last: Pred) -> bool {
        let (y, z, a, r, q) = (var(1), var(2), var(3), var(4), var(5));
        let preds = [
            rel(RelOp::Equal, z.clone(), bin(BinOp::Add, y.clone(), num(1))),
            rel(RelOp::Equal, a.clone(), bin(BinOp::Sub, z, num(1))),
            rel(RelOp::Equal, r, bin(BinOp::Mul, num(3), a)),
            rel(RelOp::Equal, q, bin(BinOp::Mul, num(3), y)),
            last,
        ];
        let vars: Vec<VarId> = (1..=5).map(VarId).collect();
        let preds: Vec<&Pred> = preds.iter().collect();
        contradict(&preds, &vars)
    }

    #[test]
    fn terms_that_are_equal_by_substitution_do_not_differ() {
        assert!(equal_terms(rel(RelOp::NotEqual, var(4), var(5))));
        assert!(equal_terms(rel(RelOp::Less, var(4), var(5))));
        assert!(equal_terms(rel(RelOp::Less, bin(BinOp::Add, var(4), num(1)), var(5))));
    }

    #[test]
    fn terms_that_are_equal_by_substitution_are_equal() {
        assert!(!equal_terms(rel(RelOp::Equal, var(4), var(5))));
        assert!(!equal_terms(rel(RelOp::LessEqual, var(4), var(5))));
        // r = q, so r < q+1 holds: one more than what is refuted above.
        assert!(!equal_terms(rel(RelOp::Less, var(4), bin(BinOp::Add, var(5), num(1)))));
    }

    #[test]
    fn an_equation_of_a_variable_with_itself_is_no_definition() {
        let preds = [
            rel(RelOp::Equal, var(1), bin(BinOp::Mul, var(1), var(1))),
            rel(RelOp::Equal, var(2), bin(BinOp::Add, var(1), num(1))),
            rel(RelOp::NotEqual, var(2), num(1)),
        ];
        let vars = [VarId(1), VarId(2)];
        let preds: Vec<&Pred> = preds.iter().collect();
        // 1 is a solution: x1 = 1, x2 = 2.
        assert!(!contradict(&preds, &vars));
    }
}
