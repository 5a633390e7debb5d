//! Predicates: true, false, or an error.
//!
//! In: a typed predicate and an environment. Out: a truth value.
//! Connectives go from left to right. An undefined conjunct is kept in mind while the others are
//! looked at: a false one makes the conjunction false (`r=1/x & x/=0`), otherwise the error comes
//! out. What is merely not computed (our limits, a variable still searched for) is a third truth
//! value in the sense of Kleene for every connective.

use crate::Interpreter;
use crate::env::Env;
use crate::error::{Error, Flow, Res};
use crate::integer_sets::Spans;
use crate::simplified::decided;
use crate::solve::plan::ForallPlan;
use bombus_lang::free;
use bombus_lang::partiality::pred_may_be_undefined;
use bombus_lang::typed::{Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::{Symbolic, Value};

impl Interpreter<'_> {
    pub fn holds(&self, env: &mut Env, p: &Pred) -> Res<bool> {
        self.holds_kind(env, p).map_err(|err| err.at(p.span))
    }

    fn holds_kind(&self, env: &mut Env, p: &Pred) -> Res<bool> {
        match &p.kind {
            PredKind::True => Ok(true),
            PredKind::False => Ok(false),
            PredKind::And(ps) => {
                let mut pending = None;
                for q in ps {
                    match self.holds(env, q) {
                        Ok(true) => {}
                        Ok(false) => return Ok(false),
                        Err(e) if e.is_stop() => return Err(e),
                        Err(e) => pending = Some(worse(pending, e)),
                    }
                }
                pending.map_or(Ok(true), Err)
            }
            PredKind::Or(ps) => {
                let mut pending = None;
                for q in ps {
                    match self.holds(env, q) {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        // Left to right: what stands behind an undefined disjunct cannot save it.
                        Err(e) if e.is_finding() || e.is_stop() => return Err(pending.unwrap_or(e)),
                        Err(e) => pending = Some(worse(pending, e)),
                    }
                }
                pending.map_or(Ok(false), Err)
            }
            PredKind::Not(q) => Ok(!self.holds(env, q)?),
            PredKind::Implies(a, b) => match self.holds(env, a) {
                Ok(false) => Ok(true),
                Ok(true) => self.holds(env, b),
                Err(e) if e.is_finding() || e.is_stop() => Err(e),
                Err(e) => match self.holds(env, b) {
                    Ok(true) => Ok(true),
                    Err(f) if f.is_stop() => Err(f),
                    _ => Err(e),
                },
            },
            PredKind::Iff(a, b) => Ok(self.holds(env, a)? == self.holds(env, b)?),
            PredKind::Rel(op, a, b) => self.relation(env, *op, a, b),
            PredKind::Forall(vars, body) => self.forall(env, vars, body),
            PredKind::Exists(vars, body) => self.exists(env, vars, body),
            PredKind::If(c, a, b) => {
                if self.holds(env, c)? {
                    self.holds(env, a)
                } else {
                    self.holds(env, b)
                }
            }
            PredKind::Let(bindings, body) => {
                let mut saved = Vec::with_capacity(bindings.len());
                let result = (|| {
                    for (v, e) in bindings {
                        let value = self.eval(env, e)?;
                        saved.push((*v, env.replace(*v, Some(value))));
                    }
                    self.holds(env, body)
                })();
                env.restore(saved);
                result
            }
            PredKind::Finite(e) => {
                let v = self.eval_operand(env, e)?;
                self.is_finite(env, &v)
            }
            PredKind::Partition(whole, parts) => {
                let whole = self.eval(env, whole)?;
                let mut union: Vec<Value> = Vec::new();
                let mut count = 0;
                for part in parts {
                    let part_value = self.eval(env, part)?;
                    let list = self.need_list(env, &part_value, part.span)?;
                    count += list.len();
                    union.extend(list.iter().cloned());
                }
                let union = self.set_of(env, union)?;
                Ok(union.as_set().is_some_and(|u| u.len() == count) && self.equal(env, &whole, &union)?)
            }
            PredKind::External(f, args) => self.external_pred(env, f, args, p.span),
            PredKind::Label(_, q) => self.holds(env, q),
        }
    }

    fn relation(&self, env: &mut Env, op: RelOp, a: &Expr, b: &Expr) -> Res<bool> {
        Ok(match op {
            // Whatever is searched for is equal to itself.
            RelOp::Equal if env.searching && is_same_variable(a, b) => true,
            RelOp::Equal => {
                let x = self.eval(env, a)?;
                let y = self.eval(env, b)?;
                self.equal(env, &x, &y)?
            }
            RelOp::NotEqual => !self.relation(env, RelOp::Equal, a, b)?,
            RelOp::In => self.element(env, a, b)?,
            RelOp::NotIn => !self.element(env, a, b)?,
            RelOp::Subset => {
                let x = self.eval(env, a)?;
                let y = self.eval_operand(env, b)?;
                self.subset(env, &x, &y)?
            }
            RelOp::NotSubset => !self.relation(env, RelOp::Subset, a, b)?,
            RelOp::StrictSubset => {
                let x = self.eval(env, a)?;
                let y = self.eval(env, b)?;
                self.subset(env, &x, &y)? && !self.equal(env, &x, &y)?
            }
            RelOp::NotStrictSubset => !self.relation(env, RelOp::StrictSubset, a, b)?,
            RelOp::Less | RelOp::LessEqual | RelOp::Greater | RelOp::GreaterEqual => {
                let x = self.eval(env, a)?;
                let y = self.eval(env, b)?;
                let order = match (&x, &y) {
                    (Value::Int(x), Value::Int(y)) => x.cmp(y),
                    (Value::Real(x), Value::Real(y)) => x.cmp(y),
                    _ => return Err(self.ill_typed("a number", &x, a.span)),
                };
                match op {
                    RelOp::Less => order.is_lt(),
                    RelOp::LessEqual => order.is_le(),
                    RelOp::Greater => order.is_gt(),
                    _ => order.is_ge(),
                }
            }
        })
    }

    fn element(&self, env: &mut Env, a: &Expr, set: &Expr) -> Res<bool> {
        // `x : dom(f)` and `x : ran(f)` need not build the set.
        if let ExprKind::Unary(UnOp::Dom, f) = &set.kind {
            let x = self.eval_canon(env, a)?;
            let f = self.eval_operand(env, f)?;
            return self.in_domain(env, &f, &x);
        }
        // A typing predicate over a whole type says nothing: its truth is settled by type checking.
        // A compound expression must be defined, but a variable may still be without a value, as a
        // result before the first turn of a loop.
        if let ExprKind::TypeSet(_) = set.kind
            && !matches!(a.ty, Type::Free(_))
        {
            if !matches!(a.kind, ExprKind::Var(_)) {
                self.eval(env, a)?;
            }
            return Ok(true);
        }
        let x = self.eval(env, a)?;
        let s = self.eval_lazy(env, set)?;
        self.member(env, &x, &s)
    }

    fn forall(&self, env: &mut Env, vars: &[VarId], body: &Pred) -> Res<bool> {
        self.within_window(env, &mut |env| self.decide_forall(env, vars, body))
    }

    fn exists(&self, env: &mut Env, vars: &[VarId], body: &Pred) -> Res<bool> {
        self.within_window(env, &mut |env| self.decide_exists(env, vars, body))
    }

    fn decide_forall(&self, env: &mut Env, vars: &[VarId], body: &Pred) -> Res<bool> {
        // `!x.(P => Q)`: the solutions of P are tested with Q. Anything else is tested for a
        // solution of its negation.
        let plan = self.forall_plan(vars, body);
        let mut pending = Pending::default();
        let mut falsified = false;
        let run = self.run_plan(env, &plan.hypotheses, &mut |env, error| {
            if let Some(err) = error {
                return pending.add(err.clone());
            }
            match self.holds(env, &plan.conclusion) {
                Ok(true) => Ok(Flow::Go),
                Ok(false) => {
                    falsified = true;
                    Ok(Flow::Stop)
                }
                Err(err) => pending.add(err),
            }
        });
        if falsified {
            return Ok(false);
        }
        given_up(run, &mut pending)?;
        match pending.error {
            None => Ok(true),
            Some(e) if pending.limited => {
                let mut decided = self.always(env, vars, &plan)?;
                if decided.is_none() {
                    decided = self.follows(env, &plan)?.then_some(true);
                }
                if decided.is_none() {
                    decided = self.unrefuted(env, &plan)?;
                }
                if decided.is_none() {
                    decided = self.is_theorem(env, vars, body)?.then_some(true);
                }
                // One counterexample decides, wherever it was found.
                if decided.is_none() && self.has_sample(env, vars, body, false)? {
                    decided = Some(false);
                }
                // Beside values for which the body has no truth value only a counterexample decides.
                decided.filter(|truth| !truth || e.is_incomplete()).ok_or(e)
            }
            Some(e) => Err(e),
        }
    }

    /// A quantifier over one integer whose hypotheses and conclusion are both sets of intervals.
    fn always(&self, env: &mut Env, vars: &[VarId], plan: &ForallPlan) -> Res<Option<bool>> {
        let [v] = vars else { return Ok(None) };
        if self.type_of(*v) != Type::Integer {
            return Ok(None);
        }
        let Some(claim) = self.spans_of_pred(env, &plan.conclusion, *v)? else { return Ok(None) };
        let mut given = Spans::between(None, None);
        for c in plan.hypotheses.conjuncts.iter().filter(|c| !c.derived) {
            match self.spans_of_pred(env, &c.pred, *v)? {
                Some(s) => given = given.inter(&s),
                None => return Ok(None),
            }
        }
        Ok(Some(given.is_subset(&claim)))
    }

    /// Whether the conclusion of a quantifier is a membership that follows from one of its hypotheses: what lies in a set lies in every
    /// set around it. All of it must have a value for all values of the variables.
    fn follows(&self, env: &mut Env, plan: &ForallPlan) -> Res<bool> {
        if plan.hypotheses.is_partial() || pred_may_be_undefined(&plan.conclusion) {
            return Ok(false);
        }
        let vars = &plan.hypotheses.vars;
        let membership = |p: &Pred, env: &mut Env| -> Res<Option<(VarId, Value)>> {
            let PredKind::Rel(op @ (RelOp::In | RelOp::Subset), x, set) = &p.kind else { return Ok(None) };
            let ExprKind::Var(v) = x.kind else { return Ok(None) };
            if !vars.contains(&v) || free::mentions(set, &|w| vars.contains(&w)) {
                return Ok(None);
            }
            let set = decided(self.eval_lazy(env, set))?;
            Ok(set.map(|set| match op {
                RelOp::In => (v, set),
                _ => (v, Value::symbolic(Symbolic::Unary(UnOp::Pow, set))),
            }))
        };
        for p in plan.conclusion.conjuncts() {
            let Some((v, around)) = membership(p, env)? else { return Ok(false) };
            let mut found = false;
            for c in plan.hypotheses.conjuncts.iter().filter(|c| !c.derived) {
                if let Some((w, set)) = membership(&c.pred, env)?
                    && v == w
                    && decided(self.subset(env, &set, &around))? == Some(true)
                {
                    found = true;
                    break;
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where the hypotheses of a quantifier leave infinitely many values: whether some of them break a conjunct of
    /// the conclusion, if that can be searched. `!i.(i /= 0 => x+i /: s)` is decided by the elements of s.
    fn unrefuted(&self, env: &mut Env, plan: &ForallPlan) -> Res<Option<bool>> {
        let Some(searches) = plan.refutations() else { return Ok(None) };
        for search in searches {
            let mut clean = true;
            let mut broken = false;
            self.run_plan_exactly(env, search, &mut |_, error| match error {
                None => {
                    broken = true;
                    Ok(Flow::Stop)
                }
                Some(e) if e.is_stop() => Err(e.clone()),
                Some(_) => {
                    clean = false;
                    Ok(Flow::Go)
                }
            })?;
            if broken {
                return Ok(Some(false));
            }
            if !clean {
                return Ok(None);
            }
        }
        // The searches met only values that break the conclusion: a hypothesis may be undefined for others.
        Ok(self.always_has_truth_value(env, &plan.hypotheses)?.then_some(true))
    }

    fn decide_exists(&self, env: &mut Env, vars: &[VarId], body: &Pred) -> Res<bool> {
        let mut pending = Pending::default();
        let mut found = false;
        let mut open = false;
        let run = self.solutions(env, vars, body, &mut |_, error| match error {
            None => {
                found = true;
                Ok(Flow::Stop)
            }
            Some(err) => {
                open |= err.is_unknown();
                pending.add(err.clone())
            }
        });
        if found {
            return Ok(true);
        }
        given_up(run, &mut pending)?;
        // While a witness is still possible the rest says nothing.
        if open {
            return Err(Error::unknown());
        }
        match pending.error {
            None => Ok(false),
            Some(e) if pending.limited => {
                if let [v] = vars
                    && self.type_of(*v) == Type::Integer
                    && let Some(found) = self.spans_of_pred(env, body, *v)?
                    && (found.hull().is_some() || e.is_incomplete())
                {
                    return Ok(found.hull().is_some());
                }
                // One witness decides, wherever it was found.
                if self.has_sample(env, vars, body, true)? {
                    return Ok(true);
                }
                // Beside values for which the body has no truth value only a witness decides.
                if e.is_incomplete() && self.is_contradiction(env, vars, body)? { Ok(false) } else { Err(e) }
            }
            Some(e) => Err(e),
        }
    }
}

/// What a search for the values of a quantifier could not decide.
#[derive(Default)]
struct Pending {
    /// The worst of all errors.
    error: Option<Error>,
    /// Some values were not tried because of a limit of ours, whatever else went wrong: others may decide.
    limited: bool,
}

impl Pending {
    fn add(&mut self, e: Error) -> Res<Flow> {
        if e.is_stop() {
            return Err(e);
        }
        self.limited |= e.is_incomplete();
        self.error = Some(worse(self.error.take(), e));
        Ok(Flow::Go)
    }
}

fn is_same_variable(a: &Expr, b: &Expr) -> bool {
    matches!((&a.kind, &b.kind), (ExprKind::Var(v), ExprKind::Var(w)) if v == w)
}

/// Keeps in mind that a search went no further because of a limit of ours; what else ends a search ends more than that.
fn given_up<T>(run: Res<T>, pending: &mut Pending) -> Res<()> {
    match run {
        Err(e) if e.is_incomplete() => drop(pending.add(e)?),
        other => drop(other?),
    }
    Ok(())
}

/// Of two errors the one to report: the model's faults before our limits, the first of equals.
pub(crate) fn worse(a: Option<Error>, b: Error) -> Error {
    match a {
        // A function that is not looked for at all says more than anything else that is undefined with it.
        Some(a) if a.is_finding() && b.is_misapplied() && !a.is_misapplied() => b,
        Some(a) if a.is_finding() || !b.is_finding() => {
            // An unknown says less than a limit.
            if a.is_unknown() && !b.is_unknown() { b } else { a }
        }
        _ => b,
    }
}
