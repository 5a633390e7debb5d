//! Operations as transitions: parameters and guards solved together, then the outcomes of the rest.
//!
//! In: a state. Out: the distinct transitions from it, the errors of its actions, the guards that
//! were undefined, and what could not be computed.
//! The outermost PRE, SELECT, WHEN, ANY and CHOICE of an operation are its guard; they are taken
//! apart once per operation, so that they bind parameters and chosen values in one search.

use crate::constant_part::Apart;
use crate::env::Env;
use crate::error::{Error, ErrorKind, Flow, Res};
use crate::exec::Outcomes;
use crate::solve::plan::Plan;
use crate::{Interpreter, State, Transition};
use bombus_analyse::effect_free_choice;
use bombus_base::hash::HashSet;
use bombus_lang::partiality::is_let_of_guard;
use bombus_lang::typed::{Expr, ExprKind, OpId, Pred, PredKind, RelOp, Stmt, StmtKind, VarId};
use bombus_lang::value::Value;
use std::sync::Arc;

/// An operation as a list of guarded alternatives.
pub struct Guarded {
    pub alternatives: Vec<Alternative>,
}

pub struct Alternative {
    pub plan: Plan,
    /// The plan in two parts, if one of them is the same in all states.
    apart: Option<Apart>,
    pub body: Stmt,
    /// Choices whose value cannot be seen in the states afterwards.
    inert: Vec<VarId>,
}

/// What is said of a choice in `Steps::sampled` that no state shows.
const SAME_STATES: &str = "all other values lead to the same states";

/// All that happens when the operations are tried in a state.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Distinct, in a fixed order.
    pub transitions: Vec<Transition>,
    /// Errors of actions, with the event.
    pub errors: Vec<(usize, Error)>,
    /// Guards that were undefined, with the event.
    pub undefined_guards: Vec<(usize, Error)>,
    /// What was not computed, with the event.
    pub incomplete: Vec<(usize, Error)>,
    /// Choices of which only the integers of the scope were tried, where all others lead to the same states or to
    /// states like them, with the event: transitions are missing, but nothing that a state could show.
    pub sampled: Vec<(usize, Error)>,
}

impl Steps {
    /// Files an error of a guard or an action of an alternative.
    fn file(&mut self, event: usize, e: Error, of: &Alternative, in_guard: bool) {
        let mut e = e;
        let list = match e.kind() {
            ErrorKind::Sampled(v) if of.inert.contains(&v) => {
                e = Error::new(e.kind(), e.span(), format!("{}; {SAME_STATES}", e.message()));
                &mut self.sampled
            }
            ErrorKind::Represented => &mut self.sampled,
            _ if !e.is_finding() => &mut self.incomplete,
            _ if in_guard => &mut self.undefined_guards,
            _ => &mut self.errors,
        };
        let told = !e.is_finding() && list.iter().any(|(of, f)| *of == event && f.message() == e.message());
        if !told {
            list.push((event, e));
        }
    }
}

