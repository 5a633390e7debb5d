//! `iterate(r,n)`: a relation composed with itself.
//!
//! In: a relation and a number, which may be larger than anything can be done times. Out: the power of the relation.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr};
use bombus_lang::value::Value;

impl Interpreter<'_> {
    /// A relation composed with itself, once or more often. Where the number is large, powers of it are squared.
    pub(crate) fn iterated(&self, env: &mut Env, r: Value, n: &Int, e: &Expr) -> Res<Value> {
        /// From this number on a listed relation is squared.
        const SQUARED: i64 = 4096;
        let compose = |env: &mut Env, a: &Value, b: &Value| {
            self.tick()?;
            self.binary_set(env, BinOp::Compose, a.clone(), b.clone(), e)
        };
        if n.small().is_some_and(|n| n < SQUARED) || !matches!(r, Value::Set(_)) {
            let n = n.small().ok_or_else(|| Error::too_large("iterate too many times"))?;
            let mut result = r.clone();
            for _ in 1..n {
                let next = compose(env, &result, &r)?;
                // A relation that no longer changes, or is used up, stays as it is.
                if next == result {
                    break;
                }
                result = next;
            }
            return Ok(result);
        }
        let two = Int::from(2i64);
        let (mut left, mut power, mut result) = (n.clone(), r, None);
        loop {
            if left.modulo(&two) == Some(Int::ONE) {
                result = Some(match &result {
                    None => power.clone(),
                    Some(before) => compose(env, before, &power)?,
                });
            }
            left = left.div(&two).unwrap_or(Int::ZERO);
            if left.is_zero() {
                return Ok(result.unwrap_or(power));
            }
            power = compose(env, &power, &power)?;
        }
    }
}
