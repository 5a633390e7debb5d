//! How much a verdict on formulas leaves to chance.
//!
//! In: formulas and the graph they were decided on. Out: the chance that two transitions with different
//! parameters or results were taken for one. Never here: the formulas' truth.
//!
//! The graph knows parameters and results by their labels. A label that spells them out leaves nothing to
//! chance; one that is a hash does, and only to formulas that tell instances of an operation apart.

use crate::graph::Graph;
use crate::ltl::ctl_parse::{Ctl, CtlKind, Temporal};
use crate::program::label::HASHED;

/// A bound for the chance that any two labels of one event are equal though what they stand for is not.
pub fn of_labels(graph: &Graph) -> f64 {
    of_hashed(hashed(graph))
}

/// How many labels are hashes.
pub fn hashed(graph: &Graph) -> u64 {
    graph.forward.instances().iter().filter(|i| i.label & HASHED != 0).count() as u64
}

/// The bound for so many hashes.
pub fn of_hashed(labels: u64) -> f64 {
    // Each pair is equal with the chance of 63 bits.
    (labels as f64).powi(2) / 2f64.powi(64)
}

/// Whether a formula tells transitions of one operation apart.
pub fn tells_instances(formula: &Ctl) -> bool {
    match &formula.kind {
        CtlKind::Constant(_) => false,
        CtlKind::Atom(atom) => atom.tells_instances(),
        CtlKind::Not(f) => tells_instances(f),
        CtlKind::And(f, g) | CtlKind::Or(f, g) | CtlKind::Implies(f, g) => {
            tells_instances(f) || tells_instances(g)
        }
        CtlKind::Path(_, temporal) => match temporal {
            Temporal::Next(pattern, f) => {
                pattern.as_ref().is_some_and(|p| !p.is_plain()) || tells_instances(f)
            }
            Temporal::Finally(f) | Temporal::Globally(f) => tells_instances(f),
            Temporal::Until(f, g) => tells_instances(f) || tells_instances(g),
        },
    }
}
