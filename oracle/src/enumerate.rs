//! The bindings of variables that satisfy a predicate, or for which the predicate is undefined.
//!
//! In: variables with their types, a predicate, an environment. Out: one call per binding, in a fixed order.
//! A variable runs through its type, or through a set that is obvious from one conjunct: `x=E`, `x:S`, `x|->y:S`,
//! `x<:S`, or integers between two comparisons, also by way of other variables. A binding outside that set makes a
//! conjunct false, hence the whole conjunction. A conjunct that is false already ends a branch for the same reason. Nothing
//! cleverer is here.
//!
//! A variable without a value yet is `Slot::Unbound`; reading the variable stops the evaluation, so whatever can be
//! evaluated does not depend on variables that come later.

use crate::eval::{Env, Oracle, Res, Slot, Stop, Undefined, Val};
use crate::operators::int;
use crate::pred::{Conjunct, conjuncts, located, worse};
use crate::sets::{Set, sides};
use crate::text::Core;
use crate::tree::{BinOp, Expr, Name, Pred, RelOp, Type, Var};
use crate::value::Value;
use dashu_int::IBig;
use std::sync::Arc;

/// Called with the environment of each binding, and whether the predicate is true or undefined there.
pub(crate) type Found<'a> = &'a mut dyn FnMut(&Env, Result<(), Box<Undefined>>) -> Res<()>;

