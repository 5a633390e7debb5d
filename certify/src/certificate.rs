//! A certificate as it is read from its directory, before any obligation is looked at.
//!
//! In: a directory, or files at hand. Out: claims, machine, constants and states, each of the form and the hash that it should have.
//! Never here: evaluation.

use crate::bounds;
use crate::encoding::Reader;
use crate::levels::Levels;
use crate::manifest::Manifest;
use crate::states::{States, hex, sha256};
use bombus_oracle::text::read;
use bombus_oracle::tree::{Machine, Type};
use bombus_oracle::value::Value;
use std::path::Path;
use std::sync::OnceLock;

/// How `constants.bin` begins: name and version of the format.
pub const MAGIC: &[u8; 12] = b"BombusCons\x01\n";
/// The most bytes of a manifest or a model, of a trace, and of constants. Text takes up to a hundred times its size when it is a tree.
pub(crate) const MOST_TEXT: u64 = 1 << 24;
const MOST_TRACE: u64 = 1 << 27;
const MOST_CONSTANTS: u64 = 1 << 30;

/// Why there is nothing to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A file cannot be read from the disk.
    Missing(String),
    /// A file is not what a certificate consists of.
    Damaged(String),
}

/// The values of the constants, in the order of their declarations; nothing for a set that cannot be listed.
pub type Constants = Vec<Option<Value>>;

/// The parts of a certificate.
pub struct Certificate {
    pub manifest: Manifest,
    pub machine: Machine,
    /// The machines that it refines.
    pub levels: Option<Levels>,
    pub constants: Vec<Constants>,
    pub states: States,
    /// The text of the trace, where the verdict is "violated".
    pub trace: Option<String>,
    bounded: OnceLock<Machine>,
}

/// A way to the files of a certificate: the bytes of the file of a name, of at most so many.
pub type Files<'f> = &'f (dyn Fn(&str, u64) -> Result<Vec<u8>, Unread> + Sync);

impl Certificate {
    /// Reads all files and compares their hashes with the manifest.
    pub fn load(files: Files) -> Result<Certificate, Unread> {
        let text = |name: &str| {
            let bytes = files(name, if name == "trace.json" { MOST_TRACE } else { MOST_TEXT })?;
            String::from_utf8(bytes).map_err(|_| Unread::Damaged(format!("{name}: it is no text")))
        };
        let damaged = |name: &str, why: String| Unread::Damaged(format!("{name}: {why}"));
        let manifest = Manifest::read(&text("manifest.json")?).map_err(|e| damaged("manifest.json", e))?;
        let same = |name: &str, hash: [u8; 32]| match manifest.hashes.get(name) {
            Some(own) if *own == hex(&hash) => Ok(()),
            Some(_) => {
                Err(damaged(name, "it is not the file that the manifest speaks of: its hash differs".into()))
            }
            None => Err(damaged("manifest.json", format!("it has no hash of {name}"))),
        };
        let core = text("model.core")?;
        same("model.core", sha256(core.as_bytes()))?;
        let (machine, levels) = model(&core).map_err(|e| damaged("model.core", e))?;
        let mut certificate = Certificate {
            manifest: manifest.clone(),
            machine,
            levels,
            constants: Vec::new(),
            states: States::read(crate::states::MAGIC.to_vec()).map_err(|e| damaged("states.bin", e))?,
            trace: None,
            bounded: OnceLock::new(),
        };
        if !manifest.verified {
            let trace = text("trace.json")?;
            same("trace.json", sha256(trace.as_bytes()))?;
            certificate.trace = Some(trace);
            return Ok(certificate);
        }
        if manifest.allowed && certificate.levels.is_none() {
            let why = "only the calls that abstractions allow are claimed, and there is no abstraction";
            return Err(damaged("manifest.json", why.into()));
        }
        if manifest.unlisted.is_some() {
            return Ok(certificate);
        }
        let constants = files("constants.bin", MOST_CONSTANTS)?;
        same("constants.bin", sha256(&constants))?;
        let machine = &certificate.machine;
        certificate.constants =
            valuations(machine, &constants).map_err(|why| damaged("constants.bin", why))?;
        let states = files("states.bin", u64::MAX)?;
        certificate.states = States::read(states).map_err(|e| damaged("states.bin", e))?;
        same("states.bin", certificate.states.root)?;
        Ok(certificate)
    }

