//! What a search on sets of states found.
//!
//! Filled by `search` and `path`; read by `driver`. Never here: words for users.

use bombus_base::budget::Stop;
use bombus_system::{EventId, Finding, FindingKind};
use dashu_int::UBig;
use std::collections::BTreeMap;

/// Why not everything was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// What the system said, see `System::reason`.
    System(u32),
    Nodes(usize),
    Stop(&'static str),
    States(u64),
    /// States were met whose values have no place in the fields.
    Escaped,
    /// A symmetry that the user claims was used, and is not known to be one.
    Unproved(String),
    /// States that may be deadlocks were too many to look at one by one.
    Undecided,
    /// The path to a finding needs more nodes than there are.
    PathLost,
}

impl Reason {
    pub fn of_stop(stop: Stop) -> Reason {
        Reason::Stop(stop.reason())
    }
}

/// One step of a path; the first has no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    pub event: Option<EventId>,
    pub label: u64,
    pub state: Vec<u64>,
}

#[derive(Clone, Debug)]
pub struct Found {
    pub finding: Finding,
    /// None if it was found before there was any state.
    pub path: Option<Vec<PathStep>>,
}

/// States in which an event is enabled, and its transitions where they can be counted.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub states: UBig,
    pub transitions: Option<UBig>,
}

/// What the diagrams were like.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Variables for one state, and all with the copies.
    pub variables: u32,
    pub all_variables: u32,
    pub arrangement: &'static str,
    pub instances: usize,
    /// Nodes of the set of reached states, of all relations, of all sets that were expanded.
    pub nodes_of_states: usize,
    pub nodes_of_relations: usize,
    pub nodes_expanded: u64,
    /// Nodes in use at the end.
    pub nodes: usize,
    pub rounds: u64,
    /// Single steps and conditions that were computed.
    pub steps_taken: u64,
    pub conditions_asked: u64,
    pub exchanges: usize,
    /// Hints that were gone through, the last one (true) included.
    pub hints: usize,
    /// Nodes of the relation between kept states and their images, if there is one.
    pub nodes_of_xi: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Reachable states; `None` if only some states of each orbit were reached and the others are not known.
    pub states: Option<UBig>,
    /// States that were reached and kept: all, or at least one of each orbit.
    pub kept: UBig,
    pub initial: UBig,
    pub transitions: Option<UBig>,
    pub events: Vec<Coverage>,
    /// The finding with the shortest path, if there is one.
    pub found: Option<Found>,
    /// States with a finding, by kind; at least so many.
    pub counts: BTreeMap<FindingKind, UBig>,
    pub reasons: Vec<Reason>,
    /// Nothing was left to explore.
    pub exhausted: bool,
    /// Events whose guard was undefined somewhere.
    pub undefined: Vec<EventId>,
    pub figures: Figures,
    /// What each claim came to; none where the search did not come so far.
    pub decided: Vec<super::Decided>,
}
