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
//! A set of *packed* states, exact as well, keeps states of one word in the slots of the table itself
//! (`quotient`): no record, no predecessor, no id. A packed set of a size that is known beforehand does not
//! grow: there slots are ids, and `lineage` keeps predecessors by them.

use crate::Trouble;
use crate::chunks::Chunks;
use crate::distant::Distant;
use crate::faults::fault;
use crate::fold::{Familiar, Fold, Interner, Stuck, find_root, small_root, tag_of, unfold};
use crate::hash;
use crate::lineage::Lineage;
use crate::memory::Meter;
use crate::packed::{ALL_BITS, Capacity, Packed};
use crate::parents::{Level, Parents};
use crate::quotient::Quotients;
use crate::shim::{AtomicBool, AtomicU8, AtomicU16, Ordering};
pub use crate::table::MOST_IDS;
use crate::table::gate::Gate;
use crate::table::{Entry, Ids, PARTS, Table};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Exact,
    Hash,
    /// States are kept elsewhere, and the set stays empty.
    Disk,
}

impl Mode {
    /// The name of the mode.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Exact => "exact",
            Mode::Hash => "hash",
            Mode::Disk => "disk",
        }
    }
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
    /// States that get an id at most: `MOST_IDS`, fewer in tests. Packed states have none and may be more.
    pub ids: u32,
    /// Whether states have satellite bits, see `Visited::mark`; one byte per state.
    pub satellites: bool,
    /// Whether predecessors are kept; a packed set that may grow never keeps them.
    pub parents: bool,
    /// States of one word that stand in the table itself; for `Mode::Exact`.
    pub packed: Option<Packed>,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            mode: Mode::Exact,
            words: 1,
            workers: 1,
            slots: 1 << 13,
            tag_bits: 32,
            ids: MOST_IDS,
            satellites: false,
            parents: true,
            packed: None,
        }
    }
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
    /// Predecessors by slot, in a packed set that does not grow.
    pub(crate) lineage: Option<Lineage>,
    /// Whether `parents` is filled.
    keeps_parents: bool,
    pub(crate) satellites: Option<Chunks<AtomicU8>>,
    /// What the set itself uses, apart from the rest of the run.
    own: Arc<Meter>,
}

#[expect(clippy::large_enum_variant, reason = "a set of visited states has one store")]
pub(crate) enum Store {
    Exact { nodes: Interner, roots: Interner },
    Hash { table: Table, prints: Chunks<AtomicU16> },
    Packed { narrow: Quotients, wide: Quotients },
}

/// What belongs to one worker: its reserved ids and the state that others are folded against.
pub struct Seat {
    worker: usize,
    /// The number of the set it belongs to.
    set: u64,
    pub(crate) ids: Ids,
    pub(crate) node_ids: Ids,
    /// Ids to reserve at a time.
    pub block: u32,
    /// The level that is being filled, if the search has levels.
    pub level: Option<Level>,
    base: Fold,
    /// Packed states of a list whose home lines are full.
    pub(crate) later: Vec<u32>,
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
            Mode::Exact if shape.packed.is_some() => {
                let Packed { bits, fixed } = shape.packed.expect("the guard has looked");
                assert_eq!(shape.words, 1, "a packed state is one word");
                let slots = fixed.unwrap_or(Capacity { narrow: shape.slots as u64, wide: 64 });
                Store::Packed {
                    narrow: Quotients::new(bits.min(ALL_BITS), slots.narrow, fixed.is_some(), meter)?,
                    wide: Quotients::new(ALL_BITS, slots.wide, fixed.is_some(), meter)?,
                }
            }
            Mode::Exact | Mode::Disk => Store::Exact {
                nodes: Interner::new(shape.slots / 4, shape.tag_bits, MOST_IDS, meter)?,
                roots: Interner::new(shape.slots, shape.tag_bits, shape.ids, meter)?,
            },
            Mode::Hash => Store::Hash {
                table: Table::new(shape.slots, 32, shape.ids, meter)?,
                prints: Chunks::new(3, meter)?,
            },
        };
        let lineage = match (&store, shape.packed.and_then(|packed| packed.fixed)) {
            // Slots are ids here.
            (Store::Packed { narrow, wide }, Some(_)) => match narrow.capacity() + wide.capacity() {
                slots if slots <= shape.ids.into() => Some(Lineage::new(slots, meter)?),
                _ => return Err(Trouble::OutOfIds),
            },
            _ => None,
        };
        Ok(Visited {
            gate: Gate::new(shape.workers),
            taken: (0..shape.workers).map(|_| AtomicBool::new(false)).collect(),
            number: NEXT_NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            store,
            words: shape.words,
            parents: Parents::new(meter)?,
            distant: None,
            lineage,
            keeps_parents: shape.parents && shape.packed.is_none(),
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
            None if self.keeps_parents => self.parents.claim(level, id, parent, print),
            None => {}
            Some(distant) if id >= level.filling => distant.claim(id, print),
            Some(_) => {}
        }
    }

    /// Settles the claims on `id`, once the level that `level` describes is filled.
    #[inline]
    pub fn settle(&self, level: Level, id: u32) {
        if let Some(lineage) = &self.lineage {
            lineage.settle(id);
        } else if self.distant.is_none() && self.keeps_parents {
            self.parents.settle(level, id);
        }
    }

    /// Names the parent of a new state at once, for searches without levels.
    #[inline]
    pub fn set_parent(&self, id: u32, parent: u32) {
        if self.keeps_parents {
            self.parents.set(id, parent);
        }
    }

    /// Whether the predecessors of states are known here.
    pub fn knows_parents(&self) -> bool {
        self.keeps_parents || self.lineage.is_some()
    }

    /// The parent of a state, `None` for an initial one; `levels` as in `Parents::resolve`.
    pub fn parent(&self, levels: &[Level], id: u32) -> Option<u32> {
        match &self.lineage {
            Some(lineage) => lineage.get(id),
            None => self.parents.resolve(levels, id),
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
            later: Vec::new(),
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
        match &self.store {
            Store::Packed { narrow, wide } => {
                narrow.give_back(&mut seat.ids);
                wide.give_back(&mut seat.node_ids);
            }
            _ => self.root_table().give_back(&mut seat.ids),
        }
    }

    /// All ids in use are below this; in a packed set, about how many states there are, or the most that 32 bits can tell.
    pub fn bound(&self) -> u32 {
        match &self.store {
            Store::Packed { narrow, wide } => {
                u32::try_from(narrow.bound().saturating_add(wide.bound())).unwrap_or(u32::MAX)
            }
            _ => self.root_table().bound(),
        }
    }

    /// The states in the set, counted slot by slot. For the end of a run: nobody may be inserting.
    pub fn count(&mut self) -> u64 {
        match &self.store {
            Store::Packed { narrow, wide } => narrow.count() + wide.count(),
            _ => self.root_table().count(),
        }
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
            Store::Exact { .. } | Store::Packed { .. } => 0.0,
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
            Store::Packed { narrow, wide } => {
                let (slot, all) = (u64::from(id), narrow.capacity());
                assert!(self.lineage.is_some(), "slots move when a set grows");
                let word = if slot < all { narrow.word(slot) } else { wide.word(slot - all) };
                out[0] = word.expect("a slot that was told holds a state");
                true
            }
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
            Store::Packed { .. } => panic!("a packed set has no ids"),
        }
    }

    fn tables(&self) -> [Option<Growing<'_>>; 2] {
        match &self.store {
            Store::Exact { nodes, roots } => {
                [Some(Growing::Ids(&roots.table)), Some(Growing::Ids(&nodes.table))]
            }
            Store::Hash { table, .. } => [Some(Growing::Ids(table)), None],
            Store::Packed { narrow, wide } => [Some(Growing::Words(narrow)), Some(Growing::Words(wide))],
        }
    }

    fn grow_task(&self, task: u32) {
        match self.tables()[(task / PARTS) as usize] {
            Some(Growing::Ids(table)) => table.grow_part(task % PARTS),
            Some(Growing::Words(words)) => words.grow_part(task % PARTS),
            None => {}
        }
    }

    fn grow(&self, seen: u32) -> Result<(), Trouble> {
        let tables = self.tables();
        let plan = || {
            let mut tasks = 0;
            for table in tables.iter().flatten() {
                match table {
                    Growing::Ids(table) => table.plan_growth()?,
                    Growing::Words(words) => words.plan_growth()?,
                }
                tasks += PARTS;
            }
            Ok(tasks)
        };
        let finish = || {
            tables.iter().flatten().try_for_each(|table| match table {
                Growing::Ids(table) => table.finish_growth(),
                Growing::Words(words) => words.finish_growth(),
            })
        };
        self.gate.grow(seen, plan, &|task| self.grow_task(task), finish)
    }
}

