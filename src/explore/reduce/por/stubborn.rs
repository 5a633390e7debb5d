//! The choice of a set in a state: closures over dependence and necessary enabling sets.
//!
//! In: the enabled instances of a state and the values of guards, asked for when needed. Out: a
//! subset of the enabled instances, or nothing smaller than all. Never here: provisos.
//!
//! A set T of instances is strongly stubborn in a state if for each member that is enabled all
//! instances that do not accord with it are members, and for each member that is not, all instances
//! that may make some false guard of it true. Then no path outside T enables a member, disables one
//! or fails to commute with it (docs/algorithms.md, "Stubborn sets"). Every enabled instance is tried as the seed of
//! such a set; the one with the fewest enabled members wins, the least seed among equals.

use super::{Method, Preserve};
use bombus_kernels::faults::fault;
use bombus_system::{GuardId, Relations};

/// More seeds than this are not tried in one state.
const SEEDS: usize = 64;

/// Chooses sets; one for each worker, for the memory it needs.
pub struct Chooser<'r> {
    pub(super) relations: &'r Relations,
    method: Method,
    preserve: Preserve,
    /// The set under construction, the members not yet looked at, the best one's enabled members.
    pub(super) set: Vec<u64>,
    work: Vec<u64>,
    pub(super) best: Vec<u64>,
    /// Values of guards in this state: `stamp` and `stamp + 1` mean false and true.
    values: Vec<u32>,
    stamp: u32,
}

impl<'r> Chooser<'r> {
    pub fn new(relations: &'r Relations, method: Method, preserve: Preserve) -> Chooser<'r> {
        let width = relations.width();
        Chooser {
            relations,
            method,
            preserve,
            set: vec![0; width],
            work: vec![0; width],
            best: vec![0; width],
            values: vec![0; relations.askable.len()],
            stamp: 0,
        }
    }

    /// The enabled instances to follow, if they can be fewer than all. A pure function of the
    /// state: `guard` must be one.
    pub fn choose(&mut self, enabled: &[u64], guard: &mut dyn FnMut(GuardId) -> bool) -> Option<&[u64]> {
        if self.stamp >= u32::MAX - 4 {
            self.values.fill(0);
            self.stamp = 0;
        }
        self.stamp += 2;
        let found = match self.method {
            Method::Stubborn => self.least_stubborn(enabled, guard),
            Method::Ample => self.first_ample(enabled),
        };
        found.then_some(&self.best[..])
    }

    /// Whether a seed or member may stand in a set that leaves something out.
    pub(super) fn spoils(&self, instance: usize) -> bool {
        // A step that changes nothing leads back at once: the proviso would open the state.
        let waits = self.relations.idle[instance];
        match self.preserve {
            Preserve::Deadlocks => waits && self.relations.fallible,
            Preserve::States | Preserve::Paths => waits || self.relations.is_visible(instance),
        }
    }

    /// Whether all enabled members must be invisible, or one is enough.
    pub(super) fn all_invisible(&self) -> bool {
        self.preserve == Preserve::Paths
    }

    fn least_stubborn(&mut self, enabled: &[u64], guard: &mut dyn FnMut(GuardId) -> bool) -> bool {
        let mut least = size(enabled);
        let mut found = false;
        let mut tried = 0;
        'seeds: for word in 0..enabled.len() {
            let mut rest = enabled[word];
            while rest != 0 {
                let seed = word * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if self.spoils(seed) {
                    continue;
                }
                if tried == SEEDS {
                    break 'seeds;
                }
                tried += 1;
                let Some(members) = self.close(seed, enabled, least, guard) else { continue };
                least = members;
                found = true;
                for ((best, set), enabled) in self.best.iter_mut().zip(&self.set).zip(enabled) {
                    *best = set & enabled;
                }
                if least == 1 {
                    break 'seeds;
                }
            }
        }
        found
    }

    /// The closure of a seed, left in `set`: how many of its members are enabled, if fewer than
    /// `limit`.
    fn close(
        &mut self,
        seed: usize,
        enabled: &[u64],
        limit: u32,
        guard: &mut dyn FnMut(GuardId) -> bool,
    ) -> Option<u32> {
        self.set.fill(0);
        self.work.fill(0);
        self.set[seed / 64] = 1 << (seed % 64);
        self.work[seed / 64] = 1 << (seed % 64);
        let mut members = 1;
        let mut word = 0;
        while word < self.work.len() {
            if self.work[word] == 0 {
                word += 1;
                continue;
            }
            let bit = self.work[word].trailing_zeros() as usize;
            self.work[word] &= self.work[word] - 1;
            let instance = word * 64 + bit;
            let relations = self.relations;
            let again = if fault("por: nothing belongs to a step") {
                usize::MAX
            } else if enabled[word] >> bit & 1 != 0 {
                self.admit(relations.dependent.row(instance), enabled, &mut members)?
            } else {
                self.admit_enablers(instance, enabled, &mut members, guard)?
            };
            if members >= limit {
                return None;
            }
            word = word.min(again);
        }
        Some(members)
    }

    /// Adds instances to the set: the first word in which there is something new. `None` if one of
    /// them must not be a member.
    fn admit(&mut self, more: &[u64], enabled: &[u64], members: &mut u32) -> Option<usize> {
        let mut first = usize::MAX;
        let strict = self.all_invisible();
        for (word, more) in more.iter().enumerate() {
            let new = more & !self.set[word];
            if new == 0 {
                continue;
            }
            if strict && new & enabled[word] & self.relations.visible[word] != 0 {
                return None;
            }
            *members += (new & enabled[word]).count_ones();
            self.set[word] |= new;
            self.work[word] |= new;
            first = first.min(word);
        }
        Some(first)
    }

    /// Adds what may make the cheapest false guard of a disabled instance true.
    fn admit_enablers(
        &mut self,
        instance: usize,
        enabled: &[u64],
        members: &mut u32,
        guard: &mut dyn FnMut(GuardId) -> bool,
    ) -> Option<usize> {
        if fault("por: nothing enables a step") {
            return Some(usize::MAX);
        }
        let relations = self.relations;
        let mut cheapest: Option<(u32, usize)> = None;
        let weight = relations.len() as u32;
        for &g in &relations.guards[instance] {
            let at = g.0 as usize;
            if !relations.askable[at] || self.holds(g, guard) {
                continue;
            }
            let mut cost = 0;
            for ((more, set), enabled) in relations.enablers.row(at).iter().zip(&self.set).zip(enabled) {
                let new = more & !set;
                cost += (new & enabled).count_ones() * weight + (new & !enabled).count_ones();
            }
            if cost == 0 {
                return Some(usize::MAX);
            }
            if cheapest.is_none_or(|(least, _)| cost < least) {
                cheapest = Some((cost, at));
            }
        }
        if let Some((_, at)) = cheapest {
            return self.admit(relations.enablers.row(at), enabled, members);
        }
        // What can be asked for holds, so one of the others is false: any of them may be the one.
        let mut first = None;
        for &g in relations.guards[instance].iter().filter(|g| !relations.askable[g.0 as usize]) {
            let word = self.admit(relations.enablers.row(g.0 as usize), enabled, members)?;
            first = Some(first.unwrap_or(usize::MAX).min(word));
        }
        // No guard at all that could be false: the relations are not of this state, choose nothing.
        first
    }

    fn holds(&mut self, g: GuardId, guard: &mut dyn FnMut(GuardId) -> bool) -> bool {
        let value = &mut self.values[g.0 as usize];
        if *value < self.stamp {
            *value = self.stamp + u32::from(guard(g));
        }
        *value > self.stamp
    }
}

pub(super) fn size(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}
