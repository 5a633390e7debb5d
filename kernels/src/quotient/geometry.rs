//! How permuted words are spread over the lines of a part.
//!
//! In: words without the bits that their part tells. Out: home lines, and numbers for slots.
//! Never here: parts, growth.

use super::MOST;
use super::lines::{Slot, find_or_put_in_line, first_from};
use crate::faults::fault;
use crate::shim::{AtomicU32, AtomicU64};
use crate::table::PARTS;

/// Lines beyond its home line that a word may stand: more would make lookups slow, and a growth is due.
const REACH: u64 = 63;
/// Lines that a narrow slot must be able to tell apart; else slots are wide.
const LEAST_REACH: u64 = if cfg!(loom) { 1 } else { 15 };
/// Slots below which the memory of a table matters less than the time of its lookups.
pub(super) const SMALL: u64 = 1 << 22;

/// How the words of a part are spread over its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) lines: u64,
    /// Words whose home is one line, side by side in the order of permuted words.
    pub(super) span: u64,
    /// 2^64 / `span`, rounded down: division by multiplication.
    pub(super) inverse: u64,
    /// How many lines beyond its home a word may stand.
    pub(super) reach: u64,
    pub(super) narrow: bool,
}

impl Geometry {
    /// For words of `bits` bits and at least `slots` slots, unless fewer can hold them all.
    pub(super) fn new(bits: u32, slots: u64) -> Geometry {
        let narrow = Geometry::of(bits, slots, true);
        if narrow.reach >= LEAST_REACH { narrow } else { Geometry::of(bits, slots, false) }
    }

    fn of(bits: u32, slots: u64, narrow: bool) -> Geometry {
        let words = 1u64 << bits;
        let (line, largest) = match narrow {
            true => (AtomicU32::LINE as u64, u64::from(u32::MAX)),
            false => (AtomicU64::LINE as u64, u64::MAX),
        };
        let lines = slots.div_ceil(line).min(words.div_ceil(line)).max(1);
        let span = words.div_ceil(lines);
        // Numbers in slots are 1 + distance * span + rest.
        let reach = ((largest - 1) / span).saturating_sub(1).min(REACH);
        Geometry { lines: words.div_ceil(span), span, inverse: u64::MAX / span, reach, narrow }
    }

    pub(super) fn line(&self) -> u64 {
        if self.narrow { AtomicU32::LINE as u64 } else { AtomicU64::LINE as u64 }
    }

    pub(super) fn slots(&self) -> u64 {
        self.lines * self.line()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.slots() * if self.narrow { 4 } else { 8 }
    }

    /// Words that all parts together may hold before they must grow: 23 in 25 slots, 4 in 5 of a small table or of one that `has_plenty` of memory,
    /// or all there are.
    pub(super) fn room(&self, bits: u32, has_plenty: bool) -> u64 {
        if self.span <= self.line() && self.lines * self.span >= 1 << bits {
            return MOST;
        }
        let slots = self.slots() * u64::from(PARTS);
        let most = if slots < SMALL || has_plenty { slots * 4 / 5 } else { slots * 23 / 25 };
        most.clamp(1, MOST - 1)
    }

    /// The home line of a word and its rest.
    #[inline(always)]
    pub(super) fn home(&self, within: u64) -> (u64, u64) {
        // The quotient is rounded down, so nothing here wraps.
        let mut line = ((u128::from(within) * u128::from(self.inverse)) >> 64) as u64;
        let mut rest = within.wrapping_sub(line.wrapping_mul(self.span));
        while rest >= self.span {
            line = line.wrapping_add(1);
            rest = rest.wrapping_sub(self.span);
        }
        (line, rest)
    }

    /// The line after this one.
    #[inline(always)]
    pub(super) fn next(&self, line: u64) -> u64 {
        let next = line.wrapping_add(1);
        if next == self.lines { 0 } else { next }
    }

