//! Effects: which variables an event reads and writes, and which conjuncts it can change.
//!
//! In: the machine. Out: read and write sets per event and per invariant conjunct. Sound by
//! construction: a conjunct is a function of the variables it reads.

pub mod cells;
pub mod facts;
pub mod ground;
pub mod prove;
pub mod relate;
pub mod repair;
pub mod split;

use super::uses::Uses;
use crate::model::typed::{Machine, VarId};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub struct Effect {
    pub reads: BTreeSet<VarId>,
    pub writes: BTreeSet<VarId>,
}

pub struct Effects {
    pub events: Vec<Effect>,
    /// Variables of each invariant conjunct.
    pub invariant: Vec<BTreeSet<VarId>>,
    /// For each event, the conjuncts that read something it may write.
    pub touched: Vec<Vec<usize>>,
}

impl Effects {
    pub fn of(machine: &Machine) -> Effects {
        let state: BTreeSet<VarId> = machine.variables.iter().copied().collect();
        let events: Vec<Effect> = machine
            .events
            .iter()
            .map(|op| {
                let uses = Uses::of_stmt(&machine.op(*op).body, machine);
                Effect {
                    reads: uses.all().intersection(&state).copied().collect(),
                    writes: uses.writes.intersection(&state).copied().collect(),
                }
            })
            .collect();
        let invariant: Vec<BTreeSet<VarId>> = machine
            .invariant
            .iter()
            .map(|c| Uses::of_pred(&c.pred).all().intersection(&state).copied().collect())
            .collect();
        let touched = events
            .iter()
            .map(|e| (0..invariant.len()).filter(|i| !invariant[*i].is_disjoint(&e.writes)).collect())
            .collect();
        Effects { events, invariant, touched }
    }
}
