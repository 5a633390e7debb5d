//! Calls, patterns and sequences.
//!
//! In: functions with arguments, values with patterns. Out: values, bindings; sequences are unfolded as
//! far as they are needed. Never here: sets, processes.

use super::core::{Ex, Kind, Pat, Stmt};
use super::eval::{Eval, Next};
use super::value::{Chunk, Closure, Code, Data, Env, Res, State, Th, Val, data, done, later};
use bombus_base::Int;
use std::rc::Rc;

impl Eval {
    pub(super) fn call(&mut self, e: &Ex, function: &Ex, args: &[Ex], env: &Env) -> Res<Next> {
        let callee = self.eval(function, env)?;
        let args: Vec<Th> = args.iter().map(|a| self.delay(a, env)).collect();
        self.applied(callee, args, Some((e, env)))
    }

    /// Applies a function.
    pub fn apply(&mut self, callee: Val, args: Vec<Th>) -> Res<Val> {
        match self.applied(callee, args, None)? {
            Next::Value(val) => Ok(val),
            Next::Instead(body, env) => self.eval(&body, &env),
        }
    }

    /// What the application of a function comes to; `site` is the call itself, for processes that contain it.
    fn applied(&mut self, callee: Val, args: Vec<Th>, site: Option<(&Ex, &Env)>) -> Res<Next> {
        let closure = match callee {
            Val::Fun(closure) => closure,
            Val::Data(Data::Fun(known)) => {
                let env = self.env(&known.env);
                let args = known.args.iter().map(|g| g.iter().cloned().map(data).collect()).collect();
                Rc::new(Closure { code: known.code.clone(), env, args })
            }
            Val::Data(other) => return self.fail(format!("{} is no function", self.show(&other))),
            _ => return self.fail("this is no function"),
        };
        let function = match &closure.code {
            Code::Builtin(builtin) => {
                if builtin.is_refused() {
                    return self.fail(format!("`{}` is not supported", builtin.word()));
                }
                return self.library(*builtin, &closure.args, args, site).map(Next::Value);
            }
            Code::User(function) => function.clone(),
        };
        let mut groups = closure.args.clone();
        groups.push(args);
        let shape = &function.clauses[0].groups;
        let expected = shape[groups.len() - 1].len();
        let given = groups[groups.len() - 1].len();
        if expected != given {
            let name = function.name.map_or("this function".to_string(), |n| format!("`{}`", self.text(n)));
            return self.fail(format!("{name} takes {expected} arguments here, {given} are given"));
        }
        if groups.len() < shape.len() {
            return Ok(Next::Value(Val::Fun(Rc::new(Closure {
                code: Code::User(function),
                env: closure.env.clone(),
                args: groups,
            }))));
        }
        for clause in &function.clauses {
            let mut inner = Some(closure.env.clone());
            for (pats, args) in clause.groups.iter().zip(&groups) {
                for (pat, arg) in pats.iter().zip(args) {
                    inner = match inner {
                        Some(env) => self.matching(pat, arg.clone(), &env)?,
                        None => None,
                    };
                }
            }
            if let Some(inner) = inner {
                return Ok(Next::Instead(clause.body.clone(), inner));
            }
        }
        let mut shown = Vec::new();
        for arg in groups.iter().flatten() {
            shown.push(self.deep_th(arg).map_or("…".to_string(), |d| self.show(&d)));
        }
        let name = function.name.map_or("a function".to_string(), |n| self.text(n).to_string());
        self.fail(format!("no clause of {name} fits ({})", shown.join(", ")))
    }

    /// The environment with the names of a pattern, or `None` if the value does not fit.
    pub fn matching(&mut self, pat: &Pat, th: Th, env: &Env) -> Res<Option<Env>> {
        let fits = |yes: bool| if yes { Some(env.clone()) } else { None };
        Ok(match pat {
            Pat::Any => Some(env.clone()),
            Pat::Var(name) => Some(env.with(*name, th)),
            Pat::Both(a, b) => match self.matching(a, th.clone(), env)? {
                Some(env) => self.matching(b, th, &env)?,
                None => None,
            },
            Pat::Int(value) => fits(matches!(self.force(&th)?, Val::Data(Data::Int(n)) if n == *value)),
            Pat::Bool(value) => fits(matches!(self.force(&th)?, Val::Data(Data::Bool(b)) if b == *value)),
            Pat::Char(c) => fits(matches!(self.force(&th)?, Val::Data(Data::Char(d)) if d == *c)),
            Pat::Const(name) => {
                let wanted = self.constant(*name);
                fits(matches!(self.force(&th)?, Val::Data(d) if Some(&d) == wanted.as_ref()))
            }
            Pat::Tuple(pats) => {
                let items: Vec<Th> = match self.force(&th)? {
                    Val::Tuple(items) => items.to_vec(),
                    Val::Data(Data::Tuple(items)) => items.iter().cloned().map(data).collect(),
                    _ => return Ok(None),
                };
                if items.len() != pats.len() {
                    return Ok(None);
                }
                self.matching_all(pats, items, env)?
            }
            Pat::Seq(pats) => match self.take(&th, pats.len())? {
                Some((items, rest)) if self.uncons(rest.clone())?.is_none() => {
                    self.matching_all(pats, items, env)?
                }
                _ => None,
            },
            Pat::Around(before, middle, after) => self.around(before, middle, after, &th, env)?,
            Pat::Set(one) => match (self.force(&th)?, one) {
                (Val::Data(Data::Set(set)), one) => match (&*set, one) {
                    (super::value::SetOf::Finite(list), None) => fits(list.is_empty()),
                    (super::value::SetOf::Finite(list), Some(one)) if list.len() == 1 => {
                        self.matching(one, data(list[0].clone()), env)?
                    }
                    _ => None,
                },
                _ => None,
            },
            Pat::Dot(pats) => {
                let value = self.deep_th(&th)?;
                self.dotted(pats, value.parts(), env)?
            }
        })
    }

