//! Application of functions and images of single points, also of symbolic relations.
//!
//! In: a relation and a point. Out: the image, or the error that the function is not defined there.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::operators::row;
use bombus_base::{Int, Span};
use bombus_lang::typed::{BinOp, Expr, ExprKind, FreeId, Pred, PredKind, RelOp, UnOp, VarId};
use bombus_lang::value::symbolic::FunctionKind;
use bombus_lang::value::{Base, Closure, ClosureCode, ClosureKind, Symbolic, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Deeper recursion of functions of the model is given up as not computed.
const RECURSION: u32 = 3000;

impl Interpreter<'_> {
    pub(crate) fn apply(&self, env: &mut Env, f: &Value, x: &Value, span: Span) -> Res<Value> {
        match f {
            Value::Set(pairs) => {
                let mut images = row(pairs, x);
                match (images.next(), images.next()) {
                    (Some(y), None) => Ok(y.clone()),
                    (Some(_), Some(_)) => {
                        Err(Error::undefined(span, "the relation has several images at this point"))
                    }
                    (None, _) => Err(self.outside(x, span)),
                }
            }
            Value::Symbolic(s) => {
                let at = Arc::as_ptr(s) as usize;
                self.recalled((at, f), x, &mut || self.apply_symbolic(env, f, s, x, span))
            }
            other => Err(self.ill_typed("a function", other, span)),
        }
    }

    fn apply_symbolic(&self, env: &mut Env, f: &Value, s: &Symbolic, x: &Value, span: Span) -> Res<Value> {
        match s {
            Symbolic::Closure(c) if c.code.kind == ClosureKind::Lambda => {
                self.with_closure(env, c, x, &mut |this, env| {
                    if !this.holds(env, &c.code.pred)? {
                        return Err(this.outside(x, span));
                    }
                    match &c.code.body {
                        Some(body) => this.eval(env, body),
                        None => Err(this.outside(x, span)),
                    }
                })
            }
            Symbolic::Binary(BinOp::Override, g, h) => {
                let f = if self.in_domain(env, h, x)? { h } else { g };
                self.apply(env, f, x, span)
            }
            Symbolic::Binary(BinOp::Compose, g, h) if !g.is_symbolic() => {
                let y = self.apply(env, g, x, span)?;
                self.apply(env, h, &y, span)
            }
            _ => {
                let images = self.images(env, f, x, span)?;
                let mut images = images.into_iter();
                let Some(first) = images.next() else { return Err(self.outside(x, span)) };
                for other in images {
                    if !self.equal(env, &first, &other)? {
                        return Err(Error::undefined(span, "the relation has several images at this point"));
                    }
                }
                Ok(first)
            }
        }
    }

    fn outside(&self, x: &Value, span: Span) -> Error {
        // The type of the argument only serves to name the fields of records.
        let shown = x.show(self.machine, &bombus_lang::typed::Type::Any);
        Error::outside(span, "function applied outside its domain").with_values(format!(", to {shown}"))
    }

    /// Runs `f` where the captured variables of a closure have their values.
    pub(crate) fn with_captured<T>(
        &self,
        env: &mut Env,
        c: &Closure,
        f: &mut dyn FnMut(&Self, &mut Env) -> Res<T>,
    ) -> Res<T> {
        if env.depth >= RECURSION {
            return Err(Error::unsupported(Span::default(), "recursion of functions is too deep"));
        }
        self.tick()?;
        env.depth += 1;
        let valuation = env.valuation.take();
        let saved: Vec<_> = c.captured.iter().map(|(v, x)| (*v, env.replace(*v, Some(x.clone())))).collect();
        let result = f(self, env);
        env.restore(saved);
        env.valuation = valuation;
        env.depth -= 1;
        result
    }

    /// Runs `f` where the bound variables of a closure are the components of `x`.
    pub(crate) fn with_closure<T>(
        &self,
        env: &mut Env,
        c: &Closure,
        x: &Value,
        f: &mut dyn FnMut(&Self, &mut Env) -> Res<T>,
    ) -> Res<T> {
        let Some(parts) = components(x, c.code.vars.len()) else {
            return Err(self.ill_typed("a tuple", x, Span::default()));
        };
        self.with_captured(env, c, &mut |this, env| {
            let saved: Vec<_> = c
                .code
                .vars
                .iter()
                .zip(&parts)
                .map(|(v, x)| (*v, env.replace(*v, Some((*x).clone()))))
                .collect();
            let result = f(this, env);
            env.restore(saved);
            result
        })
    }

    /// All images of a point, in no particular order.
    pub(crate) fn images(&self, env: &mut Env, r: &Value, x: &Value, span: Span) -> Res<Vec<Value>> {
        let s = match r {
            Value::Set(pairs) => return Ok(row(pairs, x).cloned().collect()),
            Value::Symbolic(s) => s,
            other => return Err(self.ill_typed("a relation", other, span)),
        };
        match &**s {
            Symbolic::Base(b) => Ok(self.base_image(env, b, x, span)?.into_iter().collect()),
            Symbolic::Closure(c) => match c.code.kind {
                ClosureKind::Lambda => self.with_closure(env, c, x, &mut |this, env| {
                    if !this.holds(env, &c.code.pred)? {
                        return Ok(Vec::new());
                    }
                    match &c.code.body {
                        Some(body) => Ok(vec![this.eval_canon(env, body)?]),
                        None => Ok(Vec::new()),
                    }
                }),
                ClosureKind::Set if c.code.vars.len() > 1 => self.images_of_set(env, c, x, false),
                _ => self.images_by_list(env, r, x, span),
            },
            Symbolic::Unary(UnOp::Dom, inner) => match beneath_domains(inner, 1) {
                Some((c, dropped)) => {
                    let (known, wanted) = c.code.vars.split_at(c.code.vars.len() - dropped - 1);
                    let first = &wanted[..1];
                    self.solutions_of_set(env, c, x, known, wanted, first)
                }
                None => self.images_by_list(env, r, x, span),
            },
            Symbolic::Unary(UnOp::Inverse, f) => self.inverse_images(env, f, x, span),
            Symbolic::Unary(UnOp::Id, set) => {
                Ok(if self.member(env, x, set)? { vec![x.clone()] } else { Vec::new() })
            }
            Symbolic::Unary(UnOp::Closure1, step) => {
                // What is reached step by step; without end if that is infinite.
                let mut reached = BTreeSet::new();
                let mut open = self.images(env, step, x, span)?;
                while let Some(y) = open.pop() {
                    self.tick()?;
                    if reached.insert(y.clone()) {
                        open.extend(self.images(env, step, &y, span)?);
                    }
                    if reached.len() > crate::LIST {
                        return Err(Error::too_large("what a closure reaches is too large to be listed"));
                    }
                }
                Ok(reached.into_iter().collect())
            }
            Symbolic::Binary(op, a, b) => match op {
                BinOp::Cartesian => {
                    if !self.member(env, x, a)? {
                        return Ok(Vec::new());
                    }
                    Ok(self.need_list(env, b, span)?.to_vec())
                }
                BinOp::Union => {
                    let mut out = self.images(env, a, x, span)?;
                    out.extend(self.images(env, b, x, span)?);
                    Ok(out)
                }
                BinOp::Inter | BinOp::SetMinus => {
                    let mut out = Vec::new();
                    for y in self.images(env, a, x, span)? {
                        let other = self.member(env, &Value::pair(x.clone(), y.clone()), b)?;
                        if other == (*op == BinOp::Inter) {
                            out.push(y);
                        }
                    }
                    Ok(out)
                }
                BinOp::Override => {
                    let new = self.images(env, b, x, span)?;
                    if new.is_empty() { self.images(env, a, x, span) } else { Ok(new) }
                }
                BinOp::Compose => {
                    let mut out = Vec::new();
                    for y in self.images(env, a, x, span)? {
                        out.extend(self.images(env, b, &y, span)?);
                    }
                    Ok(out)
                }
                BinOp::DomRestrict | BinOp::DomSubtract => {
                    if self.member(env, x, a)? == (*op == BinOp::DomRestrict) {
                        self.images(env, b, x, span)
                    } else {
                        Ok(Vec::new())
                    }
                }
                BinOp::RanRestrict | BinOp::RanSubtract => {
                    let mut out = Vec::new();
                    for y in self.images(env, a, x, span)? {
                        if self.member(env, &y, b)? == (*op == BinOp::RanRestrict) {
                            out.push(y);
                        }
                    }
                    Ok(out)
                }
                BinOp::DirectProduct => {
                    let left = self.images(env, a, x, span)?;
                    let right = self.images(env, b, x, span)?;
                    Ok(products(&left, &right))
                }
                BinOp::ParallelProduct => {
                    let Some((p, q)) = x.as_pair() else { return Ok(Vec::new()) };
                    let left = self.images(env, a, p, span)?;
                    let right = self.images(env, b, q, span)?;
                    Ok(products(&left, &right))
                }
                BinOp::Prj1 | BinOp::Prj2 => match x.as_pair() {
                    Some((p, q)) if self.member(env, p, a)? && self.member(env, q, b)? => {
                        Ok(vec![if *op == BinOp::Prj1 { p } else { q }.clone()])
                    }
                    _ => Ok(Vec::new()),
                },
                _ => self.images_by_list(env, r, x, span),
            },
            _ => self.images_by_list(env, r, x, span),
        }
    }

    fn images_by_list(&self, env: &mut Env, r: &Value, x: &Value, span: Span) -> Res<Vec<Value>> {
        let list = self.need_list(env, r, span)?;
        Ok(row(&list, x).cloned().collect())
    }

    /// Images under `{x,y|P}`, or points with a given image when `backwards`.
    fn images_of_set(&self, env: &mut Env, c: &Closure, x: &Value, backwards: bool) -> Res<Vec<Value>> {
        let (first, last) = c.code.vars.split_at(c.code.vars.len() - 1);
        let (known, wanted) = if backwards { (last, first) } else { (first, last) };
        self.solutions_of_set(env, c, x, known, wanted, wanted)
    }

    /// The values of `shown`, where the variables `known` of `{…|P}` are the components of `x` and those of `wanted` are
    /// whatever makes P true.
    fn solutions_of_set(
        &self,
        env: &mut Env,
        c: &Closure,
        x: &Value,
        known: &[VarId],
        wanted: &[VarId],
        shown: &[VarId],
    ) -> Res<Vec<Value>> {
        let Some(parts) = components(x, known.len()) else { return Ok(Vec::new()) };
        self.with_captured(env, c, &mut |this, env| {
            let mut out = Vec::new();
            let saved = env.take(&c.code.vars);
            for (v, part) in known.iter().zip(&parts) {
                env.bind(*v, (*part).clone());
            }
            let plan = this.plan_of(wanted, &[&c.code.pred]);
            let result = this.run_plan(env, &plan, &mut |env, error| {
                if let Some(e) = error {
                    return Err(e.clone());
                }
                out.push(this.tuple(env, shown)?);
                Ok(Flow::Go)
            });
            env.restore(saved);
            result.map(|_| std::mem::take(&mut out))
        })
    }

    /// The points that a relation maps to `y`.
    pub(crate) fn inverse_images(&self, env: &mut Env, f: &Value, y: &Value, span: Span) -> Res<Vec<Value>> {
        match f {
            Value::Set(pairs) => Ok(pairs
                .iter()
                .filter_map(Value::as_pair)
                .filter(|(_, b)| *b == y)
                .map(|(a, _)| a.clone())
                .collect()),
            Value::Symbolic(s) => match &**s {
                Symbolic::Closure(c) => match (c.code.kind, &c.code.body) {
                    (ClosureKind::Lambda, Some(body)) => {
                        // Solve `P & E = y` for the bound variables; `y` stands in a fresh variable.
                        let fresh = self.fresh();
                        let target =
                            Expr { kind: ExprKind::Var(fresh), ty: body.ty.clone(), span: body.span };
                        let equation =
                            Pred { kind: PredKind::Rel(RelOp::Equal, body.clone(), target), span: body.span };
                        let plan = self.plan_of(&c.code.vars, &[&c.code.pred, &equation]);
                        self.with_captured(env, c, &mut |this, env| {
                            let mut out = Vec::new();
                            let saved = env.take(&c.code.vars);
                            let before = env.replace(fresh, Some(y.clone()));
                            let result = this.run_plan(env, &plan, &mut |env, error| {
                                if let Some(e) = error {
                                    return Err(e.clone());
                                }
                                out.push(this.tuple(env, &c.code.vars)?);
                                Ok(Flow::Go)
                            });
                            env.replace(fresh, before);
                            env.restore(saved);
                            result.map(|_| std::mem::take(&mut out))
                        })
                    }
                    (ClosureKind::Set, _) if c.code.vars.len() > 1 => self.images_of_set(env, c, y, true),
                    _ => self.inverse_by_list(env, f, y, span),
                },
                Symbolic::Base(Base::Function(FunctionKind::Succ, _)) => {
                    Ok(y.as_int().map(|n| Value::Int(n.sub(&Int::ONE))).into_iter().collect())
                }
                Symbolic::Base(Base::Function(FunctionKind::Pred, _)) => {
                    Ok(y.as_int().map(|n| Value::Int(n.add(&Int::ONE))).into_iter().collect())
                }
                Symbolic::Base(Base::Function(FunctionKind::Id, _)) => Ok(vec![y.clone()]),
                Symbolic::Base(Base::Constructor(id, k)) => {
                    self.images(env, &Value::symbolic(Symbolic::Base(Base::Destructor(*id, *k))), y, span)
                }
                Symbolic::Unary(UnOp::Id, set) => {
                    Ok(if self.member(env, y, set)? { vec![y.clone()] } else { Vec::new() })
                }
                Symbolic::Unary(UnOp::Inverse, g) => self.images(env, g, y, span),
                Symbolic::Binary(BinOp::Union, a, b) => {
                    let mut out = self.inverse_images(env, a, y, span)?;
                    out.extend(self.inverse_images(env, b, y, span)?);
                    Ok(out)
                }
                _ => self.inverse_by_list(env, f, y, span),
            },
            other => Err(self.ill_typed("a relation", other, span)),
        }
    }

    fn inverse_by_list(&self, env: &mut Env, f: &Value, y: &Value, span: Span) -> Res<Vec<Value>> {
        let listed = Value::Set(self.need_list(env, f, span)?);
        self.inverse_images(env, &listed, y, span)
    }

    fn base_image(&self, env: &mut Env, b: &Base, x: &Value, span: Span) -> Res<Option<Value>> {
        Ok(match (b, x) {
            (Base::Function(FunctionKind::Succ, _), Value::Int(n)) => Some(Value::Int(n.add(&Int::ONE))),
            (Base::Function(FunctionKind::Pred, _), Value::Int(n)) => Some(Value::Int(n.sub(&Int::ONE))),
            (Base::Function(FunctionKind::Id, _), x) => Some(x.clone()),
            (Base::Function(FunctionKind::Prj1, _), Value::Pair(p)) => Some(p.0.clone()),
            (Base::Function(FunctionKind::Prj2, _), Value::Pair(p)) => Some(p.1.clone()),
            (Base::Constructor(id, c), x) => {
                if self.in_constructor_domain(env, *id, *c, x)? {
                    Some(self.construct(env, *id, *c, Some(x.clone()), span)?)
                } else {
                    None
                }
            }
            (Base::Destructor(id, c), Value::Free(i, k, Some(arg))) if i == id && k == c => {
                Some((**arg).clone())
            }
            _ => None,
        })
    }

    pub(crate) fn construct(
        &self,
        env: &mut Env,
        id: FreeId,
        c: u32,
        arg: Option<Value>,
        span: Span,
    ) -> Res<Value> {
        if let Some(x) = &arg
            && !self.in_constructor_domain(env, id, c, x)?
        {
            return Err(Error::undefined(span, "argument outside the domain of the constructor"));
        }
        Ok(Value::Free(id, c, arg.map(Arc::new)))
    }

    /// The set a constructor takes its argument from.
    pub(crate) fn constructor_domain(&self, env: &mut Env, id: FreeId, c: u32) -> Res<Value> {
        let freetype = &self.machine.freetypes[id.0 as usize];
        match (freetype.domains.get(c as usize), freetype.constructors.get(c as usize)) {
            (Some(Some(e)), _) => self.eval_lazy(env, e),
            (_, Some((_, Some(_)))) => {
                let words = "a datatype that is used over several types has no list of its members";
                Err(Error::unsupported(Span::default(), words))
            }
            _ => Ok(Value::empty()),
        }
    }

    /// Whether a constructor has no set to take its argument from: its datatype is used over several types.
    pub(crate) fn is_generic(&self, id: FreeId, c: u32) -> bool {
        let freetype = &self.machine.freetypes[id.0 as usize];
        matches!(freetype.domains.get(c as usize), Some(None))
            && freetype.constructors.get(c as usize).is_some_and(|(_, arg)| arg.is_some())
    }

    /// Whether a constructor takes the argument; a generic one takes whatever types agree with.
    pub(crate) fn in_constructor_domain(&self, env: &mut Env, id: FreeId, c: u32, x: &Value) -> Res<bool> {
        if self.is_generic(id, c) {
            return Ok(true);
        }
        let domain = self.constructor_domain(env, id, c)?;
        self.member(env, x, &domain)
    }

    /// `{x|P}` for `%x.(P|E)`.
    pub(crate) fn domain_code(&self, code: &ClosureCode) -> Arc<ClosureCode> {
        Arc::new(ClosureCode {
            vars: code.vars.clone(),
            types: code.types.clone(),
            pred: code.pred.clone(),
            body: None,
            kind: ClosureKind::Set,
            free: code.free.clone(),
        })
    }

    /// Membership in `{x·P|E}` and `UNION(x).(P|E)`: is there an x?
    pub(crate) fn member_of_family(&self, env: &mut Env, c: &Closure, y: &Value) -> Res<bool> {
        let Some(body) = &c.code.body else { return Ok(false) };
        let fresh = self.fresh();
        let target = Expr { kind: ExprKind::Var(fresh), ty: body.ty.clone(), span: body.span };
        let kind = match c.code.kind {
            ClosureKind::SetOf => PredKind::Rel(RelOp::Equal, target, body.clone()),
            _ => PredKind::Rel(RelOp::In, target, body.clone()),
        };
        let condition = Pred { kind, span: body.span };
        let plan = self.plan_of(&c.code.vars, &[&c.code.pred, &condition]);
        let mut found = false;
        let mut pending = None;
        self.with_captured(env, c, &mut |this, env| {
            let saved = env.take(&c.code.vars);
            let before = env.replace(fresh, Some(y.clone()));
            let result = this.run_plan(env, &plan, &mut |_, error| match error {
                None => {
                    found = true;
                    Ok(Flow::Stop)
                }
                Some(e) => {
                    pending = Some(e.clone());
                    Ok(Flow::Go)
                }
            });
            env.replace(fresh, before);
            env.restore(saved);
            result.map(|_| ())
        })?;
        match pending {
            Some(e) if !found => Err(e),
            _ => Ok(found),
        }
    }

    /// A variable that no formula of the machine uses.
    fn fresh(&self) -> VarId {
        let n = self.fresh.get();
        self.fresh.set(n + 1);
        VarId((self.machine.vars.len() + crate::FORMULA_VARS + n % 64) as u32)
    }
}

/// The comprehension of which `dom(dom(…))` takes the first components, and how many components are left out; none if what
/// is left is no relation.
fn beneath_domains(inner: &Value, dropped: usize) -> Option<(&Closure, usize)> {
    let Value::Symbolic(s) = inner else { return None };
    match &**s {
        Symbolic::Unary(UnOp::Dom, deeper) => beneath_domains(deeper, dropped + 1),
        Symbolic::Closure(c) if c.code.kind == ClosureKind::Set && c.code.vars.len() > dropped + 1 => {
            Some((c, dropped))
        }
        _ => None,
    }
}

/// The components of a tuple nested to the left.
pub fn components(x: &Value, n: usize) -> Option<Vec<&Value>> {
    let mut parts = Vec::with_capacity(n);
    let mut rest = x;
    for _ in 1..n {
        let (a, b) = rest.as_pair()?;
        parts.push(b);
        rest = a;
    }
    parts.push(rest);
    parts.reverse();
    Some(parts)
}

fn products(left: &[Value], right: &[Value]) -> Vec<Value> {
    left.iter().flat_map(|a| right.iter().map(move |b| Value::pair(a.clone(), b.clone()))).collect()
}
