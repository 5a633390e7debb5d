//! Events: parameters and guards as one search, the body behind it, a transition at the end of each path.
//!
//! A guard conjunct that is undefined disables its instance unless another conjunct is false anyway;
//! it raises a flag and the search goes on, and an instance that arrives at the end with a flag up is
//! counted as undefined instead of being taken.

use super::stmt::Writes;
use super::*;
use crate::plan::{self, PlanStep};
use crate::uses::Uses;
use bombus_analyse::substitution::contradict;
use bombus_kernels::faults::fault;
use bombus_lang::typed::{OpId, PredKind, Stmt, StmtKind};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// An event in code.
#[derive(Clone, Debug)]
pub struct EventCode {
    pub entry: u32,
    /// Whether two paths may end in equal transitions.
    pub may_repeat: bool,
}

/// What one emission packs.
#[derive(Clone, Debug)]
pub struct Emission {
    /// Written variables of the state.
    pub writes: Vec<(VarId, Operand)>,
    /// Parameters, then results: they tell transitions apart.
    pub label: Vec<Operand>,
}

/// One guarded alternative of a body: what is chosen, under which conjuncts, and what is done then.
pub struct Alternative<'s> {
    pub vars: Vec<VarId>,
    pub conjuncts: Vec<Pred>,
    /// Numbers of conjuncts at the front that may be undefined and stand in front of other guards: where one of
    /// these is undefined, the guards behind it are not looked at.
    pub stages: Vec<usize>,
    pub body: &'s Stmt,
}

/// The guards that stand in front of a part of a body.
#[derive(Clone, Default)]
struct Before {
    vars: Vec<VarId>,
    conjuncts: Vec<Pred>,
    stages: Vec<usize>,
}

impl Before {
    /// The same with one more guard behind.
    fn with(&self, more: impl IntoIterator<Item = Pred>) -> Before {
        let mut all = self.clone();
        let n = all.conjuncts.len();
        let since = all.stages.last().copied().unwrap_or(0);
        if all.conjuncts[since..].iter().any(Lower::may_be_undefined) {
            all.stages.push(n);
        }
        all.conjuncts.extend(more);
        all
    }
}

/// Peels the guards off a body. The outermost PRE, SELECT, ANY and CHOICE are the guard; a PRE is one
/// only as long as nothing else stands before it.
pub fn alternatives<'s>(params: &[VarId], body: &'s Stmt) -> Vec<Alternative<'s>> {
    let mut out = Vec::new();
    let before = Before { vars: params.to_vec(), ..Before::default() };
    expand(body, true, before, &mut out);
    out
}

fn expand<'s>(s: &'s Stmt, outermost: bool, before: Before, out: &mut Vec<Alternative<'s>>) {
    match &s.kind {
        StmtKind::Pre(p, body) if outermost => expand(body, true, before.with(plan::conjuncts(p)), out),
        StmtKind::Select(cases, other) => {
            for (p, body) in cases {
                expand(body, false, before.with(plan::conjuncts(p)), out);
            }
            if let Some(body) = other {
                let skipped = usize::from(fault("lowering: ELSE forgets the first guard of a SELECT"));
                let none = cases
                    .iter()
                    .skip(skipped)
                    .map(|(p, _)| Pred { kind: PredKind::Not(Box::new(p.clone())), span: p.span });
                expand(body, false, before.with(none), out);
            }
        }
        StmtKind::Any(more, p, body) => {
            let mut conjuncts = plan::conjuncts(p);
            if fault("lowering: the last conjunct of an ANY is lost") {
                conjuncts.pop();
            }
            let mut inner = before.with(conjuncts);
            inner.vars.extend(more);
            expand(body, false, inner, out);
        }
        StmtKind::Choice(branches) => {
            let skipped = usize::from(fault("lowering: the first branch of a CHOICE is lost"));
            branches.iter().skip(skipped).for_each(|b| expand(b, false, before.clone(), out));
        }
        StmtKind::Seq(one) | StmtKind::Par(one) if one.len() == 1 => {
            expand(&one[0], outermost, before, out);
        }
        _ => {
            let Before { vars, conjuncts, stages } = before;
            out.push(Alternative { vars, conjuncts, stages, body: s });
        }
    }
}

