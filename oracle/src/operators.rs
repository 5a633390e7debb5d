//! What each operator means on values: numbers, sets, relations, sequences, strings.
//!
//! In: operands that are defined. Out: the result, or why there is none.
//! Never here: names, environments, predicates.

use crate::enumerate::part;
use crate::eval::{Oracle, Res, Stop, Val, from, function_on};
use crate::sets::{Set, listed, sides};
use crate::tree::{BinOp, Expr, Type, UnOp};
use crate::value::Value;
use dashu_int::IBig;
use dashu_int::ops::BitTest;
use dashu_ratio::RBig;
use std::{borrow::Cow, sync::Arc};

impl Oracle<'_> {
    pub(crate) fn unary<'l>(&self, op: UnOp, a: Val) -> Res<Val<'l>> {
        use UnOp::*;
        Ok(match op {
            Neg | Floor | Ceiling | ToReal => one_number(op, &*self.value_of(a)?)?.into(),
            Pow | Fin | Pow1 | Fin1 => Val::Many(Set::Subsets(Arc::new(a.set()?), matches!(op, Pow1 | Fin1))),
            Card => Value::int(self.whole(&a.set()?, "card")?.len()).into(),
            Min | Max | Choose => self.extreme(op, a.set()?)?.into(),
            Union | Inter => self.merge(op == Union, a)?.into(),
            Fst | Snd => part(&*self.value_of(a)?, &[op == Snd])?.into(),
            Dom => match a.set()? {
                Set::Lambda(c, _) => Val::Many(Set::Such(c)),
                r => self.side(&r, false)?.into(),
            },
            Ran => self.side(&a.set()?, true)?.into(),
            Inverse => relation(self.pairs(&a.set()?)?.into_iter().map(|(x, y)| (y, x))).into(),
            Closure1 => self.closure1(a)?.into(),
            Rel => {
                let pairs = self.pairs(&a.set()?)?;
                let each = pairs.iter().map(|(x, ys)| Ok(listed(ys)?.iter().map(|y| (x.clone(), y.clone()))));
                let each = each.collect::<Res<Vec<_>>>()?;
                relation(each.into_iter().flatten()).into()
            }
            Fnc => {
                let r = a.set()?;
                let image = |(x, _)| Ok((Value::clone(&x), Value::set(self.images(&r, &x)?)));
                relation(self.pairs(&r)?.into_iter().map(image).collect::<Res<Vec<_>>>()?).into()
            }
            Id => return Err(Stop::ill("an operator on values")),
            Seq | Seq1 | Iseq | Iseq1 => {
                let (nonempty, injective) = (matches!(op, Seq1 | Iseq1), matches!(op, Iseq | Iseq1));
                Val::Many(Set::Sequences(nonempty, injective, Arc::new(a.set()?)))
            }
            // A permutation is a bijection from its places.
            Perm => {
                let s = a.set()?;
                let places = Set::Interval(1.into(), self.whole(&s, "perm")?.len().into());
                self.binary(BinOp::TotalBijection, Val::Many(places), Val::Many(s))?
            }
            Size | First | Last | Front | Tail | Rev | Conc | ConcStrings => {
                one_sequence(op, &*self.value_of(a)?)?.into()
            }
        })
    }

    pub(crate) fn binary<'l>(&self, op: BinOp, a: Val, b: Val) -> Res<Val<'l>> {
        use BinOp::*;
        if let Some(arrow) = op.arrow() {
            return Ok(Val::Many(Set::Arrows(arrow, Arc::new(a.set()?), Arc::new(b.set()?))));
        }
        Ok(match op {
            Add | Sub | Mul | Div | Mod | Power | PowerWhole => {
                self.arithmetic(op, &*self.value_of(a)?, &*self.value_of(b)?)?.into()
            }
            Interval => Val::Many(Set::Interval(int(&*self.value_of(a)?)?, int(&*self.value_of(b)?)?)),
            Product => Val::Many(Set::Product(Arc::new(a.set()?), Arc::new(b.set()?))),
            Relation => self.unary(UnOp::Pow, self.binary(Product, a, b)?)?,
            Union => Val::Many(Set::Union(Arc::new(a.set()?), Arc::new(b.set()?))),
            Inter => Val::Many(Set::Inter(Arc::new(a.set()?), Arc::new(b.set()?))),
            Minus => Val::Many(Set::Minus(Arc::new(a.set()?), Arc::new(b.set()?))),
            Concat | Prepend | Append | Take | Drop => {
                two_sequences(op, self.value_of(a)?.into_owned(), self.value_of(b)?.into_owned())?.into()
            }
            _ => self.relational(op, a.set()?, b.set()?)?.into(),
        })
    }

    /// Operators on relations. Only one side has to be listed where the other one is looked at in points.
    fn relational(&self, op: BinOp, a: Set, b: Set) -> Res<Value> {
        use BinOp::*;
        let mut out = Vec::new();
        match op {
            Image => {
                let inside = self.relational(DomRestrict, b, a)?;
                return self.side(&Set::Listed(listed(&inside)?.clone()), true);
            }
            DomRestrict if !self.listable(&b)? => {
                for x in self.list(&a)?.iter() {
                    out.extend(self.images(&b, x)?.into_iter().map(|y| (x.clone(), y)));
                }
            }
            DomRestrict | DomSubtract | RanRestrict | RanSubtract => {
                let left = matches!(op, DomRestrict | DomSubtract);
                let (r, s) = if left { (b, a) } else { (a, b) };
                let (inside, mut kept) = (matches!(op, DomRestrict | RanRestrict), Vec::new());
                for p in self.list(&r)?.iter() {
                    let (x, y) = sides(p)?;
                    if self.member(if left { x } else { y }, &s)? == inside {
                        kept.push(p.clone());
                    }
                }
                return Ok(Value::set(kept));
            }
            Compose => {
                for (x, y) in self.pairs(&a)? {
                    out.extend(self.images(&b, &y)?.into_iter().map(|z| (x.clone(), z)));
                }
            }
            DirectProduct => {
                for (x, y) in self.pairs(&a)? {
                    let both = self.images(&b, &x)?.into_iter().map(|z| Value::pair(y.clone(), z));
                    out.extend(both.map(|yz| (x.clone(), yz)));
                }
            }
            ParallelProduct => {
                let right = self.pairs(&b)?;
                for (x, m) in self.pairs(&a)? {
                    for (y, n) in &right {
                        self.tick()?;
                        out.push((Value::pair(x.clone(), y.clone()), Value::pair(m.clone(), n.clone())));
                    }
                }
            }
            Override => {
                let (left, right) = (self.list(&a)?, self.list(&b)?);
                let first = |p: &Value| p.sides().map(|p| p.0.clone());
                let is_kept =
                    |p: &&Value| first(p).is_some_and(|x| from(&right, &x).next().and_then(first) != Some(x));
                return Ok(Value::set(left.iter().filter(is_kept).chain(right.iter()).cloned().collect()));
            }
            _ => return Err(Stop::ill("an operator on relations")),
        }
        Ok(relation(out))
    }

    pub(crate) fn pairs(&self, r: &Set) -> Res<Vec<(Value, Value)>> {
        let elements = self.list(r)?;
        elements.iter().map(|p| sides(p).map(|(x, y)| (x.clone(), y.clone()))).collect()
    }

    /// All left or all right sides of a relation.
    fn side(&self, r: &Set, right: bool) -> Res<Value> {
        let one = |p| sides(p).map(|(x, y)| if right { y.clone() } else { x.clone() });
        Ok(Value::set(self.list(r)?.iter().map(one).collect::<Res<_>>()?))
    }

    /// The elements of a set that may not be infinite.
    fn whole(&self, s: &Set, what: &str) -> Res<Arc<Vec<Value>>> {
        if self.finite(s)? == Some(false) {
            return Stop::undefined(format!("{what} of an infinite set"));
        }
        self.list(s)
    }

    fn extreme(&self, op: UnOp, s: Set) -> Res<Value> {
        let max = op == UnOp::Max;
        match &s {
            Set::From(low) if !max => return Ok(Value::Int(low.clone())),
            Set::From(_) | Set::All(Type::Integer) if op != UnOp::Choose => {
                return Stop::undefined("min or max of an unbounded set");
            }
            Set::Interval(a, b) if a <= b => return Ok(Value::Int(if max { b } else { a }.clone())),
            _ => {}
        }
        let elements = self.list(&s)?;
        let found = if max { elements.last() } else { elements.first() };
        found.cloned().map_or_else(|| Stop::undefined("min or max of the empty set"), Ok)
    }

    /// `union` and `inter` of a set of sets.
    fn merge(&self, union: bool, a: Val) -> Res<Value> {
        let by = if union { BinOp::Union } else { BinOp::Inter };
        let mut sets = self.list(&a.set()?)?.to_vec().into_iter();
        let first = match sets.next() {
            None if !union => return Stop::undefined("inter of no set"),
            first => first.unwrap_or(Value::set(vec![])),
        };
        sets.try_fold(first, |a, b| self.value_of(self.binary(by, a.into(), b.into())?).map(Cow::into_owned))
    }

    fn closure1(&self, r: Val) -> Res<Value> {
        let r = r.set()?;
        let mut all = Value::Set(self.list(&r)?);
        loop {
            let step = self.relational(BinOp::Compose, Set::Listed(listed(&all)?.clone()), r.clone())?;
            let next = Value::set(listed(&all)?.iter().chain(listed(&step)?.iter()).cloned().collect());
            if next == all {
                return Ok(all);
            }
            all = next;
        }
    }

    pub(crate) fn iterate<'l>(&self, t: &Type, r: Val, n: &Value) -> Res<Val<'l>> {
        let Value::Int(n) = n else { return Err(Stop::ill("an integer")) };
        let r = r.set()?;
        if n < &IBig::ZERO {
            return Stop::undefined("iterate with a negative number");
        }
        if n == &IBig::ZERO {
            return Ok(self.val(&Default::default(), &function_on(&[&Expr::All(t.clone())], 0))?.owned());
        }
        let mut all = Value::Set(self.list(&r)?);
        let mut done = IBig::ONE;
        while &done < n {
            self.tick()?;
            all = self.relational(BinOp::Compose, Set::Listed(listed(&all)?.clone()), r.clone())?;
            done += 1;
        }
        Ok(all.into())
    }

    /// Integers and reals; the values tell which. Quotients of integers are rounded towards zero.
    pub(crate) fn arithmetic(&self, op: BinOp, a: &Value, b: &Value) -> Res<Value> {
        use BinOp::*;
        let zero = IBig::ZERO;
        Ok(match (op, a, b) {
            (Add, Value::Int(a), Value::Int(b)) => Value::Int(a + b),
            (Sub, Value::Int(a), Value::Int(b)) => Value::Int(a - b),
            (Mul, Value::Int(a), Value::Int(b)) => Value::Int(a * b),
            (Div, Value::Int(a), Value::Int(b)) if *b != zero => Value::Int(a / b),
            (Mod, Value::Int(a), Value::Int(b)) if *a >= zero && *b > zero => Value::Int(a % b),
            (Power | PowerWhole, Value::Int(a), Value::Int(b))
                if *b >= zero && (op == Power || *a >= zero) =>
            {
                Value::Int(a.pow(exponent(b, a.bit_len())?))
            }
            (Power, Value::Real(a), Value::Int(b)) if *b >= zero => {
                let size = a.numerator().bit_len() + a.denominator().bit_len();
                Value::Real(a.pow(exponent(b, size)? as isize))
            }
            (Add, Value::Real(a), Value::Real(b)) => Value::Real(a + b),
            (Sub, Value::Real(a), Value::Real(b)) => Value::Real(a - b),
            (Mul, Value::Real(a), Value::Real(b)) => Value::Real(a * b),
            (Div, Value::Real(a), Value::Real(b)) if *b != RBig::ZERO => Value::Real(a / b),
            (Div | Mod | Power | PowerWhole, _, Value::Int(_)) | (Div, Value::Real(_), Value::Real(_)) => {
                return Stop::undefined(format!("{a} {} {b}", op.word()));
            }
            _ => return Err(Stop::ill("two numbers of one type")),
        })
    }
}

