//! What a certificate claims: the file `manifest.json`.
//!
//! In: the text of the manifest. Out: the claims, each of the expected type. Nothing in a manifest names a file to be
//! opened: the files of a certificate have fixed names.
//! Never here: whether a claim is right.

use crate::bounds::Window;
use crate::states::{hex, sha256};
use bombus_oracle::tree::Name;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The name and the version of the format.
pub const FORMAT: &str = "bombus-certificate";
pub const VERSION: u64 = 2;

/// The claims of a certificate.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub verified: bool,
    pub asked: Asked,
    pub counts: Counts,
    /// Whether the search left steps out, so that successors may be missing.
    pub reduced: bool,
    /// Why the certificate lists no states, if it does not: then the checker explores the machine itself.
    pub unlisted: Option<String>,
    /// Whether only the calls that abstractions allow were followed.
    pub allowed: bool,
    /// Sets whose elements were renamed: a state stands for its orbit.
    pub symmetry: Vec<Name>,
    /// Hashes in hexadecimal digits, by the names of files; of `states.bin` the root.
    pub hashes: BTreeMap<String, String>,
    /// Temporal formulas that are claimed to hold, or that the trace breaks.
    pub formulas: Vec<Json>,
    /// What the producer says is not certified.
    pub not_certified: Vec<String>,
    /// The scope and the hashes of the sources, for people.
    pub about: Json,
}

/// Which properties were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub invariant: bool,
    pub assertions: bool,
    pub deadlock: bool,
    pub goal: bool,
    pub strict_guards: bool,
}

impl Asked {
    /// Reads the part of a manifest that says it.
    pub fn read(json: &Json) -> Result<Asked, String> {
        Ok(Asked {
            invariant: flag(json, "invariant")?,
            assertions: flag(json, "assertions")?,
            deadlock: flag(json, "deadlock")?,
            goal: flag(json, "goal")?,
            strict_guards: flag(json, "strict_guards")?,
        })
    }
}

/// How much there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub valuations: u64,
    pub initial: u64,
    pub states: u64,
    pub transitions: u64,
    /// For each event in how many states it is enabled, and how many transitions it makes.
    pub events: BTreeMap<String, (u64, u64)>,
}

impl Manifest {
    /// Whether the states of the search can be counted again: not if it ended at a finding, and not if it counted orbits
    /// and kept no list of them.
    pub fn is_counted(&self) -> bool {
        self.verified && (self.unlisted.is_none() || self.symmetry.is_empty())
    }

    /// The integers of the scope, through which a parameter runs that nothing bounds and nothing reads.
    pub fn window(&self) -> Option<Window> {
        let end = |word: &str| self.about["scope"][word].as_str()?.parse().ok();
        Some((end("minint")?, end("maxint")?))
    }

    /// What cannot be checked may not be claimed.
    fn claims_too_much(&self) -> Option<&'static str> {
        let counts = &self.counts;
        if !self.is_counted() && *counts != Counts::default() {
            Some("counts of a search that ended early, or of orbits that are not listed, cannot be checked")
        } else if self.reduced && (counts.transitions > 0 || !counts.events.is_empty()) {
            Some("transitions of a search that left steps out cannot be checked")
        } else {
            None
        }
    }

    /// Reads the text of a manifest.
    pub fn read(text: &str) -> Result<Manifest, String> {
        let json: Json = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if json["format"].as_str() != Some(FORMAT) {
            return Err(format!("\"format\" is not \"{FORMAT}\""));
        }
        if json["version"].as_u64() != Some(VERSION) {
            return Err(format!(
                "its version is {}, and this program reads version {VERSION}",
                json["version"]
            ));
        }
        let verified = match json["verdict"].as_str() {
            Some("verified") => true,
            Some("violated") => false,
            _ => return Err("\"verdict\" is neither \"verified\" nor \"violated\"".into()),
        };
        is_sealed(&json)?;
        let counts = &json["counts"];
        let mut events = BTreeMap::new();
        for e in list(counts, "events")? {
            let name = text_of(e, "name")?;
            if events.insert(name.clone(), (number(e, "states")?, number(e, "transitions")?)).is_some() {
                return Err(format!("the event {name} is counted twice"));
            }
        }
        let hash = |(name, h): (&String, &Json)| Some((name.clone(), h.as_str()?.to_string()));
        let hashes = json["hashes"].as_object().ok_or("\"hashes\" is missing")?;
        let manifest = Manifest {
            verified,
            asked: Asked::read(&json["asked"])?,
            counts: Counts {
                valuations: number(counts, "valuations")?,
                initial: number(counts, "initial")?,
                states: number(counts, "states")?,
                transitions: number(counts, "transitions")?,
                events,
            },
            reduced: flag(&json, "reduced")?,
            unlisted: json["unlisted"].as_str().map(str::to_string),
            allowed: match (&json["calls"], json["unlisted"].is_null()) {
                (Json::Null, _) => false,
                (calls, false) if calls == "allowed" => true,
                _ => return Err("\"calls\" is not \"allowed\", or there is a list of states".into()),
            },
            symmetry: texts(&json, "symmetry")?.iter().map(|s| Name::from(&**s)).collect(),
            hashes: hashes.iter().map(hash).collect::<Option<_>>().ok_or("a hash is no text")?,
            formulas: list(&json, "formulas")?.clone(),
            not_certified: texts(&json, "not_certified")?,
            about: serde_json::json!({"model": json["model"], "build": json["build"], "scope": json["scope"],
                "sources": json["sources"]}),
        };
        manifest.claims_too_much().map_or(Ok(()), |why| Err(why.to_string()))?;
        Ok(manifest)
    }
}

/// Whether a manifest is the one that its producer wrote: it holds its own hash, taken without the hash. Who alters a
/// manifest on purpose can compute that again; an accident, or a change by hand, cannot.
pub fn is_sealed(json: &Json) -> Result<(), String> {
    let mut rest = json.clone();
    let seal = rest.as_object_mut().and_then(|keys| keys.shift_remove("seal"));
    match seal.as_ref().and_then(Json::as_str) {
        Some(seal) if seal == hex(&sha256(rest.to_string().as_bytes())) => Ok(()),
        Some(_) => Err("it was altered: its seal is not the hash of the rest".into()),
        None => Err(missing("seal")),
    }
}

fn missing(word: &str) -> String {
    format!("\"{word}\" is missing or of another type")
}

fn flag(json: &Json, word: &str) -> Result<bool, String> {
    json[word].as_bool().ok_or_else(|| missing(word))
}

fn number(json: &Json, word: &str) -> Result<u64, String> {
    json[word].as_u64().ok_or_else(|| missing(word))
}

fn text_of(json: &Json, word: &str) -> Result<String, String> {
    json[word].as_str().map(str::to_string).ok_or_else(|| missing(word))
}

fn list<'j>(json: &'j Json, word: &str) -> Result<&'j Vec<Json>, String> {
    json[word].as_array().ok_or_else(|| missing(word))
}

fn texts(json: &Json, word: &str) -> Result<Vec<String>, String> {
    let one = |j: &Json| j.as_str().map(str::to_string);
    list(json, word)?.iter().map(one).collect::<Option<_>>().ok_or_else(|| missing(word))
}
