//! Labels of transitions: parameters and results in one word.
//!
//! In: the words of the values, in the layouts that their types fix. Out: a word that is the same however
//! a transition was computed. Never here: what a transition does.
//!
//! Words that are small enough stand in the label side by side: equal labels are equal values then. Only
//! what does not fit is hashed, and such labels bear a mark, so that whoever relies on them can tell by
//! how many of them how much is left to chance.

use super::compile::leaves;
use super::layout::Layout;
use super::lower::Operand;
use super::pool::{self, Pool, ValueId};
use bombus_lang::value::Value;

/// The mark of a label that is a hash.
pub const HASHED: u64 = 1 << 63;

/// Bits of a label beside the mark.
const BITS: u32 = 63;

/// The label of some registers, read as (first, number of words, whether they are numbers of the pool).
#[inline]
pub fn of_registers(parts: &[(u16, u16, bool)], regs: &[u64], pool: &Pool) -> u64 {
    if let [(reg, 1, false)] = parts {
        // PERF: one small parameter is the most frequent case.
        let word = regs[*reg as usize];
        if ((word << 1) as i64 >> 1) as u64 == word {
            return word & !HASHED;
        }
    }
    let count: u32 = parts.iter().map(|(_, n, _)| u32::from(*n)).sum();
    let words = parts.iter().flat_map(|(r, n, pooled)| {
        regs[*r as usize..(*r + *n) as usize].iter().map(|w| (!*pooled).then_some(*w).ok_or(*w))
    });
    spelled(words.clone(), count).unwrap_or_else(|| {
        let mut hash = Hash::default();
        words.for_each(|w| hash.word(w.unwrap_or_else(|id| pool.content(ValueId(id as u32)))));
        HASHED | hash.0
    })
}

/// The label of values in their layouts.
pub fn of_values(values: &[(Layout, &Value)], pool: &Pool) -> u64 {
    let mut words: Vec<Result<u64, u64>> = Vec::new();
    let mut room = Vec::new();
    for (layout, value) in values {
        room.clear();
        room.resize(layout.words() as usize, 0);
        if !layout.encode(value, pool, &mut room) {
            words.push(Err(pool::content_hash(value) ^ 0x6d69_7366_6974));
            continue;
        }
        for (r, n, pooled) in leaves(&Operand { reg: 0, layout: layout.clone() }) {
            words.extend(room[r as usize..(r + n) as usize].iter().map(|w| match pooled {
                true => Err(pool.content(ValueId(*w as u32))),
                false => Ok(*w),
            }));
        }
    }
    spelled(words.iter().copied(), words.len() as u32).unwrap_or_else(|| {
        let mut hash = Hash::default();
        words.iter().for_each(|w| hash.word(w.unwrap_or_else(|content| content)));
        HASHED | hash.0
    })
}

/// The values that a label spells, in their layouts; none if it is a hash.
pub fn values(layouts: &[Layout], label: u64, pool: &Pool) -> Option<Vec<Value>> {
    if label & HASHED != 0 {
        return None;
    }
    let parts: Vec<Vec<(u16, u16, bool)>> =
        layouts.iter().map(|l| leaves(&Operand { reg: 0, layout: l.clone() })).collect();
    let count: u32 = parts.iter().flatten().map(|(_, n, _)| u32::from(*n)).sum();
    let bits = BITS.checked_div(count).unwrap_or(BITS);
    let mut left = count;
    let mut next = || {
        left -= 1;
        let word = label >> (left * bits) << (64 - bits);
        (word as i64 >> (64 - bits)) as u64
    };
    let mut out = Vec::new();
    for (layout, parts) in layouts.iter().zip(&parts) {
        let mut room = vec![0; layout.words() as usize];
        for (reg, n, _) in parts {
            room[*reg as usize..(*reg + *n) as usize].iter_mut().for_each(|word| *word = next());
        }
        out.push(layout.decode(&room, pool));
    }
    Some(out)
}

/// The words side by side, if all are known by themselves and as small as their share of the label.
fn spelled(words: impl Iterator<Item = Result<u64, u64>>, count: u32) -> Option<u64> {
    let bits = BITS.checked_div(count).unwrap_or(BITS);
    let mut label = 0u64;
    for word in words {
        let word = word.ok()?;
        if bits == 0 {
            return None;
        }
        // Numbers below zero have all their high bits set.
        let cut = word << (64 - bits);
        if (cut as i64 >> (64 - bits)) as u64 != word {
            return None;
        }
        label = label << bits | cut >> (64 - bits);
    }
    Some(label)
}

/// A fixed hash of words.
#[derive(Clone, Copy, Default)]
pub struct Hash(pub u64);

impl Hash {
    #[inline]
    pub fn word(&mut self, w: u64) {
        let p = u128::from(self.0 ^ w ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
        self.0 = (p as u64) ^ ((p >> 64) as u64) ^ w.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(words: &[i64]) -> u64 {
        let regs: Vec<u64> = words.iter().map(|w| *w as u64).collect();
        of_registers(&[(0, words.len() as u16, false)], &regs, &Pool::default())
    }

    #[test]
    fn small_words_are_told_apart_by_their_labels_alone() {
        let mut seen = std::collections::BTreeSet::new();
        for x in -40..40 {
            for y in -40..40 {
                for z in [-1 << 20, -1, 0, 1, (1 << 20) - 1] {
                    let label = label(&[x, y, z]);
                    assert_eq!(label & HASHED, 0);
                    assert!(seen.insert(label), "({x}, {y}, {z})");
                }
            }
        }
        assert_eq!(label(&[]), 0);
    }

    #[test]
    fn a_label_that_is_no_hash_spells_its_values() {
        let pool = Pool::default();
        let layouts = [Layout::Int, Layout::pair(Layout::Int, Layout::Int)];
        for (x, y, z) in [(0, 0, 0), (-1, 5, -7), (1000, -1000, (1 << 20) - 1)] {
            let wanted = [Value::int(x), Value::pair(Value::int(y), Value::int(z))];
            let both: Vec<(Layout, &Value)> = layouts.iter().cloned().zip(&wanted).collect();
            assert_eq!(values(&layouts, of_values(&both, &pool), &pool).as_deref(), Some(&wanted[..]));
        }
        let large = Value::int(1 << 40);
        let both: Vec<(Layout, &Value)> =
            [Layout::Int, Layout::Int].into_iter().zip([&large, &large]).collect();
        assert_eq!(values(&[Layout::Int, Layout::Int], of_values(&both, &pool), &pool), None);
        assert_eq!(values(&[], 0, &pool), Some(Vec::new()));
    }

    #[test]
    fn what_does_not_fit_is_marked() {
        for words in [&[1i64 << 20, 0, 0][..], &[i64::MIN], &[i64::MAX], &[1 << 62], &[1 << 31, 1], &[0; 64]]
        {
            assert_eq!(label(words) & HASHED, HASHED, "{words:?}");
        }
        for words in [&[(1i64 << 20) - 1, 0, 0][..], &[1 << 61], &[-1 << 62], &[-1 << 30, 1]] {
            assert_eq!(label(words) & HASHED, 0, "{words:?}");
        }
    }
}
