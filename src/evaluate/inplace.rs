//! Loops that cannot choose, run in place.
//!
//! In: a loop and the environment before it. Out: what it writes, if it has one outcome; nothing if some round
//! has several outcomes or none, or meets an error. Then the environment is as it was, and `exec` takes the loop
//! round by round, with all outcomes and their errors.
//!
//! Variables are changed where they stand, and what they were before is kept once for the whole loop. A set that
//! only grows, `S := S \/ {x}`, is kept as a list with room behind it as long as nobody reads it: a
//! round then costs what it adds and not what was there before.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Res};
use crate::exec::{Outcomes, Writes, sorted};
use bombus_base::Int;
use bombus_lang::free;
use bombus_lang::typed::{BinOp, Expr, ExprKind, OpId, Pred, Step, Stmt, StmtKind, Target, VarId};
use bombus_lang::value::Value;
use bombus_lang::walk::{Visit, visit_expr, visit_pred, visit_stmt};

/// A set that is read this often while it grows is not worth being kept apart.
const READS: u32 = 4;

/// The parts of a loop.
pub(crate) struct Loop<'s> {
    pub(crate) cond: &'s Pred,
    pub(crate) body: &'s Stmt,
    pub(crate) invariant: &'s Pred,
    pub(crate) variant: &'s Expr,
}

/// Why a loop is not run in place to its end.
enum Halt {
    /// It has not exactly one outcome; `exec` tells what it has.
    Several,
    /// The run has to end.
    Stop(Error),
}

impl From<Error> for Halt {
    fn from(e: Error) -> Halt {
        if e.is_stop() { Halt::Stop(e) } else { Halt::Several }
    }
}

type Ran = Result<(), Halt>;

#[derive(Default)]
struct Run {
    /// What written variables were before, each once.
    before: Vec<(VarId, Option<Value>)>,
    /// Elements of sets that grow, sorted; they have no value in the environment meanwhile.
    growing: Vec<(VarId, Vec<Value>)>,
    /// How often growing sets were read.
    reads: Vec<(VarId, u32)>,
}

impl Run {
    /// Remembers what a variable was before the first write.
    fn keep(&mut self, env: &Env, v: VarId) {
        if self.before.iter().all(|(w, _)| *w != v) {
            self.before.push((v, env.get(v).cloned()));
        }
    }

    fn write(&mut self, env: &mut Env, v: VarId, value: Value) {
        self.keep(env, v);
        self.growing.retain(|(w, _)| *w != v);
        env.bind(v, value);
    }

    /// Gives the growing sets that are about to be read their values.
    fn settle(&mut self, env: &mut Env, is_read: &dyn Fn(VarId) -> bool) {
        for (v, elems) in self.growing.extract_if(.., |(v, _)| is_read(*v)) {
            env.bind(v, Value::sorted_set(elems));
            match self.reads.iter_mut().find(|(w, _)| *w == v) {
                Some((_, n)) => *n += 1,
                None => self.reads.push((v, 1)),
            }
        }
    }

    fn settle_all(&mut self, env: &mut Env) {
        self.settle(env, &|_| true);
    }

    fn settle_expr(&mut self, env: &mut Env, e: &Expr) {
        if !self.growing.is_empty() {
            self.settle(env, &|v| free::mentions(e, &|w| w == v));
        }
    }

    fn settle_pred(&mut self, env: &mut Env, p: &Pred) {
        if !self.growing.is_empty() {
            self.settle(env, &|v| free::mentions_in(p, &|w| w == v));
        }
    }

    /// The list of a growing set; one is begun if the set is listed and seldom read.
    fn list(&mut self, env: &mut Env, v: VarId) -> Option<&mut Vec<Value>> {
        if self.growing.iter().all(|(w, _)| *w != v) {
            if self.reads.iter().any(|(w, n)| *w == v && *n >= READS) {
                return None;
            }
            // Sets inside may be equal in more than one form; the operator knows about that.
            let elems = match env.get(v) {
                Some(whole @ Value::Set(elems)) if !whole.mentions_symbolic() => elems.to_vec(),
                _ => return None,
            };
            self.keep(env, v);
            env.unbind(v);
            self.growing.push((v, elems));
        }
        self.growing.iter_mut().find(|(w, _)| *w == v).map(|(_, elems)| elems)
    }
}

/// What an assignment comes to before anything is written.
enum Change {
    Value(Value),
    Grown(Vec<Value>),
}

