//! Files that a model reads as data while formulas are evaluated: tables, documents, names in a directory.
//!
//! In: the directory of the model and those of `--allow-files`. Out: contents and names, or the words of a refusal.
//! Never here: what the contents mean, and no file is ever written.
//!
//! Invariants: nothing outside of these directories is looked at, wherever a `..` or a symbolic link points; what was
//! answered once is answered again, so that a file that changes during a run does not change a value.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A single file may not be larger.
const MAX_BYTES: u64 = 32 << 20;
/// Nor may all files of a run together.
const MAX_TOTAL: u64 = 128 << 20;
/// Nor may a directory hold more names.
const MAX_NAMES: usize = 100_000;

/// What stands under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File { bytes: u64 },
    Directory,
    Nothing,
}

/// The files that a model may read. Without directories everything is refused.
#[derive(Debug, Default)]
pub struct DataFiles {
    /// Relative names start here: the directory of the model.
    home: PathBuf,
    /// Resolved directories below which files may be read.
    roots: Vec<PathBuf>,
    answers: Mutex<Answers>,
}

#[derive(Debug, Default)]
struct Answers {
    contents: BTreeMap<PathBuf, Result<Arc<[u8]>, String>>,
    names: BTreeMap<PathBuf, Result<Arc<Listing>, String>>,
    kinds: BTreeMap<PathBuf, Kind>,
    bytes: u64,
}

/// The names in one directory, sorted; what is neither a file nor a directory is left out.
#[derive(Debug, Default)]
pub struct Listing {
    pub files: Vec<String>,
    pub directories: Vec<String>,
}

impl DataFiles {
    /// The files beside and below a model, and below the directories that the user allows.
    pub fn beside(model: &Path, allowed: &[PathBuf]) -> DataFiles {
        let home = match model.parent() {
            _ if model.is_dir() => model.to_path_buf(),
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let roots = std::iter::once(&home).chain(allowed).filter_map(|dir| dir.canonicalize().ok()).collect();
        DataFiles { home, roots, answers: Mutex::default() }
    }

    /// The bytes of a file.
    pub fn read(&self, name: &str) -> Result<Arc<[u8]>, String> {
        let Some(path) = self.resolve(name)? else {
            return Err(format!("cannot read `{name}`: there is no such file"));
        };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = answers.contents.get(&path) {
            return known.clone();
        }
        let contents: Result<Arc<[u8]>, String> = match fs::metadata(&path) {
            Ok(info) if !info.is_file() => Err(format!("cannot read `{name}`: it is not a file")),
            Ok(info) if info.len() > MAX_BYTES => {
                Err(format!("`{name}` is larger than {} MiB", MAX_BYTES >> 20))
            }
            Ok(info) if answers.bytes + info.len() > MAX_TOTAL => {
                Err(format!("the files that the model reads are larger than {} MiB", MAX_TOTAL >> 20))
            }
            Ok(_) => match fs::read(&path) {
                Ok(bytes) if bytes.len() as u64 <= MAX_BYTES => Ok(Arc::from(bytes)),
                Ok(_) => Err(format!("`{name}` is larger than {} MiB", MAX_BYTES >> 20)),
                Err(_) => Err(format!("cannot read `{name}`")),
            },
            Err(_) => Err(format!("cannot read `{name}`")),
        };
        if let Ok(bytes) = &contents {
            answers.bytes += bytes.len() as u64;
        }
        answers.contents.insert(path, contents.clone());
        contents
    }

    /// The text of a file: UTF-8, or Latin-1 where it is not.
    pub fn text(&self, name: &str) -> Result<String, String> {
        let bytes = self.read(name)?;
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
            Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
        })
    }

    /// What stands under a name.
    pub fn kind(&self, name: &str) -> Result<Kind, String> {
        let Some(path) = self.resolve(name)? else { return Ok(Kind::Nothing) };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = answers.kinds.entry(path).or_insert_with_key(|path| match fs::metadata(path) {
            Ok(info) if info.is_dir() => Kind::Directory,
            Ok(info) if info.is_file() => Kind::File { bytes: info.len() },
            _ => Kind::Nothing,
        });
        Ok(*kind)
    }

    /// The names in a directory.
    pub fn list(&self, name: &str) -> Result<Arc<Listing>, String> {
        let Some(path) = self.resolve(name)? else {
            return Err(format!("cannot read `{name}`: there is no such directory"));
        };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = answers.names.entry(path).or_insert_with_key(|path| listing(path, name));
        listing.clone()
    }

    /// A name inside a directory as the model's functions give it: the directory's own words and the name.
    pub fn joined(directory: &str, name: &str) -> String {
        Path::new(directory).join(name).display().to_string()
    }

    /// The resolved path of a name, or nothing where nothing stands.
    fn resolve(&self, name: &str) -> Result<Option<PathBuf>, String> {
        let outside = || {
            format!(
                "`{name}` lies outside of the model's directory; `--allow-files DIR` permits files below another one"
            )
        };
        if self.roots.is_empty() {
            return Err(format!("`{name}` is not read: the model has no directory"));
        }
        match self.home.join(name).canonicalize() {
            Ok(path) if self.roots.iter().any(|root| path.starts_with(root)) => Ok(Some(path)),
            Ok(_) => Err(outside()),
            // Even whether something is missing outside of the directories is not told.
            Err(_) => {
                let climbs = Path::new(name).components().any(|part| {
                    !matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir)
                });
                if climbs { Err(outside()) } else { Ok(None) }
            }
        }
    }
}

