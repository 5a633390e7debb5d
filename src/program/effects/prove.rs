//! A small prover: which conjuncts of the invariant no event can break.
//!
//! In: the machine and conjuncts to take for granted. Out: whether an event keeps a conjunct, whether
//! an expression stays in a set, whether an action can be undefined. It knows what typing conjuncts
//! need (`x : S`, `s <: S`, `f : A --> B`) and gives up on the rest: "no" means "not proven".

use super::cells::Tracer;
use crate::lower::alternatives;
use crate::plan;
use crate::uses::Uses;
use bombus_base::Int;
use bombus_lang::partiality::reads_an_image;
use bombus_lang::typed::{
    BinOp, Expr, ExprKind, FunctionConst, Machine, Pred, PredKind, RelOp, Step, Stmt, StmtKind, Target, Type,
    UnOp, VarId,
};
use bombus_lang::value::Value;
use bombus_lang::walk::{Visit, visit_stmt};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// `var : set`, or `var <: set`.
#[derive(Clone, Debug)]
pub struct Bound {
    pub var: VarId,
    pub set: Expr,
    pub subset: bool,
}

impl Bound {
    pub fn of(p: &Pred) -> Option<Bound> {
        let PredKind::Rel(op, a, b) = &p.kind else { return None };
        let ExprKind::Var(var) = a.kind else { return None };
        match op {
            RelOp::In => Some(Bound { var, set: b.clone(), subset: false }),
            RelOp::Subset => Some(Bound { var, set: b.clone(), subset: true }),
            _ => None,
        }
    }
}

pub struct Prover<'p> {
    pub machine: &'p Machine,
    pub tracer: &'p Tracer<'p>,
    /// Whether a value belongs to a set over constants.
    pub member: &'p dyn Fn(&Value, &Expr) -> Option<bool>,
    /// What holds before every step.
    pub granted: Vec<Bound>,
    /// The variables that each event writes.
    pub written: &'p [BTreeSet<VarId>],
    /// Variables whose sets are being looked at: `x : {x}` says nothing about x.
    pub looked_at: RefCell<Vec<VarId>>,
}

/// So many variables may be followed from one to the next.
const FOLLOWED: usize = 12;

type Bounds = (Option<i64>, Option<i64>);

