//! Walks over typed trees, children first, once for reading and once for changing.
//!
//! In: typed trees. Out: calls of the visitor for every expression, target and call.

use crate::typed::{
    Expr, ExprKind, External, Machine, OpId, Pred, PredKind, Step, Stmt, StmtKind, Target, VarId,
};
use std::collections::BTreeSet;

macro_rules! walkers {
    ($visitor:ident, $expr:ident, $pred:ident, $stmt:ident, $target:ident $(, $m:tt)?) => {
        /// What to do at each place; all default to nothing.
        pub trait $visitor {
            fn expr(&mut self, _: &$($m)? Expr) {}
            fn target(&mut self, _: &$($m)? Target) {}
            fn call(&mut self, _: &$($m)? OpId) {}
            /// Variables that `::` and `:(…)` write.
            fn written(&mut self, _: &$($m)? Vec<VarId>) {}
            /// Variables that an expression or predicate binds.
            fn bound(&mut self, _: VarId) {}
            /// Variables that a quantifier binds; these are told to `bound` as well.
            fn quantified(&mut self, _: VarId) {}
            /// A predicate or substitution that the tool provides, with its arguments.
            fn external(&mut self, _: &$($m)? External, _: &$($m)? [Expr]) {}
        }

        pub fn $expr(e: &$($m)? Expr, v: &mut impl $visitor) {
            match &$($m)? e.kind {
                ExprKind::Int(_)
                | ExprKind::Real(_)
                | ExprKind::Str(_)
                | ExprKind::Bool(_)
                | ExprKind::Elem(..)
                | ExprKind::Var(_)
                | ExprKind::Old(_)
                | ExprKind::TypeSet(_)
                | ExprKind::Natural
                | ExprKind::Natural1
                | ExprKind::Function(_)
                | ExprKind::Constructor(..)
                | ExprKind::Destructor(..) => {}
                ExprKind::SetExt(xs)
                | ExprKind::SeqExt(xs)
                | ExprKind::Rec(xs)
                | ExprKind::StructSet(xs)
                | ExprKind::External(_, xs) => {
                    for x in xs {
                        $expr(x, v);
                    }
                }
                ExprKind::Pair(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Apply(a, b) => {
                    $expr(a, v);
                    $expr(b, v);
                }
                ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::Symbolic(a) => $expr(a, v),
                ExprKind::BoolOf(p) => $pred(p, v),
                ExprKind::Compr(vars, p) => {
                    vars.iter().for_each(|x| v.bound(*x));
                    $pred(p, v);
                }
                ExprKind::Big(_, vars, p, x) => {
                    vars.iter().for_each(|x| v.bound(*x));
                    $pred(p, v);
                    $expr(x, v);
                }
                ExprKind::If(p, a, b) => {
                    $pred(p, v);
                    $expr(a, v);
                    $expr(b, v);
                }
                ExprKind::Let(bindings, x) => {
                    for (bound, value) in bindings {
                        v.bound(*bound);
                        $expr(value, v);
                    }
                    $expr(x, v);
                }
                ExprKind::Construct(_, _, arg) => {
                    if let Some(x) = arg {
                        $expr(x, v);
                    }
                }
            }
            v.expr(e);
        }

        pub fn $pred(p: &$($m)? Pred, v: &mut impl $visitor) {
            match &$($m)? p.kind {
                PredKind::True | PredKind::False => {}
                PredKind::And(ps) | PredKind::Or(ps) => {
                    for p in ps {
                        $pred(p, v);
                    }
                }
                PredKind::Not(p) | PredKind::Label(_, p) => $pred(p, v),
                PredKind::Forall(vars, p) | PredKind::Exists(vars, p) => {
                    for x in &$($m)? *vars {
                        v.bound(*x);
                        v.quantified(*x);
                    }
                    $pred(p, v);
                }
                PredKind::Implies(a, b) | PredKind::Iff(a, b) => {
                    $pred(a, v);
                    $pred(b, v);
                }
                PredKind::Rel(_, a, b) => {
                    $expr(a, v);
                    $expr(b, v);
                }
                PredKind::If(c, a, b) => {
                    $pred(c, v);
                    $pred(a, v);
                    $pred(b, v);
                }
                PredKind::Let(bindings, p) => {
                    for (bound, value) in bindings {
                        v.bound(*bound);
                        $expr(value, v);
                    }
                    $pred(p, v);
                }
                PredKind::Finite(x) => $expr(x, v),
                PredKind::Partition(x, xs) => {
                    $expr(x, v);
                    for x in xs {
                        $expr(x, v);
                    }
                }
                PredKind::External(external, xs) => {
                    for x in &$($m)? *xs {
                        $expr(x, v);
                    }
                    v.external(external, xs);
                }
            }
        }

        pub fn $target(t: &$($m)? Target, v: &mut impl $visitor) {
            for step in &$($m)? t.path {
                if let Step::Index(x) = step {
                    $expr(x, v);
                }
            }
            v.target(t);
        }

        pub fn $stmt(s: &$($m)? Stmt, v: &mut impl $visitor) {
            match &$($m)? s.kind {
                StmtKind::Skip => {}
                StmtKind::Assign(pairs) => {
                    for (t, x) in pairs {
                        $target(t, v);
                        $expr(x, v);
                    }
                }
                StmtKind::BecomesIn(vars, x) => {
                    v.written(vars);
                    $expr(x, v);
                }
                StmtKind::BecomesSuch(vars, p) => {
                    v.written(vars);
                    $pred(p, v);
                }
                StmtKind::Pre(p, b) | StmtKind::Assert(_, p, b) | StmtKind::Witness(p, b) | StmtKind::Any(_, p, b) => {
                    $pred(p, v);
                    $stmt(b, v);
                }
                StmtKind::Choice(bs) | StmtKind::Seq(bs) | StmtKind::Par(bs) => {
                    for b in bs {
                        $stmt(b, v);
                    }
                }
                StmtKind::If(bs, other) | StmtKind::Select(bs, other) => {
                    for (p, b) in bs {
                        $pred(p, v);
                        $stmt(b, v);
                    }
                    if let Some(b) = other {
                        $stmt(b, v);
                    }
                }
                StmtKind::Case(x, bs, other) => {
                    $expr(x, v);
                    for (labels, b) in bs {
                        for label in labels {
                            $expr(label, v);
                        }
                        $stmt(b, v);
                    }
                    if let Some(b) = other {
                        $stmt(b, v);
                    }
                }
                StmtKind::Let(bindings, b) => {
                    for (_, x) in bindings {
                        $expr(x, v);
                    }
                    $stmt(b, v);
                }
                StmtKind::Var(_, b) => $stmt(b, v),
                StmtKind::While { cond, body, invariant, variant } => {
                    $pred(cond, v);
                    $stmt(body, v);
                    $pred(invariant, v);
                    $expr(variant, v);
                }
                StmtKind::Call { op, args, results } => {
                    v.call(op);
                    for x in args {
                        $expr(x, v);
                    }
                    for t in results {
                        $target(t, v);
                    }
                }
                StmtKind::External(external, xs) => {
                    for x in &$($m)? *xs {
                        $expr(x, v);
                    }
                    v.external(external, xs);
                }
            }
        }
    };
}

walkers!(Visit, visit_expr, visit_pred, visit_stmt, visit_target);
walkers!(Change, change_expr, change_pred, change_stmt, change_target, mut);

/// The variables an expression or predicate speaks of.
#[derive(Default)]
struct Variables(BTreeSet<VarId>);

impl Visit for Variables {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Var(v) | ExprKind::Old(v) = e.kind {
            self.0.insert(v);
        }
    }
}

