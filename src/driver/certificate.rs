//! Certificates: what a checker that shares no code with the engines needs to check a verdict again.
//!
//! In: a finished search, or a violation with its path. Out: a directory with the model in the core language and
//! all states, or the trace, and a manifest that says what is claimed; `docs/certificates.md` specifies the files.
//! The manifest is written last, so a directory without one is no certificate.
//! Never here: the check of a certificate, which is the crate `certify`.

mod blocks;
mod keyed;
mod listing;
mod proof;
mod radix;
mod runs;
mod sorted;
mod spelling;

use super::{CheckOptions, build, judge};
use crate::base::diagnostic::Sources;
use crate::base::span::FileId;
use crate::explore::{self, Store};
use crate::lang::typed::Machine;
use crate::model::Model;
use crate::program::Program;
use crate::program::symmetry::Mode;
use crate::report::{Outcome, Verdict, Violation};
use blocks::{Written, hex};
use listing::{Listed, Unwritten};
use parking_lot::Mutex;
pub(super) use proof::{Certified, ProofFiles};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the format, of lists of states and of proofs.
const VERSION: u64 = 2;
/// The files of a certificate.
const FILES: [&str; 5] = ["manifest.json", "model.core", "constants.bin", "states.bin", "trace.json"];

/// Where a certificate is wanted, and what is ready of it.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    dir: Option<PathBuf>,
    draft: Arc<Mutex<Draft>>,
}

/// What engines have contributed.
#[derive(Debug, Default)]
struct Draft {
    states: Option<Written>,
    constants: Option<Vec<u8>>,
    symmetry: Vec<String>,
    reduced: bool,
    /// Kind and property of a violation, and its path.
    trace: Option<(String, String, Json)>,
    formulas: Vec<Json>,
    not_certified: Vec<String>,
    /// Why no states are listed, where the search kept none.
    unlisted: Option<String>,
    /// Only the calls that abstractions allow were followed.
    allowed: bool,
    /// A proof that needs no states.
    proof: Option<ProofFiles>,
    /// Why there are no states.
    failure: Option<String>,
}

impl Certificate {
    /// A certificate in this directory, if one is wanted.
    pub fn at(dir: Option<PathBuf>) -> Certificate {
        Certificate { dir, draft: Arc::default() }
    }

    /// Whether one is wanted.
    pub fn is_asked(&self) -> bool {
        self.dir.is_some()
    }