/// The exponent as a machine number, if the power of a base of that many bits is not absurdly large.
fn exponent(n: &IBig, bits: usize) -> Res<usize> {
    let exponent = usize::try_from(n).ok().filter(|n| bits.saturating_mul(*n) < 10_000_000);
    exponent.ok_or_else(|| Stop::TooBig(format!("a number with the exponent {n}")))
}

pub(crate) fn int(v: &Value) -> Res<IBig> {
    if let Value::Int(n) = v { Ok(n.clone()) } else { Err(Stop::ill("an integer")) }
}

fn relation(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
    Value::set(pairs.into_iter().map(|(x, y)| Value::pair(x, y)).collect())
}

fn one_number(op: UnOp, v: &Value) -> Res<Value> {
    Ok(match (op, v) {
        (UnOp::Neg, Value::Int(n)) => Value::Int(-n),
        (UnOp::Neg, Value::Real(r)) => Value::Real(-r),
        (UnOp::Floor, Value::Real(r)) => Value::Int(r.floor()),
        (UnOp::Ceiling, Value::Real(r)) => Value::Int(r.ceil()),
        (UnOp::ToReal, Value::Int(n)) => Value::Real(RBig::from(n.clone())),
        _ => return Err(Stop::ill("a number")),
    })
}

fn sequence(v: &Value) -> Res<Vec<Value>> {
    v.as_seq().map_or_else(|| Stop::undefined(format!("{v} is not a sequence")), Ok)
}

