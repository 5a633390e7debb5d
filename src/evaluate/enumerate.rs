//! The elements of a set one by one, also of sets that are never listed as a whole.
//!
//! In: a set. Out: calls of a visitor, in a fixed order, each element once; the visitor may stop.
//! Function spaces are built row by row, and a check after each row may cut a branch.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use bombus_base::{Int, Span};
use bombus_lang::typed::{BinOp, UnOp, VarId};
use bombus_lang::value::{Base, Symbolic, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) type Visit<'a> = &'a mut dyn FnMut(&mut Env, Value) -> Res<Flow>;

/// A set of functions, to be built row by row.
pub(crate) struct FunctionSpace {
    /// Points with the images each may take; `None` where the images cannot be listed.
    pub(crate) rows: Vec<(Value, Option<Arc<[Value]>>)>,
    /// Whether every point must have an image.
    pub(crate) total: bool,
    pub(crate) injective: bool,
    /// What the images must cover.
    pub(crate) onto: Option<Arc<[Value]>>,
}

/// What the one who searches a function knows about its rows.
pub(crate) trait Hooks {
    /// Whether the rows so far may be part of a function that is wanted.
    fn check(&mut self, env: &mut Env) -> Res<bool>;
    /// The images of a point whose images cannot be listed.
    fn open_row(&mut self, env: &mut Env, point: &Value) -> Res<Arc<[Value]>>;
    /// Which of the images of a point are worth trying, from where to where.
    fn ends_of_row(&mut self, _: &Env, _: &Value, images: &[Value]) -> (usize, usize) {
        (0, images.len())
    }
}

/// All functions are wanted, and all images can be listed.
struct NoHooks;

impl Hooks for NoHooks {
    fn check(&mut self, _: &mut Env) -> Res<bool> {
        Ok(true)
    }

    fn open_row(&mut self, _: &mut Env, _: &Value) -> Res<Arc<[Value]>> {
        Err(Error::unbounded(Span::default(), "the images of a function cannot be listed"))
    }
}

impl FunctionSpace {
    /// The functions of an arrow between listed sets; `None` for sets of relations.
    pub(crate) fn of_arrow(op: BinOp, a: &[Value], b: Option<&Arc<[Value]>>) -> Option<FunctionSpace> {
        let total = matches!(
            op,
            BinOp::TotalFunction | BinOp::TotalInjection | BinOp::TotalSurjection | BinOp::TotalBijection
        );
        let partial = matches!(
            op,
            BinOp::PartialFunction
                | BinOp::PartialInjection
                | BinOp::PartialSurjection
                | BinOp::PartialBijection
        );
        if !total && !partial {
            return None;
        }
        let injective = matches!(
            op,
            BinOp::PartialInjection | BinOp::TotalInjection | BinOp::PartialBijection | BinOp::TotalBijection
        );
        let onto = matches!(
            op,
            BinOp::PartialSurjection
                | BinOp::TotalSurjection
                | BinOp::PartialBijection
                | BinOp::TotalBijection
        );
        Some(FunctionSpace {
            rows: a.iter().map(|x| (x.clone(), b.cloned())).collect(),
            total,
            injective,
            onto: b.filter(|_| onto).cloned(),
        })
    }

    /// Whether the images of some row cannot be listed.
    pub(crate) fn is_open(&self) -> bool {
        self.rows.iter().any(|(_, images)| images.is_none())
    }
}

