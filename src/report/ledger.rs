//! The verdict, and the ledger that has to be empty before it may be "verified".
//!
//! In: every limit, time-out, cap, approximation and unevaluated predicate of a run. Out: one verdict.
//! Invariant 5 of the architecture stands here: `Verdict::conclude` is the only place that says
//! `Verified`, and it does so only for a run that was finished, found nothing and left no entry.

use std::collections::BTreeSet;

/// Reasons why a run did not see everything; each is told once.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    reasons: BTreeSet<String>,
    finished: bool,
    /// Something else than what the model means was used in its place.
    stand_in: bool,
}

impl Ledger {
    pub fn enter(&mut self, reason: impl Into<String>) {
        self.reasons.insert(reason.into());
    }

    /// Something stands in for what the model means: what is found may rest on that, and is no counterexample.
    pub fn enter_stand_in(&mut self, reason: impl Into<String>) {
        self.stand_in = true;
        self.enter(reason);
    }

    /// The engine says that nothing was left to explore.
    pub fn finished(&mut self) {
        self.finished = true;
    }

    /// All reasons, in a fixed order.
    pub fn reasons(&self) -> Vec<String> {
        let mut all: Vec<String> = self.reasons.iter().cloned().collect();
        if !self.finished && all.is_empty() {
            all.push("the search did not finish".into());
        }
        all
    }

    fn is_clean(&self) -> bool {
        self.finished && self.reasons.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Verified,
    Violated,
    Incomplete,
}

impl Verdict {
    /// A violation of the model is a violation, whatever else happened; "verified" needs a clean ledger. Where
    /// something stands in for a part of the model, nothing is known to be a violation of the model itself.
    pub fn conclude(ledger: &Ledger, violated: bool) -> Verdict {
        if violated && !ledger.stand_in {
            Verdict::Violated
        } else if ledger.is_clean() {
            Verdict::Verified
        } else {
            Verdict::Incomplete
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Verdict::Verified => "verified",
            Verdict::Violated => "violated",
            Verdict::Incomplete => "incomplete",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_rest_on_a_stand_in_is_no_violation() {
        let mut ledger = Ledger::default();
        ledger.finished();
        ledger.enter_stand_in("READ is not provided");
        assert_eq!(Verdict::conclude(&ledger, true), Verdict::Incomplete);
        assert_eq!(Verdict::conclude(&ledger, false), Verdict::Incomplete);
    }

    #[test]
    fn verified_needs_a_finished_run_and_an_empty_ledger() {
        let mut ledger = Ledger::default();
        assert_eq!(Verdict::conclude(&ledger, false), Verdict::Incomplete);
        ledger.finished();
        assert_eq!(Verdict::conclude(&ledger, false), Verdict::Verified);
        ledger.enter("time limit reached");
        assert_eq!(Verdict::conclude(&ledger, false), Verdict::Incomplete);
        assert_eq!(Verdict::conclude(&ledger, true), Verdict::Violated);
    }
}
