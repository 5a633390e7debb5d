//! Visited set: which packed states were seen, and the id each one got.
//!
//! In: packed states of a fixed number of words. Out: an id, stable and dense but for ids that
//! workers reserved and never used, and whether the state is new.
//! Never here: what a state means, who waits for it, when a run ends.
//! Protocol and memory-ordering argument: `table/README.md`.
//!
//! `Mode::Exact` keeps whole states, folded to one word without loss (`fold`): no hash ever makes two
//! states one. `Mode::Hash` keeps 80
//! bits of the 128-bit hash of a state: two states that agree in them are taken for one.

use crate::Trouble;
use crate::chunks::Chunks;
use crate::distant::Distant;
use crate::fold::{Familiar, Fold, Interner, Stuck, find_root, small_root, tag_of, unfold};
use crate::hash;
use crate::memory::Meter;
use crate::parents::{Level, Parents};
use crate::shim::{AtomicBool, AtomicU8, AtomicU16, Ordering};
use crate::table::gate::Gate;
use crate::table::{Entry, Ids, PARTS, Table};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Exact,
    Hash,
}

/// Bits of a state's hash that `Mode::Hash` keeps: 32 in the slot, 48 in the record.
pub const KEPT_BITS: u32 = 80;

/// Words of a state from which on its tree is so deep that folding its source as well pays: with 42 words 11 % of
/// the time of a search, with 3 words it costs as much.
const WIDE: usize = 6;

/// How a set is laid out at the start.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub mode: Mode,
    /// Words of a state.
    pub words: usize,
    pub workers: usize,
    /// Slots at the start.
    pub slots: usize,
    /// Bits of a key's hash that decide where it is put in `Mode::Exact`: 32, fewer in tests.
    pub tag_bits: u32,
    /// Whether states have satellite bits, see `Visited::mark`; one byte per state.
    pub satellites: bool,
}

pub struct Visited {
    gate: Gate,
    /// Which seats are in use, and a number that no other set has: together they make sure that
    /// each flag of the gate has one writer.
    taken: Box<[AtomicBool]>,
    number: u64,
    pub(crate) store: Store,
    pub(crate) words: usize,
    pub parents: Parents,
    /// In a search on several machines: predecessors by fingerprint, instead of `parents`.
    pub distant: Option<Distant>,
    pub(crate) satellites: Option<Chunks<AtomicU8>>,
    /// What the set itself uses, apart from the rest of the run.
    own: Arc<Meter>,
}

pub(crate) enum Store {
    Exact { nodes: Interner, roots: Interner },
    Hash { table: Table, prints: Chunks<AtomicU16> },
}

/// What belongs to one worker: its reserved ids and the state that others are folded against.
pub struct Seat {
    worker: usize,
    /// The number of the set it belongs to.
    set: u64,
    ids: Ids,
    node_ids: Ids,
    /// Ids to reserve at a time.
    pub block: u32,
    /// The level that is being filled, if the search has levels.
    pub level: Option<Level>,
    base: Fold,
    /// States whose roots are known; none if states are not folded.
    familiar: Familiar,
}

impl Seat {
    pub fn worker(&self) -> usize {
        self.worker
    }
}

/// A state as the table looks for it: the root of its fold, or its hash.
#[derive(Clone, Copy, Debug)]
pub struct Key(u128);

