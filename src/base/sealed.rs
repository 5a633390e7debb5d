//! A stream of bytes in which every damage is noticed: cut, changed, moved or mixed with another one.
//!
//! In: bytes to be kept. Out: blocks, each with a checksum that also covers the checksum of the block
//! before; an empty block ends the stream. A reader hands out a block only after its checksum was
//! found right, and the end only where it was written.
//! Never here: files, and what the bytes mean.

use bombus_kernels::hash;
use std::io::{self, Read, Write};

const MAGIC: &[u8; 16] = b"bombus sealed 1\n";
/// Bytes of a full block.
const BLOCK: usize = 1 << 20;
/// Before the bytes of a block stand the checksum of the block before and the length.
const HEAD: usize = 20;

/// Seals what is written to it.
pub struct Sealer<W: Write> {
    inner: W,
    /// Head and bytes of the block that is being filled.
    block: Vec<u8>,
    begun: bool,
}

impl<W: Write> Sealer<W> {
    pub fn new(inner: W) -> Self {
        Sealer { inner, block: vec![0; HEAD], begun: false }
    }

    /// Writes the last block and the mark of the end, and gives the inner writer back.
    pub fn finish(mut self) -> io::Result<W> {
        if self.block.len() > HEAD {
            self.put_block()?;
        }
        self.put_block()?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn put_block(&mut self) -> io::Result<()> {
        if !self.begun {
            self.inner.write_all(MAGIC)?;
            self.begun = true;
        }
        let length = (self.block.len() - HEAD) as u32;
        self.block[16..HEAD].copy_from_slice(&length.to_le_bytes());
        let sum = hash::bytes(&self.block).to_le_bytes();
        self.inner.write_all(&self.block[16..])?;
        self.inner.write_all(&sum)?;
        self.block.truncate(HEAD);
        self.block[..16].copy_from_slice(&sum);
        Ok(())
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.len() == HEAD + BLOCK {
            self.put_block()?;
        }
        let count = bytes.len().min(HEAD + BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// Blocks are written when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads what a `Sealer` wrote; any damage is an error of kind `InvalidData`.
pub struct Unsealer<R: Read> {
    inner: R,
    block: Vec<u8>,
    at: usize,
    number: u64,
    ended: bool,
}

impl<R: Read> Unsealer<R> {
    pub fn new(mut inner: R) -> io::Result<Self> {
        let mut magic = [0; 16];
        fill(&mut inner, &mut magic, "the beginning")?;
        if magic != *MAGIC {
            return Err(damage("it does not begin as such a file does".into()));
        }
        Ok(Unsealer { inner, block: vec![0; HEAD], at: HEAD, number: 0, ended: false })
    }

    fn next_block(&mut self) -> io::Result<()> {
        let name = format!("block {}", self.number);
        self.number += 1;
        fill(&mut self.inner, &mut self.block[16..HEAD], &name)?;
        let length = u32::from_le_bytes([self.block[16], self.block[17], self.block[18], self.block[19]]);
        if length as usize > BLOCK {
            return Err(damage(format!("{name} is too long")));
        }
        self.block.resize(HEAD + length as usize, 0);
        fill(&mut self.inner, &mut self.block[HEAD..], &name)?;
        let mut sum = [0; 16];
        fill(&mut self.inner, &mut sum, &name)?;
        if hash::bytes(&self.block).to_le_bytes() != sum {
            return Err(damage(format!("{name} does not match its checksum")));
        }
        self.block[..16].copy_from_slice(&sum);
        self.at = HEAD;
        if length == 0 {
            self.ended = true;
            if self.inner.read(&mut [0])? != 0 {
                return Err(damage("something follows its end".into()));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Unsealer<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() && !self.ended && !out.is_empty() {
            self.next_block()?;
        }
        let count = out.len().min(self.block.len() - self.at);
        out[..count].copy_from_slice(&self.block[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn fill(from: &mut impl Read, out: &mut [u8], name: &str) -> io::Result<()> {
    from.read_exact(out).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => damage(format!("it ends within {name}")),
        _ => e,
    })
}

fn damage(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is damaged: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(bytes: &[u8]) -> Vec<u8> {
        let mut sealer = Sealer::new(Vec::new());
        sealer.write_all(bytes).unwrap();
        sealer.finish().unwrap()
    }

    fn unseal(sealed: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Unsealer::new(sealed)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn some(length: usize, seed: u64) -> Vec<u8> {
        (0..length as u64).map(|i| hash::mix(i + (seed << 40)) as u8).collect()
    }

    #[test]
    fn what_was_sealed_comes_back() {
        for length in [0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let bytes = some(length, 1);
            assert_eq!(unseal(&seal(&bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let sealed = seal(&some(300, 2));
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut wrong = sealed.clone();
                wrong[at] ^= 1 << bit;
                assert!(unseal(&wrong).is_err(), "bit {bit} of byte {at}");
            }
            assert!(unseal(&sealed[..at]).is_err(), "cut at {at}");
        }
        let mut longer = sealed.clone();
        longer.push(0);
        assert!(unseal(&longer).is_err());
    }

    #[test]
    fn blocks_of_other_places_and_other_streams_are_noticed() {
        let step = 4 + BLOCK + 16;
        let (one, other) = (seal(&some(3 * BLOCK, 3)), seal(&some(3 * BLOCK, 4)));
        let mut swapped = one.clone();
        let (first, second) = swapped[16..16 + 2 * step].split_at_mut(step);
        first.swap_with_slice(second);
        assert!(unseal(&swapped).is_err(), "two blocks swapped");
        let mut mixed = one.clone();
        mixed[16 + step..16 + 2 * step].copy_from_slice(&other[16 + step..16 + 2 * step]);
        assert!(unseal(&mixed).is_err(), "a block of another stream");
        let mut dropped = one.clone();
        dropped.drain(16 + step..16 + 2 * step);
        assert!(unseal(&dropped).is_err(), "a block left out");
    }

    /// A writer with room for so many bytes.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            let count = bytes.len().min(self.0);
            self.0 -= count;
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_wherever_it_strikes() {
        let bytes = some(2 * BLOCK, 5);
        let whole = seal(&bytes).len();
        for room in (0..whole).step_by(whole / 50) {
            let mut sealer = Sealer::new(Small(room));
            let result = sealer.write_all(&bytes).and_then(|()| sealer.finish().map(|_| ()));
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull, "room {room}");
        }
    }
}
