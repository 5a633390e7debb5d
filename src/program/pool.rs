//! The value pool: every value that has no place in words, once, with a number.
//!
//! In: values from any thread. Out: a `ValueId`; two ids are equal exactly if the values are. Values
//! are never removed: the pool grows with the number of distinct values that a run meets.
//! Never here: what a value is used for.

use bombus_lang::value::encode::HASHED;
use bombus_lang::value::{Value, digest};
use dashmap::{DashMap, Entry as Place};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(pub u32);

const SHARDS: usize = 64;
/// The first segment has `1 << FIRST` places, each next one twice as many.
const FIRST: u32 = 10;

struct Entry {
    value: Value,
    /// Of the stable bytes: the same in every run, unlike the id.
    content: u128,
    /// The stable bytes, or what stands for them if they are many.
    spelled: Box<[u8]>,
}

/// Stable bytes that are kept beside a value. Every new state with the value in it is told by them, so
/// more are not worth it.
const SPELLED: usize = 1024;

impl Entry {
    fn new(value: &Value) -> Entry {
        let mut bytes = Vec::new();
        let content = content128_of(value, &mut bytes);
        if bytes.len() > SPELLED {
            bytes.clear();
            bytes.push(HASHED);
            bytes.extend_from_slice(&content.to_le_bytes());
        }
        // A copy, so that no room to grow is kept.
        Entry { value: value.clone(), content, spelled: bytes.as_slice().into() }
    }
}

pub struct Pool {
    numbers: DashMap<Value, u32, BuildHasherDefault<Fold>>,
    segments: [OnceLock<Box<[OnceLock<Entry>]>>; 22],
    next: AtomicU32,
    /// Numbers that values of a saved run had which bytes alone do not bring back (sets that are
    /// not listed), by the bytes: such a value gets its number when it is met again.
    promised: Mutex<BTreeMap<Vec<u8>, u32>>,
    has_promised: AtomicBool,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool {
            numbers: DashMap::with_hasher_and_shard_amount(BuildHasherDefault::default(), SHARDS),
            segments: std::array::from_fn(|_| OnceLock::new()),
            next: AtomicU32::new(0),
            promised: Mutex::default(),
            has_promised: AtomicBool::new(false),
        }
    }
}

impl Pool {
    pub fn intern(&self, value: &Value) -> ValueId {
        // Nearly all values are known: they are looked up beside others who look.
        if let Some(id) = self.numbers.get(value) {
            return ValueId(*id);
        }
        match self.numbers.entry(value.clone()) {
            Place::Occupied(known) => ValueId(*known.get()),
            Place::Vacant(vacant) => {
                // Relaxed: the number only has to be unique; the entry is published by its `OnceLock`.
                let id =
                    self.keep_promise(value).unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
                let (segment, at) = place(id);
                let places = self.segments[segment].get_or_init(|| {
                    (0..1usize << (FIRST as usize + segment)).map(|_| OnceLock::new()).collect()
                });
                assert!(places[at].set(Entry::new(value)).is_ok(), "a place of the pool is filled once");
                vacant.insert(id);
                ValueId(id)
            }
        }
    }

    #[inline]
    fn keep_promise(&self, value: &Value) -> Option<u32> {
        // Promises are made before anybody interns, so every thread sees them.
        if !self.has_promised.load(Ordering::Relaxed) || !value.mentions_symbolic() {
            return None;
        }
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        self.promised.lock().remove(&bytes)
    }

    /// Gives the next number to the value of these bytes, whenever it will be met.
    pub fn promise(&self, bytes: Vec<u8>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.has_promised.store(true, Ordering::Relaxed);
        self.promised.lock().insert(bytes, id);
    }

    /// All values in the order of their numbers: the value, or its bytes if it was only promised.
    /// Nobody may be interning.
    pub fn entries(&self) -> Vec<Result<&Value, Vec<u8>>> {
        let promised = self.promised.lock();
        let open: BTreeMap<u32, &Vec<u8>> = promised.iter().map(|(bytes, id)| (*id, bytes)).collect();
        (0..self.len() as u32)
            .map(|id| match open.get(&id) {
                Some(bytes) => Err((*bytes).clone()),
                None => Ok(self.get(ValueId(id))),
            })
            .collect()
    }

    pub fn get(&self, id: ValueId) -> &Value {
        &self.entry(id).value
    }

    /// A hash of the value that is the same in every run.
    pub fn content(&self, id: ValueId) -> u64 {
        self.entry(id).content as u64
    }

    /// The same with more bits: two values with the same hash are the same value for all practical ends.
    pub fn content128(&self, id: ValueId) -> u128 {
        self.entry(id).content
    }

    /// The bytes by which the value is told in the fingerprint of a state, the same in every run.
    pub fn spelled(&self, id: ValueId) -> &[u8] {
        &self.entry(id).spelled
    }

    pub fn len(&self) -> usize {
        self.next.load(Ordering::Relaxed) as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn entry(&self, id: ValueId) -> &Entry {
        let (segment, at) = place(id.0);
        self.segments[segment].get().and_then(|s| s[at].get()).expect("ids come from `intern`")
    }
}

/// A hash of the value that is the same in every run; its bytes are left behind.
pub fn content128_of(value: &Value, bytes: &mut Vec<u8>) -> u128 {
    bytes.clear();
    value.encode(bytes);
    digest::hash128(bytes)
}

pub fn content_hash(value: &Value) -> u64 {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    digest::hash128(&bytes) as u64
}

/// Segment and place of an id.
fn place(id: u32) -> (usize, usize) {
    let n = u64::from(id) + (1 << FIRST);
    let segment = 63 - n.leading_zeros() - FIRST;
    (segment as usize, (n - (1u64 << (segment + FIRST))) as usize)
}

/// A fixed, fast hash for maps inside one run.
#[derive(Clone, Copy, Default)]
pub struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        let h = self.0 ^ self.0 >> 32;
        h.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x51_7c_c1_b7_27_22_0a_95);
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_i64(&mut self, n: i64) {
        self.write_u64(n as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_get_equal_ids_on_every_thread() {
        let pool = Pool::default();
        let value = |i: i64| Value::set(vec![Value::int(i), Value::int(i / 2)]);
        let ids: Vec<Vec<ValueId>> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..4)
                .map(|t| {
                    let (pool, value) = (&pool, &value);
                    scope.spawn(move || {
                        let mut ids = vec![ValueId(0); 5000];
                        for k in 0..5000 {
                            let i = (k * 7 + t * 1111) % 5000;
                            ids[i] = pool.intern(&value(i as i64));
                        }
                        ids
                    })
                })
                .collect();
            handles.into_iter().map(|h| h.join().expect("no thread panics")).collect()
        });
        assert!(ids.iter().all(|v| *v == ids[0]));
        assert_eq!(pool.len(), 5000);
        for (i, id) in ids[0].iter().enumerate() {
            assert_eq!(*pool.get(*id), value(i as i64));
        }
    }
}
