//! Search with propagation, for choices whose plain enumeration would explode.
//!
//! In: unknown variables and the conjuncts still open, as `solve` has them. Out: calls of the sink of
//! `solve`, once per solution. Unknowns that lie in finite sets become finite-domain variables, conjuncts
//! become constraints between them, quantifiers over known ranges are unrolled; then the variable with the
//! fewest values left is tried first.
//! Propagation only ever removes valuations that make some conjunct false. Every candidate that is left is
//! tested by the interpreter as if it had been enumerated, so what is translated badly, or not at
//! all, costs time and never a solution; and what has no value is found as before.

mod cliques;
mod expr;
mod guards;
mod inline;
mod instances;
mod member;
mod pred;
mod rows;
mod sequences;
mod shape;
mod table;
mod term;

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::solve::finite_domains::{Conflict, Fd, Lit, Network, Sum};
use crate::solve::functions::be_lenient;
use crate::solve::order::{Item, Sink};
use crate::solve::plan::Conjunct;
use bombus_base::hash::HashMap;
use bombus_lang::typed::{ExprKind, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};
use pred::Sense;
use std::sync::Arc;
use term::Term;

/// Base-2 logarithm of a number of candidates that is worth the translation.
pub(crate) const WORTH: f64 = 11.0;
/// What each further unknown adds to the estimate.
const EACH: f64 = 1.5;
/// A single variable with fewer values is enumerated as well without constraints.
const SINGLE: u64 = 1 << 12;
/// Wider domains are halved rather than tried value by value.
const HALVED: u64 = 1 << 8;

/// Work of constraints between two looks at the budget, in runs of a small one.
const RUNS: usize = 1 << 12;

/// Why something was not translated.
enum Halt {
    /// It is not understood.
    Opaque,
    /// It has no value, whatever the unknowns are.
    Undefined,
    /// It has no value, because a function that is chosen is applied where it cannot have one, and nothing else is asked
    /// for before that.
    Misapplied,
    /// The budget is used up.
    Stop(Error),
}

impl From<Error> for Halt {
    fn from(e: Error) -> Halt {
        if e.is_stop() { Halt::Stop(e) } else { Halt::Opaque }
    }
}

impl Halt {
    /// What is said of a part that only some valuations need.
    fn somewhere(self) -> Halt {
        match self {
            Halt::Stop(e) => Halt::Stop(e),
            _ => Halt::Opaque,
        }
    }
}

type Built<T> = Result<T, Halt>;

/// A conjunct that was not translated as a whole, tested when its variables are fixed.
struct Test {
    conjunct: Arc<Conjunct>,
    vars: Vec<Fd>,
    /// The depth of the search at which it was found true.
    passed: Option<usize>,
}

struct Builder<'b, 'm> {
    interp: &'b Interpreter<'m>,
    net: Network,
    /// All variables without a value in the environment.
    unknown: Vec<VarId>,
    /// What stands for the unknowns, as far as it is known.
    terms: HashMap<VarId, Term>,
    /// The variables the search decides about.
    base: Vec<Fd>,
    /// Values that are no numbers or elements, by code.
    coded: Vec<Value>,
    numbers: HashMap<Value, i64>,
    equal: HashMap<(Sum, i64), Lit>,
    at_most: HashMap<(Sum, i64), Lit>,
    ors: HashMap<Box<[Lit]>, Lit>,
    /// Rows of tables for membership of pairs, by the codes of the set and of both sides.
    pairs: HashMap<[Vec<i64>; 3], Arc<[i64]>>,
    /// Some part of the conjunct in hand was left out.
    weak: bool,
    /// A valuation for which the conjunct in hand applies a function that is chosen outside its domain is not wanted.
    strict: bool,
    /// How many lambdas the expression in hand was found inside of.
    depth: usize,
}

