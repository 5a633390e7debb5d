//! Leaves: unknowns of a type, confined by what is said of them.
//!
//! In: variables with the predicates that will be asserted of them. Out: terms of fresh literals. A conjunct such as
//! `x : 1..64`, `s <: A` or `f : A +-> B` says which literals a leaf needs; values that the conjunct excludes have none.
//! Whoever asks for a leaf asserts those conjuncts wherever the leaf matters, so nothing is lost. An integer without
//! bounds is limited (`number`), and what has no literals at all is opaque.

use super::images::{ARGUMENTS, Images};
use super::term::{ROWS, Rows, Term};
use super::{Encoder, Env};
use crate::sat::Lit;
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::typed::{Arrow, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// What is known of an unknown beside its type.
enum Hint {
    /// An integer between two numbers.
    Range(i64, i64),
    /// A set of some of these elements.
    Elements(Vec<Value>),
    /// One of these values.
    Values(Vec<Value>),
    /// A function with some of these arguments, or just those whose literals hold, and such images.
    Images(Vec<(Value, Option<Lit>)>, Option<Box<Hint>>),
    /// A pair of such parts.
    Pair(Option<Box<Hint>>, Option<Box<Hint>>),
    /// A record of such parts.
    Record(Vec<Option<Hint>>),
}

/// Sequences of which no length is known are taken to have no literals.
const LONGEST: i64 = 64;

impl Encoder<'_> {
    /// An unknown of a type.
    pub fn leaf_of(&mut self, ty: &Type) -> Term {
        self.hinted(ty, None)
    }

    /// Binds variables to leaves that are confined by the conjuncts of the predicates.
    pub fn bind_leaves(&mut self, env: &mut Env, vars: &[VarId], preds: &[&Pred]) {
        let all: Vec<&Pred> = preds.iter().flat_map(|p| p.conjuncts()).collect();
        let mut open: Vec<VarId> = vars.to_vec();
        // A variable whose bounds speak of others waits for them.
        while !open.is_empty() {
            let mut bound = Vec::new();
            for v in open.clone() {
                let ty = self.machine.var(v).ty.clone();
                if ty == Type::Bool || matches!(ty, Type::Set(_)) {
                    let term = self.leaf_of(&ty);
                    env.bind(v, term);
                    bound.push(v);
                    open.retain(|w| *w != v);
                    continue;
                }
                if let Some(hint) = self.hint(env, v, &ty, &open, &all) {
                    let term = self.hinted(&ty, Some(&hint));
                    env.bind(v, term);
                    bound.push(v);
                    open.retain(|w| *w != v);
                }
            }
            if bound.is_empty() {
                let v = open.remove(0);
                let term = self.leaf_of(&self.machine.var(v).ty.clone());
                if term.is_opaque() {
                    let (name, ty) = (&self.machine.var(v).name, self.type_word(&self.machine.var(v).ty));
                    self.weak(format!("{name} has no literals: nothing bounds its values of type {ty}"));
                }
                env.bind(v, term);
            }
        }
    }

    /// An unknown element of a set, as a tuple for several variables.
    pub(super) fn leaf_in(&mut self, env: &mut Env, vars: &[VarId], set: &Expr) -> Term {
        let types = vars.iter().map(|v| self.machine.var(*v).ty.clone());
        let ty = types.reduce(Type::prod).unwrap_or(Type::Any);
        let hint = self.hint_of(env, set, None);
        self.hinted(&ty, hint.as_ref())
    }

    /// What the conjuncts say of a variable, as far as they speak of known variables.
    fn hint(&mut self, env: &mut Env, v: VarId, ty: &Type, open: &[VarId], all: &[&Pred]) -> Option<Hint> {
        if *ty == Type::Integer
            && let Some((low, high, _)) = self.bounds_of(env, v, open, all)
        {
            return (low <= high).then_some(Hint::Range(low, high));
        }
        let longest = self.longest(env, v, open, all);
        for p in all {
            let PredKind::Rel(op, a, b) = &p.kind else { continue };
            let is = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
            let ready = |e: &Expr| !free::mentions(e, &|w| open.contains(&w));
            let hint = match op {
                RelOp::In if is(a) && ready(b) => self.hint_of(env, b, longest),
                RelOp::Subset | RelOp::StrictSubset if is(a) && ready(b) => {
                    self.candidates(env, b).map(|(elems, _)| Hint::Elements(elems))
                }
                RelOp::Equal if (is(a) && ready(b)) || (is(b) && ready(a)) => {
                    let (term, _) = self.expr(env, if is(a) { b } else { a });
                    match &term {
                        Term::Int(n) => {
                            n.range().and_then(|(l, h)| Some(Hint::Range(l.small()?, h.small()?)))
                        }
                        Term::Set(rows) => Some(Hint::Elements(rows.keys().cloned().collect())),
                        Term::Images(images) => {
                            Some(Hint::Images(images.keys().map(|v| (v.clone(), None)).collect(), None))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            if hint.is_some() {
                return hint;
            }
        }
        None
    }

    /// The greatest length that a conjunct such as `size(s) <= 4` allows.
    fn longest(&mut self, env: &mut Env, v: VarId, open: &[VarId], all: &[&Pred]) -> Option<i64> {
        for p in all {
            let PredKind::Rel(op, a, b) = &p.kind else { continue };
            let (of, bound, strict) = match op {
                RelOp::LessEqual | RelOp::Equal => (a, b, 0),
                RelOp::Less => (a, b, 1),
                RelOp::GreaterEqual => (b, a, 0),
                RelOp::Greater => (b, a, 1),
                _ => continue,
            };
            if let ExprKind::Unary(UnOp::Size | UnOp::Card, s) = &of.kind
                && matches!(s.kind, ExprKind::Var(w) if w == v)
                && !free::mentions(bound, &|w| open.contains(&w))
            {
                let (term, _) = self.expr(env, bound);
                if let Some((_, high)) = term.as_int().and_then(|n| n.range())
                    && let Some(high) = high.small()
                {
                    return Some((high - strict).clamp(0, LONGEST));
                }
            }
        }
        None
    }

    /// What membership in a set says.
    fn hint_of(&mut self, env: &mut Env, set: &Expr, longest: Option<i64>) -> Option<Hint> {
        match &set.kind {
            ExprKind::Binary(BinOp::Interval, a, b) => {
                let ((x, _), (y, _)) = (self.expr(env, a), self.expr(env, b));
                let (low, high) = (x.as_int()?.range()?.0.small()?, y.as_int()?.range()?.1.small()?);
                (low <= high).then_some(Hint::Range(low, high))
            }
            ExprKind::Binary(op, a, b) if op.arrow().is_some() => {
                let (x, _) = self.candidates(env, a)?;
                let Some((y, _)) = self.candidates(env, b).filter(|(y, _)| x.len() * y.len() <= ROWS) else {
                    return self.hint_by_images(env, op.arrow()?, x, (a, b));
                };
                let pairs = x.iter().flat_map(|a| y.iter().map(|b| Value::pair(a.clone(), b.clone())));
                Some(Hint::Elements(pairs.collect()))
            }
            ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, a) => {
                Some(Hint::Elements(self.candidates(env, a)?.0))
            }
            ExprKind::Unary(op @ (UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm), a) => {
                let (values, _) = self.candidates(env, a)?;
                let injective = matches!(op, UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm);
                let most = if injective { values.len() as i64 } else { longest? };
                let most = longest.map_or(most, |l| l.min(most));
                let rows = (1..=most)
                    .flat_map(|i| values.iter().map(move |v| Value::pair(Value::int(i), v.clone())));
                let rows: Vec<Value> = rows.collect();
                (rows.len() <= ROWS).then_some(Hint::Elements(rows))
            }
            ExprKind::Binary(BinOp::Cartesian, a, b) => {
                let (x, y) = (self.hint_of(env, a, None), self.hint_of(env, b, None));
                Some(Hint::Pair(x.map(Box::new), y.map(Box::new)))
            }
            ExprKind::StructSet(sets) => {
                Some(Hint::Record(sets.iter().map(|s| self.hint_of(env, s, None)).collect()))
            }
            ExprKind::Symbolic(inner) => self.hint_of(env, inner, longest),
            _ => {
                let (values, _) = self.candidates(env, set)?;
                Some(Hint::Values(values))
            }
        }
    }

    /// A function whose images cannot be listed.
    fn hint_by_images(
        &mut self,
        env: &mut Env,
        arrow: Arrow,
        arguments: Vec<Value>,
        (a, b): (&Expr, &Expr),
    ) -> Option<Hint> {
        if !arrow.functional || arguments.len() > ARGUMENTS {
            return None;
        }
        let whole = if arrow.total { Some(self.expr(env, a).0) } else { None };
        let rows = whole.as_ref().map(|t| t.as_set());
        let there = |v: &Value| match &rows {
            Some(rows) => Some(rows.as_ref()?.get(v).copied().unwrap_or(Lit::FALSE)),
            None => None,
        };
        let arguments = arguments.into_iter().map(|v| (v.clone(), there(&v))).collect();
        Some(Hint::Images(arguments, self.hint_of(env, b, None).map(Box::new)))
    }

    fn hinted(&mut self, ty: &Type, hint: Option<&Hint>) -> Term {
        match (ty, hint) {
            (Type::Bool, _) => Term::Bool(self.g.fresh()),
            (Type::Integer, Some(Hint::Range(low, high))) => {
                Term::Int(self.num_between(&Int::from(*low), &Int::from(*high)))
            }
            (Type::Integer, Some(Hint::Values(values))) => {
                let numbers = || values.iter().filter_map(Value::as_int);
                match (numbers().min(), numbers().max()) {
                    (Some(low), Some(high)) => Term::Int(self.num_between(low, high)),
                    _ => Term::Int(self.num_limited()),
                }
            }
            (Type::Integer, _) => Term::Int(self.num_limited()),
            (Type::Set(id), _) => {
                let size = self.machine.set(*id).elems.len();
                if size == 0 {
                    return self.opaque();
                }
                let lits = self.g.one_hot(size);
                let choices = lits.into_iter().enumerate().map(|(n, l)| (Value::Elem(*id, n as u32), l));
                Term::Choice(choices.collect())
            }
            (Type::Pow(_), Some(Hint::Elements(elems))) => {
                Term::Set(Arc::new(elems.iter().map(|v| (v.clone(), self.g.fresh())).collect::<Rows>()))
            }
            (Type::Pow(pair), Some(Hint::Images(arguments, image))) => {
                let Type::Prod(_, to) = &**pair else { return self.opaque() };
                let mut images = Images::new();
                for (v, there) in arguments {
                    let there = there.unwrap_or_else(|| self.g.fresh());
                    let term = self.hinted(to, image.as_deref());
                    if term.is_opaque() {
                        return term;
                    }
                    images.insert(v.clone(), (there, term));
                }
                Term::images(images)
            }
            (Type::Pow(_), Some(Hint::Values(values))) => {
                let mut elems: Vec<Value> =
                    values.iter().filter_map(Value::as_set).flatten().cloned().collect();
                elems.sort();
                elems.dedup();
                self.hinted(ty, Some(&Hint::Elements(elems)))
            }
            (Type::Pow(of), _) => match self.values_of_type(of, ROWS) {
                Some(elems) => self.hinted(ty, Some(&Hint::Elements(elems))),
                None => self.opaque(),
            },
            (Type::Prod(a, b), Some(Hint::Pair(x, y))) => {
                let first = self.hinted(a, x.as_deref());
                Term::pair(first, self.hinted(b, y.as_deref()))
            }
            (Type::Prod(a, b), Some(Hint::Values(values))) => {
                let part = |first: bool| {
                    let parts = values.iter().filter_map(Value::as_pair);
                    Hint::Values(parts.map(|(x, y)| if first { x } else { y }.clone()).collect())
                };
                let first = self.hinted(a, Some(&part(true)));
                Term::pair(first, self.hinted(b, Some(&part(false))))
            }
            (Type::Prod(a, b), _) => {
                let first = self.hinted(a, None);
                Term::pair(first, self.hinted(b, None))
            }
            (Type::Struct(fields), hint) => {
                let mut parts = Vec::with_capacity(fields.len());
                for (i, (_, t)) in fields.iter().enumerate() {
                    let part = match hint {
                        Some(Hint::Record(hints)) => self.hinted(t, hints.get(i).and_then(Option::as_ref)),
                        _ => self.hinted(t, None),
                    };
                    parts.push(part);
                }
                Term::Rec(parts.into())
            }
            (Type::String | Type::Real | Type::Free(_), Some(Hint::Values(values))) if !values.is_empty() => {
                let mut values = values.clone();
                values.sort();
                values.dedup();
                let lits = self.g.one_hot(values.len());
                Term::Choice(values.into_iter().zip(lits).collect())
            }
            (Type::String | Type::Real | Type::Free(_) | Type::Any, _) => self.opaque(),
        }
    }
}
