//! A process as an explicit table of states and transitions.
//!
//! In: the number of a term. Out: the table of all terms it can become. A term whose transitions cannot be
//! computed keeps the fault: whether it matters is known only where the table is used. Where a limit of the evaluator
//! was reached, the state is open as those are that were not looked at.
//! Never here: how tables are put together.

use super::eval::Eval;
use super::term::{ENDED, Term};
use super::value::{Fault, Res};
use bombus_base::budget::Budget;
use std::collections::HashMap;

/// A labelled transition system; states are numbered from 0, the initial one.
#[derive(Clone, Debug, Default)]
pub struct Table {
    first: Vec<u32>,
    /// Event and target, sorted for each state.
    edges: Vec<(u32, u32)>,
    /// States whose transitions could not be computed, with the number of the fault.
    pub faults: Vec<(u32, u32)>,
    /// States whose transitions are not known because of a limit, sorted.
    pub open: Vec<u32>,
}

impl Table {
    pub fn states(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    pub fn transitions(&self) -> usize {
        self.edges.len()
    }

    #[inline]
    pub fn edges(&self, state: u32) -> &[(u32, u32)] {
        &self.edges[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }

    /// The transitions of a state with an event.
    #[inline]
    pub fn of_event(&self, state: u32, event: u32) -> &[(u32, u32)] {
        let all = self.edges(state);
        let from = all.partition_point(|(e, _)| *e < event);
        let len = all[from..].iter().take_while(|(e, _)| *e == event).count();
        &all[from..from + len]
    }

    /// The numbers of the transitions of a state.
    pub fn range(&self, state: u32) -> std::ops::Range<u32> {
        self.first[state as usize]..self.first[state as usize + 1]
    }

    /// Transitions by their numbers.
    #[inline]
    pub fn numbered(&self, range: std::ops::Range<u32>) -> &[(u32, u32)] {
        &self.edges[range.start as usize..range.end as usize]
    }

    /// From rows of transitions.
    pub fn new(rows: &[Vec<(u32, u32)>]) -> Table {
        let mut table = Table { first: vec![0], ..Table::default() };
        for row in rows {
            table.push(row);
        }
        table
    }

    pub fn push(&mut self, row: &[(u32, u32)]) {
        if self.first.is_empty() {
            self.first.push(0);
        }
        let start = self.edges.len();
        self.edges.extend_from_slice(row);
        self.edges[start..].sort_unstable();
        self.first.push(self.edges.len() as u32);
    }

    /// All events of the table, sorted.
    pub fn events(&self) -> Vec<u32> {
        let mut events: Vec<u32> = self.edges.iter().map(|(e, _)| *e).collect();
        events.sort_unstable();
        events.dedup();
        events
    }
}

/// Terms of one component.
const MOST: usize = 5_000_000;

/// Explores the terms that a term can become. Ω gets a transition to itself by `ENDED`.
pub fn table(eval: &mut Eval, term: u32, faults: &mut Vec<Fault>, budget: &Budget) -> Res<Table> {
    let omega = eval.terms.number(Term::Omega);
    let mut table = Table::default();
    let mut numbers: HashMap<u32, u32> = HashMap::from([(term, 0)]);
    let mut terms = vec![term];
    let mut at = 0;
    let limit = budget.max_states.map_or(MOST, |n| (n as usize).min(MOST));
    while at < terms.len() {
        let stopped = terms.len() > limit || (at % 256 == 0 && budget.check().is_err());
        if stopped {
            table.open.extend(at as u32..terms.len() as u32);
            for _ in at..terms.len() {
                table.push(&[]);
            }
            break;
        }
        let mut row = match eval.steps(terms[at]) {
            Ok(row) => row,
            Err(fault) => {
                if fault.limit {
                    table.open.push(at as u32);
                } else {
                    table.faults.push((at as u32, faults.len() as u32));
                }
                faults.push(*fault);
                Vec::new()
            }
        };
        if terms[at] == omega {
            row.push((ENDED, omega));
        }
        for (_, to) in &mut row {
            // Inside of a component a compression is no state of its own.
            while let Term::Compressed(_, inner) = *eval.terms.get(*to) {
                *to = inner;
            }
            let next = terms.len() as u32;
            let number = *numbers.entry(*to).or_insert(next);
            if number == next {
                terms.push(*to);
            }
            *to = number;
        }
        table.push(&row);
        at += 1;
    }
    Ok(table)
}
