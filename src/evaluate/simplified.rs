//! Sets that cannot be listed, in a simpler form, where their inclusion is not decided otherwise.
//!
//! In: a symbolic set. Out: an equal one with fewer operators. Every rule is a law of set theory that stands at its place; what no
//! law speaks of stays as it is. Comprehensions and lambdas become sets of the algebra where their conjuncts say no more.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::member::without_empty;
use bombus_lang::free;
use bombus_lang::partiality::{may_be_undefined, pred_may_be_undefined};
use bombus_lang::typed::{BinOp, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Closure, ClosureKind, Symbolic, Value};

/// Sets nested deeper than this stay as they are.
const DEPTH: u32 = 12;

impl Interpreter<'_> {
    /// Whether one set lies in another, by simpler forms of both; `None` if no law makes them simpler, or if that does
    /// not help.
    pub(crate) fn included_simplified(&self, env: &mut Env, a: &Value, b: &Value) -> Res<Option<bool>> {
        if let (Some(x), Some(y)) = (identity_on(a), identity_on(b)) {
            return decided(self.subset(env, x, y));
        }
        if let Some(known) = self.beside_difference(env, a, b)? {
            return Ok(Some(known));
        }
        let (x, y) = (self.simplified(env, a, DEPTH)?, self.simplified(env, b, DEPTH)?);
        if x == *a && y == *b {
            return Ok(None);
        }
        decided(self.subset(env, &x, &y))
    }

    /// `a <: (s-t) \/ u` for a list `t`: what `t` takes away of `a` must lie in `u`, and `a` in `s \/ u`.
    fn beside_difference(&self, env: &mut Env, a: &Value, b: &Value) -> Res<Option<bool>> {
        let Some((BinOp::Union, x, y)) = binary(b) else { return Ok(None) };
        for (x, other) in [(x, y), (y, x)] {
            let Some((BinOp::SetMinus, whole, taken)) = binary(x) else { continue };
            let Some(taken) = self.list(env, taken)? else { continue };
            for e in taken.iter() {
                match (decided(self.member(env, e, a))?, decided(self.member(env, e, other))?) {
                    (Some(false), _) | (_, Some(true)) => {}
                    (Some(true), Some(false)) => return Ok(Some(false)),
                    _ => return Ok(None),
                }
            }
            let union = self.set_union(env, whole.clone(), other.clone())?;
            return decided(self.subset(env, a, &union));
        }
        Ok(None)
    }

    fn simplified(&self, env: &mut Env, v: &Value, depth: u32) -> Res<Value> {
        let Value::Symbolic(s) = v else { return Ok(v.clone()) };
        if depth == 0 {
            return Ok(v.clone());
        }
        self.tick()?;
        match &**s {
            Symbolic::Closure(c) => Ok(self.set_of_closure(env, c)?.unwrap_or_else(|| v.clone())),
            Symbolic::Unary(op, x) => {
                let x = self.simplified(env, x, depth - 1)?;
                Ok(match op {
                    UnOp::Dom => self.domain(env, &x)?,
                    UnOp::Ran => self.range(env, &x)?,
                    // An identity relates nothing but equals; the pairs of a product turn round.
                    UnOp::Inverse if identity_on(&x).is_some() => x,
                    UnOp::Inverse => match binary(&x) {
                        Some((BinOp::Cartesian, s, t)) => product(t.clone(), s.clone()),
                        _ => Value::symbolic(Symbolic::Unary(*op, x)),
                    },
                    _ => Value::symbolic(Symbolic::Unary(*op, x)),
                })
            }
            Symbolic::Binary(op, x, y) => {
                let x = self.simplified(env, x, depth - 1)?;
                let y = self.simplified(env, y, depth - 1)?;
                self.simplified_operator(env, *op, x, y)
            }
            _ => Ok(v.clone()),
        }
    }

    fn simplified_operator(&self, env: &mut Env, op: BinOp, x: Value, y: Value) -> Res<Value> {
        match op {
            BinOp::Union => self.set_union(env, x, y),
            BinOp::Inter => self.inter(env, x, y),
            BinOp::SetMinus => self.minus_by_form(env, x, y),
            // A relation is a set of pairs.
            BinOp::Relation => Ok(Value::symbolic(Symbolic::Unary(UnOp::Pow, product(x, y)))),
            // `r <+ s` is what `r` says outside of the domain of `s`, and `s`.
            BinOp::Override => {
                let points = self.domain(env, &y)?;
                let rest = self.simplified_operator(env, BinOp::DomSubtract, points, x)?;
                self.set_union(env, rest, y)
            }
            _ => Ok(match self.relation_by_form(env, op, &x, &y)? {
                Some(simple) => simple,
                None => Value::symbolic(Symbolic::Binary(op, x, y)),
            }),
        }
    }

    fn minus_by_form(&self, env: &mut Env, x: Value, y: Value) -> Res<Value> {
        // Nothing is left of a set that lies in the other.
        if let Some(true) = decided(self.subset(env, &x, &y))? {
            return Ok(Value::empty());
        }
        // Without the empty one the collection is that of the others.
        if let Value::Symbolic(s) = &x
            && let Symbolic::Unary(op, of) = &**s
            && let Some(op) = without_empty(*op)
            && let Some([only]) = y.as_set()
            && only.as_set().is_some_and(<[Value]>::is_empty)
        {
            return Ok(Value::symbolic(Symbolic::Unary(op, of.clone())));
        }
        self.minus(env, x, y)
    }

    /// Images, restrictions and compositions of identities and products.
    pub(crate) fn relation_by_form(
        &self,
        env: &mut Env,
        op: BinOp,
        a: &Value,
        b: &Value,
    ) -> Res<Option<Value>> {
        let identity = |set: Value| Value::symbolic(Symbolic::Unary(UnOp::Id, set));
        Ok(match op {
            BinOp::Image => match (identity_on(a), binary(a)) {
                // What is equal to an element of s, and lies in t.
                (Some(t), _) => Some(self.inter(env, t.clone(), b.clone())?),
                // Everything that a product leads to, from any of its points.
                (_, Some((BinOp::Cartesian, s, t))) => {
                    let meeting = self.inter(env, s.clone(), b.clone())?;
                    Some(if self.is_empty(env, &meeting)? { Value::empty() } else { t.clone() })
                }
                _ => None,
            },
            BinOp::DomRestrict | BinOp::DomSubtract => {
                let kept = |set: &Value, env: &mut Env| match op {
                    BinOp::DomRestrict => self.inter(env, set.clone(), a.clone()),
                    _ => self.minus_by_form(env, set.clone(), a.clone()),
                };
                match (identity_on(b), binary(b)) {
                    (Some(t), _) => Some(identity(kept(t, env)?)),
                    (_, Some((BinOp::Cartesian, s, t))) => Some(product(kept(s, env)?, t.clone())),
                    _ => None,
                }
            }
            BinOp::RanRestrict | BinOp::RanSubtract => {
                let kept = |set: &Value, env: &mut Env| match op {
                    BinOp::RanRestrict => self.inter(env, set.clone(), b.clone()),
                    _ => self.minus_by_form(env, set.clone(), b.clone()),
                };
                match (identity_on(a), binary(a)) {
                    (Some(t), _) => Some(identity(kept(t, env)?)),
                    (_, Some((BinOp::Cartesian, s, t))) => Some(product(s.clone(), kept(t, env)?)),
                    _ => None,
                }
            }
            BinOp::Compose => match (identity_on(a), identity_on(b), binary(a), binary(b)) {
                (Some(s), Some(t), _, _) => Some(identity(self.inter(env, s.clone(), t.clone())?)),
                // All of the first product leads to all of the second, if they have a point between them.
                (_, _, Some((BinOp::Cartesian, s, t)), Some((BinOp::Cartesian, u, v))) => {
                    let between = self.inter(env, t.clone(), u.clone())?;
                    let none = self.is_empty(env, &between)?;
                    Some(if none { Value::empty() } else { product(s.clone(), v.clone()) })
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// A comprehension over one variable whose conjuncts are memberships and comparisons with values, as a set; a lambda that
    /// yields its argument, as an identity; one that yields the same everywhere, as a product.
    fn set_of_closure(&self, env: &mut Env, c: &Closure) -> Res<Option<Value>> {
        let ([var], [ty]) = (&c.code.vars[..], &c.code.types[..]) else { return Ok(None) };
        let is_var = |kind: &ExprKind| matches!(kind, ExprKind::Var(v) if v == var);
        if pred_may_be_undefined(&c.code.pred) {
            return Ok(None);
        }
        let c = c.clone();
        self.with_captured(env, &c, &mut |this, env| {
            let Some(points) = this.set_of_conjuncts(env, &c.code.pred, *var, ty)? else { return Ok(None) };
            let Some(body) = &c.code.body else {
                return Ok((c.code.kind == ClosureKind::Set).then_some(points));
            };
            Ok(match (c.code.kind, &body.kind) {
                (ClosureKind::SetOf, kind) if is_var(kind) => Some(points),
                (ClosureKind::Lambda, kind) if is_var(kind) => {
                    Some(Value::symbolic(Symbolic::Unary(UnOp::Id, points)))
                }
                // The union of the singletons of a set is the set.
                (ClosureKind::Union, ExprKind::SetExt(es)) => match &es[..] {
                    [e] if is_var(&e.kind) => Some(points),
                    _ => None,
                },
                (ClosureKind::Lambda, _)
                    if !free::mentions(body, &|v| v == *var) && !may_be_undefined(body) =>
                {
                    let image = this.eval_canon(env, body)?;
                    Some(product(points, Value::sorted_set(vec![image])))
                }
                _ => None,
            })
        })
    }

    fn set_of_conjuncts(&self, env: &mut Env, p: &Pred, var: VarId, ty: &Type) -> Res<Option<Value>> {
        let mut set = self.type_set(ty);
        for q in p.conjuncts() {
            let PredKind::Rel(op, x, e) = &q.kind else { return Ok(None) };
            let is_about = matches!(x.kind, ExprKind::Var(v) if v == var);
            if !is_about || free::mentions(e, &|v| v == var) {
                return Ok(None);
            }
            let Some(value) = decided(self.eval_lazy(env, e))? else { return Ok(None) };
            set = match op {
                RelOp::In => self.inter(env, set, value)?,
                RelOp::NotIn => self.minus_by_form(env, set, value)?,
                RelOp::NotEqual => self.minus_by_form(env, set, Value::sorted_set(vec![value]))?,
                RelOp::Subset => self.inter(env, set, Value::symbolic(Symbolic::Unary(UnOp::Pow, value)))?,
                _ => return Ok(None),
            };
        }
        Ok(Some(set))
    }
}

/// The set that a value is the identity on.
fn identity_on(v: &Value) -> Option<&Value> {
    match v {
        Value::Symbolic(s) => match &**s {
            Symbolic::Unary(UnOp::Id, set) => Some(set),
            _ => None,
        },
        _ => None,
    }
}

fn binary(v: &Value) -> Option<(BinOp, &Value, &Value)> {
    match v {
        Value::Symbolic(s) => match &**s {
            Symbolic::Binary(op, a, b) => Some((*op, a, b)),
            _ => None,
        },
        _ => None,
    }
}

fn product(a: Value, b: Value) -> Value {
    Value::symbolic(Symbolic::Binary(BinOp::Cartesian, a, b))
}

/// An answer, or none where there is no answer; a stop stays an error.
pub(crate) fn decided<T>(r: Res<T>) -> Res<Option<T>> {
    match r {
        Ok(v) => Ok(Some(v)),
        Err(e) if e.is_stop() => Err(e),
        Err(_) => Ok(None),
    }
}
