//! Certificates of proofs: an inductive invariant, or an induction, whose queries are refuted clause by clause.
//!
//! In: a directory whose manifest has the format "bombus-proof". Out: whether every refutation that such a proof consists of
//! is there, is the file of the manifest, and is right; and what is open besides. What the clauses mean only the program
//! that wrote them knows, so the oracle explores `model.core` as well: where that comes to an end the clauses need not
//! be believed, and a finding rejects whatever the clauses say. Never here: how refutations are checked.

use crate::certificate::{MOST_TEXT, Unread, bytes_of, model};
use crate::levels::Levels;
use crate::lrat;
use crate::manifest::{Asked, is_sealed};
use crate::refinement::simulated;
use crate::report::Open;
use crate::run::Options;
use crate::simulation::{Limits, Simulation};
use crate::states::{hex, sha256};
use crate::unlisted::{Seen, explore};
use bombus_oracle::tree::Machine;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// The name and the version of the format.
pub const FORMAT: &str = "bombus-proof";
pub const VERSION: u64 = 2;
/// The most bytes of clauses or of a refutation.
const MOST: u64 = 1 << 30;
/// How many states of the model are explored unless the user says otherwise, and how long.
const STATES: u64 = 10_000;
const TIME: Duration = Duration::from_secs(60);
/// What is open of a proof as long as the states of the model are not all explored.
const MEANING: &str = "that the clauses say what model.core and invariant.b say";

/// The answer about a proof.
#[derive(Clone, Debug)]
pub struct Proved {
    pub name: String,
    pub method: String,
    /// What each refutation shows, and its lemmas.
    pub shown: Vec<(String, usize)>,
    /// What the exploration of the model saw.
    pub explored: String,
    /// What the producer says is believed, if the exploration did not make it superfluous.
    pub believed: Vec<String>,
    /// What the producer says is not certified, and what the clauses mean if only they show it.
    pub open: Vec<String>,
    pub rejected: Option<String>,
}

/// Whether the directory holds a proof and not a list of states.
pub fn is_one(dir: &Path) -> bool {
    let manifest = bytes_of(dir, "manifest.json", MOST_TEXT).ok();
    let json: Option<Json> = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    json.is_some_and(|json| json["format"] == FORMAT)
}

/// Checks all refutations, and explores the model as far as the options allow.
pub fn check(dir: &Path, options: &Options) -> Result<Proved, Unread> {
    let damaged = |name: &str, why: &str| Unread::Damaged(format!("{name}: {why}"));
    let text = |name: &str| {
        let most = if name.ends_with(".cnf") || name.ends_with(".lrat") { MOST } else { MOST_TEXT };
        String::from_utf8(bytes_of(dir, name, most)?).map_err(|_| damaged(name, "it is no text"))
    };
    let wrong = |why: &str| damaged("manifest.json", why);
    let json: Json = serde_json::from_str(&text("manifest.json")?).map_err(|e| wrong(&e.to_string()))?;
    if json["format"] != FORMAT || json["version"] != VERSION || json["verdict"] != "verified" {
        return Err(wrong("it is no proof of this version"));
    }
    is_sealed(&json).map_err(|why| wrong(&why))?;
    let hashes: BTreeMap<String, String> = serde_json::from_value(json["hashes"].clone())
        .map_err(|_| wrong("\"hashes\" is missing or of another type"))?;
    let own = |name: &str| -> Result<String, Unread> {
        let found = text(name)?;
        match hashes.get(name) {
            Some(hash) if *hash == hex(&sha256(found.as_bytes())) => Ok(found),
            _ => Err(damaged(name, "it is not the file that the manifest speaks of: its hash differs")),
        }
    };
    let obligations = obligations(&json).map_err(|why| wrong(&why))?;
    own("invariant.b")?;
    let model = match hashes.contains_key("model.core") {
        true => Some(model(&own("model.core")?).map_err(|why| damaged("model.core", &why))?),
        false => None,
    };
    let asked = Asked::read(&json["asked"]).map_err(|why| wrong(&why))?;
    let events = model.as_ref().map(|(m, _)| m.operations.iter().filter(|o| o.event).count());
    let mut out = Proved {
        name: json["model"]["machine"].as_str().unwrap_or("?").to_string(),
        method: json["method"].as_str().unwrap_or("a proof").to_string(),
        shown: Vec::new(),
        explored: "nothing: there is no model.core".into(),
        believed: texts(&json["believed"]).map_err(|why| wrong(&why))?,
        open: texts(&json["not_certified"]).map_err(|why| wrong(&why))?,
        rejected: None,
    };
    if events.is_none() {
        out.believed.push("there is a refutation for each event".into());
    }
    let names: BTreeSet<&str> = obligations.iter().map(|(name, _)| name.as_str()).collect();
    if let Err(why) = is_whole(&names, events) {
        out.rejected = Some(why);
        return Ok(out);
    }
    for (name, says) in &obligations {
        let (cnf, proof) = (own(&format!("{name}.cnf"))?, own(&format!("{name}.lrat"))?);
        match lrat::check(&cnf, &proof) {
            Ok(lemmas) => out.shown.push((says.clone(), lemmas)),
            Err(why) => {
                out.rejected = Some(format!("{name}.lrat: {why}"));
                return Ok(out);
            }
        }
    }
    match &model {
        Some((machine, levels)) => {
            out.explore(machine, asked, options);
            out.simulate(machine, levels.as_ref(), asked, options);
        }
        None => out.open.push(MEANING.into()),
    }
    Ok(out)
}