fn listing(path: &Path, name: &str) -> Result<Arc<Listing>, String> {
    let entries = fs::read_dir(path).map_err(|_| format!("cannot read `{name}`: it is not a directory"))?;
    let mut listing = Listing::default();
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let entry = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            listing.directories.push(entry);
        } else if kind.is_file() {
            listing.files.push(entry);
        }
        if listing.files.len() + listing.directories.len() > MAX_NAMES {
            return Err(format!("`{name}` holds more than {MAX_NAMES} names"));
        }
    }
    listing.files.sort();
    listing.directories.sort();
    Ok(Arc::new(listing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_below_the_model_s_directory_and_below_allowed_ones_only() {
        let place = tempfile::tempdir().expect("a directory");
        let (inner, other) = (place.path().join("inner"), place.path().join("other"));
        for dir in [&inner, &other] {
            fs::create_dir(dir).expect("a directory");
            fs::write(dir.join("t.csv"), "1,2").expect("a file");
        }
        let model = inner.join("m.mch");
        let files = DataFiles::beside(&model, &[]);
        assert_eq!(files.text("t.csv"), Ok("1,2".into()));
        assert_eq!(files.kind("u.csv"), Ok(Kind::Nothing));
        for outside in ["../other/t.csv", "../other/missing.csv", "/etc/passwd"] {
            assert!(files.text(outside).is_err_and(|e| e.contains("--allow-files")), "{outside}");
            assert!(files.kind(outside).is_err(), "{outside}");
        }
        let wider = DataFiles::beside(&model, &[other]);
        assert_eq!(wider.text("../other/t.csv"), Ok("1,2".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_of_the_directory_is_not_followed() {
        let place = tempfile::tempdir().expect("a directory");
        let inner = place.path().join("inner");
        fs::create_dir(&inner).expect("a directory");
        fs::write(place.path().join("t.csv"), "1").expect("a file");
        std::os::unix::fs::symlink(place.path().join("t.csv"), inner.join("t.csv")).expect("a link");
        assert!(DataFiles::beside(&inner.join("m.mch"), &[]).read("t.csv").is_err());
    }

    #[test]
    fn a_file_that_changes_during_a_run_keeps_its_first_contents() {
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("t.txt");
        fs::write(&file, "one").expect("a file");
        let files = DataFiles::beside(&place.path().join("m.mch"), &[]);
        assert_eq!(files.text("t.txt"), Ok("one".into()));
        fs::write(&file, "two").expect("a file");
        assert_eq!(files.text("t.txt"), Ok("one".into()));
    }
}
