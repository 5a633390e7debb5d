//! Random numbers with a seed: same seed, same numbers, on every machine.
//!
//! In: a seed. Out: numbers good enough to choose a side of a queue or an input of a test, never to keep a secret.

use crate::hash;

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, which counts, and a mixer of that word.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash::mix(self.0)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first numbers for the seed 1234567, with which implementations of SplitMix64 are commonly compared.
        let mut random = super::Random(1_234_567);
        assert_eq!(
            [random.next(), random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
