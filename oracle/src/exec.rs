//! What substitutions and operations do: the set of their outcomes, and what goes wrong on the way.
//!
//! In: an environment whose outermost names are the constants and the variables, and a substitution. Out: outcomes as
//! the variables that were written; findings beside them. An infeasible branch (a miracle) has no outcome.
//! Never here: which states are reachable (that is `search`).

use crate::eval::{Env, Oracle, Res, Slot, Stop, Undefined, from};
use crate::pred::unlisted;
use crate::sets::{Set, listed};
use crate::tree::{Expr, Loop, Name, Operation, Pred, Step, Subst, Target, Var, words};
use crate::value::Value;
use std::{borrow::Cow, collections::BTreeMap};

/// The variables that a substitution has written.
pub type Writes = BTreeMap<Name, Value>;

words! {
    /// The kinds of findings. A false ASSERT and a loop without its invariant or variant are assertions.
    Kind {
        Invariant "invariant", Assertion "assertion", Deadlock "deadlock", WellDefinedness "well-definedness",
        Goal "goal", Precondition "precondition", Properties "properties", Refinement "refinement",
        Variant "variant",
    }
}

/// Something wrong: its kind, why, and the label or position of the predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    pub why: String,
    pub place: String,
    /// The operation whose execution is wrong, with the values of its parameters.
    pub event: Option<(Name, Vec<Value>)>,
}

/// One transition of an operation from a given state; a result is `None` if no value was assigned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transition {
    pub params: Vec<Value>,
    pub results: Vec<Option<Value>>,
    pub writes: Writes,
}

/// How the conditions of a substitution are read.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Outermost: a PRE is a guard, and so are SELECT and ANY.
    Outermost,
    /// Directly behind a guard: SELECT and ANY are guards, a PRE must hold.
    BehindGuard,
    /// In an action: whatever is undefined is a finding.
    Action,
}

impl Place {
    fn behind(self) -> Place {
        if self == Place::Action { Place::Action } else { Place::BehindGuard }
    }
}

/// Operations may call each other so deeply; no machine of B calls an operation from within itself.
const CALLS: usize = 100;

/// The labels of a branch of a CASE, and what it does.
type Case = (Vec<Expr>, Subst);
/// The outcomes of a substitution.
type Outcomes = Res<Vec<Writes>>;
/// The transitions of an operation.
type Steps = Res<Vec<Transition>>;

/// One execution. With `want`, outcomes that differ from these values may be left out, and findings of other outcomes.
pub struct Run<'a> {
    oracle: &'a Oracle<'a>,
    want: Option<&'a Writes>,
    /// Operations that called each other and have not returned.
    calls: usize,
    pub findings: Vec<Finding>,
    /// Bindings for which a guard was undefined; they count as not enabled.
    pub undefined_guards: Vec<Undefined>,
}

