//! Representatives: the one state that stands for an orbit in every run.
//!
//! In: the identity of an orbit. Out: a state of the orbit, packed, with a valuation of the constants that
//! is explored; a function of the orbit alone. Never here: who expands it.
//!
//! The canonical form of a state is itself a state if the constants hold no interchangeable elements. If
//! they do, it has renamed constants, which need not be a valuation that is explored. Then it is renamed
//! once more, by the numbering that leads from these constants by way of their own canonical form to the
//! first valuation with the same one.

use super::canon::Canoniser;
use super::constants::{Fixed, Written};
use super::structure::Structure;
use super::types::Group;
use super::{States, Symmetry, values};
use crate::pool::{Fold, ValueId};
use bombus_lang::value::Value;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// Renamed constants whose way home is remembered.
const REMEMBERED: usize = 4096;

/// A valuation that is explored, and the numbering that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Home {
    valuation: usize,
    numbers: Vec<u16>,
}

/// The explored valuations by their canonical forms, with the numbering that makes the form.
#[derive(Default)]
pub struct Homes(HashMap<Vec<u64>, Home>);

impl Homes {
    /// The first valuation of each orbit.
    pub fn new(group: &Arc<Group>, valuations: &[Fixed]) -> Homes {
        let mut homes = HashMap::new();
        for (valuation, fixed) in valuations.iter().enumerate() {
            if let Some((form, numbers)) = form(group, fixed) {
                homes.entry(form).or_insert(Home { valuation, numbers });
            }
        }
        Homes(homes)
    }

    /// How constants are renamed to become a valuation that is explored.
    fn find(&self, group: &Arc<Group>, valuations: &[Fixed], constants: &Value) -> Option<Home> {
        let Value::Rec(all) = constants else { return None };
        let fixed = Fixed::new(group, all);
        let (form, numbers) = form(group, &fixed)?;
        let home = self.0.get(&form)?;
        let mut back = vec![0; numbers.len()];
        for range in &group.ranges {
            for e in range.clone() {
                let same = range.clone().find(|q| home.numbers[*q] == numbers[e])?;
                back[e] = group.elements[same].number;
            }
        }
        let there = Value::Rec(valuations[home.valuation].values.clone());
        (fixed.permuted(group, &back)? == there).then_some(Home { valuation: home.valuation, numbers: back })
    }
}

/// The canonical form of constants and the numbering that makes it, a function of the constants alone: a
/// canoniser that was used before may number elements that cannot be told apart in another order.
fn form(group: &Arc<Group>, fixed: &Fixed) -> Option<(Vec<u64>, Vec<u16>)> {
    if fixed.structure.opaque {
        return None;
    }
    let mut structure = Structure::new(group);
    structure.add(&fixed.structure);
    let mut canoniser = Canoniser::new(group);
    let form = canoniser.canonical(&mut structure, &mut Written { fixed, group }).ok()?.to_vec();
    Some((form, canoniser.numbering().to_vec()))
}

/// Finds representatives; with what one thread remembers.
#[derive(Default)]
pub struct Representer {
    /// By the number of renamed constants in the pool.
    ways: HashMap<u32, Option<Home>, BuildHasherDefault<Fold>>,
    packed: Vec<u64>,
}

impl Representer {
    /// The representative of the orbit with the canonical form `state`, whose constants have this number
    /// in the pool. `regs` and `scratch` hold a state each.
    pub fn represent(
        &mut self,
        symmetry: &Symmetry,
        states: States<'_>,
        (state, constants): (&[u64], ValueId),
        regs: &mut [u64],
        scratch: &mut [u64],
        out: &mut [u64],
    ) -> bool {
        if !symmetry.constants_move {
            out.copy_from_slice(state);
            return true;
        }
        let States { layout, pool } = states;
        let group = &symmetry.group;
        if self.ways.len() >= REMEMBERED && !self.ways.contains_key(&constants.0) {
            self.ways.clear();
        }
        let way = self
            .ways
            .entry(constants.0)
            .or_insert_with(|| symmetry.homes().find(group, &symmetry.constants, pool.get(constants)));
        let Some(Home { valuation, numbers }) = way else { return false };
        if layout.is_escaped(state) {
            let all = layout.unpack(state, pool);
            let Some(renamed) =
                all.iter().map(|v| values::permuted(group, v, numbers)).collect::<Option<Vec<Value>>>()
            else {
                return false;
            };
            layout.pack(*valuation, &renamed, pool, &mut self.packed);
            out.copy_from_slice(&self.packed);
            return true;
        }
        layout.load(state, regs);
        out.fill(0);
        out[0] = layout.head(*valuation);
        symmetry.shapes.permute(group, pool, regs, numbers, scratch, out)
    }
}
