//! Symmetry as an option: when it is refused, and what the result says about it.
//!
//! Permutations of deferred sets preserve the invariant, assertions, goal, deadlocks, well-definedness
//! and which events are enabled. So they preserve temporal formulas over these, if orbits are told apart
//! exactly; not what a formula says of single elements, or of two states at once, each of which may be
//! renamed in its own way.

use super::CheckOptions;
use super::temporal::Formulas;
use crate::base::diagnostic::Diagnostic;
use crate::explore::{self, Reason};
use crate::lang::typed::Machine;
use crate::program::Program;
use crate::program::symmetry::types::{Group, standings};
use crate::program::symmetry::{MOST_PERMUTATIONS, Mode};

/// Why symmetry cannot be used as asked for.
pub fn refusals(
    machine: &Machine,
    mode: Mode,
    formulas: &Formulas,
    options: &CheckOptions,
) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    let why = formulas.obstacle_to_symmetry().map(|why| format!("--symmetry does not preserve {why}"));
    let why = why.or_else(|| {
        let word = match mode {
            _ if !formulas.need_graph() => return None,
            Mode::Marker | Mode::MarkerClassic => "markers may take states for one that are not symmetric",
            _ if options.checkpoint.is_used() => "a search for them is not saved",
            _ => return None,
        };
        Some(format!("temporal formulas are not decided with these options: {word}"))
    });
    refused.extend(why.map(|why| {
        Diagnostic::plain(why).help("check the formulas in a run of their own, with --symmetry off")
    }));
    let order = Group::new(machine, &standings(machine, &[])).order();
    if mode == Mode::Flood && order > MOST_PERMUTATIONS {
        refused.push(
            Diagnostic::plain(format!(
                "--symmetry flood goes through all {order:.0} permutations for each state, at most \
                 {MOST_PERMUTATIONS:.0} are allowed"
            ))
            .help("use smaller sets, or --symmetry exact"),
        );
    }
    refused
}

/// How exactly orbits were told apart in a run.
pub fn grade(program: &Program, found: &explore::Outcome) -> &'static str {
    match program.symmetry() {
        None => "off",
        Some(_) if program.is_confused() || found.reasons.iter().any(|(r, _)| *r == Reason::Orbits) => {
            "approximate"
        }
        Some(_) => "exact",
    }
}

/// The chance that two orbits were taken for one because their hashes are equal.
pub fn collision_bound(program: &Program, states: u64) -> f64 {
    match program.symmetry().map(|s| s.mode) {
        Some(Mode::Marker | Mode::MarkerClassic) => (states as f64).powi(2) / 2f64.powi(129),
        Some(Mode::Exact | Mode::Flood) | None => 0.0,
    }
}
