//! The refinement chain of a classical machine as the lock-step check reads it.
//!
//! In: built by `compose` for a machine that refines another. Out: read by `reference::lockstep`.
//! Never here: evaluation.
//!
//! All levels share one table of variables. A variable that two levels declare under one name is one variable.

use bombus_base::Name;
use bombus_lang::typed::{Machine, OpId, Pred, Stmt, StmtKind, VarId};

/// A machine together with the abstractions it refines.
#[derive(Clone, Debug)]
pub struct Refinement {
    /// The machine to check, with the operations of all levels. Its variables are those of the checked machine, then
    /// those that only abstractions have; its clauses are those of the checked machine, then those that speak of
    /// variables of abstractions. Its events are those of the checked machine, then the abstract operations they refine.
    pub machine: Machine,
    /// How many of the variables, conjuncts of the invariant and assertions are the checked machine's own.
    pub own_variables: usize,
    pub own_invariant: usize,
    pub own_assertions: usize,
    /// The abstractions, nearest first.
    pub levels: Vec<Level>,
    /// One for each event of the checked machine.
    pub events: Vec<Followed>,
    /// The abstractions that are left out, nearest first.
    pub left_out: Vec<Name>,
    /// Operations of the nearest abstraction that the checked machine does not have.
    pub missing: Vec<Name>,
}

/// An abstraction: one machine with all that it includes and sees.
#[derive(Clone, Debug)]
pub struct Level {
    pub name: Name,
    pub variables: Vec<VarId>,
    pub initialisation: Stmt,
}

/// An event of the checked machine, and the operations that it refines.
#[derive(Clone, Debug)]
pub struct Followed {
    pub op: OpId,
    pub precondition: Option<Pred>,
    /// The refined operations of the levels, nearest first; levels beyond the last one do nothing.
    pub refined: Vec<Refined>,
    pub role: Role,
    /// Whether loop invariants, and nothing else in the operation, speak of variables of abstractions.
    pub loops_read_abstractions: bool,
}

#[derive(Clone, Debug)]
pub struct Refined {
    pub op: OpId,
    pub precondition: Option<Pred>,
}

/// How an event takes part in the refinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An operation of the checked machine.
    Own,
    /// An operation of a machine that is only seen: it changes what all levels see.
    Beside,
    /// An operation whose parameters are not those of the refined operation, which cannot be followed.
    OtherParameters,
}

/// The outermost precondition of an operation.
pub fn precondition(body: &Stmt) -> Option<Pred> {
    let mut found: Vec<Pred> = Vec::new();
    let mut at = body;
    loop {
        match &at.kind {
            StmtKind::Pre(p, inner) => {
                found.push(p.clone());
                at = inner;
            }
            StmtKind::Seq(one) | StmtKind::Par(one) if one.len() == 1 => at = &one[0],
            _ => break,
        }
    }
    match found.len() {
        0 => None,
        1 => found.pop(),
        _ => {
            let span = found[0].span;
            Some(Pred { kind: bombus_lang::typed::PredKind::And(found), span })
        }
    }
}
