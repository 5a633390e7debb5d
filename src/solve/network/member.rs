//! Membership of terms in sets that need not be listed: intervals, powersets, sets of functions.
//!
//! In: a term and a set, as a value or as an expression. Out: a literal.

use crate::enumerate::FunctionSpace;
use crate::env::Env;
use crate::solve::finite_domains::Lit;
use crate::solve::network::expr::split;
use crate::solve::network::guards::Guards;
use crate::solve::network::term::{Elems, Term};
use crate::solve::network::{Builder, Built, Halt};
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, UnOp};
use bombus_lang::value::{Base, Symbolic, Value};

/// Rows that are compared pair by pair.
const PAIRWISE: usize = 1 << 8;

/// What the images of a function must lie in.
enum Target<'a> {
    Value(&'a Value),
    Elems(Elems),
}

impl Builder<'_, '_> {
    /// Membership in a set that has a value whatever the unknowns are.
    pub(crate) fn inside(&mut self, env: &mut Env, t: &Term, set: &Expr) -> Built<Lit> {
        let mut guards = Guards::default();
        let lit = self.inside_expr(env, t, set, &mut guards)?;
        if self.all(&guards) == Lit::TRUE { Ok(lit) } else { Err(Halt::Opaque) }
    }

    pub(crate) fn inside_expr(
        &mut self,
        env: &mut Env,
        t: &Term,
        set: &Expr,
        guards: &mut Guards,
    ) -> Built<Lit> {
        if self.is_ground(set) {
            let value = self.interp.eval_lazy(env, set)?;
            return self.inside_value(env, t, &value);
        }
        match &set.kind {
            ExprKind::Binary(BinOp::Interval, a, b) => {
                let x = self.number(t)?;
                let (low, high) = (self.term(env, a, guards)?, self.term(env, b, guards)?);
                let (low, high) = (self.number(&low)?, self.number(&high)?);
                let (above, below) =
                    (self.at_most_zero(&low.minus(&x)?)?, self.at_most_zero(&x.minus(&high)?)?);
                Ok(self.and([above, below]))
            }
            // An operand must be defined at all points, not only at the one in question.
            ExprKind::Binary(BinOp::Union | BinOp::Inter | BinOp::SetMinus | BinOp::Cartesian, a, b)
                if is_partial_comprehension(a) || is_partial_comprehension(b) =>
            {
                Err(Halt::Opaque)
            }
            ExprKind::Binary(op @ (BinOp::Union | BinOp::Inter | BinOp::SetMinus), a, b) => {
                let x = self.inside_expr(env, t, a, guards)?;
                let y = self.inside_expr(env, t, b, guards)?;
                Ok(match op {
                    BinOp::Union => self.or([x, y]),
                    BinOp::Inter => self.and([x, y]),
                    _ => self.and([x, !y]),
                })
            }
            ExprKind::Binary(BinOp::Cartesian, a, b) => {
                let (x, y) = split(t)?;
                let (l, r) = (self.inside_expr(env, &x, a, guards)?, self.inside_expr(env, &y, b, guards)?);
                Ok(self.and([l, r]))
            }
            ExprKind::Unary(UnOp::Pow | UnOp::Fin, a) => {
                let s = self.term(env, a, guards)?;
                let (x, s) = (self.elements(env, t)?, self.elements(env, &s)?);
                self.included(env, &x, &s)
            }
            ExprKind::Binary(op, a, b) if FunctionSpace::of_arrow(*op, &[], None).is_some() => {
                let (points, images) = (self.term(env, a, guards)?, self.term(env, b, guards)?);
                let (points, images) = (self.elements(env, &points)?, self.elements(env, &images)?);
                self.inside_arrow(env, t, *op, &points, Target::Elems(images))
            }
            _ => {
                let s = self.term(env, set, guards)?;
                let s = self.elements(env, &s)?;
                self.member(env, t, &s)
            }
        }
    }

