//! Memory of evaluations on values: a piece with the same inputs has the same answer.
//!
//! In: the number of a piece and the words of what it reads. Out: what it wrote last time, if that is
//! still remembered. One per worker, no locks. It switches itself off for a piece that hardly ever
//! repeats its inputs, and forgets everything when it is full, so memory stays bounded.

/// Words kept before everything is forgotten.
const ROOM: usize = 1 << 22;
/// Lookups after which a piece must have earned its place.
const TRIAL: u32 = 4096;

/// Keys are compared word by word, so no hash ever makes two questions one.
pub struct Memo<T> {
    /// By hash, from the place it names on: half of the hash and the number of an entry, counted
    /// from 1; 0 where there is none. A power of two of them, at most half in use.
    slots: Vec<u64>,
    entries: Vec<Entry<T>>,
    /// The words of all keys, one key after the other.
    keys: Vec<u64>,
    used: usize,
    /// Lookups and hits of each piece.
    record: Vec<(u32, u32)>,
    /// The last question, and its hash.
    key: Vec<u64>,
    hash: u64,
}

struct Entry<T> {
    hash: u64,
    /// Where its key ends; it begins where the one before ends.
    end: usize,
    answer: T,
}

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo {
            slots: Vec::new(),
            entries: Vec::new(),
            keys: Vec::new(),
            used: 0,
            record: Vec::new(),
            key: Vec::new(),
            hash: 0,
        }
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
        self.hash = hash_of(&self.key);
        let found = find(&self.slots, &self.entries, &self.keys, &self.key, self.hash);
        *hit += u32::from(found.is_some());
        if *asked >= TRIAL * 256 {
            *asked /= 2;
            *hit /= 2;
        }
        Some(found.map(|at| &self.entries[at].answer))
    }

    /// Remembers the answer to the last question; `words` is about its size.
    pub fn learn(&mut self, answer: T, words: usize) {
        if self.used > ROOM {
            self.forget();
        }
        self.used += self.key.len() + words + 8;
        self.keys.extend_from_slice(&self.key);
        self.entries.push(Entry { hash: self.hash, end: self.keys.len(), answer });
        if 2 * self.entries.len() > self.slots.len() {
            self.slots = vec![0; (4 * self.entries.len()).next_power_of_two()];
            (0..self.entries.len()).for_each(|at| self.enter(at));
        } else {
            self.enter(self.entries.len() - 1);
        }
    }

    fn enter(&mut self, at: usize) {
        let hash = self.entries[at].hash;
        let mut slot = hash as usize % self.slots.len();
        while self.slots[slot] != 0 {
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = hash >> 32 << 32 | (at as u64 + 1);
    }

    pub fn forget(&mut self) {
        self.slots.clear();
        self.entries.clear();
        self.keys.clear();
        self.used = 0;
    }
}

/// The number of the entry with this key.
#[inline]
fn find<T>(slots: &[u64], entries: &[Entry<T>], keys: &[u64], key: &[u64], hash: u64) -> Option<usize> {
    // A power of two, so this is the remainder.
    let mask = slots.len().checked_sub(1)?;
    let mut slot = hash as usize & mask;
    loop {
        let word = slots[slot];
        if word == 0 {
            return None;
        }
        if word >> 32 == hash >> 32 {
            let at = (word as u32 - 1) as usize;
            let begin = if at == 0 { 0 } else { entries[at - 1].end };
            if keys[begin..entries[at].end] == *key {
                return Some(at);
            }
        }
        slot = (slot + 1) & mask;
    }
}

fn hash_of(key: &[u64]) -> u64 {
    let step = |h: u64, w: &u64| (h.rotate_left(23) ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bombus_kernels::hash::mix(key.iter().fold(key.len() as u64, step))
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

    #[test]
    fn many_answers_are_kept_until_there_are_too_many_and_never_mixed_up() {
        let mut memo: Memo<u64> = Memo::default();
        let (mut met, mut again) = (0, 0);
        for i in 0..600_000u64 {
            // Keys of different lengths, some the beginning of others, each asked for twice in a row and
            // once more much later.
            for i in [i, i, i / 2] {
                let key: Vec<u64> = (0..1 + i % 4).map(|k| i / 4 + k).collect();
                let piece = i % 3;
                let found = memo.ask(piece as usize, |k| k.extend(&key)).expect("worth it").copied();
                let answer = piece << 60 | key.iter().fold(key.len() as u64, |h, w| h << 19 ^ w) >> 4;
                match found {
                    None => memo.learn(answer, 1),
                    Some(said) => assert_eq!(said, answer),
                }
                met += 1;
                again += u64::from(found.is_some());
            }
        }
        // The second time always, and the third as long as there was room.
        assert!(again > met / 3 + 10_000 && again < met / 3 * 2, "{again} of {met}");
        memo.forget();
        assert_eq!(memo.ask(0, |k| k.push(1)), Some(None));
    }
}
