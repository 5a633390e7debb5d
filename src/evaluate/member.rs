//! Membership, inclusion and equality, of listed and symbolic sets.
//!
//! In: two values. Out: a truth value; what cannot be decided is the error `Undecided`, never a guess.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use crate::eval::interval;
use crate::operators::row;
use crate::size::Card;
use bombus_base::Int;
use bombus_lang::typed::{Arrow, BinOp, Expr, ExprKind, Type, UnOp, VarId};
use bombus_lang::value::symbolic::FunctionKind;
use bombus_lang::value::{Base, ClosureKind, Symbolic, Value};

impl Interpreter<'_> {
    pub fn member(&self, env: &mut Env, x: &Value, set: &Value) -> Res<bool> {
        let s = match set {
            Value::Set(elems) => {
                if elems.binary_search(x).is_ok() {
                    return Ok(true);
                }
                if !x.mentions_symbolic() && !set.mentions_symbolic() {
                    return Ok(false);
                }
                for e in elems.iter() {
                    if self.equal(env, x, e)? {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            Value::Symbolic(s) => s,
            other => return Err(self.ill_typed("a set", other, Default::default())),
        };
        match &**s {
            Symbolic::Base(b) => self.member_base(env, x, b),
            Symbolic::Interval(a, b) => Ok(x.as_int().is_some_and(|n| a <= n && n <= b)),
            Symbolic::Struct(sets) => {
                let Value::Rec(fields) = x else {
                    return Err(self.ill_typed("a record", x, Default::default()));
                };
                for (f, s) in fields.iter().zip(sets.iter()) {
                    if !self.member(env, f, s)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Symbolic::Unary(op, a) => self.member_unary(env, x, *op, a, set),
            Symbolic::Binary(op, a, b) => self.member_binary(env, x, *op, a, b, set),
            Symbolic::Closure(c) => match c.code.kind {
                ClosureKind::Set => {
                    self.with_closure(env, c, x, &mut |this, env| this.holds(env, &c.code.pred))
                }
                ClosureKind::Lambda => {
                    let Some((arg, image)) = x.as_pair() else { return Ok(false) };
                    self.with_closure(env, c, arg, &mut |this, env| {
                        if !this.holds(env, &c.code.pred)? {
                            return Ok(false);
                        }
                        match &c.code.body {
                            Some(body) => {
                                let y = this.eval(env, body)?;
                                this.equal(env, &y, image)
                            }
                            None => Ok(false),
                        }
                    })
                }
                ClosureKind::SetOf | ClosureKind::Union | ClosureKind::Inter => {
                    self.member_of_family(env, c, x)
                }
            },
        }
    }

    fn member_base(&self, env: &mut Env, x: &Value, b: &Base) -> Res<bool> {
        Ok(match b {
            Base::Integer | Base::String | Base::Real => true,
            Base::Natural => x.as_int().is_some_and(|n| !n.is_negative()),
            Base::Natural1 => x.as_int().is_some_and(|n| *n >= Int::ONE),
            Base::Free(_) => match x {
                Value::Free(id, c, Some(arg)) => self.in_constructor_domain(env, *id, *c, arg)?,
                _ => true,
            },
            Base::Function(f, _) => {
                let Some((a, b)) = x.as_pair() else { return Ok(false) };
                match f {
                    FunctionKind::Id => self.equal(env, a, b)?,
                    FunctionKind::Succ => match (a, b) {
                        (Value::Int(a), Value::Int(b)) => a.add(&Int::ONE) == *b,
                        _ => false,
                    },
                    FunctionKind::Pred => match (a, b) {
                        (Value::Int(a), Value::Int(b)) => a.sub(&Int::ONE) == *b,
                        _ => false,
                    },
                    FunctionKind::Prj1 => match a.as_pair() {
                        Some((p, _)) => self.equal(env, p, b)?,
                        None => false,
                    },
                    FunctionKind::Prj2 => match a.as_pair() {
                        Some((_, q)) => self.equal(env, q, b)?,
                        None => false,
                    },
                }
            }
            Base::Constructor(id, c) => match x.as_pair() {
                Some((a, Value::Free(i, k, Some(arg)))) if i == id && k == c => self.equal(env, a, arg)?,
                _ => false,
            },
            Base::Destructor(id, c) => match x.as_pair() {
                Some((Value::Free(i, k, Some(arg)), b)) if i == id && k == c => self.equal(env, b, arg)?,
                _ => false,
            },
        })
    }

    fn member_unary(&self, env: &mut Env, x: &Value, op: UnOp, a: &Value, set: &Value) -> Res<bool> {
        match op {
            UnOp::Pow => self.subset(env, x, a),
            UnOp::Pow1 => Ok(!self.is_empty(env, x)? && self.subset(env, x, a)?),
            UnOp::Fin => Ok(self.is_finite(env, x)? && self.subset(env, x, a)?),
            UnOp::Fin1 => Ok(self.is_finite(env, x)? && !self.is_empty(env, x)? && self.subset(env, x, a)?),
            UnOp::Seq | UnOp::Seq1 | UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm => {
                let Some(list) = self.list(env, x)? else {
                    return self.is_sequence_by_form(env, x, op, a);
                };
                let listed = Value::Set(list);
                let Some(items) = listed.as_seq() else { return Ok(false) };
                if items.is_empty() && matches!(op, UnOp::Seq1 | UnOp::Iseq1) {
                    return Ok(false);
                }
                for item in &items {
                    if !self.member(env, item, a)? {
                        return Ok(false);
                    }
                }
                if matches!(op, UnOp::Seq | UnOp::Seq1) {
                    return Ok(true);
                }
                let mut distinct: Vec<&Value> = items.clone();
                distinct.sort_unstable();
                distinct.dedup();
                if distinct.len() != items.len() {
                    return Ok(false);
                }
                Ok(op != UnOp::Perm || self.card_exact(env, a)? == Card::of(items.len()))
            }
            UnOp::Tree | UnOp::Btree => self.is_tree(env, x, a, op == UnOp::Btree),
            UnOp::Inverse => match x.as_pair() {
                Some((p, q)) => self.member(env, &Value::pair(q.clone(), p.clone()), a),
                None => Ok(false),
            },
            UnOp::Id => match x.as_pair() {
                Some((p, q)) => Ok(self.equal(env, p, q)? && self.member(env, p, a)?),
                None => Ok(false),
            },
            UnOp::Dom => self.in_domain(env, a, x),
            UnOp::Closure1 => match x.as_pair() {
                Some((p, q)) => {
                    let reached = self.images(env, set, p, Default::default())?;
                    self.member(env, q, &Value::set(reached))
                }
                None => Ok(false),
            },
            UnOp::Ran => {
                let inverse = Value::symbolic(Symbolic::Unary(UnOp::Inverse, a.clone()));
                Ok(!self.images(env, &inverse, x, Default::default())?.is_empty())
            }
            _ => {
                let list = self.need_list(env, set, Default::default())?;
                self.member(env, x, &Value::Set(list))
            }
        }
    }

    fn member_binary(
        &self,
        env: &mut Env,
        x: &Value,
        op: BinOp,
        a: &Value,
        b: &Value,
        set: &Value,
    ) -> Res<bool> {
        match op {
            BinOp::Union => Ok(self.member(env, x, a)? || self.member(env, x, b)?),
            BinOp::Inter => Ok(self.member(env, x, a)? && self.member(env, x, b)?),
            BinOp::SetMinus => Ok(self.member(env, x, a)? && !self.member(env, x, b)?),
            BinOp::Cartesian => match x.as_pair() {
                Some((p, q)) => Ok(self.member(env, p, a)? && self.member(env, q, b)?),
                None => Ok(false),
            },
            _ => {
                if let Some(arrow) = op.arrow() {
                    return self.member_space(env, x, arrow, a, b);
                }
                let Some((p, q)) = x.as_pair() else { return Ok(false) };
                match op {
                    BinOp::DomRestrict => Ok(self.member(env, p, a)? && self.member(env, x, b)?),
                    BinOp::DomSubtract => Ok(!self.member(env, p, a)? && self.member(env, x, b)?),
                    BinOp::RanRestrict => Ok(self.member(env, q, b)? && self.member(env, x, a)?),
                    BinOp::RanSubtract => Ok(!self.member(env, q, b)? && self.member(env, x, a)?),
                    BinOp::Override => {
                        if self.in_domain(env, b, p)? {
                            self.member(env, x, b)
                        } else {
                            self.member(env, x, a)
                        }
                    }
                    _ => {
                        let images = self.images(env, set, p, Default::default())?;
                        for y in images {
                            if self.equal(env, &y, q)? {
                                return Ok(true);
                            }
                        }
                        Ok(false)
                    }
                }
            }
        }
    }

    /// Membership in a set of relations or functions.
    fn member_space(&self, env: &mut Env, x: &Value, arrow: Arrow, a: &Value, b: &Value) -> Res<bool> {
        let Arrow { functional, total, onto: surjective, injective } = arrow;
        if let Some(pairs) = self.list(env, x)? {
            self.charge(pairs.len())?;
            let mut last: Option<&Value> = None;
            for (p, q) in pairs.iter().filter_map(Value::as_pair) {
                if functional && last == Some(p) {
                    return Ok(false);
                }
                if (last != Some(p) && !self.member(env, p, a)?) || !self.member(env, q, b)? {
                    return Ok(false);
                }
                last = Some(p);
            }
            let x = Value::Set(pairs.clone());
            if total {
                let domain = self.domain(env, &x)?;
                if !self.equal(env, &domain, a)? {
                    return Ok(false);
                }
            }
            if injective || surjective {
                let range = self.range(env, &x)?;
                if injective && range.as_set().is_some_and(|r| r.len() != pairs.len()) {
                    return Ok(false);
                }
                if surjective && !self.equal(env, &range, b)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if functional && !self.is_function(env, x)? {
            return Err(Error::undecided("whether a symbolic relation is a function"));
        }
        if injective && !is_injective_by_form(x) {
            match self.affine(env, x)? {
                Some(f) if f.is_injective() => {}
                Some(_) => return Ok(false),
                None => match self.polynomial_is_injective(env, x)? {
                    Some(true) => {}
                    Some(false) => return Ok(false),
                    None => return Err(Error::undecided("whether a symbolic function is injective")),
                },
            }
        }
        let domain = self.domain(env, x)?;
        let fits = if total { self.equal(env, &domain, a)? } else { self.subset(env, &domain, a)? };
        if !fits {
            return Ok(false);
        }
        if surjective {
            let range = self.range(env, x)?;
            return self.equal(env, &range, b);
        }
        if self.is_whole_type(b) {
            return Ok(true);
        }
        let range = self.range(env, x)?;
        self.subset(env, &range, b)
    }

    /// Whether a set that is not listed is a sequence over `a`, of the kind `op` says.
    fn is_sequence_by_form(&self, env: &mut Env, x: &Value, op: UnOp, a: &Value) -> Res<bool> {
        let undecided = || Error::undecided("whether a symbolic set is a sequence");
        let length = match self.card(env, x)? {
            // Every sequence is finite.
            Card::Infinite => return Ok(false),
            Card::Finite(n) => n,
            _ => return Err(undecided()),
        };
        if !self.is_function(env, x)? {
            return Err(undecided());
        }
        let domain = self.domain(env, x)?;
        if !self.equal(env, &domain, &interval(&Int::ONE, &length))? {
            return Ok(false);
        }
        if length.is_zero() && matches!(op, UnOp::Seq1 | UnOp::Iseq1) {
            return Ok(false);
        }
        let range = self.range(env, x)?;
        if !self.subset(env, &range, a)? {
            return Ok(false);
        }
        if matches!(op, UnOp::Seq | UnOp::Seq1) {
            return Ok(true);
        }
        if !is_injective_by_form(x) {
            return Err(undecided());
        }
        Ok(op != UnOp::Perm || self.card_exact(env, a)? == Card::Finite(length))
    }

    /// Whether a symbolic relation is known to be a function: by its form, or as the union of
    /// functions one of which is listed and meets the domain of the other nowhere.
    fn is_function(&self, env: &mut Env, r: &Value) -> Res<bool> {
        if is_function_by_form(r) || self.affine(env, r)?.is_some() {
            return Ok(true);
        }
        let Value::Symbolic(s) = r else { return Ok(false) };
        let Symbolic::Binary(BinOp::Union, a, b) = &**s else { return Ok(false) };
        if !self.is_function(env, a)? || !self.is_function(env, b)? {
            return Ok(false);
        }
        for (listed, other) in [(a, b), (b, a)] {
            if let Value::Set(pairs) = listed {
                for (x, _) in pairs.iter().filter_map(Value::as_pair) {
                    if self.in_domain(env, other, x)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
        }
        // Neither is listed: functions on integers that share no argument.
        let (a, b) = (self.domain(env, a)?, self.domain(env, b)?);
        Ok(match (self.spans(env, &a)?, self.spans(env, &b)?) {
            (Some(a), Some(b)) => a.inter(&b).hull().is_none(),
            _ => false,
        })
    }

    pub(crate) fn subset(&self, env: &mut Env, a: &Value, b: &Value) -> Res<bool> {
        self.charge_for(a)?;
        if a == b || self.is_whole_type(b) {
            return Ok(true);
        }
        if let (Value::Set(x), Value::Set(y)) = (a, b)
            && x.len() > y.len()
            && !a.mentions_symbolic()
        {
            return Ok(false);
        }
        if let Some(list) = self.list(env, a)? {
            for x in list.iter() {
                if !self.member(env, x, b)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let Value::Symbolic(s) = a else {
            return Err(self.ill_typed("a set", a, Default::default()));
        };
        // What is larger than the other side is no subset of it.
        if let (Card::Infinite, Card::Finite(_) | Card::Huge) = (self.card(env, a)?, self.card(env, b)?) {
            return Ok(false);
        }
        let t = match b {
            Value::Symbolic(t) => Some(&**t),
            _ => None,
        };
        match (&**s, t) {
            (Symbolic::Interval(lo, hi), Some(Symbolic::Interval(lo2, hi2))) => Ok(lo2 <= lo && hi <= hi2),
            (Symbolic::Interval(lo, _), Some(Symbolic::Base(Base::Natural))) => Ok(!lo.is_negative()),
            (Symbolic::Interval(lo, _), Some(Symbolic::Base(Base::Natural1))) => Ok(*lo >= Int::ONE),
            (Symbolic::Base(Base::Natural1), Some(Symbolic::Base(Base::Natural))) => Ok(true),
            (Symbolic::Base(Base::Natural), Some(Symbolic::Base(Base::Natural1))) => Ok(false),
            (Symbolic::Base(Base::Integer), Some(Symbolic::Base(Base::Natural | Base::Natural1))) => {
                Ok(false)
            }
            (_, Some(Symbolic::Binary(BinOp::Inter, x, y))) => {
                Ok(self.subset(env, a, x)? && self.subset(env, a, y)?)
            }
            (Symbolic::Binary(BinOp::Union, x, y), _) => {
                Ok(self.subset(env, x, b)? && self.subset(env, y, b)?)
            }
            (Symbolic::Binary(BinOp::Inter | BinOp::SetMinus, x, _), _)
                if matches!(self.subset(env, x, b), Ok(true)) =>
            {
                Ok(true)
            }
            // An element of x that is not in y makes a singleton, or a sequence of one, that tells them apart; the
            // empty set tells the kinds apart that have it from those that do not.
            (Symbolic::Unary(op, x), Some(Symbolic::Unary(op2, y))) if collected(*op, *op2).is_some() => {
                Ok(self.subset(env, x, y)? && collected(*op, *op2) == Some(true))
            }
            // All of a set is one of its parts, so none of them is infinite just if the set is finite.
            (Symbolic::Unary(UnOp::Pow, x), Some(Symbolic::Unary(UnOp::Fin, y)))
            | (Symbolic::Unary(UnOp::Pow1, x), Some(Symbolic::Unary(UnOp::Fin | UnOp::Fin1, y))) => {
                Ok(self.subset(env, x, y)? && self.is_finite(env, x)?)
            }
            // A sequence that takes one value twice is there as soon as there is a value.
            (Symbolic::Unary(UnOp::Seq, x), Some(Symbolic::Unary(UnOp::Iseq, _)))
            | (Symbolic::Unary(UnOp::Seq1, x), Some(Symbolic::Unary(UnOp::Iseq | UnOp::Iseq1, _))) => {
                self.is_empty(env, x)
            }
            // What lies in a difference lies in its first part and has nothing of its second.
            (_, Some(Symbolic::Binary(BinOp::SetMinus, x, y)))
                if matches!(self.list(env, y), Ok(Some(_))) =>
            {
                for e in self.need_list(env, y, Default::default())?.iter() {
                    match self.member(env, e, a) {
                        Ok(false) => {}
                        Ok(true) => return Ok(false),
                        Err(e) if e.is_stop() => return Err(e),
                        Err(_) => {
                            let known = self.included(env, a, b)?;
                            return known.ok_or_else(|| Error::undecided("inclusion of symbolic sets"));
                        }
                    }
                }
                self.subset(env, a, x)
            }
            (Symbolic::Binary(BinOp::Cartesian, x, y), Some(Symbolic::Binary(BinOp::Cartesian, z, w))) => {
                self.subset_by_parts(env, &[(x, z), (y, w)])
            }
            (Symbolic::Binary(BinOp::Cartesian, ..) | Symbolic::Struct(_), None)
                if b.as_set().is_some_and(|list| list.is_empty()) =>
            {
                self.is_empty(env, a)
            }
            (Symbolic::Struct(xs), Some(Symbolic::Struct(ys))) if xs.len() == ys.len() => {
                self.subset_by_parts(env, &xs.iter().zip(ys.iter()).collect::<Vec<_>>())
            }
            (
                Symbolic::Binary(BinOp::TotalFunction, x, y),
                Some(Symbolic::Binary(BinOp::TotalFunction, z, w)),
            ) if self.equal(env, x, z)? && self.subset(env, y, w)? => Ok(true),
            (
                Symbolic::Binary(
                    BinOp::TotalFunction | BinOp::PartialFunction | BinOp::Relation | BinOp::TotalInjection,
                    x,
                    y,
                ),
                Some(Symbolic::Binary(BinOp::Relation, z, w)),
            ) if self.subset(env, x, z)? && self.subset(env, y, w)? => Ok(true),
            (
                Symbolic::Binary(BinOp::TotalFunction | BinOp::PartialFunction | BinOp::TotalInjection, x, y),
                Some(Symbolic::Binary(BinOp::PartialFunction, z, w)),
            ) if self.subset(env, x, z)? && self.subset(env, y, w)? => Ok(true),
            // A collection is its empty member and the others.
            (Symbolic::Unary(op, x), Some(Symbolic::Binary(BinOp::Union, ..)))
                if without_empty(*op).is_some_and(|op| {
                    let others = Value::symbolic(Symbolic::Unary(op, x.clone()));
                    matches!(self.member(env, &Value::empty(), b), Ok(true))
                        && matches!(self.subset(env, &others, b), Ok(true))
                }) =>
            {
                Ok(true)
            }
            // What lies in one part of a union lies in the union.
            (_, Some(Symbolic::Binary(BinOp::Union, x, y)))
                if matches!(self.subset(env, a, x), Ok(true))
                    || matches!(self.subset(env, a, y), Ok(true)) =>
            {
                Ok(true)
            }
            _ => {
                let mut known = self.included(env, a, b)?;
                if known.is_none() {
                    known = self.included_simplified(env, a, b)?;
                }
                known.ok_or_else(|| Error::undecided("inclusion of symbolic sets"))
            }
        }
    }

    /// Equality in B.
    pub fn equal(&self, env: &mut Env, a: &Value, b: &Value) -> Res<bool> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => return Ok(x == y),
            (Value::Elem(s, x), Value::Elem(t, y)) => return Ok(s == t && x == y),
            (Value::Bool(x), Value::Bool(y)) => return Ok(x == y),
            _ => {}
        }
        self.charge_for(a)?;
        if a == b {
            return Ok(true);
        }
        if !a.mentions_symbolic() && !b.mentions_symbolic() {
            return Ok(false);
        }
        match (a, b) {
            (Value::Pair(p), Value::Pair(q)) => {
                Ok(self.equal(env, &p.0, &q.0)? && self.equal(env, &p.1, &q.1)?)
            }
            (Value::Rec(p), Value::Rec(q)) => {
                for (x, y) in p.iter().zip(q.iter()) {
                    if !self.equal(env, x, y)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Free(i, c, Some(x)), Value::Free(j, d, Some(y))) => {
                Ok(i == j && c == d && self.equal(env, x, y)?)
            }
            (Value::Set(_) | Value::Symbolic(_), Value::Set(_) | Value::Symbolic(_)) => {
                self.equal_sets(env, a, b)
            }
            _ => Ok(false),
        }
    }

    fn equal_sets(&self, env: &mut Env, a: &Value, b: &Value) -> Res<bool> {
        match (self.card(env, a)?, self.card(env, b)?) {
            (Card::Finite(x), Card::Finite(y)) if x != y => return Ok(false),
            (Card::Infinite, Card::Finite(_) | Card::Huge)
            | (Card::Finite(_) | Card::Huge, Card::Infinite) => {
                return Ok(false);
            }
            (Card::Finite(x), Card::Finite(_)) if x.is_zero() => return Ok(true),
            _ => {}
        }
        match (self.list(env, a)?, self.list(env, b)?) {
            (Some(x), Some(y)) => {
                if x == y {
                    return Ok(true);
                }
                let (x, y) = (Value::Set(x), Value::Set(y));
                if !x.mentions_symbolic() && !y.mentions_symbolic() {
                    return Ok(false);
                }
                Ok(self.subset(env, &x, &y)? && self.subset(env, &y, &x)?)
            }
            (Some(_), None) if matches!(self.card(env, b)?, Card::Infinite | Card::Huge) => Ok(false),
            (None, Some(_)) if matches!(self.card(env, a)?, Card::Infinite | Card::Huge) => Ok(false),
            _ => {
                if let (Value::Symbolic(s), Value::Symbolic(t)) = (a, b) {
                    match (&**s, &**t) {
                        (Symbolic::Base(x), Symbolic::Base(y)) => return Ok(x == y),
                        (Symbolic::Interval(..), Symbolic::Interval(..)) => return Ok(false),
                        (Symbolic::Unary(UnOp::Pow, x), Symbolic::Unary(UnOp::Pow, y)) => {
                            return self.equal(env, x, y);
                        }
                        (Symbolic::Closure(c), Symbolic::Closure(d))
                            if c.code.kind == d.code.kind && c.code.vars == d.code.vars =>
                        {
                            let mut same = c.captured.len() == d.captured.len();
                            for ((v, x), (w, y)) in c.captured.iter().zip(d.captured.iter()) {
                                same = same && v == w && self.equal(env, x, y)?;
                            }
                            if same {
                                return Ok(true);
                            }
                        }
                        _ => {}
                    }
                }
                // One side that sticks out settles it, whatever is known of the other.
                match (self.subset(env, a, b), self.subset(env, b, a)) {
                    (Ok(true), Ok(true)) => Ok(true),
                    (Ok(false), _) | (_, Ok(false)) => Ok(false),
                    (Err(e), _) | (_, Err(e)) => Err(e),
                }
            }
        }
    }

    pub(crate) fn in_domain(&self, env: &mut Env, f: &Value, x: &Value) -> Res<bool> {
        match f {
            Value::Set(pairs) => Ok(row(pairs, x).next().is_some()),
            Value::Symbolic(s) => match &**s {
                Symbolic::Closure(c) if c.code.kind == ClosureKind::Lambda => {
                    self.with_closure(env, c, x, &mut |this, env| this.holds(env, &c.code.pred))
                }
                Symbolic::Binary(BinOp::Override | BinOp::Union, a, b) => {
                    Ok(self.in_domain(env, b, x)? || self.in_domain(env, a, x)?)
                }
                Symbolic::Binary(BinOp::Cartesian, a, b) => {
                    Ok(self.member(env, x, a)? && !self.is_empty(env, b)?)
                }
                Symbolic::Base(Base::Function(..)) => Ok(true),
                _ => Ok(!self.images(env, f, x, Default::default())?.is_empty()),
            },
            other => Err(self.ill_typed("a relation", other, Default::default())),
        }
    }
}

/// Whether the collections that one operator makes of a set are among those that another makes of a set around it;
/// `None` if that depends on the set, or the operators are not of one kind.
fn collected(op: UnOp, other: UnOp) -> Option<bool> {
    use UnOp::{Fin, Fin1, Iseq, Iseq1, Pow, Pow1, Seq, Seq1};
    match (op, other) {
        (Pow, Pow) | (Fin, Fin | Pow) | (Pow1, Pow1 | Pow) | (Fin1, Fin1 | Fin | Pow1 | Pow) => Some(true),
        (Seq, Seq) | (Iseq, Iseq | Seq) | (Seq1, Seq1 | Seq) | (Iseq1, Iseq1 | Iseq | Seq1 | Seq) => {
            Some(true)
        }
        (Pow | Fin, Pow1 | Fin1) | (Seq | Iseq, Seq1 | Iseq1) => Some(false),
        _ => None,
    }
}

/// The operator that leaves out the empty set or sequence.
pub(crate) fn without_empty(op: UnOp) -> Option<UnOp> {
    match op {
        UnOp::Pow => Some(UnOp::Pow1),
        UnOp::Fin => Some(UnOp::Fin1),
        UnOp::Seq => Some(UnOp::Seq1),
        UnOp::Iseq => Some(UnOp::Iseq1),
        _ => None,
    }
}

/// Whether the form alone shows that no two points of a symbolic relation have an image in common.
fn is_injective_by_form(v: &Value) -> bool {
    let Value::Symbolic(s) = v else { return false };
    match &**s {
        Symbolic::Unary(UnOp::Id, _) => true,
        Symbolic::Unary(UnOp::Inverse, r) => is_function_by_form(r),
        Symbolic::Base(Base::Function(FunctionKind::Id | FunctionKind::Succ | FunctionKind::Pred, _)) => true,
        Symbolic::Closure(c) => match (c.code.kind, &c.code.vars[..], &c.code.body) {
            (ClosureKind::Lambda, [x], Some(body)) => tells_apart(body, *x),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an expression has different values for different values of `x`: sums with something that does not
/// depend on it, multiples by a number that is not zero.
fn tells_apart(e: &Expr, x: VarId) -> bool {
    let depends = |e: &Expr| bombus_lang::free::mentions(e, &|v| v == x);
    match &e.kind {
        ExprKind::Var(v) => *v == x,
        ExprKind::Unary(UnOp::Neg, a) => tells_apart(a, x),
        ExprKind::Pair(a, b) => tells_apart(a, x) || tells_apart(b, x),
        ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) if e.ty == Type::Integer => {
            (tells_apart(a, x) && !depends(b)) || (tells_apart(b, x) && !depends(a))
        }
        ExprKind::Binary(BinOp::Mul, a, b) if e.ty == Type::Integer => {
            let factor = |e: &Expr| matches!(&e.kind, ExprKind::Int(n) if !n.is_zero());
            (tells_apart(a, x) && factor(b)) || (tells_apart(b, x) && factor(a))
        }
        _ => false,
    }
}

/// Whether the form alone shows that a symbolic relation is a function.
fn is_function_by_form(v: &Value) -> bool {
    match v {
        Value::Set(pairs) => pairs.windows(2).all(|w| match (w[0].as_pair(), w[1].as_pair()) {
            (Some((a, _)), Some((b, _))) => a != b,
            _ => true,
        }),
        Value::Symbolic(s) => match &**s {
            Symbolic::Closure(c) => c.code.kind == ClosureKind::Lambda,
            Symbolic::Base(Base::Function(..) | Base::Constructor(..) | Base::Destructor(..)) => true,
            Symbolic::Unary(UnOp::Id, _) => true,
            Symbolic::Binary(BinOp::Override | BinOp::Compose, a, b) => {
                is_function_by_form(a) && is_function_by_form(b)
            }
            Symbolic::Binary(BinOp::DomRestrict | BinOp::DomSubtract, _, r) => is_function_by_form(r),
            Symbolic::Binary(BinOp::RanRestrict | BinOp::RanSubtract | BinOp::SetMinus, r, _) => {
                is_function_by_form(r)
            }
            Symbolic::Binary(BinOp::Cartesian, _, t) => t.as_set().is_some_and(|t| t.len() <= 1),
            Symbolic::Binary(BinOp::Prj1 | BinOp::Prj2, _, _) => true,
            _ => false,
        },
        _ => false,
    }
}
