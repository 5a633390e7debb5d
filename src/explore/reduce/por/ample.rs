//! Ample sets as Dobrikov and Leuschel choose them (algorithm 4 of their paper), to compare with.
//!
//! In: the enabled instances. Out: the first least set that passes. The paper takes events in a
//! random order; here the order is that of the model, and the smallest set wins.
//! The set is closed under dependence among the enabled instances; it passes if no path in the graph
//! of "may enable" leads from an enabled instance outside to one that depends on the set without
//! going through the set.

use super::stubborn::{Chooser, size};
use bombus_system::ones;

impl Chooser<'_> {
    pub(super) fn first_ample(&mut self, enabled: &[u64]) -> bool {
        let mut least = size(enabled);
        let mut found = false;
        let mut tried: Vec<u64> = vec![0; enabled.len()];
        for seed in ones(enabled) {
            if tried[seed / 64] >> (seed % 64) & 1 != 0 {
                continue;
            }
            let set = self.dependency_set(seed, enabled);
            // Dependence is symmetric: every member has the same set.
            tried.iter_mut().zip(&set).for_each(|(t, s)| *t |= s);
            let members = size(&set);
            let invisible = |i: usize| !self.spoils(i);
            let stutters = match self.all_invisible() {
                true => ones(&set).all(invisible),
                false => ones(&set).any(invisible),
            };
            if members < least && stutters && !self.is_overtaken(&set, enabled) {
                least = members;
                found = true;
                self.best.copy_from_slice(&set);
            }
        }
        found
    }

    /// The enabled instances that a seed depends on, directly or through others.
    fn dependency_set(&self, seed: usize, enabled: &[u64]) -> Vec<u64> {
        let mut set = vec![0u64; enabled.len()];
        set[seed / 64] |= 1 << (seed % 64);
        let mut work = vec![seed];
        while let Some(at) = work.pop() {
            for (word, row) in self.relations.dependent.row(at).iter().enumerate() {
                let new = row & enabled[word] & !set[word];
                set[word] |= new;
                work.extend(ones(&[new]).map(|bit| word * 64 + bit));
            }
        }
        set
    }

    /// Whether something that depends on the set may become enabled without it.
    fn is_overtaken(&self, set: &[u64], enabled: &[u64]) -> bool {
        let mut dependent = vec![0u64; enabled.len()];
        for member in ones(set) {
            dependent.iter_mut().zip(self.relations.dependent.row(member)).for_each(|(d, r)| *d |= r);
        }
        let mut seen: Vec<u64> = enabled.iter().zip(set).map(|(e, s)| e & !s).collect();
        let mut work: Vec<usize> = ones(&seen).collect();
        while let Some(at) = work.pop() {
            for (word, row) in self.relations.enables.row(at).iter().enumerate() {
                let reached = row & !set[word];
                if reached & dependent[word] != 0 {
                    return true;
                }
                let new = reached & !seen[word];
                seen[word] |= new;
                work.extend(ones(&[new]).map(|bit| word * 64 + bit));
            }
        }
        false
    }
}
