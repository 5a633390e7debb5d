//! For the tests of this room: random numbers, the same in every run, and clauses without a model.

use crate::sat::{Lit, Sat};

/// Random choices as the tests of this room make them.
pub struct Random(bombus_base::random::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(bombus_base::random::Random(seed))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Pigeons in one hole fewer, at most one pigeon in a hole: no model. The first clause names the holes of the first pigeon.
pub fn pigeons(sat: &mut dyn Sat, count: usize) {
    let mut pigeon = || -> Vec<Lit> { (1..count).map(|_| sat.new_var()).collect() };
    let sits: Vec<Vec<Lit>> = (0..count).map(|_| pigeon()).collect();
    for (index, row) in sits.iter().enumerate() {
        sat.add_clause(row);
        for other in &sits[..index] {
            for (a, b) in row.iter().zip(other) {
                sat.add_clause(&[!*a, !*b]);
            }
        }
    }
}