impl Interpreter<'_> {
    /// What a loop writes, if it has one outcome and meets no error.
    pub(crate) fn loop_in_place(&self, env: &mut Env, l: &Loop<'_>) -> Res<Option<Writes>> {
        if self.propagation.is_none() {
            return Ok(None);
        }
        let mut run = Run::default();
        let ran = self.run_loop(env, l, &mut run);
        let mut writes = Some(Writes::new());
        if ran.is_ok() {
            run.settle_all(env);
            let written = run.before.iter().map(|(v, _)| Some((*v, env.get(*v)?.clone())));
            writes = written.collect::<Option<Writes>>().map(sorted);
        }
        env.restore(run.before);
        match ran {
            Ok(()) => Ok(writes),
            Err(Halt::Several) => Ok(None),
            Err(Halt::Stop(e)) => Err(e),
        }
    }

    fn run_loop(&self, env: &mut Env, l: &Loop<'_>, run: &mut Run) -> Ran {
        if !self.speaks_of_old(l) {
            return self.run_rounds(env, l, run);
        }
        run.settle_all(env);
        let variables = &self.machine.variables;
        let old: Vec<_> = variables.iter().map(|v| (*v, env.replace_old(*v, env.get(*v).cloned()))).collect();
        let ran = self.run_rounds(env, l, run);
        for (v, value) in old {
            env.replace_old(v, value);
        }
        ran
    }

    fn run_rounds(&self, env: &mut Env, l: &Loop<'_>, run: &mut Run) -> Ran {
        let mut last: Option<Int> = None;
        loop {
            self.tick()?;
            run.settle_pred(env, l.invariant);
            if !self.holds(env, l.invariant)? {
                return Err(Halt::Several);
            }
            run.settle_pred(env, l.cond);
            if !self.holds(env, l.cond)? {
                return Ok(());
            }
            run.settle_expr(env, l.variant);
            let measure = self.integer(env, l.variant)?;
            if measure.is_negative() || last.is_some_and(|l| measure >= l) {
                return Err(Halt::Several);
            }
            self.run_in_place(env, l.body, run)?;
            last = Some(measure);
        }
    }

    fn run_in_place(&self, env: &mut Env, s: &Stmt, run: &mut Run) -> Ran {
        self.tick()?;
        match &s.kind {
            StmtKind::Skip => Ok(()),
            StmtKind::Assign(pairs) => {
                let pairs: Vec<&(Target, Expr)> = pairs.iter().collect();
                self.assign_in_place(env, &pairs, run)
            }
            StmtKind::Par(branches) => match simultaneous(branches) {
                Some(pairs) => self.assign_in_place(env, &pairs, run),
                None => self.run_by_outcomes(env, s, run),
            },
            StmtKind::Pre(p, body) | StmtKind::Assert(_, p, body) | StmtKind::Witness(p, body) => {
                run.settle_pred(env, p);
                if self.holds(env, p)? { self.run_in_place(env, body, run) } else { Err(Halt::Several) }
            }
            StmtKind::Seq(steps) => steps.iter().try_for_each(|s| self.run_in_place(env, s, run)),
            StmtKind::If(branches, other) => {
                for (p, body) in branches {
                    run.settle_pred(env, p);
                    if self.holds(env, p)? {
                        return self.run_in_place(env, body, run);
                    }
                }
                other.as_ref().map_or(Ok(()), |body| self.run_in_place(env, body, run))
            }
            StmtKind::Var(vars, body) => {
                let saved = env.take(vars);
                let ran = self.run_in_place(env, body, run);
                run.growing.retain(|(v, _)| !vars.contains(v));
                run.before.retain(|(v, _)| !vars.contains(v));
                env.restore(saved);
                ran
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.run_loop(env, &Loop { cond, body, invariant, variant }, run)
            }
            _ => self.run_by_outcomes(env, s, run),
        }
    }

    /// Runs a substitution as `exec` does and takes its one outcome.
    fn run_by_outcomes(&self, env: &mut Env, s: &Stmt, run: &mut Run) -> Ran {
        run.settle_all(env);
        let mut out = Outcomes::default();
        self.exec(env, s, &mut out)?;
        out.writes.sort();
        out.writes.dedup();
        match (out.writes.pop(), out.writes.is_empty() && out.errors.is_empty()) {
            (Some(writes), true) => {
                writes.into_iter().for_each(|(v, value)| run.write(env, v, value));
                Ok(())
            }
            _ => Err(Halt::Several),
        }
    }

    /// Assigns all at once: nothing is written before all is evaluated.
    fn assign_in_place(&self, env: &mut Env, pairs: &[&(Target, Expr)], run: &mut Run) -> Ran {
        let mut changes = Vec::with_capacity(pairs.len());
        for (at, (target, e)) in pairs.iter().enumerate() {
            let others = pairs.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, pair)| *pair);
            let change = match growth(target, e) {
                Some(more) if !others.into_iter().any(|pair| concerns(pair, target.var)) => {
                    run.settle_expr(env, more);
                    match self.eval_canon(env, more)? {
                        Value::Set(elems) if !elems.iter().any(Value::mentions_symbolic) => {
                            Change::Grown(elems.to_vec())
                        }
                        _ => {
                            run.settle_expr(env, e);
                            Change::Value(self.eval_canon(env, e)?)
                        }
                    }
                }
                _ => {
                    run.settle_expr(env, e);
                    Change::Value(self.eval_canon(env, e)?)
                }
            };
            changes.push(change);
        }
        if pairs.iter().all(|(target, _)| target.path.is_empty()) {
            for ((target, e), change) in pairs.iter().zip(changes) {
                match change {
                    Change::Value(value) => run.write(env, target.var, value),
                    Change::Grown(more) => self.grow(env, target, more, e, run)?,
                }
            }
            return Ok(());
        }
        run.settle_all(env);
        let mut values = Vec::with_capacity(pairs.len());
        for ((target, e), change) in pairs.iter().zip(changes) {
            let value = match change {
                Change::Value(value) => value,
                Change::Grown(_) => self.eval_canon(env, e)?,
            };
            values.push((target, value));
        }
        let writes = self.assign(env, values)?;
        writes.into_iter().for_each(|(v, value)| run.write(env, v, value));
        Ok(())
    }

    /// `S := S \/ more`.
    fn grow(&self, env: &mut Env, target: &Target, more: Vec<Value>, e: &Expr, run: &mut Run) -> Ran {
        self.charge(more.len())?;
        let Some(list) = run.list(env, target.var) else {
            let value = self.eval_canon(env, e)?;
            run.write(env, target.var, value);
            return Ok(());
        };
        for x in more {
            match list.last() {
                Some(last) if *last >= x => {
                    if let Err(place) = list.binary_search(&x) {
                        list.insert(place, x);
                    }
                }
                _ => list.push(x),
            }
        }
        Ok(())
    }

    /// Whether values from before the loop are asked for. An operation that is called is not looked into.
    fn speaks_of_old(&self, l: &Loop<'_>) -> bool {
        let key = std::ptr::from_ref(l.body) as usize;
        if let Some(known) = self.cache.old_in_loops.borrow().get(&key) {
            return *known;
        }
        let mut asks = Asks(false);
        visit_stmt(l.body, &mut asks);
        visit_pred(l.cond, &mut asks);
        visit_pred(l.invariant, &mut asks);
        visit_expr(l.variant, &mut asks);
        self.cache.old_in_loops.borrow_mut().insert(key, asks.0);
        asks.0
    }
}

