//! What generators of test inputs ask for: choices among lists and chances, from the numbers of a seed.

use bombus_kernels::random::Random;

#[derive(Clone)]
pub struct Rng(Random);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(Random(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
