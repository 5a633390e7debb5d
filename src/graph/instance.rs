//! Instances: events with the labels they occur with, numbered.
//!
//! In: logged edges. Out: the pairs of event and label among them in order, and the place of each.
//! Never here: nodes.
//!
//! Most events have one label or a few; those with many are looked up by hash.

use super::csr::Edge;
use bombus_kernels::hash;
use bombus_system::EventId;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// An event with the label that stands for its arguments and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    pub event: EventId,
    pub label: u64,
}

/// Edges that one thread looks at in a row.
const PART: usize = 1 << 14;

/// An event with at most so many labels is looked up by going through them.
const FEW: usize = 12;

pub(super) struct Catalogue {
    all: Vec<Instance>,
    /// Where the instances of each event begin, and the end of all.
    first: Vec<u32>,
    /// The places of instances whose event has many.
    places: HashMap<Instance, u32, BuildHasherDefault<Mixed>>,
}

impl Catalogue {
    pub fn new(logs: &[Vec<Edge>]) -> Self {
        let parts = logs.par_iter().flat_map(|log| log.par_chunks(PART));
        let seen = parts.fold(Seen::default, Seen::with).reduce(Seen::default, Seen::joined);
        let mut all: Vec<Instance> = seen.set.into_iter().collect();
        all.par_sort_unstable();
        assert!(u32::try_from(all.len()).is_ok(), "more instances of events than can be numbered");
        let events = all.last().map_or(0, |last| last.event.0 as usize + 1);
        let begins = |event: usize| all.partition_point(|i| (i.event.0 as usize) < event) as u32;
        let first: Vec<u32> = (0..=events).map(begins).collect();
        let has_many = |event: EventId| {
            let event = event.0 as usize;
            (first[event + 1] - first[event]) as usize > FEW
        };
        let numbered = all.iter().copied().zip(0..);
        let places = numbered.filter(|(instance, _)| has_many(instance.event)).collect();
        Catalogue { all, first, places }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn into_all(self) -> Vec<Instance> {
        self.all
    }

    /// The event of the instance at a place.
    #[inline]
    pub fn event(&self, place: u32) -> EventId {
        self.all[place as usize].event
    }

    /// The place of an instance that occurs in the logs.
    #[inline]
    pub fn place(&self, instance: Instance) -> u32 {
        let event = instance.event.0 as usize;
        let (first, end) = (self.first[event], self.first[event + 1]);
        if end - first == 1 {
            return first;
        }
        if (end - first) as usize > FEW {
            return self.places[&instance];
        }
        let before = self.all[first as usize..end as usize].iter().filter(|i| i.label < instance.label);
        first + before.count() as u32
    }
}

/// Instances that were met.
#[derive(Default)]
struct Seen {
    set: HashSet<Instance, BuildHasherDefault<Mixed>>,
    /// The last label of each event.
    last: Vec<Option<u64>>,
}

impl Seen {
    fn with(mut self, edges: &[Edge]) -> Self {
        for edge in edges {
            let event = edge.event.0 as usize;
            if event >= self.last.len() {
                self.last.resize(event + 1, None);
            }
            if self.last[event] != Some(edge.label) {
                self.last[event] = Some(edge.label);
                self.set.insert(edge.instance());
            }
        }
        self
    }

    fn joined(mut self, other: Seen) -> Self {
        if self.set.len() < other.set.len() {
            return other.joined(self);
        }
        self.set.extend(other.set);
        self
    }
}

/// A hash that is quick to compute; what is hashed comes from a model, not from an enemy.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = hash::mix(self.0 ^ word);
    }
}
