//! What the compiler makes of a machine, as text: layouts, register code, relations between events.
//!
//! In: a machine. Out: lines for `bombus info`.
//! Never here: a search.

use crate::base::budget::Budget;
use crate::lang::typed::Machine;
use crate::program;

/// How the compiled engine keeps a machine's states: layout of each variable, bits per state, and
/// which events and conjuncts are left to the interpreter.
pub fn layouts(machine: &Machine, budget: &Budget) -> Vec<String> {
    match program::compile(machine, budget, &program::Options::default()) {
        Ok(mut program) => {
            let mut lines: Vec<String> =
                program.layout_text().lines().map(|l| format!("layout      {l}")).collect();
            lines.extend(program.uncompiled().iter().map(|l| format!("interpreted {l}")));
            lines.extend(program::symmetry::describe(machine).iter().map(|l| format!("symmetry    {l}")));
            lines.extend(super::bdd::advice(&mut program));
            lines
        }
        Err(stop) => vec![format!("layout      unknown: {} while the constants were set up", stop.reason())],
    }
}

/// The register code of events and conjuncts, for the first valuation of the constants.
pub fn code(machine: &Machine, budget: &Budget) -> String {
    match program::compile(machine, budget, &program::Options::default()) {
        Ok(program) => program.code_text(),
        Err(stop) => format!("code        unknown: {} while the constants were set up", stop.reason()),
    }
}

/// How relations are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relate {
    Matrices,
    Dot,
}

/// The relations between the instances of events that partial order reduction uses when everything is
/// checked.
pub fn relations(machine: &Machine, budget: &Budget, how: Relate) -> String {
    let mut program = match program::compile(machine, budget, &program::Options::default()) {
        Ok(program) => program,
        Err(stop) => {
            return format!("relations   unknown: {} while the constants were set up", stop.reason());
        }
    };
    program.prepare_reduction(&program::Preserved {
        invariant: true,
        assertions: true,
        goal: machine.goal.is_some(),
        ..program::Preserved::default()
    });
    program.refine_reduction();
    match (program.reduction(), how) {
        (None, _) => "relations   unknown: there is no valuation of the constants".into(),
        (Some(r), Relate::Matrices) => program::relation_text::text(r),
        (Some(r), Relate::Dot) => program::relation_text::dot(r),
    }
}
