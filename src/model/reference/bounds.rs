//! Bounds of integer variables, from comparisons and memberships.
//!
//! In: the conjuncts still open and the variables still unknown. Out: for each variable bounded on
//! both sides the interval of its values. A few rounds of interval arithmetic; sound because every
//! rule only removes values that no solution has.

use super::Interpreter;
use super::env::Env;
use super::error::Res;
use super::solve::Item;
use crate::base::Int;
use crate::model::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, Type, UnOp, VarId};
use crate::model::value::{Base, Symbolic, Value};

/// Rounds of propagation; each can only tighten what the one before found.
const ROUNDS: usize = 3;

#[derive(Clone, Debug, Default)]
struct Range {
    low: Option<Int>,
    high: Option<Int>,
}

impl Range {
    fn point(n: Int) -> Range {
        Range { low: Some(n.clone()), high: Some(n) }
    }

    fn add(&self, other: &Range) -> Range {
        Range { low: both(&self.low, &other.low, Int::add), high: both(&self.high, &other.high, Int::add) }
    }

    fn neg(&self) -> Range {
        Range { low: self.high.as_ref().map(Int::neg), high: self.low.as_ref().map(Int::neg) }
    }

    fn meet(&mut self, other: &Range) {
        if let Some(low) = &other.low
            && self.low.as_ref().is_none_or(|l| l < low)
        {
            self.low = Some(low.clone());
        }
        if let Some(high) = &other.high
            && self.high.as_ref().is_none_or(|h| h > high)
        {
            self.high = Some(high.clone());
        }
    }

    fn is_empty(&self) -> bool {
        matches!((&self.low, &self.high), (Some(l), Some(h)) if l > h)
    }
}

fn both(a: &Option<Int>, b: &Option<Int>, f: impl Fn(&Int, &Int) -> Int) -> Option<Int> {
    Some(f(a.as_ref()?, b.as_ref()?))
}

struct Table<'a> {
    unknown: &'a [VarId],
    ranges: Vec<Range>,
}

impl Table<'_> {
    fn index(&self, v: VarId) -> Option<usize> {
        self.unknown.iter().position(|w| *w == v)
    }
}

