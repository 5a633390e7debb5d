//! What substitutions copy, choose and test.
//!
//! In: the whole machine. Out: all its flows of values entered in the classes.
//! An equation `v = E` in the guard of a choice `v` is no comparison but names the value: all solutions have it, as
//! if it were assigned. That holds once for each choice, where E does not depend on choices that are still open, and
//! only where the equation is part of the guard that is solved for `v`.

use crate::data_independence::Flow;
use crate::data_independence::bounds::{Allowed, chosen_from};
use bombus_lang::typed::{Expr, ExprKind, OpId, Pred, PredKind, RelOp, Step, Stmt, StmtKind, Target, VarId};
use bombus_lang::walk::{Visit, calls_of, visit_expr};
use std::collections::BTreeSet;

type Vars = BTreeSet<VarId>;

/// Choices that are being made.
#[derive(Clone, Default)]
struct Choices {
    /// Those that no equation has defined yet.
    open: Vars,
    allowed: Allowed,
}

impl Choices {
    fn of(vars: &[VarId]) -> Choices {
        let mut choices = Choices::default();
        choices.add(vars);
        choices
    }

    fn add(&mut self, vars: &[VarId]) {
        self.open.extend(vars);
        self.allowed.open(vars.iter().copied());
    }
}

impl Flow<'_> {
    pub(crate) fn machine(&mut self) {
        let machine = self.machine;
        let mut constants = Choices::of(&machine.constants);
        for clause in &machine.properties {
            self.guard(&clause.pred, &mut constants);
        }
        self.allowed.also(&constants.allowed);
        for clause in machine.invariant.iter().chain(&machine.assertions) {
            self.pred(&clause.pred);
        }
        for p in machine.goal.iter().chain(&machine.scope) {
            self.pred(p);
        }
        for domain in machine.freetypes.iter().flat_map(|f| &f.domains).flatten() {
            self.see_expr(domain);
        }
        self.stmt(&machine.initialisation);
        let mut called = calls_of(&machine.initialisation);
        machine.operations.iter().for_each(|op| called.extend(calls_of(&op.body)));
        for (i, op) in machine.operations.iter().enumerate() {
            let id = OpId(i as u32);
            // Who is called gets its parameters from the caller, and tests them.
            if machine.events.contains(&id) && !called.contains(&id) {
                self.guarded(&op.body, true, Choices::of(&op.params));
            } else {
                self.allowed.also(&Choices::of(&op.params).allowed);
                self.stmt(&op.body);
            }
        }
    }

    /// A predicate that is solved for the open choices.
    fn guard(&mut self, p: &Pred, choices: &mut Choices) {
        for c in p.conjuncts() {
            choices.allowed.guard(c, &self.known);
            let open = &mut choices.open;
            let PredKind::Rel(RelOp::Equal, a, b) = &c.kind else {
                self.pred(c);
                continue;
            };
            let defined = [(a, b), (b, a)].into_iter().find_map(|(x, e)| match x.kind {
                ExprKind::Var(v) if open.contains(&v) && !mentions(e, open) => Some((v, x, e)),
                _ => None,
            });
            match defined {
                Some((v, x, e)) => {
                    let (x, e) = (self.expr(x), self.expr(e));
                    self.classes.join(&x, &e);
                    open.remove(&v);
                }
                None => self.equal(a, b),
            }
        }
    }

    /// An operation as long as what stands in front of it is its guard; the same forms as the interpreter takes for
    /// guards, or fewer.
    fn guarded(&mut self, s: &Stmt, outermost: bool, mut choices: Choices) {
        match &s.kind {
            StmtKind::Pre(p, body) if outermost => {
                self.guard(p, &mut choices);
                self.guarded(body, true, choices);
            }
            StmtKind::Select(branches, None) => {
                for (p, body) in branches {
                    let mut choices = choices.clone();
                    self.guard(p, &mut choices);
                    self.guarded(body, false, choices);
                }
            }
            StmtKind::Any(more, p, body) => {
                choices.add(more);
                self.guard(p, &mut choices);
                self.guarded(body, false, choices);
            }
            StmtKind::Choice(branches) => {
                branches.iter().for_each(|b| self.guarded(b, false, choices.clone()))
            }
            StmtKind::Seq(one) | StmtKind::Par(one) if one.len() == 1 => {
                self.guarded(&one[0], outermost, choices);
            }
            _ => {
                self.allowed.also(&choices.allowed);
                self.stmt(s);
            }
        }
    }

    fn choose(&mut self, vars: &[VarId], p: &Pred) {
        let mut choices = Choices::of(vars);
        self.guard(p, &mut choices);
        self.allowed.also(&choices.allowed);
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Skip => {}
            StmtKind::Assign(pairs) => {
                for (target, e) in pairs {
                    let shape = self.expr(e);
                    self.write(target, &shape);
                }
            }
            StmtKind::BecomesIn(vars, set) => {
                let tuple = self.tuple(vars);
                self.member(&tuple, set);
                self.allowed.also(&chosen_from(vars, set, &self.known));
            }
            StmtKind::BecomesSuch(vars, p) => self.choose(vars, p),
            StmtKind::Any(vars, p, body) => {
                self.choose(vars, p);
                self.stmt(body);
            }
            StmtKind::Pre(p, body) | StmtKind::Assert(_, p, body) | StmtKind::Witness(p, body) => {
                self.pred(p);
                self.stmt(body);
            }
            StmtKind::Choice(list) | StmtKind::Seq(list) | StmtKind::Par(list) => {
                list.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::If(branches, last) | StmtKind::Select(branches, last) => {
                for (p, body) in branches {
                    self.pred(p);
                    self.stmt(body);
                }
                last.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Case(e, branches, last) => {
                for (labels, body) in branches {
                    labels.iter().for_each(|l| self.equal(e, l));
                    self.stmt(body);
                }
                self.expr(e);
                last.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Let(bindings, body) => {
                for (v, e) in bindings {
                    let shape = self.expr(e);
                    let v = self.var(*v, &e.ty);
                    self.classes.join(&v, &shape);
                }
                self.stmt(body);
            }
            StmtKind::Var(_, body) => self.stmt(body),
            StmtKind::While { cond, body, invariant, variant } => {
                self.pred(cond);
                self.pred(invariant);
                self.see_expr(variant);
                self.stmt(body);
            }
            StmtKind::Call { op, args, results } => {
                let callee = self.machine.op(*op);
                if args.len() != callee.params.len() || results.len() != callee.results.len() {
                    args.iter().for_each(|a| self.see_expr(a));
                    let own = callee.params.iter().chain(&callee.results).copied();
                    for v in own.chain(results.iter().map(|t| t.var)).collect::<Vec<_>>() {
                        let shape = self.tuple(&[v]);
                        self.classes.see(&shape);
                    }
                    return;
                }
                for (v, a) in callee.params.iter().zip(args) {
                    let shape = self.expr(a);
                    let v = self.tuple(&[*v]);
                    self.classes.join(&v, &shape);
                }
                for (v, target) in callee.results.iter().zip(results) {
                    let shape = self.tuple(&[*v]);
                    self.write(target, &shape);
                }
            }
            StmtKind::External(_, list) => list.iter().for_each(|e| self.see_expr(e)),
        }
    }

    /// A place gets a value. `f(a) := e` is an overriding; what lies deeper is read first.
    fn write(&mut self, target: &Target, value: &crate::data_independence::Shape) {
        let mut place = self.tuple(&[target.var]);
        for (i, step) in target.path.iter().enumerate() {
            match step {
                Step::Index(a) => {
                    self.see_expr(a);
                    self.keyed(&place);
                    if i + 1 < target.path.len() {
                        self.classes.need_exact(&place);
                    }
                    place = place.columns().1;
                }
                Step::Field(k) => match &place {
                    crate::data_independence::Shape::Rec(fields) if *k < fields.len() => {
                        place = fields[*k].clone()
                    }
                    _ => {
                        let whole = self.tuple(&[target.var]);
                        self.classes.see(&whole);
                        self.classes.see(value);
                        return;
                    }
                },
            }
        }
        self.classes.join(&place, value);
    }
}

/// Whether an expression speaks of an open choice; `x$0` is the value before it.
fn mentions(e: &Expr, open: &Vars) -> bool {
    struct Mentions<'a>(&'a Vars, bool);
    impl Visit for Mentions<'_> {
        fn expr(&mut self, e: &Expr) {
            self.1 |= matches!(e.kind, ExprKind::Var(v) if self.0.contains(&v));
        }
    }
    let mut found = Mentions(open, false);
    visit_expr(e, &mut found);
    found.1
}
