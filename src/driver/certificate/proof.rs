//! Certificates of proofs: an inductive invariant, and refutations of the queries that make it one.
//!
//! In: a proof of an engine that asks a solver. Out: the files `invariant.b`, a CNF in DIMACS with its LRAT refutation for
//! each query, and a manifest that says what each of them claims and what is believed. Never here: the search for the proof.

use super::{VERSION, asked, hashed, scope, sealed, sha256};
use crate::analyse::proof_info::ProofInfo;
use crate::base::diagnostic::Sources;
use crate::driver::{CheckOptions, build, judge};
use crate::lang::typed::{Clause, Machine};
use crate::model::Model;
use crate::report::{Outcome, Symbolic};
use crate::symbolic::ic3::certificate::{Recheck, proofs, recheck};
use crate::symbolic::lrat::Proof;
use crate::symbolic::sat::{Batsat, Limit};
use crate::symbolic::system::{Cube, Part, Translation};
use crate::symbolic::translate::Translated;
use serde_json::{Value as Json, json};
use std::path::Path;

/// The files of a proof, before they are written.
#[derive(Debug)]
pub struct ProofFiles {
    files: Vec<(String, Vec<u8>)>,
    /// What each refutation shows: its name and its words.
    obligations: Vec<(String, String)>,
    method: String,
    believed: Vec<String>,
    open: Vec<String>,
}

/// What a proof is about.
pub struct Certified<'a> {
    pub machine: &'a Machine,
    pub report: &'a Symbolic,
    pub options: &'a CheckOptions,
    pub sources: &'a Sources,
    /// What the proof takes from others.
    pub trusted: &'a ProofInfo,
}

impl Certified<'_> {
    /// The invariant is the property and "in none of the cubes"; every query is proved once more. `None` if that fails.
    pub fn inductive(
        &self,
        translation: &Translated,
        cubes: &[Cube],
        width: usize,
        limit: &Limit,
    ) -> Option<ProofFiles> {
        let system = translation.system(width, Box::new(Batsat::new()));
        if recheck(system, translation, cubes, width, limit).0 != Recheck::Proved {
            return None;
        }
        let clauses = translation.excluded(cubes);
        let all = proofs(translation, cubes, width, limit)?;
        let mut out = self.begun("an inductive invariant", &clauses);
        for one in all {
            let (name, words) = match one.part {
                Part::Initiation => ("init".into(), "the initialisation ends in the invariant".into()),
                Part::Consecution(event) => {
                    let op = &self.machine.op(self.machine.events[event]).name;
                    (
                        format!("step_{}", event + 1),
                        format!("{op} leads from the invariant into the invariant"),
                    )
                }
                Part::Safety => ("safe".into(), "no state of the invariant is a finding".into()),
            };
            out.enter(name, words, &one.proof);
        }
        Some(out)
    }

    /// The queries of a proof with k + 1 good states in a row.
    pub fn k_inductive(&self, k: usize, all: Vec<(String, Proof)>) -> ProofFiles {
        let mut out = self.begun(&format!("induction over {} good states in a row", k + 1), &[]);
        for (name, proof) in all {
            let words = match name.strip_prefix("base_") {
                Some(depth) => format!("no path of {depth} operations ends in a finding"),
                None if name == "init" => "the initialisation has an outcome and no fault".into(),
                None => format!("no finding follows {} good states in a row", k + 1),
            };
            out.enter(name, words, &proof);
        }
        out
    }

    fn begun(&self, method: &str, clauses: &[String]) -> ProofFiles {
        let mut believed = vec![
            "the clauses say what the model and invariant.b say".to_string(),
            "some valuation of the constants and some initial state exist".to_string(),
        ];
        if self.report.width > 0 && self.report.width_reason != "no unlimited integer" {
            believed.push(format!(
                "integers of {} bits are enough: {}",
                self.report.width, self.report.width_reason
            ));
        }
        let open = self.trusted.pairs().map(|(event, conjunct, source)| {
            format!(
                "{} keeps {} ({})",
                self.machine.op(self.machine.events[event]).name,
                self.machine.invariant[conjunct].text,
                source.word()
            )
        });
        let text = self.invariant(clauses);
        ProofFiles {
            files: vec![("invariant.b".into(), text.into_bytes())],
            obligations: Vec::new(),
            method: method.into(),
            believed,
            open: open.collect(),
        }
    }

    /// The invariant as a predicate of B: the conjuncts of the model, then the clauses that were found.
    fn invariant(&self, clauses: &[String]) -> String {
        let machine = self.machine;
        let conjuncts = machine.invariant.iter().filter(|_| !self.options.no_invariant);
        let own = conjuncts.chain(machine.assertions.iter().filter(|_| !self.options.no_assertions));
        let text = |c: &Clause| match self.sources.slice(c.pred.span).trim() {
            "" => format!("({})", c.text),
            text => format!("({text})"),
        };
        let mut all: Vec<String> = own.map(text).collect();
        if let Some(goal) = &machine.goal {
            all.push(format!("not({})", self.sources.slice(goal.span).trim()));
        }
        all.extend(clauses.iter().map(|c| format!("({c})")));
        if all.is_empty() {
            all.push("(1 = 1)".into());
        }
        all.join("\n& ") + "\n"
    }
}

