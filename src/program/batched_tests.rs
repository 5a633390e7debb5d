//! Chains of tests on the cells of one word, answered for all cells at once.
//!
//! In: code with its labels resolved. Out: the same code, in which the tests of such a chain are sieves.
//! Never here: what the cells mean.
//!
//! A parameter with few values is unrolled, so `f(p) = c` becomes one test per value of `p`, each
//! of which leads to the next when it fails. Most fail. A sieve stands in the place of each of these tests and
//! does what the chain would do from there: it goes to the code behind the first test that succeeds,
//! or behind the chain.

use crate::ir::{Code, Op, Reg};
use bombus_kernels::bits;
use bombus_kernels::faults::fault;

/// Shorter chains are left alone.
const WORTHWHILE: usize = 3;

/// The cells that a chain compares with one value, in ascending order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sieve {
    /// The value, in each of the cells.
    pub(crate) pattern: u64,
    /// The highest bit of each cell, and all bits below it.
    pub(crate) high: u64,
    pub(crate) low: u64,
    /// Where to go on when the cell with this highest bit holds the value.
    pub(crate) targets: Box<[u32; 64]>,
    /// Where to go on when none does.
    pub(crate) end: u32,
}

impl Sieve {
    /// Where the chain would go on with the cells of `word` from bit `from` on.
    #[inline(always)]
    pub fn pass(&self, word: u64, from: u8) -> u32 {
        let differs = word ^ self.pattern;
        // Adding `low` to the low bits of a cell carries into its highest bit unless they are all
        // zero, and never beyond it. So that bit stays zero in cells that do not differ.
        let nonzero = ((differs & self.low) + self.low) | differs;
        let equal = !nonzero & self.high & (u64::MAX << from);
        if fault("sieve: the last cell is taken for the first") && equal != 0 {
            return self.targets[63 - equal.leading_zeros() as usize];
        }
        if equal == 0 { self.end } else { self.targets[(equal.trailing_zeros() & 63) as usize] }
    }

    /// How many tests of the chain stand at bit `from` or above.
    pub fn tests(&self, from: u8) -> u32 {
        (self.high & (u64::MAX << from)).count_ones()
    }

    /// Value and mask of the test on the cell at `shift`.
    pub fn cell(&self, shift: u8) -> (u16, u16) {
        let width = (self.high >> shift).trailing_zeros() + 1;
        let mask = bits::low_mask(width as usize);
        ((self.pattern >> shift & mask) as u16, mask as u16)
    }
}

/// One test of a chain: the cell at `shift` of register `a` is compared with `i`.
#[derive(Clone, Copy)]
struct Test {
    at: u32,
    a: Reg,
    i: u16,
    shift: u8,
    mask: u16,
    next: u32,
}

fn test(code: &Code, at: u32) -> Option<Test> {
    match *code.ops.get(at as usize)? {
        Op::JumpCellNe { a, i, shift, mask, l } if mask & mask.wrapping_add(1) == 0 && i <= mask => {
            Some(Test { at, a, i, shift, mask, next: l })
        }
        _ => None,
    }
}

/// Puts sieves in the place of chains of tests.
pub fn sieve(code: &mut Code) {
    for at in 0..code.ops.len() as u32 {
        let chain = chain(code, at);
        if chain.len() < WORTHWHILE || code.sieves.len() >= usize::from(u16::MAX) {
            continue;
        }
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let width = first.mask.count_ones();
        let each = |bits: u64| chain.iter().fold(0, |all, t| all | bits << t.shift);
        let mut targets = Box::new([last.next; 64]);
        for t in &chain {
            targets[t.shift as usize + width as usize - 1] = t.at + 1;
        }
        let number = code.sieves.len() as u16;
        code.sieves.push(Sieve {
            pattern: each(u64::from(first.i)),
            high: each(1 << (width - 1)),
            low: if fault("sieve: cells are compared by one bit") { 0 } else { each((1 << (width - 1)) - 1) },
            targets,
            end: last.next,
        });
        for t in &chain {
            code.ops[t.at as usize] = Op::Sieve { a: t.a, t: number, shift: t.shift, l: t.next };
        }
    }
}

/// The tests from `at` on that each lead to the next when they fail.
fn chain(code: &Code, at: u32) -> Vec<Test> {
    let mut chain: Vec<Test> = Vec::new();
    let mut next = test(code, at);
    while let Some(t) = next {
        let width = t.mask.count_ones() as u8;
        let fits = width > 0 && u32::from(t.shift) + u32::from(width) <= 64;
        let follows = chain.last().is_none_or(|before| {
            let same_value = t.i == before.i || fault("sieve: values of a chain may differ");
            same_value && (t.a, t.mask) == (before.a, before.mask) && t.shift >= before.shift + width
        });
        if !fits || !follows {
            break;
        }
        chain.push(t);
        next = test(code, t.next);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the tests of `ops` lead for `word` when they are carried out one after the other.
    fn one_by_one(ops: &[Op], mut at: u32, word: u64) -> u32 {
        while let Some(Op::JumpCellNe { i, shift, mask, l, .. }) = ops.get(at as usize) {
            if word >> shift & u64::from(*mask) == u64::from(*i) {
                return at + 1;
            }
            at = *l;
        }
        at
    }

    #[test]
    fn a_sieve_goes_where_its_chain_of_tests_would() {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for width in 1..=9u32 {
            let mask = (1u16 << width) - 1;
            let cells = 64 / width;
            for _ in 0..40 {
                let i = next() as u16 & mask;
                // Some cells are left out, so that there are gaps between those of the chain.
                let kept: Vec<u32> = (0..cells).filter(|_| next() % 4 > 0).collect();
                let ops: Vec<Op> = kept
                    .iter()
                    .enumerate()
                    .flat_map(|(n, cell)| {
                        let l = 2 * n as u32 + 2;
                        [Op::JumpCellNe { a: 0, i, shift: (cell * width) as u8, mask, l }, Op::Halt]
                    })
                    .chain([Op::Halt])
                    .collect();
                let mut code = Code { ops: ops.clone(), registers: 1, ..Code::default() };
                sieve(&mut code);
                assert_eq!(code.sieves.len(), usize::from(kept.len() >= WORTHWHILE));
                for _ in 0..200 {
                    let mut word = next();
                    for cell in &kept {
                        if next() % 8 == 0 {
                            let at = cell * width;
                            word = word & !(u64::from(mask) << at) | u64::from(i) << at;
                        }
                    }
                    for (at, op) in code.ops.iter().enumerate() {
                        if let Op::Sieve { t, shift, .. } = op {
                            let want = one_by_one(&ops, at as u32, word);
                            assert_eq!(code.sieves[*t as usize].pass(word, *shift), want, "{op:?} {word:x}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn tests_of_other_values_cells_or_orders_make_no_chain() {
        let ne = |a, i, shift, l| Op::JumpCellNe { a, i, shift, mask: 3, l };
        for ops in [
            [ne(0, 1, 0, 1), ne(0, 2, 2, 2), ne(0, 1, 4, 3), Op::Halt],
            [ne(0, 1, 0, 1), ne(1, 1, 2, 2), ne(0, 1, 4, 3), Op::Halt],
            [ne(0, 1, 4, 1), ne(0, 1, 2, 2), ne(0, 1, 0, 3), Op::Halt],
            [ne(0, 1, 0, 1), ne(0, 1, 1, 2), ne(0, 1, 2, 3), Op::Halt],
        ] {
            let mut code = Code { ops: ops.to_vec(), registers: 2, ..Code::default() };
            sieve(&mut code);
            assert_eq!(code.ops, ops);
        }
    }
}