impl Prover<'_> {
    /// Whether no step of any event breaks a conjunct that held before.
    pub fn keep(&self, conjunct: &Pred) -> bool {
        let reads = Uses::of_pred(conjunct).all();
        let bound = Bound::of(conjunct).filter(|bound| {
            // The set itself must stay as it is.
            Uses::of_expr(&bound.set).all().iter().all(|v| !self.tracer.state.contains(v))
        });
        self.machine.events.iter().zip(self.written).all(|(op, written)| {
            written.is_disjoint(&reads)
                || bound.as_ref().is_some_and(|bound| {
                    let op = self.machine.op(*op);
                    alternatives(&op.params, &op.body).iter().all(|a| {
                        let context: Vec<&Pred> = a.conjuncts.iter().collect();
                        self.body_keeps(a.body, bound, &context)
                    })
                })
        })
    }

    fn body_keeps(&self, s: &Stmt, bound: &Bound, context: &[&Pred]) -> bool {
        let writes = |s: &Stmt| Uses::of_stmt(s, self.machine).writes.contains(&bound.var);
        if !writes(s) {
            return true;
        }
        match &s.kind {
            StmtKind::Assign(pairs) => pairs
                .iter()
                .filter(|(t, _)| t.var == bound.var)
                .all(|(t, e)| self.assignment_keeps(t, e, bound, context)),
            StmtKind::BecomesIn(vars, e) if vars.len() == 1 && !bound.subset => {
                self.within(e, &bound.set, context)
            }
            StmtKind::Pre(p, s)
            | StmtKind::Assert(_, p, s)
            | StmtKind::Witness(p, s)
            | StmtKind::Any(_, p, s) => {
                let more = plan::conjuncts(p);
                let all: Vec<&Pred> = context.iter().copied().chain(&more).collect();
                self.body_keeps(s, bound, &all)
            }
            StmtKind::If(branches, other) | StmtKind::Select(branches, other) => {
                branches.iter().all(|(p, s)| {
                    let more = plan::conjuncts(p);
                    let all: Vec<&Pred> = context.iter().copied().chain(&more).collect();
                    self.body_keeps(s, bound, &all)
                }) && other.iter().all(|s| self.body_keeps(s, bound, context))
            }
            StmtKind::Choice(all) | StmtKind::Par(all) => {
                all.iter().all(|s| self.body_keeps(s, bound, context))
            }
            StmtKind::Let(_, s) | StmtKind::Var(_, s) => self.body_keeps(s, bound, context),
            _ => false,
        }
    }

    fn assignment_keeps(&self, t: &Target, e: &Expr, bound: &Bound, context: &[&Pred]) -> bool {
        match &t.path[..] {
            [] if bound.subset => self.within(e, &bound.set, context),
            [] => self.inside(e, &bound.set, context) || self.updates(e, bound, context),
            [Step::Index(x)] => match function_space(&bound.set) {
                Some((a, b)) => self.inside(x, a, context) && self.inside(e, b, context),
                None => false,
            },
            _ => false,
        }
    }

    /// Whether `e` is the bounded variable with some rows replaced.
    fn updates(&self, e: &Expr, bound: &Bound, context: &[&Pred]) -> bool {
        match &e.kind {
            ExprKind::Var(v) => *v == bound.var,
            ExprKind::Binary(BinOp::Override, a, b) => {
                let (Some((from, to)), ExprKind::SetExt(pairs)) = (function_space(&bound.set), &b.kind)
                else {
                    return false;
                };
                // Two pairs may have one argument, and then they are no function.
                let functional = pairs.len() <= 1
                    || matches!(bound.set.kind, ExprKind::Binary(BinOp::Relation | BinOp::TotalRelation, ..));
                functional
                    && self.updates(a, bound, context)
                    && pairs.iter().all(|p| match &p.kind {
                        ExprKind::Pair(x, y) => self.inside(x, from, context) && self.inside(y, to, context),
                        _ => false,
                    })
            }
            ExprKind::Binary(BinOp::DomSubtract, _, b) => {
                matches!(bound.set.kind, ExprKind::Binary(BinOp::PartialFunction | BinOp::Relation, ..))
                    && self.updates(b, bound, context)
            }
            _ => false,
        }
    }

    /// Whether the value of `e`, if it has one, is an element of `set`.
    pub fn inside(&self, e: &Expr, set: &Expr, context: &[&Pred]) -> bool {
        if is_whole(set) {
            return true;
        }
        if let Some(v) = (self.tracer.fold)(e) {
            return (self.member)(&v, set) == Some(true);
        }
        if let Some((lo, hi)) = interval(set, self.tracer) {
            let (a, b) = self.range(e, context);
            let above = lo.is_none_or(|lo| a.is_some_and(|a| lo <= a));
            if above && hi.is_none_or(|hi| b.is_some_and(|b| b <= hi)) {
                return true;
            }
        }
        match &set.kind {
            ExprKind::Unary(UnOp::Pow, of) => return self.within(e, of, context),
            ExprKind::Unary(UnOp::Fin, of) => return self.is_finite(e) && self.within(e, of, context),
            _ => {}
        }
        match &e.kind {
            ExprKind::Var(v) => {
                self.following(*v, || self.homes(*v, context).any(|home| self.within(home, set, &[])))
            }
            ExprKind::Apply(f, _) => match &f.kind {
                ExprKind::Var(v) => self
                    .granted
                    .iter()
                    .filter(|b| b.var == *v && !b.subset)
                    .filter_map(|b| function_space(&b.set).or_else(|| injection_space(&b.set)))
                    .any(|(_, to)| self.within(to, set, &[])),
                _ => match (self.tracer.fold)(f) {
                    Some(Value::Set(pairs)) => pairs.iter().all(|p| match p {
                        Value::Pair(p) => (self.member)(&p.1, set) == Some(true),
                        _ => false,
                    }),
                    _ => false,
                },
            },
            ExprKind::If(_, a, b) => self.inside(a, set, context) && self.inside(b, set, context),
            _ => false,
        }
    }

    /// What the sets of a variable say, unless they are being looked at already or too many others are.
    fn following(&self, v: VarId, look: impl FnOnce() -> bool) -> bool {
        {
            let mut all = self.looked_at.borrow_mut();
            if all.len() >= FOLLOWED || all.contains(&v) {
                return false;
            }
            all.push(v);
        }
        let found = look();
        self.looked_at.borrow_mut().pop();
        found
    }

    /// The sets that a variable is known to be an element of.
    fn homes<'s>(&'s self, v: VarId, context: &'s [&'s Pred]) -> impl Iterator<Item = &'s Expr> {
        let here = context.iter().filter_map(move |p| match &p.kind {
            PredKind::Rel(RelOp::In, a, b) if matches!(a.kind, ExprKind::Var(w) if w == v) => Some(b),
            _ => None,
        });
        here.chain(self.granted.iter().filter(move |b| b.var == v && !b.subset).map(|b| &b.set))
    }

    /// Whether the set `e` is a subset of `set`.
    pub fn within(&self, e: &Expr, set: &Expr, context: &[&Pred]) -> bool {
        if is_whole(set) {
            return true;
        }
        match &e.kind {
            ExprKind::SetExt(es) => return es.iter().all(|x| self.inside(x, set, context)),
            ExprKind::Binary(BinOp::Union, a, b) => {
                return self.within(a, set, context) && self.within(b, set, context);
            }
            ExprKind::Binary(BinOp::SetMinus, a, _) => return self.within(a, set, context),
            ExprKind::Binary(BinOp::Inter, a, b) => {
                return self.within(a, set, context) || self.within(b, set, context);
            }
            ExprKind::Var(v) if self.tracer.state.contains(v) => {
                let stays = |b: &Bound| match (&b.set.kind, b.subset) {
                    (_, true) => self.within(&b.set, set, &[]),
                    (ExprKind::Unary(UnOp::Pow | UnOp::Pow1 | UnOp::Fin | UnOp::Fin1, of), false) => {
                        self.within(of, set, &[])
                    }
                    _ => false,
                };
                return self.following(*v, || self.granted.iter().filter(|b| b.var == *v).any(stays));
            }
            _ => {}
        }
        if let (Some((a, b)), Some((lo, hi))) = (interval(e, self.tracer), interval(set, self.tracer)) {
            let above = lo.is_none_or(|lo| a.is_some_and(|a| lo <= a));
            return above && hi.is_none_or(|hi| b.is_some_and(|b| b <= hi));
        }
        match (self.tracer.fold)(e) {
            Some(Value::Set(all)) => all.iter().all(|v| (self.member)(v, set) == Some(true)),
            _ => false,
        }
    }

    /// Whether a set is listed, or made of such sets and of variables that are granted to be finite.
    fn is_finite(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::SetExt(_) => true,
            ExprKind::Binary(BinOp::Union, a, b) => self.is_finite(a) && self.is_finite(b),
            ExprKind::Binary(BinOp::SetMinus, a, _) => self.is_finite(a),
            ExprKind::Binary(BinOp::Inter, a, b) => self.is_finite(a) || self.is_finite(b),
            ExprKind::Var(v) => self.granted.iter().any(|b| {
                b.var == *v && !b.subset && matches!(b.set.kind, ExprKind::Unary(UnOp::Fin | UnOp::Fin1, _))
            }),
            _ => false,
        }
    }

    /// Bounds of an integer, as far as they are known.
    fn range(&self, e: &Expr, context: &[&Pred]) -> Bounds {
        if let Some(Value::Int(Int::Small(n))) = (self.tracer.fold)(e) {
            return (Some(n), Some(n));
        }
        let add = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
        let sub = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_sub(b));
        match &e.kind {
            ExprKind::Var(v) => {
                let mut bounds = (None, None);
                for home in self.homes(*v, context) {
                    if let Some(more) = interval(home, self.tracer) {
                        bounds = meet(bounds, more);
                    }
                }
                for p in context {
                    bounds = meet(bounds, self.compared(*v, p));
                }
                bounds
            }
            ExprKind::Binary(BinOp::Add, a, b) => {
                let (a, b) = (self.range(a, context), self.range(b, context));
                (add(a.0, b.0), add(a.1, b.1))
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                let (a, b) = (self.range(a, context), self.range(b, context));
                (sub(a.0, b.1), sub(a.1, b.0))
            }
            // What is defined at all lies below the divisor.
            ExprKind::Binary(BinOp::Mod, _, b) => {
                (Some(0), self.range(b, context).1.and_then(|b| b.checked_sub(1)))
            }
            ExprKind::Unary(UnOp::Card, _) => (Some(0), None),
            ExprKind::Apply(f, _) => match &f.kind {
                ExprKind::Var(v) => self
                    .granted
                    .iter()
                    .filter(|b| b.var == *v && !b.subset)
                    .filter_map(|b| function_space(&b.set).or_else(|| injection_space(&b.set)))
                    .filter_map(|(_, to)| interval(to, self.tracer))
                    .fold((None, None), meet),
                _ => (None, None),
            },
            _ => (None, None),
        }
    }

    /// What a comparison of a variable with a number says.
    fn compared(&self, v: VarId, p: &Pred) -> Bounds {
        let PredKind::Rel(op, a, b) = &p.kind else { return (None, None) };
        let is_it = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
        let number = |e: &Expr| match (self.tracer.fold)(e) {
            Some(Value::Int(Int::Small(n))) => Some(n),
            _ => None,
        };
        let less = |n: Option<i64>| n.and_then(|n| n.checked_sub(1));
        let more = |n: Option<i64>| n.and_then(|n| n.checked_add(1));
        if is_it(a) {
            let n = number(b);
            return match op {
                RelOp::Less => (None, less(n)),
                RelOp::LessEqual => (None, n),
                RelOp::Greater => (more(n), None),
                RelOp::GreaterEqual => (n, None),
                RelOp::Equal => (n, n),
                _ => (None, None),
            };
        }
        if is_it(b) {
            let n = number(a);
            return match op {
                RelOp::Less => (more(n), None),
                RelOp::LessEqual => (n, None),
                RelOp::Greater => (None, less(n)),
                RelOp::GreaterEqual => (None, n),
                RelOp::Equal => (n, n),
                _ => (None, None),
            };
        }
        (None, None)
    }

    /// Whether an action may be undefined or break a condition of its own.
    pub fn may_fail(&self, s: &Stmt, context: &[&Pred]) -> bool {
        if has_conditions(s) {
            return true;
        }
        let mut partial = Partial { prover: self, context, found: false };
        visit_stmt(s, &mut partial);
        partial.found
    }

    fn is_total(&self, e: &Expr, context: &[&Pred]) -> bool {
        match &e.kind {
            ExprKind::Apply(f, x) => match &f.kind {
                ExprKind::Var(v) if self.tracer.state.contains(v) => {
                    self.granted.iter().filter(|b| b.var == *v && !b.subset).any(|b| match &b.set.kind {
                        ExprKind::Binary(
                            BinOp::TotalFunction
                            | BinOp::TotalInjection
                            | BinOp::TotalSurjection
                            | BinOp::TotalBijection,
                            from,
                            _,
                        ) => self.inside(x, from, context),
                        _ => false,
                    })
                }
                ExprKind::Function(FunctionConst::Succ | FunctionConst::Pred) => true,
                _ => match (self.tracer.fold)(f) {
                    Some(Value::Set(pairs)) => self.covers(&pairs, x),
                    _ => false,
                },
            },
            ExprKind::Binary(BinOp::Div, _, b) => {
                let (lo, hi) = self.range(b, context);
                lo.is_some_and(|lo| lo > 0) || hi.is_some_and(|hi| hi < 0)
            }
            ExprKind::Binary(BinOp::Mod, a, b) => {
                self.range(a, context).0.is_some_and(|a| a >= 0)
                    && self.range(b, context).0.is_some_and(|b| b > 0)
            }
            _ => {
                let mut alone = e.clone();
                // Only the operator itself: its parts are looked at one by one.
                let part = || Expr { kind: ExprKind::Bool(true), ty: Type::Bool, span: e.span };
                match &mut alone.kind {
                    ExprKind::Unary(_, a) => **a = part(),
                    ExprKind::Binary(_, a, b) => {
                        **a = part();
                        **b = part();
                    }
                    ExprKind::External(..) | ExprKind::Construct(..) | ExprKind::Big(..) => {}
                    _ => return true,
                }
                !Uses::of_expr(&alone).partial
            }
        }
    }

    /// Whether a listed function has a value for everything `x` can be, or for what it is.
    fn covers(&self, pairs: &[Value], x: &Expr) -> bool {
        let has = |v: &Value| pairs.iter().filter(|p| matches!(p, Value::Pair(p) if p.0 == *v)).count() == 1;
        if let Some(v) = (self.tracer.fold)(x) {
            return has(&v);
        }
        let sizes = |s: bombus_lang::typed::SetId| self.machine.set(s).elems.len();
        match crate::carrier::Carrier::of_type(&x.ty, &sizes) {
            Some(c) if c.is_whole_type() => (0..c.card()).all(|code| has(&c.value(code))),
            _ => false,
        }
    }
}