impl Lower<'_> {
    /// Code that emits every transition of an event. `state` says where the variables stand.
    pub fn event(&mut self, op: OpId, state: &Env) -> Low<EventCode> {
        let machine = self.w.machine;
        let operation = machine.op(op);
        let all = alternatives(&operation.params, &operation.body);
        self.begin_piece();
        let entry = self.here();
        let emissions = self.emissions.len();
        let mut repeat = all.len() > 1;
        for alternative in &all {
            repeat |= alternative.vars.len() > operation.params.len() || chooses(alternative.body, machine);
            let done = self.search_stages(alternative, state).and_then(|()| {
                self.search_guard(alternative, state, &mut |lower, env| {
                    let mut env = env.clone();
                    operation.results.iter().for_each(|r| {
                        env.now.remove(r);
                    });
                    lower.stmt(alternative.body, &env, true, &mut |lower, writes| {
                        lower.emission(&operation.params, &operation.results, &env, writes)
                    })
                })
            });
            if let Err(e) = done {
                self.rewind(entry);
                self.emissions.truncate(emissions);
                return Err(e);
            }
        }
        self.emit(Op::Halt);
        Ok(EventCode { entry, may_repeat: repeat })
    }

    /// Looks for undefined guards in front of others, which hide nothing of them.
    fn search_stages(&mut self, guard: &Alternative<'_>, state: &Env) -> Low<()> {
        for n in &guard.stages {
            let conjuncts = guard.conjuncts[..*n].to_vec();
            let used: BTreeSet<VarId> = conjuncts.iter().flat_map(|c| Uses::of_pred(c).reads).collect();
            let vars = guard.vars.iter().copied().filter(|v| used.contains(v)).collect();
            let stage = Alternative { vars, conjuncts, stages: Vec::new(), body: guard.body };
            self.search_guard(&stage, state, &mut |_, _| Ok(()))?;
        }
        Ok(())
    }

    /// Emits `body` for all values of the parameters that satisfy the guard. Where that has no code as it stands, a
    /// parameter without a layout may have few values.
    pub(super) fn search_guard(
        &mut self,
        guard: &Alternative<'_>,
        state: &Env,
        body: &mut dyn FnMut(&mut Self, &Env) -> Low<()>,
    ) -> Low<()> {
        // No values satisfy the guard, and what shows that is defined for all of them.
        if contradict(&guard.conjuncts.iter().collect::<Vec<_>>(), &guard.vars) {
            return Ok(());
        }
        let (mark, next, emissions) = (self.here(), self.next, self.emissions.len());
        let Err(why) = self.search_at_once(guard, false, state, body) else { return Ok(()) };
        let again = |s: &mut Self| {
            s.rewind(mark);
            s.next = next;
            s.emissions.truncate(emissions);
        };
        again(self);
        if self.search_given(guard, state, body).is_ok() {
            return Ok(());
        }
        again(self);
        self.search_at_once(guard, true, state, body).map_err(|_| why)
    }

    fn search_at_once(
        &mut self,
        guard: &Alternative<'_>,
        lists: bool,
        state: &Env,
        body: &mut dyn FnMut(&mut Self, &Env) -> Low<()>,
    ) -> Low<()> {
        let mut plan = plan::plan(&guard.vars, guard.conjuncts.clone(), self);
        let mut beyond = None;
        if let Some(v) = plan.unbounded
            && let Some(bound) = self.argument_bound(v, &guard.conjuncts)
        {
            let conjuncts = guard.conjuncts.iter().cloned().chain([bound]).collect();
            plan = plan::plan(&guard.vars, conjuncts, self);
            beyond = Some(v);
        }
        if lists {
            let Some(listed) = self.with_lists(&plan) else { return unsupported("no lists") };
            plan = listed;
        }
        if plan.unbounded.is_some() {
            return unsupported("an unbounded parameter");
        }
        // Tests that stand behind all loops, with no other behind them, need no flag.
        let last = match plan.steps.last() {
            Some(PlanStep::Test(i)) => Some(*i),
            _ => None,
        };
        let mut flags: BTreeMap<usize, Reg> = BTreeMap::new();
        for step in &plan.steps {
            if let PlanStep::Test(i) = step
                && Self::may_be_undefined(&plan.conjuncts[*i])
                && Some(*i) != last
            {
                flags.insert(*i, self.alloc(1)?);
            }
        }
        let (end, undefined) = (self.label(), self.label());
        // Whether a test can be undefined after all: most turn out not to be when they are lowered.
        let raised: RefCell<BTreeSet<usize>> = RefCell::default();
        // Where an undefined instance goes on is known only at run time, by the innermost loop: the
        // subroutine counts and returns.
        self.steps(
            &plan,
            0,
            state,
            end,
            &mut |s, i, env, next| match flags.get(&i) {
                Some(flag) => {
                    let (up, go) = (s.label(), s.label());
                    let mark = s.here();
                    s.with_wd(up, |s| s.jump_unless(&plan.conjuncts[i], env, next))?;
                    if !s.jumps_to(up, mark) {
                        raised.borrow_mut().remove(&i);
                        return Ok(());
                    }
                    raised.borrow_mut().insert(i);
                    s.emit(Op::Const { d: *flag, v: 0 });
                    s.emit(Op::Jump { l: go });
                    s.place(up);
                    s.emit(Op::Const { d: *flag, v: 1 });
                    s.place(go);
                    Ok(())
                }
                None if Some(i) == last && Self::may_be_undefined(&plan.conjuncts[i]) => {
                    let (up, go) = (s.label(), s.label());
                    let mark = s.here();
                    s.with_wd(up, |s| s.jump_unless(&plan.conjuncts[i], env, next))?;
                    if !s.jumps_to(up, mark) {
                        return Ok(());
                    }
                    s.emit(Op::Jump { l: go });
                    s.place(up);
                    s.emit(Op::Call { l: undefined });
                    s.emit(Op::Jump { l: next });
                    s.place(go);
                    Ok(())
                }
                None => s.jump_unless(&plan.conjuncts[i], env, next),
            },
            &mut |s, env, next| {
                let raised = raised.borrow().clone();
                for flag in raised.iter().filter_map(|i| flags.get(i)) {
                    let go = s.label();
                    s.emit(Op::JumpEqImm { a: *flag, i: 0, l: go });
                    s.emit(Op::Call { l: undefined });
                    s.emit(Op::Jump { l: next });
                    s.place(go);
                }
                body(s, env)
            },
        )?;
        // The search above comes out here.
        self.place(end);
        let done = self.label();
        if let Some(v) = beyond {
            self.search_beyond(guard, v, state, undefined)?;
        }
        self.emit(Op::Jump { l: done });
        self.place(undefined);
        self.emit(Op::Undefined);
        self.emit(Op::Ret);
        self.place(done);
        Ok(())
    }

    /// A parameter that only the domain of a function bounds leaves the guard undefined beyond that domain, unless
    /// what is said of the others is false.
    fn search_beyond(&mut self, guard: &Alternative<'_>, v: VarId, state: &Env, undefined: Label) -> Low<()> {
        let (about, others): (Vec<Pred>, Vec<Pred>) =
            guard.conjuncts.iter().cloned().partition(|c| Uses::of_pred(c).reads.contains(&v));
        if about.iter().any(|c| matches!(c.kind, PredKind::Forall(..))) {
            return unsupported("a quantifier about a parameter without an end");
        }
        let used: BTreeSet<VarId> = others.iter().flat_map(|c| Uses::of_pred(c).reads).collect();
        let vars: Vec<VarId> = guard.vars.iter().copied().filter(|w| used.contains(w)).collect();
        let misfit = self.misfit;
        self.with_wd(misfit, |s| {
            s.search(&vars, others, state, &mut |s, _, _| {
                s.emit(Op::Call { l: undefined });
                Ok(())
            })
        })
    }

    fn emission(&mut self, params: &[VarId], results: &[VarId], env: &Env, writes: &Writes) -> Low<()> {
        let mut label = Vec::new();
        for p in params {
            let Some(x) = env.now.get(p) else { return unsupported("a parameter without a value") };
            let layout = self.label_layout(*p);
            label.push(self.convert(x.clone(), &layout)?);
        }
        for r in results {
            let Some(x) = writes.get(r) else { return unsupported("a result without a value") };
            let layout = self.label_layout(*r);
            label.push(self.convert(x.clone(), &layout)?);
        }
        let mut written = Vec::new();
        let skipped = usize::from(fault("lowering: a variable that is written keeps its value"));
        for (v, x) in writes.iter().skip(skipped) {
            if let Some(layout) = self.declared.get(v).cloned() {
                written.push((*v, self.convert(x.clone(), &layout)?));
            }
        }
        if self.emissions.len() >= usize::from(u16::MAX) {
            return unsupported("too many emissions");
        }
        self.emissions.push(Emission { writes: written, label });
        self.emit(Op::Emit { t: (self.emissions.len() - 1) as u16 });
        Ok(())
    }

    /// The layout in which a parameter or result is hashed: a function of its type alone, so that
    /// both ways of evaluation give equal labels.
    pub fn label_layout(&self, v: VarId) -> Layout {
        crate::label_layout(self.w.machine, &self.w.machine.var(v).ty)
    }
}

