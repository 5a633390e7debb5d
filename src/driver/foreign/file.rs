//! Models of other formalisms: which formalism by the extension of a file, read, checked.
//!
//! In: a path, or a command that answers for a model. Out: an outcome, or every fault of the text with its place.

use super::{Subject, check};
use crate::base::budget::Budget;
use crate::base::diagnostic::{Diagnostic, Sources};
use crate::driver::{CheckOptions, Failure, Rejected};
use crate::net::{Marking, Table, etf, pnml};
use crate::pins::Library;
use crate::report::Outcome;
use crate::via::{self, Via};
use bombus_kernels::hash;
use std::path::Path;
use std::time::{Duration, Instant};

/// The formalisms that have files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formalism {
    /// A Petri net in PNML.
    Pnml,
    /// A table of transitions in ETF.
    Etf,
    /// A shared library of DVE2C or SpinS kind.
    Pins,
}

impl Formalism {
    /// The formalism of a file by its extension; `None` for the B family.
    pub fn of(path: &Path) -> Option<Formalism> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pnml" => Some(Formalism::Pnml),
            "etf" => Some(Formalism::Etf),
            "so" | "spins" | "dve2c" => Some(Formalism::Pins),
            _ => None,
        }
    }
}

/// Checks the model in a file.
pub fn check_file(
    path: &Path,
    formalism: Formalism,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let mut sources = Sources::default();
    if formalism == Formalism::Pins {
        return check_library(path, options, budget);
    }
    let text = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Err(unreadable(path, "the text is not UTF-8")),
        Err(e) => return Err(unreadable(path, &e.to_string())),
    };
    let identity = format!("{:032x}", hash::bytes(text.as_bytes()));
    let file = sources.add(path.display().to_string(), Some(path), text.as_str());
    let rejected = |sources: Sources, diagnostics| Failure::Rejected(Rejected { sources, diagnostics });
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let shown = path.display().to_string();
    match formalism {
        Formalism::Pnml => {
            let net = pnml::read(file, &text).map_err(|faults| rejected(sources.clone(), faults))?;
            let name = net.name.clone();
            let system = Marking::new(net);
            let engine = "petri net";
            check(Subject { system, file: shown, name, engine, sources, identity, started }, options, budget)
        }
        Formalism::Pins => unreachable!("a library is no text"),
        Formalism::Etf => {
            let table = etf::read(file, &text).map_err(|faults| rejected(sources.clone(), faults))?;
            let system = Table::new(table);
            let engine = "table";
            check(Subject { system, file: shown, name, engine, sources, identity, started }, options, budget)
        }
    }
}

fn check_library(path: &Path, options: &CheckOptions, budget: &Budget) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let bytes = std::fs::read(path).map_err(|e| unreadable(path, &e.to_string()))?;
    let system = Library::open(path).map_err(|why| unreadable(path, &why))?;
    let (file, engine, sources) = (path.display().to_string(), "shared library", Sources::default());
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let identity = format!("{:032x}", hash::bytes(&bytes));
    check(Subject { system, file, name, engine, sources, identity, started }, options, budget)
}

/// Checks the model that a command answers for. An answer may take no longer than `limit`.
pub fn check_via(
    command: &str,
    limit: Duration,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let refused = |why: String| {
        let message = format!("--via {command}: {why}");
        Failure::Rejected(Rejected {
            sources: Sources::default(),
            diagnostics: vec![Diagnostic::plain(message)],
        })
    };
    let words = via::split(command).map_err(refused)?;
    let system = Via::new(words, limit).map_err(refused)?;
    let (file, name, identity) = (format!("--via {command}"), system.name().to_string(), system.identity());
    let (engine, sources) = ("subprocess", Sources::default());
    check(Subject { system, file, name, engine, sources, identity, started }, options, budget)
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let message = format!("cannot read {}: {why}", path.display());
    Failure::Rejected(Rejected { sources: Sources::default(), diagnostics: vec![Diagnostic::plain(message)] })
}
