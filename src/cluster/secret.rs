//! Secrets: where one comes from, and who may read it.
//!
//! In: a file, or standard input. Out: the bytes, or why they are no secret.
//! Never here: what a secret is used for.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes of a secret that is made here, and the least that is accepted.
const LENGTH: usize = 32;
const LEAST: usize = 16;
/// Bytes that are read at most.
const MOST: u64 = 4096;

/// Makes a secret that only this user can read. An existing file is not touched.
pub fn create(path: &Path) -> Result<(), String> {
    let wrong = |e: io::Error| format!("cannot write {}: {e}", path.display());
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|e| format!("no random bytes: {e}"))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    options.open(path).and_then(|mut file| file.write_all(format!("{text}\n").as_bytes())).map_err(wrong)
}

/// Reads a secret that nobody else can read.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |e: io::Error| format!("cannot read {}: {e}", path.display());
    let file = fs::File::open(path).map_err(wrong)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(wrong)?);
        if mode & 0o077 != 0 {
            return Err(format!(
                "{}: others can read this secret (mode {:o}); make it yours by chmod 600",
                path.display(),
                mode & 0o777
            ));
        }
    }
    from(file).map_err(|why| format!("{}: {why}", path.display()))
}

/// Reads a secret up to its end, without spaces around it.
pub fn from(input: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    input.take(MOST).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    let bytes = bytes.trim_ascii().to_vec();
    if bytes.len() < LEAST {
        return Err(format!("a secret of {} bytes is too short: it takes {LEAST}", bytes.len()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_is_read_back_and_no_two_are_alike() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        create(&one).unwrap();
        create(&two).unwrap();
        assert_eq!(read(&one).unwrap().len(), 2 * LENGTH);
        assert_ne!(read(&one).unwrap(), read(&two).unwrap());
        assert!(create(&one).is_err(), "an existing file is not replaced");
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        create(&path).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o640);
        fs::set_permissions(&path, open).unwrap();
        assert!(read(&path).unwrap_err().contains("chmod 600"));
    }

    #[test]
    fn a_short_secret_is_refused() {
        assert!(from(&b"  123456789012345 "[..]).is_err());
        assert_eq!(from(&b" 1234567890123456\n"[..]).unwrap().len(), 16);
    }
}
