//! What loading a model gives: one `check` per area, the smallest model that shows each rule.
//!
//! Rows of the table of reference tests are named by their number.

mod composition;
mod definitions;
mod files;
mod messages;
mod sets;
mod typing;

use super::{LoadOptions, Loaded, load};
use bombus_lang::typed::Machine;
use std::fs;
use std::path::Path;

/// Loads the first of several files of a fresh directory.
fn load_files(files: &[(&str, &str)]) -> Loaded {
    load_with(files, &LoadOptions::default())
}

fn load_with(files: &[(&str, &str)], options: &LoadOptions) -> Loaded {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("directories");
        fs::write(path, text).expect("a file");
    }
    let main = dir.path().join(files[0].0);
    let options = options.clone();
    // Passes recurse as deep as texts nest.
    std::thread::scope(|s| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(s, || load(&main, &options))
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

fn machine(files: &[(&str, &str)]) -> Machine {
    let loaded = load_files(files);
    let messages = loaded.messages();
    loaded.model.unwrap_or_else(|| panic!("{messages}")).machine
}

/// The machine of one text.
fn one(text: &str) -> Machine {
    machine(&[("M.mch", text)])
}

/// The messages of a model that is rejected.
fn rejected(files: &[(&str, &str)]) -> String {
    let loaded = load_files(files);
    assert!(loaded.model.is_none(), "the model was accepted");
    loaded.messages()
}

fn rejected_one(text: &str) -> String {
    rejected(&[("M.mch", text)])
}

/// Names of the operations that make transitions.
fn events(m: &Machine) -> Vec<String> {
    m.events.iter().map(|e| m.op(*e).name.to_string()).collect()
}

fn names(m: &Machine, vars: &[bombus_lang::typed::VarId]) -> Vec<String> {
    vars.iter().map(|v| m.var(*v).name.to_string()).collect()
}

/// A variable's type as B writes it.
fn type_of(m: &Machine, name: &str) -> String {
    let var = m.vars.iter().find(|v| &*v.name == name).unwrap_or_else(|| panic!("no variable {name}"));
    super::types::show(&var.ty, &m.sets, &m.freetypes)
}