/// Names of refutations with their words. A name is no path: it has letters, digits and `_` only.
fn obligations(json: &Json) -> Result<Vec<(String, String)>, String> {
    let mut out: Vec<(String, String)> = Vec::new();
    for one in json["obligations"].as_array().ok_or("\"obligations\" is missing")? {
        let (Some(name), Some(says)) = (one["name"].as_str(), one["says"].as_str()) else {
            return Err("an obligation has no name".into());
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{}` is no name of an obligation", name.escape_debug()));
        }
        if out.iter().any(|(other, _)| other == name) {
            return Err(format!("the obligation {name} is listed twice"));
        }
        out.push((name.into(), says.into()));
    }
    Ok(out)
}

fn texts(json: &Json) -> Result<Vec<String>, String> {
    serde_json::from_value(json.clone()).map_err(|_| "a list of texts is missing".into())
}

/// The refutations are those of an inductive invariant, one step for each event, or those of an induction.
fn is_whole(names: &BTreeSet<&str>, events: Option<usize>) -> Result<(), String> {
    let count = |prefix: &str| names.iter().filter(|n| n.starts_with(prefix)).count();
    let mut wanted: BTreeSet<String> = BTreeSet::from(["init".to_string()]);
    if names.contains("step") {
        wanted.insert("step".into());
        wanted.extend((0..count("base_").max(1)).map(|depth| format!("base_{depth}")));
    } else {
        wanted.insert("safe".into());
        wanted.extend((1..=events.unwrap_or(count("step_"))).map(|n| format!("step_{n}")));
    }
    let given: BTreeSet<String> = names.iter().map(|n| n.to_string()).collect();
    match (wanted.difference(&given).next(), given.difference(&wanted).next()) {
        (Some(missing), _) => Err(format!("there is no refutation {missing}")),
        (None, Some(unknown)) => Err(format!("a proof of this kind has no refutation {unknown}")),
        (None, None) => Ok(()),
    }
}

impl Proved {
    /// Explores the model by the oracle: a finding rejects, and where the exploration ends nothing has to be believed.
    fn explore(&mut self, machine: &Machine, asked: Asked, options: &Options) {
        let states = options.sample.unwrap_or(STATES);
        match explore(machine, asked, options.steps, states, Some(TIME)) {
            Seen::Wrong(finding) => self.rejected = Some(format!("whatever the clauses say: {finding}")),
            Seen::Part(states, why) => {
                self.explored = format!("{states} states, in which nothing is wrong, not all: {why}");
                self.open.push(MEANING.into());
            }
            Seen::All(report) => {
                self.explored = format!("all {} states, in which nothing is wrong", report.states);
                self.believed.clear();
            }
        }
    }

    /// Explores the machine in lock-step with those that it refines, of which no refutation speaks.
    fn simulate(&mut self, machine: &Machine, levels: Option<&Levels>, asked: Asked, options: &Options) {
        let Some(levels) = levels.filter(|_| self.rejected.is_none()) else { return };
        let (steps, states) = (options.steps, options.sample.unwrap_or(STATES));
        let limits = Limits { steps, states, until: Some(Instant::now() + TIME) };
        let mut open = Open::default();
        let mut simulation = Simulation::new(machine, levels, asked, limits);
        match simulated(&mut simulation, &mut open) {
            Ok(()) => {
                let (combined, names) = (simulation.combined, levels.names());
                self.explored += &format!("; {combined} combined states with {names}");
                self.open.extend(open.0.into_keys());
            }
            Err(why) => self.rejected = Some(why),
        }
    }

    /// 0 accepted, 1 rejected, 3 nothing is wrong but the producer says that something is not certified.
    pub fn status(&self) -> u8 {
        match (&self.rejected, self.open.is_empty()) {
            (Some(_), _) => 1,
            (None, true) => 0,
            (None, false) => 3,
        }
    }

    /// The answer for people.
    pub fn text(&self) -> String {
        let head = match &self.rejected {
            Some(why) => format!("REJECTED    {}   verified: {why}", self.name),
            None if self.open.is_empty() => {
                format!("ACCEPTED    {}   verified by {}", self.name, self.method)
            }
            None => format!(
                "ACCEPTED except for {} obligations   {}   verified by {}",
                self.open.len(),
                self.name,
                self.method
            ),
        };
        let mut out = head;
        self.shown
            .iter()
            .for_each(|(says, lemmas)| out += &format!("\n  refuted      {says} ({lemmas} lemmas)"));
        out += &format!("\n  explored     {}", self.explored);
        self.open.iter().for_each(|what| out += &format!("\n  open         {what}"));
        self.believed.iter().for_each(|what| out += &format!("\n  believed     {what}"));
        out
    }

    /// The answer for programs.
    pub fn json(&self) -> Json {
        let shown = |(says, lemmas): &(String, usize)| json!({"says": says, "lemmas": lemmas});
        json!({
            "result": match self.status() { 0 => "accepted", 1 => "rejected", _ => "accepted except" },
            "machine": self.name,
            "method": self.method,
            "refuted": self.shown.iter().map(shown).collect::<Vec<_>>(),
            "explored": self.explored,
            "open": self.open,
            "believed": self.believed,
            "rejected": self.rejected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&'static str]) -> BTreeSet<&'static str> {
        all.iter().copied().collect()
    }

    #[test]
    fn a_proof_has_a_refutation_for_each_event() {
        assert_eq!(is_whole(&names(&["init", "step_1", "step_2", "safe"]), Some(2)), Ok(()));
        for (all, events) in [
            (&["init", "step_1", "safe"][..], Some(2)),
            (&["init", "step_2", "safe"], None),
            (&["step_1", "safe"], Some(1)),
            (&["init", "step_1"], Some(1)),
            (&["init", "step_1", "safe", "more"], Some(1)),
            (&["init", "step", "base_1"], None),
            (&["init", "step"], None),
            (&["init", "step", "base_0", "safe"], None),
        ] {
            assert!(is_whole(&names(all), events).is_err(), "{all:?}");
        }
        assert_eq!(is_whole(&names(&["init", "step", "base_0", "base_1"]), Some(9)), Ok(()));
    }

    #[test]
    fn a_name_of_an_obligation_is_no_path() {
        for name in ["", "../init", "a/b", "init.cnf", "a\\b", "ä"] {
            assert!(obligations(&json!({"obligations": [{"name": name, "says": ""}]})).is_err(), "{name}");
        }
    }
}
