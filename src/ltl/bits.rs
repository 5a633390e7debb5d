//! Sets of states or transitions as words of bits.
//!
//! In: the truth of an atom, state by state. Out: one bit per state, so that a later parallel scan can
//! cut the words among threads. Never here: what a bit means.

use rayon::prelude::*;

/// A set of the numbers `0..len`. Bits beyond `len` are zero.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    pub fn new(len: usize) -> Self {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    /// All of `0..len`.
    pub fn full(len: usize) -> Self {
        let mut bits = Bits { words: vec![!0; len.div_ceil(64)], len };
        bits.trim();
        bits
    }

    /// The numbers of `0..len` for which `holds` is true.
    pub fn from_fn(len: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let mut bits = Bits::new(len);
        for i in 0..len {
            if holds(i) {
                bits.insert(i);
            }
        }
        bits
    }

    /// The same on all threads.
    pub fn par(len: usize, holds: impl Fn(usize) -> bool + Sync) -> Self {
        let word = |at: usize| {
            (at * 64..(at * 64 + 64).min(len)).fold(0, |w, i| w | u64::from(holds(i)) << (i % 64))
        };
        let words = (0..len.div_ceil(64)).into_par_iter().with_min_len(16).map(word).collect();
        Bits { words, len }
    }

    /// Takes over words that were filled elsewhere; spare bits are cleared.
    pub fn from_words(words: Vec<u64>, len: usize) -> Self {
        let mut bits = Bits { words, len };
        bits.words.resize(len.div_ceil(64), 0);
        bits.trim();
        bits
    }

    /// 64 members to a word, the least in the lowest bit.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    fn trim(&mut self) {
        if let (Some(last), 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Adds `i`; tells whether it was new.
    #[inline]
    pub fn insert(&mut self, i: usize) -> bool {
        debug_assert!(i < self.len);
        let word = &mut self.words[i / 64];
        let new = *word >> (i % 64) & 1 == 0;
        *word |= 1 << (i % 64);
        new
    }

    #[inline]
    pub fn remove(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn union(mut self, other: &Bits) -> Self {
        debug_assert_eq!(self.len, other.len);
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
        self
    }

    pub fn intersection(mut self, other: &Bits) -> Self {
        debug_assert_eq!(self.len, other.len);
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
        self
    }

    pub fn complement(mut self) -> Self {
        self.words.iter_mut().for_each(|w| *w = !*w);
        self.trim();
        self
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    at * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complement_stays_within_its_length() {
        let odd = Bits::from_fn(70, |i| i % 2 == 1);
        assert_eq!(odd.count(), 35);
        assert_eq!(
            odd.clone().complement().iter().collect::<Vec<_>>(),
            (0..70).step_by(2).collect::<Vec<_>>()
        );
        assert_eq!(odd.clone().union(&odd.clone().complement()), Bits::full(70));
        assert!(odd.clone().intersection(&odd.complement()).is_empty());
    }
}
