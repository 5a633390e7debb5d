//! The table: which ids carry which tag, found or put in one pass with one compare-exchange.
//!
//! In: a 32-bit tag of a key, a way to compare the key with the record of an id, a way to write the
//! record. Out: the id of the key, and whether it is new; exactly one caller per key hears "new".
//! `Visited` alone uses it, for a caller must be inside the gate. Never here: keys. The table knows tags and ids; records belong to its users.
//! Protocol, memory orderings and proof: `README.md` beside this file.

pub mod gate;

use crate::Trouble;
use crate::faults::fault;
use crate::memory::{Meter, Pages, Zeros, prefetch_to_write};
use crate::shim::{AtomicBool, AtomicU32, AtomicU64, Ordering, Padded, UnsafeCell};
use std::sync::Arc;

/// Parts grow one after the other, so that a growth needs little memory beyond the new table; few
/// enough that those of a large table fill huge pages.
pub(crate) const PARTS: u32 = if cfg!(loom) { 1 } else { 16 };
pub(crate) const PART_BITS: u32 = PARTS.trailing_zeros();
/// Slots of a line: one cache line of words.
const LINE: usize = if cfg!(loom) { 2 } else { 8 };

/// By how much a table grows: the larger it is, the more its memory matters against the time to
/// move it. A large one is always more than four fifths full.
fn growth(lines: u32) -> u32 {
    let more = match slots_of(lines) {
        0..0x40_0000 => lines,
        0x40_0000..0x100_0000 => lines / 4,
        _ => lines / 8,
    };
    more.max(1)
}

/// One part: lines of slots. A slot is 0 or `tag << 32 | id + 1`, and is written once.
struct Part {
    slots: Zeros<AtomicU64>,
    lines: u32,
}

pub(crate) struct Table {
    /// Read inside the gate, replaced by the tasks of a growth.
    parts: Box<[UnsafeCell<Part>]>,
    /// The first id that nobody holds. Alone on its cache lines: what stands beside it is read for every state.
    next: Padded<AtomicU32>,
    /// Ids below this may be handed out before the table must grow: 23 in 25 slots.
    room: AtomicU32,
    /// Lines per part now, and after the growth under way (0: this table does not grow).
    lines: AtomicU32,
    target: AtomicU32,
    /// Somebody could not insert.
    wanted: AtomicBool,
    /// A task of a growth was refused its memory.
    refused: AtomicBool,
    /// Which bits of a tag are used; fewer than all only in tests of collisions.
    mask: u32,
    /// Ids that are handed out at most: all that 32 bits can number, fewer only in tests.
    most: u32,
    meter: Arc<Meter>,
}

// SAFETY: `parts` is read only inside the gate and written only by the tasks of a growth, each part
// by one task, while nobody is inside (README.md, "Growth"); everything else is atomic.
unsafe impl Sync for Table {}

/// Ids held by one worker and not yet used, or room for words that need no ids.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    next: u64,
    end: u64,
}

impl Ids {
    /// The ids from `next` on, below `end`.
    pub fn of(next: u64, end: u64) -> Ids {
        Ids { next, end }
    }

    pub fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// Uses one of them.
    #[inline(always)]
    pub fn spend(&mut self) {
        assert!(self.next < self.end, "inserting without an id in reserve");
        self.next += 1;
    }

    /// Gives the others back to a counter: really, if nothing was handed out since; otherwise they stay unused for ever.
    pub fn give_back(&mut self, counter: &AtomicU64) {
        let _ = counter.compare_exchange(self.end, self.next, Ordering::AcqRel, Ordering::Relaxed);
        *self = Ids::default();
    }
}

/// The id of a key, and whether this call put it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: u32,
    pub fresh: bool,
}

