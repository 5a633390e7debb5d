//! A composition as one table, and which of its states diverge.
//!
//! In: a machine. Out: its reachable states as a table of transitions; the states with an endless path of τ.
//! Never here: refinement.

use super::component::Table;
use super::machine::{Machine, Scratch};
use super::term::TAU;
use bombus_base::budget::Budget;
use bombus_base::hash::HashMap;
use bombus_system::System;

/// Why there is no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTable {
    /// The number of the fault that was met.
    Fault(u32),
    /// A limit was reached.
    Limit,
}

/// All reachable states of a machine, breadth first.
pub fn explicit(machine: &Machine, budget: &Budget) -> Result<Table, NoTable> {
    let mut scratch: Scratch = machine.worker();
    let mut numbers: HashMap<Box<[u64]>, u32> = HashMap::default();
    let mut states: Vec<Box<[u64]>> = vec![machine.start().into()];
    numbers.insert(states[0].clone(), 0);
    let mut table = Table::default();
    let mut row = Vec::new();
    let mut at = 0;
    while at < states.len() {
        let many = budget.max_states.is_some_and(|most| states.len() as u64 > most);
        if many || states.len() > u32::MAX as usize / 2 || (at % 1024 == 0 && budget.check().is_err()) {
            return Err(NoTable::Limit);
        }
        row.clear();
        let moves = machine.moves(&mut scratch, &states[at]).map_err(|fault| match fault {
            Some(fault) => NoTable::Fault(fault),
            None => NoTable::Limit,
        })?;
        let mut fresh = Vec::new();
        for (event, target) in moves {
            let next = (states.len() + fresh.len()) as u32;
            let number = *numbers.entry(target.into()).or_insert(next);
            if number == next {
                fresh.push(target.into());
            }
            row.push((event, number));
        }
        states.extend(fresh);
        table.push(&row);
        at += 1;
    }
    Ok(table)
}

/// The states from which an endless path of τ begins.
pub fn divergent(table: &Table) -> Vec<bool> {
    endless(table.states(), |s| table.of_event(s, TAU).iter().map(|(_, to)| *to).collect())
}

/// The nodes from which an endless path begins: all that is left when nodes without successors are taken away,
/// again and again.
pub fn endless(nodes: usize, successors: impl Fn(u32) -> Vec<u32>) -> Vec<bool> {
    let mut count = vec![0u32; nodes];
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for node in 0..nodes as u32 {
        for to in successors(node) {
            count[node as usize] += 1;
            before[to as usize].push(node);
        }
    }
    let mut open: Vec<u32> = (0..nodes as u32).filter(|n| count[*n as usize] == 0).collect();
    let mut left = vec![true; nodes];
    while let Some(node) = open.pop() {
        left[node as usize] = false;
        for source in std::mem::take(&mut before[node as usize]) {
            count[source as usize] -= 1;
            if count[source as usize] == 0 {
                open.push(source);
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_diverges_if_it_leads_into_a_circle_of_tau() {
        let table =
            Table::new(&[vec![(TAU, 1)], vec![(TAU, 2)], vec![(TAU, 1)], vec![(TAU, 4)], vec![(3, 1)]]);
        assert_eq!(divergent(&table), [true, true, true, false, false]);
    }
}
