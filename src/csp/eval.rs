//! Evaluation of the functional language, as far as a value is needed.
//!
//! In: core expressions. Out: values, or a fault with its place. Never here: built-in functions
//! (`library`), processes (`process`), transitions (`step`).

use super::core::{Binary, Bind, Ex, Kind, Stmt, Unary};
use super::dots::{FieldState, TypeState};
use super::scope::{Global, Scoped};
use super::term::{Events, Terms};
use super::token::Sym;
use super::value::{
    Binding, Bound, Bounds, Chunk, Closure, Code, Data, Env, Fault, FunData, Instance, LetData, Res, SetOf,
    State, Suspended, Th, Thunk, Val, data, later,
};
use bombus_base::budget::Budget;
use bombus_base::{Int, Span};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Evaluations inside of each other.
const DEEPEST: usize = 60_000;
/// Calls of which each is all that is left of the one before.
const MOST_CALLS: usize = 1_000_000;
/// A sequence that is needed in full may not be longer.
const LONGEST: usize = 2_000_000;

/// What an expression comes to: a value, or another expression that has the same one.
pub(super) enum Next {
    Value(Val),
    Instead(Ex, Env),
}

pub struct Eval {
    pub script: Rc<Scoped>,
    globals: Rc<Instance>,
    pub(super) channel_fields: Vec<FieldState>,
    pub(super) constructor_fields: Vec<FieldState>,
    pub(super) type_states: Vec<TypeState>,
    /// The place of what is being evaluated, for messages.
    pub here: Span,
    depth: usize,
    /// Evaluations so far, and the budget that ends them.
    steps: u64,
    pub limit: Option<Budget>,
    pub terms: Terms,
    pub events: Events,
    /// How the script calls the first processes that were met, by their terms.
    pub called: HashMap<u32, String>,
    instances: HashMap<Rc<LetData>, Rc<Instance>>,
}