/// A table that may have to grow.
enum Growing<'a> {
    Ids(&'a Table),
    Words(&'a Quotients),
}

/// A worker inside the set, for one batch.
pub struct Session<'a> {
    pub(crate) set: &'a Visited,
    pub(crate) seat: &'a mut Seat,
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
            Store::Hash { .. } if fault("table: a fingerprint is that of a part") => {
                Ok(Key(hash::words(&state[1..])))
            }
            Store::Hash { .. } => Ok(Key(hash::words(state))),
            Store::Packed { .. } => Ok(Key(state[0].into())),
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
            Store::Packed { narrow, .. } => {
                narrow.aim(key.0 as u64);
            }
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
        if let Store::Packed { narrow, .. } = &self.set.store {
            let state = key.0 as u64;
            return self.put_packed(state, narrow.aim(state));
        }
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
            Store::Packed { .. } => panic!("packed states are put by themselves"),
        }
    }

    #[cold]
    fn reserve(&mut self) -> Result<(), Stuck> {
        let set = self.set;
        let range = set.root_table().reserve(&mut self.seat.ids, self.seat.block)?;
        match &set.store {
            Store::Exact { roots, .. } => roots.keys.ensure(range.start, range.end)?,
            Store::Hash { prints, .. } => prints.ensure(range.start, range.end)?,
            Store::Packed { .. } => {}
        }
        if let Some(satellites) = &set.satellites {
            satellites.ensure(range.start, range.end)?;
        }
        match &set.distant {
            Some(distant) => distant.ensure(range)?,
            None if !set.keeps_parents => {}
            None => set.parents.ensure(range, self.seat.level)?,
        }
        Ok(())
    }

    /// The id of a state, if it is in the set. In a packed set that may grow ids mean nothing.
    pub fn find(&mut self, state: &[u64]) -> Option<u32> {
        match &self.set.store {
            Store::Exact { nodes, roots } => roots.find(find_root(nodes, state)?),
            Store::Hash { table, prints } => {
                let key = Key(hash::words(state));
                let print = print_of(key);
                table.find((key.0 >> 96) as u32, |id| is_print(prints.of(id), print))
            }
            Store::Packed { narrow, wide } => {
                let slot = match narrow.takes(state[0]) {
                    true => narrow.find(state[0])?,
                    false => narrow.capacity() + wide.find(state[0])?,
                };
                Some(if self.set.lineage.is_some() { slot as u32 } else { 0 })
            }
        }
    }

    #[cold]
    pub(crate) fn grow(&mut self) -> Result<(), Trouble> {
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
mod tests;
