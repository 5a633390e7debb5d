//! Bounds of one function: what conjuncts say about all its images, its domain and its range.
//!
//! In: conjuncts about a function. Out: equations, and smaller sets of functions.

use super::{Site, binary, has_value, is, mentions, rel, var};
use bombus_oracle::tree::{BigOp, BinOp, Expr, Pred, RelOp, UnOp, Var};

/// The sets of a conjunct `f : A --> B` and its kin, if the functions are total.
fn total<'p>(site: &Site<'p>) -> Option<(&'p Expr, &'p Expr)> {
    arrow(site).filter(|(op, ..)| op.arrow().is_some_and(|a| a.functional && a.total)).map(|(_, a, b)| (a, b))
}

/// A conjunct `f : A op B` with sets of relations.
fn arrow<'p>(site: &Site<'p>) -> Option<(BinOp, &'p Expr, &'p Expr)> {
    site.all.iter().find_map(|p| match p {
        Pred::Rel(RelOp::In, f, Expr::Binary(op, a, b))
            if is(f, site.name) && (op.arrow().is_some() || *op == BinOp::Relation) =>
        {
            let own = !mentions(&**a, site.name) && !mentions(&**b, site.name);
            own.then_some((*op, &**a, &**b))
        }
        _ => None,
    })
}

/// The two sides of `f(a) = e`.
fn image<'p>(site: &Site, p: &'p Pred) -> Option<(&'p Expr, &'p Expr)> {
    let side = |a: &'p Expr, e: &'p Expr| match a {
        Expr::Apply(f, x) | Expr::ApplyWhole(f, x) if is(f, site.name) => {
            (!mentions(&**x, site.name) && !mentions(e, site.name)).then_some((&**x, e))
        }
        _ => None,
    };
    let Pred::Rel(RelOp::Equal, a, b) = p else { return None };
    side(a, b).or_else(|| side(b, a))
}

/// What a conjunct says about images: under bound variables and a condition, the image of x is e.
struct Told<'p> {
    vars: &'p [Var],
    under: Vec<&'p Pred>,
    x: &'p Expr,
    e: &'p Expr,
}

/// `f(x) = e`, or `!y.(P => f(x) = e)`, where P, x and e do not read f.
fn told<'p>(site: &Site, p: &'p Pred) -> Option<Told<'p>> {
    let (vars, mut body) = match p {
        Pred::Forall(vars, body) => (&vars[..], body.bare()),
        p => (&[][..], p),
    };
    let mut under = Vec::new();
    while let (Pred::Implies(left, right), false) = (body, vars.is_empty()) {
        under.push(&**left);
        body = right.bare();
    }
    let own = |p: &&Pred| !mentions(*p, site.name);
    let (x, e) = image(site, body)?;
    (under.iter().all(own) && vars.iter().all(|v| v.0 != *site.name)).then_some(Told { vars, under, x, e })
}

/// `f : A --> B` with equations for the images of all elements of A says what f is: the pairs that are told. If f is another
/// function of `A --> B`, some pair that is told is none of f, and its equation is false; if a condition or an image has no
/// value, the conjunct that it comes from has none, or is false. Where A or B has no value, nothing is said.
pub fn by_images(site: &Site) -> Vec<Pred> {
    let Some((a, b)) = total(site) else { return Vec::new() };
    let names = |t: &Told| t.vars.iter().any(|v| mentions(a, &v.0));
    let all: Vec<Told> = site.all.iter().filter_map(|p| told(site, p)).filter(|t| !names(t)).collect();
    let set = |t: &Told, e: Expr| {
        let under = || Pred::And(t.under.iter().map(|p| (*p).clone()).collect());
        match t.vars {
            [] => Expr::Set(vec![e]),
            vars => Expr::Big(BigOp::SetOf, vars.to_vec(), Box::new(under()), Box::new(e)),
        }
    };
    let union = |sets: Vec<Expr>| sets.into_iter().reduce(|s, t| binary(BinOp::Union, &s, &t));
    let Some(points) = union(all.iter().map(|t| set(t, t.x.clone())).collect()) else {
        return Vec::new();
    };
    let pair = |t: &Told| {
        let pair = Expr::Pair(Box::new(t.x.clone()), Box::new(t.e.clone()));
        binary(BinOp::DomRestrict, a, &set(t, pair))
    };
    let f = union(all.iter().map(pair).collect()).unwrap_or(Expr::Set(Vec::new()));
    let known = Pred::And(vec![has_value(b), rel(RelOp::Subset, a.clone(), points)]);
    vec![Pred::Implies(Box::new(known), Box::new(rel(RelOp::Equal, var(site.name), f)))]
}

/// `dom(f)` or `ran(f)` in a conjunct, with the set that it equals or that holds it.
fn side<'p>(site: &Site<'p>, wanted: UnOp) -> Option<(&'p Expr, bool)> {
    let own = |e: &Expr| matches!(e, Expr::Unary(op, f) if *op == wanted && is(f, site.name));
    site.all.iter().find_map(|p| match p {
        Pred::Rel(RelOp::Equal, a, b) if own(a) && !mentions(b, site.name) => Some((b, true)),
        Pred::Rel(RelOp::Equal, a, b) if own(b) && !mentions(a, site.name) => Some((a, true)),
        Pred::Rel(RelOp::Subset, a, b) if own(a) && !mentions(b, site.name) => Some((b, false)),
        _ => None,
    })
}

/// `f : A +-> B` and `dom(f) = C` say `f : C --> B`, if A has a value; ranges and relations likewise.
pub fn between(site: &Site) -> Vec<Pred> {
    let (Some((op, a, b)), dom, ran) = (arrow(site), side(site, UnOp::Dom), side(site, UnOp::Ran)) else {
        return Vec::new();
    };
    if dom.is_none() && ran.is_none() {
        return Vec::new();
    }
    let functional = op.arrow().is_some_and(|a| a.functional);
    let exact = dom.map_or(op.arrow().is_some_and(|a| a.total), |d| d.1);
    let op = match (functional, exact) {
        (true, true) => BinOp::TotalFunction,
        (true, false) => BinOp::PartialFunction,
        (false, _) => BinOp::Relation,
    };
    let set = binary(op, dom.map_or(a, |d| d.0), ran.map_or(b, |r| r.0));
    let values = Pred::And(vec![has_value(a), has_value(b)]);
    vec![Pred::Implies(Box::new(values), Box::new(rel(RelOp::In, var(site.name), set)))]
}
