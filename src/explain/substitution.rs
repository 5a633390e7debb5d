//! Where a step fails: the way through a substitution to its fault, and what was chosen on that way.
//!
//! In: an event or the initialisation, the environment of the state before, and which fault is looked for. Out: the
//! formula at fault with its parts, the parameters, the values of ANY, LET and `:(…)`, and the calls on the way.
//! The walk goes the same ways as `evaluate::exec`, in the same order. Never here: states, traces.

use super::{Call, Explainer, FailingStep, Node, Place, Worth};
use bombus_base::Span;
use bombus_base::finding::FindingKind;
use bombus_evaluate::env::Env;
pub use bombus_evaluate::error::{Error, Flow};
use bombus_evaluate::exec::{Outcomes, Writes, merge};
use bombus_evaluate::search::kind_of;
use bombus_lang::typed::{Expr, Obligation, OpId, Pred, Step, Stmt, StmtKind, Target, VarId, VarKind};
use bombus_lang::value::Value;

/// A fault on the way through a substitution.
pub(super) struct Fault {
    pub(super) span: Span,
    pub(super) node: Node,
    pub(super) locals: Vec<(String, String)>,
    pub(super) calls: Vec<Call>,
}

/// Whether a fault of this kind with these words is the one that is looked for.
pub(super) type FaultFilter<'w> = &'w dyn Fn(FindingKind, &str) -> bool;

/// What was chosen on the way so far.
pub(super) struct Walk<'w> {
    wanted: FaultFilter<'w>,
    locals: Vec<(String, String)>,
    calls: Vec<Call>,
}

impl<'w> Walk<'w> {
    pub(super) fn new(wanted: FaultFilter<'w>) -> Walk<'w> {
        Walk { wanted, locals: Vec::new(), calls: Vec::new() }
    }

    fn fault(&self, span: Span, node: Node) -> Fault {
        Fault { span, node, locals: self.locals.clone(), calls: self.calls.clone() }
    }
}

impl Explainer<'_> {
    /// The first fault of an event that is wanted, with the step that makes it.
    pub(super) fn event_fault(
        &self,
        env: &mut Env,
        event: usize,
        wanted: FaultFilter,
        strict: bool,
    ) -> Option<(FailingStep, Fault)> {
        let id = self.machine.events[event];
        let op = self.machine.op(id);
        let guarded = self.interpreter.guarded(id);
        let mut found = None;
        let saved = env.take(&op.results);
        for alternative in &guarded.alternatives {
            let vars = &alternative.plan.vars;
            let run = self.interpreter.run_plan(env, &alternative.plan, &mut |env, error| {
                let mut walk = Walk::new(wanted);
                let locals = vars.iter().filter(|v| !op.params.contains(v));
                walk.locals.extend(locals.filter_map(|v| self.user_named(*v, env.get(*v)?)));
                let fault = match error {
                    Some(e) if e.is_stop() => return Err(e.clone()),
                    Some(e) if strict && e.is_finding() && wanted(kind_of(e), e.message()) => {
                        let preds: Vec<&Pred> = alternative
                            .plan
                            .conjuncts
                            .iter()
                            .filter(|c| !c.derived)
                            .map(|c| &c.pred)
                            .collect();
                        self.undefined_guard(env, vars, &preds, e, &walk)
                    }
                    Some(_) => None,
                    None => self.fault(env, &alternative.body, &mut walk),
                };
                let Some(fault) = fault else { return Ok(Flow::Go) };
                let params = op.params.iter().filter_map(|v| Some(self.named(*v, env.get(*v)?))).collect();
                found = Some((
                    FailingStep {
                        event: op.name.to_string(),
                        params,
                        locals: fault.locals.clone(),
                        calls: fault.calls.clone(),
                    },
                    fault,
                ));
                Ok(Flow::Stop)
            });
            self.note_stop(&run);
            if found.is_some() {
                break;
            }
        }
        env.restore(saved);
        found
    }

