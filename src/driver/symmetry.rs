//! Symmetry as an option: when it is refused, and what the result says about it.
//!
//! Permutations of deferred sets preserve the invariant, assertions, goal, deadlocks, well-definedness
//! and which events are enabled. They do not preserve what a temporal formula says about a path of
//! which each state was renamed in its own way.

use crate::base::diagnostic::Diagnostic;
use crate::explore::{self, Reason};
use crate::model::typed::Machine;
use crate::program::Program;
use crate::program::symmetry::types::{Group, standings};
use crate::program::symmetry::{MOST_PERMUTATIONS, Mode};

/// Why symmetry cannot be used as asked for.
pub fn refusals(machine: &Machine, mode: Mode, temporal: bool) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    if temporal {
        refused.push(
            Diagnostic::plain("--symmetry preserves properties of states, not temporal formulas")
                .help("check the formulas in a run of their own, with --symmetry off"),
        );
    }
    let order = Group::new(machine, &standings(machine)).order();
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
