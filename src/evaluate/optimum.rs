//! The largest element of a set that may be too large to list.
//!
//! In: a set. Out: its last element in the order of values. Where the first part of the elements of a comprehension
//! is a number, better and better solutions are asked for, so that most elements are never looked at.

use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::solve::plan::Plan;
use crate::{Interpreter, LIST};
use bombus_base::{Int, Span};
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp};
use bombus_lang::value::{Base, Closure, ClosureKind, Symbolic, Value};

impl Interpreter<'_> {
    /// `min` and `max` of a set of numbers.
    pub(crate) fn extremum(&self, env: &mut Env, op: UnOp, a: Value, span: Span) -> Res<Value> {
        if let Value::Symbolic(s) = &a {
            match (&**s, op) {
                (Symbolic::Interval(lo, _), UnOp::Min) => return Ok(Value::Int(lo.clone())),
                (Symbolic::Interval(_, hi), UnOp::Max) => return Ok(Value::Int(hi.clone())),
                (Symbolic::Base(Base::Natural), UnOp::Min) => return Ok(Value::int(0)),
                (Symbolic::Base(Base::Natural1), UnOp::Min) => return Ok(Value::int(1)),
                (Symbolic::Base(_), _) => {
                    return Err(Error::undefined(span, "min or max of a set that is not bounded"));
                }
                _ => {}
            }
        }
        if a.is_symbolic()
            && let Some(spans) = self.spans(env, &a)?
        {
            let Some((low, high)) = spans.hull() else {
                return Err(Error::undefined(span, "min or max of the empty set"));
            };
            let end = if op == UnOp::Min { low } else { high };
            let end = end.ok_or_else(|| Error::undefined(span, "min or max of a set that is not bounded"))?;
            return Ok(Value::Int(end));
        }
        if self.list(env, &a)?.is_none()
            && let Some(end) = self.extreme_of_comprehension(env, &a, op == UnOp::Min)?
        {
            return Ok(Value::Int(end));
        }
        let list = self.need_list(env, &a, span)?;
        let end = if op == UnOp::Min { list.first() } else { list.last() };
        end.cloned().ok_or_else(|| Error::undefined(span, "min or max of the empty set"))
    }

    /// The largest element; `None` of the empty set.
    pub(crate) fn largest(&self, env: &mut Env, set: &Value, span: Span) -> Res<Option<Value>> {
        if let Value::Symbolic(s) = set
            && let Symbolic::Closure(c) = &**s
            && c.code.kind == ClosureKind::Set
            && c.code.types.first() == Some(&Type::Integer)
        {
            return self.with_captured(env, c, &mut |this, env| this.climb(env, c, span));
        }
        Ok(self.need_list(env, set, span)?.last().cloned())
    }

    /// Solutions with larger and larger first variables, then the largest of those with the largest one.
    fn climb(&self, env: &mut Env, c: &Closure, span: Span) -> Res<Option<Value>> {
        let mut best: Option<Int> = None;
        loop {
            self.look()?;
            let mut better = None;
            self.solutions_with(env, c, best.as_ref().map(|n| (RelOp::Greater, n)), &mut |env| {
                better = env.get(c.code.vars[0]).and_then(|n| n.as_int().cloned());
                Ok(Flow::Stop)
            })?;
            match better {
                Some(n) => best = Some(n),
                None => break,
            }
        }
        let Some(best) = best else { return Ok(None) };
        let (mut largest, mut count) = (None, 0usize);
        self.solutions_with(env, c, Some((RelOp::Equal, &best)), &mut |env| {
            let value = self.tuple(env, &c.code.vars)?;
            if value.mentions_symbolic() {
                return Err(Error::undecided("which of several symbolic values is the largest").at(span));
            }
            count += 1;
            if count > LIST {
                return Err(Error::too_large("too many solutions are the best").at(span));
            }
            if largest.as_ref().is_none_or(|l| *l < value) {
                largest = Some(value);
            }
            Ok(Flow::Go)
        })?;
        Ok(largest)
    }

    /// The solutions of a comprehension whose first variable stands in a relation to a number.
    fn solutions_with(
        &self,
        env: &mut Env,
        c: &Closure,
        bound: Option<(RelOp, &Int)>,
        each: &mut dyn FnMut(&mut Env) -> Res<Flow>,
    ) -> Res<()> {
        let code = &c.code;
        let number = |kind| Expr { kind, ty: Type::Integer, span: code.pred.span };
        let bound = bound.map(|(op, n)| Pred {
            kind: PredKind::Rel(op, number(ExprKind::Var(code.vars[0])), number(ExprKind::Int(n.clone()))),
            span: code.pred.span,
        });
        let preds: Vec<&Pred> = std::iter::once(&code.pred).chain(&bound).collect();
        let plan = Plan::new(&code.vars, &preds);
        let saved = env.take(&code.vars);
        let result = self.run_plan(env, &plan, &mut |env, error| match error {
            Some(e) => Err(e.clone()),
            None => each(env),
        });
        env.restore(saved);
        result.map(|_| ())
    }
}
