//! What was found out already: values by their spellings, and answers by the values that they depend on.
//!
//! In: spellings of variables; answers of the oracle. Out: numbers of values; answers that were given before for
//! the same values of all variables that the question reads. Bounded: all is forgotten when there is too much.
//! Never here: evaluation.

use bombus_oracle::value::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// Bytes that one examiner may remember, roughly.
const MOST: usize = 192 << 20;
/// Questions after which a memory that seldom knows an answer is closed, and how seldom that is.
const TRIAL: u32 = 20_000;
const SELDOM: u32 = 12;

/// Where a hash begins: at random, so that nobody can choose values with one hash.
#[derive(Clone)]
pub struct Seed(u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(RandomState::new().hash_one(0) | 1)
    }
}

impl BuildHasher for Seed {
    type Hasher = Words;
    fn build_hasher(&self) -> Words {
        Words { seed: self.0, state: self.0 }
    }
}

/// A hash that takes eight bytes at a time: the upper and the lower half of a product.
pub struct Words {
    seed: u64,
    state: u64,
}

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..word.len()].copy_from_slice(word);
            self.write_u64(u64::from_le_bytes(eight));
        }
    }
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.seed | 1 << 63);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
    fn finish(&self) -> u64 {
        self.state
    }
}

/// The values of one variable that were met, by their spellings.
#[derive(Default)]
pub struct Values {
    numbers: HashMap<Arc<[u8]>, u32, Seed>,
    all: Vec<(Arc<[u8]>, Value)>,
}

impl Values {
    /// The number of the value with this spelling, if it was met before.
    pub fn find(&self, bytes: &[u8]) -> Option<u32> {
        self.numbers.get(bytes).copied()
    }

    /// A new value with its canonical spelling.
    pub fn add(&mut self, bytes: &[u8], value: Value, weight: &mut usize) -> u32 {
        let bytes: Arc<[u8]> = bytes.into();
        let number = self.all.len() as u32;
        *weight += 100 + 12 * bytes.len();
        self.numbers.insert(bytes.clone(), number);
        self.all.push((bytes, value));
        number
    }

    pub fn bytes(&self, number: u32) -> &[u8] {
        &self.all[number as usize].0
    }

    pub fn value(&self, number: u32) -> &Value {
        &self.all[number as usize].1
    }

    pub fn clear(&mut self) {
        *self = Values::default();
    }
}

/// Answers to one question, by the numbers of the values that it depends on.
pub struct Answers<T> {
    /// The variables that the question reads.
    reads: Vec<usize>,
    known: HashMap<Box<[u32]>, Arc<T>, Seed>,
    key: Vec<u32>,
    asked: u32,
    hits: u32,
}

impl<T> Answers<T> {
    pub fn new(reads: Vec<usize>) -> Answers<T> {
        Answers { reads, known: HashMap::default(), key: Vec::new(), asked: 0, hits: 0 }
    }

    /// Whether so few questions come again that none is remembered.
    fn is_closed(&self) -> bool {
        self.asked >= TRIAL && self.hits < self.asked / SELDOM
    }

    /// The answer for a valuation and the values of all variables, if it was given before.
    pub fn find(&mut self, valuation: usize, state: &[u32]) -> Option<Arc<T>> {
        if self.is_closed() {
            return None;
        }
        self.key.clear();
        self.key.push(valuation as u32);
        self.key.extend(self.reads.iter().map(|v| state[*v]));
        let found = self.known.get(&self.key[..]).cloned();
        self.asked = self.asked.saturating_add(1);
        self.hits = self.hits.saturating_add(u32::from(found.is_some()));
        found
    }

    /// Remembers the answer to the question that `find` was asked last.
    pub fn add(&mut self, answer: T, size: usize, weight: &mut usize) -> Arc<T> {
        let answer = Arc::new(answer);
        if self.is_closed() {
            self.known = HashMap::default();
            return answer;
        }
        *weight += 96 + 4 * self.key.len() + size;
        self.known.insert(self.key[..].into(), answer.clone());
        answer
    }

    pub fn clear(&mut self) {
        self.known.clear();
    }
}

/// Whether so much is remembered that all should be forgotten.
pub fn is_too_much(weight: usize) -> bool {
    weight > MOST
}