/// Whether a substitution may have several outcomes.
fn chooses(s: &Stmt, m: &Machine) -> bool {
    match &s.kind {
        StmtKind::Skip | StmtKind::Assign(_) | StmtKind::External(..) => false,
        StmtKind::BecomesIn(..)
        | StmtKind::BecomesSuch(..)
        | StmtKind::Choice(_)
        | StmtKind::Select(..)
        | StmtKind::Any(..)
        | StmtKind::While { .. } => true,
        StmtKind::Pre(_, s) | StmtKind::Assert(_, _, s) | StmtKind::Witness(_, s) => chooses(s, m),
        StmtKind::Let(_, s) | StmtKind::Var(_, s) => chooses(s, m),
        StmtKind::If(cases, other) => {
            cases.iter().any(|(_, s)| chooses(s, m)) || other.as_ref().is_some_and(|s| chooses(s, m))
        }
        StmtKind::Case(_, cases, other) => {
            cases.iter().any(|(_, s)| chooses(s, m)) || other.as_ref().is_some_and(|s| chooses(s, m))
        }
        StmtKind::Seq(ss) | StmtKind::Par(ss) => ss.iter().any(|s| chooses(s, m)),
        StmtKind::Call { op, .. } => chooses(&m.op(*op).body, m),
    }
}

/// Variables of the state that an event may write.
pub fn written(op: OpId, m: &Machine) -> BTreeSet<VarId> {
    Uses::of_stmt(&m.op(op).body, m).writes
}
