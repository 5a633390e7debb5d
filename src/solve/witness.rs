//! Values that are tried for the variables of a quantifier which nothing bounds.
//!
//! In: a quantifier over variables that no search gives all values to. Out: whether some of a few values make its body
//! true, or false. A witness makes `#` true and a counterexample makes `!` false, whatever the other values do, so an
//! answer found here is final; that none is found says nothing. Tried are MININT..MAXINT, 0, 1, and the numbers
//! that stand in the body with those around them; all values of small types.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use bombus_base::Int;
use bombus_lang::typed::{Expr, ExprKind, Pred, Type, VarId};
use bombus_lang::value::Value;
use bombus_lang::walk::{Visit, visit_pred};
use std::collections::BTreeSet;

/// Valuations tried at most, for a quantifier and for one inside it, and values of one variable at most.
const TRIED: [usize; 2] = [1 << 10, 1 << 5];
const EACH: usize = 1 << 6;
/// How far from the numbers that stand in a body values are tried.
const FAR: i64 = 1 << 4;

impl Interpreter<'_> {
    /// Whether one of a few values of `vars` gives `body` the wanted truth value.
    pub(crate) fn has_sample(&self, env: &mut Env, vars: &[VarId], body: &Pred, wanted: bool) -> Res<bool> {
        // What is still searched for would have to be known.
        let depth = self.sampling.get();
        let (Some(&most), false) = (TRIED.get(depth as usize), env.searching) else { return Ok(false) };
        let mut values = Vec::with_capacity(vars.len());
        let mut numbers = None;
        for v in vars {
            let some = match self.type_of(*v) {
                Type::Integer => numbers.get_or_insert_with(|| self.numbers_of(env, body)).clone(),
                Type::String => vec![Value::str(""), Value::str("a")],
                ty @ (Type::Bool | Type::Set(_)) => {
                    let set = self.type_set(&ty);
                    match self.list(env, &set)? {
                        Some(list) if list.len() <= EACH => list.to_vec(),
                        _ => return Ok(false),
                    }
                }
                _ => return Ok(false),
            };
            values.push(some);
        }
        // Many variables leave few values to each; then the first ones, which are the most ordinary, count.
        let each = (1..=EACH).rev().find(|n| n.checked_pow(vars.len() as u32).is_some_and(|all| all <= most));
        for some in &mut values {
            some.truncate(each.unwrap_or(1).max(2));
        }
        let saved = env.take(vars);
        self.sampling.set(depth + 1);
        let found = self.try_values(env, vars, &values, (body, wanted), &mut { most });
        self.sampling.set(depth);
        env.restore(saved);
        found
    }

    fn try_values(
        &self,
        env: &mut Env,
        vars: &[VarId],
        values: &[Vec<Value>],
        (body, wanted): (&Pred, bool),
        left: &mut usize,
    ) -> Res<bool> {
        let (Some((v, vars)), Some((some, values))) = (vars.split_first(), values.split_first()) else {
            *left = left.saturating_sub(1);
            self.tick()?;
            return match self.holds(env, body) {
                Ok(truth) => Ok(truth == wanted),
                Err(e) if e.is_stop() => Err(e),
                Err(_) => Ok(false),
            };
        };
        for x in some {
            if *left == 0 {
                break;
            }
            env.bind(*v, x.clone());
            let found = self.try_values(env, vars, values, (body, wanted), left);
            env.unbind(*v);
            if found? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Numbers worth trying: small ones first, then those that the body names or that its variables have.
    fn numbers_of(&self, env: &Env, body: &Pred) -> Vec<Value> {
        struct Named<'e>(&'e Env, BTreeSet<Int>);
        impl Visit for Named<'_> {
            fn expr(&mut self, e: &Expr) {
                match &e.kind {
                    ExprKind::Int(n) => {
                        self.1.insert(n.clone());
                    }
                    ExprKind::Var(v) => {
                        if let Some(Value::Int(n)) = self.0.get(*v) {
                            self.1.insert(n.clone());
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut named = Named(env, BTreeSet::new());
        visit_pred(body, &mut named);
        let mut out: Vec<Int> = vec![Int::ZERO, Int::ONE];
        let mut add = |n: Int| {
            if out.len() < EACH && !out.contains(&n) {
                out.push(n);
            }
        };
        for n in &named.1 {
            [n.clone(), n.add(&Int::ONE), n.sub(&Int::ONE)].into_iter().for_each(&mut add);
        }
        let mut n = self.machine.minint.clone();
        while n <= self.machine.maxint && n.sub(&self.machine.minint) < Int::from(EACH) {
            add(n.clone());
            n = n.add(&Int::ONE);
        }
        for far in 2..=FAR {
            for n in &named.1 {
                [n.add(&Int::from(far)), n.sub(&Int::from(far))].into_iter().for_each(&mut add);
            }
        }
        out.into_iter().map(Value::Int).collect()
    }
}
