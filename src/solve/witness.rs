//! Values that are tried for the variables of a quantifier which nothing bounds.
//!
//! In: a quantifier over variables that no search gives all values to. Out: whether some of a few values make its body
//! true, or false. A witness makes `#` true and a counterexample makes `!` false, whatever the other values do, so an
//! answer found here is final; that none is found says nothing. Tried are MININT..MAXINT, 0, 1, and the numbers
//! that stand in the body with those around them; all values of small types; and sets, sequences, pairs and functions with few of
//! these, of the set that the body says them to lie in.

use crate::Interpreter;
use crate::env::Env;
use crate::error::Res;
use crate::solve::functions::settled;
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use bombus_lang::walk::{Visit, visit_pred};
use std::collections::BTreeSet;

/// Valuations tried at most, for a quantifier and for one inside it, and values of one variable at most.
const TRIED: [usize; 2] = [1 << 10, 1 << 5];
const EACH: usize = 1 << 6;
/// Items of a sequence, and elements of a set, that is tried.
const LENGTH: usize = 4;
/// Items that a sequence that is tried may begin with.
const FIRSTS: usize = 12;
/// Texts that are tried: of few lengths, and two of one length.
const TEXTS: [&str; 5] = ["a", "", "b", "ab", "abc"];
/// Sets with more elements, as a base-2 logarithm, are not listed for a few of them.
const SMALL: f64 = 10.0;
/// How deep a type is looked into for its values.
const DEPTH: u32 = 4;
/// How far from the numbers that stand in a body values are tried.
const FAR: i64 = 1 << 4;

