//! Substitutions: one outcome, chosen by literals.
//!
//! In: a substitution, the environment before it, the literal of its being reached. Out: the environment after it, the
//! literal of its having this outcome, and the literals of what goes wrong in it. Choices (branches, ANY, `::`, `:(P)`)
//! are fresh literals and leaves, so every outcome and every fault is a model; `Notes` keeps them, so that a model can be
//! replayed. The guards of an event are looked at as in a transition: where one is undefined the event is not enabled.

use super::term::Term;
use super::{Encoder, Env, Slot};
use crate::sat::Lit;
use bombus_base::Span;
use bombus_lang::partiality::{is_let_of_guard, may_be_undefined};
use bombus_lang::typed::{Expr, Machine, OpId, Pred, Step, Stmt, StmtKind, Target, VarId};
use bombus_lang::walk::{Visit, visit_stmt};
use std::collections::BTreeSet;

/// What happened on the way through a substitution.
#[derive(Default)]
pub struct Notes {
    /// Each literal holds where something goes wrong.
    pub faults: Vec<Lit>,
    /// What was chosen: by the place of the substitution, or by a variable alone for parameters and ANY.
    pub choices: Vec<(Option<Span>, VarId, Term)>,
    /// The literals of branches that were chosen freely.
    pub branches: Vec<Lit>,
}

/// One way through an event, or through the initialisation.
pub struct Outcome {
    /// The event is enabled and has this outcome.
    pub taken: Lit,
    /// Something goes wrong in it.
    pub fault: Lit,
    pub env: Env,
    pub notes: Notes,
}

