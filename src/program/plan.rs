//! The query planner: in which order to bind variables and test conjuncts.
//!
//! In: variables to bind, a predicate, what is known already. Out: a `Plan`, a list of steps that
//! both the compiled loops and people can follow: bind by equation (solved for the variable), by
//! membership in a known set or row of a known relation, by an interval from bounds, by subsets of a
//! known set, and by the type as a last resort; test each conjunct as soon as it is ground.
//!
//! A conjunction is false as soon as one conjunct is, whatever the others are, so conjuncts may be
//! taken in any order; one that is undefined decides only when no other is false, and whoever carries
//! out the plan sees to that. Deterministic: ties go to the conjunct that stands first.

use super::uses::{Reads, Uses};
use bombus_base::Int;
use bombus_lang::typed::{BinOp, Expr, ExprKind, Pred, PredKind, RelOp, Type, UnOp, VarId};
use bombus_lang::value::Value;
use std::collections::BTreeSet;

/// Where the values of a variable come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The one value of an expression.
    Equal(Expr),
    /// The elements of a set.
    Member(Expr),
    /// The integers between the greatest lower bound and the least upper one.
    Range { lo: Vec<Expr>, hi: Vec<Expr> },
    /// The subsets of a set.
    Subset(Expr),
    /// All values of the type.
    Type(Type),
}

#[derive(Clone, Debug)]
pub enum PlanStep {
    Bind(VarId, Source),
    /// The elements of a set of pairs, taken apart: variables in the pattern that are not bound yet
    /// are bound, the rest is compared.
    Match {
        pattern: Expr,
        set: Expr,
        binds: Vec<VarId>,
    },
    /// Values that are known, taken apart in the same way.
    Listed {
        pattern: Expr,
        values: Vec<Value>,
        binds: Vec<VarId>,
    },
    /// Conjunct by number: false prunes.
    Test(usize),
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub conjuncts: Vec<Pred>,
    pub steps: Vec<PlanStep>,
    /// Steps that bind from an infinite type: the plan cannot be carried out.
    pub unbounded: Option<VarId>,
}

impl Plan {
    /// Whether a conjunct compares the number of elements of a variable with something.
    pub fn speaks_of_size(&self, v: VarId) -> bool {
        let is_size = |e: &Expr| match &e.kind {
            ExprKind::Unary(UnOp::Card, s) => matches!(s.kind, ExprKind::Var(w) if w == v),
            _ => false,
        };
        self.conjuncts.iter().any(|c| match &c.kind {
            PredKind::Rel(RelOp::NotEqual, ..) => false,
            PredKind::Rel(_, a, b) => is_size(a) || is_size(b),
            _ => false,
        })
    }
}

/// What the planner asks about the world.
pub trait Estimates {
    /// About how many elements a set has; infinite sets have `f64::INFINITY`.
    fn size(&self, set: &Expr) -> f64;
    /// How many values a type has.
    fn type_size(&self, ty: &Type) -> f64;
    fn type_of(&self, v: VarId) -> Type;
}

/// The conjuncts of a predicate, to be kept.
pub fn conjuncts(p: &Pred) -> Vec<Pred> {
    p.conjuncts().into_iter().cloned().collect()
}

struct Conjunct {
    /// The variables to bind that occur in it.
    vars: BTreeSet<VarId>,
    done: bool,
}

struct Candidate {
    cost: f64,
    step: PlanStep,
    binds: Vec<VarId>,
    /// Conjuncts that the step makes true.
    uses: Vec<usize>,
}

