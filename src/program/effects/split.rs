//! Conditions taken apart: a universal quantifier over few values is one condition for each of them.
//!
//! In: a condition. Out: conditions that all hold if and only if it does. Each one reads fewer cells, so
//! that a step of one process need not matter to what is said about another. Never here: evaluation.

use super::ground::{Domains, Put, product};
use super::repair::settled;
use crate::plan;
use bombus_lang::typed::{ExprKind, Pred, PredKind, RelOp, VarId};
use bombus_lang::value::Value;
use bombus_lang::walk::change_pred;
use std::collections::BTreeMap;

/// How far a condition is taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Values of one variable.
    pub values: usize,
    /// Conditions that one is taken apart into.
    pub parts: usize,
}

/// Few enough to be compared with every instance of an event.
const FEW: Most = Most { values: 16, parts: 64 };

pub fn split(condition: &Pred, domains: &Domains<'_>) -> Vec<Pred> {
    split_up_to(condition, domains, FEW)
}

pub fn split_up_to(condition: &Pred, domains: &Domains<'_>, most: Most) -> Vec<Pred> {
    let mut parts = Vec::new();
    for p in plan::conjuncts(condition) {
        match instances(&p, domains, most) {
            None => parts.push(p),
            Some(all) => all.iter().for_each(|p| parts.extend(split_up_to(p, domains, most))),
        }
    }
    if parts.len() > most.parts { vec![condition.clone()] } else { parts }
}

/// A quantified condition for all values of its variables, without those that always hold.
fn instances(p: &Pred, domains: &Domains<'_>, most: Most) -> Option<Vec<Pred>> {
    let PredKind::Forall(vars, body) = &p.kind else { return None };
    let space: Vec<Vec<Value>> =
        vars.iter().map(|v| values(*v, body, domains, most.values)).collect::<Option<_>>()?;
    let count = space.iter().fold(1usize, |n, of_one| n.saturating_mul(of_one.len()));
    if count > most.parts {
        return None;
    }
    let mut all = Vec::new();
    for values in product(&space) {
        let given: BTreeMap<VarId, Value> = vars.iter().copied().zip(values).collect();
        let mut part = (**body).clone();
        change_pred(&mut part, &mut Put { given: &given, machine: domains.machine });
        let part = settled(&part, domains.tracer);
        if !matches!(part.kind, PredKind::True) {
            all.push(part);
        }
    }
    Some(all)
}

/// The values of a variable for which the body need be looked at: those of its type, or of the set that the
/// body begins with. For all others that first condition fails, and the rest is not evaluated.
fn values(v: VarId, body: &Pred, domains: &Domains<'_>, most: usize) -> Option<Vec<Value>> {
    if let Some(all) = domains.of_type(&domains.machine.var(v).ty) {
        return (all.len() <= most).then_some(all);
    }
    let PredKind::Implies(premise, _) = &body.kind else { return None };
    let conditions = plan::conjuncts(premise);
    let home = |p: &Pred| match &p.kind {
        PredKind::Rel(RelOp::In, a, set) => match a.kind {
            ExprKind::Var(w) => Some((w, (domains.set_value)(set)?)),
            _ => None,
        },
        _ => None,
    };
    conditions.iter().map_while(home).find_map(|(w, set)| match set {
        Value::Set(all) if w == v && all.len() <= most => Some(all.to_vec()),
        _ => None,
    })
}
