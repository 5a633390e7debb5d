//! The quotient table: a set of words that keeps of each word only what its place does not tell.
//!
//! In: words of a known number of bits, as `permute` spreads them. Out: whether a word is new, and the slot
//! it stands in. `Visited` alone uses the table, for a caller must be inside the gate.
//! Never here: what a word means, predecessors, ids that survive a growth.
//!
//! The words are permuted, not hashed: the place of a permuted word (its part, its line) and what the slot
//! holds (its rest within the line, and by how many lines it was put further on) give back the word itself. So a
//! lookup touches one cache line, equality is exact, and 50 million words of 28 bits take less than 5 bytes each.
//! A slot is written once, as in `table`, and the proof there (I1 to I3, growth) holds word for word with
//! "the tag and the record" replaced by "the number in the slot": of one key there is one number for each line.

mod geometry;
mod lines;
pub mod permute;

use crate::Trouble;
use crate::memory::{Meter, Pages, Zeros, prefetch_to_write};
use crate::shim::{AtomicBool, AtomicU32, AtomicU64, Ordering, Padded, UnsafeCell};
use crate::table::{Full, Ids, PART_BITS, PARTS};
use geometry::{Geometry, SMALL};
use lines::{Slot, find_or_put_in_line};
use permute::Permutation;
use std::sync::Arc;

/// A set of words.
pub(crate) struct Quotients {
    /// Read inside the gate, replaced by the tasks of a growth.
    parts: Box<[UnsafeCell<Part>]>,
    permutation: Permutation,
    /// Words for which workers have reserved room. Alone on its cache lines: what stands beside it is read for every state.
    next: Padded<AtomicU64>,
    /// The table must grow before more than this many are reserved.
    room: AtomicU64,
    /// Slots of a part now, and those asked for in the growth under way (0: this table does not grow).
    slots: AtomicU64,
    target: AtomicU64,
    wanted: AtomicBool,
    refused: AtomicBool,
    /// Slots stay where they are: a growth is refused.
    fixed: bool,
    meter: Arc<Meter>,
}

// SAFETY: `parts` is read only inside the gate and written only by the tasks of a growth, each part by one
// task, while nobody is inside (`table/README.md`, "Growth"); everything else is atomic.
unsafe impl Sync for Quotients {}

/// Where a word is looked for first: its part, its home line there, and what tells it from others at home there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    part: u32,
    /// Lines of a part are numbered by 32 bits.
    line: u32,
    rest: u64,
}

impl Aim {
    /// The aim of a word that the set is not for.
    const ELSEWHERE: Aim = Aim { part: u32::MAX, line: 0, rest: 0 };

    #[inline(always)]
    pub(crate) fn is_elsewhere(self) -> bool {
        self.part == u32::MAX
    }
}

/// Where a word stands, and whether this call put it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    part: u32,
    /// The slot within the part.
    at: u64,
    pub fresh: bool,
}

/// One part: lines of slots, and how permuted words are spread over them.
struct Part {
    slots: Slots,
    shape: Geometry,
}

enum Slots {
    Narrow(Zeros<AtomicU32>),
    Wide(Zeros<AtomicU64>),
}

impl Quotients {
    /// A set of words below 2^`bits`, with room for about `slots` of them at first. A `fixed` set has at least so
    /// many slots, and never grows.
    pub fn new(bits: u32, slots: u64, fixed: bool, meter: &Arc<Meter>) -> Result<Quotients, Trouble> {
        let permutation = Permutation::new(bits);
        let each = slots.div_ceil(u64::from(PARTS)).max(1);
        let shape = Geometry::new(permutation.bits() - PART_BITS, each);
        let parts = (0..PARTS)
            .map(|_| Ok(UnsafeCell::new(Part::new(shape, meter)?)))
            .collect::<Result<Box<[_]>, Trouble>>()?;
        Ok(Quotients {
            parts,
            next: Padded(AtomicU64::new(0)),
            room: AtomicU64::new(match fixed {
                // Nothing is kept free where nothing can be moved.
                true => (shape.slots() * u64::from(PARTS)).min(MOST),
                false => shape.room(permutation.bits() - PART_BITS, false),
            }),
            slots: AtomicU64::new(shape.slots()),
            permutation,
            target: AtomicU64::new(0),
            wanted: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            fixed,
            meter: meter.clone(),
        })
    }

    /// Whether the set is for words like this one.
    #[inline(always)]
    pub fn takes(&self, word: u64) -> bool {
        self.permutation.takes(word)
    }

