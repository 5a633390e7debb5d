//! Rodin projects: a directory, a file inside one, or a zipped project, to texts.
//!
//! In: the path the user named. Out: the component files of one project, each with its text among the
//! sources. Nothing is unpacked to disk and nothing outside of the project is read: links that lead
//! out, archive names that climb out and archives that expand without end are refused.
//! Never here: what the texts mean.

use super::{MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, decode, reason};
use bombus_base::FileId;
use bombus_base::diagnostic::{Diagnostic, Sources};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// Files that say something about a model; everything else in a project is for Rodin alone.
const COMPONENTS: &[&str] = &["bum", "buc", "bcm", "bcc", "bps", "bpo", "tuf", "dtf", "tul"];

/// One file of a project.
#[derive(Clone, Debug)]
pub struct ComponentFile {
    /// The name of the component: the file's name without its extension.
    pub name: String,
    /// In lower case, without the dot.
    pub extension: String,
    pub file: FileId,
}

impl ComponentFile {
    /// Whether the extension promises a machine.
    pub fn is_machine(&self) -> bool {
        matches!(self.extension.as_str(), "bum" | "bcm")
    }
}

#[derive(Clone, Debug, Default)]
pub struct ProjectFiles {
    /// Sorted by name and extension.
    pub files: Vec<ComponentFile>,
    /// The component the user named, by an option or because it was a file inside the project.
    pub chosen: Option<String>,
}

/// Reads the project that a path names. Where an archive holds several projects, `wanted`, the name of a component
/// or PROJECT/COMPONENT, tells which one.
pub fn read_project(
    path: &Path,
    wanted: Option<&str>,
    sources: &mut Sources,
) -> Result<ProjectFiles, Diagnostic> {
    let shown = path.display();
    let info = fs::metadata(path)
        .map_err(|e| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(&e))))?;
    if info.is_dir() {
        let chosen = wanted.map(str::to_owned);
        return Ok(ProjectFiles { files: read_directory(path, sources)?, chosen });
    }
    if extension(path) == "zip" {
        return read_archive(path, wanted, sources);
    }
    let directory = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let chosen =
        wanted.map(str::to_owned).or_else(|| path.file_stem().map(|s| s.to_string_lossy().into_owned()));
    Ok(ProjectFiles { files: read_directory(&directory, sources)?, chosen })
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Keeps the limits on how much is read.
#[derive(Default)]
struct Allowance {
    bytes: u64,
    files: usize,
}

impl Allowance {
    fn spend(&mut self, shown: &str, bytes: u64) -> Result<(), Diagnostic> {
        if bytes > MAX_FILE_BYTES {
            return Err(Diagnostic::plain(format!("`{shown}` is larger than {} MiB", MAX_FILE_BYTES >> 20)));
        }
        self.bytes += bytes;
        self.files += 1;
        if self.bytes > MAX_TOTAL_BYTES || self.files > MAX_FILES {
            return Err(Diagnostic::plain(format!(
                "the project is larger than {} MiB or has more than {MAX_FILES} files",
                MAX_TOTAL_BYTES >> 20
            )));
        }
        Ok(())
    }
}

fn read_directory(directory: &Path, sources: &mut Sources) -> Result<Vec<ComponentFile>, Diagnostic> {
    let shown = directory.display();
    let fail = |e: &std::io::Error| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(e)));
    let root = directory.canonicalize().map_err(|e| fail(&e))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(|e| fail(&e))? {
        let path = entry.map_err(|e| fail(&e))?.path();
        if path.is_dir() {
            folders.push(path);
        } else if COMPONENTS.contains(&extension(&path).as_str()) {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return read_only_folder(directory, folders, sources);
    }
    let mut allowance = Allowance::default();
    let mut files = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let fail = |e: &std::io::Error| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(e)));
        let real = path.canonicalize().map_err(|e| fail(&e))?;
        if !real.starts_with(&root) {
            return Err(Diagnostic::plain(format!("`{shown}` leads out of the project")));
        }
        let info = fs::metadata(&real).map_err(|e| fail(&e))?;
        if !info.is_file() {
            return Err(Diagnostic::plain(format!("`{shown}` is not a regular file")));
        }
        allowance.spend(&shown, info.len())?;
        let text = decode(fs::read(&real).map_err(|e| fail(&e))?);
        files.push(component(&path, &shown, Some(&real), text, sources));
    }
    Ok(files)
}

