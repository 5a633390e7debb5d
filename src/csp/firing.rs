//! The rules of a composition over packed words: what a state can do.
//!
//! In: tables, rules, and where local states stand in the words. Out: the transitions of a state, computed by looking up
//! alone: a component that moves by itself flips known bits of one word, components that move together are looked up
//! by their local states. Never here: terms, names of events.

use super::component::Table;
use super::compose::{Composition, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where the local state of a slot stands in the words.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    word: u32,
    shift: u32,
    mask: u64,
}

impl Place {
    /// Places for all slots, the number of words they need, and the bits used in the last one.
    pub fn all(composition: &Composition) -> (Vec<Place>, usize, u32) {
        let mut places = Vec::new();
        let (mut word, mut used) = (0u32, 0u32);
        for table in &composition.slots {
            let bits = usize::BITS - table.states().saturating_sub(1).leading_zeros();
            if used + bits > 64 {
                word += 1;
                used = 0;
            }
            let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
            places.push(Place { word, shift: if used == 64 { 0 } else { used }, mask });
            used += bits;
        }
        (places, word as usize + 1, used)
    }

    #[inline]
    pub fn get(&self, state: &[u64]) -> u32 {
        (state[self.word as usize] >> self.shift & self.mask) as u32
    }

    #[inline]
    fn flip(&self, state: &mut [u64], from: u32, to: u32) {
        state[self.word as usize] ^= u64::from(from ^ to) << self.shift;
    }
}

/// Entries of lookups by local state beyond this number are not made: events are searched for instead.
const MOST_ENTRIES: usize = 1 << 23;

/// A move of one component alone.
#[derive(Clone, Copy)]
struct Solo {
    result: u32,
    to: u32,
}

/// Components that move together with a leading one.
struct Joint {
    result: u32,
    others: Vec<Other>,
}

/// A component that moves with others.
struct Other {
    slot: u32,
    event: u32,
    /// Its transitions by the event, for each local state, if there is room to know them.
    ranges: Option<u32>,
}

/// What each local state of a slot begins.
#[derive(Default)]
struct Leads {
    slot: u32,
    first_solo: Vec<u32>,
    solos: Vec<Solo>,
    first_joint: Vec<u32>,
    /// A rule, and the transitions of the slot that have its event.
    joints: Vec<(u32, Range<u32>)>,
}

impl Leads {
    #[inline]
    fn solos(&self, local: u32) -> &[Solo] {
        &self.solos[self.first_solo[local as usize] as usize..self.first_solo[local as usize + 1] as usize]
    }

    #[inline]
    fn joints(&self, local: u32) -> &[(u32, Range<u32>)] {
        &self.joints[self.first_joint[local as usize] as usize..self.first_joint[local as usize + 1] as usize]
    }
}

/// Rules ready to be fired.
pub struct Firing {
    leads: Vec<Leads>,
    joints: Vec<Joint>,
    /// Numbers of transitions of a slot by an event, by local state.
    ranges: Vec<Vec<Range<u32>>>,
    /// No two transitions of a state have the same event and the same target.
    pub distinct: bool,
}

/// Memory of one thread.
#[derive(Default)]
pub struct Hand {
    pub local: Vec<u32>,
    choice: Vec<usize>,
    target: Vec<u64>,
}

impl Firing {
    pub fn new(composition: &Composition) -> Firing {
        let mut firing = Firing {
            leads: Vec::new(),
            joints: Vec::new(),
            ranges: Vec::new(),
            distinct: distinct(composition),
        };
        let mut known: BTreeMap<(u32, u32), Option<u32>> = BTreeMap::new();
        let mut entries = 0;
        let mut by_leader: Vec<BTreeMap<u32, Vec<&Rule>>> = vec![BTreeMap::new(); composition.slots.len()];
        for rule in &composition.rules {
            let (slot, event) = rule.parts[0];
            by_leader[slot as usize].entry(event).or_default().push(rule);
        }
        for (slot, rules) in by_leader.iter().enumerate().filter(|(_, rules)| !rules.is_empty()) {
            let table = &composition.slots[slot];
            let mut numbers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (event, rules) in rules {
                for rule in rules.iter().filter(|rule| rule.parts.len() > 1) {
                    let others = rule.parts[1..].iter().map(|(slot, event)| Other {
                        slot: *slot,
                        event: *event,
                        ranges: *known.entry((*slot, *event)).or_insert_with(|| {
                            let table = &composition.slots[*slot as usize];
                            entries += table.states();
                            (entries <= MOST_ENTRIES).then(|| {
                                firing.ranges.push(ranges(table, *event));
                                firing.ranges.len() as u32 - 1
                            })
                        }),
                    });
                    numbers.entry(*event).or_default().push(firing.joints.len() as u32);
                    firing.joints.push(Joint { result: rule.result, others: others.collect() });
                }
            }
            firing.leads.push(leads(slot as u32, table, rules, &numbers));
        }
        firing
    }

