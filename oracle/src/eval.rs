//! The value of an expression in an environment, by the rule of definedness.
//!
//! In: a machine for its sets and free types, an environment, an expression. Out: a value, or why there is none.
//! Operators are strict: operands are evaluated from left to right, and an undefined operand makes the whole undefined.
//! Never here: what single operators mean (that is `operators`), how bindings are found (that is `enumerate`).

use crate::grow::Grown;
use crate::pred::unlisted;
use crate::sets::{Closure, Set, listed, sides};
use crate::text::{Core, mentions};
use crate::tree::{BigOp, BinOp, Expr, Machine, Name, Pred, RelOp, Type, UnOp, Var};
use crate::value::Value;
use std::{borrow::Cow, cell::Cell, fmt::Arguments, sync::Arc};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The expression or predicate has no value.
    Undefined(Box<Undefined>),
    /// The oracle cannot answer: an infinite enumeration, too many steps, or a tree that breaks the typing rules.
    TooBig(String),
    /// A variable is read that a binder has not reached yet. This and the next two never leave this crate.
    Unbound,
    /// A variable runs through an infinite type and nothing bounds it.
    Unlistable,
    /// Whoever visits elements or bindings has seen enough.
    Enough,
}

/// An answer, or why there is none.
pub type Res<T> = Result<T, Stop>;

/// What is undefined, and the label or position of the innermost labelled predicate around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Undefined {
    pub why: String,
    pub place: String,
    /// The name of the function that is applied outside its domain, if it has one.
    pub applied: Option<Name>,
}

impl Stop {
    pub(crate) fn undefined<T>(why: impl Into<String>) -> Res<T> {
        Err(Stop::Undefined(Undefined { why: why.into(), place: String::new(), applied: None }.into()))
    }
    pub(crate) fn ill(expected: &str) -> Stop {
        Stop::TooBig(format!("ill-typed tree: {expected} is expected"))
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Slot {
    Value(Value),
    /// A set that cannot be listed.
    Rule(Arc<Set>),
    /// A local, a result or an uninitialised variable: reading is undefined.
    Unassigned,
    /// A bound variable that its binder has not reached yet.
    Unbound,
    /// A function of which some images are chosen.
    Grown(Arc<Grown>),
}

impl Slot {
    /// The value, if there is one that is listed.
    pub fn value(&self) -> Option<Value> {
        if let Slot::Value(v) = self { Some(v.clone()) } else { None }
    }
}

/// The values of the names in scope; the innermost binding of a name wins. Names of the machine stand outside all others.
#[derive(Clone, Debug, Default)]
pub struct Env {
    pub(crate) machine: Arc<Vec<(Name, Slot)>>,
    pub(crate) slots: Vec<(Name, Slot)>,
    /// What `x$0` means.
    pub(crate) before: Arc<Vec<(Name, Slot)>>,
}

impl Env {
    /// Binds a name to a value, inside all earlier bindings.
    pub fn bind(&mut self, name: &Name, value: Value) {
        self.push(name, Slot::Value(value));
    }
    pub(crate) fn push(&mut self, name: &Name, slot: Slot) {
        self.slots.push((name.clone(), slot));
    }
    /// The innermost binding of a name.
    pub fn get(&self, name: &Name) -> Option<&Slot> {
        let own = self.slots.iter().rfind(|(n, _)| n == name);
        own.or_else(|| self.machine.iter().find(|(n, _)| n == name)).map(|(_, s)| s)
    }
    /// Changes what the innermost binding of a name stands for.
    pub(crate) fn fill(&mut self, name: &Name, slot: Slot) {
        *self.slot(name).expect("the variable stands in the environment") = slot;
    }
    pub(crate) fn slot(&mut self, name: &Name) -> Option<&mut Slot> {
        if let Some(at) = self.slots.iter().rposition(|(n, _)| n == name) {
            return Some(&mut self.slots[at].1);
        }
        let at = self.machine.iter().position(|(n, _)| n == name)?;
        Some(&mut Arc::make_mut(&mut self.machine)[at].1)
    }
    /// From now on `x$0` means the present value of each of these names.
    pub(crate) fn remember(&mut self, names: Vec<Name>) {
        let mut old: Vec<_> = self.before.iter().filter(|(n, _)| !names.contains(n)).cloned().collect();
        old.extend(names.into_iter().filter_map(|n| self.get(&n).cloned().map(|s| (n, s))));
        self.before = Arc::new(old);
    }
    /// This environment with variables bound to the parts of a left-nested pair.
    pub(crate) fn at(&self, vars: &[Var], v: &Value) -> Res<Env> {
        let parts = v.split(vars.len()).ok_or_else(|| Stop::ill("a pair"))?;
        let mut env = self.clone();
        vars.iter().zip(parts).for_each(|((name, _), part)| env.bind(name, part));
        Ok(env)
    }
    /// Whether a function is being chosen.
    pub(crate) fn is_growing(&self) -> bool {
        self.slots.iter().any(|(_, s)| matches!(s, Slot::Grown(_)))
    }
    /// Whether a tree with this text may read a name that waits for a value; names that are bound inside do not count.
    pub(crate) fn awaits(&self, text: impl FnOnce() -> String, inside: &[&Name]) -> bool {
        let waits = |(n, s): &&(Name, Slot)| matches!(s, Slot::Unbound) && !inside.contains(&n);
        let waiting: Vec<_> = self.slots.iter().filter(waits).collect();
        self.is_growing() || !waiting.is_empty() && mentions(&text(), waiting.iter().map(|w| &*w.0))
    }
}

/// The result of an expression: a value, in the tree or the environment where it stands there already, or a set that is
/// described but not listed.
pub(crate) enum Val<'v> {
    One(Cow<'v, Value>),
    Many(Set),
}

impl From<Value> for Val<'_> {
    fn from(v: Value) -> Self {
        Val::One(Cow::Owned(v))
    }
}

impl Val<'_> {
    pub(crate) fn set(self) -> Res<Set> {
        match self {
            Val::One(v) => Ok(Set::Listed(listed(&v)?.clone())),
            Val::Many(s) => Ok(s),
        }
    }
    /// The same for longer than the tree and the environment last.
    pub(crate) fn owned<'l>(self) -> Val<'l> {
        match self {
            Val::One(v) => v.into_owned().into(),
            Val::Many(s) => Val::Many(s),
        }
    }
}

