//! Finite-domain constraints: variables with domains, constraints that narrow them, undo.
//!
//! In: integer variables with finite domains and constraints over them, from whoever translates a
//! formula. Out: narrower domains at a fixpoint, or a conflict. No solution is ever removed.
//! Never here: B, the order of a search, the clock. Codes mean what the caller says they mean.

mod constraint;
mod different;
mod domain;
mod relation;

pub use constraint::{Constraint, Sum};
pub use domain::{Conflict, Domains, Fd, Lit, Mark};

use bombus_base::hash::HashMap;
use domain::Event;
use relation::{Matrix, Verdicts};
use std::collections::VecDeque;
use std::sync::Arc;

/// Variables and the constraints between them.
pub struct Network {
    pub domains: Domains,
    constraints: Vec<Constraint>,
    /// Constraints that were added and not run yet.
    fresh: VecDeque<u32>,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    /// For each variable the constraints to run again, and after which changes.
    watch: Vec<Vec<(u32, Event)>>,
    /// Tables as bits, by the place of their rows, which stay in memory as long as they are known here.
    tables: HashMap<usize, (Arc<[i64]>, Bits)>,
    /// Work that may be done before whoever calls has the chance to stop.
    left: usize,
}

/// A table as bits, where it has few values.
#[derive(Clone)]
enum Bits {
    Matrix(Arc<Matrix>),
    Verdicts(Arc<Verdicts>),
    TooWide,
}

impl Default for Network {
    fn default() -> Network {
        Network::new()
    }
}

impl Network {
    pub fn new() -> Network {
        let mut network = Network {
            domains: Domains::default(),
            constraints: Vec::new(),
            fresh: VecDeque::new(),
            queue: VecDeque::new(),
            queued: Vec::new(),
            watch: Vec::new(),
            tables: HashMap::new(),
            left: 0,
        };
        // The variable behind `Lit::TRUE`.
        network.variable(1, 1);
        network
    }

    pub fn variable(&mut self, low: i64, high: i64) -> Fd {
        self.watch.push(Vec::new());
        self.domains.interval(low, high)
    }

    /// A variable with the given values, sorted and not empty.
    pub fn of_values(&mut self, values: &[i64]) -> Fd {
        self.watch.push(Vec::new());
        self.domains.of_values(values)
    }

    pub fn boolean(&mut self) -> Lit {
        Lit::of(self.variable(0, 1))
    }

    /// How many constraints there are, a measure of the size.
    pub fn size(&self) -> usize {
        self.constraints.len()
    }

    pub fn add(&mut self, constraint: Constraint) {
        let constraint = self.as_relation(constraint);
        let id = self.constraints.len() as u32;
        constraint.watched(&mut |v, event| self.watch[v.index()].push((id, event)));
        self.constraints.push(constraint);
        self.queued.push(false);
        self.fresh.push_back(id);
    }

    /// A table of two variables with few values as a matrix, and one that says of two variables whether something holds as two
    /// of them: these are looked through faster.
    fn as_relation(&mut self, constraint: Constraint) -> Constraint {
        let Constraint::Table { vars, rows } = &constraint else { return constraint };
        let (x, y, truth) = match **vars {
            [x, y] => (x, y, None),
            [x, y, z] if self.domains.low(z) >= 0 && self.domains.high(z) <= 1 => (x, y, Some(z)),
            _ => return constraint,
        };
        if x == y || truth == Some(x) || truth == Some(y) {
            return constraint;
        }
        let made = || match truth {
            None => Matrix::new(rows.chunks_exact(2).map(|r| [r[0], r[1]]))
                .map_or(Bits::TooWide, |m| Bits::Matrix(m.into())),
            Some(_) => Verdicts::new(rows.chunks_exact(3).map(|r| [r[0], r[1], r[2]]))
                .map_or(Bits::TooWide, |v| Bits::Verdicts(v.into())),
        };
        let place = rows.as_ptr() as usize;
        let (_, bits) = self.tables.entry(place).or_insert_with(|| (rows.clone(), made()));
        match (bits.clone(), truth) {
            (Bits::Matrix(matrix), None) => Constraint::Related { vars: [x, y], matrix },
            (Bits::Verdicts(table), Some(truth)) => Constraint::Decided { vars: [x, y], truth, table },
            _ => constraint,
        }
    }