pub fn variables_of_pred(p: &Pred) -> BTreeSet<VarId> {
    let mut found = Variables::default();
    visit_pred(p, &mut found);
    found.0
}

pub fn variables_of_expr(e: &Expr) -> BTreeSet<VarId> {
    let mut found = Variables::default();
    visit_expr(e, &mut found);
    found.0
}

/// The operations a substitution calls.
#[derive(Default)]
struct Calls(BTreeSet<OpId>);

impl Visit for Calls {
    fn call(&mut self, op: &OpId) {
        self.0.insert(*op);
    }
}

pub fn calls_of(s: &Stmt) -> BTreeSet<OpId> {
    let mut found = Calls::default();
    visit_stmt(s, &mut found);
    found.0
}

/// Visits every expression of a machine.
pub fn visit_machine(machine: &Machine, v: &mut impl Visit) {
    for clause in machine.properties.iter().chain(&machine.invariant).chain(&machine.assertions) {
        visit_pred(&clause.pred, v);
    }
    visit_stmt(&machine.initialisation, v);
    for op in &machine.operations {
        visit_stmt(&op.body, v);
    }
    for p in machine.goal.iter().chain(&machine.scope) {
        visit_pred(p, v);
    }
    for domain in machine.freetypes.iter().flat_map(|f| &f.domains).flatten() {
        visit_expr(domain, v);
    }
}

/// Changes every expression of a machine.
pub fn change_machine(machine: &mut Machine, v: &mut impl Change) {
    for clause in machine.properties.iter_mut().chain(&mut machine.invariant).chain(&mut machine.assertions) {
        change_pred(&mut clause.pred, v);
    }
    change_stmt(&mut machine.initialisation, v);
    for op in &mut machine.operations {
        change_stmt(&mut op.body, v);
    }
    for p in machine.goal.iter_mut().chain(&mut machine.scope) {
        change_pred(p, v);
    }
    for domain in machine.freetypes.iter_mut().flat_map(|f| &mut f.domains).flatten() {
        change_expr(domain, v);
    }
}