impl Interpreter<'_> {
    /// Whether a choice with this many candidates (as a base-2 logarithm) and unknowns is worth it.
    pub(crate) fn explodes(&self, env: &Env, cost: f64, unknown: usize) -> bool {
        !env.enumerating
            && !env.searching
            && cost > 1.0
            && !self.alone.get()
            && self.propagation.is_some_and(|worth| cost + EACH * (unknown as f64 - 1.0) >= worth)
    }

    /// Searches with propagation; `None` if that promises nothing here.
    pub(crate) fn search_network(
        &self,
        env: &mut Env,
        unknown: &[VarId],
        open: &[Item],
        pending: &Option<Error>,
        sink: Sink,
    ) -> Res<Option<Flow>> {
        let mut open = open.to_vec();
        let mut builder = Builder::new(self, unknown);
        let shaped = match builder.shape_unknowns(env, &open) {
            Ok(shaped) => shaped,
            Err(Halt::Stop(e)) => return Err(e),
            Err(_) => return Ok(None),
        };
        if shaped.is_empty() || !builder.is_worth_it() {
            return Ok(None);
        }
        for v in shaped.iter().filter(|v| self.is_chosen(**v) && builder.is_partial(**v)) {
            be_lenient(&mut open, *v);
        }
        let tests = match builder.translate(env, &open, &shaped) {
            Ok(Some(tests)) => tests,
            Ok(None) => return Ok(None),
            Err(Halt::Stop(e)) => return Err(e),
            Err(_) => return Ok(Some(Flow::Go)),
        };
        let rest: Vec<VarId> = unknown.iter().copied().filter(|v| !shaped.contains(v)).collect();
        let before = std::mem::replace(&mut env.enumerating, true);
        let flow = builder.explore(env, &shaped, tests, &mut |env| {
            env.enumerating = rest.is_empty();
            self.search(env, &rest, open.clone(), pending.clone(), sink)
        });
        env.enumerating = before;
        flow.map(Some)
    }
}

impl<'b, 'm> Builder<'b, 'm> {
    fn new(interp: &'b Interpreter<'m>, unknown: &[VarId]) -> Builder<'b, 'm> {
        Builder {
            interp,
            net: Network::new(),
            unknown: unknown.to_vec(),
            terms: HashMap::new(),
            base: Vec::new(),
            coded: Vec::new(),
            numbers: HashMap::new(),
            equal: HashMap::new(),
            at_most: HashMap::new(),
            ors: HashMap::new(),
            pairs: HashMap::new(),
            weak: false,
            strict: false,
            depth: 0,
        }
    }

    fn is_unknown(&self, v: VarId) -> bool {
        self.unknown.contains(&v) || self.terms.contains_key(&v)
    }

    fn restore_terms(&mut self, saved: Vec<(VarId, Option<Term>)>) {
        for (v, t) in saved.into_iter().rev() {
            match t {
                Some(t) => self.terms.insert(v, t),
                None => self.terms.remove(&v),
            };
        }
    }

    /// Whether an unknown is a function that may leave points out.
    fn is_partial(&self, v: VarId) -> bool {
        matches!(self.terms.get(&v), Some(Term::Func(f)) if f.rows.iter().any(|r| r.lit != Lit::TRUE))
    }

    /// Enough choices that constraints can save some.
    fn is_worth_it(&self) -> bool {
        match self.base[..] {
            [] => false,
            [v] => self.net.domains.size(v) >= SINGLE || self.interp.propagation < Some(1.0),
            _ => true,
        }
    }