/// Looks for operators that may have no value.
struct Partial<'v, 'p> {
    prover: &'v Prover<'p>,
    context: &'v [&'v Pred],
    found: bool,
}

impl Visit for Partial<'_, '_> {
    fn expr(&mut self, e: &Expr) {
        self.found = self.found || !self.prover.is_total(e, self.context);
    }

    fn target(&mut self, t: &Target) {
        self.found |= reads_an_image(&t.path);
    }
}

/// Whether a substitution holds conditions that are findings when they fail, or calls something.
fn has_conditions(s: &Stmt) -> bool {
    match &s.kind {
        // A local may be read before it has a value.
        StmtKind::Pre(..)
        | StmtKind::Assert(..)
        | StmtKind::Witness(..)
        | StmtKind::Call { .. }
        | StmtKind::Var(..)
        | StmtKind::While { .. } => true,
        StmtKind::Choice(all) | StmtKind::Seq(all) | StmtKind::Par(all) => all.iter().any(has_conditions),
        StmtKind::If(branches, other) | StmtKind::Select(branches, other) => {
            branches.iter().any(|(_, s)| has_conditions(s)) || other.iter().any(|s| has_conditions(s))
        }
        StmtKind::Case(_, branches, other) => {
            branches.iter().any(|(_, s)| has_conditions(s)) || other.iter().any(|s| has_conditions(s))
        }
        StmtKind::Any(_, _, s) | StmtKind::Let(_, s) => has_conditions(s),
        StmtKind::Skip
        | StmtKind::Assign(_)
        | StmtKind::BecomesIn(..)
        | StmtKind::BecomesSuch(..)
        | StmtKind::External(..) => false,
    }
}

