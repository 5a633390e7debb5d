//! The list of the states of a search, and of the valuations of the constants.
//!
//! In: a search that found nothing wrong. Out: `states.bin`, the bytes of `constants.bin`.
//! Never here: what else a certificate has, how lists are sorted.

use super::blocks::{Trouble, Written};
use super::{keyed, sorted, spelling};
use crate::explore::{self, Kept};
use crate::graph::{Graph, NodeId};
use crate::lang::typed::Type;
use crate::lang::value::Value;
use crate::program::{Keys, Program};
use crate::system::System;
use keyed::Key;
use parking_lot::Mutex;
use rayon::prelude::*;
use sorted::Batch;
use std::path::Path;

/// How `constants.bin` begins: name and version of the format.
const MAGIC: &[u8; 12] = b"BombusCons\x01\n";
/// Nodes of a graph that are read by one thread at a time.
const PART: usize = 2048;
/// Keys, or bytes of spellings, of one thread at which the sorter takes them.
const BATCH: usize = 1 << 13;
const BYTES: usize = 1 << 20;

/// Why the states of a search were not written.
pub enum Unwritten {
    For(String),
    /// The search is at fault.
    Wrong(String),
    /// Some state has no key.
    Keyless,
}

impl From<Trouble> for Unwritten {
    fn from(trouble: Trouble) -> Unwritten {
        match trouble {
            Trouble::Io(e) => Unwritten::For(format!("states.bin: {e}")),
            Trouble::Twice => Unwritten::Wrong("the search stored two states with the same values".into()),
            Trouble::Disorder => {
                Unwritten::Wrong("keys of states are not in the order of their bytes".into())
            }
        }
    }
}

/// What was written, with the contents of `constants.bin`.
pub struct Listed {
    pub constants: Vec<u8>,
    pub states: Written,
}

/// Writes all states of a search.
pub fn write(program: &Program, found: &explore::Outcome, dir: &Path) -> Result<Listed, Unwritten> {
    let (constants, ranks) = valuations(program).map_err(Unwritten::For)?;
    let states = match (&found.graph, &found.kept) {
        (Some(graph), _) => States::Graph(graph),
        (None, Some(kept)) => States::Kept(kept),
        (None, None) => return Err(Unwritten::For("the states were not kept".into())),
    };
    let list = List { program, states, dir, ranks };
    let machine = program.machine();
    let spell =
        |v: &Value, ty: &Type, out: &mut Vec<u8>| spelling::value(&machine.freetypes, v, ty, out).is_ok();
    let keyed = match program.keys(&list.ranks, &spell) {
        Some(keys) if keys.bits() <= u64::BITS => list.by_keys::<u64>(&keys),
        Some(keys) => list.by_keys::<u128>(&keys),
        None => Err(Unwritten::Keyless),
    };
    let written = match keyed {
        Err(Unwritten::Keyless) => list.by_bytes()?,
        other => other?,
    };
    if written.states != found.states {
        let (listed, counted) = (written.states, found.states);
        return Err(Unwritten::Wrong(format!("{listed} states are stored of {counted} that were counted")));
    }
    Ok(Listed { constants, states: written })
}

/// The file of constants, and for each valuation its place in there.
fn valuations(program: &Program) -> Result<(Vec<u8>, Vec<usize>), String> {
    let machine = program.machine();
    let spell = |n: usize| {
        let mut own = Vec::new();
        for (v, value) in program.valuation(n) {
            let before = own.len();
            own.push(1);
            if spelling::value(&machine.freetypes, &value, &machine.var(v).ty, &mut own).is_err() {
                own.truncate(before);
                own.push(0);
            }
        }
        own
    };
    let spelled: Vec<Vec<u8>> = (0..program.valuations()).map(spell).collect();
    let mut order: Vec<usize> = (0..spelled.len()).collect();
    order.sort_by(|a, b| spelled[*a].cmp(&spelled[*b]));
    if order.windows(2).any(|two| spelled[two[0]] == spelled[two[1]]) {
        return Err("two valuations differ only in constants that cannot be listed".into());
    }
    let mut bytes = MAGIC.to_vec();
    spelling::number(spelled.len() as i64, &mut bytes);
    let mut ranks = vec![0; spelled.len()];
    for (rank, n) in order.iter().enumerate() {
        ranks[*n] = rank;
        bytes.extend_from_slice(&spelled[*n]);
    }
    Ok((bytes, ranks))
}

