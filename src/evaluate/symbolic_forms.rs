//! Operators on sets that cannot be listed, by the form of their operands.
//!
//! In: values of which at least one is symbolic. Out: a simpler value that is equal to what the operator would make of
//! them, or none. Every rule is a law of set theory that is named where it stands; a guess never is.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::consequences::merged;
use bombus_base::Span;
use bombus_lang::typed::{BinOp, UnOp};
use bombus_lang::value::{Symbolic, Value};

impl Interpreter<'_> {
    /// The intersection of two sets that are built by the same operator.
    pub(crate) fn inter_by_form(&self, env: &mut Env, a: &Value, b: &Value) -> Res<Option<Value>> {
        // What lies in a set and in the whole type lies in the set.
        if self.is_whole_type(a) {
            return Ok(Some(b.clone()));
        }
        if self.is_whole_type(b) || a == b {
            return Ok(Some(a.clone()));
        }
        let (Value::Symbolic(s), Value::Symbolic(t)) = (a, b) else { return Ok(None) };
        Ok(match (&**s, &**t) {
            // A set below two others is below what they share; the items of a sequence over two sets lie in both.
            (Symbolic::Unary(op, x), Symbolic::Unary(other, y)) => {
                let both = match (op, other) {
                    (UnOp::Pow, UnOp::Pow) => Some(UnOp::Pow),
                    (UnOp::Id, UnOp::Id) => Some(UnOp::Id),
                    _ => merged(*op, *other),
                };
                match both {
                    Some(op) => {
                        let shared = self.inter(env, x.clone(), y.clone())?;
                        Some(Value::symbolic(Symbolic::Unary(op, shared)))
                    }
                    None => None,
                }
            }
            // A pair lies in two products if each side lies in both.
            (Symbolic::Binary(BinOp::Cartesian, x, y), Symbolic::Binary(BinOp::Cartesian, z, w)) => {
                let left = self.inter(env, x.clone(), z.clone())?;
                let right = self.inter(env, y.clone(), w.clone())?;
                if self.is_empty(env, &left)? || self.is_empty(env, &right)? {
                    return Ok(Some(Value::empty()));
                }
                Some(Value::symbolic(Symbolic::Binary(BinOp::Cartesian, left, right)))
            }
            _ => None,
        })
    }

    /// `(r ; s)` for a list `s`: of each pair `y |-> z` of `s` whatever `r` leads from to `y` goes to `z`. An error if
    /// that is not known of some `y`.
    pub(crate) fn composed_backwards(&self, env: &mut Env, r: &Value, s: &[Value], span: Span) -> Res<Value> {
        let mut out = Vec::new();
        for (y, z) in s.iter().filter_map(Value::as_pair) {
            let from = self.inverse_images(env, r, y, span)?;
            self.charge(from.len())?;
            out.extend(from.into_iter().map(|x| Value::pair(x, z.clone())));
        }
        self.set_of(env, out)
    }
}
