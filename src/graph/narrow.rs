//! Small numbers in as few bytes as they need.
//!
//! In: how large the numbers may get. Out: an array of them. Never here: what they number.

use rayon::prelude::*;

/// Numbers of one width; which one is decided once, by the largest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Narrow {
    Byte(Vec<u8>),
    Short(Vec<u16>),
    Word(Vec<u32>),
}

impl Narrow {
    /// `count` is above all numbers.
    pub fn new(numbers: Vec<u32>, count: usize) -> Self {
        match count {
            0..=0x100 => Narrow::Byte(numbers.par_iter().map(|n| *n as u8).collect()),
            0x101..=0x1_0000 => Narrow::Short(numbers.par_iter().map(|n| *n as u16).collect()),
            _ => Narrow::Word(numbers),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Narrow::Byte(numbers) => numbers.len(),
            Narrow::Short(numbers) => numbers.len(),
            Narrow::Word(numbers) => numbers.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn at(&self, i: usize) -> u32 {
        match self {
            Narrow::Byte(numbers) => u32::from(numbers[i]),
            Narrow::Short(numbers) => u32::from(numbers[i]),
            Narrow::Word(numbers) => numbers[i],
        }
    }

    /// Asks for the cache line of a number ahead of its use.
    #[inline]
    pub fn prefetch(&self, i: usize) {
        use bombus_kernels::memory::prefetch;
        match self {
            Narrow::Byte(numbers) => numbers.get(i).into_iter().for_each(prefetch),
            Narrow::Short(numbers) => numbers.get(i).into_iter().for_each(prefetch),
            Narrow::Word(numbers) => numbers.get(i).into_iter().for_each(prefetch),
        }
    }
}

/// A width of numbers.
pub(super) trait Width: Copy + Default + Send + Sync {
    /// The caller has seen to it that `n` fits.
    fn narrowed(n: u32) -> Self;
    fn number(self) -> u32;
}

impl Width for u8 {
    fn narrowed(n: u32) -> u8 {
        debug_assert!(n <= u32::from(u8::MAX));
        n as u8
    }

    fn number(self) -> u32 {
        self.into()
    }
}

impl Width for u16 {
    fn narrowed(n: u32) -> u16 {
        debug_assert!(n <= u32::from(u16::MAX));
        n as u16
    }

    fn number(self) -> u32 {
        self.into()
    }
}

impl Width for u32 {
    fn narrowed(n: u32) -> u32 {
        n
    }

    fn number(self) -> u32 {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_whatever_their_width() {
        for count in [1usize, 0x100, 0x101, 0x1_0000, 0x1_0001, 0x2_0000] {
            let numbers: Vec<u32> =
                (0..1000).map(|i| (i * 7919) % count as u32).chain([count as u32 - 1]).collect();
            let narrow = Narrow::new(numbers.clone(), count);
            assert!((0..numbers.len()).all(|i| narrow.at(i) == numbers[i]), "{count}");
        }
    }
}
