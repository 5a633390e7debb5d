//! Bindings of quantified variables.
//!
//! In: variables and the predicate that bounds them. Out: one call for each binding that the predicate may allow. For
//! every other binding some conjunct is false, so a conjunction is false there whatever its other conjuncts are. That
//! rests on the bounding sets being defined: the literal that comes back says so.

use super::term::{LISTED, Term};
use super::{Encoder, Env};
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::partiality::may_be_undefined;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;

/// More instances of one quantifier than this are not made.
const INSTANCES: usize = 1 << 14;

type Each<'a, 'm> = &'a mut dyn FnMut(&mut Encoder<'m>, &mut Env) -> Option<()>;

/// How a conjunct bounds variables.
enum Source {
    /// All values, each tuple one value for each variable.
    Values(Vec<VarId>, Vec<Vec<Value>>),
    /// The variable is what an expression is.
    Same(VarId, Term),
}

/// One search for the bindings of a quantifier.
struct Binding<'a> {
    vars: &'a [VarId],
    conjuncts: &'a [&'a Pred],
    /// Instances that may still be made.
    left: usize,
    /// Each literal holds where a bounding expression is defined.
    sure: Vec<Lit>,
    /// Infinite types are sampled.
    sampling: bool,
}

impl<'m> Encoder<'m> {
    /// Calls `each` with every binding of `vars` that `p` may allow. The literal says that the bindings are all there are.
    pub(super) fn bindings(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        p: &Pred,
        each: Each<'_, 'm>,
    ) -> Option<Lit> {
        self.bindings_by(env, vars, &[p], each)
    }

    /// The same for a list of predicates that all have to hold.
    pub(super) fn bindings_by(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        preds: &[&Pred],
        each: Each<'_, 'm>,
    ) -> Option<Lit> {
        let all: Vec<&Pred> = preds.iter().flat_map(|p| p.conjuncts()).collect();
        let saved: Vec<_> = vars.iter().map(|v| (*v, env.put(*v, None))).collect();
        let mut search = Binding {
            vars,
            conjuncts: &all,
            left: INSTANCES,
            sure: Vec::new(),
            // Formulas inside are looked at in full.
            sampling: std::mem::take(&mut self.sampling),
        };
        let done = self.bind_next(env, &mut search, each);
        for (v, slot) in saved {
            env.put(v, slot);
        }
        done?;
        Some(self.g.and_all(&search.sure))
    }

    fn bind_next(&mut self, env: &mut Env, search: &mut Binding, each: Each<'_, 'm>) -> Option<()> {
        let open: Vec<VarId> = search.vars.iter().copied().filter(|v| env.get(*v).is_none()).collect();
        if open.is_empty() {
            search.left = search.left.checked_sub(1)?;
            if self.is_full() {
                return None;
            }
            return each(self, env);
        }
        match self.source(env, &open, search)? {
            Source::Same(v, term) => {
                env.bind(v, term);
                let done = self.bind_next(env, search, each);
                env.put(v, None);
                done
            }
            Source::Values(bound, tuples) => {
                for tuple in tuples {
                    for (v, value) in bound.iter().zip(&tuple) {
                        let term = self.known(value);
                        env.bind(*v, term);
                    }
                    let done = self.bind_next(env, search, each);
                    for v in &bound {
                        env.put(*v, None);
                    }
                    done?;
                }
                Some(())
            }
        }
    }

