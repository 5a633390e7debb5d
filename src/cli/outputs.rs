//! Files that a command writes: refused before the work begins if they could not be written after it.
//!
//! In: the paths of options. Out: a message, or nothing; later the files. Never here: what stands in them.

use super::args;
use super::models::is_source;
use super::run::{complain, say};
use crate::base::text::shell_word;
use crate::driver::Rejected;
use crate::report::{diagnostics, trace_file};
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
    if is_drawing(path) {
        return Some(format!(
            "{option} {}: this would be written over a drawing of a model; name another file",
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

/// Whether a file is an SVG with expressions of a model in it.
fn is_drawing(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "svg")
        && std::fs::read_to_string(path).is_ok_and(|text| text.contains("data-b-"))
}

/// Why a trace cannot be written to a file: its kind is not known, or it cannot be written at all.
pub fn refused_trace(path: &Path) -> Option<String> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if !is_source(path) && !trace_file::EXTENSIONS.contains(&extension) {
        let known = trace_file::EXTENSIONS.join(", .");
        return Some(format!("--trace {}: use one of .{known}", path.display()));
    }
    refused("--trace", path)
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
pub fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
