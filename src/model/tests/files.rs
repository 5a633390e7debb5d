//! Files: what is read, and what never is.

use super::{load_with, rejected};
use crate::{LoadOptions, load};
use std::fs;

const MAIN: &str = "MACHINE M DEFINITIONS \"../outside.def\" CONSTANTS c PROPERTIES c = A END";

#[test]
fn a_reference_out_of_the_directory_is_refused_with_a_way_out() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("model")).expect("a directory");
    fs::write(dir.path().join("outside.def"), "DEFINITIONS A == 1").expect("a file");
    let main = dir.path().join("model/M.mch");
    fs::write(&main, MAIN).expect("a file");
    let loaded = load(&main, &LoadOptions::default());
    let messages = loaded.messages();
    assert!(loaded.model.is_none());
    assert!(messages.contains("lies outside") && messages.contains("--include"), "{messages}");
    let options = LoadOptions { include: vec![dir.path().to_path_buf()], ..LoadOptions::default() };
    assert!(load(&main, &options).model.is_some());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_directory_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("model")).expect("a directory");
    fs::write(dir.path().join("N.mch"), "MACHINE N END").expect("a file");
    std::os::unix::fs::symlink(dir.path().join("N.mch"), dir.path().join("model/N.mch")).expect("a link");
    let main = dir.path().join("model/M.mch");
    fs::write(&main, "MACHINE M SEES N END").expect("a file");
    assert!(load(&main, &LoadOptions::default()).messages().contains("lies outside"));
}

#[test]
fn an_empty_directory_and_a_missing_file_are_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let loaded = load(dir.path(), &LoadOptions::default());
    assert!(loaded.model.is_none() && !loaded.diagnostics.is_empty());
    assert!(load(&dir.path().join("no.mch"), &LoadOptions::default()).messages().contains("no such file"));
}

#[test]
fn included_directories_and_file_pragmas_are_searched() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("N.mch"), "MACHINE N SETS S END").expect("a file");
    let options = LoadOptions { include: vec![dir.path().to_path_buf()], ..LoadOptions::default() };
    assert!(load_with(&[("M.mch", "MACHINE M SEES N END")], &options).model.is_some());
    let files = [
        ("M.mch", "MACHINE M SEES N /*@file \"sub/Other.mch\" */ END"),
        ("sub/Other.mch", "MACHINE N SETS S END"),
    ];
    assert!(load_with(&files, &LoadOptions::default()).model.is_some());
}

#[test]
fn imported_packages_stand_beside_the_own_one() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("a/aa")).expect("a directory");
    fs::create_dir_all(dir.path().join("b/bb")).expect("a directory");
    fs::write(dir.path().join("b/bb/N.mch"), "/*@package b.bb */ MACHINE N SETS S END").expect("a file");
    let load_as = |packages: &str| {
        let main = dir.path().join("a/aa/M.mch");
        fs::write(&main, format!("{packages} MACHINE M SEES N END")).expect("a file");
        load(&main, &LoadOptions::default())
    };
    assert!(load_as("/*@package a.aa */ /*@import-package b.bb */").model.is_some());
    // What the text says of its place must be so, and the other package must be named.
    let elsewhere = load_as("/*@package x.aa */ /*@import-package b.bb */");
    assert!(elsewhere.messages().contains("outside of the model's directory"));
    assert!(load_as("/*@package a.aa */").model.is_none());
}

#[test]
fn texts_that_are_not_utf8_are_read_as_latin1() {
    let dir = tempfile::tempdir().expect("a directory");
    let main = dir.path().join("M.mch");
    fs::write(&main, b"MACHINE M /* \xe9t\xe9 */ END").expect("a file");
    assert!(load(&main, &LoadOptions::default()).model.is_some());
}

#[test]
fn a_machine_that_includes_itself_is_reported() {
    assert!(rejected(&[("M.mch", "MACHINE M INCLUDES M END")]).contains("in a circle: M → M"));
}

#[test]
fn doubled_definition_files_do_not_double_the_work() {
    let mut files: Vec<(String, String)> =
        vec![("M.mch".into(), "MACHINE M DEFINITIONS \"d0.def\" CONSTANTS c PROPERTIES c = A END".into())];
    for i in 0..30 {
        files.push((format!("d{i}.def"), format!("DEFINITIONS \"d{0}.def\"; \"./d{0}.def\"", i + 1)));
    }
    files.push(("d30.def".into(), "DEFINITIONS A == 1".into()));
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert!(load_with(&files, &LoadOptions::default()).model.is_some());
}
