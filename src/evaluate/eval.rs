//! Expressions: the value of every operator of B.
//!
//! In: a typed expression and an environment. Out: a value, or an error with its place.
//! Sets that are infinite or better not listed come out in symbolic form; `canon` turns a finite
//! symbolic set into the explicit form wherever a value is stored inside another.

use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::memo::is_costly;
use crate::size::Card;
use crate::{Interpreter, LIST};
use bombus_base::{Int, Span};
use bombus_lang::free;
use bombus_lang::partiality::{may_be_undefined, pred_may_be_undefined};
use bombus_lang::typed::{BigOp, BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::symbolic::FunctionKind;
use bombus_lang::value::{Base, Closure, ClosureCode, ClosureKind, Symbolic, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Powers with more binary digits are not computed.
const DIGITS: u128 = 1 << 24;

impl Interpreter<'_> {
    pub fn eval(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        let value = match env.valuation {
            Some(valuation) if is_costly(e) => self.remembered(env, e, valuation),
            _ => self.eval_kind(env, e),
        };
        value.map_err(|err| err.at(e.span))
    }

    pub(crate) fn eval_kind(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        Ok(match &e.kind {
            ExprKind::Int(n) => Value::Int(n.clone()),
            ExprKind::Real(text) => Value::real(parse_real(text).ok_or_else(|| {
                Error::unsupported(e.span, format!("the literal {text} is not a decimal number"))
            })?),
            ExprKind::Str(s) => Value::Str(s.clone()),
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Elem(set, n) => Value::Elem(*set, *n),
            ExprKind::Var(v) => self.variable(env, *v, e.span)?,
            ExprKind::Old(v) => match env.old(*v) {
                Some(value) => value.clone(),
                None => return Err(self.uninitialised(*v, e.span)),
            },
            ExprKind::TypeSet(t) => self.type_set(t),
            ExprKind::Natural => Value::symbolic(Symbolic::Base(Base::Natural)),
            ExprKind::Natural1 => Value::symbolic(Symbolic::Base(Base::Natural1)),
            ExprKind::Function(f) => {
                let arg = match &e.ty {
                    Type::Pow(t) => match &**t {
                        Type::Prod(a, _) => (**a).clone(),
                        _ => Type::Any,
                    },
                    _ => Type::Any,
                };
                Value::symbolic(Symbolic::Base(Base::Function(FunctionKind::from(*f), arg)))
            }
            ExprKind::SetExt(es) => {
                let elems = self.eval_all(env, es)?;
                self.set_of(env, elems)?
            }
            ExprKind::SeqExt(es) => Value::seq(self.eval_all(env, es)?),
            ExprKind::Pair(a, b) => {
                let a = self.eval_canon(env, a)?;
                Value::pair(a, self.eval_canon(env, b)?)
            }
            ExprKind::Rec(es) => Value::Rec(self.eval_all(env, es)?.into()),
            ExprKind::StructSet(es) => {
                let mut sets = Vec::with_capacity(es.len());
                for set in es {
                    sets.push(self.eval(env, set)?);
                }
                Value::symbolic(Symbolic::Struct(sets.into()))
            }
            ExprKind::Field(r, i) => match self.eval(env, r)? {
                Value::Rec(fields) => fields[*i].clone(),
                other => return Err(self.ill_typed("a record", &other, e.span)),
            },
            ExprKind::Unary(op, a) => {
                if let UnOp::Dom | UnOp::Card = op
                    && let Some(domain) = plain_domain(a)
                {
                    let domain = self.eval(env, domain)?;
                    return if *op == UnOp::Dom { Ok(domain) } else { self.unary(env, *op, domain, e) };
                }
                let a = self.eval(env, a)?;
                let value = self.unary(env, *op, a, e)?;
                self.charge_for(&value)?;
                value
            }
            ExprKind::Binary(op, a, b) => {
                let value = self.eval_binary(env, *op, a, b, e)?;
                self.charge_for(&value)?;
                value
            }
            ExprKind::Apply(f, x) => {
                if let ExprKind::Var(v) = &f.kind
                    && !env.is_bound(*v)
                    && env.partial(*v).is_some()
                {
                    let x = self.eval_canon(env, x)?;
                    return match env.partial(*v).and_then(|rows| rows.get(&x)) {
                        Some(Some(y)) => Ok(y.clone()),
                        Some(None) => {
                            let outside = Error::outside(e.span, "function applied outside its domain");
                            Err(if self.is_chosen(*v) { outside.of_chosen(e.span) } else { outside })
                        }
                        None => Err(Error::unknown()),
                    };
                }
                // A lambda that is applied where it stands is asked for one point only.
                let function = match &f.kind {
                    ExprKind::Big(BigOp::Lambda, ..) => self.eval_symbolic(env, f)?,
                    _ => self.eval_lazy(env, f)?,
                };
                let x = self.eval_canon(env, x)?;
                match (self.apply(env, &function, &x, e.span), &f.kind) {
                    (Err(error), ExprKind::Var(v)) if self.is_chosen(*v) => {
                        return Err(error.of_chosen(e.span));
                    }
                    (value, _) => value?,
                }
            }
            ExprKind::BoolOf(p) => Value::Bool(self.holds(env, p)?),
            ExprKind::Compr(vars, p) => self.comprehension(env, vars, p, None, ClosureKind::Set)?,
            ExprKind::Big(op, vars, p, body) => self.big(env, *op, vars, p, body)?,
            ExprKind::If(c, a, b) => {
                let branch = if self.holds(env, c)? { a } else { b };
                self.eval(env, branch)?
            }
            ExprKind::Let(bindings, body) => {
                let mut saved = Vec::with_capacity(bindings.len());
                let result = (|| {
                    for (v, e) in bindings {
                        let value = self.eval(env, e)?;
                        saved.push((*v, env.replace(*v, Some(value))));
                    }
                    self.eval(env, body)
                })();
                env.restore(saved);
                result?
            }
            ExprKind::Construct(id, c, arg) => {
                let arg = match arg {
                    Some(a) => Some(self.eval_canon(env, a)?),
                    None => None,
                };
                self.construct(env, *id, *c, arg, e.span)?
            }
            ExprKind::Constructor(id, c) => Value::symbolic(Symbolic::Base(Base::Constructor(*id, *c))),
            ExprKind::Destructor(id, c) => Value::symbolic(Symbolic::Base(Base::Destructor(*id, *c))),
            ExprKind::External(f, args) => self.external(env, f, args, e)?,
            ExprKind::Symbolic(inner) => self.eval_symbolic(env, inner)?,
        })
    }

    /// Counts the work of building a value.
    pub(crate) fn charge_for(&self, value: &Value) -> Res<()> {
        match value {
            Value::Set(elems) => self.charge(elems.len()),
            _ => Ok(()),
        }
    }

    fn variable(&self, env: &Env, v: VarId, span: Span) -> Res<Value> {
        match env.get(v) {
            Some(value) => Ok(value.clone()),
            None if env.searching => Err(Error::unknown()),
            None => Err(self.uninitialised(v, span)),
        }
    }

    pub(crate) fn eval_all(&self, env: &mut Env, es: &[Expr]) -> Res<Vec<Value>> {
        es.iter().map(|e| self.eval_canon(env, e)).collect()
    }

    /// The value in the form in which it may be stored inside another value or in a state.
    pub fn eval_canon(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        let v = self.eval(env, e)?;
        self.canon(env, v)
    }

    /// The value for a use that asks only for membership or application: nothing is listed. Only a set written as
    /// `{x|P}` may be undefined at points nobody asks for.
    pub fn eval_lazy(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        match &e.kind {
            ExprKind::Big(_, vars, p, body) if self.is_partial(vars, p, Some(body)) => self.eval(env, e),
            ExprKind::Binary(
                op @ (BinOp::Union | BinOp::Inter | BinOp::SetMinus | BinOp::Cartesian),
                a,
                b,
            ) => {
                let a = self.eval_operand(env, a)?;
                let b = self.eval_operand(env, b)?;
                self.binary_lazy(env, *op, a, b, e)
            }
            _ => self.eval_symbolic(env, e),
        }
    }

    /// The value of an operand that is asked only for membership. It must be defined at all points, so that a
    /// comprehension that may be undefined is listed.
    pub fn eval_operand(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        match &e.kind {
            ExprKind::Compr(vars, p) if self.is_partial(vars, p, None) => self.eval(env, e),
            _ => self.eval_lazy(env, e),
        }
    }

    /// The same with everything left unlisted that can be, whether it is defined at all points or not.
    pub(crate) fn eval_symbolic(&self, env: &mut Env, e: &Expr) -> Res<Value> {
        match &e.kind {
            ExprKind::Compr(vars, p) => Ok(self.closure(env, vars, p, None, ClosureKind::Set)),
            ExprKind::Big(op, vars, p, body) => {
                let kind = match op {
                    BigOp::Lambda => ClosureKind::Lambda,
                    BigOp::SetOf => ClosureKind::SetOf,
                    BigOp::Union => ClosureKind::Union,
                    BigOp::Sigma | BigOp::Pi | BigOp::Inter => return self.eval(env, e),
                };
                Ok(self.closure(env, vars, p, Some(body), kind))
            }
            ExprKind::Binary(BinOp::Interval, a, b) => {
                let (a, b) = (self.integer(env, a)?, self.integer(env, b)?);
                Ok(if a > b { Value::empty() } else { Value::symbolic(Symbolic::Interval(a, b)) })
            }
            ExprKind::Binary(
                op @ (BinOp::Union | BinOp::Inter | BinOp::SetMinus | BinOp::Cartesian),
                a,
                b,
            ) => {
                let a = self.eval_symbolic(env, a)?;
                let b = self.eval_symbolic(env, b)?;
                self.binary_lazy(env, *op, a, b, e)
            }
            ExprKind::Symbolic(inner) => self.eval_symbolic(env, inner),
            _ => self.eval(env, e),
        }
    }

    fn binary_lazy(&self, env: &mut Env, op: BinOp, a: Value, b: Value, e: &Expr) -> Res<Value> {
        if a.is_symbolic() || b.is_symbolic() || op == BinOp::Cartesian {
            return Ok(Value::symbolic(Symbolic::Binary(op, a, b)));
        }
        self.binary(env, op, a, b, e)
    }

    /// Whether a comprehension or lambda may be undefined for some binding.
    fn is_partial(&self, vars: &[VarId], pred: &Pred, body: Option<&Expr>) -> bool {
        let key = vars.first().copied().filter(|v| self.is_declared(*v));
        if let Some(known) = key.and_then(|k| self.cache.partial.borrow().get(&k).copied()) {
            return known;
        }
        let partial = pred_may_be_undefined(pred) || body.is_some_and(may_be_undefined);
        if let Some(k) = key {
            self.cache.partial.borrow_mut().insert(k, partial);
        }
        partial
    }

    pub fn integer(&self, env: &mut Env, e: &Expr) -> Res<Int> {
        match self.eval(env, e)? {
            Value::Int(n) => Ok(n),
            other => Err(self.ill_typed("an integer", &other, e.span)),
        }
    }

    fn eval_binary(&self, env: &mut Env, op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Res<Value> {
        // Restrictions and images ask their set argument for membership only.
        let (a, b) = match op {
            BinOp::DomRestrict | BinOp::DomSubtract => (self.eval_operand(env, a)?, self.eval(env, b)?),
            BinOp::RanRestrict | BinOp::RanSubtract => (self.eval(env, a)?, self.eval_operand(env, b)?),
            BinOp::SetMinus => (self.eval(env, a)?, self.eval_operand(env, b)?),
            BinOp::Image => (self.eval_operand(env, a)?, self.eval(env, b)?),
            _ => (self.eval(env, a)?, self.eval(env, b)?),
        };
        self.binary(env, op, a, b, e)
    }

    /// The closure of a comprehension over the present environment.
    pub(crate) fn closure(
        &self,
        env: &Env,
        vars: &[VarId],
        pred: &Pred,
        body: Option<&Expr>,
        kind: ClosureKind,
    ) -> Value {
        let code = self.closure_code(vars, pred, body, kind);
        let captured: Vec<(VarId, Value)> =
            code.free.iter().filter_map(|v| Some((*v, env.get(*v)?.clone()))).collect();
        Value::symbolic(Symbolic::Closure(Closure { code, captured: captured.into() }))
    }

    fn closure_code(
        &self,
        vars: &[VarId],
        pred: &Pred,
        body: Option<&Expr>,
        kind: ClosureKind,
    ) -> Arc<ClosureCode> {
        let key = vars.first().copied().filter(|k| self.is_declared(*k));
        if let Some(code) = key.and_then(|k| self.cache.codes.borrow().get(&k).cloned())
            && code.kind == kind
        {
            return code;
        }
        let code = Arc::new(ClosureCode {
            vars: vars.to_vec(),
            types: vars.iter().map(|v| self.type_of(*v)).collect(),
            pred: pred.clone(),
            body: body.cloned(),
            kind,
            free: free::of_closure(vars, pred, body),
        });
        if let Some(k) = key {
            self.cache.codes.borrow_mut().insert(k, code.clone());
        }
        code
    }

    /// A comprehension, listed when it is finite and can be, else symbolic.
    fn comprehension(
        &self,
        env: &mut Env,
        vars: &[VarId],
        pred: &Pred,
        body: Option<&Expr>,
        kind: ClosureKind,
    ) -> Res<Value> {
        let wide = kind != ClosureKind::Union && self.width(env, vars, pred)? != Card::Unknown;
        if wide || self.is_large_product(env, vars, pred, kind)? {
            return Ok(self.closure(env, vars, pred, body, kind));
        }
        let mut elems = Vec::new();
        let mut outside = false;
        let listed = self.solutions(env, vars, pred, &mut |env, error| {
            if let Some(err) = error {
                return Err(err.clone());
            }
            let arg = self.tuple(env, vars)?;
            match (kind, body) {
                (ClosureKind::Lambda, Some(body)) => {
                    elems.push(Value::pair(arg, self.eval_canon(env, body)?));
                }
                (ClosureKind::Union, Some(body)) => {
                    let set = self.eval(env, body)?;
                    match self.list(env, &set)? {
                        Some(list) => elems.extend(list.iter().cloned()),
                        None => {
                            outside = true;
                            return Ok(Flow::Stop);
                        }
                    }
                }
                (_, Some(body)) => elems.push(self.eval_canon(env, body)?),
                (_, None) => elems.push(arg),
            }
            if elems.len() > crate::COMPREHENSION {
                outside = true;
                return Ok(Flow::Stop);
            }
            Ok(Flow::Go)
        });
        match listed {
            Ok(_) if !outside => self.set_of(env, elems),
            Ok(_) => Ok(self.closure(env, vars, pred, body, kind)),
            Err(err) if err.is_incomplete() => Ok(self.closure(env, vars, pred, body, kind)),
            Err(err) => Err(err),
        }
    }

    /// The bound variables as one value, pairs nested to the left.
    pub(crate) fn tuple(&self, env: &mut Env, vars: &[VarId]) -> Res<Value> {
        let mut tuple: Option<Value> = None;
        for v in vars {
            let value = self.variable(env, *v, Span::default())?;
            let value = self.canon(env, value)?;
            tuple = Some(match tuple {
                None => value,
                Some(t) => Value::pair(t, value),
            });
        }
        Ok(tuple.unwrap_or_default())
    }

    fn big(&self, env: &mut Env, op: BigOp, vars: &[VarId], pred: &Pred, body: &Expr) -> Res<Value> {
        match op {
            BigOp::Lambda => self.comprehension(env, vars, pred, Some(body), ClosureKind::Lambda),
            BigOp::SetOf => self.comprehension(env, vars, pred, Some(body), ClosureKind::SetOf),
            BigOp::Union => self.comprehension(env, vars, pred, Some(body), ClosureKind::Union),
            BigOp::Inter => {
                let mut sets = Vec::new();
                self.for_each_binding(env, vars, pred, &mut |env| {
                    sets.push(self.eval(env, body)?);
                    Ok(())
                })?;
                self.intersection(env, sets, pred.span)
            }
            BigOp::Sigma | BigOp::Pi => {
                let is_real = matches!(body.ty, Type::Real);
                let start = i64::from(op == BigOp::Pi);
                let mut int = Int::from(start);
                let mut real = RBig::from(start);
                self.for_each_binding(env, vars, pred, &mut |env| {
                    match (op, self.eval(env, body)?) {
                        (BigOp::Sigma, Value::Int(n)) => int = int.add(&n),
                        (_, Value::Int(n)) => int = int.mul(&n),
                        (BigOp::Sigma, Value::Real(r)) => real += &*r,
                        (_, Value::Real(r)) => real *= &*r,
                        (_, other) => return Err(self.ill_typed("a number", &other, body.span)),
                    }
                    Ok(())
                })?;
                Ok(if is_real { Value::real(real) } else { Value::Int(int) })
            }
        }
    }

    /// Calls `f` once for each distinct solution of `pred`; an undefined instance is an error.
    fn for_each_binding(
        &self,
        env: &mut Env,
        vars: &[VarId],
        pred: &Pred,
        f: &mut dyn FnMut(&mut Env) -> Res<()>,
    ) -> Res<()> {
        let mut seen = BTreeSet::new();
        self.solutions(env, vars, pred, &mut |env, error| {
            if let Some(err) = error {
                return Err(err.clone());
            }
            if seen.insert(self.tuple(env, vars)?) {
                f(env)?;
            }
            Ok(Flow::Go)
        })
        .map(|_| ())
    }

    /// The set of some elements; elements in symbolic form are compared as sets.
    pub(crate) fn set_of(&self, env: &mut Env, elems: Vec<Value>) -> Res<Value> {
        if !elems.iter().any(Value::mentions_symbolic) {
            return Ok(Value::set(elems));
        }
        let mut distinct: Vec<Value> = Vec::new();
        'next: for e in elems {
            for d in &distinct {
                if self.equal(env, d, &e)? {
                    continue 'next;
                }
            }
            distinct.push(e);
        }
        Ok(Value::set(distinct))
    }

    pub(crate) fn unary(&self, env: &mut Env, op: UnOp, a: Value, e: &Expr) -> Res<Value> {
        Ok(match (op, a) {
            (UnOp::Neg, Value::Int(n)) => Value::Int(n.neg()),
            (UnOp::Neg, Value::Real(r)) => Value::real(-(*r).clone()),
            (UnOp::Floor, Value::Real(r)) => Value::Int(Int::from_big(r.floor())),
            (UnOp::Ceiling, Value::Real(r)) => Value::Int(Int::from_big(r.ceil())),
            (UnOp::Floor | UnOp::Ceiling, Value::Int(n)) => Value::Int(n),
            (UnOp::ToReal, Value::Int(n)) => Value::real(RBig::from(n.to_big())),
            (UnOp::ToReal, Value::Real(r)) => Value::Real(r),
            (UnOp::First2, Value::Pair(p)) => p.0.clone(),
            (UnOp::Second2, Value::Pair(p)) => p.1.clone(),
            (UnOp::Size, Value::Str(s)) => Value::Int(Int::from(s.chars().count())),
            (UnOp::Rev, Value::Str(s)) => Value::str(&s.chars().rev().collect::<String>()),
            (op, a) => self.unary_set(env, op, a, e)?,
        })
    }

    pub(crate) fn binary(&self, env: &mut Env, op: BinOp, a: Value, b: Value, e: &Expr) -> Res<Value> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => self.arithmetic(op, &x, &y, e.span),
            (Value::Real(x), Value::Real(y)) => Ok(Value::real(match op {
                BinOp::Add => &*x + &*y,
                BinOp::Sub => &*x - &*y,
                BinOp::Mul => &*x * &*y,
                BinOp::Div if *y == RBig::ZERO => return Err(Error::undefined(e.span, "division by zero")),
                BinOp::Div => &*x / &*y,
                _ => return Err(Error::unsupported(e.span, "this operator on reals")),
            })),
            (Value::Real(x), Value::Int(n)) if op == BinOp::Power => match n.small() {
                Some(n) if (0..=10_000).contains(&n) => Ok(Value::real(x.pow(n as isize))),
                Some(n) if (-10_000..0).contains(&n) && *x != RBig::ZERO => {
                    Ok(Value::real(RBig::ONE / x.pow(-n as isize)))
                }
                _ => Err(Error::undefined(e.span, "power of a real that has no value")),
            },
            (Value::Str(x), Value::Str(y)) if op == BinOp::Concat => Ok(Value::str(&format!("{x}{y}"))),
            (a, b) => self.binary_set(env, op, a, b, e),
        }
    }

    fn arithmetic(&self, op: BinOp, x: &Int, y: &Int, span: Span) -> Res<Value> {
        Ok(Value::Int(match op {
            BinOp::Add => x.add(y),
            BinOp::Sub => x.sub(y),
            BinOp::Mul => x.mul(y),
            BinOp::Div => x.div(y).ok_or_else(|| Error::undefined(span, "division by zero"))?,
            BinOp::Mod => x.modulo(y).ok_or_else(|| {
                Error::undefined(span, "mod needs a dividend >= 0 and a divisor > 0")
                    .with_values(format!(": {x} mod {y}"))
            })?,
            BinOp::Power => self.power(x, y, span)?,
            BinOp::Interval => return Ok(interval(x, y)),
            _ => return Err(Error::unsupported(span, "this operator on integers")),
        }))
    }

    fn power(&self, base: &Int, exponent: &Int, span: Span) -> Res<Int> {
        if exponent.is_negative() {
            let negative = Error::undefined(span, "the exponent is negative");
            return Err(negative.with_values(format!(": {exponent}")));
        }
        let n = match exponent.small() {
            _ if base.is_zero() || *base == Int::ONE => exponent.small().unwrap_or(1).min(1),
            _ if *base == Int::from(-1i64) => {
                exponent.modulo(&Int::from(2i64)).and_then(|m| m.small()).unwrap_or(0)
            }
            Some(n) if (n as u128).saturating_mul(bits(base)) <= DIGITS => n,
            _ => return Err(Error::too_large(format!("{base}**{exponent} has too many digits"))),
        };
        Ok(Int::from_big(base.to_big().pow(n as usize)))
    }

    pub(crate) fn ill_typed(&self, wanted: &str, got: &Value, span: Span) -> Error {
        Error::unsupported(span, format!("{wanted} was expected, not {got:?}"))
    }

    pub(crate) fn uninitialised(&self, v: VarId, span: Span) -> Error {
        let name = self.machine.vars.get(v.0 as usize).map_or("?", |d| &*d.name);
        Error::new(
            crate::ErrorKind::Uninitialised,
            span,
            format!("{name} is read before it was given a value"),
        )
    }
}

