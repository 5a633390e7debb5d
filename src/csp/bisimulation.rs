//! Tables made smaller without a change of meaning.
//!
//! In: the table of a component. Out: a smaller one. Strong: states that cannot be told apart step by step are one, so every
//! count of paths, every temporal formula over events stays as it is. Diamond: what τ leads to is done at once, and of
//! the stable states behind τ only those with least acceptances stay; traces, failures and divergences stay as they are.
//! A table with faults or with states that were not looked at is left alone. Never here: when to do it (`compose`).

use super::component::Table;
use super::explicit::divergent;
use super::normal::{acceptance_of, least, subset};
use super::term::{Compression, TAU, TICK};
use bombus_base::hash::{HashMap, HashSet};

pub fn compressed(table: Table, how: Compression) -> Table {
    if !table.faults.is_empty() || !table.open.is_empty() || table.states() == 0 {
        return table;
    }
    match how {
        Compression::Strong => strong(&table),
        Compression::Diamond => strong(&diamond(&table)),
    }
}

/// The quotient by strong bisimilarity: blocks are split by where their states lead, until none is split any more.
fn strong(table: &Table) -> Table {
    let states = table.states();
    let mut block = vec![0u32; states];
    let mut blocks = 1;
    loop {
        let mut numbers: HashMap<(u32, Vec<(u32, u32)>), u32> = HashMap::default();
        let mut next = Vec::with_capacity(states);
        for state in 0..states {
            let mut signature: Vec<(u32, u32)> =
                table.edges(state as u32).iter().map(|(e, to)| (*e, block[*to as usize])).collect();
            signature.sort_unstable();
            signature.dedup();
            let fresh = numbers.len() as u32;
            next.push(*numbers.entry((block[state], signature)).or_insert(fresh));
        }
        let now = numbers.len();
        block = next;
        if now == blocks {
            break;
        }
        blocks = now;
    }
    // Blocks are numbered as the states were found, so the initial one is the first.
    let mut rows: Vec<Option<Vec<(u32, u32)>>> = vec![None; blocks];
    for state in 0..states {
        let row = &mut rows[block[state] as usize];
        if row.is_none() {
            let mut edges: Vec<(u32, u32)> =
                table.edges(state as u32).iter().map(|(e, to)| (*e, block[*to as usize])).collect();
            edges.sort_unstable();
            edges.dedup();
            *row = Some(edges);
        }
    }
    let rows: Vec<Vec<(u32, u32)>> = rows.into_iter().map(Option::unwrap_or_default).collect();
    Table::new(&rows)
}

/// The states that τ leads to, the first one among them.
fn closure(table: &Table, from: u32) -> Vec<u32> {
    let mut known = HashSet::default();
    known.insert(from);
    let mut seen = vec![from];
    let mut at = 0;
    while at < seen.len() {
        for (_, to) in table.of_event(seen[at], TAU) {
            if known.insert(*to) {
                seen.push(*to);
            }
        }
        at += 1;
    }
    seen
}

fn diamond(table: &Table) -> Table {
    let diverges = divergent(table);
    let mut numbers: HashMap<u32, u32> = HashMap::default();
    let mut states = vec![0u32];
    numbers.insert(0, 0);
    let mut out = Table::default();
    let mut at = 0;
    while at < states.len() {
        let state = states[at];
        let mut row = if table.of_event(state, TAU).is_empty() {
            table.edges(state).to_vec()
        } else {
            after_tau(table, state, diverges[state as usize])
        };
        row.sort_unstable();
        row.dedup();
        for (_, to) in &mut row {
            let next = states.len() as u32;
            let number = *numbers.entry(*to).or_insert(next);
            if number == next {
                states.push(*to);
            }
            *to = number;
        }
        out.push(&row);
        at += 1;
    }
    out
}

/// The transitions of a state that can do τ: all that is possible behind τ, and τ to the stable states that matter.
fn after_tau(table: &Table, state: u32, diverges: bool) -> Vec<(u32, u32)> {
    let reached = closure(table, state);
    let mut row: Vec<(u32, u32)> =
        reached.iter().flat_map(|s| table.edges(*s)).filter(|(e, _)| *e != TAU).copied().collect();
    let stable: Vec<(u32, Vec<u32>)> = reached
        .iter()
        .filter(|s| table.of_event(**s, TAU).is_empty() && table.of_event(**s, TICK).is_empty())
        .filter_map(|s| acceptance_of(table.edges(*s).iter().map(|(e, _)| *e)).map(|a| (*s, a)))
        .collect();
    for acceptance in least(stable.iter().map(|(_, a)| a.clone()).collect()) {
        if let Some((to, _)) = stable.iter().find(|(_, a)| subset(a, &acceptance)) {
            row.push((TAU, *to));
        }
    }
    if diverges {
        row.push((TAU, state));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::ENDED;

    #[test]
    fn states_that_cannot_be_told_apart_are_one() {
        // Two ways to the same circle of two events, and a circle twice as long.
        let table = Table::new(&[
            vec![(5, 1), (5, 3)],
            vec![(6, 2)],
            vec![(5, 1)],
            vec![(6, 4)],
            vec![(5, 1), (5, 3)],
        ]);
        let small = compressed(table, Compression::Strong);
        assert_eq!((small.states(), small.transitions()), (2, 2));
        // An ended process is not a stopped one.
        let ends = Table::new(&[vec![(5, 1), (6, 2)], vec![(ENDED, 1)], vec![]]);
        assert_eq!(compressed(ends, Compression::Strong).states(), 3);
    }

    #[test]
    fn a_diamond_of_tau_is_cut_short_and_divergence_stays() {
        let diamond = Table::new(&[vec![(TAU, 1), (TAU, 2)], vec![(TAU, 3)], vec![(TAU, 3)], vec![(5, 0)]]);
        // What is left is the start with its event and τ to the stable state.
        let small = compressed(diamond, Compression::Diamond);
        assert_eq!((small.states(), small.transitions()), (2, 3));
        let circle = Table::new(&[vec![(TAU, 1)], vec![(TAU, 0), (5, 1)]]);
        let small = compressed(circle, Compression::Diamond);
        assert!(divergent(&small).contains(&true));
        assert_eq!(small.of_event(0, 5).len(), 1);
    }

    #[test]
    fn a_table_with_a_fault_is_left_alone() {
        let mut table = Table::new(&[vec![(5, 1), (5, 2)], vec![], vec![]]);
        table.faults.push((2, 0));
        assert_eq!(compressed(table, Compression::Strong).states(), 3);
    }
}
