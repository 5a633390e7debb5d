//! `SET_PREF_SHOW_EVENTB_ANY_VALUES`: the values of an outermost ANY belong to the label of a step.
//!
//! In: the operations of a machine. Out: the same operations, in which the variables of an outermost ANY are
//! parameters and its predicate is a guard. That is what the operation means; only labels, and with them the number
//! of transitions, are others. As in ProB only operations without parameters take part.

use bombus_lang::typed::{OpId, Operation, Stmt, StmtKind, VarDecl, VarKind};
use bombus_lang::walk::calls_of;
use std::collections::BTreeSet;

pub(super) fn show_any_values(operations: &mut [Operation], events: &[OpId], vars: &mut [VarDecl]) {
    let called: BTreeSet<OpId> = operations.iter().flat_map(|op| calls_of(&op.body)).collect();
    for id in events.iter().filter(|id| !called.contains(id)) {
        let op = &mut operations[id.0 as usize];
        if !op.params.is_empty() || !matches!(op.body.kind, StmtKind::Any(..)) {
            continue;
        }
        let span = op.body.span;
        let body = std::mem::replace(&mut op.body, Stmt { kind: StmtKind::Skip, span });
        let StmtKind::Any(chosen, guard, inner) = body.kind else { continue };
        for v in &chosen {
            vars[v.0 as usize].kind = VarKind::Parameter;
        }
        op.params = chosen;
        op.body = Stmt { kind: StmtKind::Select(vec![(guard, *inner)], None), span };
    }
}
