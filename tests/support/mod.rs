//! What several test files share: random numbers with a seed, files of a corpus, a large stack.

#![allow(dead_code)]

pub mod agreement;
pub mod binary;
pub mod chromium;
pub mod http;
pub mod machines;
pub mod mutate;
pub mod oracle;
pub mod plain_changes;
pub mod plain_machines;
pub mod plain_random;
pub mod plain_terms;
pub mod rng;
pub mod terms;
pub mod trees;

use std::path::{Path, PathBuf};

/// Runs a test on a thread with as much stack as the pipeline has.
pub fn with_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread");
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// A number from the environment, so that long runs need no edit.
pub fn number_from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The directory of real models that the environment names. Tests that ask for it are ignored unless asked for.
pub fn corpus() -> PathBuf {
    std::env::var_os("BOMBUS_CORPUS").map(PathBuf::from).expect("BOMBUS_CORPUS names a directory of models")
}

/// All files of classical B below a directory, in a fixed order.
pub fn classical_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if path
                .extension()
                .and_then(|e| e.to_str())
                .is_some_and(|e| matches!(e, "mch" | "ref" | "imp" | "sys" | "def"))
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The text of a file; bytes that are no UTF-8 become replacement characters.
pub fn read_text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

/// How many random cases a test runs: the given number, or what the environment asks for.
pub fn cases(default: u64) -> u64 {
    number_from_env("BOMBUS_CASES", default)
}

/// The first seed; other runs can start elsewhere.
pub fn first_seed() -> u64 {
    number_from_env("BOMBUS_SEED", 1)
}