impl Interpreter<'_> {
    pub(crate) fn for_each(&self, env: &mut Env, v: &Value, visit: Visit) -> Res<Flow> {
        let s = match v {
            Value::Set(elems) => {
                for x in elems.iter() {
                    self.tick()?;
                    if visit(env, x.clone())? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
                return Ok(Flow::Go);
            }
            Value::Symbolic(s) => s,
            other => return Err(self.ill_typed("a set", other, Span::default())),
        };
        match &**s {
            Symbolic::Base(b) => self.each_base(env, b, visit),
            Symbolic::Interval(a, b) => {
                let mut n = a.clone();
                while n <= *b {
                    self.tick()?;
                    if visit(env, Value::Int(n.clone()))? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                    n = n.add(&Int::ONE);
                }
                Ok(Flow::Go)
            }
            Symbolic::Struct(sets) => self.each_record(env, sets, &mut Vec::new(), visit),
            Symbolic::Unary(op, a) => self.each_unary(env, *op, a, v, visit),
            Symbolic::Binary(op, a, b) => self.each_binary(env, *op, a, b, visit),
            Symbolic::Closure(c) => {
                let set = self.elements_of(env, c, crate::COMPREHENSION)?;
                self.for_each(env, &set, visit)
            }
        }
    }

    fn each_base(&self, env: &mut Env, b: &Base, visit: Visit) -> Res<Flow> {
        let unbounded = |what: &str| {
            Err(Error::unbounded(Span::default(), format!("the elements of {what} cannot be listed")))
        };
        match b {
            Base::Integer => unbounded("INTEGER"),
            Base::Natural => unbounded("NATURAL"),
            Base::Natural1 => unbounded("NATURAL1"),
            Base::String => unbounded("STRING"),
            Base::Real => unbounded("REAL"),
            Base::Free(id) => {
                let freetype = &self.machine.freetypes[id.0 as usize];
                let set = Value::symbolic(Symbolic::Base(b.clone()));
                if self.card(env, &set)? == crate::size::Card::Infinite {
                    return unbounded(&freetype.name);
                }
                for (c, (_, arg)) in freetype.constructors.iter().enumerate() {
                    let flow = match arg {
                        None => visit(env, Value::Free(*id, c as u32, None))?,
                        Some(_) => {
                            let domain = self.constructor_domain(env, *id, c as u32)?;
                            self.for_each(env, &domain, &mut |env, x| {
                                visit(env, Value::Free(*id, c as u32, Some(Arc::new(x))))
                            })?
                        }
                    };
                    if flow == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
                Ok(Flow::Go)
            }
            Base::Function(_, t) => {
                let points = self.type_set(t);
                let f = Value::symbolic(Symbolic::Base(b.clone()));
                self.for_each(env, &points, &mut |env, x| {
                    let y = self.apply(env, &f, &x, Span::default())?;
                    visit(env, Value::pair(x, y))
                })
            }
            Base::Constructor(id, c) | Base::Destructor(id, c) => {
                let domain = self.constructor_domain(env, *id, *c)?;
                let forward = matches!(b, Base::Constructor(..));
                self.for_each(env, &domain, &mut |env, x| {
                    let made = Value::Free(*id, *c, Some(Arc::new(x.clone())));
                    visit(env, if forward { Value::pair(x, made) } else { Value::pair(made, x) })
                })
            }
        }
    }

    fn each_record(&self, env: &mut Env, sets: &[Value], prefix: &mut Vec<Value>, visit: Visit) -> Res<Flow> {
        if prefix.len() == sets.len() {
            return visit(env, Value::Rec(prefix.clone().into()));
        }
        let set = sets[prefix.len()].clone();
        self.for_each(env, &set, &mut |env, x| {
            prefix.push(x);
            let flow = self.each_record(env, sets, prefix, visit);
            prefix.pop();
            flow
        })
    }

    fn each_unary(&self, env: &mut Env, op: UnOp, a: &Value, whole: &Value, visit: Visit) -> Res<Flow> {
        match op {
            UnOp::Pow | UnOp::Fin | UnOp::Pow1 | UnOp::Fin1 => {
                let elems = self.need_list(env, a, Span::default())?;
                let skip_empty = matches!(op, UnOp::Pow1 | UnOp::Fin1);
                self.each_subset(env, &elems, &mut Vec::new(), 0, &mut |env, s| {
                    if skip_empty && s.as_set().is_some_and(<[Value]>::is_empty) {
                        return Ok(Flow::Go);
                    }
                    visit(env, s)
                })
            }
            UnOp::Iseq | UnOp::Iseq1 | UnOp::Perm => {
                let elems = self.need_list(env, a, Span::default())?;
                let least = match op {
                    UnOp::Iseq => 0,
                    UnOp::Iseq1 => 1,
                    _ => elems.len(),
                };
                self.each_arrangement(env, &elems, &mut Vec::new(), least, visit)
            }
            UnOp::Seq | UnOp::Seq1 => {
                if self.is_empty(env, a)? {
                    if op == UnOp::Seq {
                        return visit(env, Value::empty());
                    }
                    return Ok(Flow::Go);
                }
                Err(Error::unbounded(Span::default(), "the sequences over a set cannot be listed"))
            }
            UnOp::Inverse => self.for_each(env, a, &mut |env, p| match p.as_pair() {
                Some((x, y)) => visit(env, Value::pair(y.clone(), x.clone())),
                None => Ok(Flow::Go),
            }),
            UnOp::Id => self.for_each(env, a, &mut |env, x| visit(env, Value::pair(x.clone(), x))),
            UnOp::Dom | UnOp::Ran => {
                let pairs = self.need_list(env, a, Span::default())?;
                let listed = Value::Set(pairs);
                let set =
                    if op == UnOp::Dom { self.domain(env, &listed)? } else { self.range(env, &listed)? };
                self.for_each(env, &set, visit)
            }
            _ => {
                let _ = whole;
                Err(Error::unbounded(Span::default(), "the elements of a symbolic set cannot be listed"))
            }
        }
    }

    /// Subsets in the order of a binary counter whose lowest digit is the last element.
    fn each_subset(
        &self,
        env: &mut Env,
        elems: &[Value],
        chosen: &mut Vec<Value>,
        from: usize,
        visit: Visit,
    ) -> Res<Flow> {
        self.tick()?;
        if visit(env, Value::sorted_set(chosen.clone()))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        for i in from..elems.len() {
            chosen.push(elems[i].clone());
            let flow = self.each_subset(env, elems, chosen, i + 1, visit);
            chosen.pop();
            if flow? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }

    fn each_arrangement(
        &self,
        env: &mut Env,
        elems: &[Value],
        chosen: &mut Vec<Value>,
        least: usize,
        visit: Visit,
    ) -> Res<Flow> {
        self.tick()?;
        if chosen.len() >= least && visit(env, Value::seq(chosen.iter().cloned()))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        for x in elems {
            if chosen.contains(x) {
                continue;
            }
            chosen.push(x.clone());
            let flow = self.each_arrangement(env, elems, chosen, least, visit);
            chosen.pop();
            if flow? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }

    fn each_binary(&self, env: &mut Env, op: BinOp, a: &Value, b: &Value, visit: Visit) -> Res<Flow> {
        match op {
            BinOp::Cartesian => self.for_each(env, a, &mut |env, x| {
                self.for_each(env, b, &mut |env, y| visit(env, Value::pair(x.clone(), y)))
            }),
            BinOp::Prj1 | BinOp::Prj2 => self.for_each(env, a, &mut |env, x| {
                self.for_each(env, b, &mut |env, y| {
                    let image = if op == BinOp::Prj1 { x.clone() } else { y.clone() };
                    visit(env, Value::pair(Value::pair(x.clone(), y), image))
                })
            }),
            BinOp::Union => {
                if self.for_each(env, a, visit)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                self.for_each(env, b, &mut |env, x| {
                    if self.member(env, &x, a)? { Ok(Flow::Go) } else { visit(env, x) }
                })
            }
            BinOp::Inter => {
                let (drive, test) =
                    if self.card(env, a)?.log2() <= self.card(env, b)?.log2() { (a, b) } else { (b, a) };
                self.for_each(env, drive, &mut |env, x| {
                    if self.member(env, &x, test)? { visit(env, x) } else { Ok(Flow::Go) }
                })
            }
            BinOp::SetMinus => self.for_each(env, a, &mut |env, x| {
                if self.member(env, &x, b)? { Ok(Flow::Go) } else { visit(env, x) }
            }),
            BinOp::RanRestrict | BinOp::RanSubtract => self.for_each(env, a, &mut |env, p| {
                let inside = match p.as_pair() {
                    Some((_, y)) => self.member(env, y, b)?,
                    None => false,
                };
                if inside == (op == BinOp::RanRestrict) { visit(env, p) } else { Ok(Flow::Go) }
            }),
            BinOp::DomSubtract => self.for_each(env, b, &mut |env, p| {
                let inside = match p.as_pair() {
                    Some((x, _)) => self.member(env, x, a)?,
                    None => false,
                };
                if inside { Ok(Flow::Go) } else { visit(env, p) }
            }),
            BinOp::DomRestrict => self.for_each(env, a, &mut |env, x| {
                let images = self.images(env, b, &x, Span::default())?;
                let images = self.set_of(env, images)?;
                self.for_each(env, &images, &mut |env, y| visit(env, Value::pair(x.clone(), y)))
            }),
            BinOp::Compose | BinOp::DirectProduct | BinOp::Override | BinOp::ParallelProduct => {
                let relation = Value::symbolic(Symbolic::Binary(op, a.clone(), b.clone()));
                let points = match op {
                    BinOp::Override => {
                        let (x, y) = (self.domain(env, a)?, self.domain(env, b)?);
                        self.set_union(env, x, y)?
                    }
                    BinOp::ParallelProduct => {
                        let (x, y) = (self.domain(env, a)?, self.domain(env, b)?);
                        Value::symbolic(Symbolic::Binary(BinOp::Cartesian, x, y))
                    }
                    _ => self.domain(env, a)?,
                };
                if matches!(&points, Value::Symbolic(s) if matches!(&**s, Symbolic::Unary(UnOp::Dom, _))) {
                    return Err(Error::unbounded(Span::default(), "a symbolic relation cannot be listed"));
                }
                self.for_each(env, &points, &mut |env, x| {
                    let images = self.images(env, &relation, &x, Span::default())?;
                    let images = self.set_of(env, images)?;
                    self.for_each(env, &images, &mut |env, y| visit(env, Value::pair(x.clone(), y)))
                })
            }
            BinOp::Relation
            | BinOp::TotalRelation
            | BinOp::SurjectiveRelation
            | BinOp::TotalSurjectiveRelation => {
                let (x, y) =
                    (self.need_list(env, a, Span::default())?, self.need_list(env, b, Span::default())?);
                if x.len().saturating_mul(y.len()) > crate::LIST {
                    return Err(Error::too_large("a set of relations is too large to be listed"));
                }
                let mut pairs = Vec::with_capacity(x.len() * y.len());
                for u in x.iter() {
                    pairs.extend(y.iter().map(|v| Value::pair(u.clone(), v.clone())));
                }
                let total = matches!(op, BinOp::TotalRelation | BinOp::TotalSurjectiveRelation);
                let onto = matches!(op, BinOp::SurjectiveRelation | BinOp::TotalSurjectiveRelation);
                self.each_subset(env, &pairs, &mut Vec::new(), 0, &mut |env, r| {
                    if total && self.domain(env, &r)?.as_set().map(<[Value]>::len) != Some(x.len()) {
                        return Ok(Flow::Go);
                    }
                    if onto && self.range(env, &r)?.as_set().map(<[Value]>::len) != Some(y.len()) {
                        return Ok(Flow::Go);
                    }
                    visit(env, r)
                })
            }
            _ => match (self.list(env, a)?, self.list(env, b)?) {
                (Some(x), Some(y)) => match FunctionSpace::of_arrow(op, &x, Some(&y)) {
                    Some(space) => self.each_function(env, &space, None, &mut NoHooks, visit),
                    None => Err(Error::unbounded(Span::default(), "a symbolic set cannot be listed")),
                },
                _ => {
                    Err(Error::unbounded(Span::default(), "the functions between sets that cannot be listed"))
                }
            },
        }
    }

    /// Functions of a space, row by row. With `var`, the rows built so far are known as that
    /// variable's while the hooks run, and a false `check` cuts all functions with these rows.
    pub(crate) fn each_function(
        &self,
        env: &mut Env,
        space: &FunctionSpace,
        var: Option<VarId>,
        hooks: &mut dyn Hooks,
        visit: Visit,
    ) -> Res<Flow> {
        if let Some(v) = var {
            env.begin_partial(v, BTreeMap::new());
        }
        let mut rows = Vec::with_capacity(space.rows.len());
        let mut order: Vec<usize> = (0..space.rows.len()).collect();
        let result = self.each_row(env, space, var, (&mut rows, &mut order), 0, hooks, visit);
        if var.is_some() {
            env.end_partial();
        }
        result
    }

    #[allow(clippy::too_many_arguments)]
    fn each_row(
        &self,
        env: &mut Env,
        space: &FunctionSpace,
        var: Option<VarId>,
        (rows, order): (&mut Vec<(Value, Value)>, &mut Vec<usize>),
        at: usize,
        hooks: &mut dyn Hooks,
        visit: Visit,
    ) -> Res<Flow> {
        self.tick()?;
        if let Some(onto) = &space.onto {
            // As many points as images not yet hit must be left.
            let mut missing = 0;
            for y in onto.iter() {
                missing += usize::from(!rows.iter().any(|(_, image)| image == y));
            }
            if missing > space.rows.len() - at {
                return Ok(Flow::Go);
            }
        }
        if at == space.rows.len() {
            let f = Value::set(rows.iter().map(|(x, y)| Value::pair(x.clone(), y.clone())).collect());
            return visit(env, f);
        }
        let (x, images) = &space.rows[order[at]];
        let mut candidates = None;
        let mut unbounded = None;
        if images.is_none() {
            match hooks.open_row(env, x) {
                Ok(found) => candidates = Some(found),
                Err(e) if e.is_stop() => return Err(e),
                Err(e) => {
                    // Another row may be known first, and tell about this one.
                    for k in (at + 1..order.len()).rev() {
                        let (x, images) = &space.rows[order[k]];
                        let known = match images {
                            Some(_) => true,
                            None => match hooks.open_row(env, x) {
                                Err(e) if e.is_stop() => return Err(e),
                                found => found.is_ok(),
                            },
                        };
                        if known {
                            order.swap(at, k);
                            let flow =
                                self.each_row(env, space, var, (&mut *rows, &mut *order), at, hooks, visit);
                            order.swap(at, k);
                            return flow;
                        }
                    }
                    unbounded = Some(e);
                }
            }
        }
        if !space.total {
            let decide = |env: &mut Env, row: Option<()>| {
                if var.is_some()
                    && let Some(partial) = env.partial_rows()
                {
                    match row {
                        Some(()) => partial.insert(x.clone(), None),
                        None => partial.remove(x),
                    };
                }
            };
            decide(env, Some(()));
            let flow = match hooks.check(env) {
                Ok(true) => self.each_row(env, space, var, (&mut *rows, &mut *order), at + 1, hooks, visit),
                Ok(false) => Ok(Flow::Go),
                Err(e) => Err(e),
            };
            decide(env, None);
            if flow? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        if let Some(e) = unbounded {
            return Err(e);
        }
        let Some(images) = images.as_ref().or(candidates.as_ref()) else { return Ok(Flow::Go) };
        let (from, to) = hooks.ends_of_row(env, x, images);
        let images = images.get(from..to).unwrap_or_default();
        for y in images.iter() {
            if space.injective && rows.iter().any(|(_, image)| image == y) {
                continue;
            }
            rows.push((x.clone(), y.clone()));
            if var.is_some()
                && let Some(partial) = env.partial_rows()
            {
                partial.insert(x.clone(), Some(y.clone()));
            }
            let flow = match hooks.check(env) {
                Ok(true) => self.each_row(env, space, var, (&mut *rows, &mut *order), at + 1, hooks, visit),
                Ok(false) => Ok(Flow::Go),
                Err(e) => Err(e),
            };
            rows.pop();
            if var.is_some()
                && let Some(partial) = env.partial_rows()
            {
                partial.remove(x);
            }
            if flow? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Go)
    }
}
