//! Models as named on the command line: files, folders, standard input, names without their extension.
//!
//! In: paths as typed. Out: the models to check, one after the other, or a message with a way out.
//! Never here: reading a model; a folder is looked at only to tell a Rodin project from a folder of models.

use crate::base::text::distance;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Extensions of files that are models by themselves.
const MODELS: [&str; 11] = ["mch", "ref", "imp", "sys", "eventb", "csp", "cspm", "tex", "zed", "pnml", "etf"];

/// Extensions of files that hold models or parts of them: no result is ever written over one.
const SOURCES: [&str; 20] = [
    "mch", "ref", "imp", "sys", "def", "eventb", "csp", "cspm", "tex", "zed", "pnml", "etf", "bum", "buc",
    "bcm", "bcc", "zip", "so", "spins", "dve2C",
];

/// The models that the user named.
pub struct Named {
    pub models: Vec<PathBuf>,
    /// A text from standard input lies there; the folder goes when this is dropped.
    _input: Option<Input>,
}

/// A folder for what standard input says.
struct Input(PathBuf);

impl Drop for Input {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All models behind the paths of the command line.
pub fn named(paths: &[PathBuf]) -> Result<Named, String> {
    let mut models = Vec::new();
    let mut input = None;
    for path in paths {
        if path.as_os_str() == "-" || path == Path::new("/dev/stdin") {
            let (folder, file) = standard_input()?;
            models.push(file);
            input = Some(folder);
        } else if path.is_dir() && !is_project(path) {
            let found = models_in(path);
            if found.is_empty() {
                let known = MODELS.map(|e| format!(".{e}")).join(" ");
                return Err(format!("{}: there is no model in this folder ({known})", path.display()));
            }
            models.extend(found);
        } else if let Some(found) = pattern(path) {
            if found.is_empty() {
                return Err(format!("{}: no file has such a name", path.display()));
            }
            models.extend(found);
        } else {
            models.push(existing(path)?);
        }
    }
    Ok(Named { models, _input: input })
}

/// The files whose paths fit a pattern with `*` and `?` in its parts, where a shell has not looked for them; the part
/// `**` stands for any folders, none included.
fn pattern(path: &Path) -> Option<Vec<PathBuf>> {
    if path.exists() || !path.to_string_lossy().contains(['*', '?']) {
        return None;
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        let name = part.as_os_str().to_string_lossy();
        found = match &*name {
            "**" => found.iter().flat_map(|folder| folders_below(folder)).collect(),
            plain if !plain.contains(['*', '?']) => found.iter().map(|folder| folder.join(part)).collect(),
            _ => {
                let letters: Vec<char> = name.chars().collect();
                let fit = |own: &PathBuf| own.file_name().is_some_and(|n| fits(&letters, n));
                found.iter().flat_map(|folder| entries_of(folder)).filter(fit).collect()
            }
        };
    }
    found.retain(|file| file.is_file());
    found.sort();
    found.dedup();
    Some(found)
}

/// A folder and all folders below it. Links are not followed, so that no folder is met for ever.
fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_path_buf()];
    let mut at = 0;
    while at < all.len() {
        let inside = entries_of(&all[at]);
        all.extend(inside.into_iter().filter(|p| p.is_dir() && !p.is_symlink()));
        at += 1;
    }
    all
}

/// What is in a folder, under the name that the user gave to it; no name is the folder where the user is.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    if folder.as_os_str().is_empty() {
        let here = entries(Path::new("."));
        return here.into_iter().filter_map(|p| p.file_name().map(PathBuf::from)).collect();
    }
    entries(folder)
}

