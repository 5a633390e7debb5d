//! Printing and parsing are inverse: tree → text → tree gives the same tree, and no parenthesis is idle.

use crate::support;

use bombus::base::FileId;
use bombus::syntax::ast::Expr;
use bombus::syntax::{parse_formula, parse_substitution, parse_unit, printer};
use support::rng::Rng;
use support::trees::{Trees, parts};

const SEED: u64 = 0xB0B;

/// What goes wrong with a formula, if anything.
fn failure(tree: &Expr) -> Option<String> {
    let text = printer::formula(tree);
    let parsed = parse_formula(FileId(0), &text);
    match parsed.tree {
        Some(again) if again == *tree => None,
        Some(again) => Some(format!("{text}\nreads as\n{}\n{tree:?}\n{again:?}", printer::formula(&again))),
        None => Some(format!("{text}\nis rejected: {:?}", parsed.diagnostics[0])),
    }
}

/// The smallest part that still fails.
fn shrink(tree: &Expr) -> &Expr {
    match parts(tree).into_iter().find(|part| failure(part).is_some()) {
        Some(part) => shrink(part),
        None => tree,
    }
}

#[test]
fn formulas_survive_printing() {
    support::with_stack(|| {
        for case in 0..support::number_from_env("BOMBUS_ROUNDTRIPS", 90_000) {
            let mut rng = Rng::new(SEED + case);
            let height = 1 + rng.below(4);
            let tree = Trees::new(&mut rng).formula(height);
            if failure(&tree).is_some() {
                let small = shrink(&tree);
                panic!("case {case}: {}", failure(small).unwrap_or_default());
            }
        }
    });
}

#[test]
fn substitutions_survive_printing() {
    support::with_stack(|| {
        for case in 0..support::number_from_env("BOMBUS_ROUNDTRIPS", 90_000) / 10 {
            let mut rng = Rng::new(SEED + case);
            let tree = Trees::new(&mut rng).sequence(3);
            let text = printer::substitution(&tree);
            let parsed = parse_substitution(FileId(0), &text);
            assert!(
                parsed.tree.as_ref() == Some(&tree),
                "case {case}:\n{text}\n{:?}",
                parsed.diagnostics.first()
            );
        }
    });
}

#[test]
fn machines_survive_printing() {
    support::with_stack(|| {
        for case in 0..support::number_from_env("BOMBUS_ROUNDTRIPS", 90_000) / 40 {
            let mut rng = Rng::new(SEED + case);
            let tree = Trees::new(&mut rng).unit(2);
            let text = printer::unit(&tree);
            let parsed = parse_unit(FileId(0), &text);
            assert!(
                parsed.tree.as_ref() == Some(&tree),
                "case {case}:\n{text}\n{:?}",
                parsed.diagnostics.first()
            );
            assert_eq!(printer::unit(&tree), text);
        }
    });
}

/// Pairs of parentheses that group, by byte offset; those of calls and binders follow a name.
fn grouping_pairs(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                let Some(start) = open.pop() else { return Vec::new() };
                let groups =
                    start == 0 || matches!(bytes[start - 1], b' ' | b'(' | b'[' | b'{' | b'-' | b'.');
                if groups && bytes.get(at + 1) != Some(&b'.') {
                    pairs.push((start, at));
                }
            }
            _ => {}
        }
    }
    pairs
}

#[test]
fn every_printed_parenthesis_is_needed() {
    for case in 0..5_000 {
        let mut rng = Rng::new(SEED + case);
        let tree = Trees::new(&mut rng).formula(3);
        let text = printer::formula(&tree);
        if text.contains(['"', '`']) {
            continue;
        }
        for (open, close) in grouping_pairs(&text) {
            let without = format!("{}{}{}", &text[..open], &text[open + 1..close], &text[close + 1..]);
            let parsed = parse_formula(FileId(0), &without);
            assert!(parsed.tree.as_ref() != Some(&tree), "case {case}: {text}\nmeans the same as {without}");
        }
    }
}