    pub(crate) fn inside_value(&mut self, env: &mut Env, t: &Term, set: &Value) -> Built<Lit> {
        if let Term::Known(x) = t {
            return Ok(if self.interp.member(env, x, set)? { Lit::TRUE } else { Lit::FALSE });
        }
        let symbolic = match set {
            Value::Symbolic(s) => s.clone(),
            _ => {
                let elems = self.elements(env, &Term::Known(set.clone()))?;
                return self.member(env, t, &elems);
            }
        };
        match &*symbolic {
            Symbolic::Base(Base::Integer) => Ok(Lit::TRUE),
            Symbolic::Base(base @ (Base::Natural | Base::Natural1)) => {
                let x = self.number(t)?;
                let least = i64::from(*base == Base::Natural1);
                self.at_most_zero(&crate::solve::network::term::Lin::number(least).minus(&x)?)
            }
            Symbolic::Interval(a, b) => {
                let x = self.number(t)?;
                match (a.small(), b.small()) {
                    (Some(a), Some(b)) if a.abs() < 1 << 40 && b.abs() < 1 << 40 => self.between(&x, a, b),
                    _ => Err(Halt::Opaque),
                }
            }
            Symbolic::Unary(UnOp::Pow | UnOp::Fin, a) => self.part_of_value(env, t, a),
            Symbolic::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1), a) => {
                self.inside_sequences(env, t, *op, a)
            }
            Symbolic::Binary(BinOp::Cartesian, a, b) => {
                let (x, y) = split(t)?;
                let (l, r) = (self.inside_value(env, &x, a)?, self.inside_value(env, &y, b)?);
                Ok(self.and([l, r]))
            }
            Symbolic::Binary(op, a, b) if FunctionSpace::of_arrow(*op, &[], None).is_some() => {
                let points = self.elements(env, &Term::Known(a.clone()))?;
                self.inside_arrow(env, t, *op, &points, Target::Value(b))
            }
            _ => {
                let elems = self.elements(env, &Term::Known(set.clone()))?;
                self.member(env, t, &elems)
            }
        }
    }

    /// Whether all elements of a term lie in a set.
    pub(crate) fn part_of_value(&mut self, env: &mut Env, t: &Term, set: &Value) -> Built<Lit> {
        let elems = self.elements(env, t)?;
        let mut lits = Vec::with_capacity(elems.len());
        for (e, lit) in elems.iter() {
            let inside = self.inside_value(env, e, set)?;
            lits.push(self.or([!*lit, inside]));
        }
        Ok(self.and(lits))
    }

    fn inside_arrow(
        &mut self,
        env: &mut Env,
        t: &Term,
        op: BinOp,
        points: &Elems,
        target: Target,
    ) -> Built<Lit> {
        let Some(space) = FunctionSpace::of_arrow(op, &[], None) else { return Err(Halt::Opaque) };
        let onto = matches!(
            op,
            BinOp::PartialSurjection
                | BinOp::TotalSurjection
                | BinOp::PartialBijection
                | BinOp::TotalBijection
        );
        let elems = self.elements(env, t)?;
        let mut rows = Vec::with_capacity(elems.len());
        for (e, lit) in elems.iter() {
            let (x, y) = split(e)?;
            rows.push((x, y, *lit));
        }
        let mut lits = Vec::new();
        for (x, y, lit) in &rows {
            let from = self.member(env, x, points)?;
            let to = match &target {
                Target::Value(set) => self.inside_value(env, y, set)?,
                Target::Elems(elems) => self.member(env, y, elems)?,
            };
            let both = self.and([from, to]);
            lits.push(self.or([!*lit, both]));
        }
        // Rows of a function term have different points already.
        let functional = matches!(t, Term::Func(_));
        if (!functional || space.injective) && rows.len() > PAIRWISE {
            return Err(Halt::Opaque);
        }
        for (i, (x, y, lit)) in rows.iter().enumerate() {
            for (z, w, other) in &rows[..i] {
                if !functional {
                    let (same, image) = (self.equal(env, x, z)?, self.equal(env, y, w)?);
                    lits.push(self.or([!*lit, !*other, !same, image]));
                }
                if space.injective {
                    let (same, point) = (self.equal(env, y, w)?, self.equal(env, x, z)?);
                    lits.push(self.or([!*lit, !*other, !same, point]));
                }
            }
        }
        let covers = |this: &mut Self, env: &mut Env, wanted: &Elems, left: bool, lits: &mut Vec<Lit>| {
            for (e, inside) in wanted.iter() {
                let mut some = vec![!*inside];
                for (x, y, lit) in &rows {
                    let same = this.equal(env, if left { x } else { y }, e)?;
                    some.push(this.and([*lit, same]));
                }
                lits.push(this.or(some));
            }
            Ok::<(), Halt>(())
        };
        if space.total {
            covers(self, env, points, true, &mut lits)?;
        }
        if onto {
            let images = match &target {
                Target::Value(set) => self.elements(env, &Term::Known((*set).clone()))?,
                Target::Elems(elems) => elems.clone(),
            };
            covers(self, env, &images, false, &mut lits)?;
        }
        Ok(self.and(lits))
    }
}

/// Whether a set is a comprehension that may be undefined at some point.
fn is_partial_comprehension(set: &Expr) -> bool {
    matches!(set.kind, ExprKind::Compr(..) | ExprKind::Big(..)) && may_be_undefined(set)
}