/// States that are to be listed.
struct List<'a> {
    program: &'a Program<'a>,
    states: States<'a>,
    dir: &'a Path,
    /// By valuation its place in the file of constants.
    ranks: Vec<usize>,
}

impl List<'_> {
    /// Sorts keys, and spells them in their order.
    fn by_keys<K: Key>(&self, keys: &Keys) -> Result<Written, Unwritten> {
        let sorter = Mutex::new(keyed::Sorter::<K>::new(keys, self.dir));
        let put = |own: &mut Vec<K>, state: &[u64]| {
            own.push(K::of(keys.key(state).ok_or(Unwritten::Keyless)?));
            Ok(own.len() >= BATCH)
        };
        let take = |own: &mut Vec<K>| {
            let taken = sorter.lock().add(own);
            own.clear();
            taken.map_err(Trouble::Io)
        };
        self.each(put, take)?;
        Ok(sorter.into_inner().finish(&self.dir.join("states.bin"))?)
    }

    /// Spells all states, and sorts the bytes.
    fn by_bytes(&self) -> Result<Written, Unwritten> {
        let machine = self.program.machine();
        let types: Vec<_> = machine.variables.iter().map(|v| &machine.var(*v).ty).collect();
        let sorter = Mutex::new(sorted::Sorter::new(self.dir));
        let put = |own: &mut Batch, state: &[u64]| {
            let wrong = |why: &str| Unwritten::For(why.into());
            spelling::number(self.ranks[self.program.valuation_of(state)] as i64, &mut own.bytes);
            for (v, ty) in self.program.values(state).variables.iter().zip(&types) {
                spelling::value(&machine.freetypes, v, ty, &mut own.bytes)
                    .map_err(|_| wrong("a variable holds a set that cannot be listed"))?;
            }
            own.ends.push(u32::try_from(own.bytes.len()).map_err(|_| wrong("states are too large"))?);
            Ok(own.bytes.len() >= BYTES)
        };
        let take = |own: &mut Batch| sorter.lock().add(std::mem::take(own)).map_err(Trouble::Io);
        self.each(put, take)?;
        Ok(sorter.into_inner().finish(&self.dir.join("states.bin"))?)
    }

    /// Gives each state to `put`, which says whether what it gathered is enough to be taken.
    fn each<B: Default>(
        &self,
        put: impl Fn(&mut B, &[u64]) -> Result<bool, Unwritten> + Sync,
        take: impl Fn(&mut B) -> Result<(), Trouble> + Sync,
    ) -> Result<(), Unwritten> {
        (0..self.states.parts()).into_par_iter().try_for_each(|part| {
            let mut own = B::default();
            self.states.each_in(part, self.program, |state| {
                if put(&mut own, state)? {
                    take(&mut own)?;
                }
                Ok(())
            })?;
            Ok(take(&mut own)?)
        })
    }
}

/// Where the states of a search are.
enum States<'a> {
    Graph(&'a Graph),
    Kept(&'a Kept),
}

impl States<'_> {
    /// Into how many parts the states fall, which may be read side by side.
    fn parts(&self) -> usize {
        match self {
            States::Graph(graph) => graph.nodes().div_ceil(PART),
            States::Kept(kept) => kept.parts(),
        }
    }

    /// Reads the states of a part; of an orbit the state that stands for it.
    fn each_in(
        &self,
        part: usize,
        program: &Program,
        mut f: impl FnMut(&[u64]) -> Result<(), Unwritten>,
    ) -> Result<(), Unwritten> {
        let lost = || Unwritten::For("not all states were kept".into());
        let mut state = vec![0; program.words()];
        match (self, program.orbits()) {
            (States::Graph(graph), _) => {
                let nodes = part * PART..graph.nodes().min((part + 1) * PART);
                nodes.map(|n| NodeId(n as u32)).try_for_each(|node| {
                    match graph.read_state(node, &mut state) {
                        true => f(&state),
                        false => Err(lost()),
                    }
                })
            }
            (States::Kept(kept), None) => kept.each_in(part, &mut state, f),
            (States::Kept(kept), Some(mut orbits)) => {
                let mut identity = vec![0; orbits.words()];
                kept.each_in(part, &mut identity, |orbit| match orbits.representative(orbit, &mut state) {
                    true => f(&state),
                    false => Err(lost()),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests;