    fn matching_all(&mut self, pats: &[Pat], items: Vec<Th>, env: &Env) -> Res<Option<Env>> {
        let mut env = env.clone();
        for (pat, item) in pats.iter().zip(items) {
            match self.matching(pat, item, &env)? {
                Some(inner) => env = inner,
                None => return Ok(None),
            }
        }
        Ok(Some(env))
    }

    /// The first elements of a sequence and its rest.
    fn take(&mut self, th: &Th, n: usize) -> Res<Option<(Vec<Th>, Val)>> {
        let val = self.force(th)?;
        let Ok(mut rest) = self.sequence(val) else { return Ok(None) };
        let mut items = Vec::new();
        for _ in 0..n {
            match self.uncons(rest)? {
                Some((head, tail)) => {
                    items.push(head);
                    rest = tail;
                }
                None => return Ok(None),
            }
        }
        Ok(Some((items, rest)))
    }

    fn around(
        &mut self,
        before: &[Pat],
        middle: &Pat,
        after: &[Pat],
        th: &Th,
        env: &Env,
    ) -> Res<Option<Env>> {
        let Some((items, rest)) = self.take(th, before.len())? else { return Ok(None) };
        let Some(env) = self.matching_all(before, items, env)? else { return Ok(None) };
        if after.is_empty() {
            return self.matching(middle, done(rest), &env);
        }
        let mut all = Vec::new();
        let mut at = rest;
        while let Some((head, tail)) = self.uncons(at)? {
            all.push(head);
            at = tail;
        }
        if all.len() < after.len() {
            return Ok(None);
        }
        let last = all.split_off(all.len() - after.len());
        let inner = Val::Seq(Chunk { items: all.into(), from: 0, rest: None });
        match self.matching(middle, done(inner), &env)? {
            Some(env) => self.matching_all(after, last, &env),
            None => Ok(None),
        }
    }

    /// A dotted pattern: each part takes one whole value, the last one the rest.
    pub fn dotted(&mut self, pats: &[Pat], parts: &[Data], env: &Env) -> Res<Option<Env>> {
        let mut env = env.clone();
        let mut at = 0;
        for (i, pat) in pats.iter().enumerate() {
            if at >= parts.len() {
                return Ok(None);
            }
            let len = if i + 1 == pats.len() { parts.len() - at } else { self.extent(pat, &parts[at..]) };
            if at + len > parts.len() {
                return Ok(None);
            }
            let value = Data::dotted(parts[at..at + len].to_vec());
            match self.matching(pat, data(value), &env)? {
                Some(inner) => env = inner,
                None => return Ok(None),
            }
            at += len;
        }
        Ok((at == parts.len()).then_some(env))
    }

    /// How many parts a pattern takes that others follow.
    pub fn extent(&mut self, pat: &Pat, parts: &[Data]) -> usize {
        match pat {
            Pat::Const(_) => 1,
            Pat::Dot(list) => {
                let mut at = 0;
                for pat in list {
                    at += self.extent(pat, parts.get(at..).unwrap_or(&[]));
                }
                at
            }
            Pat::Both(a, b) => self.extent(a, parts).max(self.extent(b, parts)),
            _ => self.whole(parts).unwrap_or(parts.len().max(1)),
        }
    }

    /// A sequence as a row of elements with a rest.
    pub fn sequence(&mut self, val: Val) -> Res<Val> {
        match val {
            Val::Seq(_) => Ok(val),
            Val::Data(Data::Seq(list)) => {
                let items: Vec<Th> = list.iter().cloned().map(data).collect();
                Ok(Val::Seq(Chunk { items: items.into(), from: 0, rest: None }))
            }
            _ => self.fail("a sequence is expected here"),
        }
    }

    /// Head and tail of a sequence that is not empty.
    pub fn uncons(&mut self, val: Val) -> Res<Option<(Th, Val)>> {
        let mut val = self.sequence(val)?;
        loop {
            let Val::Seq(chunk) = &val else { return self.fail("a sequence is expected here") };
            if let Some(head) = chunk.items.get(chunk.from) {
                let tail = Chunk { from: chunk.from + 1, ..chunk.clone() };
                return Ok(Some((head.clone(), Val::Seq(tail))));
            }
            let Some(rest) = chunk.rest.clone() else { return Ok(None) };
            let next = self.force(&rest)?;
            val = self.sequence(next)?;
        }
    }

