//! The file of states: hashed blocks of front-coded spellings, strictly ascending.
//!
//! In: the bytes of `states.bin`. Out: its root, its states one by one, and whether a state is among them.
//! Nothing in the file is believed: lengths are held against the bytes that are there, and the order is checked.
//! Never here: what a state means.

use sha2::{Digest, Sha256};

/// How the file begins: name and version of the format.
pub const MAGIC: &[u8; 12] = b"BombusStat\x01\n";
/// Entries between two that are written in full.
pub const GROUP: usize = 16;
/// The most states in one block.
pub const BLOCK: usize = 4096;

/// A hash.
pub type Hash = [u8; 32];

/// The hash of some bytes behind a mark that tells leaves from nodes.
fn hashed(mark: u8, parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    hash.update([mark]);
    parts.iter().for_each(|p| hash.update(p));
    hash.finalize().into()
}

/// The hash of a file.
pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// A hash in hexadecimal digits.
pub fn hex(hash: &[u8]) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

/// The root over leaves: two neighbours make a node, a last one without a neighbour rises as it is.
pub fn merkle_root(mut level: Vec<Hash>) -> Hash {
    if level.is_empty() {
        return hashed(0, &[]);
    }
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|two| match two {
                [a, b] => hashed(1, &[a, b]),
                one => one[0],
            })
            .collect();
    }
    level[0]
}

/// One block: where its entries begin and end, and how many states stand before it.
struct Block {
    start: usize,
    end: usize,
    before: u64,
    states: usize,
}

/// A state that is written in full and those that share bytes with it: where the entries begin and end, where the bytes of the
/// first state begin, how many they are, and its number.
struct Group {
    entry: usize,
    end: usize,
    bytes: usize,
    length: usize,
    number: u64,
}

/// The states of a certificate.
pub struct States {
    bytes: Vec<u8>,
    blocks: Vec<Block>,
    /// The entries that are written in full, ascending through all blocks.
    groups: Vec<Group>,
    pub root: Hash,
    pub count: u64,
}

impl States {
    /// Reads the frame of the file and checks that all states ascend strictly.
    pub fn read(bytes: Vec<u8>) -> Result<States, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("it does not begin as a file of states of this version".into());
        }
        let (mut blocks, mut leaves, mut at, mut count) = (Vec::new(), Vec::new(), MAGIC.len(), 0u64);
        while at < bytes.len() {
            let head = bytes.get(at..at + 8).ok_or("the head of a block is cut off")?;
            let word =
                |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]) as usize;
            let (states, length) = (word(0), word(4));
            if states == 0 || states > BLOCK {
                return Err(format!("block {} has {states} states", blocks.len()));
            }
            let end = (at + 8).checked_add(length).filter(|end| *end <= bytes.len());
            let end = end.ok_or_else(|| format!("block {} is cut off", blocks.len()))?;
            leaves.push(hashed(0, &[&bytes[at..end]]));
            blocks.push(Block { start: at + 8, end, before: count, states });
            count += states as u64;
            at = end;
        }
        let mut states = States { bytes, blocks, groups: Vec::new(), root: merkle_root(leaves), count };
        states.groups = states.ascending()?;
        Ok(states)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The block that holds a state, and how many states stand before that block.
    pub fn block_of(&self, state: u64) -> (usize, u64) {
        let at = self.blocks.partition_point(|b| b.before <= state).saturating_sub(1);
        (at, self.blocks.get(at).map_or(0, |b| b.before))
    }

    /// The number of the first state of a block.
    pub fn first_of(&self, block: usize) -> u64 {
        self.blocks[block].before
    }

    /// The places of the entries that are written in full, if all states ascend strictly.
    fn ascending(&self) -> Result<Vec<Group>, String> {
        let (mut groups, mut last) = (Vec::<Group>::new(), Vec::new());
        for (number, block) in self.blocks.iter().enumerate() {
            let mut entries =
                Entries { bytes: &self.bytes[block.start..block.end], at: 0, state: Vec::new() };
            for i in 0..block.states {
                let entry = block.start + entries.at;
                let wrong = |why: &str| format!("block {number}, state {i}: {why}");
                let shared = entries.next().map_err(|why| wrong(&why))?;
                if i.is_multiple_of(GROUP) {
                    if shared != 0 {
                        return Err(wrong("an entry that should stand in full does not"));
                    }
                    let (length, number) = (entries.state.len(), block.before + i as u64);
                    let bytes = block.start + entries.at - length;
                    groups.push(Group { entry, end: entry, bytes, length, number });
                }
                if let Some(group) = groups.last_mut() {
                    group.end = block.start + entries.at;
                }
                if (number, i) != (0, 0) && entries.state <= last {
                    return Err(wrong("the states do not ascend"));
                }
                last.clone_from(&entries.state);
            }
            if entries.at != entries.bytes.len() {
                return Err(format!("block {number} has bytes behind its last state"));
            }
        }
        Ok(groups)
    }

    /// Visits the states of a block in order, as long as `visit` agrees.
    pub fn each(&self, block: usize, visit: &mut dyn FnMut(u64, &[u8]) -> bool) {
        let block = &self.blocks[block];
        let mut entries = Entries { bytes: &self.bytes[block.start..block.end], at: 0, state: Vec::new() };
        for i in 0..block.states {
            if entries.next().is_err() || !visit(block.before + i as u64, &entries.state) {
                return;
            }
        }
    }

    /// Whether a state is in the file.
    pub fn contains(&self, state: &[u8]) -> bool {
        self.find(state).is_some()
    }

    /// The number of a state, if it is in the file.
    pub fn find(&self, state: &[u8]) -> Option<u64> {
        self.find_near(state, &mut (self.groups.len() / 2))
    }

    /// How many groups begin with this state or a smaller one, looked for from a guess on, further and further.
    fn groups_below(&self, state: &[u8], guess: usize) -> usize {
        let is_below = |g: &Group| &self.bytes[g.bytes..g.bytes + g.length] <= state;
        // All groups before `low` are below the state, and none from `high` on is.
        let (mut low, mut high, mut at, mut step) = (0, self.groups.len(), guess, 1);
        while low <= at && at < high {
            if is_below(&self.groups[at]) {
                low = at + 1;
                at += step;
            } else {
                high = at;
                at = at.saturating_sub(step);
            }
            step *= 2;
        }
        low + self.groups[low..high].partition_point(is_below)
    }

    /// The number of a state, if it is in the file; it is looked for near a group, and where it belongs is noted.
    pub fn find_near(&self, state: &[u8], near: &mut usize) -> Option<u64> {
        let below = self.groups_below(state, *near);
        *near = below.saturating_sub(1);
        let group = &self.groups[below.checked_sub(1)?];
        let (start, end, mut number) = (group.entry, group.end, group.number);
        let mut entries = Entries { bytes: &self.bytes[start..end], at: 0, state: Vec::new() };
        // How many bytes of the state agree with the entry before; the entry before is smaller.
        let mut agreed = 0;
        while entries.at < entries.bytes.len() {
            let (shared, n) = entries.head().ok()?;
            let suffix = &entries.bytes[entries.at..entries.at + n];
            entries.at += n;
            if shared > agreed {
                number += 1;
                continue;
            }
            if shared < agreed {
                return None;
            }
            let rest = &state[agreed..];
            let common = rest.iter().zip(suffix).take_while(|(a, b)| a == b).count();
            if common == rest.len() && common == suffix.len() {
                return Some(number);
            }
            if suffix[common..] > rest[common..] {
                return None;
            }
            agreed += common;
            number += 1;
        }
        None
    }
}