/// What is wanted of each binding.
type Pick<'a> = &'a dyn Fn(&Env) -> Res<Value>;

/// Evaluates over a machine, with a limited number of steps.
pub struct Oracle<'m> {
    pub(crate) machine: &'m Machine,
    budget: u64,
    steps: Cell<u64>,
    /// Steps for questions that need more than the budget; what one takes is gone.
    reserve: Cell<u64>,
}

impl<'m> Oracle<'m> {
    /// An oracle that gives up after so many steps; see `restart`.
    pub fn new(machine: &'m Machine, budget: u64) -> Oracle<'m> {
        Oracle { machine, budget, steps: Cell::new(budget), reserve: Cell::new(0) }
    }
    /// An oracle with so many steps more for all questions together.
    pub fn with_reserve(machine: &'m Machine, budget: u64, reserve: u64) -> Oracle<'m> {
        Oracle { reserve: Cell::new(reserve), ..Oracle::new(machine, budget) }
    }
    /// Grants the whole budget again, for the next question.
    pub fn restart(&self) {
        self.steps.set(self.budget);
    }
    pub(crate) fn tick(&self) -> Res<()> {
        self.charge(1)
    }
    /// Counts work on so many elements.
    pub(crate) fn charge(&self, elements: u64) -> Res<()> {
        let (own, reserve) = (self.steps.get(), self.reserve.get());
        self.steps.set(own.saturating_sub(elements));
        self.reserve.set(reserve.saturating_sub(elements.saturating_sub(own)));
        let too_big = || Stop::TooBig(format!("more than {} steps", self.budget));
        if elements <= own.saturating_add(reserve) { Ok(()) } else { Err(too_big()) }
    }

    /// The value of an expression.
    pub fn eval(&self, env: &Env, e: &Expr) -> Res<Value> {
        self.look(env, e).map(Cow::into_owned)
    }

    /// The value of an expression, where it stands if it stands somewhere.
    pub(crate) fn look<'v>(&self, env: &'v Env, e: &'v Expr) -> Res<Cow<'v, Value>> {
        let value = self.value_of(self.val(env, e)?)?;
        self.charge(value.elements().map_or(0, |elements| elements.len() as u64))?;
        Ok(value)
    }

    pub(crate) fn value_of<'v>(&self, v: Val<'v>) -> Res<Cow<'v, Value>> {
        match v {
            Val::One(v) => Ok(v),
            Val::Many(s) => Ok(Cow::Owned(Value::Set(self.list(&s)?))),
        }
    }

    pub(crate) fn set(&self, env: &Env, e: &Expr) -> Res<Set> {
        self.val(env, e)?.set()
    }

