//! `r[S]`: what a relation leads to from the points of a set.
//!
//! In: a relation and a set, listed or not. Out: the images as a set. Where the images of a point cannot be listed
//! they are a set by its form: `{x,y|x<=y}[{3}]` is `{y|3<=y}`, which has elements to be asked for.

use crate::Interpreter;
use crate::apply::components;
use crate::env::Env;
use crate::error::Res;
use crate::operators::row;
use bombus_base::Span;
use bombus_lang::free;
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::BinOp;
use bombus_lang::value::{Closure, ClosureCode, ClosureKind, Symbolic, Value};
use std::sync::Arc;

impl Interpreter<'_> {
    pub(crate) fn image(&self, env: &mut Env, r: &Value, set: &Value, span: Span) -> Res<Value> {
        if let Value::Set(pairs) = r
            && !r.mentions_symbolic()
        {
            return self.image_of_rows(env, pairs, set);
        }
        if let Some(points) = self.list(env, set)? {
            let mut listed = Vec::new();
            let mut image = Value::empty();
            for x in points.iter() {
                match self.images(env, r, x, span) {
                    Ok(found) => listed.extend(found),
                    Err(e) if e.is_incomplete() => match self.image_by_form(env, r, x, span)? {
                        Some(more) => image = self.set_union(env, image, more)?,
                        None => return Err(e),
                    },
                    Err(e) => return Err(e),
                }
            }
            let listed = self.set_of(env, listed)?;
            return self.set_union(env, listed, image);
        }
        match self.list(env, r)? {
            Some(pairs) => self.image(env, &Value::Set(pairs), set, span),
            None => {
                let restricted =
                    Value::symbolic(Symbolic::Binary(BinOp::DomRestrict, set.clone(), r.clone()));
                self.range(env, &restricted)
            }
        }
    }

    fn image_of_rows(&self, env: &mut Env, pairs: &[Value], set: &Value) -> Res<Value> {
        // The smaller side drives: points looked up in the rows, or rows tested for their point.
        if let Some(points) = self.list(env, set)?
            && points.len() < pairs.len()
        {
            self.charge(points.len())?;
            return Ok(Value::set(points.iter().flat_map(|x| row(pairs, x)).cloned().collect()));
        }
        let mut out = Vec::new();
        self.charge(pairs.len())?;
        for (x, y) in pairs.iter().filter_map(Value::as_pair) {
            if self.member(env, x, set)? {
                out.push(y.clone());
            }
        }
        Ok(Value::set(out))
    }

    /// The images of a point under a relation that leads from it to more than can be listed, as a set that is told by
    /// a condition or by a law of sets; none if neither is known.
    fn image_by_form(&self, env: &mut Env, r: &Value, x: &Value, span: Span) -> Res<Option<Value>> {
        let Value::Symbolic(s) = r else { return Ok(None) };
        let of = |env: &mut Env, r: &Value| match self.images(env, r, x, span) {
            Ok(found) => self.set_of(env, found).map(Some),
            Err(e) if e.is_incomplete() => self.image_by_form(env, r, x, span),
            Err(e) => Err(e),
        };
        Ok(match &**s {
            Symbolic::Closure(c) => section(c, x),
            Symbolic::Binary(op @ (BinOp::Union | BinOp::Inter | BinOp::SetMinus), a, b) => {
                match (of(env, a)?, of(env, b)?) {
                    (Some(a), Some(b)) => Some(match op {
                        BinOp::Union => self.set_union(env, a, b)?,
                        BinOp::Inter => self.inter(env, a, b)?,
                        _ => self.minus(env, a, b)?,
                    }),
                    _ => None,
                }
            }
            Symbolic::Binary(BinOp::Cartesian, points, images) => {
                Some(if self.member(env, x, points)? { images.clone() } else { Value::empty() })
            }
            Symbolic::Binary(op @ (BinOp::DomRestrict | BinOp::DomSubtract), points, r) => {
                let inside = self.member(env, x, points)? == (*op == BinOp::DomRestrict);
                if inside { of(env, r)? } else { Some(Value::empty()) }
            }
            Symbolic::Binary(op @ (BinOp::RanRestrict | BinOp::RanSubtract), r, images) => {
                match of(env, r)? {
                    Some(found) if *op == BinOp::RanRestrict => {
                        Some(self.inter(env, found, images.clone())?)
                    }
                    Some(found) => Some(self.minus(env, found, images.clone())?),
                    None => None,
                }
            }
            _ => None,
        })
    }
}

/// `{y|P}` with the value of x put in place, for `{x,y|P}`. Not where P may have no truth value for some y: nobody would look for
/// that y.
fn section(c: &Closure, x: &Value) -> Option<Value> {
    let (last, points) = c.code.vars.split_last()?;
    if c.code.kind != ClosureKind::Set || points.is_empty() || pred_may_be_undefined(&c.code.pred) {
        return None;
    }
    let parts = components(x, points.len())?;
    let vars = vec![*last];
    let free = free::of_closure(&vars, &c.code.pred, None);
    let mut captured: Vec<_> = c.captured.iter().cloned().collect();
    captured.extend(points.iter().copied().zip(parts.into_iter().cloned()));
    captured.retain(|(v, _)| free.contains(v));
    captured.sort_by_key(|(v, _)| *v);
    let code = ClosureCode {
        vars,
        types: vec![c.code.types.last()?.clone()],
        pred: c.code.pred.clone(),
        body: None,
        kind: ClosureKind::Set,
        free,
    };
    Some(Value::symbolic(Symbolic::Closure(Closure { code: Arc::new(code), captured: captured.into() })))
}