    fn undefined_guard(
        &self,
        env: &mut Env,
        vars: &[VarId],
        preds: &[&Pred],
        e: &Error,
        walk: &Walk,
    ) -> Option<Fault> {
        let node = preds.iter().find_map(|p| {
            let free = bombus_lang::free::of_pred(p);
            let bound = free.iter().all(|v| !vars.contains(v) || env.is_bound(*v));
            bound.then(|| self.undefined_pred(env, p, 0)).flatten()
        });
        let node = node.unwrap_or_else(|| self.words_alone(e));
        Some(walk.fault(e.span(), node))
    }

    /// A fault of which nothing but its words and its place is known.
    fn words_alone(&self, e: &Error) -> Node {
        let text = bombus_base::text::one_line(self.sources.slice(e.span()));
        let mut node = Node::new(text, Worth::Undefined(e.told()));
        node.place = Place::of(self.sources, e.span());
        node
    }

    /// The first wanted fault of a substitution.
    pub(super) fn fault(&self, env: &mut Env, s: &Stmt, walk: &mut Walk) -> Option<Fault> {
        if self.interpreter.look().is_err() {
            self.cut_short.set(true);
            return None;
        }
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) => None,
            StmtKind::Assign(pairs) => self.assign_fault(env, s, pairs, walk),
            StmtKind::BecomesIn(_, set) => {
                self.expr_fault(env, set, walk).or_else(|| self.any_fault(env, s, walk))
            }
            StmtKind::BecomesSuch(vars, p) => self.becomes_fault(env, s, vars, p, walk),
            StmtKind::Pre(p, body) => {
                let words = self.interpreter.broken_words("the precondition", p);
                self.condition_fault(env, p, (FindingKind::Precondition, &words), walk)
                    .or_else(|| self.fault(env, body, walk))
            }
            StmtKind::Assert(..) | StmtKind::Witness(..) => self.obligation_fault(env, s, walk),
            StmtKind::Choice(branches) | StmtKind::Par(branches) => {
                branches.iter().find_map(|b| self.fault(env, b, walk))
            }
            StmtKind::If(branches, other) => {
                for (p, body) in branches {
                    match self.interpreter.holds(env, p) {
                        Ok(true) => return self.fault(env, body, walk),
                        Ok(false) => {}
                        Err(e) => return self.undefined_fault(env, p, &e, walk),
                    }
                }
                other.as_ref().and_then(|body| self.fault(env, body, walk))
            }
            StmtKind::Select(branches, other) => self.select_fault(env, branches, other.as_deref(), walk),
            StmtKind::Case(e, branches, other) => self.case_fault(env, e, branches, other.as_deref(), walk),
            StmtKind::Any(vars, p, body) => self.choice_fault(env, vars, p, Some(body), walk),
            StmtKind::Let(bindings, body) => self.let_fault(env, bindings, body, walk),
            StmtKind::Var(vars, body) => {
                let saved = env.take(vars);
                let fault = self.fault(env, body, walk);
                env.restore(saved);
                fault
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.loop_fault(env, (cond, invariant), variant, body, walk)
            }
            StmtKind::Call { op, args, results } => self.call_fault(env, s, *op, args, results, walk),
            StmtKind::Seq(steps) => self.sequence_fault(env, steps, walk),
        }
    }

    fn expr_fault(&self, env: &mut Env, e: &Expr, walk: &Walk) -> Option<Fault> {
        let error = self.interpreter.eval_canon(env, e).err()?;
        if !error.is_finding() || !(walk.wanted)(kind_of(&error), error.message()) {
            return None;
        }
        let node = self.undefined_expr(env, e, 0).unwrap_or_else(|| self.words_alone(&error));
        Some(walk.fault(error.span(), node))
    }

    fn undefined_fault(&self, env: &mut Env, p: &Pred, error: &Error, walk: &Walk) -> Option<Fault> {
        if !error.is_finding() || !(walk.wanted)(kind_of(error), error.message()) {
            return None;
        }
        let node = self.undefined_pred(env, p, 0).unwrap_or_else(|| self.words_alone(error));
        Some(walk.fault(error.span(), node))
    }

    /// The fault of a condition that has to hold and does not.
    fn condition_fault(
        &self,
        env: &mut Env,
        p: &Pred,
        (kind, words): (FindingKind, &str),
        walk: &Walk,
    ) -> Option<Fault> {
        match self.interpreter.holds(env, p) {
            Ok(true) => None,
            Ok(false) if (walk.wanted)(kind, words) => {
                let node = self.predicate(env, p, Span::default(), 0);
                Some(walk.fault(p.span, node))
            }
            Ok(false) => None,
            Err(e) => self.undefined_fault(env, p, &e, walk),
        }
    }

    fn obligation_fault(&self, env: &mut Env, s: &Stmt, walk: &mut Walk) -> Option<Fault> {
        let (kind, p, body) = match &s.kind {
            StmtKind::Assert(Obligation::Refinement, p, body) => (FindingKind::Refinement, p, body),
            StmtKind::Assert(Obligation::Variant, p, body) => (FindingKind::Variant, p, body),
            StmtKind::Assert(_, p, body) | StmtKind::Witness(p, body) => (FindingKind::Assertion, p, body),
            _ => return None,
        };
        let broken = || self.interpreter.broken_words("the ASSERT condition", p);
        let words = p.place().map_or_else(broken, str::to_string);
        if let Some(fault) = self.condition_fault(env, p, (kind, &words), walk) {
            return Some(fault);
        }
        match self.interpreter.holds(env, p) {
            Ok(true) => self.fault(env, body, walk),
            _ => None,
        }
    }

    fn assign_fault(&self, env: &mut Env, s: &Stmt, pairs: &[(Target, Expr)], walk: &Walk) -> Option<Fault> {
        for (target, e) in pairs {
            if let Some(fault) = self.expr_fault(env, e, walk) {
                return Some(fault);
            }
            for step in &target.path {
                if let Step::Index(e) = step
                    && let Some(fault) = self.expr_fault(env, e, walk)
                {
                    return Some(fault);
                }
            }
        }
        self.any_fault(env, s, walk)
    }

    /// A fault that only the execution of the whole substitution shows.
    fn any_fault(&self, env: &mut Env, s: &Stmt, walk: &Walk) -> Option<Fault> {
        let mut out = Outcomes::default();
        let run = self.interpreter.exec(env, s, &mut out);
        self.note_stop(&run);
        let error = out.errors.iter().find(|e| e.is_finding() && (walk.wanted)(kind_of(e), e.message()))?;
        Some(walk.fault(error.span(), self.words_alone(error)))
    }

    fn becomes_fault(
        &self,
        env: &mut Env,
        s: &Stmt,
        vars: &[VarId],
        p: &Pred,
        walk: &mut Walk,
    ) -> Option<Fault> {
        let old: Vec<_> = vars.iter().map(|v| (*v, env.replace_old(*v, env.get(*v).cloned()))).collect();
        let node = self.undefined_in_binder(env, vars, p, None, 0);
        old.into_iter().for_each(|(v, value)| {
            env.replace_old(v, value);
        });
        let fault = self.any_fault(env, s, walk)?;
        Some(Fault { node: node.unwrap_or(fault.node), ..fault })
    }

    fn select_fault(
        &self,
        env: &mut Env,
        branches: &[(Pred, Stmt)],
        other: Option<&Stmt>,
        walk: &mut Walk,
    ) -> Option<Fault> {
        let mut chosen = false;
        for (p, body) in branches {
            let fault = match self.interpreter.holds(env, p) {
                Ok(true) => {
                    chosen = true;
                    self.fault(env, body, walk)
                }
                Ok(false) => None,
                Err(e) => {
                    chosen = true;
                    self.undefined_fault(env, p, &e, walk)
                }
            };
            if fault.is_some() {
                return fault;
            }
        }
        other.filter(|_| !chosen).and_then(|body| self.fault(env, body, walk))
    }

    fn case_fault(
        &self,
        env: &mut Env,
        e: &Expr,
        branches: &[(Vec<Expr>, Stmt)],
        other: Option<&Stmt>,
        walk: &mut Walk,
    ) -> Option<Fault> {
        let Ok(value) = self.interpreter.eval(env, e) else { return self.expr_fault(env, e, walk) };
        for (labels, body) in branches {
            for label in labels {
                let Ok(known) = self.interpreter.eval(env, label) else {
                    return self.expr_fault(env, label, walk);
                };
                if self.interpreter.equal(env, &value, &known).is_ok_and(|same| same) {
                    return self.fault(env, body, walk);
                }
            }
        }
        other.and_then(|body| self.fault(env, body, walk))
    }

    /// The first choice of values for which the rest fails.
    fn choice_fault(
        &self,
        env: &mut Env,
        vars: &[VarId],
        p: &Pred,
        body: Option<&Stmt>,
        walk: &mut Walk,
    ) -> Option<Fault> {
        let mut found = None;
        let run = self.interpreter.solutions(env, vars, p, &mut |env, error| {
            found = match error {
                Some(e) if e.is_stop() => return Err(e.clone()),
                Some(e) if e.is_finding() && (walk.wanted)(kind_of(e), e.message()) => {
                    let node = self.undefined_in_binder(&mut env.clone(), vars, p, None, 0);
                    let node = node.unwrap_or_else(|| self.words_alone(e));
                    Some(walk.fault(e.span(), node))
                }
                Some(_) => None,
                None => {
                    let before = walk.locals.len();
                    walk.locals.extend(vars.iter().filter_map(|v| self.user_named(*v, env.get(*v)?)));
                    let fault = body.and_then(|body| self.fault(env, body, walk));
                    walk.locals.truncate(before);
                    fault
                }
            };
            Ok(if found.is_some() { Flow::Stop } else { Flow::Go })
        });
        self.note_stop(&run);
        found
    }

    fn let_fault(
        &self,
        env: &mut Env,
        bindings: &[(VarId, Expr)],
        body: &Stmt,
        walk: &mut Walk,
    ) -> Option<Fault> {
        let before = walk.locals.len();
        let mut saved = Vec::new();
        let mut fault = None;
        for (v, e) in bindings {
            match self.interpreter.eval_canon(env, e) {
                Ok(value) => {
                    walk.locals.extend(self.user_named(*v, &value));
                    saved.push((*v, env.replace(*v, Some(value))));
                }
                Err(_) => {
                    fault = self.expr_fault(env, e, walk);
                    break;
                }
            }
        }
        if saved.len() == bindings.len() {
            fault = self.fault(env, body, walk);
        }
        env.restore(saved);
        walk.locals.truncate(before);
        fault
    }

    fn call_fault(
        &self,
        env: &mut Env,
        s: &Stmt,
        op: OpId,
        args: &[Expr],
        results: &[Target],
        walk: &mut Walk,
    ) -> Option<Fault> {
        let op = self.machine.op(op);
        let mut values = Vec::with_capacity(args.len());
        for e in args {
            match self.interpreter.eval_canon(env, e) {
                Ok(v) => values.push(v),
                Err(_) => return self.expr_fault(env, e, walk),
            }
        }
        let mut saved = env.take(&op.params);
        saved.extend(env.take(&op.results));
        let arguments = op.params.iter().zip(&values).map(|(v, x)| self.named(*v, x)).collect();
        for (v, x) in op.params.iter().zip(values) {
            env.bind(*v, x);
        }
        let place = Place::of(self.sources, s.span);
        walk.calls.push(Call { operation: op.name.to_string(), arguments, place });
        let fault = self.fault(env, &op.body, walk);
        walk.calls.pop();
        env.restore(saved);
        if fault.is_some() || results.is_empty() {
            return fault;
        }
        self.any_fault(env, s, walk)
    }

    fn sequence_fault(&self, env: &mut Env, steps: &[Stmt], walk: &mut Walk) -> Option<Fault> {
        let (first, rest) = steps.split_first()?;
        if let Some(fault) = self.fault(env, first, walk) {
            return Some(fault);
        }
        if rest.is_empty() {
            return None;
        }
        for writes in self.outcomes(env, first) {
            let saved = enter(env, &writes);
            let fault = self.sequence_fault(env, rest, walk);
            env.restore(saved);
            if fault.is_some() {
                return fault;
            }
        }
        None
    }

    /// The distinct outcomes of a substitution, in a fixed order.
    fn outcomes(&self, env: &mut Env, s: &Stmt) -> Vec<Writes> {
        let mut out = Outcomes::default();
        let run = self.interpreter.exec(env, s, &mut out);
        self.note_stop(&run);
        out.writes.sort();
        out.writes.dedup();
        out.writes
    }

    fn loop_fault(
        &self,
        env: &mut Env,
        (cond, invariant): (&Pred, &Pred),
        variant: &Expr,
        body: &Stmt,
        walk: &mut Walk,
    ) -> Option<Fault> {
        let old: Vec<_> =
            self.machine.variables.iter().map(|v| (*v, env.replace_old(*v, env.get(*v).cloned()))).collect();
        let mut todo: Vec<(Writes, Option<Value>, usize)> = vec![(Writes::new(), None, 0)];
        let mut found = None;
        while let (Some((writes, last, turn)), None) = (todo.pop(), &found) {
            if self.interpreter.look().is_err() {
                self.cut_short.set(true);
                break;
            }
            let saved = enter(env, &writes);
            let mut fault = self.turn_fault(env, (cond, invariant), variant, last.as_ref(), walk);
            if fault.is_none() && matches!(self.interpreter.holds(env, cond), Ok(true)) {
                let measure = self.interpreter.eval(env, variant).ok();
                fault = self.fault(env, body, walk);
                if fault.is_none() {
                    let next = self.outcomes(env, body);
                    todo.extend(next.into_iter().map(|n| (merge(&writes, &n), measure.clone(), turn + 1)));
                }
            }
            if let Some(fault) = &mut fault {
                fault.node.notes.push(format!("in turn {} of the loop", turn + 1));
                let locals = writes.iter().filter_map(|(v, x)| self.user_named(*v, x));
                fault.locals.extend(locals);
            }
            found = fault;
            env.restore(saved);
        }
        old.into_iter().for_each(|(v, value)| {
            env.replace_old(v, value);
        });
        found
    }

    /// What is wrong with a loop before a turn.
    fn turn_fault(
        &self,
        env: &mut Env,
        (cond, invariant): (&Pred, &Pred),
        variant: &Expr,
        last: Option<&Value>,
        walk: &Walk,
    ) -> Option<Fault> {
        const KIND: FindingKind = FindingKind::Assertion;
        let words = self.interpreter.broken_words("the loop invariant", invariant);
        let broken = self.condition_fault(env, invariant, (KIND, &words), walk);
        if broken.is_some() || !matches!(self.interpreter.holds(env, invariant), Ok(true)) {
            return broken;
        }
        match self.interpreter.holds(env, cond) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(e) => return self.undefined_fault(env, cond, &e, walk),
        }
        let Ok(measure) = self.interpreter.eval(env, variant) else {
            return self.expr_fault(env, variant, walk);
        };
        let words = if measure < Value::int(0) {
            "the loop variant is negative"
        } else if last.is_some_and(|l| measure >= *l) {
            "the loop variant does not decrease"
        } else {
            return None;
        };
        if !(walk.wanted)(KIND, words) {
            return None;
        }
        let shown = measure.show(self.machine, &variant.ty);
        let mut node = Node::new(self.expr_text(variant, Span::default()), Worth::Value(shown));
        node.place = Place::of(self.sources, variant.span);
        if let Some(last) = last {
            node.notes.push(format!("it was {} before", last.show(self.machine, &variant.ty)));
        }
        Some(walk.fault(variant.span, node))
    }

    /// A name and a value for people, if the user gave the variable its name.
    pub(super) fn user_named(&self, v: VarId, value: &Value) -> Option<(String, String)> {
        let decl = self.machine.vars.get(v.0 as usize)?;
        let own = decl.name.starts_with(bombus_lang::typed::OWN) || decl.kind == VarKind::Constant;
        (!own).then(|| self.named(v, value))
    }
}

/// Puts writes into the environment; returns what to restore.
fn enter(env: &mut Env, writes: &Writes) -> Vec<(VarId, Option<Value>)> {
    writes.iter().map(|(v, x)| (*v, env.replace(*v, Some(x.clone())))).collect()
}
