//! Operators on sets and relations whose arguments are values already.
//!
//! In: an operator and its arguments, listed or symbolic. Out: a listed set where the arguments
//! allow it, a symbolic one otherwise.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use crate::simplified::decided;
use crate::size::Card;
use bombus_base::{Int, Span};
use bombus_lang::typed::{BinOp, Expr, Type, UnOp};
use bombus_lang::value::symbolic::FunctionKind;
use bombus_lang::value::{Base, Closure, ClosureKind, Symbolic, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Interpreter<'_> {
    pub(crate) fn unary_set(&self, env: &mut Env, op: UnOp, a: Value, e: &Expr) -> Res<Value> {
        let span = e.span;
        match op {
            UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1 => Ok(Value::symbolic(Symbolic::Unary(op, a))),
            UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 => Ok(Value::symbolic(Symbolic::Unary(op, a))),
            UnOp::Perm => {
                if !self.is_finite(env, &a)? {
                    return Err(Error::undefined(span, "perm of an infinite set"));
                }
                Ok(Value::symbolic(Symbolic::Unary(op, a)))
            }
            UnOp::Card => match self.card(env, &a)? {
                Card::Finite(n) => Ok(Value::Int(n)),
                Card::Infinite => Err(Error::undefined(span, "card of an infinite set")),
                Card::Huge => Err(Error::too_large("the size of a set is too large a number")),
                Card::Unknown => match self.length_of_spans(env, &a)? {
                    Some(n) => Ok(Value::Int(n)),
                    None => Ok(Value::Int(Int::from(self.need_list(env, &a, span)?.len()))),
                },
            },
            UnOp::Min | UnOp::Max => self.extremum(env, op, a, span),
            UnOp::Union => {
                let sets = self.need_list(env, &a, span)?;
                let mut elems = Vec::new();
                let mut symbolic = Vec::new();
                for set in sets.iter() {
                    match self.list(env, set)? {
                        Some(list) => elems.extend(list.iter().cloned()),
                        None => symbolic.push(set.clone()),
                    }
                }
                let start = self.set_of(env, elems)?;
                Ok(symbolic
                    .into_iter()
                    .fold(start, |u, s| Value::symbolic(Symbolic::Binary(BinOp::Union, u, s))))
            }
            UnOp::Inter => {
                let sets = self.need_list(env, &a, span)?;
                self.intersection(env, sets.to_vec(), span)
            }
            UnOp::Inverse => match self.list(env, &a)? {
                Some(pairs) => Ok(Value::set(pairs.iter().map(flip).collect())),
                None => Ok(match &a {
                    Value::Symbolic(s) => match &**s {
                        Symbolic::Unary(UnOp::Inverse, r) => r.clone(),
                        // An identity relates nothing but equals.
                        Symbolic::Unary(UnOp::Id, _)
                        | Symbolic::Base(Base::Function(FunctionKind::Id, _)) => a,
                        // n+1 = m just if n = m-1.
                        Symbolic::Base(Base::Function(FunctionKind::Succ, t)) => {
                            Value::symbolic(Symbolic::Base(Base::Function(FunctionKind::Pred, t.clone())))
                        }
                        Symbolic::Base(Base::Function(FunctionKind::Pred, t)) => {
                            Value::symbolic(Symbolic::Base(Base::Function(FunctionKind::Succ, t.clone())))
                        }
                        Symbolic::Binary(BinOp::Cartesian, s, t) => {
                            Value::symbolic(Symbolic::Binary(BinOp::Cartesian, t.clone(), s.clone()))
                        }
                        _ => Value::symbolic(Symbolic::Unary(UnOp::Inverse, a)),
                    },
                    _ => Value::symbolic(Symbolic::Unary(UnOp::Inverse, a)),
                }),
            },
            UnOp::Dom => self.domain(env, &a),
            UnOp::Ran => self.range(env, &a),
            UnOp::Id => Ok(match self.list(env, &a)? {
                Some(elems) => {
                    Value::sorted_set(elems.iter().map(|x| Value::pair(x.clone(), x.clone())).collect())
                }
                None => Value::symbolic(Symbolic::Unary(UnOp::Id, a)),
            }),
            UnOp::Closure1 => match self.list(env, &a)? {
                Some(pairs) => self.closure1(&pairs),
                None => Ok(Value::symbolic(Symbolic::Unary(UnOp::Closure1, a))),
            },
            UnOp::Closure => {
                let pairs = self.need_list(env, &a, span)?;
                let strict = self.closure1(&pairs)?;
                let id = identity(&e.ty);
                self.binary(env, BinOp::Union, strict, id, e)
            }
            UnOp::Fnc => {
                let pairs = self.need_list(env, &a, span)?;
                let mut rows: BTreeMap<&Value, Vec<Value>> = BTreeMap::new();
                for (x, y) in pairs.iter().filter_map(Value::as_pair) {
                    rows.entry(x).or_default().push(y.clone());
                }
                Ok(Value::sorted_set(
                    rows.into_iter().map(|(x, ys)| Value::pair(x.clone(), Value::set(ys))).collect(),
                ))
            }
            UnOp::Rel => {
                let pairs = self.need_list(env, &a, span)?;
                let mut out = Vec::new();
                for (x, ys) in pairs.iter().filter_map(Value::as_pair) {
                    for y in self.need_list(env, ys, span)?.iter() {
                        out.push(Value::pair(x.clone(), y.clone()));
                    }
                }
                Ok(Value::set(out))
            }
            UnOp::Size | UnOp::First | UnOp::Last | UnOp::Front | UnOp::Tail | UnOp::Rev | UnOp::Conc => {
                self.unary_seq(env, op, a, span)
            }
            UnOp::Tree
            | UnOp::Btree
            | UnOp::Top
            | UnOp::Sons
            | UnOp::Prefix
            | UnOp::Postfix
            | UnOp::Sizet
            | UnOp::Mirror
            | UnOp::Bin1
            | UnOp::Left
            | UnOp::Right
            | UnOp::Infix => self.unary_tree(env, op, a, span),
            UnOp::Neg | UnOp::Floor | UnOp::Ceiling | UnOp::ToReal | UnOp::First2 | UnOp::Second2 => {
                Err(self.ill_typed("a number or pair", &a, span))
            }
        }
    }

    pub(crate) fn intersection(&self, env: &mut Env, sets: Vec<Value>, span: Span) -> Res<Value> {
        let mut sets = sets.into_iter();
        let Some(mut result) = sets.next() else {
            return Err(Error::undefined(span, "intersection of no set"));
        };
        for s in sets {
            result = self.inter(env, result, s)?;
        }
        Ok(result)
    }

    pub(crate) fn inter(&self, env: &mut Env, a: Value, b: Value) -> Res<Value> {
        if let (Value::Set(x), Value::Set(y)) = (&a, &b)
            && !a.mentions_symbolic()
            && !b.mentions_symbolic()
        {
            let (small, large) = if x.len() <= y.len() { (x, y) } else { (y, x) };
            return Ok(Value::sorted_set(
                small.iter().filter(|e| large.binary_search(e).is_ok()).cloned().collect(),
            ));
        }
        let (list, other) = match (self.list(env, &a)?, &b) {
            (Some(list), _) => (list, b),
            (None, _) => match self.list(env, &b)? {
                Some(list) => (list, a),
                None => {
                    return match self.inter_by_form(env, &a, &b)? {
                        Some(both) => Ok(both),
                        None => Ok(Value::symbolic(Symbolic::Binary(BinOp::Inter, a, b))),
                    };
                }
            },
        };
        self.keep(env, &list, &mut |this, env, x| this.member(env, x, &other))
    }

    /// The elements of a list that satisfy a test.
    fn keep(
        &self,
        env: &mut Env,
        list: &[Value],
        test: &mut dyn FnMut(&Self, &mut Env, &Value) -> Res<bool>,
    ) -> Res<Value> {
        let mut kept = Vec::new();
        self.charge(list.len())?;
        for x in list {
            if test(self, env, x)? {
                kept.push(x.clone());
            }
        }
        Ok(Value::sorted_set(kept))
    }

    pub fn domain(&self, env: &mut Env, a: &Value) -> Res<Value> {
        if let Value::Symbolic(s) = a {
            match &**s {
                Symbolic::Closure(c) if c.code.kind == ClosureKind::Lambda => {
                    let code = self.domain_code(&c.code);
                    return Ok(Value::symbolic(Symbolic::Closure(Closure {
                        code,
                        captured: c.captured.clone(),
                    })));
                }
                Symbolic::Base(Base::Function(_, t)) => return Ok(self.type_set(t)),
                Symbolic::Base(Base::Constructor(id, c)) => return self.constructor_domain(env, *id, *c),
                Symbolic::Unary(UnOp::Inverse, r) => return self.range(env, r),
                Symbolic::Unary(UnOp::Id, s) => return Ok(s.clone()),
                Symbolic::Unary(UnOp::Closure1, r) => return self.domain(env, r),
                Symbolic::Binary(op, x, y) => match op {
                    BinOp::Cartesian => {
                        return Ok(if self.is_empty(env, y)? { Value::empty() } else { x.clone() });
                    }
                    // A projection is total on the product.
                    BinOp::Prj1 | BinOp::Prj2 => {
                        return Ok(Value::symbolic(Symbolic::Binary(BinOp::Cartesian, x.clone(), y.clone())));
                    }
                    BinOp::Union | BinOp::Override => {
                        let (x, y) = (self.domain(env, x)?, self.domain(env, y)?);
                        return self.set_union(env, x, y);
                    }
                    BinOp::DomRestrict => {
                        let d = self.domain(env, y)?;
                        return self.inter(env, x.clone(), d);
                    }
                    BinOp::DomSubtract => {
                        let d = self.domain(env, y)?;
                        return self.minus(env, d, x.clone());
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        match self.list(env, a)? {
            Some(pairs) => {
                let mut out: Vec<Value> = Vec::with_capacity(pairs.len());
                for (x, _) in pairs.iter().filter_map(Value::as_pair) {
                    if out.last() != Some(x) {
                        out.push(x.clone());
                    }
                }
                Ok(Value::set(out))
            }
            None => Ok(Value::symbolic(Symbolic::Unary(UnOp::Dom, a.clone()))),
        }
    }

    pub(crate) fn range(&self, env: &mut Env, a: &Value) -> Res<Value> {
        if let Value::Symbolic(s) = a {
            match &**s {
                Symbolic::Base(Base::Function(f, t)) => match (f, t) {
                    (FunctionKind::Prj1, Type::Prod(x, _)) => return Ok(self.type_set(x)),
                    (FunctionKind::Prj2, Type::Prod(_, y)) => return Ok(self.type_set(y)),
                    (FunctionKind::Prj1 | FunctionKind::Prj2, _) => {}
                    _ => return Ok(self.type_set(t)),
                },
                Symbolic::Unary(UnOp::Inverse, r) => return self.domain(env, r),
                Symbolic::Unary(UnOp::Id, s) => return Ok(s.clone()),
                Symbolic::Unary(UnOp::Closure1, r) => return self.range(env, r),
                Symbolic::Binary(BinOp::Cartesian | BinOp::Prj2, x, y) => {
                    return Ok(if self.is_empty(env, x)? { Value::empty() } else { y.clone() });
                }
                Symbolic::Binary(BinOp::Prj1, x, y) => {
                    return Ok(if self.is_empty(env, y)? { Value::empty() } else { x.clone() });
                }
                Symbolic::Binary(BinOp::Union, x, y) => {
                    let (x, y) = (self.range(env, x)?, self.range(env, y)?);
                    return self.set_union(env, x, y);
                }
                _ => {}
            }
        }
        match self.list(env, a)? {
            Some(pairs) => {
                Ok(Value::set(pairs.iter().filter_map(Value::as_pair).map(|(_, y)| y.clone()).collect()))
            }
            None => Ok(Value::symbolic(Symbolic::Unary(UnOp::Ran, a.clone()))),
        }
    }

    /// Transitive closure: from every point, what is reached in one or more steps.
    fn closure1(&self, pairs: &Arc<[Value]>) -> Res<Value> {
        let mut next: BTreeMap<&Value, Vec<&Value>> = BTreeMap::new();
        for (x, y) in pairs.iter().filter_map(Value::as_pair) {
            next.entry(x).or_default().push(y);
        }
        let mut out = Vec::new();
        for (x, direct) in &next {
            let mut seen: BTreeSet<&Value> = BTreeSet::new();
            let mut todo: Vec<&Value> = direct.clone();
            while let Some(y) = todo.pop() {
                self.tick()?;
                if seen.insert(y)
                    && let Some(more) = next.get(y)
                {
                    todo.extend(more);
                }
            }
            if out.len() > crate::COMPREHENSION {
                // What a point leads to is found when it is asked for.
                return Ok(Value::symbolic(Symbolic::Unary(UnOp::Closure1, Value::Set(pairs.clone()))));
            }
            out.extend(seen.into_iter().map(|y| Value::pair((*x).clone(), y.clone())));
        }
        Ok(Value::set(out))
    }

    pub(crate) fn set_union(&self, env: &mut Env, a: Value, b: Value) -> Res<Value> {
        if let (Value::Set(x), Value::Set(y)) = (&a, &b)
            && !a.mentions_symbolic()
            && !b.mentions_symbolic()
        {
            return Ok(merge(x, y));
        }
        match (self.list(env, &a)?, self.list(env, &b)?) {
            (Some(x), Some(y)) => self.set_of(env, x.iter().chain(y.iter()).cloned().collect()),
            (Some(x), None) if x.is_empty() => Ok(b),
            (None, Some(y)) if y.is_empty() => Ok(a),
            // All there is takes in everything else.
            _ if self.is_whole_type(&a) => Ok(a),
            _ if self.is_whole_type(&b) => Ok(b),
            _ => Ok(Value::symbolic(Symbolic::Binary(BinOp::Union, a, b))),
        }
    }

    pub(crate) fn minus(&self, env: &mut Env, a: Value, b: Value) -> Res<Value> {
        if b.as_set().is_some_and(<[Value]>::is_empty) {
            return Ok(a);
        }
        // Nothing is left where all is taken.
        if a == b || self.is_whole_type(&b) {
            return Ok(Value::empty());
        }
        match self.list(env, &a)? {
            Some(list) => {
                if let Value::Set(taken) = &b
                    && !b.mentions_symbolic()
                    && !Value::Set(list.clone()).mentions_symbolic()
                {
                    return Ok(difference(&list, taken));
                }
                self.keep(env, &list, &mut |this, env, x| Ok(!this.member(env, x, &b)?))
            }
            None => Ok(Value::symbolic(Symbolic::Binary(BinOp::SetMinus, a, b))),
        }
    }

    pub(crate) fn binary_set(&self, env: &mut Env, op: BinOp, a: Value, b: Value, e: &Expr) -> Res<Value> {
        let span = e.span;
        let lazy = |a: Value, b: Value| Ok(Value::symbolic(Symbolic::Binary(op, a, b)));
        match op {
            BinOp::Union => self.set_union(env, a, b),
            BinOp::Inter => self.inter(env, a, b),
            BinOp::SetMinus => self.minus(env, a, b),
            BinOp::Cartesian => match (self.list(env, &a)?, self.list(env, &b)?) {
                (Some(x), _) if x.is_empty() => Ok(Value::empty()),
                (_, Some(y)) if y.is_empty() => Ok(Value::empty()),
                (Some(x), Some(y)) if x.len().saturating_mul(y.len()) <= crate::PRODUCT => {
                    let mut out = Vec::with_capacity(x.len() * y.len());
                    for u in x.iter() {
                        out.extend(y.iter().map(|v| Value::pair(u.clone(), v.clone())));
                    }
                    Ok(Value::sorted_set(out))
                }
                _ => lazy(a, b),
            },
            BinOp::Relation
            | BinOp::TotalRelation
            | BinOp::SurjectiveRelation
            | BinOp::TotalSurjectiveRelation
            | BinOp::PartialFunction
            | BinOp::TotalFunction
            | BinOp::PartialInjection
            | BinOp::TotalInjection
            | BinOp::PartialSurjection
            | BinOp::TotalSurjection
            | BinOp::PartialBijection
            | BinOp::TotalBijection => lazy(a, b),
            BinOp::DomRestrict | BinOp::DomSubtract => match self.list(env, &b)? {
                Some(pairs) => self.keep(env, &pairs, &mut |this, env, p| {
                    let inside = match p.as_pair() {
                        Some((x, _)) => this.member(env, x, &a)?,
                        None => false,
                    };
                    Ok(inside == (op == BinOp::DomRestrict))
                }),
                None if op == BinOp::DomRestrict => match self.list(env, &a)? {
                    Some(points) => self.rows_at(env, &b, &points, span),
                    None => lazy(a, b),
                },
                None => lazy(a, b),
            },
            BinOp::RanRestrict | BinOp::RanSubtract => match self.list(env, &a)? {
                Some(pairs) => self.keep(env, &pairs, &mut |this, env, p| {
                    let inside = match p.as_pair() {
                        Some((_, y)) => this.member(env, y, &b)?,
                        None => false,
                    };
                    Ok(inside == (op == BinOp::RanRestrict))
                }),
                None => lazy(a, b),
            },
            BinOp::Image => match decided(self.relation_by_form(env, op, &a, &b))?.flatten() {
                Some(image) => Ok(image),
                None => self.image(env, &a, &b, span),
            },
            BinOp::Compose => match (self.list(env, &a)?, self.list(env, &b)?) {
                (Some(r), Some(s)) => {
                    let mut out = Vec::new();
                    for (x, y) in r.iter().filter_map(Value::as_pair) {
                        let before = out.len();
                        out.extend(row(&s, y).map(|z| Value::pair(x.clone(), z.clone())));
                        self.charge(out.len() - before)?;
                    }
                    Ok(Value::set(out))
                }
                (None, Some(s)) if s.is_empty() => Ok(Value::empty()),
                (None, Some(s)) => match self.composed_backwards(env, &a, &s, span) {
                    Ok(found) => Ok(found),
                    Err(e) if e.is_stop() => Err(e),
                    Err(_) => lazy(a, b),
                },
                (Some(r), None) => {
                    let mut out = Vec::new();
                    for (x, y) in r.iter().filter_map(Value::as_pair) {
                        for z in self.images(env, &b, y, span)? {
                            out.push(Value::pair(x.clone(), z));
                        }
                    }
                    self.set_of(env, out)
                }
                _ => lazy(a, b),
            },
            BinOp::ParallelProduct => match (self.list(env, &a)?, self.list(env, &b)?) {
                (Some(r), Some(s)) if r.len().saturating_mul(s.len()) <= crate::PRODUCT => {
                    let mut out = Vec::new();
                    for (x, m) in r.iter().filter_map(Value::as_pair) {
                        for (y, n) in s.iter().filter_map(Value::as_pair) {
                            out.push(Value::pair(
                                Value::pair(x.clone(), y.clone()),
                                Value::pair(m.clone(), n.clone()),
                            ));
                        }
                    }
                    Ok(Value::set(out))
                }
                _ => lazy(a, b),
            },
            BinOp::DirectProduct => match (self.list(env, &a)?, self.list(env, &b)?) {
                (Some(r), Some(s)) => {
                    let mut out = Vec::new();
                    for (x, y) in r.iter().filter_map(Value::as_pair) {
                        let before = out.len();
                        out.extend(
                            row(&s, x).map(|z| Value::pair(x.clone(), Value::pair(y.clone(), z.clone()))),
                        );
                        self.charge(out.len() - before)?;
                    }
                    Ok(Value::set(out))
                }
                _ => lazy(a, b),
            },
            BinOp::Override => match (self.list(env, &a)?, self.list(env, &b)?) {
                (Some(r), Some(s)) => Ok(override_rows(&r, &s)),
                (Some(r), None) if r.is_empty() => Ok(b),
                (None, Some(s)) if s.is_empty() => Ok(a),
                _ => lazy(a, b),
            },
            BinOp::Iterate => {
                let Value::Int(n) = &b else { return Err(self.ill_typed("an integer", &b, span)) };
                if n.is_negative() {
                    return Err(Error::undefined(span, "iterate a negative number of times"));
                }
                if n.is_zero() {
                    return Ok(identity(&e.ty));
                }
                self.iterated(env, a, n, e)
            }
            BinOp::Prj1 | BinOp::Prj2 => match (self.list(env, &a)?, self.list(env, &b)?) {
                (Some(x), Some(y)) if x.len().saturating_mul(y.len()) <= crate::PRODUCT => {
                    let mut out = Vec::new();
                    for u in x.iter() {
                        for v in y.iter() {
                            let image = if op == BinOp::Prj1 { u } else { v };
                            out.push(Value::pair(Value::pair(u.clone(), v.clone()), image.clone()));
                        }
                    }
                    Ok(Value::sorted_set(out))
                }
                _ => lazy(a, b),
            },
            BinOp::Concat | BinOp::Prepend | BinOp::Append | BinOp::Take | BinOp::Drop => {
                self.binary_seq(env, op, a, b, span)
            }
            BinOp::TreeConst
            | BinOp::Rank
            | BinOp::Father
            | BinOp::Subtree
            | BinOp::Arity
            | BinOp::Son
            | BinOp::Bin3 => self.binary_tree(env, op, a, b, span),
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Mod
            | BinOp::Power
            | BinOp::Interval => Err(self.ill_typed("numbers", &a, span)),
        }
    }

    /// The rows of a symbolic relation at some points.
    fn rows_at(&self, env: &mut Env, r: &Value, points: &[Value], span: Span) -> Res<Value> {
        let mut out = Vec::new();
        for x in points {
            for y in self.images(env, r, x, span)? {
                out.push(Value::pair(x.clone(), y));
            }
        }
        self.set_of(env, out)
    }
}

fn flip(p: &Value) -> Value {
    match p {
        Value::Pair(p) => Value::pair(p.1.clone(), p.0.clone()),
        other => other.clone(),
    }
}

/// The identity on the whole type of a relation over one type.
fn identity(relation: &Type) -> Value {
    let arg = match relation {
        Type::Pow(t) => match &**t {
            Type::Prod(a, _) => (**a).clone(),
            _ => Type::Any,
        },
        _ => Type::Any,
    };
    Value::symbolic(Symbolic::Base(Base::Function(FunctionKind::Id, arg)))
}

/// The images of a point in a sorted list of pairs.
pub(crate) fn row<'a>(pairs: &'a [Value], x: &'a Value) -> impl Iterator<Item = &'a Value> {
    let start = pairs.partition_point(|p| p.as_pair().is_some_and(|(a, _)| a < x));
    pairs[start..].iter().filter_map(Value::as_pair).take_while(move |(a, _)| *a == x).map(|(_, y)| y)
}

/// A list this many times longer than another is copied in stretches between the places of the shorter one.
const STRETCH: usize = 8;

/// Union of two sorted lists.
fn merge(x: &Arc<[Value]>, y: &Arc<[Value]>) -> Value {
    if x.is_empty() {
        return Value::Set(y.clone());
    }
    if y.is_empty() {
        return Value::Set(x.clone());
    }
    let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
    let mut out = Vec::with_capacity(x.len() + y.len());
    let mut i = 0;
    if y.len() < x.len() / STRETCH {
        for e in y.iter() {
            let at = i + x[i..].partition_point(|d| d < e);
            out.extend_from_slice(&x[i..at]);
            out.push(e.clone());
            i = at + usize::from(x.get(at) == Some(e));
        }
        if out.len() + x.len() - i == x.len() {
            return Value::Set(x.clone());
        }
        out.extend_from_slice(&x[i..]);
        return Value::sorted_set(out);
    }
    let mut j = 0;
    while i < x.len() && j < y.len() {
        match x[i].cmp(&y[j]) {
            std::cmp::Ordering::Less => {
                out.push(x[i].clone());
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                out.push(y[j].clone());
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                out.push(x[i].clone());
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&x[i..]);
    out.extend_from_slice(&y[j..]);
    Value::sorted_set(out)
}

/// Difference of two sorted lists.
fn difference(x: &Arc<[Value]>, y: &[Value]) -> Value {
    let mut out = Vec::with_capacity(x.len());
    let mut i = 0;
    if y.len() < x.len() / STRETCH {
        for e in y {
            let at = i + x[i..].partition_point(|d| d < e);
            out.extend_from_slice(&x[i..at]);
            i = at + usize::from(x.get(at) == Some(e));
        }
        if out.len() + x.len() - i == x.len() {
            return Value::Set(x.clone());
        }
        out.extend_from_slice(&x[i..]);
    } else if x.len() < y.len() / STRETCH {
        out.extend(x.iter().filter(|e| y.binary_search(e).is_err()).cloned());
    } else {
        for e in x.iter() {
            while i < y.len() && y[i] < *e {
                i += 1;
            }
            if y.get(i) != Some(e) {
                out.push(e.clone());
            }
        }
    }
    Value::sorted_set(out)
}

/// `r<+s` of sorted lists of pairs.
pub(crate) fn override_rows(r: &[Value], s: &[Value]) -> Value {
    let mut out: Vec<Value> = Vec::with_capacity(r.len() + s.len());
    let mut i = 0;
    for rows in s.chunk_by(|p, q| point(p) == point(q)) {
        let x = point(&rows[0]);
        let from = i + r[i..].partition_point(|p| point(p) < x);
        out.extend_from_slice(&r[i..from]);
        out.extend_from_slice(rows);
        i = from + r[from..].partition_point(|p| point(p) == x);
    }
    out.extend_from_slice(&r[i..]);
    Value::sorted_set(out)
}

/// The left side of a row.
fn point(row: &Value) -> Option<&Value> {
    row.as_pair().map(|(x, _)| x)
}
