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
use bombus_analyse::proof_info::ProofInfo;
use bombus_lang::typed::{Clause, Machine, VarId};
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
    /// For each event, the assertions that read something it may write.
    pub asserted: Vec<Vec<usize>>,
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
        let read = |clauses: &[Clause]| -> Vec<BTreeSet<VarId>> {
            let of = |c: &Clause| Uses::of_pred(&c.pred).all().intersection(&state).copied().collect();
            clauses.iter().map(of).collect()
        };
        let touched = |read: &[BTreeSet<VarId>]| -> Vec<Vec<usize>> {
            let by = |e: &Effect| (0..read.len()).filter(|i| !read[*i].is_disjoint(&e.writes)).collect();
            events.iter().map(by).collect()
        };
        let invariant = read(&machine.invariant);
        let (touched, asserted) = (touched(&invariant), touched(&read(&machine.assertions)));
        Effects { events, invariant, touched, asserted }
    }

    /// Conjuncts that an event is not proven to keep count as changed, and no others.
    pub fn touch_what_is_open(&mut self, proven: &ProofInfo, conjuncts: usize) {
        for (event, touched) in self.touched.iter_mut().enumerate() {
            *touched = (0..conjuncts).filter(|c| !proven.keeps(event, *c)).collect();
        }
    }
}