struct Asks(bool);

impl Visit for Asks {
    fn expr(&mut self, e: &Expr) {
        self.0 |= matches!(e.kind, ExprKind::Old(_));
    }

    fn call(&mut self, _: &OpId) {
        self.0 = true;
    }
}

/// The assignments of a parallel substitution that is made of nothing else and writes no variable twice.
fn simultaneous(branches: &[Stmt]) -> Option<Vec<&(Target, Expr)>> {
    let mut pairs: Vec<&(Target, Expr)> = Vec::new();
    for branch in branches {
        match &branch.kind {
            StmtKind::Skip => {}
            StmtKind::Assign(more) => pairs.extend(more),
            _ => return None,
        }
    }
    let twice = |(i, pair): (usize, &&(Target, Expr))| pairs[..i].iter().any(|p| p.0.var == pair.0.var);
    if pairs.iter().enumerate().any(twice) { None } else { Some(pairs) }
}

/// What `S := S \/ more` adds, if that is no more of `S`.
fn growth<'e>(target: &Target, e: &'e Expr) -> Option<&'e Expr> {
    let is_whole = |e: &Expr| matches!(e.kind, ExprKind::Var(v) if v == target.var);
    let ExprKind::Binary(BinOp::Union, a, b) = &e.kind else { return None };
    let more = match () {
        () if !target.path.is_empty() => return None,
        () if is_whole(a) => b,
        () if is_whole(b) => a,
        () => return None,
    };
    (!free::mentions(more, &|v| v == target.var)).then_some(more)
}

/// Whether another assignment of the same step reads or writes a variable.
fn concerns((target, e): &(Target, Expr), v: VarId) -> bool {
    let indexed = target.path.iter().any(|step| match step {
        Step::Index(e) => free::mentions(e, &|w| w == v),
        Step::Field(_) => false,
    });
    target.var == v || indexed || free::mentions(e, &|w| w == v)
}
