//! Patterns: expressions that give their variables values when they are matched against a value.
//!
//! In: an expression with unknown variables and a value. Out: bindings in the environment, and whether
//! the match says all that the equation says.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Type, UnOp, VarId};
use bombus_lang::value::Value;

impl Interpreter<'_> {
    /// Whether matching this expression against a value would give some unknown variable a value.
    pub(crate) fn binds(&self, unknown: &[VarId], pattern: &Expr) -> bool {
        match &pattern.kind {
            ExprKind::Var(v) => unknown.contains(v),
            ExprKind::Pair(a, b) => self.binds(unknown, a) || self.binds(unknown, b),
            ExprKind::Rec(es) => es.iter().any(|e| self.binds(unknown, e)),
            ExprKind::SeqExt(es) => es.iter().any(|e| self.binds(unknown, e)),
            ExprKind::SetExt(es) => es.len() == 1 && self.binds(unknown, &es[0]),
            ExprKind::Construct(_, _, Some(a)) => self.binds(unknown, a),
            ExprKind::Unary(UnOp::Neg | UnOp::Inverse, a) => {
                matches!(pattern.ty, Type::Integer | Type::Pow(_)) && self.binds(unknown, a)
            }
            ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) if pattern.ty == Type::Integer => {
                (self.binds(unknown, a) && !self.has_unknown(unknown, b))
                    || (self.binds(unknown, b) && !self.has_unknown(unknown, a))
            }
            ExprKind::BoolOf(_) => false,
            _ => false,
        }
    }

    pub(crate) fn has_unknown(&self, unknown: &[VarId], e: &Expr) -> bool {
        bombus_lang::free::mentions(e, &|v| unknown.contains(&v))
    }

    /// `f(arg)` with f known and arg not.
    pub(crate) fn known_application<'e>(
        &self,
        unknown: &[VarId],
        e: &'e Expr,
    ) -> Option<(&'e Expr, &'e Expr)> {
        match &e.kind {
            ExprKind::Apply(f, arg) if !self.has_unknown(unknown, f) && self.has_unknown(unknown, arg) => {
                Some((f, arg))
            }
            _ => None,
        }
    }

    /// Matches a pattern; false if the value does not fit. `exact` becomes false when a part of the
    /// pattern could not be looked at, so that the conjunct has to be tested later.
    pub(crate) fn match_pattern(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        pattern: &Expr,
        value: &Value,
        bound: &mut Vec<VarId>,
        exact: &mut bool,
    ) -> Res<bool> {
        if let ExprKind::Var(v) = pattern.kind
            && unknown.contains(&v)
            && !bound.contains(&v)
        {
            env.bind(v, value.clone());
            bound.push(v);
            return Ok(true);
        }
        let open = |e: &Expr, bound: &[VarId]| {
            bombus_lang::free::mentions(e, &|v| unknown.contains(&v) && !bound.contains(&v))
        };
        if !open(pattern, bound) {
            let x = self.eval(env, pattern)?;
            return self.equal(env, &x, value);
        }
        match (&pattern.kind, value) {
            (ExprKind::Pair(a, b), Value::Pair(p)) => Ok(self
                .match_pattern(env, unknown, a, &p.0, bound, exact)?
                && self.match_pattern(env, unknown, b, &p.1, bound, exact)?),
            (ExprKind::Rec(es), Value::Rec(fields)) => {
                for (e, f) in es.iter().zip(fields.iter()) {
                    if !self.match_pattern(env, unknown, e, f, bound, exact)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (ExprKind::SeqExt(es), v) => {
                let list = match self.list(env, v)? {
                    Some(list) => Value::Set(list),
                    None => return Ok(false),
                };
                let Some(seq) = list.as_seq() else { return Ok(false) };
                if seq.len() != es.len() {
                    return Ok(false);
                }
                for (e, x) in es.iter().zip(seq) {
                    if !self.match_pattern(env, unknown, e, x, bound, exact)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (ExprKind::SetExt(es), v) if es.len() == 1 => match self.list(env, v)?.as_deref() {
                Some([x]) => self.match_pattern(env, unknown, &es[0], x, bound, exact),
                _ => Ok(false),
            },
            (ExprKind::Construct(id, c, Some(a)), Value::Free(i, k, Some(x))) => {
                Ok(id == i && c == k && self.match_pattern(env, unknown, a, x, bound, exact)?)
            }
            (ExprKind::Construct(..), Value::Free(..)) => Ok(false),
            (ExprKind::Unary(UnOp::Neg, a), Value::Int(n)) => {
                self.match_pattern(env, unknown, a, &Value::Int(n.neg()), bound, exact)
            }
            (ExprKind::Unary(UnOp::Inverse, a), v) => {
                let flipped = self.unary_set(env, UnOp::Inverse, v.clone(), pattern)?;
                self.match_pattern(env, unknown, a, &flipped, bound, exact)
            }
            (ExprKind::Binary(BinOp::Add, a, b), Value::Int(n)) => {
                let (x, k) = if open(a, bound) { (a, b) } else { (b, a) };
                if open(k, bound) {
                    *exact = false;
                    return Ok(true);
                }
                let k = self.integer(env, k)?;
                self.match_pattern(env, unknown, x, &Value::Int(n.sub(&k)), bound, exact)
            }
            (ExprKind::Binary(BinOp::Sub, a, b), Value::Int(n)) => {
                if open(a, bound) && open(b, bound) {
                    *exact = false;
                    return Ok(true);
                }
                if open(a, bound) {
                    let k = self.integer(env, b)?;
                    return self.match_pattern(env, unknown, a, &Value::Int(n.add(&k)), bound, exact);
                }
                let k = self.integer(env, a)?;
                self.match_pattern(env, unknown, b, &Value::Int(k.sub(n)), bound, exact)
            }
            _ => {
                *exact = false;
                Ok(true)
            }
        }
    }
}
