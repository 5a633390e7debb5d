//! Event-B as a user writes it: formulas, refinement, notations, bad input.
//!
//! Expected counts are worked out by hand in the comments, or are those of the same model written flat.

mod bad_input;
mod formulas;
mod obligations;
mod projects;
mod refinement;
mod theories;

use bombus::base::budget::Budget;
use bombus::driver::on_large_stack;
use bombus::evaluate::Interpreter;
use bombus::evaluate::search::{Exploration, SearchOptions, explore};
use bombus::model::{LoadOptions, load};
use std::path::Path;

/// What a check found: counts, and each finding as `kind: property`.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub states: usize,
    pub transitions: u64,
    pub findings: Vec<String>,
}

/// Checks the model at a path; `Err` holds the messages that reject it.
pub fn check_path(path: &Path, options: &LoadOptions) -> Result<Seen, String> {
    let mut seen = check_deadlocks(path, options)?;
    seen.findings.retain(|f| !f.starts_with("Deadlock"));
    Ok(seen)
}

/// The same, deadlocks among the findings.
fn check_deadlocks(path: &Path, options: &LoadOptions) -> Result<Seen, String> {
    on_large_stack(|| {
        let loaded = load(path, options);
        let messages = loaded.messages();
        let Some(model) = &loaded.model else { return Err(messages) };
        let search = SearchOptions { keep_going: true, ..SearchOptions::default() };
        let found: Exploration = explore(&model.machine, &Budget::unlimited(), &search);
        assert_eq!(found.incomplete, Vec::<String>::new(), "{}", path.display());
        let mut findings: Vec<String> =
            found.findings.iter().map(|f| format!("{:?}: {}", f.kind, f.property)).collect();
        findings.sort();
        Ok(Seen { states: found.states.len(), transitions: found.transitions, findings })
    })
    .expect("no panic")
}

/// Checks a model in plain text notation, deadlocks among the findings.
pub fn check_all(text: &str, options: &LoadOptions) -> Seen {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model.eventb");
    std::fs::write(&path, text).expect("a file");
    check_deadlocks(&path, options).unwrap_or_else(|e| panic!("{e}"))
}

/// Checks a model in plain text notation.
pub fn check_with(text: &str, options: &LoadOptions) -> Result<Seen, String> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model.eventb");
    std::fs::write(&path, text).expect("a file");
    check_path(&path, options)
}

pub fn check(text: &str) -> Seen {
    check_with(text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// How an axiom of a context turns out: `true`, `false`, `WD`, `incomplete` or `rejected`.
pub fn truth(axiom: &str) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("C.eventb");
    std::fs::write(&path, format!("context C axioms @axm {axiom} end")).expect("a file");
    on_large_stack(|| {
        let loaded = load(&path, &LoadOptions::default());
        let Some(model) = &loaded.model else { return "rejected".to_string() };
        let interpreter = Interpreter::new(&model.machine, &Budget::unlimited());
        for clause in &model.machine.properties {
            match interpreter.eval_pred(&clause.pred, None) {
                Ok(true) => {}
                Ok(false) => return "false".into(),
                Err(e) if e.is_undefined() => return "WD".into(),
                Err(_) => return "incomplete".into(),
            }
        }
        "true".to_string()
    })
    .expect("no panic")
}

#[test]
fn that_a_carrier_set_is_finite_is_no_property_to_be_set_up() {
    let setup = |axiom: &str| {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("C.eventb");
        std::fs::write(&path, format!("context C sets S axioms @axm1 {axiom} end")).expect("a file");
        [false, true].map(|all_constants| {
            let loaded = load(&path, &LoadOptions { all_constants, ..LoadOptions::default() });
            loaded.model.as_ref().expect("a model").machine.has_setup()
        })
    };
    assert_eq!(setup("finite(S)"), [false, false]);
    // Of anything else it may be false.
    assert_eq!(setup("finite(ℙ(S))"), [true, true]);
    assert_eq!(setup("finite(S∪S)"), [true, true]);
}
