//! Functions that PROPERTIES choose.
//!
//! In: a machine. Out: the constants that are looked for among the functions with a value wherever PROPERTIES apply them
//! (see `docs/definedness.md`): relations that no equation gives a value. An equation may depend on constants that are
//! searched for, but not on relations that are.

use crate::free;
use crate::typed::{Expr, ExprKind, Machine, Pred, PredKind, RelOp, Type, VarId};

/// The constants that are chosen to be defined wherever PROPERTIES apply them.
pub fn functions(machine: &Machine) -> Vec<VarId> {
    let is_relation =
        |v: &VarId| matches!(&machine.var(*v).ty, Type::Pow(pair) if matches!(**pair, Type::Prod(..)));
    let mut open: Vec<VarId> = machine.constants.iter().copied().filter(is_relation).collect();
    let mut equations = Vec::new();
    machine.properties.iter().for_each(|c| note_equations(&c.pred, &mut equations));
    let equations: Vec<(VarId, Vec<VarId>)> =
        equations.into_iter().map(|(v, e)| (v, free::of_expr(e))).collect();
    loop {
        let given =
            equations.iter().find(|(v, free)| open.contains(v) && !free.iter().any(|w| open.contains(w)));
        let Some((v, _)) = given else { return open };
        open.retain(|w| w != v);
    }
}

/// The equations among the conjuncts of a predicate that have a variable on one side, with the other side.
fn note_equations<'p>(p: &'p Pred, out: &mut Vec<(VarId, &'p Expr)>) {
    match &p.kind {
        PredKind::And(ps) => ps.iter().for_each(|p| note_equations(p, out)),
        PredKind::Label(_, p) => note_equations(p, out),
        PredKind::Rel(RelOp::Equal, a, b) => {
            for (side, other) in [(a, b), (b, a)] {
                if let ExprKind::Var(v) = side.kind {
                    out.push((v, other));
                }
            }
        }
        _ => {}
    }
}
