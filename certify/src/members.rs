//! Whether a state is one of those that a certificate lists, or can be renamed into one.
//!
//! In: a certificate. Out: an answer for any state. Never here: evaluation.

use crate::certificate::Certificate;
use crate::encoding::{Reader, put, put_number};
use crate::orbit::Group;
use crate::states::States;
use bombus_oracle::value::Value;
use std::collections::HashMap;

/// The states that count as listed.
pub enum Members<'a> {
    /// Those of the file.
    Listed(&'a States),
    /// All renamings of those of the file; kept are the canonical forms of constants and variables.
    Renamed { group: &'a Group, forms: HashMap<Vec<u8>, u64> },
}

/// A state as values, or why its bytes are none: the number of its valuation, and the variables.
pub fn decoded(c: &Certificate, bytes: &[u8]) -> Result<(usize, Vec<Value>), String> {
    let mut reader = Reader::new(&c.machine, bytes);
    let valuation = valuation(c, &mut reader)?;
    let values = c.machine.variables.iter().map(|(_, t)| reader.value(t)).collect::<Result<_, _>>()?;
    if reader.is_at_end() {
        Ok((valuation, values))
    } else {
        Err("it has bytes behind its last variable".into())
    }
}

/// The number of the valuation with which a state begins.
pub fn valuation(c: &Certificate, reader: &mut Reader) -> Result<usize, String> {
    let n = reader.number()?;
    let known = usize::try_from(n).ok().filter(|n| *n < c.constants.len());
    known.ok_or_else(|| format!("there is no valuation {n} of the constants"))
}

impl<'a> Members<'a> {
    /// The states of a certificate, up to renamings if the manifest claims no more.
    pub fn new(c: &'a Certificate, group: &'a Group, jobs: usize) -> Result<Members<'a>, String> {
        if c.manifest.symmetry.is_empty() {
            return Ok(Members::Listed(&c.states));
        }
        let part = |worker: usize| {
            let mut forms = HashMap::new();
            for block in (worker..c.states.blocks()).step_by(jobs) {
                let mut wrong = None;
                c.states.each(block, &mut |number, bytes| {
                    let form = decoded(c, bytes).and_then(|(k, values)| {
                        form(c, group, k, &values).ok_or_else(|| "it has too many renamings".to_string())
                    });
                    match form {
                        Ok(form) => wrong = forms.insert(form, number).map(|other| twice(number, other)),
                        Err(why) => wrong = Some(format!("state {number}: {why}")),
                    }
                    wrong.is_none()
                });
                if let Some(why) = wrong {
                    return Err(why);
                }
            }
            Ok(forms)
        };
        let parts: Vec<Result<HashMap<Vec<u8>, u64>, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs).map(|w| scope.spawn(move || part(w))).collect();
            let joined = threads.into_iter().map(|t| t.join());
            joined.map(|r| r.unwrap_or_else(|_| Err("an examiner failed".into()))).collect()
        });
        let mut forms = HashMap::new();
        for part in parts {
            for (form, number) in part? {
                if let Some(other) = forms.insert(form, number) {
                    return Err(twice(number, other));
                }
            }
        }
        Ok(Members::Renamed { group, forms })
    }

    /// The number of the listed state that a state is or can be renamed into; nothing if that takes too long to tell.
    pub fn find(&self, c: &Certificate, valuation: usize, values: &[Value]) -> Option<Option<u64>> {
        match self {
            Members::Listed(states) => {
                let mut bytes = Vec::new();
                put_number(valuation as u64, &mut bytes);
                values.iter().for_each(|v| put(v, &mut bytes));
                Some(states.find(&bytes))
            }
            Members::Renamed { group, forms } => {
                form(c, group, valuation, values).map(|form| forms.get(&form).copied())
            }
        }
    }
}

/// One of two states that a renaming takes into each other is too many: states up to renaming are counted.
fn twice(a: u64, b: u64) -> String {
    format!("states {} and {} are the same up to renaming", a.min(b), a.max(b))
}

/// The form of a state and its constants up to renaming. A constant that is not listed is a function of the listed
/// ones, since only valuations with a single solution are examined, so a renaming takes it along.
fn form(c: &Certificate, group: &Group, k: usize, values: &[Value]) -> Option<Vec<u8>> {
    let listed: Vec<Value> = c.constants[k].iter().flatten().chain(values).cloned().collect();
    group.canonical(&c.machine, &listed)
}
