//! What was found wrong: counts by kind, and the least findings in an order that no schedule changes.
//!
//! In: findings of single states. Out: the first finding, some more of them, and the counts.
//! Never here: traces.

use crate::system::{Finding, FindingKind};
use std::collections::BTreeMap;

/// Findings kept with their states; the others are only counted.
const KEPT: usize = 64;

/// Where a finding was made. The derived order, field by field, decides which finding is shown
/// first: least depth, then least fingerprint, then least words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Length of the shortest path to the state in a breadth-first search, 0 in other orders.
    pub depth: u32,
    pub print: u128,
    /// `None` for a finding made before there was a state.
    pub state: Option<Vec<u64>>,
}

/// Counts by kind of finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; FindingKind::COUNT]);

impl Counts {
    /// States in which a finding of this kind was made.
    pub fn of(&self, kind: FindingKind) -> u64 {
        self.0[kind as usize]
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Findings {
    counts: Counts,
    /// The id of the state comes with it but does not take part in the order: ids depend on the
    /// schedule.
    least: BTreeMap<(Place, Finding), Option<u32>>,
}

impl Findings {
    /// Enters what one look at a state found; a kind counts once however many conjuncts failed.
    pub fn enter(&mut self, place: &Place, id: Option<u32>, found: &[Finding]) {
        let mut kinds = 0u32;
        for finding in found {
            let kind = finding.kind as usize;
            if kinds & 1 << kind == 0 {
                kinds |= 1 << kind;
                self.counts.0[kind] += 1;
            }
            self.least.insert((place.clone(), finding.clone()), id);
        }
        self.trim();
    }

    pub fn merge(&mut self, other: Findings) {
        for (sum, more) in self.counts.0.iter_mut().zip(other.counts.0) {
            *sum += more;
        }
        self.least.extend(other.least);
        self.trim();
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The findings of a search that was saved: how many of each kind, and the least.
    pub fn restored(counts: [u64; FindingKind::COUNT], least: Vec<(Place, Finding, Option<u32>)>) -> Self {
        let least = least.into_iter().map(|(place, finding, id)| ((place, finding), id)).collect();
        Findings { counts: Counts(counts), least }
    }

    pub fn least(&self) -> impl Iterator<Item = (&Place, &Finding, Option<u32>)> {
        self.least.iter().map(|((place, finding), id)| (place, finding, *id))
    }

    /// The least findings, in order.
    pub fn into_least(self) -> impl Iterator<Item = (Place, Finding, Option<u32>)> {
        self.least.into_iter().map(|((place, finding), id)| (place, finding, id))
    }

    fn trim(&mut self) {
        while self.least.len() > KEPT {
            self.least.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(depth: u32, print: u128) -> Place {
        Place { depth, print, state: Some(vec![print as u64]) }
    }

    fn finding(kind: FindingKind, property: u32) -> Finding {
        Finding { kind, property, event: None }
    }

    #[test]
    fn the_least_finding_comes_first_whoever_found_it() {
        let invariant = [finding(FindingKind::Invariant, 1), finding(FindingKind::Invariant, 0)];
        let mut a = Findings::default();
        a.enter(&place(3, 1), Some(9), &invariant);
        let mut b = Findings::default();
        b.enter(&place(2, 8), Some(4), &invariant);
        b.enter(&place(2, 7), Some(5), &[finding(FindingKind::Deadlock, 0)]);
        a.merge(b);
        assert_eq!(a.counts().of(FindingKind::Invariant), 2);
        let first = a.into_least().next().unwrap();
        assert_eq!((first.0.depth, first.0.print, first.2), (2, 7, Some(5)));
    }

    #[test]
    fn only_some_findings_are_kept_but_all_are_counted() {
        let mut f = Findings::default();
        for n in (0..1000).rev() {
            f.enter(&place(0, n), None, &[finding(FindingKind::Goal, 0)]);
        }
        assert_eq!(f.counts().of(FindingKind::Goal), 1000);
        let kept: Vec<u128> = f.into_least().map(|(p, _, _)| p.print).collect();
        assert_eq!(kept, (0..KEPT as u128).collect::<Vec<_>>());
    }
}
