//! Blocks that were found to be right, line by line: for runs that are cut and for runs in parts.
//!
//! In: files of earlier runs. Out: which blocks they examined, with what was counted there; new lines at the end of the
//! first file. A log belongs to whoever runs the check and is believed; lines about other certificates are left.
//! Never here: certificates.

use crate::examine::Counted;
use crate::report::Open;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// What a log says of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub counted: Counted,
    pub open: Open,
}

/// The blocks of a certificate that some logs say are right. A line that was cut off is left out.
pub fn read(files: &[PathBuf], root: &str) -> Result<BTreeMap<usize, Entry>, String> {
    let mut out = BTreeMap::new();
    for file in files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(format!("{}: {e}", file.display())),
        };
        let lines = text.lines().filter_map(|l| serde_json::from_str::<Json>(l).ok());
        out.extend(lines.filter(|j| j["root"].as_str() == Some(root)).filter_map(|j| entry(&j)));
    }
    Ok(out)
}

fn entry(json: &Json) -> Option<(usize, Entry)> {
    let block = usize::try_from(json["block"].as_u64()?).ok()?;
    let pair = |j: &Json| Some((j[0].as_u64()?, j[1].as_u64()?));
    let events = json["events"].as_array()?.iter().map(pair).collect::<Option<_>>()?;
    let mut open = Open::default();
    for j in json["open"].as_array()? {
        let (words, n, place) = (j[0].as_str()?, j[1].as_u64()?, j[2].as_str()?);
        open.0.insert(words.to_string(), (n, place.to_string()));
    }
    Some((block, Entry { counted: Counted { states: json["states"].as_u64()?, events }, open }))
}

/// Adds lines to a log.
pub struct Writer {
    file: Option<File>,
    root: String,
}

impl Writer {
    /// Opens a log at its end; without a file nothing is written.
    pub fn open(file: Option<&PathBuf>, root: &str) -> Result<Writer, String> {
        let open = |f: &PathBuf| {
            let opened = OpenOptions::new().create(true).append(true).open(f);
            opened.map_err(|e| format!("{}: {e}", f.display()))
        };
        let mut file = file.map(open).transpose()?;
        // The last line of a run that was killed may have no end.
        if let Some(f) = file.as_mut() {
            f.write_all(b"\n").map_err(|e| e.to_string())?;
        }
        Ok(Writer { file, root: root.to_string() })
    }

    /// Enters a block. A disk that is full costs the log, not the check.
    pub fn enter(&mut self, block: usize, counted: &Counted, open: &Open) {
        let open: Vec<Json> = open.0.iter().map(|(w, (n, p))| json!([w, n, p])).collect();
        let line = json!({"root": self.root, "block": block, "states": counted.states,
            "events": counted.events, "open": open});
        if let Some(file) = &mut self.file {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
