//! A producer of certificates for tests: plain exploration by the oracle, and the format of `docs/certificates.md`.

use bombus_certify::encoding::{put, put_number};
use bombus_certify::states::{States, hex, sha256, write};
use bombus_oracle::eval::{Oracle, Slot};
use bombus_oracle::exec::Writes;
use bombus_oracle::search::Look;
use bombus_oracle::text::read;
use bombus_oracle::tree::Machine;
use bombus_oracle::value::Value;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A certificate before it is written; hashes are computed when it is.
#[derive(Clone)]
pub struct Draft {
    pub core: String,
    pub constants: Vec<Vec<u8>>,
    pub states: Vec<Vec<u8>>,
    pub manifest: Json,
    pub trace: Option<Json>,
    /// States in one block.
    pub block: usize,
}

/// The certificate of a machine in which nothing is wrong.
pub fn verified(core: &str) -> Draft {
    let machine: Machine = read(core).expect("a machine");
    let oracle = Oracle::new(&machine, 10_000_000);
    let (mut valuations, _) = oracle.valuations(&Writes::new()).expect("constants");
    let spelled = |slots: &Vec<Slot>| {
        let mut out = Vec::new();
        for v in slots.iter().map(|s| s.value().expect("a listed constant")) {
            out.push(1);
            put(&v, &mut out);
        }
        out
    };
    valuations.sort_by_key(spelled);
    let mut known: BTreeSet<(usize, Vec<Value>)> = BTreeSet::new();
    for (k, slots) in valuations.iter().enumerate() {
        let given: Writes = machine
            .constants
            .iter()
            .zip(slots)
            .map(|(c, s)| (c.0.clone(), s.value().expect("listed")))
            .collect();
        let start = Look::default().start(&oracle, &given);
        known.extend(start.into_iter().flat_map(|(_, states)| states).map(|s| (k, s)));
    }
    let initial = known.len();
    let mut events: BTreeMap<String, (u64, u64)> =
        machine.operations.iter().filter(|o| o.event).map(|o| (o.name.to_string(), (0, 0))).collect();
    let mut open: Vec<_> = known.iter().cloned().collect();
    while let Some((k, state)) = open.pop() {
        oracle.restart();
        let mut look = Look::default();
        look.events(&oracle, &oracle.environment(&valuations[k], Some(&state)), None, false);
        let made: BTreeSet<_> = look
            .transitions
            .into_iter()
            .map(|(e, t)| {
                (e, t.params, t.results, oracle.state_after(Some(&state), &t.writes).expect("a state"))
            })
            .collect();
        for name in made.iter().map(|t| t.0.to_string()).collect::<BTreeSet<_>>() {
            events.get_mut(&name).expect("an event").0 += 1;
        }
        for (name, _, _, target) in made {
            events.get_mut(&*name).expect("an event").1 += 1;
            if known.insert((k, target.clone())) {
                open.push((k, target));
            }
        }
    }
    let mut states: Vec<Vec<u8>> = known
        .iter()
        .map(|(k, values)| {
            let mut out = Vec::new();
            put_number(*k as u64, &mut out);
            values.iter().for_each(|v| put(v, &mut out));
            out
        })
        .collect();
    states.sort();
    let transitions: u64 = events.values().map(|e| e.1).sum();
    let events = events.iter().map(|(n, (s, t))| json!({"name": n, "states": s, "transitions": t}));
    let manifest = json!({"format": "bombus-certificate", "version": 2, "verdict": "verified",
        "asked": {"invariant": true, "assertions": true, "deadlock": true, "goal": false, "strict_guards": false},
        "counts": {"valuations": valuations.len(), "initial": initial, "states": states.len(),
            "transitions": transitions, "events": events.collect::<Vec<_>>()},
        "symmetry": [], "reduced": false, "formulas": [], "not_certified": [], "hashes": {}});
    let constants = valuations.iter().map(spelled).collect();
    Draft { core: core.into(), constants, states, manifest, trace: None, block: 7 }
}

impl Draft {
    /// The files of the certificate, with hashes that fit.
    pub fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut constants = b"BombusCons\x01\n".to_vec();
        put_number(self.constants.len() as u64, &mut constants);
        constants.extend(self.constants.concat());
        let states = write(&self.states, self.block);
        let root = States::read(states.clone()).map_or_else(|_| String::new(), |s| hex(&s.root));
        let mut manifest = self.manifest.clone();
        manifest["hashes"] = json!({"model.core": hex(&sha256(self.core.as_bytes())),
            "constants.bin": hex(&sha256(&constants)), "states.bin": root});
        let mut files = vec![("model.core", self.core.clone().into_bytes())];
        match &self.trace {
            Some(trace) => {
                let text = trace.to_string().into_bytes();
                manifest["hashes"]["trace.json"] = json!(hex(&sha256(&text)));
                files.push(("trace.json", text));
            }
            None => files.extend([("constants.bin", constants), ("states.bin", states)]),
        }
        manifest["seal"] = json!(hex(&sha256(manifest.to_string().as_bytes())));
        files.push(("manifest.json", manifest.to_string().into_bytes()));
        files
    }

    /// Claims a violation, and no counts: a trace shows none.
    pub fn claim_violated(&mut self) {
        self.manifest["verdict"] = json!("violated");
        self.manifest["counts"] =
            json!({"valuations": 0, "initial": 0, "states": 0, "transitions": 0, "events": []});
    }

    /// Writes the certificate to a directory.
    pub fn write(&self, dir: &Path) {
        for (name, bytes) in self.files() {
            std::fs::write(dir.join(name), bytes).expect("the directory can be written");
        }
    }
}
