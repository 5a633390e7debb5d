//! Sorting keys by their digits.
//!
//! In: numbers below a known power of two. Out: the same in ascending order.
//! Never here: what they mean. PERF: a comparison of keys is as dear as moving one, and a sort by comparisons needs ten times as many.

use super::keyed::Key;
use rayon::prelude::*;

/// Bits of a digit.
const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
/// Fewer keys are sorted by comparisons, which needs no counts of digits.
const FEW: usize = 256;

/// Sorts keys of so many bits: first by the highest digit, then what has the same one side by side.
pub fn sort<K: Key>(keys: &mut Vec<K>, bits: u32) {
    if keys.len() < FEW || bits <= DIGIT {
        return keys.sort_unstable();
    }
    let low = bits - DIGIT;
    let mut sorted = vec![K::default(); keys.len()];
    let counts = by_digit(keys, &mut sorted, low);
    let (mut from, mut scratch) = (&mut sorted[..], &mut keys[..]);
    let mut parts = Vec::with_capacity(DIGITS);
    for count in counts {
        let (own, later) = from.split_at_mut(count);
        let (room, rest) = scratch.split_at_mut(count);
        parts.push((own, room));
        (from, scratch) = (later, rest);
    }
    parts.into_par_iter().for_each(|(own, room)| sort_low(own, room, low));
    *keys = sorted;
}

/// Sorts keys that differ in the lowest `bits` bits alone, digit by digit from the lowest on.
fn sort_low<K: Key>(own: &mut [K], room: &mut [K], bits: u32) {
    if own.len() < FEW {
        return own.sort_unstable();
    }
    let (mut from, mut to) = (own, room);
    let mut is_elsewhere = false;
    for shift in (0..bits).step_by(DIGIT as usize) {
        by_digit(from, to, shift);
        (from, to) = (to, from);
        is_elsewhere = !is_elsewhere;
    }
    if is_elsewhere {
        to.copy_from_slice(from);
    }
}

/// Copies keys in the order of the digit that begins at bit `shift`, and counts the digits.
fn by_digit<K: Key>(from: &[K], to: &mut [K], shift: u32) -> [usize; DIGITS] {
    let mut counts = [0; DIGITS];
    from.iter().for_each(|key| counts[key.digit(shift)] += 1);
    let mut places = [0; DIGITS];
    (1..DIGITS).for_each(|d| places[d] = places[d - 1] + counts[d - 1]);
    for key in from {
        let place = &mut places[key.digit(shift)];
        to[*place] = *key;
        *place += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_width_are_sorted_as_by_comparisons() {
        for bits in [1, 8, 9, 17, 40, 64, 65, 100, 128] {
            for n in [0, 1, 300, 5_000] {
                let hash = |i: u64| u128::from(bombus_kernels::hash::mix(i));
                // Some highest digits are frequent, and some keys occur twice.
                let key = |i: u64| {
                    ((hash(i % 4_000) << 64 | hash(i % 4_000 + 9)) >> (128 - bits)) & !(hash(i % 7) >> 60)
                };
                let mut keys: Vec<u128> = (0..n).map(key).collect();
                let mut narrow: Vec<u64> = keys.iter().map(|key| *key as u64).collect();
                let (mut expected, mut as_narrow) = (keys.clone(), narrow.clone());
                expected.sort();
                as_narrow.sort();
                sort(&mut keys, bits);
                sort(&mut narrow, bits.min(64));
                assert_eq!((keys, narrow), (expected, as_narrow), "{n} of {bits} bits");
            }
        }
    }
}