    pub fn concat(&mut self, first: Val, second: Th) -> Res<Val> {
        let first = self.sequence(first)?;
        let Val::Seq(chunk) = &first else { return self.fail("a sequence is expected here") };
        let known = match &*second.0.borrow() {
            State::Done(val) => Some(val.clone()),
            _ => None,
        };
        match (&chunk.rest, known) {
            (None, Some(val)) => {
                let Val::Seq(other) = self.sequence(val)? else {
                    return self.fail("a sequence is expected here");
                };
                let items = chunk.items[chunk.from..].iter().chain(&other.items[other.from..]).cloned();
                Ok(Val::Seq(Chunk { items: items.collect(), from: 0, rest: other.rest }))
            }
            (None, None) => Ok(Val::Seq(Chunk { rest: Some(second), ..chunk.clone() })),
            (Some(rest), _) => {
                let rest = rest.clone();
                let joined = later(move |eval: &mut Eval| {
                    let first = eval.force(&rest)?;
                    eval.concat(first, second)
                });
                Ok(Val::Seq(Chunk { rest: Some(joined), ..chunk.clone() }))
            }
        }
    }

    /// The elements of a comprehension from a statement on, and then the rest.
    pub fn stream(&mut self, e: Ex, at: usize, env: Env, rest: Option<Th>) -> Res<Val> {
        let empty = |eval: &mut Eval, rest: Option<Th>| match rest {
            Some(rest) => eval.force(&rest),
            None => Ok(Val::Seq(Chunk { items: Rc::new([]), from: 0, rest: None })),
        };
        let stmts: &[Stmt] = match &e.kind {
            Kind::Seq(_, stmts) | Kind::SeqRange(_, _, stmts) => stmts,
            _ => &[],
        };
        match stmts.get(at) {
            None => match &e.kind {
                Kind::Seq(list, _) => {
                    let items = list.iter().map(|e| self.delay(e, &env)).collect();
                    Ok(Val::Seq(Chunk { items, from: 0, rest }))
                }
                Kind::SeqRange(from, Some(to), _) => {
                    let (from, to) = (self.int(from, &env)?, self.int(to, &env)?);
                    let mut items = Vec::new();
                    let mut n = from;
                    while n <= to {
                        items.push(data(Data::Int(n.clone())));
                        n = n.add(&Int::ONE);
                        self.small(items.len())?;
                    }
                    Ok(Val::Seq(Chunk { items: items.into(), from: 0, rest }))
                }
                Kind::SeqRange(from, None, _) => {
                    let from = self.int(from, &env)?;
                    Ok(counting(from))
                }
                _ => self.fail("this is no sequence"),
            },
            Some(Stmt::Condition(condition)) => {
                if self.bool(&condition.clone(), &env)? {
                    self.stream(e, at + 1, env, rest)
                } else {
                    empty(self, rest)
                }
            }
            Some(Stmt::Generator(_, source)) => {
                let source = match self.eval(&source.clone(), &env)? {
                    Val::Data(Data::Set(set)) => Val::Data(Data::Seq(self.elements(&set)?.to_vec().into())),
                    other => other,
                };
                self.generate(e, at, env, source, rest)
            }
        }
    }

    fn generate(&mut self, e: Ex, at: usize, env: Env, source: Val, rest: Option<Th>) -> Res<Val> {
        let stmts = match &e.kind {
            Kind::Seq(_, stmts) | Kind::SeqRange(_, _, stmts) => stmts.clone(),
            _ => return self.fail("no generator"),
        };
        let Stmt::Generator(pat, _) = &stmts[at] else { return self.fail("no generator") };
        let mut source = source;
        'next: while let Some((head, tail)) = self.uncons(source)? {
            source = tail;
            let Some(inner) = self.matching(pat, head, &env)? else { continue };
            // Conditions are looked at here, so that elements that do not meet them cost no depth.
            let mut after = at + 1;
            while let Some(Stmt::Condition(condition)) = stmts.get(after) {
                if !self.bool(condition, &inner)? {
                    continue 'next;
                }
                after += 1;
            }
            let (again, outer) = (e.clone(), env);
            let more = later(move |eval: &mut Eval| eval.generate(again, at, outer, source, rest));
            return self.stream(e, after, inner, Some(more));
        }
        match rest {
            Some(rest) => self.force(&rest),
            None => Ok(Val::Seq(Chunk { items: Rc::new([]), from: 0, rest: None })),
        }
    }
}

/// All integers from one on.
fn counting(from: Int) -> Val {
    let next = from.add(&Int::ONE);
    Val::Seq(Chunk {
        items: Rc::new([data(Data::Int(from))]),
        from: 0,
        rest: Some(later(move |_| Ok(counting(next)))),
    })
}
