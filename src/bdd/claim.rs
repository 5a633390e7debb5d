//! Temporal claims as a search on sets of states decides them.
//!
//! In: built by whoever reads formulas; atoms are facts about states and sets of instances of events. Out: read by
//! `branching` and `linear`, with what they come to. Operands stand before operators.
//! Never here: texts of formulas, how a claim is decided.

use super::outcome::PathStep;

/// A fact about a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A proposition of the footprints holds, see `Condition::proposition`.
    Holds(usize),
    /// One of these instances of events is enabled.
    Enabled(Vec<u32>),
    Deadlock,
    /// No step leads to another state.
    Sink,
    Initial,
}

/// A formula on one path, by its operands' numbers. At the end of a finite path `Next` and `Taken` are false, at the
/// beginning of a path `Yesterday` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    True,
    State(Fact),
    /// The step that is taken next belongs to one of these instances.
    Taken(Vec<u32>),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    Until(usize, usize),
    Yesterday(usize),
    Since(usize, usize),
}

/// Fairness of some instances: where one of them is enabled again and again (strong) or always (weak), one is taken
/// again and again. Both are numbers of forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fair {
    pub strong: bool,
    pub enabled: usize,
    pub taken: usize,
}

/// What has to hold on every maximal path that is finite or meets all of one of the assumptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    pub forms: Vec<Form>,
    pub root: usize,
    /// Never empty; one without fairness is an empty list.
    pub assumptions: Vec<Vec<Fair>>,
}

/// A formula about a state and the paths from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    True,
    State(Fact),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    /// Some successor, by one of these instances if they are given.
    Next(Option<Vec<u32>>, usize),
    /// On some path the one holds until the other does.
    Until(usize, usize),
    /// Some maximal path on which it holds always.
    Globally(usize),
}

/// What has to hold in every initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branching {
    pub trees: Vec<Tree>,
    pub root: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Linear(Linear),
    Branching(Branching),
}

/// How a path that shows something ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The last step leads back to this position.
    Loop(usize),
    Deadlock,
    /// As far as one path can tell.
    Open,
}

/// Why a claim was not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Not all states or steps are known.
    NotExplored,
    /// A proposition has no truth value in some state.
    NotEvaluated,
    /// There is no initial state.
    NoStart,
    /// It holds on the states that were kept, which are not all.
    OnlyKept,
    /// The symmetry is not proved, or the claim or the initial states are not the same under it.
    NotSymmetric,
    /// A violation was found, and no path to it in the given number of steps.
    NotShown,
}

/// What a claim came to.
#[derive(Clone, Debug)]
pub enum Decided {
    Holds,
    /// The states of a path that violates a claim about paths.
    Along(Vec<Vec<u64>>),
    /// A path that shows why a claim about trees fails; a loop repeats its entry at the end.
    Path(Vec<PathStep>, Ending),
    Open(Open),
    /// A limit was reached.
    Limit(super::Reason),
}
