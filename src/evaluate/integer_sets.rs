//! Sets of integers as unions of intervals, each possibly without end.
//!
//! In: a set of integers in symbolic form (NATURAL, intervals, listed sets, unions, intersections, differences,
//! comprehensions over comparisons with known numbers, and domains of such). Out: its normal form, in which
//! inclusion, equality and finiteness are decided by comparing ends. A set of another form has none.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Base, ClosureKind, Symbolic, Value};

/// Longer lists are left as they are.
const LISTED: usize = 1 << 16;

/// Sets of more intervals are not followed backwards through a polynomial.
const PIECES: usize = 1 << 8;

/// Invariant: not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    /// `None` is no end.
    low: Option<Int>,
    high: Option<Int>,
}

/// Invariant: sorted, and between two neighbours at least one integer is missing; so the form of a set is unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spans(Vec<Span>);

impl Spans {
    fn all() -> Spans {
        Spans(vec![Span { low: None, high: None }])
    }

    fn of(low: Option<Int>, high: Option<Int>) -> Spans {
        match (&low, &high) {
            (Some(l), Some(h)) if l > h => Spans(Vec::new()),
            _ => Spans(vec![Span { low, high }]),
        }
    }

    pub(crate) fn complement(&self) -> Spans {
        let mut out = Vec::new();
        // The first integer that is not decided yet; `None` at the very beginning is "from -infinity".
        let mut from: Option<Int> = None;
        let mut open = true;
        for (i, span) in self.0.iter().enumerate() {
            match &span.low {
                Some(low) => {
                    out.push(Span { low: from.clone(), high: Some(low.sub(&Int::ONE)) });
                }
                None => debug_assert!(i == 0, "only the first span has no lower end"),
            }
            match &span.high {
                Some(high) => from = Some(high.add(&Int::ONE)),
                None => open = false,
            }
        }
        if open {
            out.push(Span { low: from, high: None });
        }
        Spans(out)
    }

    pub(crate) fn inter(&self, other: &Spans) -> Spans {
        let mut out = Vec::new();
        for a in &self.0 {
            for b in &other.0 {
                let low = match (&a.low, &b.low) {
                    (Some(x), Some(y)) => Some(x.max(y).clone()),
                    (x, y) => x.clone().or_else(|| y.clone()),
                };
                let high = match (&a.high, &b.high) {
                    (Some(x), Some(y)) => Some(x.min(y).clone()),
                    (x, y) => x.clone().or_else(|| y.clone()),
                };
                out.extend(Spans::of(low, high).0);
            }
        }
        Spans(out)
    }

    pub(crate) fn union(&self, other: &Spans) -> Spans {
        self.complement().inter(&other.complement()).complement()
    }

    pub(crate) fn is_subset(&self, other: &Spans) -> bool {
        self.inter(&other.complement()).0.is_empty()
    }

    /// The least interval around all; `None` for the empty set.
    pub(crate) fn hull(&self) -> Option<(Option<Int>, Option<Int>)> {
        Some((self.0.first()?.low.clone(), self.0.last()?.high.clone()))
    }

    /// The elements, if they are not many.
    pub(crate) fn listed(&self) -> Option<Value> {
        let mut out = Vec::new();
        for span in &self.0 {
            let (low, high) = (span.low.as_ref()?.small()?, span.high.as_ref()?.small()?);
            if usize::try_from(high.checked_sub(low)?).ok()? >= LISTED - out.len() {
                return None;
            }
            out.extend((low..=high).map(Value::int));
        }
        Some(Value::sorted_set(out))
    }

    /// One element, the same for equal sets: the least one, or the greatest, or the first that is not negative.
    pub(crate) fn choice(&self) -> Option<Int> {
        let (low, high) = self.hull()?;
        low.or(high).or_else(|| self.inter(&Spans::of(Some(Int::ZERO), None)).hull()?.0)
    }

    /// The elements, if there are at most so many.
    pub(crate) fn points(&self, most: usize) -> Option<Vec<Int>> {
        let mut out = Vec::new();
        for span in &self.0 {
            let (mut at, high) = (span.low.clone()?, span.high.as_ref()?);
            while at <= *high {
                if out.len() == most {
                    return None;
                }
                out.push(at.clone());
                at = at.add(&Int::ONE);
            }
        }
        Some(out)
    }

