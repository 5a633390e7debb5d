//! Sets that a rule describes: membership at a point, whether the set is finite, and its elements in a fixed order.
//!
//! In: rules built by evaluation, their parts evaluated already. Out: answers about them.
//! Never here: expressions, except the bodies of comprehensions that cannot be listed; those are tested at points.

use crate::eval::{Env, Oracle, Res, Stop};
use crate::tree::{Arrow, Expr, Name, Pred, Type, Var};
use crate::value::{Value, sorted};
use dashu_int::IBig;
use std::sync::Arc;

/// A set by a rule. Parts are shared.
#[derive(Clone, Debug)]
pub enum Set {
    /// Sorted, without repetitions.
    Listed(Arc<Vec<Value>>),
    All(Type),
    /// All integers from this one on.
    From(IBig),
    Interval(IBig, IBig),
    /// All subsets; without the empty one if the flag says so.
    Subsets(Arc<Set>, bool),
    Arrows(Arrow, Arc<Set>, Arc<Set>),
    /// Sequences over a set: whether the empty one is left out, and whether all are injective.
    Sequences(bool, bool, Arc<Set>),
    Product(Arc<Set>, Arc<Set>),
    Records(Vec<(Name, Set)>),
    Union(Arc<Set>, Arc<Set>),
    Inter(Arc<Set>, Arc<Set>),
    Minus(Arc<Set>, Arc<Set>),
    /// A comprehension `{x,y|P}` whose bindings cannot be listed.
    Such(Arc<Closure>),
    /// A function `%x,y.(P|E)` whose bindings cannot be listed.
    Lambda(Arc<Closure>, Arc<Expr>),
}

/// Bound variables and a condition, with the values of the names around them.
#[derive(Clone, Debug)]
pub struct Closure {
    pub(crate) env: Env,
    pub vars: Vec<Var>,
    pub pred: Pred,
}

/// Called with each element; `Stop::Enough` ends the visit.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Value) -> Res<()>;

impl Set {
    pub(crate) fn of(elements: Vec<Value>) -> Set {
        Set::Listed(sorted(elements))
    }
}

