//! Random numbers that a seed fixes: the same on every machine and in every version.
//!
//! In: a seed. Out: numbers. Never here: secrets, or a seed of its own making.

/// A stream of numbers (SplitMix64). Streams of different seeds have nothing to do with each other.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The stream with a number among those of a seed.
    pub fn numbered(seed: u64, n: u64) -> Random {
        let mut first = Random(seed);
        let base = first.next();
        Random(base ^ n.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next number. Not an iterator: a stream has no end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        let product = u128::from(self.next()) * n as u128;
        (product >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_numbers_for_ever() {
        // The first numbers of SplitMix64 for the seed 0, as its authors publish them.
        let mut random = Random::new(0);
        assert_eq!([random.next(), random.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
        assert!((0..1000).all(|_| random.below(7) < 7));
        assert_eq!(Random::new(3).below(0), 0);
        assert_ne!(Random::numbered(1, 0).next(), Random::numbered(1, 1).next());
    }
}