impl Eval {
    pub fn new(script: Scoped) -> Eval {
        let script = Rc::new(script);
        let globals =
            Rc::new(Instance { group: script.group.clone(), env: Env::default(), cells: RefCell::default() });
        fill(&globals, &Env::default());
        Eval {
            channel_fields: vec![FieldState::New; script.channels.len()],
            constructor_fields: vec![FieldState::New; script.constructors.len()],
            type_states: vec![TypeState::New; script.types.len()],
            here: Span::default(),
            depth: 0,
            steps: 0,
            limit: None,
            terms: Terms::default(),
            events: Events::default(),
            called: HashMap::new(),
            instances: HashMap::new(),
            globals,
            script,
        }
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Fault { span: self.here, message: message.into(), circular: false, limit: false }))
    }

    /// A limit is reached: what the script means is not known, but nothing is known to be wrong with it.
    pub fn give_up<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Fault { span: self.here, message: message.into(), circular: false, limit: true }))
    }

    pub fn text(&self, name: Sym) -> &str {
        self.script.names.text(name)
    }

    pub fn eval(&mut self, e: &Ex, env: &Env) -> Res<Val> {
        let outer = std::mem::replace(&mut self.here, e.span);
        if self.depth >= DEEPEST {
            return self.endless();
        }
        self.depth += 1;
        let result = self.in_place(e, env);
        self.depth -= 1;
        if result.is_ok() {
            self.here = outer;
        }
        result
    }

    fn endless<T>(&self) -> Res<T> {
        self.fail(
            "this evaluation does not come to an end: \
             a function or a process calls itself without a communication in between",
        )
    }

    /// Counts one evaluation; now and then the budget is asked whether there may be more.
    fn count(&mut self) -> Res<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(4096) && self.limit.as_ref().is_some_and(|b| b.check().is_err()) {
            return self.give_up("the evaluation takes too long");
        }
        Ok(())
    }

    /// Evaluates an expression. The branch of a condition, what stands after `within` and the body of a function that is
    /// called take its place, so that a loop written as a recursive function costs no depth.
    fn in_place(&mut self, e: &Ex, env: &Env) -> Res<Val> {
        let mut held: Option<(Ex, Env)> = None;
        for _ in 0..MOST_CALLS {
            self.count()?;
            let (e, env) = held.as_ref().map_or((e, env), |(e, env)| (e, env));
            self.here = e.span;
            match self.expr(e, env)? {
                Next::Value(val) => return Ok(val),
                Next::Instead(e, env) => held = Some((e, env)),
            }
        }
        self.endless()
    }

    fn expr(&mut self, e: &Ex, env: &Env) -> Res<Next> {
        let value = match &e.kind {
            Kind::If(condition, yes, no) => {
                let branch = if self.bool(condition, env)? { yes } else { no };
                return Ok(Next::Instead(branch.clone(), env.clone()));
            }
            Kind::Let(group, body) => {
                let instance =
                    Rc::new(Instance { group: group.clone(), env: env.clone(), cells: RefCell::default() });
                let inner = env.with_let(instance.clone());
                fill(&instance, &inner);
                return Ok(Next::Instead(body.clone(), inner));
            }
            Kind::Apply(function, args) => return self.call(e, function, args, env),
            _ => self.value(e, env)?,
        };
        Ok(Next::Value(value))
    }

    /// The value of an expression that nothing takes the place of.
    fn value(&mut self, e: &Ex, env: &Env) -> Res<Val> {
        Ok(match &e.kind {
            Kind::Name(name) => return self.name(*name, env),
            Kind::Int(value) => Val::Data(Data::Int(value.clone())),
            Kind::Bool(value) => Val::Data(Data::Bool(*value)),
            Kind::Char(c) => Val::Data(Data::Char(*c)),
            Kind::Str(text) => Val::Data(Data::Seq(text.chars().map(Data::Char).collect())),
            Kind::Tuple(list) => Val::Tuple(list.iter().map(|e| self.delay(e, env)).collect()),
            Kind::Unary(op, a) => return self.unary(*op, a, env),
            Kind::Binary(op, a, b) => return self.binary(*op, a, b, env),
            Kind::Dot(list) => {
                let mut parts = Vec::new();
                for part in list {
                    let value = self.eval_data(part, env)?;
                    parts.extend(value.parts().iter().cloned());
                }
                if matches!(parts[0], Data::Channel(_) | Data::Const(_)) {
                    self.progress(&parts)?;
                }
                Val::Data(Data::dotted(parts))
            }
            Kind::Lambda(function) => Val::Fun(Rc::new(Closure {
                code: Code::User(function.clone()),
                env: env.clone(),
                args: Vec::new(),
            })),
            Kind::Seq(list, stmts) if stmts.is_empty() => Val::Seq(Chunk {
                items: list.iter().map(|e| self.delay(e, env)).collect(),
                from: 0,
                rest: None,
            }),
            Kind::Seq(..) | Kind::SeqRange(..) => return self.stream(e.clone(), 0, env.clone(), None),
            Kind::Set(list, stmts) => {
                let mut all = Vec::new();
                for row in self.rows(stmts, env)? {
                    for item in list {
                        all.push(self.eval_data(item, &row)?);
                    }
                    self.small(all.len())?;
                }
                Val::Data(Data::set(all))
            }
            Kind::SetRange(from, to, stmts) => {
                let mut all = SetOf::Finite(Vec::new());
                for row in self.rows(stmts, env)? {
                    let part = self.range(from, to.as_ref(), &row)?;
                    all = self.union(&all, &part)?;
                }
                Val::Data(Data::Set(Rc::new(all)))
            }
            Kind::Productions(list, stmts) => {
                let mut all = Vec::new();
                for row in self.rows(stmts, env)? {
                    for item in list {
                        let prefix = self.eval_data(item, &row)?;
                        all.extend(self.productions(&prefix)?);
                    }
                    self.small(all.len())?;
                }
                Val::Data(Data::set(all))
            }
            Kind::Map(pairs) => {
                let mut list = Vec::new();
                for (key, value) in pairs {
                    list.push((self.eval_data(key, env)?, self.eval_data(value, env)?));
                }
                Val::Data(map_of(list))
            }
            _ => {
                let term = self.process(e, env)?;
                Val::Data(Data::Proc(term))
            }
        })
    }

    fn name(&mut self, name: Sym, env: &Env) -> Res<Val> {
        if let Some((_, th)) = env.find(name) {
            return self.force(&th);
        }
        match self.script.globals.get(&name).copied() {
            Some(Global::Defined) => {
                let th = self.globals.cells.borrow().get(&name).cloned();
                match th {
                    Some(th) => self.force(&th).map_err(|mut fault| {
                        if fault.circular && fault.message.is_empty() {
                            let text = self.text(name);
                            fault.message = format!(
                                "`{text}` needs itself before its first communication: unguarded recursion"
                            );
                        }
                        fault
                    }),
                    None => self.fail(format!("`{}` has no value", self.text(name))),
                }
            }
            Some(Global::Channel(n)) => Ok(Val::Data(Data::Channel(n))),
            Some(Global::Constructor(n)) => Ok(Val::Data(Data::Const(n))),
            Some(Global::Type(n)) => Ok(Val::Data(Data::Set(self.type_set(n as usize)?))),
            Some(Global::Builtin(builtin)) => self.builtin_value(builtin),
            None => self.fail(format!("`{}` is not defined", self.text(name))),
        }
    }

    /// A value for later, at once where that is as easy.
    pub fn delay(&mut self, e: &Ex, env: &Env) -> Th {
        match &e.kind {
            Kind::Int(value) => data(Data::Int(value.clone())),
            Kind::Bool(value) => data(Data::Bool(*value)),
            Kind::Name(name) => match env.find(*name) {
                Some((_, th)) => th,
                None => Rc::new(Thunk(RefCell::new(State::Expr(e.clone(), Env::default())))),
            },
            Kind::Binary(..) | Kind::Unary(Unary::Minus, _) => match self.sum(e, env) {
                Some(value) => data(Data::Int(value)),
                None => Rc::new(Thunk(RefCell::new(State::Expr(e.clone(), env.clone())))),
            },
            _ => Rc::new(Thunk(RefCell::new(State::Expr(e.clone(), env.clone())))),
        }
    }

    /// The value of an argument if it is a simple one that needs no evaluation.
    pub(super) fn known(&self, e: &Ex, env: &Env) -> Option<Data> {
        let simple =
            |data: &Data| matches!(data, Data::Int(_) | Data::Bool(_) | Data::Const(_) | Data::Channel(_));
        match &e.kind {
            Kind::Bool(value) => Some(Data::Bool(*value)),
            Kind::Name(name) => match (env.find(*name), self.script.globals.get(name)) {
                (Some((_, th)), _) => match &*th.0.borrow() {
                    State::Done(Val::Data(data)) if simple(data) => Some(data.clone()),
                    _ => None,
                },
                (None, Some(Global::Channel(n))) => Some(Data::Channel(*n)),
                (None, Some(Global::Constructor(n))) => Some(Data::Const(*n)),
                _ => None,
            },
            _ => self.sum(e, env).map(Data::Int),
        }
    }

    /// A number that needs nothing but arithmetic on small numbers that are known: to compute it now costs no more than
    /// to keep it for later, cannot fail, and a counter does not become a chain of things to do.
    fn sum(&self, e: &Ex, env: &Env) -> Option<Int> {
        match &e.kind {
            Kind::Int(value) => value.small().map(|_| value.clone()),
            Kind::Name(name) => {
                let th = match env.find(*name) {
                    Some((_, th)) => th,
                    None => self.globals.cells.borrow().get(name).cloned()?,
                };
                match &*th.0.borrow() {
                    State::Done(Val::Data(Data::Int(value))) => value.small().map(|_| value.clone()),
                    _ => None,
                }
            }
            Kind::Unary(Unary::Minus, a) => Some(self.sum(a, env)?.neg()),
            Kind::Binary(op, a, b) => {
                let (x, y) = match op {
                    Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Mod => {
                        (self.sum(a, env)?, self.sum(b, env)?)
                    }
                    _ => return None,
                };
                match op {
                    Binary::Add => Some(x.add(&y)),
                    Binary::Sub => Some(x.sub(&y)),
                    Binary::Mul => Some(x.mul(&y)),
                    Binary::Div => divide(&x, &y).map(|(quotient, _)| quotient),
                    _ => divide(&x, &y).map(|(_, rest)| rest),
                }
            }
            _ => None,
        }
    }

    pub fn force(&mut self, th: &Th) -> Res<Val> {
        if let State::Done(val) = &*th.0.borrow() {
            return Ok(val.clone());
        }
        self.count()?;
        let state = std::mem::replace(&mut *th.0.borrow_mut(), State::Busy);
        match state {
            State::Done(val) => Ok(val),
            State::Expr(e, env) => match self.eval(&e, &env) {
                Ok(val) => {
                    *th.0.borrow_mut() = State::Done(val.clone());
                    Ok(val)
                }
                Err(fault) => {
                    *th.0.borrow_mut() = State::Expr(e, env);
                    Err(fault)
                }
            },
            State::Later(work) => {
                let val = work(self)?;
                *th.0.borrow_mut() = State::Done(val.clone());
                Ok(val)
            }
            State::Busy => {
                let (span, message) = (self.here, String::new());
                Err(Box::new(Fault { span, message, circular: true, limit: false }))
            }
        }
    }

    /// The value in full.
    pub fn deep(&mut self, val: Val) -> Res<Data> {
        match val {
            Val::Data(data) => Ok(data),
            Val::Tuple(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items.iter() {
                    list.push(self.deep_th(item)?);
                }
                Ok(Data::Tuple(list.into()))
            }
            Val::Seq(_) => {
                let mut list = Vec::new();
                let mut rest = val;
                while let Some((head, tail)) = self.uncons(rest)? {
                    list.push(self.deep_th(&head)?);
                    if list.len() > LONGEST {
                        return self.give_up("a sequence without end, or a very long one, is needed in full");
                    }
                    rest = tail;
                }
                Ok(Data::Seq(list.into()))
            }
            Val::Fun(closure) => {
                let env = match &closure.code {
                    Code::User(function) => self.bounds(&closure.env, &function.free.clone())?,
                    Code::Builtin(_) => Rc::new([]),
                };
                let mut args = Vec::new();
                for group in &closure.args {
                    let group: Res<Vec<Data>> = group.iter().map(|th| self.deep_th(th)).collect();
                    args.push(group?);
                }
                Ok(Data::Fun(Rc::new(FunData { code: closure.code.clone(), env, args })))
            }
        }
    }

    pub fn deep_th(&mut self, th: &Th) -> Res<Data> {
        let val = self.force(th)?;
        let data = self.deep(val)?;
        *th.0.borrow_mut() = State::Done(Val::Data(data.clone()));
        Ok(data)
    }

    pub fn eval_data(&mut self, e: &Ex, env: &Env) -> Res<Data> {
        let val = self.eval(e, env)?;
        self.deep(val)
    }

    pub fn bool(&mut self, e: &Ex, env: &Env) -> Res<bool> {
        match self.eval(e, env)? {
            Val::Data(Data::Bool(value)) => Ok(value),
            _ => self.fail("a truth value is expected here"),
        }
    }

    pub fn int(&mut self, e: &Ex, env: &Env) -> Res<Int> {
        match self.eval(e, env)? {
            Val::Data(Data::Int(value)) => Ok(value),
            _ => self.fail("a number is expected here"),
        }
    }

    pub fn set(&mut self, e: &Ex, env: &Env) -> Res<Rc<SetOf>> {
        match self.eval(e, env)? {
            Val::Data(Data::Set(set)) => Ok(set),
            _ => {
                self.here = e.span;
                self.fail("a set is expected here")
            }
        }
    }

    fn unary(&mut self, op: Unary, a: &Ex, env: &Env) -> Res<Val> {
        Ok(Val::Data(match op {
            Unary::Not => Data::Bool(!self.bool(a, env)?),
            Unary::Minus => Data::Int(self.int(a, env)?.neg()),
            Unary::Length => {
                let val = self.eval(a, env)?;
                Data::Int(Int::from(self.length(val)?))
            }
        }))
    }

    pub fn length(&mut self, val: Val) -> Res<usize> {
        let mut rest = self.sequence(val)?;
        let mut n = 0;
        while let Some((_, tail)) = self.uncons(rest)? {
            n += 1;
            if n > LONGEST {
                return self
                    .give_up("the length of a sequence without end, or of a very long one, is needed");
            }
            rest = tail;
        }
        Ok(n)
    }

    fn binary(&mut self, op: Binary, a: &Ex, b: &Ex, env: &Env) -> Res<Val> {
        Ok(Val::Data(match op {
            Binary::And => Data::Bool(self.bool(a, env)? && self.bool(b, env)?),
            Binary::Or => Data::Bool(self.bool(a, env)? || self.bool(b, env)?),
            Binary::Eq => Data::Bool(self.eval_data(a, env)? == self.eval_data(b, env)?),
            Binary::Ne => Data::Bool(self.eval_data(a, env)? != self.eval_data(b, env)?),
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                let (x, y) = (self.eval_data(a, env)?, self.eval_data(b, env)?);
                let holds = match op {
                    Binary::Le => self.less_equal(&x, &y)?,
                    Binary::Ge => self.less_equal(&y, &x)?,
                    Binary::Lt => x != y && self.less_equal(&x, &y)?,
                    _ => x != y && self.less_equal(&y, &x)?,
                };
                Data::Bool(holds)
            }
            Binary::Concat => {
                let first = self.eval(a, env)?;
                let second = self.delay(b, env);
                return self.concat(first, second);
            }
            _ => {
                let (x, y) = (self.int(a, env)?, self.int(b, env)?);
                match op {
                    Binary::Add => Data::Int(x.add(&y)),
                    Binary::Sub => Data::Int(x.sub(&y)),
                    Binary::Mul => Data::Int(x.mul(&y)),
                    _ => match divide(&x, &y) {
                        None => return self.fail("division by zero"),
                        Some((quotient, _)) if op == Binary::Div => Data::Int(quotient),
                        Some((_, rest)) => Data::Int(rest),
                    },
                }
            }
        }))
    }

    fn less_equal(&mut self, a: &Data, b: &Data) -> Res<bool> {
        Ok(match (a, b) {
            (Data::Int(x), Data::Int(y)) => x <= y,
            (Data::Char(x), Data::Char(y)) => x <= y,
            (Data::Set(x), Data::Set(y)) => self.is_subset(x, y)?,
            (Data::Seq(x), Data::Seq(y)) => y.starts_with(x),
            (Data::Tuple(x), Data::Tuple(y)) if x.len() == y.len() => {
                match x.iter().zip(y.iter()).find(|(p, q)| p != q) {
                    Some((p, q)) => self.less_equal(p, q)?,
                    None => true,
                }
            }
            (Data::Map(x), Data::Map(y)) => x <= y,
            _ => return self.fail(format!("{} and {} have no order", self.show(a), self.show(b))),
        })
    }

    pub fn range(&mut self, from: &Ex, to: Option<&Ex>, env: &Env) -> Res<SetOf> {
        let from = self.int(from, env)?;
        let Some(to) = to else { return Ok(SetOf::From(from)) };
        let to = self.int(to, env)?;
        let mut list = Vec::new();
        let mut at = from;
        while at <= to {
            list.push(Data::Int(at.clone()));
            at = at.add(&Int::ONE);
            self.small(list.len())?;
        }
        Ok(SetOf::Finite(list))
    }

    /// The environments that statements give, in order.
    pub fn rows(&mut self, stmts: &[Stmt], env: &Env) -> Res<Vec<Env>> {
        let mut rows = vec![env.clone()];
        for stmt in stmts {
            let mut next = Vec::new();
            for row in &rows {
                match stmt {
                    Stmt::Condition(condition) => {
                        if self.bool(condition, row)? {
                            next.push(row.clone());
                        }
                    }
                    Stmt::Generator(pat, source) => {
                        let list = match self.eval_data(source, row)? {
                            Data::Set(set) => {
                                self.here = source.span;
                                self.elements(&set)?.to_vec()
                            }
                            Data::Seq(list) => list.to_vec(),
                            _ => return self.fail("a set or a sequence is expected here"),
                        };
                        for item in list {
                            if let Some(inner) = self.matching(pat, data(item), row)? {
                                next.push(inner);
                            }
                        }
                    }
                }
                self.small(next.len())?;
            }
            rows = next;
        }
        Ok(rows)
    }

    /// The values of names in full, for the identity of what depends on them.
    pub fn bounds(&mut self, env: &Env, free: &[Sym]) -> Res<Bounds> {
        let mut out: Vec<Bound> = Vec::new();
        let mut seen: Vec<*const Instance> = Vec::new();
        let mut wanted: Vec<Sym> = free.to_vec();
        let mut at = env.clone();
        while let Some(frame) = at.0.clone() {
            if wanted.is_empty() {
                break;
            }
            match &frame.bound {
                Binding::Var(name, th) => {
                    if let Some(i) = wanted.iter().position(|w| w == name) {
                        wanted.swap_remove(i);
                        out.push(self.bound(*name, th)?);
                    }
                }
                Binding::Let(instance) => {
                    let cells = instance.cells.borrow();
                    let before = wanted.len();
                    wanted.retain(|w| !cells.contains_key(w));
                    drop(cells);
                    if wanted.len() < before && !seen.contains(&Rc::as_ptr(instance)) {
                        seen.push(Rc::as_ptr(instance));
                        let inner = self.bounds(&instance.env, &instance.group.free.clone())?;
                        let known = LetData { group: instance.group.clone(), env: inner };
                        out.push(Bound::Let(Rc::new(known)));
                    }
                }
            }
            at = frame.next.clone();
        }
        Ok(out.into())
    }

    fn bound(&mut self, name: Sym, th: &Th) -> Res<Bound> {
        match self.deep_th(th) {
            Ok(data) => Ok(Bound::Var(name, data)),
            Err(fault) if fault.circular => {
                let origin = match &*th.0.borrow() {
                    State::Expr(e, env) => Some((e.clone(), env.clone())),
                    _ => None,
                };
                let Some((e, env)) = origin else { return Err(fault) };
                Ok(Bound::Later(name, self.suspend(&e, &env)?))
            }
            Err(fault) => Err(fault),
        }
    }

    pub fn suspend(&mut self, e: &Ex, env: &Env) -> Res<Suspended> {
        Ok(Suspended { expr: e.clone(), env: self.bounds(env, &e.free)? })
    }

    /// The environment again.
    pub fn env(&mut self, bounds: &Bounds) -> Env {
        let mut env = Env::default();
        for bound in bounds.iter().rev() {
            env = match bound {
                Bound::Var(name, value) => env.with(*name, data(value.clone())),
                Bound::Later(name, suspended) => {
                    let inner = self.env(&suspended.env);
                    env.with(*name, self.delay(&suspended.expr, &inner))
                }
                Bound::Let(known) => {
                    let instance = self.instance(known);
                    env.with_let(instance)
                }
            };
        }
        env
    }

    fn instance(&mut self, known: &Rc<LetData>) -> Rc<Instance> {
        if let Some(instance) = self.instances.get(known) {
            return instance.clone();
        }
        let env = self.env(&known.env);
        let instance =
            Rc::new(Instance { group: known.group.clone(), env: env.clone(), cells: RefCell::default() });
        fill(&instance, &env.with_let(instance.clone()));
        self.instances.insert(known.clone(), instance.clone());
        instance
    }
}

