//! Constants under permutations: what they say of elements, and one valuation of each orbit.
//!
//! In: valuations. Out: their structures, renamed constants, the valuations that are kept.
//! Never here: variables.

use super::canon::{Canoniser, Writer, least_of_all};
use super::structure::{Structure, mix, word};
use super::types::{Group, Standing, told_apart_by};
use super::{Mode, classic, values};
use bombus_analyse::distinguishable::Apart;
use bombus_base::budget::{Budget, Stop};
use bombus_base::hash::HashSet;
use bombus_evaluate::Constants;
use bombus_lang::typed::{Machine, SetId};
use bombus_lang::value::{Symbolic, Value};
use bombus_lang::walk::{visit_expr, visit_pred};
use std::sync::Arc;

/// A valuation with what it says of elements.
pub struct Fixed {
    pub values: Constants,
    pub structure: Structure,
    /// Interchangeable elements stand in it.
    pub moves: bool,
}

impl Fixed {
    pub fn new(group: &Arc<Group>, values: &Constants) -> Fixed {
        let mut structure = Structure::new(group);
        let mut places = Vec::new();
        for (i, v) in values.iter().enumerate() {
            places.clear();
            values::enter(group, v, constant_key(i), &mut places, &mut structure);
        }
        let moves = values.iter().any(|v| values::mentions(group, v));
        Fixed { values: values.clone(), structure, moves }
    }

    /// The constants under a numbering.
    pub fn permuted(&self, group: &Group, numbers: &[u16]) -> Option<Value> {
        let all = self.values.iter().map(|v| values::permuted(group, v, numbers));
        Some(Value::Rec(all.collect::<Option<Vec<_>>>()?.into()))
    }
}

fn constant_key(number: usize) -> u128 {
    mix(word("constant"), number as u128)
}

/// Constants that are functions in the form of a formula may name elements, or show them to functions
/// that tell them apart. These elements are told apart too.
pub fn name_elements_of_formulas(machine: &Machine, valuations: &[Constants], standings: &mut [Standing]) {
    let mut apart = Apart::new(machine);
    valuations.iter().flat_map(|c| c.iter()).for_each(|v| look(v, false, &mut apart));
    for (s, standing) in standings.iter_mut().enumerate() {
        let set = SetId(s as u32);
        if let Some(external) = apart.shown.get(&set) {
            *standing = Standing::Apart(told_apart_by(external));
        } else if let (Standing::Symmetric { named }, Some(more)) = (&mut *standing, apart.named.get(&set)) {
            named.extend(more);
        }
    }
    for (standing, set) in standings.iter_mut().zip(&machine.sets) {
        if let Standing::Symmetric { named } = standing
            && set.elems.len() - named.len() < 2
        {
            *standing = Standing::Apart("its elements are named".into());
        }
    }
}

/// Looks into a value; `inside`: it is part of a formula.
fn look(v: &Value, inside: bool, apart: &mut Apart) {
    match v {
        Value::Elem(set, n) if inside => {
            apart.named.entry(*set).or_default().insert(*n);
        }
        Value::Pair(p) => {
            look(&p.0, inside, apart);
            look(&p.1, inside, apart);
        }
        Value::Set(all) | Value::Rec(all) => all.iter().for_each(|v| look(v, inside, apart)),
        Value::Free(_, _, Some(v)) => look(v, inside, apart),
        Value::Symbolic(s) => match &**s {
            Symbolic::Base(_) | Symbolic::Interval(..) => {}
            Symbolic::Struct(all) => all.iter().for_each(|v| look(v, true, apart)),
            Symbolic::Unary(_, v) => look(v, true, apart),
            Symbolic::Binary(_, a, b) => {
                look(a, true, apart);
                look(b, true, apart);
            }
            Symbolic::Closure(c) => {
                c.captured.iter().for_each(|(_, v)| look(v, true, apart));
                visit_pred(&c.code.pred, apart);
                c.code.body.iter().for_each(|e| visit_expr(e, apart));
            }
        },
        _ => {}
    }
}

/// Writes constants down under a numbering.
pub struct Written<'a> {
    pub fixed: &'a Fixed,
    pub group: &'a Group,
}

impl Writer for Written<'_> {
    fn write(&mut self, numbers: &[u16], out: &mut Vec<u64>) -> bool {
        let Some(value) = self.fixed.permuted(self.group, numbers) else { return false };
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        out.clear();
        out.push(bytes.len() as u64);
        out.extend(bytes.chunks(8).map(|c| c.iter().fold(0, |w, b| w << 8 | u64::from(*b))));
        true
    }
}

/// Keeps the first valuation of each orbit, and says whether one may have been taken for another.
pub fn one_of_each_orbit(
    mode: Mode,
    machine: &Machine,
    group: &Arc<Group>,
    valuations: Vec<Constants>,
    budget: &Budget,
) -> Result<(Vec<Constants>, bool), Stop> {
    let mut seen: HashSet<Vec<u64>> = HashSet::new();
    let mut confused = false;
    let mut canoniser = Canoniser::new(group);
    let mut kept = Vec::new();
    let classic_is_exact = classic::is_exact(machine, group);
    for (i, constants) in valuations.into_iter().enumerate() {
        if i % 256 == 0 {
            budget.check()?;
        }
        let mut fixed = Fixed::new(group, &constants);
        if !fixed.moves {
            kept.push(constants);
            continue;
        }
        let mut exact = true;
        let mut structure = std::mem::replace(&mut fixed.structure, Structure::new(group));
        let mut writer = Written { fixed: &fixed, group };
        let marker = |m: u128| vec![m as u64, (m >> 64) as u64];
        let identity = match mode {
            _ if structure.opaque => None,
            Mode::Exact => canoniser.canonical(&mut structure, &mut writer).ok().map(<[u64]>::to_vec),
            Mode::Flood => {
                let mut out = Vec::new();
                least_of_all(group, &mut writer, &mut out).then_some(out)
            }
            Mode::Marker => {
                exact = structure.is_unary();
                Some(marker(structure.refined_marker(&mut vec![0; group.elements.len()])))
            }
            Mode::MarkerClassic => {
                exact = classic_is_exact;
                let named: Vec<(usize, &Value)> = constants.iter().enumerate().collect();
                Some(marker(classic::marker(group, &named)))
            }
        };
        match identity {
            Some(identity) => {
                if seen.insert(identity) {
                    kept.push(constants);
                } else {
                    confused |= !exact;
                }
            }
            None => kept.push(constants),
        }
    }
    Ok((kept, confused))
}