/// A directory without components may hold one project.
fn read_only_folder(
    directory: &Path,
    folders: Vec<PathBuf>,
    sources: &mut Sources,
) -> Result<Vec<ComponentFile>, Diagnostic> {
    let holds_components = |folder: &PathBuf| {
        fs::read_dir(folder).is_ok_and(|entries| {
            entries.flatten().any(|e| matches!(extension(&e.path()).as_str(), "bum" | "buc" | "bcm" | "bcc"))
        })
    };
    let mut projects: Vec<PathBuf> = folders.into_iter().filter(holds_components).collect();
    projects.sort();
    match projects.as_slice() {
        [] => Err(Diagnostic::plain(format!("`{}` holds no Event-B components", directory.display()))
            .help("a Rodin project has files that end in .bum and .buc")),
        [one] => read_directory(one, sources),
        several => Err(ambiguous(several.iter().map(|p| p.display().to_string())).help("name one of them")),
    }
}

fn ambiguous(projects: impl Iterator<Item = String>) -> Diagnostic {
    let names: Vec<String> = projects.collect();
    Diagnostic::plain(format!("there are several projects: {}", names.join(", ")))
}

fn component(
    path: &Path,
    shown: &str,
    real: Option<&Path>,
    text: String,
    sources: &mut Sources,
) -> ComponentFile {
    ComponentFile {
        name: path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(),
        extension: extension(path),
        file: sources.add(shown, real, text),
    }
}

fn read_archive(
    path: &Path,
    wanted: Option<&str>,
    sources: &mut Sources,
) -> Result<ProjectFiles, Diagnostic> {
    let shown = path.display();
    let info = fs::metadata(path)
        .map_err(|e| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(&e))))?;
    if info.len() > MAX_TOTAL_BYTES {
        return Err(Diagnostic::plain(format!("`{shown}` is larger than {} MiB", MAX_TOTAL_BYTES >> 20)));
    }
    let bytes =
        fs::read(path).map_err(|e| Diagnostic::plain(format!("cannot read `{shown}`: {}", reason(&e))))?;
    let broken =
        |e: &dyn std::fmt::Display| Diagnostic::plain(format!("`{shown}` is no readable archive: {e}"));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| broken(&e))?;
    if archive.len() > MAX_FILES {
        return Err(Diagnostic::plain(format!("`{shown}` has more than {MAX_FILES} entries")));
    }
    let mut allowance = Allowance::default();
    // Folder of the archive, and the components in it with their texts.
    let mut projects: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(|e| broken(&e))?;
        // Nothing is ever written under these names; one that points outside is no project of Rodin all the same.
        let rooted = matches!(entry.name_raw().first(), Some(b'/' | b'\\'));
        let Some(name) = entry.enclosed_name().filter(|_| !rooted) else {
            return Err(Diagnostic::plain(format!(
                "`{shown}`: the entry `{}` leads out of the archive",
                String::from_utf8_lossy(entry.name_raw())
            )));
        };
        if entry.is_dir() || !COMPONENTS.contains(&extension(&name).as_str()) {
            continue;
        }
        let entry_name = name.display().to_string();
        // The size an entry claims may be a lie; what counts is what comes out.
        let mut text = Vec::new();
        entry.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(|e| broken(&e))?;
        allowance.spend(&format!("{shown}:{entry_name}"), text.len() as u64)?;
        let folder = name.parent().map(Path::to_path_buf).unwrap_or_default();
        projects.entry(folder).or_default().push((name, decode(text)));
    }
    let holds_model = |files: &[(PathBuf, String)]| {
        files.iter().any(|(p, _)| matches!(extension(p).as_str(), "bum" | "buc" | "bcm" | "bcc"))
    };
    projects.retain(|_, files| holds_model(files));
    let mut chosen = wanted.map(str::to_owned);
    if projects.len() > 1 {
        let all: Vec<String> = projects.keys().map(|p| p.display().to_string()).collect();
        let (project, machine) = match wanted.and_then(|w| w.rsplit_once('/')) {
            Some((project, machine)) => (Some(project), Some(machine)),
            None => (None, wanted),
        };
        projects.retain(|folder, files| {
            project.is_none_or(|p| folder.as_path() == Path::new(p))
                && machine.is_some_and(|c| files.iter().any(|(p, _)| p.file_stem().is_some_and(|s| s == c)))
        });
        if projects.len() != 1 {
            return Err(ambiguous(all.into_iter())
                .help("choose a machine of one of them with --machine PROJECT/NAME"));
        }
        chosen = machine.map(str::to_owned);
    }
    let Some((_, mut files)) = projects.pop_first() else {
        return Err(Diagnostic::plain(format!("`{shown}` holds no Event-B components")));
    };
    files.sort();
    let files = files
        .into_iter()
        .map(|(name, text)| {
            let place = format!("{shown}:{}", name.display());
            component(&name, &place, None, text, sources)
        })
        .collect();
    Ok(ProjectFiles { files, chosen })
}