impl Interpreter<'_> {
    /// All transitions from a state.
    pub fn transitions(&self, state: &State) -> Res<Steps> {
        let mut env = self.env(Some(state));
        self.transitions_in(&mut env, state)
    }

    /// The same in an environment that holds the state already.
    pub(crate) fn transitions_in(&self, env: &mut Env, state: &State) -> Res<Steps> {
        let mut steps = Steps::default();
        for event in 0..self.machine.events.len() {
            self.event_transitions(env, state, event, &mut steps)?;
        }
        Ok(steps)
    }

    pub(crate) fn event_transitions(
        &self,
        env: &mut Env,
        state: &State,
        event: usize,
        steps: &mut Steps,
    ) -> Res<()> {
        let id = self.machine.events[event];
        let op = self.machine.op(id);
        let guarded = self.guarded(id);
        // Event and constants are the same in all transitions of this call.
        let mut seen: HashSet<[Arc<[Value]>; 3]> = HashSet::new();
        let saved = env.take(&op.results);
        let result: Res<()> = (|| {
            for alternative in &guarded.alternatives {
                let mut each = |env: &mut Env, error: Option<&Error>| {
                    if let Some(e) = error {
                        if e.is_stop() {
                            return Err(e.clone());
                        }
                        steps.file(event, e.clone(), alternative, true);
                        return Ok(Flow::Go);
                    }
                    let mut params = Vec::with_capacity(op.params.len());
                    for v in &op.params {
                        let value = env.get(*v).cloned().unwrap_or_default();
                        params.push(self.canon(env, value)?);
                    }
                    let params: Arc<[Value]> = params.into();
                    let mut out = Outcomes::default();
                    self.exec(env, &alternative.body, &mut out)?;
                    for e in out.errors {
                        steps.file(event, e, alternative, false);
                    }
                    for writes in out.writes {
                        let mut results = Vec::with_capacity(op.results.len());
                        let mut missing = None;
                        for r in &op.results {
                            match writes.iter().find(|(v, _)| v == r) {
                                Some((_, x)) => results.push(x.clone()),
                                None => {
                                    missing = Some(*r);
                                    results.push(Value::unassigned());
                                }
                            }
                        }
                        // A fault, but the state afterwards is as well determined as ever.
                        if let Some(r) = missing {
                            steps.errors.push((event, self.uninitialised(r, op.span)));
                        }
                        let transition = Transition {
                            event,
                            params: params.clone(),
                            results: results.into(),
                            target: self.target(state, &writes),
                        };
                        let Transition { params, results, target, .. } = &transition;
                        if seen.insert([params.clone(), results.clone(), target.variables.clone()]) {
                            steps.transitions.push(transition);
                        }
                    }
                    Ok(Flow::Go)
                };
                let done = match &alternative.apart {
                    Some(apart) => self.run_apart(env, apart, &mut each)?,
                    None => false,
                };
                if !done {
                    self.run_plan(env, &alternative.plan, &mut each)?;
                }
            }
            Ok(())
        })();
        env.restore(saved);
        // Without a transition nothing is missing: the guard fails, or the action is infeasible, for all values.
        if seen.is_empty() {
            steps.sampled.retain(|(e, _)| *e != event);
        }
        match result {
            Err(e) if e.is_stop() => Err(e),
            Err(e) => {
                steps.incomplete.push((event, e));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn target(&self, state: &State, writes: &[(VarId, Value)]) -> State {
        if !writes.iter().any(|(v, _)| self.machine.variables.contains(v)) {
            return state.clone();
        }
        let variables = self
            .machine
            .variables
            .iter()
            .zip(state.variables.iter())
            .map(|(v, old)| writes.iter().find(|(w, _)| w == v).map_or(old, |(_, x)| x).clone())
            .collect();
        State { constants: state.constants.clone(), variables }
    }

    pub fn guarded(&self, id: OpId) -> Arc<Guarded> {
        let key = id.0 as usize;
        if let Some(g) = self.cache.operations.borrow().get(&key) {
            return g.clone();
        }
        let op = self.machine.op(id);
        let mut alternatives = alternatives_of(&op.body, op.params.clone());
        for a in &mut alternatives {
            let choices = a.plan.vars.iter().chain(&op.results).copied();
            a.apart = if a.plan.stages.is_empty() { Apart::of(self.machine, &a.plan) } else { None };
            a.inert = choices.filter(|v| effect_free_choice::is_inert(self.machine, &a.body, *v)).collect();
        }
        let g = Arc::new(Guarded { alternatives });
        self.cache.operations.borrow_mut().insert(key, g.clone());
        g
    }
}

/// The guarded alternatives of a substitution; `params` are bound by the guards.
pub(crate) fn alternatives_of(body: &Stmt, params: Vec<VarId>) -> Vec<Alternative> {
    let mut branches = Vec::new();
    expand(body, true, params, Vec::new(), &mut branches);
    let alternative = |branch: Branch| {
        let refs: Vec<&Pred> = branch.preds.iter().collect();
        let plan = Plan::staged(&branch.vars, &refs);
        Alternative { plan, apart: None, body: branch.body.clone(), inert: Vec::new() }
    };
    branches.into_iter().map(alternative).collect()
}

/// The guards of an operation, one for each alternative: the variables that they bind, and their conjuncts in the
/// order of the text.
pub fn guards_of(body: &Stmt, params: &[VarId]) -> Vec<(Vec<VarId>, Vec<Pred>)> {
    let mut branches = Vec::new();
    expand(body, true, params.to_vec(), Vec::new(), &mut branches);
    let guard = |branch: Branch| {
        let parts = branch.preds.iter().flat_map(Pred::conjuncts).cloned().collect();
        (branch.vars, parts)
    };
    branches.into_iter().map(guard).collect()
}

/// One way through the guards in front of a substitution.
struct Branch<'s> {
    vars: Vec<VarId>,
    preds: Vec<Pred>,
    body: &'s Stmt,
}

/// Peels the guards off a substitution. A PRE is a guard only as long as nothing else stands before it.
fn expand<'s>(s: &'s Stmt, outermost: bool, vars: Vec<VarId>, preds: Vec<Pred>, out: &mut Vec<Branch<'s>>) {
    let with = |p: &Pred| {
        let mut preds = preds.clone();
        preds.push(p.clone());
        preds
    };
    match &s.kind {
        StmtKind::Pre(p, body) if outermost => expand(body, true, vars, with(p), out),
        StmtKind::Select(branches, other) => {
            for (p, body) in branches {
                expand(body, false, vars.clone(), with(p), out);
            }
            if let Some(body) = other {
                let none = branches
                    .iter()
                    .map(|(p, _)| Pred { kind: PredKind::Not(Box::new(p.clone())), span: p.span })
                    .collect();
                let none = Pred { kind: PredKind::And(none), span: s.span };
                expand(body, false, vars, with(&none), out);
            }
        }
        StmtKind::Any(more, p, body) => {
            let mut vars = vars.clone();
            vars.extend(more);
            expand(body, false, vars, with(p), out);
        }
        StmtKind::Choice(branches) => {
            for b in branches {
                expand(b, false, vars.clone(), preds.clone(), out);
            }
        }
        // A LET in front of a guard is part of it: parameters may be typed by what it names. One that may be undefined
        // is an action.
        StmtKind::Let(bindings, body) if is_let_of_guard(bindings, body) => {
            let mut vars = vars.clone();
            let mut preds = preds.clone();
            for (v, e) in bindings {
                vars.push(*v);
                let var = Expr { kind: ExprKind::Var(*v), ty: e.ty.clone(), span: e.span };
                preds.push(Pred { kind: PredKind::Rel(RelOp::Equal, var, e.clone()), span: e.span });
            }
            expand(body, false, vars, preds, out);
        }
        StmtKind::Seq(one) | StmtKind::Par(one) if one.len() == 1 => {
            expand(&one[0], outermost, vars, preds, out);
        }
        _ => out.push(Branch { vars, preds, body: s }),
    }
}
