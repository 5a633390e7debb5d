//! Unknown sets and sequences that other conjuncts confine although their type or the set they lie in is infinite.
//!
//! In: an unknown variable and the conjuncts about it. Out: a finite set that every solution lies in, or bounds of
//! the length of a sequence. Every rule follows from what the conjuncts say where they are defined: `card`, `min` and
//! `max` have no value for infinite sets, `size` only for sequences. Infinite sets are not tried, though they leave
//! `card` undefined; the empty set is among the candidates, and leaves `min` and `max` undefined.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::eval::interval;
use crate::size::Card;
use crate::solve::order::{Item, Sink};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Base, Symbolic, Value};
use std::ops::RangeInclusive;

/// The longest interval that is listed as the candidates of a set's elements.
const CANDIDATES: i64 = 1 << 12;

/// Bounds of a number; `None` is no bound.
#[derive(Default)]
struct Bounds {
    low: Option<Int>,
    high: Option<Int>,
}

impl Bounds {
    fn at_least(&mut self, n: Int) {
        if self.low.as_ref().is_none_or(|l| *l < n) {
            self.low = Some(n);
        }
    }

    fn at_most(&mut self, n: Int) {
        if self.high.as_ref().is_none_or(|h| *h > n) {
            self.high = Some(n);
        }
    }

    /// `measure op n`, or `n op measure` when `flipped`.
    fn compare(&mut self, op: RelOp, flipped: bool, n: Int) {
        match (op, flipped) {
            (RelOp::Equal, _) => {
                self.at_least(n.clone());
                self.at_most(n);
            }
            (RelOp::Less, false) | (RelOp::Greater, true) => self.at_most(n.sub(&Int::ONE)),
            (RelOp::LessEqual, false) | (RelOp::GreaterEqual, true) => self.at_most(n),
            (RelOp::Greater, false) | (RelOp::Less, true) => self.at_least(n.add(&Int::ONE)),
            (RelOp::GreaterEqual, false) | (RelOp::LessEqual, true) => self.at_least(n),
            _ => {}
        }
    }
}