    /// Makes sure that a certificate can be written there, before hours were spent on it.
    pub(super) fn prepare(&self) -> Result<(), String> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let wrong = |e: std::io::Error| format!("--certificate {}: {e}", dir.display());
        std::fs::create_dir_all(dir).map_err(wrong)?;
        if let Some(name) = FILES.iter().find(|name| dir.join(name).exists()) {
            let path = dir.join(name);
            return Err(format!("--certificate {}: remove {} first", dir.display(), path.display()));
        }
        let probe = dir.join("manifest.tmp");
        std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe)).map_err(wrong)
    }

    /// Takes the path of a violation.
    pub(super) fn take_trace(&self, kind: &str, property: &str, path: Result<Json, String>) {
        let mut draft = self.draft.lock();
        // The first finding is the verdict; others are shown beside it.
        if draft.trace.is_some() {
            return;
        }
        match path {
            Ok(json) => draft.trace = Some((kind.to_string(), property.to_string(), json)),
            Err(unknown) => draft.failure = Some(format!("the core language does not have {unknown}")),
        }
    }

    /// Forgets the path of a violation that is not the one that is shown: a machine alone may be wrong where the report speaks of
    /// its refinement. To be called before the finding is put into other words.
    pub(super) fn keep_trace_of(&self, shown: Option<&Violation>) {
        let mut draft = self.draft.lock();
        let is_shown = |(kind, property, _): &(String, String, Json)| {
            shown.is_some_and(|v| v.kind == *kind && v.property == *property)
        };
        draft.trace = draft.trace.take().filter(is_shown);
    }

    /// Takes that the machine was followed as far as its abstractions allow calls, and no further.
    pub(super) fn take_allowed(&self) {
        let mut draft = self.draft.lock();
        *draft = Draft {
            allowed: true,
            not_certified: std::mem::take(&mut draft.not_certified),
            ..Draft::default()
        };
    }

    /// Takes a proof that needs no states, or why there is none.
    pub(super) fn take_proof(&self, proof: Result<ProofFiles, String>) {
        let mut draft = self.draft.lock();
        match proof {
            Ok(files) => draft.proof = Some(files),
            Err(why) => draft.failure = Some(why),
        }
    }

    /// Takes the formulas that are claimed, and those that a certificate does not cover.
    pub(super) fn take_formulas(&self, formulas: Vec<Json>, not_certified: Vec<String>) {
        let mut draft = self.draft.lock();
        draft.formulas = formulas;
        draft.not_certified.extend(not_certified);
    }

    /// Takes the states of a search that found nothing wrong. `Err`: these are not the states of a search, so we are wrong.
    pub(super) fn take_states(
        &self,
        program: &Program,
        found: &explore::Outcome,
        workers: usize,
    ) -> Result<(), String> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let marked = is_marked(program.symmetry().map(|s| s.mode));
        if !found.exhausted || !found.findings.is_empty() || marked {
            return Ok(());
        }
        let written = rayon::ThreadPoolBuilder::new()
            .num_threads(workers.max(1))
            .build()
            .map_err(|e| Unwritten::For(e.to_string()))
            .and_then(|pool| pool.install(|| listing::write(program, found, dir)));
        let mut draft = self.draft.lock();
        draft.symmetry = program.symmetric_sets();
        draft.reduced = found.por.as_ref().is_some_and(|figures| figures.reduced > 0);
        match written {
            Ok(Listed { constants, states }) => {
                draft.failure = None;
                (draft.constants, draft.states) = (Some(constants), Some(states));
            }
            Err(Unwritten::For(why)) => draft.failure = Some(why),
            Err(Unwritten::Wrong(what)) => return Err(what),
            Err(Unwritten::Keyless) => return Err("a state without a key".into()),
        }
        Ok(())
    }

    /// Writes the rest of the certificate of a verdict. The answer says what was written, or why nothing was.
    pub(super) fn finish(
        &self,
        model: &Model,
        sources: &Sources,
        options: &CheckOptions,
        outcome: &Outcome,
    ) -> Option<Result<String, String>> {
        let dir = self.dir.as_ref()?;
        let mut draft = std::mem::take(&mut *self.draft.lock());
        if outcome.verdict() == Verdict::Verified
            && draft.states.is_none()
            && let Some(proof) = draft.proof.take()
        {
            return Some(proof.write(dir, &draft.not_certified, model, sources, options, outcome));
        }
        let done = match outcome.verdict() {
            Verdict::Incomplete => Err("the verdict is incomplete".into()),
            Verdict::Verified => {
                draft.unlisted = unlisted(options, outcome).filter(|_| draft.states.is_none());
                if draft.allowed {
                    draft.unlisted = Some("only the calls that the abstractions allow were followed".into());
                }
                if draft.unlisted.is_some() {
                    let _ = std::fs::remove_file(dir.join("states.bin"));
                }
                if draft.unlisted.is_some() && !draft.allowed {
                    draft.symmetry = outcome.reductions.symmetric_sets.clone();
                    draft.reduced = outcome.reductions.por_details.as_ref().is_some_and(|d| d.reduced > 0);
                    let decided = outcome.temporal.iter().filter(|_| draft.formulas.is_empty());
                    draft.not_certified.extend(decided.map(|t| format!("temporal formula {}", t.formula)));
                }
                draft.verified()
            }
            Verdict::Violated => {
                // A formula may be violated where all states were seen.
                draft.states = None;
                let _ = std::fs::remove_file(dir.join("states.bin"));
                draft.violated()
            }
        };
        let done = done.and_then(|parts| manifest(&draft, parts, dir, model, sources, options, outcome));
        if done.is_err() {
            FILES.iter().for_each(|name| _ = std::fs::remove_file(dir.join(name)));
        }
        Some(done)
    }
}

