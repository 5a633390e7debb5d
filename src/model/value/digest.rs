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
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let w = u64::from_le_bytes(word);
        x = fold(x ^ w, A) ^ y.rotate_left(23);
        y = fold(y.wrapping_add(w) ^ C, B).wrapping_add(x);
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
