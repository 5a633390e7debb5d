//! Variables that are pairwise different, together.
//!
//! In: the pairs of variables that constraints say to be different. Out: one constraint for every group of three and more
//! in which each two are such a pair. The group says no more than its pairs do, but it sees when its values run out.

use crate::solve::finite_domains::{Constraint, Fd};
use crate::solve::network::Builder;
use bombus_base::hash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// With more pairs than this they stay alone.
const PAIRS: usize = 1 << 15;

impl Builder<'_, '_> {
    pub(super) fn join_unequal(&mut self) {
        let mut pairs = self.net.unequal_pairs();
        pairs.retain(|(x, y)| x != y && !self.net.domains.is_fixed(*x) && !self.net.domains.is_fixed(*y));
        if pairs.len() < 3 || pairs.len() > PAIRS {
            return;
        }
        for group in groups(&pairs) {
            self.net.add(Constraint::AllDifferent(group.into_iter().map(|v| (v, 0)).collect()));
        }
    }
}

/// Groups of three and more in which each two are a pair; every pair of such a group lies in one of them.
fn groups(pairs: &[(Fd, Fd)]) -> Vec<Vec<Fd>> {
    let mut beside: HashMap<Fd, BTreeSet<Fd>> = HashMap::new();
    for (x, y) in pairs {
        beside.entry(*x).or_default().insert(*y);
        beside.entry(*y).or_default().insert(*x);
    }
    let mut covered: HashSet<(Fd, Fd)> = HashSet::new();
    let mut out = Vec::new();
    for (x, y) in pairs {
        if covered.contains(&(*x.min(y), *x.max(y))) {
            continue;
        }
        let mut group = vec![*x, *y];
        let mut common: Vec<Fd> = beside[x].intersection(&beside[y]).copied().collect();
        while let Some(v) = common.first().copied() {
            group.push(v);
            common.retain(|w| beside[&v].contains(w));
        }
        if group.len() < 3 {
            continue;
        }
        for (i, v) in group.iter().enumerate() {
            covered.extend(group[..i].iter().map(|w| (*v.min(w), *v.max(w))));
        }
        out.push(group);
    }
    out
}