    /// Narrows the domains until nothing changes. What a conflict leaves must be undone.
    #[cfg(test)]
    fn propagate(&mut self) -> domain::Step {
        while !self.narrow(usize::MAX)? {}
        Ok(())
    }

    /// Runs constraints up to so much work since this was last false; true if nothing is left to run. What a conflict leaves must be undone.
    /// Wide domains may be narrowed one value at a time, so whoever calls has the chance to stop.
    pub fn narrow(&mut self, work: usize) -> Result<bool, Conflict> {
        while let Some(id) = self.fresh.pop_front() {
            if !self.queued[id as usize] {
                self.queued[id as usize] = true;
                self.queue.push_back(id);
            }
        }
        if self.left == 0 {
            self.left = work;
        }
        while self.left > 0 {
            self.wake();
            let Some(id) = self.queue.pop_front() else { return Ok(true) };
            self.left = self.left.saturating_sub(self.constraints[id as usize].work());
            self.queued[id as usize] = false;
            if let Err(conflict) = self.constraints[id as usize].run(&mut self.domains) {
                self.domains.forget_changes();
                for id in self.queue.drain(..) {
                    self.queued[id as usize] = false;
                }
                return Err(conflict);
            }
        }
        Ok(false)
    }

    fn wake(&mut self) {
        while let Some((v, event)) = self.domains.next_change() {
            for (id, on) in &self.watch[v.index()] {
                if on.matches(event) && !self.queued[*id as usize] {
                    self.queued[*id as usize] = true;
                    self.queue.push_back(*id);
                }
            }
        }
    }

    pub fn literal(&self, lit: Lit) -> Option<bool> {
        self.domains.literal(lit)
    }

    /// Pairs of variables that constraints say to be different, by now.
    pub fn unequal_pairs(&self) -> Vec<(Fd, Fd)> {
        let pair = |c: &Constraint| match c {
            Constraint::Equal { lit, sum, k: 0 } if self.literal(*lit) == Some(false) => match &*sum.0 {
                [(a, x), (b, y)] if a + b == 0 => Some((*x, *y)),
                _ => None,
            },
            _ => None,
        };
        self.constraints.iter().filter_map(pair).collect()
    }

