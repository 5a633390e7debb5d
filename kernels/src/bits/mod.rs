//! Bit-sets as slices of words: bit `i` of a set is bit `i % 64` of word `i / 64`.
//!
//! In: words. Out: words, counts, positions. Never here: which element a bit stands for.
//! Invariant kept by every function: bits beyond the length of a set stay zero, so that equal sets
//! have equal words. `reference` holds the plain twins that tests compare with.

pub mod cells;
pub mod matrix;
pub mod reference;

/// Words that hold `bits` bits.
pub const fn words_for(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// A word with the lowest `n` bits set; `n` may be 64.
#[inline(always)]
pub const fn low_mask(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1u64 << n) - 1 }
}

#[inline(always)]
pub fn get(set: &[u64], bit: usize) -> bool {
    set[bit / 64] >> (bit % 64) & 1 == 1
}

#[inline(always)]
pub fn insert(set: &mut [u64], bit: usize) {
    set[bit / 64] |= 1 << (bit % 64);
}

#[inline(always)]
pub fn remove(set: &mut [u64], bit: usize) {
    set[bit / 64] &= !(1 << (bit % 64));
}

/// Fills `set` with the elements `0..bits`.
pub fn fill(set: &mut [u64], bits: usize) {
    for (i, word) in set.iter_mut().enumerate() {
        *word = low_mask(bits.saturating_sub(i * 64).min(64));
        if bits <= i * 64 {
            *word = 0;
        }
    }
}

pub fn is_empty(set: &[u64]) -> bool {
    set.iter().all(|w| *w == 0)
}

pub fn count(set: &[u64]) -> usize {
    set.iter().map(|w| w.count_ones() as usize).sum()
}

pub fn is_subset(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x & !y == 0)
}

/// The least element not below `from`.
#[inline]
pub fn next(set: &[u64], from: usize) -> Option<usize> {
    let mut at = from / 64;
    if at >= set.len() {
        return None;
    }
    let mut word = set[at] & (u64::MAX << (from % 64));
    loop {
        if word != 0 {
            return Some(at * 64 + word.trailing_zeros() as usize);
        }
        at += 1;
        if at == set.len() {
            return None;
        }
        word = set[at];
    }
}

pub fn first(set: &[u64]) -> Option<usize> {
    next(set, 0)
}

pub fn last(set: &[u64]) -> Option<usize> {
    let at = set.iter().rposition(|w| *w != 0)?;
    Some(at * 64 + 63 - set[at].leading_zeros() as usize)
}

/// The elements in ascending order.
pub fn iter(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let bit = next(set, from)?;
        from = bit + 1;
        Some(bit)
    })
}

/// Up to 64 bits that start at `offset`.
#[inline(always)]
pub fn window(set: &[u64], offset: usize, len: usize) -> u64 {
    debug_assert!(len <= 64);
    if len == 0 {
        return 0;
    }
    let (at, shift) = (offset / 64, offset % 64);
    let mut word = set[at] >> shift;
    if shift + len > 64 {
        word |= set[at + 1] << (64 - shift);
    }
    word & low_mask(len)
}

/// Replaces up to 64 bits that start at `offset`; `bits` has nothing beyond `len`.
#[inline(always)]
pub fn put_window(set: &mut [u64], offset: usize, len: usize, bits: u64) {
    debug_assert!(len <= 64 && bits & !low_mask(len) == 0);
    if len == 0 {
        return;
    }
    let (at, shift) = (offset / 64, offset % 64);
    set[at] = set[at] & !(low_mask(len) << shift) | bits << shift;
    if shift + len > 64 {
        let low = 64 - shift;
        set[at + 1] = set[at + 1] & !low_mask(len - low) | bits >> low;
    }
}

/// Copies `len` bits from `offset` of `set` to the start of `out`, whose other bits become zero.
pub fn extract(set: &[u64], offset: usize, len: usize, out: &mut [u64]) {
    for (i, word) in out.iter_mut().enumerate() {
        let done = i * 64;
        *word = if done < len { window(set, offset + done, (len - done).min(64)) } else { 0 };
    }
}

/// Replaces `len` bits from `offset` of `set` by the first bits of `bits`.
pub fn deposit(set: &mut [u64], offset: usize, len: usize, bits: &[u64]) {
    let mut done = 0;
    while done < len {
        let step = (len - done).min(64);
        put_window(set, offset + done, step, bits[done / 64] & low_mask(step));
        done += step;
    }
}

/// Steps `cursor` to the next subset of `of` in counting order; false after the last one.
/// Starting from the empty set this visits each subset once.
pub fn next_subset(cursor: &mut [u64], of: &[u64]) -> bool {
    // (cursor - of) & of, the classical step through submasks, with a borrow across words.
    let mut borrow = false;
    for (c, m) in cursor.iter_mut().zip(of) {
        let (d, b1) = c.overflowing_sub(*m);
        let (d, b2) = d.overflowing_sub(u64::from(borrow));
        borrow = b1 || b2;
        *c = d & m;
    }
    !is_empty(cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    #[test]
    fn windows_read_what_was_written_and_touch_nothing_else() {
        let mut seed = 7;
        for _ in 0..5000 {
            let mut set: Vec<u64> = (0..3).map(|_| random(&mut seed)).collect();
            let before = set.clone();
            let len = (random(&mut seed) % 65) as usize;
            let offset = (random(&mut seed) % (192 - len as u64)) as usize;
            let bits = random(&mut seed) & low_mask(len);
            put_window(&mut set, offset, len, bits);
            assert_eq!(window(&set, offset, len), bits);
            for bit in (0..192).filter(|b| *b < offset || *b >= offset + len) {
                assert_eq!(get(&set, bit), get(&before, bit));
            }
            let mut out = [0; 3];
            extract(&before, offset, len, &mut out);
            let mut back = before.clone();
            deposit(&mut back, offset, len, &out);
            assert_eq!(back, before);
        }
    }

    #[test]
    fn every_subset_is_visited_once() {
        let of = [1 << 63 | 5, 2 | 8];
        let mut cursor = [0; 2];
        let mut seen = vec![cursor];
        while next_subset(&mut cursor, &of) {
            assert!(is_subset(&cursor, &of));
            seen.push(cursor);
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 32, "2 to the 5 elements");
    }

    #[test]
    fn positions_agree_with_a_walk_over_all_bits() {
        let mut seed = 11;
        for _ in 0..500 {
            let set: Vec<u64> =
                (0..3).map(|_| random(&mut seed) & random(&mut seed) & random(&mut seed)).collect();
            let all: Vec<usize> = (0..192).filter(|b| get(&set, *b)).collect();
            assert_eq!(iter(&set).collect::<Vec<_>>(), all);
            assert_eq!(first(&set), all.first().copied());
            assert_eq!(last(&set), all.last().copied());
            assert_eq!(count(&set), all.len());
        }
        let mut full = [7; 3];
        fill(&mut full, 70);
        assert_eq!(full, [u64::MAX, 63, 0]);
    }
}
