//! Memory of evaluations on values: a piece with the same inputs has the same answer.
//!
//! In: the number of a piece and the words of what it reads. Out: what it wrote last time, if that is
//! still remembered. One per worker, no locks. It switches itself off for a piece that hardly ever
//! repeats its inputs, and forgets everything when it is full, so memory stays bounded.

use super::pool::Fold;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Words kept before everything is forgotten.
const ROOM: usize = 1 << 22;
/// Lookups after which a piece must have earned its place.
const TRIAL: u32 = 4096;

pub struct Memo<T> {
    known: HashMap<Box<[u64]>, T, BuildHasherDefault<Fold>>,
    used: usize,
    /// Lookups and hits of each piece.
    record: Vec<(u32, u32)>,
    key: Vec<u64>,
}

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo { known: HashMap::default(), used: 0, record: Vec::new(), key: Vec::new() }
    }
}

impl<T> Memo<T> {
    /// Looks a piece up; `read` appends the words of its inputs. `None` says it is not worth it.
    pub fn ask(&mut self, piece: usize, read: impl FnOnce(&mut Vec<u64>)) -> Option<Option<&T>> {
        if piece >= self.record.len() {
            self.record.resize(piece + 1, (0, 0));
        }
        let (asked, hit) = &mut self.record[piece];
        // At least one hit in four, or the lookups cost more than they save.
        if *asked >= TRIAL && *hit < *asked / 4 {
            return None;
        }
        *asked += 1;
        self.key.clear();
        self.key.push(piece as u64);
        read(&mut self.key);
        let found = self.known.get(&self.key[..]);
        *hit += u32::from(found.is_some());
        if *asked >= TRIAL * 256 {
            *asked /= 2;
            *hit /= 2;
        }
        Some(found)
    }

    /// Remembers the answer to the last question; `words` is about its size.
    pub fn learn(&mut self, answer: T, words: usize) {
        if self.used > ROOM {
            self.known.clear();
            self.used = 0;
        }
        self.used += self.key.len() + words + 8;
        self.known.insert(self.key.clone().into(), answer);
    }

    pub fn forget(&mut self) {
        self.known.clear();
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_never_repeats_itself_is_given_up() {
        let mut memo: Memo<u32> = Memo::default();
        let mut given_up = false;
        for i in 0..10_000u64 {
            match memo.ask(3, |k| k.push(i)) {
                Some(None) => memo.learn(i as u32, 1),
                Some(Some(_)) => panic!("no input repeats"),
                None => given_up = true,
            }
        }
        assert!(given_up);
    }

    #[test]
    fn an_answer_is_that_of_the_same_inputs() {
        let mut memo: Memo<u64> = Memo::default();
        for round in 0..3 {
            for i in 0..100u64 {
                let found = memo.ask(1, |k| k.extend([i, i * i])).expect("worth it").copied();
                assert_eq!(found, (round > 0).then_some(i + 7));
                if found.is_none() {
                    memo.learn(i + 7, 1);
                }
            }
        }
    }
}
