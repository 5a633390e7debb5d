//! Every LTL and CTL formula that public machines keep in their definitions is read.
//!
//! The machines are not part of this project: `BOMBUS_CORPUS` names a directory with them.

use crate::support::{classical_files, corpus};
use bombus::base::span::FileId;
use bombus::ltl::{Place, parse_ctl, parse_ltl};
use std::fs;

/// The strings of `ASSERT_LTL… == "…"` or `ASSERT_CTL… == "…"`, those in comments included.
fn formulas(text: &str, prefix: &str) -> Vec<String> {
    text.match_indices(prefix)
        .filter_map(|(at, _)| {
            let rest = text[at..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
            let rest = rest.strip_prefix("==")?.trim_start().strip_prefix('"')?;
            Some(rest[..rest.find('"')?].to_string())
        })
        // A comment that ends first: its last quotation mark is missing.
        .filter(|formula| !formula.contains("*/"))
        .collect()
}

#[test]
#[ignore = "needs real models: BOMBUS_CORPUS names their directory"]
fn formulas_of_the_corpus_are_read() {
    let place = Place { file: FileId(0), offset: 0 };
    let (mut ltl, mut ctl, mut warned) = (0, 0, 0);
    let mut refused = Vec::new();
    for machine in classical_files(&corpus()) {
        let text = String::from_utf8_lossy(&fs::read(&machine).unwrap()).into_owned();
        for formula in formulas(&text, "ASSERT_LTL") {
            ltl += 1;
            match parse_ltl(&formula, place) {
                Ok(parsed) => warned += usize::from(!parsed.warnings.is_empty()),
                Err(faults) => {
                    refused.push(format!("{}: {formula}: {}", machine.display(), faults[0].message))
                }
            }
        }
        for formula in formulas(&text, "ASSERT_CTL") {
            ctl += 1;
            if let Err(faults) = parse_ctl(&formula, place) {
                refused.push(format!("{}: {formula}: {}", machine.display(), faults[0].message));
            }
        }
    }
    println!(
        "{ltl} LTL formulas ({warned} with the old negation), {ctl} CTL formulas, {} refused",
        refused.len()
    );
    assert!(ltl > 900 && ctl > 20, "is this the corpus?");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
