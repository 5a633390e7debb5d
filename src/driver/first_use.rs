//! Elements of symmetric sets in the order of their first use on a trace: `put(ITEM1)` before `put(ITEM2)`.
//!
//! In: the states and transitions of a path that was confirmed. Out: the same path under a permutation of elements that
//! the model cannot tell apart, for the caller to confirm again; nothing where the order is right already.
//! Never here: which sets are symmetric (`program::symmetry`), whether the renamed path is one of the model.

use crate::evaluate::{State, Transition};
use crate::lang::typed::{Machine, Pred, SetId};
use crate::lang::value::Value;
use crate::program::symmetry::types::{Group, Standing, sets_of, standings};
use crate::program::symmetry::values::permuted;
use std::sync::Arc;

/// Longer paths keep the names that the search gave.
const LONGEST: usize = 1000;

/// A path under a permutation: its states, and for each state the transition that leads there.
pub struct Renamed {
    pub states: Vec<State>,
    pub taken: Vec<Option<Transition>>,
}

/// The path with elements numbered in the order in which steps use them. What is `asked` of its states tells apart the
/// elements that it names.
pub fn in_order(
    machine: &Machine,
    asked: &[Pred],
    states: &[State],
    taken: &[Option<Transition>],
) -> Option<Renamed> {
    if states.is_empty() || states.len() > LONGEST {
        return None;
    }
    let group = interchangeable(machine, asked)?;
    let mut order = Order { group: &group, used: Vec::new() };
    order.path(states, taken);
    let numbers = order.numbers();
    if group.elements.iter().zip(&numbers).all(|(element, number)| element.number == *number) {
        return None;
    }
    let values = |all: &[Value]| -> Option<Arc<[Value]>> {
        all.iter().map(|value| permuted(&group, value, &numbers)).collect()
    };
    let state = |s: &State| Some(State { constants: s.constants.clone(), variables: values(&s.variables)? });
    let transition = |t: &Transition| {
        Some(Transition {
            event: t.event,
            params: values(&t.params)?,
            results: values(&t.results)?,
            target: state(&t.target)?,
        })
    };
    Some(Renamed {
        states: states.iter().map(state).collect::<Option<_>>()?,
        taken: taken
            .iter()
            .map(|t| t.as_ref().map_or(Some(None), |t| transition(t).map(Some)))
            .collect::<Option<_>>()?,
    })
}

/// Permutations that leave all constants as they are.
fn interchangeable(machine: &Machine, asked: &[Pred]) -> Option<Group> {
    let in_constants =
        |set: SetId| machine.constants.iter().any(|c| sets_of(machine, &machine.var(*c).ty).contains(&set));
    let mut standings = standings(machine, asked);
    for (number, standing) in standings.iter_mut().enumerate() {
        if in_constants(SetId(number as u32)) {
            *standing = Standing::Apart("a constant speaks of its elements".into());
        }
    }
    Some(Group::new(machine, &standings)).filter(|group| !group.is_trivial())
}

/// Elements by their places in the group, in the order of their first use.
struct Order<'g> {
    group: &'g Group,
    used: Vec<u16>,
}

impl Order<'_> {
    /// Parameters and results say what a step is about; else what is new in the state does.
    fn path(&mut self, states: &[State], taken: &[Option<Transition>]) {
        let single = |value: &&Value| value.as_set().is_none();
        states[0].variables.iter().filter(single).for_each(|value| self.all_of(value));
        for (n, step) in taken.iter().enumerate() {
            if let Some(t) = step {
                t.params.iter().chain(t.results.iter()).for_each(|value| self.all_of(value));
                let before = states[n.saturating_sub(1)].variables.iter();
                before.zip(states[n].variables.iter()).for_each(|(old, new)| self.new_in(old, new));
            }
        }
    }

    /// Of a set only the members that were not there before count.
    fn new_in(&mut self, old: &Value, new: &Value) {
        match (old.as_set(), new.as_set()) {
            _ if old == new => {}
            (Some(old), Some(new)) => {
                new.iter().filter(|e| old.binary_search(e).is_err()).for_each(|e| self.all_of(e));
            }
            _ => self.all_of(new),
        }
    }

    fn all_of(&mut self, value: &Value) {
        match value {
            Value::Elem(set, n) => {
                if let Some(place) = self.group.place(*set, *n)
                    && !self.used.contains(&place)
                {
                    self.used.push(place);
                }
            }
            Value::Pair(p) => {
                self.all_of(&p.0);
                self.all_of(&p.1);
            }
            Value::Set(elems) => elems.iter().for_each(|e| self.all_of(e)),
            Value::Rec(fields) => fields.iter().for_each(|f| self.all_of(f)),
            Value::Free(_, _, Some(argument)) => self.all_of(argument),
            _ => {}
        }
    }

    /// The number that each element gets: of every set first the used ones, then the others as they were.
    fn numbers(&self) -> Vec<u16> {
        let mut numbers = vec![0; self.group.elements.len()];
        for range in &self.group.ranges {
            let inside = |place: &&u16| range.contains(&usize::from(**place));
            let used: Vec<usize> = self.used.iter().filter(inside).map(|place| usize::from(*place)).collect();
            let rest = range.clone().filter(|place| !used.contains(place));
            for (at, place) in used.iter().copied().chain(rest).enumerate() {
                numbers[place] = self.group.elements[range.start + at].number;
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::symmetry::types::Standing;

    #[test]
    fn used_elements_come_first_in_the_order_of_their_use() {
        let symmetric = || Standing::Symmetric { named: [1].into() };
        let group = Group::of(&[4, 2], &[symmetric(), Standing::Apart(String::new())]);
        let mut order = Order { group: &group, used: Vec::new() };
        let elem = |n| Value::Elem(SetId(0), n);
        order.all_of(&elem(3));
        order.new_in(&Value::set(vec![elem(2)]), &Value::set(vec![elem(0), elem(1), elem(2)]));
        order.all_of(&Value::Elem(SetId(1), 1));
        // The elements 0, 2 and 3 are interchangeable; 3 is used first, then 0; 2 was there before.
        assert_eq!(order.used, [2, 0]);
        assert_eq!(order.numbers(), [2, 3, 0]);
    }
}
