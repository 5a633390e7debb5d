//! A visited set as bytes, for searches that are saved and resumed.
//!
//! In: a set that nobody works on, or the bytes of one. Out: the bytes, or the set with every id as it
//! was: predecessors, claims and edges speak of ids, so none of them has to be translated.
//! Never here: files, checksums, what a state means.
//!
//! Entries are written in the order of the slots, which is the order in which they are put most cheaply.

use crate::Trouble;
use crate::chunks::Chunks;
use crate::fold::{Interner, tag_of};
use crate::parents::Level;
use crate::shim::{AtomicU16, Ordering};
use crate::table::Table;
use crate::visited::{Session, Store, Visited};
use std::io::{self, Read, Write};

/// Why bytes did not become a set.
#[derive(Debug)]
pub enum Unreadable {
    Io(io::Error),
    /// No memory for it.
    Trouble(Trouble),
    /// What was read contradicts itself.
    Wrong(&'static str),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::Io(error)
    }
}

impl From<Trouble> for Unreadable {
    fn from(trouble: Trouble) -> Unreadable {
        Unreadable::Trouble(trouble)
    }
}

pub(crate) fn word32(from: &mut dyn Read) -> io::Result<u32> {
    let mut word = [0; 4];
    from.read_exact(&mut word)?;
    Ok(u32::from_le_bytes(word))
}

pub(crate) fn word64(from: &mut dyn Read) -> io::Result<u64> {
    let mut word = [0; 8];
    from.read_exact(&mut word)?;
    Ok(u64::from_le_bytes(word))
}

impl Session<'_> {
    /// Writes the set and its predecessors. All workers have given their ids back, and nobody but
    /// the caller is inside. `levels`: the level being filled and the one before, as far as there are.
    pub fn save(&mut self, levels: &[Level], out: &mut dyn Write) -> io::Result<()> {
        let set = self.set;
        match &set.store {
            Store::Exact { nodes, roots } => {
                save_interner(nodes, out)?;
                save_interner(roots, out)?;
            }
            Store::Hash { table, prints } => save_prints(table, prints, out)?,
            Store::Packed { .. } => panic!("a packed set has no ids to be saved"),
        }
        if let Some(satellites) = &set.satellites {
            for id in 0..set.bound() {
                out.write_all(&[satellites.of(id)[0].load(Ordering::SeqCst)])?;
            }
        }
        set.parents.save(set.bound(), levels, out)
    }
}

impl Visited {
    /// Fills an empty set of the same shape with what `Session::save` wrote.
    pub fn restore(&mut self, levels: &[Level], from: &mut dyn Read) -> Result<(), Unreadable> {
        match &mut self.store {
            Store::Exact { nodes, roots } => {
                let known = restore_interner(nodes, from, &|_| true)?;
                // A root of several words is a pair of nodes.
                let folded = self.words >= 2;
                let is_pair = |key: u64| key >> 32 < known.into() && key & 0xffff_ffff < known.into();
                restore_interner(roots, from, &|key| !folded || is_pair(key))?;
            }
            Store::Hash { table, prints } => restore_prints(table, prints, from)?,
            Store::Packed { .. } => return Err(Unreadable::Wrong("a packed set has no ids")),
        }
        let bound = self.bound();
        if let Some(satellites) = &self.satellites {
            satellites.ensure(0, bound)?;
            for id in 0..bound {
                let mut bits = [0];
                from.read_exact(&mut bits)?;
                satellites.of(id)[0].store(bits[0], Ordering::SeqCst);
            }
        }
        self.parents.restore(bound, levels, from)
    }
}

fn save_interner(interner: &Interner, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&interner.table.bound().to_le_bytes())?;
    out.write_all(&interner.table.count().to_le_bytes())?;
    interner.table.each(|_, id| {
        out.write_all(&id.to_le_bytes())?;
        out.write_all(&interner.key(id).to_le_bytes())
    })
}

fn restore_interner(
    interner: &mut Interner,
    from: &mut dyn Read,
    right: &dyn Fn(u64) -> bool,
) -> Result<u32, Unreadable> {
    let bound = word32(from)?;
    let count = word64(from)?;
    if count > bound.into() {
        return Err(Unreadable::Wrong("more entries than ids"));
    }
    interner.table.take_ids(bound)?;
    interner.keys.ensure(0, bound)?;
    for _ in 0..count {
        let (id, key) = (word32(from)?, word64(from)?);
        if id >= bound || !right(key) {
            return Err(Unreadable::Wrong("an entry out of range"));
        }
        let keys = &interner.keys;
        let same = |id| keys.of(id)[0].load(Ordering::Relaxed) == key;
        let write = |id| keys.of(id)[0].store(key, Ordering::Relaxed);
        if !interner.table.put_at(id, tag_of(key), same, write)? {
            return Err(Unreadable::Wrong("an entry that stands there twice"));
        }
    }
    Ok(bound)
}

