//! Shared by the tests: a small generator of random numbers, and random typed B.
#![allow(dead_code)]

pub mod machines;
pub mod terms;

/// SplitMix64: tiny, seeded, the same on every machine.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// How many random cases a test runs: the given number, or what the environment asks for.
pub fn cases(default: usize) -> usize {
    std::env::var("BOMBUS_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

/// The first seed; other runs can start elsewhere.
pub fn first_seed() -> u64 {
    std::env::var("BOMBUS_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1)
}
