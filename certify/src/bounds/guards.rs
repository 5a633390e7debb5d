//! The guard of an operation: one predicate that bounds all its parameters.
//!
//! In: an operation. Out: the same operation, its guards in one, and its unread parameters in the integers of the scope.

use super::inside::is_total;
use super::{Window, binary, is, mentions, rel, var};
use crate::reads::names;
use bombus_oracle::text::Core;
use bombus_oracle::tree::{BinOp, Expr, Machine, Name, Operation, Pred, RelOp, Subst, Target, Type, Var};
use bombus_oracle::value::Value;
use std::collections::BTreeSet;

/// So many guards become one: each doubles those before it.
const DEEPEST: usize = 4;

/// All operations that nobody calls, each with one guard, and parameters that nothing reads in the window. A called
/// operation may have other parameters, and its PRE is a demand.
pub fn joined(machine: &mut Machine, window: Option<&Window>) {
    let bodies = machine.operations.iter().map(|o| &o.body).chain([&machine.initialisation]);
    let called: BTreeSet<String> = bodies.flat_map(|s| names(&s.write())).collect();
    for op in machine.operations.iter_mut().filter(|o| o.event && !called.contains(&*o.name)) {
        one_guard(op);
        if let Some(window) = window {
            unread(op, window);
        }
    }
}

/// `ANY y WHERE P THEN SELECT Q THEN S` is `ANY y WHERE P & (P => Q) THEN S` where its parameters are to be found: both are
/// disabled where P or Q is false, and Q counts only where P is true.
fn one_guard(op: &mut Operation) {
    for _ in 0..DEEPEST {
        match one_of_two(&op.body).filter(|_| !op.params.is_empty()) {
            Some(body) => op.body = body,
            None => return,
        }
    }
}

fn both(p: &Pred, q: &Pred) -> Pred {
    Pred::And(vec![p.clone(), Pred::Implies(Box::new(p.clone()), Box::new(q.clone()))])
}

/// Two guards in one, if the second stands directly behind the first.
fn one_of_two(s: &Subst) -> Option<Subst> {
    match s {
        Subst::Pre(p, s) => match &**s {
            Subst::Pre(q, s) => Some(Subst::Pre(both(p, q), s.clone())),
            Subst::Select(branches, None) => {
                let [(q, s)] = &branches[..] else { return None };
                Some(Subst::Select(vec![(both(p, q), s.clone())], None))
            }
            Subst::Any(ys, q, s) if !ys.iter().any(|y| mentions(p, &y.0)) => {
                Some(Subst::Any(ys.clone(), both(p, q), s.clone()))
            }
            _ => None,
        },
        Subst::Select(branches, None) => {
            let [(p, s)] = &branches[..] else { return None };
            match s {
                Subst::Select(inner, None) => {
                    let [(q, s)] = &inner[..] else { return None };
                    Some(Subst::Select(vec![(both(p, q), s.clone())], None))
                }
                Subst::Any(ys, q, s) if !ys.iter().any(|y| mentions(p, &y.0)) => {
                    Some(Subst::Any(ys.clone(), both(p, q), s.clone()))
                }
                _ => None,
            }
        }
        Subst::Any(xs, p, s) => match &**s {
            Subst::Select(branches, None) => {
                let [(q, s)] = &branches[..] else { return None };
                Some(Subst::Any(xs.clone(), both(p, q), Box::new(s.clone())))
            }
            Subst::Any(ys, q, s)
                if !ys.iter().any(|y| mentions(p, &y.0) || xs.iter().any(|x| x.0 == y.0)) =>
            {
                Some(Subst::Any([&xs[..], ys].concat(), both(p, q), s.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A substitution without its assignments to results, which no other part reads and whose values always exist: what
/// such an assignment reads decides about no state.
fn without_results(s: &Subst, results: &[Var]) -> Subst {
    match s {
        Subst::Par(parts) => Subst::Par(parts.iter().map(|s| without_results(s, results)).collect()),
        Subst::Assign(parts) => {
            let for_result = |(to, e): &&(Target, Expr)| {
                to.path.is_empty() && results.iter().any(|r| r.0 == to.var) && is_total(e)
            };
            Subst::Assign(parts.iter().filter(|part| !for_result(part)).cloned().collect())
        }
        s => s.clone(),
    }
}

/// A parameter of which nothing is asked but `p : NATURAL` and the like, and which nothing reads but a result, leads to the same
/// states with all its values: it runs through the integers of the scope, as those count it who count its transitions.
/// One of them must be a value that is asked for.
fn unread(op: &mut Operation, window: &Window) {
    let params: Vec<Var> = op.params.iter().filter(|p| p.1 == Type::Integer).cloned().collect();
    let results = op.results.clone();
    let is_read = |s: &Subst, p: &Name| mentions(&without_results(s, &results), p);
    for (p, _) in params {
        let least = match &op.body {
            Subst::Pre(guard, s) => asked(guard, &p).filter(|_| !is_read(s, &p)),
            Subst::Any(_, guard, s) => asked(guard, &p).filter(|_| !is_read(s, &p)),
            Subst::Select(branches, None) => match &branches[..] {
                [(guard, s)] => asked(guard, &p).filter(|_| !is_read(s, &p)),
                _ => None,
            },
            s => (!is_read(s, &p)).then_some(None),
        };
        let Some(least) = least else { continue };
        if window.0 > window.1 || least.is_some_and(|n| window.1 < n.into()) {
            continue;
        }
        let end = |n: &dashu_int::IBig| Expr::Const(Value::Int(n.clone()));
        let all = binary(BinOp::Interval, &end(&window.0), &end(&window.1));
        let inside = rel(RelOp::In, var(&p), all);
        op.body = match std::mem::take(&mut op.body) {
            Subst::Pre(guard, s) => Subst::Pre(Pred::And(vec![inside, guard]), s),
            Subst::Any(xs, guard, s) => Subst::Any(xs, Pred::And(vec![inside, guard]), s),
            Subst::Select(mut branches, None) => {
                branches.iter_mut().for_each(|(guard, _)| {
                    *guard = Pred::And(vec![inside.clone(), std::mem::replace(guard, Pred::True)]);
                });
                Subst::Select(branches, None)
            }
            s => Subst::Pre(inside, Box::new(s)),
        };
    }
}

/// Whether the conjuncts of a guard ask no more of a parameter than to be from some number on: that number, if there is one.
fn asked(guard: &Pred, p: &Name) -> Option<Option<i32>> {
    let (mut all, mut least) = (Vec::new(), None);
    super::conjuncts(guard, &mut all);
    for c in all.into_iter().filter(|c| mentions(*c, p)) {
        let Pred::Rel(RelOp::In, x, set) = c else { return None };
        if !is(x, p) {
            return None;
        }
        least = least.max(match set {
            Expr::All(Type::Integer) => None,
            Expr::Natural => Some(0),
            Expr::Natural1 => Some(1),
            _ => return None,
        });
    }
    Some(least)
}