/// Whether a set holds every value of its type.
fn is_whole(set: &Expr) -> bool {
    match &set.kind {
        ExprKind::TypeSet(_) => true,
        ExprKind::Unary(UnOp::Pow, a) => is_whole(a),
        ExprKind::Binary(BinOp::Relation | BinOp::Cartesian, a, b) => is_whole(a) && is_whole(b),
        _ => false,
    }
}

/// Argument and value sets of the function spaces that no update of a row leaves.
fn function_space(set: &Expr) -> Option<(&Expr, &Expr)> {
    match &set.kind {
        ExprKind::Binary(
            BinOp::TotalFunction | BinOp::PartialFunction | BinOp::Relation | BinOp::TotalRelation,
            a,
            b,
        ) => Some((a, b)),
        _ => None,
    }
}

fn injection_space(set: &Expr) -> Option<(&Expr, &Expr)> {
    match &set.kind {
        ExprKind::Binary(
            BinOp::TotalInjection
            | BinOp::PartialInjection
            | BinOp::TotalSurjection
            | BinOp::PartialSurjection
            | BinOp::TotalBijection
            | BinOp::PartialBijection,
            a,
            b,
        ) => Some((a, b)),
        _ => None,
    }
}

/// The bounds of a set of consecutive integers.
fn interval(set: &Expr, tracer: &Tracer<'_>) -> Option<Bounds> {
    let number = |e: &Expr| match (tracer.fold)(e) {
        Some(Value::Int(Int::Small(n))) => Some(n),
        _ => None,
    };
    match &set.kind {
        ExprKind::Natural => Some((Some(0), None)),
        ExprKind::Natural1 => Some((Some(1), None)),
        ExprKind::Binary(BinOp::Interval, a, b) => Some((Some(number(a)?), Some(number(b)?))),
        _ => None,
    }
}

fn meet(a: Bounds, b: Bounds) -> Bounds {
    (a.0.into_iter().chain(b.0).max(), a.1.into_iter().chain(b.1).min())
}