    /// The set with these elements.
    pub(crate) fn of_points(points: impl IntoIterator<Item = Int>) -> Spans {
        let none = Spans(Vec::new());
        points.into_iter().fold(none, |set, n| set.union(&Spans::of(Some(n.clone()), Some(n))))
    }

    /// The integers x for which `factor*x + shift` lies in the set: the ends of an interval are divided and rounded
    /// inwards.
    pub(crate) fn preimage(&self, factor: &Int, shift: &Int) -> Spans {
        if factor.is_zero() {
            let point = Spans::of(Some(shift.clone()), Some(shift.clone()));
            return if point.is_subset(self) { Spans::all() } else { Spans(Vec::new()) };
        }
        let one = |span: &Span| {
            let moved = |end: &Option<Int>| end.as_ref().map(|n| n.sub(shift));
            let (low, high) = match factor.is_negative() {
                false => (moved(&span.low), moved(&span.high)),
                true => (moved(&span.high).map(|n| n.neg()), moved(&span.low).map(|n| n.neg())),
            };
            let size = if factor.is_negative() { factor.neg() } else { factor.clone() };
            let up = |n: Int| floor(&n.neg(), &size).neg();
            Spans::of(low.map(up), high.map(|n| floor(&n, &size)))
        };
        self.0.iter().fold(Spans(Vec::new()), |set, span| set.union(&one(span)))
    }

    /// The ends of the intervals, in order.
    pub(crate) fn ends(&self) -> Vec<(Option<Int>, Option<Int>)> {
        self.0.iter().map(|span| (span.low.clone(), span.high.clone())).collect()
    }

    /// The set between two ends.
    pub(crate) fn between(low: Option<Int>, high: Option<Int>) -> Spans {
        Spans::of(low, high)
    }
}