fn save_prints(table: &Table, prints: &Chunks<AtomicU16>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&table.bound().to_le_bytes())?;
    out.write_all(&table.count().to_le_bytes())?;
    table.each(|tag, id| {
        let mut entry = [0; 14];
        entry[..4].copy_from_slice(&id.to_le_bytes());
        entry[4..8].copy_from_slice(&tag.to_le_bytes());
        for (part, kept) in entry[8..].chunks_exact_mut(2).zip(prints.of(id)) {
            part.copy_from_slice(&kept.load(Ordering::Relaxed).to_le_bytes());
        }
        out.write_all(&entry)
    })
}

fn restore_prints(
    table: &mut Table,
    prints: &Chunks<AtomicU16>,
    from: &mut dyn Read,
) -> Result<(), Unreadable> {
    let bound = word32(from)?;
    let count = word64(from)?;
    if count > bound.into() {
        return Err(Unreadable::Wrong("more entries than ids"));
    }
    table.take_ids(bound)?;
    prints.ensure(0, bound)?;
    for _ in 0..count {
        let (id, tag) = (word32(from)?, word32(from)?);
        let mut rest = [0; 6];
        from.read_exact(&mut rest)?;
        let print = [0, 2, 4].map(|i| u16::from_le_bytes([rest[i], rest[i + 1]]));
        if id >= bound {
            return Err(Unreadable::Wrong("an entry out of range"));
        }
        let same = |id| prints.of(id).iter().zip(print).all(|(k, p)| k.load(Ordering::Relaxed) == p);
        let write = |id| {
            for (kept, part) in prints.of(id).iter().zip(print) {
                kept.store(part, Ordering::Relaxed);
            }
        };
        if !table.put_at(id, tag, same, write)? {
            return Err(Unreadable::Wrong("an entry that stands there twice"));
        }
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::Meter;
    use crate::visited::{Mode, Shape};

    fn empty(mode: Mode, words: usize) -> Visited {
        let shape =
            Shape { mode, words, workers: 1, slots: 64, tag_bits: 32, satellites: true, ..Shape::default() };
        Visited::new(shape, &Meter::new(None)).unwrap()
    }

    fn state(n: u64, words: usize) -> Vec<u64> {
        (0..words as u64).map(|i| (n / (i + 1)) ^ i).collect()
    }

    fn image(mode: Mode, words: usize, count: u64) -> (Vec<u32>, Vec<u8>) {
        let set = empty(mode, words);
        let mut seat = set.seat(0);
        let mut ids = Vec::new();
        for n in 0..count {
            let mut session = set.enter(&mut seat).unwrap();
            let key = session.key(&state(n, words)).unwrap();
            ids.push(session.insert(key).unwrap().id);
            if n > 0 {
                set.parents.set(ids[n as usize], ids[n as usize / 2]);
            }
            set.mark(ids[n as usize], n as u8 % 8);
        }
        set.give_back(&mut seat);
        let mut bytes = Vec::new();
        set.enter(&mut seat).unwrap().save(&[], &mut bytes).unwrap();
        (ids, bytes)
    }

    #[test]
    fn a_set_comes_back_with_every_id_and_every_predecessor() {
        for (mode, words) in [(Mode::Exact, 1), (Mode::Exact, 5), (Mode::Hash, 3)] {
            let (ids, bytes) = image(mode, words, 40_000);
            let mut set = empty(mode, words);
            set.restore(&[], &mut &bytes[..]).unwrap();
            assert_eq!(set.count(), 40_000);
            let mut seat = set.seat(0);
            for n in 0..40_000u64 {
                let mut session = set.enter(&mut seat).unwrap();
                assert_eq!(session.find(&state(n, words)), Some(ids[n as usize]));
                assert_eq!(set.marks(ids[n as usize]), n as u8 % 8);
                let parent = (n > 0).then(|| ids[n as usize / 2]);
                assert_eq!(set.parents.get(ids[n as usize]), parent);
            }
            // It goes on: new states get new ids.
            for n in 40_000..90_000u64 {
                let mut session = set.enter(&mut seat).unwrap();
                let key = session.key(&state(n, words)).unwrap();
                let entry = session.insert(key).unwrap();
                assert!(entry.fresh && entry.id >= *ids.iter().max().unwrap());
            }
            assert_eq!(set.count(), 90_000);
        }
    }

    #[test]
    fn small_sets_come_back_however_unevenly_their_parts_are_filled() {
        for count in (1..400).step_by(19) {
            let (_, bytes) = image(Mode::Exact, 2, count);
            let mut set = empty(Mode::Exact, 2);
            set.restore(&[], &mut &bytes[..]).unwrap();
            assert_eq!(set.count(), count);
        }
    }

    #[test]
    fn bytes_that_end_early_or_contradict_themselves_are_refused() {
        for (mode, words) in [(Mode::Exact, 4), (Mode::Hash, 2)] {
            let (_, bytes) = image(mode, words, 300);
            for cut in (0..bytes.len()).step_by(97) {
                assert!(empty(mode, words).restore(&[], &mut &bytes[..cut]).is_err());
            }
            // The same entry twice.
            let mut twice = bytes.clone();
            let size = if mode == Mode::Exact { 12 } else { 14 };
            twice.copy_within(12..12 + size, 12 + size);
            let answer = empty(mode, words).restore(&[], &mut &twice[..]);
            assert!(matches!(answer, Err(Unreadable::Wrong(_))), "{answer:?}");
        }
    }
}