impl Interpreter<'_> {
    /// Calls `see` for each conjunct that compares an operator applied to `var` with a known number.
    fn measures(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
        see: &mut dyn FnMut(UnOp, RelOp, bool, Int),
    ) -> Res<()> {
        for item in open {
            let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { continue };
            for (x, y, flipped) in [(a, b, false), (b, a, true)] {
                let ExprKind::Unary(measure, s) = &x.kind else { continue };
                if !is_var(s, var) || self.has_unknown(unknown, y) {
                    continue;
                }
                match op {
                    RelOp::In if !flipped => {
                        let Ok(set) = self.eval_lazy(env, y) else { continue };
                        let Some(list) = self.list(env, &set)? else { continue };
                        if let (Some(Value::Int(l)), Some(Value::Int(h))) = (list.first(), list.last()) {
                            see(*measure, RelOp::GreaterEqual, false, l.clone());
                            see(*measure, RelOp::LessEqual, false, h.clone());
                        }
                    }
                    _ if y.ty == Type::Integer => {
                        if let Ok(n) = self.integer(env, y) {
                            see(*measure, *op, flipped, n);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The shortest and the longest an unknown sequence may be, if the conjuncts tell.
    pub(crate) fn lengths(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
        injective: bool,
    ) -> Res<Option<(usize, usize)>> {
        let mut bounds = Bounds::default();
        bounds.at_least(Int::ZERO);
        self.measures(env, unknown, open, var, &mut |measure, op, flipped, n| {
            if matches!(measure, UnOp::Size | UnOp::Card) {
                bounds.compare(op, flipped, n);
            }
        })?;
        for item in open {
            let PredKind::Rel(op @ (RelOp::Equal | RelOp::Subset), a, b) = &item.conjunct.pred.kind else {
                continue;
            };
            for (x, y) in [(a, b), (b, a)] {
                let ExprKind::Unary(part @ (UnOp::Dom | UnOp::Ran), s) = &x.kind else { continue };
                // The range of an injective sequence has as many elements as the sequence.
                if !is_var(s, var)
                    || self.has_unknown(unknown, y)
                    || (*part == UnOp::Ran && !injective)
                    || (*op == RelOp::Subset && !std::ptr::eq(x, a))
                {
                    continue;
                }
                if let Ok(set) = self.eval_lazy(env, y)
                    && let Card::Finite(n) = self.card(env, &set)?
                {
                    if *op == RelOp::Equal {
                        bounds.at_least(n.clone());
                    }
                    bounds.at_most(n);
                }
            }
        }
        let (Some(low), Some(high)) = (bounds.low, bounds.high) else { return Ok(None) };
        let number = |n: &Int| n.small().and_then(|n| usize::try_from(n).ok());
        Ok(match (number(&low), number(&high)) {
            (Some(low), Some(high)) => Some((low, high)),
            // A negative upper bound leaves nothing.
            (Some(_), None) if high.is_negative() => Some((1, 0)),
            _ => None,
        })
    }

    /// Builds the sequences of the given lengths row by row.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn bind_sequence(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        (at, var): (usize, VarId),
        lengths: RangeInclusive<usize>,
        pending: Option<Error>,
        sink: Sink,
    ) -> Res<Flow> {
        let Some(Value::Symbolic(s)) = open[at].set.clone() else { return Ok(Flow::Go) };
        let Symbolic::Unary(op, images) = &*s else { return Ok(Flow::Go) };
        let (arrow, shortest) = match op {
            UnOp::Seq => (BinOp::TotalFunction, 0),
            UnOp::Seq1 => (BinOp::TotalFunction, 1),
            UnOp::Iseq => (BinOp::TotalInjection, 0),
            _ => (BinOp::TotalInjection, 1),
        };
        for n in lengths.filter(|n| *n >= shortest) {
            let places = interval(&Int::ONE, &Int::from(n));
            let mut open = open.to_vec();
            open[at].set = Some(Value::symbolic(Symbolic::Binary(arrow, places, images.clone())));
            if self.bind_function(env, unknown, open, at, var, pending.clone(), sink)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }

    /// A finite set that the unknown set `var` is part of.
    pub(crate) fn confined(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        var: VarId,
    ) -> Res<Option<Vec<Value>>> {
        let Type::Pow(element) = self.type_of(var) else { return Ok(None) };
        let mut size = Bounds::default();
        let mut least = Bounds::default();
        let mut greatest = Bounds::default();
        self.measures(env, unknown, open, var, &mut |measure, op, flipped, n| match measure {
            UnOp::Card => size.compare(op, flipped, n),
            UnOp::Min => least.compare(op, flipped, n),
            UnOp::Max => greatest.compare(op, flipped, n),
            _ => {}
        })?;
        // As many elements are known as there may be.
        if let Some(most) = &size.high {
            let mut required = Vec::new();
            for item in open {
                let PredKind::Rel(op, a, b) = &item.conjunct.pred.kind else { continue };
                if !is_var(b, var) || self.has_unknown(unknown, a) {
                    continue;
                }
                match op {
                    RelOp::In => required.extend(self.eval_canon(env, a).ok()),
                    RelOp::Subset => {
                        if let Ok(set) = self.eval(env, a)
                            && let Some(list) = self.list(env, &set)?
                        {
                            required.extend(list.iter().cloned());
                        }
                    }
                    _ => {}
                }
            }
            required.sort();
            required.dedup();
            if Int::from(required.len()) >= *most {
                return Ok(Some(required));
            }
        }
        if *element != Type::Integer {
            return Ok(None);
        }
        for item in open {
            let PredKind::Rel(RelOp::Subset, a, _) = &item.conjunct.pred.kind else { continue };
            if let (true, Some(Value::Symbolic(s))) = (is_var(a, var), item.set()) {
                match &**s {
                    Symbolic::Base(Base::Natural) => least.at_least(Int::ZERO),
                    Symbolic::Base(Base::Natural1) => least.at_least(Int::ONE),
                    _ => {}
                }
            }
        }
        let (Some(low), Some(high)) = (least.low, greatest.high) else { return Ok(None) };
        Ok(match (low.small(), high.small()) {
            (Some(l), Some(h)) if h.saturating_sub(l) < CANDIDATES => Some((l..=h).map(Value::int).collect()),
            _ => None,
        })
    }
}

fn is_var(e: &Expr, var: VarId) -> bool {
    matches!(e.kind, ExprKind::Var(v) if v == var)
}
