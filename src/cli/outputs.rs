//! Files that a command writes: refused before the work begins if they could not be written after it.
//!
//! In: the paths of options. Out: a message, or nothing; later the files. Never here: what stands in them.

use super::args;
use super::models::is_source;
use super::run::{complain, say};
use crate::base::text::shell_word;
use crate::driver::Rejected;
use crate::report::diagnostics;
use std::fs::OpenOptions;
use std::path::Path;

/// Why a result cannot be written to a file, found out without changing the file.
pub fn refused(option: &str, path: &Path) -> Option<String> {
    if is_source(path) {
        return Some(format!(
            "{option} {}: this would be written over a model; name another file",
            path.display()
        ));
    }
    let existed = path.exists();
    match OpenOptions::new().append(true).create(true).open(path) {
        Ok(_) => {
            if !existed {
                let _ = std::fs::remove_file(path);
            }
            None
        }
        Err(e) => Some(format!("{option} {}: cannot be written: {e}", path.display())),
    }
}

/// Writes a file; a failure is told and makes the answer false.
pub fn write(path: &Path, content: &str) -> bool {
    match std::fs::write(path, content) {
        Ok(()) => true,
        Err(e) => {
            complain(&format!("error: cannot write {}: {e}", path.display()));
            false
        }
    }
}

/// Why what the user wants written cannot be written.
pub fn refused_of(args: &args::Check) -> Option<String> {
    let json = args.json.iter().flatten().map(|file| ("--json", file));
    let traces = args.trace.iter().map(|file| ("--trace", file));
    let sarif = args.sarif.iter().map(|file| ("--sarif", file));
    json.chain(traces).chain(sarif).find_map(|(option, file)| refused(option, file))
}

/// The messages that reject a model, for programs.
pub fn rejected(args: &args::Check, file: &str, r: &Rejected) {
    let object = || diagnostics::rejected(file, &r.sources, &r.diagnostics);
    match &args.json {
        None => {}
        Some(None) => say(&object().to_string()),
        Some(Some(path)) => {
            write(path, &pretty(&object()));
        }
    }
    if let Some(path) = &args.sarif {
        write(path, &pretty(&diagnostics::sarif_rejected(&r.sources, &r.diagnostics)));
    }
}

/// The command as it was typed, with the words quoted that a shell would take apart.
pub fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy()));
    std::iter::once("bombus".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// JSON over several lines.
pub fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
