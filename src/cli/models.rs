//! Models as named on the command line: files, folders, standard input, names without their extension.
//!
//! In: paths as typed. Out: the models to check, one after the other, or a message with a way out.
//! Never here: reading a model; a folder is looked at only to tell a Rodin project from a folder of models.

use crate::base::text::distance;
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

/// The files of a folder whose names fit a pattern with `*` and `?`, where a shell has not looked for them.
fn pattern(path: &Path) -> Option<Vec<PathBuf>> {
    let name = path.file_name()?.to_str()?;
    if path.exists() || !name.contains(['*', '?']) {
        return None;
    }
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let name: Vec<char> = name.chars().collect();
    let fit = |file: &PathBuf| {
        let own: Vec<char> =
            file.file_name().map(|n| n.to_string_lossy().chars().collect()).unwrap_or_default();
        file.is_file() && fits(&name, &own)
    };
    let found = entries(folder.unwrap_or(Path::new("."))).into_iter().filter(fit);
    Some(
        found
            .map(|file| folder.map_or_else(|| file.file_name().unwrap_or_default().into(), |_| file.clone()))
            .collect(),
    )
}

/// Whether a name fits a pattern: `*` stands for any letters, `?` for one.
fn fits(pattern: &[char], name: &[char]) -> bool {
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
    use super::{fits, is_source};
    use std::path::Path;

    #[test]
    fn a_star_stands_for_any_letters_and_a_question_mark_for_one() {
        let fit = |p: &str, n: &str| fits(&p.chars().collect::<Vec<_>>(), &n.chars().collect::<Vec<_>>());
        assert!(
            fit("*.mch", "a.mch") && fit("a*b*.mch", "axxbyb.mch") && fit("?.mch", "a.mch") && fit("*", "")
        );
        assert!(!fit("*.mch", "a.ref") && !fit("?.mch", "ab.mch") && !fit("a*b", "ac"));
    }

    #[test]
    fn a_model_is_known_by_its_extension_in_any_case() {
        assert!(is_source(Path::new("a.MCH")) && is_source(Path::new("p.zip")));
        assert!(!is_source(Path::new("a.json")));
    }
}