impl Interpreter<'_> {
    /// Intervals of the unknown integers that are bounded on both sides; `None` if some interval is
    /// empty, so that there is no solution.
    pub(super) fn intervals(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
    ) -> Res<Option<Vec<(VarId, Value)>>> {
        if !unknown.iter().any(|v| self.type_of(*v) == Type::Integer) {
            return Ok(Some(Vec::new()));
        }
        let mut table = Table { unknown, ranges: vec![Range::default(); unknown.len()] };
        for _ in 0..ROUNDS {
            for item in open {
                let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { continue };
                match op {
                    RelOp::In if a.ty == Type::Integer => {
                        if let Some(Value::Symbolic(s)) = item.set() {
                            let range = match &**s {
                                Symbolic::Interval(l, h) => {
                                    Range { low: Some(l.clone()), high: Some(h.clone()) }
                                }
                                Symbolic::Base(Base::Natural) => Range { low: Some(Int::ZERO), high: None },
                                Symbolic::Base(Base::Natural1) => Range { low: Some(Int::ONE), high: None },
                                _ => continue,
                            };
                            self.narrow_to(env, &mut table, a, &range)?;
                        } else if let ExprKind::Binary(BinOp::Interval, l, h) = &b.kind {
                            let l = self.range_of(env, &table, l)?;
                            let h = self.range_of(env, &table, h)?;
                            self.narrow_to(env, &mut table, a, &Range { low: l.low, high: h.high })?;
                        }
                    }
                    RelOp::Equal if a.ty == Type::Integer => {
                        let range = self.range_of(env, &table, b)?;
                        self.narrow_to(env, &mut table, a, &range)?;
                        let range = self.range_of(env, &table, a)?;
                        self.narrow_to(env, &mut table, b, &range)?;
                    }
                    RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual
                        if a.ty == Type::Integer =>
                    {
                        let (small, large) = match op {
                            RelOp::Less | RelOp::LessEqual => (a, b),
                            _ => (b, a),
                        };
                        let strict = i64::from(matches!(op, RelOp::Less | RelOp::Greater));
                        let strict = Int::from(strict);
                        let high = self.range_of(env, &table, large)?.high.map(|h| h.sub(&strict));
                        self.narrow_to(env, &mut table, small, &Range { low: None, high })?;
                        let low = self.range_of(env, &table, small)?.low.map(|l| l.add(&strict));
                        self.narrow_to(env, &mut table, large, &Range { low, high: None })?;
                    }
                    _ => {}
                }
            }
            if table.ranges.iter().any(Range::is_empty) {
                return Ok(None);
            }
        }
        Ok(Some(
            unknown
                .iter()
                .zip(table.ranges)
                .filter_map(|(v, r)| Some((*v, Value::symbolic(Symbolic::Interval(r.low?, r.high?)))))
                .collect(),
        ))
    }

    fn is_open(&self, table: &Table, e: &Expr) -> bool {
        super::free::mentions(e, &|v| table.unknown.contains(&v))
    }

    fn range_of(&self, env: &mut Env, table: &Table, e: &Expr) -> Res<Range> {
        if e.ty != Type::Integer {
            return Ok(Range::default());
        }
        if !self.is_open(table, e) {
            return match self.eval(env, e) {
                Ok(Value::Int(n)) => Ok(Range::point(n)),
                Err(err) if err.is_stop() => Err(err),
                _ => Ok(Range::default()),
            };
        }
        Ok(match &e.kind {
            ExprKind::Var(v) => table.index(*v).map(|i| table.ranges[i].clone()).unwrap_or_default(),
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.range_of(env, table, a)?.add(&self.range_of(env, table, b)?)
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                self.range_of(env, table, a)?.add(&self.range_of(env, table, b)?.neg())
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (x, y) = (self.range_of(env, table, a)?, self.range_of(env, table, b)?);
                match (&x.low, &y.low) {
                    // Both factors not negative: the product grows with each.
                    (Some(l), Some(m)) if !l.is_negative() && !m.is_negative() => {
                        Range { low: Some(l.mul(m)), high: both(&x.high, &y.high, Int::mul) }
                    }
                    _ => Range::default(),
                }
            }
            ExprKind::Unary(UnOp::Neg, a) => self.range_of(env, table, a)?.neg(),
            ExprKind::Unary(UnOp::Card | UnOp::Size, _) => Range { low: Some(Int::ZERO), high: None },
            ExprKind::Binary(BinOp::Mod, _, b) => {
                let high = self.range_of(env, table, b)?.high.map(|h| h.sub(&Int::ONE));
                Range { low: Some(Int::ZERO), high }
            }
            _ => Range::default(),
        })
    }

    /// `e` lies in `range`: what follows for the variables in it.
    fn narrow_to(&self, env: &mut Env, table: &mut Table, e: &Expr, range: &Range) -> Res<()> {
        if range.low.is_none() && range.high.is_none() {
            return Ok(());
        }
        match &e.kind {
            ExprKind::Var(v) => {
                if let Some(i) = table.index(*v) {
                    table.ranges[i].meet(range);
                }
            }
            ExprKind::Binary(BinOp::Add, a, b) => {
                for (x, y) in [(a, b), (b, a)] {
                    if self.is_open(table, x) {
                        let other = self.range_of(env, table, y)?.neg();
                        self.narrow_to(env, table, x, &range.add(&other))?;
                    }
                }
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                if self.is_open(table, a) {
                    let other = self.range_of(env, table, b)?;
                    self.narrow_to(env, table, a, &range.add(&other))?;
                }
                if self.is_open(table, b) {
                    let other = self.range_of(env, table, a)?;
                    self.narrow_to(env, table, b, &other.add(&range.neg()))?;
                }
            }
            ExprKind::Unary(UnOp::Neg, a) => self.narrow_to(env, table, a, &range.neg())?,
            ExprKind::Binary(BinOp::Mul, a, b) => {
                for (x, y) in [(a, b), (b, a)] {
                    // `x*y <= h` with y >= 1 and x >= 0 gives x <= h.
                    if self.is_open(table, x)
                        && let Some(high) = &range.high
                        && let Some(low) = self.range_of(env, table, y)?.low
                        && low >= Int::ONE
                        && !high.is_negative()
                        && self.range_of(env, table, x)?.low.is_some_and(|l| !l.is_negative())
                        && let Some(high) = high.div(&low)
                    {
                        self.narrow_to(env, table, x, &Range { low: None, high: Some(high) })?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