impl Interpreter<'_> {
    /// Whether one of a few values of `vars` gives `body` the wanted truth value.
    pub(crate) fn has_sample(&self, env: &mut Env, vars: &[VarId], body: &Pred, wanted: bool) -> Res<bool> {
        Ok(self.sample(env, vars, body, wanted)?.is_some())
    }

    /// Of a few values of `vars` the first that give `body` the wanted truth value.
    pub fn sample(
        &self,
        env: &mut Env,
        vars: &[VarId],
        body: &Pred,
        wanted: bool,
    ) -> Res<Option<Vec<Value>>> {
        // What is still searched for would have to be known.
        let depth = self.sampling.get();
        let (Some(&most), false) = (TRIED.get(depth as usize), env.searching) else { return Ok(None) };
        let mut values = Vec::with_capacity(vars.len());
        let mut numbers = None;
        for v in vars {
            let some = match self.type_of(*v) {
                Type::Integer => numbers.get_or_insert_with(|| self.numbers_of(env, body)).clone(),
                Type::String => texts_of(body),
                ty @ (Type::Bool | Type::Set(_)) => {
                    let set = self.type_set(&ty);
                    match self.list(env, &set)? {
                        Some(list) if list.len() <= EACH => list.to_vec(),
                        _ => return Ok(None),
                    }
                }
                ty => {
                    let few = numbers.get_or_insert_with(|| self.numbers_of(env, body)).clone();
                    let set = self.set_about(env, body, vars, *v)?.unwrap_or_else(|| self.type_set(&ty));
                    let some = self.samples(env, &set, &ty, &few, DEPTH)?;
                    if some.is_empty() {
                        return Ok(None);
                    }
                    some
                }
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

    /// A set that the body, or its hypothesis, says a variable to lie in.
    fn set_about(&self, env: &mut Env, body: &Pred, vars: &[VarId], v: VarId) -> Res<Option<Value>> {
        match &body.kind {
            PredKind::And(ps) => {
                for p in ps {
                    if let Some(set) = self.set_about(env, p, vars, v)? {
                        return Ok(Some(set));
                    }
                }
                Ok(None)
            }
            PredKind::Label(_, p) | PredKind::Implies(p, _) => self.set_about(env, p, vars, v),
            PredKind::Rel(op @ (RelOp::In | RelOp::Subset), x, set)
                if matches!(x.kind, ExprKind::Var(w) if w == v)
                    && !bombus_lang::free::mentions(set, &|w| vars.contains(&w)) =>
            {
                Ok(settled(self.eval_lazy(env, set))?.map(|set| match op {
                    RelOp::In => set,
                    _ => Value::symbolic(Symbolic::Unary(UnOp::Pow, set)),
                }))
            }
            _ => Ok(None),
        }
    }

    /// A few values of a set; the body says whether they are what is wanted.
    fn samples(
        &self,
        env: &mut Env,
        set: &Value,
        ty: &Type,
        numbers: &[Value],
        depth: u32,
    ) -> Res<Vec<Value>> {
        if depth == 0 {
            return Ok(Vec::new());
        }
        let size = settled(self.card(env, set))?;
        if size.is_some_and(|size| size.log2() <= SMALL)
            && let Some(list) = settled(self.list(env, set))?.flatten()
        {
            return Ok(list.iter().take(EACH).cloned().collect());
        }
        let below = |env: &mut Env, set: &Value, ty: &Type| self.samples(env, set, ty, numbers, depth - 1);
        let symbolic = match set {
            Value::Symbolic(s) => &**s,
            _ => return Ok(Vec::new()),
        };
        let mut out = match (symbolic, ty) {
            (_, Type::Integer) => {
                let mut inside = Vec::new();
                for n in numbers {
                    if settled(self.member(env, n, set))? == Some(true) {
                        inside.push(n.clone());
                    }
                }
                inside
            }
            (_, Type::String) => TEXTS.iter().copied().map(Value::str).collect(),
            (Symbolic::Unary(UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1, of), Type::Pow(pair)) => {
                let Type::Prod(_, ty) = &**pair else { return Ok(Vec::new()) };
                let items = below(env, of, ty)?;
                let mut out = vec![Value::empty()];
                for length in 1..=LENGTH.min(items.len()) {
                    for first in 0..items.len().min(FIRSTS) {
                        let rotated = items.iter().cycle().skip(first).take(length);
                        out.push(sequence(rotated));
                    }
                    out.push(sequence(std::iter::repeat_n(&items[0], length)));
                }
                out
            }
            (Symbolic::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, of), Type::Pow(ty)) => {
                let elems = below(env, of, ty)?;
                let mut out = vec![Value::empty()];
                out.extend(elems.iter().take(EACH / 2).map(|x| Value::set(vec![x.clone()])));
                out.extend((2..=LENGTH.min(elems.len())).map(|n| Value::set(elems[..n].to_vec())));
                out.push(of.clone());
                out
            }
            (Symbolic::Binary(BinOp::Cartesian, a, b), Type::Prod(t, u)) => {
                let (left, right) = (below(env, a, t)?, below(env, b, u)?);
                let mut out = Vec::new();
                for x in left.iter().take(LENGTH) {
                    out.extend(right.iter().take(LENGTH).map(|y| Value::pair(x.clone(), y.clone())));
                }
                out
            }
            (Symbolic::Struct(sets), Type::Struct(fields)) => {
                let mut parts = Vec::with_capacity(sets.len());
                for (set, (_, ty)) in sets.iter().zip(fields.iter()) {
                    parts.push(below(env, set, ty)?);
                }
                let Some(first) = parts.iter().map(|p| p.first().cloned()).collect::<Option<Vec<Value>>>()
                else {
                    return Ok(Vec::new());
                };
                // The first values of all fields, and another one of one field.
                let mut out = vec![Value::Rec(first.clone().into())];
                for (i, part) in parts.iter().enumerate() {
                    out.extend(part.iter().skip(1).take(EACH / parts.len()).map(|x| {
                        let mut fields = first.clone();
                        fields[i] = x.clone();
                        Value::Rec(fields.into())
                    }));
                }
                out
            }
            (Symbolic::Binary(op, a, b), Type::Pow(pair)) if op.arrow().is_some() => {
                let Type::Prod(t, u) = &**pair else { return Ok(Vec::new()) };
                let (points, images) = (below(env, a, t)?, below(env, b, u)?);
                // The function with one value everywhere, and one pair alone.
                let everywhere = |y: &Value| {
                    let only = Value::set(vec![y.clone()]);
                    Value::symbolic(Symbolic::Binary(BinOp::Cartesian, a.clone(), only))
                };
                let mut out = vec![Value::empty()];
                out.extend(images.iter().take(EACH / 2).map(everywhere));
                for x in points.iter().take(LENGTH) {
                    let pair = |y: &Value| Value::set(vec![Value::pair(x.clone(), y.clone())]);
                    out.extend(images.iter().take(LENGTH).map(pair));
                }
                out
            }
            _ => Vec::new(),
        };
        out.truncate(EACH);
        Ok(out)
    }

    /// The values of `vars`, one list for each, that give the body the wanted truth value.
    fn try_values(
        &self,
        env: &mut Env,
        vars: &[VarId],
        values: &[Vec<Value>],
        (body, wanted): (&Pred, bool),
        left: &mut usize,
    ) -> Res<Option<Vec<Value>>> {
        let (Some((v, vars)), Some((some, values))) = (vars.split_first(), values.split_first()) else {
            *left = left.saturating_sub(1);
            self.tick()?;
            return match self.holds(env, body) {
                Ok(truth) => Ok((truth == wanted).then(Vec::new)),
                Err(e) if e.is_stop() => Err(e),
                Err(_) => Ok(None),
            };
        };
        for x in some {
            if *left == 0 {
                break;
            }
            env.bind(*v, x.clone());
            let found = self.try_values(env, vars, values, (body, wanted), left);
            env.unbind(*v);
            if let Some(mut later) = found? {
                later.insert(0, x.clone());
                return Ok(Some(later));
            }
        }
        Ok(None)
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

/// Texts worth trying: short ones, and those that the body names.
fn texts_of(body: &Pred) -> Vec<Value> {
    struct Named(Vec<Value>);
    impl Visit for Named {
        fn expr(&mut self, e: &Expr) {
            if let ExprKind::Str(text) = &e.kind {
                self.0.push(Value::Str(text.clone()));
            }
        }
    }
    let mut named = Named(TEXTS.iter().copied().map(Value::str).collect());
    visit_pred(body, &mut named);
    named.0.truncate(EACH);
    named.0
}

fn sequence<'a>(items: impl Iterator<Item = &'a Value>) -> Value {
    Value::sorted_set(
        (1..).zip(items).map(|(n, x): (i64, _)| Value::pair(Value::int(n), x.clone())).collect(),
    )
}