    /// The slot of the word with this home line and rest, and whether it was put there now; `None` if it has no room within
    /// its reach.
    #[inline(always)]
    pub(super) fn find_or_put<T: Slot>(&self, slots: &[T], home: u64, rest: u64) -> Option<(u64, bool)> {
        match find_or_put_in_line(slots, home, rest, rest.wrapping_add(1)) {
            Some(found) => Some(found),
            None => self.find_or_put_beyond(slots, home, rest),
        }
    }

    /// The same for a word whose home line is full. PERF: apart, because most words stand in their home lines.
    #[cold]
    #[inline(never)]
    fn find_or_put_beyond<T: Slot>(&self, slots: &[T], home: u64, rest: u64) -> Option<(u64, bool)> {
        let (mut line, mut number) = (home, rest + 1);
        for _ in 0..self.reach.min(self.lines - 1) {
            number += self.span;
            line = self.next(line);
            let found = find_or_put_in_line(slots, line, rest, number);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    pub(super) fn find<T: Slot>(&self, slots: &[T], within: u64) -> Option<u64> {
        let (home, rest) = self.home(within);
        for distance in 0..=self.reach.min(self.lines - 1) {
            let start = ((home + distance) % self.lines) as usize * T::LINE;
            for step in 0..T::LINE {
                let at = start + (rest as usize + step) % T::LINE;
                match slots[at].look() {
                    0 => return None,
                    found if found == distance * self.span + rest + 1 => return Some(at as u64),
                    _ => {}
                }
            }
        }
        None
    }

    /// Puts all words of a part that is laid out as `shape` says, in order; false if they do not fit.
    pub(super) fn take_over<T: Slot, U: Slot>(&self, slots: &[T], shape: &Geometry, from: &[U]) -> bool {
        shape.all(from, |within| self.put_alone(slots, within))
    }

    /// Every word of a part, without the bits that its part tells.
    pub(super) fn each<T: Slot>(&self, slots: &[T], mut f: impl FnMut(u64)) {
        self.all(slots, |within| {
            f(within);
            true
        });
    }

    /// Whether a test holds of every word of a part, in order, up to the first of which it does not.
    #[inline(always)]
    fn all<T: Slot>(&self, slots: &[T], mut test: impl FnMut(u64) -> bool) -> bool {
        let lost = usize::from(fault("words: the first line is not read back"));
        slots.chunks_exact(T::LINE).zip(0..self.lines).skip(lost).all(|(line, home)| {
            let first = home * self.span;
            line.iter().all(|slot| match slot.look().checked_sub(1) {
                None => true,
                // PERF: most words stand at home, which is seen without a division.
                Some(rest) if rest < self.span => test(
                    first.wrapping_add(rest)
                        ^ u64::from(fault("words: a word is read back as its neighbour")),
                ),
                Some(number) => test(self.word(home, number)),
            })
        })
    }

    /// Puts a word that is not there, while nobody else looks; false if it has no room within its reach.
    #[inline]
    fn put_alone<T: Slot>(&self, slots: &[T], within: u64) -> bool {
        let (mut line, rest) = self.home(within);
        let mut number = rest.wrapping_add(1);
        for _ in 0..=self.reach.min(self.lines - 1) {
            let start = line as usize * T::LINE;
            let here = &slots[start..start + T::LINE];
            if let Some(at) = first_from::<T>(T::survey(here, 0).empty, rest) {
                here[at].put_alone(number);
                return true;
            }
            // Beyond the last line the number means nothing any more.
            number = number.wrapping_add(self.span);
            line = self.next(line);
        }
        false
    }

    /// The permuted word in a slot, without the bits that its part tells.
    #[inline]
    pub(super) fn within<T: Slot>(&self, slots: &[T], at: u64) -> Option<u64> {
        let number = slots[at as usize].look().checked_sub(1)?;
        Some(self.word(at / T::LINE as u64, number))
    }

    /// The permuted word that stands in a line as this number (less by one than what the slot holds).
    #[inline]
    fn word(&self, line: u64, number: u64) -> u64 {
        let (distance, rest) = self.home(number);
        let home = if line >= distance { line - distance } else { line + self.lines - distance };
        home * self.span + rest
    }
}