    /// Gives a term to every unknown that lies in a finite set; returns those.
    fn shape_unknowns(&mut self, env: &mut Env, open: &[Item]) -> Built<Vec<VarId>> {
        let intervals = match self.interp.intervals(env, &self.unknown, open)? {
            Some(intervals) => intervals,
            None => return Ok(Vec::new()),
        };
        let mut shaped = Vec::new();
        for v in self.unknown.clone() {
            let ty = self.interp.type_of(v);
            let mut offers: Vec<Value> = Vec::new();
            for item in open {
                let c = &item.conjunct;
                let PredKind::Rel(op @ (RelOp::In | RelOp::Subset), a, b) = &c.pred.kind else { continue };
                if !matches!(a.kind, ExprKind::Var(w) if w == v)
                    || c.right.iter().any(|w| self.is_unknown(*w))
                {
                    continue;
                }
                let set = match &item.set {
                    Some(set) => Ok(set.clone()),
                    None => self.interp.eval_lazy(env, b),
                };
                match set {
                    Ok(set) if *op == RelOp::In => offers.push(set),
                    Ok(set) => offers.push(Value::symbolic(Symbolic::Unary(UnOp::Pow, set))),
                    Err(e) if e.is_stop() => return Err(Halt::Stop(e)),
                    Err(_) => {}
                }
            }
            offers.extend(intervals.iter().filter(|(w, _)| *w == v).map(|(_, set)| set.clone()));
            if !mentions_infinite(&ty) {
                offers.push(self.interp.type_set(&ty));
            }
            let mut best: Option<(f64, &Value)> = None;
            for set in &offers {
                let cost = self.interp.card(env, set)?.log2();
                if cost.is_finite() && best.is_none_or(|(c, _)| cost < c) {
                    best = Some((cost, set));
                }
            }
            let first = self.base.len();
            let mut shape = match best {
                Some((_, set)) => self.shape(env, set, &ty),
                None => Err(Halt::Opaque),
            };
            if let Err(Halt::Opaque) = shape {
                self.base.truncate(first);
                shape = self.shape_of_sequence(env, open, v, &offers);
            }
            match shape {
                Ok(t) => {
                    self.terms.insert(v, t);
                    shaped.push(v);
                }
                Err(Halt::Stop(e)) => return Err(Halt::Stop(e)),
                // Variables of a shape that was given up are nobody's.
                Err(_) => self.base.truncate(first),
            }
        }
        Ok(shaped)
    }

    /// Turns the conjuncts into constraints. `None` if none of them became one; `Opaque` if there is no
    /// solution.
    fn translate(&mut self, env: &mut Env, open: &[Item], shaped: &[VarId]) -> Built<Option<Vec<Test>>> {
        if !self.propagates()? {
            return Err(Halt::Opaque);
        }
        self.define(env, open)?;
        let mut todo: Vec<&Item> = open.iter().filter(|i| !i.conjunct.derived).collect();
        // Quantifiers last: the more is known, the fewer instances are left.
        todo.sort_by_key(|i| !matches!(i.conjunct.pred.kind, PredKind::Rel(..)));
        let mut tests = Vec::new();
        let mut useful = false;
        for item in todo {
            let c = &item.conjunct;
            let before = self.net.size();
            self.weak = false;
            self.strict = item.lenient;
            let lit = self.literal(env, &c.pred, Sense::Positive)?;
            if self.net.domains.assert(lit).is_err() || !self.propagates()? {
                return Err(Halt::Opaque);
            }
            useful |= lit != Lit::TRUE && self.net.size() > before;
            if self.weak && c.free.iter().all(|v| !self.unknown.contains(v) || shaped.contains(v)) {
                let mut vars = Vec::new();
                for t in c.free.iter().filter(|v| shaped.contains(v)).filter_map(|v| self.terms.get(v)) {
                    self.variables(t, &mut vars);
                }
                vars.retain(|v| !self.net.domains.is_fixed(*v));
                tests.push(Test { conjunct: c.clone(), vars, passed: None });
            }
        }
        self.join_unequal();
        if !self.propagates()? {
            return Err(Halt::Opaque);
        }
        let fixed = self.base.iter().filter(|v| self.net.domains.is_fixed(**v)).count();
        Ok((useful || fixed * 2 > self.base.len()).then_some(tests))
    }

    /// Narrows the domains as far as the constraints tell; false if they contradict each other.
    fn propagates(&mut self) -> Res<bool> {
        loop {
            match self.net.narrow(RUNS) {
                Ok(true) => return Ok(true),
                Ok(false) => self.interp.look()?,
                Err(Conflict) => return Ok(false),
            }
        }
    }

    /// Unknowns without a finite set of values that an equation gives a term to.
    fn define(&mut self, env: &mut Env, open: &[Item]) -> Built<()> {
        loop {
            let mut found = false;
            for item in open {
                let c = &item.conjunct;
                let PredKind::Rel(RelOp::Equal, a, b) = &c.pred.kind else { continue };
                for (x, y, free) in [(a, b, &c.right), (b, a, &c.left)] {
                    let ExprKind::Var(v) = x.kind else { continue };
                    if !self.unknown.contains(&v)
                        || self.terms.contains_key(&v)
                        || free.iter().any(|w| self.unknown.contains(w) && !self.terms.contains_key(w))
                    {
                        continue;
                    }
                    match self.total(env, y) {
                        Ok(t) => {
                            self.terms.insert(v, t);
                            found = true;
                        }
                        Err(Halt::Stop(e)) => return Err(Halt::Stop(e)),
                        Err(_) => {}
                    }
                }
            }
            if !found {
                return Ok(());
            }
        }
    }