    fn read<'v>(&self, slot: Option<&'v Slot>, name: Arguments) -> Res<Val<'v>> {
        match slot {
            Some(Slot::Value(v)) => Ok(Val::One(Cow::Borrowed(v))),
            Some(Slot::Rule(s)) => Ok(Val::Many((**s).clone())),
            Some(Slot::Unassigned) => Stop::undefined(format!("{name} has no value yet")),
            Some(Slot::Unbound | Slot::Grown(_)) => Err(Stop::Unbound),
            None => Err(Stop::TooBig(format!("ill-typed tree: {name} is not declared"))),
        }
    }

    pub(crate) fn val<'v>(&self, env: &'v Env, e: &'v Expr) -> Res<Val<'v>> {
        self.tick()?;
        let all = |es: &[Expr]| es.iter().map(|e| self.eval(env, e)).collect::<Res<Vec<_>>>();
        let fields = |fs: &[(Name, Expr)]| {
            fs.iter().map(|(n, e)| Ok((n.clone(), self.eval(env, e)?))).collect::<Res<Vec<_>>>()
        };
        Ok(match e {
            Expr::Const(v) => Val::One(Cow::Borrowed(v)),
            Expr::Var(n) => self.read(env.get(n), format_args!("{n}"))?,
            Expr::Old(n) => {
                self.read(env.before.iter().find(|(m, _)| m == n).map(|s| &s.1), format_args!("{n}$0"))?
            }
            Expr::All(t) => Val::Many(Set::All(t.clone())),
            Expr::Natural => Val::Many(Set::From(0.into())),
            Expr::Natural1 => Val::Many(Set::From(1.into())),
            Expr::Set(es) => Value::set(all(es)?).into(),
            Expr::Seq(es) => Value::seq(all(es)?).into(),
            Expr::Pair(a, b) => Value::pair(self.eval(env, a)?, self.eval(env, b)?).into(),
            Expr::Record(fs) => Value::record(fields(fs)?).into(),
            Expr::Struct(fs) => {
                let sets = fs.iter().map(|(n, e)| Ok((n.clone(), self.set(env, e)?)));
                let mut sets = sets.collect::<Res<Vec<_>>>()?;
                sets.sort_by(|a, b| a.0.cmp(&b.0));
                Val::Many(Set::Records(sets))
            }
            Expr::Field(r, name) => {
                let r = self.look(env, r)?;
                let Value::Record(fs) = &*r else { return Err(Stop::ill("a record")) };
                fs.iter().find(|f| f.0 == *name).ok_or_else(|| Stop::ill("a field"))?.1.clone().into()
            }
            Expr::Unary(UnOp::Id, s) => self.val(env, &function_on(&[s], 0))?.owned(),
            Expr::Binary(op @ (BinOp::Prj1 | BinOp::Prj2), s, t) => {
                self.val(env, &function_on(&[s, t], (*op == BinOp::Prj2) as usize))?.owned()
            }
            Expr::Unary(op, a) => self.unary(*op, self.val(env, a)?)?,
            Expr::Binary(op, a, b) => self.binary(*op, self.val(env, a)?, self.val(env, b)?)?,
            Expr::Closure(t, r) => {
                let strict = self.unary(UnOp::Closure1, self.val(env, r)?)?;
                let identity = function_on(&[&Expr::All(t.clone())], 0);
                self.binary(BinOp::Union, self.val(&Env::default(), &identity)?, strict)?
            }
            Expr::Iterate(t, r, n) => self.iterate(t, self.val(env, r)?, &*self.look(env, n)?)?,
            Expr::Apply(f, x) => Val::One(self.apply(env, f, x, false)?),
            Expr::ApplyWhole(f, x) => Val::One(self.apply(env, f, x, true)?),
            Expr::Truth(p) => Value::Bool(self.holds(env, p)?).into(),
            Expr::Compr(vars, p) => self.comprehension(env, vars, p, None)?,
            Expr::Big(op, vars, p, e) => self.big(env, *op, vars, p, e)?,
            Expr::If(p, a, b) => self.val(env, if self.holds(env, p)? { a } else { b })?,
            Expr::Let(bs, e) => self.val(&self.let_in(env, bs)?, e)?.owned(),
            Expr::Construct(c, arg) => self.construct(env, c, arg.as_deref())?.into(),
            Expr::Destruct(c, e) => match &*self.look(env, e)? {
                Value::Free(_, made, Some(arg)) if made.1 == *c => (**arg).clone().into(),
                v => return Stop::undefined(format!("{v} was not made by {c}")),
            },
        })
    }

    /// The environment inside a LET; an expression may use the names before it.
    pub(crate) fn let_in(&self, env: &Env, bindings: &[(Name, Expr)]) -> Res<Env> {
        let mut env = env.clone();
        for (name, e) in bindings {
            match self.val(&env, e)? {
                Val::Many(s) if !self.listable(&s)? => env.push(name, Slot::Rule(Arc::new(s))),
                v => {
                    let v = self.value_of(v)?.into_owned();
                    env.bind(name, v)
                }
            }
        }
        Ok(env)
    }

    fn construct(&self, env: &Env, name: &Name, arg: Option<&Expr>) -> Res<Value> {
        let (free, at) = self.machine.constructor(name).ok_or_else(|| Stop::ill("a constructor"))?;
        let arg = match (arg, &free.constructors[at].1) {
            (None, None) => None,
            (Some(e), Some((_, domain))) => {
                let v = self.eval(env, e)?;
                if !self.member(&v, &self.set(&Env::default(), domain)?)? {
                    return Stop::undefined(format!("{v} is outside the domain of the constructor {name}"));
                }
                Some(Arc::new(v))
            }
            _ => return Err(Stop::ill("another number of arguments")),
        };
        Ok(Value::Free(at as u32, Arc::new((free.name.clone(), name.clone())), arg))
    }

    /// The values of `pick` in every environment that satisfies the condition; an undefined binding makes the whole
    /// undefined.
    fn collect(&self, env: &Env, vars: &[Var], p: &Pred, pick: Pick) -> Res<Vec<Value>> {
        let mut out = Vec::new();
        self.bindings(env, vars, p, &mut |env, truth| {
            truth.map_err(Stop::Undefined)?;
            out.push(pick(env)?);
            Ok(())
        })?;
        Ok(out)
    }

    /// `{x,y|P}`, or `%x,y.(P|E)` if there is an expression.
    fn comprehension<'l>(&self, env: &Env, vars: &[Var], p: &Pred, e: Option<&Expr>) -> Res<Val<'l>> {
        let listed = self.collect(env, vars, p, &|env| {
            let parts = vars.iter().map(|(n, _)| self.eval(env, &Expr::Var(n.clone())));
            let bound =
                Value::join(parts.collect::<Res<Vec<_>>>()?).ok_or_else(|| Stop::ill("a variable"))?;
            Ok(match e {
                None => bound,
                Some(e) => Value::pair(bound, self.eval(env, e)?),
            })
        });
        let text = || p.write() + " " + &e.map_or(String::new(), Expr::write);
        match listed {
            Err(Stop::Unlistable) => {}
            listed => return Ok(Value::set(listed?).into()),
        }
        if env.awaits(text, &vars.iter().map(|v| &v.0).collect::<Vec<_>>()) {
            return Err(Stop::Unbound);
        }
        let closure = Arc::new(Closure { env: env.clone(), vars: vars.to_vec(), pred: p.clone() });
        Ok(Val::Many(match e {
            None => Set::Such(closure),
            Some(e) => Set::Lambda(closure, Arc::new(e.clone())),
        }))
    }

    fn big<'l>(&self, env: &Env, op: BigOp, vars: &[Var], p: &Pred, e: &Expr) -> Res<Val<'l>> {
        if op == BigOp::Lambda {
            return self.comprehension(env, vars, p, Some(e));
        }
        let out = self.collect(env, vars, p, &|env| self.eval(env, e));
        let out = out.map_err(|s| unlisted(s, op.word(), vars))?;
        let fold = |start: i32, by: BinOp| match out.split_first() {
            None => Ok(Value::int(start)),
            Some((first, rest)) => rest.iter().try_fold(first.clone(), |a, b| self.arithmetic(by, &a, b)),
        };
        Ok(match op {
            BigOp::Lambda | BigOp::SetOf => Value::set(out).into(),
            BigOp::Sigma => fold(0, BinOp::Add)?.into(),
            BigOp::Pi => fold(1, BinOp::Mul)?.into(),
            BigOp::Union => self.unary(UnOp::Union, Value::set(out).into())?,
            BigOp::Inter => self.unary(UnOp::Inter, Value::set(out).into())?,
        })
    }

    /// `f(x)`. A function that is written as `%x.(P|E)` is looked at only at the point.
    fn apply<'v>(&self, env: &'v Env, f: &'v Expr, x: &Expr, whole: bool) -> Res<Cow<'v, Value>> {
        if let Expr::Big(BigOp::Lambda, vars, p, e) = f {
            let x = self.look(env, x)?;
            if !self.holds_at(env, vars, p, &x)? {
                return Stop::undefined(format!("{x} is outside the domain of the function"));
            }
            return self.eval(&env.at(vars, &x)?, e).map(Cow::Owned);
        }
        let applied = if let Expr::Var(n) = f { Some(n) } else { None };
        let outside = |x: &Value| {
            let why = format!("{x} is outside the domain of the function");
            Err(Stop::Undefined(Undefined { why, place: String::new(), applied: applied.cloned() }.into()))
        };
        let f = match applied.and_then(|n| env.get(n)) {
            Some(Slot::Grown(grown)) => {
                let x = self.look(env, x)?;
                return grown.image(&x)?.map_or_else(|| outside(&x), |y| Ok(Cow::Owned(y)));
            }
            Some(Slot::Value(f)) => Val::One(Cow::Borrowed(f)),
            _ => self.val(env, f)?,
        };
        let x = self.look(env, x)?;
        if let Val::One(Cow::Borrowed(f)) = f {
            let pairs = listed(f)?;
            if whole {
                functional(pairs)?;
            }
            let mut own = from(pairs, &x).filter_map(Value::sides).take_while(|p| *p.0 == *x);
            if let (Some((_, y)), None) = (own.next(), own.next()) {
                return Ok(Cow::Borrowed(y));
            }
        }
        let f = f.set()?;
        if whole && !matches!(f, Set::Lambda(..)) {
            functional(&self.list(&f)?)?;
        }
        let mut images = self.images(&f, &x)?;
        match (images.pop(), images.len()) {
            (Some(y), 0) => Ok(Cow::Owned(y)),
            (None, _) => outside(&x),
            (Some(_), n) => Stop::undefined(format!("{x} has {} images", n + 1)),
        }
    }

    /// The images of a value under a relation, distinct.
    pub(crate) fn images(&self, r: &Set, x: &Value) -> Res<Vec<Value>> {
        self.tick()?;
        match r {
            Set::Lambda(c, e) => Ok(match self.holds_at(&c.env, &c.vars, &c.pred, x)? {
                true => vec![self.eval(&c.env.at(&c.vars, x)?, e)?],
                false => Vec::new(),
            }),
            Set::Such(c) if c.vars.len() > 1 => {
                let (last, front) = c.vars.split_last().expect("there are two variables");
                let at = c.env.at(front, x)?;
                let image = |env: &Env| self.eval(env, &Expr::Var(last.0.clone()));
                let found = self.collect(&at, std::slice::from_ref(last), &c.pred, &image);
                found.map_err(|s| unlisted(s, "{|}", &c.vars))
            }
            Set::Union(a, b) => {
                let both = [self.images(a, x)?, self.images(b, x)?].concat();
                Ok(self.list(&Set::of(both))?.to_vec())
            }
            other => {
                let pairs = self.list(other)?;
                let own = from(&pairs, x).map(sides).take_while(|p| !matches!(p, Ok(p) if p.0 != x));
                own.map(|p| self.tick().and(p).map(|p| p.1.clone())).collect()
            }
        }
    }
}