/// Conjuncts that are not known to be true, and why some conjunct before them has no truth.
type Pending<'a> = (&'a [Conjunct<'a>], Option<Stop>);
/// A variable by its place with its range, if there is one; and one whose range is undefined.
type Choice = (Option<(usize, Range)>, Option<usize>);

/// The values that a variable runs through.
enum Range {
    Equal(Slot),
    Members(Set),
}

impl Oracle<'_> {
    /// Visits the bindings; `Unlistable` if there are infinitely many to look at.
    pub(crate) fn bindings(&self, env: &Env, vars: &[Var], p: &Pred, found: Found) -> Res<()> {
        let mut pending = Vec::new();
        conjuncts(p, "", &mut pending);
        let mut env = env.clone();
        vars.iter().for_each(|(n, _)| env.push(n, Slot::Unbound));
        self.level(&mut env, &vars.iter().collect::<Vec<_>>(), (&pending, None), found)
    }

    fn level(&self, env: &mut Env, left: &[&Var], (pending, mut trouble): Pending, found: Found) -> Res<()> {
        self.tick()?;
        let mut open = Vec::new();
        for (label, p) in pending {
            match self.holds(env, p).map_err(|s| located(s, label)) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // Where the left side of an implication is true, the right side is a conjunct.
                Err(Stop::Unbound) => match p.bare() {
                    Pred::Implies(l, r) if self.holds(env, l) == Ok(true) => conjuncts(r, label, &mut open),
                    _ => open.push((*label, *p)),
                },
                Err(s) => trouble = Some(worse(trouble, s)),
            }
        }
        if left.is_empty() {
            return match trouble {
                _ if !open.is_empty() => Err(Stop::Unbound),
                Some(Stop::Undefined(u)) => found(env, Err(u)),
                Some(stop) => Err(stop),
                None => found(env, Ok(())),
            };
        }
        let (choice, undefined) = self.choose(env, left, &mut open);
        let (mut seen, mut sampled) = (false, None);
        let (at, range) = match choice {
            Some(choice) => choice,
            None => {
                // If a name further out has no value yet, what bounds the variable may not be seen yet either.
                let text = || open.iter().map(|(_, p)| p.write() + " ").collect::<String>();
                let early = env.awaits(text, &left.iter().map(|v| &v.0).collect::<Vec<_>>());
                let unlistable = if early { Stop::Unbound } else { Stop::Unlistable };
                let finite = left.iter().position(|v| self.finite_type(&v.1, &mut Vec::new()));
                let hopeless = undefined.or(matches!(trouble, Some(Stop::Undefined(_))).then_some(0));
                match (finite, hopeless) {
                    (_, None) if early => return Err(unlistable),
                    (Some(at), _) => (at, Range::Members(Set::All(left[at].1.clone()))),
                    // A conjunct is undefined already, or the set `S` of a conjunct `x:S` is. So no binding makes the
                    // predicate true, and one binding that does not make it false makes it undefined: a few are tried.
                    (None, Some(at)) if left[at].1 == Type::Integer => {
                        sampled = Some(unlistable);
                        (at, Range::Members(Set::Interval((-2).into(), 8.into())))
                    }
                    _ if early => return Err(unlistable),
                    _ => return self.cases(env, left, (&open, trouble), found),
                }
            }
        };
        let (name, rest) = (&left[at].0, [&left[..at], &left[at + 1..]].concat());
        let growing = matches!(&range, Range::Members(Set::Arrows(arrow, ..)) if arrow.functional);
        let around = if growing { env.clone() } else { Env::default() };
        let mut with = |slot: Slot| {
            env.fill(name, slot);
            let done = self.level(env, &rest, (&open, trouble.clone()), &mut |env, truth| {
                seen = true;
                found(env, truth)
            });
            env.fill(name, Slot::Unbound);
            done
        };
        match range {
            Range::Equal(slot) => with(slot)?,
            Range::Members(Set::Arrows(arrow, a, b)) if growing => {
                self.grow(&around, name, (arrow, &a, &b), &open, &mut |v| with(Slot::Value(v)))?
            }
            Range::Members(set) => self.each(&set, &mut |v| with(Slot::Value(v)))?,
        }
        sampled.filter(|_| !seen).map_or(Ok(()), Err)
    }

    /// Goes through the cases of the first disjunction or implication; in each those before it are false.
    fn cases(&self, env: &mut Env, left: &[&Var], (open, trouble): Pending, found: Found) -> Res<()> {
        let parts = |c: &Conjunct| match c.1.bare() {
            Pred::Or(ps) => Some(ps.clone()),
            Pred::Implies(p, q) => Some(vec![Pred::Not(p.clone()), (**q).clone()]),
            _ => None,
        };
        let (k, parts) = (0..).zip(open).find_map(|(k, c)| Some((k, parts(c)?))).ok_or(Stop::Unlistable)?;
        let others: Vec<Pred> = parts.iter().map(|p| Pred::Not(Box::new(p.clone()))).collect();
        for (i, part) in parts.iter().enumerate() {
            let mut all = [&open[..k], &open[k + 1..]].concat();
            others[..i].iter().chain([part]).for_each(|p| conjuncts(p, open[k].0, &mut all));
            self.level(env, left, (&all, trouble.clone()), found)?;
        }
        Ok(())
    }

    /// The first variable with an equation, else the first one with another obvious range. A conjunct that is true for the
    /// whole range is removed. The second answer is a variable whose range is undefined.
    fn choose(&self, env: &Env, left: &[&Var], open: &mut Vec<Conjunct>) -> Choice {
        let mut undefined = None;
        for equations in [true, false] {
            for (at, var) in left.iter().enumerate() {
                for k in 0..open.len() {
                    match self.range(env, &var.0, open[k].1, equations) {
                        Ok(Some((range, is_exact))) => {
                            if is_exact {
                                open.remove(k);
                            }
                            return (Some((at, range)), undefined);
                        }
                        Err(Stop::Undefined(_)) => undefined = Some(at),
                        Ok(None) | Err(_) => {}
                    }
                }
                // Integers between comparisons with numbers, and with variables that are compared with numbers; so many
                // variables may stand between one and the number that bounds it.
                let bound = |upper| self.bound(env, &var.0, open, upper, 3);
                if !equations && let (Some(low), Some(high)) = (bound(false), bound(true)) {
                    return (Some((at, Range::Members(Set::Interval(low, high)))), undefined);
                }
            }
        }
        (None, undefined)
    }

    /// The range that one conjunct gives to a variable, and whether the conjunct says no more than that.
    fn range(&self, env: &Env, name: &Name, p: &Pred, equations: bool) -> Res<Option<(Range, bool)>> {
        let Pred::Rel(op, a, b) = p else { return Ok(None) };
        let set = match op {
            RelOp::Equal if equations => {
                let Some((path, e)) = path(a, name).map(|p| (p, b)).or_else(|| Some((path(b, name)?, a)))
                else {
                    return Ok(None);
                };
                return Ok(Some(match self.val(env, e)? {
                    Val::Many(s) if path.is_empty() && !self.listable(&s)? => {
                        (Range::Equal(Slot::Rule(Arc::new(s))), true)
                    }
                    v => (Range::Equal(Slot::Value(part(&*self.value_of(v)?, &path)?)), path.is_empty()),
                }));
            }
            RelOp::In if !equations => match path(a, name) {
                Some(path) => self.parts(&self.set(env, b)?, &path)?,
                None => None,
            },
            RelOp::Subset | RelOp::StrictSubset if !equations && path(a, name) == Some(vec![]) => {
                Some(Set::Subsets(Arc::new(self.set(env, b)?), false))
            }
            _ => None,
        };
        match set {
            Some(set) if self.listable(&set)? => {
                let is_exact = *op != RelOp::StrictSubset && matches!(a, Expr::Var(_));
                Ok(Some((Range::Members(set), is_exact)))
            }
            _ => Ok(None),
        }
    }

    /// The sides of the members of a set, if they can be told.
    fn parts(&self, set: &Set, path: &[bool]) -> Res<Option<Set>> {
        match (path, set) {
            ([], set) => Ok(Some(set.clone())),
            ([right, rest @ ..], Set::Product(a, b)) => self.parts(if *right { b } else { a }, rest),
            (path, set) if self.listable(set)? => {
                let parts = self.list(set)?.iter().map(|v| part(v, path)).collect::<Res<Vec<_>>>()?;
                Ok(Some(Set::of(parts)))
            }
            _ => Ok(None),
        }
    }

    /// How much is added to a variable in an expression that is the variable, or its sum with a number.
    fn moved(&self, env: &Env, e: &Expr, name: &Name) -> Option<IBig> {
        match e {
            Expr::Var(n) if n == name => Some(IBig::ZERO),
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub), x, n) if **x == Expr::Var(name.clone()) => {
                let n = int(&*self.look(env, n).ok()?).ok()?;
                Some(if *op == BinOp::Add { n } else { -n })
            }
            _ => None,
        }
    }

    /// The best upper or lower bound of a variable, by way of at most so many other variables.
    fn bound(&self, env: &Env, name: &Name, open: &[Conjunct], upper: bool, through: usize) -> Option<IBig> {
        let one = |(_, p): &Conjunct| {
            let Pred::Rel(op, a, b) = p else { return None };
            let (moved, e, on_left) = match (self.moved(env, a, name), self.moved(env, b, name)) {
                (Some(n), _) => (n, b, true),
                (_, n) => (n?, a, false),
            };
            let (below, step) = match op {
                RelOp::Less => (true, 1),
                RelOp::LessEqual => (true, 0),
                RelOp::Greater => (false, 1),
                RelOp::GreaterEqual | RelOp::In => (false, 0),
                _ => return None,
            };
            if (below == on_left) != upper {
                return None;
            }
            let n = match (self.val(env, e), e) {
                (Ok(Val::One(n)), _) if *op != RelOp::In => int(&n).ok()?,
                (Ok(Val::Many(Set::From(n))), _) if *op == RelOp::In => n,
                (Err(Stop::Unbound), Expr::Var(other)) if *op != RelOp::In && through > 0 => {
                    self.bound(env, other, open, upper, through - 1)?
                }
                _ => return None,
            };
            Some(if upper { n - step } else { n + step } - moved)
        };
        let all = open.iter().filter_map(one);
        if upper { all.min() } else { all.max() }
    }
}

/// Where a variable stands in a pattern of pairs: false is the left side, true the right one.
fn path(pattern: &Expr, name: &Name) -> Option<Vec<bool>> {
    match pattern {
        Expr::Var(n) if n == name => Some(Vec::new()),
        Expr::Pair(a, b) => [(a, false), (b, true)].into_iter().find_map(|(e, right)| {
            let rest = path(e, name)?;
            Some(std::iter::once(right).chain(rest).collect())
        }),
        _ => None,
    }
}

pub(crate) fn part(v: &Value, path: &[bool]) -> Res<Value> {
    path.iter().try_fold(v.clone(), |v, right| {
        let (a, b) = sides(&v)?;
        Ok(if *right { b.clone() } else { a.clone() })
    })
}