/// Goes through the entries of a block: how many bytes are those of the entry before, how many follow, and these.
struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    state: Vec<u8>,
}

impl Entries<'_> {
    /// The two lengths of the next entry; the bytes that follow are there.
    fn head(&mut self) -> Result<(usize, usize), String> {
        let (shared, suffix) = (self.length()?, self.length()?);
        if suffix > self.bytes.len() - self.at {
            return Err("a state is cut off".into());
        }
        Ok((shared, suffix))
    }

    /// Reads the next state; the answer is how many bytes it shares with the one before.
    fn next(&mut self) -> Result<usize, String> {
        let (shared, suffix) = self.head()?;
        if shared > self.state.len() {
            return Err("a state shares more than there is".into());
        }
        self.state.truncate(shared);
        self.state.extend_from_slice(&self.bytes[self.at..self.at + suffix]);
        self.at += suffix;
        Ok(shared)
    }

    /// A length: seven bits in each byte, the lowest first; the highest bit says that more follow.
    fn length(&mut self) -> Result<usize, String> {
        if let Some(short @ ..0x80) = self.bytes.get(self.at).copied() {
            self.at += 1;
            return Ok(short.into());
        }
        let (mut n, mut shift) = (0usize, 0);
        loop {
            let byte = *self.bytes.get(self.at).ok_or("a length is cut off")?;
            self.at += 1;
            n |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
            shift += 7;
            if shift > 28 {
                return Err("a length is too long".into());
            }
        }
    }
}

/// Writes a length as `states.bin` has it.
pub fn put_length(mut n: usize, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// The file of some states, for tests and for tools that make certificates of their own.
pub fn write(states: &[Vec<u8>], block: usize) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for block in states.chunks(block) {
        let mut body = Vec::new();
        for (i, state) in block.iter().enumerate() {
            let before: &[u8] = if i.is_multiple_of(GROUP) { &[] } else { &block[i - 1] };
            let shared = before.iter().zip(state).take_while(|(a, b)| a == b).count();
            put_length(shared, &mut body);
            put_length(state.len() - shared, &mut body);
            body.extend_from_slice(&state[shared..]);
        }
        out.extend_from_slice(&(block.len() as u32).to_le_bytes());
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
        out.extend(body);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> =
            (0..500u32).map(|i| (i * i * 7919).to_be_bytes()[..1 + i as usize % 4].to_vec()).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn exactly_the_states_of_the_file_are_found_in_it() {
        let all = some();
        for block in [1, 5, 16, 40, 4096] {
            let states = States::read(write(&all, block)).expect("a right file");
            assert_eq!(states.count, all.len() as u64);
            for n in 0..=0xffffu32 {
                for length in 1..4 {
                    let state = &(n << 9).to_be_bytes()[..length];
                    assert_eq!(states.contains(state), all.binary_search(&state.to_vec()).is_ok());
                }
            }
            assert!(all.iter().enumerate().all(|(i, s)| states.find(s) == Some(i as u64)));
            assert!(!states.contains(&[]) && !states.contains(&[255; 9]));
        }
        assert!(!States::read(MAGIC.to_vec()).expect("no states").contains(&[1]));
    }

    #[test]
    fn states_that_do_not_ascend_are_refused() {
        let mut all = some();
        all.swap(100, 101);
        assert!(States::read(write(&all, 4096)).is_err());
        assert!(States::read(write(&[vec![1], vec![1]], 4096)).is_err());
        assert!(States::read(write(&[vec![1], vec![1]], 1)).is_err());
    }

    #[test]
    fn a_file_with_any_byte_altered_or_missing_has_another_root_or_is_refused() {
        let all = some();
        let right = write(&all[..60], 20);
        let root = States::read(right.clone()).expect("a right file").root;
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            assert!(States::read(wrong).map_or(true, |s| s.root != root));
            assert!(States::read(right[..at].to_vec()).map_or(true, |s| s.root != root));
        }
    }
}
