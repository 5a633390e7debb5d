//! Constants under permutations: what they say of elements, and one valuation of each orbit.
//!
//! In: valuations. Out: their structures, renamed constants, the valuations that are kept.
//! Never here: variables.

use super::canon::{Canoniser, Writer, least_of_all};
use super::structure::{Structure, mix, word};
use super::types::{Group, Standing};
use super::{Mode, classic, values};
use crate::base::budget::{Budget, Stop};
use crate::model::reference::Constants;
use crate::model::typed::{Expr, ExprKind, External, Machine, SetId};
use crate::model::value::{Symbolic, Value};
use crate::model::walk::{Visit, visit_expr, visit_pred};
use std::collections::HashSet;
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
    let mut found = Formulas { standings, machine };
    valuations.iter().flat_map(|c| c.iter()).for_each(|v| found.value(v, false));
    for (standing, set) in standings.iter_mut().zip(&machine.sets) {
        if let Standing::Symmetric { named } = standing
            && set.elems.len() - named.len() < 2
        {
            *standing = Standing::Apart("its elements are named".into());
        }
    }
}

struct Formulas<'a> {
    standings: &'a mut [Standing],
    machine: &'a Machine,
}

impl Formulas<'_> {
    fn name(&mut self, set: SetId, number: u32) {
        if let Standing::Symmetric { named } = &mut self.standings[set.0 as usize] {
            named.insert(number);
        }
    }

    /// `inside`: the value is part of a formula.
    fn value(&mut self, v: &Value, inside: bool) {
        match v {
            Value::Elem(set, n) if inside => self.name(*set, *n),
            Value::Pair(p) => {
                self.value(&p.0, inside);
                self.value(&p.1, inside);
            }
            Value::Set(all) | Value::Rec(all) => all.iter().for_each(|v| self.value(v, inside)),
            Value::Free(_, _, Some(v)) => self.value(v, inside),
            Value::Symbolic(s) => match &**s {
                Symbolic::Base(_) | Symbolic::Interval(..) => {}
                Symbolic::Struct(all) => all.iter().for_each(|v| self.value(v, true)),
                Symbolic::Unary(_, v) => self.value(v, true),
                Symbolic::Binary(_, a, b) => {
                    self.value(a, true);
                    self.value(b, true);
                }
                Symbolic::Closure(c) => {
                    c.captured.iter().for_each(|(_, v)| self.value(v, true));
                    visit_pred(&c.code.pred, self);
                    c.code.body.iter().for_each(|e| visit_expr(e, self));
                }
            },
            _ => {}
        }
    }

    fn shown(&mut self, name: &str, args: &[Expr]) {
        for set in args.iter().flat_map(|x| super::types::sets_of(self.machine, &x.ty)) {
            if let standing @ Standing::Symmetric { .. } = &mut self.standings[set.0 as usize] {
                *standing = Standing::Apart(format!("{name} may tell its elements apart"));
            }
        }
    }
}

impl Visit for Formulas<'_> {
    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Elem(set, n) => self.name(*set, *n),
            ExprKind::External(external, args) => {
                self.shown(&external.name, args);
                self.shown(&external.name, std::slice::from_ref(e));
            }
            _ => {}
        }
    }

    fn external(&mut self, external: &External, args: &[Expr]) {
        self.shown(&external.name, args);
    }
}

/// Writes constants down under a numbering.
struct Written<'a> {
    fixed: &'a Fixed,
    group: &'a Group,
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
