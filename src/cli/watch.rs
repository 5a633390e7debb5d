//! `bombus check --watch`: the check again whenever a text of the model changes.
//!
//! In: the files and folders that a check reads. Out: that one of them changed. Never here: the check itself.

use super::models::is_source;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// How files were when they were looked at: their times and lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Look {
    /// The texts of models in the folders of `paths`, and `paths` themselves.
    pub fn at(paths: &[PathBuf]) -> Look {
        let mut files = BTreeMap::new();
        for path in paths {
            let folder = match path.parent() {
                _ if path.is_dir() => path.as_path(),
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
            let counts =
                |file: &PathBuf| is_source(file) || file.file_name().is_some_and(|n| n == "bombus.toml");
            for file in entries.filter(counts).chain((!path.is_dir()).then(|| path.clone())) {
                if let Ok(about) = std::fs::metadata(&file) {
                    files.insert(file, (about.modified().ok(), about.len()));
                }
            }
        }
        Look(files)
    }

    /// Waits until something differs from this look, and names a file that does.
    pub fn changed(&self, paths: &[PathBuf]) -> PathBuf {
        loop {
            std::thread::sleep(PAUSE);
            let now = Look::at(paths);
            if let Some(file) = self.differs(&now) {
                return file;
            }
        }
    }

    fn differs(&self, now: &Look) -> Option<PathBuf> {
        let known = |look: &Look, file: &PathBuf| look.0.get(file).copied();
        let all = self.0.keys().chain(now.0.keys());
        all.into_iter().find(|file| known(self, file) != known(now, file)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_beside_the_model_count_and_results_do_not() {
        let folder = std::env::temp_dir().join(format!("bombus-watch-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let model = folder.join("a.mch");
        std::fs::write(&model, "1").expect("a file");
        let before = Look::at(std::slice::from_ref(&model));
        std::fs::write(folder.join("a.json"), "{}").expect("a file");
        assert_eq!(before.differs(&Look::at(std::slice::from_ref(&model))), None);
        std::fs::write(folder.join("b.def"), "22").expect("a file");
        assert_eq!(before.differs(&Look::at(std::slice::from_ref(&model))), Some(folder.join("b.def")));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
