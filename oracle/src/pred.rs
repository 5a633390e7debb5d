//! The truth of a predicate in an environment: true, false, or undefined.
//!
//! In: an environment and a predicate. Out: `Ok(truth)`, or why there is none.
//! A conjunction is false if some conjunct is false, wherever it stands; `or` and `=>` go from left to right.

use crate::eval::{Env, Oracle, Res, Slot, Stop, Undefined, Val};
use crate::sets::{Set, listed, to_the_end};
use crate::tree::{Expr, Pred, RelOp, Type, UnOp, Var};
use crate::value::Value;

/// A conjunct and the innermost label around it.
pub(crate) type Conjunct<'p> = (&'p str, &'p Pred);

/// The conjuncts of a predicate; nested conjunctions are one conjunction.
pub(crate) fn conjuncts<'p>(p: &'p Pred, label: &'p str, out: &mut Vec<Conjunct<'p>>) {
    match p {
        Pred::And(ps) => ps.iter().for_each(|p| conjuncts(p, label, out)),
        Pred::At(label, p) => conjuncts(p, label, out),
        p => out.push((label, p)),
    }
}

impl Oracle<'_> {
    /// Whether the predicate is true.
    pub fn holds(&self, env: &Env, p: &Pred) -> Res<bool> {
        self.tick()?;
        match p {
            Pred::True => Ok(true),
            Pred::False => Ok(false),
            Pred::And(_) => self.all_hold(env, p),
            Pred::Or(ps) => {
                for p in ps {
                    if self.holds(env, p)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Pred::Not(p) => Ok(!self.holds(env, p)?),
            Pred::Implies(p, q) => Ok(!self.holds(env, p)? || self.holds(env, q)?),
            Pred::Iff(p, q) => Ok(self.holds(env, p)? == self.holds(env, q)?),
            Pred::Rel(op, a, b) => self.compare(env, *op, a, b),
            Pred::Exists(vars, p) => self.some(env, vars, p, &|_| Ok(true)),
            Pred::Forall(vars, p) => self.forall(env, vars, p),
            Pred::If(c, p, q) => self.holds(env, if self.holds(env, c)? { p } else { q }),
            Pred::Let(bs, p) => self.holds(&self.let_in(env, bs)?, p),
            Pred::Finite(e) => {
                let s = self.set(env, e)?;
                self.finite(&s)?.ok_or_else(|| Stop::TooBig("it is not known whether a set is finite".into()))
            }
            Pred::Partition(whole, parts) => self.partition(env, whole, parts),
            Pred::Made(c, e) => match &*self.look(env, e)? {
                Value::Free(_, made, _) => Ok(made.1 == *c),
                _ => Err(Stop::ill("a value of a free type")),
            },
            Pred::At(label, p) => self.holds(env, p).map_err(|s| located(s, label)),
        }
    }

    /// The predicate with variables bound to the parts of a value.
    pub(crate) fn holds_at(&self, env: &Env, vars: &[Var], p: &Pred, v: &Value) -> Res<bool> {
        self.holds(&env.at(vars, v)?, p)
    }

    fn all_hold(&self, env: &Env, p: &Pred) -> Res<bool> {
        let mut trouble = None;
        let none_fails = self.none_fails(env, p, "", &mut trouble);
        trouble.filter(|_| none_fails).map_or(Ok(none_fails), Err)
    }

    /// Whether no conjunct is false; what has no truth is noted.
    fn none_fails(&self, env: &Env, p: &Pred, label: &str, trouble: &mut Option<Stop>) -> bool {
        match p {
            Pred::And(ps) => ps.iter().all(|p| self.none_fails(env, p, label, trouble)),
            Pred::At(label, p) => self.none_fails(env, p, label, trouble),
            p => self.holds(env, p).unwrap_or_else(|stop| {
                *trouble = Some(worse(trouble.take(), located(stop, label)));
                true
            }),
        }
    }

    /// Whether some binding with the condition true passes the test.
    fn some(&self, env: &Env, vars: &[Var], p: &Pred, test: &dyn Fn(&Env) -> Res<bool>) -> Res<bool> {
        let (mut found, mut waits) = (None, false);
        let mut look = |env: &Env, truth: Result<(), _>| {
            match truth.map_err(Stop::Undefined).and_then(|()| test(env)) {
                Ok(true) => return Err(Stop::Enough),
                Ok(false) => {}
                Err(Stop::Undefined(u)) => found = found.take().filter(|_| u.applied.is_none()).or(Some(u)),
                // Another binding may decide, whatever the images are that are not chosen yet.
                Err(Stop::Unbound) if env.is_growing() => waits = true,
                Err(stop) => return Err(stop),
            }
            Ok(())
        };
        let mut none = to_the_end(self.bindings(env, vars, p, &mut look));
        // Where the bindings cannot be listed, one that passes decides all the same: small integers are tried.
        if none == Err(Stop::Unlistable) {
            let small = Expr::Const(Value::set((-2..=8).map(Value::int).collect()));
            let integers = vars.iter().filter(|v| v.1 == Type::Integer);
            let inside = integers.map(|v| Pred::Rel(RelOp::In, Expr::Var(v.0.clone()), small.clone()));
            let few = Pred::And(inside.chain([p.clone()]).collect());
            let decided = to_the_end(self.bindings(env, vars, &few, &mut look)) == Ok(false);
            none = if decided { Ok(false) } else { none };
        }
        match (none.map_err(|s| unlisted(s, "a quantifier over", vars))?, found) {
            (true, _) if waits => Err(Stop::Unbound),
            (true, Some(u)) => Err(Stop::Undefined(u)),
            (none, _) => Ok(!none),
        }
    }

    /// Outside of P in `!x.(P=>Q)` the body is true, so only bindings with P true or undefined matter.
    fn forall(&self, env: &Env, vars: &[Var], p: &Pred) -> Res<bool> {
        let (left, right) = match p.bare() {
            Pred::Implies(left, right) => (&**left, &**right),
            _ => (&Pred::True, p),
        };
        Ok(!self.some(env, vars, left, &|env| Ok(!self.holds(env, right)?))?)
    }

    fn compare(&self, env: &Env, op: RelOp, a: &Expr, b: &Expr) -> Res<bool> {
        use RelOp::*;
        Ok(match op {
            In | NotIn => self.is_in(env, a, b)? == (op == In),
            Equal | NotEqual => {
                let (a, b) = (self.val(env, a)?, self.val(env, b)?);
                self.equal(a, b)? == (op == Equal)
            }
            Subset | NotSubset | StrictSubset | NotStrictSubset => {
                let (a, b) = (self.set(env, a)?, self.set(env, b)?);
                let strict = matches!(op, StrictSubset | NotStrictSubset);
                let inside = self.subset(&a, &b)? && !(strict && self.equal(Val::Many(a), Val::Many(b))?);
                inside == matches!(op, Subset | StrictSubset)
            }
            Less | LessEqual | Greater | GreaterEqual => {
                let (a, b) = (self.look(env, a)?, self.look(env, b)?);
                if !matches!((&*a, &*b), (Value::Int(_), Value::Int(_)) | (Value::Real(_), Value::Real(_))) {
                    return Err(Stop::ill("two numbers of one type"));
                }
                let (a, b) = if matches!(op, Less | LessEqual) { (a, b) } else { (b, a) };
                a < b || a == b && matches!(op, LessEqual | GreaterEqual)
            }
        })
    }

    /// `E : {x|P}`, written like this, looks at P only at the point. `x : T` for the type `T` of `x` says nothing that types do
    /// not say: a variable without a value is not read.
    fn is_in(&self, env: &Env, a: &Expr, b: &Expr) -> Res<bool> {
        let has_none = |x| matches!(env.get(x), Some(Slot::Unassigned));
        if matches!((a, b), (Expr::Var(x), Expr::All(t)) if !matches!(t, Type::Free(_)) && has_none(x)) {
            return Ok(true);
        }
        let a = self.val(env, a)?;
        if let Expr::Compr(vars, p) = b {
            return self.holds_at(env, vars, p, &*self.value_of(a)?);
        }
        let b = match (b, &a) {
            // A relation that is listed is looked at where it stands.
            (Expr::Unary(op @ (UnOp::Dom | UnOp::Ran), r), Val::One(x)) => match self.val(env, r)? {
                Val::One(r) => {
                    let mut pairs = listed(&r)?.iter().filter_map(Value::sides);
                    return Ok(pairs.any(|(a, b)| if *op == UnOp::Dom { *a == **x } else { *b == **x }));
                }
                r => self.unary(*op, r)?,
            },
            _ => self.val(env, b)?,
        };
        match (a, b) {
            (Val::Many(a), Val::Many(Set::Subsets(b, false))) => self.subset(&a, &b),
            (Val::One(a), Val::One(b)) => Ok(listed(&b)?.binary_search(&a).is_ok()),
            (a, b) => self.member(&*self.value_of(a)?, &b.set()?),
        }
    }

    fn equal(&self, a: Val, b: Val) -> Res<bool> {
        if let (Val::One(a), Val::One(b)) = (&a, &b) {
            let one_type = std::mem::discriminant(&**a) == std::mem::discriminant(&**b);
            return if one_type { Ok(a == b) } else { Err(Stop::ill("two values of one type")) };
        }
        let (a, b) = (a.set()?, b.set()?);
        match (&a, &b, self.finite(&a)?, self.finite(&b)?) {
            (_, _, Some(true), Some(true)) => Ok(self.list(&a)? == self.list(&b)?),
            (_, _, Some(true), Some(false)) | (_, _, Some(false), Some(true)) => Ok(false),
            (Set::From(a), Set::From(b), ..) => Ok(a == b),
            (Set::All(_), Set::All(_), ..) => Ok(true),
            _ => Err(Stop::TooBig("infinite sets would have to be compared".into())),
        }
    }

    pub(crate) fn subset(&self, a: &Set, b: &Set) -> Res<bool> {
        match (a, b, self.finite(a)?, self.finite(b)?) {
            (_, Set::All(_), ..) => Ok(true),
            (Set::From(a), Set::From(b), ..) => Ok(a >= b),
            (_, _, Some(true), _) => to_the_end(self.each(a, &mut |v| match self.member(&v, b)? {
                true => Ok(()),
                false => Err(Stop::Enough),
            })),
            (_, _, Some(false), Some(true)) => Ok(false),
            _ => Err(Stop::TooBig("infinite sets would have to be compared".into())),
        }
    }

    /// The parts are disjoint and their union is the whole.
    fn partition(&self, env: &Env, whole: &Expr, parts: &[Expr]) -> Res<bool> {
        let whole = self.val(env, whole)?;
        let parts = parts.iter().map(|p| self.list(&self.set(env, p)?)).collect::<Res<Vec<_>>>()?;
        let union = Set::of(parts.iter().flat_map(|p| p.iter().cloned()).collect());
        let disjoint = self.list(&union)?.len() == parts.iter().map(|p| p.len()).sum();
        Ok(self.equal(whole, Val::Many(union))? && disjoint)
    }
}

/// Which of two reasons weighs more in a conjunction none of whose conjuncts is known to be false: a conjunct
/// without an answer could be false, an undefined one cannot.
pub(crate) fn worse(a: Option<Stop>, b: Stop) -> Stop {
    match (a, b) {
        (Some(Stop::Unbound), _) | (_, Stop::Unbound) => Stop::Unbound,
        (Some(Stop::TooBig(why)), _) | (_, Stop::TooBig(why)) => Stop::TooBig(why),
        (Some(first), _) | (None, first) => first,
    }
}

pub(crate) fn located(stop: Stop, label: &str) -> Stop {
    match stop {
        Stop::Undefined(u) if u.place.is_empty() => {
            Stop::Undefined(Undefined { place: label.into(), ..*u }.into())
        }
        other => other,
    }
}

/// Says which bindings cannot be listed.
pub(crate) fn unlisted(stop: Stop, binder: &str, vars: &[Var]) -> Stop {
    if stop != Stop::Unlistable {
        return stop;
    }
    let names: Vec<&str> = vars.iter().map(|v| &*v.0).collect();
    Stop::TooBig(format!("the bindings of {binder} {} cannot be listed", names.join(",")))
}
