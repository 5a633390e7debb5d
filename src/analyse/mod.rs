//! Analyses of a typed machine that run nothing of it: data independence, choices without effect,
//! which elements formulas can tell apart; and what proofs say of the machine.
#![forbid(unsafe_code)]

pub mod data_independence;
pub mod distinguishable;
pub mod effect_free_choice;
pub mod proof_info;
pub mod substitution;
