//! Choices that nothing bounds: an operation's parameter, a constant, ANY, `x:(P)` over all integers.
//!
//! In: variables for which no binder was found. Out: whether the range MININT..MAXINT may be tried.
//! Trying some values of a choice shows real behaviour, so faults found that way are genuine; but the
//! others were not tried, and every such search says so and is incomplete. A quantifier or a
//! comprehension is never cut: some values less would change its truth.

use crate::model::typed::{Machine, Stmt, StmtKind, Type, VarId, VarKind};
use std::collections::HashSet;

/// The variables of all ANY substitutions of a machine.
pub(super) fn of_substitutions(machine: &Machine) -> HashSet<VarId> {
    let mut found = HashSet::new();
    let mut open: Vec<&Stmt> = machine.operations.iter().map(|op| &op.body).collect();
    open.push(&machine.initialisation);
    while let Some(s) = open.pop() {
        match &s.kind {
            StmtKind::Any(vars, _, body) => {
                found.extend(vars.iter().copied());
                open.push(body);
            }
            StmtKind::Pre(_, s)
            | StmtKind::Assert(_, s)
            | StmtKind::Witness(_, s)
            | StmtKind::Let(_, s)
            | StmtKind::Var(_, s)
            | StmtKind::While { body: s, .. } => open.push(s),
            StmtKind::Choice(list) | StmtKind::Seq(list) | StmtKind::Par(list) => open.extend(list),
            StmtKind::If(branches, last) | StmtKind::Select(branches, last) => {
                open.extend(branches.iter().map(|(_, s)| s));
                open.extend(last.as_deref());
            }
            StmtKind::Case(_, branches, last) => {
                open.extend(branches.iter().map(|(_, s)| s));
                open.extend(last.as_deref());
            }
            StmtKind::Skip
            | StmtKind::Assign(_)
            | StmtKind::BecomesIn(..)
            | StmtKind::BecomesSuch(..)
            | StmtKind::Call { .. }
            | StmtKind::External(..) => {}
        }
    }
    found
}

/// Whether `v` is an integer that the model chooses.
pub(super) fn is_integer_choice(machine: &Machine, of_substitutions: &HashSet<VarId>, v: VarId) -> bool {
    machine.vars.get(v.0 as usize).is_some_and(|decl| {
        decl.ty == Type::Integer
            && match decl.kind {
                VarKind::Constant | VarKind::Variable | VarKind::Parameter => true,
                VarKind::Local => of_substitutions.contains(&v),
                VarKind::Result => false,
            }
    })
}