    /// For each variable the largest coefficient that it has in a sum of three and more.
    pub fn weights(&self) -> Vec<i64> {
        let mut weights = vec![0; self.watch.len()];
        for c in &self.constraints {
            let (Constraint::AtMost { sum, .. } | Constraint::Equal { sum, .. }) = c else { continue };
            for (c, v) in sum.0.iter().filter(|_| sum.0.len() > 2) {
                weights[v.index()] = c.abs().max(weights[v.index()]);
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_sum_narrow_its_terms() {
        let mut n = Network::new();
        let (x, y) = (n.variable(0, 10), n.variable(3, 10));
        // x + 2y <= 9
        n.add(Constraint::at_most(Lit::TRUE, Sum::new(vec![(1, x), (2, y)]), 9));
        assert!(n.propagate().is_ok());
        assert_eq!((n.domains.high(x), n.domains.high(y)), (3, 4));
    }

    #[test]
    fn a_decided_comparison_decides_its_literal() {
        let mut n = Network::new();
        let (x, y) = (n.variable(0, 4), n.variable(5, 9));
        let (less, same) = (n.boolean(), n.boolean());
        n.add(Constraint::at_most(less, Sum::new(vec![(1, x), (-1, y)]), -1));
        n.add(Constraint::equal(same, Sum::new(vec![(1, x), (-1, y)]), 0));
        assert!(n.propagate().is_ok());
        assert_eq!((n.literal(less), n.literal(same)), (Some(true), Some(false)));
    }

    #[test]
    fn undoing_gives_the_domains_back() {
        let mut n = Network::new();
        let x = n.of_values(&[1, 4, 6]);
        let mark = n.domains.mark();
        n.domains.remove(x, 4).unwrap();
        n.domains.at_least(x, 2).unwrap();
        assert_eq!((n.domains.low(x), n.domains.size(x)), (6, 1));
        n.domains.undo(mark);
        assert_eq!(n.domains.values(x), vec![1, 4, 6]);
    }

    #[test]
    fn more_variables_than_values_cannot_be_different() {
        let mut n = Network::new();
        let vars: Vec<(Fd, i64)> = (0..4).map(|_| (n.variable(1, 3), 0)).collect();
        n.add(Constraint::AllDifferent(vars.into()));
        assert!(n.propagate().is_err());
    }

    #[test]
    fn a_sum_leaves_only_what_the_other_coefficients_divide() {
        // x + 10y + 20z = 33: x ends with 3.
        let mut n = Network::new();
        let (x, y, z) = (n.variable(0, 20), n.variable(0, 9), n.variable(0, 9));
        n.add(Constraint::equal(Lit::TRUE, Sum::new(vec![(1, x), (10, y), (20, z)]), 33));
        assert!(n.propagate().is_ok());
        assert_eq!(n.domains.values(x), vec![3, 13]);
        // 4x + 6y + 10z = 33 has no solution.
        let mut n = Network::new();
        let (x, y, z) = (n.variable(0, 20), n.variable(0, 9), n.variable(0, 9));
        n.add(Constraint::equal(Lit::TRUE, Sum::new(vec![(4, x), (6, y), (10, z)]), 33));
        assert!(n.propagate().is_err());
    }

    #[test]
    fn a_row_of_a_table_needs_all_its_values() {
        let mut n = Network::new();
        let (x, y) = (n.variable(0, 5), n.variable(0, 5));
        let rows = vec![0, 1, 1, 3, 2, 5];
        n.add(Constraint::Table { vars: vec![x, y].into(), rows: rows.into() });
        n.domains.remove(y, 3).unwrap();
        assert!(n.propagate().is_ok());
        assert_eq!((n.domains.values(x), n.domains.values(y)), (vec![0, 2], vec![1, 5]));
    }

    #[test]
    fn a_variable_in_two_columns_of_a_table_keeps_the_values_that_both_allow() {
        let mut n = Network::new();
        let (x, y) = (n.variable(0, 5), n.variable(0, 1));
        let rows: Vec<i64> = (0..6).flat_map(|a| [a, a, i64::from(a == 2 || a == 4)]).collect();
        n.add(Constraint::Table { vars: vec![x, x, y].into(), rows: rows.into() });
        n.domains.fix(y, 1).unwrap();
        assert!(n.propagate().is_ok());
        assert_eq!(n.domains.values(x), vec![2, 4]);
    }

    #[test]
    fn a_variable_may_stand_in_two_columns_of_a_table() {
        let mut n = Network::new();
        let x = n.variable(0, 5);
        // The pairs of equal numbers but (0, 0); and some more rows, which x cannot be.
        let rows: Vec<i64> = (0..=5).flat_map(|a| (1..=5).flat_map(move |b| [a, b])).collect();
        n.add(Constraint::Table { vars: vec![x, x].into(), rows: rows.into() });
        assert!(n.propagate().is_ok());
        assert_eq!(n.domains.values(x), vec![1, 2, 3, 4, 5]);
        let y = n.variable(0, 5);
        let rows = vec![3, 3, 4, 4, 0, 5];
        n.add(Constraint::Table { vars: vec![y, y].into(), rows: rows.into() });
        assert!(n.propagate().is_ok());
        assert_eq!(n.domains.values(y), vec![3, 4]);
    }

    #[test]
    fn an_element_of_an_array_narrows_index_and_value() {
        let mut n = Network::new();
        let (i, y) = (n.variable(0, 2), n.variable(4, 9));
        let rows: Vec<(i64, Fd)> =
            [(0, 0, 3), (1, 2, 5), (2, 7, 8)].map(|(k, l, h)| (k, n.variable(l, h))).into();
        n.add(Constraint::Element { index: i, rows: rows.into(), value: y });
        assert!(n.propagate().is_ok());
        assert_eq!((n.domains.values(i), n.domains.high(y)), (vec![1, 2], 8));
    }
}