/// A refutation up to its empty clause: what a solver writes behind it, such as deletions, shows nothing.
fn to_the_end(lrat: &str) -> String {
    let is_empty = |line: &str| line.split_ascii_whitespace().nth(1) == Some("0");
    let mut out = String::new();
    for line in lrat.lines() {
        out += line;
        out.push('\n');
        if is_empty(line) {
            break;
        }
    }
    out
}

impl ProofFiles {
    fn enter(&mut self, name: String, words: String, proof: &Proof) {
        self.files.push((format!("{name}.cnf"), proof.cnf.dimacs().into_bytes()));
        self.files.push((format!("{name}.lrat"), to_the_end(&proof.lrat).into_bytes()));
        self.obligations.push((name, words));
    }

    /// Writes all files, the manifest last. The answer says what was written.
    pub fn write(
        &self,
        dir: &Path,
        not_certified: &[String],
        model: &Model,
        sources: &Sources,
        options: &CheckOptions,
        outcome: &Outcome,
    ) -> Result<String, String> {
        let machine = &model.machine;
        let mut files: Vec<(&str, &[u8])> =
            self.files.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
        // The checker counts the events there, if the core language has what the machine needs.
        let core = judge::core_with_events(model).ok().map(|(core, _)| core);
        files.extend(core.iter().map(|core| ("model.core", core.as_bytes())));
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(dir.join(name), bytes).map_err(|e| format!("{}: {e}", dir.join(name).display()))
        };
        let hashes: serde_json::Map<String, Json> =
            files.iter().map(|(name, bytes)| (name.to_string(), json!(sha256(bytes)))).collect();
        let obligation = |(name, words): &(String, String)| json!({"name": name, "says": words});
        let mut open: Vec<&str> = self.open.iter().chain(not_certified).map(String::as_str).collect();
        if core.is_none() && model.refinement.as_ref().is_some_and(|chain| !chain.levels.is_empty()) {
            open.push("that the machine refines its abstractions");
        }
        let json = json!({
            "format": "bombus-proof",
            "version": VERSION,
            "verdict": "verified",
            "method": self.method,
            "model": {"machine": &*machine.name, "file": outcome.file},
            "build": format!("bombus {} {}", env!("CARGO_PKG_VERSION"), build::id()),
            "sources": hashed(sources),
            "scope": scope(outcome),
            "asked": asked(machine, options),
            "obligations": self.obligations.iter().map(obligation).collect::<Vec<_>>(),
            "believed": self.believed,
            "not_certified": open,
            "hashes": hashes,
        });
        files.iter().try_for_each(|(name, bytes)| write(name, bytes))?;
        write("manifest.json", sealed(json).as_bytes())?;
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        Ok(format!("{}: {} refutations, {bytes} bytes", self.method, self.obligations.len()))
    }
}
