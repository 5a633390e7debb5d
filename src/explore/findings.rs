//! What was found wrong: counts by kind, and the least findings in an order that no schedule changes.
//!
//! In: findings of single states. Out: the first finding, some more of them, the first of every property, and the
//! counts.
//! Never here: traces.

use bombus_system::{Finding, FindingKind};
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
    /// The least place of every finding; of more findings than are kept, those with the least places.
    first: BTreeMap<Finding, (Place, Option<u32>)>,
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
            self.note_first(place, finding, id);
        }
        self.trim();
    }

    fn note_first(&mut self, place: &Place, finding: &Finding, id: Option<u32>) {
        match self.first.get_mut(finding) {
            Some((known, known_id)) if place < known => (*known, *known_id) = (place.clone(), id),
            Some(_) => {}
            None => {
                self.first.insert(finding.clone(), (place.clone(), id));
            }
        }
    }

    pub fn merge(&mut self, other: Findings) {
        for (sum, more) in self.counts.0.iter_mut().zip(other.counts.0) {
            *sum += more;
        }
        self.least.extend(other.least);
        for (finding, (place, id)) in &other.first {
            self.note_first(place, finding, *id);
        }
        self.trim();
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The findings of a search that was saved: how many of each kind, and the least.
    pub fn restored(counts: [u64; FindingKind::COUNT], least: Vec<(Place, Finding, Option<u32>)>) -> Self {
        let mut all = Findings { counts: Counts(counts), ..Findings::default() };
        for (place, finding, id) in least {
            all.note_first(&place, &finding, id);
            all.least.insert((place, finding), id);
        }
        all.trim();
        all
    }

    /// The least findings and the first one of every property, in order.
    pub fn least(&self) -> impl Iterator<Item = (&Place, &Finding, Option<u32>)> {
        let mut all: BTreeMap<(&Place, &Finding), Option<u32>> =
            self.least.iter().map(|((place, finding), id)| ((place, finding), *id)).collect();
        all.extend(self.first.iter().map(|(finding, (place, id))| ((place, finding), *id)));
        all.into_iter().map(|((place, finding), id)| (place, finding, id))
    }

    /// The same, owned.
    pub fn into_least(self) -> impl Iterator<Item = (Place, Finding, Option<u32>)> {
        let mut all = self.least;
        all.extend(self.first.into_iter().map(|(finding, (place, id))| ((place, finding), id)));
        all.into_iter().map(|((place, finding), id)| (place, finding, id))
    }

    fn trim(&mut self) {
        while self.least.len() > KEPT {
            self.least.pop_last();
        }
        while self.first.len() > KEPT {
            let last = self.first.iter().max_by_key(|(finding, (place, _))| (place, *finding));
            let Some((last, _)) = last else { break };
            let last = last.clone();
            self.first.remove(&last);
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

    #[test]
    fn the_first_finding_of_every_property_is_kept_however_many_come_before_it() {
        let mut f = Findings::default();
        f.enter(&place(9, 1), Some(7), &[finding(FindingKind::Invariant, 3)]);
        f.enter(&place(8, 1), Some(6), &[finding(FindingKind::Invariant, 3)]);
        for n in 0..1000 {
            f.enter(&place(0, n), None, &[finding(FindingKind::Goal, 0)]);
        }
        let last = f.into_least().last().unwrap();
        assert_eq!((last.0.depth, last.1.kind, last.2), (8, FindingKind::Invariant, Some(6)));
    }
}