    /// The best way to bind a variable: an equation, else the smallest list of values.
    fn source(&mut self, env: &mut Env, open: &[VarId], search: &mut Binding) -> Option<Source> {
        let all = search.conjuncts;
        let ready = |e: &Expr| !free::mentions(e, &|v| open.contains(&v));
        for p in all {
            let PredKind::Rel(RelOp::Equal, a, b) = &p.kind else { continue };
            for (x, y) in [(a, b), (b, a)] {
                if let ExprKind::Var(v) = x.kind
                    && open.contains(&v)
                    && ready(y)
                {
                    let (term, d) = self.expr(env, y);
                    search.sure.push(d);
                    return Some(Source::Same(v, term));
                }
            }
        }
        let mut best: Option<(Vec<VarId>, Vec<Vec<Value>>, Lit)> = None;
        let mut better = |bound: Vec<VarId>, tuples: Vec<Vec<Value>>, d: Lit| {
            if best.as_ref().is_none_or(|(_, b, _)| tuples.len() < b.len()) {
                best = Some((bound, tuples, d));
            }
        };
        for p in all {
            let PredKind::Rel(op, a, b) = &p.kind else { continue };
            let mut pattern = Vec::new();
            if *op == RelOp::In && ready(b) && variables(a, open, &mut pattern) {
                if let Some((tuples, d)) = self.tuples(env, b, pattern.len()) {
                    better(pattern, tuples, d);
                }
            } else if *op == RelOp::Subset
                && ready(b)
                && let ExprKind::Var(v) = a.kind
                && open.contains(&v)
                && let Some((elems, d)) = self.candidates(env, b)
                && let Some(sets) = subsets(&elems)
            {
                better(vec![v], sets.into_iter().map(|s| vec![s]).collect(), d);
            }
        }
        for v in open {
            let ty = self.machine.vars.get(v.0 as usize)?.ty.clone();
            if let Some(values) = self.values_of_type(&ty, LISTED) {
                better(vec![*v], values.into_iter().map(|x| vec![x]).collect(), Lit::TRUE);
            } else if ty == Type::Integer
                && let Some((low, high, d)) = self.bounds_of(env, *v, open, all)
                && high.checked_sub(low).is_some_and(|n| n < LISTED as i64)
            {
                better(vec![*v], (low..=high).map(|i| vec![Value::int(i)]).collect(), d);
            }
        }
        if best.is_none() && search.sampling {
            let v = open[0];
            self.sampled = true;
            if let Some(term) = self.bound_term(env, v, open, all) {
                return Some(Source::Same(v, term));
            }
            let samples = self.samples(&self.machine.var(v).ty.clone())?;
            return Some(Source::Values(vec![v], samples.into_iter().map(|x| vec![x]).collect()));
        }
        let (bound, tuples, d) = best?;
        search.sure.push(d);
        Some(Source::Values(bound, tuples))
    }

    /// The elements that a set may have, as tuples of so many components, and the literal of the set being defined.
    fn tuples(&mut self, env: &mut Env, set: &Expr, count: usize) -> Option<(Vec<Vec<Value>>, Lit)> {
        let (elems, d) = self.candidates(env, set)?;
        let mut out = Vec::with_capacity(elems.len());
        for elem in elems {
            let mut parts = Vec::with_capacity(count);
            let mut rest = elem;
            for _ in 1..count {
                let (a, b) = rest.as_pair()?;
                parts.push(b.clone());
                rest = a.clone();
            }
            parts.push(rest);
            parts.reverse();
            out.push(parts);
        }
        Some((out, d))
    }