    #[inline(always)]
    pub fn spread(&self, word: u64) -> u64 {
        self.permutation.apply(word)
    }

    /// Words for which room was reserved.
    pub fn bound(&self) -> u64 {
        self.next.0.load(Ordering::Acquire)
    }

    /// All slots.
    pub fn capacity(&self) -> u64 {
        self.slots.load(Ordering::Relaxed) * u64::from(PARTS)
    }

    /// Lets a worker that has no room left put up to `count` words.
    pub fn reserve(&self, ids: &mut Ids, count: u32) -> Result<(), Full> {
        let count = u64::from(count);
        let room = self.room.load(Ordering::Relaxed);
        let taken = self.next.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| {
            (next < room).then(|| next + count.clamp(1, room - next))
        });
        match taken {
            Ok(next) => {
                *ids = Ids::of(next, next + count.clamp(1, room - next));
                Ok(())
            }
            Err(_) => {
                self.wanted.store(true, Ordering::Relaxed);
                Err(Full)
            }
        }
    }

    /// Takes back the room that a worker did not use, if nobody reserved any since.
    pub fn give_back(&self, ids: &mut Ids) {
        ids.give_back(&self.next.0);
    }

    /// Where a word is looked for first, and asks for the memory there. Good until the caller leaves the gate.
    #[inline(always)]
    pub fn aim(&self, word: u64) -> Aim {
        if !self.takes(word) {
            return Aim::ELSEWHERE;
        }
        let (number, within) = self.part_of(self.spread(word));
        self.parts[number].with(|part| {
            // SAFETY: callers are inside the gate, so no growth replaces the part meanwhile.
            let part = unsafe { &*part };
            let (line, rest) = part.shape.home(within);
            match &part.slots {
                Slots::Narrow(slots) => {
                    prefetch_to_write(&slots[(line as usize).wrapping_mul(AtomicU32::LINE)])
                }
                Slots::Wide(slots) => {
                    prefetch_to_write(&slots[(line as usize).wrapping_mul(AtomicU64::LINE)])
                }
            }
            Aim { part: number as u32, line: line as u32, rest }
        })
    }

    /// Aims at many words; `aims` is emptied before.
    #[inline(never)]
    pub fn aim_many(&self, words: &[u64], aims: &mut Vec<Aim>) {
        aims.clear();
        aims.extend(words.iter().map(|&word| self.aim(word)));
    }

    /// Finds the word that was aimed at or puts it. The caller is inside the gate since, and holds room for one word
    /// in `ids`.
    #[inline(always)]
    pub fn find_or_put(&self, ids: &mut Ids, aim: Aim) -> Result<Found, Full> {
        let found = self.parts[aim.part as usize].with(|part| {
            // SAFETY: as in `aim`.
            let part = unsafe { &*part };
            match &part.slots {
                Slots::Narrow(slots) => part.shape.find_or_put(slots, aim.line.into(), aim.rest),
                Slots::Wide(slots) => part.shape.find_or_put(slots, aim.line.into(), aim.rest),
            }
        });
        match found {
            Some((at, fresh)) => {
                if fresh {
                    ids.spend();
                }
                Ok(Found { part: aim.part, at, fresh })
            }
            None => {
                self.wanted.store(true, Ordering::Relaxed);
                Err(Full)
            }
        }
    }

    /// Finds or puts the words that were aimed at, one after the other, until one needs more than the room in `ids` or another
    /// set; says how many. New ones are told by their places in the list, the first of which is `first`, and so are, in `later`, words whose
    /// home lines are full: they are looked for further on by `find_or_put`, and the memory there was asked for. The
    /// caller is inside the gate since the aiming. PERF: a function of its own, or the loop would not stay in registers.
    #[inline(never)]
    pub fn find_or_put_many(
        &self,
        ids: &mut Ids,
        aims: &[Aim],
        first: usize,
        fresh: &mut Vec<u32>,
        later: &mut Vec<u32>,
    ) -> usize {
        for (done, aim) in aims.iter().enumerate() {
            if aim.is_elsewhere() || ids.is_empty() {
                return done;
            }
            match self.find_or_put_at_home(*aim) {
                Some(true) => {
                    ids.spend();
                    fresh.push(first.wrapping_add(done) as u32);
                }
                Some(false) => {}
                None => later.push(first.wrapping_add(done) as u32),
            }
        }
        aims.len()
    }

    /// Finds or puts a word in its home line, and says whether it is new; `None` if the line is full of others.
    #[inline(always)]
    fn find_or_put_at_home(&self, aim: Aim) -> Option<bool> {
        self.parts[aim.part as usize].with(|part| {
            // SAFETY: as in `aim`.
            let part = unsafe { &*part };
            match &part.slots {
                Slots::Narrow(slots) => at_home(slots, &part.shape, aim),
                Slots::Wide(slots) => at_home(slots, &part.shape, aim),
            }
        })
    }

    /// The slot of a word that was found.
    #[inline]
    pub fn slot(&self, found: Found) -> u64 {
        u64::from(found.part) * self.slots.load(Ordering::Relaxed) + found.at
    }

    /// The slot of a word, if it is in the set. The caller is inside the gate.
    pub fn find(&self, word: u64) -> Option<u64> {
        let (number, within) = self.part_of(self.spread(word));
        let at = self.parts[number].with(|part| {
            // SAFETY: as in `aim`.
            let part = unsafe { &*part };
            match &part.slots {
                Slots::Narrow(slots) => part.shape.find(slots, within),
                Slots::Wide(slots) => part.shape.find(slots, within),
            }
        });
        at.map(|at| number as u64 * self.slots.load(Ordering::Relaxed) + at)
    }

    /// The word in a slot that was told to the caller; for fixed sets.
    pub fn word(&self, slot: u64) -> Option<u64> {
        let each = self.slots.load(Ordering::Relaxed);
        let (part, at) = (slot / each, slot % each);
        self.parts[part as usize].with(|found| {
            // SAFETY: as in `aim`.
            let found = unsafe { &*found };
            let within = match &found.slots {
                Slots::Narrow(slots) => found.shape.within(slots, at),
                Slots::Wide(slots) => found.shape.within(slots, at),
            };
            within.map(|within| self.join(part as usize, within))
        })
    }

    /// Every word of a part, in no order that means anything. Nobody may be putting any.
    pub fn each_in(&self, number: usize, mut f: impl FnMut(u64)) {
        self.parts[number].with(|part| {
            // SAFETY: as in `aim`.
            let part = unsafe { &*part };
            let mut found = |within| f(self.join(number, within));
            match &part.slots {
                Slots::Narrow(slots) => part.shape.each(slots, &mut found),
                Slots::Wide(slots) => part.shape.each(slots, &mut found),
            }
        });
    }

    /// Words by counting the slots in use: slow, and independent of every counter.
    pub fn count(&self) -> u64 {
        let count_part = |part: &UnsafeCell<Part>| {
            part.with(|part| {
                // SAFETY: as in `aim`.
                let part = unsafe { &*part };
                match &part.slots {
                    Slots::Narrow(slots) => slots.iter().filter(|slot| slot.look() != 0).count() as u64,
                    Slots::Wide(slots) => slots.iter().filter(|slot| slot.look() != 0).count() as u64,
                }
            })
        };
        self.parts.iter().map(count_part).sum()
    }

    /// First step of a growth, nobody being inside: decides the new size.
    pub fn plan_growth(&self) -> Result<(), Trouble> {
        self.target.store(0, Ordering::Relaxed);
        self.refused.store(false, Ordering::Relaxed);
        if !self.wanted.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let slots = self.slots.load(Ordering::Relaxed);
        if self.fixed || self.room.load(Ordering::Relaxed) >= MOST - 1 {
            return Err(Trouble::OutOfIds);
        }
        // Parts move one after the other, so that a growth takes what is added and one part more.
        // PERF: where a table grows to four times its size every word is moved once in three times on the average, to twice its size once,
        // by a quarter four times.
        let bits = self.permutation.bits() - PART_BITS;
        let mut more = match slots * u64::from(PARTS) {
            0..0x10_0000 => slots * 3,
            0x10_0000..SMALL => slots,
            _ if self.is_small_for_memory(Geometry::new(bits, 2 * slots)) => slots,
            _ => slots / 4,
        };
        let bytes = |more: u64| {
            let shape = Geometry::new(bits, slots + more);
            let before = Geometry::new(bits, slots).bytes() * u64::from(PARTS);
            (shape.bytes() * u64::from(PARTS)).saturating_sub(before) + shape.bytes()
        };
        while more > slots / 16 && bytes(more) > self.meter.room() / 4 * 3 {
            more /= 2;
        }
        self.target.store(slots + more.max(1), Ordering::Relaxed);
        Ok(())
    }

    /// Second step: moves one part to its new size. Every part is moved by one worker.
    pub fn grow_part(&self, part: u32) {
        let target = self.target.load(Ordering::Relaxed);
        if target == 0 || self.refused.load(Ordering::Relaxed) {
            return;
        }
        let bits = self.permutation.bits() - PART_BITS;
        self.parts[part as usize].with_mut(|old| {
            // SAFETY: nobody is inside the gate, and this worker alone took the task of this part.
            let old = unsafe { &mut *old };
            let mut slots = target;
            loop {
                let Ok(new) = Part::new(Geometry::new(bits, slots), &self.meter) else {
                    self.refused.store(true, Ordering::Relaxed);
                    return;
                };
                if new.take_over(old) {
                    *old = new;
                    return;
                }
                // Too many words want to stand near each other: this part gets more lines than asked for.
                slots += slots / 4 + 1;
            }
        });
    }

    /// Last step, after all parts: makes the new room known. A part that was refused memory keeps its old
    /// size, which stays correct: each part knows its own lines.
    pub fn finish_growth(&self) -> Result<(), Trouble> {
        let target = self.target.swap(0, Ordering::Relaxed);
        if self.refused.load(Ordering::Relaxed) {
            return Err(Trouble::OutOfMemory);
        }
        if target != 0 {
            let shape = Geometry::new(self.permutation.bits() - PART_BITS, target);
            self.slots.store(shape.slots(), Ordering::Relaxed);
            let room = shape.room(self.permutation.bits() - PART_BITS, self.is_small_for_memory(shape));
            self.room.store(room, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether parts of this shape are small for the memory there is: then more slots stay empty, for words that do not stand in their home
    /// lines cost a second look at memory.
    fn is_small_for_memory(&self, shape: Geometry) -> bool {
        self.meter.has_plenty(shape.bytes() * u64::from(PARTS))
    }

    #[inline(always)]
    fn part_of(&self, spread: u64) -> (usize, u64) {
        let bits = self.permutation.bits().wrapping_sub(PART_BITS);
        if PART_BITS == 0 {
            (0, spread)
        } else {
            // PERF: shifts without a test, for every permutation has more bits than there are for parts and at most 64.
            (spread.wrapping_shr(bits) as usize, spread & !u64::MAX.wrapping_shl(bits))
        }
    }

    fn join(&self, part: usize, within: u64) -> u64 {
        let bits = self.permutation.bits() - PART_BITS;
        self.permutation.undo(if PART_BITS == 0 { within } else { (part as u64) << bits | within })
    }
}

impl Part {
    fn new(shape: Geometry, meter: &Arc<Meter>) -> Result<Part, Trouble> {
        let slots = usize::try_from(shape.slots()).map_err(|_| Trouble::OutOfMemory)?;
        let slots = match shape.narrow {
            true => Slots::Narrow(Zeros::new(slots, Pages::Full, meter)?),
            false => Slots::Wide(Zeros::new(slots, Pages::Full, meter)?),
        };
        Ok(Part { slots, shape })
    }

    /// Puts all words of `old`, in order; false if they do not fit.
    fn take_over(&self, old: &Part) -> bool {
        match (&old.slots, &self.slots) {
            (Slots::Narrow(from), Slots::Narrow(to)) => self.shape.take_over(to, &old.shape, from),
            (Slots::Narrow(from), Slots::Wide(to)) => self.shape.take_over(to, &old.shape, from),
            (Slots::Wide(from), Slots::Narrow(to)) => self.shape.take_over(to, &old.shape, from),
            (Slots::Wide(from), Slots::Wide(to)) => self.shape.take_over(to, &old.shape, from),
        }
    }
}

/// Finds or puts a word in its home line; if that is full, asks for the memory of the next one.
#[inline(always)]
fn at_home<T: Slot>(slots: &[T], shape: &Geometry, aim: Aim) -> Option<bool> {
    let found = find_or_put_in_line(slots, aim.line.into(), aim.rest, aim.rest.wrapping_add(1));
    if found.is_none() {
        prefetch_to_write(&slots[(shape.next(aim.line.into()) as usize).wrapping_mul(T::LINE)]);
    }
    found.map(|(_, fresh)| fresh)
}

/// Words that any table may hold: the lines of each part are numbered by 32 bits (`Aim`).
const MOST: u64 = 1 << 38;

#[cfg(all(test, not(loom)))]
mod tests;
