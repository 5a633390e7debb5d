//! A permutation of the words of some bits that spreads neighbours far apart, and its inverse.
//!
//! In: words below 2^bits. Out: words below 2^bits, each once.
//! Never here: tables.
//!
//! Two rounds of a multiplication by an odd number modulo 2^bits, each between two folds of the upper half of the
//! bits onto the lower half. Either step can be undone, so no two words become one: what stands in a table can be read back.

/// Bits of the narrowest permutation: narrower words are permuted among more.
const LEAST: u32 = if cfg!(loom) { 4 } else { 16 };

const FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// A permutation of all words below 2^bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    bits: u32,
    mask: u64,
    fold: u32,
}

impl Permutation {
    /// `bits` is at most 64.
    pub fn new(bits: u32) -> Permutation {
        assert!(bits <= 64, "a word has 64 bits");
        let bits = bits.max(LEAST);
        Permutation { bits, mask: u64::MAX >> (64 - bits), fold: bits.div_ceil(2) }
    }

    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether a word is among those that are permuted.
    #[inline(always)]
    pub fn takes(&self, word: u64) -> bool {
        word <= self.mask
    }

    #[inline(always)]
    pub fn apply(&self, word: u64) -> u64 {
        let fold = |word: u64| word ^ word.wrapping_shr(self.fold);
        let word = fold(word).wrapping_mul(FACTORS[0]) & self.mask;
        let word = fold(word).wrapping_mul(FACTORS[1]) & self.mask;
        fold(word)
    }

    /// The word of which `apply` makes this one. A fold is its own inverse: it leaves the upper half as it is.
    #[inline]
    pub fn undo(&self, word: u64) -> u64 {
        let fold = |word: u64| word ^ word.wrapping_shr(self.fold);
        let word = fold(word).wrapping_mul(INVERSES[1]) & self.mask;
        let word = fold(word).wrapping_mul(INVERSES[0]) & self.mask;
        fold(word)
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: every step doubles the bits that are right.
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut step = 0;
    while step < 6 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        step += 1;
    }
    found
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn every_word_comes_back_from_its_permutation() {
        let mut random = Random(7);
        for bits in [1, 16, 17, 25, 31, 32, 33, 48, 63, 64] {
            let permutation = Permutation::new(bits);
            for n in 0..20_000 {
                let word = if n % 2 == 0 { n / 2 } else { random.next() };
                let word = word & permutation.mask;
                assert!(permutation.takes(permutation.apply(word)));
                assert_eq!(permutation.undo(permutation.apply(word)), word);
            }
        }
    }

    #[test]
    fn no_two_words_become_one() {
        let permutation = Permutation::new(18);
        let mut met = vec![false; 1 << 18];
        for word in 0..1 << 18 {
            assert!(!std::mem::replace(&mut met[permutation.apply(word) as usize], true));
        }
    }

    #[test]
    fn words_that_differ_in_one_field_are_spread_evenly() {
        // 2^14 words in a row, and as many 2^11 apart, into 64 lines by their upper bits: 256 each; six standard
        // deviations of a random spread are 96.
        let permutation = Permutation::new(25);
        for stride in [1u64, 1 << 11] {
            let mut lines = [0u32; 64];
            (0..1u64 << 14).for_each(|n| lines[(permutation.apply(n * stride) >> 19) as usize] += 1);
            assert!(lines.iter().all(|n| (160..352).contains(n)), "{stride}: {lines:?}");
        }
    }
}