    /// The machine with the bounds that follow from its predicates, without its scope: to be asked where the oracle has no
    /// answer about the machine as it stands.
    pub fn bounded(&self) -> &Machine {
        self.bounded.get_or_init(|| {
            let window = self.manifest.window();
            Machine { scope: None, ..bounds::bounded(&self.machine, window.as_ref()) }
        })
    }
}

/// The machine of `model.core`, and apart from it the machines that it refines.
pub fn model(text: &str) -> Result<(Machine, Option<Levels>), String> {
    let mut machine: Machine = read(text)?;
    let levels = Levels::of(&mut machine)?;
    well_formed(&machine)?;
    if let Some(levels) = &levels {
        levels.variables.iter().try_for_each(|(_, t)| known_type(&machine, t))?;
    }
    Ok((machine, levels))
}

/// Whether a certificate is about the model of this text, if there is one.
pub fn is_of(dir: &Path, core: Option<&str>) -> Result<(), Unread> {
    let Some(core) = core else { return Ok(()) };
    match bytes_of(dir, "model.core", MOST_TEXT)?.trim_ascii() == core.trim().as_bytes() {
        true => Ok(()),
        false => Err(Unread::Damaged("model.core: it is another model than the one that was given".into())),
    }
}

pub(crate) fn bytes_of(dir: &Path, name: &str, most: u64) -> Result<Vec<u8>, Unread> {
    let path = dir.join(name);
    let failed = |e: std::io::Error| Unread::Missing(format!("{}: {e}", path.display()));
    let about = std::fs::metadata(&path).map_err(failed)?;
    if !about.is_file() {
        return Err(Unread::Damaged(format!("{name}: it is no file")));
    }
    if about.len() > most {
        return Err(Unread::Damaged(format!("{name}: it is larger than {most} bytes")));
    }
    std::fs::read(&path).map_err(failed)
}

/// Names that would make a tree mean something else to another reader are refused.
fn well_formed(machine: &Machine) -> Result<(), String> {
    let global = machine.constants.iter().chain(&machine.variables).map(|v| &v.0);
    twice(global, "constant or variable")?;
    twice(machine.sets.iter().map(|s| &s.name), "set")?;
    twice(machine.operations.iter().map(|o| &o.name), "operation")?;
    for (_, t) in machine.constants.iter().chain(&machine.variables) {
        known_type(machine, t)?;
    }
    machine.sets.iter().try_for_each(|s| twice(s.elements.iter(), "element"))
}

fn twice<'a>(names: impl Iterator<Item = &'a bombus_oracle::tree::Name>, what: &str) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("the {what} {name} is declared twice"));
        }
    }
    Ok(())
}

fn known_type(machine: &Machine, t: &Type) -> Result<(), String> {
    match t {
        Type::Given(n) if !machine.sets.iter().any(|s| s.name == *n) => Err(format!("there is no set {n}")),
        Type::Free(n) if !machine.freetypes.iter().any(|f| f.name == *n) => {
            Err(format!("there is no free type {n}"))
        }
        Type::Pow(t) => known_type(machine, t),
        Type::Prod(a, b) => known_type(machine, a).and_then(|()| known_type(machine, b)),
        Type::Record(fields) => fields.iter().try_for_each(|(_, t)| known_type(machine, t)),
        _ => Ok(()),
    }
}

/// The valuations of `constants.bin`: their number, then for each constant 1 and its value, or 0. They ascend strictly.
fn valuations(machine: &Machine, bytes: &[u8]) -> Result<Vec<Constants>, String> {
    let body = bytes.strip_prefix(MAGIC).ok_or("it does not begin as a file of constants of this version")?;
    let mut reader = Reader::new(machine, body);
    let count = reader.number()?;
    let (mut out, mut last): (Vec<Constants>, &[u8]) = (Vec::new(), &[]);
    for n in 0..count {
        let start = reader.at;
        let mut values = Vec::new();
        for (_, t) in &machine.constants {
            values.push(match reader.value(&Type::Bool)? {
                Value::Bool(true) => Some(reader.value(t)?),
                _ => None,
            });
        }
        let own = &body[start..reader.at];
        if n > 0 && own <= last {
            return Err("the valuations do not ascend".into());
        }
        out.push(values);
        last = own;
    }
    if reader.is_at_end() { Ok(out) } else { Err("there are bytes behind the last valuation".into()) }
}