/// What a manifest names besides the model: files with their contents, and hashes.
struct Parts {
    files: Vec<(&'static str, Vec<u8>)>,
    hashes: Vec<(&'static str, String)>,
}

impl Draft {
    fn verified(&mut self) -> Result<Parts, String> {
        if self.unlisted.is_some() {
            return Ok(Parts { files: Vec::new(), hashes: Vec::new() });
        }
        let failure = self.failure.take();
        let none = || failure.unwrap_or_else(|| "the machine alone was not found to be right".into());
        let (constants, states) = self.constants.take().zip(self.states.as_ref()).ok_or_else(none)?;
        let hashes = vec![("constants.bin", sha256(&constants)), ("states.bin", states.root.clone())];
        Ok(Parts { files: vec![("constants.bin", constants)], hashes })
    }

    fn violated(&mut self) -> Result<Parts, String> {
        let failure = self.failure.take();
        let none = || failure.unwrap_or_else(|| "no trace of one machine shows the violation".into());
        let text = format!("{:#}\n", self.trace.take().ok_or_else(none)?.2);
        let hashes = vec![("trace.json", sha256(text.as_bytes()))];
        Ok(Parts { files: vec![("trace.json", text.into_bytes())], hashes })
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Writes the files that are missing, the manifest last.
fn manifest(
    draft: &Draft,
    parts: Parts,
    dir: &Path,
    model: &Model,
    sources: &Sources,
    options: &CheckOptions,
    outcome: &Outcome,
) -> Result<String, String> {
    let machine = &model.machine;
    let unknown = |what: String| format!("the core language does not have {what}");
    let (core, events) = judge::core_with_events(model).map_err(unknown)?;
    let mut hashes: serde_json::Map<String, Json> = serde_json::Map::new();
    hashes.insert("model.core".into(), json!(sha256(core.as_bytes())));
    hashes.extend(parts.hashes.iter().map(|(name, hash)| (name.to_string(), json!(hash))));
    let json = json!({
        "format": "bombus-certificate",
        "version": VERSION,
        "verdict": if outcome.violation.is_some() { "violated" } else { "verified" },
        "model": {"machine": &*machine.name, "file": outcome.file},
        "build": format!("bombus {} {}", env!("CARGO_PKG_VERSION"), build::id()),
        "sources": hashed(sources),
        "scope": scope(outcome),
        "asked": asked(machine, options),
        "counts": counts(draft, machine, &events, outcome),
        "symmetry": draft.symmetry,
        "reduced": draft.reduced,
        "unlisted": draft.unlisted,
        "calls": draft.allowed.then_some("allowed"),
        "formulas": draft.formulas,
        "assumptions": ["model.core says what the sources say"],
        "not_certified": draft.not_certified,
        "hashes": hashes,
    });
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.join(name), bytes).map_err(|e| format!("{}: {e}", dir.join(name).display()))
    };
    write("model.core", core.as_bytes())?;
    parts.files.iter().try_for_each(|(name, bytes)| write(name, bytes))?;
    write("manifest.json", sealed(json).as_bytes())?;
    Ok(match &draft.states {
        Some(w) if w.states > 0 => {
            format!("{} states, {:.1} bytes each", w.states, w.bytes as f64 / w.states as f64)
        }
        _ if draft.unlisted.is_some() => "no states: the checker has to find them".into(),
        _ => "a trace".into(),
    })
}

/// What a checker can count again: nothing behind a trace or of orbits that are not listed, and no transitions where
/// steps were left out.
fn counts(draft: &Draft, machine: &Machine, events: &[String], outcome: &Outcome) -> Json {
    if outcome.violation.is_some() || draft.unlisted.is_some() && !draft.symmetry.is_empty() {
        return json!({"valuations": 0, "initial": 0, "states": 0, "transitions": 0, "events": []});
    }
    let valuations = if machine.constants.is_empty() { 1 } else { outcome.counts.constants };
    let event = |(name, e): (&String, &crate::report::EventCoverage)| json!({"name": name, "states": e.states, "transitions": e.transitions});
    let each = events.iter().zip(&outcome.events).filter(|_| !draft.reduced).map(event);
    json!({"valuations": valuations, "initial": outcome.counts.initial, "states": outcome.counts.states,
        "transitions": if draft.reduced { 0 } else { outcome.counts.transitions }, "events": each.collect::<Vec<_>>()})
}

/// The text of a manifest with the hash of all that stands in it.
fn sealed(mut json: Json) -> String {
    json["seal"] = json!(sha256(json.to_string().as_bytes()));
    format!("{json:#}\n")
}

/// Why a search that ended has no list of its states.
fn unlisted(options: &CheckOptions, outcome: &Outcome) -> Option<String> {
    Some(match (outcome.engine, options.store) {
        (engine @ ("evaluate" | "reference" | "bdd"), _) => format!("the {engine} engine lists none"),
        (_, Store::Hash) => format!(
            "the search kept hashes, and two states had one hash with a probability of at most {:e}",
            outcome.reductions.collision_bound
        ),
        (_, Store::Disk) => "the search kept its states in files of its own".into(),
        _ if is_marked(options.symmetry) => "the search kept markers, which do not tell the states".into(),
        _ => return None,
    })
}

/// Whether a search kept markers in the place of states.
fn is_marked(symmetry: Option<Mode>) -> bool {
    matches!(symmetry, Some(Mode::Marker | Mode::MarkerClassic))
}

/// The names of the sources with their hashes.
fn hashed(sources: &Sources) -> Json {
    let source = |n: usize| {
        let s = sources.get(FileId(n as u32));
        json!({"file": s.name, "sha256": sha256(s.text.as_bytes())})
    };
    (0..sources.len()).map(source).collect()
}

/// The sizes for which a verdict holds.
fn scope(outcome: &Outcome) -> Json {
    let sets = outcome.scope.sets.iter().map(|s| (s.name.clone(), json!(s.size)));
    json!({"sets": sets.collect::<serde_json::Map<_, _>>(), "maxint": outcome.scope.maxint,
        "minint": outcome.scope.minint, "integers_in_scope": outcome.scope.integers})
}

/// Which properties a verdict is about.
fn asked(machine: &Machine, options: &CheckOptions) -> Json {
    json!({"invariant": !options.no_invariant, "assertions": !options.no_assertions,
        "deadlock": !options.no_deadlock, "goal": machine.goal.is_some(), "strict_guards": options.strict_wd})
}
