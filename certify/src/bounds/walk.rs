//! Every binder of a machine: its predicate gets the bounds that follow from it.
//!
//! In: a machine. Out: the same machine with bounds at every binder.
//! Never here: rules.

use super::{bounds, with};
use bombus_oracle::tree::{Clause, Expr, Machine, Operation, Pred, Step, Subst, Var};
use std::collections::VecDeque;

/// Puts bounds at all binders. The constants are bound by the properties.
pub fn machine(m: &mut Machine) {
    let labelled = |c: &Clause| Pred::At(c.label.clone(), Box::new(c.pred.clone()));
    let mut all = Pred::And(m.properties.iter().map(labelled).collect());
    bind(&m.constants, &mut all);
    m.properties = vec![Clause { label: "properties".into(), pred: all }];
    m.invariant.iter_mut().chain(&mut m.assertions).for_each(|clause| pred(&mut clause.pred));
    subst(&mut m.initialisation);
    m.operations.iter_mut().for_each(operation);
    m.goal.iter_mut().chain(&mut m.scope).for_each(pred);
}

/// The outermost guard of an operation binds its parameters.
fn operation(op: &mut Operation) {
    let own = &op.params;
    let guards: Vec<(Vec<Var>, &Pred)> = match &op.body {
        Subst::Pre(p, _) => vec![(own.clone(), p)],
        Subst::Any(xs, p, _) if !own.is_empty() => vec![([own, &xs[..]].concat(), p)],
        Subst::Select(branches, None) => branches.iter().map(|(p, _)| (own.clone(), p)).collect(),
        _ => Vec::new(),
    };
    let mut found: VecDeque<_> = guards.into_iter().map(|(vars, p)| (bounds(&vars, p), vars)).collect();
    subst(&mut op.body);
    let put = |p: &mut Pred| {
        let Some((bounds, vars)) = found.pop_front() else { return };
        *p = with(bounds, &vars, p);
    };
    match &mut op.body {
        Subst::Pre(p, _) | Subst::Any(_, p, _) => [p].into_iter().for_each(put),
        Subst::Select(branches, None) => branches.iter_mut().map(|b| &mut b.0).for_each(put),
        _ => {}
    }
}

/// Bounds follow from the predicate as it stands; what is inside gets its own after that.
fn bind(vars: &[Var], p: &mut Pred) {
    let bounds = bounds(vars, p);
    pred(p);
    *p = with(bounds, vars, p);
}

fn pred(p: &mut Pred) {
    match p {
        Pred::True | Pred::False => {}
        Pred::And(ps) | Pred::Or(ps) => ps.iter_mut().for_each(pred),
        Pred::Not(p) | Pred::At(_, p) => pred(p),
        Pred::Implies(p, q) | Pred::Iff(p, q) => [p, q].into_iter().for_each(|p| pred(p)),
        Pred::Rel(_, a, b) => [a, b].into_iter().for_each(expr),
        Pred::Exists(vars, p) => bind(vars, p),
        Pred::Forall(vars, p) => {
            let bounds = left(p).map(|left| bounds(vars, left));
            pred(p);
            if let (Some(bounds), Some(left)) = (bounds, left(p)) {
                *left = with(bounds, vars, left);
            }
        }
        Pred::If(c, p, q) => [c, p, q].into_iter().for_each(|p| pred(p)),
        Pred::Let(bs, p) => {
            bs.iter_mut().for_each(|b| expr(&mut b.1));
            pred(p);
        }
        Pred::Finite(e) | Pred::Made(_, e) => expr(e),
        Pred::Partition(e, es) => std::iter::once(e).chain(es).for_each(expr),
    }
}

/// The left side of an implication below labels: outside of it, `!x.(P => Q)` is true.
fn left(p: &mut Pred) -> Option<&mut Pred> {
    match p {
        Pred::At(_, p) => left(p),
        Pred::Implies(left, _) => Some(left),
        _ => None,
    }
}

fn expr(e: &mut Expr) {
    match e {
        Expr::Const(_) | Expr::Var(_) | Expr::Old(_) | Expr::All(_) | Expr::Natural | Expr::Natural1 => {}
        Expr::Set(es) | Expr::Seq(es) => es.iter_mut().for_each(expr),
        Expr::Pair(a, b) | Expr::Binary(_, a, b) | Expr::Apply(a, b) | Expr::ApplyWhole(a, b) => {
            [a, b].into_iter().for_each(|e| expr(e));
        }
        Expr::Record(fs) | Expr::Struct(fs) => fs.iter_mut().for_each(|f| expr(&mut f.1)),
        Expr::Field(e, _) | Expr::Unary(_, e) | Expr::Closure(_, e) | Expr::Destruct(_, e) => expr(e),
        Expr::Iterate(_, r, n) => [r, n].into_iter().for_each(|e| expr(e)),
        Expr::Truth(p) => pred(p),
        Expr::Compr(vars, p) => bind(vars, p),
        Expr::Big(_, vars, p, e) => {
            bind(vars, p);
            expr(e);
        }
        Expr::If(p, a, b) => {
            pred(p);
            [a, b].into_iter().for_each(|e| expr(e));
        }
        Expr::Let(bs, e) => {
            bs.iter_mut().for_each(|b| expr(&mut b.1));
            expr(e);
        }
        Expr::Construct(_, arg) => arg.iter_mut().for_each(|e| expr(e)),
    }
}

fn subst(s: &mut Subst) {
    match s {
        Subst::Skip => {}
        Subst::Assign(parts) => {
            for (target, e) in parts {
                expr(e);
                target.path.iter_mut().for_each(|step| match step {
                    Step::Index(i) => expr(i),
                    Step::Field(_) => {}
                });
            }
        }
        Subst::In(_, e) => expr(e),
        Subst::Such(vars, p) => bind(vars, p),
        Subst::Pre(p, s) | Subst::Assert(_, p, s) | Subst::Witness(p, s) => {
            pred(p);
            subst(s);
        }
        Subst::Choice(all) | Subst::Seq(all) | Subst::Par(all) => all.iter_mut().for_each(subst),
        Subst::If(branches, rest) | Subst::Select(branches, rest) => {
            for (p, s) in branches {
                pred(p);
                subst(s);
            }
            rest.iter_mut().for_each(|s| subst(s));
        }
        Subst::Case(e, branches, rest) => {
            expr(e);
            for (labels, s) in branches {
                labels.iter_mut().for_each(expr);
                subst(s);
            }
            rest.iter_mut().for_each(|s| subst(s));
        }
        Subst::Any(vars, p, s) => {
            bind(vars, p);
            subst(s);
        }
        Subst::Let(bs, s) => {
            bs.iter_mut().for_each(|b| expr(&mut b.1));
            subst(s);
        }
        Subst::Var(_, s) => subst(s),
        Subst::While(l) => {
            [&mut l.condition, &mut l.invariant].into_iter().for_each(pred);
            expr(&mut l.variant);
            subst(&mut l.body);
        }
        Subst::Call(_, args, targets) => {
            args.iter_mut().for_each(expr);
            let steps = targets.iter_mut().flat_map(|t| &mut t.path);
            steps.for_each(|step| {
                if let Step::Index(i) = step {
                    expr(i)
                }
            });
        }
    }
}
