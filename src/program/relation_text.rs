//! Relations between instances as people read them: matrices of letters, and the graph of "may enable"
//! for a drawing program.
//!
//! In: a prepared reduction. Out: text. Never here: where it goes.

use super::reduction::Reduction;
use bombus_system::{Relations, Rows};
use std::fmt::Write;

/// Wider matrices are listed row by row instead.
const WIDEST: usize = 64;

/// All relations: numbered instances with their guards, then a matrix for each relation.
pub fn text(r: &Reduction) -> String {
    let mut out = String::new();
    let relations = &r.relations;
    let _ = writeln!(
        out,
        "relations   {} instances, {} guards ({} can be asked for), {} of {} invariant conjuncts kept by all events",
        relations.len(),
        relations.askable.len(),
        relations.askable.iter().filter(|a| **a).count(),
        r.proven,
        r.conjuncts,
    );
    for (i, name) in r.names.iter().enumerate() {
        let mut marks = Vec::new();
        if relations.is_visible(i) {
            marks.push("visible");
        }
        if r.grounded.instances[i].may_fail {
            marks.push("may fail");
        }
        let marks = if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) };
        let _ = writeln!(out, "{i:>4}  {name}{marks}");
    }
    matrix(&mut out, "dependent: the two do not accord where both are enabled", &relations.dependent);
    matrix(&mut out, "together: the two may be enabled in one state", &relations.together);
    matrix(&mut out, "enables: a step of the row may enable the column", &relations.enables);
    matrix(&mut out, "disables: a step of the row may disable the column", &relations.disables);
    commuting(&mut out, relations);
    out
}

fn matrix(out: &mut String, title: &str, rows: &Rows) {
    let _ = writeln!(out, "\n{title}");
    for row in 0..rows.rows() {
        if rows.columns() <= WIDEST {
            let letters: String =
                (0..rows.columns()).map(|c| if rows.contains(row, c) { 'x' } else { '.' }).collect();
            let _ = writeln!(out, "{row:>4}  {letters}");
        } else {
            let list: Vec<String> = rows.ones(row).map(|c| c.to_string()).collect();
            let _ = writeln!(out, "{row:>4}  {}", list.join(" "));
        }
    }
}

/// Pairs that may be enabled together and are independent all the same.
fn commuting(out: &mut String, r: &Relations) {
    let mut commutes = Rows::new(r.len(), r.len());
    for a in 0..r.len() {
        for b in r.together.ones(a).filter(|b| !r.dependent.contains(a, *b)) {
            commutes.insert(a, b);
        }
    }
    matrix(out, "commutes: both may be enabled, and neither minds the other", &commutes);
}

/// The graph of "may enable" in the language of Graphviz.
pub fn dot(r: &Reduction) -> String {
    let mut out = String::from("digraph enables {\n  node [shape=box];\n");
    for (i, name) in r.names.iter().enumerate() {
        let style = if r.relations.is_visible(i) { ", style=bold" } else { "" };
        let _ =
            writeln!(out, "  i{i} [label=\"{}\"{style}];", name.replace('\\', "\\\\").replace('"', "\\\""));
    }
    for a in 0..r.relations.len() {
        for b in r.relations.enables.ones(a) {
            let _ = writeln!(out, "  i{a} -> i{b};");
        }
    }
    out.push_str("}\n");
    out
}