static NEXT_NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl Visited {
    pub fn new(shape: Shape, run: &Arc<Meter>) -> Result<Visited, Trouble> {
        let own = Meter::within(run);
        let meter = &own;
        let store = match shape.mode {
            Mode::Exact => Store::Exact {
                nodes: Interner::new(shape.slots / 4, shape.tag_bits, meter)?,
                roots: Interner::new(shape.slots, shape.tag_bits, meter)?,
            },
            Mode::Hash => {
                Store::Hash { table: Table::new(shape.slots, 32, meter)?, prints: Chunks::new(3, meter)? }
            }
        };
        Ok(Visited {
            gate: Gate::new(shape.workers),
            taken: (0..shape.workers).map(|_| AtomicBool::new(false)).collect(),
            number: NEXT_NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            store,
            words: shape.words,
            parents: Parents::new(meter)?,
            distant: None,
            satellites: if shape.satellites { Some(Chunks::new(1, meter)?) } else { None },
            own,
        })
    }

    /// Keeps predecessors by fingerprint from now on, because they may stand on other machines. To be called
    /// before anything is put.
    pub fn look_far(&mut self) -> Result<(), Trouble> {
        self.distant = Some(Distant::new(matches!(self.store, Store::Hash { .. }), &self.own)?);
        Ok(())
    }

    /// `parent`, of the level being expanded and with fingerprint `print`, leads to `id`. On several machines the
    /// fingerprint alone tells the parent. Does nothing if `id` is of an earlier level.
    #[inline]
    pub fn claim(&self, level: Level, id: u32, parent: u32, print: u128) {
        match &self.distant {
            None => self.parents.claim(level, id, parent, print),
            Some(distant) if id >= level.filling => distant.claim(id, print),
            Some(_) => {}
        }
    }

    /// Settles the claims on `id`, once the level that `level` describes is filled.
    #[inline]
    pub fn settle(&self, level: Level, id: u32) {
        if self.distant.is_none() {
            self.parents.settle(level, id);
        }
    }

    /// The seat of a worker. There is one for each worker: asking twice is a mistake, because two
    /// threads on one seat would not see each other at the gate.
    pub fn seat(&self, worker: usize) -> Seat {
        let taken = self.taken[worker].swap(true, Ordering::AcqRel);
        assert!(!taken, "a seat was taken twice");
        Seat {
            worker,
            set: self.number,
            ids: Ids::default(),
            node_ids: Ids::default(),
            block: 64,
            level: None,
            base: Fold::default(),
            familiar: Familiar::default(),
        }
    }

    /// Bytes of the set and the parents now.
    pub fn bytes(&self) -> u64 {
        self.own.used()
    }

    /// Starts a batch. Between batches a worker is at a safe point and the set may grow.
    pub fn enter<'a>(&'a self, seat: &'a mut Seat) -> Result<Session<'a>, Trouble> {
        assert_eq!(seat.set, self.number, "a seat of another set");
        let seen = self.gate.enter(seat.worker, &|task| self.grow_task(task))?;
        Ok(Session { set: self, seat, seen })
    }

    /// Takes back a seat with the ids on it; somebody else may have it now.
    pub fn rise(&self, mut seat: Seat) {
        assert_eq!(seat.set, self.number, "a seat of another set");
        self.give_back(&mut seat);
        self.taken[seat.worker].store(false, Ordering::Release);
    }

    /// Takes back the ids a worker holds, at the end of a level or of its work.
    pub fn give_back(&self, seat: &mut Seat) {
        self.root_table().give_back(&mut seat.ids);
    }

    /// All ids in use are below this.
    pub fn bound(&self) -> u32 {
        self.root_table().bound()
    }

    /// The states in the set, counted slot by slot. For the end of a run: nobody may be inserting.
    pub fn count(&mut self) -> u64 {
        self.root_table().count()
    }

    /// The ids of all states in the set, in no order that means anything. For the end of a run, as `count`.
    pub fn ids(&mut self) -> Vec<u32> {
        let mut ids = Vec::new();
        let listed = self.root_table().each(|_, id| {
            ids.push(id);
            Ok(())
        });
        listed.expect("a list in memory takes any number of ids");
        ids
    }

    /// Frees all who wait for a growth, because a worker failed.
    pub fn abort(&self) {
        self.gate.abort();
    }

    /// Whether it pays to say what states resemble (`Session::near`). Narrow ones are compared with the
    /// one before.
    pub fn compares(&self) -> bool {
        matches!(self.store, Store::Exact { .. }) && self.words >= WIDE
    }

    /// An upper bound of the probability that a state was taken for another one, with `states` in
    /// the set: n² / 2^(bits+1); 0 in exact mode.
    pub fn collision_bound(&self, states: u64) -> f64 {
        match self.store {
            Store::Exact { .. } => 0.0,
            Store::Hash { .. } => (states as f64).powi(2) / 2f64.powi(KEPT_BITS as i32 + 1),
        }
    }

    /// The words of a state that was published to the caller; `false` in hash mode.
    pub fn state(&self, id: u32, out: &mut [u64]) -> bool {
        match &self.store {
            Store::Exact { nodes, roots } => {
                unfold(nodes, roots.key(id), out);
                true
            }
            Store::Hash { .. } => false,
        }
    }

    /// Sets satellite bits of a state and returns those it had before. All marks are in one total
    /// order (SeqCst), which the cycle provisos of reductions rely on.
    pub fn mark(&self, id: u32, bits: u8) -> u8 {
        match &self.satellites {
            Some(satellites) => satellites.of(id)[0].fetch_or(bits, Ordering::SeqCst),
            None => panic!("the set was made without satellite bits"),
        }
    }

    /// The satellite bits of a state.
    pub fn marks(&self, id: u32) -> u8 {
        self.satellites.as_ref().map_or(0, |satellites| satellites.of(id)[0].load(Ordering::SeqCst))
    }

    fn root_table(&self) -> &Table {
        match &self.store {
            Store::Exact { roots, .. } => &roots.table,
            Store::Hash { table, .. } => table,
        }
    }

    fn tables(&self) -> [Option<&Table>; 2] {
        match &self.store {
            Store::Exact { nodes, roots } => [Some(&roots.table), Some(&nodes.table)],
            Store::Hash { table, .. } => [Some(table), None],
        }
    }

    fn grow_task(&self, task: u32) {
        if let Some(table) = self.tables()[(task / PARTS) as usize] {
            table.grow_part(task % PARTS);
        }
    }

    fn grow(&self, seen: u32) -> Result<(), Trouble> {
        let tables = self.tables();
        let plan = || {
            let mut tasks = 0;
            for table in tables.iter().flatten() {
                table.plan_growth()?;
                tasks += PARTS;
            }
            Ok(tasks)
        };
        let finish = || tables.iter().flatten().try_for_each(|table| table.finish_growth());
        self.gate.grow(seen, plan, &|task| self.grow_task(task), finish)
    }
}