/// Plans the search for all values of `vars` that satisfy `conjuncts`.
pub fn plan(vars: &[VarId], conjuncts: Vec<Pred>, est: &dyn Estimates) -> Plan {
    let wanted: BTreeSet<VarId> = vars.iter().copied().collect();
    let mut infos: Vec<Conjunct> = conjuncts
        .iter()
        .map(|c| {
            let uses = Uses::of_pred(c);
            Conjunct { vars: uses.reads.intersection(&wanted).copied().collect(), done: false }
        })
        .collect();
    let mut open = wanted;
    let mut steps = Vec::new();
    let mut unbounded = None;
    loop {
        tests(&mut infos, &open, &mut steps);
        if open.is_empty() {
            break;
        }
        let mut best: Option<Candidate> = None;
        let mut offer = |c: Candidate| {
            if best.as_ref().is_none_or(|b| c.cost < b.cost) {
                best = Some(c);
            }
        };
        for (i, c) in conjuncts.iter().enumerate() {
            if infos[i].done || infos[i].vars.is_empty() {
                continue;
            }
            candidates(c, i, &open, est).into_iter().for_each(&mut offer);
        }
        for v in &open {
            if let Some(c) = range(*v, &conjuncts, &infos, &open) {
                offer(c);
            }
        }
        for v in &open {
            let ty = est.type_of(*v);
            let size = est.type_size(&ty);
            offer(Candidate {
                cost: if size.is_finite() { 10.0 + size } else { f64::INFINITY },
                step: PlanStep::Bind(*v, Source::Type(ty)),
                binds: vec![*v],
                uses: Vec::new(),
            });
        }
        let Some(best) = best else { break };
        if best.cost == f64::INFINITY && unbounded.is_none() {
            unbounded = best.binds.first().copied();
        }
        best.binds.iter().for_each(|v| {
            open.remove(v);
        });
        best.uses.iter().for_each(|i| infos[*i].done = true);
        steps.push(best.step);
    }
    Plan { conjuncts, steps, unbounded }
}

/// Emits the tests of conjuncts that have become ground.
fn tests(infos: &mut [Conjunct], open: &BTreeSet<VarId>, steps: &mut Vec<PlanStep>) {
    for (i, info) in infos.iter_mut().enumerate() {
        if info.done || !info.vars.is_disjoint(open) {
            continue;
        }
        info.done = true;
        steps.push(PlanStep::Test(i));
    }
}

fn ground(e: &Expr, open: &BTreeSet<VarId>) -> bool {
    Reads::of_expr(e, &|v| open.contains(&v)).is_none()
}

fn open_var(e: &Expr, open: &BTreeSet<VarId>) -> Option<VarId> {
    match e.kind {
        ExprKind::Var(v) if open.contains(&v) => Some(v),
        _ => None,
    }
}

/// The ways in which one conjunct can bind variables now.
fn candidates(c: &Pred, i: usize, open: &BTreeSet<VarId>, est: &dyn Estimates) -> Vec<Candidate> {
    let mut out = Vec::new();
    let PredKind::Rel(op, a, b) = &c.kind else { return out };
    match op {
        RelOp::Equal => {
            for (left, right) in [(a, b), (b, a)] {
                if let Some((v, solved)) = solve(left, right, open) {
                    out.push(Candidate {
                        cost: 1.0,
                        step: PlanStep::Bind(v, Source::Equal(solved)),
                        binds: vec![v],
                        uses: vec![i],
                    });
                } else if let Some(binds) = pattern(left, open)
                    && ground(right, open)
                {
                    let set = Expr {
                        ty: Type::pow(right.ty.clone()),
                        span: right.span,
                        kind: ExprKind::SetExt(vec![right.clone()]),
                    };
                    out.push(Candidate {
                        cost: 1.5,
                        step: PlanStep::Match { pattern: left.clone(), set, binds: binds.clone() },
                        binds,
                        uses: vec![i],
                    });
                }
            }
        }
        RelOp::In if ground(b, open) => {
            if let Some(v) = open_var(a, open) {
                let size = est.size(b);
                if let ExprKind::Unary(UnOp::Pow | UnOp::Fin, of) = &b.kind {
                    out.push(Candidate {
                        cost: 2.0 + 2f64.powf(est.size(of).min(1000.0)),
                        step: PlanStep::Bind(v, Source::Subset((**of).clone())),
                        binds: vec![v],
                        uses: vec![i],
                    });
                } else if size.is_finite() {
                    out.push(Candidate {
                        cost: 2.0 + size,
                        step: PlanStep::Bind(v, Source::Member(b.clone())),
                        binds: vec![v],
                        uses: vec![i],
                    });
                }
            } else if let Some(binds) = pattern(a, open) {
                let size = est.size(b);
                if size.is_finite() {
                    let known = matches!(&a.kind, ExprKind::Pair(x, y) if ground(x, open) || ground(y, open));
                    out.push(Candidate {
                        cost: 2.0 + if known { size.sqrt() } else { size },
                        step: PlanStep::Match { pattern: a.clone(), set: b.clone(), binds: binds.clone() },
                        binds,
                        uses: vec![i],
                    });
                }
            }
        }
        RelOp::Subset if ground(b, open) => {
            if let Some(v) = open_var(a, open) {
                out.push(Candidate {
                    cost: 2.0 + 2f64.powf(est.size(b).min(1000.0)),
                    step: PlanStep::Bind(v, Source::Subset(b.clone())),
                    binds: vec![v],
                    uses: vec![i],
                });
            }
        }
        _ => {}
    }
    out
}