impl Encoder<'_> {
    /// An event in a state.
    pub fn event(&mut self, state: &Env, op: OpId) -> Outcome {
        let machine = self.machine;
        let op = machine.op(op);
        let mut env = state.clone();
        let mut notes = Notes::default();
        let mut guards = Vec::new();
        collect_guards(&op.body, &mut guards);
        for v in op.params.iter().chain(&op.results) {
            env.put(*v, None);
        }
        self.bind_leaves(&mut env, &op.params, &guards);
        for v in &op.params {
            if let Some(slot) = env.get(*v) {
                notes.choices.push((None, *v, slot.term.clone()));
            }
        }
        let mut taken = self.guarded(&mut env, &op.body, true, Lit::TRUE, &mut notes);
        for v in &op.results {
            let set = env.get(*v).map_or(Lit::FALSE, |s| s.set);
            let missing = self.g.and(taken, !set);
            notes.faults.push(missing);
        }
        if self.is_full() {
            // What is left out might have been possible.
            self.weak("too many literals for an event".into());
            taken = self.g.fresh();
        }
        let fault = self.g.or_all(&notes.faults);
        Outcome { taken, fault, env, notes }
    }

    /// The initialisation, from an environment that holds the constants.
    pub fn initialisation(&mut self, constants: &Env) -> Outcome {
        let machine = self.machine;
        let mut env = constants.clone();
        for v in &machine.variables {
            env.put(*v, None);
        }
        let mut notes = Notes::default();
        let taken = self.exec(&mut env, &machine.initialisation, Lit::TRUE, &mut notes);
        for v in &machine.variables {
            let set = env.get(*v).map_or(Lit::FALSE, |s| s.set);
            let missing = self.g.and(taken, !set);
            notes.faults.push(missing);
            if env.get(*v).is_none() {
                let term = self.leaf_of(&machine.var(*v).ty);
                env.bind(*v, term);
            }
        }
        let fault = self.g.or_all(&notes.faults);
        Outcome { taken, fault, env, notes }
    }

    /// A substitution whose opening guards say whether an event is enabled.
    fn guarded(&mut self, env: &mut Env, s: &Stmt, outermost: bool, pc: Lit, notes: &mut Notes) -> Lit {
        match &s.kind {
            StmtKind::Pre(p, body) if outermost => {
                let go = self.guard(env, p, pc, notes);
                let inner = self.g.and(pc, go);
                let rest = self.guarded(env, body, true, inner, notes);
                self.g.and(go, rest)
            }
            StmtKind::Select(branches, other) => {
                self.selected(env, branches, other.as_deref(), pc, true, notes)
            }
            StmtKind::Any(vars, p, body) => {
                self.choose_leaves(env, vars, p, None, notes);
                let go = self.guard(env, p, pc, notes);
                let inner = self.g.and(pc, go);
                let rest = self.guarded(env, body, false, inner, notes);
                self.g.and(go, rest)
            }
            StmtKind::Choice(branches) => {
                let bodies: Vec<(Lit, &Stmt)> = branches.iter().map(|b| (Lit::TRUE, b)).collect();
                self.one_branch(env, &bodies, pc, true, notes)
            }
            StmtKind::Let(bindings, body) if is_let_of_guard(bindings, body) => {
                for (v, e) in bindings {
                    let (term, _) = self.expr(env, e);
                    env.bind(*v, term);
                }
                self.guarded(env, body, false, pc, notes)
            }
            StmtKind::Seq(one) | StmtKind::Par(one) if one.len() == 1 => {
                self.guarded(env, &one[0], outermost, pc, notes)
            }
            _ => self.exec(env, s, pc, notes),
        }
    }

    /// A guard that is undefined does not hold; that may be a finding.
    fn guard(&mut self, env: &mut Env, p: &Pred, pc: Lit, notes: &mut Notes) -> Lit {
        let t = self.pred(env, p);
        if self.options.strict_guards {
            let undefined = self.g.and(pc, !t.defined);
            notes.faults.push(undefined);
        }
        self.surely(t)
    }

    fn choose_leaves(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        p: &Pred,
        at: Option<Span>,
        notes: &mut Notes,
    ) {
        for v in vars {
            env.put(*v, None);
        }
        self.bind_leaves(env, vars, &[p]);
        for v in vars {
            if let Some(slot) = env.get(*v) {
                notes.choices.push((at, *v, slot.term.clone()));
            }
        }
    }

    /// A condition of an action: the literal of its holding, where being undefined is a fault.
    fn condition(&mut self, env: &mut Env, p: &Pred, pc: Lit, notes: &mut Notes) -> Lit {
        let t = self.pred(env, p);
        let undefined = self.g.and(pc, !t.defined);
        notes.faults.push(undefined);
        self.surely(t)
    }

    pub(super) fn operand(&mut self, env: &mut Env, e: &Expr, pc: Lit, notes: &mut Notes) -> (Term, Lit) {
        let (term, d) = self.expr(env, e);
        let undefined = self.g.and(pc, !d);
        notes.faults.push(undefined);
        (term, d)
    }

    /// The literal of the substitution having an outcome; `env` holds it.
    pub(super) fn exec(&mut self, env: &mut Env, s: &Stmt, pc: Lit, notes: &mut Notes) -> Lit {
        match &s.kind {
            StmtKind::Skip | StmtKind::External(..) => Lit::TRUE,
            StmtKind::Assign(pairs) => self.assign(env, pairs, pc, notes),
            StmtKind::BecomesIn(vars, set) => self.becomes_in(env, vars, set, s.span, pc, notes),
            StmtKind::BecomesSuch(vars, p) => {
                let saved: Vec<_> =
                    vars.iter().map(|v| (*v, env.put_old(*v, env.get(*v).cloned()))).collect();
                self.choose_leaves(env, vars, p, Some(s.span), notes);
                let go = self.condition(env, p, pc, notes);
                for (v, slot) in saved {
                    env.put_old(v, slot);
                }
                go
            }
            StmtKind::Pre(p, body) | StmtKind::Assert(_, p, body) | StmtKind::Witness(p, body) => {
                let t = self.pred(env, p);
                let go = self.surely(t);
                let fault = self.g.and(pc, !go);
                notes.faults.push(fault);
                let inner = self.g.and(pc, go);
                let rest = self.exec(env, body, inner, notes);
                self.g.and(go, rest)
            }
            StmtKind::Choice(branches) => {
                let bodies: Vec<(Lit, &Stmt)> = branches.iter().map(|b| (Lit::TRUE, b)).collect();
                self.one_branch(env, &bodies, pc, false, notes)
            }
            StmtKind::If(branches, other) => self.first_true(env, branches, other.as_deref(), pc, notes),
            StmtKind::Select(branches, other) => {
                self.selected(env, branches, other.as_deref(), pc, false, notes)
            }
            StmtKind::Case(e, branches, other) => self.case(env, e, branches, other.as_deref(), pc, notes),
            StmtKind::Any(vars, p, body) => {
                self.choose_leaves(env, vars, p, None, notes);
                let go = self.condition(env, p, pc, notes);
                let inner = self.g.and(pc, go);
                let rest = self.exec(env, body, inner, notes);
                self.g.and(go, rest)
            }
            StmtKind::Let(bindings, body) => {
                let mut go = Lit::TRUE;
                for (v, e) in bindings {
                    let here = self.g.and(pc, go);
                    let (term, d) = self.operand(env, e, here, notes);
                    env.bind(*v, term);
                    go = self.g.and(go, d);
                }
                let inner = self.g.and(pc, go);
                let rest = self.exec(env, body, inner, notes);
                self.g.and(go, rest)
            }
            StmtKind::Var(vars, body) => {
                for v in vars {
                    env.put(*v, None);
                }
                let go = self.exec(env, body, pc, notes);
                for v in vars {
                    env.put(*v, None);
                }
                go
            }
            StmtKind::While { cond, body, invariant, variant } => {
                self.repeated(env, (cond, body, invariant, variant), pc, notes)
            }
            StmtKind::Call { op, args, results } => self.call(env, *op, args, results, pc, notes),
            StmtKind::Seq(steps) => {
                let mut go = Lit::TRUE;
                for step in steps {
                    let here = self.g.and(pc, go);
                    let next = self.exec(env, step, here, notes);
                    go = self.g.and(go, next);
                }
                go
            }
            StmtKind::Par(branches) => self.parallel(env, branches, pc, notes),
        }
    }

    fn assign(&mut self, env: &mut Env, pairs: &[(Target, Expr)], pc: Lit, notes: &mut Notes) -> Lit {
        let mut go = Lit::TRUE;
        let mut values = Vec::with_capacity(pairs.len());
        for (target, e) in pairs {
            let here = self.g.and(pc, go);
            let (term, d) = self.operand(env, e, here, notes);
            go = self.g.and(go, d);
            values.push((target, term));
        }
        let mut written: Vec<(VarId, Slot)> = Vec::new();
        for (target, value) in values {
            let (term, d) = if target.path.is_empty() {
                (value, Lit::TRUE)
            } else {
                // Several places inside one variable are written one after the other.
                let whole = written.iter().find(|(v, _)| *v == target.var).map(|(_, s)| s.clone());
                let whole = whole.or_else(|| env.get(target.var).cloned());
                match whole {
                    None => (self.leaf_of(&self.machine.var(target.var).ty.clone()), Lit::FALSE),
                    Some(slot) => match self.updated(env, &slot.term, &target.path, &value) {
                        Some((term, d)) => (term, self.g.and(d, slot.set)),
                        None => {
                            self.weak(format!("an assignment inside {}", self.machine.var(target.var).name));
                            let term = self.leaf_of(&self.machine.var(target.var).ty.clone());
                            (term, self.g.fresh())
                        }
                    },
                }
            };
            let here = self.g.and(pc, go);
            let undefined = self.g.and(here, !d);
            notes.faults.push(undefined);
            go = self.g.and(go, d);
            written.retain(|(v, _)| *v != target.var);
            written.push((target.var, Slot { term, set: Lit::TRUE }));
        }
        for (v, slot) in written {
            env.put(v, Some(slot));
        }
        go
    }

    /// `whole` with the place at the end of the path replaced.
    pub(super) fn updated(
        &mut self,
        env: &mut Env,
        whole: &Term,
        path: &[Step],
        value: &Term,
    ) -> Option<(Term, Lit)> {
        let Some((step, rest)) = path.split_first() else { return Some((value.clone(), Lit::TRUE)) };
        match step {
            Step::Index(e) => {
                let (at, mut d) = self.expr(env, e);
                let new = if rest.is_empty() {
                    value.clone()
                } else {
                    if let Term::Images(images) = whole {
                        let (inner, there) = self.image_at(images, &at, &bombus_lang::typed::Type::Any)?;
                        let (new, e) = self.updated(env, &inner, rest, value)?;
                        let fine = self.g.and_all(&[d, there, e]);
                        return Some((self.overridden(whole, &at, &new)?, fine));
                    }
                    let mut inner: Option<Term> = None;
                    let mut some = Vec::new();
                    for (v, l) in whole.as_set()?.clone() {
                        let (from, to) = v.as_pair()?;
                        let here = self.is_value(&at, from)?;
                        let hit = self.g.and(l, here);
                        some.push(hit);
                        let to = self.known(to);
                        inner = Some(match inner {
                            None => to,
                            Some(before) => self.choose(hit, &to, &before),
                        });
                    }
                    let one = self.g.exactly_one(&some);
                    d = self.g.and(d, one);
                    let (new, e) = self.updated(env, &inner?, rest, value)?;
                    d = self.g.and(d, e);
                    new
                };
                Some((self.overridden(whole, &at, &new)?, d))
            }
            Step::Field(i) => {
                let Term::Rec(parts) = whole else { return None };
                let (new, d) = self.updated(env, &parts[*i].clone(), rest, value)?;
                let mut parts = parts.to_vec();
                parts[*i] = new;
                Some((Term::Rec(parts.into()), d))
            }
        }
    }

    fn becomes_in(
        &mut self,
        env: &mut Env,
        vars: &[VarId],
        set: &Expr,
        at: Span,
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let defined = if may_be_undefined(set) { self.expr(env, set).1 } else { Lit::TRUE };
        let undefined = self.g.and(pc, !defined);
        notes.faults.push(undefined);
        let value = self.leaf_in(env, vars, set);
        let member = self.member(env, &value, set);
        let member = member.unwrap_or_else(|| {
            self.weak(format!("a choice from a set (byte {} of the text)", at.start));
            self.g.fresh()
        });
        let parts = super::expr::components(&value, vars.len());
        for (i, v) in vars.iter().enumerate() {
            let term = match &parts {
                Some(parts) => parts[i].clone(),
                None => self.leaf_of(&self.machine.var(*v).ty.clone()),
            };
            notes.choices.push((Some(at), *v, term.clone()));
            env.bind(*v, term);
        }
        self.g.and(member, defined)
    }

    /// One of several branches, by a choice that no condition makes.
    fn one_branch(
        &mut self,
        env: &mut Env,
        branches: &[(Lit, &Stmt)],
        pc: Lit,
        guards: bool,
        notes: &mut Notes,
    ) -> Lit {
        let chosen = self.g.one_hot(branches.len().max(1));
        notes.branches.extend(&chosen);
        let before = env.clone();
        let mut go = Vec::new();
        for (i, (condition, body)) in branches.iter().enumerate() {
            let mut inner = before.clone();
            let own = self.g.and(chosen[i], *condition);
            let here = self.g.and(pc, own);
            let done = if guards {
                self.guarded(&mut inner, body, false, here, notes)
            } else {
                self.exec(&mut inner, body, here, notes)
            };
            go.push(self.g.and(own, done));
            if i == 0 {
                *env = inner;
            } else {
                *env = self.merged_env(own, &inner, env);
            }
        }
        self.g.or_all(&go)
    }

    fn selected(
        &mut self,
        env: &mut Env,
        branches: &[(Pred, Stmt)],
        other: Option<&Stmt>,
        pc: Lit,
        guards: bool,
        notes: &mut Notes,
    ) -> Lit {
        let mut bodies = Vec::with_capacity(branches.len() + 1);
        let mut none = Vec::new();
        for (p, body) in branches {
            let t = self.pred(env, p);
            if !guards || self.options.strict_guards {
                let undefined = self.g.and(pc, !t.defined);
                notes.faults.push(undefined);
            }
            none.push(self.surely_not(t));
            bodies.push((self.surely(t), body));
        }
        if let Some(body) = other {
            bodies.push((self.g.and_all(&none), body));
        }
        self.one_branch(env, &bodies, pc, guards, notes)
    }

    fn first_true(
        &mut self,
        env: &mut Env,
        branches: &[(Pred, Stmt)],
        other: Option<&Stmt>,
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let Some(((p, body), rest)) = branches.split_first() else {
            return match other {
                Some(body) => self.exec(env, body, pc, notes),
                None => Lit::TRUE,
            };
        };
        let t = self.pred(env, p);
        let undefined = self.g.and(pc, !t.defined);
        notes.faults.push(undefined);
        self.branch(
            env,
            t.holds,
            t.defined,
            pc,
            notes,
            &mut |this, env, pc, notes| this.exec(env, body, pc, notes),
            &mut |this, env, pc, notes| this.first_true(env, rest, other, pc, notes),
        )
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn branch(
        &mut self,
        env: &mut Env,
        holds: Lit,
        defined: Lit,
        pc: Lit,
        notes: &mut Notes,
        yes: &mut dyn FnMut(&mut Self, &mut Env, Lit, &mut Notes) -> Lit,
        no: &mut dyn FnMut(&mut Self, &mut Env, Lit, &mut Notes) -> Lit,
    ) -> Lit {
        if defined == Lit::TRUE && holds.is_constant() {
            return if holds == Lit::TRUE { yes(self, env, pc, notes) } else { no(self, env, pc, notes) };
        }
        let mut other = env.clone();
        let (sure, sure_not) = (self.g.and(defined, holds), self.g.and(defined, !holds));
        let (here, there) = (self.g.and(pc, sure), self.g.and(pc, sure_not));
        let first = yes(self, env, here, notes);
        let second = no(self, &mut other, there, notes);
        *env = self.merged_env(holds, env, &other);
        let go = self.g.ite(holds, first, second);
        self.g.and(defined, go)
    }

    fn case(
        &mut self,
        env: &mut Env,
        e: &Expr,
        branches: &[(Vec<Expr>, Stmt)],
        other: Option<&Stmt>,
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let (value, d) = self.operand(env, e, pc, notes);
        let pc = self.g.and(pc, d);
        let go = self.case_of(env, &value, branches, other, pc, notes);
        self.g.and(d, go)
    }

    fn case_of(
        &mut self,
        env: &mut Env,
        value: &Term,
        branches: &[(Vec<Expr>, Stmt)],
        other: Option<&Stmt>,
        pc: Lit,
        notes: &mut Notes,
    ) -> Lit {
        let Some(((labels, body), rest)) = branches.split_first() else {
            return match other {
                Some(body) => self.exec(env, body, pc, notes),
                None => Lit::TRUE,
            };
        };
        let (mut any, mut defined) = (Vec::new(), Lit::TRUE);
        for label in labels {
            let (term, d) = self.operand(env, label, pc, notes);
            defined = self.g.and(defined, d);
            any.push(self.equal(value, &term).unwrap_or_else(|| {
                self.weak("a CASE over values that have no literals".into());
                self.g.fresh()
            }));
        }
        let holds = self.g.or_all(&any);
        self.branch(
            env,
            holds,
            defined,
            pc,
            notes,
            &mut |this, env, pc, notes| this.exec(env, body, pc, notes),
            &mut |this, env, pc, notes| this.case_of(env, value, rest, other, pc, notes),
        )
    }

    fn parallel(&mut self, env: &mut Env, branches: &[Stmt], pc: Lit, notes: &mut Notes) -> Lit {
        let before = env.clone();
        let mut taken: BTreeSet<VarId> = BTreeSet::new();
        let mut go = Vec::new();
        for b in branches {
            let mut inner = before.clone();
            go.push(self.exec(&mut inner, b, pc, notes));
            for v in written_by(self.machine, b) {
                if taken.insert(v) {
                    env.put(v, inner.get(v).cloned());
                } else {
                    self.weak(format!("{} may be written twice at once", self.machine.var(v).name));
                    let term = self.leaf_of(&self.machine.var(v).ty.clone());
                    env.bind(v, term);
                }
            }
        }
        self.g.and_all(&go)
    }

    /// The first environment where the condition holds, else the second.
    pub fn merged_env(&mut self, condition: Lit, yes: &Env, no: &Env) -> Env {
        let mut out = no.clone();
        for i in 0..yes.slots.len() {
            let slot = match (&yes.slots[i], &no.slots[i]) {
                (a, b) if a == b => continue,
                (Some(a), Some(b)) => {
                    let term = self.choose(condition, &a.term, &b.term);
                    Some(Slot { term, set: self.g.ite(condition, a.set, b.set) })
                }
                (Some(a), None) => Some(Slot { term: a.term.clone(), set: self.g.and(condition, a.set) }),
                (None, Some(b)) => Some(Slot { term: b.term.clone(), set: self.g.and(!condition, b.set) }),
                (None, None) => None,
            };
            out.slots[i] = slot;
        }
        out
    }
}