/// A worker inside the set, for one batch.
pub struct Session<'a> {
    pub(crate) set: &'a Visited,
    seat: &'a mut Seat,
    seen: u32,
}

impl Session<'_> {
    /// Says that the states that follow resemble `state`, which makes their keys cheap.
    #[inline]
    pub fn near(&mut self, state: &[u64]) -> Result<(), Trouble> {
        if self.set.compares() {
            self.folded(|fold, nodes, ids| fold.settle(state, nodes, ids))?;
        }
        Ok(())
    }

    /// The key of a state that this worker asked for lately, if states are folded; `key` finds all others.
    #[inline]
    pub fn recall(&mut self, state: &[u64]) -> Option<Key> {
        self.seat.familiar.root(state).map(|root| Key(root as u128))
    }

    /// What the table will look for. In exact mode this interns the parts of the state.
    #[inline]
    pub fn key(&mut self, state: &[u64]) -> Result<Key, Trouble> {
        debug_assert_eq!(state.len(), self.set.words);
        match &self.set.store {
            Store::Hash { .. } => Ok(Key(hash::words(state))),
            Store::Exact { .. } if state.len() < 2 => Ok(Key(small_root(state) as u128)),
            Store::Exact { .. } => {
                let root = if self.set.compares() {
                    self.folded(|fold, nodes, ids| fold.fold(state, nodes, ids))?
                } else {
                    self.folded(|fold, nodes, ids| fold.settle(state, nodes, ids))?
                };
                self.seat.familiar.meet(state, root);
                Ok(Key(root as u128))
            }
        }
    }

    /// Does something with the nodes of states, again if their table had to grow.
    #[inline]
    fn folded<T>(
        &mut self,
        step: impl Fn(&mut Fold, &Interner, &mut Ids) -> Result<T, Stuck>,
    ) -> Result<T, Trouble> {
        let Store::Exact { nodes, .. } = &self.set.store else { panic!("hashes are not folded") };
        loop {
            match step(&mut self.seat.base, nodes, &mut self.seat.node_ids) {
                Ok(done) => return Ok(done),
                Err(Stuck::Full) => self.grow()?,
                Err(Stuck::Trouble(trouble)) => return Err(trouble),
            }
        }
    }

    #[inline]
    pub fn prefetch(&self, key: Key) {
        match &self.set.store {
            Store::Exact { roots, .. } => roots.table.prefetch(tag_of(key.0 as u64)),
            Store::Hash { table, .. } => table.prefetch((key.0 >> 96) as u32),
        }
    }

    /// Finds the state or puts it.
    #[inline]
    pub fn insert(&mut self, key: Key) -> Result<Entry, Trouble> {
        loop {
            match self.try_insert(key) {
                Ok(entry) => return Ok(entry),
                Err(Stuck::Full) => self.grow()?,
                Err(Stuck::Trouble(trouble)) => return Err(trouble),
            }
        }
    }

    #[inline]
    fn try_insert(&mut self, key: Key) -> Result<Entry, Stuck> {
        if self.seat.ids.is_empty() {
            self.reserve()?;
        }
        match &self.set.store {
            Store::Exact { roots, .. } => Ok(roots.put(&mut self.seat.ids, key.0 as u64)?),
            Store::Hash { table, prints } => {
                let print = print_of(key);
                let same = |id| is_print(prints.of(id), print);
                let write = |id| {
                    for (kept, part) in prints.of(id).iter().zip(print) {
                        kept.store(part, Ordering::Relaxed);
                    }
                };
                Ok(table.find_or_put(&mut self.seat.ids, (key.0 >> 96) as u32, same, write)?)
            }
        }
    }

    #[cold]
    fn reserve(&mut self) -> Result<(), Stuck> {
        let set = self.set;
        let range = set.root_table().reserve(&mut self.seat.ids, self.seat.block)?;
        match &set.store {
            Store::Exact { roots, .. } => roots.keys.ensure(range.start, range.end)?,
            Store::Hash { prints, .. } => prints.ensure(range.start, range.end)?,
        }
        if let Some(satellites) = &set.satellites {
            satellites.ensure(range.start, range.end)?;
        }
        match &set.distant {
            Some(distant) => distant.ensure(range)?,
            None => set.parents.ensure(range, self.seat.level)?,
        }
        Ok(())
    }

    /// The id of a state, if it is in the set.
    pub fn find(&mut self, state: &[u64]) -> Option<u32> {
        match &self.set.store {
            Store::Exact { nodes, roots } => roots.find(find_root(nodes, state)?),
            Store::Hash { table, prints } => {
                let key = Key(hash::words(state));
                let print = print_of(key);
                table.find((key.0 >> 96) as u32, |id| is_print(prints.of(id), print))
            }
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Trouble> {
        self.set.gate.leave(self.seat.worker);
        self.set.grow(self.seen)?;
        self.seen = self.set.gate.enter(self.seat.worker, &|task| self.set.grow_task(task))?;
        Ok(())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Also on the way out of a panic or of a failed growth, where it changes nothing.
        self.set.gate.leave(self.seat.worker);
    }
}

/// The 48 bits of a hash that go into the record; the 32 above them are the tag.
fn print_of(key: Key) -> [u16; 3] {
    [(key.0 >> 80) as u16, (key.0 >> 64) as u16, (key.0 >> 48) as u16]
}

#[inline(always)]
fn is_print(kept: &[AtomicU16], print: [u16; 3]) -> bool {
    kept.iter().zip(print).all(|(kept, part)| kept.load(Ordering::Relaxed) == part)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn set(mode: Mode, words: usize) -> Visited {
        let shape = Shape { mode, words, workers: 1, slots: 64, tag_bits: 32, satellites: true };
        Visited::new(shape, &Meter::new(None)).unwrap()
    }

    /// A state of `words` words that is a function of `n`, with little and with much in a word.
    fn state(n: u64, words: usize) -> Vec<u64> {
        (0..words as u64).map(|i| if i % 2 == 0 { n >> i } else { hash::mix(n / 3 + i) }).collect()
    }

    #[test]
    fn a_state_of_any_length_comes_back_as_it_was_put() {
        for words in [0, 1, 2, 3, 4, 5, 7, 8, 9, 31] {
            let set = set(Mode::Exact, words);
            let mut seat = set.seat(0);
            let count = if words == 0 { 1 } else { 3000 };
            let mut ids = Vec::new();
            for n in 0..count {
                let mut session = set.enter(&mut seat).unwrap();
                let key = session.key(&state(n, words)).unwrap();
                ids.push(session.insert(key).unwrap());
                assert!(ids[n as usize].fresh);
            }
            for n in 0..count {
                let mut read = vec![0; words];
                assert!(set.state(ids[n as usize].id, &mut read));
                assert_eq!(read, state(n, words));
                let mut session = set.enter(&mut seat).unwrap();
                assert_eq!(session.find(&read), Some(ids[n as usize].id));
                let key = session.key(&read).unwrap();
                assert!(!session.insert(key).unwrap().fresh);
            }
        }
    }

    #[test]
    fn a_state_has_the_same_key_whatever_it_is_near() {
        for words in [2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 65] {
            let set = set(Mode::Exact, words);
            let mut seat = set.seat(0);
            let mut alone: Vec<(Vec<u64>, u128)> = Vec::new();
            for n in 0..400 {
                // Some words of the state before are changed, none and the outermost among them.
                let mut now =
                    alone.last().map_or_else(|| vec![hash::mix(words as u64); words], |s| s.0.clone());
                for k in 0..n % 5 {
                    let at = (hash::mix(n * 5 + k) % (words as u64 + 2)).saturating_sub(1);
                    now[(at as usize).min(words - 1)] = hash::mix(n + k) % 3;
                }
                let mut session = set.enter(&mut seat).unwrap();
                session.near(&now).unwrap();
                let key = session.key(&now).unwrap();
                alone.push((now, key.0));
            }
            let mut session = set.enter(&mut seat).unwrap();
            for n in 0..3000 {
                let (base, _) = &alone[hash::mix(n) as usize % alone.len()];
                let (other, key) = &alone[hash::mix(n + 77) as usize % alone.len()];
                if n % 3 == 0 {
                    session.near(base).unwrap();
                }
                assert!(session.recall(other).is_none_or(|known| known.0 == *key));
                assert_eq!(session.key(other).unwrap().0, *key);
                assert_eq!(session.recall(other).map(|known| known.0), Some(*key));
            }
            for (a, x) in &alone {
                for (b, y) in &alone {
                    assert_eq!(a == b, x == y);
                }
            }
        }
    }

    #[test]
    fn states_that_never_come_again_are_not_remembered_for_ever() {
        let set = set(Mode::Exact, 3);
        let mut seat = set.seat(0);
        let mut session = set.enter(&mut seat).unwrap();
        let first = session.key(&state(0, 3)).unwrap().0;
        for n in 1..20_000 {
            assert!(session.recall(&state(n, 3)).is_none());
            session.key(&state(n, 3)).unwrap();
            if n == 100 {
                assert!(session.recall(&state(n, 3)).is_some());
            }
        }
        assert!(session.recall(&state(19_999, 3)).is_none());
        assert_eq!(session.key(&state(0, 3)).unwrap().0, first);
    }

    #[test]
    fn a_state_that_was_not_put_is_not_found() {
        for mode in [Mode::Exact, Mode::Hash] {
            let set = set(mode, 3);
            let mut seat = set.seat(0);
            let mut session = set.enter(&mut seat).unwrap();
            assert_eq!(session.find(&[1, 2, 3]), None);
            let key = session.key(&[1, 2, 3]).unwrap();
            let id = session.insert(key).unwrap().id;
            assert_eq!(session.find(&[1, 2, 3]), Some(id));
            assert_eq!(session.find(&[1, 3, 2]), None);
        }
    }

    #[test]
    fn marks_stay_and_tell_what_was_there_before() {
        let set = set(Mode::Hash, 1);
        let mut seat = set.seat(0);
        let mut session = set.enter(&mut seat).unwrap();
        let key = session.key(&[9]).unwrap();
        let id = session.insert(key).unwrap().id;
        assert_eq!((set.mark(id, 1), set.mark(id, 4), set.marks(id)), (0, 1, 5));
    }

    #[test]
    fn the_collision_bound_is_that_of_eighty_bits() {
        // (10^9)² / 2^81 is a little more than 4·10^-7.
        let bound = set(Mode::Hash, 1).collision_bound(1_000_000_000);
        assert!((4.0e-7..4.2e-7).contains(&bound), "{bound}");
        assert_eq!(set(Mode::Exact, 1).collision_bound(1_000_000_000), 0.0);
    }
}
