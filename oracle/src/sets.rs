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
    Sequences(Sequences, Arc<Set>),
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

/// Which sequences over a set are meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequences {
    pub nonempty: bool,
    pub injective: bool,
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
            Set::Sequences(kind, s) => {
                let Some(e) = v.as_seq() else { return Ok(false) };
                let (count, ran) = (e.len(), Set::of(e));
                Ok(!(kind.nonempty && count == 0)
                    && (!kind.injective || self.list(&ran)?.len() == count)
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
        let pairs = self.pairs(&Set::Listed(listed(v)?.clone()))?;
        let count = pairs.len();
        let (xs, ys) = pairs.into_iter().unzip();
        let (xs, ys) = (Set::of(xs), Set::of(ys));
        Ok((!arrow.functional || self.list(&xs)?.len() == count)
            && (!arrow.injective || self.list(&ys)?.len() == count)
            && self.subset(&xs, a)?
            && self.subset(&ys, b)?
            && (!arrow.total || self.subset(a, &xs)?)
            && (!arrow.onto || self.subset(b, &ys)?))
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
            Set::Sequences(kind, s) => match self.finite(s)? {
                Some(true) => Some(kind.injective || self.empty(s)?),
                other => other,
            },
            Set::Product(a, b) => match (self.finite(a)?, self.finite(b)?) {
                (Some(false), Some(false)) => Some(false),
                (Some(true), Some(false)) if !self.empty(a)? => Some(false),
                (Some(false), Some(true)) if !self.empty(b)? => Some(false),
                (a, b) => both(a, b),
            },
            Set::Records(fields) => {
                let each = fields.iter().map(|(_, s)| self.finite(s)).collect::<Res<Vec<_>>>()?;
                each.into_iter().fold(Some(true), both)
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
        if let Set::Listed(e) = set {
            return Ok(e.clone());
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
                if *nonempty && e.is_empty() { Ok(()) } else { visit(Value::set(e.to_vec())) }
            }),
            Set::Arrows(arrow, a, b) => self.each_arrow(*arrow, a, b, visit),
            Set::Sequences(kind, s) => self.each_seq(*kind, &self.list(s)?, &mut Vec::new(), visit),
            Set::Product(a, b) => self.each_choice(&[a, b], &mut Vec::new(), &mut |c| {
                visit(Value::pair(c[0].clone(), c[1].clone()))
            }),
            Set::Records(fields) => {
                let sets: Vec<&Set> = fields.iter().map(|f| &f.1).collect();
                self.each_choice(&sets, &mut Vec::new(), &mut |c| {
                    visit(Value::record(fields.iter().map(|f| f.0.clone()).zip(c.iter().cloned()).collect()))
                })
            }
            Set::Union(a, b) => {
                let all = self.list(a)?.iter().chain(self.list(b)?.iter()).cloned().collect();
                self.each(&Set::of(all), visit)
            }
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
                let set = self.machine.sets.iter().find(|s| &s.name == n);
                let mut elements = set.into_iter().flat_map(|s| &s.elements).enumerate();
                elements.try_for_each(|(i, e)| visit(Value::Elem(i as u32, n.clone(), e.clone())))
            }
            Type::Pow(t) => self.each(&Set::Subsets(all(t), false), visit),
            Type::Prod(a, b) => self.each(&Set::Product(all(a), all(b)), visit),
            Type::Record(f) => {
                let fields = f.iter().map(|(n, t)| (n.clone(), Set::All(t.clone()))).collect();
                self.each(&Set::Records(fields), visit)
            }
            Type::Free(n) => {
                for (i, (c, arg)) in self.machine.constructors(n).enumerate() {
                    let make = |arg| Value::Free(n.clone(), i as u32, c.clone(), arg);
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

    /// Chooses one element of each set.
    fn each_choice(&self, sets: &[&Set], chosen: &mut Vec<Value>, visit: Choice) -> Res<()> {
        let Some((first, rest)) = sets.split_first() else { return visit(chosen) };
        self.each(first, &mut |v| {
            chosen.push(v);
            self.each_choice(rest, chosen, visit)?;
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

    /// Injective sequences only: of others there are infinitely many, or just the empty one.
    fn each_seq(&self, kind: Sequences, from: &[Value], chosen: &mut Vec<Value>, visit: Visit) -> Res<()> {
        self.tick()?;
        if !(kind.nonempty && chosen.is_empty()) {
            visit(Value::seq(chosen.iter().cloned()))?;
        }
        for v in from {
            if !chosen.contains(v) {
                chosen.push(v.clone());
                self.each_seq(kind, from, chosen, visit)?;
                chosen.pop();
            }
        }
        Ok(())
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