/// The table must grow before the key can be put; the caller leaves the gate and grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Table {
    /// A table with room for about `slots` slots; outside tests `tag_bits` is 32 and `most` is `MOST_IDS`.
    pub fn new(slots: usize, tag_bits: u32, most: u32, meter: &Arc<Meter>) -> Result<Table, Trouble> {
        let lines = slots.div_ceil(LINE * PARTS as usize).clamp(1, 1 << 26) as u32;
        let parts = (0..PARTS)
            .map(|_| Ok(UnsafeCell::new(Part::new(lines, meter)?)))
            .collect::<Result<Box<[_]>, Trouble>>()?;
        Ok(Table {
            parts,
            next: Padded(AtomicU32::new(0)),
            room: AtomicU32::new(room(lines).min(most)),
            lines: AtomicU32::new(lines),
            target: AtomicU32::new(0),
            wanted: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            most,
            mask: if tag_bits == 0 { 0 } else { u32::MAX << (32 - tag_bits.min(32)) },
            meter: meter.clone(),
        })
    }

    /// The first id nobody holds: all ids in use are below it.
    pub fn bound(&self) -> u32 {
        self.next.0.load(Ordering::Acquire)
    }

    /// Hands up to `count` ids to a worker that has none left.
    pub fn reserve(&self, ids: &mut Ids, count: u32) -> Result<std::ops::Range<u32>, Full> {
        debug_assert!(ids.is_empty());
        let room = self.room.load(Ordering::Relaxed);
        let taken = self.next.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| {
            (next < room).then(|| next + count.clamp(1, room - next))
        });
        match taken {
            Ok(next) => {
                let end = next + count.clamp(1, room - next);
                *ids = Ids::of(next.into(), end.into());
                Ok(next..end)
            }
            Err(_) => {
                self.wanted.store(true, Ordering::Relaxed);
                Err(Full)
            }
        }
    }

    /// Takes back what a worker did not use.
    pub fn give_back(&self, ids: &mut Ids) {
        let Ids { next, end } = std::mem::take(ids);
        let _ = self.next.0.compare_exchange(end as u32, next as u32, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Where the key of `tag` would be looked for first.
    #[inline(always)]
    pub fn prefetch(&self, tag: u32) {
        let tag = tag & self.mask;
        self.parts[part_of(tag)].with(|part| {
            // SAFETY: callers are inside the gate, so no growth replaces the part meanwhile.
            let part = unsafe { &*part };
            prefetch_to_write(&part.slots[part.home(tag) * LINE]);
        });
    }

    /// Finds the key or puts it. `same(id)` compares the key with the record of `id`; `write(id)`
    /// writes the record of an id that nobody else knows yet. The caller is inside the gate and
    /// holds at least one id in `ids`, with storage for its record.
    #[inline]
    pub fn find_or_put(
        &self,
        ids: &mut Ids,
        tag: u32,
        same: impl Fn(u32) -> bool,
        write: impl Fn(u32),
    ) -> Result<Entry, Full> {
        let tag = tag & self.mask;
        self.parts[part_of(tag)].with(|part| {
            // SAFETY: as in `prefetch`.
            let part = unsafe { &*part };
            let mut line = part.home(tag);
            let mut written = false;
            for _ in 0..part.lines {
                let slots = &part.slots[line * LINE..(line + 1) * LINE];
                for step in 0..LINE {
                    let slot = &slots[(tag as usize + step) % LINE];
                    // Acquire: the record of the id in it is visible; partner: the exchange below.
                    let mut word = slot.load(Ordering::Acquire);
                    if word == 0 {
                        assert!(ids.next < ids.end, "inserting without an id in reserve");
                        let id = ids.next as u32;
                        if !written {
                            write(id);
                            written = true;
                        }
                        let entry = (tag as u64) << 32 | (id as u64 + 1);
                        match slot.compare_exchange(0, entry, Ordering::AcqRel, Ordering::Acquire) {
                            Ok(_) => {
                                ids.next += 1;
                                return Ok(Entry { id, fresh: true });
                            }
                            // Somebody was faster: look at the same slot again.
                            Err(now) => word = now,
                        }
                    }
                    if (word >> 32) as u32 == tag || fault("table: any key in a slot is the one") {
                        let id = word as u32 - 1;
                        if same(id) || fault("table: any key in a slot is the one") {
                            return Ok(Entry { id, fresh: false });
                        }
                    }
                }
                line += 1;
                if line == part.lines as usize {
                    line = 0;
                }
            }
            self.wanted.store(true, Ordering::Relaxed);
            Err(Full)
        })
    }

    /// Finds the key without putting it.
    pub fn find(&self, tag: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        let tag = tag & self.mask;
        self.parts[part_of(tag)].with(|part| {
            // SAFETY: as in `prefetch`.
            let part = unsafe { &*part };
            let home = part.home(tag);
            for step in 0..part.lines as usize {
                let line = (home + step) % part.lines as usize;
                let slots = &part.slots[line * LINE..(line + 1) * LINE];
                for step in 0..LINE {
                    let word = slots[(tag as usize + step) % LINE].load(Ordering::Acquire);
                    if word == 0 {
                        return None;
                    }
                    if (word >> 32) as u32 == tag && same(word as u32 - 1) {
                        return Some(word as u32 - 1);
                    }
                }
            }
            None
        })
    }

    /// Entries by counting the slots in use: slow, and independent of every counter.
    pub fn count(&self) -> u64 {
        let count_part = |part: &UnsafeCell<Part>| {
            part.with(|part| {
                // SAFETY: as in `prefetch`.
                let part = unsafe { &*part };
                part.slots.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count() as u64
            })
        };
        self.parts.iter().map(count_part).sum()
    }

    /// Every entry as tag and id. The caller is inside the gate, and nobody inserts meanwhile.
    pub fn each(&self, mut f: impl FnMut(u32, u32) -> std::io::Result<()>) -> std::io::Result<()> {
        for part in &self.parts {
            part.with(|part| {
                // SAFETY: as in `prefetch`.
                let part = unsafe { &*part };
                for slot in part.slots.iter() {
                    let word = slot.load(Ordering::Acquire);
                    if word != 0 {
                        f((word >> 32) as u32, word as u32 - 1)?;
                    }
                }
                Ok::<(), std::io::Error>(())
            })?;
        }
        Ok(())
    }

    /// Prepares a table for the entries of another one whose ids were all below `bound`: they
    /// count as handed out from now on, and `put_at` puts them.
    pub fn take_ids(&mut self, bound: u32) -> Result<(), Trouble> {
        let slots = u64::from(bound) * 25 / 23 + 1;
        let lines = slots.div_ceil(LINE as u64 * u64::from(PARTS)) + 1;
        let lines = u32::try_from(lines).map_err(|_| Trouble::OutOfIds)?;
        if lines > self.lines.load(Ordering::Relaxed) {
            self.widen(lines)?;
        }
        self.next.0.store(bound, Ordering::Release);
        Ok(())
    }

    /// Puts a key under an id that `take_ids` covers; false if the key is there already.
    pub fn put_at(
        &mut self,
        id: u32,
        tag: u32,
        same: impl Fn(u32) -> bool,
        write: impl Fn(u32),
    ) -> Result<bool, Trouble> {
        loop {
            let mut ids = Ids::of(id.into(), u64::from(id) + 1);
            if let Ok(entry) = self.find_or_put(&mut ids, tag, &same, &write) {
                return Ok(entry.fresh);
            }
            // The parts of a small table are filled unevenly; this one is full.
            let lines = self.lines.load(Ordering::Relaxed);
            self.widen(lines + growth(lines))?;
        }
    }

    fn widen(&mut self, lines: u32) -> Result<(), Trouble> {
        for part in &mut self.parts {
            let new = Part::new(lines, &self.meter)?;
            // SAFETY: the table is borrowed exclusively, so nobody is inside.
            part.with_mut(|old| unsafe {
                new.take_over(&*old);
                *old = new;
            });
        }
        self.lines.store(lines, Ordering::Relaxed);
        self.room.store(room(lines).min(self.most), Ordering::Relaxed);
        self.wanted.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// First step of a growth, nobody being inside: decides the new size.
    pub fn plan_growth(&self) -> Result<(), Trouble> {
        self.target.store(0, Ordering::Relaxed);
        self.refused.store(false, Ordering::Relaxed);
        if !self.wanted.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let lines = self.lines.load(Ordering::Relaxed);
        if self.room.load(Ordering::Relaxed) >= self.most {
            return Err(Trouble::OutOfIds);
        }
        // Parts move one after the other, so that a growth takes what is added and one part more. Near
        // the limit a smaller growth is better than none; what is left is for the records.
        let mut more = growth(lines);
        let bytes = |more: u32| slots_of(more) * 8 + slots_of(lines + more) * 8 / u64::from(PARTS);
        while more > lines / 16 && bytes(more) > self.meter.room() / 2 {
            more /= 2;
        }
        self.target.store(lines + more.max(1), Ordering::Relaxed);
        Ok(())
    }

    /// Second step: moves one part to its new size. Every part is moved by one worker.
    pub fn grow_part(&self, part: u32) {
        let lines = self.target.load(Ordering::Relaxed);
        if lines == 0 || self.refused.load(Ordering::Relaxed) {
            return;
        }
        let Ok(new) = Part::new(lines, &self.meter) else {
            self.refused.store(true, Ordering::Relaxed);
            return;
        };
        self.parts[part as usize].with_mut(|old| {
            // SAFETY: nobody is inside the gate, and this worker alone took the task of this part.
            let old = unsafe { &mut *old };
            new.take_over(old);
            *old = new;
        });
    }

    /// Last step, after all parts: makes the new room known. Parts that were refused memory keep
    /// their old size, which stays correct: each part knows its own lines.
    pub fn finish_growth(&self) -> Result<(), Trouble> {
        let lines = self.target.swap(0, Ordering::Relaxed);
        if self.refused.load(Ordering::Relaxed) {
            return Err(Trouble::OutOfMemory);
        }
        if lines != 0 {
            self.lines.store(lines, Ordering::Relaxed);
            self.room.store(room(lines).min(self.most), Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Part {
    fn new(lines: u32, meter: &Arc<Meter>) -> Result<Part, Trouble> {
        Ok(Part { slots: Zeros::new(lines as usize * LINE, Pages::Full, meter)?, lines })
    }

    /// The first line of a tag: monotone in the tag, so that a growth reads and writes in order.
    #[inline(always)]
    fn home(&self, tag: u32) -> usize {
        ((((tag << PART_BITS) as u64) * self.lines as u64) >> 32) as usize
    }

    fn take_over(&self, old: &Part) {
        for slot in old.slots.iter().skip(fault("table: growing loses a slot").into()) {
            let word = slot.load(Ordering::Relaxed);
            if word == 0 {
                continue;
            }
            let tag = (word >> 32) as u32;
            let mut line = self.home(tag);
            // The search path of the key, as in `find_or_put`.
            'put: loop {
                let slots = &self.slots[line * LINE..(line + 1) * LINE];
                for step in 0..LINE {
                    let slot = &slots[(tag as usize + step) % LINE];
                    if slot.load(Ordering::Relaxed) == 0 {
                        slot.store(word, Ordering::Relaxed);
                        break 'put;
                    }
                }
                line = if line + 1 == self.lines as usize { 0 } else { line + 1 };
            }
        }
    }
}

#[inline(always)]
fn part_of(tag: u32) -> usize {
    if PART_BITS == 0 { 0 } else { (tag >> ((32 - PART_BITS) & 31)) as usize }
}

fn slots_of(lines: u32) -> u64 {
    lines as u64 * LINE as u64 * PARTS as u64
}

fn room(lines: u32) -> u32 {
    u32::try_from(slots_of(lines) * 23 / 25).unwrap_or(MOST_IDS).clamp(1, MOST_IDS)
}

/// Ids that a table hands out at most.
pub const MOST_IDS: u32 = u32::MAX - 2;