    /// Tells all transitions of a state whose local states stand in `hand`: events and targets.
    #[inline]
    pub fn each(
        &self,
        composition: &Composition,
        places: &[Place],
        hand: &mut Hand,
        state: &[u64],
        mut tell: impl FnMut(u32, &[u64]),
    ) {
        let Hand { local, choice, target } = hand;
        target.clear();
        target.extend_from_slice(state);
        for leads in &self.leads {
            let (here, place) = (local[leads.slot as usize], places[leads.slot as usize]);
            for solo in leads.solos(here) {
                place.flip(target, here, solo.to);
                tell(solo.result, target);
                place.flip(target, here, solo.to);
            }
            for (joint, range) in leads.joints(here) {
                let joint = &self.joints[*joint as usize];
                let first = composition.slots[leads.slot as usize].numbered(range.clone());
                let moves = |other: &Other| {
                    let table = &composition.slots[other.slot as usize];
                    let here = local[other.slot as usize];
                    match other.ranges {
                        Some(ranges) => table.numbered(self.ranges[ranges as usize][here as usize].clone()),
                        None => table.of_event(here, other.event),
                    }
                };
                if let ([one], [other]) = (first, &joint.others[..]) {
                    // PERF: two components that move together, the first in one way.
                    let (theirs, beside) = (local[other.slot as usize], places[other.slot as usize]);
                    for (_, to) in moves(other) {
                        place.flip(target, here, one.1);
                        beside.flip(target, theirs, *to);
                        tell(joint.result, target);
                        beside.flip(target, theirs, *to);
                        place.flip(target, here, one.1);
                    }
                    continue;
                }
                if joint.others.iter().any(|other| moves(other).is_empty()) {
                    continue;
                }
                choice.clear();
                choice.resize(joint.others.len() + 1, 0);
                loop {
                    target.copy_from_slice(state);
                    place.flip(target, here, first[choice[0]].1);
                    for (other, chosen) in joint.others.iter().zip(&choice[1..]) {
                        let theirs = local[other.slot as usize];
                        places[other.slot as usize].flip(target, theirs, moves(other)[*chosen].1);
                    }
                    tell(joint.result, target);
                    let lengths =
                        std::iter::once(first.len()).chain(joint.others.iter().map(|o| moves(o).len()));
                    if !advance(choice, lengths) {
                        break;
                    }
                }
                target.copy_from_slice(state);
            }
        }
    }
}

/// The next choice; false if there is none.
fn advance(choice: &mut [usize], lengths: impl Iterator<Item = usize>) -> bool {
    for (chosen, length) in choice.iter_mut().zip(lengths) {
        *chosen += 1;
        if *chosen < length {
            return true;
        }
        *chosen = 0;
    }
    false
}

fn ranges(table: &Table, event: u32) -> Vec<Range<u32>> {
    let range = |local: u32| {
        let edges = table.edges(local);
        let from = edges.partition_point(|(e, _)| *e < event) as u32;
        let length = edges[from as usize..].iter().take_while(|(e, _)| *e == event).count() as u32;
        let start = table.range(local).start + from;
        start..start + length
    };
    (0..table.states() as u32).map(range).collect()
}

/// What the local states of a slot begin: rules of one part as moves, other rules by their numbers.
fn leads(
    slot: u32,
    table: &Table,
    rules: &BTreeMap<u32, Vec<&Rule>>,
    numbers: &BTreeMap<u32, Vec<u32>>,
) -> Leads {
    let mut out = Leads { slot, first_solo: vec![0], first_joint: vec![0], ..Leads::default() };
    for local in 0..table.states() as u32 {
        let mut at = table.range(local).start;
        for same in table.edges(local).chunk_by(|a, b| a.0 == b.0) {
            let end = at + same.len() as u32;
            for rule in rules.get(&same[0].0).into_iter().flatten().filter(|rule| rule.parts.len() == 1) {
                out.solos.extend(same.iter().map(|(_, to)| Solo { result: rule.result, to: *to }));
            }
            out.joints.extend(numbers.get(&same[0].0).into_iter().flatten().map(|joint| (*joint, at..end)));
            at = end;
        }
        out.first_solo.push(out.solos.len() as u32);
        out.first_joint.push(out.joints.len() as u32);
    }
    out
}

