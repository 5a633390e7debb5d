//! The kinds of things that a check finds, the same for every engine.
//!
//! A kind counts once for each look at a state that finds it, however many conjuncts, assertions or events are
//! concerned. There is one look when the constants and the initial states are computed (assertions about constants
//! alone belong to it), one when a new state is checked, and one when its successors are computed.

/// What kind of property a finding breaks; the words of the JSON result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    Invariant,
    Deadlock,
    Assertion,
    WellDefinedness,
    Precondition,
    Goal,
    Properties,
    Refinement,
    Variant,
    /// A process may go on for ever without doing anything that others see.
    Divergence,
    /// What a formalism other than B calls an error of its own.
    Error,
    /// A state that no state of a temporal formula may be.
    Ltl,
}

impl FindingKind {
    /// How many kinds there are.
    pub const COUNT: usize = FindingKind::Ltl as usize + 1;

    pub const ALL: [FindingKind; FindingKind::COUNT] = [
        FindingKind::Invariant,
        FindingKind::Deadlock,
        FindingKind::Assertion,
        FindingKind::WellDefinedness,
        FindingKind::Precondition,
        FindingKind::Goal,
        FindingKind::Properties,
        FindingKind::Refinement,
        FindingKind::Variant,
        FindingKind::Divergence,
        FindingKind::Error,
        FindingKind::Ltl,
    ];

    /// Whether a machine of B can have a finding of this kind.
    pub fn is_of_b(self) -> bool {
        !matches!(self, FindingKind::Divergence | FindingKind::Error)
    }

    pub fn word(self) -> &'static str {
        match self {
            FindingKind::Invariant => "invariant",
            FindingKind::Deadlock => "deadlock",
            FindingKind::Assertion => "assertion",
            FindingKind::WellDefinedness => "well-definedness",
            FindingKind::Precondition => "precondition",
            FindingKind::Goal => "goal",
            FindingKind::Properties => "properties",
            FindingKind::Refinement => "refinement",
            FindingKind::Variant => "variant",
            FindingKind::Divergence => "divergence",
            FindingKind::Error => "error",
            FindingKind::Ltl => "ltl",
        }
    }
}
