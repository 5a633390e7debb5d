//! The file of states: blocks of spellings, front-coded and hashed.
//!
//! In: spellings in ascending order. Out: blocks, `states.bin`, its root.
//! Never here: what a spelling means, how the order comes about.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How the file begins: name and version of the format.
const MAGIC: &[u8; 12] = b"BombusStat\x01\n";
/// Entries between two that are written in full, and the most entries of a block.
const GROUP: usize = 16;
pub const BLOCK: usize = 4096;

type Hash = [u8; 32];

/// A hash in hexadecimal digits.
pub fn hex(hash: &[u8]) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

/// Why no file of states was written.
#[derive(Debug)]
pub enum Trouble {
    Io(io::Error),
    /// Two states of a search have one spelling, though states that are told apart have different values.
    Twice,
    /// Spellings did not come in ascending order.
    Disorder,
}

impl From<io::Error> for Trouble {
    fn from(e: io::Error) -> Trouble {
        Trouble::Io(e)
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub root: String,
    pub states: u64,
    pub bytes: u64,
}

/// A block under way: for each state how many bytes it shares with the one before, how many follow, and these.
#[derive(Default)]
pub struct Block {
    body: Vec<u8>,
    entries: usize,
    /// The spelling before, which may belong to the block before.
    last: Vec<u8>,
}

/// A block that is complete, with its head.
pub struct Sealed {
    head: [u8; 8],
    body: Vec<u8>,
    leaf: Hash,
}

impl Block {
    /// A block behind this spelling.
    pub fn behind(last: &[u8]) -> Block {
        Block { last: last.to_vec(), ..Block::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub fn is_full(&self) -> bool {
        self.entries == BLOCK
    }

    /// Adds a spelling: so many first bytes of the one before, and then these.
    pub fn push(&mut self, same: usize, rest: &[u8]) -> Result<(), Trouble> {
        let Block { body, entries, last } = self;
        let old = &last[same..];
        let shared = old.iter().zip(rest).take_while(|(a, b)| a == b).count();
        match (old.get(shared), rest.get(shared)) {
            (None, None) if !last.is_empty() => return Err(Trouble::Twice),
            (Some(a), b) if b.is_none_or(|b| b < a) => return Err(Trouble::Disorder),
            _ => {}
        }
        last.truncate(same);
        last.extend_from_slice(rest);
        let shared = if entries.is_multiple_of(GROUP) { 0 } else { same + shared };
        length(shared, body);
        length(last.len() - shared, body);
        body.extend_from_slice(&last[shared..]);
        *entries += 1;
        Ok(())
    }

    /// The block, and room for the next one.
    pub fn seal(&mut self) -> io::Result<Sealed> {
        let body = std::mem::take(&mut self.body);
        let size =
            u32::try_from(body.len()).map_err(|_| io::Error::other("a block of states is too large"))?;
        let mut head = [0; 8];
        head[..4].copy_from_slice(&(self.entries as u32).to_le_bytes());
        head[4..].copy_from_slice(&size.to_le_bytes());
        self.entries = 0;
        let leaf = Sha256::new().chain_update([0]).chain_update(head).chain_update(&body).finalize().into();
        Ok(Sealed { head, body, leaf })
    }
}

/// The file, block after block.
pub struct Blocks {
    out: BufWriter<File>,
    leaves: Vec<Hash>,
    states: u64,
    bytes: u64,
}

impl Blocks {
    pub fn create(path: &Path) -> io::Result<Blocks> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        out.write_all(MAGIC)?;
        Ok(Blocks { out, leaves: Vec::new(), states: 0, bytes: MAGIC.len() as u64 })
    }

    pub fn push(&mut self, block: &Sealed) -> io::Result<()> {
        let Sealed { head, body, leaf } = block;
        self.out.write_all(head)?;
        self.out.write_all(body)?;
        self.leaves.push(*leaf);
        self.states += u64::from(u32::from_le_bytes([head[0], head[1], head[2], head[3]]));
        self.bytes += (head.len() + body.len()) as u64;
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<Written> {
        self.out.flush()?;
        Ok(Written { root: hex(&root(self.leaves)), states: self.states, bytes: self.bytes })
    }
}

/// Seven bits in each byte, the lowest first; the highest bit says that more follow.
fn length(mut n: usize, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// The root over leaves: two neighbours make a node, a last one without a neighbour rises as it is.
fn root(mut level: Vec<Hash>) -> Hash {
    if level.is_empty() {
        return Sha256::digest([0]).into();
    }
    while level.len() > 1 {
        let node = |two: &[Hash]| match two {
            [a, b] => Sha256::new().chain_update([1]).chain_update(a).chain_update(b).finalize().into(),
            one => one[0],
        };
        level = level.chunks(2).map(node).collect();
    }
    level[0]
}
