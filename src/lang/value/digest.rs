//! Order-independent digest of a set of states: the sum of 128-bit hashes, and their number.
//!
//! In: stable bytes of states. Out: a text that two runs share exactly if they saw the same set
//! (up to hash collisions). Version 1 of the hash; changing it changes every recorded digest.

/// The digest of a set that is built one member at a time; the order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetDigest {
    sum: u128,
    count: u64,
}

impl SetDigest {
    pub fn add(&mut self, bytes: &[u8]) {
        self.sum = self.sum.wrapping_add(hash128(bytes));
        self.count += 1;
    }

    /// The digest of the union of two disjoint sets.
    pub fn merge(&mut self, other: SetDigest) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.count += other.count;
    }
}

impl std::fmt::Display for SetDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}-{}", self.sum, self.count)
    }
}

/// Two lanes of multiply-and-fold over words of eight bytes, finished by each other.
pub fn hash128(bytes: &[u8]) -> u128 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xc2b2_ae3d_27d4_eb4f;
    const C: u64 = 0x1656_67b1_9e37_79f9;
    let mut x = A ^ bytes.len() as u64;
    let mut y = B.wrapping_mul(bytes.len() as u64 | 1);
    let mut take = |w: u64| {
        x = fold(x ^ w, A) ^ y.rotate_left(23);
        y = fold(y.wrapping_add(w) ^ C, B).wrapping_add(x);
    };
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| take(u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let mut word = [0u8; 8];
        word[..rest.len()].copy_from_slice(rest);
        take(u64::from_le_bytes(word));
    }
    let hi = fold(x ^ y.rotate_left(32), C);
    let lo = fold(y ^ hi, A) ^ x;
    u128::from(hi) << 64 | u128::from(lo)
}

fn fold(a: u64, b: u64) -> u64 {
    // The low bit of the other factor keeps a zero word from erasing the lane.
    let p = u128::from(a ^ 0x2545_f491_4f6c_dd1d) * u128::from(b | 1);
    (p as u64) ^ ((p >> 64) as u64) ^ a.rotate_left(17)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_order() {
        let mut a = SetDigest::default();
        let mut b = SetDigest::default();
        for i in 0..100u32 {
            a.add(&i.to_le_bytes());
            b.add(&(99 - i).to_le_bytes());
        }
        assert_eq!(a, b);
    }

    #[test]
    fn the_hash_is_version_1_and_never_drifts() {
        // By a second implementation of the function, over whole words and words that are cut short.
        let known: [(u8, u128); 4] = [
            (0, 0x08de454ebb11d95118d069f6cff07f6f),
            (5, 0x83a3989c13f95ca388c31e9f96fbc2ea),
            (8, 0x44de85e6fa73a0df95497b77d439e1a0),
            (19, 0x96468cb8c6170029b52056206ab2eb91),
        ];
        for (n, hash) in known {
            assert_eq!(hash128(&(1..=n).collect::<Vec<u8>>()), hash, "{n} bytes");
        }
    }

    #[test]
    fn short_inputs_have_distinct_hashes() {
        let mut seen = std::collections::HashSet::new();
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                assert!(seen.insert(hash128(&[a, b])));
            }
        }
        assert!(seen.insert(hash128(&[])));
        assert!(seen.insert(hash128(&[0; 8])));
        assert!(seen.insert(hash128(&[0; 16])));
    }
}
