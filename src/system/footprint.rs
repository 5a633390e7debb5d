//! What an engine on sets of states may rely on: the bits of a state, and which of them each step and each
//! condition depends on.
//!
//! In: filled by whoever implements `System` and knows its states. Out: read by `bdd`. A set of bits that are read is
//! a "may": a bit too many costs work, a bit too few is a mistake.
//! Never here: how the sets were found, what a bit means.

use super::{EventId, Finding};

/// A run of bits that holds one thing: a truth value, a number, one of a few codes. Bits of a state that belong to
/// no field are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// Place in the state, in bits. A field does not straddle words.
    pub offset: u32,
    pub width: u16,
    /// How many codes there are, from zero on; `None` if every pattern of bits may occur.
    pub codes: Option<u32>,
}

/// An instance of an event: its steps are a function of what is read, and change nothing but what is written.
/// What is written counts as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    pub event: EventId,
    /// The arguments are fixed and tell all transitions with one source and one target apart, so that transitions
    /// can be counted by their sources and targets.
    pub ground: bool,
    /// Sets of bits of the state.
    pub reads: Vec<u64>,
    pub writes: Vec<u64>,
}

/// A condition that is looked at in every state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What is found in a state where the condition has the truth value `found_if`; `None` for a condition that only
    /// guides a search, and for a proposition.
    pub finding: Option<Finding>,
    /// The number of the proposition of temporal claims that the condition is, if it is one.
    pub proposition: Option<usize>,
    pub found_if: bool,
    /// Parts of which one decides: the condition has the truth value `found_if` exactly where one part has it.
    pub parts: Vec<Part>,
}

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub reads: Vec<u64>,
    /// Whether the part can be asked for by itself; else the whole condition is asked.
    pub askable: bool,
}

/// A symmetry of the system that exchanges fields and renumbers codes: two elements of a set are swapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The set, and the two elements, as people write them.
    pub set: String,
    pub elements: [String; 2],
    /// By field: the field it goes to, and the new numbers of its codes if they change.
    pub images: Vec<(u32, Option<Vec<u32>>)>,
    /// Whether the system was proved to be symmetric; one that was not comes from the user.
    pub proved: bool,
}

/// All that is known about the bits of a system.
#[derive(Clone, Debug, Default)]
pub struct Footprints {
    pub fields: Vec<BitField>,
    /// A bit that is set in states which the fields do not describe.
    pub escape: Option<u32>,
    /// Bits that every step and every condition reads, such as the number of a valuation of the constants.
    pub common: Vec<u64>,
    pub instances: Vec<Footprint>,
    pub conditions: Vec<Condition>,
    /// Exchanges of neighbouring elements of symmetric sets: they generate all permutations.
    pub exchanges: Vec<Exchange>,
    /// What is left out of a symmetry, and why.
    pub notes: Vec<String>,
}

impl Footprints {
    /// Whether a state has its values in the fields.
    pub fn describes(&self, state: &[u64]) -> bool {
        self.escape.is_none_or(|bit| state[bit as usize / 64] >> (bit % 64) & 1 == 0)
    }
}
