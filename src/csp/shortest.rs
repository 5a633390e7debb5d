//! A counterexample with as few visible events as there can be.
//!
//! In: states with their transitions, and what is wrong with a state. Out: the labels of a path to a state with something
//! wrong, such that no other path to one has fewer events other than τ. The exploration counts every step, so of two
//! counterexamples with as many steps it may show the one with more events. Never here: what a state is.

use super::assertion::Why;
use super::explicit::endless;
use super::term::TAU;
use bombus_base::budget::Budget;
use bombus_base::hash::HashMap;

/// States that are looked at; if they do not suffice, the counterexample of the exploration stays.
const MOST: usize = 200_000;

pub(super) type Moves = Vec<(u32, Vec<u64>)>;

/// What is searched.
pub(super) trait Space {
    fn start(&self) -> Vec<u64>;
    /// The transitions of a state, if they could be computed.
    fn moves(&mut self, state: &[u64]) -> Option<Moves>;
    /// What is wrong with a state that has these transitions.
    fn wrong(&mut self, state: &[u64], moves: &Moves) -> Option<Why>;
    /// Whether an endless path of τ from the state is wrong.
    fn must_not_diverge(&self, state: &[u64]) -> bool;
}

struct Search<'a, S> {
    space: &'a mut S,
    numbers: HashMap<Vec<u64>, u32>,
    states: Vec<Vec<u64>>,
    /// The state before each, and the label of the step.
    from: Vec<Option<(u32, u32)>>,
}

/// A path to something wrong with fewer visible events than `events`, if there is one within the limits.
pub(super) fn shorter<S: Space>(space: &mut S, events: usize, budget: &Budget) -> Option<(Vec<u32>, Why)> {
    let start = space.start();
    let mut search = Search { space, numbers: HashMap::default(), states: Vec::new(), from: Vec::new() };
    let mut level = vec![search.add(start, None)?];
    for _ in 0..events {
        let mut later: Vec<(u32, u32, Vec<u64>)> = Vec::new();
        let mut silent: Vec<Vec<u32>> = Vec::new();
        let mut at = 0;
        while at < level.len() {
            let number = level[at];
            let state = search.states[number as usize].clone();
            at += 1;
            let Some(moves) = search.space.moves(&state) else {
                silent.push(Vec::new());
                continue;
            };
            if let Some(why) = search.space.wrong(&state, &moves) {
                return Some((search.path(number), why));
            }
            if search.states.len() > MOST || (at % 1024 == 0 && budget.check().is_err()) {
                return None;
            }
            let mut row = Vec::new();
            for (event, to) in moves {
                if event != TAU {
                    later.push((number, event, to));
                    continue;
                }
                let known = search.numbers.get(&to).copied();
                row.push(known.unwrap_or_else(|| search.put(to, Some((number, TAU)), &mut level)));
            }
            silent.push(row);
        }
        if let Some(found) = search.diverging(&level, &silent) {
            return Some((search.path(found), Why::Divergence));
        }
        level = Vec::new();
        for (number, event, to) in later {
            if !search.numbers.contains_key(&to) {
                search.put(to, Some((number, event)), &mut level);
            }
        }
    }
    None
}

impl<S: Space> Search<'_, S> {
    fn add(&mut self, state: Vec<u64>, from: Option<(u32, u32)>) -> Option<u32> {
        let number = u32::try_from(self.states.len()).ok()?;
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        self.from.push(from);
        Some(number)
    }

    /// Numbers a new state and puts it into a level.
    fn put(&mut self, state: Vec<u64>, from: Option<(u32, u32)>, level: &mut Vec<u32>) -> u32 {
        // There are never more than the limit allows and the transitions of one state.
        let number = self.add(state, from).unwrap_or(u32::MAX);
        level.push(number);
        number
    }

    /// The first state of a level that must not diverge and does; levels before have none.
    fn diverging(&self, level: &[u32], silent: &[Vec<u32>]) -> Option<u32> {
        let within: HashMap<u32, u32> = level.iter().enumerate().map(|(i, n)| (*n, i as u32)).collect();
        let left = endless(level.len(), |i| {
            silent[i as usize].iter().filter_map(|to| within.get(to).copied()).collect()
        });
        let wrong = |i: &usize| left[*i] && self.space.must_not_diverge(&self.states[level[*i] as usize]);
        (0..level.len()).find(wrong).map(|i| level[i])
    }

    fn path(&self, mut at: u32) -> Vec<u32> {
        let mut labels = Vec::new();
        while let Some((before, label)) = self.from[at as usize] {
            labels.push(label);
            at = before;
        }
        labels.reverse();
        labels
    }
}