fn string(v: &Value) -> Res<&str> {
    if let Value::Str(s) = v { Ok(s) } else { Err(Stop::ill("a string")) }
}

fn one_sequence(op: UnOp, v: &Value) -> Res<Value> {
    use UnOp::*;
    if let Value::Str(s) = v {
        return match op {
            Size => Ok(Value::int(s.chars().count())),
            Rev => Ok(Value::Str(s.chars().rev().collect::<String>().into())),
            _ => Err(Stop::ill("a sequence")),
        };
    }
    let mut s = sequence(v)?;
    if s.is_empty() && matches!(op, First | Last | Front | Tail) {
        return Stop::undefined(format!("{} of the empty sequence", op.word()));
    }
    Ok(match op {
        Size => Value::int(s.len()),
        First => s.swap_remove(0),
        Last => s.pop().expect("the sequence is not empty"),
        Front => Value::seq(s[..s.len() - 1].iter().cloned()),
        Tail => Value::seq(s[1..].iter().cloned()),
        Rev => Value::seq(s.into_iter().rev()),
        Conc => {
            let parts = s.iter().map(sequence).collect::<Res<Vec<_>>>()?;
            Value::seq(parts.concat())
        }
        ConcStrings => Value::Str(s.iter().map(string).collect::<Result<String, _>>()?.into()),
        _ => return Err(Stop::ill("an operator on sequences")),
    })
}

fn two_sequences(op: BinOp, a: Value, b: Value) -> Res<Value> {
    Ok(match op {
        BinOp::Concat => match (&a, &b) {
            (Value::Str(x), Value::Str(y)) => Value::Str(format!("{x}{y}").into()),
            _ => Value::seq([sequence(&a)?, sequence(&b)?].concat()),
        },
        BinOp::Prepend => Value::seq(std::iter::once(a).chain(sequence(&b)?)),
        BinOp::Append => Value::seq(sequence(&a)?.into_iter().chain([b])),
        _ => {
            let (s, n) = (sequence(&a)?, int(&b)?);
            let most = IBig::from(s.len());
            if n < IBig::ZERO || op == BinOp::Drop && n > most {
                return Stop::undefined(format!("{n} is not in 0..{most}"));
            }
            // Taking more than there is takes all.
            let n = usize::try_from(&n).unwrap_or(s.len()).min(s.len());
            Value::seq(if op == BinOp::Take { &s[..n] } else { &s[n..] }.iter().cloned())
        }
    })
}