impl Interpreter<'_> {
    /// The normal form of a set of integers, if it has one.
    pub(crate) fn spans(&self, env: &mut Env, v: &Value) -> Res<Option<Spans>> {
        let s = match v {
            Value::Set(elems) if elems.len() <= LISTED => {
                let mut out: Vec<Span> = Vec::new();
                for x in elems.iter() {
                    let Value::Int(n) = x else { return Ok(None) };
                    match out.last_mut() {
                        Some(last) if last.high.as_ref().is_some_and(|h| h.add(&Int::ONE) == *n) => {
                            last.high = Some(n.clone());
                        }
                        _ => out.push(Span { low: Some(n.clone()), high: Some(n.clone()) }),
                    }
                }
                return Ok(Some(Spans(out)));
            }
            Value::Symbolic(s) => s,
            _ => return Ok(None),
        };
        Ok(match &**s {
            Symbolic::Base(Base::Integer) => Some(Spans::all()),
            Symbolic::Base(Base::Natural) => Some(Spans::of(Some(Int::ZERO), None)),
            Symbolic::Base(Base::Natural1) => Some(Spans::of(Some(Int::ONE), None)),
            Symbolic::Interval(a, b) => Some(Spans::of(Some(a.clone()), Some(b.clone()))),
            Symbolic::Binary(op @ (BinOp::Union | BinOp::Inter | BinOp::SetMinus), a, b) => {
                match (self.spans(env, a)?, self.spans(env, b)?) {
                    (Some(a), Some(b)) => Some(match op {
                        BinOp::Union => a.union(&b),
                        BinOp::Inter => a.inter(&b),
                        _ => a.inter(&b.complement()),
                    }),
                    _ => None,
                }
            }
            Symbolic::Unary(UnOp::Dom, r) => match self.affine(env, r)? {
                Some(f) => Some(f.domain),
                None => self.spans_of_domain(env, r, 1)?,
            },
            Symbolic::Unary(UnOp::Ran, r) => self.affine(env, r)?.and_then(|f| f.range()),
            // The images of a set are the range of the function on that set.
            Symbolic::Binary(BinOp::Image, r, set) => {
                let restricted = Symbolic::Binary(BinOp::DomRestrict, set.clone(), r.clone());
                self.affine(env, &Value::symbolic(restricted))?.and_then(|f| f.range())
            }
            Symbolic::Closure(c) if c.code.kind == ClosureKind::Set => {
                match (&c.code.vars[..], &c.code.types[..]) {
                    ([var], [Type::Integer]) => {
                        let var = *var;
                        self.with_captured(env, c, &mut |this, env| {
                            this.spans_of_pred(env, &c.code.pred, var)
                        })?
                    }
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The first components of a comprehension of tuples, `dropped` others being taken away: each of these must have
    /// a value whatever the first is, because an equation gives it one or because nothing else speaks of it.
    fn spans_of_domain(&self, env: &mut Env, r: &Value, dropped: usize) -> Res<Option<Spans>> {
        let Value::Symbolic(s) = r else { return Ok(None) };
        let c = match &**s {
            Symbolic::Unary(UnOp::Dom, r) => return self.spans_of_domain(env, r, dropped + 1),
            Symbolic::Closure(c) if c.code.kind == ClosureKind::Set => c,
            _ => return Ok(None),
        };
        let ([first, rest @ ..], Some(Type::Integer)) = (&c.code.vars[..], c.code.types.first()) else {
            return Ok(None);
        };
        if rest.len() != dropped {
            return Ok(None);
        }
        let mut left = c.code.pred.conjuncts();
        self.with_captured(env, c, &mut |this, env| {
            for v in rest.iter().rev() {
                let (about, others): (Vec<&Pred>, Vec<&Pred>) =
                    left.iter().copied().partition(|p| bombus_lang::free::of_pred(p).contains(v));
                if !this.has_some_value(env, &about, *v, &c.code.vars)? {
                    return Ok(None);
                }
                left = others;
            }
            let mut spans = Spans::all();
            for p in &left {
                let Some(s) = this.spans_of_pred(env, p, *first)? else { return Ok(None) };
                spans = spans.inter(&s);
            }
            Ok(Some(spans))
        })
    }

    /// Whether some value of `v` satisfies all of these, whatever the other variables are.
    fn has_some_value(&self, env: &mut Env, about: &[&Pred], v: VarId, vars: &[VarId]) -> Res<bool> {
        let is_v = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
        let defines = |p: &Pred| match &p.kind {
            PredKind::Rel(RelOp::Equal, a, b) => {
                (is_v(a) && is_polynomial(b, v)) || (is_v(b) && is_polynomial(a, v))
            }
            _ => false,
        };
        let types = |p: &Pred| match &p.kind {
            PredKind::Rel(RelOp::In, a, b) => is_v(a) && matches!(b.kind, ExprKind::TypeSet(_)),
            _ => false,
        };
        let tight: Vec<&&Pred> = about.iter().filter(|p| !types(p)).collect();
        if let [equation] = tight[..]
            && defines(equation)
        {
            return Ok(true);
        }
        let mut spans = Spans::all();
        for p in tight {
            if bombus_lang::free::of_pred(p).iter().any(|w| *w != v && vars.contains(w)) {
                return Ok(false);
            }
            let Some(s) = self.spans_of_pred(env, p, v)? else { return Ok(false) };
            spans = spans.inter(&s);
        }
        Ok(spans.hull().is_some())
    }

    /// The integers for which a predicate about `var` alone holds, everything else in it being known.
    pub(crate) fn spans_of_pred(&self, env: &mut Env, p: &Pred, var: VarId) -> Res<Option<Spans>> {
        let fold = |this: &Self, env: &mut Env, ps: &[&Pred], all: bool| -> Res<Option<Spans>> {
            let mut out: Option<Spans> = None;
            for q in ps {
                let Some(s) = this.spans_of_pred(env, q, var)? else { return Ok(None) };
                out = Some(match out {
                    None => s,
                    Some(before) if all => before.inter(&s),
                    Some(before) => before.union(&s),
                });
            }
            Ok(out)
        };
        // What does not speak of the variable holds for all integers or for none.
        if !bombus_lang::free::mentions_in(p, &|v| v == var) {
            return match self.holds(env, p) {
                Ok(true) => Ok(Some(Spans::all())),
                Ok(false) => Ok(Some(Spans(Vec::new()))),
                Err(e) if e.is_stop() => Err(e),
                Err(_) => Ok(None),
            };
        }
        Ok(match &p.kind {
            PredKind::And(ps) => fold(self, env, &ps.iter().collect::<Vec<_>>(), true)?,
            PredKind::Or(ps) => fold(self, env, &ps.iter().collect::<Vec<_>>(), false)?,
            PredKind::Label(_, q) => self.spans_of_pred(env, q, var)?,
            PredKind::Not(q) => self.spans_of_pred(env, q, var)?.map(|s| s.complement()),
            PredKind::Implies(a, b) => {
                match (self.spans_of_pred(env, a, var)?, self.spans_of_pred(env, b, var)?) {
                    (Some(a), Some(b)) => Some(a.complement().union(&b)),
                    _ => None,
                }
            }
            PredKind::Iff(a, b) => match (self.spans_of_pred(env, a, var)?, self.spans_of_pred(env, b, var)?)
            {
                (Some(a), Some(b)) => Some(a.inter(&b).union(&a.complement().inter(&b.complement()))),
                _ => None,
            },
            PredKind::Rel(op, a, b) => self.spans_of_relation(env, *op, a, b, var)?,
            _ => None,
        })
    }

    /// Where a comparison or membership with a polynomial of one variable holds. Every other part must have a value, so the
    /// comparison has one for every value of the variable.
    fn spans_of_relation(
        &self,
        env: &mut Env,
        op: RelOp,
        a: &Expr,
        b: &Expr,
        var: VarId,
    ) -> Res<Option<Spans>> {
        let Some(left) = self.polynomial_in(env, a, var)? else { return Ok(None) };
        if let RelOp::In | RelOp::NotIn = op {
            if bombus_lang::free::mentions(b, &|v| v == var) {
                return Ok(None);
            }
            let set = match self.eval_lazy(env, b) {
                Ok(set) => set,
                Err(e) if e.is_stop() => return Err(e),
                Err(_) => return Ok(None),
            };
            let Some(spans) = self.spans(env, &set)? else { return Ok(None) };
            let is_plain = matches!(a.kind, ExprKind::Var(v) if v == var);
            if !is_plain && spans.0.len() > PIECES {
                return Ok(None);
            }
            let inside = if is_plain {
                spans
            } else {
                let part = |span: &Span| left.between(span.low.as_ref(), span.high.as_ref());
                spans.0.iter().fold(Spans(Vec::new()), |set, span| set.union(&part(span)))
            };
            return Ok(Some(if op == RelOp::In { inside } else { inside.complement() }));
        }
        let Some(right) = self.polynomial_in(env, b, var)? else { return Ok(None) };
        let difference = left.minus(&right);
        let (zero, one) = (Int::ZERO, Int::ONE);
        Ok(Some(match op {
            RelOp::Equal => difference.between(Some(&zero), Some(&zero)),
            RelOp::NotEqual => difference.between(Some(&zero), Some(&zero)).complement(),
            RelOp::Less => difference.between(None, Some(&one.neg())),
            RelOp::LessEqual => difference.between(None, Some(&zero)),
            RelOp::Greater => difference.between(Some(&one), None),
            RelOp::GreaterEqual => difference.between(Some(&zero), None),
            _ => return Ok(None),
        }))
    }
}

/// The quotient by a positive number, rounded down.
fn floor(n: &Int, by: &Int) -> Int {
    let quotient = n.div(by).expect("the divisor is positive");
    if n.is_negative() && quotient.mul(by) != *n { quotient.sub(&Int::ONE) } else { quotient }
}

/// Whether an expression has a value whatever its variables are, and does not depend on `v`.
fn is_polynomial(e: &Expr, v: VarId) -> bool {
    match &e.kind {
        ExprKind::Int(_) => true,
        ExprKind::Var(w) => *w != v,
        ExprKind::Unary(UnOp::Neg, a) => is_polynomial(a, v),
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
            is_polynomial(a, v) && is_polynomial(b, v)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(low: Option<i64>, high: Option<i64>) -> Spans {
        Spans::of(low.map(Int::from), high.map(Int::from))
    }

    #[test]
    fn the_complement_of_the_complement_is_the_set() {
        for s in [
            Spans::all(),
            Spans(Vec::new()),
            span(Some(0), None),
            span(None, Some(3)),
            span(Some(1), Some(2)),
        ] {
            assert_eq!(s.complement().complement(), s);
            assert_eq!(s.union(&s.complement()), Spans::all());
            assert!(s.inter(&s.complement()).0.is_empty());
        }
    }

    #[test]
    fn neighbouring_intervals_are_one() {
        let both = span(Some(0), Some(3)).union(&span(Some(4), Some(9)));
        assert_eq!(both, span(Some(0), Some(9)));
        assert!(both.is_subset(&span(Some(0), None)));
        assert!(!both.is_subset(&span(Some(1), None)));
    }
}