impl<'a> Run<'a> {
    /// An execution that has noticed nothing yet.
    pub fn new(oracle: &'a Oracle<'a>, want: Option<&'a Writes>) -> Run<'a> {
        Run { oracle, want, calls: 0, findings: Vec::new(), undefined_guards: Vec::new() }
    }

    /// The outcomes of the initialisation, from an environment whose variables have no value.
    pub fn initialise(&mut self, env: &Env) -> Outcomes {
        self.run(env, &self.oracle.machine.initialisation, Place::Action)
    }

    /// The transitions of an operation; with `params`, only those with these parameters.
    pub fn operation(&mut self, env: &Env, op: &Operation, params: Option<&[Value]>) -> Steps {
        let mut env = env.clone();
        env.before = env.machine.clone();
        op.results.iter().for_each(|(r, _)| env.push(r, Slot::Unassigned));
        params.into_iter().flatten().zip(&op.params).for_each(|(v, (p, _))| env.bind(p, v.clone()));
        let open = if params.is_some() { &[] } else { &op.params[..] };
        let mut out = self.guarded(&env, op, open, &op.body, Place::Outermost)?;
        out.sort();
        out.dedup();
        Ok(out)
    }

    /// Finds the values of the variables for which the outermost guard holds; the guard bounds the variables.
    fn guarded(&mut self, env: &Env, op: &Operation, vars: &[Var], s: &Subst, at: Place) -> Steps {
        let (oracle, mut out) = (self.oracle, Vec::new());
        let behind = Place::BehindGuard;
        let own = || Cow::Borrowed(vars);
        let branches: Vec<(Cow<[Var]>, &Pred, &Subst, Place)> = match s {
            Subst::Pre(p, s) if at == Place::Outermost => vec![(own(), p, s, at)],
            Subst::Any(xs, p, s) if vars.is_empty() => vec![(Cow::Borrowed(xs), p, s, behind)],
            Subst::Any(xs, p, s) => vec![([vars, xs].concat().into(), p, s, behind)],
            Subst::Select(branches, None) => branches.iter().map(|(p, s)| (own(), p, s, behind)).collect(),
            Subst::Choice(branches) => {
                for s in branches {
                    out.extend(self.guarded(env, op, vars, s, behind)?);
                }
                return Ok(out);
            }
            s => vec![(own(), &Pred::True, s, at)],
        };
        for (vars, guard, s, at) in branches {
            let visited = oracle.bindings(env, &vars, guard, &mut |env, truth| {
                match truth {
                    Ok(()) => out.extend(self.fire(env, op, s, at)?),
                    Err(u) => self.undefined_guards.push(*u),
                }
                Ok(())
            });
            visited.map_err(|stop| unlisted(stop, &op.name, &vars))?;
        }
        Ok(out)
    }

    /// The transitions of an operation whose parameters have values.
    fn fire(&mut self, env: &Env, op: &Operation, s: &Subst, at: Place) -> Steps {
        let values = op.params.iter().map(|(p, _)| self.oracle.eval(env, &Expr::Var(p.clone())));
        let params = values.collect::<Res<Vec<_>>>()?;
        let before = self.findings.len();
        let mut out = Vec::new();
        for mut writes in self.run(env, s, at)? {
            let results: Vec<_> = op.results.iter().map(|(r, _)| writes.remove(r)).collect();
            if results.contains(&None) {
                self.find(Kind::WellDefinedness, "a result has no value", "");
            }
            out.push(Transition { params: params.clone(), results, writes });
        }
        let new = &mut self.findings[before..];
        new.iter_mut().for_each(|f| f.event = Some((op.name.clone(), params.clone())));
        Ok(out)
    }

    fn find(&mut self, kind: Kind, why: impl Into<String>, place: &str) {
        let (why, place) = (why.into(), place.to_string());
        self.findings.push(Finding { kind, why, place, event: None });
    }

    fn undefined(&mut self, u: Undefined, at: Place) {
        match at {
            Place::Action => self.find(Kind::WellDefinedness, u.why, &u.place),
            _ => self.undefined_guards.push(u),
        }
    }

    /// The value, or nothing and a note that there is none.
    fn defined<T>(&mut self, r: Res<T>, at: Place) -> Res<Option<T>> {
        match r {
            Err(Stop::Undefined(u)) => {
                self.undefined(*u, at);
                Ok(None)
            }
            r => r.map(Some),
        }
    }

    /// Whether a condition of an action holds; nothing if that is undefined.
    fn truth(&mut self, env: &Env, p: &Pred) -> Res<Option<bool>> {
        self.defined(self.oracle.holds(env, p), Place::Action)
    }

    fn act(&mut self, env: &Env, s: &Subst) -> Outcomes {
        self.run(env, s, Place::Action)
    }

    fn run(&mut self, env: &Env, s: &Subst, at: Place) -> Outcomes {
        self.oracle.tick()?;
        match s {
            Subst::Skip => Ok(vec![Writes::new()]),
            Subst::Assign(_) => self.at_once(env, std::slice::from_ref(s)),
            Subst::In(xs, e) => self.becomes_in(env, xs, e),
            Subst::Such(vars, p) => self.becomes_such(env, vars, p),
            Subst::Pre(p, s) if at == Place::Outermost => {
                let holds = self.defined(self.oracle.holds(env, p), at)? == Some(true);
                if holds { self.run(env, s, at) } else { Ok(Vec::new()) }
            }
            Subst::Pre(p, s) => self.demand(env, p, s, Kind::Precondition, "the precondition is false"),
            Subst::Assert(duty, p, s) => {
                let kind = Kind::named(duty.word()).expect("every duty is a kind of finding");
                self.demand(env, p, s, kind, "the ASSERT is false")
            }
            Subst::Witness(p, s) => self.demand(env, p, s, Kind::Assertion, "the WITNESS is false"),
            Subst::Choice(branches) => self.union(branches.iter(), env, at.behind()),
            Subst::If(branches, otherwise) => {
                for (p, s) in branches {
                    match self.truth(env, p)? {
                        Some(false) => {}
                        chosen => return chosen.map_or(Ok(Vec::new()), |_| self.act(env, s)),
                    }
                }
                self.act(env, otherwise.as_deref().unwrap_or(&Subst::Skip))
            }
            Subst::Select(branches, otherwise) => {
                let mut truths = Vec::new();
                for (p, s) in branches {
                    truths.push((self.defined(self.oracle.holds(env, p), at)?, s));
                }
                let none = truths.iter().all(|t| t.0 == Some(false));
                let enabled = truths.iter().filter(|t| t.0 == Some(true)).map(|t| t.1);
                self.union(enabled.chain(otherwise.as_deref().filter(|_| none)), env, at.behind())
            }
            Subst::Case(e, branches, otherwise) => self.case(env, e, branches, otherwise.as_deref()),
            Subst::Any(vars, p, s) => {
                let (oracle, mut out) = (self.oracle, Vec::new());
                let visited = oracle.bindings(env, vars, p, &mut |env, truth| {
                    match truth {
                        Ok(()) => out.extend(self.run(env, s, at.behind())?),
                        Err(u) => self.undefined(*u, at),
                    }
                    Ok(())
                });
                visited.map_err(|stop| unlisted(stop, "ANY", vars)).map(|()| out)
            }
            Subst::Let(bs, s) => {
                let inside = self.defined(self.oracle.let_in(env, bs), Place::Action)?;
                inside.map_or(Ok(Vec::new()), |env| self.act(&env, s))
            }
            Subst::Var(xs, s) => {
                let mut env = env.clone();
                xs.iter().for_each(|x| env.push(x, Slot::Unassigned));
                let mut out = self.any_outcome(&env, s)?;
                out.iter_mut().for_each(|w| w.retain(|n, _| !xs.contains(n)));
                Ok(out)
            }
            Subst::While(l) => self.repeat(env, l),
            Subst::Call(name, args, targets) => self.call(env, name, args, targets),
            Subst::Seq(parts) => self.one_after_another(env, parts),
            Subst::Par(parts) => self.at_once(env, parts),
        }
    }

    /// All outcomes, whichever are wanted in the end.
    fn any_outcome(&mut self, env: &Env, s: &Subst) -> Outcomes {
        let want = self.want.take();
        let out = self.act(env, s);
        self.want = want;
        out
    }

    fn union<'s>(&mut self, parts: impl Iterator<Item = &'s Subst>, env: &Env, at: Place) -> Outcomes {
        let mut out = Vec::new();
        for s in parts {
            out.extend(self.run(env, s, at)?);
        }
        Ok(out)
    }