/// Whether no state can have two transitions with the same event and the same target: no table has one twice, and rules
/// with the same result move different slots, each of them away from where it is.
fn distinct(composition: &Composition) -> bool {
    let repeats = |table: &Table| {
        (0..table.states() as u32).any(|local| table.edges(local).windows(2).any(|pair| pair[0] == pair[1]))
    };
    if composition.slots.iter().any(|table| repeats(table)) {
        return false;
    }
    let mut by_result: BTreeMap<u32, Vec<&Rule>> = BTreeMap::new();
    composition.rules.iter().for_each(|rule| by_result.entry(rule.result).or_default().push(rule));
    let mut stays: BTreeMap<(u32, u32), bool> = BTreeMap::new();
    let mut stays = |slot: u32, event: u32| {
        *stays.entry((slot, event)).or_insert_with(|| {
            let table = &composition.slots[slot as usize];
            (0..table.states() as u32)
                .any(|local| table.of_event(local, event).iter().any(|(_, to)| *to == local))
        })
    };
    by_result.values().filter(|rules| rules.len() > 1).all(|rules| {
        let mut seen: BTreeSet<Vec<u32>> = BTreeSet::new();
        rules.iter().all(|rule| {
            seen.insert(rule.parts.iter().map(|(slot, _)| *slot).collect())
                && !rule.parts.iter().any(|(slot, event)| stays(*slot, *event))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::TAU;
    use std::sync::Arc;

    fn composition(tables: Vec<Table>, rules: &[(&[(u32, u32)], u32)]) -> Composition {
        let rules = rules.iter().map(|(parts, result)| Rule { parts: parts.to_vec(), result: *result });
        Composition {
            slots: tables.into_iter().map(Arc::new).collect(),
            rules: rules.collect(),
            ..Composition::default()
        }
    }

    fn moves(composition: &Composition, locals: &[u32]) -> Vec<(u32, Vec<u32>)> {
        let (places, words, _) = Place::all(composition);
        let mut state = vec![0; words];
        places.iter().zip(locals).for_each(|(place, local)| place.flip(&mut state, 0, *local));
        let mut hand = Hand { local: locals.to_vec(), ..Hand::default() };
        let mut found = Vec::new();
        Firing::new(composition).each(composition, &places, &mut hand, &state, |event, target| {
            found.push((event, places.iter().map(|place| place.get(target)).collect()));
        });
        found.sort();
        found
    }

    #[test]
    fn components_that_move_together_do_so_in_every_way() {
        // The first may go to 1 or 2 by event 5, the second to 0 or 1, the third to 2; event 6 is the first's alone.
        let first = Table::new(&[vec![(5, 1), (5, 2), (6, 2)], vec![], vec![]]);
        let second = Table::new(&[vec![], vec![(5, 0), (5, 1)]]);
        let third = Table::new(&[vec![(5, 2)], vec![], vec![]]);
        let rules: [(&[(u32, u32)], u32); 2] = [(&[(0, 5), (1, 5), (2, 5)], 9), (&[(0, 6)], 6)];
        let composed = composition(vec![first, second, third], &rules);
        let wanted = [
            (6, vec![2, 1, 0]),
            (9, vec![1, 0, 2]),
            (9, vec![1, 1, 2]),
            (9, vec![2, 0, 2]),
            (9, vec![2, 1, 2]),
        ];
        assert_eq!(moves(&composed, &[0, 1, 0]), wanted);
        assert_eq!(moves(&composed, &[0, 0, 0]), [(6, vec![2, 0, 0])]);
        assert_eq!(moves(&composed, &[0, 1, 1]), [(6, vec![2, 1, 1])]);
    }

    #[test]
    fn equal_transitions_are_ruled_out_only_where_they_cannot_be() {
        let cycle = |event: u32| Table::new(&[vec![(event, 1)], vec![(event, 0)]]);
        let hidden: [(&[(u32, u32)], u32); 2] = [(&[(0, 5)], TAU), (&[(1, 6)], TAU)];
        assert!(distinct(&composition(vec![cycle(5), cycle(6)], &hidden)));
        // A component that stays where it is makes no difference between the two rules.
        let stays = Table::new(&[vec![(6, 0)]]);
        assert!(!distinct(&composition(vec![stays.clone(), stays], &[(&[(0, 6)], TAU), (&[(1, 6)], TAU)])));
        // Two events of one component become the same.
        let two = Table::new(&[vec![(5, 1), (6, 1)], vec![]]);
        assert!(!distinct(&composition(vec![two], &[(&[(0, 5)], TAU), (&[(0, 6)], TAU)])));
    }
}