/// Gives each definition of a group its cell.
fn fill(instance: &Rc<Instance>, env: &Env) {
    let mut cells = instance.cells.borrow_mut();
    for bind in &instance.group.binds {
        match bind {
            Bind::Function(name, function) => {
                let (code, env) = (Code::User(function.clone()), env.clone());
                cells.insert(
                    *name,
                    later(move |_| Ok(Val::Fun(Rc::new(Closure { code, env, args: Vec::new() })))),
                );
            }
            Bind::Value(super::core::Pat::Var(name), e) => {
                cells.insert(*name, Rc::new(Thunk(RefCell::new(State::Expr(e.clone(), env.clone())))));
            }
            Bind::Value(pat, e) => {
                let whole: Th = Rc::new(Thunk(RefCell::new(State::Expr(e.clone(), env.clone()))));
                let mut names = Vec::new();
                pat.names(&mut names);
                for name in names {
                    let (pat, whole, span) = (pat.clone(), whole.clone(), e.span);
                    let part = later(move |eval: &mut Eval| {
                        let row = eval.matching(&pat, whole, &Env::default())?;
                        match row.and_then(|row| row.find(name).map(|(_, th)| th)) {
                            Some(th) => eval.force(&th),
                            None => {
                                eval.here = span;
                                eval.fail("the value does not fit the pattern")
                            }
                        }
                    });
                    cells.insert(name, part);
                }
            }
        }
    }
}

/// Quotient and remainder, rounded down.
fn divide(a: &Int, b: &Int) -> Option<(Int, Int)> {
    let quotient = a.div(b)?;
    let rest = a.sub(&quotient.mul(b));
    if !rest.is_zero() && rest.is_negative() != b.is_negative() {
        return Some((quotient.sub(&Int::ONE), rest.add(b)));
    }
    Some((quotient, rest))
}

/// A map of pairs; the last of equal keys counts.
pub fn map_of(pairs: Vec<(Data, Data)>) -> Data {
    let map: std::collections::BTreeMap<Data, Data> = pairs.into_iter().collect();
    Data::Map(map.into_iter().collect())
}