/// Pairs of distinct open variables and ground parts; the open variables, if there are any.
fn pattern(e: &Expr, open: &BTreeSet<VarId>) -> Option<Vec<VarId>> {
    fn walk(e: &Expr, open: &BTreeSet<VarId>, binds: &mut Vec<VarId>) -> bool {
        match &e.kind {
            ExprKind::Pair(a, b) => walk(a, open, binds) && walk(b, open, binds),
            ExprKind::Var(v) if open.contains(v) => {
                let fresh = !binds.contains(v);
                binds.push(*v);
                fresh
            }
            _ => ground(e, open),
        }
    }
    if !matches!(e.kind, ExprKind::Pair(..)) {
        return None;
    }
    let mut binds = Vec::new();
    (walk(e, open, &mut binds) && !binds.is_empty()).then_some(binds)
}

/// `left = right` solved for an open variable of `left`, when `right` is ground.
fn solve(left: &Expr, right: &Expr, open: &BTreeSet<VarId>) -> Option<(VarId, Expr)> {
    if !ground(right, open) {
        return None;
    }
    if let Some(v) = open_var(left, open) {
        return Some((v, right.clone()));
    }
    if left.ty != Type::Integer {
        return None;
    }
    let expr = |op, a: &Expr, b: &Expr| Expr {
        kind: ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())),
        ty: Type::Integer,
        span: left.span,
    };
    match &left.kind {
        ExprKind::Binary(BinOp::Add, x, y) if ground(y, open) => solve(x, &expr(BinOp::Sub, right, y), open),
        ExprKind::Binary(BinOp::Add, x, y) if ground(x, open) => solve(y, &expr(BinOp::Sub, right, x), open),
        ExprKind::Binary(BinOp::Sub, x, y) if ground(y, open) => solve(x, &expr(BinOp::Add, right, y), open),
        ExprKind::Binary(BinOp::Sub, x, y) if ground(x, open) => solve(y, &expr(BinOp::Sub, x, right), open),
        ExprKind::Unary(UnOp::Neg, x) => {
            let zero = Expr { kind: ExprKind::Int(Int::ZERO), ty: Type::Integer, span: left.span };
            solve(x, &expr(BinOp::Sub, &zero, right), open)
        }
        _ => None,
    }
}