/// The length of a number in base 2.
fn bits(n: &Int) -> u128 {
    match n.small() {
        Some(n) => u128::from(64 - n.unsigned_abs().leading_zeros()),
        None => dashu_int::ops::BitTest::bit_len(&n.to_big()) as u128,
    }
}

/// `a..b`: listed when short.
pub(crate) fn interval(a: &Int, b: &Int) -> Value {
    if a > b {
        return Value::empty();
    }
    match (a.small(), b.small()) {
        (Some(x), Some(y)) if y.checked_sub(x).is_some_and(|n| n < 64) => {
            Value::sorted_set((x..=y).map(Value::int).collect())
        }
        _ => Value::symbolic(Symbolic::Interval(a.clone(), b.clone())),
    }
}

/// How many numbers lie in `a..b`, if few enough to list.
pub(crate) fn interval_length(a: &Int, b: &Int) -> Option<usize> {
    let n = b.sub(a).add(&Int::ONE).small()?;
    usize::try_from(n).ok().filter(|n| *n <= LIST)
}

/// `digits.digits`, with an optional exponent, exactly.
pub(crate) fn parse_real(text: &str) -> Option<RBig> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(m) => (-1, m),
        None => (1, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = RBig::from(IBig::from_str_radix(&digits, 10).ok()? * IBig::from(sign));
    let shift = exponent - fraction.len() as i64;
    if shift.unsigned_abs() > 10_000 {
        return None;
    }
    let scale = RBig::from(IBig::from(10).pow(shift.unsigned_abs() as usize));
    Some(if shift >= 0 { number * scale } else { number / scale })
}

/// The set S of `%x.(x:S|E)` with an E that has a value for every x: the domain of the function, and as large.
fn plain_domain(f: &Expr) -> Option<&Expr> {
    let ExprKind::Big(BigOp::Lambda, vars, pred, body) = &f.kind else { return None };
    let PredKind::Rel(RelOp::In, x, set) = &pred.kind else { return None };
    let [v] = vars[..] else { return None };
    let plain = matches!(x.kind, ExprKind::Var(w) if w == v)
        && !free::mentions(set, &|w| w == v)
        && bombus_analyse::effect_free_choice::is_polynomial(body, v);
    plain.then_some(set)
}
