//! Analyses of a typed machine that run nothing of it: data independence, choices without effect,
//! which elements formulas can tell apart.

pub mod data_independence;
pub mod distinguishable;
pub mod effect_free_choice;
pub mod substitution;
