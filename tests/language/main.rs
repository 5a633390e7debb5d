//! What B and Event-B texts mean: their grammar, their typing, their values and substitutions.

#[path = "../support/mod.rs"]
mod support;

mod classical_refinement;
mod eventb;
mod images_without_end;
mod inference;
mod inference_rules;
mod integer_scope;
mod labels_and_findings;
mod libraries;
mod random_refinements;
mod reference_values;
mod refinement_certificates;
mod semantics;
mod sets_without_end;
mod sizes_of_sets;
mod syntax_corpus;
mod syntax_formulas;
mod syntax_machines;
mod syntax_robustness;
mod syntax_roundtrip;
mod unbounded;
mod value_laws;