    /// The elements that a set may have, and the literal of the set being defined.
    pub(super) fn candidates(&mut self, env: &mut Env, set: &Expr) -> Option<(Vec<Value>, Lit)> {
        match &set.kind {
            ExprKind::Natural | ExprKind::Natural1 => return None,
            ExprKind::Binary(BinOp::Inter, a, b) => {
                let (x, y) = (self.candidates(env, a), self.candidates(env, b));
                return match (x, y) {
                    (Some((x, d)), Some((y, e))) => {
                        Some((if x.len() <= y.len() { x } else { y }, self.g.and(d, e)))
                    }
                    (Some(one), None) if !may_be_undefined(b) => Some(one),
                    (None, Some(other)) if !may_be_undefined(a) => Some(other),
                    _ => None,
                };
            }
            ExprKind::Binary(BinOp::SetMinus, a, b) => {
                let (x, d) = self.candidates(env, a)?;
                let e = if may_be_undefined(b) { self.expr(env, b).1 } else { Lit::TRUE };
                return Some((x, self.g.and(d, e)));
            }
            ExprKind::Binary(op, a, b) if op.arrow().is_some() => {
                let ((x, d), (y, e)) = (self.candidates(env, a)?, self.candidates(env, b)?);
                let pairs: Vec<Value> =
                    x.iter().flat_map(|a| y.iter().map(|b| Value::pair(a.clone(), b.clone()))).collect();
                return Some((subsets(&pairs)?, self.g.and(d, e)));
            }
            ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, a) => {
                let (x, d) = self.candidates(env, a)?;
                return Some((subsets(&x)?, d));
            }
            ExprKind::Symbolic(inner) => return self.candidates(env, inner),
            _ => {}
        }
        if let Type::Pow(of) = &set.ty
            && matches!(set.kind, ExprKind::TypeSet(_))
        {
            return Some((self.values_of_type(of, LISTED)?, Lit::TRUE));
        }
        let (term, d) = self.expr(env, set);
        match (self.spread(term)?, d) {
            (Term::Set(rows), d) if rows.len() <= 4 * LISTED => Some((rows.keys().cloned().collect(), d)),
            _ => None,
        }
    }

    /// A value that just satisfies some comparison of an integer with something known.
    fn bound_term(&mut self, env: &mut Env, v: VarId, open: &[VarId], all: &[&Pred]) -> Option<Term> {
        let is = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
        let ready = |e: &Expr| !free::mentions(e, &|w| open.contains(&w));
        for p in all {
            let PredKind::Rel(op, a, b) = &p.kind else { continue };
            let (other, step): (&Expr, i64) = match (op, is(a), is(b)) {
                (RelOp::LessEqual | RelOp::GreaterEqual, true, _) => (b, 0),
                (RelOp::LessEqual | RelOp::GreaterEqual, _, true) => (a, 0),
                (RelOp::Less, true, _) | (RelOp::Greater, true, _) => {
                    (b, if *op == RelOp::Less { -1 } else { 1 })
                }
                (RelOp::Less, _, true) | (RelOp::Greater, _, true) => {
                    (a, if *op == RelOp::Less { 1 } else { -1 })
                }
                (RelOp::In, true, _) => match &b.kind {
                    ExprKind::Binary(BinOp::Interval, low, _) => (&**low, 0),
                    _ => continue,
                },
                _ => continue,
            };
            if ready(other)
                && let (Term::Int(n), _) = self.expr(env, other)
            {
                let step = self.number(&Int::from(step));
                return Some(Term::Int(self.num_add(&n, &step)));
            }
        }
        None
    }

    /// Some values of an infinite type, for a question that one good value answers.
    fn samples(&self, ty: &Type) -> Option<Vec<Value>> {
        match ty {
            Type::Integer => {
                let (low, high) = (self.machine.minint.small()?, self.machine.maxint.small()?);
                Some((low.clamp(-8, 0)..=high.clamp(1, 8)).map(Value::int).collect())
            }
            Type::Pow(_) => Some(vec![Value::empty()]),
            _ => None,
        }
    }

    /// Bounds that comparisons give an integer.
    pub(super) fn bounds_of(
        &mut self,
        env: &mut Env,
        v: VarId,
        open: &[VarId],
        all: &[&Pred],
    ) -> Option<(i64, i64, Lit)> {
        let (mut low, mut high): (Option<i64>, Option<i64>) = (None, None);
        let mut defined = Vec::new();
        for p in all {
            let PredKind::Rel(op, a, b) = &p.kind else { continue };
            let is = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
            let ready = |e: &Expr| !free::mentions(e, &|w| open.contains(&w));
            if *op == RelOp::In && is(a) {
                if let ExprKind::Natural | ExprKind::Natural1 = b.kind {
                    let least = i64::from(b.kind == ExprKind::Natural1);
                    low = Some(low.map_or(least, |l| l.max(least)));
                } else if let ExprKind::Binary(BinOp::Interval, x, y) = &b.kind
                    && ready(b)
                {
                    let ((x, d), (y, e)) = (self.expr(env, x), self.expr(env, y));
                    if let Some((l, _)) = x.as_int().and_then(|n| n.range())
                        && let Some(l) = l.small()
                    {
                        low = Some(low.map_or(l, |m| m.max(l)));
                        defined.push(d);
                    }
                    if let Some((_, h)) = y.as_int().and_then(|n| n.range())
                        && let Some(h) = h.small()
                    {
                        high = Some(high.map_or(h, |m| m.min(h)));
                        defined.push(e);
                    }
                }
                continue;
            }
            let (upper, strict, other): (bool, i64, &Expr) = match (op, is(a), is(b)) {
                (RelOp::LessEqual, true, _) => (true, 0, b),
                (RelOp::Less, true, _) => (true, 1, b),
                (RelOp::GreaterEqual, true, _) => (false, 0, b),
                (RelOp::Greater, true, _) => (false, 1, b),
                (RelOp::LessEqual, _, true) => (false, 0, a),
                (RelOp::Less, _, true) => (false, 1, a),
                (RelOp::GreaterEqual, _, true) => (true, 0, a),
                (RelOp::Greater, _, true) => (true, 1, a),
                _ => continue,
            };
            if !ready(other) {
                continue;
            }
            let (term, d) = self.expr(env, other);
            let Some((l, h)) = term.as_int().and_then(|n| n.range()) else { continue };
            let bound = if upper { h.sub(&Int::from(strict)) } else { l.add(&Int::from(strict)) };
            let Some(bound) = bound.small() else { continue };
            defined.push(d);
            if upper {
                high = Some(high.map_or(bound, |m| m.min(bound)));
            } else {
                low = Some(low.map_or(bound, |m| m.max(bound)));
            }
        }
        Some((low?, high?, self.g.and_all(&defined)))
    }

    /// All values of a finite type, if there are not too many.
    pub(super) fn values_of_type(&mut self, t: &Type, most: usize) -> Option<Vec<Value>> {
        let all = match t {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Set(id) => {
                let size = self.machine.set(*id).elems.len();
                if size > most {
                    return None;
                }
                (0..size as u32).map(|n| Value::Elem(*id, n)).collect()
            }
            Type::Prod(a, b) => {
                let (x, y) = (self.values_of_type(a, most)?, self.values_of_type(b, most)?);
                if x.len() * y.len() > most {
                    return None;
                }
                x.iter().flat_map(|a| y.iter().map(|b| Value::pair(a.clone(), b.clone()))).collect()
            }
            Type::Pow(t) => subsets(&self.values_of_type(t, most.ilog2() as usize)?)?,
            Type::Struct(fields) => {
                let mut all: Vec<Vec<Value>> = vec![Vec::new()];
                for (_, t) in fields.iter() {
                    let values = self.values_of_type(t, most)?;
                    if all.len() * values.len() > most {
                        return None;
                    }
                    all = all
                        .iter()
                        .flat_map(|before| {
                            values.iter().map(|v| {
                                let mut longer = before.clone();
                                longer.push(v.clone());
                                longer
                            })
                        })
                        .collect();
                }
                all.into_iter().map(|parts| Value::Rec(parts.into())).collect()
            }
            Type::Integer | Type::String | Type::Real | Type::Free(_) | Type::Any => return None,
        };
        (all.len() <= most).then_some(all)
    }
}

/// All subsets, if there are not too many.
fn subsets(elems: &[Value]) -> Option<Vec<Value>> {
    if elems.len() > LISTED.ilog2() as usize {
        return None;
    }
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for v in elems {
        for i in 0..all.len() {
            let mut with = all[i].clone();
            with.push(v.clone());
            all.push(with);
        }
    }
    Some(all.into_iter().map(Value::set).collect())
}

/// Whether an expression is a tuple of distinct open variables, nested to the left.
fn variables(e: &Expr, open: &[VarId], out: &mut Vec<VarId>) -> bool {
    match &e.kind {
        ExprKind::Var(v) if open.contains(v) && !out.contains(v) => {
            out.push(*v);
            true
        }
        ExprKind::Pair(a, b) => {
            variables(a, open, out) && matches!(b.kind, ExprKind::Var(_)) && variables(b, open, out)
        }
        _ => false,
    }
}