/// The predicates that have to hold before an event does anything.
pub(super) fn collect_guards<'s>(s: &'s Stmt, out: &mut Vec<&'s Pred>) {
    match &s.kind {
        StmtKind::Pre(p, body) | StmtKind::Any(_, p, body) => {
            out.push(p);
            collect_guards(body, out);
        }
        StmtKind::Select(branches, None) if branches.len() == 1 => {
            out.push(&branches[0].0);
            collect_guards(&branches[0].1, out);
        }
        StmtKind::Let(bindings, body) if is_let_of_guard(bindings, body) => collect_guards(body, out),
        StmtKind::Seq(one) | StmtKind::Par(one) if one.len() == 1 => collect_guards(&one[0], out),
        _ => {}
    }
}

/// Variables that a substitution may write, those of called operations included.
pub fn written_by(machine: &Machine, s: &Stmt) -> BTreeSet<VarId> {
    struct Written<'m>(&'m Machine, BTreeSet<VarId>);
    impl Visit for Written<'_> {
        fn target(&mut self, t: &Target) {
            self.1.insert(t.var);
        }
        fn written(&mut self, vars: &Vec<VarId>) {
            self.1.extend(vars);
        }
        fn call(&mut self, op: &OpId) {
            let inner = written_by(self.0, &self.0.op(*op).body);
            let op = self.0.op(*op);
            self.1.extend(inner.iter().filter(|v| !op.params.contains(v) && !op.results.contains(v)));
        }
    }
    let mut written = Written(machine, BTreeSet::new());
    visit_stmt(s, &mut written);
    written.1
}