/// An interval for an integer variable from comparisons with ground expressions.
fn range(v: VarId, conjuncts: &[Pred], infos: &[Conjunct], open: &BTreeSet<VarId>) -> Option<Candidate> {
    let (mut lo, mut hi, mut uses) = (Vec::new(), Vec::new(), Vec::new());
    let shifted = |e: &Expr, by: i64| {
        if by == 0 {
            return e.clone();
        }
        let one = Expr { kind: ExprKind::Int(Int::from(by)), ty: Type::Integer, span: e.span };
        Expr {
            kind: ExprKind::Binary(BinOp::Add, Box::new(e.clone()), Box::new(one)),
            ty: Type::Integer,
            span: e.span,
        }
    };
    let number =
        |n: i64, at: &Expr| Expr { kind: ExprKind::Int(Int::from(n)), ty: Type::Integer, span: at.span };
    for (i, c) in conjuncts.iter().enumerate() {
        if infos[i].done {
            continue;
        }
        let PredKind::Rel(op, a, b) = &c.kind else { continue };
        if a.ty != Type::Integer {
            continue;
        }
        let is = |e: &Expr| matches!(e.kind, ExprKind::Var(w) if w == v);
        let bound = if is(a) && ground(b, open) {
            match op {
                RelOp::Less => Some((false, shifted(b, -1))),
                RelOp::LessEqual => Some((false, b.clone())),
                RelOp::Greater => Some((true, shifted(b, 1))),
                RelOp::GreaterEqual => Some((true, b.clone())),
                RelOp::In => match b.kind {
                    ExprKind::Natural => Some((true, number(0, a))),
                    ExprKind::Natural1 => Some((true, number(1, a))),
                    _ => None,
                },
                _ => None,
            }
        } else if is(b) && ground(a, open) {
            match op {
                RelOp::Less => Some((true, shifted(a, 1))),
                RelOp::LessEqual => Some((true, a.clone())),
                RelOp::Greater => Some((false, shifted(a, -1))),
                RelOp::GreaterEqual => Some((false, a.clone())),
                _ => None,
            }
        } else {
            None
        };
        if let Some((lower, e)) = bound {
            if lower {
                lo.push(e);
            } else {
                hi.push(e);
            }
            uses.push(i);
        }
    }
    if lo.is_empty() || hi.is_empty() {
        return None;
    }
    Some(Candidate { cost: 50.0, step: PlanStep::Bind(v, Source::Range { lo, hi }), binds: vec![v], uses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bombus_base::Span;

    struct Numbers;
    impl Estimates for Numbers {
        fn size(&self, set: &Expr) -> f64 {
            match &set.kind {
                ExprKind::Binary(BinOp::Interval, ..) => 5.0,
                ExprKind::Natural => f64::INFINITY,
                _ => 100.0,
            }
        }
        fn type_size(&self, ty: &Type) -> f64 {
            if *ty == Type::Bool { 2.0 } else { f64::INFINITY }
        }
        fn type_of(&self, _: VarId) -> Type {
            Type::Integer
        }
    }

    fn e(kind: ExprKind) -> Expr {
        Expr { kind, ty: Type::Integer, span: Span::default() }
    }
    fn var(n: u32) -> Expr {
        e(ExprKind::Var(VarId(n)))
    }
    fn int(n: i64) -> Expr {
        e(ExprKind::Int(Int::from(n)))
    }
    fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
        e(ExprKind::Binary(op, Box::new(a), Box::new(b)))
    }
    fn rel(op: RelOp, a: Expr, b: Expr) -> Pred {
        Pred { kind: PredKind::Rel(op, a, b), span: Span::default() }
    }
    fn shape(p: &Plan) -> String {
        let words: Vec<String> = p
            .steps
            .iter()
            .map(|s| match s {
                PlanStep::Bind(v, Source::Equal(_)) => format!("v{}=", v.0),
                PlanStep::Bind(v, Source::Member(_)) => format!("v{}:", v.0),
                PlanStep::Bind(v, Source::Range { .. }) => format!("v{}..", v.0),
                PlanStep::Bind(v, Source::Subset(_)) => format!("v{}<:", v.0),
                PlanStep::Bind(v, Source::Type(_)) => format!("v{}?", v.0),
                PlanStep::Match { binds, .. } => format!("match {}", binds.len()),
                PlanStep::Listed { binds, .. } => format!("list {}", binds.len()),
                PlanStep::Test(i) => format!("test{i}"),
            })
            .collect();
        words.join(" ")
    }

    #[test]
    fn an_equation_is_solved_for_its_variable_before_anything_is_enumerated() {
        let interval = bin(BinOp::Interval, int(0), int(4));
        let p = plan(
            &[VarId(0), VarId(1)],
            vec![
                rel(RelOp::In, var(0), interval.clone()),
                rel(RelOp::In, var(1), interval),
                rel(RelOp::Equal, bin(BinOp::Add, var(0), var(1)), int(4)),
            ],
            &Numbers,
        );
        assert_eq!(shape(&p), "v0: v1= test1");
    }

    #[test]
    fn bounds_make_an_interval() {
        let p = plan(
            &[VarId(0)],
            vec![rel(RelOp::In, var(0), e(ExprKind::Natural)), rel(RelOp::Less, var(0), int(9))],
            &Numbers,
        );
        assert_eq!(shape(&p), "v0..");
        assert!(p.unbounded.is_none());
    }

    #[test]
    fn what_nothing_bounds_is_said_to_be_unbounded() {
        let p = plan(&[VarId(0)], vec![rel(RelOp::Greater, var(0), int(9))], &Numbers);
        assert_eq!(p.unbounded, Some(VarId(0)));
    }

    #[test]
    fn a_conjunct_is_tested_as_soon_as_it_is_ground() {
        let interval = bin(BinOp::Interval, int(0), int(4));
        let p = plan(
            &[VarId(0), VarId(1)],
            vec![
                rel(RelOp::In, var(0), interval.clone()),
                rel(RelOp::In, var(1), interval),
                rel(RelOp::Equal, bin(BinOp::Div, int(6), var(0)), int(3)),
            ],
            &Numbers,
        );
        assert_eq!(shape(&p), "v0: test2 v1:");
    }
}
