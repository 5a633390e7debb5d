//! How much must be believed: the lines of the programs that a certificate rests on.
//!
//! In: the texts of this crate and of the oracle, as they were compiled. Out: a table.
//! A line counts if it is neither blank nor a comment, and stands before the tests of its file.

/// A part with its files: names and texts.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!($folder, $name)))),+]
    };
}

const READING: Files = files!("../../oracle/src/": "tree.rs", "text.rs");
const MEANING: Files = files!("../../oracle/src/": "value.rs", "sets.rs", "eval.rs", "operators.rs", "pred.rs",
    "enumerate.rs", "grow.rs", "exec.rs", "search.rs", "judge.rs");
const CHECKING: Files = files!("": "encoding.rs", "states.rs", "manifest.rs", "certificate.rs", "start.rs", "members.rs",
    "reads.rs", "memo.rs", "points.rs", "examine.rs", "run.rs", "log.rs", "trace.rs", "report.rs", "unlisted.rs",
    "reduced.rs", "bounds/mod.rs", "bounds/walk.rs", "bounds/numbers.rs", "bounds/sequences.rs",
    "bounds/functions.rs", "bounds/sets.rs", "bounds/inside.rs", "bounds/guards.rs");
const SYMMETRY: Files = files!("": "orbit.rs");
const REFINEMENT: Files =
    files!("": "levels.rs", "player.rs", "simulation.rs", "clients.rs", "refinement.rs");
const PROOFS: Files = files!("": "proof.rs", "lrat.rs");
const FORMULAS: Files = files!("": "temporal.rs", "formula.rs", "product.rs", "word.rs");

/// The lines of code of a text.
fn lines(text: &str) -> usize {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    code.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count()
}

/// The table.
pub fn text() -> String {
    let parts: [(&str, Files); 7] = [
        ("the core language: its tree and its text", READING),
        ("the meaning of the core language (oracle)", MEANING),
        ("the checker of certificates", CHECKING),
        ("only for certificates up to symmetry", SYMMETRY),
        ("only for temporal formulas", FORMULAS),
        ("only for refinements of classical B", REFINEMENT),
        ("for proofs by k-induction and IC3, in place of all others", PROOFS),
    ];
    let mut out = String::from("lines of code that a certificate rests on, without comments and tests\n");
    for (what, files) in parts {
        let n: usize = files.iter().map(|f| lines(f.1)).sum();
        out += &format!("{n:6}  {what}\n");
    }
    out += "\nNot checked: that model.core says what the sources say. It is a text to be read and compared:\n\
            `bombus info --core MODEL` prints it, and its translation from the typed tree is src/driver/judge/convert.rs,\n\
            with levels.rs beside it for refinements. Parser and type checker of B stand before them and are believed.";
    out
}
