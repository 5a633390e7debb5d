//! Functions `x |-> a*x + b` on unions of intervals of integers, in one normal form.
//!
//! In: a relation in symbolic form: lambdas and comprehensions with a linear equation, identities, successors, and what
//! inversion, composition and restriction make of them. Out: the factor, the shift and the domain, by which inclusion,
//! equality, images and injectivity are decided. A relation of another form has none.
//!
//! Why it is right: two different linear functions agree in one point at most; the points that a linear function takes
//! into an interval are an interval, whose ends are quotients rounded inwards; with a factor of 1 or -1 the images of an
//! interval are one too, and the inverse is linear.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::integer_sets::Spans;
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::symbolic::FunctionKind;
use bombus_lang::value::{Base, Closure, ClosureKind, Symbolic, Value};

/// Longer functions are not looked at point by point.
const POINTS: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affine {
    pub(crate) domain: Spans,
    factor: Int,
    shift: Int,
}

impl Affine {
    fn new(domain: Spans, factor: Int, shift: Int) -> Affine {
        Affine { domain, factor, shift }
    }

    fn at(&self, x: &Int) -> Int {
        self.factor.mul(x).add(&self.shift)
    }

    fn is_unit(&self) -> bool {
        self.factor == Int::ONE || self.factor == Int::ONE.neg()
    }

    fn restricted(self, domain: &Spans) -> Affine {
        Affine { domain: self.domain.inter(domain), ..self }
    }

    /// The points that are taken into a set.
    fn points_into(&self, set: &Spans) -> Spans {
        self.domain.inter(&set.preimage(&self.factor, &self.shift))
    }

    /// The images of all points, where they are intervals again or few.
    pub(crate) fn range(&self) -> Option<Spans> {
        if self.is_unit() {
            // The inverse of `a*x + b` with a = 1/a is `a*y - a*b`.
            let back = self.factor.mul(&self.shift).neg();
            return Some(self.domain.preimage(&self.factor, &back));
        }
        if self.factor.is_zero() {
            let point = Spans::between(Some(self.shift.clone()), Some(self.shift.clone()));
            return Some(if self.domain.hull().is_some() { point } else { self.domain.clone() });
        }
        let points = self.domain.points(POINTS)?;
        Some(Spans::of_points(points.iter().map(|x| self.at(x))))
    }

    fn inverted(&self) -> Option<Affine> {
        if !self.is_unit() {
            return None;
        }
        let shift = self.factor.mul(&self.shift).neg();
        Some(Affine::new(self.range()?, self.factor.clone(), shift))
    }

    /// First this function, then another one.
    fn then(&self, next: &Affine) -> Affine {
        Affine {
            domain: self.points_into(&next.domain),
            factor: self.factor.mul(&next.factor),
            shift: next.at(&self.shift),
        }
    }

    /// Whether no two points have one image.
    pub(crate) fn is_injective(&self) -> bool {
        !self.factor.is_zero() || self.domain.points(1).is_some()
    }

    /// Whether all pairs of this function are pairs of the other one.
    fn is_part_of(&self, other: &Affine) -> bool {
        if !self.domain.is_subset(&other.domain) {
            return false;
        }
        if self.factor == other.factor && self.shift == other.shift {
            return true;
        }
        // They agree in one point at most.
        match self.domain.points(1) {
            Some(points) => points.iter().all(|x| self.at(x) == other.at(x)),
            None => false,
        }
    }

    fn pairs(&self) -> Option<Vec<Value>> {
        let pair = |x: Int| {
            let y = self.at(&x);
            Value::pair(Value::Int(x), Value::Int(y))
        };
        Some(self.domain.points(POINTS)?.into_iter().map(pair).collect())
    }
}