/// Whether a name fits a pattern: `*` stands for any letters, `?` for one.
fn fits(pattern: &[char], name: &OsStr) -> bool {
    let name: Vec<char> = name.to_string_lossy().chars().collect();
    // After a star that failed, the star takes one letter more.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, n) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Whether a file is a model or a part of one, by its name.
pub fn is_source(path: &Path) -> bool {
    extension(path).is_some_and(|e| SOURCES.contains(&e.as_str()))
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    all.sort();
    all
}

/// Whether a folder is, or holds, a Rodin project.
fn is_project(dir: &Path) -> bool {
    let rodin =
        |path: &PathBuf| extension(path).is_some_and(|e| ["bum", "buc", "bcm", "bcc"].contains(&e.as_str()));
    let own = entries(dir);
    own.iter().any(rodin) || own.iter().filter(|p| p.is_dir()).any(|p| entries(p).iter().any(rodin))
}

fn models_in(dir: &Path) -> Vec<PathBuf> {
    entries(dir)
        .into_iter()
        .filter(|p| p.is_file() && extension(p).is_some_and(|e| MODELS.contains(&e.as_str())))
        .collect()
}

/// The path, or the path with an extension; else a message that names files like it.
fn existing(path: &Path) -> Result<PathBuf, String> {
    if path.exists() {
        return Ok(path.to_path_buf());
    }
    if path.extension().is_none() {
        for extension in MODELS {
            let candidate = path.with_extension(extension);
            if candidate.is_file() {
                return Ok(candidate);
            }
        }
    }
    // `--coverage` and its like take a file only behind `=`, so the file was read as one more model.
    if extension(path).is_some_and(|e| ["html", "json", "txt", "svg", "sarif"].contains(&e.as_str())) {
        let shown = path.display();
        return Err(format!(
            "cannot read `{shown}`: there is no such file; if it is to be written, name it behind `=`: --coverage={shown}"
        ));
    }
    let folder = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let like = models_in(folder)
        .into_iter()
        .filter_map(|p| Some((distance(name, p.file_name()?.to_str()?), p)))
        // In a short name a second letter makes another word of it.
        .filter(|(distance, _)| *distance <= if name.chars().count() > 8 { 2 } else { 1 })
        .min();
    Err(match like {
        Some((_, p)) => {
            let shown = p.strip_prefix("./").unwrap_or(&p).display().to_string();
            format!("cannot read `{}`: there is no such file; did you mean {shown}?", path.display())
        }
        None => format!("cannot read `{}`: there is no such file", path.display()),
    })
}

/// What standard input says, as a file.
fn standard_input() -> Result<(Input, PathBuf), String> {
    let mut text = Vec::new();
    let failed = |e: std::io::Error| format!("cannot read standard input: {e}");
    std::io::stdin().lock().read_to_end(&mut text).map_err(failed)?;
    let folder = std::env::temp_dir().join(format!("bombus-input-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let input = Input(folder.clone());
    let starts = |word: &str| String::from_utf8_lossy(&text).trim_start().starts_with(word);
    let is_eventb = starts("machine") || starts("context") || starts("package");
    let file = folder.join(if is_eventb { "stdin.eventb" } else { "stdin.mch" });
    std::fs::write(&file, &text).map_err(failed)?;
    Ok((input, file))
}

#[cfg(test)]
mod tests {
    use super::{fits, is_source, pattern};
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn a_star_stands_for_any_letters_and_a_question_mark_for_one() {
        let fit = |p: &str, n: &str| fits(&p.chars().collect::<Vec<_>>(), OsStr::new(n));
        assert!(
            fit("*.mch", "a.mch") && fit("a*b*.mch", "axxbyb.mch") && fit("?.mch", "a.mch") && fit("*", "")
        );
        assert!(!fit("*.mch", "a.ref") && !fit("?.mch", "ab.mch") && !fit("a*b", "ac"));
    }

    #[test]
    fn two_stars_stand_for_any_folders() {
        let top = std::env::temp_dir().join(format!("bombus-patterns-{}", std::process::id()));
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        for name in ["x.mch", "a/x.mch", "a/b/y.mch", "a/b/y.ref"] {
            std::fs::write(top.join(name), "").unwrap();
        }
        let names = |asked: &str| -> Vec<String> {
            let found = pattern(&top.join(asked)).unwrap();
            found.iter().map(|p| p.strip_prefix(&top).unwrap().display().to_string()).collect()
        };
        assert_eq!(names("**/*.mch"), ["a/b/y.mch", "a/x.mch", "x.mch"]);
        assert_eq!(names("*/x.mch"), ["a/x.mch"]);
        assert_eq!(names("a/**/y.*"), ["a/b/y.mch", "a/b/y.ref"]);
        assert!(names("*.ref").is_empty());
        std::fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn a_model_is_known_by_its_extension_in_any_case() {
        assert!(is_source(Path::new("a.MCH")) && is_source(Path::new("p.zip")));
        assert!(!is_source(Path::new("a.json")));
    }
}