    /// Depth-first search, values in ascending order. The smallest domain comes first; among equals the variable that weighs most
    /// in a sum, whose value says most about the others.
    fn explore(
        &mut self,
        env: &mut Env,
        shaped: &[VarId],
        mut tests: Vec<Test>,
        leaf: &mut dyn FnMut(&mut Env) -> Res<Flow>,
    ) -> Res<Flow> {
        let mut decisions: Vec<(crate::solve::finite_domains::Mark, Fd, i64, bool)> = Vec::new();
        let weights = self.net.weights();
        loop {
            self.interp.tick()?;
            let mut alive = self.propagates()?;
            if alive {
                alive = self.passes(env, shaped, &mut tests, decisions.len())?;
            }
            if alive {
                let domains = &self.net.domains;
                let open = self.base.iter().filter(|v| !domains.is_fixed(**v));
                let next = open.min_by_key(|v| (domains.size(**v), -weights[v.index()]));
                match next.copied() {
                    None => {
                        if self.with_values(env, shaped, leaf)? == Flow::Stop {
                            return Ok(Flow::Stop);
                        }
                        alive = false;
                    }
                    Some(v) => {
                        let mark = domains.mark();
                        let halved = domains.size(v) > HALVED && !domains.is_narrow(v);
                        let (low, high) = (domains.low(v), domains.high(v));
                        let n = if halved { low + (high - low) / 2 } else { low };
                        decisions.push((mark, v, n, halved));
                        // The value is in the domain, so this cannot fail.
                        alive = self.net.domains.at_most(v, n).is_ok();
                    }
                }
            }
            while !alive {
                let Some((mark, v, n, _)) = decisions.pop() else { return Ok(Flow::Go) };
                self.net.domains.undo(mark);
                for test in &mut tests {
                    test.passed = test.passed.filter(|depth| *depth <= decisions.len());
                }
                alive = self.net.domains.at_least(v, n + 1) != Err(Conflict);
            }
        }
    }

    /// Runs with the values that the shaped unknowns have.
    fn with_values<T>(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        run: &mut dyn FnMut(&mut Env) -> Res<T>,
    ) -> Res<T> {
        for v in vars {
            match self.terms.get(v).and_then(|t| self.value(t)) {
                Some(x) => env.bind(*v, x),
                None => return Err(Error::undecided("a variable of the search without a value")),
            }
        }
        let result = run(env);
        for v in vars {
            env.unbind(*v);
        }
        result
    }

    /// Whether the conjuncts that could not be translated hold, as far as their variables are fixed.
    fn passes(&mut self, env: &mut Env, shaped: &[VarId], tests: &mut [Test], depth: usize) -> Res<bool> {
        for test in tests {
            if test.passed.is_some() || !test.vars.iter().all(|v| self.net.domains.is_fixed(*v)) {
                continue;
            }
            let vars: Vec<VarId> =
                test.conjunct.free.iter().copied().filter(|v| shaped.contains(v)).collect();
            let interp = self.interp;
            let conjunct = test.conjunct.clone();
            if self.with_values(env, &vars, &mut |env| interp.refuted(env, &conjunct.pred, false))? {
                return Ok(false);
            }
            test.passed = Some(depth);
        }
        Ok(true)
    }
}

/// Whether a type has infinitely many values, or none that could be listed.
fn mentions_infinite(t: &Type) -> bool {
    match t {
        Type::Integer | Type::String | Type::Real | Type::Any | Type::Free(_) => true,
        Type::Bool | Type::Set(_) => false,
        Type::Pow(t) => mentions_infinite(t),
        Type::Prod(a, b) => mentions_infinite(a) || mentions_infinite(b),
        Type::Struct(fields) => fields.iter().any(|(_, t)| mentions_infinite(t)),
    }
}