    /// `S;T`. Only the last part is known to decide about what is wanted.
    fn one_after_another(&mut self, env: &Env, parts: &[Subst]) -> Outcomes {
        let mut out = vec![(env.clone(), Writes::new())];
        for (i, s) in parts.iter().enumerate() {
            for (env, writes) in std::mem::take(&mut out) {
                let last = i + 1 == parts.len();
                let new = if last { self.act(&env, s)? } else { self.any_outcome(&env, s)? };
                out.extend(new.into_iter().map(|w| after(&env, &writes, w)));
            }
        }
        Ok(out.into_iter().map(|o| o.1).collect())
    }

    /// `S||T`: all parts start from the same values.
    fn at_once(&mut self, env: &Env, parts: &[Subst]) -> Outcomes {
        let plain = parts.iter().map(|s| if let Subst::Assign(parts) = s { Some(parts) } else { None });
        if let Some(all) = plain.collect::<Option<Vec<_>>>() {
            let written = self.assign(env, all.into_iter().flatten());
            return Ok(self.defined(written, Place::Action)?.into_iter().collect());
        }
        let mut out = vec![Writes::new()];
        for s in parts {
            let right = self.act(env, s)?;
            let both = out.iter().flat_map(|l| right.iter().map(move |r| (l.clone(), r.clone())));
            out = both.map(|(l, r)| self.oracle.tick().and_then(|()| disjoint(l, r))).collect::<Res<_>>()?;
        }
        Ok(out)
    }

    /// A condition that must hold before a substitution.
    fn demand(&mut self, env: &Env, p: &Pred, s: &Subst, kind: Kind, why: &str) -> Outcomes {
        match self.truth(env, p)? {
            Some(true) => return self.act(env, s),
            Some(false) => self.find(kind, why, label(p)),
            None => {}
        }
        Ok(Vec::new())
    }

