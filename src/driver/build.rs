//! Which program this is: what tells one build from another.
//!
//! Out: the build id that the linker wrote into the file of this program, a hash of what was linked; where there is none, the
//! hash of the file, which takes longer.
//! Never here: versions.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Notes are short; more than this is not read.
const MOST: u64 = 1 << 16;

/// The id in hexadecimal digits.
pub fn id() -> String {
    let Ok(path) = std::env::current_exe() else { return "unknown".into() };
    let noted = File::open(&path).ok().and_then(|mut file| note(&mut file));
    let id = noted.or_else(|| std::fs::read(&path).ok().map(|bytes| Sha256::digest(bytes).to_vec()));
    id.map_or_else(|| "unknown".into(), |id| id.iter().map(|b| format!("{b:02x}")).collect())
}

/// The build id of an ELF file of 64 bits.
fn note<F: Read + Seek>(file: &mut F) -> Option<Vec<u8>> {
    let head = read(file, 0, 64)?;
    if head[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let number = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
    };
    let (first, each, count) = (number(&head, 32, 8), number(&head, 54, 2), number(&head, 56, 2));
    (0..count).find_map(|n| {
        let segment = read(file, first.checked_add(n * each)?, 56)?;
        // Segments of type 4 hold notes.
        if number(&segment, 0, 4) != 4 {
            return None;
        }
        let notes = read(file, number(&segment, 8, 8), number(&segment, 32, 8))?;
        let mut rest = &notes[..];
        while rest.len() >= 12 {
            let (name, text) = (number(rest, 0, 4) as usize, number(rest, 4, 4) as usize);
            let start = 12 + name.next_multiple_of(4);
            let end = start.checked_add(text)?;
            // A note of type 3 by this owner is a build id.
            if number(rest, 8, 4) == 3 && rest.get(12..16) == Some(b"GNU\0") {
                return rest.get(start..end).map(<[u8]>::to_vec);
            }
            rest = rest.get(end.next_multiple_of(4)..)?;
        }
        None
    })
}

fn read<F: Read + Seek>(file: &mut F, at: u64, size: u64) -> Option<Vec<u8>> {
    if size > MOST {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A file with a segment of notes: one of another owner, and a build id.
    fn file(kind: u8) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (file[32], file[54], file[56]) = (64, 56, 1);
        (file[64], file[64 + 8], file[64 + 32]) = (4, 120, 20 + 16 + 5);
        file.extend([5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
        file.extend(b"Abcd\0\0\0\0");
        file.extend([4, 0, 0, 0, 5, 0, 0, 0, kind, 0, 0, 0]);
        file.extend(b"GNU\0");
        file.extend([1, 2, 3, 4, 5]);
        file
    }

    #[test]
    fn the_build_id_is_found_among_the_notes() {
        assert_eq!(note(&mut Cursor::new(file(3))), Some(vec![1, 2, 3, 4, 5]));
        assert_eq!(note(&mut Cursor::new(file(2))), None, "a note of another type");
        assert_eq!(note(&mut Cursor::new(vec![0; 200])), None, "no such file");
    }

    #[test]
    fn a_damaged_file_has_no_build_id_but_no_harm_is_done() {
        let whole = file(3);
        for cut in 0..whole.len() {
            assert_eq!(note(&mut Cursor::new(whole[..cut].to_vec())), None);
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] = 255;
            note(&mut Cursor::new(bytes));
        }
    }
}
