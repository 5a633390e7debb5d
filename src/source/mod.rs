//! Files to texts: reading, and where a referenced file is looked for.
//!
//! In: the path the user named, directories of `--include`. Out: texts in `Sources`.
//! Never here: what a text means.
//!
//! Invariant: only regular files below the directory of the main file or below a directory the user
//! named are opened, wherever a reference, a `..` or a symbolic link points.
#![forbid(unsafe_code)]

mod library;
pub mod project;

use bombus_base::diagnostic::{Diagnostic, Sources};
use bombus_base::{FileId, Span};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A single text may not be larger; real models stay far below.
const MAX_FILE_BYTES: u64 = 32 << 20;
/// Nor may all texts of a model together.
const MAX_TOTAL_BYTES: u64 = 128 << 20;
/// Nor may there be more files.
const MAX_FILES: usize = 2_000;

/// Where a reference leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    File(PathBuf),
    /// A definition file or machine that comes with Bombus; its name.
    Library(&'static str),
    Nowhere,
    /// It exists, but outside of the directories that may be read.
    Outside(PathBuf),
}

pub struct Reader {
    /// The directory of the main file, as the user named it.
    home: PathBuf,
    /// Directories that may be read, resolved; the first one is that of the main file.
    roots: Vec<PathBuf>,
    include: Vec<PathBuf>,
    known: HashMap<PathBuf, FileId>,
    library: HashMap<&'static str, FileId>,
    bytes: u64,
    /// Texts that stand in for the content of files, by resolved paths.
    unsaved: BTreeMap<PathBuf, Arc<str>>,
}

impl Reader {
    /// A reader for the project of one main file.
    pub fn new(main: &Path, include: &[PathBuf]) -> Self {
        let home = match main.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
            _ => PathBuf::from("."),
        };
        // The main file itself may be a link; what it refers to is looked for beside the link.
        let roots = std::iter::once(&home).chain(include).filter_map(|dir| dir.canonicalize().ok()).collect();
        let home = main.parent().map(Path::to_path_buf).unwrap_or_default();
        let include = include.to_vec();
        let (known, library) = (HashMap::new(), HashMap::new());
        Reader { home, roots, include, known, library, bytes: 0, unsaved: BTreeMap::new() }
    }

    /// Reads these texts instead of the files they belong to.
    pub fn with_unsaved(mut self, texts: &BTreeMap<PathBuf, Arc<str>>) -> Self {
        self.unsaved.clone_from(texts);
        self
    }

    /// A path as the user would name it: what lies beside the main file is named as the main file was.
    fn shown(&self, path: &Path) -> String {
        let beside = self.roots.first().and_then(|root| path.strip_prefix(root).ok());
        beside.map_or_else(|| path.to_path_buf(), |rest| self.home.join(rest)).display().to_string()
    }

    /// Reads a file once; later calls give the same id.
    pub fn read(&mut self, path: &Path, sources: &mut Sources) -> Result<FileId, Diagnostic> {
        let shown = path.display();
        let key = path
            .canonicalize()
            .map_err(|e| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(&e))))?;
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        let info = fs::metadata(&key)
            .map_err(|e| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(&e))))?;
        if info.is_dir() {
            return Err(Diagnostic::plain(format!("`{shown}` is a directory, not a file")));
        }
        if !info.is_file() {
            return Err(Diagnostic::plain(format!("`{shown}` is not a regular file")));
        }
        if info.len() > MAX_FILE_BYTES {
            return Err(Diagnostic::plain(format!("`{shown}` is larger than {} MiB", MAX_FILE_BYTES >> 20)));
        }
        self.bytes += info.len();
        if self.bytes > MAX_TOTAL_BYTES || self.known.len() >= MAX_FILES {
            return Err(Diagnostic::plain(format!(
                "the model is larger than {} MiB or has more than {MAX_FILES} files",
                MAX_TOTAL_BYTES >> 20
            )));
        }
        let text = match self.unsaved.get(&key) {
            Some(text) => text.to_string(),
            None => decode(
                fs::read(&key)
                    .map_err(|e| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(&e))))?,
            ),
        };
        let id = sources.add(self.shown(path), Some(&key), text);
        self.known.insert(key, id);
        Ok(id)
    }

    /// The text of a definition file that comes with Bombus.
    pub fn read_library(&mut self, name: &'static str, sources: &mut Sources) -> FileId {
        *self.library.entry(name).or_insert_with(|| {
            let text = library::text(name).unwrap_or_default();
            sources.add(format!("<library {name}>"), None, text)
        })
    }

    /// Looks for the first of `names` beside the referring file, then in the directories of `--include`.
    pub fn find(&self, beside: Option<&Path>, names: &[String]) -> Found {
        let home = beside.and_then(Path::parent);
        let mut outside = None;
        for dir in home.into_iter().chain(self.include.iter().map(PathBuf::as_path)) {
            for name in names {
                let candidate = dir.join(name);
                let Ok(resolved) = candidate.canonicalize() else { continue };
                if self.roots.iter().any(|root| resolved.starts_with(root)) {
                    return Found::File(candidate);
                }
                outside = outside.or(Some(candidate));
            }
        }
        match outside {
            Some(path) => Found::Outside(path),
            None => Found::Nowhere,
        }
    }

    /// Looks for a machine: as `find`, then among those that come with Bombus.
    pub fn find_machine(&self, beside: Option<&Path>, names: &[String]) -> Found {
        match self.find(beside, names) {
            Found::Nowhere => {
                names.iter().find_map(|name| library::known(name)).map_or(Found::Nowhere, Found::Library)
            }
            found => found,
        }
    }

    /// Looks for a definition file: as `find`, then among those that come with Bombus.
    pub fn find_definitions(&self, beside: Option<&Path>, name: &str) -> Found {
        match self.find(beside, &[name.to_owned()]) {
            Found::Nowhere => library::known(name).map_or(Found::Nowhere, Found::Library),
            found => found,
        }
    }
}

/// The message for a reference that leads nowhere, or where it must not.
pub fn missing(what: &str, name: &str, found: &Found, at: Span) -> Diagnostic {
    match found {
        Found::Outside(path) => {
            let dir = path.parent().unwrap_or(Path::new(".")).display().to_string();
            Diagnostic::error(at, format!("the {what} `{name}` lies outside of the model's directory"))
                .help(format!("allow it with `--include {dir}`"))
        }
        _ => Diagnostic::error(at, format!("cannot find the {what} `{name}`"))
            .help("put it beside the model, or name its directory with `--include DIR`"),
    }
}

/// UTF-8, or Latin-1 where it is not: old models have accents in their comments.
fn decode(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
        Err(e) => e.into_bytes().iter().map(|b| char::from(*b)).collect(),
    }
}

fn reason(e: &std::io::Error) -> &'static str {
    match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such file",
        std::io::ErrorKind::PermissionDenied => "permission denied",
        _ => "it cannot be opened",
    }
}
