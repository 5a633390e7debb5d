//! Real models: each that was explored elsewhere parses, and each tree survives printing.
//!
//! The models are not part of this project: `BOMBUS_CORPUS` names a directory with them and `expected.csv`.

use crate::support;

use bombus::base::FileId;
use bombus::base::diagnostic::Sources;
use bombus::syntax::{parse_unit, printer};
use std::collections::HashMap;
use std::path::Path;

/// Paths of `expected.csv` whose number of states is known, so that some tool has loaded them.
fn explored(root: &Path) -> HashMap<String, bool> {
    let table = std::fs::read_to_string(root.join("expected.csv")).unwrap_or_default();
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let columns: Vec<&str> = line.split(',').collect();
            Some((columns.first()?.to_string(), columns.get(3)?.parse::<u64>().is_ok()))
        })
        .collect()
}

#[test]
#[ignore = "needs real models: BOMBUS_CORPUS names their directory"]
fn explored_models_parse_and_all_trees_survive_printing() {
    let root = support::corpus();
    support::with_stack(move || {
        let explored = explored(&root);
        let (mut trees, mut rejected) = (0, Vec::new());
        for path in support::classical_files(&root) {
            let text = support::read_text(&path);
            let parsed = parse_unit(FileId(0), &text);
            let Some(tree) = parsed.tree else {
                let relative = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
                if explored.get(&relative) == Some(&true) {
                    let mut sources = Sources::default();
                    sources.add(relative.as_str(), None, text.as_str());
                    rejected.push(sources.render(&parsed.diagnostics[0]));
                }
                continue;
            };
            let printed = printer::unit(&tree);
            let again = parse_unit(FileId(0), &printed);
            assert!(
                again.tree.as_ref() == Some(&tree),
                "{}: the printed tree reads differently: {:?}",
                path.display(),
                again.diagnostics.first()
            );
            trees += 1;
        }
        assert!(
            rejected.is_empty(),
            "{} explored models are rejected:\n{}",
            rejected.len(),
            rejected.join("\n")
        );
        println!("{trees} trees survive printing");
    });
}