impl Oracle<'_> {
    /// Whether the value is a member of the set.
    pub(crate) fn member(&self, v: &Value, set: &Set) -> Res<bool> {
        self.tick()?;
        match set {
            Set::Listed(e) => Ok(e.binary_search(v).is_ok()),
            Set::All(_) => Ok(true),
            Set::From(low) => Ok(matches!(v, Value::Int(n) if n >= low)),
            Set::Interval(a, b) => Ok(matches!(v, Value::Int(n) if n >= a && n <= b)),
            Set::Subsets(s, nonempty) => {
                let e = listed(v)?;
                Ok(!(*nonempty && e.is_empty()) && self.subset(&Set::Listed(e.clone()), s)?)
            }
            Set::Arrows(arrow, a, b) => self.is_arrow(v, *arrow, a, b),
            Set::Sequences(nonempty, injective, s) => {
                let Some(e) = v.as_seq() else { return Ok(false) };
                let (count, ran) = (e.len(), Set::of(e));
                Ok(!(*nonempty && count == 0)
                    && (!injective || self.list(&ran)?.len() == count)
                    && self.subset(&ran, s)?)
            }
            Set::Product(a, b) => {
                let (x, y) = sides(v)?;
                Ok(self.member(x, a)? && self.member(y, b)?)
            }
            Set::Records(fields) => {
                let Value::Record(r) = v else { return Err(Stop::ill("a record")) };
                let mut fields = r.iter().zip(fields);
                fields.try_fold(true, |all, ((_, x), (_, s))| Ok(all && self.member(x, s)?))
            }
            Set::Union(a, b) => Ok(self.member(v, a)? || self.member(v, b)?),
            Set::Inter(a, b) => Ok(self.member(v, a)? && self.member(v, b)?),
            Set::Minus(a, b) => Ok(self.member(v, a)? && !self.member(v, b)?),
            Set::Such(c) => self.holds_at(&c.env, &c.vars, &c.pred, v),
            Set::Lambda(..) => Ok(self.images(set, sides(v)?.0)?.contains(sides(v)?.1)),
        }
    }

    fn is_arrow(&self, v: &Value, arrow: Arrow, a: &Set, b: &Set) -> Res<bool> {
        let pairs = listed(v)?.iter().map(sides).collect::<Res<Vec<_>>>()?;
        let (xs, mut ys): (Vec<&Value>, Vec<&Value>) = pairs.into_iter().unzip();
        ys.sort();
        let distinct = |all: &[&Value]| all.windows(2).all(|two| two[0] != two[1]);
        let inside = |all: &[&Value], s: &Set| -> Res<bool> {
            all.iter().try_fold(true, |so_far, v| Ok(so_far && self.member(v, s)?))
        };
        let covers =
            |all: &[&Value], s: &Set| self.subset(s, &Set::of(all.iter().copied().cloned().collect()));
        Ok((!arrow.functional || distinct(&xs))
            && (!arrow.injective || distinct(&ys))
            && inside(&xs, a)?
            && inside(&ys, b)?
            && (!arrow.total || covers(&xs, a)?)
            && (!arrow.onto || covers(&ys, b)?))
    }

    /// `Some(true)`: finite, and `each` lists the set. `Some(false)`: infinite. `None`: not known.
    pub(crate) fn finite(&self, set: &Set) -> Res<Option<bool>> {
        let both = |a: Option<bool>, b: Option<bool>| (a == Some(true) && b == Some(true)).then_some(true);
        let endless = |s: &Set| matches!(s, Set::All(Type::Integer) | Set::From(_));
        Ok(match set {
            Set::Listed(_) | Set::Interval(..) => Some(true),
            Set::All(t) => Some(self.finite_type(t, &mut Vec::new())),
            Set::From(_) => Some(false),
            Set::Subsets(s, _) => self.finite(s)?,
            // All integers from somewhere on are as many as all integers: there are infinitely many arrows of each kind.
            Set::Arrows(_, a, b) if endless(a) && endless(b) => Some(false),
            Set::Arrows(_, a, b) => both(self.finite(a)?, self.finite(b)?),
            Set::Sequences(_, injective, s) => match self.finite(s)? {
                Some(true) => Some(*injective || self.empty(s)?),
                other => other,
            },
            Set::Product(a, b) => match (self.finite(a)?, self.finite(b)?) {
                (Some(false), Some(false)) => Some(false),
                (Some(true), Some(false)) if !self.empty(a)? => Some(false),
                (Some(false), Some(true)) if !self.empty(b)? => Some(false),
                (a, b) => both(a, b),
            },
            Set::Records(fields) => {
                fields.iter().try_fold(Some(true), |all, (_, s)| Ok(both(all, self.finite(s)?)))?
            }
            Set::Union(a, b) => match (self.finite(a)?, self.finite(b)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => both(a, b),
            },
            Set::Inter(a, b) => (self.listable(a)? || self.listable(b)?).then_some(true),
            Set::Minus(a, _) => self.finite(a)?.filter(|f| *f),
            Set::Such(_) | Set::Lambda(..) => None,
        })
    }

    pub(crate) fn listable(&self, set: &Set) -> Res<bool> {
        Ok(self.finite(set)? == Some(true))
    }

    pub(crate) fn finite_type(&self, t: &Type, open: &mut Vec<Name>) -> bool {
        match t {
            Type::Integer | Type::Str | Type::Real => false,
            Type::Bool | Type::Given(_) => true,
            Type::Pow(t) => self.finite_type(t, open),
            Type::Prod(a, b) => self.finite_type(a, open) && self.finite_type(b, open),
            Type::Record(fields) => fields.iter().all(|(_, t)| self.finite_type(t, open)),
            Type::Free(n) => {
                let recursive = open.contains(n);
                open.push(n.clone());
                let mut args = self.machine.constructors(n).filter_map(|c| c.1.as_ref());
                let finite = !recursive && args.all(|(t, _)| self.finite_type(t, open));
                open.pop();
                finite
            }
        }
    }

    /// Whether the set has no element; the set must be finite.
    fn empty(&self, s: &Set) -> Res<bool> {
        to_the_end(self.each(s, &mut |_| Err(Stop::Enough)))
    }

    /// The elements, sorted; `TooBig` for a set that cannot be listed.
    pub(crate) fn list(&self, set: &Set) -> Res<Arc<Vec<Value>>> {
        match set {
            Set::Listed(e) => return Ok(e.clone()),
            Set::Union(a, b) => {
                let all = [&self.list(a)?[..], &self.list(b)?[..]].concat();
                return self.charge(all.len() as u64).map(|()| sorted(all));
            }
            _ => {}
        }
        let mut out = Vec::new();
        self.each(set, &mut |v| {
            out.push(v);
            Ok(())
        })?;
        Ok(sorted(out))
    }

    /// Visits every element once, in a fixed order.
    pub(crate) fn each(&self, set: &Set, visit: Visit) -> Res<()> {
        if !self.listable(set)? {
            return Err(Stop::TooBig("an infinite set would have to be listed".into()));
        }
        match set {
            Set::Listed(e) => e.iter().try_for_each(|v| self.tick().and_then(|()| visit(v.clone()))),
            Set::Interval(a, b) => {
                let mut n = a.clone();
                while n <= *b {
                    self.tick()?;
                    visit(Value::Int(n.clone()))?;
                    n += 1;
                }
                Ok(())
            }
            Set::All(t) => self.each_of_type(t, visit),
            Set::Subsets(s, nonempty) => self.each_subset(&self.list(s)?, &mut Vec::new(), &mut |e| {
                if *nonempty && e.is_empty() { Ok(()) } else { visit(Value::Set(Arc::new(e.to_vec()))) }
            }),
            Set::Arrows(arrow, a, b) => self.each_arrow(*arrow, a, b, visit),
            // Only injective ones are looked at: of others there are infinitely many, or just the empty one.
            Set::Sequences(nonempty, _, s) => ((*nonempty).into()..=self.list(s)?.len()).try_for_each(|n| {
                let arrow = Arrow { functional: true, total: true, onto: false, injective: true };
                let places = Arc::new(Set::Interval(1.into(), n.into()));
                self.each(&Set::Arrows(arrow, places, s.clone()), visit)
            }),
            Set::Product(a, b) => {
                self.each(a, &mut |x| self.each(b, &mut |y| visit(Value::pair(x.clone(), y))))
            }
            Set::Records(fields) => self.each_record(fields, &mut Vec::new(), visit),
            Set::Union(..) => self.each(&Set::Listed(self.list(set)?), visit),
            Set::Inter(a, b) => {
                let (a, b) = if self.listable(a)? { (a, b) } else { (b, a) };
                self.each(a, &mut |x| if self.member(&x, b)? { visit(x) } else { Ok(()) })
            }
            Set::Minus(a, b) => self.each(a, &mut |x| if self.member(&x, b)? { Ok(()) } else { visit(x) }),
            Set::From(_) | Set::Such(_) | Set::Lambda(..) => Err(Stop::TooBig("an infinite set".into())),
        }
    }

    fn each_of_type(&self, t: &Type, visit: Visit) -> Res<()> {
        let all = |t: &Type| Arc::new(Set::All(t.clone()));
        match t {
            Type::Bool => [false, true].into_iter().try_for_each(|b| visit(Value::Bool(b))),
            Type::Given(n) => {
                let own = self.machine.sets.iter().filter(|s| s.name == *n).flat_map(|s| &s.elements);
                own.enumerate().try_for_each(|(i, e)| visit(Value::element(i as u32, n.clone(), e.clone())))
            }
            Type::Pow(t) => self.each(&Set::Subsets(all(t), false), visit),
            Type::Prod(a, b) => self.each(&Set::Product(all(a), all(b)), visit),
            Type::Record(f) => {
                let fields = f.iter().map(|(n, t)| (n.clone(), Set::All(t.clone()))).collect();
                self.each(&Set::Records(fields), visit)
            }
            Type::Free(n) => {
                for (i, (c, arg)) in self.machine.constructors(n).enumerate() {
                    let make = |arg| Value::Free(i as u32, Arc::new((n.clone(), c.clone())), arg);
                    match arg {
                        None => visit(make(None))?,
                        Some((_, domain)) => {
                            let domain = self.set(&Env::default(), domain)?;
                            self.each(&domain, &mut |v| visit(make(Some(Arc::new(v)))))?
                        }
                    }
                }
                Ok(())
            }
            Type::Integer | Type::Str | Type::Real => Err(Stop::TooBig("an infinite type".into())),
        }
    }

    fn each_subset(&self, from: &[Value], chosen: &mut Vec<Value>, visit: Choice) -> Res<()> {
        self.tick()?;
        let Some((first, rest)) = from.split_first() else { return visit(chosen) };
        self.each_subset(rest, chosen, visit)?;
        chosen.push(first.clone());
        self.each_subset(rest, chosen, visit)?;
        chosen.pop();
        Ok(())
    }

    /// Chooses a value of each field that is left.
    fn each_record(&self, left: &[(Name, Set)], chosen: &mut Vec<(Name, Value)>, visit: Visit) -> Res<()> {
        let Some(((name, set), rest)) = left.split_first() else {
            return visit(Value::record(chosen.clone()));
        };
        self.each(set, &mut |v| {
            chosen.push((name.clone(), v));
            self.each_record(rest, chosen, visit)?;
            chosen.pop();
            Ok(())
        })
    }

    fn each_arrow(&self, arrow: Arrow, a: &Arc<Set>, b: &Arc<Set>, visit: Visit) -> Res<()> {
        if arrow.functional {
            let (domain, targets) = (self.list(a)?, self.list(b)?);
            return self.each_function((arrow, &domain, &targets), &mut Vec::new(), &mut |_| true, visit);
        }
        let relations = Set::Subsets(Arc::new(Set::Product(a.clone(), b.clone())), false);
        self.each(&relations, &mut |r| if self.is_arrow(&r, arrow, a, b)? { visit(r) } else { Ok(()) })
    }
}

type Choice<'a> = &'a mut dyn FnMut(&[Value]) -> Res<()>;

/// Whether a visit went to the end.
pub(crate) fn to_the_end(visit: Res<()>) -> Res<bool> {
    match visit {
        Ok(()) => Ok(true),
        Err(Stop::Enough) => Ok(false),
        Err(stop) => Err(stop),
    }
}

pub(crate) fn listed(v: &Value) -> Res<&Arc<Vec<Value>>> {
    v.elements().ok_or_else(|| Stop::ill("a set"))
}

pub(crate) fn sides(v: &Value) -> Res<(&Value, &Value)> {
    v.sides().ok_or_else(|| Stop::ill("a pair"))
}