/// The pairs from those of one value on: they are sorted by their first sides, so those of one value stand together.
pub(crate) fn from<'p>(pairs: &'p [Value], x: &Value) -> std::slice::Iter<'p, Value> {
    pairs[pairs.partition_point(|p| p.sides().is_some_and(|(y, _)| y < x))..].iter()
}

/// No value has two images; the pairs are sorted by their first sides.
fn functional(pairs: &[Value]) -> Res<()> {
    let twice = pairs.windows(2).find(|two| two[0].sides().map(|p| p.0) == two[1].sides().map(|p| p.0));
    twice
        .map_or(Ok(()), |two| Stop::undefined(format!("the relation has two images: {}, {}", two[0], two[1])))
}

/// The function `%x,….(x:S & … | x)` that answers one of its arguments.
pub(crate) fn function_on(sets: &[&Expr], answer: usize) -> Expr {
    let name = |prefix: &str, i: usize| Name::from(format!("{prefix} {i}"));
    let sets_by_name = sets.iter().enumerate().map(|(i, e)| (name("set", i), (*e).clone()));
    let args = 0..sets.len();
    let inside = |i| Pred::Rel(RelOp::In, Expr::Var(name("argument", i)), Expr::Var(name("set", i)));
    // Nothing but the sets bounds the arguments, so their type is never looked at.
    let vars = args.clone().map(|i| (name("argument", i), Type::Integer)).collect();
    let body = Expr::Var(name("argument", answer));
    let lambda =
        Expr::Big(BigOp::Lambda, vars, Box::new(Pred::And(args.map(inside).collect())), Box::new(body));
    Expr::Let(sets_by_name.collect(), Box::new(lambda))
}
