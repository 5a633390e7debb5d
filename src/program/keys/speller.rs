//! The bytes of keys, one key after the other.
//!
//! In: keys, ascending or not. Out: how many bytes a key has in common with the one before, as far as that is seen without
//! comparing bytes, and the others.
//! Never here: how keys are made.

use super::Keys;
use bombus_kernels::faults::fault;
use bombus_lang::typed::Type;
use bombus_lang::value::Value;

/// What is appended for some bits of a key.
pub enum Step {
    /// One of the texts from `text` on.
    Listed { shift: u32, mask: usize, text: usize },
    /// An integer, in the bytes that order integers.
    Integer { shift: u32, mask: u64, lo: i64 },
    /// If the bit is 0 this text; else nothing, and the steps before `end` are left out.
    Row { shift: u32, text: usize, end: usize },
}

/// Spells keys one after the other.
pub struct Speller<'a> {
    keys: &'a Keys<'a>,
    before: Option<u128>,
    /// By step, where its bytes begin in the spelling of the key before; and where that ends.
    starts: Vec<usize>,
    tail: Vec<u8>,
}

impl<'a> Speller<'a> {
    pub(super) fn new(keys: &'a Keys<'a>) -> Speller<'a> {
        Speller { keys, before: None, starts: vec![0; keys.steps.len() + 1], tail: Vec::new() }
    }

    /// Spells the next key: the first bytes of the one before, so many, and then these.
    pub fn next(&mut self, key: u128) -> (usize, &[u8]) {
        let Speller { keys, before, starts, tail } = self;
        // Bits before the first one that differs belong to steps that append the same again.
        let first = match before.map(|before| before ^ key) {
            None => 0,
            Some(0) => keys.steps.len(),
            Some(differ) if fault("keys: what differs last is spelled alone") => {
                keys.step_of[differ.trailing_zeros() as usize] as usize
            }
            Some(differ) => keys.step_of[differ.ilog2() as usize] as usize,
        };
        *before = Some(key);
        tail.clear();
        let same = starts[first];
        let mut at = first;
        while let Some(step) = keys.steps.get(at) {
            starts[at] = same + tail.len();
            at += 1;
            match *step {
                Step::Listed { shift, mask, text } => {
                    tail.extend_from_slice(keys.text(text + ((key >> shift) as usize & mask)));
                }
                Step::Integer { shift, mask, lo } => {
                    let number = lo.wrapping_add(((key >> shift) as u64 & mask) as i64);
                    (keys.spell)(&Value::int(number), &Type::Integer, tail);
                }
                Step::Row { shift, text, .. } if key >> shift & 1 == 0 => {
                    tail.extend_from_slice(keys.text(text));
                }
                // What is left out stays so until this bit differs.
                Step::Row { end, .. } => at = end,
            }
        }
        starts[keys.steps.len()] = same + tail.len();
        (same, tail)
    }
}