    fn assign<'p>(&self, env: &Env, parts: impl IntoIterator<Item = &'p (Target, Expr)>) -> Res<Writes> {
        let mut writes = Writes::new();
        for (target, e) in parts {
            let v = self.oracle.eval(env, e)?;
            let new = if target.path.is_empty() {
                v
            } else {
                let old = self.oracle.eval(env, &Expr::Var(target.var.clone()))?;
                self.replaced(env, old, &target.path, v)?
            };
            if writes.insert(target.var.clone(), new).is_some() {
                return Err(Stop::ill("a variable that is written once"));
            }
        }
        Ok(writes)
    }

    /// The value with the place at the end of the path replaced.
    fn replaced(&self, env: &Env, old: Value, path: &[Step], v: Value) -> Res<Value> {
        match path.split_first() {
            None => Ok(v),
            Some((Step::Field(f), rest)) => {
                let Value::Record(fields) = &old else { return Err(Stop::ill("a record")) };
                let mut fields = fields.to_vec();
                let field = fields.iter_mut().find(|(n, _)| n == f).ok_or_else(|| Stop::ill("a field"))?;
                field.1 = self.replaced(env, field.1.clone(), rest, v)?;
                Ok(Value::record(fields))
            }
            Some((Step::Index(i), rest)) => {
                let i = self.oracle.eval(env, i)?;
                let at = |e: &Value| Box::new(Expr::Const(e.clone()));
                let new = match rest {
                    [] => v,
                    _ => {
                        let inner = self.oracle.eval(env, &Expr::Apply(at(&old), at(&i)))?;
                        self.replaced(env, inner, rest, v)?
                    }
                };
                let other = |p: &&Value| p.sides().is_none_or(|(x, _)| *x != i);
                let mut pairs: Vec<Value> = listed(&old)?.iter().filter(other).cloned().collect();
                // Pairs are sorted by their first sides, and no other has this one.
                pairs.insert(pairs.len() - from(&pairs, &i).len(), Value::pair(i, new));
                Ok(Value::Set(pairs.into()))
            }
        }
    }

    fn becomes_in(&mut self, env: &Env, xs: &[Name], e: &Expr) -> Outcomes {
        let Some(set) = self.defined(self.oracle.set(env, e), Place::Action)? else { return Ok(Vec::new()) };
        let wanted = self
            .want
            .and_then(|w| Value::join(xs.iter().map(|x| w.get(x).cloned()).collect::<Option<Vec<_>>>()?));
        let set = match wanted {
            Some(v) if self.oracle.member(&v, &set)? => Set::of(vec![v]),
            Some(_) => Set::of(vec![]),
            None => set,
        };
        let mut out = Vec::new();
        self.oracle.each(&set, &mut |v| {
            let parts = v.split(xs.len()).ok_or_else(|| Stop::ill("a pair"))?;
            out.push(xs.iter().cloned().zip(parts).collect());
            Ok(())
        })?;
        Ok(out)
    }

    fn becomes_such(&mut self, env: &Env, vars: &[Var], p: &Pred) -> Outcomes {
        let mut env = env.clone();
        env.remember(vars.iter().map(|v| v.0.clone()).collect());
        let wanted = |(x, _): &Var| self.want?.get(x).map(|v| (x.clone(), v.clone()));
        if let Some(wanted) = vars.iter().map(wanted).collect::<Option<Writes>>() {
            wanted.iter().for_each(|(x, v)| env.bind(x, v.clone()));
            return Ok(if self.truth(&env, p)? == Some(true) { vec![wanted] } else { Vec::new() });
        }
        let (oracle, mut out) = (self.oracle, Vec::new());
        let visited = oracle.bindings(&env, vars, p, &mut |env, truth| {
            if let Err(u) = truth {
                self.undefined(*u, Place::Action);
                return Ok(());
            }
            let new = vars.iter().map(|(x, _)| Ok((x.clone(), oracle.eval(env, &Expr::Var(x.clone()))?)));
            out.push(new.collect::<Res<Writes>>()?);
            Ok(())
        });
        visited.map_err(|stop| unlisted(stop, ":(P)", vars)).map(|()| out)
    }

    fn case(&mut self, env: &Env, e: &Expr, all: &[Case], otherwise: Option<&Subst>) -> Outcomes {
        let chosen = self.oracle.eval(env, e).and_then(|v| {
            for (l, s) in all.iter().flat_map(|(labels, s)| labels.iter().map(move |l| (l, s))) {
                if self.oracle.eval(env, l)? == v {
                    return Ok(s);
                }
            }
            Ok(otherwise.unwrap_or(&Subst::Skip))
        });
        let chosen = self.defined(chosen, Place::Action)?;
        chosen.map_or(Ok(Vec::new()), |s| self.act(env, s))
    }

    /// A loop. Before each round the invariant must hold; when a round begins the variant must be a natural number
    /// smaller than at the round before. In the invariant and the variant `x$0` is the value before the loop.
    fn repeat(&mut self, env: &Env, l: &Loop) -> Outcomes {
        let mut first = env.clone();
        first.remember(env.machine.iter().chain(&env.slots).map(|s| s.0.clone()).collect());
        let mut out = Vec::new();
        let mut open = vec![(env.clone(), Writes::new(), None::<Value>)];
        while let Some((env, writes, last)) = open.pop() {
            let looking = after(&first, &Writes::new(), writes.clone()).0;
            let invariant = self.truth(&looking, &l.invariant)?;
            if invariant == Some(false) {
                self.find(Kind::Assertion, "the loop invariant is false", label(&l.invariant));
            }
            let go_on = if invariant == Some(true) { self.truth(&env, &l.condition)? } else { None };
            out.extend((go_on == Some(false)).then(|| writes.clone()));
            let variant = go_on.filter(|go_on| *go_on).map(|_| self.oracle.eval(&looking, &l.variant));
            let Some(v) = variant.map_or(Ok(None), |v| self.defined(v, Place::Action))? else { continue };
            if v < Value::int(0) || last.is_some_and(|last| v >= last) {
                self.find(Kind::Assertion, "the loop variant is negative or does not decrease", "");
                continue;
            }
            for new in self.any_outcome(&env, &l.body)? {
                let (env, writes) = after(&env, &writes, new);
                open.push((env, writes, Some(v.clone())));
            }
        }
        Ok(out)
    }

    fn call(&mut self, env: &Env, name: &Name, args: &[Expr], targets: &[Target]) -> Outcomes {
        let machine = self.oracle.machine;
        let op = machine.operation(name).ok_or_else(|| Stop::ill("an operation"))?;
        let args = args.iter().map(|e| self.oracle.eval(env, e)).collect::<Res<Vec<_>>>();
        let Some(args) = self.defined(args, Place::Action)? else { return Ok(Vec::new()) };
        if args.len() != op.params.len() || targets.len() != op.results.len() {
            return Err(Stop::ill("another number of arguments or results"));
        }
        let mut inside = Env { slots: Vec::new(), ..env.clone() };
        op.params.iter().zip(args).for_each(|((p, _), v)| inside.bind(p, v));
        op.results.iter().for_each(|(r, _)| inside.push(r, Slot::Unassigned));
        self.calls += 1;
        let wrong = Stop::ill("an operation that does not call itself");
        let outcomes = if self.calls > CALLS { Err(wrong) } else { self.any_outcome(&inside, &op.body) };
        self.calls -= 1;
        let mut out = Vec::new();
        for mut writes in outcomes? {
            let results: Option<Vec<_>> = op.results.iter().map(|(r, _)| writes.remove(r)).collect();
            let Some(results) = results else {
                self.find(Kind::WellDefinedness, format!("a result of {name} has no value"), "");
                continue;
            };
            let parts: Vec<_> = targets.iter().cloned().zip(results.into_iter().map(Expr::Const)).collect();
            let assigned = self.assign(env, &parts);
            if let Some(assigned) = self.defined(assigned, Place::Action)? {
                out.push(disjoint(writes, assigned)?);
            }
        }
        Ok(out)
    }
}

/// Writes of two sides that may not write the same variable.
fn disjoint(mut a: Writes, b: Writes) -> Res<Writes> {
    if b.keys().any(|k| a.contains_key(k)) {
        return Err(Stop::ill("a variable that is written once"));
    }
    a.extend(b);
    Ok(a)
}

/// The environment and all writes after some more writes.
fn after(env: &Env, writes: &Writes, new: Writes) -> (Env, Writes) {
    let (mut env, mut writes) = (env.clone(), writes.clone());
    for (n, v) in new {
        if let Some(slot) = env.slot(&n) {
            *slot = Slot::Value(v.clone());
        }
        writes.insert(n, v);
    }
    (env, writes)
}

/// The label of a predicate, if it has one.
fn label(p: &Pred) -> &str {
    if let Pred::At(l, _) = p { l } else { "" }
}