impl Interpreter<'_> {
    /// Whether a linear function lies in another set of pairs; `None` if `a` is none, or that is not known.
    pub(crate) fn affine_included(&self, env: &mut Env, a: &Value, b: &Value) -> Res<Option<bool>> {
        let Some(f) = self.affine(env, a)? else { return Ok(None) };
        if let Some(g) = self.affine(env, b)? {
            return Ok(Some(f.is_part_of(&g)));
        }
        if let Some(pairs) = f.pairs() {
            for pair in &pairs {
                match self.member(env, pair, b) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Some(false)),
                    Err(e) if e.is_stop() => return Err(e),
                    Err(_) => return Ok(None),
                }
            }
            return Ok(Some(true));
        }
        if let Value::Symbolic(s) = b
            && let Symbolic::Binary(BinOp::Cartesian, x, y) = &**s
            && let (Some(x), Some(y), Some(range)) = (self.spans(env, x)?, self.spans(env, y)?, f.range())
        {
            return Ok(Some(f.domain.is_subset(&x) && range.is_subset(&y)));
        }
        Ok(None)
    }

    /// The normal form of a relation between integers, if it has one.
    pub(crate) fn affine(&self, env: &mut Env, v: &Value) -> Res<Option<Affine>> {
        let Value::Symbolic(s) = v else { return Ok(None) };
        let whole = || Spans::between(None, None);
        Ok(match &**s {
            Symbolic::Base(Base::Function(kind, Type::Integer)) => match kind {
                FunctionKind::Succ => Some(Affine::new(whole(), Int::ONE, Int::ONE)),
                FunctionKind::Pred => Some(Affine::new(whole(), Int::ONE, Int::ONE.neg())),
                FunctionKind::Id => Some(Affine::new(whole(), Int::ONE, Int::ZERO)),
                FunctionKind::Prj1 | FunctionKind::Prj2 => None,
            },
            Symbolic::Unary(UnOp::Id, set) => {
                self.spans(env, set)?.map(|domain| Affine::new(domain, Int::ONE, Int::ZERO))
            }
            Symbolic::Unary(UnOp::Inverse, r) => self.affine(env, r)?.and_then(|f| f.inverted()),
            Symbolic::Binary(BinOp::Compose, r, s) => match (self.affine(env, r)?, self.affine(env, s)?) {
                (Some(f), Some(g)) => Some(f.then(&g)),
                _ => None,
            },
            Symbolic::Binary(op @ (BinOp::DomRestrict | BinOp::DomSubtract), set, r) => {
                self.restricted(env, *op, r, set)?
            }
            Symbolic::Binary(op @ (BinOp::RanRestrict | BinOp::RanSubtract), r, set) => {
                self.restricted(env, *op, r, set)?
            }
            Symbolic::Closure(c) => self.affine_closure(env, c)?,
            _ => None,
        })
    }

    fn restricted(&self, env: &mut Env, op: BinOp, r: &Value, set: &Value) -> Res<Option<Affine>> {
        let (Some(f), Some(set)) = (self.affine(env, r)?, self.spans(env, set)?) else { return Ok(None) };
        let domain = match op {
            BinOp::DomRestrict => set,
            BinOp::DomSubtract => set.complement(),
            BinOp::RanRestrict => f.points_into(&set),
            _ => f.points_into(&set.complement()),
        };
        Ok(Some(f.restricted(&domain)))
    }

    fn affine_closure(&self, env: &mut Env, c: &Closure) -> Res<Option<Affine>> {
        match (c.code.kind, &c.code.vars[..], &c.code.types[..], &c.code.body) {
            (ClosureKind::Lambda, [x], [Type::Integer], Some(body)) if body.ty == Type::Integer => self
                .with_captured(env, c, &mut |this, env| {
                    let Some((factor, shift)) = this.linear_in(env, body, *x)? else { return Ok(None) };
                    let domain = this.spans_of_pred(env, &c.code.pred, *x)?;
                    Ok(domain.map(|domain| Affine::new(domain, factor, shift)))
                }),
            (ClosureKind::Set, [x, y], [Type::Integer, Type::Integer], None) => {
                self.with_captured(env, c, &mut |this, env| {
                    let all = c.code.pred.conjuncts();
                    let there = this.linear_equation(env, &all, *x, *y)?;
                    if there.is_some() {
                        return Ok(there);
                    }
                    Ok(this.linear_equation(env, &all, *y, *x)?.and_then(|back| back.inverted()))
                })
            }
            _ => Ok(None),
        }
    }

    /// The function of which `y = a*x + b` is one of the conjuncts and the others speak of x or of y alone.
    fn linear_equation(&self, env: &mut Env, all: &[&Pred], x: VarId, y: VarId) -> Res<Option<Affine>> {
        let is_y = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if v == y);
        for (number, p) in all.iter().enumerate() {
            let PredKind::Rel(RelOp::Equal, left, right) = &p.kind else { continue };
            let body = match (is_y(left), is_y(right)) {
                (true, false) => right,
                (false, true) => left,
                _ => continue,
            };
            if free::mentions(body, &|v| v == y) {
                continue;
            }
            let Some((factor, shift)) = self.linear_in(env, body, x)? else { continue };
            let mut f = Affine::new(Spans::between(None, None), factor, shift);
            for (_, other) in all.iter().enumerate().filter(|(n, _)| *n != number) {
                let about = free::of_pred(other);
                let points = match (about.contains(&x), about.contains(&y)) {
                    (_, false) => self.spans_of_pred(env, other, x)?,
                    (false, true) => self.spans_of_pred(env, other, y)?.map(|set| f.points_into(&set)),
                    (true, true) => None,
                };
                let Some(points) = points else { return Ok(None) };
                f = f.restricted(&points);
            }
            return Ok(Some(f));
        }
        Ok(None)
    }

    /// Factor and shift of an expression that is linear in `x` and has a value for every x.
    pub(crate) fn linear_in(&self, env: &mut Env, e: &Expr, x: VarId) -> Res<Option<(Int, Int)>> {
        if !free::mentions(e, &|v| v == x) {
            return match self.eval(env, e) {
                Ok(Value::Int(n)) => Ok(Some((Int::ZERO, n))),
                Err(stop) if stop.is_stop() => Err(stop),
                _ => Ok(None),
            };
        }
        let parts = |a: &Expr, b: &Expr, env: &mut Env| -> Res<Option<[(Int, Int); 2]>> {
            match (self.linear_in(env, a, x)?, self.linear_in(env, b, x)?) {
                (Some(a), Some(b)) => Ok(Some([a, b])),
                _ => Ok(None),
            }
        };
        Ok(match &e.kind {
            ExprKind::Var(_) => Some((Int::ONE, Int::ZERO)),
            ExprKind::Unary(UnOp::Neg, a) => self.linear_in(env, a, x)?.map(|(f, s)| (f.neg(), s.neg())),
            ExprKind::Binary(BinOp::Add, a, b) => {
                parts(a, b, env)?.map(|[(f, s), (g, t)]| (f.add(&g), s.add(&t)))
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                parts(a, b, env)?.map(|[(f, s), (g, t)]| (f.sub(&g), s.sub(&t)))
            }
            ExprKind::Binary(BinOp::Mul, a, b) => match parts(a, b, env)? {
                Some([(f, s), (g, t)]) if f.is_zero() => Some((s.mul(&g), s.mul(&t))),
                Some([(f, s), (g, t)]) if g.is_zero() => Some((f.mul(&t), s.mul(&t))),
                _ => None,
            },
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::random::Random;

    struct Dice(Random);

    impl Dice {
        fn between(&mut self, low: i64, high: i64) -> i64 {
            self.0.between(low, high)
        }

        fn spans(&mut self) -> Spans {
            let low = self.between(-9, 9);
            let high = low + self.between(-1, 6);
            let end = |n: i64, open: bool| (!open).then(|| Int::from(n));
            let one = Spans::between(end(low, self.between(0, 3) == 0), end(high, self.between(0, 3) == 0));
            if self.between(0, 1) == 0 { one } else { one.complement() }
        }

        fn function(&mut self) -> Affine {
            let factor: i64 = [-2, -1, -1, 0, 1, 1, 1, 3][self.between(0, 7) as usize];
            Affine::new(self.spans(), Int::from(factor), Int::from(self.between(-4, 4)))
        }
    }

    const WINDOW: std::ops::RangeInclusive<i64> = -60..=60;

    fn holds(s: &Spans, n: i64) -> bool {
        let point = Spans::between(Some(Int::from(n)), Some(Int::from(n)));
        point.is_subset(s)
    }

    fn at(f: &Affine, n: i64) -> Option<i64> {
        holds(&f.domain, n).then(|| f.at(&Int::from(n)).small().expect("a small number"))
    }

    /// Ends and shifts stay within 30, so whatever two functions differ in shows in the window.
    #[test]
    fn operations_on_linear_functions_are_those_on_their_points() {
        let mut dice = Dice(Random(7));
        for _ in 0..1_000 {
            let (f, g, set) = (dice.function(), dice.function(), dice.spans());
            let composed = f.then(&g);
            let kept = f.clone().restricted(&f.points_into(&set));
            let range = f.range();
            for n in WINDOW {
                assert_eq!(at(&composed, n), at(&f, n).and_then(|m| at(&g, m)), "{f:?} then {g:?} at {n}");
                assert_eq!(at(&kept, n), at(&f, n).filter(|m| holds(&set, *m)), "{f:?} into {set:?} at {n}");
                if let (Some(m), Some(range)) = (at(&f, n), &range) {
                    assert!(holds(range, m), "{f:?} at {n}");
                }
                if let Some(back) = f.inverted()
                    && n.abs() < 40
                {
                    let forth = WINDOW.into_iter().find(|m| at(&f, *m) == Some(n));
                    assert_eq!(at(&back, n), forth, "inverse of {f:?} at {n}");
                }
            }
            let points = || WINDOW.filter(|n| at(&f, *n).is_some());
            let part = points().all(|n| at(&f, n) == at(&g, n));
            assert_eq!(f.is_part_of(&g), part, "{f:?} in {g:?}");
            let mut images: Vec<i64> = points().filter_map(|n| at(&f, n)).collect();
            let all = images.len();
            images.sort_unstable();
            images.dedup();
            assert_eq!(f.is_injective(), images.len() == all, "{f:?}");
        }
    }
}
