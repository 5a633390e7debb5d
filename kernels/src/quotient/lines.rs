//! A line of slots: one cache line, in which a number is looked for at once.
//!
//! In: numbers that are not 0. Out: whether a line has one, and the slot it stands in.
//! Never here: what a number means, and which line comes next.

use crate::faults::fault;
use crate::memory::Zeroed;
use crate::shim::{AtomicU32, AtomicU64, Ordering};

/// What stands in the slots of a line, one bit for each: the number looked for, and nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    pub(super) same: u32,
    pub(super) empty: u32,
}

/// A slot of 32 or 64 bits: 0 when empty, written once.
pub(super) trait Slot: Zeroed + Sized {
    /// Slots of a line: one cache line.
    const LINE: usize;
    fn look(&self) -> u64;
    /// Puts a number into an empty slot; else says what stands there.
    fn put(&self, number: u64) -> Result<(), u64>;
    /// Puts a number while nobody else looks.
    fn put_alone(&self, number: u64);
    /// Looks at all slots of a line, each once.
    fn survey(line: &[Self], number: u64) -> Survey;
}

macro_rules! slot {
    ($atomic:ty, $word:ty, $line:expr, $survey:path) => {
        impl Slot for $atomic {
            const LINE: usize = $line;

            #[inline(always)]
            fn look(&self) -> u64 {
                self.load(Ordering::Acquire) as u64
            }

            #[inline(always)]
            fn put(&self, number: u64) -> Result<(), u64> {
                let put = self.compare_exchange(0, number as $word, Ordering::AcqRel, Ordering::Acquire);
                put.map(|_| ()).map_err(u64::from)
            }

            #[inline(always)]
            fn put_alone(&self, number: u64) {
                self.store(number as $word, Ordering::Relaxed);
            }

            #[inline(always)]
            fn survey(line: &[Self], number: u64) -> Survey {
                $survey(line, number)
            }
        }
    };
}
slot!(AtomicU32, u32, if cfg!(loom) { 2 } else { 16 }, survey_narrow);
slot!(AtomicU64, u64, if cfg!(loom) { 2 } else { 8 }, survey_plain);

/// Looks at slot after slot.
#[inline(always)]
pub(super) fn survey_plain<T: Slot>(line: &[T], number: u64) -> Survey {
    let mut seen = Survey { same: 0, empty: 0 };
    for (at, slot) in line.iter().enumerate() {
        let found = slot.look();
        seen.same |= u32::from(found == number) << at;
        seen.empty |= u32::from(found == 0) << at;
    }
    seen
}

#[cfg(not(all(target_arch = "x86_64", not(loom), not(miri))))]
use survey_plain as survey_narrow;

/// Looks at four slots at a time. PERF: a walk from slot to slot is a branch for each that no processor foresees.
#[cfg(all(target_arch = "x86_64", not(loom), not(miri)))]
#[inline(always)]
fn survey_narrow(line: &[AtomicU32], number: u64) -> Survey {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        _mm_setzero_si128,
    };
    let line: &[AtomicU32; 16] = line.try_into().expect("a line of sixteen slots");
    let at = line.as_ptr();
    // SAFETY: the assembly reads 16 bytes within the line and writes no memory. Others may write slots at the same time: for the
    // language these are no reads of ours but an outside agent's, and the processor reads each slot, four bytes that
    // do not cross a cache line, in one piece (Intel's manual, volume 3, 9.1.1; AMD's, volume 2, 7.3.2). Every
    // processor of this kind has the instructions.
    let four = |from: usize| unsafe {
        let four: __m128i;
        asm!("movdqu {0}, [{1}]", out(xmm_reg) four, in(reg) at.add(from), options(nostack, readonly, preserves_flags));
        four
    };
    let all = [four(0), four(4), four(8), four(12)];
    // SAFETY: as above, every processor of this kind has the instructions.
    let which = |of: __m128i| unsafe {
        let low = _mm_packs_epi32(_mm_cmpeq_epi32(all[0], of), _mm_cmpeq_epi32(all[1], of));
        let high = _mm_packs_epi32(_mm_cmpeq_epi32(all[2], of), _mm_cmpeq_epi32(all[3], of));
        _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
    };
    // SAFETY: as above.
    unsafe { Survey { same: which(_mm_set1_epi32(number as i32)), empty: which(_mm_setzero_si128()) } }
}

/// Finds a number in a line or puts it into the first empty slot from the place that `rest` names; `None` if the line is
/// full of others.
///
/// Whoever puts a number into a line goes the same way round it, and no slot is ever emptied: all slots before the first
/// empty one keep what was seen in them, so two who put the same number meet at that one.
#[inline(always)]
pub(super) fn find_or_put_in_line<T: Slot>(
    slots: &[T],
    line: u64,
    rest: u64,
    number: u64,
) -> Option<(u64, bool)> {
    let start = (line as usize).wrapping_mul(T::LINE);
    let here = &slots[start..start.wrapping_add(T::LINE)];
    loop {
        let seen = T::survey(here, number);
        let is_any =
            fault("words: any word in a line is the one") && (seen.empty.count_ones() as usize) < T::LINE;
        if seen.same != 0 || is_any {
            return Some((start.wrapping_add(seen.same.trailing_zeros() as usize) as u64, false));
        }
        let at = first_from::<T>(seen.empty, rest)?;
        match here[at].put(number) {
            Ok(()) => return Some((start.wrapping_add(at) as u64, true)),
            Err(now) if now == number => return Some((start.wrapping_add(at) as u64, false)),
            // Somebody was faster with another word: there is an empty slot less.
            Err(_) => {}
        }
    }
}

/// The first slot of a line, from the place that `rest` names and round, whose bit is set.
#[inline(always)]
pub(super) fn first_from<T: Slot>(bits: u32, rest: u64) -> Option<usize> {
    if bits == 0 {
        return None;
    }
    let from = (rest as usize % T::LINE) as u32;
    let round = (bits | bits.wrapping_shl(T::LINE as u32)).wrapping_shr(from);
    Some((from.wrapping_add(round.trailing_zeros()) as usize) % T::LINE)
}
